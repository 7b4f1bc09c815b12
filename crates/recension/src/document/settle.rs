//! Settling a document: whatever has become of its tree of revisions, its row says what the winner says,
//! the side tree what the other leaves say, and indexes, changes and counts follow. Every write of a
//! document ends here, be it made here, replicated or purged, but for the first revision of a document and the next one of
//! a document whose tree is one line, which need less of it (`Writer::write_line`).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::apply::Writer;
use super::attachment::Wanted;
use super::catalogue::{CATALOGUE, CollectionEntry};
use super::changes::{change_key, change_value};
use super::limits::REVISIONS_PER_DOCUMENT_MAX;
use super::revision_tree::{BLOCK_NODES, Leaf, RevisionTree};
use super::stored::{self, Section, StoredHead, StoredRow, damaged};
use super::view::PENDING;
use super::{Error, Result, RevId, side};
use crate::engine::{Direction, KeyRange, Seq, Snapshot, Value};

/// A document's row.
pub(super) struct DocumentRow<'s> {
    pub(super) head: StoredHead,
    /// The commit that wrote it.
    pub(super) seq: Seq,
    pub(super) value: Cow<'s, [u8]>,
}

/// A document before a write.
pub(super) struct Before {
    pub(super) head: StoredHead,
    /// The commit that wrote its row.
    pub(super) seq: Seq,
    pub(super) content: Content<'static>,
    /// Folded, as its row has it.
    pub(super) tree: RevisionTree,
}

/// What a revision says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Content<'c> {
    pub(super) body: Cow<'c, str>,
    pub(super) attachments: Option<Cow<'c, [u8]>>,
}

/// What shall become of a document.
pub(super) struct Next<'w> {
    /// Its tree: what it was with a revision appended, or a whole one.
    pub(super) tree: RevisionTree,
    /// What a leaf of it says that is new, or says something else now.
    pub(super) written: Option<(RevId, Content<'w>)>,
    /// Where the bytes of its attachments come from.
    pub(super) wanted: Option<&'w Wanted>,
    /// The revision was made here: a unique index may refuse it. What others have made is taken as it is, or
    /// replicas would never agree.
    pub(super) made_here: bool,
}

/// A winner and what it says.
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
    pub(super) fn of(row: DocumentRow<'_>, id: &str) -> Result<Self> {
        let DocumentRow { head, seq, value } = row;
        let tree = stored::tree(&value, &head, id.as_bytes())?;
        let content = content_of(value, &head, id)?;
        Ok(Before { head, seq, content, tree })
    }
}

impl<'a> Writer<'a> {
    /// A document's row as it is before the write.
    pub(super) fn row(&self, id: &str) -> Result<Option<DocumentRow<'a>>> {
        let Some(entry) = &self.entry else { return Ok(None) };
        let Some(Value { seq, bytes: value }) = self.view.get(entry.documents, id.as_bytes())? else { return Ok(None) };
        let head = stored::decode(&value, id.as_bytes())?;
        Ok(Some(DocumentRow { head, seq, value }))
    }

    pub(super) fn read(&self, id: &str) -> Result<Option<Before>> {
        self.row(id)?.map(|row| Before::of(row, id)).transpose()
    }

    /// Writes all that follows from a document's next tree. After an error nothing of it is in the view.
    pub(super) fn settle(&mut self, id: &str, before: Option<&Before>, next: Next<'_>) -> Result<()> {
        let Next { mut tree, written, wanted, made_here } = next;
        tree.stem(self.entry.as_ref().map_or(super::limits::REVS_LIMIT_DEFAULT, |entry| entry.revs_limit));
        if tree.len() > REVISIONS_PER_DOCUMENT_MAX {
            return Err(Error::TooManyRevisions { id: id.to_owned(), max: REVISIONS_PER_DOCUMENT_MAX });
        }
        let leaves = tree.leaves();
        let winner = leaves.first().map(|leaf| self.winner(id, *leaf, before, written.as_ref())).transpose()?;
        let old_body = before.filter(|before| !before.head.deleted).map(|before| &*before.content.body);
        // A loser that comes to the front is not refused: who deletes the winner did not write it.
        let wins = |rev: &RevId| winner.as_ref().is_some_and(|winner| winner.leaf.rev == *rev);
        let refusable = made_here && written.as_ref().is_some_and(|(rev, _)| wins(rev));
        let new_body = winner.as_ref().and_then(Winner::live_body);
        let changes = self.index_changes(id, old_body, new_body, refusable)?;
        let stale = self.stale_blocks(id, before, &tree)?;
        let contents = self.content_changes(id, before, &leaves, written.as_ref(), wanted)?;

        let entry = self.entry_or_new()?;
        for (key, value) in contents {
            match value {
                Some(value) => self.view.put(entry.side, &key, value),
                None => self.view.delete(entry.side, &key),
            }
        }
        self.write_losing_leaves(&entry, id, before, &leaves, written.as_ref());
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

    /// What a leaf says that is there; `None` where it is a deletion.
    pub(super) fn live_body_of(&self, id: &str, before: &Before, rev: &RevId) -> Result<Option<String>> {
        let Some(leaf) = before.tree.leaf(rev).filter(|leaf| !leaf.deleted) else { return Ok(None) };
        let winner = self.winner(id, leaf, Some(before), None)?;
        Ok(Some(winner.content.body.clone().into_owned()))
    }

    fn winner<'c>(
        &self,
        id: &str,
        leaf: Leaf,
        before: Option<&'c Before>,
        written: Option<&'c (RevId, Content<'c>)>,
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

    /// The side tree has the leaves that lose, and no others.
    fn write_losing_leaves(
        &self,
        entry: &CollectionEntry,
        id: &str,
        before: Option<&Before>,
        leaves: &[Leaf],
        written: Option<&(RevId, Content<'_>)>,
    ) {
        let losing = leaves.get(1..).unwrap_or_default();
        for leaf in losing {
            // Where it is not at hand, it lost before and is there.
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

    /// Folds the tree. Blocks that are new are written, and of `stale` ones those deleted that are not made again.
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

    /// The blocks that are not needed any more unless folding makes them again: all of them where the tree is
    /// whole, those that stemming has left behind where it is folded.
    fn stale_blocks(&self, id: &str, before: Option<&Before>, tree: &RevisionTree) -> Result<Blocks> {
        let mut stale = HashMap::new();
        let (Some(entry), Some(before)) = (&self.entry, before) else { return Ok(stale) };
        // Of what a block's length of stemming leaves behind, one look finds all.
        let steps = |tree: &RevisionTree| tree.oldest_folded().map(|oldest| oldest as usize / BLOCK_NODES);
        if before.tree.is_whole() || steps(&before.tree) == steps(tree) {
            return Ok(stale);
        }
        let prefix = side::prefix_of(side::ANCESTORS, id);
        let range = match tree.oldest_folded() {
            None => KeyRange::prefix(prefix.clone()),
            // What lies before the last step went with it. (Keys that were deleted take time to pass.)
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

    /// The row of the document among the changes moves to this commit, and the counts follow. `before`: its row and the
    /// commit that wrote it; `now`: its winner and the bytes of what that says.
    pub(super) fn note_change(
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
        // Live documents, deleted ones, bytes of the live ones' bodies.
        let count = |deleted: bool, bytes: usize| {
            if deleted { [0, 1, 0] } else { [1, 0, i64::try_from(bytes).unwrap_or(i64::MAX)] }
        };
        let old = before.map_or([0; 3], |(head, _)| count(head.deleted, head.body_len));
        let new = now.map_or([0; 3], |(leaf, body_len)| count(leaf.deleted, body_len));
        let difference: [i64; 3] = std::array::from_fn(|i| new[i] - old[i]);
        self.view.add(CATALOGUE, &self.slot.counts_key, &difference);
    }
}

/// What a leaf says, where the write brings it or the document's row had it.
fn content_at_hand<'c>(
    leaf: &Leaf,
    before: Option<&'c Before>,
    written: Option<&'c (RevId, Content<'c>)>,
) -> Option<&'c Content<'c>> {
    let was_winner = || before.filter(|before| before.head.rev == leaf.rev).map(|before| &before.content);
    written.filter(|(rev, _)| *rev == leaf.rev).map(|(_, content)| content).or_else(was_winner)
}

fn content_of(value: Cow<'_, [u8]>, head: &StoredHead, id: &str) -> Result<Content<'static>> {
    let attachments = stored::section(&value, head, Section::Attachments).map(|bytes| Cow::Owned(bytes.to_vec()));
    let body = Cow::Owned(stored::into_body(value, head, id.as_bytes())?.into_owned());
    Ok(Content { body, attachments })
}
