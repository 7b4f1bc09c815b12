//! The accounts of the article `AcidState` vs SQL vs `MongoDB` (2013): each subject behind one small trait, one file
//! each. Everything that is read is decoded into [`Account`]; everything that is written is durable when the call
//! returns; every subject has an index on the name.

mod external;
mod model;
mod raw;
mod recension;
mod redis;
pub(super) mod resp;
mod sql;

#[cfg(feature = "lmdb")]
mod lmdb;
#[cfg(feature = "mariadb")]
mod mariadb;
#[cfg(feature = "postgresql")]
mod postgresql;
#[cfg(feature = "redb")]
mod redb;
#[cfg(any(feature = "lmdb", feature = "redb"))]
mod rows;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::path::Path;

pub use model::{Account, Item, Status, account, item};

use super::calls::{Timed, one_by_one};
use super::external::{self as programs, Source};
use super::{FLOOR, Given, Kind, OURS, named, our_version, versions};
use crate::error::{LabError, Result};
use crate::servers::{mariadb as mariadb_server, postgresql as postgresql_server, redis as redis_server};

/// A store of accounts.
pub trait Accounts: Send {
    /// Stores many that are new; not timed.
    fn load(&mut self, accounts: &[Account]) -> Result<()>;

    /// Stores one that is new.
    fn create(&mut self, account: &Account) -> Result<()>;

    /// The account of an id, with its items.
    fn get(&mut self, id: u64) -> Result<Option<Account>>;

    /// The account of a name, with its items.
    fn get_by_name(&mut self, name: &str) -> Result<Option<Account>>;

    /// All accounts with their items, in the order that is the subject's own.
    fn list(&mut self) -> Result<Vec<Account>>;

    /// Reads an account, then adds an item to it, in one transaction.
    fn add_item(&mut self, id: u64, item: &Item) -> Result<()>;

    /// Changes the item at a place, which there is.
    fn change_item(&mut self, id: u64, place: usize, item: &Item) -> Result<()>;

    /// Changes the passphrase.
    fn update(&mut self, id: u64, passphrase: &str) -> Result<()>;

    /// Removes an account and its items.
    fn delete(&mut self, id: u64) -> Result<()>;

    /// Makes calls, timed. One that is not in this process is given all of them at once.
    fn run(&mut self, calls: &[Call<'_>]) -> Result<Timed<Answer>> {
        one_by_one(calls, |call| call.on(self))
    }

    /// How it was set up, in the subject's own words.
    fn settings(&self) -> String;

    /// Closes it in order.
    fn close(self: Box<Self>) -> Result<()>;
}

/// A call on a store.
#[derive(Clone, Copy, Debug)]
pub enum Call<'c> {
    /// [`Accounts::create`].
    Create(&'c Account),
    /// [`Accounts::get`].
    Get(u64),
    /// [`Accounts::get_by_name`].
    GetByName(&'c str),
    /// [`Accounts::list`].
    List,
    /// [`Accounts::add_item`].
    AddItem(u64, &'c Item),
    /// [`Accounts::change_item`].
    ChangeItem(u64, usize, &'c Item),
    /// [`Accounts::update`].
    Update(u64, &'c str),
    /// [`Accounts::delete`].
    Delete(u64),
}

/// The result of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It is done.
    Done,
    /// The account, if there is one.
    One(Option<Account>),
    /// Accounts.
    All(Vec<Account>),
}

impl Call<'_> {
    fn on<A: Accounts + ?Sized>(self, accounts: &mut A) -> Result<Answer> {
        match self {
            Call::Create(account) => accounts.create(account)?,
            Call::Get(id) => return accounts.get(id).map(Answer::One),
            Call::GetByName(name) => return accounts.get_by_name(name).map(Answer::One),
            Call::List => return accounts.list().map(Answer::All),
            Call::AddItem(id, item) => accounts.add_item(id, item)?,
            Call::ChangeItem(id, place, item) => accounts.change_item(id, place, item)?,
            Call::Update(id, passphrase) => accounts.update(id, passphrase)?,
            Call::Delete(id) => accounts.delete(id)?,
        }
        Ok(Answer::Done)
    }
}

/// The way a store is opened.
enum Open {
    /// In this process, or by a client here.
    Here(fn(&Path) -> Result<Box<dyn Accounts>>),
    /// By a program of its own.
    Program(Source),
}

/// The reason if no server is named.
const WITHOUT_MONGODB: &str = "needs a server at a URL: --mongodb-url mongodb://HOST:27017, or \
    RECENSION_LAB_MONGODB_URL (Debian and the registries have no server of it; its driver was tried by a stand-in \
    only)";

fn floor() -> Kind {
    Kind {
        floor: true,
        ..Kind::new(FLOOR, "append + fdatasync of the bytes that a call brings, and no more", String::new)
    }
}

fn subjects() -> Vec<(Kind, Option<Open>)> {
    vec![
        (floor(), Some(Open::Here(raw::open))),
        (
            Kind::new(OURS, "embedded, typed documents with a unique index, items nested", our_version),
            Some(Open::Here(recension::open)),
        ),
        (
            Kind {
                missing: |_| without!("sqlite"),
                ..Kind::new("sqlite", "SQLite by rusqlite, two tables", versions::sqlite)
            },
            peer!("sqlite", Open::Here(sqlite::open)),
        ),
        (
            Kind {
                missing: |_| without!("postgresql").or_else(postgresql_server::missing),
                ..Kind::new(
                    "postgresql",
                    "PostgreSQL by tokio-postgres, prepared, two tables",
                    postgresql_server::version,
                )
            },
            peer!("postgresql", Open::Here(postgresql::open)),
        ),
        (
            Kind {
                missing: |_| without!("mariadb").or_else(mariadb_server::missing),
                ..Kind::new("mariadb", "MariaDB (InnoDB) by mysql_async, prepared, two tables", mariadb_server::version)
            },
            peer!("mariadb", Open::Here(mariadb::open)),
        ),
        (
            Kind {
                missing: redis_server::missing,
                ..Kind::new(
                    "redis",
                    "Redis, its log synced at every write, accounts as JSON in a hash",
                    redis_server::version,
                )
            },
            Some(Open::Here(redis::open)),
        ),
        (
            Kind {
                missing: |_| without!("lmdb"),
                ..Kind::new("lmdb", "LMDB by heed, accounts as rows of JSON", || versions::of_crate("heed"))
            },
            peer!("lmdb", Open::Here(lmdb::open)),
        ),
        (
            Kind {
                missing: |_| without!("redb"),
                ..Kind::new("redb", "redb, accounts as rows of JSON", || versions::of_crate("redb"))
            },
            peer!("redb", Open::Here(redb::open)),
        ),
        (
            Kind {
                missing: |given| programs::ACID_STATE.missing(given),
                tier_note: Some(
                    "each update is written to the end of its log and waits for fsync of that file (seen by strace: \
                     one each); directories are not synced",
                ),
                ..Kind::new("acid-state", "acid-state with ixset, in Haskell: a value in memory and a log", || {
                    format!("{}, {}", programs::ACID_STATE.version(), programs::compiler())
                })
            },
            Some(Open::Program(programs::ACID_STATE)),
        ),
        (
            Kind {
                missing: |given| programs::HDBC_SQLITE3.missing(given),
                ..Kind::new("hdbc-sqlite3", "SQLite by HDBC, in Haskell, two tables", || {
                    format!("{}, {}", programs::HDBC_SQLITE3.version(), programs::compiler())
                })
            },
            Some(Open::Program(programs::HDBC_SQLITE3)),
        ),
        (
            Kind {
                missing: |given| Source::Given.missing(given),
                ..Kind::new("external", "the program that --external names", || Source::Given.version())
            },
            Some(Open::Program(Source::Given)),
        ),
        (
            Kind {
                missing: |given| match given.mongodb_url {
                    Some(_) => programs::MONGODB.missing(given),
                    None => Some(WITHOUT_MONGODB.to_owned()),
                },
                tier_note: Some("a server of the user's: its settings and its disk are not the laboratory's"),
                ..Kind::new("mongodb", "MongoDB by pymongo, accounts as documents", || "as given".to_owned())
            },
            Some(Open::Program(programs::MONGODB)),
        ),
    ]
}

/// The kinds of subjects.
pub fn kinds() -> Vec<Kind> {
    subjects().into_iter().map(|(kind, _)| kind).collect()
}

/// Opens one in a directory, which exists.
pub fn open(name: &str, dir: &Path, given: &Given) -> Result<Box<dyn Accounts>> {
    let (kind, open) = named(subjects(), name, |(kind, _)| kind.name)?;
    match open {
        Some(Open::Here(open)) => open(dir),
        Some(Open::Program(source)) => external::open(source, dir, given),
        None => Err(LabError::Unavailable { reason: (kind.missing)(given).unwrap_or_default() }),
    }
}

/// The account that an operation is about is not there.
fn gone(id: u64) -> LabError {
    LabError::Wrong { what: format!("account {id}"), expected: "the account".to_owned(), found: "none".to_owned() }
}
