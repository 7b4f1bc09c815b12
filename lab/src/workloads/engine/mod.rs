//! The suite `engine`: ordered rows under every engine, at one durability. See docs/src/laboratory.md.

mod beyond;
mod data;
mod documents;
mod history;
mod killed;
mod sizes;
mod syncs;

use super::{Bench, Operation, Suite};
use crate::error::Result;
use crate::subjects::{FLOOR, Kind, OURS, USUAL, kinds};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "engine",
    what: "rows of 16 + 300 bytes: durable puts, gets, ranges, the past, sizes, reopening; and documents",
    kinds,
    usual: &USUAL,
    sittings: crate::workloads::SITTINGS,
    operations: &OPERATIONS,
    sizes: |plan| sizes::Sizes::of(plan).words(),
    run,
};

const OPERATIONS: [Operation; 30] = [
    Operation::ns("put_durable_1", "one new row a commit from one thread, durable when it returns; a round's mean", 4),
    Operation::ns("put_durable_16", "the same from 16 threads at once: time divided by commits", 4),
    Operation::ns("batch_1000", "one commit of 1000 new rows in random order", 4),
    Operation::ns("load", "filling an empty store in random order, 1000 rows a commit: time a row", 15),
    Operation::ns("get_1", "a random row, each in a read transaction of its own, after the load", 4),
    Operation::ns("get_2", "the same from 2 threads at once: what one of them waits", 5),
    Operation::ns("get_asof", "a random row as it was before every row was overwritten", 5),
    Operation::ns("range_asof", "100 rows from a random key on, as they were before the overwriting", 5),
    Operation::ns("range_100_fresh", "100 rows from a random key on, right after the load", 4),
    Operation::ns(
        "range_100_first",
        "the same after the subject's own compaction or checkpoint, right after opening",
        2,
    ),
    Operation::ns("range_100_settled", "the same when every row has been read once, and caches have room for all", 4),
    Operation::ns("range_100_reverse", "the same downwards", 4),
    Operation::ns(
        "get_while_writing",
        "a random row, all having been read once, while another thread commits single rows at an offered rate",
        10,
    ),
    Operation::ns(
        "get_beyond_memory",
        "a random row, the process and its page cache in a budget smaller than the store",
        3,
    ),
    Operation::ns("range_beyond_memory", "100 rows in the same budget", 3),
    Operation::ns(
        "put_p999_quiet",
        "99.9th percentile of single durable puts at an offered rate, from the intended start",
        38,
    ),
    Operation::ns("put_p999_settling", "the same while the subject compacts or checkpoints without a pause", 38),
    Operation::ns(
        "reopen_killed",
        "from opening a store whose writer was killed (SIGKILL) to the first answered get",
        30,
    ),
    Operation::bytes("size_fresh", "allocated blocks after the load, closed; raw: keys and values", 1),
    Operation::bytes("size_settled", "the same after the subject's own compaction or checkpoint", 1),
    Operation::bytes(
        "size_overwritten",
        "after every row was written twice and both versions are kept; raw: of both",
        1,
    ),
    Operation::bytes(
        "memory",
        "anonymous memory after load and gets, beyond the empty process; mapped files are not in it",
        1,
    ),
    Operation::count(
        "syncs_per_commit",
        "fsync, fdatasync, msync and synced writes a single-row commit, counted by strace in a pass apart",
        10,
    ),
    Operation::bytes(
        "bytes_per_commit",
        "bytes that the kernel counts as written to the disk for a single-row commit (whole pages)",
        1,
    ),
    Operation::ns("close", "closing in order after the load", 2),
    Operation::ns("settle", "the subject's own compaction or checkpoint after the load", 4),
    Operation::ns("doc_load", "accounts of `goget` with a unique index through the Rust API: time a document", 8),
    Operation::ns("doc_get_id", "an account of `goget` by its id through the Rust API, decoded into its struct", 2),
    Operation::ns(
        "doc_get_unique",
        "an account of `goget` by its name, in a unique index, through the Rust API, decoded into its struct",
        2,
    ),
    Operation::ns(
        "doc_list_50k",
        "a list of all 50,000 accounts of `goget`, each decoded into its struct: the whole list",
        6,
    ),
];

/// Whether a subject keeps rows.
fn stores(kind: &Kind) -> bool {
    kind.name != FLOOR
}

/// Whether a subject's rows are still there after its process.
fn kept(kind: &Kind) -> bool {
    stores(kind) && kind.persistent
}

/// Everybody, the floor too.
fn everybody(_: &Kind) -> bool {
    true
}

fn floor(kind: &Kind) -> bool {
    kind.name == FLOOR
}

fn us(kind: &Kind) -> bool {
    kind.name == OURS
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let sizes = sizes::Sizes::of(bench.plan);
    data::run(bench, &sizes)?;
    beyond::run(bench, &sizes)?;
    history::run(bench, &sizes)?;
    killed::run(bench, &sizes)?;
    syncs::run(bench, &sizes)?;
    documents::run(bench, &sizes)
}
