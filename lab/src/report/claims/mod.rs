//! The claims of published articles beside the results of a run. Each claim is a ratio of two times, so that nothing is
//! compared across machines. The published figures are data (`published.rs`), the measured ones come from the report,
//! and whether a claim holds is computed.

mod published;

use std::fmt::Write as _; // to a String, which cannot fail

use super::losses::Ratio;
use super::model::{Report, Row};
use super::units::{digits, show};
use crate::measure::stats;
use crate::subjects::OURS;

/// A published ratio holds in size if it is within this factor of the measured interval.
const NEAR: f64 = 1.5;
/// Ratios nearer to one than this are even.
const EVEN: f64 = 1.03;

/// An article whose experiment a suite repeats.
pub struct Experiment {
    suite: &'static str,
    article: &'static str,
    machine: &'static str,
    faults: &'static str,
    claims: &'static [Claim],
}

/// A claim: how many times the first side's time is of the second's.
struct Claim {
    what: &'static str,
    published: &'static str,
    size: Size,
    sides: [Option<Side>; 2],
    /// The subject in whose place the first one is measured, if that subject cannot be measured.
    in_place_of: Option<&'static str>,
    /// The fault of this figure. Empty if it has only the faults of all figures.
    fault: &'static str,
}

/// A figure of a report.
#[derive(Clone, Copy)]
struct Side {
    operation: &'static str,
    subject: &'static str,
}

/// The published ratio.
#[derive(Clone, Copy)]
enum Size {
    /// A figure.
    Times(f64),
    /// The first subject is ahead.
    Less,
    /// The second subject is ahead.
    More,
    /// Nothing that a ratio could be made of.
    Unstated,
}

/// Whether a claim holds.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Verdict {
    /// By order and by size, as far as it has one.
    Holds,
    /// The right subject is ahead, but by another factor.
    OrderHolds,
    /// Nobody is ahead beyond the noise.
    Even,
    /// The other one is ahead.
    Reversed,
    /// There is nothing to compare the measured with.
    Unstated,
}

/// The claims of an article, compared with one report.
pub struct Claims {
    /// The article, its machine, what was wrong, in sentences.
    pub head: [String; 3],
    /// Its claims.
    pub found: Vec<Found>,
}

/// One claim with what was measured.
pub struct Found {
    /// Its subject.
    pub what: &'static str,
    /// As it was printed.
    pub published: &'static str,
    /// The published ratio. Empty if there is none.
    pub claimed: String,
    /// Figures of the same here, and ours.
    pub measured: String,
    /// The ratio here, with its interval.
    pub ratio: String,
    /// Whether it holds, in a sentence, and what was wrong with it.
    pub sentence: String,
}

/// The claims of the article whose experiment this report's suite repeats. `None` if it repeats none, or if its sizes
/// are not the article's.
pub fn claims(report: &Report) -> Option<Claims> {
    let experiment = published::EXPERIMENTS.iter().find(|experiment| experiment.suite == report.suite)?;
    if report.mode == "custom" {
        return None;
    }
    let head = [
        format!("Published: {}.", experiment.article),
        format!("Its machine: {}.", experiment.machine),
        format!("What was wrong: {}.", experiment.faults),
    ];
    Some(Claims { head, found: experiment.claims.iter().map(|claim| find(report, claim)).collect() })
}

fn find(report: &Report, claim: &Claim) -> Found {
    let row = |side: &Side| report.row(side.operation, side.subject);
    let rows = claim.sides.map(|side| side.and_then(|side| row(&side)));
    let ratio = match rows {
        [Some(first), Some(second)] => ratio(first, second),
        _ => None,
    };
    let claimed = match claim.size {
        Size::Times(times) => small(times),
        Size::Less => "less than 1".to_owned(),
        Size::More => "more than 1".to_owned(),
        Size::Unstated => String::new(),
    };
    let mut sentence = match (missing(report, claim), ratio) {
        (Some(why), _) => format!("Not measured: {}.", why.trim_end_matches('.')),
        (None, Some(ratio)) => said(claim.size, verdict(claim.size, ratio), ratio),
        (None, None) => "A time of another machine says nothing by itself.".to_owned(),
    };
    if let (Some(whose), Some(side)) = (claim.in_place_of, claim.sides[0]) {
        let _ = write!(sentence, " {} stands in the place of {whose}.", side.subject);
    }
    if !claim.fault.is_empty() {
        let _ = write!(sentence, " {}", claim.fault);
    }
    if let [Some(first), Some(second)] = rows
        && first.tier != second.tier
        && ratio.is_some()
    {
        let _ =
            write!(sentence, " {} is durable to {}, {} to {}.", first.subject, first.tier, second.subject, second.tier);
    }
    Found {
        what: claim.what,
        published: claim.published,
        claimed,
        measured: measured(report, claim, rows),
        ratio: ratio.map(|(times, within)| with_interval(times, within)).unwrap_or_default(),
        sentence,
    }
}

/// The ratio of the first to the second: round by round if they were measured in the same rounds.
fn ratio(first: &Row, second: &Row) -> Option<Ratio> {
    if first.operation == second.operation
        && let Some(found) =
            stats::ratio_of_sittings(first.in_sittings(), second.in_sittings()).filter(|found| found.n > 1)
    {
        return Some((found.median, Some((found.low, found.high))));
    }
    super::losses::apart(first, second)
}

/// Why a side has no figure.
fn missing(report: &Report, claim: &Claim) -> Option<String> {
    claim.sides.iter().flatten().find_map(|side| {
        let Some(row) = report.row(side.operation, side.subject) else {
            let Some(known) = report.subject(side.subject) else {
                return Some(format!("{} is no subject of this run", side.subject));
            };
            return Some(known.reason.clone().unwrap_or_else(|| format!("{} has no figure", side.subject)));
        };
        let unsaid = || format!("{} has no figure", side.subject);
        row.median.is_none().then(|| row.reason.clone().unwrap_or_else(unsaid))
    })
}

/// The figures of both sides, and ours beside them.
fn measured(report: &Report, claim: &Claim, rows: [Option<&Row>; 2]) -> String {
    let one_operation =
        rows.iter().flatten().all(|row| claim.sides[0].is_some_and(|side| side.operation == row.operation));
    let ours = claim.sides[0].and_then(|side| report.row(side.operation, OURS));
    let ours = ours.filter(|_| claim.sides.iter().flatten().all(|side| side.subject != OURS));
    let figures = rows.into_iter().flatten().chain(ours).filter_map(|row| {
        let figure = show(row.median?, &row.unit);
        Some(if one_operation {
            format!("{} {figure}", row.subject)
        } else {
            format!("{} {} {figure}", row.subject, row.operation)
        })
    });
    figures.collect::<Vec<_>>().join(", ")
}

/// Whether a ratio that was measured bears out what was published.
fn verdict(size: Size, (times, within): Ratio) -> Verdict {
    let (low, high) = within.unwrap_or((times, times));
    let (ahead, behind) = (high < 1.0 / EVEN, low > EVEN);
    let same_side = match size {
        Size::Unstated => return Verdict::Unstated,
        _ if !ahead && !behind => return Verdict::Even,
        Size::Times(published) => (published < 1.0) == ahead,
        Size::Less => ahead,
        Size::More => behind,
    };
    match size {
        _ if !same_side => Verdict::Reversed,
        Size::Times(published) if published < low / NEAR || published > high * NEAR => Verdict::OrderHolds,
        _ => Verdict::Holds,
    }
}

fn said(size: Size, verdict: Verdict, (times, _): Ratio) -> String {
    match (verdict, size) {
        (Verdict::Holds, _) => "It holds.".to_owned(),
        (Verdict::OrderHolds, Size::Times(published)) => {
            let factor = if published < times { times / published } else { published / times };
            let (lead, than) = if (times < 1.0) == (published < times) {
                ("smaller", "was published")
            } else {
                ("greater", "was published")
            };
            format!(
                "Who is ahead holds, by how much does not: the lead is {} times {lead} than {than}.",
                digits(factor)
            )
        }
        (Verdict::OrderHolds, _) => "Who is ahead holds.".to_owned(),
        (Verdict::Even, _) => "It does not hold: here nobody is ahead beyond the noise.".to_owned(),
        (Verdict::Reversed, _) => "It does not hold: here the other one is ahead.".to_owned(),
        (Verdict::Unstated, _) => "There is no published ratio to hold or not.".to_owned(),
    }
}

fn with_interval(times: f64, within: Option<(f64, f64)>) -> String {
    let form = form_of(times);
    let interval = within.map(|(low, high)| format!(" ({} to {})", form(low), form(high)));
    format!("{}{}", form(times), interval.unwrap_or_default())
}

/// Three digits, also of what is far below one.
fn small(value: f64) -> String {
    form_of(value)(value)
}

/// The format of a ratio. Its interval is written in the same format.
fn form_of(ratio: f64) -> fn(f64) -> String {
    match ratio {
        _ if ratio >= 0.95 => digits,
        _ if ratio >= 0.02 => |value| format!("{value:.3}"),
        _ => |value| format!("1/{}", digits(1.0 / value.max(f64::MIN_POSITIVE))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of a suite with these figures: subject, operation, median and rounds around it, tier.
    fn report(suite: &str, mode: &str, rows: &[(&str, &str, f64, &str)]) -> Report {
        let rows: Vec<_> = rows
            .iter()
            .map(|(subject, operation, median, tier)| {
                let samples = [0.99, 1.0, 1.01].map(|part| part * median);
                serde_json::json!({
                    "suite": suite, "operation": operation, "subject": subject, "unit": "ns", "median": median,
                    "low": samples[0],
                    "high": samples[2], "mean": median, "n": 3, "tier": tier, "samples": samples,
                })
            })
            .collect();
        serde_json::from_value(serde_json::json!({
            "suite": suite, "mode": mode, "command": "", "started": 0, "took_seconds": 1.0, "interrupted": false,
            "warnings": [],
            "sizes": "", "calibration_after": null, "results": rows, "operations": [],
            "calibration": {
                "cpu": "", "cores": 1, "memory_bytes": 1, "kernel": "", "filesystem": "ext4", "sync_ns": 1.0,
                "sync_p99_ns": 1.0,
                "memcpy_bytes_per_second": 1.0, "memory_latency_ns": 1.0, "loopback_ns": 1.0, "load_average": 0.0,
            },
            "subjects": [{"name": "mongodb", "what": "", "version": "", "tier": "T2", "reason": "no server was given"}],
        }))
        .unwrap()
    }

    #[test]
    fn a_claim_holds_by_its_order_and_by_its_size() {
        for (what, size, ratio, expected) in [
            ("as published", Size::Times(0.5), (0.5, Some((0.45, 0.55))), Verdict::Holds),
            ("near enough", Size::Times(0.5), (0.35, Some((0.34, 0.36))), Verdict::Holds),
            ("a lead that was far greater", Size::Times(0.001), (0.5, Some((0.45, 0.55))), Verdict::OrderHolds),
            ("a lead that was smaller", Size::Times(0.9), (0.1, Some((0.09, 0.11))), Verdict::OrderHolds),
            ("behind, by as much", Size::Times(2.3), (2.0, Some((1.8, 2.2))), Verdict::Holds),
            ("behind where it was ahead", Size::Times(0.5), (2.0, Some((1.8, 2.2))), Verdict::Reversed),
            ("ahead where it was behind", Size::Times(2.0), (0.5, Some((0.4, 0.6))), Verdict::Reversed),
            ("within the noise", Size::Times(0.5), (0.9, Some((0.6, 1.2))), Verdict::Even),
            ("as good as even", Size::Times(0.5), (0.99, None), Verdict::Even),
            ("ahead, no figure", Size::Less, (0.2, Some((0.1, 0.3))), Verdict::Holds),
            ("behind, said to be ahead", Size::Less, (2.0, None), Verdict::Reversed),
            ("behind, as said", Size::More, (2.0, None), Verdict::Holds),
            ("nothing was said", Size::Unstated, (2.0, None), Verdict::Unstated),
        ] {
            assert_eq!(verdict(size, ratio), expected, "{what}");
        }
    }

    #[test]
    fn a_claim_stands_beside_the_figures_of_the_report_and_of_ours() {
        let report = report(
            "goget",
            "quick",
            &[
                ("acid-state", "lg2_list", 80e6, "T2"),
                ("hdbc-sqlite3", "lg2_list", 640e6, "T2"),
                (OURS, "lg2_list", 40e6, "T2"),
                ("acid-state", "lg2_new", 300e3, "T2"),
                ("hdbc-sqlite3", "lg2_new", 200e3, "T1"),
            ],
        );
        let found = claims(&report).unwrap().found;
        let claim = |what: &str| found.iter().find(|found| found.what == what).unwrap();
        let list = claim("the list of all accounts");
        assert_eq!(list.measured, "acid-state 80.0 ms, hdbc-sqlite3 640 ms, recension 40.0 ms");
        assert_eq!((list.claimed.as_str(), list.ratio.split(' ').next()), ("1/40014", Some("0.125")));
        assert!(
            list.sentence.starts_with("Who is ahead holds, by how much does not: the lead is 5002 times smaller"),
            "{}",
            list.sentence
        );
        assert!(list.sentence.contains("never evaluated"), "{}", list.sentence);
        let new = claim("a new account");
        assert!(new.sentence.starts_with("It does not hold: here the other one is ahead."), "{}", new.sentence);
        assert!(new.sentence.contains("durable to T2, hdbc-sqlite3 to T1"), "{}", new.sentence);
        assert_eq!(claim("the list of all accounts, MongoDB").sentence, "Not measured: no server was given.");
        assert_eq!(claim("adding an item").sentence, "Not measured: acid-state is no subject of this run.");
        // The section and the page have them after our losses.
        let section = crate::report::markdown::render(&report);
        let place = |part: &str| section.find(part).unwrap_or_else(|| panic!("{part} is missing: {section}"));
        assert!(place("## Where we lose") < place("| the list of all accounts | AcidState 13.4 us"), "{section}");
        assert!(place("| the list of all accounts |") < place("## Figures"), "{section}");
        assert!(
            crate::report::html::render(&report).contains("acid-state 80.0 ms, hdbc-sqlite3 640 ms, recension 40.0 ms")
        );
    }

    #[test]
    fn a_side_that_stands_in_for_another_is_named_and_a_lone_time_is_not_compared() {
        let hasql = report(
            "hasql",
            "full",
            &[("postgresql", "parse_100", 100.0, "T2"), ("postgresql-simple", "parse_100", 900.0, "T2")],
        );
        let found = claims(&hasql).unwrap().found;
        assert!(found[0].sentence.contains("the lead is 4.50 times greater"), "{}", found[0].sentence);
        assert!(found[0].sentence.contains("postgresql stands in the place of hasql"), "{}", found[0].sentence);
        let pages = report("bigtable", "quick", &[("lighttpd-static", "page", 100.0, "T0")]);
        let found = claims(&pages).unwrap().found;
        assert_eq!(found[0].sentence, "A time of another machine says nothing by itself.");
        assert_eq!(found[0].measured, "lighttpd-static 100 ns");
    }

    #[test]
    fn no_claim_is_judged_by_other_sizes_or_by_another_suite() {
        assert!(claims(&report("goget", "custom", &[])).is_none());
        assert!(claims(&report("engine", "quick", &[])).is_none());
    }

    #[test]
    fn every_claim_names_operations_of_its_suite() {
        for experiment in &published::EXPERIMENTS {
            let suite = crate::workloads::suite(experiment.suite).unwrap();
            assert!(!experiment.claims.is_empty());
            for side in experiment.claims.iter().flat_map(|claim| claim.sides).flatten() {
                let known = suite.operations.iter().any(|operation| operation.name == side.operation);
                assert!(known, "{}: {}", experiment.suite, side.operation);
                let subject = (suite.kinds)().iter().any(|kind| kind.name == side.subject);
                assert!(subject, "{}: {}", experiment.suite, side.subject);
            }
        }
    }
}
