//! Backups: separate stores as of one moment, made while commits go on. Engines that make none are skipped.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use recension::engine::{Direction, Engine, EngineError, KeyRange, Retention, RetentionRule, Seq, TreeId};

use super::engines::scratch;
use super::{EngineFactory, T, all, at, now, put, rows, store, write};

fn open(factory: &dyn EngineFactory, at: &Path) -> Arc<dyn Engine> {
    factory.open_backup(at).expect("backups are made").expect("a backup opens")
}

fn same(backup: &dyn Engine, source: &dyn Engine, head: Seq) {
    assert_eq!(backup.head(), head);
    assert_eq!(backup.verify().unwrap().problems, []);
    for seq in [1, head.0 / 2, head.0].map(Seq) {
        assert_eq!(all(&*at(backup, seq), T), all(&*at(source, seq), T), "as of {seq}");
        assert_eq!(at(backup, seq).time().unwrap(), at(source, seq).time().unwrap());
    }
}

pub(super) fn a_backup_is_a_store_with_all_there_was_and_is_brought_up_to_date(factory: &dyn EngineFactory) {
    let dir = scratch();
    let to = dir.path().join("backup");
    if factory.open_backup(&to).is_none() {
        return;
    }
    let store = store(factory);
    let engine = store.engine();
    let rule = RetentionRule { tree: TreeId(9), range: KeyRange::prefix("x"), retention: Retention::HeadOnly };
    engine.set_retention(std::slice::from_ref(&rule)).unwrap();
    write(engine, &[(TreeId(9), b"x", Some(b"1"))]);
    for n in 0..100_u8 {
        put(engine, &[n % 30], &[n; 300]);
    }
    engine.forget(TreeId(9), &KeyRange::only("y"), Seq(50)).unwrap();
    let report = engine.backup(&to).unwrap();
    assert_eq!(report.head, engine.head());
    assert!(report.bytes_copied > 0 && report.files_copied > 0, "{report:?}");
    {
        let backup = open(factory, &to);
        same(&*backup, engine, report.head);
        assert_eq!(backup.retention().unwrap(), [rule]);
        assert!(matches!(at(&*backup, Seq(49)).get(TreeId(9), b"y"), Err(EngineError::Forgotten { .. })));
    }
    for n in 0..100_u8 {
        put(engine, &[n % 30], &[n; 300]);
    }
    let newer = engine.backup(&to).unwrap();
    assert!(newer.head > report.head);
    same(&*open(factory, &to), engine, newer.head);
    put(engine, b"later", b"");
    assert_eq!(all(&*now(&*open(factory, &to)), T).len(), 30, "a backup stays as it was");
}

pub(super) fn what_is_no_backup_of_the_store_is_left_as_it_is(factory: &dyn EngineFactory) {
    let dir = scratch();
    let to = dir.path().join("backup");
    if factory.open_backup(&to).is_none() {
        return;
    }
    let (one, other) = (store(factory), store(factory));
    put(one.engine(), b"a", b"one");
    put(other.engine(), b"a", b"other");
    put(other.engine(), b"a", b"another");
    other.engine().backup(&to).unwrap();
    let refused = one.engine().backup(&to);
    assert!(matches!(refused, Err(EngineError::NotAStore { .. })), "{refused:?}");
    let text = dir.path().join("text");
    std::fs::write(&text, "dear diary").unwrap();
    assert!(one.engine().backup(&text).is_err());
    assert_eq!(std::fs::read(&text).unwrap(), b"dear diary");
    let held = open(factory, &to);
    let refused = other.engine().backup(&to);
    assert!(matches!(refused, Err(EngineError::Locked { .. })), "{refused:?}");
    assert_eq!(super::value(&*now(&*held), b"a").as_deref(), Some(&b"another"[..]));
}

pub(super) fn backups_beside_writers_are_whole(factory: &dyn EngineFactory) {
    let dir = scratch();
    let to = dir.path().join("backup");
    if factory.open_backup(&to).is_none() {
        return;
    }
    let store = store(factory);
    let engine = store.engine();
    write(engine, &[(T, b"a", Some(b"0")), (T, b"b", Some(b"0"))]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let text = format!("{n}");
                write(engine, &[(T, b"a", Some(text.as_bytes())), (T, b"b", Some(text.as_bytes()))]);
            }
        });
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..5 {
                let before = engine.head();
                let report = engine.backup(&to).unwrap();
                assert!(report.head >= before, "it has what was committed before it was asked for");
                // The newest commit in the backup may be one whose writer has not returned yet.
                engine.wait_beyond(Seq(report.head.0 - 1), std::time::Duration::from_mins(1));
                let backup = open(factory, &to);
                same(&*backup, engine, report.head);
                let pair = rows(&*now(&*backup), T, &KeyRange::all(), Direction::Forward);
                assert_eq!(pair[0].2, pair[1].2, "commits are whole");
            }
        }));
        done.store(true, Ordering::Relaxed);
        if let Err(panic) = ended {
            std::panic::resume_unwind(panic);
        }
    });
}
