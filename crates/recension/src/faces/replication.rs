//! Merging revisions that were made elsewhere.

use crate::engine::CommitInfo;
use crate::faces::commit::in_one_commit;
use crate::faces::handles::Replication;
#[cfg(doc)]
use recension_values::error::Error;
use recension_values::error::Result;
use recension_values::model::Written;
use recension_values::replicated::ReplicatedWrite;

impl Replication<'_> {
    /// Merges revisions of other replicas in one commit (CouchDB's `new_edits=false`), with a result for each: `None`
    /// if it was known already and nothing was written.
    ///
    /// A unique index refuses none of them, because otherwise replicas would never agree: see
    /// [`CollectionAt::duplicates`](crate::CollectionAt::duplicates).
    ///
    /// The same revisions, with the same ancestors, may come any number of times and in any order: the collection ends
    /// up the same.
    ///
    /// An error of the engine, or [`Error::Busy`]: nothing was written. The result of one revision may be
    /// [`Error::ValueTooLong`], [`Error::TooManyRevisions`], [`Error::TooManyBranches`], [`Error::MissingStub`]. If one
    /// revision of a document is refused, all revisions of the document in this call are.
    pub fn merge_revisions(
        self,
        writes: impl IntoIterator<Item = ReplicatedWrite>,
    ) -> Result<Vec<Result<Option<Written>>>> {
        let writes: Vec<ReplicatedWrite> = writes.into_iter().collect();
        let (merged, CommitInfo { seq, time }) = in_one_commit(self.collection, |writer| writer.merge_each(&writes))?;
        let receipt = |(write, merged): (&ReplicatedWrite, Result<bool>)| {
            let changed = merged?;
            let rev = write.path.first().copied().filter(|_| changed);
            Ok(rev.map(|rev| Written { id: write.id.clone(), rev, seq, time }))
        };
        Ok(writes.iter().zip(merged).map(receipt).collect())
    }
}
