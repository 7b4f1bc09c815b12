//! Stores with versions: every answer is kept and compared with the model when the clock has stopped.

use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::protocol::Reply;
use super::serve::REST;
use crate::data::Random;
use crate::error::{LabError, Result};
use crate::measure::clock::{come_to_rest, nanos};
use crate::subjects::Given;
use crate::subjects::revisions::model::{LONG, account, balance, in_state, long, state};
use crate::subjects::revisions::{Numbered, Revisions as Store, open};

/// Accounts of a commit of a load.
const LOADED_AT_ONCE: usize = 1000;

/// What a worker of the suite `versions` is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Revisions {
    /// Opens a new store.
    Open {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
        /// What the run was given.
        given: Given,
    },
    /// Writes the versions of the long document, each in a commit.
    Long {
        /// How many.
        versions: u64,
    },
    /// Writes a version of each account.
    Round {
        /// How many accounts.
        accounts: u64,
    },
    /// Does one operation, one after the other.
    Ask {
        /// The operation.
        operation: String,
        /// How many, each about something else.
        count: u64,
        /// Of what they are about.
        seed: u64,
    },
    /// The same on a branch, or about it.
    Branch {
        /// The operation.
        operation: String,
        /// The branch.
        branch: u64,
        /// How many, each about something else.
        count: u64,
        /// Of what they are about.
        seed: u64,
    },
    /// The bytes of the store, after its own work of the background.
    Bytes,
    /// Closes the store in order.
    Close,
}

/// A store and what it holds.
pub(super) struct Kept {
    pub(super) store: Box<dyn Store>,
    /// The moments behind the versions of the long document.
    versions: Vec<u64>,
    /// The moments behind the rounds, and the number of accounts in them.
    pub(super) rounds: Vec<u64>,
    pub(super) accounts: u64,
    /// The accounts that were written after the rounds, with their newest version.
    pub(super) newer: Vec<(u64, u64)>,
    /// How many of these there were when each branch was made.
    pub(super) forks: Vec<usize>,
}

/// What an operation is about, and its answer.
enum Answer {
    Document(Value, Option<String>),
    Pair([Value; 2], Vec<String>),
    Moments(Vec<u64>),
    Balances(Vec<i64>),
    Numbers(String, u64, Vec<u64>),
    Written,
}

pub(super) fn wrong(what: &str, expected: impl Into<String>, found: impl Into<String>) -> LabError {
    let short = |text: String| text.chars().take(300).collect();
    LabError::Wrong { what: what.to_owned(), expected: short(expected.into()), found: short(found.into()) }
}

pub(super) fn same(what: &str, expected: &Value, found: &str) -> Result<()> {
    let found: Value = serde_json::from_str(found).map_err(LabError::subject("a document"))?;
    if *expected == found { Ok(()) } else { Err(wrong(what, expected.to_string(), found.to_string())) }
}

impl Kept {
    /// Does one command.
    pub(super) fn handle(kept: &mut Option<Kept>, command: Revisions) -> Result<Reply> {
        if let Revisions::Open { subject, dir, given } = command {
            let store = open(&subject, &dir, &given)?;
            let settings = Some(store.settings());
            *kept = Some(Kept {
                store,
                versions: Vec::new(),
                rounds: Vec::new(),
                accounts: 0,
                newer: Vec::new(),
                forks: Vec::new(),
            });
            return Ok(Reply { settings, ..Reply::default() });
        }
        let none = || LabError::Worker { what: "no store is open".to_owned() };
        if matches!(command, Revisions::Close) {
            return kept.take().ok_or_else(none)?.store.close().map(|()| Reply::default());
        }
        let kept = kept.as_mut().ok_or_else(none)?;
        match command {
            Revisions::Long { versions } => kept.long(versions),
            Revisions::Round { accounts } => kept.round(accounts),
            Revisions::Ask { operation, count, seed } => kept.ask(&operation, count, seed),
            Revisions::Branch { operation, branch, count, seed } => kept.on_branch(&operation, branch, count, seed),
            Revisions::Bytes => kept.store.bytes().map(|bytes| Reply { ops: bytes, ..Reply::default() }),
            Revisions::Open { .. } | Revisions::Close => Ok(Reply::default()),
        }
    }

    fn long(&mut self, versions: u64) -> Result<Reply> {
        let bodies: Vec<Numbered> = (0..versions).map(|version| (LONG, long(version).to_string())).collect();
        let start = Instant::now();
        for body in bodies {
            self.versions.push(self.store.write(&[body])?);
        }
        let wall_ns = nanos(start.elapsed());
        come_to_rest(REST);
        Ok(Reply { ops: versions, wall_ns, ..Reply::default() })
    }

    fn round(&mut self, accounts: u64) -> Result<Reply> {
        let round = self.rounds.len() as u64;
        let bodies: Vec<Numbered> = (1..=accounts).map(|number| (number, account(number, round).to_string())).collect();
        let start = Instant::now();
        let mut moment = 0;
        for some in bodies.chunks(LOADED_AT_ONCE) {
            moment = self.store.write(some)?;
        }
        let wall_ns = nanos(start.elapsed());
        come_to_rest(REST);
        self.rounds.push(moment);
        self.accounts = accounts;
        Ok(Reply { ops: accounts, wall_ns, ..Reply::default() })
    }

    fn ask(&mut self, operation: &str, count: u64, seed: u64) -> Result<Reply> {
        let mut random = Random::new(seed);
        let (mut answers, mut latencies_ns) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (took, asked) = self.one(operation, &mut random)?;
            latencies_ns.push(took);
            answers.push(asked);
        }
        answers.into_iter().try_for_each(|asked| self.check(operation, asked))?;
        let wall_ns = latencies_ns.iter().sum();
        Ok(Reply { ops: count, wall_ns, latencies_ns, ..Reply::default() })
    }

    /// One operation: how long it took, and what it answered.
    fn one(&mut self, operation: &str, random: &mut Random) -> Result<(u64, Answer)> {
        let number = random.below(self.accounts) + 1;
        let round = random.below(self.rounds.len() as u64);
        let version = random.below((self.versions.len() as u64).saturating_sub(1));
        let moment = |moments: &[u64], at: u64| {
            let none = || LabError::Worker { what: "nothing was written before".to_owned() };
            moments.get(at as usize).copied().ok_or_else(none)
        };
        let newest = self.version_on(None, number);
        match operation {
            "commit" => {
                let body = account(number, newest + 1).to_string();
                self.newer.push((number, newest + 1));
                let (took, _) = timed(|| self.store.write(&[(number, body)]))?;
                Ok((took, Answer::Written))
            }
            "newest" => {
                let (took, found) = timed(|| self.store.newest(number))?;
                Ok((took, Answer::Document(account(number, newest), found)))
            }
            "read_as_of" => {
                let then = moment(&self.rounds, round)?;
                let (took, found) = timed(|| self.store.as_of(number, then))?;
                Ok((took, Answer::Document(account(number, round), found)))
            }
            "read_version" => {
                let then = moment(&self.versions, version)?;
                let (took, found) = timed(|| self.store.as_of(LONG, then))?;
                Ok((took, Answer::Document(long(version), found)))
            }
            "neighbours" => {
                let pair = [moment(&self.versions, version)?, moment(&self.versions, version + 1)?];
                let (took, found) = timed(|| pair.iter().map(|then| self.store.as_of(LONG, *then)).collect())?;
                let found: Vec<Option<String>> = found;
                Ok((took, Answer::Pair([long(version), long(version + 1)], found.into_iter().flatten().collect())))
            }
            "list" => timed(|| self.store.list(LONG)).map(|(took, found)| (took, Answer::Moments(found))),
            "member" => timed(|| self.store.member(LONG)).map(|(took, found)| (took, Answer::Balances(found))),
            "query_as_of" => {
                let (name, then) = (state(number, round), moment(&self.rounds, round)?);
                let (took, found) = timed(|| self.store.in_state(&name, then))?;
                Ok((took, Answer::Numbers(name, round, found)))
            }
            _ => Err(LabError::Worker { what: format!("there is no operation {operation}") }),
        }
    }

    fn check(&self, operation: &str, asked: Answer) -> Result<()> {
        let equal = |same: bool, expected: usize, found: usize| {
            if same { Ok(()) } else { Err(wrong(operation, format!("{expected} rows"), format!("{found} rows"))) }
        };
        match asked {
            Answer::Written => Ok(()),
            Answer::Document(expected, found) => {
                same(operation, &expected, &found.ok_or_else(|| wrong(operation, "a document", "none"))?)
            }
            Answer::Pair(expected, found) => {
                equal(found.len() == 2, 2, found.len())?;
                expected.iter().zip(&found).try_for_each(|(expected, found)| same(operation, expected, found))
            }
            Answer::Moments(found) => equal(found == self.versions, self.versions.len(), found.len()),
            Answer::Balances(found) => {
                let expected: Vec<i64> = (0..self.versions.len() as u64).map(|at| balance(LONG, at)).collect();
                equal(found == expected, expected.len(), found.len())
            }
            Answer::Numbers(name, round, found) => {
                let expected = in_state(&name, round, self.accounts);
                equal(found == expected, expected.len(), found.len())
            }
        }
    }
}

pub(super) fn timed<T>(act: impl FnOnce() -> Result<T>) -> Result<(u64, T)> {
    let start = Instant::now();
    let answer = act()?;
    Ok((nanos(start.elapsed()), answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects::OURS;
    use crate::workloads::versions::{ASKED, ASKED_OF_BRANCHES};

    fn filled(dir: &std::path::Path) -> Option<Kept> {
        let mut kept = None;
        let mut ask = |command| Kept::handle(&mut kept, command).unwrap();
        ask(Revisions::Open { subject: OURS.to_owned(), dir: dir.to_owned(), given: Given::default() });
        ask(Revisions::Long { versions: 90 });
        for _ in 0..3 {
            ask(Revisions::Round { accounts: 1_500 });
        }
        kept
    }

    #[test]
    fn every_operation_answers_as_the_model_does_after_writes_too() {
        let dir = tempfile::tempdir().unwrap();
        let mut kept = filled(dir.path());
        for round in 0..2 {
            for (operation, ..) in ASKED {
                let ask = Revisions::Ask { operation: operation.to_owned(), count: 5, seed: round };
                Kept::handle(&mut kept, ask).unwrap_or_else(|error| panic!("{operation}: {error}"));
            }
        }
        assert!(Kept::handle(&mut kept, Revisions::Bytes).unwrap().ops > 10_000);
        for (operation, ..) in ASKED_OF_BRANCHES {
            for branch in 0..3 {
                let ask = Revisions::Branch { operation: operation.to_owned(), branch, count: 1, seed: branch };
                Kept::handle(&mut kept, ask).unwrap_or_else(|error| panic!("{operation}: {error}"));
            }
        }
    }

    #[test]
    fn wrong_answers_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let mut kept = filled(dir.path()).unwrap();
        kept.rounds.swap(0, 1);
        kept.versions.swap(3, 4);
        for operation in ["read_as_of", "query_as_of", "list", "read_version", "neighbours"] {
            let found = kept.ask(operation, 100, 1);
            assert!(matches!(found, Err(LabError::Wrong { .. })), "{operation}");
        }
        kept.on_branch("fork", 0, 1, 1).unwrap();
        kept.on_branch("branch_write", 0, 1, 1).unwrap();
        kept.accounts -= 1;
        kept.newer.push((1_490, 7));
        for operation in ["branch_diff", "branch_merge"] {
            let found = kept.on_branch(operation, 0, 1, 1);
            assert!(matches!(found, Err(LabError::Wrong { .. })), "{operation}");
        }
        kept.versions.pop();
        assert!(matches!(kept.ask("member", 1, 1), Err(LabError::Wrong { .. })));
    }
}
