//! `tokio-postgres`: prepared statements, binary parameters and rows. Pipelined, what does not depend on an answer is
//! asked without waiting for it: all queries of a round, both balances of a transfer, both writes with the commit.

use std::net::SocketAddr;
use std::path::Path;

use futures_util::future::{try_join_all, try_join3};
use time::Date;
use tokio::runtime::Runtime;
use tokio_postgres::{Client as Connection, Error, Row, Statement};

use super::postgresql::{
    BALANCE, BALANCES, BEGIN, CONFLICTS, SET_BALANCE, all, between, connect, open as server, runtime,
};
use super::{AMOUNT, Client, Database, Day, Moved, Person, Set, day};
use crate::error::{LabError, Result};

/// Queries that are on their way at once.
const IN_FLIGHT: u64 = 100;

pub(super) fn open(dir: &Path) -> Result<Box<dyn Database>> {
    server(dir, |address| client(address, false), "prepared, binary, one answer awaited at a time")
}

pub(super) fn open_pipelined(dir: &Path) -> Result<Box<dyn Database>> {
    server(dir, |address| client(address, true), "prepared, binary, pipelined: up to 100 queries on their way")
}

struct Prepared {
    runtime: Runtime,
    connection: Connection,
    pipelined: bool,
    all: [Statement; 3],
    between: Statement,
    balance: Statement,
    set_balance: Statement,
    balances: Statement,
}

fn client(address: SocketAddr, pipelined: bool) -> Result<Box<dyn Client>> {
    let runtime = runtime()?;
    let prepared = runtime.block_on(async {
        let connection = connect(address).await?;
        let all = [
            connection.prepare(&all(Set::Few)).await?,
            connection.prepare(&all(Set::Many)).await?,
            connection.prepare(&all(Set::None)).await?,
        ];
        let between = connection.prepare(&between()).await?;
        let balance = connection.prepare(BALANCE).await?;
        let set_balance = connection.prepare(SET_BALANCE).await?;
        let balances = connection.prepare(BALANCES).await?;
        Ok((connection, all, between, balance, set_balance, balances))
    });
    let (connection, all, between, balance, set_balance, balances) =
        prepared.map_err(LabError::subject::<Error>("connecting to PostgreSQL"))?;
    Ok(Box::new(Prepared { runtime, connection, pipelined, all, between, balance, set_balance, balances }))
}

fn person(row: &Row) -> std::result::Result<Person, Error> {
    let birthday: Option<Date> = row.try_get(2)?;
    Ok(Person { id: row.try_get(0)?, name: row.try_get(1)?, birthday: birthday.map(day::day) })
}

impl Prepared {
    async fn one_between(&self, above: i32, below: i32, not: Option<Date>) -> std::result::Result<u64, Error> {
        let rows = self.connection.query(&self.between, &[&above, &below, &not]).await?;
        rows.iter().map(person).try_fold(0, |count, row| row.map(|_| count + 1))
    }

    async fn read(&self, account: i32) -> std::result::Result<i64, Error> {
        self.connection.query_one(&self.balance, &[&account]).await?.try_get(0)
    }

    async fn write(&self, account: i32, balance: i64) -> std::result::Result<(), Error> {
        self.connection.execute(&self.set_balance, &[&balance, &account]).await.map(drop)
    }

    async fn transfer(&self, from: i32, to: i32) -> std::result::Result<Moved, Error> {
        if self.pipelined {
            let begin = self.connection.batch_execute(BEGIN);
            let ((), of_from, of_to) = try_join3(begin, self.read(from), self.read(to)).await?;
            let commit = self.connection.batch_execute("COMMIT");
            try_join3(self.write(from, of_from - AMOUNT), self.write(to, of_to + AMOUNT), commit).await?;
            return Ok(Moved::From(of_from, of_to));
        }
        self.connection.batch_execute(BEGIN).await?;
        let of_from = self.read(from).await?;
        self.write(from, of_from - AMOUNT).await?;
        let of_to = self.read(to).await?;
        self.write(to, of_to + AMOUNT).await?;
        self.connection.batch_execute("COMMIT").await?;
        Ok(Moved::From(of_from, of_to))
    }
}

/// Whether a transaction has only to be tried again.
pub(super) fn is_conflict(error: &Error) -> bool {
    error.code().is_some_and(|code| CONFLICTS.contains(&code.code()))
}

impl Client for Prepared {
    fn all(&mut self, set: Set) -> Result<Vec<Person>> {
        let [few, many, none] = &self.all;
        let statement = match set {
            Set::Few => few,
            Set::Many => many,
            Set::None => none,
        };
        let read = async {
            self.connection.query(statement, &[]).await?.iter().map(person).collect::<std::result::Result<_, _>>()
        };
        self.runtime.block_on(read).map_err(LabError::subject::<Error>("a query"))
    }
    fn between(&mut self, above: i32, below: i32, not: Day, count: u64) -> Result<u64> {
        let not = day::date(not);
        let read = async {
            let (mut rows, mut left) = (0, count);
            while left > 0 {
                // Polled together, all of them are sent before the first is answered.
                let some = left.min(if self.pipelined { IN_FLIGHT } else { 1 });
                left -= some;
                let asked = (0..some).map(|_| self.one_between(above, below, not));
                rows += try_join_all(asked).await?.iter().sum::<u64>();
            }
            Ok(rows)
        };
        self.runtime.block_on(read).map_err(LabError::subject::<Error>("a query"))
    }
    fn transfer(&mut self, from: i32, to: i32) -> Result<Moved> {
        let moved = self.runtime.block_on(async {
            let moved = Prepared::transfer(self, from, to).await;
            if moved.is_err() {
                self.connection.batch_execute("ROLLBACK").await?;
            }
            moved
        });
        match moved {
            Err(error) if is_conflict(&error) => Ok(Moved::Conflict),
            moved => moved.map_err(LabError::subject("a transfer")),
        }
    }
    fn balances(&mut self) -> Result<Vec<i64>> {
        let read = async {
            self.connection
                .query(&self.balances, &[])
                .await?
                .iter()
                .map(|row| row.try_get(0))
                .collect::<std::result::Result<_, _>>()
        };
        self.runtime.block_on(read).map_err(LabError::subject::<Error>("a query"))
    }
}
