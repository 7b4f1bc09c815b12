//! `recension conflicts`: lists the documents with conflicts, and resolves a conflict by picking a revision. Nothing is
//! taken out of the history.

use clap::Args;
use recension::{At, Collection, CollectionAt, ConflictedDocument, Error, RevId};
use serde_json::{Value, json};

use crate::context::{Context, Missing};
use crate::error::Result;
use crate::moments::{existing, to_change};
use crate::output::{count, documents, plain};

const EXAMPLES: &str = "\
Examples:
  recension conflicts cities
  recension conflicts cities 2735943
  recension conflicts cities 2735943 --bodies
  recension conflicts cities 2735943 --pick 2-7051cbe5c8faecd085a3fa619e6e6337

A document is in conflict if several of its revisions are newest, because replicas changed it independently. All \
replicas show the same one, the winner, until somebody decides: --pick deletes the others, in one commit.";

/// List conflicts, show the revisions in conflict, and pick one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Conflicts {
    /// The collection
    collection: String,
    /// The document's id; without it, the documents that have conflicts
    id: Option<String>,
    /// Include the documents, as each revision has them
    #[arg(long, requires = "id")]
    bodies: bool,
    /// The revision to keep: the others are deleted
    #[arg(long, value_name = "REV", requires = "id", conflicts_with_all = ["bodies", "at"])]
    pick: Option<RevId>,
    /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, an age (2h, 3d) or a tag (tag:v1)
    #[arg(long, value_name = "MOMENT", default_value = "now")]
    at: At,
}

impl Conflicts {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        context.watch_for_interrupts()?;
        let store = context.store(Missing::IsAnError)?;
        let collection = to_change(&store, &self.collection)?;
        if let (Some(id), Some(rev)) = (&self.id, &self.pick) {
            return pick(context, &collection, id, rev);
        }
        let then = existing(&store, &self.collection, context.moment(&store, self.at)?)?;
        match &self.id {
            Some(id) => self.leaves(context, &then, id),
            None => list(context, &then),
        }
    }

    fn leaves(&self, context: &mut Context, collection: &CollectionAt, id: &str) -> Result<()> {
        let leaves = collection.leaves(id)?;
        if leaves.is_empty() {
            return Err(super::get::missing(&self.collection, id, self.at));
        }
        let mut rows: Vec<Vec<Value>> = Vec::new();
        for (at, leaf) in leaves.iter().enumerate() {
            let state = match (at, leaf.deleted) {
                (0, false) => "winner",
                (0, true) => "winner, deleted",
                (_, false) => "conflict",
                (_, true) => "deleted",
            };
            if !self.bodies {
                rows.push(vec![json!(leaf.rev.to_string()), json!(state)]);
                continue;
            }
            match collection.get_revision(id, &leaf.rev)? {
                Some(revision) => context.out.json(&revision.to_json(id))?,
                None => context.out.remark(&format!("the body of {} is not here", leaf.rev))?,
            }
        }
        if rows.is_empty() { Ok(()) } else { Ok(context.out.rows(&["rev", "state"], &rows)?) }
    }
}

fn list(context: &mut Context, collection: &CollectionAt) -> Result<()> {
    let mut rows = Vec::new();
    let mut number = 0;
    for conflicted in collection.conflicted() {
        context.go_on()?;
        let ConflictedDocument { id, conflicts } = conflicted?;
        // A document with a conflict has a winning revision.
        let Some(document) = collection.get(&id)? else { continue };
        number += 1;
        let shown = if context.out.for_people() {
            json!(count(conflicts.len() as u64))
        } else {
            conflicts.iter().map(|rev| json!(rev.to_string())).collect()
        };
        let row = vec![json!(document.id), json!(document.rev.to_string()), shown];
        if context.out.for_people() {
            rows.push(row);
        } else {
            context.out.rows(&["id", "winner", "conflicts"], &[row])?;
        }
    }
    if !rows.is_empty() {
        context.out.rows(&["id", "winner", "conflicts"], &rows)?;
    }
    Ok(context.out.remark(&format!("{} with conflicts", documents(number)))?)
}

/// Turns the other live leaves into deletions: all in one commit, or nothing is changed.
fn pick(context: &mut Context, collection: &Collection, id: &str, rev: &RevId) -> Result<()> {
    let deleted = collection.store().transaction(|tx| {
        let collection = tx.collection(collection.name())?;
        let leaves = collection.reader()?.leaves(id)?;
        if !leaves.iter().any(|leaf| leaf.rev == *rev && !leaf.deleted) {
            return Err(Error::NoSuchRevision { id: id.to_owned(), rev: *rev });
        }
        let others: Vec<RevId> =
            leaves.iter().filter(|leaf| leaf.rev != *rev && !leaf.deleted).map(|leaf| leaf.rev).collect();
        for other in &others {
            collection.delete(id, other)?;
        }
        Ok(others)
    })?;
    if !context.out.for_people() {
        let deleted: Value = deleted.iter().map(|rev| json!(rev.to_string())).collect();
        return Ok(context.out.rows(&["id", "rev", "deleted"], &[vec![json!(id), json!(rev.to_string()), deleted]])?);
    }
    Ok(context.out.line(&format!("{} is {rev}; {} deleted", plain(id), count(deleted.len() as u64)))?)
}
