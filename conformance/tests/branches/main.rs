//! Branches and kept moments under random histories: an engine that becomes a branch of itself after some commits, and
//! again, answers as the model, which has no branches. 1,000 in all, more with `RECENSION_HISTORIES=n`; one again with
//! `RECENSION_SEED=n`. Histories of documents on branches, and crashes of steps that branches have of their own.

mod crash;
mod histories;
mod model;
mod nodes;

use std::sync::atomic::{AtomicU64, Ordering};

use recension_conformance::history::check;
use recension_conformance::suite::EngineFactory;
use recension_conformance::suite::engines::{Forks, Memory, Native, Replicated, Sqlite};

fn check_all(percent: u64, inner: impl Fn() -> Box<dyn EngineFactory> + Sync) {
    let number = |name| std::env::var(name).ok().and_then(|n: String| n.parse::<u64>().ok());
    let engine = |seed: u64| Forks { inner: inner(), every: 1 + seed % 13 };
    if let Some(seed) = number("RECENSION_SEED") {
        check(&engine(seed), seed).unwrap_or_else(|failure| panic!("{failure}"));
        return;
    }
    let (next, count) = (AtomicU64::new(0), number("RECENSION_HISTORIES").unwrap_or(1000) * percent / 100);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= count {
                        return;
                    }
                    if let Err(failure) = check(&engine(seed), seed) {
                        next.store(count, Ordering::Relaxed);
                        panic!("{failure}");
                    }
                }
            });
        }
    });
}

#[test]
fn branches_over_the_memory_engine_answer_as_the_model() {
    check_all(20, || Box::new(Memory));
}

#[test]
fn branches_over_the_native_engine_answer_as_the_model() {
    check_all(60, || Box::new(Native::tiny()));
}

#[test]
fn branches_over_the_sqlite_engine_answer_as_the_model() {
    check_all(15, || Box::new(Sqlite::tiny()));
}

#[test]
fn branches_over_a_shared_log_answer_as_the_model() {
    check_all(5, || Box::new(Replicated::tiny()));
}
