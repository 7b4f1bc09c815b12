//! Applying writes: reading what is there, deciding, and committing documents and index entries
//! together, so that the commit fails where anything that was read has changed.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::ops::Bound;
use std::sync::Arc;

use super::catalogue::{CATALOGUE, CollectionEntry, IndexEntry};
use super::collation::{encode_value, value_len};
use super::limits::INDEX_VALUE_BYTES_MAX;
use super::reader::after_prefix;
use super::rev_hash::revision_id;
use super::store::{Attempt, Store, retry, take_trees};
use super::stored::{self, StoredHead, StoredRow};
use super::{At, Collection, Error, Expect, Result, RevId, Write, Written};
use crate::engine::{Batch, CommitInfo, Direction, KeyRange, Snapshot, TreeId};

pub(super) fn apply(collection: &Collection, mut writes: Vec<Write>) -> Result<Vec<Result<Written>>> {
    for write in &mut writes {
        if write.id.is_none() {
            write.id = Some(new_id(collection.store())?);
        }
    }
    if writes.is_empty() {
        return Ok(Vec::new());
    }
    retry(|| attempt(collection, &writes))
}

fn attempt(collection: &Collection, writes: &[Write]) -> Result<Attempt<Vec<Result<Written>>>> {
    let store = collection.store();
    let snapshot = store.snapshot(At::Now)?;
    let known = collection.slot.entry(&*snapshot)?;
    let mut batch = Batch::new();
    batch.depends_on(CATALOGUE, &collection.slot.key, snapshot.seq());
    let entry = match &known {
        Some(entry) => entry.clone(),
        None => {
            let [documents] = take_trees(&*snapshot, &mut batch)?;
            let entry = CollectionEntry { documents, indexes: Vec::new() };
            batch.put(CATALOGUE, &collection.slot.key, &entry.encode());
            Arc::new(entry)
        }
    };
    let mut applying = Applying {
        collection: collection.name(),
        snapshot: &*snapshot,
        entry: &entry,
        is_new: known.is_none(),
        batch,
        owners: HashMap::new(),
        written: HashSet::new(),
    };
    let decided: Vec<Result<RevId>> = writes.iter().map(|write| applying.decide(write)).collect();
    let receipts = |decided: Vec<Result<RevId>>, CommitInfo { seq, time }| {
        let receipt = |(write, rev): (&Write, Result<RevId>)| {
            rev.map(|rev| Written { id: write.id.clone().unwrap_or_default(), rev, seq, time })
        };
        writes.iter().zip(decided).map(receipt).collect()
    };
    let batch = applying.batch;
    if decided.iter().all(Result::is_err) {
        let unchanged = CommitInfo { seq: snapshot.seq(), time: snapshot.time()? };
        return Ok(Attempt::Done(receipts(decided, unchanged)));
    }
    let committed = store.try_commit(batch)?;
    if let (Attempt::Done(commit), Some(entry)) = (&committed, &known) {
        collection.slot.unchanged_until(entry, commit.seq);
    }
    Ok(committed.map(|commit| receipts(decided, commit)))
}

struct Applying<'a> {
    collection: &'a str,
    snapshot: &'a dyn Snapshot,
    entry: &'a CollectionEntry,
    /// The collection has no rows yet.
    is_new: bool,
    batch: Batch,
    /// Values of unique indexes that the batch gives to a document or takes from one.
    owners: HashMap<(TreeId, Vec<u8>), Option<String>>,
    written: HashSet<&'a str>,
}

/// A change of one index: the key that goes and the key that comes.
struct IndexChange<'e> {
    index: &'e IndexEntry,
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
}

impl<'a> Applying<'a> {
    fn decide(&mut self, write: &'a Write) -> Result<RevId> {
        let id = write.id.as_deref().unwrap_or_default();
        if self.written.contains(id) {
            return Err(Error::Conflict { id: id.to_owned(), expected: None, found: None, deleted: false });
        }
        let (snapshot, entry) = (self.snapshot, self.entry);
        let row = if self.is_new { None } else { snapshot.get(entry.documents, id.as_bytes())? };
        let head = row.as_ref().map(|row| stored::decode(row, id.as_bytes())).transpose()?;
        check_expectation(self.collection, write, id, head.as_ref())?;

        let old_body = match (&row, &head) {
            (Some(row), Some(head)) if !head.deleted => std::str::from_utf8(&row[..head.body_len]).ok(),
            _ => None,
        };
        let new_body = if write.deleted { None } else { Some(write.body.as_str()) };
        let mut changes = Vec::with_capacity(entry.indexes.len());
        for index in &entry.indexes {
            let old = old_body.map_or(Ok(None), |body| index_value(index, body, id))?;
            let new = new_body.map_or(Ok(None), |body| index_value(index, body, id))?;
            if old == new {
                continue;
            }
            if let Some(new) = &new
                && index.spec.unique
            {
                self.check_unique(index, new, id, &write.body)?;
            }
            changes.push(IndexChange { index, old, new });
        }

        let rev = revision_id(head.as_ref().map(|head| &head.rev), write.deleted, &write.hashable, &[]);
        self.batch.depends_on(entry.documents, id.as_bytes(), snapshot.seq());
        self.batch.put(entry.documents, id.as_bytes(), &StoredRow::plain(&write.body, &rev, write.deleted).encode());
        for change in changes {
            self.change_index(change, id);
        }
        self.written.insert(id);
        Ok(rev)
    }

    fn check_unique(&mut self, index: &IndexEntry, value: &[u8], id: &str, body: &str) -> Result<()> {
        let holder = match self.owners.get(&(index.tree, value.to_vec())) {
            Some(owner) => owner.clone(),
            None => holder_of(self.snapshot, index, value, id)?,
        };
        match holder {
            Some(holder) if holder != id => Err(not_unique(index, body, id, holder)),
            _ => Ok(()),
        }
    }

    fn change_index(&mut self, change: IndexChange<'_>, id: &str) {
        let IndexChange { index, old, new } = change;
        if let Some(mut old) = old {
            if index.spec.unique {
                self.owners.insert((index.tree, old.clone()), None);
            }
            old.extend(id.as_bytes());
            self.batch.delete(index.tree, &old);
        }
        if let Some(mut new) = new {
            if index.spec.unique {
                self.batch.depends_on_range(index.tree, value_range(&new), self.snapshot.seq());
                self.owners.insert((index.tree, new.clone()), Some(id.to_owned()));
            }
            new.extend(id.as_bytes());
            self.batch.put(index.tree, &new, &[]);
        }
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
