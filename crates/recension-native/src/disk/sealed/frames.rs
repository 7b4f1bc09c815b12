//! Segments of the log: what is written becomes frames, one behind the other, and nothing that was written is written
//! over. So a crash tears nothing that was durable. docs/encryption.md has their bytes.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, ErrorKind, IoSlice};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};

use super::frame::{Found, HEADER_BYTES, Header, SECTOR, Says, opening_of, walk};
use super::opening::{Opening, Place};
use super::places::{Piece, Places};
use super::{Sealing, damaged};
use crate::disk::{Access, DiskFile, Mapping};

/// Bytes of the engine's file in a frame that is written: with its header and tag two sectors. Longer ones would take
/// longer to open for a short row, shorter ones more room.
const TEXT_BYTES: usize = 976;
/// Bytes that are written at once, about.
const WRITE_BYTES: usize = 1 << 20;
/// A segment has its header, which lies in its first bytes, and a page with it.
const LEN_MIN: u64 = 4096;
/// Room for openings beside that for frames.
const SPARE_BYTES: u64 = 4096;
/// Bytes that are written as zeros ahead of frames, once the engine does so: see log.rs.
const AHEAD_BYTES: u64 = 256 << 10;
const PAGE_BYTES: u64 = 4096;

/// A segment. All who have it open share one.
pub(super) struct FrameFile {
    name: String,
    place: Place,
    below: Arc<dyn DiskFile>,
    sealing: Arc<Sealing>,
    /// Length of the engine's file.
    len: AtomicU64,
    reading: RwLock<Reading>,
    writing: Mutex<Writing>,
    /// Its name is gone: what is left is given back.
    removed: AtomicBool,
    views: AtomicUsize,
}

/// What is known of the frames.
#[derive(Default)]
struct Reading {
    walked: bool,
    places: Places,
    openings: Vec<Arc<Opening>>,
    /// What lies behind the last frame does not open, and nobody has said that it counts for nothing.
    torn: bool,
    /// A view of the real file, and how long it was then.
    view: Option<Arc<dyn Mapping>>,
}

#[derive(Default)]
struct Writing {
    opening: Option<Arc<Opening>>,
    /// Where the next frame goes, in the real file, and how long that is.
    end: u64,
    raw_len: u64,
    /// Behind the last frame, where `end` is not rounded up.
    exact_end: u64,
    /// The engine writes zeros ahead, and how far that has come in the real file.
    ahead: bool,
    zeroed: u64,
    /// What was written since the last sync, in the real file.
    unsynced: Range<u64>,
    buffer: Vec<u8>,
}

/// Room in the real file for this many bytes of the engine's.
fn room_for(len: u64) -> u64 {
    (len + len / 16 + SPARE_BYTES).next_multiple_of(SECTOR)
}

/// How many bytes of the engine's file that room is for.
fn bytes_in(room: u64) -> u64 {
    room.saturating_sub(SPARE_BYTES + SECTOR) / 17 * 16
}

/// Bytes of the real file that frames with this many bytes take, at most.
fn frames_for(len: u64) -> u64 {
    len.div_ceil(TEXT_BYTES as u64) * 2 * SECTOR
}

impl FrameFile {
    /// A file that was just made, or was there.
    pub(super) fn new(name: &str, below: Arc<dyn DiskFile>, sealing: &Arc<Sealing>, place: Place) -> Self {
        FrameFile {
            name: name.to_owned(),
            place,
            below,
            sealing: sealing.clone(),
            len: AtomicU64::new(0),
            reading: RwLock::default(),
            writing: Mutex::default(),
            removed: AtomicBool::new(false),
            views: AtomicUsize::new(0),
        }
    }

    /// Its name is gone.
    pub(super) fn set_removed(&self) {
        self.removed.store(true, Ordering::Release);
    }

    /// What is known of the frames; the first who asks walks over them.
    fn reading(&self) -> io::Result<RwLockReadGuard<'_, Reading>> {
        let reading = self.reading.read();
        if reading.walked {
            return Ok(reading);
        }
        drop(reading);
        let mut writing = self.writing.lock();
        if !self.reading.read().walked {
            let Found { places, openings, end, torn } = walk(&self.name, &*self.below, &self.sealing, self.place)?;
            let raw_len = self.below.len()?;
            let used = if places.end() == 0 { 0 } else { places.end().max(LEN_MIN) };
            let room = bytes_in(raw_len.saturating_sub(end));
            self.len.store(used.max(places.end() + room), Ordering::Release);
            *writing = Writing { end, raw_len, exact_end: end.min(raw_len), ..Writing::default() };
            writing.unsynced = end..end;
            *self.reading.write() = Reading { walked: true, places, openings, torn, view: None };
        }
        drop(writing);
        Ok(self.reading.read())
    }

    /// Where its frames end, and whether something that does not open lies behind them.
    fn used(&self) -> (u64, bool) {
        let reading = self.reading.read();
        (reading.places.end(), reading.torn)
    }

    fn writing(&self) -> io::Result<MutexGuard<'_, Writing>> {
        drop(self.reading()?);
        Ok(self.writing.lock())
    }

    /// The opening that this process writes with. It is durable before any frame of it is written: who finds such a
    /// frame and not the opening knows that it was damaged.
    fn opening(&self, writing: &mut Writing) -> io::Result<Arc<Opening>> {
        if let Some(opening) = &writing.opening {
            return Ok(opening.clone());
        }
        let number = self.reading.read().openings.last().map_or(0, |last| last.number) + 1;
        let opening = Arc::new(Opening::new(&self.sealing.keys, self.place, number)?);
        let at = writing.end;
        // Whatever becomes of it, nothing else is written there.
        writing.wrote(at, opening.bytes.len() as u64);
        self.below.write_at(at, &[IoSlice::new(&opening.bytes)])?;
        self.below.sync()?;
        let mut reading = self.reading.write();
        reading.openings.push(opening.clone());
        reading.torn = false;
        drop(reading);
        writing.opening = Some(opening.clone());
        Ok(opening)
    }

    /// Appends a frame to the buffer; where it will lie.
    fn seal(&self, writing: &mut Writing, header: Header, text: impl FnOnce(&mut Vec<u8>)) -> io::Result<u64> {
        let opening = self.opening(writing)?;
        let pad = writing.buffer.len().next_multiple_of(SECTOR as usize);
        writing.buffer.resize(pad, 0);
        let at = writing.end + pad as u64;
        let header = Header { seal: opening.next_seal(), opening: opening.number, ..header };
        writing.buffer.extend_from_slice(&header.encode());
        text(&mut writing.buffer);
        let tag = opening.seal(header.seal, &header.bound_to(at), &mut writing.buffer[pad + HEADER_BYTES..])?;
        writing.buffer.extend_from_slice(&tag);
        Ok(at)
    }

    /// Writes what is in the buffer.
    fn flush(&self, writing: &mut Writing) -> io::Result<()> {
        let (at, buffer) = (writing.end, std::mem::take(&mut writing.buffer));
        writing.wrote(at, buffer.len() as u64);
        let written = self.below.write_at(at, &[IoSlice::new(&buffer)]);
        writing.buffer = buffer;
        writing.buffer.clear();
        written
    }

    /// Writes frames with `parts`, which lie at `offset`.
    fn append(&self, writing: &mut Writing, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        if offset + total as u64 > u64::from(u32::MAX) {
            return Err(io::Error::new(ErrorKind::FileTooLarge, "an encrypted segment has at most 4 GiB"));
        }
        // The opening stands before the frames.
        self.opening(writing)?;
        writing.buffer.clear();
        let mut parts = parts.iter().map(|part| &part[..]);
        let mut part = &[][..];
        let (mut done, mut pieces) = (0, Vec::new());
        while done < total {
            let len = TEXT_BYTES.min(total - done);
            let start = offset + done as u64;
            let header = Header { len: len as u32, offset: start, seal: 0, opening: 0, says: Says::Bytes };
            let at = self.seal(writing, header, |buffer| {
                let mut left = len;
                while left > 0 {
                    if part.is_empty() {
                        part = parts.next().unwrap_or_default();
                        continue;
                    }
                    let (now, rest) = part.split_at(left.min(part.len()));
                    buffer.extend_from_slice(now);
                    (left, part) = (left - now.len(), rest);
                }
            })?;
            let sector = u32::try_from(at / SECTOR).map_err(|_| ErrorKind::FileTooLarge)?;
            pieces.push(Piece { start: start as u32, len: len as u32, sector, skip: 0 });
            done += len;
            if done == total || writing.buffer.len() >= WRITE_BYTES {
                self.flush(writing)?;
                let mut reading = self.reading.write();
                pieces.drain(..).for_each(|piece| reading.places.put(piece));
            }
        }
        self.len.fetch_max(offset + total as u64, Ordering::AcqRel);
        Ok(())
    }

    /// Says that the file ends at `len`, and that whatever does not open counts for nothing.
    fn cut(&self, writing: &mut Writing, len: u64) -> io::Result<()> {
        self.opening(writing)?;
        writing.buffer.clear();
        let header = Header { len: 0, offset: len, seal: 0, opening: 0, says: Says::Cut };
        self.seal(writing, header, |_| ())?;
        self.flush(writing)?;
        self.reading.write().places.cut(len);
        Ok(())
    }

    /// Writes zeros to whole pages ahead of the frames, if the engine does so: see log.rs.
    fn zero_ahead(&self, writing: &mut Writing) -> io::Result<()> {
        if !writing.ahead || writing.end <= writing.zeroed {
            return Ok(());
        }
        let first = writing.end.next_multiple_of(PAGE_BYTES);
        let end = (writing.end + AHEAD_BYTES).min(writing.raw_len) / PAGE_BYTES * PAGE_BYTES;
        for page in (first..end).step_by(PAGE_BYTES as usize) {
            self.below.write_at(page, &[IoSlice::new(&[0; PAGE_BYTES as usize])])?;
        }
        writing.zeroed = end.max(writing.end);
        writing.unsynced.end = writing.zeroed;
        Ok(())
    }

    /// The last byte of the frames that have bytes before `end`.
    fn frames_end(&self, end: u64) -> u64 {
        let reading = self.reading.read();
        let before = reading.places.from(0).iter().take_while(|piece| u64::from(piece.start) < end);
        before
            .map(|piece| u64::from(piece.sector) * SECTOR + frames_for(u64::from(piece.skip + piece.len)))
            .max()
            .unwrap_or(0)
    }

    /// Opens the frames with the bytes at `offset`: `out` gets them, or at least `least` if the first frame has so
    /// many and no more.
    fn read(&self, offset: u64, (least, most): (usize, usize), lenient: bool) -> io::Result<Vec<u8>> {
        let mut seen = None;
        loop {
            let reading = self.reading()?;
            match reading.read(&self.name, offset, (least, most), lenient) {
                Ok(bytes) => return Ok(bytes),
                // What is in the file now may not be in the view.
                Err(_) if seen.is_none() => {}
                Err(error) => return Err(error),
            }
            drop(reading);
            let len = self.below.len()?;
            let view = self.below.map(len)?;
            view.expect(Access::Scattered);
            self.reading.write().view = Some(view);
            seen = Some(len);
        }
    }
}

impl Writing {
    /// So many bytes at `at` are taken.
    fn wrote(&mut self, at: u64, len: u64) {
        self.exact_end = at + len;
        self.end = self.exact_end.next_multiple_of(SECTOR);
        self.raw_len = self.raw_len.max(self.exact_end);
        self.unsynced.end = self.unsynced.end.max(self.exact_end);
    }
}

impl Reading {
    fn read(&self, name: &str, offset: u64, (least, most): (usize, usize), lenient: bool) -> io::Result<Vec<u8>> {
        thread_local! {
            static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        let pieces = self.places.from(offset);
        let in_first = pieces.first().filter(|first| u64::from(first.start) <= offset);
        let first = in_first.map_or(0, |first| (first.end() - offset) as usize);
        let len = first.clamp(least, most);
        let mut out = vec![0; len];
        let end = offset + len as u64;
        // Behind a segment's header there are no gaps: what is not there was damaged.
        let mut at = offset.max(LEN_MIN);
        BUFFER.with_borrow_mut(|buffer| {
            for piece in pieces.iter().take_while(|piece| u64::from(piece.start) < end) {
                if u64::from(piece.start) > at && !lenient {
                    return Err(damaged(name, at, "these bytes are in no frame that opens"));
                }
                at = at.max(piece.end());
                let text = self.open(*piece, buffer).ok_or_else(|| {
                    let what = "the frame does not open: it is damaged, or of another place or file";
                    damaged(name, u64::from(piece.sector) * SECTOR, what)
                })?;
                let (from, to) = (offset.max(u64::from(piece.start)), end.min(piece.end()));
                let skip = (from - u64::from(piece.start)) as usize + piece.skip as usize;
                let text = text.get(skip..skip + (to - from) as usize).ok_or(ErrorKind::InvalidData)?;
                out[(from - offset) as usize..][..text.len()].copy_from_slice(text);
            }
            if at < end && (self.torn || at < self.places.end()) && !lenient {
                return Err(damaged(name, at, "these bytes are in no frame that opens"));
            }
            Ok(out)
        })
    }

    /// The text of the frame that has a piece.
    fn open<'b>(&self, piece: Piece, buffer: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        let at = u64::from(piece.sector) * SECTOR;
        let view = self.view.as_ref()?;
        let header = Header::decode(&view.read(at, HEADER_BYTES)?)?;
        let sealed = view.read(at + HEADER_BYTES as u64, header.frame_bytes() - HEADER_BYTES)?;
        buffer.clear();
        buffer.extend_from_slice(&sealed);
        opening_of(&self.openings, header.opening)?.open(header.seal, &header.bound_to(at), buffer)
    }
}

/// A segment, opened.
pub(super) struct Frames(pub(super) Arc<FrameFile>);

impl DiskFile for Frames {
    fn len(&self) -> io::Result<u64> {
        drop(self.0.reading()?);
        Ok(self.0.len.load(Ordering::Acquire))
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        let mut writing = self.0.writing()?;
        let used = self.0.reading.read().places.end();
        let wanted = writing.end + room_for(len.saturating_sub(used));
        if wanted > writing.raw_len {
            self.0.below.allocate(wanted)?;
            writing.raw_len = wanted;
        }
        self.0.len.fetch_max(len, Ordering::AcqRel);
        Ok(())
    }

    fn reserve(&self, end: u64) -> io::Result<()> {
        let mut writing = self.0.writing()?;
        let used = self.0.reading.read().places.end();
        let wanted = writing.end + frames_for(end.saturating_sub(used)) + 4 * SECTOR;
        if wanted > writing.raw_len {
            // As much again as for what is written now, so that this is seldom.
            let more = (wanted + wanted / 8).next_multiple_of(PAGE_BYTES);
            let allocated = self.0.below.allocate(more).map(|()| more);
            writing.raw_len = allocated.or_else(|_| self.0.below.allocate(wanted).map(|()| wanted))?;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut writing = self.0.writing()?;
        let file = &self.0;
        if len > file.len.load(Ordering::Acquire) {
            drop(writing);
            return self.allocate(len);
        }
        if file.removed.load(Ordering::Acquire) {
            // Its room is given back, but for what somebody still reads.
            if file.views.load(Ordering::Acquire) == 0 {
                let end = file.frames_end(len);
                let mut reading = file.reading.write();
                reading.places.cut(len);
                reading.view = None;
                file.len.store(len, Ordering::Release);
                if end < writing.raw_len {
                    file.below.set_len(end)?;
                    writing.raw_len = end;
                }
            }
            return Ok(());
        }
        let (used, torn) = file.used();
        if len < used || torn {
            file.cut(&mut writing, len)?;
        }
        file.len.store(len, Ordering::Release);
        if writing.raw_len != writing.exact_end {
            file.below.set_len(writing.exact_end)?;
            writing.raw_len = writing.exact_end;
            writing.zeroed = 0;
        }
        Ok(())
    }

    fn write_at(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let file = &self.0;
        let mut writing = file.writing()?;
        let are_zeros = parts.iter().all(|part| part.iter().all(|&byte| byte == 0));
        if are_zeros && offset >= file.reading.read().places.end() {
            // What no frame has is zeros.
            writing.ahead = true;
            let len = parts.iter().map(|part| part.len() as u64).sum::<u64>();
            file.len.fetch_max(offset + len, Ordering::AcqRel);
        } else {
            file.append(&mut writing, offset, parts)?;
        }
        file.zero_ahead(&mut writing)
    }

    fn begin_sync(&self, _range: Range<u64>) {
        let range = self.0.writing.lock().unsynced.clone();
        self.0.below.begin_sync(range);
    }

    fn has_come(&self, _range: Range<u64>) -> Option<bool> {
        let range = self.0.writing.lock().unsynced.clone();
        self.0.below.has_come(range)
    }

    fn sync(&self) -> io::Result<()> {
        let mut writing = self.0.writing()?;
        let (used, torn) = self.0.used();
        if torn {
            // Whoever makes the file durable as it is has seen that.
            self.0.cut(&mut writing, used)?;
        }
        let written = writing.unsynced.end;
        drop(writing);
        self.0.below.sync()?;
        let mut writing = self.0.writing.lock();
        writing.unsynced.start = written.min(writing.end);
        writing.unsynced.end = writing.unsynced.end.max(writing.unsynced.start);
        Ok(())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(buffer.len() as u64).ok_or(ErrorKind::UnexpectedEof)?;
        if end > self.len()? {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let bytes = self.0.read(offset, (buffer.len(), buffer.len()), true)?;
        buffer.copy_from_slice(&bytes);
        Ok(())
    }

    fn next_data(&self, from: u64) -> io::Result<Option<Range<u64>>> {
        Ok(self.0.reading()?.places.next_data(from))
    }

    fn map(&self, len: u64) -> io::Result<Arc<dyn Mapping>> {
        if self.len()? < len {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the file is shorter than the view asked for"));
        }
        self.0.views.fetch_add(1, Ordering::AcqRel);
        Ok(Arc::new(FrameMapping { file: self.0.clone(), len }))
    }
}

struct FrameMapping {
    file: Arc<FrameFile>,
    len: u64,
}

impl Drop for FrameMapping {
    fn drop(&mut self) {
        self.file.views.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Mapping for FrameMapping {
    fn len(&self) -> u64 {
        self.len
    }

    fn read(&self, offset: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        self.read_some(offset, len, len)
    }

    fn read_some(&self, offset: u64, least: usize, most: usize) -> Option<Cow<'_, [u8]>> {
        offset.checked_add(most as u64).filter(|&end| end <= self.len)?;
        self.file.read(offset, (least, most), false).ok().map(Cow::Owned)
    }

    fn read_leniently(&self, offset: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        offset.checked_add(len as u64).filter(|&end| end <= self.len)?;
        self.file.read(offset, (len, len), true).ok().map(Cow::Owned)
    }

    fn lends(&self) -> bool {
        false
    }

    fn read_ahead(&self, offset: u64, len: u64) {
        let Ok(reading) = self.file.reading() else { return };
        let Some(view) = &reading.view else { return };
        let pieces = reading.places.from(offset);
        let last = pieces.iter().take_while(|piece| u64::from(piece.start) < offset.saturating_add(len)).last();
        if let (Some(first), Some(last)) = (pieces.first(), last) {
            let (from, to) = (u64::from(first.sector) * SECTOR, (u64::from(last.sector) + 2) * SECTOR);
            view.read_ahead(from, to.saturating_sub(from));
        }
    }
}
