//! `recension retention`: shows and sets how much of a collection's history is kept.

use clap::Args;
use recension::engine::Retention;
use recension::{At, Store};
use serde_json::json;

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};

const EXAMPLES: &str = "\
Examples:
  recension retention
  recension retention cities versions=10
  recension retention cities days=30
  recension retention cities head && recension compact

Rules:
  everything    all of it, as long as no rule is set
  versions=10   the newest 10 versions of each document; a deletion is one
  days=30, duration=12h
                what is needed to read the collection as of any moment since (units: s, m, h, d, w)
  head          what is there now

History that a rule does not keep can be read until it is removed: in time, as the store is written to, or by \
`recension compact`. A later rule does not bring it back. With versions=N, queries as of a past moment read all \
documents, and are refused if one of them has been written more than N times since.";

/// Show or set how much of a collection's history is kept
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RetentionCommand {
    /// The collection
    collection: Option<String>,
    /// What to keep: everything, versions=N, days=N, duration=12h, or head
    #[arg(requires = "collection")]
    rule: Option<Retention>,
}

impl RetentionCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        if let Some(name) = &self.collection {
            check_exists(&store, name)?;
        }
        if let (Some(name), Some(rule)) = (&self.collection, self.rule) {
            store.collection(name)?.settings().set_retention(rule)?;
            if rule != Retention::Everything {
                context.out.remark("what is beyond is given up in time; `recension compact` does it now")?;
            }
        }
        let asked = |name: &str| self.collection.as_deref().is_none_or(|asked| asked == name);
        let infos = store.collections(At::Now)?.into_iter().filter(|info| asked(&info.name));
        let rows: Vec<_> = infos.map(|info| vec![json!(info.name), json!(info.retention.to_string())]).collect();
        if rows.is_empty() {
            return context.out.remark("no collections").map_err(Into::into);
        }
        Ok(context.out.rows(&["collection", "retention"], &rows)?)
    }
}

/// Returns an error if there is no collection of that name.
pub(super) fn check_exists(store: &Store, name: &str) -> Result<()> {
    // If it cannot be a name at all, that is the error.
    store.collection(name)?;
    let infos = store.collections(At::Now)?;
    if infos.iter().any(|info| info.name == name) {
        return Ok(());
    }
    Err(CliError::NotFound(format!("there is no collection {name}; `recension collections` lists the existing ones")))
}
