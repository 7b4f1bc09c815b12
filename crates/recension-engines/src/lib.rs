//! Engines over other databases, one module and one cargo feature each, and the one way to open a store of any
//! kind by its address. An engine here adds nothing to the contract and takes nothing from it.
#![warn(missing_docs)]

mod address;
pub mod limits;
#[cfg(feature = "sqlite")]
pub mod sqlite;

use std::sync::Arc;

pub use address::Address;
use recension::disk::FsDisk;
#[cfg(not(feature = "sqlite"))]
use recension::engine::EngineError;
use recension::engine::{Engine, MemoryEngine, NativeEngine, NativeOptions, Result};

/// Opens the store at an address, with default options, and makes it where there is none: `memory:`,
/// `sqlite:FILE`, or a path.
///
/// # Errors
/// [`BadAddress`](recension::engine::EngineError::BadAddress), and whatever the engine says.
pub fn open(address: &str) -> Result<Arc<dyn Engine>> {
    match Address::parse(address)? {
        Address::Memory => Ok(Arc::new(MemoryEngine::new())),
        #[cfg(feature = "sqlite")]
        Address::Sqlite(file) => Ok(Arc::new(sqlite::SqliteEngine::open(&file, sqlite::SqliteOptions::default())?)),
        #[cfg(not(feature = "sqlite"))]
        Address::Sqlite(_) => Err(EngineError::BadAddress {
            address: address.to_owned(),
            why: "this program was built without the feature `sqlite`".to_owned(),
        }),
        Address::Native(path) => {
            Ok(Arc::new(NativeEngine::open(Arc::new(FsDisk::new(path)), NativeOptions::default())?))
        }
    }
}
