//! The cache of settled blocks: what settling writes is there to be read without the disk, and what is merged away
//! leaves it.

use std::sync::Arc;

use recension::disk::FsDisk;
use recension::engine::{Batch, Direction, Engine, KeyRange, NativeEngine, NativeOptions, TreeId};
use recension_conformance::sim::{CountingDisk, OpKind};

const TREE: TreeId = TreeId(1);
const ROWS: u64 = 2000;
const ROW_BYTES: u64 = 8 + 300;

fn engine(dir: &std::path::Path, cache_bytes: u64) -> (CountingDisk, NativeEngine) {
    let disk = CountingDisk::new(Arc::new(FsDisk::new(dir)));
    // A part of the index for each few rows: a settled file is made of several runs.
    let options = NativeOptions {
        index_memory_bytes: 64 << 10,
        block_cache_bytes: cache_bytes,
        settle_log_bytes: None,
        ..NativeOptions::default()
    };
    let engine = NativeEngine::open(Arc::new(disk.clone()), options).unwrap();
    (disk, engine)
}

fn key(n: u64) -> [u8; 8] {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()
}

fn value(n: u64, version: u8) -> Vec<u8> {
    let mut value = vec![version; 300];
    value[..8].copy_from_slice(&key(n));
    value
}

fn write(engine: &NativeEngine, version: u8) {
    for first in (0..ROWS).step_by(100) {
        let mut batch = Batch::new();
        for n in first..first + 100 {
            batch.put(TREE, &key(n), &value(n, version));
        }
        engine.commit(batch).unwrap();
    }
}

/// Reads every row, one after the other and as a range; returns the calls that read a file.
fn reads(disk: &CountingDisk, engine: &NativeEngine, version: u8) -> u64 {
    let before = disk.counters();
    let snapshot = engine.snapshot().unwrap();
    for n in 0..ROWS {
        assert_eq!(snapshot.get(TREE, &key(n)).unwrap().unwrap().to_vec(), value(n, version));
    }
    assert_eq!(snapshot.range(TREE, &KeyRange::all(), Direction::Forward).map(Result::unwrap).count() as u64, ROWS);
    disk.counters().since(&before).of(OpKind::Read)
}

fn cached_bytes(engine: &NativeEngine) -> u64 {
    let stats = engine.stats().unwrap();
    stats.details.iter().find(|(name, ..)| *name == "settled blocks in memory").unwrap().1
}

#[test]
fn what_was_just_settled_is_read_without_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let (disk, engine) = engine(dir.path(), 64 << 20);
    write(&engine, 1);
    engine.settle().unwrap();
    assert_eq!(reads(&disk, &engine, 1), 0);
}

#[test]
fn blocks_of_files_that_were_merged_into_another_leave_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let (disk, engine) = engine(dir.path(), 64 << 20);
    for version in 1..=3 {
        write(&engine, version);
        engine.settle().unwrap();
    }
    assert_eq!(reads(&disk, &engine, 3), 0);
    // Every version is one of the new file's, and there is a part of the cache's for what they cost beside their bytes.
    let (cached, most) = (cached_bytes(&engine), ROWS * ROW_BYTES * 3 * 3 / 2);
    assert!(cached > ROWS * ROW_BYTES && cached < most, "{cached} bytes, expected less than {most}");
}

#[test]
fn blocks_that_are_read_often_stay_while_others_go_through_the_cache() {
    const HOT_ROWS: u64 = 10;
    let dir = tempfile::tempdir().unwrap();
    // Room for two fifths of the blocks, about, and short ways to all of them.
    let (disk, engine) = engine(dir.path(), ROWS * ROW_BYTES / 2);
    write(&engine, 1);
    engine.settle().unwrap();
    let get = |n: u64| {
        let before = disk.counters();
        let snapshot = engine.snapshot().unwrap();
        assert_eq!(snapshot.get(TREE, &key(n)).unwrap().unwrap().to_vec(), value(n, 1));
        disk.counters().since(&before).of(OpKind::Read)
    };
    let (mut hot, mut others) = (0, 0);
    for n in 0..ROWS {
        others += get(n);
        hot += (0..HOT_ROWS).map(get).sum::<u64>() + (0..HOT_ROWS).map(get).sum::<u64>();
    }
    assert!(others > ROWS / 3, "the cache is too large for this: {others} blocks were read");
    assert!(hot < others / 10, "{hot} reads for rows that are read all the time, {others} for the others");
}
