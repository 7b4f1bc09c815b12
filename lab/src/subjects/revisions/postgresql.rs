//! `PostgreSQL` over loopback by `tokio-postgres`: a table of the present, and a table of history with the span of
//! moments in which each version held. A trigger fills it in the writer's transaction.

use std::net::SocketAddr;
use std::path::Path;

use tokio::runtime::Runtime;
use tokio_postgres::types::{FromSqlOwned, ToSql};
use tokio_postgres::{Client, Error, NoTls, Statement};

use super::{Numbered, Revisions, branch_name, signed};
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
    statements: Vec<(String, Statement)>,
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

/// One statement, which is a transaction: each row that is changed is kept as it was at the fork.
fn write_on_branch(branch: &str) -> String {
    format!(
        "WITH given AS MATERIALIZED (SELECT number, body::jsonb AS body FROM unnest($1::bigint[], $2::text[])
            AS given (number, body)), kept AS (INSERT INTO {branch}_base SELECT {branch}.* FROM {branch}
            JOIN given USING (number) ON CONFLICT DO NOTHING)
         INSERT INTO {branch} SELECT * FROM given ON CONFLICT (number) DO UPDATE SET body = excluded.body RETURNING \
         number"
    )
}

/// A row of the main line is changed only where the branch has changed it.
fn merge_of(branch: &str) -> String {
    format!(
        "BEGIN; SELECT nextval('moment');
         UPDATE accounts SET body = own.body FROM {branch} AS own JOIN {branch}_base AS base USING (number)
         WHERE own.number = accounts.number AND own.body <> base.body; COMMIT;"
    )
}

impl Tables {
    fn batch(&self, what: &str, text: &str) -> Result<()> {
        self.runtime.block_on(self.client.batch_execute(text)).map_err(LabError::subject(what))
    }

    fn rows(&mut self, table: &str, from: u64, count: u64) -> Sql<Vec<Numbered>> {
        let text = format!("SELECT number, body::text FROM {table} WHERE number >= $1 ORDER BY number LIMIT $2");
        let statement = self.statement(&text)?;
        let rows = self.runtime.block_on(self.client.query(&statement, &[&signed(from), &signed(count)]))?;
        rows.iter().map(|row| Ok((row.try_get::<_, i64>(0)?.unsigned_abs(), row.try_get(1)?))).collect()
    }

    fn statement(&mut self, text: &str) -> Sql<Statement> {
        if let Some((_, known)) = self.statements.iter().find(|(known, _)| known == text) {
            return Ok(known.clone());
        }
        let made = self.runtime.block_on(self.client.prepare(text))?;
        self.statements.push((text.to_owned(), made.clone()));
        Ok(made)
    }

    fn column<T: FromSqlOwned>(&mut self, text: &str, parameters: Parameters<'_>) -> Sql<Vec<T>> {
        let statement = self.statement(text)?;
        let rows = self.runtime.block_on(self.client.query(&statement, parameters))?;
        rows.iter().map(|row| row.try_get(0)).collect()
    }

    fn numbers(&mut self, what: &str, text: &str, parameters: Parameters<'_>) -> Result<Vec<u64>> {
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
    fn fork(&mut self, branch: u64) -> Result<()> {
        let name = branch_name(branch);
        let text = format!(
            "BEGIN; CREATE TABLE {name} AS SELECT * FROM accounts; ALTER TABLE {name} ADD PRIMARY KEY (number);
             CREATE TABLE {name}_base (number bigint PRIMARY KEY, body jsonb NOT NULL); COMMIT;"
        );
        self.batch("copying a table", &text)
    }
    fn write_on(&mut self, branch: u64, documents: &[Numbered]) -> Result<()> {
        let numbers: Vec<i64> = documents.iter().map(|(number, _)| signed(*number)).collect();
        let bodies: Vec<&str> = documents.iter().map(|(_, body)| body.as_str()).collect();
        let text = write_on_branch(&branch_name(branch));
        self.numbers("a transaction on a branch", &text, &[&numbers, &bodies]).map(drop)
    }
    fn newest_on(&mut self, branch: u64, number: u64) -> Result<Option<String>> {
        let text = format!("SELECT body::text FROM {} WHERE number = $1", branch_name(branch));
        Ok(self.column(&text, &[&signed(number)]).map_err(LabError::subject("reading a branch"))?.pop())
    }
    fn range(&mut self, branch: Option<u64>, from: u64, count: u64) -> Result<Vec<Numbered>> {
        let table = branch.map_or_else(|| "accounts".to_owned(), branch_name);
        self.rows(&table, from, count).map_err(LabError::subject("reading in order"))
    }
    fn differing(&mut self, branch: u64) -> Result<Vec<u64>> {
        let text = format!(
            "SELECT number FROM accounts JOIN {} AS own USING (number) WHERE own.body <> accounts.body",
            branch_name(branch)
        );
        self.numbers("comparing a branch", &text, &[])
    }
    fn merge(&mut self, branch: u64) -> Result<()> {
        self.batch("merging", &merge_of(&branch_name(branch)))
    }
    fn bytes(&mut self) -> Result<u64> {
        let settled = self.runtime.block_on(self.client.batch_execute("VACUUM FULL ANALYZE accounts, history"));
        settled.map_err(LabError::subject("VACUUM"))?;
        let text = "SELECT (pg_total_relation_size('accounts') + pg_total_relation_size('history'))::bigint";
        Ok(self.numbers("a size", text, &[])?.first().copied().unwrap_or_default())
    }
    fn settings(&self) -> String {
        format!(
            "{}; jsonb; a table of history by a trigger, with indexes by number and by state; a branch is a copy of \
             the table of the present, and of each row that it changes as it was; the size is that of both \
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
