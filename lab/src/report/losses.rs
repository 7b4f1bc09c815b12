//! Our losses: every operation in which another subject is ahead of us beyond the noise. They are computed from the
//! figures, so that none can be left out.

use super::model::{Report, Row};
use super::units::{digits, show};
use crate::subjects::{OURS, is_ours};

/// Ratios nearer to one than this are called even, whatever their interval.
const EVEN: f64 = 1.03;
/// The same of times that were taken once. They have no interval: two runs of one thing differ by less than this.
pub(super) const EVEN_ONCE: f64 = 1.15;

/// One operation in which another subject is ahead.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The operation.
    pub operation: String,
    /// The subject that is furthest ahead.
    pub subject: String,
    /// The ratio of ours to theirs.
    pub times: f64,
    /// In a sentence.
    pub words: String,
}

/// The ratio of one figure to another, and its interval.
pub type Ratio = (f64, Option<(f64, f64)>);

/// The ratio of our figure to theirs, with the interval if rounds were measured in turns. `None` if one of them is
/// zero.
pub fn times(ours: &Row, theirs: &Row) -> Option<Ratio> {
    if let Some(ratio) = theirs.ours_to_this {
        return Some((ratio.median, (ratio.n > 1).then_some((ratio.low, ratio.high))));
    }
    apart(ours, theirs)
}

/// The same of two figures that have no rounds in common.
pub fn apart(ours: &Row, theirs: &Row) -> Option<Ratio> {
    let (ours_median, theirs_median) = (ours.median?, theirs.median?);
    // Without common rounds: the intervals must not touch.
    let (low, high) = (ours.low? / theirs.high?, ours.high? / theirs.low?);
    (ours_median > 0.0 && theirs_median > 0.0)
        .then(|| (ours_median / theirs_median, (ours.n > 1 && theirs.n > 1).then_some((low, high))))
}

/// The losses, the greatest first. The floor is not a subject. A subject of lower durability is marked as such.
pub fn losses(report: &Report) -> Vec<Loss> {
    let others = report.subjects.iter().map(|subject| subject.name.as_str());
    let doors: Vec<&str> = [OURS].into_iter().chain(others.filter(|name| is_ours(name) && *name != OURS)).collect();
    let mut found: Vec<Loss> = report
        .measured_operations()
        .flat_map(|operation| doors.iter().filter_map(|door| worst(report, &operation.name, door)))
        .collect();
    found.sort_by(|a, b| b.times.total_cmp(&a.times));
    found
}

/// The loss in an operation: of us beside everybody, of a way to us beside those who are reached by the same way.
fn worst(report: &Report, operation: &str, door: &str) -> Option<Loss> {
    let way = if door == OURS { "" } else { door.strip_suffix(OURS)? };
    let ours = report.row(operation, door)?;
    let floor = |name: &str| report.subject(name).is_some_and(|subject| subject.floor);
    let others = |row: &&Row| {
        let name = row.subject.as_str();
        row.operation == operation && name.starts_with(way) && !is_ours(name) && !floor(name)
    };
    let mut ahead: Vec<Ahead<'_>> = report.results.iter().filter(others).filter_map(|row| ahead(ours, row)).collect();
    // Those that keep and do as much first, each kind with the furthest ahead first.
    let less = |ahead: &Ahead<'_>| ahead.theirs.tier < ours.tier || does_less(ours, ahead.theirs);
    ahead.sort_by(|a, b| less(a).cmp(&less(b)).then(b.times.total_cmp(&a.times)));
    let (first, rest) = ahead.split_first()?;
    let also: Vec<&str> = rest.iter().map(|ahead| ahead.theirs.subject.as_str()).collect();
    let also = if also.is_empty() { String::new() } else { format!("; also ahead: {}", also.join(", ")) };
    Some(Loss {
        operation: operation.to_owned(),
        subject: first.theirs.subject.clone(),
        times: first.times,
        words: words(ours, first) + &also,
    })
}

/// A subject that is ahead beyond the noise.
pub(super) struct Ahead<'r> {
    theirs: &'r Row,
    times: f64,
    interval: Option<(f64, f64)>,
}

/// Whether a subject is ahead beyond the noise.
pub(super) fn ahead<'r>(ours: &Row, theirs: &'r Row) -> Option<Ahead<'r>> {
    // If theirs is zero and ours is not, as when only we have lost something, the loss is beyond every ratio.
    if theirs.median? <= 0.0 && ours.median? > 0.0 {
        return Some(Ahead { theirs, times: f64::INFINITY, interval: None });
    }
    let (times, interval) = if ours.subject == OURS { times(ours, theirs) } else { apart(ours, theirs) }?;
    // A size does not vary by chance. A time that was taken once has no interval, and is listed as such.
    let is_ahead = match interval {
        Some((low, _)) => times > EVEN && low > 1.0,
        None if theirs.unit == "ns" => times > EVEN_ONCE,
        None => times > EVEN,
    };
    is_ahead.then_some(Ahead { theirs, times, interval })
}

/// Whether it settled less than the row's name says, and we did not.
pub(super) fn does_less(ours: &Row, theirs: &Row) -> bool {
    theirs.settling == Some(false) && ours.settling != Some(false)
}

fn words(ours: &Row, ahead: &Ahead<'_>) -> String {
    let Ahead { theirs, times, interval } = ahead;
    let figure = |row: &Row| row.median.map_or_else(String::new, |median| show(median, &row.unit));
    let interval = match interval {
        Some((low, high)) => format!(" ({} to {})", digits(*low), digits(*high)),
        None if theirs.unit == "ns" => " (taken once)".to_owned(),
        None => String::new(),
    };
    let weaker = if theirs.tier < ours.tier { format!(", durable only to {}", theirs.tier) } else { String::new() };
    let less = if does_less(ours, theirs) { ", settling less" } else { "" };
    let times = if times.is_finite() { format!(": {} times{interval}", digits(*times)) } else { String::new() };
    let (operation, subject) = (&ours.operation, &theirs.subject);
    let we = if ours.subject == OURS { "we take" } else { &format!("{} takes", ours.subject) };
    format!("`{operation}`: {subject} takes {}, {we} {}{times}{weaker}{less}", figure(theirs), figure(ours))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::SubjectInfo;

    fn report(rows: &[(&str, &str, f64, f64, &str)]) -> Report {
        let rows = rows.iter().map(|(subject, tier, median, spread, unit)| {
            serde_json::json!({
                "suite": "s", "operation": "o", "subject": subject, "unit": unit, "median": median,
                "low": median - spread, "high": median + spread, "mean": median, "n": 9, "tier": tier,
            })
        });
        let calibration = serde_json::json!({
            "cpu": "", "cores": 1, "memory_bytes": 1, "kernel": "", "filesystem": "ext4", "sync_ns": 1.0,
            "sync_p99_ns": 1.0, "memcpy_bytes_per_second": 1.0, "memory_latency_ns": 1.0, "loopback_ns": 1.0,
            "load_average": 0.0,
        });
        let text = serde_json::json!({
            "suite": "s", "mode": "quick", "command": "", "started": 0, "took_seconds": 1.0, "interrupted": false,
            "warnings": [], "sizes": "", "calibration": calibration, "calibration_after": null,
            "subjects": [{"name": "raw", "what": "", "version": "", "tier": "T2", "floor": true}],
            "operations": [{"name": "o", "unit": "ns", "what": ""}], "results": rows.collect::<Vec<_>>(),
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn a_loss_is_whoever_is_ahead_beyond_the_noise() {
        let ours = (OURS, "T2", 100.0, 1.0, "ns");
        for (what, others, expected) in [
            ("nobody else", vec![], None),
            ("behind", vec![("a", "T2", 200.0, 1.0, "ns")], None),
            ("ahead, within the noise", vec![("a", "T2", 90.0, 20.0, "ns")], None),
            ("ahead by next to nothing", vec![("a", "T2", 98.0, 0.1, "ns")], None),
            ("ahead", vec![("a", "T2", 50.0, 1.0, "ns")], Some("a")),
            ("the furthest ahead", vec![("a", "T2", 50.0, 1.0, "ns"), ("b", "T2", 20.0, 1.0, "ns")], Some("b")),
            ("a weaker one last", vec![("a", "T2", 50.0, 1.0, "ns"), ("w", "T1", 2.0, 0.1, "ns")], Some("a")),
            ("only a weaker one", vec![("w", "T1", 2.0, 0.1, "ns")], Some("w")),
            ("the floor is no subject", vec![("raw", "T2", 50.0, 1.0, "ns")], None),
        ] {
            let rows: Vec<_> = [ours].into_iter().chain(others).collect();
            let found = losses(&report(&rows));
            assert_eq!(found.first().map(|loss| loss.subject.as_str()), expected, "{what}");
        }
        // Times that were taken once are listed as such; sizes need no interval.
        let once = |unit, theirs| {
            let mut report = report(&[(OURS, "T2", 100.0, 0.0, unit), ("a", "T2", theirs, 0.0, unit)]);
            report.results.iter_mut().for_each(|row| row.n = 1);
            losses(&report).into_iter().map(|loss| loss.words).collect::<Vec<_>>()
        };
        assert_eq!(once("ns", 50.0), ["`o`: a takes 50.0 ns, we take 100 ns: 2.00 times (taken once)"]);
        assert_eq!(once("ns", 90.0), [""; 0], "within what two runs of one thing differ by");
        assert_eq!(once("bytes", 90.0), ["`o`: a takes 90.0 B, we take 100 B: 1.11 times"]);
        // What is reached by one way is compared with that.
        let behind = ("nginx-cgi-recension", "T2", 100.0, 1.0, "ns");
        let mut by_ways = report(&[behind, ("nginx-cgi-c", "T2", 50.0, 1.0, "ns"), ("hyper", "T2", 2.0, 0.1, "ns")]);
        by_ways.subjects.push(SubjectInfo { name: behind.0.to_owned(), floor: false, ..by_ways.subjects[0].clone() });
        let found: Vec<_> = losses(&by_ways).into_iter().map(|loss| loss.words).collect();
        let words = "`o`: nginx-cgi-c takes 50.0 ns, nginx-cgi-recension takes 100 ns: 2.00 times (1.94 to 2.06)";
        assert_eq!(found, [words]);
        // Counts: something beside nothing is a loss, nothing beside something or nothing is none.
        for (ours, theirs, lost) in [(3.0, 0.0, true), (0.0, 3.0, false), (0.0, 0.0, false)] {
            let found = losses(&report(&[(OURS, "T2", ours, 0.0, "count"), ("a", "T2", theirs, 0.0, "count")]));
            assert_eq!(found.len(), usize::from(lost), "{ours} beside {theirs}");
            assert!(found.iter().all(|loss| loss.words == "`o`: a takes 0.00, we take 3.00"), "{found:?}");
        }
        let both = losses(&report(&[ours, ("a", "T2", 50.0, 1.0, "ns"), ("w", "T1", 2.0, 0.1, "ns")]));
        assert_eq!(both[0].words, "`o`: a takes 50.0 ns, we take 100 ns: 2.00 times (1.94 to 2.06); also ahead: w");
        let weaker = losses(&report(&[ours, ("w", "T1", 2.0, 0.1, "ns")]));
        assert!(weaker[0].words.contains("durable only to T1"), "{}", weaker[0].words);
        // A subject that did less work comes last, and is marked.
        let mut settled = report(&[ours, ("a", "T2", 50.0, 1.0, "ns"), ("less", "T2", 2.0, 0.1, "ns")]);
        for (row, settling) in settled.results.iter_mut().zip([true, true, false]) {
            row.settling = Some(settling);
        }
        assert_eq!(
            losses(&settled)[0].words,
            "`o`: a takes 50.0 ns, we take 100 ns: 2.00 times (1.94 to 2.06); also ahead: less"
        );
        settled.results.remove(1);
        let less = losses(&settled);
        assert!(less[0].words.ends_with(", settling less"), "{}", less[0].words);
    }
}
