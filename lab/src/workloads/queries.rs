//! The suite `queries`: orders asked by what they hold, through indexes and without, in groups, by their words, and
//! changed by a query.

use super::bench::{Figure, Member, empty_dir, start};
use super::{Bench, Operation, Plan, Suite};
use crate::error::Result;
use crate::measure::stats::as_f64;
use crate::subjects::Kind;
use crate::subjects::queries::{answers, kinds};
use crate::worker::queries::Queries;
use crate::worker::{Command, Launch, Reply, Worker};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "queries",
    what: "100,000 orders asked by what they hold: indexes, scans, groups, words, updates; and JSONBench's questions",
    kinds,
    usual: &["recension", "recension-http", "sqlite", "postgresql", "duckdb", "tantivy"],
    sittings: super::SITTINGS,
    operations: &OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

const OPERATIONS: [Operation; 23] = [
    Operation::ns("load", "store all orders with every index, an order", 100),
    Operation::ns("equal", "orders of a customer, by an index", 5),
    Operation::ns("range", "orders whose total lies between two, by an index", 5),
    Operation::ns("or", "orders of a customer and those of a high total, by two indexes", 5),
    Operation::ns("in_1000", "1,000 orders by their ids in one query", 10),
    Operation::ns("elem_match", "orders with an item that meets two conditions", 5),
    Operation::ns("prefix", "orders of customers whose names begin so", 5),
    Operation::ns("substring_scan", "ids of orders with a text within their note: all orders are read", 40),
    Operation::ns("sort_index", "the 100 greatest orders of a state, by an index that has the order", 5),
    Operation::ns("sort_scan", "the 100 newest of all orders, without an index", 40),
    Operation::ns("page_100", "page 100 of 20 orders by their total, by an index", 5),
    Operation::ns("group_sum", "sum and number of orders by a country, without an index", 40),
    Operation::ns("group_index", "the same by state, which an index has with the totals", 20),
    Operation::ns("distinct", "the different countries of all orders, without an index", 40),
    Operation::ns("text_two_words", "ids of orders with two words in their note, by an index of words", 5),
    Operation::ns("text_phrase", "the same with a phrase of two words", 5),
    Operation::ns("jsonbench_load", "store events with the index that JSONBench allows, an event", 60),
    Operation::ns("jsonbench_1", "JSONBench's question 1: events of each collection", 10),
    Operation::ns("jsonbench_2", "question 2: created records of each collection, and their users", 10),
    Operation::ns("jsonbench_3", "question 3: posts, reposts and likes by the hours of the day", 10),
    Operation::ns("jsonbench_4", "question 4: the three users who posted first", 10),
    Operation::ns("jsonbench_5", "question 5: the three users with the longest time between posts", 10),
    Operation::ns("update_where", "change the state of a customer's orders, durable to loss of power", 10),
];

/// Whether a subject is measured.
type Who = fn(&Kind) -> bool;

/// What is asked, in its order: what an index serves often, what reads everything not. Who changes comes last.
pub const ASKED: [(&str, bool, Who); 21] = [
    ("equal", true, |kind| answers(kind.name, "equal")),
    ("range", true, |kind| answers(kind.name, "range")),
    ("or", true, |kind| answers(kind.name, "or")),
    ("in_1000", true, |kind| answers(kind.name, "in_1000")),
    ("elem_match", true, |kind| answers(kind.name, "elem_match")),
    ("prefix", true, |kind| answers(kind.name, "prefix")),
    ("substring_scan", false, |kind| answers(kind.name, "substring_scan")),
    ("sort_index", true, |kind| answers(kind.name, "sort_index")),
    ("sort_scan", false, |kind| answers(kind.name, "sort_scan")),
    ("page_100", true, |kind| answers(kind.name, "page_100")),
    ("group_sum", false, |kind| answers(kind.name, "group_sum")),
    ("group_index", false, |kind| answers(kind.name, "group_index")),
    ("distinct", false, |kind| answers(kind.name, "distinct")),
    ("text_two_words", true, |kind| answers(kind.name, "text_two_words")),
    ("text_phrase", true, |kind| answers(kind.name, "text_phrase")),
    ("jsonbench_1", false, |kind| answers(kind.name, "jsonbench_1")),
    ("jsonbench_2", false, |kind| answers(kind.name, "jsonbench_2")),
    ("jsonbench_3", false, |kind| answers(kind.name, "jsonbench_3")),
    ("jsonbench_4", false, |kind| answers(kind.name, "jsonbench_4")),
    ("jsonbench_5", false, |kind| answers(kind.name, "jsonbench_5")),
    ("update_where", true, |kind| answers(kind.name, "update_where")),
];

struct Sizes {
    rounds: usize,
    orders: u64,
    often: usize,
    seldom: usize,
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        // A trial of the laboratory itself, as in its tests: every step, nothing to be believed.
        if let Some(rows) = plan.rows.filter(|rows| *rows < 1_000) {
            return Sizes { rounds: 1, orders: rows + 300, often: 2, seldom: 1 };
        }
        Sizes { rounds: plan.pick(3, 7, 3), orders: plan.rows.unwrap_or(100_000), often: 40, seldom: 1 }
    }

    fn words(&self) -> String {
        format!(
            "{} orders of 300 bytes to 3 kB, and as many events of about 480 bytes; {} rounds of {} asks that an index \
             serves, each about something else, and of {} that reads everything",
            self.orders, self.rounds, self.often, self.seldom
        )
    }
}

fn everybody(_: &Kind) -> bool {
    true
}

fn ask(member: &mut Member, command: Queries) -> Result<Reply> {
    member.ask(&Command::Queries(command))
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let plan = bench.plan;
    let Sizes { rounds, orders, often, seldom } = Sizes::of(plan);
    bench.single("load", everybody, |member| {
        member.dir = plan.dir.join("q").join(member.kind.name);
        empty_dir(&member.dir)?;
        start(plan, member, &Launch::Plain)?;
        let (subject, dir, given) = (member.kind.name.to_owned(), member.dir.clone(), plan.given.clone());
        let reply = ask(member, Queries::Load { subject, dir, orders, given })?;
        member.settings = member.settings.take().or(reply.settings);
        Ok((as_f64(reply.wall_ns as usize) / as_f64(orders as usize), None))
    })?;
    let of_events: fn(&Kind) -> bool = |kind| answers(kind.name, "jsonbench_load");
    bench.single("jsonbench_load", of_events, |member| {
        let reply = ask(member, Queries::Events { events: orders })?;
        Ok((as_f64(reply.wall_ns as usize) / as_f64(orders as usize), None))
    })?;
    for (operation, by_index, who) in ASKED {
        let count = if by_index { often } else { seldom };
        let seed = bench.random.number();
        bench.rounds(operation, who, (rounds, true), Figure::PerOperation, |member, round| {
            ask(member, Queries::Ask { operation: operation.to_owned(), count, seed: seed ^ round as u64 })
        })?;
    }
    // What updates left: read through the indexes that they changed.
    let seed = bench.random.number();
    let updates: fn(&Kind) -> bool = |kind| answers(kind.name, "update_where");
    bench.verify_with("reading what updates left", updates, |member| {
        ask(member, Queries::Ask { operation: "equal".to_owned(), count: often * 10, seed }).map(drop)
    })?;
    bench.prepare("closing", everybody, |member| {
        ask(member, Queries::Close)?;
        member.worker.take().into_iter().for_each(Worker::end);
        Ok(())
    })?;
    bench.remove(everybody)
}
