//! What can go wrong with a script, in words that say what to do.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A request that had no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScriptError {
    /// It ran past its deadline, and its process was killed.
    Timeout {
        /// The deadline.
        deadline: Duration,
    },
    /// Its process died: of too much memory, mostly.
    Died {
        /// How that was seen.
        why: String,
    },
    /// All workers are taken.
    Busy,
    /// No process can be started.
    NotStarted {
        /// The program.
        program: PathBuf,
        /// Why.
        why: String,
    },
    /// The function, or the design document, failed; in CouchDB's words.
    Failed {
        /// The kind of error.
        error: String,
        /// What is wrong.
        reason: String,
    },
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::Timeout { deadline } => write!(
                f,
                "OS Process timed out: the function ran longer than {} ms and was stopped; make it do less, or raise \
                 os_process_timeout",
                deadline.as_millis()
            ),
            ScriptError::Died { why } => {
                write!(f, "the process that ran the function died ({why}); most often it took too much memory")
            }
            ScriptError::Busy => f.write_str("all processes that run functions are taken; try again"),
            ScriptError::NotStarted { program, why } => {
                write!(f, "{} cannot be started to run functions: {why}", program.display())
            }
            ScriptError::Failed { error, reason } => write!(f, "{error}: {reason}"),
        }
    }
}

impl std::error::Error for ScriptError {}
