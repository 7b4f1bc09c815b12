//! The node's statistics by CouchDB's names, for its clients and dashboards: `/_node/{node}/_stats`. Only what is
//! counted here is there: a figure that nobody counts would be read as a true zero. Bounded: an array of counters, and
//! the durations of the last requests.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::StatusCode;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

/// Durations that are kept.
const TIMES_MAX: usize = 1024;
/// How long they count: CouchDB's interval.
const TIMES_FOR: Duration = Duration::from_secs(10);
/// Statuses of answers begin with this.
const FIRST_STATUS: u16 = 100;
const STATUSES: usize = 500;

/// Methods that are counted, in CouchDB's words.
const METHODS: [&str; 7] = ["COPY", "DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"];

/// Requests to endpoints of a database that are counted: the label, the name, and what is counted.
const ENDPOINTS: [(&str, &str, &str); 3] = [
    ("_bulk_docs", "bulk_requests", "number of bulk requests"),
    ("_purge", "purge_requests", "number of purge requests"),
    ("_view", "view_reads", "number of view reads"),
];

/// What is counted since the server started.
#[derive(Debug)]
pub struct NodeStatistics {
    started: Instant,
    statuses: [AtomicU64; STATUSES],
    methods: [AtomicU64; METHODS.len()],
    endpoints: [AtomicU64; ENDPOINTS.len()],
    documents: AtomicU64,
    times: Mutex<VecDeque<(Instant, f64)>>,
}

impl Default for NodeStatistics {
    fn default() -> Self {
        NodeStatistics {
            started: Instant::now(),
            statuses: [const { AtomicU64::new(0) }; STATUSES],
            methods: Default::default(),
            endpoints: Default::default(),
            documents: AtomicU64::new(0),
            times: Mutex::default(),
        }
    }
}

/// Figures that are read at the moment.
#[derive(Clone, Copy, Debug)]
pub struct Present {
    pub databases: u64,
    pub feeds: u64,
    pub commits: u64,
    /// Passwords that were known from the last time, and those that were hashed.
    pub passwords: [u64; 2],
    pub replications: [u64; 2],
}

impl NodeStatistics {
    /// Counts an answer.
    pub(crate) fn answered(&self, method: &str, endpoint: &str, status: StatusCode, seconds: f64) {
        let add = |counter: Option<&AtomicU64>| {
            if let Some(counter) = counter {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        };
        add(self.statuses.get(usize::from(status.as_u16().saturating_sub(FIRST_STATUS))));
        add(METHODS.iter().position(|known| *known == method).and_then(|at| self.methods.get(at)));
        add(ENDPOINTS.iter().position(|(known, ..)| *known == endpoint).and_then(|at| self.endpoints.get(at)));
        if endpoint == "document" && matches!(method, "GET" | "HEAD") {
            self.documents.fetch_add(1, Ordering::Relaxed);
        }
        let mut times = self.times.lock();
        if times.len() >= TIMES_MAX {
            times.pop_front();
        }
        times.push_back((Instant::now(), seconds * 1000.0));
    }

    /// How long the server runs.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// All of them, as CouchDB nests them.
    pub fn to_json(&self, present: Present) -> Value {
        let mut all = Map::new();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut note = |path: &[&str], kind: &str, value: Value, what: &str| {
            set(&mut all, path, json!({ "value": value, "type": kind, "desc": what }));
        };
        for (method, counter) in METHODS.iter().zip(&self.methods) {
            let what = format!("number of HTTP {method} requests");
            note(&["couchdb", "httpd_request_methods", method], "counter", read(counter).into(), &what);
        }
        let mut requests = 0;
        for (status, counter) in (FIRST_STATUS..).zip(&self.statuses) {
            requests += read(counter);
            // Series that dashboards look at exist from the beginning.
            let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
            if let Some(reason) = reason.filter(|_| status >= 200 || read(counter) > 0) {
                let what = format!("number of HTTP {status} {reason} responses");
                let path = ["couchdb", "httpd_status_codes", &status.to_string()];
                note(&path, "counter", read(counter).into(), &what);
            }
        }
        for ((_, name, what), counter) in ENDPOINTS.iter().zip(&self.endpoints) {
            note(&["couchdb", "httpd", name], "counter", read(counter).into(), what);
        }
        let [known, hashed] = present.passwords;
        for (path, value, what) in [
            (&["couchdb", "httpd", "requests"][..], requests, "number of HTTP requests"),
            (
                &["couchdb", "httpd", "clients_requesting_changes"],
                present.feeds,
                "number of clients for continuous _changes",
            ),
            (&["couchdb", "httpd", "temporary_view_reads"], 0, "number of temporary view reads"),
            (&["couchdb", "database_reads"], read(&self.documents), "number of requests that read a document"),
            (&["couchdb", "database_writes"], present.commits, "number of times a database was changed"),
            (&["couchdb", "commits"], present.commits, "number of commits performed"),
            (&["couchdb", "open_databases"], present.databases, "number of open databases"),
            (&["couchdb", "open_os_files"], open_files(), "number of file descriptors CouchDB has open"),
            (&["couchdb", "auth_cache_hits"], known, "number of authentication cache hits"),
            (&["couchdb", "auth_cache_misses"], hashed, "number of authentication cache misses"),
            (&["couchdb", "password_hashing_fast"], known, "number of fast password hashing operations"),
            (&["couchdb", "password_hashing_slow"], hashed, "number of slow password hashing operations"),
        ] {
            note(path, "counter", value.into(), what);
        }
        let [running, crashing] = present.replications;
        for (name, value, what) in [
            ("running", running, "replicator jobs running"),
            ("crashed", crashing, "replicator jobs crashed"),
            ("total", running + crashing, "total number of replicator jobs"),
        ] {
            note(&["couch_replicator", "jobs", name], "gauge", value.into(), what);
        }
        let times: Vec<f64> = {
            let times = self.times.lock();
            times.iter().filter(|(at, _)| at.elapsed() < TIMES_FOR).map(|(_, milliseconds)| *milliseconds).collect()
        };
        let what = "length of a request inside CouchDB without MochiWeb";
        note(&["couchdb", "request_time"], "histogram", summary(times), what);
        Value::Object(all)
    }
}

/// What stands at a path, or null, as in CouchDB.
pub fn at<'v>(value: &'v Value, path: &[&str]) -> &'v Value {
    path.iter().try_fold(value, |value, name| value.as_object()?.get(*name)).unwrap_or(&Value::Null)
}

fn set(within: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [name] => drop(within.insert((*name).to_owned(), value)),
        [first, rest @ ..] => {
            let inner = within.entry(*first).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                set(inner, rest, value);
            }
        }
    }
}

/// The descriptors that the process has open; 0 where the system does not tell.
fn open_files() -> u64 {
    std::fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64)
}

/// Milliseconds in CouchDB's summary. Pure.
#[expect(clippy::cast_precision_loss, reason = "there are few of them")]
fn summary(mut times: Vec<f64>) -> Value {
    times.sort_by(f64::total_cmp);
    // An answer without a measurable time would have no logarithm.
    for time in &mut times {
        *time = time.max(1e-6);
    }
    let n = times.len() as f64;
    let mean_of =
        |of: &dyn Fn(f64) -> f64| if times.is_empty() { 0.0 } else { times.iter().copied().map(of).sum::<f64>() / n };
    let mean = mean_of(&|time| time);
    let moment = |power: i32| mean_of(&|time| (time - mean).powi(power));
    let (variance, deviation) = (moment(2), moment(2).sqrt());
    let shape =
        |power: i32, less: f64| if deviation > 0.0 { moment(power) / deviation.powi(power) - less } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a place in the list")]
    let percentile = |share: f64| times.get((n * share) as usize).or(times.last()).copied().unwrap_or(0.0);
    let geometric = if times.is_empty() { 0.0 } else { mean_of(&f64::ln).exp() };
    let harmonic = if times.is_empty() { 0.0 } else { 1.0 / mean_of(&|time| 1.0 / time) };
    let percentiles = [(50, 0.5), (75, 0.75), (90, 0.9), (95, 0.95), (99, 0.99), (999, 0.999)];
    let percentiles: Vec<Value> = percentiles.iter().map(|(name, share)| json!([name, percentile(*share)])).collect();
    json!({
        "min": times.first().copied().unwrap_or(0.0), "max": times.last().copied().unwrap_or(0.0),
        "arithmetic_mean": mean, "geometric_mean": geometric, "harmonic_mean": harmonic,
        "median": percentile(0.5), "variance": variance, "standard_deviation": deviation,
        "skewness": shape(3, 0.0), "kurtosis": shape(4, 3.0),
        "percentile": percentiles, "histogram": [[0, 0]], "n": times.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_method_status_and_endpoint() {
        let node = NodeStatistics::default();
        for (method, endpoint, status) in
            [("GET", "document", 200), ("GET", "document", 404), ("POST", "_bulk_docs", 201)]
        {
            node.answered(method, endpoint, StatusCode::from_u16(status).unwrap(), 0.002);
        }
        node.answered("PATCH", "document", StatusCode::OK, 0.006);
        let present = Present { databases: 3, feeds: 1, commits: 7, passwords: [2, 1], replications: [1, 0] };
        let all = node.to_json(present);
        for (path, value) in [
            ("httpd_request_methods/GET", 2),
            ("httpd_request_methods/POST", 1),
            ("httpd_status_codes/200", 2),
            ("httpd_status_codes/404", 1),
            ("httpd_status_codes/409", 0),
            ("httpd/requests", 4),
            ("httpd/bulk_requests", 1),
            ("database_reads", 2),
            ("database_writes", 7),
            ("open_databases", 3),
        ] {
            let path: Vec<&str> = std::iter::once("couchdb").chain(path.split('/')).chain(["value"]).collect();
            assert_eq!(at(&all, &path), &json!(value), "{path:?}");
        }
        let times = at(&all, &["couchdb", "request_time", "value"]);
        assert_eq!((&times["n"], &times["min"], &times["max"]), (&json!(4), &json!(2.0), &json!(6.0)));
        assert_eq!(times["arithmetic_mean"], json!(3.0));
        assert_eq!(at(&all, &["couchdb", "nothing", "value"]), &Value::Null);
        assert_eq!(summary(Vec::new())["geometric_mean"], json!(0.0));
    }
}
