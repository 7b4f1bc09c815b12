//! The memory engine: the contract in its plainest form, a sorted map of version lists behind a lock. It is the model
//! that every other engine is tested against, so it must stay simple enough to be verified by reading. It keeps nothing
//! when the process ends.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use parking_lot::RwLock;

use super::branch::kept_moment;
use super::branch_rows::BRANCHES_TREE;
use super::{
    Batch, Clock, CommitInfo, Direction, Engine, EngineError, ErasedKey, HeadSignal, Kept, KeyRange, Keys, Profile,
    ReadDependency, Reads, Result, Retention, RetentionRule, RetentionRules, Row, Rows, Seq, Snapshot, Stats,
    SystemClock, Timestamp, TreeId, Value, VerifyReport, Version, Versions, without_erased,
};

/// Keys that a range looks at while it holds the lock.
const PAGE_KEYS: usize = 256;

/// An engine that holds everything in memory.
#[derive(Clone)]
pub struct MemoryEngine {
    shared: Arc<Shared>,
}

struct Shared {
    state: RwLock<State>,
    clock: Arc<dyn Clock>,
    head_signal: HeadSignal,
}

#[derive(Default)]
struct State {
    /// Every version of every row, oldest first; `None` is a deletion.
    rows: BTreeMap<(TreeId, Vec<u8>), Vec<StoredVersion>>,
    /// Keys whose oldest versions a rule has given up. They cannot be read before the remaining versions.
    cut: BTreeSet<(TreeId, Vec<u8>)>,
    /// The time of commit n at index n - 1.
    times: Vec<Timestamp>,
    bytes: u64,
    /// Ranges whose history before a commit has been given up.
    forgotten: Vec<(TreeId, KeyRange, Seq)>,
    rules: RetentionRules,
    /// For each tree, the newest commit of which something was erased.
    erased: BTreeMap<TreeId, Seq>,
}

type StoredVersion = (Seq, Option<Arc<[u8]>>);

impl MemoryEngine {
    /// An empty store.
    pub fn new() -> Self {
        Self::with_clock(Arc::new(SystemClock))
    }

    /// An empty store whose commits take their time from `clock`.
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        MemoryEngine {
            shared: Arc::new(Shared { state: RwLock::default(), clock, head_signal: HeadSignal::default() }),
        }
    }
}

impl Default for MemoryEngine {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    fn head(&self) -> Seq {
        Seq(self.times.len() as u64)
    }

    fn time_of(&self, seq: Seq) -> Timestamp {
        seq.0.checked_sub(1).and_then(|i| self.times.get(i as usize)).copied().unwrap_or_default()
    }

    /// Refuses a read of `range` as of a commit that any of its keys has forgotten.
    fn check_forgotten(&self, tree: TreeId, range: &KeyRange, asked: Seq) -> Result<()> {
        let concerned = self.forgotten.iter().filter(|(t, old, _)| *t == tree && old.overlaps(range));
        match concerned.map(|(.., before)| *before).max() {
            Some(oldest) if asked < oldest => Err(EngineError::Forgotten { asked, oldest }),
            _ => Ok(()),
        }
    }

    /// Drops the forgotten versions of a range: those older than the version that commit `before` had, and that one too
    /// if it is a deletion.
    fn forget(&mut self, tree: TreeId, range: &KeyRange, before: Seq) {
        let keys: Vec<_> = self.in_range(tree, range).map(|(key, _)| (tree, key.clone())).collect();
        for key in keys {
            let Some(versions) = self.rows.get_mut(&key) else { continue };
            let newer = versions.partition_point(|(seq, _)| *seq <= before);
            let Some(base) = newer.checked_sub(1) else { continue };
            versions.drain(..if versions[base].1.is_some() { base } else { newer });
            // The state as of `before` and later is known, whatever was given up before.
            self.cut.remove(&key);
            if versions.is_empty() {
                self.rows.remove(&key);
            }
        }
        self.forgotten.retain(|(t, old, earlier)| !(*t == tree && *earlier <= before && range.covers(old)));
        self.forgotten.push((tree, range.clone(), before));
    }

    /// Removes versions of a key as if they had never been.
    fn erase(&mut self, ErasedKey { tree, key, versions }: &ErasedKey) {
        let newest = self.erased.entry(*tree).or_default();
        *newest = versions.newest().max(*newest);
        let row = (*tree, key.clone());
        let Some(stored) = self.rows.remove(&row) else { return };
        let mut kept = without_erased(stored.into_iter().rev(), versions);
        kept.reverse();
        if kept.is_empty() {
            self.cut.remove(&row);
        } else {
            self.rows.insert(row, kept);
        }
    }

    /// The kept moments.
    fn kept(&self) -> Kept {
        let rows = self.in_range(BRANCHES_TREE, &KeyRange::all());
        let there = rows.filter(|(_, versions)| versions.last().is_some_and(|(_, value)| value.is_some()));
        Kept::of(there.filter_map(|(key, _)| kept_moment(key)).collect())
    }

    /// The commit before which the history of all of a range has been given up.
    fn horizon(&self, tree: TreeId, range: &KeyRange) -> Seq {
        let known = self.forgotten.iter().filter(|(t, old, _)| *t == tree && old.covers(range));
        known.map(|(.., before)| *before).max().unwrap_or_default()
    }

    /// Gives up history that the rules do not promise.
    fn keep_to_rules(&mut self, now: Timestamp) {
        let kept = self.kept();
        let oldest = kept.oldest().unwrap_or(Seq(u64::MAX));
        let rules: Vec<_> = self.rules.iter().collect();
        for RetentionRule { tree, range, retention } in rules {
            match retention {
                Retention::Everything => {}
                Retention::HeadOnly => {
                    let before = kept.limit(self.head(), self.horizon(tree, &range));
                    self.forget(tree, &range, before);
                }
                Retention::Duration(duration) => {
                    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
                    let before = self.newest_at(Timestamp(now.0.saturating_sub(micros)));
                    let before = kept.limit(before, self.horizon(tree, &range));
                    self.forget(tree, &range, before);
                }
                Retention::Versions(count) => {
                    let keys: Vec<_> = self.in_range(tree, &range).map(|(key, _)| (tree, key.clone())).collect();
                    for key in keys {
                        let Some(versions) = self.rows.get_mut(&key) else { continue };
                        // The version that a kept moment shows is followed by one that is newer than it.
                        let needed = versions.iter().skip(1).take_while(|(seq, _)| *seq <= oldest).count();
                        let beyond = versions.len().saturating_sub(count.get() as usize).min(needed);
                        if beyond > 0 {
                            versions.drain(..beyond);
                            self.cut.insert(key);
                        }
                    }
                }
            }
        }
    }

    /// The newest commit at `time` or before.
    fn newest_at(&self, time: Timestamp) -> Seq {
        Seq(self.times.partition_point(|&commit| commit <= time) as u64)
    }

    /// The version of a key as of a commit.
    fn visible<'v>(
        &self,
        (tree, key): (TreeId, &[u8]),
        versions: &'v [StoredVersion],
        at: Seq,
    ) -> Result<Option<&'v StoredVersion>> {
        let newer = versions.partition_point(|(seq, _)| *seq <= at);
        match (newer.checked_sub(1), versions.first()) {
            (Some(index), _) => Ok(versions.get(index)),
            (None, Some((oldest, _))) if self.cut.contains(&(tree, key.to_vec())) => {
                Err(EngineError::Forgotten { asked: at, oldest: *oldest })
            }
            (None, _) => Ok(None),
        }
    }

    fn check(&self, read: ReadDependency<'_>) -> Result<()> {
        if read.at > self.head() {
            return Err(EngineError::NotYet { asked: read.at, head: self.head() });
        }
        let range = read.keys.to_range();
        let erased = self.erased.get(&read.tree).is_some_and(|newest| read.at < *newest);
        if erased || self.check_forgotten(read.tree, &range, read.at).is_err() {
            let key = match &range.start {
                Bound::Included(key) | Bound::Excluded(key) => key.clone(),
                Bound::Unbounded => Vec::new(),
            };
            return Err(EngineError::Conflict { tree: read.tree, key, read_at: read.at, written_at: None });
        }
        let newer = self.in_range(read.tree, &range).find_map(|(key, versions)| {
            let written_at = versions.last()?.0;
            (written_at > read.at).then(|| (key.clone(), written_at))
        });
        match newer {
            None => Ok(()),
            Some((key, written_at)) => {
                Err(EngineError::Conflict { tree: read.tree, key, read_at: read.at, written_at: Some(written_at) })
            }
        }
    }

    fn in_range(
        &self,
        tree: TreeId,
        range: &KeyRange,
    ) -> Box<dyn DoubleEndedIterator<Item = (&Vec<u8>, &Vec<StoredVersion>)> + '_> {
        if range.is_empty() {
            return Box::new(std::iter::empty());
        }
        let start = match range.start.clone() {
            Bound::Included(key) => Bound::Included((tree, key)),
            Bound::Excluded(key) => Bound::Excluded((tree, key)),
            Bound::Unbounded => Bound::Included((tree, Vec::new())),
        };
        let end = match (range.end.clone(), tree.0.checked_add(1)) {
            (Bound::Included(key), _) => Bound::Included((tree, key)),
            (Bound::Excluded(key), _) => Bound::Excluded((tree, key)),
            (Bound::Unbounded, Some(next)) => Bound::Excluded((TreeId(next), Vec::new())),
            (Bound::Unbounded, None) => Bound::Unbounded,
        };
        Box::new(self.rows.range((start, end)).map(|((_, key), versions)| (key, versions)))
    }
}

impl Engine for MemoryEngine {
    fn head(&self) -> Seq {
        self.shared.state.read().head()
    }

    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>> {
        let head = self.head();
        if seq > head {
            return Err(EngineError::NotYet { asked: seq, head });
        }
        Ok(Arc::new(MemorySnapshot { shared: self.shared.clone(), seq }))
    }

    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>> {
        let state = self.shared.state.read();
        let seq = state.newest_at(time);
        Ok((seq > Seq::ZERO).then(|| CommitInfo { seq, time: state.time_of(seq) }))
    }

    fn commit(&self, mut batch: Batch) -> Result<CommitInfo> {
        batch.check_limits()?;
        let mut state = self.shared.state.write();
        for read in batch.reads() {
            state.check(read)?;
        }
        let head = state.head();
        let last_time = state.time_of(head);
        if batch.is_empty() {
            return Ok(CommitInfo { seq: head, time: last_time });
        }
        let commit = CommitInfo { seq: head.next(), time: self.shared.clock.now().max(last_time) };
        batch.bind(commit.seq, |tree, key| {
            let versions = state.rows.get(&(tree, key.to_vec())).map_or(&[][..], Vec::as_slice);
            Ok(versions.last().and_then(|(_, value)| value.as_deref().map(<[u8]>::to_vec)))
        })?;
        for row in batch.rows() {
            let versions = state.rows.entry((row.tree, row.key.to_vec())).or_default();
            let version = (commit.seq, row.value.map(Arc::from));
            match versions.last_mut() {
                Some(last) if last.0 == commit.seq => *last = version,
                _ => versions.push(version),
            }
        }
        state.bytes += batch.size_bytes() as u64;
        state.times.push(commit.time);
        drop(state);
        self.shared.head_signal.moved();
        Ok(commit)
    }

    fn wait_beyond(&self, seq: Seq, timeout: Duration) -> Seq {
        self.shared.head_signal.wait_beyond(seq, timeout, || self.head())
    }

    fn wake_beyond(&self, seq: Seq, waker: &Waker) -> bool {
        self.shared.head_signal.wake_beyond(seq, waker, || self.head())
    }

    fn checkpoint(&self) -> Result<()> {
        Ok(())
    }

    fn forget(&self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<()> {
        let mut state = self.shared.state.write();
        let head = state.head();
        if before > head {
            return Err(EngineError::NotYet { asked: before, head });
        }
        state.kept().for_tree(tree).check(before, state.horizon(tree, range))?;
        state.forget(tree, range, before);
        Ok(())
    }

    fn set_retention(&self, rules: &[RetentionRule]) -> Result<()> {
        self.shared.state.write().rules.set_all(rules).map(drop)
    }

    fn retention(&self) -> Result<Vec<RetentionRule>> {
        Ok(self.shared.state.read().rules.iter().collect())
    }

    fn erase(&self, erased: &[ErasedKey]) -> Result<()> {
        let mut state = self.shared.state.write();
        let head = state.head();
        if let Some(asked) = erased.iter().map(|key| key.versions.newest()).max().filter(|newest| *newest > head) {
            return Err(EngineError::NotYet { asked, head });
        }
        for key in erased {
            state.erase(key);
        }
        Ok(())
    }

    /// Gives up history that the rules do not promise. Nothing else here does.
    fn settle(&self) -> Result<()> {
        let now = self.shared.clock.now();
        self.shared.state.write().keep_to_rules(now);
        Ok(())
    }

    fn verify(&self) -> Result<VerifyReport> {
        let state = self.shared.state.read();
        let rows = state.rows.values().map(|versions| versions.len() as u64).sum();
        Ok(VerifyReport { bytes: state.bytes, commits: state.head().0, rows, ..VerifyReport::default() })
    }

    fn profile(&self) -> Profile {
        Profile::default().with_reads(Reads::Memory)
    }

    fn stats(&self) -> Result<Stats> {
        let state = self.shared.state.read();
        Ok(Stats {
            engine: "memory",
            head: state.head(),
            memory_bytes: state.bytes,
            details: vec![("keys", state.rows.len() as u64, "keys")],
            ..Stats::default()
        })
    }
}

struct MemorySnapshot {
    shared: Arc<Shared>,
    seq: Seq,
}

impl MemorySnapshot {
    /// The first rows of a range, and the rest of the range. The lock is held for one page, and not while the caller
    /// looks at the rows: that would stop writers.
    fn page(
        &self,
        tree: TreeId,
        mut range: KeyRange,
        direction: Direction,
    ) -> Result<(Vec<Row<'_>>, Option<KeyRange>)> {
        let state = self.shared.state.read();
        state.check_forgotten(tree, &range, self.seq)?;
        let mut keys = state.in_range(tree, &range);
        let mut rows = Vec::new();
        let mut last = None;
        for _ in 0..PAGE_KEYS {
            let next = match direction {
                Direction::Forward => keys.next(),
                Direction::Backward => keys.next_back(),
            };
            let Some((key, versions)) = next else { return Ok((rows, None)) };
            let version = match state.visible((tree, key), versions, self.seq) {
                Ok(version) => version,
                Err(error) if rows.is_empty() => return Err(error),
                // The rows before it come first; then this key is tried again, and answers its error.
                Err(_) => break,
            };
            if let Some((seq, Some(value))) = version {
                let value = Value { seq: *seq, bytes: Cow::Owned(value.to_vec()) };
                rows.push(Row { key: Cow::Owned(key.clone()), value });
            }
            last = Some(key.clone());
        }
        drop(keys);
        let Some(last) = last else { return Ok((rows, None)) };
        match direction {
            Direction::Forward => range.start = Bound::Excluded(last),
            Direction::Backward => range.end = Bound::Excluded(last),
        }
        Ok((rows, Some(range)))
    }
}

impl Snapshot for MemorySnapshot {
    fn seq(&self) -> Seq {
        self.seq
    }

    fn time(&self) -> Result<Timestamp> {
        Ok(self.shared.state.read().time_of(self.seq))
    }

    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Value<'_>>> {
        let state = self.shared.state.read();
        state.check_forgotten(tree, &KeyRange::only(key), self.seq)?;
        let versions = state.rows.get(&(tree, key.to_vec())).map_or(&[][..], Vec::as_slice);
        Ok(state.visible((tree, key), versions, self.seq)?.and_then(|(seq, value)| {
            value.as_ref().map(|bytes| Value { seq: *seq, bytes: Cow::Owned(bytes.to_vec()) })
        }))
    }

    fn range(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Rows<'_> {
        let mut left = Some(range.clone());
        let pages = std::iter::from_fn(move || match self.page(tree, left.take()?, direction) {
            Ok((page, rest)) => {
                left = rest;
                Some(page.into_iter().map(Ok).collect())
            }
            Err(error) => Some(vec![Err(error)]),
        });
        Box::new(pages.flatten())
    }

    fn keys(&self, tree: TreeId, range: &KeyRange) -> Keys<'_> {
        let mut left = Some(range.clone());
        let pages = std::iter::from_fn(move || {
            let range = left.take()?;
            let state = self.shared.state.read();
            let keys = state.in_range(tree, &range).take(PAGE_KEYS);
            let page: Vec<_> = keys
                .map(|(key, versions)| (key.clone(), versions.first().is_some_and(|(oldest, _)| *oldest <= self.seq)))
                .collect();
            left = page.last().map(|(last, _)| KeyRange { start: Bound::Excluded(last.clone()), end: range.end });
            Some(page.into_iter().filter(|(_, has)| *has).map(|(key, _)| Ok(key)))
        });
        Box::new(pages.flatten())
    }

    fn versions(&self, tree: TreeId, key: &[u8]) -> Versions<'_> {
        let state = self.shared.state.read();
        if let Err(error) = state.check_forgotten(tree, &KeyRange::only(key), self.seq) {
            return Box::new(std::iter::once(Err(error)));
        }
        let versions = state.rows.get(&(tree, key.to_vec())).map_or(&[][..], Vec::as_slice);
        if let Err(error) = state.visible((tree, key), versions, self.seq) {
            return Box::new(std::iter::once(Err(error)));
        }
        let found: Vec<_> = versions
            .iter()
            .rev()
            .filter(|(seq, _)| *seq <= self.seq)
            .map(|(seq, value)| {
                let value = value.as_ref().map(|bytes| Cow::Owned(bytes.to_vec()));
                Ok(Version { seq: *seq, time: state.time_of(*seq), value })
            })
            .collect();
        Box::new(found.into_iter())
    }
}
