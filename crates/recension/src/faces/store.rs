//! A store of documents: the engine, and known parts of its catalogue. Nothing here depends on the number of
//! collections; each is looked up by name when it is used.

use std::path::PathBuf;
use std::sync::Arc;
#[cfg(feature = "async")]
use std::sync::OnceLock;

use parking_lot::Mutex;
use recension_native::disk::Key;

use crate::engine::{
    Address, Batch, BranchEngine, BranchId, Clock, CommitInfo, Direction, Engine, EngineError, KeyRange, MemoryEngine,
    NativeEngine, NativeOptions, Retention, Seq, Snapshot, SystemClock, Timestamp, TreeId,
};
#[cfg(feature = "async")]
use crate::faces::asynchronous::Committer;
use crate::faces::branches::MAIN;
use crate::faces::building::{Builder, Building};
use crate::faces::collection::Collection;
use crate::faces::expiry::Expiring;
use crate::faces::key_spaces::Spaces;
use crate::faces::retention::{counts_rule, retention_of};
use crate::faces::topics::Hub;
use crate::faces::views::forget_views_in;
use crate::kernel::overlay::Overlay;
use crate::kernel::rows::catalogue::{
    CATALOGUE, COLLECTIONS_PREFIX, CollectionEntry, STORE_KEY, build_key, collection_key, counts_key, decode_store,
    dropped_key, expiry_key, statistics_key,
};
use crate::kernel::rows::slot::{Slot, Slots};
use crate::kernel::rows::view_entry::kept_key;
use crate::kernel::view::in_commit::KnownViews;
use crate::kernel::write::attempt::{Attempt, retry};
use crate::kernel::write::guard::validators_key;
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::guard::Guard;
use recension_values::limits::{CLOCKS_DIFFER_MICROS_MAX, IDS_AHEAD_MAX};
use recension_values::model::CollectionInfo;
use recension_values::write::check_name;

/// Opens a store: a directory, which is made if there is none, or `memory:`. With the feature of its system, also a
/// store on a shared log, such as `postgres://ada@db/app?log=orders`. `place#idea` is the branch `idea` of it.
///
/// Other engines come with their own crates and [`Store::on`].
///
/// ```
/// # fn main() -> recension::Result<()> {
/// let store = recension::open("memory:")?;
/// let menu = store.collection("menu")?;
/// menu.put("pizza", r#"{"topping":"pineapple"}"#)?;
/// assert_eq!(menu.get("pizza")?.unwrap().body, r#"{"topping":"pineapple"}"#);
/// # Ok(()) }
/// ```
pub fn open(address: &str) -> Result<Store> {
    OpenOptions::new().open(address)
}

/// Opens the store in a directory for reading, without changing a byte there: a copy, a backup, a store on read-only
/// media or of another user. No process may have it open for writing. Writes are refused with
/// [`EngineError::ReadOnly`].
///
/// # Errors
/// [`EngineError::Locked`] if a process has it open for writing, [`EngineError::NotAStore`].
pub fn open_read_only(path: impl AsRef<std::path::Path>) -> Result<Store> {
    OpenOptions::new().open_read_only(path)
}

/// Options of opening a store.
///
/// ```
/// # fn main() -> recension::Result<()> {
/// # let folder = tempfile::tempdir().expect("a folder");
/// # let path = folder.path().join("notes").display().to_string();
/// let store = recension::OpenOptions::new().share(true).open(&path)?;
/// // Here it is the same process; it may be any of the same user.
/// let other = recension::open(&path)?;
/// store.collection("notes")?.put("a", r#"{"text":"hello"}"#)?;
/// assert!(other.collection("notes")?.get("a")?.is_some());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    share: bool,
    key: Option<Key>,
    collection_keys: Option<PathBuf>,
}

impl OpenOptions {
    /// The options of [`open`].
    #[must_use]
    pub fn new() -> Self {
        OpenOptions::default()
    }

    /// Whether other processes of the same user can open the store meanwhile. They reach it through this process. Off
    /// by
    /// default.
    #[must_use]
    pub fn share(mut self, share: bool) -> Self {
        self.share = share;
        self
    }

    /// The key of an encrypted store. One that is made with it is encrypted, and opens with it only; the other kinds of
    /// stores do without. None by default.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("notes").display().to_string();
    /// let key = recension::Key::generate()?;
    /// let store = recension::OpenOptions::new().key(Some(key)).open(&path)?;
    /// store.collection("notes")?.put("a", r#"{"text":"nobody's business"}"#)?;
    /// # drop(store);
    /// assert!(recension::open(&path).is_err());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn key(mut self, key: Option<Key>) -> Self {
        self.key = key;
        self
    }

    /// The file of the keys of an encrypted store's collections, if it is not `COLLECTION-KEYS` in the store's folder.
    /// A backup has no such file: give it that of its store.
    #[must_use]
    pub fn collection_keys(mut self, file: Option<PathBuf>) -> Self {
        self.collection_keys = file;
        self
    }

    fn native(&self) -> NativeOptions {
        let OpenOptions { key, collection_keys, .. } = self.clone();
        NativeOptions { key, collection_keys, ..NativeOptions::default() }
    }

    /// Opens the store in a directory for reading, as [`open_read_only`] does; or, with `#` and its name behind the
    /// directory, a branch of it.
    ///
    /// # Errors
    /// Those of [`open_read_only`].
    pub fn open_read_only(&self, path: impl AsRef<std::path::Path>) -> Result<Store> {
        let path = path.as_ref();
        let named = path.to_str().and_then(Address::branch).filter(|_| !path.exists());
        if let Some((place, branch)) = named {
            return self.open_read_only(place)?.open_branch(branch);
        }
        Store::on(Arc::new(NativeEngine::open_read_only(path, self.native())?))
    }

    /// Opens a store: a directory, which is made if there is none, or `memory:`. A directory that another process has
    /// open and shares is reached through that process.
    ///
    /// # Errors
    /// [`EngineError::Locked`] if another process has it open and does not share it.
    pub fn open(&self, address: &str) -> Result<Store> {
        let is_path = std::path::Path::new(address).exists();
        if let Some((store, branch)) = Address::branch(address).filter(|_| !is_path) {
            // No store is made for a branch that it cannot have.
            if branch != MAIN && matches!(Address::parse(store), Ok(Address::Path(path)) if !path.exists()) {
                return Err(EngineError::NoSuchBranch { name: branch.to_owned(), known: Vec::new() }.into());
            }
            return self.open(store)?.open_branch(branch);
        }
        #[cfg(feature = "log")]
        if recension_log::LogAddress::is_one(address) {
            return Store::on(Arc::new(recension_log::open(address)?));
        }
        match Address::parse(address)? {
            Address::Memory => Store::memory(),
            Address::Path(path) => Store::on(crate::engine::open_native(path, &self.native(), self.share)?),
            // What follows the scheme may be a password.
            Address::Scheme(scheme, _) => Err(EngineError::BadAddress {
                address: format!("{scheme}:..."),
                why: "no engine of this crate has that name; a path with a colon is written ./like:this".to_owned(),
            }
            .into()),
        }
    }
}

/// A store of documents on an engine. Clones are cheap and are the same store; use it from any thread.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    /// Continues interrupted builds of indexes. It ends first, as does the sweeping thread.
    building: Mutex<Building>,
    /// Commits for tasks, from their first write on. It ends before the engine.
    #[cfg(feature = "async")]
    committer: OnceLock<Option<Committer>>,
    engine: Arc<dyn Engine>,
    clock: Arc<dyn Clock>,
    slots: Slots,
    /// Whether announcing coming reads makes them faster.
    reads_wait: bool,
    /// Namespaces of keys.
    spaces: Spaces,
    /// Subscribers of topics, of all branches.
    hub: Arc<Hub>,
    /// Mappers of views.
    views: KnownViews,
    /// The latest moment of the clock, and the sweeping thread.
    expiring: Expiring,
}

/// The rows to be read after a collection's row.
#[derive(Clone, Copy)]
pub(crate) enum Ahead<'i> {
    /// These documents.
    Read(&'i [&'i str]),
    /// These documents, and the validation functions that decide on them.
    Write(&'i [&'i str]),
    /// The rows that a query is planned by.
    Query,
}

impl Ahead<'_> {
    /// Calls with the places of a collection's row, its counts, and what comes next.
    pub(crate) fn keys<T>(self, slot: &Slot, take: impl FnOnce(&[(TreeId, &[u8])]) -> T) -> T {
        let mut keys = vec![(CATALOGUE, slot.key.as_slice()), (CATALOGUE, slot.counts_key.as_slice())];
        let entry = slot.guess();
        let rows: Vec<Vec<u8>> = match (&entry, self) {
            (Some(entry), Ahead::Write(_)) => vec![validators_key(entry.documents), kept_key(entry)],
            (Some(entry), Ahead::Query) => entry.indexes.iter().map(|index| statistics_key(index.tree)).collect(),
            (None, _) | (_, Ahead::Read(_)) => Vec::new(),
        };
        keys.extend(rows.iter().take(IDS_AHEAD_MAX).map(|row| (CATALOGUE, row.as_slice())));
        if let (Some(entry), Ahead::Read(ids) | Ahead::Write(ids)) = (&entry, self) {
            keys.extend(ids.iter().take(IDS_AHEAD_MAX).map(|id| (entry.documents, id.as_bytes())));
        }
        take(&keys)
    }
}

impl Store {
    /// The documents of an engine.
    ///
    /// # Errors
    /// [`Error::NewerLayout`](crate::Error::NewerLayout) if a newer version wrote them.
    pub fn on(engine: Arc<dyn Engine>) -> Result<Self> {
        Self::with_clock(engine, Arc::new(SystemClock))
    }

    /// The documents of an engine, with the clock that ages ([`At::Ago`]) and new ids go by.
    pub fn with_clock(engine: Arc<dyn Engine>, clock: Arc<dyn Clock>) -> Result<Self> {
        // One snapshot for all that is looked at: each question is a round trip where another process owns the store.
        let mut now = engine.snapshot_with(&[(CATALOGUE, STORE_KEY)])?;
        decode_store(now.get(CATALOGUE, STORE_KEY)?.as_deref())?;
        // Those of branches are the main line's affair.
        let finished = match engine.branch() {
            None => Self::without_builder(engine.clone(), clock.clone()).finish_erasures(&*now)?,
            Some(branch) => {
                let root = branch.root().clone();
                Self::without_builder(root.clone(), clock.clone()).finish_erasures(&*root.snapshot()?)?
            }
        };
        if finished {
            now = engine.snapshot()?;
        }
        Self::opened(engine, clock, &*now, Arc::default())
    }

    /// The same in a process that has the store open already, with the subscribers of its topics.
    pub(crate) fn opened(
        engine: Arc<dyn Engine>,
        clock: Arc<dyn Clock>,
        now: &dyn Snapshot,
        hub: Arc<Hub>,
    ) -> Result<Self> {
        let builder = Builder::start(&engine, &clock, now)?;
        let store = Self::of(engine, clock, builder, Expiring::default(), hub);
        store.sweep_what_may_expire(now)?;
        Ok(store)
    }

    /// The documents of an engine, for a background thread.
    pub(crate) fn without_builder(engine: Arc<dyn Engine>, clock: Arc<dyn Clock>) -> Self {
        Self::of(engine, clock, None, Expiring::default(), Arc::default())
    }

    /// The documents of an engine, for the thread that sweeps.
    pub(crate) fn sweeping(engine: Arc<dyn Engine>, clock: Arc<dyn Clock>, expiring: Expiring) -> Self {
        Self::of(engine, clock, None, expiring, Arc::default())
    }

    fn of(
        engine: Arc<dyn Engine>,
        clock: Arc<dyn Clock>,
        builder: Option<Builder>,
        expiring: Expiring,
        hub: Arc<Hub>,
    ) -> Self {
        let branch = engine.branch().map_or(BranchId(0), BranchEngine::id);
        let reads_wait = engine.profile().reads_wait();
        let shared = Shared {
            building: Mutex::new(Building::by(builder)),
            #[cfg(feature = "async")]
            committer: OnceLock::new(),
            engine,
            clock,
            slots: Slots::of_branch(branch),
            reads_wait,
            spaces: Spaces::default(),
            hub,
            views: KnownViews::default(),
            expiring,
        };
        Store { shared: Arc::new(shared) }
    }

    /// A new store in memory.
    pub fn memory() -> Result<Self> {
        Self::on(Arc::new(MemoryEngine::new()))
    }

    /// Gives the store a guard, which decides by the validation functions of design documents whether documents may be
    /// written. All clones have the guard from then on. A store has one guard: the first that it is given.
    ///
    /// Without one, writes to a collection that has such functions fail with
    /// [`Error::NoGuard`](crate::Error::NoGuard).
    #[must_use]
    pub fn guarded(self, guard: Arc<dyn Guard>) -> Self {
        // The store keeps the guard that it has.
        let _ = self.shared.slots.guard().set(guard);
        self
    }

    /// The thread that continues builds.
    pub(crate) fn building(&self) -> &Mutex<Building> {
        &self.shared.building
    }

    /// The engine below.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.shared.engine
    }

    /// The committer for tasks; `None` if the system gives no thread for it.
    #[cfg(feature = "async")]
    pub(crate) fn committer(&self) -> Option<&Committer> {
        self.shared.committer.get_or_init(|| Committer::start(self.shared.engine.clone())).as_ref()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// A collection. It is made with its first document or index.
    ///
    /// # Errors
    /// [`Error::BadName`](crate::Error::BadName).
    pub fn collection(&self, name: &str) -> Result<Collection> {
        check_name("collection", name)?;
        Ok(Collection::new(self.clone(), self.slot(name)))
    }

    /// The collections that existed at a moment, in the order of their names.
    pub fn collections(&self, at: At) -> Result<Vec<CollectionInfo>> {
        let snapshot = self.snapshot(at)?;
        let rules = self.engine().retention()?;
        let mut collections = Vec::new();
        for row in snapshot.range(CATALOGUE, &KeyRange::prefix(COLLECTIONS_PREFIX), Direction::Forward) {
            let row = row?;
            let name = String::from_utf8_lossy(&row.key[COLLECTIONS_PREFIX.len()..]).into_owned();
            let entry = CollectionEntry::decode(&row.value, &name)?;
            let retention = retention_of(&entry, &rules);
            collections.push(CollectionInfo { name, indexes: entry.index_infos(), retention });
        }
        Ok(collections)
    }

    /// Drops a collection and its indexes; returns whether there was one. Reads at earlier moments still find it.
    pub fn drop_collection(&self, name: &str) -> Result<bool> {
        check_name("collection", name)?;
        let key = collection_key(name);
        let slot = self.slot(name);
        let dropped = retry(|| {
            let view = Overlay::new(self.snapshot(At::Now)?);
            let Some(entry) = slot.entry_in(&view)? else { return Ok(Attempt::Done(false)) };
            view.delete(CATALOGUE, &key);
            view.delete(CATALOGUE, &counts_key(name));
            if view.get(CATALOGUE, &expiry_key(name))?.is_some() {
                view.delete(CATALOGUE, &expiry_key(name));
            }
            forget_views_in(&view, &entry, name)?;
            for tree in entry.trees() {
                view.put(CATALOGUE, &dropped_key(tree), name.as_bytes().to_vec());
                view.delete(CATALOGUE, &build_key(tree));
                view.delete(CATALOGUE, &statistics_key(tree));
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
    ///
    /// # Errors
    /// [`Error::MomentAhead`]: the time is more than a minute from now.
    pub fn resolve(&self, at: At) -> Result<Seq> {
        let as_of = |time| Ok(self.shared.engine.commit_at(time)?.map_or(Seq::ZERO, |commit| commit.seq));
        match at {
            At::Now => Ok(self.shared.engine.head()),
            // The engine says what is wrong with a commit that is not there yet.
            At::Seq(seq) if seq > self.shared.engine.head() => Ok(self.shared.engine.snapshot_at(seq)?.seq()),
            At::Seq(seq) => Ok(seq),
            At::Tag(name) => self.tagged(name),
            At::Time(time) => {
                self.check_not_ahead(time)?;
                as_of(time)
            }
            At::Ago(age) => {
                let micros = u64::try_from(age.as_micros()).unwrap_or(u64::MAX);
                as_of(Timestamp(self.now().0.saturating_sub(micros)))
            }
        }
    }

    /// Returns an error for a time that is still to come. Clocks differ a little, and commits may have later times than
    /// a clock that was set back.
    fn check_not_ahead(&self, time: Timestamp) -> Result<()> {
        let now = self.now();
        if time.0 <= now.0.saturating_add(CLOCKS_DIFFER_MICROS_MAX) {
            return Ok(());
        }
        match self.shared.engine.commit_at(Timestamp(u64::MAX))? {
            Some(newest) if time <= newest.time => Ok(()),
            _ => Err(Error::MomentAhead { time, now, head: self.shared.engine.head() }),
        }
    }

    pub(crate) fn snapshot(&self, at: At) -> Result<Arc<dyn Snapshot>> {
        match at {
            At::Now => Ok(self.shared.engine.snapshot()?),
            // The engine looks itself whether there is such a commit: asking for the newest one is one round trip more.
            At::Seq(seq) => Ok(self.shared.engine.snapshot_at(seq)?),
            at => Ok(self.shared.engine.snapshot_at(self.resolve(at)?)?),
        }
    }

    /// A snapshot of now. A collection's row in the catalogue, its counts and the rows of `ahead` are read first: in
    /// one round trip, if the engine is far away.
    pub(crate) fn snapshot_for(&self, slot: &Slot, ahead: Ahead<'_>) -> Result<Arc<dyn Snapshot>> {
        if !self.shared.reads_wait {
            return self.snapshot(At::Now);
        }
        ahead.keys(slot, |keys| Ok(self.shared.engine.snapshot_with(keys)?))
    }

    /// Commits. After a conflict, the caller reads and decides again.
    pub(crate) fn try_commit(&self, batch: Batch) -> Result<Attempt<CommitInfo>> {
        self.try_commit_of(batch, &[])
    }

    pub(crate) fn try_commit_of(&self, batch: Batch, written: &[Arc<Slot>]) -> Result<Attempt<CommitInfo>> {
        self.tried(self.shared.engine.commit(batch), written)
    }

    /// The outcome of a commit for collections.
    pub(crate) fn tried(
        &self,
        commit: crate::engine::Result<CommitInfo>,
        written: &[Arc<Slot>],
    ) -> Result<Attempt<CommitInfo>> {
        match commit {
            Ok(commit) => {
                self.shared.slots.committed(commit.seq, written);
                Ok(Attempt::Done(commit))
            }
            Err(error) if error.is_conflict() => Ok(Attempt::Again),
            Err(error) => Err(error.into()),
        }
    }

    /// Commits the writes of an overlay, for the collections that it writes.
    pub(crate) fn try_commit_view(&self, view: &Overlay, written: &[Arc<Slot>]) -> Result<Attempt<CommitInfo>> {
        self.try_commit_of(view.batch(), written)
    }

    /// The known namespaces of keys.
    pub(crate) fn spaces(&self) -> &Spaces {
        &self.shared.spaces
    }

    /// Mappers of views that may be kept in commits.
    pub(crate) fn known_views(&self) -> &KnownViews {
        &self.shared.views
    }

    /// The subscribers of topics.
    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.shared.hub
    }

    /// The state of expiry.
    pub(crate) fn expiring(&self) -> &Expiring {
        &self.shared.expiring
    }

    /// The clock of ages and of expiry.
    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    /// The known collections.
    pub(crate) fn slots(&self) -> &Slots {
        &self.shared.slots
    }

    pub(crate) fn slot(&self, name: &str) -> Arc<Slot> {
        self.shared.slots.of(name)
    }
}
