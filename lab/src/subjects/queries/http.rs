//! Ours over HTTP: `recension serve` with its defaults, one connection that is kept.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::Orders;
use super::model::{Answer, Ask, Order, id};
use super::recension::{INDEXES, WORDS, grouped, pipeline, selector};
use crate::error::{LabError, Result};
use crate::load::{Connection, Wire};
use crate::servers::{Place, Process, recension};
use crate::subjects::Given;
use crate::subjects::http::couch::Couch;

const DATABASE: &str = "orders";
/// Documents of a request of the load.
const LOADED_AT_ONCE: usize = 1000;
/// More documents than any ask selects.
const ALL: usize = 10_000_000;

struct Served {
    process: Process,
    couch: Couch,
    runtime: Runtime,
    connection: Connection,
}

#[derive(Deserialize)]
struct Found<'a> {
    #[serde(borrow, default)]
    docs: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    rows: Vec<&'a RawValue>,
    #[serde(default)]
    written: u64,
}

#[derive(Deserialize)]
struct Id {
    #[serde(rename = "_id")]
    id: String,
}

pub(super) fn open(dir: &Path, given: &Given) -> Result<Box<dyn Orders>> {
    let (process, address) = recension::start(&Place { dir, traced: None }, given)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(LabError::io("starting the client"))?;
    let connection = runtime.block_on(Connection::connect(address, Wire::Http))?;
    let couch = Couch::new(address, Some(recension::ADMIN));
    Ok(Box::new(Served { process, couch, runtime, connection }))
}

impl Served {
    fn call(&mut self, request: &[u8]) -> Result<Vec<u8>> {
        let answer = self.runtime.block_on(self.connection.call(request))?;
        if (200..300).contains(&answer.status) {
            return Ok(answer.body);
        }
        let found: String = String::from_utf8_lossy(&answer.body).chars().take(300).collect();
        let found = format!("{} {found}", answer.status);
        Err(LabError::Wrong { what: "an answer".to_owned(), expected: "200 to 299".to_owned(), found })
    }

    fn post(&mut self, endpoint: &str, body: &Value) -> Result<Vec<u8>> {
        let request = self.couch.post(&format!("{DATABASE}/{endpoint}"), &body.to_string());
        self.call(&request)
    }
}

fn read(body: &[u8]) -> Result<Found<'_>> {
    serde_json::from_slice(body).map_err(LabError::subject("an answer"))
}

/// The body of `_find`.
fn wanted(ask: &Ask) -> Value {
    let mut body = json!({"selector": selector(ask), "limit": ALL});
    let more = match ask {
        Ask::SortByIndex { limit, .. } => json!({"sort": [{"state": "desc"}, {"total": "desc"}], "limit": limit}),
        Ask::Page { skip, limit } => json!({"sort": ["total"], "skip": skip, "limit": limit}),
        _ if ask.wants_ids() => json!({"fields": ["_id"]}),
        _ => json!({}),
    };
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    body
}

impl Orders for Served {
    fn load(&mut self, orders: &[Order]) -> Result<()> {
        let request = self.couch.make(DATABASE);
        self.call(&request)?;
        for some in orders.chunks(LOADED_AT_ONCE) {
            let document = |order: &Order| {
                let mut document = order.document();
                document["_id"] = id(order.number).into();
                document
            };
            let documents = json!({"docs": some.iter().map(document).collect::<Vec<_>>()}).to_string();
            let request = self.couch.bulk_of(DATABASE, &documents);
            self.call(&request)?;
        }
        for (name, paths) in INDEXES {
            self.post("_index", &json!({"index": {"fields": paths}, "ddoc": name, "name": name}))?;
        }
        let (name, path) = WORDS;
        self.post("_index", &json!({"type": "text", "index": {"fields": [path]}, "ddoc": name, "name": name}))?;
        Ok(())
    }
    fn ask(&mut self, ask: &Ask) -> Result<Answer> {
        if let Some(pipeline) = pipeline(ask) {
            let body = self.post("_aggregate", &json!({"pipeline": pipeline}))?;
            let rows: Vec<&str> = read(&body)?.rows.iter().map(|row| row.get()).collect();
            return grouped(ask, &rows);
        }
        if let Ask::Update { state, .. } = ask {
            let body = json!({"selector": selector(ask), "merge": {"state": state}});
            let body = self.post("_update_by_query", &body)?;
            return Ok(Answer::Changed(read(&body)?.written));
        }
        let body = self.post("_find", &wanted(ask))?;
        let id_of = |document: &&RawValue| {
            let own: Id = serde_json::from_str(document.get()).map_err(LabError::subject("a document"))?;
            Ok(own.id)
        };
        let documents = read(&body)?.docs;
        if ask.wants_ids() {
            return documents.iter().map(id_of).collect::<Result<_>>().map(Answer::Ids);
        }
        let whole = documents.iter().map(|document| Ok((id_of(document)?, document.get().to_owned())));
        whole.collect::<Result<_>>().map(Answer::Documents)
    }
    fn settings(&self) -> String {
        "recension serve with its defaults, requests as admin with Basic authentication, one connection; ids are read \
         from the documents within the time"
            .to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        drop(self.connection);
        self.process.stop()
    }
}
