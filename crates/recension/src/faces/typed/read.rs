//! Typed reads: a collection as of one commit, and the iterators over it.

use super::codec::Codec;
use super::{DocumentType, Entry};
use crate::engine::{Seq, Timestamp};
use crate::kernel::query::find::Found;
use crate::kernel::query::page::Page;
use crate::kernel::read::history::History;
use crate::kernel::read::reader::{CollectionAt, Documents, ListOptions};
use recension_values::condition::Literal;
use recension_values::cursor::Cursor;
use recension_values::error::Result;
use recension_values::plan::Plan;
use recension_values::query::Query;
use recension_values::revid::RevId;

/// A typed collection as it was right after one commit.
#[derive(Clone)]
pub struct TypedAt<T> {
    pub(super) reader: CollectionAt,
    pub(super) codec: Codec<T>,
}

impl<T: DocumentType> TypedAt<T> {
    /// The collection without the type.
    pub fn untyped(&self) -> &CollectionAt {
        &self.reader
    }

    /// The commit.
    pub fn seq(&self) -> Seq {
        self.reader.seq()
    }

    /// A value; `None` if there is no document or it is deleted. It is decoded from where the engine has it.
    pub fn get(&self, id: &str) -> Result<Option<T>> {
        self.reader.get(id)?.map(|document| self.codec.decode(&document)).transpose()
    }

    /// A value, with its revision.
    pub fn entry(&self, id: &str) -> Result<Option<Entry<T>>> {
        self.reader.get(id)?.map(|document| Entry::of(&self.codec, &document)).transpose()
    }

    /// The value whose document has these values in a unique index; see [`CollectionAt::get_by`].
    pub fn get_by(&self, index: &str, values: &[Literal]) -> Result<Option<T>> {
        self.reader.get_by(index, values)?.map(|document| self.codec.decode(&document)).transpose()
    }

    /// Values in the order of their ids. Deleted documents have none, whatever the options say.
    pub fn list(&self, options: &ListOptions) -> Result<TypedDocuments<T>> {
        let options = ListOptions { deleted: false, ..options.clone() };
        Ok(TypedDocuments { documents: self.reader.list(&options)?, codec: self.codec.clone() })
    }

    /// The values that a query asks for, and the way in which they are found.
    /// A query tests documents as they are stored: documents of an older version are not migrated before.
    pub fn find(&self, query: &Query) -> Result<TypedFound<T>> {
        Ok(TypedFound { found: self.reader.find(query)?, codec: self.codec.clone() })
    }

    /// One page of the values that a query asks for, and whether there is a next one; see [`CollectionAt::page`].
    pub fn page(&self, query: &Query) -> Result<Page<T>> {
        Page::read(query, |query| self.find(query), TypedFound::cursor)
    }

    /// Every revision of a document up to this commit, newest first, each migrated if it is of an older version.
    pub fn history(&self, id: &str) -> Result<TypedHistory<T>> {
        Ok(TypedHistory { id: id.to_owned(), history: self.reader.history(id)?, codec: self.codec.clone() })
    }

    /// How many documents there are.
    pub fn count(&self) -> Result<u64> {
        self.reader.count()
    }
}

/// Values in the order of their ids. A document that does not decode is an error, and the others follow.
pub struct TypedDocuments<T> {
    documents: Documents,
    codec: Codec<T>,
}

impl<T: DocumentType> Iterator for TypedDocuments<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        // A document that does not decode is no failure of the engine, and does not end the list.
        Some(self.documents.next_with(|document| self.codec.decode(&document))?.flatten())
    }
}

/// The values that a query asked for. A document that does not decode is an error, and the others follow.
pub struct TypedFound<T> {
    found: Found,
    codec: Codec<T>,
}

impl<T> TypedFound<T> {
    /// The way in which the documents are found.
    pub fn plan(&self) -> Plan {
        self.found.plan()
    }

    /// The cursor of the last value of this page so far, for [`Query::after`].
    pub fn cursor(&self) -> Option<Cursor> {
        self.found.cursor()
    }
}

impl<T: DocumentType> Iterator for TypedFound<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.found.next_with(|document| self.codec.decode(&document))
    }
}

/// One revision in the history of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypedRevision<T> {
    /// Its id.
    pub rev: RevId,
    /// The commit that wrote it.
    pub seq: Seq,
    /// When that commit was made.
    pub time: Timestamp,
    /// The value; `None` if it is a deletion.
    pub value: Option<T>,
}

/// The revisions of a value, newest first. A revision that does not decode is an error, and the others follow.
pub struct TypedHistory<T> {
    id: String,
    history: History,
    codec: Codec<T>,
}

impl<T: DocumentType> Iterator for TypedHistory<T> {
    type Item = Result<TypedRevision<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.history.next()?.and_then(|revision| {
            let decode = || self.codec.decode_body(&self.id, &revision.rev, &revision.body);
            let value = if revision.deleted { None } else { Some(decode()?) };
            Ok(TypedRevision { rev: revision.rev, seq: revision.seq, time: revision.time, value })
        }))
    }
}
