//! Rows of one document in an index on the elements of an array: it is found at the first of them. The ids that came
//! before tell which that is; where there are too many, or a cursor goes on behind some, its document does.

use std::collections::HashSet;

use crate::engine::{Direction, KeyRange};
use crate::kernel::query::way::Way;
use crate::kernel::rows::catalogue::IndexEntry;
use crate::kernel::rows::index_keys::IndexKeys;
use recension_values::error::Result;
use recension_values::limits::ID_SET_BYTES_MAX;
use recension_values::model::Document;

/// Rows of a document that come after its first one in the ranges, which are passed over.
pub(super) struct Repeats {
    /// The ids that came before, as long as there is room for them and all rows were read from the first one.
    seen: Option<HashSet<String>>,
    seen_bytes: usize,
    keys: IndexKeys,
    ranges: Vec<KeyRange>,
    direction: Direction,
}

impl Repeats {
    /// `from_first`: rows are read from the first one of the way, and not from where a cursor stands.
    pub(super) fn of(index: &IndexEntry, way: &Way, from_first: bool) -> Self {
        Repeats {
            seen: from_first.then(HashSet::new),
            seen_bytes: 0,
            keys: IndexKeys::of([index]),
            ranges: way.ranges.clone(),
            direction: way.direction,
        }
    }

    /// Whether an id comes for the first time; `None`: only its document tells.
    pub(super) fn is_new(&mut self, id: &str) -> Option<bool> {
        let seen = self.seen.as_mut()?;
        if seen.contains(id) {
            return Some(false);
        }
        self.seen_bytes += id.len() + 2 * size_of::<String>();
        if self.seen_bytes > ID_SET_BYTES_MAX {
            self.seen = None;
        } else {
            seen.insert(id.to_owned());
        }
        Some(true)
    }

    /// Whether a row of these values is a document's first one.
    pub(super) fn is_first(&self, index: &IndexEntry, values: &[u8], document: &Document<'_>) -> Result<bool> {
        let all = self.keys.rows(std::slice::from_ref(index), &document.body, &document.id)?;
        // Ranges are of values: all rows of a value lie in one range, or none does.
        let own = all.iter().flatten().map(|entry| entry.key.as_slice());
        let mut within = own.filter(|values| self.ranges.iter().any(|range| range.contains(values)));
        let first = match self.direction {
            Direction::Forward => within.next(),
            Direction::Backward => within.next_back(),
        };
        Ok(first == Some(values))
    }
}
