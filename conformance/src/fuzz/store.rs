//! The readers of the native engine's files: log, runs, settled files, manifests. The first byte of an input chooses
//! the file and whether checksums are made right again; the rest is edits, or the whole file.
//!
//! Oracle: no panic, no read outside of a file's bounds, no endless walk. If checksums were not forged, no wrong answer
//! either: it is right, refused, or (at the log's end) has fewer commits. Given-up history of the store with settled
//! files is refused in any case.

use std::sync::LazyLock;

use recension::engine::{Direction, Engine, KeyRange, MemoryEngine, Seq, TreeId};

use super::edits::{Source, edited};
use super::forge::{forge_manifest, forge_mark, forge_run, forge_segment, forge_settled, name_run, record_places};
use super::golden::{GOLDEN, GOLDEN_SETTLED, golden_disk, golden_model, golden_settled_disk, golden_settled_model};
use crate::crash::{native, test_clock};
use crate::sim::SimDisk;

static MODEL: LazyLock<MemoryEngine> = LazyLock::new(golden_model);
static SETTLED_MODEL: LazyLock<MemoryEngine> = LazyLock::new(golden_settled_model);

/// More rows than any file of these sizes can hold.
const WALK_MAX: usize = 100_000;

/// The trees of the golden store.
const TREES: [TreeId; 6] = [TreeId(0), TreeId(1), TreeId(2), TreeId(3), TreeId(u32::MAX), TreeId(77)];

struct Choice {
    forged: bool,
    file: usize,
    whole: bool,
}

fn choice(source: &mut Source<'_>) -> Choice {
    let byte = source.byte();
    Choice { forged: byte & 1 == 1, whole: byte & 2 == 2, file: usize::from(byte >> 2) }
}

fn damaged_file(source: &mut Source<'_>, whole: bool, file: &[u8]) -> Vec<u8> {
    if whole { source.take(usize::MAX).to_vec() } else { edited(file, source) }
}

/// Segments.
pub(super) fn log(input: &[u8]) {
    let mut source = Source(input);
    let choice = choice(&mut source);
    let segments: Vec<_> = GOLDEN.iter().filter(|(name, _)| name.starts_with("log/")).collect();
    let (name, file) = segments[segments.len() - 1 - choice.file % segments.len()];
    let mut bytes = damaged_file(&mut source, choice.whole, file);
    if choice.forged {
        forge_segment(&mut bytes, &record_places(file));
    }
    let disk = golden_disk();
    disk.put(name, &bytes);
    if choice.forged {
        // Otherwise any other log would be refused at once.
        let mut mark = disk.content("MARK").unwrap_or_default();
        forge_mark(&mut mark);
        disk.put("MARK", &mark);
    }
    if choice.file >= 32 {
        // Without an index the whole log is replayed.
        disk.lose("index/MANIFEST");
    }
    walk(&disk, choice.forged, &MODEL);
}

/// Index runs.
pub(super) fn run(input: &[u8]) {
    let mut source = Source(input);
    let choice = choice(&mut source);
    let runs: Vec<_> = GOLDEN.iter().filter(|(name, _)| name.contains(".run")).collect();
    let (name, file) = runs[choice.file % runs.len()];
    let mut bytes = damaged_file(&mut source, choice.whole, file);
    let disk = golden_disk();
    if choice.forged {
        forge_run(&mut bytes);
        let mut manifest = disk.content("index/MANIFEST").unwrap_or_default();
        let number = name.strip_prefix("index/").and_then(|name| name.strip_suffix(".run"));
        name_run(&mut manifest, number.and_then(|number| number.parse().ok()).unwrap_or_default(), &bytes);
        disk.put("index/MANIFEST", &manifest);
    }
    disk.put(name, &bytes);
    walk(&disk, choice.forged, &MODEL);
}

/// The manifest.
pub(super) fn manifest(input: &[u8]) {
    let mut source = Source(input);
    let choice = choice(&mut source);
    let disk = golden_disk();
    let file = disk.content("index/MANIFEST").unwrap_or_default();
    let mut bytes = damaged_file(&mut source, choice.whole, &file);
    if choice.forged {
        forge_manifest(&mut bytes);
    }
    disk.put("index/MANIFEST", &bytes);
    walk(&disk, choice.forged, &MODEL);
}

/// Settled files and their manifest.
pub(super) fn settled(input: &[u8]) {
    let mut source = Source(input);
    let choice = choice(&mut source);
    let files: Vec<_> = GOLDEN_SETTLED.iter().filter(|(name, _)| name.starts_with("settled/")).collect();
    let (name, file) = files[choice.file % files.len()];
    let mut bytes = damaged_file(&mut source, choice.whole, file);
    let disk = golden_settled_disk();
    if choice.forged {
        match name.strip_prefix("settled/").and_then(|name| name.strip_suffix(".rows")) {
            None => forge_manifest(&mut bytes),
            Some(number) => {
                forge_settled(&mut bytes);
                let mut manifest = disk.content("settled/MANIFEST").unwrap_or_default();
                name_run(&mut manifest, number.parse().unwrap_or_default(), &bytes);
                disk.put("settled/MANIFEST", &manifest);
            }
        }
    }
    disk.put(name, &bytes);
    walk(&disk, choice.forged, &SETTLED_MODEL);
}

/// Opens the store and reads all of it, in every possible way.
fn walk(disk: &SimDisk, forged: bool, model: &MemoryEngine) {
    // The store may be refused.
    let Ok(engine) = native::small(disk.arc(), test_clock()) else { return violated(disk) };
    let head = engine.head();
    let made = model.head();
    assert!(forged || head <= made, "{head} commits, and {made} had been made");
    for at in [head, Seq(head.0 / 2), Seq::ZERO] {
        let Ok(snapshot) = engine.snapshot_at(at) else { continue };
        let model = model.snapshot_at(at.min(made));
        _ = snapshot.time();
        for tree in TREES {
            for direction in [Direction::Forward, Direction::Backward] {
                let mut wanted = model.iter().flat_map(|model| model.range(tree, &KeyRange::all(), direction));
                let mut rows = snapshot.range(tree, &KeyRange::all(), direction);
                for nth in 0.. {
                    assert!(nth < WALK_MAX, "an endless range");
                    let row = rows.next();
                    if let Some(Err(_)) = row {
                        break;
                    }
                    let row = row.and_then(Result::ok);
                    if !forged {
                        assert_eq!(
                            row,
                            wanted.next().and_then(Result::ok),
                            "tree {} at seq {at}, {direction:?}",
                            tree.0
                        );
                    }
                    let Some(row) = row else { break };
                    if nth < 50 {
                        _ = snapshot.get(tree, &row.key);
                        assert!(
                            snapshot.versions(tree, &row.key).take(WALK_MAX).count() < WALK_MAX,
                            "endless versions"
                        );
                    }
                }
            }
        }
    }
    // A forged index may contradict the log. verify must not panic at that either.
    _ = engine.verify();
    drop(engine);
    violated(disk);
}

fn violated(disk: &SimDisk) {
    assert_eq!(disk.violations(), Vec::<String>::new(), "a read that would have ended the process");
}
