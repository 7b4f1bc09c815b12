//! Accounts in stores of keys and values, as their users write them: an account with its items is one row of JSON at
//! its number, the index on the name is a second table, and both are changed in one transaction.

use super::{Account, Accounts, Item, gone};
use crate::error::{LabError, Result};
use crate::subjects::SeeValue;

/// The tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Table {
    /// Accounts at their numbers.
    Accounts,
    /// Numbers at names.
    Names,
}

/// A transaction that reads.
pub(super) trait Reading {
    /// Shows the value at a key; returns whether there is one.
    fn get(&self, table: Table, key: &[u8], see: SeeValue<'_>) -> Result<bool>;

    /// Shows every value of a table.
    fn all(&self, table: Table, see: SeeValue<'_>) -> Result<()>;
}

/// A transaction that writes.
pub(super) trait Writing {
    /// Shows the value at a key; returns whether there is one.
    fn get(&self, table: Table, key: &[u8], see: SeeValue<'_>) -> Result<bool>;

    /// Sets a value.
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()>;

    /// Removes a key; returns whether it was there.
    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool>;
}

/// A store of keys and values.
pub(super) trait Rows: Send {
    /// Reads in one transaction.
    fn read(&self, act: &mut dyn FnMut(&dyn Reading) -> Result<()>) -> Result<()>;

    /// Writes in one transaction. If `act` fails, nothing has happened; otherwise it is durable when this returns.
    fn write(&mut self, act: &mut dyn FnMut(&mut dyn Writing) -> Result<()>) -> Result<()>;

    /// How it was opened, in the subject's own words.
    fn settings(&self) -> String;

    /// Closes it in order.
    fn close(self) -> Result<()>;
}

/// Accounts in such a store.
pub(super) struct InRows<R>(pub(super) R);

fn decode(bytes: &[u8]) -> Result<Account> {
    serde_json::from_slice(bytes).map_err(LabError::subject("decoding an account"))
}

fn number(bytes: &[u8]) -> Result<[u8; 8]> {
    bytes.try_into().map_err(LabError::subject("a number in the index"))
}

fn put(writing: &mut dyn Writing, account: &Account) -> Result<()> {
    let value = serde_json::to_vec(account).map_err(LabError::subject("encoding an account"))?;
    writing.put(Table::Accounts, &account.id.to_be_bytes(), &value)
}

fn create(writing: &mut dyn Writing, account: &Account) -> Result<()> {
    let mut taken = false;
    writing.get(Table::Names, account.name.as_bytes(), &mut |_| taken = true)?;
    if taken {
        return Err(LabError::Subject { what: "a new account".to_owned(), why: "its name is taken".to_owned() });
    }
    put(writing, account)?;
    writing.put(Table::Names, account.name.as_bytes(), &account.id.to_be_bytes())
}

impl<R: Rows> InRows<R> {
    fn change(&mut self, id: u64, mut change: impl FnMut(&mut Account)) -> Result<()> {
        self.0.write(&mut |writing| {
            let mut account = read_for_change(writing, id)?;
            change(&mut account);
            put(writing, &account)
        })
    }
}

fn read_for_change(writing: &dyn Writing, id: u64) -> Result<Account> {
    let mut found = None;
    writing.get(Table::Accounts, &id.to_be_bytes(), &mut |bytes| found = Some(decode(bytes)))?;
    found.ok_or_else(|| gone(id))?
}

fn read_at(reading: &dyn Reading, key: &[u8]) -> Result<Option<Account>> {
    let mut found = None;
    reading.get(Table::Accounts, key, &mut |bytes| found = Some(decode(bytes)))?;
    found.transpose()
}

impl<R: Rows> Accounts for InRows<R> {
    fn load(&mut self, accounts: &[Account]) -> Result<()> {
        self.0.write(&mut |writing| accounts.iter().try_for_each(|account| create(writing, account)))
    }
    fn create(&mut self, account: &Account) -> Result<()> {
        self.0.write(&mut |writing| create(writing, account))
    }
    fn get(&mut self, id: u64) -> Result<Option<Account>> {
        let mut found = None;
        self.0.read(&mut |reading| {
            found = read_at(reading, &id.to_be_bytes())?;
            Ok(())
        })?;
        Ok(found)
    }
    fn get_by_name(&mut self, name: &str) -> Result<Option<Account>> {
        let mut found = None;
        self.0.read(&mut |reading| {
            let mut id = None;
            reading.get(Table::Names, name.as_bytes(), &mut |bytes| id = Some(number(bytes)))?;
            if let Some(id) = id.transpose()? {
                found = read_at(reading, &id)?;
            }
            Ok(())
        })?;
        Ok(found)
    }
    fn list(&mut self) -> Result<Vec<Account>> {
        let mut found = Vec::new();
        self.0.read(&mut |reading| reading.all(Table::Accounts, &mut |bytes| found.push(decode(bytes))))?;
        found.into_iter().collect()
    }
    fn add_item(&mut self, id: u64, item: &Item) -> Result<()> {
        self.change(id, |account| account.items.push(item.clone()))
    }
    fn change_item(&mut self, id: u64, place: usize, item: &Item) -> Result<()> {
        let mut there = false;
        self.change(id, |account| {
            if let Some(old) = account.items.get_mut(place) {
                *old = item.clone();
                there = true;
            }
        })?;
        if there { Ok(()) } else { Err(gone(id)) }
    }
    fn update(&mut self, id: u64, passphrase: &str) -> Result<()> {
        self.change(id, |account| passphrase.clone_into(&mut account.passphrase))
    }
    fn delete(&mut self, id: u64) -> Result<()> {
        self.0.write(&mut |writing| {
            let account = read_for_change(writing, id)?;
            writing.delete(Table::Names, account.name.as_bytes())?;
            let there = writing.delete(Table::Accounts, &id.to_be_bytes())?;
            if there { Ok(()) } else { Err(gone(id)) }
        })
    }
    fn settings(&self) -> String {
        format!("{}; accounts as rows of JSON, names in a second table", self.0.settings())
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.0.close()
    }
}
