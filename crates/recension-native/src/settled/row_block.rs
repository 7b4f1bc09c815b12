//! The rows of a checked block in memory. Everything that a look-up needs of a row is in one piece. The row's place is
//! beside the counts of the block's references, which the look-up touches anyway. Each separate piece would be a wait
//! for memory.
//! Pure.

use std::cmp::Ordering;

use super::super::entry::compare_versions;
use super::super::format::Fields;
use super::block::take_number;
use super::rows::{CUT, DELETED, FLAG_BITS};
use crate::disk::{fetch, fetch_at};
use recension_engine::Seq;

/// Rows whose places are in the block itself: as many as blocks with 200 bytes a row have.
const NEAR_ROWS: usize = 21;
/// Bytes of a row's place outside of the block itself.
const FAR_PLACE_BYTES: usize = 4;
/// A row: seq, block of its past, length of its value, length of its key, flags; then key and value.
const ROW_HEADER_BYTES: usize = 8 + 4 + 4 + 2 + 1;
/// The numbers before a row in a payload have at least this many bytes.
const STORED_HEADER_BYTES_MIN: usize = 4;
/// Rows have their full keys if the prefixes in them add at most this fraction of the payload.
const KEYS_PART: usize = 2;
/// Bytes of a row that are fetched ahead.
const TOUCHED_BYTES: usize = 384;
/// Bits of a guess for the length of a row; the others are an address.
const GUESSED_LEN_BITS: u32 = 14;
const CACHE_LINE_BYTES: usize = 64;
/// Memory besides the requested bytes: counts of references, and the allocator's own.
const OVERHEAD_BYTES: usize = 48;
/// Allocators round up to a size of which there are this many between a power of two and the next, and leave the ends
/// of their pages empty: a chunk of 64 KiB with its key takes 80, and six of them take 512.
const SIZES_OF_A_POWER: usize = 4;
const PAGE_ENDS_PART: usize = 16;

/// The rows of a checked block.
#[repr(C)] // what a look-up reads first comes first
pub(in super::super) struct RowBlock {
    /// The rows' places, unless they are in the block itself; the prefix of keys, if rows leave it out; the rows.
    bytes: Box<[u8]>,
    count: u16,
    /// Bytes of the prefix that rows leave out; 0: they have their full keys, so that they can be borrowed.
    prefix_len: u16,
    is_near: bool,
    near: [u16; NEAR_ROWS],
}

/// A row of a block.
#[derive(Clone, Copy)]
pub(super) struct BlockRow<'b> {
    pub(super) seq: Seq,
    pub(super) deleted: bool,
    /// Older versions of its key were given up.
    pub(super) cut: bool,
    /// The block of `past` in which the past of its key begins, if there is any.
    past: u32,
    /// The rest of its full key behind the prefix that rows leave out.
    rest: &'b [u8],
    /// Empty if it is deleted.
    pub(super) value: &'b [u8],
}

impl RowBlock {
    /// Reads the payload of a block with `count` rows; `None` if it is malformed.
    pub(super) fn parse(payload: &[u8], count: usize) -> Option<Self> {
        let mut fields = Fields(payload);
        let base = fields.u64()?;
        let past_base = fields.u32()?;
        let prefix_len = fields.u16()?;
        let prefix = fields.slice(usize::from(prefix_len))?;
        let mut left = fields.0;
        let is_whole = prefix.len() * count <= payload.len() / KEYS_PART;
        let (left_out, repeated) = if is_whole { (&[][..], prefix) } else { (prefix, &[][..]) };
        let row_grows = ROW_HEADER_BYTES - STORED_HEADER_BYTES_MIN + repeated.len();
        let room = left_out.len() + left.len() + count * row_grows;
        let is_near = count <= NEAR_ROWS && u16::try_from(room).is_ok();
        let places_len = if is_near { 0 } else { count * FAR_PLACE_BYTES };
        let mut near = [0; NEAR_ROWS];
        let mut bytes = Vec::with_capacity(places_len + room);
        bytes.resize(places_len, 0);
        bytes.extend_from_slice(left_out);
        for index in 0..count {
            let rest_len = usize::try_from(take_number(&mut left)?).ok()?;
            let seq = base.checked_add(take_number(&mut left)?)?;
            let past = past_base.checked_add(u32::try_from(take_number(&mut left)?).ok()?)?;
            let tagged = take_number(&mut left)?;
            let value_len = u32::try_from(tagged >> FLAG_BITS).ok()?;
            if tagged & DELETED != 0 && value_len > 0 {
                return None;
            }
            let (rest, behind) = left.split_at_checked(rest_len)?;
            let (value, behind) = behind.split_at_checked(value_len as usize)?;
            left = behind;
            let place = u32::try_from(bytes.len()).ok()?;
            if is_near {
                *near.get_mut(index)? = u16::try_from(place).ok()?;
            } else {
                *bytes.get_mut(index * FAR_PLACE_BYTES..)?.first_chunk_mut()? = place.to_le_bytes();
            }
            bytes.extend(seq.to_le_bytes());
            bytes.extend(past.to_le_bytes());
            bytes.extend(value_len.to_le_bytes());
            bytes.extend(u16::try_from(repeated.len() + rest.len()).ok()?.to_le_bytes());
            bytes.push((tagged & (DELETED | CUT)) as u8);
            bytes.extend_from_slice(repeated);
            bytes.extend_from_slice(rest);
            bytes.extend_from_slice(value);
        }
        let prefix_len = if is_whole { 0 } else { prefix_len };
        let count = u16::try_from(count).ok()?;
        left.is_empty().then(|| RowBlock { bytes: bytes.into_boxed_slice(), count, prefix_len, is_near, near })
    }

    pub(in super::super) fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// About how many bytes of memory it takes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let step = (self.bytes.len() | 64).next_power_of_two() / 2 / SIZES_OF_A_POWER;
        let allocated = self.bytes.len().next_multiple_of(step);
        (allocated + allocated / PAGE_ENDS_PART + size_of::<Self>() + OVERHEAD_BYTES) as u64
    }

    /// Where a row begins.
    fn place(&self, index: usize) -> Option<usize> {
        if index >= self.len() {
            return None;
        }
        if self.is_near {
            return self.near.get(index).map(|place| usize::from(*place));
        }
        let place = self.bytes.get(index * FAR_PLACE_BYTES..)?.first_chunk()?;
        Some(u32::from_le_bytes(*place) as usize)
    }

    /// Begins to fetch a row, so that all of it is fetched at once.
    pub(super) fn touch(&self, index: usize) {
        let Some(start) = self.place(index) else { return };
        let end = self.place(index + 1).unwrap_or(self.bytes.len()).min(start + TOUCHED_BYTES);
        for line in self.bytes.get(start..end).unwrap_or_default().chunks(CACHE_LINE_BYTES) {
            line.first().into_iter().for_each(fetch);
        }
    }

    /// The address of the rows, with their average length in the lowest bits. It is for [`RowBlock::touch_guess`], and
    /// outlives the block.
    pub(super) fn row_guess(&self) -> usize {
        let first = self.place(0).unwrap_or_default();
        let len = (self.bytes.len() - first.min(self.bytes.len())) / self.len().max(1);
        (self.bytes.as_ptr().addr() + first) << GUESSED_LEN_BITS | len.min((1 << GUESSED_LEN_BITS) - 1)
    }

    /// Begins to fetch the probable place of a row in the block of the guess. Nothing is read there, so the guess may
    /// be wrong.
    pub(super) fn touch_guess(guess: usize, index: usize) {
        let len = guess & ((1 << GUESSED_LEN_BITS) - 1);
        let start = std::ptr::without_provenance::<u8>((guess >> GUESSED_LEN_BITS).wrapping_add(index * len));
        for line in 0..len.min(TOUCHED_BYTES).div_ceil(CACHE_LINE_BYTES) {
            fetch_at(start.wrapping_add(line * CACHE_LINE_BYTES));
        }
    }

    pub(super) fn row(&self, index: usize) -> Option<BlockRow<'_>> {
        let (header, behind) = self.bytes.get(self.place(index)?..)?.split_first_chunk::<ROW_HEADER_BYTES>()?;
        let mut fields = Fields(header);
        let (seq, past, value_len, key_len) = (fields.u64()?, fields.u32()?, fields.u32()?, fields.u16()?);
        let flags = u64::from(*fields.0.first()?);
        let (rest, behind) = behind.split_at_checked(usize::from(key_len))?;
        let value = behind.get(..value_len as usize)?;
        Some(BlockRow { seq: Seq(seq), deleted: flags & DELETED != 0, cut: flags & CUT != 0, past, rest, value })
    }

    /// The prefix that rows leave out of their keys.
    fn prefix(&self) -> &[u8] {
        let start = if self.is_near { 0 } else { self.len() * FAR_PLACE_BYTES };
        self.bytes.get(start..start + usize::from(self.prefix_len)).unwrap_or_default()
    }

    /// Seq of a row, and whether it is deleted.
    pub(in super::super) fn version(&self, index: usize) -> Option<(Seq, bool)> {
        self.row(index).map(|row| (row.seq, row.deleted))
    }

    /// Whether older versions of a row's key were given up.
    pub(in super::super) fn is_cut(&self, index: usize) -> bool {
        self.row(index).is_some_and(|row| row.cut)
    }

    /// The block of `past` in which the past of a row's key begins, if there is any.
    pub(super) fn past(&self, index: usize) -> usize {
        self.row(index).map_or(0, |row| row.past as usize)
    }

    /// The value of a row; empty if it is deleted.
    pub(in super::super) fn value(&self, index: usize) -> &[u8] {
        self.row(index).map_or(&[], |row| row.value)
    }

    /// The full key of a row, if the block has it in one piece.
    pub(super) fn full_key(&self, index: usize) -> Option<&[u8]> {
        self.row(index).filter(|_| self.prefix_len == 0).map(|row| row.rest)
    }

    /// Writes the full key of a row to `key`.
    pub(in super::super) fn read_key(&self, index: usize, key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(self.prefix());
        if let Some(row) = self.row(index) {
            key.extend_from_slice(row.rest);
        }
    }

    /// Whether a row has this full key.
    pub(in super::super) fn has_key(&self, index: usize, full_key: &[u8]) -> bool {
        self.row(index).is_some_and(|row| self.is_key_of(row, full_key))
    }

    /// Whether a row of this block has this full key.
    pub(super) fn is_key_of(&self, row: BlockRow<'_>, full_key: &[u8]) -> bool {
        match self.prefix_len {
            0 => full_key == row.rest,
            _ => full_key.strip_prefix(self.prefix()) == Some(row.rest),
        }
    }

    /// The first row not before (`full_key`, `seq`) in the order of versions.
    pub(in super::super) fn lower_bound(&self, full_key: &[u8], seq: Seq) -> usize {
        let prefix = self.prefix();
        let head = &full_key[..full_key.len().min(prefix.len())];
        match head.cmp(prefix) {
            Ordering::Less => return 0,
            Ordering::Greater => return self.len(),
            Ordering::Equal => {}
        }
        let rest = &full_key[prefix.len()..];
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let is_before =
                self.row(middle).is_some_and(|row| compare_versions((row.rest, row.seq), (rest, seq)).is_lt());
            if is_before { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Whether a row is the newest version of `full_key` not newer than `at`.
    pub(in super::super) fn is_newest(&self, index: usize, full_key: &[u8], at: Seq) -> bool {
        let is_version =
            |index: usize| self.row(index).is_some_and(|row| row.seq <= at && self.is_key_of(row, full_key));
        is_version(index) && !index.checked_sub(1).is_some_and(is_version)
    }

    /// The newest version of `full_key` not newer than `at`, if it is in this block. The error is the oldest version of
    /// the key, if that is newer and earlier ones were given up.
    pub(in super::super) fn newest(&self, full_key: &[u8], at: Seq) -> Result<Option<usize>, Seq> {
        let index = self.lower_bound(full_key, at);
        if self.has_key(index, full_key) {
            return Ok(Some(index));
        }
        // A cut version is the last of its key.
        let oldest = index.checked_sub(1).and_then(|oldest| self.row(oldest));
        match oldest.filter(|oldest| oldest.cut && self.is_key_of(*oldest, full_key)) {
            Some(oldest) => Err(oldest.seq),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::{KeptVersion, RowsBuilder};
    use super::*;

    type TestRow<'r> = (&'r [u8], u64, Option<&'r [u8]>);

    fn kept(seq: u64, value: Option<&[u8]>) -> KeptVersion<'_> {
        KeptVersion { seq: Seq(seq), value, cut: false }
    }

    fn block(rows: &[TestRow<'_>]) -> RowBlock {
        let mut builder = RowsBuilder::default();
        for (key, seq, value) in rows {
            builder.push(key, kept(*seq, *value), 3);
        }
        let count = builder.len();
        RowBlock::parse(&builder.finish(), count).unwrap()
    }

    #[test]
    fn a_block_weighs_what_the_allocator_takes_for_it() {
        let bytes = |length: usize| block(&[(b"tree", 9, Some(&vec![1; length]))]).memory_bytes();
        // A chunk of 64 KiB and its key: 80 KiB, six of them in 512.
        assert!((85 * 1024..86 * 1024).contains(&bytes(64 * 1024)), "{}", bytes(64 * 1024));
        assert!(bytes(60) > 60);
    }

    #[test]
    fn rows_read_back_and_are_found_as_of_any_seq() {
        let rows: [TestRow<'_>; 5] = [
            (b"tree", 9, Some(b"")),
            (b"tree a", 7, None),
            (b"tree a", 5, Some(b"five")),
            (b"tree b", u64::MAX, Some(&[1; 300])),
            (b"tree bb", 1, Some(b"one")),
        ];
        let block = block(&rows);
        let mut key = Vec::new();
        for (index, (full_key, seq, value)) in rows.iter().enumerate() {
            block.read_key(index, &mut key);
            assert_eq!(key, *full_key);
            assert_eq!(block.full_key(index).unwrap(), *full_key);
            assert_eq!(block.version(index), Some((Seq(*seq), value.is_none())));
            assert_eq!(block.value(index), value.unwrap_or_default());
            assert_eq!(block.past(index), 3);
        }
        for (key, at, found) in [
            (&b"tree a"[..], 9, Some(1)),
            (b"tree a", 6, Some(2)),
            (b"tree a", 4, None),
            (b"tree", 9, Some(0)),
            (b"tre", 9, None),
            (b"tree c", 9, None),
            (b"tree bb", 1, Some(4)),
        ] {
            assert_eq!(block.newest(key, Seq(at)), Ok(found), "{} as of {at}", key.escape_ascii());
        }
    }

    #[test]
    fn what_was_given_up_is_not_taken_for_absent() {
        let mut builder = RowsBuilder::default();
        let rows = [(&b"a"[..], 5, false), (b"b", 9, false), (b"b", 7, true), (b"c", 6, true), (b"d", 2, false)];
        for (key, seq, cut) in rows {
            let value = (seq != 6).then_some(&b"value"[..]);
            builder.push(key, KeptVersion { seq: Seq(seq), value, cut }, 0);
        }
        let block = RowBlock::parse(&builder.finish(), rows.len()).unwrap();
        for (key, at, found) in [
            (&b"a"[..], 4, Ok(None)),
            (b"b", 8, Ok(Some(2))),
            (b"b", 6, Err(Seq(7))),
            (b"bb", 6, Ok(None)),
            (b"c", 6, Ok(Some(3))),
            (b"c", 1, Err(Seq(6))),
            (b"d", 1, Ok(None)),
            (b"e", 1, Ok(None)),
        ] {
            assert_eq!(block.newest(key, Seq(at)), found, "{} as of {at}", key.escape_ascii());
        }
        assert_eq!(block.version(3), Some((Seq(6), true)), "a cut version may be a deletion");
    }

    #[test]
    fn keys_of_long_prefixes_are_not_multiplied() {
        let keys: Vec<_> = (0..200_u8).map(|n| [&[7; 1000][..], &[n]].concat()).collect();
        let rows: Vec<TestRow<'_>> = keys.iter().map(|key| (&key[..], 1, Some(&b"v"[..]))).collect();
        let block = block(&rows);
        assert!(block.full_key(3).is_none() && block.memory_bytes() < 16 << 10);
        let mut key = Vec::new();
        block.read_key(3, &mut key);
        assert_eq!(key, keys[3]);
    }

    #[test]
    fn a_payload_that_is_cut_or_too_long_is_refused() {
        let mut builder = RowsBuilder::default();
        builder.push(b"tree a", kept(3, Some(b"value")), 5);
        builder.push(b"tree b", kept(300, None), 900);
        let payload = builder.finish();
        for cut in 0..payload.len() {
            assert!(RowBlock::parse(&payload[..cut], 2).is_none(), "cut at {cut}");
        }
        assert!(RowBlock::parse(&[&payload[..], &[0]].concat(), 2).is_none());
        assert!(RowBlock::parse(&payload, 2).is_some());
    }
}
