//! The commit queue under a model checker: schedules of its real code (group.rs, compiled here beside
//! shuttle's primitives) are explored at random and by preemption bounding (PCT). A caller that waits
//! for ever is a deadlock, which shuttle reports with the schedule that leads to it.
//! `RECENSION_SCHEDULES=n` explores more.
#![allow(dead_code, unreachable_pub)] // group.rs is part of another crate

mod sync {
    pub(super) use shuttle::sync::atomic::{AtomicU8, Ordering};
    pub(super) use shuttle::sync::{Arc, Mutex, MutexGuard};
    pub(super) use shuttle::thread::{self, Thread};
    pub(super) use std::sync::PoisonError;
}

#[path = "../../crates/recension/src/engine/native/group.rs"]
mod group;

use group::CommitQueue;
use shuttle::sync::{Arc, Mutex};

fn schedules() -> usize {
    std::env::var("RECENSION_SCHEDULES").ok().and_then(|n| n.parse().ok()).unwrap_or(3000)
}

fn explore(scenario: fn()) {
    shuttle::check_random(scenario, schedules());
    shuttle::check_pct(scenario, schedules(), 3);
}

/// What the leaders did: the groups, in the order in which they were worked on.
#[derive(Default)]
struct Log {
    groups: Vec<Vec<u32>>,
    leading: bool,
}

fn submit(queue: &CommitQueue<u32, u32>, log: &Mutex<Log>, item: u32) -> Option<u32> {
    queue.submit(item, |items| {
        assert!(!std::mem::replace(&mut log.lock().unwrap().leading, true), "two lead at a time");
        shuttle::thread::yield_now();
        log.lock().unwrap().groups.push(items.clone());
        log.lock().unwrap().leading = false;
        items.into_iter().map(|item| item + 100).collect()
    })
}

fn callers(count: u32, items_each: u32) {
    let queue = Arc::new(CommitQueue::new());
    let log = Arc::new(Mutex::new(Log::default()));
    let threads: Vec<_> = (0..count)
        .map(|caller| {
            let (queue, log) = (queue.clone(), log.clone());
            shuttle::thread::spawn(move || {
                for n in 0..items_each {
                    let item = caller * 10 + n;
                    assert_eq!(submit(&queue, &log, item), Some(item + 100), "the caller's own answer");
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let log = log.lock().unwrap();
    let mut worked: Vec<_> = log.groups.concat();
    for caller in 0..count {
        let own: Vec<_> = worked.iter().filter(|&&item| item / 10 == caller).copied().collect();
        assert!(own.is_sorted(), "a caller's items in its order");
    }
    worked.sort_unstable();
    let expected: Vec<_> = (0..count).flat_map(|caller| (0..items_each).map(move |n| caller * 10 + n)).collect();
    assert_eq!(worked, expected, "every item once");
}

#[test]
fn every_caller_is_answered_and_one_leads_at_a_time() {
    explore(|| callers(3, 2));
}

#[test]
fn leadership_is_handed_on_while_new_callers_come() {
    explore(|| callers(2, 4));
}

#[test]
fn a_leader_that_gives_no_answers_leaves_nobody_waiting() {
    explore(|| {
        let queue = Arc::new(CommitQueue::<u32, u32>::new());
        let threads: Vec<_> = (0..3)
            .map(|caller| {
                let queue = queue.clone();
                shuttle::thread::spawn(move || {
                    let work = |items: Vec<u32>| {
                        if items.contains(&0) {
                            return Vec::new();
                        }
                        items
                    };
                    let answer = queue.submit(caller, work);
                    assert!(answer.is_none() || answer == Some(caller));
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}
