//! Sorting what was found in memory, within a bound, and keeping no more than a page where there is one.

use super::collation::Collation;
use super::find::Hit;
use super::{Error, Query, Result};
use crate::engine::Direction;

/// A document that waits for its place.
#[derive(Debug)]
pub(super) struct SortedHit {
    /// The values that it is sorted by, encoded: their bytes have the order.
    pub(super) order: Vec<u8>,
    pub(super) id: String,
    pub(super) values: Vec<Option<String>>,
}

impl SortedHit {
    fn size_bytes(&self) -> usize {
        let values: usize = self.values.iter().map(|value| value.as_ref().map_or(0, String::len)).sum();
        let fixed = size_of::<SortedHit>() + self.values.len() * size_of::<Option<String>>();
        self.order.len() + self.id.len() + values + fixed
    }
}

/// Appends the key of a value, so that the bytes of keys have the order in that direction.
pub(super) fn order_key(collation: Collation, value: &str, direction: Direction, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    collation.encode_value(value, out)?;
    if direction == Direction::Backward {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    Ok(())
}

/// Gathers hits and gives them back in order.
pub(super) struct Sorted {
    found: Vec<SortedHit>,
    held_bytes: usize,
    /// Only what comes after this is wanted.
    after: Option<(Vec<u8>, String)>,
    /// The direction of the ids of documents that are alike.
    ids: Direction,
    wanted: Option<usize>,
    bytes_max: usize,
    path: String,
}

impl Sorted {
    pub(super) fn new(query: &Query, after: Option<(Vec<u8>, String)>) -> Self {
        let paths: Vec<String> = query.sort.iter().map(|(path, _)| path.to_string()).collect();
        Sorted {
            found: Vec::new(),
            held_bytes: 0,
            after,
            ids: query.sort.last().map_or(Direction::Forward, |(_, direction)| *direction),
            wanted: query.limit.map(|limit| limit.saturating_add(query.skip)),
            bytes_max: query.sort_bytes_max,
            path: paths.join(", "),
        }
    }

    fn compare(ids: Direction, a: (&[u8], &str), b: (&[u8], &str)) -> std::cmp::Ordering {
        let by_id = match ids {
            Direction::Forward => a.1.cmp(b.1),
            Direction::Backward => b.1.cmp(a.1),
        };
        a.0.cmp(b.0).then(by_id)
    }

    /// # Errors
    /// [`Error::SortTooLarge`].
    pub(super) fn push(&mut self, hit: Hit) -> Result<()> {
        let Hit { id, values, order, .. } = hit;
        if let Some((after, after_id)) = &self.after
            && Self::compare(self.ids, (&order, &id), (after, after_id)).is_le()
        {
            return Ok(());
        }
        let hit = SortedHit { order, id, values };
        self.held_bytes += hit.size_bytes();
        self.found.push(hit);
        if let Some(wanted) = self.wanted
            && (self.found.len() >= wanted.saturating_mul(2).saturating_add(1000) || self.held_bytes > self.bytes_max)
        {
            self.order();
            self.found.truncate(wanted);
            self.held_bytes = self.found.iter().map(SortedHit::size_bytes).sum();
        }
        if self.held_bytes > self.bytes_max {
            return Err(Error::SortTooLarge { path: self.path.clone(), max: self.bytes_max });
        }
        Ok(())
    }

    fn order(&mut self) {
        let ids = self.ids;
        self.found.sort_unstable_by(|a, b| Self::compare(ids, (&a.order, &a.id), (&b.order, &b.id)));
    }

    /// In order, the first one last.
    pub(super) fn finish(mut self) -> Vec<SortedHit> {
        self.order();
        self.found.reverse();
        self.found
    }
}
