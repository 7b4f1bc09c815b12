//! Recent queries that took long, for advice on indexes, and how often queries used each index. Both are lost when the
//! server ends.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use parking_lot::Mutex;
use recension::Plan;

/// Queries that take longer are kept.
const LONG: Duration = Duration::from_millis(50);
/// Queries that are kept, and how much of a selector.
const QUERIES_MAX: usize = 200;
const SELECTOR_BYTES_MAX: usize = 400;
/// Indexes whose uses are counted.
const USES_MAX: usize = 10_000;

/// A query that took long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowQuery {
    pub database: String,
    pub selector: String,
    pub plan: String,
    /// The paths that an index would have to be on to help.
    pub suggestion: Option<String>,
    pub millis: u64,
    pub examined: u64,
    pub answered: u64,
}

/// The newest of them, and the number of queries by database and index.
#[derive(Debug, Default)]
pub struct SlowQueries(Mutex<VecDeque<SlowQuery>>, Mutex<HashMap<(String, String), u64>>);

impl SlowQueries {
    /// Notes a query if it took long: of a database, what it selects, and what it took.
    pub fn note(
        &self,
        (database, selector): (&str, &str),
        plan: &Plan,
        worked: Duration,
        (examined, answered): (u64, u64),
    ) {
        self.note_uses(database, plan);
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

    fn note_uses(&self, database: &str, plan: &Plan) {
        for way in plan.union.iter().chain(&plan.intersection) {
            self.note_uses(database, way);
        }
        let Some(index) = &plan.index else { return };
        let mut uses = self.1.lock();
        let key = (database.to_owned(), index.clone());
        if uses.len() < USES_MAX || uses.contains_key(&key) {
            *uses.entry(key).or_default() += 1;
        }
    }

    /// How many queries have used an index.
    pub fn uses(&self, database: &str, index: &str) -> u64 {
        self.1.lock().get(&(database.to_owned(), index.to_owned())).copied().unwrap_or(0)
    }

    /// Those of a database, the newest first.
    pub fn of(&self, database: &str) -> Vec<SlowQuery> {
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
        assert_eq!((slow.of("notes"), slow.uses("notes", "by-n")), (vec![], 0));
        let by_n = recension::IndexSpec::new("by-n", recension::Path::from_segments(["n"]).unwrap());
        notes.create_index(by_n, |_| {}).unwrap();
        let n = recension::Selector::from_json(r#"{"n":1}"#).unwrap();
        let with = notes.explain(&recension::Query::new().selecting(n)).unwrap();
        slow.note(("notes", "{}"), &with, Duration::ZERO, (1, 1));
        assert_eq!((slow.uses("notes", "by-n"), slow.uses("other", "by-n")), (1, 0));
        for n in 0..QUERIES_MAX as u64 + 9 {
            slow.note(("notes", &"é".repeat(999)), &plan, Duration::from_millis(50 + n), (n, 1));
        }
        slow.note(("other", "{}"), &plan, LONG, (1, 1));
        let found = slow.of("notes");
        assert_eq!((found.len(), found[0].millis), (QUERIES_MAX - 1, 258));
        assert!(found[0].selector.len() <= SELECTOR_BYTES_MAX + "…".len());
    }
}
