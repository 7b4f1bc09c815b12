//! Blocks: a view's rows are grouped into blocks of some hundred, so that many rows can be counted by few reads. A
//! block begins at a key and ends where the next one begins. Its row is written whenever one of its rows is. A result
//! computed from a block is therefore valid as long as the block's row is of the same commit.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use parking_lot::{Mutex, MutexGuard};

use crate::engine::{Batch, Direction, KeyRange, Seq, Snapshot, TreeId};
use crate::kernel::overlay::Overlay;
use crate::kernel::rows::view_rows::ROW;
use crate::kernel::view::places::{Places, Stamp};
use recension_values::error::{Error, Result};
use recension_values::limits::{VIEW_BLOCK_ROWS, VIEW_BLOCK_ROWS_MAX};

/// The kind of a block's row; the key at which it begins follows.
const BLOCK: u8 = 0x03;

/// The key of a row in a view's tree, which is written whenever a commit of documents cuts blocks. Other such commits
/// conflict with it.
const CUTS_KEY: &[u8] = &[0x05];

/// The blocks of a view, and their changes by a commit.
pub(crate) struct Blocks {
    /// The number of rows of each block, by its first key, and whether a row of it is written.
    counts: BTreeMap<Vec<u8>, (u64, bool)>,
    added: BTreeSet<Vec<u8>>,
    removed: BTreeSet<Vec<u8>>,
    nowhere: (u64, bool),
}

/// A block as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Block {
    /// The key at which it begins.
    pub(crate) start: Vec<u8>,
    pub(crate) rows: u64,
    /// The newest commit that changed any of its rows.
    pub(crate) seq: Seq,
}

/// The blocks that begin within a range of rows' keys, up to some number.
pub(crate) fn blocks_in(snapshot: &dyn Snapshot, tree: TreeId, keys: &KeyRange, most: usize) -> Result<Vec<Block>> {
    let placed = |bound: &Bound<Vec<u8>>, open: Vec<u8>| match bound {
        Bound::Included(key) => Bound::Included([&[BLOCK], key.as_slice()].concat()),
        Bound::Excluded(key) => Bound::Excluded([&[BLOCK], key.as_slice()].concat()),
        Bound::Unbounded => Bound::Excluded(open),
    };
    let range = KeyRange { start: placed(&keys.start, vec![BLOCK]), end: placed(&keys.end, vec![BLOCK + 1]) };
    let mut blocks = Vec::new();
    if range.is_empty() {
        return Ok(blocks);
    }
    for row in snapshot.range(tree, &range, Direction::Forward).take(most) {
        let row = row?;
        let rows = rows_in(&row.value.bytes)?;
        blocks.push(Block { start: row.key.get(1..).unwrap_or_default().to_vec(), rows, seq: row.value.seq });
    }
    Ok(blocks)
}

/// How many rows a block's row counts.
fn rows_in(value: &[u8]) -> Result<u64> {
    let damaged = |_| Error::DamagedRow { what: "a block of a view".to_owned(), why: "it does not read" };
    value.try_into().map(u64::from_be_bytes).map_err(damaged)
}

/// What a commit of documents does to the blocks of a view: it changes counts as counters, which lets others do so at
/// the same time. It depends on no block being cut meanwhile.
pub(crate) struct BlocksInCommit<'v> {
    view: &'v Overlay,
    tree: TreeId,
    places: MutexGuard<'v, Places>,
    /// By where a block begins: how many rows it had, and how many more it has.
    changed: BTreeMap<Vec<u8>, (u64, i64)>,
}

impl<'v> BlocksInCommit<'v> {
    /// `entry`: the commit that wrote the view's entry in the catalogue.
    pub(crate) fn on(view: &'v Overlay, tree: TreeId, entry: Seq, places: &'v Mutex<Places>) -> Result<Self> {
        let cuts = view.base().get(tree, CUTS_KEY)?.map_or(Seq::ZERO, |row| row.seq);
        let mut places = places.lock();
        places.of(Stamp { tree, entry, cuts });
        Ok(BlocksInCommit { view, tree, places, changed: BTreeMap::new() })
    }

    pub(crate) fn tree(&self) -> TreeId {
        self.tree
    }

    /// A row is written; `more` is the change of the number of rows.
    pub(crate) fn note(&mut self, key: &[u8], more: i64) -> Result<()> {
        if let Some(start) = self.places.block_of(key) {
            if let Some((_, own)) = self.changed.get_mut(&start) {
                *own += more;
                return Ok(());
            }
            let row = self.view.base().get(self.tree, &[&[BLOCK], start.as_slice()].concat())?;
            let rows = row.map_or(Ok(0), |row| rows_in(&row.bytes))?;
            self.changed.insert(start, (rows, more));
            return Ok(());
        }
        let up_to = Bound::Included([&[BLOCK], key].concat());
        let range = KeyRange { start: Bound::Included(vec![BLOCK]), end: up_to };
        let found = self.view.base().range(self.tree, &range, Direction::Backward).next().transpose()?;
        let (start, rows) = match found {
            Some(row) => (row.key.get(1..).unwrap_or_default().to_vec(), rows_in(&row.value.bytes)?),
            None => (vec![ROW], 0),
        };
        if self.places.found(&start, key) {
            let behind = KeyRange { start: Bound::Excluded(start.clone()), end: Bound::Excluded(vec![ROW + 1]) };
            let next = blocks_in(self.view.base(), self.tree, &behind, 1)?.pop();
            self.places.ends(&start, next.map(|next| next.start));
        }
        self.changed.entry(start).or_insert((rows, 0)).1 += more;
        Ok(())
    }

    /// Writes the changes. Blocks that have grown too large are cut.
    pub(crate) fn write(self) -> Result<()> {
        let BlocksInCommit { view, tree, changed, .. } = self;
        if changed.is_empty() {
            return Ok(());
        }
        view.depend_or_written(tree, CUTS_KEY);
        for (start, (count, more)) in changed {
            if count.saturating_add_signed(more) <= VIEW_BLOCK_ROWS_MAX {
                view.add(tree, &[&[BLOCK], start.as_slice()].concat(), &[more]);
                continue;
            }
            let behind = KeyRange { start: Bound::Excluded(start.clone()), end: Bound::Excluded(vec![ROW + 1]) };
            let next = blocks_in(view.base(), tree, &behind, 1)?.pop();
            let next = next.map_or_else(|| vec![ROW + 1], |next| next.start);
            let range = KeyRange { start: Bound::Included(start.clone()), end: Bound::Excluded(next) };
            let keys = view.range(tree, &range, Direction::Forward).map(|row| Ok(row?.key.into_owned()));
            let keys: Vec<Vec<u8>> = keys.collect::<Result<_>>()?;
            view.put(tree, CUTS_KEY, vec![1]);
            for (number, piece) in keys.chunks(VIEW_BLOCK_ROWS).enumerate() {
                let begins = if number == 0 { &start } else { piece.first().unwrap_or(&start) };
                let rows = (piece.len() as u64).to_be_bytes();
                view.put(tree, &[&[BLOCK], begins.as_slice()].concat(), rows.to_vec());
            }
        }
        Ok(())
    }
}

impl Blocks {
    /// All blocks of a view.
    pub(crate) fn load(snapshot: &dyn Snapshot, tree: TreeId) -> Result<Self> {
        let all = blocks_in(snapshot, tree, &KeyRange::prefix([ROW]), usize::MAX)?;
        let counts = all.into_iter().map(|block| (block.start, (block.rows, false))).collect();
        Ok(Blocks { counts, added: BTreeSet::new(), removed: BTreeSet::new(), nowhere: (0, false) })
    }

    /// A row is put; `new`: its key had no row.
    pub(crate) fn put(&mut self, key: &[u8], new: bool) {
        let rows = self.touch(key);
        if new {
            *rows += 1;
            self.removed.remove(key);
            self.added.insert(key.to_vec());
        }
    }

    /// A row is removed.
    pub(crate) fn remove(&mut self, key: &[u8]) {
        let rows = self.touch(key);
        *rows = rows.saturating_sub(1);
        self.added.remove(key);
        self.removed.insert(key.to_vec());
    }

    /// The count of the block that a key is in.
    fn touch(&mut self, key: &[u8]) -> &mut u64 {
        let before = (Bound::Unbounded, Bound::Included(key));
        if self.counts.range::<[u8], _>(before).next_back().is_none() {
            self.counts.insert(vec![ROW], (0, false));
        }
        let own = self.counts.range_mut::<[u8], _>(before).next_back();
        // The first block begins before all rows.
        let (rows, touched) = own.map_or(&mut self.nowhere, |(_, own)| own);
        *touched = true;
        rows
    }

    /// Adds the changes to a batch. Blocks that have grown too large are cut.
    pub(crate) fn write(self, snapshot: &dyn Snapshot, tree: TreeId, batch: &mut Batch) -> Result<()> {
        let touched = self.counts.iter().filter(|(_, (_, touched))| *touched);
        let touched: Vec<(Vec<u8>, u64)> = touched.map(|(start, (rows, _))| (start.clone(), *rows)).collect();
        for (start, rows) in touched {
            if rows <= VIEW_BLOCK_ROWS_MAX {
                put_block(&start, rows, tree, batch);
                continue;
            }
            let keys = self.keys_of(snapshot, tree, &start)?;
            for (number, piece) in keys.chunks(VIEW_BLOCK_ROWS).enumerate() {
                let begins = if number == 0 { &start } else { piece.first().unwrap_or(&start) };
                put_block(begins, piece.len() as u64, tree, batch);
            }
        }
        Ok(())
    }

    /// The keys that a block will have.
    fn keys_of(&self, snapshot: &dyn Snapshot, tree: TreeId, start: &[u8]) -> Result<Vec<Vec<u8>>> {
        let next = self.counts.range::<[u8], _>((Bound::Excluded(start), Bound::Unbounded)).next();
        let end = Bound::Excluded(next.map_or_else(|| vec![ROW + 1], |(next, _)| next.clone()));
        let range = KeyRange { start: Bound::Included(start.to_vec()), end };
        let mut keys: BTreeSet<Vec<u8>> = self.added.range::<[u8], _>(range.as_bounds()).cloned().collect();
        for row in snapshot.range(tree, &range, Direction::Forward) {
            let key = row?.key.into_owned();
            if !self.removed.contains(&key) {
                keys.insert(key);
            }
        }
        Ok(keys.into_iter().collect())
    }
}

fn put_block(start: &[u8], rows: u64, tree: TreeId, batch: &mut Batch) {
    let key = [&[BLOCK], start].concat();
    if rows == 0 {
        batch.delete(tree, &key);
    } else {
        batch.put(tree, &key, &rows.to_be_bytes());
    }
}
