//! Where a collection is read and written: the store as it is now, as it was, or a transaction.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use recension::engine::Seq;
use recension::{At, Collection, CollectionAt, OpenOptions, RevId, Store, Transaction, Write, open_read_only};

use crate::{Refused, Result};

/// The store until it is closed. What is iterated over keeps it open until that has ended.
pub struct Handle {
    store: RwLock<Option<Store>>,
}

impl Handle {
    /// Of no store yet.
    pub fn closed() -> Self {
        Handle { store: RwLock::new(None) }
    }

    /// Opens a store.
    pub fn open(&self, address: &str, share: bool, read_only: bool) -> Result<()> {
        let store = if read_only { open_read_only(address)? } else { OpenOptions::new().share(share).open(address)? };
        *self.store.write() = Some(store);
        Ok(())
    }

    /// The store.
    pub fn store(&self) -> Result<Store> {
        self.store.read().clone().ok_or(Refused::Closed("the database was closed: open it again"))
    }

    /// Opens a branch of another one that is open; makes it, as of a moment, if one is given.
    pub fn open_branch(&self, of: &Handle, name: &str, made_at: Option<At>) -> Result<()> {
        let store = of.store()?;
        let branch = match made_at {
            Some(at) => store.branch(name, at)?,
            None => store.open_branch(name)?,
        };
        *self.store.write() = Some(branch);
        Ok(())
    }

    /// Whether it was closed.(&self) -> bool {
        self.store.read().is_none()
    }

    /// Closes it.
    pub fn close(&self) {
        let store = self.store.write().take();
        drop(store);
    }
}

/// A transaction until it has ended.
pub struct Within {
    transaction: Mutex<Option<Transaction>>,
}

const ENDED: Refused = Refused::Closed("the transaction has ended: begin another");

impl Within {
    /// None yet.
    pub fn ended() -> Self {
        Within { transaction: Mutex::new(None) }
    }

    /// Begins one.
    pub fn begin(&self, handle: &Handle) -> Result<()> {
        let begun = handle.store()?.begin()?;
        *self.transaction.lock() = Some(begun);
        Ok(())
    }

    /// Does something in it.
    pub fn with<T>(&self, does: impl FnOnce(&Transaction) -> recension::Result<T>) -> Result<T> {
        match &*self.transaction.lock() {
            Some(transaction) => Ok(does(transaction)?),
            None => Err(ENDED),
        }
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.transaction.lock().is_none()
    }

    /// Commits it.
    pub fn commit(&self) -> Result<Seq> {
        let transaction = self.transaction.lock().take().ok_or(ENDED)?;
        Ok(transaction.commit()?.seq)
    }

    /// Gives it up.
    pub fn roll_back(&self) {
        let transaction = self.transaction.lock().take();
        drop(transaction);
    }
}

/// Where collections are.
#[derive(Clone)]
pub enum Place {
    /// In the store as it is.
    Store(Arc<Handle>),
    /// In the store right after a commit.
    Past(Arc<Handle>, Seq),
    /// In a transaction.
    Transaction(Arc<Within>),
}

impl Place {
    /// Reads a collection as of a moment.
    pub fn read<T>(&self, name: &str, at: At, does: impl FnOnce(CollectionAt) -> recension::Result<T>) -> Result<T> {
        match (self, at) {
            (Place::Transaction(within), At::Now) => {
                within.with(|transaction| does(transaction.collection(name)?.reader()?))
            }
            (Place::Transaction(_), _) => Err(Refused::Wrong("at: a transaction reads one moment")),
            (Place::Past(handle, seq), At::Now) => Ok(does(handle.store()?.collection_as_of(name, At::Seq(*seq))?)?),
            (Place::Store(handle) | Place::Past(handle, _), at) => Ok(does(handle.store()?.collection(name)?.at(at)?)?),
        }
    }

    /// A document of the newest commit that is seen there.
    pub fn get(&self, name: &str, id: &str) -> Result<Option<recension::Document<'static>>> {
        match self {
            Place::Store(handle) => Ok(handle.store()?.collection(name)?.get(id)?),
            _ => self.read(name, At::Now, |collection| Ok(collection.get(id)?.map(recension::Document::into_owned))),
        }
    }

    /// Writes; answers the document's id and its revision.
    pub fn write(&self, name: &str, write: Write) -> Result<(String, RevId)> {
        match self {
            Place::Store(handle) => {
                let written = handle.store()?.collection(name)?.write(write)?;
                Ok((written.id, written.rev))
            }
            Place::Transaction(within) => within.with(|transaction| {
                let staged = transaction.collection(name)?.write(write)?;
                Ok((staged.id, staged.rev))
            }),
            Place::Past(..) => Err(Refused::Past),
        }
    }

    /// The collection itself, for what is done outside of transactions.
    pub fn itself(&self, name: &str) -> Result<Collection> {
        match self {
            Place::Store(handle) => Ok(handle.store()?.collection(name)?),
            _ => Err(Refused::Wrong("this is done on the collection of the database itself")),
        }
    }
}
