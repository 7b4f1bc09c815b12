//! A log in a folder: the layout of the object stores, on a file system. Processes of one machine share it; so do
//! machines over a file system whose hard links are atomic. A record is written under another name, synced, and linked
//! to its own name. The link fails if the name is taken.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::record::Id;
use crate::{Appended, Blobs, LogError, LogProfile, Position, Result, SharedLog};

const RECORDS: &str = "log";
const BLOBS: &str = "blobs";
const TEMPORARY: &str = "tmp";

/// How often waiters look at the folder.
const POLL: Duration = Duration::from_millis(5);

/// A log in a folder.
pub struct FolderLog {
    root: PathBuf,
    /// The names of this handle's temporary files contain it.
    id: Id,
    temporary: AtomicU64,
    /// A position that has a record.
    known: AtomicU64,
    wakes: Mutex<u64>,
    woken: Condvar,
}

/// Makes a folder that nobody but its owner reads.
pub(crate) fn own_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

impl FolderLog {
    /// The log in `root`, which is made if there is none.
    pub fn open(root: &Path) -> Result<Self> {
        for folder in [RECORDS, BLOBS, TEMPORARY] {
            let folder = root.join(folder);
            own_folder(&folder).map_err(|error| refused("making", &folder, &error))?;
        }
        let parent = root.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        for folder in [root, parent] {
            sync(folder).map_err(|error| refused("syncing", folder, &error))?;
        }
        Ok(FolderLog {
            root: root.to_owned(),
            id: Id::random()?,
            temporary: AtomicU64::new(0),
            known: AtomicU64::new(0),
            wakes: Mutex::new(0),
            woken: Condvar::new(),
        })
    }

    fn record(&self, position: Position) -> PathBuf {
        self.root.join(RECORDS).join(format!("{:020}", position.0))
    }

    fn blob(&self, name: &str) -> PathBuf {
        // Blobs are files in one folder: further folders would have to be made and removed.
        self.root.join(BLOBS).join(name.replace('/', "~"))
    }

    /// Writes a temporary file, synced.
    fn write(&self, bytes: &[u8]) -> io::Result<PathBuf> {
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        let path = self.root.join(TEMPORARY).join(format!("{}-{number}", self.id));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(bytes).and_then(|()| file.sync_all()).inspect_err(|_| _ = fs::remove_file(&path))?;
        Ok(path)
    }

    fn replace(&self, to: &Path, bytes: &[u8]) -> io::Result<()> {
        fs::rename(self.write(bytes)?, to)?;
        sync(to.parent().unwrap_or(&self.root))
    }

    fn has(&self, position: Position) -> bool {
        self.record(position).exists()
    }
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn refused(doing: &str, path: &Path, error: &io::Error) -> LogError {
    LogError::Refused { system: "folder", why: format!("{doing} {}: {error}", path.display()) }
}

impl SharedLog for FolderLog {
    fn append(&self, position: Position, record: &[u8]) -> Result<Appended> {
        let path = self.record(position);
        let unavailable = |error: &io::Error| LogError::Unavailable(format!("writing {}: {error}", path.display()));
        if position > Position::FIRST && !self.has(position.before()) {
            return Err(LogError::damaged(position.before(), "it is gone from the log"));
        }
        let temporary = self.write(record).map_err(|error| unavailable(&error))?;
        let linked = fs::hard_link(&temporary, &path);
        let _ = fs::remove_file(&temporary);
        match linked {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // Its writer may not have synced the folder yet, and records that we build on must last.
                sync(&self.root.join(RECORDS)).map_err(|error| unavailable(&error))?;
                return Ok(Appended::Taken);
            }
            Err(error) => return Err(unavailable(&error)),
        }
        sync(&self.root.join(RECORDS))
            .map_err(|error| LogError::Unknown(format!("syncing the folder of {}: {error}", path.display())))?;
        self.known.fetch_max(position.0, Ordering::Relaxed);
        *self.wakes.lock() += 1;
        self.woken.notify_all();
        Ok(Appended::Written)
    }

    fn read(&self, from: Position, bytes_max: usize) -> Result<Vec<(Position, Vec<u8>)>> {
        let mut records = Vec::new();
        let (mut bytes, mut position) = (0, from);
        while bytes < bytes_max {
            let path = self.record(position);
            let record = match fs::read(&path) {
                Ok(record) => record,
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                Err(error) => return Err(LogError::Unavailable(format!("reading {}: {error}", path.display()))),
            };
            if record.is_empty() {
                return Err(LogError::Trimmed { asked: position, first: None });
            }
            bytes += record.len();
            records.push((position, record));
            position = position.next();
        }
        if !records.is_empty() {
            // A record counts once its name is synced, and its writer may not have done that yet.
            sync(&self.root.join(RECORDS))
                .map_err(|error| LogError::Unavailable(format!("syncing the log's folder: {error}")))?;
        }
        Ok(records)
    }

    fn tail(&self, known: Position) -> Result<Position> {
        let mut last = known.max(Position(self.known.load(Ordering::Relaxed)));
        // A log that went back does not have the known one.
        if last == Position(0) || !self.has(last) {
            let folder = self.root.join(RECORDS);
            let entries = fs::read_dir(&folder).map_err(|error| refused("reading", &folder, &error))?;
            let names = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
            last = Position(names.max().unwrap_or(0));
        }
        while self.has(last.next()) {
            last = last.next();
        }
        self.known.store(last.0, Ordering::Relaxed);
        Ok(last.next())
    }

    fn wait_for(&self, position: Position, timeout: Duration) {
        let end = Instant::now() + timeout;
        let mut wakes = self.wakes.lock();
        let before = *wakes;
        while !self.has(position) && *wakes == before && Instant::now() < end {
            self.woken.wait_for(&mut wakes, POLL);
        }
    }

    fn wake(&self) {
        *self.wakes.lock() += 1;
        self.woken.notify_all();
    }

    /// Names stay, as empty files: a node that has slept must not find a taken position free.
    fn trim(&self, before: Position) -> Result<()> {
        let before = before.min(self.tail(Position(0))?.before());
        let mut position = before.before();
        while position > Position(0) {
            let path = self.record(position);
            let len = fs::metadata(&path).map_or(0, |data| data.len());
            if len == 0 {
                break;
            }
            self.replace(&path, b"").map_err(|error| refused("trimming", &path, &error))?;
            position = position.before();
        }
        Ok(())
    }

    fn blobs(&self) -> &dyn Blobs {
        self
    }

    fn profile(&self) -> LogProfile {
        LogProfile {
            system: "folder",
            place: self.root.display().to_string(),
            record_bytes_max: crate::limits::RECORD_BYTES_MAX,
            record_bytes_best: 1 << 20,
            blob_bytes_max: 16 << 20,
            keeps: "loss of power, as far as the file system keeps what is synced",
        }
    }
}

impl Blobs for FolderLog {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.blob(name);
        self.replace(&path, bytes)
            .map_err(|error| LogError::Unavailable(format!("writing {}: {error}", path.display())))
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.blob(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LogError::Unavailable(format!("reading {}: {error}", path.display()))),
        }
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let folder = self.root.join(BLOBS);
        let entries = fs::read_dir(&folder).map_err(|error| refused("reading", &folder, &error))?;
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.replace('~', "/")));
        let mut names: Vec<_> = names.filter(|name| name.starts_with(prefix)).collect();
        names.sort();
        Ok(names)
    }

    fn delete(&self, name: &str) -> Result<()> {
        let path = self.blob(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(refused("deleting", &path, &error)),
            _ => Ok(()),
        }
    }
}
