//! `recension collections`: the collections of a store.

use clap::Args;
use recension::{At, Store, format_time};
use serde_json::{Value, json};

use crate::context::{Context, Missing};
use crate::error::Result;
use crate::moments::check_begun;

const EXAMPLES: &str = "\
Examples:
  recension collections
  recension collections --at 2h --json
  recension collections --dropped
  recension find 'people#12' --at 2026-11-21

A dropped collection can be read by its number, as of any moment at which it existed; without --at as of its \
last moment. A new collection with its name has a separate past.";

/// List the collections
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Collections {
    /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, an age (2h, 3d) or a tag (tag:v1)
    #[arg(long, value_name = "MOMENT", default_value = "now")]
    at: At,
    /// List dropped collections, with the numbers by which they can be read (`people#12`)
    #[arg(long, conflicts_with = "at")]
    dropped: bool,
}

impl Collections {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        if self.dropped {
            return dropped(context, &store);
        }
        // All counts are as of one commit.
        let at = At::Seq(store.resolve(context.moment(&store, self.at)?)?);
        let mut rows = Vec::new();
        for info in store.collections(at)? {
            let documents = store.collection_as_of(&info.name, at)?.count()?;
            let indexes: Vec<Value> = info.indexes.iter().map(|index| json!(index.spec.name)).collect();
            let indexes = if context.out.for_people() {
                json!(info.indexes.iter().map(|index| index.spec.name.as_str()).collect::<Vec<_>>().join(", "))
            } else {
                Value::Array(indexes)
            };
            rows.push(vec![json!(info.name), json!(documents), indexes]);
        }
        if rows.is_empty() {
            // There was nothing before the first commit. An empty list would not be an answer to a question about the
            // past.
            if self.at != At::Now {
                check_begun(&**store.engine(), self.at, store.resolve(at)?)?;
            }
            return context.out.remark("no collections").map_err(Into::into);
        }
        Ok(context.out.rows(&["collection", "documents", "indexes"], &rows)?)
    }
}

/// Lists dropped collections.
fn dropped(context: &mut Context, store: &Store) -> Result<()> {
    let dropped = store.dropped_collections()?;
    if dropped.is_empty() {
        return context.out.remark("no collection was dropped").map_err(Into::into);
    }
    let row = |one: &recension::DroppedCollection| {
        vec![
            json!(format!("{}#{}", one.name, one.number)),
            json!(format_time(one.made.time)),
            json!(one.made.seq.0),
            json!(format_time(one.dropped.time)),
            json!(one.dropped.seq.0),
        ]
    };
    let rows: Vec<Vec<Value>> = dropped.iter().map(row).collect();
    Ok(context.out.rows(&["collection", "made", "made in", "dropped", "dropped in"], &rows)?)
}
