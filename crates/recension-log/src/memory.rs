//! A log in memory, shared by the engines of one process. Clones are the same log. It keeps nothing when the process
//! ends: it is the plainest log, for tests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::{Appended, Blobs, LogError, LogProfile, Position, Result, SharedLog};

/// A log in memory.
#[derive(Clone, Default)]
pub struct MemoryLog {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    records: BTreeMap<Position, Vec<u8>>,
    /// Records before this one were given up.
    trimmed: Position,
    blobs: BTreeMap<String, Vec<u8>>,
    wakes: u64,
}

impl State {
    fn tail(&self) -> Position {
        self.records.last_key_value().map_or(Position::FIRST, |(position, _)| position.next())
    }
}

impl MemoryLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the log lose its newest records, like a system that acknowledges before it stores. For tests.
    pub fn lose_from(&self, position: Position) {
        self.shared.state.lock().records.split_off(&position);
    }

    /// Changes a record in place. For tests.
    pub fn damage(&self, position: Position, change: impl FnOnce(&mut Vec<u8>)) {
        if let Some(record) = self.shared.state.lock().records.get_mut(&position) {
            change(record);
        }
    }
}

impl SharedLog for MemoryLog {
    fn append(&self, position: Position, record: &[u8]) -> Result<Appended> {
        let mut state = self.shared.state.lock();
        if position < state.trimmed {
            return Err(LogError::Trimmed { asked: position, first: Some(state.trimmed) });
        }
        match position.cmp(&state.tail()) {
            std::cmp::Ordering::Less => return Ok(Appended::Taken),
            std::cmp::Ordering::Greater => {
                return Err(LogError::damaged(position.before(), "it is gone from the log"));
            }
            std::cmp::Ordering::Equal => {}
        }
        state.records.insert(position, record.to_vec());
        drop(state);
        self.shared.changed.notify_all();
        Ok(Appended::Written)
    }

    fn read(&self, from: Position, bytes_max: usize) -> Result<Vec<(Position, Vec<u8>)>> {
        let state = self.shared.state.lock();
        if from < state.trimmed {
            return Err(LogError::Trimmed { asked: from, first: Some(state.trimmed) });
        }
        let mut bytes = 0;
        let page = state.records.range(from..).take_while(|(_, record)| {
            let before = bytes;
            bytes += record.len();
            before < bytes_max
        });
        Ok(page.map(|(position, record)| (*position, record.clone())).collect())
    }

    fn tail(&self, _known: Position) -> Result<Position> {
        Ok(self.shared.state.lock().tail())
    }

    fn wait_for(&self, position: Position, timeout: Duration) {
        let mut state = self.shared.state.lock();
        let wakes = state.wakes;
        let waits = |state: &mut State| state.tail() <= position && state.wakes == wakes;
        self.shared.changed.wait_while_for(&mut state, waits, timeout);
    }

    fn wake(&self) {
        self.shared.state.lock().wakes += 1;
        self.shared.changed.notify_all();
    }

    fn trim(&self, before: Position) -> Result<()> {
        let mut state = self.shared.state.lock();
        let before = before.min(state.tail().before());
        state.records = state.records.split_off(&before);
        state.trimmed = state.trimmed.max(before);
        Ok(())
    }

    fn blobs(&self) -> &dyn Blobs {
        self
    }

    fn profile(&self) -> LogProfile {
        LogProfile {
            system: "memory",
            place: "memory".to_owned(),
            record_bytes_max: crate::limits::RECORD_BYTES_MAX,
            record_bytes_best: 1 << 20,
            blob_bytes_max: 16 << 20,
            keeps: "nothing",
        }
    }
}

impl Blobs for MemoryLog {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.shared.state.lock().blobs.insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.shared.state.lock().blobs.get(name).cloned())
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let state = self.shared.state.lock();
        let from = state.blobs.range(prefix.to_owned()..);
        Ok(from.map(|(name, _)| name).take_while(|name| name.starts_with(prefix)).cloned().collect())
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.shared.state.lock().blobs.remove(name);
        Ok(())
    }
}
