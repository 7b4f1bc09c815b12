//! What happens to databases: made, written to, dropped. Notes of it are kept in the store, for `_db_updates`. Pure.

use recension::engine::Seq;

/// The last event of its kind of a database.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Event {
    /// The commit.
    pub seq: Seq,
    pub database: String,
    /// The kind, in CouchDB's words.
    pub kind: &'static str,
}

impl Event {
    pub(super) const CREATED: &str = "created";
    pub(super) const UPDATED: &str = "updated";
    pub(super) const DELETED: &str = "deleted";

    /// The kind and the database in the id of a note.
    pub(super) fn noted(id: &str) -> Option<(&'static str, &str)> {
        let (kind, name) = id.split_once(':')?;
        [Event::CREATED, Event::DELETED].into_iter().find(|own| *own == kind).map(|kind| (kind, name))
    }
}
