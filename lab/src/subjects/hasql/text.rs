//! `tokio-postgres` by the simple protocol: every value is text in both directions, and every query is parsed and
//! planned anew, as clients without parameters do it.

use std::net::SocketAddr;
use std::path::Path;

use tokio::runtime::Runtime;
use tokio_postgres::{Client as Connection, Error, SimpleQueryMessage, SimpleQueryRow};

use super::postgresql::{BALANCES, BEGIN, all, connect, open as server, runtime};
use super::tokio_postgres::is_conflict;
use super::{AMOUNT, Client, Database, Day, Moved, Person, Set, day};
use crate::error::{LabError, Result};

pub(super) fn open(dir: &Path) -> Result<Box<dyn Database>> {
    server(dir, client, "the simple protocol: values as text, nothing prepared")
}

struct Text {
    runtime: Runtime,
    connection: Connection,
}

fn client(address: SocketAddr) -> Result<Box<dyn Client>> {
    let runtime = runtime()?;
    let connection = runtime.block_on(connect(address)).map_err(LabError::subject("connecting to PostgreSQL"))?;
    Ok(Box::new(Text { runtime, connection }))
}

async fn ask(connection: &Connection, text: &str) -> std::result::Result<Vec<SimpleQueryRow>, Error> {
    let said = connection.simple_query(text).await?;
    Ok(said
        .into_iter()
        .filter_map(|one| if let SimpleQueryMessage::Row(row) = one { Some(row) } else { None })
        .collect())
}

fn not_understood() -> LabError {
    LabError::Subject { what: "a row".to_owned(), why: "it is not understood".to_owned() }
}

fn number<T: std::str::FromStr>(row: &SimpleQueryRow, at: usize) -> Result<T> {
    row.get(at).and_then(|text| text.parse().ok()).ok_or_else(not_understood)
}

fn person(row: &SimpleQueryRow) -> Result<Person> {
    let birthday = row.get(2).map(|text| day::of_text(text).ok_or_else(not_understood)).transpose()?;
    Ok(Person { id: number(row, 0)?, name: row.get(1).ok_or_else(not_understood)?.to_owned(), birthday })
}

impl Text {
    fn read(&self, text: &str) -> Result<Vec<SimpleQueryRow>> {
        self.runtime.block_on(ask(&self.connection, text)).map_err(LabError::subject("a query"))
    }
}

async fn transfer(
    connection: &Connection,
    from: i32,
    to: i32,
) -> std::result::Result<[Option<SimpleQueryRow>; 2], Error> {
    connection.batch_execute(BEGIN).await?;
    let mut read = [None, None];
    for (balance, (account, change)) in read.iter_mut().zip([(from, -AMOUNT), (to, AMOUNT)]) {
        *balance = ask(connection, &format!("SELECT balance FROM balances WHERE id = {account}")).await?.pop();
        let before: i64 = balance.as_ref().and_then(|row| row.get(0)?.parse().ok()).unwrap_or_default();
        ask(connection, &format!("UPDATE balances SET balance = {} WHERE id = {account}", before + change)).await?;
    }
    connection.batch_execute("COMMIT").await?;
    Ok(read)
}

impl Client for Text {
    fn all(&mut self, set: Set) -> Result<Vec<Person>> {
        self.read(&all(set))?.iter().map(person).collect()
    }
    fn between(&mut self, above: i32, below: i32, not: Day, count: u64) -> Result<u64> {
        let mut rows = 0;
        for _ in 0..count {
            let not = day::text(not).ok_or_else(not_understood)?;
            let table = Set::None.name();
            let text = format!("SELECT * FROM {table} WHERE id > {above} AND id < {below} AND birthday != '{not}'");
            for row in self.read(&text)? {
                person(&row)?;
                rows += 1;
            }
        }
        Ok(rows)
    }
    fn transfer(&mut self, from: i32, to: i32) -> Result<Moved> {
        let moved = self.runtime.block_on(async {
            let moved = transfer(&self.connection, from, to).await;
            if moved.is_err() {
                self.connection.batch_execute("ROLLBACK").await?;
            }
            moved
        });
        match moved {
            Err(error) if is_conflict(&error) => Ok(Moved::Conflict),
            Err(error) => Err(LabError::subject("a transfer")(error)),
            Ok([Some(from), Some(to)]) => Ok(Moved::From(number(&from, 0)?, number(&to, 0)?)),
            Ok(_) => Err(not_understood()),
        }
    }
    fn balances(&mut self) -> Result<Vec<i64>> {
        self.read(BALANCES)?.iter().map(|row| number(row, 0)).collect()
    }
}
