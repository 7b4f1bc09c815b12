//! Runs: immutable sorted files of index entries. Fences and table are checked when a run is opened, blocks each time
//! one is read. A run is only a help: if it is damaged, the log still has everything.

mod block;
mod cursor;
pub(super) mod fences;
pub(super) mod output;
mod packing;
pub(super) mod part;
pub(super) mod table;
mod writer;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) use cursor::RunCursor;
pub(super) use table::hash;
pub(super) use writer::RunWriter;

use self::block::{Block, ENTRY_FIXED_BYTES, decode_entry};
use self::fences::{FENCE_BYTES, Fences};
use self::packing::Packing;
use self::part::Part;
use self::table::{ENTRIES, Guess, PLACES};
use super::entry::IndexEntry;
use super::format::{Fields, StoreId, check_version, decode_header, run_file};
use super::manifest::RunEntry;
use crate::disk::{Access, Disk, DiskFile, Mapping};
use recension_engine::{EngineError, Result, Seq};

const RUN_MAGIC: [u8; 8] = *b"RECNRUN2";
/// The magic of runs whose tables have the places of entries.
const RUN_MAGIC_PLACES: [u8; 8] = *b"RECNRUN1";
const HEADER_BYTES: usize = 64;
const FOOTER_BYTES: usize = 128;

/// The versions in a section of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SectionKind {
    /// The newest of each key within the run.
    Current = 0,
    /// The older ones.
    Past = 1,
}

/// An open run.
pub(super) struct Run {
    pub(super) entry: RunEntry,
    mapping: Arc<dyn Mapping>,
    sections: [Section; 2],
    table: Part,
    held: Held,
    disk: Arc<dyn Disk>,
    /// The file is removed when the last reader is done.
    obsolete: AtomicBool,
}

/// The kind of slots in a run's table.
#[derive(Clone, Copy, Debug)]
enum Held {
    /// Entries.
    Entries(Packing),
    /// Places of entries in the file, as older versions wrote them.
    Places,
}

/// The answer of a run's table for a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hint {
    /// The run has no version of it.
    Absent,
    /// If the run has it, this is the newest version. The row has not been read.
    Perhaps(IndexEntry),
    /// The table does not know: search.
    Unknown,
}

/// Where a section's fences lie, and how many blocks and entries it has.
struct Section {
    fences: Part,
    blocks: usize,
    entries: u64,
}

impl Run {
    /// Opens the run that the manifest names; any mismatch is damage.
    pub(super) fn open(disk: &Arc<dyn Disk>, id: StoreId, entry: RunEntry) -> Result<Self> {
        let name = run_file(entry.number);
        let file = disk.open(&name).map_err(|e| EngineError::io(format!("opening {name}"), e))?;
        let len = file.len().map_err(|e| EngineError::io(format!("reading the size of {name}"), e))?;
        if len != entry.len {
            return Err(EngineError::damaged(&*name, len, format!("expected {} bytes, found {len}", entry.len)));
        }
        let mapping = file.map(len).map_err(|e| EngineError::io(format!("mapping {name}"), e))?;
        // Reading a page that is not in memory should cost one page, not all that the system reads around it.
        mapping.expect(Access::Scattered);
        let part = |offset: u64, len: usize| {
            let short = || EngineError::damaged(&*name, offset, format!("expected {len} bytes, found the end"));
            mapping.read(offset, len).ok_or_else(short)
        };
        let footer_at = len.saturating_sub(FOOTER_BYTES as u64);
        let header = part(0, HEADER_BYTES)?;
        let places = header.starts_with(&RUN_MAGIC_PLACES);
        let magic = if places { RUN_MAGIC_PLACES } else { RUN_MAGIC };
        let (version, found_id) =
            decode_header(&header, magic, 44).map_err(|(offset, what)| EngineError::damaged(&*name, offset, what))?;
        check_version(&name, version)?;
        let mut seqs = Fields(&header[28..44]);
        if found_id != id || seqs.u64() != Some(entry.first.0) || seqs.u64() != Some(entry.last.0) {
            return Err(EngineError::damaged(&*name, 12, "the run is not the one that the manifest names"));
        }
        let footer = part(footer_at, FOOTER_BYTES)?;
        let crc = crc32c::crc32c(&footer[..FOOTER_BYTES - 4]);
        if Fields(&footer[FOOTER_BYTES - 4..]).u32() != Some(crc) || crc != entry.footer_crc {
            let what = format!("footer checksum: expected {:08x}, found {crc:08x}", entry.footer_crc);
            return Err(EngineError::damaged(&*name, footer_at, what));
        }
        let damaged = || EngineError::damaged(&*name, footer_at, "the footer's lengths do not fit");
        let mut fields = Fields(&footer);
        let checked_part = |fields: &mut Fields<'_>| Part::check((&*file, &*mapping), &name, (footer_at, fields));
        let section = |fields: &mut Fields<'_>| -> Result<Section> {
            let fences = checked_part(fields)?;
            let blocks = fields.u32().ok_or_else(damaged)? as usize;
            let entries = fields.u64().ok_or_else(damaged)?;
            if fences.len < blocks * FENCE_BYTES {
                return Err(damaged());
            }
            Ok(Section { fences, blocks, entries })
        };
        let sections = [section(&mut fields)?, section(&mut fields)?];
        let table = checked_part(&mut fields)?;
        drop((header, footer));
        let packing = || Held::Entries(Packing::of(entry.first, entry.last, entry.end));
        let held = if places { Held::Places } else { packing() };
        Ok(Run { entry, mapping, sections, table, held, disk: disk.clone(), obsolete: AtomicBool::new(false) })
    }

    pub(super) fn name(&self) -> String {
        run_file(self.entry.number)
    }

    /// Number of entries of a section.
    pub(super) fn entries(&self, kind: SectionKind) -> u64 {
        self.sections[kind as usize].entries
    }

    /// Removes the file when the last reader is done.
    pub(super) fn make_obsolete(&self) {
        self.obsolete.store(true, Ordering::Release);
    }

    /// Begins to fetch what [`Run::hint`] will read.
    pub(super) fn touch(&self, hash: u64) {
        table::touch(&*self.mapping, &self.table, hash);
    }

    /// The table's answer for a key with this hash, without a search. It is a hint that must be confirmed.
    pub(super) fn hint(&self, hash: u64) -> Hint {
        let Some(table) = self.table.bytes(&*self.mapping) else { return Hint::Unknown };
        let (guess, entry) = match self.held {
            Held::Entries(packing) => {
                let guess = table::guess(&table, ENTRIES, hash);
                (guess, guess.payload().and_then(|packed| packing.unpack(packed)))
            }
            Held::Places => {
                let guess = table::guess(&table, PLACES, hash);
                (guess, guess.payload().and_then(|at| self.entry_at(at)))
            }
        };
        if guess == Guess::Absent { Hint::Absent } else { entry.map_or(Hint::Unknown, Hint::Perhaps) }
    }

    fn entry_at(&self, at: u64) -> Option<IndexEntry> {
        let entry = self.mapping.read(at, ENTRY_FIXED_BYTES)?;
        entry.first_chunk().map(decode_entry)
    }

    /// The newest version of a key not newer than `at`, by a search in checked blocks.
    pub(super) fn get(&self, full_key: &[u8], at: Seq) -> Result<Option<IndexEntry>> {
        if self.entry.first > at {
            return Ok(None);
        }
        match self.newest(full_key, Seq(u64::MAX), SectionKind::Current)? {
            Some(entry) if entry.seq > at => self.newest(full_key, at, SectionKind::Past),
            found => Ok(found),
        }
    }

    /// The newest of a key's older versions that is not newer than `at`.
    pub(super) fn get_past(&self, full_key: &[u8], at: Seq) -> Result<Option<IndexEntry>> {
        self.newest(full_key, at, SectionKind::Past)
    }

    fn newest(&self, full_key: &[u8], at: Seq, kind: SectionKind) -> Result<Option<IndexEntry>> {
        let fences = self.fences(kind)?;
        // The version lies in the last block that starts at or before it, or begins the next one.
        let next = fences.lower_bound(full_key, at);
        if let Some(block) = next.checked_sub(1) {
            let (offset, bytes) = self.block_bytes(&fences, block)?;
            if let Some(found) = self.check(&bytes, offset)?.get(full_key, at) {
                return Ok(Some(found));
            }
        }
        if next < fences.blocks && fences.key(next).is_some_and(|(key, _)| key == full_key) {
            let (offset, bytes) = self.block_bytes(&fences, next)?;
            return Ok(self.check(&bytes, offset)?.get(full_key, at));
        }
        Ok(None)
    }

    fn fences(&self, kind: SectionKind) -> Result<Fences<'_>> {
        let section = &self.sections[kind as usize];
        let Part { offset, len, .. } = section.fences;
        let bytes = section
            .fences
            .bytes(&*self.mapping)
            .ok_or_else(|| EngineError::damaged(self.name(), offset, format!("expected {len} bytes, found the end")))?;
        Ok(Fences { bytes, blocks: section.blocks })
    }

    fn block_bytes(&self, fences: &Fences<'_>, block: usize) -> Result<(u64, Cow<'_, [u8]>)> {
        let (offset, len) = fences.place(block).unwrap_or((u64::MAX, 0));
        let bytes = self.mapping.read(offset, len).ok_or_else(|| {
            EngineError::damaged(self.name(), offset, format!("expected a block of {len} bytes, found the end"))
        })?;
        Ok((offset, bytes))
    }

    fn check<'b>(&self, bytes: &'b [u8], offset: u64) -> Result<Block<'b>> {
        Block::check(bytes, offset).map_err(|what| EngineError::damaged(self.name(), offset, what))
    }

    /// Bytes of the file as they are.
    pub(super) fn bytes(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        let end = || EngineError::damaged(self.name(), at, format!("expected {len} bytes, found the end"));
        self.mapping.read(at, len).map(Cow::into_owned).ok_or_else(end)
    }

    /// The file, opened again.
    pub(super) fn reopen(&self) -> std::io::Result<Arc<dyn DiskFile>> {
        self.disk.open(&self.name())
    }

    /// Bytes of fences and table, which are read often.
    pub(super) fn resident_bytes(&self) -> u64 {
        (self.sections[0].fences.len + self.sections[1].fences.len + self.table.len) as u64
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if *self.obsolete.get_mut() {
            // A file that stays is removed at the next open.
            let _ = self.disk.remove(&self.name());
        }
    }
}
