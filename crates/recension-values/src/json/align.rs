//! Aligning two sequences: the longest common subsequence. Common ends are found first, and only the middle by a table,
//! whose size is bounded. Pure.

use crate::limits::DIFF_CELLS_MAX;

/// One step from the first sequence to the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// An element of the first is the same as one of the second.
    Keep,
    /// An element of the first is removed.
    Remove,
    /// An element of the second is inserted.
    Insert,
}

/// The steps from `a` to `b`; `None` if the table would be too large.
pub(super) fn align(a: &[u32], b: &[u32]) -> Option<Vec<Step>> {
    let before = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (&a[before..], &b[before..]);
    let behind = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (middle_a, middle_b) = (&rest_a[..rest_a.len() - behind], &rest_b[..rest_b.len() - behind]);
    let mut steps = vec![Step::Keep; before];
    steps.extend(align_middle(middle_a, middle_b)?);
    steps.extend(std::iter::repeat_n(Step::Keep, behind));
    Some(steps)
}

/// The longest common subsequence, by the table of its lengths.
fn align_middle(a: &[u32], b: &[u32]) -> Option<Vec<Step>> {
    if a.is_empty() || b.is_empty() {
        let removed = std::iter::repeat_n(Step::Remove, a.len());
        return Some(removed.chain(std::iter::repeat_n(Step::Insert, b.len())).collect());
    }
    let width = b.len() + 1;
    if (a.len() + 1).checked_mul(width)? > DIFF_CELLS_MAX {
        return None;
    }
    // Cell (i, j): how much of a[i..] and b[j..] is common.
    let mut common = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i * width + j] = if a[i] == b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let mut steps = Vec::with_capacity(a.len().max(b.len()));
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let (step, down, right) = if i < a.len() && j < b.len() && a[i] == b[j] {
            (Step::Keep, 1, 1)
        } else if j == b.len() || (i < a.len() && common[(i + 1) * width + j] >= common[i * width + j + 1]) {
            (Step::Remove, 1, 0)
        } else {
            (Step::Insert, 0, 1)
        };
        steps.push(step);
        (i, j) = (i + down, j + right);
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_as_can_be_is_kept() {
        for (a, b, kept) in [
            ("", "", 0),
            ("abc", "abc", 3),
            ("abc", "", 0),
            ("", "abc", 0),
            ("abcd", "bcda", 3),
            ("abcbdab", "bdcaba", 4),
            ("aaa", "aa", 2),
            ("xay", "xby", 2),
        ] {
            let numbers = |text: &str| text.chars().map(u32::from).collect::<Vec<u32>>();
            let (a, b) = (numbers(a), numbers(b));
            let steps = align(&a, &b).unwrap();
            let count = |step| steps.iter().filter(|found| **found == step).count();
            assert_eq!(count(Step::Keep), kept);
            assert_eq!(count(Step::Keep) + count(Step::Remove), a.len());
            assert_eq!(count(Step::Keep) + count(Step::Insert), b.len());
            let (mut i, mut j) = (0, 0);
            for step in steps {
                assert!(step != Step::Keep || a[i] == b[j]);
                i += usize::from(step != Step::Insert);
                j += usize::from(step != Step::Remove);
            }
        }
    }

    #[test]
    fn long_sequences_are_aligned_only_where_their_ends_are_common() {
        let long: Vec<u32> = (0..100_000).collect();
        let mut changed = long.clone();
        changed.remove(50_000);
        assert_eq!(align(&long, &changed).unwrap().iter().filter(|step| **step == Step::Remove).count(), 1);
        let reversed: Vec<u32> = long.iter().rev().copied().collect();
        assert_eq!(align(&long, &reversed), None);
    }
}
