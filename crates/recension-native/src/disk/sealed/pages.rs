//! Files that are written once, from their start to their end: a page of openings, and behind it pages of 4,096 bytes
//! that are sealed each by itself. docs/encryption.md has their bytes.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, ErrorKind, IoSlice};
use std::sync::Arc;

use parking_lot::Mutex;

use super::keys::StoreKeys;
use super::opening::{OPENING_BYTES, Opening, Place, TAG_BYTES};
use super::{Sealing, damaged};
use crate::disk::{Access, DiskFile, Mapping};
use crate::format::Fields;

/// Bytes of a page in the file.
pub(super) const PAGE_BYTES: usize = 4096;
const HEADER_BYTES: usize = 16;
/// Bytes of the engine's file in a page.
pub(super) const TEXT_BYTES: usize = PAGE_BYTES - HEADER_BYTES - TAG_BYTES;
/// Pages that are read or written at once.
const PAGES_AT_ONCE: usize = 256;

/// What opens the pages of a file.
struct Pages {
    name: String,
    openings: Vec<Arc<Opening>>,
    /// What does not open is zeros, and no error.
    lenient: bool,
}

/// Where a page lies in the file.
fn place_of(page: u64) -> u64 {
    (page + 1) * PAGE_BYTES as u64
}

impl Pages {
    /// Reads `out.len()` bytes from `offset` of the engine's file, which `raw` reads at places of the real one.
    fn read(&self, offset: u64, out: &mut [u8], raw: &dyn Fn(u64, &mut [u8]) -> io::Result<()>) -> io::Result<()> {
        thread_local! {
            static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        BUFFER.with_borrow_mut(|buffer| {
            let mut done = 0;
            while done < out.len() {
                let at = offset + done as u64;
                let (page, skip) = (at / TEXT_BYTES as u64, at as usize % TEXT_BYTES);
                let count = (skip + out.len() - done).div_ceil(TEXT_BYTES).min(PAGES_AT_ONCE);
                if buffer.len() < count * PAGE_BYTES {
                    buffer.resize(count * PAGE_BYTES, 0);
                }
                let pages = &mut buffer[..count * PAGE_BYTES];
                raw(place_of(page), pages)?;
                let mut skip = skip;
                for (nth, bytes) in pages.chunks_exact_mut(PAGE_BYTES).enumerate() {
                    let wanted = (TEXT_BYTES - skip).min(out.len() - done);
                    let into = &mut out[done..done + wanted];
                    match self.open(page + nth as u64, bytes, skip + wanted) {
                        Some(text) => into.copy_from_slice(&text[skip..skip + wanted]),
                        None if self.lenient => into.fill(0),
                        None => return Err(self.does_not_open(page + nth as u64)),
                    }
                    (done, skip) = (done + wanted, 0);
                }
            }
            // A large read shall not stay in every thread's memory.
            buffer.truncate(PAGES_AT_ONCE * PAGE_BYTES);
            Ok(())
        })
    }

    /// The text of a page of which the first `used` bytes at least were written.
    fn open<'p>(&self, page: u64, bytes: &'p mut [u8], used: usize) -> Option<&'p [u8]> {
        let (header, sealed) = bytes.split_first_chunk_mut::<HEADER_BYTES>()?;
        let mut fields = Fields(&header[..]);
        let (number, opening, written) = (fields.u64()?, fields.u32()?, fields.u32()?);
        let opening = self.openings.iter().find(|one| one.number == opening)?;
        if used > written as usize {
            return None;
        }
        opening.open(number, &bound_to(page, written), sealed)
    }

    fn does_not_open(&self, page: u64) -> io::Error {
        damaged(&self.name, place_of(page), "the page does not open: it is damaged, or of another place or file")
    }
}

/// What a page is bound to.
fn bound_to(page: u64, written: u32) -> [u8; 12] {
    let mut bound = [0; 12];
    bound[..8].copy_from_slice(&page.to_le_bytes());
    bound[8..].copy_from_slice(&written.to_le_bytes());
    bound
}

/// A file of pages.
pub(super) struct PagedFile {
    below: Arc<dyn DiskFile>,
    pages: Arc<Pages>,
    /// What is being written; none in a file that was there.
    writing: Option<Mutex<Writing>>,
}

struct Writing {
    opening: Arc<Opening>,
    begun: bool,
    /// Pages that are full and written.
    full: u64,
    /// What waits for its page to be full.
    tail: Vec<u8>,
    /// It was sealed, for a sync.
    tail_is_sealed: bool,
    buffer: Vec<u8>,
}

impl PagedFile {
    /// A file that has just been made.
    pub(super) fn created(name: &str, below: Arc<dyn DiskFile>, keys: &StoreKeys, place: Place) -> io::Result<Self> {
        let opening = Arc::new(Opening::new(keys, place, 1)?);
        let pages = Pages { name: name.to_owned(), openings: vec![opening.clone()], lenient: false };
        let (tail, buffer) = (Vec::with_capacity(TEXT_BYTES), Vec::new());
        let writing = Writing { opening, begun: false, full: 0, tail, tail_is_sealed: false, buffer };
        Ok(PagedFile { below, pages: Arc::new(pages), writing: Some(Mutex::new(writing)) })
    }

    /// A file that was there.
    pub(super) fn found(name: &str, below: Arc<dyn DiskFile>, sealing: &Sealing, place: Place) -> io::Result<Self> {
        let mut first = vec![0; below.len()?.min(PAGE_BYTES as u64) as usize];
        below.read_at(0, &mut first)?;
        let read = |bytes: &[u8]| Opening::read(bytes, &sealing.keys, place).map(Arc::new);
        let openings = first.chunks_exact(OPENING_BYTES).filter_map(read).collect();
        let pages = Pages { name: name.to_owned(), openings, lenient: sealing.lenient };
        Ok(PagedFile { below, pages: Arc::new(pages), writing: None })
    }
}

impl Writing {
    /// Seals `text`, which is a page or less, as the next page, behind what is in the buffer.
    fn seal(&mut self, page: u64, text: &[u8]) -> io::Result<()> {
        if !self.begun && self.buffer.is_empty() {
            self.buffer.extend_from_slice(&self.opening.bytes);
            self.buffer.resize(PAGE_BYTES, 0);
        }
        let (number, written) = (self.opening.next_seal(), text.len() as u32);
        self.buffer.extend_from_slice(&number.to_le_bytes());
        self.buffer.extend_from_slice(&self.opening.number.to_le_bytes());
        self.buffer.extend_from_slice(&written.to_le_bytes());
        let at = self.buffer.len();
        self.buffer.extend_from_slice(text);
        self.buffer.resize(at + TEXT_BYTES, 0);
        let tag = self.opening.seal(number, &bound_to(page, written), &mut self.buffer[at..])?;
        self.buffer.extend_from_slice(&tag);
        Ok(())
    }

    /// Writes the buffer, whose first page is `page`.
    fn flush(&mut self, below: &dyn DiskFile, page: u64) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let at = if self.begun { place_of(page) } else { 0 };
        let written = below.write_at(at, &[IoSlice::new(&self.buffer)]);
        self.begun |= written.is_ok();
        self.buffer.clear();
        written
    }

    fn append(&mut self, below: &dyn DiskFile, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.tail_is_sealed {
                // What was synced could be torn.
                let what = "a page that was synced would be sealed again";
                return Err(io::Error::new(ErrorKind::InvalidInput, what));
            }
            let first = self.full;
            let mut page = first;
            while self.tail.len() + bytes.len() >= TEXT_BYTES && page - first < PAGES_AT_ONCE as u64 {
                let (text, rest) = bytes.split_at(TEXT_BYTES - self.tail.len());
                if self.tail.is_empty() {
                    self.seal(page, text)?;
                } else {
                    self.tail.extend_from_slice(text);
                    let tail = std::mem::take(&mut self.tail);
                    self.seal(page, &tail)?;
                    self.tail = tail;
                    self.tail.clear();
                }
                (bytes, page) = (rest, page + 1);
            }
            self.flush(below, first)?;
            self.full = page;
            if bytes.len() < TEXT_BYTES - self.tail.len() {
                self.tail.extend_from_slice(bytes);
                break;
            }
        }
        Ok(())
    }

    fn len(&self) -> u64 {
        self.full * TEXT_BYTES as u64 + self.tail.len() as u64
    }
}

impl DiskFile for PagedFile {
    fn len(&self) -> io::Result<u64> {
        if let Some(writing) = &self.writing {
            return Ok(writing.lock().len());
        }
        let raw = self.below.len()?;
        if !raw.is_multiple_of(PAGE_BYTES as u64) && !self.pages.lenient {
            return Err(damaged(&self.pages.name, raw, "the file does not end with a page: it has been cut off"));
        }
        let Some(last) = (raw / PAGE_BYTES as u64).checked_sub(2) else { return Ok(0) };
        let mut written = [0; 4];
        self.below.read_at(place_of(last) + 12, &mut written)?;
        Ok(last * TEXT_BYTES as u64 + u64::from(u32::from_le_bytes(written)).min(TEXT_BYTES as u64))
    }

    /// Nothing that the engine writes in pages is of a known length before: there is nothing to set apart.
    fn allocate(&self, _len: u64) -> io::Result<()> {
        Ok(())
    }

    /// Gives room back. What is left is not read any more.
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.below.set_len(place_of(len.div_ceil(TEXT_BYTES as u64)))
    }

    fn write_at(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let writing = self.writing.as_ref().map(Mutex::lock).filter(|writing| writing.len() == offset);
        let Some(mut writing) = writing else {
            let what = "an encrypted file of pages is written once, from its start to its end";
            return Err(io::Error::new(ErrorKind::InvalidInput, what));
        };
        parts.iter().try_for_each(|part| writing.append(&*self.below, part))
    }

    fn pace(&self) -> io::Result<()> {
        self.below.sync()
    }

    fn sync(&self) -> io::Result<()> {
        if let Some(writing) = &self.writing {
            let mut writing = writing.lock();
            if !writing.tail.is_empty() && !writing.tail_is_sealed {
                let (page, tail) = (writing.full, std::mem::take(&mut writing.tail));
                writing.seal(page, &tail)?;
                writing.tail = tail;
                writing.flush(&*self.below, page)?;
                writing.tail_is_sealed = true;
            }
        }
        self.below.sync()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(buffer.len() as u64).ok_or(ErrorKind::UnexpectedEof)?;
        if end > self.len()? {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let raw = |at: u64, bytes: &mut [u8]| self.below.read_at(at, bytes);
        let Some(writing) = &self.writing else { return self.pages.read(offset, buffer, &raw) };
        // What is not sealed yet is in memory.
        let writing = writing.lock();
        let sealed = writing.full * TEXT_BYTES as u64;
        let in_file = sealed.saturating_sub(offset).min(buffer.len() as u64) as usize;
        let from = offset.max(sealed) - sealed;
        let (in_file, in_memory) = buffer.split_at_mut(in_file);
        in_memory.copy_from_slice(&writing.tail[from as usize..][..in_memory.len()]);
        drop(writing);
        self.pages.read(offset, in_file, &raw)
    }

    fn map(&self, len: u64) -> io::Result<Arc<dyn Mapping>> {
        if self.len()? < len {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the file is shorter than the view asked for"));
        }
        let raw = if len == 0 { 0 } else { place_of(len.div_ceil(TEXT_BYTES as u64)) };
        Ok(Arc::new(PagedMapping { view: self.below.map(raw)?, pages: self.pages.clone(), len }))
    }
}

struct PagedMapping {
    view: Arc<dyn Mapping>,
    pages: Arc<Pages>,
    len: u64,
}

impl PagedMapping {
    /// The part of the real file that has `len` bytes at `offset`.
    fn raw(offset: u64, len: u64) -> (u64, u64) {
        let (first, end) = (offset / TEXT_BYTES as u64, offset.saturating_add(len).div_ceil(TEXT_BYTES as u64));
        (place_of(first), place_of(end) - place_of(first))
    }
}

impl Mapping for PagedMapping {
    fn len(&self) -> u64 {
        self.len
    }

    fn read(&self, offset: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        offset.checked_add(len as u64).filter(|&end| end <= self.len)?;
        let mut bytes = vec![0; len];
        let raw = |at: u64, bytes: &mut [u8]| {
            let found = self.view.read(at, bytes.len()).ok_or(ErrorKind::UnexpectedEof)?;
            bytes.copy_from_slice(&found);
            Ok(())
        };
        self.pages.read(offset, &mut bytes, &raw).ok()?;
        Some(Cow::Owned(bytes))
    }

    fn lends(&self) -> bool {
        false
    }

    fn expect(&self, access: Access) {
        self.view.expect(access);
    }

    fn read_ahead(&self, offset: u64, len: u64) {
        let (at, len) = Self::raw(offset, len);
        self.view.read_ahead(at, len);
    }
}
