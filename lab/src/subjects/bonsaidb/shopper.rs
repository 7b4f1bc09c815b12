//! The shoppers' plans, which are drawn before anything is timed. Each agent's shoppers have their own customers, so
//! that the final contents are known however the agents' calls mix.

use serde::{Deserialize, Serialize};

use super::model::Size;
use crate::data::Random;

/// Products that a shopper looks at, at most.
const SEARCHES_MAX: u64 = 10;

/// One step of a plan. A cart is the plan's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Looks for a product by its name.
    Find(u32),
    /// Looks at a product by its number.
    Lookup(u32),
    /// Makes a cart.
    Cart,
    /// Puts a product into the cart.
    Add(u32),
    /// Makes an order of the cart.
    Checkout {
        /// The number of the customer.
        customer: u32,
    },
    /// Reviews a product.
    Review {
        /// The number of the customer.
        customer: u32,
        /// The number of the product.
        product: u32,
        /// From 1 to 5.
        rating: u32,
    },
}

/// The kind of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum StepKind {
    /// [`Step::Find`].
    Find,
    /// [`Step::Lookup`].
    Lookup,
    /// [`Step::Cart`].
    Cart,
    /// [`Step::Add`].
    Add,
    /// [`Step::Checkout`].
    Checkout,
    /// [`Step::Review`].
    Review,
}

impl Step {
    /// Its kind.
    pub fn kind(&self) -> StepKind {
        match self {
            Step::Find(_) => StepKind::Find,
            Step::Lookup(_) => StepKind::Lookup,
            Step::Cart => StepKind::Cart,
            Step::Add(_) => StepKind::Add,
            Step::Checkout { .. } => StepKind::Checkout,
            Step::Review { .. } => StepKind::Review,
        }
    }
}

/// The plans of each agent, `shoppers` in all. A shopper puts a product into a cart, checks out, and reviews the bought
/// product, each in `percent` of a hundred cases.
pub fn plans(size: &Size, percent: u64, agents: u32, shoppers: u64, seed: u64) -> Vec<Vec<Vec<Step>>> {
    let mut random = Random::new(seed ^ 0x00ca_2700);
    let share = |agent: u32| (shoppers + u64::from(agents - 1 - agent)) / u64::from(agents);
    let plans_of = |agent| {
        let of_shopper = |_| {
            let customer = customer_of(&mut random, size, agent, agents);
            plan(&mut random, size, percent, customer)
        };
        (0..share(agent)).map(of_shopper).collect()
    };
    (0..agents).map(plans_of).collect()
}

/// One of an agent's own customers. The customers are dealt to the agents in turns.
fn customer_of(random: &mut Random, size: &Size, agent: u32, agents: u32) -> u32 {
    let own = size.customers.saturating_sub(agent).div_ceil(agents);
    agent + 1 + agents * u32::try_from(random.below(u64::from(own))).unwrap_or_default()
}

fn plan(random: &mut Random, size: &Size, percent: u64, customer: u32) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut bought = Vec::new();
    for _ in 0..=random.below(SEARCHES_MAX) {
        let product = 1 + u32::try_from(random.below(u64::from(size.products))).unwrap_or_default();
        steps.push(if random.below(2) == 0 { Step::Find(product) } else { Step::Lookup(product) });
        if random.below(100) < percent {
            if bought.is_empty() {
                steps.push(Step::Cart);
            }
            steps.push(Step::Add(product));
            bought.push(product);
        }
    }
    if !bought.is_empty() && random.below(100) < percent {
        steps.push(Step::Checkout { customer });
        for product in bought {
            if random.below(100) < percent {
                let rating = 1 + u32::try_from(random.below(5)).unwrap_or_default();
                steps.push(Step::Review { customer, product, rating });
            }
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SIZE: Size = Size { customers: 100, products: 100, categories: 10, orders: 0, reviews: 0 };

    #[test]
    fn no_two_agents_share_a_customer_and_none_is_beyond_the_last() {
        for agents in [1, 2, 3, 64] {
            let mut seen = BTreeSet::new();
            let made = plans(&SIZE, 90, agents, 1000, 1);
            assert_eq!(made.iter().map(Vec::len).sum::<usize>(), 1000);
            for own in made {
                let customers = own.iter().flatten().filter_map(|step| match step {
                    Step::Checkout { customer } | Step::Review { customer, .. } => Some(*customer),
                    _ => None,
                });
                let customers: BTreeSet<u32> = customers.collect();
                assert!(customers.iter().all(|customer| (1..=100).contains(customer) && seen.insert(*customer)));
            }
        }
    }

    #[test]
    fn a_plan_fills_a_cart_before_it_checks_out_and_reviews_what_it_bought() {
        for (percent, writes) in [(0, 0..1), (25, 1500..4500), (90, 9000..14_000)] {
            let made = plans(&SIZE, percent, 1, 1000, 2);
            let mut count = 0;
            for plan in made.iter().flatten() {
                let searches = plan.iter().filter(|step| matches!(step, Step::Find(_) | Step::Lookup(_))).count();
                assert!((1..=10).contains(&searches));
                let mut cart = None;
                for step in plan {
                    match step {
                        Step::Find(_) | Step::Lookup(_) => {}
                        Step::Cart => assert_eq!(cart.replace(Vec::new()), None),
                        Step::Add(product) => cart.as_mut().unwrap().push(*product),
                        Step::Checkout { .. } => assert!(!cart.as_ref().unwrap().is_empty()),
                        Step::Review { product, .. } => assert!(cart.as_ref().unwrap().contains(product)),
                    }
                }
                count += plan.len() - searches;
            }
            assert!(writes.contains(&count), "{percent}: {count}");
        }
    }
}
