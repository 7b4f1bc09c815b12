//! Blocks of settled files: a header and a payload that may be compressed. No block needs another one. Pure: bytes in,
//! values out. A block is checked before anything in it is believed.

use std::borrow::Cow;

use super::super::format::{Fields, StoreId};
use recension_engine::limits::{STORED_KEY_BYTES_MAX, STORED_VALUE_BYTES_MAX};

/// Bytes of a block before its payload.
pub(in super::super) const BLOCK_HEADER_BYTES: usize = 24;
/// Blocks start at multiples of this.
pub(in super::super) const BLOCK_ALIGNMENT: u64 = 8;
/// The least that a read from the disk brings.
pub(in super::super) const PAGE_BYTES: usize = 4 << 10;
/// Words between blocks, if a block was aligned to a page: neither a block nor damage.
pub(in super::super) const PADDING: [u8; BLOCK_ALIGNMENT as usize] = *b"RcPad--\n";

const MAGIC: [u8; 4] = *b"RcB1";
/// A longer payload is damage, and must not allocate memory.
const PAYLOAD_BYTES_MAX: usize = STORED_VALUE_BYTES_MAX + 2 * STORED_KEY_BYTES_MAX + (64 << 10);
const AS_IS: u8 = 0;
const LZ4: u8 = 1;

/// The content of a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in super::super) enum BlockKind {
    /// The newest version of each key within the file.
    Current = 0,
    /// The older ones.
    Past = 1,
    /// Seqs and times of commits.
    Commits = 2,
}

impl BlockKind {
    pub(in super::super) const ALL: [BlockKind; 3] = [BlockKind::Current, BlockKind::Past, BlockKind::Commits];
}

/// Binds the checksums of blocks to a store and a file.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct FileSeed(u32);

impl FileSeed {
    pub(in super::super) fn new(id: StoreId, number: u64) -> Self {
        FileSeed(crc32c::crc32c_append(crc32c::crc32c(&id.0), &number.to_le_bytes()))
    }

    fn crc(self, offset: u64, after_crc: &[u8]) -> u32 {
        crc32c::crc32c_append(crc32c::crc32c_append(self.0, &offset.to_le_bytes()), after_crc)
    }
}

/// The header of a block. It is not checked, but within bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct BlockHeader {
    pub(in super::super) kind: BlockKind,
    /// Rows or commits.
    pub(in super::super) count: usize,
    stored_len: usize,
    payload_len: usize,
    encoding: u8,
}

impl BlockHeader {
    /// Reads the header at the start of `bytes`; `None` if there is none.
    pub(in super::super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes.get(..BLOCK_HEADER_BYTES)?);
        if fields.bytes() != Some(MAGIC) {
            return None;
        }
        fields.u32()?;
        let stored_len = fields.u32()? as usize;
        let payload_len = fields.u32()? as usize;
        let [kind, encoding] = fields.bytes()?;
        let kind = BlockKind::ALL.into_iter().find(|known| *known as u8 == kind)?;
        let count = usize::from(fields.u16()?);
        let sane = payload_len <= PAYLOAD_BYTES_MAX
            && count > 0
            && match encoding {
                AS_IS => stored_len == payload_len,
                LZ4 => stored_len < payload_len,
                _ => false,
            };
        (sane && fields.u32() == Some(0)).then_some(BlockHeader { kind, count, stored_len, payload_len, encoding })
    }

    /// Bytes of header and payload, as they are stored.
    pub(in super::super) fn len(&self) -> usize {
        BLOCK_HEADER_BYTES + self.stored_len
    }
}

/// The bytes of a block, without the checksum that binds them to a place.
pub(in super::super) struct EncodedBlock(Vec<u8>);

impl EncodedBlock {
    pub(in super::super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes of the block, which is to lie at `offset`.
    pub(in super::super) fn at(mut self, seed: FileSeed, offset: u64) -> Vec<u8> {
        let crc = seed.crc(offset, &self.0[8..]);
        self.0[4..8].copy_from_slice(&crc.to_le_bytes());
        self.0
    }
}

/// Encodes a block.
pub(in super::super) fn encode_block(kind: BlockKind, count: usize, payload: &[u8]) -> EncodedBlock {
    let mut block = vec![0; BLOCK_HEADER_BYTES + lz4_flex::block::get_maximum_output_size(payload.len())];
    let saves = |stored: &usize| *stored <= payload.len() - payload.len() / 8 && *stored < payload.len();
    let compressed = lz4_flex::block::compress_into(payload, &mut block[BLOCK_HEADER_BYTES..]).ok().filter(saves);
    let (stored_len, encoding) = match compressed {
        Some(len) => (len, LZ4),
        None => {
            block[BLOCK_HEADER_BYTES..][..payload.len()].copy_from_slice(payload);
            (payload.len(), AS_IS)
        }
    };
    block.truncate(BLOCK_HEADER_BYTES + stored_len);
    block[..4].copy_from_slice(&MAGIC);
    block[8..12].copy_from_slice(&(stored_len as u32).to_le_bytes());
    block[12..16].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    block[16] = kind as u8;
    block[17] = encoding;
    block[18..20].copy_from_slice(&(count as u16).to_le_bytes());
    EncodedBlock(block)
}

/// Checks the block that begins at `bytes` and lies at `offset` of its file, and decompresses its payload. The error is
/// the reason.
pub(in super::super) fn decode_block(
    seed: FileSeed,
    offset: u64,
    bytes: &[u8],
) -> Result<(BlockHeader, Cow<'_, [u8]>), &'static str> {
    let header = BlockHeader::decode(bytes).ok_or("expected the header of a block, found none")?;
    let block = bytes.get(..header.len()).ok_or("the block is cut off")?;
    if Fields(&block[4..]).u32() != Some(seed.crc(offset, &block[8..])) {
        return Err("the block's checksum does not match");
    }
    let stored = &block[BLOCK_HEADER_BYTES..];
    if header.encoding == AS_IS {
        return Ok((header, Cow::Borrowed(stored)));
    }
    let mut payload = vec![0; header.payload_len];
    match lz4_flex::block::decompress_into(stored, &mut payload) {
        Ok(len) if len == header.payload_len => Ok((header, Cow::Owned(payload))),
        _ => Err("the block does not decompress"),
    }
}

/// Appends a number in LEB128.
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number in LEB128 from the front of `bytes`.
pub(super) fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            // The tenth byte has room for one bit.
            return (shift < 63 || byte <= 1).then_some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed() -> FileSeed {
        FileSeed::new(StoreId([7; 16]), 3)
    }

    #[test]
    fn payloads_read_back_compressed_where_it_pays_and_as_they_are_elsewhere() {
        let mut noise = 1u64;
        let random: Vec<u8> = std::iter::repeat_with(|| {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (noise >> 56) as u8
        })
        .take(5000)
        .collect();
        for (payload, smaller) in [(vec![b'a'; 4096], true), (random, false), (vec![1], false), (vec![], false)] {
            let block = encode_block(BlockKind::Past, 3, &payload).at(seed(), 64);
            assert_eq!(block.len() < payload.len(), smaller);
            let (header, found) = decode_block(seed(), 64, &block).unwrap();
            assert_eq!((header.kind, header.count, header.len()), (BlockKind::Past, 3, block.len()));
            assert_eq!(found, payload);
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed_and_so_is_another_place() {
        for payload in [b"some rows, some rows, some rows, some rows".repeat(9), vec![9; 3]] {
            let whole = encode_block(BlockKind::Current, 1, &payload).at(seed(), 64);
            for bit in 0..whole.len() * 8 {
                let mut block = whole.clone();
                block[bit / 8] ^= 1 << (bit % 8);
                assert!(decode_block(seed(), 64, &block).is_err(), "bit {bit}");
            }
            for cut in 0..whole.len() {
                assert!(decode_block(seed(), 64, &whole[..cut]).is_err(), "cut at {cut}");
            }
            assert!(decode_block(seed(), 72, &whole).is_err());
            assert!(decode_block(FileSeed::new(StoreId([7; 16]), 4), 64, &whole).is_err());
        }
    }

    #[test]
    fn numbers_read_back_and_too_long_ones_are_refused() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            assert_eq!(take_number(&mut &bytes[..]), Some(number));
            assert_eq!(take_number(&mut &bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(take_number(&mut &[0xff; 11][..]), None);
        assert_eq!(take_number(&mut &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2][..]), None);
    }
}
