//! Ranges: byte order, both directions, every kind of bound, and trees that do not affect each other.

use std::ops::{Bound, RangeBounds};

use recension::engine::{Batch, Direction, KeyRange, Seq, TreeId};

use super::{EngineFactory, T, all, get, keys, now, store, write};

/// Keys that go wrong with a careless order, or if tree and key are joined carelessly.
const KEYS: [&[u8]; 14] = [
    b"",
    b"\0",
    b"\0\0",
    b"\0\xff",
    b"\x01",
    b"a",
    b"a\0",
    b"a\0\0",
    b"aa",
    b"ab",
    b"a\xff",
    b"b",
    b"\xff",
    b"\xff\xff",
];

fn fill(engine: &dyn recension::engine::Engine, tree: TreeId) -> Seq {
    // The keys are neither in order nor in reverse, so that no engine gets its order from the writes.
    let mut batch = Batch::new();
    for i in 0..KEYS.len() {
        batch.put(tree, KEYS[i * 5 % KEYS.len()], &[i as u8]);
    }
    engine.commit(batch).unwrap().seq
}

pub(super) fn keys_are_ordered_by_their_bytes_in_both_directions(factory: &dyn EngineFactory) {
    let store = store(factory);
    fill(store.engine(), T);
    let snapshot = now(store.engine());
    let mut expected: Vec<_> = KEYS.iter().map(|key| key.to_vec()).collect();
    assert!(expected.is_sorted());
    assert_eq!(keys(&*snapshot, T, &KeyRange::all(), Direction::Forward), expected);
    expected.reverse();
    assert_eq!(keys(&*snapshot, T, &KeyRange::all(), Direction::Backward), expected);
}

pub(super) fn every_combination_of_bounds_is_kept_to(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    // Rows just outside, in the neighbouring trees, would show a missing bound.
    fill(engine, TreeId(T.0 - 1));
    fill(engine, T);
    fill(engine, TreeId(T.0 + 1));
    let snapshot = now(engine);
    let absent: [&[u8]; 4] = [b"\0\x01", b"a\0\x01", b"ac", b"\xff\xff\xff"];
    let mut bounds = vec![Bound::Unbounded];
    for key in KEYS.iter().chain(&absent) {
        bounds.extend([Bound::Included(key.to_vec()), Bound::Excluded(key.to_vec())]);
    }
    for start in &bounds {
        for end in &bounds {
            let range = KeyRange { start: start.clone(), end: end.clone() };
            let within = (start.as_ref().map(Vec::as_slice), end.as_ref().map(Vec::as_slice));
            let mut expected: Vec<_> = KEYS
                .iter()
                .filter(|key| RangeBounds::<[u8]>::contains::<[u8]>(&within, key))
                .map(|key| key.to_vec())
                .collect();
            assert_eq!(keys(&*snapshot, T, &range, Direction::Forward), expected, "{range:?}");
            expected.reverse();
            assert_eq!(keys(&*snapshot, T, &range, Direction::Backward), expected, "{range:?} backward");
        }
    }
}

pub(super) fn prefixes_and_single_keys_are_ranges(factory: &dyn EngineFactory) {
    let store = store(factory);
    fill(store.engine(), T);
    let snapshot = now(store.engine());
    for prefix in KEYS {
        let expected: Vec<_> = KEYS.iter().filter(|key| key.starts_with(prefix)).map(|key| key.to_vec()).collect();
        assert_eq!(keys(&*snapshot, T, &KeyRange::prefix(prefix), Direction::Forward), expected, "{prefix:?}");
        assert_eq!(keys(&*snapshot, T, &KeyRange::only(prefix), Direction::Backward), [prefix.to_vec()]);
    }
    assert!(keys(&*snapshot, T, &KeyRange::only(*b"zz"), Direction::Forward).is_empty());
}

pub(super) fn trees_next_to_each_other_do_not_mix(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    // 0x61 is "a": a tree followed by a key must not equal another tree followed by another key.
    let trees = [0, 1, 2, 0x61, 0x6161, 0xff, 0x100, 0x8000_0000, u32::MAX - 1, u32::MAX].map(TreeId);
    for (i, tree) in trees.iter().enumerate() {
        write(
            engine,
            &[
                (*tree, b"", Some(&[i as u8])),
                (*tree, b"a", Some(&[i as u8])),
                (*tree, b"\xff\xff\xff\xff\xff", Some(b"")),
            ],
        );
    }
    write(engine, &[(TreeId(1), b"a", None), (TreeId(u32::MAX), b"a", None)]);
    let snapshot = now(engine);
    for (i, tree) in trees.iter().enumerate() {
        let deleted = [TreeId(1), TreeId(u32::MAX)].contains(tree);
        let mut expected = vec![b"".to_vec(), b"a".to_vec(), b"\xff\xff\xff\xff\xff".to_vec()];
        if deleted {
            expected.remove(1);
        }
        assert_eq!(keys(&*snapshot, *tree, &KeyRange::all(), Direction::Forward), expected, "{tree:?}");
        expected.reverse();
        assert_eq!(keys(&*snapshot, *tree, &KeyRange::all(), Direction::Backward), expected, "{tree:?}");
        let value = get(&*snapshot, *tree, b"a").map(|(_, value)| value);
        assert_eq!(value, (!deleted).then(|| vec![i as u8]), "{tree:?}");
    }
    for empty in [3, 0x60, 0x62, 0xfe, 0x101, 0x7fff_ffff, 0x8000_0001].map(TreeId) {
        assert_eq!(all(&*snapshot, empty), [], "{empty:?} was never written to");
        assert_eq!(get(&*snapshot, empty, b"a"), None);
    }
}

pub(super) fn empty_keys_and_empty_values_are_rows_like_any_other(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let seq = write(engine, &[(T, b"", Some(b"")), (T, b"a", Some(b""))]).seq;
    let snapshot = now(engine);
    assert_eq!(get(&*snapshot, T, b""), Some((seq, Vec::new())));
    assert_eq!(all(&*snapshot, T), [(Vec::new(), seq, Vec::new()), (b"a".to_vec(), seq, Vec::new())]);
    assert_eq!(super::versions(&*snapshot, T, b"")[0].2, Some(Vec::new()), "empty is not deleted");
    write(engine, &[(T, b"", None)]);
    assert_eq!(get(&*now(engine), T, b""), None);
    assert_eq!(keys(&*now(engine), T, &KeyRange::all(), Direction::Backward), [b"a".to_vec()]);
}

fn number(n: u32) -> [u8; 4] {
    n.to_be_bytes()
}

/// Ranges longer than any page, block or buffer should be, with values of many sizes.
pub(super) fn long_ranges_come_whole_in_both_directions(factory: &dyn EngineFactory) {
    const ROWS: u32 = 5_000;
    let store = store(factory);
    let engine = store.engine();
    let size = |n: u32| if n % 500 == 7 { 70_000 } else { n as usize % 90 };
    for part in 0..10 {
        let mut batch = Batch::new();
        for n in (0..ROWS).filter(|n| n % 10 == part) {
            batch.put(T, &number(n), &vec![n as u8; size(n)]);
        }
        engine.commit(batch).unwrap();
    }
    let snapshot = now(engine);
    for direction in [Direction::Forward, Direction::Backward] {
        let mut count = 0;
        for (i, row) in snapshot.range(T, &KeyRange::all(), direction).enumerate() {
            let row = row.unwrap();
            let n = if direction == Direction::Forward { i as u32 } else { ROWS - 1 - i as u32 };
            assert_eq!(*row.key, number(n));
            assert_eq!(*row.value, *vec![n as u8; size(n)], "the value of row {n}");
            assert_eq!(row.value.seq, Seq(u64::from(n % 10) + 1));
            count += 1;
        }
        assert_eq!(count, ROWS);
        let some = KeyRange::between(number(1_234), number(1_240));
        let mut expected: Vec<_> = (1_234..1_240).map(|n| number(n).to_vec()).collect();
        if direction == Direction::Backward {
            expected.reverse();
        }
        assert_eq!(keys(&*snapshot, T, &some, direction), expected);
    }
}

pub(super) fn long_ranges_with_deleted_stretches_come_whole(factory: &dyn EngineFactory) {
    const ROWS: u32 = 3_000;
    let store = store(factory);
    let engine = store.engine();
    let (mut puts, mut deletes) = (Batch::new(), Batch::new());
    for n in 0..ROWS {
        puts.put(T, &number(n), b"v");
    }
    let full = engine.commit(puts).unwrap().seq;
    let kept = |n: &u32| *n < 3 || *n == 1_500 || *n >= ROWS - 2;
    for n in (0..ROWS).filter(|n| !kept(n)) {
        deletes.delete(T, &number(n));
    }
    engine.commit(deletes).unwrap();
    let mut expected: Vec<_> = (0..ROWS).filter(kept).map(|n| number(n).to_vec()).collect();
    assert_eq!(keys(&*now(engine), T, &KeyRange::all(), Direction::Forward), expected);
    expected.reverse();
    assert_eq!(keys(&*now(engine), T, &KeyRange::all(), Direction::Backward), expected);
    assert_eq!(all(&*super::at(engine, full), T).len(), ROWS as usize);
    assert_eq!(all(&*super::at(engine, Seq::ZERO), T), []);
}
