//! Writes a run from entries in order, in one pass, in memory that does not grow with the run. When `finish` returns,
//! the file is complete and synced; before that, nothing refers to it.

use std::sync::Arc;

use super::super::entry::IndexEntry;
use super::super::format::{FORMAT_VERSION, INDEX_DIR, Position, StoreId, run_file};
use super::block::BlockBuilder;
use super::output::{Output, Spool};
use super::packing::Packing;
use super::table::{ENTRIES, TableBuilder, hash};
use super::{FOOTER_BYTES, HEADER_BYTES, RUN_MAGIC, SectionKind};
use crate::disk::Disk;
use recension_engine::{EngineError, Result, Seq};

/// Bytes of fences that are kept in memory.
const FENCES_IN_MEMORY_BYTES: usize = 1 << 20;

/// A run being written.
pub(in super::super) struct RunWriter {
    disk: Arc<dyn Disk>,
    name: String,
    output: Output,
    table: TableBuilder,
    packing: Packing,
    end: Position,
    sections: [SectionWriter; 2],
    last_key: Vec<u8>,
    any: bool,
}

struct SectionWriter {
    block: BlockBuilder,
    entries: u64,
    blocks: u32,
    fences: Spool,
    fence_keys: Spool,
}

/// The description of a finished run.
pub(in super::super) struct FinishedRun {
    pub(in super::super) len: u64,
    pub(in super::super) footer_crc: u32,
}

impl RunWriter {
    /// Starts run `number` over commits `first` to `last`, the last of which ends at `end`, for at most `keys_max`
    /// different keys.
    pub(in super::super) fn create(
        disk: &Arc<dyn Disk>,
        id: StoreId,
        number: u64,
        (first, last, end): (Seq, Seq, Position),
        keys_max: u64,
    ) -> Result<Self> {
        let name = run_file(number);
        let mut output = Output::create(&**disk, name.clone())?;
        let mut header = RUN_MAGIC.to_vec();
        header.extend(FORMAT_VERSION.to_le_bytes());
        header.extend(id.0);
        header.extend(first.0.to_le_bytes());
        header.extend(last.0.to_le_bytes());
        header.extend(crc32c::crc32c(&header).to_le_bytes());
        header.resize(HEADER_BYTES, 0);
        output.put(&header)?;
        let section = |kind: SectionKind| SectionWriter {
            block: BlockBuilder::default(),
            entries: 0,
            blocks: 0,
            fences: Spool::new(disk, format!("{name}.{kind:?}.spool"), FENCES_IN_MEMORY_BYTES),
            fence_keys: Spool::new(disk, format!("{name}.{kind:?}Keys.spool"), FENCES_IN_MEMORY_BYTES),
        };
        Ok(RunWriter {
            disk: disk.clone(),
            sections: [section(SectionKind::Current), section(SectionKind::Past)],
            table: TableBuilder::for_keys(disk, &name, keys_max, ENTRIES),
            packing: Packing::of(first, last, end),
            end,
            name,
            output,
            last_key: Vec::new(),
            any: false,
        })
    }

    /// Adds the next version in order: key ascending, newest first.
    pub(in super::super) fn push(&mut self, full_key: &[u8], entry: IndexEntry) -> Result<()> {
        let newest_of_key = !self.any || self.last_key != full_key;
        if newest_of_key {
            self.last_key.clear();
            self.last_key.extend_from_slice(full_key);
            self.any = true;
        }
        let kind = if newest_of_key { SectionKind::Current } else { SectionKind::Past };
        let section = &mut self.sections[kind as usize];
        section.block.push(full_key, entry);
        section.entries += 1;
        if section.block.is_full() { self.close_block(kind) } else { Ok(()) }
    }

    fn close_block(&mut self, kind: SectionKind) -> Result<()> {
        let offset = self.output.position();
        let section = &mut self.sections[kind as usize];
        let Some((key, seq)) = section.block.first() else { return Ok(()) };
        let key_start = section.fence_keys.len();
        section.fence_keys.put(key)?;
        section.fence_keys.put(&(!seq.0).to_be_bytes())?;
        let mut added = Ok(());
        let block = section.block.finish(offset, |key, entry| {
            if kind == SectionKind::Current && added.is_ok() {
                added = self.table.add(hash(key), self.packing.pack(entry));
            }
        });
        added?;
        section.fences.put(&offset.to_le_bytes())?;
        section.fences.put(&(block.len() as u32).to_le_bytes())?;
        section.fences.put(&key_start.to_le_bytes())?;
        section.blocks += 1;
        self.output.put(&block)
    }

    /// Writes fences, table and footer, and makes the file and its name durable.
    pub(in super::super) fn finish(mut self) -> Result<FinishedRun> {
        let mut footer = Vec::with_capacity(FOOTER_BYTES);
        for kind in [SectionKind::Current, SectionKind::Past] {
            if !self.sections[kind as usize].block.is_empty() {
                self.close_block(kind)?;
            }
            let section = &self.sections[kind as usize];
            footer.extend(self.output.part(|part| {
                section.fences.read(1, |piece| part.put(piece))?;
                section.fence_keys.read(1, |piece| part.put(piece))
            })?);
            footer.extend(section.blocks.to_le_bytes());
            footer.extend(section.entries.to_le_bytes());
        }
        // A bucket is one cache line only if the table is aligned to one.
        let at = self.output.position();
        self.output.put(&vec![0; (at.next_multiple_of(64) - at) as usize])?;
        footer.extend(self.output.part(|part| self.table.write(part))?);
        footer.extend([0; 4]);
        footer.extend(self.end.segment.to_le_bytes());
        footer.extend(self.end.offset.to_le_bytes());
        footer.resize(FOOTER_BYTES - 4, 0);
        let footer_crc = crc32c::crc32c(&footer);
        footer.extend(footer_crc.to_le_bytes());
        self.output.put(&footer)?;
        let len = self.output.finish()?;
        self.disk.sync_dir(INDEX_DIR).map_err(|e| EngineError::io(format!("syncing the name of {}", self.name), e))?;
        Ok(FinishedRun { len, footer_crc })
    }
}
