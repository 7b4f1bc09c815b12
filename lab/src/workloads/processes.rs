//! The suite `processes`: rows of a store that another process owns, beside the same rows in the process that owns
//! them, Redis through a unix socket, and a file of `SQLite` that several processes have open.

use super::bench::{Figure, Member, empty_dir, start};
use super::{Bench, Operation, Plan, Suite};
use crate::error::Result;
use crate::subjects::Kind;
use crate::subjects::processes::{LOCAL, kinds, ranges};
use crate::worker::processes::{AT_ONCE, Processes, RANGE, Use};
use crate::worker::{Command, Launch, Reply, Worker};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "processes",
    what: "one store in several processes: rows through a socket, beside one process, Redis and SQLite",
    kinds,
    usual: &["recension", LOCAL, "redis", "sqlite"],
    sittings: super::SITTINGS,
    operations: &OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

const OPERATIONS: [Operation; 6] = [
    Operation::ns("get", "read a random row of 300 bytes, one thread of another process", 5),
    Operation::ns("get_64", "64 gets at once: one request, one pipeline or one transaction", 5),
    Operation::ns("range_100", "read 100 rows in order", 5),
    Operation::ns("put_durable", "a lone commit of one row, durable to loss of power", 5),
    Operation::ns(
        "writers_8x8",
        "8 processes of 8 threads that commit (64 threads in one process): time by commits",
        20,
    ),
    Operation::ns("command", "the command of a shell that prints a document, from its start until it has ended", 5),
];

/// Processes that write at once, and threads of each.
const WRITERS: (u64, u64) = (8, 8);

type Who = fn(&Kind) -> bool;
/// What is asked of the workers, by its count and the seed of its chance.
type Make = fn(u64, u64) -> Use;

struct Sizes {
    rounds: usize,
    rows: u64,
    gets: u64,
    commits: u64,
    each: u64,
    commands: u64,
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        // A trial of the laboratory itself, as in its tests: every step, nothing to be believed.
        if let Some(rows) = plan.rows.filter(|rows| *rows < 1_000) {
            return Sizes { rounds: 2, rows: rows + 100, gets: 64, commits: 3, each: 2, commands: 1 };
        }
        Sizes {
            rounds: plan.pick(5, 9, 5),
            rows: plan.rows.unwrap_or(10_000),
            gets: 4_000,
            commits: 100,
            each: 150,
            commands: 20,
        }
    }

    fn words(&self) -> String {
        format!(
            "{} rows; {} rounds of {} gets, of as many gets in groups of {AT_ONCE}, of {} ranges of {RANGE}, of {} \
             lone commits, of {} commits of each of 64 writers, of {} commands",
            self.rows,
            self.rounds,
            self.gets,
            self.gets / AT_ONCE as u64,
            self.commits,
            self.each,
            self.commands
        )
    }
}

fn everybody(_: &Kind) -> bool {
    true
}

fn ask(member: &mut Member, command: Processes) -> Result<Reply> {
    member.ask(&Command::Processes(command))
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let plan = bench.plan;
    let Sizes { rounds, rows, gets, commits, each, commands } = Sizes::of(plan);
    bench.prepare("loading", everybody, |member| {
        member.dir = plan.dir.join("p").join(member.kind.name);
        empty_dir(&member.dir)?;
        start(plan, member, &Launch::Plain)?;
        member.next_row = rows;
        let (subject, dir, given) = (member.kind.name.to_owned(), member.dir.clone(), plan.given.clone());
        let reply = ask(member, Processes::Own { subject, dir, rows, given })?;
        member.settings = member.settings.take().or(reply.settings);
        Ok(())
    })?;
    let rounds = (rounds, true);
    let groups = (gets / AT_ONCE as u64).max(1);
    let ordered: Who = |kind| ranges(kind.name);
    let reads: [(&str, Who, Make, u64); 3] = [
        ("get", everybody, |count, seed| Use::Get { count, seed }, gets),
        ("get_64", everybody, |count, seed| Use::GetMany { count, seed }, groups),
        ("range_100", ordered, |count, seed| Use::Range { count, seed }, groups),
    ];
    for (name, who, what, count) in reads {
        let seed = bench.random.number();
        bench.rounds(name, who, rounds, Figure::PerOperation, |member, round| {
            ask(member, Processes::Use(what(count, seed ^ round as u64)))
        })?;
    }
    bench.rounds("put_durable", everybody, rounds, Figure::PerOperation, |member, _| {
        let first = member.next_row;
        member.next_row += commits;
        ask(member, Processes::Use(Use::Write { first, threads: 1, commits }))
    })?;
    let (processes, threads) = WRITERS;
    bench.rounds("writers_8x8", everybody, rounds, Figure::PerOperation, |member, _| {
        let first = member.next_row;
        member.next_row += processes * threads * each;
        ask(member, Processes::Writers { first, processes, threads, commits: each })
    })?;
    bench.rounds(
        "command",
        |kind| kind.name != LOCAL,
        rounds,
        Figure::PerOperation,
        |member, _| ask(member, Processes::Shell { count: commands }),
    )?;
    bench.verify_with("reading what was acknowledged", everybody, |member| {
        let count = member.next_row;
        ask(member, Processes::Use(Use::Verify { first: 0, count }))?;
        ask(member, Processes::Close)?;
        member.worker.take().into_iter().for_each(Worker::end);
        Ok(())
    })?;
    bench.remove(everybody)
}
