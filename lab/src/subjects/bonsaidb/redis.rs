//! Redis over loopback, its log synced at every write: a document and a value are strings, an increment is its own
//! command.

use std::path::Path;

use super::Values;
use crate::error::{LabError, Result};
use crate::servers::{Place, Process, redis};
use crate::subjects::goget::resp::{Connection, Reply};

pub(super) fn open_values(dir: &Path) -> Result<Box<dyn Values>> {
    let (process, address) = redis::start(&Place { dir, traced: None })?;
    Ok(Box::new(Redis { connection: Connection::open(address)?, process }))
}

struct Redis {
    connection: Connection,
    process: Process,
}

fn document(number: u64) -> String {
    format!("document-{number}")
}

impl Values for Redis {
    fn save(&mut self, number: u64, text: &str) -> Result<()> {
        self.set(&document(number), text)
    }
    fn saved(&mut self, number: u64) -> Result<Option<String>> {
        self.get(&document(number))
    }
    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        self.connection.ask(&[b"SET", key.as_bytes(), value.as_bytes()]).map(drop)
    }
    fn get(&mut self, key: &str) -> Result<Option<String>> {
        match self.connection.ask(&[b"GET", key.as_bytes()])? {
            Reply::Nil => Ok(None),
            Reply::Bytes(bytes) => String::from_utf8(bytes).map(Some).map_err(LabError::subject("a value")),
            other => Err(unexpected(&other)),
        }
    }
    fn increment(&mut self, key: &str) -> Result<u64> {
        let key = format!("counter-{key}");
        match self.connection.ask(&[b"INCR", key.as_bytes()])? {
            Reply::Number(number) => u64::try_from(number).map_err(LabError::subject("a number")),
            other => Err(unexpected(&other)),
        }
    }
    fn settings(&self) -> String {
        format!("{}; TCP on loopback, one connection", redis::SETTINGS)
    }
    fn close(self: Box<Self>) -> Result<()> {
        drop(self.connection);
        self.process.stop()
    }
}

fn unexpected(reply: &Reply) -> LabError {
    LabError::Subject { what: "Redis's reply".to_owned(), why: format!("{reply:?} was not expected") }
}
