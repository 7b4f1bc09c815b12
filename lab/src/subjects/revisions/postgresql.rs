//! `PostgreSQL` over loopback by `tokio-postgres`: a table of the present, and a table of history with the span of
//! moments in which each version held. A trigger fills it in the writer's transaction.

use std::net::SocketAddr;
use std::path::Path;

use tokio::runtime::Runtime;
use tokio_postgres::types::{FromSqlOwned, ToSql};
use tokio_postgres::{Client, Error, NoTls, Statement};

use super::{Numbered, Revisions, signed};
use crate::error::{LabError, Result};
use crate::servers::{Place, Process, postgresql};

const TABLES: &str = "CREATE SEQUENCE moment;
    CREATE TABLE accounts (number bigint PRIMARY KEY, body jsonb NOT NULL);
    CREATE TABLE history (number bigint NOT NULL, since bigint NOT NULL, until bigint NOT NULL, body jsonb NOT NULL);
    CREATE UNIQUE INDEX ON history (number, since);
    CREATE INDEX ON history ((body->>'state'), since, until, number);
    CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE now bigint := currval('moment');
    BEGIN
        IF TG_OP = 'UPDATE' THEN
            UPDATE history SET until = now WHERE number = NEW.number
                AND since = (SELECT max(since) FROM history WHERE number = NEW.number);
        END IF;
        INSERT INTO history VALUES (NEW.number, now, 9223372036854775807, NEW.body);
        RETURN NULL;
    END $$;
    CREATE TRIGGER kept AFTER INSERT OR UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION keep();";
/// The moment is taken and the rows are written by one statement, which is a transaction.
const WRITE: &str = "WITH moment AS MATERIALIZED (SELECT nextval('moment') AS now), written AS (
        INSERT INTO accounts SELECT number, body::jsonb
        FROM moment, unnest($1::bigint[], $2::text[]) AS given (number, body)
        WHERE now > 0 ON CONFLICT (number) DO UPDATE SET body = excluded.body RETURNING 1)
    SELECT now FROM moment, (SELECT count(*) FROM written) AS all_of_them";

type Sql<T> = std::result::Result<T, Error>;
type Parameters<'p> = &'p [&'p (dyn ToSql + Sync)];

struct Tables {
    process: Process,
    runtime: Runtime,
    client: Client,
    statements: Vec<(&'static str, Statement)>,
}

pub(super) fn open(dir: &Path) -> Result<Box<dyn Revisions>> {
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
    client.batch_execute(TABLES).await?;
    Ok(client)
}

impl Tables {
    fn statement(&mut self, text: &'static str) -> Sql<Statement> {
        if let Some((_, known)) = self.statements.iter().find(|(known, _)| *known == text) {
            return Ok(known.clone());
        }
        let made = self.runtime.block_on(self.client.prepare(text))?;
        self.statements.push((text, made.clone()));
        Ok(made)
    }

    fn column<T: FromSqlOwned>(&mut self, text: &'static str, parameters: Parameters<'_>) -> Sql<Vec<T>> {
        let statement = self.statement(text)?;
        let rows = self.runtime.block_on(self.client.query(&statement, parameters))?;
        rows.iter().map(|row| row.try_get(0)).collect()
    }

    fn numbers(&mut self, what: &str, text: &'static str, parameters: Parameters<'_>) -> Result<Vec<u64>> {
        let found: Vec<i64> = self.column(text, parameters).map_err(LabError::subject(what))?;
        Ok(found.into_iter().map(i64::unsigned_abs).collect())
    }
}

impl Revisions for Tables {
    fn write(&mut self, documents: &[Numbered]) -> Result<u64> {
        let numbers: Vec<i64> = documents.iter().map(|(number, _)| signed(*number)).collect();
        let bodies: Vec<&str> = documents.iter().map(|(_, body)| body.as_str()).collect();
        let moments = self.numbers("a transaction", WRITE, &[&numbers, &bodies])?;
        moments.first().copied().ok_or_else(|| LabError::Worker { what: "a transaction has no moment".to_owned() })
    }
    fn newest(&mut self, number: u64) -> Result<Option<String>> {
        let found = self.column("SELECT body::text FROM accounts WHERE number = $1", &[&signed(number)]);
        Ok(found.map_err(LabError::subject("reading"))?.pop())
    }
    fn as_of(&mut self, number: u64, moment: u64) -> Result<Option<String>> {
        let text = "SELECT body::text FROM history WHERE number = $1 AND since <= $2 ORDER BY since DESC LIMIT 1";
        let found = self.column(text, &[&signed(number), &signed(moment)]);
        Ok(found.map_err(LabError::subject("reading the past"))?.pop())
    }
    fn list(&mut self, number: u64) -> Result<Vec<u64>> {
        let text = "SELECT since FROM history WHERE number = $1 ORDER BY since";
        self.numbers("listing versions", text, &[&signed(number)])
    }
    fn member(&mut self, number: u64) -> Result<Vec<i64>> {
        let text = "SELECT (body->>'balance')::bigint FROM history WHERE number = $1 ORDER BY since";
        self.column(text, &[&signed(number)]).map_err(LabError::subject("reading versions"))
    }
    fn in_state(&mut self, state: &str, moment: u64) -> Result<Vec<u64>> {
        let text =
            "SELECT number FROM history WHERE body->>'state' = $1 AND since <= $2 AND until > $2 ORDER BY number";
        self.numbers("a query of the past", text, &[&state, &signed(moment)])
    }
    fn bytes(&mut self) -> Result<u64> {
        let settled = self.runtime.block_on(self.client.batch_execute("VACUUM FULL ANALYZE accounts, history"));
        settled.map_err(LabError::subject("VACUUM"))?;
        let text = "SELECT (pg_total_relation_size('accounts') + pg_total_relation_size('history'))::bigint";
        Ok(self.numbers("a size", text, &[])?.first().copied().unwrap_or_default())
    }
    fn settings(&self) -> String {
        format!(
            "{}; jsonb; a table of history by a trigger, with indexes by number and by state; the size is that of both \
             tables with their indexes after VACUUM FULL, without the log",
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
