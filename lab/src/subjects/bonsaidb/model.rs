//! The stored data. Documents and values depend only on their numbers, the shop's first data only on a seed, so that a
//! worker can make all of it again.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::data::Random;

/// Letters of a value under a key.
pub const VALUE_LETTERS: usize = 64;
/// Products of one order at most.
const ORDERED_MAX: u64 = 20;

/// Text of this many letters, none of which JSON escapes: every store holds it as it is.
pub fn letters(number: u64, count: usize) -> String {
    const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    let mut random = Random::new(number ^ 0xb0_15a1);
    let mut text = String::with_capacity(count);
    let mut bits = 0;
    for at in 0..count {
        // Ten letters of one number.
        bits = if at % 10 == 0 { random.number() } else { bits >> 6 };
        text.push(char::from(LETTERS[(bits & 63) as usize]));
    }
    text
}

/// The key of a number.
pub fn key(number: u64) -> String {
    format!("key-{number:04}")
}

/// The size of a shop at the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Size {
    /// Customers, numbered from 1.
    pub customers: u32,
    /// Products, numbered from 1.
    pub products: u32,
    /// Categories, numbered from 1.
    pub categories: u32,
    /// Orders.
    pub orders: u32,
    /// Reviews, of what was ordered.
    pub reviews: u32,
}

impl Size {
    /// The same with no more of anything.
    #[must_use]
    pub fn at_most(self, most: u32) -> Self {
        let Size { customers, products, categories, orders, reviews } = self;
        let [customers, products, categories, orders, reviews] =
            [customers, products, categories, orders, reviews].map(|count| count.min(most));
        Size { customers, products, categories, orders, reviews }
    }
}

/// A customer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Customer {
    /// The customer's name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
    /// The street.
    pub address: String,
    /// The city.
    pub city: String,
    /// The region.
    pub region: String,
    /// The country.
    pub country: String,
    /// The postal code.
    pub postal_code: String,
    /// The telephone number.
    pub phone: String,
}

/// A product.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Product {
    /// Its name: of no other.
    pub name: String,
    /// The numbers of its categories, ascending.
    pub categories: Vec<u32>,
}

/// An order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Order {
    /// The number of the customer.
    pub customer: u32,
    /// The numbers of its products; one may be there twice.
    pub products: Vec<u32>,
}

/// A customer's review of a product. Only the last one for both is kept.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Review {
    /// The number of the customer.
    pub customer: u32,
    /// The number of the product.
    pub product: u32,
    /// From 1 to 5.
    pub rating: u32,
    /// In words.
    pub text: Option<String>,
}

/// The data of a shop at the beginning.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// Customers, from number 1 on.
    pub customers: Vec<Customer>,
    /// Products, from number 1 on.
    pub products: Vec<Product>,
    /// Categories, from number 1 on.
    pub categories: Vec<String>,
    /// Orders.
    pub orders: Vec<Order>,
    /// Reviews, each of another customer and product.
    pub reviews: Vec<Review>,
}

/// A product as a shopper sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// Its number.
    pub id: u32,
    /// The product itself.
    pub product: Product,
    /// The average of its reviews; none without any.
    pub rating: Option<f64>,
}

/// The shoppers' changes. Each list is in its order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contents {
    /// The products of each cart that was not checked out.
    pub carts: Vec<Vec<u32>>,
    /// Orders.
    pub orders: Vec<Order>,
    /// Reviews.
    pub reviews: Vec<Review>,
}

impl Contents {
    /// In one order, whatever order a store answers in.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        let products = self.carts.iter_mut().chain(self.orders.iter_mut().map(|order| &mut order.products));
        products.for_each(|products| products.sort_unstable());
        self.carts.sort_unstable();
        self.orders.sort_unstable();
        self.reviews.sort_unstable();
        self
    }
}

/// The average of this many ratings.
pub fn average(sum: u64, count: u64) -> Option<f64> {
    let exact = |number: u64| u32::try_from(number).map_or(f64::NAN, f64::from);
    (count > 0).then(|| exact(sum) / exact(count))
}

/// So many different numbers from 1 on.
fn some_of(random: &mut Random, of: u32, count: u64) -> Vec<u32> {
    let mut drawn = BTreeSet::new();
    while (drawn.len() as u64) < count.min(u64::from(of)) {
        drawn.insert(one_of(random, of));
    }
    drawn.into_iter().collect()
}

/// A number from 1 on.
fn one_of(random: &mut Random, of: u32) -> u32 {
    u32::try_from(random.below(u64::from(of.max(1)))).unwrap_or_default() + 1
}

/// The data of a seed.
pub fn data(size: &Size, seed: u64) -> Data {
    let mut random = Random::new(seed ^ 0x5409);
    let customers = (1..=size.customers).map(|number| customer(&mut random, number)).collect();
    let categories: Vec<String> = (1..=size.categories).map(|number| random.words(1) + &number.to_string()).collect();
    let products = (1..=size.products)
        .map(|number| {
            let count = random.below(u64::from(size.categories.div_ceil(2)));
            let name = format!("{} {number}", random.words(3));
            Product { name, categories: some_of(&mut random, size.categories, count) }
        })
        .collect();
    let orders: Vec<Order> = (0..size.orders)
        .map(|_| {
            let count = random.below(u64::from(size.products.div_ceil(3)).min(ORDERED_MAX));
            let customer = one_of(&mut random, size.customers);
            Order { customer, products: some_of(&mut random, size.products, count) }
        })
        .collect();
    let bought = orders.iter().flat_map(|order| order.products.iter().map(|product| (order.customer, *product)));
    let mut bought: Vec<(u32, u32)> = bought.collect::<BTreeSet<_>>().into_iter().collect();
    random.shuffle(&mut bought);
    let reviews = bought
        .into_iter()
        .take(size.reviews as usize)
        .map(|(customer, product)| Review {
            customer,
            product,
            rating: one_of(&mut random, 5),
            text: (random.below(4) == 0).then(|| random.words(60)),
        })
        .collect();
    Data { customers, products, categories, orders, reviews }
}

fn customer(random: &mut Random, number: u32) -> Customer {
    Customer {
        name: format!("{} {number}", random.words(2)),
        email: format!("{}{number}@example.org", random.words(1)),
        address: format!("{} {}", random.words(3), random.below(200)),
        city: random.words(1),
        region: random.words(2),
        country: random.words(1),
        postal_code: format!("{:05}", random.below(100_000)),
        phone: format!("+{:011}", random.below(100_000_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shop_has_what_its_size_says_and_is_the_same_of_one_seed() {
        let size = Size { customers: 100, products: 100, categories: 10, orders: 125, reviews: 50 };
        let made = data(&size, 7);
        let counts =
            [made.customers.len(), made.products.len(), made.categories.len(), made.orders.len(), made.reviews.len()];
        assert_eq!(counts, [100, 100, 10, 125, 50]);
        let names: BTreeSet<&String> = made.products.iter().map(|product| &product.name).collect();
        assert_eq!(names.len(), 100);
        assert!(made.products.iter().all(|product| product.categories.is_sorted() && product.categories.len() < 5));
        assert!(made.reviews.iter().all(|review| (1..=5).contains(&review.rating) && review.customer <= 100));
        let again = data(&size, 7);
        assert_eq!((made.products, made.orders, made.reviews), (again.products, again.orders, again.reviews));
    }

    #[test]
    fn letters_are_as_many_as_promised_and_differ_by_number() {
        assert_eq!(letters(1, 1000).len(), 1000);
        assert!(letters(1, 64) == letters(1, 64) && letters(1, 64) != letters(2, 64));
        assert_eq!(serde_json::to_string(&letters(3, 500)).unwrap().len(), 502);
    }

    #[test]
    fn an_average_is_none_of_nothing() {
        assert_eq!((average(0, 0), average(9, 2)), (None, Some(4.5)));
    }
}
