//! Timed commits. Rows are made before the clock starts; what runs in the background is waited for after it
//! stops, and its processor time and writes are counted in.

use std::sync::Barrier;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::protocol::{Reply, Rows};
use super::serve::OpenStore;
use crate::data::{key, value};
use crate::error::{LabError, Result};
use crate::measure::clock::{come_to_rest, nanos, process_cpu, thread_cpu};
use crate::measure::{trace, usage};
use crate::subjects::{RowToWrite, Tree, with_history};

/// Longest wait for a subject's background after writes.
const REST: Duration = Duration::from_secs(2);

/// The rows of one commit. If their history is kept as rows, they include that.
pub(super) fn rows_to_write(store: &OpenStore, rows: Rows) -> (u64, Vec<RowToWrite>) {
    let number = store.number.fetch_add(1, Relaxed);
    let made = (rows.first..rows.first + rows.count)
        .map(|n| RowToWrite {
            tree: Tree::Current,
            key: key(n).to_vec(),
            value: Some(value(n, rows.version).into_bytes()),
        })
        .collect();
    (number, if store.history_rows { with_history(made, number) } else { made })
}

/// Parts of at most `most` rows.
fn parts(rows: Rows, most: u64) -> impl Iterator<Item = Rows> {
    let end = rows.first + rows.count;
    let most = most.max(1);
    (rows.first..end).step_by(usize::try_from(most).unwrap_or(usize::MAX)).map(move |first| Rows {
        first,
        count: most.min(end - first),
        version: rows.version,
    })
}

/// Writes rows, `per_commit` a commit, from `threads` threads at once.
pub(super) fn write(store: &OpenStore, rows: Rows, per_commit: u64, threads: u64, marked: bool) -> Result<Reply> {
    let written_before = usage::own().written_bytes;
    let process_before = process_cpu();
    let mark = || {
        if marked {
            let _ = std::fs::File::open(trace::MARK);
        }
    };
    mark();
    let (wall, of_laboratory, number) = if threads <= 1 {
        one_writer(store, rows, per_commit)?
    } else {
        many_writers(store, rows, per_commit, threads)?
    };
    mark();
    let rested = come_to_rest(REST);
    let cpu = process_cpu().saturating_sub(process_before).saturating_sub(of_laboratory);
    Ok(Reply {
        ops: rows.count,
        wall_ns: nanos(wall),
        cpu_ns: Some(nanos(cpu)),
        written_bytes: usage::own().written_bytes.saturating_sub(written_before),
        number: Some(number),
        note: (!rested).then(|| format!("its background was not at rest {} s after the writes", REST.as_secs())),
        ..Reply::default()
    })
}

/// Returns the time of the commits, the processor time of making rows, and the last commit's number.
fn one_writer(store: &OpenStore, rows: Rows, per_commit: u64) -> Result<(Duration, Duration, u64)> {
    let (mut wall, mut making, mut last) = (Duration::ZERO, Duration::ZERO, 0);
    for part in parts(rows, per_commit) {
        let before = thread_cpu();
        let (number, rows) = rows_to_write(store, part);
        making += thread_cpu().saturating_sub(before);
        let start = Instant::now();
        last = store.subject.commit(number, &rows)?;
        wall += start.elapsed();
    }
    Ok((wall, making, last))
}

/// The rows that each of at most `threads` threads writes.
fn shares(rows: Rows, threads: u64) -> Vec<Rows> {
    parts(rows, rows.count.div_ceil(threads.max(1))).collect()
}

fn many_writers(store: &OpenStore, rows: Rows, per_commit: u64, threads: u64) -> Result<(Duration, Duration, u64)> {
    let shares = shares(rows, threads);
    let begin = Barrier::new(shares.len() + 1);
    let before = process_cpu();
    std::thread::scope(|scope| {
        let writers: Vec<_> = shares
            .into_iter()
            .map(|share| {
                let begin = &begin;
                scope.spawn(move || -> Result<u64> {
                    let made: Vec<_> = parts(share, per_commit).map(|part| rows_to_write(store, part)).collect();
                    begin.wait();
                    let mut last = 0;
                    for (number, rows) in &made {
                        last = store.subject.commit(*number, rows)?;
                    }
                    Ok(last)
                })
            })
            .collect();
        begin.wait();
        let start = Instant::now();
        let making = process_cpu().saturating_sub(before);
        let mut last = 0;
        for writer in writers {
            let died = |_| LabError::Worker { what: "a writer panicked".to_owned() };
            last = last.max(writer.join().map_err(died)??);
        }
        Ok((start.elapsed(), making, last))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_rows_once() {
        for (count, most) in [(10, 3), (10, 10), (1, 16), (16, 1), (0, 4), (7, 0)] {
            let all = Rows { first: 5, count, version: 1 };
            let mut next = 5;
            for part in parts(all, most) {
                assert!(part.first == next && part.count > 0 && part.count <= most.max(1));
                next += part.count;
            }
            assert_eq!(next, 5 + count);
            assert!(shares(all, most).len() as u64 <= most.max(1));
        }
    }
}
