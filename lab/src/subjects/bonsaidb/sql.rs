//! The tables and statements of those that speak SQL, with `?1` for the first parameter. A product comes with its
//! rating in one statement: a row for each of its categories, or one without any.

use super::model::{Found, Product};
use super::{Order, average};
use crate::error::{LabError, Result};

/// Documents, values and numbers.
pub(super) const VALUES: [&str; 3] = [
    "CREATE TABLE documents (number BIGINT PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE counters (key TEXT PRIMARY KEY, value BIGINT NOT NULL)",
];

pub(super) const SAVE: &str = "INSERT INTO documents (number, text) VALUES (?1, ?2)";
pub(super) const SAVED: &str = "SELECT text FROM documents WHERE number = ?1";
pub(super) const SET: &str =
    "INSERT INTO entries (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
pub(super) const GET: &str = "SELECT value FROM entries WHERE key = ?1";
pub(super) const INCREMENT: &str = "INSERT INTO counters (key, value) VALUES (?1, 1) \
                                    ON CONFLICT (key) DO UPDATE SET value = counters.value + 1 RETURNING value";

/// The shop; `SERIAL` is what gives carts and orders their numbers.
pub(super) const SHOP: [&str; 14] = [
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, address TEXT NOT NULL, \
     city TEXT NOT NULL, region TEXT NOT NULL, country TEXT NOT NULL, postal_code TEXT NOT NULL, phone TEXT NOT NULL)",
    "CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    "CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE product_categories (product INTEGER NOT NULL, category INTEGER NOT NULL, PRIMARY KEY (product, \
     category))",
    "CREATE INDEX categories_products ON product_categories (category)",
    "CREATE TABLE carts (id SERIAL PRIMARY KEY)",
    "CREATE TABLE cart_products (cart INTEGER NOT NULL, product INTEGER NOT NULL)",
    "CREATE INDEX cart_products_cart ON cart_products (cart)",
    "CREATE TABLE orders (id SERIAL PRIMARY KEY, customer INTEGER NOT NULL)",
    "CREATE INDEX orders_customer ON orders (customer)",
    "CREATE TABLE order_products (\"order\" INTEGER NOT NULL, product INTEGER NOT NULL)",
    "CREATE INDEX order_products_order ON order_products (\"order\")",
    "CREATE TABLE reviews (customer INTEGER NOT NULL, product INTEGER NOT NULL, rating INTEGER NOT NULL, text TEXT, \
     PRIMARY KEY (customer, product))",
    "CREATE INDEX reviews_product ON reviews (product, rating)",
];

pub(super) const CUSTOMER: &str = "INSERT INTO customers (id, name, email, address, city, region, country, \
    postal_code, phone) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
pub(super) const CATEGORY: &str = "INSERT INTO categories (id, name) VALUES (?1, ?2)";
pub(super) const PRODUCT: &str = "INSERT INTO products (id, name) VALUES (?1, ?2)";
pub(super) const PRODUCT_CATEGORY: &str = "INSERT INTO product_categories (product, category) VALUES (?1, ?2)";
pub(super) const ORDER: &str = "INSERT INTO orders (customer) VALUES (?1) RETURNING id";
pub(super) const ORDER_PRODUCT: &str = "INSERT INTO order_products (\"order\", product) VALUES (?1, ?2)";
pub(super) const REVIEW: &str = "INSERT INTO reviews (customer, product, rating, text) VALUES (?1, ?2, ?3, ?4) \
                                 ON CONFLICT (customer, product) DO UPDATE SET rating = excluded.rating, text = \
                                 excluded.text";

pub(super) const LOOKUP: &str = "SELECT p.id, p.name, r.total, r.number, c.category FROM products p CROSS JOIN \
    (SELECT COALESCE(SUM(rating), 0) AS total, COUNT(*) AS number FROM reviews WHERE product = ?1) r \
    LEFT JOIN product_categories c ON c.product = p.id WHERE p.id = ?1 ORDER BY c.category";
pub(super) const FIND: &str = "SELECT p.id, p.name, r.total, r.number, c.category FROM products p CROSS JOIN \
    (SELECT COALESCE(SUM(rating), 0) AS total, COUNT(*) AS number FROM reviews \
    WHERE product = (SELECT id FROM products WHERE name = ?1)) r LEFT JOIN product_categories c ON c.product = p.id \
    WHERE p.name = ?1 ORDER BY c.category";

pub(super) const CART: &str = "INSERT INTO carts DEFAULT VALUES RETURNING id";
pub(super) const ADD: &str = "INSERT INTO cart_products (cart, product) SELECT id, ?2 FROM carts WHERE id = ?1";
pub(super) const CHECKOUT_PRODUCTS: &str =
    "INSERT INTO order_products (\"order\", product) SELECT ?1, product FROM cart_products WHERE cart = ?2";
pub(super) const CHECKOUT_EMPTY: &str = "DELETE FROM cart_products WHERE cart = ?1";
pub(super) const CHECKOUT_CART: &str = "DELETE FROM carts WHERE id = ?1";

/// Number, nobody, and product: of a cart without products one row.
pub(super) const CARTS: &str =
    "SELECT c.id, 0, p.product FROM carts c LEFT JOIN cart_products p ON p.cart = c.id ORDER BY c.id";
/// Number, customer and product: of an order without products one row.
pub(super) const ORDERS: &str =
    "SELECT o.id, o.customer, p.product FROM orders o LEFT JOIN order_products p ON p.\"order\" = o.id ORDER BY o.id";
pub(super) const REVIEWS: &str = "SELECT customer, product, rating, text FROM reviews";

/// A row of a product.
pub(super) struct Viewed {
    pub(super) id: i32,
    pub(super) name: String,
    pub(super) total: i64,
    pub(super) number: i64,
    pub(super) category: Option<i32>,
}

/// A number of this shop's from SQL.
pub(super) fn number(of_sql: i32) -> u32 {
    u32::try_from(of_sql).unwrap_or(u32::MAX)
}

/// The same as SQL has it.
pub(super) fn integer(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The number of a cart.
pub(super) fn cart(called: &str) -> Result<i32> {
    called.parse().map_err(LabError::subject("the number of a cart"))
}

/// The product that the rows of a query describe.
pub(super) fn found(rows: impl IntoIterator<Item = Viewed>) -> Option<Found> {
    let mut found: Option<Found> = None;
    for Viewed { id, name, total, number: ratings, category } in rows {
        let count = |of_sql: i64| u64::try_from(of_sql).unwrap_or(u64::MAX);
        let one = found.get_or_insert_with(|| Found {
            id: number(id),
            product: Product { name, categories: Vec::new() },
            rating: average(count(total), count(ratings)),
        });
        one.product.categories.extend(category.map(number));
    }
    found
}

/// Rows of a number, a customer and a product, as orders: those of one number follow each other.
pub(super) fn orders(rows: impl IntoIterator<Item = (i32, i32, Option<i32>)>) -> Vec<Order> {
    let mut orders = Vec::new();
    let mut last = None;
    for (id, customer, product) in rows {
        if last.replace(id) != Some(id) {
            orders.push(Order { customer: number(customer), products: Vec::new() });
        }
        if let (Some(order), Some(product)) = (orders.last_mut(), product) {
            order.products.push(number(product));
        }
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_products_and_orders() {
        let row = |category| Viewed { id: 4, name: "x".to_owned(), total: 9, number: 2, category };
        let of = |rows: Vec<Viewed>| found(rows).map(|found| (found.id, found.product.categories, found.rating));
        assert_eq!(of(vec![row(None)]), Some((4, vec![], Some(4.5))));
        assert_eq!(of(vec![row(Some(1)), row(Some(8))]), Some((4, vec![1, 8], Some(4.5))));
        assert_eq!(of(vec![]), None);
        let order = |customer, products: &[u32]| Order { customer, products: products.to_vec() };
        let rows = [(1, 7, Some(3)), (1, 7, Some(3)), (2, 7, None), (3, 8, Some(1))];
        assert_eq!(orders(rows), [order(7, &[3, 3]), order(7, &[]), order(8, &[1])]);
    }
}
