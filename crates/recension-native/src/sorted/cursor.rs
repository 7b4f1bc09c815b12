//! Walks the keys of sorted versions, in either direction. Keys are copied in batches, which begin small and grow, so
//! that no
//! lock is held between two answers.

use std::ops::Bound;

use super::page::Page;
use super::{Place, SortedVersions, entry, successor};
use crate::entry::IndexEntry;
use crate::entry::{Step, lies_beyond};
use recension_engine::{Direction, Seq};

/// Keys of the first batch.
const BATCH_KEYS_FIRST: usize = 4;
/// Most keys of a batch.
const BATCH_KEYS: usize = 64;

/// For each key within bounds, its newest version not newer than a seq.
pub(in super::super) struct SortedCursor<'i> {
    versions: &'i SortedVersions,
    look: Look,
    from: From,
    batch: Batch,
    answered: usize,
}

/// The end, the direction and the moment of the walk.
struct Look {
    at: Seq,
    direction: Direction,
    end: Bound<Vec<u8>>,
    /// Keys of the next batch.
    wanted: usize,
}

/// The place where the next batch begins.
enum From {
    /// Forward: with this key. Backward: before it.
    Key(Vec<u8>),
    /// Backward: with the last key.
    Last,
    Nowhere,
}

/// Found keys that have not been answered yet.
#[derive(Default)]
struct Batch {
    /// Where each key ends in `keys`, and its version.
    found: Vec<(usize, IndexEntry)>,
    keys: Vec<u8>,
    /// The last key that was looked at.
    last: Vec<u8>,
}

impl Batch {
    fn push(&mut self, key: &[u8], entry: IndexEntry) {
        self.keys.extend_from_slice(key);
        self.found.push((self.keys.len(), entry));
    }

    fn push_last(&mut self, entry: IndexEntry) {
        self.keys.extend_from_slice(&self.last);
        self.found.push((self.keys.len(), entry));
    }

    fn look_at(&mut self, key: &[u8]) {
        self.last.clear();
        self.last.extend_from_slice(key);
    }
}

/// The reason for which a look into a page ended.
enum Stop {
    /// There are no more keys within bounds.
    Ended,
    /// The batch is full, or the page has ended.
    GoOn,
    /// The last key that was looked at may have further versions in the next page.
    Search,
}

impl<'i> SortedCursor<'i> {
    pub(super) fn new(
        versions: &'i SortedVersions,
        start: Bound<Vec<u8>>,
        end: Bound<Vec<u8>>,
        at: Seq,
        direction: Direction,
    ) -> Self {
        let from = match (start, direction) {
            (Bound::Unbounded, Direction::Forward) => From::Key(Vec::new()),
            (Bound::Unbounded, Direction::Backward) => From::Last,
            (Bound::Included(key), Direction::Forward) | (Bound::Excluded(key), Direction::Backward) => From::Key(key),
            (Bound::Excluded(key), Direction::Forward) | (Bound::Included(key), Direction::Backward) => {
                From::Key(successor(&key))
            }
        };
        let look = Look { at, direction, end, wanted: BATCH_KEYS_FIRST };
        SortedCursor { versions, look, from, batch: Batch::default(), answered: 0 }
    }

    /// Moves to the next key with a version, writes it to `key` and answers the version. After a page without one,
    /// answers that there is none up to `key`.
    pub(in super::super) fn next(&mut self, key: &mut Vec<u8>) -> Step<IndexEntry> {
        if self.answered == self.batch.found.len() {
            self.fill();
        }
        key.clear();
        let Some((end, entry)) = self.batch.found.get(self.answered).copied() else {
            key.extend_from_slice(&self.batch.last);
            return if matches!(self.from, From::Nowhere) { Step::Ended } else { Step::Nothing };
        };
        let start = self.answered.checked_sub(1).map_or(0, |before| self.batch.found[before].0);
        key.extend_from_slice(&self.batch.keys[start..end]);
        self.answered += 1;
        Step::Found(entry)
    }

    /// Calls `see` with found keys, looking for more when they are used up, until `see` answers false.
    pub(in super::super) fn take(&mut self, mut see: impl FnMut(&[u8], IndexEntry) -> bool) {
        if self.answered == self.batch.found.len() {
            self.fill();
        }
        let mut start = self.answered.checked_sub(1).map_or(0, |before| self.batch.found[before].0);
        for (end, entry) in &self.batch.found[self.answered..] {
            self.answered += 1;
            if !see(&self.batch.keys[start..*end], *entry) {
                return;
            }
            start = *end;
        }
    }

    /// Looks into the next page.
    fn fill(&mut self) {
        if !self.batch.found.is_empty() {
            // Not with the first batch: there may be many more, and the buffers are made large enough at once.
            self.batch.keys.reserve(self.batch.keys.len() / self.batch.found.len() * BATCH_KEYS);
            self.batch.found.reserve(BATCH_KEYS);
        }
        self.batch.found.clear();
        self.batch.keys.clear();
        self.answered = 0;
        let (look, batch) = (&self.look, &mut self.batch);
        let stop = match (look.direction, &self.from) {
            (_, From::Nowhere) | (Direction::Forward, From::Last) => None,
            (Direction::Forward, From::Key(key)) => {
                self.versions.ahead(key, Seq(u64::MAX), |page, index| Some(look.forward(page, index, batch)))
            }
            (Direction::Backward, From::Key(key)) => {
                self.versions.back(Some(key), |page, index| Some(look.backward(page, index, batch)))
            }
            (Direction::Backward, From::Last) => {
                self.versions.back(None, |page, index| Some(look.backward(page, index, batch)))
            }
        };
        let stop = stop.unwrap_or(Stop::Ended);
        if matches!(stop, Stop::Ended) {
            self.from = From::Nowhere;
            return;
        }
        if matches!(stop, Stop::Search)
            && let Some(entry) = self.versions.get(&batch.last, look.at)
        {
            batch.push_last(entry);
        }
        self.from = From::Key(match look.direction {
            Direction::Forward => successor(&batch.last),
            Direction::Backward => batch.last.clone(),
        });
        self.look.wanted = (self.look.wanted * 2).min(BATCH_KEYS);
    }
}

impl Look {
    /// Looks at the keys of a page from `index` on.
    fn forward(&self, page: &Page<Place>, mut index: usize, batch: &mut Batch) -> Stop {
        if index == page.len() {
            return Stop::Ended;
        }
        let mut last: &[u8] = &[];
        while batch.found.len() < self.wanted
            && let Some((key, seq, place)) = page.get(index)
        {
            if lies_beyond(&self.end, self.direction, key) {
                return Stop::Ended;
            }
            last = key;
            let mut wanted = index;
            if seq <= self.at {
                batch.push(key, entry(seq, *place));
            } else {
                wanted = page.skip(index, |seq| seq > self.at, || page.lower_bound(key, self.at));
                match page.get(wanted) {
                    None => {
                        batch.look_at(key);
                        return Stop::Search;
                    }
                    Some((_, seq, place)) if page.same_key(index, wanted) => batch.push(key, entry(seq, *place)),
                    Some(_) => wanted = index,
                }
            }
            index = page.skip(wanted, |_| true, || page.upper_bound(key, Seq::ZERO));
        }
        batch.look_at(last);
        Stop::GoOn
    }

    /// Looks at the keys of a page before `index`, from the last on.
    fn backward(&self, page: &Page<Place>, mut index: usize, batch: &mut Batch) -> Stop {
        if index == 0 {
            return Stop::Ended;
        }
        while batch.found.len() < self.wanted
            && let Some((key, seq, place)) = index.checked_sub(1).and_then(|last| page.get(last))
        {
            if lies_beyond(&self.end, self.direction, key) {
                return Stop::Ended;
            }
            batch.look_at(key);
            let lone = index.checked_sub(2).is_some_and(|before| !page.same_key(before, index - 1));
            if lone {
                if seq <= self.at {
                    batch.push(key, entry(seq, *place));
                }
                index -= 1;
                continue;
            }
            let start = page.lower_bound(key, Seq(u64::MAX));
            if start == 0 {
                return Stop::Search;
            }
            let newest = page.lower_bound(key, self.at);
            if newest < index
                && let Some((_, seq, place)) = page.get(newest)
            {
                batch.push(key, entry(seq, *place));
            }
            index = start;
        }
        Stop::GoOn
    }
}
