//! The cache: an engine of this process's own, which holds what the log says. It is disposable, and need not sync: a
//! note says how far it certainly is, and what it lost since is read from the log again. Layout in docs/shared-log.md.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use recension_engine::{Clock, Engine, EngineError, MemoryEngine, Result, Seq};
use recension_native::disk::FsDisk;
use recension_native::{NativeEngine, NativeOptions};
use rustix::fs::{FlockOperation, flock};

use super::clock::RecordClock;
use super::head::{Head, decode_note, encode_note};
use super::seen::{self, SEEN, SeenFile};
use crate::record::Id;
use crate::{LogError, Position, SharedLog, snapshot};

const NOTE: &str = "position";
const LOCK: &str = "lock";
const STORE: &str = "store";
const NEW_STORE: &str = "store.new";

/// Where an engine keeps what it has read from the log.
#[derive(Clone)]
pub enum Cache {
    /// In memory: every opening reads the whole log, which must not have been trimmed.
    Memory,
    /// In a directory, by a native engine. One process at a time holds it.
    Directory {
        /// The directory; it is made if there is none.
        path: PathBuf,
        /// Options of the native engine; the clock and the durability are replaced.
        options: Box<NativeOptions>,
    },
}

impl Cache {
    /// A directory, with the usual options.
    pub fn directory(path: impl Into<PathBuf>) -> Self {
        Cache::Directory { path: path.into(), options: Box::default() }
    }
}

/// An open cache.
pub(super) struct OpenCache {
    pub(super) engine: Arc<dyn Engine>,
    pub(super) head: Head,
    pub(super) folder: Option<Folder>,
}

/// A cache's directory, which this process holds.
pub(super) struct Folder {
    path: PathBuf,
    options: NativeOptions,
    /// Which of its stores is in use: one more each time that it begins anew. Held while a note is written.
    number: Mutex<u64>,
    _lock: File,
}

/// A store that has taken another one's place.
pub(super) struct Begun {
    pub(super) engine: Arc<dyn Engine>,
    pub(super) head: Head,
    pub(super) number: u64,
    /// Where the one before lies.
    pub(super) before: PathBuf,
}

pub(super) fn open(cache: &Cache, log: &dyn SharedLog, id: Id, clock: Arc<dyn Clock>) -> Result<OpenCache> {
    let clock: Arc<dyn Clock> = Arc::new(RecordClock(clock));
    let (path, options) = match cache {
        Cache::Memory => {
            let engine = Arc::new(MemoryEngine::with_clock(clock));
            return Ok(OpenCache { engine, head: Head::default(), folder: None });
        }
        Cache::Directory { path, options } => (path, options),
    };
    let options =
        NativeOptions { clock, create: true, durability: recension_engine::Durability::Process, ..(**options).clone() };
    let folder = Folder::lock(path, options)?;
    let newest = folder.newest(id)?;
    if let Some(newest) = newest {
        let checked = seen::check(log, newest.position, newest.chain);
        checked.map_err(|error| seen::refusal(error, Some(&folder.path)))?;
    }
    if let (Some(head), Some(newest)) = (folder.noted()?, newest) {
        match folder.open_store(folder.number()) {
            // A loss of power may keep rows and lose the note about their record: whether the log has them, nobody can
            // say. They are read again, if the log has as many.
            Ok(engine) if engine.head() > newest.seq && engine.head() > seen::newest_commit(log)? => {
                let what = format!("the log ends before commit {}", engine.head());
                return Err(seen::refusal(LogError::diverged(newest.position, what), Some(&folder.path)));
            }
            Ok(engine) if (head.seq..=newest.seq).contains(&engine.head()) && !is_trimmed(log, &head)? => {
                folder.remove_stores(Some(folder.number()))?;
                return Ok(OpenCache { engine, head, folder: Some(folder) });
            }
            // The cache is incomplete, too old, or of newer software: the log and its snapshots have everything.
            Ok(_)
            | Err(EngineError::Damaged { .. } | EngineError::NotAStore { .. } | EngineError::NewerFormat { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    folder.clear()?;
    let (engine, head) = match folder.fetch(log, id, Position(0))? {
        Some(head) => {
            folder.name_new(0)?;
            (folder.open_snapshot(0, &head)?, head)
        }
        None => (folder.open_store(0)?, Head { log: id, ..Head::default() }),
    };
    let checked = seen::check(log, head.position, head.chain);
    checked.map_err(|error| seen::refusal(error, None))?;
    folder.note(&head, 0)?;
    Ok(OpenCache { engine, head, folder: Some(folder) })
}

/// The log of which there is something in a cache, whoever has it open.
pub(super) fn log_of(cache: &Cache) -> Option<(Head, &PathBuf)> {
    match cache {
        Cache::Memory => None,
        Cache::Directory { path, .. } => seen::newest(path, NOTE).map(|head| (head, path)),
    }
}

/// The content of a cache that was discarded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiscardedCache {
    /// The newest record that it had taken.
    pub position: Position,
    /// The newest commit.
    pub seq: Seq,
}

/// Removes what is in the cache in a directory: the next opening takes the log as it is. `None` if there was nothing in
/// it.
///
/// # Errors
/// [`EngineError::NotAStore`] if the directory is no cache; [`EngineError::Locked`] if it is in use.
pub fn discard_cache(path: &Path) -> Result<Option<DiscardedCache>> {
    if !path.join(LOCK).exists() {
        let found = "it is no cache of a shared log; nothing was removed".to_owned();
        return Err(EngineError::NotAStore { path: path.display().to_string(), found });
    }
    let folder = Folder::lock(path, NativeOptions::default())?;
    let newest = seen::newest(path, NOTE);
    folder.clear()?;
    Ok(newest.map(|head| DiscardedCache { position: head.position, seq: head.seq }))
}

/// Whether the record behind a cache's head was given up.
fn is_trimmed(log: &dyn SharedLog, head: &Head) -> Result<bool> {
    match log.read(head.position.next(), 1) {
        Ok(_) => Ok(false),
        Err(LogError::Trimmed { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn io(doing: &str, path: &Path, error: std::io::Error) -> EngineError {
    EngineError::io(format!("{doing} {}", path.display()), error)
}

impl Folder {
    fn lock(path: &Path, options: NativeOptions) -> Result<Self> {
        crate::folder::own_folder(path).map_err(|error| io("making", path, error))?;
        let file = path.join(LOCK);
        if !file.exists() {
            // Files that are in the way here will be removed: they must be a cache's.
            let mut entries = fs::read_dir(path).map_err(|error| io("reading", path, error))?;
            if let Some(other) = entries.next() {
                let other = other.map_err(|error| io("reading", path, error))?.file_name();
                return Err(EngineError::NotAStore {
                    path: path.display().to_string(),
                    found: format!(
                        "a cache takes a directory of its own, and this one holds other files, such as {}",
                        other.display()
                    ),
                });
            }
        }
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&file)
            .map_err(|error| io("opening", &file, error))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| EngineError::Locked {
            store: path.display().to_string(),
            holder: "another process, or another handle of this one; each needs a cache of its own".to_owned(),
        })?;
        let folder = Folder { path: path.to_owned(), options, number: Mutex::new(0), _lock: lock };
        // Those before are what it has left behind.
        let newest = folder.stores()?.into_iter().filter_map(|(number, _)| number).max();
        *folder.number.lock() = newest.unwrap_or(0);
        Ok(folder)
    }

    /// Which of its stores is in use.
    pub(super) fn number(&self) -> u64 {
        *self.number.lock()
    }

    fn store(&self, number: u64) -> PathBuf {
        self.path.join(if number == 0 { STORE.to_owned() } else { format!("{STORE}.{number}") })
    }

    /// The stores in the directory, with their numbers. A snapshot that is being fetched has none.
    fn stores(&self) -> Result<Vec<(Option<u64>, PathBuf)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(|error| io("reading", &self.path, error))? {
            let entry = entry.map_err(|error| io("reading", &self.path, error))?;
            let name = entry.file_name();
            let number = match name.to_str() {
                Some(STORE) => Some(0),
                Some(NEW_STORE) => None,
                Some(name) => match name.strip_prefix(STORE).and_then(|rest| rest.strip_prefix('.')?.parse().ok()) {
                    Some(number) => Some(number),
                    None => continue,
                },
                None => continue,
            };
            found.push((number, entry.path()));
        }
        Ok(found)
    }

    /// Removes the stores but one, and what was fetched of a snapshot.
    fn remove_stores(&self, but: Option<u64>) -> Result<()> {
        let mut others = self.stores()?.into_iter().filter(|(number, _)| number.is_none() || *number != but);
        others.try_for_each(|(_, path)| gone(&path, fs::remove_dir_all(&path)))
    }

    fn open_store(&self, number: u64) -> Result<Arc<dyn Engine>> {
        let disk = Arc::new(FsDisk::new(self.store(number)));
        Ok(Arc::new(NativeEngine::open(disk, self.options.clone())?))
    }

    /// Opens a store that was fetched.
    fn open_snapshot(&self, number: u64, head: &Head) -> Result<Arc<dyn Engine>> {
        let engine = self.open_store(number)?;
        if engine.head() < head.seq {
            let what = format!("a snapshot as of commit {} holds commit {}", head.seq, engine.head());
            return Err(EngineError::damaged("a snapshot of the shared log", 0, what));
        }
        Ok(engine)
    }

    /// Fetches the newest snapshot after `after`. Returns its head.
    fn fetch(&self, log: &dyn SharedLog, id: Id, after: Position) -> Result<Option<Head>> {
        let to = self.path.join(NEW_STORE);
        gone(&to, fs::remove_dir_all(&to))?;
        snapshot::fetch(log, id, after, &to)
    }

    /// Gives what was fetched its name.
    fn name_new(&self, number: u64) -> Result<()> {
        let from = self.path.join(NEW_STORE);
        fs::rename(&from, self.store(number)).map_err(|error| io("renaming", &from, error))
    }

    /// Replaces the store in use by one from the newest snapshot. The store in use goes on until the new one is whole,
    /// and stays for those that still read it. `None` if there is no snapshot after `head`.
    pub(super) fn begin_anew(&self, log: &dyn SharedLog, head: &Head) -> Result<Option<Begun>> {
        let Some(head) = self.fetch(log, head.log, head.position)? else { return Ok(None) };
        let (before, number) = {
            let mut current = self.number.lock();
            let (before, number) = (*current, *current + 1);
            // The note would be about another store.
            self.forget_note()?;
            self.name_new(number)?;
            *current = number;
            (self.store(before), number)
        };
        let engine = self.open_snapshot(number, &head)?;
        self.note(&head, number)?;
        Ok(Some(Begun { engine, head, number, before }))
    }

    /// The head in the note; `None` if there is no readable note.
    fn noted(&self) -> Result<Option<Head>> {
        let path = self.path.join(NOTE);
        match fs::read(&path) {
            Ok(bytes) => Ok(decode_note(&bytes).ok()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io("reading", &path, error)),
        }
    }

    /// The newest record that the cache has taken.
    fn newest(&self, id: Id) -> Result<Option<Head>> {
        match seen::newest(&self.path, NOTE) {
            Some(head) if head.log != id => Err(EngineError::NotAStore {
                path: self.path.display().to_string(),
                found: format!(
                    "the cache of another log ({}; this one is {id}); name another cache, or discard it: recension \
                     cluster discard {}",
                    head.log,
                    self.path.display()
                ),
            }),
            newest => Ok(newest),
        }
    }

    /// The file that says which record is being taken.
    pub(super) fn seen(&self) -> Result<SeenFile> {
        SeenFile::open(&self.path)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// Notes how far a store of the cache is, if it is the one in use. Everything up to there must be durable.
    pub(super) fn note(&self, head: &Head, number: u64) -> Result<()> {
        let current = self.number.lock();
        if *current != number {
            return Ok(());
        }
        let (path, temporary) = (self.path.join(NOTE), self.path.join("position.tmp"));
        let write = || {
            let mut options = fs::OpenOptions::new();
            let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
            file.write_all(&encode_note(head))?;
            file.sync_all()?;
            fs::rename(&temporary, &path)?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|error| io("writing", &path, error))
    }

    /// Removes the cache, the note first, because the note is about the files.
    fn clear(&self) -> Result<()> {
        let seen = self.path.join(SEEN);
        gone(&seen, fs::remove_file(&seen))?;
        self.forget_note()?;
        *self.number.lock() = 0;
        self.remove_stores(None)
    }

    fn forget_note(&self) -> Result<()> {
        let note = self.path.join(NOTE);
        gone(&note, fs::remove_file(&note))?;
        let folder = File::open(&self.path).and_then(|folder| folder.sync_all());
        folder.map_err(|error| io("syncing", &self.path, error))
    }

    /// A path in the cache's folder, for what is made and removed again.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// The result of a removal. It is no error if there was nothing to remove.
fn gone(path: &Path, removed: std::io::Result<()>) -> Result<()> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io("removing", path, error)),
        _ => Ok(()),
    }
}
