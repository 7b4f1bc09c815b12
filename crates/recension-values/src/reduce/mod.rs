//! Built-in reductions of views, as CouchDB has them, with its errors. Pure: rows in, JSON out, one row after the
//! other, in bounded memory.

mod distinct;
mod number;
mod stats;
mod sum;

use distinct::Distinct;
use stats::Stats;
use sum::Sum;

use crate::error::Result;

/// A built-in reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuiltIn {
    /// `_sum`: numbers, arrays of numbers element by element, objects member by member.
    Sum,
    /// `_count`: how many rows there are.
    Count,
    /// `_stats`: sum, count, least, greatest and sum of squares.
    Stats,
    /// `_approx_count_distinct`: about how many different keys there are.
    Distinct,
}

impl BuiltIn {
    /// The reduction with this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "_sum" => Some(BuiltIn::Sum),
            "_count" => Some(BuiltIn::Count),
            "_stats" => Some(BuiltIn::Stats),
            "_approx_count_distinct" => Some(BuiltIn::Distinct),
            _ => None,
        }
    }

    /// Begins a reduction.
    pub fn begin(self) -> Fold {
        match self {
            BuiltIn::Sum => Fold::Sum(Sum::default()),
            BuiltIn::Count => Fold::Count(0),
            BuiltIn::Stats => Fold::Stats(Stats::default()),
            BuiltIn::Distinct => Fold::Distinct(Box::default()),
        }
    }
}

/// A reduction under way.
#[derive(Clone)]
pub enum Fold {
    Sum(Sum),
    Count(u64),
    Stats(Stats),
    Distinct(Box<Distinct>),
}

impl Fold {
    /// Adds a row: its collated key, and its value as JSON.
    pub fn add(&mut self, key: &[u8], value: &str) -> Result<()> {
        match self {
            Fold::Sum(sum) => sum.add(value)?,
            Fold::Count(count) => *count += 1,
            Fold::Stats(stats) => stats.add(value)?,
            Fold::Distinct(distinct) => distinct.add(key),
        }
        Ok(())
    }

    /// Merges another one of the same kind, whose rows come after its own.
    pub fn merge(&mut self, other: Fold) -> Result<()> {
        match (self, other) {
            (Fold::Sum(own), Fold::Sum(other)) => own.merge(other)?,
            (Fold::Count(own), Fold::Count(other)) => *own += other,
            (Fold::Stats(own), Fold::Stats(other)) => own.merge(other)?,
            (Fold::Distinct(own), Fold::Distinct(other)) => own.merge(&other),
            // A reduction never changes its kind.
            _ => {}
        }
        Ok(())
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        match self {
            Fold::Sum(sum) => 64 + sum.bytes(),
            Fold::Count(_) => 16,
            Fold::Stats(stats) => 64 + stats.bytes(),
            Fold::Distinct(_) => 2048,
        }
    }

    /// The reduced value, as JSON.
    pub fn finish(self) -> Result<String> {
        match self {
            Fold::Sum(sum) => sum.finish(),
            Fold::Count(count) => Ok(count.to_string()),
            Fold::Stats(stats) => Ok(stats.finish()),
            Fold::Distinct(distinct) => Ok(distinct.count().to_string()),
        }
    }
}
