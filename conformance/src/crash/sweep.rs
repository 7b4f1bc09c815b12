//! Crashes a run at every disk call that it made, and its recovery at every call that that makes, and
//! the recovery from that.

use super::check::Bounds;
use super::history::{History, run};
use super::recover::{check_recovery, open};
use super::workload::Step;
use super::{Finding, Opener};
use crate::sim::{CrashPolicy, Rng, SimDisk};

/// How thorough a sweep is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SweepOptions {
    /// Seeds of the random policy at every call, beside every other policy once.
    pub random_crashes: u64,
    /// Crash the recovery itself, after every so many crashes of the run. Zero: never.
    pub recovery_every: u64,
    /// Crashes of the recovery from a crashed recovery, for each crash of a recovery.
    pub second_recovery: u64,
}

/// How much a sweep has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SweepReport {
    /// Disk calls that were crashed after.
    pub moments: u64,
    /// Crashes of the run.
    pub crashes: u64,
    /// Of these, how many lost commits that nobody had been promised.
    pub lost_unpromised: u64,
    /// Crashes of a recovery.
    pub recovery_crashes: u64,
    /// Crashes of a recovery from a crashed recovery.
    pub second_crashes: u64,
}

/// Runs `steps` on an empty disk, then crashes the run everywhere.
pub fn sweep(opener: &Opener, steps: &[Step], seed: u64, options: SweepOptions) -> Result<SweepReport, Finding> {
    let history = run(&SimDisk::new(), opener, steps)?;
    sweep_history(&history, opener, seed, options)
}

/// Crashes a recorded run everywhere.
pub fn sweep_history(
    history: &History,
    opener: &Opener,
    seed: u64,
    options: SweepOptions,
) -> Result<SweepReport, Finding> {
    let mut report = SweepReport::default();
    let mut rng = Rng::for_part(seed, 0x5eed);
    for moment in &history.moments {
        report.moments += 1;
        let call = moment.call.number;
        let context = |how: &str, what: Finding| format!("seed {seed}, {how} after {}: {what}", moment.call);

        let bounds = history.after_process_death(call);
        check_recovery(&moment.process_crash(), opener, &history.model, bounds, rng.next())
            .map_err(|what| context("process death", what))?;

        let bounds = history.after_power_loss(call);
        let fixed = CrashPolicy::ALL.into_iter().filter(|&policy| policy != CrashPolicy::Random);
        let random = std::iter::repeat_n(CrashPolicy::Random, options.random_crashes as usize);
        for policy in fixed.chain(random) {
            let dice = rng.next();
            let context = |what| context(&format!("power loss ({policy:?}, dice {dice:#x})"), what);
            report.crashes += 1;
            if options.recovery_every > 0 && report.crashes.is_multiple_of(options.recovery_every) {
                let mut inner = Recoveries { opener, history, options, rng: &mut rng, report: &mut report };
                inner.crash_recovery(&moment.crash(dice, policy), bounds, 0).map_err(context)?;
            }
            let found = moment.crash(dice, policy);
            let head = check_recovery(&found, opener, &history.model, bounds, dice).map_err(context)?;
            report.lost_unpromised += u64::from(head < bounds.ceiling);
        }
    }
    Ok(report)
}

struct Recoveries<'s> {
    opener: &'s Opener,
    history: &'s History,
    options: SweepOptions,
    rng: &'s mut Rng,
    report: &'s mut SweepReport,
}

impl Recoveries<'_> {
    /// Recovers the disk, and crashes that recovery after each of its calls.
    fn crash_recovery(&mut self, disk: &SimDisk, bounds: Bounds, depth: u64) -> Result<(), Finding> {
        disk.record();
        let engine = open(disk, self.opener)?;
        let opened = disk.counters().total();
        let head = engine.head().0;
        drop(engine);
        let mut moments = disk.take_moments();
        if depth > 0 {
            // The second level is sampled: every level multiplies.
            while moments.len() > self.options.second_recovery as usize {
                moments.swap_remove(self.rng.index(moments.len()));
            }
        }
        for moment in &moments {
            let dice = self.rng.next();
            let policy = CrashPolicy::ALL[self.rng.index(CrashPolicy::ALL.len())];
            let context = |what: Finding| {
                let level = if depth == 0 { "recovery" } else { "second recovery" };
                format!("crash of the {level} ({policy:?}, dice {dice:#x}) after {}: {what}", moment.call)
            };
            // What a reader can have seen after the open stays.
            let floor = if moment.call.number >= opened { head } else { bounds.floor };
            let bounds = Bounds { floor, ..bounds };
            let found = moment.crash(dice, policy);
            if depth == 0 && self.options.second_recovery > 0 {
                self.crash_recovery(&moment.crash(dice, policy), bounds, 1).map_err(context)?;
            }
            check_recovery(&found, self.opener, &self.history.model, bounds, dice).map_err(context)?;
            *(if depth == 0 { &mut self.report.recovery_crashes } else { &mut self.report.second_crashes }) += 1;
        }
        Ok(())
    }
}
