//! `BonsaiDb` in the process, by its blocking API: collections, a unique view for the names of products, a reduced view
//! for ratings, and its key-value store. A reader brings the view of ratings up to date.

use std::path::Path;

use bonsaidb_core::connection::Connection as _;
use bonsaidb_core::document::{CollectionDocument, Emit as _};
use bonsaidb_core::keyvalue::KeyValue as _;
use bonsaidb_core::schema::{
    Collection, CollectionMapReduce, ReduceResult, Schema, SerializedCollection, View, ViewMapResult, ViewMappedValue,
    ViewSchema,
};
use bonsaidb_core::transaction::Transaction;
use bonsaidb_local::Database;
use bonsaidb_local::config::{Builder as _, KeyValuePersistence, StorageConfiguration};
use serde::{Deserialize, Serialize};

use super::model::{self, Contents, Data, Found, average};
use super::{Agent, Shop, Values, gone};
use crate::error::{LabError, Result};

#[derive(Debug, Clone, Serialize, Deserialize, Collection)]
#[collection(name = "documents", primary_key = u64, core = bonsaidb_core)]
struct Saved {
    text: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Collection)]
#[collection(name = "customers", primary_key = u32, core = bonsaidb_core)]
struct Customer {
    name: String,
    email: String,
    address: String,
    city: String,
    region: String,
    country: String,
    postal_code: String,
    phone: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Collection)]
#[collection(name = "categories", primary_key = u32, core = bonsaidb_core)]
struct Category {
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Collection)]
#[collection(name = "products", primary_key = u32, views = [ByName, ByCategory], core = bonsaidb_core)]
struct Product {
    name: String,
    categories: Vec<u32>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, Collection)]
#[collection(name = "carts", primary_key = u64, core = bonsaidb_core)]
struct Cart {
    products: Vec<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Collection)]
#[collection(name = "orders", primary_key = u64, views = [ByCustomer], core = bonsaidb_core)]
struct Order {
    customer: u32,
    products: Vec<u32>,
}

/// Its key is customer and product, so that a later review overwrites it.
#[derive(Debug, Clone, Serialize, Deserialize, Collection)]
#[collection(name = "reviews", primary_key = (u32, u32), views = [Ratings], core = bonsaidb_core)]
struct Review {
    customer: u32,
    product: u32,
    rating: u32,
    text: Option<String>,
}

#[derive(Debug, Schema)]
#[schema(name = "shop", collections = [Saved, Customer, Category, Product, Cart, Order, Review], core = bonsaidb_core)]
struct Everything;

#[derive(Debug, Clone, View, ViewSchema)]
#[view(collection = Product, key = String, name = "by-name", core = bonsaidb_core)]
#[view_schema(policy = Unique, core = bonsaidb_core)]
struct ByName;

impl CollectionMapReduce for ByName {
    fn map<'doc>(&self, document: CollectionDocument<Product>) -> ViewMapResult<'doc, Self> {
        document.header.emit_key(document.contents.name)
    }
}

#[derive(Debug, Clone, View, ViewSchema)]
#[view(collection = Product, key = u32, name = "by-category", core = bonsaidb_core)]
#[view_schema(core = bonsaidb_core)]
struct ByCategory;

impl CollectionMapReduce for ByCategory {
    fn map<'doc>(&self, document: CollectionDocument<Product>) -> ViewMapResult<'doc, Self> {
        document.contents.categories.iter().map(|category| document.header.emit_key(*category)).collect()
    }
}

#[derive(Debug, Clone, View, ViewSchema)]
#[view(collection = Order, key = u32, name = "by-customer", core = bonsaidb_core)]
#[view_schema(core = bonsaidb_core)]
struct ByCustomer;

impl CollectionMapReduce for ByCustomer {
    fn map<'doc>(&self, document: CollectionDocument<Order>) -> ViewMapResult<'doc, Self> {
        document.header.emit_key(document.contents.customer)
    }
}

const SETTINGS: &str = "defaults; key-value persistence immediate; a unique view of names, a reduced view of ratings \
    that each read brings up to date first; by the blocking API";

/// The sum of the ratings of a product, and how many there are.
#[derive(Debug, Clone, View, ViewSchema)]
#[view(collection = Review, key = u32, value = (u64, u64), name = "ratings", core = bonsaidb_core)]
#[view_schema(core = bonsaidb_core)]
struct Ratings;

impl CollectionMapReduce for Ratings {
    fn map<'doc>(&self, document: CollectionDocument<Review>) -> ViewMapResult<'doc, Self> {
        document.header.emit_key_and_value(document.contents.product, (u64::from(document.contents.rating), 1))
    }
    fn reduce(&self, mappings: &[ViewMappedValue<'_, Self>], _rereduce: bool) -> ReduceResult<Self> {
        Ok(mappings.iter().fold((0, 0), |(sum, count), mapping| (sum + mapping.value.0, count + mapping.value.1)))
    }
}

fn open(dir: &Path) -> Result<Database> {
    let configuration =
        StorageConfiguration::new(dir.join("store")).key_value_persistence(KeyValuePersistence::immediate());
    Database::open::<Everything>(configuration).map_err(LabError::subject("opening the store"))
}

pub(super) fn open_values(dir: &Path) -> Result<Box<dyn Values>> {
    Ok(Box::new(Bonsai(open(dir)?)))
}

pub(super) fn open_shop(dir: &Path) -> Result<Box<dyn Shop>> {
    Ok(Box::new(Bonsai(open(dir)?)))
}

struct Bonsai(Database);

impl Values for Bonsai {
    fn save(&mut self, number: u64, text: &str) -> Result<()> {
        let saved = Saved { text: text.to_owned() }.insert_into(&number, &self.0);
        saved.map(drop).map_err(|failed| LabError::subject("saving")(failed.error))
    }
    fn saved(&mut self, number: u64) -> Result<Option<String>> {
        let found = Saved::get(&number, &self.0).map_err(LabError::subject("a get"))?;
        Ok(found.map(|document| document.contents.text))
    }
    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        self.0.set_key(key, &value).execute().map(drop).map_err(LabError::subject("setting a key"))
    }
    fn get(&mut self, key: &str) -> Result<Option<String>> {
        self.0.get_key(key).into().map_err(LabError::subject("a get"))
    }
    fn increment(&mut self, key: &str) -> Result<u64> {
        let counters = self.0.with_key_namespace("counters");
        counters.increment_key_by(key, 1_u64).execute().map_err(LabError::subject("an increment"))
    }
    fn settings(&self) -> String {
        SETTINGS.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn load(data: &Data) -> std::result::Result<Transaction, bonsaidb_core::Error> {
    let mut all = Transaction::new();
    for (customer, id) in data.customers.iter().zip(1_u32..) {
        let model::Customer { name, email, address, city, region, country, postal_code, phone } = customer.clone();
        let customer = Customer { name, email, address, city, region, country, postal_code, phone };
        customer.insert_in_transaction(&id, &mut all)?;
    }
    for (name, id) in data.categories.iter().zip(1_u32..) {
        Category { name: name.clone() }.insert_in_transaction(&id, &mut all)?;
    }
    for (product, id) in data.products.iter().zip(1_u32..) {
        let model::Product { name, categories } = product.clone();
        Product { name, categories }.insert_in_transaction(&id, &mut all)?;
    }
    for model::Order { customer, products } in &data.orders {
        Order { customer: *customer, products: products.clone() }.push_in_transaction(&mut all)?;
    }
    for one in &data.reviews {
        review(one).insert_in_transaction(&(one.customer, one.product), &mut all)?;
    }
    Ok(all)
}

fn review(of: &model::Review) -> Review {
    let model::Review { customer, product, rating, text } = of.clone();
    Review { customer, product, rating, text }
}

fn all<C: SerializedCollection, T>(database: &Database, see: fn(C::Contents) -> T) -> Result<Vec<T>> {
    let found = C::all(database).query().map_err(LabError::subject("a list"))?;
    Ok(found.into_iter().map(|document| see(document.contents)).collect())
}

impl Shop for Bonsai {
    fn load(&mut self, data: &Data) -> Result<()> {
        let failed = || LabError::subject("loading");
        load(data).and_then(|all| all.apply(&self.0)).map_err(failed())?;
        // The first reader makes a view.
        self.0.view::<Ratings>().with_key(&1).reduce().map_err(failed())?;
        self.0.view::<ByCategory>().with_key(&1).query().map_err(failed())?;
        self.0.view::<ByCustomer>().with_key(&1).query().map_err(failed())?;
        Ok(())
    }
    fn agent(&self) -> Result<Box<dyn Agent>> {
        Ok(Box::new(Bonsai(self.0.clone())))
    }
    fn contents(&self) -> Result<Contents> {
        let order = |Order { customer, products }| model::Order { customer, products };
        let review = |Review { customer, product, rating, text }| model::Review { customer, product, rating, text };
        Ok(Contents {
            carts: all::<Cart, _>(&self.0, |cart| cart.products)?,
            orders: all::<Order, _>(&self.0, order)?,
            reviews: all::<Review, _>(&self.0, review)?,
        })
    }
    fn settings(&self) -> String {
        SETTINGS.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl Bonsai {
    fn rated(&self, id: u32, product: Product) -> Result<Option<Found>> {
        let rating = self.0.view::<Ratings>().with_key(&id).reduce();
        let (sum, count) = rating.map_err(LabError::subject("a rating"))?;
        let Product { name, categories } = product;
        Ok(Some(Found { id, product: model::Product { name, categories }, rating: average(sum, count) }))
    }
}

fn cart_number(cart: &str) -> Result<u64> {
    cart.parse().map_err(LabError::subject("the number of a cart"))
}

impl Agent for Bonsai {
    fn find(&mut self, name: &str) -> Result<Option<Found>> {
        let found = self.0.view::<ByName>().with_key(name).query_with_collection_docs();
        let found = found.map_err(LabError::subject("a query"))?;
        match found.documents.into_values().next() {
            Some(document) => self.rated(document.header.id, document.contents),
            None => Ok(None),
        }
    }
    fn lookup(&mut self, id: u32) -> Result<Option<Found>> {
        match Product::get(&id, &self.0).map_err(LabError::subject("a get"))? {
            Some(document) => self.rated(id, document.contents),
            None => Ok(None),
        }
    }
    fn create_cart(&mut self) -> Result<String> {
        let made = Cart::default().push_into(&self.0);
        made.map(|cart| cart.header.id.to_string()).map_err(|failed| LabError::subject("making a cart")(failed.error))
    }
    fn add_to_cart(&mut self, cart: &str, product: u32) -> Result<()> {
        let failed = || LabError::subject("adding to a cart");
        let mut found = Cart::get(&cart_number(cart)?, &self.0).map_err(failed())?.ok_or_else(|| gone(cart))?;
        found.contents.products.push(product);
        found.update(&self.0).map_err(failed())
    }
    fn checkout(&mut self, cart: &str, customer: u32) -> Result<()> {
        let failed = || LabError::subject("a checkout");
        let found = Cart::get(&cart_number(cart)?, &self.0).map_err(failed())?.ok_or_else(|| gone(cart))?;
        let mut both = Transaction::new();
        found.delete_in_transaction(&mut both).map_err(failed())?;
        let order = Order { customer, products: found.contents.products };
        order.push_in_transaction(&mut both).map_err(failed())?;
        both.apply(&self.0).map(drop).map_err(failed())
    }
    fn review(&mut self, one: &model::Review) -> Result<()> {
        let written = review(one).overwrite_into(&(one.customer, one.product), &self.0);
        written.map(drop).map_err(|failed| LabError::subject("a review")(failed.error))
    }
}
