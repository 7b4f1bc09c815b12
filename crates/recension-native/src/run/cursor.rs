//! Walks the entries of one section of a run, in either direction.

use std::borrow::Cow;

use super::block::Block;
use super::{Run, SectionKind};
use crate::entry::IndexEntry;
use recension_engine::{EngineError, Result, Seq};

/// A place between two entries of a section.
pub(in super::super) struct RunCursor<'r> {
    run: &'r Run,
    kind: SectionKind,
    /// The current block, and its checked bytes.
    block: usize,
    bytes: Option<Cow<'r, [u8]>>,
    /// The entry of the block that `next` answers. `back` answers the one before it.
    index: usize,
    blocks: usize,
    /// Blocks that were read in order, and the end of the bytes that were requested ahead of them.
    in_order: usize,
    asked: u64,
}

/// After this many blocks in order, a cursor requests this many bytes ahead. Otherwise the system brings page after
/// page of a view that is read in no order, and waits for each.
const IN_ORDER: usize = 4;
const AHEAD_BYTES: u64 = 256 << 10;

impl<'r> RunCursor<'r> {
    /// At the start of a section.
    pub(in super::super) fn at_start(run: &'r Run, kind: SectionKind) -> Self {
        let blocks = run.sections[kind as usize].blocks;
        RunCursor { run, kind, block: 0, bytes: None, index: 0, blocks, in_order: 0, asked: 0 }
    }

    /// At the end of a section.
    pub(in super::super) fn at_end(run: &'r Run, kind: SectionKind) -> Self {
        let mut cursor = Self::at_start(run, kind);
        cursor.block = cursor.blocks;
        cursor
    }

    /// Before the first entry that is not before (`full_key`, `seq`).
    pub(in super::super) fn seek(run: &'r Run, kind: SectionKind, full_key: &[u8], seq: Seq) -> Result<Self> {
        let mut cursor = Self::at_start(run, kind);
        let next = run.fences(kind)?.lower_bound(full_key, seq);
        cursor.block = next.saturating_sub(1);
        if let Some(block) = cursor.load()? {
            cursor.index = block.lower_bound(full_key, seq);
        }
        Ok(cursor)
    }

    /// Reads and checks the block that the cursor is in; `None` behind the last.
    fn load(&mut self) -> Result<Option<Block<'_>>> {
        if self.block >= self.blocks {
            return Ok(None);
        }
        if self.bytes.is_none() {
            let fences = self.run.fences(self.kind)?;
            let (offset, bytes) = self.run.block_bytes(&fences, self.block)?;
            if self.in_order >= IN_ORDER && offset + AHEAD_BYTES / 2 >= self.asked {
                let from = self.asked.max(offset);
                self.asked = offset + AHEAD_BYTES;
                self.run.mapping.read_ahead(from, self.asked - from);
            }
            self.run.check(&bytes, offset)?;
            self.bytes = Some(bytes);
        }
        Ok(self.bytes.as_deref().and_then(Block::parse))
    }

    fn made_wrongly(&self) -> EngineError {
        EngineError::damaged(self.run.name(), 0, format!("block {} has an entry that does not fit", self.block))
    }

    /// The entry behind the cursor, which moves past it. Its full key is written to `key`.
    pub(in super::super) fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<IndexEntry>> {
        loop {
            let index = self.index;
            let Some(block) = self.load()? else { return Ok(None) };
            if index < block.len() {
                let entry = block.read(index, key);
                self.index += 1;
                return entry.map(Some).ok_or_else(|| self.made_wrongly());
            }
            self.block += 1;
            self.in_order += 1;
            self.index = 0;
            self.bytes = None;
        }
    }

    /// The entry before the cursor, which moves before it. Its full key is written to `key`.
    pub(in super::super) fn back(&mut self, key: &mut Vec<u8>) -> Result<Option<IndexEntry>> {
        while self.index == 0 {
            if self.block == 0 {
                return Ok(None);
            }
            self.block -= 1;
            self.bytes = None;
            self.index = self.load()?.map_or(0, |block| block.len());
        }
        self.index -= 1;
        let index = self.index;
        let entry = self.load()?.and_then(|block| block.read(index, key));
        entry.map(Some).ok_or_else(|| self.made_wrongly())
    }
}
