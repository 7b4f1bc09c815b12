//! Why a server cannot start, or cannot go on.

/// An error for which a server cannot start, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The configuration is invalid: the reason, and what to do.
    #[error("{0}")]
    Configured(String),
    /// The store's error.
    #[error(transparent)]
    Store(#[from] recension::Error),
    /// An address cannot be listened to, or a file cannot be read.
    #[error("{what}: {source}")]
    Io {
        /// The action that failed.
        what: String,
        /// The system's error.
        source: std::io::Error,
    },
}
