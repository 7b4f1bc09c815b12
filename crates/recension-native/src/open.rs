//! Opening a directory: what kind it is, which store's, and the state after recovery. A directory that is not a store
//! is left exactly as it was found.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use parking_lot::{Condvar, Mutex, RwLock};

use super::chain::LogPoint;
use super::commit::Leader;
use super::copying;
use super::counters::Counters;
use super::format::{
    COPY_FILE, COPY_TEMPORARY, FORMAT_VERSION, INDEX_DIR, KEYS_FILE, KEYS_TEMPORARY, LOCK_FILE, LOG_DIR, MARK_FILE,
    MARK_TEMPORARY, SETTLED_DIR, STORE_FILE, STORE_TEMPORARY, StoreId, UNFINISHED_FILE, UNFINISHED_TEMPORARY,
    decode_store_file, encode_store_file,
};
use super::index::State;
use super::log::{LogWriter, SegmentMaker};
use super::maintenance;
use super::manifest::replace_file;
use super::mark::{self, Mark};
use super::moved;
use super::options::NativeOptions;
use super::recovery::recover;
use super::sealing::{Unlocked, missing_keys, unlock};
use super::settled::BlockCache;
use super::settled_files::SettledFiles;
use super::shared::{Settling, Shared};
use super::trail::Trail;
use super::tree_keys::KeyRing;
use crate::disk::sealed::is_sealed;
use crate::disk::{Disk, DiskLock, Key};
use recension_engine::pacing::CommitQueue;
use recension_engine::{EngineError, HeadSignal, Result};

/// The purpose of opening a store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Usual,
    ReadOnly,
    /// To continue its move: it takes no commits.
    Moved,
    /// To be filled by a copy, which is not complete.
    Copy,
}

pub(super) fn open(disk: Arc<dyn Disk>, options: &NativeOptions, access: Access) -> Result<Shared> {
    if access != Access::Copy {
        copying::check(&*disk)?;
    }
    let Unlocked { disk, sealed } = unlock(disk, options.key.as_ref(), options.create)?;
    check_directory(&*disk, options.create)?;
    let lock = lock(&*disk)?;
    let tree_keys = sealed.clone().map(|sealed| {
        let (file, read_only) = (options.collection_keys.as_ref(), access == Access::ReadOnly);
        KeyRing::open(sealed, file, read_only, options.clock.clone()).map(Arc::new)
    });
    let tree_keys = tree_keys.transpose()?;
    let moved = moved::read(&*disk)?;
    if access != Access::Moved
        && let Some(to) = moved
    {
        return Err(EngineError::Moved { to });
    }
    let (version, id) = match read_store_file(&*disk)? {
        Some(identity) => {
            // The process that made the store may have died before it synced the name.
            disk.sync_dir("").map_err(|e| EngineError::io("syncing the store's folder", e))?;
            identity
        }
        None => (FORMAT_VERSION, create(&*disk)?),
    };
    let mark = if version == FORMAT_VERSION { Some(Mark::open(&*disk, id)?) } else { None };
    for dir in [LOG_DIR, INDEX_DIR, SETTLED_DIR] {
        disk.create_dir(dir).map_err(|e| EngineError::io(format!("creating the folder {dir}"), e))?;
    }
    let mut left_over = Vec::new();
    let (settled_files, settled) =
        SettledFiles::open(&disk, id, BlockCache::new(options.block_cache_bytes), &mut left_over)?;
    let marked = mark.as_ref().map(Mark::point);
    let found = recover(&disk, id, options, (settled.first().map(|file| file.entry), marked), &mut left_over)?;
    let mark = match mark {
        Some(mark) => mark,
        None => add_mark(&*disk, id, found.point)?,
    };
    let in_use = found.segments.list.last().map_or(0, |segment| segment.number);
    let maker = Arc::new(SegmentMaker::new(disk.clone(), id, segment_bytes(options), in_use));
    let first_segment = settled.first().map_or(0, |file| file.entry.end.segment);
    let state = State {
        memory: vec![Arc::new(found.memory)],
        runs: found.runs,
        forgotten: Arc::new(settled_files.forgotten()),
        erased: Arc::new(settled_files.erased()),
        settled,
        segments: found.segments.clone(),
        times: Arc::default(),
    };
    let leader = Leader {
        log: LogWriter::new(maker.clone(), found.segments, found.point.end, found.point.chain),
        last: found.point.last,
        acknowledged: found.point,
        asked_at: found.point.last.time,
        part_log_bytes: found.replayed_bytes,
        counters: Counters::default(),
        full_key: Vec::new(),
        placed: Vec::new(),
    };
    let trail = Trail::new(mark, found.point, options.mark_every);
    trail.mend()?;
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
        head: Arc::new(AtomicU64::new(found.point.last.seq.0)),
        durable: AtomicU64::new(found.point.last.seq.0),
        trail,
        head_signal: HeadSignal::default(),
        poison: OnceLock::new(),
        no_room: Mutex::default(),
        signal: maintenance::Signal::default(),
        much_in_memory: AtomicBool::default(),
        maintaining: Mutex::default(),
        next_segment_after: Mutex::new(0),
        flushed_lock: Mutex::default(),
        flushed: Condvar::new(),
        settled_files,
        doomed: super::removal::Doomed::new(left_over),
        loose_ends: Mutex::default(),
        settling: Settling::new(options),
        first_segment: AtomicU32::new(first_segment),
        stopping: Arc::default(),
        index_rebuilt: found.index_rebuilt,
        read_only: access == Access::ReadOnly,
        moved: RwLock::new(moved),
        sealed,
        tree_keys,
        _lock: lock,
    })
}

/// An error of the file system while a store is opened: it names the store, and says what helps.
pub(super) fn at_the_store(error: EngineError, store: &str) -> EngineError {
    let EngineError::Io { doing, source } = error else { return error };
    let advice = match source.kind() {
        ErrorKind::PermissionDenied => "run this as the user that the store belongs to",
        ErrorKind::ReadOnlyFilesystem => "mount the file system for writing, or copy the store",
        _ => "",
    };
    let source = match advice {
        "" => source,
        advice => Arc::new(std::io::Error::new(source.kind(), format!("{source}; {advice}"))),
    };
    let doing = if doing.contains(store) { doing } else { format!("opening {store}: {doing}") };
    EngineError::Io { doing, source }
}

/// A segment has room for its header and something more, and its offsets fit in four bytes.
fn segment_bytes(options: &NativeOptions) -> u64 {
    options.segment_bytes.clamp(8 << 10, 1 << 30)
}

/// Refuses a directory that is not a store, before anything in it is touched.
pub(super) fn check_directory(disk: &dyn Disk, may_create: bool) -> Result<()> {
    let not_a_store = |found: String| Err(EngineError::NotAStore { path: disk.location(), found });
    let names = match disk.list("") {
        Ok(names) => names,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if !may_create {
                return not_a_store("there is nothing at this place".to_owned());
            }
            return disk.create_dir("").map_err(|e| EngineError::io(format!("creating {}", disk.location()), e));
        }
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return not_a_store("it is a file, and a store is a directory".to_owned());
        }
        Err(error) => return Err(EngineError::io(format!("reading {}", disk.location()), error)),
    };
    if names.iter().any(|name| name == STORE_FILE || name == COPY_FILE) {
        return Ok(());
    }
    if names.iter().any(|name| name == UNFINISHED_FILE || name == UNFINISHED_TEMPORARY) {
        let what = "it is an unfinished backup; run the same backup command again, which goes on with it, or remove \
                    the folder";
        return not_a_store(what.to_owned());
    }
    for dir in [LOG_DIR, SETTLED_DIR] {
        if has_files(disk, dir)? {
            let what = format!("the file is missing, and the folder {dir} is there");
            return Err(EngineError::damaged(STORE_FILE, 0, what));
        }
    }
    if mark::knows_of_commits(disk)? {
        let what = format!("the file is missing, and {MARK_FILE} knows of commits");
        return Err(EngineError::damaged(STORE_FILE, 0, what));
    }
    let ours = [LOCK_FILE, STORE_TEMPORARY, MARK_FILE, MARK_TEMPORARY, KEYS_TEMPORARY, COPY_TEMPORARY];
    if let Some(other) = names.iter().find(|name| !ours.contains(&name.as_str())) {
        return not_a_store(format!("the directory holds other files, such as {other}"));
    }
    check_no_other_folders(disk)?;
    if !may_create {
        return not_a_store("the directory is empty".to_owned());
    }
    Ok(())
}

/// Refuses a new store, or backup, beside folders of others: it would seem to be all that is there.
pub(super) fn check_no_other_folders(disk: &dyn Disk) -> Result<()> {
    // Some are in every volume.
    let known = [LOG_DIR, INDEX_DIR, SETTLED_DIR, "lost+found", ".snapshot", ".zfs"];
    let names = disk.folders().map_err(|e| EngineError::io(format!("reading {}", disk.location()), e))?;
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(other) => {
            let found = format!(
                "the directory holds other folders, such as {other}; a store has a folder of its own, which is new or \
                 empty"
            );
            Err(EngineError::NotAStore { path: disk.location(), found })
        }
    }
}

fn has_files(disk: &dyn Disk, dir: &str) -> Result<bool> {
    match disk.list(dir) {
        Ok(names) => Ok(!names.is_empty()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
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

/// The store's id; `None` if there is no store yet.
pub(super) fn read_identity(disk: &dyn Disk) -> Result<Option<StoreId>> {
    Ok(read_store_file(disk)?.map(|(_, id)| id))
}

/// The format of the store on a disk, without opening the store; `None` if there is none.
///
/// # Errors
/// [`EngineError::NewerFormat`]; [`EngineError::Key`] for an encrypted store without its key; damage of the file that
/// says it; errors of the file system.
pub fn format_version(disk: &Arc<dyn Disk>, key: Option<&Key>) -> Result<Option<u32>> {
    // A key never makes keys here.
    let key = key.filter(|_| disk.open(KEYS_FILE).is_ok());
    let Unlocked { disk, .. } = unlock(Arc::clone(disk), key, false)?;
    Ok(read_store_file(&*disk)?.map(|(version, _)| version))
}

/// The format version and the store's id; `None` if there is no store yet.
pub(super) fn read_store_file(disk: &dyn Disk) -> Result<Option<(u32, StoreId)>> {
    let io = |e| EngineError::io("reading STORE", e);
    let file = match disk.open(STORE_FILE) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let mut bytes = vec![0; file.len().map_err(io)?.min(4096) as usize];
    file.read_at(0, &mut bytes).map_err(io)?;
    if is_sealed(&bytes) {
        return Err(missing_keys());
    }
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
    mark::create(disk, id, LogPoint::start(id))?;
    replace_file(disk, "", STORE_TEMPORARY, STORE_FILE, &encode_store_file(id))?;
    Ok(id)
}

/// Makes a store of format 1 one of format 2: from now on it must have a mark.
fn add_mark(disk: &dyn Disk, id: StoreId, point: LogPoint) -> Result<Mark> {
    mark::create(disk, id, point)?;
    replace_file(disk, "", STORE_TEMPORARY, STORE_FILE, &encode_store_file(id))?;
    Mark::open(disk, id)
}
