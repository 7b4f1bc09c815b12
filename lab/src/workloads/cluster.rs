//! The suite `cluster`: ours on shared logs. It measures the bare system, one node on it with one writer and with many,
//! and three nodes on it together.

use super::bench::{Figure, Member, empty_dir, start};
use super::{Bench, Operation, Plan, Suite};
use crate::error::{LabError, Result};
use crate::measure::stats::as_f64;
use crate::subjects::Kind;
use crate::subjects::cluster::kinds;
use crate::worker::cluster::Cluster;
use crate::worker::{Command, Launch, Reply, Worker};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "cluster",
    what: "one store on shared logs: commits of one node and of three, beside bare appends to the same system",
    kinds,
    usual: &["recension", "log-postgresql", "log-mariadb", "log-etcd"],
    sittings: super::SITTINGS,
    operations: &OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

const OPERATIONS: [Operation; 7] = [
    Operation::ns("append", "a bare append of 300 bytes, durable as the system makes it", 5),
    Operation::ns("append_best", "a bare append of the length that carries the most bytes a second", 5),
    Operation::ns("one_1", "a commit of 300 bytes by the only writer of the only node", 5),
    Operation::ns("one_16", "16 writers of one node: time divided by commits", 5),
    Operation::ns("one_64", "64 writers of one node: time divided by commits", 5),
    Operation::ns("three_16", "three nodes with 16 writers each: time divided by commits", 8),
    Operation::count("three_16_least", "percent of a fair share that the slowest of the three has, the worst round", 1),
];

struct Sizes {
    rounds: usize,
    appends: u64,
    commits: u64,
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        // A trial of the laboratory itself, as in its tests: every step, nothing to be believed.
        let trial = plan.rows.is_some_and(|rows| rows < 1_000);
        Sizes {
            rounds: if trial { 2 } else { plan.pick(3, 5, 2) },
            appends: if trial { 5 } else { 200 },
            commits: if trial { 3 } else { plan.pick(60, 100, 100) },
        }
    }

    fn words(&self) -> String {
        format!(
            "{} rounds of {} appends, and of {} commits of each writer; nodes are engines of one process, each with a \
             cache of its own",
            self.rounds, self.appends, self.commits
        )
    }
}

fn everybody(_: &Kind) -> bool {
    true
}

fn ask(member: &mut Member, command: Cluster) -> Result<Reply> {
    member.ask(&Command::Cluster(command))
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let plan = bench.plan;
    let sizes = Sizes::of(plan);
    bench.prepare("starting the systems", everybody, |member| {
        member.dir = plan.dir.join("cluster").join(member.kind.name);
        empty_dir(&member.dir)?;
        start(plan, member, &Launch::Plain)?;
        let (subject, dir) = (member.kind.name.to_owned(), member.dir.clone());
        let reply = ask(member, Cluster::Open { subject, dir })?;
        member.settings = member.settings.take().or(reply.settings);
        Ok(())
    })?;
    let rounds = (sizes.rounds, true);
    let (count, few) = (sizes.appends, (sizes.appends / 10).max(1));
    for (name, command) in [
        ("append", Cluster::Append { count, best: false }),
        ("append_best", Cluster::Append { count: few, best: true }),
        ("one_1", Cluster::Write { nodes: 1, writers: 1, commits: sizes.commits }),
        ("one_16", Cluster::Write { nodes: 1, writers: 16, commits: sizes.commits }),
        ("one_64", Cluster::Write { nodes: 1, writers: 64, commits: sizes.commits }),
    ] {
        bench.rounds(name, everybody, rounds, Figure::PerOperation, |member, _| ask(member, command.clone()))?;
    }
    let mut least: Vec<(&'static str, u64)> = Vec::new();
    bench.rounds("three_16", everybody, rounds, Figure::PerOperation, |member, _| {
        let reply = ask(member, Cluster::Write { nodes: 3, writers: 16, commits: sizes.commits })?;
        least.push((member.kind.name, reply.number.unwrap_or_default()));
        Ok(reply)
    })?;
    bench.single("three_16_least", everybody, |member| {
        let own = least.iter().filter(|(name, _)| *name == member.kind.name).map(|(_, percent)| *percent);
        let worst = own.min().ok_or_else(|| LabError::Unavailable { reason: "its rounds failed".to_owned() })?;
        Ok((as_f64(worst as usize), None))
    })?;
    bench.verify_with("stopping the systems", everybody, |member| {
        ask(member, Cluster::Close)?;
        member.worker.take().into_iter().for_each(Worker::end);
        Ok(())
    })?;
    bench.remove(everybody)
}
