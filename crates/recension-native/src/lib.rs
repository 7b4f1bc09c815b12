//! The native engine: the log is the database, the index is a help that can be rebuilt.
//!
//! A commit goes: [`NativeEngine::commit`] -> `group` (one caller leads) -> `commit` (check, number,
//! encode) -> `log` (one write, one sync) -> `index` (shown to readers). A read goes: snapshot ->
//! `index` (memory, then runs) -> `segment` (the row, checked). docs/format.md has every byte.

mod backup;
mod chain;
mod cipher;
mod commit;
mod copying;
mod counters;
pub mod disk;
mod entry;
mod erased;
mod first_key;
mod forgotten;
mod format;
mod index;
mod index_files;
mod install;
mod kept_versions;
mod keyed;
mod log;
mod machine;
mod maintenance;
mod manifest;
mod mark;
mod mem;
mod mem_table;
mod moved;
mod open;
mod options;
mod range_rows;
mod record;
mod recovery;
mod removal;
mod retention;
mod run;
mod salvage;
mod scratch;
mod sealed_by;
mod sealing;
mod segment;
mod settle;
mod settled;
mod settled_files;
mod shared;
mod snapshot;
mod sorted;
mod times;
mod trail;
mod tree_keys;
mod verify;
mod walk;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::thread::JoinHandle;
use std::time::Duration;

pub use self::backup::is_same_store;
pub use self::chain::Chain;
pub use self::copying::{is_begun_copy, is_empty_place};
pub use self::disk::Key;
pub use self::format::NEWEST_FORMAT;
pub use self::open::format_version;
pub use self::options::{Maintenance, NativeOptions};
pub use self::salvage::{SalvageReport, salvage};
pub use self::sealing::{KeyStatus, add_key, change_key, key_status};

use self::commit::{CommitAnswer, CommitRequest, commit_group};
use self::open::Access;
use self::settle::{Extent, SettleError};
use self::shared::Shared;
use self::snapshot::NativeSnapshot;
use recension_engine::{
    BackupReport, Batch, CommitInfo, Engine, EngineError, ErasedKey, KeyRange, Profile, Reads, Result, RetentionRule,
    Seq, Snapshot, Stats, Timestamp, TreeId, TreeKeys, VerifyReport,
};

use crate::disk::{Disk, FsDisk};

/// A store in a directory of its own, held by one process.
///
/// Dropping it closes it: data in memory is written, and the next open replays nothing. [`NativeEngine::close`] does
/// the same and answers errors.
pub struct NativeEngine {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    closed: bool,
}

impl NativeEngine {
    /// Opens the store in `disk`, or makes one.
    ///
    /// It takes time in proportion to the log behind the last checkpoint (at most `checkpoint_log_bytes` and the data
    /// that was in memory), or to the whole log if the index is missing.
    ///
    /// # Errors
    /// [`EngineError::Locked`], [`EngineError::NotAStore`], [`EngineError::NewerFormat`],
    /// [`EngineError::Damaged`], [`EngineError::Io`]: nothing was changed.
    #[allow(clippy::needless_pass_by_value)] // callers build options for one call
    pub fn open(disk: Arc<dyn Disk>, options: NativeOptions) -> Result<Self> {
        Self::open_as(disk, &options, Access::Usual)
    }

    /// Opens the store in `folder` for reading, without changing a byte there: a copy, a backup, a store on read-only
    /// media or of another user. No process may have it open for writing; any number may read it in this way.
    ///
    /// The writes of recovery, and missing parts of the index, are kept in memory. Reads answer as usual. Everything
    /// that would change the store is refused with [`EngineError::ReadOnly`].
    ///
    /// # Errors
    /// Those of [`NativeEngine::open`].
    pub fn open_read_only(folder: &Path, options: NativeOptions) -> Result<Self> {
        let disk = Arc::new(disk::ReadOnlyDisk::new(folder));
        let quiet =
            NativeOptions { create: false, maintenance: Maintenance::Inline, settle_log_bytes: None, ..options };
        Self::open_as(disk, &quiet, Access::ReadOnly)
    }

    /// Opens a store that has been sealed ([`Engine::seal`]), whoever sealed it, to continue its move. It takes no
    /// commits.
    ///
    /// # Errors
    /// Those of [`NativeEngine::open`].
    pub fn open_moved(disk: Arc<dyn Disk>, options: NativeOptions) -> Result<Self> {
        Self::open_as(disk, &NativeOptions { create: false, ..options }, Access::Moved)
    }

    /// Opens a store that a copy fills.
    fn open_copy(disk: Arc<dyn Disk>, options: &NativeOptions) -> Result<Self> {
        Self::open_as(disk, options, Access::Copy)
    }

    fn open_as(disk: Arc<dyn Disk>, options: &NativeOptions, access: Access) -> Result<Self> {
        let place = disk.location();
        let opened = open::open(disk, options, access).map_err(|error| open::at_the_store(error, &place));
        let shared = Arc::new(opened?);
        shared.signal.want(); // a rebuilt index may have runs to merge
        let mut engine = NativeEngine { shared, threads: Vec::new(), closed: false };
        match options.maintenance {
            Maintenance::Background => {
                engine.spawn("recension-maintenance", maintenance::run_thread)?;
                engine.spawn("recension-settling", maintenance::run_settling)?;
                engine.spawn("recension-mark", trail::run_marking)?;
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

    /// Writes the data in memory, gives unused space back and closes the store.
    pub fn close(mut self) -> Result<()> {
        self.shut()
    }

    fn shut(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.closed, true) || self.shared.read_only {
            return Ok(());
        }
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.signal.stop();
        self.shared.settling.signal.stop();
        self.shared.trail.stop();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        self.shared.check_writable()?;
        self.checkpoint()?;
        self.shared.leader.lock().log.trim()
    }

    /// Settles everything, as [`Engine::settle`] does, and writes what was settled before anew: with the newest key of
    /// an encrypted store ([`add_key`]). Takes time in proportion to the store; commits go on meanwhile.
    pub fn renew(&self) -> Result<()> {
        self.settle()?;
        self.shared.renew_settled().map_err(|error| match error {
            SettleError::NothingChanged(error) => error,
            SettleError::Publishing(error) => {
                self.shared.poison(&error);
                error
            }
        })
    }

    /// Why the index was built anew when the store was opened, if it was.
    pub fn index_rebuilt(&self) -> Option<&str> {
        self.shared.index_rebuilt.as_deref()
    }
}

impl Drop for NativeEngine {
    fn drop(&mut self) {
        // Anything that cannot be written now is in the log and is replayed at the next open.
        let _ = self.shut();
    }
}

impl Engine for NativeEngine {
    fn head(&self) -> Seq {
        self.shared.head()
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        let (head, state) = self.shared.head_state();
        Ok(self.shared.opened(NativeSnapshot::new(state, head)))
    }

    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>> {
        let (head, state) = self.shared.head_state();
        if seq > head {
            return Err(EngineError::NotYet { asked: seq, head });
        }
        Ok(self.shared.opened(NativeSnapshot::new(state, seq)))
    }

    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>> {
        let (head, state) = self.shared.head_state();
        state.times.last(&state, head, |commit| commit.time <= time)
    }

    fn commit(&self, batch: Batch) -> Result<CommitInfo> {
        let batch = self.shared.with_values_sealed(batch)?;
        let keeps_moments = batch.keeps_moments();
        let answer =
            match self.shared.queue.submit(CommitRequest::One(batch), |asked| commit_group(&self.shared, asked)) {
                Some(CommitAnswer::One(answer)) => answer,
                Some(CommitAnswer::Several(_)) | None => Err(self.shared.panicked()),
            };
        if keeps_moments {
            self.shared.after_keeping();
        }
        answer
    }

    fn commit_all(&self, batches: Vec<Batch>) -> Vec<Result<CommitInfo>> {
        // A batch that is too large is refused alone.
        let mut taken = Vec::with_capacity(batches.len());
        let refused: Vec<_> = batches
            .into_iter()
            .map(|batch| self.shared.with_values_sealed(batch).map(|batch| taken.push(batch)).err())
            .collect();
        let keeps_moments = taken.iter().any(Batch::keeps_moments);
        let asked = CommitRequest::Several(taken);
        let answers = match self.shared.queue.submit(asked, |asked| commit_group(&self.shared, asked)) {
            Some(CommitAnswer::Several(answers)) => answers,
            Some(CommitAnswer::One(_)) | None => Vec::new(),
        };
        if keeps_moments {
            self.shared.after_keeping();
        }
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
        self.shared.check_writable()?;
        self.shared.parts_to_runs()
    }

    fn forget(&self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<()> {
        let shared = &self.shared;
        let _takes_commits = shared.check_takes_commits()?;
        let head = shared.head();
        if before > head {
            return Err(EngineError::NotYet { asked: before, head });
        }
        match shared.settled_files.forget(tree, range, before, || shared.kept()) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => {
                shared.replace_state(|state| shared.show_retained(state));
                Ok(())
            }
            Err(refusal @ (EngineError::TooLarge { .. } | EngineError::Kept { .. })) => Err(refusal),
            // Whether a crash would bring the range back is unknown.
            Err(error) => {
                shared.poison(&error);
                Err(error)
            }
        }
    }

    fn erase(&self, erased: &[ErasedKey]) -> Result<()> {
        self.shared.erase(erased)
    }

    fn set_retention(&self, rules: &[RetentionRule]) -> Result<()> {
        self.shared.set_retention(rules)
    }

    fn retention(&self) -> Result<Vec<RetentionRule>> {
        Ok(self.shared.settled_files.rules().iter().collect())
    }

    /// Moves everything into one settled file, in key order and compressed, leaves out forgotten versions, and frees
    /// the log's disk space. The background does this in time, for the parts that are due.
    ///
    /// It takes time in proportion to the store; commits go on meanwhile.
    fn settle(&self) -> Result<()> {
        let shared = &self.shared;
        shared.check_writable()?;
        shared.prepare_segment();
        {
            let mut leader = shared.leader.lock();
            shared.check_writable()?;
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
        let head = shared.head();
        let settled = shared.settle(Extent::Everything).and_then(|()| shared.release_log(head));
        match settled {
            // Usually the new segment has no commits: its room is given back.
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
        self.backup_to(&(Arc::new(FsDisk::new(to)) as Arc<dyn Disk>))
    }

    fn backup_indexed(&self, to: &Path) -> Result<BackupReport> {
        self.backup_indexed_to(&(Arc::new(FsDisk::new(to)) as Arc<dyn Disk>))
    }

    fn seal(&self, to: &str) -> Result<Seq> {
        self.shared.seal(to)
    }

    fn unseal(&self) -> Result<()> {
        self.shared.unseal()
    }

    fn tree_keys(&self) -> Option<&dyn TreeKeys> {
        self.shared.tree_keys.as_deref().map(|keys| keys as &dyn TreeKeys)
    }

    fn verify(&self) -> Result<VerifyReport> {
        verify::verify(&self.shared)
    }

    fn check_writes(&self) -> Result<()> {
        self.shared.check_takes_commits().map(drop)?;
        self.shared.check_room()
    }

    fn profile(&self) -> Profile {
        Profile::default().with_reads(Reads::MappedFiles)
    }

    fn stats(&self) -> Result<Stats> {
        verify::stats(&self.shared)
    }
}
