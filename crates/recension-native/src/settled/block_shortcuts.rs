//! Shortcuts to blocks that are in memory: by their number, without the search and the bookkeeping of the cache. A
//! shortcut keeps no block in memory, and does not find one that has left it.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arc_swap::ArcSwapWeak;

use super::block::BlockKind;
use super::cache::BlockCache;
use super::row_block::RowBlock;
use crate::disk::fetch_at;

/// The cache learns of one in this many answers, so that it knows which blocks are read.
const ANSWERS_PER_NOTICE: u32 = 16;

/// The shortcuts to the blocks of one kind in a file.
pub(super) struct Ways {
    to: Box<[Way]>,
    file: u64,
    kind: BlockKind,
    cache: Arc<BlockCache>,
}

/// The shortcut to a block.
#[derive(Default)]
pub(super) struct Way {
    block: ArcSwapWeak<RowBlock>,
    /// See [`RowBlock::row_guess`].
    guess: AtomicUsize,
}

impl Ways {
    /// Shortcuts to this many blocks of a kind in a file; `None` if the budget of memory has no room for them.
    pub(super) fn new(file: u64, kind: BlockKind, blocks: usize, cache: &Arc<BlockCache>) -> Option<Self> {
        let to = || (0..blocks).map(|_| Way::default()).collect();
        cache.take_ways(blocks).then(|| Ways { to: to(), file, kind, cache: cache.clone() })
    }

    /// A block that is in memory. Now and then the cache learns that it was read.
    ///
    /// Rows of a block usually have similar lengths. The probable place of `row` is fetched while the block itself is
    /// awaited.
    pub(super) fn get(&self, number: usize, row: usize) -> Option<Arc<RowBlock>> {
        let way = self.to.get(number)?;
        RowBlock::touch_guess(way.guess.load(Ordering::Relaxed), row);
        let way = way.block.load();
        // The counts may be in another cache line than the bytes that are read next.
        fetch_at(way.as_ptr().cast::<u8>().wrapping_add(size_of::<RowBlock>() - 1));
        let block = way.upgrade()?;
        if is_noticed() {
            self.cache.get((self.file, self.kind, number));
        }
        Some(block)
    }

    /// Begins to fetch the shortcut to a block.
    pub(super) fn touch(&self, number: usize) {
        if let Some(way) = self.to.get(number) {
            fetch_at(std::ptr::from_ref(way).cast());
        }
    }

    /// Begins to fetch a block that is in memory, and the probable place of a row of it.
    pub(super) fn touch_row(&self, number: usize, row: usize) {
        let Some(way) = self.to.get(number) else { return };
        RowBlock::touch_guess(way.guess.load(Ordering::Relaxed), row);
        let block = way.block.load().as_ptr().cast::<u8>();
        // The counts of references lie before the block.
        fetch_at(block.wrapping_sub(1));
        fetch_at(block.wrapping_add(size_of::<RowBlock>() - 1));
    }

    /// Begins to fetch a row of a block that is in memory, from where it really is.
    pub(super) fn touch_place(&self, number: usize, row: usize) {
        if let Some(block) = self.to.get(number).and_then(|way| way.block.load().upgrade()) {
            block.touch(row);
        }
    }

    pub(super) fn set(&self, number: usize, block: &Arc<RowBlock>) {
        if let Some(way) = self.to.get(number) {
            way.block.store(Arc::downgrade(block));
            way.guess.store(block.row_guess(), Ordering::Relaxed);
        }
    }
}

impl Drop for Ways {
    fn drop(&mut self) {
        self.cache.give_ways_back(self.to.len());
    }
}

/// Whether the cache is to learn of an answer.
fn is_noticed() -> bool {
    thread_local! {
        static ANSWERS: Cell<u32> = const { Cell::new(0) };
    }
    ANSWERS.with(|answers| {
        let count = answers.get().wrapping_add(1);
        answers.set(count);
        count.is_multiple_of(ANSWERS_PER_NOTICE)
    })
}

#[cfg(test)]
mod tests {
    use super::super::cache::Cached;
    use super::super::rows::{KeptVersion, RowsBuilder};
    use super::*;
    use recension_engine::Seq;

    /// There are shortcuts to three times as many blocks as there is room for.
    const ROOM: u64 = 40;

    fn block() -> Arc<RowBlock> {
        let mut rows = RowsBuilder::default();
        rows.push(b"tree key", KeptVersion { seq: Seq(1), value: Some(&[7; 4000]), cut: false }, 0);
        Arc::new(RowBlock::parse(&rows.finish(), 1).unwrap())
    }

    #[test]
    fn a_block_that_is_read_the_short_way_again_and_again_stays_while_others_come_and_go() {
        let cache = Arc::new(BlockCache::new(ROOM * block().memory_bytes()));
        let ways = Ways::new(1, BlockKind::Current, 100, &cache).unwrap();
        let keep = |number| {
            let block = block();
            cache.put((1, BlockKind::Current, number), Cached::Rows(block.clone()));
            ways.set(number, &block);
        };
        // If all blocks are read once, the first ones stay: so others come first.
        (1..60).for_each(keep);
        keep(0);
        for other in 60..100 {
            for _ in 0..ANSWERS_PER_NOTICE {
                assert!(ways.get(0, 0).is_some(), "given up when block {other} had come");
            }
            keep(other);
        }
        assert!((60..90).all(|other| ways.get(other, 0).is_none()), "the others are not kept by their ways");
    }
}
