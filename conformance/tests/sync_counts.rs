//! What a commit costs on a real file system, counted: calls and bytes. S1 and S14 of the faults that
//! other stores have had: no sync at all, or two for one commit.
//!
//! A binary of its own: how many writers share a sync depends on what else runs in the process.

use std::sync::Arc;
use std::time::Duration;

use recension::disk::FsDisk;
use recension::engine::native::Maintenance;
use recension::engine::{Batch, Durability, Engine, NativeEngine, NativeOptions, TreeId};
use recension_conformance::crash::test_clock;
use recension_conformance::sim::{Counters, CountingDisk, OpKind, SimDisk};

const KEY: &[u8] = b"key-of-sixteen-b";
const VALUE: &[u8] = &[7; 300];

/// The mark, once a second, is counted by a test of its own.
fn without_marks() -> NativeOptions {
    NativeOptions { mark_every: Duration::from_secs(100_000), ..NativeOptions::default() }
}

fn commit(engine: &NativeEngine, durability: Durability) {
    let mut batch = Batch::new();
    batch.put(TreeId(1), KEY, VALUE).durability(durability);
    engine.commit(batch).unwrap();
}

/// The calls that one commit of a kind makes in steady state.
fn cost_of(durability: Durability) -> Vec<Counters> {
    let dir = tempfile::tempdir().unwrap();
    let disk = CountingDisk::new(Arc::new(FsDisk::new(dir.path().join("store"))));
    let engine = NativeEngine::open(Arc::new(disk.clone()), without_marks()).unwrap();
    (0..3).for_each(|_| commit(&engine, durability));
    (0..50)
        .map(|_| {
            let before = disk.counters();
            commit(&engine, durability);
            disk.counters().since(&before)
        })
        .collect()
}

#[test]
fn a_lone_durable_commit_is_one_write_and_one_sync_and_nothing_else() {
    for cost in cost_of(Durability::Disk) {
        assert_eq!((cost.of(OpKind::Write), cost.of(OpKind::Sync), cost.total()), (1, 1, 2), "{cost:?}");
        assert_eq!(cost.of(OpKind::BeginSync), 1, "{cost:?}");
    }
}

/// What is looked for in 200 lone commits, where the disk answers this.
fn looks_where(come: Option<bool>) -> u64 {
    let sim = SimDisk::new();
    sim.set_come(come);
    let disk = CountingDisk::new(sim.arc());
    let engine = NativeEngine::open(Arc::new(disk.clone()), without_marks()).unwrap();
    (0..200).for_each(|_| commit(&engine, Durability::Disk));
    engine.close().unwrap();
    disk.counters().of(OpKind::HasCome)
}

#[test]
fn a_lone_durable_commit_looks_for_its_bytes_to_come_to_the_disk_where_that_is_of_use() {
    assert_eq!(looks_where(Some(true)), 200, "once a commit: they are there");
    // After the first and 1, 2, 4, 8, 16, 32, 64 and 128 commits that do not try.
    let tries = [1, 2, 4, 8, 16, 32, 64, 128].iter().scan(0, |at, passed| {
        *at += passed + 1;
        Some(*at)
    });
    let tries = 1 + tries.filter(|at| *at < 200).count() as u64;
    assert_eq!(looks_where(None), tries, "once a try: it cannot be told");
    let looks = looks_where(Some(false));
    assert!(looks > tries, "again and again for 100 us a try, and not without end: {looks}");
}

#[test]
fn durable_commits_that_are_asked_for_at_once_are_one_write_and_one_sync() {
    let dir = tempfile::tempdir().unwrap();
    let disk = CountingDisk::new(Arc::new(FsDisk::new(dir.path().join("store"))));
    let engine = NativeEngine::open(Arc::new(disk.clone()), without_marks()).unwrap();
    (0..3).for_each(|_| commit(&engine, Durability::Disk));
    let before = disk.counters();
    let batches = (0..20_u8).map(|n| {
        let mut batch = Batch::new();
        batch.put(TreeId(1), &[n], VALUE);
        batch
    });
    assert!(engine.commit_all(batches.collect()).iter().all(Result::is_ok));
    let cost = disk.counters().since(&before);
    assert_eq!((cost.of(OpKind::Write), cost.of(OpKind::Sync), cost.total()), (1, 1, 2), "{cost:?}");
    assert_eq!(
        (cost.of(OpKind::BeginSync), cost.of(OpKind::HasCome)),
        (1, 0),
        "others may need the processor: {cost:?}"
    );
}

#[test]
fn a_commit_that_is_to_survive_the_process_is_one_write() {
    for cost in cost_of(Durability::Process) {
        assert_eq!((cost.of(OpKind::Write), cost.total()), (1, 1), "{cost:?}");
        assert_eq!((cost.of(OpKind::BeginSync), cost.of(OpKind::HasCome)), (0, 0), "{cost:?}");
    }
}

#[test]
fn a_commit_that_need_survive_nothing_is_at_most_one_write() {
    for cost in cost_of(Durability::Memory) {
        assert!(cost.of(OpKind::Write) <= 1 && cost.total() == cost.of(OpKind::Write), "{cost:?}");
    }
}

#[test]
fn a_commit_writes_its_row_and_less_than_a_hundred_bytes_more() {
    for cost in cost_of(Durability::Disk) {
        let row = (KEY.len() + VALUE.len()) as u64;
        assert!(cost.bytes_written >= row && cost.bytes_written < row + 100, "{} bytes", cost.bytes_written);
    }
}

#[test]
fn what_durable_commits_write_behind_themselves_is_no_more_than_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let disk = CountingDisk::new(Arc::new(FsDisk::new(dir.path().join("store"))));
    let engine = NativeEngine::open(Arc::new(disk.clone()), without_marks()).unwrap();
    let cost_of = |durability| {
        let before = disk.counters();
        commit(&engine, durability);
        disk.counters().since(&before)
    };
    let mut costs: Vec<_> = (0..3000).map(|_| cost_of(Durability::Disk)).collect();
    let steady = costs.split_off(600);
    assert!(costs.iter().skip(3).all(|cost| cost.total() == 2), "a write and a sync, for the first 256 KiB");
    let bytes: u64 = steady.iter().map(|cost| cost.bytes_written).sum();
    assert!((2400 * 700..2400 * 900).contains(&bytes), "twice 2400 commits of 424 bytes: {bytes}");
    let ahead: Vec<_> = steady.iter().map(|cost| cost.bytes_written).filter(|bytes| *bytes > 500).collect();
    assert_eq!(ahead.len(), 4, "in steps of 256 KiB: {ahead:?}");
    // Less where the room that is set apart ends.
    assert!(ahead.iter().all(|bytes| (240 << 10..257 << 10).contains(bytes)), "{ahead:?}");
    assert!((0..3000).all(|_| cost_of(Durability::Process).bytes_written < 500), "nothing is synced");
}

#[test]
fn sixteen_durable_writers_share_their_syncs() {
    let dir = tempfile::tempdir().unwrap();
    let disk = CountingDisk::new(Arc::new(FsDisk::new(dir.path().join("store"))));
    let engine = NativeEngine::open(Arc::new(disk.clone()), without_marks()).unwrap();
    commit(&engine, Durability::Disk);
    let before = disk.counters();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| (0..30).for_each(|_| commit(&engine, Durability::Disk)));
        }
    });
    let cost = disk.counters().since(&before);
    println!("480 commits of 16 writers: {} writes, {} syncs", cost.of(OpKind::Write), cost.of(OpKind::Sync));
    assert_eq!(cost.of(OpKind::Write), cost.of(OpKind::Sync), "one sync for each group, and one write");
    assert!(cost.of(OpKind::Sync) <= 480);
    assert_eq!(engine.head().0, 481);
}

#[test]
fn opening_a_store_that_was_closed_writes_nothing_but_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    let disk = CountingDisk::new(Arc::new(FsDisk::new(dir.path().join("store"))));
    let open = || NativeEngine::open(Arc::new(disk.clone()), without_marks()).unwrap();
    let engine = open();
    (0..100).for_each(|_| commit(&engine, Durability::Disk));
    engine.close().unwrap();
    let before = disk.counters();
    let engine = open();
    let cost = disk.counters().since(&before);
    assert_eq!((cost.of(OpKind::Write), cost.of(OpKind::Rename), cost.of(OpKind::Create)), (0, 0, 0), "{cost:?}");
    assert_eq!(engine.head().0, 100);
}

#[test]
fn the_mark_costs_one_write_and_one_sync_a_second() {
    let cost_where = |mark_every| {
        let disk = SimDisk::new();
        let clock = test_clock();
        let maintenance = Maintenance::Inline;
        let options = NativeOptions { maintenance, mark_every, clock: clock.clone(), ..NativeOptions::default() };
        let engine = NativeEngine::open(disk.arc(), options).unwrap();
        commit(&engine, Durability::Disk);
        let before = disk.counters();
        for _ in 0..1000 {
            clock.advance(9_000);
            commit(&engine, Durability::Disk);
        }
        disk.counters().since(&before)
    };
    // 1000 commits in 9 seconds.
    let cost = cost_where(NativeOptions::default().mark_every);
    let more = cost.since(&cost_where(Duration::from_secs(100_000)));
    assert_eq!((more.of(OpKind::Write), more.of(OpKind::Sync), more.total()), (10, 10, 20), "{more:?}");
}
