//! `recension restore`: a past revision becomes the newest. Nothing is taken out of the history.

use clap::{ArgGroup, Args};
use recension::document::{At, RevId};

use crate::context::{Context, Missing};
use crate::error::Result;

const EXAMPLES: &str = "\
Examples:
  recension restore cities 2735943 --at '10 minutes ago'
  recension restore cities 2735943 --at 172
  recension restore cities 2735943 --rev 1-967a00dff5e02add41819138abb3284d

What is restored becomes a new revision; the ones in between stay in the history. A deleted document \
comes back.";

/// Make a past revision of a document its newest
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("which").required(true))]
pub struct Restore {
    /// The collection
    collection: String,
    /// The document's id
    id: String,
    /// The revision that it had at a moment: a commit (1234), a time, a day, or an age (10m, 2h, 3d)
    #[arg(long, value_name = "MOMENT", group = "which")]
    at: Option<At>,
    /// A revision of its history
    #[arg(long, group = "which")]
    rev: Option<RevId>,
}

impl Restore {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        let collection = store.collection(&self.collection)?;
        let at = self.at.unwrap_or_default();
        let rev = match self.rev {
            Some(rev) => rev,
            None => {
                let then = collection.at(at)?;
                then.get(&self.id)?.ok_or_else(|| super::get::missing(&self.collection, &self.id, at))?.rev
            }
        };
        let written = collection.restore(&self.id, &rev)?;
        super::put::print(context, &written)
    }
}
