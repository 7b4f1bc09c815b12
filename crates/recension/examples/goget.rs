//! A shopping list: accounts with their items, kept as whole documents. Four operations: a new account, all accounts,
//! one more item, one account.
//! Run it: `cargo run --release --example goget [ACCOUNTS] [FOLDER]`, without a folder in memory.

use std::time::{Duration, Instant};

use recension::{Document, ListOptions, Query, Result, Store, Typed, ValueRange};
use serde::{Deserialize, Serialize};

#[derive(Document, Serialize, Deserialize, Clone, PartialEq, Debug)]
#[recension(collection = "accounts")]
struct Account {
    #[recension(id)]
    id: u32,
    #[recension(unique)]
    name: String,
    passphrase: String,
    items: Vec<Item>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Item {
    name: String,
    comment: String,
    status: Status,
    count: u32,
}

#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
enum Status {
    Need,
    Got,
}

fn account(id: u32) -> Account {
    // 80 characters that look random and are the same in every run.
    let mut state = id.wrapping_add(1);
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + (state >> 16) as u8 % 26)
    };
    let name: String = (0..80).map(|_| letter()).collect();
    Account { id, name: format!("{id}{name}"), passphrase: (0..64).map(|_| letter()).collect(), items: Vec::new() }
}

fn timed<T>(what: &str, times: u32, mut operation: impl FnMut(u32) -> Result<T>) -> Result<()> {
    let start = Instant::now();
    for turn in 0..times {
        operation(turn)?;
    }
    let each: Duration = start.elapsed() / times;
    println!("{what:<24} {each:>12.2?} each, of {times}");
    Ok(())
}

fn run(store: &Store, accounts_max: u32) -> Result<Typed<Account>> {
    let accounts = store.typed::<Account>()?;
    let failures = accounts.put_all((0..accounts_max).map(account))?;
    assert!(failures.is_empty(), "{failures:?}");

    timed("new account", 20, |turn| accounts.create(&account(accounts_max + turn)))?;
    let all = u64::from(accounts_max) + 20;
    timed("list accounts, decoded", 5, |_| {
        let listed = accounts.list(&ListOptions::default())?.collect::<Result<Vec<_>>>()?;
        assert_eq!(listed.len() as u64, all);
        Ok(listed)
    })?;
    let chosen = (accounts_max / 2).to_string();
    timed("add an item", 20, |turn| {
        let item =
            Item { name: format!("item {turn}"), comment: "fresh".to_owned(), status: Status::Need, count: turn };
        accounts.update(&chosen, |account| {
            account.items.push(item.clone());
            Ok(())
        })
    })?;
    timed("get by id, decoded", 10_000, |turn| {
        let id = turn.wrapping_mul(7919) % accounts_max;
        let found = accounts.get(&id.to_string())?;
        assert_eq!(found.as_ref().map(|account| account.id), Some(id));
        Ok(found)
    })?;
    timed("get by name, decoded", 1_000, |turn| {
        let wanted = account(turn % accounts_max);
        let query = Query::new().matching("name", ValueRange::equal(wanted.name.as_str()));
        let found = accounts.find(&query)?.collect::<Result<Vec<_>>>()?;
        assert_eq!(found.first().map(|account| account.id), Some(wanted.id));
        Ok(found)
    })?;
    let changed = accounts.update(&chosen, |account| {
        if let Some(first) = account.items.first_mut() {
            first.status = Status::Got;
        }
        Ok(())
    })?;
    assert_eq!((changed.items.len(), changed.items[0].status), (20, Status::Got));
    assert_eq!(accounts.get(&chosen)?, Some(changed));
    Ok(accounts)
}

pub(crate) fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    // In a test, the arguments are those of the test.
    let accounts = arguments.next().and_then(|accounts| accounts.parse().ok()).unwrap_or(200_u32).max(1);
    let store = recension::open(arguments.next().as_deref().filter(|_| !cfg!(test)).unwrap_or("memory:"))?;
    let accounts = run(&store, accounts)?;
    println!("{} accounts", accounts.count()?);
    Ok(())
}
