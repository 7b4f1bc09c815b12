//! JavaScript of design documents, in worker processes: the program itself started anew, which can be killed at a
//! deadline and opens no files and no sockets. docs/internals/views.md has the design.
//!
//! ```text
//! Pool     Pool::new(Program{path, arguments}, workers_max)   .run(World{name, ddoc}, request, deadline)? -> JSON
//! Script   Script::new(pool, name, ddoc, deadline)   .map(code, &docs)?   .ask(command, &[(member, json)])? -> Answer
//! Design   Design::of(id, rev, body)   .view(name, partitioned, &functions)? -> DesignView   .script(..)   .check(..)?
//! MapProgram  MapProgram::of(code)?   a map function that needs no JavaScript
//! worker   run_worker()?   in the process that was started (fails without feature `worker`)
//! ```
#![warn(missing_docs)]

#[cfg(feature = "worker")]
mod confine;
mod design;
mod error;
pub mod frame;
mod guard;
pub mod limits;
mod native;
mod overruns;
mod pool;
mod script;
#[cfg(feature = "worker")]
mod worker;

pub use design::{Design, DesignView, Functions, error_of};
pub use error::ScriptError;
pub use guard::ScriptGuard;
pub use native::Program as MapProgram;
pub use pool::{Pool, Program, World};
pub use script::{Answer, Mapped, Member, Script};
#[cfg(feature = "worker")]
pub use worker::run as run_worker;

/// Runs nothing: this program has no interpreter.
///
/// # Errors
/// Always.
#[cfg(not(feature = "worker"))]
pub fn run_worker() -> std::io::Result<()> {
    Err(std::io::Error::other(ScriptError::NotBuiltIn))
}
