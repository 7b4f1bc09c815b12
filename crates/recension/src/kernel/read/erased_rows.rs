//! Finding every version of every row that belongs to some documents, at any moment, in a collection and in dropped
//! ones with its name. Every key of their trees is looked at, so that nothing depends on how much of the past is still
//! known.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::engine::{Direction, EngineError, ErasedKey, ErasedVersions, KeyRange, Seq, Snapshot, TreeId};
use crate::kernel::attachment::rows::{ContentRow, GIVEN_UP, chunks_of, content_key, upload_in, upload_time};
use crate::kernel::rows::access_rows;
use crate::kernel::rows::catalogue::{
    BuildCursor, CATALOGUE, CollectionEntry, IndexEntry, build_key, collection_key, statistics_key,
};
use crate::kernel::rows::consumer_rows::{self, ConsumerKey, NAMESPACE, of_collection};
use crate::kernel::rows::index_keys::values_len;
use crate::kernel::rows::index_rows::RowRead;
use crate::kernel::rows::key_rows::{SpaceTrees, decode_entry, space_key};
use crate::kernel::rows::side;
use crate::kernel::rows::view_entry::{ViewEntry, views_prefix};
use crate::kernel::rows::view_rows::{decode_keys, of_document};
use recension_values::error::Result;
use recension_values::position::Position;

/// The progress of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EraseProgress {
    /// Trees of the collection that are done.
    pub trees_done: u64,
    /// Trees of it.
    pub trees: u64,
    /// Keys that were looked at.
    pub keys: u64,
}

/// Keys between two calls that tell of progress.
const KEYS_PER_CALL: u64 = 1 << 16;

/// The result of the search.
pub(crate) struct ErasedRows {
    pub(crate) keys: Vec<ErasedKey>,
    /// Documents that had any row.
    pub(crate) found: u64,
    /// The trees of documents that they may have been in.
    pub(crate) documents: Vec<TreeId>,
}

/// Finds the rows of documents up to commit `through`.
pub(crate) fn erased_rows(
    snapshot: &dyn Snapshot,
    collection: &str,
    ids: &[String],
    through: Seq,
    progress: &mut dyn FnMut(EraseProgress),
) -> Result<ErasedRows> {
    let generations = generations(snapshot, collection)?;
    let trees = |own: &Generation| 3 + (own.indexes.len() + own.access.len()) as u64;
    let trees = generations.values().map(trees).sum();
    let mut search = Search {
        snapshot,
        ids: ids.iter().map(String::as_str).collect(),
        through,
        keys: Vec::new(),
        found: HashSet::new(),
        at: EraseProgress { trees, ..EraseProgress::default() },
        progress,
    };
    for generation in generations.values() {
        search.documents(generation.documents)?;
        search.changes(generation.changes)?;
        search.side(generation.side)?;
        for index in generation.indexes.values() {
            search.index(index)?;
            search.build_of(index.tree)?;
            // Statistics hold keys of some documents, and do not say of which.
            search.erase_all(CATALOGUE, statistics_key(index.tree));
            search.tree_done();
        }
        for tree in &generation.access {
            search.owned(*tree, &KeyRange::all(), |key| access_rows::id_in(key).map(str::to_owned))?;
            search.build_of(*tree)?;
            search.tree_done();
        }
        search.views(generation.documents)?;
        search.consumers(generation.documents)?;
    }
    let (found, keys) = (search.found.len() as u64, search.keys);
    Ok(ErasedRows { found, keys, documents: generations.into_keys().collect() })
}

/// A collection with the name, with every index that it ever had.
struct Generation {
    documents: TreeId,
    changes: TreeId,
    side: TreeId,
    indexes: BTreeMap<TreeId, IndexEntry>,
    /// Of its indexes of access.
    access: BTreeSet<TreeId>,
}

/// The collections that ever had a name, by their trees of documents.
fn generations(snapshot: &dyn Snapshot, collection: &str) -> Result<BTreeMap<TreeId, Generation>> {
    let mut generations = BTreeMap::new();
    for version in snapshot.versions(CATALOGUE, &collection_key(collection)) {
        let Some(value) = version?.value else { continue };
        let entry = CollectionEntry::decode(&value, collection)?;
        let CollectionEntry { documents, changes, side, .. } = entry;
        let generation = generations.entry(documents).or_insert_with(|| {
            let (indexes, access) = (BTreeMap::new(), BTreeSet::new());
            Generation { documents, changes, side, indexes, access }
        });
        generation.access.extend(entry.access.map(|access| access.tree));
        for index in entry.indexes {
            // The rows come newest first, so the newest state of an index counts.
            generation.indexes.entry(index.tree).or_insert(index);
        }
    }
    Ok(generations)
}

struct Search<'s> {
    snapshot: &'s dyn Snapshot,
    ids: HashSet<&'s str>,
    through: Seq,
    keys: Vec<ErasedKey>,
    found: HashSet<&'s str>,
    at: EraseProgress,
    progress: &'s mut dyn FnMut(EraseProgress),
}

impl<'s> Search<'s> {
    fn tree_done(&mut self) {
        self.at.trees_done += 1;
        (self.progress)(self.at);
    }

    fn erase(&mut self, tree: TreeId, key: Vec<u8>, versions: ErasedVersions) {
        self.keys.push(ErasedKey { tree, key, versions });
    }

    fn erase_all(&mut self, tree: TreeId, key: Vec<u8>) {
        self.erase(tree, key, ErasedVersions::through(self.through));
    }

    /// One of the documents, if `id` is one.
    fn wanted(&self, id: &str) -> Option<&'s str> {
        self.ids.get(id).copied()
    }

    /// Calls `each` with every key that a range ever had.
    fn each_key(
        &mut self,
        tree: TreeId,
        range: &KeyRange,
        mut each: impl FnMut(&mut Self, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        for key in self.snapshot.keys(tree, range) {
            each(self, key?)?;
            self.at.keys += 1;
            if self.at.keys.is_multiple_of(KEYS_PER_CALL) {
                (self.progress)(self.at);
            }
        }
        Ok(())
    }

    /// Erases the keys of a range in which `id_of` finds one of the documents.
    fn owned(&mut self, tree: TreeId, range: &KeyRange, id_of: impl Fn(&[u8]) -> Option<String>) -> Result<()> {
        self.each_key(tree, range, |search, key| {
            if let Some(id) = id_of(&key).and_then(|id| search.wanted(&id)) {
                search.found.insert(id);
                search.erase_all(tree, key);
            }
            Ok(())
        })
    }

    fn documents(&mut self, tree: TreeId) -> Result<()> {
        let ids: Vec<_> = self.ids.iter().copied().collect();
        for id in ids {
            self.owned(tree, &KeyRange::only(id), |_| Some(id.to_owned()))?;
        }
        self.tree_done();
        Ok(())
    }

    fn changes(&mut self, tree: TreeId) -> Result<()> {
        self.owned(tree, &KeyRange::all(), |key| text(key.get(8..)?))?;
        self.tree_done();
        Ok(())
    }

    fn side(&mut self, tree: TreeId) -> Result<()> {
        for kind in [side::LEAF, side::ANCESTORS] {
            self.owned(tree, &KeyRange::prefix([kind]), |key| Some(side::id_in(key.get(1..)?)?.0))?;
        }
        self.owned(tree, &KeyRange::prefix([side::PURGED]), |key| text(key.get(9..)?))?;
        self.contents(tree)?;
        self.dead_blobs(tree)?;
        self.tree_done();
        Ok(())
    }

    /// References to contents, and the contents that no other document ever referred to.
    fn contents(&mut self, tree: TreeId) -> Result<()> {
        let (mut referred, mut shared) = (BTreeSet::new(), BTreeSet::new());
        self.each_key(tree, &KeyRange::prefix([side::REFERENCE]), |search, key| {
            let Some((sha256, id)) = key.get(1..).and_then(<[u8]>::split_first_chunk::<32>) else { return Ok(()) };
            let sha256 = *sha256;
            match side::id_in(id).and_then(|(id, _)| search.wanted(&id)) {
                Some(id) => {
                    search.found.insert(id);
                    referred.insert(sha256);
                    search.erase_all(tree, key);
                }
                None => drop(shared.insert(sha256)),
            }
            Ok(())
        })?;
        for sha256 in referred.difference(&shared) {
            for (seq, blob) in self.blobs_of(tree, &content_key(sha256))? {
                if seq <= self.through {
                    self.chunks(tree, &blob, self.through)?;
                }
            }
            self.erase_all(tree, content_key(sha256));
        }
        Ok(())
    }

    /// The blobs that a content ever had, each with its first commit.
    fn blobs_of(&self, tree: TreeId, key: &[u8]) -> Result<Vec<(Seq, [u8; 16])>> {
        let mut blobs = Vec::new();
        let sha256 = key.get(1..).and_then(|sha256| sha256.try_into().ok()).unwrap_or_default();
        for version in self.snapshot.versions(tree, key) {
            let version = version?;
            if let Some(value) = version.value {
                blobs.push((version.seq, ContentRow::decode(&value, &sha256)?.blob));
            }
        }
        Ok(blobs)
    }

    fn chunks(&mut self, tree: TreeId, blob: &[u8; 16], through: Seq) -> Result<()> {
        self.each_key(tree, &chunks_of(blob), |search, key| {
            search.erase(tree, key, ErasedVersions::through(through));
            Ok(())
        })
    }

    /// Blobs without a content: no document took the upload, the content was stored already, or the rows that named the
    /// blob were given up. No read finds them, but their owner is unknown.
    fn dead_blobs(&mut self, tree: TreeId) -> Result<()> {
        let mut dead = BTreeSet::new();
        self.each_key(tree, &KeyRange::prefix([side::CHUNK]), |_, key| {
            dead.extend(key.get(1..).and_then(<[u8]>::first_chunk::<16>));
            Ok(())
        })?;
        self.each_key(tree, &KeyRange::prefix([side::CONTENT]), |search, key| {
            for (_, blob) in search.blobs_of(tree, &key)? {
                dead.remove(&blob);
            }
            Ok(())
        })?;
        for row in self.snapshot.range(tree, &KeyRange::prefix([side::UPLOAD]), Direction::Forward) {
            let row = row?;
            if upload_time(&row.value)? != GIVEN_UP {
                upload_in(&row.key).map(|blob| dead.remove(&blob));
            }
        }
        for blob in &dead {
            self.chunks(tree, blob, self.snapshot.seq())?;
        }
        Ok(())
    }

    fn index(&mut self, index: &IndexEntry) -> Result<()> {
        self.each_key(index.tree, &KeyRange::all(), |search, key| {
            let Some(id) = values_len(&index.spec, &key).and_then(|length| key.get(length..)) else { return Ok(()) };
            if id.is_empty() {
                // The counters of an index of words name no document.
                return if index.spec.words.is_some() { Ok(()) } else { search.holders(index, key) };
            }
            if let Some(id) = text(id).and_then(|id| search.wanted(&id)) {
                search.found.insert(id);
                search.erase_all(index.tree, key);
            }
            Ok(())
        })
    }

    /// For a row at the values alone: the versions that name one of the documents, and the deletions that follow them.
    fn holders(&mut self, index: &IndexEntry, key: Vec<u8>) -> Result<()> {
        let versions: Vec<_> = self.snapshot.versions(index.tree, &key).collect::<crate::engine::Result<_>>()?;
        let (mut erased, mut held) = (Vec::new(), false);
        for version in versions.iter().rev().filter(|version| version.seq <= self.through) {
            if let Some(value) = &version.value {
                let holder = RowRead::at_values(&key, value).and_then(|row| self.wanted(row.id));
                self.found.extend(holder);
                held = holder.is_some();
            }
            if held {
                erased.push(version.seq);
            }
        }
        if !erased.is_empty() {
            self.erase(index.tree, key, ErasedVersions::these(erased));
        }
        Ok(())
    }

    /// Rows of views: of every view that the collection ever had, the rows of the documents. The position of a view may
    /// name a document, too.
    fn views(&mut self, documents: TreeId) -> Result<()> {
        let mut trees = BTreeSet::new();
        self.each_key(CATALOGUE, &KeyRange::prefix(views_prefix(documents)), |search, key| {
            let mut erased = Vec::new();
            for version in search.snapshot.versions(CATALOGUE, &key) {
                let version = version?;
                let Some(value) = version.value else { continue };
                let view = ViewEntry::decode(&value)?;
                trees.insert(view.tree);
                let named = view.position.within.is_some_and(|(_, id)| search.wanted(&id).is_some());
                if named && version.seq <= search.through {
                    erased.push(version.seq);
                }
            }
            if !erased.is_empty() {
                search.erase(CATALOGUE, key, ErasedVersions::these(erased));
            }
            Ok(())
        })?;
        let ids: Vec<_> = self.ids.iter().copied().collect();
        for tree in trees {
            for id in &ids {
                let list = of_document(id);
                let mut rows = BTreeSet::new();
                for version in self.snapshot.versions(tree, &list) {
                    if let Some(value) = version?.value {
                        rows.extend(decode_keys(&value)?.into_iter().map(<[u8]>::to_vec));
                    }
                }
                if !rows.is_empty() {
                    self.erase_all(tree, list);
                }
                for row in rows {
                    self.erase_all(tree, row);
                }
            }
        }
        Ok(())
    }

    /// What consumers of the collection were handed, and where they stood: a position names the document that it is
    /// behind.
    fn consumers(&mut self, documents: TreeId) -> Result<()> {
        let Some(row) = self.snapshot.get(CATALOGUE, &space_key(NAMESPACE))? else { return Ok(()) };
        let tree = SpaceTrees::decode(&row, NAMESPACE)?.keys;
        self.each_key(tree, &KeyRange::prefix(of_collection(documents)), |search, key| {
            match consumer_rows::parse(&key) {
                Some(ConsumerKey::Delivery { id, .. }) => {
                    if let Some(id) = search.wanted(id) {
                        search.found.insert(id);
                        // Somebody may have acknowledged it since it was ordered.
                        search.erase(tree, key, ErasedVersions::through(search.snapshot.seq()));
                    }
                }
                Some(ConsumerKey::Position) => {
                    let mut erased = Vec::new();
                    for version in search.snapshot.versions(tree, &key) {
                        let version = match version {
                            // Consumers have no past, and one that was forgotten has no present.
                            Err(EngineError::Forgotten { .. }) => break,
                            version => version?,
                        };
                        let Some(value) = version.value else { continue };
                        let id = position_in(&value, version.seq, &key)?.within.map(|(_, id)| id);
                        if id.is_some_and(|id| search.wanted(&id).is_some()) {
                            erased.push(version.seq);
                        }
                    }
                    if !erased.is_empty() {
                        search.erase(tree, key, ErasedVersions::these(erased));
                    }
                }
                None => {}
            }
            Ok(())
        })
    }

    /// How far the build of an index had come names a document.
    fn build_of(&mut self, tree: TreeId) -> Result<()> {
        let key = build_key(tree);
        let mut erased = Vec::new();
        for version in self.snapshot.versions(CATALOGUE, &key) {
            let version = version?;
            let after = version.value.and_then(|value| BuildCursor::decode(&value).after).and_then(|id| text(&id));
            if version.seq <= self.through && after.is_some_and(|id| self.wanted(&id).is_some()) {
                erased.push(version.seq);
            }
        }
        if !erased.is_empty() {
            self.erase(CATALOGUE, key, ErasedVersions::these(erased));
        }
        Ok(())
    }
}

/// The position in the row of a consumer.
pub(crate) fn position_in(value: &[u8], seq: Seq, key: &[u8]) -> Result<Position> {
    let text = decode_entry(value, seq, key)?.value.into_bytes();
    String::from_utf8(text).unwrap_or_default().parse()
}

fn text(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}
