//! `SQLite` with its log ahead of the file: every process has the file open, and writers wait for each other.

use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::{Client, Owner, SeeNumbered, SeePair, Shared, store_in};
use crate::data::Key;
use crate::error::{LabError, Result};
use crate::given::Given;

const TABLES: &str = "CREATE TABLE IF NOT EXISTS rows (k BLOB PRIMARY KEY, v TEXT NOT NULL) WITHOUT ROWID;
     CREATE TABLE IF NOT EXISTS documents (id TEXT PRIMARY KEY, body TEXT NOT NULL);";
const PUT: &str = "INSERT INTO rows (k, v) VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v";

fn connect(file: &Path) -> Result<Connection> {
    let connection = Connection::open(file).map_err(LabError::subject("opening the file"))?;
    let settings = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=60000;";
    connection.execute_batch(settings).map_err(LabError::subject("setting it up"))?;
    Ok(connection)
}

struct Owned {
    connection: Connection,
    file: PathBuf,
}

pub(super) fn own(dir: &Path) -> Result<Box<dyn Owner>> {
    let file = store_in(dir);
    let connection = connect(&file)?;
    connection.execute_batch(TABLES).map_err(LabError::subject("making the tables"))?;
    Ok(Box::new(Owned { connection, file }))
}

pub(super) fn join(dir: &Path) -> Box<dyn Shared> {
    Box::new(Joined(store_in(dir)))
}

impl Owner for Owned {
    fn load(&mut self, rows: &[(Key, String)]) -> Result<()> {
        let mut load = || -> rusqlite::Result<()> {
            let transaction = self.connection.transaction()?;
            let mut statement = transaction.prepare_cached(PUT)?;
            rows.iter().try_for_each(|(key, value)| statement.execute((key, value)).map(drop))?;
            drop(statement);
            transaction.commit()
        };
        load().map_err(LabError::subject("loading"))
    }
    fn load_document(&mut self, id: &str, text: &str) -> Result<()> {
        let stored = self.connection.execute("INSERT INTO documents VALUES (?1, ?2)", (id, text));
        stored.map(drop).map_err(LabError::subject("storing a document"))
    }
    fn command(&self, _: &Given, id: &str) -> Result<Command> {
        let mut command = Command::new("sqlite3");
        command.arg(&self.file).arg(format!("SELECT body FROM documents WHERE id = '{id}'"));
        Ok(command)
    }
    fn settings(&self) -> String {
        "WAL, synchronous=FULL, a connection a thread, statements prepared once; 64 gets are one transaction".to_owned()
    }
}

struct Joined(PathBuf);

impl Shared for Joined {
    fn client(&self) -> Result<Box<dyn Client + '_>> {
        connect(&self.0).map(|connection| Box::new(Connected(connection)) as Box<dyn Client>)
    }
}

struct Connected(Connection);

impl Connected {
    fn value(&self, key: &Key, see: &mut dyn FnMut(&[u8])) -> rusqlite::Result<bool> {
        let mut statement = self.0.prepare_cached("SELECT v FROM rows WHERE k = ?1")?;
        let found = statement.query_row([key], |row| {
            see(row.get_ref(0)?.as_bytes()?);
            Ok(())
        });
        found.optional().map(|found| found.is_some())
    }
}

impl Client for Connected {
    fn get(&mut self, key: &Key, see: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.value(key, see).map_err(LabError::subject("a get"))
    }
    fn get_many(&mut self, keys: &[Key], see: SeeNumbered<'_>) -> Result<()> {
        let mut read = || -> rusqlite::Result<()> {
            self.0.prepare_cached("BEGIN")?.execute([])?;
            for (at, key) in keys.iter().enumerate() {
                self.value(key, &mut |value| see(at, value))?;
            }
            self.0.prepare_cached("COMMIT")?.execute([]).map(drop)
        };
        read().map_err(LabError::subject("several gets"))
    }
    fn range(&mut self, start: &Key, limit: usize, see: SeePair<'_>) -> Result<()> {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.0.prepare_cached("SELECT k, v FROM rows WHERE k >= ?1 ORDER BY k LIMIT ?2")?;
            let mut rows = statement.query((start, i64::try_from(limit).unwrap_or(i64::MAX)))?;
            while let Some(row) = rows.next()? {
                see(row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_bytes()?);
            }
            Ok(())
        };
        read().map_err(LabError::subject("a range"))
    }
    fn put(&mut self, key: &Key, value: &str) -> Result<()> {
        let mut write = || -> rusqlite::Result<()> {
            let transaction = self.0.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.prepare_cached(PUT)?.execute((key, value))?;
            transaction.commit()
        };
        write().map_err(LabError::subject("a commit"))
    }
}
