//! The leader's work on a group of commits: it checks what each depends on, numbers it, and writes all of them with one
//! call. It syncs once, and only then shows them to readers and acknowledges them. After a failed write or sync nothing
//! is acknowledged any more.

use std::ops::Bound;

use super::chain::LogPoint;
use super::counters::Counters;
use super::format::Position;
use super::index::{Found, State, full_key, write_full_key};
use super::log::{LogWriter, Room, WriteError};
use super::shared::Shared;
use recension_engine::{
    Batch, CommitInfo, Direction, Durability, EngineError, ReadDependency, ReadKeys, Result, Seq, Timestamp, TreeId,
};

/// Rows for which a list of places keeps its memory after a commit.
const PLACED_KEPT: usize = 64 << 10;

/// The state of the leader, which nobody else touches.
pub(super) struct Leader {
    pub(super) log: LogWriter,
    /// The newest commit that has a number, and the end of the log behind it.
    pub(super) last: CommitInfo,
    /// The newest acknowledged commit.
    pub(super) acknowledged: LogPoint,
    /// The clock's last time. It is read once for each commit.
    pub(super) asked_at: Timestamp,
    /// Bytes of log since the newest part of the index was begun.
    pub(super) part_log_bytes: u64,
    pub(super) counters: Counters,
    /// The positions of the newest commit's rows, which are not in the index yet.
    pub(super) placed: Vec<Position>,
    /// A buffer for full keys.
    pub(super) full_key: Vec<u8>,
}

/// A request to the commit queue.
pub(super) enum CommitRequest {
    One(Batch),
    Several(Vec<Batch>),
}

/// The answer to a request.
pub(super) enum CommitAnswer {
    One(Result<CommitInfo>),
    Several(Vec<Result<CommitInfo>>),
}

impl CommitRequest {
    fn batches(&mut self) -> &mut [Batch] {
        match self {
            CommitRequest::One(batch) => std::slice::from_mut(batch),
            CommitRequest::Several(batches) => batches,
        }
    }

    /// Takes its part of the group's answers.
    fn answered(&self, answers: &mut impl Iterator<Item = Result<CommitInfo>>) -> Option<CommitAnswer> {
        match self {
            CommitRequest::One(_) => answers.next().map(CommitAnswer::One),
            CommitRequest::Several(batches) => Some(CommitAnswer::Several(answers.take(batches.len()).collect())),
        }
    }
}

/// Commits a group. Returns one result for each request, in order.
pub(super) fn commit_group(shared: &Shared, mut asked: Vec<CommitRequest>) -> Vec<CommitAnswer> {
    let mut answers = commit_batches(shared, &mut asked).into_iter();
    asked.iter().map_while(|asked| asked.answered(&mut answers)).collect()
}

/// Returns one result for each batch, in order.
fn commit_batches(shared: &Shared, asked: &mut [CommitRequest]) -> Vec<Result<CommitInfo>> {
    let batches = asked.iter_mut().map(|asked| asked.batches().len()).sum();
    // This is held until the group is answered: the store does not move meanwhile.
    let _takes_commits = match shared.check_takes_commits() {
        Ok(held) => held,
        Err(refusal) => return vec![Err(refusal); batches],
    };
    let mut leader = shared.leader.lock();
    if let Err(refusal) = shared.check_writable() {
        return vec![Err(refusal); batches];
    }
    let mut group = Group { needs_sync: false, wrote: false, answers: Vec::with_capacity(batches) };
    let mut last = Batch::new();
    let mut outcome = asked.iter_mut().flat_map(CommitRequest::batches).try_for_each(|batch| {
        leader.put_in_index(shared, &std::mem::take(&mut last));
        last = std::mem::take(batch);
        group.add(shared, &mut leader, &mut last)
    });
    if outcome.is_ok() && group.wrote {
        let sync = match (group.needs_sync, batches) {
            (false, _) => GroupSync::No,
            (true, 1) => GroupSync::Alone,
            (true, _) => GroupSync::Together,
        };
        outcome = leader.finish(shared, last, sync).map_err(WriteError::into_error);
    }
    if let Err(failure) = outcome {
        shared.poison(&failure);
        let acknowledged_end = leader.acknowledged.end;
        leader.log.abandon(acknowledged_end);
        // Batches that were refused before keep their answer; the others are not acknowledged.
        let mut answers: Vec<_> = group
            .answers
            .into_iter()
            .map(|answer| {
                answer.and_then(|commit| if commit.seq > shared.head() { Err(failure.clone()) } else { Ok(commit) })
            })
            .collect();
        answers.resize_with(batches, || Err(failure.clone()));
        return answers;
    }
    if group.wrote {
        *shared.no_room.lock() = None;
    }
    let answers = group.answers;
    shared.after_group(&mut leader);
    answers
}

impl Leader {
    /// Puts `commit` into the log's buffer. Its rows must be put into the index before anything else is appended.
    /// Readers do not see it before the head has moved to it. After [`WriteError::NothingWritten`] everything is as
    /// before.
    pub(super) fn append(
        &mut self,
        shared: &Shared,
        batch: &Batch,
        commit: CommitInfo,
    ) -> std::result::Result<(), WriteError> {
        shared.trim_log(self);
        let room = self.log.make_room(batch);
        if self.log.take_changed() {
            shared.replace_state(|state| state.segments = self.log.segments.clone());
        }
        if room? == Room::NewSegment {
            shared.set_durable(self.last.seq);
            // Later commits of this group are not durable: they may be cut off if the group fails.
            shared.trail.is_durable(self.acknowledged);
        }
        let before = self.log.end();
        let after_gap = commit.seq != self.last.seq.next();
        let Leader { log, placed, .. } = self;
        log.append(commit, shared.durable(), after_gap, batch, |_, position| placed.push(position))?;
        self.part_log_bytes += u64::from(self.log.end().offset - before.offset);
        self.last = commit;
        Ok(())
    }

    /// The end of the log.
    pub(super) fn point(&self) -> LogPoint {
        LogPoint { last: self.last, end: self.log.end(), chain: self.log.chain }
    }

    /// Puts the rows of `batch`, the newest that was appended, into the index, for readers and for later commits. If
    /// they are there already, it does nothing.
    fn put_in_index(&mut self, shared: &Shared, batch: &Batch) {
        let state = shared.state.load();
        let memory = &state.memory[0];
        let Leader { counters, full_key, placed, last, .. } = self;
        for (row, position) in batch.rows().zip(placed.drain(..)) {
            write_full_key(full_key, row.tree, row.key);
            memory.insert(full_key, last.seq, position, row.value.is_none());
            counters.written(full_key, &row);
        }
        placed.shrink_to(PLACED_KEPT);
    }

    /// Ends the newest segment, so that all of it can be settled; nothing if it has no commits.
    pub(super) fn begin_segment(&mut self, shared: &Shared) -> std::result::Result<(), WriteError> {
        let begun = self.log.begin_segment();
        // They are about to be settled and removed: their unused ends go with them.
        drop(self.log.take_sealed());
        if self.log.take_changed() {
            shared.replace_state(|state| state.segments = self.log.segments.clone());
        }
        if begun? == Room::NewSegment {
            shared.set_durable(self.last.seq);
            self.acknowledged = self.point();
            shared.trail.acknowledge(self.acknowledged, true);
        }
        Ok(())
    }

    /// The newest value of a counter, including commits that readers do not see yet.
    fn counter(&mut self, state: &State, tree: TreeId, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Leader { log, counters, full_key, .. } = self;
        write_full_key(full_key, tree, key);
        counters.get(tree, full_key, || newest_value(log, state, full_key))
    }

    /// Writes everything appended up to `last`, syncs it if asked, and shows it to readers.
    pub(super) fn finish(
        &mut self,
        shared: &Shared,
        last: Batch,
        sync: GroupSync,
    ) -> std::result::Result<(), WriteError> {
        let to_be_synced = sync != GroupSync::No;
        self.log.write(to_be_synced)?;
        if to_be_synced {
            self.log.begin_sync();
        }
        self.put_in_index(shared, &last);
        drop(last);
        if sync == GroupSync::Alone {
            self.log.look_for_disk();
        }
        if to_be_synced {
            self.log.sync()?;
            shared.set_durable(self.last.seq);
        }
        self.acknowledged = self.point();
        shared.trail.acknowledge(self.acknowledged, to_be_synced);
        shared.publish(self.last.seq);
        Ok(())
    }
}

/// Whether and how a group is synced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupSync {
    No,
    /// It is one commit, and no other caller waits.
    Alone,
    Together,
}

/// The newest value of a key, including commits that are still in the log's buffer.
fn newest_value(log: &LogWriter, state: &State, full_key: &[u8]) -> Result<Option<Vec<u8>>> {
    let entry = match state.find(full_key, Seq(u64::MAX))? {
        None => return Ok(None),
        Some(found) if found.is_deleted() => return Ok(None),
        Some(Found::Settled(row)) => return Ok(Some(row.value().to_vec())),
        Some(Found::InLog(entry)) => entry,
        // The newest version of a key is never given up.
        Some(Found::GivenUp(oldest)) => return Err(EngineError::Forgotten { asked: oldest, oldest }),
    };
    match log.buffered_value(entry.position) {
        Some(value) => Ok(Some(value)),
        None => Ok(Some(state.row(full_key, entry)?.into_value().into_owned())),
    }
}

struct Group {
    needs_sync: bool,
    wrote: bool,
    answers: Vec<Result<CommitInfo>>,
}

impl Group {
    /// Numbers a batch and puts it into the log's buffer and the index, where readers do not see it yet. An error ends
    /// the store; if only this batch is refused, that is among the answers.
    fn add(&mut self, shared: &Shared, leader: &mut Leader, batch: &mut Batch) -> Result<()> {
        let state = shared.state.load();
        let checked = batch.reads().try_for_each(|read| check(&state, read, leader.last.seq));
        if let Err(refusal) = checked {
            self.answers.push(Err(refusal));
            return Ok(());
        }
        if batch.is_empty() {
            self.answers.push(Ok(leader.last));
            return Ok(());
        }
        leader.asked_at = shared.clock.now();
        let time = leader.asked_at.max(leader.last.time);
        let commit = CommitInfo { seq: leader.last.seq.next(), time };
        let mut counter = |tree, key: &[u8]| shared.opened_counter(tree, key, leader.counter(&state, tree, key)?);
        if let Err(refusal) = batch.bind(commit.seq, &mut counter) {
            self.answers.push(Err(refusal));
            return Ok(());
        }
        match leader.append(shared, batch, commit) {
            Ok(()) => {}
            Err(WriteError::NothingWritten(refusal)) => {
                shared.note_room(&refusal);
                self.answers.push(Err(refusal));
                return Ok(());
            }
            Err(WriteError::Failed(failure)) => return Err(failure),
        }
        self.wrote = true;
        self.needs_sync |= batch.asked_durability().unwrap_or(shared.durability) == Durability::Disk;
        self.answers.push(Ok(commit));
        Ok(())
    }
}

/// Refuses if anything in the range has been written since it was read.
fn check(state: &State, read: ReadDependency<'_>, last: Seq) -> Result<()> {
    if read.at > last {
        return Err(EngineError::NotYet { asked: read.at, head: last });
    }
    if read.at == last {
        return Ok(());
    }
    let conflict = |key: &[u8], written_at| {
        Err(EngineError::Conflict { tree: read.tree, key: key.to_vec(), read_at: read.at, written_at })
    };
    // Deletions since then may have left no trace: it is not known any more what was written.
    let range = match read.keys {
        ReadKeys::One(key) => {
            let full_key = full_key(read.tree, key);
            if state.forgotten.check(&full_key, read.at).is_err() || state.erased.forbids(read.tree, read.at) {
                return conflict(key, None);
            }
            return match state.written_after(&full_key, read.at)? {
                Some(written_at) => conflict(key, Some(written_at)),
                None => Ok(()),
            };
        }
        ReadKeys::Range(range) => range,
    };
    if state.forgotten.check_range(read.tree, range, read.at).is_err() || state.erased.forbids(read.tree, read.at) {
        let first = match &range.start {
            Bound::Included(key) | Bound::Excluded(key) => key,
            Bound::Unbounded => &Vec::new(),
        };
        return conflict(first, None);
    }
    let mut walk = state.walk(read.tree, range, (read.at, Seq(u64::MAX)), Direction::Forward)?;
    let mut key = Vec::new();
    while let Some(found) = walk.next(&mut key)? {
        if found.seq() > read.at {
            return conflict(&key[4..], Some(found.seq()));
        }
    }
    Ok(())
}

impl WriteError {
    pub(super) fn into_error(self) -> EngineError {
        match self {
            WriteError::NothingWritten(error) | WriteError::Failed(error) => error,
        }
    }
}
