//! The byte forms of a folded tree and of its blocks: docs/documents-format.md, "Revision trees". The bytes to read may
//! be damaged.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::{Block, Node, RevId, RevisionTree, Stretch};
use crate::byte_reader::ByteReader;
use crate::limits::REVISIONS_PER_DOCUMENT_MAX;

const BLOCK_LAYOUT: u8 = 1;

const SUFFIX_LEN: u8 = 0b1_1111;
pub(super) const DELETED: u8 = 32;
pub(super) const INNER: u8 = 64;
/// The suffix is too long for the length bits: the next byte has the rest.
const LONG: u8 = 128;

const STANDS_ON_NODE: u8 = 1;
pub(super) const STRETCH_BELOW: u8 = 2;

/// The reason for which bytes are no tree or no block.
pub(super) type Damage = &'static str;

/// A line of nodes as it is stored.
struct Run {
    /// Oldest first.
    nodes: Vec<RevId>,
    stretch: Option<RevId>,
    stands_on: Option<RevId>,
}

impl RevisionTree {
    /// The bytes of a tree whose winner is `winner`; `None` if the tree is only that.
    pub fn encode(&self, winner: &RevId) -> Option<Vec<u8>> {
        const USUAL_NODE_BYTES: usize = 1 + 16;
        let mut out = Vec::with_capacity((self.nodes.len() + 2) * USUAL_NODE_BYTES);
        let runs = self.runs();
        // A tree of one line needs no places.
        let mut places: HashMap<RevId, (u16, u16)> = HashMap::new();
        if let [run] = runs.as_slice()
            && run.nodes == [*winner]
            && run.stretch.is_none()
        {
            return None;
        }
        for (number, run) in runs.iter().enumerate() {
            let first = run.nodes.first()?;
            let flags = |set: bool, flag| if set { flag } else { 0 };
            out.push(flags(run.stands_on.is_some(), STANDS_ON_NODE) | flags(run.stretch.is_some(), STRETCH_BELOW));
            if let Some(below) = &run.stands_on {
                let (run, index) = places.get(below)?;
                out.extend(run.to_be_bytes());
                out.extend(index.to_be_bytes());
            }
            if let Some(newest) = &run.stretch {
                out.extend(self.stretches.get(newest)?.oldest.to_be_bytes());
                put_node(&mut out, newest, 0, None);
            }
            out.extend(first.generation().to_be_bytes());
            out.extend((run.nodes.len() as u16).to_be_bytes());
            for (index, rev) in run.nodes.iter().enumerate() {
                let node = self.nodes.get(rev)?;
                put_node(&mut out, rev, flags(node.deleted, DELETED) | flags(node.inner, INNER), Some(winner));
                if runs.len() > 1 {
                    places.insert(*rev, (number as u16, index as u16));
                }
            }
        }
        Some(out)
    }

    /// The tree as runs, each of which may stand on an earlier one.
    fn runs(&self) -> Vec<Run> {
        if let Some((nodes, stretch)) = self.only_line() {
            return vec![Run { nodes, stretch, stands_on: None }];
        }
        let parents: HashSet<RevId> = self.nodes.values().filter_map(|node| node.parent).collect();
        let before: HashSet<RevId> = self.stretches.values().filter_map(|stretch| stretch.before).collect();
        let mut tips: Vec<&RevId> =
            self.nodes.keys().filter(|rev| !parents.contains(rev) && !before.contains(rev)).collect();
        tips.sort_unstable_by_key(|rev| Reverse(self.nodes.get(rev).map(|node| (!node.deleted, **rev))));
        let mut placed = HashSet::with_capacity(self.nodes.len());
        let mut runs = Vec::new();
        for tip in tips {
            let mut line = Vec::new();
            let mut from = Some(*tip);
            while let Some(start) = from {
                let near = |rev: RevId| (self.nodes.contains(&rev) && !placed.contains(&rev)).then_some(rev);
                let mut nodes: Vec<RevId> =
                    std::iter::successors(near(start), |rev| near(self.nodes.get(rev)?.parent?)).collect();
                let below = nodes.last().and_then(|rev| self.nodes.get(rev)?.parent);
                placed.extend(nodes.iter().copied());
                nodes.reverse();
                let stretch = below.and_then(|below| self.stretches.get(&below));
                let stands_on = stretch.map_or(below, |stretch| stretch.before);
                line.push(Run { nodes, stretch: below.filter(|_| stretch.is_some()), stands_on });
                from = stands_on.filter(|rev| !placed.contains(rev));
            }
            runs.extend(line.into_iter().rev());
        }
        runs
    }

    /// Reads the tree of a document whose row has `winner`.
    pub fn decode(bytes: &[u8], winner: &RevId) -> Result<Self, Damage> {
        let mut reader = ByteReader::new(bytes);
        let mut decoded = Decoded::default();
        while !reader.is_empty() {
            decoded.run(&mut reader, winner)?;
            if decoded.nodes.len() > REVISIONS_PER_DOCUMENT_MAX {
                return Err("its revision tree has more revisions than a document may have");
            }
        }
        let Decoded { nodes, stretches, .. } = decoded;
        let mut tree = RevisionTree::default();
        let each_once = tree.nodes.add_all(nodes) && tree.stretches.add_all(stretches);
        if !each_once || tree.stretches.keys().any(|newest| tree.nodes.contains(newest)) {
            return Err("its revision tree repeats a revision");
        }
        match tree.winner() {
            Some(leaf) if leaf.rev == *winner => Ok(tree),
            _ => Err("its revision is not the winner of its revision tree"),
        }
    }
}

/// The part of a tree that was read: entries in any order.
#[derive(Default)]
struct Decoded {
    nodes: Vec<(RevId, Node)>,
    stretches: Vec<(RevId, Stretch)>,
    /// Where the nodes of each run begin.
    runs: Vec<usize>,
}

impl Decoded {
    fn run(&mut self, reader: &mut ByteReader<'_>, winner: &RevId) -> Result<(), Damage> {
        const CUT: Damage = "its revision tree is cut short";
        const MISFIT: Damage = "its revision tree has runs that do not fit together";
        let flags = reader.byte().ok_or(CUT)?;
        if flags & !(STANDS_ON_NODE | STRETCH_BELOW) != 0 {
            return Err("its revision tree has a run of a kind that is not known");
        }
        let mut below = None;
        if flags & STANDS_ON_NODE != 0 {
            let (run, index) = (reader.u16().ok_or(CUT)?, reader.u16().ok_or(CUT)?);
            below = Some(self.node_of(usize::from(run), usize::from(index)).ok_or(MISFIT)?);
        }
        let stretch = if flags & STRETCH_BELOW == 0 {
            None
        } else {
            let oldest = reader.u32().ok_or(CUT)?;
            let (_, suffix) = node(reader).ok_or(CUT)?;
            Some((oldest, suffix))
        };
        let first = reader.u32().ok_or(CUT)?;
        let count = reader.u16().ok_or(CUT)?;
        let mut stretch_bottom = None;
        if let Some((oldest, suffix)) = stretch {
            let newest =
                first.checked_sub(1).and_then(|generation| RevId::from_bytes(generation, suffix)).ok_or(MISFIT)?;
            if oldest == 0 || oldest > newest.generation() {
                return Err(MISFIT);
            }
            self.stretches.push((newest, Stretch { oldest, before: below }));
            stretch_bottom = Some(oldest);
            if let Some(below) = below.replace(newest)
                && below.generation() + 1 != oldest
            {
                return Err(MISFIT);
            }
        }
        if count == 0 || (stretch_bottom.is_none() && below.is_some_and(|below| below.generation() + 1 != first)) {
            return Err(MISFIT);
        }
        self.runs.push(self.nodes.len());
        // A node has at least one byte.
        self.nodes.reserve(usize::from(count).min(reader.rest().len()) + 1);
        for generation in (0..u32::from(count)).map(|index| first.checked_add(index)) {
            let (flags, suffix) = node(reader).ok_or(CUT)?;
            let rev =
                if suffix.is_empty() { Some(*winner) } else { generation.and_then(|at| RevId::from_bytes(at, suffix)) };
            let rev =
                rev.filter(|rev| Some(rev.generation()) == generation).ok_or("it has a revision that cannot be one")?;
            let node = Node { parent: below, deleted: flags & DELETED != 0, inner: flags & INNER != 0 };
            self.nodes.push((rev, node));
            below = Some(rev);
        }
        Ok(())
    }

    fn node_of(&self, run: usize, index: usize) -> Option<RevId> {
        let end = self.runs.get(run + 1).copied().unwrap_or(self.nodes.len());
        let nodes = self.nodes.get(*self.runs.get(run)?..end)?;
        nodes.get(index).map(|(rev, _)| *rev)
    }
}

impl Block {
    /// The value of its row.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![BLOCK_LAYOUT];
        match &self.below {
            Some(below) => put_node(&mut out, below, 0, None),
            None => out.push(0),
        }
        let newest = self.newest();
        for (rev, deleted) in &self.nodes {
            put_node(&mut out, rev, if *deleted { DELETED | INNER } else { INNER }, newest.as_ref());
        }
        out
    }

    /// Reads the block whose key names `newest`.
    pub fn decode(bytes: &[u8], newest: &RevId) -> Result<Self, Damage> {
        const CUT: Damage = "a block of its ancestors is cut short";
        let mut reader = ByteReader::new(bytes);
        if reader.byte() != Some(BLOCK_LAYOUT) {
            return Err("a block of its ancestors has a layout that is not known; a newer release may have written it");
        }
        let (_, below) = node(&mut reader).ok_or(CUT)?;
        let mut nodes: Vec<(RevId, bool)> = Vec::new();
        let mut generation = newest.generation();
        while !reader.is_empty() {
            let (flags, suffix) = node(&mut reader).ok_or(CUT)?;
            let rev = if suffix.is_empty() && nodes.is_empty() {
                Some(*newest)
            } else {
                RevId::from_bytes(generation, suffix)
            };
            nodes.push((rev.ok_or("a block has a revision that cannot be one")?, flags & DELETED != 0));
            generation = generation.saturating_sub(1);
        }
        if nodes.first().is_none_or(|(rev, _)| rev != newest) {
            return Err("a block of its ancestors does not hold the revision that names it");
        }
        let below = match below {
            [] => None,
            suffix => Some(RevId::from_bytes(generation, suffix).ok_or("a block has a revision that cannot be one")?),
        };
        Ok(Block { nodes, below })
    }
}

/// Appends a node. The suffix of the revision that the row or key names is left out.
pub(super) fn put_node(out: &mut Vec<u8>, rev: &RevId, flags: u8, named: Option<&RevId>) {
    let suffix = if named == Some(rev) { &[] } else { rev.suffix_bytes() };
    match suffix.len().checked_sub(usize::from(SUFFIX_LEN) + 1) {
        None => out.push(suffix.len() as u8 | flags),
        Some(more) => out.extend([SUFFIX_LEN | LONG | flags, more as u8]),
    }
    out.extend(suffix);
}

/// Reads the flags and the suffix of a node.
pub(super) fn node<'b>(reader: &mut ByteReader<'b>) -> Option<(u8, &'b [u8])> {
    let head = reader.byte()?;
    let len = match head & (LONG | SUFFIX_LEN) {
        len if len & LONG == 0 => usize::from(len),
        // Each length has only one encoding.
        len if len & SUFFIX_LEN == SUFFIX_LEN => usize::from(SUFFIX_LEN) + 1 + usize::from(reader.byte()?),
        _ => return None,
    };
    Some((head & (DELETED | INNER), reader.take(len)?))
}
