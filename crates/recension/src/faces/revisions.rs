//! The revisions of a collection's documents as of now: leaves, conflicts, ancestors.

use crate::faces::collection::Collection;
use crate::faces::handles::Replication;
use crate::kernel::read::ancestry::RevsDiff;
#[cfg(doc)]
use crate::kernel::read::reader::CollectionAt;
use recension_values::at::At;
use recension_values::error::Result;
use recension_values::model::Revision;
use recension_values::revid::RevId;
use recension_values::revision_tree::Leaf;

impl Replication<'_> {
    /// The leaves of a document's tree of revisions; see [`CollectionAt::leaves`].
    pub fn leaves(self, id: &str) -> Result<Vec<Leaf>> {
        self.collection.at(At::Now)?.leaves(id)
    }

    /// The leaves that lose and are deletions; see [`CollectionAt::deleted_conflicts`].
    pub fn deleted_conflicts(self, id: &str) -> Result<Vec<RevId>> {
        self.collection.at(At::Now)?.deleted_conflicts(id)
    }

    /// A revision and its ancestors, newest first; see [`CollectionAt::ancestry`].
    pub fn ancestry(self, id: &str, rev: &RevId) -> Result<Option<Vec<RevId>>> {
        self.collection.at(At::Now)?.ancestry(id, rev)
    }

    /// One revision of a document's tree, the winner or not; see [`CollectionAt::get_revision`].
    pub fn get_revision(self, id: &str, rev: &RevId) -> Result<Option<Revision>> {
        self.collection.at(At::Now)?.get_revision(id, rev)
    }

    /// Which of a replica's revisions are not known here; see [`CollectionAt::revs_diff`].
    pub fn revs_diff<'r>(self, asked: impl IntoIterator<Item = (&'r str, &'r [RevId])>) -> Result<Vec<RevsDiff>> {
        self.collection.at(At::Now)?.revs_diff(asked)
    }
}

impl Collection {
    /// The leaves that lose and are not deleted; see [`CollectionAt::conflicts`].
    pub fn conflicts(&self, id: &str) -> Result<Vec<RevId>> {
        self.at(At::Now)?.conflicts(id)
    }
}
