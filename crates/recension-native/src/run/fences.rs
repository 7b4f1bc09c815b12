//! Fences: the place and the first entry of each block of a section. Checked when the file is opened.

use std::borrow::Cow;

use super::super::entry::compare_versions;
use super::super::format::Fields;
use recension_engine::Seq;

/// Bytes of a fence before the keys: block offset, block length, start of the key.
pub(in super::super) const FENCE_BYTES: usize = 20;

/// The first entry of each block of a section.
pub(in super::super) struct Fences<'r> {
    pub(in super::super) bytes: Cow<'r, [u8]>,
    pub(in super::super) blocks: usize,
}

impl Fences<'_> {
    /// Offset and length of a block.
    pub(in super::super) fn place(&self, block: usize) -> Option<(u64, usize)> {
        let mut fields = Fields(self.bytes.get(block * FENCE_BYTES..)?);
        Some((fields.u64()?, fields.u32()? as usize))
    }

    fn key_start(&self, block: usize) -> Option<usize> {
        let keys_at = self.blocks * FENCE_BYTES;
        if block == self.blocks {
            return Some(self.bytes.len());
        }
        Some(keys_at + usize::try_from(Fields(self.bytes.get(block * FENCE_BYTES + 12..)?).u64()?).ok()?)
    }

    /// The first entry of a block, as it is stored.
    pub(in super::super) fn raw(&self, block: usize) -> Option<&[u8]> {
        self.bytes.get(self.key_start(block)?..self.key_start(block + 1)?)
    }

    /// Full key and seq of a block's first entry.
    pub(in super::super) fn key(&self, block: usize) -> Option<(&[u8], Seq)> {
        let fence = self.raw(block)?;
        let (key, seq) = fence.split_last_chunk::<8>()?;
        Some((key, Seq(!u64::from_be_bytes(*seq))))
    }

    /// The first block whose first entry is not before (`full_key`, `seq`).
    pub(in super::super) fn lower_bound(&self, full_key: &[u8], seq: Seq) -> usize {
        let (mut low, mut high) = (0, self.blocks);
        while low < high {
            let middle = usize::midpoint(low, high);
            let before = self.key(middle).is_some_and(|first| compare_versions(first, (full_key, seq)).is_lt());
            if before { low = middle + 1 } else { high = middle }
        }
        low
    }
}
