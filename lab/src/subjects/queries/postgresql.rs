//! `PostgreSQL` over loopback by `tokio-postgres`: a column of jsonb with indexes on expressions, GIN on the items, and
//! a tsvector of the notes without a language.

use std::net::SocketAddr;
use std::path::Path;

use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, NoTls, Row, Statement};

use super::Orders;
use super::events::{Event, Names};
use super::model::{Answer, Ask, Order, id, sku};
use crate::error::{LabError, Result};
use crate::servers::{Place, Process, postgresql};

const INDEXES: &str = "CREATE INDEX ON orders (((body->'customer'->>'id')::bigint));
    CREATE INDEX ON orders (((body->>'total')::bigint), number);
    CREATE INDEX ON orders ((body->>'state'), ((body->>'total')::bigint), number);
    CREATE INDEX ON orders ((body->'customer'->>'name') text_pattern_ops);
    CREATE INDEX ON orders USING gin ((body->'items') jsonb_path_ops);
    CREATE INDEX ON orders USING gin (to_tsvector('simple', body->>'note'));";
const EVENTS: &str = "CREATE INDEX ON events ((body->>'kind'), (body->'commit'->>'operation'),
    (body->'commit'->>'collection'), (body->>'did'), ((body->>'time_us')::bigint));";
const NAMES: Names = Names {
    did: "(body->>'did')",
    kind: "(body->>'kind')",
    operation: "(body->'commit'->>'operation')",
    collection: "(body->'commit'->>'collection')",
    time_us: "(body->>'time_us')::bigint",
    divided: "/",
};
/// Documents of a statement of the load.
const LOADED_AT_ONCE: usize = 1000;

type Sql<T> = std::result::Result<T, Error>;
type Parameters<'p> = &'p [&'p (dyn ToSql + Sync)];

struct Tables {
    process: Process,
    runtime: Runtime,
    client: Client,
    statements: Vec<(String, Statement)>,
}

pub(super) fn open(dir: &Path) -> Result<Box<dyn Orders>> {
    let (process, address, _) = postgresql::start(&Place { dir, traced: None })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(LabError::io("starting the client"))?;
    let client = runtime.block_on(connected(address)).map_err(LabError::subject("connecting to PostgreSQL"))?;
    Ok(Box::new(Tables { process, runtime, client, statements: Vec::new() }))
}

async fn connected(address: SocketAddr) -> Sql<Client> {
    let config = format!("host={} port={} user=lab dbname=postgres", address.ip(), address.port());
    let (client, connection) = tokio_postgres::connect(&config, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn id_of(row: &Row) -> Sql<String> {
    Ok(id(row.try_get::<_, i64>(0)?.unsigned_abs()))
}

fn group(row: &Row) -> Sql<(String, u64, u64)> {
    Ok((row.try_get(0)?, row.try_get::<_, i64>(1)?.unsigned_abs(), row.try_get::<_, i64>(2)?.unsigned_abs()))
}

impl Tables {
    fn statement(&mut self, text: &str) -> Sql<Statement> {
        if let Some((_, known)) = self.statements.iter().find(|(known, _)| known == text) {
            return Ok(known.clone());
        }
        let made = self.runtime.block_on(self.client.prepare(text))?;
        self.statements.push((text.to_owned(), made.clone()));
        Ok(made)
    }

    fn rows<T>(&mut self, text: &str, parameters: Parameters<'_>, see: fn(&Row) -> Sql<T>) -> Sql<Vec<T>> {
        let statement = self.statement(text)?;
        self.runtime.block_on(self.client.query(&statement, parameters))?.iter().map(see).collect()
    }

    fn documents(&mut self, condition: &str, parameters: Parameters<'_>) -> Sql<Answer> {
        let text = format!("SELECT number, body::text FROM orders WHERE {condition}");
        self.rows(&text, parameters, |row| Ok((id_of(row)?, row.try_get(1)?))).map(Answer::Documents)
    }

    fn ids(&mut self, condition: &str, parameter: &str) -> Sql<Answer> {
        let text = format!("SELECT number FROM orders WHERE {condition}");
        self.rows(&text, &[&parameter], id_of).map(Answer::Ids)
    }

    fn groups(&mut self, path: &str) -> Sql<Answer> {
        let text = format!(
            "SELECT {path} AS name, sum((body->>'total')::bigint)::bigint, count(*) FROM orders GROUP BY name ORDER BY \
             name"
        );
        self.grouped(&text)
    }

    fn grouped(&mut self, text: &str) -> Sql<Answer> {
        self.rows(text, &[], group).map(Answer::Groups)
    }

    fn answer(&mut self, ask: &Ask) -> Sql<Answer> {
        match ask {
            Ask::Equal { customer } => self.documents("(body->'customer'->>'id')::bigint = $1", &[&signed(*customer)]),
            Ask::Range { low, high } => {
                self.documents("(body->>'total')::bigint BETWEEN $1 AND $2", &[&signed(*low), &signed(*high)])
            }
            Ask::Or { customer, low } => self.documents(
                "(body->'customer'->>'id')::bigint = $1 OR (body->>'total')::bigint >= $2",
                &[&signed(*customer), &signed(*low)],
            ),
            Ask::In { numbers } => {
                let numbers: Vec<i64> = numbers.iter().map(|number| signed(*number)).collect();
                self.documents("number = ANY($1)", &[&numbers])
            }
            Ask::Element { sku: number, least } => {
                let sku = sku(*number);
                self.documents(
                    "body->'items' @> jsonb_build_array(jsonb_build_object('sku', $1::text)) AND EXISTS (SELECT FROM \
                     jsonb_array_elements(body->'items') AS item WHERE item->>'sku' = $1 AND (item->>'n')::bigint >= \
                     $2)",
                    &[&sku, &signed(*least)],
                )
            }
            Ask::Prefix { name } => self.documents("body->'customer'->>'name' LIKE $1", &[&format!("{name}%")]),
            Ask::Contains { part } => self.ids("body->>'note' LIKE $1", &format!("%{part}%")),
            Ask::SortByIndex { state, limit } => self.documents(
                "body->>'state' = $1 ORDER BY (body->>'total')::bigint DESC, number DESC LIMIT $2",
                &[state, &signed(*limit as u64)],
            ),
            Ask::Sort { limit } => {
                self.documents("true ORDER BY (body->>'placed')::bigint DESC LIMIT $1", &[&signed(*limit as u64)])
            }
            Ask::Page { skip, limit } => self.documents(
                "true ORDER BY (body->>'total')::bigint, number LIMIT $2 OFFSET $1",
                &[&signed(*skip as u64), &signed(*limit as u64)],
            ),
            Ask::GroupByCountry => self.groups("body->'customer'->>'country'"),
            Ask::GroupByState => self.groups("body->>'state'"),
            Ask::Distinct => self
                .rows("SELECT DISTINCT body->'customer'->>'country' AS name FROM orders ORDER BY name", &[], |row| {
                    row.try_get(0)
                })
                .map(Answer::Values),
            Ask::Words { words } => {
                self.ids("to_tsvector('simple', body->>'note') @@ plainto_tsquery('simple', $1)", &words.join(" "))
            }
            Ask::Phrase { words } => {
                self.ids("to_tsvector('simple', body->>'note') @@ phraseto_tsquery('simple', $1)", &words.join(" "))
            }
            Ask::JsonBench { question } => self.grouped(&NAMES.sql(*question)),
            Ask::Update { customer, state } => {
                let text = "UPDATE orders SET body = jsonb_set(body, '{state}', to_jsonb($2::text)) WHERE \
                            (body->'customer'->>'id')::bigint = $1";
                let statement = self.statement(text)?;
                self.runtime
                    .block_on(self.client.execute(&statement, &[&signed(*customer), state]))
                    .map(Answer::Changed)
            }
        }
    }

    /// Stores documents by their numbers, then makes indexes.
    fn load_all(&mut self, table: &str, bodies: &[String], indexes: &str) -> Sql<()> {
        let make = format!("CREATE TABLE {table} (number bigint PRIMARY KEY, body jsonb NOT NULL)");
        self.runtime.block_on(self.client.batch_execute(&make))?;
        let insert = format!(
            "INSERT INTO {table} SELECT number, body::jsonb FROM unnest($1::bigint[], $2::text[]) AS given (number, \
             body)"
        );
        let statement = self.statement(&insert)?;
        let mut numbers = 0_i64..;
        for bodies in bodies.chunks(LOADED_AT_ONCE) {
            let numbers: Vec<i64> = numbers.by_ref().take(bodies.len()).collect();
            self.runtime.block_on(self.client.execute(&statement, &[&numbers, &bodies]))?;
        }
        self.runtime.block_on(self.client.batch_execute(indexes))?;
        self.runtime.block_on(self.client.batch_execute("VACUUM ANALYZE"))
    }
}

impl Orders for Tables {
    fn load(&mut self, orders: &[Order]) -> Result<()> {
        let bodies: Vec<String> = orders.iter().map(|order| order.document().to_string()).collect();
        self.load_all("orders", &bodies, INDEXES).map_err(LabError::subject("loading"))
    }
    fn load_events(&mut self, events: &[Event]) -> Result<()> {
        let bodies: Vec<String> = events.iter().map(Event::document).collect();
        self.load_all("events", &bodies, EVENTS).map_err(LabError::subject("loading events"))
    }
    fn ask(&mut self, ask: &Ask) -> Result<Answer> {
        self.answer(ask).map_err(LabError::subject("a query"))
    }
    fn settings(&self) -> String {
        format!(
            "{}; a column of jsonb, 4 indexes on expressions, GIN (jsonb_path_ops) on items, GIN of to_tsvector \
             without a language; VACUUM ANALYZE",
            postgresql::SETTINGS
        )
    }
    fn close(self: Box<Self>) -> Result<()> {
        let Tables { process, runtime, client, .. } = *self;
        // The connection is a task of the runtime, and ends with it.
        drop((client, runtime));
        process.stop()
    }
}
