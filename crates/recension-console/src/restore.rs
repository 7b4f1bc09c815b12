//! `POST /_utils/{db}/doc/{id}/restore?rev=`: a past revision, with its attachments, becomes the newest one.

use http::StatusCode;

use recension_app::auth::{Access, Session, users};
use recension_app::request::Request;
use recension_wire::answer::{Answer, receipt};
use recension_wire::error::{ApiError, Result};

/// Restores.
pub(super) async fn endpoint(request: &Request, session: &Session, db: &str, id: &str) -> Result<Answer> {
    super::is_json(request)?;
    if db == users::DATABASE {
        return Err(ApiError::forbidden("Documents of _users are written as documents, so that they are checked."));
    }
    let database = session.database(db, Access::Member)?;
    database.may_write(id)?;
    let rev = request.query.rev("rev")?.ok_or_else(|| ApiError::bad_request("rev says which revision to restore."))?;
    let (collection, own) = (database.share(), id.to_owned());
    let written = request.app.blocking(move || Ok(collection.restore(&own, &rev)?)).await?;
    Ok(Answer::json(StatusCode::CREATED, receipt(&written.id, written.rev)).etag(written.rev))
}
