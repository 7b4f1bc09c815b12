//! Restoring: the documents of a query, of a collection or of a whole store go back to their state at a moment. The
//! past is not changed: restored documents are new revisions, and can be restored back.

use std::collections::VecDeque;

use crate::engine::Seq;
use crate::faces::collection::Collection;
use crate::faces::diff::{CollectionDiff, DocumentDiff};
use crate::faces::store::Store;
use crate::faces::transaction::Transaction;
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::limits::{LOAD_BATCH_BYTES, LOAD_BATCH_DOCUMENTS};
use recension_values::model::Document;
use recension_values::query::Query;
use recension_values::write::{Expect, Write};

/// What a restoration did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Restored {
    /// Documents that have their former content again.
    pub restored: u64,
    /// Documents that did not exist then, and are deleted.
    pub deleted: u64,
    /// Number of commits. It is one if everything fitted into one commit (see
    /// [`limits`](recension_values::limits)); then others saw all of it or nothing. It is 0 if nothing was
    /// different.
    pub commits: u64,
}

impl Collection {
    /// Brings every document back to its state at a moment. Documents that have been made since are deleted. Indexes
    /// stay as they are now. The cost is that of the changes since.
    ///
    /// If others write meanwhile, their documents may or may not be restored: stop the writers, or look at
    /// [`Collection::diff_between`] afterwards.
    ///
    /// ```
    /// use recension::{At, Store};
    /// # fn main() -> recension::Result<()> {
    /// let menu = Store::memory()?.collection("menu")?;
    /// let good = menu.put("pizza", r#"{"price":9.50}"#)?;
    /// menu.put("pizza", r#"{"price":-1}"#)?;
    /// menu.put("slug", r#"{"price":0}"#)?;
    /// let restored = menu.restore_to(At::Seq(good.seq))?;
    /// assert_eq!((restored.restored, restored.deleted, restored.commits), (1, 1, 1));
    /// assert_eq!(menu.get("pizza")?.unwrap().body, r#"{"price":9.50}"#);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::BadMoment`] if the moment is before the first commit of the store, which nobody means: all documents
    /// would be deleted. [`Error::NotUnique`] if documents have exchanged values of a unique index, so that they cannot
    /// get them back one after the other. Earlier commits of the call stay: then the error is [`Error::Stopped`], and
    /// says how many documents they changed.
    pub fn restore_to(&self, at: At) -> Result<Restored> {
        let differences = self.diff_between(self.store().begun(at)?, At::Now)?;
        Restoring::new(self.store()).all(|restoring| {
            differences.into_iter().try_for_each(|difference| restoring.push(self.name(), difference?))
        })
    }

    /// Brings the documents that a query found at a moment back to their state then. Other documents are left alone,
    /// even if the query finds them now.
    ///
    /// # Errors
    /// As [`Collection::restore_to`].
    pub fn restore_matching(&self, query: &Query, at: At) -> Result<Restored> {
        let now = self.at(At::Now)?;
        let mut found = self.at(at)?.find(query)?;
        Restoring::new(self.store()).all(|restoring| {
            found.try_for_each(|document| {
                let before = document?;
                let (id, after) = (before.id.to_string(), now.get(&before.id)?.map(Document::into_owned));
                restoring.push(self.name(), DocumentDiff { id, before: Some(before), after })
            })
        })
    }
}

impl Store {
    /// Brings the documents of every collection back to their state at a moment. Collections that have been made since
    /// are emptied. Dropped ones come back, with their indexes. Other indexes stay as they are now.
    ///
    /// # Errors
    /// As [`Collection::restore_to`].
    pub fn restore_to(&self, at: At) -> Result<Restored> {
        let (then, now) = (self.begun(at)?, At::Seq(self.resolve(At::Now)?));
        let there: Vec<String> = self.collections(now)?.into_iter().map(|collection| collection.name).collect();
        // The differences are between two fixed commits: indexes that are made here do not change them.
        let differences: Vec<(String, CollectionDiff)> = self.diff_between(then, now)?;
        for dropped in self.collections(then)?.into_iter().filter(|collection| !there.contains(&collection.name)) {
            let collection = self.collection(&dropped.name)?;
            for index in dropped.indexes {
                collection.create_index(index.spec, |_| {})?;
            }
        }
        Restoring::new(self).all(|restoring| {
            differences.into_iter().try_for_each(|(name, differences)| {
                differences.into_iter().try_for_each(|difference| restoring.push(&name, difference?))
            })
        })
    }
}

impl Store {
    /// The commit of a moment. Before the first one, a store is not restored to.
    fn begun(&self, at: At) -> Result<At> {
        match self.resolve(at)? {
            Seq::ZERO => {
                let why = "it is before the first commit: restored to it, the store would have no documents";
                Err(Error::BadMoment { text: at.to_string(), why })
            }
            seq => Ok(At::Seq(seq)),
        }
    }
}

/// Differences that are being undone.
struct Restoring<'s> {
    store: &'s Store,
    /// Collections and writes. The longest waiting comes first.
    waiting: VecDeque<(String, Write)>,
    bytes: usize,
    done: Restored,
}

impl<'s> Restoring<'s> {
    fn new(store: &'s Store) -> Self {
        Restoring { store, waiting: VecDeque::new(), bytes: 0, done: Restored::default() }
    }

    /// Restores what `each` pushes.
    fn all(mut self, each: impl FnOnce(&mut Self) -> Result<()>) -> Result<Restored> {
        let ended = each(&mut self).and_then(|()| self.finish());
        let Restored { restored, deleted, .. } = self.done;
        ended.map(|()| self.done).map_err(|error| Error::stopped(None, restored + deleted, error))
    }

    fn push(&mut self, collection: &str, difference: DocumentDiff) -> Result<()> {
        let write = match (difference.before, difference.after) {
            (Some(before), Some(after)) if before.body == after.body && before.attachments == after.attachments => {
                return Ok(());
            }
            (Some(before), _) => {
                let mut write = Write::put(&difference.id, before.body.as_bytes())?.expecting(Expect::Anything);
                if !before.attachments.is_empty() {
                    let collection = self.store.collection(collection)?;
                    let then = collection.whichever_at(At::Seq(before.seq))?;
                    write.attachments = collection.restored(&then, &before.attachments, true)?;
                }
                write
            }
            (None, Some(after)) => Write::delete(&difference.id, &after.rev)?.expecting(Expect::Anything),
            (None, None) => return Ok(()),
        };
        if self.waiting.len() >= LOAD_BATCH_DOCUMENTS || self.bytes >= LOAD_BATCH_BYTES {
            // Writes that a unique index refuses wait for others to free their values, up to the size of one commit.
            if let Some(error) = self.commit()?
                && self.waiting.len() >= LOAD_BATCH_DOCUMENTS
            {
                return Err(error);
            }
        }
        self.bytes += write.size_bytes();
        self.waiting.push_back((collection.to_owned(), write));
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        while !self.waiting.is_empty() {
            let before = self.waiting.len();
            if let Some(error) = self.commit()?
                && self.waiting.len() == before
            {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Commits the waiting writes. A value of a unique index may still be held by a document that is restored later:
    /// such a write goes on waiting, and the first such error is answered.
    fn commit(&mut self) -> Result<Option<Error>> {
        let waiting = &self.waiting;
        let (Outcome { refused, error, deleted }, _) = self.store.transaction_with(None, |tx| attempt(tx, waiting))?;
        let written = (self.waiting.len() - refused.len()) as u64;
        if written > 0 {
            self.done.commits += 1;
            self.done.deleted += deleted;
            self.done.restored += written - deleted;
        }
        let mut at = 0;
        self.waiting.retain(|_| {
            at += 1;
            refused.binary_search(&(at - 1)).is_ok()
        });
        self.bytes = self.waiting.iter().map(|(_, write)| write.size_bytes()).sum();
        Ok(error)
    }
}

/// The outcome of an attempt at some writes.
#[derive(Default)]
struct Outcome {
    /// The numbers of the writes that a unique index refused, in order.
    refused: Vec<usize>,
    error: Option<Error>,
    deleted: u64,
}

fn attempt(tx: &Transaction, waiting: &VecDeque<(String, Write)>) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut left: Vec<usize> = (0..waiting.len()).collect();
    // Repeats until no write frees a value for another one.
    loop {
        let before = left.len();
        outcome.error = None;
        let mut refused = Vec::new();
        for at in left {
            let Some((collection, write)) = waiting.get(at) else { continue };
            let collection = tx.collection(collection)?;
            match collection.write(write.clone()) {
                Ok(written) if write.is_deletion() => {
                    outcome.deleted += 1;
                    // After a losing revision of a conflict was deleted, the next leaf becomes the winner.
                    while collection.get(&written.id)?.is_some() {
                        collection.write(write.clone())?;
                    }
                }
                Ok(_) => {}
                Err(error @ Error::NotUnique { .. }) => {
                    refused.push(at);
                    outcome.error.get_or_insert(error);
                }
                // Another writer deleted it first.
                Err(Error::NoSuchDocument { .. }) if write.is_deletion() => {}
                Err(error) => return Err(error),
            }
        }
        if refused.is_empty() || refused.len() == before {
            outcome.refused = refused;
            return Ok(outcome);
        }
        left = refused;
    }
}
