//! The native engine: the log is the database, the index is a help that can be rebuilt.
//!
//! A commit goes: [`NativeEngine::commit`] -> `group` (one caller leads) -> `commit` (check, number,
//! encode) -> `log` (one write, one sync) -> `index` (shown to readers). A read goes: snapshot ->
//! `index` (memory, then runs) -> `segment` (the row, checked). docs/format.md has every byte.

mod commit;
mod format;
mod group;
#[cfg(test)]
mod group_tests;
mod index;
mod index_files;
mod log;
mod maintenance;
mod manifest;
mod mem;
mod open;
mod options;
mod record;
mod recovery;
mod run;
mod salvage;
mod segment;
mod snapshot;
mod sync;
mod times;
mod verify;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::thread::JoinHandle;
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::{Condvar, Mutex};

pub use self::options::{Maintenance, NativeOptions};
pub use self::salvage::{SalvageReport, salvage};

use self::commit::{Leader, commit_group};
use self::group::CommitQueue;
use self::index::State;
use self::index_files::IndexFiles;
use self::log::SegmentMaker;
use self::snapshot::NativeSnapshot;
use super::{
    Batch, Clock, CommitInfo, Durability, Engine, EngineError, HeadSignal, Result, Seq, Snapshot, Stats, Timestamp,
    VerifyReport,
};
use crate::disk::{Disk, DiskLock};

/// A store in a directory of its own, held by one process.
///
/// Dropping it closes it: what is in memory is written, and the next open replays nothing.
/// [`NativeEngine::close`] does the same and says whether it went well.
pub struct NativeEngine {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
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
    queue: CommitQueue<Batch, Result<CommitInfo>>,
    leader: Mutex<Leader>,
    maker: Arc<SegmentMaker>,
    files: IndexFiles,
    /// What readers see; replaced, never changed.
    state: ArcSwap<State>,
    replacing_state: Mutex<()>,
    /// The newest commit that readers see.
    head: AtomicU64,
    /// The newest commit known to be synced.
    durable: AtomicU64,
    head_signal: HeadSignal,
    /// Why no more commits are taken.
    poison: OnceLock<String>,
    signal: maintenance::Signal,
    /// Held while runs are written.
    maintaining: Mutex<()>,
    /// The segment that is half full, so that the next one is to be made ahead of need.
    next_segment_after: Mutex<u32>,
    flushed_lock: Mutex<()>,
    flushed: Condvar,
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
        let thread = match options.maintenance {
            Maintenance::Inline => None,
            Maintenance::Background => {
                let shared = shared.clone();
                let spawned = std::thread::Builder::new()
                    .name("recension-maintenance".to_owned())
                    .spawn(move || maintenance::run_thread(&shared));
                Some(spawned.map_err(|e| EngineError::io("starting the maintenance thread", e))?)
            }
        };
        Ok(NativeEngine { shared, thread })
    }

    /// Writes what is in memory, gives unused space back and closes the store.
    pub fn close(mut self) -> Result<()> {
        self.shut()
    }

    fn shut(&mut self) -> Result<()> {
        self.shared.signal.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        } else if self.shared.maintenance == Maintenance::Background {
            return Ok(()); // closed before
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

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let (head, state) = self.shared.head_state();
        Ok(Box::new(NativeSnapshot { state, seq: head }))
    }

    fn snapshot_at(&self, seq: Seq) -> Result<Box<dyn Snapshot>> {
        let (head, state) = self.shared.head_state();
        if seq > head {
            return Err(EngineError::NotYet { asked: seq, head });
        }
        Ok(Box::new(NativeSnapshot { state, seq }))
    }

    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>> {
        let (head, state) = self.shared.head_state();
        state.times.last(&state.segments, head, |commit| commit.time <= time)
    }

    fn commit(&self, batch: Batch) -> Result<CommitInfo> {
        batch.check_limits()?;
        let answer = self.shared.queue.submit(batch, |batches| commit_group(&self.shared, batches));
        answer.unwrap_or_else(|| {
            let cause = self.shared.poison.get_or_init(|| "a commit ended in a panic".to_owned()).clone();
            Err(EngineError::Poisoned { cause })
        })
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
        let done = self.shared.maintain();
        if let Err(error) = &done {
            self.shared.poison(error);
        }
        done
    }

    fn verify(&self) -> Result<VerifyReport> {
        verify::verify(&self.shared)
    }

    fn stats(&self) -> Result<Stats> {
        verify::stats(&self.shared)
    }
}
