//! Making and dropping indexes. An index is kept by every writer from the moment it is declared, while
//! a build adds the documents that were there before, in bounded steps; queries use it once it is whole.

use std::ops::Bound;

use super::apply::{not_unique, value_range};
use super::catalogue::{BuildCursor, CATALOGUE, CollectionEntry, IndexEntry, IndexState, build_key, dropped_key};
use super::index_keys::IndexKeys;
use super::index_rows::IndexChange;
use super::limits::{BUILD_STEP_BYTES, BUILD_STEP_DOCUMENTS, INDEXES_MAX, WRITE_ATTEMPTS_MAX};
use super::store::{Attempt, retry, take_trees};
use super::view::View;
use super::{At, Collection, Error, IndexSpec, Result, stored};
use crate::engine::{Batch, Direction, KeyRange, Seq, Snapshot};

/// How far the build of an index has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuildProgress {
    /// Documents done, deleted ones included.
    pub done: u64,
    /// Documents that there were when this build began or went on.
    pub total: u64,
}

impl Collection {
    /// Makes an index, and comes back when it is ready. Readers and writers go on meanwhile.
    ///
    /// Where the same index is there already, nothing happens; where its build was broken off, by a
    /// crash for example, this goes on with it. `progress` is called after each step.
    ///
    /// # Errors
    /// [`Error::BadIndex`]; [`Error::IndexExists`] where the name is taken; [`Error::NotUnique`],
    /// [`Error::ValueTooLong`] and [`Error::TooManyEntries`] for documents that are there already: then there
    /// is no index.
    #[allow(clippy::needless_pass_by_value)] // a specification is made for its index
    pub fn create_index(&self, spec: IndexSpec, mut progress: impl FnMut(BuildProgress)) -> Result<()> {
        spec.check()?;
        let ready = retry(|| self.declare(&spec))?;
        // A crash in between leaves an index of which more is kept than need be.
        self.extend_retention()?;
        if ready {
            return Ok(());
        }
        match self.build(&spec, &mut progress) {
            Err(error @ (Error::NotUnique { .. } | Error::ValueTooLong { .. } | Error::TooManyEntries { .. })) => {
                self.drop_index(&spec.name)?;
                Err(error)
            }
            other => other,
        }
    }

    /// Drops an index, built or not. Reads at moments before still use it.
    ///
    /// # Errors
    /// [`Error::NoSuchIndex`].
    pub fn drop_index(&self, name: &str) -> Result<()> {
        let none = || Error::NoSuchIndex { collection: self.name().to_owned(), index: name.to_owned() };
        retry(|| {
            let snapshot = self.store().snapshot(At::Now)?;
            let known = self.slot.entry(&*snapshot)?.ok_or_else(none)?;
            let tree = known.index(name).ok_or_else(none)?.tree;
            let mut entry = CollectionEntry::clone(&known);
            entry.indexes.retain(|index| index.tree != tree);
            let mut batch = self.batch_on(snapshot.seq());
            batch.put(CATALOGUE, &self.slot.key, &entry.encode());
            batch.put(CATALOGUE, &dropped_key(tree), self.name().as_bytes());
            batch.delete(CATALOGUE, &build_key(tree));
            Ok(self.store().try_commit(batch)?.map(|_| ()))
        })
    }

    /// A batch that depends on the collection's row in the catalogue.
    fn batch_on(&self, seq: Seq) -> Batch {
        let mut batch = Batch::new();
        batch.depends_on(CATALOGUE, &self.slot.key, seq);
        batch
    }

    /// Enters the index into the catalogue; answers whether it is ready at once.
    fn declare(&self, spec: &IndexSpec) -> Result<Attempt<bool>> {
        let view = View::new(self.store().snapshot(At::Now)?);
        let known = self.slot.entry_in(&view)?;
        if let Some(index) = known.as_ref().and_then(|known| known.index(&spec.name)) {
            if index.spec == *spec {
                return Ok(Attempt::Done(index.state == IndexState::Ready));
            }
            return Err(Error::IndexExists { index: spec.name.clone(), on: index.spec.to_string() });
        }
        if known.as_ref().is_some_and(|known| known.indexes.len() >= INDEXES_MAX) {
            return Err(Error::TooManyIndexes { max: INDEXES_MAX });
        }
        let (mut entry, state) = match known {
            Some(known) => (CollectionEntry::clone(&known), IndexState::Building),
            // A collection without documents: the index is whole as it is.
            None => (CollectionEntry::new(take_trees(&view)?), IndexState::Ready),
        };
        let [tree] = take_trees(&view)?;
        entry.indexes.push(IndexEntry::new(tree, state, spec.clone()));
        view.put(CATALOGUE, &self.slot.key, entry.encode());
        Ok(self.store().try_commit_view(&view, &[])?.map(|_| state == IndexState::Ready))
    }

    fn build(&self, spec: &IndexSpec, progress: &mut dyn FnMut(BuildProgress)) -> Result<()> {
        let counts = self.counts()?;
        let total = counts.documents + counts.deleted;
        let mut documents = BUILD_STEP_DOCUMENTS;
        let mut refused = 0;
        loop {
            match self.build_step(spec, documents)? {
                Attempt::Done(None) => return Ok(()),
                Attempt::Done(Some(done)) => {
                    progress(BuildProgress { done, total: total.max(done) });
                    documents = (documents * 2).min(BUILD_STEP_DOCUMENTS);
                    refused = 0;
                }
                // Writers were at work among these documents: fewer of them at a time.
                Attempt::Again => {
                    documents = (documents / 2).max(1);
                    refused += 1;
                    if refused > WRITE_ATTEMPTS_MAX {
                        return Err(Error::Busy { attempts: WRITE_ATTEMPTS_MAX });
                    }
                }
            }
        }
    }

    /// Indexes some documents in one commit; answers how many are done, or that the index is ready.
    fn build_step(&self, spec: &IndexSpec, documents: usize) -> Result<Attempt<Option<u64>>> {
        let snapshot = self.store().snapshot(At::Now)?;
        let gone = || Error::NoSuchIndex { collection: self.name().to_owned(), index: spec.name.clone() };
        let entry = self.slot.entry(&*snapshot)?.ok_or_else(gone)?;
        let index = entry.index(&spec.name).filter(|index| index.spec == *spec).ok_or_else(gone)?;
        if index.state == IndexState::Ready {
            return Ok(Attempt::Done(None));
        }
        let cursor_key = build_key(index.tree);
        let cursor = snapshot.get(CATALOGUE, &cursor_key)?.map(|row| BuildCursor::decode(&row)).unwrap_or_default();
        let mut batch = self.batch_on(snapshot.seq());
        batch.depends_on(CATALOGUE, &cursor_key, snapshot.seq());
        let step = Step { index, cursor: &cursor, documents };
        match step.add(&*snapshot, &entry, &mut batch)? {
            Some(reached) => {
                batch.put(CATALOGUE, &cursor_key, &reached.encode());
                Ok(self.store().try_commit(batch)?.map(|_| Some(reached.done)))
            }
            None => {
                // Every document of this snapshot is in; later ones were put in by their writers.
                let mut whole = CollectionEntry::clone(&entry);
                for other in whole.indexes.iter_mut().filter(|other| other.tree == index.tree) {
                    other.state = IndexState::Ready;
                }
                batch.put(CATALOGUE, &self.slot.key, &whole.encode());
                batch.delete(CATALOGUE, &cursor_key);
                Ok(self.store().try_commit(batch)?.map(|_| None))
            }
        }
    }
}

struct Step<'a> {
    index: &'a IndexEntry,
    cursor: &'a BuildCursor,
    documents: usize,
}

impl Step<'_> {
    /// Adds the entries of the next documents to the batch; `None` where there are no more documents.
    fn add(&self, snapshot: &dyn Snapshot, entry: &CollectionEntry, batch: &mut Batch) -> Result<Option<BuildCursor>> {
        let start = self.cursor.after.clone().map_or(Bound::Unbounded, Bound::Excluded);
        let range = KeyRange { start: start.clone(), end: Bound::Unbounded };
        let mut reached = self.cursor.clone();
        let mut bytes = 0;
        let mut given = std::collections::HashMap::new();
        let keys = IndexKeys::of([&self.index.spec]);
        for row in snapshot.range(entry.documents, &range, Direction::Forward) {
            let row = row?;
            bytes += row.value.len();
            reached.done += 1;
            reached.after = Some(row.key.to_vec());
            let head = stored::decode(&row.value, &row.key)?;
            if !head.deleted {
                let id = String::from_utf8_lossy(&row.key);
                let body = std::str::from_utf8(&row.value[..head.body_len]).unwrap_or_default();
                let rows = keys.rows(std::slice::from_ref(self.index), body, &id)?;
                let mut changes = Vec::new();
                for index_row in rows.into_iter().flatten() {
                    if self.index.spec.unique {
                        if let Some(holder) = given.insert(index_row.key.clone(), id.to_string()) {
                            return Err(not_unique(&self.index.spec, &index_row, &id, &holder));
                        }
                        batch.depends_on_range(self.index.tree, value_range(&index_row.key), snapshot.seq());
                    }
                    self.index.add(snapshot, index_row, &id, true, &mut changes)?;
                }
                // Nobody else has the values of a unique index, here or in the batch: one row is put.
                for IndexChange { tree, key, value } in changes {
                    let value = value.unwrap_or_default();
                    bytes += key.len() + value.len();
                    batch.put(tree, &key, &value);
                }
            }
            if reached.done - self.cursor.done >= self.documents as u64 || bytes >= BUILD_STEP_BYTES {
                break;
            }
        }
        let Some(last) = reached.after.clone().filter(|_| reached.done > self.cursor.done) else { return Ok(None) };
        batch.depends_on_range(entry.documents, KeyRange { start, end: Bound::Included(last) }, snapshot.seq());
        Ok(Some(reached))
    }
}
