//! The table of a part of the index in memory: from the hash of a full key to its newest version in the part, without a
//! search of the sorted keys. Like a run's table it only guesses which key a version belongs to; the row itself
//! confirms it. One thread inserts; any number read without locks.
//!
//! Levels of growing size are filled one after the other and never rebuilt. No insert therefore waits for a rehash, and
//! a later level has newer versions. A look-up of a key that the part does not have asks every level. The first one is
//! therefore as large as the part is expected to be: then most tables have one level. A level is open addressing with
//! linear probing; a slot leads to a list of versions, newest first.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::entry::IndexEntry;
use super::format::Position;
use super::run::Hint;
use crate::disk::fetch;
use recension_engine::Seq;

/// Versions that the first level has room for: the least, also if nothing is known of their number, and the most.
const FIRST_LEVEL_ENTRIES: usize = 64;
const FIRST_LEVEL_ENTRIES_MAX: usize = 1 << 20;
/// For this many expected versions, one more may come before a second level is needed.
const SPARE_PART: usize = 4;
/// Each level has room for this many times as many versions as the one before.
const GROWTH: usize = 4;
const LEVELS: usize = 12;
/// No level has room for more. Versions beyond the last level are found by a search.
const LEVEL_ENTRIES_MAX: usize = 1 << 28;
/// Levels of this many slots, 64 KiB, are in the CPU's caches most of the time.
const SLOTS_NEAR: usize = 8 << 10;
/// Slots that are looked at before the table gives up.
const PROBES_MAX: usize = 64;
/// Newer versions that are stepped over before a search is cheaper.
const STEPS_MAX: usize = 8;
/// Entries are allocated in pieces of this many.
const CHUNK_ENTRIES: usize = 1024;
/// Bytes of an entry besides its part of the slots.
pub(super) const ENTRY_BYTES: u64 = 24;

/// The table; the module's text describes it.
pub(super) struct MemoryTable {
    /// Versions that the first level has room for.
    first: usize,
    levels: [OnceLock<Level>; LEVELS],
    /// Levels in use.
    used: AtomicUsize,
    /// The last level is full: versions were left out.
    incomplete: AtomicBool,
}

struct Level {
    /// 0: empty. Otherwise 32 bits of the hash, then the number of the newest entry and one.
    slots: Box<[AtomicU64]>,
    chunks: Box<[OnceLock<Box<[Entry]>>]>,
    entries: AtomicUsize,
}

/// It is written before a slot or a newer entry leads to it, and never again.
#[derive(Default)]
struct Entry {
    seq: AtomicU64,
    position: AtomicU64,
    /// The number of the next older entry and one, or 0; the lowest bit says "deleted".
    older: AtomicU64,
}

impl MemoryTable {
    /// A table for about this many versions; 0: the number is unknown.
    pub(super) fn for_about(versions: u64) -> Self {
        let versions = usize::try_from(versions).unwrap_or(usize::MAX).min(FIRST_LEVEL_ENTRIES_MAX);
        let first = versions + versions / SPARE_PART;
        MemoryTable {
            first: first.clamp(FIRST_LEVEL_ENTRIES, FIRST_LEVEL_ENTRIES_MAX),
            levels: [const { OnceLock::new() }; LEVELS],
            used: AtomicUsize::new(0),
            incomplete: AtomicBool::new(false),
        }
    }

    /// Adds a version that is newer than all others of its key. Returns the bytes of memory that this took beyond
    /// [`ENTRY_BYTES`]. Only one thread may insert.
    pub(super) fn insert(&self, hash: u64, entry: IndexEntry) -> u64 {
        let used = self.used.load(Ordering::Relaxed);
        let newest = used.checked_sub(1).and_then(|newest| self.levels[newest].get());
        if let Some(level) = newest
            && level.entries.load(Ordering::Relaxed) < capacity(self.first, used - 1)
        {
            level.insert(hash, entry);
            return 0;
        }
        let Some(next) = self.levels.get(used) else {
            self.incomplete.store(true, Ordering::Release);
            return 0;
        };
        let level = next.get_or_init(|| Level::new(capacity(self.first, used)));
        level.insert(hash, entry);
        self.used.store(used + 1, Ordering::Release);
        (level.slots.len() * size_of::<AtomicU64>()) as u64
    }

    /// Begins to fetch the parts of the levels that [`MemoryTable::hint`] will read, if they may not be in the CPU's
    /// caches.
    pub(super) fn touch(&self, hash: u64) {
        let used = self.used.load(Ordering::Acquire);
        let levels = self.levels.iter().take(used).filter_map(OnceLock::get);
        for level in levels.filter(|level| level.slots.len() > SLOTS_NEAR) {
            level.slots.get(level.first_slot(hash)).into_iter().for_each(fetch);
        }
    }

    /// The newest version not newer than `at` of the key with this hash.
    pub(super) fn hint(&self, hash: u64, at: Seq) -> Hint {
        if self.incomplete.load(Ordering::Acquire) {
            return Hint::Unknown;
        }
        let used = self.used.load(Ordering::Acquire);
        for level in self.levels.iter().take(used).rev().filter_map(OnceLock::get) {
            match level.hint(hash, at) {
                Hint::Absent => {}
                found => return found,
            }
        }
        Hint::Absent
    }
}

/// Bytes of the slots of a table with this many versions, none of which was expected.
pub(super) fn slot_bytes(versions: u64) -> u64 {
    let (mut room, mut bytes) = (0, 0);
    for level in 0..LEVELS {
        if room >= versions {
            break;
        }
        room += capacity(FIRST_LEVEL_ENTRIES, level) as u64;
        bytes += (capacity(FIRST_LEVEL_ENTRIES, level) * 2 * size_of::<AtomicU64>()) as u64;
    }
    bytes
}

fn capacity(first: usize, level: usize) -> usize {
    first.saturating_mul(GROWTH.pow(level as u32)).min(LEVEL_ENTRIES_MAX)
}

impl Level {
    fn new(capacity: usize) -> Self {
        Level {
            slots: (0..capacity * 2).map(|_| AtomicU64::new(0)).collect(),
            chunks: (0..capacity.div_ceil(CHUNK_ENTRIES)).map(|_| OnceLock::new()).collect(),
            entries: AtomicUsize::new(0),
        }
    }

    fn first_slot(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize
    }

    /// The slots in which a key with this hash may be, in the order of search.
    fn probes(&self, hash: u64) -> impl Iterator<Item = &AtomicU64> {
        let (front, back) = self.slots.split_at(self.first_slot(hash));
        back.iter().chain(front).take(PROBES_MAX)
    }

    fn entry(&self, number: usize) -> Option<&Entry> {
        self.chunks.get(number / CHUNK_ENTRIES)?.get()?.get(number % CHUNK_ENTRIES)
    }

    /// If other versions crowd its place, it is left out, and a look-up there ends in a search: no slot is ever emptied
    /// again.
    fn insert(&self, hash: u64, entry: IndexEntry) {
        let tag = tag(hash);
        let taken = |slot: &&AtomicU64| {
            let found = slot.load(Ordering::Relaxed);
            found == 0 || found >> 32 == tag
        };
        let Some(slot) = self.probes(hash).find(taken) else { return };
        let number = self.entries.load(Ordering::Relaxed);
        let Some(chunk) = self.chunks.get(number / CHUNK_ENTRIES) else { return };
        let room = chunk.get_or_init(|| {
            let first = number - number % CHUNK_ENTRIES;
            let left = self.slots.len() / 2 - first;
            (0..left.min(CHUNK_ENTRIES)).map(|_| Entry::default()).collect()
        });
        let Some(place) = room.get(number % CHUNK_ENTRIES) else { return };
        let older = slot.load(Ordering::Relaxed) & u64::from(u32::MAX);
        place.seq.store(entry.seq.0, Ordering::Relaxed);
        let position = u64::from(entry.position.segment) << 32 | u64::from(entry.position.offset);
        place.position.store(position, Ordering::Relaxed);
        place.older.store(older << 1 | u64::from(entry.deleted), Ordering::Relaxed);
        self.entries.store(number + 1, Ordering::Relaxed);
        slot.store(tag << 32 | (number as u64 + 1), Ordering::Release);
    }

    fn hint(&self, hash: u64, at: Seq) -> Hint {
        let tag = tag(hash);
        for slot in self.probes(hash) {
            let found = slot.load(Ordering::Acquire);
            if found == 0 {
                return Hint::Absent;
            }
            if found >> 32 == tag {
                return self.version(found & u64::from(u32::MAX), at);
            }
        }
        Hint::Unknown
    }

    /// The first version that is not newer than `at`, in the list that begins with number `newest` less one.
    fn version(&self, newest: u64, at: Seq) -> Hint {
        let mut number = newest;
        for _ in 0..STEPS_MAX {
            let Some(index) = number.checked_sub(1) else { return Hint::Absent };
            let Some(entry) = self.entry(index as usize) else { return Hint::Unknown };
            let (seq, older) = (Seq(entry.seq.load(Ordering::Relaxed)), entry.older.load(Ordering::Relaxed));
            if seq <= at {
                let position = entry.position.load(Ordering::Relaxed);
                let position = Position { segment: (position >> 32) as u32, offset: position as u32 };
                return Hint::Perhaps(IndexEntry { seq, position, deleted: older & 1 == 1 });
            }
            number = older >> 1;
        }
        Hint::Unknown
    }
}

/// The bits of a hash that a slot keeps; the first slot follows from the others.
fn tag(hash: u64) -> u64 {
    hash & u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::run::hash;

    fn entry(seq: u64) -> IndexEntry {
        let position = Position { segment: (seq >> 40) as u32 + 1, offset: seq as u32 * 8 };
        IndexEntry { seq: Seq(seq), position, deleted: seq.is_multiple_of(7) }
    }

    #[test]
    fn any_version_of_any_key_is_found_and_what_is_not_there_is_absent() {
        for expected in [0, 1_000, 60_000, u64::MAX] {
            any_version_is_found(&MemoryTable::for_about(expected));
        }
    }

    fn any_version_is_found(table: &MemoryTable) {
        let mut versions: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for seq in 1..=60_000_u64 {
            // Some keys have one version, some have many.
            let key = if seq % 5 == 0 { seq % 1000 } else { seq };
            table.insert(hash(&key.to_be_bytes()), entry(seq));
            versions.entry(key).or_default().push(seq);
        }
        for key in 0..70_000_u64 {
            let written = versions.get(&key).map_or(&[][..], |seqs| seqs);
            for at in written.iter().flat_map(|seq| [seq - 1, *seq]).chain([0, 30_000, u64::MAX]) {
                let expected = written.iter().rev().find(|seq| **seq <= at).map(|seq| entry(*seq));
                match table.hint(hash(&key.to_be_bytes()), Seq(at)) {
                    Hint::Absent => assert_eq!(expected, None, "key {key} as of {at}"),
                    Hint::Perhaps(found) => assert_eq!(expected, Some(found), "key {key} as of {at}"),
                    Hint::Unknown => {
                        let newer = written.iter().filter(|seq| **seq > at).count();
                        assert!(newer >= STEPS_MAX, "key {key} as of {at} has only {newer} newer versions");
                    }
                }
            }
        }
    }

    #[test]
    fn a_table_that_was_expected_to_be_so_large_has_one_level() {
        let table = MemoryTable::for_about(10_000);
        let grown: u64 = (0..11_000).map(|seq: u64| table.insert(hash(&seq.to_be_bytes()), entry(seq))).sum();
        assert_eq!(grown, 2 * 8 * 12_500, "bytes of slots");
        assert_eq!(table.used.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn keys_with_equal_hashes_share_their_list_and_the_newest_is_first() {
        let table = MemoryTable::for_about(0);
        table.insert(42, entry(1));
        table.insert(42, entry(2));
        assert_eq!(table.hint(42, Seq(9)), Hint::Perhaps(entry(2)));
        assert_eq!(table.hint(42, Seq(1)), Hint::Perhaps(entry(1)));
        assert_eq!(table.hint(42, Seq(0)), Hint::Absent);
        assert_eq!(table.hint(43, Seq(9)), Hint::Absent);
    }

    #[test]
    fn hashes_made_to_crowd_one_place_make_the_table_give_up_and_not_lie() {
        let table = MemoryTable::for_about(0);
        for seq in 1..=1_000 {
            table.insert(seq, entry(seq));
        }
        for seq in 1..=1_100 {
            match table.hint(seq, Seq(u64::MAX)) {
                Hint::Perhaps(found) => assert_eq!(found, entry(seq)),
                Hint::Absent => panic!("{seq} is denied, or nothing was crowded"),
                Hint::Unknown => {}
            }
        }
    }

    #[test]
    fn readers_beside_the_writer_find_all_that_was_inserted_before() {
        let table = MemoryTable::for_about(0);
        let head = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for seq in 1..=100_000_u64 {
                    table.insert(hash(&(seq % 30_000).to_be_bytes()), entry(seq));
                    head.store(seq, Ordering::Release);
                }
            });
            scope.spawn(|| {
                let mut looked = 0_u64;
                while looked < 200_000 {
                    let at = head.load(Ordering::Acquire);
                    let newest = looked * 7919 % at.max(1) + 1;
                    looked += 1;
                    if newest > at || newest + 30_000 <= at {
                        continue;
                    }
                    let found = table.hint(hash(&(newest % 30_000).to_be_bytes()), Seq(at));
                    assert_eq!(found, Hint::Perhaps(entry(newest)), "as of {at}");
                }
            });
        });
    }
}
