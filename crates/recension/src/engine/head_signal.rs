//! How a thread waits for the next commit. A commit that nobody waits for pays one atomic read.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::Seq;

/// Wakes those that wait for the head to move. For engines: [`Engine::wait_beyond`](super::Engine::wait_beyond).
#[derive(Debug, Default)]
pub struct HeadSignal {
    waiting: AtomicUsize,
    lock: Mutex<()>,
    moved: Condvar,
}

impl HeadSignal {
    /// Says that the head has moved. The new head is already visible to the `head` of those that wait.
    pub fn moved(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            let _guard = self.lock.lock();
            self.moved.notify_all();
        }
    }

    /// Waits until `head` is beyond `seq` or `timeout` has passed; answers the head.
    pub fn wait_beyond(&self, seq: Seq, timeout: Duration, head: impl Fn() -> Seq) -> Seq {
        // A timeout too long for the clock is no timeout.
        let deadline = Instant::now().checked_add(timeout);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut guard = self.lock.lock();
        while head() <= seq {
            match deadline {
                Some(deadline) if self.moved.wait_until(&mut guard, deadline).timed_out() => break,
                Some(_) => {}
                None => self.moved.wait(&mut guard),
            }
        }
        drop(guard);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        head()
    }
}
