//! Errors of the laboratory. A message says what was attempted, what happened, and what to do.

use std::fmt;
use std::io;

/// The results of the laboratory.
pub type Result<T> = std::result::Result<T, LabError>;

/// Why something could not be measured or reported.
#[derive(Debug)]
#[non_exhaustive]
pub enum LabError {
    /// A file or a process.
    Io {
        /// What was attempted.
        what: String,
        /// Why not.
        source: io::Error,
    },
    /// A subject answered with an error.
    Subject {
        /// What was attempted.
        what: String,
        /// What it said.
        why: String,
    },
    /// A subject answered, and wrongly.
    Wrong {
        /// What was compared.
        what: String,
        /// What the model says.
        expected: String,
        /// What the subject said.
        found: String,
    },
    /// It cannot be measured here, and why.
    Unavailable {
        /// The reason, for the report.
        reason: String,
    },
    /// The worker process ended, hung, or said something that is not understood.
    Worker {
        /// What happened.
        what: String,
    },
    /// The command line asks for something that there is not.
    Usage {
        /// What, and what there is.
        what: String,
    },
    /// A report cannot be read, or two cannot be compared.
    Report {
        /// Why, and what to do.
        what: String,
    },
    /// Ctrl-C.
    Interrupted,
    /// Nobody reads what is printed any more: no failure.
    ClosedPipe,
}

impl LabError {
    /// For `map_err`: an I/O error, with what was attempted.
    pub fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> LabError {
        let what = what.into();
        move |source| LabError::Io { what, source }
    }

    /// For `map_err`: an error of a subject, with what was attempted.
    pub fn subject<E: fmt::Display>(what: &str) -> impl FnOnce(E) -> LabError + '_ {
        move |error| LabError::Subject { what: what.to_owned(), why: error.to_string() }
    }

    /// The code that the program ends with.
    pub fn exit_code(&self) -> u8 {
        match self {
            LabError::Usage { .. } => 2,
            LabError::Interrupted => 130,
            LabError::ClosedPipe => 0,
            _ => 1,
        }
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabError::Io { what, source } => write!(f, "{what}: {source}"),
            LabError::Subject { what, why } => write!(f, "{what}: {why}"),
            LabError::Wrong { what, expected, found } => {
                write!(f, "{what}: wrong answer: expected {expected}, found {found}")
            }
            LabError::Unavailable { reason } => f.write_str(reason),
            LabError::Worker { what } | LabError::Usage { what } | LabError::Report { what } => f.write_str(what),
            LabError::Interrupted => f.write_str("interrupted; what was measured so far is kept"),
            LabError::ClosedPipe => f.write_str("the output was closed"),
        }
    }
}

impl std::error::Error for LabError {}
