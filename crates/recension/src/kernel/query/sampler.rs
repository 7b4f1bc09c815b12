//! The data of the planner's estimates: kept statistics of indexes, or a few rows that are counted.

use std::ops::Bound;

use crate::engine::{Direction, KeyRange, TreeId, Wanted};
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::catalogue::{CATALOGUE, IndexEntry, statistics_key};
use recension_values::access::AccessMarks;
use recension_values::error::Result;

/// Counting rows for estimates.
pub(crate) trait Sampler {
    /// The number of documents of the collection; `None` if it may not be read.
    fn documents(&self) -> Result<Option<u64>>;
    /// The number of rows in the ranges, up to `max`; `None` if they may not be read.
    fn rows(&self, tree: TreeId, ranges: &[KeyRange], max: usize) -> Result<Option<usize>>;
    /// The rows of the ranges by the index's kept statistics; `None` if it has none, or too old ones.
    fn estimate(&self, index: &IndexEntry, ranges: &[KeyRange]) -> Result<Option<f64>>;
    /// The documents that the index of access has for values, up to `max`; `None` if it is not to be read.
    fn marked(&self, marks: &AccessMarks, max: usize) -> Result<Option<usize>>;
    /// The same of documents by id.
    fn ids(&self, ranges: &[KeyRange], max: usize) -> Result<Option<usize>>;
}

impl Sampler for CollectionAt {
    fn documents(&self) -> Result<Option<u64>> {
        // The read would make a transaction depend on every write to the collection.
        if self.in_transaction { Ok(None) } else { Ok(Some(self.counts()?.documents)) }
    }

    fn rows(&self, tree: TreeId, ranges: &[KeyRange], max: usize) -> Result<Option<usize>> {
        if self.in_transaction {
            return Ok(None);
        }
        let mut rows = 0;
        for range in ranges {
            let wanted = Wanted { rows: Some(max - rows), values: true };
            for row in self.snapshot.range_of(tree, range, Direction::Forward, wanted).take(max - rows) {
                row?;
                rows += 1;
            }
            if rows == max {
                break;
            }
        }
        Ok(Some(rows))
    }

    fn estimate(&self, index: &IndexEntry, ranges: &[KeyRange]) -> Result<Option<f64>> {
        let Some(documents) = self.documents()? else { return Ok(None) };
        let row = self.snapshot.get(CATALOGUE, &statistics_key(index.tree))?;
        let known = row.zip(self.entry.as_ref()).and_then(|(row, entry)| entry.statistics_of(index.tree, &row));
        Ok(known.and_then(|known| known.estimate(index, ranges, documents)))
    }

    fn marked(&self, marks: &AccessMarks, max: usize) -> Result<Option<usize>> {
        let Some(access) = self.access()?.filter(|access| access.serves(marks) && !self.in_transaction) else {
            return Ok(None);
        };
        let mut rows = 0;
        for id in access.ids(marks, Bound::Unbounded, Bound::Unbounded, Direction::Forward)?.take(max) {
            id?;
            rows += 1;
        }
        Ok(Some(rows))
    }

    fn ids(&self, ranges: &[KeyRange], max: usize) -> Result<Option<usize>> {
        match &self.entry {
            Some(entry) => self.rows(entry.documents, ranges, max),
            None => Ok(Some(0)),
        }
    }
}
