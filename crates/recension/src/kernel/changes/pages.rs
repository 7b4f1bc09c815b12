//! Feeds of changes in pages: the changes behind a position, of one collection or of all collections merged. No
//! snapshot is held between two pages.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use crate::engine::{Direction, KeyRange, Seq, Snapshot, TreeId};
use crate::kernel::changes::change::{Change, Position, change_key};
use crate::kernel::changes::filter::Filtering;
use crate::kernel::rows::catalogue::{CATALOGUE, COUNTS_PREFIX, CollectionEntry};
use crate::kernel::rows::slot::Slots;
use recension_values::error::Result;
use recension_values::limits::{CHANGES_PAGE, DOCUMENT_ID_BYTES_MAX};

/// A page of changes, and the commit up to which there are no others.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) changes: Vec<Change>,
    /// The feed has caught up with this commit; `None`: there may be more.
    pub(crate) end: Option<Seq>,
    /// Where the page ends, if that is not its last change.
    pub(crate) passed: Option<Position>,
}

impl Page {
    /// Takes changes out of the page. The feed counts them as passed.
    pub(crate) fn keep(&mut self, mut keep: impl FnMut(&Change) -> Result<bool>) -> Result<()> {
        self.passed = self.changes.last().map(Change::position);
        let mut kept = Vec::new();
        for change in std::mem::take(&mut self.changes) {
            if keep(&change)? {
                kept.push(change);
            }
        }
        self.changes = kept;
        Ok(())
    }
}

/// The result of a feed's next step.
pub(crate) enum Step {
    Change(Change),
    /// Changes were read and left out, and there may be more.
    Passed,
    /// It has caught up.
    End,
}

/// A feed read in pages, so that no snapshot is held between them.
pub(crate) struct Pages {
    pub(crate) position: Position,
    direction: Direction,
    page: VecDeque<Change>,
    /// The position of the feed when the page is used up: [`Page::end`] and [`Page::passed`].
    end: Option<Seq>,
    passed: Option<Position>,
    pub(crate) ended: bool,
}

impl Pages {
    pub(crate) fn new(position: Position, direction: Direction) -> Self {
        Pages { position, direction, page: VecDeque::new(), end: None, passed: None, ended: false }
    }

    pub(crate) fn step(&mut self, read: impl FnOnce(&Position, Direction) -> Result<Page>) -> Result<Step> {
        if self.page.is_empty() {
            if self.ended {
                return Ok(Step::End);
            }
            let page = read(&self.position, self.direction).inspect_err(|_| self.ended = true)?;
            (self.page, self.end, self.passed) = (page.changes.into(), page.end, page.passed);
        }
        let next = self.page.pop_front();
        if let Some(change) = &next {
            self.position = change.position();
        }
        if self.page.is_empty() {
            if let Some(passed) = self.passed.take() {
                self.position = passed;
            } else if next.is_none() {
                self.ended = true;
            }
            if let Some(end) = self.end.take() {
                if self.direction == Direction::Forward {
                    self.position = Position::from(end);
                }
                self.ended = true;
            }
        }
        Ok(match next {
            Some(change) => Step::Change(change),
            None if self.ended => Step::End,
            None => Step::Passed,
        })
    }
}

/// The keys of the changes of a collection behind a position.
pub(crate) fn keys_behind(position: &Position, name: &str, direction: Direction) -> KeyRange {
    match direction {
        Direction::Forward => KeyRange { start: behind(position, name), end: Bound::Unbounded },
        Direction::Backward => match &position.within {
            Some((_, id)) => KeyRange { start: Bound::Unbounded, end: Bound::Excluded(change_key(position.seq, id)) },
            None => KeyRange { start: Bound::Unbounded, end: behind_all_of(position.seq) },
        },
    }
}

/// The changes of a collection behind a position.
pub(crate) fn page(
    snapshot: &dyn Snapshot,
    name: &Arc<str>,
    entry: &CollectionEntry,
    position: &Position,
    direction: Direction,
    limit: usize,
) -> Result<Page> {
    let range = keys_behind(position, name, direction);
    let mut changes = Vec::new();
    for row in snapshot.range(entry.changes, &range, direction).take(limit) {
        let row = row?;
        changes.push(Change::decode(name, &row.key, &row.value)?);
    }
    let end = (changes.len() < limit).then(|| snapshot.seq());
    Ok(Page { changes, end, passed: None })
}

/// Where the keys of a collection's changes begin that lie behind a position.
fn behind(position: &Position, name: &str) -> Bound<Vec<u8>> {
    match &position.within {
        Some((collection, id)) if collection == name => Bound::Excluded(change_key(position.seq, id)),
        // The changes of one commit are in the order of their collections' names.
        Some((collection, _)) if collection.as_str() < name => Bound::Included(change_key(position.seq, "")),
        _ => match behind_all_of(position.seq) {
            Bound::Excluded(key) => Bound::Included(key),
            // Nothing lies behind the last possible commit.
            _ => Bound::Excluded(vec![0xff; 8 + DOCUMENT_ID_BYTES_MAX]),
        },
    }
}

fn behind_all_of(seq: Seq) -> Bound<Vec<u8>> {
    seq.0.checked_add(1).map_or(Bound::Unbounded, |next| Bound::Excluded(next.to_be_bytes().to_vec()))
}

/// A collection with changes, and the ones that have been read of it.
struct Source {
    name: Arc<str>,
    changes: TreeId,
    read: VecDeque<Change>,
    more: bool,
}

impl Source {
    fn fill(&mut self, snapshot: &dyn Snapshot, position: &Position, limit: usize) -> Result<()> {
        let range = KeyRange { start: behind(position, &self.name), end: Bound::Unbounded };
        for row in snapshot.range(self.changes, &range, Direction::Forward).take(limit) {
            let row = row?;
            self.read.push_back(Change::decode(&self.name, &row.key, &row.value)?);
        }
        self.more = self.read.len() == limit;
        Ok(())
    }
}

/// The changes of all collections behind a position, merged. A page holds at least one change for each collection that
/// has changes, so that looking at a collection pays.
pub(crate) fn page_of_store(
    slots: &Slots,
    snapshot: &dyn Snapshot,
    position: &Position,
    filter: Option<&Filtering>,
) -> Result<Page> {
    let mut sources = Vec::new();
    for name in changed_collections(slots, snapshot, position)? {
        if let Some(entry) = slots.of(&name).entry(snapshot)? {
            sources.push(Source { name, changes: entry.changes, read: VecDeque::new(), more: true });
        }
    }
    let limit = CHANGES_PAGE.max(sources.len());
    let ahead = if sources.len() > CHANGES_PAGE { 1 } else { CHANGES_PAGE / sources.len().max(1) + 1 };
    let mut heap = BinaryHeap::new();
    for (at, source) in sources.iter_mut().enumerate() {
        source.fill(snapshot, position, ahead)?;
        heap.extend(source.read.front().map(|change| Reverse((change.seq, at))));
    }
    let mut changes: Vec<Change> = Vec::new();
    while let Some(Reverse((_, at))) = heap.pop() {
        let Some(source) = sources.get_mut(at) else { break };
        let Some(change) = source.read.pop_front() else { continue };
        if source.read.is_empty() && source.more {
            source.fill(snapshot, &change.position(), ahead)?;
        }
        heap.extend(source.read.front().map(|change| Reverse((change.seq, at))));
        changes.push(change);
        if changes.len() == limit {
            break;
        }
    }
    let end = heap.is_empty().then(|| snapshot.seq());
    let page = Page { changes, end, passed: None };
    match filter {
        Some(filter) => filter.of_store(slots, snapshot, page),
        None => Ok(page),
    }
}

/// The names of the collections that may have changes behind a position, in order.
pub(crate) fn changed_collections(
    slots: &Slots,
    snapshot: &dyn Snapshot,
    position: &Position,
) -> Result<Vec<Arc<str>>> {
    // If the position is within a commit, that commit may have more changes.
    let since = if position.within.is_some() { Seq(position.seq.0.saturating_sub(1)) } else { position.seq };
    if let Some(names) = slots.recent().since(since, snapshot.seq()) {
        return Ok(names);
    }
    let mut names = Vec::new();
    for row in snapshot.range(CATALOGUE, &KeyRange::prefix(COUNTS_PREFIX), Direction::Forward) {
        let row = row?;
        if row.value.seq > since {
            names.push(Arc::from(String::from_utf8_lossy(&row.key[COUNTS_PREFIX.len()..])));
        }
    }
    Ok(names)
}
