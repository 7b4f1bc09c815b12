//! The cache: this process's own engine, which holds the content of the log. It is disposable, and need not sync. A
//! note says how far it certainly is; anything lost since is read from the log again. Layout in docs/shared-log.md.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recension_engine::{Clock, Engine, EngineError, MemoryEngine, Result, Seq, Timestamp};
use recension_native::disk::FsDisk;
use recension_native::{NativeEngine, NativeOptions};
use rustix::fs::{FlockOperation, flock};

use super::clock::RecordClock;
use super::core::Head;
use crate::bytes_reader::{BytesReader, Short};
use crate::record::{self, Chain, Id};
use crate::{LogError, Position, SharedLog, snapshot};

const MAGIC: [u8; 8] = *b"RECCACHE";
const NOTE_VERSION: u32 = 1;
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
        options: NativeOptions,
    },
}

impl Cache {
    /// A directory, with the usual options.
    pub fn directory(path: impl Into<PathBuf>) -> Self {
        Cache::Directory { path: path.into(), options: NativeOptions::default() }
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
    _lock: File,
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
        NativeOptions { clock, create: true, durability: recension_engine::Durability::Process, ..options.clone() };
    let folder = Folder::lock(path)?;
    if let Some(head) = folder.noted(id)? {
        check(log, path, &head)?;
        let engine = NativeEngine::open(Arc::new(FsDisk::new(folder.store())), options.clone());
        match engine {
            Ok(engine) if engine.head() >= head.seq && !is_trimmed(log, &head)? => {
                return Ok(OpenCache { engine: Arc::new(engine), head, folder: Some(folder) });
            }
            // The cache is incomplete, too old, or of newer software: the log and its snapshots have everything.
            Ok(_)
            | Err(EngineError::Damaged { .. } | EngineError::NotAStore { .. } | EngineError::NewerFormat { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    folder.clear()?;
    let head = snapshot::fetch(log, id, &folder.path.join(NEW_STORE))?;
    let head = match head {
        Some(head) => {
            let (from, to) = (folder.path.join(NEW_STORE), folder.store());
            fs::rename(&from, &to).map_err(|error| io("renaming", &from, error))?;
            head
        }
        None => Head { log: id, ..Head::default() },
    };
    let engine = NativeEngine::open(Arc::new(FsDisk::new(folder.store())), options)?;
    if engine.head() < head.seq {
        let what = format!("a snapshot as of commit {} holds commit {}", head.seq, engine.head());
        return Err(EngineError::damaged("a snapshot of the shared log", 0, what));
    }
    folder.note(&head)?;
    Ok(OpenCache { engine: Arc::new(engine), head, folder: Some(folder) })
}

/// Refuses a cache that has more than the log, or other commits.
fn check(log: &dyn SharedLog, path: &Path, head: &Head) -> Result<()> {
    if head.position == Position(0) {
        return Ok(());
    }
    let differs = |what: &str| {
        EngineError::damaged(
            "shared log",
            0,
            format!(
                "{what} (record {}, cache {}): the system has lost acknowledged records, or another log took this \
                 one's name. Restore the log, or remove the cache to take the log as it is",
                head.position,
                path.display()
            ),
        )
    };
    match log.read(head.position, 1) {
        Ok(records) => match records.first() {
            Some((_, bytes)) if record::chain_of(bytes) == head.chain => Ok(()),
            Some(_) => Err(differs("the log has another record than the cache")),
            None => Err(differs("the log is shorter than the cache")),
        },
        Err(LogError::Trimmed { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
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
    fn lock(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(|error| io("making", path, error))?;
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
            .open(&file)
            .map_err(|error| io("opening", &file, error))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| EngineError::Locked {
            store: path.display().to_string(),
            holder: "another process, or another handle of this one; each needs a cache of its own".to_owned(),
        })?;
        Ok(Folder { path: path.to_owned(), _lock: lock })
    }

    fn store(&self) -> PathBuf {
        self.path.join(STORE)
    }

    /// The head in the note; `None` if there is no readable note.
    fn noted(&self, id: Id) -> Result<Option<Head>> {
        let path = self.path.join(NOTE);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io("reading", &path, error)),
        };
        let Ok(head) = decode_note(&bytes) else { return Ok(None) };
        if head.log != id {
            return Err(EngineError::NotAStore {
                path: self.path.display().to_string(),
                found: format!(
                    "the cache of another log ({}; this one is {id}); name another cache, or remove it",
                    head.log
                ),
            });
        }
        Ok(Some(head))
    }

    /// Writes the note. Everything up to the head must be durable.
    pub(super) fn note(&self, head: &Head) -> Result<()> {
        let (path, temporary) = (self.path.join(NOTE), self.path.join("position.tmp"));
        let write = || {
            let mut file = File::create(&temporary)?;
            file.write_all(&encode_note(head))?;
            file.sync_all()?;
            fs::rename(&temporary, &path)?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|error| io("writing", &path, error))
    }

    /// Removes the cache, the note first, because the note is about the files.
    fn clear(&self) -> Result<()> {
        let gone = |path: &Path, removed: std::io::Result<()>| match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(io("removing", path, error)),
            _ => Ok(()),
        };
        let note = self.path.join(NOTE);
        gone(&note, fs::remove_file(&note))?;
        File::open(&self.path)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| io("syncing", &self.path, error))?;
        for store in [self.store(), self.path.join(NEW_STORE)] {
            gone(&store, fs::remove_dir_all(&store))?;
        }
        Ok(())
    }
}

fn encode_note(head: &Head) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&NOTE_VERSION.to_le_bytes());
    bytes.extend_from_slice(&encode_head(head));
    bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
    bytes
}

fn decode_note(bytes: &[u8]) -> std::result::Result<Head, Short> {
    let mut reader = BytesReader(bytes);
    let (magic, version) = (reader.array()?, reader.u32()?);
    let head = decode_head(&mut reader)?;
    let crc = reader.u32()?;
    let sound = magic == MAGIC && version == NOTE_VERSION && reader.is_empty();
    let whole = bytes.split_last_chunk::<4>().is_some_and(|(before, _)| crc32c::crc32c(before) == crc);
    if sound && whole { Ok(head) } else { Err(Short) }
}

/// A head in bytes: log, position, seq, time, chain.
pub(crate) fn encode_head(head: &Head) -> Vec<u8> {
    let mut bytes = head.log.0.to_vec();
    for number in [head.position.0, head.seq.0, head.time.0] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&head.chain.0);
    bytes
}

pub(crate) fn decode_head(reader: &mut BytesReader<'_>) -> std::result::Result<Head, Short> {
    Ok(Head {
        log: Id(reader.array()?),
        position: Position(reader.u64()?),
        seq: Seq(reader.u64()?),
        time: Timestamp(reader.u64()?),
        chain: Chain(reader.array()?),
    })
}

impl Folder {
    /// A path in the cache's folder for a temporary file or folder.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}
