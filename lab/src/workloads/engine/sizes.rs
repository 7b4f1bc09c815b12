//! The sizes of a run of the suite.

use crate::data::ROW_BYTES;
use crate::subjects::OpenOptions;
use crate::workloads::{Mode, Plan};

/// Sizes of a run.
pub(super) struct Sizes {
    pub(super) rows: u64,
    pub(super) history_rows: u64,
    pub(super) killed_rows: u64,
    pub(super) documents: u64,
    pub(super) rounds: usize,
    pub(super) load_rounds: usize,
    pub(super) gets: u64,
    pub(super) ranges: u64,
    pub(super) puts: u64,
    pub(super) killed_rounds: usize,
    pub(super) offered_rate: u64,
    pub(super) offered_rounds: usize,
    pub(super) offered_millis: u64,
    pub(super) traced_commits: u64,
    /// If it is measured: the budget of memory, and three times as many bytes of rows.
    pub(super) beyond_memory: Option<(u64, u64)>,
    pub(super) beyond_rounds: usize,
}

/// The budget of memory of a full run, if none was given.
const BUDGET_BYTES: u64 = 100 << 20;
/// A budget in which engines can live.
const LEAST_BUDGET_BYTES: u64 = 64 << 20;
/// Rows a commit of a load.
pub(super) const LOAD_COMMIT: u64 = 1000;
/// Rows of a range.
pub(super) const RANGE_ROWS: u64 = 100;
/// Writers of `put_durable_16`.
pub(super) const WRITERS: u64 = 16;

impl Sizes {
    pub(super) fn of(plan: &Plan) -> Self {
        let rows = plan.rows.unwrap_or(plan.pick(50_000, 200_000, 300_000)).max(1);
        // A trial of the laboratory itself, as in its tests: every step, nothing to be believed.
        let trial = rows < 5_000;
        let rounds = if trial { 2 } else { plan.pick(5, 10, 10) };
        let scaled = |usual: u64| usual.min(rows).max(1);
        let third = rows * ROW_BYTES / 3;
        let budget_bytes = plan
            .budget_bytes
            .or((third >= LEAST_BUDGET_BYTES).then_some(third))
            .or((plan.mode == Mode::Full && !trial).then_some(BUDGET_BYTES));
        Sizes {
            rows,
            history_rows: (rows * 3 / 10).max(1),
            killed_rows: (rows / 2).max(1),
            documents: scaled(50_000),
            rounds,
            load_rounds: if trial { 2 } else { 10 },
            gets: scaled(plan.pick(10_000, 10_000, 20_000)),
            ranges: scaled(plan.pick(200, 200, 500)),
            puts: if trial { 4 } else { plan.pick(40, 40, 100) },
            killed_rounds: if trial { 1 } else { plan.pick(2, 3, 2) },
            offered_rate: 500,
            offered_rounds: if trial { 1 } else { plan.pick(2, 3, 1) },
            // The thousandth part of 600 is one; whoever measures a million rows has time for 3,000.
            offered_millis: if trial {
                40
            } else if rows >= 500_000 {
                6000
            } else {
                plan.pick(1200, 1200, 4000)
            },
            traced_commits: if trial { 10 } else { 200 },
            beyond_memory: budget_bytes
                .map(|bytes| (bytes, if trial { rows } else { (3 * bytes).div_ceil(ROW_BYTES) })),
            beyond_rounds: if trial { 1 } else { 5 },
        }
    }

    /// In words, for the report.
    pub(super) fn words(&self) -> String {
        let beyond = self.beyond_memory.map(|(bytes, rows)| format!(", {rows} beyond a budget of {} MiB", bytes >> 20));
        format!(
            "{} rows of 16 + 300 bytes ({} with history, {} for the kill{}), {} rounds of {} gets, {} ranges or {} \
             puts, offered rate {}/s for {} ms, {} documents",
            self.rows,
            self.history_rows,
            self.killed_rows,
            beyond.unwrap_or_default(),
            self.rounds,
            self.gets,
            self.ranges,
            self.puts,
            self.offered_rate,
            self.offered_millis,
            self.documents
        )
    }

    /// The options of stores: their caches could hold all of the data twice.
    pub(super) fn options(&self, history: bool) -> OpenOptions {
        OpenOptions { history, cache_bytes: (2 * self.rows * ROW_BYTES).max(64 << 20) }
    }
}
