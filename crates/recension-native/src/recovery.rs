//! Recovery: finds the index's runs behind the settled part, replays the log behind them, and decides whether the log
//! ends torn (then it is cut) or damaged (then it is refused). docs/format.md has the rule. Every step can be repeated.

use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, Scope};

use super::chain::LogPoint;
use super::entry::IndexEntry;
use super::format::{
    INDEX_DIR, LOG_DIR, MANIFEST_FILE, MARK_FILE, Position, RECORD_ALIGNMENT, SEGMENT_HEADER_BYTES, StoreId,
    file_number, segment_file,
};
use super::index::write_full_key;
use super::index_files::IndexFiles;
use super::manifest::{Manifest, RunEntry};
use super::mem::MemoryIndex;
use super::options::NativeOptions;
use super::record::{
    RECORD_HEADER_BYTES, Record, RecordHeader, SegmentSeed, decode_header, decode_record, find_header,
};
use super::removal::Leftover;
use super::run::Run;
use super::segment::{Segment, Segments};
use super::sorted::Gathered;
use crate::disk::{Access, Disk, DiskFile};
use recension_engine::{CommitInfo, EngineError, Result, Seq};

/// Bytes that are rewritten with one call.
const REWRITE_BYTES: usize = 1 << 20;

/// Versions that are handed on at once.
const GATHERED_MAX: usize = 1 << 13;

/// Batches that may wait for the thread that takes them.
const BATCHES_AHEAD: usize = 4;

/// Bytes of versions that are put in order at once.
const WAITING_BYTES_MAX: usize = 16 << 20;

/// A store as it was found.
pub(super) struct Recovered {
    pub(super) files: IndexFiles,
    /// Newest first.
    pub(super) runs: Vec<Arc<Run>>,
    pub(super) memory: MemoryIndex,
    pub(super) segments: Segments,
    /// The end of the log; all of it is durable.
    pub(super) point: LogPoint,
    /// Bytes of log behind the newest run.
    pub(super) replayed_bytes: u64,
    /// The reason for which the index, or a part of it, was rebuilt.
    pub(super) index_rebuilt: Option<String>,
}

/// Recovers the store in `disk`. Its lock is held. `settled` is the newest settled file, `mark` the durable point of
/// the log, if it is known. Files that are of no more use are `left_over`.
pub(super) fn recover(
    disk: &Arc<dyn Disk>,
    id: StoreId,
    options: &NativeOptions,
    (settled, mark): (Option<RunEntry>, Option<LogPoint>),
    left_over: &mut Vec<Leftover>,
) -> Result<Recovered> {
    let first = settled.map_or(Position::START, |file| file.end).segment;
    let numbers = segment_numbers(disk, first, left_over)?;
    // A process may have died between making a segment and syncing its name. The name is synced before anything durable
    // (a commit, a manifest) depends on it.
    disk.sync_dir(LOG_DIR).map_err(|e| EngineError::io("syncing the folder log", e))?;
    let (manifest, runs, index_rebuilt) = open_runs(disk, id, settled, numbers.is_empty())?;
    let newest = manifest.runs.last().or(settled.as_ref());
    let start = newest.map_or_else(|| LogPoint::start(id), RunEntry::point);
    let mut replay = Replay {
        disk,
        id,
        options,
        files: IndexFiles::new(disk.clone(), id, manifest, left_over)?,
        runs,
        memory: MemoryIndex::for_about(0),
        point: start,
        mark,
        replayed_bytes: 0,
        versions: 0,
        key_bytes: 0,
        rewritten: start.end,
        kept: 0,
    };
    if let Some(mark) = mark.filter(|mark| mark.last.seq == start.last.seq && mark.chain != start.chain) {
        let what = format!("the log, as far as it is indexed or settled, has another commit {}", mark.last.seq);
        return Err(EngineError::damaged(MARK_FILE, 0, what));
    }
    replay.log(&numbers)?;
    let mut segments = Segments::default();
    for number in first..=replay.kept {
        let segment = if number == replay.point.end.segment {
            Segment::open_newest(disk, id, number, replay.point.end.offset)?
        } else {
            Segment::found(disk, id, number)
        };
        segments.list.push(Arc::new(segment));
    }
    replay.runs.reverse();
    Ok(Recovered {
        files: replay.files,
        runs: replay.runs,
        memory: replay.memory,
        segments,
        point: replay.point,
        replayed_bytes: replay.replayed_bytes,
        index_rebuilt,
    })
}

/// The numbers of the segments from `first` on, which must have no gaps. Earlier ones are settled: a crash has kept
/// them or brought them back, and they are removed.
fn segment_numbers(disk: &Arc<dyn Disk>, first: u32, left_over: &mut Vec<Leftover>) -> Result<Vec<u32>> {
    let names = disk.list(LOG_DIR).map_err(|e| EngineError::io("listing the log", e))?;
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| u32::try_from(file_number(name, "log")?).ok()).collect();
    numbers.sort_unstable();
    let settled = numbers.partition_point(|&number| number < first);
    left_over.extend(numbers.drain(..settled).map(|number| Leftover::new(disk, segment_file(number))));
    for (expected, &number) in (first..).zip(&numbers) {
        if number != expected {
            let what = format!("the segment is missing, and segment {number} is there");
            return Err(EngineError::damaged(segment_file(expected), 0, what));
        }
    }
    Ok(numbers)
}

/// Opens the runs that the manifest names behind the settled part, oldest first, up to the first damaged one. Whatever
/// is wrong, the log has it all: the index is rebuilt from it, and the text says why.
fn open_runs(
    disk: &Arc<dyn Disk>,
    id: StoreId,
    settled: Option<RunEntry>,
    log_is_empty: bool,
) -> Result<(Manifest, Vec<Arc<Run>>, Option<String>)> {
    let after = settled.map_or(Seq::ZERO, |file| file.last);
    let none = |why| Ok((Manifest { after, ..new_manifest(disk)? }, Vec::new(), why));
    let mut manifest = match read_manifest(disk, id) {
        Ok(Some(manifest)) => manifest,
        Ok(None) => return none((!log_is_empty).then(|| "there was no manifest".to_owned())),
        Err(error) => return none(Some(error.to_string())),
    };
    manifest.runs.retain(|run| run.last > after);
    manifest.after = after;
    if let Some(run) = manifest.runs.first().filter(|run| run.first != after.next()) {
        let numbers = manifest.next_run;
        let why = format!("the index begins with commit {}, and what is settled ends with {after}", run.first);
        return none(Some(why)).map(|(manifest, runs, why)| {
            (Manifest { next_run: manifest.next_run.max(numbers), ..manifest }, runs, why)
        });
    }
    let mut runs = Vec::new();
    let mut why = None;
    for entry in &manifest.runs {
        match Run::open(disk, id, *entry) {
            Ok(run) => runs.push(Arc::new(run)),
            Err(error) => {
                why = Some(error.to_string());
                break;
            }
        }
    }
    manifest.runs.truncate(runs.len());
    Ok((manifest, runs, why))
}

fn read_manifest(disk: &Arc<dyn Disk>, id: StoreId) -> Result<Option<Manifest>> {
    let io = |e| EngineError::io(format!("reading {MANIFEST_FILE}"), e);
    let file = match disk.open(MANIFEST_FILE) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let mut bytes = vec![0; file.len().map_err(io)?.min(64 << 20) as usize];
    file.read_at(0, &mut bytes).map_err(io)?;
    Manifest::decode(&bytes, id).map(Some)
}

/// A manifest without runs whose next run has a number that no file has.
fn new_manifest(disk: &Arc<dyn Disk>) -> Result<Manifest> {
    let names = disk.list(INDEX_DIR).map_err(|e| EngineError::io("listing the index", e))?;
    let newest = names.iter().filter_map(|name| file_number(name, "run")).max();
    Ok(Manifest { next_run: newest.unwrap_or(0) + 1, ..Manifest::default() })
}

struct Replay<'d> {
    disk: &'d Arc<dyn Disk>,
    id: StoreId,
    options: &'d NativeOptions,
    files: IndexFiles,
    /// Oldest first.
    runs: Vec<Arc<Run>>,
    memory: MemoryIndex,
    /// The point that replay has reached.
    point: LogPoint,
    /// The durable point of the log when the mark was written.
    mark: Option<LogPoint>,
    replayed_bytes: u64,
    /// Versions in `memory`, and bytes of their keys.
    versions: u64,
    key_bytes: u64,
    /// The position behind the rewritten bytes: see [`Replay::make_durable`].
    rewritten: Position,
    /// The number of segments that stay.
    kept: u32,
}

/// Puts replayed versions into the index.
struct Sorter<'m> {
    memory: &'m MemoryIndex,
    /// Counted versions that wait to be sorted.
    waiting: Gathered,
}

impl Sorter<'_> {
    fn add(&mut self, batch: Gathered) {
        self.memory.count_all(&batch);
        self.waiting.append(batch);
        if self.waiting.bytes() >= WAITING_BYTES_MAX {
            self.memory.sort_in(&mut self.waiting);
        }
    }

    fn finish(mut self) {
        self.memory.sort_in(&mut self.waiting);
    }
}

/// The place where sorting is done.
enum Sorting<'m> {
    /// The thread that reads does it.
    Here(Sorter<'m>),
    /// Another thread does it. It takes a batch while the next one is gathered.
    Beside(SyncSender<Gathered>),
}

impl<'m> Sorting<'m> {
    fn new(memory: &'m MemoryIndex) -> Self {
        Sorting::Here(Sorter { memory, waiting: Gathered::default() })
    }

    /// Lets another thread do it, if the system gives one. It must be called before anything is added.
    fn begin<'s>(&mut self, scope: &'s Scope<'s, '_>)
    where
        'm: 's,
    {
        let Sorting::Here(Sorter { memory, .. }) = self else { return };
        let mut sorter = Sorter { memory, waiting: Gathered::default() };
        let (sender, batches) = sync_channel::<Gathered>(BATCHES_AHEAD);
        let add_all = move || {
            for batch in batches {
                sorter.add(batch);
            }
            sorter.finish();
        };
        if Builder::new().name("recension-replay".to_owned()).spawn_scoped(scope, add_all).is_ok() {
            *self = Sorting::Beside(sender);
        }
    }

    fn add(&mut self, batch: Gathered) {
        match self {
            Sorting::Here(sorter) => sorter.add(batch),
            // The other thread takes no more only if it has panicked. Then the scope panics, too.
            Sorting::Beside(sender) => drop(sender.send(batch)),
        }
    }

    fn finish(self) {
        if let Sorting::Here(sorter) = self {
            sorter.finish();
        }
    }
}

/// The parts of a file, from `from` on and up to `end`, that may hold something other than zeros: most of a
/// preallocated segment is a hole. This must be asked before the parts are read: bytes that the system reads ahead are
/// no hole any
/// more.
fn data_parts(file: &dyn DiskFile, from: u32, end: usize) -> std::io::Result<Vec<Range<usize>>> {
    let (mut from, end) = (u64::from(from), end as u64);
    let mut parts = Vec::new();
    while let Some(data) = file.next_data(from)?.filter(|data| data.start < end) {
        parts.push(data.start.max(from) as usize..data.end.min(end) as usize);
        from = data.end.max(from + 1);
    }
    Ok(parts)
}

/// [`find_header`] in parts of a segment.
fn find_in_parts(
    seed: SegmentSeed,
    bytes: &[u8],
    parts: &[Range<usize>],
    wanted: impl Fn(&RecordHeader) -> bool,
) -> Option<(usize, RecordHeader)> {
    parts.iter().find_map(|part| {
        // The zeros behind the data may belong to a header.
        let end = part.end.saturating_add(RECORD_HEADER_BYTES).min(bytes.len());
        let start = part.start.next_multiple_of(RECORD_ALIGNMENT as usize);
        find_header(seed, bytes.get(..end)?, start, &wanted)
    })
}

/// Whether there are only zeros in `bytes`.
fn are_zeros(bytes: &[u8]) -> bool {
    const ZEROS: [u8; 4096] = [0; 4096];
    bytes.chunks(ZEROS.len()).all(|piece| piece == &ZEROS[..piece.len()])
}

/// The error for a whole commit of the right seq that does not continue the chain.
pub(super) fn breaks_off(segment: &Segment, offset: u32, seq: Seq) -> EngineError {
    EngineError::damaged(segment.name(), u64::from(offset), broken_off(seq))
}

/// The text for it.
pub(super) fn broken_off(seq: Seq) -> String {
    format!(
        "commit {seq} does not go on from the commit before it: one of them is of another copy of this log, or a stale \
         one"
    )
}

/// Refuses a log that has another commit at the mark. `point` ends with a commit that begins at its position.
fn check_mark(point: LogPoint, mark: LogPoint, segment: &Segment) -> Result<()> {
    if point.last.seq != mark.last.seq || point.chain == mark.chain {
        return Ok(());
    }
    let what = format!(
        "{MARK_FILE} knows another commit {}: the log, or the mark, is of another copy of this store",
        point.last.seq
    );
    Err(EngineError::damaged(segment.name(), u64::from(point.end.offset), what))
}

impl Replay<'_> {
    /// Replays from `end` on and makes the log ready for appending.
    fn log(&mut self, numbers: &[u32]) -> Result<()> {
        let newest = numbers.last().copied().unwrap_or(0);
        if self.point.last.seq > Seq::ZERO && newest < self.point.end.segment {
            return Err(self.ends_early(segment_file(self.point.end.segment), 0));
        }
        while self.point.end.segment <= newest {
            let segment = Segment::found(self.disk, self.id, self.point.end.segment);
            if let Err(error) = segment.check_header(self.id) {
                return self.unfinished_segment(&segment, newest, error);
            }
            let bytes = segment.whole_file(Access::InOrder)?;
            if bytes.len() < self.point.end.offset as usize {
                return Err(self.ends_early(segment.name(), bytes.len()));
            }
            self.records(&segment, &bytes, newest)?;
            if self.point.end.segment < newest && self.next_segment_follows()? {
                self.point.end = Position { segment: self.point.end.segment + 1, offset: SEGMENT_HEADER_BYTES as u32 };
                self.rewritten = self.point.end;
                continue;
            }
            self.refuse_damage(newest)?;
            self.check_reaches_mark()?;
            return self.cut_tail(&segment, &bytes, newest);
        }
        self.check_reaches_mark()
    }

    /// Refuses if the log ends before its durable point.
    fn check_reaches_mark(&self) -> Result<()> {
        let (found, Some(mark)) = (self.point, self.mark) else { return Ok(()) };
        if found.last.seq >= mark.last.seq {
            return Ok(());
        }
        let (first, last) = (found.last.seq.next(), mark.last.seq);
        let (end, file) = (mark.end.offset, segment_file(mark.end.segment));
        let missing =
            if first == last { format!("commit {last} is") } else { format!("commits {first} to {last} are") };
        let what =
            format!("{missing} missing from here on, which had been written and synced, up to byte {end} of {file}");
        Err(EngineError::damaged(segment_file(found.end.segment), u64::from(found.end.offset), what))
    }

    fn ends_early(&self, file: String, len: usize) -> EngineError {
        let (seq, at) = (self.point.last.seq, self.point.end.offset);
        let what = format!("the log ends here, and the index says that commit {seq} was durable up to byte {at}");
        EngineError::damaged(file, len as u64, what)
    }

    /// Replays the records of one segment.
    fn records(&mut self, segment: &Segment, bytes: &[u8], newest: u32) -> Result<()> {
        while self.records_until_full(segment, bytes)? {
            // The manifest may name only durable commits. After a mere crash of a process, they may not be durable yet.
            self.make_durable(segment, bytes, newest)?;
            let next = MemoryIndex::for_about(self.memory.len());
            let part = std::mem::replace(&mut self.memory, next);
            self.runs.push(self.files.flush(&part, self.point)?);
            (self.replayed_bytes, self.key_bytes, self.versions) = (0, 0, 0);
        }
        Ok(())
    }

    /// Replays records until they end, or until the index has all that memory may hold of it; returns whether it is the
    /// latter. Records are read and checked here. If there are many, another thread puts them into the index.
    fn records_until_full(&mut self, segment: &Segment, bytes: &[u8]) -> Result<bool> {
        let Replay { id, mark, options, memory, point, rewritten, replayed_bytes, key_bytes, versions, .. } = self;
        let memory = &*memory;
        let mut key = Vec::new();
        let mut gathered = Gathered::default();
        let mut full = Ok(false);
        std::thread::scope(|scope| {
            let mut sorting = Sorting::new(memory);
            while let Some(record) = bytes
                .get(point.end.offset as usize..)
                .and_then(|rest| decode_record(segment.seed, point.end.offset, rest))
                .filter(|record| record.header.follows(point.last.seq))
            {
                if !record.header.continues(*id, point.last.seq, point.chain) {
                    full = Err(breaks_off(segment, point.end.offset, record.header.seq));
                    break;
                }
                // Commits that the writer of this record knew to be synced need not be rewritten.
                if record.header.durable >= point.last.seq {
                    *rewritten = point.end;
                }
                for (back, row) in record.rows() {
                    let position = Position { segment: segment.number, offset: point.end.offset + back };
                    write_full_key(&mut key, row.tree, row.key);
                    gathered.push(&key, IndexEntry { seq: record.header.seq, position, deleted: row.value.is_none() });
                    *key_bytes += key.len() as u64;
                    *versions += 1;
                }
                point.last = CommitInfo { seq: record.header.seq, time: record.header.time };
                point.chain = record.chain(*id);
                if let Err(error) = mark.map_or(Ok(()), |mark| check_mark(*point, mark, segment)) {
                    full = Err(error);
                    break;
                }
                point.end.offset += record.header.len;
                *replayed_bytes += u64::from(record.header.len);
                if gathered.len() >= GATHERED_MAX {
                    sorting.begin(scope);
                    sorting.add(std::mem::take(&mut gathered));
                }
                if MemoryIndex::bytes_of(*versions, *key_bytes) > options.index_memory_bytes {
                    full = Ok(true);
                    break;
                }
            }
            sorting.add(gathered);
            sorting.finish();
        });
        full
    }

    /// Makes the replayed part of a segment durable. A sync is not enough. If the process before this one saw a sync
    /// fail, the system holds those bytes as clean ("fsyncgate"): it reads them to us from its cache, and no later sync
    /// writes them. Rewriting makes them dirty again. The same bytes go to the same place, so this can be torn and
    /// repeated. If another segment with commits follows, this one was synced with success before, and is left alone.
    fn make_durable(&mut self, segment: &Segment, bytes: &[u8], newest: u32) -> Result<()> {
        let sealed = segment.number < newest && self.next_segment_begins(|_| true)?;
        if !sealed {
            for (index, part) in
                bytes[self.rewritten.offset as usize..self.point.end.offset as usize].chunks(REWRITE_BYTES).enumerate()
            {
                // It is a copy, because `bytes` may be a view of the very pages that are written to.
                let copy = part.to_vec();
                segment.write(self.rewritten.offset + (index * REWRITE_BYTES) as u32, &[IoSlice::new(&copy)])?;
            }
        }
        self.rewritten = self.point.end;
        segment.sync()
    }

    /// Whether the next segment continues with the expected commit. If that breaks the chain, it is damage.
    fn next_segment_follows(&self) -> Result<bool> {
        let LogPoint { last, chain, end } = self.point;
        if !self.next_segment_begins(|record| record.header.follows(last.seq))? {
            return Ok(false);
        }
        if self.next_segment_begins(|record| record.header.continues(self.id, last.seq, chain))? {
            return Ok(true);
        }
        let next = Segment::found(self.disk, self.id, end.segment + 1);
        Err(breaks_off(&next, SEGMENT_HEADER_BYTES as u32, last.seq.next()))
    }

    /// Whether the next segment begins with a whole commit for which `wanted` holds.
    fn next_segment_begins(&self, wanted: impl Fn(&Record<'_>) -> bool) -> Result<bool> {
        let next = Segment::found(self.disk, self.id, self.point.end.segment + 1);
        if next.check_header(self.id).is_err() {
            return Ok(false);
        }
        // Usually it was made ahead of need and is empty, so nothing is read ahead.
        let bytes = next.whole_file(Access::Scattered)?;
        let at = SEGMENT_HEADER_BYTES as u32;
        let Some(rest) = bytes.get(at as usize..).filter(|rest| decode_header(next.seed, at, rest).is_some()) else {
            return Ok(false);
        };
        next.whole_file(Access::InOrder)?;
        Ok(decode_record(next.seed, at, rest).is_some_and(|record| wanted(&record)))
    }

    /// Refuses if a later commit shows that the one expected here was synced.
    fn refuse_damage(&self, newest: u32) -> Result<()> {
        let expected = self.point.last.seq.next();
        for number in self.point.end.segment..=newest {
            let segment = Segment::found(self.disk, self.id, number);
            let bytes = segment.whole_file(Access::Scattered)?;
            let from =
                if number == self.point.end.segment { self.point.end.offset } else { SEGMENT_HEADER_BYTES as u32 };
            let parts = data_parts(&*segment.file()?, from, bytes.len())
                .map_err(|e| EngineError::io(format!("looking for data in {}", segment.name()), e))?;
            if !parts.is_empty() {
                segment.whole_file(Access::InOrder)?;
            }
            let wanted = |header: &RecordHeader| header.durable >= expected;
            if let Some((at, header)) = find_in_parts(segment.seed, &bytes, &parts, wanted) {
                if number > self.point.end.segment {
                    segment.check_header(self.id)?;
                }
                let what = format!(
                    "expected commit {expected} and found none that is whole, but commit {} at byte {at} of {} \
                     shows that it had been written and synced",
                    header.seq,
                    segment.name()
                );
                return Err(EngineError::damaged(
                    segment_file(self.point.end.segment),
                    u64::from(self.point.end.offset),
                    what,
                ));
            }
        }
        Ok(())
    }

    /// Cuts the log behind the last whole commit and makes the rest durable.
    fn cut_tail(&mut self, segment: &Segment, bytes: &[u8], newest: u32) -> Result<()> {
        self.kept = self.point.end.segment;
        self.remove_segments(self.point.end.segment + 1, newest)?;
        self.make_durable(segment, bytes, newest)?;
        // Allocated room that was never written to is kept for later commits.
        let parts = data_parts(&*segment.file()?, self.point.end.offset, bytes.len())
            .map_err(|e| EngineError::io(format!("looking for data in {}", segment.name()), e))?;
        let written = parts.into_iter().any(|part| !are_zeros(bytes.get(part).unwrap_or_default()));
        if written { segment.cut(self.point.end.offset) } else { Ok(()) }
    }

    /// The first segment has no whole header. If nothing shows that it was ever used, a crash interrupted its creation,
    /// and it is removed; otherwise `error` stands.
    fn unfinished_segment(&mut self, segment: &Segment, newest: u32, error: EngineError) -> Result<()> {
        let is_damage = matches!(&error, EngineError::Damaged { .. });
        if !is_damage
            || self.point.last.seq > Seq::ZERO
            || segment.number != newest
            || self.refuse_damage(newest).is_err()
        {
            return Err(error);
        }
        self.check_reaches_mark()?;
        self.kept = 0;
        self.remove_segments(segment.number, newest)
    }

    fn remove_segments(&self, from: u32, to: u32) -> Result<()> {
        let removing = |e| EngineError::io("removing a log segment without commits", e);
        for number in (from..=to).rev() {
            self.disk.remove(&segment_file(number)).map_err(removing)?;
        }
        if from <= to { self.disk.sync_dir(LOG_DIR).map_err(removing) } else { Ok(()) }
    }
}
