//! Where the time goes in the native engine, beside the floor that the machine sets:
//! `cargo bench -p recension --bench engine [-- ROWS]`. Operation and floor take turns in one run.
//! It is for whoever works on the engine; the comparison with other engines is the laboratory's.
#![allow(clippy::cast_precision_loss)] // counts and times, printed with two digits

use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use recension_engine::{Batch, Direction, Durability, Engine, KeyRange, Seq, TreeId};
use recension_native::disk::{Disk, DiskFile, DiskLock, FsDisk, Mapping};
use recension_native::{NativeEngine, NativeOptions};

const TREE: TreeId = TreeId(1);
const KEY_BYTES: usize = 16;
const VALUE_BYTES: usize = 300;
const WRITERS: usize = 16;

fn main() {
    let rows = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(500_000);
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench-engine");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a directory to measure in");
    println!("{rows} rows of {KEY_BYTES} + {VALUE_BYTES} bytes");
    lone_put(&dir);
    many_writers(&dir);
    reads(&dir, rows);
    let _ = std::fs::remove_dir_all(&dir);
}

/// xorshift64*: the same sequence in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

fn key(n: u64) -> [u8; KEY_BYTES] {
    // Scattered, so that neighbours in time are not neighbours in order.
    let mut key = [b'k'; KEY_BYTES];
    key[8..].copy_from_slice(&n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    key
}

fn put(n: u64, value: &[u8]) -> Batch {
    let mut batch = Batch::new();
    batch.put(TREE, &key(n), value);
    batch
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// Counts calls and time in writes and syncs.
#[derive(Clone)]
struct TimedDisk(FsDisk, Arc<Counts>);

#[derive(Default)]
struct Counts {
    writes: AtomicU64,
    write_ns: AtomicU64,
    syncs: AtomicU64,
    sync_ns: AtomicU64,
}

struct TimedFile(Arc<dyn DiskFile>, Arc<Counts>);

impl Disk for TimedDisk {
    fn location(&self) -> String {
        self.0.location()
    }
    fn create_dir(&self, name: &str) -> io::Result<()> {
        self.0.create_dir(name)
    }
    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.0.list(dir)
    }
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(TimedFile(self.0.create(name)?, self.1.clone())))
    }
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(TimedFile(self.0.open(name)?, self.1.clone())))
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }
    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.0.sync_dir(dir)
    }
    fn lock(&self, name: &str) -> io::Result<Result<DiskLock, String>> {
        self.0.lock(name)
    }
}

impl DiskFile for TimedFile {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn allocate(&self, len: u64) -> io::Result<()> {
        self.0.allocate(len)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn write_at(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let start = Instant::now();
        let done = self.0.write_at(offset, parts);
        self.1.write_ns.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        self.1.writes.fetch_add(1, Relaxed);
        done
    }
    fn sync(&self) -> io::Result<()> {
        let start = Instant::now();
        let done = self.0.sync();
        self.1.sync_ns.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        self.1.syncs.fetch_add(1, Relaxed);
        done
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, buffer)
    }
    fn map(&self, len: u64) -> io::Result<Arc<dyn Mapping>> {
        self.0.map(len)
    }
}

/// One writer, one row a commit, durable, in turns with an append and a sync of a preallocated file.
fn lone_put(dir: &Path) {
    let counts = Arc::new(Counts::default());
    let disk = TimedDisk(FsDisk::new(dir.join("lone")), counts.clone());
    let engine = NativeEngine::open(Arc::new(disk), NativeOptions::default()).expect("a store");
    let floor_disk = FsDisk::new(dir.join("floor"));
    floor_disk.create_dir("").expect("a directory");
    let floor = floor_disk.create("raw").expect("a file");
    floor.allocate(64 << 20).and_then(|()| floor.sync()).expect("space");
    let value = [7; VALUE_BYTES];
    let record = [7; 384];
    for n in 0..500 {
        engine.commit(put(n, &value)).expect("a commit");
    }
    let before = [&counts.writes, &counts.write_ns, &counts.syncs, &counts.sync_ns].map(|count| count.load(Relaxed));
    let (mut puts, mut floors, mut unsynced) = (Vec::new(), Vec::new(), Vec::new());
    let rounds = 4000;
    for n in 0..rounds {
        let start = Instant::now();
        engine.commit(put(500 + n, &value)).expect("a commit");
        puts.push(start.elapsed());
        let start = Instant::now();
        floor.write_at(4096 + n * 384, &[IoSlice::new(&record)]).and_then(|()| floor.sync()).expect("a write");
        floors.push(start.elapsed());
    }
    let after = [&counts.writes, &counts.write_ns, &counts.syncs, &counts.sync_ns].map(|count| count.load(Relaxed));
    for n in 0..rounds {
        let mut batch = put(9_000_000 + n, &value);
        batch.durability(Durability::Process);
        let start = Instant::now();
        engine.commit(batch).expect("a commit");
        unsynced.push(start.elapsed());
    }
    let per = |index: usize| (after[index] - before[index]) as f64 / rounds as f64;
    let mean = puts.iter().sum::<Duration>().as_secs_f64() * 1e6 / rounds as f64;
    let (put_us, floor_us) = (median(puts), median(floors));
    println!("\nlone durable put              {put_us:8.1} us   median of {rounds}");
    println!("  floor: append + fdatasync   {floor_us:8.1} us   ratio {:.2}", put_us / floor_us);
    println!(
        "  of the mean {mean:.1} us: write {:.1}, sync {:.1}, the rest {:.1}",
        per(1) / 1e3,
        per(3) / 1e3,
        mean - (per(1) + per(3)) / 1e3
    );
    println!("  calls a commit: {:.2} writes, {:.2} syncs", per(0), per(2));
    println!("  without sync (Process)      {:8.1} us", median(unsynced));
}

/// Sixteen writers, one row a commit, durable.
fn many_writers(dir: &Path) {
    let counts = Arc::new(Counts::default());
    let disk = TimedDisk(FsDisk::new(dir.join("many")), counts.clone());
    let engine = NativeEngine::open(Arc::new(disk), NativeOptions::default()).expect("a store");
    let per_writer = 4000;
    let before = (counts.syncs.load(Relaxed), counts.sync_ns.load(Relaxed));
    let start = Instant::now();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS as u64 {
            let engine = &engine;
            scope.spawn(move || {
                let value = [writer as u8; VALUE_BYTES];
                for n in 0..per_writer {
                    engine.commit(put(writer * 1_000_000 + n, &value)).expect("a commit");
                }
            });
        }
    });
    let took = start.elapsed().as_secs_f64();
    let commits = WRITERS as f64 * per_writer as f64;
    let syncs = (counts.syncs.load(Relaxed) - before.0) as f64;
    let syncing = (counts.sync_ns.load(Relaxed) - before.1) as f64 / 1e9;
    println!("\n{WRITERS} durable writers           {:8.0} commits/s", commits / took);
    println!(
        "  {:.1} commits a sync, {:.0} us a sync, syncing {:.0} % of the time",
        commits / syncs,
        syncing / syncs * 1e6,
        100.0 * syncing / took
    );
}

fn reads(dir: &Path, rows: u64) {
    let disk = Arc::new(FsDisk::new(dir.join("reads")));
    let engine = NativeEngine::open(disk, NativeOptions::default()).expect("a store");
    let mut value = [0; VALUE_BYTES];
    let start = Instant::now();
    for first in (0..rows).step_by(1000) {
        let mut batch = Batch::new();
        for n in first..(first + 1000).min(rows) {
            value[..8].copy_from_slice(&n.to_le_bytes());
            batch.put(TREE, &key(n), &value);
        }
        engine.commit(batch).expect("a commit");
    }
    println!("\nload, 1000 rows a commit      {:8.2} us a row", start.elapsed().as_secs_f64() * 1e6 / rows as f64);
    let loaded = engine.head();
    let start = Instant::now();
    engine.checkpoint().expect("a checkpoint");
    println!("  checkpoint after it         {:8.0} ms", start.elapsed().as_secs_f64() * 1e3);

    let floor: Vec<u8> = (0..rows as usize * 336).map(|n| n as u8).collect();
    let mut random = Random(42);
    for (what, per_thread, threads) in [("random get", 400_000, 1), ("random get, 2 threads", 400_000, 2)] {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let engine = &engine;
                scope.spawn(move || {
                    let mut random = Random(99 + thread);
                    for _ in 0..per_thread {
                        let n = random.next() % rows;
                        let snapshot = engine.snapshot().expect("a snapshot");
                        let found = snapshot.get(TREE, &key(n)).expect("a read").expect("the row");
                        assert_eq!(found[..8], n.to_le_bytes());
                    }
                });
            }
        });
        println!("{what:<28}  {:8.2} us", start.elapsed().as_secs_f64() * 1e6 / f64::from(per_thread));
    }
    let snapshot = engine.snapshot().expect("a snapshot");
    time("  with one snapshot", 400_000, || {
        let n = random.next() % rows;
        snapshot.get(TREE, &key(n)).expect("a read").map_or(0, |found| u64::from(found[0]))
    });
    time("  of an absent key", 400_000, || {
        let n = rows + random.next() % rows;
        u64::from(snapshot.get(TREE, &key(n)).expect("a read").is_some())
    });
    time("  of one key (in the caches)", 400_000, || {
        snapshot.get(TREE, &key(7)).expect("a read").map_or(0, |found| u64::from(found[0]))
    });
    time("  floor: checksum of 330 B", 400_000, || {
        let at = (random.next() % rows) as usize * 336;
        u64::from(crc32c::crc32c(&floor[at..at + 330]))
    });
    range(&engine, "range of 100 rows", rows, engine.head());
    overwrite(&engine, rows);
    let past = engine.snapshot_at(loaded).expect("a snapshot");
    time("get as of a past commit", 200_000, || {
        let n = random.next() % rows;
        past.get(TREE, &key(n)).expect("a read").map_or(0, |found| u64::from(found[0]))
    });
    range(&engine, "range of 100 as of a past", rows, loaded);
    range(&engine, "range of 100 at the head", rows, engine.head());
    drop(snapshot);
    drop(past);
    let stats = engine.stats().expect("stats");
    let start = Instant::now();
    engine.close().expect("a close");
    println!("close                         {:8.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    let engine =
        NativeEngine::open(Arc::new(FsDisk::new(dir.join("reads"))), NativeOptions::default()).expect("a store");
    println!("reopen                        {:8.1} ms", start.elapsed().as_secs_f64() * 1e3);
    drop(engine);
    println!("raw bytes {}, on disk {}", (rows * (KEY_BYTES + VALUE_BYTES) as u64) * 2, stats.disk_bytes);
    for (name, value, unit) in stats.details {
        println!("  {name}: {value} {unit}");
    }
}

/// Every row once more, so that each has a past.
fn overwrite(engine: &NativeEngine, rows: u64) {
    let mut random = Random(3);
    let value = [9; VALUE_BYTES];
    for _ in 0..rows / 1000 {
        let mut batch = Batch::new();
        for _ in 0..1000 {
            batch.put(TREE, &key(random.next() % rows), &value);
        }
        engine.commit(batch).expect("a commit");
    }
    engine.checkpoint().expect("a checkpoint");
}

fn range(engine: &NativeEngine, what: &str, rows: u64, at: Seq) {
    let snapshot = engine.snapshot_at(at).expect("a snapshot");
    let mut random = Random(5);
    time(what, 10_000, || {
        let mut range = KeyRange::all();
        range.start = std::ops::Bound::Included(key(random.next() % rows).to_vec());
        let rows = snapshot.range(TREE, &range, Direction::Forward).take(100);
        rows.map(|row| row.expect("a row").value.bytes[0]).map(u64::from).sum()
    });
}

fn time(what: &str, times: u32, mut operation: impl FnMut() -> u64) {
    let start = Instant::now();
    let mut sum = 0;
    for _ in 0..times {
        sum += operation();
    }
    std::hint::black_box(sum);
    println!("{what:<28}  {:8.2} us", start.elapsed().as_secs_f64() * 1e6 / f64::from(times));
}
