//! A shop is compared with the model. A shop that drops, keeps or reorders data is found.

use super::*;
use crate::subjects::bonsaidb::open_shop;

const SIZE: Size = Size { customers: 60, products: 40, categories: 8, orders: 50, reviews: 30 };

/// The ways in which a shop can be wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lie {
    None,
    DropsReviews,
    WrongRating,
    OldRating,
    ForgetsCategory,
    KeepsCarts,
    DropsOrders,
    KeepsEarlierReviews,
}

struct Liar {
    inner: Box<dyn Shop>,
    lie: Lie,
}

struct LyingAgent {
    inner: Box<dyn Agent>,
    lie: Lie,
    seen: BTreeMap<u32, Option<f64>>,
    reviewed: Vec<(u32, u32)>,
}

impl Shop for Liar {
    fn load(&mut self, data: &Data) -> Result<()> {
        self.inner.load(data)
    }
    fn agent(&self) -> Result<Box<dyn Agent>> {
        let (inner, lie) = (self.inner.agent()?, self.lie);
        Ok(Box::new(LyingAgent { inner, lie, seen: BTreeMap::new(), reviewed: Vec::new() }))
    }
    fn contents(&self) -> Result<Contents> {
        let mut contents = self.inner.contents()?;
        match self.lie {
            Lie::KeepsCarts => contents.carts.push(vec![1]),
            Lie::DropsOrders => drop(contents.orders.pop()),
            _ => {}
        }
        Ok(contents)
    }
    fn settings(&self) -> String {
        "lies".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.inner.close()
    }
}

impl LyingAgent {
    fn spoilt(&mut self, found: Option<Found>) -> Option<Found> {
        let mut found = found?;
        match self.lie {
            Lie::WrongRating => found.rating = found.rating.map(|rating| rating + 0.001),
            Lie::OldRating => found.rating = *self.seen.entry(found.id).or_insert(found.rating),
            Lie::ForgetsCategory => drop(found.product.categories.pop()),
            _ => {}
        }
        Some(found)
    }
}

impl Agent for LyingAgent {
    fn find(&mut self, name: &str) -> Result<Option<Found>> {
        let found = self.inner.find(name)?;
        Ok(self.spoilt(found))
    }
    fn lookup(&mut self, id: u32) -> Result<Option<Found>> {
        let found = self.inner.lookup(id)?;
        Ok(self.spoilt(found))
    }
    fn create_cart(&mut self) -> Result<String> {
        self.inner.create_cart()
    }
    fn add_to_cart(&mut self, cart: &str, product: u32) -> Result<()> {
        self.inner.add_to_cart(cart, product)
    }
    fn checkout(&mut self, cart: &str, customer: u32) -> Result<()> {
        self.inner.checkout(cart, customer)
    }
    fn review(&mut self, review: &Review) -> Result<()> {
        let of = (review.customer, review.product);
        let again = self.reviewed.contains(&of);
        self.reviewed.push(of);
        let dropped = self.lie == Lie::DropsReviews || (self.lie == Lie::KeepsEarlierReviews && again);
        if dropped { Ok(()) } else { self.inner.review(review) }
    }
}

fn opened(dir: &std::path::Path, lie: Lie) -> Counter {
    let inner = open_shop("recension", dir).unwrap();
    Counter::new(Box::new(Liar { inner, lie }), None, Some((SIZE, 3))).unwrap().0
}

fn shop(counter: &mut Counter, percent: u64, agents: u32, seed: u64) -> Result<Reply> {
    counter.run(&Shopping { percent, agents, shoppers: 80, seed })
}

#[test]
fn a_shop_is_as_the_model_says_with_one_agent_and_with_several_and_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let mut counter = opened(dir.path(), Lie::None);
    for (agents, percent) in [(1, 25), (3, 90), (1, 10), (61, 90)] {
        let reply = shop(&mut counter, percent, agents, u64::from(agents)).unwrap();
        assert_eq!(reply.ops, reply.steps.iter().map(|(_, latencies)| latencies.len() as u64).sum::<u64>());
        counter.verify().unwrap();
    }
    assert!(!counter.model.carts.is_empty() && counter.model.orders.len() > SIZE.orders as usize);
    let left = counter.close().unwrap();
    let inner = open_shop("recension", dir.path()).unwrap();
    let (mut counter, _) = Counter::new(inner, Some(left), None).unwrap();
    counter.verify().unwrap();
    counter.model.review(Review { customer: 1, product: 1, rating: 5, text: None });
    assert!(matches!(counter.verify(), Err(LabError::Wrong { .. })), "a review that nobody wrote");
}

#[test]
fn every_lie_is_found_at_the_latest_in_the_end() {
    for (lie, agents) in [
        (Lie::DropsReviews, 2),
        (Lie::WrongRating, 1),
        (Lie::OldRating, 1),
        (Lie::ForgetsCategory, 2),
        (Lie::KeepsCarts, 2),
        (Lie::DropsOrders, 2),
        (Lie::KeepsEarlierReviews, 2),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut counter = opened(dir.path(), lie);
        let found = shop(&mut counter, 90, agents, 1).and_then(|_| counter.verify());
        assert!(matches!(found, Err(LabError::Wrong { .. })), "{lie:?}: {found:?}");
    }
}
