//! redb: two tables of one file.

use std::path::Path;

use redb::{Database, Durability, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition};

use super::Accounts;
use super::rows::{InRows, Reading, Rows, Table, Writing};
use crate::error::{LabError, Result};
use crate::measure::budget;
use crate::subjects::SeeValue;

type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;

fn definition(table: Table) -> Definition {
    match table {
        Table::Accounts => Definition::new("accounts"),
        Table::Names => Definition::new("names"),
    }
}

pub(super) fn open(dir: &Path) -> Result<Box<dyn Accounts>> {
    let file = dir.join("goget.redb");
    let open = || -> std::result::Result<Database, redb::Error> {
        let cache = budget::cache_bytes(256 << 20) as usize;
        let database = Database::builder().set_cache_size(cache).create(&file)?;
        let transaction = database.begin_write()?;
        for table in [Table::Accounts, Table::Names] {
            transaction.open_table(definition(table))?;
        }
        transaction.commit()?;
        Ok(database)
    };
    Ok(Box::new(InRows(Redb(open().map_err(LabError::subject("opening the file"))?))))
}

struct Redb(Database);

struct Read(ReadTransaction);

impl Read {
    fn table(&self, table: Table) -> Result<ReadOnlyTable<&'static [u8], &'static [u8]>> {
        self.0.open_table(definition(table)).map_err(LabError::subject("opening a table"))
    }
}

impl Reading for Read {
    fn get(&self, table: Table, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        let found = self.table(table)?.get(key).map_err(LabError::subject("a get"))?;
        Ok(found.map(|value| see(value.value())).is_some())
    }
    fn all(&self, table: Table, see: SeeValue<'_>) -> Result<()> {
        let failed = || LabError::subject("a range");
        for row in self.table(table)?.iter().map_err(failed())? {
            see(row.map_err(failed())?.1.value());
        }
        Ok(())
    }
}

struct Write<'t> {
    accounts: redb::Table<'t, &'static [u8], &'static [u8]>,
    names: redb::Table<'t, &'static [u8], &'static [u8]>,
}

impl<'t> Write<'t> {
    fn of(&mut self, table: Table) -> &mut redb::Table<'t, &'static [u8], &'static [u8]> {
        match table {
            Table::Accounts => &mut self.accounts,
            Table::Names => &mut self.names,
        }
    }
}

impl Writing for Write<'_> {
    fn get(&self, table: Table, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        let rows = match table {
            Table::Accounts => &self.accounts,
            Table::Names => &self.names,
        };
        let found = rows.get(key).map_err(LabError::subject("a get"))?;
        Ok(found.map(|value| see(value.value())).is_some())
    }
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.of(table).insert(key, value).map(drop).map_err(LabError::subject("a put"))
    }
    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let removed = self.of(table).remove(key).map_err(LabError::subject("a deletion"))?;
        Ok(removed.is_some())
    }
}

impl Rows for Redb {
    fn read(&self, act: &mut dyn FnMut(&dyn Reading) -> Result<()>) -> Result<()> {
        act(&Read(self.0.begin_read().map_err(LabError::subject("a transaction"))?))
    }
    fn write(&mut self, act: &mut dyn FnMut(&mut dyn Writing) -> Result<()>) -> Result<()> {
        let failed = || LabError::subject("opening a table");
        let mut transaction = self.0.begin_write().map_err(LabError::subject("a transaction"))?;
        transaction.set_durability(Durability::Immediate).map_err(LabError::subject("its durability"))?;
        {
            let accounts = transaction.open_table(definition(Table::Accounts)).map_err(failed())?;
            let names = transaction.open_table(definition(Table::Names)).map_err(failed())?;
            act(&mut Write { accounts, names })?;
        }
        transaction.commit().map_err(LabError::subject("a commit"))
    }
    fn settings(&self) -> String {
        "defaults: Durability::Immediate, one-phase commit; cache of 256 MiB".to_owned()
    }
    fn close(self) -> Result<()> {
        Ok(())
    }
}
