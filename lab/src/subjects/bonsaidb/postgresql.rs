//! `PostgreSQL` over loopback by `tokio-postgres`: binary, prepared, a connection an agent. What one statement can do
//! is one statement, which is a transaction: a checkout is one round trip.

use std::net::SocketAddr;
use std::path::Path;

use tokio::runtime::Runtime;
use tokio_postgres::types::{FromSql, ToSql};
use tokio_postgres::{Client, Error, NoTls, Row, Statement};

use super::model::{Contents, Customer, Data, Found};
use super::sql::{self, integer, number};
use super::{Agent, Review, Shop, Values, gone};
use crate::error::{LabError, Result};
use crate::servers::{Place, Process, postgresql};

const SETTINGS: &str = "fsync=on, synchronous_commit=on, shared_buffers=256MB, otherwise defaults; TCP on loopback, a \
    connection an agent, prepared statements; a rating is the sum over an index on product and rating; a \
                        checkout is one statement";

/// Makes the order and its products, and deletes the cart and its products; returns how many carts there were.
const CHECKOUT: &str = "WITH made AS (INSERT INTO orders (customer) VALUES ($1) RETURNING id), \
     taken AS (DELETE FROM cart_products WHERE cart = $2 RETURNING product), \
     bought AS (INSERT INTO order_products (\"order\", product) SELECT made.id, taken.product FROM made, taken) \
     DELETE FROM carts WHERE id = $2";

type Parameters<'p> = &'p [&'p (dyn ToSql + Sync)];
type Sql<T> = std::result::Result<T, Error>;

/// A connection, and the statements that were prepared on it.
struct Connected {
    runtime: Runtime,
    client: Client,
    statements: Vec<(&'static str, Statement)>,
}

impl Connected {
    fn open(address: SocketAddr, texts: &[&'static str]) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(LabError::io("starting the client"))?;
        let config = format!("host={} port={} user=lab dbname=postgres", address.ip(), address.port());
        let connected: Sql<_> = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&config, NoTls).await?;
            tokio::spawn(connection);
            let mut statements = Vec::new();
            for text in texts {
                statements.push((*text, client.prepare(&text.replace('?', "$")).await?));
            }
            Ok((client, statements))
        });
        let (client, statements) = connected.map_err(LabError::subject("connecting to PostgreSQL"))?;
        Ok(Connected { runtime, client, statements })
    }

    fn statement(&self, text: &str) -> Result<&Statement> {
        let found = self.statements.iter().find(|(known, _)| *known == text);
        let none = || LabError::Subject { what: text.to_owned(), why: "it was not prepared".to_owned() };
        found.map(|(_, statement)| statement).ok_or_else(none)
    }

    fn execute(&self, text: &str, parameters: Parameters<'_>) -> Result<u64> {
        let done = self.runtime.block_on(self.client.execute(self.statement(text)?, parameters));
        done.map_err(LabError::subject("a statement"))
    }

    fn query<T>(&self, text: &str, parameters: Parameters<'_>, see: fn(&Row) -> Sql<T>) -> Result<Vec<T>> {
        let rows = self.runtime.block_on(self.client.query(self.statement(text)?, parameters));
        let seen: Sql<_> = rows.and_then(|rows| rows.iter().map(see).collect());
        seen.map_err(LabError::subject("a query"))
    }

    /// The first column of the first row.
    fn one<T: for<'r> FromSql<'r>>(&self, text: &str, parameters: Parameters<'_>) -> Result<Option<T>> {
        Ok(self.query(text, parameters, |row| row.try_get(0))?.into_iter().next())
    }

    fn batch(&self, text: &str) -> Result<()> {
        self.runtime.block_on(self.client.batch_execute(text)).map_err(LabError::subject("a statement"))
    }
}

/// Starts a server with these tables.
fn start(dir: &Path, tables: &[&str], texts: &[&'static str]) -> Result<(Connected, Process, SocketAddr)> {
    let (process, address, fresh) = postgresql::start(&Place { dir, traced: None })?;
    let tables: &[&str] = if fresh { tables } else { &[] };
    Connected::open(address, &[])?.batch(&tables.join(";"))?;
    Ok((Connected::open(address, texts)?, process, address))
}

pub(super) fn open_values(dir: &Path) -> Result<Box<dyn Values>> {
    let texts = [sql::SAVE, sql::SAVED, sql::SET, sql::GET, sql::INCREMENT];
    let (connected, process, _) = start(dir, &sql::VALUES, &texts)?;
    Ok(Box::new(Tables { connected, process }))
}

struct Tables {
    connected: Connected,
    process: Process,
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Values for Tables {
    fn save(&mut self, number: u64, text: &str) -> Result<()> {
        self.connected.execute(sql::SAVE, &[&signed(number), &text]).map(drop)
    }
    fn saved(&mut self, number: u64) -> Result<Option<String>> {
        self.connected.one(sql::SAVED, &[&signed(number)])
    }
    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        self.connected.execute(sql::SET, &[&key, &value]).map(drop)
    }
    fn get(&mut self, key: &str) -> Result<Option<String>> {
        self.connected.one(sql::GET, &[&key])
    }
    fn increment(&mut self, key: &str) -> Result<u64> {
        let found: Option<i64> = self.connected.one(sql::INCREMENT, &[&key])?;
        found.and_then(|found| u64::try_from(found).ok()).ok_or_else(|| gone(key))
    }
    fn settings(&self) -> String {
        SETTINGS.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        drop(self.connected);
        self.process.stop()
    }
}

const OF_THE_SHOP: [&str; 3] = [sql::CARTS, sql::ORDERS, sql::REVIEWS];
const OF_AN_AGENT: [&str; 6] = [sql::FIND, sql::LOOKUP, sql::CART, sql::ADD, CHECKOUT, sql::REVIEW];

pub(super) fn open_shop(dir: &Path) -> Result<Box<dyn Shop>> {
    let texts: Vec<&str> = OF_THE_SHOP.into_iter().chain(LOAD).collect();
    let (connected, process, address) = start(dir, &sql::SHOP, &texts)?;
    Ok(Box::new(Market { connected, process, address }))
}

struct Market {
    connected: Connected,
    process: Process,
    address: SocketAddr,
}

/// Statements of a load, each of a whole table: what is not there yet is given as arrays.
const LOAD: [&str; 8] = [
    "INSERT INTO customers SELECT * FROM UNNEST($1::int4[], $2::text[], $3::text[], $4::text[], $5::text[], \
     $6::text[], $7::text[], $8::text[], $9::text[])",
    "INSERT INTO categories SELECT * FROM UNNEST($1::int4[], $2::text[])",
    "INSERT INTO products SELECT * FROM UNNEST($1::int4[], $2::text[])",
    "INSERT INTO product_categories SELECT * FROM UNNEST($1::int4[], $2::int4[])",
    "INSERT INTO orders SELECT * FROM UNNEST($1::int4[], $2::int4[])",
    "INSERT INTO order_products SELECT * FROM UNNEST($1::int4[], $2::int4[])",
    "INSERT INTO reviews SELECT * FROM UNNEST($1::int4[], $2::int4[], $3::int4[], $4::text[])",
    "SELECT setval('orders_id_seq', $1)",
];

/// Numbers from 1 on, one for each.
fn ids<T>(of: &[T]) -> Vec<i32> {
    (1..).take(of.len()).collect()
}

/// Each number with all that belong to it.
fn pairs<'d>(of: impl Iterator<Item = &'d Vec<u32>>) -> (Vec<i32>, Vec<i32>) {
    of.zip(1_i32..).flat_map(|(numbers, id)| numbers.iter().map(move |number| (id, integer(*number)))).unzip()
}

fn load(connected: &Connected, data: &Data) -> Result<()> {
    let [customers, categories, products, product_categories, orders, order_products, reviews, last_order] = LOAD;
    let of = |column: fn(&Customer) -> &String| data.customers.iter().map(column).collect::<Vec<_>>();
    connected.execute(
        customers,
        &[
            &ids(&data.customers),
            &of(|one| &one.name),
            &of(|one| &one.email),
            &of(|one| &one.address),
            &of(|one| &one.city),
            &of(|one| &one.region),
            &of(|one| &one.country),
            &of(|one| &one.postal_code),
            &of(|one| &one.phone),
        ],
    )?;
    connected.execute(categories, &[&ids(&data.categories), &data.categories])?;
    let names: Vec<&str> = data.products.iter().map(|product| product.name.as_str()).collect();
    connected.execute(products, &[&ids(&data.products), &names])?;
    let (of_products, of_categories) = pairs(data.products.iter().map(|product| &product.categories));
    connected.execute(product_categories, &[&of_products, &of_categories])?;
    let of_customers: Vec<i32> = data.orders.iter().map(|order| integer(order.customer)).collect();
    connected.execute(orders, &[&ids(&data.orders), &of_customers])?;
    let (of_orders, bought) = pairs(data.orders.iter().map(|order| &order.products));
    connected.execute(order_products, &[&of_orders, &bought])?;
    let of = |column: fn(&Review) -> u32| data.reviews.iter().map(|one| integer(column(one))).collect::<Vec<_>>();
    let texts: Vec<Option<&str>> = data.reviews.iter().map(|one| one.text.as_deref()).collect();
    let [by, about, ratings] = [of(|one| one.customer), of(|one| one.product), of(|one| one.rating)];
    connected.execute(reviews, &[&by, &about, &ratings, &texts])?;
    let last: i64 = data.orders.len().max(1).try_into().unwrap_or(i64::MAX);
    connected.execute(last_order, &[&last]).map(drop)
}

fn three(row: &Row) -> Sql<(i32, i32, Option<i32>)> {
    Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
}

impl Shop for Market {
    fn load(&mut self, data: &Data) -> Result<()> {
        self.connected.batch("BEGIN")?;
        load(&self.connected, data)?;
        self.connected.batch("COMMIT")?;
        self.connected.batch("VACUUM ANALYZE")
    }
    fn agent(&self) -> Result<Box<dyn Agent>> {
        Ok(Box::new(Connected::open(self.address, &OF_AN_AGENT)?))
    }
    fn contents(&self) -> Result<Contents> {
        let orders = |text| self.connected.query(text, &[], three).map(sql::orders);
        let reviews = self.connected.query(sql::REVIEWS, &[], |row| {
            let [customer, product, rating] = [row.try_get(0)?, row.try_get(1)?, row.try_get(2)?].map(number);
            Ok(Review { customer, product, rating, text: row.try_get(3)? })
        });
        Ok(Contents {
            carts: orders(sql::CARTS)?.into_iter().map(|cart| cart.products).collect(),
            orders: orders(sql::ORDERS)?,
            reviews: reviews?,
        })
    }
    fn settings(&self) -> String {
        SETTINGS.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        drop(self.connected);
        self.process.stop()
    }
}

fn viewed(row: &Row) -> Sql<sql::Viewed> {
    Ok(sql::Viewed {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        total: row.try_get(2)?,
        number: row.try_get(3)?,
        category: row.try_get(4)?,
    })
}

impl Agent for Connected {
    fn find(&mut self, name: &str) -> Result<Option<Found>> {
        self.query(sql::FIND, &[&name], viewed).map(sql::found)
    }
    fn lookup(&mut self, id: u32) -> Result<Option<Found>> {
        self.query(sql::LOOKUP, &[&integer(id)], viewed).map(sql::found)
    }
    fn create_cart(&mut self) -> Result<String> {
        let made: Option<i32> = self.one(sql::CART, &[])?;
        made.map(|id| id.to_string()).ok_or_else(|| gone("the new cart"))
    }
    fn add_to_cart(&mut self, cart: &str, product: u32) -> Result<()> {
        let added = self.execute(sql::ADD, &[&sql::cart(cart)?, &integer(product)])?;
        if added == 1 { Ok(()) } else { Err(gone(cart)) }
    }
    fn checkout(&mut self, cart: &str, customer: u32) -> Result<()> {
        let carts = self.execute(CHECKOUT, &[&integer(customer), &sql::cart(cart)?])?;
        if carts == 1 { Ok(()) } else { Err(gone(cart)) }
    }
    fn review(&mut self, Review { customer, product, rating, text }: &Review) -> Result<()> {
        let [customer, product, rating] = [customer, product, rating].map(|number| integer(*number));
        self.execute(sql::REVIEW, &[&customer, &product, &rating, text]).map(drop)
    }
}
