//! `_purge`, `_purged_infos`, `_purged_infos_limit`.

use crate::answer::Answer;
use crate::auth::Session;
use crate::error::{ApiError, Result};
use crate::request::Request;

/// `/{db}/_purge` and its log
#[allow(clippy::unused_async)] // until it is furnished
pub(crate) async fn endpoint(_request: Request, _session: Session, _db: &str, _name: &str) -> Result<Answer> {
    Err(ApiError::not_implemented())
}
