//! `_view` within limits: the rows of documents whose winner the rule lets through, counted and reduced by themselves.
//! If an index of access serves the rule, the rows of the user's documents are read and no others; else the document of
//! each row is tested.

use std::ops::Bound;
use std::sync::Arc;

use recension::document::{CollectionAt, Revision, ViewAt};
use recension::engine::{Direction, Seq};

use super::limits::Limits;
use crate::error::Result;
use crate::http::views::Within;

impl Within for Limits {
    fn view(self: Arc<Self>, view: ViewAt) -> Result<ViewAt> {
        let at = view.collection().clone();
        if let Some((access, marks)) = self.index_of(&at, Seq::ZERO)? {
            let ids = access.ids(&marks, Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
            // What may be meant is tested as well.
            let shown = ids.map(|id| {
                let id = id?;
                Ok(self.shows(&at, &id)?.then_some(id))
            });
            if let Some(own) = view.of_documents(shown.filter_map(recension::document::Result::transpose))? {
                return Ok(own);
            }
        }
        Ok(view.showing(move |id| self.shows(&at, id)))
    }

    fn shows_document(&self, at: &CollectionAt, id: &str) -> Result<bool> {
        Ok(self.shows(at, id)?)
    }

    fn shows_revision(&self, id: &str, revision: &Revision) -> bool {
        self.may_read(id, revision)
    }
}
