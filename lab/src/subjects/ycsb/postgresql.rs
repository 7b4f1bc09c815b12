//! `PostgreSQL`: a column of jsonb, a connection a client.

use std::net::SocketAddr;
use std::path::Path;

use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, NoTls, Row, Statement};

use super::{Owner, Record, Records, Shared, address};
use crate::error::{LabError, Result};
use crate::servers::{Place, Process, postgresql};

const TABLE: &str = "CREATE TABLE records (id text COLLATE \"C\" PRIMARY KEY, body jsonb NOT NULL)";
const STATEMENTS: [&str; 5] = [
    "INSERT INTO records SELECT id, body::jsonb FROM unnest($1::text[], $2::text[]) AS given (id, body)",
    "SELECT body::text FROM records WHERE id = $1",
    "UPDATE records SET body = jsonb_set(body, ARRAY[$2::text], to_jsonb($3::text)) WHERE id = $1",
    "INSERT INTO records VALUES ($1, $2::text::jsonb)",
    "SELECT id, body::text FROM records WHERE id >= $1 ORDER BY id LIMIT $2",
];

type Sql<T> = std::result::Result<T, Error>;

struct Owned {
    process: Process,
    address: SocketAddr,
}

pub(super) fn own(dir: &Path) -> Result<Box<dyn Owner>> {
    let (process, address, fresh) = postgresql::start(&Place { dir, traced: None })?;
    if fresh {
        let (runtime, client) = connect(address)?;
        runtime.block_on(client.batch_execute(TABLE)).map_err(LabError::subject("making the table"))?;
    }
    Ok(Box::new(Owned { process, address }))
}

pub(super) fn join(place: &str) -> Result<Box<dyn Shared>> {
    Ok(Box::new(Joined(address(place)?)))
}

fn connect(address: SocketAddr) -> Result<(Runtime, Client)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(LabError::io("starting the client"))?;
    let config = format!("host={} port={} user=lab dbname=postgres", address.ip(), address.port());
    let connected = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&config, NoTls).await?;
        tokio::spawn(connection);
        Ok::<_, Error>(client)
    });
    Ok((runtime, connected.map_err(LabError::subject("connecting to PostgreSQL"))?))
}

impl Owner for Owned {
    fn place(&self) -> String {
        self.address.to_string()
    }
    fn settings(&self) -> String {
        format!("{}, a client; jsonb_set replaces a field", postgresql::SETTINGS)
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.process.stop()
    }
}

struct Joined(SocketAddr);

impl Shared for Joined {
    fn client(&self) -> Result<Box<dyn Records + '_>> {
        let (runtime, client) = connect(self.0)?;
        let prepare = || STATEMENTS.iter().map(|text| runtime.block_on(client.prepare(text))).collect::<Sql<_>>();
        let statements = prepare().map_err(LabError::subject("preparing statements"))?;
        Ok(Box::new(Table { runtime, client, statements }))
    }
}

struct Table {
    runtime: Runtime,
    client: Client,
    statements: Vec<Statement>,
}

impl Table {
    fn rows(&self, statement: usize, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        let none = || LabError::Worker { what: format!("there is no statement {statement}") };
        let statement = self.statements.get(statement).ok_or_else(none)?;
        self.runtime.block_on(self.client.query(statement, parameters)).map_err(LabError::subject("a statement"))
    }
}

fn text(row: &Row, at: usize) -> Result<String> {
    row.try_get(at).map_err(LabError::subject("a row"))
}

impl Records for Table {
    fn load(&mut self, records: &[(String, String)]) -> Result<()> {
        let (ids, bodies): (Vec<&str>, Vec<&str>) =
            records.iter().map(|(id, body)| (id.as_str(), body.as_str())).unzip();
        self.rows(0, &[&ids, &bodies]).map(drop)
    }
    fn read(&mut self, id: &str) -> Result<Option<Record>> {
        self.rows(1, &[&id])?.first().map(|row| text(row, 0).map(Record::Json)).transpose()
    }
    fn update(&mut self, id: &str, field: &str, value: &str) -> Result<()> {
        self.rows(2, &[&id, &field, &value]).map(drop)
    }
    fn insert(&mut self, id: &str, record: &str) -> Result<()> {
        self.rows(3, &[&id, &record]).map(drop)
    }
    fn scan(&mut self, first: &str, count: usize) -> Result<Vec<(String, Record)>> {
        let rows = self.rows(4, &[&first, &i64::try_from(count).unwrap_or(i64::MAX)])?;
        rows.iter().map(|row| Ok((text(row, 0)?, Record::Json(text(row, 1)?)))).collect()
    }
}
