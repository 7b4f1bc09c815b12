//! The native engine, every disk call of a workload failed in every way.

use recension::engine::native::Maintenance;
use recension::engine::{Batch, Engine, NativeEngine, NativeOptions, Seq, TreeId};
use recension_conformance::crash::{
    Shape, fault_sweep, for_seeds, full_disk_sweep, native, random_workload, usual_every,
};
use recension_conformance::sim::SimDisk;

/// Fails every call of workloads of this many steps, in stores without a key and with one.
fn fail_everywhere(steps: usize, options: native::Options) {
    for (kind, opener) in native::openers(options) {
        for_seeds(2, |seed| {
            let steps = random_workload(seed, Shape { steps, ..Shape::for_seed(seed) });
            let report = fault_sweep(&*opener, &steps, (seed, usual_every()), &native::is_data(kind == native::SEALED))
                .map_err(|what| format!("{kind}: {what}"))?;
            let empty = report.refused_commits == 0 || report.poisoned == 0 || report.refused_opens == 0;
            if empty { Err(format!("the sweep was empty: {report:?}")) } else { Ok(report) }
        });
    }
}

/// The same on disks that are full at any size.
fn fill_everywhere(seeds: u64, steps: usize, options: native::Options, capacities: (u64, usize)) {
    for (kind, opener) in native::openers(options) {
        for_seeds(seeds, |seed| {
            let steps = random_workload(seed, Shape { steps, ..Shape::for_seed(seed) });
            let report = full_disk_sweep(&*opener, &steps, seed, (0..capacities.0).step_by(capacities.1))
                .map_err(|what| format!("{kind}: {what}"))?;
            let empty = report.refused_commits == 0 || report.refused_opens == 0;
            if empty { Err(format!("the sweep was empty: {report:?}")) } else { Ok(report) }
        });
    }
}

#[test]
fn errors_at_every_call_reach_the_caller_and_lose_nothing_acknowledged() {
    fail_everywhere(16, native::small_options);
}

#[test]
fn errors_while_commits_are_settled_lose_nothing_acknowledged() {
    fail_everywhere(22, native::settling_options);
}

#[test]
fn errors_of_the_mark_lose_nothing_acknowledged() {
    fail_everywhere(16, native::marking_options);
}

#[test]
fn a_disk_that_is_full_at_any_size_while_commits_are_settled_loses_nothing_acknowledged() {
    fill_everywhere(2, 40, native::settling_options, (90_000, 1733));
}

#[test]
fn a_disk_that_is_full_at_any_size_loses_nothing_acknowledged() {
    fill_everywhere(3, 30, native::small_options, (80_000, 1111));
}

#[test]
fn a_disk_with_room_for_less_than_a_segment_takes_small_commits_until_it_is_full() {
    let segment_bytes = 1 << 20;
    let inline = NativeOptions { segment_bytes, maintenance: Maintenance::Inline, ..NativeOptions::default() };
    for key in [None, Some(native::key())] {
        takes_commits_until_it_is_full(&NativeOptions { key, ..inline.clone() });
    }
}

fn takes_commits_until_it_is_full(options: &NativeOptions) {
    let disk = SimDisk::new();
    disk.set_capacity(options.segment_bytes / 2);
    let engine = NativeEngine::open(disk.arc(), options.clone()).unwrap();
    let put = |engine: &NativeEngine, n: u64| {
        let mut batch = Batch::new();
        batch.put(TreeId(1), &n.to_be_bytes(), &[7; 1000]);
        engine.commit(batch)
    };
    let mut taken = 0;
    let refusal = loop {
        match put(&engine, taken) {
            Ok(_) => taken += 1,
            Err(refusal) => break refusal,
        }
    };
    assert!(taken > 300, "{taken} commits of a kilobyte in half a megabyte");
    assert!(refusal.is_disk_full(), "{refusal}");
    assert!(engine.check_writes().is_err_and(|error| error.is_disk_full()));
    // Room again: the store goes on without being opened again.
    disk.heal();
    put(&engine, taken).unwrap();
    engine.check_writes().unwrap();
    engine.close().unwrap();
    let engine = NativeEngine::open(disk.arc(), options.clone()).unwrap();
    assert_eq!(engine.head(), Seq(taken + 1));
    assert_eq!(engine.verify().unwrap().problems, []);
}
