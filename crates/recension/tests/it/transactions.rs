//! Transactions: what they read and write, and that no order of running them side by side shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use recension::disk::FsDisk;
use recension::engine::{Direction, Durability, NativeEngine, NativeOptions, Seq};
use recension::{At, Error, IndexSpec, ListOptions, Query, Store, Transaction, ValueRange};

fn stores() -> Vec<(Store, Option<tempfile::TempDir>)> {
    let folder = tempfile::tempdir().unwrap();
    let options = NativeOptions { durability: Durability::Process, ..NativeOptions::default() };
    let native = NativeEngine::open(Arc::new(FsDisk::new(folder.path())), options).unwrap();
    vec![(Store::memory().unwrap(), None), (Store::on(Arc::new(native)).unwrap(), Some(folder))]
}

#[test]
fn a_transaction_reads_its_own_writes_in_every_kind_of_read() {
    for (store, _folder) in stores() {
        let menu = store.collection("menu").unwrap();
        menu.create_index(IndexSpec::new("n", "n"), |_| {}).unwrap();
        menu.put("a", r#"{"n":1}"#).unwrap();
        menu.put("c", r#"{"n":3}"#).unwrap();
        store
            .transaction(|tx| {
                let menu = tx.collection("menu")?;
                menu.put("b", r#"{"n":2}"#)?;
                menu.put("a", r#"{"n":9}"#)?;
                let c = menu.get("c")?.expect("c is there");
                menu.delete("c", &c.rev)?;
                let b = menu.get("b")?.expect("its own write");
                assert_eq!((&*b.body, b.seq), (r#"{"n":2}"#, Seq(u64::MAX)));
                assert_eq!(menu.get("c")?, None);
                let list = |direction| -> Vec<String> {
                    let options = ListOptions { direction, ..ListOptions::default() };
                    menu.list(&options).unwrap().map(|d| d.unwrap().id.into_owned()).collect()
                };
                assert_eq!(list(Direction::Forward), ["a", "b"]);
                assert_eq!(list(Direction::Backward), ["b", "a"]);
                let query = Query::new().matching("n", ValueRange::at_least(2));
                let found: Vec<_> = menu.find(&query)?.map(|d| d.unwrap().id.into_owned()).collect();
                assert_eq!(found, ["b", "a"], "in the order of the index");
                assert_eq!(menu.count()?, 2);
                assert_eq!(menu.reader()?.history("a")?.count(), 2);
                // A second write of one document builds on the first.
                let again = menu.replace("b", &b.rev, r#"{"n":5}"#)?;
                assert_eq!(again.rev.generation(), 2);
                Ok(())
            })
            .unwrap();
        assert_eq!(menu.count().unwrap(), 2);
        assert_eq!(menu.get("b").unwrap().unwrap().body, r#"{"n":5}"#);
        let changes: Vec<_> = menu.changes(Seq::ZERO).unwrap().map(|change| change.unwrap()).collect();
        let seqs: Vec<_> = changes.iter().map(|change| (change.id.as_str(), change.seq)).collect();
        let head = store.engine().head();
        assert_eq!(seqs, [("a", head), ("b", head), ("c", head)]);
    }
}

#[test]
fn an_error_ends_a_transaction_and_nothing_is_written() {
    for (store, _folder) in stores() {
        store.collection("menu").unwrap().put("a", r#"{"n":1}"#).unwrap();
        let head = store.engine().head();
        let ended = store.transaction(|tx| {
            tx.collection("menu")?.put("b", "{}")?;
            tx.collection("new")?.put("b", "{}")?;
            Err::<(), _>(Error::abort("enough"))
        });
        assert_eq!(ended.unwrap_err().to_string().split(": ").last(), Some("enough"));
        assert_eq!((store.engine().head(), store.collections(At::default()).unwrap().len()), (head, 1));
        // A refused write leaves the transaction as it was.
        store
            .transaction(|tx| {
                let menu = tx.collection("menu")?;
                assert!(menu.create(Some("a"), "{}").is_err());
                assert!(tx.collection("never")?.delete("a", &menu.get("a")?.unwrap().rev).is_err());
                menu.put("c", "{}").map(|_| ())
            })
            .unwrap();
        assert_eq!(store.collections(At::default()).unwrap().len(), 1);
        assert_eq!(store.collection("menu").unwrap().count().unwrap(), 2);
    }
}

#[test]
fn several_transactions_are_committed_together_and_each_by_itself() {
    for (store, _folder) in stores() {
        let menu = store.collection("menu").unwrap();
        menu.put("a", r#"{"n":0}"#).unwrap();
        let head = store.engine().head();
        let number = |document: Option<recension::Document<'_>>| {
            document.map_or(0, |document| {
                document.body.bytes().filter(u8::is_ascii_digit).fold(0, |n, b| n * 10 + u64::from(b - b'0'))
            })
        };
        let runs: Vec<AtomicU32> = (0..5).map(|_| AtomicU32::new(0)).collect();
        let mut bodies: Vec<_> = ["a", "b", "a", "refused", "reads"]
            .into_iter()
            .zip(&runs)
            .map(|(id, runs)| {
                move |tx: &Transaction| {
                    runs.fetch_add(1, Ordering::Relaxed);
                    let menu = tx.collection("menu")?;
                    match id {
                        "refused" => {
                            menu.put("c", "{}")?;
                            Err(Error::abort("enough"))
                        }
                        "reads" => Ok(number(menu.get("a")?)),
                        id => {
                            let n = number(menu.get(id)?) + 1;
                            menu.put(id, format!(r#"{{"n":{n}}}"#)).map(|_| n)
                        }
                    }
                }
            })
            .collect();
        let answers = store.transactions(Some(Durability::Disk), &mut bodies);
        let answers: Vec<_> =
            answers.into_iter().map(|answer| answer.ok().map(|(n, commit)| (n, commit.seq))).collect();
        let [first, second, third] = [1, 2, 3].map(|n| Seq(head.0 + n));
        // What read as the first one wrote ran again after all of them: nothing is lost, and each is a commit.
        assert_eq!(answers, [Some((1, first)), Some((1, second)), Some((2, third)), None, Some((0, head))]);
        assert_eq!(runs.iter().map(|runs| runs.load(Ordering::Relaxed)).collect::<Vec<_>>(), [1, 1, 2, 1, 1]);
        assert_eq!(number(menu.get("a").unwrap()), 2);
        assert_eq!((menu.get("c").unwrap(), store.engine().head()), (None, third));
    }
}

#[test]
fn several_collections_come_into_being_in_one_transaction() {
    for (store, _folder) in stores() {
        store
            .transaction(|tx| {
                for name in ["x", "y", "z"] {
                    tx.collection(name)?.put("a", "{}")?;
                    tx.collection(name)?.put("b", "{}")?;
                }
                Ok(())
            })
            .unwrap();
        let names: Vec<_> = store.collections(At::default()).unwrap().into_iter().map(|c| c.name).collect();
        assert_eq!(names, ["x", "y", "z"]);
        for name in names {
            let ids: Vec<_> = store.collection(&name).unwrap().list(&ListOptions::default()).unwrap().collect();
            assert_eq!(ids.len(), 2, "{name} has its own trees");
        }
    }
}

#[test]
fn a_value_of_a_unique_index_moves_between_documents_in_one_transaction() {
    for (store, _folder) in stores() {
        let users = store.collection("users").unwrap();
        users.create_index(IndexSpec::unique("mail", "mail"), |_| {}).unwrap();
        users.put("a", r#"{"mail":"x"}"#).unwrap();
        let taken = store.transaction(|tx| tx.collection("users")?.put("b", r#"{"mail":"x"}"#));
        assert!(matches!(taken, Err(Error::NotUnique { .. })), "{taken:?}");
        store
            .transaction(|tx| {
                let users = tx.collection("users")?;
                users.put("a", r#"{"mail":"y"}"#)?;
                users.put("b", r#"{"mail":"x"}"#)?;
                assert!(matches!(users.put("c", r#"{"mail":"y"}"#), Err(Error::NotUnique { .. })));
                Ok(())
            })
            .unwrap();
        assert_eq!(users.count().unwrap(), 2);
    }
}

/// Each transaction reads two documents and writes one. Where both read before either writes, one of them must run
/// again: otherwise both documents say 1 (write skew).
#[test]
fn write_skew_does_not_happen() {
    for (store, _folder) in stores() {
        for round in 0..50 {
            let on_call = store.collection(&format!("on-call-{round}")).unwrap();
            on_call.put("ada", r#"{"on":true}"#).unwrap();
            on_call.put("bob", r#"{"on":true}"#).unwrap();
            let runs = AtomicU32::new(0);
            thread::scope(|scope| {
                for who in ["ada", "bob"] {
                    let (store, runs, name) = (&store, &runs, on_call.name());
                    scope.spawn(move || {
                        store
                            .transaction(|tx| {
                                runs.fetch_add(1, Ordering::Relaxed);
                                let on_call = tx.collection(name)?;
                                let query = Query::new().matching("on", ValueRange::equal(true));
                                if on_call.find(&query)?.count() > 1 {
                                    on_call.put(who, r#"{"on":false}"#)?;
                                }
                                Ok(())
                            })
                            .unwrap();
                    });
                }
            });
            let on = Query::new().matching("on", ValueRange::equal(true));
            assert_eq!(on_call.find(&on).unwrap().count(), 1, "round {round}");
        }
    }
}

/// The transfers of the hasql article: money moves between accounts at random, and none is made or lost.
#[test]
fn transfers_under_contention_keep_the_sum() {
    const ACCOUNTS: u64 = 10;
    const THREADS: u64 = 8;
    const TRANSFERS: u64 = 100;
    for (store, _folder) in stores() {
        let accounts = store.collection("accounts").unwrap();
        for account in 0..ACCOUNTS {
            accounts.put(&account.to_string(), r#"{"balance":100}"#).unwrap();
        }
        let balance =
            |body: &str| -> i64 { body.trim_start_matches(r#"{"balance":"#).trim_end_matches('}').parse().unwrap() };
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let store = &store;
                scope.spawn(move || {
                    let mut chance = thread + 1;
                    for _ in 0..TRANSFERS {
                        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        let (from, to) = ((chance >> 33) % ACCOUNTS, (chance >> 43) % ACCOUNTS);
                        let amount = (chance >> 53).cast_signed() % 30;
                        if from == to {
                            continue;
                        }
                        store
                            .transaction(|tx| {
                                let accounts = tx.collection("accounts")?;
                                let of =
                                    |id: u64| Ok::<_, Error>(balance(&accounts.get(&id.to_string())?.unwrap().body));
                                let (have, had) = (of(from)?, of(to)?);
                                if have >= amount {
                                    let say = |n: i64| format!("{{\"balance\":{n}}}");
                                    accounts.put(&from.to_string(), say(have - amount))?;
                                    accounts.put(&to.to_string(), say(had + amount))?;
                                }
                                Ok(())
                            })
                            .unwrap();
                    }
                });
            }
            // A reader beside them never sees money on its way.
            let reader = store.collection("accounts").unwrap();
            for _ in 0..100 {
                let all: Vec<_> = reader.list(&ListOptions::default()).unwrap().map(|d| d.unwrap()).collect();
                assert_eq!(all.iter().map(|d| balance(&d.body)).sum::<i64>(), 1000);
            }
        });
        let all: Vec<_> = accounts.list(&ListOptions::default()).unwrap().map(|d| d.unwrap()).collect();
        assert_eq!(all.iter().map(|d| balance(&d.body)).sum::<i64>(), 1000);
        assert!(all.iter().all(|d| balance(&d.body) >= 0));
        assert_eq!(store.check(At::Now).unwrap().problems, []);
    }
}

#[test]
fn a_transaction_that_its_caller_commits_is_refused_if_others_were_faster() {
    for (store, _folder) in stores() {
        let stock = store.collection("stock").unwrap();
        stock.put("ham", r#"{"slices":3}"#).unwrap();
        let (first, second, dropped) = (store.begin().unwrap(), store.begin().unwrap(), store.begin().unwrap());
        for transaction in [&first, &second] {
            assert!(transaction.collection("stock").unwrap().get("ham").unwrap().is_some());
            transaction.collection("stock").unwrap().put("ham", r#"{"slices":2}"#).unwrap();
        }
        dropped.collection("stock").unwrap().put("eel", "{}").unwrap();
        drop(dropped);
        let commit = first.commit().unwrap();
        assert_eq!(stock.get("ham").unwrap().unwrap().seq, commit.seq);
        assert!(matches!(second.commit(), Err(Error::Busy { attempts: 1 })));
        assert_eq!(stock.count().unwrap(), 1, "what was dropped wrote nothing");
        // One that only reads commits nothing, and is never refused.
        let reads = store.begin().unwrap();
        assert!(reads.collection("stock").unwrap().get("ham").unwrap().is_some());
        stock.put("ham", "{}").unwrap();
        assert_eq!(reads.commit().unwrap().seq, commit.seq);
    }
}
