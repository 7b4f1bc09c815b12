//! Finds every whole block of a settled file without using its fences or its footer: for salvage.

use std::sync::Arc;

use super::block::{BLOCK_ALIGNMENT, BlockHeader, BlockKind, FileSeed, PADDING, decode_block};
use super::commits::decode_commits;
use super::row_block::RowBlock;
use super::{FILE_HEADER_BYTES, FILE_MAGIC, FOOTER_BYTES, HEADER_CRC_AT, SettledRow};
use crate::disk::{Disk, Mapping};
use crate::format::{Fields, StoreId, decode_header, settled_file};
use recension_engine::{CommitInfo, EngineError, Result, Seq};

/// The readable parts of a settled file.
pub(in super::super) struct Scan {
    pub(in super::super) name: String,
    /// The range of commits in the header; `None` if the header is damaged.
    pub(in super::super) covers: Option<(Seq, Seq)>,
    /// The file has been written to its end.
    pub(in super::super) complete: bool,
    /// Ranges of bytes that are no whole block.
    pub(in super::super) gaps: Vec<(u64, u64)>,
    blocks: Vec<(BlockHeader, u64)>,
    seed: FileSeed,
    mapping: Arc<dyn Mapping>,
}

impl Scan {
    /// Looks through file `number`.
    pub(in super::super) fn of(disk: &dyn Disk, id: StoreId, number: u64) -> Result<Self> {
        let name = settled_file(number);
        let opened = disk.open(&name).and_then(|file| {
            let len = file.len()?;
            file.map(len)
        });
        let mapping = opened.map_err(|e| EngineError::io(format!("opening {name}"), e))?;
        let seed = FileSeed::new(id, number);
        let mut scan =
            Scan { name, covers: None, complete: false, gaps: Vec::new(), blocks: Vec::new(), seed, mapping };
        let mapping = scan.mapping.clone();
        let bytes = mapping.read(0, mapping.len() as usize).unwrap_or_default();
        scan.covers = decode_header(&bytes, FILE_MAGIC, HEADER_CRC_AT).ok().and_then(|_| {
            let mut words = Fields(bytes.get(36..HEADER_CRC_AT)?);
            Some((Seq(words.u64()?), Seq(words.u64()?)))
        });
        let blocks_end = blocks_end(&bytes);
        scan.complete = blocks_end.is_some();
        scan.find_blocks(&bytes, blocks_end.unwrap_or(bytes.len()));
        Ok(scan)
    }

    fn find_blocks(&mut self, bytes: &[u8], end: usize) {
        let mut at = FILE_HEADER_BYTES;
        let mut gap = None;
        while at < end {
            let found = bytes.get(at..end).and_then(BlockHeader::decode);
            match found.filter(|_| decode_block(self.seed, at as u64, &bytes[at..end]).is_ok()) {
                Some(header) => {
                    self.gaps.extend(gap.take().map(|start| (start, at as u64)));
                    self.blocks.push((header, at as u64));
                    at = (at + header.len()).next_multiple_of(BLOCK_ALIGNMENT as usize);
                }
                None if bytes[at..end].starts_with(&PADDING) => {
                    self.gaps.extend(gap.take().map(|start| (start, at as u64)));
                    at += BLOCK_ALIGNMENT as usize;
                }
                None => {
                    gap.get_or_insert(at as u64);
                    at += BLOCK_ALIGNMENT as usize;
                }
            }
        }
        self.gaps.extend(gap.map(|start| (start, end as u64)));
    }

    /// Number of rows or commits of a kind in whole blocks.
    pub(in super::super) fn entries(&self, kind: BlockKind) -> u64 {
        self.blocks.iter().filter(|(header, _)| header.kind == kind).map(|(header, _)| header.count as u64).sum()
    }

    fn payloads(&self, kind: BlockKind) -> impl Iterator<Item = (usize, Vec<u8>)> + '_ {
        self.blocks.iter().filter(move |(header, _)| header.kind == kind).filter_map(|(header, at)| {
            let bytes = self.mapping.read(*at, header.len())?;
            decode_block(self.seed, *at, &bytes).ok().map(|(header, payload)| (header.count, payload.into_owned()))
        })
    }

    /// The rows of a kind, in order, with their full keys.
    pub(in super::super) fn rows(&self, kind: BlockKind) -> impl Iterator<Item = (Vec<u8>, SettledRow)> + '_ {
        let blocks = self.payloads(kind).filter_map(|(count, payload)| RowBlock::parse(&payload, count).map(Arc::new));
        blocks.flat_map(|rows| {
            (0..rows.len()).filter_map(move |index| {
                let mut key = Vec::new();
                rows.read_key(index, &mut key);
                SettledRow::new(rows.clone(), index).map(|row| (key, row))
            })
        })
    }

    /// The commits, in order.
    pub(in super::super) fn commits(&self) -> impl Iterator<Item = CommitInfo> + '_ {
        self.payloads(BlockKind::Commits).filter_map(|(count, payload)| decode_commits(&payload, count)).flatten()
    }
}

/// Where the blocks end, if the footer is whole.
fn blocks_end(bytes: &[u8]) -> Option<usize> {
    let footer = bytes.len().checked_sub(FOOTER_BYTES).and_then(|at| bytes.get(at..))?;
    let (body, stored) = footer.split_last_chunk::<4>()?;
    let end = (crc32c::crc32c(body) == u32::from_le_bytes(*stored)).then(|| Fields(body).u64())??;
    usize::try_from(end).ok().filter(|end| *end <= bytes.len())
}
