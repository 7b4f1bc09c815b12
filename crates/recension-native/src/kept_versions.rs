//! Versions that merges leave out: those of a key that nobody can read, and those beyond the newest ones that a rule
//! promises. A merge must never drop without a trace a version that a read could still ask for.

use super::erased::Erased;
use super::forgotten::Forgotten;
use super::settled::{KeptVersion, SettledWriter};
use recension_engine::{ErasedVersions, Result, Retention, RetentionRules, Seq, TreeId};

/// The oldest kept moment, if there are rules that it limits: those that count versions.
pub(super) type Held = Option<Seq>;

/// Given-up history: past decisions, which are final, and the standing rules.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Retained {
    pub(super) forgotten: Forgotten,
    pub(super) rules: RetentionRules,
    /// What has been erased and has not left every file yet.
    pub(super) erased: Erased,
}

impl Retained {
    /// Whether there is nothing that a merge could leave out.
    pub(super) fn is_empty(&self) -> bool {
        !self.gives_up_past() && self.erased.is_empty()
    }

    /// Whether there is anything besides erased versions.
    pub(super) fn gives_up_past(&self) -> bool {
        !(self.forgotten.is_empty() && self.rules.is_empty())
    }

    /// Whether there is a rule that counts versions.
    pub(super) fn counts_versions(&self) -> bool {
        self.rules.iter().any(|rule| matches!(rule.retention, Retention::Versions(_)))
    }

    /// How many of a key's versions are promised, if the rule is of that kind.
    fn versions(&self, full_key: &[u8]) -> Option<u32> {
        let (tree, key) = full_key.split_first_chunk::<4>()?;
        match self.rules.of(TreeId(u32::from_be_bytes(*tree)), key) {
            Retention::Versions(count) => Some(count.get()),
            Retention::Everything | Retention::Duration(_) | Retention::HeadOnly => None,
        }
    }
}

/// The destination of versions.
pub(super) trait Output {
    fn push(&mut self, full_key: &[u8], version: KeptVersion<'_>) -> Result<()>;
}

impl Output for SettledWriter {
    fn push(&mut self, full_key: &[u8], version: KeptVersion<'_>) -> Result<()> {
        SettledWriter::push(self, full_key, version)
    }
}

/// Passes on the kept versions of those that it is given in order.
pub(super) struct Keep<'r, O: Output> {
    retained: &'r Retained,
    /// No older version lies elsewhere.
    bottom: bool,
    output: &'r mut O,
    key: Vec<u8>,
    before: Seq,
    has_base: bool,
    /// How many more versions of the key are kept, if they are counted.
    room: Option<u32>,
    /// The version that followed is newer than what a kept moment shows from here on.
    held: Held,
    /// The version that followed.
    followed_by: Option<Seq>,
    /// The last kept version of the key. It waits until it is known whether there are more.
    waiting: Option<(Seq, Option<Vec<u8>>)>,
    /// Which versions of the key are erased.
    erased: Option<&'r ErasedVersions>,
    /// From this commit on, up to the last kept version, all versions are erased.
    nothing_from: Option<Seq>,
}

impl<'r, O: Output> Keep<'r, O> {
    pub(super) fn new(retained: &'r Retained, bottom: bool, held: Held, output: &'r mut O) -> Self {
        let (key, before) = (Vec::new(), Seq::ZERO);
        Keep {
            retained,
            bottom,
            output,
            key,
            before,
            has_base: false,
            room: None,
            held,
            followed_by: None,
            waiting: None,
            erased: None,
            nothing_from: None,
        }
    }

    /// The next version: key ascending, newest first.
    pub(super) fn push(&mut self, full_key: &[u8], version: KeptVersion<'_>) -> Result<()> {
        if self.retained.is_empty() {
            return self.output.push(full_key, version);
        }
        if self.key != full_key {
            self.end_key()?;
            self.key.clear();
            self.key.extend_from_slice(full_key);
            self.before = self.retained.forgotten.before(full_key);
            self.room = self.retained.versions(full_key);
            self.has_base = false;
            self.followed_by = None;
            self.erased = self.retained.erased.of(full_key);
        }
        if let Some(erased) = self.erased {
            if erased.has(version.seq) {
                self.nothing_from = Some(version.seq);
                return Ok(());
            }
            if let Some(seq) = self.nothing_from.take() {
                self.keep(full_key, KeptVersion { seq, value: None, cut: false })?;
            }
        }
        self.keep(full_key, version)
    }

    /// Passes on a version that is not erased, if it was not given up.
    fn keep(&mut self, full_key: &[u8], version: KeptVersion<'_>) -> Result<()> {
        if version.seq <= self.before {
            let is_base = !std::mem::replace(&mut self.has_base, true);
            // Every read that could want it is refused.
            if !is_base || (version.value.is_none() && self.bottom) {
                return Ok(());
            }
        }
        let followed_by = self.followed_by.replace(version.seq);
        let is_needed = || followed_by.zip(self.held).is_some_and(|(next, held)| next > held);
        match &mut self.room {
            Some(0) if !is_needed() => return self.release(true),
            Some(0) | None => {}
            Some(room) => *room -= 1,
        }
        self.release(false)?;
        if self.room == Some(0) && !version.cut {
            self.waiting = Some((version.seq, version.value.map(<[u8]>::to_vec)));
            return Ok(());
        }
        self.output.push(full_key, version)
    }

    /// After the last version.
    pub(super) fn finish(mut self) -> Result<()> {
        self.end_key()
    }

    /// Called after the last version of a key. The absence of versions only needs a mark if an older version exists
    /// elsewhere.
    fn end_key(&mut self) -> Result<()> {
        if let Some(seq) = self.nothing_from.take()
            && !self.bottom
        {
            let key = std::mem::take(&mut self.key);
            self.keep(&key, KeptVersion { seq, value: None, cut: false })?;
            self.key = key;
        }
        self.release(false)
    }

    fn release(&mut self, cut: bool) -> Result<()> {
        match self.waiting.take() {
            Some((seq, value)) => self.output.push(&self.key, KeptVersion { seq, value: value.as_deref(), cut }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::super::index::full_key;
    use super::*;
    use recension_engine::{ErasedKey, KeyRange, RetentionRule};

    type Kept = Vec<(Vec<u8>, u64, bool, bool)>;

    impl Output for Kept {
        fn push(&mut self, full_key: &[u8], version: KeptVersion<'_>) -> Result<()> {
            Vec::push(self, (full_key.to_vec(), version.seq.0, version.value.is_none(), version.cut));
            Ok(())
        }
    }

    /// The kept versions of a key; a negative seq is a deletion.
    fn kept(retained: &Retained, bottom: bool, versions: &[i64]) -> Vec<(i64, bool)> {
        kept_held(retained, bottom, None, versions)
    }

    fn kept_held(retained: &Retained, bottom: bool, held: Held, versions: &[i64]) -> Vec<(i64, bool)> {
        let mut output = Kept::new();
        let mut keep = Keep::new(retained, bottom, held, &mut output);
        // There is a key before it and one behind it, so that nothing depends on being the first or the last.
        for key in ["a", "b", "c"] {
            for &seq in versions {
                let value = (seq > 0).then_some(&b"value"[..]);
                let version = KeptVersion { seq: Seq(seq.unsigned_abs()), value, cut: false };
                keep.push(&full_key(TreeId(1), key.as_bytes()), version).unwrap();
            }
        }
        keep.finish().unwrap();
        let of = |key: &str| -> Vec<(i64, bool)> {
            let own = output.iter().filter(|(full, ..)| *full == full_key(TreeId(1), key.as_bytes()));
            own.map(|(_, seq, deleted, cut)| (seq.cast_signed() * if *deleted { -1 } else { 1 }, *cut)).collect()
        };
        assert!(of("a") == of("b") && of("b") == of("c"));
        of("b")
    }

    #[test]
    fn erased_versions_leave_a_deletion_where_an_older_version_may_be_and_nothing_else() {
        let retained = |erased: ErasedVersions, before: u64| {
            let mut retained = Retained::default();
            let of_key = |key: &[u8]| ErasedKey { tree: TreeId(1), key: key.to_vec(), versions: erased.clone() };
            retained.erased.add(&[of_key(b"a"), of_key(b"b"), of_key(b"c")]).unwrap();
            retained.forgotten.add(TreeId(1), &KeyRange::all(), Seq(before)).unwrap();
            retained
        };
        let these = |these: &[u64]| ErasedVersions::these(these.iter().map(|seq| Seq(*seq)).collect());
        for (erased, before, bottom, versions, expected) in [
            (ErasedVersions::through(Seq(9)), 0, true, &[9, 8, -7][..], &[][..]),
            (ErasedVersions::through(Seq(9)), 0, false, &[9, 8, -7], &[(-7, false)]),
            (ErasedVersions::through(Seq(9)), 0, true, &[12, -9, 8], &[(12, false)]),
            (these(&[8]), 0, true, &[9, 8, 7], &[(9, false), (-8, false), (7, false)]),
            (these(&[8, 7]), 0, true, &[9, 8, -7, 5], &[(9, false), (-7, false), (5, false)]),
            // Versions behind an erased base are forgotten, too.
            (these(&[8]), 8, true, &[9, 8, 7], &[(9, false)]),
            (these(&[8]), 8, false, &[9, 8, 7], &[(9, false), (-8, false)]),
        ] {
            let found = kept(&retained(erased.clone(), before), bottom, versions);
            assert_eq!(found, expected, "{erased:?}, before {before}, bottom {bottom}: {versions:?}");
        }
    }

    #[test]
    fn the_newest_versions_stay_and_the_last_of_them_says_what_is_gone() {
        let retained = |count: u32, before: u64| {
            let mut retained = Retained::default();
            let (tree, range) = (TreeId(1), KeyRange::all());
            if let Some(count) = NonZeroU32::new(count) {
                let rule = RetentionRule { tree, range: range.clone(), retention: Retention::Versions(count) };
                retained.rules.set(&rule).unwrap();
            }
            retained.forgotten.add(tree, &range, Seq(before)).unwrap();
            retained
        };
        for (count, before, bottom, versions, expected) in [
            (0, 0, true, &[9, 8, -7][..], &[(9, false), (8, false), (-7, false)][..]),
            (1, 0, true, &[9], &[(9, false)]),
            (1, 0, true, &[9, 8, 7], &[(9, true)]),
            (1, 0, true, &[-9, 8], &[(-9, true)]),
            (2, 0, true, &[9, -8], &[(9, false), (-8, false)]),
            (2, 0, false, &[9, -8, 7], &[(9, false), (-8, true)]),
            // Versions that a horizon leaves out need no mark.
            (0, 8, true, &[9, 8, 7], &[(9, false), (8, false)]),
            (0, 8, true, &[9, -8, 7], &[(9, false)]),
            (0, 8, false, &[9, -8, 7], &[(9, false), (-8, false)]),
            (1, 8, true, &[9, -8, 7], &[(9, false)]),
            (1, 8, false, &[9, -8, 7], &[(9, true)]),
            (2, 8, true, &[9, 7, 6], &[(9, false), (7, false)]),
            (1, 8, true, &[-5, 4], &[]),
        ] {
            let found = kept(&retained(count, before), bottom, versions);
            assert_eq!(found, expected, "{count} versions, before {before}, bottom {bottom}: {versions:?}");
        }
        // A kept moment needs what it shows, and all that is newer.
        for (count, held, versions, expected) in [
            (1, 9, &[9, 8, 7][..], &[(9, true)][..]),
            (1, 8, &[9, 8, 7], &[(9, false), (8, true)]),
            (1, 7, &[9, -6, 5, 4], &[(9, false), (-6, true)]),
            (2, 1, &[9, 8, 7], &[(9, false), (8, false), (7, false)]),
            (2, 7, &[9, 8, 7, 6], &[(9, false), (8, false), (7, true)]),
        ] {
            let found = kept_held(&retained(count, 0), true, Some(Seq(held)), versions);
            assert_eq!(found, expected, "{count} versions, held {held}: {versions:?}");
        }
    }
}
