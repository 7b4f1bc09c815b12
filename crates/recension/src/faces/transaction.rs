//! Transactions: a function that reads and writes any number of collections as of one moment. It is committed wholly or
//! not at all, and runs again if another commit has changed what it has read.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::engine::{Batch, CommitInfo, Durability, EngineError, Snapshot};
use crate::faces::commit::ensure_id;
use crate::faces::store::{Ahead, Store};
use crate::kernel::overlay::Overlay;
use crate::kernel::read::reader::{CollectionAt, ListOptions};
use crate::kernel::rows::catalogue::{CATALOGUE, build_key, dropped_key, statistics_key};
use crate::kernel::rows::slot::Slot;
use crate::kernel::view::in_commit::keep_views;
use crate::kernel::write::access::keep_access;
use crate::kernel::write::attempt::{Attempt, retry};
use crate::kernel::write::writer::Writer;
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::model::{Document, Staged};
use recension_values::query::Query;
use recension_values::replicated::ReplicatedWrite;
use recension_values::revid::RevId;
use recension_values::schema::Schema;
use recension_values::write::{Write, check_name};

impl Store {
    /// Runs `body` and commits what it has written, in one commit. Its reads are of one snapshot and see its own
    /// writes. Transactions are serializable: if another commit has changed anything that `body` has read, nothing is
    /// written, and `body` runs again on a new snapshot.
    ///
    /// `body` may run more than once, so its other effects must allow that. An error of `body` ends the transaction,
    /// and nothing is written. [`Error::abort`] makes an error for a reason of your own.
    ///
    /// ```
    /// # fn main() -> recension::Result<()> {
    /// let store = recension::open("memory:")?;
    /// store.collection("stock")?.put("pineapple", r#"{"count":3}"#)?;
    /// store.transaction(|tx| {
    ///     tx.collection("stock")?.put("pineapple", r#"{"count":2}"#)?;
    ///     tx.collection("orders")?.create(None, r#"{"item":"pineapple"}"#)
    /// })?;
    /// assert_eq!(store.collection("orders")?.count()?, 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Those of `body`; [`Error::Busy`] if others were always faster.
    pub fn transaction<T>(&self, body: impl FnMut(&Transaction) -> Result<T>) -> Result<T> {
        self.transaction_with(None, body).map(|(answer, _)| answer)
    }

    /// The same with another durability than the store's. Returns the commit too. If nothing was written, there is no
    /// commit, and the moment that was read is answered.
    pub fn transaction_with<T>(
        &self,
        durability: Option<Durability>,
        body: impl FnMut(&Transaction) -> Result<T>,
    ) -> Result<(T, CommitInfo)> {
        self.transaction_from(|| self.snapshot(At::Now), durability, body)
    }

    /// The same on snapshots that `begin` takes.
    pub(crate) fn transaction_from<T>(
        &self,
        begin: impl Fn() -> Result<Arc<dyn Snapshot>>,
        durability: Option<Durability>,
        mut body: impl FnMut(&Transaction) -> Result<T>,
    ) -> Result<(T, CommitInfo)> {
        retry(|| match self.prepare(begin()?, durability, &mut body)? {
            Prepared::Done(answer, commit) => Ok(Attempt::Done((answer, commit))),
            Prepared::Commits(commits) => {
                let Commits { answer, batch, view, written } = commits;
                let done = self.try_commit_of(batch, &written)?;
                Ok(done.map(|commit| (answer, committed(commit, &view, &written))))
            }
        })
    }

    /// Runs several transactions, each as [`Store::transaction_with`] does, and commits them together. If the engine
    /// can, they wait for the disk once. Each reads a snapshot from before any of them is committed. A transaction that
    /// has read what another of them has written runs again, after the others.
    ///
    /// Returns one result for each, in their order.
    pub fn transactions<T, B>(&self, durability: Option<Durability>, bodies: &mut [B]) -> Vec<Result<(T, CommitInfo)>>
    where
        B: FnMut(&Transaction) -> Result<T>,
    {
        let mut prepared: Vec<_> =
            bodies.iter_mut().map(|body| self.prepare(self.snapshot(At::Now)?, durability, body)).collect();
        let commits = prepared.iter_mut().filter_map(|prepared| match prepared {
            Ok(Prepared::Commits(commits)) => Some(std::mem::take(&mut commits.batch)),
            _ => None,
        });
        let mut commits = self.engine().commit_all(commits.collect()).into_iter();
        let tried: Vec<Result<Attempt<_>>> = prepared
            .into_iter()
            .map(|prepared| match prepared? {
                Prepared::Done(answer, commit) => Ok(Attempt::Done((answer, commit))),
                Prepared::Commits(Commits { answer, view, written, .. }) => {
                    let unanswered = || EngineError::Poisoned { cause: "a commit was not answered".to_owned() };
                    let commit = commits.next().unwrap_or_else(|| Err(unanswered()));
                    Ok(self.tried(commit, &written)?.map(|commit| (answer, committed(commit, &view, &written))))
                }
            })
            .collect();
        let tried = tried.into_iter().zip(bodies);
        tried
            .map(|(tried, body)| match tried? {
                Attempt::Done(done) => Ok(done),
                Attempt::Again => self.transaction_with(durability, body),
            })
            .collect()
    }

    /// Begins a transaction that its caller commits: for code that cannot be a function that runs again, such as a
    /// block of another language. If it is dropped, nothing is written.
    pub fn begin(&self) -> Result<Transaction> {
        Ok(self.begin_on(self.snapshot(At::Now)?))
    }

    fn begin_on(&self, snapshot: Arc<dyn Snapshot>) -> Transaction {
        Transaction { store: self.clone(), view: Arc::new(Overlay::new(snapshot)), written: Mutex::default() }
    }

    /// Runs a transaction up to its commit.
    fn prepare<T>(
        &self,
        snapshot: Arc<dyn Snapshot>,
        durability: Option<Durability>,
        body: &mut impl FnMut(&Transaction) -> Result<T>,
    ) -> Result<Prepared<T>> {
        let transaction = self.begin_on(snapshot);
        let answer = body(&transaction)?;
        transaction.prepared(durability, answer)
    }
}

/// A transaction that has run.
enum Prepared<T> {
    /// It has written nothing.
    Done(T, CommitInfo),
    /// It is to be committed.
    Commits(Commits<T>),
}

struct Commits<T> {
    answer: T,
    batch: Batch,
    view: Arc<Overlay>,
    written: Vec<Arc<Slot>>,
}

/// Notes in the slots of the collections that a commit has written them.
fn committed(commit: CommitInfo, view: &Overlay, written: &[Arc<Slot>]) -> CommitInfo {
    for slot in written {
        slot.committed(view, commit.seq);
    }
    commit
}

/// A transaction while it runs.
pub struct Transaction {
    store: Store,
    view: Arc<Overlay>,
    /// The collections that it writes.
    written: Mutex<Vec<Arc<Slot>>>,
}

impl Transaction {
    /// A collection, as this transaction sees it.
    ///
    /// # Errors
    /// [`Error::BadName`].
    pub fn collection(&self, name: &str) -> Result<TransactionCollection<'_>> {
        check_name("collection", name)?;
        let slot = self.store.slot(name);
        Ok(TransactionCollection { transaction: self, name: slot.shared_name.clone(), slot })
    }

    /// Commits what a transaction of [`Store::begin`] has written. If nothing was written, there is no commit, and the
    /// moment that was read is answered.
    ///
    /// ```
    /// # fn main() -> recension::Result<()> {
    /// let store = recension::open("memory:")?;
    /// let transaction = store.begin()?;
    /// transaction.collection("stock")?.put("ham", r#"{"slices":11}"#)?;
    /// assert_eq!(store.collection("stock")?.count()?, 0);
    /// transaction.commit()?;
    /// assert_eq!(store.collection("stock")?.count()?, 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::Busy`] if another commit has changed what the transaction has read: nothing was written; begin another.
    pub fn commit(self) -> Result<CommitInfo> {
        let store = self.store.clone();
        match self.prepared(None, ())? {
            Prepared::Done((), commit) => Ok(commit),
            Prepared::Commits(Commits { batch, view, written, .. }) => match store.try_commit_of(batch, &written)? {
                Attempt::Done(commit) => Ok(committed(commit, &view, &written)),
                Attempt::Again => Err(Error::Busy { attempts: 1 }),
            },
        }
    }

    fn prepared<T>(self, durability: Option<Durability>, answer: T) -> Result<Prepared<T>> {
        for slot in self.written.lock().iter() {
            keep_views(&self.view, slot, self.store.known_views())?;
            keep_access(&self.view, slot)?;
        }
        let mut batch = self.view.batch();
        if batch.is_empty() {
            // All reads were of one commit, and the transaction takes its place right after that commit.
            let (seq, time) = (self.view.seq(), self.view.time()?);
            return Ok(Prepared::Done(answer, CommitInfo { seq, time }));
        }
        if let Some(durability) = durability {
            batch.durability(durability);
        }
        Ok(Prepared::Commits(Commits { answer, batch, view: self.view, written: self.written.into_inner() }))
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn view(&self) -> &Overlay {
        &self.view
    }

    /// The commit that its snapshot is of.
    pub fn seq(&self) -> crate::engine::Seq {
        self.view.seq()
    }
}

/// A collection inside of a transaction. Documents that the transaction has written itself have the seq `u64::MAX`
/// until the commit.
pub struct TransactionCollection<'t> {
    transaction: &'t Transaction,
    name: Arc<str>,
    slot: Arc<Slot>,
}

impl TransactionCollection<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads of the collection, as the transaction sees it now. They need not see later writes of the transaction.
    pub fn reader(&self) -> Result<CollectionAt> {
        let view = &self.transaction.view;
        let entry = self.slot.entry_in(view)?;
        Ok(CollectionAt { name: self.name.clone(), snapshot: view.clone(), entry, in_transaction: true })
    }

    /// Reads the row of the collection, what a write of it has to look at, and a document in one round trip, if there
    /// is a distance. Who reads in a transaction will write, mostly.
    fn read_ahead(&self, id: &str) {
        let view = &self.transaction.view;
        if view.is_distant() {
            Ahead::Write(&[id]).keys(&self.slot, |keys| view.announce(keys));
        }
    }

    /// A document; `None` if there is none or it is deleted.
    pub fn get(&self, id: &str) -> Result<Option<Document<'static>>> {
        self.read_ahead(id);
        Ok(self.reader()?.get(id)?.map(Document::into_owned))
    }

    /// See [`CollectionAt::get_by`](crate::CollectionAt::get_by).
    pub fn get_by(
        &self,
        index: &str,
        values: &[recension_values::condition::Literal],
    ) -> Result<Option<Document<'static>>> {
        self.reader()?.get_by(index, values)
    }

    /// Documents by id.
    pub fn list(&self, options: &ListOptions) -> Result<crate::kernel::read::reader::Documents> {
        self.reader()?.list(options)
    }

    /// The documents that a query asks for.
    pub fn find(&self, query: &Query) -> Result<crate::kernel::query::find::Found> {
        self.reader()?.find(query)
    }

    /// How many documents there are. The commit then depends on every write to the collection.
    pub fn count(&self) -> Result<u64> {
        self.reader()?.count()
    }

    /// Writes `body` as the document `id`, whatever the document says now. A `_rev` in the body is expected.
    pub fn put(&self, id: &str, body: impl AsRef<[u8]>) -> Result<Staged> {
        self.write(Write::put(id, body)?)
    }

    /// Creates a document. It is given an id if `id` is `None`.
    pub fn create(&self, id: Option<&str>, body: impl AsRef<[u8]>) -> Result<Staged> {
        self.write(Write::create(id, body)?)
    }

    /// Writes `body` as the document `id`, which is at `rev`.
    pub fn replace(&self, id: &str, rev: &RevId, body: impl AsRef<[u8]>) -> Result<Staged> {
        self.write(Write::replace(id, rev, body)?)
    }

    /// Deletes the document `id`, which is at `rev`.
    pub fn delete(&self, id: &str, rev: &RevId) -> Result<Staged> {
        self.write(Write::delete(id, rev)?)
    }

    /// One write. After an error the transaction may go on; nothing of the write is part of it.
    pub fn write(&self, mut write: Write) -> Result<Staged> {
        ensure_id(&self.transaction.store, &mut write)?;
        self.read_ahead(write.id.as_deref().unwrap_or_default());
        let rev = self.writing(|writer| writer.write(&write))?;
        Ok(Staged { id: write.id.unwrap_or_default(), rev })
    }

    /// Merges a revision that another replica made; returns whether that changed anything. After an error the
    /// transaction may go on, as with [`TransactionCollection::write`].
    pub fn merge_revision(&self, write: &ReplicatedWrite) -> Result<bool> {
        self.writing(|writer| writer.merge(write))
    }

    /// A write of a merge, which may exchange values of unique indexes: [`TransactionCollection::check_unique`].
    pub(crate) fn write_unjudged(&self, write: &Write) -> Result<()> {
        self.writing(|writer| {
            writer.judged_later = true;
            writer.write(write).map(drop)
        })
    }

    /// As [`Writer::check_unique`].
    pub(crate) fn check_unique(&self, id: &str, merged: impl Fn(&RevId) -> bool) -> Result<()> {
        Writer::on(&self.transaction.view, &self.slot)?.check_unique(id, merged)
    }

    /// Makes the collection, if there is none, with the rows of its settings.
    pub(crate) fn make(&self, settings: &[(Vec<u8>, Vec<u8>)]) -> Result<()> {
        self.writing(|writer| {
            let side = writer.entry_or_new()?.side;
            for (key, value) in settings {
                writer.view.put(side, key, value.clone());
            }
            Ok(())
        })
    }

    /// See [`Settings::set_schema`](crate::Settings::set_schema).
    pub(crate) fn set_schema(&self, schema: Option<Arc<Schema>>) -> Result<()> {
        self.writing(|writer| writer.change_entry(|entry| entry.schema = schema))
    }

    /// Drops an index, if there is one of this name; see [`Collection::drop_index`](crate::Collection::drop_index).
    pub(crate) fn drop_index(&self, name: &str) -> Result<()> {
        self.writing(|writer| {
            let Some(tree) = writer.entry.as_ref().and_then(|entry| entry.index(name)).map(|index| index.tree) else {
                return Ok(());
            };
            writer.change_entry(|entry| entry.indexes.retain(|index| index.tree != tree))?;
            writer.view.put(CATALOGUE, &dropped_key(tree), self.slot.name.as_bytes().to_vec());
            writer.view.delete(CATALOGUE, &build_key(tree));
            writer.view.delete(CATALOGUE, &statistics_key(tree));
            Ok(())
        })
    }

    /// Removes leaves of a document; see [`Replication::purge`](crate::Replication::purge).
    pub fn purge(&self, id: &str, revs: &[RevId]) -> Result<Vec<RevId>> {
        self.writing(|writer| writer.purge(id, revs))
    }

    fn writing<T>(&self, write: impl FnOnce(&mut Writer<'_>) -> Result<T>) -> Result<T> {
        let answer = write(&mut Writer::on(&self.transaction.view, &self.slot)?)?;
        let mut written = self.transaction.written.lock();
        if !written.iter().any(|slot| slot.name == self.slot.name) {
            written.push(self.slot.clone());
        }
        Ok(answer)
    }
}
