//! `SQLite` in the process: WAL, synchronous=FULL, one connection for each agent, statements prepared once. Writing
//! transactions begin as writers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Params, Row, TransactionBehavior};

use super::model::{Contents, Data, Found};
use super::sql;
use super::{Agent, Review, Shop, Values, gone};
use crate::error::{LabError, Result};

/// How long a transaction waits for another.
const BUSY: Duration = Duration::from_mins(1);
const SETTINGS: &str = "WAL, synchronous=FULL, cache of 64 MiB, BEGIN IMMEDIATE, a connection an agent; a rating is \
    the sum over an index on product and rating";

type Sql<T> = rusqlite::Result<T>;

fn connect(file: &Path) -> Result<Connection> {
    let failed = || LabError::subject("opening the file");
    let connection = Connection::open(file).map_err(failed())?;
    connection.busy_timeout(BUSY).map_err(failed())?;
    connection.set_prepared_statement_cache_capacity(64);
    connection
        .execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536;")
        .map_err(failed())?;
    Ok(connection)
}

/// Opens a file with these tables, and makes them if it is new.
fn open(file: &Path, tables: &[&str]) -> Result<Connection> {
    let fresh = !file.exists();
    let connection = connect(file)?;
    for table in tables.iter().filter(|_| fresh) {
        // An INTEGER PRIMARY KEY is given by SQLite.
        let table = table.replace("SERIAL", "INTEGER");
        connection.execute_batch(&table).map_err(LabError::subject("making a table"))?;
    }
    Ok(connection)
}

fn execute(connection: &Connection, text: &str, parameters: impl Params) -> Sql<usize> {
    connection.prepare_cached(text)?.execute(parameters)
}

fn all<T>(connection: &Connection, text: &str, parameters: impl Params, see: fn(&Row<'_>) -> Sql<T>) -> Sql<Vec<T>> {
    connection.prepare_cached(text)?.query_map(parameters, see)?.collect()
}

/// The first column of the first row. The statement is carried out to its end, and so committed.
fn one<T: rusqlite::types::FromSql>(connection: &Connection, text: &str, parameters: impl Params) -> Sql<T> {
    all(connection, text, parameters, |row| row.get(0))?.into_iter().next().ok_or(rusqlite::Error::QueryReturnedNoRows)
}

fn write<T>(connection: &mut Connection, what: &str, write: impl FnOnce(&Connection) -> Sql<T>) -> Result<T> {
    let run = || {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let answer = write(&transaction)?;
        transaction.commit().map(|()| answer)
    };
    run().map_err(LabError::subject(what))
}

fn close(connection: Connection) -> Result<()> {
    connection.close().map_err(|(_, error)| LabError::subject("closing")(error))
}

pub(super) fn open_values(dir: &Path) -> Result<Box<dyn Values>> {
    Ok(Box::new(Tables(open(&dir.join("values.sqlite"), &sql::VALUES)?)))
}

struct Tables(Connection);

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Values for Tables {
    fn save(&mut self, number: u64, text: &str) -> Result<()> {
        execute(&self.0, sql::SAVE, (signed(number), text)).map(drop).map_err(LabError::subject("saving"))
    }
    fn saved(&mut self, number: u64) -> Result<Option<String>> {
        one(&self.0, sql::SAVED, [signed(number)]).optional().map_err(LabError::subject("a query"))
    }
    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        execute(&self.0, sql::SET, (key, value)).map(drop).map_err(LabError::subject("setting a key"))
    }
    fn get(&mut self, key: &str) -> Result<Option<String>> {
        one(&self.0, sql::GET, [key]).optional().map_err(LabError::subject("a query"))
    }
    fn increment(&mut self, key: &str) -> Result<u64> {
        let found: i64 = one(&self.0, sql::INCREMENT, [key]).map_err(LabError::subject("an increment"))?;
        Ok(u64::try_from(found).unwrap_or_default())
    }
    fn settings(&self) -> String {
        SETTINGS.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        close(self.0)
    }
}

pub(super) fn open_shop(dir: &Path) -> Result<Box<dyn Shop>> {
    let file = dir.join("shop.sqlite");
    let connection = open(&file, &sql::SHOP)?;
    Ok(Box::new(Market { file, connection }))
}

struct Market {
    file: PathBuf,
    connection: Connection,
}

fn load(connection: &Connection, data: &Data) -> Sql<()> {
    for (customer, id) in data.customers.iter().zip(1_i32..) {
        let super::model::Customer { name, email, address, city, region, country, postal_code, phone } = customer;
        let row = (id, name, email, address, city, region, country, postal_code, phone);
        execute(connection, sql::CUSTOMER, row)?;
    }
    for (name, id) in data.categories.iter().zip(1_i32..) {
        execute(connection, sql::CATEGORY, (id, name))?;
    }
    for (product, id) in data.products.iter().zip(1_i32..) {
        execute(connection, sql::PRODUCT, (id, &product.name))?;
        for category in &product.categories {
            execute(connection, sql::PRODUCT_CATEGORY, (id, category))?;
        }
    }
    for order in &data.orders {
        let id: i32 = one(connection, sql::ORDER, [order.customer])?;
        for product in &order.products {
            execute(connection, sql::ORDER_PRODUCT, (id, product))?;
        }
    }
    data.reviews.iter().try_for_each(|one| review(connection, one).map(drop))
}

fn review(connection: &Connection, Review { customer, product, rating, text }: &Review) -> Sql<usize> {
    execute(connection, sql::REVIEW, (customer, product, rating, text))
}

impl Shop for Market {
    fn load(&mut self, data: &Data) -> Result<()> {
        write(&mut self.connection, "loading", |connection| load(connection, data))?;
        self.connection.execute_batch("ANALYZE").map_err(LabError::subject("loading"))
    }
    fn agent(&self) -> Result<Box<dyn Agent>> {
        Ok(Box::new(Connected(connect(&self.file)?)))
    }
    fn contents(&self) -> Result<Contents> {
        let connection = &self.connection;
        let of = |text: &str| {
            let rows = all(connection, text, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
            rows.map(sql::orders).map_err(LabError::subject("a list"))
        };
        let reviews = all(connection, sql::REVIEWS, [], |row| {
            Ok(Review { customer: row.get(0)?, product: row.get(1)?, rating: row.get(2)?, text: row.get(3)? })
        });
        Ok(Contents {
            carts: of(sql::CARTS)?.into_iter().map(|cart| cart.products).collect(),
            orders: of(sql::ORDERS)?,
            reviews: reviews.map_err(LabError::subject("a list"))?,
        })
    }
    fn settings(&self) -> String {
        SETTINGS.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        close(self.connection)
    }
}

struct Connected(Connection);

fn viewed(row: &Row<'_>) -> Sql<sql::Viewed> {
    Ok(sql::Viewed {
        id: row.get(0)?,
        name: row.get(1)?,
        total: row.get(2)?,
        number: row.get(3)?,
        category: row.get(4)?,
    })
}

impl Connected {
    fn view(&self, text: &str, parameters: impl Params) -> Result<Option<Found>> {
        all(&self.0, text, parameters, viewed).map(sql::found).map_err(LabError::subject("a query"))
    }
}

impl Agent for Connected {
    fn find(&mut self, name: &str) -> Result<Option<Found>> {
        self.view(sql::FIND, [name])
    }
    fn lookup(&mut self, id: u32) -> Result<Option<Found>> {
        self.view(sql::LOOKUP, [id])
    }
    fn create_cart(&mut self) -> Result<String> {
        let made: i32 = write(&mut self.0, "making a cart", |connection| one(connection, sql::CART, []))?;
        Ok(made.to_string())
    }
    fn add_to_cart(&mut self, cart: &str, product: u32) -> Result<()> {
        let id = sql::cart(cart)?;
        let added = write(&mut self.0, "adding to a cart", |connection| execute(connection, sql::ADD, (id, product)))?;
        if added == 1 { Ok(()) } else { Err(gone(cart)) }
    }
    fn checkout(&mut self, cart: &str, customer: u32) -> Result<()> {
        let id = sql::cart(cart)?;
        let carts = write(&mut self.0, "a checkout", |connection| {
            let order: i32 = one(connection, sql::ORDER, [customer])?;
            execute(connection, sql::CHECKOUT_PRODUCTS, (order, id))?;
            execute(connection, sql::CHECKOUT_EMPTY, [id])?;
            execute(connection, sql::CHECKOUT_CART, [id])
        })?;
        if carts == 1 { Ok(()) } else { Err(gone(cart)) }
    }
    fn review(&mut self, one: &Review) -> Result<()> {
        write(&mut self.0, "a review", |connection| review(connection, one).map(drop))
    }
}
