//! The rows of a block, as they are written and as they are read. Pure.

use std::cmp::Ordering;

use super::super::format::Fields;
use super::super::mem::compare_versions;
use super::block::{put_number, take_number};
use crate::engine::Seq;

/// A block is closed when its payload has grown to this size.
const PAYLOAD_BYTES_TARGET: usize = 4 << 10;
/// Most rows of a block: the table has ten bits for a row's number.
pub(super) const ROWS_MAX: usize = 1000;
const DELETED: u64 = 1;
/// Older versions of the key were given up.
const CUT: u64 = 2;
/// Bits of a value's length that are flags.
const FLAG_BITS: u32 = 2;

/// A version that goes into a settled file, or comes from one.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct KeptVersion<'v> {
    pub(in super::super) seq: Seq,
    /// None: deleted.
    pub(in super::super) value: Option<&'v [u8]>,
    /// Older versions of the key were given up.
    pub(in super::super) cut: bool,
}

/// Rows of the block that is being filled.
#[derive(Default)]
pub(super) struct RowsBuilder {
    keys: Vec<u8>,
    values: Vec<u8>,
    rows: Vec<NewRow>,
    prefix_len: usize,
    /// Where the past of the first row begins: the number of a block.
    past_base: u32,
}

struct NewRow {
    key_end: usize,
    value_end: usize,
    seq: Seq,
    flags: u64,
    past: u32,
}

impl RowsBuilder {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn first(&self) -> Option<(&[u8], Seq)> {
        self.rows.first().map(|row| (self.key(0), row.seq))
    }

    /// The full key of a row.
    pub(super) fn key(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.rows[before].key_end);
        &self.keys[start..self.rows[index].key_end]
    }

    fn value(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.rows[before].value_end);
        &self.values[start..self.rows[index].value_end]
    }

    /// Adds a version. Its key's past, if there is one, begins in block `past` of that section.
    pub(super) fn push(&mut self, full_key: &[u8], version: KeptVersion<'_>, past: u32) {
        let KeptVersion { seq, value, cut } = version;
        let flags = if value.is_none() { DELETED } else { 0 } | if cut { CUT } else { 0 };
        self.prefix_len = if self.rows.is_empty() {
            self.past_base = past;
            full_key.len()
        } else {
            let first = &self.key(0)[..self.prefix_len];
            first.iter().zip(full_key).take_while(|(a, b)| a == b).count()
        };
        self.keys.extend_from_slice(full_key);
        self.values.extend_from_slice(value.unwrap_or_default());
        let (key_end, value_end) = (self.keys.len(), self.values.len());
        self.rows.push(NewRow { key_end, value_end, seq, flags, past });
    }

    pub(super) fn is_full(&self) -> bool {
        let keys = self.keys.len() - self.rows.len() * self.prefix_len;
        keys + self.values.len() + 7 * self.rows.len() >= PAYLOAD_BYTES_TARGET || self.rows.len() >= ROWS_MAX
    }

    /// The payload; the builder is empty again.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let base = self.rows.iter().map(|row| row.seq).min().unwrap_or_default();
        let mut payload = Vec::with_capacity(self.keys.len() + self.values.len() + 9 * self.rows.len() + 16);
        payload.extend(base.0.to_le_bytes());
        payload.extend(self.past_base.to_le_bytes());
        payload.extend((self.prefix_len as u16).to_le_bytes());
        if !self.rows.is_empty() {
            payload.extend_from_slice(&self.key(0)[..self.prefix_len]);
        }
        for (index, row) in self.rows.iter().enumerate() {
            let (rest, value) = (&self.key(index)[self.prefix_len..], self.value(index));
            put_number(&mut payload, rest.len() as u64);
            put_number(&mut payload, row.seq.0 - base.0);
            put_number(&mut payload, u64::from(row.past - self.past_base));
            put_number(&mut payload, ((value.len() as u64) << FLAG_BITS) | row.flags);
            payload.extend_from_slice(rest);
            payload.extend_from_slice(value);
        }
        self.keys.clear();
        self.values.clear();
        self.rows.clear();
        payload
    }
}

/// The rows of a checked block.
pub(in super::super) struct RowBlock {
    payload: Vec<u8>,
    prefix_len: usize,
    rows: Vec<RowPlace>,
    /// The full keys one after the other, so that they can be borrowed; none where they would be much longer
    /// than they are in the payload.
    keys: Vec<u8>,
}

/// Where a row lies in the payload.
#[derive(Clone, Copy)]
struct RowPlace {
    seq: Seq,
    /// Start of the rest of its full key; the value follows.
    start: u32,
    value_len: u32,
    past: u32,
    /// End of the full key in `keys`.
    key_end: u32,
    rest_len: u16,
    deleted: bool,
    cut: bool,
}

/// Full keys are kept where the prefixes in them come to no more than this part of the payload.
const KEYS_PART: usize = 2;

/// Where the prefix starts in a payload.
const PREFIX_AT: usize = 14;

impl RowBlock {
    /// Reads the payload of a block with `count` rows; `None` if it was made wrongly.
    pub(super) fn parse(payload: Vec<u8>, count: usize) -> Option<Self> {
        let mut fields = Fields(&payload);
        let base = fields.u64()?;
        let past_base = fields.u32()?;
        let prefix_len = usize::from(fields.u16()?);
        let mut left = payload.get(PREFIX_AT + prefix_len..)?;
        let mut rows = Vec::with_capacity(count);
        let mut key_end = 0usize;
        for _ in 0..count {
            let rest_len = u16::try_from(take_number(&mut left)?).ok()?;
            let seq = Seq(base.checked_add(take_number(&mut left)?)?);
            let past = past_base.checked_add(u32::try_from(take_number(&mut left)?).ok()?)?;
            let tagged = take_number(&mut left)?;
            let value_len = u32::try_from(tagged >> FLAG_BITS).ok()?;
            let (deleted, cut) = (tagged & DELETED != 0, tagged & CUT != 0);
            if deleted && value_len > 0 {
                return None;
            }
            let start = u32::try_from(payload.len() - left.len()).ok()?;
            left = left.get(usize::from(rest_len) + value_len as usize..)?;
            key_end = prefix_len.checked_add(usize::from(rest_len))?.checked_add(key_end)?;
            let whole = u32::try_from(key_end).ok()?;
            rows.push(RowPlace { seq, start, value_len, past, key_end: whole, rest_len, deleted, cut });
        }
        if !left.is_empty() {
            return None;
        }
        let mut block = RowBlock { payload, prefix_len, rows, keys: Vec::new() };
        if prefix_len * count <= block.payload.len() / KEYS_PART {
            block.keys = block.whole_keys(key_end as usize);
        }
        Some(block)
    }

    /// The full keys, `len` bytes of them.
    fn whole_keys(&self, len: usize) -> Vec<u8> {
        let mut keys = Vec::with_capacity(len);
        for row in &self.rows {
            keys.extend_from_slice(self.prefix());
            keys.extend_from_slice(self.rest(row));
        }
        keys
    }

    pub(in super::super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of memory that it takes, about.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.payload.capacity() + self.keys.capacity() + self.rows.capacity() * size_of::<RowPlace>() + 64) as u64
    }

    fn prefix(&self) -> &[u8] {
        self.payload.get(PREFIX_AT..PREFIX_AT + self.prefix_len).unwrap_or_default()
    }

    fn rest(&self, row: &RowPlace) -> &[u8] {
        let start = row.start as usize;
        self.payload.get(start..start + usize::from(row.rest_len)).unwrap_or_default()
    }

    /// Seq of a row, and whether it is deleted.
    pub(in super::super) fn version(&self, index: usize) -> Option<(Seq, bool)> {
        self.rows.get(index).map(|row| (row.seq, row.deleted))
    }

    /// Whether older versions of a row's key were given up.
    pub(in super::super) fn is_cut(&self, index: usize) -> bool {
        self.rows.get(index).is_some_and(|row| row.cut)
    }

    /// The block of `past` in which the past of a row's key begins, if there is any.
    pub(super) fn past(&self, index: usize) -> usize {
        self.rows.get(index).map_or(0, |row| row.past as usize)
    }

    /// The value of a row; empty if it is deleted.
    pub(in super::super) fn value(&self, index: usize) -> &[u8] {
        let Some(row) = self.rows.get(index) else { return &[] };
        let start = row.start as usize + usize::from(row.rest_len);
        self.payload.get(start..start + row.value_len as usize).unwrap_or_default()
    }

    /// The full key of a row, where the block has it in one piece.
    pub(super) fn full_key(&self, index: usize) -> Option<&[u8]> {
        if self.keys.is_empty() {
            return None;
        }
        let start = index.checked_sub(1).and_then(|before| self.rows.get(before)).map_or(0, |row| row.key_end);
        self.keys.get(start as usize..self.rows.get(index)?.key_end as usize)
    }

    /// Writes the full key of a row to `key`.
    pub(in super::super) fn read_key(&self, index: usize, key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(self.prefix());
        if let Some(row) = self.rows.get(index) {
            key.extend_from_slice(self.rest(row));
        }
    }

    /// Whether a row has this full key.
    pub(in super::super) fn has_key(&self, index: usize, full_key: &[u8]) -> bool {
        self.rows.get(index).is_some_and(|row| full_key.strip_prefix(self.prefix()) == Some(self.rest(row)))
    }

    /// The first row not before (`full_key`, `seq`) in the order of versions.
    pub(in super::super) fn lower_bound(&self, full_key: &[u8], seq: Seq) -> usize {
        let prefix = self.prefix();
        let head = &full_key[..full_key.len().min(prefix.len())];
        match head.cmp(prefix) {
            Ordering::Less => return 0,
            Ordering::Greater => return self.rows.len(),
            Ordering::Equal => {}
        }
        let rest = &full_key[prefix.len()..];
        self.rows.partition_point(|row| compare_versions((self.rest(row), row.seq), (rest, seq)).is_lt())
    }

    /// Whether a row is the newest version of `full_key` not newer than `at`.
    pub(in super::super) fn is_newest(&self, index: usize, full_key: &[u8], at: Seq) -> bool {
        let is_version = |index: usize| self.rows.get(index).is_some_and(|row| row.seq <= at);
        let newer_is = || index.checked_sub(1).is_some_and(|newer| is_version(newer) && self.has_key(newer, full_key));
        is_version(index) && self.has_key(index, full_key) && !newer_is()
    }

    /// The newest version of `full_key` not newer than `at`, if it is in this block. The error is the oldest
    /// version of the key, where that is newer and those before it were given up.
    pub(in super::super) fn newest(&self, full_key: &[u8], at: Seq) -> Result<Option<usize>, Seq> {
        let index = self.lower_bound(full_key, at);
        if self.has_key(index, full_key) {
            return Ok(Some(index));
        }
        // A cut version is the last of its key.
        match index.checked_sub(1).filter(|&oldest| self.is_cut(oldest) && self.has_key(oldest, full_key)) {
            Some(oldest) => Err(self.rows.get(oldest).map_or(at, |row| row.seq)),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
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
        RowBlock::parse(builder.finish().as_slice().to_vec(), count).unwrap()
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
        let block = RowBlock::parse(builder.finish(), rows.len()).unwrap();
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
            assert!(RowBlock::parse(payload[..cut].to_vec(), 2).is_none(), "cut at {cut}");
        }
        assert!(RowBlock::parse([&payload[..], &[0]].concat(), 2).is_none());
        assert!(RowBlock::parse(payload, 2).is_some());
    }
}
