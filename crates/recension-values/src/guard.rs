//! The guard, which decides whether documents may be written, and its arguments. Traits and plain values.

use std::sync::{Arc, OnceLock};

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::model::Document;
use crate::revid::RevId;
use recension_engine::BranchId;

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
    /// The branch that it is on; zero: the main line.
    pub branch: BranchId,
    /// The collection's number, which no other collection of the branch has.
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

/// The writer's identity, for validation functions, and what the writer may do.
pub trait Actor: Send + Sync {
    /// CouchDB's `userCtx`, as JSON. It is only asked for if there is a validation function.
    fn user(&self) -> String;
    /// CouchDB's security object, as JSON.
    fn security(&self) -> String;

    /// Whether [`Actor::may`] is asked about every write.
    fn is_limited(&self) -> bool {
        false
    }

    /// Decides a write before anything else does, by what would be stored and what that would stand on. It is asked
    /// again if the write is decided again, since another commit came first.
    ///
    /// # Errors
    /// [`Error::Refused`], or any other error that the writer gets instead of the write.
    fn may(&self, change: &Intended<'_>) -> Result<()> {
        let _ = change;
        Ok(())
    }

    /// Checks the form of a design document that is written here. The guard checks its functions.
    ///
    /// # Errors
    /// The reason for which it is not written.
    fn may_design(&self, id: &str, body: &str) -> Result<()> {
        let _ = (id, body);
        Ok(())
    }
}

/// A write as it would take place.
#[derive(Clone, Debug)]
pub struct Intended<'w> {
    /// The document's id.
    pub id: &'w str,
    /// The new document as it would be stored; `None`: the write is a deletion.
    pub new: Option<Document<'w>>,
    /// The leaves, except deletions, that the new revision stands on: they would be leaves no more.
    pub replaced: Vec<Document<'w>>,
    /// The present winner, unless it is a deletion.
    pub winner: Option<Document<'w>>,
    /// The leaf whose attachments the new revision takes over by name.
    pub keeps_from: Option<Document<'w>>,
}

/// The guard of a store, once it has one.
pub type GuardCell = Arc<OnceLock<Arc<dyn Guard>>>;
