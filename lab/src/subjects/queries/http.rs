//! Ours over HTTP: `recension serve` with its defaults, one connection that is kept.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::Orders;
use super::events::Event;
use super::model::{Answer, Ask, Order, id};
use super::recension::{EVENTS, INDEXES, WORDS, grouped, pipeline, selector};
use crate::error::{LabError, Result};
use crate::load::{Connection, Wire};
use crate::servers::{Place, Process, recension};
use crate::subjects::Given;
use crate::subjects::http::couch::Couch;

const ORDERS: &str = "orders";
const OF_EVENTS: &str = "events";
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

    fn post(&mut self, database: &str, endpoint: &str, body: &Value) -> Result<Vec<u8>> {
        let request = self.couch.post(&format!("{database}/{endpoint}"), &body.to_string());
        self.call(&request)
    }

    fn load_all(&mut self, database: &str, documents: impl Iterator<Item = (u64, String)>) -> Result<()> {
        let request = self.couch.make(database);
        self.call(&request)?;
        let with_id =
            |(number, body): (u64, String)| format!("{{\"_id\":\"{}\",{}", id(number), body.trim_start_matches('{'));
        let mut documents = documents.map(with_id).peekable();
        while documents.peek().is_some() {
            let some = documents.by_ref().take(LOADED_AT_ONCE).collect::<Vec<_>>().join(",");
            let request = self.couch.bulk_of(database, &format!("{{\"docs\":[{some}]}}"));
            self.call(&request)?;
        }
        Ok(())
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
        self.load_all(ORDERS, orders.iter().map(|order| (order.number, order.document().to_string())))?;
        for (name, paths) in INDEXES {
            self.post(ORDERS, "_index", &json!({"index": {"fields": paths}, "ddoc": name, "name": name}))?;
        }
        let (name, path) = WORDS;
        self.post(ORDERS, "_index", &json!({"type": "text", "index": {"fields": [path]}, "ddoc": name, "name": name}))?;
        Ok(())
    }
    fn load_events(&mut self, events: &[Event]) -> Result<()> {
        self.load_all(OF_EVENTS, (0..).zip(events).map(|(number, event)| (number, event.document())))?;
        self.post(OF_EVENTS, "_index", &json!({"index": {"fields": EVENTS}, "ddoc": "event", "name": "event"}))
            .map(drop)
    }
    fn ask(&mut self, ask: &Ask) -> Result<Answer> {
        if let Some(pipeline) = pipeline(ask) {
            let of = if matches!(ask, Ask::JsonBench { .. }) { OF_EVENTS } else { ORDERS };
            let body = self.post(of, "_aggregate", &json!({"pipeline": pipeline}))?;
            let rows: Vec<&str> = read(&body)?.rows.iter().map(|row| row.get()).collect();
            return grouped(ask, &rows);
        }
        if let Ask::Update { state, .. } = ask {
            let body = json!({"selector": selector(ask), "merge": {"state": state}});
            let body = self.post(ORDERS, "_update_by_query", &body)?;
            return Ok(Answer::Changed(read(&body)?.written));
        }
        let body = self.post(ORDERS, "_find", &wanted(ask))?;
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
