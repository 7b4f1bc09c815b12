//! The rows of a range as of a moment: the versions that a walk finds, read from the log or borrowed from settled
//! blocks. It ends after its first error.

use std::borrow::Cow;

use super::entry::IndexEntry;
use super::entry::Step;
use super::erased::concerns_range;
use super::index::{Found, State};
use super::settled::{Pinned, Pins, SettledRange, SettledRow};
use super::walk::Walk;
use recension_engine::{Direction, EngineError, KeyRange, Result, Row, Seq, TreeId, Value};

impl State {
    /// The rows of a range as of `at`.
    pub(super) fn rows<'s>(
        &'s self,
        tree: TreeId,
        range: &KeyRange,
        (at, direction): (Seq, Direction),
        pins: &'s Pins,
    ) -> RowsOf<'s> {
        let walk = self.forgotten.check_range(tree, range, at);
        let (walk, failed) = match walk.and_then(|()| self.walk(tree, range, (Seq::ZERO, at), direction)) {
            Ok(walk) => (Some(walk), None),
            Err(error) => (None, Some(error)),
        };
        RowsOf {
            state: self,
            at,
            walk,
            failed,
            batch: Vec::new(),
            keys: Vec::new(),
            answered: 0,
            wanted: READ_AHEAD_ROWS_FIRST,
            key: Vec::new(),
            settled: None,
            pinned: Pinned::new(pins),
            some_erased: concerns_range(&self.erased, tree, range),
        }
    }
}

/// Rows of the first batch.
const READ_AHEAD_ROWS_FIRST: usize = 4;
/// Most rows whose places are looked up before the first of them is read.
const READ_AHEAD_ROWS: usize = 32;

/// The rows of a range. Places are looked up in batches, which begin small and grow, and the rows of a
/// batch are touched before they are read, so that the waits for memory overlap.
pub(super) struct RowsOf<'s> {
    state: &'s State,
    at: Seq,
    walk: Option<Walk<'s>>,
    failed: Option<EngineError>,
    /// For each row of the batch: the end of its key in `keys`, and its place.
    batch: Vec<(usize, Found)>,
    keys: Vec<u8>,
    /// How many of the batch have been answered.
    answered: usize,
    /// Rows of the next batch.
    wanted: usize,
    key: Vec<u8>,
    /// The rest of the walk, if it is in a single settled file.
    settled: Option<SettledRange<'s>>,
    /// Settled blocks that the answers borrow from.
    pinned: Pinned<'s>,
    /// Some keys may have erased versions: each key is checked.
    some_erased: bool,
}

impl<'s> RowsOf<'s> {
    /// Looks up the places of the next rows. After an error the places before it are still answered.
    fn fill(&mut self) {
        if !self.batch.is_empty() {
            // Not with the first batch: there may be many more, and the buffers are made large enough at once.
            self.keys.reserve(self.keys.len() / self.batch.len() * READ_AHEAD_ROWS);
            self.batch.reserve(READ_AHEAD_ROWS);
        }
        self.batch.clear();
        self.keys.clear();
        self.answered = 0;
        if !self.some_erased {
            self.take_found();
        }
        while let Some(walk) = self.walk.as_mut().filter(|_| self.batch.len() < self.wanted) {
            match walk.next(&mut self.key) {
                Ok(Some(found)) if found.is_deleted() || self.is_erased(&found) => {}
                Ok(Some(Found::GivenUp(oldest))) => {
                    self.walk = None;
                    self.failed = Some(self.given_up(oldest));
                }
                Ok(Some(found)) => {
                    self.keys.extend_from_slice(&self.key);
                    self.batch.push((self.keys.len(), found));
                }
                Ok(None) => self.walk = None,
                Err(error) => {
                    self.walk = None;
                    self.failed = Some(error);
                }
            }
        }
        self.wanted = (self.wanted * 2).min(READ_AHEAD_ROWS);
        for (_, found) in &self.batch {
            if let Found::InLog(entry) = found {
                self.state.segments.touch(entry.position);
            }
        }
    }

    /// Takes the keys that a part in memory has found, if only that part is left to walk: nothing has to be merged
    /// then.
    fn take_found(&mut self) {
        let Some((cursor, key, step)) = self.walk.as_mut().and_then(Walk::only_in_memory) else { return };
        let (keys, batch, wanted) = (&mut self.keys, &mut self.batch, self.wanted);
        let mut found = |key: &[u8], entry: IndexEntry| {
            if !entry.deleted {
                keys.extend_from_slice(key);
                batch.push((keys.len(), Found::InLog(entry)));
            }
            batch.len() < wanted
        };
        if let Step::Found(Found::InLog(entry)) = std::mem::replace(step, Step::Nothing) {
            found(key, entry);
        }
        cursor.take(found);
    }

    /// Shows the rest of the rows to `see`, until it returns false. Rows are lent, and no block is kept for them.
    pub(super) fn each(mut self, see: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        loop {
            if let Some(settled) = &mut self.settled {
                return settled.each(see);
            }
            let done = self.answered == self.batch.len() && !self.some_erased;
            if let Some(walk) = self.walk.as_mut().filter(|walk| done && walk.has_stretch()) {
                if !walk.each_of_stretch(see)? {
                    return Ok(());
                }
                continue;
            }
            let goes_on = if self.answered == self.batch.len() && self.turns_settled() {
                if self.settled.is_some() {
                    continue;
                }
                let Some(row) = self.next_settled().transpose()? else { return Ok(()) };
                see(self.key.get(4..).unwrap_or_default(), row.value())
            } else {
                let Some(row) = self.next().transpose()? else { return Ok(()) };
                see(&row.key, &row.value)
            };
            if !goes_on {
                return Ok(());
            }
        }
    }

    /// Whether only settled rows are left. The walk is then in one file, or in several.
    fn turns_settled(&mut self) -> bool {
        let Some(walk) = self.walk.as_mut().filter(|walk| walk.is_settled()) else { return false };
        self.settled = if self.some_erased { None } else { walk.only_settled() };
        if self.settled.is_some() {
            self.walk = None;
        }
        true
    }

    /// The next row if all are settled; its full key is in `key`. It is there already, so looking ahead gains nothing.
    fn next_settled(&mut self) -> Option<Result<SettledRow>> {
        loop {
            match self.walk.as_mut()?.next(&mut self.key) {
                Ok(Some(found)) if self.is_erased(&found) => {}
                Ok(Some(Found::Settled(row))) if !row.deleted => return Some(Ok(row)),
                Ok(Some(Found::GivenUp(oldest))) => {
                    self.walk = None;
                    return Some(Err(self.given_up(oldest)));
                }
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.walk = None;
                    return None;
                }
                Err(error) => {
                    self.walk = None;
                    return Some(Err(error));
                }
            }
        }
    }

    /// Whether the version that the walk has found at `key` reads as a deletion.
    fn is_erased(&self, found: &Found) -> bool {
        self.some_erased && self.state.erased.has(&self.key, found.seq())
    }

    fn given_up(&self, oldest: Seq) -> EngineError {
        EngineError::Forgotten { asked: self.at, oldest }
    }

    fn read(&mut self, index: usize) -> Result<Row<'s>> {
        let (end, found) = &self.batch[index];
        let start = index.checked_sub(1).map_or(0, |previous| self.batch[previous].0);
        let key = &self.keys[start..*end];
        let (key, bytes): (Cow<'s, [u8]>, Cow<'s, [u8]>) = match found {
            Found::InLog(entry) => self.state.row(key, *entry)?.into_parts(),
            Found::Settled(row) => self.pinned.row(row, key),
            Found::GivenUp(oldest) => return Err(self.given_up(*oldest)),
        };
        Ok(Row { key, value: Value { seq: found.seq(), bytes } })
    }
}

impl<'s> Iterator for RowsOf<'s> {
    type Item = Result<Row<'s>>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(settled) = &mut self.settled {
            let row = settled.next(&mut self.pinned).transpose();
            if !matches!(row, Some(Ok(_))) {
                self.settled = None;
            }
            return row;
        }
        if self.answered == self.batch.len() {
            if self.turns_settled() {
                if self.settled.is_some() {
                    return self.next();
                }
                return self.next_settled().map(|row| {
                    let row = row?;
                    let (key, bytes) = self.pinned.row(&row, &self.key);
                    Ok(Row { key, value: Value { seq: row.seq, bytes } })
                });
            }
            self.fill();
        }
        if self.answered == self.batch.len() {
            return self.failed.take().map(Err);
        }
        let row = self.read(self.answered);
        self.answered += 1;
        if row.is_err() {
            // The iterator ends after its first error.
            (self.walk, self.failed) = (None, None);
            self.answered = self.batch.len();
        }
        Some(row)
    }
}
