//! `_all_docs` and `_design_docs`: documents by id, streamed.

use std::borrow::Cow;

use http::StatusCode;
use http::header::ETAG;
use recension::document::json::quote;
use recension::document::{CollectionAt, Document, ListOptions};

use super::body::{elements, member, members_of};
use super::documents::not_modified;
use super::format::{Format, cells, csv_line};
use super::list_options::{ListQuery, before};
use super::reading::{Extras, Shown};
use super::streaming;
use crate::answer::Answer;
use crate::databases::Database;
use crate::dispatch::only;
use crate::error::{ApiError, Result};
use crate::limits::{OFFSET_COUNTED_MAX, QUERIES_MAX};
use crate::query::Query;
use crate::request::Request;

/// `/{db}/_all_docs`, `/{db}/_design_docs`, and `…/queries`; of a partition those documents whose ids begin so.
pub(crate) async fn endpoint(
    mut request: Request,
    db: Database,
    name: &str,
    rest: &[&str],
    partition: Option<&str>,
) -> Result<Answer> {
    let part = match (name, partition) {
        ("_design_docs", _) => Part::Design,
        (_, Some(prefix)) => Part::Partition(prefix.to_owned()),
        (_, None) => Part::All,
    };
    match rest {
        [] => {}
        ["queries"] => return queries(request, db, part).await,
        _ => return Err(ApiError::missing()),
    }
    only(&request, "GET,HEAD,POST")?;
    let mut asked = ListQuery::of(&mut request).await?;
    let format = Format::of(&request, &[Format::Lines, Format::Csv]);
    let at = db.opened().clone();
    // The tag of a list is its collection's last change: it is known before any row is read.
    let tag = format!("{}{}", at.counts()?.changed, format.suffix());
    if not_modified(&request, &tag) {
        let answer = Answer::empty(StatusCode::NOT_MODIFIED).with(ETAG, format!("W/\"{tag}\""));
        return Ok(answer.varying("Accept"));
    }
    let app = request.app.clone();
    let answer = if format == Format::Json {
        let (before, rows) = request.app.blocking(move || list(at, asked, &part)).await?;
        streaming::json(&app, before, separated(rows.map(|row| Ok(row?.json()))), "\n]}\n".to_owned()).await?
    } else {
        let fields: Option<Vec<String>> =
            request.query.get("fields").map(|fields| fields.split(',').map(str::to_owned).collect());
        asked.include_docs |= fields.is_some();
        let (before, line) = lines(format, fields, asked.include_docs);
        let (_, rows) = request.app.blocking(move || list(at, asked, &part)).await?;
        let rows = rows.map(move |row| Ok(line(&row?)));
        streaming::bytes(&app, format.content_type(), before.into_bytes(), rows).await?
    };
    Ok(answer.with(ETAG, format!("W/\"{tag}\"")).varying("Accept"))
}

/// How a row is written as a line.
type WriteLine = Box<dyn Fn(&Row) -> String + Send>;

/// What comes before the rows, and how they are written.
fn lines(format: Format, fields: Option<Vec<String>>, docs: bool) -> (String, WriteLine) {
    if format == Format::Lines {
        return (String::new(), Box::new(|row| row.json() + "\n"));
    }
    let own = ["id".into(), "rev".into()];
    let head = match &fields {
        Some(fields) => csv_line(own.into_iter().chain(fields.iter().map(Cow::from))),
        None => csv_line(own.into_iter().chain(docs.then(|| "doc".into()))),
    };
    let line = move |row: &Row| {
        let doc = row.doc.as_deref().unwrap_or_default();
        let own = [Cow::from(&row.id), Cow::from(&row.rev)].into_iter();
        match &fields {
            Some(fields) => csv_line(own.chain(cells(doc, fields).into_iter().map(Cow::from))),
            None => csv_line(own.chain(docs.then(|| doc.into()))),
        }
    };
    (head, Box::new(line))
}

/// `POST …/queries`: several lists in one answer.
async fn queries(mut request: Request, db: Database, part: Part) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    let body = request.bytes().await?;
    let members = members_of(&body)?;
    let missing = || ApiError::bad_request("POST body must include `queries` parameter.");
    let queries = elements(member(&members, "queries").ok_or_else(missing)?);
    let queries = queries.ok_or_else(|| ApiError::bad_request("`queries` parameter must be an array."))?;
    if queries.len() > QUERIES_MAX {
        return Err(ApiError::bad_request(format!("`queries` has {QUERIES_MAX} elements at most")));
    }
    let read = |query: &serde_json::value::RawValue| {
        let members = members_of(query.get().as_bytes())?;
        let members = members.into_iter().map(|(name, value)| (name, value.get().to_owned())).collect();
        ListQuery::read(&Query::default(), members)
    };
    let queries = queries.into_iter().map(read).collect::<Result<Vec<_>>>()?;
    let at = db.opened().clone();
    let list_of = move |(number, asked): (usize, ListQuery)| {
        let (before, rows) = match list(at.clone(), asked, &part) {
            Ok((before, rows)) => (Ok(before), Some(separated(rows.map(|row| Ok(row?.json()))))),
            Err(error) => (Err(error), None),
        };
        let comma = if number == 0 { "" } else { ",\n" };
        let before = before.map(|before| format!("{comma}{before}"));
        std::iter::once(before).chain(rows.into_iter().flatten()).chain(std::iter::once(Ok("\n]}".to_owned())))
    };
    let lists = queries.into_iter().enumerate().flat_map(list_of);
    streaming::json(&request.app, "{\"results\":[\n".to_owned(), lists, "\n]}\n".to_owned()).await
}

type Rows = Box<dyn Iterator<Item = Result<Row>> + Send>;

/// A row of a list.
struct Row {
    /// The id; of a key without a document the key.
    id: String,
    /// The revision; empty where there is no document.
    rev: String,
    deleted: bool,
    /// The document, where it is asked for: `null` of what is deleted.
    doc: Option<String>,
}

impl Row {
    fn json(&self) -> String {
        if self.rev.is_empty() {
            return format!("{{\"key\":{},\"error\":\"not_found\"}}", self.id);
        }
        let (id, rev) = (quote(&self.id), &self.rev);
        let deleted = if self.deleted { ",\"deleted\":true" } else { "" };
        let doc = self.doc.as_ref().map_or(String::new(), |doc| format!(",\"doc\":{doc}"));
        format!("{{\"id\":{id},\"key\":{id},\"value\":{{\"rev\":\"{rev}\"{deleted}}}{doc}}}")
    }
}

/// A list: what comes before its rows, and the rows.
fn list(at: CollectionAt, asked: ListQuery, part: &Part) -> Result<(String, Rows)> {
    let options = part.narrowed(asked.options());
    let total = if *part == Part::Design { counted(&at, &designs())?.unwrap_or_default() } else { at.count()? };
    let update_seq =
        if asked.update_seq { format!("\"update_seq\":\"{}\",", at.counts()?.changed) } else { String::new() };
    let head = |offset: &str| format!("{{\"total_rows\":{total},{update_seq}\"offset\":{offset},\"rows\":[");
    let (skip, limit) = (asked.skip, asked.limit);
    if let Some(mut keys) = asked.keys.clone() {
        if asked.descending {
            keys.reverse();
        }
        let part = part.clone();
        let rows = keys.into_iter().skip(skip).take(limit).map(move |key| row_of_key(&at, &key, &asked, &part));
        return Ok((head("null"), Box::new(rows)));
    }
    let before = counted(&at, &part.before(&asked))?;
    let offset = before.map_or("null".to_owned(), |before| before.saturating_add(skip as u64).min(total).to_string());
    let documents = at.list(&ListOptions { limit: Some(skip.saturating_add(limit)), ..options })?;
    let rows = documents.skip(skip).map(move |document| row(&at, &document?, &asked));
    Ok((head(&offset), Box::new(rows)))
}

fn separated(rows: impl Iterator<Item = Result<String>>) -> impl Iterator<Item = Result<String>> {
    rows.enumerate().map(|(number, row)| row.map(|row| format!("{}{row}", if number == 0 { "\n" } else { ",\n" })))
}

fn row(at: &CollectionAt, document: &Document<'_>, asked: &ListQuery) -> Result<Row> {
    let doc = asked.include_docs.then(|| doc(at, document, asked)).transpose()?;
    Ok(Row { id: document.id.to_string(), rev: document.rev.to_string(), deleted: false, doc })
}

fn row_of_key(at: &CollectionAt, key: &str, asked: &ListQuery, part: &Part) -> Result<Row> {
    let id: Option<String> = serde_json::from_str(key).ok();
    let id = id.as_deref().filter(|id| !matches!(part, Part::Partition(prefix) if !id.starts_with(prefix)));
    let document = id.map_or(Ok(None), |id| at.current(id))?;
    match document {
        None => Ok(Row { id: key.to_owned(), rev: String::new(), deleted: false, doc: None }),
        Some(document) if document.deleted => {
            let doc = asked.include_docs.then(|| "null".to_owned());
            Ok(Row { id: document.id.to_string(), rev: document.rev.to_string(), deleted: true, doc })
        }
        Some(document) => row(at, &document, asked),
    }
}

fn doc(at: &CollectionAt, document: &Document<'_>, asked: &ListQuery) -> Result<String> {
    let shown = Shown {
        id: &document.id,
        rev: document.rev,
        seq: document.seq.0,
        deleted: document.deleted,
        body: &document.body,
        attachments: &document.attachments,
    };
    asked.inline.text(at, shown, Extras { conflicts: asked.conflicts, ..Extras::default() })
}

/// How many documents there are in a range; `None` where counting them one by one would take too long.
fn counted(at: &CollectionAt, options: &ListOptions) -> Result<Option<u64>> {
    let mut count = 0;
    for document in at.list(options)? {
        document?;
        count += 1;
        if count > OFFSET_COUNTED_MAX {
            return Ok(None);
        }
    }
    Ok(Some(count))
}

fn designs() -> ListOptions {
    ListOptions::prefix("_design/")
}

/// Which of a database's documents a list is of.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    All,
    /// Counted and placed as if there were no others.
    Design,
    /// Those whose ids begin so, counted and placed among all.
    Partition(String),
}

impl Part {
    /// A range, within the part.
    fn narrowed(&self, mut options: ListOptions) -> ListOptions {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        let ListOptions { start, end, .. } = match self {
            Part::All => return options,
            Part::Design => designs(),
            Part::Partition(prefix) => ListOptions::prefix(prefix),
        };
        let text = |bound: &std::ops::Bound<String>| match bound {
            Included(id) | Excluded(id) => id.clone(),
            Unbounded => String::new(),
        };
        if text(&options.start) < text(&start) {
            options.start = start;
        }
        if matches!(options.end, Unbounded) || text(&options.end) > text(&end) {
            options.end = end;
        }
        options
    }

    /// The rows that are counted for `offset`: those before the first that was asked for.
    fn before(&self, asked: &ListQuery) -> ListOptions {
        match self {
            Part::All => asked.before(),
            Part::Design => self.narrowed(asked.before()),
            Part::Partition(_) => before(self.narrowed(asked.options())),
        }
    }
}
