//! Recension in the process: a collection of typed documents, as the library's users write it.

use std::path::Path;

use recension::{ListOptions, Store, Typed};

use super::{Account, Accounts, Item, gone};
use crate::error::{LabError, Result};

pub(super) fn open(dir: &Path) -> Result<Box<dyn Accounts>> {
    let failed = || LabError::subject("opening the store");
    let store = recension::open(&dir.join("store").display().to_string()).map_err(failed())?;
    let accounts = store.typed::<Account>().map_err(failed())?;
    Ok(Box::new(Recension { accounts, store }))
}

struct Recension {
    accounts: Typed<Account>,
    store: Store,
}

impl Recension {
    fn change(&self, id: u64, mut change: impl FnMut(&mut Account)) -> Result<()> {
        let changed = self.accounts.update(&id.to_string(), |account| {
            change(account);
            Ok(())
        });
        changed.map(drop).map_err(LabError::subject("an update"))
    }
}

impl Accounts for Recension {
    fn load(&mut self, accounts: &[Account]) -> Result<()> {
        let failures = self.accounts.put_all(accounts.iter().cloned()).map_err(LabError::subject("loading"))?;
        match failures.first() {
            None => Ok(()),
            Some(failure) => Err(LabError::Subject { what: "loading".to_owned(), why: failure.error.to_string() }),
        }
    }
    fn create(&mut self, account: &Account) -> Result<()> {
        self.accounts.create(account).map(drop).map_err(LabError::subject("a create"))
    }
    fn get(&mut self, id: u64) -> Result<Option<Account>> {
        self.accounts.get(&id.to_string()).map_err(LabError::subject("a get"))
    }
    fn get_by_name(&mut self, name: &str) -> Result<Option<Account>> {
        self.accounts.get_by("name", &[name.into()]).map_err(LabError::subject("a get"))
    }
    fn list(&mut self) -> Result<Vec<Account>> {
        let failed = || LabError::subject("a list");
        let listed = self.accounts.list(&ListOptions::default()).map_err(failed())?;
        listed.map(|found| found.map_err(failed())).collect()
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
        let failed = || LabError::subject("a deletion");
        let entry = self.accounts.entry(&id.to_string()).map_err(failed())?.ok_or_else(|| gone(id))?;
        self.accounts.delete(&id.to_string(), &entry.rev).map(drop).map_err(failed())
    }
    fn settings(&self) -> String {
        "defaults: durability Disk; typed documents, a unique index on the name".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        drop(self.accounts);
        drop(self.store);
        Ok(())
    }
}
