//! A run under way: the subjects' workers, the rounds in their order, the figures so far. What fails is a
//! row with its reason, and the run goes on; only Ctrl-C ends it, and what was measured by then is kept.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::progress::Progress;
use super::{Operation, Plan, Suite};
use crate::data::Random;
use crate::error::{LabError, Result};
use crate::measure::calibrate;
use crate::measure::interleave::schedule;
use crate::measure::quiet::{self, ProcessorTimes};
use crate::measure::stats::{self, as_f64};
use crate::measure::trace::Syncs;
use crate::report::Row;
use crate::report::units::show;
use crate::subjects::{Kind, OURS, OpenOptions, Tier};
use crate::worker::{Command, Launch, Reply, Worker};

/// A sitting is disturbed if a sync takes this many times as long behind it as before the run.
const SYNC_TIMES_MAX: f64 = 3.0;

/// A subject of the run.
pub struct Member {
    /// What it is.
    pub kind: Kind,
    /// Its process, while it has one.
    pub worker: Option<Worker>,
    /// The directory of its store.
    pub dir: PathBuf,
    /// The next row that is not in its store.
    pub next_row: u64,
    /// The commit that reads as of the past go to.
    pub mark: u64,
    /// Memory that the worker held before it had done anything.
    pub memory_before: u64,
    /// The settings that it was opened with.
    pub settings: Option<String>,
    /// Syncs counted, and of how many commits.
    pub syncs: Option<(Syncs, u64)>,
    /// Why nothing more is measured of it.
    pub reason: Option<String>,
}

impl Member {
    /// Asks its worker.
    pub fn ask(&mut self, command: &Command) -> Result<Reply> {
        match &mut self.worker {
            Some(worker) => worker.ask(command),
            None => Err(LabError::Worker { what: "its worker is not running".to_owned() }),
        }
    }

    /// Closes its store in order and ends its worker. A store that would be lost stays open.
    pub fn close(&mut self) -> Result<()> {
        if !self.kind.persistent {
            return Ok(());
        }
        if self.worker.is_some() {
            self.ask(&Command::Close)?;
        }
        if let Some(worker) = self.worker.take() {
            worker.end();
        }
        Ok(())
    }

    /// Forgets its store, for the next sitting. What was found out about it stays, and so does why it is measured no
    /// more.
    fn begin_anew(&mut self, plan: &Plan) {
        self.worker = None;
        self.dir = plan.dir.join(self.kind.name);
        (self.next_row, self.mark, self.memory_before) = (0, 0, 0);
    }

    /// The tier that a figure of it has.
    fn tier(&self, plan: &Plan) -> Tier {
        if plan.on_memory_filesystem { self.kind.tier.min(Tier::T1) } else { self.kind.tier }
    }
}

/// Rounds of one subject in one operation.
#[derive(Default)]
struct Taken {
    wall: Vec<f64>,
    cpu: Vec<f64>,
    latencies: Vec<Vec<u64>>,
    notes: Vec<String>,
    settling: Option<bool>,
    reason: Option<String>,
}

/// Rounds that were measured, for more figures of them.
#[derive(Default)]
pub struct Rounds(Vec<(&'static str, usize, Reply)>);

impl Rounds {
    /// Adds one.
    pub fn add(&mut self, member: &Member, round: usize, reply: &Reply) {
        self.0.push((member.kind.name, round, reply.clone()));
    }

    /// That of a subject.
    pub fn of(&self, member: &Member, round: usize) -> Result<Reply> {
        let found = self.0.iter().find(|(name, of, _)| (*name, *of) == (member.kind.name, round));
        let reason = || LabError::Unavailable { reason: "its rounds failed".to_owned() };
        found.map(|(_, _, reply)| reply.clone()).ok_or_else(reason)
    }
}

/// The figure of a row.
#[derive(Clone, Copy, PartialEq)]
pub enum Figure {
    /// Nanoseconds an operation, the median of the rounds.
    PerOperation,
    /// This quantile of the latencies of all rounds.
    Quantile(f64),
}

/// A run.
pub struct Bench<'r> {
    /// The plan of the run.
    pub plan: &'r Plan,
    /// The suite.
    pub suite: &'static Suite,
    /// The subjects.
    pub members: Vec<Member>,
    /// The figures of this sitting so far.
    pub rows: Vec<Row>,
    /// Those of the sittings before.
    sat: Vec<Vec<Row>>,
    /// The source of every random choice.
    pub random: Random,
    /// Sittings that something disturbed and that were not done again, in words.
    pub disturbed: Vec<String>,
    stop: Arc<AtomicBool>,
    progress: Progress,
}

impl<'r> Bench<'r> {
    /// A run that has measured nothing yet.
    pub fn new(plan: &'r Plan, suite: &'static Suite, stop: Arc<AtomicBool>, progress: Progress) -> Self {
        let members = plan
            .subjects
            .iter()
            .map(|&kind| Member {
                kind,
                worker: None,
                dir: plan.dir.join(kind.name),
                next_row: 0,
                mark: 0,
                memory_before: 0,
                settings: None,
                syncs: None,
                reason: (kind.missing)(&plan.given),
            })
            .collect();
        let random = Random::new(plan.seed);
        Bench { plan, suite, members, rows: Vec::new(), sat: Vec::new(), random, disturbed: Vec::new(), stop, progress }
    }

    /// Runs the suite as often as the plan says. A sitting that something disturbed (other processes, the host, a disk
    /// whose syncs take much longer than `sync_ns`) is done again, some of them at most.
    ///
    /// # Errors
    /// [`LabError::Interrupted`], or why it could not be run at all; the rows so far stay.
    pub fn run(&mut self, sync_ns: f64) -> Result<()> {
        let (plan, mut repeats) = (self.plan, self.plan.repeats());
        for sitting in 1..=plan.sittings {
            if sitting > 1 {
                self.sat.push(std::mem::take(&mut self.rows));
                self.begin_anew()?;
            }
            self.progress.sitting(sitting, plan.sittings);
            let rows_before: Vec<usize> = self.sat.iter().map(Vec::len).collect();
            loop {
                let times = ProcessorTimes::now();
                (self.suite.run)(self)?;
                let sync_now = calibrate::sync_ns(&plan.dir)?;
                let slow = (sync_now > sync_ns * SYNC_TIMES_MAX).then(|| {
                    format!("a sync took {} after it, {} before the run", show(sync_now, "ns"), show(sync_ns, "ns"))
                });
                let Some(why) = times.others(ProcessorTimes::now()).disturb().or(slow) else { break };
                if repeats == 0 {
                    self.disturbed.push(format!("during sitting {sitting} of {}: {why}", plan.sittings));
                    break;
                }
                repeats -= 1;
                quiet::wait(plan.wait, |_| {});
                self.rows.clear();
                self.sat.iter_mut().zip(&rows_before).for_each(|(rows, before)| rows.truncate(*before));
                self.begin_anew()?;
            }
        }
        Ok(())
    }

    fn begin_anew(&mut self) -> Result<()> {
        self.members.iter_mut().for_each(|member| member.begin_anew(self.plan));
        empty_dir(&self.plan.dir)
    }

    /// Whether parts that are done once in a run are due now. They come in the last sitting, so that a run that is
    /// ended early has the rest.
    pub fn is_last_sitting(&self) -> bool {
        self.sat.len() + 1 >= self.plan.sittings
    }

    /// Repeats a part of the last sitting as often as there are sittings, with `between` in between. The figures of
    /// each repetition count as a sitting's.
    ///
    /// # Errors
    /// Those of both; the rows so far stay.
    pub fn for_each_sitting(
        &mut self,
        work: impl Fn(&mut Self) -> Result<()>,
        between: impl Fn(&mut Self) -> Result<()>,
    ) -> Result<()> {
        for sitting in 0..self.sat.len() {
            let before = self.rows.len();
            let done = work(self);
            let rows = self.rows.split_off(before);
            self.sat.get_mut(sitting).into_iter().for_each(|sat| sat.extend_from_slice(&rows));
            done?;
            between(self)?;
        }
        work(self)
    }

    /// The rows of all sittings.
    pub fn all_rows(&mut self) -> impl Iterator<Item = &mut Row> {
        self.sat.iter_mut().flatten().chain(&mut self.rows)
    }

    /// The rows of the run.
    pub fn into_rows(mut self) -> Vec<Row> {
        self.sat.push(std::mem::take(&mut self.rows));
        super::sittings::together(&self.sat)
    }

    /// The units of work of a run, for its progress.
    pub fn units(plan: &Plan, suite: &Suite) -> u64 {
        let sitting =
            suite.operations.iter().map(|operation| operation.weight).sum::<u64>() * plan.subjects.len() as u64;
        sitting * plan.sittings as u64 * 1000
    }

    /// An operation of the suite.
    ///
    /// # Errors
    /// If the suite has no operation of that name, which is a fault of the laboratory.
    pub fn operation(&self, name: &str) -> Result<Operation> {
        let found = self.suite.operations.iter().find(|operation| operation.name == name);
        found.copied().ok_or_else(|| LabError::Usage { what: format!("the suite has no operation {name}") })
    }

    /// Ends the run if Ctrl-C was pressed.
    pub fn check_stop(&self) -> Result<()> {
        if self.stop.load(Relaxed) { Err(LabError::Interrupted) } else { Ok(()) }
    }

    /// Whether a member can still be measured.
    fn is_in(&self, at: usize, who: fn(&Kind) -> bool) -> bool {
        self.members.get(at).is_some_and(|member| who(&member.kind))
    }

    /// Measures rounds of one operation, subjects in random order. `ask` does one round of one subject. With
    /// `warm_up` a first round is done and forgotten.
    ///
    /// # Errors
    /// [`LabError::Interrupted`], after the rounds so far were kept.
    pub fn rounds(
        &mut self,
        name: &str,
        who: fn(&Kind) -> bool,
        (rounds, warm_up): (usize, bool),
        figure: Figure,
        mut ask: impl FnMut(&mut Member, usize) -> Result<Reply>,
    ) -> Result<()> {
        let operation = self.operation(name)?;
        let total = rounds + usize::from(warm_up);
        let units = operation.weight * 1000 / (total as u64).max(1);
        let mut taken: Vec<Taken> = self.members.iter().map(|_| Taken::default()).collect();
        let order = schedule(self.members.len(), total, &mut self.random);
        let mut ended = Ok(());
        'rounds: for (round, order) in order.into_iter().enumerate() {
            for at in order {
                if let Err(stop) = self.check_stop() {
                    ended = Err(stop);
                    break 'rounds;
                }
                let measured = self.is_in(at, who);
                self.progress.done(units);
                let (Some(member), Some(taken)) = (self.members.get_mut(at), taken.get_mut(at)) else { continue };
                if !measured || member.reason.is_some() || taken.reason.is_some() {
                    continue;
                }
                self.progress.at(name, member.kind.name);
                match ask(member, round) {
                    Ok(reply) if !(warm_up && round == 0) => taken.add(reply),
                    Ok(_) => {}
                    Err(error) => taken.reason = Some(fail(member, &error)),
                }
            }
        }
        self.keep(operation, figure, who, taken);
        ended
    }

    fn keep(&mut self, operation: Operation, figure: Figure, who: fn(&Kind) -> bool, taken: Vec<Taken>) {
        let ours: Option<Vec<f64>> = self
            .members
            .iter()
            .zip(&taken)
            .find(|(member, _)| member.kind.name == OURS)
            .map(|(_, taken)| taken.wall.clone());
        for (member, taken) in self.members.iter().zip(taken) {
            if !who(&member.kind) {
                continue;
            }
            let reason = taken.reason.or_else(|| member.reason.clone());
            let mut row = row(self.suite.name, operation, member, self.plan);
            let summary = match figure {
                Figure::PerOperation => stats::summary(&taken.wall),
                Figure::Quantile(quantile) => stats::quantile_of_rounds(&taken.latencies, quantile),
            };
            if summary.is_none() && reason.is_none() {
                continue; // ended before its first round
            }
            row.set(summary);
            row.set_processor(stats::summary(&taken.cpu));
            if figure == Figure::PerOperation && member.kind.name != OURS {
                row.ours_to_this = ours.as_ref().and_then(|ours| stats::ratio(ours, &taken.wall));
            }
            row.set_latencies(stats::Latencies::of(&taken.latencies));
            row.settling = taken.settling;
            row.note = (!taken.notes.is_empty()).then(|| taken.notes.join("; "));
            row.reason = reason;
            row.samples = match figure {
                Figure::PerOperation => taken.wall,
                Figure::Quantile(quantile) => {
                    let of = |round: &Vec<u64>| stats::quantile_of_rounds(std::slice::from_ref(round), quantile);
                    taken.latencies.iter().filter_map(|round| Some(of(round)?.median)).collect()
                }
            };
            self.rows.push(row);
        }
    }

    /// Keeps figures that are not taken in rounds: one number a subject.
    pub fn single(
        &mut self,
        name: &str,
        who: fn(&Kind) -> bool,
        mut take: impl FnMut(&mut Member) -> Result<(f64, Option<String>)>,
    ) -> Result<()> {
        self.samples(name, who, |member| take(member).map(|(value, note)| (vec![value], note)))
    }

    /// The same for figures that were taken beside those of another operation's rounds: their median and its interval.
    pub fn samples(
        &mut self,
        name: &str,
        who: fn(&Kind) -> bool,
        mut take: impl FnMut(&mut Member) -> Result<(Vec<f64>, Option<String>)>,
    ) -> Result<()> {
        let operation = self.operation(name)?;
        for at in 0..self.members.len() {
            self.check_stop()?;
            let measured = self.is_in(at, who);
            self.progress.done(operation.weight * 1000);
            let Some(member) = self.members.get_mut(at) else { continue };
            if !measured {
                continue;
            }
            self.progress.at(name, member.kind.name);
            let found = match member.reason.clone() {
                Some(reason) => Err(reason),
                None => take(member).map_err(|error| fail(member, &error)),
            };
            let mut row = row(self.suite.name, operation, member, self.plan);
            match found {
                Ok((values, note)) => {
                    row.set(stats::summary(&values));
                    row.note = note;
                    if values.len() > 1 {
                        row.samples = values;
                    }
                }
                Err(reason) => row.reason = Some(reason),
            }
            self.rows.push(row);
        }
        Ok(())
    }

    /// Does something untimed with every subject that can still be measured.
    pub fn prepare(
        &mut self,
        what: &str,
        who: fn(&Kind) -> bool,
        mut act: impl FnMut(&mut Member) -> Result<()>,
    ) -> Result<()> {
        for at in 0..self.members.len() {
            self.check_stop()?;
            let measured = self.is_in(at, who);
            let Some(member) = self.members.get_mut(at) else { continue };
            if measured && member.reason.is_none() {
                self.progress.at(what, member.kind.name);
                if let Err(error) = act(member) {
                    fail(member, &error);
                }
            }
        }
        Ok(())
    }

    /// Checks the final state of every subject. If it is wrong, the subject has no valid figures.
    pub fn verify_with(
        &mut self,
        what: &str,
        who: fn(&Kind) -> bool,
        act: impl FnMut(&mut Member) -> Result<()>,
    ) -> Result<()> {
        let fine: Vec<&str> = self.members.iter().filter(|m| m.reason.is_none()).map(|m| m.kind.name).collect();
        self.prepare(what, who, act)?;
        let wrong = self.members.iter().filter(|member| fine.contains(&member.kind.name));
        let wrong: Vec<(&str, String)> =
            wrong.filter_map(|member| Some((member.kind.name, member.reason.clone()?))).collect();
        for row in self.all_rows() {
            if let Some((_, reason)) = wrong.iter().find(|(name, _)| *name == row.subject) {
                row.invalidate(reason);
            }
        }
        Ok(())
    }

    /// Every subject starts with an empty store of its own.
    pub fn open_new(&mut self, phase: &str, who: fn(&Kind) -> bool, options: &OpenOptions, rows: u64) -> Result<()> {
        let plan = self.plan;
        self.prepare("opening", who, |member| {
            member.dir = plan.dir.join(phase).join(member.kind.name);
            member.next_row = 0;
            member.worker = None;
            empty_dir(&member.dir)?;
            open(plan, member, &Launch::Plain, options, rows)
        })
    }

    /// Every subject ends its worker in order, and its store is removed.
    pub fn remove(&mut self, who: fn(&Kind) -> bool) -> Result<()> {
        self.prepare("cleaning up", who, |member| {
            member.close()?;
            member.worker = None;
            remove_dir(&member.dir)
        })?;
        for member in &self.members {
            if who(&member.kind) {
                let _ = remove_dir(&member.dir);
            }
        }
        Ok(())
    }

    /// The progress is over.
    pub fn finish(&mut self) {
        self.progress.finish();
        for member in &mut self.members {
            member.worker = None;
        }
    }
}

impl Taken {
    fn add(&mut self, reply: Reply) {
        let per_operation = |ns: u64| as_f64(ns as usize) / as_f64(reply.ops.max(1) as usize);
        self.wall.push(per_operation(reply.wall_ns));
        self.cpu.extend(reply.cpu_ns.map(per_operation));
        if let Some(note) = reply.note.filter(|note| !self.notes.contains(note)) {
            self.notes.push(note);
        }
        if let Some(settled) = &reply.settled {
            self.settling = Some(self.settling.unwrap_or(true) && settled.complete);
        }
        self.latencies.push(reply.latencies_ns);
    }
}

/// Starts a worker for a member, and opens its store if it is not open.
pub fn open(plan: &Plan, member: &mut Member, launch: &Launch<'_>, options: &OpenOptions, rows: u64) -> Result<()> {
    if member.worker.is_some() {
        return Ok(());
    }
    start(plan, member, launch)?;
    let reply = member.ask(&Command::Open {
        subject: member.kind.name.to_owned(),
        dir: member.dir.clone(),
        options: options.clone(),
        rows,
    })?;
    member.memory_before = reply.usage.unwrap_or_default().anonymous_bytes;
    member.settings = member.settings.take().or(reply.settings);
    Ok(())
}

/// Starts a worker for a member.
pub fn start(plan: &Plan, member: &mut Member, launch: &Launch<'_>) -> Result<()> {
    let errors = plan.dir.join(format!("{}.stderr", member.kind.name));
    member.worker = Some(Worker::start(&plan.program, launch, errors)?);
    Ok(())
}

/// Makes an empty directory.
pub fn empty_dir(dir: &std::path::Path) -> Result<()> {
    remove_dir(dir)?;
    std::fs::create_dir_all(dir).map_err(LabError::io(format!("making {}", dir.display())))
}

/// Removes a directory if it is there.
pub fn remove_dir(dir: &std::path::Path) -> Result<()> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LabError::io(format!("removing {}", dir.display()))(error))
        }
        _ => Ok(()),
    }
}

/// Notes a failure. If something cannot be measured here, that is the row's own reason. Any other error ends the
/// subject's part.
fn fail(member: &mut Member, error: &LabError) -> String {
    let reason = error.to_string();
    if !matches!(error, LabError::Unavailable { .. }) {
        member.reason = Some(reason.clone());
        member.worker = None;
    }
    reason
}

/// A row without a figure.
pub fn row(suite: &str, operation: Operation, member: &Member, plan: &Plan) -> Row {
    Row {
        suite: suite.to_owned(),
        operation: operation.name.to_owned(),
        subject: member.kind.name.to_owned(),
        unit: operation.unit.to_owned(),
        median: None,
        low: None,
        high: None,
        mean: None,
        n: 0,
        tier: format!("{:?}", member.tier(plan)),
        cpu_median: None,
        cpu_low: None,
        cpu_high: None,
        ours_to_this: None,
        quantiles: None,
        settling: None,
        note: None,
        reason: None,
        samples: Vec::new(),
        sittings: Vec::new(),
        latencies: None,
    }
}
