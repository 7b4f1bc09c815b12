//! A reader's view: a state of the index and the seq up to which it looks.

use std::sync::Arc;

use super::super::{
    Direction, EngineError, KeyRange, Result, Rows, Seq, Snapshot, Timestamp, TreeId, Value, Version, Versions,
};
use super::index::{State, full_key};

/// Keys up to this length are looked up without an allocation.
const STACK_KEY_BYTES: usize = 124;

pub(super) struct NativeSnapshot {
    pub(super) state: Arc<State>,
    pub(super) seq: Seq,
}

impl Snapshot for NativeSnapshot {
    fn seq(&self) -> Seq {
        self.seq
    }

    fn time(&self) -> Result<Timestamp> {
        self.state.times.time_of(&self.state.segments, self.seq)
    }

    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Value<'_>>> {
        if key.len() > STACK_KEY_BYTES {
            return self.state.get(&full_key(tree, key), self.seq);
        }
        let mut buffer = [0; 4 + STACK_KEY_BYTES];
        buffer[..4].copy_from_slice(&tree.0.to_be_bytes());
        buffer[4..4 + key.len()].copy_from_slice(key);
        self.state.get(&buffer[..4 + key.len()], self.seq)
    }

    fn range(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Rows<'_> {
        Box::new(self.state.rows(tree, range, self.seq, direction))
    }

    fn versions(&self, tree: TreeId, key: &[u8]) -> Versions<'_> {
        Box::new(VersionsOf { snapshot: self, full_key: full_key(tree, key), next: Some(self.seq) })
    }
}

/// The versions of a key: one look-up each, from the newest on.
struct VersionsOf<'s> {
    snapshot: &'s NativeSnapshot,
    full_key: Vec<u8>,
    /// The newest seq that the next version may have.
    next: Option<Seq>,
}

impl<'s> VersionsOf<'s> {
    fn advance(&mut self, at: Seq) -> std::result::Result<Option<Version<'s>>, EngineError> {
        let state = &self.snapshot.state;
        let Some(entry) = state.find(&self.full_key, at)? else { return Ok(None) };
        let row = state.row(&self.full_key, entry)?;
        let time = state.segments.commit_of(entry.position, row.back)?.time;
        self.next = entry.seq.0.checked_sub(1).map(Seq);
        let value = if entry.deleted { None } else { Some(row.into_value()) };
        Ok(Some(Version { seq: entry.seq, time, value }))
    }
}

impl<'s> Iterator for VersionsOf<'s> {
    type Item = Result<Version<'s>>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next.take()?;
        self.advance(at).transpose()
    }
}
