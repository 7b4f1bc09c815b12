//! Giving up history: once (forget), and by standing rules. Promised history is readable, given-up history is refused,
//! and no answer ever pretends that given-up history never existed.

use std::num::NonZeroU32;
use std::time::Duration;

use recension::engine::limits::RETENTION_RULES_MAX;
use recension::engine::{
    Batch, Direction, Engine, EngineError, KeyRange, Retention, RetentionRule, Seq, Timestamp, TreeId,
};

use super::{EngineFactory, T, all, at, delete, now, put, store, store_with_clock, value, versions, write};

fn rule(retention: Retention) -> RetentionRule {
    RetentionRule { tree: T, range: KeyRange::all(), retention }
}

fn newest(count: u32) -> Retention {
    NonZeroU32::new(count).map_or(Retention::HeadOnly, Retention::Versions)
}

fn set(engine: &dyn Engine, rules: &[RetentionRule]) {
    engine.set_retention(rules).expect("the rules are taken");
}

/// The value of a key as of a commit. The error is the first commit from which on it can be read.
fn read(engine: &dyn Engine, seq: Seq, key: &[u8]) -> Result<Option<Vec<u8>>, Seq> {
    match at(engine, seq).get(T, key) {
        Ok(value) => Ok(value.map(|value| value.bytes.into_owned())),
        Err(EngineError::Forgotten { asked, oldest }) => {
            assert_eq!(asked, seq);
            assert!(oldest > seq, "{oldest} is no way out of {seq}");
            Err(oldest)
        }
        Err(error) => panic!("reading as of {seq}: {error}"),
    }
}

fn seqs(engine: &dyn Engine, key: &[u8]) -> Vec<u64> {
    versions(&*now(engine), T, key).into_iter().map(|(seq, ..)| seq.0).collect()
}

pub(super) fn a_forgotten_history_is_refused_and_the_rest_stays(factory: &dyn EngineFactory) {
    let mut store = store(factory);
    let engine = store.engine();
    put(engine, b"a", b"one");
    put(engine, b"b", b"one");
    put(engine, b"a", b"two");
    delete(engine, b"b");
    write(engine, &[(TreeId(8), b"a", Some(b"elsewhere"))]);
    put(engine, b"a", b"three");
    engine.forget(T, &KeyRange::all(), Seq(4)).expect("it can be forgotten");
    for reopened in [false, true] {
        if reopened {
            store.reopen();
        }
        let engine = store.engine();
        assert_eq!(read(engine, Seq(3), b"a"), Err(Seq(4)));
        assert_eq!(read(engine, Seq(4), b"a"), Ok(Some(b"two".to_vec())));
        assert_eq!(read(engine, Seq(4), b"b"), Ok(None));
        assert_eq!(seqs(engine, b"a"), [6, 3]);
        assert_eq!(seqs(engine, b"b"), [0_u64; 0], "of a deletion before that nothing is told");
        assert_eq!(at(engine, Seq(4)).get(TreeId(8), b"a").unwrap(), None);
        assert_eq!(all(&*at(engine, Seq(5)), TreeId(8)).len(), 1);
        let range = at(engine, Seq(3)).range(T, &KeyRange::all(), Direction::Forward).next().map(Result::err);
        assert!(matches!(range, Some(Some(EngineError::Forgotten { .. }))), "{range:?}");
        assert_eq!(engine.verify().unwrap().problems, []);
        engine.settle().unwrap();
    }
    let beyond = store.engine().forget(T, &KeyRange::all(), store.engine().head().next());
    assert!(matches!(beyond, Err(EngineError::NotYet { .. })), "{beyond:?}");
}

pub(super) fn a_commit_that_depends_on_what_is_given_up_is_a_conflict(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let read_at = put(engine, b"a", b"one");
    put(engine, b"b", b"two");
    set(engine, &[rule(Retention::HeadOnly)]);
    engine.settle().unwrap();
    for (read, refused) in [(read_at, true), (engine.head(), false)] {
        let mut batch = Batch::new();
        batch.put(TreeId(8), b"x", b"y").depends_on(T, b"a", read);
        let answer = engine.commit(batch);
        assert_eq!(matches!(answer, Err(EngineError::Conflict { .. })), refused, "{answer:?}");
        assert_eq!(answer.is_ok(), !refused);
    }
}

pub(super) fn head_only_keeps_what_is_there_now(factory: &dyn EngineFactory) {
    let mut store = store(factory);
    let engine = store.engine();
    for value in [b"one", b"two"] {
        put(engine, b"a", value);
        put(engine, b"b", value);
    }
    delete(engine, b"b");
    write(engine, &[(TreeId(8), b"a", Some(b"elsewhere"))]);
    set(engine, &[rule(Retention::HeadOnly)]);
    assert_eq!(read(engine, engine.head(), b"a"), Ok(Some(b"two".to_vec())));
    engine.settle().unwrap();
    for _ in 0..2 {
        let engine = store.engine();
        assert_eq!(read(engine, Seq(5), b"a"), Err(Seq(6)));
        assert_eq!(read(engine, Seq(6), b"a"), Ok(Some(b"two".to_vec())));
        assert_eq!(read(engine, Seq(6), b"b"), Ok(None));
        assert_eq!((seqs(engine, b"a"), seqs(engine, b"b")), (vec![3], vec![]));
        assert_eq!(at(engine, Seq(1)).get(TreeId(8), b"a").unwrap(), None, "another tree keeps everything");
        store.reopen();
    }
    // It is a standing rule.
    let engine = store.engine();
    let three = put(engine, b"a", b"three");
    put(engine, b"a", b"four");
    engine.settle().unwrap();
    assert_eq!(read(engine, three, b"a"), Err(engine.head()));
}

pub(super) fn so_many_versions_of_each_key_stay(factory: &dyn EngineFactory) {
    let mut store = store(factory);
    let engine = store.engine();
    put(engine, b"once", b"1");
    for n in 2..=5 {
        put(engine, b"often", &[n]);
    }
    put(engine, b"gone", b"6");
    put(engine, b"gone", b"7");
    delete(engine, b"gone");
    put(engine, b"twice", b"9");
    put(engine, b"twice", b"10");
    set(engine, &[rule(newest(2))]);
    engine.settle().unwrap();
    for _ in 0..2 {
        let engine = store.engine();
        assert_eq!(read(engine, Seq(1), b"once"), Ok(Some(b"1".to_vec())));
        assert_eq!(read(engine, Seq(3), b"often"), Err(Seq(4)));
        assert_eq!(read(engine, Seq(1), b"often"), Err(Seq(4)), "it may have been there before, for all anybody knows");
        assert_eq!(read(engine, Seq(4), b"often"), Ok(Some(vec![4])));
        assert_eq!(read(engine, Seq(6), b"gone"), Err(Seq(7)));
        assert_eq!(read(engine, Seq(7), b"gone"), Ok(Some(b"7".to_vec())));
        assert_eq!(read(engine, Seq(8), b"gone"), Ok(None));
        assert_eq!(read(engine, Seq(8), b"twice"), Ok(None), "nothing of it was given up");
        assert_eq!((seqs(engine, b"often"), seqs(engine, b"gone")), (vec![5, 4], vec![8, 7]));
        assert_eq!((seqs(engine, b"twice"), seqs(engine, b"once")), (vec![10, 9], vec![1]));
        store.reopen();
    }
    let engine = store.engine();
    put(engine, b"twice", b"11");
    assert_eq!(read(engine, Seq(8), b"twice"), Ok(None), "it is still known");
    engine.settle().unwrap();
    assert_eq!(read(engine, Seq(8), b"twice"), Err(Seq(10)));
    let told =
        at(engine, Seq(4)).versions(T, b"often").map(|version| version.map(|v| v.seq.0).ok()).collect::<Vec<_>>();
    assert_eq!(told, [Some(4)], "a history ends with what is kept");
    let before = at(engine, Seq(3));
    assert!(matches!(before.versions(T, b"often").next(), Some(Err(EngineError::Forgotten { .. }))));
}

pub(super) fn a_range_is_answered_up_to_the_first_key_that_was_given_up(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    for key in [b"a", b"b", b"c", b"d", b"e"] {
        put(engine, key, b"one");
    }
    let then = engine.head();
    put(engine, b"c", b"two");
    put(engine, b"c", b"three");
    set(engine, &[rule(newest(2))]);
    engine.settle().unwrap();
    for (direction, before) in [(Direction::Forward, ["a", "b"]), (Direction::Backward, ["e", "d"])] {
        let snapshot = at(engine, then);
        let mut rows = snapshot.range(T, &KeyRange::all(), direction);
        let keys = rows.by_ref().take(2).map(|row| String::from_utf8(row.unwrap().key.into_owned()).unwrap());
        assert_eq!(keys.collect::<Vec<_>>(), before);
        assert!(matches!(rows.next(), Some(Err(EngineError::Forgotten { .. }))));
        assert!(rows.next().is_none(), "a range ends with its first error");
    }
    let beside = at(engine, then).range(T, &KeyRange::prefix("d"), Direction::Forward).count();
    assert_eq!(beside, 1);
}

pub(super) fn the_moments_of_a_duration_stay(factory: &dyn EngineFactory) {
    let (store, clock) = store_with_clock(factory);
    let engine = store.engine();
    for n in 1..=10_u8 {
        clock.set(Timestamp(u64::from(n) * 1_000_000));
        put(engine, b"a", &[n]);
    }
    set(engine, &[rule(Retention::Duration(Duration::from_secs(4)))]);
    clock.set(Timestamp(11_500_000));
    engine.settle().unwrap();
    assert_eq!(
        read(engine, Seq(6), b"a"),
        Err(Seq(7)),
        "7.5 s is the oldest moment, and commit 7 is what was there then"
    );
    for n in 7..=10 {
        assert_eq!(read(engine, Seq(n), b"a"), Ok(Some(vec![n as u8])));
    }
    assert_eq!(seqs(engine, b"a"), [10, 9, 8, 7]);
    clock.set(Timestamp(1_000_000_000));
    engine.settle().unwrap();
    assert_eq!(read(engine, Seq(9), b"a"), Err(Seq(10)), "time goes by without commits too");
    assert_eq!(read(engine, Seq(10), b"a"), Ok(Some(vec![10])));
}

pub(super) fn rules_are_told_as_they_were_set_and_the_last_holds(factory: &dyn EngineFactory) {
    let mut store = store(factory);
    let engine = store.engine();
    assert_eq!(engine.retention().unwrap(), []);
    let part = |range: KeyRange, retention| RetentionRule { tree: T, range, retention };
    set(engine, &[rule(newest(3)), part(KeyRange::between("c", "f"), Retention::HeadOnly)]);
    set(engine, &[part(KeyRange::only("d"), Retention::Everything)]);
    set(engine, &[RetentionRule { tree: TreeId(8), ..rule(Retention::Duration(Duration::from_millis(1500))) }]);
    for _ in 0..2 {
        let rules = store.engine().retention().unwrap();
        for (tree, key, retention) in [
            (T, "a", Some(newest(3))),
            (T, "c", Some(Retention::HeadOnly)),
            (T, "d", None),
            (T, "dd", Some(Retention::HeadOnly)),
            (T, "f", Some(newest(3))),
            (TreeId(8), "", Some(Retention::Duration(Duration::from_millis(1500)))),
            (TreeId(6), "", None),
        ] {
            let own = rules.iter().filter(|rule| rule.tree == tree && rule.range.contains(key.as_bytes()));
            assert_eq!(own.map(|rule| rule.retention).collect::<Vec<_>>(), Vec::from_iter(retention), "{key}");
        }
        store.reopen();
    }
    let engine = store.engine();
    for n in 0..3 {
        put(engine, b"c", &[n]);
        put(engine, b"d", &[n]);
    }
    set(engine, &[rule(Retention::Everything)]);
    engine.settle().unwrap();
    assert_eq!((seqs(engine, b"c").len(), seqs(engine, b"d").len()), (3, 3), "no rule was in force when it settled");
    assert_eq!(engine.retention().unwrap().len(), 1, "another tree's is left");
}

pub(super) fn a_rule_that_keeps_more_brings_nothing_back(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let filler = vec![7; 2000];
    for n in 1..=6 {
        put(engine, b"a", &[n]);
    }
    set(engine, &[rule(newest(1))]);
    engine.settle().unwrap();
    set(engine, &[rule(Retention::Everything)]);
    // Enough commits for small stores to settle and merge by themselves.
    for n in 7..=60_u8 {
        put(engine, b"a", &[n]);
        put(engine, &[b'x', n], &filler);
    }
    for settled in [false, true] {
        if settled {
            engine.settle().unwrap();
        }
        assert_eq!(read(engine, Seq(5), b"a"), Err(Seq(6)));
        assert_eq!(read(engine, Seq(6), b"a"), Ok(Some(vec![6])));
        assert_eq!(seqs(engine, b"a").len(), 55);
        assert_eq!(seqs(engine, b"a").last(), Some(&6));
    }
}

pub(super) fn too_many_rules_are_refused_whole(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let only = |n: usize| RetentionRule { range: KeyRange::only(n.to_be_bytes()), ..rule(newest(2)) };
    let rules: Vec<_> = (0..=RETENTION_RULES_MAX).map(only).collect();
    let refused = engine.set_retention(&rules);
    assert!(matches!(refused, Err(EngineError::TooLarge { max: RETENTION_RULES_MAX, .. })), "{refused:?}");
    assert_eq!(engine.retention().unwrap(), []);
    put(engine, b"a", b"one");
    assert_eq!(value(&*now(engine), b"a").as_deref(), Some(&b"one"[..]), "the store goes on");
}
