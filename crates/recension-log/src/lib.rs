//! The same store on other people's databases: a shared log orders and keeps the commits, and every process
//! reads from an engine of its own that follows it. Several processes on one log are a cluster.
//!
//! | part | what |
//! |---|---|
//! | [`SharedLog`] | what a system has to do: one record at each position, for ever |
//! | [`ReplicatedEngine`] | the engine over a log and a local cache; written once for every system |
//! | [`MemoryLog`], [`FolderLog`] | logs without another system: for tests, and for processes of one machine |
//!
//! docs/shared-log.md has every byte of a record.
#![warn(missing_docs)]

mod address;
mod bytes_reader;
mod contract;
mod engine;
mod entry;
mod error;
#[cfg(feature = "etcd")]
mod etcd;
mod folder;
mod found;
mod large;
pub mod limits;
mod memory;
#[cfg(feature = "mongodb")]
mod mongodb;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(any(feature = "etcd", feature = "mongodb", feature = "mysql", feature = "postgres", feature = "s3"))]
mod net;
mod nodes;
mod open;
#[cfg(feature = "postgres")]
mod postgres;
mod projection;
mod record;
#[cfg(feature = "s3")]
mod s3;
mod snapshot;

pub use address::{LogAddress, System, TlsMode, without_password};
pub use contract::{Appended, Blobs, LogProfile, Position, SharedLog};
pub use engine::{Cache, DiscardedCache, ReplicatedEngine, ReplicatedOptions, discard_cache};
pub use error::{LogError, Result};
#[cfg(feature = "etcd")]
pub use etcd::EtcdLog;
pub use folder::FolderLog;
pub use found::Founding;
pub use memory::MemoryLog;
#[cfg(feature = "mongodb")]
pub use mongodb::MongoLog;
#[cfg(feature = "mysql")]
pub use mysql::MySqlLog;
pub use nodes::{LogStatus, NodeStatus, log_status};
pub use open::{caches_of, open, open_log, tables_of};
#[cfg(feature = "postgres")]
pub use postgres::PostgresLog;
pub use projection::{ProjectedRow, Projection, RowState, open_projection};
#[cfg(feature = "s3")]
pub use s3::S3Log;
