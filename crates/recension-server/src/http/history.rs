//! The past: `/{db}/{id}/_history`, `?at=`. A room to be furnished.

use crate::answer::Answer;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::request::Request;

/// `/{db}/{id}/_history`
#[allow(clippy::unused_async)] // until it is furnished
pub(crate) async fn of_document(_request: Request, _db: Database, _id: &str) -> Result<Answer> {
    Err(ApiError::not_implemented())
}
