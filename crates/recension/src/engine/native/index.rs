//! What readers see: parts of the index in memory, runs, the segments that they point into, and settled
//! files. A state never changes; a new one takes its place. Parts cover adjacent ranges of seqs, newest
//! first, so that the first part that knows a key as of a seq has the answer.

use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;

use super::super::{Direction, EngineError, KeyRange, Result, Row, Seq, TreeId, Value};
use super::forgotten::Forgotten;
use super::format::Position;
use super::mem::MemoryIndex;
use super::run::{Hint, Run, RunCursor, SectionKind, hash};
use super::segment::{LogRow, Segments};
use super::settled::{BlockKind, Past, PastBlock, Pinned, Pins, SettledCursor, SettledFile, SettledRange, SettledRow};
use super::sorted::SortedCursor;
use super::times::CommitTimes;

/// Where a version lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct IndexEntry {
    pub(super) seq: Seq,
    pub(super) position: Position,
    pub(super) deleted: bool,
}

/// A version that was found.
#[derive(Clone)]
pub(super) enum Found {
    /// Its row lies in the log.
    InLog(IndexEntry),
    /// Here it is.
    Settled(SettledRow),
    /// It may have been given up: the oldest version of the key is this one, which is newer. Only a walk finds this.
    GivenUp(Seq),
}

impl Found {
    pub(super) fn seq(&self) -> Seq {
        match self {
            Found::InLog(entry) => entry.seq,
            Found::Settled(row) => row.seq,
            Found::GivenUp(oldest) => *oldest,
        }
    }

    pub(super) fn is_deleted(&self) -> bool {
        match self {
            Found::InLog(entry) => entry.deleted,
            Found::Settled(row) => row.deleted,
            Found::GivenUp(_) => false,
        }
    }
}

/// Where a step of a walk has led.
pub(super) enum Step<T> {
    /// To a key that has a version.
    Found(T),
    /// Past a few keys that have none as of the moment of the walk. So a walk of several parts never looks much
    /// further into one of them than the others have got.
    Nothing,
    /// Beyond the last key.
    Ended,
}

impl<T> Step<T> {
    fn map<R>(self, to: impl FnOnce(T) -> R) -> Step<R> {
        match self {
            Step::Found(found) => Step::Found(to(found)),
            Step::Nothing => Step::Nothing,
            Step::Ended => Step::Ended,
        }
    }

    fn has_ended(&self) -> bool {
        matches!(self, Step::Ended)
    }
}

/// Keys without a version that a run's or a settled file's step goes past.
const STEP_KEYS: usize = 32;

/// A key with its tree before it, in the order of trees, then keys.
pub(super) fn full_key(tree: TreeId, key: &[u8]) -> Vec<u8> {
    let mut full = Vec::with_capacity(4 + key.len());
    full.extend(tree.0.to_be_bytes());
    full.extend_from_slice(key);
    full
}

/// The same, into a buffer.
pub(super) fn write_full_key(full: &mut Vec<u8>, tree: TreeId, key: &[u8]) {
    full.clear();
    full.extend(tree.0.to_be_bytes());
    full.extend_from_slice(key);
}

/// All that readers need, as of one moment.
#[derive(Clone)]
pub(super) struct State {
    /// Newest first; the first is the one that commits are added to.
    pub(super) memory: Vec<Arc<MemoryIndex>>,
    /// Newest first.
    pub(super) runs: Vec<Arc<Run>>,
    /// Newest first; all of it is older than the runs.
    pub(super) settled: Vec<Arc<SettledFile>>,
    pub(super) forgotten: Arc<Forgotten>,
    pub(super) segments: Segments,
    pub(super) times: Arc<CommitTimes>,
}

impl State {
    /// Has the tables that a look-up of this hash may ask fetched all at once, rather than each after the one before has
    /// denied the key.
    fn touch(&self, hash: u64) {
        self.memory.iter().for_each(|part| part.touch(hash));
        self.runs.iter().for_each(|run| run.touch(hash));
        self.settled.iter().for_each(|file| file.touch(hash));
    }

    /// Has all that look-ups of these hashes will read fetched at once, except what lies in settled files: the tables, then the
    /// rows that they lead to.
    pub(super) fn prefetch(&self, hashes: &[u64], at: Seq) {
        for hash in hashes {
            self.touch(*hash);
        }
        for hash in hashes {
            let memory = self.memory.iter().map(|part| part.hint(*hash, at));
            let runs = self.runs.iter().filter(|run| run.entry.first <= at).map(|run| run.hint(*hash));
            if let Some(Hint::Perhaps(entry)) = memory.chain(runs).find(|hint| *hint != Hint::Absent) {
                self.segments.touch(entry.position);
            }
        }
    }

    /// The newest version of a key not newer than `at`, deletions included, whether forgotten or not.
    pub(super) fn find(&self, full_key: &[u8], at: Seq) -> Result<Option<Found>> {
        let hash = hash(full_key);
        self.touch(hash);
        if let Some(entry) = self.find_in_memory(hash, full_key, at) {
            return Ok(Some(Found::InLog(entry)));
        }
        for run in &self.runs {
            if run.entry.first <= at
                && run.hint(hash) != Hint::Absent
                && let Some(entry) = run.get(full_key, at)?
            {
                return Ok(Some(Found::InLog(entry)));
            }
        }
        Ok(self.find_settled(hash, full_key, at)?.map(Found::Settled))
    }

    fn find_settled(&self, hash: u64, full_key: &[u8], at: Seq) -> Result<Option<SettledRow>> {
        for file in &self.settled {
            if let Some(row) = file.get(hash, full_key, at)? {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    fn find_in_memory(&self, hash: u64, full_key: &[u8], at: Seq) -> Option<IndexEntry> {
        let mut perhaps = self.memory.iter().filter(|part| part.hint(hash, at) != Hint::Absent);
        perhaps.find_map(|part| part.get(full_key, at))
    }

    /// The seq of the newest version of a key if it is newer than `after`.
    pub(super) fn written_after(&self, full_key: &[u8], after: Seq) -> Result<Option<Seq>> {
        let newest = |seq: Seq| Ok((seq > after).then_some(seq));
        let hash = hash(full_key);
        if let Some(entry) = self.find_in_memory(hash, full_key, Seq(u64::MAX)) {
            return newest(entry.seq);
        }
        for run in self.runs.iter().take_while(|run| run.entry.last > after) {
            if run.hint(hash) != Hint::Absent
                && let Some(entry) = run.get(full_key, Seq(u64::MAX))?
            {
                return newest(entry.seq);
            }
        }
        for file in self.settled.iter().take_while(|file| file.entry.last > after) {
            if let Some(row) = file.get(hash, full_key, Seq(u64::MAX))? {
                return newest(row.seq);
            }
        }
        Ok(None)
    }

    /// The value of a key as of `at`, borrowed from a block that `pins` keeps where that can be.
    pub(super) fn get<'s>(&'s self, full_key: &[u8], at: Seq, pins: &'s Pins) -> Result<Option<Value<'s>>> {
        self.forgotten.check(full_key, at)?;
        let hash = hash(full_key);
        self.touch(hash);
        for part in &self.memory {
            let found = self.follow(part.hint(hash, at), full_key, at, || Ok(part.get(full_key, at)))?;
            if let Some(version) = found {
                return Ok(version);
            }
        }
        for run in self.runs.iter().filter(|run| run.entry.first <= at) {
            let found = self.follow(run.hint(hash), full_key, at, || run.get(full_key, at))?;
            if let Some(version) = found {
                return Ok(version);
            }
        }
        let found = self.find_settled(hash, full_key, at)?.filter(|row| !row.deleted);
        Ok(found.map(|row| Value { seq: row.seq, bytes: pins.value(row) }))
    }

    /// What a part that gave `hint` has of a key: its newest version's value, or that it was deleted.
    #[allow(clippy::option_option)] // a version of it, and whether that has a value
    fn follow(
        &self,
        hint: Hint,
        full_key: &[u8],
        at: Seq,
        search: impl FnOnce() -> Result<Option<IndexEntry>>,
    ) -> Result<Option<Option<Value<'_>>>> {
        match hint {
            Hint::Absent => return Ok(None),
            // The row's own checksum, key and seq confirm the hint; nothing else does.
            Hint::Perhaps(newest) if newest.seq <= at => {
                // All of the row is waited for at once, and not one cache line after the other.
                self.segments.touch(newest.position);
                if let Ok(found) = self.value(full_key, newest) {
                    return Ok(Some(found));
                }
            }
            Hint::Perhaps(_) | Hint::Unknown => {}
        }
        search()?.map(|entry| self.value(full_key, entry)).transpose()
    }

    fn value(&self, full_key: &[u8], entry: IndexEntry) -> Result<Option<Value<'_>>> {
        let row = self.row(full_key, entry)?;
        Ok((!entry.deleted).then(|| Value { seq: entry.seq, bytes: row.into_value() }))
    }

    /// The row that an index entry points to.
    pub(super) fn row(&self, full_key: &[u8], entry: IndexEntry) -> Result<LogRow<'_>> {
        let row = self.segments.row(entry.position, full_key, entry.seq)?;
        if row.deleted != entry.deleted {
            let name = super::format::segment_file(entry.position.segment);
            let what = "the index and the row disagree on whether it is deleted";
            return Err(EngineError::damaged(name, u64::from(entry.position.offset), what));
        }
        Ok(row)
    }

    /// The newest versions, not newer than `at`, of the keys in a range, deletions included. Parts that
    /// have nothing newer than `after` are left out.
    pub(super) fn walk(
        &self,
        tree: TreeId,
        range: &KeyRange,
        (after, at): (Seq, Seq),
        direction: Direction,
    ) -> Result<Walk<'_>> {
        if range.is_empty() {
            return Ok(Walk { sources: Vec::new() });
        }
        let (low, high) = full_bounds(tree, range);
        let (start, end) = match direction {
            Direction::Forward => (low, high),
            Direction::Backward => (high, low),
        };
        let mut sources = Vec::with_capacity(self.memory.len() + self.runs.len());
        for part in self.memory.iter().filter(|part| part.first() <= at) {
            let cursor = part.cursor(start.clone(), end.clone(), at, direction);
            sources.push(Source { kind: SourceKind::Memory(cursor), key: Vec::new(), step: Step::Nothing });
        }
        for run in self.runs.iter().filter(|run| run.entry.first <= at && run.entry.last > after) {
            let cursor = RunKeys::new(run, &start, end.clone(), at, direction)?;
            sources.push(Source { kind: SourceKind::Run(cursor), key: Vec::new(), step: Step::Nothing });
        }
        for file in self.settled.iter().filter(|file| file.entry.first <= at && file.entry.last > after) {
            let cursor = SettledKeys::new(file, &start, end.clone(), at, direction)?;
            sources.push(Source { kind: SourceKind::Settled(cursor), key: Vec::new(), step: Step::Nothing });
        }
        for source in &mut sources {
            source.step()?;
        }
        sources.retain(|source| !source.step.has_ended());
        Ok(Walk { sources: sources.into_iter().map(|source| (source, direction)).collect() })
    }

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
        }
    }
}

/// The bounds of a range of one tree as bounds of full keys.
fn full_bounds(tree: TreeId, range: &KeyRange) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    let with_tree = |key: &Vec<u8>| full_key(tree, key);
    let low = match range.start.as_ref().map(with_tree) {
        Bound::Unbounded => Bound::Included(full_key(tree, &[])),
        bound => bound,
    };
    let high = match range.end.as_ref().map(with_tree) {
        Bound::Unbounded => match tree.0.checked_add(1) {
            Some(next) => Bound::Excluded(full_key(TreeId(next), &[])),
            None => Bound::Unbounded,
        },
        bound => bound,
    };
    (low, high)
}

/// A merged walk over the parts of the index.
pub(super) struct Walk<'s> {
    /// Newest part first; each stands on an entry.
    sources: Vec<(Source<'s>, Direction)>,
}

struct Source<'s> {
    kind: SourceKind<'s>,
    /// The key that it stands on.
    key: Vec<u8>,
    step: Step<Found>,
}

enum SourceKind<'s> {
    Memory(SortedCursor<'s>),
    Run(RunKeys<'s>),
    Settled(SettledKeys<'s>),
}

impl Source<'_> {
    fn step(&mut self) -> Result<()> {
        self.step = match &mut self.kind {
            SourceKind::Memory(cursor) => cursor.next(&mut self.key).map(Found::InLog),
            SourceKind::Run(cursor) => cursor.next(&mut self.key)?.map(Found::InLog),
            SourceKind::Settled(cursor) => cursor.next(&mut self.key)?,
        };
        Ok(())
    }
}

impl<'s> Walk<'s> {
    /// Whether only settled files are left to walk.
    fn is_settled(&self) -> bool {
        self.sources.iter().all(|(source, _)| matches!(source.kind, SourceKind::Settled(_)))
    }

    /// What is left, where it is one settled file's.
    fn only_settled(&mut self) -> Option<SettledRange<'s>> {
        if self.sources.len() != 1 || !self.is_settled() {
            return None;
        }
        let (source, direction) = self.sources.pop()?;
        let SourceKind::Settled(mut keys) = source.kind else { return None };
        if matches!(source.step, Step::Found(_)) {
            keys.cursor.step_back(direction);
        }
        Some(SettledRange::new(keys.file, keys.cursor, keys.end, keys.at, direction))
    }

    /// The next key, written to `key`, and its version.
    pub(super) fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<Found>> {
        loop {
            let Some((first, direction)) = self.sources.first() else { return Ok(None) };
            let mut best = 0;
            let mut best_key = &first.key;
            for (index, (source, _)) in self.sources.iter().enumerate().skip(1) {
                let earlier = match direction {
                    Direction::Forward => source.key < *best_key,
                    Direction::Backward => source.key > *best_key,
                };
                if earlier {
                    best = index;
                    best_key = &source.key;
                }
            }
            // Equal keys: the newest part comes first and wins; the others' versions are older.
            let source = &mut self.sources[best].0;
            let step = std::mem::replace(&mut source.step, Step::Nothing);
            std::mem::swap(key, &mut source.key);
            source.step()?;
            let found = match step {
                Step::Found(found) => Some(found),
                Step::Nothing | Step::Ended => None,
            };
            if found.is_some() {
                for (source, _) in &mut self.sources[best + 1..] {
                    if source.key == *key {
                        source.step()?;
                    }
                }
            }
            if self.sources.iter().any(|(source, _)| source.step.has_ended()) {
                self.sources.retain(|(source, _)| !source.step.has_ended());
            }
            if found.is_some() {
                return Ok(found);
            }
        }
    }
}

/// For each key of a run within bounds, its newest version not newer than a seq.
struct RunKeys<'r> {
    run: &'r Run,
    cursor: RunCursor<'r>,
    end: Bound<Vec<u8>>,
    at: Seq,
    direction: Direction,
}

impl<'r> RunKeys<'r> {
    fn new(run: &'r Run, start: &Bound<Vec<u8>>, end: Bound<Vec<u8>>, at: Seq, direction: Direction) -> Result<Self> {
        let kind = SectionKind::Current;
        // As in memory: the newest possible version of a key lies before it, the oldest behind.
        let cursor = match (start, direction) {
            (Bound::Unbounded, Direction::Forward) => RunCursor::at_start(run, kind),
            (Bound::Unbounded, Direction::Backward) => RunCursor::at_end(run, kind),
            (Bound::Included(key), Direction::Forward) | (Bound::Excluded(key), Direction::Backward) => {
                RunCursor::seek(run, kind, key, Seq(u64::MAX))?
            }
            (Bound::Excluded(key), Direction::Forward) | (Bound::Included(key), Direction::Backward) => {
                RunCursor::seek(run, kind, key, Seq::ZERO)?
            }
        };
        Ok(RunKeys { run, cursor, end, at, direction })
    }

    fn next(&mut self, key: &mut Vec<u8>) -> Result<Step<IndexEntry>> {
        for _ in 0..STEP_KEYS {
            let found = match self.direction {
                Direction::Forward => self.cursor.next(key)?,
                Direction::Backward => self.cursor.back(key)?,
            };
            let Some(newest) = found else { return Ok(Step::Ended) };
            if lies_beyond(&self.end, self.direction, key) {
                return Ok(Step::Ended);
            }
            if newest.seq <= self.at {
                return Ok(Step::Found(newest));
            }
            if let Some(older) = self.run.get_past(key, self.at)? {
                return Ok(Step::Found(older));
            }
        }
        Ok(Step::Nothing)
    }
}

/// Whether `key` lies behind the end of a walk.
pub(super) fn lies_beyond(end: &Bound<Vec<u8>>, direction: Direction, key: &[u8]) -> bool {
    match (end, direction) {
        (Bound::Unbounded, _) => false,
        (Bound::Included(end), Direction::Forward) => key > end.as_slice(),
        (Bound::Excluded(end), Direction::Forward) => key >= end.as_slice(),
        (Bound::Included(end), Direction::Backward) => key < end.as_slice(),
        (Bound::Excluded(end), Direction::Backward) => key <= end.as_slice(),
    }
}

/// For each key of a settled file within bounds, its newest version not newer than a seq.
struct SettledKeys<'f> {
    file: &'f SettledFile,
    cursor: SettledCursor<'f>,
    end: Bound<Vec<u8>>,
    at: Seq,
    direction: Direction,
    past: PastBlock,
}

impl<'f> SettledKeys<'f> {
    fn new(
        file: &'f SettledFile,
        start: &Bound<Vec<u8>>,
        end: Bound<Vec<u8>>,
        at: Seq,
        direction: Direction,
    ) -> Result<Self> {
        let kind = BlockKind::Current;
        let backward = direction == Direction::Backward;
        // As in a run.
        let cursor = match (start, direction) {
            (Bound::Unbounded, Direction::Forward) => SettledCursor::at_start(file, kind),
            (Bound::Unbounded, Direction::Backward) => SettledCursor::at_end(file, kind),
            (Bound::Included(key), Direction::Forward) | (Bound::Excluded(key), Direction::Backward) => {
                SettledCursor::seek(file, kind, key, Seq(u64::MAX), backward)?
            }
            (Bound::Excluded(key), Direction::Forward) | (Bound::Included(key), Direction::Backward) => {
                SettledCursor::seek(file, kind, key, Seq::ZERO, backward)?
            }
        };
        Ok(SettledKeys { file, cursor, end, at, direction, past: PastBlock::default() })
    }

    fn next(&mut self, key: &mut Vec<u8>) -> Result<Step<Found>> {
        for _ in 0..STEP_KEYS {
            let found = match self.direction {
                Direction::Forward => self.cursor.next(key)?,
                Direction::Backward => self.cursor.back(key)?,
            };
            let Some(newest) = found else { return Ok(Step::Ended) };
            if lies_beyond(&self.end, self.direction, key) {
                return Ok(Step::Ended);
            }
            if newest.seq <= self.at {
                return Ok(Step::Found(Found::Settled(newest)));
            }
            match self.file.get_past_of(&newest, key, self.at, &mut self.past)? {
                Past::Found(older) => return Ok(Step::Found(Found::Settled(older))),
                Past::GivenUp(oldest) => return Ok(Step::Found(Found::GivenUp(oldest))),
                Past::Nothing => {}
            }
        }
        Ok(Step::Nothing)
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
    /// Where each key of the batch ends in `keys`, and its place.
    batch: Vec<(usize, Found)>,
    keys: Vec<u8>,
    /// How many of the batch have been answered.
    answered: usize,
    /// Rows of the next batch.
    wanted: usize,
    key: Vec<u8>,
    /// What is left of the walk, where it is one settled file's.
    settled: Option<SettledRange<'s>>,
    /// Settled blocks that the answers borrow from.
    pinned: Pinned<'s>,
}

impl<'s> RowsOf<'s> {
    /// Looks up the places of the next rows. After an error the places before it are still answered.
    fn fill(&mut self) {
        if !self.batch.is_empty() {
            // Not the first: there may be many more, and the buffers are made large enough at once.
            self.keys.reserve(self.keys.len() / self.batch.len() * READ_AHEAD_ROWS);
            self.batch.reserve(READ_AHEAD_ROWS);
        }
        self.batch.clear();
        self.keys.clear();
        self.answered = 0;
        self.take_found();
        while let Some(walk) = self.walk.as_mut().filter(|_| self.batch.len() < self.wanted) {
            match walk.next(&mut self.key) {
                Ok(Some(found)) if found.is_deleted() => {}
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

    /// Takes what a part in memory has found, where that is all that is left to walk: nothing has to be merged.
    fn take_found(&mut self) {
        let Some([(source, _)]) = self.walk.as_mut().map(|walk| &mut walk.sources[..]) else { return };
        let Source { kind: SourceKind::Memory(cursor), key, step } = source else { return };
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

    /// The next row where all are settled: it is there already, and nothing is gained by looking ahead.
    fn next_settled(&mut self) -> Option<Result<Row<'s>>> {
        loop {
            match self.walk.as_mut()?.next(&mut self.key) {
                Ok(Some(Found::Settled(row))) if !row.deleted => {
                    let (key, bytes) = self.pinned.row(&row, &self.key);
                    return Some(Ok(Row { key, value: Value { seq: row.seq, bytes } }));
                }
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
            if let Some(walk) = self.walk.as_mut().filter(|walk| walk.is_settled()) {
                self.settled = walk.only_settled();
                if self.settled.is_some() {
                    self.walk = None;
                    return self.next();
                }
                return self.next_settled();
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
