//! Group commit for tasks: a task decides its write, and one thread commits what all tasks have decided. No task holds
//! a thread while it waits for the disk, and the tasks of one group wait for the disk once.
//!
//! Each batch is answered by its own commit. A batch that another commit has made out of date is decided again by its
//! task.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use async_channel::{Receiver, Sender};

use crate::engine::pacing::{Pace, give_way};
use crate::engine::{Batch, CommitInfo, Engine, EngineError, Result};
use recension_values::limits::{COMMITTER_GROUP_BYTES, COMMITTER_QUEUE_MAX};

/// Runs a function that waits for the disk on the thread of the calling task, and lets the other tasks of that thread
/// go on meanwhile, as `tokio::task::block_in_place` does. It runs the function once.
pub type Wait = fn(&mut dyn FnMut());

/// A store's thread that commits for tasks. When this is dropped, the thread commits what it was asked for and ends.
pub(crate) struct Committer {
    engine: Arc<dyn Engine>,
    queue: Sender<QueuedBatch>,
    traffic: Arc<Traffic>,
    thread: Option<JoinHandle<()>>,
}

/// Whether other tasks are writing.
#[derive(Default)]
struct Traffic {
    /// Commits that tasks wait for.
    under_way: AtomicUsize,
    /// The size of the last group, with the commits that waited at its end.
    expected: AtomicUsize,
}

/// A commit that a task waits for.
struct UnderWay<'t>(&'t Traffic);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Traffic {
    /// Counts a commit. Returns whether it is alone, with no other expected to follow.
    fn enter(&self) -> (UnderWay<'_>, bool) {
        let others = self.under_way.fetch_add(1, Ordering::Relaxed);
        (UnderWay(self), others == 0 && self.expected.load(Ordering::Relaxed) <= 1)
    }
}

/// A batch to commit, and the channel for its answer.
struct QueuedBatch {
    batch: Batch,
    answer: Sender<Result<CommitInfo>>,
}

impl Committer {
    /// Starts it; `None` if the system gives no thread.
    pub(crate) fn start(engine: Arc<dyn Engine>) -> Option<Self> {
        let (queue, asked) = async_channel::bounded(COMMITTER_QUEUE_MAX);
        let traffic = Arc::<Traffic>::default();
        let thread = std::thread::Builder::new().name("recension-committer".to_owned());
        let (its_engine, its_traffic) = (engine.clone(), traffic.clone());
        let thread = thread.spawn(move || run(&*its_engine, &asked, &its_traffic)).ok()?;
        Some(Committer { engine, queue, traffic, thread: Some(thread) })
    }

    /// As [`Engine::commit`]. If no other task is writing, a task with a way to wait commits on its own thread: waking
    /// the committer, and being woken by it, would cost more.
    pub(super) async fn commit(&self, batch: Batch, wait: Option<Wait>) -> Result<CommitInfo> {
        let (_under_way, alone) = self.traffic.enter();
        match wait {
            Some(wait) if alone => self.commit_here(batch, wait),
            _ => self.commit_there(batch).await,
        }
    }

    fn commit_here(&self, batch: Batch, wait: Wait) -> Result<CommitInfo> {
        let (mut batch, mut commit) = (Some(batch), None);
        let mut commit_once = || {
            if let Some(batch) = batch.take() {
                commit = Some(self.engine.commit(batch));
            }
        };
        let committing = || wait(&mut commit_once);
        let done = catch_unwind(AssertUnwindSafe(committing));
        // The tasks that wait now will write again together.
        self.traffic.expected.store(self.traffic.under_way.load(Ordering::Relaxed), Ordering::Relaxed);
        done.ok().and(commit).unwrap_or_else(|| Err(unanswered()))
    }

    async fn commit_there(&self, batch: Batch) -> Result<CommitInfo> {
        let (answer, answered) = async_channel::bounded(1);
        self.queue.send(QueuedBatch { batch, answer }).await.map_err(|_| unanswered())?;
        answered.recv().await.map_err(|_| unanswered())?
    }
}

/// It is not known whether the commit was made.
fn unanswered() -> EngineError {
    EngineError::Poisoned { cause: "a commit was not answered".to_owned() }
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            // Its panic was printed where it happened.
            let _ = thread.join();
        }
    }
}

/// Commits what tasks ask for, until the queue is closed and empty.
fn run(engine: &dyn Engine, asked: &Receiver<QueuedBatch>, traffic: &Traffic) {
    let mut pace = Pace::default();
    while let Ok(first) = asked.recv_blocking() {
        wait_for_more(&mut pace, asked);
        let (batches, answers) = gather(first, asked);
        let (count, started) = (batches.len(), Instant::now());
        // After a panic it is not known whether these commits were made: no task gets an answer.
        let commits = catch_unwind(AssertUnwindSafe(|| engine.commit_all(batches))).unwrap_or_default();
        pace.expected = count + asked.len();
        pace.took = started.elapsed();
        traffic.expected.store(pace.expected, Ordering::Relaxed);
        for (answer, commit) in answers.into_iter().zip(commits) {
            // A task that does not wait any more has dropped its future.
            let _ = answer.try_send(commit);
        }
    }
}

/// Lets the tasks of the former group write again first. They would wait for two groups otherwise.
fn wait_for_more(pace: &mut Pace, asked: &Receiver<QueuedBatch>) {
    let Some(patience) = pace.wait(1 + asked.len()) else { return };
    let in_vain = give_way(pace.expected, patience, || 1 + asked.len());
    pace.waited(in_vain);
}

/// Takes what is at hand, up to as many bytes as one group has.
fn gather(first: QueuedBatch, asked: &Receiver<QueuedBatch>) -> (Vec<Batch>, Vec<Sender<Result<CommitInfo>>>) {
    let (mut batches, mut answers, mut bytes) = (Vec::new(), Vec::new(), 0);
    let mut next = Some(first);
    while let Some(QueuedBatch { batch, answer }) = next {
        bytes += batch.size_bytes();
        batches.push(batch);
        answers.push(answer);
        let room = bytes < COMMITTER_GROUP_BYTES && batches.len() < COMMITTER_QUEUE_MAX;
        next = if room { asked.try_recv().ok() } else { None };
    }
    (batches, answers)
}
