//! The commit queue on real threads; its schedules are explored in `conformance/tests/group_commit.rs`.

use super::group::CommitQueue;
use std::sync::atomic::{AtomicUsize, Ordering};

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
