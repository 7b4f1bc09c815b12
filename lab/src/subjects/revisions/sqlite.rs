//! `SQLite` in this process, as those do it who need versions: a table of the present, and a table of history with the
//! span of moments in which each version held. Triggers fill it in the writer's transaction.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _};

use super::{Numbered, Revisions, branch_name, signed};
use crate::error::{LabError, Result};
use crate::measure::filesystem::bytes_on_disk;

const TABLES: &str = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-262144;
    CREATE TABLE moment (now INTEGER NOT NULL);
    INSERT INTO moment VALUES (0);
    CREATE TABLE accounts (number INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE history (number INTEGER NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL, body TEXT NOT NULL);
    CREATE UNIQUE INDEX by_number ON history (number, since);
    CREATE INDEX by_state ON history (body->>'$.state', since, until, number);
    CREATE TRIGGER made AFTER INSERT ON accounts BEGIN
        INSERT INTO history SELECT new.number, now, 9223372036854775807, new.body FROM moment;
    END;
    CREATE TRIGGER changed AFTER UPDATE ON accounts BEGIN
        UPDATE history SET until = (SELECT now FROM moment) WHERE number = new.number
            AND since = (SELECT max(since) FROM history WHERE number = new.number);
        INSERT INTO history SELECT new.number, now, 9223372036854775807, new.body FROM moment;
    END;";

type Sql<T> = rusqlite::Result<T>;

struct Tables {
    dir: PathBuf,
    connection: Connection,
}

pub(super) fn open(dir: &Path) -> Result<Box<dyn Revisions>> {
    let dir = dir.join("sqlite");
    std::fs::create_dir_all(&dir).map_err(LabError::io("making a folder"))?;
    let connection = Connection::open(dir.join("accounts.sqlite")).map_err(LabError::subject("opening the file"))?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch(TABLES).map_err(LabError::subject("making the tables"))?;
    Ok(Box::new(Tables { dir, connection }))
}

/// A row of the main line is changed only where the branch has changed it: against its copy of the fork.
fn merge_of(branch: &str) -> String {
    format!(
        "UPDATE accounts SET body = own.body FROM {branch} AS own JOIN {branch}_base AS base USING (number)
         WHERE own.number = accounts.number AND own.body <> base.body"
    )
}

impl Tables {
    /// Rows are changed in a table of the branch's own, which is a copy, and kept as they were at the fork beside it.
    fn copy(&self, branch: &str) -> Sql<()> {
        self.connection.execute_batch(&format!(
            "BEGIN; CREATE TABLE {branch} (number INTEGER PRIMARY KEY, body TEXT NOT NULL);
             INSERT INTO {branch} SELECT * FROM accounts;
             CREATE TABLE {branch}_base (number INTEGER PRIMARY KEY, body TEXT NOT NULL); COMMIT;"
        ))
    }

    fn put_on(&mut self, branch: &str, documents: &[Numbered]) -> Sql<()> {
        let transaction = self.connection.transaction()?;
        {
            let base = format!("INSERT OR IGNORE INTO {branch}_base SELECT * FROM {branch} WHERE number = ?1");
            let mut base = transaction.prepare_cached(&base)?;
            let write =
                format!("INSERT INTO {branch} VALUES (?1, ?2) ON CONFLICT (number) DO UPDATE SET body = excluded.body");
            let mut write = transaction.prepare_cached(&write)?;
            for (number, body) in documents {
                base.execute([signed(*number)])?;
                write.execute((signed(*number), body))?;
            }
        }
        transaction.commit()
    }

    fn take_over(&mut self, branch: &str) -> Sql<()> {
        let transaction = self.connection.transaction()?;
        transaction.execute("UPDATE moment SET now = now + 1", [])?;
        transaction.execute(&merge_of(branch), [])?;
        transaction.commit()
    }

    fn rows(&self, table: &str, from: u64, count: u64) -> Sql<Vec<Numbered>> {
        let text = format!("SELECT number, body FROM {table} WHERE number >= ?1 ORDER BY number LIMIT ?2");
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?));
        self.connection.prepare_cached(&text)?.query_map((signed(from), signed(count)), row)?.collect()
    }

    fn put(&mut self, documents: &[Numbered]) -> Sql<u64> {
        let transaction = self.connection.transaction()?;
        let now: i64 = transaction
            .prepare_cached("UPDATE moment SET now = now + 1 RETURNING now")?
            .query_row([], |row| row.get(0))?;
        {
            let mut statement = transaction.prepare_cached(
                "INSERT INTO accounts VALUES (?1, ?2) ON CONFLICT (number) DO UPDATE SET body = excluded.body",
            )?;
            for (number, body) in documents {
                statement.execute((signed(*number), body))?;
            }
        }
        transaction.commit()?;
        Ok(now.unsigned_abs())
    }

    fn body(&self, number: u64, moment: u64) -> Sql<Option<String>> {
        let text = "SELECT body FROM history WHERE number = ?1 AND since <= ?2 ORDER BY since DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(text)?;
        statement.query_row((signed(number), signed(moment)), |row| row.get(0)).optional()
    }

    fn numbers(&self, text: &str, parameters: impl rusqlite::Params) -> Sql<Vec<i64>> {
        self.connection.prepare_cached(text)?.query_map(parameters, |row| row.get(0))?.collect()
    }
}

fn unsigned(numbers: Vec<i64>) -> Vec<u64> {
    numbers.into_iter().map(i64::unsigned_abs).collect()
}

impl Revisions for Tables {
    fn write(&mut self, documents: &[Numbered]) -> Result<u64> {
        self.put(documents).map_err(LabError::subject("a transaction"))
    }
    fn newest(&mut self, number: u64) -> Result<Option<String>> {
        let statement = self.connection.prepare_cached("SELECT body FROM accounts WHERE number = ?1");
        let found = statement.and_then(|mut now| now.query_row([signed(number)], |row| row.get(0)).optional());
        found.map_err(LabError::subject("reading"))
    }
    fn as_of(&mut self, number: u64, moment: u64) -> Result<Option<String>> {
        self.body(number, moment).map_err(LabError::subject("reading the past"))
    }
    fn list(&mut self, number: u64) -> Result<Vec<u64>> {
        let text = "SELECT since FROM history WHERE number = ?1 ORDER BY since";
        self.numbers(text, [signed(number)]).map(unsigned).map_err(LabError::subject("listing versions"))
    }
    fn member(&mut self, number: u64) -> Result<Vec<i64>> {
        let text = "SELECT body->>'$.balance' FROM history WHERE number = ?1 ORDER BY since";
        self.numbers(text, [signed(number)]).map_err(LabError::subject("reading versions"))
    }
    fn in_state(&mut self, state: &str, moment: u64) -> Result<Vec<u64>> {
        let text =
            "SELECT number FROM history WHERE body->>'$.state' = ?1 AND since <= ?2 AND until > ?2 ORDER BY number";
        self.numbers(text, (state, signed(moment))).map(unsigned).map_err(LabError::subject("a query of the past"))
    }
    fn fork(&mut self, branch: u64) -> Result<()> {
        self.copy(&branch_name(branch)).map_err(LabError::subject("copying a table"))
    }
    fn write_on(&mut self, branch: u64, documents: &[Numbered]) -> Result<()> {
        self.put_on(&branch_name(branch), documents).map_err(LabError::subject("a transaction on a branch"))
    }
    fn newest_on(&mut self, branch: u64, number: u64) -> Result<Option<String>> {
        let text = format!("SELECT body FROM {} WHERE number = ?1", branch_name(branch));
        let statement = self.connection.prepare_cached(&text);
        let found = statement.and_then(|mut now| now.query_row([signed(number)], |row| row.get(0)).optional());
        found.map_err(LabError::subject("reading a branch"))
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
        self.numbers(&text, []).map(unsigned).map_err(LabError::subject("comparing a branch"))
    }
    fn merge(&mut self, branch: u64) -> Result<()> {
        self.take_over(&branch_name(branch)).map_err(LabError::subject("merging"))
    }
    fn bytes(&mut self) -> Result<u64> {
        let settle = "PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE); ANALYZE;";
        self.connection.execute_batch(settle).map_err(LabError::subject("VACUUM"))?;
        bytes_on_disk(&self.dir)
    }
    fn settings(&self) -> String {
        "WAL, synchronous=FULL, a cache of 256 MiB; a table of history by triggers, with indexes by number and by \
         state; a branch is a copy of the table of the present, and of \
         each row that it changes as it was; VACUUM and ANALYZE before its size is read"
            .to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.connection.close().map_err(|(_, error)| LabError::subject("closing")(error))
    }
}
