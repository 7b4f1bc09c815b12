//! Verification: reads everything, checks every checksum, and counts. It changes nothing.

use std::collections::BTreeMap;

use super::chain::{Chain, LogPoint};
use super::entry::IndexEntry;
use super::format::{INDEX_DIR, LOG_DIR, MANIFEST_FILE, MARK_FILE, SEGMENT_HEADER_BYTES, StoreId};
use super::index::State;
use super::record::{Record, decode_record, find_header};
use super::recovery::breaks_off;
use super::run::{RunCursor, SectionKind};
use super::segment::{Segment, Segments};
use super::settled::{BlockKind, SettledCursor, SettledFile};
use super::shared::Shared;
use recension_engine::{EngineError, Problem, Result, Seq, Stats, VerifyReport};

/// Problems after which the check stops listing more.
const PROBLEMS_MAX: usize = 1000;

pub(super) fn verify(shared: &Shared) -> Result<VerifyReport> {
    // The state keeps its files alive. Commits made meanwhile have a seq beyond this head.
    let (head, state) = shared.head_state();
    let anchor = shared.settled_point(&state);
    let mut check = Check {
        shared,
        report: VerifyReport::default(),
        head,
        indexed: 0,
        settled: 0,
        anchor,
        chain: None,
        known: BTreeMap::new(),
    };
    check.know_points(&state)?;
    let mut last = Seq::ZERO;
    check.settled(&state, &mut last)?;
    for segment in &state.segments.list {
        check.segment(segment, &mut last)?;
    }
    if last != head {
        check.problem(LOG_DIR, 0, format!("the log has commits up to {last}; expected {head}"));
    }
    check.index(&state)?;
    if check.report.problems.is_empty() && check.indexed + check.settled != check.report.rows {
        let what =
            format!("the index has {} versions, and the log has {}", check.indexed, check.report.rows - check.settled);
        check.problem(INDEX_DIR, 0, what);
    }
    Ok(check.report)
}

struct Check<'s> {
    shared: &'s Shared,
    report: VerifyReport,
    head: Seq,
    /// Versions in the index, and settled versions.
    indexed: u64,
    settled: u64,
    /// The end of the settled part.
    anchor: LogPoint,
    /// The last log record that was read, and the chain value behind it; `None` if that is unknown.
    chain: Option<(Seq, Chain)>,
    /// Chain values in other files, each with its file.
    known: BTreeMap<Seq, (Chain, &'static str)>,
}

impl Check<'_> {
    fn problem(&mut self, file: impl Into<String>, offset: u64, what: impl Into<String>) {
        if self.report.problems.len() < PROBLEMS_MAX {
            self.report.problems.push(Problem { file: file.into(), offset, what: what.into() });
        }
    }

    /// Damage goes into the report; anything else ends the check.
    fn note(&mut self, error: EngineError) -> Result<()> {
        match error {
            EngineError::Damaged { file, offset, what } => {
                self.problem(file, offset, what);
                Ok(())
            }
            other => Err(other),
        }
    }

    /// Collects the points of the log in the mark and the manifests; the mark is read again.
    fn know_points(&mut self, state: &State) -> Result<()> {
        for run in &state.runs {
            self.known.insert(run.entry.last, (run.entry.chain, MANIFEST_FILE));
        }
        match self.shared.trail.check() {
            Ok(mark) => _ = self.known.insert(mark.last.seq, (mark.chain, MARK_FILE)),
            Err(error) => self.note(error)?,
        }
        Ok(())
    }

    /// Checks that a record continues the one before, and ends at the chain value that others have.
    fn link(&mut self, segment: &Segment, at: u32, record: &Record<'_>) -> Result<()> {
        let (id, header) = (self.shared.files.id, record.header);
        let first =
            header.follows(self.anchor.last.seq) && self.chain.is_none_or(|(seq, _)| seq <= self.anchor.last.seq);
        let before = if first { Some((self.anchor.last.seq, self.anchor.chain)) } else { self.chain };
        if before.is_some_and(|(seq, chain)| !header.continues(id, seq, chain)) {
            self.note(breaks_off(segment, at, header.seq))?;
        }
        let chain = record.chain(id);
        self.chain = Some((header.seq, chain));
        if let Some((_, who)) = self.known.get(&header.seq).filter(|(known, _)| *known != chain) {
            self.problem(segment.name(), u64::from(at), format!("{who} knows another commit {}", header.seq));
        }
        Ok(())
    }

    /// Settled files: every block of every kind.
    fn settled(&mut self, state: &State, last: &mut Seq) -> Result<()> {
        for file in state.settled.iter().rev() {
            self.report.files += 1;
            self.report.bytes += file.entry.len;
            for kind in [BlockKind::Current, BlockKind::Past] {
                let mut cursor = SettledCursor::whole(file, kind);
                let mut key = Vec::new();
                let mut count = 0;
                loop {
                    match cursor.next(&mut key) {
                        Ok(Some(_)) => count += 1,
                        Ok(None) => break,
                        Err(error) => {
                            self.note(error)?;
                            break;
                        }
                    }
                }
                self.report.rows += count;
                self.settled += count;
                if count != file.entries(kind) && self.report.problems.is_empty() {
                    let what = format!("{kind:?} has {count} rows; expected {}", file.entries(kind));
                    self.problem(file.name(), 0, what);
                }
            }
            for block in 0..file.commit_blocks() {
                match file.read_commits(block) {
                    Ok(commits) => self.report.commits += commits.len() as u64,
                    Err(error) => self.note(error)?,
                }
            }
            *last = file.entry.last;
        }
        Ok(())
    }

    /// A segment. Settled commits have been counted already.
    fn segment(&mut self, segment: &Segment, last: &mut Seq) -> Result<()> {
        self.report.files += 1;
        if let Err(error) = segment.check_header(self.shared.files.id) {
            self.note(error)?;
        }
        let bytes = match segment.used_bytes() {
            Ok(bytes) => bytes,
            Err(error) => return self.note(error),
        };
        self.report.bytes += bytes.len() as u64;
        let mut at = SEGMENT_HEADER_BYTES as usize;
        while *last < self.head {
            let Some(record) = bytes.get(at..).and_then(|rest| decode_record(segment.seed, at as u32, rest)) else {
                if bytes.get(at..).is_none_or(|rest| rest.iter().all(|&byte| byte == 0)) {
                    return Ok(());
                }
                let what = format!("expected the commit after {last}, found none that is whole");
                self.problem(segment.name(), at as u64, what);
                self.chain = None;
                match find_header(segment.seed, &bytes, at + 8, |_| true) {
                    Some((next, header)) => {
                        (at, *last) = (next, Seq(header.seq.0.saturating_sub(1)));
                        continue;
                    }
                    None => return Ok(()),
                }
            };
            let seq = record.header.seq;
            self.link(segment, at as u32, &record)?;
            if seq <= self.anchor.last.seq {
                at += record.header.len as usize;
                continue;
            }
            if !record.header.follows(*last) {
                self.problem(segment.name(), at as u64, format!("expected commit {}, found {seq}", last.next()));
            }
            *last = seq;
            self.report.commits += 1;
            self.report.rows += distinct_rows(&record);
            at += record.header.len as usize;
        }
        Ok(())
    }

    fn index(&mut self, state: &State) -> Result<()> {
        for part in &state.memory {
            for (full_key, entry) in part.iter() {
                self.entry(state, &full_key, entry)?;
            }
        }
        for run in &state.runs {
            self.report.files += 1;
            self.report.bytes += run.entry.len;
            for kind in [SectionKind::Current, SectionKind::Past] {
                let mut cursor = RunCursor::at_start(run, kind);
                let mut key = Vec::new();
                let mut count = 0;
                loop {
                    match cursor.next(&mut key) {
                        Ok(Some(entry)) => {
                            count += 1;
                            self.entry(state, &key, entry)?;
                        }
                        Ok(None) => break,
                        Err(error) => {
                            self.note(error)?;
                            self.shared.files.condemn();
                            break;
                        }
                    }
                }
                if count != run.entries(kind) && self.report.problems.is_empty() {
                    let what = format!("{kind:?} has {count} entries; expected {}", run.entries(kind));
                    self.problem(run.name(), 0, what);
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, state: &State, full_key: &[u8], entry: IndexEntry) -> Result<()> {
        if entry.seq > self.head {
            return Ok(());
        }
        self.indexed += 1;
        match state.row(full_key, entry) {
            Ok(_) => Ok(()),
            Err(error) => self.note(error),
        }
    }
}

/// Reads every block of a settled file. It is an error if one is damaged.
pub(super) fn check_settled(file: &SettledFile) -> Result<()> {
    for kind in [BlockKind::Current, BlockKind::Past] {
        let mut cursor = SettledCursor::whole(file, kind);
        let (mut key, mut count) = (Vec::new(), 0);
        while cursor.next(&mut key)?.is_some() {
            count += 1;
        }
        if count != file.entries(kind) {
            let what = format!("{kind:?} has {count} rows; expected {}", file.entries(kind));
            return Err(EngineError::damaged(file.name(), 0, what));
        }
    }
    (0..file.commit_blocks()).try_for_each(|block| file.read_commits(block).map(drop))
}

/// Calls `each` with every record behind `from`, up to `to`. It is an error if one is damaged, missing or breaks the
/// chain.
pub(super) fn each_record(
    segments: &Segments,
    id: StoreId,
    from: LogPoint,
    to: LogPoint,
    mut each: impl FnMut(&Record<'_>),
) -> Result<()> {
    let (mut before, mut chain) = (from.last.seq, from.chain);
    let last = to.last.seq;
    for segment in segments.list.iter().filter(|segment| segment.number >= from.end.segment) {
        let start = if segment.number == from.end.segment { from.end.offset } else { SEGMENT_HEADER_BYTES as u32 };
        let mut at = start as usize;
        segment.read_ahead();
        let bytes = segment.bytes(0, segment.used() as usize)?;
        while before < last {
            let Some(record) = bytes.get(at..).and_then(|rest| decode_record(segment.seed, at as u32, rest)) else {
                break;
            };
            let seq = record.header.seq;
            if seq > from.last.seq {
                if !record.header.follows(before) {
                    let what = format!("expected commit {}, found {seq}", before.next());
                    return Err(EngineError::damaged(segment.name(), at as u64, what));
                }
                if !record.header.continues(id, before, chain) {
                    return Err(breaks_off(segment, at as u32, seq));
                }
                (before, chain) = (seq, record.chain(id));
                each(&record);
            }
            at += record.header.len as usize;
        }
        if before < last && bytes.get(at..).is_some_and(|rest| rest.iter().any(|&byte| byte != 0)) {
            let what = format!("expected the commit after {before}, found none that is whole");
            return Err(EngineError::damaged(segment.name(), at as u64, what));
        }
    }
    if before < last {
        let what = format!("the log has commits up to {before}; expected {last}");
        return Err(EngineError::damaged(LOG_DIR, 0, what));
    }
    if chain != to.chain {
        let what = format!("the log has another commit {last} than was written");
        return Err(EngineError::damaged(segments.get(to.end.segment)?.name(), u64::from(to.end.offset), what));
    }
    Ok(())
}

/// The number of rows of a commit, without those that a later row of the same commit replaces.
pub(super) fn distinct_rows(record: &Record<'_>) -> u64 {
    let mut keys: Vec<_> = record.rows().map(|(_, row)| (row.tree, row.key)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.len() as u64
}

/// About how many bytes a log shrinks by when it is settled: as `rows` bytes of keys and values became `settled` ones,
/// or by half if none have.
fn shrinks_by(log: u64, settled: u64, rows: u64) -> u64 {
    let (settled, rows) = if rows == 0 { (1, 2) } else { (settled, rows) };
    let left = u128::from(log) * u128::from(settled) / u128::from(rows);
    log.saturating_sub(u64::try_from(left).unwrap_or(u64::MAX))
}

pub(super) fn stats(shared: &Shared) -> Result<Stats> {
    let (head, state) = shared.head_state();
    let mut log_bytes = 0;
    for segment in &state.segments.list {
        log_bytes += segment.file_len()?;
    }
    let index_bytes: u64 = state.runs.iter().map(|run| run.entry.len).sum();
    let settled_bytes: u64 = state.settled.iter().map(|file| file.entry.len).sum();
    let memory: u64 = state.memory.iter().map(|part| part.bytes()).sum();
    let in_runs: u64 = state.runs.iter().map(|run| run.resident_bytes()).sum();
    let resident = in_runs + state.settled.iter().map(|file| file.resident_bytes()).sum::<u64>();
    let cached = shared.settled_files.cache.bytes();
    let count = |kind| -> u64 { state.runs.iter().map(|run| run.entries(kind)).sum() };
    let settled_rows = |kind| -> u64 { state.settled.iter().map(|file| file.entries(kind)).sum() };
    let unsettled = super::settle::unsettled_log_bytes(&state);
    let row_bytes = |nth: usize| -> u64 { state.settled.iter().map(|file| file.row_bytes()[nth]).sum() };
    // A newer file's version of a key replaces an older file's. With a single file the number is exact, as it is after
    // `settle`.
    let (live, past) = (row_bytes(0) + unsettled, row_bytes(1));
    // For the log, the estimate is that it shrinks as the settled part did. For settled rows, it is the forgotten part
    // of the past, which is known only after a merge.
    let rules = shared.settled_files.rules();
    let nothing_new = rules.is_empty() || state.settled.first().is_some_and(|file| file.entry.last == head);
    let held = shared.held(&shared.settled_files.retained())?;
    let forgettable = if shared.settled_files.is_merged(head, held) && nothing_new { 0 } else { past };
    let shrinks = shrinks_by(unsettled, settled_bytes, row_bytes(0) + row_bytes(1));
    let reclaimable = shrinks + forgettable;
    let in_memory: u64 = state.memory.iter().map(|part| part.len()).sum();
    Ok(Stats {
        engine: "native",
        head,
        disk_bytes: log_bytes + index_bytes + settled_bytes,
        memory_bytes: memory + cached + resident,
        details: vec![
            ("log", log_bytes, "bytes"),
            ("log segments", state.segments.list.len() as u64, "files"),
            ("log not settled yet", unsettled, "bytes"),
            ("index", index_bytes, "bytes"),
            ("index runs", state.runs.len() as u64, "files"),
            ("settled", settled_bytes, "bytes"),
            ("settled files", state.settled.len() as u64, "files"),
            ("settled rows, newest in their file", settled_rows(BlockKind::Current), "versions"),
            ("settled rows, older", settled_rows(BlockKind::Past), "versions"),
            ("settled keys and values, newest in their file", row_bytes(0), "bytes"),
            ("settled keys and values, older", row_bytes(1), "bytes"),
            ("live keys and values, at most", live, "bytes"),
            ("past keys and values, at least", past, "bytes"),
            ("reclaimable by settling, about", reclaimable, "bytes"),
            ("ranges with a forgotten history", state.forgotten.len() as u64, "ranges"),
            ("erased keys that are not settled yet", state.erased.len() as u64, "keys"),
            ("rules of retention", rules.len() as u64, "rules"),
            ("versions in runs, newest in their run", count(SectionKind::Current), "versions"),
            ("versions in runs, older", count(SectionKind::Past), "versions"),
            ("versions in memory", in_memory, "versions"),
            ("index in memory", memory, "bytes"),
            ("settled blocks in memory", cached, "bytes"),
            ("fences and tables", resident, "bytes"),
        ],
    })
}
