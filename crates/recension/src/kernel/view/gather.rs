//! The documents to be mapped, and mapping them: those that were changed or purged behind a view's position.

use crate::engine::{Direction, KeyRange, Seq};
use crate::kernel::changes::change::{Change, Position};
use crate::kernel::changes::pages::page;
use crate::kernel::read::reader::{CollectionAt, read_document};
use crate::kernel::rows::catalogue::CollectionEntry;
use crate::kernel::rows::side;
use crate::kernel::rows::view_rows::{TreeRows, rows_of};
use crate::kernel::view::mapper::{MapInput, View};
use recension_values::error::{Error, Result};
use recension_values::limits::{VIEW_DOCUMENTS_PER_THREAD_MIN, VIEW_STEP_BYTES, VIEW_STEP_DOCUMENTS};
use recension_values::view::Emitted;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

/// Documents behind a position, with the rows that they have now.
pub(crate) struct Gathered {
    /// Each document's id, and its rows: keys and values.
    pub(crate) documents: Vec<(String, TreeRows)>,
    /// The position behind them.
    pub(crate) position: Position,
    /// There are no further documents.
    pub(crate) end: bool,
}

/// Maps the next documents behind a position, about a megabyte of them.
pub(crate) fn gather(at: &CollectionAt, entry: &CollectionEntry, view: &View, position: &Position) -> Result<Gathered> {
    let changes = page(&*at.snapshot, &at.name, entry, position, Direction::Forward, VIEW_STEP_DOCUMENTS)?;
    let mut end = changes.end.is_some();
    let mut reached = position.clone();
    let mut ids: Vec<String> = purged(at, entry, position.seq)?.into_iter().collect();
    let (mut inputs, mut bytes) = (Vec::new(), 0);
    let step_bytes = VIEW_STEP_BYTES * view.mapper.parallel().max(1);
    // A purged document may exist again, or still, with other revisions.
    for id in &ids {
        bytes += read(at, entry, view, id, &mut inputs)?;
    }
    for change in changes.changes {
        if bytes > step_bytes {
            end = false;
            break;
        }
        reached = change.position();
        let Change { id, deleted, .. } = change;
        if !deleted {
            bytes += read(at, entry, view, &id, &mut inputs)?;
        }
        ids.push(id);
    }
    if end {
        reached = Position::from(at.snapshot.seq());
    }
    let mapped = map(view, &inputs)?;
    if mapped.len() != inputs.len() {
        let reason = format!("the mapper answered {} times for {} documents", mapped.len(), inputs.len());
        return Err(function_error(reason));
    }
    let mut rows: HashMap<String, TreeRows> = HashMap::new();
    for (input, emitted) in inputs.into_iter().zip(mapped) {
        let id = input.document.id.into_owned();
        let own = rows_of(&id, emitted, view.options)?;
        rows.insert(id, own);
    }
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    let documents = ids.into_iter().map(|id| (rows.remove(&id).unwrap_or_default(), id)).map(|(rows, id)| (id, rows));
    Ok(Gathered { documents: documents.collect(), position: reached, end })
}

/// Maps documents, some on each of the threads that the mapper can use.
fn map(view: &View, inputs: &[MapInput]) -> Result<Vec<Vec<Emitted>>> {
    let threads = view.mapper.parallel().min(inputs.len() / VIEW_DOCUMENTS_PER_THREAD_MIN).max(1);
    if inputs.is_empty() {
        return Ok(Vec::new());
    }
    if threads == 1 {
        return view.mapper.map(inputs);
    }
    let parts = inputs.chunks(inputs.len().div_ceil(threads));
    let mapped: Vec<Result<Vec<Vec<Emitted>>>> = std::thread::scope(|scope| {
        let running: Vec<_> = parts.map(|part| scope.spawn(|| view.mapper.map(part))).collect();
        let panicked = |_| Err(function_error("the mapper panicked".to_owned()));
        running.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
    });
    let mut all = Vec::with_capacity(inputs.len());
    for part in mapped {
        all.extend(part?);
    }
    Ok(all)
}

fn function_error(reason: String) -> Error {
    Error::Function { error: "os_process_error".to_owned(), reason }
}

/// Reads a document for the mapper, if it is one to be mapped; answers its length.
fn read(
    at: &CollectionAt,
    entry: &CollectionEntry,
    view: &View,
    id: &str,
    inputs: &mut Vec<MapInput>,
) -> Result<usize> {
    if id.starts_with("_design/") && !view.options.design_documents {
        return Ok(0);
    }
    let document = read_document(&*at.snapshot, entry.documents, Cow::Borrowed(id))?;
    let Some(document) = document.filter(|document| !document.deleted) else { return Ok(0) };
    let document = document.into_owned();
    let bytes = document.body.len();
    let losing = at.leaves(id)?.into_iter().filter(|leaf| leaf.rev != document.rev);
    let (gone, live): (Vec<_>, Vec<_>) = losing.partition(|leaf| leaf.deleted);
    let conflicts = live.into_iter().map(|leaf| leaf.rev).collect();
    let deleted_conflicts = gone.into_iter().map(|leaf| leaf.rev).collect();
    inputs.push(MapInput { document, conflicts, deleted_conflicts });
    Ok(bytes + 64)
}

/// The documents that were purged after a commit. Their rows may come from a revision that no longer exists.
fn purged(at: &CollectionAt, entry: &CollectionEntry, after: Seq) -> Result<BTreeSet<String>> {
    let start = Bound::Included([&[side::PURGED][..], &after.next().0.to_be_bytes()].concat());
    let range = KeyRange { start, ..KeyRange::prefix([side::PURGED]) };
    let mut ids = BTreeSet::new();
    for row in at.snapshot.range(entry.side, &range, Direction::Forward) {
        let row = row?;
        ids.extend(row.key.get(9..).and_then(|id| std::str::from_utf8(id).ok()).map(str::to_owned));
    }
    Ok(ids)
}

/// Whether the log of purges reaches back to a position, so that no purge since is missed.
pub(crate) fn purges_are_known(at: &CollectionAt, entry: &CollectionEntry, position: &Position) -> Result<bool> {
    let all = KeyRange::prefix([side::PURGED]);
    let mut rows = at.snapshot.range(entry.side, &all, Direction::Forward);
    let Some(oldest) = rows.next().transpose()? else { return Ok(true) };
    let seq = oldest.key.get(1..).and_then(|key| key.first_chunk()).map_or(0, |seq| u64::from_be_bytes(*seq));
    // The log is only cut when it is full.
    Ok(seq <= position.seq.0 || rows.count() + 1 < entry.purges_limit as usize || position.seq == Seq::ZERO)
}
