//! Maintenance of the index: parts in memory become runs, runs are merged, and the next segment is made ahead of need.
//! A thread of its own does this, or the committing thread if a simulation wants everything in one.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::commit::Leader;
use super::index_files::runs_to_merge;
use super::mem::MemoryIndex;
use super::options::Maintenance;
use super::removal::Remains;
use super::settle::Extent;
use super::shared::Shared;
use recension_engine::{EngineError, Result, Seq};

/// Most parts of the index in memory: beyond that, commits wait for the oldest to be written.
const MEMORY_PARTS_MAX: usize = 4;

/// After this time without a commit, a part that is not full is written too, if it has at least this fraction of a full
/// one. Closing the store, or opening it after a crash, then has little left to do.
const AT_REST: Duration = Duration::from_secs(1);
const AT_REST_PART: u64 = 16;

/// The signals between the committing threads and the maintenance thread.
#[derive(Default)]
pub(super) struct Signal {
    flags: Mutex<Flags>,
    changed: Condvar,
}

#[derive(Default)]
struct Flags {
    wanted: bool,
    stop: bool,
}

impl Signal {
    pub(super) fn want(&self) {
        self.flags.lock().wanted = true;
        self.changed.notify_all();
    }

    pub(super) fn stop(&self) {
        self.flags.lock().stop = true;
        self.changed.notify_all();
    }

    /// Waits for work, but no longer than `at_most`. False means stop.
    pub(super) fn wait(&self, at_most: Option<Duration>) -> bool {
        let mut flags = self.flags.lock();
        let until = at_most.and_then(|at_most| Instant::now().checked_add(at_most));
        while !flags.wanted && !flags.stop {
            match until {
                Some(until) if self.changed.wait_until(&mut flags, until).timed_out() => break,
                Some(_) => {}
                None => self.changed.wait(&mut flags),
            }
        }
        flags.wanted = false;
        !flags.stop
    }
}

/// Runs the maintenance thread.
pub(super) fn run_thread(shared: &Shared) {
    // It never waits for the leader, who may be waiting for a run. A leader checks for itself.
    if let Some(leader) = shared.leader.try_lock() {
        shared.note_memory(&leader);
    }
    let mut was_full: Option<Instant> = None;
    loop {
        let (head, since) = (shared.head(), Instant::now());
        let parts = || shared.state.load().memory.len();
        let waits = shared.poison.get().is_none() && (parts() > 1 || shared.much_in_memory.load(Ordering::Acquire));
        if !shared.signal.wait(waits.then_some(AT_REST)) {
            return;
        }
        let full_lately = was_full.is_some_and(|then| then.elapsed() < AT_REST);
        if shared.poison.get().is_some() || (full_lately && parts() <= MEMORY_PARTS_MAX) {
            continue;
        }
        let at_rest = waits && parts() == 1 && since.elapsed() >= AT_REST && shared.head() == head;
        if let Some(mut leader) = at_rest.then(|| shared.leader.try_lock()).flatten() {
            shared.close_part(&mut leader);
        }
        let maintained = shared.maintain();
        shared.adjust_pace();
        was_full = None;
        match maintained {
            // Only if something was written: in a process that only reads, the settling thread looks once.
            Ok(true) if shared.settling_is_due() || shared.settling_pays_at_rest() => shared.settling.signal.want(),
            Ok(_) => {}
            // The log has all of it. Commits go on until the queue is full; by then there may be room.
            Err(error) if error.is_disk_full() && parts() <= MEMORY_PARTS_MAX => was_full = Some(Instant::now()),
            Err(error) => shared.poison(&error),
        }
    }
}

/// Runs the settling thread.
pub(super) fn run_settling(shared: &Shared) {
    shared.remove_left_over();
    // Work that an earlier process left would otherwise wait for the next write, and reads would be slower until then.
    let mut wait = Some(shared.settling.after_opening);
    // What a disk had no room for is not tried again before the next commit.
    let mut tried = None;
    loop {
        let (head, since) = (shared.head(), Instant::now());
        if !shared.settling.signal.wait(wait) {
            return;
        }
        if shared.settling_is_due() {
            shared.settle_in_background(Extent::Due);
        }
        let rested = wait.is_some_and(|wait| since.elapsed() >= wait) && shared.head() == head;
        if rested && shared.settling_pays_at_rest() {
            shared.settle_in_background(Extent::AtRest);
            tried = Some(head);
        }
        let waits = tried != Some(shared.head()) && shared.settling_pays_at_rest();
        wait = waits.then_some(shared.settling.at_rest);
    }
}

impl Shared {
    /// After a group of commits: begins a new part of the index when the present one is large enough.
    pub(super) fn after_group(&self, leader: &mut Leader) {
        let state = self.state.load();
        if state.memory[0].bytes() >= self.index_memory_bytes / MEMORY_PARTS_MAX as u64
            || leader.part_log_bytes >= self.checkpoint_log_bytes
        {
            self.close_part(leader);
        }
        let had_much = self.much_in_memory.load(Ordering::Acquire);
        let much_more = !had_much && self.note_memory(leader);
        let next_segment_wanted = self.wants_next_segment(leader);
        let sealed = leader.log.take_sealed();
        let has_sealed = !sealed.is_empty();
        if has_sealed {
            self.loose_ends.lock().extend(sealed);
        }
        match self.maintenance {
            Maintenance::Inline => {
                self.mark_if_due(leader.asked_at);
                if let Err(error) = self.maintain() {
                    self.poison(&error);
                } else if self.settling_is_due() {
                    self.settle_in_background(Extent::Due);
                    self.trim_log(leader);
                }
            }
            Maintenance::Background => {
                let parts = self.state.load().memory.len();
                if parts > 1 || much_more || next_segment_wanted || has_sealed {
                    self.signal.want();
                }
                if parts > MEMORY_PARTS_MAX {
                    self.wait_for_flush();
                }
            }
        }
    }

    /// Notes and answers whether the data in memory is worth a run once the store is at rest, judged by the log that
    /// would be
    /// replayed.
    fn note_memory(&self, leader: &Leader) -> bool {
        let much = leader.part_log_bytes >= self.checkpoint_log_bytes / AT_REST_PART;
        self.much_in_memory.store(much, Ordering::Release);
        much
    }

    /// Whether the newest segment is half full and the next one has not been asked for.
    fn wants_next_segment(&self, leader: &mut Leader) -> bool {
        let end = leader.log.end();
        let wanted = u64::from(end.offset) > self.maker.segment_bytes / 2;
        let mut wanted_after = self.next_segment_after.lock();
        if !wanted || *wanted_after == end.segment {
            return false;
        }
        *wanted_after = end.segment;
        true
    }

    /// Begins a new part of the index in memory; nothing if the present one is empty.
    pub(super) fn close_part(&self, leader: &mut Leader) {
        self.much_in_memory.store(false, Ordering::Release);
        let state = self.state.load();
        let part = &state.memory[0];
        if part.is_empty() {
            return;
        }
        part.close(leader.point());
        leader.part_log_bytes = 0;
        // Parts are closed at a size: the next one will have about as many versions.
        let next = Arc::new(MemoryIndex::for_about(part.len()));
        self.replace_state(|state| state.memory.insert(0, next));
    }

    /// A bounded queue: the next commit waits until the maintenance thread has caught up.
    fn wait_for_flush(&self) {
        let mut guard = self.flushed_lock.lock();
        while self.poison.get().is_none() && self.state.load().memory.len() > MEMORY_PARTS_MAX {
            self.flushed.wait(&mut guard);
        }
    }

    /// Does all pending work; returns whether a run was written.
    pub(super) fn maintain(&self) -> Result<bool> {
        let _one_at_a_time = self.maintaining.lock();
        if self.maintenance == Maintenance::Background {
            let wanted_after = *self.next_segment_after.lock();
            if wanted_after > 0 {
                // A failure to make it ahead of need does not matter: the disk may be full now, and have room when a
                // commit needs it.
                let _ = self.maker.prepare_after(wanted_after);
            }
        }
        self.give_back();
        let mut flushed = false;
        loop {
            let did = self.flush_oldest()?;
            flushed |= did;
            let goes_on = did || self.merge_once()?;
            // These go at once, because they are memory beyond the budget. The remains of settling take longer.
            let mine = |remains: &Remains| matches!(remains, Remains::Memory(_) | Remains::Run(_));
            self.doomed.bury(mine, self.pace().as_ref());
            if !goes_on {
                return Ok(flushed);
            }
        }
    }

    /// Makes the next segment of the log if it is about to be needed, so that the leader need not.
    pub(super) fn prepare_segment(&self) {
        if self.maintenance == Maintenance::Inline {
            return;
        }
        let newest = {
            let leader = self.leader.lock();
            if leader.log.has_no_commits() { None } else { leader.log.segments.list.last().map(|newest| newest.number) }
        };
        if let Some(newest) = newest {
            // The thread that needs it reports the error.
            let _ = self.maker.prepare_after(newest);
        }
    }

    /// Removes files that a dead process has left.
    pub(super) fn remove_left_over(&self) {
        self.doomed.bury(|remains| matches!(remains, Remains::Unused(_)), self.pace().as_ref());
    }

    /// Gives the unused ends of sealed segments back.
    fn give_back(&self) {
        for segment in std::mem::take(&mut *self.loose_ends.lock()) {
            segment.forget_beyond(segment.used());
        }
    }

    /// Writes the oldest closed part as a run; false if there is none.
    fn flush_oldest(&self) -> Result<bool> {
        let state = self.state.load_full();
        let Some(part) = state.memory.last().filter(|_| state.memory.len() > 1) else { return Ok(false) };
        let Some(point) = part.closed() else { return Ok(false) };
        if self.durable() < point.last.seq {
            // Earlier segments were synced when they were left.
            self.state.load().segments.get(point.end.segment)?.sync()?;
        }
        self.trail.is_durable(point);
        let run = self.files.flush(part, point)?;
        self.doomed.add(Remains::Memory(part.clone()));
        self.replace_state(|state| {
            state.memory.pop();
            state.runs.insert(0, run);
        });
        let _guard = self.flushed_lock.lock();
        self.flushed.notify_all();
        Ok(true)
    }

    /// Merges one group of runs; false if there is none.
    fn merge_once(&self) -> Result<bool> {
        if self.files.is_condemned() {
            return Ok(false);
        }
        let state = self.state.load_full();
        // Runs that are being settled stay as they are.
        let settling = Seq(self.settling.through.load(Ordering::Acquire));
        let lengths: Vec<_> =
            state.runs.iter().take_while(|run| run.entry.last > settling).map(|run| run.entry.len).collect();
        let Some(range) = runs_to_merge(&lengths, self.merge_fan_in) else { return Ok(false) };
        let old = &state.runs[range.clone()];
        let merged = match self.files.merge(old) {
            Ok(merged) => merged,
            // A damaged run harms only readers of its damaged blocks: commits go on, nothing is merged any more, and
            // the next open rebuilds the index.
            Err(EngineError::Damaged { .. }) => {
                self.files.condemn();
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        self.replace_state(|state| {
            state.runs.splice(range, [merged]);
        });
        for run in old {
            self.doomed.add(Remains::Run(run.clone()));
        }
        Ok(true)
    }
}
