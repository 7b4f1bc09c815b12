//! Several nodes on one log: nothing that was acknowledged is lost, nothing is there twice, and all come to the same.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use recension_engine::{Batch, Engine, EngineError, Seq, counters};
use recension_log::{Cache, Position, ReplicatedEngine, SharedLog, log_status};

use crate::support::{System, T, Test, node, row, until, value};

/// Each test by its name.
pub(crate) const TESTS: &[(&str, Test)] = &[
    ("nodes_that_write_at_once_lose_nothing", nodes_that_write_at_once_lose_nothing),
    ("what_one_node_writes_the_others_see", what_one_node_writes_the_others_see),
    ("a_new_node_begins_with_a_snapshot", a_new_node_begins_with_a_snapshot),
    ("rivals_on_different_nodes_conflict", rivals_on_different_nodes_conflict),
    ("clocks_of_nodes_are_not_believed", clocks_of_nodes_are_not_believed),
];

/// What writers were told.
#[derive(Default)]
pub(crate) struct Told {
    /// Keys whose commit was acknowledged, and as which.
    pub(crate) acknowledged: Mutex<Vec<(Vec<u8>, Seq)>>,
    /// Keys of which it is not known.
    pub(crate) unknown: Mutex<BTreeSet<Vec<u8>>>,
    /// Keys that were refused: they must not be there.
    pub(crate) refused: Mutex<BTreeSet<Vec<u8>>>,
}

/// Writes rows of its own names from many threads of one node, and counts them in the store.
pub(crate) fn write(
    engine: &ReplicatedEngine,
    node: usize,
    writers: usize,
    commits: usize,
    told: &Told,
    start: &Barrier,
) {
    std::thread::scope(|scope| {
        for writer in 0..writers {
            scope.spawn(move || {
                start.wait();
                for n in 0..commits {
                    let key = format!("{node}.{writer}.{n}").into_bytes();
                    let mut batch: Batch = row(&key, &[writer as u8; 50]);
                    batch.add(T, b"count", &[1]);
                    match engine.commit(batch) {
                        Ok(commit) => told.acknowledged.lock().unwrap().push((key, commit.seq)),
                        Err(EngineError::Unknown { .. }) => _ = told.unknown.lock().unwrap().insert(key),
                        Err(EngineError::Unavailable { .. }) => _ = told.refused.lock().unwrap().insert(key),
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
}

/// Checks what the nodes have against what writers were told.
pub(crate) fn check(engines: &[&ReplicatedEngine], told: &Told) {
    for engine in engines {
        until("the log answers", || engine.refresh().is_ok());
    }
    let acknowledged = told.acknowledged.lock().unwrap();
    let numbers: BTreeSet<Seq> = acknowledged.iter().map(|(_, seq)| *seq).collect();
    assert_eq!(numbers.len(), acknowledged.len(), "every commit has a number of its own");
    for engine in engines {
        let snapshot = engine.snapshot().unwrap();
        for (key, seq) in &*acknowledged {
            let versions: Vec<Seq> = snapshot.versions(T, key).map(|version| version.unwrap().seq).collect();
            assert_eq!(versions, [*seq], "{} was acknowledged", key.escape_ascii());
        }
        let mut there = acknowledged.len();
        for key in &*told.unknown.lock().unwrap() {
            let versions = snapshot.versions(T, key).count();
            assert!(versions <= 1, "{} is there {versions} times", key.escape_ascii());
            there += versions;
        }
        for key in &*told.refused.lock().unwrap() {
            assert_eq!(snapshot.versions(T, key).count(), 0, "{} was refused", key.escape_ascii());
        }
        let count = snapshot.get(T, b"count").unwrap().map_or(0, |value| counters(&value).unwrap()[0]);
        assert_eq!(count.cast_unsigned(), there as u64, "the counter has every commit once");
        assert_eq!(snapshot.seq().0, there as u64);
        assert_eq!(engine.verify().unwrap().problems, []);
    }
    let chains: BTreeSet<_> = engines.iter().map(|engine| engine.position()).collect();
    assert_eq!(chains.len(), 1, "equal positions have equal chains");
}

fn nodes_that_write_at_once_lose_nothing(system: &System) {
    const NODES: usize = 3;
    const WRITERS: usize = 4;
    const COMMITS: usize = 12;
    let name = system.fresh_name();
    let folder = tempfile::tempdir().unwrap();
    let engines: Vec<_> = (0..NODES).map(|n| node((system.open)(&name), &folder.path().join(n.to_string()))).collect();
    let (told, start) = (Told::default(), Barrier::new(NODES * WRITERS));
    std::thread::scope(|scope| {
        for (n, engine) in engines.iter().enumerate() {
            let (told, start) = (&told, &start);
            scope.spawn(move || write(engine, n, WRITERS, COMMITS, told, start));
        }
    });
    assert_eq!(told.acknowledged.lock().unwrap().len(), NODES * WRITERS * COMMITS);
    check(&engines.iter().collect::<Vec<_>>(), &told);
    // A cache that is gone is made again.
    drop(engines);
    std::fs::remove_dir_all(folder.path().join("1")).unwrap();
    let engines: Vec<_> = (0..NODES).map(|n| node((system.open)(&name), &folder.path().join(n.to_string()))).collect();
    check(&engines.iter().collect::<Vec<_>>(), &told);
}

fn what_one_node_writes_the_others_see(system: &System) {
    let name = system.fresh_name();
    let folder = tempfile::tempdir().unwrap();
    let one = node((system.open)(&name), &folder.path().join("one"));
    let other = node((system.open)(&name), &folder.path().join("other"));
    for n in 0..10_u8 {
        let commit = one.commit(row(b"k", &[n])).unwrap();
        if n % 2 == 0 {
            assert_eq!(other.refresh().unwrap(), commit.seq, "a refresh has every acknowledged commit");
        } else {
            assert_eq!(other.wait_beyond(Seq(commit.seq.0 - 1), Duration::from_secs(30)), commit.seq);
        }
        assert_eq!(value(&other, b"k"), Some(vec![n]));
        assert_eq!(other.snapshot().unwrap().time().unwrap(), commit.time);
    }
    let log: Arc<dyn SharedLog> = (system.open)(&name);
    until("both nodes say where they are", || {
        let status = log_status(&*log).unwrap();
        let newest = status.nodes.iter().filter(|node| node.position == status.position && node.chain == status.chain);
        status.nodes.len() == 2 && newest.count() == 2
    });
}

fn a_new_node_begins_with_a_snapshot(system: &System) {
    let name = system.fresh_name();
    let folder = tempfile::tempdir().unwrap();
    let one = node((system.open)(&name), &folder.path().join("one"));
    for n in 0..30_u8 {
        one.commit(row(&[n % 10], &vec![n; 2000])).unwrap();
    }
    let position = one.position().0;
    until("this node has said where it is", || {
        log_status(&**one.log()).unwrap().nodes.iter().any(|node| node.position == position)
    });
    one.write_snapshot().unwrap();
    assert!(one.log().read(Position(1), 1).is_err(), "the log was trimmed");
    for n in 30..40_u8 {
        one.commit(row(&[n % 10], &vec![n; 2000])).unwrap();
    }
    let other = node((system.open)(&name), &folder.path().join("other"));
    assert_eq!(other.position(), one.position());
    assert_eq!(other.snapshot_at(Seq(5)).unwrap().get(T, &[4]).unwrap().unwrap().to_vec(), vec![4; 2000]);
    assert_eq!(value(&other, &[9]), Some(vec![39; 2000]));
    assert_eq!(other.verify().unwrap().problems, []);
    let commit = other.commit(row(b"new", b"node")).unwrap();
    assert_eq!(one.refresh().unwrap(), commit.seq);
    assert_eq!(value(&one, b"new").as_deref(), Some(&b"node"[..]));
    // A cache that is older than the log begins anew.
    let old = folder.path().join("old");
    drop(node((system.open)(&name), &old));
    for n in 40..45_u8 {
        one.commit(row(&[n % 10], &[n])).unwrap();
    }
    one.refresh().unwrap();
    drop(other);
    until("the log is trimmed beyond the old cache", || {
        one.write_snapshot().unwrap();
        one.log().read(Position(position.0 + 13), 1).is_err()
    });
    let old = node((system.open)(&name), &old);
    assert_eq!(old.position(), one.position());
    assert_eq!(value(&old, &[4]), Some(vec![44]));
}

fn rivals_on_different_nodes_conflict(system: &System) {
    let name = system.fresh_name();
    let folder = tempfile::tempdir().unwrap();
    let engines = ["one", "other"].map(|n| node((system.open)(&name), &folder.path().join(n)));
    let first = engines[0].commit(row(b"k", b"0")).unwrap();
    engines[1].refresh().unwrap();
    let start = Barrier::new(2);
    let answers = std::thread::scope(|scope| {
        let rivals: Vec<_> = engines
            .iter()
            .map(|engine| {
                scope.spawn(|| {
                    let mut batch = row(b"k", b"1");
                    batch.depends_on(T, b"k", first.seq);
                    start.wait();
                    engine.commit(batch)
                })
            })
            .collect();
        rivals.into_iter().map(|rival| rival.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
    assert!(answers.iter().any(|answer| answer.as_ref().is_err_and(EngineError::is_conflict)), "{answers:?}");
}

/// A clock that is wrong by this many hours.
struct WrongClock(i64);

impl recension_engine::Clock for WrongClock {
    fn now(&self) -> recension_engine::Timestamp {
        let now = recension_engine::SystemClock.now();
        recension_engine::Timestamp(now.0.saturating_add_signed(self.0 * 3_600_000_000))
    }
}

fn clocks_of_nodes_are_not_believed(system: &System) {
    let name = system.fresh_name();
    let folder = tempfile::tempdir().unwrap();
    let open = |node: &str, hours: i64| {
        let mut options = crate::support::options();
        options.clock = Arc::new(WrongClock(hours));
        node.clone_into(&mut options.node);
        ReplicatedEngine::open((system.open)(&name), &Cache::directory(folder.path().join(node)), options).unwrap()
    };
    let _engines = [open("now", 0), open("yesterday", -24), open("tomorrow", 24)];
    let log: Arc<dyn SharedLog> = (system.open)(&name);
    let live = || {
        let status = log_status(&*log).unwrap();
        let mut nodes: Vec<_> = status.nodes.into_iter().map(|node| (node.name, node.live)).collect();
        nodes.sort();
        nodes
    };
    until("all say where they are", || live().len() == 3);
    assert_eq!(live(), ["now", "tomorrow", "yesterday"].map(|node| (node.to_owned(), true)));
    // A node that was killed leaves its note behind, new or with a clock that is ahead: it is silent for all that.
    let notes = log.blobs().list("node/").unwrap();
    let note = notes.iter().map(|name| log.blobs().get(name).unwrap().unwrap());
    for (number, note) in note.collect::<Vec<_>>().into_iter().enumerate() {
        log.blobs().put(&format!("node/{number:032}"), &note).unwrap();
    }
    assert_eq!(live().iter().filter(|(_, live)| *live).count(), 3);
    assert_eq!(live().len(), 6);
}
