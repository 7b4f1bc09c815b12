//! Functions of design documents: where they run, the design documents that have them, and the progress of long work.
//! docs/internals/views.md has the design.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use recension::json::quote;
use recension::{Guard, ReducedBlocks};
use recension_script::{Design, Functions, Pool, Program, error_of};

use crate::auth::databases::Database;
use crate::config::Config;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::SCRIPT_WORKERS_MAX;

/// Where functions of design documents run.
#[derive(Debug)]
pub struct Scripts {
    pool: Option<Pool>,
    builds: Mutex<BTreeMap<u64, Arc<Build>>>,
    /// Blocks of views' rows that were reduced.
    pub reduced: Arc<ReducedBlocks>,
    number: AtomicU64,
}

/// Work that takes long: a view that is being brought up to date, or a writing by query.
#[derive(Debug)]
pub(crate) struct Build {
    pub of_type: &'static str,
    pub database: String,
    /// The design document; empty if the work belongs to none.
    pub design: String,
    pub done: AtomicU64,
    pub total: AtomicU64,
    pub started: u64,
    pub(crate) updated: AtomicU64,
}

impl Scripts {
    /// As the configuration says.
    pub fn new(config: &Config) -> Self {
        let pool = config.script_worker.split_first().map(|(path, arguments)| {
            let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, SCRIPT_WORKERS_MAX);
            Pool::new(Program { path: path.into(), arguments: arguments.to_vec() }, workers)
        });
        Scripts { pool, builds: Mutex::default(), reduced: Arc::default(), number: AtomicU64::new(0) }
    }

    /// The workers, with the deadline that is set.
    fn functions(&self, deadline: Duration) -> Result<Functions> {
        let pool = self.pool.clone().ok_or_else(|| ApiError::not_there_yet("Functions in a program without them"))?;
        Ok(Functions { pool, deadline, log })
    }

    /// The same for functions of a database, whose requests wait behind each other.
    pub fn functions_of(&self, db: &Database, deadline: Duration) -> Result<Functions> {
        let functions = self.functions(deadline)?;
        let (branch, number) = db.identity();
        Ok(functions.of(branch, number.unwrap_or_default()))
    }

    /// The guard that calls validation functions; `None` if none can run.
    pub(crate) fn guard(&self, deadline: Duration) -> Option<Arc<dyn Guard>> {
        let functions = self.functions(deadline).ok()?;
        Some(Arc::new(recension_script::ScriptGuard::new(functions)))
    }

    /// Lists a view's update among the tasks, until the answer is dropped.
    pub fn build(self: &Arc<Self>, database: &str, design: &str) -> Building {
        self.work("indexer", database, design)
    }

    /// Lists work of some type among the tasks, until the answer is dropped.
    pub fn work(self: &Arc<Self>, of_type: &'static str, database: &str, design: &str) -> Building {
        let started = seconds();
        let build = Arc::new(Build {
            of_type,
            database: database.to_owned(),
            design: design.to_owned(),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
            started,
            updated: AtomicU64::new(started),
        });
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        self.builds.lock().insert(number, Arc::clone(&build));
        Building { scripts: Arc::clone(self), number, build }
    }

    /// Forgets reduced blocks: documents were erased.
    pub fn forget(&self) {
        self.reduced.forget();
    }

    /// The objects of `_active_tasks`.
    pub fn tasks(&self) -> Vec<String> {
        let task = |(number, build): (&u64, &Arc<Build>)| {
            let (done, total) = (build.done.load(Ordering::Relaxed), build.total.load(Ordering::Relaxed));
            let progress = (done * 100).checked_div(total).unwrap_or(0).min(100);
            let of_type = build.of_type;
            let design = match build.design.as_str() {
                "" => String::new(),
                design => format!("\"design_document\":{},", quote(design)),
            };
            format!(
                "{{\"node\":\"nonode@nohost\",\"pid\":\"<0.{number}.0>\",\"type\":\"{of_type}\",\"database\":{},\
                 {design}\"changes_done\":{done},\"total_changes\":{total},\"progress\":{progress},\
                 \"started_on\":{},\"updated_on\":{}}}",
                quote(&build.database),
                build.started,
                build.updated.load(Ordering::Relaxed)
            )
        };
        self.builds.lock().iter().map(task).collect()
    }

    /// How many views of a design document are being brought up to date.
    pub fn building(&self, database: &str, design: &str) -> bool {
        self.builds.lock().values().any(|build| build.database == database && build.design == design)
    }
}

/// Work that is under way.
pub struct Building {
    scripts: Arc<Scripts>,
    number: u64,
    build: Arc<Build>,
}

impl Building {
    /// Updates the progress.
    pub fn tell(&self, done: u64, total: u64) {
        self.build.done.store(done, Ordering::Relaxed);
        self.build.total.store(total, Ordering::Relaxed);
        self.build.updated.store(seconds(), Ordering::Relaxed);
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        self.scripts.builds.lock().remove(&self.number);
    }
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

pub fn log(line: &str) {
    tracing::info!(target: "recension::functions", "{line}");
}

/// A design document of a database as it is now, or at the moment that is read.
///
/// # Errors
/// 404 in CouchDB's words.
pub fn design(db: &Database, id: &str) -> Result<Design> {
    match db.opened().current(id)? {
        Some(document) if !document.deleted => Ok(Design::of(id, document.rev, &document.body)),
        Some(_) => Err(ApiError::deleted()),
        None => Err(ApiError::missing()),
    }
}

/// Members of a design document that do nothing, each with the one that may be meant.
pub fn misspelt(id: &str, body: &str) -> Vec<(String, &'static str)> {
    Design::of(id, "", body).misspelt()
}

/// An error of a worker, as an answer.
pub fn refused(error: recension_script::ScriptError) -> ApiError {
    error_of(error).into()
}
