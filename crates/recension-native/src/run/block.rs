//! Blocks: about a kilobyte of index entries, sorted and checksummed. Pure: bytes in, values out. A block is checked
//! before anything in it is believed.

use super::super::entry::IndexEntry;
use super::super::entry::compare_versions;
use super::super::format::{Fields, Position};
use recension_engine::Seq;

/// A block is closed when it has grown to this size.
const BLOCK_BYTES_TARGET: usize = 1024;
const HEADER_BYTES: usize = 8;
pub(super) const ENTRY_FIXED_BYTES: usize = 16;
const DELETED_BIT: u32 = 1 << 31;

/// Entries of the block that is being filled.
#[derive(Default)]
pub(super) struct BlockBuilder {
    keys: Vec<u8>,
    entries: Vec<(usize, IndexEntry)>,
    prefix_len: usize,
}

impl BlockBuilder {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The first entry.
    pub(super) fn first(&self) -> Option<(&[u8], Seq)> {
        self.entries.first().map(|(_, entry)| (self.key(0), entry.seq))
    }

    fn key(&self, index: usize) -> &[u8] {
        let end = self.entries.get(index + 1).map_or(self.keys.len(), |(start, _)| *start);
        &self.keys[self.entries[index].0..end]
    }

    pub(super) fn push(&mut self, full_key: &[u8], entry: IndexEntry) {
        self.prefix_len = if self.entries.is_empty() {
            full_key.len()
        } else {
            shared_prefix(&self.key(0)[..self.prefix_len], full_key)
        };
        self.entries.push((self.keys.len(), entry));
        self.keys.extend_from_slice(full_key);
    }

    /// Whether it is large enough to be closed.
    pub(super) fn is_full(&self) -> bool {
        let count = self.entries.len();
        let suffixes = self.keys.len() - count * self.prefix_len;
        HEADER_BYTES + count * (2 + ENTRY_FIXED_BYTES) + self.prefix_len + suffixes >= BLOCK_BYTES_TARGET
    }

    /// The bytes of the block, to be written at `offset`; `each` is called with its entries. The builder is empty
    /// again.
    pub(super) fn finish(&mut self, offset: u64, mut each: impl FnMut(&[u8], IndexEntry)) -> Vec<u8> {
        let count = self.entries.len();
        let mut block = vec![0; HEADER_BYTES + 2 * count];
        block.extend_from_slice(&self.key(0)[..self.prefix_len]);
        for index in 0..count {
            let start = block.len() as u16;
            block[HEADER_BYTES + 2 * index..][..2].copy_from_slice(&start.to_le_bytes());
            let entry = self.entries[index].1;
            each(self.key(index), entry);
            let deleted = if entry.deleted { DELETED_BIT } else { 0 };
            block.extend(entry.seq.0.to_le_bytes());
            block.extend((entry.position.segment | deleted).to_le_bytes());
            block.extend(entry.position.offset.to_le_bytes());
            block.extend_from_slice(&self.key(index)[self.prefix_len..]);
        }
        block[4..6].copy_from_slice(&(count as u16).to_le_bytes());
        block[6..8].copy_from_slice(&(self.prefix_len as u16).to_le_bytes());
        let crc = block_crc(offset, &block);
        block[..4].copy_from_slice(&crc.to_le_bytes());
        self.keys.clear();
        self.entries.clear();
        block
    }
}

fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn block_crc(offset: u64, block: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&offset.to_le_bytes()), &block[4..])
}

/// The entry in its fixed-size part.
pub(super) fn decode_entry(fixed: &[u8; ENTRY_FIXED_BYTES]) -> IndexEntry {
    let mut fields = Fields(fixed);
    let seq = Seq(fields.u64().unwrap_or_default());
    let segment = fields.u32().unwrap_or_default();
    let position = Position { segment: segment & !DELETED_BIT, offset: fields.u32().unwrap_or_default() };
    IndexEntry { seq, position, deleted: segment & DELETED_BIT != 0 }
}

/// A checked block.
#[derive(Clone, Copy)]
pub(super) struct Block<'b> {
    bytes: &'b [u8],
    count: usize,
    prefix: &'b [u8],
}

impl<'b> Block<'b> {
    /// Checks the block that lies at `offset` of its run. The error is the reason.
    pub(super) fn check(bytes: &'b [u8], offset: u64) -> Result<Self, String> {
        let stored = Fields(bytes).u32().ok_or("the block is cut off")?;
        let computed = block_crc(offset, bytes);
        if stored != computed {
            return Err(format!("block checksum: expected {stored:08x}, found {computed:08x}"));
        }
        Self::parse(bytes).ok_or_else(|| "the block's lengths do not fit".to_owned())
    }

    /// A block that has been checked before.
    pub(super) fn parse(bytes: &'b [u8]) -> Option<Self> {
        let mut fields = Fields(bytes.get(4..)?);
        let count = usize::from(fields.u16()?);
        let prefix_len = usize::from(fields.u16()?);
        fields.slice(2 * count)?;
        let prefix = fields.slice(prefix_len)?;
        (count > 0).then_some(Block { bytes, count, prefix })
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The fixed part and the rest of the key of an entry; `None` if the block is malformed.
    fn raw(&self, index: usize) -> Option<(&'b [u8; ENTRY_FIXED_BYTES], &'b [u8])> {
        let start_of =
            |index| -> Option<usize> { Some(usize::from(Fields(self.bytes.get(HEADER_BYTES + 2 * index..)?).u16()?)) };
        let start = start_of(index)?;
        let end = if index + 1 < self.count { start_of(index + 1)? } else { self.bytes.len() };
        self.bytes.get(start..end)?.split_first_chunk()
    }

    /// The entry at `index`, and the part of its key behind the block's prefix.
    fn entry(&self, index: usize) -> Option<(IndexEntry, &'b [u8])> {
        let (fixed, rest) = self.raw(index)?;
        Some((decode_entry(fixed), rest))
    }

    /// The entry at `index`; its full key is written to `key`.
    pub(super) fn read(&self, index: usize, key: &mut Vec<u8>) -> Option<IndexEntry> {
        let (entry, rest) = self.entry(index)?;
        key.clear();
        key.extend_from_slice(self.prefix);
        key.extend_from_slice(rest);
        Some(entry)
    }

    /// The index of the first entry not before (`full_key`, `seq`) in the order of versions.
    pub(super) fn lower_bound(&self, full_key: &[u8], seq: Seq) -> usize {
        let head = &full_key[..full_key.len().min(self.prefix.len())];
        match head.cmp(self.prefix) {
            std::cmp::Ordering::Less => return 0,
            std::cmp::Ordering::Greater => return self.count,
            std::cmp::Ordering::Equal => {}
        }
        let rest_of_key = &full_key[self.prefix.len()..];
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = usize::midpoint(low, high);
            let before = self.raw(middle).is_some_and(|(fixed, rest)| {
                let entry_seq = Seq(Fields(fixed).u64().unwrap_or_default());
                compare_versions((rest, entry_seq), (rest_of_key, seq)).is_lt()
            });
            if before { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The newest version of `full_key` not newer than `at`, if it is in this block.
    pub(super) fn get(&self, full_key: &[u8], at: Seq) -> Option<IndexEntry> {
        let index = self.lower_bound(full_key, at);
        let (entry, rest) = (index < self.count).then(|| self.entry(index))??;
        full_key.strip_prefix(self.prefix).is_some_and(|rest_of_key| rest_of_key == rest).then_some(entry)
    }
}
