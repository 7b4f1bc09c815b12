//! What the tests of the SQLite engine share: a store with a little history, and everything that it answers.
#![allow(unreachable_pub)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use recension::engine::{Batch, Direction, Engine, KeyRange, ManualClock, Result, Seq, Timestamp, TreeId};
use recension_engines::sqlite::{SqliteEngine, SqliteOptions};

pub const T: TreeId = TreeId(7);

pub fn open(path: &Path) -> Result<SqliteEngine> {
    let clock = Arc::new(ManualClock::new(Timestamp(1_000)));
    SqliteEngine::open(
        path,
        SqliteOptions { clock, busy_timeout: Duration::from_millis(20), ..SqliteOptions::default() },
    )
}

pub fn put(engine: &dyn Engine, key: &[u8], value: &[u8]) -> Seq {
    let mut batch = Batch::new();
    batch.put(T, key, value);
    engine.commit(batch).expect("the commit is taken").seq
}

pub fn get(engine: &dyn Engine, key: &[u8]) -> Option<Vec<u8>> {
    engine.snapshot().unwrap().get(T, key).unwrap().map(|value| value.bytes.into_owned())
}

/// Ten commits on six keys, with deletions and one value of several pages.
pub fn fill(engine: &dyn Engine) {
    for n in 0..10_u8 {
        let mut batch = Batch::new();
        batch.put(T, &[b'k', n % 4], &[n; 40]).put(TreeId(8), b"other", &[n]);
        if n % 3 == 2 {
            batch.delete(T, &[b'k', n % 2]);
        }
        if n == 5 {
            batch.put(T, b"long", &vec![n; 10_000]);
        }
        engine.commit(batch).expect("the commit is taken");
    }
}

/// Every answer about what [`fill`] wrote: by commit, tree and key, in words. An error stands as itself.
pub type Answers = Vec<(String, Result<String>)>;

pub fn answers(engine: &dyn Engine) -> Answers {
    let mut answers = Vec::new();
    for seq in (0..=10).map(Seq) {
        let snapshot = match engine.snapshot_at(seq) {
            Ok(snapshot) => snapshot,
            Err(error) => {
                answers.push((format!("snapshot {seq}"), Err(error)));
                continue;
            }
        };
        answers.push((format!("time {seq}"), snapshot.time().map(|time| time.0.to_string())));
        for tree in [T, TreeId(8)] {
            for key in [&b"k\0"[..], b"k\x01", b"k\x02", b"k\x03", b"long", b"other"] {
                let name = format!("{seq} {} {}", tree.0, key.escape_ascii());
                let value = snapshot.get(tree, key);
                answers.push((format!("get {name}"), value.map(|value| format!("{value:?}"))));
                let versions = snapshot.versions(tree, key).collect::<Result<Vec<_>>>();
                answers.push((format!("versions {name}"), versions.map(|versions| format!("{versions:?}"))));
            }
            for direction in [Direction::Forward, Direction::Backward] {
                let rows = snapshot.range(tree, &KeyRange::all(), direction).collect::<Result<Vec<_>>>();
                answers.push((format!("range {seq} {} {direction:?}", tree.0), rows.map(|rows| format!("{rows:?}"))));
            }
        }
    }
    answers
}
