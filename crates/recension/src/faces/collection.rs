//! A collection as its users see it: reads of the newest commit, writes, and reads of the past.

use std::borrow::Cow;
use std::sync::Arc;

use crate::faces::commit;
use crate::faces::loader::Loader;
use crate::faces::store::{Ahead, Store};
use crate::kernel::query::find::{Found, Selected};
use crate::kernel::query::page::Page;
use crate::kernel::read::history::{History, Revisions};
use crate::kernel::read::reader::{Documents, ListOptions, read_document};
use crate::kernel::rows::catalogue::CollectionEntry;
use crate::kernel::rows::slot::Slot;
use recension_values::at::At;
use recension_values::condition::Literal;
#[cfg(doc)]
use recension_values::error::Error;
use recension_values::error::Result;
use recension_values::guard::Actor;
use recension_values::model::{Counts, Document, IndexInfo, Revision, Written};
use recension_values::pipeline::Pipeline;
use recension_values::plan::Plan;
use recension_values::query::Query;
use recension_values::revid::RevId;
use recension_values::write::Write;

/// A collection of documents. Clones are cheap; use it from any thread.
///
/// Each read sees the newest commit. [`Collection::at`] keeps one commit for many reads, or goes back to an older one.
#[derive(Clone)]
pub struct Collection {
    store: Store,
    name: Arc<str>,
    pub(crate) slot: Arc<Slot>,
    /// Writes do not make the collection.
    pub(crate) must_exist: bool,
    /// The writer's identity; `None`: the program itself.
    pub(crate) actor: Option<Arc<dyn Actor>>,
}

impl Collection {
    pub(crate) fn new(store: Store, slot: Arc<Slot>) -> Self {
        Collection { store, name: Arc::clone(&slot.shared_name), slot, must_exist: false, actor: None }
    }

    /// The same collection, but its writes do not make it: if it was dropped, they fail.
    ///
    /// # Errors of its writes
    /// [`Error::NoSuchCollection`].
    #[must_use]
    pub fn only_existing(self) -> Self {
        Collection { must_exist: true, ..self }
    }

    /// The same collection, whose writes have an identity, which validation functions are told. Without one, they are
    /// told that an admin writes.
    #[must_use]
    pub fn acting_as(self, actor: Arc<dyn Actor>) -> Self {
        Collection { actor: Some(actor), ..self }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The store that it is in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// A document; `None` if there is none or it is deleted. One read of the engine.
    pub fn get(&self, id: &str) -> Result<Option<Document<'static>>> {
        let snapshot = self.store.snapshot_for(&self.slot, Ahead::Read(&[id]))?;
        let Some(entry) = self.slot.entry(&*snapshot)? else { return Ok(None) };
        let document = read_document(&*snapshot, entry.documents, Cow::Borrowed(id))?;
        Ok(document.filter(|document| !document.deleted).map(Document::into_owned))
    }

    /// The document that has these values in a unique index, one value for each path of the index. This is the fastest
    /// way to a document by a value. `None` if no document has the values. If replication has brought several documents
    /// with these values, the one with the least id is answered; [`Collection::find`] answers all.
    ///
    /// # Errors
    /// [`Error::IndexNotUsable`] if there is no such index, or it is not unique, not built yet, or on another number of
    /// paths.
    ///
    /// ```
    /// use recension::{IndexSpec, Store};
    /// # fn main() -> recension::Result<()> {
    /// let cities = Store::memory()?.collection("cities")?;
    /// cities.create_index(IndexSpec::unique("by-code", "code"), |_| {})?;
    /// cities.put("lisbon", r#"{"code":"LIS"}"#)?;
    /// let found = cities.get_by("by-code", &["LIS".into()])?;
    /// assert_eq!(found.unwrap().id, "lisbon");
    /// # Ok(()) }
    /// ```
    pub fn get_by(&self, index: &str, values: &[Literal]) -> Result<Option<Document<'static>>> {
        self.read_by(index, values, |document| Ok(document.into_owned()))
    }

    pub(crate) fn read_by<T>(
        &self,
        index: &str,
        values: &[Literal],
        see: impl FnOnce(Document<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let snapshot = self.store.snapshot_for(&self.slot, Ahead::Query)?;
        match self.slot.entry(&*snapshot)? {
            Some(entry) => entry.by_values(&*snapshot, index, values, see),
            None => Ok(None),
        }
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

    /// Every revision of a document, newest first, without bodies and attachments: several times faster than
    /// [`Collection::history`].
    pub fn revisions(&self, id: &str) -> Result<Revisions> {
        self.at(At::Now)?.revisions(id)
    }

    /// One revision of a document, current or not.
    pub fn revision(&self, id: &str, rev: &RevId) -> Result<Option<Revision>> {
        self.at(At::Now)?.revision(id, rev)
    }

    /// The documents that a query asks for, and the way in which they are found.
    pub fn find(&self, query: &Query) -> Result<Found> {
        self.at(At::Now)?.find(query)
    }

    /// One page of the documents that a query asks for, and whether there is a next one; see [`CollectionAt::page`].
    pub fn page(&self, query: &Query) -> Result<Page<Document<'static>>> {
        self.at(At::Now)?.page(query)
    }

    /// The values that a query selects of its documents; see [`CollectionAt::select`].
    pub fn select(&self, query: &Query) -> Result<Selected> {
        self.at(At::Now)?.select(query)
    }

    /// How many documents a query asks for.
    pub fn count_matching(&self, query: &Query) -> Result<u64> {
        self.at(At::Now)?.count_matching(query)
    }

    /// The rows that a pipeline makes of the documents that a query finds: [`CollectionAt::aggregate`].
    pub fn aggregate(&self, query: &Query, pipeline: &Pipeline) -> Result<Vec<String>> {
        self.at(At::Now)?.aggregate(query, pipeline)
    }

    /// How a query would be carried out.
    pub fn explain(&self, query: &Query) -> Result<Plan> {
        self.at(At::Now)?.explain(query)
    }

    /// Its indexes.
    pub fn indexes(&self) -> Result<Vec<IndexInfo>> {
        Ok(self.at(At::Now)?.entry.as_deref().map(CollectionEntry::index_infos).unwrap_or_default())
    }

    /// Writes `body` as the document `id`, whatever the document says now. A `_rev` in the body names the revision that
    /// the write replaces ([`Expect::Leaf`](crate::Expect::Leaf)).
    ///
    /// # Errors
    /// [`Error::Conflict`] if the document does not have the `_rev` of the body as a leaf; [`Error::NotUnique`]; input
    /// errors.
    pub fn put(&self, id: &str, body: impl AsRef<[u8]>) -> Result<Written> {
        self.write(Write::put(id, body)?)
    }

    /// Creates a document. It is given an id if `id` is `None`.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the document exists; as [`Collection::put`].
    pub fn create(&self, id: Option<&str>, body: impl AsRef<[u8]>) -> Result<Written> {
        self.write(Write::create(id, body)?)
    }

    /// Writes `body` as the document `id`, which is at `rev`.
    ///
    /// # Errors
    /// [`Error::Conflict`] if it is at another revision; as [`Collection::put`].
    pub fn replace(&self, id: &str, rev: &RevId, body: impl AsRef<[u8]>) -> Result<Written> {
        self.write(Write::replace(id, rev, body)?)
    }

    /// Deletes the document `id`, which is at `rev`. Its history stays.
    ///
    /// # Errors
    /// [`Error::Conflict`] if it is at another revision.
    pub fn delete(&self, id: &str, rev: &RevId) -> Result<Written> {
        self.write(Write::delete(id, rev)?)
    }

    /// One write.
    pub fn write(&self, write: Write) -> Result<Written> {
        commit::apply_one(self, write)
    }

    /// Many writes in one commit, with a result for each. Writes that fail are left out of the commit. Of two writes of
    /// one document the second fails.
    ///
    /// # Errors
    /// An error of the engine, or [`Error::Busy`]: nothing was written.
    pub fn bulk(&self, writes: impl IntoIterator<Item = Write>) -> Result<Vec<Result<Written>>> {
        commit::apply(self, writes.into_iter().collect(), |_| false)
    }

    /// Loads any number of documents, in commits of many.
    pub fn loader(&self) -> Loader {
        Loader::new(self.clone())
    }
}
