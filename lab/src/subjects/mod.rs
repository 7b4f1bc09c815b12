//! The measured stores: each is behind one small trait, in a file of its own. A subject adds nothing to the code that
//! its users would write by hand, and leaves nothing out. Commits are durable when they return, or the tier says that
//! they are not.

/// How a peer is opened, if its feature is built in.
macro_rules! peer {
    ($feature:literal, $open:expr) => {{
        #[cfg(feature = $feature)]
        let open = Some($open);
        #[cfg(not(feature = $feature))]
        let open = None;
        open
    }};
}

/// Why a peer is missing, if its feature is not built in.
macro_rules! without {
    ($feature:literal) => {
        $crate::subjects::without($feature, cfg!(feature = $feature))
    };
}

pub mod apocrypha;
pub mod bigtable;
pub mod bonsaidb;
pub mod calls;
pub mod cluster;
pub mod external;
#[cfg(feature = "fjall")]
mod fjall;
pub mod goget;
pub mod hasql;
mod history;
pub mod http;
mod liar;
#[cfg(feature = "lmdb")]
pub(crate) mod lmdb;
#[cfg(feature = "nebari")]
mod nebari;
pub mod processes;
mod python;
pub mod queries;
mod raw;
mod recension;
#[cfg(feature = "redb")]
mod redb;
pub mod revisions;
#[cfg(feature = "sled")]
mod sled;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "surrealkv")]
mod surrealkv;
mod versions;
pub mod ycsb;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use history::with_history;

use crate::error::{LabError, Result};
pub use crate::given::Given;

/// The durability of an acknowledged commit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Tier {
    /// Nothing.
    T0,
    /// The end of the process.
    T1,
    /// Loss of power.
    T2,
}

impl Tier {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Tier::T0 => "nothing",
            Tier::T1 => "the end of the process",
            Tier::T2 => "loss of power",
        }
    }
}

/// The options of opening a store, the same for every subject.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpenOptions {
    /// Whether older versions must stay readable. A subject without versions of its own is given them as
    /// rows (key, inverted number of the commit), in the same transaction.
    pub history: bool,
    /// Bytes that a subject with a cache of its own may give it. One that reads mapped files uses the page
    /// cache instead.
    pub cache_bytes: u64,
}

/// The two trees of a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tree {
    /// The newest value of each key.
    Current,
    /// The history as rows, if a subject has no versions of its own.
    History,
}

/// A row to be written, or to be deleted.
#[derive(Clone, Debug)]
pub struct RowToWrite {
    /// The tree.
    pub tree: Tree,
    /// The key.
    pub key: Vec<u8>,
    /// The value, which is not empty. `None` deletes the row.
    pub value: Option<Vec<u8>>,
}

/// The result of [`Subject::settle`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// The function that was called.
    pub how: String,
    /// False if the call does less than the row's name says.
    pub complete: bool,
}

/// Sees a value.
pub type SeeValue<'a> = &'a mut dyn FnMut(&[u8]);
/// Sees a row; returns whether to go on.
pub type SeeRow<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> bool;

/// An open store.
pub trait Subject: Send + Sync {
    /// Commits rows wholly or not at all, as durably as the subject's tier says. `number` is the
    /// laboratory's own number of the commit; answered is the number to read as of.
    fn commit(&self, number: u64, rows: &[RowToWrite]) -> Result<u64>;

    /// Whether it keeps old versions by itself.
    fn keeps_versions(&self) -> bool {
        false
    }

    /// For the reads of one thread. Each read is a transaction of its own, as in an application.
    fn reader(&self) -> Result<Box<dyn Reader + '_>>;

    /// Does the subject's own work of the background now: compaction, checkpoint.
    fn settle(&self) -> Result<Settled>;

    /// Why it cannot settle while commits are made, if it cannot.
    fn settles_alone(&self) -> Option<&'static str> {
        None
    }

    /// How it was opened, in the subject's own words.
    fn settings(&self) -> String;

    /// Closes it in order.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Reads of one thread. Results are borrowed, not copied, if the subject can do that.
pub trait Reader {
    /// Shows the value at a key; returns whether there is one.
    fn get(&mut self, tree: Tree, key: &[u8], see: SeeValue<'_>) -> Result<bool>;

    /// Shows rows from `start` (included) on, until told to stop.
    fn range(&mut self, tree: Tree, start: &[u8], reverse: bool, see: SeeRow<'_>) -> Result<()>;

    /// As [`Reader::get`], as of a commit.
    fn get_as_of(&mut self, key: &[u8], at: u64, see: SeeValue<'_>) -> Result<bool> {
        history::get_as_of(self, key, at, see)
    }

    /// As [`Reader::range`], as of a commit.
    fn range_as_of(&mut self, start: &[u8], at: u64, see: SeeRow<'_>) -> Result<()> {
        history::range_as_of(self, start, at, see)
    }
}

/// A subject that there is, whatever suite it is of.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Its name in reports.
    pub name: &'static str,
    /// A description of it.
    pub what: &'static str,
    /// The durability of its commits.
    pub tier: Tier,
    /// A note for readers about the tier.
    pub tier_note: Option<&'static str>,
    /// Whether a store is there again when it was closed.
    pub persistent: bool,
    /// Whether it is what the machine sets, and no competitor.
    pub floor: bool,
    /// The version that is built in or installed.
    pub version: fn() -> String,
    /// Why it cannot be measured here and what to do about that, if it cannot.
    pub missing: fn(&Given) -> Option<String>,
}

impl Kind {
    /// One that keeps what it acknowledges, and needs nothing.
    pub const fn new(name: &'static str, what: &'static str, version: fn() -> String) -> Self {
        Kind { name, what, tier: Tier::T2, tier_note: None, persistent: true, floor: false, version, missing: |_| None }
    }
}

type Open = fn(&Path, &OpenOptions) -> Result<Box<dyn Subject>>;

/// Us.
pub const OURS: &str = "recension";
/// Whether a subject is us, by whatever way we are reached: `nginx-fcgi-recension`, `recension-http`. What we are asked
/// through is what stands before our name, and who else is asked through that has the same there.
pub fn is_ours(name: &str) -> bool {
    let ours = ["recension-", "log-"].iter().any(|begin| name.starts_with(begin));
    ours || name == OURS || name.ends_with("-recension")
}

/// What the machine sets: an append and a sync.
pub const FLOOR: &str = "raw";

/// This program's own version, which is Recension's.
pub fn our_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Why a peer's subject is missing, if its feature is not built in; [`without!`] asks.
pub fn without(feature: &str, built_in: bool) -> Option<String> {
    (!built_in).then(|| {
        format!(
            "built without the feature `{feature}`; `cargo build --release --manifest-path lab/Cargo.toml --features \
             peers`, as `make bench` does"
        )
    })
}

/// A peer's embedded store, and how it is opened.
macro_rules! engine {
    ($name:literal, $module:ident, $what:literal, $version:expr) => {
        (
            Kind { missing: |_| without!($name), ..Kind::new($name, $what, $version) },
            peer!($name, $module::open as Open),
        )
    };
}

/// The subjects of the suite `engine`, and how each is opened.
fn engines() -> Vec<(Kind, Option<Open>)> {
    vec![
        (Kind::new(OURS, "the native engine", our_version), Some(recension::open_native)),
        engine!("sqlite", sqlite, "SQLite, WAL, synchronous=FULL", versions::sqlite),
        engine!("lmdb", lmdb, "LMDB, by heed", || versions::of_crate("heed")),
        engine!("redb", redb, "redb", || versions::of_crate("redb")),
        engine!("fjall", fjall, "fjall", || versions::of_crate("fjall")),
        engine!("surrealkv", surrealkv, "SurrealKV", || versions::of_crate("surrealkv")),
        engine!("nebari", nebari, "nebari, unversioned trees; versioned where history is kept", || {
            versions::of_crate("nebari")
        }),
        (
            Kind {
                missing: |_| without!("sled"),
                tier: Tier::T1,
                tier_note: Some(
                    "weaker: its flush is sync_file_range, which neither flushes the disk's cache nor syncs metadata",
                ),
                ..Kind::new("sled", "sled", || versions::of_crate("sled"))
            },
            peer!("sled", sled::open as Open),
        ),
        (
            Kind { floor: true, ..Kind::new(FLOOR, "append + fdatasync into a file of zeros", String::new) },
            Some(raw::open),
        ),
        (
            Kind { tier: Tier::T0, persistent: false, ..Kind::new("memory", "Recension's memory engine", our_version) },
            Some(recension::open_memory),
        ),
        (Kind::new("lying-unsynced", "says that it syncs and does not", our_version), Some(liar::open_unsynced)),
        (
            Kind::new("lying-dropping", "acknowledges some commits that it drops", our_version),
            Some(liar::open_dropping),
        ),
        (Kind::new("lying-short", "ends ranges before their end", our_version), Some(liar::open_short)),
        (Kind::new("lying-keeping", "acknowledges deletes that it drops", our_version), Some(liar::open_keeping)),
        (
            Kind::new("lying-present", "answers reads of the past with the present", our_version),
            Some(liar::open_present),
        ),
    ]
}

/// The kinds of subjects.
pub fn kinds() -> Vec<Kind> {
    engines().into_iter().map(|(kind, _)| kind).collect()
}

/// The subjects of the suite, if nobody chooses.
pub const USUAL: [&str; 9] = [OURS, "sqlite", "lmdb", "redb", "fjall", "surrealkv", "nebari", "sled", FLOOR];

/// Opens the store of an engine in a directory, which exists.
pub fn open(name: &str, dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    named(engines(), name, |(kind, _)| kind.name).and_then(|(kind, open)| match open {
        Some(open) => open(dir, options),
        None => Err(LabError::Unavailable { reason: (kind.missing)(&Given::default()).unwrap_or_default() }),
    })
}

/// The one of a name.
pub fn named<T>(all: Vec<T>, name: &str, of: fn(&T) -> &'static str) -> Result<T> {
    let names = all.iter().map(of).collect::<Vec<_>>().join(", ");
    all.into_iter()
        .find(|one| of(one) == name)
        .ok_or_else(|| LabError::Usage { what: format!("there is no subject \"{name}\"; there are {names}") })
}
