//! Merging one branch into another: its revisions become revisions there, as a replication would make them, and where
//! both changed a document the two are merged member by member. What both changed differently is told, and left as
//! CouchDB leaves conflicts, unless the caller says which side wins.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::sync::Arc;

use crate::engine::{BRANCHES_TREE, Batch, Branches, CommitInfo, EngineError, Merge, Seq, Snapshot};
use crate::faces::branches::{common_moment, is_branched};
use crate::faces::merge_shapes::{Shapes, shapes_to_take};
use crate::faces::store::Store;
use crate::faces::transaction::{Transaction, TransactionCollection};
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::write::attempt::{Attempt, retry};
use recension_values::at::At;
use recension_values::attachment::AttachmentInfo;
use recension_values::attachment::wanted::Wanted;
use recension_values::error::{Error, Result};
use recension_values::json::{self, MergeConflict, MergeRules, Pointer, Preferred, merge_three};
use recension_values::model::Revision;
use recension_values::replicated::ReplicatedWrite;
use recension_values::rev_hash::{HashableBody, revision_id};
use recension_values::revid::RevId;
use recension_values::revision_tree::Leaf;
use recension_values::write::{Expect, Write};

/// Documents that one commit merges.
const DOCUMENTS_AT_ONCE: usize = 10_000;
/// Bytes of bodies and attachments with which a commit is long enough: they are in memory, and a commit has a bound.
const BYTES_AT_ONCE: usize = 32 * 1024 * 1024;
/// Conflicts that are told, and bytes of the values in them.
const CONFLICTS_MAX: usize = 10_000;
const TOLD_BYTES_MAX: usize = 16 * 1024 * 1024;

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

/// A document in which both changed something differently; or a collection, of which both changed the schema or an
/// index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConflictedMerge {
    /// Its collection.
    pub collection: String,
    /// Its id; empty: the collection itself.
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
    /// What both changed differently: the first 10,000, and no more than have 16 MiB of values.
    pub conflicts: Vec<ConflictedMerge>,
    /// How many these are.
    pub conflicted: u64,
    /// Collections that were dropped there. They stay here: who wants that drops them.
    pub dropped: Vec<String>,
    /// Collections that were made.
    pub made: Vec<String>,
    /// Bytes of the values in `conflicts`.
    told_bytes: usize,
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
    attachments: Vec<AttachmentInfo>,
}

impl Store {
    /// Merges another branch of the store into this one. Documents that were changed there since the last merge, or
    /// since the two were one, are looked at; what was not changed here is taken, and what both changed is merged by
    /// member.
    ///
    /// It is one commit for up to 10,000 documents of 32 MiB. A larger merge is made in pieces; one that was broken off
    /// is made again from its beginning, which changes nothing where it had come.
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
    /// [`Error::InMerge`] where the merge would break a unique index, a validation function or a schema: nothing was
    /// written, unless others wrote meanwhile what breaks a later piece. A dry run fails where the merge would, but for
    /// unique indexes that are on the branch only, and for functions that look at attachments.
    pub fn merge_from(&self, from: &Store, options: &MergeOptions) -> Result<Merged> {
        let catalogue = self.catalogue();
        let (branch, into) = (from.branch_id(), self.branch_id());
        let common = common_moment(self, from)?;
        if branch == into {
            let (name, why) = (
                from.branch_name().unwrap_or("main").to_owned(),
                "a branch is not merged into itself: name another one",
            );
            return Err(EngineError::BadBranch { name, why: why.to_owned() }.into());
        }
        let since = catalogue.last_merge(branch, into)?.map_or(common, |last| last.through.max(common));
        let source = from.snapshot(At::Now)?;
        let (through, before) = (source.seq(), self.engine().head());
        let plan = Plan { into: self, from, source: &source, common, since, options };
        let (shapes, dropped) = shapes_to_take(self, from, &source, since, options.conflicts)?;
        let mut changed = plan.changed(&shapes)?;
        let mut ends_here = changed.fill()?;
        let first = Merged { dropped, ..Merged::default() };
        if changed.ids.is_empty() && shapes.is_empty() {
            return Ok(first);
        }
        let aborts = options.conflicts == Conflicts::Abort;
        let mut is_looked_at = options.dry_run || (aborts && shapes.has_indexes());
        if is_looked_at {
            let told = plan.look(&shapes, first.clone())?;
            if options.dry_run || told.conflicted > 0 {
                return Ok(told);
            }
        }
        let made = shapes.make_indexes(self, options.conflicts)?;
        let (mut merged, mut is_first) = (first, true);
        loop {
            let piece = retry(|| {
                let mut told = merged.clone();
                let tx = self.begin()?;
                let until = plan.piece(&tx, &changed.ids, Some(&shapes).filter(|_| is_first), true, &mut told)?;
                let is_last = ends_here && until == changed.ids.len();
                if aborts && told.conflicted > 0 {
                    return Ok(Attempt::Done((told, until)));
                }
                if !is_last && !is_looked_at {
                    // It takes several commits: what one of them would break, or be in conflict with, is known before
                    // the first.
                    is_looked_at = true;
                    let told = plan.look(&shapes, merged.clone())?;
                    if aborts && told.conflicted > 0 {
                        return Ok(Attempt::Done((told, until)));
                    }
                }
                if is_last {
                    remember(&tx, Merge { from: branch, into, through, before });
                }
                match tx.commit() {
                    Ok(commit) => Ok(Attempt::Done((Merged { commit: Some(commit), ..told }, until))),
                    Err(Error::Busy { .. }) => Ok(Attempt::Again),
                    Err(error) => Err(error),
                }
            });
            let stopped = aborts && piece.as_ref().is_ok_and(|(told, _)| told.conflicted > 0);
            if (piece.is_err() || stopped) && is_first {
                made.undo(self)?;
            }
            let (told, until) = piece?;
            if stopped {
                return Ok(told);
            }
            (merged, is_first) = (told, false);
            changed.ids.drain(..until);
            ends_here = changed.fill()?;
            if changed.ids.is_empty() {
                break;
            }
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

impl Merged {
    /// As JSON: `seq`, `taken`, `combined`, `conflicted`, `conflicts`, `dropped` and `made`. A conflict has its
    /// collection under the name `collection`, `id`, and `places`, each with `place`, `base`, `ours` and `theirs`.
    pub fn to_json(&self, collection: &str) -> String {
        let value = |text: &Option<String>| text.as_deref().unwrap_or("null").to_owned();
        let place = |of: &MergeConflict| {
            let [base, ours, theirs] = [&of.base, &of.ours, &of.theirs].map(value);
            let path = json::quote(&of.path.to_string());
            format!(r#"{{"place":{path},"base":{base},"ours":{ours},"theirs":{theirs}}}"#)
        };
        let conflict = |of: &ConflictedMerge| {
            let [member, name, id] = [collection, &of.collection, &of.id].map(json::quote);
            let places: Vec<_> = of.places.iter().map(place).collect();
            format!(r#"{{{member}:{name},"id":{id},"places":[{}]}}"#, places.join(","))
        };
        let names = |list: &[String]| list.iter().map(|name| json::quote(name)).collect::<Vec<_>>().join(",");
        let Merged { taken, combined, conflicted, .. } = self;
        let seq = self.commit.map_or_else(|| "null".to_owned(), |commit| commit.seq.0.to_string());
        let conflicts = self.conflicts.iter().map(conflict).collect::<Vec<_>>().join(",\n");
        let (dropped, made) = (names(&self.dropped), names(&self.made));
        let counts = format!(r#""taken":{taken},"combined":{combined},"conflicted":{conflicted}"#);
        format!(r#"{{"seq":{seq},{counts},"conflicts":[{conflicts}],"dropped":[{dropped}],"made":[{made}]}}"#)
    }

    pub(crate) fn conflict(&mut self, collection: &str, id: &str, places: Vec<MergeConflict>) {
        if places.is_empty() {
            return;
        }
        self.conflicted += 1;
        let values = places.iter().flat_map(|place| [&place.base, &place.ours, &place.theirs]);
        let bytes: usize = values.flatten().map(String::len).sum();
        if self.conflicts.len() < CONFLICTS_MAX && self.told_bytes + bytes <= TOLD_BYTES_MAX {
            self.told_bytes += bytes;
            self.conflicts.push(ConflictedMerge { collection: collection.to_owned(), id: id.to_owned(), places });
        }
    }
}

pub(crate) struct Plan<'p> {
    into: &'p Store,
    pub(crate) from: &'p Store,
    source: &'p Arc<dyn Snapshot>,
    /// The last commit that both have in common.
    pub(crate) common: Seq,
    /// Everything up to this commit is merged.
    since: Seq,
    pub(crate) options: &'p MergeOptions,
}

/// A document's id, behind its collection.
type Named = (Arc<str>, String);
type Ids<'p> = Box<dyn Iterator<Item = Result<Named>> + 'p>;

/// The documents that were changed there: as many at a time as one commit merges.
struct Changed<'p> {
    left: Peekable<Ids<'p>>,
    ids: Vec<Named>,
}

impl Changed<'_> {
    /// Fills up the ids; whether they are the last.
    fn fill(&mut self) -> Result<bool> {
        while self.ids.len() < DOCUMENTS_AT_ONCE {
            let Some(next) = self.left.next() else { break };
            self.ids.push(next?);
        }
        Ok(self.left.peek().is_none())
    }
}

impl Plan<'_> {
    fn changed<'c>(&'c self, shapes: &'c Shapes) -> Result<Changed<'c>> {
        let mut collections = self.from.collections_changed(self.since, At::Seq(self.source.seq()))?;
        collections.sort();
        let comes_back = self.options.conflicts == Conflicts::Theirs;
        collections.retain(|(name, _)| is_branched(name) && (comes_back || !shapes.is_gone(name)));
        let changes = |(name, _): (Arc<str>, Seq)| -> Ids<'c> {
            let since = if shapes.is_gone(&name) { Seq::ZERO } else { self.since };
            match self.from.collection_in(&name, self.source) {
                Ok(theirs) => Box::new(theirs.changes(since).map(move |change| Ok((name.clone(), change?.id)))),
                Err(error) => Box::new(std::iter::once(Err(error))),
            }
        };
        let left: Ids<'c> = Box::new(collections.into_iter().flat_map(changes));
        Ok(Changed { left: left.peekable(), ids: Vec::new() })
    }

    /// Tells what merging all of it would do, piece by piece, and writes nothing.
    fn look(&self, shapes: &Shapes, mut told: Merged) -> Result<Merged> {
        let (mut changed, mut first) = (self.changed(shapes)?, Some(shapes));
        loop {
            let ends_here = changed.fill()?;
            let tx = self.into.begin()?;
            let until = self.piece(&tx, &changed.ids, first.take(), false, &mut told)?;
            changed.ids.drain(..until);
            if ends_here && changed.ids.is_empty() {
                return Ok(told);
            }
        }
    }

    /// Merges the first of some documents in a transaction, as many as one commit may have; returns how many. If it is
    /// to be committed, `write`, attachments come along.
    fn piece(
        &self,
        tx: &Transaction,
        ids: &[Named],
        shapes: Option<&Shapes>,
        write: bool,
        told: &mut Merged,
    ) -> Result<usize> {
        if let Some(shapes) = shapes {
            shapes.take_in(tx, self.options.conflicts, told)?;
        }
        let (mut until, mut bytes) = (0, 0);
        for of_one in ids.chunk_by(|one, next| one.0 == next.0) {
            let Some((name, _)) = of_one.first() else { break };
            let theirs = self.from.collection_in(name, self.source)?;
            let target = tx.collection(name)?;
            let ours = target.reader()?;
            // Unique indexes are asked when all is written: documents may have exchanged their values.
            let mut written = Vec::new();
            for (_, id) in of_one {
                if bytes >= BYTES_AT_ONCE {
                    break;
                }
                until += 1;
                let (writes, combined, places) = match self.outcome(&theirs, &ours, id, write)? {
                    Outcome::Known => continue,
                    Outcome::Taken(writes) => (writes, None, None),
                    Outcome::Conflicted(writes, places) => (writes, None, Some(places)),
                    Outcome::Combined(writes, combined, places) => (writes, Some(combined), Some(places)),
                };
                told.taken += u64::from(combined.is_none() && places.is_none());
                told.combined += u64::from(combined.is_some());
                told.conflict(name, id, places.unwrap_or_default());
                let revs = writes.iter().filter_map(|write| write.path.first().copied());
                written.push((id, combined.is_some(), revs.collect::<Vec<_>>()));
                for write in &writes {
                    bytes += write.body.len() + write.attachments.size_bytes();
                    target.merge_revision(write).map_err(|error| in_merge(name, error))?;
                }
                if let Some(combined) = combined {
                    bytes += combined.body.as_ref().map_or(0, String::len);
                    combine(&target, id, combined).map_err(|error| in_merge(name, error))?;
                }
            }
            for (id, is_new, revs) in written {
                let judged = target.check_unique(id, |rev| is_new || revs.contains(rev));
                judged.map_err(|error| in_merge(name, error))?;
            }
            if bytes >= BYTES_AT_ONCE {
                break;
            }
        }
        Ok(until)
    }

    fn outcome(&self, theirs: &CollectionAt, ours: &CollectionAt, id: &str, write: bool) -> Result<Outcome> {
        let Some(there) = theirs.whole(id)? else { return Ok(Outcome::Known) };
        let here = ours.whole(id)?.unwrap_or_default();
        let leaves = there.leaves();
        let is_missing = |leaf: &Leaf| !here.contains(&leaf.rev);
        if !leaves.iter().any(is_missing) {
            return Ok(Outcome::Known);
        }
        let our = here.winner();
        let mut writes = Vec::new();
        // Whether one of their leaves goes on from what is here: then nothing was changed here that they have not seen.
        let mut seen = false;
        for (number, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| is_missing(leaf)) {
            let path = there.path(&leaf.rev);
            seen |= our.as_ref().is_some_and(|our| path.contains(&our.rev));
            let Some(revision) = theirs.leaf_revision(id, leaf, number == 0)? else { continue };
            writes.push(self.write_of(theirs, id, path, revision, write)?);
        }
        let (Some(their), Some(our)) = (leaves.first(), our) else {
            return Ok(Outcome::Taken(writes));
        };
        if !is_missing(their) || seen {
            return Ok(Outcome::Taken(writes));
        }
        let body = |revision: Option<Revision>| revision.filter(|found| !found.deleted).map(|found| found.body);
        let base = self.base((ours, &here), (theirs, &there), id)?;
        let (one, another) = (ours.leaf_revision(id, &our, true)?, theirs.leaf_revision(id, their, true)?);
        let preferred = if self.options.conflicts == Conflicts::Theirs { Preferred::Theirs } else { Preferred::Ours };
        let (attachments, mut places) = merged_attachments([&base, &one, &another], preferred);
        let was_deleted = base.as_ref().is_some_and(|base| base.deleted);
        let (base, one, another) = (body(base), body(one), body(another));
        let attachments = if write { attachments } else { Vec::new() };
        let prefer = |body| Combined { ours: our.rev, theirs: their.rev, body, attachments: attachments.clone() };
        let (Some(one), Some(another)) = (&one, &another) else {
            // One deleted what the other changed; both deleted it in different ways.
            if one == another {
                return Ok(Outcome::Combined(writes, prefer(None), Vec::new()));
            }
            // Both know of the deletion, and one of them has decided against it.
            if was_deleted {
                return Ok(Outcome::Combined(writes, prefer(one.or(another)), Vec::new()));
            }
            let place = MergeConflict { path: Pointer::root(), base, ours: one.clone(), theirs: another.clone() };
            return Ok(match self.options.conflicts {
                Conflicts::Fields | Conflicts::Abort => Outcome::Conflicted(writes, vec![place]),
                Conflicts::Ours => Outcome::Combined(writes, prefer(one), vec![place]),
                Conflicts::Theirs => Outcome::Combined(writes, prefer(another), vec![place]),
            });
        };
        let rules = MergeRules { preferred, ..self.options.rules.clone() };
        // Without a common revision both began with nothing.
        let (text, of_body) = merge_three(base.as_deref().unwrap_or("{}"), one, another, &rules)?;
        places.extend(of_body);
        let stays = matches!(self.options.conflicts, Conflicts::Fields | Conflicts::Abort) && !places.is_empty();
        if stays {
            return Ok(Outcome::Conflicted(writes, places));
        }
        Ok(Outcome::Combined(writes, prefer(Some(text)), places))
    }

    fn write_of(
        &self,
        theirs: &CollectionAt,
        id: &str,
        path: Vec<RevId>,
        revision: Revision,
        write: bool,
    ) -> Result<ReplicatedWrite> {
        let attachments = match &revision.attachments[..] {
            [] => Wanted::default(),
            _ if !write => Wanted::default(),
            // The other side may not have their bytes.
            attachments => self.into.collection(theirs.name())?.restored(theirs, attachments, true)?,
        };
        Ok(ReplicatedWrite { id: id.to_owned(), path, deleted: revision.deleted, body: revision.body, attachments })
    }
}

/// A refusal of a document says in which collection it is.
pub(crate) fn in_merge(collection: &str, error: Error) -> Error {
    match error {
        Error::Refused { .. } | Error::NotUnique { .. } | Error::NotOfSchema { .. } => {
            Error::InMerge { collection: collection.to_owned(), error: Box::new(error) }
        }
        error => error,
    }
}

/// The attachments of a merged document, by name, and those that both changed differently.
pub(crate) fn merged_attachments(
    [base, ours, theirs]: [&Option<Revision>; 3],
    preferred: Preferred,
) -> (Vec<AttachmentInfo>, Vec<MergeConflict>) {
    let of = |revision: &'_ Option<Revision>| -> BTreeMap<String, AttachmentInfo> {
        let own = revision.as_ref().filter(|revision| !revision.deleted);
        own.into_iter().flat_map(|own| &own.attachments).map(|info| (info.name.clone(), info.clone())).collect()
    };
    let [base, ours, theirs] = [of(base), of(ours), of(theirs)];
    let (mut merged, mut places) = (Vec::new(), Vec::new());
    let names: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
    for name in names {
        let [base, one, another] = [&base, &ours, &theirs].map(|side| side.get(name));
        let same = |a: Option<&AttachmentInfo>, b: Option<&AttachmentInfo>| {
            let key = |info: &AttachmentInfo| (info.sha256(), info.content_type.clone());
            a.map(key) == b.map(key)
        };
        let chosen = if same(base, another) || same(one, another) {
            one
        } else if same(base, one) {
            another
        } else {
            let path = Pointer::root().child("_attachments").child(name);
            let told = |info: Option<&AttachmentInfo>| info.map(|info| json::quote(&info.digest()));
            places.push(MergeConflict { path, base: told(base), ours: told(one), theirs: told(another) });
            if preferred == Preferred::Theirs { another } else { one }
        };
        merged.extend(chosen.cloned());
    }
    (merged, places)
}

/// Makes one leaf of two: a new revision of the winner, and the end of the other.
fn combine(target: &TransactionCollection<'_>, id: &str, combined: Combined) -> Result<()> {
    let Combined { ours, theirs, body, attachments } = combined;
    let reader = target.reader()?;
    let leaves = reader.leaves(id)?;
    let winner = leaves.first().map(|leaf| leaf.rev);
    let (keeps, ends) = if winner == Some(theirs) { (theirs, ours) } else { (ours, theirs) };
    let lives = body.is_some();
    let is_there = |rev: RevId| leaves.iter().any(|leaf| leaf.rev == rev && !leaf.deleted);
    match body {
        Some(body) => {
            let infos = |list: &[AttachmentInfo]| -> BTreeSet<_> {
                list.iter().map(|info| (info.name.clone(), info.sha256(), info.content_type.clone())).collect()
            };
            // A leaf that stays in place of another gets a revision of its own: on a line where the other one won,
            // that one stays and this one is deleted, and what follows from both would have neither.
            let same = !is_there(ends)
                && reader.get(id)?.is_some_and(|document| {
                    document.rev == keeps
                        && document.body == body
                        && infos(&document.attachments) == infos(&attachments)
                });
            if !same {
                let mut write = Write::put(id, &body)?.expecting(Expect::Revision(keeps));
                attachments.into_iter().try_for_each(|info| write.attachments.push_known(info))?;
                target.write_unjudged(&write)?;
            }
        }
        None if is_there(keeps) => drop(target.delete(id, &keeps)?),
        None => {}
    }
    // Last, so that attachments that only it had are still there to be taken.
    if is_there(ends) {
        target.delete(id, &ends)?;
    } else if lives && leaves.iter().any(|leaf| leaf.rev == ends) {
        end_deletion(target, id, &ends)?;
    }
    Ok(())
}

/// Makes a deletion, against which a merge has decided, one that is no leaf any more: a leaf has only been left there.
fn end_deletion(target: &TransactionCollection<'_>, id: &str, deletion: &RevId) -> Result<()> {
    let mut path = target.reader()?.whole(id)?.unwrap_or_default().path(deletion);
    path.insert(0, revision_id(Some(deletion), true, &HashableBody::of("{}")?, &[]));
    let (id, body) = (id.to_owned(), "{}".to_owned());
    target.merge_revision(&ReplicatedWrite { id, path, deleted: true, body, attachments: Wanted::default() })?;
    Ok(())
}
