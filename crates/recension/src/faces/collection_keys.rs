//! Keys of collections, in a store that is encrypted. Destroying one is erasing: what it sealed cannot be read in any
//! backup any more, and the live store forgets the collection at every moment. docs/encryption.md has the design.

use std::collections::BTreeMap;

use crate::engine::{
    EngineError, ErasedKey, ErasedVersions, KeyNumber, KeyRange, Retention, Seq, Snapshot, TreeId, TreeKey,
    TreeKeyState, TreeKeys,
};
use crate::faces::store::Store;
use crate::kernel::overlay::Overlay;
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry, collection_key, counts_key, expiry_key};
use crate::kernel::rows::collection_key::{KINDS_OF_TREES, KeyRow, NEXT_KEY, next_number, row_key};
use crate::kernel::rows::consumer_rows;
use crate::kernel::rows::trees::take_collection_trees;
use crate::kernel::write::attempt::{Attempt, retry};
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::limits::ERASED_KEYS_AT_ONCE;
use recension_values::write::check_name;

/// What a collection with a key may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CollectionKeyOptions {
    /// Indexes and views. The key does not seal what they are ordered by: in backups, the values at the paths of
    /// indexes and the keys of views stay readable for whoever has the store's key, also after the collection's key is
    /// destroyed. Off by default.
    pub with_indexes: bool,
}

fn refused(name: &str, why: &str) -> Error {
    EngineError::Key { store: format!("the collection {name}"), why: why.to_owned() }.into()
}

impl Store {
    /// Gives a new collection a key of its own, and makes the collection. What is written to it from now on is sealed
    /// by the key, besides the store's own. If it has a key, the options are set.
    ///
    /// The keys of all collections stand in one file (`NativeOptions::collection_keys`), which no backup has.
    ///
    /// # Errors
    /// [`EngineError::Key`] if the store is not encrypted, or the collection is there without a key;
    /// [`EngineError::Unsupported`] if another process has the store open, or the engine has no keys.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recension::{CollectionKeyOptions, Key, OpenOptions};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("notes").display().to_string();
    /// let store = OpenOptions::new().key(Some(Key::generate()?)).open(&path)?;
    /// store.create_collection_key("patients", CollectionKeyOptions::default())?;
    /// store.collection("patients")?.put("ada", r#"{"born":1815}"#)?;
    ///
    /// store.destroy_collection_key("patients")?;
    /// assert!(store.collection("patients")?.get("ada")?.is_none());
    /// # Ok(()) }
    /// ```
    pub fn create_collection_key(&self, name: &str, options: CollectionKeyOptions) -> Result<()> {
        check_name("collection", name)?;
        let keys = self.keys_of_trees()?;
        if self.branch_name().is_some() {
            // Numbers of keys are the store's, and those of branches are not known to each other.
            return Err(refused(name, "keys are given on the main line: make the collection there, then the branch"));
        }
        // What an interrupted destruction has left goes first.
        let destroyed = |key: &TreeKey| key.name == name && matches!(key.state, TreeKeyState::Destroyed(_));
        let left: Vec<KeyNumber> = keys.list().into_iter().filter(destroyed).map(|key| key.number).collect();
        self.forget_sealed_everywhere(name, &left)?;
        let slot = self.slot(name);
        let now = self.snapshot(At::Now)?;
        let unsealed = "it is there already, without a key; give a new collection one and copy the documents there, or \
                        drop this one first: its history stays as it is";
        let is_open = |entry: &CollectionEntry| KeyNumber::of(entry.documents).is_none();
        if slot.entry(&*now)?.is_some_and(|entry| is_open(&entry)) {
            return Err(refused(name, unsealed));
        }
        let given = now.get(CATALOGUE, NEXT_KEY)?;
        let next = next_number(given.as_deref())?.ok_or_else(|| refused(name, "the store has given out all keys"))?;
        if given.is_some() && keys.list().iter().all(|key| key.number.next() != Some(next)) {
            // Another file of keys would come into being, and nothing could make one of both.
            let why =
                "the file of collections' keys is missing or too old; give the newest with --collection-keys FILE";
            return Err(refused(name, why));
        }
        let number = keys.create(name, next)?;
        let made = retry(|| {
            let view = Overlay::new(self.snapshot(At::Now)?);
            let before = match view.get(CATALOGUE, &row_key(name))? {
                Some(row) => Some(KeyRow::decode(&row, name)?).filter(|row| row.number == number),
                None => None,
            };
            let row = before.unwrap_or(KeyRow { number, given: 0, with_indexes: false });
            view.put(CATALOGUE, &row_key(name), KeyRow { with_indexes: options.with_indexes, ..row }.encode());
            match slot.entry_in(&view)? {
                Some(entry) if is_open(&entry) => return Ok(Attempt::Done(false)),
                Some(_) => {}
                None => {
                    let entry = CollectionEntry::new(take_collection_trees(&view, name)?);
                    view.put(CATALOGUE, &slot.key, entry.encode());
                }
            }
            view.put(CATALOGUE, NEXT_KEY, (number.get() + 1).to_be_bytes().to_vec());
            Ok(self.try_commit_view(&view, &[])?.map(|_| true))
        })?;
        if made {
            return Ok(());
        }
        // Somebody has made it meanwhile, and nothing is sealed by the key.
        keys.destroy(number)?;
        Err(refused(name, unsealed))
    }

    /// Destroys the key of a collection. When this returns, nobody can read what the key has sealed: in no backup, and
    /// in this store at no moment, as if the collection had been erased. After the next [`Store::compact`] no byte of
    /// it is in any file of the store. If it was interrupted, call it again. Returns how many rows were erased.
    ///
    /// In backups, ids of documents and what indexes and views are ordered by stay readable with the store's key.
    /// Copies of the file of keys that were made before still open what the key has sealed.
    ///
    /// # Errors
    /// [`EngineError::Key`] if the collection has no key; [`EngineError::Unsupported`] as
    /// [`Store::create_collection_key`].
    pub fn destroy_collection_key(&self, name: &str) -> Result<u64> {
        check_name("collection", name)?;
        if self.branch_name().is_some() {
            return self.main_line_as_is().destroy_collection_key(name);
        }
        let keys = self.keys_of_trees()?;
        let named: Vec<TreeKey> = keys.list().into_iter().filter(|key| key.name == name).collect();
        let is_destroyed = |key: &&TreeKey| matches!(key.state, TreeKeyState::Destroyed(_));
        // A backup may be of a time when the collection had another key: then that one is meant, and no later one.
        let row = self.snapshot(At::Now)?.get(CATALOGUE, &row_key(name))?.map(|row| KeyRow::decode(&row, name));
        let meant = match row.transpose()? {
            Some(row) => named.iter().find(|key| key.number == row.number),
            None => named.iter().find(|key| !is_destroyed(key)).or(named.last()),
        };
        let Some(meant) = meant.map(|key| key.number) else {
            return Err(refused(name, "it has no key here; `recension key collections` lists those that have one"));
        };
        keys.destroy(meant)?;
        let destroyed = named.iter().filter(is_destroyed).map(|key| key.number);
        let mut numbers: Vec<KeyNumber> = destroyed.filter(|number| *number != meant).collect();
        numbers.push(meant);
        self.forget_sealed_everywhere(name, &numbers)
    }

    /// The keys of collections that there are and were, by number.
    pub fn collection_keys(&self) -> Vec<TreeKey> {
        self.engine().tree_keys().map(TreeKeys::list).unwrap_or_default()
    }

    /// Whether the rows of a collection can be read: it has no key, or that is here. Another process that has the store
    /// open does not tell.
    pub(crate) fn has_key_of(&self, entry: &CollectionEntry) -> bool {
        let (Some(number), Some(keys)) = (KeyNumber::of(entry.documents), self.engine().tree_keys()) else {
            return true;
        };
        keys.list().iter().any(|key| key.number == number && key.state == TreeKeyState::Here)
    }

    fn keys_of_trees(&self) -> Result<&dyn TreeKeys> {
        let what = "give collections keys: the store has to be encrypted, and open in no other process";
        let engine = || self.engine().stats().map(|stats| stats.engine);
        match self.engine().tree_keys() {
            Some(keys) => Ok(keys),
            None => Err(EngineError::Unsupported { engine: engine()?, what }.into()),
        }
    }

    /// Erases on the main line, which this is, and on every branch what keys of a name have sealed.
    fn forget_sealed_everywhere(&self, name: &str, numbers: &[KeyNumber]) -> Result<u64> {
        let mut erased = 0;
        for branch in self.branches_as_is()? {
            erased += branch.unless_dropped(branch.forget_sealed(name, numbers))?.unwrap_or(0);
        }
        Ok(erased + self.forget_sealed(name, numbers)?)
    }

    /// Erases everything that keys of a name have sealed, and what the catalogue has of it, from every moment. No value
    /// is read. Returns how many rows; it may be done again.
    fn forget_sealed(&self, name: &str, numbers: &[KeyNumber]) -> Result<u64> {
        if numbers.is_empty() {
            return Ok(0);
        }
        let is_theirs = |tree: TreeId| KeyNumber::of(tree).is_some_and(|number| numbers.contains(&number));
        let slot = self.slot(name);
        if slot.entry(&*self.snapshot(At::Now)?)?.is_some_and(|entry| is_theirs(entry.documents)) {
            self.drop_collection(name)?;
        }
        retry(|| {
            let view = Overlay::new(self.snapshot(At::Now)?);
            let row = view.get(CATALOGUE, &row_key(name))?.map(|row| KeyRow::decode(&row, name)).transpose()?;
            if row.is_none_or(|row| !numbers.contains(&row.number)) {
                return Ok(Attempt::Done(()));
            }
            view.delete(CATALOGUE, &row_key(name));
            Ok(self.try_commit_view(&view, &[])?.map(|_| ()))
        })?;
        let mut rules = self.engine().retention()?;
        rules.retain(|rule| is_theirs(rule.tree));
        for rule in &mut rules {
            rule.retention = Retention::Everything;
        }
        if !rules.is_empty() {
            self.engine().set_retention(&rules)?;
        }
        let now = self.snapshot(At::Now)?;
        let mut sealed = Sealed { store: self, now: &*now, keys: Vec::new(), erased: 0 };
        // The row that says how many trees there are goes last.
        let given = given_out(&*now, name)?;
        for number in numbers {
            let trees = given.get(number).map_or(0, |(trees, _)| *trees);
            (0..trees).try_for_each(|tree| sealed.all(number.tree(tree), &KeyRange::all()))?;
            let block = &number.tree(0).0.to_be_bytes()[..2];
            for kind in KINDS_OF_TREES {
                sealed.all(CATALOGUE, &KeyRange::prefix([&[kind], block].concat()))?;
            }
            if let Some(consumers) = self.spaces().of(consumer_rows::NAMESPACE).trees(&*now)? {
                sealed.all(consumers.keys, &KeyRange::prefix(block))?;
            }
        }
        sealed.rows_of_the_name(name, is_theirs)?;
        sealed.flush()?;
        let rows = given.into_iter().filter(|(number, _)| numbers.contains(number)).flat_map(|(_, (_, seqs))| seqs);
        sealed.these(row_key(name), rows.collect())?;
        sealed.flush()?;
        Ok(sealed.erased)
    }
}

/// How many trees each key of a name has given out, and the commits that wrote so.
fn given_out(snapshot: &dyn Snapshot, name: &str) -> Result<BTreeMap<KeyNumber, (u16, Vec<Seq>)>> {
    let mut all: BTreeMap<KeyNumber, (u16, Vec<Seq>)> = BTreeMap::new();
    for version in snapshot.versions(CATALOGUE, &row_key(name)) {
        let version = version?;
        if let Some(value) = version.value {
            let row = KeyRow::decode(&value, name)?;
            let (trees, seqs) = all.entry(row.number).or_default();
            *trees = row.given.max(*trees);
            seqs.push(version.seq);
        }
    }
    Ok(all)
}

/// Rows that are being erased.
struct Sealed<'s> {
    store: &'s Store,
    now: &'s dyn Snapshot,
    keys: Vec<ErasedKey>,
    erased: u64,
}

impl Sealed<'_> {
    /// All rows of a range, at every moment.
    fn all(&mut self, tree: TreeId, range: &KeyRange) -> Result<()> {
        for key in self.now.keys(tree, range) {
            self.keys.push(ErasedKey { tree, key: key?, versions: ErasedVersions::through(self.now.seq()) });
            if self.keys.len() >= ERASED_KEYS_AT_ONCE {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Versions of a row of the catalogue; if it has no others, the row.
    fn these(&mut self, key: Vec<u8>, seqs: Vec<Seq>) -> Result<()> {
        if seqs.is_empty() {
            return Ok(());
        }
        let mut others = false;
        for version in self.now.versions(CATALOGUE, &key) {
            let version = version?;
            others |= version.value.is_some() && !seqs.contains(&version.seq);
        }
        let through = ErasedVersions::through(self.now.seq());
        let versions = if others { ErasedVersions::these(seqs) } else { through };
        self.keys.push(ErasedKey { tree: CATALOGUE, key, versions });
        Ok(())
    }

    /// The rows about the collection that have its name, as of the times at which that had the keys.
    fn rows_of_the_name(&mut self, name: &str, is_theirs: impl Fn(TreeId) -> bool) -> Result<()> {
        // Newest first: from which commit on the name had which collection.
        let mut times = Vec::new();
        for version in self.now.versions(CATALOGUE, &collection_key(name)) {
            let version = version?;
            let entry = version.value.map(|value| CollectionEntry::decode(&value, name)).transpose()?;
            times.push((version.seq, entry.is_some_and(|entry| is_theirs(entry.documents))));
        }
        let theirs = |seq: Seq| times.iter().find(|(since, _)| *since <= seq).is_some_and(|(_, theirs)| *theirs);
        for key in [counts_key(name), expiry_key(name), collection_key(name)] {
            let mut seqs = Vec::new();
            for version in self.now.versions(CATALOGUE, &key) {
                let version = version?;
                if version.value.is_some() && theirs(version.seq) {
                    seqs.push(version.seq);
                }
            }
            // One after the other: that of the collection tells which of the others are meant, and goes last.
            self.these(key, seqs)?;
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let keys = std::mem::take(&mut self.keys);
        self.erased += keys.len() as u64;
        if keys.is_empty() { Ok(()) } else { self.store.erase_keys(&keys) }
    }
}
