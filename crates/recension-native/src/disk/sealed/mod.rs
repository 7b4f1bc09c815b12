//! A disk whose files are sealed: whoever has the files and not the key learns how long they are, and no more. It wraps
//! another disk; the engine above sees the bytes of docs/format.md at the offsets that docs/format.md gives them.
//! docs/encryption.md has every byte below. It must never use a key and a nonce twice, and never answer from what does
//! not open.

mod frame;
mod frames;
mod key;
mod keys;
mod names;
mod opening;
mod pages;
mod places;
mod slots;
mod usage;

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

pub use self::key::Key;
pub(crate) use self::keys::{NoKeys, StoreKeys, id_of};
pub(crate) use self::usage::bytes_per_key;

use self::frames::{FrameFile, Frames};
pub(crate) use self::key::{KEY_BYTES, random};

use self::keys::KEYS_BYTES_MAX;
use self::names::{Form, form_of};
use self::pages::PagedFile;
use self::slots::SlotFile;
use super::{Disk, DiskFile, DiskLock};
use crate::format::{COLLECTION_KEYS_FILE, COLLECTION_KEYS_TEMPORARY, KEYS_FILE, KEYS_TEMPORARY};
use recension_engine::DamagedBytes;

/// Files of keys, which the engine does not see.
const NOT_SEALED: [&str; 4] = [KEYS_FILE, KEYS_TEMPORARY, COLLECTION_KEYS_FILE, COLLECTION_KEYS_TEMPORARY];

/// By what files are sealed and opened.
struct Sealing {
    keys: Arc<StoreKeys>,
    /// What does not open is zeros, and no error: for salvage.
    lenient: bool,
}

/// A disk whose files are sealed.
pub(crate) struct SealedDisk {
    below: Arc<dyn Disk>,
    sealing: Arc<Sealing>,
    /// Of temporary files: nobody reads them when this is gone.
    passing: Sealing,
    /// Segments that are open, so that all who have one share it.
    segments: Mutex<HashMap<String, Weak<FrameFile>>>,
}

/// What is wrong with the bytes of a file.
fn damaged(file: &str, offset: u64, what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, DamagedBytes { file: file.to_owned(), offset, what: what.into() })
}

impl SealedDisk {
    /// The files on `below`, sealed by `keys`. If it is `lenient`, what does not open is zeros.
    pub(crate) fn new(below: Arc<dyn Disk>, keys: Arc<StoreKeys>, lenient: bool) -> io::Result<Self> {
        let passing = Sealing { keys: Arc::new(StoreKeys::new()?), lenient: false };
        Ok(SealedDisk { below, sealing: Arc::new(Sealing { keys, lenient }), passing, segments: Mutex::default() })
    }

    fn segment(&self, name: &str, open: impl FnOnce() -> io::Result<Arc<FrameFile>>) -> io::Result<Arc<dyn DiskFile>> {
        let mut segments = self.segments.lock();
        if let Some(known) = segments.get(name).and_then(Weak::upgrade) {
            return Ok(Arc::new(Frames(known)));
        }
        let file = open()?;
        segments.retain(|_, known| known.strong_count() > 0);
        segments.insert(name.to_owned(), Arc::downgrade(&file));
        Ok(Arc::new(Frames(file)))
    }

    /// No segment has this name any more.
    fn forget(&self, name: &str) -> Option<Weak<FrameFile>> {
        self.segments.lock().remove(name)
    }
}

impl Disk for SealedDisk {
    fn location(&self) -> String {
        self.below.location()
    }

    fn create_dir(&self, name: &str) -> io::Result<()> {
        self.below.create_dir(name)
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let mut names = self.below.list(dir)?;
        if dir.is_empty() {
            names.retain(|name| !NOT_SEALED.contains(&name.as_str()));
        }
        Ok(names)
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        self.below.folders()
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.below.create(name)?;
        Ok(match form_of(name) {
            Form::Open => file,
            Form::Pages(place) => Arc::new(PagedFile::created(name, file, &self.sealing.keys, place)?),
            Form::Spool => Arc::new(PagedFile::created(name, file, &self.passing.keys, names::PASSING)?),
            Form::Slots(place) => Arc::new(SlotFile::new(file, self.sealing.keys.clone(), place)),
            Form::Frames(place) => {
                // One that had the name is gone.
                self.forget(name);
                self.segment(name, || Ok(Arc::new(FrameFile::new(name, file, &self.sealing, place))))?
            }
        })
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        if NOT_SEALED.contains(&name) {
            return Err(ErrorKind::NotFound.into());
        }
        let form = form_of(name);
        if let Form::Frames(place) = form {
            return self
                .segment(name, || Ok(Arc::new(FrameFile::new(name, self.below.open(name)?, &self.sealing, place))));
        }
        let file = self.below.open(name)?;
        Ok(match form {
            Form::Pages(place) => Arc::new(PagedFile::found(name, file, &self.sealing, place)?),
            Form::Spool => Arc::new(PagedFile::found(name, file, &self.passing, names::PASSING)?),
            Form::Slots(place) => Arc::new(SlotFile::new(file, self.sealing.keys.clone(), place)),
            Form::Open | Form::Frames(_) => file,
        })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.below.rename(from, to)?;
        let mut segments = self.segments.lock();
        let replaced = segments.remove(to);
        if let Some(renamed) = segments.remove(from) {
            segments.insert(to.to_owned(), renamed);
        }
        drop(segments);
        replaced.and_then(|file| file.upgrade()).iter().for_each(|file| file.set_removed());
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.below.remove(name)?;
        self.forget(name).and_then(|file| file.upgrade()).iter().for_each(|file| file.set_removed());
        Ok(())
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.below.sync_dir(dir)
    }

    fn lock(&self, name: &str) -> io::Result<Result<DiskLock, String>> {
        self.below.lock(name)
    }
}

/// The bytes of `KEYS`; `None` if there is no such file.
pub(crate) fn read_keys(disk: &dyn Disk) -> io::Result<Option<Vec<u8>>> {
    read_small(disk, KEYS_FILE, KEYS_BYTES_MAX)
}

/// The bytes of a file, `most` of them; `None` if there is no such file.
pub(crate) fn read_small(disk: &dyn Disk, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match disk.open(name) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = vec![0; file.len()?.min(most) as usize];
    file.read_at(0, &mut bytes)?;
    Ok(Some(bytes))
}

/// Whether a file's first bytes are those of a sealed one.
pub(crate) fn is_sealed(first: &[u8]) -> bool {
    first.starts_with(opening::MAGIC)
}
