//! A log that went back: its system was put back to an older copy while a node was dead, or under it. No node answers
//! from what the log has lost, or writes behind it, until somebody has discarded its cache.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use recension_engine::{Engine, EngineError, Seq};
use recension_log::{
    Appended, Blobs, LogError, LogProfile, MemoryLog, Position, ReplicatedEngine, Result, SharedLog, discard_cache,
    log_status,
};

use crate::faults::copy;
use crate::support::{System, Test, node, row, try_node, until, value};

/// Each test by its name.
pub(crate) const TESTS: &[(&str, Test)] = &[
    ("a_dead_node_ahead_of_a_restored_copy_is_refused", a_dead_node_ahead_of_a_restored_copy_is_refused),
    ("a_running_node_notices_that_its_log_went_back", a_running_node_notices_that_its_log_went_back),
    ("a_log_that_was_trimmed_did_not_go_back", a_log_that_was_trimmed_did_not_go_back),
];

/// Each test on the memory log by its name.
pub(crate) const ON_MEMORY: &[(&str, fn())] = &[
    ("a_log_that_became_empty_is_not_begun_anew", a_log_that_became_empty_is_not_begun_anew),
    ("a_cache_without_its_note_is_checked_or_made_anew", a_cache_without_its_note_is_checked_or_made_anew),
    ("an_append_whose_answer_was_lost_puts_no_cache_ahead", an_append_whose_answer_was_lost_puts_no_cache_ahead),
    ("another_log_under_the_name_of_a_running_node_is_told", another_log_under_the_name_of_a_running_node_is_told),
    ("discard_touches_no_other_folder", discard_touches_no_other_folder),
];

/// Copies a log and what lies beside it, as a backup of its system does.
fn backup(from: &dyn SharedLog, to: &dyn SharedLog) {
    let mut next = Position::FIRST;
    loop {
        let page = from.read(next, 1 << 20).unwrap();
        if page.is_empty() {
            break;
        }
        for (position, record) in page {
            assert_eq!(to.append(position, &record).unwrap(), Appended::Written);
            next = position.next();
        }
    }
    for name in from.blobs().list("").unwrap().iter().filter(|name| !name.starts_with("node/")) {
        to.blobs().put(name, &from.blobs().get(name).unwrap().unwrap()).unwrap();
    }
}

fn write(engine: &ReplicatedEngine, numbers: std::ops::Range<u8>) {
    for n in numbers {
        engine.commit(row(&[n], b"v")).unwrap();
    }
}

/// It says what is the matter, and what can be done.
#[track_caller]
fn assert_refused<T>(answer: recension_engine::Result<T>, cache: Option<&Path>) {
    let error = answer.err().expect("nothing is answered");
    let says = error.to_string();
    assert!(matches!(error, EngineError::Diverged { .. }) && says.contains("older copy"), "{says}");
    let command = cache.map(|cache| format!("recension cluster discard {}", cache.display()));
    assert!(command.is_none_or(|command| says.contains(&command)), "{says}");
}

fn a_dead_node_ahead_of_a_restored_copy_is_refused(system: &System) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (name, restored) = (system.fresh_name(), system.fresh_name());
    let open = |name: &str| (system.open)(name);
    let running = node(open(&name), &at("running"));
    write(&running, 0..10);
    backup(&*open(&name), &*open(&restored));
    write(&running, 10..20);
    copy(&at("running"), &at("killed"));
    copy(&at("running"), &at("beside"));
    copy(&at("running"), &at("equal"));
    drop(running);

    // The log is shorter than the cache, as long, and longer.
    let refused = || try_node(open(&restored), &at("killed")).map(drop);
    assert_refused(refused(), Some(&at("killed")));
    assert_refused(try_node(open(&restored), &at("running")).map(drop), Some(&at("running")));
    let other = node(open(&restored), &at("other"));
    for n in 20..30 {
        assert_refused(refused(), Some(&at("killed")));
        write(&other, n..n + 1);
    }
    assert_refused(try_node(open(&restored), &at("equal")).map(drop), Some(&at("equal")));
    write(&other, 30..40);
    assert_refused(try_node(open(&restored), &at("beside")).map(drop), Some(&at("beside")));

    // The right log is no offence, and a cache that was discarded takes the log as it is.
    let right = node(open(&name), &at("beside"));
    assert_eq!((right.head(), value(&right, &[19]).is_some()), (Seq(20), true));
    let discarded = discard_cache(&at("killed")).unwrap().expect("there was something in it");
    assert_eq!(discarded.seq, Seq(20));
    let taken = node(open(&restored), &at("killed"));
    assert_eq!((taken.position(), taken.head()), (other.position(), Seq(30)));
    assert_eq!((value(&taken, &[15]), value(&taken, &[39]).is_some()), (None, true));
    assert_eq!(taken.verify().unwrap().problems, []);
}

/// A system that can be put back to another copy of its log.
struct Switch(Mutex<Arc<dyn SharedLog>>, MemoryLog);

impl Switch {
    fn new(log: Arc<dyn SharedLog>) -> Arc<Self> {
        Arc::new(Switch(Mutex::new(log), MemoryLog::new()))
    }

    fn put_back(&self, to: Arc<dyn SharedLog>) {
        *self.0.lock().unwrap() = to;
    }

    fn log(&self) -> Arc<dyn SharedLog> {
        self.0.lock().unwrap().clone()
    }
}

impl SharedLog for Switch {
    fn append(&self, position: Position, record: &[u8]) -> Result<Appended> {
        self.log().append(position, record)
    }

    fn read(&self, from: Position, bytes_max: usize) -> Result<Vec<(Position, Vec<u8>)>> {
        self.log().read(from, bytes_max)
    }

    fn tail(&self, known: Position) -> Result<Position> {
        self.log().tail(known)
    }

    fn wait_for(&self, position: Position, timeout: Duration) {
        self.log().wait_for(position, timeout.min(Duration::from_millis(20)));
    }

    fn wake(&self) {}

    fn trim(&self, before: Position) -> Result<()> {
        self.log().trim(before)
    }

    fn blobs(&self) -> &dyn Blobs {
        &self.1
    }

    fn profile(&self) -> LogProfile {
        self.log().profile()
    }
}

fn a_running_node_notices_that_its_log_went_back(system: &System) {
    let folder = tempfile::tempdir().unwrap();
    let (name, restored) = (system.fresh_name(), system.fresh_name());
    let open = |name: &str| (system.open)(name);
    let switch = Switch::new(open(&name));
    let at = folder.path().join("running");
    let running = node(switch.clone(), &at);
    write(&running, 0..10);
    backup(&*open(&name), &*open(&restored));
    write(&running, 10..20);
    switch.put_back(open(&restored));
    // A handle that has read further than the log goes now looks for its end anew.
    let slept = open(&name);
    assert_eq!(slept.tail(Position(0)).unwrap(), Position(22));
    let tail = open(&restored).tail(Position(21)).unwrap();
    assert!(tail <= Position(21), "{tail}");

    assert_refused(running.refresh(), Some(&at));
    assert_refused(running.commit(row(b"late", b"v")), Some(&at));
    assert_refused(running.snapshot(), Some(&at));
    assert_refused(running.snapshot_at(Seq(3)), Some(&at));
    assert_refused(running.write_snapshot(), Some(&at));
    assert!(running.verify().unwrap().problems.iter().any(|problem| problem.what.contains("older copy")));
    assert_eq!(open(&restored).tail(Position(0)).unwrap(), Position(12), "nothing was written behind it");

    // It is noticed by a node that nobody asks, too, and if the other log is as long.
    let switch = Switch::new(open(&name));
    let at = folder.path().join("idle");
    let idle = node(switch.clone(), &at);
    assert_eq!(idle.head(), Seq(20));
    write(&node(open(&restored), &folder.path().join("other")), 20..30);
    switch.put_back(open(&restored));
    until("an idle node notices it", || idle.snapshot().is_err());
    assert_refused(idle.snapshot(), Some(&at));
    drop((idle, running));
    assert_refused(try_node(open(&restored), &at).map(drop), Some(&at));
}

fn a_log_that_was_trimmed_did_not_go_back(system: &System) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (name, restored) = (system.fresh_name(), system.fresh_name());
    let open = |name: &str| (system.open)(name);
    let one = node(open(&name), &at("one"));
    write(&one, 0..5);
    backup(&*open(&name), &*open(&restored));
    write(&one, 5..10);
    one.checkpoint().unwrap();
    for copied in ["right", "wrong"] {
        copy(&at("one"), &at(copied));
    }
    // The caches' newest record is given up, and the next one is there: it says what was before it.
    let other = node(open(&restored), &at("other"));
    for (engine, name) in [(&one, &name), (&other, &restored)] {
        write(engine, 20..40);
        open(name).trim(Position(12)).unwrap();
        assert!(matches!(open(name).read(Position(11), 1), Err(LogError::Trimmed { .. })));
    }
    assert_refused(try_node(open(&restored), &at("wrong")).map(drop), Some(&at("wrong")));
    assert_eq!(node(open(&name), &at("right")).position(), one.position());
    let ahead = |status: recension_log::LogStatus| status.nodes.iter().any(|node| node.position > status.position);
    assert!(!ahead(log_status(&*open(&name)).unwrap()));
}

fn a_log_that_became_empty_is_not_begun_anew() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let cache = folder.path().join("cache");
    write(&node(Arc::new(log.clone()), &cache), 0..3);
    log.lose_from(Position::FIRST);
    assert_refused(try_node(Arc::new(log.clone()), &cache).map(drop), Some(&cache));
    assert_eq!(log.tail(Position(0)).unwrap(), Position::FIRST, "nothing was written");
    discard_cache(&cache).unwrap();
    assert_eq!(node(Arc::new(log), &cache).head(), Seq::ZERO);
}

fn a_cache_without_its_note_is_checked_or_made_anew() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let cache = folder.path().join("cache");
    write(&node(Arc::new(log.clone()), &cache), 0..3);
    // A loss of power has kept rows of the store and lost what was noted about them.
    let older = folder.path().join("older");
    copy(&cache, &older);
    let running = node(Arc::new(log.clone()), &cache);
    write(&running, 3..9);
    let killed = folder.path().join("killed");
    copy(&cache, &killed);
    drop(running);
    std::fs::copy(older.join("seen"), killed.join("seen")).unwrap();
    let shorter = folder.path().join("shorter");
    copy(&killed, &shorter);
    assert_eq!(value(&node(Arc::new(log.clone()), &killed), &[8]).as_deref(), Some(&b"v"[..]));
    log.lose_from(Position(6));
    assert_refused(try_node(Arc::new(log), &shorter).map(drop), Some(&shorter));
}

/// A log that answers nothing to appends, having made them or not.
struct Silent(MemoryLog, bool);

impl SharedLog for Silent {
    fn append(&self, position: Position, record: &[u8]) -> Result<Appended> {
        if self.1 || position == Position::FIRST {
            self.0.append(position, record)?;
        }
        Err(LogError::Unknown("the test says so".to_owned()))
    }

    fn read(&self, from: Position, bytes_max: usize) -> Result<Vec<(Position, Vec<u8>)>> {
        self.0.read(from, bytes_max)
    }

    fn tail(&self, known: Position) -> Result<Position> {
        self.0.tail(known)
    }

    fn wait_for(&self, position: Position, timeout: Duration) {
        self.0.wait_for(position, timeout.min(Duration::from_millis(20)));
    }

    fn wake(&self) {}

    fn trim(&self, before: Position) -> Result<()> {
        self.0.trim(before)
    }

    fn blobs(&self) -> &dyn Blobs {
        self.0.blobs()
    }

    fn profile(&self) -> LogProfile {
        self.0.profile()
    }
}

fn an_append_whose_answer_was_lost_puts_no_cache_ahead() {
    for made in [false, true] {
        let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
        let (cache, killed) = (folder.path().join("cache"), folder.path().join("killed"));
        let mut options = crate::support::options();
        options.patience = Duration::from_millis(20);
        let asked = recension_log::Cache::directory(&cache);
        let one = ReplicatedEngine::open(Arc::new(Silent(log.clone(), made)), &asked, options).unwrap();
        let answer = one.commit(row(b"k", b"v"));
        assert!(made || matches!(answer, Err(EngineError::Unknown { .. })), "{answer:?}");
        copy(&cache, &killed);
        drop(one);
        let back = node(Arc::new(log), &killed);
        assert_eq!(value(&back, b"k").is_some(), made);
    }
}

fn discard_touches_no_other_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("store")).unwrap();
    let refused = discard_cache(folder.path()).unwrap_err();
    assert!(matches!(refused, EngineError::NotAStore { .. }), "{refused}");
    assert!(discard_cache(&folder.path().join("nowhere")).is_err() && !folder.path().join("nowhere").exists());
    let cache = folder.path().join("cache");
    let held = node(Arc::new(MemoryLog::new()), &cache);
    assert!(matches!(discard_cache(&cache), Err(EngineError::Locked { .. })));
    assert!(folder.path().join("store").is_dir());
    drop(held);
}

fn another_log_under_the_name_of_a_running_node_is_told() {
    let folder = tempfile::tempdir().unwrap();
    // Shorter than what the node has, and longer.
    for records in [1_u8, 9] {
        let switch = Switch::new(Arc::new(MemoryLog::new()));
        let running = node(switch.clone(), &folder.path().join(format!("running{records}")));
        write(&running, 0..4);
        let taken = MemoryLog::new();
        write(&node(Arc::new(taken.clone()), &folder.path().join(format!("other{records}"))), 0..records);
        switch.put_back(Arc::new(taken));
        assert_refused(running.refresh(), None);
        assert_refused(running.commit(row(b"k", b"late")), None);
        assert_refused(running.snapshot(), None);
    }
}
