//! Temporary files of answers that do not fit into memory. They lie among the spools of the index, are never synced,
//! and are removed with the answer. If a crash leaves one, the next open removes it.

use std::io::{ErrorKind, IoSlice};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::disk::{Disk, DiskFile};
use crate::format::INDEX_DIR;
use recension_engine::{EngineError, Result, Scratch};

/// Counts the files of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

struct ScratchFile {
    disk: Arc<dyn Disk>,
    name: String,
    file: Arc<dyn DiskFile>,
    len: u64,
}

/// A new one; `None` if nothing can be written there.
pub(super) fn create(disk: &Arc<dyn Disk>) -> Result<Option<Box<dyn Scratch>>> {
    let name = format!("{INDEX_DIR}/query-{}.spool", NEXT.fetch_add(1, Ordering::Relaxed));
    match disk.create(&name) {
        Ok(file) => Ok(Some(Box::new(ScratchFile { disk: disk.clone(), name, file, len: 0 }))),
        Err(e)
            if matches!(
                e.kind(),
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::Unsupported
            ) =>
        {
            Ok(None)
        }
        Err(e) => Err(EngineError::io(format!("creating {name}, the temporary file of a query"), e)),
    }
}

impl Scratch for ScratchFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let failed = |e| EngineError::io(format!("writing {}, the temporary file of a query", self.name), e);
        self.file.write_at(self.len, &[IoSlice::new(bytes)]).map_err(failed)?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let failed = |e| EngineError::io(format!("reading {}, the temporary file of a query", self.name), e);
        self.file.read_at(offset, buffer).map_err(failed)
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        // A file that stays is removed at the next open.
        let _ = self.disk.remove(&self.name);
    }
}
