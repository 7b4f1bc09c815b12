//! Dependencies: a batch is refused exactly if data that its author has read was written since.

use std::ops::Bound;

use recension::engine::{Batch, Engine, EngineError, KeyRange, Seq, TreeId};

use super::{EngineFactory, T, all, delete, now, put, store, value, write};

/// A batch that writes to another tree and depends on `range`.
fn depending(range: KeyRange, at: Seq) -> Batch {
    let mut batch = Batch::new();
    batch.put(TreeId(99), b"written", b"").depends_on_range(T, range, at);
    batch
}

/// The conflict's tree, key, and both sequence numbers.
fn conflict(engine: &dyn Engine, batch: Batch) -> (TreeId, Vec<u8>, Seq, Option<Seq>) {
    let head = engine.head();
    let error = engine.commit(batch).expect_err("a stale batch is refused");
    assert_eq!(engine.head(), head, "nothing was written");
    match error {
        EngineError::Conflict { tree, key, read_at, written_at } => (tree, key, read_at, written_at),
        other => panic!("not a conflict: {other}"),
    }
}

pub(super) fn a_dependency_on_what_has_not_changed_holds(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    put(engine, b"k", b"1");
    let read_at = put(engine, b"k", b"2");
    put(engine, b"l", b"1");
    let mut batch = Batch::new();
    batch.put(T, b"k", b"3").depends_on(T, b"k", read_at).depends_on(T, b"k", engine.head());
    engine.commit(batch).expect("the batch's own writes are no conflict");
    assert_eq!(value(&*now(engine), b"k").as_deref(), Some(&b"3"[..]));
}

pub(super) fn a_dependency_on_a_changed_key_is_a_conflict_with_its_details(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    put(engine, b"j", b"1");
    let first = put(engine, b"k", b"1");
    put(engine, b"k", b"2");
    let newest = put(engine, b"k", b"1");
    put(engine, b"l", b"1");
    let details = conflict(engine, depending(KeyRange::only(*b"k"), first));
    assert_eq!(details, (T, b"k".to_vec(), first, Some(newest)), "equal bytes are a new version all the same");
    let details = conflict(engine, depending(KeyRange::only(*b"k"), Seq::ZERO));
    assert_eq!(details, (T, b"k".to_vec(), Seq::ZERO, Some(newest)));
}

pub(super) fn a_dependency_on_an_absent_key_breaks_when_it_is_written(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let read_at = put(engine, b"k", b"1");
    engine.commit(depending(KeyRange::only(*b"absent"), Seq::ZERO)).expect("it is still absent");
    let written = put(engine, b"absent", b"1");
    assert_eq!(conflict(engine, depending(KeyRange::only(*b"absent"), read_at)).3, Some(written));
    let deleted = delete(engine, b"absent");
    let details = conflict(engine, depending(KeyRange::only(*b"absent"), written));
    assert_eq!(details, (T, b"absent".to_vec(), written, Some(deleted)));
    engine.commit(depending(KeyRange::only(*b"absent"), deleted)).expect("read again");
    let nothing = delete(engine, b"never there");
    assert_eq!(conflict(engine, depending(KeyRange::only(*b"never there"), deleted)).3, Some(nothing));
}

pub(super) fn a_dependency_on_a_range_breaks_on_every_kind_of_phantom(factory: &dyn EngineFactory) {
    type Change = (&'static str, &'static [u8], Option<&'static [u8]>);
    let changes: [Change; 6] = [
        ("a new row between", b"bb", Some(b"new")),
        ("a new row at the start", b"b", Some(b"new")),
        ("a changed row", b"c", Some(b"new")),
        ("a deleted row", b"c", None),
        ("a deletion of nothing", b"cc", None),
        ("a new row just before the end", b"d\xff\xff", Some(b"new")),
    ];
    for (what, key, new) in changes {
        let store = store(factory);
        let engine = store.engine();
        let read_at = write(engine, &[(T, b"a", Some(b"")), (T, b"c", Some(b"")), (T, b"e", Some(b""))]).seq;
        engine.commit(depending(KeyRange::between(*b"b", *b"e"), read_at)).expect("nothing has changed yet");
        let written = write(engine, &[(T, key, new)]).seq;
        put(engine, b"z", b"later");
        for range in [KeyRange::between(*b"b", *b"e"), KeyRange::all(), KeyRange::prefix(key)] {
            if range == KeyRange::all() {
                assert!(engine.commit(depending(range, read_at)).unwrap_err().is_conflict(), "{what}");
                continue;
            }
            let details = conflict(engine, depending(range, read_at));
            assert_eq!(details, (T, key.to_vec(), read_at, Some(written)), "{what}");
        }
        engine.commit(depending(KeyRange::between(*b"b", *b"e"), written)).expect("read again, it holds");
    }
}

pub(super) fn a_dependency_on_a_range_holds_outside_its_bounds(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let read_at = write(engine, &[(T, b"b", Some(b"")), (T, b"d", Some(b""))]).seq;
    write(engine, &[(T, b"a\xff", Some(b"")), (T, b"b", None), (T, b"d", Some(b"new")), (T, b"d\0", Some(b""))]);
    let inner = KeyRange { start: Bound::Excluded(b"b".to_vec()), end: Bound::Excluded(b"d".to_vec()) };
    engine.commit(depending(inner, read_at)).expect("both ends are excluded");
    let wide = KeyRange { start: Bound::Included(b"b\0".to_vec()), end: Bound::Excluded(b"d".to_vec()) };
    engine.commit(depending(wide, read_at)).expect("what was written lies outside");
    engine.commit(depending(KeyRange::between(*b"d", *b"b"), read_at)).expect("an empty range");
    let above = KeyRange { start: Bound::Excluded(b"d\0".to_vec()), end: Bound::Unbounded };
    engine.commit(depending(above, read_at)).expect("above all that was written");
    let below = KeyRange { start: Bound::Unbounded, end: Bound::Excluded(b"a\xff".to_vec()) };
    engine.commit(depending(below, read_at)).expect("below all that was written");
    for (start, end, key) in [
        (Bound::Included(&b"b"[..]), Bound::Excluded(&b"c"[..]), &b"b"[..]),
        (Bound::Excluded(b"b"), Bound::Included(b"d"), b"d"),
        (Bound::Excluded(b"d"), Bound::Unbounded, b"d\0"),
        (Bound::Unbounded, Bound::Excluded(b"b"), b"a\xff"),
    ] {
        let range = KeyRange { start: start.map(<[u8]>::to_vec), end: end.map(<[u8]>::to_vec) };
        assert_eq!(conflict(engine, depending(range, read_at)).1, key);
    }
}

pub(super) fn a_dependency_on_a_whole_tree_holds_in_the_trees_beside_it(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let read_at = put(engine, b"k", b"");
    write(engine, &[(TreeId(T.0 - 1), b"\xff", Some(b"")), (TreeId(T.0 + 1), b"", Some(b""))]);
    engine.commit(depending(KeyRange::all(), read_at)).expect("this tree has not changed");
    for last in [TreeId(0), TreeId(u32::MAX)] {
        let read_at = engine.head();
        let mut batch = Batch::new();
        batch.put(T, b"k", b"").depends_on_range(last, KeyRange::all(), read_at);
        engine.commit(batch.clone()).expect("the first and the last tree are empty");
        write(engine, &[(last, b"k", Some(b""))]);
        assert_eq!(conflict(engine, batch).0, last);
    }
}

pub(super) fn one_broken_dependency_of_many_is_enough(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let read_at = write(engine, &[(T, b"a", Some(b"")), (T, b"b", Some(b"")), (T, b"c", Some(b""))]).seq;
    let mut batch = Batch::new();
    batch.put(TreeId(99), b"w", b"");
    for key in [b"a", b"b", b"c", b"d"] {
        batch.depends_on(T, key, read_at);
    }
    engine.commit(batch.clone()).expect("all hold");
    put(engine, b"d", b"");
    assert_eq!(conflict(engine, batch).1, b"d");
}

pub(super) fn a_batch_without_rows_has_its_dependencies_checked(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let first = put(engine, b"k", b"1");
    let mut reads = Batch::new();
    reads.depends_on(T, b"k", first);
    assert_eq!(engine.commit(reads.clone()).unwrap().seq, first);
    let second = put(engine, b"k", b"2");
    assert_eq!(conflict(engine, reads).3, Some(second));
}

pub(super) fn a_dependency_on_a_commit_to_come_is_refused(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let head = put(engine, b"k", b"1");
    for asked in [head.next(), Seq(u64::MAX)] {
        for range in [KeyRange::only(*b"k"), KeyRange::all()] {
            match engine.commit(depending(range, asked)) {
                Err(EngineError::NotYet { asked: named, head: found }) => assert_eq!((named, found), (asked, head)),
                other => panic!("a dependency at {asked} with head {head}: {other:?}"),
            }
        }
    }
    assert_eq!(all(&*now(engine), TreeId(99)), []);
}

pub(super) fn a_dependency_holds_over_a_reopening(factory: &dyn EngineFactory) {
    let mut store = store(factory);
    let read_at = put(store.engine(), b"k", b"1");
    let deleted = delete(store.engine(), b"gone");
    store.reopen();
    let engine = store.engine();
    engine.commit(depending(KeyRange::only(*b"k"), read_at)).expect("nothing has changed");
    let details = conflict(engine, depending(KeyRange::only(*b"gone"), read_at));
    assert_eq!(details, (T, b"gone".to_vec(), read_at, Some(deleted)));
}
