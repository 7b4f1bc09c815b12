//! Errors of scripts. Their messages say what to do.

use std::path::PathBuf;
use std::time::Duration;

/// The error of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// It ran past its deadline, and its process was killed.
    #[error(
        "OS Process timed out: the function ran longer than {} ms and was stopped; make it do less, or raise \
         os_process_timeout",
        .deadline.as_millis()
    )]
    Timeout {
        /// The deadline.
        deadline: Duration,
    },
    /// It ran past its deadline a moment ago, and is not run again yet.
    #[error(
        "OS Process timed out: the function ran longer than {} ms before and was stopped; it is run again in {} s, or \
         at once if its design document is changed",
        .deadline.as_millis(),
        .left.as_secs() + 1
    )]
    Rests {
        /// The deadline.
        deadline: Duration,
        /// How long it still rests.
        left: Duration,
    },
    /// Its process died, most often for lack of memory.
    #[error("the process that ran the function died ({why}); most often it took too much memory")]
    Died {
        /// The observation that shows it.
        why: String,
    },
    /// All workers are in use.
    #[error("all processes that run functions are taken; try again")]
    Busy,
    /// No process can be started.
    #[error("{} cannot be started to run functions: {why}", .program.display())]
    NotStarted {
        /// The program.
        program: PathBuf,
        /// The reason.
        why: String,
    },
    /// The program has no interpreter.
    #[error("JavaScript functions need the cargo feature `script`, which this program was built without")]
    NotBuiltIn,
    /// The function or the design document failed. The words are CouchDB's.
    #[error("{error}: {reason}")]
    Failed {
        /// The kind of error.
        error: String,
        /// The reason.
        reason: String,
    },
}
