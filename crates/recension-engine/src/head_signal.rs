//! Waiting for the next commit. A commit that nobody waits for pays one atomic read.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::Seq;

/// Wakes those that wait for the head to move. For engines: [`Engine::wait_beyond`](super::Engine::wait_beyond).
#[derive(Debug, Default)]
pub struct HeadSignal {
    /// Threads and tasks that wait.
    waiting: AtomicUsize,
    /// The tasks that wait; a lock for the threads.
    wakers: Mutex<Vec<Waker>>,
    moved: Condvar,
}

/// Most tasks that are remembered. One more wakes all of them, to ask again.
const WAKERS_MAX: usize = 65_536;

impl HeadSignal {
    /// Announces that the head has moved. The new head must already be visible to the waiters' `head`.
    pub fn moved(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            let mut wakers = self.wakers.lock();
            self.moved.notify_all();
            self.waiting.fetch_sub(wakers.len(), Ordering::SeqCst);
            let woken = std::mem::take(&mut *wakers);
            drop(wakers);
            woken.into_iter().for_each(Waker::wake);
        }
    }

    /// Waits until `head` is beyond `seq` or `timeout` has passed; returns the head.
    pub fn wait_beyond(&self, seq: Seq, timeout: Duration, head: impl Fn() -> Seq) -> Seq {
        // A timeout too long for the clock is no timeout.
        let deadline = Instant::now().checked_add(timeout);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut guard = self.wakers.lock();
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

    /// Returns whether `head` is beyond `seq`; if it is not, `waker` is woken when the head moves.
    pub fn wake_beyond(&self, seq: Seq, waker: &Waker, head: impl Fn() -> Seq) -> bool {
        if head() > seq {
            return true;
        }
        let mut wakers = self.wakers.lock();
        // It is counted before the head is looked at again: whoever moves the head later sees a waiter.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        wakers.push(waker.clone());
        if head() > seq {
            wakers.pop();
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return true;
        }
        if wakers.len() > WAKERS_MAX {
            self.waiting.fetch_sub(wakers.len(), Ordering::SeqCst);
            std::mem::take(&mut *wakers).into_iter().for_each(Waker::wake);
        }
        false
    }
}
