//! `SQLite` in the process: WAL, synchronous=FULL, one connection for each client, statements prepared once. It has no
//! type for days, so they are numbers. Its transactions begin as writers: two of them wait for each other and never
//! conflict.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Row, TransactionBehavior};

use super::{AMOUNT, Client, Database, Day, Moved, Person, Set};
use crate::error::{LabError, Result};

/// How long a transaction waits for another.
const BUSY: Duration = Duration::from_mins(1);

pub(super) fn open(dir: &Path) -> Result<Box<dyn Database>> {
    let file = dir.join("hasql.sqlite");
    let fresh = !file.exists();
    let connection = connect(&file)?;
    for set in [Set::Few, Set::Many, Set::None].into_iter().filter(|_| fresh) {
        let table =
            format!("CREATE TABLE {} (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, birthday INTEGER)", set.name());
        connection.execute_batch(&table).map_err(LabError::subject("making a table"))?;
    }
    if fresh {
        let table = "CREATE TABLE balances (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)";
        connection.execute_batch(table).map_err(LabError::subject("making a table"))?;
    }
    Ok(Box::new(Sqlite { file, connection }))
}

fn connect(file: &Path) -> Result<Connection> {
    let failed = || LabError::subject("opening the file");
    let connection = Connection::open(file).map_err(failed())?;
    connection.busy_timeout(BUSY).map_err(failed())?;
    connection
        .execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536;")
        .map_err(failed())?;
    Ok(connection)
}

struct Sqlite {
    file: PathBuf,
    connection: Connection,
}

struct Connected(Connection);

impl Database for Sqlite {
    fn load(&mut self, set: Set, people: &[Person]) -> Result<()> {
        let text = format!("INSERT INTO {} (id, name, birthday) VALUES (?, ?, ?)", set.name());
        let mut load = || {
            let transaction = self.connection.transaction()?;
            for person in people {
                transaction.prepare_cached(&text)?.execute((
                    person.id,
                    &person.name,
                    person.birthday.map(|day| day.0),
                ))?;
            }
            transaction.commit()
        };
        load().map_err(LabError::subject("loading"))
    }
    fn load_accounts(&mut self, count: i32) -> Result<()> {
        let mut load = || {
            let transaction = self.connection.transaction()?;
            for account in 1..=count {
                transaction.execute("INSERT INTO balances (id, balance) VALUES (?, 0)", [account])?;
            }
            transaction.commit()
        };
        load().map_err(LabError::subject("loading"))
    }
    fn client(&self) -> Result<Box<dyn Client>> {
        Ok(Box::new(Connected(connect(&self.file)?)))
    }
    fn settings(&self) -> String {
        "WAL, synchronous=FULL, BEGIN IMMEDIATE, a connection a client; days as numbers".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.connection.close().map_err(|(_, error)| LabError::subject("closing")(error))
    }
}

fn person(row: &Row<'_>) -> rusqlite::Result<Person> {
    Ok(Person { id: row.get(0)?, name: row.get(1)?, birthday: row.get::<_, Option<i32>>(2)?.map(Day) })
}

impl Client for Connected {
    fn all(&mut self, set: Set) -> Result<Vec<Person>> {
        let text = format!("SELECT * FROM {}", set.name());
        let read = || self.0.prepare_cached(&text)?.query_map([], person)?.collect::<rusqlite::Result<_>>();
        read().map_err(LabError::subject("a query"))
    }
    fn between(&mut self, above: i32, below: i32, not: Day, count: u64) -> Result<u64> {
        let text = format!("SELECT * FROM {} WHERE id > ? AND id < ? AND birthday != ?", Set::None.name());
        let mut rows = 0;
        let mut read = || {
            for _ in 0..count {
                for row in self.0.prepare_cached(&text)?.query_map((above, below, not.0), person)? {
                    row?;
                    rows += 1;
                }
            }
            Ok::<_, rusqlite::Error>(())
        };
        read().map_err(LabError::subject("a query"))?;
        Ok(rows)
    }
    fn transfer(&mut self, from: i32, to: i32) -> Result<Moved> {
        let mut transfer = || {
            let transaction = self.0.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut read = [0, 0];
            for (balance, (account, change)) in read.iter_mut().zip([(from, -AMOUNT), (to, AMOUNT)]) {
                *balance = transaction
                    .prepare_cached("SELECT balance FROM balances WHERE id = ?")?
                    .query_row([account], |row| row.get::<_, i64>(0))?;
                transaction
                    .prepare_cached("UPDATE balances SET balance = ? WHERE id = ?")?
                    .execute((*balance + change, account))?;
            }
            transaction.commit()?;
            Ok::<_, rusqlite::Error>(Moved::From(read[0], read[1]))
        };
        transfer().map_err(LabError::subject("a transfer"))
    }
    fn balances(&mut self) -> Result<Vec<i64>> {
        let read = || {
            self.0
                .prepare("SELECT balance FROM balances ORDER BY id")?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(LabError::subject("a query"))
    }
}
