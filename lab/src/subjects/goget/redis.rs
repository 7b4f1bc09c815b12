//! Redis over loopback, its log synced at every write: accounts as JSON in one hash, names in a second one. A change
//! reads the account within `WATCH`, and is refused if another client was faster. A get by name is one script in one
//! round trip.

use std::path::Path;

use super::resp::{Connection, Reply};
use super::{Account, Accounts, Item, gone};
use crate::error::{LabError, Result};
use crate::servers::{Place, Process, redis};

/// Accounts that are loaded in one write.
const LOADED_AT_ONCE: usize = 1000;
const BY_NAME: &[u8] = b"local id = redis.call('HGET', 'names', ARGV[1]); \
                         return id and redis.call('HGET', 'accounts', id)";

pub(super) fn open(dir: &Path) -> Result<Box<dyn Accounts>> {
    let (process, address) = redis::start(&Place { dir, traced: None })?;
    let mut redis = Redis { connection: Connection::open(address)?, by_name: Vec::new(), process };
    redis.by_name = match redis.connection.ask(&[b"SCRIPT", b"LOAD", BY_NAME])? {
        Reply::Bytes(sha) => sha,
        other => return Err(unexpected(&other)),
    };
    Ok(Box::new(redis))
}

struct Redis {
    connection: Connection,
    /// The script's hash.
    by_name: Vec<u8>,
    process: Process,
}

fn unexpected(reply: &Reply) -> LabError {
    LabError::Subject { what: "Redis's reply".to_owned(), why: format!("{reply:?} was not expected") }
}

fn decode(reply: &Reply) -> Result<Option<Account>> {
    match reply {
        Reply::Nil => Ok(None),
        Reply::Bytes(bytes) => {
            serde_json::from_slice(bytes).map(Some).map_err(LabError::subject("decoding an account"))
        }
        other => Err(unexpected(other)),
    }
}

fn encode(account: &Account) -> Result<Vec<u8>> {
    serde_json::to_vec(account).map_err(LabError::subject("encoding an account"))
}

impl Redis {
    /// Adds the commands of a new account.
    fn add_new(&mut self, account: &Account) -> Result<()> {
        let id = account.id.to_string();
        self.connection.add(&[b"HSETNX", b"names", account.name.as_bytes(), id.as_bytes()]);
        self.connection.add(&[b"HSET", b"accounts", id.as_bytes(), &encode(account)?]);
        Ok(())
    }

    /// Reads an account and changes it in one optimistic transaction: two round trips.
    fn change(&mut self, id: u64, change: impl FnOnce(&mut Account)) -> Result<()> {
        let key = id.to_string();
        self.connection.add(&[b"WATCH", b"accounts"]);
        self.connection.add(&[b"HGET", b"accounts", key.as_bytes()]);
        let replies = self.connection.send()?;
        let mut account = decode(replies.last().unwrap_or(&Reply::Nil))?.ok_or_else(|| gone(id))?;
        change(&mut account);
        let value = encode(&account)?;
        self.transaction(|connection| connection.add(&[b"HSET", b"accounts", key.as_bytes(), &value]))?;
        Ok(())
    }

    /// `MULTI`, commands, `EXEC`: one round trip; answers what the commands answered.
    fn transaction(&mut self, commands: impl FnOnce(&mut Connection)) -> Result<Vec<Reply>> {
        self.connection.add(&[b"MULTI"]);
        commands(&mut self.connection);
        self.connection.add(&[b"EXEC"]);
        match self.connection.send()?.pop() {
            Some(Reply::Several(done)) => Ok(done),
            other => Err(unexpected(&other.unwrap_or(Reply::Nil))),
        }
    }
}

impl Accounts for Redis {
    fn load(&mut self, accounts: &[Account]) -> Result<()> {
        for some in accounts.chunks(LOADED_AT_ONCE) {
            some.iter().try_for_each(|account| self.add_new(account))?;
            self.connection.send()?;
        }
        Ok(())
    }
    fn create(&mut self, account: &Account) -> Result<()> {
        let (id, value) = (account.id.to_string(), encode(account)?);
        let done = self.transaction(|connection| {
            connection.add(&[b"HSETNX", b"names", account.name.as_bytes(), id.as_bytes()]);
            connection.add(&[b"HSET", b"accounts", id.as_bytes(), &value]);
        })?;
        if done.first() == Some(&Reply::Number(1)) { Ok(()) } else { Err(unexpected(&Reply::Several(done))) }
    }
    fn get(&mut self, id: u64) -> Result<Option<Account>> {
        decode(&self.connection.ask(&[b"HGET", b"accounts", id.to_string().as_bytes()])?)
    }
    fn get_by_name(&mut self, name: &str) -> Result<Option<Account>> {
        let Redis { connection, by_name, .. } = self;
        decode(&connection.ask(&[b"EVALSHA", by_name, b"0", name.as_bytes()])?)
    }
    fn list(&mut self) -> Result<Vec<Account>> {
        match self.connection.ask(&[b"HVALS", b"accounts"])? {
            Reply::Several(all) => all.iter().filter_map(|one| decode(one).transpose()).collect(),
            other => Err(unexpected(&other)),
        }
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
        let key = id.to_string();
        self.connection.add(&[b"WATCH", b"accounts"]);
        self.connection.add(&[b"HGET", b"accounts", key.as_bytes()]);
        let replies = self.connection.send()?;
        let account = decode(replies.last().unwrap_or(&Reply::Nil))?.ok_or_else(|| gone(id))?;
        let done = self.transaction(|connection| {
            connection.add(&[b"HDEL", b"names", account.name.as_bytes()]);
            connection.add(&[b"HDEL", b"accounts", key.as_bytes()]);
        })?;
        if done == [Reply::Number(1), Reply::Number(1)] { Ok(()) } else { Err(gone(id)) }
    }
    fn settings(&self) -> String {
        format!(
            "{}; TCP on loopback, one connection; accounts as JSON in a hash, names in a second one",
            redis::SETTINGS
        )
    }
    fn close(self: Box<Self>) -> Result<()> {
        drop(self.connection);
        self.process.stop()
    }
}
