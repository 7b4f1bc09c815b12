//! What a run is given beside its sizes: servers and programs that the laboratory cannot start or find by itself.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What Debian calls its own Python, which the laboratory runs its programs by.
pub const PYTHON: &str = "/usr/bin/python3";

/// What a run was given beside its sizes: where servers are that the laboratory cannot start.
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
