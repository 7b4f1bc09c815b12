//! The past of a document: `/{db}/{id}/_history`. CouchDB has none. `?at=` is in `dispatch.rs`.

use http::Method;
use recension::document::format_time;
use recension::document::json::quote;

use super::reading::{Extras, Shown};
use super::streaming;
use crate::answer::Answer;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::request::Request;

/// `/{db}/{id}/_history`: the revisions that were the document's, newest first, with the commits and times that made them;
/// with `include_docs=true` what they said, and `limit` of them at most. A list that is streamed.
pub(crate) async fn of_document(request: Request, db: Database, id: &str) -> Result<Answer> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(ApiError::method_not_allowed("GET,HEAD"));
    }
    let include_docs = request.query.flag("include_docs")?;
    let limit = request.query.number("limit")?.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let (at, id) = (db.opened().clone(), id.to_owned());
    let mut history = at.history(&id)?.peekable();
    if history.peek().is_none() {
        return Err(ApiError::missing());
    }
    let before = format!("{{\"id\":{},\"history\":[", quote(&id));
    let rows = history.take(limit).enumerate().map(move |(number, revision)| {
        let revision = revision?;
        let doc = if include_docs {
            format!(",\"doc\":{}", Shown::of(&id, &revision).to_json(&at, Extras::default())?)
        } else {
            String::new()
        };
        Ok(format!(
            "{}{{\"rev\":\"{}\",\"seq\":{},\"time\":\"{}\",\"deleted\":{}{doc}}}",
            if number == 0 { "\n" } else { ",\n" },
            revision.rev,
            revision.seq,
            format_time(revision.time),
            revision.deleted
        ))
    });
    streaming::json(&request.app, before, rows, "\n]}\n".to_owned()).await
}
