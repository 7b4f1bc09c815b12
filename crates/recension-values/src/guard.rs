//! The guard, which decides whether documents may be written, and its arguments. Traits and plain values.

use std::sync::{Arc, OnceLock};

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::revid::RevId;

/// Decides whether documents may be written, by the functions of design documents.
pub trait Guard: Send + Sync {
    /// Checks that a design document is valid. It is called for design documents that are written here.
    ///
    /// # Errors
    /// The reason for which it is not written.
    fn check_design(&self, id: &str, body: &str) -> Result<()>;

    /// Checks that a document may be written, by the validation function of one design document.
    ///
    /// # Errors
    /// [`Error::Refused`]; [`Error::Function`] if the function fails. The document is not written then.
    fn validate(&self, design: &Validator<'_>, proposed: &Proposed<'_>) -> Result<()>;
}

/// A design document that has a validation function.
#[derive(Clone, Copy, Debug)]
pub struct Validator<'w> {
    /// The collection.
    pub collection: &'w str,
    /// The collection's number, which no other collection of the store has.
    pub number: u32,
    /// Its id.
    pub id: &'w str,
    /// Its revision.
    pub rev: RevId,
    /// Its body, as JSON.
    pub body: &'w str,
}

/// A document that a user wants to write.
#[derive(Clone, Copy, Debug)]
pub struct Proposed<'w> {
    /// Its id.
    pub id: &'w str,
    /// Its new state, as JSON.
    pub new: &'w str,
    /// Its present state; `None` if there is none, or it is deleted.
    pub old: Option<&'w str>,
    /// The user, as CouchDB's `userCtx`.
    pub user: &'w str,
    /// The rights in the collection, as CouchDB's security object.
    pub security: &'w str,
}

/// The writer's identity, for validation functions. It is only asked for if there is such a function.
pub trait Actor: Send + Sync {
    /// CouchDB's `userCtx`, as JSON.
    fn user(&self) -> String;
    /// CouchDB's security object, as JSON.
    fn security(&self) -> String;
}

/// The guard of a store, once it has one.
pub type GuardCell = Arc<OnceLock<Arc<dyn Guard>>>;
