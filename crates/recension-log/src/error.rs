//! Errors of a log. The most important difference is whether something was written.

use std::fmt;

use recension_engine::EngineError;

use crate::Position;

/// The result of an operation on a log.
pub type Result<T> = std::result::Result<T, LogError>;

/// A log's error.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LogError {
    /// The system cannot be reached or does not answer now; nothing was written.
    Unavailable(String),
    /// The system did not say whether it has written.
    Unknown(String),
    /// The position was given up.
    Trimmed {
        /// The position that was asked for.
        asked: Position,
        /// The first position that is still there, if it is known.
        first: Option<Position>,
    },
    /// Stored bytes differ from the written ones, or are gone.
    Damaged {
        /// Where.
        place: String,
        /// What is wrong.
        what: String,
    },
    /// A node has a record that the log does not have, or the log has another one there: its system was put back to an
    /// older copy, or another log took its name.
    Diverged {
        /// The record.
        position: Position,
        /// What the log has instead.
        what: String,
    },
    /// The log was written by a newer version of this software.
    NewerFormat {
        /// The record with that version.
        position: Position,
        /// Its format version.
        found: u32,
        /// The newest format version that this software reads.
        supported: u32,
    },
    /// The system refuses, and will refuse again: no such database, a wrong password, missing rights, no room.
    Refused {
        /// The system.
        system: &'static str,
        /// Its answer, or what is wrong.
        why: String,
    },
}

impl LogError {
    /// Whether trying again later may help.
    pub fn may_pass(&self) -> bool {
        matches!(self, LogError::Unavailable(_) | LogError::Unknown(_))
    }

    /// A record that a node has, and the log has not.
    pub(crate) fn diverged(position: Position, what: impl Into<String>) -> Self {
        LogError::Diverged { position, what: what.into() }
    }

    /// Damage of a record.
    pub(crate) fn damaged(position: Position, what: impl Into<String>) -> Self {
        LogError::Damaged { place: format!("record {position}"), what: what.into() }
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        EngineError::from(self.clone()).fmt(f)
    }
}

impl std::error::Error for LogError {}

impl From<LogError> for EngineError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Unavailable(why) => EngineError::Unavailable { why },
            LogError::Unknown(why) => EngineError::Unknown { why },
            LogError::Trimmed { asked, first } => {
                let first = first.map_or_else(String::new, |first| format!(" and begins at {first}"));
                EngineError::Backend {
                    engine: "shared log",
                    message: format!(
                        "record {asked} is wanted, and the log was trimmed{first}; a new cache begins with a snapshot"
                    ),
                }
            }
            LogError::Damaged { place, what } => EngineError::damaged(format!("shared log, {place}"), 0, what),
            LogError::Diverged { position, what } => EngineError::Diverged {
                what: format!(
                    "this node has record {position} of the shared log, and {what}: the log's system was put back to \
                     an older copy (a restored backup, a standby that lagged), or another log took its name"
                ),
            },
            LogError::NewerFormat { position, found, supported } => {
                EngineError::NewerFormat { file: format!("shared log, record {position}"), found, supported }
            }
            LogError::Refused { system, why } => EngineError::Backend { engine: system, message: why },
        }
    }
}
