//! A store that is open, and its transactions.

use std::path::PathBuf;
use std::sync::Arc;

use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;
use recension::engine::Seq;
use recension::{At, Position};
use recension_bindings::{Handle, Place, Within};

use crate::collection::Collection;
use crate::job::{Job, promise};
use crate::rows::{Feed, Source};

/// A store, once it is opened.
#[napi]
pub struct Store {
    pub(crate) handle: Arc<Handle>,
}

#[napi]
impl Store {
    /// One that is not open yet.
    #[napi(constructor)]
    #[allow(clippy::new_without_default)] // it is JavaScript's constructor
    pub fn new() -> Self {
        Store { handle: Arc::new(Handle::closed()) }
    }

    /// Opens it.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn open(&self, address: String, share: bool, read_only: bool) -> AsyncTask<Job<()>> {
        let handle = Arc::clone(&self.handle);
        promise(move || handle.open(&address, share, read_only))
    }

    /// A collection; as of a commit if one is given.
    #[napi]
    pub fn collection(&self, name: String, at: Option<i64>) -> Collection {
        let handle = Arc::clone(&self.handle);
        let place = match at {
            Some(at) => Place::Past(handle, Seq(at.unsigned_abs())),
            None => Place::Store(handle),
        };
        Collection::new(place, name)
    }

    /// The names of the collections.
    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn collections(&self) -> AsyncTask<Job<Vec<String>>> {
        let handle = Arc::clone(&self.handle);
        promise(move || {
            Ok(handle.store()?.collections(At::Now)?.into_iter().map(|collection| collection.name).collect())
        })
    }

    /// Drops a collection.
    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn drop(&self, name: String) -> AsyncTask<Job<bool>> {
        let handle = Arc::clone(&self.handle);
        promise(move || Ok(handle.store()?.drop_collection(&name)?))
    }

    /// The number of the commit that a moment names.
    #[napi(ts_return_type = "Promise<number>")]
    pub fn resolve(&self, at: String) -> AsyncTask<Job<i64>> {
        let handle = Arc::clone(&self.handle);
        promise(move || Ok(handle.store()?.resolve(at.parse()?)?.0.cast_signed()))
    }

    /// A transaction that is not begun yet.
    #[napi]
    pub fn transaction(&self) -> Transaction {
        Transaction { handle: Arc::clone(&self.handle), within: Arc::new(Within::ended()) }
    }

    /// A feed of the changes of a collection, or of all.
    #[napi]
    pub fn changes(&self, collection: Option<String>, since: String, follow: bool) -> Feed {
        let handle = Arc::clone(&self.handle);
        Feed::new(move || {
            let (since, store) = (since.parse::<Position>()?, handle.store()?);
            Ok(match (collection, follow) {
                (None, true) => Source::Follow(Box::new(store.follow(since))),
                (None, false) => Source::Known(Box::new(store.changes(since)?)),
                (Some(name), true) => Source::Follow(Box::new(store.collection(&name)?.follow(since))),
                (Some(name), false) => Source::Known(Box::new(store.collection(&name)?.changes(since)?)),
            })
        })
    }

    /// Writes a consistent copy of the store into a folder.
    #[napi(ts_return_type = "Promise<number>")]
    pub fn backup(&self, to: String) -> AsyncTask<Job<i64>> {
        let handle = Arc::clone(&self.handle);
        promise(move || Ok(handle.store()?.engine().backup(&PathBuf::from(to))?.head.0.cast_signed()))
    }

    /// Closes the store.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn close(&self) -> AsyncTask<Job<()>> {
        let handle = Arc::clone(&self.handle);
        promise(move || {
            handle.close();
            Ok(())
        })
    }
}

/// A transaction, once it is begun.
#[napi]
pub struct Transaction {
    handle: Arc<Handle>,
    within: Arc<Within>,
}

#[napi]
impl Transaction {
    /// Begins it.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn begin(&self) -> AsyncTask<Job<()>> {
        let (handle, within) = (Arc::clone(&self.handle), Arc::clone(&self.within));
        promise(move || within.begin(&handle))
    }

    /// A collection, as the transaction sees it.
    #[napi]
    pub fn collection(&self, name: String) -> Collection {
        Collection::new(Place::Transaction(Arc::clone(&self.within)), name)
    }

    /// Commits.
    #[napi(ts_return_type = "Promise<number>")]
    pub fn commit(&self) -> AsyncTask<Job<i64>> {
        let within = Arc::clone(&self.within);
        promise(move || Ok(within.commit()?.0.cast_signed()))
    }

    /// Gives it up.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn rollback(&self) -> AsyncTask<Job<()>> {
        let within = Arc::clone(&self.within);
        promise(move || {
            within.roll_back();
            Ok(())
        })
    }
}
