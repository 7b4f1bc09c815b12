//! Parts that all of the index shares: the place of a version, the order of versions, and the steps of a walk over
//! them.
//! Pure.

use std::cmp::Ordering;
use std::ops::Bound;

use recension_engine::{Direction, Seq};

use super::format::Position;

/// The place of a version.
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

/// The result of a step of a walk.
pub(super) enum Step<T> {
    /// To a key that has a version.
    Found(T),
    /// Past a few keys that have no version at the walk's moment. With such steps, a walk of several parts never goes
    /// much further into one part than into the others.
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
