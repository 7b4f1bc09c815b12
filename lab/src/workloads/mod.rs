//! The suites. Each has a list of operations, sizes for quick, default and full runs, and an order.

pub mod apocrypha;
pub mod bench;
pub mod bigtable;
pub mod bonsaidb;
pub mod cluster;
pub mod crash;
pub mod engine;
pub mod goget;
pub mod hasql;
pub mod http;
pub mod mine;
pub mod nebari;
pub mod plan;
pub mod processes;
pub mod progress;
pub mod queries;
pub mod sittings;
pub mod versions;
pub mod ycsb;

pub use bench::Bench;
pub use plan::{Mode, Plan};

use crate::error::{LabError, Result};
use crate::report::model::OperationInfo;
use crate::subjects::Kind;

/// Sittings of a full run. From the least to the greatest of seven is an interval of 98 %. The intervals of two
/// independent runs of seven are wholly apart by chance once in 1,716 times, so every ratio of a suite should agree.
pub const SITTINGS: usize = 7;

/// An operation of a suite.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Its name.
    pub name: &'static str,
    /// `ns`, `bytes` or `count`.
    pub unit: &'static str,
    /// A description.
    pub what: &'static str,
    /// About how much of a run it takes, in tenths of a second a subject; for the time left.
    pub weight: u64,
}

impl Operation {
    /// An operation whose figure is a time.
    pub const fn ns(name: &'static str, what: &'static str, weight: u64) -> Self {
        Operation { name, unit: "ns", what, weight }
    }

    /// An operation whose figure is a number of bytes.
    pub const fn bytes(name: &'static str, what: &'static str, weight: u64) -> Self {
        Operation { name, unit: "bytes", what, weight }
    }

    /// An operation whose figure is a number.
    pub const fn count(name: &'static str, what: &'static str, weight: u64) -> Self {
        Operation { name, unit: "count", what, weight }
    }

    /// For the report.
    pub fn info(&self) -> OperationInfo {
        OperationInfo { name: self.name.to_owned(), unit: self.unit.to_owned(), what: self.what.to_owned() }
    }
}

/// A suite.
pub struct Suite {
    /// Its name.
    pub name: &'static str,
    /// A description.
    pub what: &'static str,
    /// The subjects that can be measured in it.
    pub kinds: fn() -> Vec<Kind>,
    /// The subjects that are measured if nobody chooses.
    pub usual: &'static [&'static str],
    /// Its operations.
    pub operations: &'static [Operation],
    /// The number of sittings in a full run. Each has new processes and stores.
    pub sittings: usize,
    /// The sizes of a plan, in words.
    pub sizes: fn(&Plan) -> String,
    /// Measures all of it.
    pub run: fn(&mut Bench<'_>) -> Result<()>,
}

/// Every suite.
pub const SUITES: [&Suite; 15] = [
    &engine::SUITE,
    &http::SUITE,
    &apocrypha::SUITE,
    &goget::SUITE,
    &hasql::SUITE,
    &nebari::SUITE,
    &bonsaidb::SUITE,
    &bigtable::SUITE,
    &processes::SUITE,
    &queries::SUITE,
    &ycsb::SUITE,
    &versions::SUITE,
    &cluster::SUITE,
    &mine::SUITE,
    &crash::SUITE,
];

/// The suite of a name.
pub fn suite(name: &str) -> Result<&'static Suite> {
    SUITES.into_iter().find(|suite| suite.name == name).ok_or_else(|| LabError::Usage {
        what: format!("there is no suite \"{name}\"; there are {}", SUITES.map(|suite| suite.name).join(", ")),
    })
}
