//! The three workloads of the article on `hasql`. They are timed, and every answer is compared with the model when the
//! clock has stopped.

use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::goget::reply;
use super::protocol::Reply;
use crate::data::Random;
use crate::error::{LabError, Result};
use crate::measure::clock::nanos;
use crate::subjects::Given;
use crate::subjects::hasql::{ACCOUNTS, AMOUNT, Answer, Call, Client, Database, Day, Moved, Person, Set, open, person};

/// How often one transfer is tried before it counts as a failure.
const TRIES_MAX: u64 = 10_000;

/// A command to a worker of the suite `hasql`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Hasql {
    /// Opens a database.
    Open {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
        /// People in the smaller and the larger table. Without them it is opened as it is.
        load: Option<(i32, i32)>,
        /// The servers and programs that the run was given.
        given: Given,
    },
    /// Reads a whole table, again and again.
    All {
        /// The table.
        set: Set,
        /// How often.
        count: u64,
    },
    /// Asks the empty table, again and again, with parameters.
    Between {
        /// How often.
        count: u64,
    },
    /// Moves money between pairs of accounts.
    Transfers {
        /// Clients that share the pairs.
        clients: u64,
        /// How many pairs.
        pairs: u64,
        /// The seed of their order.
        seed: u64,
    },
    /// Reads everything and compares it with the model.
    Verify,
    /// Closes the database in order.
    Close,
}

/// A database, a client of it, and what it should hold.
#[derive(Default)]
pub(super) struct Bank {
    client: Option<Box<dyn Client>>,
    database: Option<Box<dyn Database>>,
    sizes: (i32, i32),
    balances: Vec<i64>,
}

fn none() -> LabError {
    LabError::Worker { what: "no database is open".to_owned() }
}

fn wrong(what: &str, expected: impl std::fmt::Debug, found: impl std::fmt::Debug) -> LabError {
    LabError::Wrong { what: what.to_owned(), expected: format!("{expected:?}"), found: format!("{found:?}") }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, found: T) -> Result<()> {
    if expected == found { Ok(()) } else { Err(wrong(what, expected, found)) }
}

/// So many of the ordered pairs of accounts, in an order that is drawn; all of them come before any comes again.
fn pairs(count: u64, seed: u64) -> Vec<(i32, i32)> {
    let mut all: Vec<(i32, i32)> = (1..=ACCOUNTS)
        .flat_map(|from| (1..=ACCOUNTS).filter(move |to| *to != from).map(move |to| (from, to)))
        .collect();
    Random::new(seed).shuffle(&mut all);
    all.into_iter().cycle().take(count as usize).collect()
}

impl Bank {
    /// Does one command.
    pub(super) fn handle(bank: &mut Option<Bank>, command: Hasql) -> Result<Reply> {
        if let Hasql::Open { subject, dir, load, given } = command {
            let mut database = open(&subject, &dir, &given)?;
            let bank = bank.get_or_insert_default();
            if let Some((few, many)) = load {
                for (set, count) in [(Set::Few, few), (Set::Many, many)] {
                    database.load(set, &(1..=count).map(person).collect::<Vec<_>>())?;
                }
                database.load_accounts(ACCOUNTS)?;
                bank.sizes = (few, many);
                bank.balances = vec![0; ACCOUNTS as usize];
            }
            bank.client = Some(database.client()?);
            let settings = Some(database.settings());
            bank.database = Some(database);
            return Ok(Reply { settings, ..Reply::default() });
        }
        let bank = bank.as_mut().ok_or_else(none)?;
        match command {
            Hasql::Open { .. } => Ok(Reply::default()),
            Hasql::All { set, count } => bank.all(set, count),
            Hasql::Between { count } => bank.between(count),
            Hasql::Transfers { clients: 1, pairs: count, seed } => bank.transfers(&pairs(count, seed)),
            Hasql::Transfers { clients, pairs: count, seed } => bank.transfers_at_once(clients, &pairs(count, seed)),
            Hasql::Verify => {
                bank.all(Set::Few, 1)?;
                bank.all(Set::Many, 1)?;
                bank.between(1)?;
                let found = bank.client()?.balances()?;
                same("the balances", &bank.balances, &found).map(|()| Reply::default())
            }
            Hasql::Close => {
                bank.client = None;
                bank.database.take().ok_or_else(none)?.close().map(|()| Reply::default())
            }
        }
    }

    fn client(&mut self) -> Result<&mut Box<dyn Client>> {
        self.client.as_mut().ok_or_else(none)
    }

    fn all(&mut self, set: Set, count: u64) -> Result<Reply> {
        let of = match set {
            Set::Few => self.sizes.0,
            Set::Many => self.sizes.1,
            Set::None => 0,
        };
        let timed = self.client()?.run(&vec![Call::All(set); count as usize])?;
        let reply = reply(&timed);
        let expected: Vec<Person> = (1..=of).map(person).collect();
        for answer in timed.answers {
            let mut one = if let Answer::People(found) = answer { found } else { Vec::new() };
            one.sort_unstable_by_key(|person| person.id);
            if one.len() != expected.len() {
                return Err(wrong("the number of people", expected.len(), one.len()));
            }
            expected.iter().zip(&one).try_for_each(|(expected, found)| same("a person", expected, found))?;
        }
        Ok(reply)
    }

    /// The article's parameters: nothing is between 1000 and 0.
    fn between(&mut self, count: u64) -> Result<Reply> {
        let call = Call::Between { above: 1000, below: 0, not: Day(16_369), count };
        let timed = self.client()?.run(&[call])?;
        same("rows of an empty table", vec![Answer::Rows(0)], timed.answers)?;
        Ok(Reply { ops: count, wall_ns: timed.wall_ns, ..Reply::default() })
    }

    fn transfers(&mut self, pairs: &[(i32, i32)]) -> Result<Reply> {
        let client = self.client.as_mut().ok_or_else(none)?;
        let timed = client.run(&pairs.iter().map(|(from, to)| Call::Transfer(*from, *to)).collect::<Vec<_>>())?;
        let reply = reply(&timed);
        for ((from, to), moved) in pairs.iter().zip(timed.answers) {
            let expected = Moved::From(self.balance(*from)?, self.balance(*to)?);
            same("the balances that a transfer has read", Answer::Moved(expected), moved)?;
            self.book(*from, *to);
        }
        Ok(reply)
    }

    /// Clients that share the pairs, each with its own connection. After a conflict, a client tries again.
    fn transfers_at_once(&mut self, clients: u64, pairs: &[(i32, i32)]) -> Result<Reply> {
        let database = self.database.as_ref().ok_or_else(none)?;
        let connected = (0..clients).map(|_| database.client()).collect::<Result<Vec<_>>>()?;
        let start = Instant::now();
        let tries: u64 = std::thread::scope(|scope| {
            let running: Vec<_> = connected
                .into_iter()
                .enumerate()
                .map(|(at, mut client)| {
                    let own = pairs.iter().skip(at).step_by(clients as usize);
                    scope.spawn(move || own.map(|pair| until_moved(client.as_mut(), *pair)).sum::<Result<u64>>())
                })
                .collect();
            let join = |one: std::thread::ScopedJoinHandle<'_, Result<u64>>| {
                one.join().unwrap_or_else(|_| Err(LabError::Worker { what: "a client panicked".to_owned() }))
            };
            running.into_iter().map(join).sum::<Result<u64>>()
        })?;
        let wall_ns = nanos(start.elapsed());
        for (from, to) in pairs {
            self.book(*from, *to);
        }
        let found = self.client()?.balances()?;
        same("the balances", &self.balances, &found)?;
        Ok(Reply { ops: pairs.len() as u64, wall_ns, number: Some(tries - pairs.len() as u64), ..Reply::default() })
    }

    fn balance(&self, account: i32) -> Result<i64> {
        let found = usize::try_from(account - 1).ok().and_then(|at| self.balances.get(at));
        found.copied().ok_or_else(|| LabError::Worker { what: format!("the model has no account {account}") })
    }

    fn book(&mut self, from: i32, to: i32) {
        for (account, change) in [(from, -AMOUNT), (to, AMOUNT)] {
            if let Some(balance) = usize::try_from(account - 1).ok().and_then(|at| self.balances.get_mut(at)) {
                *balance += change;
            }
        }
    }
}

/// Moves money, however often that has to be tried; returns how often it was.
fn until_moved(client: &mut dyn Client, (from, to): (i32, i32)) -> Result<u64> {
    for tries in 1..=TRIES_MAX {
        if client.transfer(from, to)? != Moved::Conflict {
            return Ok(tries);
        }
    }
    Err(LabError::Subject { what: "a transfer".to_owned(), why: format!("refused {TRIES_MAX} times") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(dir: &std::path::Path) -> Option<Bank> {
        let mut bank = None;
        let open = Hasql::Open {
            subject: "recension".to_owned(),
            dir: dir.to_owned(),
            load: Some((10, 30)),
            given: Given::default(),
        };
        Bank::handle(&mut bank, open).unwrap();
        bank
    }

    #[test]
    fn every_pair_comes_once_before_any_comes_again() {
        let all = pairs(380, 1);
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), 380);
        assert_ne!(all, pairs(380, 2));
        assert_eq!(pairs(400, 1)[380..], all[..20]);
    }

    #[test]
    fn the_work_is_done_and_balances_are_as_the_model_says_after_reopening() {
        let dir = tempfile::tempdir().unwrap();
        let mut bank = opened(dir.path());
        for command in [
            Hasql::All { set: Set::Few, count: 2 },
            Hasql::Between { count: 3 },
            Hasql::Transfers { clients: 1, pairs: 50, seed: 1 },
            Hasql::Transfers { clients: 4, pairs: 50, seed: 2 },
            Hasql::Close,
            Hasql::Open {
                subject: "recension".to_owned(),
                dir: dir.path().to_owned(),
                load: None,
                given: Given::default(),
            },
            Hasql::Verify,
        ] {
            let said = format!("{command:?}");
            Bank::handle(&mut bank, command).unwrap_or_else(|error| panic!("{said}: {error}"));
        }
        let balances = &bank.unwrap().balances;
        assert!(balances.iter().any(|balance| *balance != 0) && balances.iter().sum::<i64>() == 0, "{balances:?}");
    }

    #[test]
    fn every_wrong_answer_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let mut bank = opened(dir.path());
        let spoilt = |bank: &mut Option<Bank>, command: Hasql, part: &str| {
            let error = Bank::handle(bank, command).unwrap_err();
            assert!(matches!(&error, LabError::Wrong { what, .. } if what.contains(part)), "{error}");
        };
        bank.as_mut().unwrap().balances[4] += 3; // money that came from nowhere
        spoilt(&mut bank, Hasql::Verify, "the balances");
        spoilt(&mut bank, Hasql::Transfers { clients: 1, pairs: 380, seed: 1 }, "a transfer has read");
        let mut bank = opened(tempfile::tempdir().unwrap().path());
        bank.as_mut().unwrap().sizes.0 += 1;
        spoilt(&mut bank, Hasql::All { set: Set::Few, count: 1 }, "the number of people");
    }
}
