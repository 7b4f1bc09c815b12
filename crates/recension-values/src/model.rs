//! The answers of reads and writes: documents, revisions, receipts. Plain values.

use std::borrow::Cow;

use crate::attachment::{AttachmentInfo, stubs_json};
use crate::index_spec::IndexSpec;
use crate::json::quote;
use crate::revid::RevId;
use recension_engine::{Retention, Seq, Timestamp};

/// A document: borrowed from the snapshot if the engine can, or owned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Document<'s> {
    /// Its id.
    pub id: Cow<'s, str>,
    /// Its revision.
    pub rev: RevId,
    /// The newest commit that changed the document: it wrote this revision, or a conflicting one.
    pub seq: Seq,
    /// Whether that revision is its deletion.
    pub deleted: bool,
    /// Its body: a minified JSON object without `_id` and `_rev`.
    pub body: Cow<'s, str>,
    /// Its attachments, in their order.
    pub attachments: Vec<AttachmentInfo>,
}

impl Document<'_> {
    /// The same document, independent of the snapshot.
    pub fn into_owned(self) -> Document<'static> {
        Document {
            id: Cow::Owned(self.id.into_owned()),
            rev: self.rev,
            seq: self.seq,
            deleted: self.deleted,
            body: Cow::Owned(self.body.into_owned()),
            attachments: self.attachments,
        }
    }

    /// The document as CouchDB answers it: `_id`, `_rev`, and `_deleted` if it is deleted, then the members of the
    /// body, then the attachments as stubs (`_attachments`).
    pub fn to_json(&self) -> String {
        with_fields(&self.id, &self.rev, self.deleted, &self.body, &self.attachments)
    }
}

fn with_fields(id: &str, rev: &RevId, deleted: bool, body: &str, attachments: &[AttachmentInfo]) -> String {
    let members = body.strip_prefix('{').unwrap_or("}");
    let comma = if members == "}" { "" } else { "," };
    let deleted = if deleted { ",\"_deleted\":true" } else { "" };
    let mut out = format!("{{\"_id\":{},\"_rev\":\"{rev}\"{deleted}{comma}{members}", quote(id));
    if !attachments.is_empty() {
        out.pop();
        out.push_str(",\"_attachments\":");
        out.push_str(&stubs_json(attachments));
        out.push('}');
    }
    out
}

/// One revision in the history of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Revision {
    /// Its id.
    pub rev: RevId,
    /// The commit that wrote it.
    pub seq: Seq,
    /// When that commit was made.
    pub time: Timestamp,
    /// Whether it is a deletion.
    pub deleted: bool,
    /// The body: a minified JSON object.
    pub body: String,
    /// Its attachments, in their order.
    pub attachments: Vec<AttachmentInfo>,
}

/// One revision in the history of a document, without its body and attachments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RevisionHead {
    /// Its id.
    pub rev: RevId,
    /// The commit that wrote it.
    pub seq: Seq,
    /// When that commit was made.
    pub time: Timestamp,
    /// Whether it is a deletion.
    pub deleted: bool,
}

impl Revision {
    /// The same without body and attachments.
    pub fn head(&self) -> RevisionHead {
        RevisionHead { rev: self.rev, seq: self.seq, time: self.time, deleted: self.deleted }
    }

    /// As [`Document::to_json`].
    pub fn to_json(&self, id: &str) -> String {
        with_fields(id, &self.rev, self.deleted, &self.body, &self.attachments)
    }
}

/// The receipt of a write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// The document.
    pub id: String,
    /// The revision that was made.
    pub rev: RevId,
    /// The commit that it is in.
    pub seq: Seq,
    /// When that commit was made.
    pub time: Timestamp,
}

/// The receipt of a write inside of a transaction. It holds once the transaction is committed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Staged {
    /// The document.
    pub id: String,
    /// The revision that is made.
    pub rev: RevId,
}

/// How many documents a collection holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Documents that are not deleted.
    pub documents: u64,
    /// Deleted documents.
    pub deleted: u64,
    /// Bytes of the bodies of the documents that are not deleted.
    pub body_bytes: u64,
    /// Writes of documents that had been written before. Collections of older versions do not count them.
    pub rewritten: u64,
    /// The newest commit that changed a document.
    pub changed: Seq,
}

impl Counts {
    /// How many writes and purges of documents the collection has seen; it does not go down.
    #[must_use]
    pub fn updates(&self) -> u64 {
        self.documents + self.deleted + self.rewritten
    }
}

/// A collection of a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CollectionInfo {
    /// Its name.
    pub name: String,
    /// Its indexes.
    pub indexes: Vec<IndexInfo>,
    /// The present rule for its history, even if the collections are listed as of a past moment.
    pub retention: Retention,
}

/// An index of a collection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexInfo {
    /// Its specification.
    pub spec: IndexSpec,
    /// Whether it is ready.
    pub state: IndexState,
}

/// The state of an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexState {
    /// Writers keep the index, and older documents are still being added. Queries do not use it yet.
    Building,
    /// It holds every document.
    Ready,
}
