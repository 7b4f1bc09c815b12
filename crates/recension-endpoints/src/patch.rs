//! `PATCH /{db}/{id}`: a JSON merge patch (RFC 7396) or a JSON patch (RFC 6902). CouchDB has none. Attachments stay.

use http::StatusCode;
use http::header::CONTENT_TYPE;
use recension::Expect;
use recension::json::JsonPatch;

use super::writing::named_rev;
use recension_app::auth::databases::Database;
use recension_app::request::Request;
use recension_wire::answer::{Answer, receipt};
use recension_wire::error::{ApiError, Result};

/// Applies a patch to the current document. If `rev` or `If-Match` names a revision, the patch applies to that revision
/// or is refused.
pub(crate) async fn document(mut request: Request, db: Database, id: &str) -> Result<Answer> {
    db.may_write(id)?;
    let content_type = request.header(CONTENT_TYPE).and_then(|value| value.split(';').next()).unwrap_or_default();
    let merge = match content_type.trim().to_ascii_lowercase().as_str() {
        "application/merge-patch+json" | "application/json" => true,
        "application/json-patch+json" => false,
        _ => {
            let reason = "Content-Type must be application/merge-patch+json or application/json-patch+json";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "bad_content_type", reason));
        }
    };
    let expect = named_rev(&request, None)?.map_or(Expect::Anything, Expect::Revision);
    let max = request.app.config.max_document_size;
    let patch = request.bytes_up_to(max).await?;
    let (collection, own) = (db.share(), id.to_owned());
    let work = move || {
        let written = if merge {
            collection.merge_patch(&own, expect, &patch)
        } else {
            collection.patch(&own, expect, &JsonPatch::from_json(&patch)?)
        };
        Ok(written?)
    };
    let written = request.app.blocking(work).await?;
    Ok(Answer::ok(receipt(&written.id, written.rev)).etag(written.rev))
}
