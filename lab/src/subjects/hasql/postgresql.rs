//! `PostgreSQL` for every client of it: one server with the tables of the experiment. Which client is measured is a
//! function that connects.

use std::net::SocketAddr;
use std::path::Path;

use tokio::runtime::Runtime;
use tokio_postgres::{Error, NoTls};

use super::{Client, Database, Person, Set};
use crate::error::{LabError, Result};
use crate::servers::{Place, Process, postgresql};

/// Connects a client.
pub(super) type Connect = fn(SocketAddr) -> Result<Box<dyn Client>>;

/// The text of the reads and writes, with `$1` for the first parameter.
pub(super) const BALANCE: &str = "SELECT balance FROM balances WHERE id = $1";
pub(super) const SET_BALANCE: &str = "UPDATE balances SET balance = $1 WHERE id = $2";
pub(super) const BALANCES: &str = "SELECT balance FROM balances ORDER BY id";
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE";
/// `serialization_failure` and `deadlock_detected`: the transaction has to be tried again.
pub(super) const CONFLICTS: [&str; 2] = ["40001", "40P01"];

/// All people.
pub(super) fn all(set: Set) -> String {
    format!("SELECT * FROM {}", set.name())
}

/// People between two numbers, of the table that has none.
pub(super) fn between() -> String {
    format!("SELECT * FROM {} WHERE id > $1 AND id < $2 AND birthday != $3", Set::None.name())
}

/// A runtime of one thread, for a client.
pub(super) fn runtime() -> Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(LabError::io("starting the client"))
}

/// Connects, and leaves the connection to the runtime.
pub(super) async fn connect(address: SocketAddr) -> std::result::Result<tokio_postgres::Client, Error> {
    let config = format!("host={} port={} user=lab dbname=postgres", address.ip(), address.port());
    let (client, connection) = tokio_postgres::connect(&config, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// A server, new or as it was left.
pub(super) fn open(dir: &Path, connect_client: Connect, how: &'static str) -> Result<Box<dyn Database>> {
    let (process, address, fresh) = postgresql::start(&Place { dir, traced: None })?;
    let runtime = runtime()?;
    let client = runtime.block_on(async {
        let client = connect(address).await?;
        for set in [Set::Few, Set::Many, Set::None].into_iter().filter(|_| fresh) {
            let table =
                format!("CREATE TABLE {} (id SERIAL PRIMARY KEY, name VARCHAR NOT NULL, birthday DATE)", set.name());
            client.batch_execute(&table).await?;
        }
        if fresh {
            client.batch_execute("CREATE TABLE balances (id SERIAL PRIMARY KEY, balance INT8)").await?;
        }
        Ok(client)
    });
    let client = client.map_err(LabError::subject::<Error>("making the tables"))?;
    Ok(Box::new(PostgreSql { client, runtime, process, address, connect_client, how }))
}

struct PostgreSql {
    client: tokio_postgres::Client,
    runtime: Runtime,
    process: Process,
    address: SocketAddr,
    connect_client: Connect,
    how: &'static str,
}

impl PostgreSql {
    fn load_with<T>(
        &mut self,
        text: &str,
        rows: impl IntoIterator<Item = T>,
        parameters: fn(&T) -> Vec<Box<dyn tokio_postgres::types::ToSql + Sync + '_>>,
    ) -> Result<()> {
        let client = &mut self.client;
        let load = async {
            let transaction = client.transaction().await?;
            let insert = transaction.prepare(text).await?;
            for row in rows {
                let parameters = parameters(&row);
                let parameters: Vec<_> = parameters.iter().map(AsRef::as_ref).collect();
                transaction.execute(&insert, &parameters).await?;
            }
            transaction.commit().await?;
            client.batch_execute("VACUUM ANALYZE").await
        };
        self.runtime.block_on(load).map_err(LabError::subject("loading"))
    }
}

impl Database for PostgreSql {
    fn load(&mut self, set: Set, people: &[Person]) -> Result<()> {
        let text = format!("INSERT INTO {} (id, name, birthday) VALUES ($1, $2, $3)", set.name());
        self.load_with(&text, people, |person| {
            vec![Box::new(person.id), Box::new(&person.name), Box::new(person.birthday.and_then(super::day::date))]
        })
    }
    fn load_accounts(&mut self, count: i32) -> Result<()> {
        let text = "INSERT INTO balances (id, balance) VALUES ($1, 0)";
        self.load_with(text, 1..=count, |account| vec![Box::new(*account)])
    }
    fn client(&self) -> Result<Box<dyn Client>> {
        (self.connect_client)(self.address)
    }
    fn settings(&self) -> String {
        format!(
            "{}; fsync=on, synchronous_commit=on, shared_buffers=256MB, otherwise defaults; TCP on loopback",
            self.how
        )
    }
    fn close(self: Box<Self>) -> Result<()> {
        drop(self.client);
        drop(self.runtime);
        self.process.stop()
    }
}
