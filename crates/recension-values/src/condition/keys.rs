//! Sets of values as ranges of their keys: what indexes are read by, and what values are tested with. Pure.

use std::ops::Bound;

use crate::collation::Collation;
use crate::json::{Event, Parser};

/// Bounds of encoded values.
pub type Bounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// A range of encoded values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    pub start: Bound<Vec<u8>>,
    pub end: Bound<Vec<u8>>,
    /// Prefixes that the strings must also have, if the bounds do not say so.
    pub(super) prefixes: Vec<String>,
}

impl Span {
    pub(super) fn is_empty(&self) -> bool {
        match (&self.start, &self.end) {
            (Bound::Included(start), Bound::Included(end)) => start > end,
            (Bound::Included(start) | Bound::Excluded(start), Bound::Included(end) | Bound::Excluded(end)) => {
                start >= end
            }
            _ => false,
        }
    }

    pub(super) fn is_point(&self) -> bool {
        matches!((&self.start, &self.end), (Bound::Included(a), Bound::Included(b)) if a == b)
            && self.prefixes.is_empty()
    }

    fn contains(&self, key: &[u8]) -> bool {
        let range = (self.start.as_ref().map(Vec::as_slice), self.end.as_ref().map(Vec::as_slice));
        std::ops::RangeBounds::<[u8]>::contains(&range, key)
    }

    /// Whether all of `other` is certainly in it.
    fn holds(&self, other: &Span) -> bool {
        compare_starts(&self.start, &other.start).is_le()
            && compare_ends(&self.end, &other.end).is_ge()
            && self.prefixes.iter().all(|prefix| other.prefixes.iter().any(|longer| longer.starts_with(prefix)))
    }
}

pub(super) fn compare_starts(a: &Bound<Vec<u8>>, b: &Bound<Vec<u8>>) -> std::cmp::Ordering {
    // An open start is before everything, and an excluded key is after the included one.
    fn order(bound: &Bound<Vec<u8>>) -> Option<(&Vec<u8>, u8)> {
        match bound {
            Bound::Unbounded => None,
            Bound::Included(key) => Some((key, 0)),
            Bound::Excluded(key) => Some((key, 1)),
        }
    }
    order(a).cmp(&order(b))
}

fn compare_ends(a: &Bound<Vec<u8>>, b: &Bound<Vec<u8>>) -> std::cmp::Ordering {
    fn order(bound: &Bound<Vec<u8>>) -> (bool, Option<(&Vec<u8>, u8)>) {
        match bound {
            Bound::Unbounded => (true, None),
            Bound::Included(key) => (false, Some((key, 1))),
            Bound::Excluded(key) => (false, Some((key, 0))),
        }
    }
    order(a).cmp(&order(b))
}

/// A set of values as ranges of their keys, in the order of their starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeySet {
    pub(super) collation: Collation,
    pub(super) spans: Vec<Span>,
    /// Every span is one value.
    pub(super) points: bool,
}

impl KeySet {
    /// Whether a value, given as minified JSON text, is in it.
    pub fn contains_text(&self, text: &str, scratch: &mut Vec<u8>) -> bool {
        scratch.clear();
        if self.collation.encode_value(text, scratch).is_err() {
            return false;
        }
        self.contains(scratch, |prefixes| string_begins_with(text, prefixes))
    }

    /// The same for a value of which the key in a collation is known, if that tells it.
    pub fn contains_key(&self, key: &[u8], collation: Collation, scratch: &mut Vec<u8>) -> Option<bool> {
        scratch.clear();
        if collation == self.collation {
            scratch.extend_from_slice(key);
        } else if self.collation == Collation::Binary {
            collation.key_by_bytes(key, scratch)?;
        } else {
            return None;
        }
        // No condition on prefixes is tested in an order in which bounds do not decide it.
        (self.points || self.is_exact()).then(|| self.contains(scratch, |_| false))
    }

    fn contains(&self, key: &mut Vec<u8>, begins_with: impl Fn(&[String]) -> bool) -> bool {
        if self.points {
            let bound = Bound::Included(std::mem::take(key));
            let found = self.spans.binary_search_by(|span| compare_starts(&span.start, &bound)).is_ok();
            if let Bound::Included(bound) = bound {
                *key = bound;
            }
            return found;
        }
        let within = |span: &Span| span.contains(key) && (span.prefixes.is_empty() || begins_with(&span.prefixes));
        self.spans.iter().any(within)
    }

    pub fn is_one_value(&self) -> bool {
        match self.spans.as_slice() {
            [Span { start: Bound::Included(a), end: Bound::Included(b), .. }] => a == b,
            _ => false,
        }
    }

    /// Whether every value is in it.
    pub fn is_all(&self) -> bool {
        self.spans
            .iter()
            .any(|span| (&span.start, &span.end) == (&Bound::Unbounded, &Bound::Unbounded) && span.prefixes.is_empty())
    }

    /// Whether the bounds alone decide which values are in it.
    pub fn is_exact(&self) -> bool {
        self.spans.iter().all(|span| span.prefixes.is_empty())
    }

    /// Bounds of the keys, in their order. They do not overlap.
    pub fn bounds(&self) -> Vec<Bounds> {
        let mut bounds: Vec<Bounds> = Vec::new();
        for span in &self.spans {
            if let Some((_, end)) = bounds.last_mut() {
                let apart = Span { start: span.start.clone(), end: end.clone(), prefixes: Vec::new() };
                if !apart.is_empty() {
                    if compare_ends(&span.end, end).is_gt() {
                        end.clone_from(&span.end);
                    }
                    continue;
                }
            }
            bounds.push((span.start.clone(), span.end.clone()));
        }
        bounds
    }

    /// Whether all of `other` is certainly in it.
    pub fn holds(&self, other: &KeySet) -> bool {
        self.collation == other.collation
            && other.spans.iter().all(|span| self.spans.iter().any(|wider| wider.holds(span)))
    }
}

fn string_begins_with(text: &str, prefixes: &[String]) -> bool {
    match Parser::of_text(text).next_event() {
        Ok(Some(Event::String(text))) => {
            let text = text.decode();
            prefixes.iter().all(|prefix| text.starts_with(prefix))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collation::JsonType;
    use crate::condition::{Literal, ValueRange, ValueSet};

    #[test]
    fn the_key_of_a_value_tells_the_same_as_its_text() {
        let texts =
            ["null", "true", "0", "-0", "7.5", "99999999999999999999", r#""""#, r#""a\u0000b""#, r#""Áb""#, r#""ab""#];
        let literal = |text: &str| Literal::json(text).unwrap();
        let mut sets: Vec<ValueSet> = texts.iter().map(|text| ValueRange::equal(literal(text)).into()).collect();
        sets.push(ValueSet::one_of(texts.iter().skip(3).map(|text| literal(text))));
        sets.extend(["", "a", "Á", "a\0"].map(|prefix| ValueSet::from(ValueRange::prefix(prefix))));
        sets.push(ValueRange::above("a").or(ValueRange::of_type(JsonType::Null)));
        let mut scratch = Vec::new();
        for (set, text) in sets.iter().flat_map(|set| texts.iter().map(move |text| (set, text))) {
            for collation in [Collation::Binary, Collation::default()] {
                let (test, key) = (set.test(collation), collation.key(text).unwrap());
                let (by_text, by_key) =
                    (test.contains_text(text, &mut scratch), test.contains_key(&key, collation, &mut Vec::new()));
                assert_eq!(by_key, Some(by_text), "{set} {text} {collation:?}");
            }
        }
        let array = Collation::default().key("[1]").unwrap();
        let test = ValueSet::from(ValueRange::equal(literal("[1]"))).test(Collation::Binary);
        let told = test.contains_key(&array, Collation::default(), &mut scratch);
        assert!(told.is_none() || told == Some(true));
    }
}
