//! A batch: the puts and deletes of one commit, and the reads that it depends on.
//! Keys and values lie in one buffer, so that building a batch costs few allocations.

use std::borrow::Cow;
use std::ops::Range;

use super::{Durability, EngineError, KeyRange, Result, Seq, TreeId};
use crate::branch_rows::{MARK_BYTES, PREFIX_BYTES, is_branched};
use crate::limits::{BATCH_BYTES_MAX, BATCH_ROWS_MAX, KEY_BYTES_MAX, VALUE_BYTES_MAX};

/// Puts and deletes that are applied wholly or not at all.
///
/// If a batch names a key twice, the later operation wins.
///
/// ```
/// use recension_engine::{Batch, Engine, MemoryEngine, TreeId};
/// # fn main() -> recension_engine::Result<()> {
/// let engine = MemoryEngine::new();
/// let mut batch = Batch::new();
/// batch.put(TreeId(1), b"pizza", b"pineapple");
/// batch.delete(TreeId(1), b"salad");
/// let commit = engine.commit(batch)?;
/// assert_eq!(commit.seq, engine.head());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    rows: Vec<StoredRow>,
    reads: Vec<StoredRead>,
    /// How many of `bytes` are keys that were read.
    read_bytes: usize,
    durability: Option<Durability>,
    /// Rows whose value is to be added to counters, by their numbers in `rows`.
    additions: Vec<usize>,
}

#[derive(Clone, Debug)]
struct StoredRow {
    tree: TreeId,
    key: Range<usize>,
    value: Option<Range<usize>>,
    /// The place in the key for the commit's own seq.
    own_seq: Option<usize>,
}

#[derive(Clone, Debug)]
struct StoredRead {
    tree: TreeId,
    keys: StoredKeys,
    at: Seq,
}

#[derive(Clone, Debug)]
enum StoredKeys {
    One(Range<usize>),
    Range(KeyRange),
}

/// A put or a delete of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BatchRow<'b> {
    /// The tree.
    pub tree: TreeId,
    /// The key.
    pub key: &'b [u8],
    /// The new value; `None` deletes.
    pub value: Option<&'b [u8]>,
}

/// An operation of a batch as it was asked for. Another batch with the same effect can be made from them, before
/// [`Batch::bind`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BatchOperation<'b> {
    /// [`Batch::put`], with its value; or [`Batch::delete`].
    Write(BatchRow<'b>),
    /// [`Batch::put_at_own_seq`].
    PutAtOwnSeq {
        /// The tree.
        tree: TreeId,
        /// The key before the seq.
        prefix: &'b [u8],
        /// The key after the seq.
        suffix: &'b [u8],
        /// The value.
        value: &'b [u8],
    },
    /// [`Batch::add`].
    Add {
        /// The tree.
        tree: TreeId,
        /// The key.
        key: &'b [u8],
        /// The amounts, as [`counters`] reads them.
        amounts: &'b [u8],
    },
}

/// A read of the batch's author. The commit is refused if a row of it was written after `at`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadDependency<'b> {
    /// The tree that was read.
    pub tree: TreeId,
    /// The keys that were read; absent keys count as read.
    pub keys: ReadKeys<'b>,
    /// The snapshot that they were read at.
    pub at: Seq,
}

/// Keys that were read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadKeys<'b> {
    /// A single key.
    One(&'b [u8]),
    /// All of a range.
    Range(&'b KeyRange),
}

impl<'b> ReadKeys<'b> {
    /// The keys as a range.
    pub fn to_range(self) -> Cow<'b, KeyRange> {
        match self {
            ReadKeys::One(key) => Cow::Owned(KeyRange::only(key)),
            ReadKeys::Range(range) => Cow::Borrowed(range),
        }
    }
}

/// Bytes of a commit's own seq in a key.
pub const OWN_SEQ_BYTES: usize = 8;

/// The numbers of a counters' value ([`Batch::add`]); `None` if it is no such value.
pub fn counters(value: &[u8]) -> Option<Vec<i64>> {
    let (numbers, rest) = value.as_chunks::<8>();
    rest.is_empty().then(|| numbers.iter().map(|number| i64::from_be_bytes(*number)).collect())
}

/// The sum of two lists of counters. The shorter one is padded with zeros.
pub(crate) fn sum_of_counters(before: &[u8], amounts: &[i64]) -> Option<Vec<i64>> {
    let mut sums = counters(before)?;
    sums.resize(sums.len().max(amounts.len()), 0);
    for (sum, amount) in sums.iter_mut().zip(amounts) {
        *sum = sum.wrapping_add(*amount);
    }
    Some(sums)
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty batch with room for this many rows and read keys, and this many bytes of all their keys and values.
    pub fn with_capacity(rows: usize, reads: usize, bytes: usize) -> Self {
        Batch {
            rows: Vec::with_capacity(rows),
            reads: Vec::with_capacity(reads),
            bytes: Vec::with_capacity(bytes),
            ..Self::default()
        }
    }

    /// Writes `value` at `key`, and replaces the value that is there.
    pub fn put(&mut self, tree: TreeId, key: &[u8], value: &[u8]) -> &mut Self {
        let key = self.keep(key);
        let value = Some(self.keep(value));
        self.rows.push(StoredRow { tree, key, value, own_seq: None });
        self
    }

    /// Deletes `key`. Deleting an absent key is a version like any other.
    pub fn delete(&mut self, tree: TreeId, key: &[u8]) -> &mut Self {
        let key = self.keep(key);
        self.rows.push(StoredRow { tree, key, value: None, own_seq: None });
        self
    }

    /// Writes `value` at the key made of `prefix`, the seq of this very commit (8 bytes, big-endian) and `suffix`. Rows
    /// are then in the order of the commits that wrote them, and writers do not wait for each other.
    pub fn put_at_own_seq(&mut self, tree: TreeId, prefix: &[u8], suffix: &[u8], value: &[u8]) -> &mut Self {
        let start = self.keep(prefix).start;
        let own_seq = Some(self.keep(&[0; OWN_SEQ_BYTES]).start);
        let end = self.keep(suffix).end;
        let value = Some(self.keep(value));
        self.rows.push(StoredRow { tree, key: start..end, value, own_seq });
        self
    }

    /// Adds to the counters at `key`. Its value is a list of signed numbers (8 bytes each, big-endian), all zero if
    /// there is none yet. Writers of one counter do not conflict. The amounts are added to the value before this batch.
    ///
    /// The commit is refused with [`EngineError::NotCounters`] if the value at `key` is no such list.
    pub fn add(&mut self, tree: TreeId, key: &[u8], amounts: &[i64]) -> &mut Self {
        let known =
            self.additions.iter().copied().find(|&row| {
                self.rows.get(row).is_some_and(|row| row.tree == tree && &self.bytes[row.key.clone()] == key)
            });
        if let Some(row) = known {
            let before = self.rows[row].value.clone().unwrap_or_default();
            let sum = sum_of_counters(&self.bytes[before], amounts).unwrap_or_default();
            self.rows[row].value = Some(self.keep_counters(&sum));
            return self;
        }
        self.additions.push(self.rows.len());
        let key = self.keep(key);
        let value = Some(self.keep_counters(amounts));
        self.rows.push(StoredRow { tree, key, value, own_seq: None });
        self
    }

    /// For engines: enters the seq of the commit and the sums of its counters; `current` answers a counter's value
    /// before. It must be called once, before the rows are read.
    ///
    /// # Errors
    /// [`EngineError::NotCounters`], and those of `current`.
    pub fn bind(&mut self, seq: Seq, mut current: impl FnMut(TreeId, &[u8]) -> Result<Option<Vec<u8>>>) -> Result<()> {
        for place in self.rows.iter().filter_map(|row| row.own_seq) {
            self.bytes[place..place + OWN_SEQ_BYTES].copy_from_slice(&seq.0.to_be_bytes());
        }
        for row in std::mem::take(&mut self.additions) {
            let StoredRow { tree, key, value, .. } = self.rows[row].clone();
            let amounts = value.unwrap_or_default();
            let before = current(tree, &self.bytes[key.clone()])?.unwrap_or_default();
            if before.len() == amounts.len() && before.len().is_multiple_of(8) {
                let amounts = &mut self.bytes[amounts];
                for (amount, before) in amounts.as_chunks_mut().0.iter_mut().zip(before.as_chunks().0) {
                    *amount = i64::from_be_bytes(*before).wrapping_add(i64::from_be_bytes(*amount)).to_be_bytes();
                }
                continue;
            }
            let amounts = counters(&self.bytes[amounts]).unwrap_or_default();
            let sum = sum_of_counters(&before, &amounts).ok_or_else(|| EngineError::NotCounters {
                tree,
                key: self.bytes[key].to_vec(),
                len: before.len(),
            })?;
            self.rows[row].value = Some(self.keep_counters(&sum));
        }
        Ok(())
    }

    /// Makes the commit fail with [`EngineError::Conflict`] if `key` was written after `at`.
    pub fn depends_on(&mut self, tree: TreeId, key: &[u8], at: Seq) -> &mut Self {
        let key = self.keep(key);
        self.read_bytes += key.len();
        self.reads.push(StoredRead { tree, keys: StoredKeys::One(key), at });
        self
    }

    /// Makes the commit fail with [`EngineError::Conflict`] if any key of `range` was written after `at`.
    pub fn depends_on_range(&mut self, tree: TreeId, range: KeyRange, at: Seq) -> &mut Self {
        if let Some(key) = range.only_key() {
            return self.depends_on(tree, key, at);
        }
        self.reads.push(StoredRead { tree, keys: StoredKeys::Range(range), at });
        self
    }

    /// Asks for another durability than the store's own.
    pub fn durability(&mut self, durability: Durability) -> &mut Self {
        self.durability = Some(durability);
        self
    }

    /// The durability that was asked for, if any.
    pub fn asked_durability(&self) -> Option<Durability> {
        self.durability
    }

    /// For engines that have checked its dependencies: drops them.
    pub fn forget_reads(&mut self) -> &mut Self {
        self.reads.clear();
        self
    }

    /// The puts and deletes, in the order in which they were added.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = BatchRow<'_>> {
        self.rows.iter().map(|row| BatchRow {
            tree: row.tree,
            key: &self.bytes[row.key.clone()],
            value: row.value.clone().map(|value| &self.bytes[value]),
        })
    }

    /// The operations, in the order in which they were added. They must be read before the batch is bound.
    pub fn operations(&self) -> impl Iterator<Item = BatchOperation<'_>> {
        let mut additions = self.additions.iter().copied().peekable();
        self.rows.iter().enumerate().map(move |(number, row)| {
            let (tree, key) = (row.tree, &self.bytes[row.key.clone()]);
            let value = row.value.clone().map(|value| &self.bytes[value]);
            if additions.next_if_eq(&number).is_some() {
                return BatchOperation::Add { tree, key, amounts: value.unwrap_or_default() };
            }
            match row.own_seq {
                None => BatchOperation::Write(BatchRow { tree, key, value }),
                Some(place) => BatchOperation::PutAtOwnSeq {
                    tree,
                    prefix: &self.bytes[row.key.start..place],
                    suffix: &self.bytes[place + OWN_SEQ_BYTES..row.key.end],
                    value: value.unwrap_or_default(),
                },
            }
        })
    }

    /// The reads that it depends on.
    pub fn reads(&self) -> impl ExactSizeIterator<Item = ReadDependency<'_>> {
        self.reads.iter().map(|StoredRead { tree, keys, at }| {
            let keys = match keys {
                StoredKeys::One(key) => ReadKeys::One(&self.bytes[key.clone()]),
                StoredKeys::Range(range) => ReadKeys::Range(range),
            };
            ReadDependency { tree: *tree, keys, at: *at }
        })
    }

    /// Whether it would write nothing.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes of the keys and values of its rows.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len() - self.read_bytes
    }

    /// Checks the bounds of [`crate::limits`]. Every engine calls this before it does anything.
    pub fn check_limits(&self) -> Result<()> {
        let too_large = |what, len, max| Err(EngineError::TooLarge { what, len, max });
        if self.rows.len() > BATCH_ROWS_MAX {
            return too_large("rows in a batch", self.rows.len(), BATCH_ROWS_MAX);
        }
        // What is longer for being on a branch was measured there.
        let mut more = 0;
        for row in &self.rows {
            let (prefix, mark) = if is_branched(row.tree) { (PREFIX_BYTES, MARK_BYTES) } else { (0, 0) };
            more += prefix + mark;
            if row.key.len() > KEY_BYTES_MAX + prefix {
                return too_large("bytes in a key", row.key.len(), KEY_BYTES_MAX);
            }
            match &row.value {
                Some(value) if value.len() > VALUE_BYTES_MAX + mark => {
                    return too_large("bytes in a value", value.len(), VALUE_BYTES_MAX);
                }
                _ => {}
            }
        }
        if self.size_bytes() > BATCH_BYTES_MAX + more {
            return too_large("bytes in a batch", self.size_bytes(), BATCH_BYTES_MAX);
        }
        Ok(())
    }

    fn keep_counters(&mut self, counters: &[i64]) -> Range<usize> {
        let start = self.bytes.len();
        for counter in counters {
            self.bytes.extend_from_slice(&counter.to_be_bytes());
        }
        start..self.bytes.len()
    }

    fn keep(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }
}
