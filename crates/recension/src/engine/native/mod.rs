//! The native engine: the log is the database, the index is a help that can be rebuilt.
//!
//! A commit goes: [`NativeEngine::commit`] -> `group` (one caller leads) -> `commit` (check, number,
//! encode) -> `log` (one write, one sync) -> `index` (shown to readers). A read goes: snapshot ->
//! `index` (memory, then runs) -> `segment` (the row, checked). docs/format.md has every byte.

mod backup;
mod commit;
mod counters;
mod doomed;
mod first;
mod forgotten;
mod format;
pub(crate) mod group;
#[cfg(test)]
mod group_tests;
mod index;
mod index_files;
mod install;
mod keep;
mod log;
mod machine;
mod maintenance;
mod manifest;
mod mem;
mod mem_table;
mod open;
mod options;
pub(crate) mod pace;
mod range_rows;
mod record;
mod recovery;
mod retention;
mod run;
mod salvage;
mod segment;
mod settle;
mod settled;
mod settled_files;
mod snapshot;
mod sorted;
mod sync;
mod times;
mod verify;
mod walk;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::thread::JoinHandle;
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::{Condvar, Mutex};

pub use self::options::{Maintenance, NativeOptions};
pub use self::salvage::{SalvageReport, salvage};

use self::commit::{Answered, Asked, Leader, commit_group};
use self::doomed::Doomed;
use self::group::CommitQueue;
use self::index::State;
use self::index_files::IndexFiles;
use self::log::SegmentMaker;
use self::segment::Segment;
use self::settle::{Extent, SettleError};
use self::settled_files::SettledFiles;
use self::snapshot::NativeSnapshot;
use super::{
    BackupReport, Batch, Clock, CommitInfo, Durability, Engine, EngineError, HeadSignal, KeyRange, Result,
    RetentionRule, Seq, Snapshot, Stats, Timestamp, TreeId, VerifyReport,
};
use crate::disk::{Disk, DiskLock};

/// A store in a directory of its own, held by one process.
///
/// Dropping it closes it: what is in memory is written, and the next open replays nothing.
/// [`NativeEngine::close`] does the same and says whether it went well.
pub struct NativeEngine {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    closed: bool,
}

/// What the engine's threads share.
struct Shared {
    disk: Arc<dyn Disk>,
    durability: Durability,
    index_memory_bytes: u64,
    checkpoint_log_bytes: u64,
    merge_fan_in: usize,
    maintenance: Maintenance,
    clock: Arc<dyn Clock>,
    queue: CommitQueue<Asked, Answered>,
    leader: Mutex<Leader>,
    maker: Arc<SegmentMaker>,
    files: IndexFiles,
    /// What readers see; replaced, never changed.
    state: ArcSwap<State>,
    replacing_state: Mutex<()>,
    /// The newest commit that readers see.
    head: Arc<AtomicU64>,
    /// The newest commit known to be synced.
    durable: AtomicU64,
    head_signal: HeadSignal,
    /// Why no more commits are taken.
    poison: OnceLock<String>,
    signal: maintenance::Signal,
    /// The part that commits are added to is worth a run once the store is at rest.
    much_in_memory: AtomicBool,
    /// Held while runs are written.
    maintaining: Mutex<()>,
    /// The segment that is half full, so that the next one is to be made ahead of need.
    next_segment_after: Mutex<u32>,
    flushed_lock: Mutex<()>,
    flushed: Condvar,
    settled_files: SettledFiles,
    settle_log_bytes: Option<u64>,
    settle_bytes_per_second: u64,
    settle_after_opening: Duration,
    /// The same, or no limit while settling is behind.
    settle_pace: Arc<AtomicU64>,
    settle_signal: maintenance::Signal,
    doomed: Doomed,
    /// Sealed segments whose unused ends are to be given back.
    loose_ends: Mutex<Vec<Arc<Segment>>>,
    /// Held while settled files are written.
    settling: Mutex<()>,
    /// Runs up to this seq are being settled; 0: none.
    settling_through: AtomicU64,
    /// Segments before this one are settled.
    first_segment: AtomicU32,
    /// Why nothing is settled any more.
    settling_damaged: OnceLock<String>,
    /// The store is being closed.
    stopping: Arc<AtomicBool>,
    index_rebuilt: Option<String>,
    _lock: DiskLock,
}

impl Shared {
    fn head(&self) -> Seq {
        Seq(self.head.load(Ordering::Acquire))
    }

    fn durable(&self) -> Seq {
        Seq(self.durable.load(Ordering::Acquire))
    }

    fn set_durable(&self, seq: Seq) {
        self.durable.fetch_max(seq.0, Ordering::AcqRel);
    }

    fn replace_state(&self, change: impl FnOnce(&mut State)) {
        let _one_at_a_time = self.replacing_state.lock();
        let mut state = State::clone(&self.state.load());
        change(&mut state);
        state.segments.drop_before(self.first_segment.load(Ordering::Acquire));
        self.state.store(Arc::new(state));
    }

    /// Shows commits up to `seq` to readers.
    fn publish(&self, seq: Seq) {
        self.head.store(seq.0, Ordering::SeqCst);
        self.head_signal.moved();
    }

    /// No more commits from here on.
    fn poison(&self, failure: &EngineError) {
        let _ = self.poison.set(failure.to_string());
        let _guard = self.flushed_lock.lock();
        self.flushed.notify_all();
    }

    /// Why a commit has no answer.
    fn panicked(&self) -> EngineError {
        EngineError::Poisoned { cause: self.poison.get_or_init(|| "a commit ended in a panic".to_owned()).clone() }
    }

    fn check_poison(&self) -> Result<()> {
        match self.poison.get() {
            None => Ok(()),
            Some(cause) => Err(EngineError::Poisoned { cause: cause.clone() }),
        }
    }

    /// The state that has everything up to the head that is answered with it.
    fn head_state(&self) -> (Seq, Arc<State>) {
        // The head first: a state loaded later has all of it.
        let head = self.head();
        (head, self.state.load_full())
    }
}

impl NativeEngine {
    /// Opens the store in `disk`, or makes one.
    ///
    /// Takes time in proportion to the log behind the last checkpoint (at most
    /// `checkpoint_log_bytes` and what was in memory), or to the whole log if the index is missing.
    ///
    /// # Errors
    /// [`EngineError::Locked`], [`EngineError::NotAStore`], [`EngineError::NewerFormat`],
    /// [`EngineError::Damaged`], [`EngineError::Io`]: nothing was changed.
    #[allow(clippy::needless_pass_by_value)] // callers build options for one call
    pub fn open(disk: Arc<dyn Disk>, options: NativeOptions) -> Result<Self> {
        let shared = Arc::new(open::open(disk, &options)?);
        shared.signal.want(); // a rebuilt index may have runs to merge
        let mut engine = NativeEngine { shared, threads: Vec::new(), closed: false };
        match options.maintenance {
            Maintenance::Background => {
                engine.spawn("recension-maintenance", maintenance::run_thread)?;
                engine.spawn("recension-settling", maintenance::run_settling)?;
            }
            Maintenance::Inline => engine.shared.remove_left_over(),
        }
        Ok(engine)
    }

    fn spawn(&mut self, name: &str, work: fn(&Shared)) -> Result<()> {
        let shared = self.shared.clone();
        let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&shared));
        self.threads.push(spawned.map_err(|e| EngineError::io(format!("starting the thread {name}"), e))?);
        Ok(())
    }

    /// Writes what is in memory, gives unused space back and closes the store.
    pub fn close(mut self) -> Result<()> {
        self.shut()
    }

    fn shut(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.closed, true) {
            return Ok(());
        }
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.signal.stop();
        self.shared.settle_signal.stop();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        self.shared.check_poison()?;
        self.checkpoint()?;
        self.shared.leader.lock().log.trim()
    }

    /// Why the index was built anew when the store was opened, if it was.
    pub fn index_rebuilt(&self) -> Option<&str> {
        self.shared.index_rebuilt.as_deref()
    }
}

impl Drop for NativeEngine {
    fn drop(&mut self) {
        // What cannot be written now is in the log and is replayed at the next open.
        let _ = self.shut();
    }
}

impl Engine for NativeEngine {
    fn head(&self) -> Seq {
        self.shared.head()
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        let (head, state) = self.shared.head_state();
        Ok(Arc::new(NativeSnapshot::new(state, head)))
    }

    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>> {
        let (head, state) = self.shared.head_state();
        if seq > head {
            return Err(EngineError::NotYet { asked: seq, head });
        }
        Ok(Arc::new(NativeSnapshot::new(state, seq)))
    }

    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>> {
        let (head, state) = self.shared.head_state();
        state.times.last(&state, head, |commit| commit.time <= time)
    }

    fn commit(&self, batch: Batch) -> Result<CommitInfo> {
        batch.check_limits()?;
        match self.shared.queue.submit(Asked::One(batch), |asked| commit_group(&self.shared, asked)) {
            Some(Answered::One(answer)) => answer,
            Some(Answered::Several(_)) | None => Err(self.shared.panicked()),
        }
    }

    fn commit_all(&self, batches: Vec<Batch>) -> Vec<Result<CommitInfo>> {
        // One that is too large is refused for itself.
        let refused: Vec<_> = batches.iter().map(|batch| batch.check_limits().err()).collect();
        let taken = batches.into_iter().zip(&refused).filter(|(_, refused)| refused.is_none()).map(|(batch, _)| batch);
        let asked = Asked::Several(taken.collect());
        let answers = match self.shared.queue.submit(asked, |asked| commit_group(&self.shared, asked)) {
            Some(Answered::Several(answers)) => answers,
            Some(Answered::One(_)) | None => Vec::new(),
        };
        let mut answers = answers.into_iter();
        let mut next = || answers.next().unwrap_or_else(|| Err(self.shared.panicked()));
        refused.into_iter().map(|refused| refused.map_or_else(&mut next, Err)).collect()
    }

    fn wait_beyond(&self, seq: Seq, timeout: Duration) -> Seq {
        self.shared.head_signal.wait_beyond(seq, timeout, || self.shared.head())
    }

    fn wake_beyond(&self, seq: Seq, waker: &Waker) -> bool {
        self.shared.head_signal.wake_beyond(seq, waker, || self.shared.head())
    }

    fn checkpoint(&self) -> Result<()> {
        self.shared.check_poison()?;
        self.shared.close_part(&mut self.shared.leader.lock());
        let done = self.shared.maintain().map(drop);
        if let Err(error) = &done {
            self.shared.poison(error);
        }
        done
    }

    fn forget(&self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<()> {
        let shared = &self.shared;
        shared.check_poison()?;
        let head = shared.head();
        if before > head {
            return Err(EngineError::NotYet { asked: before, head });
        }
        match shared.settled_files.forget(tree, range, before) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => {
                // Asked for again in here: of two callers the later one wins.
                shared.replace_state(|state| state.forgotten = Arc::new(shared.settled_files.forgotten()));
                Ok(())
            }
            Err(refusal @ EngineError::TooLarge { .. }) => Err(refusal),
            // Whether a crash would bring it back is unknown.
            Err(error) => {
                shared.poison(&error);
                Err(error)
            }
        }
    }

    fn set_retention(&self, rules: &[RetentionRule]) -> Result<()> {
        self.shared.set_retention(rules)
    }

    fn retention(&self) -> Result<Vec<RetentionRule>> {
        Ok(self.shared.settled_files.rules().iter().collect())
    }

    /// Moves everything into one settled file, in key order and compressed, leaves out what has been
    /// forgotten, and gives the log's disk back. The background does so in time, with what is due.
    ///
    /// Takes time in proportion to the store; commits go on meanwhile.
    fn settle(&self) -> Result<()> {
        let shared = &self.shared;
        shared.check_poison()?;
        shared.prepare_segment();
        {
            let mut leader = shared.leader.lock();
            match leader.begin_segment(shared) {
                Ok(()) => {}
                Err(log::WriteError::NothingWritten(error)) => return Err(error),
                Err(log::WriteError::Failed(error)) => {
                    shared.poison(&error);
                    return Err(error);
                }
            }
        }
        self.checkpoint()?;
        match shared.settle(Extent::Everything) {
            // The segment that was begun has no commits, most of the time: its room is given back.
            Ok(()) => {
                let mut leader = shared.leader.lock();
                if leader.log.has_no_commits() { leader.log.trim() } else { Ok(()) }
            }
            Err(SettleError::NothingChanged(error)) => Err(error),
            Err(SettleError::Publishing(error)) => {
                shared.poison(&error);
                Err(error)
            }
        }
    }

    fn backup(&self, to: &Path) -> Result<BackupReport> {
        self.backup_to_path(to)
    }

    fn verify(&self) -> Result<VerifyReport> {
        verify::verify(&self.shared)
    }

    fn stats(&self) -> Result<Stats> {
        verify::stats(&self.shared)
    }
}
