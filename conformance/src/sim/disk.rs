//! [`SimDisk`] is the [`Disk`] on a simulated world. It counts and records calls, fails on demand, and can show the
//! disk after a power loss. One lock protects everything, so calls run one after another.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSlice};
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use recension::disk::{Disk, DiskFile, DiskLock, Mapping};

use super::calls::{Call, Counters, OpKind};
use super::dice::CrashPolicy;
use super::fault::{Fault, FaultKind, Faults, no_space};
use super::image::Image;
use super::names::FileId;
use super::world::World;

/// A simulated disk. Clones are the same disk.
#[derive(Clone, Default)]
pub struct SimDisk {
    shared: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    world: World,
    counters: Counters,
    faults: Faults,
    capacity: Option<u64>,
    recording: Option<Vec<Moment>>,
    locks: BTreeSet<String>,
    violations: Vec<String>,
    last_failed: Option<Call>,
    last_writes: BTreeMap<FileId, u64>,
    before: Option<(OpKind, Hook)>,
    come: Option<bool>,
}

type Hook = Arc<dyn Fn(&str) + Send + Sync>;

/// The disk right after one call that changed it.
#[derive(Clone)]
pub struct Moment {
    /// The call.
    pub call: Call,
    world: World,
}

impl Moment {
    /// The disk after a power failure right after the call.
    pub fn crash(&self, seed: u64, policy: CrashPolicy) -> SimDisk {
        SimDisk::with(self.world.crash(seed, policy))
    }

    /// The disk if the process dies right after the call and the machine goes on.
    pub fn process_crash(&self) -> SimDisk {
        SimDisk::with(self.world.clone())
    }
}

impl SimDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    fn with(world: World) -> Self {
        SimDisk { shared: Arc::new(Mutex::new(State { world, ..State::default() })) }
    }

    /// This disk as a trait object.
    pub fn arc(&self) -> Arc<dyn Disk> {
        Arc::new(self.clone())
    }

    /// A copy of this disk as a power loss would leave it now. It is unlocked and has no faults.
    #[must_use]
    pub fn crash(&self, seed: u64, policy: CrashPolicy) -> SimDisk {
        Self::with(self.shared.lock().world.crash(seed, policy))
    }

    /// A copy of this disk as the death of its process would leave it. Everything written is there, and unsynced
    /// changes are still unsynced. It is unlocked and has no faults.
    #[must_use]
    pub fn process_crash(&self) -> SimDisk {
        Self::with(self.shared.lock().world.clone())
    }

    /// Makes everything durable, as if the machine had been idle for a while.
    pub fn settle(&self) {
        self.shared.lock().world.settle();
    }

    /// Keeps a [`Moment`] for every call from now on that changes the disk.
    pub fn record(&self) {
        self.shared.lock().recording = Some(Vec::new());
    }

    /// The moments that were recorded so far. Recording ends.
    pub fn take_moments(&self) -> Vec<Moment> {
        self.shared.lock().recording.take().unwrap_or_default()
    }

    /// The calls so far.
    pub fn counters(&self) -> Counters {
        self.shared.lock().counters
    }

    /// Sets a failure of a later call.
    pub fn fail(&self, fault: Fault) {
        self.shared.lock().faults.add(fault);
    }

    /// Calls `hook` with a file's name before every call of this kind (sync or map), while other calls can go on. It
    /// can simulate a slow disk, on which commits are grouped, or an event at exactly that time.
    pub fn before(&self, kind: OpKind, hook: impl Fn(&str) + Send + Sync + 'static) {
        self.shared.lock().before = Some((kind, Arc::new(hook)));
    }

    fn call_hook(&self, kind: OpKind, name: &str) {
        let hook = self.shared.lock().before.clone().filter(|(wanted, _)| *wanted == kind);
        if let Some((_, hook)) = hook {
            hook(name);
        }
    }

    /// Removes all faults, and the capacity.
    pub fn heal(&self) {
        let mut state = self.shared.lock();
        state.faults.clear();
        state.capacity = None;
    }

    /// Sets the answer to the question whether begun syncs have reached the disk. At first it is that this cannot be
    /// told.
    pub fn set_come(&self, come: Option<bool>) {
        self.shared.lock().come = come;
    }

    /// The number of calls that have failed on demand or for lack of space.
    pub fn faults_hit(&self) -> u64 {
        self.shared.lock().faults.hits
    }

    /// The newest call that has failed on demand.
    pub fn last_failed(&self) -> Option<Call> {
        self.shared.lock().last_failed.clone()
    }

    /// Limits the total size of files to `bytes`. Growing beyond fails for lack of space.
    pub fn set_capacity(&self, bytes: u64) {
        self.shared.lock().capacity = Some(bytes);
    }

    /// Accesses that would have ended the process on a real disk: mapped reads after a file's end.
    pub fn violations(&self) -> Vec<String> {
        self.shared.lock().violations.clone()
    }

    /// The files and their sizes, as a process sees them.
    pub fn files(&self) -> Vec<(String, u64)> {
        let state = self.shared.lock();
        state.world.names.live.iter().map(|(name, id)| (name.clone(), state.world.live(*id).len())).collect()
    }

    /// The bytes of a file, as a process sees them; `None` if there is no such file.
    pub fn content(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.shared.lock();
        state.world.names.live.get(name).map(|id| state.world.live(*id).to_vec())
    }

    /// Damages a file at rest: the bits of `mask` flip at `offset`. False if there is no such byte.
    pub fn flip(&self, name: &str, offset: u64, mask: u8) -> bool {
        let Some(byte) = self.content(name).and_then(|bytes| bytes.get(offset as usize).copied()) else {
            return false;
        };
        self.damage(name, |image| _ = image.write(offset, &[byte ^ mask]));
        true
    }

    /// Damages a file at rest: bytes are written over it, or after its end.
    pub fn overwrite(&self, name: &str, offset: u64, bytes: &[u8]) {
        self.damage(name, |image| _ = image.write(offset, bytes));
    }

    /// Damages a file at rest: it is cut, or extended with zeros.
    pub fn cut(&self, name: &str, len: u64) {
        self.damage(name, |image| image.set_len(len));
    }

    /// Removes a file, durably.
    pub fn lose(&self, name: &str) {
        self.shared.lock().world.names.damage(|names| _ = names.remove(name));
    }

    /// Adds a file, durably. It replaces one of its name.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        let mut state = self.shared.lock();
        if !state.world.names.live.contains_key(name) {
            state.world.create_dir(super::names::directory_of(name));
            _ = state.world.create(0, name);
        }
        drop(state);
        self.damage(name, |image| {
            image.set_len(0);
            image.write(0, bytes);
        });
    }

    fn damage(&self, name: &str, change: impl Fn(&mut Image)) {
        let mut state = self.shared.lock();
        if let Ok(id) = state.world.open(name) {
            state.world.file(id).damage(change);
            state.world.names.damage(|_| {});
        }
    }

    /// Performs one call: counts it, fails it if a fault says so, or else does and records it.
    fn call<T>(
        &self,
        kind: OpKind,
        name: &str,
        (offset, len): (u64, u64),
        act: impl FnOnce(&mut State, u64, Option<FaultKind>) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.shared.lock();
        state.counters.count(kind, len);
        let number = state.counters.total();
        let fault = state.faults.strike(kind);
        let call = || Call { number, kind, name: name.to_owned(), offset, len };
        if fault.is_some() {
            state.last_failed = Some(call());
        }
        let result = match fault {
            Some(fault @ (FaultKind::Eio | FaultKind::NoSpace)) if kind != OpKind::Sync && kind != OpKind::SyncDir => {
                Err(fault.error())
            }
            _ => act(&mut state, number, fault),
        };
        if kind.changes_the_disk() && state.recording.is_some() {
            let world = state.world.clone();
            state.recording.get_or_insert_default().push(Moment { call: call(), world });
        }
        // The result may be a lock, and dropping that takes this lock.
        drop(state);
        match fault {
            Some(fault) if result.is_ok() => Err(fault.error()),
            _ => result,
        }
    }

    fn handle(&self, name: &str, id: FileId) -> Arc<dyn DiskFile> {
        Arc::new(SimFile { disk: self.clone(), id, name: name.to_owned() })
    }
}

impl Disk for SimDisk {
    fn location(&self) -> String {
        "a simulated disk".to_owned()
    }

    fn create_dir(&self, name: &str) -> io::Result<()> {
        self.call(OpKind::CreateDir, name, (0, 0), |state, _, _| {
            state.world.create_dir(name);
            Ok(())
        })
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.call(OpKind::List, dir, (0, 0), |state, _, _| state.world.list(dir))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let id = self.call(OpKind::Create, name, (0, 0), |state, call, _| state.world.create(call, name))?;
        Ok(self.handle(name, id))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let id = self.call(OpKind::Open, name, (0, 0), |state, _, _| state.world.open(name))?;
        Ok(self.handle(name, id))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.call(OpKind::Rename, to, (0, 0), |state, call, _| state.world.rename(call, from, to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.call(OpKind::Remove, name, (0, 0), |state, call, _| state.world.remove(call, name))
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.call(OpKind::SyncDir, dir, (0, 0), |state, _, fault| {
            if fault.is_some_and(|fault| fault != FaultKind::EioButDone) {
                // The names stay to be written: they are in a journal, which has no pages that a failure could mark as
                // clean.
                return Ok(());
            }
            state.world.sync_dir(dir)
        })
    }

    fn lock(&self, name: &str) -> io::Result<Result<DiskLock, String>> {
        let shared = self.shared.clone();
        self.call(OpKind::Lock, name, (0, 0), |state, call, _| {
            if state.locks.contains(name) {
                return Ok(Err("another user of the simulated disk".to_owned()));
            }
            let id = match state.world.open(name) {
                Ok(id) => id,
                Err(_) => state.world.create(call, name)?,
            };
            state.world.file(id).write(call, 0, b"1\n");
            state.locks.insert(name.to_owned());
            Ok(Ok(DiskLock { guard: Box::new(SimLock { shared, name: name.to_owned() }) }))
        })
    }
}

struct SimLock {
    shared: Arc<Mutex<State>>,
    name: String,
}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.shared.lock().locks.remove(&self.name);
    }
}

struct SimFile {
    disk: SimDisk,
    id: FileId,
    name: String,
}

impl SimFile {
    fn grow(&self, state: &mut State, len: u64) -> io::Result<()> {
        let more = len.saturating_sub(state.world.live(self.id).len());
        match state.capacity {
            Some(capacity) if more > 0 && state.world.live_bytes() + more > capacity => {
                state.faults.hits += 1;
                Err(no_space())
            }
            _ => Ok(()),
        }
    }
}

impl DiskFile for SimFile {
    fn len(&self) -> io::Result<u64> {
        self.disk.call(OpKind::Len, &self.name, (0, 0), |state, _, _| Ok(state.world.live(self.id).len()))
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.disk.call(OpKind::Allocate, &self.name, (len, 0), |state, call, _| {
            self.grow(state, len)?;
            if state.world.live(self.id).len() < len {
                state.world.file(self.id).set_len(call, len);
            }
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.call(OpKind::SetLen, &self.name, (len, 0), |state, call, _| {
            self.grow(state, len)?;
            state.world.file(self.id).set_len(call, len);
            Ok(())
        })
    }

    fn write_at(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let bytes: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        let len = bytes.len() as u64;
        self.disk.call(OpKind::Write, &self.name, (offset, len), |state, call, fault| {
            self.grow(state, offset + len)?;
            state.last_writes.insert(self.id, offset);
            // A short write ends somewhere inside the bytes, not at a sector's edge.
            let written = if fault == Some(FaultKind::ShortWrite) { bytes.len() * 3 / 5 } else { bytes.len() };
            state.world.file(self.id).write(call, offset, &bytes[..written]);
            Ok(())
        })
    }

    fn has_come(&self, _range: Range<u64>) -> Option<bool> {
        self.disk.shared.lock().come
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.call_hook(OpKind::Sync, &self.name);
        let last_write = self.disk.shared.lock().last_writes.get(&self.id).copied().unwrap_or(0);
        self.disk.call(OpKind::Sync, &self.name, (last_write, 0), |state, _, fault| {
            let file = state.world.file(self.id);
            match fault {
                None | Some(FaultKind::EioButDone) => file.sync(),
                Some(_) => file.fail_sync(),
            }
            Ok(())
        })
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let len = buffer.len() as u64;
        self.disk.call(OpKind::Read, &self.name, (offset, len), |state, _, _| {
            if state.world.live(self.id).read(offset, buffer) {
                Ok(())
            } else {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
        })
    }

    fn map(&self, len: u64) -> io::Result<Arc<dyn Mapping>> {
        self.disk.call_hook(OpKind::Map, &self.name);
        self.disk.call(OpKind::Map, &self.name, (0, len), |state, _, _| {
            if state.world.live(self.id).len() < len {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let (disk, name) = (self.disk.clone(), self.name.clone());
            Ok(Arc::new(SimMapping { disk, id: self.id, name, len }) as Arc<dyn Mapping>)
        })
    }
}

struct SimMapping {
    disk: SimDisk,
    id: FileId,
    name: String,
    len: u64,
}

impl Mapping for SimMapping {
    fn len(&self) -> u64 {
        self.len
    }

    fn read(&self, offset: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        offset.checked_add(len as u64).filter(|&end| end <= self.len)?;
        let mut state = self.disk.shared.lock();
        let mut bytes = vec![0; len];
        if !state.world.live(self.id).read(offset, &mut bytes) {
            // A real mapping reads zeros up to the end of the page, and gets SIGBUS after it.
            let what = format!("mapped read of {} at {offset} +{len} behind the file's end", self.name);
            state.violations.push(what);
            return None;
        }
        Some(Cow::Owned(bytes))
    }
}
