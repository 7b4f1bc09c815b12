//! Keeping a projection: a store's documents as rows of tables. The store's changes bring it up to date.

use std::collections::BTreeSet;

use recension::engine::{EngineError, Seq};
use recension::{At, CollectionAt, Error, Result, Store};
use recension_log::{ProjectedRow, Projection, RowState};

/// Rows that are written, or compared, in one transaction, and about how many bytes of bodies.
const BATCH_ROWS: usize = 500;
const BATCH_BYTES: usize = 4 << 20;

/// The result of bringing a projection up to date.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Projected {
    /// The projection has everything up to this commit.
    pub seq: Seq,
    /// Documents that were written.
    pub written: u64,
    /// Documents that were deleted.
    pub deleted: u64,
}

/// Brings a projection up to date. With `rebuild`, writes all of it anew.
pub fn project(store: &Store, projection: &mut Projection, rebuild: bool) -> Result<Projected> {
    let head = store.engine().refresh()?;
    let since = if rebuild { None } else { projection.seq().map_err(EngineError::from)?.map(Seq) };
    let known: BTreeSet<String> = store.collections(At::Seq(head))?.into_iter().map(|info| info.name).collect();
    for collection in projection.collections().map_err(EngineError::from)? {
        // A collection that was dropped and made again has none of the old rows.
        let is_another = || -> Result<bool> {
            let made =
                if known.contains(&collection) { store.collection(&collection)?.settings().made()? } else { None };
            Ok(made.is_none_or(|made| since.is_some_and(|since| made.seq > since)))
        };
        if rebuild || is_another()? {
            projection.drop_collection(&collection).map_err(EngineError::from)?;
        }
    }
    let mut done = Projected { seq: head, ..Projected::default() };
    let mut batch = Batch::default();
    for name in &known {
        // Everything is read as of one commit. When all of it is written, the projection is as of that commit.
        let then = store.collection(name)?.at(At::Seq(head))?;
        for change in then.changes(since.unwrap_or_default()) {
            let change = change?;
            let row = row(&then, name, &change.id, change.rev.to_string(), change.seq)?;
            *(if row.body.is_some() { &mut done.written } else { &mut done.deleted }) += 1;
            if batch.add(row) {
                projection.write(&batch.take(), None).map_err(EngineError::from)?;
            }
        }
    }
    projection.write(&batch.take(), Some(head.0)).map_err(EngineError::from)?;
    Ok(done)
}

/// Compares a projection with the documents of the commit that it is as of: ids, revisions and bodies. Returns the
/// differences.
pub fn check(store: &Store, projection: &mut Projection) -> Result<Vec<String>> {
    let seq = Seq(projection.seq().map_err(EngineError::from)?.unwrap_or(0));
    match differences(store, projection, seq) {
        Err(Error::Engine(EngineError::Forgotten { .. })) => Ok(vec![format!(
            "it is as of commit {seq}, of which not everything is kept any more: bring it up to date with `recension \
             project`"
        )]),
        found => found,
    }
}

fn differences(store: &Store, projection: &mut Projection, seq: Seq) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut tables: BTreeSet<String> = projection.collections().map_err(EngineError::from)?.into_iter().collect();
    for info in store.collections(At::Seq(seq))? {
        let name = &info.name;
        let is_table = tables.remove(name);
        let mut ids: BTreeSet<String> = if is_table {
            projection.ids(name).map_err(EngineError::from)?.into_iter().collect()
        } else {
            BTreeSet::new()
        };
        let then = store.collection_as_of(name, At::Seq(seq))?;
        let mut batch = Batch::default();
        for change in then.changes(Seq::ZERO) {
            let change = change?;
            match (change.deleted, is_table) {
                (true, _) if ids.remove(&change.id) => {
                    problems.push(format!("{name}/{}: a row of a deleted document", change.id));
                }
                (true, _) => {}
                (false, false) => problems.push(format!("{name}/{}: the row is missing", change.id)),
                (false, true) => {
                    ids.remove(&change.id);
                    if batch.add(row(&then, name, &change.id, change.rev.to_string(), change.seq)?) {
                        compare(projection, &batch.take(), &mut problems)?;
                    }
                }
            }
        }
        compare(projection, &batch.take(), &mut problems)?;
        problems.extend(ids.iter().map(|id| format!("{name}/{id}: a row of no document")));
    }
    problems.extend(tables.iter().map(|table| format!("{table}: a table of no collection")));
    Ok(problems)
}

fn compare(projection: &mut Projection, rows: &[ProjectedRow], problems: &mut Vec<String>) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let states = projection.compare(rows).map_err(EngineError::from)?;
    for (row, state) in rows.iter().zip(states) {
        let (collection, id) = (&row.collection, &row.id);
        match state {
            RowState::Same => {}
            RowState::Missing => problems.push(format!("{collection}/{id}: the row is missing")),
            RowState::Different => {
                problems.push(format!("{collection}/{id}: the row is not revision {} with its body", row.rev));
            }
        }
    }
    Ok(())
}

/// A document as a row.
fn row(then: &CollectionAt, collection: &str, id: &str, rev: String, seq: Seq) -> Result<ProjectedRow> {
    let document = then.get(id)?;
    let (rev, body) = match document {
        Some(document) => (document.rev.to_string(), Some(document.body.into_owned())),
        None => (rev, None),
    };
    Ok(ProjectedRow { collection: collection.to_owned(), id: id.to_owned(), rev, seq: seq.0, body })
}

/// Rows that are written together.
#[derive(Default)]
struct Batch {
    rows: Vec<ProjectedRow>,
    bytes: usize,
}

impl Batch {
    /// Adds a row. Returns whether the batch is full.
    fn add(&mut self, row: ProjectedRow) -> bool {
        self.bytes += row.body.as_ref().map_or(0, String::len);
        self.rows.push(row);
        self.rows.len() >= BATCH_ROWS || self.bytes >= BATCH_BYTES
    }

    fn take(&mut self) -> Vec<ProjectedRow> {
        self.bytes = 0;
        std::mem::take(&mut self.rows)
    }
}
