//! The cache of decompressed blocks of settled files, within a budget of bytes. What is in it has been checked.

use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

use super::rows::RowBlock;
use crate::engine::CommitInfo;

/// A block by its file's number and its place in that file. Numbers are never used again.
type Place = (u64, u64);

/// A checked block.
#[derive(Clone)]
pub(super) enum Cached {
    Rows(Arc<RowBlock>),
    Commits(Arc<Vec<CommitInfo>>),
}

/// Blocks lately read.
pub(in super::super) struct BlockCache {
    /// None: nothing is kept.
    blocks: Option<Cache<Place, Cached, BlockWeighter>>,
}

#[derive(Clone)]
struct BlockWeighter;

/// What an entry costs beside its block, about, in bytes.
const ENTRY_OVERHEAD_BYTES: u64 = 64;

impl Weighter<Place, Cached> for BlockWeighter {
    fn weight(&self, _: &Place, block: &Cached) -> u64 {
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
        // A few shards: two cores do not wait for each other, and each has room for large blocks.
        let options = OptionsBuilder::new()
            .estimated_items_capacity(blocks.clamp(16, 1 << 20))
            .weight_capacity(budget_bytes)
            .shards(if budget_bytes < 16 << 20 { 1 } else { 8 })
            .build();
        let cache = |options| {
            Cache::with_options(options, BlockWeighter, DefaultHashBuilder::default(), DefaultLifecycle::default())
        };
        BlockCache { blocks: options.ok().filter(|_| budget_bytes > 0).map(cache) }
    }

    pub(super) fn get(&self, file: u64, offset: u64) -> Option<Cached> {
        self.blocks.as_ref()?.get(&(file, offset))
    }

    pub(super) fn put(&self, file: u64, offset: u64, block: Cached) {
        if let Some(blocks) = &self.blocks {
            blocks.insert((file, offset), block);
        }
    }

    /// Bytes in it, about.
    pub(in super::super) fn bytes(&self) -> u64 {
        self.blocks.as_ref().map_or(0, Cache::weight)
    }
}
