//! A walk over one settled file alone, block by block, for a range in which nothing else has keys. Rows are borrowed
//! from their blocks; nothing is copied, counted or compared for each of them.

use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;

use super::pins::Pinned;
use super::row_block::{BlockRow, RowBlock};
use super::{Past, PastBlock, SettledCursor, SettledFile};
use recension_engine::{Direction, EngineError, Result, Row, Seq, Value};

/// For each key of a settled file within bounds, the row of its newest version not newer than a seq.
pub(in super::super) struct SettledRange<'s> {
    file: &'s SettledFile,
    cursor: SettledCursor<'s>,
    end: Bound<Vec<u8>>,
    at: Seq,
    direction: Direction,
    past: PastBlock,
    block: Option<Held<'s>>,
    /// The rows of the block that are within bounds and have not been answered yet.
    rows: std::ops::Range<usize>,
    /// No further block is within bounds.
    last_block: bool,
    /// The first row of the last block that is not within bounds.
    cut: Option<usize>,
    /// A full key, if the block does not have it in one piece.
    key: Vec<u8>,
}

/// A block that is walked.
enum Held<'s> {
    /// The snapshot keeps it.
    Pinned(&'s RowBlock),
    Copied(Arc<RowBlock>),
}

impl Held<'_> {
    fn rows(&self) -> &RowBlock {
        match self {
            Held::Pinned(block) => block,
            Held::Copied(block) => block,
        }
    }
}

impl<'s> SettledRange<'s> {
    /// Continues at `cursor`.
    pub(in super::super) fn new(
        file: &'s SettledFile,
        cursor: SettledCursor<'s>,
        end: Bound<Vec<u8>>,
        at: Seq,
        direction: Direction,
    ) -> Self {
        SettledRange {
            file,
            cursor,
            end,
            at,
            direction,
            past: PastBlock::default(),
            block: None,
            rows: 0..0,
            last_block: false,
            cut: None,
            key: Vec::new(),
        }
    }

    /// The cursor, at the first row that is not within bounds. For a range forward all of which was shown.
    pub(in super::super) fn into_cursor(self) -> SettledCursor<'s> {
        let mut cursor = self.cursor;
        if let Some(index) = self.cut {
            cursor.back_to(index);
        }
        cursor
    }

    /// The next row; `None` at the end.
    pub(in super::super) fn next(&mut self, pinned: &mut Pinned<'s>) -> Result<Option<Row<'s>>> {
        loop {
            let Some(index) = self.next_index() else {
                if !self.next_block(Some(pinned))? {
                    return Ok(None);
                }
                continue;
            };
            if let Some(row) = self.row(index, pinned)? {
                return Ok(Some(row));
            }
        }
    }

    /// Shows the rest of the rows to `see`, until it returns false. They are lent from their blocks.
    pub(in super::super) fn each(&mut self, see: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        loop {
            if let Some(held) = self.block.take()
                && !self.each_of(held.rows(), see)?
            {
                return Ok(());
            }
            if !self.next_block(None)? {
                return Ok(());
            }
        }
    }

    /// The same for the rows of one block; returns whether `see` wants further ones.
    fn each_of(&mut self, block: &RowBlock, see: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<bool> {
        while let Some(index) = self.next_index() {
            let Some(BlockRow { seq, deleted, value, .. }) = block.row(index) else { continue };
            if deleted && seq <= self.at {
                continue;
            }
            let full_key = match block.full_key(index) {
                Some(key) => key,
                None => {
                    block.read_key(index, &mut self.key);
                    &self.key
                }
            };
            let key = full_key.get(4..).unwrap_or_default();
            let goes_on = if seq <= self.at {
                see(key, value)
            } else {
                match self.file.get_past((block, index), full_key, self.at, &mut self.past)? {
                    Past::Found(older) if !older.deleted => see(key, older.value()),
                    Past::GivenUp(oldest) => return Err(EngineError::Forgotten { asked: self.at, oldest }),
                    Past::Found(_) | Past::Nothing => true,
                }
            };
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn next_index(&mut self) -> Option<usize> {
        match self.direction {
            Direction::Forward => self.rows.next(),
            Direction::Backward => self.rows.next_back(),
        }
    }

    /// The row at a place of the block; `None` if its key has none as of the moment that is read.
    fn row(&mut self, index: usize, pinned: &mut Pinned<'s>) -> Result<Option<Row<'s>>> {
        let Some(block) = self.block.as_ref().map(Held::rows) else { return Ok(None) };
        let Some(BlockRow { seq, deleted, .. }) = block.row(index) else { return Ok(None) };
        if seq > self.at {
            let full_key = match block.full_key(index) {
                Some(key) => key,
                None => {
                    block.read_key(index, &mut self.key);
                    &self.key
                }
            };
            return match self.file.get_past((block, index), full_key, self.at, &mut self.past)? {
                Past::Found(older) if !older.deleted => {
                    let (key, bytes) = pinned.row(&older, full_key);
                    Ok(Some(Row { key, value: Value { seq: older.seq, bytes } }))
                }
                Past::GivenUp(oldest) => Err(EngineError::Forgotten { asked: self.at, oldest }),
                Past::Found(_) | Past::Nothing => Ok(None),
            };
        }
        if deleted {
            return Ok(None);
        }
        let copied_key = || {
            let mut key = Vec::new();
            block.read_key(index, &mut key);
            key.drain(..4.min(key.len()));
            Cow::Owned(key)
        };
        let (key, bytes) = match &self.block {
            Some(Held::Pinned(block)) => {
                let key = block.full_key(index).and_then(|key| key.get(4..));
                (key.map_or_else(copied_key, Cow::Borrowed), Cow::Borrowed(block.value(index)))
            }
            _ => (copied_key(), Cow::Owned(block.value(index).to_vec())),
        };
        Ok(Some(Row { key, value: Value { seq, bytes } }))
    }

    /// Moves to the next block with rows within bounds, if there is one. Rows that are answered may need it `pinned`.
    fn next_block(&mut self, pinned: Option<&mut Pinned<'s>>) -> Result<bool> {
        if self.last_block {
            return Ok(false);
        }
        let Some((block, rows)) = self.cursor.take_block(self.direction)? else {
            self.last_block = true;
            self.block = None;
            return Ok(false);
        };
        self.rows = rows;
        // As in a seek: the newest possible version of a key comes before it, the oldest after.
        let bound = match (&self.end, self.direction) {
            (Bound::Unbounded, _) => None,
            (Bound::Included(key), Direction::Forward) | (Bound::Excluded(key), Direction::Backward) => {
                Some(block.lower_bound(key, Seq::ZERO))
            }
            (Bound::Excluded(key), Direction::Forward) | (Bound::Included(key), Direction::Backward) => {
                Some(block.lower_bound(key, Seq(u64::MAX)))
            }
        };
        match (bound, self.direction) {
            (Some(bound), Direction::Forward) if bound < self.rows.end => {
                (self.rows.end, self.last_block) = (bound.max(self.rows.start), true);
                self.cut = Some(self.rows.end);
            }
            (Some(bound), Direction::Backward) if bound > self.rows.start => {
                (self.rows.start, self.last_block) = (bound.min(self.rows.end), true);
            }
            _ => {}
        }
        self.block = Some(match pinned.and_then(|pinned| pinned.block(&block)) {
            Some(kept) => Held::Pinned(kept),
            None => Held::Copied(block),
        });
        Ok(true)
    }
}
