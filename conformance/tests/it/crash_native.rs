//! The native engine, crashed at every disk call of a workload, and at every call of its recovery.

use recension_conformance::crash::{Shape, SweepOptions, for_seeds, native, random_workload, sweep, usual_every};

/// Without a key, and with one.
fn crash_everywhere(seeds: u64, options: native::Options) {
    for (kind, opener) in native::openers(options) {
        for_seeds(seeds, |seed| {
            let options =
                SweepOptions { every: usual_every(), random_crashes: 2, recovery_every: 90, second_recovery: 1 };
            let report = sweep(&*opener, &random_workload(seed, Shape::for_seed(seed)), seed, options)
                .map_err(|what| format!("{kind}: {what}"))?;
            let empty = report.lost_unpromised == 0 || report.second_crashes == 0;
            if empty { Err(format!("the sweep was empty: {report:?}")) } else { Ok(report) }
        });
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_there_half_after_a_crash_at_any_call() {
    crash_everywhere(4, native::small_options);
}

#[test]
fn nor_is_anything_while_commits_are_settled() {
    crash_everywhere(4, native::settling_options);
}

#[test]
fn no_crash_leaves_less_than_the_mark_knows_of() {
    crash_everywhere(2, native::marking_options);
}
