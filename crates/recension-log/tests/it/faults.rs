//! Logs that delay, lose answers, answer twice and are gone for a while, under many nodes; nodes that die at each
//! step; and
//! logs that lie.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use recension_conformance::sim::Rng;
use recension_engine::{Engine, EngineError, Seq};
use recension_log::{Appended, Blobs, LogError, LogProfile, MemoryLog, Position, ReplicatedEngine, Result, SharedLog};

use crate::nodes::{Told, check, write};
use crate::support::{T, node, row, value};

/// Each test by its name.
pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a_log_that_fails_in_every_way_loses_nothing", a_log_that_fails_in_every_way_loses_nothing),
    ("a_node_that_dies_at_any_step_comes_back", a_node_that_dies_at_any_step_comes_back),
    ("commits_say_whether_they_may_have_been_made", commits_say_whether_they_may_have_been_made),
    ("a_log_that_lost_acknowledged_records_is_caught", a_log_that_lost_acknowledged_records_is_caught),
    ("a_changed_record_is_caught", a_changed_record_is_caught),
    ("a_store_that_has_moved_takes_no_commit", a_store_that_has_moved_takes_no_commit),
    ("a_node_without_its_log_says_so_before_a_commit_does", a_node_without_its_log_says_so_before_a_commit_does),
];

/// What goes wrong, in percent of calls.
#[derive(Clone, Copy, Default)]
struct Faults {
    /// Nothing is done, and so it is said.
    unavailable: u64,
    /// It is done, and the answer is lost.
    lost_answer: u64,
    /// It is not done, and there is no answer.
    lost_request: u64,
    /// It is done twice, and the second answer is told.
    twice: u64,
    /// It takes a while.
    delayed: u64,
    /// A read or a look at the tail fails.
    unreadable: u64,
}

struct FaultyLog {
    below: MemoryLog,
    faults: Faults,
    rng: Mutex<Rng>,
    /// Calls that are left until nothing is answered any more.
    left: AtomicU64,
}

impl FaultyLog {
    fn new(below: &MemoryLog, faults: Faults, seed: u64) -> Self {
        FaultyLog { below: below.clone(), faults, rng: Mutex::new(Rng::new(seed)), left: AtomicU64::new(u64::MAX) }
    }

    fn happens(&self, percent: u64) -> bool {
        self.rng.lock().unwrap().percent(percent)
    }

    /// Counts a call; false once the log is gone.
    fn lives(&self) -> bool {
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
    }

    fn gone<T>() -> Result<T> {
        Err(LogError::Unavailable("the test says so".to_owned()))
    }

    fn look(&self) -> Result<()> {
        if !self.lives() || self.happens(self.faults.unreadable) { Self::gone() } else { Ok(()) }
    }
}

impl SharedLog for FaultyLog {
    fn append(&self, position: Position, record: &[u8]) -> Result<Appended> {
        if !self.lives() || self.happens(self.faults.unavailable) {
            return Self::gone();
        }
        if self.happens(self.faults.delayed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let unknown = || Err(LogError::Unknown("the test says so".to_owned()));
        if self.happens(self.faults.lost_request) {
            return unknown();
        }
        let answer = self.below.append(position, record);
        if self.happens(self.faults.twice) {
            return self.below.append(position, record);
        }
        if self.happens(self.faults.lost_answer) || !self.lives() { unknown() } else { answer }
    }

    fn read(&self, from: Position, bytes_max: usize) -> Result<Vec<(Position, Vec<u8>)>> {
        self.look()?;
        self.below.read(from, bytes_max)
    }

    fn tail(&self, known: Position) -> Result<Position> {
        self.look()?;
        self.below.tail(known)
    }

    fn wait_for(&self, position: Position, timeout: Duration) {
        self.below.wait_for(position, timeout);
    }

    fn wake(&self) {
        self.below.wake();
    }

    fn trim(&self, before: Position) -> Result<()> {
        self.below.trim(before)
    }

    fn blobs(&self) -> &dyn Blobs {
        &self.below
    }

    fn profile(&self) -> LogProfile {
        // Small, so that groups are cut and long records go beside the log.
        LogProfile { record_bytes_max: 2000, record_bytes_best: 600, blob_bytes_max: 700, ..self.below.profile() }
    }
}

#[allow(clippy::needless_pass_by_value)] // callers give their own
fn open(log: Arc<dyn SharedLog>, folder: &Path) -> ReplicatedEngine {
    loop {
        match crate::support::try_node(log.clone(), folder) {
            Err(EngineError::Unavailable { .. } | EngineError::Unknown { .. }) => {}
            opened => return opened.unwrap(),
        }
    }
}

fn a_log_that_fails_in_every_way_loses_nothing() {
    let rare = Faults { unavailable: 5, lost_answer: 5, lost_request: 5, twice: 5, delayed: 20, unreadable: 5 };
    let often = Faults { unavailable: 30, lost_answer: 30, lost_request: 20, twice: 20, delayed: 5, unreadable: 30 };
    for (seed, faults) in [(1, rare), (2, often), (3, rare)] {
        const NODES: usize = 3;
        const WRITERS: usize = 3;
        let below = MemoryLog::new();
        let folder = tempfile::tempdir().unwrap();
        let open = |n: usize| {
            let log = FaultyLog::new(&below, faults, seed * 100 + n as u64);
            open(Arc::new(log), &folder.path().join(n.to_string()))
        };
        let engines: Vec<_> = (0..NODES).map(open).collect();
        let (told, start) = (Told::default(), Barrier::new(NODES * WRITERS));
        std::thread::scope(|scope| {
            for (n, engine) in engines.iter().enumerate() {
                let (told, start) = (&told, &start);
                scope.spawn(move || write(engine, n, WRITERS, 25, told, start));
            }
        });
        drop(engines);
        let folder = tempfile::tempdir().unwrap();
        let engines: Vec<_> =
            (0..2).map(|n| node(Arc::new(below.clone()), &folder.path().join(n.to_string()))).collect();
        check(&engines.iter().collect::<Vec<_>>(), &told);
    }
}

/// Copies a cache as it is while its node runs: what is left of it when the node is killed.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &to) } else { _ = std::fs::copy(&path, &to).unwrap() }
    }
}

fn a_node_that_dies_at_any_step_comes_back() {
    for calls in 0..60 {
        let below = MemoryLog::new();
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(FaultyLog::new(&below, Faults::default(), calls));
        let (dying, image) = (folder.path().join("dying"), folder.path().join("image"));
        let mut options = crate::support::options();
        options.patience = Duration::from_millis(1);
        let cache = recension_log::Cache::directory(&dying);
        let engine = ReplicatedEngine::open(log.clone(), &cache, options).unwrap();
        let witness = node(Arc::new(below.clone()), &folder.path().join("witness"));
        log.left.store(calls, Ordering::SeqCst);
        let told = Told::default();
        for n in 0..12 {
            write(&engine, n, 1, 1, &told, &Barrier::new(1));
            write(&witness, 100 + n, 1, 1, &told, &Barrier::new(1));
            if n % 4 == 0 {
                let _ = engine.checkpoint();
            }
        }
        copy(&dying, &image);
        drop(engine);
        let back = node(Arc::new(below.clone()), &image);
        check(&[&back, &witness], &told);
    }
}

fn commits_say_whether_they_may_have_been_made() {
    let below = MemoryLog::new();
    let folder = tempfile::tempdir().unwrap();
    let log = Arc::new(FaultyLog::new(&below, Faults::default(), 1));
    let mut options = crate::support::options();
    options.patience = Duration::from_millis(50);
    let cache = recension_log::Cache::directory(folder.path().join("cache"));
    let engine = ReplicatedEngine::open(log.clone(), &cache, options).unwrap();
    engine.commit(row(b"k", b"0")).unwrap();
    log.left.store(0, Ordering::SeqCst);
    let refused = engine.commit(row(b"k", b"1"));
    assert!(matches!(refused, Err(EngineError::Unavailable { .. })), "{refused:?}");
    assert!(matches!(engine.refresh(), Err(EngineError::Unavailable { .. })));
    assert_eq!(value(&engine, b"k").as_deref(), Some(&b"0"[..]), "reads go on");
    // One call passes: the append is made, and its answer lost.
    log.left.store(1, Ordering::SeqCst);
    loop {
        // The thread that follows may have taken the call.
        let unsure = engine.commit(row(b"k", b"2"));
        match unsure {
            Err(EngineError::Unknown { .. }) => break,
            Err(EngineError::Unavailable { .. }) => log.left.store(1, Ordering::SeqCst),
            other => panic!("{other:?}"),
        }
    }
    log.left.store(u64::MAX, Ordering::SeqCst);
    let commit = engine.commit(row(b"other", b"3")).unwrap();
    assert_eq!(commit.seq, Seq(3));
    assert_eq!(value(&engine, b"k").as_deref(), Some(&b"2"[..]), "it was made, and is there once");
    assert_eq!(engine.snapshot().unwrap().versions(T, b"k").count(), 2);
}

fn a_log_that_lost_acknowledged_records_is_caught() {
    let log = MemoryLog::new();
    let folder = tempfile::tempdir().unwrap();
    let one = node(Arc::new(log.clone()), &folder.path().join("one"));
    for n in 0..10 {
        one.commit(row(b"k", &[n])).unwrap();
    }
    let position = one.position().0;
    // The system loses what it has acknowledged, and another node writes over it.
    log.lose_from(position);
    let other = node(Arc::new(log.clone()), &folder.path().join("other"));
    other.commit(row(b"k", b"over")).unwrap();
    other.commit(row(b"k", b"and over")).unwrap();
    let refused = one.commit(row(b"k", b"mine")).expect_err("it would stand on a record that was lost");
    assert!(matches!(refused, EngineError::Diverged { .. }), "{refused}");
    drop(one);
    let reopened = crate::support::try_node(Arc::new(log.clone()), &folder.path().join("one")).map(drop);
    assert!(matches!(reopened, Err(EngineError::Diverged { .. })), "{reopened:?}");
    // A log that is merely shorter than a cache is caught as well.
    log.lose_from(Position(3));
    drop(other);
    let reopened = crate::support::try_node(Arc::new(log), &folder.path().join("other")).map(drop);
    assert!(matches!(reopened, Err(EngineError::Diverged { .. })), "{reopened:?}");
}

fn a_changed_record_is_caught() {
    let log = MemoryLog::new();
    let folder = tempfile::tempdir().unwrap();
    let engine = node(Arc::new(log.clone()), &folder.path().join("one"));
    for n in 0..10 {
        engine.commit(row(b"k", &[n])).unwrap();
    }
    assert_eq!(engine.verify().unwrap().problems, []);
    log.damage(Position(4), |record| record[120] ^= 1);
    assert_eq!(engine.verify().unwrap().problems.len(), 2, "it and what follows from it");
    let refused = crate::support::try_node(Arc::new(log.clone()), &folder.path().join("new")).map(drop);
    assert!(matches!(refused, Err(EngineError::Damaged { .. })), "{refused:?}");
    log.damage(Position(4), |record| record[4] = 9);
    let refused = crate::support::try_node(Arc::new(log), &folder.path().join("newer")).map(drop);
    assert!(matches!(refused, Err(EngineError::NewerFormat { found: 9, supported: 1, .. })), "{refused:?}");
}

fn a_store_that_has_moved_takes_no_commit() {
    let log = MemoryLog::new();
    let folder = tempfile::tempdir().unwrap();
    let one = node(Arc::new(log.clone()), &folder.path().join("one"));
    let other = node(Arc::new(log.clone()), &folder.path().join("other"));
    one.commit(row(b"k", b"v")).unwrap();
    one.moved_to("postgres://db/app?log=x").unwrap();
    for engine in [&one, &other] {
        let refused = engine.commit(row(b"k", b"w"));
        assert!(matches!(&refused, Err(EngineError::Moved { to }) if to == "postgres://db/app?log=x"), "{refused:?}");
        assert!(matches!(engine.check_writes(), Err(EngineError::Moved { .. })));
    }
    drop(one);
    let again = node(Arc::new(log), &folder.path().join("one"));
    assert!(matches!(again.commit(row(b"k", b"w")), Err(EngineError::Moved { .. })));
    assert_eq!(value(&again, b"k").as_deref(), Some(&b"v"[..]));
}

fn a_node_without_its_log_says_so_before_a_commit_does() {
    let log = Arc::new(FaultyLog::new(&MemoryLog::new(), Faults::default(), 1));
    let folder = tempfile::tempdir().unwrap();
    let one = node(log.clone(), &folder.path().join("one"));
    one.commit(row(b"k", b"v")).unwrap();
    one.check_writes().unwrap();
    // Its follower meets that within one of its turns.
    let until = |holds: &dyn Fn(recension_engine::Result<()>) -> bool| {
        while !holds(one.check_writes()) {
            std::thread::yield_now();
        }
    };
    log.left.store(0, Ordering::SeqCst);
    until(&|told| matches!(told, Err(EngineError::Unavailable { .. })));
    assert_eq!(value(&one, b"k").as_deref(), Some(&b"v"[..]), "reads go on");
    log.left.store(u64::MAX, Ordering::SeqCst);
    until(&|told| told.is_ok());
    one.commit(row(b"k", b"w")).unwrap();
}
