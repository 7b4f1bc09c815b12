//! The engine over a shared log. A commit goes: [`ReplicatedEngine::commit`] -> `commit` (one caller leads: check,
//! encode, append) -> `core` (apply to the cache) -> answer. A read is the cache's own. `follow` applies what other
//! nodes write.

mod cache;
mod clock;
mod commit;
mod core;
mod follow;
mod head;
mod overlay;
mod seen;
mod spent;
mod turns;

use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::thread::JoinHandle;
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use parking_lot::{Condvar, Mutex};
use recension_engine::pacing::CommitQueue;
use recension_engine::{
    BackupReport, Batch, Clock, CommitInfo, Engine, EngineError, ErasedKey, HeadSignal, KeyRange, Problem, Profile,
    Result, RetentionRule, Seq, Snapshot, Stats, SystemClock, Timestamp, TreeId, VerifyReport,
};

pub use self::cache::{Cache, DiscardedCache, discard_cache};
pub(crate) use self::head::{Head, decode_head, encode_head};

use self::cache::Folder;
use self::commit::{Answer, Work, lead};
use self::core::{Core, Stop};
use self::seen::Proof;
use crate::nodes::Seen;
use crate::record::{self, Chain, Header, Id, Kind};
use crate::{Appended, LogError, LogProfile, Position, SharedLog, limits};

/// Options of opening an engine over a log.
#[derive(Clone)]
#[non_exhaustive]
pub struct ReplicatedOptions {
    /// The clock of this node's commits.
    pub clock: Arc<dyn Clock>,
    /// How long a commit waits for a log that does not answer. Default 10 s.
    pub patience: Duration,
    /// Bytes of records since the newest snapshot after which this node writes one, and trims the log; `None`: never.
    /// Default 256 MiB.
    pub snapshot_bytes: Option<u64>,
    /// The name of this node in the status of the cluster; if it is empty, the node is not listed.
    pub node: String,
    /// How often a listed node publishes its position. Default 5 s.
    pub node_interval: Duration,
}

impl Default for ReplicatedOptions {
    fn default() -> Self {
        ReplicatedOptions {
            clock: Arc::new(SystemClock),
            patience: limits::PATIENCE,
            snapshot_bytes: Some(limits::SNAPSHOT_BYTES),
            node: String::new(),
            node_interval: limits::NODE_INTERVAL,
        }
    }
}

/// A store whose commits a shared log decides. Dropping it closes it.
pub struct ReplicatedEngine {
    shared: Arc<Shared>,
    follower: Option<JoinHandle<()>>,
}

struct Shared {
    log: Arc<dyn SharedLog>,
    profile: LogProfile,
    /// Changed under the lock of `core` alone.
    cache: ArcSwap<Store>,
    folder: Option<Folder>,
    clock: Arc<dyn Clock>,
    writer: Id,
    patience: Duration,
    snapshot_bytes: Option<u64>,
    node: String,
    node_interval: Duration,
    queue: CommitQueue<Vec<Work>, Vec<Answer>>,
    /// Callers that need everything that was acknowledged.
    refreshes: CommitQueue<(), Result<Seq>>,
    core: Mutex<Core>,
    /// The other nodes' positions, on which trimming depends.
    seen: Mutex<Seen>,
    /// Held while a snapshot is written.
    snapshots: Mutex<()>,
    /// Why no more commits are taken.
    poison: OnceLock<EngineError>,
    /// What the follower met at its last turn, if it did not get on.
    failing: Mutex<Option<EngineError>>,
    /// The log has other records than this node: nothing is read either.
    astray: AtomicBool,
    stopping: AtomicBool,
    /// Tells the follower that there may be something to note.
    work: Condvar,
    /// Wakes those that wait for the head.
    signal: Arc<HeadSignal>,
}

/// The engine in which this node's cache is at the moment.
struct Store(Arc<dyn Engine>);

impl Store {
    fn engine(&self) -> Arc<dyn Engine> {
        self.0.clone()
    }
}

impl Deref for Store {
    type Target = dyn Engine;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl Shared {
    fn poison(&self, error: &EngineError) {
        let _ = self.poison.set(error.clone());
    }

    fn check_poison(&self) -> Result<()> {
        match self.poison.get() {
            None => Ok(()),
            Some(
                damage @ (EngineError::Damaged { .. } | EngineError::NewerFormat { .. } | EngineError::Diverged { .. }),
            ) => Err(damage.clone()),
            Some(error) => Err(EngineError::Poisoned { cause: error.to_string() }),
        }
    }

    /// The cache, unless the log has other records.
    fn read(&self) -> Result<Guard<Arc<Store>>> {
        if self.astray.load(Ordering::Acquire) {
            self.check_poison()?;
        }
        Ok(self.cache())
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// A record of ours was written.
    fn written(&self) {
        self.work.notify_all();
    }

    fn cache(&self) -> Guard<Arc<Store>> {
        self.cache.load()
    }

    /// Keeps in mind why it does not go on, and answers what to say of it.
    fn stopped(&self, core: &mut Core, stop: Stop) -> EngineError {
        match &stop {
            Stop::Log(_) => core.proof.doubt(),
            Stop::Astray(error) => {
                let error = seen::refusal(error.clone(), self.folder.as_ref().map(Folder::path));
                self.poison(&error);
                self.astray.store(true, Ordering::Release);
                // Those that wait for news find out why there are none.
                core.signal.moved();
                return error;
            }
            Stop::Behind(_) if self.folder.is_some() => {
                core.behind = true;
                self.log.wake();
            }
            // Nobody knows a way on.
            Stop::Behind(_) => self.poison(&EngineError::Unsupported {
                engine: "shared log",
                what: "begin a cache in memory with a snapshot, and the log was trimmed; name a directory with ?cache=",
            }),
            Stop::Broken(error) => self.poison(error),
        }
        stop.into_error()
    }

    /// Applies what was there when it began.
    fn refresh(&self) -> Result<Seq> {
        let known = self.core.lock().head.position;
        let tail = self.log.tail(known);
        let tail = match tail {
            Ok(tail) if tail > known => tail,
            Ok(_) => {
                let stop = LogError::diverged(known, "the log ends before it").into();
                return Err(self.stopped(&mut self.core.lock(), stop));
            }
            Err(error) => return Err(self.stopped(&mut self.core.lock(), error.into())),
        };
        if tail > known.next() {
            self.catch_up()?;
        } else {
            self.prove(limits::PROOF_INTERVAL)?;
        }
        Ok(self.cache().head())
    }

    /// Compares the newest record of this node with the log, if that was last done so long ago.
    fn prove(&self, interval: Duration) -> Result<()> {
        self.check_poison()?;
        let head = {
            let core = self.core.lock();
            if !core.proof.is_older(interval) {
                return Ok(());
            }
            core.head
        };
        let checked = seen::check(&*self.log, head.position, head.chain);
        let mut core = self.core.lock();
        match checked {
            Ok(()) => {
                core.proof.renew();
                Ok(())
            }
            Err(error) => Err(self.stopped(&mut core, error.into())),
        }
    }

    /// Applies everything that the log has. It is read while others commit: they wait for what is applied, and not for
    /// the log's answer.
    fn catch_up(&self) -> Result<()> {
        self.prove(limits::PROOF_INTERVAL)?;
        loop {
            let known = self.core.lock().head.position;
            let read = self.log.read(known.next(), limits::READ_BYTES);
            let mut core = self.core.lock();
            let records = match read {
                Ok(records) if records.is_empty() => return Ok(()),
                Ok(records) => records,
                // It has gone on meanwhile, perhaps from a snapshot.
                Err(_) if core.head.position != known => continue,
                Err(error) => return Err(self.stopped(&mut core, error.into())),
            };
            let cache = self.cache().engine();
            for (position, record) in records {
                if position > core.head.position
                    && let Err(stop) = core.apply_read(&*self.log, &cache, position, &record)
                {
                    return Err(self.stopped(&mut core, stop));
                }
            }
        }
    }
}

impl ReplicatedEngine {
    /// Opens the store that lives on `log`, or makes it, and reads up to the log's end.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`]; [`EngineError::NotAStore`] if the cache is another log's;
    /// [`EngineError::Diverged`] if the log has lost what the cache has; [`EngineError::Damaged`];
    /// [`EngineError::NewerFormat`]; [`EngineError::Locked`] if another process has the cache.
    #[allow(clippy::needless_pass_by_value)] // callers build options for one call
    pub fn open(log: Arc<dyn SharedLog>, cache: &Cache, options: ReplicatedOptions) -> Result<Self> {
        let writer = Id::random()?;
        let (id, moved) = identity(&*log, writer, cache)?;
        let cache::OpenCache { engine, head, folder } = cache::open(cache, &*log, id, options.clock.clone())?;
        let signal = Arc::new(HeadSignal::default());
        let core = Core {
            head,
            number: 2,
            moved,
            bytes_since_note: 0,
            bytes_since_snapshot: 0,
            foreign: 0,
            turns: turns::Turns::default(),
            spent: spent::Spent::default(),
            store: folder.as_ref().map_or(0, Folder::number),
            behind: false,
            proof: Proof::default(),
            seen: folder.as_ref().map(Folder::seen).transpose()?,
            signal: signal.clone(),
        };
        let shared = Arc::new(Shared {
            profile: log.profile(),
            log,
            cache: ArcSwap::from_pointee(Store(engine)),
            folder,
            clock: options.clock,
            writer,
            patience: options.patience,
            snapshot_bytes: options.snapshot_bytes,
            node: options.node,
            node_interval: options.node_interval,
            queue: CommitQueue::patient(limits::GROUP_WAIT),
            refreshes: CommitQueue::new(),
            core: Mutex::new(core),
            seen: Mutex::default(),
            snapshots: Mutex::default(),
            poison: OnceLock::new(),
            failing: Mutex::default(),
            astray: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            work: Condvar::new(),
            signal,
        });
        shared.catch_up_anew()?;
        shared.check_ends()?;
        let follower = follow::spawn(shared.clone())?;
        Ok(ReplicatedEngine { shared, follower: Some(follower) })
    }

    /// The log below.
    pub fn log(&self) -> &Arc<dyn SharedLog> {
        &self.shared.log
    }

    /// The position of the newest record that this node has applied, and the hash over all records up to it.
    pub fn position(&self) -> (Position, [u8; 32]) {
        let head = self.shared.core.lock().head;
        (head.position, head.chain.0)
    }

    /// Writes into the log that the store has moved to `to`: no node takes a commit here any more.
    pub fn moved_to(&self, to: &str) -> Result<CommitInfo> {
        if to.len() > limits::TEXT_BYTES_MAX {
            return Err(EngineError::TooLarge {
                what: "bytes in an address",
                len: to.len(),
                max: limits::TEXT_BYTES_MAX,
            });
        }
        self.one(Work::Move(to.to_owned()))
    }

    /// Writes a snapshot with which new nodes begin.
    pub fn write_snapshot(&self) -> Result<()> {
        self.shared.write_snapshot()
    }

    fn submit(&self, work: Vec<Work>) -> Vec<Answer> {
        let count = work.len();
        match self.shared.queue.submit(work, |asked| lead(&self.shared, asked)) {
            Some(answers) if answers.len() == count => answers,
            _ => {
                let error = EngineError::Poisoned { cause: "a commit ended in a panic".to_owned() };
                self.shared.poison(&error);
                (0..count).map(|_| Err(error.clone())).collect()
            }
        }
    }

    fn one(&self, work: Work) -> Answer {
        self.submit(vec![work]).pop().unwrap_or(Err(EngineError::Poisoned { cause: String::new() }))
    }
}

/// The log's identity, from its first record, and the store's new address, if it has moved.
fn identity(log: &dyn SharedLog, writer: Id, cache: &Cache) -> Result<(Id, Option<String>)> {
    loop {
        let tail = log.tail(Position(0))?;
        if tail > Position::FIRST {
            let newest = tail.before();
            let Some((position, bytes)) = log.read(newest, 1)?.into_iter().next() else { continue };
            let (header, body) = record::decode(position, &bytes)?;
            // No record may follow it.
            let moved = (header.kind == Kind::Moved).then(|| String::from_utf8_lossy(body).into_owned());
            return Ok((header.log, moved));
        }
        // A store does not begin anew where there was one.
        if let Some((head, folder)) = cache::log_of(cache) {
            return Err(seen::refusal(LogError::diverged(head.position, "the log is empty"), Some(folder)));
        }
        let header = Header {
            kind: Kind::Genesis,
            log: Id::random()?,
            writer,
            number: 1,
            position: Position::FIRST,
            seq_before: Seq::ZERO,
            time: Timestamp(0),
            chain_before: Chain::default(),
        };
        match log.append(Position::FIRST, &record::encode(&header, b"")) {
            // The record tells which node was first.
            Ok(Appended::Written | Appended::Taken) | Err(LogError::Unknown(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

impl Drop for ReplicatedEngine {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.work.notify_all();
        self.shared.log.wake();
        if let Some(follower) = self.follower.take() {
            let _ = follower.join();
        }
        // Records that the note does not cover are read again.
        let _ = self.shared.note();
    }
}

impl Engine for ReplicatedEngine {
    fn head(&self) -> Seq {
        self.shared.cache().head()
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        self.shared.read()?.snapshot()
    }

    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>> {
        self.shared.read()?.snapshot_at(seq)
    }

    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>> {
        self.shared.read()?.commit_at(time)
    }

    fn commit(&self, batch: Batch) -> Result<CommitInfo> {
        batch.check_limits()?;
        self.one(Work::Commit(batch))
    }

    fn commit_all(&self, batches: Vec<Batch>) -> Vec<Result<CommitInfo>> {
        let refused: Vec<_> = batches.iter().map(|batch| batch.check_limits().err()).collect();
        let taken = batches.into_iter().zip(&refused).filter(|(_, refused)| refused.is_none());
        let mut answers = self.submit(taken.map(|(batch, _)| Work::Commit(batch)).collect()).into_iter();
        let mut next = || answers.next().unwrap_or(Err(EngineError::Poisoned { cause: String::new() }));
        refused.into_iter().map(|refused| refused.map_or_else(&mut next, Err)).collect()
    }

    fn refresh(&self) -> Result<Seq> {
        // One look at the tail serves all callers that asked before it.
        let asked = self.shared.refreshes.submit((), |asked| {
            let refreshed = self.shared.refresh();
            asked.iter().map(|()| refreshed.clone()).collect()
        });
        asked.unwrap_or_else(|| Err(EngineError::Poisoned { cause: "a refresh ended in a panic".to_owned() }))
    }

    /// By what the follower last met, so that nobody waits for a log that hangs.
    fn check_writes(&self) -> Result<()> {
        self.shared.check_poison()?;
        if let Some(error) = &*self.shared.failing.lock() {
            return Err(error.clone());
        }
        // A commit that is under way says where the store has moved by itself.
        if let Some(core) = self.shared.core.try_lock()
            && let Some(to) = &core.moved
        {
            return Err(EngineError::Moved { to: to.clone() });
        }
        self.shared.cache().check_writes()
    }

    fn wait_beyond(&self, seq: Seq, timeout: Duration) -> Seq {
        self.shared.signal.wait_beyond(seq, timeout, || self.head())
    }

    fn wake_beyond(&self, seq: Seq, waker: &Waker) -> bool {
        self.shared.signal.wake_beyond(seq, waker, || self.head())
    }

    fn checkpoint(&self) -> Result<()> {
        self.shared.check_poison()?;
        self.shared.note()
    }

    fn forget(&self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<()> {
        self.one(Work::Forget { tree, range: range.clone(), before }).map(drop)
    }

    fn set_retention(&self, rules: &[RetentionRule]) -> Result<()> {
        self.one(Work::Rules(rules.to_vec())).map(drop)
    }

    fn retention(&self) -> Result<Vec<RetentionRule>> {
        self.shared.read()?.retention()
    }

    /// The caches leave them out at once; the log's records hold them until a snapshot replaces the records.
    fn erase(&self, erased: &[ErasedKey]) -> Result<()> {
        self.one(Work::Erase(erased.to_vec())).map(drop)
    }

    fn settle(&self) -> Result<()> {
        self.shared.cache().settle()
    }

    fn backup(&self, to: &Path) -> Result<BackupReport> {
        self.shared.read()?.backup(to)
    }

    fn seal(&self, to: &str) -> Result<Seq> {
        match self.moved_to(to) {
            Err(EngineError::Moved { to: known }) if known == to => Ok(self.head()),
            sealed => sealed.map(|_| self.head()),
        }
    }

    fn verify(&self) -> Result<VerifyReport> {
        let mut report = self.shared.cache().verify()?;
        self.shared.verify_log(&mut report)?;
        if let Err(error @ EngineError::Diverged { .. }) = self.shared.check_poison() {
            let what = error.to_string();
            report.problems.push(Problem { file: "shared log".to_owned(), offset: 0, what });
        }
        Ok(report)
    }

    fn profile(&self) -> Profile {
        self.shared.cache().profile().with_other_committers()
    }

    fn stats(&self) -> Result<Stats> {
        let mut stats = self.shared.cache().stats()?;
        let core = self.shared.core.lock();
        stats.engine = self.shared.profile.system;
        stats.details.push(("log position", core.head.position.0, "records"));
        stats.details.push(("records of other nodes", core.foreign, "records"));
        stats.details.push(("begun anew with a snapshot", core.store, "times"));
        stats.details.extend(core.spent.details());
        Ok(stats)
    }
}
