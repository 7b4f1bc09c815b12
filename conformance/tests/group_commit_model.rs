//! The hand-over of group commit's leadership under a model checker: the engine's own `queue.rs`, compiled
//! beside shuttle's locks and threads, under thousands of schedules that shuttle chooses. A caller that
//! waits for ever is a deadlock, which shuttle reports with the schedule that leads to it.
//!
//! A binary of its own: shuttle takes the panic hook of the whole process.

/// Stands in for the engine's `sync.rs`.
mod sync {
    pub(crate) use std::sync::PoisonError;

    pub(crate) use shuttle::sync::atomic::{AtomicU8, Ordering};
    pub(crate) use shuttle::sync::{Arc, Mutex, MutexGuard};
    pub(crate) use shuttle::thread::yield_now as doze;
    pub(crate) use shuttle::thread::yield_now as spin_loop;
    pub(crate) use shuttle::thread::{self, Thread};

    /// So that callers sleep, and that they spin, in one schedule.
    pub(crate) fn processors() -> usize {
        2
    }

    /// Time passes with each look at it, the same in every run of a schedule.
    pub(crate) struct Stopwatch(std::cell::Cell<u32>);

    impl Stopwatch {
        pub(crate) fn start() -> Self {
            Stopwatch(std::cell::Cell::new(0))
        }

        pub(crate) fn elapsed(&self) -> std::time::Duration {
            self.0.set(self.0.get() + 1);
            std::time::Duration::from_micros(self.0.get().into())
        }
    }
}

#[allow(unreachable_pub)] // public in their own crate
#[path = "../../crates/recension-engine/src/pacing/pace.rs"]
mod pace;

#[allow(unreachable_pub)]
#[path = "../../crates/recension-engine/src/pacing/queue.rs"]
mod queue;

use std::panic::{AssertUnwindSafe, catch_unwind};

use queue::CommitQueue;
use recension_conformance::crash::env_number;
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use shuttle::sync::{Arc, Mutex};
use shuttle::thread;

/// Every schedule of a kind: at random, and those that need few changes of the running thread to go wrong.
fn check(test: fn()) {
    let schedules = env_number("RECENSION_SCHEDULES", 4000) as usize;
    shuttle::check_random(test, schedules);
    for changes in 1..4 {
        shuttle::check_pct(test, schedules / 4, changes);
    }
}

/// What the leaders have done.
#[derive(Default)]
struct Log {
    leading: AtomicBool,
    groups: Mutex<Vec<Vec<u64>>>,
}

impl Log {
    /// The work: one leader at a time, every item noted, answered by ten times itself.
    fn work(&self, items: Vec<u64>) -> Vec<u64> {
        assert!(!self.leading.swap(true, Ordering::SeqCst), "two leaders at a time");
        thread::yield_now();
        let answers = items.iter().map(|item| item * 10).collect();
        self.groups.lock().unwrap().push(items);
        assert!(self.leading.swap(false, Ordering::SeqCst));
        answers
    }
}

fn everyone_is_answered(callers: u64, commits: u64) {
    let queue = Arc::new(CommitQueue::new());
    let log = Arc::new(Log::default());
    let threads: Vec<_> = (0..callers)
        .map(|caller| {
            let (queue, log) = (queue.clone(), log.clone());
            thread::spawn(move || {
                for nth in 0..commits {
                    let item = caller * 100 + nth;
                    assert_eq!(queue.submit(item, |items| log.work(items)), Some(item * 10), "another's answer");
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let groups = log.groups.lock().unwrap();
    let items: Vec<u64> = groups.iter().flatten().copied().collect();
    assert_eq!(items.len() as u64, callers * commits, "an item was worked on twice, or never: {groups:?}");
    for caller in 0..callers {
        let own: Vec<u64> = items.iter().copied().filter(|item| item / 100 == caller).collect();
        let expected: Vec<u64> = (0..commits).map(|nth| caller * 100 + nth).collect();
        assert_eq!(own, expected, "out of the order of submission: {groups:?}");
    }
}

#[test]
fn every_item_is_worked_on_once_and_every_caller_gets_its_own_answer() {
    check(|| everyone_is_answered(3, 2));
    check(|| everyone_is_answered(2, 3));
    check(|| everyone_is_answered(4, 1));
}

#[test]
fn callers_that_come_while_another_leads_are_worked_on_together() {
    // Shown by some schedule, or the queue never groups anything.
    static GROUPED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    check(|| {
        let queue = Arc::new(CommitQueue::new());
        let largest = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..3u64)
            .map(|item| {
                let (queue, largest) = (queue.clone(), largest.clone());
                thread::spawn(move || {
                    queue.submit(item, |items| {
                        largest.fetch_max(items.len(), Ordering::SeqCst);
                        thread::yield_now();
                        items
                    })
                })
            })
            .collect();
        for thread in threads {
            assert!(thread.join().unwrap().is_some());
        }
        if largest.load(Ordering::SeqCst) > 1 {
            GROUPED.store(true, std::sync::atomic::Ordering::SeqCst);
        }
    });
    assert!(GROUPED.load(std::sync::atomic::Ordering::SeqCst));
}

#[test]
fn a_leader_that_panics_leaves_nobody_waiting() {
    check(|| {
        let queue = Arc::new(CommitQueue::new());
        let threads: Vec<_> = (0..3u64)
            .map(|item| {
                let queue = queue.clone();
                thread::spawn(move || {
                    let submitted = catch_unwind(AssertUnwindSafe(|| {
                        queue.submit(item, |items: Vec<u64>| {
                            // A panic without a message on the terminal for each of thousands.
                            if items.contains(&1) {
                                std::panic::resume_unwind(Box::new("on purpose"));
                            }
                            items
                        })
                    }));
                    // The item that makes work panic has no answer; the others have theirs, or the news
                    // that the queue is broken.
                    if let Ok(Some(answer)) = submitted {
                        assert!(answer == item && item != 1);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(queue.submit(9, |items| items), None, "a broken queue takes nothing");
    });
}

#[test]
fn too_few_answers_leave_nobody_waiting() {
    check(|| {
        let queue = Arc::new(CommitQueue::new());
        let threads: Vec<_> = (0..3u64)
            .map(|item| {
                let queue = queue.clone();
                thread::spawn(move || {
                    let answer = queue.submit(item, |mut items| {
                        items.pop();
                        items
                    });
                    assert!(answer.is_none_or(|answer| answer == item));
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}
