//! What settling costs and gives, on JSON documents of about 290 bytes:
//! `cargo bench -p recension --bench settling [-- ROWS]`. Fresh and settled take turns in one run.
#![allow(clippy::cast_precision_loss)] // counts and times, printed with two digits

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use recension_engine::{Batch, Direction, Engine, KeyRange, Seq, TreeId};
use recension_native::disk::FsDisk;
use recension_native::{NativeEngine, NativeOptions};

const TREE: TreeId = TreeId(1);
const WORDS: [&str; 16] = [
    "amber", "bicycle", "copper", "delta", "ember", "forest", "granite", "harbor", "island", "jungle", "kettle",
    "lantern", "meadow", "nectar", "orchid", "pepper",
];

/// xorshift64*: the same sequence in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn word(&mut self) -> &'static str {
        WORDS[(self.next() >> 60) as usize]
    }
}

fn key(n: u64) -> [u8; 16] {
    // Scattered, so that neighbours in time are not neighbours in order.
    let mut key = [b'k'; 16];
    key[8..].copy_from_slice(&n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    key
}

fn document(n: u64, random: &mut Random) -> Vec<u8> {
    let (a, b, c) = (random.word(), random.word(), random.word());
    let numbers = random.next();
    let mut text = format!(
        r#"{{"id":{n},"name":"{a} {b}","email":"{c}{}@example.com","active":{},"balance":{}.{:02},"token":"{:016x}","tags":["#,
        numbers % 10_000,
        numbers.is_multiple_of(2),
        numbers % 100_000,
        numbers % 100,
        random.next()
    );
    while text.len() < 270 {
        let _ = write!(text, r#""{}","#, random.word());
    }
    let _ = write!(text, r#""end"],"n":{}}}"#, numbers % 1000);
    text.into_bytes()
}

fn write(engine: &NativeEngine, rows: u64, seed: u64) -> u64 {
    let mut random = Random(seed);
    let mut bytes = 0;
    for first in (0..rows).step_by(1000) {
        let mut batch = Batch::new();
        for n in first..(first + 1000).min(rows) {
            batch.put(TREE, &key(n), &document(n, &mut random));
        }
        bytes += batch.size_bytes() as u64;
        engine.commit(batch).expect("a commit");
    }
    bytes
}

fn main() {
    let rows = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(500_000);
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench-settling");
    let _ = std::fs::remove_dir_all(&dir);
    let open = |options| NativeEngine::open(Arc::new(FsDisk::new(&dir)), options).expect("a store");
    let engine = open(NativeOptions::default());
    let raw = write(&engine, rows, 1);
    engine.checkpoint().expect("a checkpoint");
    println!("{rows} documents, {raw} bytes with their keys, cache 256 MiB");
    reads(&engine, "fresh", rows, engine.head());
    let start = Instant::now();
    engine.settle().expect("settled");
    let took = start.elapsed().as_secs_f64();
    println!("settle                        {took:8.2} s, {:.0} MB/s of documents", raw as f64 / took / 1e6);
    reads(&engine, "settled", rows, engine.head());
    size(&engine, raw, "settled");
    let loaded = engine.head();
    let overwritten = write(&engine, rows, 2);
    engine.settle().expect("settled");
    reads(&engine, "as of a past", rows, loaded);
    size(&engine, raw + overwritten, "with a past");
    puts_while_settling(&engine, rows);
    engine.close().expect("a close");
    let start = Instant::now();
    let engine = open(NativeOptions { block_cache_bytes: 8 << 20, ..NativeOptions::default() });
    println!("reopen                        {:8.1} ms", start.elapsed().as_secs_f64() * 1e3);
    engine.settle().expect("settled");
    reads(&engine, "cache of 8 MiB", rows, engine.head());
    let stats = engine.stats().expect("stats");
    for (name, value, unit) in stats.details {
        println!("  {name}: {value} {unit}");
    }
    drop(engine);
    let _ = std::fs::remove_dir_all(&dir);
}

fn size(engine: &NativeEngine, raw: u64, what: &str) {
    let disk = engine.stats().expect("stats").disk_bytes;
    println!("{what:<28}  {:8.2} of the raw bytes ({disk} with the newest segment)", disk as f64 / raw as f64);
}

fn reads(engine: &NativeEngine, what: &str, rows: u64, at: Seq) {
    let snapshot = engine.snapshot_at(at).expect("a snapshot");
    let mut random = Random(42);
    let get = |n: u64| snapshot.get(TREE, &key(n)).expect("a read").map_or(0, |found| u64::from(found[0]));
    for pass in ["first", "second"] {
        time(&format!("{what}: get, {pass} pass"), 300_000, || get(random.next() % rows));
    }
    time(&format!("{what}: get, absent"), 200_000, || get(rows + random.next() % rows));
    for pass in ["first", "second"] {
        time(&format!("{what}: range of 100, {pass}"), 10_000, || {
            let mut range = KeyRange::all();
            range.start = std::ops::Bound::Included(key(random.next() % rows).to_vec());
            let rows = snapshot.range(TREE, &range, Direction::Forward).take(100);
            rows.map(|row| row.expect("a row").value.bytes[0]).map(u64::from).sum()
        });
    }
}

/// Lone durable puts alone, and while everything is merged.
fn puts_while_settling(engine: &NativeEngine, rows: u64) {
    let stop = AtomicBool::new(false);
    let mut random = Random(9);
    let mut put = |times: Option<usize>| {
        let mut took = Vec::new();
        while times.map_or(!stop.load(Relaxed), |times| took.len() < times) {
            let mut batch = Batch::new();
            let n = random.next() % rows;
            batch.put(TREE, &key(n), &document(n, &mut random));
            let start = Instant::now();
            engine.commit(batch).expect("a commit");
            took.push(start.elapsed());
        }
        took.sort_unstable();
        took
    };
    let show = |what: &str, took: &[Duration]| {
        let at = |per_mille: usize| took[(took.len() - 1) * per_mille / 1000].as_secs_f64() * 1e6;
        println!("{what:<28}  {:8.1} us, p99 {:.0}, p99.9 {:.0} of {}", at(500), at(990), at(999), took.len());
    };
    show("durable put", &put(Some(20_000)));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            engine.settle().expect("settled");
            stop.store(true, Relaxed);
        });
        show("durable put while settling", &put(None));
    });
}

fn time(what: &str, times: u32, mut operation: impl FnMut() -> u64) {
    let (start, cpu) = (Instant::now(), cpu_ns());
    let mut sum = 0;
    for _ in 0..times {
        sum += operation();
    }
    std::hint::black_box(sum);
    let wall = start.elapsed().as_secs_f64() * 1e6 / f64::from(times);
    let cpu = (cpu_ns() - cpu) / 1e3 / f64::from(times);
    println!("{what:<32}  {wall:8.2} us, {cpu:8.2} us of the processor");
}

/// What this thread has had of the processor, on a machine that is not ours alone.
fn cpu_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0.0)
}
