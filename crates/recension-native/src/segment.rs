//! Segments of the log: files that are created whole, appended to, mapped and never overwritten.
//! A reader is given only bytes below the segment's used end.

use std::borrow::Cow;
use std::io::{self, IoSlice};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::format::{
    LOG_DIR, Position, SEGMENT_HEADER_BYTES, SEGMENT_HEADER_USED, StoreId, check_segment_header, encode_segment_header,
    segment_file,
};
use super::record::{
    RECORD_HEADER_BYTES, ROW_HEADER_BYTES, RecordHeader, SegmentSeed, StoredRow, decode_header, decode_row, row_len,
};
use crate::disk::{Access, Disk, DiskFile, Mapping};
use recension_engine::{EngineError, Result, Seq, TreeId};

/// One file of the log.
pub(super) struct Segment {
    pub(super) number: u32,
    pub(super) seed: SegmentSeed,
    disk: Arc<dyn Disk>,
    /// It is kept open only while the segment is the newest: a store may have more segments than a process may have
    /// open files.
    file: Option<Arc<dyn DiskFile>>,
    /// Bytes with the header and whole records; [`ALL_OF_IT`] in a segment that was found sealed.
    used: AtomicU32,
    /// Shared with the same segment sealed.
    mapping: Arc<OnceLock<Arc<dyn Mapping>>>,
    /// The file is removed when the last reader is done.
    obsolete: AtomicBool,
}

impl Drop for Segment {
    fn drop(&mut self) {
        if *self.obsolete.get_mut() {
            // A file that stays is removed at the next open.
            let _ = self.disk.remove(&segment_file(self.number));
        }
    }
}

/// The segment is used up to the end of its file, whose length has not been looked up yet.
const ALL_OF_IT: u32 = u32::MAX;

/// The unit in which file systems note written parts.
pub(super) const PAGE_BYTES: usize = 4096;
/// A page of zeros.
static ZEROS: [u8; PAGE_BYTES] = [0; PAGE_BYTES];

impl Segment {
    /// Makes segment `number`, `len` bytes long, durable with its name.
    pub(super) fn create(disk: &Arc<dyn Disk>, id: StoreId, number: u32, len: u64) -> Result<Self> {
        let name = segment_file(number);
        let doing = |what: &str| format!("{what} {name}");
        let file = disk.create(&name).map_err(|e| EngineError::io(doing("creating"), e))?;
        let made = file
            .allocate(len)
            .and_then(|()| file.write_at(0, &[IoSlice::new(&encode_segment_header(id, number))]))
            .and_then(|()| file.sync())
            .and_then(|()| disk.sync_dir(LOG_DIR));
        if let Err(error) = made {
            // The rest of the file is recognised and removed at the next open.
            let _ = disk.remove(&name);
            return Err(EngineError::io(doing("allocating"), error));
        }
        let mut segment = Self::found(disk, id, number);
        segment.file = Some(file);
        segment.set_used(SEGMENT_HEADER_BYTES as u32);
        Ok(segment)
    }

    /// The folder of the segment.
    pub(super) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    pub(super) fn found(disk: &Arc<dyn Disk>, id: StoreId, number: u32) -> Self {
        Segment {
            number,
            seed: SegmentSeed::new(id, number),
            disk: disk.clone(),
            file: None,
            used: AtomicU32::new(ALL_OF_IT),
            mapping: Arc::default(),
            obsolete: AtomicBool::new(false),
        }
    }

    /// All of it is settled: the file is removed when the last reader is done.
    pub(super) fn make_obsolete(&self) {
        self.obsolete.store(true, Ordering::Release);
    }

    /// Segment `number` to be written to behind `used` bytes.
    pub(super) fn open_newest(disk: &Arc<dyn Disk>, id: StoreId, number: u32, used: u32) -> Result<Self> {
        let mut segment = Self::found(disk, id, number);
        segment.file = Some(segment.file()?);
        segment.set_used(used);
        Ok(segment)
    }

    /// The same segment after its last write: its file is closed. [`Segment::forget_beyond`] then gives its unused end
    /// back.
    pub(super) fn sealed(&self) -> Self {
        Segment {
            number: self.number,
            seed: self.seed,
            disk: self.disk.clone(),
            file: None,
            used: AtomicU32::new(self.used()),
            mapping: self.mapping.clone(),
            obsolete: AtomicBool::new(false),
        }
    }

    /// The file itself.
    pub(super) fn file(&self) -> Result<Arc<dyn DiskFile>> {
        match &self.file {
            Some(file) => Ok(file.clone()),
            None => {
                let name = self.name();
                self.disk.open(&name).map_err(|e| EngineError::io(format!("opening {name}"), e))
            }
        }
    }

    /// A value that every mapping of the file has a clone of.
    pub(super) fn viewers(&self) -> Arc<dyn Send + Sync> {
        self.mapping.clone()
    }

    pub(super) fn name(&self) -> String {
        segment_file(self.number)
    }

    /// End of the records; end of the file in a segment that was found sealed.
    pub(super) fn used(&self) -> u32 {
        match self.used.load(Ordering::Acquire) {
            ALL_OF_IT => self.mapping().map_or(0, |mapping| mapping.len() as u32),
            used => used,
        }
    }

    /// Bytes of the file.
    pub(super) fn file_len(&self) -> Result<u64> {
        self.file()?.len().map_err(|e| EngineError::io(format!("reading the size of {}", self.name()), e))
    }

    /// Reads the segment's own header and checks that it is this store's segment of this number.
    pub(super) fn check_header(&self, id: StoreId) -> Result<()> {
        // No more is read: bytes behind it may have been cut off since the file was mapped.
        let mapping = self.mapping()?;
        let len = mapping.len().min(SEGMENT_HEADER_USED as u64) as usize;
        check_segment_header(&mapping.read(0, len).unwrap_or_default(), id, self.number)
    }

    /// Writes `pieces`, one after the other, behind the used end. They count as used only after [`Segment::set_used`].
    pub(super) fn write(&self, offset: u32, pieces: &[IoSlice<'_>]) -> Result<()> {
        self.file()?
            .write_at(u64::from(offset), pieces)
            .map_err(|e| EngineError::io(format!("writing {}", self.name()), e))
    }

    /// Writes zeros to whole pages behind the used end, each page by itself. The system keeps bytes that are written at
    /// once as one piece, and writes all of the piece to the disk again with each later byte in it.
    pub(super) fn write_zeros(&self, pages: Range<u64>) -> Result<()> {
        let file = self.file()?;
        for page in pages.step_by(PAGE_BYTES) {
            file.write_at(page, &[IoSlice::new(&ZEROS)])
                .map_err(|e| EngineError::io(format!("writing {}", self.name()), e))?;
        }
        Ok(())
    }

    /// Begins the work that [`Segment::sync`] ends, for the written bytes in `range`.
    pub(super) fn begin_sync(&self, range: Range<u64>) {
        if let Ok(file) = self.file() {
            file.begin_sync(range);
        }
    }

    /// Whether that has reached the disk; `None` if it cannot be told.
    pub(super) fn has_come(&self, range: Range<u64>) -> Option<bool> {
        self.file().ok()?.has_come(range)
    }

    pub(super) fn sync(&self) -> Result<()> {
        self.file()?.sync().map_err(|e| EngineError::io(format!("syncing {}", self.name()), e))
    }

    pub(super) fn set_used(&self, used: u32) {
        self.used.store(used, Ordering::Release);
    }

    /// Makes sure that there is room for what is going to be written up to `end`.
    pub(super) fn reserve(&self, end: u64) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        file.reserve(end).map_err(|e| EngineError::io(format!("allocating {}", self.name()), e))
    }

    /// Makes the file at least `len` bytes long, with zeros behind its used end.
    pub(super) fn allocate(&self, len: u64) -> Result<()> {
        self.file()?.allocate(len).map_err(|e| EngineError::io(format!("allocating {}", self.name()), e))
    }

    /// Cuts the file at `len`, durably.
    pub(super) fn cut(&self, len: u32) -> Result<()> {
        let file = self.file()?;
        file.set_len(u64::from(len))
            .and_then(|()| file.sync())
            .map_err(|e| EngineError::io(format!("cutting {}", self.name()), e))
    }

    /// Cuts the file at `len` if the file system allows it, without a sync.
    pub(super) fn forget_beyond(&self, len: u32) {
        if let Ok(file) = self.file() {
            let _ = file.set_len(u64::from(len));
        }
    }

    fn mapping(&self) -> Result<&Arc<dyn Mapping>> {
        if let Some(mapping) = self.mapping.get() {
            return Ok(mapping);
        }
        let name = self.name();
        let file = self.file()?;
        let mut longer = u64::MAX;
        let mapping = loop {
            let len = file.len().map_err(|e| EngineError::io(format!("reading the size of {name}"), e))?;
            if u32::try_from(len).is_err() {
                return Err(EngineError::damaged(name, 0, format!("expected at most 4 GiB, found {len} bytes")));
            }
            match file.map(len) {
                Ok(mapping) => break mapping,
                // A sealed segment is cut to its used bytes in the background, which happened just now.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && len < longer => longer = len,
                Err(error) => return Err(EngineError::io(format!("mapping {name}"), error)),
            }
        };
        // Reading a row that is not in memory should cost one page, not all that the system reads around it.
        mapping.expect(Access::Scattered);
        Ok(self.mapping.get_or_init(|| mapping))
    }

    /// The bytes at `offset`, none of them beyond the used end.
    pub(super) fn bytes(&self, offset: u32, len: usize) -> Result<Cow<'_, [u8]>> {
        self.some_bytes(offset, len, len)
    }

    /// The same for at least `least` bytes, of `len`, as many as are had at once.
    fn some_bytes(&self, offset: u32, least: usize, len: usize) -> Result<Cow<'_, [u8]>> {
        let end = u64::from(offset) + len as u64;
        let used = u64::from(self.used());
        let found = if end <= used { self.mapping()?.read_some(u64::from(offset), least, len) } else { None };
        found.ok_or_else(|| {
            let why =
                if end <= used { "they cannot be read".to_owned() } else { format!("the segment ends at {used}") };
            EngineError::damaged(self.name(), u64::from(offset), format!("expected {len} bytes here, and {why}"))
        })
    }

    /// The bytes of the row at `offset`, by its unchecked lengths. A short row needs one look at the file.
    fn row_bytes(&self, offset: u32) -> Result<Cow<'_, [u8]>> {
        let rest = self.used().saturating_sub(offset) as usize;
        let bytes = self.some_bytes(offset, ROW_HEADER_BYTES, rest.clamp(ROW_HEADER_BYTES, ROW_BYTES_USUAL))?;
        let len = bytes.first_chunk().map_or(ROW_HEADER_BYTES, row_len);
        match bytes {
            bytes if len > bytes.len() => self.bytes(offset, len),
            Cow::Borrowed(bytes) => Ok(Cow::Borrowed(&bytes[..len])),
            Cow::Owned(mut bytes) => {
                bytes.truncate(len);
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// Every byte of the file, used or not, up to its length when the segment was first read. `access` says how it will
    /// be read.
    pub(super) fn whole_file(&self, access: Access) -> Result<Cow<'_, [u8]>> {
        let mapping = self.mapping()?;
        mapping.expect(access);
        let len = mapping.len();
        mapping.read_leniently(0, len as usize).ok_or_else(|| {
            EngineError::damaged(self.name(), 0, format!("expected {len} bytes, and they cannot be read"))
        })
    }

    /// Every byte up to the used end, to look for what is whole.
    pub(super) fn used_bytes(&self) -> Result<Cow<'_, [u8]>> {
        let used = self.used() as usize;
        self.mapping()?.read_leniently(0, used).ok_or_else(|| {
            EngineError::damaged(self.name(), 0, format!("expected {used} bytes, and they cannot be read"))
        })
    }

    /// Says that all records of it are about to be read.
    pub(super) fn read_ahead(&self) {
        if let Ok(mapping) = self.mapping() {
            mapping.read_ahead(0, u64::from(self.used()));
        }
    }

    /// The header of the commit record at `offset`; `None` at the end of the records.
    pub(super) fn record_header(&self, offset: u32) -> Result<Option<RecordHeader>> {
        if u64::from(offset) + RECORD_HEADER_BYTES as u64 > u64::from(self.used()) {
            return Ok(None);
        }
        let bytes = self.bytes(offset, RECORD_HEADER_BYTES)?;
        match decode_header(self.seed, offset, &bytes) {
            Some(header) => Ok(Some(header)),
            // A crash may have kept the zeros behind the last record of a sealed segment.
            None if bytes.iter().all(|&byte| byte == 0) => Ok(None),
            None => {
                let what = "expected the header of a commit, found none that is whole";
                Err(EngineError::damaged(self.name(), u64::from(offset), what))
            }
        }
    }
}

/// Most rows are no longer than this.
const ROW_BYTES_USUAL: usize = 1024;
/// Bytes of a row that are fetched ahead. The CPU itself prefetches the rest.
const TOUCHED_BYTES: usize = 384;

/// The segments of a log, by number without gaps.
#[derive(Clone, Default)]
pub(super) struct Segments {
    /// Oldest first; those before them are settled.
    pub(super) list: Vec<Arc<Segment>>,
}

/// A row read from the log, checked.
pub(super) struct LogRow<'s> {
    bytes: Cow<'s, [u8]>,
    key_len: usize,
    pub(super) deleted: bool,
    /// Distance from the start of its commit record.
    pub(super) back: u32,
}

impl<'s> LogRow<'s> {
    /// The key and the value.
    pub(super) fn into_parts(self) -> (Cow<'s, [u8]>, Cow<'s, [u8]>) {
        let value_at = ROW_HEADER_BYTES + self.key_len;
        match self.bytes {
            Cow::Borrowed(bytes) => {
                (Cow::Borrowed(&bytes[ROW_HEADER_BYTES..value_at]), Cow::Borrowed(&bytes[value_at..]))
            }
            Cow::Owned(mut bytes) => {
                let value = bytes.split_off(value_at);
                bytes.drain(..ROW_HEADER_BYTES);
                (Cow::Owned(bytes), Cow::Owned(value))
            }
        }
    }

    /// The value.
    pub(super) fn into_value(self) -> Cow<'s, [u8]> {
        let value_at = ROW_HEADER_BYTES + self.key_len;
        match self.bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[value_at..]),
            Cow::Owned(mut bytes) => Cow::Owned(bytes.split_off(value_at)),
        }
    }
}

impl Segments {
    pub(super) fn get(&self, number: u32) -> Result<&Arc<Segment>> {
        let first = self.list.first().map_or(1, |segment| segment.number);
        let found = number.checked_sub(first).and_then(|index| self.list.get(index as usize));
        found.ok_or_else(|| EngineError::damaged(segment_file(number), 0, "the segment is missing"))
    }

    /// Leaves out the segments before `number`.
    pub(super) fn drop_before(&mut self, number: u32) {
        self.list.retain(|segment| segment.number >= number);
    }

    /// Begins to bring the row at `position` into the CPU's caches: a hint, without effect otherwise.
    pub(super) fn touch(&self, position: Position) {
        let Ok(segment) = self.get(position.segment) else { return };
        let Some(mapping) = segment.mapping.get() else { return };
        let used = segment.used().saturating_sub(position.offset) as usize;
        mapping.prefetch(u64::from(position.offset), used.min(TOUCHED_BYTES));
    }

    /// The row at `position`, which the index says is the version `seq` of `full_key`.
    pub(super) fn row(&self, position: Position, full_key: &[u8], seq: Seq) -> Result<LogRow<'_>> {
        let segment = self.get(position.segment)?;
        let wrong = |what: &str| {
            let what = format!("{what} (looking for {}, seq {seq})", full_key.escape_ascii());
            EngineError::damaged(segment.name(), u64::from(position.offset), what)
        };
        let bytes = segment.row_bytes(position.offset)?;
        let (key_len, deleted, back) = {
            let row = decode_row(&bytes).ok_or_else(|| wrong("expected a row"))?;
            check_row(&row, full_key, seq).map_err(wrong)?;
            (row.key.len(), row.value.is_none(), row.back)
        };
        Ok(LogRow { bytes, key_len, deleted, back })
    }

    /// The header of the commit that wrote the row at `position`. It lies `back` bytes before the row.
    pub(super) fn commit_of(&self, position: Position, back: u32) -> Result<RecordHeader> {
        let segment = self.get(position.segment)?;
        let start = position.offset.checked_sub(back).ok_or_else(|| {
            EngineError::damaged(
                segment.name(),
                u64::from(position.offset),
                "the row's commit would start before the file",
            )
        })?;
        segment.record_header(start)?.ok_or_else(|| {
            EngineError::damaged(segment.name(), u64::from(start), "expected the header of a commit, found the end")
        })
    }
}

fn check_row(row: &StoredRow<'_>, full_key: &[u8], seq: Seq) -> std::result::Result<(), &'static str> {
    if !row.is_whole(seq) {
        return Err("the row's checksum does not match");
    }
    match full_key.split_first_chunk::<4>() {
        Some((tree, key)) if TreeId(u32::from_be_bytes(*tree)) == row.tree && key == row.key => Ok(()),
        _ => Err("another row lies here"),
    }
}
