//! Settled files: immutable sorted files of rows in compressed blocks. They are the database, as the log is: a faulty
//! one is damage. Fences and table are checked when a file is opened, blocks when they are read into the cache.

mod block;
mod block_shortcuts;
mod cache;
mod commits;
mod cursor;
mod line;
mod manifest;
mod pins;
mod range;
mod row_block;
mod rows;
mod scan;
mod writer;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

pub(super) use self::block::BlockKind;
use self::block::{FileSeed, PAGE_BYTES, decode_block};
pub(super) use self::cache::BlockCache;
pub(super) use self::cursor::SettledCursor;
pub(super) use self::line::Line;
pub(super) use self::manifest::{SettledManifest, read_manifest};
pub(super) use self::pins::{Pinned, Pins};
pub(super) use self::range::SettledRange;
pub(super) use self::rows::KeptVersion;
pub(super) use self::scan::Scan;
pub(super) use self::writer::SettledWriter;

use self::block_shortcuts::Ways;
use self::cache::Cached;
use self::commits::decode_commits;
use self::row_block::{BlockRow, RowBlock};
use super::format::{Fields, StoreId, check_version, decode_header, settled_file};
use super::manifest::RunEntry;
use super::run::fences::{FENCE_BYTES, Fences};
use super::run::part::Part;
use super::run::table::{self, Guess, PLACES};
use crate::disk::{Access, Disk, DiskFile, Mapping};
use recension_engine::{CommitInfo, EngineError, Result, Seq, Timestamp};

const FILE_MAGIC: [u8; 8] = *b"RECNROWS";
pub(super) const FILE_HEADER_BYTES: usize = 64;
const HEADER_CRC_AT: usize = 52;
const FOOTER_BYTES: usize = 192;
/// Low bits of a row's payload in the table: its number in its block.
const ROW_BITS: u32 = 10;

/// An open settled file.
pub(super) struct SettledFile {
    pub(super) entry: RunEntry,
    seed: FileSeed,
    file: Arc<dyn DiskFile>,
    mapping: Arc<dyn Mapping>,
    sections: [Section; 3],
    table: Part,
    row_bytes: [u64; 2],
    cache: Arc<BlockCache>,
    /// Shortcuts to blocks of `current` and of `past`, made with the first read of one; `None` if there is no room for
    /// them.
    ways: [OnceLock<Option<Ways>>; 2],
    disk: Arc<dyn Disk>,
    /// The file is removed when the last reader is done.
    obsolete: AtomicBool,
}

/// Where a section's fences lie, and how many blocks and entries it has.
struct Section {
    fences: Part,
    blocks: usize,
    entries: u64,
}

/// The block of `past` that was read last, and the place behind the row that was found in it. A walk needs the same
/// block
/// many times.
#[derive(Default)]
pub(super) struct PastBlock(Option<(usize, Arc<RowBlock>, usize)>);

/// A version in a checked block.
#[derive(Clone)]
pub(super) struct SettledRow {
    block: Arc<RowBlock>,
    index: usize,
    pub(super) seq: Seq,
    pub(super) deleted: bool,
}

/// Where the newest version of a key is: the number of its block, and its own in it.
#[derive(Clone, Copy)]
pub(super) struct RowPlace {
    block: usize,
    row: usize,
}

impl RowPlace {
    /// The place of a payload in the table.
    fn of(payload: u64) -> Self {
        RowPlace { block: (payload >> ROW_BITS) as usize, row: payload as usize & ((1 << ROW_BITS) - 1) }
    }
}

/// The state of a key at a moment.
pub(super) enum Past {
    /// Its newest version at the moment.
    Found(SettledRow),
    /// It did not exist, as far as the file tells.
    Nothing,
    /// Versions before this one, which is newer, were given up.
    GivenUp(Seq),
}

impl Past {
    fn of(block: &Arc<RowBlock>, found: std::result::Result<Option<usize>, Seq>) -> Past {
        match found {
            Ok(index) => {
                index.and_then(|index| SettledRow::new(block.clone(), index)).map_or(Past::Nothing, Past::Found)
            }
            Err(oldest) => Past::GivenUp(oldest),
        }
    }
}

impl SettledRow {
    fn new(block: Arc<RowBlock>, index: usize) -> Option<Self> {
        let (seq, deleted) = block.version(index)?;
        Some(SettledRow { block, index, seq, deleted })
    }

    /// Whether older versions of its key were given up.
    pub(super) fn is_cut(&self) -> bool {
        self.block.is_cut(self.index)
    }

    /// The version, for another file.
    pub(super) fn kept(&self) -> KeptVersion<'_> {
        KeptVersion { seq: self.seq, value: (!self.deleted).then(|| self.value()), cut: self.is_cut() }
    }

    /// The value; empty if it is deleted.
    pub(super) fn value(&self) -> &[u8] {
        self.block.value(self.index)
    }
}

impl SettledFile {
    /// Opens the file that the manifest names; any mismatch is damage.
    pub(super) fn open(disk: &Arc<dyn Disk>, id: StoreId, entry: RunEntry, cache: &Arc<BlockCache>) -> Result<Self> {
        let name = settled_file(entry.number);
        let file = match disk.open(&name) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(EngineError::damaged(name, 0, "the file is missing"));
            }
            Err(error) => return Err(EngineError::io(format!("opening {name}"), error)),
        };
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
        let header = part(0, FILE_HEADER_BYTES)?;
        let (version, found_id) = decode_header(&header, FILE_MAGIC, HEADER_CRC_AT)
            .map_err(|(offset, what)| EngineError::damaged(&*name, offset, what))?;
        check_version(&name, version)?;
        let mut words = Fields(&header[28..HEADER_CRC_AT]);
        let expected = [entry.number, entry.first.0, entry.last.0];
        if found_id != id || expected.iter().any(|word| words.u64() != Some(*word)) {
            return Err(EngineError::damaged(&*name, 12, "the file is not the one that the manifest names"));
        }
        let footer_at = len.saturating_sub(FOOTER_BYTES as u64);
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
        let sections = [section(&mut fields)?, section(&mut fields)?, section(&mut fields)?];
        let table = checked_part(&mut fields)?;
        fields.u32().ok_or_else(damaged)?;
        let row_bytes = [fields.u64().ok_or_else(damaged)?, fields.u64().ok_or_else(damaged)?];
        drop((header, footer));
        Ok(SettledFile {
            entry,
            seed: FileSeed::new(id, entry.number),
            file,
            mapping,
            sections,
            table,
            row_bytes,
            cache: cache.clone(),
            ways: Default::default(),
            disk: disk.clone(),
            obsolete: AtomicBool::new(false),
        })
    }

    pub(super) fn name(&self) -> String {
        settled_file(self.entry.number)
    }

    /// Whether a commit is among those whose rows the file has.
    pub(super) fn covers(&self, seq: Seq) -> bool {
        (self.entry.first..=self.entry.last).contains(&seq)
    }

    /// The file itself.
    pub(super) fn file(&self) -> &Arc<dyn DiskFile> {
        &self.file
    }

    /// Number of rows or commits of a kind.
    pub(super) fn entries(&self, kind: BlockKind) -> u64 {
        self.sections[kind as usize].entries
    }

    /// Bytes of keys and values of `current` and of `past`.
    pub(super) fn row_bytes(&self) -> [u64; 2] {
        self.row_bytes
    }

    /// Bytes of fences and table, which are read often.
    pub(super) fn resident_bytes(&self) -> u64 {
        (self.sections.iter().map(|section| section.fences.len).sum::<usize>() + self.table.len) as u64
    }

    /// Removes the file when the last reader is done.
    pub(super) fn make_obsolete(&self) {
        self.obsolete.store(true, Ordering::Release);
    }

    fn damaged(&self, offset: u64, what: &str) -> EngineError {
        EngineError::damaged(self.name(), offset, what)
    }

    /// The newest version of a key not newer than `at`. `hash` is the key's.
    ///
    /// # Errors
    /// [`EngineError::Forgotten`] if that version may have been given up.
    pub(super) fn get(&self, hash: u64, full_key: &[u8], at: Seq) -> Result<Option<SettledRow>> {
        if self.entry.first > at {
            return Ok(None);
        }
        let newest = match self.guess(hash) {
            Guess::Absent => return Ok(None),
            Guess::Payload(place) => {
                let RowPlace { block, row } = RowPlace::of(place);
                let block = self.rows_for(BlockKind::Current, block, row)?;
                // It is a guess: another key may have the same hash bits. In that case the file does not have this key,
                // because the table names every key with these bits, or says that it does not know.
                block.touch(row);
                match block.row(row).filter(|row| block.is_key_of(*row, full_key)) {
                    Some(BlockRow { seq, deleted, .. }) => Some(SettledRow { block, index: row, seq, deleted }),
                    None => return Ok(None),
                }
            }
            Guess::Unknown => match self.search(full_key, Seq(u64::MAX), BlockKind::Current)? {
                Past::Found(row) => Some(row),
                Past::Nothing | Past::GivenUp(_) => None,
            },
        };
        let Some(row) = newest.as_ref().filter(|row| row.seq > at) else { return Ok(newest) };
        match self.get_past((&row.block, row.index), full_key, at, &mut PastBlock::default())? {
            Past::Found(row) => Ok(Some(row)),
            Past::Nothing => Ok(None),
            Past::GivenUp(oldest) => Err(EngineError::Forgotten { asked: at, oldest }),
        }
    }

    /// Begins to fetch what a look-up of a key with this hash will read.
    pub(super) fn touch(&self, hash: u64) {
        table::touch(&*self.mapping, &self.table, hash);
    }

    /// Begins to fetch the shortcut to the block that may have a key with this hash, and returns where in the file the
    /// key's row then is.
    pub(super) fn touch_way(&self, hash: u64) -> Option<RowPlace> {
        let Guess::Payload(place) = self.guess(hash) else { return None };
        let place = RowPlace::of(place);
        if let Some(ways) = self.ways(BlockKind::Current) {
            ways.touch(place.block);
        }
        Some(place)
    }

    /// Begins to fetch a row whose block is in memory.
    pub(super) fn touch_row(&self, place: RowPlace) {
        if let Some(ways) = self.ways(BlockKind::Current) {
            ways.touch_row(place.block, place.row);
        }
    }

    /// Begins to fetch all of a row, once the block has been fetched.
    pub(super) fn touch_place(&self, place: RowPlace) {
        if let Some(ways) = self.ways(BlockKind::Current) {
            ways.touch_place(place.block, place.row);
        }
    }

    /// Whether the file may have a version of a key with this hash.
    fn guess(&self, hash: u64) -> Guess {
        self.table.bytes(&*self.mapping).map_or(Guess::Unknown, |table| table::guess(&table, PLACES, hash))
    }

    /// The newest of a key's older versions that is not newer than `at`. `newest` is its row in `current`, which is
    /// newer.
    fn get_past(
        &self,
        (newest, index): (&RowBlock, usize),
        full_key: &[u8],
        at: Seq,
        read: &mut PastBlock,
    ) -> Result<Past> {
        if newest.is_cut(index) {
            let oldest = newest.version(index).map_or(at, |(seq, _)| seq);
            return Ok(Past::GivenUp(oldest));
        }
        let number = newest.past(index);
        if number >= self.sections[BlockKind::Past as usize].blocks {
            return Ok(Past::Nothing);
        }
        let (block, behind) = match &mut read.0 {
            Some((known, block, behind)) if *known == number => (&*block, behind),
            place => {
                let (_, block, behind) = place.insert((number, self.rows(BlockKind::Past, number)?, 0));
                (&*block, behind)
            }
        };
        // A walk forward finds most versions right behind the last one that it found.
        let newest = match *behind {
            index if block.is_newest(index, full_key, at) => Ok(Some(index)),
            _ => block.newest(full_key, at),
        };
        if let Ok(Some(index)) = newest {
            *behind = index + 1;
        }
        let found = Past::of(block, newest);
        // Older versions follow, if the key continues there.
        let goes_on = || block.len().checked_sub(1).is_some_and(|last| block.has_key(last, full_key));
        if matches!(found, Past::Nothing) && goes_on() {
            return self.search(full_key, at, BlockKind::Past);
        }
        Ok(found)
    }

    /// As `get_past`.
    pub(super) fn get_past_of(
        &self,
        newest: &SettledRow,
        full_key: &[u8],
        at: Seq,
        read: &mut PastBlock,
    ) -> Result<Past> {
        self.get_past((&newest.block, newest.index), full_key, at, read)
    }

    fn search(&self, full_key: &[u8], at: Seq, kind: BlockKind) -> Result<Past> {
        let fences = self.fences(kind)?;
        // The version is in the last block that starts at or before it, or is the first of the next one.
        let next = fences.lower_bound(full_key, at);
        let begins_next = next < fences.blocks && fences.key(next).is_some_and(|(key, _)| key == full_key);
        for block in next.checked_sub(1).into_iter().chain(begins_next.then_some(next)) {
            let block = self.rows(kind, block)?;
            match Past::of(&block, block.newest(full_key, at)) {
                Past::Nothing => {}
                found => return Ok(found),
            }
        }
        Ok(Past::Nothing)
    }

    fn fences(&self, kind: BlockKind) -> Result<Fences<'_>> {
        let section = &self.sections[kind as usize];
        let bytes = section.fences.bytes(&*self.mapping);
        let bytes = bytes.ok_or_else(|| self.damaged(section.fences.offset, "expected the fences"))?;
        Ok(Fences { bytes, blocks: section.blocks })
    }

    /// Where a block lies, and its length.
    fn place(&self, kind: BlockKind, number: usize) -> Result<(u64, usize)> {
        let section = &self.sections[kind as usize];
        let Part { offset, len, .. } = section.fences;
        let fence = (number < section.blocks)
            .then(|| section.fences.some(&*self.mapping, number * FENCE_BYTES, FENCE_BYTES.min(len)))
            .flatten();
        let place = fence.and_then(|fence| {
            let mut fields = Fields(&fence);
            Some((fields.u64()?, fields.u32()? as usize))
        });
        // Blocks lie before the fences of the first section.
        place
            .filter(|(at, len)| at.checked_add(*len as u64).is_some_and(|end| end <= self.blocks_end()))
            .ok_or_else(|| self.damaged(offset, "a block that does not lie in the file"))
    }

    /// Where the blocks end.
    fn blocks_end(&self) -> u64 {
        self.sections[0].fences.offset
    }

    /// The rows of a block, from the cache or from the file.
    fn rows(&self, kind: BlockKind, number: usize) -> Result<Arc<RowBlock>> {
        self.rows_for(kind, number, 0)
    }

    /// The same; `row` is wanted first.
    fn rows_for(&self, kind: BlockKind, number: usize, row: usize) -> Result<Arc<RowBlock>> {
        if let Some(rows) = self.cached(kind, number, row) {
            return Ok(rows);
        }
        let (offset, len) = self.place(kind, number)?;
        // Most blocks are in a page, and are read without an allocation.
        let rows = match &mut [0; PAGE_BYTES][..] {
            buffer if len <= buffer.len() => {
                self.read_into(offset, &mut buffer[..len])?;
                self.decode_rows(kind, offset, &buffer[..len])?
            }
            _ => self.decode_rows(kind, offset, &self.read(offset, len)?)?,
        };
        self.keep(kind, number, &rows);
        Ok(rows)
    }

    /// The shortcuts to blocks of a kind.
    fn ways(&self, kind: BlockKind) -> Option<&Ways> {
        let blocks = self.sections[kind as usize].blocks;
        self.ways.get(kind as usize)?.get_or_init(|| Ways::new(self.entry.number, kind, blocks, &self.cache)).as_ref()
    }

    /// A block that is in memory; `row` is wanted first.
    fn cached(&self, kind: BlockKind, number: usize, row: usize) -> Option<Arc<RowBlock>> {
        let ways = self.ways(kind);
        let name = (self.entry.number, kind, number);
        if let Some(rows) = ways.and_then(|ways| ways.get(number, row)) {
            return Some(rows);
        }
        let Some(Cached::Rows(rows)) = self.cache.get(name) else { return None };
        if let Some(ways) = ways {
            ways.set(number, &rows);
        }
        Some(rows)
    }

    /// Keeps a block that has been read in memory.
    fn keep(&self, kind: BlockKind, number: usize, rows: &Arc<RowBlock>) {
        self.cache.put((self.entry.number, kind, number), Cached::Rows(rows.clone()));
        if let Some(ways) = self.ways(kind) {
            ways.set(number, rows);
        }
    }

    /// Raw bytes of the file.
    pub(super) fn read(&self, offset: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.read_into(offset, &mut bytes)?;
        Ok(bytes)
    }

    fn read_into(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        match self.file.read_at(offset, bytes) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(self.damaged(offset, "the file has been cut off"))
            }
            Err(error) => Err(EngineError::io(format!("reading {}", self.name()), error)),
        }
    }

    fn decode_rows(&self, kind: BlockKind, offset: u64, bytes: &[u8]) -> Result<Arc<RowBlock>> {
        let (header, payload) = decode_block(self.seed, offset, bytes).map_err(|what| self.damaged(offset, what))?;
        let rows = (header.kind == kind).then(|| RowBlock::parse(&payload, header.count)).flatten();
        rows.map(Arc::new).ok_or_else(|| self.damaged(offset, "the block is not made of the rows it should be"))
    }

    /// The commits of a block.
    pub(super) fn commits(&self, number: usize) -> Result<Arc<Vec<CommitInfo>>> {
        let name = (self.entry.number, BlockKind::Commits, number);
        if let Some(Cached::Commits(commits)) = self.cache.get(name) {
            return Ok(commits);
        }
        let commits = Arc::new(self.read_commits(number)?);
        self.cache.put(name, Cached::Commits(commits.clone()));
        Ok(commits)
    }

    /// The commits of a block, read from the file.
    pub(super) fn read_commits(&self, number: usize) -> Result<Vec<CommitInfo>> {
        let (offset, len) = self.place(BlockKind::Commits, number)?;
        let bytes = self.read(offset, len)?;
        let (header, payload) = decode_block(self.seed, offset, &bytes).map_err(|what| self.damaged(offset, what))?;
        let commits = (header.kind == BlockKind::Commits).then(|| decode_commits(&payload, header.count)).flatten();
        commits.ok_or_else(|| self.damaged(offset, "the block is not made of commits"))
    }

    /// Blocks of commits.
    pub(super) fn commit_blocks(&self) -> usize {
        self.sections[BlockKind::Commits as usize].blocks
    }

    /// The last commit for which `wanted` holds. It must hold for all commits up to some point, and for none after it.
    pub(super) fn last_commit(&self, wanted: impl Fn(CommitInfo) -> bool) -> Result<Option<CommitInfo>> {
        let Some(commits) = self.commits_with(&wanted)? else { return Ok(None) };
        let end = commits.partition_point(|commit| wanted(*commit));
        Ok(end.checked_sub(1).and_then(|index| commits.get(index)).copied())
    }

    /// The block of that commit.
    fn commits_with(&self, wanted: impl Fn(CommitInfo) -> bool) -> Result<Option<Arc<Vec<CommitInfo>>>> {
        let fences = self.fences(BlockKind::Commits)?;
        let (mut low, mut high) = (0, fences.blocks);
        while low < high {
            let middle = usize::midpoint(low, high);
            let first = fences.raw(middle).and_then(decode_commit_fence);
            let first =
                first.ok_or_else(|| self.damaged(self.sections[2].fences.offset, "a fence that is no commit"))?;
            if wanted(first) { low = middle + 1 } else { high = middle }
        }
        low.checked_sub(1).map(|block| self.commits(block)).transpose()
    }
}

fn decode_commit_fence(fence: &[u8]) -> Option<CommitInfo> {
    let (seq, time) = fence.split_first_chunk::<8>()?;
    let time = u64::from_be_bytes(time.try_into().ok()?);
    Some(CommitInfo { seq: Seq(u64::from_be_bytes(*seq)), time: Timestamp(time) })
}

impl Drop for SettledFile {
    fn drop(&mut self) {
        if *self.obsolete.get_mut() {
            self.cache.forget(self.entry.number);
            // A file that stays is removed at the next open.
            let _ = self.disk.remove(&self.name());
        }
    }
}

/// The value of a settled row, for an answer that outlives the block.
pub(super) fn owned_value<'s>(row: &SettledRow) -> Cow<'s, [u8]> {
    Cow::Owned(row.value().to_vec())
}
