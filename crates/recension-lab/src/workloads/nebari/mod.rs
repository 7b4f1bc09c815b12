//! The suite `nebari`: the benchmark of that storage engine (logs and blobs), with every embedded store, every commit synced.

use super::bench::{Figure, Member};
use super::{Bench, Operation, Plan, Suite};
use crate::error::Result;
use crate::subjects::{FLOOR, Kind, OpenOptions, USUAL, kinds};
use crate::worker::logs::{Logs, Order};
use crate::worker::{Command, Reply};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "nebari",
    what: "logs and blobs (nebari's own benchmark): inserts, gets and scans, each transaction durable",
    kinds: || kinds().into_iter().filter(|kind| kind.name != FLOOR).collect(),
    usual: USUAL.split_at(USUAL.len() - 1).0,
    operations: &OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

const OPERATIONS: [Operation; 20] = [
    Operation::ns("insert_seq_1", "an entry a transaction, ids ascending: time an entry", 4),
    Operation::ns("insert_seq_100", "100 entries a transaction, ids ascending: time an entry", 4),
    Operation::ns("insert_seq_1000", "1,000 entries a transaction, ids ascending: time an entry", 4),
    Operation::ns("insert_seq_10000", "10,000 entries a transaction, ids ascending: time an entry", 6),
    Operation::ns("insert_rnd_1", "an entry a transaction, ids scattered: time an entry", 4),
    Operation::ns("insert_rnd_100", "100 entries a transaction, ids scattered: time an entry", 4),
    Operation::ns("insert_rnd_1000", "1,000 entries a transaction, ids scattered: time an entry", 4),
    Operation::ns("insert_rnd_10000", "10,000 entries a transaction, ids scattered: time an entry", 6),
    Operation::ns("get_seq_1", "a random entry of those whose ids ascended, each by a reader of its own", 2),
    Operation::ns("get_seq_sqrt", "random entries, as many by one reader as the root of all: time an entry", 2),
    Operation::ns("get_seq_16th", "random entries, a 16th of all by one reader: time an entry", 2),
    Operation::ns("scan_seq_sqrt", "a scan from a random entry on, as long as the root of all: the whole scan", 2),
    Operation::ns("scan_seq_16th", "a scan of a 16th of all: the whole scan", 2),
    Operation::ns("get_rnd_1", "a random entry of those whose ids were scattered, each by a reader of its own", 2),
    Operation::ns("get_rnd_sqrt", "random entries, as many by one reader as the root of all: time an entry", 2),
    Operation::ns("get_rnd_16th", "random entries, a 16th of all by one reader: time an entry", 2),
    Operation::ns("scan_rnd_sqrt", "a scan from a random entry on, as long as the root of all: the whole scan", 2),
    Operation::ns("scan_rnd_16th", "a scan of a 16th of all: the whole scan", 2),
    Operation::ns("blob_1k", "a blob of 1 KiB a transaction", 3),
    Operation::ns("blob_1m", "a blob of 1 MiB a transaction", 8),
];

/// The names of one order's operations: inserts with their transactions' sizes, gets, scans.
const INSERTS: [([&str; 2], u64); 4] = [
    (["insert_seq_1", "insert_rnd_1"], 1),
    (["insert_seq_100", "insert_rnd_100"], 100),
    (["insert_seq_1000", "insert_rnd_1000"], 1000),
    (["insert_seq_10000", "insert_rnd_10000"], 10_000),
];

struct Sizes {
    entries: u64,
    rounds: usize,
    singles: u64,
    gets: u64,
    blobs: [(&'static str, u64, u64); 2],
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        let entries = plan.rows.unwrap_or(plan.pick(10_000, 100_000, 1_000_000)).max(64);
        // A trial of the laboratory itself, as in its tests: every step, nothing to be believed.
        let trial = entries < 1000;
        Sizes {
            entries,
            rounds: if trial { 2 } else { plan.pick(5, 7, 10) },
            singles: if trial { 5 } else { plan.pick(50, 50, 200) },
            gets: if trial { 20 } else { plan.pick(2_000, 10_000, 20_000) },
            blobs: if trial {
                [("blob_1k", 1024, 3), ("blob_1m", 1 << 16, 2)]
            } else {
                [("blob_1k", 1024, plan.pick(50, 100, 200)), ("blob_1m", 1 << 20, plan.pick(4, 8, 20))]
            },
        }
    }

    fn words(&self) -> String {
        format!(
            "{} entries of 58 to 1,031 bytes under ids of 8 bytes, {} rounds of {} gets or at least {} inserts; no history is \
             asked for (ours keeps it)",
            self.entries, self.rounds, self.gets, self.singles
        )
    }

    /// Entries of one round of inserts: of the largest transactions one is enough.
    fn inserted(&self, per_commit: u64) -> u64 {
        if per_commit == 1 { self.singles } else { (2 * per_commit).min(self.entries) }
    }

    fn options(&self) -> OpenOptions {
        OpenOptions { history: false, cache_bytes: (self.entries * 2048).max(64 << 20) }
    }
}

fn everybody(_: &Kind) -> bool {
    true
}

fn kept(kind: &Kind) -> bool {
    kind.persistent
}

fn ask(member: &mut Member, command: Logs) -> Result<Reply> {
    member.ask(&Command::Logs(command))
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let sizes = Sizes::of(bench.plan);
    for (at, order) in [Order::Sequential, Order::Random].into_iter().enumerate() {
        inserts(bench, &sizes, order, at)?;
        reads(bench, &sizes, order, at)?;
    }
    blobs(bench, &sizes)
}

fn inserts(bench: &mut Bench<'_>, sizes: &Sizes, order: Order, at: usize) -> Result<()> {
    bench.open_new(&format!("inserts-{at}"), everybody, &sizes.options(), 0)?;
    for (names, per_commit) in INSERTS {
        let Some(name) = names.get(at) else { continue };
        let count = sizes.inserted(per_commit);
        bench.rounds(name, everybody, (sizes.rounds, true), Figure::PerOperation, |member, _| {
            let first = member.next_row;
            member.next_row += count;
            ask(member, Logs::Insert { order, first, count, per_commit })
        })?;
    }
    verify(bench, sizes, move |member| Logs::Verify { entries: Some((order, member.next_row)), blobs: None })
}

fn reads(bench: &mut Bench<'_>, sizes: &Sizes, order: Order, at: usize) -> Result<()> {
    let entries = sizes.entries;
    bench.open_new(&format!("reads-{at}"), everybody, &sizes.options(), 0)?;
    bench.prepare("loading", everybody, |member| {
        ask(member, Logs::Insert { order, first: 0, count: entries, per_commit: 1000 }).map(drop)
    })?;
    let rounds = (sizes.rounds, true);
    let (root, sixteenth) = (entries.isqrt(), entries / 16);
    let gets = [["get_seq_1", "get_rnd_1"], ["get_seq_sqrt", "get_rnd_sqrt"], ["get_seq_16th", "get_rnd_16th"]];
    for (names, at_once) in gets.into_iter().zip([1, root, sixteenth]) {
        let Some(name) = names.get(at) else { continue };
        let count = (sizes.gets / at_once).max(1);
        bench.rounds(name, everybody, rounds, Figure::PerOperation, |member, round| {
            ask(member, Logs::Get { order, entries, at_once, count, seed: 30 + round as u64 })
        })?;
    }
    let scans = [["scan_seq_sqrt", "scan_rnd_sqrt"], ["scan_seq_16th", "scan_rnd_16th"]];
    for (names, limit) in scans.into_iter().zip([root, sixteenth]) {
        let Some(name) = names.get(at) else { continue };
        let count = (sizes.gets / limit / 2).max(2);
        bench.rounds(name, everybody, rounds, Figure::PerOperation, |member, round| {
            ask(member, Logs::Scan { order, entries, limit, count, seed: 50 + round as u64 })
        })?;
    }
    verify(bench, sizes, move |_| Logs::Verify { entries: Some((order, entries)), blobs: None })
}

fn blobs(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    for (name, bytes, count) in sizes.blobs {
        bench.open_new(name, everybody, &sizes.options(), 0)?;
        bench.rounds(name, everybody, (sizes.rounds, true), Figure::PerOperation, |member, _| {
            let first = member.next_row;
            member.next_row += count;
            ask(member, Logs::Blobs { first, count, bytes })
        })?;
        verify(bench, sizes, move |member| Logs::Verify { entries: None, blobs: Some((bytes, member.next_row)) })?;
    }
    Ok(())
}

/// Closes every store, opens it again and reads it wholly; then it is removed.
fn verify(bench: &mut Bench<'_>, sizes: &Sizes, what: impl Fn(&Member) -> Logs) -> Result<()> {
    let plan = bench.plan;
    bench.verify_with("verifying the final state", kept, |member| {
        member.close()?;
        super::bench::open(plan, member, &crate::worker::Launch::Plain, &sizes.options(), 0)?;
        let command = what(member);
        ask(member, command).map(drop)
    })?;
    bench.remove(everybody)
}
