//! Errors of documents. Every message can be shown to a person as it is, and says what to do next. Nothing here prints
//! or exits.

use std::sync::Arc;

use crate::json::{JsonError, PatchError};
use crate::revid::RevId;
use recension_engine::{EngineError, Seq, Timestamp};

/// The result of a document operation.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the documents layer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The engine below refused.
    Engine(EngineError),
    /// The text is not JSON.
    Json(JsonError),
    /// A JSON patch is invalid, or could not be applied.
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
    /// A function of a view or of a design document failed.
    Function {
        /// The kind of error, in CouchDB's words.
        error: String,
        /// What is wrong.
        reason: String,
    },
    /// Too many documents were changed since the rows of a view were kept.
    ViewBehind {
        /// The collection.
        collection: String,
        /// Bytes of their rows that can be held.
        max: usize,
    },
    /// A validation function refuses a document.
    Refused {
        /// The document.
        id: String,
        /// Whether another user could write it.
        unauthorized: bool,
        /// What the function says.
        reason: String,
    },
    /// A merge of branches would break what the collection that it is merged into asks of its documents.
    InMerge {
        /// The collection.
        collection: String,
        /// What is broken: it names the document.
        error: Box<Error>,
    },
    /// A change of many documents stopped. What was committed before stays.
    Stopped {
        /// Documents that were changed before.
        written: u64,
        /// The document that it stopped at, if it is known.
        id: Option<String>,
        /// The reason.
        error: Box<Error>,
    },
    /// The collection has validation functions, and the store cannot run them.
    NoGuard {
        /// The collection.
        collection: String,
        /// The design document.
        design: String,
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
        /// The revision that the writer expected; `None`: no document.
        expected: Option<Box<RevId>>,
        /// The revision that it has; `None`: there is no document.
        found: Option<Box<RevId>>,
        /// Whether that revision is a deletion.
        deleted: bool,
    },
    /// The collection does not exist, and the write was not allowed to make it.
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
    /// A text is not a position of a feed of changes.
    BadPosition {
        /// The text, shortened.
        text: String,
    },
    /// A position of a feed is beyond the newest commit.
    PositionAhead {
        /// The position.
        since: String,
        /// The newest commit.
        head: Seq,
    },
    /// A time that is still to come: what it names now, it would not name later.
    MomentAhead {
        /// The time.
        time: Timestamp,
        /// The time now.
        now: Timestamp,
        /// The newest commit.
        head: Seq,
    },
    /// A transaction's own code gave it up; nothing was written.
    Aborted {
        /// Its reason.
        reason: String,
    },
    /// A row has a layout from before the first release.
    OlderLayout {
        /// The kind of row.
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
    /// A document's tree of revisions would have more branches than its bound.
    TooManyBranches {
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
        /// The document that has the value; `None`: the writer may not know it.
        holder: Option<String>,
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
    /// The index that the query names cannot be used for it.
    IndexNotUsable {
        /// Its name.
        index: String,
        /// Why.
        why: String,
    },
    /// A text is no JSON Schema that a collection can have.
    BadSchema {
        /// What is wrong with it, and where.
        why: String,
    },
    /// A document does not fit the schema of its collection.
    NotOfSchema {
        /// The document.
        id: String,
        /// Where in it, as a JSON pointer; empty: the document as a whole.
        path: String,
        /// What is wrong there.
        why: String,
    },
    /// A query cannot be so.
    BadQuery {
        /// What is wrong with it.
        why: &'static str,
    },
    /// A selector that is none, in CouchDB's words.
    BadSelector {
        /// The kind of error: `bad_arg`, `invalid_operator`.
        error: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The groups of an aggregation, or its rows, take too much memory.
    AggregateTooLarge {
        /// What they may take, in bytes.
        max: usize,
    },
    /// A cursor cannot be used.
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
    /// The query has to be sorted without an index. There is too much to sort in memory, and no disk to sort on.
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
        /// The reader's error.
        source: Arc<std::io::Error>,
    },
    /// A key is to be incremented, and its value is no number of this kind.
    NotANumber {
        /// The key, shortened.
        key: String,
        /// What it has to be.
        expected: &'static str,
    },
    /// Other writers changed what this write had read, again and again.
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

impl Error {
    /// Whether reading and deciding again may succeed.
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

impl Error {
    /// An error that gives up a transaction, for a reason of your own.
    pub fn abort(reason: impl std::fmt::Display) -> Self {
        Error::Aborted { reason: reason.to_string() }
    }
}
