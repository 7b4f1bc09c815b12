//! Accounts and their items: timed calls on a store, with every answer compared with the model when the clock has
//! stopped.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::protocol::Reply;
use super::serve::REST;
use crate::data::Random;
use crate::error::{LabError, Result};
use crate::measure::clock::{come_to_rest, come_to_rest_wholly};
use crate::subjects::Given;
use crate::subjects::calls::Timed;
use crate::subjects::goget::{Account, Accounts, Answer, Call, Status, account, item, open};

/// Accounts of one load, where they are many.
const LOADED_AT_ONCE: usize = 10_000;
/// The longest rest of a store after a large load, before it is closed.
const REST_LOADED: Duration = Duration::from_mins(2);
/// Numbers of accounts that are new in a store of very many.
const NEW_FROM: u64 = 1 << 32;

/// A command to a worker of the suite `goget`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Goget {
    /// Opens a store.
    Open {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
        /// Accounts, numbered from 1, that it is loaded with. Without them it is opened as it is.
        load: Option<u64>,
        /// The servers and programs that the run was given.
        given: Given,
    },
    /// Opens a store whose accounts all depend only on their numbers. No model of them is kept here.
    OpenLean {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
        /// Accounts, numbered from 1, that it is loaded with. Without them it is opened as it is.
        load: Option<u64>,
        /// The servers and programs that the run was given.
        given: Given,
    },
    /// Gets accounts that are drawn, each as it was loaded.
    GetRandom {
        /// From 1 to this.
        of: u64,
        /// By their names.
        by_name: bool,
        /// How many.
        count: u64,
        /// The seed.
        seed: u64,
    },
    /// New accounts, one a call.
    Create {
        /// How many.
        count: u64,
    },
    /// Gets one account, again and again.
    Get {
        /// The account.
        id: u64,
        /// By its name.
        by_name: bool,
        /// How often.
        count: u64,
    },
    /// Lists all accounts, all decoded.
    List,
    /// Adds items to an account, one a call.
    AddItem {
        /// The account.
        id: u64,
        /// How many.
        count: u64,
    },
    /// Changes items of an account, the oldest first.
    ChangeItem {
        /// The account.
        id: u64,
        /// How many.
        count: u64,
    },
    /// Changes passphrases of one account.
    Update {
        /// The account.
        id: u64,
        /// How often.
        count: u64,
    },
    /// Deletes the newest accounts, one a call.
    Delete {
        /// How many.
        count: u64,
    },
    /// Reads everything and compares it with the model.
    Verify,
    /// Closes the store in order.
    Close,
}

/// A store, and what it should hold.
#[derive(Default)]
pub(super) struct Shop {
    accounts: Option<Box<dyn Accounts>>,
    model: BTreeMap<u64, Account>,
    /// The number of the next account.
    next: u64,
    /// Calls that changed something: what is written differs each time.
    writes: u64,
}

impl Shop {
    /// Does one command.
    pub(super) fn handle(shop: &mut Option<Shop>, command: Goget) -> Result<Reply> {
        if let Goget::Open { subject, dir, load, given } = command {
            return Shop::open(shop, &subject, &dir, load, &given);
        }
        let none = || LabError::Worker { what: "no store is open".to_owned() };
        if let Goget::OpenLean { subject, dir, load, given } = command {
            return Shop::open_lean(shop, &subject, &dir, load, &given);
        }
        let shop = shop.as_mut().ok_or_else(none)?;
        if matches!(command, Goget::Close) {
            shop.accounts.take().ok_or_else(none)?.close()?;
            return Ok(Reply::default());
        }
        let Shop { accounts, model, next, writes } = shop;
        let accounts = accounts.as_mut().ok_or_else(none)?;
        match command {
            Goget::Open { .. } | Goget::OpenLean { .. } | Goget::Close => Ok(Reply::default()),
            Goget::GetRandom { of, by_name, count, seed } => {
                let mut random = Random::new(seed);
                let wanted: Vec<Account> = (0..count).map(|_| account(1 + random.below(of.max(1)))).collect();
                let calls: Vec<_> = wanted
                    .iter()
                    .map(|one| if by_name { Call::GetByName(&one.name) } else { Call::Get(one.id) })
                    .collect();
                let timed = accounts.run(&calls)?;
                let reply = reply(&timed);
                for (expected, answer) in wanted.iter().zip(&timed.answers) {
                    same(expected, if let Answer::One(found) = answer { found.as_ref() } else { None })?;
                }
                Ok(reply)
            }
            Goget::Create { count } => {
                let made: Vec<Account> = (*next..*next + count).map(account).collect();
                *next += count;
                let timed = accounts.run(&made.iter().map(Call::Create).collect::<Vec<_>>())?;
                let reply = reply(&timed);
                model.extend(made.into_iter().map(|one| (one.id, one)));
                Ok(reply)
            }
            Goget::Get { id, by_name, count } => {
                let expected = model.get(&id).ok_or_else(|| absent(id))?;
                let call = if by_name { Call::GetByName(&expected.name) } else { Call::Get(id) };
                let timed = accounts.run(&vec![call; count as usize])?;
                let reply = reply(&timed);
                for answer in &timed.answers {
                    let found = if let Answer::One(found) = answer { found.as_ref() } else { None };
                    same(expected, found)?;
                }
                Ok(reply)
            }
            Goget::List => {
                let mut timed = accounts.run(&[Call::List])?;
                let reply = reply(&timed);
                let found = if let Some(Answer::All(found)) = timed.answers.pop() { found } else { Vec::new() };
                same_all(model, found).map(|()| reply)
            }
            Goget::AddItem { id, count } => {
                let made: Vec<_> = (*writes..*writes + count).map(|nth| item(nth, Status::Need)).collect();
                *writes += count;
                let timed = accounts.run(&made.iter().map(|one| Call::AddItem(id, one)).collect::<Vec<_>>())?;
                model.get_mut(&id).ok_or_else(|| absent(id))?.items.extend(made);
                Ok(reply(&timed))
            }
            Goget::ChangeItem { id, count } => {
                let expected = model.get_mut(&id).ok_or_else(|| absent(id))?;
                let places = expected.items.len().max(1);
                let made: Vec<_> =
                    (0..count).map(|nth| (nth as usize % places, item(*writes + nth, Status::Got))).collect();
                *writes += count;
                let calls: Vec<_> = made.iter().map(|(place, one)| Call::ChangeItem(id, *place, one)).collect();
                let timed = accounts.run(&calls)?;
                for (place, one) in made {
                    if let Some(old) = expected.items.get_mut(place) {
                        *old = one;
                    }
                }
                Ok(reply(&timed))
            }
            Goget::Update { id, count } => {
                let made: Vec<String> = (*writes..*writes + count).map(|nth| account(nth).passphrase).collect();
                *writes += count;
                let timed = accounts.run(&made.iter().map(|one| Call::Update(id, one)).collect::<Vec<_>>())?;
                if let (Some(account), Some(last)) = (model.get_mut(&id), made.into_iter().last()) {
                    account.passphrase = last;
                }
                Ok(reply(&timed))
            }
            Goget::Delete { count } => {
                let newest: Vec<u64> = model.keys().rev().take(count as usize).copied().collect();
                let timed = accounts.run(&newest.iter().map(|id| Call::Delete(*id)).collect::<Vec<_>>())?;
                for id in newest {
                    model.remove(&id);
                    same_absence(id, accounts.get(id)?)?;
                }
                Ok(reply(&timed))
            }
            Goget::Verify => same_all(model, accounts.list()?).map(|()| Reply::default()),
        }
    }

    fn open_lean(
        shop: &mut Option<Shop>,
        subject: &str,
        dir: &std::path::Path,
        load: Option<u64>,
        given: &Given,
    ) -> Result<Reply> {
        let mut accounts = open(subject, dir, given)?;
        let count = load.unwrap_or_default();
        for first in (1..=count).step_by(LOADED_AT_ONCE) {
            let end = (first + LOADED_AT_ONCE as u64).min(count + 1);
            accounts.load(&(first..end).map(account).collect::<Vec<_>>())?;
        }
        if count > 0 {
            // The later reads should measure a store at rest, rather than how far it was when the load ended.
            come_to_rest_wholly(REST_LOADED);
        }
        // Numbers of new ones: never those that were loaded, nor those of an earlier process.
        let next = NEW_FROM + u64::from(std::process::id()) * NEW_FROM;
        let settings = Some(accounts.settings());
        *shop = Some(Shop { accounts: Some(accounts), next, ..Shop::default() });
        Ok(Reply { settings, ..Reply::default() })
    }

    fn open(
        shop: &mut Option<Shop>,
        subject: &str,
        dir: &std::path::Path,
        load: Option<u64>,
        given: &Given,
    ) -> Result<Reply> {
        let mut accounts = open(subject, dir, given)?;
        let settings = Some(accounts.settings());
        let shop = shop.get_or_insert_default();
        if let Some(count) = load {
            let all: Vec<Account> = (1..=count).map(account).collect();
            if !all.is_empty() {
                accounts.load(&all)?;
            }
            (shop.model, shop.next) = (all.into_iter().map(|one| (one.id, one)).collect(), count + 1);
        }
        shop.accounts = Some(accounts);
        Ok(Reply { settings, ..Reply::default() })
    }
}

/// The times of calls, after the subject's background threads have come to rest.
pub(super) fn reply<A>(timed: &Timed<A>) -> Reply {
    come_to_rest(REST.min(Duration::from_millis(50)));
    let (latencies_ns, note) = (timed.latencies_ns.clone(), timed.note.clone());
    Reply { ops: latencies_ns.len() as u64, wall_ns: timed.wall_ns, latencies_ns, note, ..Reply::default() }
}

fn absent(id: u64) -> LabError {
    LabError::Worker { what: format!("the model has no account {id}") }
}

fn wrong(what: String, expected: impl std::fmt::Debug, found: impl std::fmt::Debug) -> LabError {
    LabError::Wrong { what, expected: format!("{expected:?}"), found: format!("{found:?}") }
}

fn same(expected: &Account, found: Option<&Account>) -> Result<()> {
    let right = found == Some(expected);
    if right { Ok(()) } else { Err(wrong(format!("account {}", expected.id), expected, found)) }
}

fn same_absence(id: u64, found: Option<Account>) -> Result<()> {
    if found.is_none() { Ok(()) } else { Err(wrong(format!("account {id}, deleted"), "none", found)) }
}

fn same_all(model: &BTreeMap<u64, Account>, mut found: Vec<Account>) -> Result<()> {
    found.sort_unstable_by_key(|account| account.id);
    if found.len() != model.len() {
        return Err(wrong("the list of all accounts".to_owned(), model.len(), found.len()));
    }
    model.values().zip(&found).try_for_each(|(expected, found)| same(expected, Some(found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(shop: &mut Option<Shop>, command: Goget) -> Result<Reply> {
        Shop::handle(shop, command)
    }

    fn opened(dir: &std::path::Path) -> Option<Shop> {
        let mut shop = None;
        let open = Goget::Open {
            subject: "recension".to_owned(),
            dir: dir.to_owned(),
            load: Some(20),
            given: Given::default(),
        };
        ask(&mut shop, open).unwrap();
        shop
    }

    /// Every operation, and then `end`.
    fn do_all<const N: usize>(shop: &mut Option<Shop>, end: [Goget; N]) {
        let operations = [
            Goget::Create { count: 5 },
            Goget::AddItem { id: 7, count: 3 },
            Goget::ChangeItem { id: 7, count: 4 },
            Goget::Update { id: 8, count: 2 },
            Goget::Get { id: 7, by_name: false, count: 3 },
            Goget::Get { id: 8, by_name: true, count: 3 },
            Goget::Delete { count: 2 },
            Goget::List,
        ];
        for command in operations.into_iter().chain(end) {
            let said = format!("{command:?}");
            ask(shop, command).unwrap_or_else(|error| panic!("{said}: {error}"));
        }
    }

    #[test]
    fn accounts_are_as_the_model_says_after_every_operation_and_after_reopening() {
        let dir = tempfile::tempdir().unwrap();
        let mut shop = opened(dir.path());
        let end = [
            Goget::Close,
            Goget::Open {
                subject: "recension".to_owned(),
                dir: dir.path().to_owned(),
                load: None,
                given: Given::default(),
            },
            Goget::Verify,
        ];
        do_all(&mut shop, end);
        let model = &shop.as_ref().unwrap().model;
        assert_eq!((model.len(), model[&7].items.len()), (23, 3));
        assert_eq!(model[&7].items[0].status, Status::Got);
    }

    /// No registry has `MongoDB`: its driver's calls are tried on a stand-in, which has to be installed.
    #[test]
    fn the_program_of_mongodb_does_what_the_model_says_on_a_stand_in() {
        let given = Given { mongodb_url: Some("mongomock:".to_owned()), ..Given::default() };
        let python = crate::given::PYTHON;
        let stand_in = std::process::Command::new(python).args(["-c", "import pymongo, mongomock"]).output();
        assert!(
            stand_in.is_ok_and(|said| said.status.success()),
            "{python} has no pymongo or no mongomock, on which the program of MongoDB is tried: `apt-get install \
             python3-pymongo python3-mongomock`; `make test` installs them where it may"
        );
        let dir = tempfile::tempdir().unwrap();
        let mut shop = None;
        let (subject, dir) = ("mongodb".to_owned(), dir.path().to_owned());
        ask(&mut shop, Goget::Open { subject, dir, load: Some(20), given }).unwrap();
        do_all(&mut shop, [Goget::Verify, Goget::Close]);
    }

    #[test]
    fn accounts_of_a_corpus_that_is_not_kept_here_are_compared_with_what_their_numbers_say() {
        let dir = tempfile::tempdir().unwrap();
        let mut shop = None;
        let (subject, given) = ("recension".to_owned(), Given::default());
        let open = Goget::OpenLean { subject, dir: dir.path().to_owned(), load: Some(30), given };
        ask(&mut shop, open).unwrap();
        let get = |of, by_name| Goget::GetRandom { of, by_name, count: 50, seed: 1 };
        for by_name in [false, true] {
            assert_eq!(ask(&mut shop, get(30, by_name)).unwrap().ops, 50);
            // Some of a hundred were never stored.
            assert!(matches!(ask(&mut shop, get(100, by_name)), Err(LabError::Wrong { .. })));
        }
        ask(&mut shop, Goget::Create { count: 2 }).unwrap();
    }

    #[test]
    fn every_wrong_answer_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let mut shop = opened(dir.path());
        for (what, spoil, command) in [
            ("an item lost", 7_u64, Goget::Get { id: 7, by_name: false, count: 1 }),
            ("an item lost, by name", 8, Goget::Get { id: 8, by_name: true, count: 1 }),
            ("an item lost, in the list", 9, Goget::List),
        ] {
            // The model knows of an item that the store was never given.
            shop.as_mut().unwrap().model.get_mut(&spoil).unwrap().items.push(item(1, Status::Need));
            let error = ask(&mut shop, command).unwrap_err();
            assert!(matches!(error, LabError::Wrong { .. }), "{what}: {error}");
            shop.as_mut().unwrap().model.get_mut(&spoil).unwrap().items.clear();
        }
        ask(&mut shop, Goget::Verify).unwrap();
        shop.as_mut().unwrap().model.remove(&3);
        assert!(ask(&mut shop, Goget::Verify).unwrap_err().to_string().contains("expected 19, found 20"));
    }
}
