//! Several sittings of a suite: all of it is done again, with new processes and new stores. What differs from one
//! process to the next, and from one store's place on the disk to another's, is then in the interval of a figure, as it
//! is between two runs.

use crate::measure::stats::{self, Summary};
use crate::report::{Row, losses};
use crate::subjects::OURS;

/// The rows of all sittings as those of one run. A row that was measured in one of them only stays as it is.
pub fn together(sittings: &[Vec<Row>]) -> Vec<Row> {
    let of = |operation: &str, subject: &str| -> Vec<Option<&Row>> {
        let is = |row: &&Row| row.operation == operation && row.subject == subject;
        sittings.iter().map(|rows| rows.iter().find(is)).collect()
    };
    let mut known: Vec<(&str, &str)> = Vec::new();
    for row in sittings.iter().flatten() {
        let name = (row.operation.as_str(), row.subject.as_str());
        if !known.contains(&name) {
            known.push(name);
        }
    }
    let rows = known.into_iter().filter_map(|(operation, subject)| {
        let ours = if subject == OURS { Vec::new() } else { of(operation, OURS) };
        merged(&of(operation, subject), &ours)
    });
    rows.collect()
}

/// One row of those of the sittings, and its ratio to ours, sitting by sitting.
fn merged(rows: &[Option<&Row>], ours: &[Option<&Row>]) -> Option<Row> {
    let all = || rows.iter().flatten().copied();
    let figures: Vec<(&Row, Summary)> = all().filter_map(|row| Some((row, row.summary()?))).collect();
    let mut row = figures.first().map(|(row, _)| *row).or_else(|| all().next())?.clone();
    row.reason = all().find_map(|row| row.reason.clone());
    if let Some(last) = all().last() {
        row.tier.clone_from(&last.tier);
    }
    if figures.len() < 2 {
        return Some(row);
    }
    let of = |summaries: &[Summary]| stats::sittings(summaries);
    row.set(of(&figures.iter().map(|(_, summary)| *summary).collect::<Vec<_>>()));
    row.set_processor(of(&figures.iter().filter_map(|(row, _)| row.processor()).collect::<Vec<_>>()));
    let ratios: Vec<Summary> = rows.iter().zip(ours).filter_map(|(theirs, ours)| ratio((*ours)?, (*theirs)?)).collect();
    row.ours_to_this = of(&ratios);
    let samples =
        |row: &Row| if row.samples.is_empty() { row.median.into_iter().collect() } else { row.samples.clone() };
    row.sittings = figures.iter().map(|(row, _)| samples(row).len()).collect();
    row.samples = figures.iter().flat_map(|(row, _)| samples(row)).collect();
    for (other, _) in figures.iter().skip(1) {
        row.add_latencies(other);
        row.settling = row.settling.zip(other.settling).map(|(one, other)| one && other);
    }
    row.note = notes(figures.iter().filter_map(|(row, _)| row.note.as_deref()));
    Some(row)
}

/// The ratio of ours to theirs in one sitting: round by round, or once.
fn ratio(ours: &Row, theirs: &Row) -> Option<Summary> {
    theirs.ours_to_this.or_else(|| {
        let (times, within) = losses::apart(ours, theirs)?;
        let (low, high) = within.unwrap_or((times, times));
        Some(Summary { median: times, low, high, mean: times, n: 1 })
    })
}

/// Notes for readers, each once. Of notes that differ only in their figures, the first is kept.
fn notes<'n>(notes: impl Iterator<Item = &'n str>) -> Option<String> {
    let words = |note: &str| note.chars().filter(|found| !found.is_ascii_digit()).collect::<String>();
    let mut said: Vec<&str> = Vec::new();
    for note in notes {
        if !said.iter().any(|known| words(known) == words(note)) {
            said.push(note);
        }
    }
    (!said.is_empty()).then(|| said.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of one sitting with these rounds, beside ours of as many rounds.
    fn row(subject: &str, rounds: &[f64], ours: &[f64]) -> Row {
        let mut row: Row = serde_json::from_value(serde_json::json!({
            "suite": "s", "operation": "get", "subject": subject, "unit": "ns", "median": null, "low": null,
            "high": null, "mean": null,
            "n": 0, "tier": "T2", "samples": rounds,
        }))
        .unwrap();
        row.set(stats::summary(rounds));
        row.ours_to_this = (subject != OURS).then(|| stats::ratio(ours, rounds)).flatten();
        row
    }

    fn sitting(ours: f64, theirs: f64) -> Vec<Row> {
        let (ours, theirs) = ([ours, ours * 1.01, ours * 0.99], [theirs, theirs * 1.01, theirs * 0.99]);
        vec![row(OURS, &ours, &[]), row("lmdb", &theirs, &ours)]
    }

    #[test]
    fn what_differs_between_sittings_is_in_the_interval() {
        // In each sitting ours is steady to a per cent; of one sitting to the next it is not.
        let all: Vec<Vec<Row>> =
            [50.0, 52.0, 61.0, 55.0, 70.0, 54.0].into_iter().map(|ours| sitting(ours, 100.0)).collect();
        let found = together(&all);
        let names: Vec<&str> = found.iter().map(|row| row.subject.as_str()).collect();
        assert_eq!(names, [OURS, "lmdb"]);
        let ours = &found[0];
        assert_eq!((ours.median, ours.low, ours.high, ours.n), (Some(54.5), Some(50.0), Some(70.0), 18));
        assert_eq!((ours.samples.len(), ours.sittings.as_slice()), (18, &[3; 6][..]));
        let ratio = found[1].ours_to_this.unwrap();
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
        assert!(near(ratio.median, 0.545) && near(ratio.low, 0.5) && near(ratio.high, 0.7), "{ratio:?}");
        // Ratios are of the same sitting: a machine that slows down between two slows both.
        let slower: Vec<Vec<Row>> =
            (1..=7).map(|times| sitting(50.0 * f64::from(times), 100.0 * f64::from(times))).collect();
        let ratio = together(&slower)[1].ours_to_this.unwrap();
        assert!(near(ratio.low, 0.5) && near(ratio.high, 0.5), "{ratio:?}");
    }

    #[test]
    fn one_sitting_stays_as_it_is_and_a_failure_keeps_what_was_measured() {
        let one = sitting(50.0, 100.0);
        let found = together(std::slice::from_ref(&one));
        assert_eq!(serde_json::to_value(&found).unwrap(), serde_json::to_value(&one).unwrap());
        let mut failed = sitting(50.0, 100.0);
        failed[1] = Row { median: None, reason: Some("its disk was full".to_owned()), ..row("lmdb", &[], &[]) };
        let found = together(&[sitting(50.0, 100.0), failed, sitting(50.0, 100.0)]);
        assert_eq!(found[1].reason.as_deref(), Some("its disk was full"));
        assert_eq!((found[1].median, found[1].sittings.as_slice()), (Some(100.0), &[3; 2][..]));
        assert_eq!(found[0].sittings, [3; 3]);
    }

    #[test]
    fn what_is_taken_once_a_sitting_has_an_interval_of_several() {
        let once = |ours: f64, theirs: f64| {
            let row = |subject: &str, value: f64| Row { samples: Vec::new(), ..row(subject, &[value], &[]) };
            vec![row(OURS, ours), Row { ours_to_this: None, ..row("lmdb", theirs) }]
        };
        let all: Vec<Vec<Row>> = (0..6).map(|extra| once(10.0 + f64::from(extra), 20.0)).collect();
        let found = together(&all);
        assert_eq!((found[0].samples.len(), found[0].low, found[0].high), (6, Some(10.0), Some(15.0)));
        let ratio = found[1].ours_to_this.unwrap();
        assert!((ratio.low - 0.5).abs() < 1e-9 && (ratio.high - 0.75).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn notes_that_differ_in_figures_are_one() {
        for (all, expected) in [
            (vec![], None),
            (vec!["1.2 tries", "1.3 tries"], Some("1.2 tries")),
            (vec!["1.2 tries", "in memory"], Some("1.2 tries; in memory")),
        ] {
            assert_eq!(notes(all.into_iter()).as_deref(), expected);
        }
    }
}
