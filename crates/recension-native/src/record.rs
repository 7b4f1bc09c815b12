//! Commit records and rows: the bytes of the log. Pure: no file, no clock, no policy. Nothing here may panic on any
//! input, and nothing is answered unless its checksum matches.

use std::io::IoSlice;

use super::chain::Chain;
use super::format::{Fields, Position, RECORD_ALIGNMENT, StoreId};
use recension_engine::{Seq, Timestamp, TreeId};

/// Bytes of a commit record before its rows.
pub(super) const RECORD_HEADER_BYTES: usize = 64;
/// The same in format 1.
const RECORD_HEADER_BYTES_1: usize = 48;
/// The offset in a record of the bytes that its chain value is computed from.
const LINKED_AT: usize = 24;
/// Bytes of a row before its key.
pub(super) const ROW_HEADER_BYTES: usize = 18;

const RECORD_MAGIC: [u8; 4] = *b"RcC2";
const RECORD_MAGIC_1: [u8; 4] = *b"RcC1";
const DELETED: u32 = u32::MAX;
const FLAG_AFTER_GAP: u32 = 1;

/// Binds record checksums to a store and a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentSeed(u32);

impl SegmentSeed {
    pub(super) fn new(id: StoreId, segment: u32) -> Self {
        let seed = crc32c::crc32c(&id.0);
        SegmentSeed(crc32c::crc32c_append(seed, &u64::from(segment).to_le_bytes()))
    }

    fn header_crc(self, offset: u32, header: &[u8]) -> u32 {
        let seed = crc32c::crc32c_append(self.0, &u64::from(offset).to_le_bytes());
        crc32c::crc32c_append(seed, header)
    }
}

/// The header of a commit record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RecordHeader {
    pub(super) seq: Seq,
    pub(super) time: Timestamp,
    /// Every commit up to this one was synced before this record was written.
    pub(super) durable: Seq,
    /// Bytes of the whole record.
    pub(super) len: u32,
    pub(super) rows: u32,
    rows_crc: u32,
    /// Earlier seqs are missing on purpose.
    pub(super) after_gap: bool,
    /// The chain value behind the record before; records of format 1 have none.
    pub(super) before: Option<Chain>,
}

impl RecordHeader {
    /// Whether this is the commit that comes after `last`, by its seq.
    pub(super) fn follows(&self, last: Seq) -> bool {
        self.seq == last.next() || (self.after_gap && self.seq > last)
    }

    /// Whether it continues a log whose chain value behind commit `last` is `chain`. Records of format 1 come before
    /// all others.
    pub(super) fn continues(&self, id: StoreId, last: Seq, chain: Chain) -> bool {
        self.before.unwrap_or_else(|| Chain::start(id, last)) == chain
    }

    fn header_bytes(&self) -> usize {
        if self.before.is_some() { RECORD_HEADER_BYTES } else { RECORD_HEADER_BYTES_1 }
    }
}

/// Reads and checks the header of the record that starts at `bytes`, which lie at `offset` of their segment.
pub(super) fn decode_header(seed: SegmentSeed, offset: u32, bytes: &[u8]) -> Option<RecordHeader> {
    let magic = *bytes.first_chunk::<4>()?;
    let header = match magic {
        RECORD_MAGIC => bytes.get(..RECORD_HEADER_BYTES)?,
        RECORD_MAGIC_1 => bytes.get(..RECORD_HEADER_BYTES_1)?,
        _ => return None,
    };
    let mut fields = Fields(&header[4..]);
    if fields.u32()? != seed.header_crc(offset, &header[8..]) {
        return None;
    }
    let header = if magic == RECORD_MAGIC { fields_of(&mut fields) } else { fields_of_format_1(&mut fields) }?;
    let sane = header.len as usize > header.header_bytes()
        && u64::from(header.len).is_multiple_of(RECORD_ALIGNMENT)
        && header.rows > 0
        && header.durable < header.seq;
    sane.then_some(header)
}

fn fields_of(fields: &mut Fields<'_>) -> Option<RecordHeader> {
    let durable = Seq(fields.u64()?);
    let len = fields.u32()?;
    let rows_crc = fields.u32()?;
    let before = Some(Chain::from_bytes(fields.bytes()?));
    let seq = Seq(fields.u64()?);
    let time = Timestamp(fields.u64()?);
    let rows = fields.u32()?;
    let after_gap = flags(fields.u32()?)?;
    Some(RecordHeader { seq, time, durable, len, rows, rows_crc, after_gap, before })
}

fn fields_of_format_1(fields: &mut Fields<'_>) -> Option<RecordHeader> {
    let seq = Seq(fields.u64()?);
    let time = Timestamp(fields.u64()?);
    let durable = Seq(fields.u64()?);
    let len = fields.u32()?;
    let rows = fields.u32()?;
    let rows_crc = fields.u32()?;
    let after_gap = flags(fields.u32()?)?;
    Some(RecordHeader { seq, time, durable, len, rows, rows_crc, after_gap, before: None })
}

/// Whether seqs are missing on purpose; `None` if there are unknown flags.
fn flags(flags: u32) -> Option<bool> {
    (flags & !FLAG_AFTER_GAP == 0).then_some(flags == FLAG_AFTER_GAP)
}

/// A commit whose every checksum matches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'b> {
    pub(super) header: RecordHeader,
    /// The bytes up to the end of its rows.
    bytes: &'b [u8],
}

/// Reads the commit record that starts at `bytes`; `None` unless it is complete and whole.
pub(super) fn decode_record(seed: SegmentSeed, offset: u32, bytes: &[u8]) -> Option<Record<'_>> {
    let header = decode_header(seed, offset, bytes)?;
    let start = header.header_bytes();
    let rows = bytes.get(start..header.len as usize)?;
    let mut at = 0;
    let mut rows_crc = 0;
    for _ in 0..header.rows {
        let row = decode_row(rows.get(at..)?)?;
        let back = (start + at) as u32;
        if row.back != back || row.computed_crc(header.seq) != row.crc {
            return None;
        }
        rows_crc = crc32c::crc32c_append(rows_crc, &row.crc.to_le_bytes());
        at += row.bytes.len();
    }
    let padding = &rows[at..];
    let whole = rows_crc == header.rows_crc && padding.len() < RECORD_ALIGNMENT as usize;
    whole.then_some(Record { header, bytes: &bytes[..start + at] })
}

impl<'b> Record<'b> {
    /// The rows, each with its distance from the start of the record.
    pub(super) fn rows(&self) -> impl Iterator<Item = (u32, StoredRow<'b>)> + use<'b> {
        let bytes = self.bytes;
        let mut at = self.header.header_bytes();
        std::iter::from_fn(move || {
            let row = decode_row(bytes.get(at..).filter(|rest| !rest.is_empty())?)?;
            let back = at as u32;
            at += row.bytes.len();
            Some((back, row))
        })
    }

    /// The chain value behind it.
    pub(super) fn chain(&self, id: StoreId) -> Chain {
        match self.header.before {
            Some(_) => Chain::behind(&self.bytes[LINKED_AT..]),
            None => Chain::start(id, self.header.seq),
        }
    }
}

/// A row as it lies in the log. Its checksum has not been checked until [`StoredRow::is_whole`] says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredRow<'b> {
    crc: u32,
    /// Distance from the start of its commit record.
    pub(super) back: u32,
    pub(super) tree: TreeId,
    pub(super) key: &'b [u8],
    /// `None`: deleted.
    pub(super) value: Option<&'b [u8]>,
    bytes: &'b [u8],
}

impl StoredRow<'_> {
    /// Whether these bytes are the ones that commit `seq` wrote.
    pub(super) fn is_whole(&self, seq: Seq) -> bool {
        self.computed_crc(seq) == self.crc
    }

    fn computed_crc(&self, seq: Seq) -> u32 {
        row_crc(rows_seed(seq), &self.bytes[4..])
    }
}

/// Binds the checksums of rows to their commit.
fn rows_seed(seq: Seq) -> u32 {
    crc32c::crc32c(&seq.0.to_le_bytes())
}

fn row_crc(seed: u32, after_crc: &[u8]) -> u32 {
    crc32c::crc32c_append(seed, after_crc)
}

/// The length of the row that starts with `header`, by its unchecked lengths.
pub(super) fn row_len(header: &[u8; ROW_HEADER_BYTES]) -> usize {
    let mut fields = Fields(&header[12..]);
    let value_len = fields.u32().unwrap_or_default();
    let key_len = fields.u16().unwrap_or_default();
    let value_len = if value_len == DELETED { 0 } else { value_len as usize };
    ROW_HEADER_BYTES + usize::from(key_len) + value_len
}

/// Reads the row that starts at `bytes`; `None` if its lengths do not fit. Does not check its checksum.
pub(super) fn decode_row(bytes: &[u8]) -> Option<StoredRow<'_>> {
    let mut fields = Fields(bytes);
    let crc = fields.u32()?;
    let back = fields.u32()?;
    let tree = TreeId(fields.u32()?);
    let value_len = fields.u32()?;
    let key_len = fields.u16()?;
    let key = fields.slice(usize::from(key_len))?;
    let value = if value_len == DELETED { None } else { Some(fields.slice(value_len as usize)?) };
    let len = bytes.len() - fields.0.len();
    Some(StoredRow { crc, back, tree, key, value, bytes: &bytes[..len] })
}

/// Bytes that a record with these rows takes.
pub(super) fn record_len<'r>(rows: impl Iterator<Item = recension_engine::BatchRow<'r>>) -> usize {
    let rows: usize = rows.map(|row| ROW_HEADER_BYTES + row.key.len() + row.value.map_or(0, <[u8]>::len)).sum();
    (RECORD_HEADER_BYTES + rows).next_multiple_of(RECORD_ALIGNMENT as usize)
}

/// The fields of a commit record besides its rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordMeta {
    pub(super) seq: Seq,
    pub(super) time: Timestamp,
    pub(super) durable: Seq,
    pub(super) after_gap: bool,
    pub(super) before: Chain,
}

/// A value of at least this many bytes is not copied into its record's bytes, but written from its own place.
const LENT_BYTES: usize = 128 << 10;

/// A long value of a record. It goes between the bytes before `at` and those from `at` on.
pub(super) struct Lent<'r> {
    pub(super) at: usize,
    pub(super) value: &'r [u8],
}

/// `bytes` from `from` on, with the lent values in between.
fn slices<'b>(bytes: &'b [u8], lent: &[Lent<'b>], from: usize) -> impl Iterator<Item = &'b [u8]> {
    let starts = std::iter::once(from).chain(lent.iter().map(|lent| lent.at));
    let ends = lent.iter().map(|lent| lent.at).chain([bytes.len()]);
    let values = lent.iter().map(|lent| lent.value).chain([&[][..]]);
    starts.zip(ends).zip(values).flat_map(|((start, end), value)| [&bytes[start..end], value])
}

/// The parts to write: `bytes`, with the lent values in between.
pub(super) fn pieces<'b>(bytes: &'b [u8], lent: &[Lent<'b>]) -> Vec<IoSlice<'b>> {
    slices(bytes, lent, 0).filter(|piece| !piece.is_empty()).map(IoSlice::new).collect()
}

/// Appends the record of a commit to `out`. Long values go to `lent`, which must be empty before. The record is to be
/// written at `at`; `placed` is called with the place of each row. Returns the chain value behind the record.
pub(super) fn encode_record<'r>(
    (out, lent): (&mut Vec<u8>, &mut Vec<Lent<'r>>),
    seed: SegmentSeed,
    at: Position,
    meta: RecordMeta,
    rows: impl Iterator<Item = recension_engine::BatchRow<'r>>,
    mut placed: impl FnMut(recension_engine::BatchRow<'r>, Position),
) -> Chain {
    let start = out.len();
    out.extend_from_slice(&[0; RECORD_HEADER_BYTES]);
    let rows_seed = rows_seed(meta.seq);
    let mut count = 0u32;
    let mut rows_crc = 0;
    let mut lent_bytes = 0;
    for row in rows {
        let row_start = out.len();
        let back = (row_start - start + lent_bytes) as u32;
        let mut header = [0; ROW_HEADER_BYTES];
        header[4..8].copy_from_slice(&back.to_le_bytes());
        header[8..12].copy_from_slice(&row.tree.0.to_le_bytes());
        let value_len = row.value.map_or(DELETED, |value| value.len() as u32);
        header[12..16].copy_from_slice(&value_len.to_le_bytes());
        header[16..18].copy_from_slice(&(row.key.len() as u16).to_le_bytes());
        out.extend_from_slice(&header);
        out.extend_from_slice(row.key);
        let value = row.value.unwrap_or_default();
        let crc = if value.len() < LENT_BYTES {
            out.extend_from_slice(value);
            row_crc(rows_seed, &out[row_start + 4..])
        } else {
            lent.push(Lent { at: out.len(), value });
            lent_bytes += value.len();
            row_crc(row_crc(rows_seed, &out[row_start + 4..]), value)
        };
        out[row_start..row_start + 4].copy_from_slice(&crc.to_le_bytes());
        rows_crc = crc32c::crc32c_append(rows_crc, &crc.to_le_bytes());
        count += 1;
        placed(row, Position { segment: at.segment, offset: at.offset + back });
    }
    let unpadded = out.len() - start + lent_bytes;
    let len = unpadded.next_multiple_of(RECORD_ALIGNMENT as usize);
    let header = &mut out[start..start + RECORD_HEADER_BYTES];
    header[8..16].copy_from_slice(&meta.durable.0.to_le_bytes());
    header[16..20].copy_from_slice(&(len as u32).to_le_bytes());
    header[20..24].copy_from_slice(&rows_crc.to_le_bytes());
    header[24..40].copy_from_slice(&meta.before.to_bytes());
    header[40..48].copy_from_slice(&meta.seq.0.to_le_bytes());
    header[48..56].copy_from_slice(&meta.time.0.to_le_bytes());
    header[56..60].copy_from_slice(&count.to_le_bytes());
    header[60..64].copy_from_slice(&u32::from(meta.after_gap).to_le_bytes());
    let crc = seed.header_crc(at.offset, &header[8..]);
    header[..4].copy_from_slice(&RECORD_MAGIC);
    header[4..8].copy_from_slice(&crc.to_le_bytes());
    let linked = start + LINKED_AT;
    let chain =
        if lent.is_empty() { Chain::behind(&out[linked..]) } else { Chain::behind_pieces(slices(out, lent, linked)) };
    out.resize(out.len() + len - unpadded, 0);
    chain
}

/// The first whole record header at or after `from` (a multiple of 8) for which `wanted` holds, and its offset.
pub(super) fn find_header(
    seed: SegmentSeed,
    segment: &[u8],
    from: usize,
    wanted: impl Fn(&RecordHeader) -> bool,
) -> Option<(usize, RecordHeader)> {
    let mut at = from;
    while at + RECORD_HEADER_BYTES_1 <= segment.len() {
        let magic = &segment[at..at + 4];
        if (magic == RECORD_MAGIC || magic == RECORD_MAGIC_1)
            && let Some(header) = decode_header(seed, at as u32, &segment[at..])
            && wanted(&header)
        {
            return Some((at, header));
        }
        at += RECORD_ALIGNMENT as usize;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use recension_engine::BatchRow;

    fn seed() -> SegmentSeed {
        SegmentSeed::new(StoreId([7; 16]), 3)
    }

    fn record() -> Vec<u8> {
        let rows = [
            BatchRow { tree: TreeId(1), key: b"pizza", value: Some(b"pineapple") },
            BatchRow { tree: TreeId(2), key: b"", value: Some(b"") },
            BatchRow { tree: TreeId(u32::MAX), key: b"salad", value: None },
        ];
        let mut out = Vec::new();
        let meta =
            RecordMeta { seq: Seq(9), time: Timestamp(5), durable: Seq(8), after_gap: false, before: Chain::default() };
        let at = Position { segment: 3, offset: 4096 };
        let chain = encode_record((&mut out, &mut Vec::new()), seed(), at, meta, rows.into_iter(), |_, _| {});
        assert_eq!(out.len(), record_len(rows.into_iter()));
        assert_eq!(decode_record(seed(), 4096, &out).unwrap().chain(StoreId([7; 16])), chain);
        out
    }

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        let bytes = record();
        let record = decode_record(seed(), 4096, &bytes).unwrap();
        assert_eq!((record.header.seq, record.header.durable, record.header.rows), (Seq(9), Seq(8), 3));
        let rows: Vec<_> = record.rows().map(|(_, row)| (row.tree.0, row.key, row.value)).collect();
        assert_eq!(
            rows,
            [(1, &b"pizza"[..], Some(&b"pineapple"[..])), (2, b"", Some(b"")), (u32::MAX, b"salad", None)]
        );
    }

    #[test]
    fn long_values_are_written_from_where_they_lie() {
        let values = [vec![1; LENT_BYTES], vec![2; LENT_BYTES - 1], vec![3; LENT_BYTES + 5], Vec::new()];
        let rows = || values.iter().map(|value| BatchRow { tree: TreeId(1), key: b"k", value: Some(value) });
        let (mut out, mut lent, mut places) = (b"before".to_vec(), Vec::new(), Vec::new());
        let meta =
            RecordMeta { seq: Seq(9), time: Timestamp(5), durable: Seq(8), after_gap: false, before: Chain::default() };
        let at = Position { segment: 3, offset: 4096 };
        let chain =
            encode_record((&mut out, &mut lent), seed(), at, meta, rows(), |_, place| places.push(place.offset - 4096));
        let lens: Vec<usize> = lent.iter().map(|lent| lent.value.len()).collect();
        assert_eq!(lens, [values[0].len(), values[2].len()]);
        let written = pieces(&out, &lent).iter().flat_map(|piece| piece.to_vec()).collect::<Vec<u8>>();
        let bytes = written.strip_prefix(b"before").unwrap();
        assert_eq!(bytes.len(), record_len(rows()));
        let record = decode_record(seed(), 4096, bytes).unwrap();
        assert_eq!(record.chain(StoreId([7; 16])), chain);
        let read: Vec<_> = record.rows().map(|(back, row)| (back, row.value)).collect();
        let wanted: Vec<_> = places.into_iter().zip(rows().map(|row| row.value)).collect();
        assert!(read == wanted, "other rows or places were read than were written");
    }

    #[test]
    fn a_record_cut_anywhere_is_none() {
        let bytes = record();
        for cut in 0..bytes.len() {
            assert!(decode_record(seed(), 4096, &bytes[..cut]).is_none(), "cut at {cut}");
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed_or_lies_in_the_padding() {
        let whole = record();
        let used = whole.len() - whole.iter().rev().take_while(|&&b| b == 0).count();
        for bit in 0..used * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(decode_record(seed(), 4096, &bytes).is_none(), "bit {bit}");
        }
    }

    #[test]
    fn a_copy_at_another_place_is_none() {
        let bytes = record();
        assert!(decode_record(seed(), 4104, &bytes).is_none());
        assert!(decode_record(SegmentSeed::new(StoreId([7; 16]), 4), 4096, &bytes).is_none());
        assert!(decode_record(SegmentSeed::new(StoreId([8; 16]), 3), 4096, &bytes).is_none());
    }

    #[test]
    fn a_later_record_is_found_behind_garbage() {
        let mut segment = vec![0xa5; 4096 + 64];
        segment.extend([0; 8]);
        let at = segment.len();
        let meta =
            RecordMeta { seq: Seq(2), time: Timestamp(5), durable: Seq(1), after_gap: false, before: Chain::default() };
        let row = BatchRow { tree: TreeId(1), key: b"k", value: Some(b"v") };
        let place = Position { segment: 3, offset: at as u32 };
        encode_record((&mut segment, &mut Vec::new()), seed(), place, meta, std::iter::once(row), |_, _| {});
        let found = find_header(seed(), &segment, 4096, |header| header.durable >= Seq(1));
        assert_eq!(found.map(|(offset, _)| offset), Some(at));
        assert!(find_header(seed(), &segment, 4096, |header| header.durable >= Seq(2)).is_none());
    }
}
