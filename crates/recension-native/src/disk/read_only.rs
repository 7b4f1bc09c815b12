//! A folder that is read and never written. The engine's repairs and a rebuilt index are kept in memory and dropped at
//! the end.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, IoSlice};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::fs::{FsDisk, open_for_reading};
use super::{Disk, DiskFile, DiskLock, Mapping};

/// A directory of the file system that is never changed.
pub struct ReadOnlyDisk {
    root: PathBuf,
    below: FsDisk,
    /// Files in memory, by their names; `None`: the file of this name counts as removed.
    above: Mutex<BTreeMap<String, Option<Arc<InMemory>>>>,
    folders: Mutex<BTreeSet<String>>,
}

impl ReadOnlyDisk {
    /// The directory at `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        ReadOnlyDisk { below: FsDisk::new(&root), root, above: Mutex::default(), folders: Mutex::default() }
    }

    fn file(&self, name: &str) -> io::Result<Arc<InMemory>> {
        let mut above = self.above.lock();
        match above.get(name) {
            Some(Some(file)) => Ok(Arc::clone(file)),
            Some(None) => Err(ErrorKind::NotFound.into()),
            None => {
                let file = Arc::new(InMemory {
                    found: Some(open_for_reading(&self.root.join(name))?),
                    bytes: RwLock::default(),
                });
                // Everyone who opens it sees later writes to it.
                above.insert(name.to_owned(), Some(Arc::clone(&file)));
                Ok(file)
            }
        }
    }
}

impl Disk for ReadOnlyDisk {
    fn location(&self) -> String {
        self.below.location()
    }

    fn create_dir(&self, name: &str) -> io::Result<()> {
        self.folders.lock().insert(name.to_owned());
        Ok(())
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let mut names: BTreeSet<String> = match self.below.list(dir) {
            Ok(names) => names.into_iter().collect(),
            Err(error) if error.kind() == ErrorKind::NotFound && self.folders.lock().contains(dir) => BTreeSet::new(),
            Err(error) => return Err(error),
        };
        for (path, file) in &*self.above.lock() {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            if folder == dir && file.is_some() {
                names.insert(name.to_owned());
            } else if folder == dir {
                names.remove(name);
            }
        }
        Ok(names.into_iter().collect())
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        self.below.folders()
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        match self.file(name) {
            Ok(_) => return Err(ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let file = Arc::new(InMemory { found: None, bytes: RwLock::new(Some(Vec::new())) });
        self.above.lock().insert(name.to_owned(), Some(Arc::clone(&file)));
        Ok(file)
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(name)?)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let file = self.file(from)?;
        let mut above = self.above.lock();
        above.insert(from.to_owned(), None);
        above.insert(to.to_owned(), Some(file));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.file(name)?;
        self.above.lock().insert(name.to_owned(), None);
        Ok(())
    }

    fn sync_dir(&self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, name: &str) -> io::Result<Result<DiskLock, String>> {
        let path = self.root.join(name);
        let file = match File::open(&path) {
            Ok(file) => file,
            // Nobody has ever written here, or the copy was made without this file.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Ok(DiskLock { guard: Box::new(()) })),
            Err(error) => return Err(error),
        };
        // Several processes may read at the same time. A writer and readers exclude each other.
        match file.try_lock_shared() {
            Ok(()) => Ok(Ok(DiskLock { guard: Box::new(file) })),
            Err(TryLockError::WouldBlock) => Ok(Err(format!("another process (lock file {})", path.display()))),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// A file as it was found, until it is written to. From then on it is in memory.
struct InMemory {
    found: Option<Arc<dyn DiskFile>>,
    bytes: RwLock<Option<Vec<u8>>>,
}

impl InMemory {
    fn change(&self, change: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let mut bytes = self.bytes.write();
        if bytes.is_none() {
            let mut copy = Vec::new();
            if let Some(found) = &self.found {
                copy.resize(usize::try_from(found.len()?).map_err(|_| ErrorKind::FileTooLarge)?, 0);
                found.read_at(0, &mut copy)?;
            }
            *bytes = Some(copy);
        }
        if let Some(bytes) = &mut *bytes {
            change(bytes);
        }
        Ok(())
    }

    /// Calls `read` with the bytes in memory, or with the file below.
    fn with<T>(
        &self,
        read: impl FnOnce(&[u8]) -> io::Result<T>,
        below: impl FnOnce(&dyn DiskFile) -> io::Result<T>,
    ) -> io::Result<T> {
        match (&*self.bytes.read(), &self.found) {
            (Some(bytes), _) => read(bytes),
            (None, Some(found)) => below(&**found),
            (None, None) => read(&[]),
        }
    }
}

impl DiskFile for InMemory {
    fn len(&self) -> io::Result<u64> {
        self.with(|bytes| Ok(bytes.len() as u64), DiskFile::len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        if self.len()? < len { self.set_len(len) } else { Ok(()) }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| ErrorKind::FileTooLarge)?;
        self.change(|bytes| bytes.resize(len, 0))
    }

    fn write_at(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let mut at = usize::try_from(offset).map_err(|_| ErrorKind::FileTooLarge)?;
        self.change(|bytes| {
            for part in parts {
                bytes.resize(bytes.len().max(at + part.len()), 0);
                bytes[at..at + part.len()].copy_from_slice(part);
                at += part.len();
            }
        })
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        match (&*self.bytes.read(), &self.found) {
            (None, Some(found)) => found.read_at(offset, buffer),
            (bytes, _) => {
                let at = usize::try_from(offset).unwrap_or(usize::MAX);
                let end = at.checked_add(buffer.len()).ok_or(ErrorKind::UnexpectedEof)?;
                let bytes = bytes.as_deref().unwrap_or_default().get(at..end);
                buffer.copy_from_slice(bytes.ok_or(ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }

    fn map(&self, len: u64) -> io::Result<Arc<dyn Mapping>> {
        self.with(
            |bytes| {
                let len = usize::try_from(len).map_err(|_| ErrorKind::FileTooLarge)?;
                let bytes = bytes.get(..len).ok_or(ErrorKind::UnexpectedEof)?;
                Ok(Arc::new(Copied(bytes.to_vec())) as Arc<dyn Mapping>)
            },
            |file| file.map(len),
        )
    }
}

/// A view of a file in memory. No commit is made, so nobody writes to viewed bytes.
struct Copied(Vec<u8>);

impl Mapping for Copied {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, offset: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        let at = usize::try_from(offset).ok()?;
        self.0.get(at..at.checked_add(len)?).map(Cow::Borrowed)
    }
}
