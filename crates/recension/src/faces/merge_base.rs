//! What the two sides of a merge come from: the newest text of which both have all changes. It may lie on a line that
//! an earlier merge has ended, and if both sides were merged into each other, on two lines.

use std::collections::HashSet;

use crate::faces::merge::{Plan, merged_attachments};
use crate::kernel::read::reader::CollectionAt;
use recension_values::error::Result;
use recension_values::json::{MergeRules, Preferred, merge_three};
use recension_values::model::Revision;
use recension_values::revid::RevId;
use recension_values::revision_tree::RevisionTree;

impl Plan<'_> {
    /// The base of merging the winner of one tree into that of the other, neither of which goes on from the other.
    pub(crate) fn base(
        &self,
        (ours, here): (&CollectionAt, &RevisionTree),
        (theirs, there): (&CollectionAt, &RevisionTree),
        id: &str,
    ) -> Result<Option<Revision>> {
        let line = |tree: &RevisionTree| tree.winner().map(|winner| tree.path(&winner.rev)).unwrap_or_default();
        let (our_line, their_line) = (line(here), line(there));
        // The newest of their line that is in our text, and the newest of our line that is in theirs.
        let (taken, given) = (newest_in(here, &our_line, &their_line), newest_in(there, &their_line, &our_line));
        let (Some(taken), Some(given)) = (taken, given) else {
            return taken.or(given).map_or(Ok(None), |rev| self.revision_of(theirs, ours, id, rev));
        };
        let below: HashSet<&RevId> = our_line.iter().skip_while(|rev| *rev != given).collect();
        let common = their_line.iter().skip_while(|rev| *rev != taken).find(|rev| below.contains(rev));
        let read = |rev: &RevId| self.revision_of(theirs, ours, id, rev);
        if common == Some(taken) {
            // What came and was ended in one commit is in no history: then an older one.
            let older = their_line.iter().skip_while(|rev| *rev != taken);
            return [given].into_iter().chain(older).find_map(|rev| read(rev).transpose()).transpose();
        }
        let [one, another] = [read(taken)?, read(given)?].map(|found| found.filter(|found| !found.deleted));
        if common == Some(given) && one.is_some() {
            return Ok(one);
        }
        let common = common.map_or(Ok(None), read)?;
        let (Some(taken), Some(given)) = (&one, &another) else { return Ok(common) };
        // Each side has both, and has merged them.
        let (attachments, places) = merged_attachments([&common, &another, &one], Preferred::Ours);
        let rules = MergeRules { preferred: Preferred::Ours, ..self.options.rules.clone() };
        let before = common.as_ref().filter(|found| !found.deleted).map_or("{}", |found| &found.body);
        let (body, of_body) = merge_three(before, &given.body, &taken.body, &rules)?;
        // What was in conflict there each side has decided for itself.
        let is_whole = places.is_empty() && of_body.is_empty();
        Ok(if is_whole { Some(Revision { body, attachments, ..given.clone() }) } else { common })
    }

    /// A revision of one of both: it may be in the history of either, or at the fork.
    fn revision_of(
        &self,
        theirs: &CollectionAt,
        ours: &CollectionAt,
        id: &str,
        rev: &RevId,
    ) -> Result<Option<Revision>> {
        if let Some(found) = theirs.revision(id, rev)? {
            return Ok(Some(found));
        }
        if let Some(found) = ours.revision(id, rev)? {
            return Ok(Some(found));
        }
        let then = self.from.engine().snapshot_at(self.common)?;
        self.from.collection_in(theirs.name(), &then)?.revision(id, rev)
    }
}

/// The newest revision of a line that is in the text of a tree's winner, whose own line is `own`: it is of that line,
/// or all that stands on it in the tree was ended, as a merge does, or who resolves a conflict.
fn newest_in<'l>(tree: &RevisionTree, own: &[RevId], line: &'l [RevId]) -> Option<&'l RevId> {
    let own: HashSet<&RevId> = own.iter().collect();
    line.iter().find(|rev| {
        let is_ended = || tree.leaf(rev).is_none() && tree.leaves_above(rev).iter().all(|leaf| leaf.deleted);
        own.contains(rev) || tree.contains(rev) && is_ended()
    })
}
