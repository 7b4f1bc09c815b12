//! Crash tests. A workload runs on the simulated disk, the disk crashes or fails at every call of it, and the store
//! found afterwards is compared with the acknowledged commits. The checks return errors and do not panic, so that the
//! tests of the tests can see them fail.

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
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use recension::disk::Disk;
use recension::engine::{Clock, Engine, Result};

pub use check::{Bounds, check_answers, check_rows_at_head, check_store};
pub use damage::{Answer, answer_after_damage};
pub use faults::{FaultReport, fault_sweep, full_disk_sweep};
pub use history::{Attempt, History, Model, no_violations, run, test_clock};
pub use recover::check_recovery;
pub use sweep::{SweepOptions, SweepReport, sweep, sweep_history};
pub use toy::{Slip, ToyEngine};
pub use workload::{Change, Shape, Step, TREES, batch_of, random_changes, random_workload};

/// Opens a store on a disk. Makes it if there is none.
pub type Opener = dyn Fn(Arc<dyn Disk>, Arc<dyn Clock>) -> Result<Arc<dyn Engine>> + Sync;

/// A description of a failure that a check found.
pub type Finding = String;

/// Runs `test` once for each seed, on as many threads as there are processors, and panics with all findings.
/// All of the seeds in a long run (`RECENSION_LONG`), usually a quarter. `RECENSION_SEEDS` is another number,
/// `RECENSION_SEED` the first one.
///
/// # Panics
/// With the findings, each with the variables that repeat it.
pub fn for_seeds<T: std::fmt::Debug>(all: u64, test: impl Fn(u64) -> std::result::Result<T, Finding> + Sync) {
    let first = env_number("RECENSION_SEED", 1);
    let seeds = first..first + env_number("RECENSION_SEEDS", usual_or_long(all.div_ceil(4), all));
    let next = AtomicU64::new(seeds.start);
    let findings = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if !seeds.contains(&seed) {
                        return;
                    }
                    match test(seed) {
                        Ok(report) => println!("seed {seed}: {report:?}"),
                        Err(what) => findings.lock().push(format!("RECENSION_SEED={seed} RECENSION_SEEDS=1: {what}")),
                    }
                }
            });
        }
    });
    let findings = findings.into_inner();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// The number in an environment variable, for longer runs than usual. `usual` if it is not set.
pub fn env_number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The first number in a usual run, the second in a long one (`RECENSION_LONG`).
pub fn usual_or_long(usual: u64, long: u64) -> u64 {
    if std::env::var_os("RECENSION_LONG").is_some() { long } else { usual }
}

/// Of how many disk calls a sweep takes one: in a long run each of them, usually each 17th. Which ones follows from
/// the seed. `RECENSION_EVERY` says another number.
pub fn usual_every() -> u64 {
    env_number("RECENSION_EVERY", usual_or_long(17, 1)).max(1)
}
