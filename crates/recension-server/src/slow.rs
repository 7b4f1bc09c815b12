//! Recent queries that took long, for advice on indexes. They are lost when the server ends.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::Mutex;
use recension::Plan;

/// Queries that take longer are kept.
const LONG: Duration = Duration::from_millis(50);
/// Queries that are kept, and how much of a selector.
const QUERIES_MAX: usize = 200;
const SELECTOR_BYTES_MAX: usize = 400;

/// A query that took long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlowQuery {
    pub(crate) database: String,
    pub(crate) selector: String,
    pub(crate) plan: String,
    /// The paths that an index would have to be on to help.
    pub(crate) suggestion: Option<String>,
    pub(crate) millis: u64,
    pub(crate) examined: u64,
    pub(crate) answered: u64,
}

/// The newest of them.
#[derive(Debug, Default)]
pub(crate) struct SlowQueries(Mutex<VecDeque<SlowQuery>>);

impl SlowQueries {
    /// Notes a query if it took long: of a database, what it selects, and what it took.
    pub(crate) fn note(
        &self,
        (database, selector): (&str, &str),
        plan: &Plan,
        worked: Duration,
        (examined, answered): (u64, u64),
    ) {
        if worked < LONG {
            return;
        }
        let end = selector.char_indices().map(|(at, _)| at).find(|at| *at >= SELECTOR_BYTES_MAX);
        let selector = end.map_or(selector.to_owned(), |end| format!("{}…", &selector[..end]));
        let query = SlowQuery {
            database: database.to_owned(),
            selector,
            plan: plan.summary(),
            suggestion: plan.suggestion.clone(),
            millis: u64::try_from(worked.as_millis()).unwrap_or(u64::MAX),
            examined,
            answered,
        };
        let mut all = self.0.lock();
        all.push_back(query);
        while all.len() > QUERIES_MAX {
            all.pop_front();
        }
    }

    /// Those of a database, the newest first.
    pub(crate) fn of(&self, database: &str) -> Vec<SlowQuery> {
        self.0.lock().iter().rev().filter(|query| query.database == database).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_long_is_kept_and_no_more_than_that() {
        let store = recension::Store::memory().unwrap();
        let notes = store.collection("notes").unwrap();
        let plan = notes.explain(&recension::Query::new()).unwrap();
        let slow = SlowQueries::default();
        slow.note(("notes", "{}"), &plan, Duration::from_millis(49), (1, 1));
        assert_eq!(slow.of("notes"), []);
        for n in 0..QUERIES_MAX as u64 + 9 {
            slow.note(("notes", &"é".repeat(999)), &plan, Duration::from_millis(50 + n), (n, 1));
        }
        slow.note(("other", "{}"), &plan, LONG, (1, 1));
        let found = slow.of("notes");
        assert_eq!((found.len(), found[0].millis), (QUERIES_MAX - 1, 258));
        assert!(found[0].selector.len() <= SELECTOR_BYTES_MAX + "…".len());
    }
}
