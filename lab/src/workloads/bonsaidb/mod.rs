//! The suite `bonsaidb`: the benchmarks of `BonsaiDb` (documents that are saved, its key-value store, a shop) with
//! their faults mended: a checkout is one transaction, every look at a product answers its rating as of now, a later
//! review replaces the earlier one in every subject, everybody's writes are durable or labelled, and all that is there
//! is compared with the model.

mod shop;

use super::bench::{Figure, Member, empty_dir, start};
use super::{Bench, Mode, Operation, Plan, Suite};
use crate::error::Result;
use crate::subjects::Kind;
use crate::subjects::bonsaidb::{Part, has, kinds};
use crate::worker::bonsaidb::{Bonsaidb, Call};
use crate::worker::{Command, Launch, Reply, Worker};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "bonsaidb",
    what: "saving documents, values under keys, and a shop of customers, carts and reviews (BonsaiDb's benchmarks), \
        all durable",
    kinds,
    usual: &["recension", "bonsaidb", "bonsaidb-keys", "sqlite", "postgresql", "redis"],
    sittings: super::SITTINGS,
    operations: &OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

macro_rules! shop {
    ($size:literal, $mix:literal, $agents:literal, $words:literal) => {
        Operation::ns(
            concat!("shop_", $size, "_", $mix, "_", $agents),
            concat!(
                "a step of shoppers, ",
                $mix,
                ", in the ",
                $size,
                " shop, ",
                $words,
                ": all their time divided by steps"
            ),
            10,
        )
    };
}

const OPERATIONS: [Operation; 42] = [
    Operation::ns("save_1k", "saves a document of 1 KiB of text", 3),
    Operation::ns("save_2k", "saves a document of 2 KiB", 3),
    Operation::ns("save_8k", "saves a document of 8 KiB", 3),
    Operation::ns("save_32k", "saves a document of 32 KiB", 3),
    Operation::ns("save_1m", "saves a document of 1 MiB", 5),
    Operation::ns("kv_set", "sets one of 1,000 keys to a value of 64 bytes", 3),
    Operation::ns("kv_get", "reads one of 1,000 keys", 3),
    Operation::ns("kv_increment", "adds one to one of 1,000 numbers, and answers it", 3),
    shop!("small", "balanced", "1", "one agent"),
    shop!("small", "balanced", "cpus", "an agent a processor"),
    shop!("small", "balanced", "2cpus", "two agents a processor"),
    shop!("small", "readheavy", "1", "one agent"),
    shop!("small", "readheavy", "cpus", "an agent a processor"),
    shop!("small", "readheavy", "2cpus", "two agents a processor"),
    shop!("small", "writeheavy", "1", "one agent"),
    shop!("small", "writeheavy", "cpus", "an agent a processor"),
    shop!("small", "writeheavy", "2cpus", "two agents a processor"),
    shop!("medium", "balanced", "1", "one agent"),
    shop!("medium", "balanced", "cpus", "an agent a processor"),
    shop!("medium", "balanced", "2cpus", "two agents a processor"),
    shop!("medium", "readheavy", "1", "one agent"),
    shop!("medium", "readheavy", "cpus", "an agent a processor"),
    shop!("medium", "readheavy", "2cpus", "two agents a processor"),
    shop!("medium", "writeheavy", "1", "one agent"),
    shop!("medium", "writeheavy", "cpus", "an agent a processor"),
    shop!("medium", "writeheavy", "2cpus", "two agents a processor"),
    shop!("large", "balanced", "1", "one agent"),
    shop!("large", "balanced", "cpus", "an agent a processor"),
    shop!("large", "balanced", "2cpus", "two agents a processor"),
    shop!("large", "readheavy", "1", "one agent"),
    shop!("large", "readheavy", "cpus", "an agent a processor"),
    shop!("large", "readheavy", "2cpus", "two agents a processor"),
    shop!("large", "writeheavy", "1", "one agent"),
    shop!("large", "writeheavy", "cpus", "an agent a processor"),
    shop!("large", "writeheavy", "2cpus", "two agents a processor"),
    Operation::ns("load", "loads the medium shop, until it can be read by every index and view", 5),
    Operation::ns(
        "find_product",
        "a product by its name, with its categories and rating (one agent, medium, balanced)",
        1,
    ),
    Operation::ns("lookup_product", "the same by its number", 1),
    Operation::ns("create_cart", "makes a cart, in the same plans", 1),
    Operation::ns("add_to_cart", "puts a product into it", 1),
    Operation::ns("checkout", "makes an order of a cart and deletes the cart, in one transaction", 1),
    Operation::ns("review", "reviews a product; a customer has one review of it, the last", 1),
];

struct Sizes {
    /// The mode of the sizes. A trial of the laboratory itself has the sizes of a quick run.
    mode: Mode,
    rounds: usize,
    saves: u64,
    saves_of_1m: u64,
    gets: u64,
    shop_rounds: usize,
    shoppers: u64,
    /// The greatest number of a shop's customers, products, orders and reviews, if a number of rows was chosen.
    at_most: u32,
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        let trial = plan.rows.is_some_and(|rows| rows < 1_000);
        let at_most = plan.rows.and_then(|rows| u32::try_from(rows).ok()).unwrap_or(u32::MAX);
        Sizes {
            mode: if trial { Mode::Quick } else { plan.mode },
            rounds: if trial { 2 } else { plan.pick(5, 9, 3) },
            saves: if trial { 3 } else { plan.pick(30, 50, 100) },
            saves_of_1m: if trial { 2 } else { plan.pick(5, 10, 8) },
            gets: if trial { 20 } else { plan.pick(500, 1_000, 2_000) },
            shop_rounds: if trial { 1 } else { plan.pick(3, 5, 2) },
            shoppers: if trial { 8 } else { plan.pick(50, 100, 100) },
            at_most: at_most.max(10),
        }
    }

    fn words(&self) -> String {
        format!(
            "documents of text, as long as the row's name says; {} rounds of {} of them ({} of 1 MiB), {} sets, {} \
             gets; shops of 100, 1,000 and 5,000 customers, {} rounds of {} shoppers each, after one that is \
             forgotten; servers over TCP on loopback, embedded stores in the client's process",
            self.rounds, self.saves, self.saves_of_1m, self.saves, self.gets, self.shop_rounds, self.shoppers
        )
    }
}

fn documents(kind: &Kind) -> bool {
    has(kind, Part::Documents)
}

fn keys(kind: &Kind) -> bool {
    has(kind, Part::Keys)
}

fn values(kind: &Kind) -> bool {
    documents(kind) || keys(kind)
}

fn ask(member: &mut Member, command: Bonsaidb) -> Result<Reply> {
    member.ask(&Command::Bonsaidb(command))
}

/// Starts a worker for a member in a new directory.
fn start_new(plan: &Plan, member: &mut Member, name: &str) -> Result<()> {
    member.dir = plan.dir.join(name).join(member.kind.name);
    member.worker = None;
    empty_dir(&member.dir)?;
    start(plan, member, &Launch::Plain)
}

fn close(member: &mut Member) -> Result<()> {
    ask(member, Bonsaidb::Close)?;
    member.worker.take().into_iter().for_each(Worker::end);
    Ok(())
}

fn open(member: &mut Member) -> Result<()> {
    let (subject, dir) = (member.kind.name.to_owned(), member.dir.clone());
    let reply = ask(member, Bonsaidb::OpenValues { subject, dir })?;
    member.settings = member.settings.take().or(reply.settings);
    Ok(())
}

/// An operation, the subjects that take part, the call, and the number of calls in a round.
type Measured = (&'static str, fn(&Kind) -> bool, Call, u64);

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let plan = bench.plan;
    let sizes = Sizes::of(plan);
    bench.prepare("opening", values, |member| {
        start_new(plan, member, "values")?;
        open(member)
    })?;
    bench.prepare("setting every key", keys, |member| {
        ask(member, Bonsaidb::Values { call: Call::Fill, count: 0, seed: 0 }).map(drop)
    })?;
    let measured: [Measured; 8] = [
        ("save_1k", documents, Call::Save(1 << 10), sizes.saves),
        ("save_2k", documents, Call::Save(2 << 10), sizes.saves),
        ("save_8k", documents, Call::Save(8 << 10), sizes.saves),
        ("save_32k", documents, Call::Save(32 << 10), sizes.saves),
        ("save_1m", documents, Call::Save(1 << 20), sizes.saves_of_1m),
        ("kv_set", keys, Call::Set, sizes.saves),
        ("kv_get", keys, Call::Get, sizes.gets),
        ("kv_increment", keys, Call::Increment, sizes.saves),
    ];
    for (name, who, call, count) in measured {
        bench.rounds(name, who, (sizes.rounds, true), Figure::PerOperation, |member, round| {
            ask(member, Bonsaidb::Values { call, count, seed: 50 + round as u64 })
        })?;
    }
    bench.verify_with("verifying the final state", values, |member| {
        ask(member, Bonsaidb::Verify)?;
        if member.kind.persistent {
            ask(member, Bonsaidb::Close)?;
            open(member)?;
            ask(member, Bonsaidb::Verify)?;
        }
        close(member)
    })?;
    bench.remove(values)?;
    shop::run(bench, &sizes)
}
