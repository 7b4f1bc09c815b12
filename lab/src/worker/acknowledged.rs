//! Commits that are counted when they are acknowledged, since the process will be killed, and the check of which of
//! them a reopened store still has. Every commit writes two rows, so that half of a commit is noticed.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use super::protocol::Reply;
use super::serve::OpenStore;
use crate::data::{key, value};
use crate::error::{LabError, Result};
use crate::subjects::{Reader, RowToWrite, Tree};

/// Pairs of rows that each thread overwrites in turns.
const PAIRS: u64 = 40;
/// The number of versions that are tried for a value that was not expected.
const VERSIONS_MAX: u64 = 10_000;

/// Commits of several threads, which never touch the same row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Acknowledge {
    /// Commits that each thread has made before.
    pub from: Vec<u64>,
    /// The first this many threads go on; the others' rows stay as they are.
    pub threads: usize,
    /// Commits to be made, by all together.
    pub count: u64,
    /// The file that counts each thread's acknowledged commits, in eight bytes each. It is beside the store and
    /// survives the process.
    pub counts: PathBuf,
    /// Kills the process, as `kill -9` does, when this many were acknowledged.
    pub kill_after: Option<u64>,
}

/// The acknowledged commits that a store has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Acknowledged, and not there.
    pub lost: u64,
    /// There by half, or rows that nobody has written.
    pub broken: u64,
    /// The number of each thread's commits that are there. It is one more than acknowledged if one was under way.
    pub upto: Vec<u64>,
}

fn rows(thread: u64, commit: u64) -> [RowToWrite; 2] {
    let version = u32::try_from(commit / PAIRS).unwrap_or(u32::MAX);
    pair(thread, commit % PAIRS).map(|row| RowToWrite {
        tree: Tree::Current,
        key: key(row).to_vec(),
        value: Some(value(row, version).into_bytes()),
    })
}

/// The rows of a pair.
fn pair(thread: u64, slot: u64) -> [u64; 2] {
    let first = (thread * PAIRS + slot) * 2;
    [first, first + 1]
}

/// Makes commits until they are made, or until the process ends.
pub(super) fn acknowledge(store: &OpenStore, asked: &Acknowledge) -> Result<Reply> {
    let failed = || LabError::io(format!("counting in {}", asked.counts.display()));
    let counts = OpenOptions::new().write(true).create(true).truncate(false).open(&asked.counts).map_err(failed())?;
    for (thread, from) in (0..).zip(&asked.from) {
        counts.write_all_at(&from.to_le_bytes(), thread * 8).map_err(failed())?;
    }
    let (taken, done) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..)
            .zip(asked.from.iter().take(asked.threads))
            .map(|(thread, from)| {
                let (counts, taken, done) = (&counts, &taken, &done);
                scope.spawn(move || one_thread(store, asked, counts, (thread, *from), taken, done))
            })
            .collect();
        running.into_iter().try_for_each(|one| {
            one.join().unwrap_or_else(|_| Err(LabError::Worker { what: "a writer panicked".to_owned() }))
        })
    })?;
    Ok(Reply { ops: done.into_inner(), ..Reply::default() })
}

fn one_thread(
    store: &OpenStore,
    asked: &Acknowledge,
    counts: &File,
    (thread, from): (u64, u64),
    taken: &AtomicU64,
    done: &AtomicU64,
) -> Result<()> {
    let mut commit = from;
    while taken.fetch_add(1, Relaxed) < asked.count {
        store.subject.commit(store.number.fetch_add(1, Relaxed), &rows(thread, commit))?;
        commit += 1;
        counts.write_all_at(&commit.to_le_bytes(), thread * 8).map_err(LabError::io("counting"))?;
        if asked.kill_after == Some(done.fetch_add(1, Relaxed) + 1) {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    }
    Ok(())
}

/// The number of commits that each thread had acknowledged when the process ended.
pub fn counted(counts: &Path, threads: usize) -> Vec<u64> {
    let bytes = std::fs::read(counts).unwrap_or_default();
    let (words, _) = bytes.as_chunks::<8>();
    (0..threads).map(|thread| words.get(thread).map_or(0, |word| u64::from_le_bytes(*word))).collect()
}

/// Compares a store that was opened again with what was acknowledged.
pub(super) fn look(store: &OpenStore, acknowledged: &[u64]) -> Result<Reply> {
    let mut found = Found::default();
    let mut reader = store.subject.reader()?;
    for (thread, commits) in (0..).zip(acknowledged) {
        let mut under_way = false;
        for slot in 0..PAIRS.min(commits + 1) {
            // The last commit of this pair that was acknowledged, and whether the next one could have been under way.
            let last = commits.checked_sub(slot + 1).map(|back| back / PAIRS);
            let next = (commits % PAIRS == slot).then(|| commits / PAIRS);
            let versions =
                [version(&mut *reader, pair(thread, slot)[0])?, version(&mut *reader, pair(thread, slot)[1])?];
            match versions {
                [Version::Of(one), Version::Of(other)] if one == other => {
                    under_way |= next == Some(one);
                    match last {
                        Some(last) if one < last => found.lost += last - one,
                        Some(last) if one == last || next == Some(one) => {}
                        None if next == Some(one) => {}
                        _ => found.broken += 1,
                    }
                }
                [Version::None, Version::None] => found.lost += last.map_or(0, |last| last + 1),
                _ => found.broken += 1,
            }
        }
        found.upto.push(commits + u64::from(under_way));
    }
    Ok(Reply { found: Some(found), ..Reply::default() })
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Version {
    /// There is no such row.
    None,
    /// It is as this version was written.
    Of(u64),
    /// Nobody has written that.
    Strange,
}

fn version(reader: &mut dyn Reader, row: u64) -> Result<Version> {
    let mut found = Version::None;
    reader.get(Tree::Current, &key(row), &mut |bytes| {
        let said = serde_json::from_slice(bytes).ok().and_then(|body: serde_json::Value| body["version"].as_u64());
        let right = said
            .filter(|version| *version <= VERSIONS_MAX)
            .filter(|version| u32::try_from(*version).is_ok_and(|version| value(row, version).as_bytes() == bytes));
        found = right.map_or(Version::Strange, Version::Of);
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects;

    fn store() -> OpenStore {
        let options = subjects::OpenOptions { history: false, cache_bytes: 1 << 20 };
        let subject = subjects::open("memory", Path::new("unused"), &options).unwrap();
        OpenStore { subject, history_rows: false, number: 1.into(), order: Vec::new() }
    }

    fn found(store: &OpenStore, acknowledged: &[u64]) -> Found {
        look(store, acknowledged).unwrap().found.unwrap()
    }

    #[test]
    fn what_was_acknowledged_is_found_and_what_is_lost_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let counts = dir.path().join("counts");
        let store = store();
        let asked = Acknowledge { from: vec![0, 0], threads: 2, count: 200, counts: counts.clone(), kill_after: None };
        assert_eq!(acknowledge(&store, &asked).unwrap().ops, 200);
        let done = counted(&counts, 2);
        assert_eq!(done.iter().sum::<u64>(), 200);
        assert_eq!(found(&store, &done), Found { lost: 0, broken: 0, upto: done.clone() });
        // One that was under way when the process ended may be there or not. A thread may have come too late for any.
        let one_less: Vec<u64> = done.iter().map(|count| count.saturating_sub(1)).collect();
        assert_eq!(found(&store, &one_less), Found { lost: 0, broken: 0, upto: done.clone() });
        // Nobody has made these.
        let more: Vec<u64> = done.iter().map(|count| count + PAIRS + 3).collect();
        assert_eq!(found(&store, &more).lost, 2 * (PAIRS + 3));
        // A commit that is there is strange if it was neither acknowledged nor under way.
        let far_less: Vec<u64> = done.iter().map(|count| count.saturating_sub(5)).collect();
        assert!(found(&store, &far_less).broken > 0);
    }

    #[test]
    fn half_a_commit_and_strange_rows_are_broken() {
        let store = store();
        let dir = tempfile::tempdir().unwrap();
        let asked =
            Acknowledge { from: vec![0], threads: 1, count: 10, counts: dir.path().join("c"), kill_after: None };
        acknowledge(&store, &asked).unwrap();
        let [half, _] = rows(0, PAIRS + 2);
        store.subject.commit(99, &[half]).unwrap();
        let [mut strange, other] = rows(0, 4);
        strange.value.as_mut().unwrap()[20] ^= 1;
        store.subject.commit(100, &[strange, other]).unwrap();
        assert_eq!(found(&store, &[10]).broken, 2);
    }
}
