//! The suite `versions`: a document with thousands of versions, and many with a few each: written, read as of a moment,
//! listed, and asked by an index as of a moment; and branches of the many.

use super::bench::{Figure, Member, empty_dir, start};
use super::{Bench, Operation, Plan, Suite};
use crate::error::Result;
use crate::measure::stats::as_f64;
use crate::subjects::Kind;
use crate::subjects::revisions::kinds;
use crate::worker::revisions::Revisions;
use crate::worker::{Command, Launch, Reply, Worker};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "versions",
    what: "documents with all their versions: written, read as of a moment, listed, queried in the past, their size, \
           and branches of them",
    kinds,
    usual: &["recension", "sqlite", "postgresql", "doltlite"],
    sittings: super::SITTINGS,
    operations: &OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

const OPERATIONS: [Operation; 19] = [
    Operation::ns("write_long", "a version of the document of 2.4 kB, durable to loss of power", 30),
    Operation::bytes("size_long", "the store with all versions of that document, after its own tidying", 5),
    Operation::ns("read_version", "one of those versions", 5),
    Operation::ns("list", "the moments of all versions of that document", 5),
    Operation::ns("member", "one member over all versions of that document", 10),
    Operation::ns("neighbours", "two versions of it that stand side by side", 5),
    Operation::ns("load", "a version of each of many documents of 400 bytes, 1,000 in a commit: a version", 100),
    Operation::ns("read_as_of", "one of many documents as of a moment", 5),
    Operation::ns("query_as_of", "the documents of a state as of a moment, by an index", 10),
    Operation::ns("commit", "a new version of one of many documents, durable to loss of power", 10),
    Operation::ns("newest", "one of many documents as it is now", 5),
    Operation::bytes("size", "the store with all versions of all documents, after its own tidying", 20),
    Operation::ns("range", "100 of the many documents in order", 5),
    Operation::ns("fork", "a branch of everything as it is now", 10),
    Operation::ns("branch_write", "a document of 1,000 that are changed on a branch in one commit", 5),
    Operation::ns("branch_newest", "one of many documents on a branch, as it is now there", 5),
    Operation::ns("branch_range", "100 documents in order on a branch", 5),
    Operation::ns(
        "branch_diff",
        "which documents differ, after 1,000 were changed on the branch and 1,000 on the main line",
        5,
    ),
    Operation::ns("branch_merge", "merging 1,000 changed documents of a branch into the main line", 5),
];

/// What is asked of the many documents, and of the long one.
pub const ASKED: [(&str, u64); 8] = [
    ("read_version", 500),
    ("list", 3),
    ("member", 3),
    ("neighbours", 300),
    ("read_as_of", 1_000),
    ("query_as_of", 30),
    ("commit", 200),
    ("newest", 1_000),
];
/// What is asked of branches, in this order. A round has a branch of its own.
pub const ASKED_OF_BRANCHES: [(&str, u64); 7] = [
    ("fork", 1),
    ("branch_write", 1),
    ("range", 300),
    ("branch_newest", 1_000),
    ("branch_range", 300),
    ("branch_diff", 1),
    ("branch_merge", 1),
];
/// The first of them that is about the many.
const LONG_ONES: usize = 4;

struct Sizes {
    rounds: usize,
    versions: u64,
    accounts: u64,
    versions_each: u64,
    /// The counts of `ASKED` are divided by this.
    part: u64,
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        // A trial of the laboratory itself, as in its tests: every step, nothing to be believed.
        if let Some(rows) = plan.rows.filter(|rows| *rows < 1_000) {
            return Sizes { rounds: 1, versions: 45, accounts: rows + 100, versions_each: 2, part: 100 };
        }
        Sizes {
            rounds: plan.pick(3, 7, 3),
            versions: 5_001,
            accounts: plan.rows.unwrap_or(plan.pick(10_000, 100_000, 100_000)),
            versions_each: 10,
            part: 1,
        }
    }

    fn words(&self) -> String {
        format!(
            "a document of 2.4 kB with {} versions, each a commit; {} documents of 400 bytes with {} versions each; {} \
             rounds, each about other documents and moments",
            self.versions, self.accounts, self.versions_each, self.rounds
        )
    }
}

fn everybody(_: &Kind) -> bool {
    true
}

fn ask(member: &mut Member, command: Revisions) -> Result<Reply> {
    member.ask(&Command::Revisions(command))
}

/// Nanoseconds an operation.
fn each(reply: &Reply) -> f64 {
    as_f64(reply.wall_ns as usize) / as_f64(reply.ops.max(1) as usize)
}

fn size(bench: &mut Bench<'_>, name: &str) -> Result<()> {
    bench.single(name, everybody, |member| {
        let bytes = ask(member, Revisions::Bytes)?.ops;
        Ok((as_f64(bytes as usize), None))
    })
}

fn asked(bench: &mut Bench<'_>, sizes: &Sizes, asked: &[(&str, u64)]) -> Result<()> {
    for (operation, count) in asked {
        let (count, seed) = ((count / sizes.part).max(1), bench.random.number());
        bench.rounds(operation, everybody, (sizes.rounds, true), Figure::PerOperation, |member, round| {
            ask(member, Revisions::Ask { operation: (*operation).to_owned(), count, seed: seed ^ round as u64 })
        })?;
    }
    Ok(())
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let plan = bench.plan;
    let sizes = Sizes::of(plan);
    bench.prepare("opening", everybody, |member| {
        member.dir = plan.dir.join("v").join(member.kind.name);
        empty_dir(&member.dir)?;
        start(plan, member, &Launch::Plain)?;
        let (subject, dir, given) = (member.kind.name.to_owned(), member.dir.clone(), plan.given.clone());
        let reply = ask(member, Revisions::Open { subject, dir, given })?;
        member.settings = member.settings.take().or(reply.settings);
        Ok(())
    })?;
    bench.single("write_long", everybody, |member| {
        ask(member, Revisions::Long { versions: sizes.versions }).map(|reply| (each(&reply), None))
    })?;
    size(bench, "size_long")?;
    let (long, many) = ASKED.split_at(LONG_ONES);
    asked(bench, &sizes, long)?;
    bench.samples("load", everybody, |member| {
        let rounds = (0..sizes.versions_each).map(|_| ask(member, Revisions::Round { accounts: sizes.accounts }));
        let taken = rounds.map(|reply| reply.map(|reply| each(&reply))).collect::<Result<Vec<_>>>()?;
        Ok((taken, None))
    })?;
    asked(bench, &sizes, many)?;
    size(bench, "size")?;
    for (operation, count) in ASKED_OF_BRANCHES {
        let (count, seed) = ((count / sizes.part).max(1), bench.random.number());
        bench.rounds(operation, everybody, (sizes.rounds, true), Figure::PerOperation, |member, round| {
            let (operation, round) = (operation.to_owned(), round as u64);
            ask(member, Revisions::Branch { operation, branch: round, count, seed: seed ^ round })
        })?;
    }
    bench.prepare("closing", everybody, |member| {
        ask(member, Revisions::Close)?;
        member.worker.take().into_iter().for_each(Worker::end);
        Ok(())
    })?;
    bench.remove(everybody)
}
