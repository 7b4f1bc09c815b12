//! `wait_beyond` returns when there is something new, and does not wait for ever.

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use recension::engine::Seq;

use super::{EngineFactory, put, store};

/// Longer than any commit takes: a thread that waits this long was not woken.
const LONG: Duration = Duration::from_secs(30);

pub(super) fn wait_beyond_answers_at_once_what_is_already_there(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let first = put(engine, b"k", b"1");
    let head = put(engine, b"k", b"2");
    for timeout in [Duration::ZERO, LONG, Duration::MAX] {
        assert_eq!(engine.wait_beyond(Seq::ZERO, timeout), head);
        assert_eq!(engine.wait_beyond(first, timeout), head);
    }
}

pub(super) fn wait_beyond_times_out_with_the_head_as_it_is(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    assert_eq!(engine.wait_beyond(Seq::ZERO, Duration::ZERO), Seq::ZERO);
    let head = put(engine, b"k", b"1");
    for seq in [head, head.next(), Seq(u64::MAX)] {
        let started = Instant::now();
        let timeout = Duration::from_millis(3);
        assert_eq!(engine.wait_beyond(seq, timeout), head);
        assert!(started.elapsed() >= timeout, "not before its time");
    }
}

/// Two threads react to each other's commits: each waits for the other's commit before it makes its own. If a wake-up
/// is lost, whichever of the two comes first, one thread waits until its time is out.
pub(super) fn wait_beyond_wakes_at_a_commit(factory: &dyn EngineFactory) {
    const ROUNDS: u64 = 200;
    let store = store(factory);
    let engine = store.engine();
    thread::scope(|scope| {
        for turn in 0..2 {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let before = Seq(round * 2 + turn);
                    if before > Seq::ZERO {
                        let started = Instant::now();
                        let timeout = if round % 2 == 0 { LONG } else { Duration::MAX };
                        let head = engine.wait_beyond(Seq(before.0 - 1), timeout);
                        assert_eq!(head, before, "the other thread's commit");
                        assert!(started.elapsed() < LONG, "woken by the commit, not by the time");
                    }
                    assert_eq!(put(engine, b"k", b"v"), before.next());
                }
            });
        }
    });
}

struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// As above, with wakers in place of a wait. If a wake-up is lost, a thread stays parked until its time is out.
pub(super) fn a_waker_is_woken_by_the_next_commit(factory: &dyn EngineFactory) {
    const ROUNDS: u64 = 200;
    let store = store(factory);
    let engine = store.engine();
    thread::scope(|scope| {
        for turn in 0..2 {
            scope.spawn(move || {
                let waker = Waker::from(Arc::new(Unpark(thread::current())));
                for round in 0..ROUNDS {
                    let before = Seq(round * 2 + turn);
                    let started = Instant::now();
                    while before > Seq::ZERO && !engine.wake_beyond(Seq(before.0 - 1), &waker) {
                        thread::park_timeout(LONG);
                        assert!(started.elapsed() < LONG, "woken by the commit, not by the time");
                    }
                    assert_eq!(put(engine, b"k", b"v"), before.next());
                }
            });
        }
    });
}
