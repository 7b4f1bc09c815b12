//! Mango: queries in JSON (`_find`, `_explain`) and their indexes (`_index`), with CouchDB's words. The selectors and
//! the indexes are the library's own.

pub(crate) mod aggregate;
pub(crate) mod by_query;
mod candidates;
mod definition;
mod explain;
pub(crate) mod fields;
mod find;
pub(crate) mod index;
pub(crate) mod look;
mod options;
mod ranges;
mod read;
mod reconcile;

use crate::answer::Answer;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::http::within::Limited;
use crate::request::Request;

/// `/{db}/_find`, `/{db}/_explain`, and the same of a partition.
pub(crate) async fn query(
    request: Request,
    db: Database,
    name: &str,
    partition: Option<&str>,
    within: Limited,
) -> Result<Answer> {
    match name {
        "_find" => find::endpoint(request, db, partition, within).await,
        "_explain" => explain::endpoint(request, db, partition, within).await,
        _ => Err(ApiError::missing()),
    }
}
