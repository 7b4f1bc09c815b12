//! The logs and blobs of nebari's own benchmark: entries with ids that ascend or are scattered, written, updated and
//! deleted, read one at a time or many by one reader, scanned, and read as of a past commit; and blobs.

mod model;

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use model::{Entries, Order};

use super::protocol::Reply;
use super::serve::{OpenStore, REST};
use crate::data::{Digest, Random};
use crate::error::{LabError, Result};
use crate::measure::clock::{come_to_rest, nanos, process_cpu};
use crate::subjects::{RowToWrite, Tree, with_history};

/// A command to a worker of the suite `nebari`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Logs {
    /// Writes rows; timed a row.
    Write {
        /// The kind of write.
        what: Write,
        /// The first: of the entries, of the updates or of the blobs.
        first: u64,
        /// How many.
        count: u64,
        /// The number of rows in each transaction.
        per_commit: u64,
    },
    /// Reads random entries; timed an entry.
    Get {
        /// The present entries.
        entries: Entries,
        /// As of this commit, at which `entries` were what there was.
        as_of: Option<u64>,
        /// Read by one reader, one after the other.
        at_once: u64,
        /// How often.
        count: u64,
        /// The seed of the random sequence.
        seed: u64,
    },
    /// Scans entries from a random one on; timed a scan.
    Scan {
        /// The present entries.
        entries: Entries,
        /// The number of entries in each scan.
        limit: u64,
        /// How many scans.
        count: u64,
        /// The seed of the random sequence.
        seed: u64,
    },
    /// Reads all entries and compares them.
    Verify {
        /// The present entries.
        entries: Entries,
        /// As of this commit.
        as_of: Option<u64>,
    },
    /// Reads all blobs and compares them.
    VerifyBlobs {
        /// How many there are.
        count: u64,
        /// Bytes of each.
        bytes: u64,
    },
}

/// Rows that are written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Write {
    /// New entries.
    Insert(Order),
    /// New versions of these.
    Update(Entries),
    /// The ends of entries.
    Delete(Order),
    /// Blobs of this many bytes.
    Blobs(u64),
}

impl Write {
    fn row(self, n: u64) -> RowToWrite {
        match self {
            Write::Insert(order) => model::new_row(order, n),
            Write::Update(entries) => entries.update(n),
            Write::Delete(order) => model::deleted_row(order, n),
            Write::Blobs(bytes) => model::blob_row(n, bytes),
        }
    }
}

/// Does one command.
pub(super) fn handle(store: &OpenStore, command: &Logs) -> Result<Reply> {
    match *command {
        Logs::Write { what, first, count, per_commit } => {
            write(store, (first..first + count).map(|n| what.row(n)).collect(), per_commit)
        }
        Logs::Get { entries, as_of, at_once, count, seed } => {
            let mut random = Random::new(seed);
            let wanted: Vec<u64> = (0..at_once * count).map(|_| entries.any(&mut random)).collect();
            get(store, &entries, as_of, &wanted, at_once)
        }
        Logs::Scan { entries, limit, count, seed } => scan(store, &entries, limit, count, seed),
        Logs::Verify { entries, as_of } => {
            let (mut expected, mut found) = (Digest::default(), Digest::default());
            let sorted = entries.sorted();
            for (key, n) in &sorted {
                expected.add_row(key, &entries.entry(*n));
            }
            let mut see = |key: &[u8], value: &[u8]| {
                found.add_row(key, value);
                true
            };
            let mut reader = store.subject.reader()?;
            match as_of {
                None => reader.range(Tree::Current, &[], false, &mut see)?,
                Some(at) => reader.range_as_of(&[0], at, &mut see)?,
            }
            same(if as_of.is_some() { "all as of a past commit" } else { "all that was written" }, expected, found)?;
            Ok(Reply { ops: sorted.len() as u64, ..Reply::default() })
        }
        Logs::VerifyBlobs { count, bytes } => {
            let (mut expected, mut found) = (Digest::default(), Digest::default());
            for n in 0..count {
                expected.add_row(&model::blob_id(n), &model::blob(n, bytes));
            }
            store.subject.reader()?.range(Tree::Current, &[], false, &mut |key, value| {
                found.add_row(key, value);
                true
            })?;
            same("all blobs", expected, found)?;
            Ok(Reply { ops: count, ..Reply::default() })
        }
    }
}

fn write(store: &OpenStore, rows: Vec<RowToWrite>, per_commit: u64) -> Result<Reply> {
    let mut commits: Vec<(u64, Vec<RowToWrite>)> = Vec::new();
    let count = rows.len() as u64;
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let some: Vec<RowToWrite> = rows.by_ref().take(per_commit.max(1) as usize).collect();
        let number = store.number.fetch_add(1, Relaxed);
        commits.push((number, if store.history_rows { with_history(some, number) } else { some }));
    }
    let cpu = process_cpu();
    let start = Instant::now();
    let mut last = None;
    for (number, rows) in &commits {
        last = Some(store.subject.commit(*number, rows)?);
    }
    let wall_ns = nanos(start.elapsed());
    come_to_rest(REST);
    let cpu_ns = Some(nanos(process_cpu().saturating_sub(cpu)));
    Ok(Reply { ops: count, wall_ns, cpu_ns, number: last, ..Reply::default() })
}

fn get(store: &OpenStore, entries: &Entries, as_of: Option<u64>, wanted: &[u64], at_once: u64) -> Result<Reply> {
    let keys: Vec<[u8; 8]> = wanted.iter().map(|n| model::id(entries.order, *n)).collect();
    let mut found = Digest::default();
    let start = Instant::now();
    for some in keys.chunks(at_once.max(1) as usize) {
        let mut reader = store.subject.reader()?;
        for key in some {
            let mut see = |value: &[u8]| found.add(value);
            let there = match as_of {
                None => reader.get(Tree::Current, key, &mut see)?,
                Some(at) => reader.get_as_of(key, at, &mut see)?,
            };
            if !there {
                found.add(b"none");
            }
        }
    }
    let wall_ns = nanos(start.elapsed());
    let mut expected = Digest::default();
    for n in wanted {
        expected.add(&entries.entry(*n));
    }
    same(if as_of.is_some() { "entries of the past" } else { "entries that were got" }, expected, found)?;
    Ok(Reply { ops: keys.len() as u64, wall_ns, ..Reply::default() })
}

fn scan(store: &OpenStore, entries: &Entries, limit: u64, count: u64, seed: u64) -> Result<Reply> {
    let mut random = Random::new(seed);
    let sorted = entries.sorted();
    let limit = limit.clamp(1, sorted.len() as u64) as usize;
    let last = (sorted.len() - limit) as u64;
    let starts: Vec<usize> = (0..count).map(|_| random.below(last + 1) as usize).collect();
    let mut found = Digest::default();
    let begin = Instant::now();
    for start in &starts {
        let Some((key, _)) = sorted.get(*start) else { continue };
        let mut left = limit;
        store.subject.reader()?.range(Tree::Current, key, false, &mut |key, value| {
            found.add_row(key, value);
            left -= 1;
            left > 0
        })?;
    }
    let wall_ns = nanos(begin.elapsed());
    let mut expected = Digest::default();
    for start in starts {
        for (key, n) in sorted.iter().skip(start).take(limit) {
            expected.add_row(key, &entries.entry(*n));
        }
    }
    same("entries of scans", expected, found)?;
    Ok(Reply { ops: count, wall_ns, ..Reply::default() })
}

fn same(what: &str, expected: Digest, found: Digest) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(LabError::Wrong { what: what.to_owned(), expected: format!("{expected:?}"), found: format!("{found:?}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects;
    use crate::subjects::Given;

    /// A store with history in a directory of its own.
    struct Opened {
        store: OpenStore,
        _dir: tempfile::TempDir,
    }

    impl Opened {
        fn new(name: &str) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let options = subjects::OpenOptions { history: true, cache_bytes: 1 << 20 };
            let subject = subjects::open(name, dir.path(), &options).unwrap();
            let history_rows = !subject.keeps_versions();
            Opened { store: OpenStore { subject, history_rows, number: 1.into(), order: Vec::new() }, _dir: dir }
        }

        fn ask(&self, command: &Logs) -> Result<Reply> {
            handle(&self.store, command)
        }

        /// Writes rows, 7 a commit; returns the last commit.
        fn write(&self, what: Write, first: u64, count: u64) -> u64 {
            self.ask(&Logs::Write { what, first, count, per_commit: 7 }).unwrap().number.unwrap()
        }

        fn is_wrong(&self, command: &Logs) -> bool {
            match self.ask(command) {
                Ok(_) => false,
                Err(LabError::Wrong { .. }) => true,
                Err(error) => panic!("{command:?}: {error}"),
            }
        }
    }

    fn get(entries: Entries, as_of: Option<u64>) -> Logs {
        Logs::Get { entries, as_of, at_once: 5, count: 40, seed: 1 }
    }

    fn scan(entries: Entries, limit: u64) -> Logs {
        Logs::Scan { entries, limit, count: 20, seed: 1 }
    }

    fn verify(entries: Entries, as_of: Option<u64>) -> Logs {
        Logs::Verify { entries, as_of }
    }

    /// Stores that are built in, with versions of their own and without.
    fn stores() -> Vec<Opened> {
        let built_in = crate::subjects::kinds().into_iter().filter(|kind| (kind.missing)(&Given::default()).is_none());
        let known = ["memory", "recension", "sqlite", "lmdb", "redb", "fjall", "surrealkv", "nebari", "sled"];
        built_in.filter(|kind| known.contains(&kind.name)).map(|kind| Opened::new(kind.name)).collect()
    }

    #[test]
    fn entries_and_blobs_are_as_the_model_says_and_every_wrong_one_is_found() {
        for order in [Order::Sequential, Order::Random] {
            let store = Opened::new("memory");
            store.write(Write::Insert(order), 0, 300);
            let entries = |count| Entries::new(order, count);
            for right in [get(entries(300), None), scan(entries(300), 17), verify(entries(300), None)] {
                assert!(!store.is_wrong(&right), "{right:?}");
            }
            let updated = Entries { updates: 1, ..entries(300) };
            let deleted = Entries { first: 1, ..entries(300) };
            for wrong in [
                get(entries(600), None),
                scan(entries(600), 17),
                verify(entries(299), None),
                verify(entries(301), None),
                verify(updated, None),
                verify(deleted, None),
            ] {
                assert!(store.is_wrong(&wrong), "{wrong:?}");
            }
        }
        let store = Opened::new("memory");
        store.write(Write::Blobs(1001), 0, 3);
        assert!(!store.is_wrong(&Logs::VerifyBlobs { count: 3, bytes: 1001 }));
        assert!(store.is_wrong(&Logs::VerifyBlobs { count: 3, bytes: 1000 }));
        assert!(store.is_wrong(&Logs::VerifyBlobs { count: 2, bytes: 1001 }));
    }

    #[test]
    fn every_store_has_its_past_and_is_without_what_was_deleted() {
        let order = Order::Random;
        for store in stores() {
            let new = Entries::new(order, 200);
            let first = store.write(Write::Insert(order), 0, 200);
            let second = store.write(Write::Update(new), 0, 130);
            store.write(Write::Update(new), 130, 300);
            store.write(Write::Delete(order), 0, 60);
            let before = Entries { updates: 130, ..new };
            let now = Entries { first: 60, updates: 430, ..new };
            let name = store.store.subject.settings();
            for (entries, as_of) in [(new, Some(first)), (before, Some(second)), (now, None)] {
                for right in [get(entries, as_of), verify(entries, as_of)] {
                    assert!(!store.is_wrong(&right), "{name}: {right:?}");
                }
            }
            for (entries, as_of) in [(before, Some(first)), (new, Some(second)), (new, None)] {
                for wrong in [get(entries, as_of), verify(entries, as_of)] {
                    assert!(store.is_wrong(&wrong), "{name}: {wrong:?}");
                }
            }
        }
    }

    #[test]
    fn short_results_dropped_deletes_and_a_wrong_past_are_found() {
        let order = Order::Random;
        let new = Entries::new(order, 100);
        let now = Entries { first: 20, updates: 100, ..new };
        // A liar is asked for something that it does not lie about, and for something that it does. Both get the commit
        // that inserted everything.
        let check = |name: &str, right: Logs, wrong: &dyn Fn(u64) -> Logs| {
            let store = Opened::new(name);
            let mark = store.write(Write::Insert(order), 0, 100);
            store.write(Write::Update(new), 0, 100);
            store.write(Write::Delete(order), 0, 20);
            assert!(!store.is_wrong(&right), "{name}: {right:?}");
            assert!(store.is_wrong(&wrong(mark)), "{name}");
        };
        check("lying-short", scan(now, 6), &|_| scan(now, 20));
        check("lying-keeping", get(now, None), &|_| verify(now, None));
        check("lying-present", verify(now, None), &|mark| get(new, Some(mark)));
    }
}
