//! Writing within limits: the user must be allowed to write both the document as it was and as it becomes.

use std::borrow::Cow;

use http::{Method, StatusCode};
use recension::engine::Seq;
use recension::json::quote;
use recension::{Document, RevId, Write};
use serde_json::value::RawValue;

use super::limits::{Limits, Shared, Told};
use super::reading::may_overwrite;
use crate::answer::Answer;
use crate::dispatch::only;
use crate::error::{ApiError, Result};
use crate::http as endpoints;
use crate::http::body::{elements, member, members_of, rev_of};
use crate::http::documents::{named_rev, written};
use crate::http::incoming::{self, Incoming};
use crate::http::multipart;
use crate::http::within::written_text;
use crate::request::Request;

fn denied() -> ApiError {
    ApiError::forbidden("The access rule of the database does not let you write this document.")
}

/// `PUT` and `DELETE /{db}/{id}`
pub(super) async fn document(mut request: Request, limits: Shared, id: &str) -> Result<Answer> {
    only(&request, "GET,HEAD,PUT,DELETE")?;
    let deletes = *request.method() == Method::DELETE;
    if !deletes && multipart::is_related(&request) {
        limits.db.may_write(id)?;
        return multipart::put(request, limits.db.clone(), id, Some(limits)).await;
    }
    let limits = &*limits;
    let body = if deletes { r#"{"_deleted":true}"#.into() } else { request.bytes().await? };
    if request.query.get("new_edits") == Some("false") {
        let most = request.app.settings.live().max_document_size;
        let write = incoming::replicated_as(id, &body, request.query.get("rev"), most)?;
        return match judged(limits, id, write.path(), written_text(&body))? {
            Verdict::MadeUp(rev) => Ok(Answer::json(StatusCode::CREATED, crate::answer::receipt(id, rev))),
            Verdict::Allowed => endpoints::revisions::merged(&request, &limits.db, id, write).await,
        };
    }
    one(request, limits, id, &body).await
}

/// `POST /{db}`
pub(super) async fn post(mut request: Request, limits: &Limits) -> Result<Answer> {
    request.require_json()?;
    let body = request.bytes().await?;
    let write = Incoming::parse(&body, request.app.settings.live().max_document_size)?.write;
    let id = write.id().map_or_else(crate::databases::new_uuid, str::to_owned);
    one(request, limits, &id, &body).await
}

async fn one(request: Request, limits: &Limits, id: &str, body: &[u8]) -> Result<Answer> {
    limits.db.may_write(id)?;
    let incoming = Incoming::parse(body, request.app.settings.live().max_document_size)?;
    let rev = named_rev(&request, incoming.rev)?;
    let incoming = match edit_on(limits, id, rev, written_text(body))? {
        Some(rev) => incoming.on(rev),
        None => incoming,
    };
    let deletes = incoming.write.is_deletion();
    let write: Write = incoming.write.renamed(id)?;
    let status = if deletes { StatusCode::OK } else { StatusCode::CREATED };
    written(&request, &limits.db, write, status).await
}

/// The revision that a name stands for.
fn real(limits: &Limits, id: &str, rev: RevId) -> Result<RevId> {
    match limits.meant(limits.db.opened(), id, &rev)? {
        Some(Told { real, .. }) => Ok(real),
        None => Ok(rev),
    }
}

fn check_new(limits: &Limits, id: &str, body: Option<&str>) -> Result<()> {
    let Some(body) = body else { return Ok(()) };
    let document = Document {
        id: Cow::Borrowed(id),
        rev: RevId::new(1, [0; 16]),
        seq: Seq::ZERO,
        deleted: false,
        body: Cow::Borrowed(body),
        attachments: Vec::new(),
    };
    if limits.tests().writes().takes(&document) { Ok(()) } else { Err(denied()) }
}

/// The real revision that an edit replaces, if it may be made.
pub(super) fn edit_on(limits: &Limits, id: &str, on: Option<RevId>, body: Option<&str>) -> Result<Option<RevId>> {
    let on = on.map(|rev| real(limits, id, rev)).transpose()?;
    check_edit(limits, id, on, body)?;
    Ok(on)
}

/// Whether an edit may be made: the revision that it names may be overwritten, and the new document may be written.
fn check_edit(limits: &Limits, id: &str, on: Option<RevId>, body: Option<&str>) -> Result<()> {
    let at = limits.db.opened();
    let old = match on {
        Some(rev) => at.get_revision(id, &rev)?,
        // If there is a revision already, the write itself refuses.
        None => None,
    };
    if old.is_some_and(|old| !old.deleted && !may_overwrite(limits, id, &old)) {
        return Err(denied());
    }
    check_new(limits, id, body)
}

/// The verdict on a revision that comes from a replica.
pub(super) enum Verdict {
    /// It is written.
    Allowed,
    /// It was made up here: it counts as written.
    MadeUp(RevId),
}

pub(super) fn judged(limits: &Limits, id: &str, path: &[RevId], body: Option<&str>) -> Result<Verdict> {
    if let Some(first) = path.first().filter(|first| limits.names.is_made_up(id, first)) {
        return Ok(Verdict::MadeUp(*first));
    }
    limits.db.may_write(id)?;
    let at = limits.db.opened();
    if let Some(winner) = at.get(id)?
        && !limits.tests().writes().takes(&winner)
    {
        return Err(denied());
    }
    check_new(limits, id, body)?;
    Ok(Verdict::Allowed)
}

/// `POST /{db}/_bulk_docs`
pub(super) async fn bulk_docs(mut request: Request, limits: &Limits) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    if request.query.flag("atomic")? {
        return Err(super::dispatch::refused());
    }
    let body = request.bytes().await?;
    let max = request.app.settings.live().max_document_size;
    let members = members_of(&body)?;
    let missing = || ApiError::bad_request("POST body must include `docs` parameter.");
    let docs = member(&members, "docs").and_then(elements).ok_or_else(missing)?;
    let new_edits = member(&members, "new_edits").map(RawValue::get) != Some("false");
    // `None`: the row comes from the endpoint that writes.
    let (mut rows, mut allowed): (Vec<Option<String>>, Vec<String>) = (Vec::new(), Vec::new());
    for doc in docs {
        let judged = if new_edits { edit_of(limits, doc)? } else { replicated_of(limits, doc, max)? };
        match judged {
            Judged::Written(text) => {
                rows.push(None);
                allowed.push(text);
            }
            Judged::Done => {}
            Judged::Refused(row) => rows.push(Some(row)),
        }
    }
    let text = format!("{{\"docs\":[{}],\"new_edits\":{new_edits}}}", allowed.join(","));
    request.replace_body(text.into());
    let answer = endpoints::bulk::endpoint(request, limits.db.clone()).await?;
    Ok(answer.with_body(|theirs| {
        let theirs: Vec<Box<RawValue>> = serde_json::from_slice(&theirs).unwrap_or_default();
        let mut theirs = theirs.into_iter().map(|row| row.get().to_owned());
        let mut all: Vec<String> = Vec::new();
        for row in rows {
            match row {
                Some(own) => all.push(own),
                // For replicated revisions there are only rows of errors, in no order.
                None if new_edits => all.extend(theirs.next()),
                None => {}
            }
        }
        all.extend(theirs);
        format!("[{}]\n", all.join(",")).into()
    }))
}

/// The verdict on one document of many.
enum Judged {
    Written(String),
    /// It was made up here: it needs no write, and no row.
    Done,
    /// It is refused with this row.
    Refused(String),
}

fn refused_row(id: &str, rev: Option<String>, error: &ApiError) -> String {
    let rev = rev.map_or(String::new(), |rev| format!("\"rev\":\"{rev}\","));
    format!("{{\"id\":{},{rev}\"error\":\"{}\",\"reason\":{}}}", quote(id), error.error, quote(&error.reason))
}

fn id_of(doc: &RawValue) -> Result<Option<String>> {
    let members = members_of(doc.get().as_bytes())?;
    let id = member(&members, "_id").map(|id| serde_json::from_str(id.get()).map_err(|_| ApiError::id_not_a_string()));
    id.transpose()
}

fn edit_of(limits: &Limits, doc: &RawValue) -> Result<Judged> {
    let text = doc.get();
    let Some(id) = id_of(doc)?.filter(|id| !id.starts_with("_local/")) else {
        return Ok(match check_new(limits, "", written_text(text.as_bytes())) {
            Ok(()) => Judged::Written(text.to_owned()),
            Err(error) => Judged::Refused(refused_row("", None, &error)),
        });
    };
    let members = members_of(text.as_bytes())?;
    let rev = member(&members, "_rev").map(rev_of).transpose()?;
    let on = match edit_on(limits, &id, rev, written_text(text.as_bytes())) {
        Ok(on) => on,
        Err(error) => return Ok(Judged::Refused(refused_row(&id, None, &error))),
    };
    let members: Vec<String> = members
        .iter()
        .map(|(name, value)| match on.filter(|_| name == "_rev") {
            Some(real) => format!("\"_rev\":\"{real}\""),
            None => format!("{}:{}", quote(name), value.get()),
        })
        .collect();
    Ok(Judged::Written(format!("{{{}}}", members.join(","))))
}

fn replicated_of(limits: &Limits, doc: &RawValue, max: usize) -> Result<Judged> {
    let text = doc.get();
    if id_of(doc)?.is_some_and(|id| id.starts_with("_local/")) {
        return Ok(Judged::Written(text.to_owned()));
    }
    let write = incoming::replicated(text.as_bytes(), max)?;
    Ok(match judged(limits, write.id(), write.path(), written_text(text.as_bytes())) {
        Ok(Verdict::Allowed) => Judged::Written(text.to_owned()),
        Ok(Verdict::MadeUp(_)) => Judged::Done,
        Err(error) => Judged::Refused(refused_row(write.id(), write.path().first().map(ToString::to_string), &error)),
    })
}

/// `POST /{db}/_revs_diff` and `_missing_revs`: made-up revisions are never reported as missing, and possible ancestors
/// are left out.
pub(super) async fn revs_diff(mut request: Request, limits: &Limits, rows_only: bool) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    let body = request.bytes().await?;
    let asked = endpoints::body::ids_and_revs(&body)?;
    let mut rows = Vec::new();
    for (id, revs) in asked {
        let revs: Vec<String> =
            revs.iter().filter(|rev| !limits.names.is_made_up(&id, rev)).map(|rev| format!("\"{rev}\"")).collect();
        if !revs.is_empty() {
            rows.push(format!("{}:[{}]", quote(&id), revs.join(",")));
        }
    }
    request.replace_body(format!("{{{}}}", rows.join(",")).into());
    if rows_only {
        return endpoints::revisions::missing_revs(request, limits.db.clone()).await;
    }
    let answer = endpoints::revisions::revs_diff(request, limits.db.clone()).await?;
    Ok(answer.with_body(|theirs| {
        let mut rows: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&theirs).unwrap_or_default();
        for row in rows.values_mut().filter_map(serde_json::Value::as_object_mut) {
            row.remove("possible_ancestors");
        }
        (serde_json::Value::Object(rows).to_string() + "\n").into()
    }))
}
