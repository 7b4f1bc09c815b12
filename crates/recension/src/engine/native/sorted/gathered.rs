//! Versions that are added to a tree together, in its order: each then goes where the one before it went, and is
//! most of the time put at the end of a page.

use super::SortedVersions;
use super::page::{common, head};
use crate::engine::Seq;
use crate::engine::native::format::Position;
use crate::engine::native::index::IndexEntry;

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

    pub(in super::super) fn push(&mut self, key: &[u8], entry: IndexEntry) {
        let IndexEntry { seq, position, deleted } = entry;
        self.keys.extend_from_slice(key);
        self.versions.push(Version { key_end: self.keys.len(), seq, position, deleted });
    }

    /// Shows all of them, in the order in which they came.
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

    /// Adds all of them; nothing is left.
    pub(super) fn add_to(&mut self, tree: &SortedVersions) {
        let all = 0..self.versions.len();
        let shared = all.clone().fold(usize::MAX, |shared, index| {
            let (first, key) = (self.key(0), self.key(index));
            common(&first[..shared.min(first.len())], key)
        });
        let mut order: Vec<(u64, usize)> = all.map(|index| (head(&self.key(index)[shared..]), index)).collect();
        // Of two with the same key and seq the later one stays the later one.
        order.sort_unstable_by(|&(a_head, a), &(b_head, b)| {
            let seqs = || self.versions[b].seq.cmp(&self.versions[a].seq);
            let keys = || self.key(a).cmp(self.key(b)).then_with(seqs);
            a_head.cmp(&b_head).then_with(keys).then_with(|| a.cmp(&b))
        });
        for (_, index) in order {
            let version = &self.versions[index];
            tree.insert(self.key(index), version.seq, version.position, version.deleted);
        }
        self.keys.clear();
        self.versions.clear();
    }
}
