//! Statistics of an index's rows, for the choice between ways: the number of rows, the number of different values, and
//! every n-th key. They are a row of the catalogue (docs/documents-format.md), so that a query of the past is planned
//! with the statistics of that time.

// Estimates need no more digits than doubles have.
#![allow(clippy::cast_precision_loss)]

use std::ops::Bound;

use crate::engine::{Direction, KeyRange, Snapshot};
use crate::kernel::rows::catalogue::IndexEntry;
use crate::kernel::rows::index_keys::{after_prefix, part_ends};
use recension_values::byte_reader::ByteReader;
use recension_values::error::Result;
use recension_values::limits::{STATISTICS_KEY_BYTES_MAX, STATISTICS_KEYS_MAX};

const LAYOUT: u8 = 1;

/// Statistics are used unless the number of documents has changed by more than this factor.
const DOCUMENTS_RATIO_MAX: f64 = 1.5;
/// A change by this many documents is no reason to gather them anew.
const DOCUMENTS_MORE_MAX: u64 = 1000;

/// The statistics of an index.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct IndexStatistics {
    /// The number of documents in the collection when they were gathered.
    pub(crate) documents: u64,
    rows: u64,
    /// For each path, the number of different values at this and the former paths.
    different: Vec<u64>,
    /// The keys at the rows 0, `step`, 2 `step` and so on.
    step: u64,
    keys: Vec<Vec<u8>>,
}

impl IndexStatistics {
    /// Reads all rows of an index.
    pub(crate) fn gather(snapshot: &dyn Snapshot, index: &IndexEntry, documents: u64) -> Result<Self> {
        let different = vec![0; index.spec.parts.len()];
        let mut known = IndexStatistics { documents, step: 1, different, ..Self::default() };
        let (mut before, mut ends) = (Vec::new(), Vec::new());
        for row in snapshot.range(index.tree, &KeyRange::all(), Direction::Forward) {
            let row = row?;
            part_ends(&index.spec, &row.key, &mut ends);
            let alike = row.key.iter().zip(&before).take_while(|(a, b)| a == b).count();
            for (count, end) in known.different.iter_mut().zip(&ends) {
                *count += u64::from(known.rows == 0 || alike < *end);
            }
            if known.rows.is_multiple_of(known.step) {
                known.keys.push(row.key.get(..STATISTICS_KEY_BYTES_MAX).unwrap_or(&row.key).to_vec());
                if known.keys.len() > 2 * STATISTICS_KEYS_MAX {
                    let mut number = 0;
                    known.keys.retain(|_| {
                        number += 1;
                        number % 2 == 1
                    });
                    known.step *= 2;
                }
            }
            known.rows += 1;
            before.clear();
            before.extend_from_slice(&row.key);
        }
        Ok(known)
    }

    /// Whether the collection has changed so much that they must be gathered anew.
    pub(crate) fn are_old(&self, documents: u64) -> bool {
        let apart = self.documents.abs_diff(documents);
        apart > DOCUMENTS_MORE_MAX.min(self.documents / 10)
    }

    /// About how many rows are in ranges, if the collection has this many documents; `None` if too much has changed.
    pub(crate) fn estimate(&self, index: &IndexEntry, ranges: &[KeyRange], documents: u64) -> Option<f64> {
        let grown = documents.max(1) as f64 / self.documents.max(1) as f64;
        let apart = self.documents.abs_diff(documents);
        if apart > DOCUMENTS_MORE_MAX && !(1.0 / DOCUMENTS_RATIO_MAX..=DOCUMENTS_RATIO_MAX).contains(&grown) {
            return None;
        }
        if self.step == 1 && apart > 0 && self.rows < 20 {
            // Almost no rows: nothing follows from them.
            return None;
        }
        let rows: f64 = ranges.iter().map(|range| self.rows_in(index, range)).sum();
        Some(rows.min(self.rows as f64) * grown)
    }

    fn rows_in(&self, index: &IndexEntry, range: &KeyRange) -> f64 {
        let before = |bound: &Bound<Vec<u8>>, open: usize| match bound {
            Bound::Unbounded => open,
            Bound::Included(at) | Bound::Excluded(at) => self.keys.partition_point(|key| key < at),
        };
        let keys = before(&range.end, self.keys.len()).saturating_sub(before(&range.start, 0));
        if keys > 0 || self.step == 1 {
            return keys as f64 * self.step as f64;
        }
        // Between two keys there are fewer rows than a step; a single value has as many as the average value.
        let half = self.step as f64 / 2.0;
        let Bound::Included(prefix) = &range.start else { return half };
        if after_prefix(prefix) != range.end {
            return half;
        }
        let mut ends = Vec::new();
        part_ends(&index.spec, prefix, &mut ends);
        let different = ends.len().checked_sub(1).and_then(|part| self.different.get(part)).copied().unwrap_or(1);
        (self.rows as f64 / different.max(1) as f64).clamp(1.0, half.max(1.0))
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![LAYOUT];
        for number in [self.documents, self.rows, self.step] {
            out.extend(number.to_be_bytes());
        }
        out.push(self.different.len() as u8);
        out.extend(self.different.iter().flat_map(|count| count.to_be_bytes()));
        out.extend((self.keys.len() as u16).to_be_bytes());
        for key in &self.keys {
            out.extend((key.len() as u16).to_be_bytes());
            out.extend(key);
        }
        out
    }

    /// Reads the form that [`IndexStatistics::encode`] writes. If it cannot be read, there are no statistics: only the
    /// choice of a way depends on them.
    pub(crate) fn decode(value: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(value);
        if reader.byte()? != LAYOUT {
            return None;
        }
        let mut number = || reader.chunk().map(u64::from_be_bytes);
        let (documents, rows, step) = (number()?, number()?, number()?);
        let different = (0..reader.byte()?).map(|_| reader.chunk().map(u64::from_be_bytes)).collect::<Option<_>>()?;
        let keys = (0..reader.u16()?).map(|_| {
            let length = reader.u16()?;
            reader.take(usize::from(length)).map(<[u8]>::to_vec)
        });
        let keys = keys.collect::<Option<_>>()?;
        (reader.is_empty() && step > 0).then_some(IndexStatistics { documents, rows, different, step, keys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Batch, Engine, MemoryEngine, TreeId};
    use crate::kernel::rows::index_keys::IndexKeys;
    use recension_values::index_spec::IndexSpec;
    use recension_values::model::IndexState;

    #[test]
    fn rows_of_ranges_are_estimated_and_few_ones_counted() {
        for (documents, tolerance) in [(100_u64, 0.0), (20_000, 0.15)] {
            let spec = IndexSpec::new("i", "kind").then("n");
            let entry = IndexEntry::new(TreeId(7), IndexState::Ready, spec);
            let keys = IndexKeys::of([&entry]);
            let (engine, mut batch) = (MemoryEngine::new(), Batch::new());
            for n in 0..documents {
                // A tenth of them has kind 0, the others have kinds of their own.
                let kind = if n % 10 == 0 { 0 } else { n };
                let id = format!("d{n}");
                let body = format!("{{\"kind\":{kind},\"n\":{n}}}");
                for row in keys.rows(std::slice::from_ref(&entry), &body, &id).unwrap().concat() {
                    batch.put(entry.tree, &[&row.key, id.as_bytes()].concat(), b"");
                }
            }
            engine.commit(batch).unwrap();
            let gathered = IndexStatistics::gather(&*engine.snapshot().unwrap(), &entry, documents).unwrap();
            let known = IndexStatistics::decode(&gathered.encode()).unwrap();
            assert_eq!(known, gathered);
            assert!(known.keys.len() <= 2 * STATISTICS_KEYS_MAX);
            assert_eq!(known.different, [documents * 9 / 10 + 1, documents]);
            let value = |n: u64| spec_key(&entry, n);
            let estimate = |range: KeyRange| known.estimate(&entry, &[range], documents).unwrap();
            let near = |found: f64, wanted: f64| (found - wanted).abs() <= wanted * tolerance;
            assert!(near(estimate(KeyRange::all()), documents as f64));
            assert!(near(estimate(KeyRange::prefix(value(0))), documents as f64 / 10.0));
            assert!(near(estimate(KeyRange::prefix(value(77))), 1.0) || tolerance > 0.0);
            assert!(estimate(KeyRange::prefix(value(77))) <= 2.0);
            assert!(!known.are_old(documents) && known.are_old(documents * 2));
            assert_eq!(known.estimate(&entry, &[KeyRange::all()], documents * 100), None);
        }
        for cut in 0..10 {
            assert_eq!(IndexStatistics::decode(&IndexStatistics::default().encode()[..cut]), None);
        }
    }

    fn spec_key(entry: &IndexEntry, n: u64) -> Vec<u8> {
        entry.spec.collation.key(&n.to_string()).unwrap()
    }
}
