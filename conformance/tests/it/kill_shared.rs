//! Processes that write to one store, and the one that owns it is killed, again and again.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use recension::disk::FsDisk;
use recension::engine::NativeEngine;
use recension_conformance::crash::env_number;
use recension_conformance::killed::options;
use recension_conformance::shared::check;

const PROCESSES: u32 = 8;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_mins(2);

struct Writer {
    process: Child,
    acknowledged: Arc<AtomicU32>,
    listening: JoinHandle<()>,
}

fn start(dir: &Path, name: u32) -> Writer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_share_child"));
    command.arg(dir).arg(name.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let acknowledged = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&acknowledged);
    // A line that the kill has cut off says nothing.
    let whole = move |line: &str| line.strip_prefix("ack ")?.parse::<u32>().ok();
    let listening = std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if whole(&line) == Some(counted.load(Ordering::SeqCst)) {
                counted.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    Writer { process, acknowledged, listening }
}

/// Waits until each process has written something more.
fn all_go_on(writers: &BTreeMap<u32, Writer>) {
    let before: Vec<u32> = writers.values().map(|writer| writer.acknowledged.load(Ordering::SeqCst)).collect();
    let deadline = Instant::now() + LONG;
    let behind = |(writer, before): (&Writer, &u32)| writer.acknowledged.load(Ordering::SeqCst) <= *before;
    while writers.values().zip(&before).any(behind) {
        assert!(Instant::now() < deadline, "somebody does not go on: {before:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The process that owns the store, by its name and its id.
fn owner_of(store: &Path, writers: &BTreeMap<u32, Writer>) -> (u32, u32) {
    let deadline = Instant::now() + LONG;
    loop {
        // It is empty for a moment when it changes hands.
        let written = std::fs::read_to_string(store.join("lock")).unwrap();
        let found = writers.iter().find(|(_, writer)| written.trim() == writer.process.id().to_string());
        if let Some((name, writer)) = found {
            return (*name, writer.process.id());
        }
        assert!(Instant::now() < deadline, "nobody owns the store: {written:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn when_the_owner_of_a_shared_store_is_killed_the_others_go_on_and_nothing_is_lost_or_done_twice() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let mut writers: BTreeMap<u32, Writer> = (0..PROCESSES).map(|name| (name, start(&store, name))).collect();
    let mut acknowledged = BTreeMap::new();
    let mut owners = std::collections::BTreeSet::new();
    let kills = env_number("RECENSION_KILLS", 10) as u32;
    for round in 0..kills {
        all_go_on(&writers);
        let (name, owner) = owner_of(&store, &writers);
        owners.insert(owner);
        let mut killed = writers.remove(&name).unwrap();
        killed.process.kill().unwrap();
        killed.process.wait().unwrap();
        killed.listening.join().unwrap();
        acknowledged.insert(name, killed.acknowledged.load(Ordering::SeqCst));
        let next = PROCESSES + round;
        writers.insert(next, start(&store, next));
    }
    all_go_on(&writers);
    for (name, mut writer) in writers {
        drop(writer.process.stdin.take());
        assert!(writer.process.wait().unwrap().success(), "process {name}");
        writer.listening.join().unwrap();
        acknowledged.insert(name, writer.acknowledged.load(Ordering::SeqCst));
    }
    let engine = NativeEngine::open(Arc::new(FsDisk::new(&store)), options(false)).unwrap();
    check(&engine, &acknowledged);
    println!("{kills} kills of {} owners, {} commits", owners.len(), acknowledged.values().sum::<u32>());
}
