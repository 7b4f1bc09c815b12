//! A facet: the values that a member has among the documents of a filter, with how many have each. It is counted
//! until a time is over, and says of how many documents it is.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use recension::document::{CollectionAt, Path, Query};

use crate::error::Result;

/// How long is counted.
const PATIENCE: Duration = Duration::from_millis(1500);
/// Values that are told apart.
const VALUES_MAX: usize = 10_000;
/// Values that are shown.
pub(super) const SHOWN: usize = 20;
/// The longest value that is counted.
const VALUE_BYTES_MAX: usize = 200;

/// What was counted.
pub(super) struct Facet {
    /// Values as JSON with their counts, the most frequent first.
    pub(super) values: Vec<(String, u64)>,
    /// How many others there are.
    pub(super) others: usize,
    pub(super) documents: u64,
    /// Not all documents were looked at.
    pub(super) cut: bool,
}

/// Counts.
pub(super) fn count(at: &CollectionAt, query: &Query, member: &str) -> Result<Facet> {
    let path = Path::from_segments(member.split('.'))?;
    let begun = Instant::now();
    let mut counts: HashMap<String, u64> = HashMap::new();
    let (mut documents, mut cut) = (0, false);
    for selection in at.select(&query.clone().select([path]))? {
        let selection = selection?;
        documents += 1;
        let value = selection.values.into_iter().next().flatten().unwrap_or_default();
        if value.len() <= VALUE_BYTES_MAX && (counts.len() < VALUES_MAX || counts.contains_key(&value)) {
            *counts.entry(value).or_default() += 1;
        }
        if documents % 256 == 0 && begun.elapsed() > PATIENCE {
            cut = true;
            break;
        }
    }
    let mut values: Vec<_> = counts.into_iter().collect();
    values.sort_unstable_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let others = values.len().saturating_sub(SHOWN);
    values.truncate(SHOWN);
    Ok(Facet { values, others, documents, cut })
}
