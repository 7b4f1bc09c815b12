//! Operations that are one operation at several sizes or with several clients: what the scaling curves are drawn of.
//! One table, by the names of the operations, so that every report that was ever written has them.

use super::model::{Report, Row};

/// One operation at several places of an axis.
pub struct Series {
    suite: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The quantity on the axis.
    pub axis: &'static str,
    /// A sentence on what is drawn.
    pub what: &'static str,
    /// A sentence on what it cannot tell.
    pub cannot: &'static str,
    points: &'static [Point],
    /// Whether the places are the suite's own sizes, which `--rows` changes.
    sized: bool,
}

/// An operation and its place on the axis.
struct Point {
    operation: &'static str,
    at: f64,
    /// The same in full runs.
    at_in_full: f64,
}

/// A note for every series over clients.
const SHARED: &str =
    "Client and server share the machine's processors: where a line turns is where those are used up, not the server";

const fn at(operation: &'static str, at: f64) -> Point {
    Point { operation, at, at_in_full: at }
}

/// The largest set of the suite `nebari`.
const fn at_largest(operation: &'static str) -> Point {
    Point { operation, at: 1e5, at_in_full: 1e6 }
}

/// A note for gets from stores that fit into memory.
const FITS: &str = "The store and its caches fit into memory: what a wait for the disk costs is not in it";

/// Accounts of three times the budget that a full run has, see `workloads/goget/xl.rs`.
const XL: f64 = 1_572_864.0;

/// Every series.
const SERIES: [Series; 17] = [
    Series {
        suite: "goget",
        name: "get by number, by accounts",
        axis: "accounts",
        what: "Reading one account with its items, beside so many others",
        cannot: "One account is read again and again, so its bytes are in the processor's caches; in the largest \
            corpus, of full runs only, accounts are drawn at random within a budget of memory",
        points: &[at("sm_get_id", 100.0), at("md_get_id", 1e3), at("lg2_get_id", 5e4), at("xl_get_id", XL)],
        sized: true,
    },
    Series {
        suite: "goget",
        name: "new account, by accounts",
        axis: "accounts",
        what: "Storing one account durably, beside so many others",
        cannot: "Most of it is the disk's sync, which is the same at every size",
        points: &[at("sm_new", 100.0), at("md_new", 1e3), at("lg2_new", 5e4), at("xl_new", XL)],
        sized: true,
    },
    Series {
        suite: "goget",
        name: "add item, by accounts",
        axis: "accounts",
        what: "Reading an account and storing it with one item more, durably",
        cannot: "The account grows while it is measured, in every corpus by as much",
        points: &[at("sm_add_item", 100.0), at("md_add_item", 1e3), at("lg2_add_item", 5e4)],
        sized: true,
    },
    Series {
        suite: "goget",
        name: "list, by accounts",
        axis: "accounts",
        what: "The whole list, each account decoded",
        cannot: "All accounts fit into memory, and most have no items",
        points: &[at("sm_list", 100.0), at("md_list", 1e3), at("lg2_list", 5e4)],
        sized: true,
    },
    Series {
        suite: "apocrypha",
        name: "get, by members",
        axis: "members of the database",
        what: "What one client waits for a random member of so many",
        cannot: "Members are of 8 bytes and all in memory",
        points: &[at("get_1_100", 100.0), at("get_1_10k", 1e4), at("get_1_100k", 1e5)],
        sized: true,
    },
    Series {
        suite: "apocrypha",
        name: "get, by clients",
        axis: "clients",
        what: "Reads of so many clients at once: time divided by requests; of one client what it waits",
        cannot: SHARED,
        points: &[at("get_1_10k", 1.0), at("get_10", 10.0), at("get_20", 20.0)],
        sized: false,
    },
    Series {
        suite: "apocrypha",
        name: "set, by clients",
        axis: "clients",
        what: "Writes of so many clients at once: time divided by requests; of one client what it waits",
        cannot: SHARED,
        points: &[at("set_1", 1.0), at("set_10", 10.0), at("set_20", 20.0)],
        sized: false,
    },
    Series {
        suite: "http",
        name: "GET, by clients",
        axis: "clients",
        what: "Reads of so many clients at once: time divided by requests",
        cannot: SHARED,
        points: &[at("get_1", 1.0), at("get_8", 8.0), at("get_64", 64.0)],
        sized: false,
    },
    Series {
        suite: "http",
        name: "PUT, by clients",
        axis: "clients",
        what: "New documents of so many clients at once: time divided by requests",
        cannot: SHARED,
        points: &[at("put_1", 1.0), at("put_8", 8.0), at("put_64", 64.0)],
        sized: false,
    },
    Series {
        suite: "hasql",
        name: "results, by rows",
        axis: "rows of the result",
        what: "A whole result, each row decoded",
        cannot: "Two sizes make a line, not a law; rows have three columns",
        points: &[at("parse_100", 100.0), at("parse_10k", 1e4)],
        sized: true,
    },
    Series {
        suite: "hasql",
        name: "transfers, by clients",
        axis: "clients",
        what: "Serializable transfers of so many clients at once, tried again after conflicts: time divided by \
            transfers",
        cannot: "There are 20 accounts only, so that clients meet; the server shares the machine's processors with \
            them",
        points: &[at("transfer", 1.0), at("transfer_8", 8.0)],
        sized: false,
    },
    Series {
        suite: "nebari",
        name: "insert by ascending ids, by entries a transaction",
        axis: "entries a transaction",
        what: "Time an entry, each transaction durable",
        cannot: "The left end is the disk's sync; what transactions wait for each other is not in it, since one thread \
            writes",
        points: &[
            at("insert_seq_1", 1.0),
            at("insert_seq_100", 100.0),
            at("insert_seq_1000", 1e3),
            at("insert_seq_10000", 1e4),
        ],
        sized: false,
    },
    Series {
        suite: "nebari",
        name: "insert by scattered ids, by entries a transaction",
        axis: "entries a transaction",
        what: "Time an entry, each transaction durable",
        cannot: "The store is small enough for memory, where scattered ids cost trees least",
        points: &[
            at("insert_rnd_1", 1.0),
            at("insert_rnd_100", 100.0),
            at("insert_rnd_1000", 1e3),
            at("insert_rnd_10000", 1e4),
        ],
        sized: false,
    },
    Series {
        suite: "nebari",
        name: "blob, by bytes",
        axis: "bytes of the blob",
        what: "A blob a transaction, durable",
        cannot: "Two sizes, or three in default and full runs, make a line, not a law; the right end is the disk's \
            bandwidth",
        points: &[at("blob_1k", 1024.0), at("blob_1m", 1_048_576.0), at("blob_64m", 67_108_864.0)],
        sized: true,
    },
    Series {
        suite: "nebari",
        name: "get by ascending ids, by entries",
        axis: "entries of the store",
        what: "A random entry of so many, each by a reader of its own",
        cannot: FITS,
        points: &[at("get_seq_1_1k", 1024.0), at("get_seq_1_10k", 1e4), at_largest("get_seq_1_large")],
        sized: true,
    },
    Series {
        suite: "nebari",
        name: "get by scattered ids, by entries",
        axis: "entries of the store",
        what: "A random entry of so many, each by a reader of its own",
        cannot: FITS,
        points: &[at("get_rnd_1_1k", 1024.0), at("get_rnd_1_10k", 1e4), at_largest("get_rnd_1_large")],
        sized: true,
    },
    Series {
        suite: "engine",
        name: "durable puts, by threads",
        axis: "threads",
        what: "Single rows committed by so many threads at once: time divided by commits",
        cannot: "It does not say where between 1 and 16 threads the gain of sharing syncs ends",
        points: &[at("put_durable_1", 1.0), at("put_durable_16", 16.0)],
        sized: false,
    },
];

/// The series of a report that have at least two places. Those of sizes are only shown if the sizes are the suite's
/// own.
pub fn series(report: &Report) -> impl Iterator<Item = &'static Series> {
    let own_sizes = report.mode != "custom";
    SERIES.iter().filter(move |series| series.suite == report.suite && (own_sizes || !series.sized))
}

impl Series {
    /// A subject's figures with their places, in the axis's order. Figures within a budget that was chosen are of
    /// another size.
    pub fn of<'r>(&self, report: &'r Report, subject: &str) -> Vec<(f64, &'r Row)> {
        let chosen = report.command.contains("--budget");
        let wanted = |point: &&Point| !(chosen && point.operation.starts_with("xl_"));
        let figure = |point: &Point| {
            let row = report.row(point.operation, subject)?;
            let place = if report.mode == "full" { point.at_in_full } else { point.at };
            row.median.filter(|median| *median > 0.0).map(|_| (place, row))
        };
        self.points.iter().filter(wanted).filter_map(figure).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_of_operations_of_its_suite_along_its_axis() {
        for series in &SERIES {
            let suite = crate::workloads::suite(series.suite).unwrap();
            for point in series.points {
                let known = suite.operations.iter().find(|operation| operation.name == point.operation);
                assert_eq!(known.map(|operation| operation.unit), Some("ns"), "{}: {}", series.name, point.operation);
            }
            assert!(series.points.len() > 1 && series.points.is_sorted_by(|a, b| a.at < b.at), "{}", series.name);
        }
    }
}
