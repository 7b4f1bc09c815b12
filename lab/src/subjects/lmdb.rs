//! LMDB by heed: mapped, copy on write, one writer. Its defaults sync on every commit.
//!
//! The one file of this crate with `unsafe`: heed says so of opening an environment, because a file that
//! another process changes while it is mapped is undefined behaviour. The laboratory's directories are its own.
#![allow(unsafe_code)]

use std::ops::Bound;
use std::path::Path;

use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions};

use super::{OpenOptions, Reader, RowToWrite, SeeRow, SeeValue, Settled, Subject, Tree};
use crate::error::{LabError, Result};
use crate::measure::budget;

type Rows = Database<Bytes, Bytes>;

/// Address space, not memory or disk.
const MAP_BYTES: usize = 64 << 30;

/// The settings, for the report.
pub(super) const SETTINGS: &str =
    "defaults: fdatasync and a synced meta page a commit, mapped, no WRITEMAP; NORDAHEAD in a budget of memory";

/// Opens an environment of two databases in a directory of the laboratory's.
pub(super) fn environment(dir: &Path) -> Result<Env> {
    let mut options = EnvOpenOptions::new();
    options.map_size(MAP_BYTES).max_dbs(2);
    if budget::told().is_some() {
        // LMDB's documentation recommends it for databases larger than memory.
        // SAFETY: it changes what the system reads ahead, and nothing else.
        unsafe { options.flags(EnvFlags::NO_READ_AHEAD) };
    }
    // SAFETY: the directory was made for this run, and processes change it through LMDB alone, which locks it.
    unsafe { options.open(dir) }.map_err(LabError::subject("opening the environment"))
}

pub(super) fn open(dir: &Path, _: &OpenOptions) -> Result<Box<dyn Subject>> {
    let env = environment(dir)?;
    let tables = || -> heed::Result<(Rows, Rows)> {
        let mut transaction = env.write_txn()?;
        let current = env.create_database(&mut transaction, Some("current"))?;
        let history = env.create_database(&mut transaction, Some("history"))?;
        transaction.commit()?;
        Ok((current, history))
    };
    let (current, history) = tables().map_err(LabError::subject("making the databases"))?;
    Ok(Box::new(Lmdb { env, current, history }))
}

struct Lmdb {
    env: Env,
    current: Rows,
    history: Rows,
}

impl Lmdb {
    fn tree(&self, tree: Tree) -> &Rows {
        match tree {
            Tree::Current => &self.current,
            Tree::History => &self.history,
        }
    }
}

impl Subject for Lmdb {
    fn commit(&self, number: u64, rows: &[RowToWrite]) -> Result<u64> {
        let commit = || -> heed::Result<()> {
            let mut transaction = self.env.write_txn()?;
            for row in rows {
                let rows = self.tree(row.tree);
                match &row.value {
                    Some(value) => rows.put(&mut transaction, &row.key, value)?,
                    None => drop(rows.delete(&mut transaction, &row.key)?),
                }
            }
            transaction.commit()
        };
        commit().map_err(LabError::subject("a commit"))?;
        Ok(number)
    }
    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(LmdbReader(self)))
    }
    fn settle(&self) -> Result<Settled> {
        Ok(Settled { how: "has no work of the background".to_owned(), complete: true })
    }
    fn settles_alone(&self) -> Option<&'static str> {
        Some("it has no compaction or checkpoint to run beside commits")
    }
    fn settings(&self) -> String {
        SETTINGS.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.env.prepare_for_closing().wait();
        Ok(())
    }
}

struct LmdbReader<'l>(&'l Lmdb);

impl Reader for LmdbReader<'_> {
    fn get(&mut self, tree: Tree, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        let get = || -> heed::Result<bool> {
            let transaction = self.0.env.read_txn()?;
            Ok(self.0.tree(tree).get(&transaction, key)?.map(see).is_some())
        };
        get().map_err(LabError::subject("a get"))
    }

    fn range(&mut self, tree: Tree, start: &[u8], reverse: bool, see: SeeRow<'_>) -> Result<()> {
        let mut range = || -> heed::Result<()> {
            let transaction = self.0.env.read_txn()?;
            let rows = self.0.tree(tree);
            if reverse {
                let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Included(start));
                show(rows.rev_range(&transaction, &bounds)?, see)
            } else {
                // For LMDB the empty key is an error, rather than the least key.
                let first = if start.is_empty() { Bound::Unbounded } else { Bound::Included(start) };
                let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (first, Bound::Unbounded);
                show(rows.range(&transaction, &bounds)?, see)
            }
        };
        range().map_err(LabError::subject("a range"))
    }
}

fn show<'t>(rows: impl Iterator<Item = heed::Result<(&'t [u8], &'t [u8])>>, see: SeeRow<'_>) -> heed::Result<()> {
    for row in rows {
        let (key, value) = row?;
        if !see(key, value) {
            break;
        }
    }
    Ok(())
}
