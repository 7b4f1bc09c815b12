//! `multipart/related` and `multipart/mixed`: documents with the bytes of their attachments. A room to be furnished.

use http::header::CONTENT_TYPE;
use recension::document::CollectionAt;

use super::reading::{Extras, Shown};
use super::revisions::Opened;
use crate::answer::Answer;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::request::Request;

/// Whether a document comes with its attachments behind it.
pub(crate) fn is_related(request: &Request) -> bool {
    request
        .header(CONTENT_TYPE)
        .is_some_and(|value| value.trim_start().to_ascii_lowercase().starts_with("multipart/related"))
}

/// PUT of a document with attachments behind it.
#[allow(clippy::unused_async)] // until it is furnished
pub(crate) async fn put(_request: Request, _db: Database, _id: &str) -> Result<Answer> {
    Err(ApiError::not_implemented())
}

/// A document with attachments, where the client takes multipart or asks for their bytes (`attachments=true`);
/// `None`: as JSON with stubs.
#[allow(clippy::unnecessary_wraps)] // until it is furnished
pub(crate) fn document(_: &Request, _: &CollectionAt, _: Shown<'_>, _: Extras) -> Result<Option<Answer>> {
    Ok(None)
}

/// `open_revs` as `multipart/mixed`, where the client takes that; `None`: as JSON.
#[allow(clippy::unnecessary_wraps)] // until it is furnished
pub(crate) fn open_revs(_: &Request, _: &CollectionAt, _: &str, _: &[Opened], _: Extras) -> Result<Option<Answer>> {
    Ok(None)
}
