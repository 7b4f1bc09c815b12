//! Values that several documents have in a unique index. A local write cannot make such a value; replication can.

use crate::engine::{Direction, KeyRange};
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::catalogue::IndexEntry;
use crate::kernel::rows::index_keys::{row_texts, texts_of};
use crate::kernel::rows::index_rows::RowRead;
use recension_values::error::{Error, Result};
use recension_values::limits::DUPLICATES_MAX;

/// A value that several documents have in an index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Duplicate {
    /// The values at the paths of the index, as JSON texts.
    pub values: Vec<String>,
    /// The documents that have them, in the order of their ids, at most a thousand.
    pub ids: Vec<String>,
}

impl CollectionAt {
    /// The values that several documents have in an index, in its order, at most a thousand of them. The whole index is
    /// read.
    ///
    /// # Errors
    /// [`Error::NoSuchIndex`].
    pub fn duplicates(&self, index: &str) -> Result<Vec<Duplicate>> {
        let none = || Error::NoSuchIndex { collection: self.name.to_string(), index: index.to_owned() };
        let entry = self.entry.as_ref().and_then(|entry| entry.index(index)).ok_or_else(none)?;
        let damaged = || Error::DamagedRow {
            what: format!("a row of index {index}"),
            why: "it is not values and an id; drop the index and create it again",
        };
        let mut found: Vec<Duplicate> = Vec::new();
        let mut last: Option<(Vec<u8>, String)> = None;
        // Whether the last value is among those found.
        let mut open = false;
        for row in self.snapshot.range(entry.tree, &KeyRange::all(), Direction::Forward) {
            let row = row?;
            let RowRead { values, id, texts, .. } = RowRead::of(entry, &row.key, &row.value).ok_or_else(damaged)?;
            let Some((_, first)) = last.as_ref().filter(|(known, _)| known == values) else {
                open = false;
                last = Some((values.to_vec(), id.to_owned()));
                continue;
            };
            if !open {
                if found.len() == DUPLICATES_MAX {
                    break;
                }
                let values = values_of(entry, values, texts).ok_or_else(damaged)?;
                if values.iter().any(String::is_empty) {
                    // An absent value is no value.
                    continue;
                }
                open = true;
                found.push(Duplicate { values, ids: vec![first.clone()] });
            }
            if let Some(duplicate) = found.last_mut().filter(|duplicate| duplicate.ids.len() < DUPLICATES_MAX) {
                duplicate.ids.push(id.to_owned());
            }
        }
        Ok(found)
    }
}

fn values_of(entry: &IndexEntry, values: &[u8], texts: &[u8]) -> Option<Vec<String>> {
    match row_texts(&entry.spec, values, texts).ok()? {
        Some(texts) => Some(texts),
        // The texts are too long for a row: they are derived from the key.
        None => texts_of(&entry.spec, values),
    }
}
