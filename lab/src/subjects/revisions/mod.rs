//! Stores that keep every version of a document: ours, and tables of history that triggers fill.

mod doltlite;
pub mod model;
#[cfg(feature = "postgresql")]
mod postgresql;
mod recension;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::path::Path;

use super::{Given, Kind, OURS, named, our_version, versions};
use crate::error::{LabError, Result};
use crate::servers::postgresql as postgresql_server;

/// A document's number and a text of JSON.
pub type Numbered = (u64, String);

/// A store with versions. A moment is what [`Revisions::write`] returned.
pub trait Revisions {
    /// Writes documents in one commit, durable to loss of power; returns the moment behind it.
    fn write(&mut self, documents: &[Numbered]) -> Result<u64>;
    /// The document as it is now.
    fn newest(&mut self, number: u64) -> Result<Option<String>>;
    /// The document as of a moment.
    fn as_of(&mut self, number: u64, moment: u64) -> Result<Option<String>>;
    /// The moments of a document's versions, from the first on.
    fn list(&mut self, number: u64) -> Result<Vec<u64>>;
    /// The member `balance` of all versions, from the first on.
    fn member(&mut self, number: u64) -> Result<Vec<i64>>;
    /// The numbers of the accounts in a state as of a moment, in their order, by an index.
    fn in_state(&mut self, state: &str, moment: u64) -> Result<Vec<u64>>;
    /// Makes a branch of everything as it is now; branches have numbers.
    fn fork(&mut self, branch: u64) -> Result<()>;
    /// Writes documents on a branch in one commit, durable to loss of power.
    fn write_on(&mut self, branch: u64, documents: &[Numbered]) -> Result<()>;
    /// The document as it is now on a branch.
    fn newest_on(&mut self, branch: u64, number: u64) -> Result<Option<String>>;
    /// So many documents in the order of their numbers, on a branch or on the main line.
    fn range(&mut self, branch: Option<u64>, from: u64, count: u64) -> Result<Vec<Numbered>>;
    /// The numbers of the documents that differ between a branch and the main line, in any order.
    fn differing(&mut self, branch: u64) -> Result<Vec<u64>>;
    /// Takes what was changed on a branch over into the main line, in one commit, durable to loss of power. The main
    /// line keeps what was changed there since.
    fn merge(&mut self, branch: u64) -> Result<()>;
    /// Bytes of the store, after its own work of the background.
    fn bytes(&mut self) -> Result<u64>;
    /// How it is set up.
    fn settings(&self) -> String;
    /// Closes it in order.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Every subject.
pub fn kinds() -> Vec<Kind> {
    vec![
        Kind::new(OURS, "a collection with an index, in this process; every version is kept", our_version),
        Kind {
            missing: |_| without!("sqlite"),
            ..Kind::new("sqlite", "SQLite: a table, and one of history that triggers fill", versions::sqlite)
        },
        Kind {
            missing: |_| without!("postgresql").or_else(postgresql_server::missing),
            ..Kind::new("postgresql", "PostgreSQL: the same, over loopback", postgresql_server::version)
        },
        Kind {
            missing: |_| doltlite::PACKAGE.missing(),
            ..Kind::new("doltlite", "DoltLite: SQLite with commits and branches, in a Python program", || {
                doltlite::PACKAGE.version()
            })
        },
    ]
}

/// Opens a new store in a directory, which exists.
pub fn open(name: &str, dir: &Path, given: &Given) -> Result<Box<dyn Revisions>> {
    let kind = named(kinds(), name, |kind| kind.name)?;
    if let Some(reason) = (kind.missing)(given) {
        return Err(LabError::Unavailable { reason });
    }
    match kind.name {
        #[cfg(feature = "sqlite")]
        "sqlite" => sqlite::open(dir),
        #[cfg(feature = "postgresql")]
        "postgresql" => postgresql::open(dir),
        "doltlite" => doltlite::open(dir),
        _ => recension::open(dir),
    }
}

/// The name of a branch where names are needed.
fn branch_name(branch: u64) -> String {
    format!("b{branch}")
}

#[cfg(any(feature = "sqlite", feature = "postgresql"))]
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
