//! A node: a process of its own with an engine on the log, four threads that write, one that reads what is fresh and
//! one that follows the feed. It says on its output what it begins and what it was told, a line each, so that what it
//! knew outlives it; and does what it is told on its input.

use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use recension_engine::{
    Batch, Clock, Direction, Engine, EngineError, KeyRange, Seq, Snapshot, SystemClock, Timestamp, TreeId, counters,
};
use recension_log::{Cache, LogAddress, ReplicatedEngine, ReplicatedOptions, open_log};

/// Rows by unique keys, the counter and the registers.
pub(crate) const ROWS: TreeId = TreeId(7);
/// One row a commit, at its seq.
pub(crate) const FEED: TreeId = TreeId(8);
pub(crate) const COUNTER: &[u8] = b"count";
pub(crate) const REGISTERS: usize = 4;

const WRITERS: usize = 4;
/// Between two commits of a writer, and two reads of the reader.
const PACE: Duration = Duration::from_millis(4);
/// After something that failed.
const AFTER_FAILURE: Duration = Duration::from_millis(50);

pub(crate) fn register(nth: usize) -> Vec<u8> {
    format!("register {nth}").into_bytes()
}

/// Microseconds of the machine's own clock, which nobody steps and which all its processes share.
pub(crate) fn micros() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000 + now.tv_nsec.cast_unsigned() / 1000
}

/// The system's clock, and a step that somebody has made.
#[derive(Default)]
struct SteppedClock(AtomicI64);

impl Clock for SteppedClock {
    fn now(&self) -> Timestamp {
        Timestamp(SystemClock.now().0.saturating_add_signed(self.0.load(Ordering::SeqCst)))
    }
}

struct Node {
    engine: ReplicatedEngine,
    /// What its keys begin with.
    name: String,
    writes: AtomicBool,
    /// Threads that are in the middle of something.
    busy: AtomicUsize,
    /// The newest commit that the feed has told of.
    told: AtomicU64,
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody listens any more: the test has ended.
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

/// What the process does. `arguments`: its name, the address, its cache's folder, and bytes between snapshots.
pub(crate) fn run(arguments: &str) {
    let arguments: Vec<&str> = arguments.split('\n').collect();
    let [name, address, cache, snapshot_bytes] = arguments[..] else { panic!("{arguments:?}") };
    let clock = Arc::new(SteppedClock::default());
    let mut options = ReplicatedOptions::default();
    options.clock = clock.clone();
    options.patience = Duration::from_secs(5);
    name.split('-').next().unwrap_or_default().clone_into(&mut options.node);
    // A node that is slow for a moment, on a machine with other work, is not left behind.
    options.node_interval = Duration::from_secs(1);
    options.snapshot_bytes = snapshot_bytes.parse().ok();
    let engine = loop {
        let log = open_log(&LogAddress::parse(address).unwrap());
        match log.and_then(|log| ReplicatedEngine::open(log, &Cache::directory(cache), options.clone())) {
            Ok(engine) => break engine,
            Err(
                error @ (EngineError::Unavailable { .. } | EngineError::Unknown { .. } | EngineError::Locked { .. }),
            ) => {
                say(&format!("e {error}"));
                std::thread::sleep(AFTER_FAILURE);
            }
            Err(error) => {
                say(&format!("x {error}"));
                std::process::exit(2);
            }
        }
    };
    let told = AtomicU64::new(engine.head().0);
    say(&format!("o {}", told.load(Ordering::SeqCst)));
    let name = name.to_owned();
    let (writes, busy) = (AtomicBool::new(true), AtomicUsize::new(0));
    let node: &'static Node = Box::leak(Box::new(Node { engine, name, writes, busy, told }));
    for writer in 0..WRITERS {
        std::thread::spawn(move || node.write(writer));
    }
    std::thread::spawn(move || node.read());
    std::thread::spawn(move || node.follow());
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let (command, argument) = line.split_once(' ').unwrap_or((&line, ""));
        match command {
            "run" => node.writes.store(true, Ordering::SeqCst),
            "pause" => {
                node.writes.store(false, Ordering::SeqCst);
                while node.busy.load(Ordering::SeqCst) > 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                say("paused");
            }
            "check" => node.check(argument.parse().unwrap()),
            "clock" => clock.0.store(argument.parse().unwrap(), Ordering::SeqCst),
            _ => panic!("{line}"),
        }
    }
    std::process::exit(0);
}

impl Node {
    /// Runs `work` again and again, while it may.
    fn again(&self, mut work: impl FnMut(u64) -> bool) {
        for n in 0.. {
            self.busy.fetch_add(1, Ordering::SeqCst);
            let well = !self.writes.load(Ordering::SeqCst) || work(n);
            self.busy.fetch_sub(1, Ordering::SeqCst);
            std::thread::sleep(if well { PACE } else { AFTER_FAILURE });
        }
    }

    fn write(&self, writer: usize) {
        self.again(|n| {
            let key = format!("{}.{writer}.{n}", self.name);
            let register = register((n as usize + writer) % REGISTERS);
            let mut batch = Batch::new();
            batch.put(ROWS, key.as_bytes(), &[writer as u8; 40]);
            batch.put(ROWS, &register, key.as_bytes());
            batch.add(ROWS, COUNTER, &[1]);
            batch.put_at_own_seq(FEED, b"", b"", key.as_bytes());
            if n % 4 == 0 {
                batch.depends_on(ROWS, &register, self.engine.head());
            }
            say(&format!("b {key} {}", micros()));
            match self.engine.commit(batch) {
                Ok(commit) => say(&format!("k {key} {} {}", micros(), commit.seq.0)),
                Err(error) if error.is_conflict() => say(&format!("n {key}")),
                Err(EngineError::Unavailable { .. }) => {
                    say(&format!("n {key}"));
                    return false;
                }
                // It may be there, or may yet be.
                Err(error) => {
                    say(&format!("u {key} {}", error.to_string().replace('\n', " ")));
                    return false;
                }
            }
            true
        });
    }

    fn read(&self) {
        self.again(|n| {
            let nth = n as usize % REGISTERS;
            let began = micros();
            let Ok(_) = self.engine.refresh() else { return false };
            let snapshot = self.engine.snapshot().unwrap();
            let value = text(&*snapshot, &register(nth));
            say(&format!("r {began} {} {} {nth} {value}", micros(), snapshot.seq().0));
            true
        });
    }

    fn follow(&self) {
        loop {
            let last = self.told.load(Ordering::SeqCst);
            if self.engine.wait_beyond(Seq(last), Duration::from_millis(200)).0 == last {
                continue;
            }
            let snapshot = self.engine.snapshot().unwrap();
            let head = snapshot.seq().0;
            for (seq, key) in feed(&*snapshot, last) {
                say(&format!("f {seq} {key}"));
            }
            self.told.store(head, Ordering::SeqCst);
        }
    }

    /// Says where this node is, when it has everything up to a position.
    fn check(&self, position: u64) {
        loop {
            if let Err(error) = self.engine.refresh() {
                say(&format!("e {error}"));
                std::thread::sleep(AFTER_FAILURE);
                continue;
            }
            let (here, chain) = self.engine.position();
            let head = self.engine.head();
            if here.0 >= position && self.told.load(Ordering::SeqCst) == head.0 {
                let snapshot = self.engine.snapshot().unwrap();
                let count = snapshot.get(ROWS, COUNTER).unwrap();
                let count = count.map_or(0, |value| counters(&value).unwrap()[0]);
                let chain: String = chain.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
                return say(&format!("p {} {chain} {} {count}", here.0, head.0));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// What a row says; `-` if there is none.
fn text(snapshot: &dyn Snapshot, key: &[u8]) -> String {
    let value = snapshot.get(ROWS, key).unwrap();
    value.map_or_else(|| "-".to_owned(), |value| String::from_utf8_lossy(&value).into_owned())
}

/// The keys of the commits behind `after`, by their seqs.
pub(crate) fn feed(snapshot: &dyn Snapshot, after: u64) -> BTreeMap<u64, String> {
    let (start, end) = (Bound::Excluded(after.to_be_bytes().to_vec()), Bound::Unbounded);
    let rows = snapshot.range(FEED, &KeyRange { start, end }, Direction::Forward).map(|row| row.unwrap());
    rows.map(|row| {
        let seq = u64::from_be_bytes(row.key[..8].try_into().unwrap());
        (seq, String::from_utf8_lossy(&row.value).into_owned())
    })
    .collect()
}
