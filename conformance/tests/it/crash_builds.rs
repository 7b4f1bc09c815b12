//! An index whose build was broken off at any disk call: who opens the store goes on with it, without being asked,
//! and only once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use recension::engine::{Engine, MemoryEngine};
use recension::{At, IndexSpec, IndexState, Query, Store, ValueRange, Write};
use recension_conformance::crash::{for_seeds, native, test_clock};
use recension_conformance::sim::{CrashPolicy, Moment, OpKind, Rng, SimDisk};

/// Enough for several steps of a build.
const DOCUMENTS: u64 = 2500;

fn spec() -> IndexSpec {
    IndexSpec::new("n", "n")
}

fn open(disk: &SimDisk) -> Result<Store, String> {
    let engine = native::small(disk.arc(), test_clock()).map_err(|error| format!("it does not open: {error}"))?;
    Store::with_clock(engine, test_clock()).map_err(|error| error.to_string())
}

fn fill(store: &Store) -> Result<(), recension::Error> {
    let writes = (0..DOCUMENTS).map(|n| Write::put(&format!("d{n:04}"), format!("{{\"n\":{n}}}")));
    let written = store.collection("things")?.bulk(writes.collect::<Result<Vec<_>, _>>()?)?;
    written.into_iter().try_for_each(|done| done.map(drop))
}

/// Waits until no build is under way; returns whether there is an index.
fn wait_until_ready(store: &Store) -> Result<bool, String> {
    let things = store.collection("things").map_err(|error| error.to_string())?;
    let began = Instant::now();
    loop {
        match things.indexes().map_err(|error| error.to_string())?.first() {
            None => return Ok(false),
            Some(index) if index.state == IndexState::Ready => return Ok(true),
            Some(_) if began.elapsed() > Duration::from_mins(1) => {
                return Err(format!("it is building for ever: {:?}", things.building()));
            }
            Some(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn is_whole(store: &Store) -> Result<(), String> {
    let text = |error: recension::Error| error.to_string();
    let query = Query::new().matching("n", ValueRange::at_least(DOCUMENTS - 10)).through("n");
    let found = store.collection("things").and_then(|things| things.find(&query)).map_err(text)?.count();
    let problems = store.check(At::Now).map_err(text)?.problems;
    if found == 10 && problems.is_empty() { Ok(()) } else { Err(format!("{found} found, {problems:?}")) }
}

fn run(seed: u64) -> Result<(u64, u64), String> {
    let mut rng = Rng::for_part(seed, 0xb0);
    let disk = SimDisk::new();
    let store = open(&disk)?;
    fill(&store).map_err(|error| error.to_string())?;
    disk.record();
    store.collection("things").and_then(|things| things.create_index(spec(), |_| ())).map_err(|e| e.to_string())?;
    drop(store);
    let (mut none, mut finished) = (0, 0);
    // Every sync, and some of the calls between them.
    let is_tried = |moment: &Moment| moment.call.kind == OpKind::Sync || moment.call.number.is_multiple_of(5);
    for moment in disk.take_moments().into_iter().filter(is_tried) {
        let policy = CrashPolicy::ALL[rng.index(CrashPolicy::ALL.len())];
        let dice = rng.next();
        let check = || -> Result<bool, String> {
            let store = open(&moment.crash(dice, policy))?;
            let is_there = wait_until_ready(&store)?;
            if is_there {
                is_whole(&store)?;
            }
            Ok(is_there)
        };
        let is_there =
            check().map_err(|what| format!("seed {seed}, {policy:?}, {dice:#x}, after {}: {what}", moment.call))?;
        none += u64::from(!is_there);
        finished += u64::from(is_there);
    }
    Ok((none, finished))
}

#[test]
fn a_build_that_was_broken_off_is_gone_on_with_by_who_opens_the_store() {
    for_seeds(1, |seed| {
        let (none, finished) = run(seed)?;
        if none == 0 || finished < 20 {
            Err(format!("{none} without, {finished} finished"))
        } else {
            Ok((none, finished))
        }
    });
}

#[test]
fn of_many_who_make_or_find_the_same_index_one_builds_it() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    fill(&Store::on(engine.clone()).unwrap()).unwrap();
    let before = engine.head();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let store = Store::on(engine.clone()).unwrap();
                store.collection("things").unwrap().create_index(spec(), |_| ()).unwrap();
            });
        }
    });
    // One that declares it, three steps, one that makes it ready.
    assert_eq!(engine.head().0 - before.0, 5);
    is_whole(&Store::on(engine).unwrap()).unwrap();
}

#[test]
fn who_makes_an_index_that_is_being_built_waits_for_its_end_and_is_told_how_far_it_is() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    fill(&Store::on(engine.clone()).unwrap()).unwrap();
    let before = engine.head();
    let (told, first_step) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wait_for = |count: &AtomicUsize| {
        let began = Instant::now();
        while count.load(Ordering::SeqCst) == 0 && began.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    std::thread::scope(|scope| {
        // The one that builds goes on when the other has been told that it has to wait.
        scope.spawn(|| {
            let store = Store::on(engine.clone()).unwrap();
            let step = |_| {
                first_step.fetch_add(1, Ordering::SeqCst);
                wait_for(&told);
            };
            store.collection("things").unwrap().create_index(spec(), step).unwrap();
        });
        scope.spawn(|| {
            wait_for(&first_step);
            let store = Store::on(engine.clone()).unwrap();
            let progress = |_| {
                told.fetch_add(1, Ordering::SeqCst);
            };
            store.collection("things").unwrap().create_index(spec(), progress).unwrap();
        });
    });
    assert!(told.load(Ordering::SeqCst) > 0);
    assert_eq!(engine.head().0 - before.0, 5, "one of them has built it");
    is_whole(&Store::on(engine).unwrap()).unwrap();
}

#[test]
fn a_store_that_is_closed_in_the_middle_of_a_build_can_be_opened_at_once() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    fill(&store).unwrap();
    disk.record();
    store.collection("things").unwrap().create_index(spec(), |_| ()).unwrap();
    drop(store);
    // A moment at which it was declared, and not much more.
    let moments = disk.take_moments();
    let declared = moments.iter().map(Moment::process_crash).find(|found| {
        let store = open(found).unwrap();
        !store.collection("things").unwrap().building().unwrap().is_empty()
    });
    let disk = declared.expect("a build under way");
    for _ in 0..20 {
        drop(open(&disk).unwrap());
    }
    // Each of them has made a step.
    let store = open(&disk).unwrap();
    assert_eq!(store.collection("things").unwrap().indexes().unwrap()[0].state, IndexState::Ready);
    is_whole(&store).unwrap();
}

#[test]
fn who_has_the_store_open_goes_on_with_the_build_of_one_that_died() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let stays = Store::on(engine.clone()).unwrap();
    fill(&stays).unwrap();
    let dies = Store::on(engine.clone()).unwrap();
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        dies.collection("things").unwrap().create_index(spec(), |_| panic!("it dies after a step"))
    }));
    assert!(died.is_err());
    let things = stays.collection("things").unwrap();
    assert_eq!(things.building().unwrap().len(), 1);
    // It was not seen standing still yet.
    let head = engine.head();
    stays.continue_builds().unwrap();
    assert_eq!(engine.head(), head);
    stays.continue_builds().unwrap();
    assert!(wait_until_ready(&stays).unwrap());
    is_whole(&stays).unwrap();
}
