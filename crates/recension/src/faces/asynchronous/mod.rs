//! Handles for async code, on any executor. What may touch the disk runs on a pool of threads. A task that waits for
//! changes, or for the commit of a write, holds no thread.
//!
//! ```
//! use recension::{Store, asynchronous::AsyncStore};
//! # fn main() -> recension::Result<()> {
//! # pollster::block_on(async {
//! let store = AsyncStore::open("memory:").await?;
//! let menu = store.collection("menu")?;
//! menu.put("pizza", r#"{"topping":"pineapple"}"#).await?;
//! let count = menu.run(|menu| menu.count()).await?;
//! assert_eq!(count, 1);
//! # Ok(()) })
//! # }
//! ```

mod batched;
mod changes;
mod committer;

use std::future::{Future, ready};
use std::sync::Arc;

pub use batched::Batched;
use blocking::unblock;
pub use changes::ChangeStream;
pub(crate) use committer::Committer;
pub use committer::Wait;

use crate::engine::CommitInfo;
use crate::faces::collection::Collection;
use crate::faces::commit::{Decided, decide, ensure_id, receipt};
use crate::faces::store::Store;
use crate::faces::transaction::Transaction;
#[cfg(feature = "typed")]
use crate::faces::typed::{DocumentType, Typed, TypedDocuments, TypedFound, encode};
use crate::kernel::changes::change::{Change, Position};
use crate::kernel::changes::filter::ChangeFilter;
use crate::kernel::query::find::Found;
use crate::kernel::read::reader::{CollectionAt, Documents, ListOptions};
use crate::kernel::write::attempt::Attempt;
use recension_values::at::At;
use recension_values::condition::Literal;
use recension_values::error::Result;
use recension_values::limits::COMMITTER_ATTEMPTS;
use recension_values::model::{Document, Written};
use recension_values::query::Query;
use recension_values::revid::RevId;
use recension_values::write::{Expect, Write};

/// A store of documents for async code. Clones are cheap and are the same store.
///
/// Dropping a future does not undo its write: the write is made wholly or not at all.
#[derive(Clone)]
pub struct AsyncStore {
    store: Store,
}

impl From<Store> for AsyncStore {
    fn from(store: Store) -> Self {
        AsyncStore { store }
    }
}

impl AsyncStore {
    /// Opens a store; see [`open`](crate::faces::store::open).
    pub async fn open(address: &str) -> Result<Self> {
        let address = address.to_owned();
        Ok(unblock(move || crate::faces::store::open(&address)).await?.into())
    }

    /// The store for code that may block. Its reads take microseconds if the data is in memory.
    pub fn blocking(&self) -> &Store {
        &self.store
    }

    /// A collection; nothing is read for it.
    pub fn collection(&self, name: &str) -> Result<AsyncCollection> {
        Ok(self.store.collection(name)?.into())
    }

    /// The collection of a type, with its indexes; see [`Store::typed`].
    #[cfg(feature = "typed")]
    pub async fn typed<T: DocumentType + 'static>(&self) -> Result<AsyncTyped<T>> {
        Ok(self.run(Store::typed::<T>).await?.into())
    }

    /// A transaction; see [`Store::transaction`]. The closure runs on a thread of the pool, and may run more than once.
    pub async fn transaction<T: Send + 'static>(
        &self,
        body: impl FnMut(&Transaction) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.run(|store| store.transaction(body)).await
    }

    /// The changes of all collections after `since`, and then those to come.
    pub fn follow(&self, since: impl Into<Position>) -> ChangeStream {
        ChangeStream::new(self.store.follow(since))
    }

    /// The same of some documents only.
    pub fn follow_filtered(&self, since: impl Into<Position>, filter: &ChangeFilter) -> ChangeStream {
        ChangeStream::new(self.store.follow(since).filtered(filter))
    }

    /// Anything else that a store can do, on a thread of the pool.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce(&Store) -> T + Send + 'static) -> T {
        let store = self.store.clone();
        unblock(move || work(&store)).await
    }
}

/// A collection for async code.
#[derive(Clone)]
pub struct AsyncCollection {
    collection: Collection,
}

impl From<Collection> for AsyncCollection {
    fn from(collection: Collection) -> Self {
        AsyncCollection { collection }
    }
}

impl AsyncCollection {
    /// The collection for code that may block.
    pub fn blocking(&self) -> &Collection {
        &self.collection
    }

    /// A document; `None` if there is none or it is deleted.
    pub async fn get(&self, id: impl Into<String>) -> Result<Option<Document<'static>>> {
        let id = id.into();
        self.run(move |collection| collection.get(&id)).await
    }

    /// See [`Collection::get_by`].
    pub async fn get_by(&self, index: impl Into<String>, values: Vec<Literal>) -> Result<Option<Document<'static>>> {
        let index = index.into();
        self.run(move |collection| collection.get_by(&index, &values)).await
    }

    /// Documents by id, as of one moment.
    pub async fn list(&self, options: ListOptions) -> Result<Batched<Documents>> {
        Ok(Batched::new(self.run(move |collection| collection.list(&options)).await?))
    }

    /// The documents that a query asks for, as of one moment.
    pub async fn find(&self, query: Query) -> Result<Batched<Found>> {
        Ok(Batched::new(self.run(move |collection| collection.find(&query)).await?))
    }

    /// The collection at a moment.
    pub async fn at(&self, at: At) -> Result<CollectionAt> {
        self.run(move |collection| collection.at(at)).await
    }

    /// See [`Collection::put`].
    pub async fn put(&self, id: &str, body: impl AsRef<[u8]>) -> Result<Written> {
        self.write(Write::put(id, body)?).await
    }

    /// See [`Collection::create`].
    pub async fn create(&self, id: Option<&str>, body: impl AsRef<[u8]>) -> Result<Written> {
        self.write(Write::create(id, body)?).await
    }

    /// See [`Collection::replace`].
    pub async fn replace(&self, id: &str, rev: &RevId, body: impl AsRef<[u8]>) -> Result<Written> {
        self.write(Write::replace(id, rev, body)?).await
    }

    /// See [`Collection::delete`].
    pub async fn delete(&self, id: &str, rev: &RevId) -> Result<Written> {
        self.write(Write::delete(id, rev)?).await
    }

    /// One write. It is committed together with writes of other tasks: if the engine can, they wait for the disk once.
    pub async fn write(&self, mut write: Write) -> Result<Written> {
        ensure_id(self.collection.store(), &mut write)?;
        let write = Arc::new(write);
        let decided = self.commit(None, || {
            let write = write.clone();
            self.run(move |collection| {
                let id = write.id.as_deref().unwrap_or_default();
                decide(collection, &[id], |writer| writer.write(&write))
            })
        });
        match decided.await? {
            Some((rev, commit)) => Ok(receipt(Arc::unwrap_or_clone(write), rev, commit)),
            None => self.run(move |collection| collection.write(Arc::unwrap_or_clone(write))).await,
        }
    }

    /// The same, for a task that may read on its own thread. Reading what the write depends on takes microseconds if it
    /// is in memory, less than waking a thread of the pool. Writes that may take longer, with a body beyond 64 KiB or
    /// with attachments, are left to the pool. With `wait`, a task also waits for the disk on its own thread if no
    /// other task is writing; that saves two wakes. Otherwise no thread is held while the task waits.
    pub async fn write_in_place(&self, mut write: Write, wait: Option<Wait>) -> Result<Written> {
        if !write.is_short() {
            return self.write(write).await;
        }
        ensure_id(self.collection.store(), &mut write)?;
        let id = write.id.as_deref().unwrap_or_default();
        let decided = self.commit(wait, || ready(decide(&self.collection, &[id], |writer| writer.write(&write))));
        match decided.await? {
            Some((rev, commit)) => Ok(receipt(write, rev, commit)),
            None => self.run(move |collection| collection.write(write)).await,
        }
    }

    /// Commits the batch that `decide` makes. `decide` runs again if another commit has changed what it had read.
    /// `None`: others were faster several times. The write is then tried on a thread of the pool, which pauses between
    /// tries.
    async fn commit<F>(&self, wait: Option<Wait>, decide: impl Fn() -> F) -> Result<Option<(RevId, CommitInfo)>>
    where
        F: Future<Output = Result<Decided<RevId>>>,
    {
        let Some(committer) = self.collection.store().committer() else { return Ok(None) };
        for _ in 0..COMMITTER_ATTEMPTS {
            let mut commits = match decide().await? {
                Decided::Done(rev, commit) => return Ok(Some((rev, commit))),
                Decided::Commits(commits) => commits,
            };
            let commit = committer.commit(commits.take_batch(), wait).await;
            if let Attempt::Done(done) = commits.committed(&self.collection, commit)? {
                return Ok(Some(done));
            }
        }
        Ok(None)
    }

    /// See [`Collection::bulk`].
    pub async fn bulk(&self, writes: Vec<Write>) -> Result<Vec<Result<Written>>> {
        self.run(move |collection| collection.bulk(writes)).await
    }

    /// The changes after `since`, and then those to come.
    pub fn follow(&self, since: impl Into<Position>) -> ChangeStream {
        ChangeStream::new(self.collection.follow(since))
    }

    /// The same of some documents only.
    pub fn follow_filtered(&self, since: impl Into<Position>, filter: &ChangeFilter) -> ChangeStream {
        ChangeStream::new(self.collection.follow(since).filtered(filter))
    }

    /// Anything else that a collection can do, on a thread of the pool.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce(&Collection) -> T + Send + 'static) -> T {
        let collection = self.collection.clone();
        unblock(move || work(&collection)).await
    }
}

/// A typed collection for async code.
#[cfg(feature = "typed")]
pub struct AsyncTyped<T> {
    typed: Arc<Typed<T>>,
}

#[cfg(feature = "typed")]
impl<T> Clone for AsyncTyped<T> {
    fn clone(&self) -> Self {
        AsyncTyped { typed: self.typed.clone() }
    }
}

#[cfg(feature = "typed")]
impl<T> From<Typed<T>> for AsyncTyped<T> {
    fn from(typed: Typed<T>) -> Self {
        AsyncTyped { typed: Arc::new(typed) }
    }
}

#[cfg(feature = "typed")]
impl<T: DocumentType + Send + 'static> AsyncTyped<T> {
    /// The collection for code that may block.
    pub fn blocking(&self) -> &Typed<T> {
        &self.typed
    }

    /// A value; `None` if there is no document or it is deleted.
    pub async fn get(&self, id: impl Into<String>) -> Result<Option<T>> {
        let id = id.into();
        self.run(move |typed| typed.get(&id)).await
    }

    /// See [`Typed::get_by`].
    pub async fn get_by(&self, index: impl Into<String>, values: Vec<Literal>) -> Result<Option<T>> {
        let index = index.into();
        self.run(move |typed| typed.get_by(&index, &values)).await
    }

    /// Values in the order of their ids, as of one moment.
    pub async fn list(&self, options: ListOptions) -> Result<Batched<TypedDocuments<T>>> {
        Ok(Batched::new(self.run(move |typed| typed.list(&options)).await?))
    }

    /// The values that a query asks for, as of one moment.
    pub async fn find(&self, query: Query) -> Result<Batched<TypedFound<T>>> {
        Ok(Batched::new(self.run(move |typed| typed.find(&query)).await?))
    }

    /// The collection without the type.
    pub fn untyped(&self) -> AsyncCollection {
        self.typed.untyped().clone().into()
    }

    /// See [`Typed::put`].
    pub async fn put(&self, value: T) -> Result<Written> {
        self.untyped().write(encode(&value)?).await
    }

    /// See [`Typed::create`].
    pub async fn create(&self, value: T) -> Result<Written> {
        self.untyped().write(encode(&value)?.expecting(Expect::Absent)).await
    }

    /// See [`Typed::delete`].
    pub async fn delete(&self, id: &str, rev: &RevId) -> Result<Written> {
        self.untyped().write(Write::delete(id, rev)?).await
    }

    /// See [`Typed::update`].
    pub async fn update(
        &self,
        id: impl Into<String>,
        change: impl FnMut(&mut T) -> Result<()> + Send + 'static,
    ) -> Result<T> {
        let id = id.into();
        self.run(move |typed| typed.update(&id, change)).await
    }

    /// See [`Typed::upsert`].
    pub async fn upsert(
        &self,
        id: impl Into<String>,
        make: impl FnMut(Option<T>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let id = id.into();
        self.run(move |typed| typed.upsert(&id, make)).await
    }

    /// Anything else that a typed collection can do, on a thread of the pool.
    pub async fn run<U: Send + 'static>(&self, work: impl FnOnce(&Typed<T>) -> U + Send + 'static) -> U {
        let typed = self.typed.clone();
        unblock(move || work(&typed)).await
    }
}

/// What a stream of changes answers.
type ChangeItem = Result<Change>;
