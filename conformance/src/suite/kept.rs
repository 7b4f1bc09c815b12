//! Kept moments: what reads as of them need stays, whatever rules of retention say, until they are let go. Erasing
//! erases in them too.

use std::num::NonZeroU32;
use std::time::Duration;

use recension::engine::{
    BRANCHES_TREE, Batch, Engine, EngineError, ErasedKey, ErasedVersions, KeyRange, Retention, RetentionRule, Seq,
    kept_key,
};

use super::{EngineFactory, T, all, at, delete, put, store, value};

fn keep(engine: &dyn Engine, seq: Seq) {
    let mut batch = Batch::new();
    batch.put(BRANCHES_TREE, &kept_key(seq, b"case"), b"");
    engine.commit(batch).expect("a moment can be kept");
}

fn let_go(engine: &dyn Engine, seq: Seq) {
    let mut batch = Batch::new();
    batch.delete(BRANCHES_TREE, &kept_key(seq, b"case"));
    engine.commit(batch).expect("a moment can be let go");
}

fn rule(engine: &dyn Engine, retention: Retention) {
    let rule = RetentionRule { tree: T, range: KeyRange::all(), retention };
    engine.set_retention(&[rule]).expect("the rule is taken");
}

pub(super) fn a_kept_moment_stays_readable_whatever_the_rules_say(factory: &dyn EngineFactory) {
    let rules = [Retention::HeadOnly, Retention::Versions(NonZeroU32::MIN), Retention::Duration(Duration::ZERO)];
    for retention in rules {
        let mut store = store(factory);
        let engine = store.engine();
        for nth in 0..20_u8 {
            put(engine, b"a", &[nth]);
            put(engine, b"b", &[nth]);
        }
        delete(engine, b"b");
        let kept = put(engine, b"c", b"kept");
        put(engine, b"c", b"later");
        keep(engine, kept);
        rule(engine, retention);
        for nth in 0..20_u8 {
            put(engine, b"a", &[100 + nth]);
            put(engine, b"b", &[100 + nth]);
        }
        for reopened in [false, true] {
            if reopened {
                store.reopen();
            }
            let engine = store.engine();
            engine.settle().expect("it settles");
            let then = at(engine, kept);
            assert_eq!(value(&*then, b"a"), Some(vec![19]), "{retention:?}");
            assert_eq!((value(&*then, b"b"), value(&*then, b"c")), (None, Some(b"kept".to_vec())), "{retention:?}");
            assert_eq!(all(&*then, T).len(), 2);
            let before = at(engine, Seq(3)).get(T, b"a").map(drop);
            assert!(matches!(before, Err(EngineError::Forgotten { .. })), "{retention:?}: {before:?}");
        }
        let engine = store.engine();
        let through = ErasedVersions::through(engine.head());
        engine.erase(&[ErasedKey { tree: T, key: b"a".to_vec(), versions: through }]).expect("it can be erased");
        assert_eq!(value(&*at(engine, kept), b"a"), None, "erasing erases");
        let_go(engine, kept);
        put(engine, b"c", b"newest");
        engine.settle().expect("it settles");
        let then = at(engine, kept).get(T, b"c").map(drop);
        assert!(matches!(then, Err(EngineError::Forgotten { .. })), "{retention:?}: {then:?}");
    }
}

pub(super) fn what_a_kept_moment_needs_is_not_forgotten(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    put(engine, b"a", b"one");
    let kept = put(engine, b"a", b"two");
    put(engine, b"a", b"three");
    keep(engine, kept);
    engine.forget(T, &KeyRange::all(), kept).expect("what is older is not needed");
    let refused = engine.forget(T, &KeyRange::all(), engine.head());
    assert!(matches!(refused, Err(EngineError::Kept { moment, .. }) if moment == kept), "{refused:?}");
    assert_eq!(value(&*at(engine, kept), b"a"), Some(b"two".to_vec()));
    let_go(engine, kept);
    engine.forget(T, &KeyRange::all(), engine.head()).expect("nobody needs it any more");
}

pub(super) fn a_moment_that_could_not_be_read_keeps_nothing(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    rule(engine, Retention::HeadOnly);
    let old = put(engine, b"a", b"one");
    put(engine, b"a", b"two");
    engine.settle().expect("it settles");
    keep(engine, old);
    let between = put(engine, b"a", b"three");
    put(engine, b"a", b"four");
    engine.settle().expect("it settles");
    let refused = at(engine, between).get(T, b"a").map(drop);
    assert!(matches!(refused, Err(EngineError::Forgotten { .. })), "the old moment needs nothing: {refused:?}");
}
