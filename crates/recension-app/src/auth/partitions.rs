//! Ids of partitioned databases: `partition:rest`.

use recension_wire::error::{ApiError, Result};

/// Refuses an id that no document of a partitioned database can have. Design and local documents are in no partition.
/// Pure.
pub fn check_id(id: &str) -> Result<()> {
    if id.starts_with('_') {
        // Whether the id is valid otherwise is checked elsewhere.
        return Ok(());
    }
    let (partition, rest) = id.split_once(':').ok_or_else(ApiError::id_without_partition)?;
    check_name(partition)?;
    if rest.is_empty() { Err(ApiError::id_empty()) } else { Ok(()) }
}

/// Refuses a name that no partition can have. Pure.
pub fn check_name(partition: &str) -> Result<()> {
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
