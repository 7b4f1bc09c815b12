//! Folding: long lines of a tree move into blocks, which are rows of their own that never change. A document's row then
//! holds only a few revisions of each branch, however long its history is.

use std::collections::HashMap;

use super::{Node, RevId, RevisionTree, Stretch};
use crate::limits::REVISIONS_PER_DOCUMENT_MAX;

/// Inner nodes in one line from which on the oldest ones are folded.
pub(super) const LINE_NODES_MAX: usize = 16;
/// Nodes that are folded together. The remaining ones suffice for most replicas to find a common ancestor.
pub const BLOCK_NODES: usize = 8;

/// A line of inner nodes, and the block that it stands on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Newest first, and whether each is a deletion.
    pub(super) nodes: Vec<(RevId, bool)>,
    /// The newest node of the block below.
    pub(super) below: Option<RevId>,
}

/// The nodes above a node.
#[derive(Clone, Copy, Default)]
struct Above {
    count: usize,
    node: Option<RevId>,
}

impl Block {
    /// The revision that names it.
    pub fn newest(&self) -> Option<RevId> {
        self.nodes.first().map(|(rev, _)| *rev)
    }
}

impl RevisionTree {
    /// Moves the oldest nodes of long lines into blocks.
    pub fn fold(&mut self) -> Vec<Block> {
        if self.nodes.len() <= LINE_NODES_MAX {
            return Vec::new();
        }
        let mut blocks = Vec::new();
        let mut folded: Vec<RevId> = Vec::new();
        for line in self.lines() {
            let mut rest = line.as_slice();
            while rest.len() >= LINE_NODES_MAX {
                let (oldest, newer) = rest.split_at(BLOCK_NODES);
                blocks.extend(self.fold_line(oldest));
                folded.extend(oldest);
                rest = newer;
            }
        }
        folded.sort_unstable();
        self.nodes.retain(|rev| folded.binary_search(rev).is_err());
        blocks
    }

    /// The nodes with exactly one child, as lines, each oldest first.
    fn lines(&self) -> Vec<Vec<RevId>> {
        if let Some((mut line, _)) = self.only_line() {
            line.pop();
            return vec![line];
        }
        let above = self.above();
        let in_line = |rev: &RevId| above.get(rev).filter(|above| above.count == 1).and_then(|above| above.node);
        let starts = self.nodes.iter().filter(|(rev, node)| {
            let on_line = node.parent.is_some_and(|parent| self.nodes.contains(&parent) && in_line(&parent).is_some());
            in_line(rev).is_some() && !on_line
        });
        let line = |(start, _): (&RevId, _)| {
            std::iter::successors(Some(*start), in_line).filter(|rev| in_line(rev).is_some()).collect()
        };
        starts.map(line).collect()
    }

    /// The nodes, oldest first, of a tree that is one line on at most one stretch, and that stretch's newest revision.
    /// Nearly every document has such a tree. No look-up is needed.
    pub(super) fn only_line(&self) -> Option<(Vec<RevId>, Option<RevId>)> {
        let (_, oldest) = self.nodes.iter().next().filter(|_| self.is_only_line())?;
        Some((self.nodes.keys().copied().collect(), oldest.parent))
    }

    /// Whether the tree is one line on at most one stretch.
    pub(super) fn is_only_line(&self) -> bool {
        let parents = self.nodes.values().map(|node| node.parent.as_ref());
        if !self.nodes.keys().zip(parents.skip(1)).all(|(below, parent)| parent == Some(below)) {
            return false;
        }
        let Some((_, Node { parent: below, .. })) = self.nodes.iter().next() else { return false };
        match (below, self.stretches.iter().next()) {
            (None, None) => true,
            (Some(below), Some((newest, stretch))) => {
                self.stretches.len() == 1 && below == newest && stretch.before.is_none()
            }
            _ => false,
        }
    }

    fn above(&self) -> HashMap<RevId, Above> {
        let mut above: HashMap<RevId, Above> = HashMap::with_capacity(self.nodes.len());
        let of_nodes = self.nodes.iter().filter_map(|(rev, node)| Some((node.parent?, Some(*rev))));
        let of_stretches = self.stretches.values().filter_map(|stretch| Some((stretch.before?, None)));
        for (parent, child) in of_nodes.chain(of_stretches) {
            let above = above.entry(parent).or_default();
            above.count += 1;
            above.node = above.node.or(child);
        }
        above
    }

    /// Folds a line, oldest first. Its nodes stay until all lines are done.
    fn fold_line(&mut self, line: &[RevId]) -> Option<Block> {
        let (oldest, newest) = (line.first()?, line.last()?);
        let parent = self.nodes.get(oldest)?.parent;
        let below = parent.filter(|parent| self.stretches.contains(parent));
        let stretch = below.and_then(|below| self.stretches.remove(&below));
        let stretch = stretch.unwrap_or(Stretch { oldest: oldest.generation(), before: parent });
        self.stretches.insert(*newest, stretch);
        let nodes = line.iter().rev().filter_map(|rev| Some((*rev, self.nodes.get(rev)?.deleted))).collect();
        Some(Block { nodes, below })
    }

    /// The tree with nothing folded; `read` gives blocks by their newest revision.
    ///
    /// # Errors
    /// Errors of `read`, and `damaged` of a reason.
    pub fn unfold<E>(
        mut self,
        mut read: impl FnMut(&RevId) -> Result<Block, E>,
        damaged: impl Fn(&'static str) -> E,
    ) -> Result<Self, E> {
        let mut unfolded: Vec<(RevId, Node)> = Vec::new();
        for (newest, stretch) in std::mem::take(&mut self.stretches) {
            let mut next = Some(newest);
            while let Some(newest) = next.take() {
                let block = read(&newest)?;
                let mut nodes = block.nodes.iter().take_while(|(rev, _)| rev.generation() >= stretch.oldest).peekable();
                while let Some((rev, deleted)) = nodes.next() {
                    let older = nodes.peek().map(|(rev, _)| *rev);
                    let ends = rev.generation() == stretch.oldest;
                    let parent = if ends { stretch.before } else { older.or(block.below) };
                    if parent.is_none() && !ends {
                        return Err(damaged("a block of its ancestors ends too early"));
                    }
                    if parent.is_some_and(|parent| parent.generation() + 1 != rev.generation()) {
                        return Err(damaged("a block of its ancestors does not fit the next one"));
                    }
                    unfolded.push((*rev, Node { parent, deleted: *deleted, inner: true }));
                    next = if ends || older.is_some() { None } else { block.below };
                }
                if self.nodes.len() + unfolded.len() > REVISIONS_PER_DOCUMENT_MAX {
                    return Err(damaged("it has more ancestors than a document may have"));
                }
            }
        }
        // The map has the oldest first.
        unfolded.reverse();
        if !self.nodes.add_all(unfolded) {
            return Err(damaged("a block of its ancestors repeats a revision"));
        }
        Ok(self)
    }
}
