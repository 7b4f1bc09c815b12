//! `_aggregate`, which CouchDB does not have: a pipeline in MongoDB's words over the documents of a database.

use recension::{CollectionAt, Pipeline, Query};
use serde_json::value::RawValue;

use crate::body::{distinct_members_of, member, members_of};
use crate::format::{Format, cell_of, columns_of};
use crate::rows::{self, Texts};
use crate::within::{Limited, Within};
use recension_app::auth::databases::Database;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::Result;

/// `/{db}/_aggregate`: `{"pipeline":[…]}`
pub async fn endpoint(mut request: Request, db: Database, within: Limited) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    let body = request.bytes().await?;
    let pipeline = {
        let members = distinct_members_of(&body)?;
        if let Some((name, _)) = members.iter().find(|(name, _)| name != "pipeline") {
            return Err(super::options::bad("invalid_key", format!("Invalid key {name} for this request.")));
        }
        let missing = || super::options::bad("missing_required_key", "Missing required key: pipeline");
        Pipeline::from_json(member(&members, "pipeline").ok_or_else(missing)?.get())?
    };
    drop(body);
    let format = request.format(&[Format::Lines, Format::Csv]);
    let at = db.opened().clone();
    // The pipeline's memory comes from the budget of streamed answers. It gets half of the budget at most: the pieces
    // of its answer need some too.
    let memory = PIPELINE_MEMORY.min(request.app.streams.budget.max() / 2);
    let kept = Box::pin(request.app.streams.keep_selector(pipeline.weight())).await?;
    let mut share = request.app.streams.room(memory).await?;
    let pipeline = pipeline.bytes_max(memory / 3);
    let rows = request.app.streams.read(move || aggregated(&at, &pipeline, within.as_deref())).await?;
    drop(kept);
    share.settle(rows.iter().map(String::len).sum());
    let columns = if format == Format::Csv { columns_of(rows.iter().map(Ok))? } else { Vec::new() };
    let rows = rows.into_iter().map(move |row| {
        let _held = &share;
        Ok(row)
    });
    let texts = Texts { rows, columns, cells: members_as_cells };
    let answer = rows::answer(&request.app, format, move || Ok(("{\"rows\":[".to_owned(), texts))).await?;
    Ok(answer.varying("Accept"))
}

/// The members of a row as cells. A column's name may have dots.
fn members_as_cells(row: &str, columns: &[String]) -> Vec<String> {
    let members = members_of(row.as_bytes()).unwrap_or_default();
    columns.iter().map(|column| cell_of(member(&members, column).map(RawValue::get))).collect()
}

fn aggregated(at: &CollectionAt, pipeline: &Pipeline, within: Option<&dyn Within>) -> Result<Vec<String>> {
    let all = Query::new().leaving_out("_design/");
    let query = match within {
        Some(within) => within.narrowed(all)?,
        None => all,
    };
    Ok(at.aggregate(&query, pipeline)?)
}

/// Memory of one aggregation, in bytes: a third each for groups, for rows to sort, and for the answer.
const PIPELINE_MEMORY: usize = 24 * 1024 * 1024;
