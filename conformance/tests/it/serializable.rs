//! Readers, writers, merges and checkpoints together, under a checker for serializability.
//!
//! Every transaction records what it read and wrote. Commits are numbered, so the only serial order
//! that can explain a run is the order of the numbers: each transaction must have read exactly what the
//! transactions before it left, and each snapshot exactly what the commits up to its own left.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};

use recension::engine::{Batch, Direction, Engine, KeyRange, ManualClock, NativeOptions, Seq, Snapshot, TreeId};
use recension_conformance::sim::Rng;
use recension_conformance::suite::EngineFactory;
use recension_conformance::suite::engines::{Native, Sqlite, every};

const TREE: TreeId = TreeId(3);
const KEYS: u64 = 12;
const WRITERS: u64 = 4;
const TRANSACTIONS: u64 = 150;

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

/// What a transaction saw and did. A range read is the whole tree; a key read is one key.
struct Transaction {
    seq: Seq,
    read_keys: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    read_all: Option<Rows>,
    wrote: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

fn engines() -> Vec<Box<dyn EngineFactory>> {
    let busy =
        NativeOptions { maintenance: recension::engine::native::Maintenance::Background, ..Native::tiny().options };
    let mut engines = every();
    engines.push(Box::new(Native { options: busy, on_disk: false }));
    engines.push(Box::new(Sqlite::tiny()));
    engines
}

fn all(snapshot: &dyn Snapshot) -> Rows {
    let rows = snapshot.range(TREE, &KeyRange::all(), Direction::Forward);
    rows.map(|row| row.map(|row| (row.key.into_owned(), row.value.bytes.into_owned())).unwrap()).collect()
}

fn transaction(engine: &dyn Engine, rng: &mut Rng, name: &str) -> Option<Transaction> {
    let snapshot = engine.snapshot().unwrap();
    let mut batch = Batch::new();
    let mut done = Transaction { seq: Seq::ZERO, read_keys: Vec::new(), read_all: None, wrote: Vec::new() };
    if rng.percent(30) {
        done.read_all = Some(all(&*snapshot));
        batch.depends_on_range(TREE, KeyRange::all(), snapshot.seq());
    }
    for _ in 0..rng.below(3) {
        let key = vec![rng.below(KEYS) as u8];
        let value = snapshot.get(TREE, &key).unwrap().map(|value| value.to_vec());
        batch.depends_on(TREE, &key, snapshot.seq());
        done.read_keys.push((key, value));
    }
    if rng.percent(50) {
        std::thread::yield_now();
    }
    for n in 0..=rng.below(3) {
        let key = vec![rng.below(KEYS) as u8];
        done.wrote.retain(|(other, _)| *other != key);
        if rng.percent(25) {
            batch.delete(TREE, &key);
            done.wrote.push((key, None));
        } else {
            let value = format!("{name}.{n}").into_bytes();
            batch.put(TREE, &key, &value);
            done.wrote.push((key, Some(value)));
        }
    }
    match engine.commit(batch) {
        Ok(commit) => {
            done.seq = commit.seq;
            Some(done)
        }
        Err(error) if error.is_conflict() => None,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn every_run_is_explained_by_the_order_of_its_commits() {
    for factory in engines() {
        let store = factory.make(std::sync::Arc::new(ManualClock::default()));
        let engine = store.engine();
        let done = Mutex::new(Vec::new());
        let seen = Mutex::new(Vec::new());
        let conflicts = Mutex::new(0);
        let writing = AtomicBool::new(true);
        let together = Barrier::new(WRITERS as usize);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let (done, conflicts, together) = (&done, &conflicts, &together);
                    scope.spawn(move || {
                        together.wait();
                        let mut rng = Rng::for_part(7, writer);
                        for n in 0..TRANSACTIONS {
                            match transaction(engine, &mut rng, &format!("{writer}.{n}")) {
                                Some(transaction) => done.lock().unwrap().push(transaction),
                                None => *conflicts.lock().unwrap() += 1,
                            }
                        }
                    })
                })
                .collect();
            for _ in 0..2 {
                scope.spawn(|| {
                    while writing.load(Ordering::Relaxed) {
                        let snapshot = engine.snapshot().unwrap();
                        let rows = all(&*snapshot);
                        seen.lock().unwrap().push((snapshot.seq(), rows));
                    }
                });
            }
            scope.spawn(|| {
                while writing.load(Ordering::Relaxed) {
                    engine.checkpoint().unwrap();
                    std::thread::yield_now();
                }
            });
            for writer in writers {
                writer.join().unwrap();
            }
            writing.store(false, Ordering::Relaxed);
        });
        let name = factory.name();
        let conflicts = conflicts.into_inner().unwrap();
        assert!(conflicts > 0, "{name}: nothing was in anybody's way, so nothing was tested");
        explain(&name, done.into_inner().unwrap(), seen.into_inner().unwrap());
    }
}

/// Replays the transactions in the order of their commits.
fn explain(name: &str, mut done: Vec<Transaction>, mut seen: Vec<(Seq, Rows)>) {
    done.sort_by_key(|transaction| transaction.seq);
    seen.sort_by_key(|(seq, _)| *seq);
    let mut seen = seen.into_iter().peekable();
    let mut state = Rows::new();
    let mut last = Seq::ZERO;
    let mut matched = |last: Seq, state: &Rows| {
        while let Some((seq, rows)) = seen.next_if(|(seq, _)| *seq == last) {
            assert_eq!(rows, *state, "{name}: a snapshot at {seq}");
        }
    };
    matched(last, &state);
    for transaction in done {
        let seq = transaction.seq;
        assert_eq!(seq, last.next(), "{name}: every commit has an author");
        for (key, value) in transaction.read_keys {
            assert_eq!(state.get(&key), value.as_ref(), "{name}: commit {seq} had read key {key:?}");
        }
        if let Some(rows) = transaction.read_all {
            assert_eq!(rows, state, "{name}: commit {seq} had read everything");
        }
        for (key, value) in transaction.wrote {
            match value {
                Some(value) => state.insert(key, value),
                None => state.remove(&key),
            };
        }
        last = seq;
        matched(last, &state);
    }
    assert!(seen.next().is_none(), "{name}: a snapshot shows a commit that nobody made");
}

#[test]
fn money_is_neither_made_nor_lost() {
    const ACCOUNTS: u64 = 10;
    const BALANCE: u64 = 100;
    let balance = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().unwrap());
    for factory in engines() {
        let store = factory.make(std::sync::Arc::new(ManualClock::default()));
        let engine = store.engine();
        let mut opening = Batch::new();
        for account in 0..ACCOUNTS {
            opening.put(TREE, &[account as u8], &BALANCE.to_be_bytes());
        }
        engine.commit(opening).unwrap();
        let sum = |snapshot: &dyn Snapshot| all(snapshot).values().map(|bytes| balance(bytes)).sum::<u64>();
        let writing = AtomicBool::new(true);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    scope.spawn(move || {
                        let mut rng = Rng::for_part(11, writer);
                        let mut moved = 0;
                        while moved < TRANSACTIONS / 2 {
                            let from = [rng.below(ACCOUNTS) as u8];
                            let to = [((u64::from(from[0]) + 1 + rng.below(ACCOUNTS - 1)) % ACCOUNTS) as u8];
                            let snapshot = engine.snapshot().unwrap();
                            let read = |key: &[u8]| balance(&snapshot.get(TREE, key).unwrap().unwrap());
                            let amount = rng.below(read(&from) + 1);
                            let mut batch = Batch::new();
                            batch.depends_on(TREE, &from, snapshot.seq()).depends_on(TREE, &to, snapshot.seq());
                            batch.put(TREE, &from, &(read(&from) - amount).to_be_bytes());
                            batch.put(TREE, &to, &(read(&to) + amount).to_be_bytes());
                            match engine.commit(batch) {
                                Ok(_) => moved += 1,
                                Err(error) => assert!(error.is_conflict(), "{error}"),
                            }
                        }
                    })
                })
                .collect();
            scope.spawn(|| {
                while writing.load(Ordering::Relaxed) {
                    assert_eq!(sum(&*engine.snapshot().unwrap()), ACCOUNTS * BALANCE, "{}", factory.name());
                }
            });
            for writer in writers {
                writer.join().unwrap();
            }
            writing.store(false, Ordering::Relaxed);
        });
        for seq in (1..=engine.head().0).map(Seq) {
            let then = engine.snapshot_at(seq).unwrap();
            assert_eq!(sum(&*then), ACCOUNTS * BALANCE, "{} at {seq}", factory.name());
        }
    }
}
