//! The engine contract: ordered trees of rows. Every version is stamped with the commit that wrote it, and every read
//! names the commit that it wants to see. Documents, history, changes and time travel are built on this and on nothing
//! else. Each engine passes the one suite in `conformance/`.

mod address;
mod batch;
mod branch;
mod branch_rows;
pub mod budget;
mod clock;
mod erased;
mod error;
mod head_signal;
pub mod limits;
mod memory;
pub mod pacing;
mod profile;
mod retention;
mod scratch;
mod tree_keys;
mod types;
mod utc;

use std::path::Path;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

pub use address::Address;
pub use batch::{Batch, BatchOperation, BatchRow, OWN_SEQ_BYTES, ReadDependency, ReadKeys, counters};
pub use branch::{
    BRANCHES_MAX, BranchEngine, BranchInfo, Branches, DEPTH_MAX, Fork, Kept, Merge, TagInfo, kept_key, kept_moment,
    kept_moments,
};
pub use branch_rows::{BRANCHES_TREE, BranchId};
pub use clock::{Clock, ManualClock, SystemClock};
pub use erased::{ErasedKey, ErasedVersions, check_erased, without_erased};
pub use error::{DamagedBytes, EngineError, Result};
pub use head_signal::HeadSignal;
pub use memory::MemoryEngine;
pub use profile::{Profile, Reads};
pub use retention::{BadRetention, Retention, RetentionRule, RetentionRules};
pub use scratch::Scratch;
pub use tree_keys::{KeyNumber, TreeKey, TreeKeyState, TreeKeys};
pub use types::{
    CommitInfo, Direction, Durability, KeyRange, Row, Seq, Timestamp, TreeId, Value, Version, Wanted,
    successor_of_prefix,
};

/// Rows in ascending or descending order of their keys.
pub type Rows<'s> = Box<dyn Iterator<Item = Result<Row<'s>>> + Send + 's>;

/// Keys in ascending order.
pub type Keys<'s> = Box<dyn Iterator<Item = Result<Vec<u8>>> + Send + 's>;

/// Versions of one row, newest first.
pub type Versions<'s> = Box<dyn Iterator<Item = Result<Version<'s>>> + Send + 's>;

/// A store of versioned rows.
///
/// All methods may be called from many threads at once. Readers never wait for writers.
pub trait Engine: Send + Sync + 'static {
    /// The newest commit that readers can see; [`Seq::ZERO`] in an empty store.
    fn head(&self) -> Seq;

    /// The store as of now.
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        self.snapshot_at(self.head())
    }

    /// The store as it was right after commit `seq`. Reads answer [`EngineError::Forgotten`] if [`Engine::forget`] has
    /// given up the history that they need.
    ///
    /// # Errors
    /// [`EngineError::NotYet`] beyond the head.
    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>>;

    /// The store as of now, with the rows that will be read first. An engine that is far away fetches them in the same
    /// round trip; others need not do anything.
    fn snapshot_with(&self, keys: &[(TreeId, &[u8])]) -> Result<Arc<dyn Snapshot>> {
        let _ = keys;
        self.snapshot()
    }

    /// The newest commit made at `time` or before; `None` when the store had none then.
    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>>;

    /// Applies a batch wholly or not at all. When it returns, the commit is visible to every later
    /// snapshot and as durable as was asked.
    ///
    /// A batch without rows makes no commit: its dependencies are checked and the head is answered.
    ///
    /// # Errors
    /// [`EngineError::Conflict`] if a read that the batch depends on is out of date: nothing was written.
    /// [`EngineError::NotYet`] if it depends on a commit that was not made: nothing was written.
    /// [`EngineError::TooLarge`]: nothing was written. [`EngineError::Poisoned`]: an earlier write failed. Any other
    /// error: this commit is not acknowledged and readers do not see it.
    fn commit(&self, batch: Batch) -> Result<CommitInfo>;

    /// Applies several batches, each as [`Engine::commit`] does and with its own answer, in their order. If the engine
    /// can, it waits for the disk once for all of them. A batch sees the writes of earlier ones as those of any other
    /// commit.
    fn commit_all(&self, batches: Vec<Batch>) -> Vec<Result<CommitInfo>> {
        batches.into_iter().map(|batch| self.commit(batch)).collect()
    }

    /// Catches up with every commit that was acknowledged anywhere before this call, and answers the head: later reads
    /// are at least as new as that. Only an engine that others commit to elsewhere has something to do.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`].
    fn refresh(&self) -> Result<Seq> {
        Ok(self.head())
    }

    /// Waits until the head is beyond `seq` or `timeout` has passed; returns the head.
    fn wait_beyond(&self, seq: Seq, timeout: Duration) -> Seq;

    /// Returns whether the head is beyond `seq`. If it is not, `waker` is woken once it may be. For tasks that must not
    /// hold a thread while they wait. A waker may be woken without reason: ask again then.
    fn wake_beyond(&self, seq: Seq, waker: &Waker) -> bool;

    /// Makes every acknowledged commit durable to power loss and bounds the work of the next open.
    fn checkpoint(&self) -> Result<()>;

    /// Gives up the history of a range before commit `before`; if `before` is the head, all history. Reads of the range
    /// as of `before` and of later commits answer as usual. From now on, reads of it as of an earlier commit answer
    /// [`EngineError::Forgotten`]. [`Snapshot::versions`] ends with the version that `before` had (left out if that is
    /// a deletion). A commit that depends on an earlier read is refused with [`EngineError::Conflict`], because it is
    /// not known any more what was written since. A snapshot that was open before may still answer. Times of commits
    /// are kept.
    ///
    /// It is durable when it returns. Disk space is freed in time.
    ///
    /// # Errors
    /// [`EngineError::NotYet`] beyond the head; [`EngineError::Kept`] if a kept moment of before needs that history;
    /// [`EngineError::Unsupported`].
    fn forget(&self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<()> {
        let _ = (tree, range, before);
        Err(EngineError::Unsupported { engine: self.stats()?.engine, what: "forget history" })
    }

    /// Sets standing rules for ranges, all of them or none. Each replaces the rule of its range.
    /// [`Retention::Everything`] is the absence of a rule.
    ///
    /// A rule is a promise: reads that need only the history that it keeps are answered. Other history is given up in
    /// time, or at once by [`Engine::settle`]. Until then it is answered rightly; from then on it is refused with
    /// [`EngineError::Forgotten`], even after the rule was changed. [`Snapshot::versions`] ends with the oldest kept
    /// version. A snapshot that was open before may still answer. A commit that depends on a read of history given up
    /// by "head only" or a duration is refused with [`EngineError::Conflict`].
    ///
    /// What a kept moment needs ([`kept_key`]) is not given up: reads as of it, and as of later commits, are answered
    /// as long as it is kept, if they could be when it began to be.
    ///
    /// It is durable when it returns.
    ///
    /// # Errors
    /// [`EngineError::TooLarge`] beyond [`crate::limits::RETENTION_RULES_MAX`]; [`EngineError::Unsupported`].
    fn set_retention(&self, rules: &[RetentionRule]) -> Result<()> {
        let _ = rules;
        Err(EngineError::Unsupported { engine: self.stats()?.engine, what: "keep rules of retention" })
    }

    /// The standing rules. No key has two; if there are none, everything is kept.
    fn retention(&self) -> Result<Vec<RetentionRule>> {
        Ok(Vec::new())
    }

    /// Erases versions of keys, all of them or none. From now on they read as deletions, at every moment.
    /// [`Snapshot::versions`] leaves them out, or has a deletion if an older version is left. A snapshot that was open
    /// before may still answer. A commit that depends on a read of these trees as of a commit before the newest erased
    /// one is refused with [`EngineError::Conflict`].
    ///
    /// It is durable when it returns. After the next [`Engine::settle`], neither keys nor values are in any file of the
    /// store. Keys with other versions stay. So do files that an open snapshot reads, which are removed with the
    /// snapshot.
    ///
    /// # Errors
    /// [`EngineError::NotYet`] beyond the head; [`EngineError::TooLarge`] if too much waits to be settled;
    /// [`EngineError::Unsupported`].
    fn erase(&self, erased: &[ErasedKey]) -> Result<()> {
        let _ = erased;
        Err(EngineError::Unsupported { engine: self.stats()?.engine, what: "erase rows" })
    }

    /// Brings the store into its most compact form now, rather than in time: rows in order, forgotten history left out,
    /// disk space freed. An engine without such a form does nothing.
    fn settle(&self) -> Result<()> {
        Ok(())
    }

    /// Makes the place `to` (a folder or a file, like the engine's stores) a store that holds everything committed so
    /// far, while commits go on. An earlier backup of this store there is brought up to date.
    ///
    /// # Errors
    /// [`EngineError::NotAStore`] if something else is there; [`EngineError::Unsupported`].
    fn backup(&self, to: &Path) -> Result<BackupReport> {
        let _ = to;
        Err(EngineError::Unsupported { engine: self.stats()?.engine, what: "make backups" })
    }

    /// The same for a copy that is to be opened soon: with what its first open would otherwise make from the rows. An
    /// engine that makes nothing then makes a backup.
    ///
    /// # Errors
    /// As [`Engine::backup`].
    fn backup_indexed(&self, to: &Path) -> Result<BackupReport> {
        self.backup(to)
    }

    /// Closes the store because it moves to the address `to`. From now on no commit is taken, here or wherever the
    /// store is opened; the error has `to`. Reads and backups go on. Returns the newest commit, after which there will
    /// be none. A second call with the same address answers the same.
    ///
    /// It is durable when it returns.
    ///
    /// # Errors
    /// [`EngineError::Moved`] if it has moved to another address; [`EngineError::Unsupported`].
    fn seal(&self, to: &str) -> Result<Seq> {
        let _ = to;
        Err(EngineError::Unsupported { engine: self.stats()?.engine, what: "move" })
    }

    /// Undoes [`Engine::seal`]: the store has not moved. Only the caller that sealed it may do this, and only if it
    /// knows that there is no other store.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`].
    fn unseal(&self) -> Result<()> {
        Err(EngineError::Unsupported { engine: self.stats()?.engine, what: "take a move back" })
    }

    /// Whether commits are taken, as far as is known without making one; the error is what a commit would get. It
    /// writes nothing, and waits for no disk.
    fn check_writes(&self) -> Result<()> {
        Ok(())
    }

    /// The keys that seal the values of trees; `None` if this engine has none, or another process has them.
    fn tree_keys(&self) -> Option<&dyn TreeKeys> {
        None
    }

    /// The branch, if it is one.
    fn branch(&self) -> Option<&BranchEngine> {
        None
    }

    /// Reads everything and checks every checksum. Problems are in the report; an error means that
    /// the check itself could not be made.
    fn verify(&self) -> Result<VerifyReport>;

    /// Counters and sizes.
    fn stats(&self) -> Result<Stats>;

    /// The engine's properties. An engine without a profile is taken to be slow.
    fn profile(&self) -> Profile {
        Profile::default()
    }
}

/// The store as of one commit. It does not change while others write.
pub trait Snapshot: Send + Sync {
    /// The commit that it shows, and no later one.
    fn seq(&self) -> Seq;

    /// A new snapshot of the same commit that has not cached any answers yet; `None` if this engine caches none. It is
    /// for walks that should not leave their rows in a snapshot that lives on.
    fn afresh(&self) -> Option<Arc<dyn Snapshot>> {
        None
    }

    /// When that commit was made; zero for the empty store.
    fn time(&self) -> Result<Timestamp>;

    /// The value at `key`.
    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Value<'_>>>;

    /// The values at several keys, in their order. An engine that is far away answers them in one round trip, unless
    /// they are many MiB.
    fn get_many(&self, keys: &[(TreeId, &[u8])]) -> Result<Vec<Option<Value<'_>>>> {
        keys.iter().map(|(tree, key)| self.get(*tree, key)).collect()
    }

    /// Whether each read that was not announced waits for another process: then it pays to announce reads with
    /// [`Snapshot::announce`].
    fn is_distant(&self) -> bool {
        false
    }

    /// Begins to fetch into the processor's caches the data that [`Snapshot::get`] of each of these keys will read, so
    /// that the waits for memory overlap. It is a hint without other effects.
    fn prefetch(&self, _tree: TreeId, _keys: &[&[u8]]) {}

    /// Fetches the rows that will be read, in one round trip, if the engine is asked over a distance. A hint, without
    /// effect otherwise.
    fn announce(&self, _keys: &[(TreeId, &[u8])]) {}

    /// The commit that wrote the value at `key`, without the value if the engine can; `None` if there is none.
    fn version(&self, tree: TreeId, key: &[u8]) -> Result<Option<Seq>> {
        Ok(self.get(tree, key)?.map(|value| value.seq))
    }

    /// The rows whose keys lie in `range`. The iterator ends after its first error.
    fn range(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Rows<'_>;

    /// The same rows, for a reader that says which parts it needs: [`Wanted`]. An engine that is far away sends only
    /// these.
    fn range_of(&self, tree: TreeId, range: &KeyRange, direction: Direction, wanted: Wanted) -> Rows<'_> {
        let _ = wanted;
        self.range(tree, range, direction)
    }

    /// Shows the key and the value of each row in `range` to `see`, until it returns false. An engine whose rows are in
    /// memory lends them and copies nothing.
    ///
    /// # Errors
    /// As the iterator of [`Snapshot::range`].
    fn each_row(
        &self,
        tree: TreeId,
        range: &KeyRange,
        direction: Direction,
        see: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<()> {
        for row in self.range(tree, range, direction) {
            let row = row?;
            if !see(&row.key, &row.value) {
                break;
            }
        }
        Ok(())
    }

    /// Writes the least key that begins with `prefix` and has a row to `key`; returns whether there is one. A range
    /// would find it too, but an engine may avoid a range's cost.
    fn first_key(&self, tree: TreeId, prefix: &[u8], key: &mut Vec<u8>) -> Result<bool> {
        let row = self.range(tree, &KeyRange::prefix(prefix), Direction::Forward).next().transpose()?;
        key.clear();
        key.extend_from_slice(row.as_ref().map_or(&[], |row| &row.key));
        Ok(row.is_some())
    }

    /// The keys in `range` that have a version up to this snapshot, even if they are deleted in it. Keys whose whole
    /// history was given up or erased may be missing. The iterator ends after its first error, which is
    /// [`EngineError::Unsupported`] if the engine cannot erase either.
    fn keys(&self, tree: TreeId, range: &KeyRange) -> Keys<'_> {
        let _ = (tree, range);
        Box::new(std::iter::once(Err(EngineError::Unsupported { engine: "of this store", what: "list deleted keys" })))
    }

    /// Temporary disk space for bytes that an answer does not hold in memory; `None` if there is none.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    fn scratch(&self) -> Result<Option<Box<dyn Scratch>>> {
        Ok(None)
    }

    /// Every version of `key` up to this snapshot, newest first, deletions included.
    fn versions(&self, tree: TreeId, key: &[u8]) -> Versions<'_>;
}

/// The result of [`Engine::backup`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackupReport {
    /// The newest commit of the backup.
    pub head: Seq,
    /// Files copied.
    pub files_copied: u64,
    /// Bytes copied.
    pub bytes_copied: u64,
    /// Bytes that an earlier backup had already.
    pub bytes_kept: u64,
}

/// The result of [`Engine::verify`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Files read.
    pub files: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Commits whose checksums were checked.
    pub commits: u64,
    /// Row versions whose checksums were checked.
    pub rows: u64,
    /// The damaged places; empty if there are none.
    pub problems: Vec<Problem>,
}

/// One damaged place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, relative to the store.
    pub file: String,
    /// Where in the file, in bytes.
    pub offset: u64,
    /// The problem, and its consequence.
    pub what: String,
}

/// Counters and sizes of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The engine's name.
    pub engine: &'static str,
    /// The newest commit.
    pub head: Seq,
    /// Bytes that the store's files take on disk.
    pub disk_bytes: u64,
    /// About how many bytes the engine holds in memory.
    pub memory_bytes: u64,
    /// Further ones, by the engine's own names: (name, value, unit).
    pub details: Vec<(&'static str, u64, &'static str)>,
}
