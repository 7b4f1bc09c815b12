//! Blocks that a snapshot keeps, so that its answers borrow rows from them instead of copying. The number is bounded:
//! rows of further blocks are copied.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::SettledRow;
use super::row_block::RowBlock;

/// Blocks that a snapshot keeps.
const BLOCKS_MAX: usize = 64;
/// A larger block is not kept.
const BLOCK_BYTES_MAX: u64 = 16 << 10;
/// Blocks that a walk usually needs at once: a current and a past one of two files.
const LATELY: usize = 4;

/// The blocks that a snapshot keeps.
#[derive(Default)]
pub(in super::super) struct Pins {
    /// The block of the first row that was got: most snapshots answer one get.
    got: OnceLock<Arc<RowBlock>>,
    blocks: OnceLock<Box<[OnceLock<Arc<RowBlock>>]>>,
    used: AtomicUsize,
}

impl Pins {
    /// The value of a row.
    pub(in super::super) fn value(&self, row: SettledRow) -> Cow<'_, [u8]> {
        let SettledRow { block, index, .. } = row;
        if block.memory_bytes() > BLOCK_BYTES_MAX {
            return Cow::Owned(block.value(index).to_vec());
        }
        // The count of references moves instead of increasing.
        let other = self.got.set(block).err();
        match (self.got.get(), other) {
            (Some(kept), None) => Cow::Borrowed(kept.value(index)),
            (Some(kept), Some(block)) if Arc::ptr_eq(&block, kept) => Cow::Borrowed(kept.value(index)),
            (_, block) => Cow::Owned(block.map_or(Vec::new(), |block| block.value(index).to_vec())),
        }
    }

    fn pin(&self, block: &Arc<RowBlock>) -> Option<&RowBlock> {
        if block.memory_bytes() > BLOCK_BYTES_MAX || self.used.load(Ordering::Relaxed) >= BLOCKS_MAX {
            return None;
        }
        let blocks = self.blocks.get_or_init(|| (0..BLOCKS_MAX).map(|_| OnceLock::new()).collect());
        let place = blocks.get(self.used.fetch_add(1, Ordering::Relaxed))?;
        Some(place.get_or_init(|| block.clone()))
    }
}

/// A walk's view of the blocks that its snapshot keeps.
pub(in super::super) struct Pinned<'s> {
    pins: &'s Pins,
    lately: [Option<&'s RowBlock>; LATELY],
    oldest: usize,
}

impl<'s> Pinned<'s> {
    pub(in super::super) fn new(pins: &'s Pins) -> Self {
        Pinned { pins, lately: [None; LATELY], oldest: 0 }
    }

    /// Key, without its tree, and value of a row.
    pub(in super::super) fn row(&mut self, row: &SettledRow, full_key: &[u8]) -> (Cow<'s, [u8]>, Cow<'s, [u8]>) {
        let copied_key = || Cow::Owned(full_key.get(4..).unwrap_or_default().to_vec());
        match self.block(&row.block) {
            Some(block) => {
                let key = block.full_key(row.index).and_then(|key| key.get(4..));
                (key.map_or_else(copied_key, Cow::Borrowed), Cow::Borrowed(block.value(row.index)))
            }
            None => (copied_key(), Cow::Owned(row.value().to_vec())),
        }
    }

    /// The same block, for as long as the snapshot lives; `None` if it is not kept.
    pub(super) fn block(&mut self, block: &Arc<RowBlock>) -> Option<&'s RowBlock> {
        let known = self.lately.iter().flatten().find(|known| std::ptr::eq(**known, Arc::as_ptr(block)));
        if known.is_some() {
            return known.copied();
        }
        let pinned = self.pins.pin(block)?;
        self.lately[self.oldest] = Some(pinned);
        self.oldest = (self.oldest + 1) % LATELY;
        Some(pinned)
    }
}
