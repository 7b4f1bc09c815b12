//! Engines over other databases, with one module and one cargo feature each, and the one function that opens a store of
//! any kind by its address. An engine here adds nothing to the contract and takes nothing from it.
#![warn(missing_docs)]

mod address;
mod keys;
pub mod limits;
mod moving;
pub mod project;
#[cfg(feature = "sqlite")]
pub mod sqlite;

use std::sync::Arc;

pub use address::Address;
pub use keys::{KEY_VARIABLE, KeySource};
pub use moving::{into_log, move_store};
#[cfg(not(feature = "sqlite"))]
use recension::engine::EngineError;
use recension::engine::{Engine, MemoryEngine, NativeOptions, Result, open_native};

/// Opens the store at an address with default options, and makes it if there is none. The address is `memory:`,
/// `sqlite:FILE`, a path, a store on a shared log (`postgres://...` and others), or a store of a server
/// (`recension://...`). A native store that another process has open and shares is reached through that process.
///
/// # Errors
/// [`BadAddress`](recension::engine::EngineError::BadAddress), and the engine's own errors.
pub fn open(address: &str) -> Result<Arc<dyn Engine>> {
    open_as(address, Sharing::Alone, &NativeOptions::default())
}

/// Whether other processes can reach a native store through this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// They get an error that says that it is in use.
    Alone,
    /// Processes of the same user can.
    Shared,
}

/// The same, and lets others reach it meanwhile if that is wanted. A native store is opened with `options`: encrypted
/// if they have a key and it is new. Other engines do without.
///
/// # Errors
/// As [`open`].
pub fn open_as(address: &str, sharing: Sharing, options: &NativeOptions) -> Result<Arc<dyn Engine>> {
    match Address::parse(address)? {
        Address::Memory => Ok(Arc::new(MemoryEngine::new())),
        #[cfg(feature = "sqlite")]
        Address::Sqlite(file) => Ok(Arc::new(sqlite::SqliteEngine::open(&file, sqlite::SqliteOptions::default())?)),
        #[cfg(not(feature = "sqlite"))]
        Address::Sqlite(_) => Err(EngineError::not_built_in("a store in an SQLite file", "sqlite")),
        Address::Native(path) => open_native(&path, options, sharing == Sharing::Shared),
        Address::Network(address) => recension_remote::network::open(&address),
        Address::Log(_) => Ok(Arc::new(recension_log::open(address)?)),
    }
}
