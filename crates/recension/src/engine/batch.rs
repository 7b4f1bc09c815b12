//! A batch: the puts and deletes of one commit, and the reads that it depends on.
//! Keys and values lie in one buffer, so that building a batch costs few allocations.

use std::ops::Range;

use super::{Durability, EngineError, KeyRange, Result, Seq, TreeId};
use crate::limits::{BATCH_BYTES_MAX, BATCH_ROWS_MAX, KEY_BYTES_MAX, VALUE_BYTES_MAX};

/// Puts and deletes that are applied wholly or not at all.
///
/// Where a batch names a key twice, the later word wins.
///
/// ```
/// use recension::engine::{Batch, Engine, MemoryEngine, TreeId};
/// # fn main() -> recension::engine::Result<()> {
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
    reads: Vec<ReadDependency>,
    durability: Option<Durability>,
}

#[derive(Clone, Debug)]
struct StoredRow {
    tree: TreeId,
    key: Range<usize>,
    value: Option<Range<usize>>,
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

/// A range that a batch's author has read. The commit is refused when a row in it was written after `at`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadDependency {
    /// The tree that was read.
    pub tree: TreeId,
    /// The keys that were read; absent keys count as read.
    pub range: KeyRange,
    /// The snapshot that they were read at.
    pub at: Seq,
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes `value` at `key`, in place of what is there.
    pub fn put(&mut self, tree: TreeId, key: &[u8], value: &[u8]) -> &mut Self {
        let key = self.keep(key);
        let value = Some(self.keep(value));
        self.rows.push(StoredRow { tree, key, value });
        self
    }

    /// Deletes `key`. Deleting what is not there is a version like any other.
    pub fn delete(&mut self, tree: TreeId, key: &[u8]) -> &mut Self {
        let key = self.keep(key);
        self.rows.push(StoredRow { tree, key, value: None });
        self
    }

    /// Refuses the commit with [`EngineError::Conflict`] when `key` was written after `at`.
    pub fn depends_on(&mut self, tree: TreeId, key: &[u8], at: Seq) -> &mut Self {
        self.depends_on_range(tree, KeyRange::only(key), at)
    }

    /// Refuses the commit with [`EngineError::Conflict`] when any key of `range` was written after `at`.
    pub fn depends_on_range(&mut self, tree: TreeId, range: KeyRange, at: Seq) -> &mut Self {
        self.reads.push(ReadDependency { tree, range, at });
        self
    }

    /// Asks for another durability than the store's own.
    pub fn durability(&mut self, durability: Durability) -> &mut Self {
        self.durability = Some(durability);
        self
    }

    /// The durability asked for, if it was.
    pub fn asked_durability(&self) -> Option<Durability> {
        self.durability
    }

    /// The puts and deletes, in the order in which they were added.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = BatchRow<'_>> {
        self.rows.iter().map(|row| BatchRow {
            tree: row.tree,
            key: &self.bytes[row.key.clone()],
            value: row.value.clone().map(|value| &self.bytes[value]),
        })
    }

    /// The reads that it depends on.
    pub fn reads(&self) -> &[ReadDependency] {
        &self.reads
    }

    /// Whether it would write nothing.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes of keys and values.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Checks the bounds of [`crate::limits`]. Every engine calls this before it does anything.
    pub fn check_limits(&self) -> Result<()> {
        let too_large = |what, len, max| Err(EngineError::TooLarge { what, len, max });
        if self.rows.len() > BATCH_ROWS_MAX {
            return too_large("rows in a batch", self.rows.len(), BATCH_ROWS_MAX);
        }
        if self.bytes.len() > BATCH_BYTES_MAX {
            return too_large("bytes in a batch", self.bytes.len(), BATCH_BYTES_MAX);
        }
        for row in &self.rows {
            if row.key.len() > KEY_BYTES_MAX {
                return too_large("bytes in a key", row.key.len(), KEY_BYTES_MAX);
            }
            match &row.value {
                Some(value) if value.len() > VALUE_BYTES_MAX => {
                    return too_large("bytes in a value", value.len(), VALUE_BYTES_MAX);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }
}
