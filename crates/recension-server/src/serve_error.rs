//! Why a server cannot start, or cannot go on.

use std::fmt;

/// An error for which a server cannot start, or cannot go on.
#[derive(Debug)]
pub enum ServeError {
    /// The configuration is invalid: the reason, and what to do.
    Configured(String),
    /// The store's error.
    Store(recension::Error),
    /// An address cannot be listened to, or a file cannot be read.
    Io {
        /// The action that failed.
        what: String,
        /// The system's error.
        source: std::io::Error,
    },
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Configured(why) => f.write_str(why),
            ServeError::Store(error) => error.fmt(f),
            ServeError::Io { what, source } => write!(f, "{what}: {source}"),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<recension::Error> for ServeError {
    fn from(error: recension::Error) -> Self {
        ServeError::Store(error)
    }
}
