//! Budgets of bytes that doors share: one for all that waits to be sent, one for all that is being received. Bytes are
//! taken before they exist, and given back when they were sent or are done with. If nothing is left, callers wait in a
//! line without memory, so that they take turns. This file knows no protocol.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How long somebody who holds bytes may take none of them while others wait for bytes.
pub const PRESSED: Duration = Duration::from_secs(3);

/// Bytes that everybody may hold without asking: no more than a connection's own buffers.
pub const FREE_BYTES: usize = 16 * 1024;

/// Bytes of a [`Holding`] that cost nothing.
pub const HOLDING_FREE_BYTES: usize = 8 * 1024;

/// The fewest bytes a second that come in from somebody whom others wait for.
const PRESSED_BYTES_A_SECOND: usize = 1 << 20;

/// Bytes that may be held at a time.
///
/// ```
/// use recension_engine::budget::Budget;
///
/// let budget = Budget::new(100);
/// let share = budget.at_once(60).unwrap();
/// assert!(budget.at_once(60).is_none());
/// drop(share);
/// assert!(budget.at_once(60).is_some());
/// ```
#[derive(Debug)]
pub struct Budget {
    max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// It is beyond `max` if pieces turned out longer than what was taken for them: then nobody gets anything until
    /// that was paid back.
    held: usize,
    /// Who waits, in their order.
    line: VecDeque<Place>,
    next: u64,
}

#[derive(Debug)]
struct Place {
    number: u64,
    bytes: usize,
    waker: Waker,
}

/// A part of a budget, which goes back when it is dropped.
#[derive(Debug)]
pub struct Share {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    /// A budget of `max` bytes, at least 1.
    pub fn new(max: usize) -> Arc<Self> {
        Arc::new(Budget { max: max.max(1), state: Mutex::default() })
    }

    /// Takes some bytes, after the callers that came before. A caller that asks for more than the whole budget gets all
    /// of it.
    pub fn take(self: &Arc<Self>, bytes: usize) -> Take {
        Take { budget: Arc::clone(self), bytes: bytes.min(self.max), number: None }
    }

    /// The same for a thread, which waits for so long at most.
    pub fn take_within(self: &Arc<Self>, bytes: usize, patience: Duration) -> Option<Share> {
        let (mut take, deadline) = (self.take(bytes), Instant::now() + patience);
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        loop {
            if let Poll::Ready(share) = Pin::new(&mut take).poll(&mut Context::from_waker(&waker)) {
                return Some(share);
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            std::thread::park_timeout(left);
        }
    }

    /// Takes some bytes from the first half of the budget, for work that is optional. It does not wait.
    pub fn spare(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        self.within(bytes, self.max / 2)
    }

    /// Takes some bytes if they are free and nobody waits for them.
    pub fn at_once(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        self.within(bytes, self.max)
    }

    /// A share without bytes, to be settled to what there is.
    pub fn nothing(self: &Arc<Self>) -> Share {
        Share { budget: Arc::clone(self), bytes: 0 }
    }

    fn within(self: &Arc<Self>, bytes: usize, most: usize) -> Option<Share> {
        let mut state = self.state.lock();
        if !state.line.is_empty() || state.held.checked_add(bytes)? > most {
            return None;
        }
        state.held += bytes;
        Some(Share { budget: Arc::clone(self), bytes })
    }

    /// Bytes that are held now.
    pub fn held(&self) -> usize {
        self.state.lock().held
    }

    /// Bytes that may be held.
    pub fn max(&self) -> usize {
        self.max
    }

    /// How many callers wait.
    pub fn waiting(&self) -> usize {
        self.state.lock().line.len()
    }

    /// Whether more is held than may be, because pieces turned out longer than what was taken for them. Who is about to
    /// make another asks again.
    pub fn is_overdrawn(&self) -> bool {
        self.held() > self.max
    }

    fn give_back(&self, bytes: usize) {
        let woken = {
            let mut state = self.state.lock();
            state.held -= bytes;
            state.serve(self.max)
        };
        woken.into_iter().for_each(Waker::wake);
    }
}

impl State {
    /// Gives those who wait longest what they wait for, if there is enough.
    fn serve(&mut self, max: usize) -> Vec<Waker> {
        let mut woken = Vec::new();
        while self.line.front().is_some_and(|first| self.held + first.bytes <= max) {
            let Some(first) = self.line.pop_front() else { break };
            self.held += first.bytes;
            woken.push(first.waker);
        }
        woken
    }
}

impl Share {
    /// Sets the share to the size that the piece turned out to have. It does not wait: the piece is in memory already.
    pub fn settle(&mut self, bytes: usize) {
        let before = std::mem::replace(&mut self.bytes, bytes);
        if bytes > before {
            self.budget.state.lock().held += bytes - before;
        } else {
            self.budget.give_back(before - bytes);
        }
    }

    /// Takes a part of it out, if it is so large.
    pub fn split(&mut self, bytes: usize) -> Option<Share> {
        self.bytes = self.bytes.checked_sub(bytes)?;
        Some(Share { budget: Arc::clone(&self.budget), bytes })
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes it larger, if there is room and nobody waits for it. It does not wait.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let Some(mut more) = self.budget.at_once(bytes) else { return false };
        self.bytes += std::mem::take(&mut more.bytes);
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

/// What somebody keeps from one request to the next: commands of a transaction, a feed's filter. The first
/// [`HOLDING_FREE_BYTES`] cost nothing, so that what is short always has room.
#[derive(Debug)]
pub struct Holding {
    share: Share,
    bytes: usize,
}

impl Holding {
    /// Nothing yet.
    pub fn new(budget: &Arc<Budget>) -> Self {
        Holding { share: budget.nothing(), bytes: 0 }
    }

    /// Keeps this many bytes more, if there is room. It does not wait: who has room may keep it for ever.
    #[must_use]
    pub fn grow(&mut self, bytes: usize) -> bool {
        let wanted = self.bytes.saturating_add(bytes);
        let paid = wanted.saturating_sub(HOLDING_FREE_BYTES);
        let has_room = paid <= self.share.bytes() || self.share.grow(paid - self.share.bytes());
        if has_room {
            self.bytes = wanted;
        }
        has_room
    }

    /// Keeps this many bytes less.
    pub fn shrink(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.share.settle(self.bytes.saturating_sub(HOLDING_FREE_BYTES));
    }
}

/// A share that is waited for. If it is dropped before, its place in the line goes to the next.
#[derive(Debug)]
pub struct Take {
    budget: Arc<Budget>,
    bytes: usize,
    /// The place in the line.
    number: Option<u64>,
}

impl Future for Take {
    type Output = Share;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Share> {
        let take = &mut *self;
        let (bytes, mut state) = (take.bytes, take.budget.state.lock());
        match take.number {
            None if state.line.is_empty() && state.held + bytes <= take.budget.max => state.held += bytes,
            None => {
                let number = state.next;
                state.next += 1;
                state.line.push_back(Place { number, bytes, waker: context.waker().clone() });
                take.number = Some(number);
                return Poll::Pending;
            }
            Some(number) => {
                if let Some(place) = state.line.iter_mut().find(|place| place.number == number) {
                    place.waker.clone_from(context.waker());
                    return Poll::Pending;
                }
                take.number = None;
            }
        }
        drop(state);
        Poll::Ready(Share { budget: Arc::clone(&take.budget), bytes })
    }
}

impl Drop for Take {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let woken = {
            let mut state = self.budget.state.lock();
            match state.line.iter().position(|place| place.number == number) {
                Some(at) => _ = state.line.remove(at),
                // It was given, and is not wanted any more.
                None => state.held -= self.bytes,
            }
            state.serve(self.budget.max)
        };
        woken.into_iter().for_each(Waker::wake);
    }
}

/// Wakes a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// How long a server waits for a reader that takes nothing: shorter while others wait for the memory that it holds.
#[derive(Clone, Debug)]
pub struct Patience {
    budget: Arc<Budget>,
    most: Duration,
}

impl Patience {
    /// With readers of bytes of this budget; `most` while nobody waits.
    pub fn new(budget: Arc<Budget>, most: Duration) -> Self {
        Patience { budget, most }
    }

    /// The budget.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// The time while nobody waits.
    pub fn most(&self) -> Duration {
        self.most
    }

    /// The time until the next look at a reader that has taken nothing since `waited`; `None`: the reader is given up.
    pub fn left(&self, waited: Duration) -> Option<Duration> {
        let most = if self.budget.waiting() > 0 { PRESSED.min(self.most) } else { self.most };
        most.checked_sub(waited).filter(|left| !left.is_zero()).map(|left| left.min(PRESSED))
    }
}

/// The bytes of one request while they come in: paid for before they are kept. Who is slow while others wait is given
/// up.
#[derive(Debug)]
pub struct Arrival {
    budget: Arc<Budget>,
    share: Option<Share>,
    began: Instant,
}

/// There is no room for a request, or others wait for the room that it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoRoom;

impl Arrival {
    /// A request that begins.
    pub fn new(budget: &Arc<Budget>) -> Self {
        Arrival { budget: Arc::clone(budget), share: None, began: Instant::now() }
    }

    /// Makes room for this many bytes in all, of which [`FREE_BYTES`] cost nothing. Who has no room yet waits for
    /// it, for a limited time; who has some and needs more gets it at once or not at all, since two who wait for each
    /// other would wait for ever. So a length that is known is asked for at once.
    ///
    /// # Errors
    /// [`NoRoom`].
    pub async fn room_for(
        &mut self,
        bytes: usize,
        patience: impl Future<Output = ()>,
    ) -> std::result::Result<(), NoRoom> {
        let Some(wanted) = bytes.checked_sub(FREE_BYTES).filter(|wanted| *wanted > 0) else { return Ok(()) };
        if let Some(share) = &mut self.share {
            let wanted = wanted.min(self.budget.max);
            return if wanted <= share.bytes() || share.grow(wanted - share.bytes()) { Ok(()) } else { Err(NoRoom) };
        }
        let mut take = self.budget.take(wanted);
        let mut patience = std::pin::pin!(patience);
        let taken = std::future::poll_fn(|context| match Pin::new(&mut take).poll(context) {
            Poll::Ready(share) => Poll::Ready(Ok(share)),
            Poll::Pending => patience.as_mut().poll(context).map(|()| Err(NoRoom)),
        });
        self.share = Some(taken.await?);
        self.began = Instant::now();
        Ok(())
    }

    /// The same for a thread.
    ///
    /// # Errors
    /// [`NoRoom`].
    pub fn room_within(&mut self, bytes: usize, patience: Duration) -> std::result::Result<(), NoRoom> {
        if self.share.is_none()
            && let Some(wanted) = bytes.checked_sub(FREE_BYTES).filter(|wanted| *wanted > 0)
        {
            self.share = Some(self.budget.take_within(wanted, patience).ok_or(NoRoom)?);
            self.began = Instant::now();
        }
        Ok(())
    }

    /// Says that this many bytes have come.
    ///
    /// # Errors
    /// [`NoRoom`] if others wait for the room, and the bytes come slowly.
    pub fn came(&self, bytes: usize) -> std::result::Result<(), NoRoom> {
        let is_slow = || {
            let since = self.began.elapsed();
            let least = PRESSED_BYTES_A_SECOND.saturating_mul(usize::try_from(since.as_secs()).unwrap_or(usize::MAX));
            since > PRESSED && bytes < least
        };
        if self.share.is_some() && self.budget.waiting() > 0 && is_slow() { Err(NoRoom) } else { Ok(()) }
    }

    /// How long to wait for the next bytes before [`Arrival::came`] is asked again.
    pub fn next_look(&self, idle: Duration) -> Duration {
        if self.share.is_some() { idle.min(PRESSED) } else { idle }
    }

    /// What was taken, to be held as long as the bytes are.
    pub fn into_share(self) -> Option<Share> {
        self.share
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

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
        assert_eq!((budget.held(), budget.waiting()), (60, 1));
        assert!(budget.at_once(1).is_none(), "what is left is kept for who waits first");
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

    #[test]
    fn a_thread_waits_no_longer_than_it_likes() {
        let budget = Budget::new(10);
        let all = budget.at_once(10).unwrap();
        assert!(budget.take_within(1, Duration::ZERO).is_none());
        assert_eq!(budget.waiting(), 0);
        std::thread::scope(|threads| {
            let waits = threads.spawn(|| budget.take_within(10, Duration::from_mins(1)).map(|share| share.bytes()));
            while budget.waiting() == 0 {
                std::thread::yield_now();
            }
            drop(all);
            assert_eq!(waits.join().unwrap(), Some(10));
        });
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn who_was_served_and_goes_away_holds_nothing() {
        let budget = Budget::new(10);
        let all = budget.at_once(10).unwrap();
        let mut gone = Box::pin(budget.take(10));
        assert!(poll(gone.as_mut()).is_pending());
        drop(all);
        assert_eq!(budget.held(), 10);
        drop(gone);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn a_request_waits_for_room_once_and_two_never_for_each_other() {
        let budget = Budget::new(100_000);
        let (mut first, mut second) = (Arrival::new(&budget), Arrival::new(&budget));
        let of = |arrival: &mut Arrival, bytes: usize| poll(pin!(arrival.room_for(bytes, std::future::pending())));
        assert_eq!(of(&mut first, FREE_BYTES), Poll::Ready(Ok(())));
        assert_eq!(budget.held(), 0, "short requests cost nothing");
        assert_eq!(of(&mut first, FREE_BYTES + 60_000), Poll::Ready(Ok(())));
        assert_eq!(of(&mut second, FREE_BYTES + 60_000), Poll::Pending);
        assert_eq!(of(&mut second, FREE_BYTES + 40_000), Poll::Ready(Ok(())));
        assert_eq!(of(&mut second, FREE_BYTES + 40_001), Poll::Ready(Err(NoRoom)));
        let refused = poll(pin!(Arrival::new(&budget).room_for(1 << 20, std::future::ready(()))));
        assert_eq!(refused, Poll::Ready(Err(NoRoom)), "patience ends");
        assert_eq!(first.came(0), Ok(()));
        assert_eq!(first.into_share().map(|share| share.bytes()), Some(60_000));
        drop(second);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn who_does_not_read_is_given_up_sooner_while_others_wait() {
        let seconds = Duration::from_secs;
        let budget = Budget::new(1);
        let patience = Patience::new(Arc::clone(&budget), seconds(60));
        let held = budget.at_once(1).unwrap();
        assert_eq!(patience.left(seconds(0)), Some(PRESSED), "then one looks again");
        assert_eq!(patience.left(seconds(59)), Some(seconds(1)));
        assert_eq!(patience.left(seconds(60)), None);
        let mut waits = Box::pin(budget.take(1));
        assert!(poll(waits.as_mut()).is_pending());
        assert_eq!(patience.left(seconds(1)).map(|left| left + seconds(1)), Some(PRESSED));
        assert_eq!(patience.left(PRESSED), None);
        drop(waits);
        assert_eq!(patience.left(PRESSED), Some(PRESSED));
        drop(held);
    }
}
