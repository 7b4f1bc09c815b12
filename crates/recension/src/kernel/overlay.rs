//! A transaction's view of the store: a snapshot, the rows that the transaction has written above it (its write set),
//! and the keys and ranges that it has read (its read set). The commit depends on the read set, which makes
//! transactions serializable. Every write of documents goes through an overlay. Nothing here knows what the rows mean.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::engine::{
    Batch, Direction, KeyRange, OWN_SEQ_BYTES, Result, Row, Rows, Scratch, Seq, Snapshot, Timestamp, TreeId, Value,
    Version, Versions, counters,
};
use recension_values::limits::READS_REMEMBERED_MAX;

/// The seq of a row that the transaction has written and not committed yet.
pub(crate) const PENDING: Seq = Seq(u64::MAX);

/// A snapshot with the writes of one transaction above it.
pub(crate) struct Overlay {
    base: Arc<dyn Snapshot>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The keys that the transaction has read or written. Most transactions have a few, which fit into one node of the
    /// map.
    keys: BTreeMap<Key, Touched>,
    /// How many keys and ranges have been read.
    read: usize,
    /// What has been read of each tree, besides the keys that are marked. Marked keys are counted here once the
    /// transaction has read more of them than one tree may have. Few transactions come to that.
    reads: BTreeMap<TreeId, Reads>,
    /// A buffer in which a key is put together to be looked up. If the key is not there, the buffer becomes the key.
    sought: Key,
}

/// A key of a tree. The tree is compared first, since it tells most keys apart.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    tree: TreeId,
    key: Vec<u8>,
}

impl Default for Key {
    fn default() -> Self {
        Key { tree: TreeId(0), key: Vec::new() }
    }
}

impl Key {
    pub(crate) fn new(tree: TreeId, key: &[u8]) -> Self {
        Key { tree, key: key.to_vec() }
    }

    fn set(&mut self, tree: TreeId, parts: &[&[u8]]) {
        let len = parts.iter().map(|part| part.len()).sum();
        self.tree = tree;
        self.key.clear();
        if self.key.capacity() < len {
            self.key = Vec::with_capacity(len);
        }
        for part in parts {
            self.key.extend_from_slice(part);
        }
    }
}

/// What the transaction has done with a key.
#[derive(Default)]
struct Touched {
    change: Option<Change>,
    /// It has been read.
    read: bool,
}

/// What the transaction does to a key. The last change wins.
enum Change {
    Put(Vec<u8>),
    /// The key holds the commit's own seq, which begins behind this many bytes.
    PutAtOwnSeq(Vec<u8>, u32),
    Delete,
    /// Amounts that are added to counters.
    Add(Vec<i64>),
}

impl Change {
    /// Whether the change says what the row is afterwards. An addition to counters does not.
    fn is_row(&self) -> bool {
        !matches!(self, Change::Add(_))
    }

    /// The value that is put. A deletion and an addition to counters have none.
    fn value(&self) -> Option<&Vec<u8>> {
        match self {
            Change::Put(value) | Change::PutAtOwnSeq(value, _) => Some(value),
            Change::Delete | Change::Add(_) => None,
        }
    }

    fn size_bytes(&self) -> usize {
        match self {
            Change::Put(value) | Change::PutAtOwnSeq(value, _) => value.len(),
            Change::Delete => 0,
            Change::Add(amounts) => size_of_val(amounts.as_slice()),
        }
    }
}

#[derive(Default)]
struct Reads {
    /// How many keys are marked as read, if they are counted.
    keys: usize,
    ranges: Vec<KeyRange>,
    /// So much has been read that the commit depends on the whole tree.
    whole: bool,
}

impl State {
    /// What the transaction has done with a key: nothing, mostly. The key then waits in `sought`.
    fn find(&mut self, tree: TreeId, parts: &[&[u8]]) -> Option<&mut Touched> {
        self.sought.set(tree, parts);
        self.keys.get_mut(&self.sought)
    }

    fn change(&mut self, tree: TreeId, parts: &[&[u8]], change: Change) {
        match self.find(tree, parts) {
            Some(touched) => touched.change = Some(change),
            None => self.touch(Touched { change: Some(change), read: false }),
        }
    }

    /// Notes the key in `sought`, which is not in the map.
    fn touch(&mut self, touched: Touched) {
        self.keys.insert(std::mem::take(&mut self.sought), touched);
    }

    /// Shows what the transaction does to a key, and marks the key as read. A key that the transaction has written
    /// itself is not marked if `own` is all that is asked for.
    fn read<R>(&mut self, tree: TreeId, key: &[u8], own: bool, see: impl FnOnce(Option<&Change>) -> R) -> R {
        let whole = self.reads.get(&tree).is_some_and(|reads| reads.whole);
        let found = self.find(tree, &[key]);
        let change = found.as_ref().and_then(|touched| touched.change.as_ref());
        let answered = own && change.is_some_and(Change::is_row);
        let seen = see(change);
        match found {
            _ if answered || whole => return seen,
            Some(touched) if touched.read => return seen,
            Some(touched) => touched.read = true,
            None => self.touch(Touched { change: None, read: true }),
        }
        self.count_read(tree, 1);
        seen
    }

    fn note_range(&mut self, tree: TreeId, range: KeyRange) {
        let reads = self.reads.entry(tree).or_default();
        if !reads.whole && reads.ranges.last() != Some(&range) {
            reads.ranges.push(range);
            self.count_read(tree, 0);
        }
    }

    /// Counts what has just been read: a key or a range. If too much has been read of a tree, the commit depends on the
    /// whole tree.
    fn count_read(&mut self, tree: TreeId, keys: usize) {
        self.read += 1;
        match self.read.cmp(&(READS_REMEMBERED_MAX + 1)) {
            // No tree has too much yet.
            Ordering::Less => return,
            Ordering::Equal => {
                for (Key { tree, .. }, _) in self.keys.iter().filter(|(_, touched)| touched.read) {
                    self.reads.entry(*tree).or_default().keys += 1;
                }
            }
            Ordering::Greater => self.reads.entry(tree).or_default().keys += keys,
        }
        let Some(reads) = self.reads.get_mut(&tree) else { return };
        if reads.keys + reads.ranges.len() > READS_REMEMBERED_MAX {
            *reads = Reads { whole: true, ..Reads::default() };
            self.keys.retain(|key, touched| {
                touched.read &= key.tree != tree;
                touched.read || touched.change.is_some()
            });
        }
    }
}

impl Overlay {
    pub(crate) fn new(base: Arc<dyn Snapshot>) -> Self {
        Overlay { base, state: Mutex::default() }
    }

    /// The snapshot below. Its reads are not noted.
    pub(crate) fn base(&self) -> &dyn Snapshot {
        &*self.base
    }

    /// Makes the commit depend on a key as if it had been read, unless the transaction has written the key itself.
    /// Returns whether it has.
    pub(crate) fn depend_or_written(&self, tree: TreeId, key: &[u8]) -> bool {
        self.state.lock().read(tree, key, true, |change| change.is_some_and(Change::is_row))
    }

    /// Whether the transaction has written the key itself.
    pub(crate) fn has_written(&self, key: &Key) -> bool {
        let state = self.state.lock();
        state.keys.get(key).and_then(|touched| touched.change.as_ref()).is_some_and(Change::is_row)
    }

    /// Whether the transaction has written anything in a tree.
    pub(crate) fn has_rows_of(&self, tree: TreeId) -> bool {
        self.state.lock().keys.iter().any(|(key, touched)| key.tree == tree && touched.change.is_some())
    }

    /// The keys of a tree that the transaction has written.
    pub(crate) fn written_keys(&self, tree: TreeId) -> Vec<Vec<u8>> {
        let state = self.state.lock();
        let of_tree = state.keys.range(Key::new(tree, &[])..).take_while(|(key, _)| key.tree == tree);
        of_tree.filter(|(_, touched)| touched.change.is_some()).map(|(key, _)| key.key.clone()).collect()
    }

    pub(crate) fn put(&self, tree: TreeId, key: &[u8], value: Vec<u8>) {
        self.state.lock().change(tree, &[key], Change::Put(value));
    }

    pub(crate) fn delete(&self, tree: TreeId, key: &[u8]) {
        self.state.lock().change(tree, &[key], Change::Delete);
    }

    /// Takes back what the transaction has written at a key.
    pub(crate) fn withdraw(&self, tree: TreeId, key: &[u8]) {
        if let Some(touched) = self.state.lock().find(tree, &[key]) {
            touched.change = None;
        }
    }

    /// Writes `value` at the key `prefix`, the seq that the commit will have, `suffix`. Until the commit, the key has
    /// [`PENDING`] in the place of the seq, which sorts behind all that is committed.
    pub(crate) fn put_at_own_seq(&self, tree: TreeId, prefix: &[u8], suffix: &[u8], value: Vec<u8>) {
        let key = [prefix, &PENDING.0.to_be_bytes(), suffix];
        self.state.lock().change(tree, &key, Change::PutAtOwnSeq(value, prefix.len() as u32));
    }

    /// Adds to counters; see [`Batch::add`].
    pub(crate) fn add(&self, tree: TreeId, key: &[u8], amounts: &[i64]) {
        let mut state = self.state.lock();
        match state.find(tree, &[key]) {
            Some(Touched { change: Some(Change::Add(sums)), .. }) => add_to(sums, amounts),
            Some(touched) => touched.change = Some(Change::Add(amounts.to_vec())),
            None => state.touch(Touched { change: Some(Change::Add(amounts.to_vec())), read: false }),
        }
    }

    /// The batch of what has been written. Its commit depends on what has been read.
    pub(crate) fn batch(&self) -> Batch {
        let state = self.state.lock();
        let at = self.base.seq();
        let (mut rows, mut reads, mut bytes) = (0, 0, 0);
        for (Key { key, .. }, Touched { change, read }) in &state.keys {
            rows += usize::from(change.is_some());
            reads += usize::from(*read);
            bytes += key.len() * (usize::from(change.is_some()) + usize::from(*read));
            bytes += change.as_ref().map_or(0, Change::size_bytes);
        }
        let mut batch = Batch::with_capacity(rows, reads, bytes);
        for (Key { tree, key }, touched) in &state.keys {
            let tree = *tree;
            match &touched.change {
                None => {}
                Some(Change::Put(value)) => drop(batch.put(tree, key, value)),
                Some(Change::PutAtOwnSeq(value, before)) => {
                    let (prefix, rest) = key.split_at(*before as usize);
                    batch.put_at_own_seq(tree, prefix, &rest[OWN_SEQ_BYTES..], value);
                }
                Some(Change::Delete) => drop(batch.delete(tree, key)),
                Some(Change::Add(amounts)) => drop(batch.add(tree, key, amounts)),
            }
            if touched.read {
                batch.depends_on(tree, key, at);
            }
        }
        for (tree, reads) in &state.reads {
            if reads.whole {
                batch.depends_on_range(*tree, KeyRange::all(), at);
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

/// What the transaction has written at a key.
enum Own {
    Nothing,
    Row(Option<Vec<u8>>),
    /// Amounts that are added to counters.
    Added(Vec<i64>),
}

impl Snapshot for Overlay {
    fn is_distant(&self) -> bool {
        self.base.is_distant()
    }

    fn prefetch(&self, tree: TreeId, keys: &[&[u8]]) {
        self.base.prefetch(tree, keys);
    }

    fn announce(&self, keys: &[(TreeId, &[u8])]) {
        self.base.announce(keys);
    }

    fn seq(&self) -> Seq {
        self.base.seq()
    }

    fn time(&self) -> Result<Timestamp> {
        self.base.time()
    }

    fn scratch(&self) -> Result<Option<Box<dyn Scratch>>> {
        self.base.scratch()
    }

    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Value<'_>>> {
        let own = self.state.lock().read(tree, key, true, |change| match change {
            None => Own::Nothing,
            Some(Change::Add(amounts)) => Own::Added(amounts.clone()),
            Some(change) => Own::Row(change.value().cloned()),
        });
        let added = match own {
            Own::Nothing => return self.base.get(tree, key),
            Own::Added(added) => added,
            Own::Row(value) => {
                return Ok(value.map(|value| Value { seq: PENDING, bytes: Cow::Owned(value) }));
            }
        };
        let value = self.base.get(tree, key)?;
        let mut sums = value.as_deref().and_then(counters).unwrap_or_default();
        add_to(&mut sums, &added);
        let bytes = sums.iter().flat_map(|sum| sum.to_be_bytes()).collect();
        Ok(Some(Value { seq: PENDING, bytes: Cow::Owned(bytes) }))
    }

    fn version(&self, tree: TreeId, key: &[u8]) -> Result<Option<Seq>> {
        let own = self.state.lock().read(tree, key, true, |change| {
            change.map(|change| if change.is_row() { change.value().map(|_| PENDING) } else { Some(PENDING) })
        });
        own.map_or_else(|| self.base.version(tree, key), Ok)
    }

    fn range(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Rows<'_> {
        let own = if range.is_empty() { Vec::new() } else { self.own_rows(tree, range, direction) };
        let rows = self.base.range(tree, range, direction).peekable();
        let reached = Reached { view: self, tree, range: range.clone(), direction, last: None, begun: false };
        Box::new(Merged { rows, own: own.into_iter().peekable(), reached, ended: false })
    }

    fn versions(&self, tree: TreeId, key: &[u8]) -> Versions<'_> {
        let own = self.state.lock().read(tree, key, false, |change| {
            let change = change.filter(|change| change.is_row())?;
            Some(Ok(Version {
                seq: PENDING,
                time: Timestamp(u64::MAX),
                value: change.value().cloned().map(Cow::Owned),
            }))
        });
        Box::new(own.into_iter().chain(self.base.versions(tree, key)))
    }
}

/// A key that the transaction has written, and its value; no value means that it is deleted.
type OwnRow = (Vec<u8>, Option<Vec<u8>>);

impl Overlay {
    fn own_rows(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Vec<OwnRow> {
        let state = self.state.lock();
        if state.keys.is_empty() {
            return Vec::new();
        }
        let bound = |bound: &Bound<Vec<u8>>, open: Bound<Key>| match bound {
            Bound::Included(key) => Bound::Included(Key::new(tree, key)),
            Bound::Excluded(key) => Bound::Excluded(Key::new(tree, key)),
            Bound::Unbounded => open,
        };
        let next_tree =
            tree.0.checked_add(1).map_or(Bound::Unbounded, |next| Bound::Excluded(Key::new(TreeId(next), &[])));
        let start = bound(&range.start, Bound::Included(Key::new(tree, &[])));
        let end = bound(&range.end, next_tree);
        let row = |(key, touched): (&Key, &Touched)| {
            let change = touched.change.as_ref().filter(|change| change.is_row())?;
            Some((key.key.clone(), change.value().cloned()))
        };
        let rows = state.keys.range((start, end));
        match direction {
            Direction::Forward => rows.filter_map(row).collect(),
            Direction::Backward => rows.rev().filter_map(row).collect(),
        }
    }
}

/// How far a range has been read. The commit depends on that part of the range only.
struct Reached<'v> {
    view: &'v Overlay,
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
        self.view.state.lock().note_range(self.tree, read);
    }
}

/// The rows of the snapshot and those of the transaction, merged in the order of their keys.
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
                (None, Some(_)) => Ordering::Greater,
                (_, None) | (Some(Err(_)), Some(_)) => Ordering::Less,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, MemoryEngine, ReadKeys};

    #[test]
    fn a_commit_depends_on_all_of_a_tree_only_where_too_much_of_it_was_read() {
        const MAX: u64 = READS_REMEMBERED_MAX as u64;
        // Keys of one tree, keys of another one, ranges of the former; whether each stands for all that was read of it.
        for (first, second, ranges, whole) in [
            (MAX, MAX, 0, [false, false]),
            (MAX, 9, 1, [true, false]),
            (MAX - 3, MAX + 1, 3, [false, true]),
            (MAX - 3, 9, 4, [true, false]),
            (MAX + 2, 5, 2, [true, false]),
        ] {
            let view = Overlay::new(MemoryEngine::new().snapshot().unwrap());
            for (tree, keys) in [(TreeId(1), first), (TreeId(2), second)] {
                for key in (0..keys).chain(0..9).map(u64::to_be_bytes) {
                    assert_eq!(view.get(tree, &key).unwrap(), None);
                }
            }
            for start in 0_u64..ranges {
                let range = KeyRange::between(start.to_be_bytes(), (start + 1).to_be_bytes());
                assert!(view.range(TreeId(1), &range, Direction::Forward).next().is_none());
            }
            let batch = view.batch();
            for ((tree, read), whole) in
                [(TreeId(1), first + ranges), (TreeId(2), second.max(9))].into_iter().zip(whole)
            {
                let reads: Vec<_> = batch.reads().filter(|read| read.tree == tree).map(|read| read.keys).collect();
                if whole {
                    assert_eq!(
                        reads,
                        [ReadKeys::Range(&KeyRange::all())],
                        "{tree:?} of {first}, {second} and {ranges}"
                    );
                } else {
                    assert_eq!(reads.len() as u64, read, "{tree:?} of {first}, {second} and {ranges}");
                }
            }
        }
    }
}
