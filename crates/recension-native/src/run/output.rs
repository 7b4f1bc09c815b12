//! Output of a run: the run file, which is written in order with one buffer, and spools, which keep parts that have to
//! wait (fences, the table's entries) in a temporary file once they are more than a little. The memory for making a run
//! therefore does not grow with the run.

use std::io::{self, IoSlice};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::disk::{Disk, DiskFile};
use recension_engine::{EngineError, Result};

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 1 << 20;

/// Bytes of a paced file that are written and synced at once, so that the sync of a commit does not wait long.
const PIECE_BYTES: usize = 256 << 10;

/// Keeps background writing from slowing commits down.
#[derive(Clone)]
pub(in super::super) struct Pace {
    /// Most bytes to write in a second while commits are made.
    pub(in super::super) bytes_per_second: Arc<AtomicU64>,
    /// Moves with every commit.
    pub(in super::super) head: Arc<AtomicU64>,
    /// The file is not wanted any more.
    pub(in super::super) stop: Arc<AtomicBool>,
}

struct Paced {
    pace: Pace,
    /// The newest commit when it was last looked at.
    seen: u64,
}

impl Paced {
    /// Is called after `bytes` were written to `file` in `took`.
    fn wrote(&mut self, file: &dyn DiskFile, bytes: u64, took: Duration) -> io::Result<()> {
        if self.pace.stop.load(Ordering::Acquire) {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the store is being closed"));
        }
        file.pace()?;
        let head = self.pace.head.load(Ordering::Relaxed);
        if std::mem::replace(&mut self.seen, head) != head {
            let due_us =
                bytes.saturating_mul(1_000_000) / self.pace.bytes_per_second.load(Ordering::Relaxed).max(1 << 16);
            std::thread::sleep(Duration::from_micros(due_us).saturating_sub(took));
        }
        Ok(())
    }
}

/// A file being written from its start to its end.
pub(in super::super) struct Output {
    name: String,
    file: Arc<dyn DiskFile>,
    buffer: Vec<u8>,
    /// Offset of the buffer's first byte in the file.
    flushed: u64,
    paced: Option<Paced>,
    since: Instant,
}

impl Output {
    pub(in super::super) fn create(disk: &dyn Disk, name: String) -> Result<Self> {
        let file = disk.create(&name).map_err(|e| EngineError::io(format!("creating {name}"), e))?;
        Ok(Output { name, file, buffer: Vec::new(), flushed: 0, paced: None, since: Instant::now() })
    }

    /// The same, written no faster than `pace` lets it.
    pub(in super::super) fn paced(mut self, pace: Option<Pace>) -> Self {
        self.paced = pace.map(|pace| Paced { pace, seen: 0 });
        self
    }

    /// The offset of the next byte.
    pub(in super::super) fn position(&self) -> u64 {
        self.flushed + self.buffer.len() as u64
    }

    pub(in super::super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let failed = |e| EngineError::io(format!("writing {}", self.name), e);
        let piece_bytes = if self.paced.is_some() { PIECE_BYTES } else { BUFFER_BYTES };
        for piece in self.buffer.chunks(piece_bytes) {
            self.file.write_at(self.flushed, &[IoSlice::new(piece)]).map_err(failed)?;
            self.flushed += piece.len() as u64;
            if let Some(paced) = &mut self.paced {
                paced.wrote(&*self.file, piece.len() as u64, self.since.elapsed()).map_err(failed)?;
                self.since = Instant::now();
            }
        }
        self.buffer.clear();
        Ok(())
    }

    /// Writes a part of the run. Returns its offset, length and crc for the footer.
    pub(in super::super) fn part(&mut self, write: impl FnOnce(&mut PartWriter<'_>) -> Result<()>) -> Result<[u8; 20]> {
        let offset = self.position();
        let mut part = PartWriter { output: self, crc: 0 };
        write(&mut part)?;
        let crc = part.crc;
        let mut words = [0; 20];
        words[..8].copy_from_slice(&offset.to_le_bytes());
        words[8..16].copy_from_slice(&(self.position() - offset).to_le_bytes());
        words[16..].copy_from_slice(&crc.to_le_bytes());
        Ok(words)
    }

    /// Writes the rest and makes the file's bytes durable; answers its length.
    pub(in super::super) fn finish(&mut self) -> Result<u64> {
        self.flush()?;
        self.file.sync().map_err(|e| EngineError::io(format!("syncing {}", self.name), e))?;
        Ok(self.flushed)
    }
}

/// Writes one part of a run and its checksum.
pub(in super::super) struct PartWriter<'o> {
    output: &'o mut Output,
    crc: u32,
}

impl PartWriter<'_> {
    pub(in super::super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.crc = crc32c::crc32c_append(self.crc, bytes);
        self.output.put(bytes)
    }
}

/// Bytes that are read back in order. They are kept in a temporary file once they are more than a buffer. The file is
/// never synced, and is removed with the spool.
pub(in super::super) struct Spool {
    disk: Arc<dyn Disk>,
    name: String,
    file: Option<Output>,
    buffer: Vec<u8>,
    buffer_max: usize,
}

impl Spool {
    pub(in super::super) fn new(disk: &Arc<dyn Disk>, name: String, buffer_max: usize) -> Self {
        Spool { disk: disk.clone(), name, file: None, buffer: Vec::new(), buffer_max }
    }

    /// Bytes in it.
    pub(in super::super) fn len(&self) -> u64 {
        self.file.as_ref().map_or(0, Output::position) + self.buffer.len() as u64
    }

    /// Adds bytes. They stay together when they are read back in units of their length.
    pub(in super::super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() < self.buffer_max {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(Output::create(&*self.disk, self.name.clone())?),
        };
        file.put(&self.buffer)?;
        file.flush()?;
        self.buffer.clear();
        Ok(())
    }

    /// Reads everything back, in pieces whose length is a multiple of `unit` bytes.
    pub(in super::super) fn read(&self, unit: usize, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if let Some(file) = &self.file {
            let failed = |e| EngineError::io(format!("reading {}", self.name), e);
            let mut piece = vec![0; BUFFER_BYTES / unit * unit];
            let mut at = 0;
            while at < file.flushed {
                let len = piece.len().min((file.flushed - at) as usize);
                file.file.read_at(at, &mut piece[..len]).map_err(failed)?;
                each(&piece[..len])?;
                at += len as u64;
            }
        }
        each(&self.buffer)
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if self.file.is_some() {
            // A file that stays is removed at the next open.
            let _ = self.disk.remove(&self.name);
        }
    }
}
