//! The sorted versions of a part of the index in memory: a tree of pages in three levels. One thread inserts, any
//! number read beside it.
//!
//! A reader that begins after an insert has ended sees it, on whatever path. A page that is split stays as it is for
//! readers on the way to it, and nothing is ever removed from the tree. A page that a reader has found therefore has
//! every version of its range that existed when the search began. Locks are held only for a look into pages, and by the
//! writer one at a time: a reader waits at most for the insertion of one version.

mod cursor;
mod gathered;
mod page;

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use parking_lot::RwLock;

pub(super) use self::cursor::SortedCursor;
pub(super) use self::gathered::Gathered;
use self::page::{PAGE_VERSIONS, Page};
use super::entry::IndexEntry;
use super::format::Position;
use recension_engine::{Direction, Seq};

/// The place of a row, with [`DELETED_BIT`] in the segment's number.
type Place = Position;
type Leaf = RwLock<Page<Place>>;
type Shelf = RwLock<Node<Leaf>>;

/// Segments have smaller numbers.
const DELETED_BIT: u32 = 1 << 31;

/// Pages of a shelf in a tree that is built at once: it has room for as many again.
const SHELF_PAGES: usize = PAGE_VERSIONS / 2;

/// Versions by full key, newest first.
pub(super) struct SortedVersions {
    root: ArcSwap<Node<Shelf>>,
    len: AtomicU64,
}

/// Pages or nodes side by side.
struct Node<T> {
    /// The child before the first of the others.
    first: Arc<T>,
    /// The others, each with its first version.
    others: Page<Arc<T>>,
}

/// A child that has become two.
struct Split<T> {
    at: usize,
    left: Arc<T>,
    /// The first key of the right half.
    first_key: Vec<u8>,
    first_seq: Seq,
    right: Arc<T>,
}

impl<T> Node<T> {
    fn of(first: T) -> Self {
        Node { first: Arc::new(first), others: Page::new() }
    }

    /// A node of children, each with its first version; `None` if there are none.
    fn of_all(children: &[(&[u8], Seq, Arc<T>)]) -> Option<Self> {
        let ((_, _, first), others) = children.split_first()?;
        Some(Node { first: first.clone(), others: Page::of(others) })
    }

    fn child(&self, index: usize) -> Option<&Arc<T>> {
        match index.checked_sub(1) {
            None => Some(&self.first),
            Some(index) => self.others.item(index),
        }
    }

    /// Puts the two halves of a child in its place.
    fn replace(&mut self, split: Split<T>) {
        match split.at.checked_sub(1).and_then(|index| self.others.item_mut(index)) {
            None => self.first = split.left,
            Some(item) => *item = split.left,
        }
        self.others.insert(split.at, &split.first_key, split.first_seq, split.right);
    }

    /// The same node in two halves, and the first version of the second.
    fn split(&self) -> Option<(Self, (Vec<u8>, Seq), Self)> {
        let middle = self.others.len() / 2;
        let (key, seq, item) = self.others.get(middle)?;
        let left = Node { first: self.first.clone(), others: self.others.part(0..middle) };
        let right = Node { first: item.clone(), others: self.others.part(middle + 1..self.others.len()) };
        Some((left, (key.to_vec(), seq), right))
    }
}

impl SortedVersions {
    pub(super) fn new() -> Self {
        let shelf = RwLock::new(Node::of(RwLock::new(Page::new())));
        SortedVersions { root: ArcSwap::from_pointee(Node::of(shelf)), len: AtomicU64::new(0) }
    }

    /// Number of versions.
    pub(super) fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    /// Adds a version. A second one with the same key and seq replaces the first. Only one thread may insert.
    pub(super) fn insert(&self, key: &[u8], seq: Seq, position: Position, deleted: bool) {
        let place = place(position, deleted);
        let root = self.root.load();
        let shelf_at = root.others.upper_bound(key, seq);
        let Some(shelf) = root.child(shelf_at) else { return };
        let Some(split) = self.insert_into(&shelf.read(), (key, seq), place) else { return };
        let mut node = shelf.write();
        node.replace(split);
        if node.others.is_full()
            && let Some((left, (first_key, first_seq), right)) = node.split()
        {
            let mut changed = Node { first: root.first.clone(), others: root.others.part(0..root.others.len()) };
            let shelf = |node| Arc::new(RwLock::new(node));
            changed.replace(Split { at: shelf_at, left: shelf(left), first_key, first_seq, right: shelf(right) });
            self.root.store(Arc::new(changed));
        }
    }

    /// Adds a version to its page. A full page is split in two, which then have the version.
    fn insert_into(&self, node: &Node<Leaf>, (key, seq): (&[u8], Seq), place: Place) -> Option<Split<Leaf>> {
        let at = node.others.upper_bound(key, seq);
        let leaf = node.child(at)?;
        let mut page = leaf.write();
        let index = page.lower_bound(key, seq);
        if page.is_at(index, key, seq) {
            if let Some(found) = page.item_mut(index) {
                *found = place;
            }
            return None;
        }
        self.len.fetch_add(1, Ordering::Relaxed);
        if !page.is_full() {
            page.insert(index, key, seq, place);
            return None;
        }
        // If keys ascend, pages stay full. Newer versions of the next page's first key come here too, and would get a
        // page each.
        let goes_on = node.others.get(at).is_some_and(|(next, ..)| next == key);
        let middle = if index == page.len() && !goes_on { index } else { page.len() / 2 };
        let mut right = page.part(middle..page.len());
        let left = if index < middle || (index == middle && middle < page.len()) {
            let mut left = page.part(0..middle);
            left.insert(index, key, seq, place);
            Arc::new(RwLock::new(left))
        } else {
            right.insert(index - middle, key, seq, place);
            if middle == page.len() { leaf.clone() } else { Arc::new(RwLock::new(page.part(0..middle))) }
        };
        let (first_key, first_seq) = right.get(0).map(|(key, seq, _)| (key.to_vec(), seq))?;
        Some(Split { at, left, first_key, first_seq, right: Arc::new(RwLock::new(right)) })
    }

    /// Fills an empty tree with these versions, which are in order and without duplicates. Only one thread may insert.
    fn fill(&self, versions: &[(&[u8], Seq, Place)]) {
        let leaves = versions.chunks(PAGE_VERSIONS).map(|page| (page[0].0, page[0].1, RwLock::new(Page::of(page))));
        let leaves: Vec<(&[u8], Seq, Arc<Leaf>)> = leaves.map(|(key, seq, leaf)| (key, seq, Arc::new(leaf))).collect();
        let shelves = leaves.chunks(SHELF_PAGES).filter_map(|pages| {
            let (key, seq, _) = pages.first()?;
            Some((*key, *seq, Arc::new(RwLock::new(Node::of_all(pages)?))))
        });
        let shelves: Vec<(&[u8], Seq, Arc<Shelf>)> = shelves.collect();
        if let Some(root) = Node::of_all(&shelves) {
            self.len.store(versions.len() as u64, Ordering::Relaxed);
            self.root.store(Arc::new(root));
        }
    }

    /// Adds gathered versions, and empties `gathered`. Only one thread may insert.
    pub(super) fn insert_all(&self, gathered: &mut Gathered) {
        gathered.add_to(self);
    }

    /// The newest version of a key that is not newer than `at`.
    pub(super) fn get(&self, key: &[u8], at: Seq) -> Option<IndexEntry> {
        self.ahead(key, at, |page, index| {
            let (found, seq, place) = page.get(index)?;
            (found == key).then(|| entry(seq, *place))
        })
    }

    /// Calls `see` with the newest version of the first key not before `key`, if there is one.
    pub(super) fn first_from(&self, key: &[u8], see: impl FnOnce(&[u8], IndexEntry)) {
        self.ahead(key, Seq(u64::MAX), |page, index| {
            let (found, seq, place) = page.get(index)?;
            see(found, entry(seq, *place));
            Some(())
        });
    }

    /// Calls `see` with the first version not before (`key`, `seq`): a page and its place in it, which is the page's
    /// end if there
    /// is none.
    fn ahead<R>(&self, key: &[u8], seq: Seq, see: impl FnOnce(&Page<Place>, usize) -> Option<R>) -> Option<R> {
        let root = self.root.load();
        let shelf_at = root.others.upper_bound(key, seq);
        let shelf = root.child(shelf_at)?.read();
        let leaf_at = shelf.others.upper_bound(key, seq);
        let page = shelf.child(leaf_at)?.read();
        let index = page.lower_bound(key, seq);
        if index < page.len() {
            return see(&page, index);
        }
        if let Some(next) = shelf.child(leaf_at + 1) {
            drop(page);
            return see(&next.read(), 0);
        }
        let Some(next) = root.child(shelf_at + 1) else { return see(&page, index) };
        drop(page);
        drop(shelf);
        let first = next.read().first.clone();
        see(&first.read(), 0)
    }

    /// Calls `see` with the last version of keys before `key`, or of all keys: a page and the place behind that
    /// version, which is the page's start if there is none.
    fn back<R>(&self, key: Option<&[u8]>, see: impl FnOnce(&Page<Place>, usize) -> Option<R>) -> Option<R> {
        // A page begins with a version that is in it. If that is before `key`, the page has a version before `key`.
        let newest = Seq(u64::MAX);
        let root = self.root.load();
        let shelf_at = key.map_or(root.others.len(), |key| root.others.lower_bound(key, newest));
        let shelf = root.child(shelf_at)?.read();
        let leaf_at = key.map_or(shelf.others.len(), |key| shelf.others.lower_bound(key, newest));
        let page = shelf.child(leaf_at)?.read();
        let index = key.map_or(page.len(), |key| page.lower_bound(key, newest));
        see(&page, index)
    }

    /// For each key within bounds, its newest version not newer than `at`. `start` and `end` are in walking order.
    pub(super) fn cursor(
        &self,
        start: Bound<Vec<u8>>,
        end: Bound<Vec<u8>>,
        at: Seq,
        direction: Direction,
    ) -> SortedCursor<'_> {
        SortedCursor::new(self, start, end, at, direction)
    }

    /// Every version in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Vec<u8>, IndexEntry)> + '_ {
        let mut page = Page::new();
        let mut index = 0;
        let mut next = Some((Vec::new(), Seq(u64::MAX)));
        std::iter::from_fn(move || {
            if index == page.len() {
                let (key, seq) = next.take()?;
                page = self.ahead(&key, seq, |page, from| Some(page.part(from..page.len())))?;
                index = 0;
                let (key, seq, _) = page.get(page.len().checked_sub(1)?)?;
                next = Some(match seq.0.checked_sub(1) {
                    Some(older) => (key.to_vec(), Seq(older)),
                    None => (successor(key), Seq(u64::MAX)),
                });
            }
            let (key, seq, place) = page.get(index)?;
            index += 1;
            Some((key.to_vec(), entry(seq, *place)))
        })
    }
}

fn place(position: Position, deleted: bool) -> Place {
    let segment = position.segment | if deleted { DELETED_BIT } else { 0 };
    Place { segment, offset: position.offset }
}

fn entry(seq: Seq, place: Place) -> IndexEntry {
    let position = Position { segment: place.segment & !DELETED_BIT, offset: place.offset };
    IndexEntry { seq, position, deleted: place.segment & DELETED_BIT != 0 }
}

/// The least key greater than `key`.
fn successor(key: &[u8]) -> Vec<u8> {
    let mut next = Vec::with_capacity(key.len() + 1);
    next.extend_from_slice(key);
    next.push(0);
    next
}

#[cfg(test)]
mod tests;
