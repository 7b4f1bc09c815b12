//! The suite `nebari`: the benchmark of that storage engine (logs and blobs), with every embedded store, every commit
//! synced. What is measured is a table; here is the one way in which each of its phases goes.

mod sizes;
mod table;

use super::bench::{self, Figure, Member};
use super::{Bench, Plan, Suite};
use crate::error::{LabError, Result};
use crate::subjects::{FLOOR, Kind, OURS, kinds};
use crate::worker::logs::{Entries, Logs, Write};
use crate::worker::{Command, Launch, Reply};
use sizes::Sizes;
use table::{Ask, Blob, PHASES, Phase, Step, Work};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "nebari",
    what: "logs and blobs (nebari's own benchmark): inserts, updates, deletes, gets, scans and the past, each \
        transaction durable",
    kinds: || kinds().into_iter().filter(|kind| kind.name != FLOOR).chain([COUCHDB]).collect(),
    usual: &[OURS, "sqlite", "lmdb", "redb", "fjall", "surrealkv", "nebari", "sled", COUCHDB.name],
    sittings: super::SITTINGS,
    operations: &table::OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

/// The article names it.
const COUCHDB: Kind = Kind {
    missing: |_| {
        let why = "a server, and these are calls within a process: the suite `http` measures it, where --couchdb-url \
            names one";
        Some(why.to_owned())
    },
    ..Kind::new("couchdb", "CouchDB", String::new)
};

/// Entries of a transaction while a store is filled: the least, and a part of all, so that what an append-only tree
/// writes again with each transaction has a bound.
const LOAD_COMMIT: (u64, u64) = (1000, 50);

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
    PHASES.iter().try_for_each(|phase| At { sizes: &sizes, phase }.run(bench))
}

/// A phase under way. What each member has written is counted in its `next_row`: entries, updates, deletes or blobs.
#[derive(Clone, Copy)]
struct At<'s> {
    sizes: &'s Sizes,
    phase: &'static Phase,
}

impl At<'_> {
    fn run(self, bench: &mut Bench<'_>) -> Result<()> {
        // Phases that take long to prepare run only in the last sitting.
        if self.phase.is_long() && !bench.is_last_sitting() {
            return Ok(());
        }
        let Some(loaded) = self.sizes.loaded(self.phase) else {
            return self.phase.steps.iter().try_for_each(|step| {
                let reason = "only in default and full runs".to_owned();
                bench.single(step.operation.name, everybody, |_| Err(LabError::Unavailable { reason: reason.clone() }))
            });
        };
        let phase = self.phase;
        bench.open_new(phase.name, everybody, &self.sizes.options(phase), 0)?;
        let per_commit = LOAD_COMMIT.0.max(loaded / LOAD_COMMIT.1);
        bench.prepare("loading", everybody, |member| {
            (0..loaded).step_by(per_commit as usize).try_for_each(|first| {
                let (what, count) = (Write::Insert(phase.order), per_commit.min(loaded - first));
                ask(member, Logs::Write { what, first, count, per_commit }).map(drop)
            })
        })?;
        let steps = |bench: &mut Bench<'_>| phase.steps.iter().try_for_each(|step| self.step(bench, step));
        if phase.is_long() && matches!(phase.work, Work::Read(_)) {
            // Each repetition opens the stores in another process.
            bench.for_each_sitting(steps, |bench| self.open_again(bench))?;
        } else {
            steps(bench)?;
        }
        self.verify(bench)
    }

    /// Closes every store and opens it in another process.
    fn open_again(self, bench: &mut Bench<'_>) -> Result<()> {
        let plan = bench.plan;
        bench.prepare("opening again", kept, |member| self.reopen(plan, member))
    }

    fn reopen(self, plan: &Plan, member: &mut Member) -> Result<()> {
        member.close()?;
        bench::open(plan, member, &Launch::Plain, &self.sizes.options(self.phase), 0)
    }

    fn step(self, bench: &mut Bench<'_>, step: &Step) -> Result<()> {
        if matches!(step.ask, Ask::AsOf) {
            bench.prepare("updating all", everybody, |member| {
                let (mark, count) = (member.mark, self.fresh().count);
                self.write(member, count, 1000)?;
                member.mark = mark;
                Ok(())
            })?;
        }
        let gets = self.sizes.gets;
        bench.rounds(
            step.operation.name,
            everybody,
            self.sizes.rounds(self.phase),
            Figure::PerOperation,
            |member, round| {
                let (entries, seed) = (self.now(member), round as u64);
                match step.ask {
                    Ask::Write(per_commit) => {
                        let count = self.sizes.written(self.phase, per_commit);
                        self.write(member, count, per_commit).map_err(|error| refused(self.phase, member, error))
                    }
                    Ask::Get(part) => {
                        let at_once = part.of(entries.count);
                        let count = (gets / at_once).max(1);
                        ask(member, Logs::Get { entries, as_of: None, at_once, count, seed: 30 + seed })
                    }
                    Ask::Scan(part) => {
                        let limit = part.of(entries.count);
                        let count = (gets / limit / 2).max(2);
                        ask(member, Logs::Scan { entries, limit, count, seed: 50 + seed })
                    }
                    Ask::AsOf => {
                        let (entries, as_of) = self.past(member);
                        ask(member, Logs::Get { entries, as_of, at_once: 1, count: gets, seed: 70 + seed })
                    }
                }
            },
        )
    }

    fn write(self, member: &mut Member, count: u64, per_commit: u64) -> Result<Reply> {
        let order = self.phase.order;
        let what = match self.phase.work {
            Work::Insert | Work::Read(_) => Write::Insert(order),
            Work::Update => Write::Update(self.fresh()),
            Work::Delete => Write::Delete(order),
            Work::Blobs(blob) => Write::Blobs(self.sizes.blob(blob).1),
        };
        let reply = ask(member, Logs::Write { what, first: member.next_row, count, per_commit })?;
        member.next_row += count;
        member.mark = reply.number.unwrap_or_default();
        Ok(reply)
    }

    /// The entries as they were loaded.
    fn fresh(self) -> Entries {
        Entries::new(self.phase.order, self.sizes.loaded(self.phase).unwrap_or_default())
    }

    /// The entries as they are.
    fn now(self, member: &Member) -> Entries {
        let fresh = self.fresh();
        match self.phase.work {
            Work::Insert => Entries { count: member.next_row, ..fresh },
            Work::Update => Entries { updates: member.next_row, ..fresh },
            Work::Delete => Entries { first: member.next_row, ..fresh },
            Work::Read(_) | Work::Blobs(_) => fresh,
        }
    }

    /// The entries as they were before the last update of each, and the commit.
    fn past(self, member: &Member) -> (Entries, Option<u64>) {
        let now = self.now(member);
        (Entries { updates: now.updates.saturating_sub(now.count), ..now }, Some(member.mark))
    }

    /// Closes every store, opens it again and reads it wholly, the past too; then it is removed.
    fn verify(self, bench: &mut Bench<'_>) -> Result<()> {
        let plan = bench.plan;
        bench.verify_with("verifying the final state", kept, |member| {
            if member.worker.is_none() {
                return Ok(()); // it refused, and its row says so
            }
            self.reopen(plan, member)?;
            if let Work::Blobs(blob) = self.phase.work {
                let (count, bytes) = (member.next_row, self.sizes.blob(blob).1);
                return ask(member, Logs::VerifyBlobs { count, bytes }).map(drop);
            }
            if self.phase.steps.iter().any(|step| matches!(step.ask, Ask::AsOf)) {
                let (entries, as_of) = self.past(member);
                ask(member, Logs::Verify { entries, as_of })?;
            }
            ask(member, Logs::Verify { entries: self.now(member), as_of: None }).map(drop)
        })?;
        bench.remove(everybody)
    }
}

/// For the largest blobs a refusal is an answer, in the subject's own words. Its store is not checked any more.
fn refused(phase: &Phase, member: &mut Member, error: LabError) -> LabError {
    if phase.work != Work::Blobs(Blob::Largest) || matches!(error, LabError::Wrong { .. }) {
        return error;
    }
    member.worker = None;
    LabError::Unavailable { reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_largest_blobs_may_be_refused() {
        let phase = |blob| PHASES.iter().find(|phase| phase.work == Work::Blobs(blob)).unwrap();
        let refusal = || LabError::Subject { what: "a commit".to_owned(), why: "too large".to_owned() };
        let wrong =
            LabError::Wrong { what: "all blobs".to_owned(), expected: "three".to_owned(), found: "two".to_owned() };
        for (blob, error, may) in
            [(Blob::Largest, refusal(), true), (Blob::Middle, refusal(), false), (Blob::Largest, wrong, false)]
        {
            let mut member = Member {
                kind: COUCHDB,
                worker: None,
                dir: std::path::PathBuf::new(),
                next_row: 0,
                mark: 0,
                memory_before: 0,
                settings: None,
                syncs: None,
                reason: None,
            };
            let words = error.to_string();
            let found = refused(phase(blob), &mut member, error);
            assert_eq!(found.to_string(), words);
            assert_eq!(matches!(found, LabError::Unavailable { .. }), may, "{words}");
        }
    }
}
