//! Many threads on one engine. No check depends on which thread comes first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use recension::engine::{Batch, Clock, CommitInfo, Direction, KeyRange, Seq, Timestamp};

use super::{EngineFactory, T, all, at, get, now, put, rows, store, value, versions};

pub(super) fn concurrent_writers_each_get_a_commit_of_their_own(factory: &dyn EngineFactory) {
    const THREADS: u8 = 8;
    const COMMITS: u8 = 40;
    let mut store = store(factory);
    let commits: BTreeMap<Seq, (Vec<u8>, CommitInfo)> = {
        let engine = store.engine();
        let start = Barrier::new(usize::from(THREADS));
        thread::scope(|scope| {
            let start = &start;
            let writers: Vec<_> = (0..THREADS)
                .map(|thread| {
                    scope.spawn(move || {
                        start.wait();
                        let mut last = Seq::ZERO;
                        let write = |n| {
                            let key = vec![thread, n];
                            let mut batch = Batch::new();
                            batch.put(T, &key, &key).put(T, b"shared", &key);
                            let commit = engine.commit(batch).expect("the commit is taken");
                            assert!(commit.seq > last, "a thread's commits follow each other");
                            last = commit.seq;
                            // A thread reads its own write: at the head it is there, or a newer one is.
                            assert!(engine.head() >= commit.seq);
                            assert_eq!(get(&*now(engine), T, &key), Some((commit.seq, key.clone())));
                            (commit.seq, (key, commit))
                        };
                        (0..COMMITS).map(write).collect::<Vec<_>>()
                    })
                })
                .collect();
            writers.into_iter().flat_map(|writer| writer.join().expect("the writer ends")).collect()
        })
    };
    let total = u64::from(THREADS) * u64::from(COMMITS);
    for _ in 0..2 {
        let engine = store.engine();
        assert_eq!(engine.head(), Seq(total));
        let seqs: BTreeSet<_> = (1..=total).map(Seq).collect();
        assert_eq!(commits.keys().copied().collect::<BTreeSet<_>>(), seqs, "each number once");
        for (seq, (key, commit)) in &commits {
            let snapshot = at(engine, *seq);
            assert_eq!(get(&*snapshot, T, key), Some((*seq, key.clone())));
            assert_eq!(get(&*snapshot, T, b"shared"), Some((*seq, key.clone())));
            assert_eq!(snapshot.time().unwrap(), commit.time);
        }
        let shared: Vec<_> = versions(&*now(engine), T, b"shared").into_iter().map(|version| version.0).collect();
        assert!(shared.into_iter().eq((1..=total).rev().map(Seq)));
        store.reopen();
    }
}

/// Sets the flag when it is dropped, also by a panic.
struct SetAtEnd<'f>(&'f AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

pub(super) fn readers_beside_writers_see_whole_commits(factory: &dyn EngineFactory) {
    const KEYS: u8 = 40;
    const COMMITS: u8 = 120;
    let store = store(factory);
    let engine = store.engine();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for direction in [Direction::Forward, Direction::Backward] {
            let done = &done;
            scope.spawn(move || {
                let mut newest = Seq::ZERO;
                loop {
                    let last_round = done.load(Ordering::SeqCst);
                    let snapshot = now(engine);
                    assert!(snapshot.seq() >= newest, "the head never goes back");
                    newest = snapshot.seq();
                    // Commit n writes n to every key, so every snapshot is of one value.
                    let found = rows(&*snapshot, T, &KeyRange::all(), direction);
                    let expected = if newest == Seq::ZERO { 0 } else { usize::from(KEYS) };
                    assert_eq!(found.len(), expected, "as of {newest}");
                    for (_, seq, bytes) in found {
                        assert_eq!((seq, &bytes[..]), (newest, &[newest.0 as u8][..]));
                    }
                    if newest > Seq::ZERO {
                        let past = Seq(newest.0 / 2 + 1);
                        assert_eq!(value(&*at(engine, past), &[KEYS / 2]), Some(vec![past.0 as u8]));
                        assert_eq!(versions(&*snapshot, T, &[0]).len() as u64, newest.0);
                    }
                    if last_round {
                        break;
                    }
                    // An engine's log may be in another process, which needs the processor and the disk too.
                    thread::sleep(Duration::from_micros(100));
                }
                assert_eq!(newest, Seq(u64::from(COMMITS)));
            });
        }
        // If a commit fails, the readers end too.
        let _ended = SetAtEnd(&done);
        for n in 1..=COMMITS {
            let mut batch = Batch::new();
            for key in 0..KEYS {
                batch.put(T, &[key], &[n]);
            }
            engine.commit(batch).unwrap();
        }
    });
}

/// A clock that reports when it is asked, and answers when it is told to.
struct StuckClock {
    asked: Mutex<Sender<()>>,
    answer: Mutex<Receiver<Timestamp>>,
}

impl Clock for StuckClock {
    fn now(&self) -> Timestamp {
        // If the test has ended, any time will do.
        let _ = self.asked.lock().unwrap().send(());
        self.answer.lock().unwrap().recv().unwrap_or_default()
    }
}

pub(super) fn readers_do_not_wait_for_a_commit_under_way(factory: &dyn EngineFactory) {
    if !factory.readers_pass_writers() {
        return;
    }
    let (asked, was_asked) = mpsc::channel();
    let (answer, answers) = mpsc::channel();
    let store = factory.make(Arc::new(StuckClock { asked: Mutex::new(asked), answer: Mutex::new(answers) }));
    let engine = store.engine();
    answer.send(Timestamp(1)).unwrap();
    put(engine, b"k", b"1");
    was_asked.recv().unwrap();
    let (read, was_read) = mpsc::channel();
    thread::scope(|scope| {
        let writer = scope.spawn(|| put(engine, b"k", b"2"));
        was_asked.recv().unwrap();
        // The commit is under way now, and stays so until the clock answers.
        scope.spawn(move || {
            let snapshot = now(engine);
            assert_eq!(all(&*snapshot, T), [(b"k".to_vec(), Seq(1), b"1".to_vec())]);
            assert_eq!(value(&*snapshot, b"k").as_deref(), Some(&b"1"[..]));
            assert_eq!(versions(&*at(engine, Seq(1)), T, b"k").len(), 1);
            assert_eq!(engine.commit_at(Timestamp(5)).unwrap().map(|commit| commit.seq), Some(Seq(1)));
            assert_eq!(engine.wait_beyond(Seq(1), Duration::ZERO), Seq(1));
            let _ = read.send(());
        });
        let passed = was_read.recv_timeout(Duration::from_secs(20));
        answer.send(Timestamp(2)).unwrap();
        assert_eq!(writer.join().unwrap(), Seq(2));
        passed.expect("readers go on while a commit is under way");
    });
    assert_eq!(value(&*now(engine), b"k").as_deref(), Some(&b"2"[..]));
}

pub(super) fn of_rivals_that_read_the_same_commit_one_wins(factory: &dyn EngineFactory) {
    const THREADS: usize = 6;
    const ROUNDS: u64 = 40;
    let store = store(factory);
    let engine = store.engine();
    put(engine, b"counter", &0_u64.to_be_bytes());
    let start = Barrier::new(THREADS);
    let wins = Mutex::new(BTreeMap::<u64, usize>::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    // All threads have read the same commit before any of them writes.
                    let seq = engine.head();
                    start.wait();
                    let mut batch = Batch::new();
                    batch.put(T, b"counter", &(round + 1).to_be_bytes()).depends_on(T, b"counter", seq);
                    match engine.commit(batch) {
                        Ok(commit) => {
                            assert_eq!(commit.seq, seq.next());
                            *wins.lock().unwrap().entry(round).or_default() += 1;
                        }
                        Err(error) => assert!(error.is_conflict(), "{error}"),
                    }
                    start.wait();
                }
            });
        }
    });
    assert_eq!(*wins.lock().unwrap(), (0..ROUNDS).map(|round| (round, 1)).collect());
    assert_eq!(value(&*now(engine), b"counter"), Some(ROUNDS.to_be_bytes().to_vec()));
}
