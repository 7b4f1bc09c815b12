//! Memory stays within its budget, as counted by the allocator itself: not by the engine's own words.
// A process of its own: its allocator counts what everybody in it takes.
#![allow(unsafe_code)] // a counting allocator cannot be written without

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use recension::disk::FsDisk;
use recension::engine::{Batch, Direction, Durability, Engine, KeyRange, NativeEngine, NativeOptions, TreeId};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator with the arguments it came with.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MIB: usize = 1 << 20;

/// One at a time: the allocator counts for all.
static COUNTED: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn an_attachment_goes_in_and_out_in_little_memory() {
    use recension::{Expect, Store};
    use std::io::Read;
    let _counted = COUNTED.lock();
    let dir = tempfile::tempdir().unwrap();
    let options = NativeOptions {
        index_memory_bytes: 8 * MIB as u64,
        durability: Durability::Process,
        ..NativeOptions::default()
    };
    let store = Store::on(Arc::new(NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options).unwrap())).unwrap();
    let collection = store.collection("menu").unwrap();
    collection.put("a", "{}").unwrap();
    let length = 50 * MIB as u64;
    for content_type in ["image/png", "text/plain"] {
        let before = NOW.load(Relaxed);
        PEAK.store(before, Relaxed);
        collection.attach("a", Expect::Anything, "x", content_type, std::io::repeat(7).take(length)).unwrap();
        let mut reader = collection.attachment("a", "x").unwrap().unwrap();
        assert_eq!(std::io::copy(&mut reader, &mut std::io::sink()).unwrap(), length);
        let peak = PEAK.load(Relaxed) - before;
        assert!(peak < 16 * MIB, "peak {} MiB for {} MiB of {content_type}", peak / MIB, length / MIB as u64);
        println!("peak {} KiB for {} MiB of {content_type}", peak / 1024, length / MIB as u64);
    }
    assert_eq!(store.check(recension::At::Now).unwrap().problems, []);
}

#[test]
fn loading_many_more_keys_than_the_budget_holds_stays_within_it() {
    let _counted = COUNTED.lock();
    let dir = tempfile::tempdir().unwrap();
    let budget = 8 * MIB;
    let options = NativeOptions {
        index_memory_bytes: budget as u64,
        durability: Durability::Process,
        ..NativeOptions::default()
    };
    let engine = NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options).unwrap();
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let rows = 600_000u64;
    for first in (0..rows).step_by(500) {
        let mut batch = Batch::new();
        for n in first..first + 500 {
            batch.put(TreeId(1), &n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes(), b"a value of some length");
        }
        engine.commit(batch).unwrap();
    }
    let peak = PEAK.load(Relaxed) - before;
    let stats = engine.stats().unwrap();
    let in_runs = stats.details.iter().find(|(name, ..)| name.starts_with("versions in runs, newest")).unwrap().1;
    assert!(in_runs > rows / 2, "most keys are in runs: {in_runs} of {rows}");
    // What all of it would take in memory is several times the budget.
    assert!(rows as usize * 100 > 5 * budget);
    assert!(peak < budget + 16 * MIB, "peak {} MiB with a budget of {} MiB", peak / MIB, budget / MIB);
    println!("peak {} MiB for {rows} keys with a budget of {} MiB", peak / MIB, budget / MIB);
    drop(engine);
    settling_and_reading();
}

/// Settling, merging and reading much more than the cache holds. Part of the one test of this file: the counter
/// is the whole process's.
fn settling_and_reading() {
    let dir = tempfile::tempdir().unwrap();
    let (index, cache) = (4 * MIB, 4 * MIB);
    let options = NativeOptions {
        index_memory_bytes: index as u64,
        block_cache_bytes: cache as u64,
        segment_bytes: 4 << 20,
        settle_log_bytes: Some(8 << 20),
        settle_bytes_per_second: 1 << 30,
        durability: Durability::Process,
        ..NativeOptions::default()
    };
    let engine = NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options).unwrap();
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let rows = 250_000u64;
    let key = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    for first in (0..rows).step_by(500) {
        let mut batch = Batch::new();
        for n in first..first + 500 {
            batch.put(TreeId(1), &key(n), format!("the value of {n}, and more of it").repeat(5).as_bytes());
        }
        engine.commit(batch).unwrap();
    }
    engine.settle().unwrap();
    let snapshot = engine.snapshot().unwrap();
    let all = snapshot.range(TreeId(1), &KeyRange::all(), Direction::Forward);
    assert_eq!(all.map(Result::unwrap).count() as u64, rows);
    for n in (0..rows).step_by(7) {
        assert!(snapshot.get(TreeId(1), &key(n)).unwrap().is_some());
    }
    let peak = PEAK.load(Relaxed) - before;
    let stats = engine.stats().unwrap();
    let settled = stats.details.iter().find(|(name, ..)| *name == "settled rows, newest in their file").unwrap().1;
    assert_eq!(settled, rows);
    let budget = index + cache;
    assert!(peak < budget + 24 * MIB, "peak {} MiB with a budget of {} MiB", peak / MIB, budget / MIB);
    println!("peak {} MiB for {rows} settled rows with a budget of {} MiB", peak / MIB, budget / MIB);
}
