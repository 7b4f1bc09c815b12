//! The commits of processes that share a store, and the check that all of them are there exactly once.

use std::collections::BTreeMap;

use recension::engine::{Batch, Direction, Engine, KeyRange, Result, TreeId, counters};

const ROWS: TreeId = TreeId(1);
const COUNTERS: TreeId = TreeId(2);

fn key(name: u32, nth: u32) -> [u8; 8] {
    ((u64::from(name) << 32) | u64::from(nth)).to_be_bytes()
}

/// The commit of a process: writes a row of its own, and adds one to the counter of all processes.
pub fn write(name: u32, nth: u32) -> Batch {
    let mut batch = Batch::new();
    batch.put(ROWS, &key(name, nth), b"written").add(COUNTERS, b"all", &[1]);
    batch
}

/// Whether that commit was made.
///
/// # Errors
/// Those of the engine.
pub fn is_there(engine: &dyn Engine, name: u32, nth: u32) -> Result<bool> {
    Ok(engine.snapshot()?.get(ROWS, &key(name, nth))?.is_some())
}

/// Checks that each process's commits are there, up to the last one that it knows of or one more, and none of them
/// twice.
///
/// # Panics
/// If that is not so.
pub fn check(engine: &dyn Engine, acknowledged: &BTreeMap<u32, u32>) {
    let snapshot = engine.snapshot().expect("a snapshot");
    let mut found = BTreeMap::<u32, u32>::new();
    let mut rows = 0;
    for row in snapshot.range(ROWS, &KeyRange::all(), Direction::Forward) {
        let key = u64::from_be_bytes((*row.expect("a row").key).try_into().expect("a key of eight bytes"));
        let (name, nth) = ((key >> 32) as u32, key as u32);
        let count = found.entry(name).or_default();
        assert_eq!(nth, *count, "process {name}: a commit is missing");
        *count += 1;
        rows += 1;
        let versions = snapshot.versions(ROWS, &key.to_be_bytes()).count();
        assert_eq!(versions, 1, "process {name}, commit {nth} was made twice");
    }
    for (name, acknowledged) in acknowledged {
        let found = found.get(name).copied().unwrap_or_default();
        let expected = *acknowledged..=acknowledged + 1;
        assert!(expected.contains(&found), "process {name} knows of {acknowledged} commits, and {found} are there");
    }
    let all = snapshot.get(COUNTERS, b"all").expect("the counter").map(|value| counters(&value));
    assert_eq!(all, Some(Some(vec![rows])), "as many additions as rows");
}
