//! Versions that have been erased and are still in some file. Readers take them for deletions, and merges leave them
//! out. After a merge of all files nothing of them is kept here, because their keys may tell whom they were about.
//! Pure.

use std::collections::BTreeMap;

use super::format::Fields;
use recension_engine::{EngineError, ErasedKey, ErasedVersions, KeyRange, Result, Seq, TreeId, check_erased};

/// Erased versions.
#[derive(Clone, Debug, Default)]
pub(super) struct Erased {
    by_tree: BTreeMap<TreeId, BTreeMap<Vec<u8>, ErasedVersions>>,
    keys: usize,
    bytes: usize,
    /// For each tree, the newest commit of which something was erased since the store was opened. Merges remove
    /// deletions with which the write of an earlier reader would conflict. This is not stored: such a reader does not
    /// outlive the process.
    newest: BTreeMap<TreeId, Seq>,
}

/// Equal if merges leave out the same.
impl PartialEq for Erased {
    fn eq(&self, other: &Self) -> bool {
        self.by_tree == other.by_tree
    }
}

/// Bytes of a key in the manifest besides the key itself and single versions.
const KEY_OVERHEAD_BYTES: usize = 4 + 2 + 8 + 4;

impl Erased {
    pub(super) fn is_empty(&self) -> bool {
        self.by_tree.is_empty()
    }

    /// Number of keys.
    pub(super) fn len(&self) -> usize {
        self.keys
    }

    /// Whether there may be erased versions in a tree.
    pub(super) fn concerns(&self, tree: TreeId) -> bool {
        self.by_tree.contains_key(&tree)
    }

    /// Whether a key that begins with this full key may have erased versions.
    pub(super) fn concerns_full(&self, full_key: &[u8]) -> bool {
        !self.is_empty() && full_key.first_chunk().is_some_and(|tree| self.concerns(TreeId(u32::from_be_bytes(*tree))))
    }

    /// The erased versions of a key.
    pub(super) fn of(&self, full_key: &[u8]) -> Option<&ErasedVersions> {
        if self.is_empty() {
            return None;
        }
        let (tree, key) = full_key.split_first_chunk::<4>()?;
        self.by_tree.get(&TreeId(u32::from_be_bytes(*tree)))?.get(key)
    }

    /// Whether a version is erased.
    pub(super) fn has(&self, full_key: &[u8], seq: Seq) -> bool {
        self.of(full_key).is_some_and(|versions| versions.has(seq))
    }

    /// Whether it is unknown what was written to a tree since a read as of `at`.
    pub(super) fn forbids(&self, tree: TreeId, at: Seq) -> bool {
        self.newest.get(&tree).is_some_and(|newest| at < *newest)
    }

    /// Whether a merge of all files up to a commit would leave something out.
    pub(super) fn has_any_through(&self, last: Seq) -> bool {
        self.by_tree.values().flat_map(BTreeMap::values).any(|versions| versions.newest() <= last)
    }

    /// Those that are not newer than `head`, for another store.
    pub(super) fn up_to(&self, head: Seq) -> Vec<ErasedKey> {
        let keys =
            self.by_tree.iter().flat_map(|(tree, keys)| keys.iter().map(move |(key, versions)| (*tree, key, versions)));
        keys.map(|(tree, key, versions)| {
            let mut versions = versions.clone();
            versions.through = versions.through.min(head);
            versions.these.retain(|seq| *seq <= head);
            ErasedKey { tree, key: key.clone(), versions }
        })
        .collect()
    }

    /// Adds erased versions, or none of them.
    pub(super) fn add(&mut self, erased: &[ErasedKey]) -> Result<()> {
        let mut new = self.clone();
        for ErasedKey { tree, key, versions } in erased {
            new.put(*tree, key.clone(), versions);
            let newest = new.newest.entry(*tree).or_default();
            *newest = versions.newest().max(*newest);
        }
        check_erased(new.keys, new.bytes)?;
        *self = new;
        Ok(())
    }

    fn put(&mut self, tree: TreeId, key: Vec<u8>, versions: &ErasedVersions) {
        if *versions == ErasedVersions::default() {
            return;
        }
        let known = self.by_tree.entry(tree).or_default();
        let key_len = key.len();
        let of_key = known.entry(key).or_insert_with(|| {
            self.keys += 1;
            self.bytes += key_len + KEY_OVERHEAD_BYTES;
            ErasedVersions::default()
        });
        let before = of_key.these.len();
        of_key.unite(versions);
        self.bytes = self.bytes + 8 * of_key.these.len() - 8 * before;
    }

    /// Forgets the parts of `merged` that have left all files, which are merged up to commit `last`.
    pub(super) fn drop_merged(&mut self, merged: &Erased, last: Seq) {
        for (tree, keys) in std::mem::take(&mut self.by_tree) {
            for (key, versions) in keys {
                let known = merged.by_tree.get(&tree).and_then(|keys| keys.get(&key));
                if versions.newest() <= last && known == Some(&versions) {
                    self.keys -= 1;
                    self.bytes -= key.len() + KEY_OVERHEAD_BYTES + 8 * versions.these.len();
                } else {
                    self.by_tree.entry(tree).or_default().insert(key, versions);
                }
            }
        }
    }

    /// Appends them as the manifest has them.
    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.keys as u32).to_le_bytes());
        for (tree, keys) in &self.by_tree {
            for (key, versions) in keys {
                bytes.extend(tree.0.to_le_bytes());
                bytes.extend((key.len() as u16).to_le_bytes());
                bytes.extend(versions.through.0.to_le_bytes());
                bytes.extend((versions.these.len() as u32).to_le_bytes());
                bytes.extend_from_slice(key);
                bytes.extend(versions.these.iter().flat_map(|seq| seq.0.to_le_bytes()));
            }
        }
    }

    /// Reads the form that [`Erased::encode`] writes.
    pub(super) fn decode(fields: &mut Fields<'_>) -> Option<Self> {
        let mut erased = Erased::default();
        for _ in 0..fields.u32()? {
            let (tree, key_len) = (TreeId(fields.u32()?), fields.u16()?);
            let (through, count) = (Seq(fields.u64()?), fields.u32()?);
            let key = fields.slice(usize::from(key_len))?.to_vec();
            let these = (0..count).map(|_| fields.u64().map(Seq)).collect::<Option<_>>()?;
            erased.put(tree, key, &ErasedVersions { through, these });
            check_erased(erased.keys, erased.bytes).ok()?;
        }
        Some(erased)
    }
}

/// Refuses versions that no commit has written yet.
pub(super) fn check_made(erased: &[ErasedKey], head: Seq) -> Result<()> {
    match erased.iter().map(|key| key.versions.newest()).max() {
        Some(asked) if asked > head => Err(EngineError::NotYet { asked, head }),
        _ => Ok(()),
    }
}

/// The range of full keys in terms of its tree: whether any key of it may have erased versions.
pub(super) fn concerns_range(erased: &Erased, tree: TreeId, range: &KeyRange) -> bool {
    match erased.by_tree.get(&tree) {
        Some(keys) if !range.is_empty() => keys.range::<[u8], _>(range.as_bounds()).next().is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::full_key;
    use super::*;

    const TREE: TreeId = TreeId(3);

    fn erased_key(key: &str, versions: ErasedVersions) -> ErasedKey {
        ErasedKey { tree: TREE, key: key.into(), versions }
    }

    #[test]
    fn marks_read_back_go_when_they_are_merged_and_writers_who_read_before_them_are_refused() {
        let mut erased = Erased::default();
        let first = [
            erased_key("b", ErasedVersions::through(Seq(9))),
            erased_key("c", ErasedVersions::these(vec![Seq(4), Seq(2)])),
            erased_key("nothing", ErasedVersions::default()),
        ];
        erased.add(&first).unwrap();
        assert_eq!(erased.len(), 2);
        let mut bytes = Vec::new();
        erased.encode(&mut bytes);
        assert_eq!(Erased::decode(&mut Fields(&bytes)), Some(erased.clone()));
        for cut in 0..bytes.len() {
            assert_eq!(Erased::decode(&mut Fields(&bytes[..cut])), None);
        }
        assert!(erased.has(&full_key(TREE, b"b"), Seq(9)) && !erased.has(&full_key(TREE, b"b"), Seq(10)));
        assert!(erased.has(&full_key(TREE, b"c"), Seq(2)) && !erased.has(&full_key(TREE, b"c"), Seq(3)));
        assert!(!erased.has(&full_key(TreeId(4), b"b"), Seq(1)));
        assert!(concerns_range(&erased, TREE, &KeyRange::prefix("b")));
        assert!(!concerns_range(&erased, TREE, &KeyRange::prefix("d")));
        assert!(erased.has_any_through(Seq(4)) && !erased.has_any_through(Seq(3)));

        let merged = erased.clone();
        erased.add(&[erased_key("c", ErasedVersions::these(vec![Seq(6)]))]).unwrap();
        erased.drop_merged(&merged, Seq(9));
        assert_eq!(erased.len(), 1, "what was added while all was merged stays");
        assert!(erased.has(&full_key(TREE, b"c"), Seq(6)));
        let merged = erased.clone();
        erased.drop_merged(&merged, Seq(5));
        assert_eq!(erased.len(), 1, "what the merge did not reach stays");
        erased.drop_merged(&merged, Seq(6));
        assert!(erased.is_empty() && erased.bytes == 0);
        assert!(erased.forbids(TREE, Seq(8)) && !erased.forbids(TREE, Seq(9)) && !erased.forbids(TreeId(4), Seq(0)));
    }
}
