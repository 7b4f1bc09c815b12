//! The engines under test. A new engine joins every suite by one line in [`every`].

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use recension::disk::FsDisk;
use recension::engine::native::Maintenance;
use recension::engine::{
    BranchEngine, BranchId, Clock, Durability, Engine, Fork, MemoryEngine, NativeEngine, NativeOptions, Result,
};
use recension_engines::sqlite::{SqliteEngine, SqliteOptions};
use recension_log::{Cache, FolderLog, MemoryLog, ReplicatedEngine, ReplicatedOptions, SharedLog};
use recension_remote::{Owner, RemoteEngine};
use tempfile::TempDir;

use super::{EngineFactory, Store};
use crate::disturbed::{Disturbance, Disturbed};
use crate::forking::Forking;

/// Every engine, with the options of the contract suite.
pub fn every() -> Vec<Box<dyn EngineFactory>> {
    vec![
        Box::new(Memory),
        Box::new(Native::default()),
        Box::new(Native::tiny()),
        Box::new(Sqlite::default()),
        Box::new(Sqlite::tiny()),
        Box::new(Remote(Native::tiny())),
        Box::new(Far(Disturbance::Delayed(Duration::from_micros(50)))),
        Box::new(Replicated::in_memory()),
        Box::new(Replicated::tiny()),
        Box::new(Replicated::in_folder()),
        Box::new(Branched::of(Memory, 1)),
        Box::new(Branched::of(Native::tiny(), 1)),
        Box::new(Branched::of(Sqlite::tiny(), 1)),
        Box::new(Branched::of(Native::tiny(), 3)),
    ]
}

/// A directory for a test's stores. It is in memory if the machine allows that, since closing and checkpointing sync,
/// and these tests are about answers. (Tests about crashes bring their own disk.)
///
/// # Panics
/// If no directory can be made.
pub fn scratch() -> TempDir {
    let shm = PathBuf::from("/dev/shm");
    tempfile::tempdir_in(shm).or_else(|_| tempfile::tempdir()).expect("a temporary directory")
}

/// The memory engine.
pub struct Memory;

impl EngineFactory for Memory {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn make(&self, clock: Arc<dyn Clock>) -> Store {
        Store::lasting_until_closed(Arc::new(MemoryEngine::with_clock(clock)))
    }

    fn persists(&self) -> bool {
        false
    }

    fn open_backup(&self, _: &Path) -> Option<Result<Arc<dyn Engine>>> {
        None
    }

    fn readers_pass_writers(&self) -> bool {
        false
    }
}

/// The native engine.
#[derive(Default)]
pub struct Native {
    /// Its options; the clock is replaced.
    pub options: NativeOptions,
    /// Whether the directory is on the machine's disk rather than in memory.
    pub on_disk: bool,
}

impl Native {
    /// With the smallest sizes: short histories fill segments, write runs, merge and settle them. The committing thread
    /// does that, and commits do not sync.
    pub fn tiny() -> Self {
        let options = NativeOptions {
            durability: Durability::Process,
            segment_bytes: 8 << 10,
            index_memory_bytes: 4 << 10,
            checkpoint_log_bytes: 16 << 10,
            merge_fan_in: 2,
            settle_log_bytes: Some(24 << 10),
            block_cache_bytes: 64 << 10,
            maintenance: Maintenance::Inline,
            ..NativeOptions::default()
        };
        Native { options, on_disk: false }
    }
}

impl EngineFactory for Native {
    fn name(&self) -> String {
        let NativeOptions { durability, segment_bytes, index_memory_bytes, merge_fan_in, maintenance, .. } =
            &self.options;
        format!(
            "native ({durability:?}, segments of {segment_bytes}, index of {index_memory_bytes}, {merge_fan_in} runs \
             merged, {maintenance:?})"
        )
    }

    fn open_backup(&self, at: &Path) -> Option<Result<Arc<dyn Engine>>> {
        let options = NativeOptions { create: false, ..self.options.clone() };
        Some(NativeEngine::open(Arc::new(FsDisk::new(at)), options).map(|engine| Arc::new(engine) as Arc<dyn Engine>))
    }

    fn make(&self, clock: Arc<dyn Clock>) -> Store {
        let dir = if self.on_disk { tempfile::tempdir().expect("a temporary directory") } else { scratch() };
        let options = NativeOptions { clock, ..self.options.clone() };
        let disk = Arc::new(FsDisk::new(dir.path()));
        Store::persistent(Box::new(move || Ok(Arc::new(NativeEngine::open(disk.clone(), options.clone())?))), dir)
    }
}

/// The native engine of an owner, reached through the socket in its folder.
#[derive(Default)]
pub struct Remote(pub Native);

impl EngineFactory for Remote {
    fn name(&self) -> String {
        format!("remote: {}", self.0.name())
    }

    fn open_backup(&self, at: &Path) -> Option<Result<Arc<dyn Engine>>> {
        self.0.open_backup(at)
    }

    fn make(&self, clock: Arc<dyn Clock>) -> Store {
        let dir = if self.0.on_disk { tempfile::tempdir().expect("a temporary directory") } else { scratch() };
        let options = NativeOptions { clock, ..self.0.options.clone() };
        let path = dir.path().to_owned();
        let last_owner = Mutex::new(None);
        let open = move || {
            // The previous owner is closed first.
            let mut last_owner = last_owner.lock();
            *last_owner = None;
            let native = NativeEngine::open(Arc::new(FsDisk::new(&path)), options.clone())?;
            *last_owner = Some(Owner::of(Arc::new(native), &path)?);
            Ok(Arc::new(RemoteEngine::connect(&path, Duration::ZERO)?) as Arc<dyn Engine>)
        };
        Store::persistent(Box::new(open), dir)
    }
}

/// The memory engine as if it were far away.
pub struct Far(pub Disturbance);

impl EngineFactory for Far {
    fn name(&self) -> String {
        format!("memory, {:?}", self.0)
    }

    fn make(&self, clock: Arc<dyn Clock>) -> Store {
        let engine = Disturbed::new(Arc::new(MemoryEngine::with_clock(clock)), self.0);
        Store::lasting_until_closed(Arc::new(engine))
    }

    fn persists(&self) -> bool {
        false
    }

    fn open_backup(&self, _: &Path) -> Option<Result<Arc<dyn Engine>>> {
        None
    }

    fn readers_pass_writers(&self) -> bool {
        false
    }
}

/// The engine over `SQLite`.
#[derive(Default)]
pub struct Sqlite {
    /// Its options; the clock is replaced.
    pub options: SqliteOptions,
    /// Whether the file is on the machine's disk rather than in memory.
    pub on_disk: bool,
}

impl Sqlite {
    /// With the smallest sizes, so that short histories cross pages, and without syncs at commits.
    pub fn tiny() -> Self {
        let options = SqliteOptions {
            durability: Durability::Process,
            page_rows: 2,
            read_connections: 2,
            ..SqliteOptions::default()
        };
        Sqlite { options, on_disk: false }
    }
}

impl EngineFactory for Sqlite {
    fn name(&self) -> String {
        let SqliteOptions { durability, page_rows, .. } = &self.options;
        format!("sqlite ({durability:?}, pages of {page_rows} rows)")
    }

    fn open_backup(&self, at: &Path) -> Option<Result<Arc<dyn Engine>>> {
        let options = SqliteOptions { create: false, ..self.options.clone() };
        Some(SqliteEngine::open(at, options).map(|engine| Arc::new(engine) as Arc<dyn Engine>))
    }

    fn make(&self, clock: Arc<dyn Clock>) -> Store {
        let dir = if self.on_disk { tempfile::tempdir().expect("a temporary directory") } else { scratch() };
        let options = SqliteOptions { clock, ..self.options.clone() };
        let path = dir.path().join("store.db");
        Store::persistent(Box::new(move || Ok(Arc::new(SqliteEngine::open(&path, options.clone())?))), dir)
    }
}

/// Makes a log for one store.
pub type MakeLog = Box<dyn Fn(&Path) -> Arc<dyn SharedLog> + Send + Sync>;

/// The engine over a shared log.
pub struct Replicated {
    name: String,
    /// Makes the log of a new store, with a folder that it may use.
    make_log: MakeLog,
    /// Options of the cache's engine; `None`: the cache is in memory.
    cache: Option<NativeOptions>,
}

impl Replicated {
    /// Over a log that `make_log` makes, with a small native engine as its cache.
    pub fn over(name: &str, make_log: MakeLog) -> Self {
        Replicated { name: name.to_owned(), make_log, cache: Some(Native::tiny().options) }
    }

    /// Over a log in memory, with a cache in memory.
    pub fn in_memory() -> Self {
        Replicated {
            cache: None,
            ..Replicated::over("memory, cache in memory", Box::new(|_| Arc::new(MemoryLog::new())))
        }
    }

    /// Over a log in memory, with a cache of the smallest sizes.
    pub fn tiny() -> Self {
        Replicated::over("memory, small native cache", Box::new(|_| Arc::new(MemoryLog::new())))
    }

    /// Over a log in a folder, with a cache as users have it.
    ///
    /// # Panics
    /// If its log does not open: the test has failed.
    pub fn in_folder() -> Self {
        let log: MakeLog =
            Box::new(|folder| Arc::new(FolderLog::open(&folder.join("log")).expect("a new log in a folder opens")));
        Replicated { cache: Some(NativeOptions::default()), ..Replicated::over("folder, native cache", log) }
    }
}

impl EngineFactory for Replicated {
    fn name(&self) -> String {
        format!("replicated ({})", self.name)
    }

    fn open_backup(&self, at: &Path) -> Option<Result<Arc<dyn Engine>>> {
        let options = NativeOptions { create: false, ..self.cache.clone()? };
        Some(NativeEngine::open(Arc::new(FsDisk::new(at)), options).map(|engine| Arc::new(engine) as Arc<dyn Engine>))
    }

    fn make(&self, clock: Arc<dyn Clock>) -> Store {
        let dir = scratch();
        let log = (self.make_log)(dir.path());
        let cache = match &self.cache {
            None => Cache::Memory,
            Some(options) => Cache::Directory { path: dir.path().join("cache"), options: Box::new(options.clone()) },
        };
        let open = move || {
            let mut options = ReplicatedOptions::default();
            options.clock = clock.clone();
            Ok(Arc::new(ReplicatedEngine::open(log.clone(), &cache, options)?) as Arc<dyn Engine>)
        };
        if self.persists() {
            return Store::persistent(Box::new(open), dir);
        }
        Store::lasting_until_closed(open().expect("a new store opens"))
    }

    /// The log persists with any cache. But history that a cache in memory has given up is there again after reopening,
    /// and such a cache takes no disk: the cases about closed stores are for caches on disk.
    fn persists(&self) -> bool {
        self.cache.is_some()
    }

    fn readers_pass_writers(&self) -> bool {
        self.cache.is_some()
    }
}

/// A branch over another engine, from its beginning on; or a branch of a branch and so on.
pub struct Branched {
    inner: Box<dyn EngineFactory>,
    depth: u32,
}

impl Branched {
    /// A chain of this many branches.
    pub fn of(inner: impl EngineFactory + 'static, depth: u32) -> Self {
        Branched { inner: Box::new(inner), depth }
    }
}

fn branched(root: Arc<dyn Engine>, depth: u32) -> Arc<dyn Engine> {
    let forks = (1..=depth).rev().map(|id| Fork { branch: BranchId(id), at: recension::engine::Seq::ZERO });
    Arc::new(BranchEngine::new(root, forks.collect()))
}

impl EngineFactory for Branched {
    fn name(&self) -> String {
        format!("branch {} deep over {}", self.depth, self.inner.name())
    }

    fn make(&self, clock: Arc<dyn Clock>) -> Store {
        let depth = self.depth;
        self.inner.make(clock).wrapped(move |root| branched(root, depth))
    }

    fn persists(&self) -> bool {
        self.inner.persists()
    }

    fn open_backup(&self, at: &Path) -> Option<Result<Arc<dyn Engine>>> {
        let backup = self.inner.open_backup(at)?;
        Some(backup.map(|root| branched(root, self.depth)))
    }

    fn readers_pass_writers(&self) -> bool {
        self.inner.readers_pass_writers()
    }
}

/// An engine that becomes a branch of itself after some commits, and again.
pub struct Forks {
    /// The engine.
    pub inner: Box<dyn EngineFactory>,
    /// How many commits are between forks.
    pub every: u64,
}

impl EngineFactory for Forks {
    fn name(&self) -> String {
        format!("forking every {} commits over {}", self.every, self.inner.name())
    }

    fn make(&self, clock: Arc<dyn Clock>) -> Store {
        let (every, forks) = (self.every, Arc::default());
        self.inner.make(clock).wrapped(move |root| Arc::new(Forking::new(root, every, Arc::clone(&forks))))
    }

    fn persists(&self) -> bool {
        self.inner.persists()
    }

    fn open_backup(&self, _: &Path) -> Option<Result<Arc<dyn Engine>>> {
        None
    }

    fn forks(&self) -> bool {
        true
    }

    fn readers_pass_writers(&self) -> bool {
        self.inner.readers_pass_writers()
    }
}
