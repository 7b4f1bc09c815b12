//! Counters, and their text for Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted. Numbers only ever grow, but for those that say how many there are now.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Requests, by the first digit of the status.
    answers: [AtomicU64; 6],
    /// Microseconds until the head of the answer was made, of all requests.
    micros: AtomicU64,
    /// Connections that are open.
    pub(crate) connections: AtomicU64,
    /// Feeds that wait.
    pub(crate) feeds: AtomicU64,
}

impl Metrics {
    /// Counts an answer.
    pub(crate) fn answered(&self, status: http::StatusCode, micros: u64) {
        if let Some(counter) = self.answers.get(usize::from(status.as_u16() / 100)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// The text that Prometheus reads.
    pub(crate) fn text(&self, stats: &recension::engine::Stats) -> String {
        let mut out = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, values: &[(String, u64)]| {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "# HELP recension_{name} {help}\n# TYPE recension_{name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(out, "recension_{name}{labels} {value}");
            }
        };
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let plain = |value| vec![(String::new(), value)];
        let answers: Vec<_> = self
            .answers
            .iter()
            .enumerate()
            .skip(1)
            .map(|(digit, count)| (format!("{{code=\"{digit}xx\"}}"), load(count)))
            .collect();
        metric("http_requests_total", "counter", "Requests answered.", &answers);
        metric("http_request_microseconds_total", "counter", "Time until answers began.", &plain(load(&self.micros)));
        metric("http_connections", "gauge", "Open connections.", &plain(load(&self.connections)));
        metric("changes_feeds", "gauge", "Feeds of changes that wait.", &plain(load(&self.feeds)));
        metric("store_head_seq", "gauge", "The newest commit.", &plain(stats.head.0));
        metric("store_disk_bytes", "gauge", "Bytes of the store's files.", &plain(stats.disk_bytes));
        metric("store_memory_bytes", "gauge", "Bytes that the engine holds in memory.", &plain(stats.memory_bytes));
        out
    }
}
