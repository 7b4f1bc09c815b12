//! A reader's view: a state of the index and a seq.

use std::sync::Arc;

use super::first_key::First;
use super::index::{Found, State, full_key};
use super::run::hash;
use super::scratch;
use super::settled::{Line, Pins, SettledRow, owned_value};
use recension_engine::{
    CommitInfo, Direction, EngineError, ErasedVersions, KeyRange, Keys, Result, Rows, Scratch, Seq, Snapshot,
    Timestamp, TreeId, Value, Version, Versions, without_erased,
};

/// Keys up to this length are looked up without an allocation.
const STACK_KEY_BYTES: usize = 252;

/// Keys whose data is fetched at once: more would evict each other from the nearest cache.
const PREFETCHED_MAX: usize = 64;

pub(super) struct NativeSnapshot {
    pub(super) state: Arc<State>,
    pub(super) seq: Seq,
    /// Blocks that the answers of ranges borrow from.
    pins: Pins,
}

impl NativeSnapshot {
    pub(super) fn new(state: Arc<State>, seq: Seq) -> Self {
        NativeSnapshot { state, seq, pins: Pins::default() }
    }
}

impl Snapshot for NativeSnapshot {
    fn seq(&self) -> Seq {
        self.seq
    }

    fn afresh(&self) -> Option<Arc<dyn Snapshot>> {
        Some(Arc::new(NativeSnapshot::new(self.state.clone(), self.seq)))
    }

    fn time(&self) -> Result<Timestamp> {
        self.state.times.time_of(&self.state, self.seq)
    }

    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Value<'_>>> {
        with_full_key(tree, key, |full_key| self.state.get(full_key, self.seq, &self.pins))
    }

    fn prefetch(&self, tree: TreeId, keys: &[&[u8]]) {
        for keys in keys.chunks(PREFETCHED_MAX) {
            let mut hashes = [0; PREFETCHED_MAX];
            for (place, key) in hashes.iter_mut().zip(keys) {
                *place = with_full_key(tree, key, hash);
            }
            self.state.prefetch(&hashes[..keys.len()], self.seq);
        }
    }

    fn version(&self, tree: TreeId, key: &[u8]) -> Result<Option<Seq>> {
        with_full_key(tree, key, |full_key| {
            self.state.forgotten.check(full_key, self.seq)?;
            let found = self.state.find_unerased(full_key, self.seq)?;
            match found {
                Some(Found::GivenUp(oldest)) => Err(EngineError::Forgotten { asked: self.seq, oldest }),
                found => Ok(found.filter(|found| !found.is_deleted()).map(|found| found.seq())),
            }
        })
    }

    fn scratch(&self) -> Result<Option<Box<dyn Scratch>>> {
        match self.state.segments.list.last() {
            Some(segment) => scratch::create(segment.disk()),
            None => Ok(None),
        }
    }

    fn range(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Rows<'_> {
        Box::new(self.state.rows(tree, range, (self.seq, direction), &self.pins))
    }

    fn each_row(
        &self,
        tree: TreeId,
        range: &KeyRange,
        direction: Direction,
        see: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<()> {
        self.state.rows(tree, range, (self.seq, direction), &self.pins).each(see)
    }

    fn first_key(&self, tree: TreeId, prefix: &[u8], key: &mut Vec<u8>) -> Result<bool> {
        let first = with_full_key(tree, prefix, |prefix| self.state.first(prefix, self.seq, key))?;
        if first == First::Found {
            key.drain(..4);
            return Ok(true);
        }
        key.clear();
        if first == First::Nothing {
            return Ok(false);
        }
        let row = self.range(tree, &KeyRange::prefix(prefix), Direction::Forward).next().transpose()?;
        key.extend_from_slice(row.as_ref().map_or(&[], |row| &row.key));
        Ok(row.is_some())
    }

    fn keys(&self, tree: TreeId, range: &KeyRange) -> Keys<'_> {
        let mut walk = match self.state.walk(tree, range, (Seq::ZERO, self.seq), Direction::Forward) {
            Ok(walk) => Some(walk),
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        let mut full_key = Vec::new();
        Box::new(std::iter::from_fn(move || match walk.as_mut()?.next(&mut full_key) {
            Ok(Some(_)) => Some(Ok(full_key.get(4..).unwrap_or_default().to_vec())),
            Ok(None) => None,
            Err(error) => {
                walk = None;
                Some(Err(error))
            }
        }))
    }

    fn versions(&self, tree: TreeId, key: &[u8]) -> Versions<'_> {
        let full_key = full_key(tree, key);
        let kept_from = self.state.forgotten.before(&full_key);
        if self.seq < kept_from {
            let (asked, oldest) = (self.seq, kept_from);
            return Box::new(std::iter::once(Err(EngineError::Forgotten { asked, oldest })));
        }
        let erased = self.state.erased.of(&full_key);
        let next = Some(self.seq);
        let versions = VersionsOf { snapshot: self, full_key, next, kept_from, settled: 0, line: None, commits: None };
        match erased {
            None => Box::new(versions),
            Some(erased) => unerased(versions, erased),
        }
    }
}

/// Calls `look` with a full key, which is made on the stack if it is short.
fn with_full_key<R>(tree: TreeId, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> R {
    if key.len() > STACK_KEY_BYTES {
        return look(&full_key(tree, key));
    }
    let mut buffer = [0; 4 + STACK_KEY_BYTES];
    buffer[..4].copy_from_slice(&tree.0.to_be_bytes());
    buffer[4..4 + key.len()].copy_from_slice(key);
    look(&buffer[..4 + key.len()])
}

/// The visible versions of a key some of whose versions are erased.
fn unerased<'s>(versions: VersionsOf<'s>, erased: &ErasedVersions) -> Versions<'s> {
    let (mut found, mut failed) = (Vec::new(), None);
    for version in versions {
        match version {
            Ok(version) => found.push(version),
            // Cut versions lie behind the oldest kept version, and are gone with it.
            Err(EngineError::Forgotten { oldest, .. }) if erased.has(oldest) => break,
            Err(error) => failed = Some(Err(error)),
        }
    }
    let times: Vec<_> = found.iter().map(|version| (version.seq, version.time)).collect();
    let kept = without_erased(found.into_iter().map(|version| (version.seq, version.value)), erased);
    let kept = kept.into_iter().map(move |(seq, value)| {
        let time = times.iter().find(|(of, _)| *of == seq).map_or_else(Timestamp::default, |(_, time)| *time);
        Ok(Version { seq, time, value })
    });
    Box::new(kept.chain(failed))
}

/// Versions of a key that are searched for in settled files, before it pays to walk from one to the next.
const SEARCHED: usize = 4;

/// The versions of a key, from the newest on: one look-up each, but for the many that a settled file has in a row.
struct VersionsOf<'s> {
    snapshot: &'s NativeSnapshot,
    full_key: Vec<u8>,
    /// The newest seq that the next version may have.
    next: Option<Seq>,
    /// Of the versions up to this seq, only the newest is kept.
    kept_from: Seq,
    /// How many versions in a row were searched for in settled files.
    settled: usize,
    /// What follows the last version in its settled file.
    line: Option<Line<'s>>,
    /// The commits among which the last one of a settled file was.
    commits: Option<Arc<Vec<CommitInfo>>>,
}

impl<'s> VersionsOf<'s> {
    /// The next version, if the settled file of the last one, which was commit `at` + 1, has it.
    fn follow(&mut self, at: Seq) -> Result<Option<SettledRow>> {
        let state = &self.snapshot.state;
        if self.line.is_none()
            && self.settled >= SEARCHED
            && let Some(file) = state.settled.iter().find(|file| file.covers(at) && file.covers(at.next()))
        {
            self.line = Some(Line::of(file, &self.full_key, at)?);
        }
        let Some(line) = &mut self.line else { return Ok(None) };
        let row = line.next(&self.full_key)?;
        if row.is_none() {
            (self.line, self.settled) = (None, 0);
        }
        Ok(row)
    }

    fn advance(&mut self, at: Seq) -> Result<Option<Version<'s>>> {
        let state = &self.snapshot.state;
        let found = match self.follow(at)? {
            Some(row) => Some(Found::Settled(row)),
            None => state.find(&self.full_key, at)?,
        };
        let Some(found) = found else { return Ok(None) };
        let (seq, deleted) = (found.seq(), found.is_deleted());
        // Of a forgotten history the newest version is kept, unless it is a deletion.
        let forgotten = seq <= self.kept_from;
        if forgotten && deleted {
            return Ok(None);
        }
        let last = forgotten || matches!(&found, Found::Settled(row) if row.is_cut());
        self.next = if last { None } else { seq.0.checked_sub(1).map(Seq) };
        let (time, value) = match found {
            Found::InLog(entry) => {
                let row = state.row(&self.full_key, entry)?;
                (state.segments.commit_of(entry.position, row.back)?.time, row.into_value())
            }
            Found::Settled(row) => {
                self.settled += 1;
                let file = state.settled.iter().find(|file| file.covers(seq));
                let time = file.map(|file| file.time_of(seq, &mut self.commits)).transpose()?;
                (time.unwrap_or_default(), owned_value(&row))
            }
            Found::GivenUp(oldest) => return Err(EngineError::Forgotten { asked: at, oldest }),
        };
        Ok(Some(Version { seq, time, value: (!deleted).then_some(value) }))
    }
}

impl<'s> Iterator for VersionsOf<'s> {
    type Item = Result<Version<'s>>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next.take()?;
        self.advance(at).transpose()
    }
}
