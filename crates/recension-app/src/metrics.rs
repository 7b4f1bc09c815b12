//! Counters, made with the crate `prometheus-client`, and their text for Prometheus. docs/src/monitoring.md lists their
//! names and labels. Every label has few values, all of which are in this program: no client can make a new one.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};

use http::{Method, StatusCode};
use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::node_statistics::NodeStatistics;
use recension::engine::budget::Budget;
use recension_wire::route::Target;
use recension_wire::streams::Streams;

/// The content type of the text.
pub const CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

/// Upper bounds of the buckets of durations, in seconds: from the time of a read to that of a large compaction.
const SECONDS: [f64; 14] = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

/// Upper bounds of the buckets of sizes, in bytes.
const BYTES: [f64; 9] =
    [256.0, 1024.0, 4096.0, 16_384.0, 65_536.0, 262_144.0, 1_048_576.0, 16_777_216.0, 268_435_456.0];

type Labels<const N: usize> = [(&'static str, &'static str); N];
type Histograms<const N: usize> = Family<Labels<N>, Histogram, fn() -> Histogram>;
type Size = Gauge<u64, AtomicU64>;

/// The server's counters.
pub struct Metrics {
    registry: Registry,
    answers: Family<Labels<1>, Counter>,
    durations: Histograms<2>,
    request_sizes: Histograms<1>,
    answer_sizes: Histograms<1>,
    /// Connections that are open.
    pub connections: Gauge,
    /// Feeds that wait.
    pub feeds: Gauge,
    /// Log-ins that failed.
    pub(crate) failed_log_ins: Counter,
    /// Lines of the log of requests that were lost because its reader was too slow.
    pub(crate) lines_lost: Counter,
    head_seq: Size,
    disk_bytes: Size,
    memory_bytes: Size,
    /// Of streamed answers: bytes that they hold, bytes that they may hold, and how many wait for a part.
    lists: [Size; 3],
    /// Bytes that bodies of requests hold.
    bodies: Size,
    /// Streamed answers that were broken off.
    pub lists_broken_off: Counter,
    /// Backups that the server was to make by itself and could not.
    pub backups_failed: Counter,
    newest_backup: Size,
    replications: Family<Labels<1>, Gauge>,
    /// The same requests by CouchDB's names.
    pub node: NodeStatistics,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let metrics = Metrics {
            registry: Registry::with_prefix("recension"),
            answers: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            request_sizes: Family::new_with_constructor(|| Histogram::new(BYTES)),
            answer_sizes: Family::new_with_constructor(|| Histogram::new(BYTES)),
            connections: Gauge::default(),
            feeds: Gauge::default(),
            failed_log_ins: Counter::default(),
            lines_lost: Counter::default(),
            head_seq: Size::default(),
            disk_bytes: Size::default(),
            memory_bytes: Size::default(),
            lists: Default::default(),
            bodies: Size::default(),
            lists_broken_off: Counter::default(),
            backups_failed: Counter::default(),
            newest_backup: Size::default(),
            replications: Family::default(),
            node: NodeStatistics::default(),
        };
        metrics.registered()
    }
}

impl Metrics {
    fn registered(mut self) -> Self {
        let to = &mut self.registry;
        to.register("http_requests", "Requests answered, by the status's first digit", self.answers.clone());
        to.register("http_request_duration_seconds", "Time until an answer began", self.durations.clone());
        to.register("http_request_size_bytes", "Bodies of requests, as announced", self.request_sizes.clone());
        to.register("http_response_size_bytes", "Bodies of answers, as sent", self.answer_sizes.clone());
        to.register("http_connections", "Open connections", self.connections.clone());
        to.register("changes_feeds", "Feeds of changes that wait", self.feeds.clone());
        to.register("log_ins_failed", "Log-ins that failed or were refused", self.failed_log_ins.clone());
        to.register("request_log_lines_lost", "Lines that the log of requests lacks", self.lines_lost.clone());
        to.register("store_head_seq", "The newest commit", self.head_seq.clone());
        to.register("store_disk_bytes", "Bytes of the store's files", self.disk_bytes.clone());
        to.register("store_memory_bytes", "Bytes that the engine holds in memory", self.memory_bytes.clone());
        let [held, most, waiting] = &self.lists;
        to.register("lists_memory_bytes", "Bytes of streamed answers, made and not sent", held.clone());
        to.register("lists_memory_max_bytes", "Most that those bytes may be", most.clone());
        to.register("bodies_memory_bytes", "Bytes of requests' bodies", self.bodies.clone());
        to.register("lists_waiting", "Streamed answers that wait for memory", waiting.clone());
        to.register("lists_broken_off", "Streamed answers that were broken off", self.lists_broken_off.clone());
        to.register("backups_failed", "Backups at an interval that failed", self.backups_failed.clone());
        let newest = self.newest_backup.clone();
        to.register("backup_newest_timestamp_seconds", "When the newest backup was made; 0: there is none", newest);
        to.register("replications", "Replications, by their state", self.replications.clone());
        to.register("build", "The program", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
        // Series that alarms look at exist from the beginning.
        for code in ["1xx", "2xx", "3xx", "4xx", "5xx"] {
            drop(self.answers.get_or_create(&[("code", code)]));
        }
        self
    }

    /// Counts an answer whose head is made.
    pub fn answered(&self, method: &'static str, endpoint: &'static str, status: StatusCode, seconds: f64) {
        let code = match status.as_u16() / 100 {
            1 => "1xx",
            2 => "2xx",
            3 => "3xx",
            4 => "4xx",
            _ => "5xx",
        };
        self.node.answered(method, endpoint, status, seconds);
        self.answers.get_or_create(&[("code", code)]).inc();
        self.durations.get_or_create(&[("method", method), ("endpoint", endpoint)]).observe(seconds);
    }

    /// Counts the bytes of a request's body, if it announces its length.
    pub fn received(&self, endpoint: &'static str, bytes: u64) {
        self.request_sizes.get_or_create(&[("endpoint", endpoint)]).observe(about(bytes));
    }

    /// Counts the bytes of an answer's body that were sent.
    pub fn sent(&self, endpoint: &'static str, bytes: u64) {
        self.answer_sizes.get_or_create(&[("endpoint", endpoint)]).observe(about(bytes));
    }

    /// Notes when the newest backup was made, if there is one, and how many replications run and crash.
    pub(crate) fn note_tasks(&self, newest_backup: Option<SystemTime>, running: usize, crashing: usize) {
        let since = newest_backup.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        self.newest_backup.set(since.map_or(0, |since| since.as_secs()));
        for (state, count) in [("running", running), ("crashing", crashing)] {
            self.replications.get_or_create(&[("state", state)]).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    /// The text that Prometheus reads.
    pub fn text(&self, stats: &recension::engine::Stats, streams: &Streams, bodies: &Budget) -> String {
        self.head_seq.set(stats.head.0);
        self.disk_bytes.set(stats.disk_bytes);
        self.memory_bytes.set(stats.memory_bytes);
        self.bodies.set(bodies.held() as u64);
        let budget = &streams.budget;
        for (gauge, value) in self.lists.iter().zip([budget.held(), budget.max(), budget.waiting()]) {
            gauge.set(value as u64);
        }
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = prometheus_text::encode(&mut out, &self.registry);
        out
    }
}

#[allow(clippy::cast_precision_loss)] // the crate's histograms are of f64
fn about(bytes: u64) -> f64 {
    bytes as f64
}

/// A method as a label.
pub(crate) fn method_label(method: &Method) -> &'static str {
    const KNOWN: [&str; 8] = ["GET", "HEAD", "PUT", "POST", "DELETE", "COPY", "PATCH", "OPTIONS"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or("other")
}

/// The endpoint of a request as a label: the kind of the path's target, or the name of an endpoint of a database.
pub(crate) fn endpoint_label(target: &Target<'_>) -> &'static str {
    const OF_DATABASES: [&str; 12] = [
        "_all_docs",
        "_bulk_docs",
        "_bulk_get",
        "_changes",
        "_compact",
        "_design_docs",
        "_find",
        "_local_docs",
        "_partition",
        "_purge",
        "_revs_diff",
        "_security",
    ];
    match target {
        Target::Server { name, .. } if name == "_session" => "_session",
        Target::Server { name, .. } if name == "_db_updates" => "_db_updates",
        Target::Root | Target::Redirect { .. } | Target::Server { .. } => "server",
        Target::Database { .. } => "database",
        Target::Special { name, .. } => OF_DATABASES.into_iter().find(|known| known == name).unwrap_or("database"),
        Target::Document { .. } => "document",
        Target::OfDocument { id, name, .. } if id.starts_with("_design/") && name.starts_with("_view/") => "_view",
        Target::OfDocument { .. } => "attachment",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_asked_labels_are_few() {
        let metrics = Metrics::default();
        for number in 0..1000 {
            let method = Method::from_bytes(format!("M{number}").as_bytes()).unwrap();
            for path in [format!("/db{number}/_x{number}"), format!("/_y{number}"), format!("/d/{number}/a{number}")] {
                let endpoint = endpoint_label(&Target::parse(&path).unwrap());
                let status = StatusCode::from_u16(100 + number % 900).unwrap();
                metrics.answered(method_label(&method), endpoint, status, 0.1);
                metrics.sent(endpoint, u64::from(number));
            }
        }
        let stats = recension::Store::memory().unwrap().engine().stats().unwrap();
        let streams = Streams::new(1, std::time::Duration::ZERO, 1).unwrap();
        let text = metrics.text(&stats, &streams, &Budget::new(1));
        assert!(text.lines().count() < 250, "{text}");
        assert!(text.contains("recension_http_requests_total{code=\"2xx\"} 300"), "{text}");
        let bucket =
            "recension_http_request_duration_seconds_bucket{method=\"other\",endpoint=\"server\",le=\"0.1\"} 1000";
        assert!(text.contains(bucket), "{text}");
    }
}
