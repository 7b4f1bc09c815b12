//! The floor: what the machine asks for one durable append. Each commit is one positioned write of the rows
//! and a few bytes of header into a file that was written before, and one `fdatasync`. It answers no reads.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;

use super::{OpenOptions, Reader, RowToWrite, Settled, Subject};
use crate::error::{LabError, Result};

/// The file is filled with zeros to this size (a sync after the first write to a part of a file that is only allocated
/// costs more), and written from its start again when it is full.
const FILE_BYTES: u64 = 64 << 20;
/// Length, checksum and number, as any log has them.
const HEADER: [u8; 24] = [7; 24];

pub(super) fn open(dir: &Path, _: &OpenOptions) -> Result<Box<dyn Subject>> {
    Ok(Box::new(Raw { log: Mutex::new(Log::create(dir)?) }))
}

/// A file that is written from its start on and synced.
pub(super) struct Log {
    file: File,
    end: u64,
}

/// The settings.
pub(super) const SETTINGS: &str = "pwrite + fdatasync, over zeros";

impl Log {
    pub(super) fn create(dir: &Path) -> Result<Self> {
        let file = File::create(dir.join("raw")).map_err(LabError::io("making the file of the floor"))?;
        // The system keeps bytes that are written together as one piece, and writes them again as one.
        let zeros = [0; 4096];
        for at in (0..FILE_BYTES).step_by(zeros.len()) {
            file.write_all_at(&zeros, at).map_err(LabError::io("filling the file of the floor"))?;
        }
        file.sync_all().map_err(LabError::io("syncing the file of the floor"))?;
        Ok(Log { file, end: 0 })
    }

    /// One write and one sync of these bytes behind a header.
    pub(super) fn append<'b>(&mut self, parts: impl IntoIterator<Item = &'b [u8]>) -> Result<()> {
        let mut record = HEADER.to_vec();
        parts.into_iter().for_each(|part| record.extend_from_slice(part));
        if self.end + record.len() as u64 > FILE_BYTES {
            self.end = 0;
        }
        self.file.write_all_at(&record, self.end).map_err(LabError::io("writing"))?;
        self.file.sync_data().map_err(LabError::io("syncing"))?;
        self.end += record.len() as u64;
        Ok(())
    }
}

struct Raw {
    log: Mutex<Log>,
}

impl Subject for Raw {
    fn commit(&self, number: u64, rows: &[RowToWrite]) -> Result<u64> {
        let parts = rows.iter().flat_map(|row| [row.key.as_slice(), row.value.as_deref().unwrap_or_default()]);
        self.log.lock().unwrap_or_else(std::sync::PoisonError::into_inner).append(parts)?;
        Ok(number)
    }
    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Err(LabError::Unavailable { reason: "the floor answers no reads".to_owned() })
    }
    fn settle(&self) -> Result<Settled> {
        Err(LabError::Unavailable { reason: "the floor has nothing to settle".to_owned() })
    }
    fn settings(&self) -> String {
        SETTINGS.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
