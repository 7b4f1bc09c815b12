//! Subjects that lie, each in one way, so that it is seen that the laboratory finds them. They are measured only where they
//! are asked for.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{OpenOptions, Reader, RowToWrite, SeeRow, SeeValue, Settled, Subject, Tree, recension};
use crate::error::Result;

/// One commit of so many is dropped, one range of so many is short.
const ONE_OF: u64 = 7;

pub(super) fn open_unsynced(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    recension::open_unsynced(dir, options)
}

pub(super) fn open_dropping(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    Ok(Box::new(Liar { inner: recension::open_native(dir, options)?, lie: Lie::Drops, count: 0.into() }))
}

pub(super) fn open_short(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    Ok(Box::new(Liar { inner: recension::open_native(dir, options)?, lie: Lie::Short, count: 0.into() }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lie {
    Drops,
    Short,
}

struct Liar {
    inner: Box<dyn Subject>,
    lie: Lie,
    count: AtomicU64,
}

struct LyingReader<'l> {
    inner: Box<dyn Reader + 'l>,
    lie: Lie,
}

impl Subject for Liar {
    fn commit(&self, number: u64, rows: &[RowToWrite]) -> Result<u64> {
        let dropped = self.lie == Lie::Drops && self.count.fetch_add(1, Relaxed) % ONE_OF == ONE_OF - 1;
        if dropped { Ok(number) } else { self.inner.commit(number, rows) }
    }
    fn keeps_versions(&self) -> bool {
        self.inner.keeps_versions()
    }
    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(LyingReader { inner: self.inner.reader()?, lie: self.lie }))
    }
    fn settle(&self) -> Result<Settled> {
        self.inner.settle()
    }
    fn settings(&self) -> String {
        "lies".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.inner.close()
    }
}

impl LyingReader<'_> {
    fn limit(&self) -> u64 {
        if self.lie == Lie::Short { ONE_OF } else { u64::MAX }
    }
}

impl Reader for LyingReader<'_> {
    fn get(&mut self, tree: Tree, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        self.inner.get(tree, key, see)
    }
    fn range(&mut self, tree: Tree, start: &[u8], reverse: bool, see: SeeRow<'_>) -> Result<()> {
        let mut left = self.limit();
        self.inner.range(tree, start, reverse, &mut |key, value| {
            left -= 1;
            see(key, value) && left > 0
        })
    }
    fn get_as_of(&mut self, key: &[u8], at: u64, see: SeeValue<'_>) -> Result<bool> {
        self.inner.get_as_of(key, at, see)
    }
    fn range_as_of(&mut self, start: &[u8], at: u64, see: SeeRow<'_>) -> Result<()> {
        self.inner.range_as_of(start, at, see)
    }
}
