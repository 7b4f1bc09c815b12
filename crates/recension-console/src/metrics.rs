//! What the server counts: how it is now and what each endpoint takes as tables, and with a script as plots of the last
//! hours.

use std::collections::BTreeMap;

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::frame::{Frame, bytes, grouped};
use recension_app::auth::Session;
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::Result;

/// The plots: their titles, and their series with what they are called; a rate is by the second.
const PLOTS: &str = r#"[
{"title":"Requests a second","series":[{"key":"requests","name":"answered","rate":true},
 {"key":"failures","name":"failed","rate":true}]},
{"title":"Bytes sent a second","series":[{"key":"sent","name":"bytes","rate":true}]},
{"title":"Commits a second","series":[{"key":"commits","name":"commits","rate":true}]},
{"title":"Open connections","series":[{"key":"connections","name":"connections"},{"key":"feeds","name":"feeds"}]},
{"title":"Bytes on the disk","series":[{"key":"disk","name":"bytes"}]},
{"title":"Bytes in memory","series":[{"key":"memory","name":"bytes"}]}
]"#;

/// What is told of now, from the text of Prometheus: a name, what it is called, and whether it is bytes.
const NOW: [(&str, &str, bool); 9] = [
    ("recension_store_disk_bytes", "On the disk", true),
    ("recension_store_memory_bytes", "In the engine's memory", true),
    ("recension_lists_memory_bytes", "Answers that are being sent", true),
    ("recension_bodies_memory_bytes", "Requests that are being read", true),
    ("recension_store_head_seq", "Newest commit", false),
    ("recension_http_connections", "Open connections", false),
    ("recension_changes_feeds", "Feeds that wait", false),
    ("recension_log_ins_failed_total", "Log-ins that failed", false),
    ("recension_lists_broken_off_total", "Answers that broke off", false),
];

/// `/_utils/-/metrics`
pub(super) async fn page(request: &Request, session: &Session) -> Result<Answer> {
    session.server_admin()?;
    let app = request.app.clone();
    let text = request.app.blocking(move || app.figures()).await?;
    let figures = figures(&text);
    let now = NOW.map(|(name, shown, is_bytes)| {
        let value = figures.iter().find(|(own, _, _)| *own == name).map_or(0, |(.., value)| whole(*value));
        (shown, if is_bytes { bytes(value) } else { grouped(value) })
    });
    let values = context! { plots => PLOTS, now => Serde(now), endpoints => endpoints(&figures) };
    Ok(Frame::begin(request, session, "Metrics", None, "Metrics", false).page("metrics", values))
}

/// `/_utils/-/samples`: what the plots are made of.
pub(super) async fn samples(request: &Request, session: &Session) -> Result<Answer> {
    session.server_admin()?;
    let app = request.app.clone();
    let json = request.app.blocking(move || Ok(app.samples.to_json(&app.figures()?))).await?;
    Ok(Answer::ok(json).with(http::header::CACHE_CONTROL, "no-store"))
}

/// Names, labels and values of a text.
fn figures(text: &str) -> Vec<(&str, &str, f64)> {
    let line = |line: &'_ str| {
        let (left, value) = line.rsplit_once(' ')?;
        let (name, labels) = left.split_once('{').unwrap_or((left, ""));
        Some((name.len(), labels.len(), value.parse::<f64>().ok()?))
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|own| {
            let (name, labels, value) = line(own)?;
            let at = name + usize::from(labels > 0);
            Some((own.get(..name)?, own.get(at..at + labels)?, value))
        })
        .collect()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts and bytes are whole, and none is negative
fn whole(value: f64) -> u64 {
    value.max(0.0) as u64
}

/// What a label says.
fn label<'l>(labels: &'l str, name: &str) -> Option<&'l str> {
    let rest = labels.split(&format!("{name}=\"")).nth(1)?;
    rest.split('"').next()
}

/// Durations of an endpoint: how many, of how many seconds, and how many within each bound.
#[derive(Default)]
struct Durations {
    count: f64,
    seconds: f64,
    within: Vec<(f64, f64)>,
}

impl Durations {
    /// The bound that a part of them stays within.
    fn quantile(&self, part: f64) -> Option<f64> {
        self.within.iter().find(|(_, count)| *count >= part * self.count).map(|(bound, _)| *bound)
    }
}

fn endpoints(figures: &[(&str, &str, f64)]) -> Vec<Value> {
    let mut all: BTreeMap<(&str, &str), Durations> = BTreeMap::new();
    for (name, labels, value) in figures {
        let Some(part) = name.strip_prefix("recension_http_request_duration_seconds_") else { continue };
        let (Some(method), Some(endpoint)) = (label(labels, "method"), label(labels, "endpoint")) else { continue };
        let own = all.entry((endpoint, method)).or_default();
        match part {
            "count" => own.count = *value,
            "sum" => own.seconds = *value,
            _ => {
                let bound = label(labels, "le").map(|bound| bound.parse().unwrap_or(f64::INFINITY));
                own.within.extend(bound.map(|bound| (bound, *value)));
            }
        }
    }
    let shown = |((endpoint, method), own): (&(&str, &str), &Durations)| {
        let mean = (own.count > 0.0).then(|| own.seconds / own.count);
        let within = [mean, own.quantile(0.5), own.quantile(0.99)];
        let within = within.map(|seconds| seconds.map(duration).unwrap_or_default());
        let figures: Vec<String> = std::iter::once(grouped(whole(own.count))).chain(within).collect();
        context! { endpoint => *endpoint, method => *method, figures }
    };
    all.iter().map(shown).collect()
}

/// Seconds as people read them.
fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds.is_infinite() => "longer".to_owned(),
        _ if seconds < 0.001 => format!("{:.0} µs", seconds * 1e6),
        _ if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recension_pages::writer::Html;

    #[test]
    fn quantiles_are_bounds_of_buckets() {
        let text = "recension_http_request_duration_seconds_count{method=\"GET\",endpoint=\"doc\"} 100\n\
                    recension_http_request_duration_seconds_sum{method=\"GET\",endpoint=\"doc\"} 0.5\n\
                    recension_http_request_duration_seconds_bucket{le=\"0.001\",method=\"GET\",endpoint=\"doc\"} 60\n\
                    recension_http_request_duration_seconds_bucket{le=\"0.1\",method=\"GET\",endpoint=\"doc\"} 98\n\
                    recension_http_request_duration_seconds_bucket{le=\"+Inf\",method=\"GET\",endpoint=\"doc\"} 100\n";
        let mut html = Html::default();
        html.fill(
            "metrics",
            context! { plots => "", now => Vec::<Value>::new(), endpoints => endpoints(&figures(text)) },
        );
        let html = String::from_utf8(html.take()).unwrap();
        let cells: Vec<_> =
            html.split("class=\"number\">").skip(5).map(|cell| cell.split('<').next().unwrap()).collect();
        assert_eq!(cells, ["100", "5.0 ms", "1.0 ms", "longer"]);
    }

    #[test]
    fn plots_are_of_series_that_are_noted() {
        let plots: Vec<serde_json::Value> = serde_json::from_str(PLOTS).unwrap();
        let series = plots.iter().flat_map(|plot| plot["series"].as_array().unwrap());
        for one in series {
            assert!(recension_app::samples::SERIES.iter().any(|(name, ..)| one["key"] == *name), "{one}");
        }
    }
}
