//! Temporary space for bytes that an answer does not hold in memory. It is gone when the value is dropped, and after a
//! crash.

use crate::error::Result;

/// Temporary bytes on the disk, written once and read any number of times ([`Snapshot::scratch`](crate::Snapshot)).
pub trait Scratch: Send {
    /// Appends bytes.
    ///
    /// # Errors
    /// [`EngineError::Io`](crate::EngineError), also if the disk is full.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;

    /// Reads as many bytes as the buffer holds.
    ///
    /// # Errors
    /// [`EngineError::Io`](crate::EngineError), also if there are fewer bytes.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;
}
