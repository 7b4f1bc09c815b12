//! Branches and tags of a store: what `index.js` asks of a `Store`, as texts of JSON.

use std::sync::Arc;

use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;
use recension::At;
use recension_bindings::branches::{self, MergeAsked};
use recension_bindings::{Handle, Result};

use crate::job::{Job, promise};
use crate::rows::Rows;
use crate::store::Store;

fn moment(at: Option<&String>) -> Result<At> {
    Ok(at.map_or(Ok(At::Now), |at| at.parse())?)
}

/// Another branch of a store: one that is open, or one by its name.
fn other(store: &recension::Store, named: Option<&String>, opened: &Handle) -> Result<recension::Store> {
    match named {
        Some(name) => Ok(store.open_branch(name)?),
        None => opened.store(),
    }
}

#[napi]
impl Store {
    /// Makes this object, which is not open yet, the branch of another store; a new one if a moment is given.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn branch_of(&self, store: &Store, name: String, made_at: Option<String>) -> AsyncTask<Job<()>> {
        let (branch, of) = (Arc::clone(&self.handle), Arc::clone(&store.handle));
        promise(move || {
            let made_at = made_at.map(|at| moment(Some(&at))).transpose()?;
            branch.open_branch(&of, &name, made_at)
        })
    }

    /// The name of the branch.
    #[napi(ts_return_type = "Promise<string | null>")]
    pub fn branch_name(&self) -> AsyncTask<Job<Option<String>>> {
        let handle = Arc::clone(&self.handle);
        promise(move || Ok(handle.store()?.branch_name().map(str::to_owned)))
    }

    /// All branches, as JSON.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn branches(&self) -> AsyncTask<Job<String>> {
        let handle = Arc::clone(&self.handle);
        promise(move || branches::branches(&handle.store()?))
    }

    /// Gives a branch another name.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn rename_branch(&self, name: String, to: String) -> AsyncTask<Job<()>> {
        let handle = Arc::clone(&self.handle);
        promise(move || Ok(handle.store()?.rename_branch(&name, &to)?))
    }

    /// Drops a branch.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn drop_branch(&self, name: String) -> AsyncTask<Job<()>> {
        let handle = Arc::clone(&self.handle);
        promise(move || Ok(handle.store()?.drop_branch(&name)?))
    }

    /// Gives a moment a name; its commit's number.
    #[napi(ts_return_type = "Promise<number>")]
    pub fn tag(&self, name: String, at: Option<String>) -> AsyncTask<Job<i64>> {
        let handle = Arc::clone(&self.handle);
        promise(move || Ok(handle.store()?.tag(&name, moment(at.as_ref())?)?.seq.0.cast_signed()))
    }

    /// All tags, as JSON.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn tags(&self) -> AsyncTask<Job<String>> {
        let handle = Arc::clone(&self.handle);
        promise(move || branches::tags(&handle.store()?))
    }

    /// Removes a tag.
    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn untag(&self, name: String) -> AsyncTask<Job<bool>> {
        let handle = Arc::clone(&self.handle);
        promise(move || Ok(handle.store()?.untag(&name)?))
    }

    /// The documents that differ between this and another branch.
    #[napi]
    pub fn diff(&self, named: Option<String>, opened: &Store, at: Option<String>, other_at: Option<String>) -> Rows {
        let (handle, opened) = (Arc::clone(&self.handle), Arc::clone(&opened.handle));
        Rows::later(move || {
            let store = handle.store()?;
            let other = other(&store, named.as_ref(), &opened)?;
            branches::differences(&store, moment(at.as_ref())?, &other, moment(other_at.as_ref())?)
        })
    }

    /// Merges another branch into this one; the result as JSON.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn merge(
        &self,
        named: Option<String>,
        opened: &Store,
        conflicts: Option<String>,
        dry_run: bool,
        counters: Vec<String>,
        identities: Option<Vec<String>>,
    ) -> AsyncTask<Job<String>> {
        let (handle, opened) = (Arc::clone(&self.handle), Arc::clone(&opened.handle));
        promise(move || {
            let store = handle.store()?;
            let from = other(&store, named.as_ref(), &opened)?;
            branches::merge(&store, &from, MergeAsked { conflicts, dry_run, counters, identities })
        })
    }
}
