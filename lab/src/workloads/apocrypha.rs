//! The suite `apocrypha`: servers of members over loopback, asked by one client's code. Client and servers share the
//! machine's processors. See docs/src/laboratory.md.

use super::bench::{Figure, Member, empty_dir, start};
use super::{Bench, Operation, Plan, Suite};
use crate::error::{LabError, Result};
use crate::measure::stats::as_f64;
use crate::subjects::apocrypha::kinds;
use crate::subjects::{Kind, Tier};
use crate::worker::apocrypha::{Apocrypha, What};
use crate::worker::http::Bounds;
use crate::worker::{Command, Launch, Reply};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "apocrypha",
    what: "members over Apocrypha's wire on loopback, beside the original and Redis: reads, writes, many clients, \
        databases of 100 to 100,000",
    kinds,
    usual: &[
        "recension",
        "recension-process",
        "redis",
        "redis-log",
        "redis-synced",
        "apocrypha-python",
        "apocrypha-haskell",
    ],
    sittings: super::SITTINGS,
    operations: &OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

const OPERATIONS: [Operation; 16] = [
    Operation::ns(
        "get_1_100",
        "a random member of 100, one client, on one processor with its server: median of what a request waits",
        10,
    ),
    Operation::ns("get_1_10k", "the same of 10,000", 10),
    Operation::ns("get_1_100k", "the same of 100,000", 10),
    Operation::ns("get_same", "one member again and again, of 10,000", 10),
    Operation::ns(
        "get_within_10k",
        "a member of one document of 10,000 (Redis: HGET): median of what a request waits",
        10,
    ),
    Operation::ns("set_1", "a write of a random member of 10,000, one client: median of what a request waits", 10),
    Operation::ns(
        "set_within_10k",
        "a write of a member of one document of 10,000 (Redis: HSET): median of what a request waits",
        10,
    ),
    Operation::ns("get_10", "reads of 10 clients at once: time divided by requests", 10),
    Operation::ns("get_20", "the same of 20", 10),
    Operation::ns("set_10", "writes of 10 clients at once: time divided by requests", 10),
    Operation::ns("set_20", "the same of 20", 10),
    Operation::ns("mixed_10", "nine reads and a write, of 10 clients at once: time divided by requests", 10),
    Operation::ns("get_traced", "as get_1_10k while every command is printed into a file", 10),
    Operation::ns("get_20_traced", "as get_20 while every command is printed into a file", 10),
    Operation::bytes("idle_connection", "memory of a connection that was used and rests", 5),
    Operation::ns("start", "from starting the program on what it has stored to its answering", 5),
];

/// The sizes of a run.
struct Sizes {
    members: [u64; 3],
    within: u64,
    rounds: usize,
    most: Bounds,
    idle: u64,
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        let rows = plan.rows.unwrap_or(100_000).clamp(100, 100_000);
        // A trial of the laboratory itself, as in its tests: every step, nothing to be believed.
        let trial = rows < 1000;
        let pick = |tried, quick, usual, full| if trial { tried } else { plan.pick(quick, usual, full) };
        Sizes {
            members: [100.min(rows), 10_000.min(rows), rows],
            within: 10_000.min(rows),
            rounds: pick(2, 3, 7, 3) as usize,
            most: Bounds { requests: pick(100, 100_000, 100_000, 100_000), millis: pick(2000, 100, 200, 200) },
            idle: pick(20, 400, 400, 400),
        }
    }

    fn words(&self) -> String {
        let [few, more, many] = self.members;
        format!(
            "databases of {few}, {more} and {many} members of 8 bytes, the second with a document of {} members, {} \
             rounds of at most {} requests or {} ms; one client is on one processor with its server, more share the \
             machine's processors with it",
            self.within, self.rounds, self.most.requests, self.most.millis,
        )
    }
}

fn everybody(_: &Kind) -> bool {
    true
}

fn ours(kind: &Kind) -> bool {
    kind.name.starts_with("recension")
}

fn keepers(kind: &Kind) -> bool {
    kind.tier > Tier::T0
}

fn ask(member: &mut Member, command: Apocrypha) -> Result<Reply> {
    member.ask(&Command::Apocrypha(command))
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let sizes = Sizes::of(bench.plan);
    let [few, more, many] = sizes.members;
    for (name, members) in [("get_1_100", few), ("get_1_100k", many)] {
        open(bench, name, (members, 0), false, everybody)?;
        one(bench, &sizes, name, What::Get)?;
        close(bench)?;
    }
    open(bench, "traced", (more, sizes.within), true, ours)?;
    measured(bench, &sizes, ("get_traced", What::Get, 1), Figure::Quantile(0.5), ours)?;
    measured(bench, &sizes, ("get_20_traced", What::Get, 20), Figure::PerOperation, ours)?;
    close(bench)?;

    open(bench, "data", (more, sizes.within), false, everybody)?;
    for (name, what) in [
        ("get_1_10k", What::Get),
        ("get_same", What::GetSame),
        ("get_within_10k", What::GetWithin),
        ("set_1", What::Set),
        ("set_within_10k", What::SetWithin),
    ] {
        one(bench, &sizes, name, what)?;
    }
    for (name, what, clients) in [
        ("get_10", What::Get, 10),
        ("get_20", What::Get, 20),
        ("set_10", What::Set, 10),
        ("set_20", What::Set, 20),
        ("mixed_10", What::Mixed, 10),
    ] {
        measured(bench, &sizes, (name, what, clients), Figure::PerOperation, everybody)?;
    }
    bench.single("idle_connection", everybody, |member| {
        let reply = ask(member, Apocrypha::Idle { connections: sizes.idle })?;
        Ok((as_f64(reply.number.unwrap_or_default() as usize), None))
    })?;
    again(bench)?;
    close(bench)
}

fn open(bench: &mut Bench<'_>, phase: &str, fresh: (u64, u64), trace: bool, who: fn(&Kind) -> bool) -> Result<()> {
    let plan = bench.plan;
    bench.prepare("starting", who, |member| {
        member.dir = plan.dir.join(phase).join(member.kind.name);
        member.worker = None;
        empty_dir(&member.dir)?;
        start(plan, member, &Launch::Plain)?;
        start_server(plan, member, trace, Some(fresh))
    })
}

fn start_server(plan: &Plan, member: &mut Member, trace: bool, fresh: Option<(u64, u64)>) -> Result<()> {
    let subject = member.kind.name.to_owned();
    let command = Apocrypha::Start { subject, dir: member.dir.clone(), given: plan.given.clone(), trace, fresh };
    let reply = ask(member, command)?;
    member.settings = member.settings.take().or(reply.settings);
    Ok(())
}

fn close(bench: &mut Bench<'_>) -> Result<()> {
    bench.prepare("stopping", everybody, |member| {
        if member.worker.is_some() {
            ask(member, Apocrypha::Stop)?;
        }
        member.worker.take().into_iter().for_each(crate::worker::Worker::end);
        Ok(())
    })
}

/// The median wait of one client.
fn one(bench: &mut Bench<'_>, sizes: &Sizes, name: &'static str, what: What) -> Result<()> {
    measured(bench, sizes, (name, what, 1), Figure::Quantile(0.5), everybody)
}

fn measured(
    bench: &mut Bench<'_>,
    sizes: &Sizes,
    (name, what, clients): (&'static str, What, u64),
    figure: Figure,
    who: fn(&Kind) -> bool,
) -> Result<()> {
    bench.rounds(name, who, (sizes.rounds, true), figure, |member, round| {
        ask(member, Apocrypha::Ask { what, clients, most: sizes.most, seed: 100 + round as u64 })
    })
}

/// Ends every server, starts those that keep anything on what they have stored, and reads everything that was
/// acknowledged.
fn again(bench: &mut Bench<'_>) -> Result<()> {
    let plan = bench.plan;
    bench.verify_with("verifying", everybody, |member| ask(member, Apocrypha::Verify).map(drop))?;
    bench.prepare("stopping", everybody, |member| ask(member, Apocrypha::Stop).map(drop))?;
    bench.rounds("start", everybody, (1, false), Figure::PerOperation, |member, _| {
        if !keepers(&member.kind) {
            return Err(LabError::Unavailable { reason: "it keeps nothing to start with".to_owned() });
        }
        let begin = std::time::Instant::now();
        start_server(plan, member, false, None)?;
        Ok(Reply { ops: 1, wall_ns: crate::measure::clock::nanos(begin.elapsed()), ..Reply::default() })
    })?;
    bench.verify_with("verifying what was stored", keepers, |member| ask(member, Apocrypha::Verify).map(drop))
}
