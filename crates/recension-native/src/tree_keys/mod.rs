//! Keys of blocks of trees: the documents above give one to a collection. Values of such trees are sealed before they
//! come to the log, and opened behind every read, by [`KeyRing`] alone; nothing below knows of it. Settling, backups
//! and verification carry sealed values as they are. docs/encryption.md has the file and the values.

mod file;
mod snapshot;
mod value;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use self::file::{Entry, FILE_BYTES_MAX, Secret};
pub(super) use self::snapshot::OpenedSnapshot;
use self::value::{Bound, CHANCE_BYTES, ValueKey};
use super::format::COLLECTION_KEYS_FILE;
use super::manifest::replace_file;
use super::sealed_by::{Sealed, no_keys_in};
use crate::disk::sealed::{KEY_BYTES, NoKeys, random, read_small};
use crate::disk::{Disk, FsDisk, ReadOnlyDisk};
use recension_engine::{
    Batch, BatchOperation, Clock, EngineError, KeyNumber, OWN_SEQ_BYTES, ReadKeys, Result, TreeId, TreeKey,
    TreeKeyState, TreeKeys, counters,
};

/// Values that get chance from the system at once.
const CHANCES: usize = 64;

/// Where the file of keys is.
struct Place {
    disk: Arc<dyn Disk>,
    name: String,
}

impl Place {
    fn of(file: Option<&PathBuf>, store: &Arc<dyn Disk>, read_only: bool) -> Result<Self> {
        let Some(path) = file else { return Ok(Place { disk: store.clone(), name: COLLECTION_KEYS_FILE.to_owned() }) };
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| EngineError::BadAddress {
            address: path.display().to_string(),
            why: "the file of collections' keys needs a name".to_owned(),
        })?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let disk: Arc<dyn Disk> =
            if read_only { Arc::new(ReadOnlyDisk::new(folder)) } else { Arc::new(FsDisk::new(folder)) };
        Ok(Place { disk, name: name.to_owned() })
    }

    fn read(&self) -> Result<Option<Vec<u8>>> {
        let read = read_small(&*self.disk, &self.name, FILE_BYTES_MAX + 1);
        read.map_err(|e| EngineError::io(format!("reading {}", self.name), e))
    }

    fn write(&self, bytes: &[u8]) -> Result<()> {
        replace_file(&*self.disk, "", &format!("{}.tmp", self.name), &self.name, bytes)
    }
}

/// The keys of a store's collections.
pub(super) struct KeyRing {
    sealed: Arc<Sealed>,
    place: Place,
    read_only: bool,
    clock: Arc<dyn Clock>,
    known: ArcSwap<Vec<Known>>,
    changing: Mutex<()>,
}

/// A key of the ring, by number.
#[derive(Clone)]
struct Known {
    entry: Entry,
    /// It, if it is here.
    key: Option<Arc<ValueKey>>,
}

impl Known {
    fn new(entry: Entry) -> Self {
        let key = match &entry.secret {
            Secret::Here(bytes) => ValueKey::new(bytes).map(Arc::new),
            Secret::Elsewhere | Secret::Destroyed(_) => None,
        };
        Known { entry, key }
    }
}

fn refused(whose: String, why: &str) -> EngineError {
    EngineError::Key { store: whose, why: why.to_owned() }
}

impl KeyRing {
    /// The keys of a store: from `file`, or from the usual place in the store's folder. If there is no such file, no
    /// key is there.
    pub(super) fn open(
        sealed: Arc<Sealed>,
        file: Option<&PathBuf>,
        read_only: bool,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        let place = Place::of(file, sealed.below(), read_only)?;
        let entries = match place.read()? {
            Some(bytes) => {
                let entries = file::decode(&bytes, sealed.keys().wrapping().as_ref());
                entries.map_err(|why| no_keys_in(&place.name, &*place.disk, why))?
            }
            None => Vec::new(),
        };
        let known = ArcSwap::from_pointee(entries.into_iter().map(Known::new).collect());
        Ok(KeyRing { sealed, place, read_only, clock, known, changing: Mutex::default() })
    }

    /// The key with a number, or why it is not here.
    fn key(&self, number: KeyNumber) -> Result<Arc<ValueKey>> {
        let known = self.known.load();
        let Ok(at) = known.binary_search_by_key(&number, |known| known.entry.number) else {
            let whose = format!("the collection with key {}", number.get());
            let why = "there is no file of collections' keys beside this store, or it is too old to have this key; \
                       give the newest with --collection-keys FILE";
            return Err(refused(whose, why));
        };
        let Known { entry, key } = &known[at];
        let whose = || format!("the collection {}", entry.name);
        match (key, entry.secret) {
            (Some(key), _) => Ok(key.clone()),
            (None, Secret::Destroyed(at)) => {
                let why = format!("its key was destroyed at {at}; nobody can read what it sealed any more");
                Err(refused(whose(), &why))
            }
            (None, _) => {
                let why = "its key is in another file; give that with --collection-keys FILE";
                Err(refused(whose(), why))
            }
        }
    }

    /// A stored value, as it was written.
    pub(super) fn value<'v>(&self, tree: TreeId, key: &[u8], stored: Cow<'v, [u8]>) -> Result<Cow<'v, [u8]>> {
        match KeyNumber::of(tree).filter(|_| value::is_sealed(&stored)) {
            None => Ok(stored),
            Some(number) => self.key(number)?.open(tree, key, stored).ok_or_else(|| {
                let what = format!(
                    "key {} does not open the value of {} in tree {}",
                    number.get(),
                    key.escape_ascii(),
                    tree.0
                );
                EngineError::damaged("a sealed value", 0, what)
            }),
        }
    }

    /// The batch with its values sealed.
    pub(super) fn sealed(&self, batch: Batch) -> Result<Batch> {
        if batch.rows().all(|row| KeyNumber::of(row.tree).is_none()) {
            return Ok(batch);
        }
        let mut chances = Chances::default();
        let mut seal = |row: Bound<'_>, value: &[u8]| match KeyNumber::of(row.tree) {
            None => Ok(value.to_vec()),
            Some(number) => {
                let sealed = self.key(number)?.seal(row, value, chances.next()?);
                sealed.ok_or_else(|| refused(format!("key {}", number.get()), "a value could not be sealed"))
            }
        };
        let mut out = Batch::with_capacity(batch.rows().len(), batch.reads().len(), batch.size_bytes() * 5 / 4);
        for operation in batch.operations() {
            match operation {
                BatchOperation::Write(row) => {
                    let bound = Bound { tree: row.tree, key: row.key, own_seq: None };
                    match row.value {
                        Some(value) => out.put(row.tree, row.key, &seal(bound, value)?),
                        None => out.delete(row.tree, row.key),
                    };
                }
                BatchOperation::PutAtOwnSeq { tree, prefix, suffix, value } => {
                    let own_seq = u16::try_from(prefix.len()).ok();
                    let key = [prefix, &[0; OWN_SEQ_BYTES], suffix].concat();
                    // A longer prefix is refused with the batch.
                    let sealed = seal(Bound { tree, key: &key, own_seq }, value)?;
                    out.put_at_own_seq(tree, prefix, suffix, &sealed);
                }
                BatchOperation::Add { tree, key, amounts } => {
                    out.add(tree, key, &counters(amounts).unwrap_or_default());
                }
            }
        }
        for read in batch.reads() {
            match read.keys {
                ReadKeys::One(key) => out.depends_on(read.tree, key, read.at),
                ReadKeys::Range(range) => out.depends_on_range(read.tree, range.clone(), read.at),
            };
        }
        if let Some(durability) = batch.asked_durability() {
            out.durability(durability);
        }
        Ok(out)
    }

    /// Refuses a move to a place that knows no keys of collections.
    pub(super) fn check_movable(&self) -> Result<()> {
        let known = self.known.load();
        match known.iter().find(|known| !matches!(known.entry.secret, Secret::Destroyed(_))) {
            None => Ok(()),
            Some(known) => Err(refused(
                format!("the collection {}", known.entry.name),
                "it has a key, and there are none where the store is to move; copy it with `recension export`",
            )),
        }
    }

    /// Writes the list of keys, without any of them, into a backup.
    pub(super) fn write_list(&self, to: &Arc<dyn Disk>) -> Result<()> {
        let Some(wrapping) = self.sealed.keys().wrapping() else { return Ok(()) };
        let mut entries: Vec<Entry> = self.known.load().iter().map(|known| known.entry.clone()).collect();
        for entry in entries.iter_mut().filter(|entry| matches!(entry.secret, Secret::Here(_))) {
            entry.secret = Secret::Elsewhere;
        }
        Place::of(None, to, false)?.write(&encoded(&entries, &wrapping)?)
    }

    /// Replaces the keys: in the file first.
    fn replace(&self, entries: Vec<Entry>) -> Result<()> {
        let wrapping = self.sealed.make_wrapping(None)?;
        self.place.write(&encoded(&entries, &wrapping)?)?;
        self.known.store(Arc::new(entries.into_iter().map(Known::new).collect()));
        Ok(())
    }

    /// The entries, for a change; nobody else changes them meanwhile.
    fn entries(&self) -> Result<Vec<Entry>> {
        if self.read_only {
            return Err(EngineError::ReadOnly);
        }
        Ok(self.known.load().iter().map(|known| known.entry.clone()).collect())
    }
}

/// Writes the file of keys of a store on `from` into a copy of it on `to`, if it is there and whole.
///
/// # Errors
/// [`Unread`].
pub(super) fn copy_file(
    from: &dyn Disk,
    to: &Arc<dyn Disk>,
    wrapping: &[u8; KEY_BYTES],
) -> std::result::Result<(), Unread> {
    let read = read_small(from, COLLECTION_KEYS_FILE, FILE_BYTES_MAX + 1).map_err(NoKeys::Io).and_then(|bytes| {
        let whole = |bytes: &Vec<u8>| file::decode(bytes, Some(wrapping)).map(drop);
        bytes.as_ref().map_or(Ok(()), whole).map(|()| bytes)
    });
    match read {
        Ok(None) => Ok(()),
        Ok(Some(bytes)) => Place::of(None, to, false).and_then(|to| to.write(&bytes)).map_err(Unread::Target),
        Err(why) => Err(Unread::Source(no_keys_in(COLLECTION_KEYS_FILE, from, why))),
    }
}

/// Why a salvaged store did not get the file of keys.
pub(super) enum Unread {
    /// That is damaged, and the rest can be salvaged all the same.
    Source(EngineError),
    /// The new store cannot be written.
    Target(EngineError),
}

fn encoded(entries: &[Entry], wrapping: &[u8; KEY_BYTES]) -> Result<Vec<u8>> {
    file::encode(entries, wrapping).map_err(|e| EngineError::io("sealing the keys of collections", e))
}

impl TreeKeys for KeyRing {
    fn list(&self) -> Vec<TreeKey> {
        let known = self.known.load();
        let listed = known.iter().map(|Known { entry, .. }| TreeKey {
            number: entry.number,
            name: entry.name.clone(),
            made: entry.made,
            state: match entry.secret {
                Secret::Here(_) => TreeKeyState::Here,
                Secret::Elsewhere => TreeKeyState::Elsewhere,
                Secret::Destroyed(at) => TreeKeyState::Destroyed(at),
            },
        });
        listed.collect()
    }

    fn create(&self, name: &str, least: KeyNumber) -> Result<KeyNumber> {
        let _changing = self.changing.lock();
        let mut entries = self.entries()?;
        if entries.iter().any(|entry| entry.secret == Secret::Elsewhere) {
            let why = "its keys are in another file; give that with --collection-keys FILE before a key is added";
            return Err(refused(self.place.disk.location(), why));
        }
        let here = |entry: &&Entry| entry.name == name && matches!(entry.secret, Secret::Here(_));
        if let Some(entry) = entries.iter().find(here) {
            return Ok(entry.number);
        }
        let too_many = || {
            let max = usize::from(KeyNumber::MAX.get());
            EngineError::TooLarge { what: "keys of collections, destroyed ones too", len: max + 1, max }
        };
        let next = entries.last().map_or(Some(KeyNumber::FIRST), |last| last.number.next()).ok_or_else(too_many)?;
        let number = next.max(least);
        let secret = random().map_err(|e| EngineError::io("asking for random bytes", e))?;
        let name = name.to_owned();
        entries.push(Entry { number, name, made: self.clock.now(), secret: Secret::Here(secret) });
        self.replace(entries)?;
        Ok(number)
    }

    fn destroy(&self, number: KeyNumber) -> Result<()> {
        let _changing = self.changing.lock();
        let mut entries = self.entries()?;
        let whole = |entry: &&mut Entry| entry.number == number && !matches!(entry.secret, Secret::Destroyed(_));
        match entries.iter_mut().find(whole) {
            Some(entry) => entry.secret = Secret::Destroyed(self.clock.now()),
            None => return Ok(()),
        }
        self.replace(entries)
    }
}

/// Chance for nonces, fetched for many values at once.
#[derive(Default)]
struct Chances(Vec<[u8; CHANCE_BYTES]>);

impl Chances {
    fn next(&mut self) -> Result<[u8; CHANCE_BYTES]> {
        if self.0.is_empty() {
            let fetched: io::Result<[u8; CHANCES * CHANCE_BYTES]> = random();
            let fetched = fetched.map_err(|e| EngineError::io("asking for random bytes", e))?;
            self.0.extend_from_slice(fetched.as_chunks().0);
        }
        Ok(self.0.pop().unwrap_or_default())
    }
}
