//! A namespace of keys as it was at one moment.

use std::ops::Bound;
use std::sync::Arc;

use crate::engine::{Direction, KeyRange, Seq, Snapshot, Timestamp, TreeId};
use crate::kernel::rows::key_rows::SpaceTrees;
use crate::kernel::write::keys::{read_key, rows_of, scan_keys};
use recension_values::error::Result;
use recension_values::key_value::{KeyEntry, KeyRows, KeyValue};

/// A namespace of keys as of a moment. Keys that had expired then are not there.
pub struct KeysAt {
    pub(super) snapshot: Arc<dyn Snapshot>,
    pub(super) trees: Option<SpaceTrees>,
    pub(super) rows: Option<TreeId>,
    pub(super) now: Timestamp,
}

impl KeysAt {
    /// The commit that is read.
    pub fn seq(&self) -> Seq {
        self.snapshot.seq()
    }

    /// The value of a key.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<KeyValue>> {
        Ok(self.entry(key)?.map(|entry| entry.value))
    }

    /// The value of a key, and when it expires.
    pub fn entry(&self, key: impl AsRef<[u8]>) -> Result<Option<KeyEntry>> {
        let Some(trees) = self.trees else { return Ok(None) };
        read_key(&*self.snapshot, trees, key.as_ref(), self.now)
    }

    /// Keys that begin with `prefix` and come after `after`, in the order of their bytes; at most `limit`.
    pub fn scan(
        &self,
        prefix: impl AsRef<[u8]>,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<(Vec<u8>, KeyEntry)>> {
        let Some(trees) = self.trees else { return Ok(Vec::new()) };
        scan_keys(&*self.snapshot, trees, (prefix.as_ref(), after), limit, self.now)
    }

    /// The rows of a key whose value they are, in the order of their keys.
    pub fn rows(&self, of: &KeyRows) -> impl Iterator<Item = Result<(Vec<u8>, Vec<u8>)>> + use<'_> {
        rows_of(&*self.snapshot, self.rows, of, (Bound::Unbounded, Bound::Unbounded), Direction::Forward)
    }

    /// The first keys that have rows, expired ones too.
    pub(super) fn stored(&self, limit: usize) -> Result<Vec<Vec<u8>>> {
        let Some(trees) = self.trees else { return Ok(Vec::new()) };
        let rows = self.snapshot.range(trees.keys, &KeyRange::all(), Direction::Forward);
        Ok(rows.take(limit).map(|row| row.map(|row| row.key.into_owned())).collect::<crate::engine::Result<_>>()?)
    }
}
