//! The clients of the article on `hasql` (2014): the same three pieces of work on `PostgreSQL` by every client there is
//! in Rust, in `SQLite` and in ours. Whatever is read is decoded into [`Person`] or a number; whatever is written is
//! durable and serializable.

mod external;
mod model;
mod recension;

#[cfg(feature = "postgresql")]
mod day;
#[cfg(feature = "diesel")]
mod diesel;
#[cfg(feature = "postgresql")]
mod postgresql;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "sqlx")]
mod sqlx;
#[cfg(feature = "postgresql")]
mod text;
#[cfg(feature = "postgresql")]
mod tokio_postgres;

use std::path::Path;

pub use model::{ACCOUNTS, AMOUNT, Day, Person, Set, person};

use super::calls::{Timed, one_by_one};
use super::external::{self as programs, Source};
use super::{Given, Kind, OURS, named, our_version, versions};
use crate::error::{LabError, Result};
use crate::servers::postgresql as server;

/// A database with the tables of the experiment.
pub trait Database: Send {
    /// Stores people; not timed.
    fn load(&mut self, set: Set, people: &[Person]) -> Result<()>;

    /// Stores accounts from 1 on, each at 0; not timed.
    fn load_accounts(&mut self, count: i32) -> Result<()>;

    /// A client with a connection of its own.
    fn client(&self) -> Result<Box<dyn Client>>;

    /// How it was set up, in the subject's own words.
    fn settings(&self) -> String;

    /// Closes it in order.
    fn close(self: Box<Self>) -> Result<()>;
}

/// The result of an attempt to move money.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moved {
    /// The two balances that were read.
    From(i64, i64),
    /// Another transaction was in the way: it has to be tried again.
    Conflict,
}

/// A client.
pub trait Client: Send {
    /// `SELECT * FROM a`.
    fn all(&mut self, set: Set) -> Result<Vec<Person>>;

    /// `SELECT * FROM a WHERE id > above AND id < below AND birthday != not`, this many times. Returns the rows of all.
    fn between(&mut self, above: i32, below: i32, not: Day, count: u64) -> Result<u64>;

    /// Moves [`AMOUNT`] in one serializable transaction: reads, writes, reads, writes.
    fn transfer(&mut self, from: i32, to: i32) -> Result<Moved>;

    /// The balances in the order of their accounts.
    fn balances(&mut self) -> Result<Vec<i64>>;

    /// Makes calls, timed. One that is not in this process is given all of them at once.
    fn run(&mut self, calls: &[Call]) -> Result<Timed<Answer>> {
        one_by_one(calls, |call| match *call {
            Call::All(set) => self.all(set).map(Answer::People),
            Call::Between { above, below, not, count } => self.between(above, below, not, count).map(Answer::Rows),
            Call::Transfer(from, to) => self.transfer(from, to).map(Answer::Moved),
        })
    }
}

/// A call on a client.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// [`Client::all`].
    All(Set),
    /// [`Client::between`].
    Between {
        /// Numbers above this,
        above: i32,
        /// and below this,
        below: i32,
        /// and not born on this day.
        not: Day,
        /// So often.
        count: u64,
    },
    /// [`Client::transfer`].
    Transfer(i32, i32),
}

/// The result of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// People.
    People(Vec<Person>),
    /// The number of rows.
    Rows(u64),
    /// The result of a transfer.
    Moved(Moved),
}

/// The way a database is opened.
enum Open {
    /// In this process, or by a client here.
    Here(fn(&Path) -> Result<Box<dyn Database>>),
    /// By a program of its own, which is given a server of `PostgreSQL`.
    Program(Source),
}

/// A subject that needs the server and the feature of its client.
macro_rules! of_postgresql {
    ($feature:literal, $name:literal, $what:literal, $version:expr) => {
        Kind { missing: |_| without!($feature).or_else(server::missing), ..Kind::new($name, $what, $version) }
    };
}

/// The server's version with a client's.
fn with(client: &str) -> String {
    format!("{}, {client} {}", server::version(), versions::of_crate(client))
}

/// The server's version with a program's.
fn with_program(library: &str, source: Source) -> String {
    format!("{}, {library} {}", server::version(), source.version())
}

/// A client that is a program of its own.
fn of_program(
    name: &'static str,
    what: &'static str,
    source: Source,
    version: fn() -> String,
    missing: fn(&Given) -> Option<String>,
) -> (Kind, Option<Open>) {
    (Kind { missing, ..Kind::new(name, what, version) }, Some(Open::Program(source)))
}

fn subjects() -> Vec<(Kind, Option<Open>)> {
    vec![
        (Kind::new(OURS, "embedded, typed documents, transactions", our_version), Some(Open::Here(recension::open))),
        (
            Kind { missing: |_| without!("sqlite"), ..Kind::new("sqlite", "SQLite by rusqlite", versions::sqlite) },
            peer!("sqlite", Open::Here(sqlite::open)),
        ),
        (
            of_postgresql!("postgresql", "postgresql", "PostgreSQL by tokio-postgres: prepared, binary", || with(
                "tokio-postgres"
            )),
            peer!("postgresql", Open::Here(tokio_postgres::open)),
        ),
        (
            of_postgresql!(
                "postgresql",
                "pg-pipelined",
                "the same, what can be asked at once is asked at once",
                || { with("tokio-postgres") }
            ),
            peer!("postgresql", Open::Here(tokio_postgres::open_pipelined)),
        ),
        (
            of_postgresql!(
                "postgresql",
                "pg-text",
                "PostgreSQL by tokio-postgres: the simple protocol, all as text",
                || { with("tokio-postgres") }
            ),
            peer!("postgresql", Open::Here(text::open)),
        ),
        (
            of_postgresql!("sqlx", "pg-sqlx", "PostgreSQL by sqlx: prepared and kept, binary", || with(
                "sqlx-postgres"
            )),
            peer!("sqlx", Open::Here(sqlx::open)),
        ),
        (
            of_postgresql!("diesel", "pg-diesel", "PostgreSQL by diesel over libpq: prepared and kept, binary", || {
                with("diesel")
            }),
            peer!("diesel", Open::Here(diesel::open)),
        ),
        of_program(
            "hdbc-postgresql",
            "PostgreSQL by HDBC, in Haskell: all as text",
            programs::HDBC_POSTGRESQL,
            || with_program("HDBC-postgresql", programs::HDBC_POSTGRESQL),
            |given| programs::HDBC_POSTGRESQL.missing(given).or_else(server::missing),
        ),
        of_program(
            "postgresql-simple",
            "PostgreSQL by postgresql-simple, in Haskell: all as text",
            programs::POSTGRESQL_SIMPLE,
            || with_program("postgresql-simple", programs::POSTGRESQL_SIMPLE),
            |given| programs::POSTGRESQL_SIMPLE.missing(given).or_else(server::missing),
        ),
        of_program(
            "psycopg",
            "PostgreSQL by psycopg, in Python: prepared, binary",
            programs::PSYCOPG,
            || with_program("psycopg", programs::PSYCOPG),
            |given| programs::PSYCOPG.missing(given).or_else(server::missing),
        ),
        (
            Kind {
                missing: |_| {
                    Some(
                        "hasql is in no registry that the laboratory installs from: it is on Hackage only. The subject \
                         postgresql does what its article says that it does; a program of yours that uses it, with a \
                         PostgreSQL server, is measured by --external"
                            .to_owned(),
                    )
                },
                ..Kind::new("hasql", "PostgreSQL by hasql, in Haskell: prepared, binary", || "unknown".to_owned())
            },
            None,
        ),
        of_program(
            "external",
            "PostgreSQL by the program that --external names",
            Source::Given,
            server::version,
            |given| Source::Given.missing(given).or_else(server::missing),
        ),
    ]
}

/// The kinds of subjects.
pub fn kinds() -> Vec<Kind> {
    subjects().into_iter().map(|(kind, _)| kind).collect()
}

/// Opens one in a directory, which exists.
pub fn open(name: &str, dir: &Path, given: &Given) -> Result<Box<dyn Database>> {
    let (kind, open) = named(subjects(), name, |(kind, _)| kind.name)?;
    match open {
        Some(Open::Here(open)) => open(dir),
        Some(Open::Program(source)) => external::open(source, dir, given),
        None => Err(LabError::Unavailable { reason: (kind.missing)(given).unwrap_or_default() }),
    }
}
