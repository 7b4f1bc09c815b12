//! Where blocks of settled rows lie: a block that a page has room for lies in one, so that who reads one row from the
//! disk waits for one page, and what that costs is bounded. The bytes are looked at as docs/format.md says, without
//! the engine's code.

use recension::engine::native::{Maintenance, NativeEngine, NativeOptions, salvage};
use recension::engine::{Batch, Engine, TreeId};
use recension_conformance::sim::{Rng, SimDisk};

const TREE: TreeId = TreeId(1);
const PAGE: usize = 4096;
const HEADER: usize = 64;
const BLOCK_MAGIC: &[u8] = b"RcB1";
const PADDING: &[u8] = b"RcPad--\n";

fn options() -> NativeOptions {
    NativeOptions { maintenance: Maintenance::Inline, settle_log_bytes: None, ..NativeOptions::default() }
}

/// A store of settled rows whose values come one after another from `value`; its only settled file.
fn settled(rows: u64, mut value: impl FnMut(&mut Rng) -> Vec<u8>) -> (SimDisk, String) {
    let disk = SimDisk::new();
    let engine = NativeEngine::open(disk.arc(), options()).unwrap();
    let mut rng = Rng::new(5);
    for first in (0..rows).step_by(100) {
        let mut batch = Batch::new();
        for n in first..rows.min(first + 100) {
            batch.put(TREE, &n.to_be_bytes(), &value(&mut rng));
        }
        engine.commit(batch).unwrap();
    }
    engine.settle().unwrap();
    engine.close().unwrap();
    let files: Vec<_> = disk.files().into_iter().map(|(name, _)| name).filter(|name| name.contains(".rows")).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    (disk, files.into_iter().next().unwrap())
}

/// A kind of each word of a file before its fences.
#[derive(Default)]
struct Layout {
    /// Blocks of rows: offset, length.
    blocks: Vec<(usize, usize)>,
    /// Offsets of words of padding.
    padding: Vec<usize>,
}

fn layout(file: &[u8]) -> Layout {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let mut found = Layout::default();
    let mut at = HEADER;
    loop {
        if file[at..].starts_with(BLOCK_MAGIC) {
            let len = 24 + word(at + 8);
            if file[at + 16] < 2 {
                found.blocks.push((at, len));
            }
            at = (at + len).next_multiple_of(8);
        } else if file[at..].starts_with(PADDING) {
            found.padding.push(at);
            at += PADDING.len();
        } else {
            return found;
        }
    }
}

/// How many of a file's blocks, of 100, lie in more pages than they must; checks what padding costs.
fn astray(disk: &SimDisk, name: &str) -> usize {
    let found = layout(&disk.content(name).unwrap());
    assert!(found.blocks.len() > 50, "{} blocks", found.blocks.len());
    let pages = |at: usize, len: usize| (at + len).div_ceil(PAGE) - at / PAGE;
    let astray = found.blocks.iter().filter(|(at, len)| *len <= PAGE && pages(*at, *len) > 1).count();
    let (bytes, padding) =
        (found.blocks.iter().map(|(_, len)| len).sum::<usize>(), found.padding.len() * PADDING.len());
    assert!(padding <= bytes / 8 + PAGE, "{padding} bytes of padding for {bytes} of blocks");
    100 * astray / found.blocks.len()
}

/// Bytes of which about `percent` of 100 stay when they are compressed.
fn value(rng: &mut Rng, len: usize, percent: usize) -> Vec<u8> {
    let mut value = rng.bytes(len * percent / 100);
    value.resize(len, b'-');
    value
}

#[test]
fn a_block_of_rows_lies_in_one_page() {
    for (len, percent, most) in
        [(300, 100, 0), (300, 85, 2), (300, 65, 2), (300, 45, 2), (300, 5, 2), (60, 100, 0), (400, 100, 2)]
    {
        let (disk, name) = settled(600_000 / len as u64, |rng| value(rng, len, percent));
        let astray = astray(&disk, &name);
        assert!(astray <= most, "rows of {len} bytes, {percent} % of which stay: {astray} % of the blocks lie astray");
    }
}

#[test]
fn padding_is_bounded_whatever_the_rows_are() {
    for (len, percent) in [(300, 60), (300, 5), (3000, 100), (5000, 100), (20_000, 50)] {
        let (disk, name) = settled(3_000_000 / len as u64, |rng| value(rng, len, percent));
        astray(&disk, &name);
    }
    let (disk, name) = settled(4000, |rng| {
        let len = if rng.percent(5) { 20_000 } else { 300 };
        value(rng, len, 90)
    });
    astray(&disk, &name);
}

#[test]
fn damaged_padding_is_reported_by_salvage_and_costs_nothing() {
    let (disk, name) = settled(2000, |rng| value(rng, 300, 100));
    let padding = layout(&disk.content(&name).unwrap()).padding;
    assert!(padding.len() > 100, "{} words", padding.len());
    let salvaged = |disk: &SimDisk| {
        let to = SimDisk::new();
        let report = salvage(&disk.arc(), to.arc(), options(), |_, _| ()).unwrap();
        let engine = NativeEngine::open(to.arc(), options()).unwrap();
        let snapshot = engine.snapshot().unwrap();
        assert!((0..2000u64).all(|n| snapshot.get(TREE, &n.to_be_bytes()).unwrap().is_some()));
        report
    };
    let report = salvaged(&disk);
    assert!(report.problems.is_empty() && report.missing == 0, "{report:?}");
    for at in [padding[0], padding[padding.len() / 2]] {
        let damaged = disk.process_crash();
        damaged.flip(&name, at as u64 + 2, 0x40);
        let report = salvaged(&damaged);
        assert_eq!((report.problems.len(), report.missing), (1, 0), "{report:?}");
    }
}
