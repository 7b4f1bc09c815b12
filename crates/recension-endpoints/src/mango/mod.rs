//! Mango: queries in JSON (`_find`, `_explain`) and their indexes (`_index`), with CouchDB's words. The selectors and
//! the indexes are the library's own.

pub mod aggregate;
pub mod by_query;
mod candidates;
mod conflicts;
mod definition;
mod explain;
pub(crate) mod fields;
mod find;
pub mod index;
pub mod look;
mod options;
mod ranges;
mod read;
mod reconcile;

use crate::within::Limited;
use recension_app::auth::databases::Database;
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// `/{db}/_find`, `/{db}/_explain`, and the same of a partition.
pub async fn query(
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
