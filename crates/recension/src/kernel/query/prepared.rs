//! A query prepared for testing documents: each path once, the values at the paths, the keys that meet each condition.

use std::sync::{Arc, OnceLock};

use crate::engine::Direction;
use recension_values::collation::Collation;
use recension_values::condition::{Condition, KeySet};
use recension_values::json::{Path, PathSet, quote};
use recension_values::model::Document;
use recension_values::own::{Own, collation_at};
use recension_values::query::Query;
use recension_values::revid::RevId;
use recension_values::selector::SelectorTest;

/// A query prepared for testing documents.
pub(crate) struct PreparedQuery {
    /// Every path that the query names.
    pub(crate) paths: PathSet,
    /// The numbers of the paths that are not in the body, with their meanings.
    own: Vec<(usize, Own)>,
    conditions: Arc<Vec<Condition>>,
    /// For each condition its path, the collation of its strings, and the keys that meet it, which are made when they
    /// are first tested.
    tests: Vec<(usize, Collation, OnceLock<KeySet>)>,
    /// For each condition, whether the selector tests it as well.
    implied: Vec<bool>,
    /// The paths that must have no value, but for those that the selector tests.
    pub(crate) absent: Vec<usize>,
    pub(crate) selector: Option<SelectorTest>,
    /// The paths of the order, the collation of their strings, and the direction.
    pub(crate) sort: Vec<(usize, Collation, Direction)>,
    pub(crate) select: Vec<usize>,
}

impl PreparedQuery {
    /// `selector`: it is tested; else what is found is known to be selected.
    pub(crate) fn of(query: &Query, selector: bool) -> Self {
        let asked = query.selector.as_ref().filter(|_| selector);
        let (mut paths, mut own) = (PathSet::default(), Vec::new());
        let mut number = |path: &Path| {
            let Some(meant) = Own::of(path) else { return paths.add(path) };
            let number = paths.add_unlooked(path);
            if !own.contains(&(number, meant)) {
                own.push((number, meant));
            }
            number
        };
        let collation = |path: &Path| collation_at(path, query.collation);
        let tests = query.conditions.iter().map(|condition| {
            let path = &condition.path;
            (number(path), collation(path), OnceLock::new())
        });
        let tests = tests.collect();
        let narrowed = asked.map(|selector| selector.narrowed()).unwrap_or_default();
        let implied = query.conditions.iter().map(|condition| narrowed.conditions.contains(condition)).collect();
        let absent = query.absent.iter().filter(|path| !narrowed.absent.contains(path)).map(&mut number).collect();
        let sort = query.sort.iter().map(|(path, direction)| (number(path), collation(path), *direction)).collect();
        let select = query.select.iter().map(&mut number).collect();
        let selector = asked.map(|selector| selector.test(query.collation));
        PreparedQuery {
            paths,
            own,
            conditions: query.conditions.clone(),
            tests,
            implied,
            absent,
            selector,
            sort,
            select,
        }
    }

    /// Whether there are no conditions.
    pub(crate) fn has_no_conditions(&self) -> bool {
        self.tests.is_empty()
    }

    /// The path of the condition of this number.
    pub(crate) fn path_of(&self, number: usize) -> Option<usize> {
        self.tests.get(number).map(|(path, ..)| *path)
    }

    /// Whether a value meets the condition of this number; `values` gives those at a path.
    pub(crate) fn meets<'v, I: Iterator<Item = &'v str>>(
        &self,
        number: usize,
        values: impl Fn(usize) -> I,
        scratch: &mut Vec<u8>,
    ) -> bool {
        let Some((path, collation, keys)) = self.tests.get(number) else { return true };
        let Some(condition) = self.conditions.get(number) else { return true };
        let keys = keys.get_or_init(|| condition.values.test(*collation));
        values(*path).any(|value| keys.contains_text(value, scratch))
    }

    /// The same by the key in a collation of the one value at its path; `key` gives it, or `None` if there is no value.
    /// `None` if only the value's text tells.
    pub(crate) fn meets_by_key<'k>(
        &self,
        number: usize,
        key: impl FnOnce(usize) -> Option<Option<&'k [u8]>>,
        of: Collation,
        scratch: &mut Vec<u8>,
    ) -> Option<bool> {
        let (path, collation, keys) = self.tests.get(number)?;
        let condition = self.conditions.get(number)?;
        let Some(key) = key(*path)? else { return Some(false) };
        keys.get_or_init(|| condition.values.test(*collation)).contains_key(key, of, scratch)
    }

    /// Whether the selector tests the condition of this number as well.
    pub(crate) fn is_implied(&self, number: usize) -> bool {
        self.implied.get(number).copied().unwrap_or(false)
    }

    /// The texts of a document's id and revision, if the query asks for any; for [`PreparedQuery::values`].
    pub(crate) fn own_texts(&self, id: &str, rev: &RevId) -> Vec<(usize, String)> {
        self.own.iter().map(|(number, own)| (*number, own.text(id, rev))).collect()
    }

    /// The same for a row of an index, which has the id and not the revision.
    pub(crate) fn id_text(&self, id: &str) -> Option<(usize, String)> {
        let (number, _) = self.own.iter().find(|(_, own)| *own == Own::Id)?;
        Some((*number, quote(id)))
    }

    /// The texts of the values at the paths in a document, by the paths' numbers.
    pub(crate) fn values<'t>(&self, body: &'t str, own: &'t [(usize, String)]) -> Vec<Vec<&'t str>> {
        let mut values = self.paths.values(body);
        for (number, text) in own {
            if let Some(at) = values.get_mut(*number) {
                *at = vec![text];
            }
        }
        values
    }

    /// Whether a document meets all conditions.
    pub(crate) fn is_met_by(&self, document: &Document<'_>) -> bool {
        let own = self.own_texts(&document.id, &document.rev);
        let values = self.values(&document.body, &own);
        let at = |number: usize| values.get(number).map(Vec::as_slice).unwrap_or_default();
        let mut scratch = Vec::new();
        let mut needed = (0..self.tests.len()).filter(|number| !self.is_implied(*number));
        needed.all(|number| self.meets(number, |path| at(path).iter().copied(), &mut scratch))
            && self.absent.iter().all(|path| at(*path).is_empty())
            && self.selector.as_ref().is_none_or(|selector| selector.selects(document))
    }
}
