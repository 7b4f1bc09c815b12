//! The writing transaction of the hasql article, under contention: twenty accounts, every ordered pair of them, money
//! moved from the one to the other by eight clients at once. Money is neither made nor lost, at the end and at every
//! moment in between, on every engine.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use recension::{At, Document, ListOptions, Result, Store, Typed};
use serde::{Deserialize, Serialize};

const ACCOUNTS: i64 = 20;
const CLIENTS: usize = 8;

#[derive(Document, Serialize, Deserialize)]
#[recension(collection = "accounts")]
struct Account {
    #[recension(id)]
    id: i64,
    balance: i64,
}

/// What is moved between two accounts: another amount for each pair, so that a transfer done twice or to the
/// wrong account shows.
fn amount(from: i64, to: i64) -> i64 {
    3 + from * ACCOUNTS + to
}

fn pairs() -> Vec<(i64, i64)> {
    (0..ACCOUNTS).flat_map(|from| (0..ACCOUNTS).map(move |to| (from, to))).filter(|(from, to)| from != to).collect()
}

fn total(accounts: &Typed<Account>, at: At) -> Result<i64> {
    accounts.at(at)?.list(&ListOptions::default())?.map(|account| Ok(account?.balance)).sum()
}

fn transfers_keep_all_money(address: &str) {
    let store = Store::on(recension_engines::open(address).unwrap()).unwrap();
    let accounts = store.typed::<Account>().unwrap();
    assert!(accounts.put_all((0..ACCOUNTS).map(|id| Account { id, balance: 0 })).unwrap().is_empty());
    let start = store.engine().head();
    let (pairs, next, runs) = (pairs(), AtomicUsize::new(0), AtomicUsize::new(0));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(|| {
                    while let Some(&(from, to)) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        store
                            .transaction(|tx| {
                                runs.fetch_add(1, Ordering::Relaxed);
                                let accounts = accounts.within(tx)?;
                                let moved = |id: i64, by: i64| {
                                    accounts.update(&id.to_string(), |account| {
                                        account.balance += by;
                                        Ok(())
                                    })
                                };
                                moved(from, -amount(from, to))?;
                                moved(to, amount(from, to))
                            })
                            .unwrap();
                    }
                })
            })
            .collect();
        let auditor = scope.spawn(|| {
            let mut audits = 0;
            while !done.load(Ordering::Relaxed) {
                assert_eq!(total(&accounts, At::Now).unwrap(), 0);
                audits += 1;
            }
            audits
        });
        for client in clients {
            client.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        assert!(auditor.join().unwrap() > 0);
    });
    for id in 0..ACCOUNTS {
        let others = || (0..ACCOUNTS).filter(|other| *other != id);
        let expected: i64 = others().map(|other| amount(other, id) - amount(id, other)).sum();
        assert_eq!(accounts.get(&id.to_string()).unwrap().unwrap().balance, expected, "account {id}");
    }
    // One commit for each transfer, and all of the money after each of them.
    let head = store.engine().head();
    assert_eq!((head.0 - start.0) as usize, pairs.len());
    assert!(runs.load(Ordering::Relaxed) >= pairs.len());
    for seq in start.0..=head.0 {
        assert_eq!(total(&accounts, At::Seq(recension::engine::Seq(seq))).unwrap(), 0, "after commit {seq}");
    }
}

#[test]
fn in_memory() {
    transfers_keep_all_money("memory:");
}

#[test]
fn on_the_native_engine() {
    let folder = tempfile::tempdir().unwrap();
    transfers_keep_all_money(folder.path().join("store").to_str().unwrap());
}

#[cfg(feature = "sqlite")]
#[test]
fn on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    transfers_keep_all_money(&format!("sqlite:{}", folder.path().join("store.db").display()));
}
