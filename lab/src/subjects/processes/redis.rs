//! Redis through a unix socket. It has no rows in an order.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Client, Owner, SeeNumbered, SeePair, Shared};
use crate::data::Key;
use crate::error::{LabError, Result};
use crate::given::Given;
use crate::servers::{Place, Process, redis};
use crate::subjects::goget::resp::{Connection, Reply};

/// Rows that are loaded in one write.
const LOADED_AT_ONCE: usize = 1000;

fn socket_in(dir: &Path) -> PathBuf {
    dir.join("redis.sock")
}

struct Owned {
    _process: Process,
    socket: PathBuf,
}

pub(super) fn own(dir: &Path) -> Result<Box<dyn Owner>> {
    let socket = socket_in(dir);
    Ok(Box::new(Owned { _process: redis::start_at(&Place { dir, traced: None }, &socket)?, socket }))
}

pub(super) fn join(dir: &Path) -> Box<dyn Shared> {
    Box::new(Joined(socket_in(dir)))
}

fn unexpected(reply: &Reply) -> LabError {
    LabError::Subject { what: "Redis's reply".to_owned(), why: format!("{reply:?} was not expected") }
}

impl Owner for Owned {
    fn load(&mut self, rows: &[(Key, String)]) -> Result<()> {
        let mut connection = Connection::through(&self.socket)?;
        for some in rows.chunks(LOADED_AT_ONCE) {
            for (key, value) in some {
                connection.add(&[b"SET", key, value.as_bytes()]);
            }
            connection.send()?;
        }
        Ok(())
    }
    fn load_document(&mut self, id: &str, text: &str) -> Result<()> {
        Connection::through(&self.socket)?.ask(&[b"SET", id.as_bytes(), text.as_bytes()]).map(drop)
    }
    fn command(&self, _: &Given, id: &str) -> Result<Command> {
        let mut command = Command::new("redis-cli");
        command.arg("-s").arg(&self.socket).args(["get", id]);
        Ok(command)
    }
    fn settings(&self) -> String {
        format!("{}; a unix socket, a connection a thread; 64 gets are sent in one write", redis::SETTINGS)
    }
}

struct Joined(PathBuf);

impl Shared for Joined {
    fn client(&self) -> Result<Box<dyn Client + '_>> {
        Ok(Box::new(Connected(Connection::through(&self.0)?)))
    }
}

struct Connected(Connection<UnixStream>);

impl Client for Connected {
    fn get(&mut self, key: &Key, see: &mut dyn FnMut(&[u8])) -> Result<bool> {
        match self.0.ask(&[b"GET", key])? {
            Reply::Bytes(value) => {
                see(&value);
                Ok(true)
            }
            Reply::Nil => Ok(false),
            other => Err(unexpected(&other)),
        }
    }
    fn get_many(&mut self, keys: &[Key], see: SeeNumbered<'_>) -> Result<()> {
        for key in keys {
            self.0.add(&[b"GET", key]);
        }
        for (at, reply) in self.0.send()?.iter().enumerate() {
            match reply {
                Reply::Bytes(value) => see(at, value),
                Reply::Nil => {}
                other => return Err(unexpected(other)),
            }
        }
        Ok(())
    }
    fn range(&mut self, _: &Key, _: usize, _: SeePair<'_>) -> Result<()> {
        Err(LabError::Unavailable { reason: "it has no order".to_owned() })
    }
    fn put(&mut self, key: &Key, value: &str) -> Result<()> {
        match self.0.ask(&[b"SET", key, value.as_bytes()])? {
            Reply::Status(_) => Ok(()),
            other => Err(unexpected(&other)),
        }
    }
}
