//! Replications of the server itself: those that run, the documents of `_replicator` that ask for some, and how to
//! begin and end one.

use minijinja::{Value as Shown, context};
use serde_json::Value;

use super::frame::Frame;
use super::search::{Field, OfRows};
use recension_app::auth::{Access, Session};
use recension_app::replication::documents::DATABASE;
use recension_app::request::Request;
use recension_endpoints::replicate;
use recension_pages::links::{Parameters, document, in_console};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// Databases that are offered as ends.
const OFFERED_MAX: usize = 200;

/// `/_utils/-/replications`
pub(super) async fn page(request: &Request, session: &Session) -> Result<Answer> {
    let proof = session.server_admin()?;
    let text = request.query.get("q").unwrap_or_default().to_owned();
    let (of_search, mistake) = OfRows::read(&text);
    let is_of = |row: &Value| of_search.finds(&row.to_string());
    let jobs: Vec<Value> = request.app.replications.all().iter().map(|job| job.row()).filter(is_of).collect();
    let documents =
        replicate::document_rows(request, session.clone()).await?.into_iter().filter(is_of).collect::<Vec<_>>();
    let revs = revisions(request, session, &documents).await?;
    let app = request.app.clone();
    let names = request.app.blocking(move || app.databases.names(proof)).await?;
    let (path, carried) = (request.head.uri.path(), &Parameters::default());
    let placeholder = "a part of an address, or database = _replicator";
    let field = Field { text: &text, placeholder, path, carried, offers: &[] };
    let offered = names.iter().filter(|name| !name.starts_with('_')).take(OFFERED_MAX).cloned();
    let values = context! {
        field => field.values(mistake.as_ref()),
        running => jobs.iter().map(|job| running(job, &revs)).collect::<Vec<_>>(),
        asked => documents.iter().map(|row| asked(row, &revs)).collect::<Vec<_>>(),
        names => offered.collect::<Vec<_>>(), make => !names.iter().any(|name| name == DATABASE),
    };
    Ok(Frame::begin(request, session, "Replications", None, "Replications", false).page("replications", values))
}

/// The revisions of the documents, by their ids.
async fn revisions(request: &Request, session: &Session, documents: &[Value]) -> Result<Vec<(String, String)>> {
    let ids: Vec<String> = documents.iter().filter_map(|row| Some(text(row, "doc_id")?.to_owned())).collect();
    let database = match session.database(DATABASE, Access::Admin) {
        Err(error) if error == ApiError::no_database() => return Ok(Vec::new()),
        database => database?,
    };
    let at = database.opened().clone();
    let read = move || {
        let rev = |id: String| Some((id.clone(), at.current(&id).ok()??.rev.to_string()));
        Ok(ids.into_iter().filter_map(rev).collect())
    };
    request.app.streams.read(read).await
}

fn text<'v>(row: &'v Value, name: &str) -> Option<&'v str> {
    row.get(name).and_then(Value::as_str)
}

fn running(job: &Value, revs: &[(String, String)]) -> Shown {
    let info = job.get("info").unwrap_or(&Value::Null);
    let last = job.pointer("/history/0").unwrap_or(&Value::Null);
    let number = |name: &str| info.get(name).and_then(Value::as_u64);
    let cancel = serde_json::json!({ "cancel": true, "replication_id": text(job, "id").unwrap_or_default() });
    context! {
        source => text(job, "source").unwrap_or("?"), target => text(job, "target").unwrap_or("?"),
        reason => text(info, "error").or_else(|| text(last, "reason")), read => number("docs_read"),
        written => number("docs_written"), left => number("changes_pending"),
        since => text(job, "start_time").unwrap_or_default(), of_document => text(job, "doc_id").is_some(),
        path => text(job, "doc_id").and_then(|doc| deleted(doc, revs)), cancel => cancel.to_string(),
    }
}

/// The request by which a document is deleted, and with it its replication ends.
fn deleted(doc: &str, revs: &[(String, String)]) -> Option<String> {
    let (_, rev) = revs.iter().find(|(id, _)| id == doc)?;
    Some(Parameters::default().with("rev", rev).on(&document(DATABASE, doc)))
}

fn asked(row: &Value, revs: &[(String, String)]) -> Shown {
    let id = text(row, "doc_id").unwrap_or_default();
    context! {
        id, page => in_console(DATABASE, id), path => deleted(id, revs),
        state => text(row, "state").unwrap_or_default(),
        source => text(row, "source").unwrap_or("?"), target => text(row, "target").unwrap_or("?"),
        error => row.pointer("/info/error").and_then(Value::as_str),
        last => text(row, "last_updated").unwrap_or_default(),
    }
}
