//! Choosing how a query is carried out: what each index would read, what that costs, which is cheapest. What an
//! index would read is worked out without reading; estimates count rows of its ranges, boundedly.

// Estimates need no more digits than doubles have.
#![allow(clippy::cast_precision_loss)]

use std::ops::Bound;

use super::Collation;
use super::catalogue::{IndexEntry, IndexState};
use super::condition::{Bounds, Condition, KeySet};
use super::index_spec::IndexSpec;
use super::json::{Path, PathSet};
use super::limits::RANGES_MAX;
use super::lookup::Lookup;
use super::plan::{Alternative, Plan, PlanSort};
use super::query::{Query, Through};
use super::reader::after_prefix;
use super::{Error, Result};
use crate::engine::{Direction, KeyRange, TreeId};

// Costs: 1 is reading a document of a scan. Estimates, not fitted to a measurement; examples/index_figures.rs shows what they
// stand for.
const SCAN_TEST: f64 = 0.25;
const SCAN_BEGINS: f64 = 10.0;
const RANGE_BEGINS: f64 = 1.0;
const KEY_READ: f64 = 0.2;
const DOCUMENT_GOT: f64 = 1.5;

// What part of the rows a condition is expected to let through, where nothing was counted.
const ONE_VALUE_LETS: f64 = 0.05;
const RANGE_LETS: f64 = 0.25;

/// What is wanted of the documents that are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Want {
    Documents,
    Selected,
    Count,
}

/// A query made ready to be tested on documents.
pub(super) struct Asked {
    /// Every path that the query names.
    pub(super) paths: PathSet,
    /// For each condition its path and the keys that meet it.
    pub(super) tests: Vec<(usize, KeySet)>,
    pub(super) absent: Vec<usize>,
    pub(super) sort: Vec<(usize, Direction)>,
    pub(super) select: Vec<usize>,
}

impl Asked {
    pub(super) fn of(query: &Query) -> Self {
        let mut paths = PathSet::default();
        Asked {
            tests: query
                .conditions
                .iter()
                .map(|condition| (paths.add(&condition.path), condition.values.test(query.collation)))
                .collect(),
            absent: query.absent.iter().map(|path| paths.add(path)).collect(),
            sort: query.sort.iter().map(|(path, direction)| (paths.add(path), *direction)).collect(),
            select: query.select.iter().map(|path| paths.add(path)).collect(),
            paths,
        }
    }
}

/// Where the documents come from.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// The index's place among those of the collection; `None`: every document is read.
    pub(super) index: Option<usize>,
    /// The keys of the index, in order; none lies in two ranges.
    pub(super) ranges: Vec<KeyRange>,
    pub(super) direction: Direction,
    /// A document may come more than once.
    pub(super) repeats: bool,
    /// The conditions, by their numbers, that bound the ranges.
    bounds: Vec<usize>,
    /// The conditions that are tested on keys.
    pub(super) key_tests: Vec<usize>,
    /// The conditions that are tested on documents.
    pub(super) document_tests: Vec<usize>,
    /// It gives the order that the query asks for.
    pub(super) ordered: bool,
    /// The keys have all that is wanted.
    pub(super) covering: bool,
    /// One row for each value of a unique index, but for what replication has brought: an estimate, and no promise.
    rows_max: Option<usize>,
    /// How much the bounds let through, as a guess.
    lets: f64,
    rows: Option<f64>,
    cost: Option<f64>,
}

/// What the choice stands on.
pub(super) struct Chosen {
    pub(super) way: Way,
    pub(super) others: Vec<Alternative>,
}

/// Where a query goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Resume {
    Nowhere,
    Ids,
    Index(TreeId),
    Sorted,
}

/// Counting rows for estimates.
pub(super) trait Sampler {
    /// The documents of the collection; `None` where they are not to be asked for.
    fn documents(&self) -> Result<Option<u64>>;
    /// The rows of the ranges, up to `max`; `None` where they are not to be read.
    fn rows(&self, tree: TreeId, ranges: &[KeyRange], max: usize) -> Result<Option<usize>>;
}

pub(super) struct Planner<'p> {
    pub(super) query: &'p Query,
    pub(super) indexes: &'p [IndexEntry],
    pub(super) want: Want,
    pub(super) resume: Resume,
    /// Every way is to be weighed, though one would do.
    pub(super) explain: bool,
}

impl Planner<'_> {
    pub(super) fn choose(&self, sampler: &dyn Sampler) -> Result<Chosen> {
        let (mut ways, others) = self.ways();
        if ways.is_empty() {
            return Err(self.no_way(&others));
        }
        if self.explain || !is_obvious(&ways) {
            self.weigh(&mut ways, sampler)?;
        }
        let lookup = if self.want == Want::Documents { Lookup::of(self.indexes, self.query) } else { None };
        Ok(self.chosen(ways, others, lookup.map(|lookup| lookup.index)))
    }

    /// What [`Planner::choose`] chooses where a query is a look-up in an index.
    pub(super) fn choose_lookup(&self, index: usize) -> Chosen {
        let (ways, others) = self.ways();
        if ways.is_empty() { self.scan_of_nothing() } else { self.chosen(ways, others, Some(index)) }
    }

    /// The ways that can be gone, and why others cannot.
    fn ways(&self) -> (Vec<Way>, Vec<Alternative>) {
        let mut ways = Vec::new();
        let mut others = Vec::new();
        for (number, entry) in self.indexes.iter().enumerate() {
            match self.admitted(entry).and_then(|()| self.way(number, entry)) {
                Ok(way) => ways.push(way),
                Err(why) => others.push(rejected(Some(entry), why)),
            }
        }
        match self.scan_admitted() {
            Ok(()) => ways.push(self.scan()),
            Err(why) => others.push(rejected(None, why.to_owned())),
        }
        (ways, others)
    }

    /// The best way: a look-up in the index of this number, if it is one, else the cheapest.
    fn chosen(&self, mut ways: Vec<Way>, mut others: Vec<Alternative>, lookup: Option<usize>) -> Chosen {
        let lookup = lookup.and_then(|index| ways.iter().position(|way| way.index == Some(index)));
        // The first of equals: an index before the scan.
        let order = |at: &usize| ways[*at].order_of_choice();
        let best = lookup.or_else(|| (0..ways.len()).min_by(|a, b| order(a).total_cmp(&order(b))));
        let way = ways.remove(best.unwrap_or(0));
        ways.sort_by(|a, b| a.order_of_choice().total_cmp(&b.order_of_choice()));
        let weighed = ways.iter().map(|way| Alternative {
            index: way.index.and_then(|number| self.indexes.get(number)).map(|entry| entry.spec.name.clone()),
            rows: way.rows,
            cost: way.cost,
            rejected: None,
        });
        others.splice(0..0, weighed.collect::<Vec<_>>());
        Chosen { way, others }
    }

    fn admitted(&self, entry: &IndexEntry) -> std::result::Result<(), String> {
        match &self.query.through {
            Through::Index(name) if *name != entry.spec.name => return Err("another index was asked for".to_owned()),
            Through::NoIndex => return Err("no index was to be used".to_owned()),
            _ => {}
        }
        match self.resume {
            Resume::Ids => Err("the cursor goes on by ids".to_owned()),
            Resume::Index(tree) if tree != entry.tree => Err("the cursor goes on in another index".to_owned()),
            _ => Ok(()),
        }
    }

    fn scan_admitted(&self) -> std::result::Result<(), &'static str> {
        match (&self.query.through, self.resume) {
            (Through::Index(_), _) => Err("an index was asked for"),
            (_, Resume::Index(_)) => Err("the cursor goes on in an index"),
            _ => Ok(()),
        }
    }

    fn no_way(&self, others: &[Alternative]) -> Error {
        if matches!(self.resume, Resume::Index(_)) {
            return Error::BadCursor { why: "the index that it stands in is not there, or not to be used" };
        }
        if let Through::Index(name) = &self.query.through {
            let known = others.iter().find(|other| other.index.as_ref() == Some(name));
            let why = known.and_then(|other| other.rejected.clone());
            return Error::IndexNotUsable {
                index: name.clone(),
                why: why.unwrap_or_else(|| "there is no such index".to_owned()),
            };
        }
        Error::BadQuery { why: "there is no way to carry it out; leave the cursor or the index away" }
    }

    fn scan(&self) -> Way {
        Way {
            index: None,
            ranges: vec![KeyRange::all()],
            direction: Direction::Forward,
            repeats: false,
            bounds: Vec::new(),
            key_tests: Vec::new(),
            document_tests: (0..self.query.conditions.len()).collect(),
            ordered: self.query.sort.is_empty(),
            covering: false,
            rows_max: None,
            lets: 1.0,
            rows: None,
            cost: None,
        }
    }

    /// Whether a condition means the same in an index as in the query.
    fn means_the_same(&self, condition: &Condition, spec: &IndexSpec) -> bool {
        spec.collation == self.query.collation || !condition.values.orders_strings()
    }

    /// What would be read of an index, or why it cannot be used.
    fn way(&self, number: usize, entry: &IndexEntry) -> std::result::Result<Way, String> {
        let spec = &entry.spec;
        let query = self.query;
        if entry.state != IndexState::Ready {
            return Err("it is being built".to_owned());
        }
        let mut met = vec![false; query.conditions.len()];
        for filter in &spec.filter {
            self.implies(filter, spec, &mut met)?;
        }
        for part in &spec.parts {
            let asked = query.conditions.iter().any(|condition| condition.path == part.path);
            if !asked && !query.sort.iter().any(|(path, _)| *path == part.path) {
                return Err(format!("documents without {} are not in it, and the query may want them", part.path));
            }
        }
        let bounded = self.bound(spec, &mut met);
        let multiple = spec.multiple();
        let repeats = multiple.is_some_and(|part| !bounded.one_value.get(part).copied().unwrap_or(false));
        let order = self.order_by(spec, &bounded.one_value);
        let part_of = |path: &Path| spec.parts.iter().position(|part| part.path == *path);
        let single_part = |path: &Path| part_of(path).is_some_and(|part| multiple != Some(part));
        let left = (0..met.len()).filter(|condition| !met[*condition]);
        let (key_tests, document_tests): (Vec<usize>, Vec<usize>) =
            left.partition(|condition| single_part(&query.conditions[*condition].path));
        let ordered = order.is_some() && self.resume != Resume::Sorted;
        if matches!(self.resume, Resume::Index(_)) && !ordered {
            return Err("it does not give the order".to_owned());
        }
        let sort_at_hand = ordered || query.sort.iter().all(|(path, _)| single_part(path));
        let wanted_at_hand = match self.want {
            Want::Documents => false,
            Want::Selected => query.select.iter().all(single_part),
            Want::Count => true,
        };
        let covering =
            wanted_at_hand && sort_at_hand && !repeats && document_tests.is_empty() && query.absent.is_empty();
        let whole = bounded.one_value.iter().filter(|one| **one).count() == spec.parts.len();
        Ok(Way {
            index: Some(number),
            rows_max: (spec.unique && whole).then_some(bounded.ranges.len()),
            ranges: bounded.ranges,
            direction: order.unwrap_or(Direction::Forward),
            repeats,
            bounds: bounded.conditions,
            key_tests,
            document_tests,
            ordered,
            covering,
            lets: bounded.lets,
            rows: None,
            cost: None,
        })
    }

    /// Every document that the query wants meets a condition of the index's filter, or why that is not known.
    fn implies(&self, filter: &Condition, spec: &IndexSpec, met: &mut [bool]) -> std::result::Result<(), String> {
        let mut implied = false;
        for (number, condition) in self.query.conditions.iter().enumerate() {
            if condition.path != filter.path {
                continue;
            }
            let ordered = filter.values.orders_strings() || condition.values.orders_strings();
            if ordered && spec.collation != self.query.collation {
                continue;
            }
            let collation = if ordered { spec.collation } else { Collation::Binary };
            let (wide, narrow) = (filter.values.keys(collation), condition.values.keys(collation));
            if wide.holds(&narrow) {
                implied = true;
                met[number] |= narrow.holds(&wide);
            }
        }
        if implied { Ok(()) } else { Err(format!("it has only documents where {filter}")) }
    }

    fn bound(&self, spec: &IndexSpec, met: &mut [bool]) -> Bounded {
        let mut bounded = Bounded { ranges: Vec::new(), conditions: Vec::new(), one_value: Vec::new(), lets: 1.0 };
        let mut prefixes = vec![Vec::new()];
        let mut last = vec![(Bound::Unbounded, Bound::Unbounded)];
        for part in &spec.parts {
            let usable = self
                .query
                .conditions
                .iter()
                .enumerate()
                .filter(|(_, condition)| condition.path == part.path && self.means_the_same(condition, spec));
            let keys = usable.map(|(number, condition)| (number, condition.values.keys(spec.collation)));
            // Of several conditions on the elements of an array one can bound, best one with one value.
            let best = keys.min_by_key(|(_, keys)| !keys.is_one_value());
            let Some((number, keys)) = best else { break };
            let mut bounds = keys.bounds();
            if part.direction == Direction::Backward {
                bounds = bounds.into_iter().rev().map(inverted).collect();
            }
            if prefixes.len().saturating_mul(bounds.len()) > RANGES_MAX {
                break;
            }
            met[number] |= keys.is_exact();
            bounded.conditions.push(number);
            bounded.one_value.push(keys.is_one_value());
            let points: Option<Vec<&Vec<u8>>> = bounds.iter().map(point).collect();
            let Some(points) = points else {
                let all = bounds.iter().any(|(start, end)| (start, end) == (&Bound::Unbounded, &Bound::Unbounded));
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

    /// The direction in which an index gives the order that is asked for, if it does.
    fn order_by(&self, spec: &IndexSpec, one_value: &[bool]) -> Option<Direction> {
        let mut direction = None;
        let mut next = 0;
        for (path, wanted) in &self.query.sort {
            let constant = |condition: &Condition| {
                condition.path == *path && condition.values.keys(Collation::Binary).is_one_value()
            };
            if self.query.conditions.iter().any(constant) {
                continue;
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
        // Where all is constant there are the ids left to be ordered.
        Some(direction.unwrap_or_else(|| self.query.sort.last().map_or(Direction::Forward, |(_, last)| *last)))
    }

    /// Estimates rows and costs.
    fn weigh(&self, ways: &mut [Way], sampler: &dyn Sampler) -> Result<()> {
        let query = self.query;
        let documents = sampler.documents()?.unwrap_or(10_000) as f64;
        let page = query.limit.map(|limit| limit.saturating_add(query.skip));
        // There is no need to know more exactly what is much more than is wanted.
        let most = page.map_or(super::limits::SAMPLED_ROWS_MAX, |page| {
            page.saturating_mul(4).clamp(20, super::limits::SAMPLED_ROWS_MAX)
        });
        for way in ways {
            let entry = way.index.and_then(|number| self.indexes.get(number));
            let rows = match (entry, way.rows_max) {
                (None, _) => documents,
                (_, Some(max)) => max as f64,
                (Some(entry), None) => match sampler.rows(entry.tree, &way.ranges, most)? {
                    Some(counted) if counted < most => counted as f64,
                    counted => (documents * way.lets).max(counted.unwrap_or(0) as f64),
                },
            };
            let lets = |tests: &[usize]| -> f64 {
                let one = |number: &usize| {
                    let values = &query.conditions[*number].values;
                    if values.test(query.collation).is_one_value() { 2.0 * ONE_VALUE_LETS } else { RANGE_LETS }
                };
                tests.iter().map(one).product()
            };
            let after_keys = rows * lets(&way.key_tests);
            let matching = after_keys * lets(&way.document_tests);
            // With an order at hand reading ends with the page.
            let part = match page {
                Some(page) if way.ordered => (page as f64 / matching.max(1.0)).min(1.0),
                _ => 1.0,
            };
            let tests = way.document_tests.len() as f64;
            let mut cost = match way.index {
                None => SCAN_BEGINS + rows * part * (1.0 + SCAN_TEST * tests),
                Some(_) => {
                    let got = if way.covering { 0.0 } else { DOCUMENT_GOT + SCAN_TEST * tests };
                    RANGE_BEGINS * way.ranges.len() as f64 + part * (rows * KEY_READ + after_keys * got)
                }
            };
            if let Some(entry) = entry
                && way.lets >= 1.0
                && entry.spec.filter.is_empty()
                && (query.sort.is_empty() || !way.ordered)
                && !way.covering
            {
                // It narrows nothing and orders nothing.
                cost += SCAN_BEGINS;
            }
            if !way.ordered {
                let answered = page.map_or(matching, |page| matching.min(page as f64));
                cost += matching * (0.2 + 0.05 * matching.max(1.0).log2());
                cost += if way.covering || self.want != Want::Documents { 0.0 } else { answered * DOCUMENT_GOT };
            }
            way.rows = Some(rows * part);
            way.cost = Some(cost);
        }
        Ok(())
    }

    /// What is done where there is no collection.
    pub(super) fn scan_of_nothing(&self) -> Chosen {
        Chosen { way: Way { ordered: true, ..self.scan() }, others: Vec::new() }
    }

    /// The plan, for people and programs.
    pub(super) fn describe(&self, chosen: &Chosen) -> Plan {
        let way = &chosen.way;
        let spec = way.index.and_then(|number| self.indexes.get(number)).map(|entry| &entry.spec);
        let conditions = |numbers: &[usize]| -> Vec<Condition> {
            numbers.iter().filter_map(|number| self.query.conditions.get(*number)).cloned().collect()
        };
        Plan {
            index: spec.map(|spec| spec.name.clone()),
            on: spec.map(ToString::to_string),
            direction: way.direction,
            bounds: conditions(&way.bounds),
            ranges: if spec.is_some() { way.ranges.len() } else { 0 },
            key_filter: conditions(&way.key_tests),
            filter: conditions(&way.document_tests),
            absent: self.query.absent.clone(),
            sort: match (self.query.sort.is_empty(), way.ordered) {
                (true, _) => PlanSort::Unsorted,
                (false, true) => PlanSort::ByIndex,
                (false, false) => PlanSort::InMemory,
            },
            covering: way.covering,
            rows: way.rows,
            cost: way.cost,
            alternatives: chosen.others.clone(),
        }
    }
}

impl Way {
    fn order_of_choice(&self) -> f64 {
        // What was not weighed is obvious: an index before the scan.
        self.cost.unwrap_or(if self.index.is_some() { 0.0 } else { 1.0 })
    }
}

/// Whether there is nothing to weigh: one way, or beside the scan one index that is entered by a value.
fn is_obvious(ways: &[Way]) -> bool {
    match ways {
        [_] => true,
        [index, _scan] => index.rows_max.is_some() || (index.ordered && index.lets <= ONE_VALUE_LETS),
        _ => false,
    }
}

fn rejected(entry: Option<&IndexEntry>, why: String) -> Alternative {
    Alternative { index: entry.map(|entry| entry.spec.name.clone()), rows: None, cost: None, rejected: Some(why) }
}

struct Bounded {
    ranges: Vec<KeyRange>,
    conditions: Vec<usize>,
    /// For each part that is bounded, whether by one value.
    one_value: Vec<bool>,
    lets: f64,
}

fn point(bounds: &Bounds) -> Option<&Vec<u8>> {
    match bounds {
        (Bound::Included(a), Bound::Included(b)) if a == b => Some(a),
        _ => None,
    }
}

/// The bounds of the same values with all bits turned, as descending parts have them.
fn inverted((start, end): Bounds) -> Bounds {
    let turn = |key: Vec<u8>| key.into_iter().map(|byte| !byte).collect::<Vec<u8>>();
    (end.map(turn), start.map(turn))
}

/// The keys of an index that begin with `prefix` and go on with a value within the bounds.
fn keys_within(prefix: &[u8], (start, end): &Bounds) -> KeyRange {
    let full = |key: &Vec<u8>| [prefix, key].concat();
    let start = match start {
        Bound::Unbounded => Bound::Included(prefix.to_vec()),
        Bound::Included(key) => Bound::Included(full(key)),
        // What begins with the key lies before what comes after it.
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
