//! Published results of the experiments that suites repeat: the printed figures, the machine, and the faults of the
//! experiment. The laboratory measured nothing of this; its own figures come from a report.

use super::{Claim, Experiment, Side, Size};

const fn side(operation: &'static str, subject: &'static str) -> Side {
    Side { operation, subject }
}

/// Every experiment that is repeated.
pub(super) const EXPERIMENTS: [Experiment; 5] = [GOGET, HASQL, APOCRYPHA, NEBARI, BIGTABLE];

const GOGET: Experiment = Experiment {
    suite: "goget",
    article: "\"AcidState vs. The World\" (langnostic.blogspot.com, 10 March 2013), its means for 50,000 accounts",
    machine: "a Core i3, 64-bit Debian Wheezy; the disk is not stated",
    faults: "scrypt (about 60 ms) was inside of the timer of a new account, the SQL tables had no index on the name \
        that they were asked for, MongoDB wrote without acknowledgement",
    claims: &[
        Claim {
            what: "the list of all accounts",
            published: "AcidState 13.4 us, HDBC-sqlite3 536 ms",
            size: Size::Times(13.4 / 536_190.0),
            sides: [Some(side("lg2_list", "acid-state")), Some(side("lg2_list", "hdbc-sqlite3"))],
            in_place_of: None,
            fault: "The article timed a list that was never evaluated; here every account is decoded and compared.",
        },
        Claim {
            what: "an account by its number",
            published: "AcidState 13.5 us, HDBC-sqlite3 2.11 ms",
            size: Size::Times(13.5 / 2_112.0),
            sides: [Some(side("lg_get_id", "acid-state")), Some(side("lg_get_id", "hdbc-sqlite3"))],
            in_place_of: None,
            fault: "",
        },
        Claim {
            what: "adding an item",
            published: "AcidState 20.6 ms, HDBC-sqlite3 37.9 ms",
            size: Size::Times(20_631.0 / 37_912.0),
            sides: [Some(side("lg_add_item", "acid-state")), Some(side("lg_add_item", "hdbc-sqlite3"))],
            in_place_of: None,
            fault: "",
        },
        Claim {
            what: "a new account",
            published: "AcidState 73.0 ms, HDBC-sqlite3 101 ms",
            size: Size::Times(73_011.0 / 101_067.0),
            sides: [Some(side("lg2_new", "acid-state")), Some(side("lg2_new", "hdbc-sqlite3"))],
            in_place_of: None,
            fault: "About 60 ms of both are scrypt, so the figures hide what stores do; here nothing is hashed inside \
                of a timer.",
        },
        Claim {
            what: "the list of all accounts, MongoDB",
            published: "AcidState 13.4 us, MongoDB 358 ms",
            size: Size::Times(13.4 / 358_009.0),
            sides: [Some(side("lg2_list", "acid-state")), Some(side("lg2_list", "mongodb"))],
            in_place_of: None,
            fault: "",
        },
        Claim {
            what: "adding an item, MongoDB",
            published: "AcidState 20.6 ms, MongoDB 35.6 ms",
            size: Size::Times(20_631.0 / 35_629.0),
            sides: [Some(side("lg_add_item", "acid-state")), Some(side("lg_add_item", "mongodb"))],
            in_place_of: None,
            fault: "",
        },
    ],
};

/// hasql is in no registry that the laboratory installs from; this client does what its article says that it does.
const FOR_HASQL: Option<&str> = Some("hasql (as hasql: binary values, prepared statements)");

const HASQL: Experiment = Experiment {
    suite: "hasql",
    article: "\"Hasql benchmarks\" (nikita-volkov.github.io/hasql-benchmarks, 2014): ratios only",
    machine: "not stated",
    faults: "in the benchmark of transactions one competitor updates the wrong row and another runs at a weaker \
        isolation; here final balances are verified and everybody is serializable",
    claims: &[
        Claim {
            what: "results of 100 rows: hasql and postgresql-simple",
            published: "1 : 2",
            size: Size::Times(1.0 / 2.0),
            sides: [Some(side("parse_100", "postgresql")), Some(side("parse_100", "postgresql-simple"))],
            in_place_of: FOR_HASQL,
            fault: "",
        },
        Claim {
            what: "results of 100 rows: hasql and HDBC",
            published: "1 : 7",
            size: Size::Times(1.0 / 7.0),
            sides: [Some(side("parse_100", "postgresql")), Some(side("parse_100", "hdbc-postgresql"))],
            in_place_of: FOR_HASQL,
            fault: "",
        },
        Claim {
            what: "results of 100 rows: postgresql-simple and HDBC",
            published: "2 : 7",
            size: Size::Times(2.0 / 7.0),
            sides: [Some(side("parse_100", "postgresql-simple")), Some(side("parse_100", "hdbc-postgresql"))],
            in_place_of: None,
            fault: "",
        },
        Claim {
            what: "a query with parameters: hasql and postgresql-simple",
            published: "1 : 1.7",
            size: Size::Times(1.0 / 1.7),
            sides: [Some(side("parameters", "postgresql")), Some(side("parameters", "postgresql-simple"))],
            in_place_of: FOR_HASQL,
            fault: "",
        },
        Claim {
            what: "a query with parameters: postgresql-simple and HDBC",
            published: "1.7 : 2.8",
            size: Size::Times(1.7 / 2.8),
            sides: [Some(side("parameters", "postgresql-simple")), Some(side("parameters", "hdbc-postgresql"))],
            in_place_of: None,
            fault: "",
        },
        Claim {
            what: "a transfer: hasql and postgresql-simple",
            published: "1 : 1.26",
            size: Size::Times(1.0 / 1.26),
            sides: [Some(side("transfer", "postgresql")), Some(side("transfer", "postgresql-simple"))],
            in_place_of: FOR_HASQL,
            fault: "",
        },
        Claim {
            what: "a transfer: postgresql-simple and HDBC",
            published: "1.26 : 1.59",
            size: Size::Times(1.26 / 1.59),
            sides: [Some(side("transfer", "postgresql-simple")), Some(side("transfer", "hdbc-postgresql"))],
            in_place_of: None,
            fault: "The published ratio is of unlike work: see above.",
        },
    ],
};

const APOCRYPHA: Experiment = Experiment {
    suite: "apocrypha",
    article: "the README of Apocrypha in Haskell (github.com/Gandalf-/apocrypha-haskell), 100,000 queries a client",
    machine: "an i7-5500 with 4 processors, 16 GB, Ubuntu 16.04",
    faults: "the benchmark's program has contacted no server since 2019, which nobody noticed; its server answered \
        while the last acknowledged write was not saved, and what a query costs grows with the whole database, which \
        was small. Here what reached the server is counted and compared",
    claims: &[
        Claim {
            what: "a query of a single reader: the server in Haskell and the one in Python",
            published: "29,188 and 14,928 queries/s: 34.3 and 67.0 us",
            size: Size::Times(14_928.0 / 29_188.0),
            sides: [Some(side("get_1_100", "apocrypha-haskell")), Some(side("get_1_100", "apocrypha-python"))],
            in_place_of: None,
            fault: "",
        },
        Claim {
            what: "a query of a single reader, by what one that repeats one query waits, Python",
            published: "14,928 and 17,549 queries/s (\"cache\")",
            size: Size::Times(17_549.0 / 14_928.0),
            sides: [Some(side("get_1_10k", "apocrypha-python")), Some(side("get_same", "apocrypha-python"))],
            in_place_of: None,
            fault: "Here the database has 10,000 members and as many within one, which this server walks for every \
                query.",
        },
        Claim {
            what: "a query of 10 readers by one of a single reader, Haskell",
            published: "34,182 and 29,188 queries/s",
            size: Size::Times(29_188.0 / 34_182.0),
            sides: [Some(side("get_10", "recension")), Some(side("get_1_10k", "recension"))],
            in_place_of: Some("the server in Haskell"),
            fault: "",
        },
        Claim {
            what: "a query of 20 readers by one of a single reader, Haskell",
            published: "34,872 and 29,188 queries/s",
            size: Size::Times(29_188.0 / 34_872.0),
            sides: [Some(side("get_20", "recension")), Some(side("get_1_10k", "recension"))],
            in_place_of: Some("the server in Haskell"),
            fault: "",
        },
        Claim {
            what: "a query of 20 readers by one of a single reader, Python",
            published: "6,403 and 14,928 queries/s",
            size: Size::Times(14_928.0 / 6_403.0),
            sides: [Some(side("get_20", "apocrypha-python")), Some(side("get_1_10k", "apocrypha-python"))],
            in_place_of: None,
            fault: "Here walking 20,000 members takes most of a query, which no number of readers changes.",
        },
    ],
};

const NEBARI: Experiment = Experiment {
    suite: "nebari",
    article: "Nebari's and BonsaiDb's benchmarks (khonsulabs.com) and \"The Futility of Benchmarks\" (dev.to/ecton, 4 \
        October 2021)",
    machine: "not stated beside these figures",
    faults: "Nebari up to 0.5.2 made no sync call at all and was compared with engines that sync; its suite ran in a \
        temporary directory that was in memory, and without the engine's own log of transactions. Here each \
        transaction of everybody is synced, on a disk",
    claims: &[
        Claim {
            what: "saving a document of 1 KiB: on Nebari and on sled",
            published: "194 and 396 us, by BonsaiDb; unsynced",
            size: Size::Times(194.0 / 396.0),
            sides: [Some(side("blob_1k", "nebari")), Some(side("blob_1k", "sled"))],
            in_place_of: Some("BonsaiDb on each (the engines alone; the suite bonsaidb has BonsaiDb itself)"),
            fault: "",
        },
        Claim {
            what: "inserting a row a transaction: Nebari and SQLite",
            published: "Nebari ahead, no figure",
            size: Size::Less,
            sides: [Some(side("insert_seq_1", "nebari")), Some(side("insert_seq_1", "sqlite"))],
            in_place_of: None,
            fault: "It was not syncing.",
        },
        Claim {
            what: "a single get: Nebari and SQLite",
            published: "Nebari ahead, no figure",
            size: Size::Less,
            sides: [Some(side("get_rnd_1_10k", "nebari")), Some(side("get_rnd_1_10k", "sqlite"))],
            in_place_of: None,
            fault: "",
        },
        Claim {
            what: "10,000 rows a transaction: Nebari and SQLite",
            published: "SQLite ahead \"for larger operations\", no figure",
            size: Size::More,
            sides: [Some(side("insert_seq_10000", "nebari")), Some(side("insert_seq_10000", "sqlite"))],
            in_place_of: None,
            fault: "",
        },
    ],
};

const BIGTABLE: Experiment = Experiment {
    suite: "bigtable",
    article: "\"Bigtable benchmarks\" (yesodweb.com/blog/2010/05/bigtable-benchmarks, 25 May 2010); most figures are \
        in a picture only",
    machine: "a quad-core with 4 GB, Ubuntu Lucid, lighttpd, client (ab) on the same machine",
    faults: "it compared programs built with -O0 and with -O2, one process with four, and pages of different content. \
        Here the bytes, the build and the number of processes are the same",
    claims: &[
        Claim {
            what: "a static file behind lighttpd",
            published: "more than 2,100 requests/s: 476 us",
            size: Size::Unstated,
            sides: [Some(side("page", "lighttpd-static")), None],
            in_place_of: None,
            fault: "",
        },
        Claim {
            what: "CGI in Haskell beside CGI in C",
            published: "\"Haskell CGI is very fast\", no figure",
            size: Size::Unstated,
            sides: [Some(side("page", "lighttpd-cgi-haskell")), Some(side("page", "lighttpd-cgi-c"))],
            in_place_of: None,
            fault: "",
        },
        Claim {
            what: "FastCGI beside CGI",
            published: "\"major performance problems\" of the packages fastcgi and direct-fastcgi, no figure",
            size: Size::More,
            sides: [Some(side("page", "lighttpd-fcgi-c")), Some(side("page", "lighttpd-cgi-c"))],
            in_place_of: Some("Haskell's packages (C with libfcgi, and CGI in C)"),
            fault: "direct-fastcgi made a record and a send of each piece of output, 50,000 writes a page: its own \
                fault and none of FastCGI.",
        },
    ],
};
