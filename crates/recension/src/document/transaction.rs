//! Transactions: a closure that reads and writes any number of collections as of one moment, committed
//! wholly or not at all, and run again where others have written what it read.

use std::sync::Arc;

use parking_lot::Mutex;

use super::apply::{Writer, ensure_id};
use super::store::{Attempt, Slot, retry};
use super::view::View;
use super::write::check_name;
use super::{
    At, CollectionAt, Document, Error, ListOptions, Query, ReplicatedWrite, Result, RevId, Staged, Store, Write,
};
use crate::engine::{Batch, CommitInfo, Durability, EngineError, Snapshot};

impl Store {
    /// Runs `body` and commits what it has written, in one commit. Its reads are of one moment and see its own
    /// writes. Transactions are serializable: where another commit has changed anything that `body` has read,
    /// nothing is written and `body` runs again, at a new moment.
    ///
    /// `body` may therefore run more than once: what it does besides must bear that. An error of `body` ends the
    /// transaction; nothing is written. [`Error::abort`] is there for reasons of its own.
    ///
    /// ```
    /// # fn main() -> recension::document::Result<()> {
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
    /// Those of `body`; [`Error::Busy`] where others were always faster.
    pub fn transaction<T>(&self, body: impl FnMut(&Transaction) -> Result<T>) -> Result<T> {
        self.transaction_with(None, body).map(|(answer, _)| answer)
    }

    /// The same with another durability than the store's own, answering the commit too. Where nothing was
    /// written there is no commit, and the moment that was read is answered.
    pub fn transaction_with<T>(
        &self,
        durability: Option<Durability>,
        mut body: impl FnMut(&Transaction) -> Result<T>,
    ) -> Result<(T, CommitInfo)> {
        retry(|| match self.prepare(durability, &mut body)? {
            Prepared::Done(answer, commit) => Ok(Attempt::Done((answer, commit))),
            Prepared::Commits(commits) => {
                let Commits { answer, batch, view, written } = commits;
                let done = self.try_commit_of(batch, &written)?;
                Ok(done.map(|commit| (answer, committed(commit, &view, &written))))
            }
        })
    }

    /// Runs several transactions, each by itself as [`Store::transaction_with`] does, and commits them together: where the
    /// engine can, they wait for the disk once. Each reads as of a moment before any of them is committed; one that has read
    /// what another of them has written runs again, after the others.
    ///
    /// Answers one result for each, in their order.
    pub fn transactions<T, B>(&self, durability: Option<Durability>, bodies: &mut [B]) -> Vec<Result<(T, CommitInfo)>>
    where
        B: FnMut(&Transaction) -> Result<T>,
    {
        let mut prepared: Vec<_> = bodies.iter_mut().map(|body| self.prepare(durability, body)).collect();
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

    /// Runs a transaction up to its commit.
    fn prepare<T>(
        &self,
        durability: Option<Durability>,
        body: &mut impl FnMut(&Transaction) -> Result<T>,
    ) -> Result<Prepared<T>> {
        let transaction = Transaction {
            store: self.clone(),
            view: Arc::new(View::new(self.snapshot(At::Now)?)),
            written: Mutex::default(),
        };
        let answer = body(&transaction)?;
        let mut batch = transaction.view.batch();
        if batch.is_empty() {
            // All reads were of one commit: the transaction took place right after it.
            let (seq, time) = (transaction.view.seq(), transaction.view.time()?);
            return Ok(Prepared::Done(answer, CommitInfo { seq, time }));
        }
        if let Some(durability) = durability {
            batch.durability(durability);
        }
        let Transaction { view, written, .. } = transaction;
        Ok(Prepared::Commits(Commits { answer, batch, view, written: written.into_inner() }))
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
    view: Arc<View>,
    written: Vec<Arc<Slot>>,
}

/// Notes what a commit says of the collections that it has written.
fn committed(commit: CommitInfo, view: &View, written: &[Arc<Slot>]) -> CommitInfo {
    for slot in written {
        slot.committed(view, commit.seq);
    }
    commit
}

impl Error {
    /// For code inside of a transaction: gives it up for a reason of its own.
    pub fn abort(reason: impl std::fmt::Display) -> Self {
        Error::Aborted { reason: reason.to_string() }
    }
}

/// A transaction while it runs.
pub struct Transaction {
    store: Store,
    view: Arc<View>,
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

    /// The commit whose effect it sees, besides its own writes.
    pub fn seq(&self) -> crate::engine::Seq {
        self.view.seq()
    }
}

/// A collection inside of a transaction. Documents that the transaction has written itself have
/// the seq `u64::MAX`, until they are committed.
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

    /// All reads of a collection, as the transaction sees it now; later writes of it are not sure to be seen.
    pub fn reader(&self) -> Result<CollectionAt> {
        let view = &self.transaction.view;
        let entry = self.slot.entry_in(view)?;
        Ok(CollectionAt { name: self.name.clone(), snapshot: view.clone(), entry, in_transaction: true })
    }

    /// A document; `None` where there is none or it is deleted.
    pub fn get(&self, id: &str) -> Result<Option<Document<'static>>> {
        Ok(self.reader()?.get(id)?.map(Document::into_owned))
    }

    /// See [`CollectionAt::get_by`](super::CollectionAt::get_by).
    pub fn get_by(&self, index: &str, values: &[super::Literal]) -> Result<Option<Document<'static>>> {
        self.reader()?.get_by(index, values)
    }

    /// Documents by id.
    pub fn list(&self, options: &ListOptions) -> Result<super::Documents> {
        self.reader()?.list(options)
    }

    /// The documents that a query asks for.
    pub fn find(&self, query: &Query) -> Result<super::Found> {
        self.reader()?.find(query)
    }

    /// How many documents there are. The commit then depends on every write to the collection.
    pub fn count(&self) -> Result<u64> {
        self.reader()?.count()
    }

    /// The document `id` shall say `body`, whatever it says now; a `_rev` in the body is expected.
    pub fn put(&self, id: &str, body: impl AsRef<[u8]>) -> Result<Staged> {
        self.write(Write::put(id, body)?)
    }

    /// A new document; without an id it is given one.
    pub fn create(&self, id: Option<&str>, body: impl AsRef<[u8]>) -> Result<Staged> {
        self.write(Write::create(id, body)?)
    }

    /// The document `id`, which is at `rev`, shall say `body`.
    pub fn replace(&self, id: &str, rev: &RevId, body: impl AsRef<[u8]>) -> Result<Staged> {
        self.write(Write::replace(id, rev, body)?)
    }

    /// Deletes the document `id`, which is at `rev`.
    pub fn delete(&self, id: &str, rev: &RevId) -> Result<Staged> {
        self.write(Write::delete(id, rev)?)
    }

    /// One write. After an error nothing of it is part of the transaction, which may go on.
    pub fn write(&self, mut write: Write) -> Result<Staged> {
        ensure_id(&self.transaction.store, &mut write)?;
        let rev = self.writing(|writer| writer.write(&write))?;
        Ok(Staged { id: write.id.unwrap_or_default(), rev })
    }

    /// Takes over a revision that another replica made; answers whether that changed anything. As
    /// [`TransactionCollection::write`] after an error.
    pub fn merge_revision(&self, write: &ReplicatedWrite) -> Result<bool> {
        self.writing(|writer| writer.merge(write))
    }

    /// Takes leaves of a document away; see [`Collection::purge`](super::Collection::purge).
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
