//! `SQLite` with its log ahead of the file: a column of JSON, a connection a client.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::{Owner, Record, Records, Shared};
use crate::error::{LabError, Result};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS records (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID";
const SETTINGS: &str = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=60000;";

type Sql<T> = rusqlite::Result<T>;

struct Owned {
    connection: Connection,
    file: PathBuf,
}

fn connect(file: &Path) -> Result<Connection> {
    let connect = || {
        let connection = Connection::open(file)?;
        connection.execute_batch(SETTINGS).map(|()| connection)
    };
    connect().map_err(LabError::subject("opening the file"))
}

pub(super) fn own(dir: &Path) -> Result<Box<dyn Owner>> {
    let file = dir.join("records.sqlite");
    let connection = connect(&file)?;
    connection.execute_batch(TABLE).map_err(LabError::subject("making the table"))?;
    Ok(Box::new(Owned { connection, file }))
}

pub(super) fn join(place: &str) -> Box<dyn Shared> {
    Box::new(Joined(PathBuf::from(place)))
}

impl Owner for Owned {
    fn place(&self) -> String {
        self.file.display().to_string()
    }
    fn settings(&self) -> String {
        "WAL, synchronous=FULL, a connection a client, statements prepared once; json_set replaces a field".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.connection.close().map_err(|(_, error)| LabError::subject("closing")(error))
    }
}

struct Joined(PathBuf);

impl Shared for Joined {
    fn client(&self) -> Result<Box<dyn Records + '_>> {
        Ok(Box::new(Table(connect(&self.0)?)))
    }
}

struct Table(Connection);

impl Table {
    fn write(&mut self, write: impl FnOnce(&Connection) -> Sql<()>) -> Sql<()> {
        let transaction = self.0.transaction_with_behavior(TransactionBehavior::Immediate)?;
        write(&transaction)?;
        transaction.commit()
    }
}

fn insert(connection: &Connection, id: &str, record: &str) -> Sql<()> {
    connection.prepare_cached("INSERT INTO records VALUES (?1, ?2)")?.execute((id, record)).map(drop)
}

fn limit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Records for Table {
    fn load(&mut self, records: &[(String, String)]) -> Result<()> {
        let load = |connection: &Connection| records.iter().try_for_each(|(id, record)| insert(connection, id, record));
        self.write(load).map_err(LabError::subject("loading"))
    }
    fn read(&mut self, id: &str) -> Result<Option<Record>> {
        let read = || {
            let mut statement = self.0.prepare_cached("SELECT body FROM records WHERE id = ?1")?;
            statement.query_row([id], |row| row.get(0)).optional()
        };
        Ok(read().map_err(LabError::subject("a read"))?.map(Record::Json))
    }
    fn update(&mut self, id: &str, field: &str, value: &str) -> Result<()> {
        let text = "UPDATE records SET body = json_set(body, '$.' || ?2, ?3) WHERE id = ?1";
        let update = |connection: &Connection| connection.prepare_cached(text)?.execute((id, field, value)).map(drop);
        self.write(update).map_err(LabError::subject("an update"))
    }
    fn insert(&mut self, id: &str, record: &str) -> Result<()> {
        self.write(|connection| insert(connection, id, record)).map_err(LabError::subject("an insert"))
    }
    fn scan(&mut self, first: &str, count: usize) -> Result<Vec<(String, Record)>> {
        let scan = || {
            let text = "SELECT id, body FROM records WHERE id >= ?1 ORDER BY id LIMIT ?2";
            let mut statement = self.0.prepare_cached(text)?;
            let rows =
                statement.query_map((first, limit(count)), |row| Ok((row.get(0)?, Record::Json(row.get(1)?))))?;
            rows.collect::<Sql<_>>()
        };
        scan().map_err(LabError::subject("a range"))
    }
}
