//! `diesel` over libpq (built with it): its query builder, statements prepared once and kept, binary.

use std::net::SocketAddr;
use std::path::Path;

use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error};
use time::Date;

use super::postgresql::open as server;
use super::{AMOUNT, Client, Database, Day, Moved, Person, Set, day};
use crate::error::{LabError, Result};

diesel::table! {
    people_few (id) {
        id -> Integer,
        name -> Varchar,
        birthday -> Nullable<Date>,
    }
}

diesel::table! {
    people_many (id) {
        id -> Integer,
        name -> Varchar,
        birthday -> Nullable<Date>,
    }
}

diesel::table! {
    people_none (id) {
        id -> Integer,
        name -> Varchar,
        birthday -> Nullable<Date>,
    }
}

diesel::table! {
    balances (id) {
        id -> Integer,
        balance -> Nullable<BigInt>,
    }
}

pub(super) fn open(dir: &Path) -> Result<Box<dyn Database>> {
    server(dir, client, "diesel's query builder over libpq, statements prepared once and kept, binary")
}

struct Diesel(PgConnection);

fn client(address: SocketAddr) -> Result<Box<dyn Client>> {
    let url = format!("postgres://lab@{address}/postgres?gssencmode=disable&sslmode=disable");
    let connection = PgConnection::establish(&url).map_err(LabError::subject("connecting to PostgreSQL"))?;
    Ok(Box::new(Diesel(connection)))
}

type Columns = (i32, String, Option<Date>);

fn person((id, name, birthday): Columns) -> Person {
    Person { id, name, birthday: birthday.map(day::day) }
}

fn transfer(connection: &mut PgConnection, from: i32, to: i32) -> QueryResult<Moved> {
    connection.build_transaction().serializable().run(|connection| {
        let mut read = [0_i64; 2];
        for (before, (account, change)) in read.iter_mut().zip([(from, -AMOUNT), (to, AMOUNT)]) {
            let row = balances::table.find(account);
            *before = row.select(balances::balance).first::<Option<i64>>(connection)?.unwrap_or_default();
            diesel::update(row).set(balances::balance.eq(*before + change)).execute(connection)?;
        }
        Ok(Moved::From(read[0], read[1]))
    })
}

fn is_conflict(error: &Error) -> bool {
    match error {
        Error::DatabaseError(DatabaseErrorKind::SerializationFailure, _) => true,
        // It has no kind of its own in diesel.
        Error::DatabaseError(_, what) => what.message().contains("deadlock detected"),
        Error::RollbackErrorOnCommit { commit_error, .. } => is_conflict(commit_error),
        _ => false,
    }
}

impl Client for Diesel {
    fn all(&mut self, set: Set) -> Result<Vec<Person>> {
        let rows: QueryResult<Vec<Columns>> = match set {
            Set::Few => people_few::table.load(&mut self.0),
            Set::Many => people_many::table.load(&mut self.0),
            Set::None => people_none::table.load(&mut self.0),
        };
        Ok(rows.map_err(LabError::subject("a query"))?.into_iter().map(person).collect())
    }
    fn between(&mut self, above: i32, below: i32, not: Day, count: u64) -> Result<u64> {
        let not = day::date(not);
        let mut rows = 0;
        for _ in 0..count {
            let found = people_none::table
                .filter(people_none::id.gt(above))
                .filter(people_none::id.lt(below))
                .filter(people_none::birthday.ne(not))
                .load::<Columns>(&mut self.0);
            rows += found.map_err(LabError::subject("a query"))?.into_iter().map(person).count() as u64;
        }
        Ok(rows)
    }
    fn transfer(&mut self, from: i32, to: i32) -> Result<Moved> {
        match transfer(&mut self.0, from, to) {
            Err(error) if is_conflict(&error) => Ok(Moved::Conflict),
            moved => moved.map_err(LabError::subject("a transfer")),
        }
    }
    fn balances(&mut self) -> Result<Vec<i64>> {
        let rows = balances::table.order(balances::id).select(balances::balance).load::<Option<i64>>(&mut self.0);
        Ok(rows.map_err(LabError::subject("a query"))?.into_iter().map(Option::unwrap_or_default).collect())
    }
}
