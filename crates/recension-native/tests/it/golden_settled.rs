//! Stores of every format with settled files, rules of retention and a log behind them, as they were written when the
//! format was made, open and answer for ever. `RECENSION_WRITE_GOLDEN=1 cargo test -p recension-native golden_settled`
//! writes it anew: do that for a new format version, into a new folder, and keep the old ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use recension_engine::{Direction, Engine, EngineError, KeyRange, ManualClock, MemoryEngine, Retention, Seq, TreeId};
use recension_native::disk::FsDisk;
use recension_native::{Maintenance, NativeEngine, NativeOptions};

include!("../golden/settled_history.rs");

const TREES: [TreeId; 5] = [TreeId(0), TreeId(1), TreeId(2), TreeId(3), TreeId(u32::MAX)];

fn options(clock: &Arc<ManualClock>) -> NativeOptions {
    NativeOptions {
        segment_bytes: 8 << 10,
        index_memory_bytes: 4 << 10,
        checkpoint_log_bytes: 1 << 10,
        settle_log_bytes: Some(5 << 10),
        durability: recension_engine::Durability::Process,
        maintenance: Maintenance::Inline,
        clock: clock.clone(),
        create: false,
        mark_every: Duration::from_micros(100),
        ..NativeOptions::default()
    }
}

const NEWEST: u32 = 2;

fn golden(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/format-{format}-settled"))
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
fn settled_files_and_rules_of_every_format_are_still_read() {
    (1..=NEWEST).for_each(are_read);
}

fn are_read(format: u32) {
    let clock = Arc::new(ManualClock::default());
    if format == NEWEST && std::env::var_os("RECENSION_WRITE_GOLDEN").is_some() {
        let dir = tempfile::tempdir().unwrap();
        let options = NativeOptions { create: true, ..options(&clock) };
        let engine = NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options).unwrap();
        write_settled_history(&engine, &clock, give_up, |engine| engine.settle().unwrap());
        // Copied while open: a log behind the settled files that has to be replayed.
        copy(dir.path(), &golden(NEWEST));
    }
    let model = MemoryEngine::with_clock(clock.clone());
    write_settled_history(&model, &clock, |_| (), |_| ());

    let dir = tempfile::tempdir().unwrap();
    copy(&golden(format), dir.path());
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
    assert_eq!(refused, REFUSED[format as usize - 1], "ranges that need what was given up, by tree");
}

/// As of this many commits the whole tree cannot be read any more, by format: how much is settled at once depends on
/// the length of records.
const REFUSED: [[u64; TREES.len()]; NEWEST as usize] = [[105, 152, 40, 0, 0], [105, 149, 40, 0, 0]];
