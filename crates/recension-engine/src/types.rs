//! The types of the engine contract: sequence numbers, times, trees, ranges, rows. Plain values only; nothing here
//! reads a clock or a disk.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Bound, Deref};

/// The number of a commit. The first commit of a store is 1; `Seq::ZERO` is the empty store before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Seq(pub u64);

impl Seq {
    /// The store before its first commit.
    pub const ZERO: Seq = Seq(0);

    /// The sequence number that follows.
    #[must_use]
    pub fn next(self) -> Seq {
        Seq(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A moment: microseconds since 1970-01-01 00:00:00 UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(pub u64);

/// The number of an ordered tree of rows. Trees need no creation: a tree without rows is empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TreeId(pub u32);

/// What a commit survives once it is acknowledged. An engine may give more than was asked, never less.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Durability {
    /// Nothing: the commit may be lost when the process ends abnormally.
    Memory,
    /// The end of the process (a crash, `kill -9`), but not of the machine.
    Process,
    /// Loss of power.
    #[default]
    Disk,
}

/// The seq and the time of a commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CommitInfo {
    /// Its sequence number.
    pub seq: Seq,
    /// Its time: the clock's, but never before the previous commit's.
    pub time: Timestamp,
}

/// The order in which a range is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Direction {
    /// Ascending by key bytes.
    #[default]
    Forward,
    /// Descending by key bytes.
    Backward,
}

/// The parts of a range's rows that a reader needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// About how many of them will be read, from the first one on; `None`: unknown. It changes no answer.
    pub rows: Option<usize>,
    /// Whether the values are wanted. If they are not, they may be empty.
    pub values: bool,
}

impl Default for Wanted {
    /// All rows with their values.
    fn default() -> Self {
        Wanted { rows: None, values: true }
    }
}

/// A contiguous range of keys of one tree. A range whose start is beyond its end is empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyRange {
    /// Where it starts.
    pub start: Bound<Vec<u8>>,
    /// Where it ends.
    pub end: Bound<Vec<u8>>,
}

impl KeyRange {
    /// Every key.
    pub fn all() -> Self {
        KeyRange { start: Bound::Unbounded, end: Bound::Unbounded }
    }

    /// The keys from `start` (included) to `end` (excluded).
    pub fn between(start: impl Into<Vec<u8>>, end: impl Into<Vec<u8>>) -> Self {
        KeyRange { start: Bound::Included(start.into()), end: Bound::Excluded(end.into()) }
    }

    /// One key.
    pub fn only(key: impl Into<Vec<u8>>) -> Self {
        let key = key.into();
        KeyRange { start: Bound::Included(key.clone()), end: Bound::Included(key) }
    }

    /// The keys that start with `prefix`.
    pub fn prefix(prefix: impl Into<Vec<u8>>) -> Self {
        let prefix = prefix.into();
        let end = match successor_of_prefix(&prefix) {
            Some(end) => Bound::Excluded(end),
            None => Bound::Unbounded,
        };
        KeyRange { start: Bound::Included(prefix), end }
    }

    /// Whether `key` lies in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        let after_start = match &self.start {
            Bound::Included(start) => key >= start.as_slice(),
            Bound::Excluded(start) => key > start.as_slice(),
            Bound::Unbounded => true,
        };
        after_start
            && match &self.end {
                Bound::Included(end) => key <= end.as_slice(),
                Bound::Excluded(end) => key < end.as_slice(),
                Bound::Unbounded => true,
            }
    }

    /// Whether no key can lie in the range.
    pub fn is_empty(&self) -> bool {
        nothing_between(&self.start, &self.end)
    }

    /// The keys in both ranges.
    #[must_use]
    pub fn intersection(&self, other: &KeyRange) -> KeyRange {
        let (start, end) = self.narrower_ends(other);
        KeyRange { start: start.clone(), end: end.clone() }
    }

    /// Whether a key may lie in both ranges.
    pub fn overlaps(&self, other: &KeyRange) -> bool {
        let (start, end) = self.narrower_ends(other);
        !nothing_between(start, end)
    }

    /// Whether neither end of `inner` is beyond this range's.
    pub fn covers(&self, inner: &KeyRange) -> bool {
        self.narrower_ends(inner) == (&inner.start, &inner.end)
    }

    fn narrower_ends<'r>(&'r self, other: &'r KeyRange) -> (&'r Bound<Vec<u8>>, &'r Bound<Vec<u8>>) {
        use Bound::{Excluded, Included, Unbounded};
        // If two ends are at the same key, the one that excludes it is narrower.
        let start = match (&self.start, &other.start) {
            (Unbounded, end) | (end, Unbounded) => end,
            (a @ (Included(x) | Excluded(x)), b @ (Included(y) | Excluded(y))) => {
                if x > y || (x == y && matches!(a, Excluded(_))) { a } else { b }
            }
        };
        let end = match (&self.end, &other.end) {
            (Unbounded, end) | (end, Unbounded) => end,
            (a @ (Included(x) | Excluded(x)), b @ (Included(y) | Excluded(y))) => {
                if x < y || (x == y && matches!(a, Excluded(_))) { a } else { b }
            }
        };
        (start, end)
    }

    /// The key, if the range has only one ([`KeyRange::only`]).
    pub fn only_key(&self) -> Option<&[u8]> {
        match (&self.start, &self.end) {
            (Bound::Included(start), Bound::Included(end)) if start == end => Some(start),
            _ => None,
        }
    }

    /// The two ends, borrowed.
    pub fn as_bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        (self.start.as_ref().map(Vec::as_slice), self.end.as_ref().map(Vec::as_slice))
    }
}

fn nothing_between(start: &Bound<Vec<u8>>, end: &Bound<Vec<u8>>) -> bool {
    use Bound::{Excluded, Included, Unbounded};
    match (start, end) {
        (Unbounded, Unbounded | Included(_)) | (Included(_) | Excluded(_), Unbounded) => false,
        (Unbounded, Excluded(end)) => end.is_empty(),
        (Included(start), Included(end)) => start > end,
        (Included(start), Excluded(end)) | (Excluded(start), Included(end)) => start >= end,
        // There is nothing between a key and its immediate successor (the key with a zero byte).
        (Excluded(start), Excluded(end)) => {
            start >= end || (end.len() == start.len() + 1 && end.starts_with(start) && end.last() == Some(&0))
        }
    }
}

/// The least byte string greater than every string that starts with `prefix`; `None` if there is none.
pub fn successor_of_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

/// A value as read: its bytes, borrowed from the snapshot if the engine can, and the commit that wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value<'s> {
    /// The commit that wrote this version.
    pub seq: Seq,
    /// The bytes.
    pub bytes: Cow<'s, [u8]>,
}

impl Deref for Value<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A row of a range: a key and its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row<'s> {
    /// The key, without its tree.
    pub key: Cow<'s, [u8]>,
    /// The value.
    pub value: Value<'s>,
}

/// One version of a row in its history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Version<'s> {
    /// The commit that wrote it.
    pub seq: Seq,
    /// When that commit was made.
    pub time: Timestamp,
    /// The bytes; `None` if the commit deleted the row.
    pub value: Option<Cow<'s, [u8]>>,
}
