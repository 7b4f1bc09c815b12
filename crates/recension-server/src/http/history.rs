//! The past of a document: `/{db}/{id}/_history`. CouchDB has none. `?at=` is in `dispatch.rs`.

use std::borrow::Cow;

use http::Method;
use recension::format_time;
use recension::json::quote;

use super::format::{Format, csv_line};
use super::reading::{Extras, Shown};
use super::streaming;
use crate::answer::Answer;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::request::Request;

/// `/{db}/{id}/_history`: the winning revisions of a document, newest first, with the commits and times that made them.
/// `include_docs=true` adds their bodies; `limit` bounds their number. The list is streamed.
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
    let format = request.format(&[Format::Lines, Format::Csv]);
    let before = match format {
        Format::Json | Format::Html => format!("{{\"id\":{},\"history\":[", quote(&id)),
        Format::Lines => String::new(),
        Format::Csv => {
            let columns = ["rev", "seq", "time", "deleted"].into_iter().chain(include_docs.then_some("doc"));
            csv_line(columns.map(Cow::from))
        }
    };
    let rows = history.take(limit).enumerate().map(move |(number, revision)| {
        let revision = revision?;
        let doc = include_docs.then(|| Shown::of(&id, &revision).to_json(&at, Extras::default())).transpose()?;
        let (rev, seq, time) = (revision.rev, revision.seq, format_time(revision.time));
        if format == Format::Csv {
            let cells = [rev.to_string(), seq.to_string(), time.clone(), revision.deleted.to_string()];
            return Ok(csv_line(cells.into_iter().chain(doc).map(Cow::from)));
        }
        let doc = doc.map_or(String::new(), |doc| format!(",\"doc\":{doc}"));
        let row =
            format!("{{\"rev\":\"{rev}\",\"seq\":{seq},\"time\":\"{time}\",\"deleted\":{}{doc}}}", revision.deleted);
        Ok(match format {
            Format::Lines => row + "\n",
            _ => format!("{}{row}", if number == 0 { "\n" } else { ",\n" }),
        })
    });
    let after = if format == Format::Json { "\n]}\n" } else { "" };
    let answer = streaming::bytes(&request.app, format.content_type(), before.into_bytes(), rows, after).await?;
    Ok(answer.varying("Accept"))
}
