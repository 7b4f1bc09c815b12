//! The laws of revision trees, on random ones.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Block, Leaf, RevId, RevisionTree};
use crate::error::Error;

fn rev(text: &str) -> RevId {
    text.parse().unwrap()
}

fn path(text: &str) -> Vec<RevId> {
    text.split_whitespace().map(rev).collect()
}

/// The tree of paths, each newest first; a `!` before a path deletes.
fn tree(paths: &[&str]) -> RevisionTree {
    let mut tree = RevisionTree::default();
    for text in paths {
        let deleted = text.starts_with('!');
        tree.merge(&RevisionTree::of_path(&path(text.trim_start_matches('!')), deleted).unwrap());
    }
    tree
}

fn show(leaves: &[Leaf]) -> String {
    let show = |leaf: &Leaf| format!("{}{}", if leaf.deleted { "!" } else { "" }, leaf.rev);
    leaves.iter().map(show).collect::<Vec<_>>().join(" ")
}

#[test]
fn leaves_are_ranked_as_couchdb_ranks_them() {
    for (paths, leaves) in [
        (&["1-a", "!9-f"][..], "1-a !9-f"),
        (&["2-0", "1-f"], "2-0 1-f"),
        (&["1-9", "1-a"], "1-a 1-9"),
        (&["10-0", "9-f"], "10-0 9-f"),
        (&["!1-2", "!1-3"], "!1-3 !1-2"),
        (&["2-a 1-1", "2-b 1-1", "!3-c 2-e 1-1"], "2-b 2-a !3-c"),
        (&["3-a 2-a 1-a", "2-a 1-a", "1-a"], "3-a"),
    ] {
        assert_eq!(show(&tree(paths).leaves()), leaves, "{paths:?}");
        assert_eq!(tree(paths).winner(), tree(paths).leaves().first().copied());
    }
}

#[test]
fn a_path_that_bridges_an_island_joins_the_trees() {
    let mut islands = tree(&["5-a 4-a", "3-b 2-b 1-b"]);
    assert_eq!(show(&islands.leaves()), "5-a 3-b");
    islands.merge(&tree(&["5-a 4-a 3-b"]));
    assert_eq!(show(&islands.leaves()), "5-a");
    assert_eq!(islands.path(&rev("5-a")), path("5-a 4-a 3-b 2-b 1-b"));
}

#[test]
fn what_is_missing_is_told_with_the_leaves_that_may_be_its_ancestors() {
    let known = tree(&["3-a 2-a 1-a", "!2-b 1-a", "5-c"]);
    for (asked, missing, ancestors) in [
        ("3-a 1-a", "", ""),
        ("4-x", "4-x", "3-a 2-b"),
        ("3-x 2-a", "3-x", "2-b"),
        ("1-x", "1-x", ""),
        ("9-x 2-x", "9-x 2-x", "5-c 3-a 2-b"),
    ] {
        assert_eq!(known.missing(&path(asked)), (path(missing), path(ancestors)), "{asked}");
    }
}

#[test]
fn purging_a_leaf_takes_what_no_other_leaf_stands_on() {
    let known = tree(&["3-a 2-a 1-a", "2-b 1-a", "1-c"]);
    for (asked, purged, left) in [
        ("3-a", "3-a", tree(&["2-b 1-a", "1-c"])),
        ("2-a 1-a 9-x", "", known.clone()),
        ("2-b 2-b", "2-b", tree(&["3-a 2-a 1-a", "1-c"])),
        ("3-a 2-b", "2-b 3-a", tree(&["1-c"])),
        ("3-a 2-b 1-c", "1-c 2-b 3-a", RevisionTree::default()),
    ] {
        let mut tree = known.clone();
        assert_eq!(tree.purge(&path(asked)), path(purged), "{asked}");
        assert_eq!(tree.leaves(), left.leaves(), "{asked}");
        assert_eq!(tree.len(), left.len(), "{asked}");
    }
}

#[test]
fn the_latest_of_a_revision_are_the_leaves_above_it() {
    let known = tree(&["3-a 2-a 1-a", "!2-b 1-a", "1-c"]);
    for (asked, latest) in [("1-a", "3-a !2-b"), ("2-a", "3-a"), ("1-c", "1-c"), ("1-x", "")] {
        assert_eq!(show(&known.leaves_above(&rev(asked))), latest, "{asked}");
    }
}

#[test]
fn a_row_carries_few_revisions_of_a_long_line() {
    let mut tree = RevisionTree::of_one(hash(1, 0), false);
    let mut stored = Stored::default();
    let mut newest = hash(1, 0);
    for generation in 2..=2000 {
        let next = hash(generation, 0);
        tree.append(&newest, next, false);
        tree.stem(1000);
        assert!(stored.fold(&mut tree) <= 1, "one block at a time");
        assert!(tree.encode(&next).unwrap().len() < 350);
        newest = next;
        assert_eq!(tree.len(), 1000.min(generation as usize));
    }
    let whole = stored.unfold(tree);
    assert_eq!(whole.path(&newest).len(), 1000);
}

#[test]
fn conflicts_and_what_stands_on_them_are_folded_too() {
    let mut tree = RevisionTree::of_one(hash(1, 0), false);
    for generation in 2..=100 {
        tree.append(&hash(generation - 1, 0), hash(generation, 0), false);
    }
    tree.merge(&RevisionTree::of_path(&[hash(51, 1), hash(50, 0), hash(49, 0)], true).unwrap());
    let whole = tree.clone();
    let mut stored = Stored::default();
    assert_eq!(stored.fold(&mut tree), 5 + 5);
    assert_eq!(tree.winner().unwrap().rev, hash(100, 0));
    assert!(tree.encode(&hash(100, 0)).unwrap().len() < 700);
    assert_eq!(stored.round_trip(&tree), whole);
}

#[test]
fn stemming_may_end_right_below_what_is_folded() {
    let mut tree = RevisionTree::default();
    for branch in [1, 2] {
        let path: Vec<RevId> = (1..=40).rev().map(|at| hash(at, if at > 10 { branch } else { 0 })).collect();
        tree.merge(&RevisionTree::of_path(&path, false).unwrap());
    }
    let mut stored = Stored::default();
    let mut folded = tree.clone();
    stored.fold(&mut folded);
    for tree in [&mut tree, &mut folded] {
        tree.stem(30);
    }
    assert_eq!((tree.len(), folded.len()), (60, 60));
    assert_eq!(stored.round_trip(&folded), tree);
}

fn hash(generation: u32, branch: u8) -> RevId {
    let mut bytes = [branch; 16];
    bytes[..4].copy_from_slice(&generation.to_be_bytes());
    RevId::new(generation, bytes)
}

/// Blocks, stored as in the side tree.
#[derive(Default, Clone)]
struct Stored {
    blocks: HashMap<RevId, Vec<u8>>,
}

impl Stored {
    fn fold(&mut self, tree: &mut RevisionTree) -> usize {
        let blocks = tree.fold();
        let count = blocks.len();
        self.blocks.extend(blocks.into_iter().map(|block| (block.newest().unwrap(), block.encode())));
        count
    }

    fn unfold(&self, tree: RevisionTree) -> RevisionTree {
        let damaged = |why| Error::DamagedRow { what: String::new(), why };
        let read = |newest: &RevId| {
            let bytes = self.blocks.get(newest).ok_or_else(|| damaged("a block is missing"))?;
            Block::decode(bytes, newest).map_err(damaged)
        };
        tree.unfold(read, damaged).unwrap()
    }

    fn round_trip(&self, tree: &RevisionTree) -> RevisionTree {
        let winner = tree.winner().unwrap();
        let read = match tree.encode(&winner.rev) {
            Some(bytes) => RevisionTree::decode(&bytes, &winner.rev).unwrap(),
            None => RevisionTree::of_one(winner.rev, winner.deleted),
        };
        assert_eq!(&read, tree);
        self.unfold(read)
    }
}

/// Paths that meet often, and some that contradict each other.
fn any_paths() -> impl Strategy<Value = Vec<(Vec<RevId>, bool)>> {
    let suffix = prop_oneof![
        Just("a"),
        Just("b"),
        Just("00000000000000000000000000000000"),
        Just("b00000000000000000000000000000001")
    ];
    let path = (1..5_u32, vec(suffix, 1..5)).prop_map(|(start, suffixes)| {
        let rev = |(generation, suffix): (u32, &str)| RevId::with_suffix(generation, suffix).unwrap();
        let mut path: Vec<RevId> = (start..).zip(suffixes).map(rev).collect();
        path.reverse();
        path
    });
    vec((path, any::<bool>()), 1..6)
}

fn any_tree() -> impl Strategy<Value = RevisionTree> {
    any_paths().prop_map(|paths| {
        let mut tree = RevisionTree::default();
        for (path, deleted) in paths {
            tree.merge(&RevisionTree::of_path(&path, deleted).unwrap());
        }
        tree
    })
}

/// Edits of existing revisions: which revision, how many in a line, and whether the last one deletes.
fn any_edits() -> impl Strategy<Value = Vec<(prop::sample::Index, u32, bool)>> {
    vec((any::<prop::sample::Index>(), prop_oneof![1..4_u32, 1..40_u32], any::<bool>()), 1..8)
}

/// The paths that edits make, each with its whole ancestry, as replicas send them.
fn paths_of(edits: &[(prop::sample::Index, u32, bool)]) -> Vec<(Vec<RevId>, bool)> {
    let mut paths = vec![(vec![hash(1, 0)], false)];
    for (number, (on, count, deletes)) in edits.iter().enumerate() {
        let mut path = paths[on.index(paths.len())].0.clone();
        for step in 1..=*count {
            path.insert(0, hash(path[0].generation() + 1, number as u8 + 1));
            paths.push((path.clone(), *deletes && step == *count));
        }
    }
    paths
}

fn tree_of<'p>(paths: impl IntoIterator<Item = &'p (Vec<RevId>, bool)>) -> RevisionTree {
    let mut tree = RevisionTree::default();
    for (path, deleted) in paths {
        tree.merge(&RevisionTree::of_path(path, *deleted).unwrap());
    }
    tree
}

proptest! {
    #[test]
    fn merging_is_a_join(a in any_tree(), b in any_tree(), c in any_tree()) {
        let merged = |left: &RevisionTree, right: &RevisionTree| {
            let mut merged = left.clone();
            merged.merge(right);
            merged
        };
        prop_assert_eq!(merged(&a, &b), merged(&b, &a));
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
        prop_assert_eq!(merged(&a, &a), a.clone());
        prop_assert!(merged(&a, &b).winner().is_some());
    }

    #[test]
    fn replicas_that_saw_the_same_edits_agree(
        (paths, shuffled) in any_edits().prop_map(|edits| paths_of(&edits)).prop_flat_map(|paths| {
            let shuffled = Just(paths.clone()).prop_shuffle();
            (Just(paths), shuffled)
        }),
        cut in 0..20_usize,
    ) {
        // One replica hears of them in order, one in any order and cut short, one from both of these.
        let first = tree_of(&paths);
        let mut second = RevisionTree::default();
        for (path, deleted) in &shuffled {
            let known = path.len().min(2 + cut);
            second.merge(&RevisionTree::of_path(&path[..known], *deleted).unwrap());
        }
        prop_assert_eq!(first.leaves(), second.leaves());
        prop_assert_eq!(first.winner(), second.winner());
        let mut third = second.clone();
        third.merge(&first);
        prop_assert_eq!(&third, &first);
    }

    #[test]
    fn stemming_keeps_the_leaves_and_what_is_near_them(edits in any_edits(), limit in 1..30_u32) {
        let tree = tree_of(&paths_of(&edits));
        let mut stemmed = tree.clone();
        stemmed.stem(limit);
        prop_assert_eq!(stemmed.leaves(), tree.leaves());
        let mut near = 0;
        for leaf in tree.leaves() {
            let (before, after) = (tree.path(&leaf.rev), stemmed.path(&leaf.rev));
            prop_assert!(before.starts_with(&after));
            prop_assert!(after.len() >= before.len().min(limit as usize));
            near += before.len().min(limit as usize);
        }
        prop_assert!(stemmed.len() <= near);
        let again = { let mut again = stemmed.clone(); again.stem(limit); again };
        prop_assert_eq!(again, stemmed);
    }

    #[test]
    fn a_tree_reads_back_what_was_folded_and_written(edits in any_edits(), odd in any_tree()) {
        for whole in [tree_of(&paths_of(&edits)), odd] {
            let mut stored = Stored::default();
            let mut folded = whole.clone();
            stored.fold(&mut folded);
            prop_assert_eq!(folded.len(), whole.len());
            prop_assert_eq!(folded.leaves(), whole.leaves());
            prop_assert_eq!(stored.round_trip(&folded), whole);
        }
    }

    #[test]
    fn appending_and_stemming_do_the_same_to_a_folded_tree(
        edits in any_edits(), more in vec((any::<prop::sample::Index>(), any::<bool>()), 1..60), limit in 1..60_u32,
    ) {
        let mut whole = tree_of(&paths_of(&edits));
        let mut folded = whole.clone();
        let mut stored = Stored::default();
        for (on, deleted) in more {
            let leaves = whole.leaves();
            let parent = leaves[on.index(leaves.len())].rev;
            let child = hash(parent.generation() + 1, parent.suffix_bytes()[15]);
            for tree in [&mut whole, &mut folded] {
                tree.append(&parent, child, deleted);
                tree.stem(limit);
            }
            stored.fold(&mut folded);
            prop_assert_eq!(folded.leaves(), whole.leaves());
        }
        prop_assert_eq!(stored.round_trip(&folded), whole);
    }

    #[test]
    fn a_path_that_extends_a_folded_tree_adds_what_merging_adds(
        edits in any_edits(), on in any::<prop::sample::Index>(), cut in 1..60_usize, odd in any_tree(), limit in 5..60_u32,
    ) {
        for mut whole in [tree_of(&paths_of(&edits)), odd] {
            whole.stem(limit);
            let before = whole.clone();
            let leaves = whole.leaves();
            let parent = leaves[on.index(leaves.len())].rev;
            let newest = hash(parent.generation() + 1, 77);
            let mut path = vec![newest];
            path.extend(whole.path(&parent));
            path.truncate(cut);
            let mut folded = whole.clone();
            let mut stored = Stored::default();
            stored.fold(&mut folded);
            let extended = folded.is_extended_by(&path);
            prop_assert_eq!(extended, path.len() > 1 && folded.knows(&newest).is_some());
            if extended {
                folded.append(&parent, newest, false);
                whole.merge(&RevisionTree::of_path(&path, false).unwrap());
                prop_assert_eq!(stored.round_trip(&folded), whole.clone());
            }
            // The path has an ancestor more than is known, or another one.
            let mut longer = vec![newest];
            longer.extend(before.path(&parent));
            let oldest = longer.last().unwrap().generation();
            let mut other = longer[..2].to_vec();
            if oldest > 1 {
                longer.push(hash(oldest - 1, 78));
                prop_assert!(!folded.is_extended_by(&longer));
            }
            if parent.generation() > 1 {
                other.push(hash(parent.generation() - 1, 78));
                prop_assert!(!folded.is_extended_by(&other));
            }
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in vec(any::<u8>(), 0..200), edits in any_edits(), at in any::<prop::sample::Index>(), byte: u8) {
        let winner = hash(3, 1);
        drop(RevisionTree::decode(&bytes, &winner));
        drop(Block::decode(&bytes, &winner));
        let mut tree = tree_of(&paths_of(&edits));
        let blocks = tree.fold();
        let winner = tree.winner().unwrap().rev;
        if let Some(mut bytes) = tree.encode(&winner) {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            for bytes in [&bytes[..], &bytes[..at]] {
                if let Ok(mut read) = RevisionTree::decode(bytes, &winner) {
                    read.stem(10);
                    read.fold();
                    drop(read.encode(&winner));
                    let block = |newest: &RevId| {
                        let found = blocks.iter().find(|block| block.newest() == Some(*newest)).ok_or("missing")?;
                        let mut bytes = found.encode();
                        let at = at % bytes.len();
                        bytes[at] = byte;
                        Block::decode(&bytes, newest)
                    };
                    if let Ok(whole) = read.unfold(block, |why| why) {
                        drop(whole.path(&winner));
                    }
                }
            }
        }
    }
}
