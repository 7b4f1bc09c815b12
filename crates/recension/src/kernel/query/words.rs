//! Finding documents by words: which index of words serves a query, its cost, and reading it. The rows of all words are
//! walked at once, in the order of the ids. A gap in one word's rows is skipped in the others'.

// Estimates need no more digits than doubles have.
#![allow(clippy::cast_precision_loss)]

use std::ops::Bound;

use crate::engine::{Direction, KeyRange, Snapshot, counters};
use crate::kernel::query::best::{Best, BestWanted, Relevant};
use crate::kernel::query::cost::{DOCUMENT_GOT, KEY_READ, RANGE_BEGINS};
use crate::kernel::query::planner::{Planner, Resume, Unusable};
use crate::kernel::query::row_reader::Examined;
use crate::kernel::query::sampler::Sampler;
use crate::kernel::query::way::{ONE_VALUE_LETS, Way};
use crate::kernel::query::word_terms::{Reading, Term, damaged};
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::catalogue::IndexEntry;
use crate::kernel::rows::index_keys::after_prefix;
use crate::kernel::rows::word_rows::{COUNTERS_KEY, word_key};
use recension_values::error::Result;
use recension_values::json::Path;
use recension_values::limits::{ID_SET_BYTES_MAX, SAMPLED_ROWS_MAX};
use recension_values::model::IndexState;
use recension_values::query::Query;
use recension_values::text::{Clause, Relevance, TextQuery};

/// The words that an index is asked for.
#[derive(Clone, Debug)]
pub(crate) struct WordsWay {
    pub(crate) query: TextQuery,
    /// The words need not be tested again on the documents that the index finds.
    pub(crate) exact: bool,
}

/// The documents that have words.
pub(crate) enum ByWords {
    /// In the order of their ids.
    Ids(Vec<String>),
    /// In that of their relevance, and whether there may be others behind them that had no room.
    Best(Vec<Relevant>, bool),
}

impl Planner<'_> {
    /// The look-up in an index of words, or the reason for which it cannot be used.
    pub(super) fn words_way(&self, number: usize, entry: &IndexEntry) -> std::result::Result<Way, Unusable> {
        let (query, spec) = (self.query, &entry.spec);
        if entry.state != IndexState::Ready {
            return Err(Unusable::Because("it is being built"));
        }
        if matches!(self.resume, Resume::Index(_)) {
            return Err(Unusable::Because("the cursor goes on in another index"));
        }
        let mut met = vec![false; query.conditions.len()];
        self.implies_filter(spec, &mut met)?;
        let has = |path: &Path| spec.parts.iter().any(|part| part.path == *path);
        let asked = query.selector.as_ref().map(|selector| selector.words()).unwrap_or_default();
        let mut asked: Vec<_> = asked.into_iter().filter(|asked| asked.paths.iter().all(has)).collect();
        let same = |paths: &[Path]| spec.parts.iter().all(|part| paths.contains(&part.path));
        asked.sort_by_key(|asked| !same(asked.paths));
        let Some(asked) = asked.into_iter().find(|asked| Some(asked.query.language()) == spec.words) else {
            return Err(Unusable::Because("it has words, and the query asks for none at its paths in its language"));
        };
        if query.relevance && !same(asked.paths) {
            let why = "it is on other paths too, and relevance is computed from the asked ones alone";
            return Err(Unusable::Because(why));
        }
        // At a path with empty brackets, one value must have all the words. Unwanted words may be at another path.
        let exact = same(asked.paths) && !matches!(asked.paths, [path] if path.is_multiple());
        let order = self.id_order();
        let by_id = order.is_some() && self.resume != Resume::Sorted;
        Ok(Way {
            index: Some(number),
            ranges: Vec::new(),
            points: None,
            direction: order.unwrap_or(Direction::Forward),
            bounds: Vec::new(),
            document_tests: (0..query.conditions.len()).collect(),
            ordered: by_id || query.relevance,
            lets: 1.0,
            rows_max: None,
            words: Some(WordsWay { query: asked.query.clone(), exact }),
            ..self.scan()
        })
    }

    /// Estimates the rows and the cost of such a way.
    pub(super) fn weigh_words(&self, way: &mut Way, sampler: &dyn Sampler) -> Result<()> {
        let (Some(words), Some(entry)) = (&way.words, way.index.and_then(|number| self.indexes.get(number))) else {
            return Ok(());
        };
        let documents = Self::documents(sampler)?;
        let (mut least, mut all, mut terms) = (documents, 0.0, 0.0);
        for clause in words.query.clauses.iter().filter(|clause| !clause.negated) {
            for (at, _) in clause.words.iter().enumerate() {
                let ranges = [rows_of(clause, at)];
                let counted = sampler.rows(entry.tree, &ranges, SAMPLED_ROWS_MAX)?;
                let rows = match counted {
                    Some(rows) if rows < SAMPLED_ROWS_MAX => rows as f64,
                    rows => (documents * ONE_VALUE_LETS).max(rows.unwrap_or(0) as f64),
                };
                (least, all, terms) = (least.min(rows), all + rows, terms + 1.0);
            }
        }
        // Only rows of frequent words that the rare words leave are read, but relevance needs all of them.
        let rows = if self.query.relevance { all } else { all.min(least * terms) };
        let got = DOCUMENT_GOT + if words.exact { 0.0 } else { self.test_cost(way) };
        let cost = RANGE_BEGINS * terms + KEY_READ * rows + self.part(way, least) * least * got;
        let cost = cost + self.sorting(way, least);
        (way.rows, way.cost) = (Some(rows), Some(cost));
        Ok(())
    }
}

/// The rows of the word of this number.
fn rows_of(clause: &Clause, at: usize) -> KeyRange {
    let word = clause.words.get(at).map(String::as_str).unwrap_or_default();
    let begins = clause.begins && at + 1 == clause.words.len();
    let prefix = if begins { word.as_bytes().to_vec() } else { word_key(word) };
    KeyRange { start: Bound::Included(prefix.clone()), end: after_prefix(&prefix) }
}

/// The documents that have the words, in the order of their ids or of their relevance; `None` if there are too many to
/// hold.
pub(crate) fn gather(
    at: &CollectionAt,
    index: &IndexEntry,
    words: &WordsWay,
    best: Option<BestWanted>,
    left_out: Option<&str>,
    examined: &mut Examined,
) -> Result<Option<ByWords>> {
    let snapshot: &dyn Snapshot = &*at.snapshot;
    let in_batches = !at.in_transaction && !snapshot.is_distant();
    let reading = Reading { snapshot, tree: index.tree, in_batches };
    let by_relevance = best.is_some();
    let mut walk = Walk::default();
    for clause in &words.query.clauses {
        let mut terms = Vec::new();
        for at in 0..clause.words.len() {
            let begins = clause.begins && at + 1 == clause.words.len();
            let with_values = by_relevance || clause.negated || clause.words.len() > 1;
            let Some(term) = Term::of(reading, rows_of(clause, at), (begins, with_values), examined)? else {
                return Ok(None);
            };
            terms.push(term);
        }
        match clause.negated {
            false => walk.wanted.push(Wanted { clause, terms, weight: 0.0 }),
            // Only an exact index can tell that a word is absent.
            true if words.exact => walk.unwanted.push(Wanted { clause, terms, weight: 0.0 }),
            true => {}
        }
    }
    let mut relevance = Relevance::alone();
    let alone = best.as_ref().is_some_and(|best| best.each_alone);
    if alone {
        walk.wanted.iter_mut().for_each(|wanted| wanted.weight = 1.0);
    } else if by_relevance {
        let row = snapshot.get(index.tree, COUNTERS_KEY)?;
        let counted = row.and_then(|row| counters(&row)).unwrap_or_default();
        let number = |at: usize| counted.get(at).and_then(|count| u64::try_from(*count).ok()).unwrap_or(0);
        relevance = Relevance::new(number(0), number(1));
        for wanted in &mut walk.wanted {
            for at in 0..wanted.terms.len() {
                let term = wanted.terms.get(at).ok_or_else(damaged)?;
                let having = term.having(reading, &rows_of(wanted.clause, at), examined)?;
                wanted.weight += relevance.weight(having);
            }
        }
    }
    let (mut ids, mut bytes, mut best) = (Vec::new(), 0, best.map(Best::new));
    while let Some(id) = walk.next_id(examined)? {
        let is_left_out = left_out.is_some_and(|prefix| id.starts_with(prefix.as_bytes()));
        if is_left_out || walk.has_unwanted(&id, examined)? {
            continue;
        }
        let Some(score) = walk.score(&relevance, by_relevance)? else { continue };
        let id = String::from_utf8(id).map_err(|_| damaged())?;
        match &mut best {
            Some(best) => best.push(Relevant { id, score }),
            None => {
                bytes += id.len() + size_of::<String>();
                if bytes > ID_SET_BYTES_MAX {
                    return Ok(None);
                }
                ids.push(id);
            }
        }
    }
    Ok(Some(match best.map(Best::in_order) {
        Some((best, cut)) => ByWords::Best(best, cut),
        None => ByWords::Ids(ids),
    }))
}

/// The sort key of a relevance: the greatest comes first.
pub(crate) fn relevance_key(score: f64) -> Vec<u8> {
    // The bits of non-negative doubles sort as the numbers do.
    (!score.to_bits()).to_be_bytes().to_vec()
}

/// The relevance of such a key.
pub(crate) fn relevance_of_key(key: &[u8]) -> Option<f64> {
    Some(f64::from_bits(!u64::from_be_bytes(key.try_into().ok()?)))
}

/// The rest of a query whose words an index has found; `None` if its selector asks for more than words.
pub(crate) fn without_words(query: &Query) -> Option<Query> {
    let selector = query.selector.as_ref().filter(|selector| selector.is_words_alone())?;
    let paths: Vec<Path> = selector.words().iter().flat_map(|asked| asked.paths).cloned().collect();
    let mut rest = Query { selector: None, ..query.clone() };
    // A document with words at a path has a value there.
    let conditions = std::sync::Arc::make_mut(&mut rest.conditions);
    conditions.retain(|condition| !(paths.contains(&condition.path) && condition.values.is_anything()));
    Some(rest)
}

#[derive(Default)]
struct Walk<'s> {
    wanted: Vec<Wanted<'s>>,
    unwanted: Vec<Wanted<'s>>,
    /// The next id is this one or a later one.
    from: Vec<u8>,
}

/// A clause, and the rows of its words.
struct Wanted<'s> {
    clause: &'s Clause,
    terms: Vec<Term<'s>>,
    weight: f64,
}

impl Walk<'_> {
    /// The next id that all words of all clauses have.
    fn next_id(&mut self, examined: &mut Examined) -> Result<Option<Vec<u8>>> {
        loop {
            let mut moved = false;
            for term in self.wanted.iter_mut().flat_map(|wanted| &mut wanted.terms) {
                let Some(id) = term.seek(&self.from, examined)? else { return Ok(None) };
                if id != self.from.as_slice() {
                    self.from.clear();
                    self.from.extend_from_slice(id);
                    moved = true;
                }
            }
            if !moved {
                let id = self.from.clone();
                self.from.push(0);
                return Ok(Some(id));
            }
        }
    }

    /// Whether a document has an unwanted word.
    fn has_unwanted(&mut self, id: &[u8], examined: &mut Examined) -> Result<bool> {
        for unwanted in &mut self.unwanted {
            let mut all = true;
            for term in &mut unwanted.terms {
                all = all && term.seek(id, examined)? == Some(id);
            }
            if all && unwanted.count()? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The relevance of the document at which all terms stand; `None` if it lacks a phrase.
    fn score(&self, relevance: &Relevance, by_relevance: bool) -> Result<Option<f64>> {
        let mut score = 0.0;
        for wanted in &self.wanted {
            if wanted.terms.len() == 1 && !by_relevance {
                continue;
            }
            let count = wanted.count()?;
            if count == 0 {
                return Ok(None);
            }
            let class = wanted.terms.first().and_then(Term::class).ok_or_else(damaged)?;
            score += wanted.weight * relevance.occurrences(count, class);
        }
        Ok(Some(score))
    }
}

impl Wanted<'_> {
    /// How often the clause occurs in the document at which all of its terms stand.
    fn count(&self) -> Result<usize> {
        if let [only] = self.terms.as_slice() {
            return Ok(only.count());
        }
        let mut whole = true;
        let found = self.clause.occurrences(|at, _, _| {
            let places = self.terms.get(at).and_then(Term::places);
            whole &= places.is_some();
            places.unwrap_or_default()
        });
        if whole { Ok(found.len()) } else { Err(damaged()) }
    }
}
