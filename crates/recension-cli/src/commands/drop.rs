//! `recension drop`: drops a collection and its indexes. Earlier moments of it can still be read.

use clap::Args;

use crate::context::{Context, Missing};
use crate::error::Result;
use crate::moments::to_change;
use crate::output::documents;

const EXAMPLES: &str = "\
Examples:
  recension drop notes
  recension drop notes --yes

At a terminal it shows the number of documents and asks for confirmation. Its past can still be read: `recension \
collections --dropped` shows the number to read it by.";

/// Drop a collection with its indexes (its past can be read)
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DropCommand {
    /// The collection
    collection: String,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

impl DropCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let name = &self.collection;
        let store = context.store(Missing::IsAnError)?;
        let collection = to_change(&store, name)?;
        let number = documents(collection.count()?);
        let indexes = match collection.indexes()?.len() {
            0 => String::new(),
            1 => " and 1 index".to_owned(),
            many => format!(" and {many} indexes"),
        };
        context.confirm(self.yes, &format!("Drop {name} with {number}{indexes}?"))?;
        store.drop_collection(name)?;
        Ok(context.out.remark(&format!("{name} is dropped, with {number}{indexes}"))?)
    }
}
