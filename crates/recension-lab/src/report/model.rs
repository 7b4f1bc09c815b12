//! The report, as it is in `target/lab/SUITE.json`. Fields are only ever added.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{LabError, Result};
use crate::measure::calibrate::Calibration;
use crate::measure::stats;
use crate::measure::trace::Syncs;

/// A run of one suite.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The suite.
    pub suite: String,
    /// `quick`, `default`, `full`, or `custom` where sizes were given.
    pub mode: String,
    /// The command that prints such a report again.
    pub command: String,
    /// When it began: seconds since 1970.
    pub started: u64,
    /// How long it took, in seconds.
    pub took_seconds: f64,
    /// Whether it was ended before its end; what was measured by then is here.
    pub interrupted: bool,
    /// Why figures may be worth less than they look.
    pub warnings: Vec<String>,
    /// What the sizes were, in words.
    pub sizes: String,
    /// The machine, before.
    pub calibration: Calibration,
    /// The machine, after.
    pub calibration_after: Option<Calibration>,
    /// The subjects.
    pub subjects: Vec<SubjectInfo>,
    /// What each operation is.
    pub operations: Vec<OperationInfo>,
    /// The figures.
    pub results: Vec<Row>,
}

/// A subject of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SubjectInfo {
    /// Its name.
    pub name: String,
    /// What it is.
    pub what: String,
    /// Its version.
    pub version: String,
    /// What its commits survive: `T0` nothing, `T1` the process's end, `T2` loss of power.
    pub tier: String,
    /// What a reader of the tier must know.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tier_note: Option<String>,
    /// Whether it is what the machine sets, and no competitor.
    #[serde(default)]
    pub floor: bool,
    /// How it was opened.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub settings: Option<String>,
    /// The syncs that were counted, and of how many commits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub syncs: Option<(Syncs, u64)>,
    /// Why it could not be measured, if it could not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

/// An operation of a suite.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OperationInfo {
    /// Its name.
    pub name: String,
    /// `ns`, `bytes` or `count`; less is better in all.
    pub unit: String,
    /// What is measured, in a sentence.
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
    /// The median; none where it could not be measured, and `reason` says why.
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
    /// How many times ours is of this one, round by round.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ours_to_this: Option<stats::Summary>,
    /// Of the latencies of single operations, over all rounds, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quantiles: Option<stats::Quantiles>,
    /// False where the subject's settling is less than the row's name says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub settling: Option<bool>,
    /// What a reader must know.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
    /// Why it could not be measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The rounds, in the order in which they were measured.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub samples: Vec<f64>,
}

impl Report {
    /// Reads a report.
    ///
    /// # Errors
    /// [`LabError::Io`], or [`LabError::Report`] where the file is something else.
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
