//! The parts of a commit that depend on its number: keys that contain its seq, and the sums of counters.

use std::thread;

use recension::engine::{Batch, Direction, Engine, EngineError, KeyRange, TreeId, counters};

use super::{EngineFactory, T, get, keys, now, put, store};

fn value_of(engine: &dyn Engine, key: &[u8]) -> Vec<i64> {
    let (_, value) = get(&*now(engine), T, key).expect("the counters are there");
    counters(&value).expect("they are counters")
}

pub(super) fn a_key_holds_the_seq_of_its_own_commit(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let mut expected = Vec::new();
    for round in 0..5_u8 {
        put(engine, b"other", &[round]);
        let mut batch = Batch::new();
        batch.put_at_own_seq(T, b"p", b"first", &[round]).put_at_own_seq(T, b"p", b"second", &[round]);
        let seq = engine.commit(batch).expect("the commit is taken").seq;
        for suffix in [&b"first"[..], b"second"] {
            expected.push([b"p", &seq.0.to_be_bytes()[..], suffix].concat());
        }
    }
    assert_eq!(keys(&*now(engine), T, &KeyRange::prefix(*b"p"), Direction::Forward), expected);
    let (seq, value) = get(&*now(engine), T, &expected[9]).expect("the last row");
    assert_eq!((seq.0.to_be_bytes().as_slice(), value), (&expected[9][1..9], vec![4]));
}

pub(super) fn counters_begin_at_zero_and_add_up(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let mut batch = Batch::new();
    batch.add(T, b"c", &[2, -3]).add(T, b"c", &[1]).add(TreeId(T.0 + 1), b"c", &[100]);
    let first = engine.commit(batch).expect("the commit is taken").seq;
    assert_eq!(value_of(engine, b"c"), [3, -3]);
    let mut batch = Batch::new();
    batch.add(T, b"c", &[0, 1, i64::MAX]);
    engine.commit(batch).expect("the commit is taken");
    assert_eq!(value_of(engine, b"c"), [3, -2, i64::MAX]);
    let (_, before) = get(&*super::at(engine, first), T, b"c").expect("it was there");
    assert_eq!(counters(&before), Some(vec![3, -3]));
    let mut batch = Batch::new();
    batch.delete(T, b"c");
    engine.commit(batch).expect("the commit is taken");
    let mut batch = Batch::new();
    batch.add(T, b"c", &[7]);
    engine.commit(batch).expect("the commit is taken");
    assert_eq!(value_of(engine, b"c"), [7]);
}

pub(super) fn concurrent_writers_of_a_counter_lose_nothing(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    thread::scope(|scope| {
        for writer in 1..=4 {
            scope.spawn(move || {
                for _ in 0..100 {
                    let mut batch = Batch::new();
                    batch.add(T, b"c", &[1, writer]);
                    engine.commit(batch).expect("writers of a counter do not conflict");
                }
            });
        }
    });
    assert_eq!(value_of(engine, b"c"), [400, 100 * (1 + 2 + 3 + 4)]);
}

pub(super) fn what_is_no_counter_is_refused_and_stays(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let head = put(engine, b"k", b"text");
    let mut batch = Batch::new();
    batch.put(T, b"beside", b"1").add(T, b"k", &[1]);
    let refused = engine.commit(batch);
    assert!(matches!(refused, Err(EngineError::NotCounters { len: 4, .. })), "{refused:?}");
    assert_eq!((engine.head(), get(&*now(engine), T, b"beside")), (head, None));
    put(engine, b"beside", b"2");
}

pub(super) fn counters_are_kept_over_a_reopening(factory: &dyn EngineFactory) {
    let mut store = store(factory);
    for round in 0..4 {
        let mut batch = Batch::new();
        batch.add(T, b"c", &[1]);
        store.engine().commit(batch).expect("the commit is taken");
        if round % 2 == 1 {
            store.engine().checkpoint().expect("a checkpoint");
        }
        store.reopen();
    }
    let expected = if factory.persists() { 4 } else { value_of(store.engine(), b"c")[0] };
    assert_eq!(value_of(store.engine(), b"c"), [expected]);
}
