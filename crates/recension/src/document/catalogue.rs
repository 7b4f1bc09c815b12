//! The catalogue: which collections and indexes there are, and which trees hold them. Rows of tree 0,
//! laid out in docs/documents-format.md. Pure: bytes in, values out.

use std::sync::OnceLock;

use super::byte_reader::ByteReader;
use super::index_keys::IndexKeys;
use super::index_spec::{IndexSpec, push_text, take_text};
use super::limits::{PURGES_LIMIT_DEFAULT, REVS_LIMIT_DEFAULT};
use super::{Error, Result};
use crate::engine::TreeId;

/// The tree of the catalogue.
pub(super) const CATALOGUE: TreeId = TreeId(0);
/// The key of the row that says which tree comes next.
pub(super) const STORE_KEY: &[u8] = &[0x00];
const COLLECTION_KEY: u8 = 0x01;
const DROPPED_KEY: u8 = 0x02;
const BUILD_KEY: u8 = 0x03;
const COUNTS_KEY: u8 = 0x04;

const STORE_LAYOUT: u8 = 1;

// Flags of an index.
const UNIQUE: u8 = 1;
const READY: u8 = 2;
const BY_VALUES: u8 = 4;
/// The layout that this version writes for collections without [`BY_VALUES`], so that older ones read them.
const COLLECTION_LAYOUT: u8 = 3;
/// As 3, and indexes may have [`BY_VALUES`].
const COLLECTION_LAYOUT_NEWEST: u8 = 4;

/// The key of a collection's row.
pub(super) fn collection_key(name: &str) -> Vec<u8> {
    [&[COLLECTION_KEY], name.as_bytes()].concat()
}

/// The beginning of the keys of all collections.
pub(super) const COLLECTIONS_PREFIX: &[u8] = &[COLLECTION_KEY];

/// The key of the row that remembers a tree whose collection or index was dropped.
pub(super) fn dropped_key(tree: TreeId) -> Vec<u8> {
    [&[DROPPED_KEY][..], &tree.0.to_be_bytes()].concat()
}

/// The key of the row that says how far the build of an index has come.
pub(super) fn build_key(tree: TreeId) -> Vec<u8> {
    [&[BUILD_KEY][..], &tree.0.to_be_bytes()].concat()
}

/// The key of the counts of a collection: documents, deleted documents, bytes of the documents' bodies.
/// Every commit that writes the collection's documents writes it.
pub(super) fn counts_key(name: &str) -> Vec<u8> {
    [&[COUNTS_KEY], name.as_bytes()].concat()
}

/// The beginning of the keys of all counts.
pub(super) const COUNTS_PREFIX: &[u8] = &[COUNTS_KEY];

/// How far an index has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexState {
    /// It is kept by writers, and older documents are still being added: queries do not use it yet.
    Building,
    /// It holds every document.
    Ready,
}

/// An index as the catalogue has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct IndexEntry {
    pub(super) tree: TreeId,
    pub(super) state: IndexState,
    /// A value has a row at the values alone: see `index_rows`. Unique indexes of older versions have not.
    pub(super) by_values: bool,
    pub(super) spec: IndexSpec,
}

impl IndexEntry {
    /// A new index.
    pub(super) fn new(tree: TreeId, state: IndexState, spec: IndexSpec) -> Self {
        IndexEntry { tree, state, by_values: spec.unique, spec }
    }
}

/// A collection as the catalogue has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CollectionEntry {
    /// Documents by id.
    pub(super) documents: TreeId,
    /// Documents by the commit that wrote them last.
    pub(super) changes: TreeId,
    /// What documents have besides: `side` has the kinds of its rows.
    pub(super) side: TreeId,
    /// Revisions of a document that its tree keeps, from each leaf downwards.
    pub(super) revs_limit: u32,
    /// Purges that the log of purges keeps.
    pub(super) purges_limit: u32,
    pub(super) indexes: Vec<IndexEntry>,
    keys: KeysMemo,
}

/// What the indexes want of bodies, once it was asked for. A copy forgets it: it is made to be changed.
#[derive(Default, Debug)]
struct KeysMemo(OnceLock<IndexKeys>);

impl Clone for KeysMemo {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for KeysMemo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for KeysMemo {}

impl CollectionEntry {
    /// What its indexes want of bodies.
    pub(super) fn keys(&self) -> &IndexKeys {
        self.keys.0.get_or_init(|| IndexKeys::of(self.indexes.iter().map(|index| &index.spec)))
    }

    /// A collection without indexes.
    pub(super) fn new([documents, changes, side]: [TreeId; 3]) -> Self {
        CollectionEntry {
            documents,
            changes,
            side,
            revs_limit: REVS_LIMIT_DEFAULT,
            purges_limit: PURGES_LIMIT_DEFAULT,
            indexes: Vec::new(),
            keys: KeysMemo::default(),
        }
    }

    /// Every tree that it has.
    pub(super) fn trees(&self) -> impl Iterator<Item = TreeId> {
        self.indexes.iter().map(|index| index.tree).chain([self.documents, self.changes, self.side])
    }

    pub(super) fn index(&self, name: &str) -> Option<&IndexEntry> {
        self.indexes.iter().find(|index| index.spec.name == name)
    }

    /// The value of its row.
    pub(super) fn encode(&self) -> Vec<u8> {
        let by_values = self.indexes.iter().any(|index| index.by_values);
        let mut out = vec![if by_values { COLLECTION_LAYOUT_NEWEST } else { COLLECTION_LAYOUT }];
        for tree in [self.documents, self.changes, self.side] {
            out.extend(tree.0.to_be_bytes());
        }
        out.extend(self.revs_limit.to_be_bytes());
        out.extend(self.purges_limit.to_be_bytes());
        out.extend((self.indexes.len() as u16).to_be_bytes());
        for index in &self.indexes {
            out.extend(index.tree.0.to_be_bytes());
            let flag = |set: bool, flag| if set { flag } else { 0 };
            out.push(
                flag(index.spec.unique, UNIQUE)
                    | flag(index.state == IndexState::Ready, READY)
                    | flag(index.by_values, BY_VALUES),
            );
            push_text(&index.spec.name, &mut out);
            index.spec.encode(&mut out);
        }
        out
    }

    /// Reads the value of the row of the collection `name`.
    pub(super) fn decode(value: &[u8], name: &str) -> Result<Self> {
        let what = || format!("the catalogue's row of collection {name}");
        let mut reader = ByteReader::new(value);
        match reader.byte() {
            Some(COLLECTION_LAYOUT | COLLECTION_LAYOUT_NEWEST) => {}
            Some(found @ (1 | 2)) => {
                return Err(Error::OlderLayout { what: what(), found, supported: COLLECTION_LAYOUT_NEWEST });
            }
            Some(found) if found > COLLECTION_LAYOUT_NEWEST => {
                return Err(Error::NewerLayout { what: what(), found, supported: COLLECTION_LAYOUT_NEWEST });
            }
            _ => return Err(Error::DamagedRow { what: what(), why: "it has no layout number" }),
        }
        collection(&mut reader).ok_or_else(|| Error::DamagedRow { what: what(), why: "it does not read" })
    }
}

/// The value of the store's row.
pub(super) fn encode_store(next: TreeId) -> Vec<u8> {
    [&[STORE_LAYOUT][..], &next.0.to_be_bytes()].concat()
}

/// The tree that the next collection or index gets.
pub(super) fn decode_store(value: Option<&[u8]>) -> Result<TreeId> {
    let what = || "the catalogue's row of the store".to_owned();
    let Some(value) = value else { return Ok(TreeId(1)) };
    match value {
        [STORE_LAYOUT, rest @ ..] => match rest.try_into() {
            Ok(next) => Ok(TreeId(u32::from_be_bytes(next))),
            Err(_) => Err(Error::DamagedRow { what: what(), why: "it does not read" }),
        },
        [found, ..] if *found > STORE_LAYOUT => {
            Err(Error::NewerLayout { what: what(), found: *found, supported: STORE_LAYOUT })
        }
        _ => Err(Error::DamagedRow { what: what(), why: "it has no layout number" }),
    }
}

/// How far the build of an index has come: documents done, and the id of the last one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct BuildCursor {
    pub(super) done: u64,
    pub(super) after: Option<Vec<u8>>,
}

impl BuildCursor {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = self.done.to_be_bytes().to_vec();
        out.extend(self.after.as_deref().unwrap_or_default());
        out
    }

    pub(super) fn decode(value: &[u8]) -> Self {
        // Anything else than a cursor begins the build anew, which is right too.
        let Some((done, after)) = value.split_first_chunk() else { return Self::default() };
        let after = if after.is_empty() { None } else { Some(after.to_vec()) };
        BuildCursor { done: u64::from_be_bytes(*done), after }
    }
}

fn collection(reader: &mut ByteReader<'_>) -> Option<CollectionEntry> {
    let [documents, changes, side] = [reader.u32()?, reader.u32()?, reader.u32()?].map(TreeId);
    let mut entry = CollectionEntry::new([documents, changes, side]);
    entry.revs_limit = reader.u32()?;
    entry.purges_limit = reader.u32()?;
    entry.indexes = (0..reader.u16()?).map(|_| index(reader)).collect::<Option<_>>()?;
    reader.is_empty().then_some(entry)
}

fn index(reader: &mut ByteReader<'_>) -> Option<IndexEntry> {
    let tree = TreeId(reader.u32()?);
    let flags = reader.byte()?;
    let known = flags & !(UNIQUE | READY | BY_VALUES) == 0;
    let state = if flags & READY == 0 { IndexState::Building } else { IndexState::Ready };
    let name = take_text(reader)?.to_owned();
    let spec = IndexSpec::decode(name, flags & UNIQUE != 0, reader)?;
    known.then_some(IndexEntry { tree, state, by_values: flags & BY_VALUES != 0, spec })
}

#[cfg(test)]
mod tests {
    use super::super::collation::{Collation, JsonType};
    use super::super::condition::{Condition, ValueRange, ValueSet};
    use super::*;

    #[test]
    fn a_collection_reads_back_what_was_written_and_cuts_are_refused() {
        let index = |tree, unique, state| {
            let spec = IndexSpec { unique, ..IndexSpec::new(format!("by-{tree}"), "a.b[0]".parse().unwrap()) };
            IndexEntry::new(TreeId(tree), state, spec)
        };
        let set = ValueRange::between(1, "z").or(ValueSet::one_of([true, false])).or(ValueRange::prefix("é"));
        let mut rich = index(10, true, IndexState::Ready);
        rich.spec = rich
            .spec
            .then_descending("tags[].x".parse().unwrap())
            .collated(Collation::Binary)
            .only_where(Condition::new("c".parse().unwrap(), set))
            .only_where(Condition::new("d".parse().unwrap(), ValueRange::of_type(JsonType::Array)));
        let indexes = vec![index(8, true, IndexState::Ready), index(9, false, IndexState::Building), rich];
        let entry = CollectionEntry {
            revs_limit: 5,
            purges_limit: 6,
            indexes,
            ..CollectionEntry::new([TreeId(7), TreeId(70), TreeId(71)])
        };
        let value = entry.encode();
        assert_eq!(CollectionEntry::decode(&value, "x").unwrap(), entry);
        assert_eq!(value[0], COLLECTION_LAYOUT_NEWEST);
        let mut older = entry.clone();
        older.indexes.iter_mut().for_each(|index| index.by_values = false);
        assert_eq!(CollectionEntry::decode(&older.encode(), "x").unwrap(), older);
        assert_eq!(older.encode()[0], COLLECTION_LAYOUT);
        for cut in 0..value.len() {
            assert!(CollectionEntry::decode(&value[..cut], "x").is_err(), "{cut}");
        }
        let mut newer = value;
        newer[0] += 1;
        assert!(matches!(CollectionEntry::decode(&newer, "x"), Err(Error::NewerLayout { .. })));
    }
}
