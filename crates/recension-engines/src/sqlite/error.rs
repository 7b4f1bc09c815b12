//! Converts `SQLite`'s errors to the contract's. Damage must come out as damage, so that nobody retries it.

use recension::engine::{EngineError, Seq, Timestamp};
use rusqlite::ErrorCode;
use rusqlite::types::FromSqlError;

/// Keeps the path of the file for errors.
#[derive(Clone)]
pub(super) struct ErrorContext {
    file: String,
}

impl ErrorContext {
    pub(super) fn new(file: impl Into<String>) -> Self {
        ErrorContext { file: file.into() }
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// The error for stored bytes that are wrong. `SQLite` does not say at which place in the file they are.
    pub(super) fn damaged(&self, what: impl Into<String>) -> EngineError {
        EngineError::damaged(&self.file, 0, what)
    }

    pub(super) fn backend(&self, what: impl std::fmt::Display) -> EngineError {
        EngineError::Backend { engine: "SQLite", message: format!("{}: {what}", self.file) }
    }

    pub(super) fn map(&self, error: rusqlite::Error) -> EngineError {
        use rusqlite::Error as E;
        match &error {
            E::InvalidColumnType(..) | E::IntegralValueOutOfRange(..) | E::FromSqlConversionFailure(..) => {
                self.damaged(format!("a stored value is not of its column's kind ({error})"))
            }
            _ => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => self.damaged(format!("SQLite: {error}")),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    self.backend(format!("{error}: another program holds it locked; end what it does there and retry"))
                }
                _ => self.backend(error),
            },
        }
    }

    /// The error for a column that holds another type than its table allows.
    #[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
    pub(super) fn column(&self, error: FromSqlError) -> EngineError {
        self.damaged(format!("a stored value is not of its column's kind ({error})"))
    }

    /// A sequence number as stored.
    pub(super) fn seq(&self, stored: i64) -> Result<Seq, EngineError> {
        match u64::try_from(stored) {
            Ok(seq) if seq > 0 => Ok(Seq(seq)),
            _ => Err(self.damaged(format!("{stored} stands where a sequence number should"))),
        }
    }

    /// A time as stored.
    pub(super) fn time(&self, stored: i64) -> Result<Timestamp, EngineError> {
        u64::try_from(stored).map(Timestamp).map_err(|_| self.damaged(format!("{stored} stands where a time should")))
    }
}

/// A sequence number or time as it is stored. `SQLite`'s integers have a sign, so a larger value is stored as the
/// largest. Sequence numbers never get there; a clock does in the year 294,247.
pub(super) fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
