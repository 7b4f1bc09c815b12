//! The digest of a recorded run, kept beside its page as `docs/benchmarks/SUITE.json`: for each operation our figure
//! and that of the best peer. The summary of all suites is computed from the digests.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::losses::{EVEN_ONCE, ahead, does_less, times};
use super::model::{OperationInfo, Report, Row};
use super::units::bytes;
use crate::error::{LabError, Result};
use crate::subjects::{OURS, is_ours};

/// A recorded run of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    /// The suite.
    pub suite: String,
    /// `quick`, `default`, `full` or `custom`.
    pub mode: String,
    /// The command that makes such a run again.
    pub command: String,
    /// When it began: seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started: Option<u64>,
    /// The commit that was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
    /// The machine, in words.
    pub machine: String,
    /// The number of sittings.
    pub sittings: usize,
    /// The operations that we have a figure of.
    pub rows: Vec<DigestRow>,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DigestRow {
    /// The operation.
    pub operation: String,
    /// `ns`, `bytes` or `count`; less is better in all.
    pub unit: String,
    /// A sentence on what is measured.
    pub what: String,
    /// Our figure.
    pub ours: f64,
    /// The best peer of those that are as durable and do as much as ours. If there is none, the best of the others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub best: Option<Best>,
}

/// The best peer in an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// Its name.
    pub subject: String,
    /// Its figure.
    pub figure: f64,
    /// The ratio of ours to it; `None` if one of them is zero.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub times: Option<f64>,
    /// The 95 % interval of that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub within: Option<(f64, f64)>,
    /// Whether it is ahead of us beyond the noise.
    pub ahead: bool,
    /// Whether the ratio is of times that were taken once, without an interval.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub once: bool,
    /// The durability of its commits, if that is less than ours.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub weaker: Option<String>,
}

impl Digest {
    /// The digest of a report.
    pub fn of(report: &Report) -> Self {
        let machine = &report.calibration;
        Digest {
            suite: report.suite.clone(),
            mode: report.mode.clone(),
            command: report.command.clone(),
            started: Some(report.started),
            commit: report.commit.clone(),
            machine: format!(
                "{} cores of {}, {} of memory, {}, Linux {}",
                machine.cores,
                machine.cpu,
                bytes(machine.memory_bytes),
                machine.filesystem,
                machine.kernel
            ),
            sittings: report.sittings,
            rows: report.measured_operations().filter_map(|operation| row(report, operation)).collect(),
        }
    }

    /// Reads one.
    ///
    /// # Errors
    /// [`LabError::Io`], or [`LabError::Report`] if the file is something else.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(LabError::io(format!("reading {}", path.display())))?;
        let digest: Self = serde_json::from_str(&text).map_err(|error| LabError::Report {
            what: format!("{} is no recorded run: {error}; record the suite again", path.display()),
        })?;
        Ok(digest.with_times_taken_once())
    }

    /// Runs that were recorded before times taken once were listed have all intervals that there were, if they say when
    /// they began: what has none was taken once. Older ones do not tell.
    fn with_times_taken_once(mut self) -> Self {
        if self.started.is_some() {
            for row in self.rows.iter_mut().filter(|row| row.unit == "ns") {
                let Some(best) = row.best.as_mut().filter(|best| best.within.is_none()) else { continue };
                best.once = true;
                best.ahead |= best.times.is_some_and(|times| times > EVEN_ONCE);
            }
        }
        self
    }

    /// As JSON, with one operation on each line, so that a change of one figure is a change of one line.
    ///
    /// # Errors
    /// [`LabError::Subject`] if a figure is not a number.
    pub fn render(&self) -> Result<String> {
        let failed = || LabError::subject("the recorded run");
        let head = serde_json::to_string_pretty(&Digest { rows: Vec::new(), ..self.clone() }).map_err(failed())?;
        let rows = self.rows.iter().map(serde_json::to_string).collect::<std::result::Result<Vec<_>, _>>();
        let rows = rows.map_err(failed())?;
        Ok(head.replace("\"rows\": []", &format!("\"rows\": [\n    {}\n  ]", rows.join(",\n    "))) + "\n")
    }

    /// An operation.
    pub fn row(&self, operation: &str) -> Option<&DigestRow> {
        self.rows.iter().find(|row| row.operation == operation)
    }
}

fn row(report: &Report, operation: &OperationInfo) -> Option<DigestRow> {
    let ours = report.row(&operation.name, OURS)?;
    let floor = |name: &str| report.subject(name).is_some_and(|subject| subject.floor);
    let peers = report.results.iter().filter(|row| row.operation == operation.name && !is_ours(&row.subject));
    let peers = peers.filter(|row| !floor(&row.subject) && !does_less(ours, row));
    let best = peers.filter_map(|theirs| best(ours, theirs)).min_by(|a, b| {
        let behind = |best: &Best| best.times.unwrap_or(0.0);
        let weaker = a.weaker.is_some().cmp(&b.weaker.is_some());
        weaker.then(behind(b).total_cmp(&behind(a))).then(a.figure.total_cmp(&b.figure))
    });
    Some(DigestRow {
        operation: operation.name.clone(),
        unit: operation.unit.clone(),
        what: operation.what.clone(),
        ours: ours.median?,
        best,
    })
}

fn best(ours: &Row, theirs: &Row) -> Option<Best> {
    let ratio = times(ours, theirs);
    Some(Best {
        subject: theirs.subject.clone(),
        figure: theirs.median?,
        times: ratio.map(|(times, _)| times),
        within: ratio.and_then(|(_, within)| within),
        ahead: ahead(ours, theirs).is_some(),
        once: theirs.unit == "ns" && ratio.is_some_and(|(_, within)| within.is_none()),
        weaker: (theirs.tier < ours.tier).then(|| theirs.tier.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::report;

    #[test]
    fn the_best_peer_is_the_furthest_ahead_of_those_that_keep_as_much_if_there_are_any() {
        for (what, others, expected) in [
            ("nobody else", vec![], None),
            ("the less", vec![("a", "T2", 200.0), ("b", "T2", 150.0)], Some(("b", false))),
            ("ahead", vec![("a", "T2", 50.0), ("b", "T2", 150.0)], Some(("a", true))),
            ("who keeps less comes last", vec![("a", "T2", 200.0), ("w", "T1", 2.0)], Some(("a", false))),
            ("but if it is alone", vec![("w", "T1", 2.0)], Some(("w", true))),
            ("the floor is no peer", vec![("raw", "T2", 2.0)], None),
        ] {
            let rows: Vec<_> = [(OURS, "T2", 100.0)].into_iter().chain(others).collect();
            let digest = Digest::of(&report("engine", &rows));
            let best = digest.row("o").unwrap().best.as_ref();
            assert_eq!(best.map(|best| (best.subject.as_str(), best.ahead)), expected, "{what}");
        }
    }

    #[test]
    fn a_recorded_run_is_read_as_it_was_written() {
        let digest = Digest::of(&report("engine", &[(OURS, "T2", 100.0), ("a", "T2", 50.0)]));
        let text = digest.render().unwrap();
        assert_eq!(serde_json::from_str::<Digest>(&text).unwrap(), digest, "{text}");
        assert_eq!(text.lines().filter(|line| line.contains("\"operation\"")).count(), 1, "{text}");
    }
}
