//! The changes of a collection or of a whole store, in the order of their commits. Each document comes once, at the
//! commit that wrote it last. A feed is a position and nothing else: a reader that lags behind holds no snapshot and no
//! memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::{Direction, Seq, Snapshot};
use crate::faces::collection::Collection;
use crate::faces::store::Store;
use crate::kernel::changes::change::{Change, Position};
use crate::kernel::changes::filter::{ChangeFilter, Filtering};
use crate::kernel::changes::pages::{Page, Pages, Step, changed_collections, page, page_of_store};
use crate::kernel::read::reader::{CollectionAt, afresh};
use crate::kernel::rows::catalogue::{CATALOGUE, counts_key};
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::limits::CHANGES_PAGE;

impl CollectionAt {
    /// The documents that were changed after `since` up to this commit, each at its last change.
    pub fn changes(&self, since: impl Into<Position>) -> Changes {
        let feed = Feed::Collection(self.name.clone());
        Changes {
            feed,
            moment: Moment::Fixed(self.clone()),
            pages: Pages::new(since.into(), Direction::Forward),
            filter: None,
        }
    }

    /// The same changes, the newest first.
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
    /// The documents that were changed after `since` up to now, each at its last change. [`Collection::follow`] goes on
    /// with later changes.
    ///
    /// # Errors
    /// [`Error::PositionAhead`]: `since` is beyond the newest commit.
    pub fn changes(&self, since: impl Into<Position>) -> Result<Changes> {
        let since = since.into();
        let now = self.at(At::Now)?;
        if since.seq() <= now.seq() {
            return Ok(now.changes(since));
        }
        self.store().snapshot_behind(&since)?;
        Ok(self.at(At::Now)?.changes(since))
    }

    /// The changes after `since`, then those to come.
    pub fn follow(&self, since: impl Into<Position>) -> Follow {
        Follow::new(self.store().clone(), Feed::Collection(Arc::from(self.name())), since.into())
    }
}

impl Store {
    /// The documents of all collections that were changed after `since`, in the order of their commits, each at
    /// its last change, up to now.
    ///
    /// Documents of collections that have been dropped are left out.
    ///
    /// # Errors
    /// [`Error::PositionAhead`]: `since` is beyond the newest commit.
    pub fn changes(&self, since: impl Into<Position>) -> Result<Changes> {
        let since = since.into();
        let moment = Moment::OfStore(self.clone(), self.snapshot_behind(&since)?);
        Ok(Changes { feed: Feed::Store, moment, pages: Pages::new(since, Direction::Forward), filter: None })
    }

    /// A snapshot of now, for what was changed after a position, which is not beyond it.
    fn snapshot_behind(&self, since: &Position) -> Result<Arc<dyn Snapshot>> {
        let snapshot = self.snapshot(At::Now)?;
        if since.seq() <= snapshot.seq() {
            return Ok(snapshot);
        }
        // Another node of a shared log may be ahead of this one.
        let head = self.engine().refresh()?;
        if since.seq() > head {
            return Err(Error::PositionAhead { since: since.to_string(), head });
        }
        self.snapshot(At::Now)
    }

    /// The collections with changes after `since` up to a moment, each with the commit of its last change. If this
    /// process made the few commits in between, only the collections in them are looked at.
    pub fn collections_changed(&self, since: Seq, until: At) -> Result<Vec<(Arc<str>, Seq)>> {
        let snapshot = self.snapshot(until)?;
        let mut changed = Vec::new();
        for name in changed_collections(self.slots(), &*snapshot, &Position::from(since))? {
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

/// The scope of a feed.
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
    /// The position of the feed: behind the changes that it has answered or left out.
    pub fn position(&self) -> &Position {
        &self.pages.position
    }

    /// Narrows the feed to the documents that a filter lets through. A filter that was given before still applies.
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
                    Some(entry) => {
                        let snapshot = afresh(&collection.snapshot);
                        page(&*snapshot, name, entry, position, direction, CHANGES_PAGE)
                    }
                    None => Ok(Page::default()),
                },
                (Moment::Fixed(collection), Feed::Store, _) => {
                    Ok(Page { end: Some(collection.seq()), ..Page::default() })
                }
                (Moment::OfStore(store, snapshot), _, filter) => {
                    page_of_store(store.slots(), &**snapshot, position, filter.as_ref())
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

/// Changes as they come: those that exist first, then those to come. The iterator waits, and ends after an error only.
pub struct Follow {
    store: Store,
    feed: Feed,
    pages: Pages,
    /// All commits up to this one have been looked at.
    seen: Seq,
    filter: Option<Filtering>,
}

impl Follow {
    fn new(store: Store, feed: Feed, since: Position) -> Self {
        Follow { store, feed, pages: Pages::new(since, Direction::Forward), seen: Seq::ZERO, filter: None }
    }

    /// The position of the feed: behind the changes that it has answered or left out. A new feed from this position
    /// goes on here.
    pub fn position(&self) -> &Position {
        &self.pages.position
    }

    /// Narrows the feed to the documents that a filter lets through. A filter that was given before still applies.
    #[must_use]
    pub fn filtered(mut self, filter: &ChangeFilter) -> Self {
        self.filter = Some(Filtering::and(self.filter, filter));
        self
    }

    /// One step. With a filter, many steps may answer nothing.
    pub(crate) fn step(&mut self) -> Result<Step> {
        let Follow { store, feed, pages, seen, filter } = self;
        pages.ended = false;
        pages.step(|position, direction| {
            let snapshot = store.snapshot_behind(position)?;
            *seen = snapshot.seq();
            let name = match feed {
                Feed::Store => return page_of_store(store.slots(), &*snapshot, position, filter.as_ref()),
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

    /// The next change if there is one; `None` if the feed has caught up.
    pub fn try_next(&mut self) -> Result<Option<Change>> {
        loop {
            match self.step()? {
                Step::Passed => {}
                Step::Change(change) => return Ok(Some(change)),
                Step::End => return Ok(None),
            }
        }
    }

    /// The next change, waiting for it at most `timeout`; `None` if none came.
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
