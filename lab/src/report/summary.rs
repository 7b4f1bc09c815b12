//! The summary of all recorded suites, which BENCHMARKS.md has between two markers: our largest losses, then a table a
//! suite of what users ask.

use std::fmt::Write as _; // to a String, which cannot fail

use super::digest::{Best, Digest, DigestRow};
use super::headlines::{HEADLINES, Headline, IMMATERIAL};
use super::units::{digits, show};

/// Losses that are shown.
const LOSSES: usize = 10;
/// The greatest number of them from one suite, so that ten rows of one kind do not hide the others.
const OF_A_SUITE: usize = 3;

/// A suite with its recorded run, in the order of the summary.
pub type Recorded<'d> = (&'static Headline, &'d Digest);

/// The recorded runs in the order of the summary.
pub fn in_order(digests: &[Digest]) -> Vec<Recorded<'_>> {
    let of =
        |headline: &'static Headline| Some((headline, digests.iter().find(|digest| digest.suite == headline.suite)?));
    HEADLINES.iter().filter_map(of).collect()
}

/// The summary as Markdown.
pub fn render(recorded: &[Recorded<'_>]) -> String {
    let mut text = String::new();
    advice(recorded, &mut text);
    machines(recorded, &mut text);
    losses(recorded, &mut text);
    for (headline, digest) in recorded {
        suite(headline, digest, &mut text);
    }
    text
}

/// A sentence a suite for somebody who has two minutes: in how much of it we are ahead, and whom to take for what we
/// are worst at. All of it is computed from the figures.
fn advice(recorded: &[Recorded<'_>], text: &mut String) {
    let _ = writeln!(text, "## In two minutes\n");
    for (headline, digest) in recorded {
        let rows: Vec<(&str, &Best)> = headline
            .asked
            .iter()
            .filter_map(|(operation, words)| Some((*words, digest.row(operation)?.best.as_ref()?)))
            .filter(|(_, best)| best.weaker.is_none() && best.times.is_some())
            .collect();
        let mut lost: Vec<(&str, &Best)> = rows.iter().copied().filter(|(_, best)| best.ahead).collect();
        lost.sort_by(|a, b| b.1.times.unwrap_or(0.0).total_cmp(&a.1.times.unwrap_or(0.0)));
        let (suite, about) = (headline.suite, headline.about);
        let _ = write!(text, "- [{suite}](docs/benchmarks/{suite}.md), {about}: ");
        let _ = match (rows.len(), lost.first()) {
            (0, _) => writeln!(text, "no peer keeps and does as much."),
            (all, None) => writeln!(text, "no peer is ahead in any of {all} rows."),
            (all, Some((words, worst))) => writeln!(
                text,
                "no peer is ahead in {} of {all} rows; the worst is \"{words}\" ({} times): if that is all you do, \
                 take {}.",
                all - lost.len(),
                digits(worst.times.unwrap_or(0.0)),
                worst.subject,
            ),
        };
    }
    text.push('\n');
}

fn machines(recorded: &[Recorded<'_>], text: &mut String) {
    let mut known: Vec<((&str, &str), Vec<&str>)> = Vec::new();
    for (headline, digest) in recorded {
        let place = (digest.machine.as_str(), digest.commit.as_deref().unwrap_or("not recorded"));
        match known.iter_mut().find(|(known, _)| *known == place) {
            Some((_, suites)) => suites.push(headline.suite),
            None => known.push((place, vec![headline.suite])),
        }
    }
    let _ = writeln!(text, "| machine | commit | suites |\n|---|---|---|");
    for ((machine, commit), suites) in known {
        let _ = writeln!(text, "| {machine} | {commit} | {} |", suites.join(", "));
    }
}

/// A loss of a recorded suite.
struct Loss<'d> {
    suite: &'static str,
    row: &'d DigestRow,
    best: &'d Best,
    times: f64,
}

fn largest<'d>(recorded: &[Recorded<'d>]) -> Vec<Loss<'d>> {
    let matters =
        |suite: &str, operation: &str| !IMMATERIAL.iter().any(|(this, that, _)| *this == suite && *that == operation);
    let mut found = Vec::new();
    for (headline, digest) in recorded {
        let mut losses: Vec<Loss<'d>> = digest
            .rows
            .iter()
            .filter(|row| matters(headline.suite, &row.operation))
            .filter_map(|row| {
                let best = row.best.as_ref().filter(|best| best.ahead && best.weaker.is_none())?;
                Some(Loss { suite: headline.suite, row, best, times: best.times? })
            })
            .collect();
        losses.sort_by(|a, b| b.times.total_cmp(&a.times));
        found.extend(losses.into_iter().take(OF_A_SUITE));
    }
    found.sort_by(|a, b| b.times.total_cmp(&a.times));
    found.truncate(LOSSES);
    found
}

fn losses(recorded: &[Recorded<'_>], text: &mut String) {
    let _ = writeln!(text, "\n## Our largest losses\n");
    let _ = writeln!(
        text,
        "Beside stores that keep and do as much; at most {OF_A_SUITE} of a suite. All of them are on the suites' pages \
         under \"Where we lose\"."
    );
    for (suite, operation, why) in IMMATERIAL {
        let _ = writeln!(text, "Left out: `{operation}` of `{suite}`, because {why}.");
    }
    let _ = writeln!(text, "\n| suite | what | ours | who is ahead | times |\n|---|---|---:|---:|---:|");
    for Loss { suite, row, best, .. } in largest(recorded) {
        let asked = words(suite, &row.operation).unwrap_or(&row.what);
        let _ = writeln!(
            text,
            "| [{suite}](docs/benchmarks/{suite}.md) | `{}`: {asked} | {} | {} {} | {} |",
            row.operation,
            show(row.ours, &row.unit),
            best.subject,
            show(best.figure, &row.unit),
            ratio(best),
        );
    }
}

/// The meaning of an operation for a user.
fn words(suite: &str, operation: &str) -> Option<&'static str> {
    let asked = super::headlines::headline(suite)?.asked;
    asked.iter().find(|(name, _)| *name == operation).map(|(_, words)| *words)
}

fn suite(headline: &Headline, digest: &Digest, text: &mut String) {
    let name = headline.suite;
    let _ = writeln!(text, "\n## `{name}`: {}\n", headline.about);
    let _ = writeln!(text, "`{}`; [all figures](docs/benchmarks/{name}.md).\n", digest.command);
    let _ = writeln!(text, "| what | ours | best peer | ours / theirs |\n|---|---:|---:|---:|");
    for (operation, words) in headline.asked {
        let Some(row) = digest.row(operation) else { continue };
        let (peer, ratio) = row.best.as_ref().map_or_else(Default::default, |best| {
            let weaker = best.weaker.as_ref().map_or_else(String::new, |tier| format!(" ({tier})"));
            (format!("{} {}{weaker}", best.subject, show(best.figure, &row.unit)), ratio(best))
        });
        let _ = writeln!(text, "| {words} | {} | {peer} | {ratio} |", show(row.ours, &row.unit));
    }
}

/// The ratio of ours to theirs, with the interval. It is in bold if it is a loss.
pub(super) fn ratio(best: &Best) -> String {
    let Some(times) = best.times else { return String::new() };
    let form = if times < 0.095 { |value: f64| format!("{value:.3}") } else { digits };
    let times = if best.ahead { format!("**{}**", form(times)) } else { form(times) };
    match best.within {
        Some((low, high)) => format!("{times} ({} to {})", form(low), form(high)),
        None if best.once => format!("{times} (taken once)"),
        None => times,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(suite: &str, rows: &[(&str, f64, f64)]) -> Digest {
        let row = |(operation, ours, theirs): &(&str, f64, f64)| DigestRow {
            operation: (*operation).to_owned(),
            unit: "ns".to_owned(),
            what: format!("what {operation} is"),
            ours: *ours,
            best: Some(Best {
                subject: "peer".to_owned(),
                figure: *theirs,
                times: Some(ours / theirs),
                within: Some((ours / theirs * 0.9, ours / theirs * 1.1)),
                ahead: ours > theirs,
                once: false,
                weaker: (*operation == "get_asof").then(|| "T1".to_owned()),
            }),
        };
        Digest {
            suite: suite.to_owned(),
            mode: "full".to_owned(),
            command: format!("make bench SUITE={suite} FULL=1"),
            started: None,
            commit: None,
            machine: "an abacus".to_owned(),
            sittings: 7,
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn the_largest_losses_come_first_and_no_suite_fills_the_list() {
        let digests = [
            digest("nebari", &[("a", 900.0, 100.0), ("b", 800.0, 100.0), ("c", 700.0, 100.0), ("d", 600.0, 100.0)]),
            digest(
                "engine",
                &[("get_1", 200.0, 100.0), ("load", 50.0, 100.0), ("settle", 9000.0, 1.0), ("get_asof", 9.0, 1.0)],
            ),
        ];
        let text = render(&in_order(&digests));
        let lost: Vec<&str> = text.lines().filter(|line| line.starts_with("| [")).collect();
        assert_eq!(lost.len(), 4, "{text}");
        let worst = "the worst is \"read a random row\" (2.00 times): if that is all you do, take peer.";
        assert!(text.starts_with("## In two minutes") && text.contains(worst), "{text}");
        assert!(lost[0].starts_with("| [nebari](docs/benchmarks/nebari.md) | `a`: what a is |"), "{text}");
        assert_eq!(
            lost[3],
            "| [engine](docs/benchmarks/engine.md) | `get_1`: read a random row | 200 ns | peer 100 ns | \
             **2.00** (1.80 to 2.20) |"
        );
        assert!(text.contains("Left out: `settle` of `engine`, because "), "{text}");
        assert!(text.contains("| an abacus | not recorded | engine, nebari |"), "{text}");
        let row = "| fill an empty store in random order, a row | 50.0 ns | peer 100 ns | 0.50 (0.45 to 0.55) |";
        assert!(text.contains(row) && text.contains("| peer 1.00 ns (T1) | **9.00** (8.10 to 9.90) |"), "{text}");
    }
}
