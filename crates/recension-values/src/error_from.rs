//! Conversions from errors of the engine, of JSON texts and of patches; errors around others.

use crate::error::Error;
use crate::json::{JsonError, PatchError};
use recension_engine::EngineError;

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        Error::Engine(error)
    }
}

impl From<JsonError> for Error {
    fn from(error: JsonError) -> Self {
        Error::Json(error)
    }
}

impl From<PatchError> for Error {
    fn from(error: PatchError) -> Self {
        Error::Patch(Box::new(error))
    }
}

impl Error {
    /// The reason for which a change of many documents stopped, with what was committed before.
    pub fn stopped(id: Option<&str>, written: u64, error: Error) -> Self {
        match (id, written) {
            (None, 0) => error,
            _ => Error::Stopped { written, id: id.map(str::to_owned), error: Box::new(error) },
        }
    }

    /// The reason itself, where this error says of another one where it arose.
    pub fn cause(&self) -> &Error {
        match self {
            Error::InMerge { error, .. } | Error::Stopped { error, .. } => error.cause(),
            error => error,
        }
    }
}
