//! Building the rows of a block. Pure.

use super::block::{BLOCK_HEADER_BYTES, put_number};
use recension_engine::Seq;

/// A block is closed when its payload has grown to about this size.
const PAYLOAD_BYTES_TARGET: usize = 4 << 10;
/// The same for a block with past versions of one key alone: they are alike, and compress against each other.
const LINE_BYTES_TARGET: usize = 16 << 10;
/// The fraction of the rest of a page by which blocks may be longer than the one before, and still fit.
const MARGIN_PART: usize = 64;
/// Bytes of a payload before its rows, without the prefix.
const ROWS_HEADER_BYTES: usize = 8 + 4 + 2;
/// Bytes of the numbers before a row, about.
const ROW_NUMBERS_BYTES: usize = 8;
/// Most rows of a block: the table has ten bits for a row's number.
pub(super) const ROWS_MAX: usize = 1000;
pub(super) const DELETED: u64 = 1;
/// Older versions of the key were given up.
pub(super) const CUT: u64 = 2;
/// Bits of a value's length that are flags.
pub(super) const FLAG_BITS: u32 = 2;

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
pub(super) struct RowsBuilder {
    keys: Vec<u8>,
    values: Vec<u8>,
    rows: Vec<NewRow>,
    prefix_len: usize,
    /// The number of the block in which the past of the first row begins.
    past_base: u32,
    /// About how long the payload is to become.
    target: usize,
    /// The same as long as all rows are versions of one key.
    line_target: usize,
    /// Bytes of the last payload, and of its stored block.
    before: (usize, usize),
}

impl Default for RowsBuilder {
    fn default() -> Self {
        RowsBuilder {
            keys: Vec::new(),
            values: Vec::new(),
            rows: Vec::new(),
            prefix_len: 0,
            past_base: 0,
            target: PAYLOAD_BYTES_TARGET,
            line_target: 0,
            before: (1, 1),
        }
    }
}

struct NewRow {
    key_end: usize,
    value_end: usize,
    seq: Seq,
    flags: u64,
    past: u32,
}

impl RowsBuilder {
    /// For older versions of keys.
    pub(super) fn of_past() -> Self {
        RowsBuilder { line_target: LINE_BYTES_TARGET, ..RowsBuilder::default() }
    }

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
            self.shared_with(full_key)
        };
        self.keys.extend_from_slice(full_key);
        self.values.extend_from_slice(value.unwrap_or_default());
        let (key_end, value_end) = (self.keys.len(), self.values.len());
        self.rows.push(NewRow { key_end, value_end, seq, flags, past });
    }

    /// Bytes of the common prefix of the keys and `full_key`.
    fn shared_with(&self, full_key: &[u8]) -> usize {
        let first = if self.rows.is_empty() { full_key } else { &self.key(0)[..self.prefix_len] };
        first.iter().zip(full_key).take_while(|(a, b)| a == b).count()
    }

    pub(super) fn is_full(&self) -> bool {
        let bytes = self.keys.len() + self.values.len();
        let is_line = self.keys.len() == self.prefix_len * self.rows.len();
        let target = if is_line { self.target.max(self.line_target) } else { self.target };
        payload_bytes(self.rows.len(), self.prefix_len, bytes) >= target || self.rows.len() >= ROWS_MAX
    }

    /// Whether the block would become too long with a version. An empty one would not.
    pub(super) fn is_full_for(&self, full_key: &[u8], version: &KeptVersion<'_>) -> bool {
        let bytes = self.keys.len() + self.values.len() + full_key.len() + version.value.map_or(0, <[u8]>::len);
        let prefix_len = self.shared_with(full_key);
        !self.is_empty() && payload_bytes(self.rows.len() + 1, prefix_len, bytes) > self.target
    }

    /// Sets the target length of a block in whose page `left` bytes are left. The blocks that fill the rest get equal
    /// parts of it, each about as long as usual.
    pub(super) fn aim(&mut self, left: usize) {
        let (payload_bytes, stored_bytes) = self.before;
        let room = left.saturating_sub(BLOCK_HEADER_BYTES);
        let margin = if stored_bytes < payload_bytes { room / MARGIN_PART } else { 0 };
        let fill = (room - margin) * payload_bytes / stored_bytes;
        let blocks = (fill + PAYLOAD_BYTES_TARGET / 2) / PAYLOAD_BYTES_TARGET;
        self.target = fill / blocks.max(1);
    }

    /// Learns that a payload became a block of `block_bytes`.
    pub(super) fn learn(&mut self, payload_bytes: usize, block_bytes: usize) {
        self.before = (payload_bytes, block_bytes.saturating_sub(BLOCK_HEADER_BYTES).max(1));
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

/// About how long a payload of `count` rows is.
fn payload_bytes(count: usize, prefix_len: usize, keys_and_values: usize) -> usize {
    ROWS_HEADER_BYTES + prefix_len + (keys_and_values - count * prefix_len) + count * ROW_NUMBERS_BYTES
}
