//! A filter that tells which keys a run certainly does not have: the split-block Bloom filter of the
//! Parquet format (<https://github.com/apache/parquet-format/blob/master/BloomFilter.md>) over XXH3.
//! It may say yes to an absent key (about 1 in 100); it must never say no to a present one.

/// Bytes of a filter block: one cache line's half, one bit set in each of its eight words.
const BLOCK_BYTES: usize = 32;
const BITS_PER_KEY: u64 = 10;

const SALT: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// The hash of a full key that the filter works with.
pub(in super::super) fn hash(full_key: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(full_key)
}

/// A filter being filled.
pub(super) struct FilterBuilder(Vec<u8>);

impl FilterBuilder {
    /// A filter for at most `keys` keys.
    pub(super) fn for_keys(keys: u64) -> Self {
        let blocks = (keys * BITS_PER_KEY).div_ceil(BLOCK_BYTES as u64 * 8).max(1);
        FilterBuilder(vec![0; blocks as usize * BLOCK_BYTES])
    }

    pub(super) fn add(&mut self, hash: u64) {
        let at = block_at(hash, self.0.len());
        for (word, bit) in self.0[at..at + BLOCK_BYTES].chunks_exact_mut(4).zip(bits(hash)) {
            for (byte, set) in word.iter_mut().zip(bit.to_le_bytes()) {
                *byte |= set;
            }
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Whether the key with this hash may be in the filter.
pub(super) fn may_contain(filter: &[u8], hash: u64) -> bool {
    let at = block_at(hash, filter.len());
    let Some(block) = filter.get(at..at + BLOCK_BYTES) else { return true };
    block.chunks_exact(4).zip(bits(hash)).all(|(word, bit)| {
        let word = word.first_chunk().map_or(u32::MAX, |word| u32::from_le_bytes(*word));
        word & bit != 0
    })
}

fn block_at(hash: u64, filter_bytes: usize) -> usize {
    let blocks = (filter_bytes / BLOCK_BYTES) as u64;
    (((hash >> 32) * blocks) >> 32) as usize * BLOCK_BYTES
}

fn bits(hash: u64) -> impl Iterator<Item = u32> {
    SALT.into_iter().map(move |salt| 1 << ((hash as u32).wrapping_mul(salt) >> 27))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_present_key_is_never_denied_and_few_absent_ones_are_let_through() {
        let mut builder = FilterBuilder::for_keys(10_000);
        for n in 0..10_000u32 {
            builder.add(hash(&n.to_be_bytes()));
        }
        let filter = builder.into_bytes();
        assert!((0..10_000u32).all(|n| may_contain(&filter, hash(&n.to_be_bytes()))));
        let wrong = (10_000..110_000u32).filter(|n| may_contain(&filter, hash(&n.to_be_bytes()))).count();
        assert!(wrong < 3_000, "{wrong} of 100,000 absent keys were let through");
    }
}
