//! Backups of the native engine: right while commits go on, brought up to date later, interrupted anywhere;
//! and copies of a store as of every moment.
#![allow(clippy::needless_pass_by_value, clippy::ref_option, reason = "a case is called with its key")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use recension::Key;
use recension::disk::{Disk, FsDisk};
use recension::engine::native::{NativeEngine, NativeOptions, salvage};
use recension::engine::{
    BackupReport, Batch, Durability, Engine, EngineError, KeyRange, ManualClock, Result, Seq, Timestamp, TreeId,
};
use recension_conformance::crash::{
    History, Model, Shape, Step, TREES, batch_of, check_answers, native, random_changes, random_workload, run,
    test_clock, usual_or_long,
};
use recension_conformance::sim::{CrashPolicy, Rng, SimDisk};

fn commits(seed: u64, steps: usize) -> Vec<Step> {
    let shape = Shape { steps, large_percent: 4, ..Shape::default() };
    random_workload(seed, shape).into_iter().filter(|step| matches!(step, Step::Commit(..))).collect()
}

fn with(key: Option<Key>) -> NativeOptions {
    NativeOptions { key, ..native::settling_options(test_clock()) }
}

/// Without a key and with one.
fn keys() -> [Option<Key>; 2] {
    [None, Some(native::key())]
}

/// How a backup is made.
type Make = fn(&NativeEngine, &Arc<dyn Disk>) -> Result<BackupReport>;

/// Without an index, and with it.
const MAKES: [Make; 2] = [NativeEngine::backup_to, NativeEngine::backup_indexed_to];

/// Each key with each way.
fn ways() -> impl Iterator<Item = (Option<Key>, Make)> {
    keys().into_iter().flat_map(|key| MAKES.map(|make| (key.clone(), make)))
}

/// A store on a simulated disk, its history, and the engine.
fn store(seed: u64, key: Option<Key>) -> (NativeEngine, History) {
    let disk = SimDisk::new();
    let opener = native::opener(native::settling_apart_options, key.clone());
    let history = run(&disk, &*opener, &commits(seed, 50)).unwrap();
    // Settled files stay apart, so that some are old when a backup is brought up to date.
    let options = NativeOptions { merge_fan_in: 9, ..with(key) };
    (NativeEngine::open(disk.arc(), options).unwrap(), history)
}

fn commit_more(engine: &NativeEngine, model: &mut Model, seed: u64, count: u64) {
    let mut rng = Rng::new(seed);
    for _ in 0..count {
        let changes = random_changes(&mut rng, Shape::default());
        let commit = engine.commit(batch_of(&changes, Durability::Disk)).unwrap();
        assert_eq!(model.apply(&changes, commit.time), commit.seq);
    }
}

/// Opens a copy of what a backup's disk holds and compares every answer.
fn assert_is_store((disk, key): (&SimDisk, &Option<Key>), model: &Model, what: &str) {
    let copy = disk.process_crash();
    let engine = NativeEngine::open(copy.arc(), with(key.clone())).unwrap_or_else(|e| panic!("{what}: {e}"));
    check_answers(&engine, model.engine(), Seq(model.head())).unwrap_or_else(|finding| panic!("{what}: {finding}"));
    assert_eq!(engine.verify().unwrap().problems, [], "{what}");
}

#[test]
fn a_backup_is_a_store_and_is_brought_up_to_date() {
    for (seed, (key, make)) in (1..4).flat_map(|seed| ways().map(move |way| (seed, way))) {
        let (engine, mut history) = store(seed, key.clone());
        let to = SimDisk::new();
        let first = make(&engine, &to.arc()).unwrap();
        assert_eq!(first.head.0, history.model.head());
        assert_is_store((&to, &key), &history.model, "the first backup");
        let again = make(&engine, &to.arc()).unwrap();
        assert!(again.bytes_kept > 0 && again.bytes_copied == 0, "{again:?}");
        commit_more(&engine, &mut history.model, seed, 4);
        let more = make(&engine, &to.arc()).unwrap();
        assert!(more.bytes_kept > 0 && more.bytes_copied < first.bytes_copied, "{first:?}, then {more:?}");
        assert_is_store((&to, &key), &history.model, "with a few more commits");
        commit_more(&engine, &mut history.model, seed, 40);
        engine.settle().unwrap();
        make(&engine, &to.arc()).unwrap();
        assert_is_store((&to, &key), &history.model, "after settling");
        assert_eq!(to.files().iter().filter(|(name, _)| name.contains(".rows")).count(), 1, "{:?}", to.files());
    }
}

#[test]
fn an_interrupted_backup_is_refused_or_right_and_can_be_run_again() {
    ways().for_each(|(key, make)| an_interrupted_backup_can_be_run_again(key, make));
}

fn an_interrupted_backup_can_be_run_again(key: Option<Key>, make: Make) {
    let (engine, mut history) = store(7, key.clone());
    let before = history.model.prefix(history.model.head());
    let to = SimDisk::new();
    to.record();
    make(&engine, &to.arc()).unwrap();
    let first = to.take_moments();
    commit_more(&engine, &mut history.model, 3, 9);
    to.record();
    make(&engine, &to.arc()).unwrap();
    let second = to.take_moments();
    let mut rng = Rng::new(5);
    let (mut usable, mut unfinished, mut empty) = (0, 0, 0);
    for (number, moment) in first.iter().chain(&second).enumerate() {
        let policy = CrashPolicy::ALL[rng.index(CrashPolicy::ALL.len())];
        for found in [moment.process_crash(), moment.crash(rng.next(), policy)] {
            let what = format!("interrupted after {}", moment.call);
            // As users do it: at the place itself, where an open makes a store if nothing is there. An empty folder is
            // nobody's backup yet.
            let is_empty = found.files().is_empty();
            empty += usize::from(is_empty);
            let is_first = number < first.len();
            let opened = (!is_empty).then(|| NativeEngine::open(found.arc(), with(key.clone()))).transpose();
            match opened {
                Err(EngineError::NotAStore { found, .. }) if is_first => {
                    assert!(found.contains("unfinished backup") && found.contains("again"), "{what}: {found}");
                    unfinished += 1;
                }
                Err(EngineError::Damaged { .. }) if !is_first => {}
                Err(other) => panic!("{what}: {other}"),
                Ok(None) => {}
                Ok(Some(engine)) => {
                    let head = engine.head().0;
                    let least = before.head();
                    assert!(
                        (least..=history.model.head()).contains(&head),
                        "{what}: {head} commits, of {least} at least"
                    );
                    let model = history.model.prefix(head);
                    check_answers(&engine, model.engine(), Seq(head)).unwrap_or_else(|e| panic!("{what}: {e}"));
                    usable += usize::from(!is_first);
                }
            }
            make(&engine, &found.arc()).unwrap_or_else(|e| panic!("{what}, run again: {e}"));
            assert_is_store((&found, &key), &history.model, &format!("{what}, and run again"));
        }
    }
    assert!(
        unfinished > first.len() && empty < 10,
        "{unfinished} of {} were unfinished, {empty} empty",
        2 * first.len()
    );
    assert!(usable > second.len(), "an earlier backup stays usable most of the time: {usable} of {}", 2 * second.len());
}

#[test]
fn a_backup_with_its_index_is_opened_without_reading_its_log() {
    for (seed, key) in (1..4).flat_map(|seed| keys().map(|key| (seed, key))) {
        let (engine, mut history) = store(seed, key.clone());
        let to = SimDisk::new();
        for round in 0..3 {
            commit_more(&engine, &mut history.model, seed + round, 30);
            engine.backup_indexed_to(&to.arc()).unwrap();
            let copy = NativeEngine::open(to.process_crash().arc(), with(key.clone())).unwrap();
            assert_eq!(copy.index_rebuilt(), None);
            let details = copy.stats().unwrap().details;
            assert!(details.contains(&("versions in memory", 0, "versions")), "no commit was replayed: {details:?}");
            check_answers(&copy, history.model.engine(), Seq(history.model.head())).unwrap();
            // A run that is lost or damaged on the way is made anew.
            for (name, _) in to.files().iter().filter(|(name, _)| name.starts_with("index/0")) {
                let lossy = to.process_crash();
                lossy.arc().remove(name).unwrap();
                assert_is_store((&lossy, &key), &history.model, name);
            }
            // One that was opened has an index of its own, which the next backup replaces.
            drop(copy);
            let opened = NativeEngine::open(to.arc(), with(key.clone())).unwrap();
            opened.checkpoint().unwrap();
            opened.close().unwrap();
        }
    }
}

#[test]
fn a_store_is_copied_as_of_every_moment() {
    keys().into_iter().for_each(copies_are_as_of_their_moments);
}

fn copies_are_as_of_their_moments(key: Option<Key>) {
    let (engine, history) = store(9, key.clone());
    for at in (0..=history.model.head()).step_by(3) {
        let to = SimDisk::new();
        engine.copy_as_of(to.arc(), Seq(at), with(key.clone())).unwrap();
        assert_is_store((&to, &key), &history.model.prefix(at), &format!("as of {at}"));
    }
    let to = SimDisk::new();
    let beyond = engine.copy_as_of(to.arc(), Seq(history.model.head() + 1), with(key.clone()));
    assert!(matches!(beyond, Err(EngineError::NotYet { .. })));
    engine.forget(TREES[0], &KeyRange::all(), Seq(10)).unwrap();
    let forgotten = engine.copy_as_of(to.arc(), Seq(9), with(key.clone()));
    assert!(matches!(forgotten, Err(EngineError::Forgotten { .. })), "{forgotten:?}");
    engine.copy_as_of(to.arc(), Seq(10), with(key.clone())).unwrap();
    let copy = NativeEngine::open(to.arc(), with(key.clone())).unwrap();
    assert!(copy.snapshot_at(Seq(9)).unwrap().get(TREES[0], b"key-4").is_err());
}

#[test]
fn a_copy_that_is_broken_off_is_no_store_and_is_begun_anew() {
    for key in keys() {
        let (engine, history) = store(9, key.clone());
        let at = history.model.head() / 2;
        let copy = |to: Arc<dyn Disk>| engine.copy_as_of(to, Seq(at), with(key.clone()));
        begun_anew(&key, &history.model.prefix(at), &copy);
        let disk = SimDisk::new();
        let history = run(&disk, &*native::opener(native::settling_options, key.clone()), &commits(4, 20)).unwrap();
        let salvaged = |to: Arc<dyn Disk>| salvage(&disk.arc(), to, with(key.clone()), |_, _| ()).map(|_| ());
        begun_anew(&key, &history.model, &salvaged);
    }
}

fn begun_anew(key: &Option<Key>, model: &Model, copy: &dyn Fn(Arc<dyn Disk>) -> Result<()>) {
    let to = SimDisk::new();
    to.record();
    copy(to.arc()).unwrap();
    let (mut rng, mut broken_off, mut whole) = (Rng::new(5), 0, 0);
    for moment in &to.take_moments() {
        let policy = CrashPolicy::ALL[rng.index(CrashPolicy::ALL.len())];
        for found in [moment.process_crash(), moment.crash(rng.next(), policy)] {
            let what = format!("broken off after {}", moment.call);
            match NativeEngine::open(found.arc(), NativeOptions { create: false, ..with(key.clone()) }) {
                Ok(_) => whole += 1,
                Err(EngineError::NotAStore { .. }) => {
                    broken_off += 1;
                    copy(found.arc()).unwrap_or_else(|error| panic!("{what}: {error}"));
                }
                Err(other) => panic!("{what}: {other}"),
            }
            assert_is_store((&found, key), model, &what);
        }
    }
    assert!(broken_off > 20 && whole > 0, "{broken_off} broken off, {whole} whole");
}

#[test]
fn a_backup_goes_only_to_a_new_place_or_to_an_earlier_backup_of_the_same_store() {
    for key in keys() {
        a_backup_goes_to_no_other_place(&key);
    }
}

fn a_backup_goes_to_no_other_place(key: &Option<Key>) {
    let (engine, _) = store(11, key.clone());
    let (other, _) = store(12, key.clone());
    let to = SimDisk::new();
    other.backup_to(&to.arc()).unwrap();
    let refused = engine.backup_to(&to.arc());
    assert!(matches!(refused, Err(EngineError::NotAStore { .. })), "{refused:?}");
    // Nor to one that was begun of another store.
    let to = SimDisk::new();
    to.record();
    other.backup_to(&to.arc()).unwrap();
    let moments = to.take_moments();
    let begun = moments[moments.len() / 2].process_crash();
    let refused = engine.backup_to(&begun.arc());
    assert!(refused.as_ref().is_err_and(|error| error.to_string().contains("of another store")), "{refused:?}");
    other.backup_to(&begun.arc()).unwrap();
    let to = SimDisk::new();
    to.put("notes.txt", b"mine");
    let refused = engine.backup_to(&to.arc());
    assert!(matches!(refused, Err(EngineError::NotAStore { .. })), "{refused:?}");
    assert_eq!(to.content("notes.txt").unwrap(), b"mine");
}

#[test]
fn backups_are_consistent_while_commits_are_made_settled_and_forgotten() {
    keys().into_iter().for_each(backups_are_consistent_beside_writes);
}

fn backups_are_consistent_beside_writes(key: Option<Key>) {
    let dir = tempfile::tempdir().unwrap();
    let options = NativeOptions {
        key,
        segment_bytes: 64 << 10,
        index_memory_bytes: 32 << 10,
        checkpoint_log_bytes: 48 << 10,
        settle_log_bytes: Some(100 << 10),
        durability: Durability::Process,
        ..NativeOptions::default()
    };
    let engine = NativeEngine::open(Arc::new(FsDisk::new(dir.path().join("store"))), options.clone()).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut n = 0u64;
            while !stop.load(Ordering::Relaxed) {
                n += 1;
                let mut batch = Batch::new();
                // Two rows that always agree, and rows that make work.
                batch.put(TreeId(1), b"a", &n.to_be_bytes()).put(TreeId(2), b"b", &n.to_be_bytes());
                batch.put(TreeId(3), &(n % 500).to_be_bytes(), &[n as u8; 300]);
                engine.commit(batch).unwrap();
                if n.is_multiple_of(1000) {
                    engine.forget(TreeId(3), &KeyRange::all(), Seq(n - 100)).unwrap();
                }
            }
        });
        let to: Arc<dyn Disk> = Arc::new(FsDisk::new(dir.path().join("backup")));
        let mut last = Seq::ZERO;
        // Each reads all that was written before it.
        for _ in 0..usual_or_long(6, 15) {
            let known = engine.wait_beyond(Seq(last.0 + 300), std::time::Duration::from_secs(20));
            let report = engine.backup_to(&to).unwrap();
            assert!(report.head >= known);
            let backup = NativeEngine::open(to.clone(), options.clone()).unwrap();
            assert_eq!(backup.head(), report.head);
            assert_eq!(backup.verify().unwrap().problems, []);
            let snapshot = backup.snapshot().unwrap();
            let read = |tree, key: &[u8]| snapshot.get(tree, key).unwrap().unwrap().to_vec();
            assert_eq!(read(TreeId(1), b"a"), report.head.0.to_be_bytes());
            assert_eq!(read(TreeId(2), b"b"), report.head.0.to_be_bytes());
            last = report.head;
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(engine.verify().unwrap().problems, []);
}

#[test]
fn a_damaged_backup_is_whole_again_when_it_is_brought_up_to_date_or_it_is_told() {
    for key in keys() {
        let (engine, history) = store(21, key.clone());
        let to = SimDisk::new();
        engine.backup_to(&to.arc()).unwrap();
        let mut rng = Rng::new(21);
        let files: Vec<_> = to.files().into_iter().filter(|(name, len)| *len > 0 && name != "LOCK").collect();
        assert!(files.iter().any(|(name, _)| name.contains(".rows")), "{files:?}");
        for (name, len) in files {
            for _ in 0..6 {
                let damaged = to.process_crash();
                let at = rng.below(len);
                assert!(damaged.flip(&name, at, 1 << rng.below(8)), "{name}");
                if engine.backup_to(&damaged.arc()).is_ok() {
                    assert_is_store((&damaged, &key), &history.model, &format!("{name} at byte {at}"));
                }
            }
            let lost = to.process_crash();
            lost.lose(&name);
            if engine.backup_to(&lost.arc()).is_ok() {
                assert_is_store((&lost, &key), &history.model, &format!("without {name}"));
            }
        }
    }
}

#[test]
fn damage_of_a_store_does_not_come_into_its_backup() {
    let disk = SimDisk::new();
    let opener = native::opener(native::settling_apart_options, None);
    let history = run(&disk, &*opener, &commits(22, 50)).unwrap();
    let files: Vec<_> = disk.files().into_iter().filter(|(name, _)| name.contains(".rows")).collect();
    assert!(!files.is_empty());
    let (to, mut rng) = (SimDisk::new(), Rng::new(22));
    let open = |disk: &SimDisk| NativeEngine::open(disk.arc(), NativeOptions { merge_fan_in: 9, ..with(None) });
    open(&disk).unwrap().backup_to(&to.arc()).unwrap();
    for (name, len) in files {
        for _ in 0..10 {
            let damaged = disk.process_crash();
            damaged.flip(&name, rng.below(len), 1 << rng.below(8));
            let Ok(engine) = open(&damaged) else { continue };
            for to in [to.process_crash(), SimDisk::new()] {
                if engine.backup_to(&to.arc()).is_ok() {
                    assert_is_store((&to, &None), &history.model, &name);
                }
            }
        }
    }
}

#[test]
fn a_backup_is_not_put_back_to_an_older_copy_of_its_store() {
    for key in keys() {
        let (engine, mut history) = store(23, key.clone());
        let older = SimDisk::new();
        engine.backup_to(&older.arc()).unwrap();
        commit_more(&engine, &mut history.model, 23, 6);
        let to = SimDisk::new();
        engine.backup_to(&to.arc()).unwrap();
        // It is another time now.
        let clock = Arc::new(ManualClock::new(Timestamp(2_000_000)));
        let options = || NativeOptions { merge_fan_in: 9, clock: clock.clone(), ..with(key.clone()) };
        let back = NativeEngine::open(older.arc(), options()).unwrap();
        // Shorter, longer with other commits, and settled.
        for step in 0..3 {
            let refused = back.backup_to(&to.arc());
            let says = refused.as_ref().map_err(ToString::to_string);
            assert!(matches!(refused, Err(EngineError::Diverged { .. })), "step {step}: {says:?}");
            for seed in 0..10 {
                let changes = random_changes(&mut Rng::new(100 + seed), Shape::default());
                back.commit(batch_of(&changes, Durability::Disk)).unwrap();
            }
            if step == 1 {
                back.settle().unwrap();
            }
        }
        assert_is_store((&to, &key), &history.model, "it was left as it is");
        commit_more(&engine, &mut history.model, 24, 2);
        engine.backup_to(&to.arc()).unwrap();
        assert_is_store((&to, &key), &history.model, "and goes on with its own store");
    }
}
