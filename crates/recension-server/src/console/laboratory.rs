//! What the laboratory measured of this version: each figure beside the best of others, as the digests of its reports
//! in docs/benchmarks have it, with the command that prints it again.

use serde::Deserialize;

use super::frame::{Frame, grouped, table, table_end};
use crate::answer::Answer;
use crate::auth::Session;
use crate::error::{ApiError, Result};
use crate::html::links::Parameters;
use crate::html::writer::Html;
use crate::request::Request;

macro_rules! digests {
    ($($suite:literal),*) => {
        [$(($suite, include_str!(concat!("../../../../docs/benchmarks/", $suite, ".json")))),*]
    };
}

/// The digests, by their suites.
const DIGESTS: [(&str, &str); 9] =
    digests!("http", "engine", "crash", "bonsaidb", "nebari", "goget", "hasql", "apocrypha", "bigtable");

const HERE: &str = "/_utils/-/laboratory";

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
    let mut frame = Frame::begin(request, session, "Laboratory", None, "Laboratory", false);
    let html = &mut frame.html;
    html.tag("<nav class=\"kinds\" aria-label=\"Suites\">");
    for (suite, _) in DIGESTS {
        html.tag("<a href=\"").to(&Parameters::default().with("suite", suite).on(HERE));
        html.tag(if suite == wanted { "\" aria-current=\"true\">" } else { "\">" }).text(suite).tag("</a> ");
    }
    html.tag("</nav>\n<p class=\"summary\">").text(&digest.machine).tag("; ").text(&digest.mode).tag(", ");
    html.show(digest.sittings).tag(" sittings. The same again: <code>").text(&digest.command).tag("</code></p>\n");
    table("Figures", &["Operation", "#Here", "#Best of others", "Whose", "#Here to best", ""], html);
    digest.rows.iter().for_each(|row| figure(row, html));
    table_end(html);
    html.tag("<p class=\"hint\">Less is better in all. A bar that ends before its middle is better than the best of ");
    html.tag("others.</p>\n");
    Ok(frame.end())
}

fn figure(row: &Row, html: &mut Html) {
    let shown = |figure: Option<f64>| figure.map(|figure| in_units(figure, &row.unit)).unwrap_or_default();
    html.tag("<tr><th scope=\"row\"><code>").text(&row.operation).tag("</code><br><span class=\"hint\">");
    html.text(&row.what).tag("</span></th><td class=\"number\">").text(shown(row.ours)).tag("</td>");
    let Some(best) = &row.best else {
        html.tag("<td></td><td></td><td></td><td></td></tr>\n");
        return;
    };
    html.tag("<td class=\"number\">").text(shown(best.figure)).tag("</td><td>").text(&best.subject);
    if let Some(weaker) = &best.weaker {
        html.tag(" <span class=\"hint\">(").text(weaker).tag(")</span>");
    }
    html.tag("</td>");
    match best.times {
        Some(times) => {
            html.tag("<td class=\"number\">").text(format!("{times:.2}")).tag("</td><td class=\"bar-cell\">");
            // Twice as long as the best of others, or more, is a whole bar.
            html.tag("<meter min=\"0\" max=\"2\" high=\"1\" optimum=\"0\" aria-hidden=\"true\" value=\"");
            html.show(times.clamp(0.0, 2.0)).tag("\"></meter></td></tr>\n");
        }
        None => {
            html.tag("<td></td><td></td></tr>\n");
        }
    }
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
            let mut html = Html::default();
            digest.rows.iter().for_each(|row| figure(row, &mut html));
        }
        let shown = [(212_000.0, "ns"), (17.0, "ns"), (5e12, "ns"), (2_360_000.0, "bytes"), (4321.0, "count")];
        let shown = shown.map(|(figure, unit)| in_units(figure, unit));
        assert_eq!(shown, ["212 µs", "17.0 ns", "5000 s", "2.36 MB", "4,321"]);
    }
}
