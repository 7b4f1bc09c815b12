//! Where we lose: every operation in which another subject is ahead of us beyond the noise. It is found from
//! the figures, so that none can be left out.

use super::model::{Report, Row};
use super::units::{digits, show};
use crate::subjects::{FLOOR, OURS};

/// Ratios nearer to one than this are called even, whatever their interval.
const EVEN: f64 = 1.03;

/// One operation in which another subject is ahead.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The operation.
    pub operation: String,
    /// Who is furthest ahead.
    pub subject: String,
    /// How many times ours is of theirs.
    pub times: f64,
    /// In a sentence.
    pub words: String,
}

/// How many times our figure is of theirs, with the interval where rounds were measured in turns.
pub fn times(ours: &Row, theirs: &Row) -> Option<(f64, Option<(f64, f64)>)> {
    if let Some(ratio) = theirs.ours_to_this {
        return Some((ratio.median, (ratio.n > 1).then_some((ratio.low, ratio.high))));
    }
    let (ours_median, theirs_median) = (ours.median?, theirs.median?);
    // Without common rounds: the intervals must not touch.
    let (low, high) = (ours.low? / theirs.high?, ours.high? / theirs.low?);
    (theirs_median > 0.0).then(|| (ours_median / theirs_median, (ours.n > 1 && theirs.n > 1).then_some((low, high))))
}

/// The losses, the greatest first. The floor is no subject, and one that keeps less durable is named as such.
pub fn losses(report: &Report) -> Vec<Loss> {
    let mut found: Vec<Loss> =
        report.measured_operations().filter_map(|operation| worst(report, &operation.name)).collect();
    found.sort_by(|a, b| b.times.total_cmp(&a.times));
    found
}

fn worst(report: &Report, operation: &str) -> Option<Loss> {
    let ours = report.row(operation, OURS)?;
    let ahead = |row: &&Row| row.operation == operation && row.subject != OURS && row.subject != FLOOR;
    report
        .results
        .iter()
        .filter(ahead)
        .filter_map(|theirs| {
            theirs.median?;
            let (times, interval) = times(ours, theirs)?;
            // A time that was taken once has no interval, so nothing is said of it; a size is no matter of chance.
            let beyond_noise = interval.map_or(theirs.unit != "ns", |(low, _)| low > 1.0);
            (times > EVEN && beyond_noise).then_some((theirs, times, interval))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(theirs, times, interval)| Loss {
            operation: operation.to_owned(),
            subject: theirs.subject.clone(),
            times,
            words: words(ours, theirs, times, interval),
        })
}

fn words(ours: &Row, theirs: &Row, times: f64, interval: Option<(f64, f64)>) -> String {
    let figure = |row: &Row| row.median.map_or_else(String::new, |median| show(median, &row.unit));
    let interval = interval.map_or_else(String::new, |(low, high)| format!(" ({} to {})", digits(low), digits(high)));
    let weaker = if theirs.tier < ours.tier { format!(", durable only to {}", theirs.tier) } else { String::new() };
    format!(
        "`{}`: {} takes {}, we take {}: {} times{interval}{weaker}",
        ours.operation,
        theirs.subject,
        figure(theirs),
        figure(ours),
        digits(times),
    )
}
