//! The cache of decompressed blocks of settled files, within a budget of bytes. Cached blocks have been checked.

use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};

use super::block::BlockKind;
use super::block_shortcuts::Way;
use super::row_block::RowBlock;
use recension_engine::CommitInfo;

/// A block: its file's number, which is never reused, its kind, and its number among the file's blocks of that kind.
type BlockName = (u64, BlockKind, usize);

/// A checked block.
#[derive(Clone)]
pub(super) enum Cached {
    Rows(Arc<RowBlock>),
    Commits(Arc<Vec<CommitInfo>>),
}

/// Blocks that were read recently.
pub(in super::super) struct BlockCache {
    /// None: nothing is kept.
    blocks: Option<Cache<BlockName, Cached, BlockWeighter, BuildHasherDefault<Mixed>>>,
    /// How many shortcuts to blocks files may still make.
    ways: AtomicUsize,
}

/// Hashes the names of blocks, which are three small numbers that nobody outside chooses.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // Fibonacci hashing; the rotation lets earlier numbers count.
        self.0 = (self.0.rotate_left(29) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

#[derive(Clone)]
struct BlockWeighter;

/// About how many bytes an entry costs besides its block.
const ENTRY_OVERHEAD_BYTES: u64 = 64;

/// The part of the budget that shortcuts to blocks may take. This suffices for about three times as many blocks as the
/// cache has room for. A larger file is usually not read from memory.
const WAYS_PART: u64 = 16;

/// Bytes of a shortcut: itself, and the allocation of a block that has left the cache. The weak reference keeps that
/// allocation, because the counts are in it.
const WAY_BYTES: u64 = (size_of::<Way>() + 2 * size_of::<usize>() + size_of::<RowBlock>()) as u64;

impl Weighter<BlockName, Cached> for BlockWeighter {
    fn weight(&self, _: &BlockName, block: &Cached) -> u64 {
        let bytes = match block {
            Cached::Rows(rows) => rows.memory_bytes(),
            Cached::Commits(commits) => (commits.capacity() * size_of::<CommitInfo>()) as u64,
        };
        bytes + ENTRY_OVERHEAD_BYTES
    }
}

impl BlockCache {
    /// A cache of at most `budget_bytes`.
    pub(in super::super) fn new(budget_bytes: u64) -> Self {
        let blocks = usize::try_from(budget_bytes / 4096).unwrap_or(usize::MAX);
        // There are a few shards: two cores do not wait for each other, and each shard has room for large blocks.
        let options = OptionsBuilder::new()
            .estimated_items_capacity(blocks.clamp(16, 1 << 20))
            .weight_capacity(budget_bytes - budget_bytes / WAYS_PART)
            .shards(if budget_bytes < 16 << 20 { 1 } else { 8 })
            .build();
        let cache = |options| {
            Cache::with_options(options, BlockWeighter, BuildHasherDefault::default(), DefaultLifecycle::default())
        };
        let ways = usize::try_from(budget_bytes / WAYS_PART / WAY_BYTES).unwrap_or(usize::MAX);
        BlockCache { blocks: options.ok().filter(|_| budget_bytes > 0).map(cache), ways: AtomicUsize::new(ways) }
    }

    /// Asks for room for short ways to this many blocks.
    pub(super) fn take_ways(&self, blocks: usize) -> bool {
        self.ways.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(blocks)).is_ok()
    }

    pub(super) fn give_ways_back(&self, blocks: usize) {
        self.ways.fetch_add(blocks, Ordering::Relaxed);
    }

    pub(super) fn get(&self, name: BlockName) -> Option<Cached> {
        self.blocks.as_ref()?.get(&name)
    }

    pub(super) fn put(&self, name: BlockName, block: Cached) {
        if let Some(blocks) = &self.blocks {
            blocks.insert(name, block);
        }
    }

    /// Keeps rows that are just being written, if there is room for them without evicting others.
    pub(super) fn offer(&self, name: BlockName, block: impl FnOnce() -> Option<RowBlock>) {
        let Some(blocks) = &self.blocks else { return };
        // The past is read less. Parts of the cache fill unevenly, so the last eighth is not counted on.
        let eighths = match name.1 {
            BlockKind::Current => 7,
            BlockKind::Past | BlockKind::Commits => 4,
        };
        if blocks.weight() < blocks.capacity() / 8 * eighths
            && let Some(block) = block()
        {
            blocks.insert(name, Cached::Rows(Arc::new(block)));
        }
    }

    /// Drops the blocks of a file that is no longer read.
    pub(super) fn forget(&self, file: u64) {
        if let Some(blocks) = &self.blocks {
            blocks.retain(|(of, ..), _| *of != file);
        }
    }

    /// Bytes in it, about.
    pub(in super::super) fn bytes(&self) -> u64 {
        self.blocks.as_ref().map_or(0, Cache::weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settled::rows::{KeptVersion, RowsBuilder};
    use recension_engine::Seq;

    fn block() -> RowBlock {
        let mut rows = RowsBuilder::default();
        rows.push(b"tree key", KeptVersion { seq: Seq(1), value: Some(&[7; 4000]), cut: false }, 0);
        RowBlock::parse(&rows.finish(), 1).unwrap()
    }

    #[test]
    fn what_is_offered_takes_no_room_from_what_was_read() {
        let cache = BlockCache::new(100 * block().memory_bytes());
        let read = |n| (1, BlockKind::Current, n);
        (0..50).for_each(|n| cache.put(read(n), Cached::Rows(Arc::new(block()))));
        cache.offer((2, BlockKind::Past, 0), || panic!("the past has half of it"));
        for n in 0..100 {
            cache.offer((2, BlockKind::Current, n), || Some(block()));
        }
        let kept = |name| cache.get(name).is_some();
        assert!((0..50).all(|n| kept(read(n))));
        let offered = (0..100).filter(|n| kept((2, BlockKind::Current, *n))).count();
        assert!((30..40).contains(&offered), "{offered} of what was offered");
        cache.forget(2);
        assert!((0..100).all(|n| !kept((2, BlockKind::Current, n))) && kept(read(0)));
    }
}
