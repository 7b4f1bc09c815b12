//! A budget of bytes that all streamed answers share. Bytes are taken before a piece is made, and given back when it
//! was sent. If nothing is left, callers wait in a line, so that lists take turns. This file knows nothing of answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// Bytes that may be held at a time.
#[derive(Debug)]
pub(crate) struct Budget {
    max: usize,
    /// Each permit is a free byte.
    free: Semaphore,
    /// Bytes that are held beyond the budget: pieces turned out longer than what was taken for them. They are paid
    /// back before anything is given to others.
    owed: Mutex<usize>,
    waiting: AtomicUsize,
}

/// A part of the budget, which goes back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    /// A budget of `max` bytes, at least 1.
    pub(crate) fn new(max: usize) -> Arc<Self> {
        let max = max.clamp(1, Semaphore::MAX_PERMITS);
        Arc::new(Budget { max, free: Semaphore::new(max), owed: Mutex::new(0), waiting: AtomicUsize::new(0) })
    }

    /// Takes some bytes, after the callers that came before. A caller that asks for more than the whole budget gets all
    /// of it.
    pub(crate) async fn take(self: &Arc<Self>, bytes: usize) -> Share {
        let bytes = bytes.min(self.max);
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        let taken = match self.free.try_acquire_many(permits) {
            Ok(taken) => Ok(taken),
            Err(_) => {
                let _counted = Waiting::of(&self.waiting);
                self.free.acquire_many(permits).await
            }
        };
        // It is never closed, so that there always are permits.
        let bytes = taken.map_or(0, |taken| {
            taken.forget();
            permits as usize
        });
        Share { budget: Arc::clone(self), bytes }
    }

    /// Takes some bytes from the first half of the budget, for work that is optional. It does not wait.
    pub(crate) fn spare(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        if self.held().checked_add(bytes)? > self.max / 2 {
            return None;
        }
        self.at_once(bytes)
    }

    /// Takes some bytes if they are free. It does not wait.
    pub(crate) fn at_once(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        self.free.try_acquire_many(u32::try_from(bytes).ok()?).ok()?.forget();
        Some(Share { budget: Arc::clone(self), bytes })
    }

    /// Bytes that are held now.
    pub(crate) fn held(&self) -> usize {
        (self.max - self.free.available_permits().min(self.max)).saturating_add(*self.owed.lock())
    }

    /// Bytes that may be held.
    pub(crate) fn max(&self) -> usize {
        self.max
    }

    /// How many callers wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

impl Share {
    /// Sets the share to the size that the piece turned out to have. It does not wait: the piece is in memory already.
    pub(crate) fn settle(&mut self, bytes: usize) {
        let before = std::mem::replace(&mut self.bytes, bytes);
        if bytes > before {
            let mut owed = self.budget.owed.lock();
            *owed += bytes - before - self.budget.free.forget_permits(bytes - before);
        } else {
            self.budget.give_back(before - bytes);
        }
    }
}

impl Share {
    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes it larger, if there is room. It does not wait.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let Some(mut more) = self.budget.at_once(bytes) else { return false };
        self.bytes += std::mem::take(&mut more.bytes);
        true
    }
}

impl Budget {
    fn give_back(&self, bytes: usize) {
        let mut owed = self.owed.lock();
        let paid = bytes.min(*owed);
        *owed -= paid;
        self.free.add_permits(bytes - paid);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

/// Counts a caller that waits, until it has got its bytes or given up.
struct Waiting<'b>(&'b AtomicUsize);

impl<'b> Waiting<'b> {
    fn of(count: &'b AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn no_more_is_given_than_there_is_and_all_comes_back() {
        let budget = Budget::new(100);
        let mut first = pin!(budget.take(60));
        let Poll::Ready(first) = poll(first.as_mut()) else { panic!("there was enough") };
        let mut second = pin!(budget.take(60));
        assert!(poll(second.as_mut()).is_pending());
        assert_eq!((budget.held(), budget.waiting()), (100, 1), "what is left is kept for who waits first");
        drop(first);
        let Poll::Ready(second) = poll(second.as_mut()) else { panic!("all was given back") };
        assert_eq!((budget.held(), budget.waiting()), (60, 0));
        drop(second);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn who_waits_longer_is_served_first_and_who_goes_away_holds_nobody_up() {
        let budget = Budget::new(10);
        let Poll::Ready(all) = poll(pin!(budget.take(10))) else { panic!() };
        let mut gone = Box::pin(budget.take(10));
        let (mut long, mut short) = (pin!(budget.take(8)), pin!(budget.take(1)));
        assert!(poll(gone.as_mut()).is_pending() && poll(long.as_mut()).is_pending());
        assert!(poll(short.as_mut()).is_pending());
        assert_eq!(budget.waiting(), 3);
        drop(gone);
        drop(all);
        let Poll::Ready(long) = poll(long.as_mut()) else { panic!("it is its turn") };
        let Poll::Ready(short) = poll(short.as_mut()) else { panic!("there is one left") };
        assert_eq!((budget.held(), budget.waiting()), (9, 0));
        drop((long, short));
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn a_budget_smaller_than_a_piece_lets_one_piece_at_a_time_through() {
        let budget = Budget::new(10);
        let Poll::Ready(mut piece) = poll(pin!(budget.take(64))) else { panic!("it would wait for ever") };
        piece.settle(70);
        assert_eq!(budget.held(), 70);
        let mut next = pin!(budget.take(64));
        assert!(poll(next.as_mut()).is_pending());
        drop(piece);
        assert!(poll(next.as_mut()).is_ready());
    }

    #[test]
    fn what_was_held_beyond_the_budget_is_paid_back_before_others_get_anything() {
        let budget = Budget::new(100);
        let Poll::Ready(mut large) = poll(pin!(budget.take(50))) else { panic!() };
        let Poll::Ready(other) = poll(pin!(budget.take(40))) else { panic!() };
        large.settle(150);
        assert_eq!(budget.held(), 190);
        let mut next = pin!(budget.take(1));
        assert!(poll(next.as_mut()).is_pending());
        drop(other);
        assert_eq!(budget.held(), 150);
        assert!(poll(next.as_mut()).is_pending());
        large.settle(30);
        let Poll::Ready(next) = poll(next.as_mut()) else { panic!("there are seventy left") };
        drop((large, next));
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn what_grows_takes_what_there_is_and_no_more() {
        let budget = Budget::new(100);
        let mut share = budget.at_once(40).unwrap();
        assert!(share.grow(60) && !share.grow(1) && budget.at_once(1).is_none());
        assert_eq!(budget.held(), 100);
        drop(share);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn what_can_be_done_without_leaves_half_of_the_budget_to_what_cannot() {
        let budget = Budget::new(100);
        let spare = budget.spare(30);
        assert!(spare.is_some() && budget.spare(30).is_none() && budget.spare(usize::MAX).is_none());
        let Poll::Ready(taken) = poll(pin!(budget.take(40))) else { panic!() };
        assert!(budget.spare(1).is_none());
        drop((spare, taken));
        assert_eq!(budget.held(), 0);
    }
}
