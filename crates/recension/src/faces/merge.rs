//! Merging one branch into another: its revisions become revisions there, as a replication would make them, and where
//! both changed a document the two are merged member by member. What both changed differently is told, and left as
//! CouchDB leaves conflicts, unless the caller says which side wins.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::engine::{BRANCHES_TREE, Batch, Branches, CommitInfo, Merge, Seq, Snapshot};
use crate::faces::branches::common_moment;
use crate::faces::store::Store;
use crate::faces::transaction::{Transaction, TransactionCollection};
use crate::kernel::read::reader::CollectionAt;
use recension_values::at::At;
use recension_values::attachment::wanted::Wanted;
use recension_values::error::{Error, Result};
use recension_values::json::{MergeConflict, MergeRules, Pointer, Preferred, merge_three};
use recension_values::model::Revision;
use recension_values::replicated::ReplicatedWrite;
use recension_values::revid::RevId;
use recension_values::write::{Expect, Write};

/// Documents that one commit merges.
const DOCUMENTS_AT_ONCE: usize = 10_000;

/// What happens where both branches changed the same differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Conflicts {
    /// The document gets both leaves, as a replication would leave it, and the places are told.
    #[default]
    Fields,
    /// The branch that is merged into wins.
    Ours,
    /// The branch that is merged wins.
    Theirs,
    /// Nothing is written.
    Abort,
}

/// Options of [`Store::merge_from`].
#[derive(Clone, Debug, Default)]
pub struct MergeOptions {
    /// What happens to conflicts.
    pub conflicts: Conflicts,
    /// Whether everything is told and nothing written.
    pub dry_run: bool,
    /// How elements of arrays are recognised, and which numbers count. Which side wins follows from `conflicts`.
    pub rules: MergeRules,
}

/// A document in which both changed something differently.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConflictedMerge {
    /// Its collection.
    pub collection: String,
    /// Its id.
    pub id: String,
    /// The places.
    pub places: Vec<MergeConflict>,
}

/// The result of a merge.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Merged {
    /// The commit; the last one if there were several. None: nothing was to be merged, or written.
    pub commit: Option<CommitInfo>,
    /// Documents that were taken as they are on the branch.
    pub taken: u64,
    /// Documents that both had changed, and that were merged by member.
    pub combined: u64,
    /// Documents that both changed differently.
    pub conflicts: Vec<ConflictedMerge>,
}

/// What is to become of a document.
enum Outcome {
    /// It is there already.
    Known,
    /// Its revisions are taken.
    Taken(Vec<ReplicatedWrite>),
    /// The same, and the winner of both is this. Places that were in conflict.
    Combined(Vec<ReplicatedWrite>, Combined, Vec<MergeConflict>),
    /// The same, and both leaves stay.
    Conflicted(Vec<ReplicatedWrite>, Vec<MergeConflict>),
}

struct Combined {
    ours: RevId,
    theirs: RevId,
    /// `None`: it is deleted.
    body: Option<String>,
}

impl Store {
    /// Merges another branch of the store into this one. Documents that were changed there since the last merge, or
    /// since the two were one, are looked at; what was not changed here is taken, and what both changed is merged by
    /// member.
    ///
    /// It is one commit for up to 10,000 documents. A larger merge is made in pieces; one that was broken off is made
    /// again from its beginning, which changes nothing where it had come.
    ///
    /// ```
    /// # fn main() -> recension::Result<()> {
    /// use recension::{At, MergeOptions};
    /// let store = recension::open("memory:")?;
    /// let menu = store.collection("menu")?;
    /// menu.put("pizza", r#"{"price":9,"name":"Pizza"}"#)?;
    /// let idea = store.branch("idea", At::Now)?;
    /// idea.collection("menu")?.put("pizza", r#"{"price":12,"name":"Pizza"}"#)?;
    /// menu.put("pizza", r#"{"price":9,"name":"Pizza Hawaii"}"#)?;
    /// let merged = store.merge_from(&idea, &MergeOptions::default())?;
    /// assert_eq!((merged.combined, merged.conflicts.len()), (1, 0));
    /// assert_eq!(menu.get("pizza")?.unwrap().body, r#"{"price":12,"name":"Pizza Hawaii"}"#);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Where the merge would break a unique index, a validation function or a schema: nothing was written, in that
    /// piece.
    pub fn merge_from(&self, from: &Store, options: &MergeOptions) -> Result<Merged> {
        let catalogue = self.catalogue();
        let (branch, into) = (from.branch_id(), self.branch_id());
        let common = common_moment(self, from)?;
        let since = catalogue.last_merge(branch, into)?.map_or(common, |last| last.through.max(common));
        let source = from.snapshot(At::Now)?;
        let (through, before) = (source.seq(), self.engine().head());
        let mut asked: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, _) in from.collections_changed(since, At::Seq(through))? {
            let changes = from.collection_in(&name, &source)?.changes(since);
            let ids = changes.map(|change| change.map(|change| change.id)).collect::<Result<Vec<_>>>()?;
            asked.insert(name.to_string(), ids);
        }
        let plan = Plan { into: self, from, source: &source, common, options };
        let look_first = options.dry_run || options.conflicts == Conflicts::Abort;
        if look_first {
            let looked = self.begin()?;
            let mut told = Merged::default();
            for (name, ids) in &asked {
                plan.merge(&looked, (name, ids), false, &mut told)?;
            }
            if options.dry_run || !told.conflicts.is_empty() {
                return Ok(told);
            }
        }
        plan.take_indexes(asked.keys())?;
        let mut merged = Merged::default();
        let pieces: Vec<_> = asked
            .iter()
            .flat_map(|(name, ids)| ids.chunks(DOCUMENTS_AT_ONCE).map(move |ids| (name.as_str(), ids)))
            .collect();
        let whole = asked.values().map(Vec::len).sum::<usize>() <= DOCUMENTS_AT_ONCE;
        let groups: Vec<&[(&str, &[String])]> = if whole { vec![&pieces[..]] } else { pieces.chunks(1).collect() };
        let last = groups.len().saturating_sub(1);
        for (number, pieces) in groups.into_iter().enumerate().filter(|(_, pieces)| !pieces.is_empty()) {
            let (told, commit) = self.transaction_with(None, |tx| {
                let mut told = Merged::default();
                for (name, ids) in pieces {
                    plan.merge(tx, (name, ids), true, &mut told)?;
                }
                if number == last {
                    remember(tx, Merge { from: branch, into, through, before });
                }
                Ok(told)
            })?;
            merged.commit = Some(commit);
            merged.taken += told.taken;
            merged.combined += told.combined;
            merged.conflicts.extend(told.conflicts);
        }
        Ok(merged)
    }
}

/// With the transaction's commit the merge is remembered.
fn remember(tx: &Transaction, merge: Merge) {
    let mut batch = Batch::new();
    Branches::remember_merge(merge, &mut batch);
    for row in batch.rows() {
        if let Some(value) = row.value {
            tx.view().put(BRANCHES_TREE, row.key, value.to_vec());
        }
    }
}

struct Plan<'p> {
    into: &'p Store,
    from: &'p Store,
    source: &'p Arc<dyn Snapshot>,
    /// The last commit that both have in common.
    common: Seq,
    options: &'p MergeOptions,
}

impl Plan<'_> {
    /// Merges documents of a collection, or only tells what would be.
    fn merge(&self, tx: &Transaction, (name, ids): (&str, &[String]), write: bool, told: &mut Merged) -> Result<()> {
        let theirs = self.from.collection_in(name, self.source)?;
        let target = tx.collection(name)?;
        let ours = target.reader()?;
        for id in ids {
            match self.outcome(&theirs, &ours, id, write)? {
                Outcome::Known => {}
                Outcome::Taken(writes) => {
                    told.taken += 1;
                    take(&target, &writes, write)?;
                }
                Outcome::Conflicted(writes, places) => {
                    told.conflicts.push(ConflictedMerge { collection: name.to_owned(), id: id.clone(), places });
                    take(&target, &writes, write)?;
                }
                Outcome::Combined(writes, combined, places) => {
                    told.combined += 1;
                    if !places.is_empty() {
                        told.conflicts.push(ConflictedMerge { collection: name.to_owned(), id: id.clone(), places });
                    }
                    take(&target, &writes, write)?;
                    if write {
                        combine(&target, id, combined)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn outcome(&self, theirs: &CollectionAt, ours: &CollectionAt, id: &str, write: bool) -> Result<Outcome> {
        let leaves = theirs.leaves(id)?;
        let revs: Vec<RevId> = leaves.iter().map(|leaf| leaf.rev).collect();
        let missing: HashSet<RevId> = match ours.revs_diff([(id, &revs[..])])?.pop() {
            Some(diff) => diff.missing.into_iter().collect(),
            None => return Ok(Outcome::Known),
        };
        let mut writes = Vec::new();
        for (number, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| missing.contains(&leaf.rev)) {
            let Some(revision) = theirs.leaf_revision(id, leaf, number == 0)? else { continue };
            let path = theirs.ancestry(id, &leaf.rev)?.unwrap_or_else(|| vec![leaf.rev]);
            if write {
                writes.push(self.write_of(theirs, id, path, revision)?);
            }
        }
        let (Some(their), Some(our)) = (leaves.first(), ours.leaves(id)?.into_iter().next()) else {
            return Ok(Outcome::Taken(writes));
        };
        let path = theirs.ancestry(id, &their.rev)?.unwrap_or_default();
        if !missing.contains(&their.rev) || path.contains(&our.rev) {
            return Ok(Outcome::Taken(writes));
        }
        let known: HashSet<RevId> = ours.ancestry(id, &our.rev)?.unwrap_or_default().into_iter().collect();
        let base = path.iter().find(|rev| known.contains(rev));
        let body = |revision: Option<Revision>| revision.filter(|found| !found.deleted).map(|found| found.body);
        let base = match base {
            Some(rev) => body(self.body_of(theirs, ours, id, rev)?),
            None => None,
        };
        let one = body(ours.leaf_revision(id, &our, true)?);
        let another = body(theirs.leaf_revision(id, their, true)?);
        let prefer = |body| Combined { ours: our.rev, theirs: their.rev, body };
        let (Some(one), Some(another)) = (&one, &another) else {
            // One deleted what the other changed; both deleted it in different ways.
            if one == another {
                return Ok(Outcome::Combined(writes, prefer(None), Vec::new()));
            }
            let place = MergeConflict { path: Pointer::root(), base, ours: one.clone(), theirs: another.clone() };
            return Ok(match self.options.conflicts {
                Conflicts::Fields | Conflicts::Abort => Outcome::Conflicted(writes, vec![place]),
                Conflicts::Ours => Outcome::Combined(writes, prefer(one), vec![place]),
                Conflicts::Theirs => Outcome::Combined(writes, prefer(another), vec![place]),
            });
        };
        let preferred = if self.options.conflicts == Conflicts::Theirs { Preferred::Theirs } else { Preferred::Ours };
        let rules = MergeRules { preferred, ..self.options.rules.clone() };
        // Without a common revision both began with nothing.
        let (text, places) = merge_three(base.as_deref().unwrap_or("{}"), one, another, &rules)?;
        let stays = matches!(self.options.conflicts, Conflicts::Fields | Conflicts::Abort) && !places.is_empty();
        if stays {
            return Ok(Outcome::Conflicted(writes, places));
        }
        Ok(Outcome::Combined(writes, prefer(Some(text)), places))
    }

    /// A revision that both come from: its body may be in the history of either, or at the fork.
    fn body_of(&self, theirs: &CollectionAt, ours: &CollectionAt, id: &str, rev: &RevId) -> Result<Option<Revision>> {
        if let Some(found) = theirs.revision(id, rev)? {
            return Ok(Some(found));
        }
        if let Some(found) = ours.revision(id, rev)? {
            return Ok(Some(found));
        }
        let then = self.from.engine().snapshot_at(self.common)?;
        self.from.collection_in(theirs.name(), &then)?.revision(id, rev)
    }

    fn write_of(
        &self,
        theirs: &CollectionAt,
        id: &str,
        path: Vec<RevId>,
        revision: Revision,
    ) -> Result<ReplicatedWrite> {
        let attachments = match &revision.attachments[..] {
            [] => Wanted::default(),
            // The other side may not have their bytes.
            attachments => self.into.collection(theirs.name())?.restored(theirs, attachments, true)?,
        };
        Ok(ReplicatedWrite { id: id.to_owned(), path, deleted: revision.deleted, body: revision.body, attachments })
    }

    /// Indexes and schemas that were made on the branch come along.
    fn take_indexes<'n>(&self, names: impl Iterator<Item = &'n String>) -> Result<()> {
        for name in names {
            let theirs = self.from.collection_in(name, self.source)?;
            let target = self.into.collection(name)?;
            let known = target.indexes()?;
            for index in theirs.indexes() {
                match known.iter().find(|known| known.spec.name == index.spec.name) {
                    None => target.create_index(index.spec, |_| ())?,
                    Some(known) if known.spec == index.spec => {}
                    Some(known) => {
                        let on: Vec<String> = known.spec.parts.iter().map(|part| part.path.to_string()).collect();
                        return Err(Error::IndexExists { index: index.spec.name, on: on.join(", ") });
                    }
                }
            }
        }
        Ok(())
    }
}

/// Takes revisions into a transaction.
fn take(target: &TransactionCollection<'_>, writes: &[ReplicatedWrite], write: bool) -> Result<()> {
    if write {
        for write in writes {
            target.merge_checked(write)?;
        }
    }
    Ok(())
}

/// Makes one leaf of two: a new revision of the winner, and the end of the other.
fn combine(target: &TransactionCollection<'_>, id: &str, combined: Combined) -> Result<()> {
    let Combined { ours, theirs, body } = combined;
    let reader = target.reader()?;
    let leaves = reader.leaves(id)?;
    let winner = leaves.first().map(|leaf| leaf.rev);
    let (keeps, ends) = if winner == Some(theirs) { (theirs, ours) } else { (ours, theirs) };
    if leaves.iter().any(|leaf| leaf.rev == ends && !leaf.deleted) {
        target.delete(id, &ends)?;
    }
    match body {
        Some(body) => {
            let same = reader.get(id)?.is_some_and(|document| document.rev == keeps && document.body == body);
            if !same {
                target.write(Write::put(id, &body)?.expecting(Expect::Revision(keeps)))?;
            }
        }
        None if leaves.iter().any(|leaf| leaf.rev == keeps && !leaf.deleted) => {
            target.delete(id, &keeps)?;
        }
        None => {}
    }
    Ok(())
}
