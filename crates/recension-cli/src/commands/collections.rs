//! `recension collections`: what collections there are.

use clap::Args;
use recension::document::At;
use serde_json::{Value, json};

use crate::context::{Context, Missing};
use crate::error::Result;

/// List the collections
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  recension collections\n  recension collections --at 2h --json")]
pub struct Collections {
    /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, or an age (10m, 2h, 3d)
    #[arg(long, value_name = "MOMENT", default_value = "now")]
    at: At,
}

impl Collections {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        // One commit for all of them.
        let at = At::Seq(store.resolve(context.moment(&store, self.at)?)?);
        let mut rows = Vec::new();
        for info in store.collections(at)? {
            let documents = store.collection(&info.name)?.at(at)?.count()?;
            let indexes: Vec<Value> = info.indexes.iter().map(|index| json!(index.spec.name)).collect();
            let indexes = if context.out.for_people() {
                json!(info.indexes.iter().map(|index| index.spec.name.as_str()).collect::<Vec<_>>().join(", "))
            } else {
                Value::Array(indexes)
            };
            rows.push(vec![json!(info.name), json!(documents), indexes]);
        }
        if rows.is_empty() {
            return context.out.remark("no collections").map_err(Into::into);
        }
        Ok(context.out.rows(&["collection", "documents", "indexes"], &rows)?)
    }
}
