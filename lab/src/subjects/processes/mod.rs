//! Stores that several processes use at once: one process owns the store or has started its server, others come to it
//! through a unix socket or through its file.

mod recension;
mod redis;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Kind, OURS, named, our_version, versions};
use crate::data::Key;
use crate::error::Result;
use crate::given::Given;
use crate::servers::{recension as our_server, redis as redis_server, said_by};

/// Sees the row of a number among those that were asked for.
pub type SeeNumbered<'a> = &'a mut dyn FnMut(usize, &[u8]);
/// Sees a row of a range.
pub type SeePair<'a> = &'a mut dyn FnMut(&[u8], &[u8]);

/// Who owns a store, until it is dropped.
pub trait Owner: Send {
    /// Stores rows.
    fn load(&mut self, rows: &[(Key, String)]) -> Result<()>;
    /// Stores the document that the command of a shell reads.
    fn load_document(&mut self, id: &str, text: &str) -> Result<()>;
    /// The command of a shell that prints it.
    fn command(&self, given: &Given, id: &str) -> Result<Command>;
    /// The owner's own way to the store, if its process holds it.
    fn here(&self) -> Option<Box<dyn Shared>> {
        None
    }
    /// How it is set up.
    fn settings(&self) -> String;
}

/// A process's way to the store, for all of its threads.
pub trait Shared: Send + Sync {
    /// For one thread.
    fn client(&self) -> Result<Box<dyn Client + '_>>;
}

/// One thread's way to the store. Each call is a read or a commit of its own.
pub trait Client {
    /// Reads a row; returns whether there is one.
    fn get(&mut self, key: &Key, see: &mut dyn FnMut(&[u8])) -> Result<bool>;
    /// Reads several rows at once, of one moment where the store has moments.
    fn get_many(&mut self, keys: &[Key], see: SeeNumbered<'_>) -> Result<()>;
    /// Reads rows in the order of their keys, from this one on.
    fn range(&mut self, start: &Key, limit: usize, see: SeePair<'_>) -> Result<()>;
    /// Stores a row durably.
    fn put(&mut self, key: &Key, value: &str) -> Result<()>;
}

/// Ours in one process, which is what the others are compared with.
pub const LOCAL: &str = "recension-local";

/// Every subject.
pub fn kinds() -> Vec<Kind> {
    vec![
        Kind::new(OURS, "rows of a store that another process owns, through its socket", our_version),
        Kind { floor: true, ..Kind::new(LOCAL, "the same rows in the process that owns them", our_version) },
        Kind {
            missing: redis_server::missing,
            ..Kind::new("redis", "Redis through a unix socket, its log synced at every write", redis_server::version)
        },
        Kind {
            missing: |_| without!("sqlite"),
            ..Kind::new("sqlite", "SQLite, WAL, synchronous=FULL, every process with the file open", versions::sqlite)
        },
    ]
}

/// Whether it has rows in an order.
pub fn ranges(name: &str) -> bool {
    name != "redis"
}

/// Why the command of a shell cannot be measured of a subject here.
pub fn no_command(name: &str, given: &Given) -> Option<String> {
    match name {
        OURS => our_server::missing(given),
        "sqlite" => {
            said_by("sqlite3", "--version").is_none().then(|| "no sqlite3; `apt-get install sqlite3`".to_owned())
        }
        _ => said_by("redis-cli", "--version")
            .is_none()
            .then(|| "no redis-cli; `apt-get install redis-tools`".to_owned()),
    }
}

/// The place of a store within a directory.
fn store_in(dir: &Path) -> PathBuf {
    dir.join("store")
}

/// Owns the store in a directory, which exists.
pub fn own(name: &str, dir: &Path) -> Result<Box<dyn Owner>> {
    match named(kinds(), name, |kind| kind.name)?.name {
        "redis" => redis::own(dir),
        #[cfg(feature = "sqlite")]
        "sqlite" => sqlite::own(dir),
        #[cfg(not(feature = "sqlite"))]
        "sqlite" => Err(not_built()),
        _ => recension::own(dir),
    }
}

/// Comes to a store that another process owns.
pub fn join(name: &str, dir: &Path) -> Result<Box<dyn Shared>> {
    match named(kinds(), name, |kind| kind.name)?.name {
        "redis" => Ok(redis::join(dir)),
        #[cfg(feature = "sqlite")]
        "sqlite" => Ok(sqlite::join(dir)),
        #[cfg(not(feature = "sqlite"))]
        "sqlite" => Err(not_built()),
        _ => recension::join(dir),
    }
}

#[cfg(not(feature = "sqlite"))]
fn not_built() -> crate::error::LabError {
    crate::error::LabError::Unavailable { reason: without!("sqlite").unwrap_or_default() }
}
