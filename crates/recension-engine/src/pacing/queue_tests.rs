//! The commit queue on real threads; its schedules are explored in `conformance/tests/group_commit_model.rs`.

use super::pace::Pace;
use super::queue::{CommitQueue, give_way};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn every_item_is_worked_on_once_and_answered_to_its_caller() {
    let queue = CommitQueue::new();
    let worked = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for caller in 0..8u64 {
            let (queue, worked) = (&queue, &worked);
            scope.spawn(move || {
                for n in 0..500u64 {
                    let item = caller * 1000 + n;
                    let answer = queue.submit(item, |items| {
                        worked.fetch_add(items.len(), Ordering::SeqCst);
                        items.into_iter().map(|item| item + 1).collect()
                    });
                    assert_eq!(answer, Some(item + 1));
                }
            });
        }
    });
    assert_eq!(worked.into_inner(), 4000);
}

#[test]
fn a_panicking_leader_leaves_nobody_waiting() {
    let queue = CommitQueue::<u8, u8>::new();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| queue.submit(1, |_| panic!("on purpose"))));
    assert!(result.is_err());
    assert_eq!(queue.submit(2, |items| items), None);
}

#[test]
fn a_leader_waits_for_those_who_came_before_and_seldom_where_that_was_in_vain() {
    let micros = Duration::from_micros;
    let mut pace = Pace::default();
    assert_eq!(pace.wait(1), None, "nothing is known yet");
    (pace.expected, pace.took) = (4, micros(100));
    assert_eq!(pace.wait(4), None, "all are there");
    for _ in 0..3 {
        assert_eq!(pace.wait(1), Some(micros(50)));
        pace.waited(false);
    }
    pace.took = Duration::from_secs(1);
    assert_eq!(pace.wait(3), Some(micros(200)), "never for long");
    for passes in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024] {
        pace.waited(true);
        for pass in 0..passes {
            assert_eq!(pace.wait(1), None, "{pass} of {passes}");
        }
        assert!(pace.wait(1).is_some());
    }
    pace.waited(false);
    assert!(pace.wait(1).is_some(), "once they have come back it goes on at once");
}

#[test]
fn who_gives_way_in_vain_is_told_also_where_all_have_come_too_late() {
    let patience = Duration::from_mins(1);
    let mut there = 0;
    let came = || {
        there += 1;
        there
    };
    assert!(!give_way(3, patience, came));
    assert_eq!(there, 3);
    assert!(give_way(2, Duration::from_micros(1), || 1), "nobody came");
    // Other threads use the processor for longer than the patience.
    assert!(give_way(1, Duration::ZERO, || 1), "all came, too late");
}

#[test]
fn callers_spin_where_groups_are_short_and_sleep_where_they_wait_for_a_disk() {
    let micros = Duration::from_micros;
    let mut pace = Pace::default();
    for (took, spin) in [(0, 0), (2, 6), (10, 30), (33, 99), (34, 0), (500, 0)] {
        pace.took = micros(took);
        assert_eq!(pace.spin(), micros(spin), "a group of {took} us");
    }
    pace.took = Duration::MAX;
    assert_eq!(pace.spin(), Duration::ZERO);
}

const CALLERS: usize = 4;
const ITEMS: usize = 15;

/// The number of groups if four callers write one thing after another and a group takes as long as a sync.
fn groups_of_four_callers(queue: &CommitQueue<usize, usize>, took: Duration) -> usize {
    let groups = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                for item in 0..ITEMS {
                    let answer = queue.submit(item, |items| {
                        groups.fetch_add(1, Ordering::SeqCst);
                        std::thread::sleep(took);
                        items
                    });
                    assert_eq!(answer, Some(item));
                }
            });
        }
    });
    groups.into_inner()
}

#[test]
fn callers_that_come_back_share_a_group_rather_than_every_other_one() {
    // If a leader began at once, those of the last group would come too late: two items a group. It waits for half of
    // what the last group took, here long enough for a busy machine to wake them, but now and then.
    let took = Duration::from_millis(60);
    let shares = |groups: usize| groups * 3 < CALLERS * ITEMS;
    let shared = (0..10).any(|_| shares(groups_of_four_callers(&CommitQueue::patient(took), took)));
    assert!(shared, "ten times no more than three of four callers shared a group");
}
