//! What a query asks for: conditions on paths, an order, a limit. Plain values; `find` carries it out.

use std::ops::Bound;

use super::Result;
use super::collation::{encode_value, type_bounds};
use super::json::{Path, minify, quote};
use super::reader::after_prefix;
use crate::engine::{Direction, KeyRange};

/// A JSON value to compare with. Made of Rust's own values, or of any JSON text with [`Literal::json`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Literal {
    text: String,
}

impl Literal {
    /// Any JSON value.
    pub fn json(text: impl AsRef<[u8]>) -> Result<Self> {
        Ok(Literal { text: minify(text.as_ref())? })
    }

    /// Its JSON text.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn key(&self) -> Vec<u8> {
        let mut key = Vec::new();
        // The text was checked when it was made; an error would leave the key short, never wrong data.
        let encoded = encode_value(&self.text, &mut key);
        debug_assert!(encoded.is_ok(), "{encoded:?}");
        key
    }
}

impl From<&str> for Literal {
    fn from(text: &str) -> Self {
        Literal { text: quote(text) }
    }
}

impl From<String> for Literal {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<f64> for Literal {
    /// What is no number in JSON (NaN, infinities) becomes null.
    fn from(number: f64) -> Self {
        Literal { text: if number.is_finite() { format!("{number:?}") } else { "null".to_owned() } }
    }
}

macro_rules! literal_of {
    ($($of:ty),*) => {$(
        impl From<$of> for Literal {
            fn from(value: $of) -> Self {
                Literal { text: value.to_string() }
            }
        }
    )*};
}

literal_of!(bool, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

/// A contiguous range of values in collation order: null, false, true, numbers, strings, arrays, objects.
///
/// A range with one end stays within the type of that end: above 20 lie numbers, and not the string "30".
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueRange {
    start: Bound<Vec<u8>>,
    end: Bound<Vec<u8>>,
}

impl ValueRange {
    /// Any value; the path must be there.
    pub fn anything() -> Self {
        ValueRange { start: Bound::Unbounded, end: Bound::Unbounded }
    }

    /// One value. Numbers are equal as numbers: 1 and 1.0.
    pub fn equal(value: impl Into<Literal>) -> Self {
        let key = value.into().key();
        ValueRange { start: Bound::Included(key.clone()), end: Bound::Included(key) }
    }

    /// `value` or more.
    pub fn at_least(value: impl Into<Literal>) -> Self {
        let key = value.into().key();
        ValueRange { end: type_end(&key), start: Bound::Included(key) }
    }

    /// More than `value`.
    pub fn above(value: impl Into<Literal>) -> Self {
        let key = value.into().key();
        ValueRange { end: type_end(&key), start: Bound::Excluded(key) }
    }

    /// `value` or less.
    pub fn at_most(value: impl Into<Literal>) -> Self {
        let key = value.into().key();
        ValueRange { start: type_start(&key), end: Bound::Included(key) }
    }

    /// Less than `value`.
    pub fn below(value: impl Into<Literal>) -> Self {
        let key = value.into().key();
        ValueRange { start: type_start(&key), end: Bound::Excluded(key) }
    }

    /// From `least` to `greatest`, both included; they may be of different types.
    pub fn between(least: impl Into<Literal>, greatest: impl Into<Literal>) -> Self {
        ValueRange { start: Bound::Included(least.into().key()), end: Bound::Included(greatest.into().key()) }
    }

    /// What lies in both ranges.
    #[must_use]
    pub fn and(self, other: ValueRange) -> Self {
        let start = tighter(self.start, other.start, |a, b| a > b);
        let end = tighter(self.end, other.end, |a, b| a < b);
        ValueRange { start, end }
    }

    pub(super) fn is_one_value(&self) -> bool {
        matches!((&self.start, &self.end), (Bound::Included(a), Bound::Included(b)) if a == b)
    }

    pub(super) fn contains(&self, key: &[u8]) -> bool {
        let range = (self.start.as_ref().map(Vec::as_slice), self.end.as_ref().map(Vec::as_slice));
        std::ops::RangeBounds::<[u8]>::contains(&range, key)
    }

    /// The keys of an index, which are a value and a document's id, whose values lie in the range.
    pub(super) fn index_keys(&self) -> KeyRange {
        let start = match &self.start {
            Bound::Excluded(key) => match after_prefix(key) {
                Bound::Excluded(after) => Bound::Included(after),
                other => other,
            },
            other => other.clone(),
        };
        let end = match &self.end {
            Bound::Included(key) => after_prefix(key),
            other => other.clone(),
        };
        KeyRange { start, end }
    }
}

fn type_start(key: &[u8]) -> Bound<Vec<u8>> {
    Bound::Included(vec![type_bounds(key).0])
}

fn type_end(key: &[u8]) -> Bound<Vec<u8>> {
    Bound::Excluded(vec![type_bounds(key).1])
}

fn tighter(a: Bound<Vec<u8>>, b: Bound<Vec<u8>>, inside: impl Fn(&Vec<u8>, &Vec<u8>) -> bool) -> Bound<Vec<u8>> {
    match (&a, &b) {
        (Bound::Unbounded, _) => b,
        (_, Bound::Unbounded) => a,
        (Bound::Included(x) | Bound::Excluded(x), Bound::Included(y) | Bound::Excluded(y)) => {
            if x == y {
                if matches!(a, Bound::Excluded(_)) { a } else { b }
            } else if inside(x, y) {
                a
            } else {
                b
            }
        }
    }
}

/// A question to a collection: the documents whose values lie in all these ranges.
///
/// Paths lead into the body; `_id` and `_rev` are not in it: use the list of documents for ids.
/// A document in which a path of a condition, or of the order, is absent is not matched. Without an
/// order the documents come as is cheapest.
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
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query {
    pub(super) conditions: Vec<(Path, ValueRange)>,
    pub(super) sort: Option<(Path, Direction)>,
    pub(super) skip: usize,
    pub(super) limit: Option<usize>,
}

impl Query {
    /// Every document.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only documents whose value at `path` lies in `range`; a second range on one path narrows the first.
    #[must_use]
    pub fn matching(mut self, path: Path, range: ValueRange) -> Self {
        match self.conditions.iter_mut().find(|(other, _)| *other == path) {
            Some((_, other)) => *other = other.clone().and(range),
            None => self.conditions.push((path, range)),
        }
        self
    }

    /// In the order of the values at `path`; documents with one value by their ids.
    #[must_use]
    pub fn sort(mut self, path: Path, direction: Direction) -> Self {
        self.sort = Some((path, direction));
        self
    }

    /// Without the first `skip` documents.
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
}

/// The way in which documents are found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Plan {
    /// Through an index; only the documents in the range are read.
    Index {
        /// Its name.
        name: String,
        /// Whether the documents found are then sorted in memory.
        sorts: bool,
    },
    /// By reading every document.
    Scan {
        /// Whether the documents found are then sorted in memory.
        sorts: bool,
    },
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sorts = match self {
            Plan::Index { name, sorts } => {
                write!(f, "index {name}")?;
                sorts
            }
            Plan::Scan { sorts } => {
                f.write_str("scan of every document")?;
                sorts
            }
        };
        if *sorts { f.write_str(", then sorted in memory") } else { Ok(()) }
    }
}
