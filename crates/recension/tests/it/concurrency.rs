//! Writers, readers and index builds at once, on the memory engine.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use recension::engine::{
    Batch, CommitInfo, Direction, Engine, EngineError, MemoryEngine, Seq, Snapshot, Stats, Timestamp, VerifyReport,
};
use recension::{
    At, Collection, Condition, Error, IndexSpec, IndexState, ListOptions, Path, Query, ReplicatedWrite, RevId, Store,
    ValueRange, Write,
};

fn things() -> Collection {
    Store::memory().unwrap().collection("things").unwrap()
}

fn path(text: &str) -> Path {
    text.parse().unwrap()
}

/// Runs `work` on this many threads, which begin together.
fn together<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let (barrier, work) = (&barrier, &work);
        let started: Vec<_> = (0..threads)
            .map(|i| {
                scope.spawn(move || {
                    barrier.wait();
                    work(i)
                })
            })
            .collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The memory engine with something to be done before each commit.
struct Hooked<F> {
    engine: MemoryEngine,
    before_commit: F,
}

impl<F: Fn() -> Result<(), EngineError> + Send + Sync + 'static> Engine for Hooked<F> {
    fn head(&self) -> Seq {
        self.engine.head()
    }
    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>, EngineError> {
        self.engine.snapshot_at(seq)
    }
    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>, EngineError> {
        self.engine.commit_at(time)
    }
    fn commit(&self, batch: Batch) -> Result<CommitInfo, EngineError> {
        (self.before_commit)()?;
        self.engine.commit(batch)
    }
    fn wait_beyond(&self, seq: Seq, timeout: std::time::Duration) -> Seq {
        self.engine.wait_beyond(seq, timeout)
    }
    fn wake_beyond(&self, seq: Seq, waker: &std::task::Waker) -> bool {
        self.engine.wake_beyond(seq, waker)
    }
    fn checkpoint(&self) -> Result<(), EngineError> {
        self.engine.checkpoint()
    }
    fn verify(&self) -> Result<VerifyReport, EngineError> {
        self.engine.verify()
    }
    fn stats(&self) -> Result<Stats, EngineError> {
        self.engine.stats()
    }
}

/// A store whose next this many commits wait for each other: all of their authors have read before any has written.
struct Meeting {
    store: Store,
    awaited: Arc<AtomicU64>,
}

const WRITERS: usize = 4;

impl Meeting {
    fn new() -> Self {
        let awaited = Arc::new(AtomicU64::new(0));
        let (left, barrier) = (awaited.clone(), Barrier::new(WRITERS));
        let before_commit = move || {
            if left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
                barrier.wait();
            }
            Ok(())
        };
        let engine = Hooked { engine: MemoryEngine::new(), before_commit };
        Meeting { store: Store::on(Arc::new(engine)).unwrap(), awaited }
    }

    fn together<T: Send>(&self, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        self.awaited.store(WRITERS as u64, Ordering::SeqCst);
        together(WRITERS, work)
    }
}

#[test]
fn of_writers_that_expect_one_revision_exactly_one_wins() {
    let meeting = Meeting::new();
    let things = meeting.store.collection("things").unwrap();
    let mut rev = things.put("a", "{}").unwrap().rev;
    for round in 0..50 {
        let results = meeting.together(|i| things.replace("a", &rev, format!(r#"{{"round":{round},"by":{i}}}"#)));
        let won: Vec<_> = results.iter().filter_map(|result| result.as_ref().ok()).collect();
        assert_eq!(won.len(), 1, "{results:?}");
        assert!(results.iter().filter_map(|result| result.as_ref().err()).all(|e| matches!(e, Error::Conflict { .. })));
        rev = won[0].rev;
    }
    assert_eq!(things.get("a").unwrap().unwrap().rev, rev);
}

#[test]
fn of_inserts_of_one_value_into_a_unique_index_exactly_one_wins() {
    let meeting = Meeting::new();
    let things = meeting.store.collection("things").unwrap();
    things.create_index(IndexSpec::unique("email", path("email")), |_| {}).unwrap();
    for round in 0..50 {
        let results = meeting.together(|i| things.put(&format!("{round}-{i}"), format!(r#"{{"email":"{round}"}}"#)));
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
        let refused = results.iter().filter_map(|result| result.as_ref().err());
        assert!(refused.into_iter().all(|error| matches!(error, Error::NotUnique { .. })), "{results:?}");
    }
    assert_eq!(things.count().unwrap(), 50);
}

#[test]
fn the_first_writers_of_a_collection_make_one_collection() {
    for _ in 0..20 {
        let meeting = Meeting::new();
        let store = &meeting.store;
        // Handles that know nothing of each other.
        let put = |name: &str, id: &str| {
            let own = Store::on(store.engine().clone()).unwrap();
            own.collection(name).unwrap().put(id, "{}").unwrap();
        };
        meeting.together(|i| put("things", &format!("d{i}")));
        meeting.together(|i| put(&format!("own{i}"), &format!("x{i}")));
        assert_eq!(store.collection("things").unwrap().count().unwrap(), 4);
        assert_eq!(store.collections(At::Now).unwrap().len(), 5);
        for i in 0..4 {
            assert_eq!(store.collection(&format!("own{i}")).unwrap().count().unwrap(), 1);
        }
    }
}

#[test]
fn upserts_of_one_document_are_all_written_one_after_the_other() {
    let things = things();
    together(4, |i| {
        for n in 0..100 {
            things.put("a", format!(r#"{{"by":{i},"n":{n}}}"#)).unwrap();
        }
    });
    let generations: Vec<u32> = things.history("a").unwrap().map(|r| r.unwrap().rev.generation()).collect();
    assert_eq!(generations, (1..=400).rev().collect::<Vec<_>>());
}

fn assert_index_is_whole(things: &Collection, name: &str) {
    assert_eq!(things.store().check(recension::At::Now).unwrap().problems, []);
    let reader = things.at(At::Now).unwrap();
    let mut expected = BTreeMap::new();
    for document in reader.list(&ListOptions::default()).unwrap() {
        let document = document.unwrap();
        if let Some(value) = path("n").find(&document.body) {
            expected.insert((value.parse::<u64>().unwrap(), document.id.to_string()), document.rev);
        }
    }
    let found = reader.find(&Query::new().sort(path("n"), Direction::Forward)).unwrap();
    assert_eq!(found.plan().index.as_deref(), Some(name));
    let found: Vec<_> = found
        .map(|document| document.unwrap())
        .map(|d| ((path("n").find(&d.body).unwrap().parse::<u64>().unwrap(), d.id.to_string()), d.rev))
        .collect();
    assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
}

#[test]
fn a_writer_that_did_not_see_an_index_declared_keeps_it_all_the_same() {
    // The index is declared by another handle when the writer has read and is about to commit.
    let engine = MemoryEngine::new();
    let other = Store::on(Arc::new(engine.clone())).unwrap().collection("things").unwrap();
    other.put("a", r#"{"n":1}"#).unwrap();
    let declare = {
        let other = other.clone();
        let declared = AtomicBool::new(false);
        move || {
            if !declared.swap(true, Ordering::SeqCst) {
                other.create_index(IndexSpec::new("n", path("n")), |_| {}).unwrap();
            }
            Ok(())
        }
    };
    let late = Store::on(Arc::new(Hooked { engine, before_commit: declare })).unwrap().collection("things").unwrap();
    late.put("b", r#"{"n":2}"#).unwrap();
    assert_index_is_whole(&other, "n");
}

#[test]
fn an_index_built_while_writers_are_at_work_holds_what_a_scan_finds() {
    for round in 0..8 {
        let things = things();
        things
            .bulk((0..3000).map(|i| Write::put(&format!("d{i:04}"), format!(r#"{{"n":{}}}"#, i % 50)).unwrap()))
            .unwrap();
        let built = AtomicBool::new(false);
        let writes = AtomicU64::new(0);
        thread::scope(|scope| {
            for writer in 0..3_u64 {
                let (things, built, writes) = (&things, &built, &writes);
                scope.spawn(move || {
                    let mut i = writer + round;
                    while !built.load(Ordering::SeqCst) {
                        i = i.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        let id = format!("d{:04}", (i >> 33) % 4000);
                        if i >> 62 == 0 {
                            if let Some(document) = things.get(&id).unwrap() {
                                // Another writer may have been faster.
                                let _ = things.delete(&id, &document.rev);
                            }
                        } else if i >> 62 == 1 {
                            things.put(&id, "{}").unwrap();
                        } else {
                            things.put(&id, format!(r#"{{"n":{}}}"#, (i >> 40) % 50)).unwrap();
                        }
                        writes.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            let (things, built) = (&things, &built);
            scope.spawn(move || {
                things.create_index(IndexSpec::new("n", path("n")), |_| {}).unwrap();
                built.store(true, Ordering::SeqCst);
            });
        });
        assert_index_is_whole(&things, "n");
    }
}

#[test]
fn builds_of_one_index_at_once_work_together() {
    let things = things();
    things.bulk((0..5000).map(|i| Write::put(&format!("d{i:04}"), format!(r#"{{"n":{i}}}"#)).unwrap())).unwrap();
    together(3, |_| things.create_index(IndexSpec::unique("n", path("n")), |_| {}).unwrap());
    assert_index_is_whole(&things, "n");
}

#[test]
fn a_build_broken_off_at_any_commit_goes_on_where_it_was() {
    for commits in 0..6 {
        let engine = MemoryEngine::new();
        let things = Store::on(Arc::new(engine.clone())).unwrap().collection("things").unwrap();
        things.bulk((0..3500).map(|i| Write::put(&format!("d{i:04}"), format!(r#"{{"n":{i}}}"#)).unwrap())).unwrap();

        // Like a process that is killed after this many commits.
        let left = AtomicU64::new(commits);
        let before_commit =
            move || match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
                Ok(_) => Ok(()),
                Err(_) => Err(EngineError::Poisoned { cause: "the test".to_owned() }),
            };
        let dying = Hooked { engine: engine.clone(), before_commit };
        let broken = Store::on(Arc::new(dying)).unwrap().collection("things").unwrap();
        let spec = IndexSpec::unique("n", path("n"));
        assert!(broken.create_index(spec.clone(), |_| {}).is_err());

        // While it is not whole it is kept, and not used.
        things.put("d0001", r#"{"n":100001}"#).unwrap();
        things.put("d3400", r#"{"n":100002}"#).unwrap();
        let query = Query::new().matching(path("n"), ValueRange::at_least(100_000));
        let found = things.find(&query).unwrap();
        assert_eq!(found.plan().index, None);
        assert_eq!(found.count(), 2);
        if commits > 0 {
            assert_eq!(things.indexes().unwrap()[0].state, IndexState::Building);
        }

        let mut first = None;
        things
            .create_index(spec, |progress| {
                first.get_or_insert(progress.done);
            })
            .unwrap();
        assert_eq!(first, (commits < 5).then_some((commits.max(1) * 1000).min(3500)));
        assert_index_is_whole(&things, "n");
    }
}

#[test]
fn replicas_that_send_the_same_revisions_at_once_leave_what_one_of_them_would() {
    let writes: Vec<ReplicatedWrite> = (0..40_u32)
        .map(|n| {
            // Branches of a few lines; what is sent later may be older.
            let (id, branch, generation) = (format!("d{}", n % 2), n % 5, 1 + n / 5);
            let rev = |generation| RevId::with_suffix(generation, &format!("b{branch}")).unwrap();
            let path: Vec<RevId> = (1..=generation).rev().map(rev).collect();
            ReplicatedWrite::new(&id, path[0], &path[1..], n % 7 == 0, format!("{{\"n\":{n}}}")).unwrap()
        })
        .collect();
    let (alone, shared) = (things(), things());
    for collection in [&alone, &shared] {
        collection.create_index(IndexSpec::new("n", path("n")), |_| {}).unwrap();
    }
    for written in alone.replication().merge_revisions(writes.clone()).unwrap() {
        written.unwrap();
    }
    together(WRITERS, |thread| {
        for (n, step) in (0..writes.len()).map(|n| (n, [1, 7, 11, 13][thread])) {
            let write = writes[(n * step + thread) % writes.len()].clone();
            shared.replication().merge_revisions([write]).unwrap().remove(0).unwrap();
            // Beside them a document that comes and goes.
            if let Ok(written) = shared.create(Some("scratch"), "{}") {
                shared.replication().purge("scratch", &[written.rev]).unwrap();
            }
        }
    });
    assert_eq!(shared.replication().leaves("scratch").unwrap(), []);
    for id in ["d0", "d1"] {
        let leaves = alone.replication().leaves(id).unwrap();
        assert!(leaves.len() > 3, "{leaves:?}");
        assert_eq!(shared.replication().leaves(id).unwrap(), leaves);
        for leaf in leaves {
            let body =
                |collection: &Collection| collection.replication().get_revision(id, &leaf.rev).unwrap().unwrap().body;
            assert_eq!(body(&shared), body(&alone));
        }
    }
    assert_eq!(shared.store().check(At::Now).unwrap().problems, []);
}

#[test]
fn a_build_of_an_index_of_any_kind_goes_on_after_a_crash() {
    let specs = [
        IndexSpec::new("i", path("t[]")),
        IndexSpec::new("i", path("n")).then_descending(path("t[]")),
        IndexSpec::unique("i", path("n")).then(path("even")),
        IndexSpec::unique("i", path("u[]")),
        IndexSpec::new("i", path("t[]")).only_where(Condition::new(path("even"), ValueRange::equal(true))),
    ];
    for spec in specs {
        for commits in [1, 2, 3] {
            let engine = MemoryEngine::new();
            let things = Store::on(Arc::new(engine.clone())).unwrap().collection("things").unwrap();
            let write = |i: u64| {
                let even = i.is_multiple_of(2);
                let body = format!(r#"{{"n":{i},"even":{even},"t":[{},"all",{}],"u":[{i},"u{i}"]}}"#, i % 10, i % 7);
                Write::put(&format!("d{i:04}"), body).unwrap()
            };
            things.bulk((0..2500).map(write)).unwrap();
            let left = AtomicU64::new(commits);
            let before_commit =
                move || match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
                    Ok(_) => Ok(()),
                    Err(_) => Err(EngineError::Poisoned { cause: "the test".to_owned() }),
                };
            let dying = Hooked { engine, before_commit };
            let broken = Store::on(Arc::new(dying)).unwrap().collection("things").unwrap();
            assert!(broken.create_index(spec.clone(), |_| {}).is_err());
            things.bulk([write(3), write(9998)]).unwrap();
            let rev = things.get("d0004").unwrap().unwrap().rev;
            things.delete("d0004", &rev).unwrap();
            things.create_index(spec.clone(), |_| {}).unwrap();
            assert_eq!(things.indexes().unwrap()[0].state, IndexState::Ready);
            let report = things.store().check(At::Now).unwrap();
            assert_eq!(report.problems, []);
            assert!(report.index_entries > 1000, "{spec}");
        }
    }
}
