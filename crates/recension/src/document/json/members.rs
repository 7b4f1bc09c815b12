//! Finding the members of an object whose names come again later in it: the last one counts.

use std::borrow::Cow;

use super::Text;

/// Up to this many members are compared pair by pair.
const FEW: usize = 12;

/// For each name, whether the same one follows later; `None` where none does.
pub(super) fn superseded(names: &[Text<'_>]) -> Option<Vec<bool>> {
    if names.len() <= FEW {
        return superseded_of_few(names);
    }
    let decoded: Vec<Cow<'_, str>> = names.iter().map(|name| name.decode()).collect();
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

fn superseded_of_few(names: &[Text<'_>]) -> Option<Vec<bool>> {
    let mut found = None;
    for (i, name) in names.iter().enumerate() {
        if names[i + 1..].iter().any(|later| same(*name, *later)) {
            found.get_or_insert_with(|| vec![false; names.len()])[i] = true;
        }
    }
    found
}

fn same(a: Text<'_>, b: Text<'_>) -> bool {
    if a.escaped || b.escaped { a.decode() == b.decode() } else { a.raw == b.raw }
}
