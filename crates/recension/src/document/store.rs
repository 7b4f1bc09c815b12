//! A store of documents: the engine, and what is known of its catalogue. Nothing here depends on how
//! many collections there are; each is looked up by name when it is used.

use std::collections::HashMap;
use std::sync::Arc;
#[cfg(feature = "async")]
use std::sync::OnceLock;

use parking_lot::{Mutex, RwLock};

#[cfg(feature = "async")]
use super::asynchronous::Committer;
use super::catalogue::{CATALOGUE, COLLECTIONS_PREFIX, CollectionEntry, STORE_KEY, collection_key, decode_store};
use super::catalogue::{build_key, counts_key, dropped_key, encode_store};
use super::limits::{CACHED_COLLECTIONS_MAX, SWEEP_PAUSE_MICROS, WRITE_ATTEMPTS_MAX};
use super::recent_commits::RecentCommits;
use super::retention::{counts_rule, retention_of};
use super::view::{Key, View};
use super::write::check_name;
use super::{At, Collection, CollectionInfo, Error, IndexInfo, Result};
use crate::disk::FsDisk;
use crate::engine::{
    Batch, Clock, CommitInfo, Direction, Engine, EngineError, KeyRange, MemoryEngine, NativeEngine, NativeOptions,
    Retention, Seq, Snapshot, SystemClock, Timestamp, TreeId,
};

/// Opens a store: a directory, which is made where there is none, or `memory:`.
///
/// Other engines come with their own crates and [`Store::on`].
///
/// ```
/// # fn main() -> recension::document::Result<()> {
/// let store = recension::open("memory:")?;
/// let menu = store.collection("menu")?;
/// menu.put("pizza", r#"{"topping":"pineapple"}"#)?;
/// assert_eq!(menu.get("pizza")?.unwrap().body, r#"{"topping":"pineapple"}"#);
/// # Ok(()) }
/// ```
pub fn open(address: &str) -> Result<Store> {
    let bad = |why: &str| EngineError::BadAddress { address: address.to_owned(), why: why.to_owned() };
    if address == "memory:" {
        return Store::memory();
    }
    if address.is_empty() {
        return Err(bad("it is empty; name a directory, or memory:").into());
    }
    let scheme = address.split(':').next().unwrap_or_default();
    // One letter is a drive of Windows.
    if scheme.len() > 1 && scheme.len() < address.len() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(bad("no engine of this crate has that name; a path with a colon is written ./like:this").into());
    }
    Store::on(Arc::new(NativeEngine::open(Arc::new(FsDisk::new(address)), NativeOptions::default())?))
}

/// A store of documents on an engine. Clones are cheap and are the same store; use it from any thread.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    /// Commits for tasks, from their first write on. It ends before the engine.
    #[cfg(feature = "async")]
    committer: OnceLock<Option<Committer>>,
    engine: Arc<dyn Engine>,
    clock: Arc<dyn Clock>,
    slots: Mutex<HashMap<String, Arc<Slot>>>,
    recent: RecentCommits,
}

impl Store {
    /// The documents of an engine.
    ///
    /// # Errors
    /// [`Error::NewerLayout`] where a newer version wrote them.
    pub fn on(engine: Arc<dyn Engine>) -> Result<Self> {
        Self::with_clock(engine, Arc::new(SystemClock))
    }

    /// The documents of an engine, with the clock that ages ([`At::Ago`]) and new ids go by.
    pub fn with_clock(engine: Arc<dyn Engine>, clock: Arc<dyn Clock>) -> Result<Self> {
        decode_store(engine.snapshot()?.get(CATALOGUE, STORE_KEY)?.as_deref())?;
        let shared = Shared {
            #[cfg(feature = "async")]
            committer: OnceLock::new(),
            engine,
            clock,
            slots: Mutex::default(),
            recent: RecentCommits::default(),
        };
        Ok(Store { shared: Arc::new(shared) })
    }

    /// A new store in memory.
    pub fn memory() -> Result<Self> {
        Self::on(Arc::new(MemoryEngine::new()))
    }

    /// The engine below.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.shared.engine
    }

    /// What commits for tasks; `None` where the system gives no thread for it.
    #[cfg(feature = "async")]
    pub(super) fn committer(&self) -> Option<&Committer> {
        self.shared.committer.get_or_init(|| Committer::start(self.shared.engine.clone())).as_ref()
    }

    pub(super) fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// A collection. It comes into being with its first document or index.
    ///
    /// # Errors
    /// [`Error::BadName`].
    pub fn collection(&self, name: &str) -> Result<Collection> {
        check_name("collection", name)?;
        Ok(Collection::new(self.clone(), self.slot(name)))
    }

    /// The collections that there were at a moment, in the order of their names.
    pub fn collections(&self, at: At) -> Result<Vec<CollectionInfo>> {
        let snapshot = self.snapshot(at)?;
        let rules = self.engine().retention()?;
        let mut collections = Vec::new();
        for row in snapshot.range(CATALOGUE, &KeyRange::prefix(COLLECTIONS_PREFIX), Direction::Forward) {
            let row = row?;
            let name = String::from_utf8_lossy(&row.key[COLLECTIONS_PREFIX.len()..]).into_owned();
            let entry = CollectionEntry::decode(&row.value, &name)?;
            let retention = retention_of(&entry, &rules);
            collections.push(CollectionInfo { name, indexes: index_infos(&entry), retention });
        }
        Ok(collections)
    }

    /// Drops a collection and its indexes; answers whether there was one. Reads at moments before
    /// still find it.
    pub fn drop_collection(&self, name: &str) -> Result<bool> {
        check_name("collection", name)?;
        let key = collection_key(name);
        let slot = self.slot(name);
        let dropped = retry(|| {
            let view = View::new(self.snapshot(At::Now)?);
            let Some(entry) = slot.entry_in(&view)? else { return Ok(Attempt::Done(false)) };
            view.delete(CATALOGUE, &key);
            view.delete(CATALOGUE, &counts_key(name));
            for tree in entry.trees() {
                view.put(CATALOGUE, &dropped_key(tree), name.as_bytes().to_vec());
                view.delete(CATALOGUE, &build_key(tree));
            }
            Ok(self.try_commit_view(&view, &[])?.map(|_| true))
        })?;
        let counts = counts_rule(name, Retention::Everything);
        if self.engine().retention()?.iter().any(|rule| rule.tree == counts.tree && rule.range == counts.range) {
            self.engine().set_retention(&[counts])?;
        }
        Ok(dropped)
    }

    /// The commit that a moment names.
    pub fn resolve(&self, at: At) -> Result<Seq> {
        let as_of = |time| Ok(self.shared.engine.commit_at(time)?.map_or(Seq::ZERO, |commit| commit.seq));
        match at {
            At::Now => Ok(self.shared.engine.head()),
            At::Seq(seq) => Ok(seq),
            At::Time(time) => as_of(time),
            At::Ago(age) => {
                let micros = u64::try_from(age.as_micros()).unwrap_or(u64::MAX);
                as_of(Timestamp(self.now().0.saturating_sub(micros)))
            }
        }
    }

    pub(super) fn snapshot(&self, at: At) -> Result<Arc<dyn Snapshot>> {
        match at {
            At::Now => Ok(self.shared.engine.snapshot()?),
            at => Ok(self.shared.engine.snapshot_at(self.resolve(at)?)?),
        }
    }

    /// Commits; a conflict is an invitation to read and decide anew.
    pub(super) fn try_commit(&self, batch: Batch) -> Result<Attempt<CommitInfo>> {
        self.try_commit_of(batch, &[])
    }

    pub(super) fn try_commit_of(&self, batch: Batch, written: &[Arc<Slot>]) -> Result<Attempt<CommitInfo>> {
        self.tried(self.shared.engine.commit(batch), written)
    }

    /// What came of a commit for collections.
    pub(super) fn tried(
        &self,
        commit: crate::engine::Result<CommitInfo>,
        written: &[Arc<Slot>],
    ) -> Result<Attempt<CommitInfo>> {
        match commit {
            Ok(commit) => {
                self.shared.recent.note(commit.seq, written.iter().map(|slot| slot.shared_name.clone()));
                Ok(Attempt::Done(commit))
            }
            Err(error) if error.is_conflict() => Ok(Attempt::Again),
            Err(error) => Err(error.into()),
        }
    }

    /// Commits what a view has been given, for the collections that it writes.
    pub(super) fn try_commit_view(&self, view: &View, written: &[Arc<Slot>]) -> Result<Attempt<CommitInfo>> {
        self.try_commit_of(view.batch(), written)
    }

    pub(super) fn recent(&self) -> &RecentCommits {
        &self.shared.recent
    }

    pub(super) fn slot(&self, name: &str) -> Arc<Slot> {
        let mut slots = self.shared.slots.lock();
        if let Some(slot) = slots.get(name) {
            return slot.clone();
        }
        if slots.len() >= CACHED_COLLECTIONS_MAX {
            // Handles keep their own slots; forgetting one costs its next user one read.
            slots.clear();
        }
        let slot = Arc::new(Slot {
            name: name.to_owned(),
            shared_name: Arc::from(name),
            key: collection_key(name),
            row: Key::new(CATALOGUE, &collection_key(name)),
            counts_key: counts_key(name),
            known: RwLock::default(),
            sweep_at: Mutex::new(Timestamp(0)),
        });
        slots.insert(name.to_owned(), slot.clone());
        slot
    }
}

/// Trees for a new collection or index. The commit takes them, and conflicts with whoever else does.
pub(super) fn take_trees<const N: usize>(view: &View) -> Result<[TreeId; N]> {
    let first = decode_store(view.get(CATALOGUE, STORE_KEY)?.as_deref())?.0;
    let next = first.checked_add(N as u32).ok_or_else(|| Error::DamagedRow {
        what: "the catalogue's row of the store".to_owned(),
        why: "it has given out all numbers of trees",
    })?;
    view.put(CATALOGUE, STORE_KEY, encode_store(TreeId(next)));
    Ok(std::array::from_fn(|i| TreeId(first + i as u32)))
}

pub(super) fn index_infos(entry: &CollectionEntry) -> Vec<IndexInfo> {
    entry.indexes.iter().map(|index| IndexInfo { spec: index.spec.clone(), state: index.state }).collect()
}

/// What came of one try of a write.
pub(super) enum Attempt<T> {
    Done(T),
    Again,
}

impl<T> Attempt<T> {
    pub(super) fn map<U>(self, f: impl FnOnce(T) -> U) -> Attempt<U> {
        match self {
            Attempt::Done(value) => Attempt::Done(f(value)),
            Attempt::Again => Attempt::Again,
        }
    }
}

/// Tries until it is done. Each failed try means that another writer has succeeded.
pub(super) fn retry<T>(mut attempt: impl FnMut() -> Result<Attempt<T>>) -> Result<T> {
    for attempts in 0..WRITE_ATTEMPTS_MAX {
        if let Attempt::Done(value) = attempt()? {
            return Ok(value);
        }
        // The first tries follow at once; later ones leave the others some time: 2 us to 4 ms.
        if attempts >= 3 {
            std::thread::sleep(std::time::Duration::from_micros(1 << attempts.min(14).saturating_sub(2)));
        }
    }
    Err(Error::Busy { attempts: WRITE_ATTEMPTS_MAX })
}

/// What is known of a collection's row in the catalogue.
pub(super) struct Slot {
    pub(super) name: String,
    pub(super) shared_name: Arc<str>,
    pub(super) key: Vec<u8>,
    /// The row at that key, as a view looks for it.
    row: Key,
    /// The key of its counts.
    pub(super) counts_key: Vec<u8>,
    known: RwLock<Known>,
    /// When uploads that were broken off are looked for again.
    sweep_at: Mutex<Timestamp>,
}

/// The row as it was from commit `since` to commit `until`, both included.
#[derive(Clone, Default)]
struct Known {
    entry: Option<Arc<CollectionEntry>>,
    since: Seq,
    until: Seq,
}

impl Slot {
    /// The collection as of a snapshot; `None` where there is none. One read of the catalogue where the
    /// store has moved on since the last look, none otherwise.
    pub(super) fn entry(&self, snapshot: &dyn Snapshot) -> Result<Option<Arc<CollectionEntry>>> {
        let seq = snapshot.seq();
        let known = self.known.read().clone();
        if known.since <= seq && seq <= known.until {
            return Ok(known.entry);
        }
        let row = snapshot.get(CATALOGUE, &self.key)?;
        let found = match row {
            None => Known { entry: None, since: seq, until: seq },
            Some(row) => {
                let same = known.entry.filter(|_| known.since == row.seq);
                let entry = match same {
                    Some(entry) => entry,
                    None => Arc::new(CollectionEntry::decode(&row, &self.name)?),
                };
                Known { entry: Some(entry), since: row.seq, until: seq }
            }
        };
        let entry = found.entry.clone();
        let mut known = self.known.write();
        if found.until > known.until {
            *known = found;
        }
        Ok(entry)
    }

    /// The collection as a transaction sees it, which then depends on it.
    pub(super) fn entry_in(&self, view: &View) -> Result<Option<Arc<CollectionEntry>>> {
        if view.depend_or_written(CATALOGUE, &self.key) {
            let row = view.get(CATALOGUE, &self.key)?;
            return row.map(|row| CollectionEntry::decode(&row, &self.name).map(Arc::new)).transpose();
        }
        self.entry(view.base())
    }

    /// Whether it is time to look for uploads that were broken off: at first use, then once an hour.
    pub(super) fn uploads_are_due(&self, now: Timestamp) -> bool {
        let mut sweep_at = self.sweep_at.lock();
        let due = now >= *sweep_at;
        if due {
            *sweep_at = Timestamp(now.0.saturating_add(SWEEP_PAUSE_MICROS));
        }
        due
    }

    /// Notes that the commit of a view, which had asked [`Slot::entry_in`], found the row unchanged.
    pub(super) fn committed(&self, view: &View, seq: Seq) {
        if view.has_written(&self.row) {
            return;
        }
        let mut known = self.known.write();
        if (known.since..=known.until).contains(&view.seq()) && known.until < seq {
            known.until = seq;
        }
    }
}
