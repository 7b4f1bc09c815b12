//! Writes a run from entries in order, in one pass and with one buffer. The file is complete and
//! synced when `finish` returns; before that nothing refers to it.

use std::io::IoSlice;
use std::sync::Arc;

use super::super::format::{FORMAT_VERSION, INDEX_DIR, Position, StoreId, run_file};
use super::super::index::IndexEntry;
use super::block::BlockBuilder;
use super::table::{TableBuilder, hash};
use super::{FOOTER_BYTES, HEADER_BYTES, RUN_MAGIC, SectionKind};
use crate::disk::{Disk, DiskFile};
use crate::engine::{EngineError, Result, Seq};

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 1 << 20;

/// A run being written.
pub(in super::super) struct RunWriter {
    name: String,
    file: Arc<dyn DiskFile>,
    buffer: Vec<u8>,
    /// Offset of the buffer's first byte in the file.
    flushed: u64,
    table: TableBuilder,
    sections: [SectionWriter; 2],
    last_key: Vec<u8>,
    any: bool,
}

#[derive(Default)]
struct SectionWriter {
    block: BlockBuilder,
    entries: u64,
    /// Per block: offset, length.
    blocks: Vec<(u64, u32)>,
    key_starts: Vec<u32>,
    keys: Vec<u8>,
}

/// What there is to know of a finished run.
pub(in super::super) struct FinishedRun {
    pub(in super::super) len: u64,
    pub(in super::super) footer_crc: u32,
}

impl RunWriter {
    /// Starts run `number` over commits `first` to `last`, for at most `keys_max` different keys.
    pub(in super::super) fn create(
        disk: &dyn Disk,
        id: StoreId,
        number: u64,
        (first, last): (Seq, Seq),
        keys_max: u64,
    ) -> Result<Self> {
        let name = run_file(number);
        let file = disk.create(&name).map_err(|e| EngineError::io(format!("creating {name}"), e))?;
        let mut header = RUN_MAGIC.to_vec();
        header.extend(FORMAT_VERSION.to_le_bytes());
        header.extend(id.0);
        header.extend(first.0.to_le_bytes());
        header.extend(last.0.to_le_bytes());
        header.extend(crc32c::crc32c(&header).to_le_bytes());
        header.resize(HEADER_BYTES, 0);
        Ok(RunWriter {
            name,
            file,
            buffer: header,
            flushed: 0,
            table: TableBuilder::for_keys(keys_max),
            sections: Default::default(),
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
        let section = usize::from(!newest_of_key);
        self.sections[section].block.push(full_key, entry);
        self.sections[section].entries += 1;
        if self.sections[section].block.is_full() {
            self.close_block(section)?;
        }
        Ok(())
    }

    fn close_block(&mut self, kind: usize) -> Result<()> {
        let offset = self.flushed + self.buffer.len() as u64;
        let section = &mut self.sections[kind];
        let Some((key, seq)) = section.block.first() else { return Ok(()) };
        section.key_starts.push(section.keys.len() as u32);
        section.keys.extend_from_slice(key);
        section.keys.extend((!seq.0).to_be_bytes());
        let block = section.block.finish(offset, |key, at| {
            if kind == SectionKind::Current as usize {
                self.table.add(hash(key), at);
            }
        });
        section.blocks.push((offset, block.len() as u32));
        self.buffer.extend_from_slice(&block);
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.file
            .write_at(self.flushed, &[IoSlice::new(&self.buffer)])
            .map_err(|e| EngineError::io(format!("writing {}", self.name), e))?;
        self.flushed += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Writes fences, table and footer, and makes the file and its name durable.
    pub(in super::super) fn finish(mut self, disk: &dyn Disk, end: Position) -> Result<FinishedRun> {
        let mut footer = Vec::with_capacity(FOOTER_BYTES);
        for section in 0..2 {
            if !self.sections[section].block.is_empty() {
                self.close_block(section)?;
            }
            let fences = self.sections[section].fences();
            footer.extend(self.append(&fences)?);
            footer.extend((self.sections[section].blocks.len() as u32).to_le_bytes());
            footer.extend(self.sections[section].entries.to_le_bytes());
        }
        let table = std::mem::replace(&mut self.table, TableBuilder::for_keys(0)).into_bytes();
        // A bucket is one cache line only if the table begins at one.
        let at = self.flushed + self.buffer.len() as u64;
        self.buffer.resize(self.buffer.len() + (at.next_multiple_of(64) - at) as usize, 0);
        footer.extend(self.append(&table)?);
        footer.extend([0; 4]);
        footer.extend(end.segment.to_le_bytes());
        footer.extend(end.offset.to_le_bytes());
        footer.resize(FOOTER_BYTES - 4, 0);
        let footer_crc = crc32c::crc32c(&footer);
        footer.extend(footer_crc.to_le_bytes());
        self.buffer.extend_from_slice(&footer);
        self.flush()?;
        self.file
            .sync()
            .and_then(|()| disk.sync_dir(INDEX_DIR))
            .map_err(|e| EngineError::io(format!("syncing {}", self.name), e))?;
        Ok(FinishedRun { len: self.flushed, footer_crc })
    }

    /// Appends a part; answers its offset, length and crc as the footer has them.
    fn append(&mut self, part: &[u8]) -> Result<Vec<u8>> {
        let offset = self.flushed + self.buffer.len() as u64;
        self.buffer.extend_from_slice(part);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        let mut words = offset.to_le_bytes().to_vec();
        words.extend((part.len() as u64).to_le_bytes());
        words.extend(crc32c::crc32c(part).to_le_bytes());
        Ok(words)
    }
}

impl SectionWriter {
    fn fences(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.blocks.len() * 16 + self.keys.len());
        for ((offset, len), key_start) in self.blocks.iter().zip(&self.key_starts) {
            bytes.extend(offset.to_le_bytes());
            bytes.extend(len.to_le_bytes());
            bytes.extend(key_start.to_le_bytes());
        }
        bytes.extend_from_slice(&self.keys);
        bytes
    }
}
