//! A recorded run of a workload: the attempted commits, and when they were acknowledged, counted in disk calls. The
//! model gives the state after every prefix of them.

use std::sync::Arc;

use recension::engine::{Clock, CommitInfo, Durability, Engine, ManualClock, MemoryEngine, Seq, Timestamp};

use super::check::{Bounds, check_answers};
use super::workload::{Change, Step, batch_of};
use super::{Finding, Opener};
use crate::sim::{Moment, SimDisk};

/// Commits in order, and the memory engine that holds them.
pub struct Model {
    log: Vec<(Vec<Change>, Timestamp)>,
    engine: MemoryEngine,
    clock: Arc<ManualClock>,
}

impl Default for Model {
    fn default() -> Self {
        let clock = Arc::new(ManualClock::default());
        Model { log: Vec::new(), engine: MemoryEngine::with_clock(clock.clone()), clock }
    }
}

impl Model {
    /// Applies the next commit.
    pub fn apply(&mut self, changes: &[Change], time: Timestamp) -> Seq {
        self.clock.set(time);
        self.log.push((changes.to_vec(), time));
        // The memory engine refuses only batches beyond the limits, which no workload makes.
        self.engine.commit(batch_of(changes, Durability::Disk)).map_or(Seq::ZERO, |commit| commit.seq)
    }

    /// Another model that holds the first `len` commits.
    #[must_use]
    pub fn prefix(&self, len: u64) -> Model {
        let mut model = Model::default();
        for (changes, time) in self.log.iter().take(len as usize) {
            model.apply(changes, *time);
        }
        model
    }

    /// The commits after the first `len`.
    pub fn after(&self, len: u64) -> &[(Vec<Change>, Timestamp)] {
        self.log.get(len as usize..).unwrap_or_default()
    }

    /// The number of commits.
    pub fn head(&self) -> u64 {
        self.log.len() as u64
    }

    /// The engine that holds them.
    pub fn engine(&self) -> &MemoryEngine {
        &self.engine
    }
}

/// An attempted commit.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Its rows.
    pub changes: Vec<Change>,
    /// The durability that it asked for.
    pub durability: Durability,
    /// The number of disk calls before it began.
    pub begun: u64,
    /// The number of disk calls when it was acknowledged.
    pub acknowledged: u64,
    /// Its number and time.
    pub commit: CommitInfo,
}

/// A run without faults.
#[derive(Default)]
pub struct History {
    /// The commits, by seq.
    pub attempts: Vec<Attempt>,
    /// After this many calls, a checkpoint had made every commit up to this seq durable.
    pub checkpoints: Vec<(u64, u64)>,
    /// After this many calls, every commit up to this seq had been closed cleanly.
    pub closes: Vec<(u64, u64)>,
    /// The commits.
    pub model: Model,
    /// The disk after each call.
    pub moments: Vec<Moment>,
}

/// A clock for simulations. It advances only with commits.
pub fn test_clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(Timestamp(1_000_000)))
}

impl History {
    /// The possible commits of a store that is found after power failed after `calls` disk calls.
    pub fn after_power_loss(&self, calls: u64) -> Bounds {
        self.bounds(calls, &[Durability::Disk], &[])
    }

    /// The same after the death of the process.
    pub fn after_process_death(&self, calls: u64) -> Bounds {
        self.bounds(calls, &[Durability::Disk, Durability::Process], &self.closes)
    }

    fn bounds(&self, calls: u64, survives: &[Durability], closes: &[(u64, u64)]) -> Bounds {
        let acknowledged = self
            .attempts
            .iter()
            .filter(|attempt| attempt.acknowledged <= calls && survives.contains(&attempt.durability))
            .map(|attempt| attempt.commit.seq.0);
        let noted = self.checkpoints.iter().chain(closes).filter(|(at, _)| *at <= calls).map(|(_, seq)| *seq);
        let begun = self.attempts.iter().filter(|attempt| attempt.begun < calls).map(|attempt| attempt.commit.seq.0);
        Bounds { floor: acknowledged.chain(noted).max().unwrap_or(0), ceiling: begun.max().unwrap_or(0) }
    }
}

/// Runs `steps` on a disk and records what happens, with a moment for every call. The store is closed at the end.
pub fn run(disk: &SimDisk, opener: &Opener, steps: &[Step]) -> Result<History, Finding> {
    let clock = test_clock();
    let open = || opener(disk.arc(), clock.clone() as Arc<dyn Clock>).map_err(|e| format!("open without a fault: {e}"));
    disk.record();
    let mut history = History::default();
    let mut engine = open()?;
    let calls = || disk.counters().total();
    for step in steps {
        match step {
            Step::Commit(changes, durability) => {
                clock.advance(1 + calls() % 3);
                let begun = calls();
                let commit = engine.commit(batch_of(changes, *durability)).map_err(|e| format!("commit: {e}"))?;
                let expected = history.model.apply(changes, commit.time);
                if commit.seq != expected {
                    return Err(format!("a commit was given seq {}, not {expected}", commit.seq));
                }
                let changes = changes.clone();
                let acknowledged = calls();
                history.attempts.push(Attempt { changes, durability: *durability, begun, acknowledged, commit });
            }
            Step::Checkpoint => {
                engine.checkpoint().map_err(|e| format!("checkpoint: {e}"))?;
                history.checkpoints.push((calls(), history.model.head()));
            }
            Step::Reopen => {
                drop(engine);
                history.closes.push((calls(), history.model.head()));
                engine = open()?;
                check_answers(&*engine, history.model.engine(), Seq(history.model.head()))?;
            }
        }
    }
    check_answers(&*engine, history.model.engine(), Seq(history.model.head()))?;
    drop(engine);
    history.closes.push((calls(), history.model.head()));
    history.moments = disk.take_moments();
    no_violations(disk)?;
    Ok(history)
}

/// Checks that nothing was done that would have ended a process on a real disk.
pub fn no_violations(disk: &SimDisk) -> Result<(), Finding> {
    disk.violations().into_iter().next().map_or(Ok(()), Err)
}
