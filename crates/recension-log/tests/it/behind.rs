//! A node that was away while the log was trimmed beyond what it has read: it begins anew with a snapshot, and whoever
//! asks it meanwhile waits, is refused, or reads what was.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Wake, Waker};
use std::time::Duration;

use recension_engine::{Engine, EngineError};
use recension_log::{
    Appended, Blobs, Cache, LogError, LogProfile, MemoryLog, Position, ReplicatedEngine, Result, SharedLog,
};

use crate::support::{System, T, Test, node, options, row, until, value};

/// Each test by its name.
pub(crate) const TESTS: &[(&str, Test)] =
    &[("a_node_that_was_away_begins_with_a_snapshot", a_node_that_was_away_begins_with_a_snapshot)];

/// Each test on the memory log by its name.
pub(crate) const ON_MEMORY: &[(&str, fn())] = &[
    ("a_cache_in_memory_behind_a_trimmed_log_says_so", a_cache_in_memory_behind_a_trimmed_log_says_so),
    ("what_a_snapshot_left_behind_stops_no_other", what_a_snapshot_left_behind_stops_no_other),
];

/// A way to a log that can be closed, and on which the pieces of snapshots can be held up.
struct Gate {
    below: Arc<dyn SharedLog>,
    closed: AtomicBool,
    holds: Mutex<bool>,
    released: Condvar,
    /// Pieces of snapshots that were asked for.
    fetched: AtomicU64,
}

impl Gate {
    fn new(below: Arc<dyn SharedLog>) -> Arc<Self> {
        Arc::new(Gate {
            below,
            closed: AtomicBool::new(false),
            holds: Mutex::new(false),
            released: Condvar::new(),
            fetched: AtomicU64::new(0),
        })
    }

    fn close(&self, closed: bool) {
        self.closed.store(closed, Ordering::SeqCst);
    }

    fn hold(&self, holds: bool) {
        *self.holds.lock().unwrap() = holds;
        self.released.notify_all();
    }

    fn fetched(&self) -> u64 {
        self.fetched.load(Ordering::SeqCst)
    }

    fn way(&self) -> Result<&dyn SharedLog> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(LogError::Unavailable("the gate is closed".to_owned()));
        }
        Ok(&*self.below)
    }
}

impl SharedLog for Gate {
    fn append(&self, position: Position, record: &[u8]) -> Result<Appended> {
        self.way()?.append(position, record)
    }

    fn read(&self, from: Position, bytes_max: usize) -> Result<Vec<(Position, Vec<u8>)>> {
        let records = self.way()?.read(from, bytes_max)?;
        // What was read while the gate closed is dropped: nothing that is written afterwards comes through.
        self.way()?;
        Ok(records)
    }

    fn tail(&self, known: Position) -> Result<Position> {
        self.way()?.tail(known)
    }

    fn wait_for(&self, position: Position, timeout: Duration) {
        self.below.wait_for(position, timeout.min(Duration::from_millis(20)));
    }

    fn wake(&self) {
        self.below.wake();
    }

    fn trim(&self, before: Position) -> Result<()> {
        self.way()?.trim(before)
    }

    fn blobs(&self) -> &dyn Blobs {
        self
    }

    fn profile(&self) -> LogProfile {
        self.below.profile()
    }
}

impl Blobs for Gate {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.way()?.blobs().put(name, bytes)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        if name.starts_with("piece/") {
            self.fetched.fetch_add(1, Ordering::SeqCst);
            let holds = self.holds.lock().unwrap();
            drop(self.released.wait_while(holds, |holds| *holds).unwrap());
        }
        self.way()?.blobs().get(name)
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        self.way()?.blobs().list(prefix)
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.way()?.blobs().delete(name)
    }
}

/// A task that waits for the head.
#[derive(Default)]
struct Task(AtomicBool);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A node for which nobody waits before the log is trimmed.
fn unlisted(log: Arc<dyn SharedLog>, cache: &Cache) -> ReplicatedEngine {
    ReplicatedEngine::open(log, cache, options()).unwrap()
}

/// Writes snapshots until what lies behind `position` is given up.
fn trim_beyond(engine: &ReplicatedEngine, position: Position) {
    until("the log is trimmed", || {
        engine.write_snapshot().unwrap();
        matches!(engine.log().read(position.next(), 1), Err(LogError::Trimmed { .. }))
    });
}

fn a_node_that_was_away_begins_with_a_snapshot(system: &System) {
    let name = system.fresh_name();
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::directory(folder.path().join("away"));
    let gate = Gate::new((system.open)(&name));
    let away = unlisted(gate.clone(), &cache);
    let other = node((system.open)(&name), &folder.path().join("other"));
    let old = other.commit(row(b"k", &[0])).unwrap();
    assert_eq!(away.refresh().unwrap(), old.seq);
    let before = away.snapshot().unwrap();
    gate.close(true);
    for n in 1..30 {
        other.commit(row(b"k", &[n])).unwrap();
    }
    trim_beyond(&other, away.position().0);

    let task = Arc::new(Task::default());
    assert!(!away.wake_beyond(old.seq, &Waker::from(task.clone())));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| away.wait_beyond(old.seq, Duration::from_mins(1)));
        gate.hold(true);
        gate.close(false);
        until("it fetches a snapshot", || gate.fetched() > 0);
        let refused = [away.refresh().map(drop), away.commit(row(b"early", b"1")).map(drop)];
        for refused in refused {
            let says = refused.clone().unwrap_err().to_string();
            assert!(matches!(refused, Err(EngineError::Unavailable { .. })) && says.contains("snapshot"), "{says}");
        }
        assert_eq!((away.head(), value(&away, b"k")), (old.seq, Some(vec![0])), "reads go on, of what there is");
        // What it fetches is removed for newer ones, and the log goes on.
        for n in 30..34 {
            other.commit(row(b"k", &[n])).unwrap();
            trim_beyond(&other, Position(other.position().0.0 - 2));
        }
        assert!(!waiting.is_finished() && !task.0.load(Ordering::SeqCst));
        gate.hold(false);
        assert!(waiting.join().unwrap() > old.seq);
    });
    until("tasks are woken", || task.0.load(Ordering::SeqCst));
    until("it has caught up", || away.refresh().is_ok());
    assert_eq!((away.position(), away.head()), (other.position(), other.head()));
    assert_eq!(value(&away, b"k"), Some(vec![33]));
    assert_eq!(value(&away, b"early"), None, "what was refused was not written");
    assert_eq!(before.get(T, b"k").unwrap().map(|value| value.to_vec()), Some(vec![0]), "open snapshots stay");
    assert_eq!(away.verify().unwrap().problems, []);
    let commit = away.commit(row(b"late", b"1")).unwrap();
    assert_eq!(other.refresh().unwrap(), commit.seq);
    assert_eq!(value(&other, b"late").as_deref(), Some(&b"1"[..]));

    // The cache opens again as it is, and what it left behind goes.
    let fetched = gate.fetched();
    drop((before, away));
    let away = unlisted(gate.clone(), &cache);
    assert_eq!((away.position(), gate.fetched()), (other.position(), fetched));
    assert_eq!(value(&away, b"late").as_deref(), Some(&b"1"[..]));
    let names = std::fs::read_dir(folder.path().join("away")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.filter(|name| name.to_string_lossy().starts_with("store")).count(), 1);
}

fn a_cache_in_memory_behind_a_trimmed_log_says_so() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let gate = Gate::new(Arc::new(log.clone()));
    let away = unlisted(gate.clone(), &Cache::Memory);
    let other = node(Arc::new(log), &folder.path().join("other"));
    gate.close(true);
    for n in 0..5 {
        other.commit(row(b"k", &[n])).unwrap();
    }
    trim_beyond(&other, away.position().0);
    gate.close(false);
    let says = |error: EngineError| error.to_string().contains("?cache=");
    until("it says so", || away.refresh().is_err_and(says));
    assert!(away.commit(row(b"k", b"v")).is_err_and(says));
    assert_eq!(value(&away, b"k"), None, "reads go on");
}

fn what_a_snapshot_left_behind_stops_no_other() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let cache = folder.path().join("cache");
    let one = node(Arc::new(log.clone()), &cache);
    one.commit(row(b"k", b"v")).unwrap();
    std::fs::create_dir(cache.join("snapshot.tmp")).unwrap();
    std::fs::write(cache.join("snapshot.tmp/STORE"), "of another store").unwrap();
    one.write_snapshot().unwrap();
    let other = node(Arc::new(log), &folder.path().join("other"));
    assert_eq!(value(&other, b"k").as_deref(), Some(&b"v"[..]));
}
