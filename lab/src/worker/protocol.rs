//! The messages between the laboratory and a worker. Both are one program, so the form may change at any time.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::acknowledged::{Acknowledge, Found};
use super::apocrypha::Apocrypha;
use super::bigtable::Bigtable;
use super::bonsaidb::Bonsaidb;
use super::cluster::Cluster;
use super::goget::Goget;
use super::hasql::Hasql;
use super::http::Http;
use super::logs::Logs;
use super::mine::Mine;
use super::processes::Processes;
use super::queries::Queries;
use super::revisions::Revisions;
use super::ycsb::Ycsb;
use crate::custom_workload::Action;
use crate::measure::usage::Usage;
use crate::subjects::bonsaidb::StepKind;
use crate::subjects::{OpenOptions, Settled};

/// Rows `first` to `first + count` at one version.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rows {
    /// The first.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// Their version.
    pub version: u32,
}

/// A command to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Command {
    /// Opens a store; timed.
    Open {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
        /// The options.
        options: OpenOptions,
        /// Rows that reads will be from: their order is prepared now.
        rows: u64,
    },
    /// Writes rows.
    Write {
        /// The rows.
        rows: Rows,
        /// The number of rows in each commit.
        per_commit: u64,
        /// Threads that share them.
        threads: u64,
        /// Whether to mark the beginning and the end, for a trace.
        marked: bool,
    },
    /// Reads single rows at random.
    Get {
        /// The rows that there are.
        rows: Rows,
        /// How many reads a thread.
        count: u64,
        /// Threads.
        threads: u64,
        /// As of this commit.
        as_of: Option<u64>,
        /// The seed of the random sequence.
        seed: u64,
    },
    /// Reads ranges from random keys on.
    Range {
        /// The rows that there are.
        rows: Rows,
        /// How many ranges.
        count: u64,
        /// Rows of each.
        limit: u64,
        /// Whether downwards.
        reverse: bool,
        /// As of this commit.
        as_of: Option<u64>,
        /// The seed of the random sequence.
        seed: u64,
    },
    /// Reads single rows while another thread commits rows at an offered rate.
    GetWhileWriting {
        /// The rows that are read.
        rows: Rows,
        /// The first row that is written.
        first: u64,
        /// Commits a second.
        rate: u64,
        /// For so long.
        millis: u64,
        /// The seed of the random sequence.
        seed: u64,
    },
    /// Commits rows one by one at an offered rate.
    Offer {
        /// The first row.
        first: u64,
        /// Commits a second.
        rate: u64,
        /// For so long.
        millis: u64,
        /// Whether the subject settles meanwhile.
        settling: bool,
    },
    /// The subject's own work of the background, now; timed.
    Settle,
    /// Reads everything and compares it with the model.
    Verify {
        /// All that there is.
        parts: Vec<Rows>,
    },
    /// One get, timed by itself.
    FirstGet {
        /// The row.
        row: u64,
        /// Its version.
        version: u32,
    },
    /// Commits that are counted when they are acknowledged.
    Acknowledge(Acknowledge),
    /// Compares the store with what was acknowledged.
    Look {
        /// Commits of each thread.
        acknowledged: Vec<u64>,
    },
    /// Asks for the resources that the process uses.
    Usage,
    /// Closes the store in order; timed.
    Close,
    /// Documents through the Rust API.
    Documents(Documents),
    /// A server under load.
    Http(Http),
    /// Logs and blobs, in the open store.
    Logs(Logs),
    /// Accounts.
    Goget(Goget),
    /// A server of members under load.
    Apocrypha(Apocrypha),
    /// Rows, parameters and transfers.
    Hasql(Hasql),
    /// A command of the suite `cluster`.
    Cluster(Cluster),
    /// Pages.
    Bigtable(Bigtable),
    /// Documents, keys and a shop.
    Bonsaidb(Bonsaidb),
    /// A user's workload.
    Mine(Mine),
    /// A store in several processes.
    Processes(Processes),
    /// Orders that are asked by what they hold.
    Queries(Queries),
    /// Documents with all their versions.
    Revisions(Revisions),
    /// Records under a mix of reads and writes.
    Ycsb(Ycsb),
}

/// Commands of the documents layer, on a store of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Documents {
    /// Opens a store and loads documents with a unique index.
    Load {
        /// The store's directory.
        dir: PathBuf,
        /// How many.
        count: u64,
    },
    /// Gets by id.
    GetId {
        /// How many gets.
        count: u64,
        /// The seed of the random sequence.
        seed: u64,
    },
    /// Finds by the value of a unique index.
    GetUnique {
        /// How many.
        count: u64,
        /// The seed of the random sequence.
        seed: u64,
    },
    /// Lists all.
    List,
}

/// A worker's reply.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Reply {
    /// Operations done.
    pub ops: u64,
    /// Time that they took.
    pub wall_ns: u64,
    /// Processor time of the threads that did them; of writes, of the whole process until it came to rest.
    pub cpu_ns: Option<u64>,
    /// Processor time of the client, if the subject is another process.
    pub client_cpu_ns: Option<u64>,
    /// Bytes that the disk was asked to write, until the process came to rest.
    pub written_bytes: u64,
    /// The number of the last commit, to read as of.
    pub number: Option<u64>,
    /// Latencies from the intended start.
    pub latencies_ns: Vec<u64>,
    /// The used resources. For an opening, those before it.
    pub usage: Option<Usage>,
    /// How it settled.
    pub settled: Option<Settled>,
    /// The subject's settings.
    pub settings: Option<String>,
    /// A note for readers of the figure.
    pub note: Option<String>,
    /// For a mix: the latencies of each action.
    pub actions: Vec<(Action, Vec<u64>)>,
    /// For shoppers: the latencies of each kind of step.
    pub steps: Vec<(StepKind, Vec<u64>)>,
    /// The acknowledged commits that are there.
    pub found: Option<Found>,
}

/// A line from a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Line {
    /// Done.
    Done(Box<Reply>),
    /// It cannot be done here. This is not a fault.
    Unavailable(String),
    /// It failed.
    Failed(String),
}
