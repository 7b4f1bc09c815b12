//! Copies every commit that is still whole from a damaged store into a new one, with its seq and
//! time. Reads the damaged store and writes nothing to it.

use std::sync::Arc;

use super::super::{Batch, CommitInfo, EngineError, Problem, Result, Seq};
use super::NativeEngine;
use super::format::{LOG_DIR, SEGMENT_HEADER_BYTES, StoreId, file_number, segment_identity};
use super::log::WriteError;
use super::open::{lock, read_identity};
use super::options::NativeOptions;
use super::record::{Record, SegmentSeed, decode_record, find_header};
use super::segment::Segment;
use crate::disk::Disk;

/// What [`salvage`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SalvageReport {
    /// Commits copied.
    pub commits: u64,
    /// Row versions copied.
    pub rows: u64,
    /// The newest commit copied.
    pub head: Seq,
    /// Commits that are missing between those copied.
    pub missing: u64,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// Copies what is readable of the store in `from` into a new store in `to`, which must be empty.
/// `progress` is told the bytes read so far and in all.
///
/// A commit is copied wholly or not at all. Sequence numbers and times are kept, so reads as of a past
/// commit answer as before, but for what is missing.
pub fn salvage(
    from: &Arc<dyn Disk>,
    to: Arc<dyn Disk>,
    options: NativeOptions,
    mut progress: impl FnMut(u64, u64),
) -> Result<SalvageReport> {
    let _lock = lock(&**from)?;
    let mut report = SalvageReport::default();
    let mut numbers: Vec<u32> = from
        .list(LOG_DIR)
        .map_err(|e| EngineError::io("listing the log", e))?
        .iter()
        .filter_map(|name| u32::try_from(file_number(name, "log")?).ok())
        .collect();
    numbers.sort_unstable();
    let id = find_identity(from, &numbers, &mut report)?;
    let target = NativeEngine::open(to, options)?;
    if target.shared.head() > Seq::ZERO {
        let found = "it has commits already; salvage writes into a new store".to_owned();
        return Err(EngineError::NotAStore { path: target.shared.disk.location(), found });
    }
    let total = numbers.iter().map(|&n| Segment::found(from, id, n).file_len().unwrap_or(0)).sum();
    let mut read = 0;
    for &number in &numbers {
        let segment = Segment::found(from, id, number);
        match segment.whole_file() {
            Ok(bytes) => {
                copy_segment(&segment, &bytes, &target, &mut report)?;
                read += bytes.len() as u64;
                progress(read, total);
            }
            Err(error) => {
                report.problems.push(Problem { file: segment.name(), offset: 0, what: error.to_string() });
            }
        }
    }
    target.close()?;
    Ok(report)
}

/// The store's id, from its identity file or, if that is damaged, from the segments.
fn find_identity(from: &Arc<dyn Disk>, numbers: &[u32], report: &mut SalvageReport) -> Result<StoreId> {
    let why = match read_identity(&**from) {
        Ok(Some(id)) => return Ok(id),
        Ok(None) => "the file is missing".to_owned(),
        Err(error @ EngineError::NewerFormat { .. }) => return Err(error),
        Err(error) => error.to_string(),
    };
    report.problems.push(Problem { file: super::format::STORE_FILE.to_owned(), offset: 0, what: why.clone() });
    let unknown = StoreId([0; 16]);
    numbers
        .iter()
        .find_map(|&number| {
            let bytes = Segment::found(from, unknown, number).whole_file().ok()?.to_vec();
            segment_identity(&bytes).ok().map(|identity| identity.id)
        })
        .ok_or_else(|| EngineError::NotAStore { path: from.location(), found: why })
}

fn copy_segment(segment: &Segment, bytes: &[u8], target: &NativeEngine, report: &mut SalvageReport) -> Result<()> {
    let mut at = SEGMENT_HEADER_BYTES as usize;
    loop {
        match whole_record(segment.seed, bytes, at) {
            Some(record) => {
                copy_commit(&record, target, report)?;
                at += record.header.len as usize;
            }
            None => match next_whole_record(segment.seed, bytes, at + 8) {
                Some(next) => {
                    let what = format!("{} bytes are not a whole commit", next - at);
                    report.problems.push(Problem { file: segment.name(), offset: at as u64, what });
                    at = next;
                }
                None => {
                    if bytes.get(at..).is_some_and(|rest| rest.iter().any(|&byte| byte != 0)) {
                        let what = "what follows is not a whole commit".to_owned();
                        report.problems.push(Problem { file: segment.name(), offset: at as u64, what });
                    }
                    return Ok(());
                }
            },
        }
    }
}

fn whole_record(seed: SegmentSeed, bytes: &[u8], at: usize) -> Option<Record<'_>> {
    decode_record(seed, at as u32, bytes.get(at..)?)
}

fn next_whole_record(seed: SegmentSeed, bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let (found, _) = find_header(seed, bytes, at, |_| true)?;
        if whole_record(seed, bytes, found).is_some() {
            return Some(found);
        }
        at = found + 8;
    }
}

fn copy_commit(record: &Record<'_>, target: &NativeEngine, report: &mut SalvageReport) -> Result<()> {
    let shared = &target.shared;
    let mut leader = shared.leader.lock();
    let last = leader.last.seq;
    let header = record.header;
    if header.seq <= last {
        return Ok(());
    }
    let mut batch = Batch::new();
    for (_, row) in record.rows() {
        match row.value {
            Some(value) => batch.put(row.tree, row.key, value),
            None => batch.delete(row.tree, row.key),
        };
    }
    let commit = CommitInfo { seq: header.seq, time: header.time };
    leader
        .append(shared, &batch, commit)
        .and_then(|()| leader.finish(shared, false))
        .map_err(WriteError::into_error)?;
    shared.after_group(&mut leader);
    report.commits += 1;
    report.rows += u64::from(header.rows);
    report.missing += header.seq.0 - last.0 - 1;
    report.head = header.seq;
    Ok(())
}
