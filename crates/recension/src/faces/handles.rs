//! Handles that group the rarer methods of a collection: each borrows the collection and costs nothing. Their methods
//! stand in the files of their subjects.

use crate::faces::collection::Collection;

/// The settings of a collection: its schema, retention, limits, expiry, access, and texts under names; see
/// [`Collection::settings`].
#[derive(Clone, Copy)]
pub struct Settings<'c> {
    pub(crate) collection: &'c Collection,
}

/// The local documents of a collection; see [`Collection::locals`].
#[derive(Clone, Copy)]
pub struct Locals<'c> {
    pub(crate) collection: &'c Collection,
}

/// What replicas read and write in a collection: trees of revisions, merges, purges; see [`Collection::replication`].
#[derive(Clone, Copy)]
pub struct Replication<'c> {
    pub(crate) collection: &'c Collection,
}

/// The views of a collection; see [`Collection::views`].
#[derive(Clone, Copy)]
pub struct Views<'c> {
    pub(crate) collection: &'c Collection,
}

/// Bytes that are taken in for attachments; see [`Collection::uploads`].
#[derive(Clone, Copy)]
pub struct Uploads<'c> {
    pub(crate) collection: &'c Collection,
}

impl Collection {
    /// Its settings: schema, retention, limits of revisions and purges, expiry, access, and texts under names.
    ///
    /// ```
    /// # fn main() -> recension::Result<()> {
    /// let people = recension::open("memory:")?.collection("people")?;
    /// people.settings().set("colour", Some("green"))?;
    /// people.settings().set_revs_limit(100)?;
    /// assert_eq!(people.settings().get("colour")?.as_deref(), Some("green"));
    /// # Ok(()) }
    /// ```
    pub fn settings(&self) -> Settings<'_> {
        Settings { collection: self }
    }

    /// Its local documents, which belong to this store and are never replicated.
    pub fn locals(&self) -> Locals<'_> {
        Locals { collection: self }
    }

    /// What replicas read and write: trees of revisions, merges, purges.
    pub fn replication(&self) -> Replication<'_> {
        Replication { collection: self }
    }

    /// Its views: rows that functions make of documents.
    pub fn views(&self) -> Views<'_> {
        Views { collection: self }
    }

    /// Taking in the bytes of attachments before a write attaches them. For a single attachment,
    /// [`Collection::attach`] does both.
    pub fn uploads(&self) -> Uploads<'_> {
        Uploads { collection: self }
    }
}
