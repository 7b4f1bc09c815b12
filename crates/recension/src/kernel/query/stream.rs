//! Reading and testing the documents of the way that the planner chose, row by row.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

use crate::engine::{Direction, KeyRange, Row, Snapshot, TreeId};
use crate::kernel::query::hit::Hit;
use crate::kernel::query::planner::Want;
use crate::kernel::query::prepared::PreparedQuery;
use crate::kernel::query::repeats::Repeats;
use crate::kernel::query::row_reader::{Covered, Examined, Reader};
use crate::kernel::query::way::{SelectorOfWay, Way};
use crate::kernel::query::words::{ByWords, relevance_key};
use crate::kernel::read::reader::{CollectionAt, OwnedRows};
use crate::kernel::rows::catalogue::{CollectionEntry, IndexEntry};
use recension_values::cursor::Place;
use recension_values::error::{Error, Result};
use recension_values::json::Path;
use recension_values::limits::{ROWS_AHEAD_FIRST, ROWS_AHEAD_NEAR_MAX};
use recension_values::query::Query;

/// The documents of a way that meet the conditions, in the order of the way.
pub(crate) struct Stream {
    snapshot: Arc<dyn Snapshot>,
    documents: TreeId,
    direction: Direction,
    /// The ranges that are not begun yet, in the order in which they are read.
    ranges: VecDeque<KeyRange>,
    /// In place of ranges: ids of documents, in the order in which they are read.
    ids: Option<std::vec::IntoIter<String>>,
    /// The relevance of each of these, if that is their order.
    scores: Option<std::vec::IntoIter<f64>>,
    /// Some that were found had no room: it ends with an error.
    cut: bool,
    tree: TreeId,
    rows: Option<OwnedRows>,
    /// The ids are the answer: no document is read.
    by_id_alone: bool,
    /// Nothing is read without need: reads become dependencies of the transaction's commit.
    in_transaction: bool,
    /// How many of the next documents were announced.
    announced: usize,
    reader: Reader,
}

impl Stream {
    /// The ids of the way, if it is by single ones, move to the stream.
    pub(crate) fn of(at: &CollectionAt, entry: &CollectionEntry, query: &Query, want: Want, way: &mut Way) -> Self {
        let asked = PreparedQuery::of(query, way.selector == SelectorOfWay::Tested);
        let index = way.index.and_then(|number| entry.indexes.get(number)).cloned();
        let part_of = |path: &Path| {
            let spec = &index.as_ref()?.spec;
            spec.parts.iter().position(|part| part.path == *path && !path.is_multiple())
        };
        let mut parts = vec![None; asked.paths.len()];
        for path in asked.paths.paths() {
            if let Some(slot) = asked.paths.number(path).and_then(|number| parts.get_mut(number)) {
                *slot = part_of(path);
            }
        }
        let tested = |tests: &[usize]| tests.iter().copied().filter(|number| !asked.is_implied(*number)).collect();
        let mut document_tests: Vec<usize> = tested(&way.document_tests);
        let beside_keys = document_tests.len();
        document_tests.append(&mut tested(&way.key_tests));
        let repeats =
            index.as_ref().filter(|_| way.repeats).map(|index| Repeats::of(index, way, query.after.is_none()));
        let mut ranges: VecDeque<KeyRange> = way.ranges.clone().into();
        if let Some(Place::Ids(key) | Place::Index(_, key)) = query.after.as_ref().map(|cursor| &cursor.place) {
            cut(&mut ranges, key, way.direction);
        }
        let stream = Stream {
            snapshot: at.snapshot.clone(),
            documents: entry.documents,
            direction: way.direction,
            ranges,
            ids: None,
            scores: None,
            cut: false,
            tree: index.as_ref().map_or(entry.documents, |index| index.tree),
            rows: None,
            by_id_alone: false,
            in_transaction: at.in_transaction,
            announced: 0,
            reader: Reader {
                asked,
                index,
                parts,
                repeats,
                key_tests: way.key_tests.clone(),
                document_tests,
                beside_keys,
                covering: way.covering,
                sorts: !way.ordered,
                want,
                skip: 0,
                left_out: query.left_out.clone(),
                examined: Examined::default(),
                read: Vec::new(),
                found: Vec::new(),
            },
        };
        match way.points.take() {
            Some(ids) => stream.by_ids(ids, query, way.direction),
            None => stream,
        }
    }

    /// The documents of these ids, which are in order, behind the place where the query continues.
    pub(crate) fn by_ids(mut self, mut ids: Vec<String>, query: &Query, direction: Direction) -> Self {
        if let Some(Place::Ids(key)) = query.after.as_ref().map(|cursor| &cursor.place) {
            ids.retain(|id| match direction {
                Direction::Forward => id.as_bytes() > key.as_slice(),
                Direction::Backward => id.as_bytes() < key.as_slice(),
            });
        }
        if direction == Direction::Backward {
            ids.reverse();
        }
        self.ids = Some(ids.into_iter());
        self
    }

    /// The documents that were found by words, behind the place where the query goes on. `exact`: all that the index
    /// was asked for is met.
    pub(crate) fn by_words(mut self, found: ByWords, query: &Query, direction: Direction, exact: bool) -> Self {
        self.by_id_alone = exact && self.reader.needs_ids_alone();
        let found = match found {
            ByWords::Ids(ids) => return self.by_ids(ids, query, direction),
            ByWords::Best(found, cut) => {
                self.cut = cut;
                found
            }
        };
        let (ids, scores): (Vec<_>, Vec<_>) = found.into_iter().map(|found| (found.id, found.score)).unzip();
        (self.ids, self.scores) = (Some(ids.into_iter()), Some(scores.into_iter()));
        self
    }

    /// Skips the first documents that it finds. They are not read if the way alone decides that they are found.
    pub(crate) fn skipping(mut self, skip: usize) -> Self {
        self.reader.skip = skip;
        self
    }

    /// What was read so far.
    pub(crate) fn examined(&self) -> Examined {
        self.reader.examined
    }

    /// The place of the last hit, unless the hit itself has it.
    pub(crate) fn place(&self) -> Option<Place> {
        let key = &self.reader.found;
        if key.is_empty() || self.scores.is_some() {
            return None;
        }
        Some(match (&self.ids, &self.reader.index) {
            (None, Some(index)) => Place::Index(index.tree, key.clone()),
            _ => Place::Ids(key.clone()),
        })
    }

    /// Hands on the rest.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(Hit) -> Result<()>) -> Result<()> {
        while let Some(hit) = self.next_hit() {
            take(hit?)?;
        }
        Ok(())
    }

    /// The index whose rows are read.
    pub(crate) fn index(&self) -> Option<&IndexEntry> {
        self.reader.index.as_ref()
    }

    /// Hands on the rows of an index that meet the conditions, until `see` returns false; whether it never did. For a
    /// way that covers what is asked for, and gives the order.
    pub(crate) fn each_covered(mut self, see: &mut dyn FnMut(&Covered<'_>) -> Result<bool>) -> Result<bool> {
        let (snapshot, reader, mut ends) = (&*self.snapshot, &mut self.reader, Vec::new());
        let Some(index) = reader.index.clone() else { return Ok(false) };
        let mut ranges = std::mem::take(&mut self.ranges);
        if self.direction == Direction::Backward {
            ranges.make_contiguous().reverse();
        }
        for range in ranges {
            let mut went_on = Ok(true);
            snapshot.each_row(self.tree, &range, self.direction, &mut |key, value| {
                went_on = match reader.covered(snapshot, self.documents, (&index, &mut ends), (key, value)) {
                    Ok(Some(row)) => see(&row),
                    Ok(None) => Ok(true),
                    Err(error) => Err(error),
                };
                matches!(went_on, Ok(true))
            })?;
            if !went_on? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn next_hit(&mut self) -> Option<Result<Hit>> {
        loop {
            self.announce();
            if let Some(ids) = &mut self.ids {
                let Some(id) = ids.next() else {
                    let why = "too many documents have the words to sort this page by relevance; ask for more words";
                    return std::mem::take(&mut self.cut).then_some(Err(Error::BadQuery { why }));
                };
                let score = self.scores.as_mut().and_then(Iterator::next);
                let hit = if self.by_id_alone { self.reader.hit_of_id(id) } else { self.document(id) };
                match hit.transpose() {
                    Some(hit) => {
                        return Some(hit.map(|hit| match score {
                            Some(score) => {
                                let place = Place::Sorted(relevance_key(score), hit.named.id().to_owned());
                                Hit { place: Some(place), ..hit }
                            }
                            None => hit,
                        }));
                    }
                    None => continue,
                }
            }
            let Some(rows) = &mut self.rows else {
                let range = match self.direction {
                    Direction::Forward => self.ranges.pop_front(),
                    Direction::Backward => self.ranges.pop_back(),
                }?;
                let range = match self.passed(range) {
                    Ok(range) => range,
                    Err(error) => return Some(Err(error)),
                };
                let rows = OwnedRows::of(self.snapshot.clone(), self.tree, &range, self.direction);
                let ahead = !self.in_transaction || self.snapshot.is_distant();
                self.rows = Some(if ahead { self.reader.naming(rows, self.documents) } else { rows });
                continue;
            };
            let (snapshot, documents, reader) = (&*self.snapshot, self.documents, &mut self.reader);
            match rows.next_with(|row| reader.hit(snapshot, documents, row)) {
                None => self.rows = None,
                Some(Ok(None)) => {}
                Some(Ok(Some(hit))) => return Some(Ok(hit)),
                Some(Err(error)) => return Some(Err(error)),
            }
        }
    }
}

impl Stream {
    /// What is left of a range behind the rows that are skipped without their documents.
    fn passed(&mut self, range: KeyRange) -> Result<KeyRange> {
        if !self.reader.passes_over() {
            return Ok(range);
        }
        let (reader, mut last) = (&mut self.reader, Vec::new());
        self.snapshot.each_row(self.tree, &range, self.direction, &mut |key, value| {
            let passes = reader.passes(key, value);
            if passes {
                last.clear();
                last.extend_from_slice(key);
            }
            passes
        })?;
        let passed = Bound::Excluded(last);
        Ok(match self.direction {
            _ if passed == Bound::Excluded(Vec::new()) => range,
            Direction::Forward => KeyRange { start: passed, ..range },
            Direction::Backward => KeyRange { end: passed, ..range },
        })
    }

    /// The hit of the document of this id.
    fn document(&mut self, id: String) -> Result<Option<Hit>> {
        let Some(value) = self.snapshot.get(self.documents, id.as_bytes())? else { return Ok(None) };
        self.reader.hit(&*self.snapshot, self.documents, Row { key: id.into_bytes().into(), value })
    }

    /// Fetches the next documents whose ids are known together, so that the waits for them overlap.
    fn announce(&mut self) {
        let Some(ids) = self.ids.as_ref().filter(|_| !self.by_id_alone) else { return };
        if self.announced == 0 {
            let distant = self.snapshot.is_distant();
            let most = if distant { ROWS_AHEAD_FIRST } else { ROWS_AHEAD_NEAR_MAX };
            let next: Vec<&[u8]> = ids.as_slice().iter().take(most).map(String::as_bytes).collect();
            if distant {
                let keys: Vec<_> = next.iter().map(|id| (self.documents, *id)).collect();
                self.snapshot.announce(&keys);
            } else {
                self.snapshot.prefetch(self.documents, &next);
            }
            self.announced = next.len();
        }
        self.announced = self.announced.saturating_sub(1);
    }
}

/// Cuts off everything up to `key` in the direction.
fn cut(ranges: &mut VecDeque<KeyRange>, key: &[u8], direction: Direction) {
    for range in ranges.iter_mut() {
        let passed = Bound::Excluded(key.to_vec());
        let is_before = |bound: &Bound<Vec<u8>>| match bound {
            Bound::Unbounded => true,
            Bound::Included(at) | Bound::Excluded(at) => at.as_slice() <= key,
        };
        let is_behind = |bound: &Bound<Vec<u8>>| match bound {
            Bound::Unbounded => true,
            Bound::Included(at) | Bound::Excluded(at) => at.as_slice() >= key,
        };
        match direction {
            Direction::Forward if is_before(&range.start) => range.start = passed,
            Direction::Backward if is_behind(&range.end) => range.end = passed,
            _ => {}
        }
    }
    ranges.retain(|range| !range.is_empty());
}
