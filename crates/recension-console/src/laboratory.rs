//! What the laboratory measured of this version: each figure beside the best of others, as the digests of its reports
//! in docs/benchmarks have it, with the command that prints it again.

use minijinja::{Value, context};
use serde::Deserialize;

use super::frame::{Frame, grouped};
use recension_app::auth::Session;
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

macro_rules! digests {
    ($($suite:literal),*) => {
        [$(($suite, include_str!(concat!("../../../docs/benchmarks/", $suite, ".json")))),*]
    };
}

/// The digests, by their suites.
const DIGESTS: [(&str, &str); 9] =
    digests!("http", "engine", "crash", "bonsaidb", "nebari", "goget", "hasql", "apocrypha", "bigtable");

/// A digest of a report.
#[derive(Deserialize)]
struct Digest {
    mode: String,
    command: String,
    machine: String,
    sittings: u64,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    operation: String,
    unit: String,
    what: String,
    ours: Option<f64>,
    best: Option<Best>,
}

#[derive(Deserialize)]
struct Best {
    subject: String,
    figure: Option<f64>,
    /// How many times ours is of it.
    times: Option<f64>,
    /// What its commits survive less than ours.
    weaker: Option<String>,
}

/// `/_utils/-/laboratory`
pub(super) fn page(request: &Request, session: &Session) -> Result<Answer> {
    session.server_admin()?;
    let wanted = request.query.get("suite").unwrap_or("http");
    let known = DIGESTS.iter().find(|(suite, _)| *suite == wanted).ok_or_else(ApiError::missing)?;
    let digest: Digest = serde_json::from_str(known.1).map_err(|error| ApiError::internal(error.to_string()))?;
    let values = context! {
        suite => wanted, suites => DIGESTS.map(|(suite, _)| suite).to_vec(), machine => digest.machine,
        mode => digest.mode, sittings => digest.sittings, command => digest.command,
        rows => digest.rows.iter().map(figure).collect::<Vec<_>>(),
    };
    Ok(Frame::begin(request, session, "Laboratory", None, "Laboratory", false).page("laboratory", values))
}

fn figure(row: &Row) -> Value {
    let shown = |figure: Option<f64>| figure.map(|figure| in_units(figure, &row.unit)).unwrap_or_default();
    let best = row.best.as_ref().map(|best| {
        context! {
            figure => shown(best.figure), subject => best.subject.as_str(), weaker => best.weaker.as_deref(),
            times => best.times.map(|times| format!("{times:.2}")),
            bar => best.times.map(|times| times.clamp(0.0, 2.0)),
        }
    });
    context! { operation => row.operation.as_str(), what => row.what.as_str(), ours => shown(row.ours), best }
}

/// A figure as people read it.
fn in_units(figure: f64, unit: &str) -> String {
    let scaled = |steps: &[(f64, &str)]| {
        let fits = |(size, _): &&(f64, &str)| figure < size * 1000.0;
        let (size, name) = steps.iter().find(fits).or(steps.last()).copied().unwrap_or((1.0, ""));
        let scaled = figure / size;
        let digits = usize::from(scaled < 100.0) + usize::from(scaled < 10.0);
        format!("{scaled:.digits$} {name}")
    };
    match unit {
        "ns" => scaled(&[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")]),
        "bytes" => scaled(&[(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")]),
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts
        _ => grouped(figure.max(0.0) as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digest_reads() {
        for (suite, text) in DIGESTS {
            let digest: Digest = serde_json::from_str(text).unwrap();
            assert!(!digest.rows.is_empty(), "{suite}");
            assert!(digest.rows.iter().all(|row| !figure(row).is_undefined()));
        }
        let shown = [(212_000.0, "ns"), (17.0, "ns"), (5e12, "ns"), (2_360_000.0, "bytes"), (4321.0, "count")];
        let shown = shown.map(|(figure, unit)| in_units(figure, unit));
        assert_eq!(shown, ["212 µs", "17.0 ns", "5000 s", "2.36 MB", "4,321"]);
    }
}
