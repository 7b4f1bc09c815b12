//! The table of a run or a settled file: from the hash of a full key straight to its newest entry. It is checked when
//! the file is opened. It never denies a key that the file has. It may name the entry of another key (for about 1 in
//! 150 absent keys in a settled file, 1 in 16,000 in a run). Its answer is therefore a guess, which the row itself must
//! confirm.

use std::sync::Arc;

use super::super::format::Fields;
use super::output::{PartWriter, Spool};
use super::part::Part;
use crate::disk::{Disk, Mapping};
use recension_engine::Result;

/// A bucket is a cache line: 60 bytes of slots, the number used, and whether a key of this bucket had to go to the
/// next one.
const BUCKET_BYTES: usize = 64;
const COUNT_AT: usize = 60;
const OVERFLOWED_AT: usize = 61;
/// Buckets behind the last that a hash leads to, for keys that overflow from there.
const SPARE_BUCKETS: usize = 16;
/// The table is made in pieces of this size, or in this many pieces if it is very large, so that making it takes little
/// memory.
const PIECE_BYTES: usize = 8 << 20;
const PIECES_MAX: usize = 64;
/// Memory of each piece's waiting entries before they go to a temporary file.
const SPOOL_BYTES: usize = 256 << 10;
/// An entry that waits: hash, offset.
const WAITING_BYTES: usize = 16;

/// The layout of a table's slots.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Slots {
    bytes: usize,
    /// Slots in a bucket.
    count: usize,
    /// Slots in a bucket that are filled on average. The fewer, the fewer keys overflow to the next bucket.
    filled: u64,
    /// Bits of a slot that tell keys of a bucket apart; the others are the payload.
    tag_bits: u32,
}

/// Slots with the place of an entry: a payload of 38 bits.
pub(in super::super) const PLACES: Slots = Slots { bytes: 6, count: 10, filled: 7, tag_bits: 10 };
/// Slots with a whole entry, so that nothing else is read for it: a payload of 64 bits.
pub(in super::super) const ENTRIES: Slots = Slots { bytes: 10, count: 6, filled: 4, tag_bits: 16 };

impl Slots {
    fn payload_bits(&self) -> u32 {
        self.bytes as u32 * 8 - self.tag_bits
    }

    fn tag(&self, hash: u64) -> u64 {
        hash & ((1 << self.tag_bits) - 1)
    }

    /// Buckets that the hashes of this many keys lead to.
    fn buckets_for(&self, keys: u64) -> usize {
        keys.div_ceil(self.filled).max(1) as usize
    }
}

/// The hash of a full key for the table.
pub(in super::super) fn hash(full_key: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(full_key)
}

/// A table being filled: entries wait in spools, one for each piece of the table, until all are known.
pub(in super::super) struct TableBuilder {
    /// As many spools as pieces, each for an equal part of all hashes.
    waiting: Vec<Spool>,
    slots: Slots,
    entries: u64,
    /// A payload was too large for a slot.
    given_up: bool,
}

impl TableBuilder {
    /// A table for at most `keys` keys of the file `name`. Its size depends on the keys that are added.
    pub(in super::super) fn for_keys(disk: &Arc<dyn Disk>, name: &str, keys: u64, slots: Slots) -> Self {
        let pieces = slots.buckets_for(keys).div_ceil(PIECE_BYTES / BUCKET_BYTES).min(PIECES_MAX);
        let spool = |piece| Spool::new(disk, format!("{name}.{piece}.spool"), SPOOL_BYTES);
        TableBuilder { waiting: (0..pieces).map(spool).collect(), slots, entries: 0, given_up: false }
    }

    /// Adds the newest entry of the key with this hash.
    pub(in super::super) fn add(&mut self, hash: u64, payload: u64) -> Result<()> {
        self.given_up |= payload.checked_shr(self.slots.payload_bits()).is_some_and(|beyond| beyond > 0);
        self.entries += 1;
        let piece = first_bucket(hash, self.waiting.len());
        let piece = &mut self.waiting[piece];
        let mut entry = [0; WAITING_BYTES];
        entry[..8].copy_from_slice(&hash.to_le_bytes());
        entry[8..].copy_from_slice(&payload.to_le_bytes());
        piece.put(&entry)
    }

    /// Writes the table; nothing if it had to be given up.
    pub(in super::super) fn write(&self, part: &mut PartWriter<'_>) -> Result<()> {
        if self.given_up {
            return Ok(());
        }
        // Entries that find no room in their piece go into the next one. Those that find none at the very end are left
        // out: every bucket on their way is marked as overflowed, so a look-up ends in a search.
        let mut carried = Vec::new();
        // It is a multiple of the pieces, so that each piece has the buckets of its own hashes.
        let slots = self.slots;
        let own = slots.buckets_for(self.entries).div_ceil(self.waiting.len());
        let buckets = own * self.waiting.len();
        for (index, waiting) in self.waiting.iter().enumerate() {
            let start = index * own;
            let spare = if index + 1 == self.waiting.len() { SPARE_BUCKETS } else { 0 };
            let mut piece = Piece { lines: vec![0; (own + spare) * BUCKET_BYTES], slots, overflow: Vec::new() };
            for slot in std::mem::take(&mut carried) {
                piece.insert(0, slot);
            }
            waiting.read(WAITING_BYTES, |entries| {
                for entry in entries.chunks_exact(WAITING_BYTES) {
                    let mut fields = Fields(entry);
                    let (hash, payload) = (fields.u64().unwrap_or_default(), fields.u64().unwrap_or_default());
                    let slot = u128::from(payload) << slots.tag_bits | u128::from(slots.tag(hash));
                    piece.insert(first_bucket(hash, buckets) - start, slot);
                }
                Ok(())
            })?;
            part.put(&piece.lines)?;
            carried = piece.overflow;
        }
        Ok(())
    }
}

/// A part of the table in memory.
struct Piece {
    lines: Vec<u8>,
    slots: Slots,
    overflow: Vec<u128>,
}

impl Piece {
    fn insert(&mut self, mut bucket: usize, slot: u128) {
        let Slots { bytes, count: most, .. } = self.slots;
        while let Some(line) = self.lines.get_mut(bucket * BUCKET_BYTES..(bucket + 1) * BUCKET_BYTES) {
            let count = usize::from(line[COUNT_AT]);
            if count < most {
                line[count * bytes..][..bytes].copy_from_slice(&slot.to_le_bytes()[..bytes]);
                line[COUNT_AT] += 1;
                return;
            }
            line[OVERFLOWED_AT] = 1;
            bucket += 1;
        }
        self.overflow.push(slot);
    }
}

fn first_bucket(hash: u64, buckets: usize) -> usize {
    (((hash >> 32) * buckets as u64) >> 32) as usize
}

/// The table's answer for a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Guess {
    /// The file does not have it.
    Absent,
    /// If the file has it, this is the payload of its newest entry.
    Payload(u64),
    /// Search the file.
    Unknown,
}

impl Guess {
    pub(in super::super) fn payload(self) -> Option<u64> {
        if let Guess::Payload(payload) = self { Some(payload) } else { None }
    }
}

/// Begins to bring what a look-up of this hash reads first into the CPU's caches, so that several tables are waited
/// for at once. `table` is that of the file which `mapping` shows.
pub(in super::super) fn touch(mapping: &dyn Mapping, table: &Part, hash: u64) {
    if let Some(buckets) = buckets_of(table.len) {
        table.prefetch(mapping, first_bucket(hash, buckets) * BUCKET_BYTES, BUCKET_BYTES);
    }
}

/// Buckets that hashes lead to, in a table of this many bytes.
fn buckets_of(len: usize) -> Option<usize> {
    (len / BUCKET_BYTES).checked_sub(SPARE_BUCKETS).filter(|&buckets| buckets > 0)
}

/// Looks up the key with this hash in a table with such slots.
#[inline]
pub(in super::super) fn guess(table: &[u8], slots: Slots, hash: u64) -> Guess {
    let lines = table.len() / BUCKET_BYTES;
    let Some(buckets) = buckets_of(table.len()) else { return Guess::Unknown };
    let mut found = Guess::Absent;
    for bucket in first_bucket(hash, buckets)..lines {
        let line = &table[bucket * BUCKET_BYTES..][..BUCKET_BYTES];
        for slot in line[..COUNT_AT].chunks_exact(slots.bytes).take(usize::from(line[COUNT_AT])) {
            // Most slots are another key's: their first two bytes, which have the tag, tell that.
            if slots.tag(u64::from(u16::from_le_bytes([slot[0], slot[1]]))) == slots.tag(hash) {
                if found != Guess::Absent {
                    return Guess::Unknown;
                }
                let mut bytes = [0; 16];
                bytes[..slots.bytes].copy_from_slice(slot);
                found = Guess::Payload((u128::from_le_bytes(bytes) >> slots.tag_bits) as u64);
            }
        }
        if line[OVERFLOWED_AT] == 0 {
            return found;
        }
    }
    Guess::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::FsDisk;
    use crate::run::output::Output;

    fn table(slots: Slots, pieces: usize, payloads: impl Iterator<Item = u64>) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(FsDisk::new(dir.path()));
        let payloads: Vec<_> = payloads.collect();
        // Four times as many keys were announced; most do not come.
        let mut builder = TableBuilder::for_keys(&disk, "run", 4 * payloads.len() as u64, slots);
        builder.waiting = (0..pieces).map(|n| Spool::new(&disk, format!("{n}.spool"), 1000)).collect();
        for (n, payload) in payloads.iter().enumerate() {
            builder.add(hash(&n.to_be_bytes()), *payload).unwrap();
        }
        let mut output = Output::create(&*disk, "run".to_owned()).unwrap();
        output.part(|part| builder.write(part)).unwrap();
        output.finish().unwrap();
        drop(builder);
        assert_eq!(disk.list("").unwrap(), ["run"], "the spools are gone");
        std::fs::read(dir.path().join("run")).unwrap()
    }

    #[test]
    fn a_present_key_is_never_denied_and_few_absent_ones_are_guessed() {
        // The largest payload of each layout, and how many of 100,000 absent keys may be mistaken for another.
        for (slots, most, wrong_most) in [(PLACES, (1 << 38) - 1, 1_500), (ENTRIES, u64::MAX, 40)] {
            for pieces in [1, 2, 7] {
                let table = table(slots, pieces, (0..20_000).map(|n| most - n));
                let usual = 20_100 * BUCKET_BYTES / slots.filled as usize;
                assert!(table.len() < usual + SPARE_BUCKETS * BUCKET_BYTES, "{}", table.len());
                let mut unknown = 0;
                for n in 0..20_000 {
                    let found = guess(&table, slots, hash(&(n as usize).to_be_bytes()));
                    assert!(found == Guess::Payload(most - n) || found == Guess::Unknown, "{n}: {found:?}");
                    unknown += usize::from(found == Guess::Unknown);
                }
                assert!(unknown < wrong_most, "{unknown} of 20,000 keys have to be searched");
                let absent = (20_000..120_000usize).map(|n| guess(&table, slots, hash(&n.to_be_bytes())));
                let wrong = absent.filter(|guess| *guess != Guess::Absent).count();
                assert!(wrong < wrong_most, "{wrong} of 100,000 absent keys were guessed");
            }
        }
    }

    #[test]
    fn a_file_too_large_for_a_table_is_searched() {
        let found = guess(&table(PLACES, 1, [64, 1 << 38].into_iter()), PLACES, hash(&0usize.to_be_bytes()));
        assert_eq!(found, Guess::Unknown);
    }
}
