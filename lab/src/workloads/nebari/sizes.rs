//! The sizes of the suite.

use super::table::{Ask, Blob, Phase, Set, Work};
use crate::subjects::OpenOptions;
use crate::workloads::Plan;

pub(super) struct Sizes {
    /// Entries of the three sets. The largest is made only if there is a number.
    sets: (u64, u64, Option<u64>),
    pub(super) rounds: usize,
    /// Rows of a round at most.
    written_max: u64,
    /// Transactions of a round, if each has one entry.
    singles: u64,
    pub(super) gets: u64,
    /// Blobs of a round, and their bytes. The largest are written only if there is a number.
    blobs: [(Option<u64>, u64); 3],
    /// Rounds of the largest blobs.
    large_rounds: usize,
}

impl Sizes {
    pub(super) fn of(plan: &Plan) -> Self {
        let chosen = plan.rows.map(|rows| rows.max(64));
        let most = chosen.unwrap_or(u64::MAX);
        // A trial of the laboratory itself, as in its tests: every step, nothing to be believed.
        let trial = most < 1000;
        let largest = chosen.or(plan.pick(None, Some(100_000), Some(1_000_000)));
        Sizes {
            sets: (most.min(1024), most.min(10_000), largest),
            rounds: if trial { 2 } else { plan.pick(5, 7, 3) },
            written_max: most.min(plan.pick(10_000, 20_000, 20_000)),
            singles: if trial { 5 } else { plan.pick(50, 50, 100) },
            gets: if trial { 20 } else { plan.pick(2_000, 10_000, 10_000) },
            blobs: if trial {
                [(Some(3), 1024), (Some(2), 1 << 16), (Some(1), 1 << 20)]
            } else {
                [
                    (Some(plan.pick(50, 100, 50)), 1024),
                    (Some(plan.pick(4, 8, 4)), 1 << 20),
                    (plan.pick(None, Some(1), Some(1)), 64 << 20),
                ]
            },
            large_rounds: if trial { 1 } else { plan.pick(3, 3, 5) },
        }
    }

    pub(super) fn words(&self) -> String {
        let (small, middle, largest) = self.sets;
        let largest = largest.map_or_else(String::new, |entries| format!(" and {entries}"));
        format!(
            "sets of {small}, {middle}{largest} entries of 58 to 1,031 bytes under ids of 8 bytes, {} rounds of {} \
             gets or at least {} writes; history is kept where a row says so (ours keeps it always)",
            self.rounds, self.gets, self.singles
        )
    }

    /// Entries that are there before a phase's steps; `None` if the phase is not in this run.
    pub(super) fn loaded(&self, phase: &Phase) -> Option<u64> {
        let (small, middle, largest) = self.sets;
        match phase.work {
            Work::Insert => Some(0),
            Work::Blobs(blob) => self.blob(blob).0.map(|_| 0),
            Work::Update | Work::Read(Set::Middle) => Some(middle),
            // As many entries as are deleted, and a quarter more, which remain.
            Work::Delete => {
                let writes = phase.steps.iter().map(|step| match step.ask {
                    Ask::Write(per_commit) => self.written(phase, per_commit),
                    _ => 0,
                });
                Some(writes.sum::<u64>() * (self.rounds as u64 + 1) * 5 / 4)
            }
            Work::Read(Set::Small) => Some(small),
            Work::Read(Set::Largest) => largest,
        }
    }

    /// Rows of one round of writes: two transactions, or the most that there are.
    pub(super) fn written(&self, phase: &Phase, per_commit: u64) -> u64 {
        match phase.work {
            Work::Blobs(blob) => self.blob(blob).0.unwrap_or_default(),
            _ if per_commit == 1 => self.singles,
            _ => (2 * per_commit).min(self.written_max),
        }
    }

    /// Blobs of a round, if they are written in this run, and the bytes of each.
    pub(super) fn blob(&self, blob: Blob) -> (Option<u64>, u64) {
        let [small, middle, largest] = self.blobs;
        match blob {
            Blob::Small => small,
            Blob::Middle => middle,
            Blob::Largest => largest,
        }
    }

    pub(super) fn rounds(&self, phase: &Phase) -> (usize, bool) {
        (if phase.work == Work::Blobs(Blob::Largest) { self.large_rounds } else { self.rounds }, true)
    }

    pub(super) fn options(&self, phase: &Phase) -> OpenOptions {
        let (_, middle, _) = self.sets;
        let entries = self.loaded(phase).unwrap_or_default().max(middle);
        OpenOptions { history: phase.history, cache_bytes: (entries * 2048).max(64 << 20) }
    }
}
