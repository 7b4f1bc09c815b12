//! A log in a collection of `MongoDB` or a compatible system: one document a record, whose `_id` is its position. A
//! majority acknowledges a write, from their journals. No transactions are needed. Other nodes poll.

mod client;
mod scram;

use std::time::{Duration, Instant};

use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, doc};
use parking_lot::Mutex;

use self::client::{Client, Failure, Login};
use crate::address::TlsMode;
use crate::limits::PAGE_RECORDS;
use crate::net::{ANSWER_TIMEOUT, Pool, Watch, config};
use crate::{Appended, Blobs, LogAddress, LogError, LogProfile, Position, Result, SharedLog};

const SYSTEM: &str = "mongodb";
const PORT: u16 = 27017;
/// A document may have 16 MiB. A page of records has room for this many of the best size.
const RECORD_BYTES_MAX: usize = 12 << 20;
const RECORD_BYTES_BEST: usize = 1 << 20;
/// How often waiters look for a record.
const LOOK: Duration = Duration::from_millis(15);
const DUPLICATE: i32 = 11000;

/// A log in `MongoDB`.
pub struct MongoLog {
    hosts: Vec<(String, u16)>,
    /// The host that was the primary when last looked.
    primary: Mutex<usize>,
    login: Login,
    place: String,
    records: String,
    blobs: String,
    pool: Pool<Client>,
    page: Mutex<Page>,
    watch: Watch,
}

impl MongoLog {
    /// The log at an address. Its collections are made with their first documents.
    pub fn open(address: &LogAddress) -> Result<Self> {
        let tls = match address.tls() {
            TlsMode::Off => None,
            TlsMode::Required(ca) => Some(config(ca.as_deref())?),
        };
        let password = if address.user.is_some() { address.password()? } else { None };
        let login = Login { user: address.user.clone(), password, database: address.path.clone(), tls };
        let log = MongoLog {
            hosts: address.hosts.iter().map(|(host, port)| (host.clone(), port.unwrap_or(PORT))).collect(),
            primary: Mutex::new(0),
            login,
            place: address.place(),
            records: format!("recension_log_{}", address.log_name()),
            blobs: format!("recension_blob_{}", address.log_name()),
            pool: Pool::new(),
            page: Mutex::default(),
            watch: Watch::default(),
        };
        let client = log.connect()?;
        log.pool.give(client);
        Ok(log)
    }

    /// A connection to the member that takes writes.
    fn connect(&self) -> Result<Client> {
        let mut primary = self.primary.lock();
        let (began, mut failures) = (Instant::now(), Vec::new());
        for turn in (0..self.hosts.len()).take_while(|_| began.elapsed() < ANSWER_TIMEOUT) {
            let at = (*primary + turn) % self.hosts.len();
            let (host, port) = &self.hosts[at];
            match Client::connect(host, *port, &self.login) {
                Ok(client) => {
                    *primary = at;
                    return Ok(client);
                }
                Err(failure @ Failure::Server { .. }) => return Err(self.error(&failure)),
                Err(failure) => failures.push(format!("{host}:{port}: {failure}")),
            }
        }
        Err(LogError::Unavailable(format!("{}: {}", self.place, failures.join("; "))))
    }

    /// A command that may be run twice.
    fn ask(&self, command: &Document) -> Result<Document> {
        let (began, mut tries) = (Instant::now(), 0);
        loop {
            let mut client = match self.pool.take() {
                Some(client) => client,
                None => self.connect()?,
            };
            match client.run(command) {
                Ok(answer) => {
                    self.pool.give(client);
                    return Ok(answer);
                }
                Err(failure) if failure.may_pass() && tries < 2 && began.elapsed() < ANSWER_TIMEOUT => {
                    self.pool.clear();
                    tries += 1;
                }
                Err(failure) => return Err(self.error(&failure)),
            }
        }
    }

    fn error(&self, failure: &Failure) -> LogError {
        let why = format!("{}: {failure}", self.place);
        if failure.may_pass() { LogError::Unavailable(why) } else { LogError::Refused { system: SYSTEM, why } }
    }

    /// A write, every part of which must succeed.
    fn write(&self, command: &Document) -> Result<()> {
        let answer = self.ask(command)?;
        match refusal_of(&answer) {
            None => Ok(()),
            Some((_, why)) => Err(LogError::Unavailable(format!("{}: {why}", self.place))),
        }
    }

    fn find(&self, collection: &str, filter: Document, sort: i32, limit: i64, only_ids: bool) -> Result<Vec<Document>> {
        let mut command = doc! {
            "find": collection, "filter": filter, "sort": { "_id": sort }, "limit": limit, "batchSize": limit.max(1),
            "singleBatch": true,
        };
        if only_ids {
            command.insert("projection", doc! { "_id": 1 });
        }
        let mut answer = self.ask(&command)?;
        let batch = answer.get_document_mut("cursor").ok().and_then(|cursor| cursor.get_array_mut("firstBatch").ok());
        let documents = batch.map(std::mem::take).unwrap_or_default();
        Ok(documents
            .into_iter()
            .filter_map(|document| if let Bson::Document(document) = document { Some(document) } else { None })
            .collect())
    }
}

/// How many records a page has room for, as far as the last page tells. An answer has 16 MiB at most.
struct Page {
    record_bytes: usize,
    records: usize,
}

impl Default for Page {
    fn default() -> Self {
        Page { record_bytes: RECORD_BYTES_BEST, records: 1 }
    }
}

impl Page {
    fn records(&self, bytes_max: usize) -> i64 {
        // The next page may have larger ones: it grows step by step.
        let room = bytes_max / self.record_bytes.max(1);
        let grown = self.records.saturating_mul(8).min(PAGE_RECORDS);
        i64::try_from(room.clamp(1, grown)).unwrap_or(1)
    }

    fn learn(&mut self, lengths: impl ExactSizeIterator<Item = usize>) {
        let records = lengths.len();
        if records > 0 {
            *self = Page { record_bytes: lengths.max().unwrap_or_default().saturating_add(64), records };
        }
    }
}

/// The error of a refused write.
fn refusal_of(answer: &Document) -> Option<(i32, String)> {
    let first = answer.get_array("writeErrors").ok()?.first()?.as_document()?;
    Some((number(first.get("code")) as i32, first.get_str("errmsg").unwrap_or_default().to_owned()))
}

fn number(value: Option<&Bson>) -> i64 {
    match value {
        Some(Bson::Int32(number)) => i64::from(*number),
        Some(Bson::Int64(number)) => *number,
        Some(Bson::Double(number)) => *number as i64,
        _ => 0,
    }
}

fn binary(bytes: &[u8]) -> Bson {
    Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: bytes.to_vec() })
}

fn bytes_of(document: &mut Document) -> Vec<u8> {
    match document.remove("b") {
        Some(Bson::Binary(binary)) => binary.bytes,
        _ => Vec::new(),
    }
}

fn concern() -> Document {
    doc! { "w": "majority", "j": true }
}

fn id(position: Position) -> i64 {
    position.0.cast_signed()
}

impl SharedLog for MongoLog {
    fn append(&self, position: Position, record: &[u8]) -> Result<Appended> {
        let document = doc! { "_id": id(position), "b": binary(record) };
        let command =
            doc! { "insert": &self.records, "documents": [document], "ordered": true, "writeConcern": concern() };
        let mut client = match self.pool.take() {
            Some(client) => client,
            None => self.connect()?,
        };
        let unknown = |why: &str| Err(LogError::Unknown(format!("{}: {why}", self.place)));
        let answer = match client.run(&command) {
            Ok(answer) => answer,
            Err(failure) => {
                self.pool.clear();
                return match self.error(&failure) {
                    LogError::Unavailable(why) => Err(LogError::Unknown(why)),
                    error => Err(error),
                };
            }
        };
        self.pool.give(client);
        if let Some((code, why)) = refusal_of(&answer) {
            return if code == DUPLICATE { Ok(Appended::Taken) } else { unknown(&why) };
        }
        if let Ok(error) = answer.get_document("writeConcernError") {
            return unknown(error.get_str("errmsg").unwrap_or("no majority has it"));
        }
        self.watch.heard(position);
        Ok(Appended::Written)
    }

    fn read(&self, from: Position, bytes_max: usize) -> Result<Vec<(Position, Vec<u8>)>> {
        let limit = self.page.lock().records(bytes_max);
        let found = self.find(&self.records, doc! { "_id": { "$gte": id(from) } }, 1, limit, false);
        let found = found.inspect_err(|_| *self.page.lock() = Page::default())?;
        let mut records = Vec::new();
        for mut document in found {
            let position = Position(number(document.get("_id")).cast_unsigned());
            let record = bytes_of(&mut document);
            if record.is_empty() {
                return Err(LogError::Trimmed { asked: position, first: None });
            }
            records.push((position, record));
        }
        self.page.lock().learn(records.iter().map(|(_, record)| record.len()));
        Ok(records)
    }

    fn tail(&self, known: Position) -> Result<Position> {
        let mut newest = known.max(self.watch.newest());
        // There are few records after the known one. It is asked for too: a log that went back does not have it.
        while newest > Position(0) {
            let page = self.find(&self.records, doc! { "_id": { "$gte": id(newest) } }, 1, 100, true)?;
            let last = page.last().map(|last| Position(number(last.get("_id")).cast_unsigned()));
            match last {
                Some(last) if last == newest => break,
                Some(last) => newest = last,
                None => {
                    self.watch.went_back();
                    newest = Position(0);
                }
            }
        }
        if newest == Position(0) {
            let last = self.find(&self.records, doc! {}, -1, 1, true)?;
            newest = Position(number(last.first().and_then(|last| last.get("_id"))).cast_unsigned());
        }
        self.watch.heard(newest);
        Ok(newest.next())
    }

    fn wait_for(&self, position: Position, timeout: Duration) {
        let has =
            || self.find(&self.records, doc! { "_id": id(position) }, 1, 1, true).is_ok_and(|found| !found.is_empty());
        self.watch.poll(position, timeout, LOOK, has);
    }

    fn wake(&self) {
        self.watch.wake();
    }

    /// Documents stay, empty: a node that has slept must not find a taken position free.
    fn trim(&self, before: Position) -> Result<()> {
        let before = before.min(self.tail(Position(0))?.before());
        let filter = doc! { "_id": { "$lt": id(before) }, "trimmed": { "$exists": false } };
        let change = doc! { "$set": { "trimmed": true, "b": binary(b"") } };
        self.write(&doc! {
            "update": &self.records,
            "updates": [{ "q": filter, "u": change, "multi": true }],
            "writeConcern": concern(),
        })
    }

    fn blobs(&self) -> &dyn Blobs {
        self
    }

    fn profile(&self) -> LogProfile {
        LogProfile {
            system: SYSTEM,
            place: self.place.clone(),
            record_bytes_max: RECORD_BYTES_MAX,
            record_bytes_best: RECORD_BYTES_BEST,
            blob_bytes_max: 8 << 20,
            keeps: "loss of power of all members, and of a minority for ever",
        }
    }
}

impl Blobs for MongoLog {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let document = doc! { "_id": name, "b": binary(bytes) };
        self.write(&doc! {
            "update": &self.blobs,
            "updates": [{ "q": { "_id": name }, "u": document, "upsert": true }],
            "writeConcern": concern(),
        })
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let found = self.find(&self.blobs, doc! { "_id": name }, 1, 1, false)?;
        Ok(found.into_iter().next().map(|mut document| bytes_of(&mut document)))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let mut names = Vec::new();
        let mut filter = doc! { "$gte": prefix, "$lt": format!("{prefix}~") };
        loop {
            let page = self.find(&self.blobs, doc! { "_id": filter.clone() }, 1, 1000, true)?;
            let found = page.iter().filter_map(|document| document.get_str("_id").ok().map(str::to_owned));
            names.extend(found);
            match names.last() {
                Some(last) if page.len() == 1000 => filter = doc! { "$gt": last, "$lt": format!("{prefix}~") },
                _ => return Ok(names),
            }
        }
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.write(&doc! {
            "delete": &self.blobs, "deletes": [{ "q": { "_id": name }, "limit": 1 }], "writeConcern": concern(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many questions it takes to read this many records of this many bytes.
    fn questions(count: usize, len: usize, bytes_max: usize) -> usize {
        let (mut page, mut left, mut asked) = (Page::default(), count, 0);
        while left > 0 {
            let records = usize::try_from(page.records(bytes_max)).unwrap().min(left);
            page.learn(vec![len; records].into_iter());
            (left, asked) = (left - records, asked + 1);
        }
        asked
    }

    #[test]
    fn pages_grow_while_records_are_small() {
        assert_eq!(questions(854, 200, 8 << 20), 4);
        assert!(questions(100_000, 200, 8 << 20) < 30);
        // The first page cannot know how large they are.
        assert_eq!(questions(10, 8 << 20, 8 << 20), 1 + 2);
        let mut page = Page::default();
        page.learn([100; 8].into_iter());
        page.learn([6 << 20; 2].into_iter());
        assert_eq!(page.records(8 << 20), 1);
    }
}
