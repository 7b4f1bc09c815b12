//! A store that moves: a file has its new address. From then on no commit is taken, in this process or in any other.

use super::format::{MOVED_FILE, MOVED_TEMPORARY};
use super::manifest::replace_file;
use super::shared::Shared;
use crate::disk::Disk;
use recension_engine::{EngineError, Result, Seq};

/// Longest address, in bytes.
const ADDRESS_BYTES_MAX: usize = 4096;

/// Where the store has moved to.
pub(super) fn read(disk: &dyn Disk) -> Result<Option<String>> {
    let io = |e| EngineError::io("reading MOVED", e);
    let file = match disk.open(MOVED_FILE) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let mut bytes = vec![0; file.len().map_err(io)?.min(ADDRESS_BYTES_MAX as u64) as usize];
    file.read_at(0, &mut bytes).map_err(io)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

impl Shared {
    /// Refuses new commits, waits for those under way, and writes the new address into the folder.
    pub(super) fn seal(&self, to: &str) -> Result<Seq> {
        self.check_writable()?;
        if to.len() > ADDRESS_BYTES_MAX {
            let what = "bytes in an address";
            return Err(EngineError::TooLarge { what, len: to.len(), max: ADDRESS_BYTES_MAX });
        }
        self.tree_keys.as_ref().map_or(Ok(()), |keys| keys.check_movable())?;
        // Commits hold this until they are acknowledged.
        let mut moved = self.moved.write();
        match &*moved {
            Some(known) if known == to => return Ok(self.head()),
            Some(known) => return Err(EngineError::Moved { to: known.clone() }),
            None => {}
        }
        // Refusing commits before the file is there does no harm, and after a failure it may be there.
        *moved = Some(to.to_owned());
        replace_file(&*self.disk, "", MOVED_TEMPORARY, MOVED_FILE, to.as_bytes())?;
        Ok(self.head())
    }

    /// Undoes a seal.
    pub(super) fn unseal(&self) -> Result<()> {
        let mut moved = self.moved.write();
        match self.disk.remove(MOVED_FILE) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(EngineError::io("removing MOVED", error));
            }
            _ => self.disk.sync_dir("").map_err(|error| EngineError::io("syncing the store's folder", error))?,
        }
        *moved = None;
        Ok(())
    }
}
