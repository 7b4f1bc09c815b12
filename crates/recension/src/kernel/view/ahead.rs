//! Whole blocks of a view within a reduction. The rows of each group in a block are reduced once, and the results are
//! remembered until a row of the block changes. They have the commit that wrote the block's row, so that they are valid
//! for reads of any moment.

use std::collections::{HashMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::engine::{KeyRange, Seq, TreeId};
use crate::kernel::view::blocks::{Block, blocks_in};
use crate::kernel::view::read::ViewAt;
use recension_values::error::Result;
use recension_values::limits::REDUCED_BLOCKS_BYTES_MAX;
use recension_values::reduce::Fold;

/// Blocks that are read at a time.
const BLOCKS_AT_ONCE: usize = 4096;

/// Reduced blocks of the views of one store, in bounded memory. Losing one costs reads and changes no answer.
#[derive(Default)]
pub struct ReducedBlocks(Mutex<Remembered>);

impl std::fmt::Debug for ReducedBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReducedBlocks")
    }
}

#[derive(Default)]
struct Remembered {
    blocks: HashMap<BlockKey, (Seq, Parts)>,
    bytes: usize,
}

/// A block, and the reduction with its grouping.
#[derive(Clone, PartialEq, Eq, Hash)]
struct BlockKey {
    tree: TreeId,
    by: Arc<str>,
    start: Vec<u8>,
}

/// The rows of a block that are in one group, reduced.
#[derive(Clone)]
pub(crate) struct Part {
    /// The group's key, as JSON.
    pub(crate) group: String,
    /// The key of its first row.
    pub(crate) collated: Vec<u8>,
    pub(crate) reduced: Reduced,
}

/// The parts of a block, in order; none, if they are too many to be remembered.
pub(crate) type Parts = Arc<[Part]>;

/// Rows, reduced.
#[derive(Clone)]
pub(crate) enum Reduced {
    BuiltIn(Fold),
    /// As JSON.
    Own(String),
}

impl Reduced {
    fn bytes(&self) -> usize {
        match self {
            Reduced::BuiltIn(fold) => fold.bytes(),
            Reduced::Own(value) => value.len(),
        }
    }
}

impl ReducedBlocks {
    /// Forgets all. It must be called when documents were erased, which changes the past.
    pub fn forget(&self) {
        *self.0.lock() = Remembered::default();
    }

    fn get(&self, key: &BlockKey, seq: Seq) -> Option<Parts> {
        let state = self.0.lock();
        state.blocks.get(key).filter(|(known, _)| *known == seq).map(|(_, parts)| parts.clone())
    }

    fn put(&self, key: BlockKey, seq: Seq, parts: Parts) {
        let size = |parts: &Parts| -> usize {
            parts.iter().map(|part| part.group.len() + part.collated.len() + part.reduced.bytes() + 96).sum()
        };
        let mut state = self.0.lock();
        let bytes = key.start.len() + size(&parts) + 160;
        if state.bytes + bytes > REDUCED_BLOCKS_BYTES_MAX {
            *state = Remembered::default();
        }
        state.bytes += bytes;
        let start = key.start.len();
        if let Some((_, before)) = state.blocks.insert(key, (seq, parts)) {
            state.bytes -= (start + size(&before) + 160).min(state.bytes);
        }
    }
}

/// The blocks that lie ahead of a walk over rows.
pub(crate) struct Ahead {
    remembered: Arc<ReducedBlocks>,
    by: Arc<str>,
    tree: TreeId,
    /// The known blocks behind the walk, in order.
    blocks: VecDeque<Block>,
    /// The range in which further blocks are looked up; `None`: there are none.
    rest: Option<KeyRange>,
}

impl Ahead {
    pub(crate) fn new(remembered: Arc<ReducedBlocks>, by: Arc<str>, tree: TreeId, keys: &KeyRange) -> Self {
        Ahead { remembered, by, tree, blocks: VecDeque::new(), rest: Some(keys.clone()) }
    }

    /// Whether a block may begin at or before a key that the walk has not come to.
    pub(crate) fn is_at(&self, key: &[u8]) -> bool {
        match self.blocks.front() {
            Some(block) => block.start.as_slice() <= key,
            None => self.rest.is_some(),
        }
    }

    /// If the walk is at the first row of a whole block: the block, and the key at which the next one begins.
    pub(crate) fn enters(&mut self, view: &ViewAt, key: &[u8]) -> Result<Option<(Block, Vec<u8>)>> {
        let mut entered = None;
        loop {
            if self.blocks.len() < 2
                && let Some(rest) = self.rest.take()
            {
                let more = blocks_in(&*view.collection().snapshot, self.tree, &rest, BLOCKS_AT_ONCE)?;
                if let Some(last) = more.last().filter(|_| more.len() == BLOCKS_AT_ONCE) {
                    self.rest = Some(KeyRange { start: Bound::Excluded(last.start.clone()), end: rest.end });
                }
                self.blocks.extend(more);
            }
            if self.blocks.front().is_none_or(|block| block.start.as_slice() > key) {
                break;
            }
            entered = self.blocks.pop_front();
        }
        Ok(entered.and_then(|block| self.blocks.front().map(|next| (block, next.start.clone()))))
    }

    /// The parts of a block: those that are remembered, or those of `reduce`.
    pub(crate) fn parts(&self, block: &Block, reduce: impl FnOnce() -> Result<Vec<Part>>) -> Result<Parts> {
        let key = BlockKey { tree: self.tree, by: self.by.clone(), start: block.start.clone() };
        if let Some(parts) = self.remembered.get(&key, block.seq) {
            return Ok(parts);
        }
        let parts: Parts = reduce()?.into();
        self.remembered.put(key, block.seq, parts.clone());
        Ok(parts)
    }
}
