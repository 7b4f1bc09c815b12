//! What every part of the index shares: where a version lies, the order of versions, and how a walk over them steps.
//! Pure.

use std::cmp::Ordering;
use std::ops::Bound;

use recension_engine::{Direction, Seq};

use super::format::Position;

/// Where a version lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct IndexEntry {
    pub(super) seq: Seq,
    pub(super) position: Position,
    pub(super) deleted: bool,
}

/// Order of versions: key ascending, then newest first.
pub(super) fn compare_versions(a: (&[u8], Seq), b: (&[u8], Seq)) -> Ordering {
    a.0.cmp(b.0).then_with(|| b.1.cmp(&a.1))
}

/// Where a step of a walk has led.
pub(super) enum Step<T> {
    /// To a key that has a version.
    Found(T),
    /// Past a few keys that have none as of the moment of the walk. So a walk of several parts never looks much
    /// further into one of them than the others have got.
    Nothing,
    /// Beyond the last key.
    Ended,
}

impl<T> Step<T> {
    pub(super) fn map<R>(self, to: impl FnOnce(T) -> R) -> Step<R> {
        match self {
            Step::Found(found) => Step::Found(to(found)),
            Step::Nothing => Step::Nothing,
            Step::Ended => Step::Ended,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self, Step::Ended)
    }
}

/// Whether `key` lies behind the end of a walk.
pub(super) fn lies_beyond(end: &Bound<Vec<u8>>, direction: Direction, key: &[u8]) -> bool {
    match (end, direction) {
        (Bound::Unbounded, _) => false,
        (Bound::Included(end), Direction::Forward) => key > end.as_slice(),
        (Bound::Excluded(end), Direction::Forward) => key >= end.as_slice(),
        (Bound::Included(end), Direction::Backward) => key < end.as_slice(),
        (Bound::Excluded(end), Direction::Backward) => key <= end.as_slice(),
    }
}
