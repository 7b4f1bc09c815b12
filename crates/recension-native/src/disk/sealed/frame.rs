//! The bytes of a frame, and the walk over the frames of a segment when it is opened. What does not open is passed over
//! sector by sector; a frame whose opening is missing is damage, since openings are durable before their frames are
//! written.

use std::io;
use std::sync::Arc;

use super::opening::{self, Opening, Place, TAG_BYTES};
use super::places::{Piece, Places};
use super::{Sealing, damaged};
use crate::disk::DiskFile;
use crate::format::Fields;

pub(super) const SECTOR: u64 = 512;
pub(super) const HEADER_BYTES: usize = 32;
const MAGIC: &[u8; 4] = b"RcSF";
/// Bytes of the engine's file in a frame, at most.
const TEXT_BYTES_MAX: usize = 65_536;
/// Bytes that the walk reads at once.
const WINDOW_BYTES: usize = 1 << 20;

/// What a frame says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Says {
    /// These bytes lie at the offset.
    Bytes,
    /// The file is cut at the offset.
    Cut,
}

/// The first bytes of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) len: u32,
    pub(super) offset: u64,
    pub(super) seal: u64,
    pub(super) opening: u32,
    pub(super) says: Says,
}

impl Header {
    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(MAGIC);
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.seal.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.opening.to_le_bytes());
        bytes[28..].copy_from_slice(&u32::from(self.says == Says::Cut).to_le_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes.strip_prefix(MAGIC)?);
        let (len, offset, seal, opening) = (fields.u32()?, fields.u64()?, fields.u64()?, fields.u32()?);
        let says = match fields.u32()? {
            0 => Says::Bytes,
            1 if len == 0 => Says::Cut,
            _ => return None,
        };
        // The engine's files of this form have no more than 4 GiB.
        let end = offset.checked_add(u64::from(len)).and_then(|end| u32::try_from(end).ok());
        (len as usize <= TEXT_BYTES_MAX && end.is_some() && opening > 0).then_some(Header {
            len,
            offset,
            seal,
            opening,
            says,
        })
    }

    /// Bytes of the frame.
    pub(super) fn frame_bytes(&self) -> usize {
        HEADER_BYTES + self.len as usize + TAG_BYTES
    }

    /// What a frame at `at` of the real file is bound to.
    pub(super) fn bound_to(&self, at: u64) -> [u8; HEADER_BYTES + 8] {
        let mut bound = [0; HEADER_BYTES + 8];
        bound[..HEADER_BYTES].copy_from_slice(&self.encode());
        bound[HEADER_BYTES..].copy_from_slice(&at.to_le_bytes());
        bound
    }
}

/// What a walk has found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) places: Places,
    pub(super) openings: Vec<Arc<Opening>>,
    /// Behind everything that is not zero, in the real file.
    pub(super) end: u64,
    /// Behind the last frame or opening that opens lies something else: torn, or damaged.
    pub(super) torn: bool,
}

/// The opening with a number.
pub(super) fn opening_of(openings: &[Arc<Opening>], number: u32) -> Option<&Arc<Opening>> {
    openings.iter().rfind(|one| one.number == number)
}

/// Walks over the real file `below`, of `len` bytes.
pub(super) fn walk(name: &str, below: &dyn DiskFile, sealing: &Sealing, place: Place) -> io::Result<Found> {
    let mut window = Window { below, len: below.len()?, start: 0, bytes: Vec::new() };
    let mut found = Found::default();
    let mut at = 0;
    let mut data = 0..0;
    while at < window.len {
        if at >= data.end {
            let Some(next) = below.next_data(at)? else { break };
            at = at.max(next.start / SECTOR * SECTOR);
            data = next;
        }
        let sector = window.get(at, SECTOR as usize)?;
        if sector.iter().all(|&byte| byte == 0) {
            at += SECTOR;
            continue;
        }
        let mut opens = false;
        if sector.starts_with(opening::MAGIC) {
            let last = found.openings.last().map_or(0, |last| last.number);
            let opening = Opening::read(sector, &sealing.keys, place).filter(|one| one.number > last);
            opens = opening.is_some();
            found.openings.extend(opening.map(Arc::new));
        }
        let header = Header::decode(sector).filter(|header| at + header.frame_bytes() as u64 <= window.len);
        let bytes = match header {
            Some(header) => found.frame(name, at, header, &mut window, sealing.lenient)?,
            None => 0,
        };
        found.torn = !opens && bytes == 0;
        at = (at + bytes.max(1)).next_multiple_of(SECTOR);
        found.end = at;
    }
    Ok(found)
}

impl Found {
    /// Takes a frame in, if it opens; answers its length.
    fn frame(
        &mut self,
        name: &str,
        at: u64,
        header: Header,
        window: &mut Window<'_>,
        lenient: bool,
    ) -> io::Result<u64> {
        let Some(opening) = opening_of(&self.openings, header.opening) else {
            if lenient {
                return Ok(0);
            }
            let what = format!("a frame is here of opening {}, which does not open", header.opening);
            return Err(damaged(name, at, what));
        };
        let mut sealed = window.get(at, header.frame_bytes())?[HEADER_BYTES..].to_vec();
        if opening.open(header.seal, &header.bound_to(at), &mut sealed).is_none() {
            return Ok(0);
        }
        let sector = u32::try_from(at / SECTOR).map_err(|_| io::ErrorKind::FileTooLarge)?;
        match header.says {
            Says::Bytes if header.len > 0 => {
                self.places.put(Piece { start: header.offset as u32, len: header.len, sector, skip: 0 });
            }
            Says::Bytes => {}
            Says::Cut => self.places.cut(header.offset),
        }
        Ok(header.frame_bytes() as u64)
    }
}

/// A part of the file in memory.
struct Window<'f> {
    below: &'f dyn DiskFile,
    len: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl Window<'_> {
    /// The bytes at `at`, fewer at the end of the file.
    fn get(&mut self, at: u64, len: usize) -> io::Result<&[u8]> {
        let end = (at + len as u64).min(self.len);
        if at < self.start || end > self.start + self.bytes.len() as u64 {
            self.start = at;
            self.bytes.resize((WINDOW_BYTES as u64).min(self.len - at) as usize, 0);
            self.below.read_at(at, &mut self.bytes)?;
        }
        let from = (at - self.start) as usize;
        Ok(&self.bytes[from..from + (end - at) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_reads_back_and_a_torn_one_is_none() {
        let header = Header { len: 976, offset: 1 << 20, seal: 7, opening: 300, says: Says::Bytes };
        let bytes = header.encode();
        assert_eq!(Header::decode(&bytes), Some(header));
        let cut = Header { len: 0, says: Says::Cut, ..header };
        assert_eq!(Header::decode(&cut.encode()), Some(cut));
        // The end of a sector that was not written is zeros: no opening has that number.
        for written in 0..24 {
            let mut torn = [0; HEADER_BYTES];
            torn[..written].copy_from_slice(&bytes[..written]);
            assert_eq!(Header::decode(&torn), None, "{written} bytes");
        }
        for wrong in [
            Header { len: 65_537, ..header },
            Header { offset: u64::from(u32::MAX) - 9, ..header },
            Header { opening: 0, ..header },
        ] {
            assert_eq!(Header::decode(&wrong.encode()), None, "{wrong:?}");
        }
    }
}
