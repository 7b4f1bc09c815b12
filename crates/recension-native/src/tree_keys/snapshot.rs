//! A snapshot whose values are opened by the keys of their trees. Reads of keys alone need no key.

use std::borrow::Cow;
use std::sync::Arc;

use super::KeyRing;
use crate::snapshot::NativeSnapshot;
use recension_engine::{
    Direction, KeyNumber, KeyRange, Keys, Result, Row, Rows, Scratch, Seq, Snapshot, Timestamp, TreeId, Value, Version,
    Versions, Wanted,
};

/// What the engine answers reads from, in a store that is encrypted.
pub(crate) struct OpenedSnapshot {
    below: NativeSnapshot,
    ring: Arc<KeyRing>,
}

impl OpenedSnapshot {
    pub(crate) fn new(below: NativeSnapshot, ring: Arc<KeyRing>) -> Self {
        OpenedSnapshot { below, ring }
    }
}

impl Snapshot for OpenedSnapshot {
    fn seq(&self) -> Seq {
        self.below.seq()
    }

    fn afresh(&self) -> Option<Arc<dyn Snapshot>> {
        let afresh = NativeSnapshot::new(self.below.state.clone(), self.below.seq);
        Some(Arc::new(OpenedSnapshot::new(afresh, self.ring.clone())))
    }

    fn time(&self) -> Result<Timestamp> {
        self.below.time()
    }

    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Value<'_>>> {
        let found = self.below.get(tree, key)?;
        if KeyNumber::of(tree).is_none() {
            return Ok(found);
        }
        let opened =
            found.map(|Value { seq, bytes }| self.ring.value(tree, key, bytes).map(|bytes| Value { seq, bytes }));
        opened.transpose()
    }

    fn prefetch(&self, tree: TreeId, keys: &[&[u8]]) {
        self.below.prefetch(tree, keys);
    }

    fn version(&self, tree: TreeId, key: &[u8]) -> Result<Option<Seq>> {
        self.below.version(tree, key)
    }

    fn scratch(&self) -> Result<Option<Box<dyn Scratch>>> {
        self.below.scratch()
    }

    fn range(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Rows<'_> {
        let rows = self.below.range(tree, range, direction);
        if KeyNumber::of(tree).is_none() {
            return rows;
        }
        let opened = rows.map(move |row| {
            let Row { key, value: Value { seq, bytes } } = row?;
            let bytes = self.ring.value(tree, &key, bytes)?;
            Ok(Row { key, value: Value { seq, bytes } })
        });
        Box::new(until_error(opened))
    }

    fn range_of(&self, tree: TreeId, range: &KeyRange, direction: Direction, wanted: Wanted) -> Rows<'_> {
        if wanted.values {
            return self.range(tree, range, direction);
        }
        self.below.range_of(tree, range, direction, wanted)
    }

    fn each_row(
        &self,
        tree: TreeId,
        range: &KeyRange,
        direction: Direction,
        see: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<()> {
        if KeyNumber::of(tree).is_none() {
            return self.below.each_row(tree, range, direction, see);
        }
        let mut failed = None;
        self.below.each_row(tree, range, direction, &mut |key, value| match self.ring.value(
            tree,
            key,
            Cow::Borrowed(value),
        ) {
            Ok(value) => see(key, &value),
            Err(error) => {
                failed = Some(error);
                false
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn first_key(&self, tree: TreeId, prefix: &[u8], key: &mut Vec<u8>) -> Result<bool> {
        self.below.first_key(tree, prefix, key)
    }

    fn keys(&self, tree: TreeId, range: &KeyRange) -> Keys<'_> {
        self.below.keys(tree, range)
    }

    fn versions(&self, tree: TreeId, key: &[u8]) -> Versions<'_> {
        let versions = self.below.versions(tree, key);
        if KeyNumber::of(tree).is_none() {
            return versions;
        }
        let key = key.to_vec();
        let opened = versions.map(move |version| {
            let Version { seq, time, value } = version?;
            let value = value.map(|stored| self.ring.value(tree, &key, stored)).transpose()?;
            Ok(Version { seq, time, value })
        });
        Box::new(until_error(opened))
    }
}

/// Ends after the first error.
fn until_error<T>(items: impl Iterator<Item = Result<T>>) -> impl Iterator<Item = Result<T>> {
    let mut failed = false;
    items.take_while(move |item| !std::mem::replace(&mut failed, item.is_err()))
}
