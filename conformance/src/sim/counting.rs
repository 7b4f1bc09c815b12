//! A wrapper around any disk that counts its calls. It must never change a call.

use std::io::{self, IoSlice};
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use recension::disk::{Disk, DiskFile, DiskLock, Mapping};

use super::calls::{Counters, OpKind};

/// A disk whose calls are counted. Clones share the counters.
#[derive(Clone)]
pub struct CountingDisk {
    inner: Arc<dyn Disk>,
    counters: Arc<Mutex<Counters>>,
}

impl CountingDisk {
    /// Counts the calls to `inner`.
    pub fn new(inner: Arc<dyn Disk>) -> Self {
        CountingDisk { inner, counters: Arc::default() }
    }

    /// The calls so far.
    pub fn counters(&self) -> Counters {
        *self.counters.lock()
    }

    fn count(&self, kind: OpKind, len: u64) {
        self.counters.lock().count(kind, len);
    }

    fn file(&self, inner: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(CountingFile { inner, disk: self.clone() })
    }
}

impl Disk for CountingDisk {
    fn location(&self) -> String {
        self.inner.location()
    }

    fn create_dir(&self, name: &str) -> io::Result<()> {
        self.count(OpKind::CreateDir, 0);
        self.inner.create_dir(name)
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.count(OpKind::List, 0);
        self.inner.list(dir)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.count(OpKind::Create, 0);
        Ok(self.file(self.inner.create(name)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.count(OpKind::Open, 0);
        Ok(self.file(self.inner.open(name)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.count(OpKind::Rename, 0);
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.count(OpKind::Remove, 0);
        self.inner.remove(name)
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.count(OpKind::SyncDir, 0);
        self.inner.sync_dir(dir)
    }

    fn lock(&self, name: &str) -> io::Result<Result<DiskLock, String>> {
        self.count(OpKind::Lock, 0);
        self.inner.lock(name)
    }
}

struct CountingFile {
    inner: Arc<dyn DiskFile>,
    disk: CountingDisk,
}

impl DiskFile for CountingFile {
    fn len(&self) -> io::Result<u64> {
        self.disk.count(OpKind::Len, 0);
        self.inner.len()
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.disk.count(OpKind::Allocate, 0);
        self.inner.allocate(len)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.count(OpKind::SetLen, 0);
        self.inner.set_len(len)
    }

    fn write_at(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        self.disk.count(OpKind::Write, parts.iter().map(|part| part.len() as u64).sum());
        self.inner.write_at(offset, parts)
    }

    fn begin_sync(&self, range: Range<u64>) {
        self.disk.count(OpKind::BeginSync, range.end - range.start);
        self.inner.begin_sync(range);
    }

    fn has_come(&self, range: Range<u64>) -> Option<bool> {
        self.disk.count(OpKind::HasCome, range.end - range.start);
        self.inner.has_come(range)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.count(OpKind::Sync, 0);
        self.inner.sync()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.disk.count(OpKind::Read, buffer.len() as u64);
        self.inner.read_at(offset, buffer)
    }

    fn map(&self, len: u64) -> io::Result<Arc<dyn Mapping>> {
        self.disk.count(OpKind::Map, 0);
        self.inner.map(len)
    }
}
