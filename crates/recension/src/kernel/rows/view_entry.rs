//! Rows of the catalogue about views. Layout: docs/documents-format.md. Pure: bytes in, values out.

use crate::engine::{Direction, KeyRange, Seq, Snapshot, TreeId, counters};
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry};
use recension_values::byte_reader::ByteReader;
use recension_values::error::{Error, Result};
use recension_values::position::Position;
use recension_values::view::Signature;

const VIEW_KEY: u8 = 0x06;
const VIEW_NAME_KEY: u8 = 0x07;
const KEPT_KEY: u8 = 0x0c;
/// The layout of a view that is kept behind the commits.
const BEHIND: u8 = 1;
const LAYOUT: u8 = 2;
const WHOLE: u8 = 1;
const IN_COMMIT: u8 = 2;

/// The key of a row in a view's tree: by how many rows commits of documents have changed the catalogue's count.
pub(crate) const COUNT_KEY: &[u8] = &[0x04];

/// A view as the catalogue has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ViewEntry {
    pub(crate) tree: TreeId,
    /// It has been complete once.
    pub(crate) whole: bool,
    /// The number of its rows, without the amount in [`COUNT_KEY`].
    pub(crate) rows: u64,
    /// Every commit that writes documents keeps it: all changes are in it.
    pub(crate) in_commit: bool,
    /// The position up to which it has all changes; unused if commits keep it.
    pub(crate) position: Position,
}

/// The beginning of the keys of a collection's views.
pub(crate) fn views_prefix(documents: TreeId) -> Vec<u8> {
    [&[VIEW_KEY][..], &documents.0.to_be_bytes()].concat()
}

/// The key of a view's row.
pub(crate) fn view_key(collection: &CollectionEntry, signature: Signature) -> Vec<u8> {
    [&views_prefix(collection.documents)[..], &signature.0].concat()
}

/// The key of the row that lists the views which commits of documents keep.
pub(crate) fn kept_key(collection: &CollectionEntry) -> Vec<u8> {
    [&[KEPT_KEY][..], &collection.documents.0.to_be_bytes()].concat()
}

/// The views that commits of documents keep.
pub(crate) fn kept_in_commits(value: &[u8]) -> Result<Vec<Signature>> {
    let damaged = || Error::DamagedRow { what: "the list of views in commits".to_owned(), why: "it does not read" };
    let (signatures, rest) = value.as_chunks::<16>();
    if rest.is_empty() { Ok(signatures.iter().copied().map(Signature).collect()) } else { Err(damaged()) }
}

/// The value of the row that lists them.
pub(crate) fn encode_kept(signatures: &[Signature]) -> Vec<u8> {
    signatures.iter().flat_map(|signature| signature.0).collect()
}

/// The beginning of the keys of the names of a collection's views.
pub(crate) fn names_prefix(collection: &CollectionEntry) -> Vec<u8> {
    [&[VIEW_NAME_KEY][..], &collection.documents.0.to_be_bytes()].concat()
}

/// The key of the row with the whole view that a name has, or had last.
pub(crate) fn name_key(collection: &CollectionEntry, name: &str) -> Vec<u8> {
    [&names_prefix(collection)[..], name.as_bytes()].concat()
}

impl ViewEntry {
    pub(crate) fn new(tree: TreeId) -> Self {
        ViewEntry { tree, whole: false, rows: 0, in_commit: false, position: Position::START }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let flags = if self.whole { WHOLE } else { 0 } | if self.in_commit { IN_COMMIT } else { 0 };
        // The layout keeps older versions from writing documents: they do not know of views in commits.
        let mut out = vec![if self.in_commit { LAYOUT } else { BEHIND }, flags];
        out.extend(self.tree.0.to_be_bytes());
        out.extend(self.rows.to_be_bytes());
        out.extend(self.position.to_string().as_bytes());
        out
    }

    pub(crate) fn decode(value: &[u8]) -> Result<Self> {
        let what = || "the catalogue's row of a view".to_owned();
        if let Some(found) = value.first().copied().filter(|found| *found > LAYOUT) {
            return Err(Error::NewerLayout { what: what(), found, supported: LAYOUT });
        }
        let read = || {
            let mut reader = ByteReader::new(value);
            let (layout, flags) = (reader.byte()?, reader.byte()?);
            let entry = ViewEntry {
                tree: TreeId(reader.u32()?),
                whole: flags & WHOLE != 0,
                in_commit: flags & IN_COMMIT != 0,
                rows: reader.u64()?,
                position: std::str::from_utf8(reader.rest()).ok()?.parse().ok()?,
            };
            let known = if layout == BEHIND { WHOLE } else { WHOLE | IN_COMMIT };
            (matches!(layout, BEHIND | LAYOUT) && flags & !known == 0).then_some(entry)
        };
        read().ok_or_else(|| Error::DamagedRow { what: what(), why: "it does not read" })
    }

    /// How many rows it has.
    pub(crate) fn total_rows(&self, snapshot: &dyn Snapshot) -> Result<u64> {
        let added = snapshot.get(self.tree, COUNT_KEY)?.and_then(|row| counters(&row.bytes)?.first().copied());
        Ok(self.rows.wrapping_add_signed(added.unwrap_or(0)))
    }

    /// The commit up to which it has all changes, as of a snapshot.
    pub(crate) fn seq(&self, snapshot: &dyn Snapshot) -> Seq {
        if self.in_commit { snapshot.seq() } else { self.position.seq() }
    }

    /// The view as a snapshot has it.
    pub(crate) fn of(
        snapshot: &dyn Snapshot,
        collection: &CollectionEntry,
        signature: Signature,
    ) -> Result<Option<Self>> {
        snapshot.get(CATALOGUE, &view_key(collection, signature))?.map(|row| Self::decode(&row)).transpose()
    }
}

/// The views of a collection.
pub(crate) fn views_of(snapshot: &dyn Snapshot, collection: &CollectionEntry) -> Result<Vec<(Signature, ViewEntry)>> {
    let prefix = views_prefix(collection.documents);
    let mut views = Vec::new();
    for row in snapshot.range(CATALOGUE, &KeyRange::prefix(prefix.clone()), Direction::Forward) {
        let row = row?;
        if let Some(signature) = row.key.get(prefix.len()..).and_then(|signature| signature.try_into().ok()) {
            views.push((Signature(signature), ViewEntry::decode(&row.value)?));
        }
    }
    Ok(views)
}

/// The whole view that a name has or had last.
pub(crate) fn named(snapshot: &dyn Snapshot, collection: &CollectionEntry, name: &str) -> Result<Option<Signature>> {
    let row = snapshot.get(CATALOGUE, &name_key(collection, name))?;
    Ok(row.and_then(|row| row.bytes.as_ref().try_into().ok()).map(Signature))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_reads_back_what_was_written_and_cuts_are_refused() {
        let position = Position { seq: Seq(7), within: Some(("c".into(), "é\0".into())) };
        let entry = ViewEntry { tree: TreeId(9), whole: true, rows: 12, in_commit: true, position };
        let value = entry.encode();
        assert_eq!(ViewEntry::decode(&value).unwrap(), entry);
        for cut in 0..15 {
            assert!(ViewEntry::decode(&value[..cut]).is_err(), "{cut}");
        }
        let mut newer = value;
        let behind = ViewEntry { in_commit: false, ..entry };
        assert_eq!(ViewEntry::decode(&behind.encode()).unwrap(), behind);
        newer[0] += 1;
        assert!(matches!(ViewEntry::decode(&newer), Err(Error::NewerLayout { .. })));
    }
}
