//! Magic numbers, sizes and the two small headers of docs/format.md. Pure: bytes in, values out.

use recension_engine::{EngineError, Result};

/// The format version that this software writes, and the newest that it reads.
pub(super) const FORMAT_VERSION: u32 = 2;
/// The newest format of a store's files that this program reads and writes.
pub const NEWEST_FORMAT: u32 = FORMAT_VERSION;
/// The version before: without a chain of records, and without a mark.
pub(super) const FORMAT_VERSION_1: u32 = 1;

/// The offset of the first commit record in a segment.
pub(super) const SEGMENT_HEADER_BYTES: u64 = 4096;

/// Records start at multiples of this.
pub(super) const RECORD_ALIGNMENT: u64 = 8;

/// Names of files and folders in a store.
pub(super) const STORE_FILE: &str = "STORE";
pub(super) const STORE_TEMPORARY: &str = "STORE.tmp";
/// Where a store has moved to.
pub(super) const MOVED_FILE: &str = "MOVED";
pub(super) const MOVED_TEMPORARY: &str = "MOVED.tmp";
pub(super) const MARK_FILE: &str = "MARK";
pub(super) const MARK_TEMPORARY: &str = "MARK.tmp";
/// Says that a backup was begun and is not a store yet.
pub(super) const UNFINISHED_FILE: &str = "BACKUP-UNFINISHED";
pub(super) const UNFINISHED_TEMPORARY: &str = "BACKUP-UNFINISHED.tmp";
/// Says that a copy was begun and is not a store yet.
pub(super) const COPY_FILE: &str = "COPY-UNFINISHED";
pub(super) const COPY_TEMPORARY: &str = "COPY-UNFINISHED.tmp";
/// The keys of an encrypted store.
pub(super) const KEYS_FILE: &str = "KEYS";
pub(super) const KEYS_TEMPORARY: &str = "KEYS.tmp";
pub(super) const COLLECTION_KEYS_FILE: &str = "COLLECTION-KEYS";
pub(super) const COLLECTION_KEYS_TEMPORARY: &str = "COLLECTION-KEYS.tmp";
pub(super) const LOCK_FILE: &str = "lock";
pub(super) const LOG_DIR: &str = "log";
pub(super) const INDEX_DIR: &str = "index";
pub(super) const SETTLED_DIR: &str = "settled";
pub(super) const SETTLED_MANIFEST_FILE: &str = "settled/MANIFEST";
pub(super) const SETTLED_MANIFEST_TEMPORARY: &str = "settled/MANIFEST.tmp";
pub(super) const MANIFEST_FILE: &str = "index/MANIFEST";
pub(super) const MANIFEST_TEMPORARY: &str = "index/MANIFEST.tmp";

const STORE_MAGIC: [u8; 8] = *b"RECSTORE";
const SEGMENT_MAGIC: [u8; 8] = *b"RECSEGMT";

/// Distinguishes one store's files from another's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StoreId(pub(super) [u8; 16]);

/// A place in the log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) struct Position {
    pub(super) segment: u32,
    pub(super) offset: u32,
}

impl Position {
    /// The position of a store's first commit.
    pub(super) const START: Position = Position { segment: 1, offset: SEGMENT_HEADER_BYTES as u32 };
}

pub(super) fn segment_file(number: u32) -> String {
    format!("{LOG_DIR}/{number:010}.log")
}

pub(super) fn run_file(number: u64) -> String {
    format!("{INDEX_DIR}/{number:010}.run")
}

pub(super) fn settled_file(number: u64) -> String {
    format!("{SETTLED_DIR}/{number:010}.rows")
}

/// The number in a file name such as `0000000012.log`; `None` for other names.
pub(super) fn file_number(name: &str, extension: &str) -> Option<u64> {
    let digits = name.strip_suffix(extension)?.strip_suffix('.')?;
    (digits.len() == 10 && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok())?
}

/// Reads fixed-size little-endian fields one after the other; `None` past the end.
pub(super) struct Fields<'b>(pub(super) &'b [u8]);

impl<'b> Fields<'b> {
    pub(super) fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    pub(super) fn slice(&mut self, len: usize) -> Option<&'b [u8]> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.bytes().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.bytes().map(u64::from_le_bytes)
    }
}

/// Refuses a version that this software does not know. Version 0 never existed: it is damage.
pub(super) fn check_version(file: &str, found: u32) -> Result<()> {
    match found {
        FORMAT_VERSION_1..=FORMAT_VERSION => Ok(()),
        0 => Err(EngineError::damaged(file, 8, "format version 0")),
        _ => Err(EngineError::NewerFormat { file: file.to_owned(), found, supported: FORMAT_VERSION }),
    }
}

/// The contents of `STORE`.
pub(super) fn encode_store_file(id: StoreId) -> Vec<u8> {
    let mut bytes = STORE_MAGIC.to_vec();
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend(id.0);
    let crc = crc32c::crc32c(&bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

/// Reads the contents of `STORE`: the format version and the id. The magic is checked first and the checksum next, so
/// that another program's file is recognised as such, and a damaged version number is not taken for a newer format.
pub(super) fn decode_store_file(bytes: &[u8]) -> Result<(u32, StoreId)> {
    let (version, id) = decode_header(bytes, STORE_MAGIC, 12 + 16)
        .map_err(|(offset, what)| EngineError::damaged(STORE_FILE, offset, what))?;
    check_version(STORE_FILE, version)?;
    Ok((version, id))
}

/// The first bytes of segment `number`, without the zeros that follow.
pub(super) fn encode_segment_header(id: StoreId, number: u32) -> Vec<u8> {
    let mut bytes = SEGMENT_MAGIC.to_vec();
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend(id.0);
    bytes.extend(u64::from(number).to_le_bytes());
    let crc = crc32c::crc32c(&bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

/// Bytes of a segment header that carry meaning.
pub(super) const SEGMENT_HEADER_USED: usize = 40;

/// Checks the header of segment `number`. An error has the offset and the reason.
pub(super) fn check_segment_header(bytes: &[u8], id: StoreId, number: u32) -> Result<()> {
    let file = segment_file(number);
    let found = segment_identity(bytes).map_err(|(offset, what)| EngineError::damaged(&*file, offset, what))?;
    check_version(&file, found.version)?;
    if found.id != id {
        return Err(EngineError::damaged(&*file, 12, "the segment belongs to another store"));
    }
    if found.number != u64::from(number) {
        let what = format!("the file holds segment {}", found.number);
        return Err(EngineError::damaged(&*file, 28, what));
    }
    Ok(())
}

/// The identity in a segment's header.
pub(super) struct SegmentIdentity {
    pub(super) version: u32,
    pub(super) id: StoreId,
    pub(super) number: u64,
}

pub(super) fn segment_identity(bytes: &[u8]) -> std::result::Result<SegmentIdentity, (u64, String)> {
    let (version, id) = decode_header(bytes, SEGMENT_MAGIC, 36)?;
    let number = Fields(&bytes[28..]).u64().unwrap_or_default();
    Ok(SegmentIdentity { version, id, number })
}

/// Checks magic and crc (which lies at `crc_at`) of a header that starts with magic, version, store id.
pub(super) fn decode_header(
    bytes: &[u8],
    magic: [u8; 8],
    crc_at: usize,
) -> std::result::Result<(u32, StoreId), (u64, String)> {
    let short = || (bytes.len() as u64, format!("the header ends after {} bytes", bytes.len()));
    let mut fields = Fields(bytes);
    let found = fields.bytes::<8>().ok_or_else(short)?;
    if found != magic {
        let what = format!("expected the magic {}, found {}", magic.escape_ascii(), found.escape_ascii());
        return Err((0, what));
    }
    let version = fields.u32().ok_or_else(short)?;
    let id = StoreId(fields.bytes().ok_or_else(short)?);
    let stored = bytes.get(crc_at..).and_then(|rest| Fields(rest).u32()).ok_or_else(short)?;
    let computed = crc32c::crc32c(&bytes[..crc_at]);
    if stored != computed {
        return Err((crc_at as u64, format!("header checksum: expected {stored:08x}, found {computed:08x}")));
    }
    Ok((version, id))
}
