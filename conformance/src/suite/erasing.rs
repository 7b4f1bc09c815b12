//! Erasing: erased versions look like deletions at every moment. Also, what an erasure leaves unchanged.

use recension::engine::{Batch, Direction, Engine, EngineError, ErasedKey, ErasedVersions, KeyRange, Seq, TreeId};

use super::{EngineFactory, T, all, at, delete, now, put, store, value, versions, write};

fn erase(engine: &dyn Engine, key: &[u8], versions: ErasedVersions) {
    engine.erase(&[ErasedKey { tree: T, key: key.to_vec(), versions }]).expect("it can be erased");
}

fn these(seqs: &[u64]) -> ErasedVersions {
    ErasedVersions::these(seqs.iter().map(|seq| Seq(*seq)).collect())
}

/// The values of a key as of the first commits, one after the other. `-` is no value.
fn moments(engine: &dyn Engine, key: &[u8]) -> String {
    let moment =
        |seq: u64| value(&*at(engine, Seq(seq)), key).map_or("-".to_owned(), |v| String::from_utf8(v).unwrap());
    (1..=engine.head().0).map(moment).collect()
}

fn seqs(engine: &dyn Engine, key: &[u8]) -> Vec<u64> {
    versions(&*now(engine), T, key).into_iter().map(|(seq, ..)| seq.0).collect()
}

fn keys(engine: &dyn Engine) -> Vec<Vec<u8>> {
    now(engine).keys(T, &KeyRange::all()).collect::<Result<_, _>>().expect("the keys can be listed")
}

pub(super) fn an_erased_key_is_at_no_moment_and_leaves_no_trace_when_it_is_settled(factory: &dyn EngineFactory) {
    let mut store = store(factory);
    let engine = store.engine();
    put(engine, b"a", b"1");
    put(engine, b"b", b"1");
    engine.settle().unwrap();
    put(engine, b"a", b"2");
    delete(engine, b"a");
    write(engine, &[(TreeId(8), b"a", Some(b"elsewhere"))]);
    let before = now(engine);
    erase(engine, b"a", ErasedVersions::through(engine.head()));
    drop(before);
    put(engine, b"c", b"1");
    for round in 0..3 {
        let engine = store.engine();
        assert_eq!((moments(engine, b"a"), moments(engine, b"b")), ("------".into(), "-11111".into()), "round {round}");
        assert_eq!(seqs(engine, b"a"), [0; 0]);
        assert_eq!(at(engine, Seq(1)).version(T, b"a").unwrap(), None);
        for (seq, direction) in [(1, Direction::Forward), (3, Direction::Forward), (3, Direction::Backward)] {
            let snapshot = at(engine, Seq(seq));
            let rows = snapshot.range(T, &KeyRange::all(), direction);
            let found: Vec<_> = rows.map(|row| row.unwrap().key.into_owned()).collect();
            let expected: &[&[u8]] = if seq == 1 { &[] } else { &[b"b"] };
            assert_eq!(found, expected, "as of {seq}, round {round}");
            let mut first = Vec::new();
            assert!(!snapshot.first_key(T, b"a", &mut first).unwrap());
        }
        assert_eq!(all(&*now(engine), TreeId(8)).len(), 1, "another tree keeps its key");
        assert_eq!(engine.verify().unwrap().problems, []);
        if round == 1 {
            engine.settle().unwrap();
            assert_eq!(keys(engine), [b"b", b"c"]);
        }
        store.reopen();
    }
    let engine = store.engine();
    put(engine, b"a", b"3");
    assert_eq!(moments(engine, b"a"), "------3", "a key that is written again is there from then on");
    let beyond = engine.erase(&[ErasedKey {
        tree: T,
        key: b"a".to_vec(),
        versions: ErasedVersions::through(engine.head().next()),
    }]);
    assert!(matches!(beyond, Err(EngineError::NotYet { .. })), "{beyond:?}");
}

pub(super) fn of_a_key_single_versions_can_be_erased(factory: &dyn EngineFactory) {
    let mut store = store(factory);
    let engine = store.engine();
    for value in [b"1", b"2", b"3"] {
        put(engine, b"a", value);
    }
    delete(engine, b"a");
    put(engine, b"a", b"5");
    erase(engine, b"a", these(&[2, 3]));
    for round in 0..4 {
        let engine = store.engine();
        assert_eq!(moments(engine, b"a"), "1---5", "round {round}");
        assert_eq!(seqs(engine, b"a"), [5, 4, 2, 1], "round {round}");
        assert_eq!(keys(engine), [b"a"]);
        assert_eq!(engine.verify().unwrap().problems, []);
        match round % 2 {
            0 => engine.settle().unwrap(),
            _ => drop(store.reopen()),
        }
    }
    erase(store.engine(), b"a", ErasedVersions::through(Seq(1)));
    assert_eq!(moments(store.engine(), b"a"), "----5");
    erase(store.engine(), b"a", these(&[5]));
    assert_eq!(moments(store.engine(), b"a"), "-----");
}

pub(super) fn the_keys_of_a_tree_are_listed_with_deleted_ones(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let names: Vec<_> = (0..700_u32).map(u32::to_be_bytes).collect();
    let rows: Vec<_> = names.iter().map(|name| (T, &name[..], Some(&b"x"[..]))).collect();
    write(engine, &rows);
    for name in names.iter().step_by(3) {
        delete(engine, name);
    }
    put(engine, b"\xff", b"later");
    let head = engine.head();
    for settled in [false, true] {
        let list = |seq: Seq, range: &KeyRange| -> Vec<Vec<u8>> {
            at(engine, seq).keys(T, range).collect::<Result<_, _>>().expect("the keys can be listed")
        };
        assert_eq!(list(head, &KeyRange::all()).len(), 701, "settled: {settled}");
        assert_eq!(list(Seq(1), &KeyRange::all()).len(), 700, "one came later");
        assert_eq!(list(head, &KeyRange::between(names[3], names[6])), [names[3], names[4], names[5]]);
        assert_eq!(list(head, &KeyRange::between(names[6], names[3])), [[0_u8; 0]; 0]);
        engine.settle().unwrap();
    }
}

pub(super) fn who_read_a_key_before_it_was_erased_commits_nothing(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let read_at = put(engine, b"a", b"1");
    delete(engine, b"a");
    erase(engine, b"a", ErasedVersions::through(engine.head()));
    engine.settle().unwrap();
    put(engine, b"b", b"1");
    for (range, read, refused) in [
        (KeyRange::only("a"), read_at, true),
        (KeyRange::all(), read_at, true),
        (KeyRange::only("a"), read_at.next(), false),
    ] {
        let mut batch = Batch::new();
        batch.put(TreeId(8), b"x", b"y").depends_on_range(T, range, read);
        let answer = engine.commit(batch);
        assert_eq!(matches!(answer, Err(EngineError::Conflict { .. })), refused, "{answer:?}");
        assert_eq!(answer.is_ok(), !refused);
    }
}
