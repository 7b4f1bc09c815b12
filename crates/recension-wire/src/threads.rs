//! Threads for work that reads or writes the store and may wait for it: a fixed number for each purpose, begun when
//! they are needed. Work waits in a line, without a thread. It is skipped if its asker has gone before its turn.

use std::any::Any;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::error::{ApiError, Result};
use crate::limits::THREAD_IDLE_SECONDS;

/// Some threads.
#[derive(Debug)]
pub struct Threads {
    /// Only its threads for blocking work are used. `None` once it is dropped.
    runtime: Option<Runtime>,
}

impl Threads {
    /// At most this many threads.
    pub fn new(name: &str, most: usize) -> Result<Self> {
        Self::that_begin_by(|| {}, name, most)
    }

    /// The same for long work: while processors are short, other threads go first.
    pub fn for_long_work(name: &str, most: usize) -> Result<Self> {
        Self::that_begin_by(give_way, name, most)
    }

    fn that_begin_by(begin: fn(), name: &str, most: usize) -> Result<Self> {
        let runtime = Builder::new_current_thread()
            .thread_name(name)
            .on_thread_start(begin)
            .max_blocking_threads(most.max(1))
            .thread_keep_alive(Duration::from_secs(THREAD_IDLE_SECONDS))
            .build();
        let failed = |error: std::io::Error| ApiError::internal(format!("no threads can be started: {error}"));
        Ok(Threads { runtime: Some(runtime.map_err(failed)?) })
    }

    /// Runs work on one of them. If the future is dropped before the work has begun, the work does not run.
    ///
    /// Only the boxing is compiled for each kind of work: the runtime's machinery is long, and is here once.
    pub fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        self.answered(Box::new(move || answer(work())))
    }

    async fn answered<T: Send + 'static>(&self, work: Work) -> Result<T> {
        taken(self.done(work).await?)
    }

    async fn done(&self, work: Work) -> Result<AnyAnswer> {
        let Some(runtime) = &self.runtime else { return Err(ApiError::stopping()) };
        let mut running = JoinSet::new();
        running.spawn_blocking_on(work, runtime.handle());
        joined(&mut running).await
    }
}

/// How much nicer a thread of long work is than others: of a processor that both want it gets a third of what they get
/// (sched(7)).
#[cfg(target_os = "linux")]
const LONG_WORK_NICER: i32 = 5;

/// Lets other threads go first. Linux has a niceness for each thread; elsewhere it would be that of the process.
fn give_way() {
    #[cfg(target_os = "linux")]
    {
        let thread = Some(rustix::thread::gettid());
        // Who may not change it has what it had.
        if let Ok(nice) = rustix::process::getpriority_process(thread) {
            let _ = rustix::process::setpriority_process(thread, (nice + LONG_WORK_NICER).min(19));
        }
    }
}

/// Work of any kind, and what it returned: a `Result<T>`, which only its asker knows the type of.
type Work = Box<dyn FnOnce() -> AnyAnswer + Send>;
type AnyAnswer = Box<dyn Any + Send>;

fn answer<T: Send + 'static>(answer: Result<T>) -> AnyAnswer {
    Box::new(answer)
}

/// An answer as its asker has its type.
fn taken<T: 'static>(answer: AnyAnswer) -> Result<T> {
    match answer.downcast() {
        Ok(answer) => *answer,
        Err(_) => Err(ApiError::internal("an answer was another's")),
    }
}

/// What the only task of a set returned.
async fn joined(running: &mut JoinSet<AnyAnswer>) -> Result<AnyAnswer> {
    match running.join_next().await {
        Some(Ok(done)) => Ok(done),
        Some(Err(error)) => {
            tracing::error!(%error, "a request's work panicked");
            Err(ApiError::internal("see the server's log"))
        }
        None => Err(ApiError::stopping()),
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // This may be dropped within a task: running work is not waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Tells work on a thread whether its asker still waits.
#[derive(Debug)]
pub struct Asker(Weak<()>);

/// An asker, and the value that it holds while it waits.
pub fn asker() -> (Asker, Arc<()>) {
    let waits = Arc::new(());
    (Asker(Arc::downgrade(&waits)), waits)
}

impl Asker {
    /// Is called between two steps of long work: an error if nobody waits for the result.
    pub fn waits(&self) -> Result<()> {
        if self.0.strong_count() > 0 { Ok(()) } else { Err(ApiError::asker_gone()) }
    }
}

/// Threads for whole requests, for a store whose reads may wait. They run tasks, each of which may block its thread.
/// The threads of connections then never wait for the store. They begin with the first request: a program that answers
/// one, on its own thread, has none.
#[derive(Debug)]
pub struct Handlers {
    most: usize,
    runtime: OnceLock<Runtime>,
}

impl Handlers {
    /// So many threads.
    pub fn new(most: usize) -> Self {
        Handlers { most: most.max(1), runtime: OnceLock::new() }
    }

    fn runtime(&self) -> Result<&Runtime> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let runtime = Builder::new_multi_thread()
            .thread_name("recension-requests")
            .worker_threads(self.most)
            .enable_time()
            .build();
        let failed = |error: std::io::Error| ApiError::internal(format!("no threads can be started: {error}"));
        if let Err(second) = self.runtime.set(runtime.map_err(failed)?) {
            // Another request was faster.
            second.shutdown_background();
        }
        self.runtime.get().ok_or_else(ApiError::stopping)
    }

    /// Runs a task there. It ends when its asker goes.
    pub async fn run<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> Result<T> {
        let task: Pin<Box<dyn Future<Output = AnyAnswer> + Send>> = Box::pin(async move { answer(Ok(task.await)) });
        let mut running = JoinSet::new();
        running.spawn_on(task, self.runtime()?.handle());
        taken(joined(&mut running).await?)
    }
}

impl Drop for Handlers {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn no_more_threads_run_than_there_may_be() {
        let threads = Arc::new(Threads::new("test", 2).unwrap());
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut all = JoinSet::new();
        for number in 0..100 {
            let (threads, running, most) = (Arc::clone(&threads), Arc::clone(&running), Arc::clone(&most));
            all.spawn(async move {
                let work = move || {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                    Ok(number)
                };
                threads.run(work).await.unwrap()
            });
        }
        let mut done = all.join_all().await;
        done.sort_unstable();
        assert_eq!(done, (0..100).collect::<Vec<_>>());
        assert!(most.load(Ordering::SeqCst) <= 2);
    }

    #[tokio::test]
    async fn work_whose_asker_has_gone_does_not_begin() {
        let threads = Threads::new("test", 1).unwrap();
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let (begun, ran) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let busy = threads.run({
            let begun = Arc::clone(&begun);
            move || {
                begun.store(1, Ordering::SeqCst);
                wait.recv().unwrap();
                Ok(())
            }
        });
        let gone = async {
            let ran = Arc::clone(&ran);
            let work = threads.run(move || {
                ran.store(1, Ordering::SeqCst);
                Ok(())
            });
            // It waits behind the busy one, and is given up.
            assert!(tokio::time::timeout(Duration::ZERO, work).await.is_err());
            go.send(()).unwrap();
        };
        let (busy, ()) = tokio::join!(busy, gone);
        busy.unwrap();
        threads.run(|| Ok(())).await.unwrap();
        assert_eq!((begun.load(Ordering::SeqCst), ran.load(Ordering::SeqCst)), (1, 0));
    }

    #[test]
    fn work_is_told_that_its_asker_has_gone() {
        let (asker, waits) = asker();
        assert_eq!(asker.waits(), Ok(()));
        drop(waits);
        assert_eq!(asker.waits(), Err(ApiError::asker_gone()));
    }

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let threads = Threads::new("test", 1).unwrap();
        let failed: Result<()> = threads.run(|| panic!("on purpose")).await;
        assert_eq!(failed.unwrap_err().status, http::StatusCode::INTERNAL_SERVER_ERROR);
        assert!(threads.run(|| Ok(())).await.is_ok());
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn long_work_gives_way_and_other_work_does_not() {
        use rustix::process::getpriority_process;
        let nice = || Ok(getpriority_process(Some(rustix::thread::gettid())).unwrap());
        let before = nice().unwrap();
        let of_long = Threads::for_long_work("test", 1).unwrap().run(nice).await.unwrap();
        let of_other = Threads::new("test", 1).unwrap().run(nice).await.unwrap();
        assert_eq!((of_long, of_other, nice().unwrap()), ((before + LONG_WORK_NICER).min(19), before, before));
    }
}
