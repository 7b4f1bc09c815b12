//! A collection as its users see it: reads at the head, writes, and the way to its past.

use std::borrow::Cow;
use std::sync::Arc;

use super::reader::read_document;
use super::retention::without_forgotten_indexes;
use super::store::{Slot, index_infos};
use super::{
    At, CollectionAt, Counts, Document, Documents, Found, History, IndexInfo, ListOptions, Literal, Loader, Plan,
    Query, Result, RevId, Revision, Selected, Store, Write, Written, apply,
};

/// A collection of documents. Clones are cheap; use it from any thread.
///
/// Each read sees the newest commit; [`Collection::at`] holds one still, or goes back.
#[derive(Clone)]
pub struct Collection {
    store: Store,
    name: Arc<str>,
    pub(super) slot: Arc<Slot>,
    /// A write does not make it.
    pub(super) must_exist: bool,
}

impl Collection {
    pub(super) fn new(store: Store, slot: Arc<Slot>) -> Self {
        Collection { store, name: Arc::clone(&slot.shared_name), slot, must_exist: false }
    }

    /// The same collection, which no write makes: where it was dropped, writes fail.
    ///
    /// # Errors of its writes
    /// [`Error::NoSuchCollection`].
    #[must_use]
    pub fn only_existing(self) -> Self {
        Collection { must_exist: true, ..self }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The store that it is in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// A document; `None` where there is none or it is deleted. One read of the engine.
    pub fn get(&self, id: &str) -> Result<Option<Document<'static>>> {
        let snapshot = self.store.snapshot(At::Now)?;
        let Some(entry) = self.slot.entry(&*snapshot)? else { return Ok(None) };
        let document = read_document(&*snapshot, entry.documents, Cow::Borrowed(id))?;
        Ok(document.filter(|document| !document.deleted).map(Document::into_owned))
    }

    /// The document that has these values in a unique index, one for each of its paths: the shortest way to it, without a
    /// query. `None` where no document has them. Where replication has brought several documents with equal values it is the first in the order of
    /// ids; [`Collection::find`] answers all.
    ///
    /// # Errors
    /// [`Error::IndexNotUsable`] where there is no such index, or it is not unique, not built yet, or on another number of
    /// paths.
    ///
    /// ```
    /// use recension::document::{IndexSpec, Store};
    /// # fn main() -> recension::document::Result<()> {
    /// let cities = Store::memory()?.collection("cities")?;
    /// cities.create_index(IndexSpec::unique("by-code", "code".parse()?), |_| {})?;
    /// cities.put("lisbon", r#"{"code":"LIS"}"#)?;
    /// let found = cities.get_by("by-code", &["LIS".into()])?;
    /// assert_eq!(found.unwrap().id, "lisbon");
    /// # Ok(()) }
    /// ```
    pub fn get_by(&self, index: &str, values: &[Literal]) -> Result<Option<Document<'static>>> {
        self.read_by(index, values, |document| Ok(document.into_owned()))
    }

    pub(super) fn read_by<T>(
        &self,
        index: &str,
        values: &[Literal],
        see: impl FnOnce(Document<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let snapshot = self.store.snapshot(At::Now)?;
        match self.slot.entry(&*snapshot)? {
            Some(entry) => entry.by_values(&*snapshot, index, values, see),
            None => Ok(None),
        }
    }

    /// The collection at a moment: one commit for any number of reads.
    pub fn at(&self, at: At) -> Result<CollectionAt> {
        let snapshot = self.store.snapshot(at)?;
        let mut entry = self.slot.entry(&*snapshot)?;
        if at != At::Now {
            entry = entry.map(|entry| without_forgotten_indexes(entry, &*snapshot));
        }
        Ok(CollectionAt { name: self.name.clone(), snapshot, entry, in_transaction: false })
    }

    /// Documents by id.
    pub fn list(&self, options: &ListOptions) -> Result<Documents> {
        self.at(At::Now)?.list(options)
    }

    /// How many documents there are. One read of the engine.
    pub fn count(&self) -> Result<u64> {
        self.at(At::Now)?.count()
    }

    /// How many documents there are, live and deleted, and their bytes.
    pub fn counts(&self) -> Result<Counts> {
        self.at(At::Now)?.counts()
    }

    /// Every revision of a document, newest first.
    pub fn history(&self, id: &str) -> Result<History> {
        self.at(At::Now)?.history(id)
    }

    /// One revision of a document, current or not.
    pub fn revision(&self, id: &str, rev: &RevId) -> Result<Option<Revision>> {
        self.at(At::Now)?.revision(id, rev)
    }

    /// The documents that a query asks for, and the way in which they are found.
    pub fn find(&self, query: &Query) -> Result<Found> {
        self.at(At::Now)?.find(query)
    }

    /// What a query selects of the documents that it asks for; see [`CollectionAt::select`].
    pub fn select(&self, query: &Query) -> Result<Selected> {
        self.at(At::Now)?.select(query)
    }

    /// How many documents a query asks for.
    pub fn count_matching(&self, query: &Query) -> Result<u64> {
        self.at(At::Now)?.count_matching(query)
    }

    /// How a query would be carried out.
    pub fn explain(&self, query: &Query) -> Result<Plan> {
        self.at(At::Now)?.explain(query)
    }

    /// Its indexes.
    pub fn indexes(&self) -> Result<Vec<IndexInfo>> {
        Ok(self.at(At::Now)?.entry.as_deref().map(index_infos).unwrap_or_default())
    }

    /// The document `id` shall say `body`, whatever it says now; a `_rev` in the body is the revision that it
    /// shall stand on ([`Expect::Leaf`](super::Expect::Leaf)).
    ///
    /// # Errors
    /// [`Error::Conflict`] on a `_rev` that another revision stands on, or that the document does not have; [`Error::NotUnique`]; input errors.
    pub fn put(&self, id: &str, body: impl AsRef<[u8]>) -> Result<Written> {
        self.write(Write::put(id, body)?)
    }

    /// A new document; without an id it is given one.
    ///
    /// # Errors
    /// [`Error::Conflict`] where the document exists; as [`Collection::put`].
    pub fn create(&self, id: Option<&str>, body: impl AsRef<[u8]>) -> Result<Written> {
        self.write(Write::create(id, body)?)
    }

    /// The document `id`, which is at `rev`, shall say `body`.
    ///
    /// # Errors
    /// [`Error::Conflict`] where it is at another revision; as [`Collection::put`].
    pub fn replace(&self, id: &str, rev: &RevId, body: impl AsRef<[u8]>) -> Result<Written> {
        self.write(Write::replace(id, rev, body)?)
    }

    /// Deletes the document `id`, which is at `rev`. Its history stays.
    ///
    /// # Errors
    /// [`Error::Conflict`] where it is at another revision.
    pub fn delete(&self, id: &str, rev: &RevId) -> Result<Written> {
        self.write(Write::delete(id, rev)?)
    }

    /// One write.
    pub fn write(&self, write: Write) -> Result<Written> {
        apply::apply_one(self, write)
    }

    /// Many writes in one commit, with a result for each. Those that fail are left out of the commit;
    /// of two writes of one document the second fails.
    ///
    /// # Errors
    /// Where nothing was written: an error of the engine, or [`Error::Busy`].
    pub fn bulk(&self, writes: impl IntoIterator<Item = Write>) -> Result<Vec<Result<Written>>> {
        apply::apply(self, writes.into_iter().collect(), |_| false)
    }

    /// Loads any number of documents, in commits of many.
    pub fn loader(&self) -> Loader {
        Loader::new(self.clone())
    }
}
