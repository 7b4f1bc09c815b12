//! What an index is on: paths with their directions, a filter, uniqueness, the order of strings. Its form in
//! the catalogue is in docs/documents-format.md. Pure: bytes in, values out.

use std::fmt;

use super::byte_reader::ByteReader;
use super::collation::Collation;
use super::condition::{Condition, ValueSet};
use super::json::Path;
use super::limits::{INDEX_FILTER_BYTES_MAX, INDEX_PARTS_MAX};
use super::write::check_name;
use super::{Error, Result};
use crate::engine::Direction;

/// A path of an index, and the order of its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexPart {
    /// The path.
    pub path: Path,
    /// Ascending or descending.
    pub direction: Direction,
}

/// What an index is on.
///
/// A document is in the index where it has a value at every path and meets every condition of the filter.
/// One of the paths may have empty brackets (`tags[]`): the document is then in the index once for each
/// different value there.
///
/// ```
/// use recension::document::{Condition, IndexSpec, ValueRange};
/// # fn main() -> recension::document::Result<()> {
/// let open_orders = IndexSpec::new("open-orders", "customer".parse()?)
///     .then_descending("placed".parse()?)
///     .only_where(Condition::new("state".parse()?, ValueRange::equal("open")));
/// assert_eq!(open_orders.to_string(), "customer, placed descending, where state = \"open\"");
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexSpec {
    /// Its name within the collection.
    pub name: String,
    /// The paths of the values that it orders, the first one first.
    pub parts: Vec<IndexPart>,
    /// Whether the values of one document may not be another's too.
    pub unique: bool,
    /// How it orders strings.
    pub collation: Collation,
    /// Only documents that meet all of these are in it.
    pub filter: Vec<Condition>,
}

impl IndexSpec {
    /// An index that holds any values.
    pub fn new(name: impl Into<String>, path: Path) -> Self {
        let parts = vec![IndexPart { path, direction: Direction::Forward }];
        IndexSpec { name: name.into(), parts, unique: false, collation: Collation::Unicode, filter: Vec::new() }
    }

    /// An index in which every value belongs to one document.
    pub fn unique(name: impl Into<String>, path: Path) -> Self {
        IndexSpec { unique: true, ..Self::new(name, path) }
    }

    /// With the values at one more path, ascending.
    #[must_use]
    pub fn then(mut self, path: Path) -> Self {
        self.parts.push(IndexPart { path, direction: Direction::Forward });
        self
    }

    /// With the values at one more path, descending.
    #[must_use]
    pub fn then_descending(mut self, path: Path) -> Self {
        self.parts.push(IndexPart { path, direction: Direction::Backward });
        self
    }

    /// Of documents that meet this condition only.
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

    /// The number of the part whose path leads to any number of values.
    pub(super) fn multiple(&self) -> Option<usize> {
        self.parts.iter().position(|part| part.path.is_multiple())
    }

    pub(super) fn check(&self) -> Result<()> {
        check_name("index", &self.name)?;
        let bad = |why| Err(Error::BadIndex { index: self.name.clone(), why });
        if self.parts.is_empty() || self.parts.len() > INDEX_PARTS_MAX {
            return bad("it is on 1 to 16 paths");
        }
        for (i, part) in self.parts.iter().enumerate() {
            if self.parts[..i].iter().any(|other| other.path == part.path) {
                return bad("a path is in it twice");
            }
        }
        if self.parts.iter().filter(|part| part.path.is_multiple()).count() > 1 {
            return bad("only one of its paths may have empty brackets; make an index for each");
        }
        let filter_bytes: usize =
            self.filter.iter().map(|condition| condition.path.to_string().len() + condition.values.size_bytes()).sum();
        if filter_bytes > INDEX_FILTER_BYTES_MAX {
            return bad("its filter is longer than 16 KiB");
        }
        self.filter.iter().try_for_each(Condition::check)
    }

    /// Appends all of it but its name and its flags.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
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

    /// Reads what [`IndexSpec::encode`] wrote.
    pub(super) fn decode(name: String, unique: bool, reader: &mut ByteReader<'_>) -> Option<Self> {
        let collation = Collation::of_encoding(reader.byte()?)?;
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
        Some(IndexSpec { name, parts, unique, collation, filter }).filter(|spec| spec.check().is_ok())
    }
}

pub(super) fn push_text(text: &str, out: &mut Vec<u8>) {
    out.extend((text.len() as u16).to_be_bytes());
    out.extend(text.as_bytes());
}

pub(super) fn take_text<'b>(reader: &mut ByteReader<'b>) -> Option<&'b str> {
    let length = reader.u16()?;
    std::str::from_utf8(reader.take(usize::from(length))?).ok()
}

impl fmt::Display for IndexSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.members())?;
        if self.unique {
            f.write_str(", unique")?;
        }
        if self.collation == Collation::Binary {
            f.write_str(", strings by bytes")?;
        }
        for (i, condition) in self.filter.iter().enumerate() {
            write!(f, "{} {condition}", if i == 0 { ", where" } else { " and" })?;
        }
        Ok(())
    }
}
