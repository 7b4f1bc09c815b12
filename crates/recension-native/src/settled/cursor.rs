//! Walks the rows of one section of a settled file, in either direction. It reads ahead: the further it walks, the more
//! with one call.

use std::ops::Range;
use std::sync::Arc;

use super::row_block::RowBlock;
use super::{BlockKind, FILE_HEADER_BYTES, SettledFile, SettledRow};
use recension_engine::{Direction, EngineError, Result, Seq};

/// Bytes read with the first call, a hundred rows of 300 bytes, and with later ones.
const WINDOW_BYTES_FIRST: usize = 24 << 10;
const WINDOW_BYTES_MAX: usize = 256 << 10;

/// A place between two rows of a section.
pub(in super::super) struct SettledCursor<'f> {
    file: &'f SettledFile,
    kind: BlockKind,
    block: usize,
    blocks: usize,
    rows: Option<Arc<RowBlock>>,
    /// The row of the block that `next` answers. `back` answers the one before it.
    index: usize,
    backward: bool,
    /// Bytes of the file that have been read, and their offset.
    window: (u64, Vec<u8>),
    window_bytes: usize,
    /// Whether blocks come from the cache, and go there.
    caching: bool,
}

impl<'f> SettledCursor<'f> {
    /// At the start of a section, to walk all of it, bypassing the cache.
    pub(in super::super) fn whole(file: &'f SettledFile, kind: BlockKind) -> Self {
        SettledCursor { window_bytes: WINDOW_BYTES_MAX, caching: false, ..Self::at_start(file, kind) }
    }

    /// At the start of a section.
    pub(in super::super) fn at_start(file: &'f SettledFile, kind: BlockKind) -> Self {
        SettledCursor {
            file,
            kind,
            block: 0,
            blocks: file.sections[kind as usize].blocks,
            rows: None,
            index: 0,
            backward: false,
            window: (0, Vec::new()),
            window_bytes: WINDOW_BYTES_FIRST,
            caching: true,
        }
    }

    /// At the end of a section.
    pub(in super::super) fn at_end(file: &'f SettledFile, kind: BlockKind) -> Self {
        let mut cursor = Self::at_start(file, kind);
        cursor.block = cursor.blocks;
        cursor.backward = true;
        cursor
    }

    /// Before the first row that is not before (`full_key`, `seq`).
    pub(in super::super) fn seek(
        file: &'f SettledFile,
        kind: BlockKind,
        full_key: &[u8],
        seq: Seq,
        backward: bool,
    ) -> Result<Self> {
        let mut cursor = SettledCursor { backward, ..Self::at_start(file, kind) };
        cursor.block = file.fences(kind)?.lower_bound(full_key, seq).saturating_sub(1);
        if let Some(rows) = cursor.load()? {
            cursor.index = rows.lower_bound(full_key, seq);
        }
        Ok(cursor)
    }

    /// The block that the cursor is in; `None` behind the last.
    fn load(&mut self) -> Result<Option<&Arc<RowBlock>>> {
        if self.block >= self.blocks {
            return Ok(None);
        }
        if self.rows.is_none() {
            self.rows = Some(self.fetch()?);
        }
        Ok(self.rows.as_ref())
    }

    fn fetch(&mut self) -> Result<Arc<RowBlock>> {
        if self.caching
            && let Some(rows) = self.file.cached(self.kind, self.block, 0)
        {
            return Ok(rows);
        }
        let (offset, len) = self.file.place(self.kind, self.block)?;
        let bytes = match self.in_window(offset, len) {
            Some(range) => range,
            None => {
                self.read_window(offset, len)?;
                self.in_window(offset, len).ok_or_else(|| self.made_wrongly())?
            }
        };
        let rows = self.file.decode_rows(self.kind, offset, &self.window.1[bytes])?;
        if self.caching {
            self.file.keep(self.kind, self.block, &rows);
        }
        Ok(rows)
    }

    fn in_window(&self, offset: u64, len: usize) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(offset.checked_sub(self.window.0)?).ok()?;
        let end = start.checked_add(len)?;
        (end <= self.window.1.len()).then_some(start..end)
    }

    fn read_window(&mut self, offset: u64, len: usize) -> Result<()> {
        let wanted = self.window_bytes.max(len) as u64;
        let end = offset + len as u64;
        let (start, end) = if self.backward {
            (end.saturating_sub(wanted).max(FILE_HEADER_BYTES as u64), end)
        } else {
            (offset, (offset + wanted).min(self.file.blocks_end()))
        };
        self.window = (start, self.file.read(start, (end - start) as usize)?);
        self.window_bytes = (self.window_bytes * 2).min(WINDOW_BYTES_MAX);
        Ok(())
    }

    fn made_wrongly(&self) -> EngineError {
        let number = self.block;
        EngineError::damaged(self.file.name(), 0, format!("block {number} is not at the place in its fence"))
    }

    /// The row behind the cursor, which moves past it. Its full key is written to `key`.
    pub(in super::super) fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<SettledRow>> {
        self.backward = false;
        loop {
            let index = self.index;
            let Some(rows) = self.load()? else { return Ok(None) };
            if index < rows.len() {
                rows.read_key(index, key);
                let row = SettledRow::new(rows.clone(), index);
                self.index += 1;
                return Ok(row);
            }
            self.block += 1;
            self.index = 0;
            self.rows = None;
        }
    }

    /// Puts the cursor back to its place before its last step, which answered a row.
    pub(in super::super) fn step_back(&mut self, direction: Direction) {
        match direction {
            Direction::Forward => self.index = self.index.saturating_sub(1),
            Direction::Backward => self.index += 1,
        }
    }

    /// Puts the cursor back before a row of the block that was taken last.
    pub(super) fn back_to(&mut self, index: usize) {
        (self.block, self.index) = (self.block.saturating_sub(1), index);
        self.rows = None;
    }

    /// The rows of a block behind the cursor, or before it. The cursor moves past them. `None` at the end.
    pub(super) fn take_block(&mut self, direction: Direction) -> Result<Option<(Arc<RowBlock>, Range<usize>)>> {
        self.backward = direction == Direction::Backward;
        loop {
            if self.backward && self.index == 0 {
                if self.block == 0 {
                    return Ok(None);
                }
                self.block -= 1;
                self.rows = None;
                self.index = self.load()?.map_or(0, |rows| rows.len());
            }
            let Some(block) = self.load()?.cloned() else { return Ok(None) };
            let rows = if self.backward { 0..self.index } else { self.index..block.len() };
            self.index = 0;
            if !self.backward {
                self.block += 1;
                self.rows = None;
            }
            if !rows.is_empty() {
                return Ok(Some((block, rows)));
            }
        }
    }

    /// The row before the cursor, which moves before it. Its full key is written to `key`.
    pub(in super::super) fn back(&mut self, key: &mut Vec<u8>) -> Result<Option<SettledRow>> {
        self.backward = true;
        while self.index == 0 {
            if self.block == 0 {
                return Ok(None);
            }
            self.block -= 1;
            self.rows = None;
            self.index = self.load()?.map_or(0, |rows| rows.len());
        }
        self.index -= 1;
        let index = self.index;
        Ok(self.load()?.and_then(|rows| {
            rows.read_key(index, key);
            SettledRow::new(rows.clone(), index)
        }))
    }
}
