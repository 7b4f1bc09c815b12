//! The part of the index that is in memory: every version committed since the newest run, sorted by
//! full key, newest version first. One thread inserts; any number read without locks.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering as Memory};

use crossbeam_skiplist::SkipMap;
use crossbeam_skiplist::map::Entry;

use super::super::{CommitInfo, Direction, Seq};
use super::format::Position;
use super::index::IndexEntry;
use super::mem_table::{self, MemoryTable};
use super::run::{Hint, hash};

/// What an entry costs beside its key and its part of the table's slots, about, in bytes.
const ENTRY_OVERHEAD_BYTES: u64 = 96 + mem_table::ENTRY_BYTES;

/// Versions of one key that a range steps over before it seeks instead.
const STEPS_BEFORE_SEEK: usize = 4;

/// A part of the index in memory.
pub(super) struct MemoryIndex {
    map: SkipMap<VersionKey, (Position, bool)>,
    table: MemoryTable,
    bytes: AtomicU64,
    /// Set when nothing more is added: its last commit, and the log position behind it.
    closed: OnceLock<(CommitInfo, Position)>,
}

struct VersionKey {
    full_key: Box<[u8]>,
    seq: Seq,
}

/// A version key by reference, for look-ups.
trait AsVersion {
    fn version(&self) -> (&[u8], Seq);
}

impl AsVersion for VersionKey {
    fn version(&self) -> (&[u8], Seq) {
        (&self.full_key, self.seq)
    }
}

impl AsVersion for (&[u8], Seq) {
    fn version(&self) -> (&[u8], Seq) {
        *self
    }
}

/// Order of versions: key ascending, then newest first.
pub(super) fn compare_versions(a: (&[u8], Seq), b: (&[u8], Seq)) -> Ordering {
    a.0.cmp(b.0).then_with(|| b.1.cmp(&a.1))
}

impl Ord for dyn AsVersion + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_versions(self.version(), other.version())
    }
}
impl PartialOrd for dyn AsVersion + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for dyn AsVersion + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.version() == other.version()
    }
}
impl Eq for dyn AsVersion + '_ {}

impl Ord for VersionKey {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_versions(self.version(), other.version())
    }
}
impl PartialOrd for VersionKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for VersionKey {
    fn eq(&self, other: &Self) -> bool {
        self.version() == other.version()
    }
}
impl Eq for VersionKey {}

impl<'q> Borrow<dyn AsVersion + 'q> for VersionKey {
    fn borrow(&self) -> &(dyn AsVersion + 'q) {
        self
    }
}

impl MemoryIndex {
    pub(super) fn new() -> Self {
        MemoryIndex {
            map: SkipMap::new(),
            table: MemoryTable::new(),
            bytes: AtomicU64::new(0),
            closed: OnceLock::new(),
        }
    }

    /// Adds a version. A second one of the same key and seq takes the first one's place. Only one thread
    /// may insert.
    pub(super) fn insert(&self, full_key: Box<[u8]>, seq: Seq, position: Position, deleted: bool) {
        let grown = self.table.insert(hash(&full_key), IndexEntry { seq, position, deleted });
        self.bytes.fetch_add(full_key.len() as u64 + ENTRY_OVERHEAD_BYTES + grown, Memory::Relaxed);
        self.map.insert(VersionKey { full_key, seq }, (position, deleted));
    }

    /// Nothing more is added.
    pub(super) fn close(&self, last: CommitInfo, end: Position) {
        let _ = self.closed.set((last, end));
    }

    /// The last commit and the log position behind it, once nothing more is added.
    pub(super) fn closed(&self) -> Option<(CommitInfo, Position)> {
        self.closed.get().copied()
    }

    /// Bytes of memory that it takes, about.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Memory::Relaxed)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Number of versions.
    pub(super) fn len(&self) -> u64 {
        self.map.len() as u64
    }

    /// What is known, without a search, of the newest version not newer than `at` of the key with this hash.
    pub(super) fn hint(&self, hash: u64, at: Seq) -> Hint {
        self.table.hint(hash, at)
    }

    /// The newest version of a key that is not newer than `at`.
    pub(super) fn get(&self, full_key: &[u8], at: Seq) -> Option<IndexEntry> {
        let entry = self.first_from(full_key, at)?;
        (*entry.key().full_key == *full_key).then(|| index_entry(&entry))
    }

    /// The first version, in order, of those from (`full_key`, `at`) on.
    fn first_from(&self, full_key: &[u8], at: Seq) -> Option<Entry<'_, VersionKey, (Position, bool)>> {
        let bound: &(dyn AsVersion + '_) = &(full_key, at);
        self.map.lower_bound(Bound::Included(bound))
    }

    /// Every version in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Box<[u8]>, IndexEntry)> + '_ {
        self.map.iter().map(|entry| (entry.key().full_key.clone(), index_entry(&entry)))
    }

    /// For each key within bounds, its newest version not newer than `at`.
    pub(super) fn cursor(
        &self,
        start: Bound<Vec<u8>>,
        end: Bound<Vec<u8>>,
        at: Seq,
        direction: Direction,
    ) -> MemoryCursor<'_> {
        MemoryCursor { index: self, at, end, state: CursorState::Seek(start), direction }
    }
}

fn index_entry(entry: &Entry<'_, VersionKey, (Position, bool)>) -> IndexEntry {
    let (position, deleted) = *entry.value();
    IndexEntry { seq: entry.key().seq, position, deleted }
}

/// Walks the keys of a [`MemoryIndex`]. `start` and `end` are in walking order.
pub(super) struct MemoryCursor<'i> {
    index: &'i MemoryIndex,
    at: Seq,
    direction: Direction,
    end: Bound<Vec<u8>>,
    state: CursorState<'i>,
}

enum CursorState<'i> {
    /// Begin at this bound.
    Seek(Bound<Vec<u8>>),
    /// On an entry of the next key that has not been looked at.
    On(Entry<'i, VersionKey, (Position, bool)>),
    Ended,
}

impl<'i> MemoryCursor<'i> {
    /// Moves to the next key that has a version, writes it to `key` and answers the version.
    pub(super) fn next(&mut self, key: &mut Vec<u8>) -> Option<IndexEntry> {
        loop {
            let entry = match std::mem::replace(&mut self.state, CursorState::Ended) {
                CursorState::Ended => return None,
                CursorState::On(entry) => entry,
                CursorState::Seek(bound) => self.seek(&bound)?,
            };
            if self.is_beyond_end(&entry.key().full_key) {
                return None;
            }
            let found = match self.direction {
                Direction::Forward => self.newest_forward(&entry),
                Direction::Backward => self.newest_backward(&entry),
            };
            key.clear();
            key.extend_from_slice(&entry.key().full_key);
            self.state = self.after(entry);
            if found.is_some() {
                return found;
            }
        }
    }

    fn seek(&self, bound: &Bound<Vec<u8>>) -> Option<Entry<'i, VersionKey, (Position, bool)>> {
        // Versions of a key are ordered newest first: Seq(u64::MAX) lies before them all, ZERO behind.
        let (full_key, seq): (&[u8], Seq) = match (bound, self.direction) {
            (Bound::Unbounded, Direction::Forward) => return self.index.map.front(),
            (Bound::Unbounded, Direction::Backward) => return self.index.map.back(),
            (Bound::Included(key), Direction::Forward) | (Bound::Excluded(key), Direction::Backward) => {
                (key, Seq(u64::MAX))
            }
            (Bound::Excluded(key), Direction::Forward) | (Bound::Included(key), Direction::Backward) => {
                (key, Seq::ZERO)
            }
        };
        let bound: &(dyn AsVersion + '_) = &(full_key, seq);
        match self.direction {
            Direction::Forward => self.index.map.lower_bound(Bound::Excluded(bound)),
            Direction::Backward => self.index.map.upper_bound(Bound::Excluded(bound)),
        }
    }

    fn is_beyond_end(&self, key: &[u8]) -> bool {
        match (&self.end, self.direction) {
            (Bound::Unbounded, _) => false,
            (Bound::Included(end), Direction::Forward) => key > end.as_slice(),
            (Bound::Excluded(end), Direction::Forward) => key >= end.as_slice(),
            (Bound::Included(end), Direction::Backward) => key < end.as_slice(),
            (Bound::Excluded(end), Direction::Backward) => key <= end.as_slice(),
        }
    }

    /// `entry` is the newest of its key.
    fn newest_forward(&self, entry: &Entry<'i, VersionKey, (Position, bool)>) -> Option<IndexEntry> {
        if entry.key().seq <= self.at {
            return Some(index_entry(entry));
        }
        self.index.get(&entry.key().full_key, self.at)
    }

    /// `entry` is the oldest of its key.
    fn newest_backward(&self, entry: &Entry<'i, VersionKey, (Position, bool)>) -> Option<IndexEntry> {
        if entry.key().seq > self.at {
            return None;
        }
        self.index.get(&entry.key().full_key, self.at)
    }

    /// The state that begins at the key after `entry`'s: a few steps, then a seek, so that a key with
    /// many versions costs no more than one with a few.
    fn after(&self, entry: Entry<'i, VersionKey, (Position, bool)>) -> CursorState<'i> {
        let mut next = Some(entry);
        for _ in 0..STEPS_BEFORE_SEEK {
            let Some(entry) = next else { return CursorState::Ended };
            let stepped = match self.direction {
                Direction::Forward => entry.next(),
                Direction::Backward => entry.prev(),
            };
            match stepped {
                None => return CursorState::Ended,
                Some(step) if step.key().full_key != entry.key().full_key => return CursorState::On(step),
                Some(step) => next = Some(step),
            }
        }
        match next {
            Some(entry) => CursorState::Seek(Bound::Excluded(entry.key().full_key.to_vec())),
            None => CursorState::Ended,
        }
    }
}
