//! Which key a store is opened with: makes `KEYS` in a new store, opens it in one that is there, and refuses what does
//! not fit before anything is changed. Also what an owner does with keys: look, add one, change the one that opens
//! them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::format::{
    INDEX_DIR, KEYS_FILE, MANIFEST_FILE, MARK_FILE, MOVED_FILE, SETTLED_DIR, SETTLED_MANIFEST_FILE, STORE_FILE,
};
use super::manifest::replace_file;
use super::open::{check_directory, lock};
use super::sealed_by::{Sealed, no_keys_in, write_keys as write};
use crate::cipher;
use crate::disk::Disk;
use crate::disk::Key;
use crate::disk::sealed::{KEY_BYTES, NoKeys, SealedDisk, StoreKeys, bytes_per_key, id_of, is_sealed, read_keys};
use recension_engine::{EngineError, Result};

/// A disk whose files the engine can read.
pub(super) struct Unlocked {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) sealed: Option<Arc<Sealed>>,
}

fn refused(disk: &dyn Disk, why: &str) -> EngineError {
    EngineError::Key { store: disk.location(), why: why.to_owned() }
}

fn no_keys(disk: &dyn Disk, why: NoKeys) -> EngineError {
    no_keys_in(KEYS_FILE, disk, why)
}

/// The store is encrypted, and its keys are not there.
pub(super) fn missing_keys() -> EngineError {
    EngineError::damaged(KEYS_FILE, 0, "the file is missing, and the store is encrypted; restore KEYS from a backup")
}

fn read(disk: &dyn Disk) -> Result<Option<Vec<u8>>> {
    let found = match read_keys(disk) {
        // The place is a file, which is refused as no store.
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => None,
        found => found.map_err(|e| EngineError::io(format!("reading {KEYS_FILE}"), e))?,
    };
    if found.is_some() {
        cipher::built_in()?;
    }
    Ok(found)
}

fn seal(disk: &Arc<dyn Disk>, keys: &Arc<StoreKeys>, lenient: bool) -> Result<Arc<dyn Disk>> {
    let sealed = SealedDisk::new(disk.clone(), keys.clone(), lenient);
    Ok(Arc::new(sealed.map_err(|e| EngineError::io("asking for random bytes", e))?))
}

fn unlocked(disk: &Arc<dyn Disk>, keys: StoreKeys, master: &Key) -> Result<Unlocked> {
    let keys = Arc::new(keys);
    let opened = seal(disk, &keys, false)?;
    let sealed = Sealed::new(disk.clone(), keys, master.clone());
    Ok(Unlocked { disk: opened, sealed: Some(Arc::new(sealed)) })
}

/// The store on `disk` with its key, or without one. A new store gets keys of its own if there is a key.
pub(super) fn unlock(disk: Arc<dyn Disk>, key: Option<&Key>, may_create: bool) -> Result<Unlocked> {
    match (read(&*disk)?, key) {
        (None, None) => Ok(Unlocked { disk, sealed: None }),
        (Some(_), None) => Err(refused(
            &*disk,
            "the store is encrypted; give its key with --key-file, RECENSION_KEY, --key-command or --passphrase-file",
        )),
        (Some(bytes), Some(key)) => {
            let keys = StoreKeys::decode(&bytes, key).map_err(|why| no_keys(&*disk, why))?;
            unlocked(&disk, keys, key)
        }
        (None, Some(key)) => {
            cipher::built_in()?;
            check_directory(&*disk, may_create)?;
            refuse_open_store(&*disk)?;
            // Two processes must not make two files of keys.
            let _lock = lock(&*disk)?;
            if read(&*disk)?.is_none() {
                refuse_open_store(&*disk)?;
                let keys = StoreKeys::new().map_err(|e| EngineError::io("asking for random bytes", e))?;
                write(&*disk, &keys, key)?;
            }
            let bytes = read(&*disk)?.ok_or_else(missing_keys)?;
            let keys = StoreKeys::decode(&bytes, key).map_err(|why| no_keys(&*disk, why))?;
            unlocked(&disk, keys, key)
        }
    }
}

/// Refuses a store without `KEYS`: one that is not encrypted, or one whose keys are lost.
fn refuse_open_store(disk: &dyn Disk) -> Result<()> {
    let io = |e| EngineError::io(format!("reading {STORE_FILE}"), e);
    let file = match disk.open(STORE_FILE) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io(error)),
    };
    let mut first = vec![0; file.len().map_err(io)?.min(4) as usize];
    file.read_at(0, &mut first).map_err(io)?;
    if is_sealed(&first) {
        return Err(missing_keys());
    }
    let why = "the store is not encrypted: open it without a key; `recension restore-backup` copies it into an \
               encrypted one";
    Err(refused(disk, why))
}

/// A damaged store.
pub(super) struct ToSalvage {
    pub(super) disk: Arc<dyn Disk>,
    /// The key of the file of collections' keys, if there is one.
    pub(super) wrapping: Option<[u8; KEY_BYTES]>,
}

/// The same for a store that is damaged: what does not open is zeros. Nothing is written.
pub(super) fn unlock_to_salvage(disk: &Arc<dyn Disk>, key: Option<&Key>) -> Result<ToSalvage> {
    let (Some(bytes), Some(key)) = (read(&**disk)?, key) else {
        return Ok(ToSalvage { disk: unlock(disk.clone(), key, false)?.disk, wrapping: None });
    };
    let keys = StoreKeys::decode(&bytes, key).map_err(|why| no_keys(&**disk, why))?;
    let wrapping = keys.wrapping();
    Ok(ToSalvage { disk: seal(disk, &Arc::new(keys), true)?, wrapping })
}

/// The place of a backup.
pub(super) struct Target {
    /// Its files as the engine writes them: sealed as those of the store are.
    pub(super) disk: Arc<dyn Disk>,
    /// To be written when it is said that a backup is begun: the place, the keys, and what opens them.
    keys: Option<(Arc<dyn Disk>, Arc<StoreKeys>, Key)>,
}

impl Target {
    /// Writes the keys, if they are not there.
    pub(super) fn write_keys(&self) -> Result<()> {
        self.keys.as_ref().map_or(Ok(()), |(to, keys, master)| write(&**to, keys, master))
    }
}

/// The place of a backup of a store. What an earlier backup there was sealed with is kept beside the store's keys.
pub(super) fn backup_target(store: Option<&Sealed>, to: &Arc<dyn Disk>) -> Result<Target> {
    let not_ours = |found: &str| Err(EngineError::NotAStore { path: to.location(), found: found.to_owned() });
    let found = read(&**to)?;
    let Some(store) = store else {
        let another = "an encrypted backup of another store";
        return if found.is_some() { not_ours(another) } else { Ok(Target { disk: to.clone(), keys: None }) };
    };
    let (keys, master) = (store.keys(), store.master());
    let mut all = (*keys).clone();
    let mut is_there = false;
    if let Some(bytes) = found {
        if id_of(&bytes).map_err(|why| no_keys(&**to, why))? != keys.id() {
            return not_ours("a backup of another store");
        }
        let known = StoreKeys::decode(&bytes, master).map_err(|why| match why {
            NoKeys::Wrong(_) => refused(
                &**to,
                "the backup was made when the store had another key; make a new one in another place, or give the \
                 backup this key with `recension key rotate-master`",
            ),
            why => no_keys(&**to, why),
        })?;
        all.add_known(&known);
        is_there = all == known;
    } else if let Err(EngineError::Key { .. }) = refuse_open_store(&**to) {
        return not_ours("a store that is not encrypted");
    }
    let all = Arc::new(all);
    let to_write = (!is_there).then(|| (to.clone(), all.clone(), master.clone()));
    Ok(Target { disk: seal(to, &all, false)?, keys: to_write })
}

/// What there is to know of a store's keys without opening them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyStatus {
    /// Ids of the store's keys, oldest first; the last one seals what is written.
    pub keys: Vec<u32>,
    /// Bytes of files by the id of a key that is named in them. A file that names two counts for both.
    pub bytes: BTreeMap<u32, u64>,
}

/// The keys of the store on `disk`, and how much each of them has sealed. Nothing is changed.
///
/// # Errors
/// [`EngineError::Key`] if the store is not encrypted, or with another key; [`EngineError::Damaged`] if `KEYS` is.
pub fn key_status(disk: &Arc<dyn Disk>, key: &Key) -> Result<KeyStatus> {
    let keys = existing(disk, key)?;
    let bytes = bytes_per_key(&**disk).map_err(|e| EngineError::io("reading which keys files have", e))?;
    Ok(KeyStatus { keys: keys.ids(), bytes })
}

/// Changes the key that opens a store: `KEYS` is written anew, and no other file. Nobody may have the store open.
///
/// # Errors
/// As [`key_status`], and [`EngineError::Locked`].
pub fn change_key(disk: &Arc<dyn Disk>, old: &Key, new: &Key) -> Result<()> {
    existing(disk, old)?;
    let _lock = lock(&**disk)?;
    write(&**disk, &existing(disk, old)?, new)
}

/// Gives a store one more key, which seals what is written from then on, and takes out those that no file names any
/// more. Small files are sealed anew at once. What the others have sealed is sealed anew as settling replaces files.
/// Nobody may have the store open.
///
/// # Errors
/// As [`key_status`], and [`EngineError::Locked`].
pub fn add_key(disk: &Arc<dyn Disk>, key: &Key) -> Result<KeyStatus> {
    existing(disk, key)?;
    let _lock = lock(&**disk)?;
    let (mut keys, found) = (existing(disk, key)?, key_status(disk, key)?);
    keys.retain(|id| found.bytes.contains_key(&id));
    keys.add().map_err(|e| EngineError::io("adding a key", e))?;
    write(&**disk, &keys, key)?;
    let sealed = seal(disk, &Arc::new(keys.clone()), false)?;
    SMALL.iter().try_for_each(|(folder, name)| write_anew(&*sealed, folder, name))?;
    Ok(KeyStatus { keys: keys.ids(), ..found })
}

/// Files that are written when something changes, and folders of theirs: they are sealed anew at once.
const SMALL: [(&str, &str); 5] = [
    ("", STORE_FILE),
    ("", MARK_FILE),
    ("", MOVED_FILE),
    (SETTLED_DIR, SETTLED_MANIFEST_FILE),
    (INDEX_DIR, MANIFEST_FILE),
];

/// Writes a file as it is, if there is one.
fn write_anew(disk: &dyn Disk, folder: &str, name: &str) -> Result<()> {
    let io = |e| EngineError::io(format!("reading {name}"), e);
    let file = match disk.open(name) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io(error)),
    };
    let mut bytes = vec![0; file.len().map_err(io)? as usize];
    file.read_at(0, &mut bytes).map_err(io)?;
    replace_file(disk, folder, &format!("{name}.tmp"), name, &bytes)
}

fn existing(disk: &Arc<dyn Disk>, key: &Key) -> Result<StoreKeys> {
    match read(&**disk)? {
        Some(bytes) => StoreKeys::decode(&bytes, key).map_err(|why| no_keys(&**disk, why)),
        None => {
            check_directory(&**disk, false)?;
            refuse_open_store(&**disk)?;
            Err(missing_keys())
        }
    }
}
