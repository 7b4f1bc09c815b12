//! The suite `goget`: the experiment of the article `AcidState` vs SQL vs `MongoDB` (2013), without its errors: every
//! list is forced and compared, every write is durable, every subject has the index, and no hashing is in a timer.

mod xl;

use super::bench::{Figure, Member, empty_dir, start};
use super::{Bench, Operation, Plan, Suite};
use crate::error::Result;
use crate::measure::filesystem::bytes_on_disk;
use crate::measure::stats::as_f64;
use crate::subjects::goget::kinds;
use crate::subjects::{FLOOR, Kind};
use crate::worker::goget::Goget;
use crate::worker::{Command, Launch, Reply, Worker};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "goget",
    what: "accounts with items (AcidState vs SQL vs MongoDB, 2013): new, get, list, add, change, delete, all durable",
    kinds,
    usual: &[
        "recension",
        "sqlite",
        "postgresql",
        "mariadb",
        "redis",
        "lmdb",
        "redb",
        "acid-state",
        "hdbc-sqlite3",
        "mongodb",
        FLOOR,
    ],
    sittings: super::SITTINGS,
    operations: &OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

const OPERATIONS: [Operation; 25] = [
    Operation::ns("sm_new", "a new account in a store that was empty", 5),
    Operation::ns(
        "sm_list",
        "the list of all accounts there, a hundred and those that the rounds made, each decoded: the whole list",
        5,
    ),
    Operation::ns("sm_get_id", "account 42 by its number, with its items, there", 5),
    Operation::ns("sm_add_item", "reads account 42 and adds an item, there", 5),
    Operation::ns("md_new", "a new account beside 1,000", 5),
    Operation::ns(
        "md_list",
        "the list of all accounts, 1,000 and those that the rounds made, each decoded: the whole list",
        5,
    ),
    Operation::ns("md_get_id", "account 789 of 1,000 by its number, with its items", 5),
    Operation::ns("md_add_item", "reads account 789 of 1,000 and adds an item", 5),
    Operation::ns("lg_get_id", "account 42 of 50,000 by its number, with its items", 5),
    Operation::ns("lg_add_item", "reads account 42 of 50,000 and adds an item", 5),
    Operation::ns("lg2_new", "a new account beside 50,000", 5),
    Operation::ns(
        "lg2_list",
        "the list of all accounts, 50,000 and those that the rounds made, each decoded: the whole list",
        5,
    ),
    Operation::ns("lg2_get_id", "account 45,678 of 50,000 by its number, with its items", 5),
    Operation::ns("lg2_get_name", "the same by its name", 5),
    Operation::ns("lg2_add_item", "reads account 45,678 of 50,000 and adds an item", 5),
    Operation::ns("lg2_change_item", "changes one item of it; it has more than a hundred by then", 5),
    Operation::ns("lg2_update", "changes its passphrase, the items as they are", 5),
    Operation::ns("lg2_delete", "deletes an account without items", 5),
    Operation::ns("lg2_get_id_p99", "the 99th percentile of single gets by number, with more than a hundred items", 5),
    Operation::ns("lg2_add_item_p99", "the 99th percentile of adding an item to those", 5),
    Operation::ns("lg2_reopen", "closing in order and opening again, a server with its own start", 5),
    Operation::bytes(
        "lg2_size",
        "allocated blocks after all of this; of servers with what they keep for themselves",
        1,
    ),
    Operation::ns(
        "xl_get_id",
        "accounts drawn at random, by number, of more than a budget of memory holds, in that budget",
        10,
    ),
    Operation::ns("xl_get_name", "the same by name", 10),
    Operation::ns("xl_new", "a new account beside those, in the same budget", 10),
];

struct Sizes {
    accounts: [u64; 3],
    focus: [u64; 4],
    rounds: usize,
    lists: usize,
    writes: u64,
    /// Items that are added to an account in a round. A subject that writes an account whole pays for all of its items,
    /// so there are as many in a run of any length.
    items: u64,
    gets: u64,
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        let large = plan.rows.unwrap_or(50_000).max(100);
        // A trial of the laboratory itself, as in its tests: every step, nothing to be believed.
        let trial = large < 5_000;
        let medium = large.min(1_000);
        Sizes {
            accounts: [100, medium, large],
            focus: [42, 789.min(medium), 42, 45_678.min(large)],
            rounds: if trial { 2 } else { plan.pick(5, 9, 3) },
            lists: if trial { 1 } else { plan.pick(5, 5, 2) },
            writes: if trial { 3 } else { plan.pick(30, 50, 100) },
            items: if trial { 3 } else { plan.pick(30, 18, 48) },
            gets: if trial { 20 } else { plan.pick(500, 1_000, 2_000) },
        }
    }

    fn words(&self) -> String {
        let [small, medium, large] = self.accounts;
        format!(
            "{small}, {medium} and {large} accounts; {} rounds of {} gets, {} writes or {} items; an account's items \
             start at none and grow as the run adds them, to {} and, for the 99th percentile, twice that",
            self.rounds,
            self.gets,
            self.writes,
            self.items,
            (self.rounds as u64 + 1) * self.items
        )
    }
}

fn everybody(_: &Kind) -> bool {
    true
}

/// Whether a subject keeps accounts: all except the floor.
fn stores(kind: &Kind) -> bool {
    !kind.floor
}

fn ask(member: &mut Member, command: Goget) -> Result<Reply> {
    member.ask(&Command::Goget(command))
}

fn open(member: &mut Member, plan: &Plan, load: Option<u64>) -> Result<()> {
    let (subject, dir) = (member.kind.name.to_owned(), member.dir.clone());
    let reply = ask(member, Goget::Open { subject, dir, load, given: plan.given.clone() })?;
    member.settings = member.settings.take().or(reply.settings);
    Ok(())
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    xl::check_room(bench.plan)?;
    let sizes = Sizes::of(bench.plan);
    let [small, medium, large] = sizes.accounts;
    let [of_small, of_medium, of_large, of_large_too] = sizes.focus;

    corpus(bench, "sm", 0, |bench| {
        // The store was empty: later reads find what these rounds made.
        bench.prepare("making accounts", everybody, |member| ask(member, Goget::Create { count: small }).map(drop))?;
        published(bench, &sizes, ["sm_new", "sm_list", "sm_get_id", "sm_add_item"], of_small)
    })?;
    corpus(bench, "md", medium, |bench| {
        published(bench, &sizes, ["md_new", "md_list", "md_get_id", "md_add_item"], of_medium)
    })?;
    corpus(bench, "lg", large, |bench| {
        get(bench, &sizes, "lg_get_id", of_large, false)?;
        add(bench, &sizes, "lg_add_item", of_large)?;
        // Together with the get by number, while the account has no items either.
        get(bench, &sizes, "lg2_get_name", of_large_too, true)?;
        published(bench, &sizes, ["lg2_new", "lg2_list", "lg2_get_id", "lg2_add_item"], of_large_too)?;
        more(bench, &sizes, of_large_too)
    })?;
    xl::run(bench, &sizes)
}

fn close(member: &mut Member) -> Result<()> {
    ask(member, Goget::Close)?;
    member.worker.take().into_iter().for_each(Worker::end);
    Ok(())
}

/// One corpus: every subject with a new store, verified at the end after it was closed and opened again.
fn corpus(
    bench: &mut Bench<'_>,
    name: &str,
    load: u64,
    measure: impl FnOnce(&mut Bench<'_>) -> Result<()>,
) -> Result<()> {
    let plan = bench.plan;
    bench.prepare("opening", everybody, |member| {
        member.dir = plan.dir.join(name).join(member.kind.name);
        member.worker = None;
        empty_dir(&member.dir)?;
        start(plan, member, &Launch::Plain)?;
        open(member, plan, Some(load))
    })?;
    measure(bench)?;
    bench.prepare("closing the floor", |kind| kind.floor, close)?;
    bench.verify_with("verifying the final state", stores, |member| {
        ask(member, Goget::Close)?;
        open(member, plan, None)?;
        ask(member, Goget::Verify)?;
        close(member)
    })?;
    bench.remove(everybody)
}

fn published(bench: &mut Bench<'_>, sizes: &Sizes, names: [&str; 4], id: u64) -> Result<()> {
    let [new, list, get_id, add_item] = names;
    get(bench, sizes, get_id, id, false)?;
    add(bench, sizes, add_item, id)?;
    bench.rounds(new, everybody, (sizes.rounds, true), Figure::PerOperation, |member, _| {
        ask(member, Goget::Create { count: sizes.writes })
    })?;
    bench.rounds(list, stores, (sizes.lists, true), Figure::PerOperation, |member, _| ask(member, Goget::List))
}

fn get(bench: &mut Bench<'_>, sizes: &Sizes, name: &str, id: u64, by_name: bool) -> Result<()> {
    bench.rounds(name, stores, (sizes.rounds, true), Figure::PerOperation, |member, _| {
        ask(member, Goget::Get { id, by_name, count: sizes.gets })
    })
}

fn add(bench: &mut Bench<'_>, sizes: &Sizes, name: &str, id: u64) -> Result<()> {
    bench.rounds(name, everybody, (sizes.rounds, true), Figure::PerOperation, |member, _| {
        ask(member, Goget::AddItem { id, count: sizes.items })
    })
}

/// An operation, the subjects that take part, the figure, and the request.
type Measured = (&'static str, fn(&Kind) -> bool, Figure, Goget);

/// Operations that the article did not measure.
fn more(bench: &mut Bench<'_>, sizes: &Sizes, id: u64) -> Result<()> {
    let rounds = (sizes.rounds, true);
    let (count, items) = (sizes.writes, sizes.items);
    // A deletion first looks for the item, which the floor could not do.
    let operations: [Measured; 5] = [
        ("lg2_change_item", everybody, Figure::PerOperation, Goget::ChangeItem { id, count: items }),
        ("lg2_update", everybody, Figure::PerOperation, Goget::Update { id, count }),
        ("lg2_delete", stores, Figure::PerOperation, Goget::Delete { count }),
        ("lg2_get_id_p99", stores, Figure::Quantile(0.99), Goget::Get { id, by_name: false, count: sizes.gets / 2 }),
        ("lg2_add_item_p99", everybody, Figure::Quantile(0.99), Goget::AddItem { id, count: items }),
    ];
    for (name, who, figure, command) in operations {
        bench.rounds(name, who, rounds, figure, |member, _| ask(member, command.clone()))?;
    }
    let plan = bench.plan;
    bench.rounds("lg2_reopen", stores, (1, false), Figure::PerOperation, |member, _| {
        let begin = std::time::Instant::now();
        ask(member, Goget::Close)?;
        open(member, plan, None)?;
        Ok(Reply { ops: 1, wall_ns: crate::measure::clock::nanos(begin.elapsed()), ..Reply::default() })
    })?;
    bench.single("lg2_size", stores, |member| Ok((as_f64(bytes_on_disk(&member.dir)? as usize), None)))
}
