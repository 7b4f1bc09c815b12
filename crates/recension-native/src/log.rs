//! The end of the log, where the next commit goes. One committing thread uses it at a time. Records are gathered in a
//! buffer and written with one call. A segment is synced completely before the next one is written to.

use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::chain::Chain;
use super::format::{Position, SEGMENT_HEADER_BYTES, StoreId, segment_file};
use super::record::{Lent, RecordMeta, decode_row, encode_record, pieces, record_len};
use super::segment::{PAGE_BYTES, Segment, Segments};
use crate::disk::Disk;
use recension_engine::pacing::Vain;
use recension_engine::{Batch, CommitInfo, EngineError, Result, Seq};

/// Bytes that are gathered before they are written without waiting for the group's end.
const BUFFER_BYTES: usize = 4 << 20;

/// If a write that is to be synced reaches unwritten bytes of its segment, this many bytes behind it are written as
/// zeros. This begins once as many bytes of records were written since the store was opened. File systems note which
/// parts of a file were written, and change that note with the sync of the first write to a part. Such a sync costs
/// half as much again.
const AHEAD_BYTES: u64 = 256 << 10;
/// The zeros are at most this part of a segment, or a page.
const AHEAD_PART: u64 = 256;

/// The part of a segment that is allocated at first, or a page: 1 MiB of the default length. It is doubled as it fills
/// up, so that a store's disk space follows its data. It is a part and not a length, so that the short segments of the
/// crash tests grow too.
const FIRST_PART: u64 = 64;

/// How long a lone commit polls for its bytes to reach the disk before it sleeps. Most disks that are fast enough for
/// polling take less.
const LOOK_MAX: Duration = Duration::from_micros(100);
/// It does not poll if there are more bytes than this.
const LOOK_BYTES_MAX: u64 = 64 << 10;

/// Makes segments, ahead of need if it can.
pub(super) struct SegmentMaker {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) id: StoreId,
    pub(super) segment_bytes: u64,
    made: Mutex<Made>,
}

struct Made {
    /// The newest segment that is in use. No file with a higher number is in use.
    in_use: u32,
    /// The next one, made ahead of need.
    prepared: Option<Segment>,
}

impl SegmentMaker {
    pub(super) fn new(disk: Arc<dyn Disk>, id: StoreId, segment_bytes: u64, in_use: u32) -> Self {
        SegmentMaker { disk, id, segment_bytes, made: Mutex::new(Made { in_use, prepared: None }) }
    }

    /// Makes the segment after `newest`, unless it is there or `newest` is no longer the newest.
    pub(super) fn prepare_after(&self, newest: u32) -> Result<()> {
        let mut made = self.made.lock();
        if made.prepared.is_none() && made.in_use == newest {
            made.prepared = Some(self.create(&made, self.segment_bytes)?);
        }
        Ok(())
    }

    /// Removes a segment that was made ahead of need, when the store is closed.
    pub(super) fn discard_prepared(&self) {
        if let Some(segment) = self.made.lock().prepared.take() {
            // Best effort: recovery removes it otherwise.
            let _ = self.disk.remove(&segment.name());
        }
    }

    /// The next segment, with room for `needed` bytes at least, and its length. It is in use from now on.
    fn take(&self, needed: u64) -> Result<(Segment, u64)> {
        let mut made = self.made.lock();
        let (segment, len) = match made.prepared.take() {
            Some(segment) if needed <= self.segment_bytes => (segment, self.segment_bytes),
            Some(segment) => match segment.allocate(needed) {
                Ok(()) => (segment, needed),
                Err(error) => {
                    made.prepared = Some(segment);
                    return Err(error);
                }
            },
            None => with_room(self.set_apart(needed), needed, |len| self.create(&made, len))?,
        };
        made.in_use = segment.number;
        Ok((segment, len))
    }

    /// Bytes that are allocated for a segment of which `needed` bytes are about to be used.
    fn set_apart(&self, needed: u64) -> u64 {
        // Twice the needed bytes, in powers of two, so that a segment of any length grows a few times only.
        let first = (self.segment_bytes / FIRST_PART).max(PAGE_BYTES as u64);
        needed.next_power_of_two().saturating_mul(2).max(first).min(self.segment_bytes).max(needed)
    }

    fn create(&self, made: &Made, len: u64) -> Result<Segment> {
        let number = made.in_use + 1;
        // A failed attempt may have left this file.
        match self.disk.remove(&segment_file(number)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(EngineError::io(format!("removing an unfinished {}", segment_file(number)), error))
            }
            _ => Segment::create(&self.disk, self.id, number, len),
        }
    }
}

/// Calls `make` with the full length. If the disk is too full for that, calls it with the needed length, so that the
/// store can still be used. Returns the length too.
fn with_room<T>(full: u64, needed: u64, make: impl Fn(u64) -> Result<T>) -> Result<(T, u64)> {
    let small = needed.next_multiple_of(PAGE_BYTES as u64).max(full / 64).min(full);
    match make(full) {
        Err(error) if error.is_disk_full() && small < full => Ok((make(small)?, small)),
        made => Ok((made?, full)),
    }
}

/// The writing end of the log.
pub(super) struct LogWriter {
    maker: Arc<SegmentMaker>,
    pub(super) segments: Segments,
    /// The position where the buffer will be written; the end of the log when the buffer is empty.
    end: Position,
    /// The chain value behind the newest record, including the buffer.
    pub(super) chain: Chain,
    buffer: Vec<u8>,
    /// Room was allocated in the newest segment since the store was opened.
    allocated: bool,
    /// The newest segment is written up to here, maybe with zeros.
    written: u64,
    /// Bytes of records written since the store was opened.
    appended: u64,
    /// Bytes of the newest segment that were written since its last sync, maybe with zeros behind them.
    unsynced: Range<u64>,
    /// How often polling for the disk was in vain.
    vain: Vain,
    /// Capacity of the newest segment, in bytes.
    capacity: u64,
    /// The list of segments has changed since the leader last looked.
    changed: bool,
    /// Segments sealed since they were last taken.
    sealed: Vec<Arc<Segment>>,
}

impl LogWriter {
    pub(super) fn new(maker: Arc<SegmentMaker>, segments: Segments, end: Position, chain: Chain) -> Self {
        LogWriter {
            maker,
            segments,
            end,
            chain,
            buffer: Vec::new(),
            allocated: false,
            written: 0,
            appended: 0,
            unsynced: u64::from(end.offset)..u64::from(end.offset),
            vain: Vain::default(),
            capacity: 0,
            changed: false,
            sealed: Vec::new(),
        }
    }

    /// The position of the next record.
    pub(super) fn end(&self) -> Position {
        Position { segment: self.end.segment, offset: self.end.offset + self.buffer.len() as u32 }
    }

    /// Makes room for the record of `batch`. The record is not written yet.
    pub(super) fn make_room(&mut self, batch: &Batch) -> std::result::Result<Room, WriteError> {
        let len = record_len(batch.rows()) as u64;
        let fits = |log: &Self| u64::from(log.end().offset) + len <= log.capacity;
        let without_commits = self.end().offset == SEGMENT_HEADER_BYTES as u32;
        if !self.allocated || (without_commits && !fits(self)) {
            // Only the newest segment may be without commits: it grows rather than being left behind.
            let needed = if without_commits { capacity_for(len)? } else { u64::from(self.end().offset) };
            self.allocate_newest(needed).map_err(WriteError::NothingWritten)?;
        }
        let needed = u64::from(self.end().offset) + len;
        if !fits(self) && needed <= self.maker.segment_bytes {
            self.allocate_newest(needed).map_err(WriteError::NothingWritten)?;
        }
        if fits(self) {
            let newest = self.segments.list.last();
            newest.map_or(Ok(()), |newest| newest.reserve(needed)).map_err(WriteError::NothingWritten)?;
            return Ok(Room::InSegment);
        }
        self.roll(len)?;
        Ok(Room::NewSegment)
    }

    /// Makes the first segment of a new store.
    pub(super) fn make_first_segment(&mut self) -> std::result::Result<(), WriteError> {
        if self.segments.list.is_empty() {
            self.allocate_newest(SEGMENT_HEADER_BYTES).map_err(WriteError::NothingWritten)?;
        }
        Ok(())
    }

    /// Whether the newest segment has no commits.
    pub(super) fn has_no_commits(&self) -> bool {
        self.end().offset == SEGMENT_HEADER_BYTES as u32
    }

    /// Continues in a new segment, unless the newest has no commits. The buffer must be empty.
    pub(super) fn begin_segment(&mut self) -> std::result::Result<Room, WriteError> {
        if self.segments.list.is_empty() || self.has_no_commits() {
            return Ok(Room::InSegment);
        }
        self.roll(0)?;
        Ok(Room::NewSegment)
    }

    /// Whether the list of segments has changed since this was last asked.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The segments that have been sealed since this was last asked, and whose unused ends have not been given back.
    pub(super) fn take_sealed(&mut self) -> Vec<Arc<Segment>> {
        std::mem::take(&mut self.sealed)
    }

    /// Allocates more for the newest segment, at least `needed` bytes in all, or makes the first.
    fn allocate_newest(&mut self, needed: u64) -> Result<()> {
        let maker = &self.maker;
        if let Some(newest) = self.segments.list.last_mut() {
            let len = newest.file_len()?;
            let full = maker.set_apart(needed).max(len);
            let ((), capacity) = with_room(full, needed.max(len), |len| newest.allocate(len))?;
            // It is mapped anew: the earlier view is too short.
            *newest = Arc::new(Segment::open_newest(&maker.disk, maker.id, newest.number, newest.used())?);
            self.capacity = capacity;
        } else {
            let (first, capacity) = maker.take(needed)?;
            self.segments.list.push(Arc::new(first));
            self.capacity = capacity;
        }
        (self.allocated, self.changed, self.written) = (true, true, 0);
        Ok(())
    }

    /// Continues in a new segment that has room for a record of `len` bytes.
    fn roll(&mut self, len: u64) -> std::result::Result<(), WriteError> {
        let (next, capacity) = self.maker.take(capacity_for(len)?).map_err(WriteError::NothingWritten)?;
        // Everything before the new segment must be durable before anything in it.
        self.write(false)?;
        self.sync()?;
        if let Some(newest) = self.segments.list.last_mut() {
            *newest = Arc::new(newest.sealed());
            self.sealed.push(newest.clone());
        }
        self.end = Position { segment: next.number, offset: SEGMENT_HEADER_BYTES as u32 };
        self.segments.list.push(Arc::new(next));
        (self.capacity, self.changed, self.allocated, self.written) = (capacity, true, true, 0);
        self.unsynced = SEGMENT_HEADER_BYTES..SEGMENT_HEADER_BYTES;
        Ok(())
    }

    /// Puts the record of `batch` into the buffer; [`LogWriter::make_room`] has been called for it.
    pub(super) fn append(
        &mut self,
        commit: CommitInfo,
        durable: Seq,
        after_gap: bool,
        batch: &Batch,
        placed: impl FnMut(recension_engine::BatchRow<'_>, Position),
    ) -> std::result::Result<(), WriteError> {
        let at = self.end();
        let newest = self.newest()?;
        let meta = RecordMeta { seq: commit.seq, time: commit.time, durable, after_gap, before: self.chain };
        let seed = newest.seed;
        let mut lent = Vec::new();
        self.chain = encode_record((&mut self.buffer, &mut lent), seed, at, meta, batch.rows(), placed);
        if self.buffer.len() >= BUFFER_BYTES || !lent.is_empty() {
            self.write_with(&lent, false)?;
        }
        Ok(())
    }

    /// The value of a row that lies in the buffer, not in a segment yet.
    pub(super) fn buffered_value(&self, position: Position) -> Option<Vec<u8>> {
        let at = position.offset.checked_sub(self.end.offset).filter(|_| position.segment == self.end.segment)?;
        decode_row(self.buffer.get(at as usize..)?)?.value.map(<[u8]>::to_vec)
    }

    /// Writes the buffer; `to_be_synced`: a sync follows at once.
    pub(super) fn write(&mut self, to_be_synced: bool) -> std::result::Result<(), WriteError> {
        self.write_with(&[], to_be_synced)
    }

    /// The same, with the long values of its last record.
    fn write_with(&mut self, lent: &[Lent<'_>], to_be_synced: bool) -> std::result::Result<(), WriteError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let newest = self.newest()?.clone();
        let written = match lent {
            [] => newest.write(self.end.offset, &[IoSlice::new(&self.buffer)]),
            lent => newest.write(self.end.offset, &pieces(&self.buffer, lent)),
        };
        written.map_err(WriteError::Failed)?;
        let len = (self.buffer.len() + lent.iter().map(|lent| lent.value.len()).sum::<usize>()) as u64;
        let end = u64::from(self.end.offset) + len;
        self.unsynced.end = end;
        if end > self.written {
            self.written = end;
            let page = PAGE_BYTES as u64;
            let ahead = (self.maker.segment_bytes / AHEAD_PART).clamp(page, AHEAD_BYTES);
            if to_be_synced && len < ahead / 2 && self.appended >= ahead {
                let pages = end.next_multiple_of(page)..(end + ahead).min(self.capacity) / page * page;
                self.written = end.max(pages.end);
                newest.write_zeros(pages).map_err(WriteError::Failed)?;
                self.unsynced.end = self.written;
            }
        }
        self.appended += len;
        self.end.offset = end as u32;
        newest.set_used(self.end.offset);
        self.buffer.clear();
        if self.buffer.capacity() > BUFFER_BYTES {
            self.buffer.shrink_to(BUFFER_BYTES);
        }
        Ok(())
    }

    /// Begins the work that [`LogWriter::sync`] ends. The disk works during whatever is done in between.
    pub(super) fn begin_sync(&self) {
        if let Some(newest) = self.segments.list.last() {
            newest.begin_sync(self.unsynced.clone());
        }
    }

    /// Polls for a moment, without sleeping, until the begun writing has reached the disk. A sync is two waits, for the
    /// bytes and for the disk's cache. A thread that sleeps on an idle processor takes tens of microseconds to wake
    /// from each. Polling spares one of them. It does not yield either: a thread that computes would then run for
    /// milliseconds.
    pub(super) fn look_for_disk(&mut self) {
        let Some(newest) = self.segments.list.last() else { return };
        let range = self.unsynced.clone();
        if range.end - range.start > LOOK_BYTES_MAX || self.vain.passes() {
            return;
        }
        let began = Instant::now();
        let in_vain = loop {
            match newest.has_come(range.clone()) {
                Some(true) => break false,
                Some(false) if began.elapsed() < LOOK_MAX => std::hint::spin_loop(),
                _ => break true,
            }
        };
        self.vain.was(in_vain);
    }

    /// Makes all writes durable.
    pub(super) fn sync(&mut self) -> std::result::Result<(), WriteError> {
        let Some(newest) = self.segments.list.last() else { return Ok(()) };
        newest.sync().map_err(WriteError::Failed)?;
        let end = u64::from(self.end.offset);
        self.unsynced = end..end;
        Ok(())
    }

    /// Gives the unused end of the newest segment back, durably. The next commit allocates it again.
    pub(super) fn trim(&mut self) -> Result<()> {
        self.maker.discard_prepared();
        for segment in self.take_sealed() {
            segment.forget_beyond(segment.used());
        }
        if let Some(newest) = self.segments.list.last()
            && self.allocated
        {
            newest.cut(self.end.offset)?;
            self.allocated = false;
        }
        Ok(())
    }

    /// After a failed write: cuts off unacknowledged bytes, if the file system still allows it. This is neither synced
    /// nor relied upon.
    pub(super) fn abandon(&mut self, acknowledged_end: Position) {
        self.buffer.clear();
        for segment in self.segments.list.iter().skip_while(|segment| segment.number < acknowledged_end.segment) {
            let acknowledged = segment.number == acknowledged_end.segment;
            let end = if acknowledged { acknowledged_end.offset } else { SEGMENT_HEADER_BYTES as u32 };
            // Readers look for commits up to the used end, which must not lie behind the file's end.
            segment.set_used(end);
            segment.forget_beyond(end);
        }
    }

    fn newest(&self) -> std::result::Result<&Arc<Segment>, WriteError> {
        self.segments.list.last().ok_or_else(|| {
            let nothing = EngineError::damaged("log", 0, "there is no segment to write to");
            WriteError::NothingWritten(nothing)
        })
    }
}

/// The size of a segment with room for a record of `len` bytes.
fn capacity_for(len: u64) -> std::result::Result<u64, WriteError> {
    let capacity = SEGMENT_HEADER_BYTES + len;
    match u32::try_from(capacity) {
        Ok(_) => Ok(capacity),
        Err(_) => {
            let max = u32::MAX as usize;
            let too_large = EngineError::TooLarge { what: "bytes in a commit", len: len as usize, max };
            Err(WriteError::NothingWritten(too_large))
        }
    }
}

/// The place of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Room {
    /// Behind the one before.
    InSegment,
    /// In a new segment; all before it is durable.
    NewSegment,
}

/// A failure of a write.
pub(super) enum WriteError {
    /// Before any byte of a record was written: the log is as it was, and the store goes on.
    NothingWritten(EngineError),
    /// It failed in a write or a sync: the state on disk is unknown, and the store takes no more commits.
    Failed(EngineError),
}
