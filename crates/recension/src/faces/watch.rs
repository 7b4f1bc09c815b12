//! A subscription to a query: the documents that it finds, then documents that enter, change in, and leave its result.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::engine::Seq;
use crate::faces::changes::Follow;
use crate::faces::collection::Collection;
use crate::kernel::changes::filter::ChangeFilter;
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::limits::WATCHED_MAX;
use recension_values::model::Document;
use recension_values::query::Query;

/// A change of a query's result.
#[derive(Clone, PartialEq, Debug)]
pub enum ResultChange {
    /// The document has entered the result.
    Entered(Document<'static>),
    /// The document is in the result, and has changed.
    Changed(Document<'static>),
    /// The document has left the result: its id, and the commit that changed it.
    Left(String, Seq),
}

/// A query's result as it changes: [`Collection::watch`].
pub struct Watch {
    collection: Collection,
    filter: ChangeFilter,
    follow: Follow,
    within: BTreeSet<String>,
}

impl Collection {
    /// The documents that a query finds now, and the changes of this result. Order, limit and the like of the query
    /// have no effect: the result is a set. It has at most a hundred thousand documents, whose ids are held in memory.
    ///
    /// ```
    /// # fn main() -> recension::Result<()> {
    /// use recension::ResultChange;
    /// use recension::{Query, ValueRange};
    ///
    /// let menu = recension::open("memory:")?.collection("menu")?;
    /// menu.put("pizza", r#"{"price": 9}"#)?;
    /// let (cheap, mut changes) = menu.watch(&Query::new().matching("price", ValueRange::below(10)))?;
    /// assert_eq!(cheap.len(), 1);
    /// menu.put("pizza", r#"{"price": 11}"#)?;
    /// assert!(matches!(changes.try_next()?, Some(ResultChange::Left(id, _)) if id == "pizza"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::BadQuery`] for a query with a limit or a page, and for a result that is too large.
    pub fn watch(&self, query: &Query) -> Result<(Vec<Document<'static>>, Watch)> {
        if query.limit.is_some() || query.skip > 0 || query.after.is_some() {
            return Err(Error::BadQuery { why: "a result that is watched has no limit, no skip and no cursor" });
        }
        let mut query = query.clone();
        query.sort.clear();
        query.select.clear();
        let filter = ChangeFilter::matching(query.clone())?;
        let now = self.at(At::Now)?;
        let mut found = Vec::new();
        for document in now.find(&query)? {
            found.push(document?.into_owned());
            check_size(found.len())?;
        }
        let within = found.iter().map(|document| document.id.clone().into_owned()).collect();
        let follow = self.follow(now.seq());
        Ok((found, Watch { collection: self.clone(), filter, follow, within }))
    }
}

fn check_size(size: usize) -> Result<()> {
    if size <= WATCHED_MAX {
        return Ok(());
    }
    Err(Error::BadQuery { why: "a result that is watched has at most a hundred thousand documents" })
}

impl Watch {
    /// The next change of the result, if there is one; `None` if it has caught up. A document that changed several
    /// times meanwhile comes once.
    pub fn try_next(&mut self) -> Result<Option<ResultChange>> {
        while let Some(change) = self.follow.try_next()? {
            if let Some(change) = self.judged(&change.id, change.seq)? {
                return Ok(Some(change));
            }
        }
        Ok(None)
    }

    /// The next change of the result, waiting at most `timeout` for it.
    pub fn next_timeout(&mut self, timeout: Duration) -> Result<Option<ResultChange>> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            let left = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
            let Some(change) = self.follow.next_timeout(left)? else { return Ok(None) };
            if let Some(change) = self.judged(&change.id, change.seq)? {
                return Ok(Some(change));
            }
        }
    }

    /// After [`Watch::try_next`] answered `None`: whether there may be changes again; if not, `waker` is woken when
    /// there may be.
    pub fn ready(&self, waker: &std::task::Waker) -> bool {
        self.follow.ready(waker)
    }

    /// The effect that a change of a document has on the result.
    fn judged(&mut self, id: &str, seq: Seq) -> Result<Option<ResultChange>> {
        let now = self.collection.at(At::Now)?;
        // A later change of the document comes by itself, and then corrects the result.
        if now.written_at(id)? != Some(seq) {
            return Ok(None);
        }
        let is_in = match now.get(id)? {
            Some(document) if self.filter.lets_through(&document) => Some(document.into_owned()),
            _ => None,
        };
        match is_in {
            Some(document) if self.within.contains(id) => Ok(Some(ResultChange::Changed(document))),
            Some(document) => {
                check_size(self.within.len() + 1)?;
                self.within.insert(id.to_owned());
                Ok(Some(ResultChange::Entered(document)))
            }
            None if self.within.remove(id) => Ok(Some(ResultChange::Left(id.to_owned(), seq))),
            None => Ok(None),
        }
    }
}
