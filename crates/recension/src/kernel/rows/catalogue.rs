//! The catalogue: which collections and indexes there are, and which trees hold them. Rows of tree 0,
//! laid out in docs/documents-format.md. Pure: bytes in, values out.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::engine::{Seq, TreeId, Value};
use crate::kernel::rows::access_rows::AccessEntry;
use crate::kernel::rows::index_keys::IndexKeys;
use crate::kernel::rows::index_statistics::IndexStatistics;
use recension_values::byte_reader::ByteReader;
use recension_values::error::{Error, Result};
use recension_values::index_spec::{IndexSpec, push_text, take_text};
use recension_values::limits::{PURGES_LIMIT_DEFAULT, REVS_LIMIT_DEFAULT};
use recension_values::model::{IndexInfo, IndexState};
use recension_values::schema::Schema;
use recension_values::text::Language;

/// The tree of the catalogue.
pub(crate) const CATALOGUE: TreeId = TreeId(0);
/// The key of the row that says which tree comes next.
pub(crate) const STORE_KEY: &[u8] = &[0x00];
const COLLECTION_KEY: u8 = 0x01;
const DROPPED_KEY: u8 = 0x02;
const BUILD_KEY: u8 = 0x03;
const COUNTS_KEY: u8 = 0x04;
const ERASURE_KEY: u8 = 0x05;
const STATISTICS_KEY: u8 = 0x09;
const EXPIRY_KEY: u8 = 0x11;

const STORE_LAYOUT: u8 = 1;

// Flags of an index.
const UNIQUE: u8 = 1;
const READY: u8 = 2;
const BY_VALUES: u8 = 4;
const BY_FIRST: u8 = 8;
const OWN_TEXTS: u8 = 16;
/// The layout of collections without [`BY_VALUES`]. A collection of an older version keeps the lowest layout that has
/// what it needs, so that older ones read it.
const COLLECTION_LAYOUT: u8 = 3;
/// As 3, and indexes may have [`BY_VALUES`].
const COLLECTION_LAYOUT_BY_VALUES: u8 = 4;
/// As 4, and sections follow the indexes.
const COLLECTION_LAYOUT_SECTIONS: u8 = 5;
/// As 5, and indexes may have [`BY_FIRST`].
const COLLECTION_LAYOUT_BY_FIRST: u8 = 6;
/// As 6, and there may be the section of indexes of words.
const COLLECTION_LAYOUT_WORDS: u8 = 7;
/// As 7, and there may be the section of the index of access.
const COLLECTION_LAYOUT_ACCESS: u8 = 8;
/// As 8, and several paths of an index may lead into the elements of one array.
const COLLECTION_LAYOUT_ELEMENTS: u8 = 9;
/// As 9, and indexes may have [`OWN_TEXTS`].
const COLLECTION_LAYOUT_OWN_TEXTS: u8 = 10;
/// As 10, and the counts have a fourth number: writes of documents that had been written before.
const COLLECTION_LAYOUT_NEWEST: u8 = 11;

/// The section that is the collection's schema.
const SCHEMA_SECTION: u8 = 1;
/// The section that says which indexes are of words.
const WORDS_SECTION: u8 = 2;
/// The section that is the index of access.
const ACCESS_SECTION: u8 = 3;

/// The key of a collection's row.
pub(crate) fn collection_key(name: &str) -> Vec<u8> {
    [&[COLLECTION_KEY], name.as_bytes()].concat()
}

/// The beginning of the keys of all collections.
pub(crate) const COLLECTIONS_PREFIX: &[u8] = &[COLLECTION_KEY];

/// The key of the row that remembers a tree whose collection or index was dropped.
pub(crate) fn dropped_key(tree: TreeId) -> Vec<u8> {
    [&[DROPPED_KEY][..], &tree.0.to_be_bytes()].concat()
}

/// The beginning of the keys of dropped trees.
pub(crate) const DROPPED_PREFIX: &[u8] = &[DROPPED_KEY];

/// The key of the row that says how far the build of an index has come.
pub(crate) fn build_key(tree: TreeId) -> Vec<u8> {
    [&[BUILD_KEY][..], &tree.0.to_be_bytes()].concat()
}

/// The key of the row with an index's statistics, see `index_statistics`.
pub(crate) fn statistics_key(tree: TreeId) -> Vec<u8> {
    [&[STATISTICS_KEY][..], &tree.0.to_be_bytes()].concat()
}

/// The beginning of the keys of all builds.
pub(crate) const BUILDS_PREFIX: &[u8] = &[BUILD_KEY];

/// The key of the counts of a collection: documents, deleted documents, bytes of the documents' bodies, and rewritten
/// documents. Every commit that writes the collection's documents writes it.
pub(crate) fn counts_key(name: &str) -> Vec<u8> {
    [&[COUNTS_KEY], name.as_bytes()].concat()
}

/// The beginning of the keys of all counts.
pub(crate) const COUNTS_PREFIX: &[u8] = &[COUNTS_KEY];

/// The beginning of the keys of all rules by which documents expire.
pub(crate) const EXPIRY_PREFIX: &[u8] = &[EXPIRY_KEY];

/// The key of the rule by which the documents of a collection expire.
pub(crate) fn expiry_key(name: &str) -> Vec<u8> {
    [EXPIRY_PREFIX, name.as_bytes()].concat()
}

/// The beginning of the keys of erasures that are under way; the seq of the commit that ordered one follows.
pub(crate) const ERASURES_PREFIX: &[u8] = &[ERASURE_KEY];

/// An index as the catalogue has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct IndexEntry {
    pub(crate) tree: TreeId,
    pub(crate) state: IndexState,
    /// Each value has a row at the values alone, see `index_rows`. Unique indexes of older versions do not have it.
    pub(crate) by_values: bool,
    /// A document is in it if it has a value at the first path; else, at every path. Indexes of older versions, unique
    /// ones and those on one path do not have it.
    pub(crate) by_first: bool,
    /// A row has the texts of those values alone that its key does not give. Indexes of older versions and those on one
    /// path do not have it.
    pub(crate) own_texts: bool,
    pub(crate) spec: IndexSpec,
}

impl IndexEntry {
    /// A new index.
    pub(crate) fn new(tree: TreeId, state: IndexState, spec: IndexSpec) -> Self {
        let own_texts = spec.parts.len() > 1 && spec.words.is_none();
        let by_first = own_texts && !spec.unique;
        IndexEntry { tree, state, by_values: spec.unique, by_first, own_texts, spec }
    }
}

/// A collection as the catalogue has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CollectionEntry {
    /// Documents by id.
    pub(crate) documents: TreeId,
    /// Documents by the commit that wrote them last.
    pub(crate) changes: TreeId,
    /// Further rows of documents; `side` lists their kinds.
    pub(crate) side: TreeId,
    /// Revisions of a document that its tree keeps, from each leaf downwards.
    pub(crate) revs_limit: u32,
    /// Purges that the log of purges keeps.
    pub(crate) purges_limit: u32,
    /// Its counts have the writes of documents that had been written before. Collections of older versions do not.
    pub(crate) counts_rewritten: bool,
    pub(crate) indexes: Vec<IndexEntry>,
    /// The schema of its documents.
    pub(crate) schema: Option<Arc<Schema>>,
    /// Which documents have which values, for rules of access.
    pub(crate) access: Option<AccessEntry>,
    /// The paths that the indexes read of a body.
    keys: Memo<OnceLock<IndexKeys>>,
    /// Statistics of indexes that were read, each with the commit that wrote it.
    statistics: Memo<Mutex<Vec<KnownStatistics>>>,
}

/// An index, the commit that wrote its statistics, and these.
type KnownStatistics = (TreeId, Seq, Arc<IndexStatistics>);

/// What follows from an entry, or was read besides, once it was asked for. A copy does not have it, because copies are
/// made to be changed.
#[derive(Default, Debug)]
struct Memo<T>(T);

impl<T: Default> Clone for Memo<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> PartialEq for Memo<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Memo<T> {}

impl CollectionEntry {
    /// Descriptions of its indexes.
    pub(crate) fn index_infos(&self) -> Vec<IndexInfo> {
        self.indexes.iter().map(|index| IndexInfo { spec: index.spec.clone(), state: index.state }).collect()
    }

    /// The paths that the indexes read of a body.
    pub(crate) fn keys(&self) -> &IndexKeys {
        self.keys.0.get_or_init(|| IndexKeys::of(&self.indexes))
    }

    /// The statistics of an index that are a row of the catalogue, decoded once; `None` if they cannot be read.
    pub(crate) fn statistics_of(&self, index: TreeId, row: &Value<'_>) -> Option<Arc<IndexStatistics>> {
        let mut known = self.statistics.0.lock();
        let at = known.iter().position(|(tree, ..)| *tree == index);
        if let Some((_, seq, statistics)) = at.and_then(|at| known.get(at))
            && *seq == row.seq
        {
            return Some(statistics.clone());
        }
        let decoded = Arc::new(IndexStatistics::decode(&row.bytes)?);
        if let Some(at) = at {
            known.swap_remove(at);
        }
        known.push((index, row.seq, decoded.clone()));
        Some(decoded)
    }

    /// A collection without indexes.
    pub(crate) fn new([documents, changes, side]: [TreeId; 3]) -> Self {
        CollectionEntry {
            documents,
            changes,
            side,
            revs_limit: REVS_LIMIT_DEFAULT,
            purges_limit: PURGES_LIMIT_DEFAULT,
            counts_rewritten: true,
            indexes: Vec::new(),
            schema: None,
            access: None,
            keys: Memo::default(),
            statistics: Memo::default(),
        }
    }

    /// Every tree that it has.
    pub(crate) fn trees(&self) -> impl Iterator<Item = TreeId> {
        let access = self.access.iter().map(|access| access.tree);
        self.indexes.iter().map(|index| index.tree).chain(access).chain([self.documents, self.changes, self.side])
    }

    pub(crate) fn index(&self, name: &str) -> Option<&IndexEntry> {
        self.indexes.iter().find(|index| index.spec.name == name)
    }

    /// The value of its row.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut sections = Vec::new();
        if let Some(schema) = &self.schema {
            push_section(SCHEMA_SECTION, schema.text().as_bytes(), &mut sections);
        }
        let of_words: Vec<u8> = self.indexes.iter().filter_map(words_of).flatten().collect();
        if !of_words.is_empty() {
            push_section(WORDS_SECTION, &of_words, &mut sections);
        }
        if let Some(access) = &self.access {
            push_section(ACCESS_SECTION, &access.encode(), &mut sections);
        }
        let any = |has: fn(&IndexEntry) -> bool| self.indexes.iter().any(has);
        let mut out = vec![match (any(|index| index.by_first), !sections.is_empty(), any(|index| index.by_values)) {
            _ if self.counts_rewritten => COLLECTION_LAYOUT_NEWEST,
            _ if any(|index| index.own_texts) => COLLECTION_LAYOUT_OWN_TEXTS,
            _ if any(|index| index.spec.words.is_none() && index.spec.elements().is_some()) => {
                COLLECTION_LAYOUT_ELEMENTS
            }
            _ if self.access.is_some() => COLLECTION_LAYOUT_ACCESS,
            _ if !of_words.is_empty() => COLLECTION_LAYOUT_WORDS,
            (true, ..) => COLLECTION_LAYOUT_BY_FIRST,
            (false, true, _) => COLLECTION_LAYOUT_SECTIONS,
            (false, false, true) => COLLECTION_LAYOUT_BY_VALUES,
            (false, false, false) => COLLECTION_LAYOUT,
        }];
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
                    | flag(index.by_values, BY_VALUES)
                    | flag(index.by_first, BY_FIRST)
                    | flag(index.own_texts, OWN_TEXTS),
            );
            push_text(&index.spec.name, &mut out);
            index.spec.encode(&mut out);
        }
        out.extend(sections);
        out
    }

    /// Reads the value of the row of the collection `name`.
    pub(crate) fn decode(value: &[u8], name: &str) -> Result<Self> {
        let what = || format!("the catalogue's row of collection {name}");
        let mut reader = ByteReader::new(value);
        let layout = match reader.byte() {
            Some(found @ COLLECTION_LAYOUT..=COLLECTION_LAYOUT_NEWEST) => found,
            Some(found @ (1 | 2)) => {
                return Err(Error::OlderLayout { what: what(), found, supported: COLLECTION_LAYOUT_NEWEST });
            }
            Some(found) if found > COLLECTION_LAYOUT_NEWEST => {
                return Err(Error::NewerLayout { what: what(), found, supported: COLLECTION_LAYOUT_NEWEST });
            }
            _ => return Err(Error::DamagedRow { what: what(), why: "it has no layout number" }),
        };
        let entry =
            collection(&mut reader).ok_or_else(|| Error::DamagedRow { what: what(), why: "it does not read" })?;
        Ok(CollectionEntry { counts_rewritten: layout >= COLLECTION_LAYOUT_NEWEST, ..entry? })
    }
}

/// The value of the store's row.
pub(crate) fn encode_store(next: TreeId) -> Vec<u8> {
    [&[STORE_LAYOUT][..], &next.0.to_be_bytes()].concat()
}

/// The tree that the next collection or index gets.
pub(crate) fn decode_store(value: Option<&[u8]>) -> Result<TreeId> {
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
pub(crate) struct BuildCursor {
    pub(crate) done: u64,
    pub(crate) after: Option<Vec<u8>>,
}

impl BuildCursor {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = self.done.to_be_bytes().to_vec();
        out.extend(self.after.as_deref().unwrap_or_default());
        out
    }

    pub(crate) fn decode(value: &[u8]) -> Self {
        // If the value is no cursor, the build begins anew, which is right too.
        let Some((done, after)) = value.split_first_chunk() else { return Self::default() };
        let after = if after.is_empty() { None } else { Some(after.to_vec()) };
        BuildCursor { done: u64::from_be_bytes(*done), after }
    }
}

/// `None`: it does not read. An error: this program was built without what the collection needs to be kept.
fn collection(reader: &mut ByteReader<'_>) -> Option<Result<CollectionEntry>> {
    let [documents, changes, side] = [reader.u32()?, reader.u32()?, reader.u32()?].map(TreeId);
    let mut entry = CollectionEntry::new([documents, changes, side]);
    entry.revs_limit = reader.u32()?;
    entry.purges_limit = reader.u32()?;
    for _ in 0..reader.u16()? {
        match index(reader)? {
            Ok(index) => entry.indexes.push(index),
            Err(error) => return Some(Err(error)),
        }
    }
    while let Some(tag) = reader.byte() {
        let length = reader.u32()? as usize;
        let section = reader.take(length)?;
        match tag {
            SCHEMA_SECTION => {
                let text = std::str::from_utf8(section).ok()?;
                entry.schema = Some(Arc::new(Schema::stored(text.to_owned())));
            }
            WORDS_SECTION => {
                let (languages, []) = section.as_chunks::<5>() else { return None };
                for [tree @ .., language] in languages {
                    let tree = TreeId(u32::from_be_bytes(*tree));
                    let index = entry.indexes.iter_mut().find(|index| index.tree == tree)?;
                    let language = Language::of_number(*language)?;
                    if let Err(error) = language.built_in() {
                        return Some(Err(error));
                    }
                    index.spec.words = Some(language);
                }
            }
            ACCESS_SECTION => entry.access = Some(AccessEntry::decode(section)?),
            _ => return None,
        }
    }
    let whole = reader.is_empty() && entry.indexes.iter().all(|index| index.spec.check().is_ok());
    whole.then_some(Ok(entry))
}

/// What the section of indexes of words says of an index.
fn words_of(index: &IndexEntry) -> Option<[u8; 5]> {
    let [a, b, c, d] = index.tree.0.to_be_bytes();
    Some([a, b, c, d, index.spec.words?.number()])
}

fn push_section(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend(bytes);
}

fn index(reader: &mut ByteReader<'_>) -> Option<Result<IndexEntry>> {
    let tree = TreeId(reader.u32()?);
    let flags = reader.byte()?;
    let known = flags & !(UNIQUE | READY | BY_VALUES | BY_FIRST | OWN_TEXTS) == 0;
    let state = if flags & READY == 0 { IndexState::Building } else { IndexState::Ready };
    let name = take_text(reader)?.to_owned();
    let spec = match IndexSpec::decode(name, flags & UNIQUE != 0, reader)? {
        Ok(spec) => spec,
        Err(error) => return Some(Err(error)),
    };
    let [by_values, by_first, own_texts] = [BY_VALUES, BY_FIRST, OWN_TEXTS].map(|flag| flags & flag != 0);
    known.then_some(Ok(IndexEntry { tree, state, by_values, by_first, own_texts, spec }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use recension_values::collation::{Collation, JsonType};
    use recension_values::condition::{Condition, ValueRange, ValueSet};

    #[test]
    fn a_collection_reads_back_what_was_written_and_cuts_are_refused() {
        let index = |tree, unique, state| {
            let spec = IndexSpec { unique, ..IndexSpec::new(format!("by-{tree}"), "a.b[0]") };
            IndexEntry::new(TreeId(tree), state, spec)
        };
        let set = ValueRange::between(1, "z").or(ValueSet::one_of([true, false])).or(ValueRange::prefix("é"));
        let mut rich = index(10, true, IndexState::Ready);
        rich.spec = rich
            .spec
            .then_descending("tags[].x")
            .collated(Collation::Binary)
            .only_where(Condition::new("c", set))
            .only_where(Condition::new("d", ValueRange::of_type(JsonType::Array)));
        let indexes = vec![index(8, true, IndexState::Ready), index(9, false, IndexState::Building), rich];
        let entry = CollectionEntry {
            revs_limit: 5,
            purges_limit: 6,
            counts_rewritten: false,
            indexes,
            ..CollectionEntry::new([TreeId(7), TreeId(70), TreeId(71)])
        };
        let value = entry.encode();
        assert_eq!(CollectionEntry::decode(&value, "x").unwrap(), entry);
        assert_eq!(value[0], COLLECTION_LAYOUT_BY_VALUES);
        let mut older = entry.clone();
        let composite = IndexSpec::new("composite", "a").then("b");
        older.indexes.push(IndexEntry::new(TreeId(11), IndexState::Ready, composite));
        assert_eq!(CollectionEntry::decode(&older.encode(), "x").unwrap(), older);
        assert_eq!(older.encode()[0], COLLECTION_LAYOUT_OWN_TEXTS);
        older.counts_rewritten = true;
        assert_eq!(CollectionEntry::decode(&older.encode(), "x").unwrap(), older);
        assert_eq!(older.encode()[0], COLLECTION_LAYOUT_NEWEST);
        older.counts_rewritten = false;
        older.indexes.iter_mut().for_each(|index| index.own_texts = false);
        assert_eq!(CollectionEntry::decode(&older.encode(), "x").unwrap(), older);
        assert_eq!(older.encode()[0], COLLECTION_LAYOUT_BY_FIRST);
        older.indexes.iter_mut().for_each(|index| index.by_first = false);
        assert_eq!(CollectionEntry::decode(&older.encode(), "x").unwrap(), older);
        assert_eq!(older.encode()[0], COLLECTION_LAYOUT_BY_VALUES);
        older.indexes.iter_mut().for_each(|index| index.by_values = false);
        assert_eq!(CollectionEntry::decode(&older.encode(), "x").unwrap(), older);
        assert_eq!(older.encode()[0], COLLECTION_LAYOUT);
        let whole = value.len();
        let entry = CollectionEntry { schema: Some(Arc::new(Schema::stored("{}".to_owned()))), ..entry };
        let value = entry.encode();
        assert_eq!(CollectionEntry::decode(&value, "x").unwrap(), entry);
        assert_eq!(value[0], COLLECTION_LAYOUT_SECTIONS);
        // A value without its sections is valid too.
        for cut in (0..value.len()).filter(|cut| *cut != whole) {
            assert!(CollectionEntry::decode(&value[..cut], "x").is_err(), "{cut}");
        }
        let mut newer = value;
        newer[0] = COLLECTION_LAYOUT_NEWEST + 1;
        assert!(matches!(CollectionEntry::decode(&newer, "x"), Err(Error::NewerLayout { .. })));
    }
}
