//! Reading a collection as of one commit. All reads go through one snapshot; nothing is written.

use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;

use self_cell::self_cell;

use crate::engine::{Direction, KeyRange, Row, Rows, Seq, Snapshot, Timestamp, TreeId, Value, Wanted, counters};
use crate::kernel::attachment;
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry, counts_key};
use crate::kernel::rows::stored;
use crate::kernel::rows::stored::{Section, StoredHead};
use recension_values::attachment::AttachmentInfo;
use recension_values::error::{Error, Result};
use recension_values::limits::{ROWS_AHEAD_FIRST, ROWS_AHEAD_MAX, ROWS_AHEAD_NEAR_FIRST, ROWS_AHEAD_NEAR_MAX};
use recension_values::model::{Counts, Document, IndexInfo};

/// Which documents a list holds, and in which order. The default is all of them, by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListOptions {
    /// The lower bound of the ids.
    pub start: Bound<String>,
    /// The upper bound of the ids.
    pub end: Bound<String>,
    /// Ascending or descending by the bytes of the ids.
    pub direction: Direction,
    /// At most this many documents.
    pub limit: Option<usize>,
    /// Whether deleted documents are listed too.
    pub deleted: bool,
}

impl Default for ListOptions {
    fn default() -> Self {
        ListOptions {
            start: Bound::Unbounded,
            end: Bound::Unbounded,
            direction: Direction::Forward,
            limit: None,
            deleted: false,
        }
    }
}

impl ListOptions {
    /// The documents whose ids start with `prefix`.
    pub fn prefix(prefix: &str) -> Self {
        let end = prefix.char_indices().rev().find_map(|(at, c)| {
            // The next character, beyond the surrogates if it must.
            let next = (u32::from(c) + 1..=0x0010_ffff).find_map(char::from_u32)?;
            Some(format!("{}{next}", &prefix[..at]))
        });
        let end = end.map_or(Bound::Unbounded, Bound::Excluded);
        ListOptions { start: Bound::Included(prefix.to_owned()), end, ..Self::default() }
    }

    fn keys(&self) -> KeyRange {
        let key = |id: &String| id.clone().into_bytes();
        KeyRange { start: self.start.as_ref().map(key), end: self.end.as_ref().map(key) }
    }
}

/// A collection as it was right after one commit (a snapshot). Documents are borrowed from the snapshot if the engine
/// can.
#[derive(Clone)]
pub struct CollectionAt {
    pub(crate) name: Arc<str>,
    pub(crate) snapshot: Arc<dyn Snapshot>,
    pub(crate) entry: Option<Arc<CollectionEntry>>,
    /// Reads become dependencies of the transaction's commit, so nothing is read without need.
    pub(crate) in_transaction: bool,
}

impl CollectionAt {
    /// The collection's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The commit.
    pub fn seq(&self) -> Seq {
        self.snapshot.seq()
    }

    /// The time of that commit.
    pub fn time(&self) -> Result<Timestamp> {
        Ok(self.snapshot.time()?)
    }

    /// Whether the collection existed at that commit.
    pub fn exists(&self) -> bool {
        self.entry.is_some()
    }

    /// The collection's number. No other collection of the store has it or will have it, not even a later one of the
    /// same name. `None` if there was no collection then.
    pub fn number(&self) -> Option<u32> {
        self.entry.as_ref().map(|entry| entry.documents.0)
    }

    /// A document; `None` if there is none or it is deleted.
    pub fn get<'s>(&'s self, id: &'s str) -> Result<Option<Document<'s>>> {
        Ok(self.current(id)?.filter(|document| !document.deleted))
    }

    /// Fetches into the processor's caches what [`CollectionAt::get`] of each of these documents will read. Reading
    /// many documents one after the other then does not wait for memory each time. This is a hint without other
    /// effects.
    pub fn prefetch(&self, ids: &[&str]) {
        let Some(entry) = &self.entry else { return };
        let keys: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes()).collect();
        self.snapshot.prefetch(entry.documents, &keys);
    }

    /// A document; its tombstone if it is deleted.
    pub fn current<'s>(&'s self, id: &'s str) -> Result<Option<Document<'s>>> {
        match &self.entry {
            Some(entry) => read_document(&*self.snapshot, entry.documents, Cow::Borrowed(id)),
            None => Ok(None),
        }
    }

    /// The commit that wrote a document or its tombstone last, without reading the body; `None` if there was none.
    pub fn written_at(&self, id: &str) -> Result<Option<Seq>> {
        match &self.entry {
            Some(entry) => Ok(self.snapshot.version(entry.documents, id.as_bytes())?),
            None => Ok(None),
        }
    }

    /// Documents by id.
    pub fn list(&self, options: &ListOptions) -> Result<Documents> {
        let rows = self.entry.as_ref().map(|entry| {
            let wanted = Wanted { rows: options.limit, values: true };
            OwnedRows::wanted(afresh(&self.snapshot), entry.documents, &options.keys(), options.direction, wanted)
        });
        Ok(Documents { rows, deleted: options.deleted, left: options.limit.unwrap_or(usize::MAX) })
    }

    /// How many documents there are. One read of the engine.
    pub fn count(&self) -> Result<u64> {
        Ok(self.counts()?.documents)
    }

    /// How many documents there are, live and deleted, and their bytes. One read of the engine.
    ///
    /// Inside of a transaction, the commit then depends on every write to the collection.
    pub fn counts(&self) -> Result<Counts> {
        if self.entry.is_none() {
            return Ok(Counts::default());
        }
        let row = self.snapshot.get(CATALOGUE, &counts_key(&self.name))?;
        let Some(row) = row else { return Ok(Counts::default()) };
        let damaged = || Error::DamagedRow { what: format!("the counts of {}", self.name), why: "they do not read" };
        let numbers = counters(&row).filter(|numbers| matches!(numbers.len(), 3 | 4)).ok_or_else(damaged)?;
        let number = |at: usize| u64::try_from(numbers.get(at).copied().unwrap_or(0)).map_err(|_| damaged());
        let (documents, deleted, body_bytes, rewritten) = (number(0)?, number(1)?, number(2)?, number(3)?);
        Ok(Counts { documents, deleted, body_bytes, rewritten, changed: row.seq })
    }

    /// The indexes that the collection had at that commit.
    pub fn indexes(&self) -> Vec<IndexInfo> {
        self.entry.as_deref().map(CollectionEntry::index_infos).unwrap_or_default()
    }

    /// The number of entries of an index, up to `most`, which bounds the time: each one is read. `None`: there is no
    /// such index.
    pub fn index_entries(&self, name: &str, most: usize) -> Result<Option<usize>> {
        let index = self.entry.as_ref().and_then(|entry| entry.indexes.iter().find(|index| index.spec.name == name));
        let Some(index) = index else { return Ok(None) };
        let mut entries = 0;
        for row in self.snapshot.range(index.tree, &KeyRange::all(), Direction::Forward).take(most) {
            row?;
            entries += 1;
        }
        Ok(Some(entries))
    }
}

pub(crate) fn read_document<'s>(
    snapshot: &'s dyn Snapshot,
    tree: TreeId,
    id: Cow<'s, str>,
) -> Result<Option<Document<'s>>> {
    match snapshot.get(tree, id.as_bytes())? {
        Some(value) => document_of(id, value).map(Some),
        None => Ok(None),
    }
}

pub(crate) fn document_of<'s>(id: Cow<'s, str>, value: Value<'s>) -> Result<Document<'s>> {
    let head = stored::decode(&value.bytes, id.as_bytes())?;
    with_document(&head, id, value, |document| document)
}

/// Passes the document of the row to `see`.
fn with_document<'s, T>(
    head: &StoredHead,
    id: Cow<'s, str>,
    value: Value<'s>,
    see: impl FnOnce(Document<'s>) -> T,
) -> Result<T> {
    let attachments = attachments_of(&value.bytes, head, id.as_bytes())?;
    let body = stored::into_body(value.bytes, head, id.as_bytes())?;
    Ok(see(Document { id, rev: head.rev, seq: value.seq, deleted: head.deleted, body, attachments }))
}

pub(super) fn attachments_of(value: &[u8], head: &StoredHead, id: &[u8]) -> Result<Vec<AttachmentInfo>> {
    if !head.attachments {
        return Ok(Vec::new());
    }
    attachment::decode(stored::section(value, head, Section::Attachments), id)
}

/// A document's id, from the key of its row.
pub(crate) fn id_of(key: Cow<'_, [u8]>) -> Result<Cow<'_, str>> {
    let damaged = |key: &[u8]| Error::DamagedRow {
        what: format!("the document \"{}\"", key.escape_ascii()),
        why: "its id is not UTF-8",
    };
    match key {
        Cow::Borrowed(key) => std::str::from_utf8(key).map(Cow::Borrowed).map_err(|_| damaged(key)),
        Cow::Owned(key) => String::from_utf8(key).map(Cow::Owned).map_err(|error| damaged(error.as_bytes())),
    }
}

self_cell!(
    /// Rows of a range, with the snapshot that they are read from.
    struct RowsCell {
        owner: Arc<dyn Snapshot>,
        #[not_covariant]
        dependent: Rows,
    }
);

/// Rows of a range that keep their snapshot alive.
pub(crate) struct OwnedRows {
    cell: RowsCell,
    /// Rows that name documents are read in groups, and their documents fetched together.
    naming: Option<Naming>,
}

/// The function that gives a row's document, and the rows that were read ahead.
struct Naming {
    documents: TreeId,
    id: NamedId,
    /// How many rows are read next, and at most.
    next: usize,
    most: usize,
    /// For each row that was read ahead: where its key and its value end in `bytes`, and its commit.
    ahead: Vec<(usize, usize, Seq)>,
    bytes: Vec<u8>,
    /// How many of them have been answered.
    answered: usize,
    /// The error behind them.
    failed: Option<crate::engine::EngineError>,
}

/// The id of the document that a row of this key and this value names.
type NamedId = Box<dyn for<'r> Fn(&'r [u8], &'r [u8]) -> Option<&'r str> + Send + Sync>;

impl OwnedRows {
    /// Fetches the documents that the rows name together, so that the waits for them overlap.
    pub(crate) fn naming(
        mut self,
        documents: TreeId,
        id: impl for<'r> Fn(&'r [u8], &'r [u8]) -> Option<&'r str> + Send + Sync + 'static,
    ) -> Self {
        let (next, most) = rows_ahead(&**self.cell.borrow_owner());
        let (ahead, bytes) = (Vec::new(), Vec::new());
        self.naming = Some(Naming { documents, id: Box::new(id), next, most, ahead, bytes, answered: 0, failed: None });
        self
    }

    pub(crate) fn of(snapshot: Arc<dyn Snapshot>, tree: TreeId, range: &KeyRange, direction: Direction) -> Self {
        Self::wanted(snapshot, tree, range, direction, Wanted::default())
    }

    pub(crate) fn wanted(
        snapshot: Arc<dyn Snapshot>,
        tree: TreeId,
        range: &KeyRange,
        direction: Direction,
        wanted: Wanted,
    ) -> Self {
        let cell = RowsCell::new(snapshot, |snapshot| snapshot.range_of(tree, range, direction, wanted));
        OwnedRows { cell, naming: None }
    }

    /// The next row, seen through `f`.
    pub(crate) fn next_with<T>(&mut self, f: impl FnOnce(Row<'_>) -> Result<T>) -> Option<Result<T>> {
        let Some(naming) = &mut self.naming else {
            return self.cell.with_dependent_mut(|_, rows| rows.next().map(|row| f(row?)));
        };
        if naming.answered == naming.ahead.len() {
            if let Some(error) = naming.failed.take() {
                return Some(Err(error.into()));
            }
            self.cell.with_dependent_mut(|snapshot, rows| naming.read_ahead(&**snapshot, rows));
        }
        let number = naming.answered;
        if number == naming.ahead.len() {
            return naming.failed.take().map(|error| Err(error.into()));
        }
        naming.answered += 1;
        naming.row(number).map(f)
    }

    /// The next row's document, with deletions or without, seen through `f`.
    fn next_document<T>(&mut self, deleted: bool, f: impl FnOnce(Document<'_>) -> T) -> Option<Result<T>> {
        self.cell.with_dependent_mut(|_, rows| {
            // Moving a document is expensive: it is made where it is used.
            let found = rows.find_map(|row| {
                let with_head =
                    row.map_err(Error::from).and_then(|row| Ok((stored::decode(&row.value, &row.key)?, row)));
                with_head.map(|found| (deleted || !found.0.deleted).then_some(found)).transpose()
            })?;
            Some(found.and_then(|(head, row)| with_document(&head, id_of(row.key)?, row.value, f)))
        })
    }
}

impl Naming {
    fn read_ahead(&mut self, snapshot: &dyn Snapshot, rows: &mut Rows<'_>) {
        self.ahead.clear();
        self.bytes.clear();
        self.answered = 0;
        for row in rows.take(self.next) {
            match row {
                Ok(Row { key, value }) => {
                    self.bytes.extend_from_slice(&key);
                    let key_end = self.bytes.len();
                    self.bytes.extend_from_slice(&value);
                    self.ahead.push((key_end, self.bytes.len(), value.seq));
                }
                Err(error) => self.failed = Some(error),
            }
        }
        self.next = (4 * self.next).min(self.most);
        let rows = (0..self.ahead.len()).filter_map(|number| self.parts(number));
        let ids: Vec<&[u8]> = rows.filter_map(|(key, value, _)| Some((self.id)(key, value)?.as_bytes())).collect();
        snapshot.prefetch(self.documents, &ids);
    }

    /// Key, value and commit of a row that was read ahead.
    fn parts(&self, number: usize) -> Option<(&[u8], &[u8], Seq)> {
        let (key_end, end, seq) = *self.ahead.get(number)?;
        let start = number.checked_sub(1).and_then(|before| self.ahead.get(before)).map_or(0, |before| before.1);
        Some((self.bytes.get(start..key_end)?, self.bytes.get(key_end..end)?, seq))
    }

    fn row(&self, number: usize) -> Option<Row<'_>> {
        let (key, bytes, seq) = self.parts(number)?;
        Some(Row { key: Cow::Borrowed(key), value: Value { seq, bytes: Cow::Borrowed(bytes) } })
    }
}

/// How many rows are read ahead at first, and at most, so that what they name is fetched together: from an engine that
/// is far away, or into the processor's caches.
pub(crate) fn rows_ahead(snapshot: &dyn Snapshot) -> (usize, usize) {
    if snapshot.is_distant() {
        (ROWS_AHEAD_FIRST, ROWS_AHEAD_MAX)
    } else {
        (ROWS_AHEAD_NEAR_FIRST, ROWS_AHEAD_NEAR_MAX)
    }
}

/// A new snapshot of the same commit, which is dropped with the walk, and with everything that the walk has cached in
/// it.
pub(crate) fn afresh(snapshot: &Arc<dyn Snapshot>) -> Arc<dyn Snapshot> {
    snapshot.afresh().unwrap_or_else(|| snapshot.clone())
}

/// Documents in the order of their ids, one at a time. It ends after its first error.
pub struct Documents {
    rows: Option<OwnedRows>,
    deleted: bool,
    left: usize,
}

impl Documents {
    /// The next document, seen through `f` while it is borrowed from the engine: nothing of it is copied. It is
    /// answered as [`Iterator::next`] would answer it.
    pub fn next_with<T>(&mut self, f: impl FnOnce(Document<'_>) -> T) -> Option<Result<T>> {
        self.left = self.left.checked_sub(1)?;
        let document = self.rows.as_mut()?.next_document(self.deleted, f);
        if !matches!(document, Some(Ok(_))) {
            self.rows = None;
        }
        document
    }
}

impl Iterator for Documents {
    type Item = Result<Document<'static>>;

    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method's name alone is of one lifetime")]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_with(|document| document.into_owned())
    }
}
