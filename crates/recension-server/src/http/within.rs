//! What somebody is shown who may not see all documents. Endpoints ask it, and know no rules; `access` answers.

use std::sync::Arc;

use recension::{AccessIds, CollectionAt, Document, ListOptions, Query, RevId, Revision, ViewAt};

use super::body::{member, members_of};
use super::incoming::Incoming;
use crate::error::Result;

/// What somebody may see of a database, and write to it.
pub(crate) trait Within: Send + Sync {
    /// The view with the rows that they may see.
    fn view(self: Arc<Self>, view: ViewAt) -> Result<ViewAt>;

    /// Whether they may see a document.
    fn shows(&self, document: &Document<'_>) -> bool;

    /// Whether they may see a revision.
    fn shows_revision(&self, id: &str, revision: &Revision) -> bool;

    /// Ids in a range, among which are those of all documents that they may see; `None`: any document may be one.
    fn ids(&self, at: &CollectionAt, range: &ListOptions) -> Result<Option<AccessIds>>;

    /// The query for those documents among its own that they may see.
    fn narrowed(&self, query: Query) -> Result<Query>;

    /// The database's description.
    fn info(&self) -> String;

    /// A document with the revision that they are told of.
    fn document(&self, id: &str) -> Result<Option<String>>;

    /// The revision that an edit replaces, if they may make the edit. `body`: the new document; `None`: a deletion.
    fn edits(&self, id: &str, on: Option<RevId>, body: Option<&str>) -> Result<Option<RevId>>;

    /// Whether a replicated revision is to be written; not if it was made up for them.
    fn merges(&self, id: &str, path: &[RevId], body: Option<&str>) -> Result<bool>;
}

/// Who asks: somebody with limits, or, `None`, somebody who may see everything.
pub(crate) type Limited = Option<Arc<dyn Within>>;

/// The text of a document that is written; `None`: it is deleted.
pub(crate) fn written_text(body: &[u8]) -> Option<&str> {
    let members = members_of(body).ok()?;
    let deletes = member(&members, "_deleted").is_some_and(|value| value.get() == "true");
    if deletes { None } else { std::str::from_utf8(body).ok() }
}

/// A document that was sent, on the revision that it replaces, if whoever sends it may write it. `text`: all of it.
pub(crate) fn edited(within: Option<&dyn Within>, id: &str, incoming: Incoming, text: &str) -> Result<Incoming> {
    let Some(within) = within else { return Ok(incoming) };
    Ok(match within.edits(id, incoming.rev, written_text(text.as_bytes()))? {
        Some(real) => incoming.on(real),
        None => incoming,
    })
}
