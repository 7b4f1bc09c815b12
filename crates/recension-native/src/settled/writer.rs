//! Writes a settled file from versions in order, in one pass, in memory that does not grow with the file. When `finish`
//! returns, the file is complete and synced; before that, nothing refers to it.

use std::sync::Arc;

use super::super::format::{FORMAT_VERSION, SETTLED_DIR, StoreId, settled_file};
use super::super::run::hash;
use super::super::run::output::{Output, Pace, Spool};
use super::super::run::table::{PLACES, TableBuilder};
use super::block::{BLOCK_ALIGNMENT, BlockKind, FileSeed, PADDING, PAGE_BYTES, encode_block};
use super::cache::BlockCache;
use super::commits::CommitsBuilder;
use super::row_block::RowBlock;
use super::rows::{KeptVersion, RowsBuilder};
use super::{FILE_HEADER_BYTES, FILE_MAGIC, FOOTER_BYTES, ROW_BITS};
use crate::disk::Disk;
use recension_engine::{CommitInfo, EngineError, Result, Seq};

/// Bytes of fences that are kept in memory.
const FENCES_IN_MEMORY_BYTES: usize = 1 << 20;

/// The largest block that is offered to the cache while it is written.
const OFFERED_BYTES_MAX: usize = 32 << 10;

/// The longest rest of a page that is left empty so that a block begins with the next one.
const PADDING_BYTES_MAX: usize = PAGE_BYTES / 8;

/// A settled file being written.
pub(in super::super) struct SettledWriter {
    disk: Arc<dyn Disk>,
    name: String,
    number: u64,
    seed: FileSeed,
    cache: Arc<BlockCache>,
    output: Output,
    table: TableBuilder,
    rows: [RowsBuilder; 2],
    commits: CommitsBuilder,
    sections: [SectionWriter; 3],
    row_bytes: [u64; 2],
    last_key: Vec<u8>,
    /// Older versions of that key were given up. If any come anyway, they are dropped, because there is a gap before
    /// them.
    last_is_cut: bool,
    any: bool,
    finished: bool,
}

struct SectionWriter {
    entries: u64,
    blocks: u32,
    fences: Spool,
    fence_keys: Spool,
}

/// The description of a finished file.
pub(in super::super) struct FinishedFile {
    pub(in super::super) len: u64,
    pub(in super::super) footer_crc: u32,
}

impl SettledWriter {
    /// Starts file `number` over commits `first` to `last`, for at most `keys_max` different keys.
    pub(in super::super) fn create(
        (disk, cache): (&Arc<dyn Disk>, &Arc<BlockCache>),
        id: StoreId,
        number: u64,
        (first, last): (Seq, Seq),
        keys_max: u64,
        pace: Option<Pace>,
    ) -> Result<Self> {
        let name = settled_file(number);
        let mut output = Output::create(&**disk, name.clone())?.paced(pace);
        let mut header = FILE_MAGIC.to_vec();
        header.extend(FORMAT_VERSION.to_le_bytes());
        header.extend(id.0);
        for word in [number, first.0, last.0] {
            header.extend(word.to_le_bytes());
        }
        header.extend(crc32c::crc32c(&header).to_le_bytes());
        header.resize(FILE_HEADER_BYTES, 0);
        output.put(&header)?;
        let section = |kind: BlockKind| SectionWriter {
            entries: 0,
            blocks: 0,
            fences: Spool::new(disk, format!("{name}.{kind:?}.spool"), FENCES_IN_MEMORY_BYTES),
            fence_keys: Spool::new(disk, format!("{name}.{kind:?}Keys.spool"), FENCES_IN_MEMORY_BYTES),
        };
        let sections = BlockKind::ALL.map(section);
        Ok(SettledWriter {
            disk: disk.clone(),
            number,
            seed: FileSeed::new(id, number),
            cache: cache.clone(),
            output,
            table: TableBuilder::for_keys(disk, &name, keys_max, PLACES),
            name,
            rows: [RowsBuilder::default(), RowsBuilder::of_past()],
            commits: CommitsBuilder::default(),
            sections,
            row_bytes: [0; 2],
            last_key: Vec::new(),
            last_is_cut: false,
            any: false,
            finished: false,
        })
    }

    /// Adds the next version in order: key ascending, newest first. Versions behind a cut one are dropped.
    pub(in super::super) fn push(&mut self, full_key: &[u8], version: KeptVersion<'_>) -> Result<()> {
        let newest_of_key = !self.any || self.last_key != full_key;
        if !newest_of_key && self.last_is_cut {
            return Ok(());
        }
        self.last_is_cut = version.cut;
        if newest_of_key {
            self.last_key.clear();
            self.last_key.extend_from_slice(full_key);
            self.any = true;
        }
        let kind = if newest_of_key { BlockKind::Current } else { BlockKind::Past };
        // A block of the past may not be closed before this version: the key's newest version says that its past is in
        // the open one.
        if newest_of_key && self.rows[kind as usize].is_full_for(full_key, &version) {
            self.close_rows(kind)?;
        }
        // If this key has a past, its next version goes to the block that is open now.
        let past = if newest_of_key { self.sections[BlockKind::Past as usize].blocks } else { 0 };
        let left = self.left_of_page();
        let rows = &mut self.rows[kind as usize];
        if newest_of_key && rows.is_empty() {
            rows.aim(if left <= PADDING_BYTES_MAX { PAGE_BYTES } else { left });
        }
        rows.push(full_key, version, past);
        self.sections[kind as usize].entries += 1;
        // The key's tree does not count as the user's bytes.
        self.row_bytes[kind as usize] += (full_key.len() - 4 + version.value.map_or(0, <[u8]>::len)) as u64;
        if rows.is_full() { self.close_rows(kind) } else { Ok(()) }
    }

    /// Adds the next commit, after all rows.
    pub(in super::super) fn commit(&mut self, commit: CommitInfo) -> Result<()> {
        self.commits.push(commit);
        self.sections[BlockKind::Commits as usize].entries += 1;
        if self.commits.is_full() { self.close_commits() } else { Ok(()) }
    }

    fn close_rows(&mut self, kind: BlockKind) -> Result<()> {
        let rows = &mut self.rows[kind as usize];
        let Some((key, seq)) = rows.first() else { return Ok(()) };
        let fence = [key, &(!seq.0).to_be_bytes()].concat();
        if kind == BlockKind::Current {
            let block = u64::from(self.sections[kind as usize].blocks) << ROW_BITS;
            for index in 0..rows.len() {
                self.table.add(hash(rows.key(index)), block | index as u64)?;
            }
        }
        let count = rows.len();
        let payload = rows.finish();
        // Rows that have just been written in the log are often read soon. Keeping them spares decompression. Pieces of
        // attachments, however, pass through without being read again, and would take the room of many documents.
        if payload.len() <= OFFERED_BYTES_MAX {
            let name = (self.number, kind, self.sections[kind as usize].blocks as usize);
            self.cache.offer(name, || RowBlock::parse(&payload, count));
        }
        let block_bytes = self.put_block(kind, count, &payload, &fence)?;
        if kind == BlockKind::Current {
            self.rows[kind as usize].learn(payload.len(), block_bytes);
        }
        Ok(())
    }

    fn close_commits(&mut self) -> Result<()> {
        let (count, first) = (self.commits.len(), self.commits.first());
        let fence = [first.seq.0.to_be_bytes(), first.time.0.to_be_bytes()].concat();
        let payload = self.commits.finish();
        self.put_block(BlockKind::Commits, count, &payload, &fence)?;
        Ok(())
    }

    /// Writes a block; answers its length.
    fn put_block(&mut self, kind: BlockKind, count: usize, payload: &[u8], fence: &[u8]) -> Result<usize> {
        let block = encode_block(kind, count, payload);
        self.pad_for(block.len())?;
        let offset = self.output.position();
        let block = block.at(self.seed, offset);
        let section = &mut self.sections[kind as usize];
        section.fences.put(&offset.to_le_bytes())?;
        section.fences.put(&(block.len() as u32).to_le_bytes())?;
        section.fences.put(&section.fence_keys.len().to_le_bytes())?;
        section.fence_keys.put(fence)?;
        section.blocks += 1;
        self.output.put(&block)?;
        self.align(BLOCK_ALIGNMENT)?;
        Ok(block.len())
    }

    /// Moves to the next page if little is left of this one and a block of `len` bytes then needs fewer pages. A read
    /// of that block alone waits for its pages.
    fn pad_for(&mut self, len: usize) -> Result<()> {
        let left = self.left_of_page();
        let pages = 1 + len.saturating_sub(left).div_ceil(PAGE_BYTES);
        if left <= PADDING_BYTES_MAX && len.div_ceil(PAGE_BYTES) < pages {
            self.output.put(&PADDING.repeat(left / PADDING.len()))?;
        }
        Ok(())
    }

    fn left_of_page(&self) -> usize {
        PAGE_BYTES - self.output.position() as usize % PAGE_BYTES
    }

    fn align(&mut self, alignment: u64) -> Result<()> {
        let at = self.output.position();
        self.output.put(&[0; 64][..(at.next_multiple_of(alignment) - at) as usize])
    }

    /// Writes fences, table and footer, and makes the file and its name durable.
    pub(in super::super) fn finish(mut self) -> Result<FinishedFile> {
        for kind in [BlockKind::Current, BlockKind::Past] {
            if !self.rows[kind as usize].is_empty() {
                self.close_rows(kind)?;
            }
        }
        if self.commits.len() > 0 {
            self.close_commits()?;
        }
        let mut footer = Vec::with_capacity(FOOTER_BYTES);
        for section in &self.sections {
            footer.extend(self.output.part(|part| {
                section.fences.read(1, |piece| part.put(piece))?;
                section.fence_keys.read(1, |piece| part.put(piece))
            })?);
            footer.extend(section.blocks.to_le_bytes());
            footer.extend(section.entries.to_le_bytes());
        }
        // A bucket is one cache line only if the table is aligned to one.
        self.align(64)?;
        footer.extend(self.output.part(|part| self.table.write(part))?);
        footer.extend([0; 4]);
        footer.extend(self.row_bytes[0].to_le_bytes());
        footer.extend(self.row_bytes[1].to_le_bytes());
        footer.resize(FOOTER_BYTES - 4, 0);
        let footer_crc = crc32c::crc32c(&footer);
        footer.extend(footer_crc.to_le_bytes());
        self.output.put(&footer)?;
        let len = self.output.finish()?;
        self.disk
            .sync_dir(SETTLED_DIR)
            .map_err(|e| EngineError::io(format!("syncing the name of {}", self.name), e))?;
        self.finished = true;
        Ok(FinishedFile { len, footer_crc })
    }
}

impl Drop for SettledWriter {
    fn drop(&mut self) {
        if !self.finished {
            self.cache.forget(self.number);
            // A file that stays is removed at the next open, or by the next file with this number.
            let _ = self.disk.remove(&self.name);
        }
    }
}
