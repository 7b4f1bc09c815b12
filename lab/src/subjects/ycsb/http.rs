//! Over HTTP, a connection a client: ours, whose PATCH replaces a field, and `CouchDB`, where a field is replaced by
//! reading the document and writing it at its revision, again if another was faster.

use std::net::SocketAddr;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{Owner, Record, Records, Shared, address};
use crate::error::{LabError, Result};
use crate::load::{Answer, Connection, Wire};
use crate::servers::{Place, Process, recension};
use crate::subjects::Given;
use crate::subjects::http::couch::{self, Couch};

const DATABASE: &str = "lab_usertable";

struct Owned {
    process: Option<Process>,
    place: String,
    settings: &'static str,
}

/// Ours.
pub(super) fn own(dir: &Path, given: &Given) -> Result<Box<dyn Owner>> {
    let (process, address) = recension::start(&Place { dir, traced: None }, given)?;
    let settings = "recension serve with its defaults, requests as admin with Basic authentication, a connection a \
                    client; PATCH replaces a field";
    Ok(Box::new(Owned { process: Some(process), place: address.to_string(), settings }))
}

/// `CouchDB`, which a URL names. What an earlier run has left there is removed.
pub(super) fn given(given: &Given, fresh: bool) -> Result<Box<dyn Owner>> {
    let place = given.couchdb_url.clone().unwrap_or_default();
    if fresh {
        let (address, couch) = couch::at(&place)?;
        Joined { address, couch, patches: false }.asked()?.call("DELETE", "", None, &[200, 202, 404])?;
    }
    let settings = "a server that was given; a field is replaced by GET and PUT at the revision, again at a conflict";
    Ok(Box::new(Owned { process: None, place, settings }))
}

pub(super) fn join(place: &str) -> Result<Box<dyn Shared>> {
    let address = address(place)?;
    Ok(Box::new(Joined { address, couch: Couch::new(address, Some(recension::ADMIN)), patches: true }))
}

pub(super) fn join_given(place: &str) -> Result<Box<dyn Shared>> {
    let (address, couch) = couch::at(place)?;
    Ok(Box::new(Joined { address, couch, patches: false }))
}

impl Owner for Owned {
    fn place(&self) -> String {
        self.place.clone()
    }
    fn settings(&self) -> String {
        self.settings.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.process.map_or(Ok(()), Process::stop)
    }
}

struct Joined {
    address: SocketAddr,
    couch: Couch,
    patches: bool,
}

impl Shared for Joined {
    fn client(&self) -> Result<Box<dyn Records + '_>> {
        self.asked().map(|asked| Box::new(asked) as Box<dyn Records>)
    }
}

impl Joined {
    fn asked(&self) -> Result<HttpRecords<'_>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(LabError::io("starting the client"))?;
        let connection = runtime.block_on(Connection::connect(self.address, Wire::Http))?;
        Ok(HttpRecords { runtime, connection, couch: &self.couch, patches: self.patches })
    }
}

struct HttpRecords<'j> {
    runtime: Runtime,
    connection: Connection,
    couch: &'j Couch,
    patches: bool,
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    rows: Vec<Row<'a>>,
}

#[derive(Deserialize)]
struct Row<'a> {
    id: String,
    #[serde(borrow)]
    doc: &'a RawValue,
}

impl HttpRecords<'_> {
    /// Asks; an answer of another status than these is an error.
    fn call(&mut self, method: &str, target: &str, body: Option<&str>, expected: &[u16]) -> Result<Answer> {
        let request = self.couch.request(method, &format!("{DATABASE}{target}"), body);
        let answer = self.runtime.block_on(self.connection.call(&request))?;
        if expected.contains(&answer.status) {
            return Ok(answer);
        }
        let found = String::from_utf8_lossy(&answer.body).chars().take(300).collect::<String>();
        let (what, found) = (format!("{method} {DATABASE}{target}"), format!("{} {found}", answer.status));
        Err(LabError::Wrong { what, expected: format!("{expected:?}"), found })
    }
}

fn text(answer: Answer) -> Result<String> {
    String::from_utf8(answer.body).map_err(LabError::subject("an answer"))
}

impl Records for HttpRecords<'_> {
    fn load(&mut self, records: &[(String, String)]) -> Result<()> {
        // The first time there is no database.
        self.call("PUT", "", None, &[201, 202, 412])?;
        let document =
            |(id, record): &(String, String)| format!("{{\"_id\":\"{id}\",{}", record.trim_start_matches('{'));
        let documents = records.iter().map(document).collect::<Vec<_>>().join(",");
        let answer = self.call("POST", "/_bulk_docs", Some(&format!("{{\"docs\":[{documents}]}}")), &[201])?;
        let stored: Vec<Value> = serde_json::from_slice(&answer.body).map_err(LabError::subject("_bulk_docs"))?;
        let failed = stored.iter().find(|one| one.get("error").is_some());
        failed.map_or(Ok(()), |one| Err(LabError::subject("loading")(one)))
    }
    fn read(&mut self, id: &str) -> Result<Option<Record>> {
        let answer = self.call("GET", &format!("/{id}"), None, &[200, 404])?;
        if answer.status == 404 { Ok(None) } else { text(answer).map(|text| Some(Record::Json(text))) }
    }
    fn update(&mut self, id: &str, field: &str, value: &str) -> Result<()> {
        let target = format!("/{id}");
        if self.patches {
            let patch = json!({field: value}).to_string();
            return self.call("PATCH", &target, Some(&patch), &[200, 201]).map(drop);
        }
        loop {
            let answer = self.call("GET", &target, None, &[200])?;
            let mut document: Value = serde_json::from_slice(&answer.body).map_err(LabError::subject("a document"))?;
            document[field] = value.into();
            if self.call("PUT", &target, Some(&document.to_string()), &[201, 202, 409])?.status != 409 {
                return Ok(());
            }
        }
    }
    fn insert(&mut self, id: &str, record: &str) -> Result<()> {
        self.call("PUT", &format!("/{id}"), Some(record), &[201, 202]).map(drop)
    }
    fn scan(&mut self, first: &str, count: usize) -> Result<Vec<(String, Record)>> {
        let target = format!("/_all_docs?include_docs=true&startkey=%22{first}%22&limit={count}");
        let answer = self.call("GET", &target, None, &[200])?;
        let listed: Listed<'_> = serde_json::from_slice(&answer.body).map_err(LabError::subject("_all_docs"))?;
        Ok(listed.rows.into_iter().map(|row| (row.id, Record::Json(row.doc.get().to_owned()))).collect())
    }
}
