//! Errors of scripts. Their messages say what to do.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The error of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScriptError {
    /// It ran past its deadline, and its process was killed.
    Timeout {
        /// The deadline.
        deadline: Duration,
    },
    /// It ran past its deadline a moment ago, and is not run again yet.
    Rests {
        /// The deadline.
        deadline: Duration,
        /// How long it still rests.
        left: Duration,
    },
    /// Its process died, most often for lack of memory.
    Died {
        /// The observation that shows it.
        why: String,
    },
    /// All workers are in use.
    Busy,
    /// No process can be started.
    NotStarted {
        /// The program.
        program: PathBuf,
        /// The reason.
        why: String,
    },
    /// The program has no interpreter.
    NotBuiltIn,
    /// The function or the design document failed. The words are CouchDB's.
    Failed {
        /// The kind of error.
        error: String,
        /// The reason.
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
            ScriptError::Rests { deadline, left } => write!(
                f,
                "OS Process timed out: the function ran longer than {} ms before and was stopped; it is run again in \
                 {} s, or at once if its design document is changed",
                deadline.as_millis(),
                left.as_secs() + 1
            ),
            ScriptError::Died { why } => {
                write!(f, "the process that ran the function died ({why}); most often it took too much memory")
            }
            ScriptError::Busy => f.write_str("all processes that run functions are taken; try again"),
            ScriptError::NotStarted { program, why } => {
                write!(f, "{} cannot be started to run functions: {why}", program.display())
            }
            ScriptError::NotBuiltIn => f.write_str(
                "JavaScript functions need the cargo feature `script`, which this program was built without",
            ),
            ScriptError::Failed { error, reason } => write!(f, "{error}: {reason}"),
        }
    }
}

impl std::error::Error for ScriptError {}
