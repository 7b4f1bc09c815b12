//! The part of the index that is in memory: every version committed since the newest run, sorted by full key, newest
//! version first. One thread inserts; any number read at the same time.

use std::ops::Bound;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering as Memory};

use super::chain::LogPoint;
use super::entry::IndexEntry;
use super::format::Position;
use super::mem_table::{self, MemoryTable};
use super::run::{Hint, hash};
use super::sorted::{Gathered, SortedCursor, SortedVersions};
use recension_engine::{Direction, Seq};

/// About how many bytes an entry takes besides its key and its part of the table's slots: pages are two thirds full.
const ENTRY_OVERHEAD_BYTES: u64 = 80 + mem_table::ENTRY_BYTES;

/// A part of the index in memory.
pub(super) struct MemoryIndex {
    versions: SortedVersions,
    table: MemoryTable,
    bytes: AtomicU64,
    /// The seq of the oldest version.
    first: AtomicU64,
    /// Set when nothing more is added: its last commit, and the log position behind it.
    closed: OnceLock<LogPoint>,
}

impl MemoryIndex {
    /// A part for about this many versions; 0: the number is unknown.
    pub(super) fn for_about(versions: u64) -> Self {
        MemoryIndex {
            versions: SortedVersions::new(),
            table: MemoryTable::for_about(versions),
            bytes: AtomicU64::new(0),
            first: AtomicU64::new(u64::MAX),
            closed: OnceLock::new(),
        }
    }

    /// Adds a version. A second one with the same key and seq replaces the first. Only one thread may insert.
    pub(super) fn insert(&self, full_key: &[u8], seq: Seq, position: Position, deleted: bool) {
        self.count(full_key, IndexEntry { seq, position, deleted });
        self.versions.insert(full_key, seq, position, deleted);
    }

    /// Begins to add gathered versions, in the order of commits: [`MemoryIndex::sort_in`] ends it. Only one thread may
    /// insert.
    pub(super) fn count_all(&self, gathered: &Gathered) {
        gathered.each(|full_key, entry| self.count(full_key, entry));
    }

    /// Adds counted versions, and empties `counted`. Only one thread may insert.
    pub(super) fn sort_in(&self, counted: &mut Gathered) {
        self.versions.insert_all(counted);
    }

    /// The [`MemoryIndex::bytes`] of this many versions and bytes of keys.
    pub(super) fn bytes_of(versions: u64, key_bytes: u64) -> u64 {
        key_bytes + versions * ENTRY_OVERHEAD_BYTES + mem_table::slot_bytes(versions)
    }

    fn count(&self, full_key: &[u8], entry: IndexEntry) {
        let grown = self.table.insert(hash(full_key), entry);
        self.bytes.fetch_add(full_key.len() as u64 + ENTRY_OVERHEAD_BYTES + grown, Memory::Relaxed);
        self.first.fetch_min(entry.seq.0, Memory::Relaxed);
    }

    /// Closes the part: nothing more is added.
    pub(super) fn close(&self, point: LogPoint) {
        let _ = self.closed.set(point);
    }

    /// The point of the log behind its last commit, once it is closed.
    pub(super) fn closed(&self) -> Option<LogPoint> {
        self.closed.get().copied()
    }

    /// About how many bytes of memory it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Memory::Relaxed)
    }

    /// The seq of its oldest version; the greatest there is if it has none.
    pub(super) fn first(&self) -> Seq {
        Seq(self.first.load(Memory::Relaxed))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.versions.len() == 0
    }

    /// Number of versions.
    pub(super) fn len(&self) -> u64 {
        self.versions.len()
    }

    /// Begins to fetch what [`MemoryIndex::hint`] will read.
    pub(super) fn touch(&self, hash: u64) {
        self.table.touch(hash);
    }

    /// A hint, without a search, of the newest version not newer than `at` of the key with this hash.
    pub(super) fn hint(&self, hash: u64, at: Seq) -> Hint {
        self.table.hint(hash, at)
    }

    /// The newest version of a key that is not newer than `at`.
    pub(super) fn get(&self, full_key: &[u8], at: Seq) -> Option<IndexEntry> {
        self.versions.get(full_key, at)
    }

    /// Shows the newest version of the first key from `full_key` on, if there is one.
    pub(super) fn first_from(&self, full_key: &[u8], see: impl FnOnce(&[u8], IndexEntry)) {
        self.versions.first_from(full_key, see);
    }

    /// Every version in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Vec<u8>, IndexEntry)> + '_ {
        self.versions.iter()
    }

    /// For each key within bounds, its newest version not newer than `at`. `start` and `end` are in walking order.
    pub(super) fn cursor(
        &self,
        start: Bound<Vec<u8>>,
        end: Bound<Vec<u8>>,
        at: Seq,
        direction: Direction,
    ) -> SortedCursor<'_> {
        self.versions.cursor(start, end, at, direction)
    }
}
