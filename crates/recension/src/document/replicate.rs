//! Taking over revisions that were made elsewhere. They never conflict: each goes to its place in the
//! document's tree, and who wins is decided there, alike on every replica.

use std::borrow::Cow;

use super::ancestry::whole_tree;
use super::apply::{Writer, in_one_commit};
use super::revision_tree::RevisionTree;
use super::settle::{Before, Content, Next};
use super::{AttachmentInfo, attachment};
use super::{Collection, Error, ReplicatedWrite, Result, Written};
use crate::engine::CommitInfo;

impl Collection {
    /// Takes over revisions of other replicas in one commit (CouchDB's `new_edits=false`), with a result
    /// for each: `None` where it was known already and nothing was written.
    ///
    /// A unique index refuses none of them, or replicas would never agree: see
    /// [`CollectionAt::duplicates`](super::CollectionAt::duplicates).
    ///
    /// Equal revisions with equal ancestors may come any number of times and in any order: the collection
    /// then is the same.
    ///
    /// # Errors
    /// Where nothing was written: an error of the engine, or [`Error::Busy`]. Of one revision:
    /// [`Error::ValueTooLong`], [`Error::TooManyRevisions`], [`Error::MissingStub`].
    pub fn merge_revisions(
        &self,
        writes: impl IntoIterator<Item = ReplicatedWrite>,
    ) -> Result<Vec<Result<Option<Written>>>> {
        let writes: Vec<ReplicatedWrite> = writes.into_iter().collect();
        let (merged, CommitInfo { seq, time }) = in_one_commit(self, |writer| {
            Ok(writes.iter().map(|write| writer.merge(write)).collect::<Vec<Result<bool>>>())
        })?;
        let receipt = |(write, merged): (&ReplicatedWrite, Result<bool>)| {
            let changed = merged?;
            let rev = write.path.first().copied().filter(|_| changed);
            Ok(rev.map(|rev| Written { id: write.id.clone(), rev, seq, time }))
        };
        Ok(writes.iter().zip(merged).map(receipt).collect())
    }
}

impl Writer<'_> {
    /// Merges a revision into its document's tree; answers whether that changed anything. After an error
    /// nothing of it is in the view.
    pub(super) fn merge(&mut self, write: &ReplicatedWrite) -> Result<bool> {
        let ReplicatedWrite { id, path, deleted, body, attachments } = write;
        let misfit = Error::BadField { field: "_revisions", expected: "generations that follow each other" };
        let sent = RevisionTree::of_path(path, *deleted).ok_or(misfit)?;
        let before = self.read(id)?;
        let tree = match (&before, &self.entry) {
            // What replicas send most: an edit of what is known.
            (Some(before), Some(_)) if before.tree.is_extended_by(path) => {
                let mut tree = before.tree.clone();
                if let [rev, parent, ..] = path.as_slice() {
                    tree.append(parent, *rev, *deleted);
                }
                tree
            }
            (Some(before), Some(entry)) => {
                let known = whole_tree(self.view, entry.side, id, before.tree.clone())?;
                let mut merged = known.clone();
                merged.merge(&sent);
                // What is merged may be what stemming gave up before.
                merged.stem(entry.revs_limit);
                if merged == known {
                    return Ok(false);
                }
                merged
            }
            _ => sent,
        };
        // A revision that another one stands on already needs no body any more.
        let leaf = path.first().filter(|rev| tree.leaf(rev).is_some());
        let written = match leaf {
            Some(rev) => {
                let known = self.known_attachments(write, before.as_ref())?;
                let infos = attachments.resolve(id, rev.generation(), &known)?;
                let attachments = attachment::encode(&infos).map(Cow::Owned);
                Some((*rev, Content { body: Cow::Borrowed(body), attachments }))
            }
            None => None,
        };
        self.settle(id, before.as_ref(), Next { tree, written, wanted: Some(attachments), made_here: false })?;
        Ok(true)
    }

    /// The attachments of the nearest ancestor that is a leaf here: what the replica may name as stubs.
    fn known_attachments(&self, write: &ReplicatedWrite, before: Option<&Before>) -> Result<Vec<AttachmentInfo>> {
        let Some(before) = before.filter(|_| !write.attachments.is_nothing()) else { return Ok(Vec::new()) };
        let nearest = write.path.iter().find(|rev| before.tree.leaf(rev).is_some());
        nearest.map_or(Ok(Vec::new()), |rev| self.attachments_of(&write.id, before, rev))
    }
}
