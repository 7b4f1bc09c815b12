//! Filters of feeds: by ids, by the conditions of a query, by a function. If a feed lags far behind, its changes are
//! found through an index, or by the ids of the filter. Otherwise every change is read and tested. Both ways answer the
//! same changes.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::engine::{Direction, KeyRange, Snapshot, TreeId};
use crate::kernel::changes::change::{Change, Position, change_key, is_deletion};
use crate::kernel::changes::pages::{Page, keys_behind, page};
use crate::kernel::query::prepared::PreparedQuery;
use crate::kernel::read::reader::{CollectionAt, read_document};
use crate::kernel::rows::catalogue::CollectionEntry;
use crate::kernel::rows::slot::Slots;
use crate::kernel::rows::stored;
use recension_values::error::{Error, Result};
use recension_values::limits::{CHANGES_BY_INDEX_MAX, CHANGES_FILTERED_PAGE, CHANGES_IDS_MAX};
use recension_values::model::Document;
use recension_values::query::Query;
use recension_values::revid::RevId;

/// Chooses the documents of a feed of changes. A change is in the feed if its document, as it is when the feed is read,
/// passes the filter. A document that passed once and does not any more is left out.
///
/// A deletion is tested by its body, which mostly is `{}`: it meets no condition but [`Query::without`]. To see the
/// deletions of documents that once met a condition, read the whole feed.
///
/// ```
/// use recension::{ChangeFilter, Query, Store, ValueRange};
/// # fn main() -> recension::Result<()> {
/// let menu = Store::memory()?.collection("menu")?;
/// menu.put("pizza", r#"{"kind":"dish"}"#)?;
/// menu.put("wine", r#"{"kind":"drink"}"#)?;
/// let dishes = ChangeFilter::matching(Query::new().matching("kind", ValueRange::equal("dish")))?;
/// let changes = menu.changes(recension::engine::Seq::ZERO)?.filtered(&dishes);
/// let ids: Vec<String> = changes.map(|change| Ok(change?.id)).collect::<recension::Result<_>>()?;
/// assert_eq!(ids, ["pizza"]);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ChangeFilter(Arc<Inner>);

type Test = Arc<dyn Fn(&Document<'_>) -> bool + Send + Sync>;

#[derive(Clone, Default)]
struct Inner {
    ids: Option<BTreeSet<String>>,
    query: Option<(Query, Arc<PreparedQuery>)>,
    test: Option<Test>,
}

impl fmt::Debug for ChangeFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeFilter")
            .field("ids", &self.0.ids)
            .field("query", &self.0.query.as_ref().map(|(query, _)| query))
            .field("test", &self.0.test.is_some())
            .finish()
    }
}

impl ChangeFilter {
    /// The documents that meet the conditions of a query. [`Query::through`] and [`Query::without_indexes`] apply.
    ///
    /// # Errors
    /// [`Error::BadQuery`] if the query has an order, a limit, a skip, a cursor or a selection: a feed has an order and
    /// a position of its own.
    pub fn matching(query: Query) -> Result<Self> {
        query.check()?;
        let page = query.limit.is_some() || query.skip > 0 || query.after.is_some();
        if page || !query.sort.is_empty() || !query.select.is_empty() {
            return Err(Error::BadQuery {
                why: "a feed of changes takes conditions only: no order, no page, no selection",
            });
        }
        let asked = Arc::new(PreparedQuery::of(&query, true));
        Ok(ChangeFilter(Arc::new(Inner { query: Some((query, asked)), ..Inner::default() })))
    }

    /// The documents of these ids, at most 100,000 of them.
    ///
    /// # Errors
    /// [`Error::BadQuery`] if there are more.
    pub fn ids<I: Into<String>>(ids: impl IntoIterator<Item = I>) -> Result<Self> {
        let ids: BTreeSet<String> = ids.into_iter().take(CHANGES_IDS_MAX + 1).map(Into::into).collect();
        if ids.len() > CHANGES_IDS_MAX {
            return Err(Error::BadQuery { why: "a feed is of at most 100,000 ids; read the whole feed" });
        }
        Ok(ChangeFilter(Arc::new(Inner { ids: Some(ids), ..Inner::default() })))
    }

    /// Narrows the filter to the documents for which `test` answers true. `test` is asked last.
    #[must_use]
    pub fn testing(self, test: impl Fn(&Document<'_>) -> bool + Send + Sync + 'static) -> Self {
        let before = self.0.test.clone();
        let both =
            move |document: &Document<'_>| before.as_ref().is_none_or(|before| before(document)) && test(document);
        ChangeFilter(Arc::new(Inner { test: Some(Arc::new(both)), ..(*self.0).clone() }))
    }

    /// The documents that both filters let through.
    #[must_use]
    pub fn and(self, other: &ChangeFilter) -> Self {
        let other = Arc::clone(&other.0);
        let mut both = self;
        if let Some(ids) = &other.ids {
            let mut inner = (*both.0).clone();
            inner.ids = Some(inner.ids.map_or_else(|| ids.clone(), |own| own.intersection(ids).cloned().collect()));
            both = ChangeFilter(Arc::new(inner));
        }
        if let Some((query, asked)) = other.query.clone() {
            let mut inner = (*both.0).clone();
            if inner.query.is_none() {
                inner.query = Some((query, asked));
                both = ChangeFilter(Arc::new(inner));
            } else {
                both = both.testing(move |document| asked.is_met_by(document));
            }
        }
        match other.test.clone() {
            Some(test) => both.testing(move |document| test(document)),
            None => both,
        }
    }

    /// Whether a changed document passes the filter.
    fn admits(&self, snapshot: &dyn Snapshot, documents: TreeId, change: &Change) -> Result<bool> {
        let Inner { ids, query, test } = &*self.0;
        if ids.as_ref().is_some_and(|ids| !ids.contains(&change.id)) {
            return Ok(false);
        }
        if query.is_none() && test.is_none() {
            return Ok(true);
        }
        let document = read_document(snapshot, documents, Cow::Borrowed(&change.id))?;
        Ok(document.is_some_and(|document| self.lets_through(&document)))
    }

    /// Whether it asks what documents say, and not for their ids alone.
    pub fn asks_for_contents(&self) -> bool {
        self.0.query.is_some() || self.0.test.is_some()
    }

    /// The leaves of a document that pass, the winner or not: what a filtered replication sends. A feed tests winners
    /// alone.
    pub fn leaves(&self, at: &CollectionAt, id: &str) -> Result<Vec<RevId>> {
        if self.0.ids.as_ref().is_some_and(|ids| !ids.contains(id)) {
            return Ok(Vec::new());
        }
        at.leaves_passing(id, |document| Ok::<_, Error>(self.lets_through(document)))
    }

    /// Whether a document passes, whatever its collection and its change.
    pub(crate) fn lets_through(&self, document: &Document<'_>) -> bool {
        let Inner { query, test, .. } = &*self.0;
        query.as_ref().is_none_or(|(_, asked)| asked.is_met_by(document))
            && test.as_ref().is_none_or(|test| test(document))
    }
}

/// A feed's filter, and whether the feed may look for a way around reading every change.
#[derive(Clone)]
pub(crate) struct Filtering {
    filter: ChangeFilter,
    around: bool,
}

impl Filtering {
    pub(crate) fn new(filter: &ChangeFilter) -> Self {
        Filtering { filter: filter.clone(), around: true }
    }

    /// The filter that lets through what both `before` and `filter` let through.
    pub(crate) fn and(before: Option<Filtering>, filter: &ChangeFilter) -> Self {
        match before {
            Some(before) => Filtering::new(&before.filter.and(filter)),
            None => Filtering::new(filter),
        }
    }

    /// Some changes of a collection behind a position.
    pub(crate) fn page(&mut self, at: &CollectionAt, position: &Position, direction: Direction) -> Result<Page> {
        let Some(entry) = &at.entry else { return Ok(Page::default()) };
        let snapshot = &*at.snapshot;
        let mut page = page(snapshot, &at.name, entry, position, direction, CHANGES_FILTERED_PAGE)?;
        if page.end.is_some() {
            self.around = true;
        } else if self.around {
            let keys = keys_behind(position, &at.name, direction);
            if let Some(mut changes) = self.filter.around(at, entry, &keys)? {
                changes.sort_unstable_by(|a, b| (a.seq, &a.id).cmp(&(b.seq, &b.id)));
                if direction == Direction::Backward {
                    changes.reverse();
                }
                return Ok(Page { changes, end: Some(at.seq()), passed: None });
            }
            self.around = false;
        }
        let filter = &self.filter;
        page.keep(|change| filter.admits(snapshot, entry.documents, change))?;
        Ok(page)
    }

    /// Narrows a page of a store's changes.
    pub(crate) fn of_store(&self, slots: &Slots, snapshot: &dyn Snapshot, mut page: Page) -> Result<Page> {
        page.keep(|change| match slots.of(&change.collection).entry(snapshot)? {
            Some(entry) => self.filter.admits(snapshot, entry.documents, change),
            None => Ok(false),
        })?;
        Ok(page)
    }
}

impl ChangeFilter {
    /// All changes within `keys` that pass, in any order, without reading every change; `None` if there is no such way,
    /// or it would cost more.
    fn around(&self, at: &CollectionAt, entry: &CollectionEntry, keys: &KeyRange) -> Result<Option<Vec<Change>>> {
        match (&self.0.ids, &self.0.query) {
            (Some(ids), _) => self.by_ids(at, entry, keys, ids).map(Some),
            (None, Some((query, _))) => self.by_index(at, entry, keys, query),
            (None, None) => Ok(None),
        }
    }

    fn by_ids(
        &self,
        at: &CollectionAt,
        entry: &CollectionEntry,
        keys: &KeyRange,
        ids: &BTreeSet<String>,
    ) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for id in ids {
            let Some(row) = at.snapshot.get(entry.documents, id.as_bytes())? else { continue };
            if !keys.contains(&change_key(row.seq, id)) {
                continue;
            }
            let head = stored::decode(&row.bytes, id.as_bytes())?;
            let change = Change::of(&at.name, id, row.seq, head.rev, head.deleted);
            if self.admits(&*at.snapshot, entry.documents, &change)? {
                changes.push(change);
            }
        }
        Ok(changes)
    }

    fn by_index(
        &self,
        at: &CollectionAt,
        entry: &CollectionEntry,
        keys: &KeyRange,
        query: &Query,
    ) -> Result<Option<Vec<Change>>> {
        let found = at.find(&query.clone().limit(CHANGES_BY_INDEX_MAX + 1))?;
        let plan = found.plan();
        if plan.index.is_none() && plan.bounds.is_empty() && plan.union.is_empty() {
            return Ok(None);
        }
        let mut changes = Vec::new();
        for (number, document) in found.enumerate() {
            let document = document?;
            if number == CHANGES_BY_INDEX_MAX {
                return Ok(None);
            }
            let test = self.0.test.as_ref();
            if keys.contains(&change_key(document.seq, &document.id)) && test.is_none_or(|test| test(&document)) {
                changes.push(Change::of(&at.name, &document.id, document.seq, document.rev, false));
            }
        }
        // Deletions are in no index. Their rows among the changes are marked as deletions, so other documents need not
        // be read.
        if at.counts()?.deleted > 0 {
            for row in at.snapshot.range(entry.changes, keys, Direction::Forward) {
                let row = row?;
                if !is_deletion(&row.value) {
                    continue;
                }
                let change = Change::decode(&at.name, &row.key, &row.value)?;
                if self.admits(&*at.snapshot, entry.documents, &change)? {
                    changes.push(change);
                }
                if changes.len() > CHANGES_BY_INDEX_MAX {
                    return Ok(None);
                }
            }
        }
        Ok(Some(changes))
    }
}
