//! Where keys of blocks of trees come in: batches on their way to the log, snapshots on their way to readers, and
//! copies of a store. Every commit and every read goes through here.

use std::borrow::Cow;
use std::sync::Arc;

use super::NativeEngine;
use super::shared::Shared;
use super::snapshot::NativeSnapshot;
use super::tree_keys::{KeyRing, OpenedSnapshot, Unread, copy_file};
use crate::disk::Disk;
use crate::disk::sealed::KEY_BYTES;
use recension_engine::{Batch, EngineError, Result, Seq, Snapshot, TreeId};

impl Shared {
    /// What readers get of a snapshot.
    pub(super) fn opened(&self, snapshot: NativeSnapshot) -> Arc<dyn Snapshot> {
        match &self.tree_keys {
            Some(ring) => Arc::new(OpenedSnapshot::new(snapshot, ring.clone())),
            None => Arc::new(snapshot),
        }
    }

    /// The batch as it comes to the log, within all bounds.
    pub(super) fn with_values_sealed(&self, batch: Batch) -> Result<Batch> {
        let batch = match &self.tree_keys {
            Some(ring) => ring.sealed(batch)?,
            None => batch,
        };
        batch.check_limits().map(|()| batch)
    }

    /// A counter as it was written: one that was put, and not only added to, is sealed.
    pub(super) fn opened_counter(&self, tree: TreeId, key: &[u8], stored: Option<Vec<u8>>) -> Result<Option<Vec<u8>>> {
        match (&self.tree_keys, stored) {
            (Some(ring), Some(stored)) => Ok(Some(ring.value(tree, key, Cow::Owned(stored))?.into_owned())),
            (_, stored) => Ok(stored),
        }
    }
}

impl NativeEngine {
    /// Makes a new store one beside which the file of another store's collections' keys opens: a copy. Writes the list
    /// of keys into it, without any of them.
    pub(super) fn take_tree_keys(&self, wrapping: Option<[u8; KEY_BYTES]>, list: Option<&KeyRing>) -> Result<()> {
        let Some(wrapping) = wrapping.filter(|_| self.shared.head() == Seq::ZERO) else { return Ok(()) };
        let Some(sealed) = &self.shared.sealed else {
            let why = "collections of the store have keys, so that its copy must be encrypted; give it a key";
            return Err(EngineError::Key { store: self.shared.disk.location(), why: why.to_owned() });
        };
        sealed.make_wrapping(Some(wrapping))?;
        list.map_or(Ok(()), |ring| ring.write_list(sealed.below()))
    }

    /// The same for a salvaged store, which takes the place of the damaged one `from`: it gets the file of keys, if
    /// that is there and whole.
    pub(super) fn take_tree_keys_file(
        &self,
        from: &dyn Disk,
        wrapping: Option<[u8; KEY_BYTES]>,
    ) -> std::result::Result<(), Unread> {
        self.take_tree_keys(wrapping, None).map_err(Unread::Target)?;
        match (wrapping, &self.shared.sealed) {
            (Some(wrapping), Some(sealed)) => copy_file(from, sealed.below(), &wrapping),
            _ => Ok(()),
        }
    }
}
