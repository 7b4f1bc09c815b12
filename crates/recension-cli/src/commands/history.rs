//! `recension history`: every revision of a document, newest first.

use clap::Args;
use recension::{At, format_time};
use serde_json::{Value, json};

use crate::context::{Context, Missing};
use crate::error::Result;
use crate::moments::existing;

const EXAMPLES: &str = "\
Examples:
  recension history cities 2735943
  recension history cities 2735943 --json | jq -r .rev
  recension get cities 2735943 --at SEQ      the document at one of the commits listed";

/// List the revisions of a document
///
/// Newest first, with the time and commit of each, and whether it was a deletion.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct History {
    /// The collection
    collection: String,
    /// The document's id
    id: String,
    /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, an age (2h, 3d) or a tag (tag:v1)
    #[arg(long, value_name = "MOMENT", default_value = "now")]
    at: At,
}

impl History {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        let collection = existing(&store, &self.collection, context.moment(&store, self.at)?)?;
        let rows: Vec<Vec<Value>> = collection
            .revisions(&self.id)?
            .map(|revision| {
                let revision = revision?;
                let deleted = match (context.out.for_people(), revision.deleted) {
                    (true, true) => json!("deleted"),
                    (true, false) => json!(""),
                    (false, deleted) => json!(deleted),
                };
                Ok(vec![
                    json!(revision.seq.0),
                    json!(format_time(revision.time)),
                    json!(revision.rev.to_string()),
                    deleted,
                ])
            })
            .collect::<Result<_>>()?;
        if rows.is_empty() {
            return Err(super::get::missing(&self.collection, &self.id, self.at));
        }
        Ok(context.out.rows(&["seq", "time", "rev", "deleted"], &rows)?)
    }
}
