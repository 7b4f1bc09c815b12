//! The catalogue of a store's branches and tags: rows of one tree, which no branch has for itself. docs/branches.md has
//! their bytes. Making, renaming and dropping are single commits; the rows of a dropped branch are given up after that,
//! and by whoever opens the store next if a crash came between.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::kept::{KEPT_MAX, kept_key, kept_moments};
use super::{BranchEngine, Fork, KEPT};
use crate::branch_rows::{BRANCHED_TREE, BRANCHES_TREE, BranchId, own_tree};
use crate::{
    Batch, Direction, Engine, EngineError, KeyRange, Result, Retention, RetentionRule, Seq, Snapshot, TreeId, Value,
    Wanted,
};

const BRANCH: u8 = 0x01;
const TAG: u8 = 0x02;
const NEXT: u8 = 0x04;
const MERGE: u8 = 0x05;
const DROPPED: u8 = 0x06;
const ALIVE: u8 = 0x07;
const ERASED: u8 = 0x08;
const LAYOUT: u8 = 1;

/// Most branches of a store.
pub const BRANCHES_MAX: usize = 4096;
/// Most branches that are branches of each other.
pub const DEPTH_MAX: usize = 8;
/// A moment holds the name of its tag, and is passed by value.
const NAME_BYTES_MAX: usize = 31;
/// The main line, where branches are named.
const MAIN: &str = "main";
/// Names of branches that a refusal tells.
const NAMES_TOLD: usize = 8;
/// Where the name begins in the value of a branch's row: behind the layout, the parent and the fork.
const NAME_FROM: usize = 1 + 4 + 8;
/// Rows of a dropped branch that one commit deletes.
const PAGE_ROWS: usize = 8192;

/// A branch as the catalogue has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BranchInfo {
    /// Its number.
    pub id: BranchId,
    /// Its name.
    pub name: String,
    /// The branch that it came from; zero: the main line.
    pub parent: BranchId,
    /// The last commit of the parent that is seen on it.
    pub fork: Seq,
}

/// A tag: a name for a moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TagInfo {
    /// Its name.
    pub name: String,
    /// Of which branch; zero: of the main line.
    pub branch: BranchId,
    /// The moment.
    pub seq: Seq,
}

/// A merge that was made: everything of the one branch up to a commit is in the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Merge {
    /// The branch that was merged.
    pub from: BranchId,
    /// The one that it was merged into.
    pub into: BranchId,
    /// The last commit of `from` that was.
    pub through: Seq,
    /// What `into` was before.
    pub before: Seq,
}

/// The branches and tags of a store.
pub struct Branches {
    root: Arc<dyn Engine>,
}

impl Branches {
    /// Those of the store of an engine, which may be a branch of it.
    pub fn of(engine: &Arc<dyn Engine>) -> Self {
        Branches { root: engine.branch().map_or(engine, BranchEngine::root).clone() }
    }

    /// The engine of the whole store.
    pub fn root(&self) -> &Arc<dyn Engine> {
        &self.root
    }

    /// All branches, in the order of their numbers.
    pub fn list(&self) -> Result<Vec<BranchInfo>> {
        branches_in(&*self.root.snapshot()?)
    }

    /// All tags, in the order of their names.
    pub fn tags(&self) -> Result<Vec<TagInfo>> {
        tags_in(&*self.root.snapshot()?)
    }

    /// A tag.
    pub fn tag_of(&self, name: &str) -> Result<Option<TagInfo>> {
        let now = self.root.snapshot()?;
        now.get(BRANCHES_TREE, &key(TAG, name.as_bytes()))?.map(|value| tag(name, &value)).transpose()
    }

    /// A branch by its name.
    ///
    /// # Errors
    /// [`EngineError::NoSuchBranch`].
    pub fn find(&self, name: &str) -> Result<BranchInfo> {
        named(&self.list()?, name).cloned()
    }

    /// The name that a branch has now; `None` after it was dropped. It costs one get, however many branches there are.
    pub fn name_of(&self, id: BranchId) -> Result<Option<String>> {
        let row = key(BRANCH, &id.0.to_be_bytes());
        let Some(value) = self.root.snapshot()?.get(BRANCHES_TREE, &row)?.map(|value| value.bytes.to_vec()) else {
            return Ok(None);
        };
        let name = value.get(NAME_FROM..).ok_or_else(|| damaged("a branch"))?;
        Ok(Some(String::from_utf8_lossy(name).into_owned()))
    }

    /// Opens a branch.
    ///
    /// # Errors
    /// As [`Branches::find`].
    pub fn open(&self, name: &str) -> Result<Arc<dyn Engine>> {
        let now = self.root.snapshot()?;
        let known = branches_in(&*now)?;
        self.open_in(&*now, &known, named(&known, name)?)
    }

    /// Opens all branches, in the order of their numbers.
    pub fn open_all(&self) -> Result<Vec<Arc<dyn Engine>>> {
        let now = self.root.snapshot()?;
        let known = branches_in(&*now)?;
        known.iter().map(|info| self.open_in(&*now, &known, info)).collect()
    }

    fn open_in(&self, now: &dyn Snapshot, known: &[BranchInfo], info: &BranchInfo) -> Result<Arc<dyn Engine>> {
        let alive = key(ALIVE, &info.id.0.to_be_bytes());
        let made = now.version(BRANCHES_TREE, &alive)?.ok_or_else(|| no_branch(known, &info.name))?;
        let engine = BranchEngine::new(self.root.clone(), forks(known, info.id));
        Ok(Arc::new(BranchEngine { alive: Some((info.name.clone(), alive, made)), ..engine }))
    }

    /// Makes a branch of `parent` (zero: of the main line) at a moment; `None`: now. It is one small commit.
    ///
    /// `first` sees the store as it is, and the branch as it will be. It answers what the same commit writes on the
    /// branch, may refuse it, and may add to the commit's reads.
    ///
    /// # Errors
    /// [`EngineError::BadBranch`] for a name that is none; [`EngineError::Branch`] for one that is taken, and beyond
    /// the limits.
    pub fn create<E: From<EngineError>>(
        &self,
        name: &str,
        parent: BranchId,
        at: Option<Seq>,
        first: impl Fn(&dyn Snapshot, BranchEngine, &mut Batch) -> std::result::Result<Batch, E>,
    ) -> std::result::Result<BranchInfo, E> {
        check_name(name)?;
        let (id, commit) = self.change(at, |now, batch| -> std::result::Result<BranchId, E> {
            let known = branches_in(now)?;
            if known.iter().any(|branch| branch.name == name) {
                return Err(refused(name, "there is a branch of this name").into());
            }
            if known.len() >= BRANCHES_MAX {
                return Err(refused(name, "there are 4,096 branches: drop those that are not needed").into());
            }
            check_line(&known, name, parent, at)?;
            let mut forks = forks(&known, parent);
            if forks.len() >= DEPTH_MAX {
                let why = "a branch of a branch and so on is at most 8 deep: merge some, or copy the documents";
                return Err(refused(name, why).into());
            }
            let next = now.get(BRANCHES_TREE, &[NEXT])?.map_or(Some(1), |value| u32_of(&value));
            let id = next.ok_or_else(|| damaged("the number of the next branch"))?;
            batch.put(BRANCHES_TREE, &[NEXT], &(id + 1).to_be_bytes());
            batch.put(BRANCHES_TREE, &key(ALIVE, &id.to_be_bytes()), &[]);
            batch.put(BRANCHES_TREE, &key(BRANCH, &id.to_be_bytes()), &branch_value(parent, at, name));
            keep(batch, at, &[&b"b"[..], &id.to_be_bytes()].concat());
            forks.insert(0, Fork { branch: BranchId(id), at: at.unwrap_or(now.seq()) });
            let new = || BranchEngine::new(self.root.clone(), forks.clone());
            let rows = first(now, new(), batch)?;
            new().add_own(&rows, batch, &mut Vec::new())?;
            Ok(BranchId(id))
        })?;
        Ok(BranchInfo { id, name: name.to_owned(), parent, fork: at.unwrap_or(commit) })
    }

    /// Gives a branch another name.
    ///
    /// # Errors
    /// [`EngineError::NoSuchBranch`]; [`EngineError::BadBranch`] for a name that is none, and the main line;
    /// [`EngineError::Branch`] for a name that is taken.
    pub fn rename(&self, name: &str, to: &str) -> Result<()> {
        check_is_branch(name)?;
        check_name(to)?;
        let renamed = self.change(None, |now, batch| {
            let known = branches_in(now)?;
            if known.iter().any(|branch| branch.name == to) {
                return Err(refused(to, "there is a branch of this name"));
            }
            let info = named(&known, name)?;
            let value = branch_value(info.parent, Some(info.fork), to);
            batch.put(BRANCHES_TREE, &key(BRANCH, &info.id.0.to_be_bytes()), &value);
            Ok(())
        });
        renamed.map(|_| ())
    }

    /// Drops a branch. From then on nobody reads or writes it; its rows are given up.
    ///
    /// # Errors
    /// [`EngineError::NoSuchBranch`]; [`EngineError::BadBranch`] for the main line; [`EngineError::Branch`] if other
    /// branches or tags need it.
    pub fn drop(&self, name: &str) -> Result<()> {
        check_is_branch(name)?;
        self.change(None, |now, batch| {
            let known = branches_in(now)?;
            let info = named(&known, name)?;
            let children = known.iter().filter(|branch| branch.parent == info.id).map(|branch| &branch.name);
            let tags =
                tags_in(now)?.into_iter().filter(|tag| tag.branch == info.id).map(|tag| format!("tag {}", tag.name));
            let needed: Vec<_> = children.cloned().chain(tags).collect();
            if !needed.is_empty() {
                return Err(refused(name, &format!("it is needed by {}: drop that first", needed.join(", "))));
            }
            let id = info.id.0.to_be_bytes();
            batch.delete(BRANCHES_TREE, &key(ALIVE, &id));
            batch.delete(BRANCHES_TREE, &key(BRANCH, &id));
            batch.delete(BRANCHES_TREE, &kept_key(info.fork, &[&b"b"[..], &id].concat()));
            for row in now.range(BRANCHES_TREE, &KeyRange::prefix([MERGE]), Direction::Forward) {
                let key = row?.key.into_owned();
                if key.get(1..5) == Some(&id) || key.get(5..9) == Some(&id) {
                    batch.delete(BRANCHES_TREE, &key);
                }
            }
            batch.put(BRANCHES_TREE, &key(DROPPED, &id), name.as_bytes());
            Ok(())
        })?;
        self.give_back()
    }

    /// Names a moment of a branch (zero: of the main line); `None`: now. From then on it stays readable.
    ///
    /// # Errors
    /// As [`Branches::create`].
    pub fn tag(&self, name: &str, branch: BranchId, at: Option<Seq>) -> Result<TagInfo> {
        check_name(name)?;
        let ((), commit) = self.change(at, |now, batch| {
            if now.get(BRANCHES_TREE, &key(TAG, name.as_bytes()))?.is_some() {
                return Err(refused(name, "there is a tag of this name"));
            }
            let known = branches_in(now)?;
            check_line(&known, name, branch, at)?;
            let value = [&[LAYOUT][..], &branch.0.to_be_bytes(), &at.unwrap_or_default().0.to_be_bytes()].concat();
            batch.put(BRANCHES_TREE, &key(TAG, name.as_bytes()), &value);
            keep(batch, at, &[b"t", name.as_bytes()].concat());
            Ok(())
        })?;
        Ok(TagInfo { name: name.to_owned(), branch, seq: at.unwrap_or(commit) })
    }

    /// Removes a tag; returns whether there was one.
    pub fn untag(&self, name: &str) -> Result<bool> {
        let removed = self.change(None, |now, batch| {
            let tag_key = key(TAG, name.as_bytes());
            let Some(value) = now.get(BRANCHES_TREE, &tag_key)? else { return Ok(false) };
            batch.delete(BRANCHES_TREE, &kept_key(tag(name, &value)?.seq, &[b"t", name.as_bytes()].concat()));
            batch.delete(BRANCHES_TREE, &tag_key);
            Ok(true)
        })?;
        Ok(removed.0)
    }

    /// The last merge of one branch into another.
    pub fn last_merge(&self, from: BranchId, into: BranchId) -> Result<Option<Merge>> {
        let value = self.root.snapshot()?.get(BRANCHES_TREE, &merge_key(from, into))?.map(|v| v.bytes.to_vec());
        value.map(|value| merge((from, into), &value)).transpose()
    }

    /// The last merge of each branch into each other, with its commit.
    pub fn merges(&self) -> Result<Vec<(Merge, Seq)>> {
        let now = self.root.snapshot()?;
        let mut merges = Vec::new();
        for row in now.range(BRANCHES_TREE, &KeyRange::prefix([MERGE]), Direction::Forward) {
            let row = row?;
            let sides = row.key.strip_prefix(&[MERGE]).and_then(|rest| rest.as_chunks::<4>().0.first_chunk::<2>());
            let [from, into] = sides.ok_or_else(|| damaged("a merge"))?;
            let sides = (BranchId(u32::from_be_bytes(*from)), BranchId(u32::from_be_bytes(*into)));
            merges.push((merge(sides, &row.value.bytes)?, row.value.seq));
        }
        Ok(merges)
    }

    /// Remembers a merge, with the commit of a batch.
    pub fn remember_merge(merge: Merge, batch: &mut Batch) {
        let value = [&[LAYOUT][..], &merge.through.0.to_be_bytes(), &merge.before.0.to_be_bytes()].concat();
        batch.put(BRANCHES_TREE, &merge_key(merge.from, merge.into), &value);
    }

    /// Commits a change of the catalogue, and decides again if another one came between.
    fn change<T, E: From<EngineError>>(
        &self,
        at: Option<Seq>,
        decide: impl Fn(&dyn Snapshot, &mut Batch) -> std::result::Result<T, E>,
    ) -> std::result::Result<(T, Seq), E> {
        loop {
            let now = self.root.snapshot()?;
            if let Some(asked) = at.filter(|at| *at > now.seq()) {
                return Err(EngineError::NotYet { asked, head: now.seq() }.into());
            }
            let mut batch = Batch::new();
            let decided = decide(&*now, &mut batch)?;
            if batch.keeps_moments() && kept_moments(&*now)?.len() >= KEPT_MAX {
                return Err(refused("", "there are 8,192 tags and branches: drop those that are not needed").into());
            }
            for kind in [BRANCH, TAG, NEXT, ERASED] {
                batch.depends_on_range(BRANCHES_TREE, KeyRange::prefix([kind]), now.seq());
            }
            match self.root.commit(batch) {
                Ok(commit) => return Ok((decided, commit.seq)),
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The row that says when rows of a tree were erased the last time: by its own commit.
    pub fn erased_key(tree: TreeId) -> Vec<u8> {
        key(ERASED, &tree.0.to_be_bytes())
    }

    /// The trees of which rows were erased after a commit.
    pub fn erased_since(now: &dyn Snapshot, seq: Seq) -> Result<BTreeSet<TreeId>> {
        let mut trees = BTreeSet::new();
        for row in now.range(BRANCHES_TREE, &KeyRange::prefix([ERASED]), Direction::Forward) {
            let row = row?;
            let tree = row.key.get(1..).and_then(u32_of).ok_or_else(|| damaged("erased rows"))?;
            trees.extend((row.value.seq > seq).then_some(TreeId(tree)));
        }
        Ok(trees)
    }

    /// Gives up the rows of dropped branches. Whoever opens the store calls this too, for what a crash has left.
    pub fn give_back(&self) -> Result<()> {
        let now = self.root.snapshot()?;
        for row in now.range(BRANCHES_TREE, &KeyRange::prefix([DROPPED]), Direction::Forward) {
            let row = row?;
            let id = row.key.get(1..).and_then(u32_of).ok_or_else(|| damaged("a dropped branch"))?;
            let keys = self.root.tree_keys().map(crate::TreeKeys::list).unwrap_or_default();
            let trees = [BRANCHED_TREE].into_iter().chain(keys.iter().map(|key| own_tree(key.number.tree(0))));
            for tree in trees {
                self.give_back_rows(BranchId(id), tree)?;
            }
            let mut batch = Batch::new();
            batch.delete(BRANCHES_TREE, &row.key);
            self.root.commit(batch)?;
        }
        Ok(())
    }

    fn give_back_rows(&self, id: BranchId, tree: TreeId) -> Result<()> {
        let own = KeyRange::prefix(id.0.to_be_bytes());
        loop {
            let now = self.root.snapshot()?;
            let wanted = Wanted { rows: Some(PAGE_ROWS), values: false };
            let mut batch = Batch::new();
            for row in now.range_of(tree, &own, Direction::Forward, wanted).take(PAGE_ROWS) {
                match row {
                    Ok(row) => batch.delete(tree, &row.key),
                    // The key of the collection was destroyed.
                    Err(EngineError::Key { .. }) => break,
                    Err(error) => return Err(error),
                };
            }
            if batch.is_empty() {
                break;
            }
            self.root.commit(batch)?;
        }
        let rules = self.root.retention()?.into_iter().filter(|rule| rule.tree == tree && own.covers(&rule.range));
        let none = |rule: RetentionRule| RetentionRule { retention: Retention::Everything, ..rule };
        let rules: Vec<_> = rules.map(none).collect();
        if !rules.is_empty() {
            self.root.set_retention(&rules)?;
        }
        // What is left of their past too, if somebody was interrupted here.
        if self.root.snapshot()?.keys(tree, &own).next().transpose()?.is_none() {
            return Ok(());
        }
        // With the dropped ones beside it, so that the ranges do not add up.
        let there: Vec<u32> = self.list()?.iter().map(|branch| branch.id.0).collect();
        let after = there.iter().copied().filter(|there| *there < id.0).max().unwrap_or(0) + 1;
        let before = there.iter().copied().find(|there| *there > id.0).unwrap_or(id.0 + 1);
        let range = KeyRange::between(after.to_be_bytes(), before.to_be_bytes());
        match self.root.forget(tree, &range, self.root.head()) {
            Err(EngineError::Unsupported { .. }) => Ok(()),
            done => done,
        }
    }
}

/// The branch, its parent and so on.
fn forks(known: &[BranchInfo], mut id: BranchId) -> Vec<Fork> {
    let mut forks = Vec::new();
    while let Some(branch) = known.iter().find(|branch| branch.id == id) {
        forks.push(Fork { branch: branch.id, at: branch.fork });
        // A parent is older than its branches.
        id = if branch.parent < id { branch.parent } else { BranchId(0) };
    }
    forks
}

/// Refuses a moment that a branch did not have.
fn check_line(known: &[BranchInfo], name: &str, branch: BranchId, at: Option<Seq>) -> Result<()> {
    let Some(info) = known.iter().find(|info| info.id == branch) else {
        let is_main = branch == BranchId(0);
        return if is_main { Ok(()) } else { Err(refused(name, "the branch that it is to be of was dropped")) };
    };
    match at.filter(|at| *at < info.fork) {
        None => Ok(()),
        Some(at) => {
            let why = format!("at seq {at} the branch {} did not exist: name its parent", info.name);
            Err(bad(name, &why))
        }
    }
}

fn branches_in(now: &dyn Snapshot) -> Result<Vec<BranchInfo>> {
    let mut branches = Vec::new();
    for row in now.range(BRANCHES_TREE, &KeyRange::prefix([BRANCH]), Direction::Forward) {
        let row = row?;
        let read = || {
            let id = BranchId(u32_of(row.key.get(1..)?)?);
            let (parent, rest) = row.value.strip_prefix(&[LAYOUT])?.split_first_chunk()?;
            let (fork, name) = rest.split_first_chunk()?;
            let fork = moment(u64::from_be_bytes(*fork), row.value.seq);
            let (name, parent) = (std::str::from_utf8(name).ok()?.to_owned(), BranchId(u32::from_be_bytes(*parent)));
            Some(BranchInfo { id, name, parent, fork })
        };
        branches.push(read().ok_or_else(|| damaged("a branch"))?);
    }
    Ok(branches)
}

fn tags_in(now: &dyn Snapshot) -> Result<Vec<TagInfo>> {
    let mut tags = Vec::new();
    for row in now.range(BRANCHES_TREE, &KeyRange::prefix([TAG]), Direction::Forward) {
        let row = row?;
        tags.push(tag(&String::from_utf8_lossy(row.key.get(1..).unwrap_or_default()), &row.value)?);
    }
    Ok(tags)
}

fn tag(name: &str, value: &Value<'_>) -> Result<TagInfo> {
    let read = || {
        let (branch, seq) = value.strip_prefix(&[LAYOUT])?.split_first_chunk()?;
        let seq = moment(u64::from_be_bytes(seq.try_into().ok()?), value.seq);
        Some(TagInfo { name: name.to_owned(), branch: BranchId(u32::from_be_bytes(*branch)), seq })
    };
    read().ok_or_else(|| damaged("a tag"))
}

/// A stored moment; zero: the commit that wrote the row.
fn moment(stored: u64, written: Seq) -> Seq {
    if stored == 0 { written } else { Seq(stored) }
}

/// Keeps a moment, or that of the commit itself.
fn keep(batch: &mut Batch, at: Option<Seq>, whom: &[u8]) {
    match at {
        Some(at) => batch.put(BRANCHES_TREE, &kept_key(at, whom), &[]),
        None => batch.put_at_own_seq(BRANCHES_TREE, &[KEPT], whom, &[]),
    };
}

fn branch_value(parent: BranchId, at: Option<Seq>, name: &str) -> Vec<u8> {
    let fork = at.unwrap_or_default().0.to_be_bytes();
    [&[LAYOUT][..], &parent.0.to_be_bytes(), &fork, name.as_bytes()].concat()
}

fn key(kind: u8, rest: &[u8]) -> Vec<u8> {
    [&[kind], rest].concat()
}

fn merge((from, into): (BranchId, BranchId), value: &[u8]) -> Result<Merge> {
    let seqs = value.strip_prefix(&[LAYOUT]).and_then(|rest| rest.as_chunks::<8>().0.first_chunk::<2>());
    let [through, before] = seqs.ok_or_else(|| damaged("a merge"))?;
    let seq = |bytes: &[u8; 8]| Seq(u64::from_be_bytes(*bytes));
    Ok(Merge { from, into, through: seq(through), before: seq(before) })
}

fn merge_key(from: BranchId, into: BranchId) -> Vec<u8> {
    [&[MERGE][..], &from.0.to_be_bytes(), &into.0.to_be_bytes()].concat()
}

fn u32_of(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
}

fn refused(name: &str, why: &str) -> EngineError {
    EngineError::Branch { name: shortened(name), why: why.to_owned() }
}

fn bad(name: &str, why: &str) -> EngineError {
    EngineError::BadBranch { name: shortened(name), why: why.to_owned() }
}

fn shortened(name: &str) -> String {
    name.chars().take(NAME_BYTES_MAX).collect()
}

/// The branch of a name.
fn named<'k>(known: &'k [BranchInfo], name: &str) -> Result<&'k BranchInfo> {
    known.iter().find(|branch| branch.name == name).ok_or_else(|| no_branch(known, name))
}

fn no_branch(known: &[BranchInfo], name: &str) -> EngineError {
    let mut told: Vec<_> = known.iter().take(NAMES_TOLD).map(|branch| branch.name.clone()).collect();
    if known.len() > NAMES_TOLD {
        told.push(format!("and {} others", known.len() - NAMES_TOLD));
    }
    EngineError::NoSuchBranch { name: shortened(name), known: told }
}

fn damaged(what: &str) -> EngineError {
    EngineError::damaged("the catalogue of branches", 0, format!("the row of {what} does not read"))
}

/// Refuses what is no name of a branch or tag: it must fit into addresses and paths as it is.
fn check_name(name: &str) -> Result<()> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let why = if name.is_empty() || name.len() > NAME_BYTES_MAX {
        "a name has 1 to 31 bytes"
    } else if !name.bytes().all(fits) || !name.as_bytes()[0].is_ascii_alphanumeric() {
        "a name has letters (a to z), digits, '.', '_' and '-', and begins with a letter or digit"
    } else if name == MAIN || name == "now" {
        "this name has a meaning"
    } else {
        return Ok(());
    };
    Err(bad(name, why))
}

/// The main line has no row that could be changed.
fn check_is_branch(name: &str) -> Result<()> {
    if name == MAIN { Err(bad(name, "the main line is neither renamed nor dropped")) } else { Ok(()) }
}
