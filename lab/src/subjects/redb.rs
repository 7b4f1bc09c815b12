//! redb: a copy-on-write B-tree with a cache of its own. Its default durability syncs on every commit.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use redb::{Database, Durability, ReadableDatabase, ReadableTable, TableDefinition};

use super::{OpenOptions, Reader, RowToWrite, SeeRow, SeeValue, Settled, Subject, Tree};
use crate::error::{LabError, Result};

type Table = TableDefinition<'static, &'static [u8], &'static [u8]>;

const CURRENT: Table = TableDefinition::new("current");
const HISTORY: Table = TableDefinition::new("history");

fn table(tree: Tree) -> Table {
    match tree {
        Tree::Current => CURRENT,
        Tree::History => HISTORY,
    }
}

pub(super) fn open(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    let file = dir.join("lab.redb");
    let open = || -> std::result::Result<Database, redb::Error> {
        let database = Database::builder().set_cache_size(options.cache_bytes as usize).create(&file)?;
        let transaction = database.begin_write()?;
        transaction.open_table(CURRENT)?;
        transaction.open_table(HISTORY)?;
        transaction.commit()?;
        Ok(database)
    };
    let database = open().map_err(LabError::subject("opening the file"))?;
    Ok(Box::new(Redb { database, compact: AtomicBool::new(false), cache_bytes: options.cache_bytes }))
}

struct Redb {
    database: Database,
    /// Whether to compact when it is closed: `compact` wants the database for itself.
    compact: AtomicBool,
    cache_bytes: u64,
}

impl Subject for Redb {
    fn commit(&self, number: u64, rows: &[RowToWrite]) -> Result<u64> {
        let commit = || -> std::result::Result<(), redb::Error> {
            let mut transaction = self.database.begin_write()?;
            transaction.set_durability(Durability::Immediate)?;
            for tree in [Tree::Current, Tree::History] {
                if !rows.iter().any(|row| row.tree == tree) {
                    continue;
                }
                let mut table = transaction.open_table(table(tree))?;
                for row in rows.iter().filter(|row| row.tree == tree) {
                    match &row.value {
                        Some(value) => table.insert(row.key.as_slice(), value.as_slice())?,
                        None => table.remove(row.key.as_slice())?,
                    };
                }
            }
            Ok(transaction.commit()?)
        };
        commit().map_err(LabError::subject("a commit"))?;
        Ok(number)
    }
    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(RedbReader(&self.database)))
    }
    fn settle(&self) -> Result<Settled> {
        self.compact.store(true, Relaxed);
        Ok(Settled { how: "compact() when it is closed".to_owned(), complete: true })
    }
    fn settles_alone(&self) -> Option<&'static str> {
        Some("its compaction wants the database for itself")
    }
    fn settings(&self) -> String {
        format!("defaults: Durability::Immediate, one-phase commit; cache of {} MiB", self.cache_bytes >> 20)
    }
    fn close(mut self: Box<Self>) -> Result<()> {
        if self.compact.load(Relaxed) {
            self.database.compact().map_err(LabError::subject("a compaction"))?;
        }
        Ok(())
    }
}

struct RedbReader<'d>(&'d Database);

impl Reader for RedbReader<'_> {
    fn get(&mut self, tree: Tree, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        let mut get = || -> std::result::Result<bool, redb::Error> {
            let rows = self.0.begin_read()?.open_table(table(tree))?;
            Ok(ReadableTable::get(&rows, key)?.map(|value| see(value.value())).is_some())
        };
        get().map_err(LabError::subject("a get"))
    }

    fn range(&mut self, tree: Tree, start: &[u8], reverse: bool, see: SeeRow<'_>) -> Result<()> {
        let mut range = || -> std::result::Result<(), redb::Error> {
            let rows = self.0.begin_read()?.open_table(table(tree))?;
            let mut show = |row: std::result::Result<(redb::AccessGuard<'_, _>, redb::AccessGuard<'_, _>), _>| {
                row.map(|(key, value): (redb::AccessGuard<'_, &[u8]>, redb::AccessGuard<'_, &[u8]>)| {
                    see(key.value(), value.value())
                })
            };
            if reverse {
                for row in rows.range::<&[u8]>(..=start)?.rev() {
                    if !show(row)? {
                        break;
                    }
                }
            } else {
                for row in rows.range::<&[u8]>(start..)? {
                    if !show(row)? {
                        break;
                    }
                }
            }
            Ok(())
        };
        range().map_err(LabError::subject("a range"))
    }
}
