//! The changes of a collection or of a whole store, in the order of their commits: every document once,
//! at the commit that wrote it last. A feed is a position and nothing else: a reader that falls behind
//! holds nothing back and costs nothing.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::catalogue::{CATALOGUE, counts_key};
use super::change_filter::{ChangeFilter, Filtering};
use super::change_pages::{Page, Pages, Step, changed_collections, page, page_of_store};
use super::limits::CHANGES_PAGE;
use super::{At, Collection, CollectionAt, Error, Result, RevId, Store};
use crate::engine::{Direction, Seq, Snapshot};

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

/// Whether a row, by its value, is that of a deletion.
pub(super) fn is_deletion(value: &[u8]) -> bool {
    value.first().is_some_and(|flags| flags & DELETED != 0)
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
    pub(super) fn of(collection: &Arc<str>, id: &str, seq: Seq, rev: RevId, deleted: bool) -> Self {
        Change { collection: collection.clone(), id: id.to_owned(), seq, rev, deleted }
    }

    pub(super) fn decode(collection: &Arc<str>, key: &[u8], value: &[u8]) -> Result<Self> {
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
    pub(super) seq: Seq,
    /// The collection and the id of the last change seen; `None`: all of the commit's.
    pub(super) within: Option<(String, String)>,
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
        Changes {
            feed,
            moment: Moment::Fixed(self.clone()),
            pages: Pages::new(since.into(), Direction::Forward),
            filter: None,
        }
    }

    /// The same from the newest change back to the first.
    pub fn changes_backward(&self) -> Changes {
        let feed = Feed::Collection(self.name.clone());
        let newest = Position::from(self.seq());
        Changes {
            feed,
            moment: Moment::Fixed(self.clone()),
            pages: Pages::new(newest, Direction::Backward),
            filter: None,
        }
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
        let snapshot = self.snapshot(At::Now)?;
        let moment = Moment::OfStore(self.clone(), snapshot);
        Ok(Changes { feed: Feed::Store, moment, pages: Pages::new(since.into(), Direction::Forward), filter: None })
    }

    /// The collections of which documents were changed after `since`, up to a moment, each with the commit of its last
    /// change. Where the commits between are few and of this process, no other collection is looked at.
    pub fn collections_changed(&self, since: Seq, until: At) -> Result<Vec<(Arc<str>, Seq)>> {
        let snapshot = self.snapshot(until)?;
        let mut changed = Vec::new();
        for name in changed_collections(self, &*snapshot, &Position::from(since))? {
            let counts = snapshot.get(CATALOGUE, &counts_key(&name))?;
            changed.extend(counts.map(|row| (name, row.seq)).filter(|(_, seq)| *seq > since));
        }
        Ok(changed)
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
    filter: Option<Filtering>,
}

impl Changes {
    /// Where the feed stands: behind the changes that it has answered or left out.
    pub fn position(&self) -> &Position {
        &self.pages.position
    }

    /// Only the changes of some documents. A filter that there is already goes on to hold.
    #[must_use]
    pub fn filtered(mut self, filter: &ChangeFilter) -> Self {
        self.filter = Some(Filtering::and(self.filter, filter));
        self
    }
}

impl Iterator for Changes {
    type Item = Result<Change>;

    fn next(&mut self) -> Option<Self::Item> {
        let Changes { feed, moment, pages, filter } = self;
        loop {
            let step = pages.step(|position, direction| match (&*moment, &*feed, &mut *filter) {
                (Moment::Fixed(collection), Feed::Collection(_), Some(filter)) => {
                    filter.page(collection, position, direction)
                }
                (Moment::Fixed(collection), Feed::Collection(name), None) => match &collection.entry {
                    Some(entry) => page(&*collection.snapshot, name, entry, position, direction, CHANGES_PAGE),
                    None => Ok(Page::default()),
                },
                (Moment::Fixed(collection), Feed::Store, _) => {
                    Ok(Page { end: Some(collection.seq()), ..Page::default() })
                }
                (Moment::OfStore(store, snapshot), _, filter) => {
                    page_of_store(store, &**snapshot, position, filter.as_ref())
                }
            });
            match step {
                Ok(Step::Passed) => {}
                Ok(Step::Change(change)) => return Some(Ok(change)),
                Ok(Step::End) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
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
    filter: Option<Filtering>,
}

impl Follow {
    fn new(store: Store, feed: Feed, since: Position) -> Self {
        Follow { store, feed, pages: Pages::new(since, Direction::Forward), seen: Seq::ZERO, filter: None }
    }

    /// Where the feed stands: behind the changes that it has answered or left out. A new feed from here goes on.
    pub fn position(&self) -> &Position {
        &self.pages.position
    }

    /// Only the changes of some documents. A filter that there is already goes on to hold.
    #[must_use]
    pub fn filtered(mut self, filter: &ChangeFilter) -> Self {
        self.filter = Some(Filtering::and(self.filter, filter));
        self
    }

    /// One step: with a filter there may be many that answer nothing.
    pub(super) fn step(&mut self) -> Result<Step> {
        let Follow { store, feed, pages, seen, filter } = self;
        pages.ended = false;
        pages.step(|position, direction| {
            let snapshot = store.snapshot(At::Now)?;
            *seen = snapshot.seq();
            let name = match feed {
                Feed::Store => return page_of_store(store, &*snapshot, position, filter.as_ref()),
                Feed::Collection(name) => name,
            };
            match (store.slot(name).entry(&*snapshot)?, filter) {
                (None, _) => Ok(Page { end: Some(snapshot.seq()), ..Page::default() }),
                (Some(entry), None) => page(&*snapshot, name, &entry, position, direction, CHANGES_PAGE),
                (Some(entry), Some(filter)) => {
                    let name = name.clone();
                    let at = CollectionAt { name, snapshot, entry: Some(entry), in_transaction: false };
                    filter.page(&at, position, direction)
                }
            }
        })
    }

    /// The next change if there is one; `None` where the feed has caught up.
    pub fn try_next(&mut self) -> Result<Option<Change>> {
        loop {
            match self.step()? {
                Step::Passed => {}
                Step::Change(change) => return Ok(Some(change)),
                Step::End => return Ok(None),
            }
        }
    }

    /// The next change, waiting for it at most `timeout`; `None` where none came.
    pub fn next_timeout(&mut self, timeout: Duration) -> Result<Option<Change>> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            let step = self.step()?;
            if let Step::Change(change) = step {
                return Ok(Some(change));
            }
            let left = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(None);
            }
            if matches!(step, Step::Passed) {
                continue;
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
