//! What writes of documents have in common: the revision that they are made on, and their receipts.

use http::header::{IF_MATCH, IF_NONE_MATCH};
use http::{Method, StatusCode};
use recension::{RevId, Write};

use recension_app::auth::databases::Database;
use recension_app::request::{Request, absolute};
use recension_wire::answer::{Answer, receipt};
use recension_wire::error::{ApiError, Result};
use recension_wire::route::encode;

/// Whether the client has this revision. CouchDB recognises the tag only with its quotes.
pub fn not_modified(request: &Request, tag: &impl std::fmt::Display) -> bool {
    let tags = request.header(IF_NONE_MATCH).unwrap_or_default();
    !tags.is_empty() && tags.split(',').any(|own| own.trim().trim_start_matches("W/") == format!("\"{tag}\""))
}

/// The revision that query, header and body name. If several do, they must agree.
pub(crate) fn named_rev(request: &Request, in_body: Option<RevId>) -> Result<Option<RevId>> {
    let in_query = request.query.rev("rev")?;
    let tag = request.header(IF_MATCH).map(|tag| tag.trim().trim_start_matches("W/").trim_matches('"'));
    let in_header = tag.map(|tag| tag.parse::<RevId>().map_err(|_| ApiError::bad_rev())).transpose()?;
    let explicit = match (in_query, in_body) {
        (Some(query), Some(body)) if query != body => return Err(ApiError::rev_in_body_differs()),
        (query, body) => body.or(query),
    };
    match (explicit, in_header) {
        (Some(explicit), Some(header)) if explicit != header => Err(ApiError::rev_in_header_differs()),
        (explicit, header) => Ok(explicit.or(header)),
    }
}

/// Writes a document that came as JSON. `batch=ok` wants no receipt, since CouchDB then writes after its answer.
pub(crate) async fn written_or_queued(
    request: &Request,
    db: &Database,
    write: Write,
    status: StatusCode,
) -> Result<Answer> {
    if request.query.get("batch") != Some("ok") {
        return written(request, db, write, status).await;
    }
    let written = db.write(write).await?;
    let text = format!("{{\"ok\":true,\"id\":{}}}", recension::json::quote(&written.id));
    Ok(Answer::json(StatusCode::ACCEPTED, text))
}

/// Writes, and answers with the receipt.
pub async fn written(request: &Request, db: &Database, write: Write, status: StatusCode) -> Result<Answer> {
    let written = db.write(write).await?;
    let answer = Answer::json(status, receipt(&written.id, written.rev)).etag(written.rev);
    let to = absolute(request, &format!("/{}/{}", encode(db.name()), encode(&written.id)));
    Ok(if *request.method() == Method::DELETE { answer } else { answer.location(&to) })
}
