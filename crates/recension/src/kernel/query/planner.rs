//! Choosing how a query is carried out: every way is made and weighed once, and the cheapest is taken. `way` says what
//! an index would read, `id_set` combines the ids of several, `cost` weighs.

use std::cell::OnceCell;

use crate::engine::TreeId;
use crate::kernel::query::lookup::Lookup;
use crate::kernel::query::sampler::Sampler;
use crate::kernel::query::way::{ONE_VALUE_LETS, Way};
use crate::kernel::rows::catalogue::IndexEntry;
use recension_values::collation::Collation;
use recension_values::condition::{Condition, KeySet};
use recension_values::error::{Error, Result};
use recension_values::index_spec::IndexSpec;
use recension_values::own::Own;
use recension_values::plan::{Alternative, Plan, PlanSort};
use recension_values::query::{Query, Through};
use recension_values::selector::{ElementAsked, Selector};

/// What plans call the index of access.
const ACCESS_NAME: &str = "_access";

/// What is wanted of the documents that are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Want {
    Documents,
    Selected,
    Count,
}

/// A choice, with the ways that were not chosen.
pub(crate) struct Chosen {
    pub(crate) way: Way,
    pub(crate) others: Vec<Other>,
}

/// A way that was not chosen. Its texts are made for a plan alone.
pub(crate) struct Other {
    index: Option<usize>,
    rows: Option<f64>,
    cost: Option<f64>,
    rejected: Option<Unusable>,
}

impl Other {
    fn described(&self, indexes: &[IndexEntry]) -> Alternative {
        let entry = self.index.and_then(|number| indexes.get(number));
        Alternative {
            index: entry.map(|entry| entry.spec.name.clone()),
            rows: self.rows,
            cost: self.cost,
            rejected: self.rejected.map(|why| why.text(entry)),
        }
    }
}

/// Why a way cannot be used.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unusable {
    Because(&'static str),
    /// Documents without the part of this number are not in the index.
    Without(usize),
    /// The index has only documents that meet its condition of this number.
    Only(usize),
}

impl Unusable {
    fn text(self, entry: Option<&IndexEntry>) -> String {
        match (self, entry.map(|entry| &entry.spec)) {
            (Unusable::Without(part), Some(IndexSpec { parts, .. })) if part < parts.len() => {
                format!("documents without {} are not in it, and the query may want them", parts[part].path)
            }
            (Unusable::Only(filter), Some(spec)) if filter < spec.filter.len() => {
                format!("it has only documents where {}", spec.filter[filter])
            }
            (Unusable::Because(why), _) => why.to_owned(),
            (Unusable::Without(_) | Unusable::Only(_), _) => "it does not have all documents".to_owned(),
        }
    }
}

/// Where a query with a cursor continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resume {
    Nowhere,
    Ids,
    Index(TreeId),
    Sorted,
}

pub(crate) struct Planner<'p> {
    pub(crate) query: &'p Query,
    pub(crate) indexes: &'p [IndexEntry],
    pub(crate) want: Want,
    pub(crate) resume: Resume,
    /// Every way is weighed, even if the choice is obvious.
    pub(crate) explain: bool,
    pub(super) keys: ConditionKeys<'p>,
    elements: OnceCell<Vec<OfElement>>,
}

/// Conditions that one element of an array meets, by their numbers.
pub(super) struct OfElement {
    pub(super) conditions: Vec<usize>,
    /// Together with all other conditions they are the selector.
    pub(super) exact: bool,
}

/// The keys of a query's conditions, each made once.
pub(super) struct ConditionKeys<'p> {
    conditions: &'p [Condition],
    made: Vec<[OnceCell<KeySet>; 2]>,
}

impl ConditionKeys<'_> {
    pub(super) fn of(&self, number: usize, collation: Collation) -> &KeySet {
        self.made[number][usize::from(collation.is_unicode())]
            .get_or_init(|| self.conditions[number].values.keys(collation))
    }

    pub(super) fn is_one_value(&self, number: usize) -> bool {
        // A list of many values need not be encoded for this.
        self.conditions[number].values.len() == 1 && self.of(number, Collation::Binary).is_one_value()
    }
}

impl<'p> Planner<'p> {
    pub(crate) fn new(query: &'p Query, indexes: &'p [IndexEntry], want: Want, resume: Resume) -> Self {
        let conditions = query.conditions.as_slice();
        let keys = ConditionKeys { conditions, made: conditions.iter().map(|_| Default::default()).collect() };
        Planner { query, indexes, want, resume, explain: false, keys, elements: OnceCell::new() }
    }

    /// The elements of arrays that the selector asks for.
    pub(super) fn elements(&self) -> &[OfElement] {
        self.elements.get_or_init(|| {
            let asked = self.query.selector.as_ref().map(|selector| selector.elements()).unwrap_or_default();
            let of_element = |asked: ElementAsked| {
                let number = |condition| self.query.conditions.iter().position(|known| *known == condition);
                let numbers: Vec<Option<usize>> = asked.conditions.into_iter().map(number).collect();
                let exact = asked.exact && numbers.iter().all(Option::is_some);
                OfElement { conditions: numbers.into_iter().flatten().collect(), exact }
            };
            asked.into_iter().map(of_element).collect()
        })
    }

    pub(crate) fn explaining(self) -> Self {
        Planner { explain: true, ..self }
    }

    pub(crate) fn choose(&self, sampler: &dyn Sampler) -> Result<Chosen> {
        let (mut ways, others) = self.ways();
        if ways.is_empty() {
            return Err(self.no_way(&others));
        }
        let alternatives = self.alternatives();
        let among = self.query.among.as_ref().filter(|_| self.may_put_ids_together());
        if self.explain || alternatives.is_some() || among.is_some() || !self.is_obvious(&ways) {
            for way in &mut ways {
                self.weigh(way, sampler)?;
            }
            if self.may_put_ids_together() {
                ways.extend(self.intersection(&ways, sampler)?);
                if let Some(alternatives) = alternatives {
                    ways.extend(self.union(alternatives, sampler)?);
                }
            }
            if let Some(marks) = among {
                ways.extend(self.by_access(marks, sampler)?);
            }
        }
        let lookup = if self.want == Want::Documents { Lookup::of(self.indexes, self.query) } else { None };
        Ok(self.chosen(ways, others, lookup.map(|lookup| lookup.index)))
    }

    /// What [`Planner::choose`] chooses if a query is a look-up in an index.
    pub(crate) fn choose_lookup(&self, index: usize) -> Chosen {
        let (ways, others) = self.ways();
        if ways.is_empty() { self.scan_of_nothing() } else { self.chosen(ways, others, Some(index)) }
    }

    /// The usable ways, and why others are not usable.
    pub(super) fn ways(&self) -> (Vec<Way>, Vec<Other>) {
        let mut ways = Vec::new();
        let mut others = Vec::new();
        for (number, entry) in self.indexes.iter().enumerate() {
            match self.admitted(entry).and_then(|()| self.way(number, entry)) {
                Ok(way) => ways.push(way),
                Err(why) => others.push(rejected(Some(number), why)),
            }
        }
        match self.scan_admitted() {
            Ok(()) => ways.push(self.scan()),
            Err(why) => others.push(rejected(None, why)),
        }
        (ways, others)
    }

    /// The best way: a look-up in the index of this number, if there is one, else the cheapest.
    fn chosen(&self, mut ways: Vec<Way>, mut others: Vec<Other>, lookup: Option<usize>) -> Chosen {
        let lookup = lookup.and_then(|index| ways.iter().position(|way| way.index == Some(index)));
        // Of equal ways an index comes before the scan, and one on few paths before one on many.
        let order = |at: usize| ways[at].order_of_choice();
        let paths = |at: usize| ways[at].index.map_or(usize::MAX, |number| self.indexes[number].spec.parts.len());
        let nearer = |a: &usize, b: &usize| order(*a).total_cmp(&order(*b)).then(paths(*a).cmp(&paths(*b)));
        let best = lookup.or_else(|| (0..ways.len()).min_by(nearer));
        let way = ways.remove(best.unwrap_or(0));
        ways.sort_by(|a, b| a.order_of_choice().total_cmp(&b.order_of_choice()));
        let weighed = ways.iter().filter(|way| way.ids.is_none());
        let weighed = weighed.map(|way| Other { index: way.index, rows: way.rows, cost: way.cost, rejected: None });
        others.splice(0..0, weighed.collect::<Vec<_>>());
        Chosen { way, others }
    }

    fn admitted(&self, entry: &IndexEntry) -> std::result::Result<(), Unusable> {
        let why = match (&self.query.through, self.resume) {
            (Through::Index(name), _) if *name != entry.spec.name => "another index was asked for",
            (Through::Except(names), _) if names.contains(&entry.spec.name) => "it was not to be used",
            (Through::NoIndex, _) => "no index was to be used",
            (_, Resume::Ids) if entry.spec.words.is_none() => "the cursor goes on by ids",
            (_, Resume::Index(tree)) if tree != entry.tree => "the cursor goes on in another index",
            _ => return Ok(()),
        };
        Err(Unusable::Because(why))
    }

    fn scan_admitted(&self) -> std::result::Result<(), Unusable> {
        let why = match (&self.query.through, self.resume) {
            _ if self.query.relevance => "relevance is reckoned by an index of words",
            (Through::Index(_), _) => "an index was asked for",
            (_, Resume::Index(_)) => "the cursor goes on in an index",
            _ => return Ok(()),
        };
        Err(Unusable::Because(why))
    }

    /// Whether several indexes may be combined. Their documents come in the order of ids, which a cursor must fit.
    fn may_put_ids_together(&self) -> bool {
        let through = matches!(self.query.through, Through::Cheapest | Through::Except(_));
        through && !self.query.relevance && !matches!(self.resume, Resume::Index(_))
    }

    fn no_way(&self, others: &[Other]) -> Error {
        if matches!(self.resume, Resume::Index(_)) {
            return Error::BadCursor { why: "the index that it stands in is not there, or not to be used" };
        }
        if let Through::Index(name) = &self.query.through {
            let mut others = others.iter().map(|other| other.described(self.indexes));
            let why = others.find(|other| other.index.as_ref() == Some(name)).and_then(|other| other.rejected);
            return Error::IndexNotUsable {
                index: name.clone(),
                why: why.unwrap_or_else(|| "there is no such index".to_owned()),
            };
        }
        if self.query.relevance {
            return Error::BadQuery {
                why: "an order by relevance needs an index of words, on just the paths that the words are asked for at \
                      and in the same language; make one with create_text_index",
            };
        }
        Error::BadQuery { why: "there is no way to carry it out; leave the cursor or the index away" }
    }

    /// Whether there is nothing to weigh: there is one way, or besides the scan one index that is entered by a value.
    /// If other
    /// elements of an array are asked for too, the index may be entered by these as well.
    fn is_obvious(&self, ways: &[Way]) -> bool {
        let of_elements = |number: &usize| self.query.conditions[*number].path.is_multiple();
        match ways {
            [_] => true,
            [index, scan] if scan.bounds.is_empty() => {
                index.words.is_some()
                    || index.rows_max.is_some()
                    || (index.ordered && index.lets <= ONE_VALUE_LETS && !index.document_tests.iter().any(of_elements))
            }
            _ => false,
        }
    }

    /// The way of a query to a collection that does not exist.
    pub(crate) fn scan_of_nothing(&self) -> Chosen {
        Chosen { way: Way { ordered: true, ..self.scan() }, others: Vec::new() }
    }

    /// The plan, for people and programs.
    pub(crate) fn describe(&self, chosen: &Chosen) -> Plan {
        let way = &chosen.way;
        let spec = way.index.and_then(|number| self.indexes.get(number)).map(|entry| &entry.spec);
        let conditions = |numbers: &[usize]| -> Vec<Condition> {
            numbers.iter().filter_map(|number| self.query.conditions.get(*number)).cloned().collect()
        };
        let (union, intersection) = way.ids.as_ref().map(|ids| ids.describe(self.indexes)).unwrap_or_default();
        let by_access = way.ids.as_ref().is_some_and(|ids| ids.is_by_access());
        let first = |of: fn(&Plan) -> Option<String>| intersection.first().and_then(of);
        Plan {
            index: spec
                .map(|spec| spec.name.clone())
                .or_else(|| first(|plan| plan.index.clone()))
                .or_else(|| by_access.then(|| ACCESS_NAME.to_owned())),
            on: spec
                .map(ToString::to_string)
                .or_else(|| first(|plan| plan.on.clone()))
                .or_else(|| by_access.then(|| "the values of the access rule".to_owned())),
            direction: way.direction,
            bounds: conditions(&way.bounds),
            ranges: if spec.is_some() || !way.bounds.is_empty() { way.reads } else { 0 },
            key_filter: conditions(&way.key_tests),
            filter: conditions(&way.document_tests),
            absent: self.query.absent.clone(),
            selector: way.tested(self.query).map(Selector::to_json),
            words: way.words.as_ref().map(|words| words.query.text().to_owned()),
            sort: match (self.query.sort.is_empty(), way.ordered) {
                _ if self.query.relevance => PlanSort::ByRelevance,
                (true, _) => PlanSort::Unsorted,
                (false, true) => PlanSort::ByIndex,
                (false, false) => PlanSort::InMemory,
            },
            covering: way.covering,
            rows: way.rows,
            cost: way.cost,
            suggestion: (spec.is_none() && way.bounds.is_empty() && way.ids.is_none())
                .then(|| self.suggestion())
                .flatten(),
            union,
            intersection,
            alternatives: chosen.others.iter().map(|other| other.described(self.indexes)).collect(),
        }
    }

    /// The paths of an index that would serve the query: those with one value, then those of the order, then a range.
    fn suggestion(&self) -> Option<String> {
        let is_own = |condition: &Condition| Own::of(&condition.path).is_some();
        let asked = self.query.conditions.iter().enumerate().filter(|(_, condition)| !is_own(condition));
        let (equal, ranged): (Vec<_>, Vec<_>) = asked.partition(|(number, _)| self.keys.is_one_value(*number));
        let sorted = self.query.sort.iter().map(|(path, _)| path).filter(|path| Own::of(path).is_none());
        let ranged = ranged.iter().filter(|(number, _)| !self.keys.of(*number, Collation::Binary).is_all());
        let mut paths: Vec<String> = Vec::new();
        let mut arrays = 0;
        let order = equal.iter().map(|(_, condition)| &condition.path).chain(sorted);
        for path in order.chain(ranged.map(|(_, condition)| &condition.path).take(1)) {
            arrays += usize::from(path.is_multiple());
            let text = path.to_string();
            if !paths.contains(&text) && paths.len() < 3 && !(path.is_multiple() && arrays > 1) {
                paths.push(text);
            }
        }
        (!paths.is_empty()).then(|| paths.join(", "))
    }
}

impl Way {
    fn order_of_choice(&self) -> f64 {
        // If the ways were not weighed, the choice is obvious: an index before the scan.
        self.cost.unwrap_or(if self.index.is_some() { 0.0 } else { 1.0 })
    }
}

fn rejected(index: Option<usize>, why: Unusable) -> Other {
    Other { index, rows: None, cost: None, rejected: Some(why) }
}
