//! The workloads of `BonsaiDb`'s own benchmarks: saved documents, values under keys, and a shop. Each subject is behind
//! two small traits, in a file of its own. Writes are durable when the call returns, or the tier says less. Every look
//! at a product returns its present rating.

mod model;
mod recension;
mod redis;
mod shopper;
#[cfg_attr(not(all(feature = "sqlite", feature = "postgresql")), allow(dead_code))]
mod sql;

#[cfg(feature = "bonsaidb")]
mod bonsai;
#[cfg(feature = "postgresql")]
mod postgresql;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::path::Path;

pub use model::{Contents, Data, Found, Order, Review, Size, VALUE_LETTERS, average, data, key, letters};
pub use shopper::{Step, StepKind, plans};

use super::{Given, Kind, OURS, Tier, named, our_version, versions};
use crate::error::{LabError, Result};
use crate::servers::{postgresql as postgresql_server, redis as redis_server};

/// A store of text documents, values under keys, and numbers under keys.
pub trait Values: Send {
    /// Saves a document that is new, under this number.
    fn save(&mut self, number: u64, text: &str) -> Result<()>;

    /// The text of a document.
    fn saved(&mut self, number: u64) -> Result<Option<String>>;

    /// Sets the value of a key.
    fn set(&mut self, key: &str, value: &str) -> Result<()>;

    /// The value of a key.
    fn get(&mut self, key: &str) -> Result<Option<String>>;

    /// Adds one to the number of a key, which begins at none; answers it.
    fn increment(&mut self, key: &str) -> Result<u64>;

    /// How it was set up, in the subject's own words.
    fn settings(&self) -> String;

    /// Closes it in order.
    fn close(self: Box<Self>) -> Result<()>;
}

/// A shop.
pub trait Shop: Send {
    /// Stores what it begins with, until it can be read by every way that there is.
    fn load(&mut self, data: &Data) -> Result<()>;

    /// An agent with a connection of its own.
    fn agent(&self) -> Result<Box<dyn Agent>>;

    /// The carts, orders and reviews that it holds.
    fn contents(&self) -> Result<Contents>;

    /// How it was set up, in the subject's own words.
    fn settings(&self) -> String;

    /// Closes it in order.
    fn close(self: Box<Self>) -> Result<()>;
}

/// An agent that acts for shoppers.
pub trait Agent: Send {
    /// The product of a name.
    fn find(&mut self, name: &str) -> Result<Option<Found>>;

    /// The product of a number.
    fn lookup(&mut self, id: u32) -> Result<Option<Found>>;

    /// Makes an empty cart; answers what it is called.
    fn create_cart(&mut self) -> Result<String>;

    /// Puts a product into a cart, which there is.
    fn add_to_cart(&mut self, cart: &str, product: u32) -> Result<()>;

    /// Makes an order of a cart's products, and deletes the cart, in one transaction.
    fn checkout(&mut self, cart: &str, customer: u32) -> Result<()>;

    /// Reviews a product, in the place of an earlier review of the same customer.
    fn review(&mut self, review: &Review) -> Result<()>;
}

/// The parts that a subject supports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Documents.
    Documents,
    /// Keys.
    Keys,
    /// A shop.
    Shop,
}

type OpenValues = fn(&Path) -> Result<Box<dyn Values>>;
type OpenShop = fn(&Path) -> Result<Box<dyn Shop>>;

/// A subject of this suite.
struct Entry {
    kind: Kind,
    parts: &'static [Part],
    values: Option<OpenValues>,
    shop: Option<OpenShop>,
}

const ALL: &[Part] = &[Part::Documents, Part::Keys, Part::Shop];

fn entries() -> Vec<Entry> {
    vec![
        Entry {
            kind: Kind::new(OURS, "embedded: typed documents, a transaction for a checkout", our_version),
            parts: ALL,
            values: Some(recension::open_values),
            shop: Some(recension::open_shop),
        },
        Entry {
            kind: Kind {
                missing: |_| without!("bonsaidb"),
                tier_note: Some(
                    "each tree and the log are synced: two fsyncs for a document (seen by strace); a read that brings \
                     a view up to date syncs that, too",
                ),
                ..Kind::new("bonsaidb", "BonsaiDb's collections and views, embedded, by its blocking API", || {
                    versions::of_crate("bonsaidb-local")
                })
            },
            parts: &[Part::Documents, Part::Shop],
            values: peer!("bonsaidb", bonsai::open_values as OpenValues),
            shop: peer!("bonsaidb", bonsai::open_shop as OpenShop),
        },
        Entry {
            kind: Kind {
                missing: |_| without!("bonsaidb"),
                tier: Tier::T0,
                // Seen by strace (4 fsyncs for 20 sets), and by numbers that were missing after it was closed and
                // opened.
                tier_note: Some(
                    "weaker: a thread of its own stores later what was acknowledged, with immediate persistence, too, \
                     and closing it does not wait for all of that: it is verified before it is closed, and not after",
                ),
                persistent: false,
                ..Kind::new("bonsaidb-keys", "BonsaiDb's key-value store, immediate persistence", || {
                    versions::of_crate("bonsaidb-local")
                })
            },
            parts: &[Part::Keys],
            values: peer!("bonsaidb", bonsai::open_values as OpenValues),
            shop: None,
        },
        Entry {
            kind: Kind {
                missing: |_| without!("sqlite"),
                ..Kind::new("sqlite", "SQLite by rusqlite, WAL, synchronous=FULL", versions::sqlite)
            },
            parts: ALL,
            values: peer!("sqlite", sqlite::open_values as OpenValues),
            shop: peer!("sqlite", sqlite::open_shop as OpenShop),
        },
        Entry {
            kind: Kind {
                missing: |_| without!("postgresql").or_else(postgresql_server::missing),
                ..Kind::new("postgresql", "PostgreSQL by tokio-postgres, prepared", postgresql_server::version)
            },
            parts: ALL,
            values: peer!("postgresql", postgresql::open_values as OpenValues),
            shop: peer!("postgresql", postgresql::open_shop as OpenShop),
        },
        Entry {
            kind: Kind {
                missing: redis_server::missing,
                ..Kind::new("redis", "Redis, its log synced at every write", redis_server::version)
            },
            parts: &[Part::Documents, Part::Keys],
            values: Some(redis::open_values),
            shop: None,
        },
    ]
}

/// The kinds of subjects.
pub fn kinds() -> Vec<Kind> {
    entries().into_iter().map(|entry| entry.kind).collect()
}

/// Whether a subject has a part.
pub fn has(kind: &Kind, part: Part) -> bool {
    entries().iter().any(|entry| entry.kind.name == kind.name && entry.parts.contains(&part))
}

fn entry(name: &str) -> Result<Entry> {
    named(entries(), name, |entry| entry.kind.name)
}

/// Opens the documents and keys of a subject in a directory, which exists.
pub fn open_values(name: &str, dir: &Path) -> Result<Box<dyn Values>> {
    let entry = entry(name)?;
    entry.values.ok_or_else(|| unavailable(&entry.kind))?(dir)
}

/// Opens the shop of a subject in a directory, which exists.
pub fn open_shop(name: &str, dir: &Path) -> Result<Box<dyn Shop>> {
    let entry = entry(name)?;
    entry.shop.ok_or_else(|| unavailable(&entry.kind))?(dir)
}

fn unavailable(kind: &Kind) -> LabError {
    let reason = (kind.missing)(&Given::default()).unwrap_or_else(|| "it has no such part".to_owned());
    LabError::Unavailable { reason }
}

/// The error if an object of a step is not there.
fn gone(what: &str) -> LabError {
    LabError::Wrong { what: what.to_owned(), expected: "that it is there".to_owned(), found: "none".to_owned() }
}
