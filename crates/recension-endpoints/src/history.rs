//! The past of a document: `/{db}/{id}/_history`. CouchDB has none. `?at=` is in `dispatch.rs`.

use std::io::Write as _;

use http::Method;
use recension::json::quote;
use recension::{RevisionHead, format_time};

use super::format::Format;
use super::reading::{Extras, Shown};
use super::rows::{self, Each};
use recension_app::auth::databases::Database;
use recension_app::request::Request;
use recension_pages::form::ListRow;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// `/{db}/{id}/_history`: the winning revisions of a document, newest first, with the commits and times that made them.
/// `include_docs=true` adds their bodies; `limit` bounds their number. The list is streamed.
pub async fn of_document(request: Request, db: Database, id: &str) -> Result<Answer> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(ApiError::method_not_allowed("GET,HEAD"));
    }
    let include_docs = request.query.flag("include_docs")?;
    let limit = request.query.number("limit")?.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let (at, id) = (db.opened().clone(), id.to_owned());
    let mut revisions = at.revisions(&id)?.peekable();
    if revisions.peek().is_none() {
        return Err(ApiError::missing());
    }
    let format = request.format(&[Format::Lines, Format::Csv]);
    let mut columns = vec!["rev".to_owned(), "seq".to_owned(), "time".to_owned(), "deleted".to_owned()];
    columns.extend(include_docs.then(|| "doc".to_owned()));
    let before = format!("{{\"id\":{},\"history\":[", quote(&id));
    let answer = if include_docs {
        let rows = at.history(&id)?.take(limit).map(move |revision| {
            let revision = revision?;
            let doc = Some(Shown::of(&id, &revision).to_json(&at, Extras::default())?);
            Ok(Past { revision: revision.head(), doc })
        });
        rows::answer(&request.app, format, move || Ok((before, Each { rows, columns }))).await?
    } else {
        let rows = revisions.take(limit).map(|revision| Ok(Past { revision: revision?, doc: None }));
        rows::answer(&request.app, format, move || Ok((before, Each { rows, columns }))).await?
    };
    Ok(answer.varying("Accept"))
}

/// A revision of the past, with its body if it is asked for.
struct Past {
    revision: RevisionHead,
    doc: Option<String>,
}

impl ListRow for Past {
    fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        let RevisionHead { rev, seq, time, deleted } = &self.revision;
        let time = format_time(*time);
        // Writing there cannot fail.
        let _ = write!(out, "{{\"rev\":\"{rev}\",\"seq\":{seq},\"time\":\"{time}\",\"deleted\":{deleted}");
        if let Some(doc) = &self.doc {
            let _ = write!(out, ",\"doc\":{doc}");
        }
        out.push(b'}');
        Ok(())
    }

    fn cells(&self) -> Result<Vec<String>> {
        let RevisionHead { rev, seq, time, deleted } = &self.revision;
        let own = [rev.to_string(), seq.to_string(), format_time(*time), deleted.to_string()];
        Ok(own.into_iter().chain(self.doc.clone()).collect())
    }
}
