//! A change of a document, and its row among the changes of its collection.

use std::sync::Arc;

use crate::engine::Seq;
use recension_values::error::{Error, Result};
pub use recension_values::position::Position;
use recension_values::revid::RevId;

const DELETED: u8 = 1;

/// The key of a document's row among the changes.
pub(crate) fn change_key(seq: Seq, id: &str) -> Vec<u8> {
    [&seq.0.to_be_bytes()[..], id.as_bytes()].concat()
}

/// The value of a document's row among the changes.
pub(crate) fn change_value(rev: &RevId, deleted: bool) -> Vec<u8> {
    let flags = if deleted { DELETED } else { 0 };
    [&[flags][..], &rev.generation().to_be_bytes(), rev.suffix_bytes()].concat()
}

/// Whether the value of a row is that of a deletion (a tombstone).
pub(crate) fn is_deletion(value: &[u8]) -> bool {
    value.first().is_some_and(|flags| flags & DELETED != 0)
}

/// A document that has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The collection that it is in.
    pub collection: Arc<str>,
    /// The document.
    pub id: String,
    /// The commit that wrote it last.
    pub seq: Seq,
    /// Its revision.
    pub rev: RevId,
    /// Whether the revision is a deletion.
    pub deleted: bool,
}

impl Change {
    pub(crate) fn of(collection: &Arc<str>, id: &str, seq: Seq, rev: RevId, deleted: bool) -> Self {
        Change { collection: collection.clone(), id: id.to_owned(), seq, rev, deleted }
    }

    pub(crate) fn decode(collection: &Arc<str>, key: &[u8], value: &[u8]) -> Result<Self> {
        let read = || {
            let (seq, id) = key.split_first_chunk()?;
            let (flags, rev) = value.split_first()?;
            let (generation, suffix) = rev.split_first_chunk()?;
            let rev = RevId::from_bytes(u32::from_be_bytes(*generation), suffix)?;
            let id = std::str::from_utf8(id).ok()?.to_owned();
            let seq = Seq(u64::from_be_bytes(*seq));
            Some(Change { collection: collection.clone(), id, seq, rev, deleted: flags & DELETED != 0 })
        };
        read().ok_or_else(|| Error::DamagedRow {
            what: format!("a row of the changes of {collection}, \"{}\"", key.escape_ascii()),
            why: "it does not read",
        })
    }

    /// The position of a feed that has answered this change and none after it.
    pub fn position(&self) -> Position {
        Position { seq: self.seq, within: Some((self.collection.to_string(), self.id.clone())) }
    }
}
