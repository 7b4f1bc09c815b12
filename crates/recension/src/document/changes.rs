//! The changes of a collection or of a whole store, in the order of their commits: every document once,
//! at the commit that wrote it last. A feed is a position and nothing else: a reader that falls behind
//! holds nothing back and costs nothing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::fmt;
use std::ops::Bound;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::catalogue::{CATALOGUE, COUNTS_PREFIX, CollectionEntry};
use super::limits::{CHANGES_PAGE, RECENT_COMMITS_MAX};
use super::{At, Collection, CollectionAt, Error, Result, RevId, Store};
use crate::engine::{Direction, KeyRange, Seq, Snapshot, TreeId};

const DELETED: u8 = 1;

/// The key of a document's row among the changes.
pub(super) fn change_key(seq: Seq, id: &str) -> Vec<u8> {
    [&seq.0.to_be_bytes()[..], id.as_bytes()].concat()
}

/// Its value.
pub(super) fn change_value(rev: &RevId, deleted: bool) -> Vec<u8> {
    let flags = if deleted { DELETED } else { 0 };
    [&[flags][..], &rev.generation().to_be_bytes(), rev.suffix_bytes()].concat()
}

/// A document that has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The collection that it is in.
    pub collection: Arc<str>,
    /// The document.
    pub id: String,
    /// The commit that wrote it last.
    pub seq: Seq,
    /// Its revision.
    pub rev: RevId,
    /// Whether that is its deletion.
    pub deleted: bool,
}

impl Change {
    fn decode(collection: &Arc<str>, key: &[u8], value: &[u8]) -> Result<Self> {
        let read = || {
            let (seq, id) = key.split_first_chunk()?;
            let (flags, rev) = value.split_first()?;
            let (generation, suffix) = rev.split_first_chunk()?;
            let rev = RevId::from_bytes(u32::from_be_bytes(*generation), suffix)?;
            let id = std::str::from_utf8(id).ok()?.to_owned();
            let seq = Seq(u64::from_be_bytes(*seq));
            Some(Change { collection: collection.clone(), id, seq, rev, deleted: flags & DELETED != 0 })
        };
        read().ok_or_else(|| Error::DamagedRow {
            what: format!("a row of the changes of {collection}, \"{}\"", key.escape_ascii()),
            why: "it does not read",
        })
    }

    /// Where a feed stands that has seen this change and none after it.
    pub fn position(&self) -> Position {
        Position { seq: self.seq, within: Some((self.collection.to_string(), self.id.clone())) }
    }
}

/// How far a feed has been read: a commit, and where not all of its changes have been seen, the last one that was.
///
/// As text, to be kept and read back: `12`, or `12-` and more. A collection's name and an id are all that it holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Position {
    seq: Seq,
    /// The collection and the id of the last change seen; `None`: all of the commit's.
    within: Option<(String, String)>,
}

impl Position {
    /// Before the first change.
    pub const START: Position = Position { seq: Seq::ZERO, within: None };

    /// The commit of the last change seen.
    pub fn seq(&self) -> Seq {
        self.seq
    }
}

impl From<Seq> for Position {
    /// After all changes of commits up to `seq`.
    fn from(seq: Seq) -> Self {
        Position { seq, within: None }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.seq)?;
        if let Some((collection, id)) = &self.within {
            for text in [collection, id] {
                f.write_str("-")?;
                text.bytes().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            }
        }
        Ok(())
    }
}

impl FromStr for Position {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let hex = |text: &str| {
            let (pairs, rest) = text.as_bytes().as_chunks::<2>();
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let byte = |pair: &[u8; 2]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
            let bytes = rest.is_empty().then(|| pairs.iter().map(byte).collect::<Option<Vec<u8>>>())??;
            String::from_utf8(bytes).ok()
        };
        let parse = || {
            let mut parts = text.splitn(3, '-');
            let seq = parts.next().filter(|seq| seq.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()?;
            let within = match (parts.next(), parts.next()) {
                (None, _) => None,
                (Some(collection), Some(id)) => Some((hex(collection)?, hex(id)?)),
                (Some(_), None) => return None,
            };
            Some(Position { seq: Seq(seq), within })
        };
        parse().ok_or_else(|| Error::BadPosition { text: text.chars().take(80).collect() })
    }
}

impl CollectionAt {
    /// The documents that were changed after `since`, up to this moment, each at its last change.
    pub fn changes(&self, since: impl Into<Position>) -> Changes {
        let feed = Feed::Collection(self.name.clone());
        Changes { feed, moment: Moment::Fixed(self.clone()), pages: Pages::new(since.into(), Direction::Forward) }
    }

    /// The same from the newest change back to the first.
    pub fn changes_backward(&self) -> Changes {
        let feed = Feed::Collection(self.name.clone());
        let newest = Position::from(self.seq());
        Changes { feed, moment: Moment::Fixed(self.clone()), pages: Pages::new(newest, Direction::Backward) }
    }
}

impl Collection {
    /// The documents that were changed after `since`, each at its last change, up to now. It ends there;
    /// [`Collection::follow`] goes on.
    pub fn changes(&self, since: impl Into<Position>) -> Result<Changes> {
        Ok(self.at(At::Now)?.changes(since))
    }

    /// The changes after `since`, and then those to come.
    pub fn follow(&self, since: impl Into<Position>) -> Follow {
        Follow::new(self.store().clone(), Feed::Collection(Arc::from(self.name())), since.into())
    }
}

impl Store {
    /// The documents of all collections that were changed after `since`, in the order of their commits, each at
    /// its last change, up to now.
    ///
    /// Documents of collections that have been dropped since are not among them.
    pub fn changes(&self, since: impl Into<Position>) -> Result<Changes> {
        let snapshot: Arc<dyn Snapshot> = self.snapshot(At::Now)?.into();
        let moment = Moment::OfStore(self.clone(), snapshot);
        Ok(Changes { feed: Feed::Store, moment, pages: Pages::new(since.into(), Direction::Forward) })
    }

    /// The changes of all collections after `since`, and then those to come.
    pub fn follow(&self, since: impl Into<Position>) -> Follow {
        Follow::new(self.clone(), Feed::Store, since.into())
    }
}

/// What a feed is of.
#[derive(Clone)]
enum Feed {
    Collection(Arc<str>),
    Store,
}

enum Moment {
    Fixed(CollectionAt),
    OfStore(Store, Arc<dyn Snapshot>),
}

/// Changes up to one moment. It ends after its first error.
pub struct Changes {
    feed: Feed,
    moment: Moment,
    pages: Pages,
}

impl Changes {
    /// Where the feed stands: behind the changes that it has answered.
    pub fn position(&self) -> &Position {
        &self.pages.position
    }
}

impl Iterator for Changes {
    type Item = Result<Change>;

    fn next(&mut self) -> Option<Self::Item> {
        let Changes { feed, moment, pages } = self;
        pages.next(|position, direction| match (moment, feed) {
            (Moment::Fixed(collection), Feed::Collection(name)) => match &collection.entry {
                Some(entry) => page(&*collection.snapshot, name, entry, position, direction, CHANGES_PAGE),
                None => Ok(Page::default()),
            },
            (Moment::Fixed(collection), Feed::Store) => Ok(Page { end: Some(collection.seq()), ..Page::default() }),
            (Moment::OfStore(store, snapshot), _) => page_of_store(store, &**snapshot, position),
        })
    }
}

/// Changes as they come: first those there are, then those to come. As an iterator it waits, and never
/// ends but after an error.
pub struct Follow {
    store: Store,
    feed: Feed,
    pages: Pages,
    /// Everything up to this commit has been looked at.
    seen: Seq,
}

impl Follow {
    fn new(store: Store, feed: Feed, since: Position) -> Self {
        Follow { store, feed, pages: Pages::new(since, Direction::Forward), seen: Seq::ZERO }
    }

    /// Where the feed stands: behind the changes that it has answered. A new feed from here goes on.
    pub fn position(&self) -> &Position {
        &self.pages.position
    }

    /// The next change if there is one; `None` where the feed has caught up.
    pub fn try_next(&mut self) -> Result<Option<Change>> {
        let Follow { store, feed, pages, seen } = self;
        pages.ended = false;
        let next = pages.next(|position, direction| {
            let snapshot = store.snapshot(At::Now)?;
            *seen = snapshot.seq();
            match feed {
                Feed::Store => page_of_store(store, &*snapshot, position),
                Feed::Collection(name) => match store.slot(name).entry(&*snapshot)? {
                    Some(entry) => page(&*snapshot, name, &entry, position, direction, CHANGES_PAGE),
                    None => Ok(Page { end: Some(snapshot.seq()), ..Page::default() }),
                },
            }
        });
        next.transpose()
    }

    /// The next change, waiting for it at most `timeout`; `None` where none came.
    pub fn next_timeout(&mut self, timeout: Duration) -> Result<Option<Change>> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            if let Some(change) = self.try_next()? {
                return Ok(Some(change));
            }
            let left = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(None);
            }
            self.store.engine().wait_beyond(self.seen, left);
        }
    }

    /// After [`Follow::try_next`] answered `None`: whether there may be changes again; if not, `waker` is
    /// woken when there may be.
    pub fn ready(&self, waker: &std::task::Waker) -> bool {
        self.store.engine().wake_beyond(self.seen, waker)
    }
}

impl Iterator for Follow {
    type Item = Result<Change>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_timeout(Duration::MAX).transpose()
    }
}

/// Some changes, and up to which commit there are no others.
#[derive(Default)]
struct Page {
    changes: Vec<Change>,
    /// The feed has caught up with this commit; `None`: there may be more.
    end: Option<Seq>,
}

/// A feed read in pages, so that no snapshot is held between them.
struct Pages {
    position: Position,
    direction: Direction,
    page: VecDeque<Change>,
    /// Where the feed stands when the page is used up, if there is nothing behind it.
    end: Option<Seq>,
    ended: bool,
}

impl Pages {
    fn new(position: Position, direction: Direction) -> Self {
        Pages { position, direction, page: VecDeque::new(), end: None, ended: false }
    }

    fn next(&mut self, read: impl FnOnce(&Position, Direction) -> Result<Page>) -> Option<Result<Change>> {
        if self.page.is_empty() && !self.ended {
            match read(&self.position, self.direction) {
                Ok(page) => {
                    self.page = page.changes.into();
                    self.end = page.end;
                    if let (true, Direction::Forward, Some(end)) = (self.page.is_empty(), self.direction, page.end) {
                        self.position = Position::from(end);
                    }
                }
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        let Some(change) = self.page.pop_front() else {
            self.ended = true;
            return None;
        };
        self.position = change.position();
        if self.page.is_empty()
            && let Some(end) = self.end.take()
        {
            if self.direction == Direction::Forward {
                self.position = Position::from(end);
            }
            self.ended = true;
        }
        Some(Ok(change))
    }
}

/// The changes of a collection behind a position.
fn page(
    snapshot: &dyn Snapshot,
    name: &Arc<str>,
    entry: &CollectionEntry,
    position: &Position,
    direction: Direction,
    limit: usize,
) -> Result<Page> {
    let range = match direction {
        Direction::Forward => KeyRange { start: behind(position, name), end: Bound::Unbounded },
        Direction::Backward => match &position.within {
            Some((_, id)) => KeyRange { start: Bound::Unbounded, end: Bound::Excluded(change_key(position.seq, id)) },
            None => KeyRange { start: Bound::Unbounded, end: behind_all_of(position.seq) },
        },
    };
    let mut changes = Vec::new();
    for row in snapshot.range(entry.changes, &range, direction).take(limit) {
        let row = row?;
        changes.push(Change::decode(name, &row.key, &row.value)?);
    }
    let end = (changes.len() < limit).then(|| snapshot.seq());
    Ok(Page { changes, end })
}

/// Where the keys of a collection's changes begin that lie behind a position.
fn behind(position: &Position, name: &str) -> Bound<Vec<u8>> {
    match &position.within {
        Some((collection, id)) if collection == name => Bound::Excluded(change_key(position.seq, id)),
        // Of one commit, the collections come in the order of their names.
        Some((collection, _)) if collection.as_str() < name => Bound::Included(change_key(position.seq, "")),
        _ => match behind_all_of(position.seq) {
            Bound::Excluded(key) => Bound::Included(key),
            // Behind the last commit that can be, there is nothing.
            _ => Bound::Excluded(vec![0xff; 8 + super::limits::DOCUMENT_ID_BYTES_MAX]),
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

/// The changes of all collections behind a position, merged. A page holds as many changes at least as
/// collections have some, so that the look at each of them is paid by a change.
fn page_of_store(store: &Store, snapshot: &dyn Snapshot, position: &Position) -> Result<Page> {
    let mut sources = Vec::new();
    for name in changed_collections(store, snapshot, position)? {
        if let Some(entry) = store.slot(&name).entry(snapshot)? {
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
    Ok(Page { changes, end })
}

/// The names of the collections that may have changes behind a position, in order.
fn changed_collections(store: &Store, snapshot: &dyn Snapshot, position: &Position) -> Result<Vec<Arc<str>>> {
    // The position's own commit may have more.
    let since = if position.within.is_some() { Seq(position.seq.0.saturating_sub(1)) } else { position.seq };
    if let Some(names) = store.recent().since(since, snapshot.seq()) {
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

/// The collections that the newest commits wrote, so that a feed of the store that is up to date need not
/// look at every collection.
#[derive(Default)]
pub(super) struct RecentCommits {
    commits: Mutex<BTreeMap<Seq, Vec<Arc<str>>>>,
}

impl RecentCommits {
    pub(super) fn note(&self, seq: Seq, collections: impl Iterator<Item = Arc<str>>) {
        let mut commits = self.commits.lock();
        commits.insert(seq, collections.collect());
        if commits.len() > RECENT_COMMITS_MAX {
            commits.pop_first();
        }
    }

    /// The collections that commits after `since` up to `until` wrote; `None` where it is not known of all of them:
    /// they are too old, or others made them.
    fn since(&self, since: Seq, until: Seq) -> Option<Vec<Arc<str>>> {
        if since >= until {
            return Some(Vec::new());
        }
        let commits = self.commits.lock();
        let known = commits.range((Bound::Excluded(since), Bound::Included(until)));
        let mut count = 0;
        let names: BTreeSet<_> = known.inspect(|_| count += 1).flat_map(|(_, names)| names).cloned().collect();
        (count == until.0 - since.0).then(|| names.into_iter().collect())
    }
}
