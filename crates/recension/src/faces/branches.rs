//! Branches and tags of a store: making, listing, opening, renaming and dropping them, and what differs between two.
//! The engine below keeps the rows; docs/branches.md has the design.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::{BranchEngine, BranchId, BranchInfo, Branches, EngineError, Seq, Snapshot, TagInfo};
use crate::faces::diff::DocumentDiff;
use crate::faces::store::Store;
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry};
use recension_values::at::{At, TagName};
use recension_values::error::{Error, Result};
use recension_values::model::Document;

impl Store {
    /// Gives a moment of this branch a name. While the tag exists, the moment stays readable, whatever retention says;
    /// erasing still erases.
    ///
    /// ```
    /// # fn main() -> recension::Result<()> {
    /// use recension::At;
    /// let store = recension::open("memory:")?;
    /// let menu = store.collection("menu")?;
    /// menu.put("pizza", r#"{"price":9}"#)?;
    /// store.tag("v1", At::Now)?;
    /// menu.put("pizza", r#"{"price":10}"#)?;
    /// assert_eq!(menu.at("tag:v1".parse()?)?.get("pizza")?.unwrap().body, r#"{"price":9}"#);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`EngineError::Branch`] for a name that is taken or is none; [`EngineError::Forgotten`] if the moment cannot be
    /// read any more.
    pub fn tag(&self, name: &str, at: At) -> Result<TagInfo> {
        let seq = self.past(at)?;
        let tag = self.catalogue().tag(name, self.branch_id(), seq)?;
        self.check_readable(seq).inspect_err(|_| drop(self.catalogue().untag(name)))?;
        Ok(tag)
    }

    /// All tags of the store, in the order of their names.
    pub fn tags(&self) -> Result<Vec<TagInfo>> {
        Ok(self.catalogue().tags()?)
    }

    /// Removes a tag; answers whether there was one.
    pub fn untag(&self, name: &str) -> Result<bool> {
        Ok(self.catalogue().untag(name)?)
    }

    /// Makes a branch: a store that begins as this one at a moment, and has its own writes from then on. It is one
    /// small commit, however large the store is.
    ///
    /// ```
    /// # fn main() -> recension::Result<()> {
    /// use recension::At;
    /// let store = recension::open("memory:")?;
    /// store.collection("menu")?.put("pizza", r#"{"price":9}"#)?;
    /// let idea = store.branch("idea", At::Now)?;
    /// idea.collection("menu")?.put("pizza", r#"{"price":12}"#)?;
    /// assert_eq!(store.collection("menu")?.get("pizza")?.unwrap().body, r#"{"price":9}"#);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`Store::tag`], and beyond 4,096 branches, or 8 of each other.
    pub fn branch(&self, name: &str, at: At) -> Result<Store> {
        let seq = self.past(at)?;
        self.catalogue().create(name, self.branch_id(), seq)?;
        self.check_readable(seq).inspect_err(|_| drop(self.catalogue().drop(name)))?;
        self.open_branch(name)
    }

    /// Opens a branch of the store.
    ///
    /// # Errors
    /// [`EngineError::Branch`] if there is none of that name.
    pub fn open_branch(&self, name: &str) -> Result<Store> {
        let branch = Store::with_clock(self.catalogue().open(name)?, self.clock().clone())?;
        Ok(match self.slots().guard().get() {
            Some(guard) => branch.guarded(guard.clone()),
            None => branch,
        })
    }

    /// The main line of the store; the store itself if it is no branch.
    pub fn main_line(&self) -> Result<Store> {
        match self.engine().branch() {
            None => Ok(self.clone()),
            Some(branch) => Store::with_clock(branch.root().clone(), self.clock().clone()),
        }
    }

    /// All branches of the store, in the order in which they were made.
    pub fn branches(&self) -> Result<Vec<BranchInfo>> {
        Ok(self.catalogue().list()?)
    }

    /// The name of the branch; `None` on the main line.
    pub fn branch_name(&self) -> Option<&str> {
        self.engine().branch().map(BranchEngine::name)
    }

    /// Gives a branch another name.
    ///
    /// # Errors
    /// [`EngineError::Branch`].
    pub fn rename_branch(&self, name: &str, to: &str) -> Result<()> {
        Ok(self.catalogue().rename(name, to)?)
    }

    /// Drops a branch with everything that was written on it. Stores that have it open can use it no more.
    ///
    /// # Errors
    /// [`EngineError::Branch`] if other branches, or tags, need it.
    pub fn drop_branch(&self, name: &str) -> Result<()> {
        Ok(self.catalogue().drop(name)?)
    }

    /// The documents that differ between this branch, which is before, and another one, each with its collection. They
    /// are found among those that were changed on either since they were one: the time grows with these.
    ///
    /// # Errors
    /// [`Error::Engine`] if the other is not of the same store.
    pub fn diff_with(&self, other: &Store) -> Result<Vec<(String, DocumentDiff)>> {
        let since = common_moment(self, other)?;
        let (before, after) = (self.snapshot_all()?, other.snapshot_all()?);
        let mut names = BTreeSet::new();
        for store in [self, other] {
            names.extend(store.collections_changed(since, At::Now)?.into_iter().map(|(name, _)| name.to_string()));
        }
        let mut found = Vec::new();
        for name in names {
            let (before, after) = (self.collection_in(&name, &before)?, other.collection_in(&name, &after)?);
            let mut ids = BTreeSet::new();
            for side in [&before, &after] {
                for change in side.changes(since) {
                    ids.insert(change?.id);
                }
            }
            for id in ids {
                let of = |side: &CollectionAt| Ok::<_, Error>(side.get(&id)?.map(Document::into_owned));
                let (before, after) = (of(&before)?, of(&after)?);
                if before.as_ref().map(|document| document.rev) != after.as_ref().map(|document| document.rev) {
                    found.push((name.clone(), DocumentDiff { id, before, after }));
                }
            }
        }
        Ok(found)
    }

    /// The main line and the branches of the store, without this one.
    pub(crate) fn other_lines(&self) -> Result<Vec<Store>> {
        let own = self.branch_id();
        let mut lines = Vec::new();
        if own != BranchId(0) {
            lines.push(self.main_line()?);
        }
        for branch in self.branches()?.into_iter().filter(|branch| branch.id != own) {
            lines.push(self.open_branch(&branch.name)?);
        }
        Ok(lines)
    }

    pub(crate) fn catalogue(&self) -> Branches {
        Branches::of(self.engine())
    }

    pub(crate) fn branch_id(&self) -> BranchId {
        self.engine().branch().map_or(BranchId(0), BranchEngine::id)
    }

    fn snapshot_all(&self) -> Result<Arc<dyn Snapshot>> {
        self.snapshot(At::Now)
    }

    pub(crate) fn collection_in(&self, name: &str, snapshot: &Arc<dyn Snapshot>) -> Result<CollectionAt> {
        let slot = self.slot(name);
        let entry = slot.entry(&**snapshot)?;
        let (name, snapshot) = (slot.shared_name.clone(), snapshot.clone());
        Ok(CollectionAt { name, snapshot, entry, in_transaction: false })
    }

    /// The commit of a tag of this branch, or of one that it came from.
    pub(crate) fn tagged(&self, name: TagName) -> Result<Seq> {
        let unknown = |why| Error::BadMoment { text: format!("tag:{}", name.as_str()), why };
        let tag = self.catalogue().tag_of(name.as_str())?.ok_or_else(|| unknown("there is no such tag"))?;
        let seen = line(self).iter().any(|(branch, through)| *branch == tag.branch && tag.seq <= *through);
        if seen { Ok(tag.seq) } else { Err(unknown("the tag is of another branch: read it there")) }
    }

    /// A moment before now.
    fn past(&self, at: At) -> Result<Option<Seq>> {
        match at {
            At::Now => Ok(None),
            // Zero would be read as the commit itself.
            at => Ok(Some(self.resolve(at)?).filter(|seq| *seq > Seq::ZERO)),
        }
    }

    /// Refuses a moment whose history has been given up in part.
    fn check_readable(&self, seq: Option<Seq>) -> Result<()> {
        let Some(seq) = seq else { return Ok(()) };
        let then = self.engine().snapshot_at(seq)?;
        for info in self.collections(At::Seq(seq))? {
            let Some(entry) = self.slot(&info.name).entry(&*then)? else { continue };
            readable(&*then, &entry)?;
        }
        Ok(())
    }
}

fn readable(then: &dyn Snapshot, entry: &CollectionEntry) -> Result<()> {
    for tree in entry.trees().chain([CATALOGUE]) {
        then.get(tree, b"")?;
    }
    Ok(())
}

/// A branch and those that it came from, each with its last commit that is seen on it.
pub(crate) fn line(store: &Store) -> Vec<(BranchId, Seq)> {
    let forks = store.engine().branch().map_or(&[][..], BranchEngine::forks);
    let mut through = Seq(u64::MAX);
    let mut line = Vec::new();
    for fork in forks {
        line.push((fork.branch, through));
        through = through.min(fork.at);
    }
    line.push((BranchId(0), through));
    line
}

/// The last commit that two branches of a store have in common.
pub(crate) fn common_moment(one: &Store, other: &Store) -> Result<Seq> {
    let root = |store: &Store| store.catalogue().root().clone();
    if !Arc::ptr_eq(&root(one), &root(other)) {
        let why = "the two are not of one opened store: open one as a branch of the other".to_owned();
        return Err(EngineError::Branch { name: other.branch_name().unwrap_or("main").to_owned(), why }.into());
    }
    let theirs = line(other);
    let common = line(one).into_iter().find_map(|(branch, through)| {
        let (_, also) = theirs.iter().find(|(their, _)| *their == branch)?;
        Some(through.min(*also))
    });
    Ok(common.unwrap_or(Seq::ZERO).min(one.engine().head()))
}
