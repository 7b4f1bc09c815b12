//! The report as a table for a terminal: operations down, subjects across.

use std::fmt::Write as _; // to a String, which cannot fail

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{Attribute, Cell, CellAlignment, Color, Table};

use super::claims::claims;
use super::losses::{losses, times};
use super::model::{Report, Row};
use super::units::{digits, show};
use crate::subjects::OURS;

/// The whole report as text.
pub fn render(report: &Report) -> String {
    let mut text = head(report);
    text.push_str(&figures(report).to_string());
    text.push('\n');
    text.push_str(&notes(report));
    text
}

fn head(report: &Report) -> String {
    let machine = &report.calibration;
    let mut text = format!(
        "Suite {} ({}): {}\n{} x {}, {}, Linux {}; a sync takes {}, a wait for memory {}\n",
        report.suite,
        report.mode,
        report.sizes,
        machine.cores,
        machine.cpu,
        machine.filesystem,
        machine.kernel,
        show(machine.sync_ns, "ns"),
        show(machine.memory_latency_ns, "ns"),
    );
    for warning in &report.warnings {
        let _ = writeln!(text, "Warning: {warning}");
    }
    text
}

fn figures(report: &Report) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY);
    let mut header = vec![Cell::new("")];
    for subject in &report.subjects {
        let name = format!("{}\n{} {}", subject.name, subject.version, subject.tier);
        header.push(Cell::new(name).add_attribute(Attribute::Bold).set_alignment(CellAlignment::Right));
    }
    table.set_header(header);
    for operation in report.measured_operations() {
        let mut cells = vec![Cell::new(&operation.name)];
        for subject in &report.subjects {
            let ours = report.row(&operation.name, OURS);
            cells.push(cell(report.row(&operation.name, &subject.name), ours));
        }
        table.add_row(cells);
    }
    table
}

fn cell(row: Option<&Row>, ours: Option<&Row>) -> Cell {
    let Some(row) = row else { return Cell::new("") };
    let cell = match row.median {
        None => Cell::new("-"),
        Some(median) => {
            let mut text = show(median, &row.unit);
            let mut color = None;
            if let Some((ratio, interval)) =
                ours.filter(|ours| ours.subject != row.subject).and_then(|ours| times(ours, row))
            {
                if interval.is_some() || row.unit != "ns" {
                    let _ = write!(text, "\n{}x", digits(1.0 / ratio));
                }
                color = match interval {
                    Some((low, _)) if low > 1.0 => Some(Color::Red),
                    Some((_, high)) if high < 1.0 => Some(Color::Green),
                    _ => None,
                };
            }
            let cell = Cell::new(text);
            match color {
                Some(color) => cell.fg(color),
                None => cell,
            }
        }
    };
    cell.set_alignment(CellAlignment::Right)
}

fn notes(report: &Report) -> String {
    let mut text =
        format!("Less is better in every row; 2x: twice ours. Red: ahead of {OURS} beyond the noise of the rounds.\n");
    // One line for what is said of several subjects or several operations.
    let mut said: Vec<(&str, Vec<&str>, Vec<&str>)> = Vec::new();
    for row in &report.results {
        for why in row.reason.iter().chain(&row.note) {
            if report.subject(&row.subject).and_then(|subject| subject.reason.as_ref()) == Some(why) {
                continue; // said of the subject as a whole
            }
            let at = said.iter().position(|(known, _, _)| known == why).unwrap_or_else(|| {
                said.push((why, Vec::new(), Vec::new()));
                said.len() - 1
            });
            let Some((_, operations, subjects)) = said.get_mut(at) else { continue };
            for (list, name) in [(operations, &row.operation), (subjects, &row.subject)] {
                if !list.contains(&name.as_str()) {
                    list.push(name);
                }
            }
        }
    }
    for (why, operations, subjects) in said {
        let _ = writeln!(text, "  {} ({}): {why}", operations.join(", "), subjects.join(", "));
    }
    for subject in &report.subjects {
        for why in subject.reason.iter().chain(&subject.tier_note) {
            let _ = writeln!(text, "  {}: {why}", subject.name);
        }
    }
    let losses = losses(report);
    text.push_str(if losses.is_empty() { "Where we lose: nowhere in this run.\n" } else { "Where we lose:\n" });
    for loss in losses {
        let _ = writeln!(text, "  {}", loss.words);
    }
    if let Some(claims) = claims(report) {
        text.push_str("What was published, and whether it holds:\n");
        for found in &claims.found {
            let measured = if found.measured.is_empty() { "-" } else { &found.measured };
            let _ = writeln!(text, "  {}: {}; here {measured}. {}", found.what, found.published, found.sentence);
        }
    }
    text
}
