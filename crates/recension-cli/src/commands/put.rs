//! `recension put`: writes one document. It must never overwrite a change that another writer made in between.

use clap::Args;
use recension::{Expect, RevId, Write, Written};
use serde_json::{Value, json};

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::files::text_or_input;
use crate::ids::NewIds;
use crate::moments::to_write;

const NO_BODY: &str = "there is no body: give the document as the last argument, or on standard input";

const EXAMPLES: &str = "\
Examples:
  recension put notes hello '{\"text\": \"Hello\"}'
  recension put cities 2735943 --merge '{\"population\": 1000000, \"note\": null}'
  recension put cities 2735943 --rev 1-967a00dff5e02add41819138abb3284d < porto.json
  echo '{\"text\": \"an id is made\"}' | recension put notes

A _rev in the document, as `get` prints it, is as --rev: what others wrote since is not replaced. Without either the \
document is replaced, whatever its revision is; the earlier one stays in its history. --merge changes only the \
members that it names (null removes one), by the rules of RFC 7396.";

/// Create or replace a document, or change members of it
///
/// Prints the new revision.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Put {
    /// The collection; it is created if it does not exist
    collection: String,
    /// The document's id; by default the member _id, otherwise a new one
    id: Option<String>,
    /// The document, or the change to it: a JSON object; - or none means standard input
    body: Option<String>,
    /// Change the members in the body, and keep the others
    #[arg(long, requires = "id")]
    merge: bool,
    /// Write only if the document has this revision; otherwise exit with 3
    #[arg(long)]
    rev: Option<RevId>,
    /// Write only if there is no such document; otherwise exit with 3
    #[arg(long, conflicts_with_all = ["rev", "merge"])]
    new: bool,
}

impl Put {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        if self.body.is_none() && self.id.as_ref().is_some_and(|id| id.starts_with('{')) {
            let what = "the document is in the place of its id: name the id before it, or pipe the document in";
            return Err(CliError::Usage(what.to_owned()));
        }
        let body = text_or_input(context, self.body.as_deref(), NO_BODY)?;
        let store = context.store(if self.merge { Missing::IsAnError } else { Missing::Create })?;
        let collection = to_write(&store, &self.collection)?;
        let written = match &self.id {
            Some(id) if self.merge => collection.merge_patch(id, super::patch::expected(self.rev), &body)?,
            _ => collection.write(self.write(&body)?)?,
        };
        print(context, &written)
    }

    fn write(&self, body: &str) -> Result<Write> {
        let mut write = Write::from_json(body)?;
        if let Some(id) = &self.id {
            write = write.with_id(id)?;
        } else if write.id().is_none() {
            write = write.with_id(&NewIds::new().next_id())?;
        }
        Ok(match (self.rev, write.expectation()) {
            (Some(rev), Expect::Leaf(named)) if rev != named => {
                return Err(CliError::Usage(format!(
                    "--rev is {rev}, and the document's _rev is {named}: leave one out"
                )));
            }
            (Some(rev), _) => write.expecting(Expect::Revision(rev)),
            (None, Expect::Leaf(named)) if self.new => {
                return Err(CliError::Usage(format!(
                    "--new is for a document that is not there, and the document's _rev is {named}: leave one out"
                )));
            }
            (None, _) if self.new => write.expecting(Expect::Absent),
            (None, _) => write,
        })
    }
}

/// Prints the new revision.
pub(super) fn print(context: &mut Context, written: &Written) -> Result<()> {
    let time = recension::format_time(written.time);
    let row: Vec<Value> = vec![json!(written.id), json!(written.rev.to_string()), json!(written.seq.0), json!(time)];
    Ok(context.out.rows(&["id", "rev", "seq", "time"], &[row])?)
}
