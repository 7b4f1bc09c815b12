//! Commits at an offered rate. Each has its intended start, and its latency counts from there: a stall is
//! felt by every commit that it delays, as it is by users, and not only by the one that it caught.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::protocol::{Reply, Rows};
use super::reads::Gets;
use super::serve::{OpenStore, REST};
use super::writes::rows_to_write;
use crate::error::{LabError, Result};
use crate::measure::clock::{come_to_rest, nanos, wait_until};
use crate::subjects::Settled;

/// Gets between two looks at the clock.
const GETS_A_LOOK: u64 = 500;

/// A rate, for a time.
pub(super) struct Offer {
    every: Duration,
    count: u64,
}

impl Offer {
    pub(super) fn new(rate: u64, millis: u64) -> Self {
        let rate = rate.max(1);
        Offer { every: Duration::from_nanos(1_000_000_000 / rate), count: (rate * millis / 1000).max(1) }
    }

    /// Commits at the rate. Returns each latency from its intended start. If the subject cannot keep up, it ends after
    /// four times the duration, with the commits done so far.
    fn commits(&self, store: &OpenStore, first: u64, stop: &AtomicBool) -> Result<Vec<u64>> {
        let mut latencies = Vec::new();
        let begin = Instant::now();
        let most = self.every * u32::try_from(self.count).unwrap_or(u32::MAX) * 4;
        for n in 0..self.count {
            let (number, rows) = rows_to_write(store, Rows { first: first + n, count: 1, version: 0 });
            let intended = begin + self.every * u32::try_from(n).unwrap_or(u32::MAX);
            wait_until(intended);
            store.subject.commit(number, &rows)?;
            latencies.push(nanos(intended.elapsed()));
            if stop.load(Relaxed) || begin.elapsed() > most {
                break;
            }
        }
        Ok(latencies)
    }
}

/// Commits at an offered rate, quiet or while the subject settles.
pub(super) fn offer(store: &OpenStore, first: u64, offer: &Offer, settling: bool) -> Result<Reply> {
    if let Some(why) = store.subject.settles_alone().filter(|_| settling) {
        return Err(LabError::Unavailable { reason: why.to_owned() });
    }
    let done = AtomicBool::new(false);
    let never = AtomicBool::new(false);
    let (latencies, settled) = std::thread::scope(|scope| -> Result<(Vec<u64>, Option<Settled>)> {
        let settler = settling.then(|| scope.spawn(|| settle_until(store, &done)));
        let latencies = offer.commits(store, first, &never);
        done.store(true, Relaxed);
        let settled = match settler {
            Some(settler) => Some(settler.join().map_err(panicked)??),
            None => None,
        };
        Ok((latencies?, settled))
    })?;
    come_to_rest(REST);
    let (ops, wanted) = (latencies.len() as u64, offer.count);
    let note = (ops < wanted).then(|| format!("it did not keep up: {ops} of {wanted} commits in four times the time"));
    Ok(Reply { ops, latencies_ns: latencies, settled, note, ..Reply::default() })
}

fn settle_until(store: &OpenStore, done: &AtomicBool) -> Result<Settled> {
    loop {
        let settled = store.subject.settle()?;
        if done.load(Relaxed) {
            return Ok(settled);
        }
        std::thread::sleep(Duration::from_millis(20)); // as a background does that finds little to do
    }
}

/// Random gets while another thread commits at an offered rate.
pub(super) fn get_while_writing(store: &OpenStore, rows: Rows, first: u64, offer: &Offer, seed: u64) -> Result<Reply> {
    let stop = AtomicBool::new(false);
    let time = offer.every * u32::try_from(offer.count).unwrap_or(u32::MAX);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| offer.commits(store, first, &stop));
        let read = || -> Result<(u64, Duration, Duration)> {
            let mut reader = store.subject.reader()?;
            let (mut gets, mut wall, mut cpu) = (0, Duration::ZERO, Duration::ZERO);
            let begin = Instant::now();
            while begin.elapsed() < time {
                let batch = Gets::random(rows, GETS_A_LOOK, seed.wrapping_add(gets));
                let (of_wall, of_cpu) = batch.run(&mut *reader, None)?;
                (gets, wall, cpu) = (gets + batch.len(), wall + of_wall, cpu + of_cpu);
            }
            Ok((gets, wall, cpu))
        };
        let read = read();
        stop.store(true, Relaxed);
        let written = writer.join().map_err(panicked)??.len() as u64;
        let (ops, wall, cpu) = read?;
        come_to_rest(REST);
        // `number` tells how many rows there are now.
        Ok(Reply { ops, wall_ns: nanos(wall), cpu_ns: Some(nanos(cpu)), number: Some(written), ..Reply::default() })
    })
}

fn panicked<T>(_: T) -> LabError {
    LabError::Worker { what: "a thread of the worker panicked".to_owned() }
}
