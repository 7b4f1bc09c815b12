//! A page: a few versions in order, each with a value. Keys lie in one piece of memory. The bytes that usually
//! distinguish them are in the slots, so that a search touches few cache lines. Pure.

use std::cmp::Ordering;

use recension_engine::Seq;

/// A page is split when it has this many versions.
pub(super) const PAGE_VERSIONS: usize = 128;

/// Versions of one key that are stepped over before a search is cheaper.
const STEPS_BEFORE_SEARCH: usize = 4;

/// Versions in order (key ascending, then newest first), each with a `T`.
pub(super) struct Page<T> {
    /// Bytes that all keys begin with.
    shared: usize,
    slots: Vec<Slot<T>>,
    keys: Vec<u8>,
}

#[derive(Clone)]
struct Slot<T> {
    /// The eight bytes of the key behind the shared ones, padded with zeros. If two heads differ, the keys differ in
    /// the same way.
    head: u64,
    seq: Seq,
    key_at: u32,
    key_len: u16,
    item: T,
}

impl<T: Clone> Page<T> {
    pub(super) fn new() -> Self {
        Page { shared: 0, slots: Vec::new(), keys: Vec::new() }
    }

    /// A page of versions that are in order, with room for no more.
    pub(super) fn of(versions: &[(&[u8], Seq, T)]) -> Self {
        let ends = versions.first().zip(versions.last());
        let shared = ends.map_or(0, |((first, ..), (last, ..))| common(first, last));
        let mut keys = Vec::with_capacity(versions.iter().map(|(key, ..)| key.len()).sum());
        let slots = versions.iter().map(|(key, seq, item)| {
            let key_at = keys.len() as u32;
            keys.extend_from_slice(key);
            Slot { head: head(&key[shared..]), seq: *seq, key_at, key_len: key.len() as u16, item: item.clone() }
        });
        Page { shared, slots: slots.collect(), keys }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.slots.len() >= PAGE_VERSIONS
    }

    /// The version at `index`, with its value.
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], Seq, &T)> {
        let slot = self.slots.get(index)?;
        Some((self.key(slot), slot.seq, &slot.item))
    }

    pub(super) fn item(&self, index: usize) -> Option<&T> {
        self.slots.get(index).map(|slot| &slot.item)
    }

    pub(super) fn item_mut(&mut self, index: usize) -> Option<&mut T> {
        self.slots.get_mut(index).map(|slot| &mut slot.item)
    }

    fn key(&self, slot: &Slot<T>) -> &[u8] {
        let start = slot.key_at as usize;
        &self.keys[start..start + usize::from(slot.key_len)]
    }

    fn shared_bytes(&self) -> &[u8] {
        self.slots.first().map_or(&[], |slot| &self.key(slot)[..self.shared])
    }

    /// The first version not before (`key`, `seq`).
    pub(super) fn lower_bound(&self, key: &[u8], seq: Seq) -> usize {
        self.bound(key, |slot, behind_shared| self.compare(slot, behind_shared, seq).is_lt())
    }

    /// The first version behind (`key`, `seq`).
    pub(super) fn upper_bound(&self, key: &[u8], seq: Seq) -> usize {
        self.bound(key, |slot, behind_shared| self.compare(slot, behind_shared, seq).is_le())
    }

    fn bound(&self, key: &[u8], before: impl Fn(&Slot<T>, &[u8]) -> bool) -> usize {
        if self.slots.is_empty() {
            return 0;
        }
        let shared = self.shared_bytes();
        let Some(behind_shared) = key.strip_prefix(shared) else {
            return if key < shared { 0 } else { self.slots.len() };
        };
        let head = head(behind_shared);
        let first = self.slots.partition_point(|slot| slot.head < head);
        // Heads usually distinguish keys; otherwise the whole keys are compared. The place behind all versions is
        // wanted most.
        match self.slots.get(first..) {
            Some(alike @ [next, ..]) if next.head == head && before(next, behind_shared) => {
                first + alike.partition_point(|slot| slot.head == head && before(slot, behind_shared))
            }
            _ => first,
        }
    }

    /// Compares a slot with a version whose key has `behind_shared` behind the shared bytes.
    fn compare(&self, slot: &Slot<T>, behind_shared: &[u8], seq: Seq) -> Ordering {
        self.key(slot)[self.shared..].cmp(behind_shared).then_with(|| seq.cmp(&slot.seq))
    }

    /// Whether the versions at two places have the same key.
    pub(super) fn same_key(&self, a: usize, b: usize) -> bool {
        match (self.slots.get(a), self.slots.get(b)) {
            (Some(a), Some(b)) => {
                let told_apart = self.shared + size_of::<u64>();
                let short = usize::from(a.key_len) <= told_apart;
                a.head == b.head && a.key_len == b.key_len && (short || self.key(a) == self.key(b))
            }
            _ => false,
        }
    }

    /// The first version behind `index` that has another key, or a seq that is not `wanted`. After a few steps,
    /// `search` finds it.
    pub(super) fn skip(&self, index: usize, wanted: impl Fn(Seq) -> bool, search: impl FnOnce() -> usize) -> usize {
        let goes_on =
            |next: &usize| self.same_key(index, *next) && self.slots.get(*next).is_some_and(|slot| wanted(slot.seq));
        (index + 1..=index + STEPS_BEFORE_SEARCH).find(|next| !goes_on(next)).unwrap_or_else(search)
    }

    /// Whether the version at `index` is (`key`, `seq`).
    pub(super) fn is_at(&self, index: usize, key: &[u8], seq: Seq) -> bool {
        self.slots.get(index).is_some_and(|slot| slot.seq == seq && self.key(slot) == key)
    }

    /// Puts a version at `index`, which [`Page::lower_bound`] gave.
    pub(super) fn insert(&mut self, index: usize, key: &[u8], seq: Seq, item: T) {
        if self.slots.is_empty() {
            self.shared = key.len();
        } else {
            let shared = self.shared_bytes();
            if !key.starts_with(shared) {
                self.share(common(shared, key));
            }
        }
        let (key_at, key_len) = (self.keys.len() as u32, key.len() as u16);
        self.keys.extend_from_slice(key);
        self.slots.insert(index, Slot { head: head(&key[self.shared..]), seq, key_at, key_len, item });
    }

    fn share(&mut self, shared: usize) {
        self.shared = shared;
        for slot in &mut self.slots {
            let start = slot.key_at as usize;
            slot.head = head(&self.keys[start + shared..start + usize::from(slot.key_len)]);
        }
    }

    /// A copy of the versions at `range`, with room for a full page.
    pub(super) fn part(&self, range: std::ops::Range<usize>) -> Self {
        let slots = self.slots.get(range).unwrap_or_default();
        let mut part = Page { shared: 0, slots: Vec::with_capacity(PAGE_VERSIONS), keys: Vec::new() };
        if let (Some(first), Some(last)) = (slots.first(), slots.last()) {
            part.shared = common(self.key(first), self.key(last));
        }
        let bytes: usize = slots.iter().map(|slot| usize::from(slot.key_len)).sum();
        part.keys.reserve(bytes * PAGE_VERSIONS / slots.len().max(1));
        for slot in slots {
            let key_at = part.keys.len() as u32;
            part.keys.extend_from_slice(self.key(slot));
            part.slots.push(Slot { head: head(&self.key(slot)[part.shared..]), key_at, ..slot.clone() });
        }
        part
    }
}

/// The length of the common prefix of two keys.
pub(super) fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The first eight bytes as a number in the order of the bytes.
pub(super) fn head(key: &[u8]) -> u64 {
    if let Some(bytes) = key.first_chunk() {
        return u64::from_be_bytes(*bytes);
    }
    let mut bytes = [0; 8];
    let len = key.len().min(bytes.len());
    bytes[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(bytes)
}
