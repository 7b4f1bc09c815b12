//! A log in etcd, by its JSON gateway. An append is a transaction: it puts the key of the position if that was never
//! made and the key of the position before exists. A watch tells other nodes.

mod client;
mod watch;

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use self::client::{Client, Failure};
use crate::net::{ANSWER_TIMEOUT, Watch};
use crate::{Appended, Blobs, LogAddress, LogError, LogProfile, Position, Result, SharedLog};

const SYSTEM: &str = "etcd";
/// A transaction may have 1.5 MiB by default. Records are in base64 on the way, and raw in etcd.
const RECORD_BYTES_MAX: usize = 1_400_000;
/// Keys that are asked for at once.
const PAGE_KEYS: u64 = 1000;
/// Bytes of a record for which a page has room.
const PAGE_RECORD_BYTES: usize = 128 << 10;
/// How long a waiter relies on the watch before it asks.
const LOOK: Duration = Duration::from_millis(200);
/// The pauses before a request is made again. Together they outlast an election of etcd's default time-out, 1 s.
const ELECTION_PAUSES: [Duration; 5] = [
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
    Duration::from_millis(800),
];

/// A log in etcd.
pub struct EtcdLog {
    cluster: Arc<Cluster>,
}

struct Cluster {
    client: Client,
    place: String,
    /// The prefix of every key.
    prefix: String,
    watch: Watch,
}

impl EtcdLog {
    /// The log at an address.
    pub fn open(address: &LogAddress) -> Result<Self> {
        let client = Client::new(address)?;
        let prefix = format!("recension/{}/", address.log_name());
        let cluster = Arc::new(Cluster { client, place: address.place(), prefix, watch: Watch::default() });
        // A cluster that does not answer is an error now.
        cluster.tail(Position(0))?;
        watch::start(&cluster)?;
        Ok(EtcdLog { cluster })
    }
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

fn decoded(value: &Value) -> Vec<u8> {
    STANDARD.decode(value.as_str().unwrap_or_default()).unwrap_or_default()
}

impl Cluster {
    fn record_key(&self, position: Position) -> String {
        format!("{}log/{:020}", self.prefix, position.0)
    }

    /// A key behind every record's key.
    fn records_end(&self) -> String {
        format!("{}log0", self.prefix)
    }

    fn blob_key(&self, name: &str) -> String {
        format!("{}blob/{name}", self.prefix)
    }

    fn position(&self, key: &[u8]) -> Option<Position> {
        let digits = std::str::from_utf8(key).ok()?.strip_prefix(&self.prefix)?.strip_prefix("log/")?;
        digits.parse().ok().map(Position)
    }

    fn error(&self, failure: &Failure) -> LogError {
        let why = format!("{}: {failure}", self.place);
        match failure {
            Failure::Lasting(_) => LogError::Refused { system: SYSTEM, why },
            Failure::NotSent(_) | Failure::Unknown(_) => LogError::Unavailable(why),
        }
    }

    /// A request that may be made twice. While the cluster elects a leader, members answer that they have none.
    fn ask(&self, path: &str, body: &Value) -> Result<Value> {
        let (began, mut pauses) = (Instant::now(), ELECTION_PAUSES.iter());
        loop {
            match (self.client.ask(path, body), pauses.next()) {
                (Err(Failure::Unknown(_)), Some(pause)) if began.elapsed() < ANSWER_TIMEOUT => {
                    std::thread::sleep(*pause);
                }
                (answer, _) => return answer.map_err(|failure| self.error(&failure)),
            }
        }
    }

    fn range(&self, body: &Value) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let answer = self.ask("kv/range", body)?;
        let pairs = answer["kvs"].as_array().map_or(&[][..], Vec::as_slice);
        Ok(pairs.iter().map(|pair| (decoded(&pair["key"]), decoded(&pair["value"]))).collect())
    }

    fn tail(&self, known: Position) -> Result<Position> {
        let mut newest = known.max(self.watch.newest());
        while newest > Position(0) {
            // The known one is asked for too: a log that went back does not have it.
            let (first, end) = (encoded(self.record_key(newest)), encoded(self.records_end()));
            let page = json!({"key": first, "range_end": end, "keys_only": true, "limit": PAGE_KEYS.to_string()});
            match self.range(&page)?.last().and_then(|(key, _)| self.position(key)) {
                Some(last) if last == newest => break,
                Some(last) => newest = last,
                None => {
                    self.watch.went_back();
                    newest = Position(0);
                }
            }
        }
        if newest == Position(0) {
            let (first, end) = (encoded(self.record_key(newest)), encoded(self.records_end()));
            let last = json!({"key": first, "range_end": end, "keys_only": true, "limit": "1", "sort_order": "DESCEND",
                              "sort_target": "KEY"});
            newest = self.range(&last)?.first().and_then(|(key, _)| self.position(key)).unwrap_or_default();
        }
        self.watch.heard(newest);
        Ok(newest.next())
    }
}

impl SharedLog for EtcdLog {
    fn append(&self, position: Position, record: &[u8]) -> Result<Appended> {
        let cluster = &self.cluster;
        let made = |position: Position, result: &str| {
            let key = encoded(cluster.record_key(position));
            json!({"key": key, "target": "CREATE", "create_revision": "0", "result": result})
        };
        let mut compare = vec![made(position, "EQUAL")];
        if position > Position::FIRST {
            compare.push(made(position.before(), "GREATER"));
        }
        let put = json!({"request_put": {"key": encoded(cluster.record_key(position)), "value": encoded(record)}});
        let body = json!({"compare": compare, "success": [put]});
        match cluster.client.ask("kv/txn", &body) {
            Ok(answer) if answer["succeeded"].as_bool() == Some(true) => {
                cluster.watch.heard(position);
                Ok(Appended::Written)
            }
            Ok(_) => Ok(Appended::Taken),
            Err(failure) => Err(match (cluster.error(&failure), failure) {
                (LogError::Unavailable(why), Failure::Unknown(_)) => LogError::Unknown(why),
                (error, _) => error,
            }),
        }
    }

    fn read(&self, from: Position, bytes_max: usize) -> Result<Vec<(Position, Vec<u8>)>> {
        let limit = (bytes_max / PAGE_RECORD_BYTES).max(1).to_string();
        let (first, end) = (encoded(self.cluster.record_key(from)), encoded(self.cluster.records_end()));
        let pairs = self.cluster.range(&json!({"key": first, "range_end": end, "limit": limit}))?;
        let mut records = Vec::with_capacity(pairs.len());
        for (key, record) in pairs {
            let position = self.cluster.position(&key).unwrap_or_default();
            records.push((position, record));
        }
        match records.first() {
            Some((first, _)) if *first > from => Err(LogError::Trimmed { asked: from, first: Some(*first) }),
            _ => Ok(records),
        }
    }

    fn tail(&self, known: Position) -> Result<Position> {
        self.cluster.tail(known)
    }

    fn wait_for(&self, position: Position, timeout: Duration) {
        // A watch that has broken off is made anew in time; until then we ask.
        let has = || self.cluster.tail(position.before()).is_ok_and(|tail| tail > position);
        self.cluster.watch.poll(position, timeout, LOOK, has);
    }

    fn wake(&self) {
        self.cluster.watch.wake();
    }

    fn trim(&self, before: Position) -> Result<()> {
        let before = before.min(self.cluster.tail(Position(0))?.before());
        let (first, end) = (encoded(self.cluster.record_key(Position(0))), encoded(self.cluster.record_key(before)));
        self.cluster.ask("kv/deleterange", &json!({"key": first, "range_end": end})).map(drop)
    }

    fn blobs(&self) -> &dyn Blobs {
        &*self.cluster
    }

    fn profile(&self) -> LogProfile {
        LogProfile {
            system: SYSTEM,
            place: self.cluster.place.clone(),
            record_bytes_max: RECORD_BYTES_MAX,
            record_bytes_best: 256 << 10,
            blob_bytes_max: RECORD_BYTES_MAX,
            keeps: "loss of power of all members, and of a minority for ever",
        }
    }
}

impl Blobs for Cluster {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.ask("kv/put", &json!({"key": encoded(self.blob_key(name)), "value": encoded(bytes)})).map(drop)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let pairs = self.range(&json!({"key": encoded(self.blob_key(name))}))?;
        Ok(pairs.into_iter().next().map(|(_, value)| value))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let mut from = self.blob_key(prefix).into_bytes();
        // Names have no byte beyond `z`.
        let end = encoded(self.blob_key(prefix) + "~");
        let mut names = Vec::new();
        loop {
            let page =
                json!({"key": encoded(&from), "range_end": end, "keys_only": true, "limit": PAGE_KEYS.to_string()});
            let pairs = self.range(&page)?;
            let Some((last, _)) = pairs.last() else { return Ok(names) };
            from.clone_from(last);
            from.push(0);
            let found =
                pairs.iter().filter_map(|(key, _)| std::str::from_utf8(key).ok()?.strip_prefix(&self.blob_key("")));
            names.extend(found.map(str::to_owned));
        }
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.ask("kv/deleterange", &json!({"key": encoded(self.blob_key(name))})).map(drop)
    }
}
