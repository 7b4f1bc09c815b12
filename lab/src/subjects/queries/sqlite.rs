//! `SQLite` in this process: a column of JSON with indexes on expressions, items in a table of their own (no index of
//! `SQLite` is on an array's elements), and the notes in FTS5 without a copy of their texts. Triggers keep both.

use std::path::Path;

use rusqlite::{Connection, Row, ToSql};

use super::Orders;
use super::events::{Event, Names};
use super::model::{Answer, Ask, Order, id, sku};
use crate::error::{LabError, Result};

const TABLES: &str = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-262144;
    CREATE TABLE orders (number INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE items (sku TEXT NOT NULL, number INTEGER NOT NULL, n INTEGER NOT NULL);
    CREATE VIRTUAL TABLE notes USING fts5(note, content='', tokenize='unicode61');";
const INDEXES: &str = "CREATE INDEX by_customer ON orders (body->>'$.customer.id');
    CREATE INDEX by_total ON orders (body->>'$.total');
    CREATE INDEX by_state ON orders (body->>'$.state', body->>'$.total');
    CREATE INDEX by_name ON orders (body->>'$.customer.name');
    CREATE INDEX by_sku ON items (sku, n, number);
    CREATE TRIGGER stored AFTER UPDATE ON orders BEGIN
        DELETE FROM items WHERE sku IN (SELECT value->>'$.sku' FROM json_each(old.body, '$.items'))
            AND number = old.number;
        INSERT INTO items SELECT value->>'$.sku', new.number, value->>'$.n' FROM json_each(new.body, '$.items');
        INSERT INTO notes (notes, rowid, note) SELECT 'delete', old.number, old.body->>'$.note'
            WHERE old.body->>'$.note' <> new.body->>'$.note';
        INSERT INTO notes (rowid, note) SELECT new.number, new.body->>'$.note'
            WHERE old.body->>'$.note' <> new.body->>'$.note';
    END;
    ANALYZE;";

const EVENTS: &str = "CREATE INDEX by_event ON events (body->>'$.kind', body->>'$.commit.operation',
        body->>'$.commit.collection', body->>'$.did', body->>'$.time_us');
    ANALYZE;";
const NAMES: Names = Names {
    did: "(body->>'$.did')",
    kind: "(body->>'$.kind')",
    operation: "(body->>'$.commit.operation')",
    collection: "(body->>'$.commit.collection')",
    time_us: "(body->>'$.time_us')",
    divided: "/",
};

struct Tables(Connection);

type Sql<T> = rusqlite::Result<T>;

pub(super) fn open(dir: &Path) -> Result<Box<dyn Orders>> {
    let connection = Connection::open(dir.join("orders.sqlite")).map_err(LabError::subject("opening the file"))?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch(TABLES).map_err(LabError::subject("making the tables"))?;
    Ok(Box::new(Tables(connection)))
}

/// What comes before the end of every name that begins so.
fn behind(prefix: &str) -> String {
    format!("{prefix}\u{10ffff}")
}

impl Tables {
    fn load_all(&mut self, orders: &[Order]) -> Sql<()> {
        let transaction = self.0.transaction()?;
        for order in orders {
            let number = signed(order.number);
            let body = order.document().to_string();
            transaction.prepare_cached("INSERT INTO orders VALUES (?1, ?2)")?.execute((number, body))?;
            transaction
                .prepare_cached("INSERT INTO notes (rowid, note) VALUES (?1, ?2)")?
                .execute((number, &order.note))?;
            for item in &order.items {
                let row = (sku(item.sku), number, signed(item.n));
                transaction.prepare_cached("INSERT INTO items VALUES (?1, ?2, ?3)")?.execute(row)?;
            }
        }
        transaction.commit()?;
        self.0.execute_batch(INDEXES)
    }

    fn rows<T>(&self, text: &str, parameters: &[&dyn ToSql], see: fn(&Row<'_>) -> Sql<T>) -> Sql<Vec<T>> {
        self.0.prepare_cached(text)?.query_map(parameters, see)?.collect()
    }

    fn documents(&self, condition: &str, parameters: &[&dyn ToSql]) -> Sql<Answer> {
        let text = format!("SELECT number, body FROM orders WHERE {condition}");
        self.rows(&text, parameters, |row| Ok((id_of(row)?, row.get(1)?))).map(Answer::Documents)
    }

    fn ids(&self, text: &str, parameters: &[&dyn ToSql]) -> Sql<Answer> {
        self.rows(text, parameters, id_of).map(Answer::Ids)
    }

    fn groups(&self, path: &str) -> Sql<Answer> {
        let text = format!(
            "SELECT body->>'{path}' AS name, sum(body->>'$.total'), count(*) FROM orders GROUP BY name ORDER BY name"
        );
        self.grouped(&text)
    }

    fn grouped(&self, text: &str) -> Sql<Answer> {
        self.rows(text, &[], |row| Ok((row.get(0)?, unsigned(row, 1)?, unsigned(row, 2)?))).map(Answer::Groups)
    }

    fn load_all_events(&mut self, events: &[Event]) -> Sql<()> {
        let transaction = self.0.transaction()?;
        transaction.execute_batch("CREATE TABLE events (number INTEGER PRIMARY KEY, body TEXT NOT NULL)")?;
        for event in events {
            transaction.prepare_cached("INSERT INTO events (body) VALUES (?1)")?.execute([event.document()])?;
        }
        transaction.commit()?;
        self.0.execute_batch(EVENTS)
    }

    fn answer(&self, ask: &Ask) -> Sql<Answer> {
        match ask {
            Ask::Equal { customer } => self.documents("body->>'$.customer.id' = ?1", &[&signed(*customer)]),
            Ask::Range { low, high } => {
                self.documents("body->>'$.total' BETWEEN ?1 AND ?2", &[&signed(*low), &signed(*high)])
            }
            Ask::Or { customer, low } => self.documents(
                "body->>'$.customer.id' = ?1 OR body->>'$.total' >= ?2",
                &[&signed(*customer), &signed(*low)],
            ),
            Ask::In { numbers } => {
                let list = serde_json::to_string(numbers).unwrap_or_default();
                self.documents("number IN (SELECT value FROM json_each(?1))", &[&list])
            }
            Ask::Element { sku: number, least } => self.documents(
                "number IN (SELECT number FROM items WHERE sku = ?1 AND n >= ?2)",
                &[&sku(*number), &signed(*least)],
            ),
            Ask::Prefix { name } => self
                .documents("body->>'$.customer.name' >= ?1 AND body->>'$.customer.name' < ?2", &[name, &behind(name)]),
            Ask::Contains { part } => {
                self.ids("SELECT number FROM orders WHERE instr(body->>'$.note', ?1) > 0", &[part])
            }
            Ask::SortByIndex { state, limit } => self.documents(
                "body->>'$.state' = ?1 ORDER BY body->>'$.total' DESC, number DESC LIMIT ?2",
                &[state, &signed(*limit as u64)],
            ),
            Ask::Sort { limit } => {
                self.documents("true ORDER BY body->>'$.placed' DESC LIMIT ?1", &[&signed(*limit as u64)])
            }
            Ask::Page { skip, limit } => self.documents(
                "true ORDER BY body->>'$.total', number LIMIT ?2 OFFSET ?1",
                &[&signed(*skip as u64), &signed(*limit as u64)],
            ),
            Ask::GroupByCountry => self.groups("$.customer.country"),
            Ask::GroupByState => self.groups("$.state"),
            Ask::Distinct => self
                .rows("SELECT DISTINCT body->>'$.customer.country' AS name FROM orders ORDER BY name", &[], |row| {
                    row.get(0)
                })
                .map(Answer::Values),
            Ask::Words { words } => self.ids("SELECT rowid FROM notes WHERE notes MATCH ?1", &[&words.join(" AND ")]),
            Ask::Phrase { words } => {
                self.ids("SELECT rowid FROM notes WHERE notes MATCH ?1", &[&format!("\"{}\"", words.join(" "))])
            }
            Ask::JsonBench { question } => self.grouped(&NAMES.sql(*question)),
            Ask::Update { customer, state } => {
                let text = "UPDATE orders SET body = json_set(body, '$.state', ?2) WHERE body->>'$.customer.id' = ?1";
                let changed = self.0.prepare_cached(text)?.execute((signed(*customer), state))?;
                Ok(Answer::Changed(changed as u64))
            }
        }
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(row: &Row<'_>, at: usize) -> Sql<u64> {
    row.get::<_, i64>(at).map(i64::unsigned_abs)
}

fn id_of(row: &Row<'_>) -> Sql<String> {
    unsigned(row, 0).map(id)
}

impl Orders for Tables {
    fn load(&mut self, orders: &[Order]) -> Result<()> {
        self.load_all(orders).map_err(LabError::subject("loading"))
    }
    fn load_events(&mut self, events: &[Event]) -> Result<()> {
        self.load_all_events(events).map_err(LabError::subject("loading events"))
    }
    fn ask(&mut self, ask: &Ask) -> Result<Answer> {
        self.answer(ask).map_err(LabError::subject("a query"))
    }
    fn settings(&self) -> String {
        "WAL, synchronous=FULL, a cache of 256 MiB; a column of JSON, 4 indexes on expressions, items in a table of \
         their own, FTS5 without contents; loaded in one transaction, indexes then, ANALYZE"
            .to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.0.close().map_err(|(_, error)| LabError::subject("closing")(error))
    }
}
