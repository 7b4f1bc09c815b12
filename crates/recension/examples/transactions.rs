//! Transactions: money that is moved between accounts by many threads at once, and never made or lost.
//! Run it: `cargo run --release --example transactions`

use recension::{Document, Error, ListOptions, Result, Store, Typed};
use serde::{Deserialize, Serialize};

#[derive(Document, Serialize, Deserialize)]
#[recension(collection = "accounts")]
struct Account {
    #[recension(id)]
    owner: String,
    balance: i64,
}

/// Moves money. It runs again where others have changed one of the two accounts meanwhile.
fn transfer(store: &Store, accounts: &Typed<Account>, from: &str, to: &str, amount: i64) -> Result<()> {
    store.transaction(|tx| {
        let accounts = accounts.within(tx)?;
        accounts.update(from, |account| {
            account.balance -= amount;
            // An error ends the transaction, and nothing of it is written.
            if account.balance < 0 { Err(Error::abort(format!("{from} has not got {amount}"))) } else { Ok(()) }
        })?;
        accounts.update(to, |account| {
            account.balance += amount;
            Ok(())
        })?;
        Ok(())
    })
}

pub(crate) fn main() -> Result<()> {
    let store = recension::open("memory:")?;
    let accounts = store.typed::<Account>()?;
    let owners = ["ada", "bob", "cyd", "dan"];
    accounts.put_all(owners.map(|owner| Account { owner: owner.to_owned(), balance: 100 }))?;

    let refused = transfer(&store, &accounts, "ada", "bob", 101).unwrap_err();
    println!("{refused}");
    assert_eq!(accounts.get("bob")?.map(|bob| bob.balance), Some(100));

    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (store, accounts) = (&store, &accounts);
            scope.spawn(move || {
                for turn in 0..50 {
                    let (from, to) = (owners[(thread + turn) % 4], owners[(thread + turn * 3 + 1) % 4]);
                    match transfer(store, accounts, from, to, 7) {
                        Ok(()) | Err(Error::Aborted { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    let mut sum = 0;
    for account in accounts.list(&ListOptions::default())? {
        let account = account?;
        println!("{} has {}", account.owner, account.balance);
        assert!(account.balance >= 0);
        sum += account.balance;
    }
    println!("together {sum}, after {} commits", store.engine().head());
    assert_eq!(sum, 400);
    Ok(())
}
