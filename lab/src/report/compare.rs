//! A comparison of two runs. Times of two machines are never compared. For two machines only the ratios of each subject
//! to ours within each run are compared.

use std::fmt::Write as _;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{Cell, CellAlignment, Table};

use super::model::{Report, Row};
use super::units::{digits, show};
use crate::error::{LabError, Result};
use crate::subjects::OURS;

/// The result of comparing one figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// The intervals do not touch, and the later one is less.
    Better,
    /// The intervals do not touch, and the later one is more.
    Worse,
    /// The intervals touch.
    Even,
}

/// A comparison.
pub struct Comparison {
    /// For a terminal.
    pub text: String,
    /// Figures of ours that are worse beyond the noise. Only filled if the machines are the same.
    pub worse: Vec<String>,
    /// The ratios of ours to the others in both runs.
    pub ratios: Ratios,
    /// Whether both are of one machine.
    pub same_machine: bool,
}

/// Whether two runs say the same of how ours stands to the others.
#[derive(Default)]
pub struct Ratios {
    /// The number of ratios with an interval in both runs.
    pub compared: usize,
    /// The number of ratios without an interval in one of the runs, because they were taken once.
    pub taken_once: usize,
    /// The ratios whose intervals do not touch.
    pub apart: Vec<String>,
}

impl Comparison {
    /// 3 if a figure of ours is worse beyond both intervals, else 4 if a ratio disagrees. Always 0 for two machines,
    /// which may disagree.
    pub fn exit_code(&self) -> u8 {
        match self {
            Comparison { worse, .. } if !worse.is_empty() => 3,
            Comparison { ratios, same_machine: true, .. } if !ratios.apart.is_empty() => 4,
            _ => 0,
        }
    }
}

/// Compares two reports.
///
/// # Errors
/// [`LabError::Report`] if they are of two suites.
pub fn compare(before: &Report, after: &Report) -> Result<Comparison> {
    if before.suite != after.suite {
        return Err(LabError::Report {
            what: format!("the reports are of two suites: {} and {}", before.suite, after.suite),
        });
    }
    let mut head = String::new();
    if before.mode != after.mode || before.sizes != after.sizes {
        // Writing to a String cannot fail.
        let _ = writeln!(
            head,
            "The runs differ in size, so figures may differ for that reason alone:\n  {}: {}\n  {}: {}",
            before.mode, before.sizes, after.mode, after.sizes
        );
    }
    let ratios = Ratios::of(before, after);
    let summary = ratios.summary();
    if before.calibration.same_machine(&after.calibration) {
        let (text, worse) = absolute(before, after, &head);
        Ok(Comparison { text: text + &summary, worse, ratios, same_machine: true })
    } else {
        let _ = writeln!(
            head,
            "The runs are of two machines ({} and {}): absolute times are not compared, only how others stand to \
             {OURS}.",
            before.calibration.cpu, after.calibration.cpu
        );
        let text = head + &in_turns(before, after) + &summary;
        Ok(Comparison { text, worse: Vec::new(), ratios, same_machine: false })
    }
}

/// Whether two figures differ beyond their intervals.
pub fn change(before: &Row, after: &Row) -> Option<Change> {
    let (before_low, before_high) = (before.low?, before.high?);
    let (after_low, after_high) = (after.low?, after.high?);
    Some(if after_low > before_high {
        Change::Worse
    } else if after_high < before_low {
        Change::Better
    } else {
        Change::Even
    })
}

impl Ratios {
    fn of(before: &Report, after: &Report) -> Self {
        let mut found = Ratios::default();
        for row in after.results.iter().filter(|row| row.subject != OURS) {
            let (Some(was), Some(is)) = (ours_to(before, row), ours_to(after, row)) else { continue };
            let ((was, Some((was_low, was_high))), (is, Some((is_low, is_high)))) = (was, is) else {
                found.taken_once += 1;
                continue;
            };
            found.compared += 1;
            if is_low > was_high || was_low > is_high {
                let shown = |times, low, high| format!("{} ({} to {})", digits(times), digits(low), digits(high));
                found.apart.push(format!(
                    "{}, ours to {}: {} -> {}",
                    row.operation,
                    row.subject,
                    shown(was, was_low, was_high),
                    shown(is, is_low, is_high)
                ));
            }
        }
        found
    }

    fn summary(&self) -> String {
        if self.compared == 0 && self.taken_once == 0 {
            return format!("Ratios: there is none of {OURS} to another subject in both runs.\n");
        }
        let once = if self.taken_once == 0 {
            String::new()
        } else {
            format!(" ({} more were taken once and have no interval)", self.taken_once)
        };
        let agree = self.compared - self.apart.len();
        let mut text = format!(
            "Ratios of {OURS} to others: {agree} of {} agree within their 95 % intervals{once}.\n",
            self.compared
        );
        for apart in &self.apart {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "apart: {apart}");
        }
        text
    }
}

/// The ratio of ours to the subject of a row, in the row's operation.
fn ours_to(report: &Report, row: &Row) -> Option<super::losses::Ratio> {
    super::losses::times(report.row(&row.operation, OURS)?, report.row(&row.operation, &row.subject)?)
}

fn absolute(before: &Report, after: &Report, head: &str) -> (String, Vec<String>) {
    let mut table = table(&["operation", "subject", "before", "after", "after/before", ""]);
    let mut worse = Vec::new();
    for row in &after.results {
        let Some(old) = before.row(&row.operation, &row.subject) else { continue };
        let (Some(was), Some(is), Some(change)) = (old.median, row.median, change(old, row)) else { continue };
        let word = match change {
            Change::Better => "better",
            Change::Worse => "worse",
            Change::Even => "",
        };
        let ratio = if was > 0.0 { digits(is / was) } else { String::new() };
        if change == Change::Worse && row.subject == OURS {
            worse.push(format!("{}: {} -> {}", row.operation, show(was, &row.unit), show(is, &row.unit)));
        }
        add(&mut table, &[&row.operation, &row.subject, &show(was, &row.unit), &show(is, &row.unit), &ratio, word]);
    }
    (format!("{head}{table}\nBetter and worse: beyond both 95 % intervals.\n"), worse)
}

fn in_turns(before: &Report, after: &Report) -> String {
    let mut table = table(&["operation", "subject", "ours/theirs before", "after"]);
    for row in after.results.iter().filter(|row| row.subject != OURS) {
        let of = |report: &Report| ours_to(report, row).map(|(times, _)| digits(times));
        if let (Some(was), Some(is)) = (of(before), of(after)) {
            add(&mut table, &[&row.operation, &row.subject, &was, &is]);
        }
    }
    format!("{table}\n")
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_header(header);
    table
}

fn add(table: &mut Table, cells: &[&str]) {
    table.add_row(cells.iter().enumerate().map(|(at, text)| {
        let alignment = if at < 2 { CellAlignment::Left } else { CellAlignment::Right };
        Cell::new(text).set_alignment(alignment)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of these ratios of ours to others, with their intervals: operation, subject, median, low, high, rounds.
    fn report(cpu: &str, ours: f64, ratios: &[(&str, &str, [f64; 3], usize)]) -> Report {
        let row = |operation: &str, subject: &str, median: f64, ratio: Option<([f64; 3], usize)>| {
            let n = ratio.map_or(5, |(_, n)| n);
            serde_json::json!({
                "suite": "s", "operation": operation, "subject": subject, "unit": "ns", "median": median,
                "low": median * 0.9,
                "high": median * 1.1, "mean": median, "n": n, "tier": "T2",
                "ours_to_this": ratio.map(|([median, low, high], n)| {
                    serde_json::json!({"median": median, "low": low, "high": high, "mean": median, "n": n})
                }),
            })
        };
        let mut operations: Vec<&str> = ratios.iter().map(|(operation, ..)| *operation).collect();
        operations.dedup();
        let own = operations.iter().map(|operation| row(operation, OURS, ours, None));
        let others =
            ratios.iter().map(|(operation, subject, ratio, n)| row(operation, subject, 100.0, Some((*ratio, *n))));
        serde_json::from_value(serde_json::json!({
            "suite": "s", "mode": "quick", "command": "", "started": 0, "took_seconds": 1.0, "interrupted": false,
            "warnings": [],
            "sizes": "", "calibration_after": null, "subjects": [], "operations": [],
            "results": own.chain(others).collect::<Vec<_>>(),
            "calibration": {
                "cpu": cpu, "cores": 1, "memory_bytes": 1, "kernel": "", "filesystem": "ext4", "sync_ns": 1.0,
                "sync_p99_ns": 1.0,
                "memcpy_bytes_per_second": 1.0, "memory_latency_ns": 1.0, "loopback_ns": 1.0, "load_average": 0.0,
            },
        }))
        .unwrap()
    }

    #[test]
    fn ratios_agree_where_their_intervals_touch_and_the_others_are_named() {
        let before = report(
            "abacus",
            50.0,
            &[
                ("get", "lmdb", [1.0, 0.9, 1.1], 5),
                ("get", "redb", [0.5, 0.4, 0.6], 5),
                ("put", "lmdb", [2.0, 1.9, 2.1], 5),
            ],
        );
        for (what, after, agree, apart, code) in [
            ("the same", [[1.0, 0.9, 1.1], [0.5, 0.4, 0.6], [2.0, 1.9, 2.1]], 3, vec![], 0),
            ("touching", [[1.2, 1.1, 1.3], [0.3, 0.2, 0.4], [2.0, 1.0, 3.0]], 3, vec![], 0),
            (
                "one above",
                [[1.3, 1.2, 1.4], [0.5, 0.4, 0.6], [2.0, 1.9, 2.1]],
                2,
                vec!["get, ours to lmdb: 1.00 (0.90 to 1.10) -> 1.30 (1.20 to 1.40)"],
                4,
            ),
            (
                "one below",
                [[1.0, 0.9, 1.1], [0.2, 0.1, 0.3], [2.0, 1.9, 2.1]],
                2,
                vec!["get, ours to redb: 0.50 (0.40 to 0.60) -> 0.20 (0.10 to 0.30)"],
                4,
            ),
        ] {
            let [a, b, c] = after;
            let after = |cpu| report(cpu, 50.0, &[("get", "lmdb", a, 5), ("get", "redb", b, 5), ("put", "lmdb", c, 5)]);
            let same = compare(&before, &after("abacus")).unwrap();
            assert_eq!(same.ratios.apart, apart, "{what}");
            assert_eq!((same.ratios.compared, same.exit_code()), (3, code), "{what}");
            let line = format!("Ratios of recension to others: {agree} of 3 agree within their 95 % intervals.\n");
            assert!(same.text.contains(&line), "{what}: {}", same.text);
            for apart in apart {
                assert!(same.text.contains(&format!("apart: {apart}\n")), "{what}: {}", same.text);
            }
            // Ratios of two machines may differ: said, and no verdict.
            let other = compare(&before, &after("slide rule")).unwrap();
            assert!(other.text.contains(&line), "{what}: {}", other.text);
            assert_eq!(other.exit_code(), 0, "{what}");
        }
    }

    #[test]
    fn what_was_taken_once_has_no_interval_to_agree_within() {
        let once = |times: f64| {
            report("abacus", 50.0, &[("size", "lmdb", [times, times, times], 1), ("get", "lmdb", [1.0, 0.9, 1.1], 5)])
        };
        let found = compare(&once(1.0), &once(9.0)).unwrap();
        assert_eq!((found.ratios.compared, found.ratios.taken_once, found.exit_code()), (1, 1, 0));
        assert!(
            found.text.contains("1 of 1 agree within their 95 % intervals (1 more were taken once"),
            "{}",
            found.text
        );
        let none = compare(&report("abacus", 1.0, &[]), &report("abacus", 1.0, &[])).unwrap();
        assert!(none.text.contains("there is none of recension"), "{}", none.text);
    }

    #[test]
    fn a_figure_of_ours_that_is_worse_comes_before_a_ratio_that_disagrees() {
        let ratios = |median: f64| [("get", "lmdb", [median, median * 0.9, median * 1.1], 5)];
        let (before, after) = (report("abacus", 50.0, &ratios(0.5)), report("abacus", 100.0, &ratios(1.0)));
        let found = compare(&before, &after).unwrap();
        assert_eq!((found.worse.len(), found.ratios.apart.len(), found.exit_code()), (1, 1, 3));
        let better = compare(&after, &before).unwrap();
        assert_eq!((better.worse.len(), better.ratios.apart.len(), better.exit_code()), (0, 1, 4));
    }
}
