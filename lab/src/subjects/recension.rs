//! Recension: the native engine, and the memory engine that serves as a check of the laboratory itself.
//! A get takes a snapshot of the head, as an application's does.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use recension::disk::FsDisk;
use recension::engine::{
    Batch, Direction, Durability, Engine, KeyRange, MemoryEngine, NativeEngine, NativeOptions, Seq, Snapshot, TreeId,
};

use super::{OpenOptions, Reader, RowToWrite, SeeRow, SeeValue, Settled, Subject, Tree};
use crate::error::{LabError, Result};

pub(super) fn open_native(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    open_with(dir, NativeOptions { block_cache_bytes: options.cache_bytes, ..NativeOptions::default() })
}

/// Without a sync a commit: for a subject that lies about it.
pub(super) fn open_unsynced(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    let durability = Durability::Process;
    open_with(dir, NativeOptions { block_cache_bytes: options.cache_bytes, durability, ..NativeOptions::default() })
}

fn open_with(dir: &Path, settings: NativeOptions) -> Result<Box<dyn Subject>> {
    let words = format!(
        "defaults: durability {:?}, index in memory up to {} MiB, settling every {} MiB of log, files mapped; cache of \
         {} MiB for settled blocks",
        settings.durability,
        settings.index_memory_bytes >> 20,
        settings.settle_log_bytes.unwrap_or_default() >> 20,
        settings.block_cache_bytes >> 20,
    );
    let engine = NativeEngine::open(Arc::new(FsDisk::new(dir)), settings);
    Ok(Box::new(Native { engine: engine.map_err(LabError::subject("opening the store"))?, words }))
}

#[allow(clippy::unnecessary_wraps)] // it is one of the functions that open
pub(super) fn open_memory(_: &Path, _: &OpenOptions) -> Result<Box<dyn Subject>> {
    Ok(Box::new(Memory(MemoryEngine::new())))
}

const TREE: TreeId = TreeId(1);

struct Native {
    engine: NativeEngine,
    words: String,
}

struct Memory(MemoryEngine);

impl Subject for Native {
    fn commit(&self, _: u64, rows: &[RowToWrite]) -> Result<u64> {
        commit(&self.engine, rows)
    }
    fn keeps_versions(&self) -> bool {
        true
    }
    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(EngineReader(&self.engine)))
    }
    fn settle(&self) -> Result<Settled> {
        self.engine.settle().map_err(LabError::subject("settling"))?;
        Ok(Settled { how: "settle(): everything in key order".to_owned(), complete: true })
    }
    fn settings(&self) -> String {
        self.words.clone()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.engine.close().map_err(LabError::subject("closing"))
    }
}

impl Subject for Memory {
    fn commit(&self, _: u64, rows: &[RowToWrite]) -> Result<u64> {
        commit(&self.0, rows)
    }
    fn keeps_versions(&self) -> bool {
        true
    }
    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(EngineReader(&self.0)))
    }
    fn settle(&self) -> Result<Settled> {
        Ok(Settled { how: "nothing to do".to_owned(), complete: true })
    }
    fn settings(&self) -> String {
        "everything is lost when it is closed".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn commit(engine: &dyn Engine, rows: &[RowToWrite]) -> Result<u64> {
    let mut batch = Batch::new();
    for row in rows {
        match &row.value {
            Some(value) => batch.put(TREE, &row.key, value),
            None => batch.delete(TREE, &row.key),
        };
    }
    Ok(engine.commit(batch).map_err(LabError::subject("a commit"))?.seq.0)
}

struct EngineReader<'e>(&'e dyn Engine);

impl EngineReader<'_> {
    fn at(&self, at: Option<u64>) -> Result<Arc<dyn Snapshot>> {
        match at {
            None => self.0.snapshot(),
            Some(seq) => self.0.snapshot_at(Seq(seq)),
        }
        .map_err(LabError::subject("a snapshot"))
    }

    fn get_at(&self, at: Option<u64>, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        let snapshot = self.at(at)?;
        let found = snapshot.get(TREE, key).map_err(LabError::subject("a get"))?;
        Ok(found.map(|value| see(&value)).is_some())
    }

    fn range_at(&self, at: Option<u64>, start: &[u8], reverse: bool, see: SeeRow<'_>) -> Result<()> {
        let snapshot = self.at(at)?;
        let (range, direction) = if reverse {
            (KeyRange { start: Bound::Unbounded, end: Bound::Included(start.to_vec()) }, Direction::Backward)
        } else {
            (KeyRange { start: Bound::Included(start.to_vec()), end: Bound::Unbounded }, Direction::Forward)
        };
        for row in snapshot.range(TREE, &range, direction) {
            let row = row.map_err(LabError::subject("a range"))?;
            if !see(&row.key, &row.value) {
                break;
            }
        }
        Ok(())
    }
}

impl Reader for EngineReader<'_> {
    fn get(&mut self, _: Tree, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        self.get_at(None, key, see)
    }
    fn range(&mut self, _: Tree, start: &[u8], reverse: bool, see: SeeRow<'_>) -> Result<()> {
        self.range_at(None, start, reverse, see)
    }
    fn get_as_of(&mut self, key: &[u8], at: u64, see: SeeValue<'_>) -> Result<bool> {
        self.get_at(Some(at), key, see)
    }
    fn range_as_of(&mut self, start: &[u8], at: u64, see: SeeRow<'_>) -> Result<()> {
        self.range_at(Some(at), start, false, see)
    }
}
