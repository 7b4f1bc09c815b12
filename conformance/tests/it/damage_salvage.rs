//! Salvage: whatever is damaged, every commit that is still whole comes out, with its seq, time and rows.
#![allow(clippy::needless_pass_by_value, clippy::ref_option, reason = "a case is called with its key")]

use std::collections::BTreeSet;

use recension::Key;
use recension::disk::Disk;
use recension::engine::native::{NativeEngine, SalvageReport, salvage};
use recension::engine::{Durability, Engine, NativeOptions, Seq};
use recension_conformance::crash::{
    Attempt, History, Shape, Step, batch_of, native, random_changes, random_workload, run, test_clock,
};
use recension_conformance::sim::{OpKind, Rng, SimDisk};

/// A store most of whose commits are settled.
fn settled_store(key: Option<Key>) -> (SimDisk, History) {
    let disk = SimDisk::new();
    let shape = Shape { steps: 60, large_percent: 4, ..Shape::default() };
    let commits =
        random_workload(8, shape).into_iter().filter(|step| matches!(step, Step::Commit(..))).collect::<Vec<_>>();
    let history = run(&disk, &*native::opener(native::settling_apart_options, key), &commits).unwrap();
    disk.settle();
    (disk, history)
}

/// Salvages a disk; every version found must be one that was written. Returns how many are missing, and the report.
fn salvage_and_count((damaged, key): (&SimDisk, Option<Key>), history: &History, what: &str) -> (usize, SalvageReport) {
    let to = SimDisk::new();
    let options = NativeOptions { key, ..native::settling_options(test_clock()) };
    let report =
        salvage(&damaged.arc(), to.arc(), options.clone(), |_, _| ()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let engine = NativeEngine::open(to.arc(), options).unwrap();
    assert_eq!(engine.head().0, history.model.head(), "{what}");
    let (found, wanted) = (engine.snapshot().unwrap(), history.model.engine().snapshot().unwrap());
    let keys: BTreeSet<_> =
        history.attempts.iter().flat_map(|attempt| &attempt.changes).map(|c| (c.tree, c.key.clone())).collect();
    let mut missing = 0;
    for (tree, key) in keys {
        let read = |snapshot: &dyn recension::engine::Snapshot| -> BTreeSet<_> {
            let versions = snapshot.versions(tree, &key).map(Result::unwrap);
            versions.map(|version| (version.seq, version.value.map(std::borrow::Cow::into_owned))).collect()
        };
        let (found, wanted) = (read(&*found), read(&*wanted));
        assert!(found.is_subset(&wanted), "{what}: tree {}, key {}", tree.0, key.escape_ascii());
        missing += wanted.len() - found.len();
    }
    assert_eq!(engine.verify().unwrap().problems, [], "{what}");
    (missing, report)
}

#[test]
fn a_settled_store_is_copied_whole_and_a_damaged_block_costs_its_own_rows_only() {
    for key in [None, Some(native::key())] {
        a_damaged_block_costs_its_own_rows_only(&key);
    }
}

/// Those of its page, if it is sealed, and of its file, if the opening is damaged.
fn a_damaged_block_costs_its_own_rows_only(key: &Option<Key>) {
    let (disk, history) = settled_store(key.clone());
    let (missing, report) = salvage_and_count((&disk, key.clone()), &history, "whole");
    assert!(missing == 0 && report.problems.is_empty() && report.missing == 0, "{report:?}");
    assert_eq!(report.commits, history.model.head());
    let files: Vec<_> = disk.files().into_iter().filter(|(name, _)| name.contains(".rows")).collect();
    let mut lost = 0;
    for (name, len) in files {
        for at in (0..len).step_by(331) {
            let damaged = disk.process_crash();
            damaged.flip(&name, at, 0x21);
            let what = format!("{name}, byte {at}");
            let (missing, report) = salvage_and_count((&damaged, key.clone()), &history, &what);
            assert!(missing == 0 || !report.problems.is_empty(), "{what}: {report:?}");
            assert!(missing < 120 || key.is_some(), "{what}: {missing} versions are missing");
            lost += missing;
        }
    }
    assert!(lost > 0, "no flip has hit a row");
}

#[test]
fn settled_rows_are_salvaged_without_their_manifest_and_their_history_is_then_given_up() {
    let (disk, history) = settled_store(None);
    let damaged = disk.process_crash();
    damaged.lose("settled/MANIFEST");
    let to = SimDisk::new();
    let options = native::settling_options(test_clock());
    let report = salvage(&damaged.arc(), to.arc(), options.clone(), |_, _| ()).unwrap();
    assert!(!report.problems.is_empty());
    let engine = NativeEngine::open(to.arc(), options).unwrap();
    recension_conformance::crash::check_rows_at_head(&engine, history.model.engine()).unwrap();
    let refused = engine.snapshot_at(Seq(1)).unwrap().get(history.attempts[0].changes[0].tree, b"x").is_err();
    assert!(refused, "a past of which too much may be missing is not answered");
}

fn store(key: Option<Key>) -> (SimDisk, History) {
    let disk = SimDisk::new();
    let steps = random_workload(8, Shape { steps: 60, ..Shape::default() });
    let commits = steps.into_iter().filter(|step| matches!(step, Step::Commit(..))).collect::<Vec<_>>();
    let history = run(&disk, &*native::opener(native::small_options, key), &commits).unwrap();
    disk.settle();
    (disk, history)
}

/// Where the record of a commit lies.
fn place(history: &History, attempt: &Attempt, key: &Option<Key>) -> (String, u64, u64) {
    // A sealed segment has an opening of 64 bytes and its header before the commits.
    let (from, longer) = if key.is_some() { (512, 64) } else { (0, 0) };
    let mut calls = history.moments.iter().map(|moment| &moment.call);
    let own = calls.find(|call| {
        call.number > attempt.begun
            && call.kind == OpKind::Write
            && call.name.starts_with("log/")
            && call.offset > from
            && call.len > longer
    });
    own.map(|call| (call.name.clone(), call.offset, call.len)).unwrap()
}

/// Salvages a disk and checks that exactly the commits in `lost` are missing, and nothing else is amiss.
fn salvage_and_check(
    (damaged, key): (&SimDisk, &Option<Key>),
    history: &History,
    lost: &BTreeSet<u64>,
    what: &str,
) -> SalvageReport {
    let before: Vec<_> = damaged.files().into_iter().map(|(name, _)| (damaged.content(&name), name)).collect();
    let to = SimDisk::new();
    let options = NativeOptions { key: key.clone(), ..native::small_options(test_clock()) };
    let report =
        salvage(&damaged.arc(), to.arc(), options.clone(), |_, _| ()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let all = history.attempts.len() as u64;
    assert_eq!(report.commits, all - lost.len() as u64, "{what}");
    let same = before.iter().filter(|(_, name)| name != "lock").all(|(bytes, name)| damaged.content(name) == *bytes);
    assert!(same, "{what}: salvage wrote to the damaged store");

    let engine = NativeEngine::open(to.arc(), options.clone()).unwrap();
    let kept = |seq: u64| !lost.contains(&seq);
    assert_eq!(engine.head().0, (1..=all).rfind(|&seq| kept(seq)).unwrap_or(0), "{what}");
    assert!(engine.verify().unwrap().problems.is_empty(), "{what}");
    let snapshot = engine.snapshot().unwrap();
    for attempt in &history.attempts {
        for (nth, change) in attempt.changes.iter().enumerate() {
            let later = &attempt.changes[nth + 1..];
            if later.iter().any(|later| (later.tree, &later.key) == (change.tree, &change.key)) {
                continue;
            }
            let mut versions = snapshot.versions(change.tree, &change.key).map(Result::unwrap);
            let version = versions.find(|version| version.seq == attempt.commit.seq);
            let found = version.map(|version| (version.time, version.value.map(std::borrow::Cow::into_owned)));
            let expected = kept(attempt.commit.seq.0).then(|| (attempt.commit.time, change.value.clone()));
            assert_eq!(found, expected, "{what}: seq {}", attempt.commit.seq);
        }
    }
    drop(snapshot);
    // The new store is a store like any other.
    let more = random_changes(&mut Rng::new(1), Shape::default());
    let commit = engine.commit(batch_of(&more, Durability::Disk)).unwrap();
    drop(engine);
    let engine = NativeEngine::open(to.arc(), options).unwrap();
    assert_eq!(engine.head(), commit.seq, "{what}");
    report
}

/// A store without a key, and one with one.
fn stores() -> impl Iterator<Item = (SimDisk, History, Option<Key>)> {
    [None, Some(native::key())].into_iter().map(|key| {
        let (disk, history) = store(key.clone());
        (disk, history, key)
    })
}

#[test]
fn an_undamaged_store_is_copied_whole() {
    for (disk, history, key) in stores() {
        let report = salvage_and_check((&disk, &key), &history, &BTreeSet::new(), "whole");
        assert!(report.problems.is_empty() && report.missing == 0, "{report:?}");
    }
}

#[test]
fn every_commit_but_the_damaged_one_is_kept() {
    for (disk, history, key) in stores() {
        for attempt in &history.attempts {
            let (file, start, len) = place(&history, attempt, &key);
            for byte in [0, 5, 9, 33, 50, 60, len / 2] {
                let damaged = disk.process_crash();
                damaged.flip(&file, start + byte, 0x21);
                let what = format!("commit {} damaged at its byte {byte}", attempt.commit.seq);
                let lost = [attempt.commit.seq.0].into();
                let report = salvage_and_check((&damaged, &key), &history, &lost, &what);
                assert!(!report.problems.is_empty(), "{what}: {report:?}");
            }
        }
    }
}

#[test]
fn a_lost_segment_costs_its_own_commits_only() {
    for (disk, history, key) in stores() {
        let segments: BTreeSet<_> = history.attempts.iter().map(|attempt| place(&history, attempt, &key).0).collect();
        assert!(segments.len() > 3);
        for segment in &segments {
            let in_it = |attempt: &&Attempt| place(&history, attempt, &key).0 == *segment;
            let lost = history.attempts.iter().filter(in_it).map(|attempt| attempt.commit.seq.0).collect();
            let damaged = disk.process_crash();
            damaged.lose(segment);
            salvage_and_check((&damaged, &key), &history, &lost, &format!("{segment} lost"));
        }
    }
}

#[test]
fn neither_the_identity_file_nor_the_index_is_needed() {
    for (disk, history, key) in stores() {
        for lost in ["STORE", "index/"] {
            let damaged = disk.process_crash();
            for (name, _) in disk.files().iter().filter(|(name, _)| name.starts_with(lost)) {
                damaged.lose(name);
            }
            salvage_and_check((&damaged, &key), &history, &BTreeSet::new(), lost);
        }
    }
}

#[test]
fn segments_without_a_whole_header_still_give_their_commits() {
    let (disk, history) = store(None);
    for (name, _) in disk.files().iter().filter(|(name, _)| name.starts_with("log/")) {
        let damaged = disk.process_crash();
        damaged.overwrite(name, 0, &[0x5a; 4096]);
        salvage_and_check((&damaged, &None), &history, &BTreeSet::new(), name);
    }
}

#[test]
fn salvage_refuses_a_store_in_use_and_a_target_with_commits() {
    let (disk, _) = store(None);
    let options = native::small_options(test_clock());
    let open = NativeEngine::open(disk.arc(), options.clone()).unwrap();
    let error = salvage(&disk.arc(), SimDisk::new().arc(), options.clone(), |_, _| ()).unwrap_err();
    assert!(matches!(error, recension::engine::EngineError::Locked { .. }), "{error}");
    drop(open);
    let (target, history) = store(None);
    let before = target.content("log/0000000001.log");
    assert!(salvage(&disk.arc(), target.arc(), options, |_, _| ()).is_err());
    assert_eq!(target.content("log/0000000001.log"), before);
    let engine = native::small(target.arc(), test_clock()).unwrap();
    assert_eq!(engine.head(), Seq(history.model.head()));
    assert!(target.list("").is_ok());
}
