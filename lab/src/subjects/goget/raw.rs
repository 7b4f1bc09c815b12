//! The floor: the cost of one durable append of a call's bytes on this machine, and nothing else. It keeps no accounts
//! and answers no reads.

use std::path::Path;

use serde::Serialize;

use super::super::raw::{Log, SETTINGS};
use super::{Account, Accounts, Item};
use crate::error::{LabError, Result};

pub(super) fn open(dir: &Path) -> Result<Box<dyn Accounts>> {
    Ok(Box::new(Raw { log: Log::create(dir)? }))
}

struct Raw {
    log: Log,
}

impl Raw {
    fn append(&mut self, brought: &impl Serialize) -> Result<()> {
        let bytes = serde_json::to_vec(brought).map_err(LabError::subject("a record"))?;
        self.log.append([bytes.as_slice()])
    }
}

fn no_reads<T>() -> Result<T> {
    Err(LabError::Unavailable { reason: "the floor answers no reads".to_owned() })
}

impl Accounts for Raw {
    fn load(&mut self, _: &[Account]) -> Result<()> {
        Ok(())
    }
    fn create(&mut self, account: &Account) -> Result<()> {
        self.append(account)
    }
    fn get(&mut self, _: u64) -> Result<Option<Account>> {
        no_reads()
    }
    fn get_by_name(&mut self, _: &str) -> Result<Option<Account>> {
        no_reads()
    }
    fn list(&mut self) -> Result<Vec<Account>> {
        no_reads()
    }
    fn add_item(&mut self, id: u64, item: &Item) -> Result<()> {
        self.append(&(id, item))
    }
    fn change_item(&mut self, id: u64, place: usize, item: &Item) -> Result<()> {
        self.append(&(id, place, item))
    }
    fn update(&mut self, id: u64, passphrase: &str) -> Result<()> {
        self.append(&(id, passphrase))
    }
    fn delete(&mut self, id: u64) -> Result<()> {
        self.append(&id)
    }
    fn settings(&self) -> String {
        SETTINGS.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
