//! Settling (compaction): moves cold commits from the log into files in key order, merges these files, leaves out
//! forgotten versions, and frees disk space. Nothing is removed before its replacement is durable and named by a
//! durable manifest. A failure before that changes nothing; commits go on.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::chain::LogPoint;
use super::commit::Leader;
use super::entry::compare_versions;
use super::format::{Position, SEGMENT_HEADER_BYTES};
use super::index::{Found, State};
use super::index_files::runs_to_merge;
use super::kept_versions::{Held, Keep, Retained};
use super::options::Maintenance;
use super::record::Record;
use super::removal::Remains;
use super::run::output::Pace;
use super::run::{Run, RunCursor, SectionKind};
use super::segment::Segments;
use super::settled::{BlockKind, KeptVersion, SettledCursor, SettledFile, SettledWriter};
use super::settled_files::Span;
use super::shared::Shared;
use super::verify::{distinct_rows, each_record};
use recension_engine::{CommitInfo, EngineError, Result, Seq};

/// All files are merged if the newer ones are at least this fraction of the oldest, and merging may free some of it.
const NEWER_PART_OF_OLDEST: u64 = 4;

/// Settling is not paced if this many times the usual amount of log waits.
const BEHIND: u64 = 4;

/// A store at rest settles its log if it has at least this much in runs.
const AT_REST_LOG_BYTES_MIN: u64 = 512 << 10;

/// How much is to be settled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    /// The parts that are due.
    Due,
    /// All runs, if they are worth it. The store is at rest.
    AtRest,
    /// Everything in runs, into one file.
    Everything,
    /// All settled files, into one, even if there is one only.
    Anew,
}

/// A failure of settling.
pub(super) enum SettleError {
    /// Everything is as it was.
    NothingChanged(EngineError),
    /// It failed in replacing the manifest. Which one a crash would leave is unknown, so nothing more may be removed.
    Publishing(EngineError),
}

impl From<EngineError> for SettleError {
    fn from(error: EngineError) -> Self {
        SettleError::NothingChanged(error)
    }
}

type Settled<T> = std::result::Result<T, SettleError>;

impl Shared {
    /// Settles as much as `extent` says. Callers must not hold the leader's lock or that of maintenance. Only the
    /// committing thread may hold the leader's lock, if it does all maintenance itself.
    pub(super) fn settle(&self, extent: Extent) -> Settled<()> {
        let _one_at_a_time = self.settling.one_at_a_time.lock();
        self.move_horizons(extent)?;
        while self.settle_log(extent)? || self.merge_settled(extent)? {
            // The leader has a list of segments too. If this is the committing thread, it trims the list with its next
            // commit.
            let leader = match self.maintenance {
                Maintenance::Background => Some(self.leader.lock()),
                Maintenance::Inline => self.leader.try_lock(),
            };
            if let Some(mut leader) = leader {
                self.trim_log(&mut leader);
            }
            self.doomed.bury(|_| true, self.pace().as_ref());
        }
        Ok(())
    }

    /// Writes what is settled anew, into one file: with the newest key of an encrypted store.
    pub(super) fn renew_settled(&self) -> Settled<()> {
        let _one_at_a_time = self.settling.one_at_a_time.lock();
        self.merge_settled(Extent::Anew)?;
        self.doomed.bury(|_| true, self.pace().as_ref());
        Ok(())
    }

    /// Settles what is due, in the background: a failure is kept for those who ask, and tried again later.
    pub(super) fn settle_in_background(&self, extent: Extent) {
        if self.settling.log_bytes.is_none() || self.poison.get().is_some() || self.settling.damaged.get().is_some() {
            return;
        }
        match self.settle(extent) {
            // Nothing has changed: the disk may be full now, and have room later.
            Ok(()) | Err(SettleError::NothingChanged(EngineError::Io { .. })) => {}
            Err(SettleError::Publishing(error)) => self.poison(&error),
            // Damage stays: reads of it are refused, others go on.
            Err(SettleError::NothingChanged(error)) => {
                let _ = self.settling.damaged.set(error.to_string());
            }
        }
    }

    /// Whether the log has grown enough, or settled files are due for merging.
    pub(super) fn settling_is_due(&self) -> bool {
        let state = self.state.load();
        self.log_is_due(&state) || self.files_to_merge(&state, Extent::Due).is_some()
    }

    /// Whether a store at rest has enough in runs to be settled: its reads are then faster, whatever its size.
    pub(super) fn settling_pays_at_rest(&self) -> bool {
        self.settling.log_bytes.is_some() && self.poison.get().is_none() && run_is_worth_it(&self.state.load())
    }

    /// The beginning of the log that is not settled.
    pub(super) fn settled_point(&self, state: &State) -> LogPoint {
        state.settled.first().map_or_else(|| LogPoint::start(self.files.id), |file| file.entry.point())
    }

    fn log_is_due(&self, state: &State) -> bool {
        let Some(newest) = state.runs.first() else { return false };
        self.settling.log_bytes.is_some_and(|due| log_bytes(state, newest.entry.end) >= due)
    }

    /// Is called when everything up to `head` is settled. Gives up the segment in which the log continued without a
    /// further commit, so that no settled record stays, and notes whether erased versions have left the files.
    pub(super) fn release_log(&self, head: Seq) -> Settled<()> {
        let _one_at_a_time = self.settling.one_at_a_time.lock();
        let state = self.state.load_full();
        if let Some(newest) = state.settled.first() {
            let end = behind(&state.segments, newest.entry.end)?;
            if end != newest.entry.end {
                let file = self.settled_files.move_log(newest, end).map_err(SettleError::Publishing)?;
                let mut replaced = Vec::new();
                self.replace_state(|state| {
                    self.first_segment.store(end.segment, Ordering::Release);
                    replaced.extend(state.segments.list.iter().filter(|s| s.number < end.segment).cloned());
                    if let Some(newest) = state.settled.first_mut() {
                        *newest = file;
                    }
                });
                for segment in replaced {
                    self.doomed.add(Remains::Segment(segment));
                }
                self.trim_log(&mut self.leader.lock());
            }
        }
        drop(state);
        self.doomed.bury(|_| true, self.pace().as_ref());
        if self.state.load().erased.has_any_through(head) {
            let what = "the index is damaged, so that nothing is settled; close the store, open it again and settle it";
            return Err(EngineError::damaged(super::format::INDEX_DIR.to_owned() + "/", 0, what).into());
        }
        Ok(())
    }

    /// Drops segments that are settled from the leader's own list.
    pub(super) fn trim_log(&self, leader: &mut Leader) {
        let first = self.first_segment.load(Ordering::Acquire);
        let segments = &mut leader.log.segments;
        for segment in segments.list.iter().filter(|segment| segment.number < first) {
            self.doomed.add(Remains::Segment(segment.clone()));
        }
        segments.drop_before(first);
    }

    /// Removes the pace limit while settling is far behind.
    pub(super) fn adjust_pace(&self) {
        let waiting = unsettled_log_bytes(&self.state.load());
        let behind = self.settling.log_bytes.is_some_and(|due| waiting / BEHIND > due);
        let pace = if behind { u64::MAX } else { self.settling.bytes_per_second };
        self.settling.pace.store(pace, Ordering::Relaxed);
    }

    pub(super) fn pace(&self) -> Option<Pace> {
        (self.maintenance == Maintenance::Background).then(|| Pace {
            bytes_per_second: self.settling.pace.clone(),
            head: self.head.clone(),
            stop: self.stopping.clone(),
        })
    }

    /// Moves all index runs and their rows into one settled file; false if there is nothing to move.
    fn settle_log(&self, extent: Extent) -> Settled<bool> {
        let state = {
            let _runs_stay = self.maintaining.lock();
            let state = self.state.load_full();
            let Some(newest) = state.runs.first() else { return Ok(false) };
            let due = match extent {
                Extent::Due => self.log_is_due(&state),
                Extent::AtRest => run_is_worth_it(&state),
                Extent::Everything | Extent::Anew => true,
            };
            if self.files.is_condemned() || !due {
                return Ok(false);
            }
            // From here on, these runs are not merged with others.
            self.settling.through.store(newest.entry.last.0, Ordering::Release);
            state
        };
        let _until_done = Reset(&self.settling.through);
        let Some(newest) = state.runs.first().map(|run| run.entry) else { return Ok(false) };
        let from = self.settled_point(&state);
        let last = newest.last;
        let end = behind(&self.state.load().segments, newest.end)?;
        let keys_max = state.runs.iter().map(|run| run.entries(SectionKind::Current)).sum();
        let retained = self.settled_files.retained();
        let held = self.held(&retained)?;
        let written = self.settled_files.write(
            (from.last.seq.next(), LogPoint { end, ..newest.point() }),
            keys_max,
            self.pace(),
            |writer| {
                let mut rows = 0;
                // In the order of the log, which also brings it into memory with few, large reads.
                each_record(&state.segments, self.files.id, from, newest.point(), |record: &Record<'_>| {
                    rows += distinct_rows(record);
                })?;
                let mut keep = Keep::new(&retained, state.settled.is_empty(), held, writer);
                let mut indexed = 0;
                copy_versions(&state, &state.runs, &[], |full_key, version| {
                    indexed += 1;
                    keep.push(full_key, version)
                })?;
                keep.finish()?;
                // Rows that the index does not name would be lost for ever.
                if indexed != rows {
                    let what = format!("the index has {indexed} versions, but the log has {rows}");
                    return Err(EngineError::damaged(super::format::INDEX_DIR.to_owned() + "/", 0, what));
                }
                copy_commits(&state.segments, from.end, (from.last.seq, last), writer)
            },
        );
        let file = match written {
            Ok(file) => file,
            Err(error @ EngineError::Damaged { .. }) => return self.run_may_be_damaged(error),
            Err(error) => return Err(error.into()),
        };
        let merged_with = state.settled.is_empty().then_some(&retained);
        if !self.publish_file(&file, 0..0, merged_with, (&retained, held))? {
            return Ok(false);
        }
        let mut replaced = Vec::new();
        self.replace_state(|state| {
            // This happens inside: a state must not lose segments before it has the file made from them.
            self.first_segment.store(end.segment, Ordering::Release);
            replaced.extend(state.segments.list.iter().filter(|segment| segment.number < end.segment).cloned());
            state.settled.insert(0, file);
            // Everyone who sees the file must refuse reads of versions that it leaves out.
            self.show_retained(state);
            state.runs.retain(|run| run.entry.last > last);
        });
        for segment in replaced {
            self.doomed.add(Remains::Segment(segment));
        }
        // The manifest of the index follows with the next run. Until then it names runs that are settled.
        self.files.drop_through(last);
        for run in &state.runs {
            self.doomed.add(Remains::Run(run.clone()));
        }
        Ok(true)
    }

    /// Damage of an index run is mended by the next open; damage of the log is not.
    fn run_may_be_damaged(&self, error: EngineError) -> Settled<bool> {
        if let EngineError::Damaged { file, .. } = &error
            && file.starts_with(super::format::INDEX_DIR)
        {
            self.files.condemn();
            return Ok(false);
        }
        Err(error.into())
    }

    /// Merges one group of settled files; false if there is none.
    fn merge_settled(&self, extent: Extent) -> Settled<bool> {
        let state = self.state.load_full();
        let Some(range) = self.files_to_merge(&state, extent) else { return Ok(false) };
        let old = &state.settled[range.clone()];
        let (Some(newest), Some(oldest)) = (old.first(), old.last()) else { return Ok(false) };
        let span: Span = (oldest.entry.first, newest.entry.point());
        let keys_max = old.iter().map(|file| file.entries(BlockKind::Current)).sum();
        let bottom = range.end == state.settled.len();
        let retained = self.settled_files.retained();
        let held = self.held(&retained)?;
        let file = self.settled_files.write(span, keys_max, self.pace(), |writer| {
            let mut keep = Keep::new(&retained, bottom, held, writer);
            copy_versions(&state, &[], old, |full_key, version| keep.push(full_key, version))?;
            keep.finish()?;
            for file in old.iter().rev() {
                for block in 0..file.commit_blocks() {
                    file.read_commits(block)?.iter().try_for_each(|commit| writer.commit(*commit))?;
                }
            }
            Ok(())
        })?;
        let merged_with = (old.len() == state.settled.len()).then_some(&retained);
        if !self.publish_file(&file, range.clone(), merged_with, (&retained, held))? {
            return Ok(false);
        }
        self.replace_state(|state| {
            state.settled.splice(range, [file]);
            self.show_retained(state);
        });
        for file in old {
            self.doomed.add(Remains::Settled(file.clone()));
        }
        Ok(true)
    }

    /// Names a new file in the manifest. False: a moment that it leaves something out of is kept since it was begun; it
    /// is removed, and settling goes on later.
    fn publish_file(
        &self,
        file: &Arc<SettledFile>,
        place: std::ops::Range<usize>,
        merged_with: Option<&Retained>,
        (retained, held): (&Retained, Held),
    ) -> Settled<bool> {
        let may_be = || {
            let newer = |oldest: Seq| oldest >= file.entry.last || held.is_some_and(|held| held <= oldest);
            Ok(self.held(retained)?.is_none_or(newer))
        };
        let published = self.settled_files.publish(file, place, (merged_with, held), may_be);
        let published = published.map_err(|error| match error {
            // Of reading what is kept.
            EngineError::Damaged { .. } => SettleError::NothingChanged(error),
            error => SettleError::Publishing(error),
        })?;
        if !published {
            self.doomed.add(Remains::Settled(file.clone()));
        }
        Ok(published)
    }

    /// Which settled files (newest first) to merge.
    fn files_to_merge(&self, state: &State, extent: Extent) -> Option<std::ops::Range<usize>> {
        let lengths: Vec<_> = state.settled.iter().map(|file| file.entry.len).collect();
        let (oldest, newer) = lengths.split_last()?;
        let newer: u64 = newer.iter().sum();
        let past: u64 = state.settled.iter().map(|file| file.row_bytes()[1]).sum();
        let may_free = !self.settled_files.retained().is_empty();
        // Some history was given up since the last merge of all files, or there never was one.
        let held = self.held(&self.settled_files.retained()).ok()?;
        let unmerged = !self.settled_files.is_merged(state.settled.first()?.entry.last, held);
        let all = match extent {
            Extent::Everything => {
                lengths.len() > 1 || unmerged || (past > 0 && !self.settled_files.is_merged_exactly(held))
            }
            Extent::Anew => true,
            Extent::Due | Extent::AtRest => {
                may_free && newer + (if unmerged { past } else { 0 }) > oldest / NEWER_PART_OF_OLDEST
            }
        };
        if all { Some(0..lengths.len()) } else { runs_to_merge(&lengths, self.merge_fan_in) }
    }
}

/// Resets the seq through which runs are being settled.
struct Reset<'s>(&'s std::sync::atomic::AtomicU64);

impl Drop for Reset<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

/// Bytes of log behind the settled part.
pub(super) fn unsettled_log_bytes(state: &State) -> u64 {
    let end = state.segments.list.last().map(|segment| Position { segment: segment.number, offset: segment.used() });
    end.map_or(0, |end| log_bytes(state, end))
}

fn run_is_worth_it(state: &State) -> bool {
    let newest = state.runs.first().map(|run| run.entry.end);
    newest.is_some_and(|end| log_bytes(state, end) >= AT_REST_LOG_BYTES_MIN)
}

/// Bytes of log that are not settled, up to `end`.
fn log_bytes(state: &State, end: Position) -> u64 {
    let from = state.settled.first().map_or(Position::START, |file| file.entry.end);
    let segments = state.segments.list.iter().filter(|s| (from.segment..=end.segment).contains(&s.number));
    let bytes = segments.map(|segment| {
        let start = if segment.number == from.segment { from.offset } else { SEGMENT_HEADER_BYTES as u32 };
        let end = if segment.number == end.segment { end.offset } else { segment.used() };
        u64::from(end.saturating_sub(start))
    });
    bytes.sum()
}

/// The position where the log continues behind `end`: in the next segment if its own has nothing more.
fn behind(segments: &Segments, end: Position) -> Result<Position> {
    let next = Position { segment: end.segment + 1, offset: SEGMENT_HEADER_BYTES as u32 };
    let full = end.offset >= segments.get(end.segment)?.used();
    Ok(if full && segments.get(next.segment).is_ok() { next } else { end })
}

/// Calls `each` with every version of some index runs and settled files in order: by key, newest first. They have none
/// in
/// common.
pub(super) fn copy_versions(
    state: &State,
    runs: &[Arc<Run>],
    files: &[Arc<SettledFile>],
    mut each: impl FnMut(&[u8], KeptVersion<'_>) -> Result<()>,
) -> Result<()> {
    enum Cursor<'s> {
        Run(RunCursor<'s>),
        Settled(SettledCursor<'s>),
    }
    struct Input<'s> {
        cursor: Cursor<'s>,
        key: Vec<u8>,
        found: Found,
    }
    fn next(cursor: &mut Cursor<'_>, key: &mut Vec<u8>) -> Result<Option<Found>> {
        match cursor {
            Cursor::Run(cursor) => Ok(cursor.next(key)?.map(Found::InLog)),
            Cursor::Settled(cursor) => Ok(cursor.next(key)?.map(Found::Settled)),
        }
    }
    let in_runs = runs.iter().flat_map(|run| {
        [SectionKind::Current, SectionKind::Past].map(|kind| Cursor::Run(RunCursor::at_start(run, kind)))
    });
    let in_files = files.iter().flat_map(|file| {
        [BlockKind::Current, BlockKind::Past].map(|kind| Cursor::Settled(SettledCursor::whole(file, kind)))
    });
    let mut inputs = Vec::new();
    for mut cursor in in_runs.chain(in_files) {
        let mut key = Vec::new();
        if let Some(found) = next(&mut cursor, &mut key)? {
            inputs.push(Input { cursor, key, found });
        }
    }
    while let Some(first) = (0..inputs.len()).min_by(|&a, &b| {
        compare_versions((&inputs[a].key, inputs[a].found.seq()), (&inputs[b].key, inputs[b].found.seq()))
    }) {
        let input = &mut inputs[first];
        match &input.found {
            Found::InLog(entry) => {
                let value = state.row(&input.key, *entry)?.into_value();
                let value = (!entry.deleted).then_some(&*value);
                each(&input.key, KeptVersion { seq: entry.seq, value, cut: false })?;
            }
            Found::Settled(row) => each(&input.key, row.kept())?,
            // A cursor over a whole section finds every version.
            Found::GivenUp(_) => {}
        }
        match next(&mut input.cursor, &mut input.key)? {
            Some(found) => input.found = found,
            None => drop(inputs.swap_remove(first)),
        }
    }
    Ok(())
}

/// Copies seqs and times of the commits after `after` up to `last`.
pub(super) fn copy_commits(
    segments: &Segments,
    from: Position,
    (after, last): (Seq, Seq),
    writer: &mut SettledWriter,
) -> Result<()> {
    for segment in segments.list.iter().filter(|segment| segment.number >= from.segment) {
        let start = if segment.number == from.segment { from.offset } else { SEGMENT_HEADER_BYTES as u32 };
        let mut offset = start;
        while let Some(header) = segment.record_header(offset)? {
            if header.seq > last {
                return Ok(());
            }
            if header.seq > after {
                writer.commit(CommitInfo { seq: header.seq, time: header.time })?;
            }
            offset += header.len;
        }
    }
    Ok(())
}
