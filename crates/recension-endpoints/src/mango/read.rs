//! What a query reads: documents, or the values of an index that has all fields that were asked for.

use recension::{Cursor, Document, Found, Result, Selected, Selection};

use super::find::PreparedFind;

/// What is being read.
pub(super) enum Read {
    Documents(Found),
    Values(Selected),
}

/// What was found of a document.
pub(super) enum Hit {
    Document(Document<'static>),
    /// The values of the fields.
    Values(Selection),
}

impl Read {
    pub(super) fn of(asked: &PreparedFind) -> Result<Self> {
        Ok(if asked.plan.covering {
            Read::Values(asked.at.select(&asked.query)?)
        } else {
            Read::Documents(asked.at.find(&asked.query)?)
        })
    }

    pub(super) fn next(&mut self) -> Option<Result<Hit>> {
        match self {
            Read::Documents(found) => Some(found.next()?.map(Hit::Document)),
            Read::Values(selected) => Some(selected.next()?.map(Hit::Values)),
        }
    }

    pub(super) fn cursor(&self) -> Option<Cursor> {
        match self {
            Read::Documents(found) => found.cursor(),
            Read::Values(selected) => selected.cursor(),
        }
    }

    /// How many keys of indexes and how many documents were read. A document that was found without an index was found
    /// by its key, too.
    pub(super) fn examined(&self) -> (u64, u64) {
        let (keys, documents) = match self {
            Read::Documents(found) => found.examined(),
            Read::Values(selected) => selected.examined(),
        };
        (keys.max(documents), documents)
    }
}
