//! Timed reads. In the timed part a digest is made of all bytes of the results. Outside of it the same digest is made
//! from the model, and the two must be equal.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use super::protocol::{Reply, Rows};
use super::serve::{OpenStore, REST};
use crate::data::{Digest, Key, Random, key, value};
use crate::error::{LabError, Result};
use crate::measure::clock::{come_to_rest, nanos, thread_cpu};
use crate::subjects::{Reader, Tree};

/// The ranges to read.
pub(super) struct Ranges {
    pub(super) count: u64,
    pub(super) limit: u64,
    pub(super) reverse: bool,
    pub(super) as_of: Option<u64>,
    pub(super) seed: u64,
}

/// One thread's reads: the rows to be read, what the model says of them.
pub(super) struct Gets {
    keys: Vec<Key>,
    expected: Digest,
}

impl Gets {
    pub(super) fn random(rows: Rows, count: u64, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut expected = Digest::default();
        let keys = (0..count)
            .map(|_| {
                let row = rows.first + random.below(rows.count);
                expected.add(value(row, rows.version).as_bytes());
                key(row)
            })
            .collect();
        Gets { keys, expected }
    }

    /// Reads all of them; returns the time and the processor time of this thread.
    pub(super) fn run(&self, reader: &mut dyn Reader, as_of: Option<u64>) -> Result<(Duration, Duration)> {
        let mut found = Digest::default();
        let (cpu, start) = (thread_cpu(), Instant::now());
        for key in &self.keys {
            let see = &mut |value: &[u8]| found.add(value);
            match as_of {
                None => reader.get(Tree::Current, key, see)?,
                Some(at) => reader.get_as_of(key, at, see)?,
            };
        }
        let times = (start.elapsed(), thread_cpu().saturating_sub(cpu));
        same("random gets", self.expected, found)?;
        Ok(times)
    }

    pub(super) fn len(&self) -> u64 {
        self.keys.len() as u64
    }
}

fn same(what: &str, expected: Digest, found: Digest) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let hash = |digest: Digest| format!("values with the digest {digest:?}");
    Err(LabError::Wrong { what: what.to_owned(), expected: hash(expected), found: hash(found) })
}

/// Random gets, `count` a thread.
pub(super) fn get(
    store: &OpenStore,
    rows: Rows,
    count: u64,
    threads: u64,
    as_of: Option<u64>,
    seed: u64,
) -> Result<Reply> {
    let begin = Barrier::new(usize::try_from(threads.max(1)).unwrap_or(1));
    let times = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..threads.max(1))
            .map(|thread| {
                let begin = &begin;
                scope.spawn(move || {
                    let gets = Gets::random(rows, count, seed.wrapping_add(thread.wrapping_mul(0x1_0001)));
                    let reader = store.subject.reader();
                    begin.wait();
                    gets.run(&mut *reader?, as_of)
                })
            })
            .collect();
        readers
            .into_iter()
            .map(|reader| reader.join().map_err(|_| LabError::Worker { what: "a reader panicked".to_owned() })?)
            .collect::<Result<Vec<_>>>()
    })?;
    come_to_rest(REST);
    // The time that one reader waits for one row. With more threads, the mean of theirs.
    let mean = |of: fn(&(Duration, Duration)) -> Duration| {
        let sum: Duration = times.iter().map(of).sum();
        nanos(sum) / (times.len() as u64).max(1)
    };
    Ok(Reply { ops: count, wall_ns: mean(|t| t.0), cpu_ns: Some(mean(|t| t.1)), ..Reply::default() })
}

/// Ranges from random keys.
pub(super) fn range(store: &OpenStore, rows: Rows, ranges: &Ranges) -> Result<Reply> {
    let (starts, expected) = expected_ranges(store, rows, ranges);
    let mut found = Digest::default();
    let mut reader = store.subject.reader()?;
    let (cpu, start) = (thread_cpu(), Instant::now());
    for start in &starts {
        let mut left = ranges.limit;
        let see = &mut |key: &[u8], value: &[u8]| {
            found.add_row(key, value);
            left -= 1;
            left > 0
        };
        match ranges.as_of {
            None => reader.range(Tree::Current, start, ranges.reverse, see)?,
            Some(at) => reader.range_as_of(start, at, see)?,
        }
    }
    let (wall, cpu) = (start.elapsed(), thread_cpu().saturating_sub(cpu));
    same("ranges", expected, found)?;
    drop(reader);
    come_to_rest(REST);
    Ok(Reply { ops: ranges.count, wall_ns: nanos(wall), cpu_ns: Some(nanos(cpu)), ..Reply::default() })
}

fn expected_ranges(store: &OpenStore, rows: Rows, ranges: &Ranges) -> (Vec<Key>, Digest) {
    let mut random = Random::new(ranges.seed);
    let mut expected = Digest::default();
    let limit = usize::try_from(ranges.limit).unwrap_or(usize::MAX);
    let starts = (0..ranges.count)
        .map(|_| {
            let rank = random.below(store.order.len() as u64) as usize;
            let mut add = |&row: &u32| {
                let row = u64::from(row);
                expected.add_row(&key(row), value(row, rows.version).as_bytes());
            };
            if ranges.reverse {
                store.order.iter().take(rank + 1).rev().take(limit).for_each(&mut add);
            } else {
                store.order.iter().skip(rank).take(limit).for_each(&mut add);
            }
            store.order.get(rank).map_or_else(|| key(0), |&row| key(u64::from(row)))
        })
        .collect();
    (starts, expected)
}
