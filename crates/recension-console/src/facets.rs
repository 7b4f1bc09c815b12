//! A facet: the values that a member has among the documents of a filter, with how many have each. It is counted
//! until a time is over, and says of how many documents it is.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use recension::{CollectionAt, Path, Query};

use recension_wire::error::{ApiError, Result};

/// How long is counted for a page, and for a file, which has to have all.
pub(super) const PATIENCE: Duration = Duration::from_millis(1500);
pub(super) const PATIENCE_OF_FILES: Duration = Duration::from_secs(10);
/// Values that are told apart.
const VALUES_MAX: usize = 10_000;
/// Values that are shown.
const SHOWN: usize = 20;
/// The longest value that is counted.
const VALUE_BYTES_MAX: usize = 200;

/// What was counted.
pub(super) struct Facet {
    /// Values as JSON with their counts, the most frequent first. An empty one: the member is absent.
    pub(super) values: Vec<(String, u64)>,
    /// Documents whose value is too long, or one too many.
    uncounted: u64,
    pub(super) documents: u64,
    /// Not all documents were looked at.
    pub(super) cut: bool,
}

impl Facet {
    /// The values that are shown, and how many others there are.
    pub(super) fn shown(&self) -> (&[(String, u64)], usize) {
        let shown = self.values.len().min(SHOWN);
        (&self.values[..shown], self.values.len() - shown)
    }

    /// The values as rows of a file, which says nothing rather than half of it.
    pub(super) fn rows(self) -> Result<Vec<String>> {
        let narrow = "Narrow the filter, or aggregate with $group and $count.";
        if self.cut {
            let counted = self.documents;
            return Err(ApiError::bad_request(format!("Counting took too long, at document {counted}. {narrow}")));
        }
        if self.uncounted > 0 {
            let reason = format!(
                "{} of {} documents have values beyond {VALUES_MAX} different ones, or longer than {VALUE_BYTES_MAX} \
                 bytes. {narrow}",
                self.uncounted, self.documents
            );
            return Err(ApiError::bad_request(reason));
        }
        let row = |(value, count): (String, u64)| match value.as_str() {
            "" => format!("{{\"count\":{count}}}"),
            value => format!("{{\"value\":{value},\"count\":{count}}}"),
        };
        Ok(self.values.into_iter().map(row).collect())
    }
}

/// Counts, until `patience` ends.
pub(super) fn count(at: &CollectionAt, query: &Query, member: &str, patience: Duration) -> Result<Facet> {
    let path = Path::from_segments(member.split('.'))?;
    let begun = Instant::now();
    let mut counts: HashMap<String, u64> = HashMap::new();
    let (mut documents, mut uncounted, mut cut) = (0, 0, false);
    for selection in at.select(&query.clone().select([path]))? {
        let selection = selection?;
        documents += 1;
        let value = selection.values.into_iter().next().flatten().unwrap_or_default();
        if value.len() <= VALUE_BYTES_MAX && (counts.len() < VALUES_MAX || counts.contains_key(&value)) {
            *counts.entry(value).or_default() += 1;
        } else {
            uncounted += 1;
        }
        if documents % 256 == 0 && begun.elapsed() > patience {
            cut = true;
            break;
        }
    }
    let mut values: Vec<_> = counts.into_iter().collect();
    values.sort_unstable_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    Ok(Facet { values, uncounted, documents, cut })
}

#[cfg(test)]
mod tests {
    use recension::{At, Store};

    use super::*;

    #[test]
    fn counting_ends_when_its_time_is_over_and_says_so() {
        let store = Store::memory().unwrap();
        let notes = store.collection("notes").unwrap();
        for n in 0..600 {
            notes.put(&format!("n{n}"), format!("{{\"kind\":{}}}", n % 3)).unwrap();
        }
        let at = notes.at(At::Now).unwrap();
        let cut = count(&at, &Query::new(), "kind", Duration::ZERO).unwrap();
        assert_eq!((cut.cut, cut.documents), (true, 256));
        assert!(cut.rows().unwrap_err().reason.contains("at document 256"));
        let whole = count(&at, &Query::new(), "kind", Duration::from_mins(10)).unwrap();
        assert_eq!((whole.cut, whole.documents, whole.shown().1), (false, 600, 0));
        assert_eq!(whole.rows().unwrap()[0], "{\"value\":0,\"count\":200}");
    }
}
