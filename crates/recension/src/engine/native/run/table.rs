//! The table of a run: from the hash of a full key straight to its newest entry. Checked when the run
//! is opened. It never denies a key that the run has; it may name an entry of another key (about 1 in
//! 150 look-ups of absent keys), so what it names is a guess that the row itself must confirm.

/// A bucket is a cache line: ten slots of six bytes, the number used, and whether a key of this bucket
/// had to go to the next one.
const BUCKET_BYTES: usize = 64;
const BUCKET_SLOTS: usize = 10;
const SLOT_BYTES: usize = 6;
const COUNT_AT: usize = 60;
const OVERFLOWED_AT: usize = 61;
/// Slots that are filled on average: the fewer, the fewer keys go to the next bucket.
const SLOTS_FILLED: u64 = 7;
/// Bits of a slot that tell keys of a bucket apart; the others are the entry's offset in the file.
const TAG_BITS: u32 = 10;
const OFFSET_BITS: u32 = 48 - TAG_BITS;
/// Most memory that is spent on making a table, in bytes. A larger run has none and is searched.
const TABLE_BYTES_MAX: u64 = 256 << 20;

/// The hash of a full key that the table works with.
pub(in super::super) fn hash(full_key: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(full_key)
}

/// A table being filled.
pub(super) struct TableBuilder(Vec<u8>);

impl TableBuilder {
    /// A table for at most `keys` keys; none if it would take too much memory.
    pub(super) fn for_keys(keys: u64) -> Self {
        let bytes = keys.div_ceil(SLOTS_FILLED).max(1) * BUCKET_BYTES as u64;
        TableBuilder(if bytes > TABLE_BYTES_MAX { Vec::new() } else { vec![0; bytes as usize] })
    }

    /// Says that the newest entry of the key with this hash lies at `offset`.
    pub(super) fn add(&mut self, hash: u64, offset: u64) {
        if offset >= 1 << OFFSET_BITS {
            self.0.clear();
        }
        let buckets = self.0.len() / BUCKET_BYTES;
        let Some(mut bucket) = first_bucket(hash, buckets) else { return };
        let slot = (offset << TAG_BITS | tag(hash)).to_le_bytes();
        // There are more slots than keys, so one is free.
        loop {
            let line = &mut self.0[bucket * BUCKET_BYTES..][..BUCKET_BYTES];
            let count = usize::from(line[COUNT_AT]);
            if count < BUCKET_SLOTS {
                line[count * SLOT_BYTES..][..SLOT_BYTES].copy_from_slice(&slot[..SLOT_BYTES]);
                line[COUNT_AT] += 1;
                return;
            }
            line[OVERFLOWED_AT] = 1;
            bucket = (bucket + 1) % buckets;
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

fn tag(hash: u64) -> u64 {
    hash & ((1 << TAG_BITS) - 1)
}

fn first_bucket(hash: u64, buckets: usize) -> Option<usize> {
    (buckets > 0).then_some((((hash >> 32) * buckets as u64) >> 32) as usize)
}

/// What a table knows of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Guess {
    /// The run does not have it.
    Absent,
    /// If the run has it, its newest entry lies at this offset.
    At(u64),
    /// Search the run.
    Unknown,
}

/// Looks the key with this hash up in a table.
pub(super) fn guess(table: &[u8], hash: u64) -> Guess {
    let buckets = table.len() / BUCKET_BYTES;
    let Some(mut bucket) = first_bucket(hash, buckets) else { return Guess::Unknown };
    let mut found = Guess::Absent;
    for _ in 0..buckets {
        let line = &table[bucket * BUCKET_BYTES..][..BUCKET_BYTES];
        for slot in line[..COUNT_AT].chunks_exact(SLOT_BYTES).take(usize::from(line[COUNT_AT])) {
            let mut bytes = [0; 8];
            bytes[..SLOT_BYTES].copy_from_slice(slot);
            let slot = u64::from_le_bytes(bytes);
            if slot & ((1 << TAG_BITS) - 1) == tag(hash) {
                if found != Guess::Absent {
                    return Guess::Unknown;
                }
                found = Guess::At(slot >> TAG_BITS);
            }
        }
        if line[OVERFLOWED_AT] == 0 {
            return found;
        }
        bucket = (bucket + 1) % buckets;
    }
    Guess::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_present_key_is_never_denied_and_few_absent_ones_are_guessed() {
        let mut builder = TableBuilder::for_keys(10_000);
        for n in 0..10_000u32 {
            builder.add(hash(&n.to_be_bytes()), u64::from(n) + 64);
        }
        let table = builder.into_bytes();
        for n in 0..10_000u32 {
            let guess = guess(&table, hash(&n.to_be_bytes()));
            assert!(guess == Guess::At(u64::from(n) + 64) || guess == Guess::Unknown, "{n}: {guess:?}");
        }
        let wrong = (10_000..110_000u32).filter(|n| guess(&table, hash(&n.to_be_bytes())) != Guess::Absent).count();
        assert!(wrong < 1_500, "{wrong} of 100,000 absent keys were guessed");
    }

    #[test]
    fn a_run_too_large_for_a_table_is_searched() {
        let mut builder = TableBuilder::for_keys(u64::MAX / 100);
        builder.add(1, 64);
        assert_eq!(guess(&builder.into_bytes(), 1), Guess::Unknown);
        let mut builder = TableBuilder::for_keys(10);
        builder.add(1, 1 << OFFSET_BITS);
        assert_eq!(guess(&builder.into_bytes(), 1), Guess::Unknown);
    }
}
