//! The native engine on a real directory: what the contract's suite does not know of, because it is
//! about files, reopening and the thread beside.

use std::sync::Arc;

use recension_engine::{
    Batch, Direction, Durability, Engine, EngineError, KeyRange, MemoryEngine, Seq, Timestamp, TreeId,
};
use recension_native::disk::FsDisk;
use recension_native::{Maintenance, NativeEngine, NativeOptions, salvage};

const TREE: TreeId = TreeId(1);

fn small() -> NativeOptions {
    NativeOptions {
        segment_bytes: 16 << 10,
        index_memory_bytes: 8 << 10,
        checkpoint_log_bytes: 32 << 10,
        ..NativeOptions::default()
    }
}

fn open(dir: &std::path::Path, options: NativeOptions) -> Result<NativeEngine, EngineError> {
    NativeEngine::open(Arc::new(FsDisk::new(dir)), options)
}

/// A few thousand commits on few keys, the same on the engine and on the model.
fn write(engine: &dyn Engine, model: &MemoryEngine, commits: std::ops::Range<u64>) {
    for n in commits {
        let mut batch = Batch::new();
        for row in 0..=(n % 3) {
            let key = format!("key-{:04}", (n * 7919 + row * 31) % 500);
            if (n + row) % 11 == 0 {
                batch.delete(TREE, key.as_bytes());
            } else {
                batch.put(
                    TREE,
                    key.as_bytes(),
                    format!("value {n} {row} {}", "x".repeat((n % 97) as usize)).as_bytes(),
                );
            }
        }
        assert_eq!(engine.commit(batch.clone()).unwrap().seq, model.commit(batch).unwrap().seq);
    }
}

fn assert_same(engine: &dyn Engine, model: &MemoryEngine) {
    assert_eq!(engine.head(), model.head());
    let head = model.head().0;
    for seq in (0..=head).step_by((head as usize / 40).max(1)).map(Seq) {
        let (ours, theirs) = (engine.snapshot_at(seq).unwrap(), model.snapshot_at(seq).unwrap());
        for direction in [Direction::Forward, Direction::Backward] {
            let rows = |snapshot: &dyn recension_engine::Snapshot| {
                let rows = snapshot.range(TREE, &KeyRange::between("key-0050", "key-0400"), direction);
                rows.map(|row| row.map(|row| (row.key.into_owned(), row.value.seq, row.value.bytes.into_owned())))
                    .collect::<Result<Vec<_>, _>>()
                    .unwrap()
            };
            assert_eq!(rows(&*ours), rows(&*theirs), "range as of {seq}");
        }
        for key in (0..500).step_by(7).map(|n| format!("key-{n:04}")) {
            let get = |snapshot: &dyn recension_engine::Snapshot| {
                snapshot.get(TREE, key.as_bytes()).unwrap().map(|value| (value.seq, value.to_vec()))
            };
            assert_eq!(get(&*ours), get(&*theirs), "{key} as of {seq}");
            let versions = |snapshot: &dyn recension_engine::Snapshot| {
                let versions = snapshot.versions(TREE, key.as_bytes());
                versions
                    .map(|v| v.map(|v| (v.seq, v.value.map(std::borrow::Cow::into_owned))))
                    .collect::<Result<Vec<_>, _>>()
                    .unwrap()
            };
            assert_eq!(versions(&*ours), versions(&*theirs), "versions of {key} as of {seq}");
        }
    }
}

#[test]
fn a_store_answers_as_the_model_does_before_and_after_reopening() {
    for maintenance in [Maintenance::Inline, Maintenance::Background] {
        let dir = tempfile::tempdir().unwrap();
        let model = MemoryEngine::new();
        for round in 0..4 {
            let engine = open(dir.path(), NativeOptions { maintenance, ..small() }).unwrap();
            assert_eq!(engine.index_rebuilt(), None);
            assert_same(&engine, &model);
            write(&engine, &model, round * 700..(round + 1) * 700);
            assert_same(&engine, &model);
            assert_eq!(engine.verify().unwrap().problems, []);
            if round % 2 == 0 {
                engine.close().unwrap();
            } else {
                drop(engine);
            }
        }
    }
}

#[test]
fn an_index_that_is_gone_is_rebuilt_from_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let model = MemoryEngine::new();
    let engine = open(dir.path(), small()).unwrap();
    write(&engine, &model, 0..1500);
    engine.close().unwrap();
    std::fs::remove_dir_all(dir.path().join("index")).unwrap();
    let engine = open(dir.path(), small()).unwrap();
    assert_eq!(engine.index_rebuilt(), Some("there was no manifest"));
    assert_same(&engine, &model);
    assert_eq!(engine.verify().unwrap().problems, []);
}

/// What a store whose process dies now would leave, in another directory.
fn copy_as_it_is(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_as_it_is(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_log_of_many_rows_is_replayed_whole_and_damage_anywhere_in_it_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (store, killed) = (dir.path().join("store"), dir.path().join("killed"));
    // All of it stays in the log.
    let (checkpoint_log_bytes, settle_log_bytes) = (64 << 20, None);
    let options =
        || NativeOptions { segment_bytes: 8 << 20, checkpoint_log_bytes, settle_log_bytes, ..NativeOptions::default() };
    let (engine, model) = (open(&store, options()).unwrap(), MemoryEngine::new());
    // Several batches for the thread that puts them into the index, and keys that are written again.
    for commit in 0..400_u64 {
        let mut batch = Batch::new();
        for row in 0..100_u64 {
            let key = format!("key-{:08}", (commit * 100 + row).wrapping_mul(0x9e37_79b9) % 25_000);
            if (commit + row) % 13 == 0 {
                batch.delete(TREE, key.as_bytes());
            } else {
                batch.put(TREE, key.as_bytes(), format!("value {commit} {row}").as_bytes());
            }
        }
        engine.commit(batch.clone()).unwrap();
        model.commit(batch).unwrap();
    }
    copy_as_it_is(&store, &killed);
    let whole = open(&killed, options()).unwrap();
    for seq in [1, 199, 400].map(Seq) {
        let all = |engine: &dyn Engine| {
            let snapshot = engine.snapshot_at(seq).unwrap();
            let rows = snapshot.range(TREE, &KeyRange::all(), Direction::Forward).map(Result::unwrap);
            rows.map(|row| (row.key.into_owned(), row.value.seq, row.value.to_vec())).collect::<Vec<_>>()
        };
        assert!(all(&whole) == all(&model), "as of {seq}");
        for n in (0..25_000).step_by(97) {
            let key = format!("key-{n:08}");
            let get = |engine: &dyn Engine| {
                let snapshot = engine.snapshot_at(seq).unwrap();
                let value = snapshot.get(TREE, key.as_bytes()).unwrap();
                value.map(|value| (value.seq, value.to_vec()))
            };
            assert_eq!(get(&whole), get(&model), "{key} as of {seq}");
        }
    }
    drop(whole);
    std::fs::remove_dir_all(&killed).unwrap();
    copy_as_it_is(&store, &killed);
    let log = killed.join("log/0000000001.log");
    let bytes = std::fs::read(&log).unwrap();
    let used = bytes.iter().rposition(|&byte| byte != 0).unwrap();
    for part in 0..20 {
        // Within the first row of some record, at a byte of its value that no padding is near.
        let at = 4096 + (used - 4096) * part / 21;
        let at = at + bytes[at..].windows(6).position(|bytes| bytes == b"value ").unwrap();
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        std::fs::write(&log, &damaged).unwrap();
        let refused = open(&killed, options());
        assert!(matches!(refused, Err(EngineError::Damaged { .. })), "byte {at}: {:?}", refused.err());
    }
}

#[test]
fn what_a_process_that_died_has_left_goes_and_its_names_are_not_used_again() {
    for maintenance in [Maintenance::Background, Maintenance::Inline] {
        let dir = tempfile::tempdir().unwrap();
        let options = || NativeOptions { maintenance, ..small() };
        let model = MemoryEngine::new();
        let engine = open(dir.path(), options()).unwrap();
        write(&engine, &model, 0..40);
        engine.close().unwrap();
        let left = ["index/0000000900.run", "index/0000000900.run.0.spool", "settled/0000000900.rows"];
        let left = left.map(|name| dir.path().join(name));
        let engine = open(dir.path(), options()).unwrap();
        engine.settle().unwrap();
        engine.close().unwrap();
        for path in &left {
            std::fs::write(path, vec![7; 3 << 20]).unwrap();
        }
        let engine = open(dir.path(), options()).unwrap();
        write(&engine, &model, 40..400);
        engine.settle().unwrap();
        write(&engine, &model, 400..440);
        engine.close().unwrap();
        assert!(left.iter().all(|path| !path.exists()), "{maintenance:?}");
        let named = |folder: &str, extension: &str| -> Vec<u64> {
            let names = std::fs::read_dir(dir.path().join(folder)).unwrap().map(|entry| entry.unwrap().path());
            let numbered = names.filter(|path| path.extension().is_some_and(|found| found == extension));
            numbered.map(|path| path.file_stem().unwrap().to_str().unwrap().parse().unwrap()).collect()
        };
        for numbers in [named("settled", "rows"), named("index", "run")] {
            assert!(!numbers.is_empty() && numbers.iter().all(|number| *number > 900), "{maintenance:?}: {numbers:?}");
        }
        assert_same(&open(dir.path(), options()).unwrap(), &model);
    }
}

#[test]
fn a_second_handle_is_refused_and_told_who_holds_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path(), small()).unwrap();
    match open(dir.path(), small()).err() {
        Some(EngineError::Locked { holder, .. }) => {
            assert_eq!(holder, format!("this process already (pid {})", std::process::id()));
        }
        other => panic!("expected Locked, found {other:?}"),
    }
    drop(first);
    open(dir.path(), small()).unwrap();
}

#[test]
fn a_directory_with_other_files_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("holiday.jpg"), b"beach").unwrap();
    assert!(matches!(open(dir.path(), small()), Err(EngineError::NotAStore { .. })));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    let missing = NativeOptions { create: false, ..small() };
    assert!(matches!(open(&dir.path().join("none"), missing), Err(EngineError::NotAStore { .. })));
    assert!(!dir.path().join("none").exists());
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path(), small()).unwrap().close().unwrap();
    let path = dir.path().join("STORE");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[8] = 3;
    let crc = crc32c::crc32c(&bytes[..28]);
    bytes[28..].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(&path, &bytes).unwrap();
    let refusal = open(dir.path(), small()).err().unwrap().to_string();
    assert_eq!(
        refusal,
        "STORE has format version 3, and this software reads versions up to 2; open it with a newer release"
    );
}

#[test]
fn salvage_keeps_every_commit_that_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let model = MemoryEngine::new();
    let engine = open(&dir.path().join("old"), small()).unwrap();
    write(&engine, &model, 0..600);
    engine.close().unwrap();
    // One byte in the middle of the first segment.
    let path = dir.path().join("old/log/0000000001.log");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    std::fs::write(&path, &bytes).unwrap();
    std::fs::remove_dir_all(dir.path().join("old/index")).unwrap();
    let refused = open(&dir.path().join("old"), small()).err();
    assert!(matches!(&refused, Some(EngineError::Damaged { file, .. }) if file == "log/0000000001.log"), "{refused:?}");

    let old: Arc<dyn recension_native::disk::Disk> = Arc::new(FsDisk::new(dir.path().join("old")));
    let new = Arc::new(FsDisk::new(dir.path().join("new")));
    let report = salvage(&old, new, small(), |_, _| {}).unwrap();
    assert_eq!((report.commits, report.missing, report.head, report.problems.len()), (599, 1, Seq(600), 1));
    let new = open(&dir.path().join("new"), small()).unwrap();
    assert_eq!(new.verify().unwrap().problems, []);
    assert_eq!(new.head(), Seq(600));
    let snapshot = new.snapshot().unwrap();
    let ours = snapshot.range(TREE, &KeyRange::all(), Direction::Forward).count();
    let theirs = model.snapshot().unwrap().range(TREE, &KeyRange::all(), Direction::Forward).count();
    assert!(ours.abs_diff(theirs) <= 3, "{ours} rows against {theirs}");
    new.commit({
        let mut batch = Batch::new();
        batch.put(TREE, b"after", b"salvage");
        batch
    })
    .unwrap();
}

#[test]
fn a_damaged_run_is_refused_and_rebuilt_after_a_check_even_if_more_is_committed() {
    let dir = tempfile::tempdir().unwrap();
    let model = MemoryEngine::new();
    let options = NativeOptions { maintenance: Maintenance::Inline, ..small() };
    let engine = open(dir.path(), options.clone()).unwrap();
    write(&engine, &model, 0..600);
    engine.close().unwrap();
    // A byte of the first block of every run.
    for entry in std::fs::read_dir(dir.path().join("index")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "run") {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[100] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
        }
    }
    let engine = open(dir.path(), options.clone()).unwrap();
    let damaged = engine.snapshot().unwrap().range(TREE, &KeyRange::all(), Direction::Forward).find_map(Result::err);
    let words = damaged.unwrap().to_string();
    assert!(words.starts_with("damaged: index/") && words.contains("No document is lost"), "{words}");
    assert_ne!(engine.verify().unwrap().problems, []);
    // Enough that runs are written, and would be merged.
    write(&engine, &model, 600..900);
    engine.close().unwrap();
    let engine = open(dir.path(), options).unwrap();
    assert_eq!(engine.index_rebuilt(), Some("there was no manifest"));
    assert_same(&engine, &model);
    assert_eq!(engine.verify().unwrap().problems, []);
}

#[test]
fn who_asks_for_a_time_while_commits_are_made_is_not_told_of_damage() {
    const COMMITS: u64 = 5_000;
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path(), NativeOptions { durability: Durability::Process, ..small() }).unwrap();
    let put = |key: u64| {
        let mut batch = Batch::new();
        batch.put(TREE, &key.to_be_bytes(), b"value");
        engine.commit(batch).unwrap().seq
    };
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut known = Seq::ZERO;
            while known < Seq(COMMITS) {
                let before = engine.head();
                let last = engine.commit_at(Timestamp(u64::MAX)).unwrap().map_or(Seq::ZERO, |commit| commit.seq);
                assert!(
                    last >= before && last >= known,
                    "{last} after {known}, and {before} was made before it was asked for"
                );
                known = last;
            }
        });
        (0..COMMITS).for_each(|key| assert_eq!(put(key), Seq(key + 1)));
        asking.join().unwrap();
    });
}
