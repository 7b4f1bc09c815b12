//! A query: conditions on paths, an order, a page, and the values to select. Plain values; `planner` chooses how it is
//! carried out, and `find` carries it out.

use std::sync::Arc;

use crate::access::AccessMarks;
use crate::collation::Collation;
use crate::condition::{Condition, ValueSet};
use crate::cursor::Cursor;
use crate::error::{Error, Result};
use crate::json::{IntoPath, Path};
use crate::limits::{QUERY_PATHS_MAX, RANGES_MAX, SORT_BYTES_MAX};
use crate::own::check_path;
use crate::selector::{Highlighting, Highlights, Selector};
use recension_engine::Direction;

/// A query for the documents of a collection that meet all of its conditions. Paths lead into the body. The path `_id`
/// is the document's id, and `_rev` its revision, both as strings. Ids are ordered by their bytes, whatever the
/// collation. Conditions on `_id` and an order by it need no index. A document in which a path of a condition, or of
/// the order, is absent does not match. A condition on a path with empty brackets (`tags[]`) is met if any of the
/// values there is in the set. Without an order, the documents come in whatever order is cheapest.
///
/// Alternatives of one path are a [`ValueSet`]. Anything else (alternatives over several paths, negations, parts of
/// strings, regular expressions) is a [`Selector`], for [`Query::selecting`].
///
/// ```
/// use recension::{Query, Store, ValueRange};
/// use recension::engine::Direction;
/// # fn main() -> recension::Result<()> {
/// let cities = Store::memory()?.collection("cities")?;
/// cities.put("lisbon", r#"{"country":"PT","people":545796}"#)?;
/// cities.put("porto", r#"{"country":"PT","people":231800}"#)?;
/// let query = Query::new()
///     .matching("country", ValueRange::equal("PT"))
///     .sort("people", Direction::Forward)
///     .limit(1);
/// let found = cities.find(&query)?.collect::<recension::Result<Vec<_>>>()?;
/// assert_eq!(found[0].id, "porto");
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    /// It is shared, because an answer keeps its query.
    pub conditions: Arc<Vec<Condition>>,
    pub absent: Vec<Path>,
    /// A further test. The conditions that it implies are among `conditions`.
    pub selector: Option<Arc<Selector>>,
    pub sort: Vec<(Path, Direction)>,
    pub select: Vec<Path>,
    pub skip: usize,
    pub limit: Option<usize>,
    pub collation: Collation,
    pub after: Option<Cursor>,
    pub through: Through,
    /// A prefix of the ids of unwanted documents.
    pub left_out: Option<String>,
    /// All that it answers has one of these, as the index of access has it.
    pub among: Option<AccessMarks>,
    pub sort_bytes_max: usize,
    /// In the order of relevance.
    pub relevance: bool,
    /// The relevance of a document says nothing of other documents.
    pub each_alone: bool,
}

/// The indexes that a query may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Through {
    Cheapest,
    /// Any except these.
    Except(Vec<String>),
    Index(String),
    NoIndex,
}

impl Default for Query {
    fn default() -> Self {
        Query {
            conditions: Arc::default(),
            absent: Vec::new(),
            selector: None,
            sort: Vec::new(),
            select: Vec::new(),
            skip: 0,
            limit: None,
            collation: Collation::default(),
            after: None,
            through: Through::Cheapest,
            left_out: None,
            among: None,
            sort_bytes_max: SORT_BYTES_MAX,
            relevance: false,
            each_alone: false,
        }
    }
}

impl Query {
    /// Every document.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only documents whose value at `path` is in `values`. A second condition on the same path narrows the first.
    ///
    /// On a path with empty brackets, each condition stands for itself: different elements may meet them.
    /// `ValueRange::and` asks for one element that meets both.
    #[must_use]
    pub fn matching(mut self, path: impl IntoPath, values: impl Into<ValueSet>) -> Self {
        let path = path.into_path();
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

    /// Only documents that a selector selects. The parts of the selector that conditions can express become conditions,
    /// so that indexes serve them; the rest is tested on documents. Alternatives are read through several indexes if
    /// that pays.
    #[must_use]
    pub fn selecting(mut self, selector: Selector) -> Self {
        let narrowed = selector.narrowed();
        for Condition { path, values } in narrowed.conditions {
            self = self.matching(path, values);
        }
        self.absent.extend(narrowed.absent);
        if !narrowed.exact {
            self.selector = Some(Arc::new(match self.selector.take() {
                Some(before) => Selector::all([Selector::clone(&before), selector]),
                None => selector,
            }));
        }
        self
    }

    /// Only documents that have no value at `path`. No index helps with that.
    #[must_use]
    pub fn without(mut self, path: impl IntoPath) -> Self {
        self.absent.push(path.into_path());
        self
    }

    /// In the order of the values at `path`. A further path orders documents whose values at the earlier paths are
    /// equal. Documents with equal values at all paths come by their ids, in the direction of the last path, or in the
    /// order of the index that gives the order.
    #[must_use]
    pub fn sort(mut self, path: impl IntoPath, direction: Direction) -> Self {
        self.sort.push((path.into_path(), direction));
        self
    }

    /// The most relevant documents first, for the words of its selector
    /// (`Selector::contains_text`). Relevance is BM25, computed from an
    /// index of words on exactly those paths. `Found::relevance` tells it for each
    /// document.
    #[must_use]
    pub fn by_relevance(mut self) -> Self {
        self.relevance = true;
        self
    }

    /// Relevance is reckoned from each document alone: for who may not learn how many other documents have the words.
    #[must_use]
    pub fn each_alone(mut self) -> Self {
        self.each_alone = true;
        self
    }

    /// Only the values at these paths, for `CollectionAt::select`. A path with empty brackets has an array of all
    /// values that it leads to.
    #[must_use]
    pub fn select<P: IntoPath>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.select = paths.into_iter().map(IntoPath::into_path).collect();
        self
    }

    /// Without the first `skip` documents. They are still read: [`Query::after`] avoids that.
    #[must_use]
    pub fn skip(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }

    /// At most this many documents.
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

    /// Only documents behind the one that a cursor stands at; `None`: from the beginning.
    #[must_use]
    pub fn after(mut self, cursor: impl Into<Option<Cursor>>) -> Self {
        self.after = cursor.into();
        self
    }

    /// Through the index of this name, whatever other ways cost.
    #[must_use]
    pub fn through(mut self, index: impl Into<String>) -> Self {
        self.through = Through::Index(index.into());
        self
    }

    /// Through any index except these.
    #[must_use]
    pub fn not_through<N: Into<String>>(mut self, indexes: impl IntoIterator<Item = N>) -> Self {
        let names: Vec<String> = indexes.into_iter().map(Into::into).collect();
        self.through = if names.is_empty() { Through::Cheapest } else { Through::Except(names) };
        self
    }

    /// Without the documents whose ids begin with `ids`.
    #[must_use]
    pub fn leaving_out(mut self, ids: impl Into<String>) -> Self {
        self.left_out = Some(ids.into());
        self
    }

    /// Says that whatever it answers has one of some values in the index of access, so that it may go by that. Its
    /// conditions have to see to it that this is so.
    #[must_use]
    pub fn among(mut self, marks: AccessMarks) -> Self {
        self.among = Some(marks);
        self
    }

    /// The texts of a body in which words stand that it asks for, with marks around these: [`Selector::highlights`].
    pub fn highlights(&self, body: &str, how: &Highlighting) -> Highlights {
        self.selector.as_ref().map(|selector| selector.highlights(body, how)).unwrap_or_default()
    }

    /// Whether [`Query::highlights`] can have marks: it asks for words.
    pub fn marks_words(&self) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.marks_words())
    }

    /// By reading every document, whatever indexes there are.
    #[must_use]
    pub fn without_indexes(mut self) -> Self {
        self.through = Through::NoIndex;
        self
    }

    /// Bytes of values and ids that a sort without an index holds in memory; 256 MiB by default. The rest goes to a
    /// temporary file of the store; a store without a disk refuses the query.
    #[must_use]
    pub fn sort_bytes_max(mut self, bytes: usize) -> Self {
        self.sort_bytes_max = bytes;
        self
    }

    /// The paths of its conditions, each once.
    pub fn paths(&self) -> Vec<Path> {
        let mut paths: Vec<Path> = self.conditions.iter().map(|condition| condition.path.clone()).collect();
        paths.extend(self.absent.iter().cloned());
        paths.extend(self.selector.as_ref().map(|selector| selector.paths()).unwrap_or_default());
        paths.dedup();
        paths
    }

    pub fn check(&self) -> Result<()> {
        let bad = |why| Err(Error::BadQuery { why });
        for count in [self.conditions.len() + self.absent.len(), self.sort.len(), self.select.len()] {
            if count > QUERY_PATHS_MAX {
                return bad("it has more than 256 conditions, or paths to sort by or to select");
            }
        }
        let named = self.conditions.iter().map(|condition| &condition.path).chain(&self.absent).chain(&self.select);
        let mut named = named.chain(self.sort.iter().map(|(path, _)| path));
        named.try_for_each(|path| path.check().and_then(|()| check_path(path)))?;
        if self.relevance && !self.sort.is_empty() {
            return bad("it is to be sorted by relevance and by paths; leave one of them away");
        }
        if self.relevance && self.selector.as_ref().is_none_or(|selector| selector.words().is_empty()) {
            return bad("it is to be sorted by relevance, and asks for no words; ask for some with $text");
        }
        if self.sort.iter().any(|(path, _)| path.is_multiple()) {
            return bad("a path with empty brackets leads to any number of values, and gives no order");
        }
        self.selector.as_ref().map_or(Ok(()), |selector| selector.check())?;
        self.conditions.iter().try_for_each(Condition::check)
    }

    /// A checksum that all pages of this query share: neither the page nor the selected paths are in it.
    pub fn fingerprint(&self) -> u32 {
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
        bytes.extend(self.relevance.then_some(if self.each_alone { 0xfb } else { 0xfc }));
        if let Some(selector) = &self.selector {
            bytes.push(0xfd);
            bytes.extend(selector.to_json().bytes());
        }
        crc32c::crc32c(&bytes)
    }
}
