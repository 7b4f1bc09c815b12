//! nebari: an append-only file for each tree, and a log of transactions. A commit of ours is one of its transactions
//! over both trees. If history is measured, one versioned tree replaces both (`versioned.rs`).

mod versioned;

use std::path::Path;

use nebari::io::fs::StdFile;
use nebari::tree::{Operation, Root, ScanEvaluation, Unversioned};
use nebari::{AbortError, ArcBytes, ChunkCache, Config, Roots, TransactionTree};

use super::{OpenOptions, Reader, RowToWrite, SeeRow, SeeValue, Settled, Subject, Tree};
use crate::error::{LabError, Result};

/// The longest piece that is cached: its default.
const CACHED_BYTES_MAX: usize = 65_536;
/// The cache counts pieces: a node or a row.
const PIECE_BYTES: u64 = 2048;

type Rows<R> = nebari::Tree<R, StdFile>;

pub(super) fn open(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    let failed = || LabError::subject("opening the store");
    let cache = ChunkCache::new((options.cache_bytes / PIECE_BYTES).max(2000) as usize, CACHED_BYTES_MAX);
    let roots = Config::default_for(dir.join("store")).cache(cache).open().map_err(failed())?;
    if options.history {
        return versioned::open(roots);
    }
    let current = roots.tree(Unversioned::tree("current")).map_err(failed())?;
    let history = roots.tree(Unversioned::tree("history")).map_err(failed())?;
    Ok(Box::new(Nebari { roots, current, history }))
}

struct Nebari {
    roots: Roots<StdFile>,
    current: Rows<Unversioned>,
    history: Rows<Unversioned>,
}

impl Nebari {
    fn tree(&self, tree: Tree) -> &Rows<Unversioned> {
        match tree {
            Tree::Current => &self.current,
            Tree::History => &self.history,
        }
    }
}

impl Subject for Nebari {
    fn commit(&self, number: u64, rows: &[RowToWrite]) -> Result<u64> {
        let names: &[&'static str] =
            if rows.iter().any(|row| row.tree == Tree::History) { &["current", "history"] } else { &["current"] };
        let trees: Vec<_> = names.iter().map(|name| Unversioned::tree(*name)).collect();
        let commit = || -> std::result::Result<(), nebari::Error> {
            let transaction = self.roots.transaction(&trees)?;
            for (at, tree) in [Tree::Current, Tree::History].into_iter().enumerate().take(names.len()) {
                let Some(mut written) = transaction.tree::<Unversioned>(at) else { continue };
                for row in rows.iter().filter(|row| row.tree == tree) {
                    write(&mut written, row)?;
                }
            }
            transaction.commit()
        };
        commit().map_err(LabError::subject("a commit"))?;
        Ok(number)
    }
    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(NebariReader(self)))
    }
    fn settle(&self) -> Result<Settled> {
        for tree in [&self.current, &self.history] {
            tree.compact().map_err(LabError::subject("a compaction"))?;
        }
        Ok(Settled { how: "compact() of each tree".to_owned(), complete: true })
    }
    fn settings(&self) -> String {
        "defaults, unversioned trees, one transaction a commit; a cache as large as everybody's".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

struct NebariReader<'n>(&'n Nebari);

impl Reader for NebariReader<'_> {
    fn get(&mut self, tree: Tree, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        get(self.0.tree(tree), key, see)
    }
    fn range(&mut self, tree: Tree, start: &[u8], reverse: bool, see: SeeRow<'_>) -> Result<()> {
        range(self.0.tree(tree), start, reverse, see)
    }
}

/// Writes or deletes a row. Its own `remove` reads the old value, which nobody asked for.
fn write<R: Root>(tree: &mut TransactionTree<R, StdFile>, row: &RowToWrite) -> std::result::Result<(), nebari::Error> {
    let key = ArcBytes::from(row.key.clone());
    match &row.value {
        Some(value) => tree.set(key, ArcBytes::from(value.clone())),
        None => tree.modify(vec![key], Operation::Remove),
    }
}

fn get<R: Root>(rows: &Rows<R>, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
    let found = rows.get(key).map_err(LabError::subject("a get"))?;
    Ok(found.map(|value| see(&value)).is_some())
}

/// The rows that were wanted are all seen.
#[derive(Debug)]
struct Enough;

impl std::fmt::Display for Enough {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("enough")
    }
}

impl std::error::Error for Enough {}

fn range<R: Root>(rows: &Rows<R>, start: &[u8], reverse: bool, see: SeeRow<'_>) -> Result<()> {
    let show = |key: ArcBytes<'static>, value: ArcBytes<'static>| {
        if see(&key, &value) { Ok(()) } else { Err(AbortError::Other(Enough)) }
    };
    let ended = if reverse { scan(rows, &(..=start), false, show) } else { scan(rows, &(start..), true, show) };
    match ended {
        Ok(()) | Err(AbortError::Other(Enough)) => Ok(()),
        Err(error) => Err(LabError::subject("a range")(error)),
    }
}

fn scan<'k, R: Root>(
    rows: &Rows<R>,
    range: &'k (impl std::ops::RangeBounds<&'k [u8]> + std::fmt::Debug + Clone),
    forwards: bool,
    mut show: impl FnMut(ArcBytes<'static>, ArcBytes<'static>) -> std::result::Result<(), AbortError<Enough>>,
) -> std::result::Result<(), AbortError<Enough>> {
    rows.scan(
        range,
        forwards,
        |_, _, _| ScanEvaluation::ReadData,
        |_, _| ScanEvaluation::ReadData,
        |key, _, value| show(key, value),
    )
}
