//! The specification of an index: paths with their directions, a filter, uniqueness, the order of strings. Its form in
//! the catalogue is in docs/documents-format.md. Pure: bytes in, values out.

use std::fmt;

use crate::byte_reader::ByteReader;
use crate::collation::Collation;
use crate::condition::{Condition, ValueSet};
use crate::error::{Error, Result};
use crate::json::{IntoPath, Path, Step};
use crate::limits::{INDEX_FILTER_BYTES_MAX, INDEX_PARTS_MAX};
use crate::text::Language;
use crate::write::check_name;
use recension_engine::Direction;

/// A path of an index, and the order of its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexPart {
    /// The path.
    pub path: Path,
    /// Ascending or descending.
    pub direction: Direction,
}

/// The specification of an index.
///
/// A document is in the index if it has a value at the first path and meets every condition of the filter. In a unique
/// index, it needs a value at every path. One of the paths may have empty brackets (`tags[]`): the document is then in
/// the index once for each different value there. So may several that lead into the elements of one array
/// (`items[].sku`, `items[].count`), unless the index is unique: the document is then in it once for each element that
/// differs in them, and a selector that asks for one element (`Selector::some_element`) is decided by it.
///
/// ```
/// use recension::{Condition, IndexSpec, ValueRange};
/// # fn main() -> recension::Result<()> {
/// let open_orders = IndexSpec::new("open-orders", "customer")
///     .then_descending("placed")
///     .only_where(Condition::new("state", ValueRange::equal("open")));
/// assert_eq!(open_orders.to_string(), "customer, placed descending, where state = \"open\"");
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexSpec {
    /// Its name within the collection.
    pub name: String,
    /// The paths of the values that it orders, the first one first.
    pub parts: Vec<IndexPart>,
    /// Whether no two documents may have the same values.
    pub unique: bool,
    /// How it orders strings.
    pub collation: Collation,
    /// Only documents that meet all of these are in it.
    pub filter: Vec<Condition>,
    /// If set, the index is of the words of the strings at the paths, in this language, and not of the values.
    pub words: Option<Language>,
}

impl IndexSpec {
    /// An index that holds any values.
    pub fn new(name: impl Into<String>, path: impl IntoPath) -> Self {
        let parts = vec![IndexPart { path: path.into_path(), direction: Direction::Forward }];
        let collation = Collation::default();
        IndexSpec { name: name.into(), parts, unique: false, collation, filter: Vec::new(), words: None }
    }

    /// An index of words: of all strings within the values at some paths, for
    /// `Selector::contains_text`.
    pub fn words<P: IntoPath>(name: impl Into<String>, paths: impl IntoIterator<Item = P>, language: Language) -> Self {
        let part = |path: P| IndexPart { path: path.into_path(), direction: Direction::Forward };
        let parts = paths.into_iter().map(part).collect();
        let (collation, words) = (Collation::Binary, Some(language));
        IndexSpec { name: name.into(), parts, unique: false, collation, filter: Vec::new(), words }
    }

    /// An index in which no two documents may have the same value.
    pub fn unique(name: impl Into<String>, path: impl IntoPath) -> Self {
        IndexSpec { unique: true, ..Self::new(name, path) }
    }

    /// With the values at one more path, ascending.
    #[must_use]
    pub fn then(mut self, path: impl IntoPath) -> Self {
        self.parts.push(IndexPart { path: path.into_path(), direction: Direction::Forward });
        self
    }

    /// With the values at one more path, descending.
    #[must_use]
    pub fn then_descending(mut self, path: impl IntoPath) -> Self {
        self.parts.push(IndexPart { path: path.into_path(), direction: Direction::Backward });
        self
    }

    /// Limited to documents that meet this condition.
    #[must_use]
    pub fn only_where(mut self, condition: Condition) -> Self {
        self.filter.push(condition);
        self
    }

    /// With strings in this order.
    #[must_use]
    pub fn collated(mut self, collation: Collation) -> Self {
        self.collation = collation;
        self
    }

    /// Its paths and directions, as text: `country, population descending`.
    pub fn members(&self) -> String {
        let part = |part: &IndexPart| match part.direction {
            Direction::Forward => part.path.to_string(),
            Direction::Backward => format!("{} descending", part.path),
        };
        self.parts.iter().map(part).collect::<Vec<_>>().join(", ")
    }

    /// The path to the elements of an array, if several paths lead into them.
    pub fn elements(&self) -> Option<Path> {
        let mut many = self.parts.iter().map(|part| &part.path).filter(|path| path.is_multiple());
        let (array, _) = many.next()?.of_elements()?;
        many.next()?;
        Path::of_steps([array, &[Step::Each]].concat()).ok()
    }

    /// Whether an index can be as this says.
    pub fn check(&self) -> Result<()> {
        self.words.map_or(Ok(()), Language::built_in)?;
        self.is_sound()
    }

    fn is_sound(&self) -> Result<()> {
        check_name("index", &self.name)?;
        let bad = |why| Err(Error::BadIndex { index: self.name.clone(), why });
        if self.parts.is_empty() || self.parts.len() > INDEX_PARTS_MAX {
            return bad("it is on 1 to 16 paths");
        }
        for (i, part) in self.parts.iter().enumerate() {
            part.path.check()?;
            if self.parts[..i].iter().any(|other| other.path == part.path) {
                return bad("a path is in it twice");
            }
        }
        let many: Vec<&Path> = self.parts.iter().map(|part| &part.path).filter(|path| path.is_multiple()).collect();
        let plain = !self.unique
            && self.collation == Collation::Binary
            && self.parts.iter().all(|part| part.direction == Direction::Forward);
        if self.words.is_some() && !plain {
            return bad("an index of words is neither unique nor in an order");
        }
        let array = many.first().and_then(|path| path.of_elements());
        let of_one_array =
            array.is_some() && many.iter().all(|path| path.of_elements().map(|of| of.0) == array.map(|of| of.0));
        if many.len() > 1 && self.words.is_none() && (self.unique || !of_one_array) {
            return bad(
                "several of its paths may have empty brackets only if they lead into the elements of one array, with \
                 one pair each, and it is not unique; make an index for each",
            );
        }
        let filter_bytes: usize =
            self.filter.iter().map(|condition| condition.path.to_string().len() + condition.values.size_bytes()).sum();
        if filter_bytes > INDEX_FILTER_BYTES_MAX {
            return bad("its filter is longer than 16 KiB");
        }
        self.filter.iter().try_for_each(Condition::check)
    }

    /// Appends all of it except its name and its flags.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.collation.encoding());
        out.push(self.parts.len() as u8);
        for part in &self.parts {
            out.push(u8::from(part.direction == Direction::Backward));
            push_text(&part.path.to_string(), out);
        }
        out.extend((self.filter.len() as u16).to_be_bytes());
        for condition in &self.filter {
            push_text(&condition.path.to_string(), out);
            condition.values.encode(out);
        }
    }

    /// Reads the form that [`IndexSpec::encode`] writes. An error if this program was built without what the index
    /// needs; `None` if it does not read.
    pub fn decode(name: String, unique: bool, reader: &mut ByteReader<'_>) -> Option<Result<Self>> {
        let collation = match Collation::of_encoding(reader.byte()?)? {
            Ok(collation) => collation,
            Err(error) => return Some(Err(error.into())),
        };
        let parts = (0..reader.byte()?).map(|_| {
            let direction = match reader.byte()? {
                0 => Direction::Forward,
                1 => Direction::Backward,
                _ => return None,
            };
            Some(IndexPart { path: take_text(reader)?.parse().ok()?, direction })
        });
        let parts: Vec<IndexPart> = parts.collect::<Option<_>>()?;
        let filter = (0..reader.u16()?).map(|_| {
            let path = take_text(reader)?.parse().ok()?;
            Some(Condition { path, values: ValueSet::decode(reader)? })
        });
        let filter = filter.collect::<Option<_>>()?;
        let spec = IndexSpec { name, parts, unique, collation, filter, words: None };
        // An index of words, which a later section marks, may have several such paths.
        let words = IndexSpec { words: Some(Language::Plain), ..spec.clone() };
        (spec.is_sound().is_ok() || words.is_sound().is_ok()).then_some(Ok(spec))
    }
}

pub fn push_text(text: &str, out: &mut Vec<u8>) {
    out.extend((text.len() as u16).to_be_bytes());
    out.extend(text.as_bytes());
}

pub fn take_text<'b>(reader: &mut ByteReader<'b>) -> Option<&'b str> {
    let length = reader.u16()?;
    std::str::from_utf8(reader.take(usize::from(length))?).ok()
}

impl fmt::Display for IndexSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.members())?;
        match self.words {
            Some(Language::Plain) => f.write_str(", words")?,
            Some(language) => write!(f, ", words in {}", language.name())?,
            None => {}
        }
        if self.unique {
            f.write_str(", unique")?;
        }
        if self.collation == Collation::Binary && self.words.is_none() {
            f.write_str(", strings by bytes")?;
        }
        for (i, condition) in self.filter.iter().enumerate() {
            write!(f, "{} {condition}", if i == 0 { ", where" } else { " and" })?;
        }
        Ok(())
    }
}
