//! Local documents: `_local/{name}` and `_local_docs`.

use crate::answer::Answer;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::request::Request;

/// `/{db}/_local/{name}`
#[allow(clippy::unused_async)] // until it is furnished
pub(crate) async fn document(_request: Request, _db: Database, _id: &str) -> Result<Answer> {
    Err(ApiError::not_implemented())
}

/// `/{db}/_local_docs`
#[allow(clippy::unused_async)] // until it is furnished
pub(crate) async fn list(_request: Request, _db: Database) -> Result<Answer> {
    Err(ApiError::not_implemented())
}
