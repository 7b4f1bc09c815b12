//! News of records from etcd. The thread ends by itself soon after the log is dropped.

use std::io::{BufRead as _, BufReader};
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Cluster, decoded, encoded};
use crate::{LogError, Position, Result};

/// How long it waits before it tries again.
const AGAIN: Duration = Duration::from_millis(200);

pub(super) fn start(cluster: &Arc<Cluster>) -> Result<()> {
    let weak = Arc::downgrade(cluster);
    let thread = std::thread::Builder::new().name("recension-watch".to_owned());
    let started = thread.spawn(move || watch(&weak));
    started.map(drop).map_err(|error| LogError::Unavailable(format!("starting a thread: {error}")))
}

fn watch(weak: &Weak<Cluster>) {
    loop {
        let body = {
            let Some(cluster) = weak.upgrade() else { return };
            let (first, end) = (cluster.record_key(Position(0)), cluster.records_end());
            let request = json!({"create_request": {"key": encoded(first), "range_end": encoded(end)}});
            cluster.client.stream("watch", &request)
        };
        match body {
            // The stream ends when the time for an answer is over, and is then made anew. Waiters ask for records in
            // between.
            Ok(body) => hear(weak, body),
            Err(_) => std::thread::sleep(AGAIN),
        }
    }
}

fn hear(weak: &Weak<Cluster>, body: ureq::Body) {
    let mut lines = BufReader::new(body.into_reader());
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.read_until(b'\n', &mut line) {
            Ok(len) if len > 0 => {}
            _ => return,
        }
        let Some(cluster) = weak.upgrade() else { return };
        let news: Value = serde_json::from_slice(&line).unwrap_or_default();
        let events = news["result"]["events"].as_array().map_or(&[][..], Vec::as_slice);
        let puts = events.iter().filter(|event| event["type"].as_str() != Some("DELETE"));
        if let Some(newest) = puts.filter_map(|event| cluster.position(&decoded(&event["kv"]["key"]))).max() {
            cluster.watch.heard(newest);
        }
    }
}
