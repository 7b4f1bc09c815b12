//! Crashes a run at every disk call that it made, then its recovery at every call of the recovery, and then the
//! recovery from that.

use super::check::Bounds;
use super::history::{History, run};
use super::recover::{check_recovery, open};
use super::workload::Step;
use super::{Finding, Opener};
use crate::sim::{CrashPolicy, Rng, SimDisk};

/// How thorough a sweep is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SweepOptions {
    /// The run is crashed after every call (1), or after each second, third one, begun by the seed.
    pub every: u64,
    /// The number of seeds of the random policy at every call. Every other policy runs once.
    pub random_crashes: u64,
    /// How many crashes of the run there are for each one whose recovery is crashed too. Zero: none.
    pub recovery_every: u64,
    /// The number of crashes of the recovery from a crashed recovery, for each crash of a recovery.
    pub second_recovery: u64,
}

/// The counts of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SweepReport {
    /// Disk calls after which there was a crash.
    pub moments: u64,
    /// Crashes of the run.
    pub crashes: u64,
    /// Crashes of the run that lost commits which had not been promised to anybody.
    pub lost_unpromised: u64,
    /// Crashes of a recovery.
    pub recovery_crashes: u64,
    /// Crashes of a recovery from a crashed recovery.
    pub second_crashes: u64,
}

/// Runs `steps` on an empty disk, then crashes the run at every call.
pub fn sweep(opener: &Opener, steps: &[Step], seed: u64, options: SweepOptions) -> Result<SweepReport, Finding> {
    let history = run(&SimDisk::new(), opener, steps)?;
    sweep_history(&history, opener, seed, options)
}

/// Crashes a recorded run at every call, or as many as `options` say.
pub fn sweep_history(
    history: &History,
    opener: &Opener,
    seed: u64,
    options: SweepOptions,
) -> Result<SweepReport, Finding> {
    let mut report = SweepReport::default();
    let mut rng = Rng::for_part(seed, 0x5eed);
    for moment in history.moments.iter().skip((seed % options.every) as usize).step_by(options.every as usize) {
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
            // The second level is sampled, because every level multiplies the runs.
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
            // Commits that a reader may have seen after the open must stay.
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
