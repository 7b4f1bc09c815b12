//! A facet: the values that a member has among the documents of a filter, with how many have each. It is counted
//! until a time is over, and says of how many documents it is.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use recension::{CollectionAt, Path, Query};

use crate::error::{ApiError, Result};

/// How long is counted for a page, and for a file, which has to have all.
pub(super) const PATIENCE: Duration = Duration::from_millis(1500);
pub(super) const PATIENCE_OF_FILES: Duration = Duration::from_secs(10);
/// Values that are told apart.
const VALUES_MAX: usize = 10_000;
/// Values that are shown.
const SHOWN: usize = 20;
/// The longest value that is counted.
const VALUE_BYTES_MAX: usize = 200;

/// Facets that are kept for the next page, and values of each at most.
const KEPT_MAX: usize = 32;
const KEPT_VALUES_MAX: usize = 1000;

/// Of what a facet was counted: a database as of its last change, a filter, and a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) db: String,
    pub(crate) changed: recension::engine::Seq,
    pub(crate) filter: String,
    pub(crate) member: String,
}

/// Facets that were counted last: a list whose database stays the same is not counted again for each of its pages.
#[derive(Debug, Default)]
pub(crate) struct Facets(Mutex<VecDeque<(Counted, Arc<Facet>)>>);

impl Facets {
    /// The facet, counted now if it is not known.
    pub(super) fn of(&self, what: Counted, count: impl FnOnce() -> Result<Facet>) -> Result<Arc<Facet>> {
        if let Some((_, known)) = self.0.lock().iter().find(|(own, _)| *own == what) {
            return Ok(Arc::clone(known));
        }
        let facet = Arc::new(count()?);
        if facet.values.len() <= KEPT_VALUES_MAX {
            let mut kept = self.0.lock();
            kept.truncate(KEPT_MAX - 1);
            kept.push_front((what, Arc::clone(&facet)));
        }
        Ok(facet)
    }
}

/// What was counted.
#[derive(Debug)]
pub(crate) struct Facet {
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
    fn a_facet_is_counted_once_for_each_state_and_few_are_kept() {
        let facets = Facets::default();
        let counts = std::cell::Cell::new(0);
        let of = |changed| {
            let what = Counted {
                db: "db".to_owned(),
                changed: recension::engine::Seq(changed),
                filter: String::new(),
                member: "kind".to_owned(),
            };
            let count = || {
                counts.set(counts.get() + 1);
                Ok(Facet { values: Vec::new(), uncounted: 0, documents: changed, cut: false })
            };
            facets.of(what, count).unwrap().documents
        };
        assert_eq!((of(1), of(1), of(2), of(1)), (1, 1, 2, 1));
        assert_eq!(counts.get(), 2);
        (10..100).for_each(|changed| assert_eq!(of(changed), changed));
        assert_eq!(facets.0.lock().len(), KEPT_MAX);
        assert_eq!((of(1), counts.get()), (1, 93));
    }

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
