//! Errors of a replication. No error contains a password.

/// The result of a replication.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason for which a replication failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text is not a URL of a database.
    #[error("{url:?} is no URL of a database: {why}")]
    BadUrl {
        /// The text, without credentials.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// What was asked for cannot be done.
    #[error("{0}")]
    BadOptions(String),
    /// The other side wants another name or password (401) or does not let this user do it (403).
    #[error("{}", denied(.end, *.status, .reason))]
    Denied {
        /// The side.
        end: String,
        /// 401 or 403.
        status: u16,
        /// Its reason.
        reason: String,
    },
    /// There is no such database.
    #[error("there is no database {end}; create it first")]
    NoDatabase {
        /// The side.
        end: String,
    },
    /// The URL is not that of a database.
    #[error("{end} is no database: it answers {found}; a URL ends with the name of a database")]
    NotADatabase {
        /// The side.
        end: String,
        /// What it answered instead.
        found: String,
    },
    /// TLS failed.
    #[error("no TLS with {end}: {why}")]
    Tls {
        /// The side.
        end: String,
        /// Why.
        why: String,
    },
    /// There was no answer, even after several attempts.
    #[error("{end} cannot be reached: {why}")]
    Unreachable {
        /// The side.
        end: String,
        /// Why.
        why: String,
    },
    /// The answer is an error.
    #[error("{end} answers {what} with {status}: {reason}")]
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
    #[error("an answer of {end} is longer than {max} bytes")]
    TooLong {
        /// The side.
        end: String,
        /// Most bytes.
        max: u64,
    },
    /// The store of a local side fails.
    #[error(transparent)]
    Store(#[from] recension::Error),
    /// Who asked for it may not any more.
    #[error("it has ended because who asked for it may not any more: {0}")]
    Refused(String),
    /// It was stopped.
    #[error("the replication was stopped")]
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

fn denied(end: &str, status: u16, reason: &str) -> String {
    if status == 401 {
        format!(
            "{end} does not know this user (401: {reason}); give a name and a password: \
             http://NAME:PASSWORD@HOST/DATABASE"
        )
    } else {
        format!("{end} does not let this user do it ({status}: {reason})")
    }
}
