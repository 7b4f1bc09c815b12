//! Sorting more than memory holds: pairs of a key and a payload, in memory up to a bound. Beyond it they are sorted
//! runs in a temporary file of the engine, which are merged on reading. Pairs with the same key keep the order in which
//! they came.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::engine::{Scratch, Snapshot};
use recension_values::error::{Error, Result};
use recension_values::limits::{SPILL_BUFFER_BYTES, SPILL_BYTES_MAX, SPILL_RUNS_MAX};

/// A key and its payload.
pub(crate) type Pair = (Vec<u8>, Vec<u8>);

/// Gathers pairs.
pub(crate) struct Spill {
    snapshot: Arc<dyn Snapshot>,
    held: Vec<Pair>,
    held_bytes: usize,
    bytes_max: usize,
    /// Only the first this many are wanted.
    wanted: Option<usize>,
    /// As many are held whose keys are not greater than this one.
    bound: Option<Vec<u8>>,
    file: Option<Box<dyn Scratch>>,
    written: u64,
    /// Where runs begin and end, in the order in which they came.
    runs: Vec<(u64, u64)>,
}

impl Spill {
    pub(crate) fn new(snapshot: &Arc<dyn Snapshot>, bytes_max: usize, wanted: Option<usize>) -> Self {
        Spill {
            snapshot: snapshot.clone(),
            held: Vec::new(),
            held_bytes: 0,
            bytes_max,
            wanted,
            bound: None,
            file: None,
            written: 0,
            runs: Vec::new(),
        }
    }

    fn bytes_of((key, payload): &Pair) -> usize {
        key.len() + payload.len() + size_of::<Pair>()
    }

    /// Whether a pair with this key may be among those that are wanted, if it comes next.
    pub(crate) fn wants(&self, key: &[u8]) -> bool {
        self.wanted != Some(0) && self.bound.as_ref().is_none_or(|bound| key < bound.as_slice())
    }

    /// Adds a pair; `too_large` is the error if there is no disk to write to.
    pub(crate) fn push(&mut self, pair: Pair, too_large: impl FnOnce() -> Error) -> Result<()> {
        self.held_bytes += Self::bytes_of(&pair);
        self.held.push(pair);
        if let Some(wanted) = self.wanted
            && (self.held.len() >= wanted.saturating_mul(2).saturating_add(1000) || self.held_bytes > self.bytes_max)
        {
            self.order();
            self.held.truncate(wanted);
            self.bound = self.held.get(wanted.saturating_sub(1)).map(|(key, _)| key.clone());
            self.held_bytes = self.held.iter().map(Self::bytes_of).sum();
        }
        if self.held_bytes > self.bytes_max {
            return self.flush(too_large);
        }
        Ok(())
    }

    fn order(&mut self) {
        self.held.sort_by(|a, b| a.0.cmp(&b.0));
    }

    /// Writes the pairs in memory as a run.
    pub(crate) fn flush(&mut self, too_large: impl FnOnce() -> Error) -> Result<()> {
        if self.file.is_none() {
            self.file = self.snapshot.scratch()?;
        }
        if self.file.is_none() || self.written > SPILL_BYTES_MAX {
            return Err(too_large());
        }
        self.order();
        let held = std::mem::take(&mut self.held);
        self.held_bytes = 0;
        self.write(held.into_iter().map(Ok))?;
        if self.runs.len() >= SPILL_RUNS_MAX {
            // All runs are merged into one, which is the oldest.
            let runs = std::mem::take(&mut self.runs);
            let file = self.file.take();
            let mut merged = Merged::new(file, &runs, Vec::new())?;
            self.file = self.snapshot.scratch()?;
            self.written = 0;
            self.write(std::iter::from_fn(|| merged.next()))?;
        }
        Ok(())
    }

    fn write(&mut self, pairs: impl Iterator<Item = Result<Pair>>) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let start = self.written;
        let mut buffer = Vec::with_capacity(SPILL_BUFFER_BYTES);
        for pair in pairs {
            let (key, payload) = pair?;
            for part in [&key, &payload] {
                buffer.extend((part.len() as u32).to_be_bytes());
            }
            buffer.extend(key);
            buffer.extend(payload);
            if buffer.len() >= SPILL_BUFFER_BYTES {
                file.append(&buffer)?;
                self.written += buffer.len() as u64;
                buffer.clear();
            }
        }
        file.append(&buffer)?;
        self.written += buffer.len() as u64;
        self.runs.push((start, self.written));
        Ok(())
    }

    /// All pairs in order.
    pub(crate) fn finish(mut self) -> Result<Merged> {
        self.order();
        Merged::new(self.file, &self.runs, self.held)
    }
}

/// The pairs of all runs in order.
pub(crate) struct Merged {
    file: Option<Box<dyn Scratch>>,
    runs: Vec<Run>,
    /// The pairs in memory are the last run.
    held: std::vec::IntoIter<Pair>,
    /// The next pair of each run that has one.
    next: BinaryHeap<Reverse<Next>>,
}

/// A key, the number of its run, and the payload.
type Next = (Vec<u8>, usize, Vec<u8>);

/// A run that is read, piece by piece.
struct Run {
    at: u64,
    end: u64,
    buffer: Vec<u8>,
    taken: usize,
}

impl Merged {
    fn new(file: Option<Box<dyn Scratch>>, runs: &[(u64, u64)], held: Vec<Pair>) -> Result<Self> {
        let run = |(at, end): &(u64, u64)| Run { at: *at, end: *end, buffer: Vec::new(), taken: 0 };
        let runs: Vec<Run> = runs.iter().map(run).collect();
        let mut merged = Merged { file, runs, held: held.into_iter(), next: BinaryHeap::new() };
        for number in 0..merged.runs.len() {
            merged.fetch(number)?;
        }
        Ok(merged)
    }

    /// Adds the next pair of a run to the heap.
    fn fetch(&mut self, number: usize) -> Result<()> {
        let (Some(run), Some(file)) = (self.runs.get_mut(number), &self.file) else { return Ok(()) };
        if let Some((key, payload)) = run.next(&**file)? {
            self.next.push(Reverse((key, number, payload)));
        }
        Ok(())
    }

    pub(crate) fn next(&mut self) -> Option<Result<Pair>> {
        let held = self.held.as_slice().first();
        let of_run = match (self.next.peek(), held) {
            (Some(Reverse((key, ..))), Some((held, _))) => key <= held,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if !of_run {
            return self.held.next().map(Ok);
        }
        let Reverse((key, number, payload)) = self.next.pop()?;
        Some(self.fetch(number).map(|()| (key, payload)))
    }
}

impl Run {
    fn next(&mut self, file: &dyn Scratch) -> Result<Option<Pair>> {
        if self.taken == self.buffer.len() && self.at == self.end {
            return Ok(None);
        }
        self.have(8, file)?;
        let length = |at: usize| {
            let bytes = self.buffer.get(self.taken + at..).and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u32::from_be_bytes(*bytes)) as usize
        };
        let (key, payload) = (length(0), length(4));
        self.have(8 + key + payload, file)?;
        let start = self.taken + 8;
        let take = |from: usize, len: usize| self.buffer.get(from..from + len).unwrap_or_default().to_vec();
        let pair = (take(start, key), take(start + key, payload));
        self.taken = start + key + payload;
        Ok(Some(pair))
    }

    /// Reads on until this many unread bytes are there.
    fn have(&mut self, len: usize, file: &dyn Scratch) -> Result<()> {
        if self.buffer.len() - self.taken >= len {
            return Ok(());
        }
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let more = (len.max(SPILL_BUFFER_BYTES) - self.buffer.len()) as u64;
        let more = more.min(self.end - self.at) as usize;
        let had = self.buffer.len();
        self.buffer.resize(had + more, 0);
        file.read_at(self.at, self.buffer.get_mut(had..).unwrap_or_default())?;
        self.at += more as u64;
        Ok(())
    }
}
