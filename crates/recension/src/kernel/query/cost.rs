//! The estimated cost of a way. Rows are estimated by kept statistics; without these, a bounded number of index rows is
//! counted.

// Estimates need no more digits than doubles have.
#![allow(clippy::cast_precision_loss)]

use crate::kernel::query::planner::{Planner, Want};
use crate::kernel::query::sampler::Sampler;
use crate::kernel::query::way::{ONE_VALUE_LETS, RANGE_LETS, Way};
use recension_values::error::Result;
use recension_values::limits::SAMPLED_ROWS_MAX;

// Costs: 1 is reading a document of a scan. They are estimates, not fitted to a measurement; examples/index_figures.rs
// shows what they stand for.
const SCAN_TEST: f64 = 0.25;
/// Cutting a text into words costs as much as this many tests of values.
const WORDS_TEST: f64 = 20.0;
const SCAN_BEGINS: f64 = 10.0;
pub(super) const RANGE_BEGINS: f64 = 1.0;
pub(super) const KEY_READ: f64 = 0.2;
pub(super) const DOCUMENT_GOT: f64 = 1.5;

/// The assumed number of documents, if the collection cannot be asked.
const DOCUMENTS_UNKNOWN: f64 = 10_000.0;

impl Planner<'_> {
    pub(super) fn documents(sampler: &dyn Sampler) -> Result<f64> {
        Ok(sampler.documents()?.map_or(DOCUMENTS_UNKNOWN, |documents| documents as f64))
    }

    fn page(&self) -> Option<usize> {
        self.query.limit.map(|limit| limit.saturating_add(self.query.skip))
    }

    /// The rows that a way reads if it is read to its end.
    pub(super) fn rows(&self, way: &Way, sampler: &dyn Sampler) -> Result<f64> {
        let documents = Self::documents(sampler)?;
        if let Some(max) = way.rows_max {
            return Ok(max as f64);
        }
        // A number far beyond the limit need not be exact.
        let most = self.page().map_or(SAMPLED_ROWS_MAX, |page| page.saturating_mul(4).clamp(20, SAMPLED_ROWS_MAX));
        let entry = way.index.and_then(|number| self.indexes.get(number));
        let counted = match entry {
            Some(entry) => match sampler.estimate(entry, &way.ranges)? {
                Some(rows) => return Ok(rows),
                None => sampler.rows(entry.tree, &way.ranges, most)?,
            },
            None if way.lets >= 1.0 => return Ok(documents),
            None => sampler.ids(&way.ranges, most)?,
        };
        Ok(match counted {
            Some(counted) if counted < most => counted as f64,
            counted => (documents * way.lets).max(counted.unwrap_or(0) as f64),
        })
    }

    /// Estimates rows and costs.
    pub(super) fn weigh(&self, way: &mut Way, sampler: &dyn Sampler) -> Result<()> {
        if way.words.is_some() {
            return self.weigh_words(way, sampler);
        }
        let rows = self.rows(way, sampler)?;
        let query = self.query;
        let after_keys = rows * self.lets(&way.key_tests);
        let selected = if way.tested(query).is_some() { RANGE_LETS } else { 1.0 };
        let matching = after_keys * self.lets(&way.document_tests) * selected;
        let part = self.part(way, matching);
        let tests = self.tests(way);
        let mut cost = match way.index {
            None if way.lets < 1.0 || way.rows_max.is_some() => {
                RANGE_BEGINS * way.reads as f64 + rows * part * (1.0 + SCAN_TEST * tests)
            }
            None => SCAN_BEGINS + rows * part * (1.0 + SCAN_TEST * tests),
            Some(_) => {
                let got = if way.covering { 0.0 } else { DOCUMENT_GOT + SCAN_TEST * tests };
                RANGE_BEGINS * way.reads as f64 + part * (rows * KEY_READ + after_keys * got)
            }
        };
        let entry = way.index.and_then(|number| self.indexes.get(number));
        if let Some(entry) = entry
            && way.lets >= 1.0
            && entry.spec.filter.is_empty()
            && (query.sort.is_empty() || !way.ordered)
            && !way.covering
        {
            // The index neither narrows the documents nor orders them.
            cost += SCAN_BEGINS;
        }
        way.rows = Some(rows * part);
        way.cost = Some(cost + self.sorting(way, matching));
        Ok(())
    }

    /// The same for a way by the ids of several: `reads` is the cost of these, `found` the number of remaining ids.
    pub(super) fn weigh_ids(&self, way: &mut Way, rows: f64, reads: f64, found: f64) {
        let selected = if self.query.selector.is_some() { 0.5 } else { 1.0 };
        let got = found * self.part(way, found * selected) * (DOCUMENT_GOT + SCAN_TEST * self.tests(way));
        way.rows = Some(rows);
        way.cost = Some(reads + got + self.sorting(way, found * selected));
    }

    /// The part of the rows that is read: if the way gives the order, reading ends with the page.
    pub(super) fn part(&self, way: &Way, matching: f64) -> f64 {
        match self.page() {
            Some(page) if way.ordered => (page as f64 / matching.max(1.0)).min(1.0),
            _ => 1.0,
        }
    }

    fn tests(&self, way: &Way) -> f64 {
        let tested = way.tested(self.query);
        let words = tested.map_or(0, |selector| selector.words().len());
        let selector = if tested.is_some() { 2.0 } else { 0.0 };
        way.document_tests.len() as f64 + selector + WORDS_TEST * words as f64
    }

    /// The cost of testing a document that was found.
    pub(super) fn test_cost(&self, way: &Way) -> f64 {
        SCAN_TEST * self.tests(way)
    }

    pub(super) fn sorting(&self, way: &Way, matching: f64) -> f64 {
        if way.ordered {
            return 0.0;
        }
        let answered = self.page().map_or(matching, |page| matching.min(page as f64));
        let read_again = if way.covering || self.want != Want::Documents { 0.0 } else { answered * DOCUMENT_GOT };
        matching * (0.2 + 0.05 * matching.max(1.0).log2()) + read_again
    }

    /// The fraction of documents that these conditions are expected to let through.
    fn lets(&self, conditions: &[usize]) -> f64 {
        let one = |number: &usize| {
            if self.keys.is_one_value(*number) { 2.0 * ONE_VALUE_LETS } else { RANGE_LETS }
        };
        conditions.iter().map(one).product()
    }
}
