//! Revisions: `open_revs`, `new_edits=false`, `_revs_diff`, `_missing_revs`, `_bulk_get`, `_compact`.

use recension::document::{CollectionAt, RevId, Revision};

use crate::answer::Answer;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::request::Request;

/// What a revision says that can be asked for by `rev`.
pub(crate) fn body_of(at: &CollectionAt, id: &str, rev: &RevId) -> Result<Option<Revision>> {
    Ok(at.get_revision(id, rev)?)
}

/// `GET /{db}/{id}?open_revs=…`
pub(crate) fn open_revs(_request: &Request, _at: &CollectionAt, _id: &str, _open: &str) -> Result<Answer> {
    Err(ApiError::not_implemented())
}

/// `PUT /{db}/{id}?new_edits=false`
#[allow(clippy::unused_async)] // until it is furnished
pub(crate) async fn put(_request: &Request, _db: &Database, _id: &str, _body: &[u8]) -> Result<Answer> {
    Err(ApiError::not_implemented())
}

/// `/{db}/_revs_diff`
#[allow(clippy::unused_async)] // until it is furnished
pub(crate) async fn revs_diff(_request: Request, _db: Database) -> Result<Answer> {
    Err(ApiError::not_implemented())
}

/// `/{db}/_missing_revs`
#[allow(clippy::unused_async)] // until it is furnished
pub(crate) async fn missing_revs(_request: Request, _db: Database) -> Result<Answer> {
    Err(ApiError::not_implemented())
}

/// `/{db}/_bulk_get`
#[allow(clippy::unused_async)] // until it is furnished
pub(crate) async fn bulk_get(_request: Request, _db: Database) -> Result<Answer> {
    Err(ApiError::not_implemented())
}

/// Makes old bodies unavailable to `rev`.
#[allow(clippy::unused_async)] // until it is furnished
pub(crate) async fn compact(_request: &Request, _db: &Database) -> Result<()> {
    Ok(())
}
