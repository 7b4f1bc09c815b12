//! What a merge takes of collections themselves: new ones, schemas and indexes. Each is a thing that one side or both
//! changed since the last merge, as a member of a document is. Settings come along with a new collection only, and
//! rules of retention never.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::{Direction, KeyRange, Seq, Snapshot};
use crate::faces::branches::is_branched;
use crate::faces::merge::{Conflicts, Merged, in_merge};
use crate::faces::store::Store;
use crate::faces::transaction::Transaction;
use crate::kernel::rows::catalogue::{CATALOGUE, COLLECTIONS_PREFIX, CollectionEntry};
use crate::kernel::rows::side;
use recension_values::at::At;
use recension_values::error::Result;
use recension_values::index_spec::IndexSpec;
use recension_values::json::{self, MergeConflict, Pointer};
use recension_values::schema::Schema;

/// What changed on the one branch, and what is on both.
struct Changed<T> {
    collection: String,
    /// A schema has none.
    name: String,
    base: Option<T>,
    ours: Option<T>,
    theirs: Option<T>,
}

impl<T: PartialEq> Changed<T> {
    /// What becomes of it: it is to be as there, or not.
    fn is_taken(&self, conflicts: Conflicts) -> bool {
        self.ours == self.base || conflicts == Conflicts::Theirs
    }
}

/// The rows of a collection's settings.
type SettingRows = Vec<(Vec<u8>, Vec<u8>)>;

/// What a merge takes of collections.
#[derive(Default)]
pub(crate) struct Shapes {
    /// With their settings there.
    new: Vec<(String, SettingRows)>,
    /// Collections that were dropped here and changed there: they come back, whole, if that side wins.
    gone: BTreeSet<String>,
    schemas: Vec<Changed<Arc<Schema>>>,
    indexes: Vec<Changed<IndexSpec>>,
}

/// What differs since `since`; and the collections that were dropped there and are here.
pub(crate) fn shapes_to_take(
    into: &Store,
    from: &Store,
    source: &Arc<dyn Snapshot>,
    since: Seq,
    conflicts: Conflicts,
) -> Result<(Shapes, Vec<String>)> {
    let (now, then) = (into.snapshot(At::Now)?, from.engine().snapshot_at(since)?);
    let changed = from.collections_changed(since, At::Seq(source.seq()))?;
    let changed: BTreeSet<Arc<str>> = changed.into_iter().map(|(name, _)| name).collect();
    let (mut shapes, mut dropped) = (Shapes::default(), Vec::new());
    for key in source.keys(CATALOGUE, &KeyRange::prefix(COLLECTIONS_PREFIX)) {
        let key = key?;
        let name = String::from_utf8_lossy(key.get(COLLECTIONS_PREFIX.len()..).unwrap_or_default()).into_owned();
        let is_as_it_was = source.version(CATALOGUE, &key)?.is_some_and(|seq| seq <= since);
        if !is_branched(&name) || is_as_it_was && !changed.contains(name.as_str()) {
            continue;
        }
        let entry = |snapshot: &dyn Snapshot| -> Result<Option<CollectionEntry>> {
            let row = snapshot.get(CATALOGUE, &key)?;
            row.map(|row| CollectionEntry::decode(&row, &name)).transpose()
        };
        let (mut base, ours, theirs) = (entry(&*then)?, entry(&*now)?, entry(&**source)?);
        let Some(theirs) = theirs else {
            dropped.extend((base.is_some() && ours.is_some()).then_some(name));
            continue;
        };
        let is_another = base.as_ref().is_some_and(|base| base.documents != theirs.documents);
        // What was dropped there and made again has none of the former documents.
        dropped.extend((is_another && ours.is_some()).then(|| name.clone()));
        if base.is_some() && ours.is_none() {
            shapes.gone.insert(name.clone());
            if conflicts != Conflicts::Theirs {
                continue;
            }
            base = None;
        }
        if ours.is_none() {
            let settings = source.range(theirs.side, &KeyRange::prefix([side::SETTING]), Direction::Forward);
            let settings = settings.map(|row| row.map(|row| (row.key.into_owned(), row.value.bytes.into_owned())));
            shapes.new.push((name.clone(), settings.collect::<crate::engine::Result<_>>()?));
        }
        let schema = |entry: &Option<CollectionEntry>| entry.as_ref().and_then(|entry| entry.schema.clone());
        let theirs = Some(theirs);
        let of_schema = Changed {
            collection: name.clone(),
            name: String::new(),
            base: schema(&base),
            ours: schema(&ours),
            theirs: schema(&theirs),
        };
        shapes.schemas.extend(Some(of_schema).filter(|it| it.theirs != it.base && it.theirs != it.ours));
        let indexes = |entry: &Option<CollectionEntry>| -> Vec<IndexSpec> {
            entry.iter().flat_map(|entry| &entry.indexes).map(|index| index.spec.clone()).collect()
        };
        let [base, ours, theirs] = [indexes(&base), indexes(&ours), indexes(&theirs)];
        let mut names: Vec<_> = base.iter().chain(&theirs).map(|spec| spec.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        for index in names {
            let of = |specs: &[IndexSpec]| specs.iter().find(|spec| spec.name == index).cloned();
            let (base, ours, theirs) = (of(&base), of(&ours), of(&theirs));
            if theirs != base && theirs != ours {
                shapes.indexes.push(Changed { collection: name.clone(), name: index, base, ours, theirs });
            }
        }
    }
    Ok((shapes, dropped))
}

impl Shapes {
    pub(crate) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.gone.is_empty() && self.schemas.is_empty() && self.indexes.is_empty()
    }

    /// Whether a collection was dropped here and changed there.
    pub(crate) fn is_gone(&self, collection: &str) -> bool {
        self.gone.contains(collection)
    }

    pub(crate) fn has_indexes(&self) -> bool {
        !self.indexes.is_empty()
    }

    /// Makes new collections, takes schemas and drops the indexes that were dropped there, within the transaction, and
    /// tells what both changed. It comes before the documents: an index that is dropped refuses none of them.
    pub(crate) fn take_in(&self, tx: &Transaction, conflicts: Conflicts, told: &mut Merged) -> Result<()> {
        for name in &self.gone {
            let (there, changed) = (Some(json::quote("there")), Some(json::quote("changed")));
            let place = MergeConflict { path: Pointer::root(), base: there, ours: None, theirs: changed };
            told.conflict(name, "", vec![place]);
        }
        for (name, settings) in &self.new {
            tx.collection(name)?.make(settings)?;
            told.made.push(name.clone());
        }
        for changed in &self.schemas {
            if changed.ours != changed.base {
                let text = |schema: &Option<Arc<Schema>>| schema.as_ref().map(|schema| schema.text().to_owned());
                let [base, ours, theirs] = [&changed.base, &changed.ours, &changed.theirs].map(text);
                let path = Pointer::root().child("schema");
                told.conflict(&changed.collection, "", vec![MergeConflict { path, base, ours, theirs }]);
            }
            if changed.is_taken(conflicts) {
                tx.collection(&changed.collection)?.set_schema(changed.theirs.clone())?;
            }
        }
        for changed in self.indexes.iter().filter(|changed| changed.ours != changed.base) {
            let text = |spec: &Option<IndexSpec>| {
                let paths = |spec: &IndexSpec| spec.parts.iter().map(|part| part.path.to_string()).collect::<Vec<_>>();
                spec.as_ref().map(|spec| json::quote(&paths(spec).join(", ")))
            };
            let [base, ours, theirs] = [&changed.base, &changed.ours, &changed.theirs].map(text);
            let path = Pointer::root().child("indexes").child(&*changed.name);
            told.conflict(&changed.collection, "", vec![MergeConflict { path, base, ours, theirs }]);
        }
        for changed in self.indexes.iter().filter(|changed| changed.theirs.is_none() && changed.is_taken(conflicts)) {
            tx.collection(&changed.collection)?.drop_index(&changed.name)?;
        }
        Ok(())
    }

    /// Makes the indexes that are new there, before anything is merged; answers which.
    pub(crate) fn make_indexes(&self, into: &Store, conflicts: Conflicts) -> Result<MadeIndexes<'_>> {
        let mut made = MadeIndexes(Vec::new());
        for changed in self.indexes.iter().filter(|changed| changed.is_taken(conflicts)) {
            let Some(spec) = &changed.theirs else { continue };
            let collection = into.collection(&changed.collection)?;
            if changed.ours.is_some() {
                collection.drop_index(&changed.name)?;
            }
            made.0.push(changed);
            if let Err(error) = collection.create_index(spec.clone(), |_| ()) {
                made.undo(into)?;
                return Err(in_merge(&changed.collection, error));
            }
        }
        Ok(made)
    }
}

/// Indexes that a merge has made, or made anew.
pub(crate) struct MadeIndexes<'s>(Vec<&'s Changed<IndexSpec>>);

impl MadeIndexes<'_> {
    /// They are as before.
    pub(crate) fn undo(&self, into: &Store) -> Result<()> {
        for changed in &self.0 {
            let collection = into.collection(&changed.collection)?;
            if collection.indexes()?.iter().any(|index| index.spec.name == changed.name) {
                collection.drop_index(&changed.name)?;
            }
            if let Some(ours) = &changed.ours {
                collection.create_index(ours.clone(), |_| ())?;
            }
        }
        Ok(())
    }
}
