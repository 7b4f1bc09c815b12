//! The measurements as data. A phase has stores that begin alike, and steps; each step is an operation of the suite.

use super::super::Operation;
use crate::worker::logs::Order;

/// Stores are made, filled, asked step by step, closed, opened again and read wholly.
pub(super) struct Phase {
    /// The name of its directory.
    pub(super) name: &'static str,
    /// In which order the ids lie.
    pub(super) order: Order,
    /// Whether every older version is kept.
    pub(super) history: bool,
    /// The contents before its steps, and the rows that they write.
    pub(super) work: Work,
    /// Its steps.
    pub(super) steps: &'static [Step],
}

impl Phase {
    /// Whether it takes as long as many others.
    pub(super) fn is_long(&self) -> bool {
        matches!(self.work, Work::Read(Set::Largest) | Work::Blobs(Blob::Largest))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Nothing is there; entries are inserted.
    Insert,
    /// Entries are updated, one after the other and again from the first on.
    Update,
    /// Entries are deleted.
    Delete,
    /// Entries of a set are read.
    Read(Set),
    /// Nothing is there; blobs are written.
    Blobs(Blob),
}

/// A set of entries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    Small,
    Middle,
    Largest,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Blob {
    Small,
    Middle,
    Largest,
}

#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) operation: Operation,
    pub(super) ask: Ask,
}

/// A request to a worker in a round.
#[derive(Clone, Copy)]
pub(super) enum Ask {
    /// Write, with this many rows in each transaction.
    Write(u64),
    /// Get this many, with one reader.
    Get(Part),
    /// Scan this many.
    Scan(Part),
    /// Get each entry as it was before its last update.
    AsOf,
}

/// A part of all entries.
#[derive(Clone, Copy)]
pub(super) enum Part {
    One,
    Root,
    Sixteenth,
}

impl Part {
    pub(super) fn of(self, all: u64) -> u64 {
        match self {
            Part::One => 1,
            Part::Root => all.isqrt().max(1),
            Part::Sixteenth => (all / 16).max(1),
        }
    }
}

const fn step(name: &'static str, what: &'static str, weight: u64, ask: Ask) -> Step {
    Step { operation: Operation::ns(name, what, weight), ask }
}

/// Inserts by one order of ids.
macro_rules! inserts {
    ($order:literal, $ids:literal) => {
        [
            step(
                concat!("insert_", $order, "_1"),
                concat!("an entry a transaction, ids ", $ids, ": time an entry"),
                4,
                Ask::Write(1),
            ),
            step(
                concat!("insert_", $order, "_100"),
                concat!("100 entries a transaction, ids ", $ids, ": time an entry"),
                4,
                Ask::Write(100),
            ),
            step(
                concat!("insert_", $order, "_1000"),
                concat!("1,000 entries a transaction, ids ", $ids, ": time an entry"),
                4,
                Ask::Write(1000),
            ),
            step(
                concat!("insert_", $order, "_10000"),
                concat!("10,000 entries a transaction, ids ", $ids, ": time an entry"),
                6,
                Ask::Write(10_000),
            ),
        ]
    };
}

/// The same if every older version is kept.
macro_rules! inserts_with_history {
    ($order:literal, $ids:literal) => {
        [
            step(
                concat!("insert_", $order, "_1_history"),
                concat!("an entry a transaction, ids ", $ids, ", every older version kept: time an entry"),
                4,
                Ask::Write(1),
            ),
            step(
                concat!("insert_", $order, "_1000_history"),
                concat!("1,000 entries a transaction, ids ", $ids, ", every older version kept: time an entry"),
                4,
                Ask::Write(1000),
            ),
        ]
    };
}

/// Reads of one set by one order of ids.
macro_rules! reads {
    ($order:literal, $set:literal, $of:literal, $weight:literal) => {
        [
            step(
                concat!("get_", $order, "_1_", $set),
                concat!("a random entry of ", $of, ", each by a reader of its own"),
                $weight,
                Ask::Get(Part::One),
            ),
            step(
                concat!("get_", $order, "_sqrt_", $set),
                concat!("random entries of ", $of, ", as many by one reader as the root of all: time an entry"),
                $weight,
                Ask::Get(Part::Root),
            ),
            step(
                concat!("get_", $order, "_16th_", $set),
                concat!("random entries of ", $of, ", a 16th of all by one reader: time an entry"),
                $weight,
                Ask::Get(Part::Sixteenth),
            ),
            step(
                concat!("scan_", $order, "_sqrt_", $set),
                concat!("a scan of ", $of, ", from a random entry on, as long as the root of all: the whole scan"),
                $weight,
                Ask::Scan(Part::Root),
            ),
            step(
                concat!("scan_", $order, "_16th_", $set),
                concat!("a scan of a 16th of ", $of, ": the whole scan"),
                $weight,
                Ask::Scan(Part::Sixteenth),
            ),
        ]
    };
}

const fn phase(name: &'static str, order: Order, work: Work, steps: &'static [Step]) -> Phase {
    Phase { name, order, history: false, work, steps }
}

const fn with_history(name: &'static str, order: Order, work: Work, steps: &'static [Step]) -> Phase {
    Phase { name, order, history: true, work, steps }
}

use Order::{Random, Sequential};

/// Every phase, in the order of a run and of a report.
pub(super) const PHASES: [Phase; 16] = [
    phase("inserts-seq", Sequential, Work::Insert, &inserts!("seq", "ascending")),
    phase("inserts-rnd", Random, Work::Insert, &inserts!("rnd", "scattered")),
    with_history("inserts-seq-history", Sequential, Work::Insert, &inserts_with_history!("seq", "ascending")),
    with_history("inserts-rnd-history", Random, Work::Insert, &inserts_with_history!("rnd", "scattered")),
    phase(
        "updates",
        Random,
        Work::Update,
        &[
            step("update_1", "a new version of an entry a transaction, ids scattered: time an entry", 4, Ask::Write(1)),
            step(
                "update_1000",
                "new versions of 1,000 entries a transaction, ids scattered: time an entry",
                4,
                Ask::Write(1000),
            ),
        ],
    ),
    with_history(
        "updates-history",
        Random,
        Work::Update,
        &[
            step(
                "update_1_history",
                "a new version of an entry a transaction, ids scattered, every older version kept: time an entry",
                4,
                Ask::Write(1),
            ),
            step(
                "update_1000_history",
                "new versions of 1,000 entries a transaction, ids scattered, every older version kept: time an entry",
                4,
                Ask::Write(1000),
            ),
            step(
                "get_asof",
                "a random entry as of a commit after which every entry was updated, each by a reader of its own",
                4,
                Ask::AsOf,
            ),
        ],
    ),
    phase(
        "deletes",
        Random,
        Work::Delete,
        &[
            step("delete_1", "an entry deleted a transaction, ids scattered: time an entry", 4, Ask::Write(1)),
            step(
                "delete_1000",
                "1,000 entries deleted a transaction, ids scattered: time an entry",
                4,
                Ask::Write(1000),
            ),
        ],
    ),
    phase("reads-seq-1k", Sequential, Work::Read(Set::Small), &reads!("seq", "1k", "1,024 whose ids ascended", 1)),
    phase("reads-seq-10k", Sequential, Work::Read(Set::Middle), &reads!("seq", "10k", "10,000 whose ids ascended", 2)),
    phase(
        "reads-seq-large",
        Sequential,
        Work::Read(Set::Largest),
        &reads!("seq", "large", "the largest set, whose ids ascended", 8),
    ),
    phase("reads-rnd-1k", Random, Work::Read(Set::Small), &reads!("rnd", "1k", "1,024 whose ids were scattered", 1)),
    phase(
        "reads-rnd-10k",
        Random,
        Work::Read(Set::Middle),
        &reads!("rnd", "10k", "10,000 whose ids were scattered", 2),
    ),
    phase(
        "reads-rnd-large",
        Random,
        Work::Read(Set::Largest),
        &reads!("rnd", "large", "the largest set, whose ids were scattered", 8),
    ),
    phase(
        "blobs-1k",
        Sequential,
        Work::Blobs(Blob::Small),
        &[step("blob_1k", "a blob of 1 KiB a transaction", 3, Ask::Write(1))],
    ),
    phase(
        "blobs-1m",
        Sequential,
        Work::Blobs(Blob::Middle),
        &[step("blob_1m", "a blob of 1 MiB a transaction", 8, Ask::Write(1))],
    ),
    phase(
        "blobs-64m",
        Sequential,
        Work::Blobs(Blob::Largest),
        &[step("blob_64m", "a blob of 64 MiB a transaction", 20, Ask::Write(1))],
    ),
];

/// Every step's operation.
pub(super) const OPERATIONS: [Operation; COUNT] = {
    let mut all = [Operation::ns("", "", 0); COUNT];
    let (mut next, mut phase) = (0, 0);
    while phase < PHASES.len() {
        let mut step = 0;
        while step < PHASES[phase].steps.len() {
            all[next] = PHASES[phase].steps[step].operation;
            (next, step) = (next + 1, step + 1);
        }
        phase += 1;
    }
    all
};

const COUNT: usize = {
    let (mut count, mut phase) = (0, 0);
    while phase < PHASES.len() {
        count += PHASES[phase].steps.len();
        phase += 1;
    }
    count
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_names_of_their_own_and_phases_directories() {
        let mut names: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
        names.extend(PHASES.iter().map(|phase| phase.name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(OPERATIONS.iter().all(|operation| !operation.what.is_empty() && operation.weight > 0));
    }
}
