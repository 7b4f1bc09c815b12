//! The native engine, every disk call of a workload failed in every way.

use recension::engine::native::Maintenance;
use recension::engine::{Batch, Engine, NativeEngine, NativeOptions, Seq, TreeId};
use recension_conformance::crash::{Shape, fault_sweep, for_seeds, full_disk_sweep, native, random_workload};
use recension_conformance::sim::SimDisk;

#[test]
fn errors_at_every_call_reach_the_caller_and_lose_nothing_acknowledged() {
    for_seeds(2, |seed| {
        let steps = random_workload(seed, Shape { steps: 16, ..Shape::for_seed(seed) });
        let report = fault_sweep(&*opener, &steps, seed, &native::is_data(sealed))?;
        let empty = report.refused_commits == 0 || report.poisoned == 0 || report.refused_opens == 0;
        if empty { Err(format!("the sweep was empty: {report:?}")) } else { Ok(report) }
    });
}

#[test]
fn errors_while_commits_are_settled_lose_nothing_acknowledged() {
    for_seeds(2, |seed| {
        let steps = random_workload(seed, Shape { steps: 22, ..Shape::for_seed(seed) });
        let report = fault_sweep(&*opener, &steps, seed, &native::is_data(sealed))?;
        let empty = report.refused_commits == 0 || report.poisoned == 0 || report.refused_opens == 0;
        if empty { Err(format!("the sweep was empty: {report:?}")) } else { Ok(report) }
    });
}

#[test]
fn errors_of_the_mark_lose_nothing_acknowledged() {
    for_seeds(2, |seed| {
        let steps = random_workload(seed, Shape { steps: 16, ..Shape::for_seed(seed) });
        let report = fault_sweep(&*opener, &steps, seed, &native::is_data(sealed))?;
        let empty = report.refused_commits == 0 || report.poisoned == 0 || report.refused_opens == 0;
        if empty { Err(format!("the sweep was empty: {report:?}")) } else { Ok(report) }
    });
}

#[test]
fn a_disk_that_is_full_at_any_size_while_commits_are_settled_loses_nothing_acknowledged() {
    for_seeds(2, |seed| {
        let steps = random_workload(seed, Shape { steps: 40, ..Shape::for_seed(seed) });
        let report = full_disk_sweep(&*opener, &steps, seed, (0..90_000).step_by(1733))?;
        let empty = report.refused_commits == 0 || report.refused_opens == 0;
        if empty { Err(format!("the sweep was empty: {report:?}")) } else { Ok(report) }
    });
}

#[test]
fn a_disk_that_is_full_at_any_size_loses_nothing_acknowledged() {
    for_seeds(3, |seed| {
        let steps = random_workload(seed, Shape { steps: 30, ..Shape::for_seed(seed) });
        let report = full_disk_sweep(&*opener, &steps, seed, (0..80_000).step_by(1111))?;
        let empty = report.refused_commits == 0 || report.refused_opens == 0;
        if empty { Err(format!("the sweep was empty: {report:?}")) } else { Ok(report) }
    });
}

#[test]
fn a_disk_with_room_for_less_than_a_segment_takes_small_commits_until_it_is_full() {
    let segment_bytes = 1 << 20;
    let options = NativeOptions { segment_bytes, maintenance: Maintenance::Inline, ..NativeOptions::default() };
    let disk = SimDisk::new();
    disk.set_capacity(segment_bytes / 2);
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
    // Room again: the store goes on without being opened again.
    disk.heal();
    put(&engine, taken).unwrap();
    engine.close().unwrap();
    let engine = NativeEngine::open(disk.arc(), options).unwrap();
    assert_eq!(engine.head(), Seq(taken + 1));
    assert_eq!(engine.verify().unwrap().problems, []);
}
