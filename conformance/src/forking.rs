//! An engine that becomes a branch of itself after some commits, and again. A branch is a copy of its parent, so that
//! every answer must be that of an engine without branches.

use std::path::Path;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use parking_lot::Mutex;
use recension::engine::{
    BRANCHES_TREE, BackupReport, Batch, BranchEngine, BranchId, CommitInfo, Engine, EngineError, ErasedKey, Fork,
    KeyRange, Result, RetentionRule, Seq, Snapshot, Stats, Timestamp, TreeId, VerifyReport, kept_key,
};

/// Most forks of a history.
const FORKS_MAX: usize = 3;

/// See the module.
pub struct Forking {
    root: Arc<dyn Engine>,
    /// How many commits are between forks.
    every: u64,
    /// Newest first. They outlive the engine, as a catalogue would.
    forks: Arc<Mutex<Vec<Fork>>>,
    now: Mutex<Arc<dyn Engine>>,
}

impl Forking {
    /// Over an engine.
    pub fn new(root: Arc<dyn Engine>, every: u64, forks: Arc<Mutex<Vec<Fork>>>) -> Self {
        let now = Mutex::new(over(&root, &forks.lock()));
        Forking { root, every, forks, now }
    }

    fn now(&self) -> Arc<dyn Engine> {
        self.now.lock().clone()
    }

    /// Whether the branch is to be left with the next commit.
    fn is_due(&self) -> bool {
        let forks = self.forks.lock();
        let last = forks.first().map_or(Seq::ZERO, |fork| fork.at);
        forks.len() < FORKS_MAX && self.root.head().0 + 1 >= last.0 + self.every
    }

    /// A branch of the branch begins at a commit that keeps its moment. It has the rules that its parent has.
    fn fork(&self, at: Seq) -> Result<()> {
        let rules = self.now().retention()?;
        let mut forks = self.forks.lock();
        let branch = BranchId(forks.len() as u32 + 1);
        forks.insert(0, Fork { branch, at });
        *self.now.lock() = over(&self.root, &forks);
        self.now().set_retention(&rules)
    }
}

fn over(root: &Arc<dyn Engine>, forks: &[Fork]) -> Arc<dyn Engine> {
    if forks.is_empty() { root.clone() } else { Arc::new(BranchEngine::new(root.clone(), forks.to_vec())) }
}

impl Engine for Forking {
    fn head(&self) -> Seq {
        self.root.head()
    }

    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>> {
        self.now().snapshot_at(seq)
    }

    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>> {
        self.now().commit_at(time)
    }

    fn commit(&self, mut batch: Batch) -> Result<CommitInfo> {
        let forks = self.is_due() && !batch.is_empty();
        if forks {
            batch.put_at_own_seq(BRANCHES_TREE, &kept_key(Seq::ZERO, b"")[..1], b"fork", b"");
        }
        let commit = self.now().commit(batch)?;
        if forks {
            self.fork(commit.seq)?;
        }
        Ok(commit)
    }

    fn wait_beyond(&self, seq: Seq, timeout: Duration) -> Seq {
        self.root.wait_beyond(seq, timeout)
    }

    fn wake_beyond(&self, seq: Seq, waker: &Waker) -> bool {
        self.root.wake_beyond(seq, waker)
    }

    fn checkpoint(&self) -> Result<()> {
        self.root.checkpoint()
    }

    fn forget(&self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<()> {
        self.now().forget(tree, range, before)
    }

    fn set_retention(&self, rules: &[RetentionRule]) -> Result<()> {
        self.now().set_retention(rules)
    }

    fn retention(&self) -> Result<Vec<RetentionRule>> {
        self.now().retention()
    }

    /// If a single version of a branch is erased, what its parent had shows in its place: no copy would do that.
    fn erase(&self, erased: &[ErasedKey]) -> Result<()> {
        let oldest = self.forks.lock().last().map_or(Seq(u64::MAX), |fork| fork.at);
        if erased.iter().any(|key| key.versions.these.iter().any(|seq| *seq > oldest)) {
            return Err(EngineError::Unsupported { engine: "forking", what: "erase single versions" });
        }
        self.now().erase(erased)
    }

    fn settle(&self) -> Result<()> {
        self.root.settle()
    }

    fn backup(&self, to: &Path) -> Result<BackupReport> {
        self.root.backup(to)
    }

    /// Without the rows that keep the forks.
    fn verify(&self) -> Result<VerifyReport> {
        let report = self.root.verify()?;
        Ok(VerifyReport { rows: report.rows.saturating_sub(self.forks.lock().len() as u64), ..report })
    }

    fn stats(&self) -> Result<Stats> {
        self.root.stats()
    }
}
