//! `_id` and `_rev` in paths: a document's id and its revision, as if they were members of its body. No body has
//! members whose names begin with `_`. Pure.
//!
//! Ids are always ordered by their bytes, whatever the collation of a query is: they are stored in that order.

use std::ops::Bound;

use super::collation::{Collation, JsonType};
use super::condition::{Bounds, KeySet, ValueSet};
use super::error::{Error, Result};
use super::index_spec::IndexSpec;
use super::json::{Path, Step, quote};
use super::revid::RevId;
use recension_engine::KeyRange;

/// A property of a document besides its body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Own {
    /// `_id`
    Id,
    /// `_rev`
    Rev,
}

impl Own {
    /// The property that a path means; `None` for a path into the body.
    pub fn of(path: &Path) -> Option<Self> {
        match path.steps() {
            [Step::Name(name)] if name == "_id" => Some(Own::Id),
            [Step::Name(name)] if name == "_rev" => Some(Own::Rev),
            _ => None,
        }
    }

    /// Its JSON text.
    pub fn text(self, id: &str, rev: &RevId) -> String {
        match self {
            Own::Id => quote(id),
            Own::Rev => format!("\"{rev}\""),
        }
    }
}

/// Whether a path's first name begins with `_`: no member of a body has such a name.
pub fn is_reserved(path: &Path) -> bool {
    matches!(path.steps().first(), Some(Step::Name(name)) if name.starts_with('_'))
}

/// The order of strings at a path, in a query or an index with this collation.
pub fn collation_at(path: &Path, collation: Collation) -> Collation {
    if Own::of(path).is_some() { Collation::Binary } else { collation }
}

/// Refuses paths of a query at which no document has a value.
pub fn check_path(path: &Path) -> Result<()> {
    if is_reserved(path) && Own::of(path).is_none() {
        return Err(Error::BadQuery {
            why: "of the names that begin with _ a query can have only _id, a document's id, and _rev, its revision",
        });
    }
    Ok(())
}

/// Refuses an index on the id, which every index has, or on the revision, which changes with every write.
pub fn check_index(spec: &IndexSpec) -> Result<()> {
    let bad = |why| Err(Error::BadIndex { index: spec.name.clone(), why });
    let part = spec.parts.iter().map(|part| &part.path).find(|path| is_reserved(path));
    match part.map(Own::of) {
        None => {}
        Some(Some(Own::Id)) => {
            return bad(
                "documents are found and sorted by _id without an index, and an index has those with equal values in \
                 the \
                 order of their ids; leave _id away",
            );
        }
        Some(_) => return bad("members whose names begin with _ cannot be indexed, and _rev cannot either"),
    }
    let of_id = |path: &Path| Own::of(path) == Some(Own::Id);
    if spec.filter.iter().any(|condition| is_reserved(&condition.path) && !of_id(&condition.path)) {
        return bad("its documents are chosen by members of theirs or by _id");
    }
    Ok(())
}

/// The ranges of rows, among documents by id, whose ids are in a set.
pub fn id_ranges(ids: &KeySet) -> Vec<KeyRange> {
    ids.bounds().iter().filter_map(id_range).collect()
}

/// The ids in a set of single values, in order; `None` if it has ranges of others.
pub fn single_ids(ids: &ValueSet) -> Option<Vec<String>> {
    let mut single: Vec<String> = Vec::with_capacity(ids.len());
    for literal in ids.single_values() {
        // No id is a number or an array.
        single.extend(literal?.string());
    }
    single.sort_unstable();
    single.dedup();
    Some(single)
}

/// A key of [`Collation::Binary`], as an id.
enum At {
    /// Before every string.
    Before,
    /// The id, and whether the key is complete.
    Id(Vec<u8>, bool),
    /// Behind every string.
    Behind,
}

fn at(key: &[u8]) -> At {
    let (string, _) = JsonType::String.bounds();
    match key.split_first() {
        Some((first, rest)) if *first == string => {
            let mut id = Vec::with_capacity(rest.len());
            let mut bytes = rest.iter();
            while let Some(byte) = bytes.next() {
                match (byte, bytes.as_slice().first()) {
                    // In encoded strings, a zero is followed by 0xff unless it is the end.
                    (0, Some(0xff)) => {
                        id.push(0);
                        bytes.next();
                    }
                    (0, Some(_)) => return At::Id(id, true),
                    _ => id.push(*byte),
                }
            }
            At::Id(id, false)
        }
        Some((first, _)) if *first > string => At::Behind,
        _ => At::Before,
    }
}

fn id_range((start, end): &Bounds) -> Option<KeyRange> {
    let start = match start {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(key) | Bound::Excluded(key) => match at(key) {
            At::Before => Bound::Unbounded,
            At::Id(id, true) if matches!(start, Bound::Excluded(_)) => Bound::Excluded(id),
            At::Id(id, _) => Bound::Included(id),
            At::Behind => return None,
        },
    };
    let end = match end {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(key) | Bound::Excluded(key) => match at(key) {
            At::Before => return None,
            At::Id(id, true) if matches!(end, Bound::Included(_)) => Bound::Included(id),
            At::Id(id, _) => Bound::Excluded(id),
            At::Behind => Bound::Unbounded,
        },
    };
    Some(KeyRange { start, end }).filter(|range| !range.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::condition::{ValueRange, ValueSet};
    use super::*;

    const IDS: [&str; 12] = ["", "\0", "\0\0", "\0a", "\u{1}", "A", "a", "a\0", "ab", "b", "é", "\u{10ffff}"];

    #[test]
    fn the_rows_of_a_set_are_those_of_the_ids_in_it() {
        let mut sets: Vec<ValueSet> = Vec::new();
        for id in IDS {
            sets.extend([
                ValueRange::equal(id).into(),
                ValueRange::at_least(id).into(),
                ValueRange::above(id).into(),
                ValueRange::at_most(id).into(),
                ValueRange::below(id).into(),
                ValueRange::prefix(id).into(),
                ValueRange::above("\0").and(ValueRange::below(id)).into(),
                ValueRange::equal(id).or(ValueRange::equal("ab")),
                ValueRange::between(5, id).into(),
                ValueRange::between(id, super::super::condition::Literal::json("[1]").unwrap()).into(),
            ]);
        }
        sets.extend([
            ValueRange::anything().into(),
            ValueRange::of_type(JsonType::String).into(),
            ValueRange::of_type(JsonType::Number).into(),
            ValueRange::at_least(true).into(),
            ValueSet::one_of(Vec::<&str>::new()),
            ValueRange::equal(1).or(ValueRange::equal("a")).or(ValueRange::prefix("a")),
        ]);
        for set in sets {
            let keys = set.keys(Collation::Binary);
            let ranges = id_ranges(&keys);
            for id in IDS {
                let inside = ranges.iter().filter(|range| range.contains(id.as_bytes())).count();
                let expected = keys.contains_text(&quote(id), &mut Vec::new());
                assert_eq!(inside, usize::from(expected), "{id:?} in {set}");
                let single = single_ids(&set).map(|single| single.iter().filter(|known| *known == id).count());
                assert!(single.is_none_or(|single| single == inside), "{id:?} in {set}");
            }
        }
    }
}
