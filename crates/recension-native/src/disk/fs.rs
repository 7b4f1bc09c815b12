//! The real file system behind [`Disk`]. This is the only place of the library with `unsafe`: mapping a file, and two
//! system calls that no library of ours has. It must never report success if the operating system refused.
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, IoSlice, Read, Seek, Write};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt as _, FileExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::{Advice, Mmap, MmapOptions};
use rustix::fs::{FallocateFlags, SeekFrom};
use rustix::io::Errno;

use super::{Access, Disk, DiskFile, DiskLock, Mapping};

/// A directory of the file system.
#[derive(Clone, Debug)]
pub struct FsDisk {
    root: PathBuf,
}

/// The modes of what is made: nobody but its owner reads a store, or holds its lock.
const OWN_FOLDER: u32 = 0o700;
const OWN_FILE: u32 = 0o600;

impl FsDisk {
    /// The directory at `root`, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        FsDisk { root: root.into() }
    }

    fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.root.clone() } else { self.root.join(name) }
    }
}

impl Disk for FsDisk {
    fn location(&self) -> String {
        self.root.display().to_string()
    }

    fn create_dir(&self, name: &str) -> io::Result<()> {
        create_folder(&self.path(name), OWN_FOLDER, &|parent| File::open(parent)?.sync_all())
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.path(dir))? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        Ok(names)
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let path = self.path(name);
        let made = OpenOptions::new().read(true).write(true).create_new(true).mode(OWN_FILE).open(&path);
        let file = made.map_err(|error| if_full(error, &path))?;
        Ok(Arc::new(FsFile { file, path }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let path = self.path(name);
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        Ok(Arc::new(FsFile { file, path }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path(name))
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        File::open(self.path(dir))?.sync_all()
    }

    fn lock(&self, name: &str) -> io::Result<Result<DiskLock, String>> {
        let path = self.path(name);
        let mut options = OpenOptions::new();
        let mut file = options.read(true).write(true).create(true).truncate(false).mode(OWN_FILE).open(&path)?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)?;
                file.rewind()?;
                writeln!(file, "{}", std::process::id())?;
                Ok(Ok(DiskLock { guard: Box::new(Held(file)) }))
            }
            Err(TryLockError::WouldBlock) => Ok(Err(holder(&mut file, &path))),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Makes a folder and its missing parents. A folder's name is durable when its parent is synced, so each parent is
/// synced. The parents have the modes that folders usually have.
fn create_folder(path: &Path, mode: u32, sync: &dyn Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    create_folder(parent, 0o777, sync)?;
    match fs::DirBuilder::new().mode(mode).create(path) {
        // Another process may have made it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    sync(parent)
}

/// A lock that is held. Closing the file would not release it at once: a process that is just being started holds a
/// copy of the descriptor for a moment.
struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        // If it fails, closing the file releases the lock.
        let _ = self.0.unlock();
    }
}

/// The holder of the lock, from the text that it wrote into the file and from what the system knows of that process.
fn holder(file: &mut File, path: &Path) -> String {
    let mut text = String::new();
    let read = file.take(32).read_to_string(&mut text);
    match text.trim().parse::<u32>() {
        Ok(pid) if read.is_ok() && pid == std::process::id() => format!("this process already (pid {pid})"),
        Ok(pid) if read.is_ok() => match fs::read_to_string(format!("/proc/{pid}/comm")) {
            Ok(name) => format!("process {pid} ({})", name.trim()),
            Err(_) => format!("process {pid}"),
        },
        _ => format!("another process (lock file {})", path.display()),
    }
}

/// A file that is only read.
pub(super) fn open_for_reading(path: &Path) -> io::Result<Arc<dyn DiskFile>> {
    Ok(Arc::new(FsFile { file: File::open(path)?, path: path.to_owned() }))
}

struct FsFile {
    file: File,
    path: PathBuf,
}

/// An error, with the place of the file if its disk is full: a store's own errors name its files within the store.
fn if_full(error: io::Error, path: &Path) -> io::Error {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    if !matches!(error.kind(), StorageFull | QuotaExceeded) {
        return error;
    }
    let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    io::Error::new(error.kind(), format!("{error}, at {}", place.display()))
}

impl FsFile {
    fn reserve(&self, len: u64) -> io::Result<()> {
        let old = self.file.metadata()?.len();
        if old >= len {
            return Ok(());
        }
        loop {
            match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), old, len - old) {
                Ok(()) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => break,
                Err(error) => return Err(error.into()),
            }
        }
        // The file system has no fallocate: zeros are written, so that the space is still reserved.
        let zeros = vec![0; 1 << 20];
        let mut at = old;
        while at < len {
            let part = zeros.len().min((len - at) as usize);
            self.file.write_all_at(&zeros[..part], at)?;
            at += part as u64;
        }
        Ok(())
    }

    fn write(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        if let [only] = parts {
            return self.file.write_all_at(only, offset);
        }
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let written = loop {
            match rustix::io::pwritev(&self.file, parts, offset) {
                Ok(written) => break written,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        };
        if written == total {
            return Ok(());
        }
        // A short write (more parts than one call takes, or a signal): the rest is written part by part.
        let mut at = offset;
        let mut skip = written;
        for part in parts {
            let done = skip.min(part.len());
            skip -= done;
            self.file.write_all_at(&part[done..], at + done as u64)?;
            at += part.len() as u64;
        }
        Ok(())
    }
}

impl DiskFile for FsFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.reserve(len).map_err(|error| if_full(error, &self.path))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len).map_err(|error| if_full(error, &self.path))
    }

    fn write_at(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        self.write(offset, parts).map_err(|error| if_full(error, &self.path))
    }

    #[cfg(target_os = "linux")]
    fn begin_sync(&self, range: Range<u64>) {
        linux::begin_writing(&self.file, &range);
    }

    #[cfg(target_os = "linux")]
    fn has_come(&self, range: Range<u64>) -> Option<bool> {
        linux::is_written(&self.file, &range)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data().map_err(|error| if_full(error, &self.path))
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    fn next_data(&self, from: u64) -> io::Result<Option<Range<u64>>> {
        let len = self.len()?;
        let start = match rustix::fs::seek(&self.file, SeekFrom::Data(from)) {
            Ok(start) => start,
            Err(Errno::NXIO) => return Ok(None),
            // The file system cannot tell.
            Err(_) => return Ok((from < len).then_some(from..len)),
        };
        let end = rustix::fs::seek(&self.file, SeekFrom::Hole(start)).unwrap_or(len);
        Ok(Some(start..end))
    }

    fn map(&self, len: u64) -> io::Result<Arc<dyn Mapping>> {
        if self.len()? < len {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is shorter than the view asked for"));
        }
        if len == 0 {
            return Ok(Arc::new(FsMapping { map: None }));
        }
        let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        // SAFETY: the store's lock keeps other processes of ours from this file; ours never shortens a
        // file below what a mapping's readers were told of, and readers look only at bytes whose write
        // has returned. A foreign process that truncates the file can raise SIGBUS: docs/format.md
        // says so, and why we accept it (pread is three times slower).
        let map = unsafe { MmapOptions::new().len(len).map(&self.file)? };
        Ok(Arc::new(FsMapping { map: Some(map) }))
    }
}

/// System calls of Linux: `sync_file_range(2)` and `cachestat(2)`.
#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::ops::Range;
    use std::os::fd::AsRawFd;

    /// The number of `cachestat(2)`: calls added after 2019 have the same number on nearly all architectures.
    const CACHESTAT: libc::c_long = 451;

    /// The kernel's `struct cachestat_range`.
    #[repr(C)]
    struct CachestatRange {
        off: u64,
        len: u64,
    }

    /// The kernel's `struct cachestat`: pages of the range by what they are.
    #[repr(C)]
    #[derive(Default)]
    struct Cachestat {
        cached: u64,
        dirty: u64,
        under_writeback: u64,
        evicted: u64,
        recently_evicted: u64,
    }

    /// Begins to write dirty pages.
    pub(super) fn begin_writing(file: &File, range: &Range<u64>) {
        let (Ok(from), Ok(len)) = (range.start.try_into(), range.end.saturating_sub(range.start).try_into()) else {
            return;
        };
        // SAFETY: the file is open, and no memory is passed. An error of the disk is reported by the next fdatasync;
        // any other error means that nothing was begun.
        let _ = unsafe { libc::sync_file_range(file.as_raw_fd(), from, len, libc::SYNC_FILE_RANGE_WRITE) };
    }

    /// Whether no page is dirty or being written; `None` on a system before Linux 6.5, or one that does not allow the
    /// call.
    pub(super) fn is_written(file: &File, range: &Range<u64>) -> Option<bool> {
        if cfg!(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))) {
            return None;
        }
        let asked = CachestatRange { off: range.start, len: range.end.saturating_sub(range.start) };
        let mut found = Cachestat::default();
        // SAFETY: both structures are the kernel's and outlive the call, which only writes to the second one.
        let failed = unsafe { libc::syscall(CACHESTAT, file.as_raw_fd(), &raw const asked, &raw mut found, 0) };
        (failed == 0).then_some(found.dirty == 0 && found.under_writeback == 0)
    }
}

/// Bytes of a cache line of the CPU.
const CACHE_LINE_BYTES: usize = 64;

/// Begins to bring the start of `item` into the CPU's caches.
#[inline]
pub(crate) fn fetch<T>(item: &T) {
    fetch_at(std::ptr::from_ref(item).cast());
}

/// Begins to bring the bytes at an address, if there are any, into the CPU's caches.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn fetch_at(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: the instruction reads nothing and faults on no address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

/// On other processors it does nothing.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn fetch_at(_: *const u8) {}

/// Bytes of one read-ahead request. Linux takes no more than the device's window, which usually is 128 KiB.
const READ_AHEAD_BYTES: u64 = 128 << 10;

struct FsMapping {
    map: Option<Mmap>,
}

impl Mapping for FsMapping {
    fn len(&self) -> u64 {
        self.map.as_ref().map_or(0, |map| map.len() as u64)
    }

    fn read(&self, offset: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        let bytes = self.map.as_deref().unwrap_or_default();
        let start = usize::try_from(offset).ok()?;
        bytes.get(start..start.checked_add(len)?).map(Cow::Borrowed)
    }

    fn expect(&self, access: Access) {
        let advice = match access {
            Access::Scattered => Advice::Random,
            Access::InOrder => Advice::Normal,
        };
        // A system that ignores advice still works.
        let _ = self.map.as_ref().map(|map| map.advise(advice));
    }

    fn read_ahead(&self, offset: u64, len: u64) {
        let Some(map) = &self.map else { return };
        let end = offset.saturating_add(len).min(map.len() as u64);
        let mut at = offset;
        while at < end {
            let piece = READ_AHEAD_BYTES.min(end - at);
            // A system that ignores advice still works.
            let _ = map.advise_range(Advice::WillNeed, at as usize, piece as usize);
            at += piece;
        }
    }

    fn prefetch(&self, offset: u64, len: usize) {
        let bytes = self.map.as_deref().unwrap_or_default();
        let Ok(start) = usize::try_from(offset) else { return };
        let end = start.saturating_add(len).min(bytes.len());
        for line in bytes.get(start..end).unwrap_or_default().chunks(CACHE_LINE_BYTES) {
            line.first().into_iter().for_each(fetch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_every_folder_that_is_made_is_durable() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/c");
        let synced = std::cell::RefCell::new(Vec::new());
        let sync = |parent: &Path| {
            synced.borrow_mut().push(parent.strip_prefix(dir.path()).unwrap().to_owned());
            Ok(())
        };
        create_folder(&path, OWN_FOLDER, &sync).unwrap();
        assert!(path.is_dir());
        assert_eq!(*synced.borrow(), ["", "a", "a/b"].map(PathBuf::from));
        create_folder(&path, OWN_FOLDER, &sync).unwrap();
        assert_eq!(synced.borrow().len(), 3);
    }

    #[test]
    fn nobody_else_reads_what_is_made_or_holds_its_lock() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let disk = FsDisk::new(dir.path().join("parent/store"));
        disk.create_dir("").unwrap();
        disk.create_dir("log").unwrap();
        disk.create("log/file").unwrap();
        let _lock = disk.lock("lock").unwrap().unwrap();
        let mode = |name: &str| fs::metadata(disk.path(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(["", "log", "log/file", "lock"].map(mode), [0o700, 0o700, 0o600, 0o600]);
    }

    #[test]
    fn what_was_begun_comes_to_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        let disk = FsDisk::new(dir.path());
        disk.create_dir("").unwrap();
        let file = disk.create("file").unwrap();
        file.write_at(0, &[IoSlice::new(&[7; 9000])]).unwrap();
        file.begin_sync(0..9000);
        let began = std::time::Instant::now();
        while file.has_come(0..9000) == Some(false) && began.elapsed().as_secs() < 30 {
            std::thread::yield_now();
        }
        // None if the system cannot tell.
        assert_ne!(file.has_come(0..9000), Some(false));
        file.sync().unwrap();
        assert_ne!(file.has_come(0..9000), Some(false));
        // An invalid range is no error.
        file.begin_sync(u64::MAX - 1..u64::MAX);
        file.begin_sync(9000..9000);
        file.sync().unwrap();
    }

    #[test]
    fn a_full_disk_is_named() {
        let full = if_full(io::Error::from_raw_os_error(Errno::NOSPC.raw_os_error()), Path::new("/data/s/log/1.log"));
        assert!(full.to_string().ends_with(", at /data/s/log/1.log"), "{full}");
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        let other = if_full(io::Error::from_raw_os_error(Errno::IO.raw_os_error()), Path::new("/data/s/log/1.log"));
        assert!(other.raw_os_error().is_some() && !other.to_string().contains("/data"), "{other}");
    }
}
