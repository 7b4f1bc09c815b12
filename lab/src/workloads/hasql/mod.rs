//! The suite `hasql`: the experiment of the article on that library (2014) with every client of `PostgreSQL` that Rust
//! has, and with embedded stores beside them, which pay no round trips.

use super::bench::{Figure, Member, empty_dir, start};
use super::{Bench, Operation, Plan, Suite};
use crate::error::{LabError, Result};
use crate::measure::stats::as_f64;
use crate::subjects::Kind;
use crate::subjects::hasql::{ACCOUNTS, Set, kinds};
use crate::worker::hasql::Hasql;
use crate::worker::{Command, Launch, Reply, Worker};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "hasql",
    what: "clients of PostgreSQL (the article on hasql, 2014) and embedded stores: rows decoded, parameters, transfers",
    kinds,
    usual: &[
        "recension",
        "sqlite",
        "postgresql",
        "pg-pipelined",
        "pg-text",
        "pg-sqlx",
        "pg-diesel",
        "hdbc-postgresql",
        "postgresql-simple",
        "psycopg",
        "hasql",
    ],
    sittings: super::SITTINGS,
    operations: &OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

const OPERATIONS: [Operation; 6] = [
    Operation::ns("parse_100", "a table of 100 rows, each decoded: the whole result", 5),
    Operation::ns("parse_10k", "a table of 10,000 rows, each decoded: the whole result", 5),
    Operation::ns("parameters", "a query with three parameters that finds nothing", 5),
    Operation::ns("transfer", "a serializable transaction of two reads and two writes, durable, from one client", 5),
    Operation::ns(
        "transfer_8",
        "the same from 8 clients at once, tried again after conflicts: time divided by transfers",
        5,
    ),
    Operation::count(
        "transfer_8_retries",
        "tries beyond the first, for each of these transfers; what a store tries again by itself is not in it",
        1,
    ),
];

/// Clients of `transfer_8`.
const CLIENTS: u64 = 8;

struct Sizes {
    many: i32,
    rounds: usize,
    lists: u64,
    queries: u64,
    pairs: u64,
    pairs_at_once: u64,
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        let many = plan.rows.unwrap_or(10_000).clamp(10, 1_000_000);
        // A trial of the laboratory itself, as in its tests: every step, nothing to be believed.
        let trial = many < 1_000;
        Sizes {
            many: i32::try_from(many).unwrap_or(10_000),
            rounds: if trial { 2 } else { plan.pick(5, 9, 2) },
            lists: if trial { 2 } else { 100 },
            queries: if trial { 5 } else { 1_000 },
            pairs: if trial { 20 } else { 380 },
            pairs_at_once: if trial { 24 } else { plan.pick(120, 120, 160) },
        }
    }

    fn words(&self) -> String {
        format!(
            "100 and {} rows; {} rounds of {} results of 100 rows, {} queries with parameters, {} transfers between \
             {ACCOUNTS} accounts, and {} by {CLIENTS} clients; PostgreSQL over TCP on loopback, embedded stores in the \
             client's process",
            self.many, self.rounds, self.lists, self.queries, self.pairs, self.pairs_at_once
        )
    }
}

fn everybody(_: &Kind) -> bool {
    true
}

fn ask(member: &mut Member, command: Hasql) -> Result<Reply> {
    member.ask(&Command::Hasql(command))
}

fn open(member: &mut Member, plan: &Plan, load: Option<(i32, i32)>) -> Result<()> {
    let (subject, dir) = (member.kind.name.to_owned(), member.dir.clone());
    let reply = ask(member, Hasql::Open { subject, dir, load, given: plan.given.clone() })?;
    member.settings = member.settings.take().or(reply.settings);
    Ok(())
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let plan = bench.plan;
    let sizes = Sizes::of(plan);
    bench.prepare("opening", everybody, |member| {
        member.dir = plan.dir.join("hasql").join(member.kind.name);
        empty_dir(&member.dir)?;
        start(plan, member, &Launch::Plain)?;
        open(member, plan, Some((100, sizes.many)))
    })?;
    let rounds = (sizes.rounds, true);
    let few_at_once = (sizes.lists / 20).max(1);
    for (name, command) in [
        ("parse_100", Hasql::All { set: Set::Few, count: sizes.lists }),
        ("parse_10k", Hasql::All { set: Set::Many, count: few_at_once }),
        ("parameters", Hasql::Between { count: sizes.queries }),
    ] {
        bench.rounds(name, everybody, rounds, Figure::PerOperation, |member, _| ask(member, command.clone()))?;
    }
    bench.rounds("transfer", everybody, rounds, Figure::PerOperation, |member, round| {
        ask(member, Hasql::Transfers { clients: 1, pairs: sizes.pairs, seed: 70 + round as u64 })
    })?;
    let mut tries: Vec<(&'static str, u64, u64)> = Vec::new();
    bench.rounds("transfer_8", everybody, rounds, Figure::PerOperation, |member, round| {
        let command = Hasql::Transfers { clients: CLIENTS, pairs: sizes.pairs_at_once, seed: 90 + round as u64 };
        let reply = ask(member, command)?;
        tries.push((member.kind.name, reply.number.unwrap_or_default(), reply.ops));
        Ok(reply)
    })?;
    bench.single("transfer_8_retries", everybody, |member| {
        let own = || tries.iter().filter(|(name, ..)| *name == member.kind.name);
        let (again, all): (u64, u64) = (own().map(|(_, again, _)| again).sum(), own().map(|(.., all)| all).sum());
        if all == 0 {
            return Err(LabError::Unavailable { reason: "its rounds failed".to_owned() });
        }
        Ok((as_f64(again as usize) / as_f64(all as usize), None))
    })?;
    bench.verify_with("verifying the final state", everybody, |member| {
        ask(member, Hasql::Close)?;
        open(member, plan, None)?;
        ask(member, Hasql::Verify)?;
        ask(member, Hasql::Close)?;
        member.worker.take().into_iter().for_each(Worker::end);
        Ok(())
    })?;
    bench.remove(everybody)
}
