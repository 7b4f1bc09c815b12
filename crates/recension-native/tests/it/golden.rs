//! Stores of every format, as they were written when the format was made, open and answer for ever.
//! `RECENSION_WRITE_GOLDEN=1 cargo test -p recension-native golden` writes it anew: do that for a new
//! format version, into a new folder, and keep the old ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use recension_engine::{
    Batch, CommitInfo, Direction, Engine, KeyRange, ManualClock, MemoryEngine, Row, Seq, Snapshot, Timestamp, TreeId,
};
use recension_native::disk::FsDisk;
use recension_native::{Maintenance, NativeEngine, NativeOptions};

const COMMITS: u64 = 120;

fn options(clock: &Arc<ManualClock>) -> NativeOptions {
    NativeOptions {
        segment_bytes: 8 << 10,
        index_memory_bytes: 4 << 10,
        checkpoint_log_bytes: 1 << 20,
        maintenance: Maintenance::Inline,
        clock: clock.clone(),
        create: false,
        mark_every: Duration::from_micros(100),
        ..NativeOptions::default()
    }
}

/// The history of the golden store: puts, deletes, overwrites, several trees, empty keys and values.
fn write(engine: &dyn Engine, clock: &ManualClock) {
    for n in 0..COMMITS {
        clock.set(Timestamp(1_000_000 + n / 2 * 10));
        let mut batch = Batch::new();
        batch.put(TreeId(n as u32 % 3), format!("key {}", n % 17).as_bytes(), &vec![n as u8; (n * 7 % 200) as usize]);
        if n % 5 == 0 {
            batch.delete(TreeId(1), format!("key {}", n % 13).as_bytes());
        }
        if n % 11 == 0 {
            batch.put(TreeId(u32::MAX), b"", b"");
        }
        assert_eq!(engine.commit(batch).unwrap().seq, Seq(n + 1));
    }
}

const NEWEST: u32 = 2;

fn golden(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/format-{format}"))
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else if entry.file_name() != "lock" {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn rows(snapshot: &dyn Snapshot, tree: TreeId) -> Vec<Row<'_>> {
    snapshot.range(tree, &KeyRange::all(), Direction::Forward).map(Result::unwrap).collect()
}

#[test]
fn a_store_of_every_format_opens_and_answers() {
    (1..=NEWEST).for_each(opens_and_answers);
}

fn opens_and_answers(format: u32) {
    let clock = Arc::new(ManualClock::default());
    if format == NEWEST && std::env::var_os("RECENSION_WRITE_GOLDEN").is_some() {
        let dir = tempfile::tempdir().unwrap();
        let options = NativeOptions { create: true, ..options(&clock) };
        let engine = NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options).unwrap();
        write(&engine, &clock);
        // Copied while open: runs, and a log behind them that has to be replayed.
        copy(dir.path(), &golden(NEWEST));
    }
    let model = MemoryEngine::with_clock(clock.clone());
    write(&model, &clock);

    let dir = tempfile::tempdir().unwrap();
    copy(&golden(format), dir.path());
    let engine = NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options(&clock)).unwrap();
    assert_eq!(engine.index_rebuilt(), None, "the index of format {format} is still read");
    assert_eq!(engine.head(), Seq(COMMITS));
    let report = engine.verify().unwrap();
    assert_eq!((report.problems, report.commits), (vec![], COMMITS));
    for time in (999_995..1_000_700).step_by(7) {
        assert_eq!(engine.commit_at(Timestamp(time)).unwrap(), model.commit_at(Timestamp(time)).unwrap());
    }
    for seq in 0..=COMMITS {
        let (ours, theirs) = (engine.snapshot_at(Seq(seq)).unwrap(), model.snapshot_at(Seq(seq)).unwrap());
        assert_eq!(ours.time().unwrap(), theirs.time().unwrap());
        for tree in [0, 1, 2, u32::MAX].map(TreeId) {
            assert_eq!(rows(&*ours, tree), rows(&*theirs, tree), "as of {seq}");
        }
        for n in 0..18 {
            let key = format!("key {n}");
            for tree in [0, 1, 2].map(TreeId) {
                let (ours, theirs) = (ours.get(tree, key.as_bytes()), theirs.get(tree, key.as_bytes()));
                assert_eq!(ours.unwrap(), theirs.unwrap(), "{key} as of {seq}");
            }
        }
    }
    let mut batch = Batch::new();
    batch.put(TreeId(1), b"new", b"commit");
    let expected = CommitInfo { seq: Seq(COMMITS + 1), time: Timestamp(1_000_590) };
    assert_eq!(engine.commit(batch).unwrap(), expected);
    // What is new in the newest format holds for what was written before, too, as far as it can.
    let chain = engine.chain_at(engine.head()).unwrap();
    engine.close().unwrap();
    let engine = NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options(&clock)).unwrap();
    assert_eq!((engine.head(), engine.chain_at(engine.head()).unwrap()), (Seq(COMMITS + 1), chain));
    assert_eq!(engine.verify().unwrap().problems, []);
    drop(engine);
    std::fs::remove_file(dir.path().join("MARK")).unwrap();
    let refused = NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options(&clock)).err().unwrap().to_string();
    assert!(refused.contains("MARK"), "{refused}");
}
