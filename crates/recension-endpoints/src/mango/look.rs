//! A query of Mango's or an aggregation as a page shows it: its first rows, its plan, and its cost. Also the query for
//! an export of all rows.

use std::time::Instant;

use recension::{CollectionAt, Document, Pipeline, Plan, Query, Selector};

use super::fields::Fields;
use super::find::PreparedFind;
use super::options::Options;
use crate::body::{elements, member, members_of};
use crate::reading::{Extras, Shown};
use recension_app::auth::databases::Database;
use recension_wire::error::{ApiError, Result};

/// The result of a query.
pub struct Looked {
    /// Documents or rows, as JSON.
    pub rows: Vec<String>,
    pub plan: Plan,
    /// For an aggregation, the stages after the query: `$group: {…}`.
    pub stages: Vec<String>,
    /// Keys and documents that were read.
    pub examined: Option<(u64, u64)>,
    pub millis: f64,
    pub warnings: Vec<String>,
}

/// A query of Mango's in the library's form, for streaming all of its results.
pub struct Prepared {
    pub at: CollectionAt,
    pub query: Query,
    pub fields: Option<Vec<String>>,
}

/// A row, and what tells it from the others of its answer: the id of its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub key: String,
    pub text: String,
}

/// The bounds of an answer that is held as a whole.
#[derive(Clone, Copy)]
pub struct Bounds {
    pub rows_max: usize,
    pub bytes_max: usize,
    /// From then on no more rows are taken.
    pub until: Instant,
}

/// A query of Mango's; `now`: no past moment was asked for.
pub fn prepared(db: &Database, body: &str, now: bool) -> Result<Prepared> {
    let asked = PreparedFind::of(db, Options::read(body.as_bytes())?, now, None, None)?.usable()?;
    Ok(Prepared { at: asked.at, query: asked.query, fields: asked.options.fields })
}

/// The first rows of a query of Mango's.
pub fn query(db: &Database, body: &str, now: bool, rows_max: usize) -> Result<Looked> {
    let begun = Instant::now();
    let asked = PreparedFind::of(db, Options::read(body.as_bytes())?, now, None, None)?.usable()?;
    let mut found = asked.at.find(&asked.query)?;
    let fields = asked.options.fields.as_deref().map(Fields::of);
    let mut rows = Vec::new();
    for document in found.by_ref().take(rows_max) {
        rows.push(row(&asked.at, &document?, fields.as_ref())?);
    }
    let millis = begun.elapsed().as_secs_f64() * 1000.0;
    let (keys, documents) = found.examined();
    let examined = Some((keys, documents));
    Ok(Looked { rows, plan: asked.plan, stages: Vec::new(), examined, millis, warnings: asked.warnings })
}

/// A document as a row of an answer.
fn row(at: &CollectionAt, document: &Document<'_>, fields: Option<&Fields>) -> Result<String> {
    let shown = Shown::of_document(document);
    let text = shown.to_json(at, Extras::default())?;
    Ok(match fields {
        Some(fields) => fields.of_document(&text),
        None => text,
    })
}

/// All rows of a query of Mango's, with their keys; `None` if they are beyond the bounds.
pub fn whole(db: &Database, body: &str, now: bool, bounds: Bounds) -> Result<Option<Vec<Row>>> {
    let asked = PreparedFind::of(db, Options::read(body.as_bytes())?, now, None, None)?.usable()?;
    let fields = asked.options.fields.as_deref().map(Fields::of);
    let (mut rows, mut bytes) = (Vec::new(), 0);
    for document in asked.at.find(&asked.query)? {
        let document = document?;
        if rows.len() == bounds.rows_max || bytes > bounds.bytes_max || Instant::now() > bounds.until {
            return Ok(None);
        }
        let text = row(&asked.at, &document, fields.as_ref())?;
        bytes += text.len();
        rows.push(Row { key: document.id.to_string(), text });
    }
    Ok(Some(rows))
}

/// A pipeline, whose rows may take this many bytes.
pub fn pipeline(db: &Database, text: &str, bytes_max: usize) -> Result<Looked> {
    let begun = Instant::now();
    let pipeline = Pipeline::from_json(text)?.bytes_max(bytes_max);
    let (query, stages) = parts(text)?;
    let plan = db.opened().explain(&query)?;
    let rows = db.opened().aggregate(&Query::new().leaving_out("_design/"), &pipeline)?;
    let millis = begun.elapsed().as_secs_f64() * 1000.0;
    Ok(Looked { rows, plan, stages, examined: None, millis, warnings: Vec::new() })
}

/// The part of a pipeline that is a query, and the stages after it.
fn parts(text: &str) -> Result<(Query, Vec<String>)> {
    let bad = || ApiError::bad_request("A pipeline is an array of stages: [{\"$match\": {…}}, {\"$group\": {…}}].");
    let whole = serde_json::from_str::<&serde_json::value::RawValue>(text).map_err(|_| bad())?;
    let mut query = Query::new().leaving_out("_design/");
    let mut stages = Vec::new();
    for stage in elements(whole)?.ok_or_else(bad)? {
        let members = members_of(stage.get().as_bytes())?;
        match member(&members, "$match") {
            Some(selector) if stages.is_empty() => query = query.selecting(Selector::from_json(selector.get())?),
            _ => stages.extend(members.iter().map(|(name, value)| format!("{name}: {}", value.get()))),
        }
    }
    Ok((query, stages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_pipeline_is_a_query() {
        let text = r#"[{"$match": {"a": 1}}, {"$group": {"_id": "$b"}}, {"$match": {"_id": 2}}]"#;
        let (_, stages) = parts(text).unwrap();
        assert_eq!(stages, [r#"$group: {"_id": "$b"}"#, r#"$match: {"_id": 2}"#]);
        for text in ["{}", "[1]", "["] {
            assert!(parts(text).is_err(), "{text}");
        }
    }
}
