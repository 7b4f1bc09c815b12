//! The mark: two slots of a page each, written in turns. Each is written as a whole, with an opening of its own in the
//! same page; one that is torn does not open, and reads as zeros, as one of which the checksum does not match.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IoSlice};
use std::sync::Arc;

use super::keys::StoreKeys;
use super::opening::{OPENING_BYTES, Opening, Place, TAG_BYTES};
use crate::disk::{DiskFile, Mapping};

/// A slot lies in a page, in the engine's file as in the real one.
const SLOT_STEP: u64 = 4096;
const FILE_BYTES: u64 = 2 * SLOT_STEP;
/// Bytes of a slot that the engine writes.
const TEXT_BYTES: usize = 512;
const SEALED_BYTES: usize = TEXT_BYTES + TAG_BYTES;

/// A file of two slots.
pub(super) struct SlotFile {
    below: Arc<dyn DiskFile>,
    keys: Arc<StoreKeys>,
    place: Place,
}

impl SlotFile {
    pub(super) fn new(below: Arc<dyn DiskFile>, keys: Arc<StoreKeys>, place: Place) -> Self {
        SlotFile { below, keys, place }
    }

    /// Seals a slot: its page begins with the opening, and the sealed bytes follow.
    fn sealed(&self, at: u64, text: &[u8]) -> io::Result<Vec<u8>> {
        let opening = Opening::new(&self.keys, self.place, 1)?;
        let mut page = opening.bytes.to_vec();
        page.extend_from_slice(text);
        page.resize(OPENING_BYTES + TEXT_BYTES, 0);
        let number = opening.next_seal();
        let tag = opening.seal(number, &bound_to(at), &mut page[OPENING_BYTES..])?;
        page.extend_from_slice(&tag);
        Ok(page)
    }

    /// All of the engine's file.
    fn whole(&self) -> io::Result<Vec<u8>> {
        let mut raw = vec![0; self.len()? as usize];
        self.below.read_at(0, &mut raw)?;
        let mut text = vec![0; raw.len()];
        for (nth, page) in raw.chunks_mut(SLOT_STEP as usize).enumerate() {
            let at = nth * SLOT_STEP as usize;
            let opening = Opening::read(page, &self.keys, self.place);
            let sealed = page.get_mut(OPENING_BYTES..OPENING_BYTES + SEALED_BYTES);
            let opened = opening
                .zip(sealed)
                .and_then(|(opening, sealed)| opening.open(0, &bound_to(at as u64), sealed).map(<[u8]>::to_vec));
            if let (Some(slot), Some(into)) = (opened, text.get_mut(at..at + TEXT_BYTES)) {
                into.copy_from_slice(&slot);
            }
        }
        Ok(text)
    }
}

fn bound_to(at: u64) -> [u8; 8] {
    (at / SLOT_STEP).to_le_bytes()
}

impl DiskFile for SlotFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.below.len()?.min(FILE_BYTES))
    }

    fn allocate(&self, _len: u64) -> io::Result<()> {
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.below.set_len(len)
    }

    /// Writes slots, each of which begins at a page and is zeros behind its first 512 bytes.
    fn write_at(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let text: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        let fits = offset.is_multiple_of(SLOT_STEP) && offset + text.len() as u64 <= FILE_BYTES;
        let slots = text.chunks(SLOT_STEP as usize);
        if !fits || slots.clone().any(|slot| slot.iter().skip(TEXT_BYTES).any(|&byte| byte != 0)) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "an encrypted mark is written in slots"));
        }
        let mut pages = Vec::new();
        for (nth, slot) in slots.enumerate() {
            pages.resize(nth * SLOT_STEP as usize, 0);
            pages.extend(self.sealed(offset + pages.len() as u64, &slot[..slot.len().min(TEXT_BYTES)])?);
        }
        if offset == 0 && text.len() as u64 == FILE_BYTES {
            pages.resize(FILE_BYTES as usize, 0);
        }
        self.below.write_at(offset, &[IoSlice::new(&pages)])
    }

    fn sync(&self) -> io::Result<()> {
        self.below.sync()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let (text, at) = (self.whole()?, usize::try_from(offset).unwrap_or(usize::MAX));
        let found = at.checked_add(buffer.len()).and_then(|end| text.get(at..end));
        buffer.copy_from_slice(found.ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn map(&self, len: u64) -> io::Result<Arc<dyn Mapping>> {
        let mut text = self.whole()?;
        if (text.len() as u64) < len {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        text.truncate(len as usize);
        Ok(Arc::new(Opened(text)))
    }
}

/// What was opened when it was mapped. The engine reads the mark without a view.
struct Opened(Vec<u8>);

impl Mapping for Opened {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, offset: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        let at = usize::try_from(offset).ok()?;
        self.0.get(at..at.checked_add(len)?).map(Cow::Borrowed)
    }
}
