//! `_all_docs` and `_design_docs`.

use crate::answer::Answer;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::request::Request;

/// `/{db}/_all_docs`, `/{db}/_design_docs`, and `…/queries`
#[allow(clippy::unused_async)] // until it is furnished
pub(crate) async fn endpoint(_request: Request, _db: Database, _name: &str, _rest: &[&str]) -> Result<Answer> {
    Err(ApiError::not_implemented())
}
