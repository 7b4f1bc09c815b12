//! `_changes`.

use crate::answer::Answer;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::request::Request;

/// `/{db}/_changes`
#[allow(clippy::unused_async)] // until it is furnished
pub(crate) async fn endpoint(_request: Request, _db: Database) -> Result<Answer> {
    Err(ApiError::not_implemented())
}
