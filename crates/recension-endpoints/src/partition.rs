//! Partitioned databases: ids are `partition:rest`, and a partition can be read by itself. The order of ids keeps a
//! partition together, so that nothing more is stored.

use recension::ListOptions;
use recension::json::quote;

use super::within::Limited;
use super::{all_docs, mango, views};
use recension_app::auth::databases::Database;
use recension_app::auth::partitions::check_name;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// `/{db}/_partition/{partition}` and what is below.
pub async fn endpoint(request: Request, db: Database, rest: &[&str], within: Limited) -> Result<Answer> {
    let [partition, rest @ ..] = rest else { return Err(ApiError::bad_request("invalid_partition_req")) };
    if !db.is_partitioned()? {
        return Err(ApiError::bad_request("database is not partitioned"));
    }
    check_name(partition)?;
    if request.query.get("partition").is_some_and(|other| other != *partition) {
        return Err(ApiError::bad_request("Conflicting value for `partition` in query string"));
    }
    match rest {
        [] => info(request, db, partition, within).await,
        ["_all_docs"] => {
            all_docs::endpoint(request, db, ("_all_docs", &[]), Some(&format!("{partition}:")), within).await
        }
        [name @ ("_find" | "_explain")] => Box::pin(mango::query(request, db, name, Some(partition), within)).await,
        ["_design", design, "_view", rest @ ..] => {
            views::endpoint(request, db, &format!("_design/{design}"), rest, Some(partition), within).await
        }
        _ => Err(ApiError::missing()),
    }
}

/// The partition that a request for a whole database names in its query: it is answered like one below `_partition`.
pub fn in_query(request: &Request) -> Result<Option<String>> {
    let partition = request.query.get("partition").map(str::to_owned);
    partition.map(|partition| check_name(&partition).map(|()| partition)).transpose()
}

/// The description of a partition. Its documents are counted, which takes time with their number.
async fn info(request: Request, db: Database, partition: &str, within: Limited) -> Result<Answer> {
    only(&request, "GET,HEAD")?;
    let (name, partition) = (db.name().to_owned(), partition.to_owned());
    request
        .app
        .blocking(move || {
            let (mut live, mut deleted, mut bytes) = (0_u64, 0_u64, 0);
            let all = ListOptions { deleted: true, ..ListOptions::prefix(&format!("{partition}:")) };
            for document in db.opened().list(&all)? {
                let document = document?;
                if document.deleted {
                    deleted += 1;
                } else if within.as_ref().is_none_or(|within| within.shows(&document)) {
                    live += 1;
                    bytes += document.body.len();
                }
            }
            // Somebody with limits is not told how many others there were.
            let deleted = if within.is_some() { "null".to_owned() } else { deleted.to_string() };
            Ok(Answer::ok(format!(
                "{{\"db_name\":{},\"sizes\":{{\"active\":{bytes},\"external\":{bytes}}},\"partition\":{},\
                 \"doc_count\":{live},\"doc_del_count\":{deleted}}}",
                quote(&name),
                quote(&partition)
            )))
        })
        .await
}
