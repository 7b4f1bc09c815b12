//! Random histories on every engine against the model: 800, or 10,000 in a long run, or `RECENSION_HISTORIES=n`;
//! one again with `RECENSION_SEED=n`. The native engine's options follow from the seed too: whatever they
//! are, the answers must be the same.

use std::sync::atomic::{AtomicU64, Ordering};

use recension::engine::NativeOptions;
use recension::engine::native::Maintenance;
use recension_conformance::crash::{env_number, usual_or_long};
use recension_conformance::history::check;
use recension_conformance::sim::Rng;
use recension_conformance::suite::EngineFactory;
use recension_conformance::suite::engines::{Memory, Native, Remote, Replicated, Sqlite};

/// Histories in all; the engines share them in hundredths.
fn histories(percent: u64) -> u64 {
    env_number("RECENSION_HISTORIES", usual_or_long(400, 10_000)) * percent / 100
}

fn check_all(count: u64, engine: impl Fn(u64) -> Box<dyn EngineFactory> + Sync) {
    if let Some(seed) = std::env::var("RECENSION_SEED").ok().and_then(|n| n.parse().ok()) {
        check(&*engine(seed), seed).unwrap_or_else(|failure| panic!("{failure}"));
        return;
    }
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= count {
                        return;
                    }
                    if let Err(failure) = check(&*engine(seed), seed) {
                        next.store(count, Ordering::Relaxed);
                        panic!("{failure}");
                    }
                }
            });
        }
    });
}

/// The native engine with options that follow from the seed.
fn native(seed: u64) -> Native {
    let mut rng = Rng::for_part(seed, 1);
    let mut pick = |from: &[u64]| from[rng.index(from.len())];
    let options = NativeOptions {
        segment_bytes: pick(&[8 << 10, 12 << 10, 40 << 10, 1 << 20]),
        index_memory_bytes: pick(&[1, 2 << 10, 16 << 10, 1 << 20]),
        checkpoint_log_bytes: pick(&[1, 3 << 10, 30 << 10, 1 << 20]),
        merge_fan_in: pick(&[2, 3, 4]) as usize,
        settle_log_bytes: [None, Some(1), Some(5 << 10), Some(20 << 10)][pick(&[0, 1, 2, 3]) as usize],
        settle_bytes_per_second: 1 << 40,
        block_cache_bytes: pick(&[0, 4 << 10, 1 << 20]),
        maintenance: if pick(&[0, 1, 2]) == 0 { Maintenance::Background } else { Maintenance::Inline },
        ..Native::tiny().options
    };
    Native { options, on_disk: false }
}

#[test]
fn the_native_engine_answers_as_the_model() {
    check_all(histories(60), |seed| Box::new(native(seed)));
}

/// The model itself never gives anything up, so this compares what the rules leave of it.
#[test]
fn the_memory_engine_answers_as_the_model_within_its_rules() {
    check_all(histories(10), |_| Box::new(Memory));
}

#[test]
fn the_sqlite_engine_answers_as_the_model() {
    check_all(histories(28), |_| Box::new(Sqlite::tiny()));
}

/// Beside the answers, what a cache reads again from its log after each reopening.
#[test]
fn the_engine_over_a_shared_log_answers_as_the_model() {
    check_all(histories(5), |_| Box::new(Replicated::tiny()));
    check_all(histories(1), |_| Box::new(Replicated::in_folder()));
}

#[test]
fn a_remote_engine_answers_as_the_model() {
    check_all(histories(12), |seed| Box::new(Remote(native(seed))));
}

#[test]
fn engines_as_users_have_them_answer_as_the_model() {
    check_all(histories(1), |_| Box::new(Native { on_disk: true, ..Native::default() }));
    check_all(histories(1), |_| Box::new(Sqlite { on_disk: true, ..Sqlite::default() }));
}
