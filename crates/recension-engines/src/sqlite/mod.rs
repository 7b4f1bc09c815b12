//! The engine over `SQLite`: the contract on three plain tables. It is small enough to be checked by reading, so it can
//! be an oracle for the native engine. It must never return a row whose checksum is wrong, nor touch a database of
//! another application.
//!
//! ```text
//! current (tree, key -> seq, crc, value)    the newest version of every key ever written; no value: deleted
//! past    (tree, key, seq -> crc, value)    every older version
//! commits (seq -> time, rows, crc)          every commit, and how many row versions it wrote
//! forgotten, rules, cut, removed            what of the past is given up: `retention.rs`
//! unsettled_erasures                        whether erased rows may be in unused parts of the file: `erased.rs`
//! ```
//!
//! A commit moves the versions that it replaces from `current` to `past`. Unless history is given up, nothing else ever
//! changes, so a snapshot needs no open transaction. If a row of `current` is at or before the snapshot's commit, it is
//! the answer. If it is newer, the answer is in `past` already and stays there. This holds whatever is committed
//! between two statements. Deleted keys stay in `current`, so that a commit can depend on their absence.
//!
//! The tables have row ids rather than being `WITHOUT ROWID`: measured with 16-byte keys, puts of 1,500 bytes cost 46
//! us instead of 186 us, gets 11 us instead of 27 us, the file is less than half the size; ranges of 100 rows are 1.7
//! times slower at 300 bytes, faster from 1,500 bytes on.
//!
//! **Durability.** `Disk` is `synchronous=FULL` in WAL mode: the log is synced before a commit is acknowledged. On
//! macOS it is synced with `F_FULLFSYNC`, since a plain `fsync` there does not flush the drive's cache. `Process` and
//! `Memory` are `synchronous=NORMAL`: no sync at a commit, one at a checkpoint. Loss of power may lose the newest
//! commits but never the database.
//!
//! **Processes.** One handle of one process owns a store, through a lock on `FILE.lock`. A second one gets
//! [`EngineError::Locked`]. Other programs (the `sqlite3` shell, a backup) may read the file at any time. If one holds
//! it locked for writing, a commit waits for [`SqliteOptions::busy_timeout`], then fails, with nothing written. If one
//! has added or removed commits, the next commit notices that, and the store takes no more commits.

mod backup;
mod erased;
mod error;
mod file;
mod pool;
mod read;
mod retention;
mod rows;
mod verify;
mod write;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use recension::disk::DiskLock;
use recension::engine::{
    BackupReport, Batch, Clock, CommitInfo, Durability, Engine, EngineError, ErasedKey, HeadSignal, KeyRange, Profile,
    Reads, Result, RetentionRule, Seq, Snapshot, Stats, SystemClock, Timestamp, TreeId, VerifyReport,
};

use crate::limits::{BUSY_TIMEOUT, CACHE_KIB, PAGE_ROWS, READ_CONNECTIONS};
use error::ErrorContext;
use pool::Pool;
use read::SqliteSnapshot;
use retention::Retained;
use write::Writer;

/// Options of [`SqliteEngine::open`].
#[derive(Clone)]
pub struct SqliteOptions {
    /// The durability of commits that do not ask for another one. Default `Disk`.
    pub durability: Durability,
    /// The clock of commit times.
    pub clock: Arc<dyn Clock>,
    /// Whether a store is made if there is none. Default true.
    pub create: bool,
    /// Connections that read at the same time, at most. Default 8.
    pub read_connections: usize,
    /// Rows of a range that are fetched in one go, at most. Default 256.
    pub page_rows: usize,
    /// How long it waits for another program's lock on the file. Default 5 s.
    pub busy_timeout: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        SqliteOptions {
            durability: Durability::default(),
            clock: Arc::new(SystemClock),
            create: true,
            read_connections: READ_CONNECTIONS,
            page_rows: PAGE_ROWS,
            busy_timeout: BUSY_TIMEOUT,
        }
    }
}

/// An engine whose rows are in an `SQLite` database.
///
/// ```
/// use recension::engine::{Batch, Engine, TreeId};
/// use recension_engines::sqlite::{SqliteEngine, SqliteOptions};
/// # fn main() -> recension::engine::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// let engine = SqliteEngine::open(&dir.path().join("store.db"), SqliteOptions::default())?;
/// let mut batch = Batch::new();
/// batch.put(TreeId(1), b"pizza", b"pineapple");
/// engine.commit(batch)?;
/// assert_eq!(&*engine.snapshot()?.get(TreeId(1), b"pizza")?.unwrap(), b"pineapple");
/// # Ok(()) }
/// ```
pub struct SqliteEngine {
    shared: Arc<Shared>,
}

/// The part that the engine and its snapshots share. Fields are dropped in this order: readers come before the writer,
/// whose end folds the write-ahead log into the database. The lock comes last.
struct Shared {
    readers: Pool,
    writer: Mutex<Writer>,
    /// Held by a check or a checkpoint: a checkpoint cannot end while a check holds its snapshot.
    maintenance: Mutex<()>,
    head: Mutex<CommitInfo>,
    retained: Arc<RwLock<Retained>>,
    head_signal: HeadSignal,
    options: SqliteOptions,
    path: PathBuf,
    errors: ErrorContext,
    _lock: DiskLock,
}

impl SqliteEngine {
    /// Opens the store in the file at `path`, or makes one. The file's directory must exist.
    ///
    /// # Errors
    /// [`EngineError::Locked`] if it is open already, [`EngineError::NotAStore`] if the file is something else (it is
    /// left as it is), [`EngineError::NewerFormat`], [`EngineError::Damaged`].
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self> {
        let opened = file::open(path, &options)?;
        let head = opened.head;
        let writer = Writer::new(opened.writer, head, options.durability, opened.errors.clone())?;
        let shared = Shared {
            readers: Pool::new(
                opened.path.clone(),
                opened.errors.clone(),
                options.read_connections,
                options.busy_timeout,
            ),
            retained: writer.retained(),
            writer: Mutex::new(writer),
            maintenance: Mutex::new(()),
            head: Mutex::new(head),
            head_signal: HeadSignal::default(),
            options,
            path: opened.path,
            errors: opened.errors,
            _lock: opened.lock,
        };
        Ok(SqliteEngine { shared: Arc::new(shared) })
    }
}

impl Engine for SqliteEngine {
    fn head(&self) -> Seq {
        self.shared.head.lock().seq
    }

    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>> {
        let head = self.head();
        if seq > head {
            return Err(EngineError::NotYet { asked: seq, head });
        }
        Ok(Arc::new(SqliteSnapshot::new(self.shared.clone(), seq)))
    }

    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>> {
        read::commit_at(&self.shared, self.head(), time)
    }

    fn commit(&self, mut batch: Batch) -> Result<CommitInfo> {
        batch.check_limits()?;
        let mut writer = self.shared.writer.lock();
        let durability = batch.asked_durability().unwrap_or(self.shared.options.durability);
        let commit = writer.commit(&mut batch, durability, &*self.shared.options.clock)?;
        // The head is published under the writer's lock, so that it only ever moves forward.
        *self.shared.head.lock() = commit;
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
        let _alone = self.shared.maintenance.lock();
        self.shared.writer.lock().checkpoint()
    }

    /// Commits wait until the forgotten versions are removed.
    fn forget(&self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<()> {
        self.shared.writer.lock().forget(tree, range, before)
    }

    /// Commits wait until the erased versions are removed.
    fn erase(&self, erased: &[ErasedKey]) -> Result<()> {
        self.shared.writer.lock().erase(erased)
    }

    fn set_retention(&self, rules: &[RetentionRule]) -> Result<()> {
        self.shared.writer.lock().set_rules(rules)
    }

    fn retention(&self) -> Result<Vec<RetentionRule>> {
        Ok(self.shared.retained.read().rules.iter().collect())
    }

    /// Gives up versions that the rules do not keep, and gives the disk back. Only this call does so. Commits wait
    /// meanwhile.
    fn settle(&self) -> Result<()> {
        let _alone = self.shared.maintenance.lock();
        let mut writer = self.shared.writer.lock();
        let head = self.head();
        let commit_at =
            |time| read::commit_at(&self.shared, head, time).map(|found| found.map_or(Seq::ZERO, |c| c.seq));
        writer.keep_to_rules(self.shared.options.clock.now(), commit_at)
    }

    fn backup(&self, to: &Path) -> Result<BackupReport> {
        backup::backup(&self.shared, to)
    }

    fn verify(&self) -> Result<VerifyReport> {
        let _alone = self.shared.maintenance.lock();
        let connection = file::connect_reader(&self.shared.path, self.shared.options.busy_timeout)
            .map_err(|error| self.shared.errors.map(error))?;
        verify::verify(&connection, &self.shared.errors)
    }

    /// A read may wait for a connection, for a lock of another program and for the disk.
    fn profile(&self) -> Profile {
        Profile::default().with_reads(Reads::Others)
    }

    fn stats(&self) -> Result<Stats> {
        let mut sizes = [0; 3];
        for (size, suffix) in sizes.iter_mut().zip(["", "-wal", "-shm"]) {
            // If there is no log, it takes no bytes.
            *size = fs::metadata(file::beside(&self.shared.path, suffix)).map_or(0, |data| data.len());
        }
        let connections = self.shared.readers.open_connections() as u64 + 1;
        Ok(Stats {
            engine: "sqlite",
            head: self.head(),
            disk_bytes: sizes.iter().sum(),
            memory_bytes: connections * CACHE_KIB * 1024,
            details: vec![
                ("database", sizes[0], "bytes"),
                ("write-ahead log", sizes[1], "bytes"),
                ("connections", connections, "connections"),
            ],
        })
    }
}
