//! The one connection that writes. A commit is one `SQLite` transaction; whatever fails once it has begun poisons
//! the writer, which then must never write again: after a failed sync nobody knows what the disk holds.

use std::collections::HashMap;

use recension::engine::{
    Batch, BatchRow, Clock, CommitInfo, Durability, EngineError, ReadDependency, Result, Timestamp, TreeId,
};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::error::{ErrorContext, stored};
use super::file::{commit_checksum, read_head};
use super::read::{self, checksum};

const REPLACED: &str = "INSERT INTO past (tree, key, seq, crc, value) \
                        SELECT tree, key, seq, crc, value FROM current WHERE tree = ?1 AND key = ?2";
const PUT: &str = "INSERT INTO current (tree, key, seq, crc, value) VALUES (?1, ?2, ?3, ?4, ?5) \
                   ON CONFLICT DO UPDATE SET seq = excluded.seq, crc = excluded.crc, value = excluded.value";
const COMMIT: &str = "INSERT INTO commits (seq, time, rows, crc) VALUES (?1, ?2, ?3, ?4)";

pub(super) struct Writer {
    connection: Connection,
    errors: ErrorContext,
    head: CommitInfo,
    /// What the connection's `synchronous` setting gives now.
    durability: Durability,
    poisoned: Option<String>,
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        head: CommitInfo,
        durability: Durability,
        errors: ErrorContext,
    ) -> Result<Self> {
        set_durability(&connection, durability).map_err(|error| errors.map(error))?;
        Ok(Writer { connection, errors, head, durability, poisoned: None })
    }

    pub(super) fn commit(
        &mut self,
        batch: &mut Batch,
        durability: Durability,
        clock: &dyn Clock,
    ) -> Result<CommitInfo> {
        self.check_poison()?;
        // Outside the transaction: this writer is the only one, and it notices below if that is not so.
        for read in batch.reads() {
            self.check_dependency(read)?;
        }
        if batch.is_empty() {
            return Ok(self.head);
        }
        if durability != self.durability {
            set_durability(&self.connection, durability).map_err(|error| self.errors.map(error))?;
            self.durability = durability;
        }
        // What cannot be stored as SQLite's integer stands as the largest that can.
        let now = Timestamp(clock.now().0.min(stored(u64::MAX).unsigned_abs()));
        let commit = CommitInfo { seq: self.head.seq.next(), time: now.max(self.head.time) };
        batch.bind(commit.seq, |tree, key| self.current_value(tree, key))?;
        self.write(batch, commit)?;
        self.head = commit;
        Ok(commit)
    }

    fn check_poison(&self) -> Result<()> {
        match &self.poisoned {
            Some(cause) => Err(EngineError::Poisoned { cause: cause.clone() }),
            None => Ok(()),
        }
    }

    fn check_dependency(&self, dependency: &ReadDependency) -> Result<()> {
        let head = self.head.seq;
        if dependency.at > head {
            return Err(EngineError::NotYet { asked: dependency.at, head });
        }
        if dependency.at == head || dependency.range.is_empty() {
            return Ok(());
        }
        let (low, high) = read::half_open(&dependency.range);
        // The walk is over the range's keys: an index on seq would have to be kept by every commit, for few.
        let sql = match high {
            Some(_) => {
                "SELECT key, seq FROM current WHERE tree = ?1 AND seq > ?2 AND key >= ?3 AND key < ?4 \
                 ORDER BY key LIMIT 1"
            }
            None => {
                "SELECT key, seq FROM current WHERE tree = ?1 AND seq > ?2 AND key >= ?3 AND ?4 IS NULL \
                 ORDER BY key LIMIT 1"
            }
        };
        let newer = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement
                    .query_row(params![dependency.tree.0, stored(dependency.at.0), low, high], |row| {
                        Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, i64>(1)?))
                    })
                    .optional()
            })
            .map_err(|error| self.errors.map(error))?;
        let Some((key, seq)) = newer else { return Ok(()) };
        let written_at = Some(self.errors.seq(seq)?);
        Err(EngineError::Conflict { tree: dependency.tree, key, read_at: dependency.at, written_at })
    }

    fn current_value(&self, tree: TreeId, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let newest = read::version_at(&self.connection, (tree, key), self.head.seq, &self.errors)?;
        Ok(newest.and_then(|(_, value)| value))
    }

    fn write(&mut self, batch: &Batch, commit: CommitInfo) -> Result<()> {
        let errors = &self.errors;
        // Where the transaction cannot even begin (another program holds the lock), nothing is lost by trying again.
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| errors.map(error))?;
        let written = read_head(&transaction, errors).and_then(|found| {
            if found != self.head {
                let (found, expected) = (found.seq, self.head.seq);
                return Err(errors.backend(format!(
                    "another program has changed the store: its newest commit is {found} where {expected} was expected"
                )));
            }
            insert(&transaction, batch, commit).map_err(|error| errors.map(error))
        });
        let written = match written {
            Ok(()) => transaction.commit().map_err(|error| errors.map(error)),
            // Dropping the transaction rolls it back.
            Err(error) => Err(error),
        };
        written.inspect_err(|error| self.poisoned = Some(error.to_string()))
    }

    pub(super) fn checkpoint(&mut self) -> Result<()> {
        self.check_poison()?;
        // The log is synced, copied into the database, the database synced, the log cut.
        let busy: bool = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(|error| self.errors.map(error))
            .inspect_err(|error| self.poisoned = Some(error.to_string()))?;
        if busy {
            return Err(self
                .errors
                .backend("another program is reading it, so that the log cannot be folded in; retry"));
        }
        Ok(())
    }
}

fn set_durability(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    let level = match durability {
        Durability::Disk => "FULL",
        // OFF would be no faster at commits in WAL mode, and loss of power could cost the database.
        Durability::Process | Durability::Memory => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", level)
}

fn insert(connection: &Connection, batch: &Batch, commit: CommitInfo) -> rusqlite::Result<()> {
    let seq = stored(commit.seq.0);
    let rows = last_words(batch);
    let mut replaced = connection.prepare_cached(REPLACED)?;
    let mut put = connection.prepare_cached(PUT)?;
    for row in &rows {
        replaced.execute(params![row.tree.0, row.key])?;
        put.execute(params![row.tree.0, row.key, seq, checksum(row.tree, row.key, commit.seq, row.value), row.value])?;
    }
    let (time, rows) = (stored(commit.time.0), stored(rows.len() as u64));
    connection.prepare_cached(COMMIT)?.execute(params![seq, time, rows, commit_checksum(seq, time, rows)])?;
    Ok(())
}

/// The batch's rows, of those that name one key only the last.
fn last_words(batch: &Batch) -> Vec<BatchRow<'_>> {
    let mut places = HashMap::with_capacity(batch.rows().len());
    let mut rows = Vec::with_capacity(batch.rows().len());
    for row in batch.rows() {
        let place = *places.entry((row.tree, row.key)).or_insert(rows.len());
        if place == rows.len() {
            rows.push(row);
        } else {
            rows[place] = row;
        }
    }
    rows
}
