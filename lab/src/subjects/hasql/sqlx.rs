//! `sqlx` on one connection: what it prepares it keeps, parameters and rows are binary. (By its crates `sqlx-core` and
//! `sqlx-postgres`: the crate in front of them names another `SQLite` than ours, and a program can have one.)

use std::net::SocketAddr;
use std::path::Path;

use sqlx_core::Error;
use sqlx_core::connection::{ConnectOptions as _, Connection as _};
use sqlx_core::error::DatabaseError;
use sqlx_core::query::query;
use sqlx_core::query_as::query_as;
use sqlx_core::query_scalar::query_scalar;
use sqlx_core::sql_str::AssertSqlSafe;
use sqlx_postgres::{PgConnectOptions, PgConnection};
use time::Date;
use tokio::runtime::Runtime;

use super::postgresql::{BALANCE, BALANCES, BEGIN, CONFLICTS, SET_BALANCE, all, between, open as server, runtime};
use super::{AMOUNT, Client, Database, Day, Moved, Person, Set, day};
use crate::error::{LabError, Result};

pub(super) fn open(dir: &Path) -> Result<Box<dyn Database>> {
    server(dir, client, "statements prepared once and kept, binary")
}

struct Sqlx {
    runtime: Runtime,
    connection: PgConnection,
}

fn client(address: SocketAddr) -> Result<Box<dyn Client>> {
    let runtime = runtime()?;
    let options = PgConnectOptions::new_without_pgpass()
        .host(&address.ip().to_string())
        .port(address.port())
        .username("lab")
        .database("postgres");
    let connection = runtime.block_on(options.connect()).map_err(LabError::subject("connecting to PostgreSQL"))?;
    Ok(Box::new(Sqlx { runtime, connection }))
}

type Columns = (i32, String, Option<Date>);

fn person((id, name, birthday): Columns) -> Person {
    Person { id, name, birthday: birthday.map(day::day) }
}

async fn transfer(connection: &mut PgConnection, from: i32, to: i32) -> std::result::Result<Moved, Error> {
    let mut transaction = connection.begin_with(BEGIN).await?;
    let mut read = [0_i64; 2];
    for (balance, (account, change)) in read.iter_mut().zip([(from, -AMOUNT), (to, AMOUNT)]) {
        *balance = query_scalar(BALANCE).bind(account).fetch_one(&mut *transaction).await?;
        query(SET_BALANCE).bind(*balance + change).bind(account).execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    Ok(Moved::From(read[0], read[1]))
}

impl Client for Sqlx {
    fn all(&mut self, set: Set) -> Result<Vec<Person>> {
        let read = query_as::<_, Columns>(AssertSqlSafe(all(set))).fetch_all(&mut self.connection);
        let rows = self.runtime.block_on(read).map_err(LabError::subject("a query"))?;
        Ok(rows.into_iter().map(person).collect())
    }
    fn between(&mut self, above: i32, below: i32, not: Day, count: u64) -> Result<u64> {
        let not = day::date(not);
        let connection = &mut self.connection;
        let read = async {
            let mut rows = 0;
            for _ in 0..count {
                let one = query_as::<_, Columns>(AssertSqlSafe(between())).bind(above).bind(below).bind(not);
                rows += one.fetch_all(&mut *connection).await?.into_iter().map(person).count() as u64;
            }
            Ok(rows)
        };
        self.runtime.block_on(read).map_err(LabError::subject::<Error>("a query"))
    }
    fn transfer(&mut self, from: i32, to: i32) -> Result<Moved> {
        let moved = self.runtime.block_on(transfer(&mut self.connection, from, to));
        let conflict = |error: &Error| {
            error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| CONFLICTS.contains(&&*code))
        };
        match moved {
            Err(error) if conflict(&error) => Ok(Moved::Conflict),
            moved => moved.map_err(LabError::subject("a transfer")),
        }
    }
    fn balances(&mut self) -> Result<Vec<i64>> {
        let read = query_scalar(BALANCES).fetch_all(&mut self.connection);
        self.runtime.block_on(read).map_err(LabError::subject("a query"))
    }
}
