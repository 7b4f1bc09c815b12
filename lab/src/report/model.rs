//! The report, as it is in `target/lab/SUITE.json`. Fields are only ever added.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{LabError, Result};
use crate::measure::calibrate::Calibration;
use crate::measure::stats::{self, Summary};
use crate::measure::trace::Syncs;
use crate::servers::LAST_WORDS;

/// A run of one suite.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The suite.
    pub suite: String,
    /// `quick`, `default`, `full`, or `custom` if sizes were given.
    pub mode: String,
    /// The command that prints such a report again.
    pub command: String,
    /// When it began: seconds since 1970.
    pub started: u64,
    /// The duration of the run, in seconds.
    pub took_seconds: f64,
    /// The commit that was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
    /// Whether it was ended before its end; what was measured by then is here.
    pub interrupted: bool,
    /// Why figures may be worth less than they look.
    pub warnings: Vec<String>,
    /// The sizes, in words.
    pub sizes: String,
    /// The number of sittings. Each has new processes and new stores.
    #[serde(default = "one")]
    pub sittings: usize,
    /// The machine, before.
    pub calibration: Calibration,
    /// The machine, after.
    pub calibration_after: Option<Calibration>,
    /// The subjects.
    pub subjects: Vec<SubjectInfo>,
    /// The operations.
    pub operations: Vec<OperationInfo>,
    /// The figures.
    pub results: Vec<Row>,
}

/// A subject of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SubjectInfo {
    /// Its name.
    pub name: String,
    /// A description of it.
    pub what: String,
    /// Its version.
    pub version: String,
    /// The durability of its commits: `T0` none, `T1` survives the end of the process, `T2` survives loss of power.
    pub tier: String,
    /// A note for readers about the tier.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tier_note: Option<String>,
    /// Whether it is what the machine sets, and no competitor.
    #[serde(default)]
    pub floor: bool,
    /// The settings that it was opened with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub settings: Option<String>,
    /// The syncs that were counted, and of how many commits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub syncs: Option<(Syncs, u64)>,
    /// Why it could not be measured, if it could not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

impl SubjectInfo {
    /// How it was opened and why it could not be measured, without what its server said.
    pub fn opened(&self) -> String {
        let reason = self.reason.as_deref().map(|why| why.split(LAST_WORDS).next().unwrap_or(why));
        self.settings.as_deref().into_iter().chain(reason).collect::<Vec<_>>().join("; ")
    }
}

/// An operation of a suite.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OperationInfo {
    /// Its name.
    pub name: String,
    /// `ns`, `bytes` or `count`; less is better in all.
    pub unit: String,
    /// A sentence on what is measured.
    pub what: String,
}

/// One figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The suite.
    pub suite: String,
    /// The operation.
    pub operation: String,
    /// The subject.
    pub subject: String,
    /// `ns` an operation, `bytes`, or `count`.
    pub unit: String,
    /// The median. `None` if it could not be measured; then `reason` says why.
    pub median: Option<f64>,
    /// The lower end of the median's 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The mean.
    pub mean: Option<f64>,
    /// Rounds; of a quantile of latencies, how many latencies.
    pub n: usize,
    /// The subject's tier.
    pub tier: String,
    /// Median processor time of the threads, in nanoseconds an operation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_median: Option<f64>,
    /// The lower end of its interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_low: Option<f64>,
    /// The upper end of its interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_high: Option<f64>,
    /// The ratio of ours to this one, round by round.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ours_to_this: Option<stats::Summary>,
    /// Quantiles of the latencies of single operations, over all rounds, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quantiles: Option<stats::Quantiles>,
    /// False if the subject's settling is less than the row's name says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub settling: Option<bool>,
    /// A note for readers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
    /// Why it could not be measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The rounds, in the order in which they were measured.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub samples: Vec<f64>,
    /// The number of rounds in each sitting. Empty if there was one sitting.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sittings: Vec<usize>,
    /// The latencies of `quantiles`, as long as the run goes on.
    #[serde(skip)]
    pub latencies: Option<stats::Latencies>,
}

impl Row {
    /// Its figure.
    pub fn summary(&self) -> Option<Summary> {
        let (median, low, high, mean) = (self.median?, self.low?, self.high?, self.mean?);
        Some(Summary { median, low, high, mean, n: self.n })
    }

    /// Gives it its figure.
    pub fn set(&mut self, summary: Option<Summary>) {
        if let Some(Summary { median, low, high, mean, n }) = summary {
            (self.median, self.low, self.high, self.mean, self.n) =
                (Some(median), Some(low), Some(high), Some(mean), n);
        }
    }

    /// Its processor time. It has no mean.
    pub fn processor(&self) -> Option<Summary> {
        let (median, low, high) = (self.cpu_median?, self.cpu_low?, self.cpu_high?);
        Some(Summary { median, low, high, mean: median, n: self.n })
    }

    /// Gives it that.
    pub fn set_processor(&mut self, summary: Option<Summary>) {
        if let Some(Summary { median, low, high, .. }) = summary {
            (self.cpu_median, self.cpu_low, self.cpu_high) = (Some(median), Some(low), Some(high));
        }
    }

    /// Gives it the latencies of single operations.
    pub fn set_latencies(&mut self, latencies: Option<stats::Latencies>) {
        self.quantiles = latencies.as_ref().map(stats::Latencies::quantiles);
        self.latencies = latencies;
    }

    /// Adds the latencies of another sitting.
    pub fn add_latencies(&mut self, other: &Row) {
        let mut all = self.latencies.take();
        match (&mut all, &other.latencies) {
            (Some(all), Some(other)) => all.add(other),
            (None, Some(other)) => all = Some(other.clone()),
            (_, None) => {}
        }
        self.set_latencies(all);
    }

    /// Nothing is said of it: its subject's state was wrong.
    pub fn invalidate(&mut self, reason: &str) {
        (self.median, self.low, self.high, self.ours_to_this) = (None, None, None, None);
        (self.cpu_median, self.cpu_low, self.cpu_high, self.quantiles) = (None, None, None, None);
        self.reason = Some(reason.to_owned());
    }

    /// The rounds of each sitting.
    pub fn in_sittings(&self) -> impl Iterator<Item = &[f64]> {
        let whole = [self.samples.len()];
        let counts = if self.sittings.is_empty() { whole.to_vec() } else { self.sittings.clone() };
        let mut rest = self.samples.as_slice();
        counts.into_iter().map(move |count| {
            let (sitting, after) = rest.split_at(count.min(rest.len()));
            rest = after;
            sitting
        })
    }
}

/// The number of sittings in reports that do not tell it.
fn one() -> usize {
    1
}

impl Report {
    /// Reads a report.
    ///
    /// # Errors
    /// [`LabError::Io`], or [`LabError::Report`] if the file is something else.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(LabError::io(format!("reading {}", path.display())))?;
        serde_json::from_str(&text).map_err(|error| LabError::Report {
            what: format!("{} is no report of this laboratory: {error}", path.display()),
        })
    }

    /// Writes it, wholly or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let failed = || LabError::io(format!("writing {}", path.display()));
        let text = serde_json::to_string_pretty(self).map_err(LabError::subject("the report"))?;
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed())?;
        }
        let part = path.with_extension("part");
        std::fs::write(&part, text + "\n").map_err(failed())?;
        std::fs::rename(&part, path).map_err(failed())
    }

    /// A description of how its figures were taken.
    pub fn how_taken(&self) -> String {
        match self.sittings {
            1 => "Each figure is the median of interleaved rounds, with a 95 % bootstrap interval.".to_owned(),
            sittings @ 2..6 => format!(
                "All was done in {sittings} sittings, each with new processes and new stores. Each figure is the \
                 median of the sittings' medians of interleaved rounds; its interval spans theirs, and no less than \
                 six sittings promise 95 %."
            ),
            sittings => format!(
                "All was done in {sittings} sittings, each with new processes and new stores. Each figure is the \
                 median of the sittings' medians of interleaved rounds, with a 95 % interval by order statistics; what \
                 was done in the last sitting alone has a bootstrap interval."
            ),
        }
    }

    /// A figure.
    pub fn row(&self, operation: &str, subject: &str) -> Option<&Row> {
        self.results.iter().find(|row| row.operation == operation && row.subject == subject)
    }

    /// A subject.
    pub fn subject(&self, name: &str) -> Option<&SubjectInfo> {
        self.subjects.iter().find(|subject| subject.name == name)
    }

    /// The operations of which there is any figure or reason, in their order.
    pub fn measured_operations(&self) -> impl Iterator<Item = &OperationInfo> {
        self.operations.iter().filter(|operation| self.results.iter().any(|row| row.operation == operation.name))
    }
}
