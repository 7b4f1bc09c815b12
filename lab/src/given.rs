//! The servers and programs of a run that the laboratory cannot start or find by itself.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The path of Debian's own Python, which runs the laboratory's programs.
pub const PYTHON: &str = "/usr/bin/python3";

/// The servers and programs that a run was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
pub struct Given {
    /// A `CouchDB` server to measure, with name and password of an admin
    #[arg(long, env = "RECENSION_LAB_COUCHDB_URL", value_name = "URL", hide_env_values = true)]
    pub couchdb_url: Option<String>,
    /// A `MongoDB` server to measure in `goget`; its database `recension_lab` is written to
    #[arg(long, env = "RECENSION_LAB_MONGODB_URL", value_name = "URL", hide_env_values = true)]
    pub mongodb_url: Option<String>,
    /// The `recension` to measure; else the one beside this program.
    #[arg(long, value_name = "FILE")]
    pub recension: Option<PathBuf>,
    /// A program that speaks the lines of docs/src/external-subjects.md: the subject `external` of `goget` and `hasql`.
    #[arg(long, env = "RECENSION_LAB_EXTERNAL", value_name = "COMMAND")]
    pub external: Option<String>,
}
