//! Reading a document's tree of revisions: leaves, conflicts, ancestors, and the bodies of revisions that are not the
//! winner.

use std::collections::HashMap;
use std::sync::Arc;

use crate::engine::{Direction, KeyRange, Snapshot, TreeId};
use crate::kernel::read::history::revision_of;
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::read::reader::OwnedRows;
use crate::kernel::rows::catalogue::CollectionEntry;
use crate::kernel::rows::side;
use crate::kernel::rows::stored::{self, damaged};
use recension_values::error::{Error, Result};
use recension_values::model::{Document, Revision};
use recension_values::revid::RevId;
use recension_values::revision_tree::{Block, Leaf, RevisionTree};

/// Whether a revision that a document has had can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RevisionStatus {
    /// Its body can be read.
    Available,
    /// Its body can be read; it is a deletion.
    Deleted,
    /// Its body was never sent here, or was given up.
    Missing,
}

/// The revisions that a replica has of a document and this collection does not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RevsDiff {
    /// The document.
    pub id: String,
    /// The revisions that are not known here.
    pub missing: Vec<RevId>,
    /// Leaves that may be ancestors of the missing revisions.
    pub possible_ancestors: Vec<RevId>,
}

/// The tree of a document as its row has it; `None` if there is no document.
pub(crate) fn folded_tree(snapshot: &dyn Snapshot, entry: &CollectionEntry, id: &str) -> Result<Option<RevisionTree>> {
    let Some(row) = snapshot.get(entry.documents, id.as_bytes())? else { return Ok(None) };
    let head = stored::decode(&row, id.as_bytes())?;
    stored::tree(&row, &head, id.as_bytes()).map(Some)
}

/// The whole tree of a document, from the folded one that its row has.
pub(crate) fn whole_tree(snapshot: &dyn Snapshot, side: TreeId, id: &str, tree: RevisionTree) -> Result<RevisionTree> {
    let damaged = |why| damaged(id.as_bytes(), why);
    let read = |newest: &RevId| {
        let row = snapshot.get(side, &side::revision_key(side::ANCESTORS, id, newest))?;
        let row = row.ok_or_else(|| damaged("a block of its ancestors is missing"))?;
        Block::decode(&row, newest).map_err(damaged)
    };
    tree.unfold(read, damaged)
}

/// A document with conflicting revisions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConflictedDocument {
    /// The document.
    pub id: String,
    /// The losing leaves that are not deletions, oldest generation first.
    pub conflicts: Vec<RevId>,
}

/// Documents that have conflicts, one at a time. It ends after its first error.
pub struct Conflicted {
    rows: Option<OwnedRows>,
    /// The document whose leaves are being read.
    next: Option<ConflictedDocument>,
}

impl Iterator for Conflicted {
    type Item = Result<ConflictedDocument>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let row = self.rows.as_mut().and_then(|rows| {
                rows.next_with(|row| {
                    let (id, rev) = side::id_and_revision_in(&row.key)?;
                    let deleted = stored::decode(&row.value, id.as_bytes())?.deleted;
                    Ok((id, rev, deleted))
                })
            });
            match (row, &mut self.next) {
                (None, _) => {
                    self.rows = None;
                    return self.next.take().map(Ok);
                }
                (Some(Err(error)), _) => {
                    (self.rows, self.next) = (None, None);
                    return Some(Err(error));
                }
                (Some(Ok((_, _, true))), _) => {}
                (Some(Ok((id, rev, _))), Some(next)) if next.id == id => next.conflicts.push(rev),
                (Some(Ok((id, rev, _))), next) => {
                    let before = next.replace(ConflictedDocument { id, conflicts: vec![rev] });
                    if before.is_some() {
                        return before.map(Ok);
                    }
                }
            }
        }
    }
}

impl CollectionAt {
    /// The leaves of a document's tree of revisions, with deletions. The winner comes first, then the others in the
    /// order in which they would win. Empty if there never was such a document.
    pub fn leaves(&self, id: &str) -> Result<Vec<Leaf>> {
        Ok(self.folded(id)?.map(|tree| tree.leaves()).unwrap_or_default())
    }

    /// The losing leaves that are not deletions: conflicts that are to be resolved.
    pub fn conflicts(&self, id: &str) -> Result<Vec<RevId>> {
        let live = self.leaves(id)?.into_iter().skip(1).filter(|leaf| !leaf.deleted);
        Ok(live.map(|leaf| leaf.rev).collect())
    }

    /// The losing leaves that are deletions.
    pub fn deleted_conflicts(&self, id: &str) -> Result<Vec<RevId>> {
        let deleted = self.leaves(id)?.into_iter().skip(1).filter(|leaf| leaf.deleted);
        Ok(deleted.map(|leaf| leaf.rev).collect())
    }

    /// The leaves that descend from a revision, or are the revision.
    pub fn latest(&self, id: &str, rev: &RevId) -> Result<Vec<Leaf>> {
        Ok(self.whole(id)?.map(|tree| tree.leaves_above(rev)).unwrap_or_default())
    }

    /// A revision and its known ancestors, newest first: at most as many as the collection's limit of revisions. `None`
    /// if the document does not have the revision.
    pub fn ancestry(&self, id: &str, rev: &RevId) -> Result<Option<Vec<RevId>>> {
        let path = self.whole(id)?.map(|tree| tree.path(rev));
        Ok(path.filter(|path| !path.is_empty()))
    }

    /// A revision and its ancestors, newest first, with the status of each.
    ///
    /// The document's history is read.
    pub fn ancestry_status(&self, id: &str, rev: &RevId) -> Result<Option<Vec<(RevId, RevisionStatus)>>> {
        let (Some(path), Some(entry)) = (self.ancestry(id, rev)?, &self.entry) else { return Ok(None) };
        let status = |deleted| if deleted { RevisionStatus::Deleted } else { RevisionStatus::Available };
        let mut statuses = HashMap::with_capacity(path.len());
        for revision in self.revisions(id)? {
            let revision = revision?;
            statuses.insert(revision.rev, status(revision.deleted));
        }
        let mut answer = Vec::with_capacity(path.len());
        for rev in path {
            let found = match statuses.get(&rev) {
                Some(status) => Some(*status),
                None => self.losing(entry, id, &rev)?.map(|revision| status(revision.deleted)),
            };
            answer.push((rev, found.unwrap_or(RevisionStatus::Missing)));
        }
        Ok(Some(answer))
    }

    /// One revision of a document's tree, the winner or another. `None` if the tree or its body is not there.
    ///
    /// Unlike [`CollectionAt::revision`], this does not find revisions that were purged.
    pub fn get_revision(&self, id: &str, rev: &RevId) -> Result<Option<Revision>> {
        let (Some(tree), Some(entry)) = (self.folded(id)?, &self.entry) else { return Ok(None) };
        let leaf = tree.leaf(rev);
        let wins = leaf.is_some() && tree.winner() == leaf;
        let known = match tree.knows(rev) {
            Some(known) => known,
            None => whole_tree(&*self.snapshot, entry.side, id, tree)?.contains(rev),
        };
        match (known, leaf) {
            (false, _) => Ok(None),
            (true, Some(_)) if !wins => self.losing(entry, id, rev),
            (true, _) => self.revision(id, rev),
        }
    }

    /// What one of [`CollectionAt::leaves`] says, the first of which `wins`. Unlike [`CollectionAt::get_revision`] it
    /// does not read the tree again for each of them.
    pub fn leaf_revision(&self, id: &str, leaf: &Leaf, wins: bool) -> Result<Option<Revision>> {
        let Some(entry) = &self.entry else { return Ok(None) };
        if wins { self.revision(id, &leaf.rev) } else { self.losing(entry, id, &leaf.rev) }
    }

    /// The leaves of a document that pass a test, in the order of [`CollectionAt::leaves`]: what a filtered replication
    /// sends. The winner may not be among them. Reads each leaf.
    pub fn leaves_passing<E: From<Error>>(
        &self,
        id: &str,
        mut test: impl FnMut(&Document<'_>) -> std::result::Result<bool, E>,
    ) -> std::result::Result<Vec<RevId>, E> {
        let mut passing = Vec::new();
        for (number, leaf) in self.leaves(id)?.iter().enumerate() {
            let Some(revision) = self.leaf_revision(id, leaf, number == 0)? else { continue };
            let Revision { rev, seq, deleted, body, attachments, .. } = revision;
            let document = Document { id: id.into(), rev, seq, deleted, body: body.into(), attachments };
            if test(&document)? {
                passing.push(rev);
            }
        }
        Ok(passing)
    }

    /// Whether a document has a leaf that is not the winner, a deletion or not. Reads one row.
    pub fn has_losing_leaves(&self) -> Result<bool> {
        let Some(entry) = &self.entry else { return Ok(false) };
        let leaves = KeyRange::prefix([side::LEAF]);
        Ok(self.snapshot.range(entry.side, &leaves, Direction::Forward).next().transpose()?.is_some())
    }

    /// The revisions that are not known here, for each document that lacks some. `asked`: documents and the revisions
    /// that a replica has of them.
    pub fn revs_diff<'r>(&self, asked: impl IntoIterator<Item = (&'r str, &'r [RevId])>) -> Result<Vec<RevsDiff>> {
        let mut answer = Vec::new();
        for (id, revs) in asked {
            let (missing, possible_ancestors) = match (self.folded(id)?, &self.entry) {
                (Some(tree), _) if revs.iter().all(|rev| tree.knows(rev) == Some(true)) => continue,
                (Some(tree), Some(entry)) => {
                    let (mut missing, known) = whole_tree(&*self.snapshot, entry.side, id, tree)?.missing(revs);
                    // The order in which CouchDB finds them.
                    missing.sort_unstable();
                    (missing, known)
                }
                _ => (revs.to_vec(), Vec::new()),
            };
            if !missing.is_empty() {
                answer.push(RevsDiff { id: id.to_owned(), missing, possible_ancestors });
            }
        }
        Ok(answer)
    }

    /// The documents with conflicts, in the order of their ids. Only losing leaves are read: the time grows with their
    /// number, and not with the number of documents.
    pub fn conflicted(&self) -> Conflicted {
        let leaves = KeyRange::prefix([side::LEAF]);
        let rows = |entry: &Arc<CollectionEntry>| {
            OwnedRows::of(self.snapshot.clone(), entry.side, &leaves, Direction::Forward)
        };
        Conflicted { rows: self.entry.as_ref().map(rows), next: None }
    }

    fn folded(&self, id: &str) -> Result<Option<RevisionTree>> {
        self.entry.as_ref().map_or(Ok(None), |entry| folded_tree(&*self.snapshot, entry, id))
    }

    /// A document's whole tree; `None` if there never was such a document.
    pub(crate) fn whole(&self, id: &str) -> Result<Option<RevisionTree>> {
        let (Some(entry), Some(tree)) = (&self.entry, self.folded(id)?) else { return Ok(None) };
        whole_tree(&*self.snapshot, entry.side, id, tree).map(Some)
    }

    /// A revision that is a losing leaf, or was one once.
    pub(crate) fn losing(&self, entry: &CollectionEntry, id: &str, rev: &RevId) -> Result<Option<Revision>> {
        for version in self.snapshot.versions(entry.side, &side::revision_key(side::LEAF, id, rev)) {
            let version = version?;
            if let Some(value) = version.value {
                return revision_of(id.as_bytes(), version.seq, version.time, value).map(Some);
            }
        }
        Ok(None)
    }
}
