//! A copy into a new store, by salvage or of a backup. Until it is complete its folder is no store: a file says so,
//! from before the first byte to the end. What was broken off is begun anew by the next copy, and opened by nobody.

use std::path::Path;
use std::sync::Arc;

use super::format::{COPY_FILE, COPY_TEMPORARY, INDEX_DIR, LOCK_FILE, LOG_DIR, SETTLED_DIR, STORE_FILE};
use super::manifest::replace_file;
use super::open::{check_directory, lock};
use crate::disk::Disk;
use recension_engine::{EngineError, Result};

const WORDS: &str = "This folder is a copy of a store that is not complete.\nRun the same command again, which begins \
                     it anew, or remove this folder.\n";

/// Whether a folder has nothing, but perhaps what is left if a process is killed before the first file of a store or a
/// copy is there.
pub fn is_empty_place(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().map(|entry| entry.file_name()).all(|name| name == LOCK_FILE || name == COPY_TEMPORARY)
}

/// Whether all that is in the folder is of a copy that was broken off: the next copy into it begins it anew.
pub fn is_begun_copy(folder: &Path) -> bool {
    folder.join(COPY_FILE).exists() || is_empty_place(folder)
}

/// Refuses a copy that is not complete.
pub(super) fn check(disk: &dyn Disk) -> Result<()> {
    // If the file cannot be read, neither can those of a store, and their errors say why.
    if disk.open(COPY_FILE).is_err() {
        return Ok(());
    }
    let found = "it is a copy that was broken off; run the same command again (restore-backup, salvage), which begins \
                 it anew, or remove the folder";
    Err(EngineError::NotAStore { path: disk.location(), found: found.to_owned() })
}

/// A copy that is being made.
pub(super) struct Copying {
    to: Arc<dyn Disk>,
    /// A store without commits, which is open to copies too, is a store before and after.
    marked: bool,
}

impl Copying {
    /// Begins a copy in a folder that is new, or has a copy that was broken off, which is removed.
    pub(super) fn begin(to: Arc<dyn Disk>) -> Result<Self> {
        let disk = &*to;
        check_directory(disk, true)?;
        let lock = lock(disk)?;
        let names = list(disk, "")?;
        let is_there = |name: &str| names.iter().any(|known| known == name);
        if is_there(COPY_FILE) {
            for dir in [LOG_DIR, INDEX_DIR, SETTLED_DIR] {
                for name in list(disk, dir)? {
                    remove(disk, &format!("{dir}/{name}"))?;
                }
            }
            let stay = [COPY_FILE, LOCK_FILE];
            names.iter().filter(|name| !stay.contains(&name.as_str())).try_for_each(|name| remove(disk, name))?;
        } else if is_there(STORE_FILE) {
            drop(lock);
            return Ok(Copying { to, marked: false });
        }
        replace_file(disk, "", COPY_TEMPORARY, COPY_FILE, WORDS.as_bytes())?;
        drop(lock);
        Ok(Copying { to, marked: true })
    }

    /// The copy is complete and durable: its folder is a store.
    pub(super) fn end(self) -> Result<()> {
        if self.marked {
            remove(&*self.to, COPY_FILE)?;
            self.to.sync_dir("").map_err(|e| EngineError::io("syncing the store's folder", e))?;
        }
        Ok(())
    }
}

fn list(disk: &dyn Disk, dir: &str) -> Result<Vec<String>> {
    match disk.list(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        names => names.map_err(|e| EngineError::io(format!("reading {}/{dir}", disk.location()), e)),
    }
}

fn remove(disk: &dyn Disk, name: &str) -> Result<()> {
    disk.remove(name).map_err(|e| EngineError::io(format!("removing {name}"), e))
}
