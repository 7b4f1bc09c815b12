//! Making and dropping indexes. An index is kept by every writer from the moment it is declared, while
//! a build adds the documents that were there before, in bounded steps; queries use it once it is whole.

use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::{Batch, Direction, KeyRange, Seq, Snapshot};
use crate::faces::building::{BuildClaim, documents_done};
use crate::faces::collection::Collection;
use crate::kernel::overlay::Overlay;
use crate::kernel::rows::catalogue::{
    BuildCursor, CATALOGUE, CollectionEntry, ERASURES_PREFIX, IndexEntry, build_key, dropped_key, statistics_key,
};
use crate::kernel::rows::index_keys::{Counted, IndexKeys};
use crate::kernel::rows::index_rows::{IndexChange, To, not_unique, value_range};
use crate::kernel::rows::index_statistics::IndexStatistics;
use crate::kernel::rows::stored;
use crate::kernel::rows::trees::{take_collection_trees, take_index_tree};
use crate::kernel::rows::word_rows;
use crate::kernel::write::attempt::{Attempt, retry};
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::index_spec::IndexSpec;
use recension_values::json::IntoPath;
use recension_values::limits::{
    BUILD_STEP_BYTES, BUILD_STEP_DOCUMENTS, INDEXES_MAX, STATISTICS_CHANGED_PART, STATISTICS_DOCUMENTS_MIN,
    WRITE_ATTEMPTS_MAX,
};
use recension_values::model::IndexState;
use recension_values::own::check_index;
use recension_values::text::Language;

/// How far the build of an index has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuildProgress {
    /// Documents done, deleted ones included.
    pub done: u64,
    /// Documents that there were when this build began or was continued.
    pub total: u64,
}

/// How often a build that another thread gave up is tried anew.
const BUILDS_WAITED_FOR_MAX: u32 = 3;

impl Collection {
    /// Makes an index, and returns when it is ready. Reads and writes go on meanwhile.
    ///
    /// If the same index is there already, nothing happens. If another thread of this process is building it, the call
    /// waits for that. If its build was interrupted, the call continues it. `progress` is called after each step.
    ///
    /// If a process died while it built an index, the next one that opens the store continues, on a thread of its own.
    ///
    /// [`Error::BadIndex`]; [`Error::IndexExists`] if the name is taken; [`Error::NotUnique`], [`Error::ValueTooLong`]
    /// and [`Error::TooManyEntries`] if an existing document does not fit: then there is no index.
    #[allow(clippy::needless_pass_by_value)] // a specification is made for its index
    pub fn create_index(&self, spec: IndexSpec, mut progress: impl FnMut(BuildProgress)) -> Result<()> {
        spec.check()?;
        check_index(&spec)?;
        let mut waited = 0;
        loop {
            let ready = retry(|| self.declare(&spec))?;
            // A crash in between leaves an index that keeps more history than it needs.
            self.extend_retention()?;
            if ready {
                return Ok(());
            }
            match self.finish_build_with(&spec, &AtomicBool::new(false), &mut progress) {
                // Another builder met a document that does not fit, or somebody dropped the index: this one finds out
                // itself.
                Err(Error::NoSuchIndex { .. }) if waited < BUILDS_WAITED_FOR_MAX => waited += 1,
                done => return done,
            }
        }
    }

    /// Makes an index of the words of all strings within the values at some paths, for
    /// [`Selector::contains_text`](crate::Selector::contains_text) and
    /// [`Query::by_relevance`](crate::Query::by_relevance): [`Collection::create_index`] of
    /// [`IndexSpec::words`].
    ///
    /// ```
    /// use recension::{Language, Query, Selector, Store, TextQuery};
    /// # fn main() -> recension::Result<()> {
    /// let notes = Store::memory()?.collection("notes")?;
    /// notes.create_text_index("words", ["title", "text"], Language::English)?;
    /// notes.put("1", r#"{"title":"Soups","text":"Hot soup, cold soup"}"#)?;
    /// notes.put("2", r#"{"title":"Rice","text":"With a soup"}"#)?;
    /// let words = TextQuery::new("soup", Language::English)?;
    /// let asked = Query::new().selecting(Selector::contains_text_in(["title", "text"], words)).by_relevance();
    /// let found = notes.find(&asked)?.collect::<recension::Result<Vec<_>>>()?;
    /// assert_eq!((&*found[0].id, &*found[1].id), ("1", "2"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`Collection::create_index`].
    pub fn create_text_index<P: IntoPath>(
        &self,
        name: &str,
        paths: impl IntoIterator<Item = P>,
        language: Language,
    ) -> Result<()> {
        self.create_index(IndexSpec::words(name, paths, language), |_| ())
    }

    /// Continues a build until it is done or `stop` is set.
    pub(crate) fn finish_build(&self, spec: &IndexSpec, stop: &AtomicBool) -> Result<()> {
        self.finish_build_with(spec, stop, &mut |_| ())
    }

    fn finish_build_with(
        &self,
        spec: &IndexSpec,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(BuildProgress),
    ) -> Result<()> {
        let gone = || Error::NoSuchIndex { collection: self.name().to_owned(), index: spec.name.clone() };
        let _claim = loop {
            let entry = self.at(At::Now)?.entry.ok_or_else(gone)?;
            let index = entry.index(&spec.name).filter(|index| index.spec == *spec).ok_or_else(gone)?;
            if index.state == IndexState::Ready {
                return Ok(());
            }
            if let Some(claim) = BuildClaim::take(self.store().engine(), index.tree) {
                break claim;
            }
            if stop.load(Ordering::Acquire) {
                return Ok(());
            }
            let done = documents_done(&*self.store().snapshot(At::Now)?, &build_key(index.tree))?;
            progress(BuildProgress { done, total: self.documents_to_index()?.max(done) });
            BuildClaim::wait();
        };
        match self.build(spec, stop, progress) {
            Err(error @ (Error::NotUnique { .. } | Error::ValueTooLong { .. } | Error::TooManyEntries { .. })) => {
                self.drop_index(&spec.name)?;
                Err(error)
            }
            other => other,
        }
    }

    /// Drops an index, built or not. Reads at earlier moments still use it.
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
            batch.delete(CATALOGUE, &statistics_key(tree));
            Ok(self.store().try_commit(batch)?.map(|_| ()))
        })
    }

    /// A batch that depends on the collection's row in the catalogue.
    fn batch_on(&self, seq: Seq) -> Batch {
        let mut batch = Batch::new();
        batch.depends_on(CATALOGUE, &self.slot.key, seq);
        batch
    }

    /// Enters the index into the catalogue; returns whether it is ready at once.
    fn declare(&self, spec: &IndexSpec) -> Result<Attempt<bool>> {
        let view = Overlay::new(self.store().snapshot(At::Now)?);
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
            None => (CollectionEntry::new(take_collection_trees(&view, self.name())?), IndexState::Ready),
        };
        let tree = take_index_tree(&view, self.name(), &spec.name)?;
        entry.indexes.push(IndexEntry::new(tree, state, spec.clone()));
        view.put(CATALOGUE, &self.slot.key, entry.encode());
        if state == IndexState::Building {
            // From here on, any process that opens the store continues the build.
            view.put(CATALOGUE, &build_key(tree), BuildCursor::default().encode());
        }
        Ok(self.store().try_commit_view(&view, &[])?.map(|_| state == IndexState::Ready))
    }

    /// The progress of indexes that are being built, by name.
    pub fn building(&self) -> Result<Vec<(String, BuildProgress)>> {
        let now = self.at(At::Now)?;
        let Some(entry) = &now.entry else { return Ok(Vec::new()) };
        let total = self.documents_to_index()?;
        let building = entry.indexes.iter().filter(|index| index.state == IndexState::Building);
        building
            .map(|index| {
                let done = documents_done(&*now.snapshot, &build_key(index.tree))?;
                Ok((index.spec.name.clone(), BuildProgress { done, total: total.max(done) }))
            })
            .collect()
    }

    /// Gathers the statistics of indexes anew of which the collection has outgrown the kept ones, or of whose
    /// documents a fifth was changed since; all rows of such
    /// an index are read. [`Store::compact`](crate::Store::compact) does it too.
    pub fn refresh_statistics(&self) -> Result<()> {
        let snapshot = self.store().snapshot(At::Now)?;
        let entry = self.slot.entry(&*snapshot)?;
        let Some(entry) = entry.filter(|entry| self.store().has_key_of(entry)) else { return Ok(()) };
        let documents = self.counts()?.documents;
        if documents < STATISTICS_DOCUMENTS_MIN {
            return Ok(());
        }
        let mut batch = self.batch_on(snapshot.seq());
        let mut gathered = false;
        let ready = |index: &&IndexEntry| index.state == IndexState::Ready && index.spec.words.is_none();
        for index in entry.indexes.iter().filter(ready) {
            let key = statistics_key(index.tree);
            let row = snapshot.get(CATALOGUE, &key)?;
            let since = row.as_ref().map(|row| row.seq);
            let known = row.and_then(|row| IndexStatistics::decode(&row));
            let is_old = known.is_none_or(|known| known.are_old(documents));
            if is_old || changed_much(&*snapshot, &entry, since, documents)? {
                put_statistics(&*snapshot, index, documents, &mut batch)?;
                gathered = true;
            }
        }
        if gathered {
            // If an index came or went meanwhile, the next one gathers them.
            self.store().try_commit(batch)?;
        }
        Ok(())
    }

    fn documents_to_index(&self) -> Result<u64> {
        let counts = self.counts()?;
        Ok(counts.documents + counts.deleted)
    }

    fn build(&self, spec: &IndexSpec, stop: &AtomicBool, progress: &mut dyn FnMut(BuildProgress)) -> Result<()> {
        let total = self.documents_to_index()?;
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
                // Other writers changed some of these documents: the next step takes fewer.
                Attempt::Again => {
                    documents = (documents / 2).max(1);
                    refused += 1;
                    if refused > WRITE_ATTEMPTS_MAX {
                        return Err(Error::Busy { attempts: WRITE_ATTEMPTS_MAX });
                    }
                }
            }
            if stop.load(Ordering::Acquire) {
                return Ok(());
            }
        }
    }

    /// Indexes some documents in one commit; returns how many are done, or that the index is ready.
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
                // The index has every document of this snapshot. Writers add later ones.
                let mut whole = CollectionEntry::clone(&entry);
                for other in whole.indexes.iter_mut().filter(|other| other.tree == index.tree) {
                    other.state = IndexState::Ready;
                }
                batch.put(CATALOGUE, &self.slot.key, &whole.encode());
                batch.delete(CATALOGUE, &cursor_key);
                let documents = self.counts()?.documents;
                if documents >= STATISTICS_DOCUMENTS_MIN && index.spec.words.is_none() {
                    put_statistics(&*snapshot, index, documents, &mut batch)?;
                }
                Ok(self.store().try_commit(batch)?.map(|_| None))
            }
        }
    }
}

/// Whether what was known of an index at a commit counts no more, since more than a part of the documents was changed
/// behind it. At most that many rows of the changes are read.
fn changed_much(snapshot: &dyn Snapshot, entry: &CollectionEntry, since: Option<Seq>, documents: u64) -> Result<bool> {
    let Some(next) = since.and_then(|since| since.0.checked_add(1)) else { return Ok(false) };
    let behind = KeyRange { start: Bound::Included(next.to_be_bytes().to_vec()), end: Bound::Unbounded };
    let much = usize::try_from(documents / STATISTICS_CHANGED_PART).unwrap_or(usize::MAX);
    let mut rows = snapshot.range(entry.changes, &behind, Direction::Forward);
    Ok(rows.nth(much).transpose()?.is_some())
}

/// Adds what is known of an index. It has keys of documents, so that no erasure may have been ordered since.
fn put_statistics(snapshot: &dyn Snapshot, index: &IndexEntry, documents: u64, batch: &mut Batch) -> Result<()> {
    let known = IndexStatistics::gather(snapshot, index, documents)?;
    batch.put(CATALOGUE, &statistics_key(index.tree), &known.encode());
    batch.depends_on_range(CATALOGUE, KeyRange::prefix(ERASURES_PREFIX), snapshot.seq());
    Ok(())
}

struct Step<'a> {
    index: &'a IndexEntry,
    cursor: &'a BuildCursor,
    documents: usize,
}

impl Step<'_> {
    /// Adds the entries of the next documents to the batch; `None` if there are no more documents.
    fn add(&self, snapshot: &dyn Snapshot, entry: &CollectionEntry, batch: &mut Batch) -> Result<Option<BuildCursor>> {
        let start = self.cursor.after.clone().map_or(Bound::Unbounded, Bound::Excluded);
        let range = KeyRange { start: start.clone(), end: Bound::Unbounded };
        let mut reached = self.cursor.clone();
        let mut bytes = 0;
        let mut given = std::collections::HashMap::new();
        let keys = IndexKeys::of([self.index]);
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
                if self.index.spec.words.is_some() {
                    let rows = rows.first().map(Vec::as_slice).unwrap_or_default();
                    // If the document has rows, its writer has counted it since the index was declared.
                    let first = rows.first().map(|row| row.key.clone());
                    let tally = word_rows::tally(rows);
                    let counted = Counted { first, before: tally, after: tally };
                    self.index.count(snapshot, counted, &id, &mut changes)?;
                }
                for index_row in rows.into_iter().flatten() {
                    if self.index.spec.unique {
                        if let Some(holder) = given.insert(index_row.key.clone(), id.to_string()) {
                            return Err(not_unique(&self.index.spec, &index_row, &id, &holder));
                        }
                        batch.depends_on_range(self.index.tree, value_range(&index_row.key), snapshot.seq());
                    }
                    self.index.add(snapshot, index_row, &id, true, &mut changes)?;
                }
                // No other document has the values of a unique index, here or in the batch: one row is put.
                for IndexChange { tree, key, to } in changes {
                    match to {
                        To::Value(value) => {
                            bytes += key.len() + value.len();
                            batch.put(tree, &key, &value);
                        }
                        To::Nothing => drop(batch.delete(tree, &key)),
                        To::More(more) => drop(batch.add(tree, &key, &more)),
                    }
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
