//! `recension purge`: removes revisions as if they had never been. It must never do so without asking.

use clap::Args;
use recension::{Error, RevId};
use serde_json::{Value, json};

use crate::context::{Context, Missing};
use crate::error::Result;
use crate::moments::to_change;
use crate::output::plain;

const EXAMPLES: &str = "\
Examples:
  recension purge cities 2735943 --yes
  recension purge cities 2735943 --rev 2-7051cbe5c8faecd085a3fa619e6e6337

Unlike delete, this leaves no deletion behind, and replicas that still have the document bring it back. Reads at \
earlier moments (--at) still find it.";

/// Remove a document as if it had never existed (its past stays)
///
/// All newest revisions, or those that --rev names. Asks for confirmation.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PurgeCommand {
    /// The collection
    collection: String,
    /// The document's id
    id: String,
    /// Only this newest revision (can be repeated); the others stay
    #[arg(long, value_name = "REV")]
    rev: Vec<RevId>,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

impl PurgeCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        let collection = to_change(&store, &self.collection)?;
        let leaves: Vec<RevId> = collection.replication().leaves(&self.id)?.iter().map(|leaf| leaf.rev).collect();
        if leaves.is_empty() {
            let (collection, id) = (self.collection.clone(), self.id.clone());
            return Err(Error::NoSuchDocument { collection, id }.into());
        }
        if let Some(rev) = self.rev.iter().find(|rev| !leaves.contains(rev)) {
            return Err(Error::NoSuchRevision { id: self.id.clone(), rev: *rev }.into());
        }
        let revs = if self.rev.is_empty() { &leaves } else { &self.rev };
        let what = if revs.len() == leaves.len() { "the document" } else { "revisions of" };
        context.confirm(self.yes, &format!("Purge {what} {:?} of {}?", self.id, self.collection))?;
        let purged: Vec<Value> =
            collection.replication().purge(&self.id, revs)?.iter().map(|rev| json!(rev.to_string())).collect();
        if context.out.for_people() {
            return Ok(context.out.line(&format!("{}: {} purged", plain(&self.id), purged.len()))?);
        }
        Ok(context.out.rows(&["id", "purged"], &[vec![json!(self.id), Value::Array(purged)]])?)
    }
}
