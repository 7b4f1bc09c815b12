//! `_update` and `_show`: a function that is given a document and a request.

use http::header::ACCEPT;
use http::{HeaderName, Method, StatusCode};
use md5::{Digest as _, Md5};
use recension::Write;
use recension::json::quote;
use recension_script::{Functions, Script};
use serde_json::{Value, json};

use super::answered::answer;
use super::requested::{RequestObject, document};
use crate::incoming::Incoming;
use crate::within::{Limited, edited};
use crate::writing::not_modified;
use recension_app::auth::databases::Database;
use recension_app::functions;
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

const NEW_REV: HeaderName = HeaderName::from_static("x-couch-update-newrev");
const ID: HeaderName = HeaderName::from_static("x-couch-id");

/// The functions of a design document that has a function at `path`.
pub(crate) fn script(request: &Request, db: &Database, design: &str, path: &[&str]) -> Result<Script> {
    let own = functions::design(db, design)?;
    let whole = json!(own.members());
    path.iter().try_fold(&whole, |at, name| {
        let missing = || ApiError::new(StatusCode::NOT_FOUND, "not_found", format!("missing json key: {name}"));
        at.get(name).ok_or_else(missing)
    })?;
    own.check_language()?;
    let deadline = request.app.settings.live().function_deadline;
    let functions: Functions = request.app.scripts.functions_of(db, deadline)?;
    Ok(own.script(&functions))
}

/// The name of a function, and the id behind it, if there is one.
fn named<'r>(rest: &[&'r str], error: &'static str) -> Result<(&'r str, Option<String>)> {
    match rest {
        [name, id @ ..] if !name.is_empty() => Ok((*name, Some(id.join("/")).filter(|id| !id.is_empty()))),
        _ => Err(ApiError::new(StatusCode::NOT_FOUND, error, "Invalid path.")),
    }
}

/// Calls a function on a thread that may wait.
pub(crate) async fn ask(
    request: &Request,
    script: Script,
    command: &'static str,
    members: Vec<(&'static str, String)>,
) -> Result<Value> {
    let ask = move || {
        let members: Vec<(&str, &str)> = members.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = script.ask(command, &members).map_err(functions::refused)?;
        for line in &answer.log {
            functions::log(line);
        }
        serde_json::from_str(answer.value.get()).map_err(|_| ApiError::internal("the function's answer does not read"))
    };
    request.app.blocking(ask).await
}

/// `/{db}/_design/{design}/_update/{function}[/{id}]`
pub async fn update(
    mut request: Request,
    db: Database,
    design: &str,
    rest: &[&str],
    within: Limited,
) -> Result<Answer> {
    let (name, id) = named(rest, "update_error")?;
    let method = request.method();
    if !matches!(*method, Method::PUT | Method::POST | Method::DELETE) {
        let reason = format!("Update functions do not allow {method}");
        return Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", reason));
    }
    let body = request.bytes().await?;
    let script = script(&request, &db, design, &["updates", name])?;
    let req = RequestObject::of(&request, &db, id.as_deref(), &body, within.as_deref())?;
    let doc = document(&db, id.as_deref(), within.as_deref())?;
    let members = vec![("name", quote(name)), ("doc", doc), ("req", req.json())];
    let made = ask(&request, script, "update", members).await?;
    let (doc, response) =
        (made.get("doc").cloned().unwrap_or_default(), made.get("response").cloned().unwrap_or_default());
    if doc.is_null() {
        return answer(&response, StatusCode::OK);
    }
    let max = request.app.settings.live().max_document_size;
    let text = doc.to_string();
    let incoming = Incoming::parse(text.as_bytes(), max)?;
    // As in CouchDB: a function names the document that it makes.
    let id = incoming.write.id().ok_or_else(ApiError::id_empty)?.to_owned();
    db.may_write(&id)?;
    let incoming = edited(within.as_deref(), &id, incoming)?;
    let write: Write = incoming.write.renamed(&id)?;
    let written = db.write(write).await?;
    let answer = answer(&response, StatusCode::CREATED)?;
    Ok(answer.with(NEW_REV, written.rev.to_string()).with(ID, &written.id))
}

/// `/{db}/_design/{design}/_show/{function}[/{id}]`
pub async fn show(mut request: Request, db: Database, design: &str, rest: &[&str], within: Limited) -> Result<Answer> {
    let (name, id) = named(rest, "show_error")?;
    recension_app::request::only(&request, "GET,HEAD,POST")?;
    let body = if *request.method() == Method::POST { request.bytes().await? } else { bytes::Bytes::new() };
    let script = script(&request, &db, design, &["shows", name])?;
    let req = RequestObject::of(&request, &db, id.as_deref(), &body, within.as_deref())?;
    let doc = document(&db, id.as_deref(), within.as_deref())?;
    // What the answer is made of, as in CouchDB: the function, the document, and the client's wishes and rights.
    let mut hash = Md5::new();
    let writer = format!("{:?}", db.writer());
    for part in [script.name(), doc.as_str(), request.header(ACCEPT).unwrap_or_default(), writer.as_str()] {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    let tag = recension_app::identity::password::hex(&hash.finalize());
    if not_modified(&request, &tag) {
        return Ok(Answer::empty(StatusCode::NOT_MODIFIED).etag(tag).varying("Accept"));
    }
    let members = vec![("name", quote(name)), ("doc", doc), ("req", req.json())];
    let made = ask(&request, script, "show", members).await?;
    Ok(answer(&made, StatusCode::OK)?.etag(tag).varying("Accept"))
}
