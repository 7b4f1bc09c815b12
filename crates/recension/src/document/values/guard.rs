//! Who decides whether documents may be written, and what they are told. Traits and plain values.

use std::sync::{Arc, OnceLock};

#[cfg(doc)]
use crate::document::values::error::Error;
use crate::document::values::error::Result;
use crate::document::values::revid::RevId;

/// Decides whether documents may be written, by the functions of design documents.
pub trait Guard: Send + Sync {
    /// Whether a design document can be one. Asked of those that are written here.
    ///
    /// # Errors
    /// What is wrong with it: it is not written.
    fn check_design(&self, id: &str, body: &str) -> Result<()>;

    /// Whether a document may be written, by the validation function of one design document.
    ///
    /// # Errors
    /// [`Error::Refused`]; [`Error::Function`] if that cannot be found out. It is not written.
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
    /// What it says, as JSON.
    pub body: &'w str,
}

/// A document that somebody wants to write.
#[derive(Clone, Copy, Debug)]
pub struct Proposed<'w> {
    /// Its id.
    pub id: &'w str,
    /// As it is to be, as JSON.
    pub new: &'w str,
    /// As it is; `None` if there is none, or it is deleted.
    pub old: Option<&'w str>,
    /// Who writes, as CouchDB's `userCtx`.
    pub user: &'w str,
    /// Who may do what in the collection, as CouchDB's security object.
    pub security: &'w str,
}

/// Who writes, as validation functions are told. It is only asked when there is such a function.
pub trait Actor: Send + Sync {
    /// CouchDB's `userCtx`, as JSON.
    fn user(&self) -> String;
    /// CouchDB's security object, as JSON.
    fn security(&self) -> String;
}

/// The guard of a store, once it has one.
pub(in crate::document) type GuardCell = Arc<OnceLock<Arc<dyn Guard>>>;
