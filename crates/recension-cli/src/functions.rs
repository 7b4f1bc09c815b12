//! Functions of design documents. They run in this program, started anew with an argument that no command has. The new
//! process checks for that argument before anything else.

use std::process::ExitCode;
use std::sync::Arc;

use recension::Guard;
use recension_script::{Functions, Pool, Program, ScriptGuard};

/// The argument of a process that runs functions.
const WORKER: &str = "__run-functions";

/// Processes that run functions for one command.
const WORKERS_MAX: usize = 2;

/// Whether this process was started to run functions.
pub fn is_worker() -> bool {
    std::env::args_os().nth(1).is_some_and(|argument| argument == WORKER)
}

/// Runs functions until the process that asked for them is gone.
pub fn work() -> ExitCode {
    if recension_script::run_worker().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The program and the argument that run functions. Empty if the path of this program is not known.
pub fn worker() -> Vec<String> {
    let path = std::env::current_exe().ok().and_then(|path| path.into_os_string().into_string().ok());
    path.into_iter().flat_map(|path| [path, WORKER.to_owned()]).collect()
}

/// The processes that run functions. `None` if the path of this program is not known.
pub fn functions() -> Option<Functions> {
    let worker = worker();
    let (path, arguments) = worker.split_first()?;
    let program = Program { path: path.into(), arguments: arguments.to_vec() };
    let pool = Pool::new(program, WORKERS_MAX);
    Some(Functions { pool, deadline: recension_script::limits::DEADLINE_DEFAULT, log: |_| () })
}

/// The validation functions, which decide whether documents may be written. No process is started before there is one.
pub fn guard() -> Option<Arc<dyn Guard>> {
    Some(Arc::new(ScriptGuard::new(functions()?)))
}
