//! `SQLite` as an application uses it for durable rows: WAL, synchronous=FULL, one connection that writes, one a
//! reading thread, statements prepared once. Tables without rowid, so that rows lie in the order of their keys.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::{OpenOptions, Reader, RowToWrite, SeeRow, SeeValue, Settled, Subject, Tree};
use crate::error::{LabError, Result};

pub(super) fn open(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    let file = dir.join("lab.sqlite");
    let cache_kib = options.cache_bytes >> 10;
    let writer = connect(&file, cache_kib)?;
    writer
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS current (k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID;
             CREATE TABLE IF NOT EXISTS history (k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID;",
        )
        .map_err(LabError::subject("making the tables"))?;
    Ok(Box::new(Sqlite { writer: Mutex::new(writer), file, cache_kib }))
}

fn connect(file: &Path, cache_kib: u64) -> Result<Connection> {
    let connection = Connection::open(file).map_err(LabError::subject("opening the file"))?;
    let settings = format!(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-{cache_kib}; PRAGMA busy_timeout=60000;"
    );
    connection.execute_batch(&settings).map_err(LabError::subject("setting it up"))?;
    Ok(connection)
}

struct Sqlite {
    writer: Mutex<Connection>,
    file: PathBuf,
    cache_kib: u64,
}

impl Subject for Sqlite {
    fn commit(&self, number: u64, rows: &[RowToWrite]) -> Result<u64> {
        // One connection behind a lock: connections that meet in busy handlers sleep, which is slower.
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut commit = || -> rusqlite::Result<()> {
            let transaction = writer.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            for row in rows {
                let sql = match (row.tree, row.value.is_some()) {
                    (Tree::Current, true) => "INSERT OR REPLACE INTO current (k, v) VALUES (?1, ?2)",
                    (Tree::History, true) => "INSERT OR REPLACE INTO history (k, v) VALUES (?1, ?2)",
                    (Tree::Current, false) => "DELETE FROM current WHERE k = ?1",
                    (Tree::History, false) => "DELETE FROM history WHERE k = ?1",
                };
                let mut statement = transaction.prepare_cached(sql)?;
                match &row.value {
                    Some(value) => statement.execute((&row.key, value))?,
                    None => statement.execute([&row.key])?,
                };
            }
            transaction.commit()
        };
        commit().map_err(LabError::subject("a commit"))?;
        Ok(number)
    }
    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(SqliteReader(connect(&self.file, self.cache_kib)?)))
    }
    fn settle(&self) -> Result<Settled> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").map_err(LabError::subject("a checkpoint"))?;
        Ok(Settled { how: "wal_checkpoint(TRUNCATE)".to_owned(), complete: true })
    }
    fn settings(&self) -> String {
        format!("WAL, synchronous=FULL, cache of {} MiB a connection, pages of 4096 bytes", self.cache_kib >> 10)
    }
    fn close(self: Box<Self>) -> Result<()> {
        let writer = self.writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        writer.close().map_err(|(_, error)| LabError::subject("closing")(error))
    }
}

struct SqliteReader(Connection);

impl Reader for SqliteReader {
    fn get(&mut self, tree: Tree, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        let sql = match tree {
            Tree::Current => "SELECT v FROM current WHERE k = ?1",
            Tree::History => "SELECT v FROM history WHERE k = ?1",
        };
        let mut get = || -> rusqlite::Result<bool> {
            let mut statement = self.0.prepare_cached(sql)?;
            let mut rows = statement.query([key])?;
            match rows.next()? {
                None => Ok(false),
                Some(row) => {
                    see(row.get_ref(0)?.as_blob()?);
                    Ok(true)
                }
            }
        };
        get().map_err(LabError::subject("a get"))
    }

    fn range(&mut self, tree: Tree, start: &[u8], reverse: bool, see: SeeRow<'_>) -> Result<()> {
        let sql = match (tree, reverse) {
            (Tree::Current, false) => "SELECT k, v FROM current WHERE k >= ?1 ORDER BY k",
            (Tree::Current, true) => "SELECT k, v FROM current WHERE k <= ?1 ORDER BY k DESC",
            (Tree::History, false) => "SELECT k, v FROM history WHERE k >= ?1 ORDER BY k",
            (Tree::History, true) => "SELECT k, v FROM history WHERE k <= ?1 ORDER BY k DESC",
        };
        let mut range = || -> rusqlite::Result<()> {
            let mut statement = self.0.prepare_cached(sql)?;
            let mut rows = statement.query([start])?;
            while let Some(row) = rows.next()? {
                if !see(row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?) {
                    break;
                }
            }
            Ok(())
        };
        range().map_err(LabError::subject("a range"))
    }
}
