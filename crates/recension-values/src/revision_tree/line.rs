//! The next revision of a tree that is one line, computed from its byte form. Nearly every document has such a tree,
//! and nearly every write of it needs no more. Other cases are left to [`RevisionTree`](super::RevisionTree).

use super::RevId;
use super::fold::LINE_NODES_MAX;
use super::form::{DELETED, INNER, STRETCH_BELOW, node, put_node};
use crate::byte_reader::ByteReader;
use crate::limits::REVISIONS_PER_DOCUMENT_MAX;

/// Bytes of a revision's hash.
const HASH_BYTES: usize = 16;
/// Bytes of a node with its hash.
const NODE_BYTES: usize = 1 + HASH_BYTES;

/// The tree of a document that is one line of hashes, as its row has it.
pub struct Line<'r> {
    winner: &'r RevId,
    deleted: bool,
    /// The oldest known revision, folded or not.
    oldest: u32,
    /// The generation of the first node that is not folded.
    first: u32,
    /// Its bytes before the first node's generation.
    below: &'r [u8],
    /// The nodes before the winner's.
    nodes: &'r [u8],
}

impl<'r> Line<'r> {
    /// The tree with this byte form, which is `None` if it is the winner alone. Returns `None` if the tree is not that
    /// simple, or damaged.
    pub fn of(bytes: Option<&'r [u8]>, winner: &'r RevId, deleted: bool) -> Option<Self> {
        winner.hash()?;
        let Some(bytes) = bytes else {
            let first = winner.generation();
            return Some(Line { winner, deleted, oldest: first, first, below: &[0], nodes: &[] });
        };
        let mut reader = ByteReader::new(bytes);
        let flags = reader.byte()?;
        let mut folded_from = None;
        if flags == STRETCH_BELOW {
            folded_from = Some(reader.u32()?);
            let (flags, suffix) = node(&mut reader)?;
            if flags != 0 || suffix.len() != HASH_BYTES {
                return None;
            }
        } else if flags != 0 {
            return None;
        }
        let below = &bytes[..bytes.len() - reader.rest().len()];
        let first = reader.u32()?;
        let inner = usize::from(reader.u16()?).checked_sub(1)?;
        let nodes = reader.take(inner * NODE_BYTES)?;
        let is_inner = |node: &[u8]| node[0] & !DELETED == HASH_BYTES as u8 | INNER;
        let own = if deleted { DELETED } else { 0 };
        let whole = reader.rest() == [own]
            && nodes.chunks_exact(NODE_BYTES).all(is_inner)
            && first.checked_add(inner as u32) == Some(winner.generation())
            && folded_from.is_none_or(|oldest| oldest > 0 && oldest < first);
        whole.then_some(Line { winner, deleted, oldest: folded_from.unwrap_or(first), first, below, nodes })
    }

    /// Whether the next write only appends a revision: nothing has to be folded, or forgotten beyond `revs_limit`.
    pub fn has_room(&self, revs_limit: u32) -> bool {
        let age = self.winner.generation().checked_add(1).and_then(|next| next.checked_sub(self.oldest));
        let kept = |age| age < revs_limit && (age as usize) < REVISIONS_PER_DOCUMENT_MAX;
        self.count() < LINE_NODES_MAX && age.is_some_and(kept)
    }

    /// Its nodes that are not folded.
    fn count(&self) -> usize {
        self.nodes.len() / NODE_BYTES + 1
    }

    /// The byte form of the tree after `rev` on top of its winner; `None` if that is impossible, or there is no room.
    pub fn next(&self, rev: &RevId, deleted: bool, revs_limit: u32) -> Option<Vec<u8>> {
        let follows = rev.hash().is_some() && self.winner.generation().checked_add(1) == Some(rev.generation());
        if !follows || !self.has_room(revs_limit) {
            return None;
        }
        let count = self.count() + 1;
        let flag = |deleted| if deleted { DELETED } else { 0 };
        let mut out = Vec::with_capacity(self.below.len() + 4 + 2 + count * NODE_BYTES);
        out.extend(self.below);
        out.extend(self.first.to_be_bytes());
        out.extend((count as u16).to_be_bytes());
        out.extend(self.nodes);
        put_node(&mut out, self.winner, flag(self.deleted) | INNER, None);
        put_node(&mut out, rev, flag(deleted), Some(rev));
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::RevisionTree;
    use super::*;

    fn rev(generation: u32, byte: u8) -> RevId {
        RevId::new(generation, [byte; 16])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn the_next_revision_of_a_line_is_what_the_tree_makes_of_it(
            start in prop::sample::select(&[1u32, 2, 40][..]),
            edits in prop::collection::vec((any::<u8>(), any::<bool>()), 1..60),
            limit in prop::sample::select(&[1u32, 2, 9, 20, 1000][..]),
        ) {
            let (mut winner, mut deleted) = (rev(start, 7), false);
            let mut tree = RevisionTree::of_one(winner, deleted);
            let mut known = tree.encode(&winner);
            let mut told = 0;
            for (byte, deletes) in &edits {
                let next = rev(winner.generation() + 1, *byte);
                tree.append(&winner, next, *deletes);
                tree.stem(limit);
                let folds = !tree.fold().is_empty();
                let expected = tree.encode(&next);
                let line = Line::of(known.as_deref(), &winner, deleted);
                prop_assert!(line.is_some(), "{known:?}");
                let has_room = line.as_ref().is_some_and(|line| line.has_room(limit));
                let made = line.and_then(|line| line.next(&next, *deletes, limit));
                prop_assert_eq!(has_room, made.is_some());
                match made {
                    Some(bytes) => prop_assert_eq!(Some(bytes), expected.clone()),
                    None => told += 1,
                }
                prop_assert!(!folds || told > 0, "a line was folded behind its back");
                (winner, deleted, known) = (next, *deletes, expected);
            }
            // A line is folded once in eight times.
            prop_assert!(limit < 1000 || told <= edits.len() / 8, "{told} of {}", edits.len());
        }

        #[test]
        fn what_is_no_line_or_damaged_is_left_to_the_tree(
            branch in 0..3usize, at in any::<prop::sample::Index>(), byte in any::<u8>(), text in any::<bool>(),
        ) {
            let path = [rev(4, 4), rev(3, 3), rev(2, 2), rev(1, 1)];
            let mut tree = RevisionTree::of_path(&path, false).unwrap();
            let whole = tree.encode(&path[0]).unwrap();
            prop_assert!(Line::of(Some(&whole), &path[0], false).is_some());
            prop_assert!(Line::of(Some(&whole), &path[0], true).is_none());
            let mut damaged = whole.clone();
            let at = at.index(damaged.len());
            damaged[at] = byte;
            // If it is taken for a line, the tree must read it as the same line.
            if let Some(next) = Line::of(Some(&damaged), &path[0], false).and_then(|line| line.next(&rev(5, 5), false, 1000)) {
                let mut tree = RevisionTree::decode(&damaged, &path[0]).unwrap();
                tree.append(&path[0], rev(5, 5), false);
                prop_assert_eq!(Some(next), tree.encode(&rev(5, 5)));
            }
            for cut in 0..whole.len() {
                prop_assert!(Line::of(Some(&whole[..cut]), &path[0], false).is_none());
            }
            let side = if text { "9-abc".parse().unwrap() } else { rev(path[branch].generation() + 1, 0) };
            let side = RevId::from_bytes(path[branch + 1].generation() + 1, side.suffix_bytes()).unwrap();
            tree.append(&path[branch + 1], side, true);
            let forked = tree.encode(&path[0]).unwrap();
            prop_assert!(Line::of(Some(&forked), &path[0], false).is_none());
        }
    }
}
