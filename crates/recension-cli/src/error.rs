//! The errors of commands: the message, and the exit code that programs use.

use std::fmt;
use std::io;
use std::process::ExitCode;

use recension::Error;
use recension::conditions::ConditionError;
use recension::engine::EngineError;

/// The result of a command.
pub type Result<T> = std::result::Result<T, CliError>;

/// Why a command ended. Each variant has an exit code of its own, listed in `recension --help`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CliError {
    /// What was asked for is not there.
    #[error("{0}")]
    NotFound(String),
    /// An argument is wrong.
    #[error("{0}")]
    Usage(String),
    /// The document has another revision, or something is taken already.
    #[error("{0}")]
    Conflict(String),
    /// Bytes of the store are not what was written.
    #[error("{0}")]
    Damaged(String),
    /// An input is malformed, or a document is refused.
    #[error("{0}")]
    Input(String),
    /// The store or a file could not be opened, read or written.
    #[error("{0}")]
    Io(String),
    /// Ctrl-C.
    #[error("{0}")]
    Interrupted(String),
    /// The reader of our output has closed it. This is no failure.
    #[error("the output was closed")]
    ClosedPipe,
}

impl CliError {
    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            CliError::ClosedPipe => 0,
            CliError::NotFound(_) => 1,
            CliError::Usage(_) => 2,
            CliError::Conflict(_) => 3,
            CliError::Damaged(_) => 4,
            CliError::Input(_) => 5,
            CliError::Io(_) => 6,
            CliError::Interrupted(_) => 130,
        }
    }

    /// The exit code, as the process gives it.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code())
    }

    /// The same error with a text before its message.
    #[must_use]
    pub fn before(self, text: &str) -> Self {
        self.map(|what| format!("{text}{what}"))
    }

    /// The same error with a text after its message.
    #[must_use]
    pub fn with(self, text: &str) -> Self {
        self.map(|what| format!("{what}{text}"))
    }

    fn map(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            CliError::NotFound(what) => CliError::NotFound(change(what)),
            CliError::Usage(what) => CliError::Usage(change(what)),
            CliError::Conflict(what) => CliError::Conflict(change(what)),
            CliError::Damaged(what) => CliError::Damaged(change(what)),
            CliError::Input(what) => CliError::Input(change(what)),
            CliError::Io(what) => CliError::Io(change(what)),
            CliError::Interrupted(what) => CliError::Interrupted(change(what)),
            CliError::ClosedPipe => CliError::ClosedPipe,
        }
    }

    /// An error of the operating system, with the attempted action.
    pub fn io(doing: impl fmt::Display, error: &io::Error) -> Self {
        CliError::Io(format!("{doing}: {error}"))
    }
}

/// An I/O error without a description comes only from writing our output.
impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => CliError::ClosedPipe,
            _ => CliError::io("writing the output", &error),
        }
    }
}

impl From<ConditionError> for CliError {
    fn from(error: ConditionError) -> Self {
        CliError::Usage(error.to_string())
    }
}

impl From<EngineError> for CliError {
    fn from(error: EngineError) -> Self {
        let what = error.to_string();
        match error {
            EngineError::Conflict { .. } | EngineError::Kept { .. } => CliError::Conflict(what),
            EngineError::Damaged { .. } | EngineError::Diverged { .. } => CliError::Damaged(what),
            EngineError::TooLarge { .. } => CliError::Input(what),
            EngineError::BadAddress { .. }
            | EngineError::Branch { .. }
            | EngineError::BadBranch { .. }
            | EngineError::NotYet { .. } => CliError::Usage(what),
            EngineError::Forgotten { .. } | EngineError::NoSuchBranch { .. } => CliError::NotFound(what),
            _ => CliError::Io(what),
        }
    }
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        let what = error.to_string();
        match error {
            Error::Engine(error) => error.into(),
            Error::InMerge { error, .. } | Error::Stopped { error, .. } => CliError::from(*error).map(|_| what),
            Error::Conflict { .. } | Error::Busy { .. } | Error::NotUnique { .. } | Error::IndexExists { .. } => {
                CliError::Conflict(what)
            }
            Error::NoSuchCollection { .. }
            | Error::NoSuchDocument { .. }
            | Error::NoSuchRevision { .. }
            | Error::NoSuchAttachment { .. }
            | Error::NoSuchIndex { .. } => CliError::NotFound(what),
            Error::BadName { .. }
            | Error::BadRevision { .. }
            | Error::BadMoment { .. }
            | Error::MomentAhead { .. }
            | Error::PositionAhead { .. }
            | Error::SortTooLarge { .. } => CliError::Usage(what),
            Error::DamagedRow { .. } => CliError::Damaged(what),
            Error::NewerLayout { .. } | Error::Input { .. } => CliError::Io(what),
            _ => CliError::Input(what),
        }
    }
}
