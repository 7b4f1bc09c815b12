//! The one connection that writes. A commit is one `SQLite` transaction. A failure after it has begun poisons the
//! writer, which must then never write again: after a failed sync the contents of the disk are not known.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use recension::engine::{
    Batch, BatchRow, Clock, CommitInfo, Durability, EngineError, ErasedKey, Kept, KeyRange, ReadDependency, Result,
    Retention, RetentionRule, Seq, Timestamp, TreeId,
};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::erased::{erase, leave_nothing_behind};
use super::error::{ErrorContext, stored};
use super::file::read_head;
use super::read;
use super::retention::{Retained, horizon, kept, remove_beyond, remove_forgotten};
use super::rows::{checksum, commit_checksum, half_open};

const REPLACED: &str = "INSERT INTO past (tree, key, seq, crc, value) \
                        SELECT tree, key, seq, crc, value FROM current WHERE tree = ?1 AND key = ?2";
const PUT: &str = "INSERT INTO current (tree, key, seq, crc, value) VALUES (?1, ?2, ?3, ?4, ?5) \
                   ON CONFLICT DO UPDATE SET seq = excluded.seq, crc = excluded.crc, value = excluded.value";
const COMMIT: &str = "INSERT INTO commits (seq, time, rows, crc) VALUES (?1, ?2, ?3, ?4)";

pub(super) struct Writer {
    connection: Connection,
    errors: ErrorContext,
    head: CommitInfo,
    retained: Arc<RwLock<Retained>>,
    /// The durability that the connection's `synchronous` setting gives now.
    durability: Durability,
    poisoned: Option<String>,
    /// For each tree the newest commit of which something was erased. Writes to the tree since an earlier commit are
    /// not fully known any more.
    erased: HashMap<TreeId, Seq>,
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        head: CommitInfo,
        durability: Durability,
        errors: ErrorContext,
    ) -> Result<Self> {
        set_durability(&connection, durability).map_err(|error| errors.map(error))?;
        let retained = Arc::new(RwLock::new(Retained::load(&connection, &errors)?));
        Ok(Writer { connection, errors, head, retained, durability, poisoned: None, erased: HashMap::new() })
    }

    /// The given-up parts of the past, for readers.
    pub(super) fn retained(&self) -> Arc<RwLock<Retained>> {
        self.retained.clone()
    }

    /// Forgets the history of a range, durably, and removes it.
    pub(super) fn forget(&mut self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<()> {
        self.check_poison()?;
        if before > self.head.seq {
            return Err(EngineError::NotYet { asked: before, head: self.head.seq });
        }
        let known = self.retained.read().horizon(tree, range);
        self.kept()?.for_tree(tree).check(before, known)?;
        self.give_up(tree, range, before)
    }

    fn kept(&self) -> Result<Kept> {
        kept(&self.connection).map_err(|error| self.errors.map(error))
    }

    fn give_up(&mut self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<()> {
        if range.is_empty() || before == Seq::ZERO || self.retained.read().knows(tree, range, before) {
            return Ok(());
        }
        let mut retained = self.retained.read().clone();
        retained.forget(tree, range, before)?;
        self.publish(retained)?;
        self.transaction(|connection| remove_forgotten(connection, tree, range, before))
    }

    /// Erases versions of keys, durably.
    pub(super) fn erase(&mut self, erased: &[ErasedKey]) -> Result<()> {
        self.check_poison()?;
        for ErasedKey { tree, versions, .. } in erased {
            if versions.newest() > self.head.seq {
                return Err(EngineError::NotYet { asked: versions.newest(), head: self.head.seq });
            }
            let newest = self.erased.entry(*tree).or_default();
            *newest = versions.newest().max(*newest);
        }
        if erased.is_empty() {
            return Ok(());
        }
        self.transaction(|connection| erase(connection, erased))
    }

    /// Sets standing rules, durably.
    pub(super) fn set_rules(&mut self, rules: &[RetentionRule]) -> Result<()> {
        self.check_poison()?;
        let mut retained = self.retained.read().clone();
        if retained.rules.set_all(rules)? { self.publish(retained) } else { Ok(()) }
    }

    /// Gives up versions that the rules do not keep, and gives disk back.
    pub(super) fn keep_to_rules(&mut self, now: Timestamp, commit_at: impl Fn(Timestamp) -> Result<Seq>) -> Result<()> {
        self.check_poison()?;
        let rules: Vec<_> = self.retained.read().rules.iter().collect();
        let kept = if rules.is_empty() { Kept::default() } else { self.kept()? };
        for RetentionRule { tree, range, retention } in rules {
            if let Retention::Versions(count) = retention {
                self.transaction(|connection| remove_beyond(connection, tree, &range, count.get(), kept.oldest()))?;
            } else if let Some(before) = horizon(retention, self.head.seq, now, &commit_at)? {
                let known = self.retained.read().horizon(tree, &range);
                self.give_up(tree, &range, kept.limit(before, known))?;
            }
        }
        let made_anew = leave_nothing_behind(&self.connection, &self.errors)?;
        let unused: i64 = self
            .connection
            .pragma_query_value(None, "freelist_count", |row| row.get(0))
            .map_err(|error| self.errors.map(error))?;
        if unused > 0 && !made_anew {
            // A failure here has changed nothing.
            self.connection.execute_batch("VACUUM").map_err(|error| self.errors.map(error))?;
        }
        self.checkpoint()
    }

    /// From here on readers refuse the given-up versions. They refuse only what was given up durably.
    fn publish(&mut self, retained: Retained) -> Result<()> {
        self.transaction(|connection| retained.store(connection))?;
        *self.retained.write() = retained;
        Ok(())
    }

    fn transaction(&mut self, change: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<()> {
        let errors = &self.errors;
        if self.durability != Durability::Disk {
            set_durability(&self.connection, Durability::Disk).map_err(|error| errors.map(error))?;
            self.durability = Durability::Disk;
        }
        let changed = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| errors.map(error))
            .map(|transaction| change(&transaction).and_then(|()| transaction.commit()))?;
        changed.map_err(|error| errors.map(error)).inspect_err(|error| self.poisoned = Some(error.to_string()))
    }

    pub(super) fn commit(
        &mut self,
        batch: &mut Batch,
        durability: Durability,
        clock: &dyn Clock,
    ) -> Result<CommitInfo> {
        self.check_poison()?;
        // It is checked outside of the transaction: this writer is the only one, and another program's commits are
        // noticed below.
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
        // A time that SQLite's integer cannot hold becomes the largest that it can.
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

    fn check_dependency(&self, dependency: ReadDependency<'_>) -> Result<()> {
        let head = self.head.seq;
        if dependency.at > head {
            return Err(EngineError::NotYet { asked: dependency.at, head });
        }
        let range = dependency.keys.to_range();
        if dependency.at == head || range.is_empty() {
            return Ok(());
        }
        // Deletions since then may have been removed without a trace.
        let erased = self.erased.get(&dependency.tree).is_some_and(|newest| dependency.at < *newest);
        if erased || self.retained.read().check(dependency.tree, &range, dependency.at).is_err() {
            let (key, _) = half_open(&range);
            return Err(EngineError::Conflict { tree: dependency.tree, key, read_at: dependency.at, written_at: None });
        }
        let (low, high) = half_open(&range);
        // The walk is over the range's keys. Every commit would have to maintain an index on seq, and few commits would
        // use it.
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
        // If the transaction cannot even begin (another program holds the lock), the caller can simply try again.
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
        // The log is synced and copied into the database, then the database is synced and the log is cut.
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
        // OFF would not make commits in WAL mode faster, and loss of power could destroy the database.
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

/// The batch's rows. If several name the same key, only the last one.
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
