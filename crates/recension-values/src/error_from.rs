//! Conversions from errors of the engine, of JSON texts and of patches.

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
