//! Arguments of [`crate::Engine::erase`]: keys, and which of their versions become as if they had never been. Pure.

use crate::limits::{ERASED_BYTES_MAX, ERASED_KEYS_MAX};
use crate::{EngineError, Result, Seq, TreeId};

/// A key with the versions to erase.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ErasedKey {
    /// Its tree.
    pub tree: TreeId,
    /// The key.
    pub key: Vec<u8>,
    /// Which versions.
    pub versions: ErasedVersions,
}

/// Versions of a key that are erased: they read as deletions, at every moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ErasedVersions {
    /// All that are not newer than this; none if it is zero.
    pub through: Seq,
    /// And these, in ascending order.
    pub these: Vec<Seq>,
}

impl ErasedVersions {
    /// All versions up to a commit.
    #[must_use]
    pub fn through(through: Seq) -> Self {
        ErasedVersions { through, these: Vec::new() }
    }

    /// Versions by the commits that wrote them, in any order.
    #[must_use]
    pub fn these(mut these: Vec<Seq>) -> Self {
        these.sort_unstable();
        these.dedup();
        ErasedVersions { through: Seq::ZERO, these }
    }

    /// Whether the version that commit `seq` wrote is erased.
    #[must_use]
    pub fn has(&self, seq: Seq) -> bool {
        seq <= self.through || self.these.binary_search(&seq).is_ok()
    }

    /// The newest version that may be erased.
    #[must_use]
    pub fn newest(&self) -> Seq {
        self.these.last().copied().unwrap_or_default().max(self.through)
    }

    /// Adds the versions of `other`.
    pub fn unite(&mut self, other: &ErasedVersions) {
        self.through = self.through.max(other.through);
        self.these.extend(&other.these);
        let through = self.through;
        self.these.retain(|seq| *seq > through);
        self.these.sort_unstable();
        self.these.dedup();
    }
}

/// Refuses more keys than can be erased before the store is settled.
///
/// # Errors
/// [`EngineError::TooLarge`].
pub fn check_erased(keys: usize, bytes: usize) -> Result<()> {
    let what = "keys that are erased and not settled yet; settle the store, then erase fewer documents at once";
    match (keys, bytes) {
        (len, _) if len > ERASED_KEYS_MAX => Err(EngineError::TooLarge { what, len, max: ERASED_KEYS_MAX }),
        (_, len) if len > ERASED_BYTES_MAX => {
            let what = "bytes of keys that are erased and not settled yet; settle the store, then erase fewer";
            Err(EngineError::TooLarge { what, len, max: ERASED_BYTES_MAX })
        }
        _ => Ok(()),
    }
}

/// The versions of a key (newest first) after some of them are erased: the kept ones. If a kept version is older than a
/// sequence of erased ones, the oldest of that sequence stays with `None` in place of its value.
#[must_use]
pub fn without_erased<V>(
    versions: impl IntoIterator<Item = (Seq, Option<V>)>,
    erased: &ErasedVersions,
) -> Vec<(Seq, Option<V>)> {
    let mut kept = Vec::new();
    let mut nothing_from = None;
    for (seq, value) in versions {
        if erased.has(seq) {
            nothing_from = Some(seq);
        } else {
            kept.extend(nothing_from.take().map(|seq| (seq, None)));
            kept.push((seq, value));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erased_versions_read_as_deletions_and_leave_no_key_where_nothing_older_is_kept() {
        let seqs = |these: &[u64]| ErasedVersions::these(these.iter().map(|seq| Seq(*seq)).collect());
        // A negative seq is a deletion.
        for (erased, versions, expected) in [
            (ErasedVersions::through(Seq(9)), &[9, 8, -7][..], &[][..]),
            (ErasedVersions::through(Seq(8)), &[-9, 8], &[-9]),
            (ErasedVersions::through(Seq(8)), &[12, -8, 7], &[12]),
            (seqs(&[5]), &[9, -7, 5, 2], &[9, -7, -5, 2]),
            (seqs(&[5, 7]), &[9, -7, 5, 2], &[9, -5, 2]),
            (seqs(&[5, 3]), &[9, 5, 3, 2], &[9, -3, 2]),
            (seqs(&[9]), &[9, 5], &[-9, 5]),
            (seqs(&[2, 4]), &[9, 5, -4, 2], &[9, 5]),
        ] {
            let given = versions.iter().map(|seq: &i64| (Seq(seq.unsigned_abs()), (*seq > 0).then_some(())));
            let kept = without_erased(given, &erased);
            let found: Vec<i64> =
                kept.iter().map(|(seq, value)| seq.0.cast_signed() * if value.is_some() { 1 } else { -1 }).collect();
            assert_eq!(found, expected, "{erased:?} {versions:?}");
        }
    }

    #[test]
    fn what_was_erased_before_stays_erased() {
        let mut erased = ErasedVersions::these(vec![Seq(7), Seq(3)]);
        erased.unite(&ErasedVersions::through(Seq(5)));
        assert_eq!(erased, ErasedVersions { through: Seq(5), these: vec![Seq(7)] });
        assert!([1, 3, 5, 7].iter().all(|seq| erased.has(Seq(*seq))) && !erased.has(Seq(6)));
        assert_eq!(erased.newest(), Seq(7));
        assert!(check_erased(ERASED_KEYS_MAX, 0).is_ok() && check_erased(ERASED_KEYS_MAX + 1, 0).is_err());
        assert!(check_erased(0, ERASED_BYTES_MAX + 1).is_err());
    }
}
