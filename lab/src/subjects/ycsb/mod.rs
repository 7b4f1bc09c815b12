//! Stores of records for the workloads of YCSB. A name says how clients come to a store: as threads of the process that
//! has it open (no prefix), over HTTP (`http-`), or each as a process of its own (`processes-`).

mod http;
#[cfg(feature = "lmdb")]
mod lmdb;
pub mod model;
#[cfg(feature = "postgresql")]
mod postgresql;
mod recension;
mod redis;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::path::Path;

use model::Record;

use super::{Given, Kind, OURS, named, our_version, versions};
use crate::error::{LabError, Result};
use crate::servers::{postgresql as postgresql_server, recension as our_server, redis as redis_server};

/// A store, or the server of one, as the laboratory holds it.
pub trait Owner: Send {
    /// The way to it: a directory, a file or an address, for [`join`].
    fn place(&self) -> String;
    /// The way to it of this process's own threads, if that is another.
    fn here(&self) -> Option<Box<dyn Shared>> {
        None
    }
    /// How it is set up.
    fn settings(&self) -> String;
    /// Closes it in order.
    fn close(self: Box<Self>) -> Result<()>;
}

/// A process's way to a store, for all of its threads.
pub trait Shared: Send + Sync {
    /// For one thread.
    fn client(&self) -> Result<Box<dyn Records + '_>>;
}

/// One client's way to a store. Each call is a read or a commit of its own.
pub trait Records {
    /// Stores records, which are new.
    fn load(&mut self, records: &[(String, String)]) -> Result<()>;
    /// Reads all fields.
    fn read(&mut self, id: &str) -> Result<Option<Record>>;
    /// Replaces one field, whatever others do with other fields meanwhile.
    fn update(&mut self, id: &str, field: &str, value: &str) -> Result<()>;
    /// Stores a new record.
    fn insert(&mut self, id: &str, record: &str) -> Result<()>;
    /// Reads records in the order of their ids, from this one on.
    fn scan(&mut self, first: &str, count: usize) -> Result<Vec<(String, Record)>>;
}

/// The way of processes of their own.
const PROCESSES: &str = "processes-";

/// Whether each client is a process of its own.
pub fn by_processes(name: &str) -> bool {
    name.starts_with(PROCESSES)
}

/// Every subject.
pub fn kinds() -> Vec<Kind> {
    let sqlite = |name, what| Kind { missing: |_| without!("sqlite"), ..Kind::new(name, what, versions::sqlite) };
    let lmdb =
        |name, what| Kind { missing: |_| without!("lmdb"), ..Kind::new(name, what, || versions::of_crate("heed")) };
    vec![
        Kind::new(OURS, "documents in this process, clients are threads", our_version),
        sqlite("sqlite", "SQLite: a column of JSON, WAL, synchronous=FULL, clients are threads"),
        lmdb("lmdb", "LMDB, by heed: JSON texts, clients are threads"),
        Kind {
            missing: our_server::missing,
            ..Kind::new("http-recension", "recension serve, a connection a client", our_version)
        },
        super::http::couchdb("http-couchdb"),
        Kind::new("processes-recension", "documents in a store that another process owns, by its socket", our_version),
        sqlite("processes-sqlite", "SQLite, every process with the file open"),
        lmdb("processes-lmdb", "LMDB, every process with the files open"),
        Kind {
            missing: |_| without!("postgresql").or_else(postgresql_server::missing),
            ..Kind::new("processes-postgresql", "PostgreSQL: jsonb, over loopback", postgresql_server::version)
        },
        Kind {
            missing: redis_server::missing,
            ..Kind::new(
                "processes-redis",
                "Redis: hashes and a sorted set of ids, its log synced at every write, over loopback",
                redis_server::version,
            )
        },
    ]
}

/// Opens or starts a store in a directory, which exists; a new one, or again.
pub fn own(name: &str, dir: &Path, given: &Given, fresh: bool) -> Result<Box<dyn Owner>> {
    let kind = named(kinds(), name, |kind| kind.name)?;
    if let Some(reason) = (kind.missing)(given) {
        return Err(LabError::Unavailable { reason });
    }
    match store(name) {
        "couchdb" => http::given(given, fresh),
        _ if name.starts_with("http-") => http::own(dir, given),
        #[cfg(feature = "sqlite")]
        "sqlite" => sqlite::own(dir),
        #[cfg(feature = "lmdb")]
        "lmdb" => lmdb::own(dir),
        #[cfg(feature = "postgresql")]
        "postgresql" => postgresql::own(dir),
        "redis" => redis::own(dir),
        _ => recension::own(dir, by_processes(name)),
    }
}

/// Comes to a store that has been opened or started.
pub fn join(name: &str, place: &str) -> Result<Box<dyn Shared>> {
    match store(name) {
        "couchdb" => http::join_given(place),
        _ if name.starts_with("http-") => http::join(place),
        #[cfg(feature = "sqlite")]
        "sqlite" => Ok(sqlite::join(place)),
        #[cfg(feature = "lmdb")]
        "lmdb" => lmdb::join(place),
        #[cfg(feature = "postgresql")]
        "postgresql" => postgresql::join(place),
        "redis" => redis::join(place),
        _ => recension::join(place),
    }
}

/// The store's own name.
fn store(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(_, store)| store)
}

fn address(place: &str) -> Result<std::net::SocketAddr> {
    place.parse().map_err(|_| LabError::Worker { what: format!("\"{place}\" is no address") })
}
