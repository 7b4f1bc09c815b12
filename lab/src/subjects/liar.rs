//! Subjects that lie, each in one way. They show that the laboratory detects lies. They are measured only if they are
//! asked for.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{OpenOptions, Reader, RowToWrite, SeeRow, SeeValue, Settled, Subject, Tree, recension};
use crate::error::Result;

/// One commit of this many is dropped, one range of this many is short.
const ONE_OF: u64 = 7;

pub(super) fn open_unsynced(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    recension::open_unsynced(dir, options)
}

pub(super) fn open_dropping(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    open(dir, options, Lie::Drops)
}

pub(super) fn open_short(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    open(dir, options, Lie::Short)
}

pub(super) fn open_keeping(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    open(dir, options, Lie::Keeps)
}

pub(super) fn open_present(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    open(dir, options, Lie::Present)
}

fn open(dir: &Path, options: &OpenOptions, lie: Lie) -> Result<Box<dyn Subject>> {
    Ok(Box::new(Liar { inner: recension::open_native(dir, options)?, lie, count: 0.into() }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lie {
    /// Some commits are not made.
    Drops,
    /// Ranges end early.
    Short,
    /// Deletes are not made.
    Keeps,
    /// The past is the present.
    Present,
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
        if dropped {
            return Ok(number);
        }
        if self.lie == Lie::Keeps {
            let kept: Vec<RowToWrite> = rows.iter().filter(|row| row.value.is_some()).cloned().collect();
            return self.inner.commit(number, &kept);
        }
        self.inner.commit(number, rows)
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
        if self.lie == Lie::Present {
            return self.inner.get(Tree::Current, key, see);
        }
        self.inner.get_as_of(key, at, see)
    }
    fn range_as_of(&mut self, start: &[u8], at: u64, see: SeeRow<'_>) -> Result<()> {
        if self.lie == Lie::Present {
            return self.inner.range(Tree::Current, start, false, see);
        }
        self.inner.range_as_of(start, at, see)
    }
}
