//! Applying writes to a view: reading what is there, deciding, and writing documents, index entries, the
//! changes' rows and the counts together. The commit then depends on all that was read.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Bound;
use std::sync::Arc;

use super::catalogue::{CATALOGUE, CollectionEntry, IndexEntry, counts_key};
use super::changes::{change_key, change_value};
use super::collation::{encode_value, value_len};
use super::limits::INDEX_VALUE_BYTES_MAX;
use super::reader::after_prefix;
use super::rev_hash::revision_id;
use super::store::{Attempt, Slot, Store, retry, take_trees};
use super::stored::{self, StoredHead};
use super::view::{PENDING, View};
use super::{At, Collection, Error, Expect, Result, RevId, Write, Written};
use crate::engine::{CommitInfo, Direction, KeyRange, Seq, Snapshot};

/// Applies writes in one commit, with a result for each.
pub(super) fn apply(collection: &Collection, mut writes: Vec<Write>) -> Result<Vec<Result<Written>>> {
    for write in &mut writes {
        ensure_id(collection.store(), write)?;
    }
    if writes.is_empty() {
        return Ok(Vec::new());
    }
    retry(|| attempt(collection, &writes))
}

/// Gives the write an id where it has none.
pub(super) fn ensure_id(store: &Store, write: &mut Write) -> Result<()> {
    if write.id.is_none() {
        write.id = Some(new_id(store)?);
    }
    Ok(())
}

fn attempt(collection: &Collection, writes: &[Write]) -> Result<Attempt<Vec<Result<Written>>>> {
    let store = collection.store();
    let view = View::new(store.snapshot(At::Now)?);
    let mut writer = Writer::on(&view, &collection.slot)?;
    let known = writer.entry.clone();
    let mut ids = HashSet::new();
    let decided: Vec<Result<RevId>> = writes
        .iter()
        .map(|write| {
            let id = write.id.as_deref().unwrap_or_default();
            if ids.contains(id) {
                return Err(Error::Conflict { id: id.to_owned(), expected: None, found: None, deleted: false });
            }
            let rev = writer.write(write)?;
            ids.insert(id);
            Ok(rev)
        })
        .collect();
    let receipts = |decided: Vec<Result<RevId>>, CommitInfo { seq, time }| {
        let receipt = |(write, rev): (&Write, Result<RevId>)| {
            rev.map(|rev| Written { id: write.id.clone().unwrap_or_default(), rev, seq, time })
        };
        writes.iter().zip(decided).map(receipt).collect()
    };
    if decided.iter().all(Result::is_err) {
        let unchanged = CommitInfo { seq: view.seq(), time: view.time()? };
        return Ok(Attempt::Done(receipts(decided, unchanged)));
    }
    let committed = store.try_commit_view(&view, std::slice::from_ref(&collection.slot))?;
    if let (Attempt::Done(commit), Some(entry)) = (&committed, &known) {
        collection.slot.unchanged_until(entry, commit.seq);
    }
    Ok(committed.map(|commit| receipts(decided, commit)))
}

/// Writes documents of one collection to a view.
pub(super) struct Writer<'a> {
    view: &'a View,
    slot: &'a Slot,
    /// `None`: the collection comes into being with its first write.
    pub(super) entry: Option<Arc<CollectionEntry>>,
}

/// A change of one index: the key that goes and the key that comes.
struct IndexChange<'e> {
    index: &'e IndexEntry,
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
}

/// The row of a document before a write.
struct Before {
    head: StoredHead,
    seq: Seq,
    body: String,
}

impl<'a> Writer<'a> {
    pub(super) fn on(view: &'a View, slot: &'a Slot) -> Result<Self> {
        Ok(Writer { view, slot, entry: slot.entry_in(view)? })
    }

    /// Applies one write. After an error nothing of it is in the view.
    pub(super) fn write(&mut self, write: &Write) -> Result<RevId> {
        let id = write.id.as_deref().unwrap_or_default();
        let before = self.read(id)?;
        let head = before.as_ref().map(|before| &before.head);
        check_expectation(&self.slot.name, write, id, head)?;
        let old_body = before.as_ref().filter(|before| !before.head.deleted).map(|before| before.body.as_str());
        let new_body = if write.deleted { None } else { Some(write.body.as_str()) };

        let known = self.entry.clone();
        let mut changes = Vec::new();
        for index in known.iter().flat_map(|entry| &entry.indexes) {
            let old = old_body.map_or(Ok(None), |body| index_value(index, body, id))?;
            let new = new_body.map_or(Ok(None), |body| index_value(index, body, id))?;
            if old == new {
                continue;
            }
            if let Some(new) = &new
                && index.spec.unique
                && let Some(holder) = holder_of(self.view, index, new, id)?
            {
                return Err(not_unique(index, &write.body, id, holder));
            }
            changes.push(IndexChange { index, old, new });
        }

        let rev = revision_id(head.map(|head| &head.rev), write.deleted, &write.hashable, &[]);
        let entry = self.entry_or_new()?;
        let value = stored::encode(&write.body, &rev, write.deleted);
        self.view.put(entry.documents, id.as_bytes().to_vec(), value);
        for IndexChange { index, old, new } in changes {
            if let Some(old) = old {
                self.view.delete(index.tree, [&old, id.as_bytes()].concat());
            }
            if let Some(new) = new {
                self.view.put(index.tree, [&new, id.as_bytes()].concat(), Vec::new());
            }
        }
        self.note_change(&entry, id, before.as_ref(), (&rev, write.deleted, write.body.len()));
        Ok(rev)
    }

    fn read(&self, id: &str) -> Result<Option<Before>> {
        let Some(entry) = &self.entry else { return Ok(None) };
        let Some(row) = self.view.get(entry.documents, id.as_bytes())? else { return Ok(None) };
        let head = stored::decode(&row, id.as_bytes())?;
        let seq = row.seq;
        let body = stored::into_body(row.bytes, &head, id.as_bytes())?.into_owned();
        Ok(Some(Before { head, seq, body }))
    }

    /// The row of the document among the changes moves to this commit, and the counts follow.
    fn note_change(
        &self,
        entry: &CollectionEntry,
        id: &str,
        before: Option<&Before>,
        (rev, deleted, bytes): (&RevId, bool, usize),
    ) {
        if let Some(before) = before.filter(|before| before.seq != PENDING) {
            self.view.delete(entry.changes, change_key(before.seq, id));
        }
        self.view.put_at_own_seq(entry.changes, &[], id.as_bytes(), change_value(rev, deleted));
        // Live documents, deleted ones, bytes of the live ones' bodies.
        let count = |deleted: bool, bytes: usize| {
            if deleted { [0, 1, 0] } else { [1, 0, i64::try_from(bytes).unwrap_or(i64::MAX)] }
        };
        let old = before.map_or([0; 3], |before| count(before.head.deleted, before.head.body_len));
        let new = count(deleted, bytes);
        let difference: [i64; 3] = std::array::from_fn(|i| new[i] - old[i]);
        self.view.add(CATALOGUE, &counts_key(&self.slot.name), &difference);
    }

    fn entry_or_new(&mut self) -> Result<Arc<CollectionEntry>> {
        if let Some(entry) = &self.entry {
            return Ok(entry.clone());
        }
        let entry = Arc::new(CollectionEntry::new(take_trees(self.view)?));
        self.view.put(CATALOGUE, self.slot.key.clone(), entry.encode());
        self.entry = Some(entry.clone());
        Ok(entry)
    }
}

fn check_expectation(collection: &str, write: &Write, id: &str, head: Option<&StoredHead>) -> Result<()> {
    let live = head.filter(|head| !head.deleted);
    let conflict = |expected| {
        let deleted = head.is_some_and(|head| head.deleted);
        Err(Error::Conflict { id: id.to_owned(), expected, found: head.map(|head| head.rev), deleted })
    };
    match (write.expect, live) {
        (Expect::Absent, Some(_)) => conflict(None),
        (Expect::Revision(rev), Some(live)) if live.rev == rev => Ok(()),
        (Expect::Revision(rev), _) => conflict(Some(rev)),
        (Expect::Anything | Expect::Absent, None) if write.deleted => {
            Err(Error::NoSuchDocument { collection: collection.to_owned(), id: id.to_owned() })
        }
        _ => Ok(()),
    }
}

/// The value that an index has for a body, encoded.
pub(super) fn index_value(index: &IndexEntry, body: &str, id: &str) -> Result<Option<Vec<u8>>> {
    let Some(value) = index.spec.path.find(body) else { return Ok(None) };
    let mut key = Vec::with_capacity(value.len() + 16 + id.len());
    encode_value(value, &mut key)?;
    if key.len() > INDEX_VALUE_BYTES_MAX {
        return Err(Error::ValueTooLong {
            index: index.spec.name.clone(),
            id: id.to_owned(),
            len: key.len(),
            max: INDEX_VALUE_BYTES_MAX,
        });
    }
    Ok(Some(key))
}

/// The keys of an index whose value is `value`.
pub(super) fn value_range(value: &[u8]) -> KeyRange {
    KeyRange { start: Bound::Included(value.to_vec()), end: after_prefix(value) }
}

/// Another document than `id` that has the value.
pub(super) fn holder_of(snapshot: &dyn Snapshot, index: &IndexEntry, value: &[u8], id: &str) -> Result<Option<String>> {
    for row in snapshot.range(index.tree, &value_range(value), Direction::Forward) {
        let row = row?;
        let holder = row.key.get(value.len()..).unwrap_or_default();
        if holder != id.as_bytes() {
            return Ok(Some(String::from_utf8_lossy(holder).into_owned()));
        }
    }
    Ok(None)
}

pub(super) fn not_unique(index: &IndexEntry, body: &str, id: &str, holder: String) -> Error {
    let value = index.spec.path.find(body).unwrap_or_default();
    let mut shown: String = value.chars().take(60).collect();
    if shown.len() < value.len() {
        shown.push('…');
    }
    Error::NotUnique { index: index.spec.name.clone(), value: shown, id: id.to_owned(), holder }
}

/// The id in a key of an index.
pub(super) fn id_in_key(key: &[u8]) -> Option<&str> {
    std::str::from_utf8(key.get(value_len(key)?..)?).ok()
}

/// An id like no other: 12 hexadecimal digits of the time in milliseconds, so that new documents lie
/// beside each other, and 20 of chance.
pub(super) fn new_id(store: &Store) -> Result<String> {
    let mut chance = [0; 10];
    getrandom::fill(&mut chance).map_err(|error| {
        crate::engine::EngineError::io("asking for random bytes", std::io::Error::other(error.to_string()))
    })?;
    let millis = store.now().0 / 1000;
    let mut id = format!("{:012x}", millis & 0xffff_ffff_ffff);
    for byte in chance {
        // Writing to a String cannot fail.
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id)
}
