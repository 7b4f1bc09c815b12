//! A shop under load: agents carry out plans, and each call is timed by itself. Every answer is compared with the model
//! when the clock has stopped. With one agent every answer is known. With several, each has its own customers, so that
//! everything is known except the ratings in between; at the end those are known too.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::{LabError, Result};
use crate::measure::clock::{come_to_rest, nanos};
use crate::subjects::bonsaidb::{
    Agent, Contents, Data, Found, Order, Review, Shop, Size, Step, StepKind, average, data, plans,
};
use crate::worker::protocol::Reply;
use crate::worker::serve::REST;

/// Plans of shoppers that are carried out.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Shopping {
    /// In how many of a hundred cases a product is put into the cart, checked out, and reviewed.
    pub percent: u64,
    /// Agents that share the plans, each with a connection and customers of its own.
    pub agents: u32,
    /// The number of plans.
    pub shoppers: u64,
    /// The seed of the plans.
    pub seed: u64,
}

/// A shop, and what it should hold.
pub(super) struct Counter {
    shop: Box<dyn Shop>,
    model: Model,
}

/// The right contents of a shop.
#[derive(Default)]
pub(super) struct Model {
    size: Option<Size>,
    data: Data,
    /// By customer and product.
    reviews: BTreeMap<(u32, u32), Review>,
    /// Sum and number of the ratings of each product, from number 1 on.
    ratings: Vec<(u64, u64)>,
    carts: Vec<Vec<u32>>,
    orders: Vec<Order>,
}

/// One plan, with what its searches found, and the time of each step.
struct Carried {
    steps: Vec<Step>,
    found: Vec<Option<Found>>,
    latencies_ns: Vec<u64>,
}

impl Counter {
    /// A shop as it was left; or a new one that is loaded, with the time that it took.
    pub(super) fn new(mut shop: Box<dyn Shop>, left: Option<Model>, load: Option<(Size, u64)>) -> Result<(Self, u64)> {
        let Some((size, seed)) = load else {
            return Ok((Counter { shop, model: left.unwrap_or_default() }, 0));
        };
        let data = data(&size, seed);
        let start = Instant::now();
        shop.load(&data)?;
        let wall_ns = nanos(start.elapsed());
        Ok((Counter { shop, model: Model::of(size, data) }, wall_ns))
    }

    /// Closes the shop; its model is left.
    pub(super) fn close(self) -> Result<Model> {
        self.shop.close().map(|()| self.model)
    }

    /// Carries plans out.
    pub(super) fn run(&mut self, shopping: &Shopping) -> Result<Reply> {
        let size = self.model.size.ok_or_else(super::none)?;
        let agents = shopping.agents.clamp(1, size.customers.max(1));
        let plans = plans(&size, shopping.percent, agents, shopping.shoppers, shopping.seed);
        let connected = (0..agents).map(|_| self.shop.agent()).collect::<Result<Vec<_>>>()?;
        let names: Vec<&str> = self.model.data.products.iter().map(|product| product.name.as_str()).collect();
        let start = Instant::now();
        let done: Vec<Vec<Carried>> = std::thread::scope(|scope| {
            let running: Vec<_> = connected
                .into_iter()
                .zip(plans)
                .map(|(mut agent, own)| {
                    let names = &names;
                    scope.spawn(move || own.into_iter().map(|plan| carry_out(agent.as_mut(), names, plan)).collect())
                })
                .collect();
            let join = |one: std::thread::ScopedJoinHandle<'_, Result<Vec<Carried>>>| {
                one.join().unwrap_or_else(|_| Err(LabError::Worker { what: "an agent panicked".to_owned() }))
            };
            running.into_iter().map(join).collect::<Result<_>>()
        })?;
        let wall_ns = nanos(start.elapsed());
        come_to_rest(REST);
        let mut steps: Vec<(StepKind, Vec<u64>)> = Vec::new();
        let mut ops = 0;
        for plan in done.iter().flatten() {
            ops += plan.steps.len() as u64;
            for (step, latency) in plan.steps.iter().zip(&plan.latencies_ns) {
                match steps.iter_mut().find(|(kind, _)| *kind == step.kind()) {
                    Some((_, latencies)) => latencies.push(*latency),
                    None => steps.push((step.kind(), vec![*latency])),
                }
            }
        }
        done.iter().flatten().try_for_each(|plan| self.model.follow(plan, agents == 1))?;
        let latencies_ns = steps.iter().flat_map(|(_, latencies)| latencies.iter().copied()).collect();
        Ok(Reply { ops, wall_ns, latencies_ns, steps, ..Reply::default() })
    }

    /// Compares all that the shop holds with the model, and every product as an agent sees it.
    pub(super) fn verify(&mut self) -> Result<Reply> {
        let found = self.shop.contents()?.sorted();
        let model = &self.model;
        let expected = Contents {
            carts: model.carts.clone(),
            orders: model.orders.clone(),
            reviews: model.reviews.values().cloned().collect(),
        };
        let expected = expected.sorted();
        same_list("carts that were not checked out", &expected.carts, &found.carts)?;
        same_list("orders", &expected.orders, &found.orders)?;
        same_list("reviews", &expected.reviews, &found.reviews)?;
        let mut agent = self.shop.agent()?;
        for (product, id) in model.data.products.iter().zip(1..) {
            model.check(id, agent.lookup(id)?.as_ref(), true)?;
            model.check(id, agent.find(&product.name)?.as_ref(), true)?;
        }
        Ok(Reply::default())
    }
}

fn carry_out(agent: &mut dyn Agent, names: &[&str], steps: Vec<Step>) -> Result<Carried> {
    let mut cart = String::new();
    let (mut found, mut latencies_ns) = (Vec::new(), Vec::with_capacity(steps.len()));
    for step in &steps {
        let start = Instant::now();
        match *step {
            Step::Find(product) => found.push(agent.find(names.get(product as usize - 1).unwrap_or(&""))?),
            Step::Lookup(product) => found.push(agent.lookup(product)?),
            Step::Cart => cart = agent.create_cart()?,
            Step::Add(product) => agent.add_to_cart(&cart, product)?,
            Step::Checkout { customer } => agent.checkout(&cart, customer)?,
            Step::Review { customer, product, rating } => {
                agent.review(&Review { customer, product, rating, text: None })?;
            }
        }
        latencies_ns.push(nanos(start.elapsed()));
    }
    Ok(Carried { steps, found, latencies_ns })
}

impl Model {
    fn of(size: Size, data: Data) -> Self {
        let ratings = vec![(0, 0); data.products.len()];
        let orders = data.orders.clone();
        let mut model = Model { size: Some(size), ratings, orders, ..Model::default() };
        data.reviews.iter().for_each(|review| model.review(review.clone()));
        Model { data, ..model }
    }

    /// Does the same as a plan, and compares its findings. Ratings are compared only if they are sure.
    fn follow(&mut self, plan: &Carried, sure: bool) -> Result<()> {
        let mut found = plan.found.iter();
        let mut cart: Option<Vec<u32>> = None;
        for step in &plan.steps {
            match *step {
                Step::Find(product) | Step::Lookup(product) => {
                    self.check(product, found.next().and_then(Option::as_ref), sure)?;
                }
                Step::Cart => cart = Some(Vec::new()),
                Step::Add(product) => cart.iter_mut().for_each(|cart| cart.push(product)),
                Step::Checkout { customer } => {
                    self.orders.push(Order { customer, products: cart.take().unwrap_or_default() });
                }
                Step::Review { customer, product, rating } => {
                    self.review(Review { customer, product, rating, text: None });
                }
            }
        }
        self.carts.extend(cart);
        Ok(())
    }

    fn review(&mut self, review: Review) {
        let (product, rating) = (review.product, u64::from(review.rating));
        let earlier = self.reviews.insert((review.customer, product), review);
        if let Some((sum, count)) = self.ratings.get_mut(product as usize - 1) {
            *sum = *sum + rating - earlier.as_ref().map_or(0, |review| u64::from(review.rating));
            *count += u64::from(earlier.is_none());
        }
    }

    fn check(&self, id: u32, found: Option<&Found>, sure: bool) -> Result<()> {
        let product = self.data.products.get(id as usize - 1).cloned();
        let (sum, count) = self.ratings.get(id as usize - 1).copied().unwrap_or_default();
        let mut expected = product.map(|product| Found { id, product, rating: average(sum, count) });
        if let (false, Some(expected), Some(found)) = (sure, &mut expected, found) {
            expected.rating = found.rating;
        }
        if expected.as_ref() == found {
            return Ok(());
        }
        let (expected, found) = (format!("{expected:?}"), format!("{found:?}"));
        Err(LabError::Wrong { what: format!("product {id}"), expected, found })
    }
}

fn same_list<T: PartialEq + std::fmt::Debug>(what: &str, expected: &[T], found: &[T]) -> Result<()> {
    let wrong = |expected: String, found: String| LabError::Wrong { what: what.to_owned(), expected, found };
    if expected.len() != found.len() {
        return Err(wrong(expected.len().to_string(), found.len().to_string()));
    }
    match expected.iter().zip(found).find(|(expected, found)| expected != found) {
        Some((expected, found)) => Err(wrong(format!("{expected:?}"), format!("{found:?}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
