//! The tests of the crash tests: a toy engine that is right passes every sweep, and each fault planted
//! in it is found. A sweep that finds nothing in a broken engine would be worth nothing.

use std::sync::Arc;

use recension::disk::Disk;
use recension::engine::{Clock, Engine, Result};
use recension_conformance::crash::{
    Finding, Shape, Slip, Step, SweepOptions, SweepReport, ToyEngine, answer_after_damage, fault_sweep,
    random_workload, run, sweep,
};
use recension_conformance::sim::{Call, OpKind, SimDisk};

type Open = Box<dyn Fn(Arc<dyn Disk>, Arc<dyn Clock>) -> Result<Arc<dyn Engine>> + Sync>;

fn opener(slip: Option<Slip>) -> Open {
    Box::new(move |disk, clock| Ok(Arc::new(ToyEngine::open(&disk, clock, slip)?)))
}

fn steps(seed: u64) -> Vec<Step> {
    random_workload(seed, Shape { steps: 14, ..Shape::default() })
}

fn crash(slip: Option<Slip>, seed: u64) -> std::result::Result<SweepReport, Finding> {
    let options = SweepOptions { every: 1, random_crashes: 3, recovery_every: 4, second_recovery: 2 };
    sweep(&*opener(slip), &steps(seed), seed, options)
}

fn is_data(call: &Call) -> bool {
    matches!(call.kind, OpKind::Write | OpKind::Sync)
}

fn fail(slip: Option<Slip>, seed: u64) -> std::result::Result<(), Finding> {
    fault_sweep(&*opener(slip), &steps(seed), (seed, 1), &is_data).map(drop)
}

fn damage(slip: Option<Slip>) -> std::result::Result<(), Finding> {
    let disk = SimDisk::new();
    let open = opener(slip);
    let history = run(&disk, &*open, &steps(1))?;
    let last_begins = {
        let last = history.attempts.last().unwrap();
        let in_last = |call: &Call| call.kind == OpKind::Write && call.number > last.begun;
        history.moments.iter().map(|moment| &moment.call).find(|call| in_last(call)).unwrap().offset
    };
    for (name, len) in disk.files().into_iter().filter(|(name, _)| name.starts_with("log")) {
        for offset in 0..len {
            let damaged = disk.process_crash();
            damaged.flip(&name, offset, 1 << (offset % 8));
            let answer = answer_after_damage(&damaged, &*open, &history.model)
                .map_err(|what| format!("{name} flipped at {offset}: {what}"))?;
            let missing = matches!(answer, recension_conformance::crash::Answer::Shorter(_));
            if missing && offset < last_begins {
                return Err(format!("{name} flipped at {offset}: commits are quietly missing"));
            }
        }
    }
    Ok(())
}

#[test]
fn a_correct_engine_passes_every_sweep() {
    for seed in 1..4 {
        let report = crash(None, seed).unwrap();
        assert!(report.moments > 10 && report.lost_unpromised > 0, "{report:?}");
        assert!(report.recovery_crashes > 20 && report.second_crashes > 20, "{report:?}");
        fail(None, seed).unwrap();
    }
    damage(None).unwrap();
}

/// Some seed of a few must find the fault.
fn found(slip: Slip, by: impl Fn(Option<Slip>, u64) -> std::result::Result<(), Finding>) {
    let found = (1..9).find_map(|seed| by(Some(slip), seed).err());
    println!("{slip:?}: {}", found.as_deref().unwrap_or("not found"));
    assert!(found.is_some(), "{slip:?} was not found");
}

#[test]
fn every_fault_of_durability_is_found_by_crashing() {
    for slip in
        [Slip::NoSync, Slip::NoDirectorySync, Slip::NoChecksum, Slip::NoCut, Slip::HalfCommits, Slip::Misnumbered]
    {
        found(slip, |slip, seed| crash(slip, seed).map(drop));
    }
}

#[test]
fn every_fault_of_error_handling_is_found_by_failing_calls() {
    found(Slip::NoPoison, fail);
    found(Slip::TrustCache, fail);
}

#[test]
fn damage_that_is_passed_over_in_silence_is_found_by_flipping_bits() {
    found(Slip::QuietDamage, |slip, _| damage(slip));
    found(Slip::NoChecksum, |slip, _| damage(slip));
}
