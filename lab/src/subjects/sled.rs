//! sled 0.34, its last release. `flush` is its strongest word: it waits for the log to be written and calls
//! `sync_file_range`, which is less than `fdatasync`; its tier says so.

use std::ops::Bound;
use std::path::Path;

use sled::transaction::{ConflictableTransactionError, Transactional};
use sled::{Db, IVec};

use super::{OpenOptions, Reader, RowToWrite, SeeRow, SeeValue, Settled, Subject, Tree};
use crate::error::{LabError, Result};

pub(super) fn open(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    let open = || -> sled::Result<Sled> {
        let config = sled::Config::new().path(dir).cache_capacity(options.cache_bytes).flush_every_ms(None);
        let database = config.open()?;
        let (current, history) = (database.open_tree("current")?, database.open_tree("history")?);
        Ok(Sled { database, current, history, cache_bytes: options.cache_bytes })
    };
    Ok(Box::new(open().map_err(LabError::subject("opening the database"))?))
}

struct Sled {
    database: Db,
    current: sled::Tree,
    history: sled::Tree,
    cache_bytes: u64,
}

impl Sled {
    fn tree(&self, tree: Tree) -> &sled::Tree {
        match tree {
            Tree::Current => &self.current,
            Tree::History => &self.history,
        }
    }

    fn write(&self, rows: &[RowToWrite]) -> std::result::Result<(), sled::Error> {
        if let [row] = rows {
            let tree = self.tree(row.tree);
            match &row.value {
                Some(value) => tree.insert(&row.key, value.as_slice())?,
                None => tree.remove(&row.key)?,
            };
            return Ok(());
        }
        let (mut current, mut history) = (sled::Batch::default(), sled::Batch::default());
        let mut both = false;
        for row in rows {
            both |= row.tree == Tree::History;
            let batch = match row.tree {
                Tree::Current => &mut current,
                Tree::History => &mut history,
            };
            match &row.value {
                Some(value) => batch.insert(row.key.as_slice(), value.as_slice()),
                None => batch.remove(row.key.as_slice()),
            }
        }
        if !both {
            return self.current.apply_batch(current);
        }
        let done = (&self.current, &self.history).transaction(|(in_current, in_history)| {
            in_current.apply_batch(&current)?;
            in_history.apply_batch(&history)?;
            Ok::<(), ConflictableTransactionError<()>>(())
        });
        done.map_err(|error| match error {
            sled::transaction::TransactionError::Storage(error) => error,
            sled::transaction::TransactionError::Abort(()) => sled::Error::Unsupported("aborted".to_owned()),
        })
    }
}

impl Subject for Sled {
    fn commit(&self, number: u64, rows: &[RowToWrite]) -> Result<u64> {
        self.write(rows).and_then(|()| self.database.flush()).map_err(LabError::subject("a commit"))?;
        Ok(number)
    }
    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(SledReader(self)))
    }
    fn settle(&self) -> Result<Settled> {
        self.database.flush().map_err(LabError::subject("a flush"))?;
        Ok(Settled { how: "flush(); it has no compaction to call".to_owned(), complete: false })
    }
    fn settings(&self) -> String {
        format!("flush() on every commit (sync_file_range); cache of {} MiB", self.cache_bytes >> 20)
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.database.flush().map(drop).map_err(LabError::subject("closing"))
    }
}

struct SledReader<'s>(&'s Sled);

impl Reader for SledReader<'_> {
    fn get(&mut self, tree: Tree, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        let found = self.0.tree(tree).get(key).map_err(LabError::subject("a get"))?;
        Ok(found.map(|value| see(&value)).is_some())
    }

    fn range(&mut self, tree: Tree, start: &[u8], reverse: bool, see: SeeRow<'_>) -> Result<()> {
        let tree = self.0.tree(tree);
        if reverse {
            show(tree.range::<&[u8], _>((Bound::Unbounded, Bound::Included(start))).rev(), see)
        } else {
            show(tree.range::<&[u8], _>((Bound::Included(start), Bound::Unbounded)), see)
        }
    }
}

fn show(rows: impl Iterator<Item = sled::Result<(IVec, IVec)>>, see: SeeRow<'_>) -> Result<()> {
    for row in rows {
        let (key, value) = row.map_err(LabError::subject("a range"))?;
        if !see(&key, &value) {
            break;
        }
    }
    Ok(())
}
