//! Writes of tasks that are committed together: on a disk that is held up, that fails, that loses its power, and of
//! tasks that are given up.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use parking_lot::Mutex;
use recension::asynchronous::{AsyncCollection, Wait};
use recension::engine::native::Maintenance;
use recension::engine::{NativeEngine, NativeOptions, Seq};
use recension::{Error, Expect, Result, Store, Write, Written};
use recension_conformance::sim::{CrashPolicy, Fault, FaultKind, Gate, OpKind, SimDisk};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

fn store(disk: &SimDisk) -> Store {
    let options = NativeOptions { maintenance: Maintenance::Inline, ..NativeOptions::default() };
    Store::on(Arc::new(NativeEngine::open(disk.arc(), options).unwrap())).unwrap()
}

/// Tasks that write into one collection. The runtime has one thread: a task that held it would hold up all.
struct Tasks {
    runtime: Runtime,
    notes: AsyncCollection,
}

impl Tasks {
    fn on(disk: &SimDisk) -> Self {
        let notes = store(disk).collection("notes").unwrap().into();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let tasks = Tasks { runtime, notes };
        tasks.done(vec![tasks.begin(put("first", 0))]).remove(0).unwrap();
        tasks
    }

    fn begin(&self, write: Write) -> JoinHandle<Result<Written>> {
        self.begin_with(write, Some(|commit| tokio::task::block_in_place(commit)))
    }

    fn begin_with(&self, write: Write, wait: Option<Wait>) -> JoinHandle<Result<Written>> {
        let notes = self.notes.clone();
        self.runtime.spawn(async move { notes.write_in_place(write, wait).await })
    }

    /// Returns when the runtime has done all that it can do now.
    fn rest(&self) {
        self.runtime.block_on(async {
            for _ in 0..50 {
                self.runtime.spawn(tokio::task::yield_now()).await.unwrap();
            }
        });
    }

    fn done(&self, tasks: Vec<JoinHandle<Result<Written>>>) -> Vec<Result<Written>> {
        self.runtime.block_on(async {
            let mut done = Vec::new();
            for task in tasks {
                done.push(task.await.unwrap());
            }
            done
        })
    }

    fn body(&self, id: &str) -> Option<String> {
        self.notes.blocking().get(id).unwrap().map(|document| document.body.into_owned())
    }

    fn head(&self) -> Seq {
        self.notes.blocking().store().engine().head()
    }
}

fn put(id: &str, n: usize) -> Write {
    Write::put(id, format!("{{\"n\":{n}}}")).unwrap()
}

fn id(n: usize) -> String {
    format!("note{n}")
}

#[test]
fn tasks_that_write_while_the_disk_is_held_up_hold_no_thread_and_share_the_next_sync() {
    let in_place: Wait = |commit| tokio::task::block_in_place(commit);
    // Who is alone may wait where it is: the thread then begins with those that it finds, before the others have come.
    for (wait, syncs_max) in [(None, 2), (Some(in_place), 3)] {
        let disk = SimDisk::new();
        let gate = Gate::on(&disk);
        let tasks = Tasks::on(&disk);
        let head = tasks.head();
        gate.shut();
        let first = tasks.begin_with(put("first", 1), wait);
        gate.until_one_waits();
        let others: Vec<_> = (0..100).map(|n| tasks.begin_with(put(&id(n), n), wait)).collect();
        tasks.rest();
        assert_eq!(tasks.body("first").as_deref(), Some("{\"n\":0}"), "what is not durable is shown");
        assert!(!first.is_finished() && others.iter().all(|other| !other.is_finished()));
        let before = gate.open();
        let mut seqs: Vec<Seq> = tasks.done(others).into_iter().map(|written| written.unwrap().seq).collect();
        assert_eq!(tasks.done(vec![first]).remove(0).unwrap().seq, Seq(head.0 + 1));
        let syncs = gate.passed() - before;
        assert!(syncs <= syncs_max, "{syncs} syncs");
        seqs.sort();
        assert_eq!(seqs, (2..102).map(|n| Seq(head.0 + n)).collect::<Vec<_>>(), "each is a commit of its own");
        assert!((0..100).all(|n| tasks.body(&id(n)) == Some(format!("{{\"n\":{n}}}"))));
    }
}

#[test]
fn a_way_to_wait_that_panics_or_waits_for_nothing_answers_an_error_and_harms_nobody() {
    let tasks = Tasks::on(&SimDisk::new());
    let ways: [Wait; 3] = [
        |_| {},
        |_| panic!("on purpose"),
        |commit| {
            commit();
            panic!("on purpose, and after it")
        },
    ];
    for way in ways {
        let answer = tasks.done(vec![tasks.begin_with(put("first", 1), Some(way))]).remove(0);
        assert!(matches!(answer, Err(Error::Engine(_))), "{answer:?}");
    }
    let twice: Wait = |commit| {
        commit();
        commit();
    };
    let head = tasks.head();
    tasks.done(vec![tasks.begin_with(put("first", 2), Some(twice))]).remove(0).unwrap();
    assert_eq!(tasks.head(), Seq(head.0 + 1));
}

#[test]
fn writes_of_one_document_that_come_together_are_each_decided_by_what_is_there_then() {
    let disk = SimDisk::new();
    let gate = Gate::on(&disk);
    let tasks = Tasks::on(&disk);
    gate.shut();
    let held = tasks.begin(put("held", 0));
    gate.until_one_waits();
    // More than are decided again by tasks: the last ones are given a thread.
    let puts: Vec<_> = (0..30).map(|n| tasks.begin(put("list", n))).collect();
    let creates: Vec<_> = (0..30).map(|n| tasks.begin(put("new", n).expecting(Expect::Absent))).collect();
    tasks.rest();
    gate.open();
    let mut generations: Vec<u32> =
        tasks.done(puts).into_iter().map(|written| written.unwrap().rev.generation()).collect();
    generations.sort_unstable();
    assert_eq!(generations, (1..=30).collect::<Vec<_>>());
    let created = tasks.done(creates);
    let refused = created.iter().filter(|created| matches!(created, Err(Error::Conflict { .. }))).count();
    assert_eq!((created.iter().filter(|created| created.is_ok()).count(), refused), (1, 29));
    tasks.done(vec![held]).remove(0).unwrap();
    // What changes nothing makes no commit.
    let head = tasks.head();
    let same = tasks.begin(Write::put("held", "{\"n\":0}").unwrap().unless_same());
    assert_eq!(tasks.done(vec![same]).remove(0).unwrap().rev.generation(), 1);
    assert_eq!(tasks.head(), head);
}

#[test]
fn a_sync_that_fails_is_told_to_every_task_of_its_group() {
    let disk = SimDisk::new();
    let gate = Gate::on(&disk);
    let tasks = Tasks::on(&disk);
    gate.shut();
    let first = tasks.begin(put("first", 1));
    gate.until_one_waits();
    let others: Vec<_> = (0..20).map(|n| tasks.begin(put(&id(n), n))).collect();
    tasks.rest();
    // The hook comes before the call: the first fails as well.
    disk.fail(Fault::nth_of(1, OpKind::Sync, FaultKind::Eio));
    gate.open();
    for refused in tasks.done(others).into_iter().chain(tasks.done(vec![first])) {
        assert!(matches!(refused, Err(Error::Engine(_))), "acknowledged: {refused:?}");
    }
    assert_eq!(tasks.body("first").as_deref(), Some("{\"n\":0}"), "what was not acknowledged is shown");
    assert!(tasks.done(vec![tasks.begin(put("later", 1))]).remove(0).is_err());
    drop(tasks);
    disk.heal();
    let tasks = Tasks::on(&disk);
    tasks.done(vec![tasks.begin(put("later", 2))]).remove(0).unwrap();
}

#[test]
fn what_tasks_have_asked_for_is_done_though_they_were_given_up_and_the_store_is_closed() {
    let disk = SimDisk::new();
    let gate = Gate::on(&disk);
    let Tasks { notes, runtime: _runtime } = Tasks::on(&disk);
    gate.shut();
    for n in 0..10 {
        let mut write = pin!(notes.write_in_place(put(&id(n), n), None));
        assert!(write.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    gate.until_one_waits();
    gate.open();
    drop(notes);
    let notes = store(&disk).collection("notes").unwrap();
    assert!((0..10).all(|n| notes.get(&id(n)).unwrap().is_some()));
}

#[test]
fn long_writes_and_those_decided_on_the_pool_are_committed_like_the_others() {
    let tasks = Tasks::on(&SimDisk::new());
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(100_000));
    let both = async {
        let in_place = tasks.notes.write_in_place(Write::put("long", &long)?, None).await?;
        let pooled = tasks.notes.write(put("pooled", 1)).await?;
        let again = tasks.notes.write(put("pooled", 2).expecting(Expect::Absent)).await;
        Ok((in_place.seq, pooled.seq, again))
    };
    let (in_place, pooled, again): (_, _, Result<Written>) =
        tasks.runtime.block_on(both).map_err(|e: Error| e).unwrap();
    assert_eq!(pooled, Seq(in_place.0 + 1));
    assert!(matches!(again, Err(Error::Conflict { .. })), "{again:?}");
    assert_eq!((tasks.body("long").unwrap(), tasks.body("pooled").as_deref()), (long, Some("{\"n\":1}")));
}

#[test]
fn what_is_acknowledged_survives_the_loss_of_power() {
    let disk = SimDisk::new();
    let tasks = Tasks::on(&disk);
    let acknowledged: Arc<[Mutex<usize>; 8]> = Arc::default();
    let writers: Vec<_> = (0..8)
        .map(|number| {
            let (notes, acknowledged) = (tasks.notes.clone(), acknowledged.clone());
            tasks.runtime.spawn(async move {
                for n in 1..=300 {
                    notes.write_in_place(put(&id(number), n), None).await.unwrap();
                    *acknowledged[number].lock() = n;
                }
            })
        })
        .collect();
    for seed in 0..40 {
        let before: Vec<usize> = acknowledged.iter().map(|n| *n.lock()).collect();
        let policy = CrashPolicy::ALL[seed as usize % CrashPolicy::ALL.len()];
        let after = store(&disk.crash(seed, policy)).collection("notes").unwrap();
        for (number, before) in before.into_iter().enumerate() {
            let there = after.history(&id(number)).unwrap().count();
            assert!(there >= before, "{policy:?}, seed {seed}: {there} versions, and {before} were acknowledged");
        }
    }
    tasks.runtime.block_on(async {
        for writer in writers {
            writer.await.unwrap();
        }
    });
}
