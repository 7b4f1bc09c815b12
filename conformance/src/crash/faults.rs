//! Fails every disk call of a workload in every way, and checks the store's behaviour: errors reach the caller, readers
//! go on, nothing acknowledged is lost, and no commit is there by half.

use std::sync::Arc;

use recension::engine::{Clock, Durability, Engine, EngineError, ManualClock, Seq};

use super::check::{Bounds, check_answers, check_store};
use super::history::{Model, no_violations, test_clock};
use super::recover::{go_on, open};
use super::workload::{Change, Step, batch_of};
use super::{Finding, Opener};
use crate::sim::{CrashPolicy, Fault, FaultKind, Rng, SimDisk};

/// The counts of a sweep of faults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FaultReport {
    /// Runs in which a call failed.
    pub runs: u64,
    /// Commits that returned an error.
    pub refused_commits: u64,
    /// Commits refused because of an earlier failure.
    pub poisoned: u64,
    /// Opens that returned an error, and worked on the second attempt.
    pub refused_opens: u64,
    /// Commits that returned an error and were found whole after reopening.
    pub found_all_the_same: u64,
}

/// Runs `steps` once for every disk call, or for each of `every` calls, and every way of failing.
pub fn fault_sweep(
    opener: &Opener,
    steps: &[Step],
    (seed, every): (u64, u64),
    is_data: &dyn Fn(&crate::sim::Call) -> bool,
) -> Result<FaultReport, Finding> {
    let mut report = FaultReport::default();
    for kind in FaultKind::ALL {
        for at in (1 + seed % every..).step_by(every as usize) {
            let disk = SimDisk::new();
            disk.fail(Fault::nth(at, kind));
            let mut run = FaultRun::new(&disk, opener, is_data);
            let context = |what| {
                let call = disk.last_failed().map_or(String::new(), |call| call.to_string());
                format!("seed {seed}, {kind:?} of call {at} that can fail so, {call}: {what} {:?}", disk.violations())
            };
            run.all(steps).and_then(|()| run.aftermath(seed ^ at)).map_err(context)?;
            if disk.faults_hit() == 0 {
                break;
            }
            report.add(run.report, true);
        }
    }
    Ok(report)
}

/// Runs `steps` on a disk that is full after this many bytes, for each of `capacities`.
pub fn full_disk_sweep(
    opener: &Opener,
    steps: &[Step],
    seed: u64,
    capacities: impl Iterator<Item = u64>,
) -> Result<FaultReport, Finding> {
    let mut report = FaultReport::default();
    for capacity in capacities {
        let disk = SimDisk::new();
        disk.set_capacity(capacity);
        // A lack of space is reported before anything is written: the store may go on with commits that fit.
        let mut run = FaultRun::new(&disk, opener, &|_| false);
        let context = |what| format!("seed {seed}, a disk of {capacity} bytes: {what}");
        run.all(steps).and_then(|()| run.aftermath(seed ^ capacity)).map_err(context)?;
        report.add(run.report, disk.faults_hit() > 0);
    }
    Ok(report)
}

impl FaultReport {
    fn add(&mut self, run: FaultReport, failed: bool) {
        self.runs += u64::from(failed);
        self.refused_commits += run.refused_commits;
        self.poisoned += run.poisoned;
        self.refused_opens += run.refused_opens;
        self.found_all_the_same += run.found_all_the_same;
    }
}

struct FaultRun<'r> {
    disk: &'r SimDisk,
    opener: &'r Opener,
    is_data: &'r dyn Fn(&crate::sim::Call) -> bool,
    clock: Arc<ManualClock>,
    /// The commits that were acknowledged, or that returned an error and were found whole.
    model: Model,
    /// The commits that were refused since the last acknowledged one. One of them may be there.
    refused: Vec<Vec<Change>>,
    /// The numbers of commits that survive a power loss, and the death of the process.
    durable: u64,
    written: u64,
    report: FaultReport,
}

impl<'r> FaultRun<'r> {
    fn new(disk: &'r SimDisk, opener: &'r Opener, is_data: &'r dyn Fn(&crate::sim::Call) -> bool) -> Self {
        FaultRun {
            disk,
            opener,
            is_data,
            clock: test_clock(),
            model: Model::default(),
            refused: Vec::new(),
            durable: 0,
            written: 0,
            report: FaultReport::default(),
        }
    }

    fn all(&mut self, steps: &[Step]) -> Result<(), Finding> {
        let mut engine = self.open()?;
        // This is set at the first failed write or sync of data, until the store is opened again.
        let mut must_be_poisoned = false;
        for step in steps {
            let hits = self.disk.faults_hit();
            match step {
                Step::Commit(changes, durability) => {
                    self.clock.advance(1);
                    match engine.commit(batch_of(changes, *durability)) {
                        Ok(info) if must_be_poisoned => {
                            return Err(format!("seq {} acknowledged after a failed write or sync of data", info.seq));
                        }
                        Ok(info) => self.acknowledged(changes, *durability, info)?,
                        Err(error) => self.refused(changes, &error)?,
                    }
                }
                Step::Checkpoint => match engine.checkpoint() {
                    Ok(()) => {
                        self.durable = self.durable.max(self.model.head());
                        self.written = self.written.max(self.model.head());
                    }
                    Err(error) => self.after_a_fault(&error)?,
                },
                Step::Reopen => {
                    drop(engine);
                    engine = self.open()?;
                    must_be_poisoned = false;
                }
            }
            if self.disk.faults_hit() > hits && self.disk.last_failed().is_some_and(|call| (self.is_data)(&call)) {
                must_be_poisoned = !matches!(step, Step::Reopen);
            }
            if must_be_poisoned && engine.check_writes().is_ok() {
                return Err(format!("after {} writes are said to be taken, and are not", name(step)));
            }
            self.readers(&*engine).map_err(|what| format!("what readers see after {}: {what}", name(step)))?;
        }
        drop(engine);
        no_violations(self.disk)
    }

    /// Readers see the acknowledged commits. A read that fails because of the fault is repeated.
    fn readers(&self, engine: &dyn Engine) -> Result<(), Finding> {
        let hits = self.disk.faults_hit();
        let check = || check_answers(engine, self.model.engine(), Seq(self.model.head()));
        match check() {
            Err(_) if self.disk.faults_hit() > hits => check(),
            answer => answer,
        }
    }

    fn open(&mut self) -> Result<Arc<dyn Engine>, Finding> {
        let hits = self.disk.faults_hit();
        let open = || (self.opener)(self.disk.arc(), self.clock.clone() as Arc<dyn Clock>);
        let engine = match open() {
            Ok(engine) => engine,
            Err(error) if self.disk.faults_hit() == hits => return Err(format!("open without a fault: {error}")),
            Err(EngineError::Damaged { file, offset, what }) => {
                return Err(format!("an I/O error was taken for damage: {file} at {offset}: {what}"));
            }
            Err(_) => {
                self.report.refused_opens += 1;
                // The cause is repaired: a full disk gets space.
                self.disk.heal();
                open().map_err(|e| format!("the second open, after one that failed: {e}"))?
            }
        };
        let bounds = Bounds { floor: self.written, ceiling: self.model.head() + 1 };
        let refused = self.refused.clone();
        let hits = self.disk.faults_hit();
        let mut adopted = self.adopt(&*engine, bounds);
        if adopted.is_err() && self.disk.faults_hit() > hits {
            // The fault hit this read.
            self.refused = refused;
            adopted = self.adopt(&*engine, bounds);
        }
        adopted?;
        self.durable = self.model.head();
        self.written = self.durable;
        Ok(engine)
    }

    /// Checks what an open has found. If a refused commit is there whole, adds it to the model.
    fn adopt(&mut self, engine: &dyn Engine, bounds: Bounds) -> Result<(), Finding> {
        let head = engine.head().0;
        if head <= self.model.head() {
            check_store(engine, self.model.engine(), bounds)?;
            self.model = self.model.prefix(head);
            self.refused.clear();
            return Ok(());
        }
        let time = engine.snapshot().and_then(|snapshot| snapshot.time()).map_err(|e| e.to_string())?;
        let mut first = None;
        for changes in std::mem::take(&mut self.refused) {
            let mut model = self.model.prefix(self.model.head());
            model.apply(&changes, time);
            match check_store(engine, model.engine(), Bounds { floor: bounds.floor, ceiling: model.head() }) {
                Ok(_) => {
                    self.model = model;
                    self.report.found_all_the_same += 1;
                    return Ok(());
                }
                Err(what) => first = first.or(Some(what)),
            }
        }
        let what = first.unwrap_or_else(|| "nothing was refused that it could be".to_owned());
        Err(format!("a commit that nobody acknowledged is there, and it is none that was refused: {what}"))
    }

    fn acknowledged(
        &mut self,
        changes: &[Change],
        durability: Durability,
        info: recension::engine::CommitInfo,
    ) -> Result<(), Finding> {
        let expected = self.model.apply(changes, info.time);
        if info.seq != expected {
            return Err(format!("a commit was given seq {}, not {expected}", info.seq));
        }
        self.refused.clear();
        if durability == Durability::Disk {
            self.durable = info.seq.0;
        }
        if durability != Durability::Memory {
            self.written = info.seq.0;
        }
        Ok(())
    }

    fn refused(&mut self, changes: &[Change], error: &EngineError) -> Result<(), Finding> {
        self.after_a_fault(error)?;
        self.report.refused_commits += 1;
        if matches!(error, EngineError::Poisoned { .. }) {
            self.report.poisoned += 1;
        } else {
            self.refused.push(changes.to_vec());
        }
        Ok(())
    }

    fn after_a_fault(&self, error: &EngineError) -> Result<(), Finding> {
        match error {
            _ if self.disk.faults_hit() == 0 => Err(format!("an error without a fault: {error}")),
            EngineError::Io { .. } | EngineError::Poisoned { .. } => Ok(()),
            other => Err(format!("an I/O error was reported as something else: {other}")),
        }
    }

    /// The process dies, or the power fails: the store found afterwards must hold all acknowledged commits.
    fn aftermath(&mut self, seed: u64) -> Result<(), Finding> {
        let mut rng = Rng::for_part(seed, 0xaf7e);
        let mut cases = vec![("closed and opened again".to_owned(), self.disk.process_crash(), self.written)];
        for policy in [CrashPolicy::DropAll, CrashPolicy::KeepAll, CrashPolicy::Random] {
            let name = format!("after a power loss ({policy:?})");
            cases.push((name, self.disk.crash(rng.next(), policy), self.durable));
        }
        for (when, found, floor) in cases {
            let mut after = FaultRun::new(&found, self.opener, self.is_data);
            after.model = self.model.prefix(self.model.head());
            after.refused.clone_from(&self.refused);
            let context = |what| format!("{when}: {what}");
            let engine = open(&found, self.opener).map_err(context)?;
            after.adopt(&*engine, Bounds { floor, ceiling: self.model.head() + 1 }).map_err(context)?;
            self.report.found_all_the_same += after.report.found_all_the_same;
            go_on(&found, engine, self.opener, after.model, &[], rng.next()).map_err(context)?;
        }
        Ok(())
    }
}

fn name(step: &Step) -> &'static str {
    match step {
        Step::Commit(..) => "a commit",
        Step::Checkpoint => "a checkpoint",
        Step::Reopen => "an open",
    }
}
