//! Where the time of commits goes on this node, in counters for `stats`: what an operator looks at first if a cluster
//! is slow.

use std::time::{Duration, Instant};

/// Counts since the store was opened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    /// Records that this node has written, and appends that another node's record came before.
    pub(super) records: u64,
    pub(super) lost: u64,
    /// Letting other nodes go first.
    pub(super) turns: Duration,
    /// Checking and encoding groups.
    pub(super) drafts: Duration,
    /// Waiting for the system's answer to appends, of which so much was lost.
    pub(super) appends: Duration,
    pub(super) lost_appends: Duration,
    /// Reading and applying other nodes' records while a group of ours waits.
    pub(super) catching_up: Duration,
    /// Applying records of ours.
    pub(super) applying: Duration,
}

impl Spent {
    /// As `stats` lists it.
    pub(super) fn details(&self) -> [(&'static str, u64, &'static str); 8] {
        let micros = |spent: Duration| spent.as_micros() as u64;
        [
            ("records written", self.records, "records"),
            ("appends lost to other nodes", self.lost, "appends"),
            ("time in turns", micros(self.turns), "microseconds"),
            ("time in drafts", micros(self.drafts), "microseconds"),
            ("time in appends", micros(self.appends), "microseconds"),
            ("time in appends that were lost", micros(self.lost_appends), "microseconds"),
            ("time in catching up", micros(self.catching_up), "microseconds"),
            ("time in applying", micros(self.applying), "microseconds"),
        ]
    }
}

/// Adds the time since `began`, which is now from here on.
pub(super) fn add(spent: &mut Duration, began: &mut Instant) -> Duration {
    let now = Instant::now();
    let took = now.duration_since(*began);
    *spent += took;
    *began = now;
    took
}
