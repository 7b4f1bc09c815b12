//! Two runs beside each other. Times of two machines are never compared: there, how each subject stands to
//! ours within its own run is.

use std::fmt::Write as _;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{Cell, CellAlignment, Table};

use super::model::{Report, Row};
use super::units::{digits, show};
use crate::error::{LabError, Result};
use crate::subjects::OURS;

/// What came of one figure.
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
    /// Figures of ours that are worse beyond the noise, where the machines are the same.
    pub worse: Vec<String>,
}

/// Compares two reports.
///
/// # Errors
/// [`LabError::Report`] where they are of two suites.
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
    if before.calibration.same_machine(&after.calibration) {
        Ok(absolute(before, after, &head))
    } else {
        let _ = writeln!(
            head,
            "The runs are of two machines ({} and {}): absolute times are not compared, only how others stand to {OURS}.",
            before.calibration.cpu, after.calibration.cpu
        );
        Ok(Comparison { text: head + &ratios(before, after), worse: Vec::new() })
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

fn absolute(before: &Report, after: &Report, head: &str) -> Comparison {
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
    Comparison { text: format!("{head}{table}\nBetter and worse: beyond both 95 % intervals.\n"), worse }
}

fn ratios(before: &Report, after: &Report) -> String {
    let mut table = table(&["operation", "subject", "ours/theirs before", "after"]);
    for row in after.results.iter().filter(|row| row.subject != OURS) {
        let of = |report: &Report| {
            let ours = report.row(&row.operation, OURS)?;
            super::losses::times(ours, report.row(&row.operation, &row.subject)?).map(|(times, _)| digits(times))
        };
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
