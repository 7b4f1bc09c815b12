//! What a run is to be: which suite's sizes, which subjects, where.

use std::path::PathBuf;

use super::mine::workload::Workload;
use crate::subjects::{Given, Kind};

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Minutes.
    Quick,
    /// Tens of minutes, a million rows.
    Full,
}

/// A run.
#[derive(Clone)]
pub struct Plan {
    /// How much.
    pub mode: Mode,
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
    /// `quick`, `full`, or `custom`.
    pub fn mode_name(&self) -> &'static str {
        match (self.rows, self.mode) {
            (Some(_), _) => "custom",
            (None, Mode::Quick) => "quick",
            (None, Mode::Full) => "full",
        }
    }

    /// One of two, by mode.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        match self.mode {
            Mode::Quick => quick,
            Mode::Full => full,
        }
    }
}
