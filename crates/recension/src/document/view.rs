//! What a transaction sees: a snapshot, and above it what the transaction itself has written. It notes
//! what is read, so that the commit can be made to depend on it. All writes of documents go through
//! one of these; nothing here knows what the rows mean.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use parking_lot::Mutex;

use super::limits::READS_REMEMBERED_MAX;
use crate::engine::{
    Batch, Direction, KeyRange, OWN_SEQ_BYTES, Result, Row, Rows, Seq, Snapshot, Timestamp, TreeId, Value, Version,
    Versions, counters,
};

/// The seq of what a transaction has written and not committed yet.
pub(super) const PENDING: Seq = Seq(u64::MAX);

/// A snapshot with the writes of one transaction above it.
pub(super) struct View {
    base: Box<dyn Snapshot>,
    state: Mutex<State>,
}

// Most transactions have a few keys of a few trees, for which sorted maps cost less than hashing does; a key is
// looked for as it is borrowed.
#[derive(Default)]
struct State {
    rows: ByKey<Pending>,
    counters: ByKey<Vec<i64>>,
    reads: BTreeMap<TreeId, Reads>,
}

type ByKey<T> = BTreeMap<TreeId, BTreeMap<Vec<u8>, T>>;

fn at<'m, T>(map: &'m ByKey<T>, tree: TreeId, key: &[u8]) -> Option<&'m T> {
    map.get(&tree)?.get(key)
}

fn all<T>(map: &ByKey<T>) -> impl Iterator<Item = (TreeId, &Vec<u8>, &T)> {
    map.iter().flat_map(|(tree, keys)| keys.iter().map(|(key, item)| (*tree, key, item)))
}

/// A row that the transaction has written; no value deletes.
struct Pending {
    value: Option<Vec<u8>>,
    /// Bytes of the key before the commit's own seq, where it holds it.
    own_seq_after: Option<usize>,
}

/// What has been read of one tree.
#[derive(Default)]
struct Reads {
    keys: BTreeSet<Vec<u8>>,
    ranges: Vec<KeyRange>,
    /// So much has been read that the whole tree stands for it.
    whole: bool,
}

impl Reads {
    fn note_range(&mut self, range: KeyRange) {
        if !self.whole && self.ranges.last() != Some(&range) {
            self.ranges.push(range);
            self.bound();
        }
    }

    fn note_key(&mut self, key: &[u8]) {
        if !self.whole && !self.keys.contains(key) {
            self.keys.insert(key.to_vec());
            self.bound();
        }
    }

    fn bound(&mut self) {
        if self.keys.len() + self.ranges.len() > READS_REMEMBERED_MAX {
            *self = Reads { whole: true, ..Reads::default() };
        }
    }
}

impl View {
    pub(super) fn new(base: Box<dyn Snapshot>) -> Self {
        View { base, state: Mutex::default() }
    }

    /// The snapshot below, whose reads are not noted.
    pub(super) fn base(&self) -> &dyn Snapshot {
        &*self.base
    }

    /// Makes the commit depend on a key as if it had been read.
    pub(super) fn depend(&self, tree: TreeId, key: &[u8]) {
        self.state.lock().reads.entry(tree).or_default().note_key(key);
    }

    /// Whether the transaction has written the key itself.
    pub(super) fn has_written(&self, tree: TreeId, key: &[u8]) -> bool {
        at(&self.state.lock().rows, tree, key).is_some()
    }

    pub(super) fn put(&self, tree: TreeId, key: Vec<u8>, value: Vec<u8>) {
        self.write(tree, key, Pending { value: Some(value), own_seq_after: None });
    }

    pub(super) fn delete(&self, tree: TreeId, key: Vec<u8>) {
        self.write(tree, key, Pending { value: None, own_seq_after: None });
    }

    /// Takes back what the transaction has written at a key, as if it never had.
    pub(super) fn withdraw(&self, tree: TreeId, key: &[u8]) {
        if let Some(rows) = self.state.lock().rows.get_mut(&tree) {
            rows.remove(key);
        }
    }

    /// Writes `value` at `prefix`, the seq that the commit will have, `suffix`. Until then it is read with
    /// [`PENDING`] in the seq's place, behind all that is committed.
    pub(super) fn put_at_own_seq(&self, tree: TreeId, prefix: &[u8], suffix: &[u8], value: Vec<u8>) {
        let key = [prefix, &PENDING.0.to_be_bytes(), suffix].concat();
        self.write(tree, key, Pending { value: Some(value), own_seq_after: Some(prefix.len()) });
    }

    /// Adds to counters; see [`Batch::add`].
    pub(super) fn add(&self, tree: TreeId, key: &[u8], amounts: &[i64]) {
        let mut state = self.state.lock();
        let sums = state.counters.entry(tree).or_default().entry(key.to_vec()).or_default();
        add_to(sums, amounts);
    }

    fn write(&self, tree: TreeId, key: Vec<u8>, pending: Pending) {
        self.state.lock().rows.entry(tree).or_default().insert(key, pending);
    }

    /// The commit of what has been written, depending on what has been read.
    pub(super) fn batch(&self) -> Batch {
        let state = self.state.lock();
        let at = self.base.seq();
        let sizes = all(&state.rows).map(|(_, key, row)| key.len() + row.value.as_ref().map_or(0, Vec::len));
        let (rows, bytes) = sizes.fold((0, 0), |(rows, bytes), size| (rows + 1, bytes + size));
        let mut batch = Batch::with_capacity(rows + state.counters.len(), bytes);
        for (tree, key, pending) in all(&state.rows) {
            match (&pending.value, pending.own_seq_after) {
                (None, _) => batch.delete(tree, key),
                (Some(value), None) => batch.put(tree, key, value),
                (Some(value), Some(before)) => {
                    let (prefix, rest) = key.split_at(before);
                    batch.put_at_own_seq(tree, prefix, &rest[OWN_SEQ_BYTES..], value)
                }
            };
        }
        for (tree, key, amounts) in all(&state.counters) {
            batch.add(tree, key, amounts);
        }
        for (tree, reads) in &state.reads {
            if reads.whole {
                batch.depends_on_range(*tree, KeyRange::all(), at);
            }
            for key in &reads.keys {
                batch.depends_on(*tree, key, at);
            }
            for range in &reads.ranges {
                batch.depends_on_range(*tree, range.clone(), at);
            }
        }
        batch
    }
}

fn add_to(sums: &mut Vec<i64>, amounts: &[i64]) {
    sums.resize(sums.len().max(amounts.len()), 0);
    for (sum, amount) in sums.iter_mut().zip(amounts) {
        *sum = sum.wrapping_add(*amount);
    }
}

impl Snapshot for View {
    fn seq(&self) -> Seq {
        self.base.seq()
    }

    fn time(&self) -> Result<Timestamp> {
        self.base.time()
    }

    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Value<'_>>> {
        let mut state = self.state.lock();
        if let Some(pending) = at(&state.rows, tree, key) {
            let value = pending.value.clone();
            return Ok(value.map(|value| Value { seq: PENDING, bytes: Cow::Owned(value) }));
        }
        let added = at(&state.counters, tree, key).cloned();
        state.reads.entry(tree).or_default().note_key(key);
        drop(state);
        let value = self.base.get(tree, key)?;
        let Some(added) = added else { return Ok(value) };
        let mut sums = value.as_deref().and_then(counters).unwrap_or_default();
        add_to(&mut sums, &added);
        let bytes = sums.iter().flat_map(|sum| sum.to_be_bytes()).collect();
        Ok(Some(Value { seq: PENDING, bytes: Cow::Owned(bytes) }))
    }

    fn version(&self, tree: TreeId, key: &[u8]) -> Result<Option<Seq>> {
        let mut state = self.state.lock();
        if let Some(pending) = at(&state.rows, tree, key) {
            return Ok(pending.value.as_ref().map(|_| PENDING));
        }
        let added = at(&state.counters, tree, key).is_some();
        state.reads.entry(tree).or_default().note_key(key);
        drop(state);
        if added { Ok(Some(PENDING)) } else { self.base.version(tree, key) }
    }

    fn range(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Rows<'_> {
        let own = if range.is_empty() { Vec::new() } else { self.own_rows(tree, range, direction) };
        let rows = self.base.range(tree, range, direction).peekable();
        let reached = Reached { view: self, tree, range: range.clone(), direction, last: None, begun: false };
        Box::new(Merged { rows, own: own.into_iter().peekable(), reached, ended: false })
    }

    fn versions(&self, tree: TreeId, key: &[u8]) -> Versions<'_> {
        let mut state = self.state.lock();
        let own = at(&state.rows, tree, key).map(|pending| {
            let value = pending.value.clone().map(Cow::Owned);
            Ok(Version { seq: PENDING, time: Timestamp(u64::MAX), value })
        });
        state.reads.entry(tree).or_default().note_key(key);
        Box::new(own.into_iter().chain(self.base.versions(tree, key)))
    }
}

/// A key that the transaction has written, and its value unless it deletes.
type OwnRow = (Vec<u8>, Option<Vec<u8>>);

impl View {
    fn own_rows(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Vec<OwnRow> {
        let state = self.state.lock();
        let Some(rows) = state.rows.get(&tree) else { return Vec::new() };
        let bounds = (range.start.as_ref().map(Vec::as_slice), range.end.as_ref().map(Vec::as_slice));
        let rows = rows.range::<[u8], (Bound<&[u8]>, Bound<&[u8]>)>(bounds);
        let row = |(key, pending): (&Vec<u8>, &Pending)| (key.clone(), pending.value.clone());
        match direction {
            Direction::Forward => rows.map(row).collect(),
            Direction::Backward => rows.rev().map(row).collect(),
        }
    }
}

/// How far a range has been read. The commit depends on that much of it and no more.
struct Reached<'v> {
    view: &'v View,
    tree: TreeId,
    range: KeyRange,
    direction: Direction,
    last: Option<Vec<u8>>,
    begun: bool,
}

impl Drop for Reached<'_> {
    fn drop(&mut self) {
        if !self.begun {
            return;
        }
        if let Some(last) = self.last.take() {
            match self.direction {
                Direction::Forward => self.range.end = Bound::Included(last),
                Direction::Backward => self.range.start = Bound::Included(last),
            }
        }
        let read = std::mem::replace(&mut self.range, KeyRange::all());
        self.view.state.lock().reads.entry(self.tree).or_default().note_range(read);
    }
}

/// The rows of the snapshot and of the transaction, in one order.
struct Merged<'v> {
    rows: std::iter::Peekable<Rows<'v>>,
    own: std::iter::Peekable<std::vec::IntoIter<OwnRow>>,
    reached: Reached<'v>,
    ended: bool,
}

impl<'v> Iterator for Merged<'v> {
    type Item = Result<Row<'v>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.reached.begun = true;
        while !self.ended {
            let order = match (self.rows.peek(), self.own.peek()) {
                (Some(Ok(row)), Some((own, _))) => match self.reached.direction {
                    Direction::Forward => row.key.as_ref().cmp(own),
                    Direction::Backward => own.as_slice().cmp(&row.key),
                },
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (_, None) | (Some(Err(_)), Some(_)) => std::cmp::Ordering::Less,
            };
            if order.is_le() {
                let row = self.rows.next();
                if order.is_lt() {
                    // The end, an error, or a row that the transaction has not touched.
                    match &row {
                        Some(Ok(row)) => self.reached.last = Some(row.key.to_vec()),
                        _ => (self.ended, self.reached.last) = (true, None),
                    }
                    return row;
                }
            }
            if let Some((key, value)) = self.own.next() {
                self.reached.last = Some(key.clone());
                if let Some(value) = value {
                    let value = Value { seq: PENDING, bytes: Cow::Owned(value) };
                    return Some(Ok(Row { key: Cow::Owned(key), value }));
                }
            }
        }
        None
    }
}
