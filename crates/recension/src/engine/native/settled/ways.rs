//! The short way to blocks that are in memory: by their number, without the search and the bookkeeping of the cache. It
//! keeps no block in memory, and finds none that has left it.

use std::cell::Cell;
use std::sync::{Arc, Weak};

use arc_swap::ArcSwapWeak;

use super::cache::BlockCache;
use super::row_block::RowBlock;
use crate::disk::fetch_at;

/// Of so many answers the cache learns of one, so that it knows what is read.
const ANSWERS_PER_NOTICE: u32 = 16;

/// The ways to the blocks of one kind of a file.
pub(super) struct Ways {
    ways: Box<[ArcSwapWeak<RowBlock>]>,
    cache: Arc<BlockCache>,
}

impl Ways {
    /// Ways to so many blocks; `None` where the budget of memory has no room for them.
    pub(super) fn new(blocks: usize, cache: &Arc<BlockCache>) -> Option<Self> {
        cache
            .take_ways(blocks)
            .then(|| Ways { ways: (0..blocks).map(|_| ArcSwapWeak::new(Weak::new())).collect(), cache: cache.clone() })
    }

    pub(super) fn get(&self, number: usize) -> Option<Arc<RowBlock>> {
        let way = self.ways.get(number)?.load();
        // The counts may lie in another cache line than what is read next.
        fetch_at(way.as_ptr().cast::<u8>().wrapping_add(size_of::<RowBlock>() - 1));
        way.upgrade()
    }

    pub(super) fn set(&self, number: usize, block: &Arc<RowBlock>) {
        if let Some(way) = self.ways.get(number) {
            way.store(Arc::downgrade(block));
        }
    }
}

impl Drop for Ways {
    fn drop(&mut self) {
        self.cache.give_ways_back(self.ways.len());
    }
}

/// Whether the cache is to learn of an answer.
pub(super) fn is_noticed() -> bool {
    thread_local! {
        static ANSWERS: Cell<u32> = const { Cell::new(0) };
    }
    ANSWERS.with(|answers| {
        let count = answers.get().wrapping_add(1);
        answers.set(count);
        count.is_multiple_of(ANSWERS_PER_NOTICE)
    })
}
