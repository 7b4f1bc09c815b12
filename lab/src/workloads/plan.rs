//! The plan of a run: the suite's sizes, the subjects, the directory.

use std::path::PathBuf;
use std::time::Duration;

use crate::custom_workload::Workload;
use crate::subjects::{Given, Kind};

/// The mode of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// About two minutes a suite: for a look.
    Quick,
    /// Some minutes: more rounds.
    Usual,
    /// Tens of minutes, in sittings: for figures that are quoted.
    Full,
}

impl Mode {
    /// Its name in a report, its flag on the command line, and its name for `make bench`.
    pub fn names(self) -> [&'static str; 3] {
        match self {
            Mode::Quick => ["quick", " --quick", " QUICK=1"],
            Mode::Usual => ["default", "", ""],
            Mode::Full => ["full", " --full", " FULL=1"],
        }
    }
}

/// A run.
#[derive(Clone)]
pub struct Plan {
    /// The mode.
    pub mode: Mode,
    /// The number of sittings.
    pub sittings: usize,
    /// Rows, if a number was chosen.
    pub rows: Option<u64>,
    /// The budget of memory of the rows that are measured within one, if it was chosen.
    pub budget_bytes: Option<u64>,
    /// The subjects.
    pub subjects: Vec<Kind>,
    /// The servers and programs that the run was given.
    pub given: Given,
    /// The directory of the stores. It belongs to the run and is removed.
    pub dir: PathBuf,
    /// This program, to start workers with.
    pub program: PathBuf,
    /// The user's own workload, if one was given.
    pub workload: Option<Workload>,
    /// The seed of every random choice.
    pub seed: u64,
    /// How long to wait at most for a quiet machine, before the run and before a sitting is repeated.
    pub wait: Duration,
    /// Whether a sync reaches no disk there, so that no durable tier is claimed.
    pub on_memory_filesystem: bool,
}

impl Plan {
    /// `quick`, `default`, `full`, or `custom`.
    pub fn mode_name(&self) -> &'static str {
        let [name, ..] = self.mode.names();
        if self.rows.is_some() { "custom" } else { name }
    }

    /// How many sittings may be done again because something disturbed them: a third. Quick runs are for a look.
    pub fn repeats(&self) -> usize {
        if self.wait.is_zero() || self.mode == Mode::Quick { 0 } else { self.sittings.div_ceil(3) }
    }

    /// One of three, by mode.
    pub fn pick<T>(&self, quick: T, usual: T, full: T) -> T {
        match self.mode {
            Mode::Quick => quick,
            Mode::Usual => usual,
            Mode::Full => full,
        }
    }
}
