//! The engine contract, by requests to the process that owns the store.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::task::Waker;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use recension_engine::{
    BackupReport, Batch, CommitInfo, Engine, EngineError, ErasedKey, KeyRange, Profile, Result, RetentionRule, Seq,
    Snapshot, Stats, Timestamp, TreeId, VerifyReport,
};

use crate::answer::{Answer, answered};
use crate::bytes::malformed;
use crate::limits::WAIT_MILLISECONDS_MAX;
use crate::link::{Link, TakeOver};
use crate::pool::Pool;
use crate::request::Request;
use crate::snapshot::RemoteSnapshot;
use crate::socket::InFolder;
use crate::wire::Connector;

/// Milliseconds of one request of the thread that waits for commits on behalf of tasks. Closing may have to wait for
/// it.
const WATCH_MILLISECONDS: u32 = 1000;

/// The pause between two attempts to reach an owner that does not answer, for waiters for commits.
const PAUSE: Duration = Duration::from_millis(100);

/// A store that another process owns, reached through the socket in its folder.
///
/// If the owner dies, the next one is found. An engine that was opened by [`crate::open`] may become the owner.
pub struct RemoteEngine {
    link: Arc<Link>,
    watching: Mutex<Option<JoinHandle<()>>>,
}

impl RemoteEngine {
    /// Reaches the store in `folder`, through the process that owns it. This process does not become its owner.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`].
    pub fn connect(folder: &Path, patience: Duration) -> Result<Self> {
        RemoteEngine::with(InFolder::of(folder), patience, None)
    }

    /// How often it has waited for an answer of its owner, since it was opened. This is the cost of a program over a
    /// distance.
    pub fn round_trips(&self) -> u64 {
        self.link.round_trips()
    }

    pub(crate) fn with(to: Arc<dyn Connector>, patience: Duration, take_over: Option<TakeOver>) -> Result<Self> {
        let pool = Pool::connect(&to)?;
        let link = Link::new(to, pool, patience, take_over);
        Ok(RemoteEngine { link: Arc::new(link), watching: Mutex::default() })
    }

    fn done(&self, request: Request) -> Result<()> {
        match self.link.ask(request)? {
            Answer::Done => Ok(()),
            _ => Err(malformed("an answer to another question")),
        }
    }

    fn ask_head(&self) -> Result<Seq> {
        answered!(self.link.ask(Request::Head), Seq).map(|head| self.link.saw(head))
    }

    fn make(&self, seq: Seq) -> Arc<dyn Snapshot> {
        Arc::new(RemoteSnapshot::new(Arc::clone(&self.link), seq))
    }

    /// Starts the thread that waits for commits on behalf of tasks.
    fn watch(&self) {
        let mut watching = self.watching.lock();
        if watching.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        let link = Arc::clone(&self.link);
        let spawned = std::thread::Builder::new().name("recension-watch".to_owned()).spawn(move || {
            while !link.is_closing() && link.own().is_none() {
                let wait = Request::Wait { beyond: link.seen(), milliseconds: WATCH_MILLISECONDS };
                match link.ask(wait) {
                    Ok(Answer::Seq(head)) => _ = link.saw(head),
                    _ => std::thread::sleep(PAUSE),
                }
            }
            link.signal.moved();
        });
        *watching = spawned.ok();
    }
}

impl Drop for RemoteEngine {
    fn drop(&mut self) {
        self.link.close();
        if let Some(thread) = self.watching.lock().take() {
            let _ = thread.join();
        }
    }
}

impl Engine for RemoteEngine {
    fn head(&self) -> Seq {
        self.ask_head().unwrap_or_else(|_| self.link.seen())
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        Ok(self.make(self.ask_head()?))
    }

    fn snapshot_with(&self, keys: &[(TreeId, &[u8])]) -> Result<Arc<dyn Snapshot>> {
        if keys.is_empty() {
            return self.snapshot();
        }
        let keys: Vec<_> = keys.iter().map(|(tree, key)| (*tree, key.to_vec())).collect();
        match self.link.ask(Request::Now { keys: keys.clone() })? {
            Answer::Now { seq, values } => {
                let snapshot = RemoteSnapshot::new(Arc::clone(&self.link), self.link.saw(seq));
                snapshot.keep(keys.into_iter().zip(values));
                Ok(Arc::new(snapshot))
            }
            _ => Err(malformed("an answer to another question")),
        }
    }

    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>> {
        if seq > self.link.seen() {
            let head = self.ask_head()?;
            if seq > head {
                return Err(EngineError::NotYet { asked: seq, head });
            }
        }
        Ok(self.make(seq))
    }

    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>> {
        answered!(self.link.ask(Request::CommitAt { time }), OptionalCommit)
    }

    fn commit(&self, batch: Batch) -> Result<CommitInfo> {
        self.commit_all(vec![batch]).pop().unwrap_or_else(|| Err(malformed("a commit without an answer")))
    }

    fn commit_all(&self, batches: Vec<Batch>) -> Vec<Result<CommitInfo>> {
        // A batch that is too large is refused alone, and is not sent.
        let refused: Vec<_> = batches.iter().map(|batch| batch.check_limits().err()).collect();
        let taken: Vec<_> = batches
            .into_iter()
            .zip(&refused)
            .filter(|(_, refused)| refused.is_none())
            .map(|(batch, _)| batch)
            .collect();
        let answers = if taken.is_empty() {
            Ok(Vec::new())
        } else {
            answered!(self.link.ask(Request::Commit { batches: taken }), Commits)
        };
        let (mut answers, failed) = match answers {
            Ok(answers) => (answers.into_iter(), malformed("a commit without an answer")),
            Err(error) => (Vec::new().into_iter(), error),
        };
        let mut next = || match answers.next() {
            Some(Ok(commit)) => {
                self.link.wrote(commit);
                Ok(commit)
            }
            Some(Err(error)) => Err(error),
            None => Err(failed.clone()),
        };
        refused.into_iter().map(|refused| refused.map_or_else(&mut next, Err)).collect()
    }

    fn refresh(&self) -> Result<Seq> {
        self.ask_head()
    }

    fn wait_beyond(&self, seq: Seq, timeout: Duration) -> Seq {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let milliseconds = left.map_or(u128::MAX, |left| left.as_micros().div_ceil(1000));
            let milliseconds = u32::try_from(milliseconds).unwrap_or(u32::MAX).min(WAIT_MILLISECONDS_MAX);
            let answer = answered!(self.link.ask(Request::Wait { beyond: seq, milliseconds }), Seq);
            // A wait may end early, because its owner closes the store.
            let time_is_up = deadline.is_some_and(|deadline| deadline <= Instant::now());
            match answer {
                Ok(head) if head > seq || time_is_up => return self.link.saw(head),
                Err(_) if time_is_up => return self.link.seen(),
                Ok(_) => {}
                Err(_) => std::thread::sleep(left.map_or(PAUSE, |left| left.min(PAUSE))),
            }
        }
    }

    fn wake_beyond(&self, seq: Seq, waker: &Waker) -> bool {
        if let Some(engine) = self.link.own() {
            return engine.wake_beyond(seq, waker);
        }
        self.watch();
        self.link.signal.wake_beyond(seq, waker, || self.link.seen())
    }

    fn checkpoint(&self) -> Result<()> {
        self.done(Request::Checkpoint)
    }

    fn forget(&self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<()> {
        self.done(Request::Forget { tree, range: range.clone(), before })
    }

    fn set_retention(&self, rules: &[RetentionRule]) -> Result<()> {
        self.done(Request::SetRetention { rules: rules.to_vec() })
    }

    fn retention(&self) -> Result<Vec<RetentionRule>> {
        answered!(self.link.ask(Request::Retention), Rules)
    }

    fn erase(&self, erased: &[ErasedKey]) -> Result<()> {
        self.done(Request::Erase { erased: erased.to_vec() })
    }

    fn settle(&self) -> Result<()> {
        self.done(Request::Settle)
    }

    fn backup(&self, to: &Path) -> Result<BackupReport> {
        // The owner may have another working folder.
        let to = std::path::absolute(to).map_err(|error| EngineError::io("finding the folder of the backup", error))?;
        answered!(self.link.ask(Request::Backup { to: to.as_os_str().as_bytes().to_vec() }), Backup)
    }

    fn seal(&self, to: &str) -> Result<Seq> {
        answered!(self.link.ask(Request::Seal { to: to.to_owned() }), Seq)
    }

    fn unseal(&self) -> Result<()> {
        self.done(Request::Unseal)
    }

    fn verify(&self) -> Result<VerifyReport> {
        answered!(self.link.ask(Request::Verify), Verified)
    }

    fn stats(&self) -> Result<Stats> {
        answered!(self.link.ask(Request::Stats), Stats)
    }

    /// Whether the owner answers.
    fn check_writes(&self) -> Result<()> {
        self.ask_head().map(drop)
    }

    fn profile(&self) -> Profile {
        // Every read waits for the owner.
        Profile::default()
    }
}
