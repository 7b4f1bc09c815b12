//! Branches and tags of a store: making, listing, opening, renaming and dropping them, and what differs between two.
//! The engine below keeps the rows; docs/branches.md has the design.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::{
    Batch, BranchEngine, BranchId, BranchInfo, Branches, Engine, EngineError, KeyRange, Merge, Seq, Snapshot, TagInfo,
};
use crate::faces::check::counted;
use crate::faces::diff::DocumentDiff;
use crate::faces::store::Store;
use crate::faces::views::forget_views_in;
use crate::kernel::overlay::Overlay;
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry, ERASURES_PREFIX, counts_key};
use crate::kernel::rows::erasure::Erasure;
use crate::kernel::rows::side;
use crate::kernel::rows::word_rows::COUNTERS_KEY;
use recension_values::at::{At, TagName};
use recension_values::error::{Error, Result};
use recension_values::model::Document;

/// The main line, where branches are named.
pub(crate) const MAIN: &str = "main";

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
    /// [`EngineError::BadBranch`] for a name that is none; [`EngineError::Branch`] for one that is taken;
    /// [`EngineError::Forgotten`] if the moment cannot be read any more.
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

    /// Removes a tag; returns whether there was one.
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
    /// If documents were erased since the moment, the collections that they were in are counted anew, which takes time
    /// in proportion to them.
    ///
    /// # Errors
    /// As [`Store::tag`]; beyond 4,096 branches, or 8 of each other; and while documents are being erased, but for a
    /// branch of the main line as it is now.
    pub fn branch(&self, name: &str, at: At) -> Result<Store> {
        let seq = self.past(at)?;
        let first = |now: &dyn Snapshot, branch, batch: &mut Batch| self.first_rows((name, seq), now, branch, batch);
        self.catalogue().create(name, self.branch_id(), seq, first)?;
        self.check_readable(seq).inspect_err(|_| drop(self.catalogue().drop(name)))?;
        self.open_branch(name)
    }

    /// Opens a branch of the store; `main` is the main line.
    ///
    /// # Errors
    /// [`EngineError::NoSuchBranch`].
    pub fn open_branch(&self, name: &str) -> Result<Store> {
        if name == MAIN {
            return self.main_line();
        }
        let branch = self.catalogue().open(name)?;
        self.same_guard(branch)
    }

    /// Another line of the store, whose writes the same guard judges.
    fn same_guard(&self, branch: Arc<dyn Engine>) -> Result<Store> {
        let now = branch.snapshot()?;
        let branch = Store::opened(branch, self.clock().clone(), &*now, self.hub().clone())?;
        Ok(match self.slots().guard().get() {
            Some(guard) => branch.guarded(guard.clone()),
            None => branch,
        })
    }

    /// The main line of the store; the store itself if it is no branch.
    pub fn main_line(&self) -> Result<Store> {
        match self.engine().branch() {
            None => Ok(self.clone()),
            Some(branch) => self.same_guard(branch.root().clone()),
        }
    }

    /// All branches of the store, in the order in which they were made.
    pub fn branches(&self) -> Result<Vec<BranchInfo>> {
        Ok(self.catalogue().list()?)
    }

    /// The last merge of each branch into each other, with its commit.
    pub fn merges(&self) -> Result<Vec<(Merge, Seq)>> {
        Ok(self.catalogue().merges()?)
    }

    /// The name of the branch; `None` on the main line.
    pub fn branch_name(&self) -> Option<&str> {
        self.engine().branch().map(BranchEngine::name)
    }

    /// The name of a branch of the store now, by its number; `None` after it was dropped. Zero is the main line.
    pub fn name_of_branch(&self, id: BranchId) -> Result<Option<String>> {
        if id == BranchId(0) { Ok(Some(MAIN.to_owned())) } else { Ok(self.catalogue().name_of(id)?) }
    }

    /// Gives a branch another name.
    ///
    /// # Errors
    /// [`EngineError::NoSuchBranch`]; [`EngineError::BadBranch`] for a name that is none, and the main line;
    /// [`EngineError::Branch`] for a name that is taken.
    pub fn rename_branch(&self, name: &str, to: &str) -> Result<()> {
        Ok(self.catalogue().rename(name, to)?)
    }

    /// Drops a branch with everything that was written on it. Stores that have it open can use it no more.
    ///
    /// # Errors
    /// [`EngineError::NoSuchBranch`]; [`EngineError::BadBranch`] for the main line; [`EngineError::Branch`] if other
    /// branches, or tags, need it.
    pub fn drop_branch(&self, name: &str) -> Result<()> {
        Ok(self.catalogue().drop(name)?)
    }

    /// The documents that differ between this branch, which is before, and another one, each with its collection. They
    /// are found among those that were changed on either since they were one: the time grows with these. Collections
    /// that begin with `_` are the server's own (users, replications), and are neither compared nor merged.
    ///
    /// # Errors
    /// [`Error::Engine`] if the other is not of the same store.
    pub fn diff_with(&self, other: &Store) -> Result<impl Iterator<Item = Result<(String, DocumentDiff)>> + use<>> {
        self.diff_from(At::Now, other, At::Now)
    }

    /// The same between two moments, of two branches or of one.
    ///
    /// # Errors
    /// As [`Store::diff_with`].
    pub fn diff_from(
        &self,
        at: At,
        other: &Store,
        other_at: At,
    ) -> Result<impl Iterator<Item = Result<(String, DocumentDiff)>> + use<>> {
        let (before, after) = (self.snapshot(at)?, other.snapshot(other_at)?);
        let since = common_moment(self, other)?.min(before.seq()).min(after.seq());
        let mut names = BTreeSet::new();
        for (store, snapshot) in [(self, &before), (other, &after)] {
            let changed = store.collections_changed(since, At::Seq(snapshot.seq()))?;
            names.extend(changed.into_iter().map(|(name, _)| name.to_string()));
            // A collection that was dropped is not among them.
            let dropped = store.dropped_collections()?.into_iter().filter(|dropped| dropped.dropped.seq > since);
            names.extend(dropped.map(|dropped| dropped.name));
        }
        let mut asked = Vec::new();
        for name in names.into_iter().filter(|name| is_branched(name)) {
            let sides = (self.collection_in(&name, &before)?, other.collection_in(&name, &after)?);
            let ids = ids_that_may_differ(&sides.0, &sides.1, since)?;
            let sides = Arc::new(sides);
            asked.extend(ids.into_iter().map(|id| (sides.clone(), id)));
        }
        let differ = |(sides, id): (Arc<(CollectionAt, CollectionAt)>, String)| {
            let of = |side: &CollectionAt| Ok::<_, Error>(side.get(&id)?.map(Document::into_owned));
            let (before, after) = (of(&sides.0)?, of(&sides.1)?);
            let rev = |document: &Option<Document<'_>>| document.as_ref().map(|document| document.rev);
            let name = sides.0.name().to_owned();
            Ok(Some((name, DocumentDiff { id, before, after })).filter(|(_, d)| rev(&d.before) != rev(&d.after)))
        };
        Ok(asked.into_iter().filter_map(move |asked| differ(asked).transpose()))
    }

    /// The main line, for work that begins before it is opened, and in it.
    pub(crate) fn main_line_as_is(&self) -> Store {
        Store::without_builder(self.catalogue().root().clone(), self.clock().clone())
    }

    /// The branches of the store; as above.
    pub(crate) fn branches_as_is(&self) -> Result<Vec<Store>> {
        let opened = self.catalogue().open_all()?;
        Ok(opened.into_iter().map(|branch| Store::without_builder(branch, self.clock().clone())).collect())
    }

    pub(crate) fn catalogue(&self) -> Branches {
        Branches::of(self.engine())
    }

    pub(crate) fn branch_id(&self) -> BranchId {
        self.engine().branch().map_or(BranchId(0), BranchEngine::id)
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
        let tag = self
            .catalogue()
            .tag_of(name.as_str())?
            .ok_or_else(|| unknown("there is no such tag (`recension tag` lists them)"))?;
        let seen = line(self).iter().any(|(branch, through)| *branch == tag.branch && tag.seq <= *through);
        if seen { Ok(tag.seq) } else { Err(unknown("the tag is of another branch: read it there")) }
    }

    /// What is written with the making of a branch. Documents that were erased since its moment are not on it, but
    /// what was counted then counts them.
    fn first_rows(
        &self,
        (name, at): (&str, Option<Seq>),
        now: &dyn Snapshot,
        branch: BranchEngine,
        batch: &mut Batch,
    ) -> Result<Batch> {
        batch.depends_on_range(CATALOGUE, KeyRange::prefix(ERASURES_PREFIX), now.seq());
        let shows_erased = |erased: Seq| self.branch_id() != BranchId(0) || at.is_some_and(|at| at < erased);
        if Store::standing_erasure(now)?.is_some_and(shows_erased) {
            let why = "documents are being erased: make the branch when that is done, or of the main line as it is \
                       now; if erasing was interrupted, open the store again";
            return Err(EngineError::Branch { name: name.to_owned(), why: why.to_owned() }.into());
        }
        let Some(at) = at else { return Ok(Batch::new()) };
        let erased = Branches::erased_since(now, at)?;
        let line = Store::without_builder(Arc::new(branch), self.clock().clone());
        let view = Overlay::new(line.engine().snapshot_at(now.seq())?);
        if erased.is_empty() {
            return Ok(view.batch());
        }
        for info in line.collections(At::Now)? {
            let then = line.collection_in(&info.name, &line.snapshot(At::Now)?)?;
            let Some(entry) = then.entry.as_ref().filter(|entry| erased.contains(&entry.documents)) else { continue };
            if !line.has_key_of(entry) {
                continue;
            }
            let before = then.counts()?;
            let (found, tallies) = counted(&then)?;
            for (tree, tally) in tallies {
                view.put(tree, COUNTERS_KEY, counters_value(&tally));
            }
            let lost = (before.documents + before.deleted).saturating_sub(found.documents + found.deleted);
            let numbers = [found.documents, found.deleted, found.body_bytes, before.rewritten + lost];
            let numbers = numbers.map(u64::cast_signed);
            let counted = if entry.counts_rewritten { 4 } else { 3 };
            view.put(CATALOGUE, &counts_key(&info.name), counters_value(&numbers[..counted]));
            forget_views_in(&view, entry, &info.name)?;
            view.put_at_own_seq(entry.side, &[side::ERASED], &[], Erasure::encode(lost, self.now()));
        }
        Ok(view.batch())
    }

    /// A moment before now.
    fn past(&self, at: At) -> Result<Option<Seq>> {
        match at {
            At::Now => Ok(None),
            at => match self.resolve(at)? {
                // It stands for the commit that names the moment.
                Seq::ZERO => {
                    let why = "there was no commit by then, at which a tag or a branch can begin";
                    Err(Error::BadMoment { text: at.to_string(), why })
                }
                seq => Ok(Some(seq)),
            },
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

/// Whether a collection is compared and merged. Those of the server's own, which begin with `_`, are not: users, rights
/// and replications are the main line's.
pub(crate) fn is_branched(collection: &str) -> bool {
    !collection.starts_with('_')
}

/// Documents that were changed on either side; all, if a side was dropped and made again.
fn ids_that_may_differ(before: &CollectionAt, after: &CollectionAt, since: Seq) -> Result<BTreeSet<String>> {
    let trees = |side: &CollectionAt| side.entry.as_ref().map(|entry| entry.documents);
    let since = if trees(before) == trees(after) { since } else { Seq::ZERO };
    let mut ids = BTreeSet::new();
    for side in [before, after] {
        for change in side.changes(since) {
            ids.insert(change?.id);
        }
    }
    Ok(ids)
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
        return Err(EngineError::BadBranch { name: other.branch_name().unwrap_or(MAIN).to_owned(), why }.into());
    }
    let theirs = line(other);
    let common = line(one).into_iter().find_map(|(branch, through)| {
        let (_, also) = theirs.iter().find(|(their, _)| *their == branch)?;
        Some(through.min(*also))
    });
    Ok(common.unwrap_or(Seq::ZERO).min(one.engine().head()))
}

fn counters_value(numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}
