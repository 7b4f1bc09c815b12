//! What each index would read for a query, and which conditions would be left to test. All of it is computed without
//! reading.

// Estimates need no more digits than doubles have.
#![allow(clippy::cast_precision_loss)]

use std::ops::Bound;
use std::sync::Arc;

use crate::engine::{Direction, KeyRange};
use crate::kernel::query::id_set::IdSet;
use crate::kernel::query::planner::{OfElement, Planner, Resume, Unusable, Want};
use crate::kernel::query::words::WordsWay;
use crate::kernel::rows::catalogue::IndexEntry;
use crate::kernel::rows::index_keys::{LOWEST, after_prefix};
use recension_values::collation::Collation;
use recension_values::condition::{Bounds, Condition};
use recension_values::index_spec::IndexSpec;
use recension_values::json::Path;
use recension_values::limits::RANGES_MAX;
use recension_values::model::IndexState;
use recension_values::own::{Own, id_ranges, is_reserved, single_ids};
use recension_values::query::Query;
use recension_values::selector::Selector;

// The fraction of rows that a condition is expected to let through, if nothing was counted.
pub(super) const ONE_VALUE_LETS: f64 = 0.05;
pub(super) const RANGE_LETS: f64 = 0.25;

/// What becomes of the query's selector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SelectorOfWay {
    /// It is tested on the documents that are found.
    Tested,
    /// It selects whatever is found.
    Met,
}

/// A way to find the documents.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// The index's place among those of the collection; `None`: every document is read.
    pub(crate) index: Option<usize>,
    /// The keys of the index, in order; none lies in two ranges.
    pub(crate) ranges: Vec<KeyRange>,
    /// In place of ranges: the ids of single documents, in order.
    pub(crate) points: Option<Vec<String>>,
    /// How many ranges or single documents are read.
    pub(super) reads: usize,
    pub(crate) direction: Direction,
    /// The combined ids of several ways. The fields above then say nothing.
    pub(crate) ids: Option<Arc<IdSet>>,
    /// The words that are looked up in the index. There are no ranges then.
    pub(crate) words: Option<WordsWay>,
    /// A document may come more than once.
    pub(crate) repeats: bool,
    /// The numbers of the conditions that bound the ranges.
    pub(super) bounds: Vec<usize>,
    /// The numbers of the conditions that are tested on keys.
    pub(crate) key_tests: Vec<usize>,
    /// The numbers of the conditions that are tested on documents.
    pub(crate) document_tests: Vec<usize>,
    pub(crate) selector: SelectorOfWay,
    /// It gives the order of the query.
    pub(crate) ordered: bool,
    /// The keys hold all wanted values.
    pub(crate) covering: bool,
    /// One row for each value of a unique index. It is an estimate: replication may have brought more.
    pub(super) rows_max: Option<usize>,
    /// The estimated fraction that the bounds let through.
    pub(super) lets: f64,
    pub(super) rows: Option<f64>,
    pub(super) cost: Option<f64>,
}

impl Way {
    /// The selector, if it is tested on the documents that are found.
    pub(super) fn tested<'q>(&self, query: &'q Query) -> Option<&'q Selector> {
        query.selector.as_deref().filter(|_| self.selector == SelectorOfWay::Tested)
    }
}

impl Planner<'_> {
    /// Documents by id: all, or those in the ranges that a condition on the id leaves.
    pub(crate) fn scan(&self) -> Way {
        let query = self.query;
        let bound = query.conditions.iter().position(|condition| Own::of(&condition.path) == Some(Own::Id));
        let (mut ranges, mut lets) = (vec![KeyRange::all()], 1.0);
        let points = bound.and_then(|number| single_ids(&query.conditions[number].values));
        if points.is_some() {
            (ranges, lets) = (Vec::new(), RANGE_LETS);
        } else if let Some(number) = bound {
            ranges = id_ranges(self.keys.of(number, Collation::Binary));
            lets = if ranges == [KeyRange::all()] { 1.0 } else { RANGE_LETS };
        }
        let rows_max = points.as_ref().map(Vec::len);
        let order = self.id_order();
        Way {
            index: None,
            reads: rows_max.unwrap_or(ranges.len()),
            ranges,
            points,
            direction: order.unwrap_or(Direction::Forward),
            ids: None,
            words: None,
            repeats: false,
            bounds: bound.into_iter().collect(),
            key_tests: Vec::new(),
            // The ranges have exactly the ids that meet the condition.
            document_tests: (0..query.conditions.len()).filter(|number| Some(*number) != bound).collect(),
            selector: SelectorOfWay::Tested,
            ordered: order.is_some() && self.resume != Resume::Sorted,
            covering: false,
            rows_max,
            lets,
            rows: None,
            cost: None,
        }
    }

    /// The direction in which the order of ids is the order of the query, if it is.
    pub(super) fn id_order(&self) -> Option<Direction> {
        match self.query.sort.iter().find(|(path, _)| !self.is_constant(path)) {
            Some((path, direction)) => (Own::of(path) == Some(Own::Id)).then_some(*direction),
            None => Some(self.query.sort.last().map_or(Direction::Forward, |(_, last)| *last)),
        }
    }

    /// Whether all found documents have the same value at the path.
    fn is_constant(&self, path: &Path) -> bool {
        let mut conditions = self.query.conditions.iter().enumerate();
        conditions.any(|(number, condition)| condition.path == *path && self.keys.is_one_value(number))
    }

    /// Whether a condition means the same in an index as in the query.
    fn means_the_same(&self, condition: &Condition, spec: &IndexSpec) -> bool {
        spec.collation == self.query.collation
            || !condition.values.orders_strings()
            || Own::of(&condition.path).is_some()
    }

    /// The way through an index, or the reason for which it cannot be used.
    pub(super) fn way(&self, number: usize, entry: &IndexEntry) -> std::result::Result<Way, Unusable> {
        self.way_but(number, entry, &[])
    }

    /// The same, but the conditions of these numbers do not bound it.
    pub(super) fn way_but(
        &self,
        number: usize,
        entry: &IndexEntry,
        but: &[usize],
    ) -> std::result::Result<Way, Unusable> {
        let spec = &entry.spec;
        let query = self.query;
        if entry.state != IndexState::Ready {
            return Err(Unusable::Because("it is being built"));
        }
        if spec.words.is_some() {
            return self.words_way(number, entry);
        }
        if spec.parts.iter().any(|part| is_reserved(&part.path)) {
            return Err(Unusable::Because("it is on a name that begins with _, and empty; drop it"));
        }
        let mut met = vec![false; query.conditions.len()];
        self.implies_filter(spec, &mut met)?;
        let needed = if entry.by_first { 1 } else { spec.parts.len() };
        for (number, part) in spec.parts.iter().take(needed).enumerate() {
            let asked = query.conditions.iter().any(|condition| condition.path == part.path);
            if !asked && !query.sort.iter().any(|(path, _)| *path == part.path) {
                return Err(Unusable::Without(number));
            }
        }
        let bounded = self.bound(entry, but, &mut met);
        let mut many = spec.parts.iter().enumerate().filter(|(_, part)| part.path.is_multiple());
        let repeats = many.any(|(part, _)| !bounded.one_value.get(part).copied().unwrap_or(false));
        let order = self.order_by(spec, &bounded.one_value);
        // A row of an index has the document's id as well.
        let single_part = |path: &Path| {
            let is_part = !path.is_multiple() && spec.parts.iter().any(|part| part.path == *path);
            is_part || Own::of(path) == Some(Own::Id)
        };
        let left = (0..met.len()).filter(|condition| !met[*condition]);
        let (key_tests, document_tests): (Vec<usize>, Vec<usize>) =
            left.partition(|condition| single_part(&query.conditions[*condition].path));
        let ordered = order.is_some() && self.resume != Resume::Sorted;
        if matches!(self.resume, Resume::Index(_)) && !ordered {
            return Err(Unusable::Because("it does not give the order"));
        }
        let sort_at_hand = ordered || query.sort.iter().all(|(path, _)| single_part(path));
        let wanted_at_hand = match self.want {
            Want::Documents => false,
            Want::Selected => query.select.iter().all(single_part),
            Want::Count => true,
        };
        let covering =
            wanted_at_hand && sort_at_hand && !repeats && document_tests.is_empty() && query.absent.is_empty();
        let decides =
            |number: &usize| bounded.conditions.contains(number) && self.keys.of(*number, spec.collation).is_exact();
        // One row is of one element: if that meets all, the selector is met.
        let met = self.elements().iter().any(|element| element.exact && element.conditions.iter().all(decides));
        let selector = if met { SelectorOfWay::Met } else { SelectorOfWay::Tested };
        let covering = covering && (query.selector.is_none() || met);
        let whole = bounded.one_value.iter().filter(|one| **one).count() == spec.parts.len();
        Ok(Way {
            index: Some(number),
            rows_max: (spec.unique && whole).then_some(bounded.ranges.len()),
            reads: bounded.ranges.len(),
            ranges: bounded.ranges,
            points: None,
            direction: order.unwrap_or(Direction::Forward),
            ids: None,
            words: None,
            repeats,
            bounds: bounded.conditions,
            key_tests,
            document_tests,
            selector,
            ordered,
            covering,
            lets: bounded.lets,
            rows: None,
            cost: None,
        })
    }

    /// Checks that every document of the query meets the conditions of the index's filter. The error says of which that
    /// is not known.
    pub(super) fn implies_filter(&self, spec: &IndexSpec, met: &mut [bool]) -> std::result::Result<(), Unusable> {
        let unknown = spec.filter.iter().position(|filter| !self.implies(filter, spec, met));
        unknown.map_or(Ok(()), |filter| Err(Unusable::Only(filter)))
    }

    fn implies(&self, filter: &Condition, spec: &IndexSpec, met: &mut [bool]) -> bool {
        let mut implied = false;
        for (number, condition) in self.query.conditions.iter().enumerate() {
            if condition.path != filter.path {
                continue;
            }
            let by_bytes = Own::of(&filter.path).is_some();
            let ordered = !by_bytes && (filter.values.orders_strings() || condition.values.orders_strings());
            if ordered && spec.collation != self.query.collation {
                continue;
            }
            let collation = if ordered { spec.collation } else { Collation::Binary };
            let (wide, narrow) = (filter.values.keys(collation), self.keys.of(number, collation));
            if wide.holds(narrow) {
                implied = true;
                met[number] |= narrow.holds(&wide);
            }
        }
        implied
    }

    fn bound(&self, entry: &IndexEntry, but: &[usize], met: &mut [bool]) -> Bounded {
        let spec = &entry.spec;
        let mut bounded = Bounded { ranges: Vec::new(), conditions: Vec::new(), one_value: Vec::new(), lets: 1.0 };
        let mut prefixes = vec![Vec::new()];
        let mut last = vec![(Bound::Unbounded, Bound::Unbounded)];
        // The conditions on elements that bound the range, all of which one element must meet.
        let mut of_element: Vec<usize> = Vec::new();
        for (place, part) in spec.parts.iter().enumerate() {
            // An absent value is no value.
            let from_lowest = |(start, end): Bounds| match start {
                Bound::Unbounded if entry.by_first && place > 0 => (Bound::Included(vec![LOWEST]), end),
                start => (start, end),
            };
            let usable = self
                .query
                .conditions
                .iter()
                .enumerate()
                .filter(|(number, _)| !but.contains(number))
                .filter(|(_, condition)| condition.path == part.path && self.means_the_same(condition, spec));
            let many = part.path.is_multiple();
            let usable = usable.filter(|(number, _)| !many || self.are_of_one_element(&of_element, *number));
            let keys = usable.map(|(number, _)| (number, self.keys.of(number, spec.collation)));
            // Of several conditions on the elements of an array only those of one element can bound; a single value is
            // best, then one that others are asked for with.
            let best = keys.min_by_key(|(number, keys)| (!keys.is_one_value(), !self.is_of_element(*number)));
            let Some((number, keys)) = best else {
                if self.query.sort.iter().any(|(path, _)| *path == part.path) && !part.path.is_multiple() {
                    last = vec![from_lowest((Bound::Unbounded, Bound::Unbounded))];
                    if part.direction == Direction::Backward {
                        last = last.into_iter().map(inverted).collect();
                    }
                }
                break;
            };
            let mut bounds: Vec<Bounds> = keys.bounds().into_iter().map(from_lowest).collect();
            if part.direction == Direction::Backward {
                bounds = bounds.into_iter().rev().map(inverted).collect();
            }
            if prefixes.len().saturating_mul(bounds.len()) > RANGES_MAX {
                break;
            }
            met[number] |= keys.is_exact();
            of_element.extend(many.then_some(number));
            bounded.conditions.push(number);
            bounded.one_value.push(keys.is_one_value());
            let points: Option<Vec<&Vec<u8>>> = bounds.iter().map(point).collect();
            let Some(points) = points else {
                let all = keys.is_all();
                bounded.lets *= if all { 1.0 } else { RANGE_LETS };
                last = bounds;
                break;
            };
            bounded.lets *= ONE_VALUE_LETS * points.len() as f64;
            prefixes = prefixes
                .iter()
                .flat_map(|prefix| points.iter().map(move |point| [prefix.as_slice(), point.as_slice()].concat()))
                .collect();
        }
        for prefix in &prefixes {
            bounded.ranges.extend(last.iter().map(|bounds| keys_within(prefix, bounds)));
        }
        bounded.ranges.retain(|range| !range.is_empty());
        bounded.lets = bounded.lets.min(1.0);
        bounded
    }

    fn is_of_element(&self, number: usize) -> bool {
        self.elements().iter().any(|element| element.conditions.contains(&number))
    }

    /// Whether a condition is of an element that also meets these.
    fn are_of_one_element(&self, others: &[usize], number: usize) -> bool {
        let has_all =
            |element: &OfElement| others.iter().chain([&number]).all(|known| element.conditions.contains(known));
        others.is_empty() || self.elements().iter().any(has_all)
    }

    /// The direction in which an index gives the order of the query, if it does.
    fn order_by(&self, spec: &IndexSpec, one_value: &[bool]) -> Option<Direction> {
        let mut direction = None;
        let mut next = 0;
        for (path, wanted) in &self.query.sort {
            if self.is_constant(path) {
                continue;
            }
            if Own::of(path) == Some(Own::Id) {
                // Documents with equal values in all parts of an index are in the order of their ids, and nothing comes
                // after the id.
                while one_value.get(next).copied().unwrap_or(false) {
                    next += 1;
                }
                let behind_all = next == spec.parts.len() && *direction.get_or_insert(*wanted) == *wanted;
                return if behind_all { direction } else { None };
            }
            if spec.collation != self.query.collation {
                return None;
            }
            while one_value.get(next).copied().unwrap_or(false) {
                next += 1;
            }
            let part = spec.parts.get(next).filter(|part| part.path == *path)?;
            next += 1;
            let needed = if *wanted == part.direction { Direction::Forward } else { Direction::Backward };
            if *direction.get_or_insert(needed) != needed {
                return None;
            }
        }
        // If all parts are constant, only the order of the ids is left.
        Some(direction.unwrap_or_else(|| self.query.sort.last().map_or(Direction::Forward, |(_, last)| *last)))
    }
}

struct Bounded {
    ranges: Vec<KeyRange>,
    conditions: Vec<usize>,
    /// For each bounded part, whether it is bounded by one value.
    one_value: Vec<bool>,
    lets: f64,
}

fn point(bounds: &Bounds) -> Option<&Vec<u8>> {
    match bounds {
        (Bound::Included(a), Bound::Included(b)) if a == b => Some(a),
        _ => None,
    }
}

/// The bounds of the same values with all bits inverted, as in descending parts.
fn inverted((start, end): Bounds) -> Bounds {
    let turn = |key: Vec<u8>| key.into_iter().map(|byte| !byte).collect::<Vec<u8>>();
    (end.map(turn), start.map(turn))
}

/// The keys of an index that begin with `prefix`, followed by a value within the bounds.
fn keys_within(prefix: &[u8], (start, end): &Bounds) -> KeyRange {
    let full = |key: &Vec<u8>| [prefix, key].concat();
    let start = match start {
        Bound::Unbounded => Bound::Included(prefix.to_vec()),
        Bound::Included(key) => Bound::Included(full(key)),
        // Keys that begin with this key lie before the keys after it.
        Bound::Excluded(key) => match after_prefix(&full(key)) {
            Bound::Excluded(after) => Bound::Included(after),
            other => other,
        },
    };
    let end = match end {
        Bound::Unbounded if prefix.is_empty() => Bound::Unbounded,
        Bound::Unbounded => after_prefix(prefix),
        Bound::Included(key) => after_prefix(&full(key)),
        Bound::Excluded(key) => Bound::Excluded(full(key)),
    };
    KeyRange { start, end }
}
