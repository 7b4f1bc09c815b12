//! Engines that behave as if they were far away. Each call waits ([`Disturbance::Delayed`]), some commits or their
//! answers are lost ([`Disturbance::Lossy`]), or another writer's commits come between ([`Disturbance::Gaps`]).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
use std::time::Duration;

use recension::engine::{
    BackupReport, Batch, CommitInfo, Direction, Engine, EngineError, ErasedKey, KeyRange, Keys, Profile, Result,
    RetentionRule, Rows, Seq, Snapshot, Stats, Timestamp, TreeId, Value, VerifyReport, Versions, Wanted,
};

/// The tree of the other writer.
const ELSEWHERE: TreeId = TreeId(u32::MAX);

/// The kind of disturbance.
#[derive(Clone, Copy, Debug)]
pub enum Disturbance {
    /// Each call waits so long.
    Delayed(Duration),
    /// One of this many commits is not made, and returns an error that says so. Another one is made, and its answer is
    /// lost.
    Lossy(u64),
    /// Another writer makes a commit before each one. No reader sees anything of it.
    Gaps,
}

/// An engine that is disturbed.
pub struct Disturbed {
    inner: Arc<dyn Engine>,
    disturbance: Disturbance,
    commits: AtomicU64,
    lost: AtomicU64,
}

impl Disturbed {
    /// Disturbs an engine.
    pub fn new(inner: Arc<dyn Engine>, disturbance: Disturbance) -> Self {
        Disturbed { inner, disturbance, commits: AtomicU64::new(0), lost: AtomicU64::new(0) }
    }

    /// The number of lost commits and answers.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::SeqCst)
    }

    fn pause(&self) {
        if let Disturbance::Delayed(delay) = self.disturbance {
            std::thread::sleep(delay);
        }
    }

    fn passed<T>(&self, answer: T) -> T {
        self.pause();
        answer
    }

    fn seen(&self, snapshot: Result<Arc<dyn Snapshot>>) -> Result<Arc<dyn Snapshot>> {
        self.pause();
        let Disturbance::Delayed(delay) = self.disturbance else { return snapshot };
        Ok(Arc::new(Delayed { inner: snapshot?, delay }))
    }
}

impl Engine for Disturbed {
    fn head(&self) -> Seq {
        self.passed(self.inner.head())
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        self.seen(self.inner.snapshot())
    }

    fn snapshot_with(&self, keys: &[(TreeId, &[u8])]) -> Result<Arc<dyn Snapshot>> {
        self.seen(self.inner.snapshot_with(keys))
    }

    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>> {
        self.seen(self.inner.snapshot_at(seq))
    }

    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>> {
        self.passed(self.inner.commit_at(time))
    }

    fn commit(&self, batch: Batch) -> Result<CommitInfo> {
        self.pause();
        match self.disturbance {
            Disturbance::Delayed(_) => self.inner.commit(batch),
            Disturbance::Gaps => {
                let mut other = Batch::new();
                other.put(ELSEWHERE, b"other", b"");
                self.inner.commit(other)?;
                self.inner.commit(batch)
            }
            Disturbance::Lossy(one_of) => {
                let nth = self.commits.fetch_add(1, Ordering::SeqCst) % one_of;
                if nth == 0 {
                    self.lost.fetch_add(1, Ordering::SeqCst);
                    return Err(EngineError::Unavailable { why: "the commit was lost on its way".to_owned() });
                }
                let commit = self.inner.commit(batch)?;
                if nth == one_of / 2 {
                    self.lost.fetch_add(1, Ordering::SeqCst);
                    return Err(EngineError::Unknown { why: "the answer was lost on its way".to_owned() });
                }
                Ok(commit)
            }
        }
    }

    fn refresh(&self) -> Result<Seq> {
        self.passed(self.inner.refresh())
    }

    fn wait_beyond(&self, seq: Seq, timeout: Duration) -> Seq {
        self.inner.wait_beyond(seq, timeout)
    }

    fn wake_beyond(&self, seq: Seq, waker: &Waker) -> bool {
        self.inner.wake_beyond(seq, waker)
    }

    fn checkpoint(&self) -> Result<()> {
        self.passed(self.inner.checkpoint())
    }

    fn forget(&self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<()> {
        self.passed(self.inner.forget(tree, range, before))
    }

    fn set_retention(&self, rules: &[RetentionRule]) -> Result<()> {
        self.passed(self.inner.set_retention(rules))
    }

    fn retention(&self) -> Result<Vec<RetentionRule>> {
        self.passed(self.inner.retention())
    }

    fn erase(&self, erased: &[ErasedKey]) -> Result<()> {
        self.passed(self.inner.erase(erased))
    }

    fn settle(&self) -> Result<()> {
        self.passed(self.inner.settle())
    }

    fn backup(&self, to: &Path) -> Result<BackupReport> {
        self.passed(self.inner.backup(to))
    }

    fn verify(&self) -> Result<VerifyReport> {
        self.passed(self.inner.verify())
    }

    fn stats(&self) -> Result<Stats> {
        self.passed(self.inner.stats())
    }

    fn check_writes(&self) -> Result<()> {
        self.inner.check_writes()
    }

    fn profile(&self) -> Profile {
        Profile::default()
    }
}

/// A snapshot with delayed reads. Rows of a range come many at a time.
struct Delayed {
    inner: Arc<dyn Snapshot>,
    delay: Duration,
}

impl Delayed {
    fn passed<T>(&self, answer: T) -> T {
        std::thread::sleep(self.delay);
        answer
    }
}

impl Snapshot for Delayed {
    fn seq(&self) -> Seq {
        self.inner.seq()
    }

    fn time(&self) -> Result<Timestamp> {
        self.passed(self.inner.time())
    }

    fn is_distant(&self) -> bool {
        true
    }

    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Value<'_>>> {
        self.passed(self.inner.get(tree, key))
    }

    fn get_many(&self, keys: &[(TreeId, &[u8])]) -> Result<Vec<Option<Value<'_>>>> {
        self.passed(self.inner.get_many(keys))
    }

    fn version(&self, tree: TreeId, key: &[u8]) -> Result<Option<Seq>> {
        self.passed(self.inner.version(tree, key))
    }

    fn range(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Rows<'_> {
        self.passed(self.inner.range(tree, range, direction))
    }

    fn range_of(&self, tree: TreeId, range: &KeyRange, direction: Direction, wanted: Wanted) -> Rows<'_> {
        self.passed(self.inner.range_of(tree, range, direction, wanted))
    }

    fn first_key(&self, tree: TreeId, prefix: &[u8], key: &mut Vec<u8>) -> Result<bool> {
        self.passed(self.inner.first_key(tree, prefix, key))
    }

    fn keys(&self, tree: TreeId, range: &KeyRange) -> Keys<'_> {
        self.passed(self.inner.keys(tree, range))
    }

    fn versions(&self, tree: TreeId, key: &[u8]) -> Versions<'_> {
        self.passed(self.inner.versions(tree, key))
    }
}
