//! The commit queue: callers bring items, and one of them leads and works for all that wait. A lone caller leads at
//! once and hands nothing to another thread. Every submitted item is given to exactly one leader, in the order of
//! submission. Every caller gets its answer or learns that the queue is broken; none waits for ever.
//!
//! Callers that write one thing after another come back right after their answer. If a leader began at once, those of
//! the last group would miss it, and each sync would serve half of them. The leader therefore lets them run first, for
//! a part of the time that a group takes, and rarely if that was in vain. A waiting caller sleeps. Only if groups are
//! faster than waking, and every caller has a processor, does it poll.

use std::collections::VecDeque;
use std::time::Duration;

use super::pace::{Pace, WAIT_MAX};
use super::sync::{
    Arc, AtomicU8, Mutex, MutexGuard, Ordering, PoisonError, Stopwatch, Thread, doze, processors, spin_loop, thread,
};

/// Most items that one leader takes at a time.
const GROUP_ITEMS_MAX: usize = 1024;

/// A queue whose callers take turns at leading.
pub struct CommitQueue<T, R> {
    state: Mutex<State<T, R>>,
    processors: usize,
}

struct State<T, R> {
    waiting: VecDeque<Arc<Ticket<T, R>>>,
    /// The number of items that are being worked on.
    worked_on: usize,
    /// A caller leads, or has been told to.
    led: bool,
    /// A leader panicked: nobody works any more.
    broken: bool,
    pace: Pace,
}

struct Ticket<T, R> {
    item: Mutex<Option<T>>,
    answer: Mutex<Option<R>>,
    signal: AtomicU8,
    thread: Thread,
}

/// The caller's turn has not come.
const WAIT: u8 = 0;
/// The caller must lead.
const LEAD: u8 = 1;
/// The caller's answer is there.
const DONE: u8 = 2;
/// The queue broke.
const BROKEN: u8 = 3;

impl<T, R> Ticket<T, R> {
    /// Waits for the caller's turn or answer, first polling for the time `spin`.
    fn called(&self, spin: Duration) -> u8 {
        let mut spinning = None;
        loop {
            match self.signal.load(Ordering::Acquire) {
                // It polls without yielding: if other threads compute, a yield would last for their time slice, which
                // is milliseconds.
                WAIT if !spin.is_zero() && spinning.get_or_insert_with(Stopwatch::start).elapsed() < spin => {
                    spin_loop();
                }
                WAIT => thread::park(),
                signal => return signal,
            }
        }
    }
}

/// Lets others run until `there` is as much as expected, or patience is over. Returns whether that was in vain: also if
/// all have come, but too late. If other threads use the processor, a thread that yields gets it back after their time
/// slice, which is milliseconds.
pub fn give_way(expected: usize, patience: Duration, mut there: impl FnMut() -> usize) -> bool {
    let waiting = Stopwatch::start();
    loop {
        if patience > WAIT_MAX {
            // The thread that the others wait for may need this processor.
            doze();
        } else {
            thread::yield_now();
        }
        if waiting.elapsed() >= patience {
            return true;
        }
        if there() >= expected {
            return false;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Only a bug of ours could panic while one of these short locks is held; the data stays consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T, R> Default for CommitQueue<T, R> {
    fn default() -> Self {
        CommitQueue::new()
    }
}

impl<T, R> CommitQueue<T, R> {
    /// An empty queue.
    pub fn new() -> Self {
        CommitQueue::patient(WAIT_MAX)
    }

    /// An empty queue whose leaders wait for callers of the last group for at most `wait_max`.
    pub fn patient(wait_max: Duration) -> Self {
        CommitQueue {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                worked_on: 0,
                led: false,
                broken: false,
                pace: Pace::patient(wait_max),
            }),
            processors: processors(),
        }
    }

    /// Has `item` worked on by `work` of this caller or of another's, and answers its result. `work` gets a group of
    /// items in order and answers one result for each. `None`: a leader panicked, now or before, or gave no answer, and
    /// it is unknown whether the item was worked on.
    pub fn submit(&self, item: T, work: impl FnOnce(Vec<T>) -> Vec<R>) -> Option<R> {
        let mut state = lock(&self.state);
        if state.broken {
            return None;
        }
        // No other caller is here or expected, so nothing is handed to another thread.
        if !state.led && state.waiting.is_empty() && state.pace.expected <= 1 {
            (state.led, state.worked_on) = (true, 1);
            drop(state);
            return self.work_on(&[], vec![item], work).pop();
        }
        let ticket = Arc::new(Ticket {
            item: Mutex::new(Some(item)),
            answer: Mutex::new(None),
            signal: AtomicU8::new(WAIT),
            thread: thread::current(),
        });
        state.waiting.push_back(ticket.clone());
        if !state.led {
            state.led = true;
            ticket.signal.store(LEAD, Ordering::Release);
        }
        let callers = state.worked_on + state.waiting.len();
        let spin = if callers <= self.processors { state.pace.spin() } else { Duration::ZERO };
        drop(state);
        match ticket.called(spin) {
            BROKEN => return None,
            DONE => {}
            _ => self.lead(work),
        }
        lock(&ticket.answer).take()
    }

    /// The items for a leader: all that wait, after the callers of the last group had a moment to come back.
    fn gather(&self) -> Vec<Arc<Ticket<T, R>>> {
        let mut state = lock(&self.state);
        let (there, expected) = (state.waiting.len(), state.pace.expected);
        if let Some(patience) = state.pace.wait(there) {
            drop(state);
            let in_vain = give_way(expected, patience, || lock(&self.state).waiting.len());
            state = lock(&self.state);
            state.pace.waited(in_vain);
        }
        let len = state.waiting.len().min(GROUP_ITEMS_MAX);
        state.worked_on = len;
        state.waiting.drain(..len).collect()
    }

    /// Works on the waiting items. The leader's own item is the first.
    fn lead(&self, work: impl FnOnce(Vec<T>) -> Vec<R>) {
        let group = self.gather();
        let items = group.iter().filter_map(|ticket| lock(&ticket.item).take()).collect();
        let mut answers = self.work_on(&group, items, work).into_iter();
        for (nth, ticket) in group.iter().enumerate() {
            *lock(&ticket.answer) = answers.next();
            ticket.signal.store(DONE, Ordering::Release);
            if nth > 0 {
                ticket.thread.unpark();
            }
        }
    }

    /// Works on the items of a group, and gives the lead to the next.
    fn work_on(&self, group: &[Arc<Ticket<T, R>>], items: Vec<T>, work: impl FnOnce(Vec<T>) -> Vec<R>) -> Vec<R> {
        let mut breaker = BreakOnPanic { queue: self, group, armed: true };
        let len = items.len();
        let working = Stopwatch::start();
        let answers = work(items);
        let took = working.elapsed();
        breaker.armed = false;
        drop(breaker);

        // The next leader is woken before this group's callers, so that it starts while they wake.
        let mut state = lock(&self.state);
        state.pace.expected = (len + state.waiting.len()).min(GROUP_ITEMS_MAX);
        state.pace.took = took;
        state.worked_on = 0;
        match state.waiting.front() {
            Some(next) => {
                next.signal.store(LEAD, Ordering::Release);
                next.thread.unpark();
            }
            None => state.led = false,
        }
        answers
    }
}

/// Wakes all waiters with an error if the leader's work panics.
struct BreakOnPanic<'q, T, R> {
    queue: &'q CommitQueue<T, R>,
    group: &'q [Arc<Ticket<T, R>>],
    armed: bool,
}

impl<T, R> Drop for BreakOnPanic<'_, T, R> {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        let waiting: Vec<_> = {
            let mut state = lock(&self.queue.state);
            state.broken = true;
            state.waiting.drain(..).collect()
        };
        for ticket in self.group.iter().chain(&waiting) {
            ticket.signal.store(BROKEN, Ordering::Release);
            ticket.thread.unpark();
        }
    }
}
