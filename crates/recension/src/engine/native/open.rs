//! Opening a directory: what it is, whose it is, and what recovery makes of it. A directory that is
//! not a store is left exactly as it was found.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use parking_lot::{Condvar, Mutex};

use super::super::{EngineError, HeadSignal, Result};
use super::commit::Leader;
use super::counters::Counters;
use super::format::{
    INDEX_DIR, LOCK_FILE, LOG_DIR, SETTLED_DIR, STORE_FILE, STORE_TEMPORARY, StoreId, decode_store_file,
    encode_store_file,
};
use super::group::CommitQueue;
use super::index::State;
use super::log::{LogWriter, SegmentMaker};
use super::manifest::replace_file;
use super::options::NativeOptions;
use super::recovery::recover;
use super::settled::BlockCache;
use super::settled_files::SettledFiles;
use super::{Shared, maintenance};
use crate::disk::{Disk, DiskLock};

pub(super) fn open(disk: Arc<dyn Disk>, options: &NativeOptions) -> Result<Shared> {
    check_directory(&*disk, options.create)?;
    let lock = lock(&*disk)?;
    let id = match read_identity(&*disk)? {
        Some(id) => {
            // The process that made the store may have died before it had synced the name.
            disk.sync_dir("").map_err(|e| EngineError::io("syncing the store's folder", e))?;
            id
        }
        None => create(&*disk)?,
    };
    for dir in [LOG_DIR, INDEX_DIR, SETTLED_DIR] {
        disk.create_dir(dir).map_err(|e| EngineError::io(format!("creating the folder {dir}"), e))?;
    }
    let mut left_over = Vec::new();
    let (settled_files, settled) =
        SettledFiles::open(&disk, id, BlockCache::new(options.block_cache_bytes), &mut left_over)?;
    let found = recover(&disk, id, options, settled.first().map(|file| file.entry), &mut left_over)?;
    let in_use = found.segments.list.last().map_or(0, |segment| segment.number);
    let maker = Arc::new(SegmentMaker::new(disk.clone(), id, segment_bytes(options), in_use));
    let first_segment = settled.first().map_or(0, |file| file.entry.end.segment);
    let state = State {
        memory: vec![Arc::new(found.memory)],
        runs: found.runs,
        forgotten: Arc::new(settled_files.forgotten()),
        settled,
        segments: found.segments.clone(),
        times: Arc::default(),
    };
    let leader = Leader {
        log: LogWriter::new(maker.clone(), found.segments, found.end),
        last: found.last,
        acknowledged_end: found.end,
        part_log_bytes: found.replayed_bytes,
        counters: Counters::default(),
        full_key: Vec::new(),
        placed: Vec::new(),
    };
    Ok(Shared {
        disk,
        durability: options.durability,
        index_memory_bytes: options.index_memory_bytes,
        checkpoint_log_bytes: options.checkpoint_log_bytes,
        merge_fan_in: options.merge_fan_in,
        maintenance: options.maintenance,
        clock: options.clock.clone(),
        queue: CommitQueue::new(),
        leader: Mutex::new(leader),
        maker,
        files: found.files,
        state: ArcSwap::from_pointee(state),
        replacing_state: Mutex::default(),
        head: Arc::new(AtomicU64::new(found.last.seq.0)),
        durable: AtomicU64::new(found.last.seq.0),
        head_signal: HeadSignal::default(),
        poison: OnceLock::new(),
        signal: maintenance::Signal::default(),
        much_in_memory: AtomicBool::default(),
        maintaining: Mutex::default(),
        next_segment_after: Mutex::new(0),
        flushed_lock: Mutex::default(),
        flushed: Condvar::new(),
        settled_files,
        settle_log_bytes: options.settle_log_bytes,
        settle_bytes_per_second: options.settle_bytes_per_second,
        settle_after_opening: options.settle_after_opening,
        settle_pace: Arc::new(AtomicU64::new(options.settle_bytes_per_second)),
        settle_signal: maintenance::Signal::default(),
        doomed: super::doomed::Doomed::new(left_over),
        loose_ends: Mutex::default(),
        settling: Mutex::default(),
        settling_through: AtomicU64::new(0),
        first_segment: AtomicU32::new(first_segment),
        settling_damaged: OnceLock::new(),
        stopping: Arc::default(),
        index_rebuilt: found.index_rebuilt,
        _lock: lock,
    })
}

/// A segment has room for its header and something more, and its offsets fit in four bytes.
fn segment_bytes(options: &NativeOptions) -> u64 {
    options.segment_bytes.clamp(8 << 10, 1 << 30)
}

/// Refuses a directory that is not a store, before anything in it is touched.
fn check_directory(disk: &dyn Disk, may_create: bool) -> Result<()> {
    let not_a_store = |found: String| Err(EngineError::NotAStore { path: disk.location(), found });
    let names = match disk.list("") {
        Ok(names) => names,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if !may_create {
                return not_a_store("there is nothing at this place".to_owned());
            }
            return disk.create_dir("").map_err(|e| EngineError::io(format!("creating {}", disk.location()), e));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return not_a_store("it is a file, and a store is a directory".to_owned());
        }
        Err(error) => return Err(EngineError::io(format!("reading {}", disk.location()), error)),
    };
    if names.iter().any(|name| name == STORE_FILE) {
        return Ok(());
    }
    for dir in [LOG_DIR, SETTLED_DIR] {
        if has_files(disk, dir)? {
            let what = format!("the file is missing, and the folder {dir} is there");
            return Err(EngineError::damaged(STORE_FILE, 0, what));
        }
    }
    if let Some(other) = names.iter().find(|name| ![LOCK_FILE, STORE_TEMPORARY].contains(&name.as_str())) {
        return not_a_store(format!("the directory holds other files, such as {other}"));
    }
    if !may_create {
        return not_a_store("the directory is empty".to_owned());
    }
    Ok(())
}

fn has_files(disk: &dyn Disk, dir: &str) -> Result<bool> {
    match disk.list(dir) {
        Ok(names) => Ok(!names.is_empty()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(EngineError::io(format!("reading the folder {dir}"), error)),
    }
}

pub(super) fn lock(disk: &dyn Disk) -> Result<DiskLock> {
    match disk.lock(LOCK_FILE) {
        Ok(Ok(lock)) => Ok(lock),
        Ok(Err(holder)) => Err(EngineError::Locked { store: disk.location(), holder }),
        Err(error) => Err(EngineError::io(format!("locking {}", disk.location()), error)),
    }
}

/// The store's id; `None` where there is no store yet.
pub(super) fn read_identity(disk: &dyn Disk) -> Result<Option<StoreId>> {
    let io = |e| EngineError::io("reading STORE", e);
    let file = match disk.open(STORE_FILE) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let mut bytes = vec![0; file.len().map_err(io)?.min(4096) as usize];
    file.read_at(0, &mut bytes).map_err(io)?;
    decode_store_file(&bytes).map(Some)
}

fn create(disk: &dyn Disk) -> Result<StoreId> {
    let mut id = [0; 16];
    getrandom::fill(&mut id)
        .map_err(|e| EngineError::io("asking for random bytes", std::io::Error::other(e.to_string())))?;
    let id = StoreId(id);
    for dir in [LOG_DIR, INDEX_DIR, SETTLED_DIR] {
        disk.create_dir(dir).map_err(|e| EngineError::io(format!("creating the folder {dir}"), e))?;
    }
    replace_file(disk, "", STORE_TEMPORARY, STORE_FILE, &encode_store_file(id))?;
    Ok(id)
}
