//! The messages of errors of documents.

use std::fmt;

use crate::conflict::write_conflict;
use crate::error::Error;
use crate::time::format_time;

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
                "field {field:?}: names that start with _ are reserved, and a document's own are _id, _rev, _deleted \
                 and _attachments"
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
            Error::NotUnique { index, value, id, holder } => {
                write!(f, "document {id:?} cannot have {value}: index {index} is unique, and ")?;
                match holder {
                    Some(holder) => write!(f, "document {holder:?} has that value"),
                    None => f.write_str("another document has that value"),
                }
            }
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
            Error::BadSchema { why } => write!(f, "not a schema that a collection can have: {why}"),
            Error::NotOfSchema { id, path, why } => {
                let at = if path.is_empty() { String::new() } else { format!("at {path}: ") };
                write!(f, "document {id:?} does not fit the schema: {at}{why}")
            }
            Error::BadQuery { why } => write!(f, "there cannot be such a query: {why}"),
            Error::BadSelector { reason, .. } => f.write_str(reason),
            Error::AggregateTooLarge { max } => write!(
                f,
                "the groups or rows of this aggregation take more than {max} bytes of memory; choose fewer documents, \
                 group by fewer paths, or allow more memory"
            ),
            Error::BadCursor { why } => write!(f, "the cursor cannot be gone on from: {why}; begin anew without it"),
            Error::NoSuchIndex { collection, index } => write!(f, "{collection} has no index {index}"),
            Error::TooManyIndexes { max } => {
                write!(f, "a collection has {max} indexes at most; drop one that is not needed")
            }
            Error::BadName { what, name, why } => {
                let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                write!(f, "{name:?} cannot name {article} {what}: {why}")
            }
            Error::BadRevision { text } => write!(
                f,
                "{text:?} is not a revision: it is a number from 1, a dash and 32 hexadecimal digits \
                 (such as 1-967a00dff5e02add41819138abb3284d), or up to 67 other characters without spaces"
            ),
            Error::BadMoment { text, why } => write!(
                f,
                "{text:?} is not a moment: {why}. Say now, a commit (seq:123), a time in UTC \
                 (2026-11-21T03:40:00Z), a day (2026-11-21), an age (10m, 2h, 3d) or a tag (tag:v1)"
            ),
            Error::NumberOutOfRange { number } => write!(
                f,
                "number {number} is out of range: up to 1.7976931348623157e308, and integers of up to {} digits",
                crate::limits::INTEGER_DIGITS_MAX
            ),
            Error::SortTooLarge { path, max } => write!(
                f,
                "sorting by {path} without an index takes more than {max} bytes of memory, and the store has no disk \
                 for it; create an index on it, or set a limit"
            ),
            Error::Function { error, reason } => write!(f, "{error}: {reason}"),
            Error::ViewBehind { collection, max } => write!(
                f,
                "too much of collection {collection} was changed since the rows of the view were kept: what it emits \
                 takes more than {max} bytes; ask for a moment after the view was made, or for the view as of now"
            ),
            Error::Refused { id, reason, .. } => write!(f, "document {id:?} is refused by the database: {reason}"),
            Error::InMerge { collection, error } => write!(f, "in {collection}, {error}"),
            Error::Stopped { written, id, error } => {
                match written {
                    0 => {}
                    1 => f.write_str("1 document was changed and stays so; then it stopped: ")?,
                    _ => write!(f, "{written} documents were changed and stay so; then it stopped: ")?,
                }
                match id {
                    Some(id) => write!(f, "document {id:?}: {error}"),
                    None => error.fmt(f),
                }
            }
            Error::NoGuard { collection, design } => write!(
                f,
                "collection {collection} has a validation function ({design}), and this program cannot run it; write \
                 through `recension`, or give the store a guard (Store::guarded)"
            ),
            Error::OutOfBounds { what, value, max } => write!(f, "{what} cannot be {value}: it is from 1 to {max}"),
            Error::TooManyRevisions { id, max } => write!(
                f,
                "document {id:?} would have more than {max} revisions; purge branches that are not needed, or set \
                 a lower limit of revisions"
            ),
            Error::TooManyBranches { id, max } => write!(
                f,
                "document {id:?} would have more than {max} branches; purge those that are not needed, or delete and \
                 purge losing revisions"
            ),
            Error::MissingStub { id, name } => write!(
                f,
                "document {id:?} would keep attachment {name:?}, which the revision it stands on does not have; send \
                 its bytes"
            ),
            Error::NoSuchAttachment { id, name } => write!(f, "document {id:?} has no attachment {name:?}"),
            Error::BadAttachment { name, why } => write!(f, "attachment {name:?} cannot be taken: {why}"),
            Error::TooManyAttachments { max } => {
                write!(f, "a document has {max} attachments at most; put the others into documents of their own")
            }
            Error::AttachmentTooLong { max } => write!(f, "an attachment has {max} bytes at most; split it"),
            Error::UploadGone => f.write_str(
                "the upload is not in this collection, or not any more: it was given up a day after it had begun, or \
                 its document was deleted since; upload the bytes again",
            ),
            Error::ContentGone => f.write_str("no document has the attachment's bytes any more; upload them again"),
            Error::Input { source } => write!(f, "the bytes to be attached cannot be read: {source}"),
            Error::NotANumber { key, expected } => write!(f, "the value of key {key:?} is not {expected}"),
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
            Error::PositionAhead { since, head } => write!(
                f,
                "the position {since} is ahead of the newest commit, {head}. It is of another store, or this one was \
                 brought back to an earlier state; start again without it"
            ),
            Error::MomentAhead { time, now, head } => write!(
                f,
                "{} is still to come: it is {} now, and the newest commit is {head}",
                format_time(*time),
                format_time(*now)
            ),
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
