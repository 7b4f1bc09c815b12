//! `_all_docs` and `_design_docs`: documents by id, streamed.

use std::borrow::Cow;

use http::StatusCode;
use http::header::ETAG;

use super::body::members_of;
use super::format::{Format, cells, csv_line};
use super::list_options::{ListQuery, queries_of};
use super::listed::{List, Part, Row};
use super::streaming;
use super::within::Limited;
use super::writing::not_modified;
use crate::answer::Answer;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::html::form::{Form, ListRow as _, WantedForm};
use crate::request::{Request, only};

/// `/{db}/_all_docs`, `/{db}/_design_docs`, and `…/queries`; of a partition, its documents only.
pub(crate) async fn endpoint(
    mut request: Request,
    db: Database,
    (name, rest): (&str, &[&str]),
    partition: Option<&str>,
    within: Limited,
) -> Result<Answer> {
    let part = match (name, partition) {
        ("_design_docs", _) => Part::Design,
        (_, Some(prefix)) => Part::Partition(prefix.to_owned()),
        (_, None) => Part::All,
    };
    match rest {
        [] => {}
        ["queries"] => return queries(request, db, part, within).await,
        _ => return Err(ApiError::missing()),
    }
    only(&request, "GET,HEAD,POST")?;
    let mut asked = ListQuery::of(&mut request).await?;
    let format = request.format(&[Format::Lines, Format::Csv]);
    let at = db.opened().clone();
    // The tag of a list is its collection's last change: it is known before any row is read. What somebody with limits
    // sees changes with their rights, too.
    let tag = within.is_none().then(|| at.counts()).transpose()?;
    let tag = tag.map(|counts| format!("{}{}", counts.changed, format.suffix()));
    if let Some(tag) = tag.as_ref().filter(|tag| not_modified(&request, tag)) {
        let answer = Answer::empty(StatusCode::NOT_MODIFIED).with(ETAG, format!("W/\"{tag}\""));
        return Ok(answer.varying("Accept"));
    }
    let app = request.app.clone();
    let form = request.head.extensions.get::<WantedForm>().filter(|_| format == Format::Json);
    let form = form.and_then(|WantedForm(form)| form.take());
    let answer = if let Some(form) = form {
        let open = move || {
            let (head, list) = List::of(at, asked, &part, within)?;
            Ok((Vec::new(), Formed { list, form: Some(form), head: Some(head) }))
        };
        streaming::opened(&app, Format::Html.content_type(), open, "").await?
    } else if format == Format::Json {
        let open = move || {
            let (before, list) = List::of(at, asked, &part, within)?;
            Ok((before.into_bytes(), Separated::of(list)))
        };
        streaming::opened(&app, format.content_type(), open, "\n]}\n").await?
    } else {
        let fields: Option<Vec<String>> =
            request.query.get("fields").map(|fields| fields.split(',').map(str::to_owned).collect());
        asked.include_docs |= fields.is_some();
        let (before, line) = lines(format, fields, asked.include_docs);
        let open = move || {
            let (_, list) = List::of(at, asked, &part, within)?;
            Ok((before.into_bytes(), Lines { list, line }))
        };
        streaming::opened(&app, format.content_type(), open, "").await?
    };
    Ok(match tag {
        Some(tag) => answer.with(ETAG, format!("W/\"{tag}\"")),
        None => answer,
    }
    .varying("Accept"))
}

/// How a row is written as a line.
type WriteLine = Box<dyn Fn(&Row<'_>, &mut Vec<u8>) -> Result<()> + Send>;

/// The text before the rows, and how each row is written.
fn lines(format: Format, fields: Option<Vec<String>>, docs: bool) -> (String, WriteLine) {
    if format == Format::Lines {
        let line = |row: &Row<'_>, out: &mut Vec<u8>| {
            row.write_json(out)?;
            out.push(b'\n');
            Ok(())
        };
        return (String::new(), Box::new(line));
    }
    let own = ["id".into(), "rev".into()];
    let head = match &fields {
        Some(fields) => csv_line(own.into_iter().chain(fields.iter().map(Cow::from))),
        None => csv_line(own.into_iter().chain(docs.then(|| "doc".into()))),
    };
    let line = move |row: &Row<'_>, out: &mut Vec<u8>| {
        let doc = row.doc()?.unwrap_or_default();
        let own = [Cow::from(row.id()), Cow::from(row.rev())].into_iter();
        let line = match &fields {
            Some(fields) => csv_line(own.chain(cells(&doc, fields).into_iter().map(Cow::from))),
            None => csv_line(own.chain(docs.then(|| Cow::from(&doc)))),
        };
        out.extend_from_slice(line.as_bytes());
        Ok(())
    };
    (head, Box::new(line))
}

/// `POST …/queries`: several lists in one answer.
async fn queries(mut request: Request, db: Database, part: Part, within: Limited) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    let body = request.bytes().await?;
    let queries = queries_of(&body)?;
    let read = |query: &serde_json::value::RawValue| {
        let members = members_of(query.get().as_bytes())?;
        ListQuery::read_one(&request.query, &body, members)
    };
    let queries = queries.into_iter().map(read).collect::<Result<Vec<_>>>()?;
    let at = db.opened().clone();
    let open = move |asked| {
        let (before, list) = List::of(at.clone(), asked, &part, within.clone())?;
        Ok((before, Separated::of(list)))
    };
    streaming::several(&request.app, queries.into_iter(), open).await
}

/// The rows of a list, with commas between them.
struct Separated {
    list: List,
    first: bool,
}

impl Separated {
    fn of(list: List) -> Self {
        Separated { list, first: true }
    }
}

impl streaming::Rows for Separated {
    fn write_next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        let Separated { list, first } = self;
        let row = list.next(|row| {
            out.extend_from_slice(if std::mem::take(first) { b"\n" } else { b",\n" });
            row.write_json(out)
        })?;
        Ok(row.is_some())
    }

    fn rest(&mut self) {
        self.list.rest();
    }
}

/// The rows of a list as lines.
struct Lines {
    list: List,
    line: WriteLine,
}

impl streaming::Rows for Lines {
    fn write_next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        let Lines { list, line } = self;
        Ok(list.next(|row| line(row, out))?.is_some())
    }

    fn rest(&mut self) {
        self.list.rest();
    }
}

/// The rows of a list in a form that somebody else brought.
struct Formed {
    list: List,
    /// None: what stands behind the rows is written.
    form: Option<Box<dyn Form>>,
    /// None: what stands before the rows is written.
    head: Option<String>,
}

impl streaming::Rows for Formed {
    fn write_next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        let Formed { list, form, head } = self;
        let Some(writes) = form else { return Ok(false) };
        if let Some(head) = head.take() {
            writes.begin(&head, out)?;
        }
        if list.next(|row| writes.row(row, out))?.is_none() {
            writes.end(out)?;
            *form = None;
        }
        Ok(true)
    }

    fn rest(&mut self) {
        self.list.rest();
    }
}
