//! Commits of several threads that are written and synced together, and a crash in the middle of it:
//! each of them is there whole or not at all, in the order of their seqs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use recension::engine::{Clock, Durability};
use recension_conformance::crash::{
    Attempt, Finding, History, Opener, Shape, SweepOptions, batch_of, for_seeds, native, random_changes, sweep_history,
    test_clock, usual_every,
};
use recension_conformance::sim::{OpKind, Rng, SimDisk};

const THREADS: u64 = 4;
const COMMITS: u64 = 7;

fn concurrent_history(seed: u64, opener: &Opener) -> Result<History, Finding> {
    let disk = SimDisk::new();
    disk.record();
    let engine = opener(disk.arc(), test_clock() as Arc<dyn Clock>).map_err(|e| e.to_string())?;
    let waiting = Arc::new(AtomicU64::new(0));
    // The disk is slow enough for others to come along. Nothing depends on how many do.
    let others = waiting.clone();
    disk.before(OpKind::Sync, move |_| {
        for _ in 0..2000 {
            if others.load(Ordering::SeqCst) >= THREADS {
                break;
            }
            std::thread::yield_now();
        }
    });
    let attempts = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (disk, engine, waiting, attempts) = (&disk, &engine, &waiting, &attempts);
            scope.spawn(move || {
                let mut rng = Rng::for_part(seed, thread);
                for _ in 0..COMMITS {
                    let changes = random_changes(&mut rng, Shape { large_percent: 5, ..Shape::default() });
                    let durability = if rng.percent(85) { Durability::Disk } else { Durability::Process };
                    let begun = disk.counters().total();
                    waiting.fetch_add(1, Ordering::SeqCst);
                    let commit = engine.commit(batch_of(&changes, durability)).unwrap();
                    waiting.fetch_sub(1, Ordering::SeqCst);
                    let acknowledged = disk.counters().total();
                    attempts.lock().push(Attempt { changes, durability, begun, acknowledged, commit });
                }
            });
        }
    });
    drop(engine);
    let mut history = History { attempts: attempts.into_inner(), moments: disk.take_moments(), ..History::default() };
    history.attempts.sort_by_key(|attempt| attempt.commit.seq);
    for attempt in &history.attempts {
        let expected = history.model.apply(&attempt.changes, attempt.commit.time);
        if attempt.commit.seq != expected {
            return Err(format!("seq {} was given twice or left out", attempt.commit.seq));
        }
    }
    Ok(history)
}

#[test]
fn a_group_that_is_torn_keeps_whole_commits_in_order() {
    let groups = AtomicU64::new(0);
    for_seeds(4, |seed| {
        let mut history = concurrent_history(seed, &native::small)?;
        let data =
            |kind| history.moments.iter().filter(|m| m.call.kind == kind && native::is_data(false)(&m.call)).count();
        let writes = data(OpKind::Write) as u64;
        groups.fetch_add(u64::from(writes < THREADS * COMMITS), Ordering::SeqCst);
        // The other calls are crashed by the sweep of single commits.
        history.moments.retain(|moment| native::is_data(false)(&moment.call));
        let options = SweepOptions { every: usual_every(), random_crashes: 6, recovery_every: 0, second_recovery: 0 };
        let report = sweep_history(&history, &native::small, seed, options)?;
        Ok((report, writes))
    });
    assert!(groups.into_inner() > 0, "no two commits were ever written together");
}

#[test]
fn a_crash_beside_the_maintenance_thread_loses_nothing_acknowledged() {
    for_seeds(2, |seed| {
        let history = concurrent_history(seed, &native::small_in_background)?;
        let options = SweepOptions { every: usual_every(), random_crashes: 1, recovery_every: 0, second_recovery: 0 };
        sweep_history(&history, &native::small, seed, options)
    });
}
