//! Recension in the process: typed documents with indexes. The key of a review is its customer and product, so that a
//! later one replaces it. An index has product and rating, so that a rating is read without its reviews.

use std::path::Path;

use recension::{Document, ListOptions, Path as FieldPath, Query, Store, Typed, ValueRange};
use serde::{Deserialize, Serialize};

use super::model::{self, Contents, Data, Found};
use super::{Agent, Shop, Values, average, gone};
use crate::error::{LabError, Result};

const SETTINGS: &str = "defaults: durability Disk, serializable; in the process; a value, and a number, is a typed \
    document under its key; a rating is the sum over an index on product and rating";

#[derive(Serialize, Deserialize, Document)]
#[recension(collection = "documents")]
struct Saved {
    #[recension(id)]
    number: u64,
    text: String,
}

#[derive(Serialize, Deserialize, Document)]
#[recension(collection = "values")]
struct Value {
    #[recension(id)]
    key: String,
    value: String,
}

#[derive(Serialize, Deserialize, Document)]
#[recension(collection = "counters")]
struct Counter {
    #[recension(id)]
    key: String,
    value: u64,
}

#[derive(Serialize, Deserialize, Document)]
#[recension(collection = "customers")]
struct Customer {
    #[recension(id)]
    id: u32,
    name: String,
    email: String,
    address: String,
    city: String,
    region: String,
    country: String,
    postal_code: String,
    phone: String,
}

#[derive(Serialize, Deserialize, Document)]
#[recension(collection = "categories")]
struct Category {
    #[recension(id)]
    id: u32,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[recension(collection = "products", index(name = "categories", path = "categories[]"))]
struct Product {
    #[recension(id)]
    id: u32,
    #[recension(unique)]
    name: String,
    categories: Vec<u32>,
}

#[derive(Serialize, Deserialize, Document)]
#[recension(collection = "carts")]
struct Cart {
    #[recension(id)]
    id: Option<String>,
    products: Vec<u32>,
}

#[derive(Serialize, Deserialize, Document)]
#[recension(collection = "orders", index(path = "customer"))]
struct Order {
    #[recension(id)]
    id: Option<String>,
    customer: u32,
    products: Vec<u32>,
}

#[derive(Serialize, Deserialize, Document)]
#[recension(collection = "reviews", index(paths("product", "rating")))]
struct Review {
    /// Made of customer and product.
    #[recension(id)]
    id: String,
    customer: u32,
    product: u32,
    rating: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl From<&model::Review> for Review {
    fn from(review: &model::Review) -> Self {
        let model::Review { customer, product, rating, text } = review.clone();
        Review { id: format!("{customer}-{product}"), customer, product, rating, text }
    }
}

fn open(dir: &Path) -> Result<Store> {
    let store = recension::open(&dir.join("store").display().to_string());
    store.map_err(LabError::subject("opening the store"))
}

pub(super) fn open_values(dir: &Path) -> Result<Box<dyn Values>> {
    let failed = || LabError::subject("opening the collections");
    let store = open(dir)?;
    Ok(Box::new(Embedded {
        documents: store.typed().map_err(failed())?,
        values: store.typed().map_err(failed())?,
        counters: store.typed().map_err(failed())?,
    }))
}

struct Embedded {
    documents: Typed<Saved>,
    values: Typed<Value>,
    counters: Typed<Counter>,
}

impl Values for Embedded {
    fn save(&mut self, number: u64, text: &str) -> Result<()> {
        let document = Saved { number, text: text.to_owned() };
        self.documents.create(&document).map(drop).map_err(LabError::subject("saving"))
    }
    fn saved(&mut self, number: u64) -> Result<Option<String>> {
        let found = self.documents.get(&number.to_string()).map_err(LabError::subject("a get"))?;
        Ok(found.map(|document| document.text))
    }
    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let value = Value { key: key.to_owned(), value: value.to_owned() };
        self.values.put(&value).map(drop).map_err(LabError::subject("setting a key"))
    }
    fn get(&mut self, key: &str) -> Result<Option<String>> {
        let found = self.values.get(key).map_err(LabError::subject("a get"))?;
        Ok(found.map(|found| found.value))
    }
    fn increment(&mut self, key: &str) -> Result<u64> {
        let counted = self.counters.upsert(key, |found| {
            let value = found.map_or(0, |counter| counter.value) + 1;
            Ok(Counter { key: key.to_owned(), value })
        });
        counted.map(|counter| counter.value).map_err(LabError::subject("an increment"))
    }
    fn settings(&self) -> String {
        SETTINGS.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

pub(super) fn open_shop(dir: &Path) -> Result<Box<dyn Shop>> {
    open(dir).map(|store| Box::new(Embedding(store)) as Box<dyn Shop>)
}

struct Embedding(Store);

/// Loads documents of one collection.
fn load<T: recension::DocumentType>(store: &Store, all: impl IntoIterator<Item = T>) -> Result<()> {
    let failed = || LabError::subject("loading");
    let failures = store.typed::<T>().map_err(failed())?.put_all(all).map_err(failed())?;
    failures.into_iter().next().map_or(Ok(()), |failure| Err(failed()(failure.error)))
}

fn list<T: recension::DocumentType, R>(store: &Store, see: impl Fn(T) -> R) -> Result<Vec<R>> {
    let failed = || LabError::subject("a list");
    let listed = store.typed::<T>().map_err(failed())?.list(&ListOptions::default()).map_err(failed())?;
    listed.map(|found| found.map(&see).map_err(failed())).collect()
}

impl Shop for Embedding {
    fn load(&mut self, data: &Data) -> Result<()> {
        let store = &self.0;
        let customers = data.customers.iter().zip(1..).map(|(customer, id)| {
            let model::Customer { name, email, address, city, region, country, postal_code, phone } = customer.clone();
            Customer { id, name, email, address, city, region, country, postal_code, phone }
        });
        load(store, customers)?;
        load(store, data.categories.iter().zip(1..).map(|(name, id)| Category { id, name: name.clone() }))?;
        let products = data.products.iter().zip(1..).map(|(product, id)| {
            let model::Product { name, categories } = product.clone();
            Product { id, name, categories }
        });
        load(store, products)?;
        let orders = data.orders.iter().map(|order| {
            let model::Order { customer, products } = order.clone();
            Order { id: None, customer, products }
        });
        load(store, orders)?;
        load(store, data.reviews.iter().map(Review::from))
    }
    fn agent(&self) -> Result<Box<dyn Agent>> {
        let failed = || LabError::subject("opening the collections");
        let store = self.0.clone();
        let path = |path: &str| path.parse::<FieldPath>().map_err(failed());
        Ok(Box::new(Shopping {
            products: store.typed().map_err(failed())?,
            carts: store.typed().map_err(failed())?,
            reviews: store.typed().map_err(failed())?,
            product: path("product")?,
            rating: path("rating")?,
            store,
        }))
    }
    fn contents(&self) -> Result<Contents> {
        let order = |Order { customer, products, .. }| model::Order { customer, products };
        let review = |Review { customer, product, rating, text, .. }| model::Review { customer, product, rating, text };
        Ok(Contents {
            carts: list(&self.0, |cart: Cart| cart.products)?,
            orders: list(&self.0, order)?,
            reviews: list(&self.0, review)?,
        })
    }
    fn settings(&self) -> String {
        SETTINGS.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

struct Shopping {
    store: Store,
    products: Typed<Product>,
    carts: Typed<Cart>,
    reviews: Typed<Review>,
    product: FieldPath,
    rating: FieldPath,
}

impl Shopping {
    fn rated(&self, product: Option<Product>) -> Result<Option<Found>> {
        let Some(Product { id, name, categories }) = product else { return Ok(None) };
        let failed = || LabError::subject("a rating");
        // The index has no review without a rating, so the query must want none.
        let query = Query::new()
            .matching(self.product.clone(), ValueRange::equal(i64::from(id)))
            .matching(self.rating.clone(), ValueRange::anything())
            .select([self.rating.clone()]);
        let (mut sum, mut count) = (0, 0);
        for selected in self.reviews.untyped().select(&query).map_err(failed())? {
            let selected = selected.map_err(failed())?;
            let rating = selected.values.first().and_then(|value| value.as_deref()?.parse::<u64>().ok());
            sum += rating.ok_or_else(|| gone("the rating of a review"))?;
            count += 1;
        }
        Ok(Some(Found { id, product: model::Product { name, categories }, rating: average(sum, count) }))
    }
}

impl Agent for Shopping {
    fn find(&mut self, name: &str) -> Result<Option<Found>> {
        self.rated(self.products.get_by("name", &[name.into()]).map_err(LabError::subject("a get"))?)
    }
    fn lookup(&mut self, id: u32) -> Result<Option<Found>> {
        self.rated(self.products.get(&id.to_string()).map_err(LabError::subject("a get"))?)
    }
    fn create_cart(&mut self) -> Result<String> {
        let made = self.carts.create(&Cart { id: None, products: Vec::new() });
        made.map(|written| written.id).map_err(LabError::subject("making a cart"))
    }
    fn add_to_cart(&mut self, cart: &str, product: u32) -> Result<()> {
        let changed = self.carts.update(cart, |cart| {
            cart.products.push(product);
            Ok(())
        });
        changed.map(drop).map_err(LabError::subject("adding to a cart"))
    }
    fn checkout(&mut self, cart: &str, customer: u32) -> Result<()> {
        let there = self.store.transaction(|transaction| {
            let carts = transaction.typed::<Cart>()?;
            let Some(found) = carts.entry(cart)? else { return Ok(false) };
            carts.delete(cart, &found.rev)?;
            transaction.typed::<Order>()?.create(&Order { id: None, customer, products: found.value.products })?;
            Ok(true)
        });
        if there.map_err(LabError::subject("a checkout"))? { Ok(()) } else { Err(gone(cart)) }
    }
    fn review(&mut self, review: &model::Review) -> Result<()> {
        self.reviews.put(&Review::from(review)).map(drop).map_err(LabError::subject("a review"))
    }
}
