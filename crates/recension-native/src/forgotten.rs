//! Forgotten history: ranges of keys, each with the seq before which its history was given up. It decides which reads
//! are refused and which versions merges leave out. Pure.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::format::Fields;
use recension_engine::{EngineError, KeyRange, Result, Seq, TreeId};

/// Most ranges of a store: twice as many as there can be rules. One more is refused.
const RANGES_MAX: usize = 2 * recension_engine::limits::RETENTION_RULES_MAX;

/// Ranges whose history has been given up.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Forgotten {
    by_tree: BTreeMap<TreeId, Vec<ForgottenRange>>,
    /// No range has forgotten anything from here on.
    newest: Seq,
}

#[derive(Clone, PartialEq, Debug)]
struct ForgottenRange {
    range: KeyRange,
    /// Reads as of an earlier seq are refused.
    before: Seq,
}

impl Forgotten {
    /// Whether a read as of `at` may have to be refused.
    pub(super) fn concerns(&self, at: Seq) -> bool {
        at < self.newest
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_tree.is_empty()
    }

    /// Number of ranges.
    pub(super) fn len(&self) -> usize {
        self.by_tree.values().map(Vec::len).sum()
    }

    fn of(&self, tree: TreeId) -> &[ForgottenRange] {
        self.by_tree.get(&tree).map_or(&[], Vec::as_slice)
    }

    /// Forgets the history of a range before `before`. False: it was forgotten already.
    pub(super) fn add(&mut self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<bool> {
        let known = |old: &ForgottenRange| old.before >= before && old.range.covers(range);
        if range.is_empty() || before == Seq::ZERO || self.of(tree).iter().any(known) {
            return Ok(false);
        }
        let replaced = |old: &ForgottenRange| old.before <= before && range.covers(&old.range);
        let len = self.len() + 1 - self.of(tree).iter().filter(|old| replaced(old)).count();
        if len > RANGES_MAX {
            let what = "ranges with a forgotten history; forget larger ranges";
            return Err(EngineError::TooLarge { what, len, max: RANGES_MAX });
        }
        let ranges = self.by_tree.entry(tree).or_default();
        ranges.retain(|old| !replaced(old));
        ranges.push(ForgottenRange { range: range.clone(), before });
        self.newest = self.newest.max(before);
        Ok(true)
    }

    /// The seq before which a key's history has been forgotten.
    pub(super) fn before(&self, full_key: &[u8]) -> Seq {
        let Some((tree, key)) = full_key.split_first_chunk::<4>() else { return Seq::ZERO };
        let tree = TreeId(u32::from_be_bytes(*tree));
        let own = self.of(tree).iter().filter(|old| old.range.contains(key));
        own.map(|old| old.before).max().unwrap_or_default()
    }

    /// The seq before which the history of all of a range has been forgotten.
    pub(super) fn horizon(&self, tree: TreeId, range: &KeyRange) -> Seq {
        let covering = self.of(tree).iter().filter(|old| old.range.covers(range));
        covering.map(|old| old.before).max().unwrap_or_default()
    }

    /// Refuses a read of a key as of a forgotten moment.
    pub(super) fn check(&self, full_key: &[u8], at: Seq) -> Result<()> {
        if self.concerns(at) { refuse(self.before(full_key), at) } else { Ok(()) }
    }

    /// Refuses a read of a range of keys as of a moment that any of them has forgotten.
    pub(super) fn check_range(&self, tree: TreeId, range: &KeyRange, at: Seq) -> Result<()> {
        if !self.concerns(at) {
            return Ok(());
        }
        let own = self.of(tree).iter().filter(|old| old.range.overlaps(range));
        refuse(own.map(|old| old.before).max().unwrap_or_default(), at)
    }

    /// The ranges for which `wanted` holds.
    pub(super) fn only(&self, wanted: impl Fn(TreeId, &KeyRange) -> bool) -> Forgotten {
        let mut only = self.clone();
        only.by_tree.retain(|tree, ranges| {
            ranges.retain(|old| wanted(*tree, &old.range));
            !ranges.is_empty()
        });
        only
    }

    /// Refuses a read of everything as of a moment that any range has forgotten.
    pub(super) fn check_everything(&self, at: Seq) -> Result<()> {
        refuse(self.newest, at)
    }

    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.len() as u32).to_le_bytes());
        for (tree, ranges) in &self.by_tree {
            for ForgottenRange { range, before } in ranges {
                bytes.extend(tree.0.to_le_bytes());
                bytes.extend(before.0.to_le_bytes());
                encode_range(range, bytes);
            }
        }
    }

    pub(super) fn decode(fields: &mut Fields<'_>) -> Option<Self> {
        let count = fields.u32()? as usize;
        if count > RANGES_MAX {
            return None;
        }
        let mut forgotten = Forgotten::default();
        for _ in 0..count {
            let (tree, before) = (TreeId(fields.u32()?), Seq(fields.u64()?));
            let range = decode_range(fields)?;
            forgotten.newest = forgotten.newest.max(before);
            forgotten.by_tree.entry(tree).or_default().push(ForgottenRange { range, before });
        }
        Some(forgotten)
    }
}

/// Appends a range as the manifest has it.
pub(super) fn encode_range(range: &KeyRange, bytes: &mut Vec<u8>) {
    let ends = [&range.start, &range.end].map(|end| match end {
        Bound::Unbounded => (0u8, &[][..]),
        Bound::Included(key) => (1, key.as_slice()),
        Bound::Excluded(key) => (2, key.as_slice()),
    });
    bytes.extend(ends.map(|(kind, _)| kind));
    bytes.extend(ends.iter().flat_map(|(_, key)| (key.len() as u16).to_le_bytes()));
    bytes.extend(ends.iter().flat_map(|(_, key)| key.iter()));
}

/// Reads the form that [`encode_range`] writes.
pub(super) fn decode_range(fields: &mut Fields<'_>) -> Option<KeyRange> {
    let kinds: [u8; 2] = fields.bytes()?;
    let lengths = [fields.u16()?, fields.u16()?];
    let mut end = |nth: usize| {
        let key = fields.slice(usize::from(lengths[nth]))?.to_vec();
        match kinds[nth] {
            0 => Some(Bound::Unbounded),
            1 => Some(Bound::Included(key)),
            2 => Some(Bound::Excluded(key)),
            _ => None,
        }
    };
    Some(KeyRange { start: end(0)?, end: end(1)? })
}

fn refuse(oldest: Seq, asked: Seq) -> Result<()> {
    if asked < oldest { Err(EngineError::Forgotten { asked, oldest }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::super::index::full_key;
    use super::*;

    const TREE: TreeId = TreeId(3);

    fn forgotten(ranges: &[(KeyRange, u64)]) -> Forgotten {
        let mut forgotten = Forgotten::default();
        for (range, before) in ranges {
            forgotten.add(TREE, range, Seq(*before)).unwrap();
        }
        forgotten
    }

    #[test]
    fn the_newest_seq_that_any_range_names_counts_for_a_key() {
        let forgotten =
            forgotten(&[(KeyRange::between("b", "d"), 5), (KeyRange::only("c"), 9), (KeyRange::prefix("x"), 7)]);
        for (key, before) in [("a", 0), ("b", 5), ("c", 9), ("cc", 5), ("d", 0), ("x", 7), ("xyz", 7)] {
            let full_key = full_key(TREE, key.as_bytes());
            assert_eq!(forgotten.before(&full_key), Seq(before), "{key}");
            assert!(forgotten.check(&full_key, Seq(before)).is_ok());
            assert_eq!(before > 0, forgotten.check(&full_key, Seq(before.saturating_sub(1))).is_err());
        }
        assert_eq!(forgotten.before(&full_key(TreeId(4), b"c")), Seq::ZERO);
    }

    #[test]
    fn a_range_is_refused_if_any_key_of_it_would_be() {
        let forgotten = forgotten(&[(KeyRange::between("b", "d"), 5)]);
        let excluded = |key: &str| Bound::Excluded(key.as_bytes().to_vec());
        for (range, refused) in [
            (KeyRange::all(), true),
            (KeyRange::between("a", "b"), false),
            (KeyRange::between("a", "c"), true),
            (KeyRange::between("d", "e"), false),
            (KeyRange { start: excluded("cc"), end: Bound::Unbounded }, true),
            (KeyRange { start: excluded("d"), end: Bound::Unbounded }, false),
        ] {
            assert_eq!(forgotten.check_range(TREE, &range, Seq(4)).is_err(), refused, "{range:?}");
            assert!(forgotten.check_range(TREE, &range, Seq(5)).is_ok());
            assert!(forgotten.check_range(TreeId(4), &range, Seq(4)).is_ok());
        }
    }

    #[test]
    fn ranges_within_others_take_no_room_and_the_number_of_ranges_is_bounded() {
        let mut forgotten = forgotten(&[(KeyRange::between("b", "d"), 5), (KeyRange::only("c"), 4)]);
        assert_eq!(forgotten.len(), 1);
        assert!(forgotten.add(TREE, &KeyRange::all(), Seq(6)).unwrap());
        assert!(!forgotten.add(TREE, &KeyRange::prefix("q"), Seq(6)).unwrap());
        assert_eq!(forgotten.len(), 1);
        let mut add = |n: u64| forgotten.add(TREE, &KeyRange::only(n.to_be_bytes()), Seq(9)).err();
        let refused: Vec<_> = (0..=RANGES_MAX as u64).filter_map(&mut add).collect();
        assert!(matches!(refused[..], [EngineError::TooLarge { .. }, _]), "{refused:?}");
        assert_eq!(forgotten.len(), RANGES_MAX);
    }

    #[test]
    fn it_reads_back_as_it_was_written() {
        let excluded = Bound::Excluded(b"q".to_vec());
        let written = forgotten(&[
            (KeyRange::between("b", "d"), 5),
            (KeyRange::only(""), 9),
            (KeyRange { start: excluded, end: Bound::Unbounded }, u64::MAX),
        ]);
        let mut bytes = Vec::new();
        written.encode(&mut bytes);
        assert_eq!(Forgotten::decode(&mut Fields(&bytes)), Some(written));
        for cut in 0..bytes.len() {
            assert_eq!(Forgotten::decode(&mut Fields(&bytes[..cut])), None);
        }
    }
}
