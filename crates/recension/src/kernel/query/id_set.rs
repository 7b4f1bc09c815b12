//! The ids of documents that several indexes find: the union (alternatives) or the intersection. Only keys are read.
//! Documents are then read in the order of their ids, and tested for what the indexes do not decide.

// Estimates need no more digits than doubles have.
#![allow(clippy::cast_precision_loss)]

use std::ops::Bound;
use std::sync::Arc;

use crate::engine::Direction;
use crate::kernel::query::cost::{KEY_READ, RANGE_BEGINS};
use crate::kernel::query::planner::{Chosen, Planner, Resume, Want};
use crate::kernel::query::row_reader::Examined;
use crate::kernel::query::sampler::Sampler;
use crate::kernel::query::stream::Stream;
use crate::kernel::query::way::{SelectorOfWay, Way};
use crate::kernel::query::words::{self, ByWords};
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::catalogue::{CollectionEntry, IndexEntry};
use recension_values::access::AccessMarks;
use recension_values::error::Result;
use recension_values::limits::{ID_SET_BYTES_MAX, ID_SET_ROWS_MAX};
use recension_values::plan::Plan;
use recension_values::query::Query;
use recension_values::selector::Selector;

/// If the narrowest index has fewer rows, no other is read besides.
const INTERSECTED_ROWS_MIN: f64 = 20.0;

/// Some ways, and how their ids are combined.
#[derive(Clone, Debug)]
pub(crate) struct IdSet {
    together: Together,
    parts: Vec<Part>,
    /// The ids are those that the index of access has for these; there are no parts.
    access: Option<AccessMarks>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Together {
    Any,
    All,
}

/// One of the ways, and its query.
#[derive(Clone, Debug)]
struct Part {
    query: Query,
    way: Way,
}

impl Part {
    fn new(query: &Query, way: Way, rows: f64) -> Self {
        let mut query = query.clone();
        query.sort.clear();
        query.select.clear();
        query.absent.clear();
        (query.selector, query.limit, query.after, query.skip) = (None, None, None, 0);
        let cost = RANGE_BEGINS * way.reads as f64 + KEY_READ * rows;
        // Only the keys of an index are read. Conditions that keys cannot decide are tested on the documents.
        let covering = way.index.is_some();
        let document_tests = if covering { Vec::new() } else { way.document_tests };
        let (rows, cost) = (Some(rows), Some(cost));
        let way = Way {
            covering,
            document_tests,
            ordered: true,
            repeats: false,
            direction: Direction::Forward,
            rows,
            cost,
            ..way
        };
        Part { query, way }
    }

    fn cost(&self) -> f64 {
        self.way.cost.unwrap_or(0.0)
    }
}

impl Planner<'_> {
    /// The alternatives of the query, if it has any.
    pub(super) fn alternatives(&self) -> Option<Vec<Selector>> {
        self.query.selector.as_ref().and_then(|selector| selector.alternatives())
    }

    /// The union of the alternatives' ids, if there is an index for each.
    pub(super) fn union(&self, alternatives: Vec<Selector>, sampler: &dyn Sampler) -> Result<Option<Way>> {
        let mut parts = Vec::new();
        let mut total = 0.0;
        // Whether the ids are of just the documents that the query asks for.
        let mut exact = self.query.selector.as_ref().is_some_and(|selector| selector.is_alternatives_alone());
        for alternative in alternatives {
            let narrowed = alternative.narrowed();
            let has_words = !alternative.words().is_empty();
            if narrowed.conditions.is_empty() && !has_words {
                return Ok(None);
            }
            exact &= narrowed.exact && narrowed.absent.is_empty();
            let mut branch = self.query.clone();
            branch.sort.clear();
            for condition in narrowed.conditions {
                branch = branch.matching(condition.path, condition.values);
            }
            if has_words {
                branch.selector = Some(Arc::new(alternative));
            }
            if branch.check().is_err() {
                return Ok(None);
            }
            let planner = Planner::new(&branch, self.indexes, Want::Count, Resume::Sorted);
            let mut best: Option<(f64, Way)> = None;
            for mut way in planner.ways().0 {
                let bounded = !way.bounds.is_empty() && (way.lets < 1.0 || way.rows_max.is_some());
                let rows = match &way.words {
                    Some(_) => {
                        planner.weigh_words(&mut way, sampler)?;
                        way.rows.unwrap_or(f64::MAX)
                    }
                    None if bounded => planner.rows(&way, sampler)?,
                    None => continue,
                };
                if best.as_ref().is_none_or(|(least, _)| rows < *least) {
                    best = Some((rows, way));
                }
            }
            let Some((rows, way)) = best else { return Ok(None) };
            total += rows;
            if total > f64::from(ID_SET_ROWS_MAX) {
                return Ok(None);
            }
            exact &= way.words.is_none() && way.key_tests.is_empty() && way.document_tests.is_empty();
            parts.push(Part::new(&branch, way, rows));
        }
        let way = self.by_ids(IdSet { together: Together::Any, parts, access: None }, total, total);
        Ok(Some(if exact { Way { document_tests: Vec::new(), selector: SelectorOfWay::Met, ..way } } else { way }))
    }

    /// The intersection of two indexes' ids, if that may pay.
    pub(super) fn intersection(&self, ways: &[Way], sampler: &dyn Sampler) -> Result<Option<Way>> {
        let bounded = |way: &&Way| way.index.is_some() && !way.bounds.is_empty() && way.lets < 1.0;
        let mut candidates: Vec<Way> = ways.iter().filter(bounded).cloned().collect();
        // Several elements of an array may be asked for: the same index serves each of them.
        for number in 0..candidates.len() {
            let first = &candidates[number];
            let entry = first.index.and_then(|index| Some((index, self.indexes.get(index)?)));
            if let Some((index, entry)) =
                entry.filter(|(_, entry)| entry.spec.parts.iter().any(|part| part.path.is_multiple()))
                && let Ok(other) = self.way_but(index, entry, &first.bounds)
                && bounded(&&other)
            {
                candidates.push(other);
            }
        }
        let mut narrow = Vec::new();
        for way in &candidates {
            narrow.push((self.rows(way, sampler)?, way));
        }
        narrow.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some(((least, first), rest)) = narrow.split_first().map(|((rows, way), rest)| ((*rows, *way), rest)) else {
            return Ok(None);
        };
        let new = |way: &Way| way.bounds.iter().any(|bound| !first.bounds.contains(bound));
        let Some((rows, second)) = rest.iter().find(|(_, way)| new(way)) else { return Ok(None) };
        if least < INTERSECTED_ROWS_MIN || *rows > f64::from(ID_SET_ROWS_MAX) {
            return Ok(None);
        }
        let found = least * rows / Self::documents(sampler)?.max(1.0);
        let left = |way: &Way, number| way.key_tests.contains(&number) || way.document_tests.contains(&number);
        let tests = (0..self.query.conditions.len()).filter(|number| left(first, *number) && left(second, *number));
        let document_tests = tests.collect();
        let parts = vec![Part::new(self.query, first.clone(), least), Part::new(self.query, (*second).clone(), *rows)];
        let way = self.by_ids(IdSet { together: Together::All, parts, access: None }, least + *rows, found);
        Ok(Some(Way { document_tests, ..way }))
    }

    /// The way by the ids that the index of access has, if they are not too many.
    pub(super) fn by_access(&self, marks: &AccessMarks, sampler: &dyn Sampler) -> Result<Option<Way>> {
        let most = ID_SET_ROWS_MAX as usize;
        let counted = sampler.marked(marks, most)?.filter(|rows| *rows < most);
        let set = |access| IdSet { together: Together::Any, parts: Vec::new(), access };
        Ok(counted.map(|rows| self.by_ids(set(Some(marks.clone())), rows as f64, rows as f64)))
    }

    /// `rows`: what is read of indexes.
    fn by_ids(&self, set: IdSet, rows: f64, found: f64) -> Way {
        let order = self.id_order();
        let read = match &set.access {
            Some(_) => KEY_READ * rows,
            None => set.parts.iter().map(Part::cost).sum::<f64>(),
        };
        let reads = read + rows * 0.02 * rows.max(1.0).log2();
        let mut way = Way {
            index: None,
            ranges: Vec::new(),
            points: None,
            direction: order.unwrap_or(Direction::Forward),
            ids: Some(Arc::new(set)),
            bounds: Vec::new(),
            document_tests: (0..self.query.conditions.len()).collect(),
            ordered: order.is_some() && self.resume != Resume::Sorted,
            ..self.scan()
        };
        self.weigh_ids(&mut way, rows, reads, found);
        way
    }
}

impl IdSet {
    /// The ids in order; `None` if there are too many to hold.
    pub(crate) fn gather(
        &self,
        at: &CollectionAt,
        entry: &CollectionEntry,
        examined: &mut Examined,
    ) -> Result<Option<Vec<String>>> {
        if let Some(marks) = &self.access {
            let Some(access) = at.access()?.filter(|access| access.serves(marks)) else { return Ok(None) };
            let (mut ids, mut bytes) = (Vec::new(), 0);
            for id in access.ids(marks, Bound::Unbounded, Bound::Unbounded, Direction::Forward)? {
                let id = id?;
                bytes += id.len() + size_of::<String>();
                if bytes > ID_SET_BYTES_MAX {
                    return Ok(None);
                }
                ids.push(id);
            }
            examined.keys += ids.len() as u64;
            return Ok(Some(ids));
        }
        let mut all: Option<Vec<String>> = None;
        for Part { query, way } in &self.parts {
            let mut ids = match (&mut all, self.together) {
                (Some(all), Together::Any) => std::mem::take(all),
                _ => Vec::new(),
            };
            let mut bytes = ids.iter().map(|id| id.len() + size_of::<String>()).sum::<usize>();
            let index = way.index.and_then(|number| entry.indexes.get(number));
            let mut by_words = None;
            if let (Some(asked), Some(index)) = (&way.words, index) {
                let found = words::gather(at, index, asked, None, None, examined)?;
                let Some(ByWords::Ids(found)) = found else { return Ok(None) };
                by_words = Some(found.into_iter());
            }
            let mut stream = Stream::of(at, entry, query, Want::Count, &mut way.clone());
            let mut next = || match &mut by_words {
                Some(found) => found.next().map(Ok),
                None => stream.next_hit().map(|hit| hit.map(|hit| hit.named.into_id())),
            };
            while let Some(id) = next() {
                let id = id?;
                bytes += id.len() + size_of::<String>();
                if bytes > ID_SET_BYTES_MAX {
                    return Ok(None);
                }
                ids.push(id);
            }
            examined.add(stream.examined());
            ids.sort_unstable();
            ids.dedup();
            all = Some(match (all.take(), self.together) {
                (Some(known), Together::All) => in_both(known, &ids),
                _ => ids,
            });
        }
        Ok(Some(all.unwrap_or_default()))
    }

    /// Whether the index of access is read.
    pub(crate) fn is_by_access(&self) -> bool {
        self.access.is_some()
    }

    /// The plans of what any of has to be read, and of what all of has.
    pub(crate) fn describe(&self, indexes: &[IndexEntry]) -> (Vec<Plan>, Vec<Plan>) {
        let plan = |Part { query, way }: &Part| {
            let planner = Planner::new(query, indexes, Want::Count, Resume::Nowhere);
            planner.describe(&Chosen { way: way.clone(), others: Vec::new() })
        };
        let plans = self.parts.iter().map(plan).collect();
        match self.together {
            Together::Any => (plans, Vec::new()),
            Together::All => (Vec::new(), plans),
        }
    }
}

/// The ids that are in both of two sorted lists.
fn in_both(mut known: Vec<String>, others: &[String]) -> Vec<String> {
    let mut others = others.iter().peekable();
    known.retain(|id| {
        while others.next_if(|other| *other < id).is_some() {}
        others.peek() == Some(&id)
    });
    known
}
