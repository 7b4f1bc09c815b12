//! Views of design documents over HTTP: `_view`, its `queries`, `_info`, `_view_cleanup`. One file each for the
//! parameters, the rows and the descriptions.

mod asked;
mod info;
mod rows;
mod view;

use std::sync::Arc;

use recension::document::{CollectionAt, Revision, ViewAt};

pub(crate) use self::asked::ViewQuery;
pub(crate) use self::info::{cleanup, info};
pub(crate) use self::rows::ViewList;
pub(crate) use self::view::{Asked, endpoint};

use crate::error::Result;

/// What of a view is shown to somebody who may not see all documents.
pub(crate) trait Within: Send + Sync {
    /// The view with the rows that they may see.
    fn view(self: Arc<Self>, view: ViewAt) -> Result<ViewAt>;

    /// Whether they may see a document.
    fn shows_document(&self, at: &CollectionAt, id: &str) -> Result<bool>;

    /// Whether they may see a revision.
    fn shows_revision(&self, id: &str, revision: &Revision) -> bool;
}
