//! Databases: a database is a collection of the store of the same name. This is the only file of the server that holds
//! the store. Each use of it needs a proof of access, which only `auth` gives.

mod first;
mod on_branch;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::task::Waker;

use http::StatusCode;
use parking_lot::Mutex;
use recension::asynchronous::{AsyncCollection, Wait};
use recension::engine::{BranchEngine, BranchId, Engine, Profile, Seq};
use recension::json::quote;
use recension::{Actor, At, Collection, CollectionAt, Guard, Intended, Store, Write, Written, format_time};
use tokio::runtime::{Handle, RuntimeFlavor};

use super::events::Event;
use super::partitions;
use super::proof::{Granted, ServerAdmin};
use crate::compacting::Compacting;
use crate::identity::Identity;
use crate::identity::random::new_uuid;
use crate::identity::security::{self, Security};
use crate::settings;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{DATABASE_NAME_BYTES_MAX, NOTES_AT_ONCE_MAX};
use recension_wire::route::SYSTEM_DATABASES;

/// The collection of the server's own notes. No path names it: databases' names begin with a letter, or are known.
pub const OWN: &str = "_recension";

/// The note that they were made. Earlier versions made the first alone, and then all without a rule.
pub(crate) const SYSTEM_MADE: &str = "all made, with a rule";
pub(crate) const MADE_WITHOUT_RULE: &str = "all made";

/// The store, as databases.
pub struct Databases {
    store: Store,
    /// Branches that are open, by the names under which they were opened.
    branches: Mutex<HashMap<String, (BranchId, Store)>>,
    nobody: Arc<Identity>,
    /// Whether the store is being compacted.
    pub compacting: Arc<Compacting>,
}

/// Notes of the server's own.
pub struct Notes {
    /// The id of the server.
    pub uuid: Option<String>,
    /// Whether the databases of the server's own were made.
    pub users: Option<String>,
    /// The settings that were changed.
    pub settings: Option<String>,
    /// The key of the cookies.
    pub secret: Option<String>,
}

impl std::fmt::Debug for Databases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Databases")
    }
}

impl Databases {
    /// The databases of a store.
    pub fn on(store: Store) -> Self {
        let (branches, nobody, compacting) = (Mutex::default(), Arc::default(), Arc::default());
        Databases { store, branches, nobody, compacting }
    }

    /// The store, for the server's own backups of it.
    pub fn backed_up(&self) -> &Store {
        &self.store
    }

    /// Gives the store the guard that calls validation functions.
    pub(crate) fn guard(&self, guard: Arc<dyn Guard>) {
        // All clones of the store have it then.
        drop(self.store.clone().guarded(guard));
    }

    /// The notes that a server begins with, together: where another process owns the store, each read is a round trip.
    pub fn notes(&self) -> Result<Notes> {
        let own = self.store.collection(OWN)?.at(At::Now)?;
        let [uuid, users, settings, secret] = own.settings(["uuid", "users", settings::NOTE, settings::SECRET_NOTE])?;
        Ok(Notes { uuid, users, settings, secret })
    }

    /// Makes the id of the server, which is kept in the store.
    pub fn new_uuid(&self) -> recension::Result<String> {
        let own = self.store.collection(OWN)?;
        own.settings().set("uuid", Some(&new_uuid()))?;
        Ok(own.settings().get("uuid")?.unwrap_or_default())
    }

    /// A note of the server's own.
    pub fn note(&self, name: &str) -> Result<Option<String>> {
        Ok(self.store.collection(OWN)?.settings().get(name)?)
    }

    /// Makes a note; durable when it returns.
    pub fn set_note(&self, name: &str, text: &str) -> Result<()> {
        Ok(self.store.collection(OWN)?.settings().set(name, Some(text))?)
    }

    /// Makes the databases that CouchDB has once it is set up as a single node, if there never were any. If somebody
    /// drops one, it stays dropped.
    pub(crate) fn make_system_databases(&self) -> Result<()> {
        for name in SYSTEM_DATABASES {
            if self.store.collection(name)?.make(&first::settings(name))? {
                self.note_event(Event::CREATED, name)?;
            }
        }
        self.set_note("users", SYSTEM_MADE)
    }

    /// A database. Whether it may be used is for `auth` to say.
    pub fn open(&self, name: &str, _proof: Granted) -> Result<Database> {
        self.open_reached(name)
    }

    /// A database that nobody has been given access to yet.
    fn database(&self, name: &str, collection: Collection, opened: CollectionAt, rights: Option<Rights>) -> Database {
        let (name, writer, compacting) = (Arc::from(name), Arc::clone(&self.nobody), Arc::clone(&self.compacting));
        Database { name, collection, opened, rights, admin: false, writer, refused: None, compacting }
    }

    fn open_reached(&self, name: &str) -> Result<Database> {
        if let Some((store, base)) = self.on_branch(name)? {
            return self.open_on_branch(name, &store, base);
        }
        if !is_reached(name) {
            return Err(ApiError::no_database());
        }
        let collection = self.store.collection(name).map_err(|_| ApiError::no_database())?.only_existing();
        let opened = collection.at(At::Now)?;
        if !opened.exists() {
            return Err(ApiError::no_database());
        }
        Ok(self.database(name, collection, opened, None))
    }

    /// A database for the server's own replications.
    pub fn served(&self, name: &str, _proof: ServerAdmin) -> Result<Database> {
        let database = self.open_reached(name)?;
        Ok(database.with_writer(true, Arc::clone(&self.nobody), None))
    }

    /// Makes a database.
    ///
    /// # Errors
    /// 412 if it is there, 400 for a name that no database can have.
    pub fn create(&self, name: &str, settings: &[(&str, &str)], _proof: ServerAdmin) -> Result<()> {
        if let Some((store, base)) = self.on_branch(name)? {
            if !is_name(base) {
                return Err(ApiError::illegal_database_name(base));
            }
            let made = store.collection(base)?.make(settings)?;
            return if made { Ok(()) } else { Err(ApiError::database_exists()) };
        }
        if name.len() > DATABASE_NAME_BYTES_MAX {
            let reason = format!("Name: '{name}' is too long.");
            return Err(ApiError::new(http::StatusCode::BAD_REQUEST, "database_name_too_long", reason));
        }
        if !is_name(name) {
            return Err(ApiError::illegal_database_name(name));
        }
        let settings: Vec<_> = first::settings(name).iter().chain(settings).copied().collect();
        if !self.store.collection(name)?.make(&settings)? {
            return Err(ApiError::database_exists());
        }
        self.note_event(Event::CREATED, name)
    }

    /// Deletes a database.
    pub fn delete(&self, name: &str, _proof: ServerAdmin) -> Result<()> {
        if let Some((store, base)) = self.on_branch(name)? {
            return if store.drop_collection(base)? { Ok(()) } else { Err(ApiError::no_database()) };
        }
        if !is_reached(name) || !self.store.drop_collection(name)? {
            return Err(ApiError::no_database());
        }
        self.note_event(Event::DELETED, name)
    }

    /// Makes the notes of events that are missing: a server was killed between event and note, or another program made
    /// or dropped a database. It reads the names of all databases and all notes.
    pub fn note_what_was_missed(&self) -> Result<()> {
        let own = self.store.collection(OWN)?;
        // In the order of commits, so that the last one stays.
        let mut noted: BTreeMap<String, &'static str> = BTreeMap::new();
        for change in own.at(At::Now)?.changes(Seq::ZERO) {
            if let Some((kind, name)) = Event::noted(&change?.id) {
                noted.insert(name.to_owned(), kind);
            }
        }
        let there = self.store.collections(At::Now)?.into_iter().map(|collection| collection.name);
        let there: BTreeSet<String> = there.filter(|name| is_reached(name)).collect();
        let made = there.iter().filter(|name| noted.get(*name) != Some(&Event::CREATED));
        let dropped = noted.iter().filter(|(name, kind)| **kind == Event::CREATED && !there.contains(*name));
        let made = made.map(|name| format!("{}:{name}", Event::CREATED));
        let missed: Vec<String> = made.chain(dropped.map(|(name, _)| format!("{}:{name}", Event::DELETED))).collect();
        for some in missed.chunks(NOTES_AT_ONCE_MAX) {
            let writes = some.iter().map(|id| Ok(Write::put(id, "{}")?)).collect::<Result<Vec<_>>>()?;
            for written in own.bulk(writes)? {
                written?;
            }
        }
        Ok(())
    }

    /// Notes for `_db_updates` that a database was made or dropped: a document of the server's own collection, whose
    /// last change is the event's commit. If the server is killed before the note, the next start makes it.
    fn note_event(&self, kind: &str, name: &str) -> Result<()> {
        self.store.collection(OWN)?.put(&format!("{kind}:{name}"), "{}")?;
        Ok(())
    }

    /// Events of databases after a commit, in no order, and the commit up to which they are complete.
    pub fn events(&self, since: Seq, _proof: ServerAdmin) -> Result<(Seq, Vec<Event>)> {
        let noted = self.store.collection(OWN)?.at(At::Now)?;
        let changed = self.store.collections_changed(since, At::Seq(noted.seq()))?;
        let changed = changed.into_iter().map(|(name, seq)| (Event::UPDATED, name.to_string(), seq));
        let mut events: Vec<Event> = Vec::new();
        for change in noted.changes(since) {
            let change = change?;
            if let Some((kind, name)) = Event::noted(&change.id) {
                events.push(Event { seq: change.seq, database: name.to_owned(), kind });
            }
        }
        events.extend(changed.filter(|(_, name, _)| is_reached(name)).map(|(kind, database, seq)| Event {
            seq,
            database,
            kind,
        }));
        Ok((noted.seq(), events))
    }

    /// Keys of the server's own.
    pub fn own_keys(&self, name: &str) -> Result<recension::Keys> {
        Ok(self.store.keys(name)?)
    }

    /// The store, for what only server admins do.
    pub fn store(&self, _proof: ServerAdmin) -> Store {
        self.store.clone()
    }

    /// The newest commit. While it is the same, nothing in the store has changed.
    pub fn head(&self) -> Seq {
        self.store.engine().head()
    }

    /// Whether there is a commit behind `seq`; if not, `waker` is woken once there may be.
    pub fn wake_beyond(&self, seq: Seq, waker: &Waker) -> bool {
        self.store.engine().wake_beyond(seq, waker)
    }

    /// Learns of everything that any node of the store has acknowledged.
    pub fn refresh(&self) -> Result<Seq> {
        Ok(self.store.engine().refresh().map_err(recension::Error::from)?)
    }

    /// Gives up history beyond the rules of retention, and gives the disk back. It takes as long as reading the store.
    pub fn compact(&self) -> Result<recension::Compacted> {
        Ok(self.store.compact()?)
    }

    /// The engine, which wakes feeds.
    pub fn engine(&self, _proof: ServerAdmin) -> Arc<dyn Engine> {
        Arc::clone(self.store.engine())
    }

    /// The names of all databases, in order.
    pub fn names(&self, _proof: ServerAdmin) -> Result<Vec<String>> {
        let all = self.store.collections(At::Now)?.into_iter().map(|collection| collection.name);
        Ok(all.filter(|name| is_reached(name)).collect())
    }

    /// How many databases there are.
    pub(crate) fn count(&self) -> Result<u64> {
        let all = self.store.collections(At::Now)?;
        Ok(all.iter().filter(|collection| is_reached(&collection.name)).count() as u64)
    }

    /// The engine's profile.
    pub fn profile(&self) -> Profile {
        self.store.engine().profile()
    }

    /// Sizes of the store, for metrics.
    pub fn stats(&self) -> Result<recension::engine::Stats> {
        Ok(self.store.engine().stats().map_err(recension::Error::from)?)
    }

    /// Goes on with builds of indexes whose processes have died.
    pub(crate) fn continue_builds(&self) -> recension::Result<()> {
        self.store.continue_builds()
    }

    /// Makes everything durable, when the server stops.
    pub fn checkpoint(&self) -> recension::Result<()> {
        Ok(self.store.engine().checkpoint()?)
    }
}

/// The database of the main line that has the name of one on a branch, and whose rights count.
#[derive(Clone)]
struct Rights {
    of: CollectionAt,
    /// It is not another one of the same name.
    is_same: bool,
}

/// A database that somebody was given access to.
#[derive(Clone)]
pub struct Database {
    /// As paths have it: that of the collection, or with the branch behind it.
    name: Arc<str>,
    collection: Collection,
    opened: CollectionAt,
    /// On a branch.
    rights: Option<Rights>,
    admin: bool,
    writer: Arc<Identity>,
    /// Documents that may not be written, with the reasons.
    refused: Option<Arc<BTreeMap<String, ApiError>>>,
    compacting: Arc<Compacting>,
}

impl Database {
    /// The same for a writer.
    pub(crate) fn with_writer(
        self,
        admin: bool,
        writer: Arc<Identity>,
        refused: Option<Arc<BTreeMap<String, ApiError>>>,
    ) -> Self {
        let rights = self.rights.as_ref().map_or(&self.opened, |rights| &rights.of).clone();
        let actor = Writing { writer: Arc::clone(&writer), opened: rights, judge: None };
        let collection = self.collection.acting_as(Arc::new(actor));
        Database { collection, admin, writer, refused, ..self }
    }

    /// The same database, whose writes are decided one by one.
    #[must_use]
    pub fn judged(self, judge: Judgement) -> Self {
        let actor = Writing { writer: Arc::clone(&self.writer), opened: self.opened.clone(), judge: Some(judge) };
        Database { collection: self.collection.acting_as(Arc::new(actor)), ..self }
    }

    /// Whether it was given to an admin of it.
    pub(crate) fn is_admins(&self) -> bool {
        self.admin
    }

    /// The identity that was given access.
    pub fn writer(&self) -> &Identity {
        &self.writer
    }

    /// Its name, as paths have it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which it is of all databases that have, or had, its name here: databases are numbered on each line of the store
    /// from where it begins.
    pub fn identity(&self) -> (BranchId, Option<u32>) {
        let branch = self.collection.store().engine().branch();
        (branch.map_or(BranchId(0), BranchEngine::id), self.opened.number())
    }

    /// Whether it is on a branch, where rights are not kept.
    pub fn is_on_branch(&self) -> bool {
        self.rights.is_some()
    }

    /// Whether it is on a branch only, so that only server admins have rights in it. A database that was dropped on the
    /// main line and made again is another one.
    pub(crate) fn is_nowhere_else(&self) -> bool {
        self.rights.as_ref().is_some_and(|rights| !rights.is_same)
    }

    /// Refuses to change rights on a branch.
    pub fn keeps_rights(&self) -> Result<()> {
        if self.is_on_branch() {
            let base = self.collection.name();
            let reason = format!("Rights are not branched: change those of the database {base}.");
            return Err(ApiError::new(StatusCode::CONFLICT, "conflict", reason));
        }
        Ok(())
    }

    /// Whether the store is being compacted.
    pub fn is_compacting(&self) -> bool {
        self.compacting.is_running()
    }

    /// What the files of the store take on the disk, and the bytes of all documents in it.
    pub fn disk_bytes(&self) -> Result<u64> {
        Ok(self.collection.store().engine().stats().map_err(recension::Error::from)?.disk_bytes)
    }

    /// Its documents.
    pub fn collection(&self) -> &Collection {
        &self.collection
    }

    /// The topics of this database and of all others.
    pub fn topics(&self) -> recension::Topics {
        self.collection.store().topics()
    }

    /// Keys of the server's own, on the line of the store that the database is on.
    pub fn keys_beside(&self, name: &str) -> recension::Result<recension::Keys> {
        self.collection.store().keys(name)
    }

    /// Its documents, for work on another thread.
    pub fn share(&self) -> Collection {
        self.collection.clone()
    }

    /// Makes a write. A short write is decided on this thread, as a read would be. If no other writer is waiting, the
    /// commit waits for the disk on this thread too, and the thread's other tasks move to another one. Otherwise no
    /// thread waits.
    pub async fn write(&self, write: Write) -> Result<Written> {
        let is_design = write.id().is_some_and(|id| id.starts_with("_design/"));
        if is_design || !self.opened.validators()?.is_empty() {
            // A validation function may run in another process, which takes its time.
            let collection = self.share();
            let written = tokio::task::spawn_blocking(move || collection.write(write)).await;
            return Ok(written.map_err(|error| ApiError::internal(error.to_string()))??);
        }
        let others_go_on = Handle::current().runtime_flavor() != RuntimeFlavor::CurrentThread;
        let wait = others_go_on.then_some((|commit| tokio::task::block_in_place(commit)) as Wait);
        Ok(AsyncCollection::from(self.share()).write_in_place(write, wait).await?)
    }

    /// The database as of the moment when access was given. Requests that only read use it.
    pub fn opened(&self) -> &CollectionAt {
        &self.opened
    }

    /// The same database as it was at a moment. Access is that of now.
    ///
    /// # Errors
    /// 404 if it was not there yet, 410 if that past was forgotten.
    pub fn seen_at(mut self, moment: At) -> Result<Self> {
        self.opened = self.collection.at(moment)?;
        if self.opened.exists() {
            return Ok(self);
        }
        Err(match self.collection.settings().made()? {
            None => ApiError::no_database(),
            Some(made) => {
                let (time, seq) = (format_time(made.time), made.seq);
                let reason = format!("The database was made at {time} (commit {seq}): it has no past before that.");
                ApiError::new(StatusCode::NOT_FOUND, "not_found", reason)
            }
        })
    }

    /// The same database as of now.
    pub fn renewed(&self) -> Result<Self> {
        let opened = self.collection.at(At::Now)?;
        if !opened.exists() {
            return Err(ApiError::no_database());
        }
        Ok(Database { opened, ..self.clone() })
    }

    /// The documents as of now, after something was waited for.
    pub fn now(&self) -> Result<CollectionAt> {
        Ok(self.collection.at(At::Now)?)
    }

    /// A setting.
    pub fn setting(&self, name: &str) -> Result<Option<String>> {
        let is_right = [security::SETTING, security::ACCESS].contains(&name);
        let of = self.rights.as_ref().filter(|_| is_right).map_or(&self.opened, |rights| &rights.of);
        Ok(of.setting(name)?)
    }

    /// Its admins and members.
    pub fn security(&self) -> Result<Security> {
        Security::of(self.setting(security::SETTING)?.as_deref())
    }

    /// Whether its documents are in partitions.
    pub fn is_partitioned(&self) -> Result<bool> {
        Ok(self.setting("partitioned")?.is_some())
    }

    /// Refuses a partition that is asked for where there are none.
    pub fn check_partition(&self, partition: Option<&str>) -> Result<()> {
        if partition.is_some() && !self.is_partitioned()? {
            return Err(ApiError::query_parse("`partition` parameter is not supported on this db"));
        }
        Ok(())
    }

    /// Whether a document of the id can be in it.
    pub fn check_id(&self, id: &str) -> Result<()> {
        if self.is_partitioned()? { partitions::check_id(id) } else { Ok(()) }
    }

    /// Whether a document may be written. Design documents are for admins only.
    pub fn may_write(&self, id: &str) -> Result<()> {
        self.check_id(id)?;
        if let Some(error) = self.refused.as_ref().and_then(|refused| refused.get(id)) {
            return Err(error.clone());
        }
        if self.admin || !id.starts_with("_design/") {
            return Ok(());
        }
        Err(match self.writer.name {
            None => ApiError::design_needs_admin_anonymous(),
            Some(_) => ApiError::design_needs_admin(),
        })
    }
}

/// Decides whether a write may take place.
pub(crate) type Judgement = Arc<dyn Fn(&Intended<'_>) -> recension::Result<()> + Send + Sync>;

/// Who writes to a database, as validation functions are told, and what they may write.
struct Writing {
    writer: Arc<Identity>,
    opened: CollectionAt,
    /// `None`: everything.
    judge: Option<Judgement>,
}

impl Actor for Writing {
    fn user(&self) -> String {
        user_context(&self.writer, self.opened.name())
    }

    fn security(&self) -> String {
        // If it cannot be read now, it cannot be written either.
        self.opened.setting(security::SETTING).ok().flatten().unwrap_or_else(|| "{}".to_owned())
    }

    fn is_limited(&self) -> bool {
        self.judge.is_some()
    }

    fn may(&self, change: &Intended<'_>) -> recension::Result<()> {
        self.judge.as_ref().map_or(Ok(()), |judge| judge(change))
    }

    fn may_design(&self, id: &str, body: &str) -> recension::Result<()> {
        let partitioned = self.opened.setting("partitioned")?.is_some();
        let design = recension_script::Design::of(id, "", body);
        design.check_form(partitioned)?;
        for (member, meant) in design.misspelt() {
            let db = self.opened.name();
            tracing::warn!(db, id, member, meant, "a member of a design document does nothing; another may be meant");
        }
        Ok(())
    }
}

/// CouchDB's `userCtx`.
pub fn user_context(identity: &Identity, database: &str) -> String {
    let name = identity.name.as_ref().map_or("null".to_owned(), |name| quote(name));
    let roles: Vec<String> = identity.roles.iter().map(|role| quote(role)).collect();
    format!("{{\"db\":{},\"name\":{name},\"roles\":[{}]}}", quote(database), roles.join(","))
}

/// Whether a collection of the store is a database. Every collection is, under its own name, even if another program
/// gave it a name that CouchDB would not take. Names with `_` in front are the server's, and few of them are databases.
fn is_reached(name: &str) -> bool {
    !name.starts_with('_') || is_name(name)
}

/// Whether a new database can have the name: CouchDB's rule.
fn is_name(name: &str) -> bool {
    SYSTEM_DATABASES.contains(&name)
        || (name.len() <= DATABASE_NAME_BYTES_MAX
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_$()+-/".contains(&byte)))
}
