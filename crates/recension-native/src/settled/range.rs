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
    /// A full key, if the block does not have it in one piece.
    key: Vec<u8>,
}

/// A block that is walked.
enum Held<'s> {
    /// The snapshot keeps it.
    Pinned(&'s RowBlock),
    Copied(Arc<RowBlock>),
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
            key: Vec::new(),
        }
    }

    /// The next row; `None` at the end.
    pub(in super::super) fn next(&mut self, pinned: &mut Pinned<'s>) -> Result<Option<Row<'s>>> {
        loop {
            let index = match self.direction {
                Direction::Forward => self.rows.next(),
                Direction::Backward => self.rows.next_back(),
            };
            let Some(index) = index else {
                if !self.next_block(pinned)? {
                    return Ok(None);
                }
                continue;
            };
            if let Some(row) = self.row(index, pinned)? {
                return Ok(Some(row));
            }
        }
    }

    /// The row at a place of the block; `None` if its key has none as of the moment that is read.
    fn row(&mut self, index: usize, pinned: &mut Pinned<'s>) -> Result<Option<Row<'s>>> {
        let block = match &self.block {
            Some(Held::Pinned(block)) => block,
            Some(Held::Copied(block)) => &**block,
            None => return Ok(None),
        };
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

    /// Moves to the next block with rows within bounds, if there is one.
    fn next_block(&mut self, pinned: &mut Pinned<'s>) -> Result<bool> {
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
            }
            (Some(bound), Direction::Backward) if bound > self.rows.start => {
                (self.rows.start, self.last_block) = (bound.min(self.rows.end), true);
            }
            _ => {}
        }
        self.block = Some(match pinned.block(&block) {
            Some(kept) => Held::Pinned(kept),
            None => Held::Copied(block),
        });
        Ok(true)
    }
}
