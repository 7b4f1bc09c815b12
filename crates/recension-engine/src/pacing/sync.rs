//! The synchronisation primitives of the commit queue, in one place, so that a model checker's can replace them:
//! `conformance/tests/group_commit_model.rs` compiles the queue beside another `sync`.

pub(super) use std::hint::spin_loop;
pub(super) use std::sync::atomic::{AtomicU8, Ordering};
pub(super) use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
pub(super) use std::thread::{self, Thread};

/// How many threads run at a time. The system is asked once: it reads files for that.
pub(super) fn processors() -> usize {
    static PROCESSORS: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, std::num::NonZero::get))
}

/// Sleeps for about as long as a thread takes to wake.
pub(super) fn doze() {
    thread::sleep(std::time::Duration::from_micros(50));
}

/// Measures how long something takes.
pub(super) struct Stopwatch(std::time::Instant);

impl Stopwatch {
    pub(super) fn start() -> Self {
        Stopwatch(std::time::Instant::now())
    }

    pub(super) fn elapsed(&self) -> std::time::Duration {
        self.0.elapsed()
    }
}
