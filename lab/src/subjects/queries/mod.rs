//! Stores of orders that are asked by what they hold: ours, embedded and over HTTP, and who answers all or a part of
//! it otherwise.

mod duckdb;
pub mod events;
mod http;
pub mod model;
#[cfg(feature = "postgresql")]
mod postgresql;
mod recension;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "tantivy")]
mod tantivy;

use std::path::Path;

use events::Event;
use model::{Answer, Ask, Order};

use super::{Given, Kind, OURS, Tier, named, our_version, versions};
use crate::error::{LabError, Result};
use crate::servers::{postgresql as postgresql_server, recension as our_server};

/// A store of orders.
pub trait Orders {
    /// Stores all orders, with every index, until they can be asked.
    fn load(&mut self, orders: &[Order]) -> Result<()>;
    /// Stores events beside them, with an index by what the questions about them need.
    fn load_events(&mut self, _: &[Event]) -> Result<()> {
        Err(LabError::Unavailable { reason: "it is not asked about events".to_owned() })
    }
    /// Answers.
    fn ask(&mut self, ask: &Ask) -> Result<Answer>;
    /// How it is set up.
    fn settings(&self) -> String;
    /// Closes it in order.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Why a store of a server in this program cannot be opened.
fn over_http(given: &Given) -> Option<String> {
    our_server::missing(given)
}

/// Every subject.
pub fn kinds() -> Vec<Kind> {
    vec![
        Kind::new(OURS, "collections, indexes and an index of words, in this process", our_version),
        Kind {
            missing: over_http,
            ..Kind::new("recension-http", "the same by _find and _aggregate over HTTP", our_version)
        },
        Kind {
            missing: |_| without!("sqlite"),
            ..Kind::new("sqlite", "SQLite: JSON1, indexes on expressions, FTS5, in this process", versions::sqlite)
        },
        Kind {
            missing: |_| without!("postgresql").or_else(postgresql_server::missing),
            ..Kind::new("postgresql", "PostgreSQL: jsonb, GIN, tsvector, over loopback", postgresql_server::version)
        },
        Kind {
            tier: Tier::T1,
            tier_note: Some("loaded once and only read"),
            missing: |_| duckdb::PACKAGE.missing(),
            ..Kind::new("duckdb", "DuckDB, a column of JSON, in a Python program", || duckdb::PACKAGE.version())
        },
        Kind {
            tier: Tier::T1,
            tier_note: Some("loaded once and only read"),
            missing: |_| without!("tantivy"),
            ..Kind::new("tantivy", "tantivy, the notes alone, in this process", || versions::of_crate("tantivy"))
        },
    ]
}

/// Whether a subject answers an operation.
pub fn answers(name: &str, operation: &str) -> bool {
    match name {
        "duckdb" => {
            let scans = ["load", "substring_scan", "sort_scan", "group_sum", "group_index", "distinct"];
            scans.contains(&operation) || operation.starts_with("jsonbench")
        }
        "tantivy" => matches!(operation, "load" | "text_two_words" | "text_phrase"),
        // An order without an index is refused there, as CouchDB refuses it.
        // Its pipelines compute no hour.
        "recension-http" => !matches!(operation, "sort_scan" | "jsonbench_3"),
        _ => true,
    }
}

/// Opens a new store in a directory, which exists.
pub fn open(name: &str, dir: &Path, given: &Given) -> Result<Box<dyn Orders>> {
    let kind = named(kinds(), name, |kind| kind.name)?;
    if let Some(reason) = (kind.missing)(given) {
        return Err(LabError::Unavailable { reason });
    }
    match kind.name {
        "recension-http" => http::open(dir, given),
        "duckdb" => duckdb::open(dir),
        #[cfg(feature = "sqlite")]
        "sqlite" => sqlite::open(dir),
        #[cfg(feature = "postgresql")]
        "postgresql" => postgresql::open(dir),
        #[cfg(feature = "tantivy")]
        "tantivy" => tantivy::open(dir),
        _ => recension::open(dir),
    }
}

/// What a subject does not answer.
fn not_asked(ask: &Ask) -> LabError {
    LabError::Worker { what: format!("it is not asked {ask:?}") }
}
