//! `recension patch`: changes a part of a document, by a merge patch or by a JSON patch.

use std::path::PathBuf;

use clap::Args;
use recension::json::JsonPatch;
use recension::{Expect, RevId};

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::files::{text_of_file, text_or_input};

const NO_PATCH: &str = "there is no patch: give it as the last argument, in a file (--file), or on standard input";

const EXAMPLES: &str = "\
Examples:
  recension patch cities 2735943 '{\"population\": 1000000, \"note\": null}'
  recension patch cities 2735943 --json-patch '[{\"op\": \"add\", \"path\": \"/tags/-\", \"value\": \"port\"}]'
  recension patch cities 2735943 --file change.json --rev 1-967a00dff5e02add41819138abb3284d
  recension diff cities 2735943 --from 172 --json-patch | recension patch cities 2735943 --json-patch

A merge patch (RFC 7396) changes the members that it names, and null removes one. A JSON patch (RFC 6902) is a \
list of operations, carried out wholly or not at all. What a patch does not touch keeps its text, numbers too.";

/// Change a part of a document
///
/// Prints the new revision. The patch is applied to the current document; with --rev only if that has the given
/// revision.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_field_names)] // the fields are the arguments' names
pub struct Patch {
    /// The collection
    collection: String,
    /// The document's id
    id: String,
    /// The patch: JSON; - or none means standard input
    patch: Option<String>,
    /// A file with the patch
    #[arg(long, short, conflicts_with = "patch")]
    file: Option<PathBuf>,
    /// The patch is a JSON patch (RFC 6902), not a merge patch
    #[arg(long)]
    json_patch: bool,
    /// Write only if the document has this revision; otherwise exit with 3
    #[arg(long)]
    rev: Option<RevId>,
}

impl Patch {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let text = match &self.file {
            Some(path) => text_of_file(path)?,
            None => text_or_input(context, self.patch.as_deref(), NO_PATCH)?,
        };
        let expect = expected(self.rev);
        let written = if self.json_patch {
            let patch = JsonPatch::from_json(&text)?;
            let store = context.store(Missing::IsAnError)?;
            store.collection(&self.collection)?.patch(&self.id, expect, &patch)?
        } else if text.trim_start().starts_with('[') {
            return Err(CliError::Input(
                "a merge patch is a JSON object, and this is an array: --json-patch is for lists of operations"
                    .to_owned(),
            ));
        } else {
            let store = context.store(Missing::IsAnError)?;
            store.collection(&self.collection)?.merge_patch(&self.id, expect, &text)?
        };
        super::put::print(context, &written)
    }
}

/// The precondition that `--rev` sets.
pub(super) fn expected(rev: Option<RevId>) -> Expect {
    rev.map_or(Expect::Anything, Expect::Revision)
}
