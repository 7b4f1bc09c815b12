//! The contract of a shared log: a system on which stores can live must agree on one record at each position.
//! Everything else is written once, above this.

use std::fmt;
use std::time::Duration;

use crate::error::Result;

/// A place in a log. The first record lies at 1; `Position(0)` is the log before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position(pub u64);

impl Position {
    /// Where the first record goes.
    pub const FIRST: Position = Position(1);

    /// The position that follows.
    #[must_use]
    pub fn next(self) -> Position {
        Position(self.0 + 1)
    }

    /// The position before; that of the first is `Position(0)`.
    #[must_use]
    pub fn before(self) -> Position {
        Position(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The outcome of an append.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Appended {
    /// The record is there, and as durable as the system can make it.
    Written,
    /// The position is taken: by another's record, or by this one from an earlier try. Read it to find out.
    Taken,
}

/// Records that many processes agree on: at each position one record, for ever.
///
/// All methods may be called from many threads at once, and wait for the system.
pub trait SharedLog: Send + Sync + 'static {
    /// Writes `record` at `position` if nothing is there. The caller has read the record before `position`.
    ///
    /// # Errors
    /// [`Unavailable`](crate::LogError::Unavailable): nothing was written and nothing will be.
    /// [`Unknown`](crate::LogError::Unknown): it may have been or may yet be; the same append may be tried again.
    /// [`Trimmed`](crate::LogError::Trimmed): the position lies before what the log still has.
    fn append(&self, position: Position, record: &[u8]) -> Result<Appended>;

    /// Records from `from` on, in order, without a gap, of about `bytes_max` bytes, at least one if there is one.
    ///
    /// # Errors
    /// [`Trimmed`](crate::LogError::Trimmed) if `from` was given up.
    fn read(&self, from: Position, bytes_max: usize) -> Result<Vec<(Position, Vec<u8>)>>;

    /// The first free position, as of some moment after the call began. `known` is a position that has a record as far
    /// as the caller knows, and the system may search from there; or `Position(0)`. If the log went back and does not
    /// have it any more, the answer is not beyond it.
    fn tail(&self, known: Position) -> Result<Position>;

    /// Returns when there may be a record at `position` or behind it, after `timeout`, or when
    /// [`SharedLog::wake`] is called. Only speed depends on it.
    fn wait_for(&self, position: Position, timeout: Duration);

    /// Makes every caller of [`SharedLog::wait_for`] return.
    fn wake(&self);

    /// Gives up the records before `before`, which a snapshot holds. The newest record is never given up.
    fn trim(&self, before: Position) -> Result<()>;

    /// Blobs by name, beside the log.
    fn blobs(&self) -> &dyn Blobs;

    /// The system's properties.
    fn profile(&self) -> LogProfile;
}

/// Blobs by name: the pieces of snapshots, the pieces of records that are too long for the log, and the notes of nodes.
/// Names are made of `a-z`, `0-9`, `-` and `/`.
pub trait Blobs: Send + Sync {
    /// Writes a blob of at most [`LogProfile::blob_bytes_max`], and replaces one with its name. It is durable when this
    /// returns.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()>;

    /// The blob.
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>>;

    /// The names that begin with `prefix`, in order.
    fn list(&self, prefix: &str) -> Result<Vec<String>>;

    /// Deletes a blob; nothing if there is none.
    fn delete(&self, name: &str) -> Result<()>;
}

/// The properties of a system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogProfile {
    /// The system's name.
    pub system: &'static str,
    /// Where it is, without passwords.
    pub place: String,
    /// Longest record.
    pub record_bytes_max: usize,
    /// Records of about this size give the highest throughput.
    pub record_bytes_best: usize,
    /// Longest blob.
    pub blob_bytes_max: usize,
    /// What an acknowledged record survives.
    pub keeps: &'static str,
}
