//! A store of format 1 with settled files, rules of retention and a log behind them, as it was written when they were made,
//! opens and answers for ever. `RECENSION_WRITE_GOLDEN=1 cargo test -p recension --test golden_settled` writes it anew:
//! do that for a new format version, into a new folder, and keep the old ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recension::disk::FsDisk;
use recension::engine::native::Maintenance;
use recension::engine::{
    Direction, Engine, EngineError, KeyRange, ManualClock, MemoryEngine, NativeEngine, NativeOptions, Retention, Seq,
    TreeId,
};

include!("golden/settled_history.rs");

const TREES: [TreeId; 5] = [TreeId(0), TreeId(1), TreeId(2), TreeId(3), TreeId(u32::MAX)];

fn options(clock: &Arc<ManualClock>) -> NativeOptions {
    NativeOptions {
        segment_bytes: 8 << 10,
        index_memory_bytes: 4 << 10,
        checkpoint_log_bytes: 1 << 10,
        settle_log_bytes: Some(5 << 10),
        durability: recension::engine::Durability::Process,
        maintenance: Maintenance::Inline,
        clock: clock.clone(),
        create: false,
        ..NativeOptions::default()
    }
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/format-1-settled")
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

#[test]
fn settled_files_and_rules_of_format_1_are_still_read() {
    let clock = Arc::new(ManualClock::default());
    if std::env::var_os("RECENSION_WRITE_GOLDEN").is_some() {
        let dir = tempfile::tempdir().unwrap();
        let options = NativeOptions { create: true, ..options(&clock) };
        let engine = NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options).unwrap();
        write_settled_history(&engine, &clock, give_up, |engine| engine.settle().unwrap());
        // Copied while open: a log behind the settled files that has to be replayed.
        copy(dir.path(), &golden());
    }
    let model = MemoryEngine::with_clock(clock.clone());
    write_settled_history(&model, &clock, |_| (), |_| ());

    let dir = tempfile::tempdir().unwrap();
    copy(&golden(), dir.path());
    let engine = NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options(&clock)).unwrap();
    assert_eq!(engine.index_rebuilt(), None);
    assert_eq!(engine.head(), Seq(SETTLED_COMMITS));
    let report = engine.verify().unwrap();
    assert_eq!((report.problems, report.commits), (vec![], SETTLED_COMMITS));
    let details = engine.stats().unwrap().details;
    let detail = |name: &str| details.iter().find(|(found, ..)| *found == name).unwrap().1;
    assert_eq!(detail("settled files"), 2, "{details:?}");
    assert!(detail("settled rows, older") > 0 && detail("log not settled yet") > 0, "{details:?}");
    let rules: Vec<_> = engine.retention().unwrap().iter().map(|rule| (rule.tree.0, rule.retention)).collect();
    assert_eq!(rules, [(0, Retention::Versions(2.try_into().unwrap())), (1, Retention::HeadOnly)]);
    let mut refused = [0; TREES.len()];
    for seq in 0..=SETTLED_COMMITS {
        let (ours, theirs) = (engine.snapshot_at(Seq(seq)).unwrap(), model.snapshot_at(Seq(seq)).unwrap());
        assert_eq!(ours.time().unwrap(), theirs.time().unwrap());
        for (nth, tree) in TREES.into_iter().enumerate() {
            let wanted: Vec<_> = theirs.range(tree, &KeyRange::all(), Direction::Forward).map(Result::unwrap).collect();
            let rows: Result<Vec<_>, _> = ours.range(tree, &KeyRange::all(), Direction::Forward).collect();
            match rows {
                Ok(rows) => assert_eq!(rows, wanted, "tree {} as of {seq}", tree.0),
                Err(EngineError::Forgotten { .. }) => refused[nth] += 1,
                Err(error) => panic!("tree {} as of {seq}: {error}", tree.0),
            }
        }
    }
    assert_eq!(refused, REFUSED, "ranges that need what was given up, by tree");
}

/// As of so many commits the whole tree cannot be read any more.
const REFUSED: [u64; TREES.len()] = [105, 152, 40, 0, 0];
