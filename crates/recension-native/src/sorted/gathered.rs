//! Versions that are added to a tree together. An empty tree is built from them at once. In another tree, each is
//! inserted in order, where the one before was, and usually goes to the end of a page.

use super::page::{common, head};
use super::{Place, SortedVersions, place};
use crate::entry::IndexEntry;
use crate::format::Position;
use recension_engine::Seq;

/// Versions in the order in which they came.
#[derive(Default)]
pub(in super::super) struct Gathered {
    keys: Vec<u8>,
    versions: Vec<Version>,
}

struct Version {
    key_end: usize,
    seq: Seq,
    position: Position,
    deleted: bool,
}

impl Gathered {
    pub(in super::super) fn len(&self) -> usize {
        self.versions.len()
    }

    /// About how many bytes of memory they take.
    pub(in super::super) fn bytes(&self) -> usize {
        self.keys.len() + self.versions.len() * size_of::<Version>()
    }

    pub(in super::super) fn push(&mut self, key: &[u8], entry: IndexEntry) {
        let IndexEntry { seq, position, deleted } = entry;
        self.keys.extend_from_slice(key);
        self.versions.push(Version { key_end: self.keys.len(), seq, position, deleted });
    }

    /// Adds others behind these.
    pub(in super::super) fn append(&mut self, others: Gathered) {
        if self.versions.is_empty() {
            *self = others;
            return;
        }
        let before = self.keys.len();
        self.keys.extend_from_slice(&others.keys);
        let moved = others.versions.into_iter();
        self.versions.extend(moved.map(|version| Version { key_end: before + version.key_end, ..version }));
    }

    /// Calls `see` with all of them, in the order in which they came.
    pub(in super::super) fn each(&self, mut see: impl FnMut(&[u8], IndexEntry)) {
        for (index, version) in self.versions.iter().enumerate() {
            let Version { seq, position, deleted, .. } = *version;
            see(self.key(index), IndexEntry { seq, position, deleted });
        }
    }

    fn key(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.versions[before].key_end);
        &self.keys[start..self.versions[index].key_end]
    }

    /// Their numbers in the order of a tree. Of several with the same key and seq, the one that came last is last.
    fn order(&self) -> Vec<usize> {
        const INDEX_BITS: u32 = 64;
        let all = 0..self.versions.len();
        let shared = all.clone().fold(usize::MAX, |shared, index| {
            let (first, key) = (self.key(0), self.key(index));
            common(&first[..shared.min(first.len())], key)
        });
        // The heads distinguish most of them. One number with both is sorted three times as fast as a pair with a
        // comparison function.
        let head = |index| head(&self.key(index)[shared..]);
        let mut order: Vec<u128> = all.map(|index| u128::from(head(index)) << INDEX_BITS | index as u128).collect();
        order.sort_unstable();
        let heads: Vec<u64> = order.iter().map(|item| (item >> INDEX_BITS) as u64).collect();
        let mut order: Vec<usize> = order.into_iter().map(|item| item as u64 as usize).collect();
        let mut rest = &mut order[..];
        for same in heads.chunk_by(|a, b| a == b) {
            let (alike, behind) = std::mem::take(&mut rest).split_at_mut(same.len());
            rest = behind;
            if let [_, _, ..] = alike {
                let newest_first = |a: usize, b: usize| self.versions[b].seq.cmp(&self.versions[a].seq);
                alike.sort_unstable_by(|&a, &b| {
                    self.key(a).cmp(self.key(b)).then_with(|| newest_first(a, b)).then_with(|| a.cmp(&b))
                });
            }
        }
        order
    }

    /// Adds all of them, and becomes empty.
    pub(super) fn add_to(&mut self, tree: &SortedVersions) {
        let mut order = self.order();
        if tree.len() == 0 {
            let is_same =
                |a: usize, b: usize| self.versions[a].seq == self.versions[b].seq && self.key(a) == self.key(b);
            // `dedup_by` keeps the first of equal ones, but the last one counts.
            order.reverse();
            order.dedup_by(|next, kept| is_same(*next, *kept));
            order.reverse();
            let versions: Vec<(&[u8], Seq, Place)> = order
                .into_iter()
                .map(|index| {
                    let Version { seq, position, deleted, .. } = self.versions[index];
                    (self.key(index), seq, place(position, deleted))
                })
                .collect();
            tree.fill(&versions);
        } else {
            for index in order {
                let version = &self.versions[index];
                tree.insert(self.key(index), version.seq, version.position, version.deleted);
            }
        }
        self.keys.clear();
        self.versions.clear();
    }
}
