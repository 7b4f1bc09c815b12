//! What can go wrong with documents. Every message can be shown to a person as it is, and says what to
//! do next. Nothing here prints or exits.

use std::fmt;
use std::sync::Arc;

use super::RevId;
use super::json::{JsonError, PatchError};
use crate::engine::EngineError;

/// The result of a document operation.
pub type Result<T> = std::result::Result<T, Error>;

/// A refusal of the documents layer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The engine below refused.
    Engine(EngineError),
    /// The text is not JSON.
    Json(JsonError),
    /// A JSON patch is none, or could not be applied.
    Patch(Box<PatchError>),
    /// A document is no value of the type that it was read as.
    Decode {
        /// The collection.
        collection: &'static str,
        /// The document.
        id: String,
        /// The type.
        type_name: &'static str,
        /// What is wrong, and where in the body.
        why: String,
    },
    /// A value cannot be a document.
    Encode {
        /// The collection.
        collection: &'static str,
        /// Its type.
        type_name: &'static str,
        /// Why.
        why: String,
    },
    /// A document has a newer version of its type's schema than this program knows.
    NewerSchema {
        /// The collection.
        collection: &'static str,
        /// The document.
        id: String,
        /// Its version.
        found: u32,
        /// The type's version.
        supported: u32,
    },
    /// A document could not be brought from one version of its type's schema to the next.
    Migration {
        /// The collection.
        collection: &'static str,
        /// The document.
        id: String,
        /// The version that it has come to.
        from: u32,
        /// The next one.
        to: u32,
        /// Why.
        why: String,
    },
    /// A document's body is JSON but not an object.
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
    /// A field whose name starts with `_` and is not one that documents have.
    ReservedField {
        /// Its name.
        field: String,
    },
    /// A field such as `_id` holds something that cannot be one.
    BadField {
        /// Its name.
        field: &'static str,
        /// What is expected there.
        expected: &'static str,
    },
    /// The document is not, or not any more, at the revision that the writer expected.
    Conflict {
        /// The document.
        id: String,
        /// The revision that the writer expected; `None`: that there is no document.
        expected: Option<Box<RevId>>,
        /// The revision that it has; `None`: there is no document.
        found: Option<Box<RevId>>,
        /// Whether that revision is a deletion.
        deleted: bool,
    },
    /// There is no such collection, or not any more, and a write was not to make it.
    NoSuchCollection {
        /// Its name.
        collection: String,
    },
    /// There is no such document, or it is deleted.
    NoSuchDocument {
        /// The collection.
        collection: String,
        /// The document.
        id: String,
    },
    /// The document never had that revision, or its history was given up by retention.
    NoSuchRevision {
        /// The document.
        id: String,
        /// The revision asked for.
        rev: RevId,
    },
    /// The revision is a deletion: there is no body to restore.
    RevisionIsDeletion {
        /// The document.
        id: String,
        /// The revision.
        rev: RevId,
    },
    /// What is not a position of a feed of changes.
    BadPosition {
        /// The text, shortened.
        text: String,
    },
    /// A transaction's own code gave it up; nothing was written.
    Aborted {
        /// Its reason.
        reason: String,
    },
    /// A row of a layout that development versions wrote before the first release.
    OlderLayout {
        /// What has it.
        what: String,
        /// Its layout.
        found: u8,
        /// The layout that this version reads.
        supported: u8,
    },
    /// A document's tree of revisions would grow beyond its bound.
    TooManyRevisions {
        /// The document.
        id: String,
        /// The bound.
        max: usize,
    },
    /// A setting is out of its bounds.
    OutOfBounds {
        /// What is set.
        what: &'static str,
        /// The value asked for.
        value: u32,
        /// The greatest one; the least is 1.
        max: u32,
    },
    /// A unique index holds the value already, for another document.
    NotUnique {
        /// The index.
        index: String,
        /// The value, as JSON text, shortened.
        value: String,
        /// The document that was to be written or indexed.
        id: String,
        /// The document that has the value.
        holder: String,
    },
    /// A value is too long for an index.
    ValueTooLong {
        /// The index.
        index: String,
        /// The document.
        id: String,
        /// Its encoded length, in bytes.
        len: usize,
        /// The bound.
        max: usize,
    },
    /// A document would have too many entries in an index.
    TooManyEntries {
        /// The index.
        index: String,
        /// The document.
        id: String,
        /// How many.
        entries: usize,
        /// The bound.
        max: usize,
    },
    /// There is an index of that name already, on other paths or of another kind.
    IndexExists {
        /// Its name.
        index: String,
        /// What it is on, for people.
        on: String,
    },
    /// An index cannot be so.
    BadIndex {
        /// Its name.
        index: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The index that a query was to go by cannot be used for it.
    IndexNotUsable {
        /// Its name.
        index: String,
        /// Why.
        why: String,
    },
    /// A query cannot be so.
    BadQuery {
        /// What is wrong with it.
        why: &'static str,
    },
    /// A cursor that cannot be gone on from.
    BadCursor {
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no index of that name.
    NoSuchIndex {
        /// The collection.
        collection: String,
        /// The name asked for.
        index: String,
    },
    /// The collection has as many indexes as one may have.
    TooManyIndexes {
        /// The bound.
        max: usize,
    },
    /// A name, an id or a path that cannot be one.
    BadName {
        /// What it would name: `collection`, `document`, `index`, `path`.
        what: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The text is not a revision id.
    BadRevision {
        /// The text.
        text: String,
    },
    /// The text does not name a moment.
    BadMoment {
        /// The text.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A number that no double and no bounded integer can hold, so that replicas could not agree on it.
    NumberOutOfRange {
        /// The number, shortened.
        number: String,
    },
    /// The query has to be sorted without an index and there is too much to sort in memory.
    SortTooLarge {
        /// The path to sort by.
        path: String,
        /// The bound, in bytes.
        max: usize,
    },
    /// A document keeps an attachment that its parent does not have.
    MissingStub {
        /// The document.
        id: String,
        /// The attachment.
        name: String,
    },
    /// There is no such attachment.
    NoSuchAttachment {
        /// The document.
        id: String,
        /// The attachment.
        name: String,
    },
    /// A member of `_attachments` is no attachment.
    BadAttachment {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A document would have too many attachments.
    TooManyAttachments {
        /// The bound.
        max: usize,
    },
    /// An attachment is too long.
    AttachmentTooLong {
        /// The bound, in bytes.
        max: u64,
    },
    /// An upload is not there any more, or is one of another collection.
    UploadGone,
    /// The bytes of an old revision's attachment are not there any more: they have to be uploaded again.
    ContentGone,
    /// The bytes that were to be uploaded cannot be read.
    Input {
        /// What the reader said.
        source: Arc<std::io::Error>,
    },
    /// Others wrote what this write had read, again and again.
    Busy {
        /// How often it was tried.
        attempts: u32,
    },
    /// A stored row of the documents layer cannot be read.
    DamagedRow {
        /// What the row is.
        what: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A stored row has a layout that this version does not know.
    NewerLayout {
        /// What the row is.
        what: String,
        /// The layout found.
        found: u8,
        /// The newest layout known.
        supported: u8,
    },
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        Error::Engine(error)
    }
}

impl From<JsonError> for Error {
    fn from(error: JsonError) -> Self {
        Error::Json(error)
    }
}

impl From<PatchError> for Error {
    fn from(error: PatchError) -> Self {
        Error::Patch(Box::new(error))
    }
}

impl Error {
    /// Whether reading again and deciding anew may succeed.
    pub fn is_conflict(&self) -> bool {
        match self {
            Error::Engine(error) => error.is_conflict(),
            Error::Conflict { .. } | Error::Busy { .. } => true,
            _ => false,
        }
    }

    /// Whether something that was asked for is not there.
    pub fn is_not_found(&self) -> bool {
        matches!(
            self,
            Error::NoSuchCollection { .. }
                | Error::NoSuchDocument { .. }
                | Error::NoSuchRevision { .. }
                | Error::NoSuchIndex { .. }
                | Error::NoSuchAttachment { .. }
        )
    }
}

impl fmt::Display for Error {
    #[allow(clippy::too_many_lines)] // an arm for each variant
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Engine(error) => error.fmt(f),
            Error::Json(error) => error.fmt(f),
            Error::Patch(error) => error.fmt(f),
            Error::Decode { collection, id, type_name, why } => {
                write!(f, "document {id:?} of {collection} is no {type_name}: {why}")
            }
            Error::Encode { collection, type_name, why } => {
                write!(f, "a value of {type_name} cannot be a document of {collection}: {why}")
            }
            Error::NewerSchema { collection, id, found, supported } => write!(
                f,
                "document {id:?} of {collection} has version {found} of its schema, and this program knows \
                 versions up to {supported}; use a newer release of the program"
            ),
            Error::Migration { collection, id, from, to, why } => {
                write!(f, "document {id:?} of {collection} was not migrated from version {from} to {to}: {why}")
            }
            Error::NotAnObject { found } => write!(f, "a document is a JSON object, and this is {found}"),
            Error::ReservedField { field } => write!(
                f,
                "field {field:?}: names that start with _ are reserved, and a document's own are _id, _rev, _deleted and _attachments"
            ),
            Error::BadField { field, expected } => write!(f, "field {field} must be {expected}"),
            Error::Conflict { id, expected, found, deleted } => {
                write_conflict(f, id, expected.as_deref(), found.as_deref(), *deleted)
            }
            Error::NoSuchCollection { collection } => {
                write!(f, "there is no collection {collection}, or not any more; make it again")
            }
            Error::NoSuchDocument { collection, id } => write!(f, "{collection} has no document {id:?}"),
            Error::NoSuchRevision { id, rev } => {
                write!(f, "document {id:?} has no revision {rev}; its history lists those that can be read")
            }
            Error::RevisionIsDeletion { id, rev } => write!(
                f,
                "revision {rev} of document {id:?} is its deletion, and has nothing to restore; name an earlier one"
            ),
            Error::NotUnique { index, value, id, holder } => write!(
                f,
                "document {id:?} cannot have {value}: index {index} is unique, and document {holder:?} has that value"
            ),
            Error::ValueTooLong { index, id, len, max } => write!(
                f,
                "document {id:?} has a value of {len} bytes in index {index}; the limit is {max}. \
                 Shorten it, or drop the index"
            ),
            Error::TooManyEntries { index, id, entries, max } => write!(
                f,
                "document {id:?} would have {entries} entries in index {index}; the limit is {max}. \
                 Shorten the array, or drop the index"
            ),
            Error::IndexExists { index, on } => {
                write!(f, "there is an index {index} already, on {on}; drop it first, or choose another name")
            }
            Error::BadIndex { index, why } => write!(f, "there cannot be such an index {index}: {why}"),
            Error::IndexNotUsable { index, why } => {
                write!(f, "the query cannot go by index {index}: {why}. Leave the choice open, or name another")
            }
            Error::BadQuery { why } => write!(f, "there cannot be such a query: {why}"),
            Error::BadCursor { why } => write!(f, "the cursor cannot be gone on from: {why}; begin anew without it"),
            Error::NoSuchIndex { collection, index } => write!(f, "{collection} has no index {index}"),
            Error::TooManyIndexes { max } => {
                write!(f, "a collection has {max} indexes at most; drop one that is not needed")
            }
            Error::BadName { what, name, why } => write!(f, "{name:?} cannot name a {what}: {why}"),
            Error::BadRevision { text } => write!(
                f,
                "{text:?} is not a revision: it is a number from 1, a dash and 32 hexadecimal digits \
                 (such as 1-967a00dff5e02add41819138abb3284d), or up to 67 other characters without spaces"
            ),
            Error::BadMoment { text, why } => write!(
                f,
                "{text:?} is not a moment: {why}. Say now, a commit (seq:123), a time in UTC \
                 (2026-11-21T03:40:00Z), a day (2026-11-21) or an age (10m, 2h, 3d)"
            ),
            Error::NumberOutOfRange { number } => write!(
                f,
                "number {number} is out of range: up to 1.7976931348623157e308, and integers of up to {} digits",
                super::limits::INTEGER_DIGITS_MAX
            ),
            Error::SortTooLarge { path, max } => write!(
                f,
                "sorting by {path} without an index takes more than {max} bytes of memory; \
                 create an index on it, or set a limit"
            ),
            Error::OutOfBounds { what, value, max } => write!(f, "{what} cannot be {value}: it is from 1 to {max}"),
            Error::TooManyRevisions { id, max } => write!(
                f,
                "document {id:?} would have more than {max} revisions; purge branches that are not needed, or set \
                 a lower limit of revisions"
            ),
            Error::MissingStub { id, name } => write!(
                f,
                "document {id:?} would keep attachment {name:?}, which the revision it stands on does not have; send its bytes"
            ),
            Error::NoSuchAttachment { id, name } => write!(f, "document {id:?} has no attachment {name:?}"),
            Error::BadAttachment { name, why } => write!(f, "attachment {name:?} cannot be taken: {why}"),
            Error::TooManyAttachments { max } => {
                write!(f, "a document has {max} attachments at most; put the others into documents of their own")
            }
            Error::AttachmentTooLong { max } => {
                write!(f, "an attachment has {max} bytes at most; split it")
            }
            Error::UploadGone => f.write_str(
                "the upload is not in this collection, or not any more: it was given up a day after it had begun, or \
                 its document was deleted since; upload the bytes again",
            ),
            Error::ContentGone => f.write_str("no document has the attachment's bytes any more; upload them again"),
            Error::Input { source } => write!(f, "the bytes to be attached cannot be read: {source}"),
            Error::Busy { attempts } => write!(
                f,
                "not written: others wrote the same documents each of {attempts} times that this was tried; try again"
            ),
            Error::DamagedRow { what, why } => {
                write!(f, "damaged: {what}: {why}. Nothing was changed; `recension verify` tells what else is")
            }
            Error::BadPosition { text } => {
                write!(f, "{text:?} is no position of a feed; use 0, the number of a commit, or what a feed answered")
            }
            Error::Aborted { reason } => write!(f, "the transaction was given up, and nothing was written: {reason}"),
            Error::OlderLayout { what, found, supported } => write!(
                f,
                "{what} has layout {found}, of a development version; this one reads {supported}. Export it with the \
                 version that wrote it and import it into a new store"
            ),
            Error::NewerLayout { what, found, supported } => write!(
                f,
                "{what} has layout {found}, and this software reads layouts up to {supported}; use a newer release"
            ),
        }
    }
}

impl Error {
    pub(super) fn conflict(id: &str, expected: Option<RevId>, found: Option<RevId>, deleted: bool) -> Self {
        let (expected, found) = (expected.map(Box::new), found.map(Box::new));
        Error::Conflict { id: id.to_owned(), expected, found, deleted }
    }
}

fn write_conflict(
    f: &mut fmt::Formatter<'_>,
    id: &str,
    expected: Option<&RevId>,
    found: Option<&RevId>,
    deleted: bool,
) -> fmt::Result {
    write!(f, "conflict: document {id:?} ")?;
    match (expected, found) {
        (None, Some(found)) => write!(f, "exists, at revision {found}; name that revision to replace it"),
        (None, None) => write!(f, "is written twice in one batch; write it in a later one"),
        (Some(expected), None) => write!(f, "does not exist, and revision {expected} of it was expected"),
        (Some(expected), Some(found)) => {
            let deletion = if deleted { ", its deletion" } else { "" };
            write!(f, "is at revision {found}{deletion}, and {expected} was expected; read it again and retry")
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Engine(error) => Some(error),
            Error::Json(error) => Some(error),
            Error::Input { source } => Some(source),
            Error::Patch(error) => Some(error),
            _ => None,
        }
    }
}
