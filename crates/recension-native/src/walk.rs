//! A merged walk over the keys of a range. Of each part in memory, each run and each settled file, it takes the newest
//! version of a key that is not newer than the moment read. It never goes much further into one part than into the
//! others.

use std::ops::Bound;

use super::entry::{IndexEntry, Step, lies_beyond};
use super::index::{Found, State, full_key};
use super::run::{Run, RunCursor, SectionKind};
use super::settled::{BlockKind, Past, PastBlock, SettledCursor, SettledFile, SettledRange};
use super::sorted::SortedCursor;
use recension_engine::{Direction, KeyRange, Result, Seq, TreeId};

impl State {
    /// The newest versions, not newer than `at`, of the keys in a range, deletions included. Parts without anything
    /// newer than `after` are left out.
    pub(super) fn walk(
        &self,
        tree: TreeId,
        range: &KeyRange,
        (after, at): (Seq, Seq),
        direction: Direction,
    ) -> Result<Walk<'_>> {
        if range.is_empty() {
            return Ok(Walk::of(Vec::new()));
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
        Ok(Walk::of(sources.into_iter().map(|source| (source, direction)).collect()))
    }
}

/// Keys without a version that one step into a run or a settled file goes past.
const STEP_KEYS: usize = 32;

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
    /// Newest part first; each is at an entry.
    sources: Vec<(Source<'s>, Direction)>,
    /// The source of the last keys, and how many there were.
    streak: (usize, usize),
    /// So many of them let expect that more follow: few, unless that was wrong.
    streak_keys: usize,
}

const STREAK_KEYS_FIRST: usize = 2;
const STREAK_KEYS_MAX: usize = 64;
/// A stretch of as many rows is worth its beginning.
const STRETCH_ROWS: usize = 16;

struct Source<'s> {
    kind: SourceKind<'s>,
    /// The present key.
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
    fn of(sources: Vec<(Source<'s>, Direction)>) -> Self {
        Walk { sources, streak: (0, 0), streak_keys: STREAK_KEYS_FIRST }
    }

    /// Whether only settled files are left to walk.
    pub(super) fn is_settled(&self) -> bool {
        self.sources.iter().all(|(source, _)| matches!(source.kind, SourceKind::Settled(_)))
    }

    /// The rest of the walk, if it is in a single settled file.
    pub(super) fn only_settled(&mut self) -> Option<SettledRange<'s>> {
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

    /// The rest of the walk, if it is in a single part in memory: the cursor in it, the present key, and the step that
    /// has led there.
    pub(super) fn only_in_memory(&mut self) -> Option<(&mut SortedCursor<'s>, &[u8], &mut Step<Found>)> {
        let [(source, _)] = &mut self.sources[..] else { return None };
        let Source { kind: SourceKind::Memory(cursor), key, step } = source else { return None };
        Some((cursor, key, step))
    }

    /// Whether the next rows are probably those of one settled file: the last ones were.
    pub(super) fn has_stretch(&self) -> bool {
        let (at, keys) = self.streak;
        let source = self.sources.get(at).filter(|_| keys >= self.streak_keys);
        source.is_some_and(|(source, direction)| {
            matches!(source.kind, SourceKind::Settled(_)) && *direction == Direction::Forward
        })
    }

    /// Shows the rows up to the next key of another source, if they are all of one settled file, until `see` returns
    /// false; whether it never did. None of them is copied or compared with another source's.
    pub(super) fn each_of_stretch(&mut self, see: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<bool> {
        let (at, _) = std::mem::take(&mut self.streak);
        let others = self.sources.iter().enumerate().filter(|(other, _)| *other != at);
        let bound = others.map(|(_, (source, _))| &source.key).min().cloned();
        let Some((source, _)) = self.sources.get_mut(at) else { return Ok(true) };
        let is_next = matches!(source.step, Step::Found(_)) && bound.as_ref().is_none_or(|bound| source.key < *bound);
        let SourceKind::Settled(keys) = &mut source.kind else { return Ok(true) };
        if !is_next {
            return Ok(true);
        }
        let start = SettledCursor::at_start(keys.file, BlockKind::Current);
        let mut cursor = std::mem::replace(&mut keys.cursor, start);
        cursor.step_back(Direction::Forward);
        let end = bound.map_or_else(|| keys.end.clone(), Bound::Excluded);
        let mut stretch = SettledRange::new(keys.file, cursor, end, keys.at, Direction::Forward);
        let (mut rows, mut goes_on) = (0, true);
        stretch.each(&mut |key, value| {
            rows += 1;
            goes_on = see(key, value);
            goes_on
        })?;
        if goes_on {
            let longer = (2 * self.streak_keys).min(STREAK_KEYS_MAX);
            self.streak_keys = if rows < STRETCH_ROWS { longer } else { STREAK_KEYS_FIRST };
            keys.cursor = stretch.into_cursor();
            source.step()?;
            self.sources.retain(|(source, _)| !source.step.has_ended());
        }
        Ok(goes_on)
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
            self.streak = (best, if self.streak.0 == best { self.streak.1 + 1 } else { 1 });
            // Of equal keys the newest part comes first and wins. The others' versions are older.
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
                self.streak = (0, 0);
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
        // As in memory: the newest possible version of a key comes before it, the oldest after.
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
