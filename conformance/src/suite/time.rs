//! Commit times are the clock's, but never fall. A commit can be found by its time.

use recension::engine::{CommitInfo, Seq, Timestamp};

use super::{EngineFactory, T, at, now, store_with_clock, write};

pub(super) fn commit_at_finds_the_newest_commit_of_that_time(factory: &dyn EngineFactory) {
    let (mut store, clock) = store_with_clock(factory);
    let mut commits: Vec<CommitInfo> = Vec::new();
    for n in 0..40_u64 {
        clock.set(Timestamp(100 + n / 3 * 10));
        commits.push(write(store.engine(), &[(T, b"k", Some(&n.to_be_bytes()))]));
    }
    for _ in 0..2 {
        for time in (0..300).chain([u64::MAX / 2, u64::MAX]) {
            let expected = commits.iter().rev().find(|commit| commit.time.0 <= time).copied();
            assert_eq!(store.engine().commit_at(Timestamp(time)).unwrap(), expected, "at {time}");
        }
        store.reopen();
    }
}

pub(super) fn equal_times_answer_the_newest_of_them(factory: &dyn EngineFactory) {
    let (store, clock) = store_with_clock(factory);
    let engine = store.engine();
    for n in 1..=5 {
        let commit = write(engine, &[(T, b"k", Some(b"v"))]);
        assert_eq!(commit, CommitInfo { seq: Seq(n), time: Timestamp(1_000_000) });
        assert_eq!(engine.commit_at(Timestamp(1_000_000)).unwrap(), Some(commit));
        assert_eq!(engine.commit_at(Timestamp(999_999)).unwrap(), None);
    }
    clock.advance(1);
    let later = write(engine, &[(T, b"k", Some(b"v"))]);
    assert_eq!(later.time, Timestamp(1_000_001));
    assert_eq!(engine.commit_at(Timestamp(1_000_000)).unwrap().map(|commit| commit.seq), Some(Seq(5)));
    assert_eq!(engine.commit_at(Timestamp(1_000_001)).unwrap(), Some(later));
}

pub(super) fn commit_times_do_not_follow_a_clock_that_jumps_back(factory: &dyn EngineFactory) {
    let (store, clock) = store_with_clock(factory);
    let engine = store.engine();
    let clock_and_commit = [
        (500, 500),
        (400, 500),
        (0, 500),
        (600, 600),
        (599, 600),
        (u64::from(u32::MAX), 4_294_967_295),
        (1, 4_294_967_295),
    ];
    for (shown, expected) in clock_and_commit {
        clock.set(Timestamp(shown));
        let commit = write(engine, &[(T, b"k", Some(b"v"))]);
        assert_eq!(commit.time, Timestamp(expected), "the clock shows {shown}");
        assert_eq!(now(engine).time().unwrap(), commit.time);
    }
    let times: Vec<_> = (0..=7).map(|seq| at(engine, Seq(seq)).time().unwrap().0).collect();
    assert_eq!(times, [0, 500, 500, 500, 600, 600, 4_294_967_295, 4_294_967_295]);
    assert_eq!(engine.commit_at(Timestamp(599)).unwrap().map(|commit| commit.seq), Some(Seq(3)));
}

pub(super) fn times_do_not_fall_over_a_reopening(factory: &dyn EngineFactory) {
    let (mut store, clock) = store_with_clock(factory);
    let before = write(store.engine(), &[(T, b"k", Some(b"v"))]);
    clock.set(Timestamp(5));
    store.reopen();
    assert_eq!(now(store.engine()).time().unwrap(), before.time);
    let after = write(store.engine(), &[(T, b"k", Some(b"v"))]);
    assert_eq!(after, CommitInfo { seq: before.seq.next(), time: before.time });
}
