//! Where the rows of a branch lie in its store, and how a deletion is written there. docs/branches.md has the bytes.
//! Pure: keys and values in, keys and values out.

use std::borrow::Cow;
use std::ops::Bound;

use crate::{EngineError, KeyNumber, KeyRange, TreeId, Value, successor_of_prefix};

/// The rows about branches, tags and kept moments. It is the same tree on every branch.
pub const BRANCHES_TREE: TreeId = TreeId(0x8000_0000);

/// The rows of branches whose trees have no key of their own.
pub(crate) const BRANCHED_TREE: TreeId = TreeId(0x8000_0001);

/// The number, in the block of a key, of the tree with the rows of branches that the key seals. No collection gets it.
const BRANCHED_IN_BLOCK: u16 = u16::MAX;

/// Bytes before the key of a branch's row: the branch and the tree.
pub(crate) const PREFIX_BYTES: usize = 8;

/// Begins the value of a deletion, and of an escaped value.
const MARK: [u8; 9] = *b"\0\xffbr\xffan\xfe\0";
const DELETED: u8 = 0;
const ESCAPED: u8 = 1;

/// Most bytes that a value is longer for being on a branch.
pub(crate) const MARK_BYTES: usize = MARK.len() + 1;

/// The number of a branch, from 1 on. It is given once and never again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BranchId(pub u32);

/// Whether a tree holds rows of branches.
pub(crate) fn is_branched(tree: TreeId) -> bool {
    tree == BRANCHED_TREE || KeyNumber::of(tree).is_some_and(|key| key.tree(BRANCHED_IN_BLOCK) == tree)
}

/// The tree that holds the rows of branches of a tree.
pub(crate) fn own_tree(tree: TreeId) -> TreeId {
    KeyNumber::of(tree).map_or(BRANCHED_TREE, |key| key.tree(BRANCHED_IN_BLOCK))
}

impl BranchId {
    /// The beginning of the keys of a tree's rows.
    pub(crate) fn prefix(self, tree: TreeId) -> [u8; PREFIX_BYTES] {
        let mut prefix = [0; PREFIX_BYTES];
        prefix[..4].copy_from_slice(&self.0.to_be_bytes());
        prefix[4..].copy_from_slice(&tree.0.to_be_bytes());
        prefix
    }

    /// The key of a row.
    pub(crate) fn key(self, tree: TreeId, key: &[u8]) -> Vec<u8> {
        [&self.prefix(tree)[..], key].concat()
    }

    /// The keys of a range of rows.
    pub(crate) fn range(self, tree: TreeId, range: &KeyRange) -> KeyRange {
        let prefix = self.prefix(tree);
        let start = match &range.start {
            Bound::Included(key) => Bound::Included(self.key(tree, key)),
            Bound::Excluded(key) => Bound::Excluded(self.key(tree, key)),
            Bound::Unbounded => Bound::Included(prefix.to_vec()),
        };
        let end = match &range.end {
            Bound::Included(key) => Bound::Included(self.key(tree, key)),
            Bound::Excluded(key) => Bound::Excluded(self.key(tree, key)),
            Bound::Unbounded => successor_of_prefix(&prefix).map_or(Bound::Unbounded, Bound::Excluded),
        };
        KeyRange { start, end }
    }

    /// The tree and the range that [`BranchId::range`] has made this of; `None` if it is of another branch.
    pub(crate) fn of_range(self, range: &KeyRange) -> Option<(TreeId, KeyRange)> {
        let split = |bound: &Bound<Vec<u8>>| match bound {
            Bound::Included(key) => self.of_key(key).map(|(tree, key)| (tree, Bound::Included(key.to_vec()))),
            Bound::Excluded(key) => self.of_key(key).map(|(tree, key)| (tree, Bound::Excluded(key.to_vec()))),
            Bound::Unbounded => None,
        };
        let (tree, start) = split(&range.start)?;
        // From the beginning of a tree means from its first key.
        let start = if start == Bound::Included(Vec::new()) { Bound::Unbounded } else { start };
        let end = match split(&range.end) {
            Some((of, end)) if of == tree => end,
            _ => Bound::Unbounded,
        };
        Some((tree, KeyRange { start, end }))
    }

    /// The tree and the key of a row; `None` if it is of another branch.
    pub(crate) fn of_key(self, key: &[u8]) -> Option<(TreeId, &[u8])> {
        let (branch, rest) = key.split_first_chunk::<4>()?;
        let (tree, key) = rest.split_first_chunk::<4>()?;
        (u32::from_be_bytes(*branch) == self.0).then_some((TreeId(u32::from_be_bytes(*tree)), key))
    }

    /// An error of a row's, as it is for who knows only the branch.
    pub(crate) fn error(self, error: EngineError) -> EngineError {
        let (EngineError::Conflict { tree, key, .. } | EngineError::NotCounters { tree, key, .. }) = &error else {
            return error;
        };
        let Some((own, rest)) = self.of_key(key).filter(|_| is_branched(*tree)) else { return error };
        let rest = rest.to_vec();
        match error {
            EngineError::Conflict { read_at, written_at, .. } => {
                EngineError::Conflict { tree: own, key: rest, read_at, written_at }
            }
            EngineError::NotCounters { len, .. } => EngineError::NotCounters { tree: own, key: rest, len },
            error => error,
        }
    }
}

/// The value of a row that hides what the parent has.
pub(crate) fn deletion() -> Vec<u8> {
    [&MARK[..], &[DELETED]].concat()
}

/// A value as a branch keeps it.
pub(crate) fn stored(value: &[u8]) -> Cow<'_, [u8]> {
    if value.starts_with(&MARK) {
        return Cow::Owned([&MARK[..], &[ESCAPED], value].concat());
    }
    Cow::Borrowed(value)
}

/// A value that a branch keeps; `None`: a deletion.
pub(crate) fn shown(value: Cow<'_, [u8]>) -> Option<Cow<'_, [u8]>> {
    match value.strip_prefix(&MARK) {
        Some([DELETED]) => None,
        Some([ESCAPED, ..]) => Some(without_start(value, MARK_BYTES)),
        // Or a sum of counters that happens to begin so.
        None | Some(_) => Some(value),
    }
}

/// The same with the commit that wrote it.
pub(crate) fn shown_value(value: Value<'_>) -> Option<Value<'_>> {
    let Value { seq, bytes } = value;
    shown(bytes).map(|bytes| Value { seq, bytes })
}

/// Bytes without the first `count`.
pub(crate) fn without_start(bytes: Cow<'_, [u8]>, count: usize) -> Cow<'_, [u8]> {
    match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(count..).unwrap_or_default()),
        Cow::Owned(mut bytes) => {
            bytes.drain(..count.min(bytes.len()));
            Cow::Owned(bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_deletions_read_back_whatever_they_begin_with() {
        for value in [&b""[..], b"x", &MARK, &deletion(), &stored(&MARK)] {
            let kept = stored(value);
            assert!(kept.len() <= value.len() + MARK_BYTES);
            assert_eq!(shown(Cow::Borrowed(&kept)).as_deref(), Some(value));
            assert_eq!(shown(Cow::Owned(kept.to_vec())).as_deref(), Some(value));
        }
        assert_eq!(shown(Cow::Owned(deletion())), None);
    }

    #[test]
    fn ranges_and_trees_of_branches_lie_apart_and_read_back() {
        let branch = BranchId(7);
        let last = KeyNumber::MAX.tree(9);
        for tree in [TreeId(0), TreeId(9), TreeId(u32::MAX), last] {
            for range in [KeyRange::all(), KeyRange::only("k"), KeyRange::prefix("k"), KeyRange::between("a", "b")] {
                let own = branch.range(tree, &range);
                assert_eq!(branch.of_range(&own), Some((tree, range)));
                assert_eq!(BranchId(8).of_range(&own), None);
            }
            assert!(is_branched(own_tree(tree)) && !is_branched(tree));
        }
        assert_eq!(own_tree(last), TreeId(0xfffe_ffff));
        assert_eq!(KeyNumber::of(BRANCHED_TREE).or(KeyNumber::of(BRANCHES_TREE)), None);
    }
}
