//! Random histories of branches of documents, on every kind of store that a user has, against a model in which a branch
//! is a copy of a map (model.rs). Usually a few hundred steps each, a million in all with `RECENSION_LONG`;
//! `RECENSION_STEPS=n` is another length, `RECENSION_SEED=n RECENSION_SEEDS=1` one of them again.

use std::sync::Arc;

use recension::Store;
use recension::engine::{Engine, MemoryEngine, NativeEngine, NativeOptions};
use recension_conformance::crash::native::{key, settling_options};
use recension_conformance::crash::{env_number, for_seeds, test_clock, usual_or_long};
use recension_conformance::sim::{CrashPolicy, Rng, SimDisk};
use recension_conformance::suite::engines::scratch;
use recension_engines::sqlite::{SqliteEngine, SqliteOptions};
use tempfile::TempDir;

use crate::model::Run;

/// Where a store lies, so that it can be opened again, and be found after a crash.
pub(crate) enum Place {
    /// It is lost with its process.
    Memory,
    /// The native engine on a simulated disk, perhaps encrypted.
    Disk(SimDisk, Box<NativeOptions>),
    /// A file in a folder.
    Sqlite(TempDir),
}

impl Place {
    fn native(is_sealed: bool) -> Self {
        let options = NativeOptions { key: is_sealed.then(key), ..settling_options(test_clock()) };
        Place::Disk(SimDisk::new(), Box::new(options))
    }

    /// Opens the store.
    pub(crate) fn open(&self) -> Store {
        let engine: Arc<dyn Engine> = match self {
            Place::Memory => Arc::new(MemoryEngine::new()),
            Place::Disk(disk, options) => Arc::new(NativeEngine::open(disk.arc(), (**options).clone()).unwrap()),
            Place::Sqlite(folder) => {
                let options = SqliteOptions { page_rows: 3, ..SqliteOptions::default() };
                Arc::new(SqliteEngine::open(&folder.path().join("store.db"), options).unwrap())
            }
        };
        Store::with_clock(engine, test_clock()).unwrap()
    }

    /// Whether the store is still there when it is opened again.
    pub(crate) fn lasts(&self) -> bool {
        !matches!(self, Place::Memory)
    }

    /// What a crash leaves, while the store is open: everything that was acknowledged.
    pub(crate) fn crash(&mut self, rng: &mut Rng) {
        match self {
            Place::Memory => {}
            Place::Disk(disk, _) => {
                let policy = CrashPolicy::ALL[rng.index(CrashPolicy::ALL.len())];
                *disk = disk.crash(rng.next(), policy);
            }
            Place::Sqlite(folder) => {
                let found = scratch();
                for file in std::fs::read_dir(folder.path()).unwrap() {
                    let file = file.unwrap();
                    // What the file of shared memory says is made anew of the log.
                    if !file.file_name().to_string_lossy().ends_with("-shm") {
                        std::fs::copy(file.path(), found.path().join(file.file_name())).unwrap();
                    }
                }
                *folder = found;
            }
        }
    }
}

fn histories(salt: u64, all: u64, usual_steps: u64, place: impl Fn(u64) -> Place + Sync) {
    let steps = env_number("RECENSION_STEPS", usual_or_long(usual_steps, 10_000));
    for_seeds(usual_or_long(4, all), |seed| {
        let mut run = Run::new(place(seed), Rng::for_part(seed, salt));
        for step in 0..steps {
            let taken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run.step()));
            taken.map_err(|panic| {
                let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
                format!("step {step} of {steps}, {}: {}", run.told(), text.unwrap_or_default())
            })?;
        }
        Ok(steps)
    });
}

#[test]
fn a_branch_in_memory_is_a_copy_of_a_map_whatever_happens() {
    histories(1, 40, 400, |_| Place::Memory);
}

#[test]
fn a_branch_of_a_native_store_is_a_copy_of_a_map_whatever_happens() {
    histories(2, 40, 300, |seed| Place::native(seed.is_multiple_of(4)));
}

#[test]
fn a_branch_of_an_sqlite_store_is_a_copy_of_a_map_whatever_happens() {
    histories(3, 20, 150, |_| Place::Sqlite(scratch()));
}
