//! `SQLite` in the process: WAL, synchronous=FULL, one connection, statements prepared once.

use std::path::Path;

use rusqlite::{Connection, Params, Row, TransactionBehavior};

use super::{Account, Accounts, Item, gone, sql};
use crate::error::{LabError, Result};

pub(super) fn open(dir: &Path) -> Result<Box<dyn Accounts>> {
    let failed = || LabError::subject("opening the file");
    let file = dir.join("goget.sqlite");
    let fresh = !file.exists();
    let connection = Connection::open(file).map_err(failed())?;
    connection
        .execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-262144;")
        .map_err(failed())?;
    for table in sql::TABLES.iter().filter(|_| fresh) {
        connection.execute_batch(table).map_err(failed())?;
    }
    Ok(Box::new(Sqlite(connection)))
}

struct Sqlite(Connection);

fn joined(row: &Row<'_>) -> rusqlite::Result<sql::Joined> {
    let item = sql::item(row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?);
    Ok(sql::Joined { id: row.get(0)?, name: row.get(1)?, passphrase: row.get(2)?, item })
}

fn read(connection: &Connection, text: &str, parameters: impl Params) -> rusqlite::Result<Vec<Account>> {
    let mut statement = connection.prepare_cached(text)?;
    let mut rows = statement.query(parameters)?;
    let mut accounts = Vec::new();
    while let Some(row) = rows.next()? {
        sql::add(&mut accounts, joined(row)?);
    }
    Ok(accounts)
}

impl Sqlite {
    fn read(&self, text: &str, parameters: impl Params) -> Result<Vec<Account>> {
        read(&self.0, text, parameters).map_err(LabError::subject("a query"))
    }

    fn write<T>(&mut self, what: &str, write: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let run = || {
            let transaction = self.0.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let answer = write(&transaction)?;
            transaction.commit().map(|()| answer)
        };
        run().map_err(LabError::subject(what))
    }
}

fn execute(connection: &Connection, text: &str, parameters: impl Params) -> rusqlite::Result<usize> {
    connection.prepare_cached(text)?.execute(parameters)
}

fn create(connection: &Connection, account: &Account) -> rusqlite::Result<usize> {
    execute(connection, sql::CREATE, (sql::signed(account.id), &account.name, &account.passphrase))
}

impl Accounts for Sqlite {
    fn load(&mut self, accounts: &[Account]) -> Result<()> {
        self.write("loading", |connection| accounts.iter().try_for_each(|one| create(connection, one).map(drop)))
    }
    fn create(&mut self, account: &Account) -> Result<()> {
        self.write("an insert", |connection| create(connection, account).map(drop))
    }
    fn get(&mut self, id: u64) -> Result<Option<Account>> {
        Ok(self.read(sql::GET, [sql::signed(id)])?.pop())
    }
    fn get_by_name(&mut self, name: &str) -> Result<Option<Account>> {
        Ok(self.read(sql::GET_BY_NAME, [name])?.pop())
    }
    fn list(&mut self) -> Result<Vec<Account>> {
        self.read(sql::LIST, [])
    }
    fn add_item(&mut self, id: u64, item: &Item) -> Result<()> {
        let found = self.write("adding an item", |connection| {
            let Some(account) = read(connection, sql::GET, [sql::signed(id)])?.pop() else { return Ok(false) };
            let place = sql::signed(account.items.len());
            let row = (sql::signed(id), place, &item.name, &item.comment, item.status.number(), item.count);
            execute(connection, sql::ADD_ITEM, row).map(|_| true)
        })?;
        if found { Ok(()) } else { Err(gone(id)) }
    }
    fn change_item(&mut self, id: u64, place: usize, item: &Item) -> Result<()> {
        let changed = self.write("changing an item", |connection| {
            let status = item.status.number();
            let row = (&item.name, &item.comment, status, item.count, sql::signed(id), sql::signed(place));
            execute(connection, sql::CHANGE_ITEM, row)
        })?;
        if changed == 1 { Ok(()) } else { Err(gone(id)) }
    }
    fn update(&mut self, id: u64, passphrase: &str) -> Result<()> {
        let changed =
            self.write("an update", |connection| execute(connection, sql::UPDATE, (passphrase, sql::signed(id))))?;
        if changed == 1 { Ok(()) } else { Err(gone(id)) }
    }
    fn delete(&mut self, id: u64) -> Result<()> {
        let deleted = self.write("a deletion", |connection| {
            execute(connection, sql::DELETE_ITEMS, [sql::signed(id)])?;
            execute(connection, sql::DELETE, [sql::signed(id)])
        })?;
        if deleted == 1 { Ok(()) } else { Err(gone(id)) }
    }
    fn settings(&self) -> String {
        "WAL, synchronous=FULL, cache of 256 MiB, one connection".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.0.close().map_err(|(_, error)| LabError::subject("closing")(error))
    }
}
