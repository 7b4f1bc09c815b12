//! Errors of a replication. No error contains a password.

use std::fmt;

/// The result of a replication.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason for which a replication failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A text is not a URL of a database.
    BadUrl {
        /// The text, without credentials.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// What was asked for cannot be done.
    BadOptions(String),
    /// The other side wants another name or password (401) or does not let this user do it (403).
    Denied {
        /// The side.
        end: String,
        /// 401 or 403.
        status: u16,
        /// Its reason.
        reason: String,
    },
    /// There is no such database.
    NoDatabase {
        /// The side.
        end: String,
    },
    /// The URL is not that of a database.
    NotADatabase {
        /// The side.
        end: String,
        /// What it answered instead.
        found: String,
    },
    /// TLS failed.
    Tls {
        /// The side.
        end: String,
        /// Why.
        why: String,
    },
    /// There was no answer, even after several attempts.
    Unreachable {
        /// The side.
        end: String,
        /// Why.
        why: String,
    },
    /// The answer is an error.
    Answer {
        /// The side.
        end: String,
        /// The request.
        what: &'static str,
        /// The status.
        status: u16,
        /// Its reason.
        reason: String,
    },
    /// An answer is longer than what may be read into memory.
    TooLong {
        /// The side.
        end: String,
        /// Most bytes.
        max: u64,
    },
    /// The store of a local side fails.
    Store(recension::Error),
    /// It was stopped.
    Stopped,
}

impl Error {
    /// Whether it may be gone the next time, without anybody's help.
    pub fn is_temporary(&self) -> bool {
        match self {
            Error::Unreachable { .. } => true,
            Error::Answer { status, .. } => *status >= 500 || matches!(status, 200..=299 | 408 | 429),
            Error::Store(error) => matches!(error, recension::Error::Busy { .. }),
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::BadUrl { url, why } => write!(f, "{url:?} is no URL of a database: {why}"),
            Error::BadOptions(why) => f.write_str(why),
            Error::Denied { end, status: 401, reason } => {
                write!(
                    f,
                    "{end} does not know this user (401: {reason}); give a name and a password: \
                     http://NAME:PASSWORD@HOST/DATABASE"
                )
            }
            Error::Denied { end, status, reason } => {
                write!(f, "{end} does not let this user do it ({status}: {reason})")
            }
            Error::NoDatabase { end } => write!(f, "there is no database {end}; create it first"),
            Error::NotADatabase { end, found } => {
                write!(f, "{end} is no database: it answers {found}; a URL ends with the name of a database")
            }
            Error::Tls { end, why } => write!(f, "no TLS with {end}: {why}"),
            Error::Unreachable { end, why } => write!(f, "{end} cannot be reached: {why}"),
            Error::Answer { end, what, status, reason } => write!(f, "{end} answers {what} with {status}: {reason}"),
            Error::TooLong { end, max } => write!(f, "an answer of {end} is longer than {max} bytes"),
            Error::Store(error) => error.fmt(f),
            Error::Stopped => f.write_str("the replication was stopped"),
        }
    }
}

impl std::error::Error for Error {}

impl From<recension::Error> for Error {
    fn from(error: recension::Error) -> Self {
        Error::Store(error)
    }
}
