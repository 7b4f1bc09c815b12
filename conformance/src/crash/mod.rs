//! Crash tests: a workload runs on the simulated disk, the disk crashes or fails at every call of it,
//! and what is found afterwards is compared with what was acknowledged. The checks answer errors and
//! do not panic, so that the tests of the tests can see them fail.

mod check;
mod damage;
mod faults;
mod history;
pub mod native;
mod recover;
mod sweep;
mod toy;
mod workload;

use std::sync::Arc;

use recension::disk::Disk;
use recension::engine::{Clock, Engine, Result};

pub use check::{Bounds, check_answers, check_store};
pub use damage::{Answer, answer_after_damage};
pub use faults::{FaultReport, fault_sweep};
pub use history::{Attempt, History, Model, no_violations, run, test_clock};
pub use recover::check_recovery;
pub use sweep::{SweepOptions, SweepReport, sweep, sweep_history};
pub use toy::{Slip, ToyEngine};
pub use workload::{Change, Shape, Step, TREES, batch_of, random_changes, random_workload};

/// Opens a store on a disk, and makes it where there is none.
pub type Opener = dyn Fn(Arc<dyn Disk>, Arc<dyn Clock>) -> Result<Arc<dyn Engine>> + Sync;

/// What a check found wrong, in words that lead to it.
pub type Finding = String;

/// The number in an environment variable, for runs longer than the usual; `usual` where it is not set.
pub fn env_number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
