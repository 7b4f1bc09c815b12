//! Everything that the native engine needs of files, as one small trait. In production the real file system is behind
//! it. In tests it is a simulated one, which drops, tears and reorders unsynced writes. No other file of the engine
//! touches `std::fs`.

mod fs;
mod read_only;
pub(crate) mod sealed;

use std::borrow::Cow;
use std::io::{self, IoSlice};
use std::ops::Range;
use std::sync::Arc;

pub use fs::FsDisk;
pub(crate) use fs::{fetch, fetch_at};
pub use read_only::ReadOnlyDisk;
pub use sealed::Key;

/// A directory of a store. Names are relative to it and use `/`: `log/0000000001.log`.
///
/// An implementation promises what POSIX promises and no more. A write is durable after [`DiskFile::sync`] of its file.
/// A creation, rename or removal of a name is durable after [`Disk::sync_dir`] of its directory. Until then a crash may
/// undo any of them, in any order, and tear a write into 512-byte sectors.
pub trait Disk: Send + Sync + 'static {
    /// The place, for messages.
    fn location(&self) -> String;

    /// Creates a directory and its parents; one that exists is fine. `""` is the root itself.
    fn create_dir(&self, name: &str) -> io::Result<()>;

    /// The names of the files directly in a directory, in no order, without the directory's own name.
    /// Subdirectories are left out. A directory that does not exist is an error of kind `NotFound`.
    fn list(&self, dir: &str) -> io::Result<Vec<String>>;

    /// The names of the directories directly in the disk's own, if it may have others than those that were made here.
    fn folders(&self) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Creates a file for reading and writing; an error of kind `AlreadyExists` if there is one.
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens a file for reading and writing; an error of kind `NotFound` if there is none.
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Renames a file within its directory, and replaces a file with the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file's name. Processes that have it open or mapped can still read it.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes creations, renames and removals in a directory durable. `""` is the root.
    fn sync_dir(&self, dir: &str) -> io::Result<()>;

    /// Takes the exclusive lock on `name` (a file made for it), until the guard is dropped or the process ends. The
    /// outer error is the operating system's; `Ok(Err(holder))` names the holder.
    fn lock(&self, name: &str) -> io::Result<Result<DiskLock, String>>;
}

/// Keeps a lock until it is dropped.
pub struct DiskLock {
    /// Releases the lock when it is dropped.
    pub guard: Box<dyn Send + Sync>,
}

/// An open file.
pub trait DiskFile: Send + Sync + 'static {
    /// Its size in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Whether it has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Makes it at least `len` bytes long, with zeros, and reserves the space: later writes within
    /// `len` neither change its size nor run out of disk.
    fn allocate(&self, len: u64) -> io::Result<()>;

    /// Cuts or extends it to `len` bytes.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Writes all parts, one after the other, at `offset`; one system call if there is one.
    /// After an error any part of them may have been written.
    fn write_at(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()>;

    /// Makes sure that there is room for everything that is going to be written up to `end`, which lies in what was
    /// set apart: a disk that stores more than it is given (checksums, seals) may need more room for it.
    fn reserve(&self, _end: u64) -> io::Result<()> {
        Ok(())
    }

    /// Begins to bring the written bytes of this range to the disk, so that a sync soon after has less to wait for: a
    /// hint. Nothing is durable by it, and where it fails the sync does, too.
    fn begin_sync(&self, _range: Range<u64>) {}

    /// Whether the writing that [`DiskFile::begin_sync`] began with this range has reached the disk; `None` if that
    /// cannot be told. The disk may hold it in a cache that a loss of power empties.
    fn has_come(&self, _range: Range<u64>) -> Option<bool> {
        None
    }

    /// Makes its written bytes and its size durable.
    fn sync(&self) -> io::Result<()>;

    /// Waits until most of what was written has come to the disk, so that no later sync has much to wait for. What
    /// of it is durable is not told.
    fn pace(&self) -> io::Result<()> {
        self.sync()
    }

    /// Fills `buffer` from `offset`; an error of kind `UnexpectedEof` beyond its end.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// The next part, at `from` or behind it, that may hold something other than zeros; `None` if there is no such
    /// part. An implementation that cannot tell answers the whole rest.
    fn next_data(&self, from: u64) -> io::Result<Option<Range<u64>>> {
        let len = self.len()?;
        Ok((from < len).then_some(from..len))
    }

    /// A view of its first `len` bytes, which must exist. Bytes written later show in it.
    fn map(&self, len: u64) -> io::Result<Arc<dyn Mapping>>;
}

/// How a view of a file is going to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// In no order: the neighbourhood of a place is not needed.
    Scattered,
    /// One part after the other.
    InOrder,
}

/// A read-only view of a file. The caller reads only bytes whose writes have ended.
pub trait Mapping: Send + Sync + 'static {
    /// Bytes of the view, in bytes.
    fn len(&self) -> u64;

    /// Whether the view has no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes at `offset`, borrowed if the implementation can; `None` if they do not all
    /// lie in the view.
    fn read(&self, offset: u64, len: usize) -> Option<Cow<'_, [u8]>>;

    /// At least `least` of the bytes at `offset`, and `most` of them at most, as many as are had at once: the same as
    /// [`Mapping::read`] of `most` for whom it costs nothing. `None` if `most` bytes do not lie in the view.
    fn read_some(&self, offset: u64, _least: usize, most: usize) -> Option<Cow<'_, [u8]>> {
        self.read(offset, most)
    }

    /// The same as [`Mapping::read`] for who looks for what is there: bytes that are known to be damaged are zeros.
    fn read_leniently(&self, offset: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        self.read(offset, len)
    }

    /// Whether a read is a look at what lies there anyhow. If it is not, what is looked at again and again by single
    /// words had better be kept.
    fn lends(&self) -> bool {
        true
    }

    /// Says how it is going to be read: a hint, without effect on any answer.
    fn expect(&self, _access: Access) {}

    /// Begins to bring the bytes at `offset` from the disk into memory. A hint; it changes no answer.
    fn read_ahead(&self, _offset: u64, _len: u64) {}

    /// Says that the bytes at `offset`, which are in memory, are about to be read. A hint; it changes no answer.
    fn prefetch(&self, _offset: u64, _len: usize) {}
}
