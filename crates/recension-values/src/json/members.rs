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
    if !names.iter().any(|(name, _)| name.escaped) && all_differ(names.iter().map(|(name, _)| name.raw.as_bytes())) {
        return None;
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
pub fn all_differ<'n>(mut names: impl ExactSizeIterator<Item = &'n [u8]> + Clone) -> bool {
    if names.len() > FEW {
        return many_differ(names.clone()).unwrap_or_else(|| {
            let mut sorted: Vec<&[u8]> = names.collect();
            sorted.sort_unstable();
            sorted.windows(2).all(|pair| pair.first() != pair.get(1))
        });
    }

    while let Some(name) = names.next() {
        if names.clone().any(|later| later == name) {
            return false;
        }
    }
    true
}

/// The same by a table of hashes, which takes a tenth of the time of sorting ten thousand names. `None` if too many
/// hashes are alike: somebody may have chosen the names for that.
fn many_differ<'n>(names: impl ExactSizeIterator<Item = &'n [u8]> + Clone) -> Option<bool> {
    const PLACE_BITS: u32 = 32;
    let count = names.len();
    // Each entry is the upper half of a hash, and the name's place from 1; 0 is a free one.
    let mut table = vec![0_u64; count.checked_mul(2)?.checked_next_power_of_two()?];
    let places: Vec<&[u8]> = names.collect();
    let mask = table.len() - 1;
    let mut passed = 0;
    for (place, name) in places.iter().enumerate() {
        let hash = hash(name);
        let entry = (hash >> PLACE_BITS << PLACE_BITS) | u64::from(u32::try_from(place + 1).ok()?);
        let mut at = hash as usize & mask;
        while let Some(&taken) = table.get(at).filter(|taken| **taken != 0) {
            let known = (taken ^ entry) >> PLACE_BITS == 0;
            if known && places.get((taken as u32 as usize).wrapping_sub(1)) == Some(name) {
                return Some(false);
            }
            passed += 1;
            if passed > 4 * count {
                return None;
            }
            at = (at + 1) & mask;
        }
        *table.get_mut(at)? = entry;
    }
    Some(true)
}

const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// Names with one hash are easily found: what is answered must not depend on it.
fn hash(name: &[u8]) -> u64 {
    let (words, rest) = name.as_chunks::<8>();
    let hash = words.iter().fold(name.len() as u64, |hash, word| fold(hash, u64::from_le_bytes(*word)));
    fold(hash, rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

fn fold(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word ^ FACTORS[0]) * u128::from(FACTORS[1]);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differ(names: &[String]) -> bool {
        all_differ(names.iter().map(String::as_bytes))
    }

    #[test]
    fn of_any_number_of_names_one_that_comes_twice_is_found_wherever_it_stands() {
        for count in [2, 12, 13, 14, 100, 5_000] {
            let mut names: Vec<String> = (0..count).map(|n| format!("member {n}")).collect();
            assert!(differ(&names), "{count}");
            for (first, second) in [(0, count - 1), (0, 1), (count / 2, count - 1)] {
                let other = std::mem::replace(&mut names[second], format!("member {first}"));
                assert_eq!(differ(&names), first == second, "{first} and {second} of {count}");
                names[second] = other;
            }
        }
    }

    #[test]
    fn names_that_are_the_beginning_of_others_differ_from_them() {
        let names: Vec<String> = (0..40).map(|length| "\0".repeat(length)).collect();
        assert!(differ(&names));
    }

    #[test]
    fn names_chosen_for_their_hashes_are_told_apart_all_the_same() {
        // The second word makes the hash zero, whatever the first one is.
        let name = |n: u64| [n.to_le_bytes(), (fold(16, n) ^ FACTORS[0]).to_le_bytes()].concat();
        let mut names: Vec<Vec<u8>> = (0..100).map(name).collect();
        assert!(names.iter().all(|name| hash(name) == hash(&names[0])));
        let slices = || names.iter().map(Vec::as_slice);
        assert_eq!((many_differ(slices()), all_differ(slices())), (None, true));
        names[99] = names[3].clone();
        assert!(!all_differ(names.iter().map(Vec::as_slice)));
    }
}
