//! The rows of the commits that come earlier in the same record: the cache does not have them yet. Pure.

use std::collections::BTreeMap;

use recension_engine::{Batch, EngineError, KeyRange, ReadDependency, ReadKeys, Result, Seq, TreeId};

/// Rows that a record writes, the newest version of each.
#[derive(Default)]
pub(super) struct Overlay {
    rows: BTreeMap<(TreeId, Vec<u8>), Written>,
}

/// A commit's version of a key; `None` is a deletion.
type Written = (Seq, Option<Vec<u8>>);

impl Overlay {
    /// The record's version of a key; `None` if the record does not write it.
    pub(super) fn get(&self, tree: TreeId, key: &[u8]) -> Option<&Written> {
        if self.rows.is_empty() {
            return None;
        }
        self.rows.get(&(tree, key.to_vec()))
    }

    /// Adds the rows of a commit.
    pub(super) fn add(&mut self, batch: &Batch, seq: Seq) {
        for row in batch.rows() {
            self.rows.insert((row.tree, row.key.to_vec()), (seq, row.value.map(<[u8]>::to_vec)));
        }
    }

    /// Refuses if the record writes rows that were read before.
    pub(super) fn check(&self, read: ReadDependency<'_>) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let conflict = |key: &[u8], seq: Seq| EngineError::Conflict {
            tree: read.tree,
            key: key.to_vec(),
            read_at: read.at,
            written_at: Some(seq),
        };
        match read.keys {
            ReadKeys::One(key) => match self.rows.get(&(read.tree, key.to_vec())) {
                Some((seq, _)) if *seq > read.at => Err(conflict(key, *seq)),
                _ => Ok(()),
            },
            ReadKeys::Range(range) => match self.written(read.tree, range, read.at) {
                Some((key, seq)) => Err(conflict(key, seq)),
                None => Ok(()),
            },
        }
    }

    fn written(&self, tree: TreeId, range: &KeyRange, after: Seq) -> Option<(&[u8], Seq)> {
        let of_tree = self.rows.range((tree, Vec::new())..).take_while(|((t, _), _)| *t == tree);
        let mut touched = of_tree.filter(|((_, key), (seq, _))| *seq > after && range.contains(key));
        touched.next().map(|((_, key), (seq, _))| (key.as_slice(), *seq))
    }
}
