//! Copies every commit of the log that is still whole, and every settled row whose block is, from a damaged
//! store into a new one, with seqs and times. Reads the damaged store and writes nothing to it.

use std::sync::Arc;

use super::NativeEngine;
use super::chain::{Chain, LogPoint};
use super::commit::GroupSync;
use super::copying::Copying;
use super::entry::compare_versions;
use super::erased::Erased;
use super::format::{
    COLLECTION_KEYS_FILE, FORMAT_VERSION_1, LOG_DIR, MARK_FILE, SEGMENT_HEADER_BYTES, SETTLED_DIR,
    SETTLED_MANIFEST_FILE, StoreId, file_number, segment_file, segment_identity, settled_file,
};
use super::kept_versions::Retained;
use super::log::WriteError;
use super::mark::Mark;
use super::open::{lock, read_identity, read_store_file};
use super::options::NativeOptions;
use super::record::{Record, SegmentSeed, decode_record, find_header};
use super::recovery::broken_off;
use super::sealing::{ToSalvage, unlock_to_salvage};
use super::segment::Segment;
use super::settled::{BlockKind, Scan, read_manifest};
use super::tree_keys::Unread;
use crate::disk::{Access, Disk};
use recension_engine::{Batch, CommitInfo, EngineError, KeyRange, Problem, Result, Seq, TreeId};

/// The result of [`salvage`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SalvageReport {
    /// Commits copied: from the log, and those whose rows were settled.
    pub commits: u64,
    /// Row versions copied.
    pub rows: u64,
    /// The newest commit copied.
    pub head: Seq,
    /// Commits that are missing between those copied.
    pub missing: u64,
    /// The parts that could not be read.
    pub problems: Vec<Problem>,
}

impl SalvageReport {
    fn note(&mut self, file: &str, offset: u64, what: impl Into<String>) {
        self.problems.push(Problem { file: file.to_owned(), offset, what: what.into() });
    }
}

/// Copies the readable parts of the store in `from` into a new store in `to`, which must be empty. `progress` is called
/// with the bytes read so far and the total.
///
/// A commit of the log is copied wholly or not at all; of what is settled, every row whose block is whole. Sequence
/// numbers and times are kept, so reads as of a past commit answer as before, but for what is missing. If the store is
/// encrypted, `options` has its key, and the new one is encrypted with it too.
pub fn salvage(
    from: &Arc<dyn Disk>,
    to: Arc<dyn Disk>,
    options: NativeOptions,
    mut progress: impl FnMut(u64, u64),
) -> Result<SalvageReport> {
    let below = from;
    let ToSalvage { disk, wrapping } = unlock_to_salvage(from, options.key.as_ref())?;
    let from = &disk;
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
    let copying = Copying::begin(to.clone())?;
    let target = NativeEngine::open_copy(to, &NativeOptions { collection_keys: None, ..options })?;
    match target.take_tree_keys_file(&**below, wrapping) {
        Ok(()) => {}
        Err(Unread::Source(error)) => report.note(COLLECTION_KEYS_FILE, 0, error.to_string()),
        Err(Unread::Target(error)) => return Err(error),
    }
    let erased = copy_settled(&**from, id, &target, &mut report)?;
    let mark = read_mark(&**from, id, &mut report);
    let mut linked = Linked { id, mark, last: Some(report.head), chain: None };
    let total = numbers.iter().map(|&n| Segment::found(from, id, n).file_len().unwrap_or(0)).sum();
    let mut read = 0;
    for &number in &numbers {
        let segment = Segment::found(from, id, number);
        match segment.whole_file(Access::InOrder) {
            Ok(bytes) => {
                copy_segment(&segment, &bytes, &target, &mut linked, &mut report)?;
                read += bytes.len() as u64;
                progress(read, total);
            }
            Err(error) => {
                report.note(&segment.name(), 0, error.to_string());
                linked.tear();
            }
        }
    }
    // Lost seqs will be used again, and nothing of the new commits is erased.
    target.shared.erase(&erased.up_to(target.shared.head()))?;
    note_end(mark, &mut report);
    target.close()?;
    copying.end()?;
    Ok(report)
}

/// The content of the mark; a store of format 1 has none.
fn read_mark(from: &dyn Disk, id: StoreId, report: &mut SalvageReport) -> Option<LogPoint> {
    if read_store_file(from).is_ok_and(|found| found.is_some_and(|(version, _)| version == FORMAT_VERSION_1)) {
        return None;
    }
    match Mark::open(from, id) {
        Ok(mark) => Some(mark.point()),
        Err(error) => {
            report.note(MARK_FILE, 0, error.to_string());
            None
        }
    }
}

/// Notes that commits are missing at the end, if the mark knows of them.
fn note_end(mark: Option<LogPoint>, report: &mut SalvageReport) {
    if let Some(mark) = mark.filter(|mark| mark.last.seq > report.head) {
        let (head, last) = (report.head, mark.last.seq);
        let what = format!("the log had come to commit {last}, durably; none behind commit {head} was found");
        report.note(&segment_file(mark.end.segment), u64::from(mark.end.offset), what);
    }
}

/// The records as they are read, one after the other.
struct Linked {
    id: StoreId,
    /// The durable point of the log.
    mark: Option<LogPoint>,
    /// The newest commit that was found; `None` if something unreadable, which was noted, came after it.
    last: Option<Seq>,
    /// The chain value behind it, if it is known.
    chain: Option<Chain>,
}

impl Linked {
    /// The next bytes could not be read.
    fn tear(&mut self) {
        (self.last, self.chain) = (None, None);
    }

    /// Notes a record that does not continue the one before.
    fn link(&mut self, segment: &Segment, at: usize, record: &Record<'_>, report: &mut SalvageReport) {
        let header = record.header;
        if let Some(last) = self.last {
            if !header.follows(last) && header.seq > last {
                let (first, behind) = (last.next(), header.seq.0 - 1);
                report.note(
                    &segment.name(),
                    at as u64,
                    format!("commits {first} to {behind}, before this one, are missing"),
                );
            } else if header.follows(last) && self.chain.is_some_and(|chain| !header.continues(self.id, last, chain)) {
                report.note(&segment.name(), at as u64, broken_off(header.seq));
            }
        }
        // Settled commits may lie in the first segment, too.
        if self.last.is_none_or(|last| header.seq > last) {
            let chain = record.chain(self.id);
            (self.last, self.chain) = (Some(header.seq), Some(chain));
            if self.mark.is_some_and(|mark| mark.last.seq == header.seq && mark.chain != chain) {
                report.note(&segment.name(), at as u64, format!("{MARK_FILE} knows another commit {}", header.seq));
            }
        }
    }
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
            let bytes = Segment::found(from, unknown, number).whole_file(Access::InOrder).ok()?.to_vec();
            segment_identity(&bytes).ok().map(|identity| identity.id)
        })
        .ok_or_else(|| EngineError::NotAStore { path: from.location(), found: why })
}

/// Copies the rows of whole blocks into the first settled file of `target`.
fn copy_settled(from: &dyn Disk, id: StoreId, target: &NativeEngine, report: &mut SalvageReport) -> Result<Erased> {
    let numbers: Vec<_> = match from.list(SETTLED_DIR) {
        Ok(names) => names.iter().filter_map(|name| file_number(name, "rows")).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(EngineError::io("listing the settled files", error)),
    };
    let manifest = match read_manifest(from, id) {
        Ok(manifest) => manifest,
        Err(error @ EngineError::NewerFormat { .. }) => return Err(error),
        Err(error) => {
            report.note(SETTLED_MANIFEST_FILE, 0, error.to_string());
            let what = "what was erased and not settled yet can be read again; erase it in the new store";
            report.note(SETTLED_MANIFEST_FILE, 0, what);
            None
        }
    };
    if numbers.is_empty() && manifest.is_none() {
        target.install(CommitInfo::default(), 0, Retained::default(), |_| Ok(()))?;
        return Ok(Erased::default());
    }
    let named = manifest.as_ref().map(|manifest| manifest.files.iter().map(|file| file.number).collect::<Vec<_>>());
    let mut scans = Vec::new();
    for number in named.unwrap_or(numbers) {
        match Scan::of(from, id, number) {
            Ok(scan) => scans.push(scan),
            Err(error) => report.note(&settled_file(number), 0, error.to_string()),
        }
    }
    let mut retained = manifest.as_ref().map(|manifest| manifest.retained.clone()).unwrap_or_default();
    let erased = std::mem::take(&mut retained.erased);
    if manifest.is_none() {
        report.note(SETTLED_MANIFEST_FILE, 0, "without it all history up to the newest settled commit is given up");
        choose(&mut scans);
        let last = scans.iter().filter_map(|scan| scan.covers).map(|(_, last)| last).max().unwrap_or_default();
        let mut trees: Vec<_> =
            scans.iter().flat_map(|scan| scan.rows(BlockKind::Current)).map(|(key, _)| key).collect();
        for key in &mut trees {
            key.truncate(4);
        }
        trees.dedup();
        for tree in trees {
            let tree = tree.first_chunk().map_or(0, |tree| u32::from_be_bytes(*tree));
            retained.forgotten.add(TreeId(tree), &KeyRange::all(), last)?;
        }
    }
    for scan in &scans {
        for (start, end) in &scan.gaps {
            report.note(&scan.name, *start, format!("{} bytes are not whole blocks; their rows are lost", end - start));
        }
        if !scan.complete {
            report.note(&scan.name, 0, "the footer is damaged; blocks were searched for");
        }
    }
    let mut commits: Vec<_> = scans.iter().flat_map(Scan::commits).collect();
    commits.sort_unstable_by_key(|commit| commit.seq);
    commits.dedup();
    let covered = scans.iter().filter_map(|scan| scan.covers).map(|(_, last)| last).max();
    let named = manifest.as_ref().and_then(|manifest| manifest.files.last());
    let newest = commits.last().copied().unwrap_or_default();
    let last = match named {
        Some(file) => CommitInfo { seq: file.last, time: file.time },
        None => CommitInfo { seq: newest.seq.max(covered.unwrap_or_default()), time: newest.time },
    };
    let keys_max = scans.iter().map(|scan| scan.entries(BlockKind::Current)).sum();
    let mut rows = 0;
    target.install(last, keys_max, retained, |writer| {
        let sections = scans.iter().flat_map(|scan| [scan.rows(BlockKind::Current), scan.rows(BlockKind::Past)]);
        let mut inputs: Vec<_> = sections.map(Iterator::peekable).collect();
        let mut previous: Option<(Vec<u8>, Seq)> = None;
        loop {
            let heads = inputs.iter_mut().enumerate().filter_map(|(nth, input)| Some((nth, input.peek()?)));
            let first = heads.min_by(|(_, a), (_, b)| compare_versions((&a.0, a.1.seq), (&b.0, b.1.seq)));
            let Some(nth) = first.map(|(nth, _)| nth) else { break };
            let Some((key, row)) = inputs[nth].next() else { break };
            // Files that were merged and are still there hold the same versions.
            let version = (key, row.seq);
            if previous.as_ref() != Some(&version) {
                writer.push(&version.0, row.kept())?;
                rows += 1;
            }
            previous = Some(version);
        }
        commits.iter().try_for_each(|commit| writer.commit(*commit))
    })?;
    report.rows += rows;
    report.commits += commits.len() as u64;
    report.missing += last.seq.0.saturating_sub(commits.len() as u64);
    report.head = last.seq;
    Ok(erased)
}

/// Is used if there is no manifest. Leaves out files whose commits are also in another, complete file (they were merged
/// into it), and files that were never finished.
fn choose(scans: &mut Vec<Scan>) {
    let complete: Vec<_> = scans.iter().filter(|scan| scan.complete).filter_map(|scan| scan.covers).collect();
    scans.retain(|scan| match scan.covers {
        None => true,
        Some((first, last)) => {
            let holds = |other: &&(Seq, Seq)| other.0 <= first && last <= other.1 && **other != (first, last);
            !complete.iter().any(|other| holds(&other))
        }
    });
}

fn copy_segment(
    segment: &Segment,
    bytes: &[u8],
    target: &NativeEngine,
    linked: &mut Linked,
    report: &mut SalvageReport,
) -> Result<()> {
    let mut at = SEGMENT_HEADER_BYTES as usize;
    loop {
        match whole_record(segment.seed, bytes, at) {
            Some(record) => {
                linked.link(segment, at, &record, report);
                copy_commit(&record, target, report)?;
                at += record.header.len as usize;
            }
            None => match next_whole_record(segment.seed, bytes, at + 8) {
                Some(next) => {
                    let what = format!("{} bytes are not a whole commit", next - at);
                    report.note(&segment.name(), at as u64, what);
                    linked.tear();
                    at = next;
                }
                None => {
                    if bytes.get(at..).is_some_and(|rest| rest.iter().any(|&byte| byte != 0)) {
                        report.note(&segment.name(), at as u64, "what follows is not a whole commit");
                        linked.tear();
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
        .and_then(|()| leader.finish(shared, batch, GroupSync::No))
        .map_err(WriteError::into_error)?;
    shared.after_group(&mut leader);
    report.commits += 1;
    report.rows += u64::from(header.rows);
    report.missing += header.seq.0 - last.0 - 1;
    report.head = header.seq;
    Ok(())
}
