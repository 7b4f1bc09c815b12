//! By what an open store's files are sealed: its keys, in memory and in `KEYS`, and the errors of files of keys.

use std::sync::Arc;

use parking_lot::Mutex;

use super::format::{KEYS_FILE, KEYS_TEMPORARY};
use super::manifest::replace_file;
use crate::disk::sealed::{KEY_BYTES, NoKeys, StoreKeys};
use crate::disk::{Disk, Key};
use recension_engine::{EngineError, Result};

/// The keys of a store, and what opens them.
pub(super) struct Sealed {
    /// The disk with the files as they are.
    below: Arc<dyn Disk>,
    keys: Mutex<Arc<StoreKeys>>,
    master: Key,
}

impl Sealed {
    pub(super) fn new(below: Arc<dyn Disk>, keys: Arc<StoreKeys>, master: Key) -> Self {
        Sealed { below, keys: Mutex::new(keys), master }
    }

    pub(super) fn below(&self) -> &Arc<dyn Disk> {
        &self.below
    }

    pub(super) fn keys(&self) -> Arc<StoreKeys> {
        self.keys.lock().clone()
    }

    pub(super) fn master(&self) -> &Key {
        &self.master
    }

    /// The key that seals the file of collections' keys. If there is none, or not the `known` one, that or one of
    /// chance is written into `KEYS`. The store's lock is held.
    pub(super) fn make_wrapping(&self, known: Option<[u8; KEY_BYTES]>) -> Result<[u8; KEY_BYTES]> {
        let mut keys = self.keys.lock();
        if let Some(wrapping) = keys.wrapping().filter(|own| known.is_none_or(|known| known == *own)) {
            return Ok(wrapping);
        }
        let (with_one, wrapping) =
            keys.with_wrapping(known).map_err(|e| EngineError::io("asking for random bytes", e))?;
        write_keys(&*self.below, &with_one, &self.master)?;
        *keys = Arc::new(with_one);
        Ok(wrapping)
    }
}

/// Puts keys in place of `KEYS`, durably.
pub(super) fn write_keys(disk: &dyn Disk, keys: &StoreKeys, master: &Key) -> Result<()> {
    let bytes = keys.encode(master).map_err(|e| EngineError::io(format!("sealing {KEYS_FILE}"), e))?;
    replace_file(disk, "", KEYS_TEMPORARY, KEYS_FILE, &bytes)
}

/// The error for a file of keys that does not open.
pub(super) fn no_keys_in(file: &str, disk: &dyn Disk, why: NoKeys) -> EngineError {
    match why {
        NoKeys::Damaged(offset, what) => EngineError::damaged(file, offset, what),
        NoKeys::Newer(found) => {
            let supported = if file == KEYS_FILE { 2 } else { 1 };
            EngineError::NewerFormat { file: file.to_owned(), found, supported }
        }
        NoKeys::Wrong(why) => EngineError::Key { store: disk.location(), why: why.to_owned() },
        NoKeys::Io(error) => EngineError::io(format!("opening {file}"), error),
    }
}
