//! The tree of a document's revisions: the revisions, their parents, and the winner. Pure. Replicas that have heard of
//! the same revisions have the same tree, in whatever order they heard.

mod fold;
mod form;
mod line;
mod rev_map;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

pub use fold::{BLOCK_NODES, Block};
pub use line::Line;
use rev_map::RevMap;

use crate::revid::RevId;

/// A tree (a forest, if ancestors are not known) of revisions.
///
/// **Architecture Invariant:** [`RevisionTree::merge`] is a join of the facts about each node. It is therefore
/// commutative, associative and idempotent, whatever the trees hold. (`merging_is_a_join`)
///
/// In its stored form, long lines are folded into blocks: see `fold`. Functions that ask for a *whole* tree must be
/// given an unfolded one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RevisionTree {
    nodes: RevMap<Node>,
    /// Folded lines, by their newest revision.
    stretches: RevMap<Stretch>,
}

/// The facts about a revision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Node {
    /// The revision that it stands on, of the generation before; `None` for the first one, and if it is not known.
    parent: Option<RevId>,
    deleted: bool,
    /// A revision stands on it. It stays so even if two replicas disagree about which one.
    inner: bool,
}

impl Node {
    fn join(&mut self, other: &Node) {
        // An unknown parent is less than any.
        self.parent = self.parent.max(other.parent);
        self.deleted |= other.deleted;
        self.inner |= other.inner;
    }
}

/// Paths to be added to a tree together, so that the tree is walked once for all of them.
#[derive(Default)]
pub struct Paths {
    nodes: HashMap<RevId, Node>,
}

impl Paths {
    /// Adds a path, newest first; `deleted` is about its newest revision. Returns whether it has a fact that neither
    /// `known`, which is whole, nor the earlier paths have. `None` if its generations do not follow each other.
    pub fn add(&mut self, path: &[RevId], deleted: bool, known: &RevisionTree) -> Option<bool> {
        debug_assert!(known.is_whole());
        let sent = RevisionTree::of_path(path, deleted)?;
        let mut is_new = false;
        for (rev, node) in sent.nodes.iter() {
            let before = self.nodes.get(rev).or_else(|| known.nodes.get(rev)).copied();
            let mut after = before.unwrap_or(*node);
            after.join(node);
            if before != Some(after) {
                is_new = true;
                self.nodes.insert(*rev, after);
            }
        }
        Some(is_new)
    }

    /// The tree of the new facts in them.
    pub fn into_tree(self) -> RevisionTree {
        let mut nodes: Vec<(RevId, Node)> = self.nodes.into_iter().collect();
        nodes.sort_unstable_by_key(|(rev, _)| *rev);
        RevisionTree { nodes: nodes.into_iter().collect(), stretches: RevMap::default() }
    }
}

/// A line of inner nodes that lie in blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stretch {
    /// The generation of its oldest node.
    oldest: u32,
    /// The parent of its oldest node.
    before: Option<RevId>,
}

/// A revision that no other one stands on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// The revision.
    pub rev: RevId,
    /// Whether it is a deletion.
    pub deleted: bool,
}

impl Leaf {
    /// The rank of a leaf: a live one beats a deleted one, then the greater revision wins.
    fn rank(&self) -> (bool, RevId) {
        (!self.deleted, self.rev)
    }
}

impl RevisionTree {
    /// The tree of one revision without known ancestors.
    pub fn of_one(rev: RevId, deleted: bool) -> Self {
        let node = Node { parent: None, deleted, inner: false };
        RevisionTree { nodes: RevMap::of_one(rev, node), stretches: RevMap::default() }
    }

    /// The tree of one revision and its ancestors, newest first. `None` if the generations do not
    /// follow each other.
    pub fn of_path(path: &[RevId], deleted: bool) -> Option<Self> {
        let follow = |pair: &[RevId]| pair[0].generation() == pair[1].generation() + 1;
        if path.is_empty() || !path.windows(2).all(follow) {
            return None;
        }
        let node = |(at, rev): (usize, &RevId)| {
            let node = Node { parent: path.get(at + 1).copied(), deleted: deleted && at == 0, inner: at > 0 };
            (*rev, node)
        };
        Some(RevisionTree { nodes: path.iter().enumerate().rev().map(node).collect(), stretches: RevMap::default() })
    }

    /// How many revisions it has, folded ones included.
    pub fn len(&self) -> usize {
        let folded = |(newest, stretch): (&RevId, &Stretch)| (newest.generation() - stretch.oldest) as usize + 1;
        self.stretches.iter().map(folded).fold(self.nodes.len(), usize::saturating_add)
    }

    /// Whether nothing of it is folded.
    pub fn is_whole(&self) -> bool {
        self.stretches.is_empty()
    }

    /// The oldest folded generation; `None` if nothing is folded.
    pub fn oldest_folded(&self) -> Option<u32> {
        self.stretches.values().map(|stretch| stretch.oldest).min()
    }

    /// Whether it has a revision. On a whole tree.
    pub fn contains(&self, rev: &RevId) -> bool {
        debug_assert!(self.is_whole());
        self.nodes.contains(rev)
    }

    /// Whether it has a revision; `None` if only the whole tree could tell.
    pub fn knows(&self, rev: &RevId) -> Option<bool> {
        let folded =
            |(newest, stretch): (&RevId, &Stretch)| (stretch.oldest..=newest.generation()).contains(&rev.generation());
        match (self.nodes.contains(rev) || self.stretches.contains(rev), self.stretches.iter().any(folded)) {
            (false, true) => None,
            (known, _) => Some(known),
        }
    }

    /// The leaf of that revision.
    pub fn leaf(&self, rev: &RevId) -> Option<Leaf> {
        let node = self.nodes.get(rev).filter(|node| !node.inner)?;
        Some(Leaf { rev: *rev, deleted: node.deleted })
    }

    /// The leaves: the winner first, then the order in which they would win.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut leaves: Vec<Leaf> = self.each_leaf().collect();
        leaves.sort_unstable_by_key(|leaf| std::cmp::Reverse(leaf.rank()));
        leaves
    }

    /// The winning leaf.
    pub fn winner(&self) -> Option<Leaf> {
        self.each_leaf().max_by_key(Leaf::rank)
    }

    /// The only leaf, if there is one.
    pub fn only_leaf(&self) -> Option<Leaf> {
        let mut leaves = self.each_leaf();
        leaves.next().filter(|_| leaves.next().is_none())
    }

    fn each_leaf(&self) -> impl Iterator<Item = Leaf> {
        let leaf = |(rev, node): (&RevId, &Node)| (!node.inner).then_some(Leaf { rev: *rev, deleted: node.deleted });
        self.nodes.iter().filter_map(leaf)
    }

    /// A revision and its ancestors, newest first, as far as they are known. On a whole tree.
    pub fn path(&self, rev: &RevId) -> Vec<RevId> {
        debug_assert!(self.is_whole());
        let known = |rev: RevId| self.nodes.contains(&rev).then_some(rev);
        std::iter::successors(known(*rev), |rev| known(self.nodes.get(rev)?.parent?)).collect()
    }

    /// The leaves that stand on a revision, or are it. On a whole tree.
    pub fn leaves_above(&self, rev: &RevId) -> Vec<Leaf> {
        debug_assert!(self.is_whole());
        let mut above = HashSet::from([*rev]);
        // Parents come before their children.
        for (child, node) in self.nodes.iter_from(rev) {
            if node.parent.is_some_and(|parent| above.contains(&parent)) {
                above.insert(*child);
            }
        }
        let mut leaves = self.leaves();
        leaves.retain(|leaf| above.contains(&leaf.rev));
        leaves
    }

    /// The revisions of `revs` that it does not have, and leaves that might be ancestors of those. On a whole tree.
    pub fn missing(&self, revs: &[RevId]) -> (Vec<RevId>, Vec<RevId>) {
        let missing: Vec<RevId> = revs.iter().filter(|rev| !self.contains(rev)).copied().collect();
        let newest = missing.iter().map(RevId::generation).max().unwrap_or(0);
        let older = |leaf: &Leaf| leaf.rev.generation() < newest;
        let ancestors = self.leaves().into_iter().filter(older).map(|leaf| leaf.rev).collect();
        (missing, ancestors)
    }

    /// Whether a path (newest first) only adds its newest revision, on a leaf. Folded revisions are not looked at: if
    /// the path and the tree have a revision in common, both have the same ancestors.
    pub fn is_extended_by(&self, path: &[RevId]) -> bool {
        let [newest, parent, ..] = path else { return false };
        if self.leaf(parent).is_none() || self.knows(newest) != Some(false) {
            return false;
        }
        let mut known = Some(*parent);
        let mut path = path[1..].iter();
        while let Some(rev) = path.next() {
            if known != Some(*rev) {
                return false;
            }
            known = match self.stretches.get(rev) {
                None => self.nodes.get(rev).and_then(|node| node.parent),
                Some(stretch) => {
                    let folded = (rev.generation() - stretch.oldest) as usize;
                    if folded > 0 && path.nth(folded - 1).is_none() {
                        return true;
                    }
                    stretch.before
                }
            };
        }
        true
    }

    /// Adds a revision that stands on `parent`, which is in the tree and not folded.
    pub fn append(&mut self, parent: &RevId, rev: RevId, deleted: bool) {
        debug_assert!(rev.generation() == parent.generation() + 1);
        if let Some(parent) = self.nodes.get_mut(parent) {
            parent.inner = true;
        }
        let node = Node { parent: Some(*parent), deleted, inner: false };
        match self.nodes.get_mut(&rev) {
            None => drop(self.nodes.insert(rev, node)),
            Some(known) => known.join(&node),
        }
    }

    /// Whether another tree has another fact about any revision of a path. Both are whole.
    pub fn differs_in(&self, other: &RevisionTree, path: &[RevId]) -> bool {
        path.iter().any(|rev| self.nodes.get(rev) != other.nodes.get(rev))
    }

    /// Adds the facts of another tree. Both are whole.
    pub fn merge(&mut self, other: &RevisionTree) {
        debug_assert!(self.is_whole() && other.is_whole());
        self.nodes.join_all(&other.nodes, Node::join);
    }

    /// Forgets all except the newest `limit` revisions of each line from a leaf downwards.
    pub fn stem(&mut self, limit: u32) {
        let newest = self.nodes.keys().next_back().map_or(0, RevId::generation);
        let oldest = self.nodes.keys().next().map_or(0, RevId::generation);
        if newest - oldest.min(self.oldest_folded().unwrap_or(oldest)) < limit {
            return; // No line is longer than that.
        }
        // If the tree is one line, its newest node is the only tip.
        let only = self.is_only_line().then_some(newest);
        let lowest = if only.is_some() { HashMap::new() } else { self.lowest_tips() };
        // For a node below a tip: whether the tip's line still holds it.
        let lowest_tip = |rev: &RevId| only.or_else(|| lowest.get(rev).copied());
        let oldest_kept = |rev: &RevId| lowest_tip(rev).map_or(0, |tip| tip.saturating_sub(limit - 1));
        self.nodes.retain(|rev| rev.generation() >= oldest_kept(rev));
        self.stretches.retain(|newest| newest.generation() >= oldest_kept(newest));
        for (newest, stretch) in self.stretches.iter_mut() {
            let oldest = oldest_kept(newest);
            if oldest > stretch.oldest {
                *stretch = Stretch { oldest, before: None };
            }
            stretch.before = stretch.before.filter(|rev| self.nodes.contains(rev));
        }
        let gone: Vec<RevId> =
            self.nodes.iter().filter(|(_, node)| self.stands_on_nothing(node)).map(|(rev, _)| *rev).collect();
        for rev in gone {
            if let Some(node) = self.nodes.get_mut(&rev) {
                node.parent = None;
            }
        }
    }

    fn stands_on_nothing(&self, node: &Node) -> bool {
        node.parent.is_some_and(|parent| !self.nodes.contains(&parent) && !self.stretches.contains(&parent))
    }

    /// For each node and stretch, the least generation of the tips above it.
    fn lowest_tips(&self) -> HashMap<RevId, u32> {
        let mut lowest: HashMap<RevId, u32> = HashMap::with_capacity(self.nodes.len());
        // From the newest down: each node is complete when it is its turn.
        for (rev, node) in self.nodes.iter().rev() {
            let tip = *lowest.entry(*rev).or_insert(rev.generation());
            let below = node.parent.into_iter();
            let beyond = node.parent.and_then(|parent| self.stretches.get(&parent)?.before);
            for parent in below.chain(beyond) {
                lowest.entry(parent).and_modify(|least| *least = tip.min(*least)).or_insert(tip);
            }
        }
        lowest
    }

    /// Removes leaves, with the ancestors that no other leaf stands on; answers which of `revs` were leaves. On a whole
    /// tree.
    pub fn purge(&mut self, revs: &[RevId]) -> Vec<RevId> {
        debug_assert!(self.is_whole());
        let mut purged: Vec<RevId> = revs.iter().filter(|rev| self.leaf(rev).is_some()).copied().collect();
        purged.sort_unstable();
        purged.dedup();
        if !purged.is_empty() {
            let kept = self.leaves().into_iter().filter(|leaf| purged.binary_search(&leaf.rev).is_err());
            let mut held = HashSet::new();
            for leaf in kept {
                // If a revision is held already, all its ancestors are.
                held.extend(self.path(&leaf.rev).into_iter().take_while(|rev| !held.contains(rev)).collect::<Vec<_>>());
            }
            self.nodes.retain(|rev| held.contains(rev));
        }
        purged
    }
}
