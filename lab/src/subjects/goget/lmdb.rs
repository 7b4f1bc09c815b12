//! LMDB by heed: two databases in one environment.

use std::path::Path;

use heed::types::Bytes;
use heed::{Database, Env, RoTxn, RwTxn, WithTls};

use super::Accounts;
use super::rows::{InRows, Reading, Rows, Table, Writing};
use crate::error::{LabError, Result};
use crate::subjects::{SeeValue, lmdb};

type Bytewise = Database<Bytes, Bytes>;

pub(super) fn open(dir: &Path) -> Result<Box<dyn Accounts>> {
    let env = lmdb::environment(dir)?;
    let tables = || -> heed::Result<Tables> {
        let mut transaction = env.write_txn()?;
        let accounts = env.create_database(&mut transaction, Some("accounts"))?;
        let names = env.create_database(&mut transaction, Some("names"))?;
        transaction.commit()?;
        Ok(Tables { accounts, names })
    };
    let tables = tables().map_err(LabError::subject("making the databases"))?;
    Ok(Box::new(InRows(Lmdb { env, tables })))
}

#[derive(Clone, Copy)]
struct Tables {
    accounts: Bytewise,
    names: Bytewise,
}

impl Tables {
    fn of(&self, table: Table) -> &Bytewise {
        match table {
            Table::Accounts => &self.accounts,
            Table::Names => &self.names,
        }
    }

    fn get(&self, transaction: &RoTxn<'_>, table: Table, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        let found = self.of(table).get(transaction, key).map_err(LabError::subject("a get"))?;
        Ok(found.map(see).is_some())
    }
}

struct Lmdb {
    env: Env,
    tables: Tables,
}

struct Read<'e>(RoTxn<'e, WithTls>, Tables);

struct Write<'e>(RwTxn<'e>, Tables);

impl Reading for Read<'_> {
    fn get(&self, table: Table, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        self.1.get(&self.0, table, key, see)
    }
    fn all(&self, table: Table, see: SeeValue<'_>) -> Result<()> {
        let failed = || LabError::subject("a range");
        for row in self.1.of(table).iter(&self.0).map_err(failed())? {
            see(row.map_err(failed())?.1);
        }
        Ok(())
    }
}

impl Writing for Write<'_> {
    fn get(&self, table: Table, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        self.1.get(&self.0, table, key, see)
    }
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.1.of(table).put(&mut self.0, key, value).map_err(LabError::subject("a put"))
    }
    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.1.of(table).delete(&mut self.0, key).map_err(LabError::subject("a deletion"))
    }
}

impl Rows for Lmdb {
    fn read(&self, act: &mut dyn FnMut(&dyn Reading) -> Result<()>) -> Result<()> {
        let transaction = self.env.read_txn().map_err(LabError::subject("a transaction"))?;
        act(&Read(transaction, self.tables))
    }
    fn write(&mut self, act: &mut dyn FnMut(&mut dyn Writing) -> Result<()>) -> Result<()> {
        let transaction = self.env.write_txn().map_err(LabError::subject("a transaction"))?;
        let mut writing = Write(transaction, self.tables);
        act(&mut writing)?;
        writing.0.commit().map_err(LabError::subject("a commit"))
    }
    fn settings(&self) -> String {
        lmdb::SETTINGS.to_owned()
    }
    fn close(self) -> Result<()> {
        self.env.prepare_for_closing().wait();
        Ok(())
    }
}
