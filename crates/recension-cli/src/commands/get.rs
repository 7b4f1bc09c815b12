//! `recension get`: one document, now or as it was.

use clap::Args;
use recension::{At, Error, RevId};

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::moments::existing;

const EXAMPLES: &str = "\
Examples:
  recension get cities 2735943
  recension get cities 2735943 --at '10 minutes ago'
  recension get cities 2735943 --at 2026-11-21T10:00:00Z
  recension get cities 2735943 --rev 1-967a00dff5e02add41819138abb3284d
  recension get cities 2735943 | jq .population

The exit code is 1 if there is no such document at that moment.";

/// Print a document
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Get {
    /// The collection
    collection: String,
    /// The document's id
    id: String,
    /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, an age (2h, 3d) or a tag (tag:v1)
    #[arg(long, value_name = "MOMENT", default_value = "now")]
    at: At,
    /// A revision of the document's history
    #[arg(long, conflicts_with = "at")]
    rev: Option<RevId>,
}

impl Get {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        let collection = existing(&store, &self.collection, context.moment(&store, self.at)?)?;
        let text = match &self.rev {
            Some(rev) => match collection.revision(&self.id, rev)? {
                Some(revision) => Some(revision.to_json(&self.id)),
                None => return Err(Error::NoSuchRevision { id: self.id.clone(), rev: *rev }.into()),
            },
            None => collection.get(&self.id)?.map(|document| document.to_json()),
        };
        match text {
            Some(text) => Ok(context.out.json(&text)?),
            None => Err(missing(&self.collection, &self.id, self.at)),
        }
    }
}

/// The error for a document that is not there.
pub(super) fn missing(collection: &str, id: &str, at: At) -> CliError {
    let when = if at == At::Now { String::new() } else { format!(" at {at}") };
    CliError::NotFound(format!("there is no document {id:?} in {collection}{when}"))
}
