//! Where a collection is read and written: the store as it is now, as it was, or a transaction.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};
use recension::engine::{Address, EngineError, Seq};
use recension::json::{JsonPatch, merge_patch};
use recension::{At, Collection, CollectionAt, Expect, OpenOptions, RevId, Store, Transaction, Write, open_read_only};

use crate::fork::{Own, process};
use crate::{Refused, Result};

/// The store until it is closed. What is iterated over keeps it open until that has ended.
pub struct Handle {
    store: Own<RwLock<Option<Arc<Opened>>>>,
}

/// A store that is open, or a branch of it.
struct Opened {
    store: Store,
    shared: bool,
    /// Of a branch: the store, which others that open it have too.
    _of: Option<Arc<Opened>>,
}

/// Most bytes of an attachment that is read into memory.
const ATTACHMENT_BYTES_MAX: u64 = 1 << 30;

/// The stores in folders that this process has open: whoever opens one again has the same.
static OPEN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

struct Known {
    folder: PathBuf,
    store: Weak<Opened>,
    process: u32,
}

/// The store of a folder, which this process may have open already.
fn of_folder(folder: &str, share: bool) -> Result<Arc<Opened>> {
    let mut open = OPEN.lock();
    open.retain(|known| known.store.strong_count() > 0 && known.process == process());
    // A folder that is not there cannot be open.
    let found = std::fs::canonicalize(folder).ok();
    let known = open.iter().find(|known| Some(&known.folder) == found.as_ref()).and_then(|known| known.store.upgrade());
    if let Some(known) = known {
        let why = "this process has the store open, and does not share it: share it where it is opened first";
        return if share && !known.shared { Err(Refused::Invalid(why)) } else { Ok(known) };
    }
    let store = OpenOptions::new().share(share).open(folder)?;
    let opened = Arc::new(Opened { store, shared: share, _of: None });
    if let Ok(folder) = std::fs::canonicalize(folder) {
        open.push(Known { folder, store: Arc::downgrade(&opened), process: process() });
    }
    Ok(opened)
}

impl Handle {
    /// Of no store yet.
    pub fn closed() -> Self {
        Handle { store: Own::new(RwLock::new(None)) }
    }

    /// Opens a store. One that this process has open already, for writing and in a folder, is the same one.
    pub fn open(&self, address: &str, share: bool, read_only: bool) -> Result<()> {
        let is_path = std::path::Path::new(address).exists();
        let (place, branch) = match Address::branch(address).filter(|_| !is_path && !read_only) {
            Some((place, branch)) => (place, Some(branch)),
            None => (address, None),
        };
        let alone = |store| Arc::new(Opened { store, shared: share, _of: None });
        let opened = match Address::parse(place) {
            _ if read_only => alone(open_read_only(address)?),
            // No store is made for a branch that it cannot have.
            Ok(Address::Path(path)) if branch.is_some_and(|name| name != "main") && !path.exists() => {
                let name = branch.unwrap_or_default().to_owned();
                return Err(recension::Error::from(EngineError::NoSuchBranch { name, known: Vec::new() }).into());
            }
            Ok(Address::Path(_)) => of_folder(place, share)?,
            _ => alone(OpenOptions::new().share(share).open(place)?),
        };
        let opened = match branch {
            Some(name) => Arc::new(Opened { store: opened.store.open_branch(name)?, shared: share, _of: Some(opened) }),
            None => opened,
        };
        *self.store.get()?.write() = Some(opened);
        Ok(())
    }

    /// The store.
    pub fn store(&self) -> Result<Store> {
        Ok(self.opened()?.store.clone())
    }

    fn opened(&self) -> Result<Arc<Opened>> {
        self.store.get()?.read().clone().ok_or(Refused::Closed("the database was closed: open it again"))
    }

    /// Opens a branch of another one that is open; makes it, as of a moment, if one is given.
    pub fn open_branch(&self, of: &Handle, name: &str, made_at: Option<At>) -> Result<()> {
        let of = of.opened()?;
        let store = match made_at {
            Some(at) => of.store.branch(name, at)?,
            None => of.store.open_branch(name)?,
        };
        *self.store.get()?.write() = Some(Arc::new(Opened { store, shared: of.shared, _of: Some(of) }));
        Ok(())
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.store.get().map_or(true, |store| store.read().is_none())
    }

    /// Closes it.
    pub fn close(&self) {
        let store = self.store.get().ok().and_then(|store| store.write().take());
        drop(store);
    }
}

/// A transaction until it has ended.
pub struct Within {
    transaction: Own<Mutex<Option<Transaction>>>,
}

const ENDED: Refused = Refused::Closed("the transaction has ended: begin another");

impl Within {
    /// None yet.
    pub fn ended() -> Self {
        Within { transaction: Own::new(Mutex::new(None)) }
    }

    /// Begins one.
    pub fn begin(&self, handle: &Handle) -> Result<()> {
        let begun = handle.store()?.begin()?;
        *self.transaction.get()?.lock() = Some(begun);
        Ok(())
    }

    /// Does something in it.
    pub fn with<T>(&self, does: impl FnOnce(&Transaction) -> recension::Result<T>) -> Result<T> {
        match &*self.transaction.get()?.lock() {
            Some(transaction) => Ok(does(transaction)?),
            None => Err(ENDED),
        }
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.transaction.get().map_or(true, |transaction| transaction.lock().is_none())
    }

    /// Commits it.
    pub fn commit(&self) -> Result<Seq> {
        let transaction = self.transaction.get()?.lock().take().ok_or(ENDED)?;
        Ok(transaction.commit()?.seq)
    }

    /// Gives it up.
    pub fn roll_back(&self) {
        let transaction = self.transaction.get().ok().and_then(|transaction| transaction.lock().take());
        drop(transaction);
    }
}

/// How documents are changed.
pub enum Patch {
    /// A merge patch (RFC 7396): members that replace others, and nulls that remove them.
    Merge(String),
    /// A JSON Patch (RFC 6902): a list of steps.
    Steps(JsonPatch),
}

impl Patch {
    /// Reads either: a list is a JSON Patch, an object a merge patch.
    pub fn read(text: String) -> Result<Self> {
        let steps = text.trim_start().starts_with('[');
        Ok(if steps { Patch::Steps(JsonPatch::from_json(&text)?) } else { Patch::Merge(text) })
    }

    /// The changed text; `None` if nothing is different.
    pub fn apply(&self, body: &str) -> recension::Result<Option<String>> {
        let new = match self {
            Patch::Merge(patch) => merge_patch(body, patch)?,
            Patch::Steps(steps) => steps.apply(body)?,
        };
        Ok((new != body).then_some(new))
    }
}

/// Where collections are.
#[derive(Clone)]
pub enum Place {
    /// In the store as it is.
    Store(Arc<Handle>),
    /// In the store right after a commit.
    Past(Arc<Handle>, Seq),
    /// In a transaction.
    Transaction(Arc<Within>),
}

impl Place {
    /// Reads a collection as of a moment.
    pub fn read<T>(&self, name: &str, at: At, does: impl FnOnce(CollectionAt) -> recension::Result<T>) -> Result<T> {
        match (self, at) {
            (Place::Transaction(within), At::Now) => {
                within.with(|transaction| does(transaction.collection(name)?.reader()?))
            }
            (Place::Transaction(_), _) => Err(Refused::Wrong("at: a transaction reads one moment")),
            (Place::Past(handle, seq), At::Now) => Ok(does(handle.store()?.collection_as_of(name, At::Seq(*seq))?)?),
            (Place::Store(handle) | Place::Past(handle, _), at) => Ok(does(handle.store()?.collection(name)?.at(at)?)?),
        }
    }

    /// A document of the newest commit that is seen there.
    pub fn get(&self, name: &str, id: &str) -> Result<Option<recension::Document<'static>>> {
        match self {
            Place::Store(handle) => Ok(handle.store()?.collection(name)?.get(id)?),
            _ => self.read(name, At::Now, |collection| Ok(collection.get(id)?.map(recension::Document::into_owned))),
        }
    }

    /// Writes; returns the document's id and its revision.
    pub fn write(&self, name: &str, write: Write) -> Result<(String, RevId)> {
        match self {
            Place::Store(handle) => {
                let written = handle.store()?.collection(name)?.write(write)?;
                Ok((written.id, written.rev))
            }
            Place::Transaction(within) => within.with(|transaction| {
                let staged = transaction.collection(name)?.write(write)?;
                Ok((staged.id, staged.rev))
            }),
            Place::Past(..) => Err(Refused::Past),
        }
    }

    /// Applies a merge patch to a document, or a JSON Patch; returns its new revision.
    pub fn patch(&self, name: &str, id: &str, expect: Expect, patch: &Patch) -> Result<RevId> {
        match (self, patch) {
            (Place::Store(handle), patch) => {
                let collection = handle.store()?.collection(name)?;
                let written = match patch {
                    Patch::Merge(text) => collection.merge_patch(id, expect, text)?,
                    Patch::Steps(steps) => collection.patch(id, expect, steps)?,
                };
                Ok(written.rev)
            }
            (Place::Transaction(within), patch) => within.with(|transaction| {
                let collection = transaction.collection(name)?;
                let staged = match patch {
                    Patch::Merge(text) => collection.merge_patch(id, expect, text)?,
                    Patch::Steps(steps) => collection.patch(id, expect, steps)?,
                };
                Ok(staged.rev)
            }),
            (Place::Past(..), _) => Err(Refused::Past),
        }
    }

    /// The bytes of an attachment; of an older revision, if one is named.
    pub fn attachment(&self, name: &str, id: &str, attachment: &str, rev: Option<&RevId>) -> Result<Option<Vec<u8>>> {
        let found = self.read(name, At::Now, |collection| match rev {
            Some(rev) => collection.attachment_of(id, rev, attachment),
            None => collection.attachment(id, attachment),
        })?;
        let Some(found) = found else { return Ok(None) };
        if found.info().length() > ATTACHMENT_BYTES_MAX {
            return Err(Refused::Invalid("the attachment has more than 1 GiB, and is not read into memory"));
        }
        let mut bytes = Vec::new();
        let read = found.take(ATTACHMENT_BYTES_MAX).read_to_end(&mut bytes);
        read.map_err(|error| EngineError::io("reading an attachment", error))?;
        Ok(Some(bytes))
    }

    /// The collection itself, for what is done outside of transactions.
    pub fn itself(&self, name: &str) -> Result<Collection> {
        match self {
            Place::Store(handle) => Ok(handle.store()?.collection(name)?),
            _ => Err(Refused::Wrong("this is done on the collection of the database itself")),
        }
    }
}
