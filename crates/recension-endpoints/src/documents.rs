//! One document: GET, HEAD, PUT, DELETE, COPY, and POST to its database.

use std::borrow::Cow;

use http::{HeaderName, Method, StatusCode};
use recension::{AttachmentInfo, CollectionAt, Document, Expect, RevId, Revision, Write};

use super::compacted::body_of;
use super::incoming::{self, Incoming};
use super::inline::Inline;
use super::reading::{Extras, Shown};
use super::within::{Limited, Within, edited};
use super::writing::{named_rev, not_modified, written, written_or_queued};
use super::{local, multipart, revisions, streaming};
use recension_app::auth::databases::Database;
use recension_app::identity::random::new_uuid;
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::query::Query;
use recension_wire::route::decode;

/// `/{db}/{id}`
pub async fn document(request: Request, db: Database, id: &str, within: Limited) -> Result<Answer> {
    match request.method().as_str() {
        "GET" | "HEAD" => get(&request, &db, id).await,
        "PUT" => put(request, db, id, within).await,
        "DELETE" => delete(request, db, id, within.as_deref()).await,
        "COPY" => copy(request, db, id).await,
        "PATCH" => super::patch::document(request, db, id).await,
        // CouchDB takes forms of its own first console here.
        "POST" if request.header(http::header::REFERER).is_none() => Err(ApiError::referer_required()),
        "POST" if !is_form(request.header(http::header::CONTENT_TYPE)) => Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "bad_content_type",
            "Content-Type must be multipart/form-data",
        )),
        _ => Err(ApiError::method_not_allowed("DELETE,GET,HEAD,POST,PUT,COPY")),
    }
}

fn is_form(kind: Option<&str>) -> bool {
    kind.is_some_and(|kind| {
        kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("multipart/form-data")
    })
}

/// A revision that a request asks for.
struct Found<'f> {
    rev: RevId,
    seq: u64,
    deleted: bool,
    body: Cow<'f, str>,
    attachments: Vec<AttachmentInfo>,
}

impl<'f> Found<'f> {
    /// The winner, or the revision that the query names.
    fn of(query: &Query, at: &'f CollectionAt, id: &'f str) -> Result<Self> {
        let Some(rev) = query.rev("rev")? else {
            let document = at.current(id)?.ok_or_else(ApiError::missing)?;
            if document.deleted {
                return Err(ApiError::deleted());
            }
            let Document { rev, seq, body, attachments, .. } = document;
            return Ok(Found { rev, seq: seq.0, deleted: false, body, attachments });
        };
        let latest = if query.is_true("latest") { at.latest(id, &rev)?.first().map(|leaf| leaf.rev) } else { None };
        let revision = body_of(at, id, &latest.unwrap_or(rev))?.ok_or_else(ApiError::missing)?;
        let Revision { rev, seq, deleted, body, attachments, .. } = revision;
        Ok(Found { rev, seq: seq.0, deleted, body: body.into(), attachments })
    }

    fn shown<'s>(&'s self, id: &'s str) -> Shown<'s> {
        let Found { rev, seq, deleted, ref body, ref attachments } = *self;
        Shown { id, rev, seq, deleted, body, attachments }
    }
}

/// The answer to a request that reads one document without its attachments; `None` for other requests. A read takes
/// microseconds if the page is in memory: it neither changes threads nor waits.
pub fn at_once(request: &Request, db: &Database, id: &str) -> Option<Result<Answer>> {
    let waits = ["open_revs", "attachments", "atts_since", "att_encoding_info"];
    let plain = waits.iter().all(|name| request.query.get(name).is_none());
    (plain && matches!(*request.method(), Method::GET | Method::HEAD)).then(|| {
        let at = db.opened();
        let found = Found::of(&request.query, at, id)?;
        let extras = Extras::of(&request.query);
        let tag = tag_of(at, id, &found, extras)?;
        if let Some(tag) = tag.filter(|tag| not_modified(request, tag)) {
            return Ok(Answer::empty(StatusCode::NOT_MODIFIED).etag(tag));
        }
        Ok(tagged(Answer::ok(found.shown(id).to_json(at, extras)?), tag))
    })
}

/// The tag of an answer: its revision, unless it has members that change while the revision stays.
fn tag_of(at: &CollectionAt, id: &str, found: &Found<'_>, extras: Extras) -> Result<Option<RevId>> {
    let changes = extras.revs_info
        || extras.local_seq
        || (extras.conflicts && !at.conflicts(id)?.is_empty())
        || (extras.deleted_conflicts && !at.deleted_conflicts(id)?.is_empty());
    Ok((!changes).then_some(found.rev))
}

fn tagged(answer: Answer, tag: Option<RevId>) -> Answer {
    match tag {
        Some(tag) => answer.etag(tag),
        None => answer,
    }
}

async fn get(request: &Request, db: &Database, id: &str) -> Result<Answer> {
    let query = &request.query;
    if let Some(answer) = at_once(request, db, id) {
        return answer;
    }
    let at = db.opened();
    if let Some(open) = query.get("open_revs").filter(|open| *open != "[]") {
        return revisions::open_revs(request, at, id, open).await;
    }
    let inline = Inline::of(query)?;
    let found = Found::of(query, at, id)?;
    let (shown, extras) = (found.shown(id), Extras::of(query));
    let tag = tag_of(at, id, &found, extras)?;
    if let Some(tag) = tag.filter(|tag| not_modified(request, tag)) {
        return Ok(Answer::empty(StatusCode::NOT_MODIFIED).etag(tag));
    }
    if !shown.attachments.is_empty() {
        if inline.bytes && multipart::is_taken(request, &["multipart/related"]) {
            return Ok(tagged(multipart::document(request, at, shown, extras, &inline).await?, tag));
        }
        if inline.bytes || inline.encoding {
            let pieces = inline.pieces(at, shown, extras)?;
            return Ok(tagged(streaming::json(&request.app, String::new(), pieces, "\n").await?, tag));
        }
    }
    Ok(tagged(Answer::ok(shown.to_json(at, extras)?), tag))
}

async fn put(mut request: Request, db: Database, id: &str, within: Limited) -> Result<Answer> {
    db.may_write(id)?;
    if multipart::is_related(&request) {
        return multipart::put(request, db, id, within).await;
    }
    let body = request.bytes().await?;
    if request.query.get("new_edits") == Some("false") {
        return revisions::put(&request, &db, id, &body, within.as_deref()).await;
    }
    let incoming = Incoming::parse(&body, request.app.settings.live().max_document_size)?;
    let incoming = match named_rev(&request, incoming.rev)? {
        Some(rev) => incoming.on(rev),
        None => incoming,
    };
    let incoming = edited(within.as_deref(), id, incoming)?;
    let deletes = incoming.write.is_deletion();
    // The path names the document, whatever the body says.
    let write = incoming.write.renamed(id)?;
    let status = if deletes { StatusCode::OK } else { StatusCode::CREATED };
    written_or_queued(&request, &db, write, status).await
}

/// `POST /{db}`: makes a document with the id in its body, or with a new one.
pub async fn post(mut request: Request, db: Database, within: Limited) -> Result<Answer> {
    request.require_json()?;
    let body = request.bytes().await?;
    let incoming = match Incoming::parse(&body, request.app.settings.live().max_document_size) {
        Ok(incoming) => incoming,
        Err(error) => {
            let name = incoming::is_local(&body).ok_or(error)?;
            return local::put(&request, &db, &name, within.as_deref(), incoming::local(&body)?).await;
        }
    };
    let id = incoming.write.id().map_or_else(new_uuid, str::to_owned);
    db.may_write(&id)?;
    let write = edited(within.as_deref(), &id, incoming)?.write.renamed(&id)?;
    written_or_queued(&request, &db, write, StatusCode::CREATED).await
}

async fn delete(request: Request, db: Database, id: &str, within: Option<&dyn Within>) -> Result<Answer> {
    db.may_write(id)?;
    // Whether there is something to delete is checked before the revision.
    match db.opened().current(id)? {
        None => return Err(ApiError::missing()),
        Some(document) if document.deleted => return Err(ApiError::deleted()),
        Some(_) => {}
    }
    let rev = named_rev(&request, None)?.ok_or_else(ApiError::conflict)?;
    let rev = within.map_or(Ok(rev), |within| within.real(id, rev))?;
    let write = Write::from_json(r#"{"_deleted":true}"#)?.renamed(id)?.expecting(Expect::Leaf(rev));
    written(&request, &db, write, StatusCode::OK).await
}

const DESTINATION: HeaderName = HeaderName::from_static("destination");

/// `COPY /{db}/{id}` with the header `Destination: other[?rev=…]`.
async fn copy(request: Request, db: Database, id: &str) -> Result<Answer> {
    let at = db.now()?;
    let from = match request.query.rev("rev")? {
        Some(rev) => body_of(&at, id, &rev)?,
        None => match at.current(id)? {
            Some(document) if document.deleted => return Err(ApiError::deleted()),
            Some(document) => at.get_revision(id, &document.rev)?,
            None => None,
        },
    };
    let from = from.ok_or_else(ApiError::missing)?;
    copied(&request, &db, super::attachments::copied(&from)?, from.body).await
}

/// Writes a copy to where the header `Destination` says: `write`, or `body` to a local document.
pub(crate) async fn copied(request: &Request, db: &Database, write: Write, body: String) -> Result<Answer> {
    let to = request.header(DESTINATION).ok_or_else(ApiError::no_destination)?;
    if to.starts_with("http://") || to.starts_with("https://") {
        return Err(ApiError::destination_not_relative());
    }
    let (path, query) = to.split_once('?').unwrap_or((to, ""));
    let (target, query) = (decode(path)?, Query::parse(query)?);
    if let Some((name, _)) = query.pairs().find(|(name, _)| *name != "rev") {
        return Err(ApiError::bad_request(format!("A Destination has the parameter rev, and no \"{name}\".")));
    }
    if let Some(name) = target.strip_prefix("_local/") {
        return local::put(request, db, name, None, local::with_rev(body, query.get("rev"))).await;
    }
    db.may_write(&target)?;
    let expect = query.rev("rev")?.map_or(Expect::Absent, Expect::Leaf);
    written(request, db, write.renamed(&target)?.expecting(expect), StatusCode::CREATED).await
}
