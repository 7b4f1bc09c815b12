//! `recension delete`: a revision that says that the document is gone. The earlier ones stay.

use clap::Args;
use recension::document::{At, Error, RevId};

use crate::context::{Context, Missing};
use crate::error::Result;
use crate::limits::RETRIES_MAX;

const EXAMPLES: &str = "\
Examples:
  recension delete notes hello
  recension delete notes hello --rev 1-967a00dff5e02add41819138abb3284d

The history stays: recension history notes hello, and recension restore brings the document back.";

/// Delete a document (its history stays)
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Delete {
    /// The collection
    collection: String,
    /// The document's id
    id: String,
    /// Only if this is the document's revision; else exit with 3
    #[arg(long)]
    rev: Option<RevId>,
}

impl Delete {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        let collection = store.collection(&self.collection)?;
        let mut attempts = 0;
        let written = loop {
            let missing = || super::get::missing(&self.collection, &self.id, At::Now);
            let rev = match self.rev {
                Some(rev) => rev,
                None => collection.get(&self.id)?.ok_or_else(missing)?.rev,
            };
            attempts += 1;
            match collection.delete(&self.id, &rev) {
                Err(Error::Conflict { .. }) if self.rev.is_none() && attempts < RETRIES_MAX => {}
                outcome => break outcome?,
            }
        };
        super::put::print(context, &written)
    }
}
