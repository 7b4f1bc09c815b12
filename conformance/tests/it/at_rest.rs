//! The native engine when nothing is committed for a while: what is in memory is written, and a disk that has no room
//! for that harms nobody before as much waits as may.

use std::time::{Duration, Instant};

use recension::engine::{Batch, Engine, EngineError, NativeEngine, NativeOptions, Result, Seq, TreeId};
use recension_conformance::sim::SimDisk;

const TREE: TreeId = TreeId(1);
/// Rows that take more than a sixteenth of the log after which a part is closed, and less than all of it.
const SOME: u64 = 200;

fn options() -> NativeOptions {
    NativeOptions {
        segment_bytes: 4 << 20,
        index_memory_bytes: 512 << 10,
        checkpoint_log_bytes: 256 << 10,
        // Runs stay runs.
        settle_log_bytes: None,
        ..NativeOptions::default()
    }
}

fn put(engine: &NativeEngine, n: u64) -> Result<Seq> {
    let mut batch = Batch::new();
    batch.put(TREE, &n.to_be_bytes(), &[7; 100]);
    engine.commit(batch).map(|commit| commit.seq)
}

fn written(disk: &SimDisk) -> Vec<String> {
    let names = disk.files().into_iter().map(|(name, _)| name);
    names.filter(|name| name.starts_with("index/") && !name.ends_with("MANIFEST")).collect()
}

/// Waits until it is so, and fails where it never is.
fn wait_until(what: &str, is: impl Fn() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what}: not within 30 s");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_is_in_memory_is_written_at_rest_where_there_is_much_of_it() {
    let disk = SimDisk::new();
    let engine = NativeEngine::open(disk.arc(), options()).unwrap();
    for n in 0..SOME {
        put(&engine, n).unwrap();
    }
    wait_until("a run", || written(&disk) == ["index/0000000001.run"]);
    // Not for a few rows, whatever is written before them.
    put(&engine, SOME).unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(written(&disk), ["index/0000000001.run"]);
    // Nor is much written while commits are made.
    let began = Instant::now();
    let mut n = SOME + 1;
    while began.elapsed() < Duration::from_millis(2500) {
        for _ in 0..5 {
            put(&engine, n).unwrap();
            n += 1;
        }
        std::thread::sleep(Duration::from_millis(40));
    }
    assert_eq!(written(&disk), ["index/0000000001.run"]);
    wait_until("a second run", || written(&disk).len() == 2);
    engine.close().unwrap();
    let engine = NativeEngine::open(disk.arc(), options()).unwrap();
    assert_eq!((engine.head(), engine.index_rebuilt()), (Seq(n), None));
    assert_eq!(engine.verify().unwrap().problems, []);
}

#[test]
fn a_disk_that_is_full_for_a_while_is_waited_for() {
    let disk = SimDisk::new();
    let engine = NativeEngine::open(disk.arc(), options()).unwrap();
    for n in 0..SOME {
        put(&engine, n).unwrap();
    }
    disk.set_capacity(disk.files().iter().map(|(_, len)| len).sum());
    wait_until("no room for a run", || disk.faults_hit() > 0);
    for n in SOME..SOME + 10 {
        put(&engine, n).unwrap();
    }
    wait_until("what is left of the attempt is removed", || written(&disk).is_empty());
    disk.heal();
    wait_until("a run", || written(&disk).len() == 1);
    put(&engine, SOME + 10).unwrap();
    assert_eq!(engine.verify().unwrap().problems, []);
    engine.close().unwrap();
    let engine = NativeEngine::open(disk.arc(), options()).unwrap();
    assert_eq!((engine.head(), engine.index_rebuilt()), (Seq(SOME + 11), None));
}

#[test]
fn a_disk_that_stays_full_takes_commits_until_as_much_waits_as_may() {
    let disk = SimDisk::new();
    let engine = NativeEngine::open(disk.arc(), options()).unwrap();
    // The log has its whole room from the first commit on, so that it is the runs alone that have none.
    let mut batch = Batch::new();
    batch.put(TREE, b"large", &vec![7; 2200 << 10]);
    engine.commit(batch).unwrap();
    wait_until("a run", || written(&disk).len() == 1);
    disk.set_capacity(disk.files().iter().map(|(_, len)| len).sum());
    let mut taken = 1;
    let refusal = loop {
        match put(&engine, taken) {
            Ok(_) => taken += 1,
            Err(refusal) => break refusal,
        }
    };
    // Four parts of 128 KiB.
    assert!(taken > 4 * SOME, "{taken} commits");
    assert!(matches!(refusal, EngineError::Poisoned { .. }), "{refusal}");
    assert!(engine.close().is_err());
    disk.heal();
    let engine = NativeEngine::open(disk.arc(), options()).unwrap();
    assert_eq!(engine.head(), Seq(taken));
    assert_eq!(engine.verify().unwrap().problems, []);
}
