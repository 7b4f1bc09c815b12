//! The report as a page of docs/benchmarks. It is generated whole: nobody edits it.

use std::fmt::Write as _;

use super::claims::claims;
use super::headlines::headline;
use super::losses::losses;
use super::model::{Report, Row, SubjectInfo};
use super::units::{bytes, show};

/// The page, its losses first.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(report, &mut text);
    text
}

fn write(report: &Report, text: &mut String) -> std::fmt::Result {
    writeln!(text, "# Suite `{}`: {}\n", report.suite, about(&report.suite))?;
    writeln!(text, "```console\n{}\n```\n", report.command)?;
    let machine = &report.calibration;
    writeln!(
        text,
        "Generated from a {} run of {:.0} s: {}. {} cores of {}, {} of memory, {}, Linux {}. One sync {} (99 %: {}), a \
         wait for memory {}, copying {}/s, a round trip on loopback {}. {} Intervals are in the JSON. Less is better \
         in every row.\n",
        report.mode,
        report.took_seconds,
        report.sizes,
        machine.cores,
        machine.cpu,
        bytes(machine.memory_bytes),
        machine.filesystem,
        machine.kernel,
        show(machine.sync_ns, "ns"),
        show(machine.sync_p99_ns, "ns"),
        show(machine.memory_latency_ns, "ns"),
        show(machine.memcpy_bytes_per_second, "bytes"),
        show(machine.loopback_ns, "ns"),
        report.how_taken(),
    )?;
    if report.interrupted {
        writeln!(text, "**This run was ended early: rows are missing or have few rounds.**\n")?;
    }
    for warning in &report.warnings {
        writeln!(text, "**Warning:** {warning}\n")?;
    }
    write_losses(report, text)?;
    write_claims(report, text)?;
    write_figures(report, text)?;
    write_subjects(report, text)?;
    write_operations(report, text)
}

/// The subject of a suite, as in its heading.
fn about(suite: &str) -> &'static str {
    headline(suite).map_or("a workload of one's own", |headline| headline.about)
}

fn write_losses(report: &Report, text: &mut String) -> std::fmt::Result {
    writeln!(text, "## Where we lose\n")?;
    let losses = losses(report);
    if losses.is_empty() {
        writeln!(text, "In this run no subject was ahead in any row beyond the noise.\n")?;
    }
    for loss in &losses {
        writeln!(text, "- {}", loss.words)?;
    }
    if !losses.is_empty() {
        writeln!(text)?;
    }
    Ok(())
}

/// The article's published figures, and whether they hold.
fn write_claims(report: &Report, text: &mut String) -> std::fmt::Result {
    let Some(claims) = claims(report) else { return Ok(()) };
    writeln!(text, "## What was published, and whether it holds\n\n{}\n", claims.head.join(" "))?;
    writeln!(
        text,
        "Ratios are of times, the first by the second, here with the 95 % interval; times of two machines are not \
         compared.\n"
    )?;
    writeln!(
        text,
        "| of | published | ratio | measured here | ratio here | whether it holds |\n|---|---|---:|---|---:|---|"
    )?;
    for found in &claims.found {
        let cells = [found.what, found.published, &found.claimed, &found.measured, &found.ratio, &found.sentence];
        writeln!(text, "| {} |", cells.map(|cell| cell.replace('|', "/")).join(" | "))?;
    }
    writeln!(text)
}

fn write_figures(report: &Report, text: &mut String) -> std::fmt::Result {
    writeln!(text, "## Figures\n")?;
    let names: Vec<&str> = report.subjects.iter().map(|subject| subject.name.as_str()).collect();
    writeln!(text, "| operation | {} |", names.join(" | "))?;
    writeln!(text, "|---|{}", "---:|".repeat(names.len()))?;
    let mut notes = Notes::default();
    for operation in report.measured_operations() {
        let cells: Vec<String> =
            names.iter().map(|name| cell(report, report.row(&operation.name, name), &mut notes)).collect();
        writeln!(text, "| `{}` | {} |", operation.name, cells.join(" | "))?;
    }
    writeln!(text)?;
    for (number, (note, whose)) in notes.0.iter().enumerate() {
        writeln!(text, "{}. {}: {note}", number + 1, whose.join(", "))?;
    }
    if !notes.0.is_empty() {
        writeln!(text)?;
    }
    Ok(())
}

/// Notes for readers, each once, with the subjects that they are about.
#[derive(Default)]
struct Notes(Vec<(String, Vec<String>)>);

impl Notes {
    /// The number of a note, from 1 on.
    fn number(&mut self, note: String, subject: &str) -> usize {
        let known = self.0.iter().position(|(known, _)| *known == note);
        let at = known.unwrap_or_else(|| {
            self.0.push((note, Vec::new()));
            self.0.len() - 1
        });
        if let Some((_, whose)) = self.0.get_mut(at)
            && !whose.iter().any(|name| name == subject)
        {
            whose.push(subject.to_owned());
        }
        at + 1
    }
}

fn cell(report: &Report, row: Option<&Row>, notes: &mut Notes) -> String {
    let Some(row) = row else { return String::new() };
    let figure = row.median.map_or_else(|| "-".to_owned(), |median| show(median, &row.unit));
    let of_subject = report.subject(&row.subject).and_then(|subject| subject.reason.as_ref());
    let why: Vec<&str> =
        row.reason.iter().chain(&row.note).filter(|why| Some(*why) != of_subject).map(String::as_str).collect();
    if why.is_empty() {
        return figure;
    }
    format!("{figure} <sup>{}</sup>", notes.number(why.join("; ").replace('|', "/"), &row.subject))
}

fn write_subjects(report: &Report, text: &mut String) -> std::fmt::Result {
    writeln!(text, "## Subjects\n")?;
    writeln!(text, "| subject | version | durable to | counted syncs | how it is opened |\n|---|---|---|---|---|")?;
    for subject in &report.subjects {
        writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            subject.name,
            subject.version,
            tier(subject),
            subject
                .syncs
                .as_ref()
                .map_or_else(|| "not counted".to_owned(), |(syncs, commits)| counted(syncs, *commits)),
            subject.opened().replace('|', "/"),
        )?;
    }
    writeln!(text)
}

fn counted(syncs: &crate::measure::trace::Syncs, commits: u64) -> String {
    let kinds = [
        (syncs.fdatasync, "fdatasync"),
        (syncs.fsync, "fsync"),
        (syncs.msync, "msync"),
        (syncs.synced_writes, "O_DSYNC writes"),
        (syncs.sync_file_range, "sync_file_range"),
    ];
    let counted: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    let counted = if counted.is_empty() { "none".to_owned() } else { counted.join(", ") };
    format!("{counted} in {commits} commits")
}

fn tier(subject: &SubjectInfo) -> String {
    let words = match subject.tier.as_str() {
        "T0" => "nothing (T0)",
        "T1" => "the process's end (T1)",
        _ => "loss of power (T2)",
    };
    subject.tier_note.as_ref().map_or_else(|| words.to_owned(), |note| format!("{words}; {note}"))
}

fn write_operations(report: &Report, text: &mut String) -> std::fmt::Result {
    writeln!(text, "## What each row measures\n")?;
    for operation in report.measured_operations() {
        writeln!(text, "- `{}` ({}): {}", operation.name, operation.unit, operation.what)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_several_subjects_is_said_once() {
        let mut notes = Notes::default();
        for (note, subject, expected) in [
            ("slow", "a", 1),
            ("only in full runs", "a", 2),
            ("only in full runs", "b", 2),
            ("only in full runs", "a", 2),
            ("slow", "b", 1),
        ] {
            assert_eq!(notes.number(note.to_owned(), subject), expected, "{note} {subject}");
        }
        let whose: Vec<String> = notes.0.iter().map(|(note, whose)| format!("{}: {note}", whose.join(", "))).collect();
        assert_eq!(whose, ["a, b: slow", "a, b: only in full runs"]);
    }
}
