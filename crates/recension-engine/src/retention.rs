//! Rules of retention: how much of a range's history is kept. Pure; the engines decide which history is given up, and
//! when.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::ops::Bound;
use std::str::FromStr;
use std::time::Duration;

use super::{EngineError, KeyRange, Result, TreeId};
use crate::limits::RETENTION_RULES_MAX;

/// How much of a range's history stays readable. History beyond it may be given up at any time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Retention {
    /// All of it.
    #[default]
    Everything,
    /// The newest versions of each key, this many of them; a deletion counts as one.
    Versions(NonZeroU32),
    /// Everything needed to read the range as of any moment within the last so long.
    Duration(Duration),
    /// The present state only.
    HeadOnly,
}

/// A text that is no rule of retention.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadRetention {
    /// The text.
    pub text: String,
}

impl fmt::Display for BadRetention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        write!(f, "\"{text}\" is no rule of retention: expected everything, versions=N, days=N, duration=12h, or head")
    }
}

impl std::error::Error for BadRetention {}

/// Units of durations, and their seconds.
const UNITS: [(&str, u64); 5] = [("w", 7 * 86_400), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)];

/// `everything`, `versions=10`, `days=30`, `duration=12h` (units: s, m, h, d, w), `head`.
impl FromStr for Retention {
    type Err = BadRetention;

    fn from_str(text: &str) -> std::result::Result<Self, BadRetention> {
        let duration = |number: &str, unit: u64| -> Option<Retention> {
            let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            let seconds = number.parse::<u64>().ok().filter(|_| digits)?.checked_mul(unit)?;
            // It must fit into 8 bytes as microseconds.
            seconds.checked_mul(1_000_000).map(|_| Retention::Duration(Duration::from_secs(seconds)))
        };
        let found = match text.split_once('=') {
            None if text == "everything" => Some(Retention::Everything),
            None if text == "head" => Some(Retention::HeadOnly),
            Some(("versions", count)) => count.parse().ok().map(Retention::Versions),
            Some(("days", days)) => duration(days, 86_400),
            Some(("duration", long)) => {
                UNITS.iter().find_map(|(unit, seconds)| duration(long.strip_suffix(unit)?, *seconds))
            }
            _ => None,
        };
        found.ok_or_else(|| BadRetention { text: text.to_owned() })
    }
}

/// The text that can be read back; parts of a second are rounded down.
impl fmt::Display for Retention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Retention::Everything => write!(f, "everything"),
            Retention::Versions(count) => write!(f, "versions={count}"),
            Retention::HeadOnly => write!(f, "head"),
            Retention::Duration(duration) => {
                let seconds = duration.as_secs();
                let fits = UNITS.iter().find(|(_, unit)| seconds > 0 && seconds.is_multiple_of(*unit));
                let (name, unit) = fits.unwrap_or(&("s", 1));
                write!(f, "duration={}{name}", seconds / unit)
            }
        }
    }
}

/// A standing rule for a range of keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RetentionRule {
    /// The tree.
    pub tree: TreeId,
    /// Its keys.
    pub range: KeyRange,
    /// How much of their history stays.
    pub retention: Retention,
}

/// The rules of a store: at most one for any key. Without a rule, everything is kept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RetentionRules {
    by_tree: BTreeMap<TreeId, Vec<(KeyRange, Retention)>>,
}

impl RetentionRules {
    /// Whether everything is kept.
    pub fn is_empty(&self) -> bool {
        self.by_tree.is_empty()
    }

    /// Number of rules.
    pub fn len(&self) -> usize {
        self.by_tree.values().map(Vec::len).sum()
    }

    /// Sets a rule, and replaces the former one of its range; false if that changes nothing.
    ///
    /// # Errors
    /// [`EngineError::TooLarge`] with more rules than [`RETENTION_RULES_MAX`]; nothing was changed.
    pub fn set(&mut self, rule: &RetentionRule) -> Result<bool> {
        let RetentionRule { tree, range, retention } = rule;
        if range.is_empty() {
            return Ok(false);
        }
        let known = self.by_tree.get(tree).map_or(&[][..], Vec::as_slice);
        let standing = known.iter().any(|(old, kept)| kept == retention && old.covers(range));
        let touched = |old: &KeyRange| old.overlaps(range);
        let replaced = known.iter().filter(|(old, _)| touched(old));
        let count = replaced.clone().count();
        if standing || (count == 0 && *retention == Retention::Everything) {
            return Ok(false);
        }
        let mut new: Vec<_> = replaced.flat_map(|(old, kept)| old.without(range).map(|left| (left, *kept))).collect();
        if *retention != Retention::Everything {
            new.push((range.clone(), *retention));
        }
        let len = self.len() - count + new.len();
        if len > RETENTION_RULES_MAX {
            let what = "rules of retention; set them for larger ranges";
            return Err(EngineError::TooLarge { what, len, max: RETENTION_RULES_MAX });
        }
        let rules = self.by_tree.entry(*tree).or_default();
        rules.retain(|(old, _)| !touched(old));
        rules.extend(new);
        if rules.is_empty() {
            self.by_tree.remove(tree);
        }
        Ok(true)
    }

    /// Sets several rules, or none.
    ///
    /// # Errors
    /// As [`RetentionRules::set`].
    pub fn set_all(&mut self, rules: &[RetentionRule]) -> Result<bool> {
        let mut new = self.clone();
        let mut changed = false;
        for rule in rules {
            changed |= new.set(rule)?;
        }
        *self = new;
        Ok(changed)
    }

    /// Every rule, in the order of trees.
    pub fn iter(&self) -> impl Iterator<Item = RetentionRule> + '_ {
        self.by_tree.iter().flat_map(|(tree, rules)| {
            rules.iter().map(|(range, retention)| RetentionRule {
                tree: *tree,
                range: range.clone(),
                retention: *retention,
            })
        })
    }

    /// The retention of a key.
    pub fn of(&self, tree: TreeId, key: &[u8]) -> Retention {
        let rules = self.by_tree.get(&tree).map_or(&[][..], Vec::as_slice);
        rules.iter().find(|(range, _)| range.contains(key)).map_or(Retention::Everything, |(_, retention)| *retention)
    }

    /// Whether "head only" is the rule for all of a range.
    pub fn is_head_only(&self, tree: TreeId, range: &KeyRange) -> bool {
        let rules = self.by_tree.get(&tree).map_or(&[][..], Vec::as_slice);
        rules.iter().any(|(outer, retention)| *retention == Retention::HeadOnly && outer.covers(range))
    }
}

impl KeyRange {
    /// The keys in this range and not in `other`: those before it and those after it.
    pub fn without(&self, other: &KeyRange) -> impl Iterator<Item = KeyRange> + use<> {
        let turned = |bound: &Bound<Vec<u8>>| match bound {
            Bound::Unbounded => None,
            Bound::Included(key) => Some(Bound::Excluded(key.clone())),
            Bound::Excluded(key) => Some(Bound::Included(key.clone())),
        };
        let before = turned(&other.start).map(|end| KeyRange { start: Bound::Unbounded, end });
        let behind = turned(&other.end).map(|start| KeyRange { start, end: Bound::Unbounded });
        let parts = if other.is_empty() { [Some(KeyRange::all()), None] } else { [before, behind] };
        parts
            .map(|part| part.map(|part| self.intersection(&part)))
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TREE: TreeId = TreeId(3);

    fn versions(n: u32) -> Retention {
        NonZeroU32::new(n).map_or(Retention::HeadOnly, Retention::Versions)
    }

    fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
        let key = proptest::collection::vec(0..3_u8, 0..3);
        prop_oneof![Just(Bound::Unbounded), key.clone().prop_map(Bound::Included), key.prop_map(Bound::Excluded)]
    }

    fn ranges() -> impl Strategy<Value = KeyRange> {
        (bound(), bound()).prop_map(|(start, end)| KeyRange { start, end })
    }

    fn keys() -> impl Iterator<Item = Vec<u8>> {
        let longer = |key: &Vec<u8>| (0..3_u8).map(|byte| [&key[..], &[byte]].concat()).collect::<Vec<_>>();
        let one: Vec<_> = longer(&Vec::new());
        let two: Vec<_> = one.iter().flat_map(longer).collect();
        let three: Vec<_> = two.iter().flat_map(longer).collect();
        std::iter::once(Vec::new()).chain(one).chain(two).chain(three)
    }

    proptest! {
        #[test]
        fn a_range_without_another_has_the_keys_of_the_one_that_the_other_has_not(a in ranges(), b in ranges()) {
            for key in keys() {
                let parts = a.without(&b).filter(|part| part.contains(&key)).count();
                prop_assert_eq!(parts, usize::from(a.contains(&key) && !b.contains(&key)));
            }
        }

        #[test]
        fn the_rule_that_was_set_last_for_a_key_holds(
            set in proptest::collection::vec((ranges(), 0..4_u32), 0..8),
        ) {
            let retention = |n| match n {
                0 => Retention::Everything,
                1 => Retention::HeadOnly,
                n => versions(n),
            };
            let mut rules = RetentionRules::default();
            for (range, n) in &set {
                let rule = RetentionRule { tree: TREE, range: range.clone(), retention: retention(*n) };
                let before = rules.clone();
                prop_assert_eq!(rules.set(&rule).unwrap() || before == rules, true);
                prop_assert!(!rules.set(&rule).unwrap(), "a second time it changes nothing");
            }
            for key in keys() {
                let last = set.iter().rfind(|(range, _)| range.contains(&key));
                prop_assert_eq!(rules.of(TREE, &key), last.map_or(Retention::Everything, |(_, n)| retention(*n)));
                prop_assert!(rules.iter().filter(|rule| rule.range.contains(&key)).count() <= 1);
            }
        }
    }

    #[test]
    fn rules_are_read_as_they_are_written() {
        let duration = |seconds| Retention::Duration(Duration::from_secs(seconds));
        for (text, retention, shown) in [
            ("everything", Retention::Everything, "everything"),
            ("head", Retention::HeadOnly, "head"),
            ("versions=3", versions(3), "versions=3"),
            ("days=30", duration(30 * 86_400), "duration=30d"),
            ("days=14", duration(14 * 86_400), "duration=2w"),
            ("duration=90m", duration(90 * 60), "duration=90m"),
            ("duration=61s", duration(61), "duration=61s"),
            ("duration=0h", duration(0), "duration=0s"),
        ] {
            assert_eq!(text.parse(), Ok(retention));
            assert_eq!(retention.to_string(), shown);
            assert_eq!(shown.parse(), Ok(retention));
        }
        let beyond = format!("days={}", u64::MAX);
        for text in [
            "",
            "all",
            "versions=0",
            "versions=-1",
            "versions",
            "days=",
            "days=+1",
            "duration=5",
            "duration=d",
            &beyond,
        ] {
            assert_eq!(text.parse::<Retention>(), Err(BadRetention { text: text.to_owned() }));
        }
    }

    #[test]
    fn the_number_of_rules_is_bounded_and_a_refusal_changes_nothing() {
        let only =
            |n: usize| RetentionRule { tree: TREE, range: KeyRange::only(n.to_be_bytes()), retention: versions(2) };
        let mut rules = RetentionRules::default();
        let most: Vec<_> = (0..RETENTION_RULES_MAX).map(only).collect();
        assert!(rules.set_all(&most).unwrap());
        let full = rules.clone();
        let refused = rules.set_all(&[only(0), only(RETENTION_RULES_MAX)]);
        assert!(matches!(refused, Err(EngineError::TooLarge { max: RETENTION_RULES_MAX, .. })), "{refused:?}");
        assert_eq!(rules, full);
        let all = RetentionRule { tree: TREE, range: KeyRange::all(), retention: Retention::Everything };
        assert!(rules.set(&all).unwrap());
        assert!(rules.is_empty());
    }
}
