//! Finding members of an object whose names occur again later in it: the last one counts.

use std::borrow::Cow;

use super::Text;

/// Up to this many members are compared pair by pair.
const FEW: usize = 12;

/// For each member, whether the same name follows later; `None` if none does.
pub(super) fn superseded<P>(names: &[(Text<'_>, P)]) -> Option<Vec<bool>> {
    if names.len() <= FEW {
        return superseded_of_few(names);
    }
    let decoded: Vec<Cow<'_, str>> = names.iter().map(|(name, _)| name.decode()).collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_unstable_by(|&a, &b| decoded[a].cmp(&decoded[b]).then(a.cmp(&b)));
    let mut found = None;
    for pair in order.windows(2) {
        if decoded[pair[0]] == decoded[pair[1]] {
            found.get_or_insert_with(|| vec![false; names.len()])[pair[0]] = true;
        }
    }
    found
}

fn superseded_of_few<P>(names: &[(Text<'_>, P)]) -> Option<Vec<bool>> {
    let mut found = None;
    for (i, (name, _)) in names.iter().enumerate() {
        if names[i + 1..].iter().any(|(later, _)| same(*name, *later)) {
            found.get_or_insert_with(|| vec![false; names.len()])[i] = true;
        }
    }
    found
}

fn same(a: Text<'_>, b: Text<'_>) -> bool {
    if a.escaped || b.escaped { a.decode() == b.decode() } else { a.raw == b.raw }
}

/// The names of the object that was last looked at, all different. In most arrays of objects, each has the names of the
/// one before, which then need no check.
#[cfg(feature = "typed")]
#[derive(Default)]
pub struct Shape {
    /// The names as in the text, each with its closing quote, which is part of no name.
    names: Vec<u8>,
}

#[cfg(feature = "typed")]
impl Shape {
    /// The place behind the name at `at`, if that is `name`.
    #[inline]
    pub fn follows(&self, at: usize, name: &[u8]) -> Option<usize> {
        let end = at + name.len();
        (self.names.get(at..end) == Some(name) && self.names.get(end) == Some(&b'"')).then_some(end + 1)
    }

    /// Whether all of `names` are different as they stand in the text. If so, they become the known names.
    pub fn learn<'n>(&mut self, names: impl ExactSizeIterator<Item = &'n [u8]> + Clone) -> bool {
        if !all_differ(names.clone()) {
            return false;
        }
        self.names.clear();
        for name in names {
            self.names.extend_from_slice(name);
            self.names.push(b'"');
        }
        true
    }
}

/// Whether no name comes twice.
#[cfg(feature = "typed")]
pub fn all_differ<'n>(mut names: impl ExactSizeIterator<Item = &'n [u8]> + Clone) -> bool {
    if names.len() > FEW {
        let mut sorted: Vec<&[u8]> = names.collect();
        sorted.sort_unstable();
        return sorted.windows(2).all(|pair| pair.first() != pair.get(1));
    }

    while let Some(name) = names.next() {
        if names.clone().any(|later| later == name) {
            return false;
        }
    }
    true
}
