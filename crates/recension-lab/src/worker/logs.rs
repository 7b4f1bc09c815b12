//! The logs and blobs of nebari's own benchmark: entries with ids that ascend or are scattered, read one at a time or many in
//! a transaction of the reader's, scanned, and blobs.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::protocol::Reply;
use super::serve::{OpenStore, REST};
use crate::data::{Digest, Random, SCATTER};
use crate::error::{LabError, Result};
use crate::measure::clock::{come_to_rest, nanos, process_cpu};
use crate::subjects::{RowToWrite, Tree, with_history};

/// Letters of an entry.
const LETTERS: (u64, u64) = (50, 1023);

/// In which order the ids of entries lie that are written one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Order {
    /// As they are written.
    Sequential,
    /// Any.
    Random,
}

/// What a worker of the suite `nebari` is to do with its store.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Logs {
    /// Writes entries.
    Insert {
        /// In this order.
        order: Order,
        /// The first.
        first: u64,
        /// How many.
        count: u64,
        /// How many a transaction.
        per_commit: u64,
    },
    /// Reads random entries; timed an entry.
    Get {
        /// The order that they were written in.
        order: Order,
        /// How many there are.
        entries: u64,
        /// Read by one reader, one after the other.
        at_once: u64,
        /// How often.
        count: u64,
        /// Of the random sequence.
        seed: u64,
    },
    /// Scans entries from a random one on; timed a scan.
    Scan {
        /// The order that they were written in.
        order: Order,
        /// How many there are.
        entries: u64,
        /// How many a scan.
        limit: u64,
        /// How many scans.
        count: u64,
        /// Of the random sequence.
        seed: u64,
    },
    /// Writes blobs, one a transaction.
    Blobs {
        /// The first.
        first: u64,
        /// How many.
        count: u64,
        /// Bytes of each.
        bytes: u64,
    },
    /// Reads all and compares it.
    Verify {
        /// Entries, in which order, and how many.
        entries: Option<(Order, u64)>,
        /// Blobs: their bytes, and how many.
        blobs: Option<(u64, u64)>,
    },
}

/// The key of entry `n`: a number of 64 bits whose bytes have its order.
fn id(order: Order, n: u64) -> [u8; 8] {
    let id = match order {
        Order::Sequential => n,
        Order::Random => n.wrapping_mul(SCATTER),
    };
    id.to_be_bytes()
}

/// Entry `n`: a number of 64 bits, and letters.
fn entry(n: u64) -> Vec<u8> {
    let mut random = Random::new(n ^ 0x10_65);
    let letters = LETTERS.0 + random.below(LETTERS.1 - LETTERS.0 + 1);
    let mut bytes = random.number().to_be_bytes().to_vec();
    bytes.extend((0..letters).map(|_| b'a' + u8::try_from(random.below(26)).unwrap_or_default()));
    bytes
}

/// Blob `n`: bytes that do not compress.
fn blob(n: u64, bytes: u64) -> Vec<u8> {
    let mut random = Random::new(n ^ 0xb10b);
    let mut all: Vec<u8> = (0..bytes.div_ceil(8)).flat_map(|_| random.number().to_be_bytes()).collect();
    all.truncate(bytes as usize);
    all
}

fn row(key: &[u8], value: Vec<u8>) -> RowToWrite {
    RowToWrite { tree: Tree::Current, key: key.to_vec(), value }
}

/// Does one command.
pub(super) fn handle(store: &OpenStore, command: &Logs) -> Result<Reply> {
    match *command {
        Logs::Insert { order, first, count, per_commit } => {
            let rows: Vec<RowToWrite> = (first..first + count).map(|n| row(&id(order, n), entry(n))).collect();
            commit(store, rows, per_commit)
        }
        Logs::Blobs { first, count, bytes } => {
            let rows: Vec<RowToWrite> =
                (first..first + count).map(|n| row(&id(Order::Sequential, n), blob(n, bytes))).collect();
            commit(store, rows, 1)
        }
        Logs::Get { order, entries, at_once, count, seed } => {
            let mut random = Random::new(seed);
            let wanted: Vec<u64> = (0..at_once * count).map(|_| random.below(entries)).collect();
            let keys: Vec<[u8; 8]> = wanted.iter().map(|n| id(order, *n)).collect();
            let mut found = Digest::default();
            let start = Instant::now();
            for some in keys.chunks(at_once.max(1) as usize) {
                let mut reader = store.subject.reader()?;
                for key in some {
                    if !reader.get(Tree::Current, key, &mut |value| found.add(value))? {
                        found.add(b"none");
                    }
                }
            }
            let wall_ns = nanos(start.elapsed());
            let mut expected = Digest::default();
            for n in wanted {
                expected.add(&entry(n));
            }
            same("entries that were got", expected, found)?;
            Ok(Reply { ops: keys.len() as u64, wall_ns, ..Reply::default() })
        }
        Logs::Scan { order, entries, limit, count, seed } => {
            let mut random = Random::new(seed);
            let sorted = sorted(order, entries);
            let limit = limit.clamp(1, entries) as usize;
            let starts: Vec<usize> = (0..count).map(|_| random.below(entries - limit as u64 + 1) as usize).collect();
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
                    expected.add_row(key, &entry(*n));
                }
            }
            same("entries of scans", expected, found)?;
            Ok(Reply { ops: count, wall_ns, ..Reply::default() })
        }
        Logs::Verify { entries, blobs } => {
            let mut expected = Digest::default();
            if let Some((order, count)) = entries {
                for (key, n) in sorted(order, count) {
                    expected.add_row(&key, &entry(n));
                }
            }
            if let Some((bytes, count)) = blobs {
                for n in 0..count {
                    expected.add_row(&id(Order::Sequential, n), &blob(n, bytes));
                }
            }
            let mut found = Digest::default();
            store.subject.reader()?.range(Tree::Current, &[], false, &mut |key, value| {
                found.add_row(key, value);
                true
            })?;
            same("all that was written", expected, found).map(|()| Reply::default())
        }
    }
}

/// The entries in the order of their ids.
fn sorted(order: Order, entries: u64) -> Vec<([u8; 8], u64)> {
    let mut all: Vec<([u8; 8], u64)> = (0..entries).map(|n| (id(order, n), n)).collect();
    all.sort_unstable();
    all
}

fn commit(store: &OpenStore, rows: Vec<RowToWrite>, per_commit: u64) -> Result<Reply> {
    let mut commits: Vec<(u64, Vec<RowToWrite>)> = Vec::new();
    let count = rows.len() as u64;
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let some: Vec<RowToWrite> = rows.by_ref().take(per_commit.max(1) as usize).collect();
        let number = store.number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        commits.push((number, if store.history_rows { with_history(some, number) } else { some }));
    }
    let cpu = process_cpu();
    let start = Instant::now();
    for (number, rows) in &commits {
        store.subject.commit(*number, rows)?;
    }
    let wall_ns = nanos(start.elapsed());
    come_to_rest(REST);
    let cpu_ns = Some(nanos(process_cpu().saturating_sub(cpu)));
    Ok(Reply { ops: count, wall_ns, cpu_ns, ..Reply::default() })
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

    fn store(name: &str, dir: &std::path::Path) -> OpenStore {
        let options = subjects::OpenOptions { history: false, cache_bytes: 1 << 20 };
        let subject = subjects::open(name, dir, &options).unwrap();
        OpenStore { subject, history_rows: false, number: 1.into(), order: Vec::new() }
    }

    #[test]
    fn entries_and_blobs_are_as_the_model_says_and_every_wrong_one_is_found() {
        for order in [Order::Sequential, Order::Random] {
            let store = store("memory", std::path::Path::new("unused"));
            let ask = |command: Logs| handle(&store, &command);
            ask(Logs::Insert { order, first: 0, count: 300, per_commit: 7 }).unwrap();
            let get = |entries| Logs::Get { order, entries, at_once: 5, count: 40, seed: 1 };
            let scan = |entries| Logs::Scan { order, entries, limit: 17, count: 20, seed: 1 };
            let verify = |count| Logs::Verify { entries: Some((order, count)), blobs: None };
            for right in [get(300), scan(300), verify(300)] {
                ask(right.clone()).unwrap_or_else(|error| panic!("{right:?}: {error}"));
            }
            for wrong in [get(600), scan(600), verify(299), verify(301)] {
                assert!(matches!(ask(wrong.clone()), Err(LabError::Wrong { .. })), "{wrong:?}");
            }
        }
        let store = store("memory", std::path::Path::new("unused"));
        handle(&store, &Logs::Blobs { first: 0, count: 3, bytes: 1001 }).unwrap();
        let verify = |bytes| handle(&store, &Logs::Verify { entries: None, blobs: Some((bytes, 3)) });
        verify(1001).unwrap();
        assert!(verify(1000).is_err());
    }

    #[test]
    fn short_results_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let store = store("lying-short", dir.path());
        let order = Order::Random;
        handle(&store, &Logs::Insert { order, first: 0, count: 100, per_commit: 50 }).unwrap();
        assert!(handle(&store, &Logs::Scan { order, entries: 100, limit: 6, count: 9, seed: 1 }).is_ok());
        assert!(handle(&store, &Logs::Scan { order, entries: 100, limit: 20, count: 9, seed: 1 }).is_err());
    }
}
