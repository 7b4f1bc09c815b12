//! What somebody is shown who may not see all documents. Endpoints ask it, and know no rules; `access` answers. Whether
//! somebody may write is not asked here: the store asks within the commit (`access/judge.rs`).

use std::sync::Arc;

use recension::{AccessIds, CollectionAt, Document, ListOptions, Query, RevId, Revision, ViewAt};

use super::incoming::Incoming;
use recension_wire::error::Result;

/// What somebody may see of a database, and how they name what they write.
pub trait Within: Send + Sync {
    /// The view with the rows that they may see.
    fn view(self: Arc<Self>, view: ViewAt) -> Result<ViewAt>;

    /// Whether they may see a document.
    fn shows(&self, document: &Document<'_>) -> bool;

    /// Whether they may see a revision of a document that they see.
    fn shows_revision(&self, id: &str, revision: &Revision) -> Result<bool>;

    /// Ids in a range, among which are those of all documents that they may see; `None`: any document may be one.
    fn ids(&self, at: &CollectionAt, range: &ListOptions) -> Result<Option<AccessIds>>;

    /// The query for those documents among its own that they may see.
    fn narrowed(&self, query: Query) -> Result<Query>;

    /// The database's description.
    fn info(&self) -> String;

    /// A document with the revision that they are told of.
    fn document(&self, id: &str) -> Result<Option<String>>;

    /// The revision that a name of theirs stands for.
    fn real(&self, id: &str, rev: RevId) -> Result<RevId>;

    /// Whether a revision was made up for them: it is taken as written.
    fn is_made_up(&self, id: &str, rev: &RevId) -> bool;

    /// The name that their local document has in the database: nobody else reaches it.
    fn local(&self, name: &str) -> String;
}

/// Who asks: somebody with limits, or, `None`, somebody who may see everything.
pub type Limited = Option<Arc<dyn Within>>;

/// A document that was sent, on the revision that it replaces.
pub(crate) fn edited(within: Option<&dyn Within>, id: &str, incoming: Incoming) -> Result<Incoming> {
    match (within, incoming.rev) {
        (Some(within), Some(rev)) => Ok(incoming.on(within.real(id, rev)?)),
        _ => Ok(incoming),
    }
}

/// Whether the newest of a replicated revision's names was made up for whoever sends it.
pub(crate) fn is_made_up(within: Option<&dyn Within>, id: &str, path: &[RevId]) -> bool {
    within.zip(path.first()).is_some_and(|(within, rev)| within.is_made_up(id, rev))
}
