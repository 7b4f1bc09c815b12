//! The operations of the summary, in the words of users' questions to each suite. Losses that mean nothing are listed
//! here too, each with its reason. Every one of them is on its suite's page nevertheless.

/// A suite of the summary: its name, what it is about, and its questions.
pub struct Headline {
    /// The suite.
    pub suite: &'static str,
    /// Its subject, as in the heading.
    pub about: &'static str,
    /// Operations and what they are to a user.
    pub asked: &'static [(&'static str, &'static str)],
}

/// The suites, in the order of the summary.
pub const HEADLINES: &[Headline] = &[
    Headline {
        suite: "engine",
        about: "the engine beside other embedded engines",
        asked: &[
            ("put_durable_1", "commit a row, durable to loss of power"),
            ("put_durable_16", "the same from 16 threads, a commit"),
            ("load", "fill an empty store in random order, a row"),
            ("get_1", "read a random row"),
            ("get_asof", "read a row as of a past commit"),
            ("range_100_fresh", "read 100 rows in order, right after a load"),
            ("range_100_settled", "the same, all compacted and cached"),
            ("get_beyond_memory", "read a random row of a store larger than memory"),
            ("reopen_killed", "open a store after kill -9 and read a row"),
            ("size_settled", "bytes on disk after compaction"),
            ("memory", "memory of the process after a load"),
        ],
    },
    Headline {
        suite: "http",
        about: "the server beside other servers of documents",
        asked: &[
            ("put_1", "PUT a document, one client"),
            ("put_64", "PUT, 64 clients, a request"),
            ("get_1", "GET a document, one client"),
            ("get_64", "GET, 64 clients, a request"),
            ("get_64_p99", "the wait of one GET in a hundred, 64 clients"),
            ("bulk_1000", "write 1,000 documents in one request"),
            ("all_docs_10k_docs", "list 10,000 documents with their bodies"),
            ("sync_10k_pull", "replicate 10,000 documents to PouchDB"),
            ("memory", "memory of the server after this"),
        ],
    },
    Headline {
        suite: "goget",
        about: "50,000 typed accounts with items",
        asked: &[
            ("lg2_new", "store a new account"),
            ("lg2_get_id", "read an account by its number"),
            ("lg2_get_name", "read an account by its name (an index)"),
            ("lg2_list", "list and decode all 50,000"),
            ("lg2_add_item", "add an item to an account"),
            ("lg2_update", "change a large account"),
            ("lg2_get_id_p99", "the wait of one read in a hundred"),
            ("lg2_reopen", "close and open again"),
            ("lg2_size", "bytes on disk"),
        ],
    },
    Headline {
        suite: "apocrypha",
        about: "members over Apocrypha's protocol",
        asked: &[
            ("get_1_10k", "read a member, one client"),
            ("get_20", "the same from 20 clients, a request"),
            ("set_1", "write a member, one client"),
            ("set_20", "the same from 20 clients, a request"),
            ("set_within_10k", "write a member of one document of 10,000"),
            ("idle_connection", "memory of a connection that rests"),
        ],
    },
    Headline {
        suite: "hasql",
        about: "transactions and results beside clients of PostgreSQL",
        asked: &[
            ("parameters", "a query with three parameters"),
            ("parse_100", "read and decode 100 rows"),
            ("parse_10k", "read and decode 10,000 rows"),
            ("transfer", "a serializable transfer, one client"),
            ("transfer_8", "the same from 8 clients that conflict"),
        ],
    },
    Headline {
        suite: "nebari",
        about: "logs of entries, and blobs",
        asked: &[
            ("insert_rnd_1", "insert an entry, scattered ids"),
            ("insert_rnd_1000", "the same, 1,000 a transaction, an entry"),
            ("get_rnd_1_large", "read a random entry of a million"),
            ("get_asof", "read an entry as of a past commit"),
            ("scan_rnd_sqrt_large", "scan 1,000 entries of a million"),
            ("scan_rnd_sqrt_1k", "scan 32 entries of 1,024"),
            ("blob_1m", "store a blob of 1 MiB"),
        ],
    },
    Headline {
        suite: "bonsaidb",
        about: "documents, keys and a shop with its shoppers",
        asked: &[
            ("save_1k", "save a document of 1 KiB"),
            ("save_1m", "save a document of 1 MiB"),
            ("kv_get", "read a key"),
            ("kv_set", "set a key"),
            ("shop_medium_balanced_1", "a step of a shopper, one agent"),
            ("shop_medium_balanced_2cpus", "the same, two agents a processor"),
            ("checkout", "make an order of a cart, one transaction"),
        ],
    },
    Headline {
        suite: "bigtable",
        about: "a large table over HTTP",
        asked: &[
            ("page", "a page of 1,000 rows of 50 numbers, made anew by a template"),
            ("page_kept", "the same page asked for again"),
            ("escaped", "the page of texts that need escaping, read from a store"),
            ("rows_json", "1,000 rows of 50 columns as JSON"),
            ("rows_csv", "the same as CSV"),
        ],
    },
    Headline {
        suite: "queries",
        about: "100,000 orders asked by what they hold",
        asked: &[
            ("load", "store all orders with every index, an order"),
            ("equal", "orders of a customer, by an index"),
            ("or", "two conditions of which one is enough, by two indexes"),
            ("in_1000", "1,000 orders by their ids"),
            ("elem_match", "orders with an item that meets two conditions"),
            ("sort_index", "the 100 greatest of a state"),
            ("substring_scan", "a text within a member, all orders read"),
            ("group_sum", "sums by country, all orders read"),
            ("text_two_words", "orders with two words in a text"),
            ("jsonbench_1", "JSONBench 1: events of each collection"),
            ("jsonbench_2", "JSONBench 2: created records and users of each collection"),
            ("jsonbench_3", "JSONBench 3: posts, reposts and likes by the hour"),
            ("jsonbench_4", "JSONBench 4: who posted first"),
            ("jsonbench_5", "JSONBench 5: the longest time between posts"),
            ("update_where", "change a customer's orders, durable to loss of power"),
        ],
    },
    Headline {
        suite: "ycsb",
        about: "reads and writes of records of 1 kB from 8 clients, by YCSB's workloads",
        asked: &[
            ("load", "store 100,000 records, a record"),
            ("a", "A: half reads, half updates of a field, an operation"),
            ("a_p99", "the wait of one of A in a hundred"),
            ("b", "B: 95 % reads, 5 % updates"),
            ("c", "C: reads alone"),
            ("d", "D: reads of the newest, 5 % inserts"),
            ("e", "E: ranges of 1 to 100 records, 5 % inserts"),
            ("f", "F: half reads, half reads with an update"),
        ],
    },
    Headline {
        suite: "versions",
        about: "documents with all their versions",
        asked: &[
            ("write_long", "a version of a document of 2.4 kB, durable to loss of power"),
            ("size_long", "5,001 versions of it on disk"),
            ("read_version", "one of its versions"),
            ("list", "the moments of all of its versions"),
            ("member", "one member over all of its versions"),
            ("read_as_of", "one of many documents as of a moment"),
            ("query_as_of", "the documents of a state as of a moment, by an index"),
            ("commit", "a new version of one of many, durable to loss of power"),
            ("fork", "a branch of everything"),
            ("branch_range", "100 documents in order on a branch"),
            ("branch_diff", "what differs between a branch and the main line, 1,000 changes on each"),
            ("branch_merge", "merge 1,000 changes of a branch"),
        ],
    },
    Headline {
        suite: "processes",
        about: "one store in several processes",
        asked: &[
            ("get", "read a row of a store that another process owns"),
            ("get_64", "64 of them at once"),
            ("range_100", "read 100 rows in order"),
            ("put_durable", "commit a row, durable to loss of power"),
            ("writers_8x8", "commits of 8 processes with 8 threads each, a commit"),
            ("command", "a command of the shell that prints a document"),
        ],
    },
    Headline {
        suite: "crash",
        about: "what is left of acknowledged commits",
        asked: &[
            ("kill_lost", "commits lost by kill -9"),
            ("power_lost", "commits lost by a loss of power"),
            ("torn_lost", "the same with torn writes"),
            ("torn_broken", "commits there by half, stores that do not open"),
        ],
    },
    Headline {
        suite: "cluster",
        about: "one store on shared logs, beside bare appends to the same system",
        asked: &[
            ("one_1", "a commit, the only writer of the only node"),
            ("one_64", "the same with 64 writers, a commit"),
            ("three_16", "three nodes with 16 writers each, a commit"),
            ("three_16_least", "percent of a fair share that the slowest node has"),
        ],
    },
];

/// Losses that are none of the ten largest that matter: suite, operation, why.
pub const IMMATERIAL: &[(&str, &str, &str)] =
    &[("engine", "settle", "the store that is ahead has no compaction to wait for")];

/// A suite of the summary.
pub fn headline(suite: &str) -> Option<&'static Headline> {
    HEADLINES.iter().find(|headline| headline.suite == suite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{SUITES, suite};

    #[test]
    fn what_is_asked_is_measured_and_no_suite_is_left_out() {
        let known =
            |name: &str, operation: &str| suite(name).unwrap().operations.iter().any(|known| known.name == operation);
        for Headline { suite, asked, .. } in HEADLINES {
            for (operation, _) in *asked {
                assert!(known(suite, operation), "{suite}: {operation}");
            }
        }
        assert!(IMMATERIAL.iter().all(|(suite, operation, _)| known(suite, operation)));
        let left_out: Vec<_> = SUITES.iter().map(|suite| suite.name).filter(|name| headline(name).is_none()).collect();
        assert_eq!(left_out, ["mine"], "a workload of one's own is nobody else's");
    }
}
