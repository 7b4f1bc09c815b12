//! The state that the engine's threads share. Callers of commits use the queue, the leader and the trail; readers the
//! state and the head; the maintenance thread the index files; the settling thread the settled files.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use parking_lot::{Condvar, Mutex, RwLock, RwLockReadGuard};
use recension_engine::pacing::CommitQueue;
use recension_engine::{Clock, Durability, EngineError, HeadSignal, Result, Seq};

use super::commit::{CommitAnswer, CommitRequest, Leader};
use super::index::State;
use super::index_files::IndexFiles;
use super::log::SegmentMaker;
use super::maintenance;
use super::options::{Maintenance, NativeOptions};
use super::removal::Doomed;
use super::sealed_by::Sealed;
use super::segment::Segment;
use super::settled_files::SettledFiles;
use super::trail::Trail;
use super::tree_keys::KeyRing;
use crate::disk::{Disk, DiskLock};

/// For how long a disk that had no room is taken to have none.
const ROOM_KNOWN: Duration = Duration::from_secs(30);

/// The state that the engine's threads share.
pub(super) struct Shared {
    pub(super) disk: Arc<dyn Disk>,
    /// By what its files are sealed, if they are.
    pub(super) sealed: Option<Arc<Sealed>>,
    /// The keys of blocks of trees, if its files are sealed.
    pub(super) tree_keys: Option<Arc<KeyRing>>,
    pub(super) durability: Durability,
    pub(super) index_memory_bytes: u64,
    pub(super) checkpoint_log_bytes: u64,
    pub(super) merge_fan_in: usize,
    pub(super) maintenance: Maintenance,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) queue: CommitQueue<CommitRequest, CommitAnswer>,
    pub(super) leader: Mutex<Leader>,
    pub(super) maker: Arc<SegmentMaker>,
    pub(super) files: IndexFiles,
    /// The readers' view. It is replaced, never changed.
    pub(super) state: ArcSwap<State>,
    pub(super) replacing_state: Mutex<()>,
    /// The newest commit that readers see.
    pub(super) head: Arc<AtomicU64>,
    /// The newest commit known to be synced.
    pub(super) durable: AtomicU64,
    /// The end of the log, and its mark.
    pub(super) trail: Trail,
    pub(super) head_signal: HeadSignal,
    /// The reason for which no more commits are taken.
    pub(super) poison: OnceLock<String>,
    /// When the disk had no room for a commit, and its error; until a commit is made.
    pub(super) no_room: Mutex<Option<(Instant, EngineError)>>,
    pub(super) signal: maintenance::Signal,
    /// The part that commits are added to is worth a run once the store is at rest.
    pub(super) much_in_memory: AtomicBool,
    /// Held while runs are written.
    pub(super) maintaining: Mutex<()>,
    /// The segment that is half full, so that the next one is to be made ahead of need.
    pub(super) next_segment_after: Mutex<u32>,
    pub(super) flushed_lock: Mutex<()>,
    pub(super) flushed: Condvar,
    pub(super) settled_files: SettledFiles,
    pub(super) settling: Settling,
    pub(super) doomed: Doomed,
    /// Sealed segments whose unused ends are to be given back.
    pub(super) loose_ends: Mutex<Vec<Arc<Segment>>>,
    /// Segments before this one are settled.
    pub(super) first_segment: AtomicU32,
    /// The store is being closed.
    pub(super) stopping: Arc<AtomicBool>,
    pub(super) index_rebuilt: Option<String>,
    /// Nothing may be changed.
    pub(super) read_only: bool,
    /// The new address of a store that has moved. Code that changes it holds the lock until the change is complete.
    pub(super) moved: RwLock<Option<String>>,
    pub(super) _lock: DiskLock,
}

/// The parameters and state of settling (compaction of the log into settled files).
pub(super) struct Settling {
    /// The log's size at which it is due; `None`: only if it is asked for.
    pub(super) log_bytes: Option<u64>,
    pub(super) bytes_per_second: u64,
    pub(super) after_opening: Duration,
    pub(super) at_rest: Duration,
    /// `bytes_per_second`, or no limit while settling is behind.
    pub(super) pace: Arc<AtomicU64>,
    pub(super) signal: maintenance::Signal,
    /// Held while settled files are written.
    pub(super) one_at_a_time: Mutex<()>,
    /// Runs up to this seq are being settled; 0: none.
    pub(super) through: AtomicU64,
    /// The reason for which nothing is settled any more.
    pub(super) damaged: OnceLock<String>,
}

impl Settling {
    pub(super) fn new(options: &NativeOptions) -> Self {
        Settling {
            log_bytes: options.settle_log_bytes,
            bytes_per_second: options.settle_bytes_per_second,
            after_opening: options.settle_after_opening,
            at_rest: options.settle_at_rest,
            pace: Arc::new(AtomicU64::new(options.settle_bytes_per_second)),
            signal: maintenance::Signal::default(),
            one_at_a_time: Mutex::default(),
            through: AtomicU64::new(0),
            damaged: OnceLock::new(),
        }
    }
}

impl Shared {
    pub(super) fn head(&self) -> Seq {
        Seq(self.head.load(Ordering::Acquire))
    }

    pub(super) fn durable(&self) -> Seq {
        Seq(self.durable.load(Ordering::Acquire))
    }

    pub(super) fn set_durable(&self, seq: Seq) {
        self.durable.fetch_max(seq.0, Ordering::AcqRel);
    }

    pub(super) fn replace_state(&self, change: impl FnOnce(&mut State)) {
        let _one_at_a_time = self.replacing_state.lock();
        let mut state = State::clone(&self.state.load());
        change(&mut state);
        state.segments.drop_before(self.first_segment.load(Ordering::Acquire));
        self.state.store(Arc::new(state));
    }

    /// Shows commits up to `seq` to readers.
    pub(super) fn publish(&self, seq: Seq) {
        self.head.store(seq.0, Ordering::SeqCst);
        self.head_signal.moved();
    }

    /// Takes no more commits from here on.
    pub(super) fn poison(&self, failure: &EngineError) {
        let _ = self.poison.set(failure.to_string());
        let _guard = self.flushed_lock.lock();
        self.flushed.notify_all();
    }

    /// The error for a commit without an answer.
    pub(super) fn panicked(&self) -> EngineError {
        EngineError::Poisoned { cause: self.poison.get_or_init(|| "a commit ended in a panic".to_owned()).clone() }
    }

    /// Makes runs of all parts in memory. Those of a store that is only read are in memory too.
    pub(super) fn parts_to_runs(&self) -> Result<()> {
        {
            let mut leader = self.leader.lock();
            // After a failed group, the end of the log is unknown.
            self.check_poison()?;
            self.close_part(&mut leader);
        }
        let done = self.maintain().and_then(|_| self.trail.write());
        if let Err(error) = &done {
            self.poison(error);
        }
        done
    }

    /// Refuses changes of a store that cannot be changed.
    pub(super) fn check_writable(&self) -> Result<()> {
        if self.read_only { Err(EngineError::ReadOnly) } else { self.check_poison() }
    }

    /// The same for changes of the content: the store must not have moved, and does not move while the answer is held.
    pub(super) fn check_takes_commits(&self) -> Result<RwLockReadGuard<'_, Option<String>>> {
        self.check_writable()?;
        let moved = self.moved.read_recursive();
        match &*moved {
            None => Ok(moved),
            Some(to) => Err(EngineError::Moved { to: to.clone() }),
        }
    }

    /// Notes that the disk had no room for a commit.
    pub(super) fn note_room(&self, refusal: &EngineError) {
        if refusal.is_disk_full() {
            *self.no_room.lock() = Some((Instant::now(), refusal.clone()));
        }
    }

    /// The error of a commit that found no room, if that was lately. Later nobody knows, and commits are to be tried.
    pub(super) fn check_room(&self) -> Result<()> {
        match &*self.no_room.lock() {
            Some((when, error)) if when.elapsed() < ROOM_KNOWN => Err(error.clone()),
            _ => Ok(()),
        }
    }

    pub(super) fn check_poison(&self) -> Result<()> {
        match self.poison.get() {
            None => Ok(()),
            Some(cause) => Err(EngineError::Poisoned { cause: cause.clone() }),
        }
    }

    /// The head, with a state that has everything up to it.
    pub(super) fn head_state(&self) -> (Seq, Arc<State>) {
        // The head is read first: a state that is loaded later has all of it.
        let head = self.head();
        (head, self.state.load_full())
    }
}
