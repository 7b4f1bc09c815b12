//! The suite `ycsb`: the six core workloads of the Yahoo! Cloud Serving Benchmark, from several clients at once.

use super::bench::{Figure, Member, Rounds, empty_dir, start};
use super::{Bench, Operation, Plan, Suite};
use crate::error::Result;
use crate::measure::stats::as_f64;
use crate::subjects::Kind;
use crate::subjects::ycsb::kinds;
use crate::subjects::ycsb::model::WORKLOADS;
use crate::worker::ycsb::Ycsb;
use crate::worker::{Command, Launch, Reply, Worker};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "ycsb",
    what: "reads and writes from several clients: YCSB's workloads A to F, in a process, over HTTP, by processes",
    kinds,
    usual: &[
        "recension",
        "sqlite",
        "lmdb",
        "http-recension",
        "http-couchdb",
        "processes-recension",
        "processes-sqlite",
        "processes-lmdb",
        "processes-postgresql",
        "processes-redis",
    ],
    sittings: super::SITTINGS,
    operations: &OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

const OPERATIONS: [Operation; 13] = [
    Operation::ns("load", "store all records, 1,000 a commit: a record", 50),
    Operation::ns("a", "A, 50 % reads, 50 % updates of a field: what clients waited, by operations and clients", 40),
    Operation::ns("a_p99", "A: the 99th percentile of what an operation waits", 1),
    Operation::ns("b", "B, 95 % reads, 5 % updates", 40),
    Operation::ns("b_p99", "B: the 99th percentile", 1),
    Operation::ns("c", "C, reads alone", 40),
    Operation::ns("c_p99", "C: the 99th percentile", 1),
    Operation::ns("d", "D, 95 % reads of the newest records, 5 % inserts", 40),
    Operation::ns("d_p99", "D: the 99th percentile", 1),
    Operation::ns("e", "E, 95 % ranges of 1 to 100 records, 5 % inserts", 40),
    Operation::ns("e_p99", "E: the 99th percentile", 1),
    Operation::ns("f", "F, 50 % reads, 50 % reads of a record and updates of it", 40),
    Operation::ns("f_p99", "F: the 99th percentile", 1),
];

/// Clients at once.
const CLIENTS: u64 = 8;

struct Sizes {
    rounds: usize,
    records: u64,
    operations: u64,
    millis: u64,
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        // A trial of the laboratory itself, as in its tests: every step, nothing to be believed.
        if let Some(rows) = plan.rows.filter(|rows| *rows < 1_000) {
            return Sizes { rounds: 1, records: rows + 1_100, operations: 5, millis: 60_000 };
        }
        Sizes {
            rounds: plan.pick(2, 5, 3),
            records: plan.rows.unwrap_or(plan.pick(20_000, 100_000, 100_000)),
            operations: 25_000,
            millis: plan.pick(500, 1_000, 1_000),
        }
    }

    fn words(&self) -> String {
        format!(
            "{} records of ten fields of 100 bytes; {CLIENTS} clients in a closed loop; {} rounds of a workload, each \
             of at most {} ms or {} operations of a client; which records are wanted is Zipfian (0.99)",
            self.records, self.rounds, self.millis, self.operations
        )
    }
}

fn everybody(_: &Kind) -> bool {
    true
}

fn ask(member: &mut Member, command: Ycsb) -> Result<Reply> {
    member.ask(&Command::Ycsb(command))
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let plan = bench.plan;
    let Sizes { rounds, records, operations, millis } = Sizes::of(plan);
    bench.single("load", everybody, |member| {
        member.dir = plan.dir.join("y").join(member.kind.name);
        empty_dir(&member.dir)?;
        start(plan, member, &Launch::Plain)?;
        let (subject, dir, given) = (member.kind.name.to_owned(), member.dir.clone(), plan.given.clone());
        let reply = ask(member, Ycsb::Load { subject, dir, records, clients: CLIENTS, given })?;
        member.settings = member.settings.take().or(reply.settings);
        Ok((as_f64(reply.wall_ns as usize) / as_f64(records as usize), None))
    })?;
    for workload in &WORKLOADS {
        let seed = bench.random.number();
        let mut taken = Rounds::default();
        bench.rounds(workload.name, everybody, (rounds, true), Figure::PerOperation, |member, round| {
            let (workload, seed) = (workload.name.to_owned(), seed ^ round as u64);
            let reply = ask(member, Ycsb::Run { workload, operations, millis, seed })?;
            taken.add(member, round, &reply);
            Ok(reply)
        })?;
        let name = format!("{}_p99", workload.name);
        bench.rounds(&name, everybody, (rounds, true), Figure::Quantile(0.99), |member, round| {
            taken.of(member, round)
        })?;
    }
    bench.verify_with("reading what was acknowledged", everybody, |member| {
        ask(member, Ycsb::Verify)?;
        ask(member, Ycsb::Close)?;
        member.worker.take().into_iter().for_each(Worker::end);
        Ok(())
    })?;
    bench.remove(everybody)
}
