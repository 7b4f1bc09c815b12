//! The readers' view: parts of the index in memory, runs, the segments that they point into, and settled files. A state
//! never changes; a new one replaces it. Parts cover adjacent ranges of seqs, newest first, so the first part that
//! knows a key as of a seq has the answer.

use std::sync::Arc;

use super::entry::IndexEntry;
use super::erased::Erased;
use super::forgotten::Forgotten;
use super::mem::MemoryIndex;
use super::run::{Hint, Run, hash};
use super::segment::{LogRow, Segments};
use super::settled::{Pins, SettledFile, SettledRow};
use super::times::CommitTimes;
use recension_engine::{EngineError, Result, Seq, TreeId, Value};

/// A version that was found.
#[derive(Clone)]
pub(super) enum Found {
    /// Its row is in the log.
    InLog(IndexEntry),
    /// Its row is in a settled file.
    Settled(SettledRow),
    /// The version may have been given up: this one, which is newer, is the oldest of the key. Only a walk finds this.
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

/// Everything that readers need, as of one moment.
#[derive(Clone)]
pub(super) struct State {
    /// Newest first; commits are added to the first.
    pub(super) memory: Vec<Arc<MemoryIndex>>,
    /// Newest first.
    pub(super) runs: Vec<Arc<Run>>,
    /// Newest first; all of it is older than the runs.
    pub(super) settled: Vec<Arc<SettledFile>>,
    pub(super) forgotten: Arc<Forgotten>,
    pub(super) erased: Arc<Erased>,
    pub(super) segments: Segments,
    pub(super) times: Arc<CommitTimes>,
}

impl State {
    /// Fetches all tables that a look-up of this hash may need at once, rather than each after the one before has
    /// denied the key.
    fn touch(&self, hash: u64) {
        self.memory.iter().for_each(|part| part.touch(hash));
        self.runs.iter().for_each(|run| run.touch(hash));
        self.settled.iter().for_each(|file| file.touch(hash));
    }

    /// Fetches everything that look-ups of these hashes will read, in stages for all of them at once: the tables, then
    /// rows in the log and the shortcuts to blocks, then these, then the rows in them. Blocks that are not in memory
    /// are not read.
    pub(super) fn prefetch(&self, hashes: &[u64], at: Seq) {
        for hash in hashes {
            self.touch(*hash);
        }
        let mut in_blocks = Vec::new();
        for hash in hashes {
            let memory = self.memory.iter().map(|part| part.hint(*hash, at));
            let runs = self.runs.iter().filter(|run| run.entry.first <= at).map(|run| run.hint(*hash));
            match memory.chain(runs).find(|hint| *hint != Hint::Absent) {
                Some(Hint::Perhaps(entry)) => self.segments.touch(entry.position),
                Some(_) => {}
                None => {
                    let mut files = self.settled.iter().filter(|file| file.entry.first <= at);
                    in_blocks.extend(files.find_map(|file| Some((file, file.touch_way(*hash)?))));
                }
            }
        }
        for (file, place) in &in_blocks {
            file.touch_row(*place);
        }
        for (file, place) in &in_blocks {
            file.touch_place(*place);
        }
    }

    /// The newest version of a key not newer than `at`. Deletions and forgotten versions count.
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

    /// The same for readers: an erased version does not count, and neither does an erased version behind a cut.
    pub(super) fn find_unerased(&self, full_key: &[u8], at: Seq) -> Result<Option<Found>> {
        let found = self.find(full_key, at);
        let Some(erased) = self.erased.of(full_key) else { return found };
        match found {
            Err(EngineError::Forgotten { oldest, .. }) if erased.has(oldest) => Ok(None),
            found => Ok(found?.filter(|found| !erased.has(found.seq()))),
        }
    }

    /// The value of a key as of `at`, borrowed if possible from a block that `pins` keeps.
    pub(super) fn get<'s>(&'s self, full_key: &[u8], at: Seq, pins: &'s Pins) -> Result<Option<Value<'s>>> {
        self.forgotten.check(full_key, at)?;
        if self.erased.of(full_key).is_some() && self.find_unerased(full_key, at)?.is_none() {
            return Ok(None);
        }
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

    /// The value that a part with this `hint` has for a key, or a deletion.
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
            // Only the row's own checksum, key and seq confirm the hint.
            Hint::Perhaps(newest) if newest.seq <= at => {
                // All of the row is fetched at once, and not one cache line after the other.
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
}
