//! A store over SQLite beside other programs that have its file open, and its own readers beside each other.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use crate::support::{T, get, open, put};
use recension::engine::{Batch, Direction, Engine, EngineError, KeyRange, Seq};
use recension_engines::sqlite::{SqliteEngine, SqliteOptions};
use rusqlite::Connection;

#[test]
fn a_commit_that_meets_another_programs_lock_writes_nothing_and_can_be_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let engine = open(&path).unwrap();
    put(&engine, b"k", b"1");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut batch = Batch::new();
    batch.put(T, b"k", b"2");
    match engine.commit(batch.clone()) {
        Err(EngineError::Backend { engine: "SQLite", message }) => assert!(message.contains("retry"), "{message}"),
        other => panic!("{other:?}"),
    }
    assert_eq!((engine.head(), get(&engine, b"k")), (Seq(1), Some(b"1".to_vec())), "reading goes on");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(engine.commit(batch).unwrap().seq, Seq(2));
}

#[test]
fn other_programs_may_read_at_any_time() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let engine = open(&path).unwrap();
    put(&engine, b"k", b"1");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN").unwrap();
    let count = |table: &str| other.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0));
    assert_eq!(count("commits").unwrap(), 1);
    put(&engine, b"k", b"2");
    assert_eq!(count("commits").unwrap(), 1, "their transaction stays where it is");
    let refused = engine.checkpoint().expect_err("the log cannot be folded in under a reader");
    assert!(refused.to_string().contains("another program"), "{refused}");
    other.execute_batch("COMMIT").unwrap();
    engine.checkpoint().expect("and is no reason to take no more commits");
    put(&engine, b"k", b"3");
    assert_eq!(count("past").unwrap(), 2);
}

#[test]
fn commits_of_another_program_are_noticed_and_stop_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let engine = open(&path).unwrap();
    put(&engine, b"k", b"1");
    put(&engine, b"k", b"2");
    Connection::open(&path).unwrap().execute_batch("DELETE FROM commits WHERE seq = 2").unwrap();
    let mut batch = Batch::new();
    batch.put(T, b"k", b"3");
    let error = engine.commit(batch.clone()).expect_err("it is noticed").to_string();
    assert!(error.contains("another program has changed the store"), "{error}");
    match engine.commit(batch) {
        Err(EngineError::Poisoned { cause }) => assert!(cause.contains("another program"), "{cause}"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(engine.checkpoint(), Err(EngineError::Poisoned { .. })));
    assert_eq!(engine.head(), Seq(2), "nothing was added");
    drop(engine);
    assert!(!open(&path).unwrap().verify().unwrap().problems.is_empty());
}

/// One connection for all readers: a walk that held it between two rows would never let the others begin.
#[test]
fn readers_share_few_connections_without_waiting_for_each_others_callers() {
    let dir = tempfile::tempdir().unwrap();
    let options = SqliteOptions { read_connections: 1, page_rows: 3, ..SqliteOptions::default() };
    let engine = SqliteEngine::open(&dir.path().join("store.db"), options).unwrap();
    let mut batch = Batch::new();
    for n in 0..100_u8 {
        batch.put(T, &[n], &[n]);
    }
    engine.commit(batch).unwrap();
    let together = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let snapshot = engine.snapshot().unwrap();
                let range = KeyRange::all();
                let mut walks: Vec<_> = (0..10).map(|_| snapshot.range(T, &range, Direction::Backward)).collect();
                for n in (0..100_u8).rev() {
                    if n % 10 == 0 {
                        // All threads stand in the middle of all their walks.
                        together.wait();
                    }
                    for walk in &mut walks {
                        assert_eq!(*walk.next().unwrap().unwrap().key, [n]);
                    }
                    assert_eq!(*snapshot.get(T, &[n]).unwrap().unwrap(), [n]);
                }
            });
        }
    });
    let connections = engine.stats().unwrap().details.iter().find(|(name, ..)| *name == "connections").unwrap().1;
    assert_eq!(connections, 2, "one that reads, one that writes");
}

#[test]
fn a_check_and_a_checkpoint_do_not_stand_in_each_others_way() {
    let dir = tempfile::tempdir().unwrap();
    // Whoever meets the other's lock fails at once.
    let options = SqliteOptions { busy_timeout: Duration::ZERO, ..SqliteOptions::default() };
    let engine = SqliteEngine::open(&dir.path().join("store.db"), options).unwrap();
    let mut batch = Batch::new();
    for n in 0..2_000_u16 {
        batch.put(T, &n.to_be_bytes(), &[0; 200]);
    }
    engine.commit(batch).unwrap();
    let together = Barrier::new(2);
    thread::scope(|scope| {
        let checkpoints = scope.spawn(|| {
            let mut refused = 0;
            for n in 0..30_u8 {
                together.wait();
                // What a check under way does not see, and a checkpoint has to fold in all the same.
                (0..5).for_each(|_| _ = put(&engine, b"k", &[n]));
                refused += u32::from(engine.checkpoint().is_err());
            }
            refused
        });
        for _ in 0..30 {
            together.wait();
            assert_eq!(engine.verify().unwrap().problems, []);
        }
        assert_eq!(checkpoints.join().unwrap(), 0, "a checkpoint waits for a check");
    });
    assert_eq!(engine.wait_beyond(Seq(150), Duration::ZERO), Seq(151));
    assert_eq!(engine.verify().unwrap().problems, []);
}
