//! The native engine, every disk call of a workload failed in every way.

use recension_conformance::crash::{Shape, fault_sweep, for_seeds, full_disk_sweep, native, random_workload};

#[test]
fn errors_at_every_call_reach_the_caller_and_lose_nothing_acknowledged() {
    for_seeds(2, |seed| {
        let steps = random_workload(seed, Shape { steps: 16, ..Shape::for_seed(seed) });
        let report = fault_sweep(&native::small, &steps, seed, &native::is_data)?;
        let empty = report.refused_commits == 0 || report.poisoned == 0 || report.refused_opens == 0;
        if empty { Err(format!("the sweep was empty: {report:?}")) } else { Ok(report) }
    });
}

#[test]
fn a_disk_that_is_full_at_any_size_loses_nothing_acknowledged() {
    for_seeds(3, |seed| {
        let steps = random_workload(seed, Shape { steps: 30, ..Shape::for_seed(seed) });
        let report = full_disk_sweep(&native::small, &steps, seed, (0..80_000).step_by(1111))?;
        let empty = report.refused_commits == 0 || report.refused_opens == 0;
        if empty { Err(format!("the sweep was empty: {report:?}")) } else { Ok(report) }
    });
}
