//! fjall: a log-structured merge tree. By default it does not sync; here each commit is a batch that asks for
//! `fdatasync` of the journal.

use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::{OpenOptions, Reader, RowToWrite, SeeRow, SeeValue, Settled, Subject, Tree};
use crate::error::{LabError, Result};

pub(super) fn open(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    let open = || -> fjall::Result<Fjall> {
        let database = Database::builder(dir).cache_size(options.cache_bytes).open()?;
        let current = database.keyspace("current", KeyspaceCreateOptions::default)?;
        let history = database.keyspace("history", KeyspaceCreateOptions::default)?;
        Ok(Fjall { database, current, history, cache_bytes: options.cache_bytes })
    };
    Ok(Box::new(open().map_err(LabError::subject("opening the database"))?))
}

struct Fjall {
    database: Database,
    current: Keyspace,
    history: Keyspace,
    cache_bytes: u64,
}

impl Fjall {
    fn tree(&self, tree: Tree) -> &Keyspace {
        match tree {
            Tree::Current => &self.current,
            Tree::History => &self.history,
        }
    }
}

impl Subject for Fjall {
    fn commit(&self, number: u64, rows: &[RowToWrite]) -> Result<u64> {
        let mut batch = self.database.batch().durability(Some(PersistMode::SyncData));
        for row in rows {
            match &row.value {
                Some(value) => batch.insert(self.tree(row.tree), row.key.as_slice(), value.as_slice()),
                None => batch.remove(self.tree(row.tree), row.key.as_slice()),
            }
        }
        batch.commit().map_err(LabError::subject("a commit"))?;
        Ok(number)
    }
    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(FjallReader(self)))
    }
    fn settle(&self) -> Result<Settled> {
        let settle = |keyspace: &Keyspace| {
            keyspace.rotate_memtable_and_wait()?;
            keyspace.major_compact()
        };
        settle(&self.current).and_then(|()| settle(&self.history)).map_err(LabError::subject("a compaction"))?;
        Ok(Settled { how: "memtable flushed, major_compact()".to_owned(), complete: true })
    }
    fn settings(&self) -> String {
        format!("defaults (lz4); batches with PersistMode::SyncData; cache of {} MiB", self.cache_bytes >> 20)
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.database.persist(PersistMode::SyncAll).map_err(LabError::subject("closing"))
    }
}

struct FjallReader<'f>(&'f Fjall);

impl Reader for FjallReader<'_> {
    fn get(&mut self, tree: Tree, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        let found = self.0.tree(tree).get(key).map_err(LabError::subject("a get"))?;
        Ok(found.map(|value| see(&value)).is_some())
    }

    fn range(&mut self, tree: Tree, start: &[u8], reverse: bool, see: SeeRow<'_>) -> Result<()> {
        let keyspace = self.0.tree(tree);
        let mut show = |row: fjall::Guard| -> Result<bool> {
            let (key, value) = row.into_inner().map_err(LabError::subject("a range"))?;
            Ok(see(&key, &value))
        };
        if reverse {
            for row in keyspace.range(..=start).rev() {
                if !show(row)? {
                    break;
                }
            }
        } else {
            for row in keyspace.range(start..) {
                if !show(row)? {
                    break;
                }
            }
        }
        Ok(())
    }
}
