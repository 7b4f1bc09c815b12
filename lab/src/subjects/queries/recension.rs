//! Ours in this process. What is asked is written as over HTTP, in Mango's words.

use std::path::Path;

use recension::engine::Direction;
use recension::json::merge_patch;
use recension::{Collection, IndexSpec, Query};
use recension::{Language, Pipeline, Selector, Write};
use serde_json::{Value, json};

use super::Orders;
use super::events::{BY_HOUR, Event, hours, longest};
use super::model::{Answer, Ask, Order, id, sku};
use crate::error::{LabError, Result};

/// Documents of a commit of the load.
const LOADED_AT_ONCE: usize = 1000;

type Ours<T> = recension::Result<T>;

struct Embedded {
    orders: Collection,
    events: Collection,
}

pub(super) fn open(dir: &Path) -> Result<Box<dyn Orders>> {
    let opened = recension::open(&dir.join("store").display().to_string());
    let store = opened.map_err(LabError::subject("opening the store"))?;
    let collection = |name| store.collection(name).map_err(LabError::subject("opening a collection"));
    Ok(Box::new(Embedded { orders: collection("orders")?, events: collection("events")? }))
}

/// The paths of the indexes, over HTTP too.
pub(super) const INDEXES: [(&str, &[&str]); 5] = [
    ("customer", &["customer.id"]),
    ("total", &["total"]),
    ("state-total", &["state", "total"]),
    ("sku", &["items[].sku", "items[].n"]),
    ("name", &["customer.name"]),
];

/// The index of words.
pub(super) const WORDS: (&str, &str) = ("words", "note");

/// What an ask selects, in Mango's words; over HTTP too.
pub(super) fn selector(ask: &Ask) -> Value {
    match ask {
        Ask::Equal { customer } | Ask::Update { customer, .. } => json!({"customer.id": customer}),
        Ask::Range { low, high } => json!({"total": {"$gte": low, "$lte": high}}),
        Ask::Or { customer, low } => json!({"$or": [{"customer.id": customer}, {"total": {"$gte": low}}]}),
        Ask::In { numbers } => json!({"_id": {"$in": numbers.iter().map(|number| id(*number)).collect::<Vec<_>>()}}),
        Ask::Element { sku: number, least } => {
            json!({"items": {"$elemMatch": {"sku": sku(*number), "n": {"$gte": least}}}})
        }
        Ask::Prefix { name } => json!({"customer.name": {"$beginsWith": name}}),
        Ask::Contains { part } => json!({"note": {"$contains": part}}),
        Ask::SortByIndex { state, .. } => json!({"state": state}),
        Ask::Words { words } => json!({"note": {"$text": words.join(" ")}}),
        Ask::Phrase { words } => json!({"note": {"$text": format!("\"{}\"", words.join(" "))}}),
        Ask::Page { .. } => json!({"total": {"$gte": 0}}),
        Ask::Sort { .. } | Ask::GroupByCountry | Ask::GroupByState | Ask::Distinct => json!({}),
        Ask::JsonBench { question } => created(*question),
    }
}

/// The index of events, over HTTP too: what `JSONBench` lets every system have.
pub(super) const EVENTS: [&str; 5] = ["kind", "commit.operation", "commit.collection", "did", "time_us"];

/// The events that a question of `JSONBench` is about.
fn created(question: u8) -> Value {
    let created =
        |collection: Value| json!({"kind": "commit", "commit.operation": "create", "commit.collection": collection});
    match question {
        1 => json!({}),
        2 => json!({"kind": "commit", "commit.operation": "create"}),
        3 => created(json!({"$in": BY_HOUR})),
        _ => created(json!("app.bsky.feed.post")),
    }
}

/// What is made of events, or of rows of them that the asker makes the rest of.
fn about_events(question: u8) -> Value {
    let matched = json!({"$match": created(question)});
    let by_user = json!({"$group": {"_id": "$did", "first": {"$min": "$time_us"}, "last": {"$max": "$time_us"}}});
    match question {
        1 => json!([
            {"$group": {"_id": "$commit.collection", "sum": {"$sum": 1}}},
            {"$sort": {"sum": -1, "_id": 1}},
        ]),
        // Users first: a set of them all would be part of each row.
        2 => json!([
            matched,
            {"$group": {"_id": {"event": "$commit.collection", "user": "$did"}, "count": {"$sum": 1}}},
            {"$group": {"_id": "$_id.event", "sum": {"$sum": "$count"}, "count": {"$sum": 1}}},
            {"$sort": {"sum": -1, "_id": 1}},
        ]),
        4 => json!([
            matched,
            {"$group": {"_id": "$did", "sum": {"$min": "$time_us"}}},
            {"$sort": {"sum": 1}},
            {"$limit": 3},
        ]),
        _ => json!([matched, by_user]),
    }
}

/// What is made of all orders, in MongoDB's words; over HTTP too.
pub(super) fn pipeline(ask: &Ask) -> Option<Value> {
    let group = |path: &str| {
        let folds = json!({"_id": path, "sum": {"$sum": "$total"}, "count": {"$sum": 1}});
        json!([{"$group": folds}, {"$sort": {"_id": 1}}])
    };
    match ask {
        Ask::GroupByCountry => Some(group("$customer.country")),
        Ask::GroupByState => Some(group("$state")),
        Ask::Distinct => Some(json!([{"$group": {"_id": "$customer.country"}}, {"$sort": {"_id": 1}}])),
        Ask::JsonBench { question } if *question != 3 => Some(about_events(*question)),
        _ => None,
    }
}

/// The answer that rows of a pipeline are.
pub(super) fn grouped<R: AsRef<str>>(ask: &Ask, rows: &[R]) -> Result<Answer> {
    let read = |row: &R| serde_json::from_str(row.as_ref()).map_err(LabError::subject("a row of a group"));
    let rows: Vec<Value> = rows.iter().map(read).collect::<Result<_>>()?;
    let text = |row: &Value| row["_id"].as_str().unwrap_or_default().to_owned();
    if *ask == Ask::Distinct {
        return Ok(Answer::Values(rows.iter().map(text).collect()));
    }
    let number = |row: &Value, name: &str| row[name].as_u64().unwrap_or_default();
    if *ask == (Ask::JsonBench { question: 5 }) {
        let spans = rows.iter().map(|row| (text(row), number(row, "first"), number(row, "last")));
        return Ok(Answer::Groups(longest(spans.collect())));
    }
    Ok(Answer::Groups(rows.iter().map(|row| (text(row), number(row, "sum"), number(row, "count"))).collect()))
}

fn query(ask: &Ask) -> Ours<Query> {
    let query = Query::new();
    let query = match ask {
        Ask::Sort { .. } => query,
        _ => query.selecting(Selector::from_json(selector(ask).to_string())?),
    };
    Ok(match ask {
        Ask::SortByIndex { limit, .. } => query.sort("total", Direction::Backward).limit(*limit),
        Ask::Sort { limit } => query.sort("placed", Direction::Backward).limit(*limit),
        Ask::Page { skip, limit } => query.sort("total", Direction::Forward).skip(*skip).limit(*limit),
        _ => query,
    })
}

fn put_all(into: &Collection, documents: impl Iterator<Item = (u64, String)>) -> Ours<()> {
    let mut writes = documents.map(|(number, body)| Write::put(&id(number), body)).peekable();
    while writes.peek().is_some() {
        let some = writes.by_ref().take(LOADED_AT_ONCE).collect::<Ours<Vec<_>>>()?;
        into.bulk(some)?.into_iter().try_for_each(|written| written.map(drop))?;
    }
    Ok(())
}

impl Embedded {
    fn answer(&self, ask: &Ask) -> Ours<Answer> {
        let query = query(ask)?;
        if let Ask::Update { state, .. } = ask {
            let patch = json!({"state": state}).to_string();
            let change = |_: &str, body: &str| Ok(Some(merge_patch(body, &patch)?));
            return Ok(Answer::Changed(self.orders.update_matching(&query, change)?.written));
        }
        if ask.wants_ids() {
            let ids = self.orders.select(&query.select(["_id"]))?.map(|found| Ok(found?.id));
            return ids.collect::<Ours<_>>().map(Answer::Ids);
        }
        let documents = self.orders.find(&query)?.map(|found| {
            let found = found?;
            Ok((found.id.into_owned(), found.body.into_owned()))
        });
        documents.collect::<Ours<_>>().map(Answer::Documents)
    }

    /// Events by the hours of a day: no pipeline computes an hour, so the program counts.
    fn by_hours(&self) -> Ours<Answer> {
        let query = Query::new().selecting(Selector::from_json(created(3).to_string())?);
        let selected = self.events.select(&query.select(["commit.collection", "time_us"]))?;
        let rows = selected.map(|found| {
            let values = found?.values;
            let text = |at: usize| values.get(at).cloned().flatten().unwrap_or_default();
            Ok((text(0).trim_matches('"').to_owned(), text(1).parse().unwrap_or_default()))
        });
        let rows: Vec<(String, u64)> = rows.collect::<Ours<_>>()?;
        Ok(Answer::Groups(hours(rows.iter().map(|(name, time)| (name.as_str(), *time)))))
    }

    fn load_all(&self, orders: &[Order]) -> Ours<()> {
        put_all(&self.orders, orders.iter().map(|order| (order.number, order.document().to_string())))?;
        for (name, paths) in INDEXES {
            let spec = match paths {
                [first, second] => IndexSpec::new(name, *first).then(*second),
                _ => IndexSpec::new(name, paths.first().copied().unwrap_or_default()),
            };
            self.orders.create_index(spec, |_| {})?;
        }
        let (name, path) = WORDS;
        self.orders.create_index(IndexSpec::words(name, [path], Language::Plain), |_| {})
    }
}

impl Orders for Embedded {
    fn load(&mut self, orders: &[Order]) -> Result<()> {
        self.load_all(orders).map_err(LabError::subject("loading"))
    }
    fn load_events(&mut self, events: &[Event]) -> Result<()> {
        let [first, rest @ ..] = EVENTS;
        let spec = rest.into_iter().fold(IndexSpec::new("event", first), IndexSpec::then);
        let loaded = put_all(&self.events, (0..).zip(events).map(|(number, event)| (number, event.document())));
        loaded.and_then(|()| self.events.create_index(spec, |_| {})).map_err(LabError::subject("loading events"))
    }
    fn ask(&mut self, ask: &Ask) -> Result<Answer> {
        let Some(pipeline) = pipeline(ask) else {
            let answered = if *ask == (Ask::JsonBench { question: 3 }) { self.by_hours() } else { self.answer(ask) };
            return answered.map_err(LabError::subject("a query"));
        };
        let of = if matches!(ask, Ask::JsonBench { .. }) { &self.events } else { &self.orders };
        let rows = Pipeline::from_json(pipeline.to_string())
            .and_then(|pipeline| of.aggregate(&Query::new(), &pipeline))
            .map_err(LabError::subject("an aggregation"))?;
        grouped(ask, &rows)
    }
    fn settings(&self) -> String {
        "defaults, durability Disk; 5 indexes and one of words, made when all documents are there".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        drop(self);
        Ok(())
    }
}
