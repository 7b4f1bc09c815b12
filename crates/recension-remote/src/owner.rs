//! An engine of this process that other processes reach, too: every call goes to the engine.

use std::path::Path;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use recension_engine::{
    BackupReport, Batch, CommitInfo, Engine, ErasedKey, KeyRange, Profile, Result, RetentionRule, Seq, Snapshot, Stats,
    Timestamp, TreeId, TreeKeys, VerifyReport,
};

use crate::serve::Listening;

/// An engine and the socket by which others reach it.
pub struct Owner {
    /// It ends before the engine, which its threads use.
    _listening: Listening,
    engine: Arc<dyn Engine>,
}

impl Owner {
    /// Lets others reach `engine` through a socket in `folder`, the store's own.
    ///
    /// # Errors
    /// [`EngineError::Io`](recension_engine::EngineError::Io).
    pub fn of(engine: Arc<dyn Engine>, folder: &Path) -> Result<Self> {
        Ok(Owner { _listening: Listening::start(Arc::clone(&engine), folder)?, engine })
    }
}

impl Engine for Owner {
    fn head(&self) -> Seq {
        self.engine.head()
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        self.engine.snapshot()
    }

    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>> {
        self.engine.snapshot_at(seq)
    }

    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>> {
        self.engine.commit_at(time)
    }

    fn commit(&self, batch: Batch) -> Result<CommitInfo> {
        self.engine.commit(batch)
    }

    fn commit_all(&self, batches: Vec<Batch>) -> Vec<Result<CommitInfo>> {
        self.engine.commit_all(batches)
    }

    fn refresh(&self) -> Result<Seq> {
        self.engine.refresh()
    }

    fn wait_beyond(&self, seq: Seq, timeout: Duration) -> Seq {
        self.engine.wait_beyond(seq, timeout)
    }

    fn wake_beyond(&self, seq: Seq, waker: &Waker) -> bool {
        self.engine.wake_beyond(seq, waker)
    }

    fn checkpoint(&self) -> Result<()> {
        self.engine.checkpoint()
    }

    fn forget(&self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<()> {
        self.engine.forget(tree, range, before)
    }

    fn set_retention(&self, rules: &[RetentionRule]) -> Result<()> {
        self.engine.set_retention(rules)
    }

    fn retention(&self) -> Result<Vec<RetentionRule>> {
        self.engine.retention()
    }

    fn erase(&self, erased: &[ErasedKey]) -> Result<()> {
        self.engine.erase(erased)
    }

    fn settle(&self) -> Result<()> {
        self.engine.settle()
    }

    fn backup(&self, to: &Path) -> Result<BackupReport> {
        self.engine.backup(to)
    }

    fn seal(&self, to: &str) -> Result<Seq> {
        self.engine.seal(to)
    }

    fn unseal(&self) -> Result<()> {
        self.engine.unseal()
    }

    fn tree_keys(&self) -> Option<&dyn TreeKeys> {
        self.engine.tree_keys()
    }

    fn verify(&self) -> Result<VerifyReport> {
        self.engine.verify()
    }

    fn stats(&self) -> Result<Stats> {
        self.engine.stats()
    }

    fn check_writes(&self) -> Result<()> {
        self.engine.check_writes()
    }

    fn profile(&self) -> Profile {
        self.engine.profile()
    }
}
