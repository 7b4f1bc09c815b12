//! What a query asks for: conditions on paths, an order, a page of it, what of each document. Plain values;
//! `planner` chooses how it is carried out, and `find` carries it out.

use std::sync::Arc;

use super::collation::Collation;
use super::condition::{Condition, ValueSet};
use super::cursor::Cursor;
use super::json::Path;
use super::limits::{QUERY_PATHS_MAX, RANGES_MAX, SORT_BYTES_MAX};
use super::{Error, Result};
use crate::engine::Direction;

/// A question to a collection: the documents that meet all of its conditions.
///
/// Paths lead into the body; `_id` and `_rev` are not in it: use the list of documents for ids.
/// A document in which a path of a condition, or of the order, is absent is not matched. A condition on a
/// path with empty brackets (`tags[]`) is met where any of the values there is in the set. Without an
/// order the documents come as is cheapest.
///
/// Alternatives of one path are a [`ValueSet`]; there are none over several paths: ask once for each.
///
/// ```
/// use recension::document::{Query, Store, ValueRange};
/// use recension::engine::Direction;
/// # fn main() -> recension::document::Result<()> {
/// let cities = Store::memory()?.collection("cities")?;
/// cities.put("lisbon", r#"{"country":"PT","people":545796}"#)?;
/// cities.put("porto", r#"{"country":"PT","people":231800}"#)?;
/// let query = Query::new()
///     .matching("country".parse()?, ValueRange::equal("PT"))
///     .sort("people".parse()?, Direction::Forward)
///     .limit(1);
/// let found = cities.find(&query)?.collect::<recension::document::Result<Vec<_>>>()?;
/// assert_eq!(found[0].id, "porto");
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    /// Shared: an answer keeps its query.
    pub(super) conditions: Arc<Vec<Condition>>,
    pub(super) absent: Vec<Path>,
    pub(super) sort: Vec<(Path, Direction)>,
    pub(super) select: Vec<Path>,
    pub(super) skip: usize,
    pub(super) limit: Option<usize>,
    pub(super) collation: Collation,
    pub(super) after: Option<Cursor>,
    pub(super) through: Through,
    pub(super) sort_bytes_max: usize,
}

/// Which index a query may go by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Through {
    Cheapest,
    Index(String),
    NoIndex,
}

impl Default for Query {
    fn default() -> Self {
        Query {
            conditions: Arc::default(),
            absent: Vec::new(),
            sort: Vec::new(),
            select: Vec::new(),
            skip: 0,
            limit: None,
            collation: Collation::default(),
            after: None,
            through: Through::Cheapest,
            sort_bytes_max: SORT_BYTES_MAX,
        }
    }
}

impl Query {
    /// Every document.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only documents whose value at `path` lies in `values`; a second condition on one path narrows the first.
    ///
    /// On a path with empty brackets each condition stands for itself: different elements may meet them.
    /// [`ValueRange::and`](super::ValueRange::and) asks for one element that meets both.
    #[must_use]
    pub fn matching(mut self, path: Path, values: impl Into<ValueSet>) -> Self {
        let values = values.into();
        let conditions = Arc::make_mut(&mut self.conditions);
        if !path.is_multiple()
            && let Some(known) = conditions.iter_mut().find(|condition| condition.path == path)
            && known.values.len().saturating_mul(values.len()) <= RANGES_MAX
        {
            known.values = known.values.and(&values);
        } else {
            conditions.push(Condition { path, values });
        }
        self
    }

    /// Only documents that have no value at `path`. No index helps with that.
    #[must_use]
    pub fn without(mut self, path: Path) -> Self {
        self.absent.push(path);
        self
    }

    /// In the order of the values at `path`, and of earlier ones where there are such: a further path orders
    /// documents that are alike by the earlier ones. Documents that are alike by all come by their ids, in
    /// the direction of the last path, or as an index that gives the order has them.
    #[must_use]
    pub fn sort(mut self, path: Path, direction: Direction) -> Self {
        self.sort.push((path, direction));
        self
    }

    /// Only the values at these paths, for [`CollectionAt::select`](super::CollectionAt::select).
    #[must_use]
    pub fn select(mut self, paths: impl IntoIterator<Item = Path>) -> Self {
        self.select = paths.into_iter().collect();
        self
    }

    /// Without the first `skip` documents. They are read all the same: [`Query::after`] goes on without.
    #[must_use]
    pub fn skip(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }

    /// At most so many documents.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// With strings in this order.
    #[must_use]
    pub fn collated(mut self, collation: Collation) -> Self {
        self.collation = collation;
        self
    }

    /// Only what comes after the document that a cursor stands at; `None`: from the beginning.
    #[must_use]
    pub fn after(mut self, cursor: impl Into<Option<Cursor>>) -> Self {
        self.after = cursor.into();
        self
    }

    /// Through the index of that name, whatever others cost.
    #[must_use]
    pub fn through(mut self, index: impl Into<String>) -> Self {
        self.through = Through::Index(index.into());
        self
    }

    /// By reading every document, whatever indexes there are.
    #[must_use]
    pub fn without_indexes(mut self) -> Self {
        self.through = Through::NoIndex;
        self
    }

    /// Bytes of values and ids that a sort without an index may hold in memory; 256 MiB where nothing is said.
    #[must_use]
    pub fn sort_bytes_max(mut self, bytes: usize) -> Self {
        self.sort_bytes_max = bytes;
        self
    }

    pub(super) fn check(&self) -> Result<()> {
        let bad = |why| Err(Error::BadQuery { why });
        for count in [self.conditions.len() + self.absent.len(), self.sort.len(), self.select.len()] {
            if count > QUERY_PATHS_MAX {
                return bad("it has more than 256 conditions, or paths to sort by or to select");
            }
        }
        if self.sort.iter().any(|(path, _)| path.is_multiple()) {
            return bad("a path with empty brackets leads to any number of values, and gives no order");
        }
        if self.select.iter().any(Path::is_multiple) {
            return bad("a path with empty brackets cannot be selected; select the array");
        }
        self.conditions.iter().try_for_each(Condition::check)
    }

    /// What a cursor of this query has in common with its other pages: not the page, not what is selected.
    pub(super) fn fingerprint(&self) -> u32 {
        let mut bytes = vec![self.collation.encoding()];
        for Condition { path, values } in self.conditions.iter() {
            bytes.extend(path.to_string().bytes().chain([0]));
            values.encode(&mut bytes);
        }
        for path in &self.absent {
            bytes.extend([0xff]);
            bytes.extend(path.to_string().bytes().chain([0]));
        }
        for (path, direction) in &self.sort {
            bytes.extend([0xfe, u8::from(*direction == Direction::Backward)]);
            bytes.extend(path.to_string().bytes().chain([0]));
        }
        crc32c::crc32c(&bytes)
    }
}
