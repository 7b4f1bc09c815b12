//! The engines under test. A new engine joins every suite by one line in [`every`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recension::disk::FsDisk;
use recension::engine::native::Maintenance;
use recension::engine::{Clock, Durability, Engine, MemoryEngine, NativeEngine, NativeOptions, Result};
use recension_engines::sqlite::{SqliteEngine, SqliteOptions};
use tempfile::TempDir;

use super::{EngineFactory, Store};

/// Every engine, as the contract suite runs it.
pub fn every() -> Vec<Box<dyn EngineFactory>> {
    vec![
        Box::new(Memory),
        Box::new(Native::default()),
        Box::new(Native::tiny()),
        Box::new(Sqlite::default()),
        Box::new(Sqlite::tiny()),
    ]
}

/// A directory for a test's stores: in memory where the machine has that, since closing and checkpointing sync,
/// and these tests are about answers. (Those about what survives a crash bring their own disk.)
///
/// # Panics
/// When no directory can be made.
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
    /// Whether the directory lies on the machine's disk rather than in memory.
    pub on_disk: bool,
}

impl Native {
    /// As small as it gets, so that short histories fill segments, write runs, merge and settle them, by the
    /// committing thread and without syncs at commits.
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

/// The engine over `SQLite`.
#[derive(Default)]
pub struct Sqlite {
    /// Its options; the clock is replaced.
    pub options: SqliteOptions,
    /// Whether the file lies on the machine's disk rather than in memory.
    pub on_disk: bool,
}

impl Sqlite {
    /// As small as it gets, so that short histories cross every page, and without syncs at commits.
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
