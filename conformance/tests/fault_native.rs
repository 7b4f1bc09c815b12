//! The native engine, every disk call of a workload failed in every way.

use recension_conformance::crash::{Shape, env_number, fault_sweep, native, random_workload};

#[test]
fn errors_at_every_call_reach_the_caller_and_lose_nothing_acknowledged() {
    let seeds = env_number("RECENSION_SEEDS", 2);
    let first = env_number("RECENSION_SEED", 1);
    for seed in first..first + seeds {
        let steps = random_workload(seed, Shape { steps: 22, ..Shape::default() });
        let report = fault_sweep(&native::small, &steps, seed, &native::is_data).unwrap();
        println!("seed {seed}: {report:?}");
        assert!(report.refused_commits > 0 && report.poisoned > 0 && report.refused_opens > 0, "{report:?}");
    }
}
