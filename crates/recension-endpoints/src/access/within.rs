//! The answers that the database's endpoints get about a limited user: lists, queries, views and functions have the
//! documents whose winner the rule lets through. If an index of access serves the rule, the user's documents are read
//! and no others; else every document is tested.

use std::ops::Bound;
use std::sync::Arc;

use recension::engine::{Direction, Seq};
use recension::{AccessIds, CollectionAt, Document, ListOptions, Query, RevId, Revision, ViewAt};

use super::entry::refused;
use super::limits::Limits;
use super::{feed, reading};
use crate::within::Within;
use recension_wire::error::Result;

impl Within for Limits {
    /// The rows of the user's documents, counted and reduced by themselves.
    fn view(self: Arc<Self>, view: ViewAt) -> Result<ViewAt> {
        let at = view.collection().clone();
        if let Some((access, marks)) = self.index_of(&at, Seq::ZERO)? {
            let ids = access.ids(&marks, Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
            // What may be meant is tested as well.
            let shown = ids.map(|id| {
                let id = id?;
                Ok(self.shows_winner(&at, &id)?.then_some(id))
            });
            if let Some(own) = view.of_documents(shown.filter_map(recension::Result::transpose))? {
                return Ok(own);
            }
        }
        Ok(view.showing(move |id| self.shows_winner(&at, id)))
    }

    fn shows(&self, document: &Document<'_>) -> bool {
        Limits::shows(self, document)
    }

    fn shows_revision(&self, id: &str, revision: &Revision) -> Result<bool> {
        self.opens(id, revision)
    }

    fn ids(&self, at: &CollectionAt, range: &ListOptions) -> Result<Option<AccessIds>> {
        let Some((access, marks)) = self.index_of(at, Seq::ZERO)? else { return Ok(None) };
        let (start, end) = (range.start.as_ref().map(String::as_str), range.end.as_ref().map(String::as_str));
        Ok(Some(access.ids(&marks, start, end, range.direction)?))
    }

    fn narrowed(&self, query: Query) -> Result<Query> {
        let rule = self.tests().reads().selector().ok_or_else(refused)?;
        let query = query.selecting(rule.clone()).each_alone();
        Ok(match self.index_of(self.db.opened(), Seq::ZERO)? {
            Some((_, marks)) => query.among(marks),
            None => query,
        })
    }

    fn info(&self) -> String {
        reading::description(self)
    }

    fn document(&self, id: &str) -> Result<Option<String>> {
        let at = self.db.opened();
        let told = self.told(at, id)?;
        let shown = told.first().map_or(Ok(None), |own| feed::revision(self, at, id, *own))?;
        Ok(shown.map(|revision| revision.to_json(id)))
    }

    fn real(&self, id: &str, rev: RevId) -> Result<RevId> {
        Ok(self.meant(self.db.opened(), id, &rev)?.map_or(rev, |own| own.real))
    }

    fn is_made_up(&self, id: &str, rev: &RevId) -> bool {
        self.names.is_made_up(id, rev)
    }

    fn local(&self, name: &str) -> String {
        Limits::local(self, name)
    }
}
