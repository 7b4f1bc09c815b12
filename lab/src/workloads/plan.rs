//! What a run is to be: which suite's sizes, which subjects, where.

use std::path::PathBuf;

use crate::custom_workload::Workload;
use crate::subjects::{Given, Kind};

/// How much is measured.
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
    /// Its name in a report, what asks for it on the command line, and what asks for it of `make bench`.
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
    /// How much.
    pub mode: Mode,
    /// How often all of it.
    pub sittings: usize,
    /// Rows, where they were chosen.
    pub rows: Option<u64>,
    /// The budget of memory of the rows that are measured within one, where it was chosen.
    pub budget_bytes: Option<u64>,
    /// Who.
    pub subjects: Vec<Kind>,
    /// What the run was given.
    pub given: Given,
    /// Where the stores lie; it is the run's own and is removed.
    pub dir: PathBuf,
    /// This program, to start workers with.
    pub program: PathBuf,
    /// The user's own, where one was given.
    pub workload: Option<Workload>,
    /// Of every random choice.
    pub seed: u64,
    /// Whether a sync reaches no disk there, so that no durable tier is claimed.
    pub on_memory_filesystem: bool,
}

impl Plan {
    /// `quick`, `default`, `full`, or `custom`.
    pub fn mode_name(&self) -> &'static str {
        let [name, ..] = self.mode.names();
        if self.rows.is_some() { "custom" } else { name }
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
