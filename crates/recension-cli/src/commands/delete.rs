//! `recension delete`: a revision that says that the document is gone. The earlier ones stay.

use clap::Args;
use recension::conditions::parse;
use recension::{At, Error, Matched, RevId};

use super::find::choosing;
use crate::context::{Context, Missing};
use crate::error::Result;
use crate::limits::RETRIES_MAX;
use crate::moments::to_change;
use crate::output::documents;

const EXAMPLES: &str = "\
Examples:
  recension delete notes hello
  recension delete notes 'draft = true' --yes
  recension delete notes hello --rev 1-967a00dff5e02add41819138abb3284d

The history stays: recension history notes hello, and recension restore brings the document back.";

/// Delete a document (its history stays)
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Delete {
    /// The collection
    collection: String,
    /// The document's id; or a condition, as in `recension find`: every document that meets it is deleted
    #[arg(value_name = "ID|CONDITION", required_unless_present = "condition", conflicts_with = "condition")]
    id: Option<String>,
    /// Delete every document that meets a condition
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Write only if the document has this revision; otherwise exit with 3
    #[arg(long, conflicts_with = "condition")]
    rev: Option<RevId>,
}

impl Delete {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let id = match (&self.condition, &self.id) {
            (Some(condition), _) => return self.delete_matching(context, condition),
            (None, id) => id.as_deref().unwrap_or_default(),
        };
        // An id that reads as a condition is an id if there is such a document.
        if self.rev.is_none() && parse(id).is_ok_and(|clauses| !clauses.is_empty()) {
            let store = context.store(Missing::IsAnError)?;
            if to_change(&store, &self.collection)?.get(id)?.is_none() {
                return self.delete_matching(context, id);
            }
        }
        self.delete_one(context, id)
    }

    fn delete_matching(&self, context: &mut Context, condition: &str) -> Result<()> {
        let query = choosing(condition)?;
        let store = context.store(Missing::IsAnError)?;
        let collection = to_change(&store, &self.collection)?;
        let number = collection.count_matching(&query)?;
        if number == 0 {
            super::update::say_that_none(context, condition, &collection)?;
            return super::update::print(context, "deleted", &Matched::default());
        }
        let number = documents(number);
        context.confirm(self.yes, &format!("Delete {number} of {}?", self.collection))?;
        let matched = collection.delete_matching(&query)?;
        super::update::print(context, "deleted", &matched)
    }

    fn delete_one(&self, context: &mut Context, id: &str) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        let collection = to_change(&store, &self.collection)?;
        let mut attempts = 0;
        let written = loop {
            let missing = || super::get::missing(&self.collection, id, At::Now);
            let rev = match self.rev {
                Some(rev) => rev,
                None => collection.get(id)?.ok_or_else(missing)?.rev,
            };
            attempts += 1;
            match collection.delete(id, &rev) {
                Err(Error::Conflict { .. }) if self.rev.is_none() && attempts < RETRIES_MAX => {}
                outcome => break outcome?,
            }
        };
        super::put::print(context, &written)
    }
}
