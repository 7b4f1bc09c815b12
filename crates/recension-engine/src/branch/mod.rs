//! A branch: an engine over an engine. It has its own rows over what its parent had at the fork, and its commits are
//! commits of the store, numbered with all others. docs/branches.md has where its rows lie. It must never write a row
//! of its parent.

mod catalogue;
mod kept;
mod snapshot;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
use std::time::Duration;

pub use self::catalogue::{BRANCHES_MAX, BranchInfo, Branches, DEPTH_MAX, Merge, TagInfo};
use self::kept::KEPT;
pub use self::kept::{Kept, kept_key, kept_moment, kept_moments};

use self::snapshot::BranchSnapshot;
use crate::batch::sum_of_counters;
use crate::branch_rows::{BRANCHES_TREE, BranchId, deletion, is_branched, own_tree, shown, stored};
use crate::{
    BackupReport, Batch, BatchOperation, BatchRow, CommitInfo, Direction, Engine, EngineError, ErasedKey,
    ErasedVersions, KeyRange, Profile, ReadDependency, ReadKeys, Result, RetentionRule, Seq, Snapshot, Stats,
    Timestamp, TreeId, TreeKeys, VerifyReport,
};

/// Where a branch leaves its parent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fork {
    /// The branch.
    pub branch: BranchId,
    /// The parent's last commit that is seen on it.
    pub at: Seq,
}

/// A branch of a store.
pub struct BranchEngine {
    root: Arc<dyn Engine>,
    /// This branch, its parent, and so on up to the one whose parent is the main line.
    forks: Vec<Fork>,
    /// For a branch of the catalogue: its name, the key of the row that is there as long as it is, and the commit that
    /// wrote that.
    alive: Option<(String, Vec<u8>, Seq)>,
    /// It was there at this commit.
    alive_through: AtomicU64,
}

impl BranchEngine {
    /// A branch of the engine `root`. `forks` has this branch, its parent, and so on up to the one whose parent is the
    /// engine itself. Who makes one that is not of the catalogue ([`Branches`]) gives it a number that no other has,
    /// and keeps its moments.
    pub fn new(root: Arc<dyn Engine>, forks: Vec<Fork>) -> Self {
        BranchEngine { root, forks, alive: None, alive_through: AtomicU64::new(0) }
    }

    /// The engine of the whole store.
    pub fn root(&self) -> &Arc<dyn Engine> {
        &self.root
    }

    /// Its number; zero for the main line.
    pub fn id(&self) -> BranchId {
        self.forks.first().map_or(BranchId(0), |fork| fork.branch)
    }

    /// This branch, its parent and so on.
    pub fn forks(&self) -> &[Fork] {
        &self.forks
    }

    /// The name that it was opened by.
    pub fn name(&self) -> &str {
        self.alive.as_ref().map_or("", |(name, ..)| name)
    }

    fn fork(&self) -> Seq {
        self.forks.first().map_or(Seq::ZERO, |fork| fork.at)
    }

    fn dropped(&self) -> EngineError {
        // Without the names of others: who had it open may not know them.
        EngineError::NoSuchBranch { name: self.name().to_owned(), known: Vec::new() }
    }

    /// Refuses to show a branch after it was dropped: its rows are being given up.
    fn check_alive(&self, whole: &dyn Snapshot) -> Result<()> {
        let Some((_, key, made)) = &self.alive else { return Ok(()) };
        let seq = whole.seq();
        if seq.0 <= self.alive_through.load(Ordering::Relaxed) || seq < *made {
            return Ok(());
        }
        if whole.version(BRANCHES_TREE, key)? != Some(*made) {
            return Err(self.dropped());
        }
        self.alive_through.fetch_max(seq.0, Ordering::Relaxed);
        Ok(())
    }

    fn over(&self, whole: Arc<dyn Snapshot>) -> Result<Arc<dyn Snapshot>> {
        self.check_alive(&*whole)?;
        let parent = self.parent_at(whole.seq().min(self.fork()))?;
        let (root, branch) = (self.root.clone(), self.id());
        Ok(Arc::new(BranchSnapshot { root, branch, own: whole, parent }))
    }

    /// What the parent had right after a commit that is not beyond the fork.
    fn parent_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>> {
        let forks = self.forks.get(1..).unwrap_or_default();
        let mut seqs = vec![seq];
        for fork in forks {
            seqs.push(fork.at.min(seqs.last().copied().unwrap_or_default()));
        }
        let mut shown = self.root.snapshot_at(seqs.pop().unwrap_or_default())?;
        for (fork, seq) in forks.iter().zip(seqs).rev() {
            let (root, own) = (self.root.clone(), self.root.snapshot_at(seq)?);
            shown = Arc::new(BranchSnapshot { root, branch: fork.branch, own, parent: shown });
        }
        Ok(shown)
    }

    /// Refuses a dependency on a read from before the fork, if the parent has changed it up to there.
    fn check_before_fork(&self, read: ReadDependency<'_>) -> Result<()> {
        if read.at >= self.fork() || read.tree == BRANCHES_TREE {
            return Ok(());
        }
        let range = read.keys.to_range();
        let conflict = |key: Vec<u8>, written_at| {
            Err(EngineError::Conflict { tree: read.tree, key, read_at: read.at, written_at })
        };
        if let Some(Err(EngineError::Forgotten { .. })) =
            self.parent_at(read.at)?.range(read.tree, &range, Direction::Forward).next()
        {
            return conflict(Vec::new(), None);
        }
        let at_fork = self.parent_at(self.fork())?;
        for key in at_fork.keys(read.tree, &range) {
            let key = key?;
            if let Some(version) = at_fork.versions(read.tree, &key).next().transpose()?
                && version.seq > read.at
            {
                return conflict(key, Some(version.seq));
            }
        }
        Ok(())
    }

    /// The batch as one of the store. Sums of counters that begin with it are among the reads of `begun`.
    fn own_batch(&self, batch: &Batch, begun: &mut Vec<Vec<u8>>) -> Result<Batch> {
        let mut own = Batch::with_capacity(batch.rows().len(), batch.reads().len(), batch.size_bytes());
        self.add_own(batch, &mut own, begun)?;
        Ok(own)
    }

    /// The same, added to a batch of the store.
    fn add_own(&self, batch: &Batch, own: &mut Batch, begun: &mut Vec<Vec<u8>>) -> Result<()> {
        batch.check_limits()?;
        let id = self.id();
        let mut now = None;
        for operation in batch.operations() {
            match operation {
                BatchOperation::Write(BatchRow { tree: BRANCHES_TREE, key, value: Some(value) }) => {
                    own.put(BRANCHES_TREE, key, value)
                }
                BatchOperation::Write(BatchRow { tree: BRANCHES_TREE, key, value: None }) => {
                    own.delete(BRANCHES_TREE, key)
                }
                BatchOperation::PutAtOwnSeq { tree: BRANCHES_TREE, prefix, suffix, value } => {
                    own.put_at_own_seq(BRANCHES_TREE, prefix, suffix, value)
                }
                BatchOperation::Write(BatchRow { tree, key, value }) => {
                    let value = value.map_or_else(|| deletion().into(), stored);
                    own.put(own_tree(tree), &id.key(tree, key), &value)
                }
                BatchOperation::PutAtOwnSeq { tree, prefix, suffix, value } => {
                    own.put_at_own_seq(own_tree(tree), &id.key(tree, prefix), suffix, &stored(value))
                }
                BatchOperation::Add { tree, key, amounts } => {
                    let now = match &now {
                        Some(now) => now,
                        None => now.insert(self.snapshot()?),
                    };
                    self.add(own, &**now, (tree, key), amounts, begun)?
                }
            };
        }
        for read in batch.reads() {
            self.check_before_fork(read)?;
            match (read.tree, read.keys) {
                (BRANCHES_TREE, keys) => own.depends_on_range(BRANCHES_TREE, keys.to_range().into_owned(), read.at),
                (tree, ReadKeys::One(key)) => own.depends_on(own_tree(tree), &id.key(tree, key), read.at),
                (tree, ReadKeys::Range(range)) => own.depends_on_range(own_tree(tree), id.range(tree, range), read.at),
            };
        }
        if let Some((_, key, made)) = &self.alive {
            own.depends_on(BRANCHES_TREE, key, *made);
        }
        if let Some(durability) = batch.asked_durability() {
            own.durability(durability);
        }
        Ok(())
    }

    /// Adds to a counter. Its first sum on the branch begins with what the parent had at the fork.
    fn add<'b>(
        &self,
        own: &'b mut Batch,
        now: &dyn Snapshot,
        (tree, key): (TreeId, &[u8]),
        amounts: &[u8],
        begun: &mut Vec<Vec<u8>>,
    ) -> Result<&'b mut Batch> {
        let (place, seen) = (self.id().key(tree, key), now.get(tree, key)?);
        let amounts = crate::counters(amounts).unwrap_or_default();
        let before = match seen {
            // The store has it as it is.
            Some(value) if value.seq > self.fork() && !matches!(stored(&value), std::borrow::Cow::Owned(_)) => {
                return Ok(own.add(own_tree(tree), &place, &amounts));
            }
            Some(value) => value.bytes.into_owned(),
            None => Vec::new(),
        };
        let sum = sum_of_counters(&before, &amounts).ok_or_else(|| EngineError::NotCounters {
            tree,
            key: key.to_vec(),
            len: before.len(),
        })?;
        let sum: Vec<u8> = sum.iter().flat_map(|number| number.to_be_bytes()).collect();
        own.depends_on(own_tree(tree), &place, now.seq());
        own.put(own_tree(tree), &place, &stored(&sum));
        begun.push(place);
        Ok(own)
    }

    /// The versions of a key on this branch and on those that it came from.
    fn erased_everywhere(&self, ErasedKey { tree, key, versions }: &ErasedKey) -> Vec<ErasedKey> {
        let mut erased = Vec::new();
        let mut versions = versions.clone();
        for Fork { branch, at } in &self.forks {
            erased.push(ErasedKey { tree: own_tree(*tree), key: branch.key(*tree, key), versions: versions.clone() });
            versions.through = versions.through.min(*at);
            versions.these.retain(|seq| seq <= at);
        }
        if versions != ErasedVersions::default() {
            erased.push(ErasedKey { tree: *tree, key: key.clone(), versions });
        }
        erased
    }
}

impl Engine for BranchEngine {
    fn head(&self) -> Seq {
        self.root.head()
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        self.over(self.root.snapshot()?)
    }

    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>> {
        self.over(self.root.snapshot_at(seq)?)
    }

    fn snapshot_with(&self, keys: &[(TreeId, &[u8])]) -> Result<Arc<dyn Snapshot>> {
        let snapshot = self.snapshot()?;
        snapshot.announce(keys);
        Ok(snapshot)
    }

    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>> {
        self.root.commit_at(time)
    }

    fn commit(&self, batch: Batch) -> Result<CommitInfo> {
        loop {
            let mut begun = Vec::new();
            let own = self.own_batch(&batch, &mut begun).map_err(|error| self.id().error(error))?;
            let adds = !begun.is_empty() || batch.operations().any(|op| matches!(op, BatchOperation::Add { .. }));
            match self.root.commit(own) {
                // Another writer began the counter.
                Err(EngineError::Conflict { key, .. }) if begun.contains(&key) => {}
                // Another writer deleted it.
                Err(EngineError::NotCounters { tree, key, .. }) if adds && self.was_deleted(tree, &key)? => {}
                Err(EngineError::Conflict { tree: BRANCHES_TREE, key, .. })
                    if self.alive.as_ref().is_some_and(|(_, alive, _)| *alive == key) =>
                {
                    return Err(self.dropped());
                }
                answer => return answer.map_err(|error| self.id().error(error)),
            }
        }
    }

    fn commit_all(&self, batches: Vec<Batch>) -> Vec<Result<CommitInfo>> {
        let mut own = Vec::with_capacity(batches.len());
        for batch in &batches {
            let mut begun = Vec::new();
            match self.own_batch(batch, &mut begun) {
                Ok(batch) if begun.is_empty() => own.push(batch),
                // One of them needs a look of its own.
                Ok(_) | Err(_) => return batches.into_iter().map(|batch| self.commit(batch)).collect(),
            }
        }
        let answers = self.root.commit_all(own).into_iter().zip(batches);
        let again = |(answer, batch): (Result<CommitInfo>, Batch)| match answer {
            // It says the same again, in the branch's words, or was a counter's affair.
            Err(EngineError::Conflict { .. } | EngineError::NotCounters { .. }) => self.commit(batch),
            answer => answer,
        };
        answers.map(again).collect()
    }

    fn refresh(&self) -> Result<Seq> {
        self.root.refresh()
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
        if range.is_empty() {
            return Ok(());
        }
        // Tags and branches of the branch need its rows; the store does not know whose moments it keeps.
        kept_moments(&*self.root.snapshot()?)?.check(before, self.fork().next())?;
        self.root.forget(own_tree(tree), &self.id().range(tree, range), before)
    }

    fn set_retention(&self, rules: &[RetentionRule]) -> Result<()> {
        let own = rules.iter().filter(|rule| !rule.range.is_empty()).map(|RetentionRule { tree, range, retention }| {
            RetentionRule { tree: own_tree(*tree), range: self.id().range(*tree, range), retention: *retention }
        });
        self.root.set_retention(&own.collect::<Vec<_>>())
    }

    fn retention(&self) -> Result<Vec<RetentionRule>> {
        let rules = self.root.retention()?.into_iter().filter(|rule| is_branched(rule.tree));
        let own = rules.filter_map(|RetentionRule { range, retention, .. }| {
            self.id().of_range(&range).map(|(tree, range)| RetentionRule { tree, range, retention })
        });
        Ok(own.collect())
    }

    fn erase(&self, erased: &[ErasedKey]) -> Result<()> {
        let everywhere: Vec<_> = erased.iter().flat_map(|key| self.erased_everywhere(key)).collect();
        self.root.erase(&everywhere)
    }

    fn settle(&self) -> Result<()> {
        self.root.settle()
    }

    /// Of the whole store, with all branches.
    fn backup(&self, to: &Path) -> Result<BackupReport> {
        self.root.backup(to)
    }

    fn backup_indexed(&self, to: &Path) -> Result<BackupReport> {
        self.root.backup_indexed(to)
    }

    fn seal(&self, to: &str) -> Result<Seq> {
        self.root.seal(to)
    }

    fn unseal(&self) -> Result<()> {
        self.root.unseal()
    }

    fn tree_keys(&self) -> Option<&dyn TreeKeys> {
        self.root.tree_keys()
    }

    fn branch(&self) -> Option<&BranchEngine> {
        Some(self)
    }

    fn verify(&self) -> Result<VerifyReport> {
        self.root.verify()
    }

    fn stats(&self) -> Result<Stats> {
        self.root.stats()
    }

    fn check_writes(&self) -> Result<()> {
        self.root.check_writes()
    }

    fn profile(&self) -> Profile {
        self.root.profile()
    }
}

impl BranchEngine {
    /// Whether a row of the branch is a deletion now.
    fn was_deleted(&self, tree: TreeId, place: &[u8]) -> Result<bool> {
        let now = self.root.snapshot()?;
        let value = now.get(tree, place)?;
        Ok(value.is_some_and(|value| shown(value.bytes).is_none()))
    }
}
