//! Resolving a document: making the rows follow from its tree of revisions. The document's row says what the winning
//! revision says, the side tree has the other leaves, and indexes, changes and counts follow. Every write of a document
//! ends here, whether it is made here, replicated or a purge. Two cases need less of it (`Writer::write_line`): the
//! first revision of a document, and the next revision of a document whose tree is one line.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::engine::{Direction, KeyRange, Seq, Snapshot, Value};
use crate::kernel::changes::change::{change_key, change_value};
use crate::kernel::overlay::PENDING;
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry};
use crate::kernel::rows::side;
use crate::kernel::rows::stored::{self, Section, StoredHead, StoredRow, damaged};
use crate::kernel::write::writer::Writer;
use recension_values::attachment::Wanted;
use recension_values::error::{Error, Result};
use recension_values::limits::{BRANCHES_PER_DOCUMENT_MAX, REVISIONS_PER_DOCUMENT_MAX};
use recension_values::revid::RevId;
use recension_values::revision_tree::{BLOCK_NODES, Leaf, RevisionTree};

/// A document's row.
pub(crate) struct DocumentRow<'s> {
    pub(crate) head: StoredHead,
    /// The commit that wrote it.
    pub(crate) seq: Seq,
    pub(crate) value: Cow<'s, [u8]>,
}

/// A document before a write.
pub(crate) struct Before {
    pub(crate) head: StoredHead,
    /// The commit that wrote its row.
    pub(crate) seq: Seq,
    pub(crate) content: Content<'static>,
    /// The folded tree, as the row has it.
    pub(crate) tree: RevisionTree,
}

/// What a revision says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Content<'c> {
    pub(crate) body: Cow<'c, str>,
    pub(crate) attachments: Option<Cow<'c, [u8]>>,
}

/// What becomes of a document.
pub(crate) struct Next<'w> {
    /// The document's next tree: the former one with a revision appended, or a whole one.
    pub(crate) tree: RevisionTree,
    /// The leaves of the tree whose content is new or has changed.
    pub(crate) written: Contents<'w>,
    /// The revision was made here, so that a unique index may refuse it. A replicated revision is never refused:
    /// replicas would not come to agree.
    pub(crate) made_here: bool,
}

/// Contents of leaves that are new or have changed.
#[derive(Default)]
pub(crate) struct Contents<'w>(BTreeMap<RevId, New<'w>>);

/// The content of a leaf, and where the bytes of its attachments come from.
pub(crate) struct New<'w> {
    pub(crate) content: Content<'w>,
    pub(crate) wanted: &'w Wanted,
}

impl<'w> Contents<'w> {
    /// The content of one leaf.
    pub(crate) fn of_one(rev: RevId, content: Content<'w>, wanted: &'w Wanted) -> Self {
        let mut written = Contents::default();
        written.push(rev, content, wanted);
        written
    }

    /// Adds the content of a leaf.
    pub(crate) fn push(&mut self, rev: RevId, content: Content<'w>, wanted: &'w Wanted) {
        self.0.insert(rev, New { content, wanted });
    }

    pub(crate) fn get(&self, rev: &RevId) -> Option<&New<'w>> {
        self.0.get(rev)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&RevId, &New<'w>)> {
        self.0.iter()
    }
}

/// The winning leaf and its content.
struct Winner<'c> {
    leaf: Leaf,
    content: Cow<'c, Content<'c>>,
}

impl Winner<'_> {
    fn live_body(&self) -> Option<&str> {
        (!self.leaf.deleted).then_some(&*self.content.body)
    }
}

/// Keys and values of blocks, by their newest revision.
type Blocks = HashMap<RevId, (Vec<u8>, Vec<u8>)>;

impl Before {
    pub(crate) fn of(row: DocumentRow<'_>, id: &str) -> Result<Self> {
        let DocumentRow { head, seq, value } = row;
        let tree = stored::tree(&value, &head, id.as_bytes())?;
        let content = content_of(value, &head, id)?;
        Ok(Before { head, seq, content, tree })
    }
}

impl<'a> Writer<'a> {
    /// A document's row as it is before the write.
    pub(crate) fn row(&self, id: &str) -> Result<Option<DocumentRow<'a>>> {
        let Some(entry) = &self.entry else { return Ok(None) };
        let Some(Value { seq, bytes: value }) = self.view.get(entry.documents, id.as_bytes())? else { return Ok(None) };
        let head = stored::decode(&value, id.as_bytes())?;
        Ok(Some(DocumentRow { head, seq, value }))
    }

    pub(crate) fn read(&self, id: &str) -> Result<Option<Before>> {
        self.row(id)?.map(|row| Before::of(row, id)).transpose()
    }

    /// Writes all rows that follow from a document's next tree. After an error nothing of the write is in the overlay.
    pub(crate) fn resolve(&mut self, id: &str, before: Option<&Before>, next: Next<'_>) -> Result<()> {
        let Next { mut tree, written, made_here } = next;
        tree.stem(self.entry.as_ref().map_or(recension_values::limits::REVS_LIMIT_DEFAULT, |entry| entry.revs_limit));
        if tree.len() > REVISIONS_PER_DOCUMENT_MAX {
            return Err(Error::TooManyRevisions { id: id.to_owned(), max: REVISIONS_PER_DOCUMENT_MAX });
        }
        let leaves = tree.leaves();
        // A document that has more of them already is written to all the same, as long as it does not grow.
        let branches = || before.map_or(0, |before| before.tree.leaves().len());
        if leaves.len() > BRANCHES_PER_DOCUMENT_MAX && leaves.len() > branches() {
            return Err(Error::TooManyBranches { id: id.to_owned(), max: BRANCHES_PER_DOCUMENT_MAX });
        }
        let winner = leaves.first().map(|leaf| self.winner(id, *leaf, before, &written)).transpose()?;
        let old_body = before.filter(|before| !before.head.deleted).map(|before| &*before.content.body);
        // A losing leaf that becomes the winner is not refused: the writer who deleted the former winner did not write
        // it.
        let refusable = made_here
            && !self.judged_later
            && winner.as_ref().is_some_and(|winner| written.get(&winner.leaf.rev).is_some());
        let new_body = winner.as_ref().and_then(Winner::live_body);
        let changes = self.index_changes(id, old_body, new_body, refusable)?;
        let stale = self.stale_blocks(id, before, &tree)?;
        let contents = self.content_changes(id, before, &leaves, &written)?;

        let entry = self.entry_or_new()?;
        self.note_validator(&entry, id, new_body)?;
        for (key, value) in contents {
            match value {
                Some(value) => self.view.put(entry.side, &key, value),
                None => self.view.delete(entry.side, &key),
            }
        }
        self.write_losing_leaves(&entry, id, before, &leaves, &written);
        self.write_blocks(&entry, id, &mut tree, stale);
        match &winner {
            Some(Winner { leaf, content }) => {
                let tree = tree.encode(&leaf.rev);
                let Content { body, attachments } = &**content;
                let (tree, attachments) = (tree.as_deref(), attachments.as_deref());
                let row = StoredRow { body, rev: &leaf.rev, deleted: leaf.deleted, tree, attachments };
                self.view.put(entry.documents, id.as_bytes(), row.encode());
            }
            None => self.view.delete(entry.documents, id.as_bytes()),
        }
        self.change_indexes(changes);
        let now = winner.as_ref().map(|winner| (&winner.leaf, winner.content.body.len()));
        self.note_change(&entry, id, before.map(|before| (&before.head, before.seq)), now);
        Ok(())
    }

    /// The body of a leaf; `None` if the leaf is a deletion.
    pub(crate) fn live_body_of(&self, id: &str, before: &Before, rev: &RevId) -> Result<Option<String>> {
        let Some(leaf) = before.tree.leaf(rev).filter(|leaf| !leaf.deleted) else { return Ok(None) };
        let nothing = Contents::default();
        let winner = self.winner(id, leaf, Some(before), &nothing)?;
        Ok(Some(winner.content.body.clone().into_owned()))
    }

    fn winner<'c>(
        &self,
        id: &str,
        leaf: Leaf,
        before: Option<&'c Before>,
        written: &'c Contents<'_>,
    ) -> Result<Winner<'c>> {
        if let Some(content) = content_at_hand(&leaf, before, written) {
            return Ok(Winner { leaf, content: Cow::Borrowed(content) });
        }
        let missing = || damaged(id.as_bytes(), "a leaf of its tree of revisions is not in the side tree");
        let side = self.entry.as_ref().map(|entry| entry.side).ok_or_else(missing)?;
        let row = self.view.get(side, &side::revision_key(side::LEAF, id, &leaf.rev))?.ok_or_else(missing)?;
        let head = stored::decode(&row, id.as_bytes())?;
        Ok(Winner { leaf, content: Cow::Owned(content_of(row.bytes, &head, id)?) })
    }

    /// Makes the side tree hold the losing leaves and no others.
    fn write_losing_leaves(
        &self,
        entry: &CollectionEntry,
        id: &str,
        before: Option<&Before>,
        leaves: &[Leaf],
        written: &Contents<'_>,
    ) {
        let losing = leaves.get(1..).unwrap_or_default();
        for leaf in losing {
            // A leaf whose content is not at hand was a losing leaf before, and its row is there.
            if let Some(Content { body, attachments }) = content_at_hand(leaf, before, written) {
                let attachments = attachments.as_deref();
                let row = StoredRow { body, rev: &leaf.rev, deleted: leaf.deleted, tree: None, attachments };
                self.view.put(entry.side, &side::revision_key(side::LEAF, id, &leaf.rev), row.encode());
            }
        }
        let Some(before) = before else { return };
        let still: HashSet<&RevId> = losing.iter().map(|leaf| &leaf.rev).collect();
        for former in before.tree.leaves() {
            if former.rev != before.head.rev && !still.contains(&former.rev) {
                self.view.delete(entry.side, &side::revision_key(side::LEAF, id, &former.rev));
            }
        }
    }

    /// Folds the tree. New blocks are written. Blocks of `stale` that folding does not make again are deleted.
    fn write_blocks(&self, entry: &CollectionEntry, id: &str, tree: &mut RevisionTree, mut stale: Blocks) {
        for block in tree.fold() {
            let Some(newest) = block.newest() else { continue };
            let value = block.encode();
            if stale.remove(&newest).is_none_or(|(_, known)| known != value) {
                self.view.put(entry.side, &side::revision_key(side::ANCESTORS, id, &newest), value);
            }
        }
        for (key, _) in stale.into_values() {
            self.view.delete(entry.side, &key);
        }
    }

    /// The blocks that are deleted unless folding makes them again. If the former tree is whole these are all blocks;
    /// if it is folded, the blocks that stemming has left behind.
    fn stale_blocks(&self, id: &str, before: Option<&Before>, tree: &RevisionTree) -> Result<Blocks> {
        let mut stale = HashMap::new();
        let (Some(entry), Some(before)) = (&self.entry, before) else { return Ok(stale) };
        // Stemming leaves a block behind once per block's length of revisions; one look then finds it.
        let steps = |tree: &RevisionTree| tree.oldest_folded().map(|oldest| oldest as usize / BLOCK_NODES);
        if before.tree.is_whole() || steps(&before.tree) == steps(tree) {
            return Ok(stale);
        }
        let prefix = side::prefix_of(side::ANCESTORS, id);
        let range = match tree.oldest_folded() {
            None => KeyRange::prefix(prefix.clone()),
            // What lies before the last step was deleted with it. Passing over tombstones takes time, so the range
            // begins behind it.
            Some(oldest) => {
                let known = before.tree.oldest_folded().unwrap_or(0) / BLOCK_NODES as u32 * BLOCK_NODES as u32;
                side::of_generations(side::ANCESTORS, id, known..oldest)
            }
        };
        for row in self.view.range(entry.side, &range, Direction::Forward) {
            let row = row?;
            let rev = side::revision_in(&row.key, &prefix, id)?;
            stale.insert(rev, (row.key.into_owned(), row.value.bytes.into_owned()));
        }
        Ok(stale)
    }

    /// Moves the document's row among the changes to this commit, and adjusts the counts. `before`: the head of the
    /// document's former row and the commit that wrote it. `now`: the winner and the length of its body in bytes.
    pub(crate) fn note_change(
        &self,
        entry: &CollectionEntry,
        id: &str,
        before: Option<(&StoredHead, Seq)>,
        now: Option<(&Leaf, usize)>,
    ) {
        match before {
            Some((_, PENDING)) => self.view.withdraw(entry.changes, &change_key(PENDING, id)),
            Some((_, seq)) => self.view.delete(entry.changes, &change_key(seq, id)),
            None => {}
        }
        if let Some((leaf, _)) = now {
            let value = change_value(&leaf.rev, leaf.deleted);
            self.view.put_at_own_seq(entry.changes, &[], id.as_bytes(), value);
        }
        // Live documents, deleted documents, bytes of the bodies of live documents; then updates of documents that were
        // there before. The sum of all but the bytes counts updates, so a document that goes adds one more.
        let count = |deleted: bool, bytes: usize| {
            if deleted { [0, 1, 0] } else { [1, 0, i64::try_from(bytes).unwrap_or(i64::MAX)] }
        };
        let old = before.map_or([0; 3], |(head, _)| count(head.deleted, head.body_len));
        let new = now.map_or([0; 3], |(leaf, body_len)| count(leaf.deleted, body_len));
        let rewritten = i64::from(before.is_some()) + i64::from(now.is_none());
        let difference = [new[0] - old[0], new[1] - old[1], new[2] - old[2], rewritten];
        let counted = if entry.counts_rewritten { 4 } else { 3 };
        self.view.add(CATALOGUE, &self.slot.counts_key, &difference[..counted]);
    }
}

/// The content of a leaf, if the write brings it or the document's row had it.
fn content_at_hand<'c>(leaf: &Leaf, before: Option<&'c Before>, written: &'c Contents<'_>) -> Option<&'c Content<'c>> {
    let was_winner = || before.filter(|before| before.head.rev == leaf.rev).map(|before| &before.content);
    written.get(&leaf.rev).map(|new| &new.content).or_else(was_winner)
}

fn content_of(value: Cow<'_, [u8]>, head: &StoredHead, id: &str) -> Result<Content<'static>> {
    let attachments = stored::section(&value, head, Section::Attachments).map(|bytes| Cow::Owned(bytes.to_vec()));
    let body = Cow::Owned(stored::into_body(value, head, id.as_bytes())?.into_owned());
    Ok(Content { body, attachments })
}
