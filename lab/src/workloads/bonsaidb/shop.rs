//! The shops: three sizes, three mixes, three numbers of agents, each in a store of its own.

use std::collections::HashMap;

use super::{Sizes, ask, close, start_new};
use crate::error::{LabError, Result};
use crate::subjects::Kind;
use crate::subjects::bonsaidb::{Part, Size, StepKind, has};
use crate::worker::Reply;
use crate::worker::bonsaidb::{Bonsaidb, Shopping};
use crate::workloads::Mode;
use crate::workloads::bench::{Bench, Figure, Member};

/// Agents at most, so that the 100 connections that `PostgreSQL` takes by default are enough.
const AGENTS_MAX: u32 = 64;
/// The seed of what a shop begins with.
const DATA_SEED: u64 = 11;

const SIZES: [(&str, Size); 3] = [
    ("small", Size { customers: 100, products: 100, categories: 10, orders: 125, reviews: 50 }),
    ("medium", Size { customers: 1_000, products: 1_000, categories: 50, orders: 1_500, reviews: 500 }),
    ("large", Size { customers: 5_000, products: 5_000, categories: 100, orders: 5_000, reviews: 1_000 }),
];
/// In how many of a hundred cases a product is put into the cart, checked out, and reviewed.
const MIXES: [(&str, u64); 3] = [("balanced", 25), ("readheavy", 10), ("writeheavy", 90)];
/// The number of agents: one, or this many for each processor.
const AGENTS: [(&str, Option<u32>); 3] = [("1", None), ("cpus", Some(1)), ("2cpus", Some(2))];

/// The mix whose steps have rows of their own.
const IN_STEPS: &str = "shop_medium_balanced_1";
const STEPS: [(&str, StepKind); 6] = [
    ("find_product", StepKind::Find),
    ("lookup_product", StepKind::Lookup),
    ("create_cart", StepKind::Cart),
    ("add_to_cart", StepKind::Add),
    ("checkout", StepKind::Checkout),
    ("review", StepKind::Review),
];

/// Whether a mode measures a shop.
fn measured(mode: Mode, size: &str, mix: &str, agents: &str) -> bool {
    match mode {
        Mode::Quick => size != "large" && mix == "balanced" && agents != "2cpus",
        Mode::Usual => size != "large" && agents != "cpus",
        Mode::Full => true,
    }
}

fn shops(kind: &Kind) -> bool {
    has(kind, Part::Shop)
}

pub(super) fn run(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(1));
    for (size_name, size) in SIZES {
        let size = size.at_most(sizes.at_most);
        for (mix, percent) in MIXES {
            for (agents_name, agents) in AGENTS {
                let name = format!("shop_{size_name}_{mix}_{agents_name}");
                if measured(sizes.mode, size_name, mix, agents_name) {
                    let agents = agents.map_or(1, |each| each * cpus).min(AGENTS_MAX);
                    let shopping = Shopping { percent, agents, shoppers: sizes.shoppers, seed: 0 };
                    one(bench, sizes, &name, size, shopping)?;
                } else {
                    let modes = [Mode::Quick, Mode::Usual, Mode::Full];
                    let others = modes.into_iter().filter(|mode| measured(*mode, size_name, mix, agents_name));
                    let others: Vec<&str> = others.map(|mode| mode.names()[0]).collect();
                    let reason = format!("only in {} runs", others.join(" and "));
                    bench.single(&name, shops, |_| Err(LabError::Unavailable { reason: reason.clone() }))?;
                }
            }
        }
    }
    Ok(())
}

/// One shop, verified before and after it was closed.
fn one(bench: &mut Bench<'_>, sizes: &Sizes, name: &str, size: Size, shopping: Shopping) -> Result<()> {
    let plan = bench.plan;
    let open_new = |member: &mut Member| {
        start_new(plan, member, name)?;
        open(member, Some((size, DATA_SEED)))
    };
    if name == IN_STEPS {
        // The last of the loads is the shop that is measured.
        let rounds = (sizes.shop_rounds, false);
        bench.rounds("load", shops, rounds, Figure::PerOperation, |member, _| {
            if member.worker.is_some() {
                close(member)?;
            }
            open_new(member)
        })?;
    } else {
        bench.prepare("loading a shop", shops, |member| open_new(member).map(drop))?;
    }
    let mut taken: HashMap<(&'static str, usize), Reply> = HashMap::new();
    bench.rounds(name, shops, (sizes.shop_rounds, true), Figure::PerOperation, |member, round| {
        let reply = ask(member, Bonsaidb::Shop(Shopping { seed: 100 + round as u64, ..shopping }))?;
        taken.insert((member.kind.name, round), reply.clone());
        Ok(reply)
    })?;
    if name == IN_STEPS {
        steps(bench, sizes, &taken)?;
    }
    bench.verify_with("verifying the shop", shops, |member| {
        ask(member, Bonsaidb::Verify)?;
        ask(member, Bonsaidb::Close)?;
        open(member, None)?;
        ask(member, Bonsaidb::Verify)?;
        close(member)
    })?;
    bench.remove(shops)
}

fn open(member: &mut Member, load: Option<(Size, u64)>) -> Result<Reply> {
    let (subject, dir) = (member.kind.name.to_owned(), member.dir.clone());
    let reply = ask(member, Bonsaidb::OpenShop { subject, dir, load })?;
    member.settings = member.settings.take().or_else(|| reply.settings.clone());
    Ok(reply)
}

/// The rows of single steps, of what was taken in the rounds of all.
fn steps(bench: &mut Bench<'_>, sizes: &Sizes, taken: &HashMap<(&'static str, usize), Reply>) -> Result<()> {
    for (name, kind) in STEPS {
        bench.rounds(name, shops, (sizes.shop_rounds, true), Figure::Quantile(0.5), |member, round| {
            let failed = || LabError::Unavailable { reason: "its rounds failed, or had no such step".to_owned() };
            let steps = taken.get(&(member.kind.name, round)).ok_or_else(failed)?.steps.iter();
            let (_, latencies) = steps.clone().find(|(step, _)| *step == kind).ok_or_else(failed)?;
            let (ops, wall_ns) = (latencies.len() as u64, latencies.iter().sum());
            Ok(Reply { ops, wall_ns, latencies_ns: latencies.clone(), ..Reply::default() })
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shop_and_step_is_an_operation_and_some_mode_measures_it() {
        let mut named: Vec<String> = STEPS.iter().map(|(name, _)| (*name).to_owned()).collect();
        for (size, _) in SIZES {
            for (mix, _) in MIXES {
                named.extend(AGENTS.iter().map(|(agents, _)| format!("shop_{size}_{mix}_{agents}")));
                assert!(AGENTS.iter().all(|(agents, _)| measured(Mode::Full, size, mix, agents)));
            }
        }
        assert_eq!(named.len(), 33);
        for name in named {
            assert!(super::super::OPERATIONS.iter().any(|operation| operation.name == name), "{name}");
        }
    }
}
