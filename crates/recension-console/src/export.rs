//! What a page of the console lists, whole, for other programs: as JSON, as NDJSON, as CSV, and as a plain page. It is
//! streamed, and of the moment that the page is of.

use http::header::CONTENT_DISPOSITION;
use recension::json::quote;
use recension::{self as library, Change, CollectionAt, Document, Found};

use super::difference::{self, Difference};
use super::query::{BYTES_MAX, Query};
use super::{documents, facets, query_compare, search};
use recension_app::auth::{Access, Session};
use recension_app::request::{Request, at_its_moment};
use recension_endpoints::mango::look;
use recension_endpoints::rows::{self, Texts};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::format::{Format, cells, columns_of};

/// `/_utils/{db}/export`
pub(super) async fn endpoint(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    let database = at_its_moment(request, session.database(db, Access::Member)?)?;
    let text = |name: &str| request.query.get(name).map(str::to_owned).filter(|text| !text.is_empty());
    // A page is made of the JSON.
    let format = request.format(&[Format::Lines, Format::Csv]);
    let now = request.query.get("at").is_none();
    let (query, of) = (Query::of(request), text("of"));
    let (asked, moments) = (documents::ListRequest::of(request)?, difference::moments(request));
    let source = request.app.blocking(move || {
        Ok(match (query, of.as_deref()) {
            (Some(query), Some("differences")) => {
                let compared = query_compare::compared(&database, &query, &moments)?;
                let rows = compared.ok_or_else(query_compare::too_long)?.rows();
                Source::Coming(query_compare::COLUMNS, Box::new(rows.into_iter().map(Ok)))
            }
            (Some(Query::Mango(mango)), _) => {
                let look::Prepared { at, query, fields } = look::prepared(&database, &mango, now)?;
                Source::of(at, &query, fields)?
            }
            (Some(Query::Pipeline(text)), _) => {
                Source::Rows(look::pipeline(&database, &text, BYTES_MAX)?.rows.into_iter())
            }
            (_, Some("facet")) => {
                let missing = || ApiError::bad_request("A facet is of a member: name it in the parameter facet.");
                let facet = asked.facet(database.opened(), facets::PATIENCE_OF_FILES)?.ok_or_else(missing)?;
                Source::Coming(&["value", "count"], Box::new(facet.rows()?.into_iter().map(Ok)))
            }
            (_, Some("changes")) => Source::changes(database.opened()),
            (_, Some("differences")) => {
                let selector = search::selector(&asked.filter, database.opened())?;
                Source::differences(difference::between(&database.share(), &moments, selector)?)
            }
            _ => Source::of(database.opened().clone(), &asked.whole(database.opened())?, asked.fields)?,
        })
    });
    let source = source.await?;
    let (source, columns) = match format {
        // Of documents without chosen members all are read for it: none may be missing in the table.
        Format::Csv => request.app.streams.read(move || source.columns().map(|columns| (source, columns))).await?,
        _ => (source, Vec::new()),
    };
    let before = format!("{{\"{}\":[", source.name());
    let texts = Texts { rows: source, columns, cells };
    let answer = rows::answer(&request.app, format, move || Ok((before, texts))).await?;
    let ending = match (format, request.query.get("format")) {
        (Format::Lines, _) => "ndjson",
        (Format::Csv, _) => "csv",
        // Shown, and not kept.
        (_, Some("html")) => return Ok(answer),
        _ => "json",
    };
    let name: String = db.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
    Ok(answer.varying("Accept").with(CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.{ending}\"")))
}

/// Where rows come from.
enum Source {
    Documents {
        at: CollectionAt,
        query: Box<library::Query>,
        found: Box<Found>,
        fields: Option<Vec<String>>,
    },
    Rows(std::vec::IntoIter<String>),
    /// Rows of some columns, as they come.
    Coming(&'static [&'static str], Box<dyn Iterator<Item = Result<String>> + Send>),
}

impl Source {
    /// What has changed, the newest first.
    fn changes(at: &CollectionAt) -> Self {
        let row = |change: library::Result<Change>| {
            let Change { id, seq, rev, deleted, .. } = change?;
            Ok(format!("{{\"id\":{},\"seq\":{seq},\"rev\":\"{rev}\",\"deleted\":{deleted}}}", quote(&id)))
        };
        Source::Coming(&["id", "seq", "rev", "deleted"], Box::new(at.changes_backward().map(row)))
    }

    /// What is different between two moments.
    fn differences(all: impl Iterator<Item = Result<Difference>> + Send + 'static) -> Self {
        let row = |different: Result<Difference>| {
            let Difference { id, before, after } = different?;
            let what = match (before, after) {
                (false, _) => "made",
                (_, false) => "gone",
                _ => "changed",
            };
            Ok(format!("{{\"id\":{},\"what\":\"{what}\"}}", quote(&id)))
        };
        Source::Coming(&["id", "what"], Box::new(all.map(row)))
    }

    fn of(at: CollectionAt, query: &library::Query, fields: Option<Vec<String>>) -> Result<Self> {
        let found = Box::new(at.find(query)?);
        Ok(Source::Documents { at, query: Box::new(query.clone()), found, fields })
    }

    /// What the rows are called.
    fn name(&self) -> &'static str {
        match self {
            Source::Documents { .. } => "docs",
            Source::Rows(_) | Source::Coming(..) => "rows",
        }
    }

    /// The columns of a table: those that are asked for, or the members of the rows.
    fn columns(&self) -> Result<Vec<String>> {
        match self {
            Source::Documents { fields: Some(fields), .. } => {
                let others = fields.iter().filter(|field| *field != "_id").cloned();
                Ok(std::iter::once("_id".to_owned()).chain(others).collect())
            }
            Source::Documents { at, query, fields: None, .. } => {
                columns_of(at.find(query)?.map(|document| Ok(documents::row(&document?))))
            }
            Source::Coming(known, _) => Ok(known.iter().map(|name| (*name).to_owned()).collect()),
            Source::Rows(rows) => columns_of(rows.as_slice().iter().map(Ok)),
        }
    }
}

impl Iterator for Source {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Result<String>> {
        match self {
            Source::Rows(rows) => rows.next().map(Ok),
            Source::Coming(_, rows) => rows.next(),
            Source::Documents { found, fields, .. } => {
                let document = found.next()?.map_err(Into::into);
                Some(document.map(|document| with_fields(&document, fields.as_deref())))
            }
        }
    }
}

/// A document, or what of it is asked for.
fn with_fields(document: &Document<'_>, fields: Option<&[String]>) -> String {
    let whole = documents::row(document);
    let Some(fields) = fields else { return whole };
    let mut out = format!("{{\"_id\":{}", quote(&document.id));
    for field in fields.iter().filter(|field| *field != "_id") {
        if let Some(value) = recension_pages::list::at(&whole, field) {
            out.push(',');
            out.push_str(&quote(field));
            out.push(':');
            out.push_str(&value);
        }
    }
    out.push('}');
    out
}
