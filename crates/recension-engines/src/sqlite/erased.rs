//! Erasing row versions. They are deleted from the tables in one transaction. `settle` makes the file anew, since pages
//! of an `SQLite` database may keep copies of rows that were moved or deleted. A snapshot needs no check: erased rows
//! are simply not there.

use recension::engine::{ErasedKey, Result, Seq, without_erased};
use rusqlite::{Connection, params};

use super::error::{ErrorContext, stored};
use super::retention::count_removed;
use super::rows::checksum;

/// This table has a row as long as erased rows may be in unused parts of the file.
pub(super) const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS unsettled_erasures (since INTEGER NOT NULL) STRICT;";

type Stored = (i64, i64, Option<Vec<u8>>);

/// Deletes versions of keys, within a transaction.
pub(super) fn erase(connection: &Connection, erased: &[ErasedKey]) -> rusqlite::Result<()> {
    connection.execute("INSERT INTO unsettled_erasures (since) VALUES (0)", [])?;
    let mut removed = 0;
    for ErasedKey { tree, key, versions } in erased {
        let before = versions_of(connection, tree.0, key)?;
        let given = before.iter().map(|(seq, crc, value)| (Seq(seq.unsigned_abs()), value.as_ref().map(|v| (crc, v))));
        let kept = without_erased(given, versions);
        if kept.len() == before.len()
            && kept.iter().zip(&before).all(|(kept, before)| kept.1.is_some() == before.2.is_some())
        {
            continue;
        }
        removed += before.len() - kept.len();
        connection.prepare_cached("DELETE FROM current WHERE tree = ?1 AND key = ?2")?.execute(params![tree.0, key])?;
        connection.prepare_cached("DELETE FROM past WHERE tree = ?1 AND key = ?2")?.execute(params![tree.0, key])?;
        if kept.is_empty() {
            connection.prepare_cached("DELETE FROM cut WHERE tree = ?1 AND key = ?2")?.execute(params![tree.0, key])?;
        }
        for (place, (seq, value)) in kept.into_iter().enumerate() {
            let table = if place == 0 { "current" } else { "past" };
            let sql = format!("INSERT INTO {table} (tree, key, seq, crc, value) VALUES (?1, ?2, ?3, ?4, ?5)");
            let crc = value.map_or_else(|| i64::from(checksum(*tree, key, seq, None)), |(crc, _)| *crc);
            let value = value.map(|(_, value)| value);
            connection.prepare_cached(&sql)?.execute(params![tree.0, key, stored(seq.0), crc, value])?;
        }
    }
    count_removed(connection, removed)
}

/// The versions of a key, newest first.
fn versions_of(connection: &Connection, tree: u32, key: &[u8]) -> rusqlite::Result<Vec<Stored>> {
    let sql = "SELECT seq, crc, value FROM current WHERE tree = ?1 AND key = ?2 UNION ALL \
               SELECT seq, crc, value FROM past WHERE tree = ?1 AND key = ?2 ORDER BY seq DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![tree, key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}

/// If erased rows may be left in the file, makes it anew. Returns whether it did.
pub(super) fn leave_nothing_behind(connection: &Connection, errors: &ErrorContext) -> Result<bool> {
    let map = |error| errors.map(error);
    let pending = connection
        .query_row("SELECT EXISTS (SELECT 1 FROM unsettled_erasures)", [], |row| row.get::<_, bool>(0))
        .map_err(map)?;
    if pending {
        connection.execute_batch("VACUUM; DELETE FROM unsettled_erasures;").map_err(map)?;
    }
    Ok(pending)
}
