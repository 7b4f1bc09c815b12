//! The native engine, crashed at every disk call of a workload, and at every call of its recovery.

use recension_conformance::crash::{Shape, SweepOptions, env_number, native, random_workload, sweep};

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_there_half_after_a_crash_at_any_call() {
    let seeds = env_number("RECENSION_SEEDS", 4);
    let first = env_number("RECENSION_SEED", 1);
    for seed in first..first + seeds {
        let options = SweepOptions { random_crashes: 4, recovery_every: 25, second_recovery: 1 };
        let steps = random_workload(seed, Shape::default());
        let report = sweep(&native::small, &steps, seed, options).unwrap();
        println!("seed {seed}: {report:?}");
        assert!(report.lost_unpromised > 0 && report.second_crashes > 0, "the sweep was empty: {report:?}");
    }
}
