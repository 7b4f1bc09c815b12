//! Snapshots: as of one commit, for as long as they live. Also, the history that they show.

use std::collections::BTreeMap;

use recension::engine::{Batch, Direction, EngineError, KeyRange, Seq, Timestamp, TreeId};

use super::{EngineFactory, T, all, at, delete, keys, now, put, rows, store, store_with_clock, value, versions, write};

pub(super) fn a_snapshot_does_not_move(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let empty = now(engine);
    write(engine, &[(T, b"a", Some(b"1")), (T, b"b", Some(b"1")), (T, b"c", Some(b"1"))]);
    let snapshot = now(engine);
    let before = (all(&*snapshot, T), versions(&*snapshot, T, b"a"), snapshot.time().unwrap());
    put(engine, b"a", b"2");
    delete(engine, b"b");
    put(engine, b"bb", b"2");
    put(engine, b"", b"2");
    for n in 0..100_u8 {
        put(engine, &[n], &[n]);
    }
    engine.checkpoint().unwrap();
    assert_eq!((all(&*snapshot, T), versions(&*snapshot, T, b"a"), snapshot.time().unwrap()), before);
    assert_eq!(value(&*snapshot, b"b").as_deref(), Some(&b"1"[..]));
    assert_eq!(value(&*snapshot, b"bb"), None);
    assert_eq!(snapshot.seq(), Seq(1));
    assert_eq!(all(&*empty, T), []);
    assert_eq!(value(&*empty, b"a"), None);
}

pub(super) fn every_past_commit_can_be_read_again(factory: &dyn EngineFactory) {
    let mut store = store(factory);
    let mut states = vec![BTreeMap::<Vec<u8>, (Seq, Vec<u8>)>::new()];
    for n in 1..=60_u64 {
        let mut batch = Batch::new();
        let mut state = states.last().unwrap().clone();
        // There are seven keys. Each commit touches three of them, and every fifth touch is a deletion.
        for touch in 0..3 {
            let key = vec![((n * 3 + touch * 2) % 7) as u8];
            if (n + touch) % 5 == 0 {
                batch.delete(T, &key);
                state.remove(&key);
            } else {
                let value = format!("{n}.{touch}").into_bytes();
                batch.put(T, &key, &value);
                state.insert(key, (Seq(n), value));
            }
        }
        store.engine().commit(batch).unwrap();
        states.push(state);
    }
    for reopened in [false, true] {
        for (seq, state) in states.iter().enumerate() {
            let snapshot = at(store.engine(), Seq(seq as u64));
            let mut expected: Vec<_> =
                state.iter().map(|(key, (seq, value))| (key.clone(), *seq, value.clone())).collect();
            assert_eq!(all(&*snapshot, T), expected, "as of {seq}, reopened: {reopened}");
            expected.reverse();
            assert_eq!(rows(&*snapshot, T, &KeyRange::all(), Direction::Backward), expected, "as of {seq}, backward");
            for key in 0..7_u8 {
                assert_eq!(value(&*snapshot, &[key]).as_ref(), state.get(&vec![key]).map(|(_, value)| value));
            }
        }
        store.reopen();
    }
}

pub(super) fn a_commit_that_was_not_made_cannot_be_read(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    for head in 0..3 {
        for asked in [Seq(head + 1), Seq(head + 1000), Seq(u64::MAX)] {
            match engine.snapshot_at(asked).map(|snapshot| snapshot.seq()) {
                Err(EngineError::NotYet { asked: named, head: found }) => {
                    assert_eq!((named, found), (asked, Seq(head)));
                }
                other => panic!("a snapshot at {asked} with head {head}: {other:?}"),
            }
        }
        put(engine, b"k", b"v");
    }
}

pub(super) fn versions_come_newest_first_with_deletions(factory: &dyn EngineFactory) {
    let (store, clock) = store_with_clock(factory);
    let engine = store.engine();
    put(engine, b"k", b"1");
    clock.set(Timestamp(2_000_000));
    put(engine, b"other", b"x");
    delete(engine, b"k");
    clock.set(Timestamp(3_000_000));
    delete(engine, b"k");
    put(engine, b"k", b"");
    write(engine, &[(TreeId(8), b"k", Some(b"of another tree"))]);
    let snapshot = now(engine);
    let expected = [
        (Seq(5), Timestamp(3_000_000), Some(Vec::new())),
        (Seq(4), Timestamp(3_000_000), None),
        (Seq(3), Timestamp(2_000_000), None),
        (Seq(1), Timestamp(1_000_000), Some(b"1".to_vec())),
    ];
    assert_eq!(versions(&*snapshot, T, b"k"), expected);
    assert_eq!(versions(&*snapshot, T, b"never"), []);
    assert_eq!(versions(&*snapshot, TreeId(9), b"k"), []);
    delete(engine, b"never");
    assert_eq!(versions(&*now(engine), T, b"never"), [(Seq(7), Timestamp(3_000_000), None)]);
}

pub(super) fn versions_end_at_the_snapshot(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    for n in 1..=10_u8 {
        put(engine, if n % 2 == 0 { b"even" } else { b"odd" }, &[n]);
    }
    for seq in 0..=10 {
        let snapshot = at(engine, Seq(seq));
        let found: Vec<_> = versions(&*snapshot, T, b"even").into_iter().map(|(seq, ..)| seq.0).collect();
        let expected: Vec<_> = (1..=seq).rev().filter(|seq| seq % 2 == 0).collect();
        assert_eq!(found, expected, "as of {seq}");
    }
}

pub(super) fn long_histories_come_whole(factory: &dyn EngineFactory) {
    const VERSIONS: u64 = 700;
    let store = store(factory);
    let engine = store.engine();
    for n in 1..=VERSIONS {
        if n % 10 == 0 {
            delete(engine, b"k")
        } else {
            put(engine, b"k", &n.to_be_bytes())
        };
    }
    let found = versions(&*now(engine), T, b"k");
    assert_eq!(found.len() as u64, VERSIONS);
    for (i, (seq, _, value)) in found.into_iter().enumerate() {
        let n = VERSIONS - i as u64;
        assert_eq!((seq, value), (Seq(n), (!n.is_multiple_of(10)).then(|| n.to_be_bytes().to_vec())));
    }
    for seq in [1, 9, 10, 11, 350, VERSIONS - 1] {
        let expected = (seq % 10 != 0).then(|| seq.to_be_bytes().to_vec());
        assert_eq!(value(&*at(engine, Seq(seq)), b"k"), expected, "as of {seq}");
    }
}

pub(super) fn a_range_read_halfway_goes_on_as_it_began(factory: &dyn EngineFactory) {
    const ROWS: u16 = 600;
    let store = store(factory);
    let engine = store.engine();
    let mut batch = Batch::new();
    for n in 0..ROWS {
        batch.put(T, &n.to_be_bytes(), b"old");
    }
    let seq = engine.commit(batch).unwrap().seq;
    for direction in [Direction::Forward, Direction::Backward] {
        let snapshot = at(engine, seq);
        let expected = rows(&*snapshot, T, &KeyRange::all(), direction);
        let mut walk = snapshot.range(T, &KeyRange::all(), direction);
        let mut found = Vec::new();
        for step in 0..ROWS {
            let row = walk.next().expect("as many rows as there were").unwrap();
            found.push((row.key.into_owned(), row.value.seq, row.value.bytes.into_owned()));
            // Now and then it changes the rows ahead and behind, adds some between them, and deletes some.
            if step % 50 == 0 {
                let mut batch = Batch::new();
                for n in (step % 7..ROWS).step_by(7) {
                    batch.put(T, &n.to_be_bytes(), b"new").delete(T, &(n + 1).to_be_bytes());
                    batch.put(T, &[&n.to_be_bytes()[..], b"between"].concat(), b"new");
                }
                engine.commit(batch).unwrap();
            }
        }
        assert!(walk.next().is_none(), "no row that came later");
        assert!(walk.next().is_none(), "and the end stays the end");
        assert_eq!(found, expected);
    }
}

pub(super) fn a_history_read_halfway_goes_on_as_it_began(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    for n in 0..100_u8 {
        put(engine, b"k", &[n]);
    }
    let snapshot = now(engine);
    let expected = versions(&*snapshot, T, b"k");
    let mut found = Vec::new();
    for version in snapshot.versions(T, b"k") {
        let version = version.unwrap();
        found.push((version.seq, version.time, version.value.map(std::borrow::Cow::into_owned)));
        put(engine, b"k", b"later");
    }
    assert_eq!(found, expected);
    assert_eq!(keys(&*snapshot, T, &KeyRange::all(), Direction::Forward), [b"k".to_vec()]);
}
