//! Partitioned databases: ids are `partition:rest`, and a partition can be read by itself. The order of ids keeps a
//! partition together, so that nothing more is stored.

use recension::ListOptions;
use recension::json::quote;

use super::within::Limited;
use super::{all_docs, mango, views};
use crate::answer::Answer;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::request::{Request, only};

/// `/{db}/_partition/{partition}` and what is below.
pub(crate) async fn endpoint(request: Request, db: Database, rest: &[&str], within: Limited) -> Result<Answer> {
    if !db.is_partitioned()? {
        return Err(ApiError::bad_request("database is not partitioned"));
    }
    let [partition, rest @ ..] = rest else { return Err(ApiError::missing()) };
    check_name(partition)?;
    match rest {
        [] => info(request, db, partition, within).await,
        ["_all_docs"] => {
            all_docs::endpoint(request, db, ("_all_docs", &[]), Some(&format!("{partition}:")), within).await
        }
        [name @ ("_find" | "_explain")] => mango::query(request, db, name, Some(partition), within).await,
        ["_design", design, "_view", rest @ ..] => {
            views::endpoint(request, db, &format!("_design/{design}"), rest, Some(partition), within).await
        }
        _ => Err(ApiError::missing()),
    }
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

/// Refuses an id that no document of a partitioned database can have. Design and local documents are in no partition.
/// Pure.
pub(crate) fn check_id(id: &str) -> Result<()> {
    if id.starts_with('_') {
        // Whether the id is valid otherwise is checked elsewhere.
        return Ok(());
    }
    let (partition, rest) = id.split_once(':').ok_or_else(ApiError::id_without_partition)?;
    check_name(partition)?;
    if rest.is_empty() { Err(ApiError::id_empty()) } else { Ok(()) }
}

fn check_name(partition: &str) -> Result<()> {
    let refused = |reason: &'static str| Err(ApiError::illegal_partition(reason));
    match partition {
        "" => refused("Partition must not be empty"),
        _ if partition.starts_with('_') => refused("Partition must not start with an underscore"),
        _ if partition.contains(':') => refused("Partition must not contain a colon"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_a_partition_and_a_rest() {
        for id in ["p:a", "p:a:b", "p::", "é:1", "_design/x", "_local/x"] {
            assert_eq!(check_id(id), Ok(()), "{id}");
        }
        for (id, refused) in [
            ("nopart", ApiError::id_without_partition()),
            (":x", ApiError::illegal_partition("Partition must not be empty")),
            ("p:", ApiError::id_empty()),
        ] {
            assert_eq!(check_id(id), Err(refused), "{id}");
        }
        assert!(check_name("a:b").is_err());
        assert!(check_name("_a").is_err());
    }
}
