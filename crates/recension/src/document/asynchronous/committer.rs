//! Commits of tasks, made together: a task decides its write, and one thread commits what all tasks have decided. Nobody holds
//! a thread while it waits for the disk, and all that come meanwhile wait for it once.
//!
//! A batch is answered by its own commit and nothing else: what another one has made out of date is decided again by its task.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use async_channel::{Receiver, Sender};

use crate::document::limits::{COMMITTER_GROUP_BYTES, COMMITTER_QUEUE_MAX};
use crate::engine::native::pace::Pace;
use crate::engine::{Batch, CommitInfo, Engine, EngineError, Result};

/// A store's thread that commits for tasks. It ends when this is dropped, after what it was asked for.
pub(in crate::document) struct Committer {
    queue: Sender<Asked>,
    thread: Option<JoinHandle<()>>,
}

/// A batch to be committed, and where its answer goes.
struct Asked {
    batch: Batch,
    answer: Sender<Result<CommitInfo>>,
}

impl Committer {
    /// Starts it; `None` where the system gives no thread.
    pub(in crate::document) fn start(engine: Arc<dyn Engine>) -> Option<Self> {
        let (queue, asked) = async_channel::bounded(COMMITTER_QUEUE_MAX);
        let thread = std::thread::Builder::new().name("recension-committer".to_owned());
        let thread = thread.spawn(move || run(&*engine, &asked)).ok()?;
        Some(Committer { queue, thread: Some(thread) })
    }

    /// As [`Engine::commit`].
    pub(super) async fn commit(&self, batch: Batch) -> Result<CommitInfo> {
        let (answer, answered) = async_channel::bounded(1);
        let unanswered = || EngineError::Poisoned { cause: "a commit was not answered".to_owned() };
        self.queue.send(Asked { batch, answer }).await.map_err(|_| unanswered())?;
        answered.recv().await.map_err(|_| unanswered())?
    }
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
fn run(engine: &dyn Engine, asked: &Receiver<Asked>) {
    let mut pace = Pace::default();
    while let Ok(first) = asked.recv_blocking() {
        wait_for_more(&mut pace, asked);
        let (batches, answers) = gather(first, asked);
        let (count, started) = (batches.len(), Instant::now());
        // After a panic nothing is known of these commits: no task gets an answer.
        let commits = catch_unwind(AssertUnwindSafe(|| engine.commit_all(batches))).unwrap_or_default();
        pace.expected = count + asked.len();
        pace.took = started.elapsed();
        for (answer, commit) in answers.into_iter().zip(commits) {
            // Who does not wait any more has dropped its future.
            let _ = answer.try_send(commit);
        }
    }
}

/// Lets tasks of the group before come back first: they would else wait for two groups.
fn wait_for_more(pace: &mut Pace, asked: &Receiver<Asked>) {
    let Some(patience) = pace.wait(1 + asked.len()) else { return };
    let started = Instant::now();
    let in_vain = loop {
        std::thread::yield_now();
        if started.elapsed() >= patience {
            break true;
        }
        if 1 + asked.len() >= pace.expected {
            break false;
        }
    };
    pace.waited(in_vain);
}

/// Takes what is at hand, up to as many bytes as one group has.
fn gather(first: Asked, asked: &Receiver<Asked>) -> (Vec<Batch>, Vec<Sender<Result<CommitInfo>>>) {
    let (mut batches, mut answers, mut bytes) = (Vec::new(), Vec::new(), 0);
    let mut next = Some(first);
    while let Some(Asked { batch, answer }) = next {
        bytes += batch.size_bytes();
        batches.push(batch);
        answers.push(answer);
        let room = bytes < COMMITTER_GROUP_BYTES && batches.len() < COMMITTER_QUEUE_MAX;
        next = if room { asked.try_recv().ok() } else { None };
    }
    (batches, answers)
}
