//! A map from revisions, in their order, in one piece of memory. Nearly every tree has a line of a few nodes, which is
//! read, copied and extended at its end with every write of its document.
//!
//! Adding at the end is cheap. Adding anywhere else moves the entries behind, hence many entries are added together
//! ([`RevMap::join_all`], [`RevMap::add_all`]).

use super::RevId;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RevMap<V> {
    /// In the order of the revisions, each once.
    entries: Vec<(RevId, V)>,
}

impl<V> Default for RevMap<V> {
    fn default() -> Self {
        RevMap { entries: Vec::new() }
    }
}

impl<V> RevMap<V> {
    pub(super) fn of_one(rev: RevId, value: V) -> Self {
        RevMap { entries: vec![(rev, value)] }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn find(&self, rev: &RevId) -> Result<usize, usize> {
        match self.entries.last() {
            None => Err(0),
            Some((last, _)) if last < rev => Err(self.entries.len()),
            Some(_) => self.entries.binary_search_by(|(known, _)| known.cmp(rev)),
        }
    }

    pub(super) fn get(&self, rev: &RevId) -> Option<&V> {
        self.find(rev).ok().and_then(|at| self.entries.get(at)).map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, rev: &RevId) -> Option<&mut V> {
        self.find(rev).ok().and_then(|at| self.entries.get_mut(at)).map(|(_, value)| value)
    }

    pub(super) fn contains(&self, rev: &RevId) -> bool {
        self.find(rev).is_ok()
    }

    /// Puts a value; returns the former one.
    pub(super) fn insert(&mut self, rev: RevId, value: V) -> Option<V> {
        match self.find(&rev) {
            Ok(at) => self.entries.get_mut(at).map(|(_, known)| std::mem::replace(known, value)),
            Err(at) => {
                self.entries.insert(at, (rev, value));
                None
            }
        }
    }

    pub(super) fn remove(&mut self, rev: &RevId) -> Option<V> {
        self.find(rev).ok().map(|at| self.entries.remove(at).1)
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&RevId) -> bool) {
        self.entries.retain(|(rev, _)| keep(rev));
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&RevId, &V)> {
        self.entries.iter().map(|(rev, value)| (rev, value))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&RevId, &mut V)> {
        self.entries.iter_mut().map(|(rev, value)| (&*rev, value))
    }

    /// The entries from a revision on.
    pub(super) fn iter_from(&self, rev: &RevId) -> impl Iterator<Item = (&RevId, &V)> {
        let at = self.find(rev).unwrap_or_else(|at| at);
        self.entries.iter().skip(at).map(|(rev, value)| (rev, value))
    }

    pub(super) fn keys(&self) -> impl DoubleEndedIterator<Item = &RevId> {
        self.entries.iter().map(|(rev, _)| rev)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// Adds entries in any order; returns whether each was new.
    pub(super) fn add_all(&mut self, entries: Vec<(RevId, V)>) -> bool {
        if self.entries.is_empty() {
            self.entries = entries;
        } else {
            self.entries.extend(entries);
        }
        if self.entries.is_sorted_by(|(a, _), (b, _)| a < b) {
            return true;
        }
        self.entries.sort_by_key(|(rev, _)| *rev);
        let all = self.entries.len();
        self.entries.dedup_by(|(later, _), (earlier, _)| later == earlier);
        self.entries.len() == all
    }

    /// Adds the entries of another map; `join` is called for revisions that both have.
    pub(super) fn join_all(&mut self, other: &Self, join: impl Fn(&mut V, &V))
    where
        V: Clone,
    {
        let mut joined = Vec::with_capacity(self.entries.len() + other.entries.len());
        let mut own = std::mem::take(&mut self.entries).into_iter().peekable();
        for (rev, value) in &other.entries {
            while let Some(entry) = own.next_if(|(known, _)| known < rev) {
                joined.push(entry);
            }
            match own.next_if(|(known, _)| known == rev) {
                None => joined.push((*rev, value.clone())),
                Some((rev, mut known)) => {
                    join(&mut known, value);
                    joined.push((rev, known));
                }
            }
        }
        joined.extend(own);
        self.entries = joined;
    }
}

impl<V> FromIterator<(RevId, V)> for RevMap<V> {
    /// Of entries with the same revision the first stays.
    fn from_iter<I: IntoIterator<Item = (RevId, V)>>(entries: I) -> Self {
        let mut map = RevMap::default();
        map.add_all(entries.into_iter().collect());
        map
    }
}

impl<V> IntoIterator for RevMap<V> {
    type Item = (RevId, V);
    type IntoIter = std::vec::IntoIter<(RevId, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}
