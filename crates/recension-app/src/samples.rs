//! Samples of the server's counters, taken every few seconds, for plots of the last hours. They are read from the text
//! for Prometheus, and are lost when the server ends.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

/// The interval of samples.
pub(crate) const EVERY: Duration = Duration::from_secs(10);
/// Samples that are kept: six hours.
const NOTES_MAX: usize = 2160;

/// What is noted: a name, and the figures of the text that are added up for it.
pub const SERIES: [(&str, &str, &str); 10] = [
    ("requests", "recension_http_requests_total", ""),
    ("failures", "recension_http_requests_total", "5xx"),
    ("refusals", "recension_http_requests_total", "4xx"),
    ("seconds", "recension_http_request_duration_seconds_sum", ""),
    ("sent", "recension_http_response_size_bytes_sum", ""),
    ("connections", "recension_http_connections", ""),
    ("feeds", "recension_changes_feeds", ""),
    ("commits", "recension_store_head_seq", ""),
    ("disk", "recension_store_disk_bytes", ""),
    ("memory", "recension_store_memory_bytes", ""),
];

/// The notes, oldest first.
#[derive(Debug, Default)]
pub struct Samples(Mutex<VecDeque<Sample>>);

/// A note.
#[derive(Clone, Debug, PartialEq)]
struct Sample {
    /// Seconds since 1970.
    time: u64,
    values: [f64; SERIES.len()],
}

impl Sample {
    /// The figures of a text. Pure.
    fn of(text: &str, time: u64) -> Self {
        let mut values = [0.0; SERIES.len()];
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((left, value)) = line.rsplit_once(' ') else { continue };
            let (name, labels) = left.split_once('{').unwrap_or((left, ""));
            let Ok(value) = value.parse::<f64>() else { continue };
            for (own, (_, series, label)) in values.iter_mut().zip(SERIES) {
                if series == name && labels.contains(label) {
                    *own += value;
                }
            }
        }
        Sample { time, values }
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl Samples {
    /// Notes the figures of now, given in the text that Prometheus gets.
    pub fn note(&self, figures: &str) {
        self.push(Sample::of(figures, now()));
    }

    fn push(&self, sample: Sample) {
        let mut all = self.0.lock();
        all.push_back(sample);
        while all.len() > NOTES_MAX {
            all.pop_front();
        }
    }

    /// All notes and the figures of now, by the names of the series.
    pub fn to_json(&self, figures: &str) -> String {
        let mut all: Vec<Sample> = self.0.lock().iter().cloned().collect();
        let now = Sample::of(figures, now());
        all.retain(|sample| sample.time < now.time);
        all.push(now);
        let times: Vec<u64> = all.iter().map(|sample| sample.time).collect();
        let mut values = Map::new();
        for (number, (name, ..)) in SERIES.iter().enumerate() {
            let column: Vec<f64> = all.iter().map(|sample| sample.values[number]).collect();
            values.insert((*name).to_owned(), Value::from(column));
        }
        json!({ "times": times, "values": values }).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# HELP x y\nrecension_http_requests_total{code=\"2xx\"} 5\n\
                        recension_http_requests_total{code=\"5xx\"} 2\nrecension_store_disk_bytes 4096\n\
                        recension_http_request_duration_seconds_sum{method=\"GET\",endpoint=\"x\"} 0.5\n# EOF\n";

    #[test]
    fn figures_are_added_up_by_series() {
        let sample = Sample::of(TEXT, 7);
        let of = |wanted: &str| {
            let number = SERIES.iter().position(|(name, ..)| *name == wanted).unwrap();
            sample.values[number].to_string()
        };
        assert_eq!((of("requests"), of("failures"), of("refusals")), ("7".into(), "2".into(), "0".into()));
        assert_eq!((of("disk"), of("seconds"), sample.time), ("4096".into(), "0.5".into(), 7));
    }

    #[test]
    fn notes_are_few() {
        let samples = Samples::default();
        for time in 0..NOTES_MAX as u64 + 5 {
            samples.push(Sample::of("", time));
        }
        let all = samples.0.lock();
        assert_eq!((all.len(), all[0].time), (NOTES_MAX, 5));
    }
}
