//! Reading and testing the documents of the way that the planner chose, row by row.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

use crate::engine::{Direction, KeyRange, Row, Snapshot, TreeId};
use crate::kernel::query::hit::{Hit, Named};
use crate::kernel::query::lookup::read_indexed;
use crate::kernel::query::planner::Want;
use crate::kernel::query::prepared::PreparedQuery;
use crate::kernel::query::repeats::Repeats;
use crate::kernel::query::sorted::order_key;
use crate::kernel::query::way::{SelectorOfWay, Way};
use crate::kernel::query::words::{ByWords, relevance_key};
use crate::kernel::read::reader::{CollectionAt, OwnedRows, document_of, id_of};
use crate::kernel::rows::catalogue::{CollectionEntry, IndexEntry};
use crate::kernel::rows::index_keys::{Damaged, is_absent, part_ends, row_texts};
use crate::kernel::rows::index_rows::RowRead;
use crate::kernel::rows::stored;
use recension_values::cursor::Place;
use recension_values::error::{Error, Result};
use recension_values::json::Path;
use recension_values::limits::{ROWS_AHEAD_FIRST, ROWS_AHEAD_NEAR_MAX};
use recension_values::model::Document;
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

/// How a row is read and tested.
struct Reader {
    asked: PreparedQuery,
    /// `None`: the rows are documents.
    index: Option<IndexEntry>,
    /// For each path of the query, the part of the index that has it.
    parts: Vec<Option<usize>>,
    /// Tells the first entry of a document in the index from its others.
    repeats: Option<Repeats>,
    /// The conditions that are tested on keys.
    key_tests: Vec<usize>,
    /// The conditions that are tested on documents: a key may not have the text, so those of the keys are among them.
    document_tests: Vec<usize>,
    /// How many of them, the first ones, are tested even if the keys' conditions were tested on a key.
    beside_keys: usize,
    covering: bool,
    sorts: bool,
    want: Want,
    /// Documents that are still to be skipped.
    skip: usize,
    /// A prefix of the ids of unwanted documents.
    left_out: Option<String>,
    examined: Examined,
    /// The key of the row that was read last, and of the last hit's.
    read: Vec<u8>,
    found: Vec<u8>,
}

/// How much was read for an answer.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Examined {
    pub(crate) keys: u64,
    pub(crate) documents: u64,
}

impl Examined {
    pub(crate) fn add(&mut self, other: Examined) {
        self.keys += other.keys;
        self.documents += other.documents;
    }
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

impl Reader {
    /// Index rows, annotated with the documents that are read next.
    fn naming(&self, rows: OwnedRows, documents: TreeId) -> OwnedRows {
        let Some(index) = self.index.clone().filter(|_| !self.covering) else { return rows };
        rows.naming(documents, move |key, value| Some(RowRead::of(&index, key, value)?.id))
    }

    /// Whether rows of the index can be skipped without their documents.
    fn passes_over(&self) -> bool {
        self.skip > 0
            && self.index.is_some()
            && !self.covering
            && self.repeats.is_none()
            && self.wants_no_values(&self.document_tests)
    }

    /// Skips the document of a row that is lent, if it is to be skipped and the row alone decides that.
    fn passes(&mut self, key: &[u8], value: &[u8]) -> bool {
        let Some(index) = self.index.as_ref().filter(|_| self.skip > 0) else { return false };
        let may_lack = !self.asked.sort.is_empty() && index.by_first && index.spec.parts.len() > 1;
        if may_lack || self.left_out.is_some() {
            let Some(row) = RowRead::of(index, key, value) else { return false };
            if self.leaves_out(row.id.as_bytes()) {
                self.examined.keys += 1;
                return true;
            }
            if may_lack && row.lacks_one {
                return false;
            }
        }
        self.skip -= 1;
        self.examined.keys += 1;
        true
    }

    /// The hit of a row, unless it is skipped.
    fn hit(&mut self, snapshot: &dyn Snapshot, documents: TreeId, row: Row<'_>) -> Result<Option<Hit>> {
        // A count has no cursor.
        if self.want != Want::Count {
            self.read.clear();
            self.read.extend_from_slice(&row.key);
        }
        let found = self.found(snapshot, documents, row)?;
        if found.is_some() && self.skip > 0 {
            self.skip -= 1;
            return Ok(None);
        }
        if found.is_some() {
            std::mem::swap(&mut self.read, &mut self.found);
        }
        Ok(found)
    }

    /// Whether nothing but ids is asked for.
    fn needs_ids_alone(&self) -> bool {
        let asked = &self.asked;
        let own = asked.id_text("").map(|(number, _)| number);
        let tested = !asked.has_no_conditions() || !asked.absent.is_empty() || asked.selector.is_some();
        self.want != Want::Documents
            && !tested
            && asked.sort.is_empty()
            && asked.select.iter().all(|number| Some(*number) == own)
    }

    /// The hit of a document of which the id is asked for, unless it is skipped.
    fn hit_of_id(&mut self, id: String) -> Result<Option<Hit>> {
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(None);
        }
        self.found.clear();
        self.found.extend_from_slice(id.as_bytes());
        let own = self.asked.id_text(&id);
        let value = |number: usize| own.as_ref().filter(|(own, _)| *own == number).map(|(_, text)| text.as_str());
        self.assembled(id, value).map(Some)
    }

    fn found(&mut self, snapshot: &dyn Snapshot, documents: TreeId, row: Row<'_>) -> Result<Option<Hit>> {
        let Some(index) = &self.index else {
            let head = stored::decode(&row.value, &row.key)?;
            if head.deleted || self.leaves_out(&row.key) {
                return Ok(None);
            }
            self.examined.documents += 1;
            let document = document_of(id_of(row.key)?, row.value)?;
            return self.tested(document, self.asked.sort.is_empty(), &self.document_tests);
        };
        let damaged = || Error::DamagedRow {
            what: format!("a row of index {}", index.spec.name),
            why: "it is not values and an id; drop the index and create it again",
        };
        let RowRead { values, id, texts, lacks_one, .. } =
            RowRead::of(index, &row.key, &row.value).ok_or_else(damaged)?;
        self.examined.keys += 1;
        if self.left_out.as_ref().is_some_and(|ids| id.starts_with(ids.as_str())) {
            return Ok(None);
        }
        let wants_nothing = self.key_tests.is_empty() && self.asked.sort.is_empty();
        if self.covering && self.want == Want::Count && wants_nothing {
            return Ok(Some(Hit::of(Named::Id(id.to_owned()))));
        }
        let mut tests = self.document_tests.as_slice();
        let by_keys = if self.covering { None } else { self.keys_meet(index, values) };
        if by_keys == Some(false) {
            return Ok(None);
        }
        if by_keys == Some(true) {
            tests = tests.get(..self.beside_keys).unwrap_or(tests);
        } else if (self.covering || !self.key_tests.is_empty())
            && let Some(texts) = row_texts(&index.spec, values, texts).map_err(|Damaged| damaged())?
        {
            let own = self.asked.id_text(id);
            let value = |number: usize| {
                if let Some((_, id)) = own.as_ref().filter(|(own, _)| *own == number) {
                    return Some(id.as_str());
                }
                let part = self.parts.get(number).copied().flatten()?;
                texts.get(part).map(String::as_str).filter(|text| !text.is_empty())
            };
            let sorted = self.covering.then_some(&self.asked.sort).into_iter().flatten();
            if !self.meets(&self.key_tests, |number| value(number).into_iter())
                || sorted.into_iter().any(|(number, ..)| value(*number).is_none())
            {
                return Ok(None);
            }
            if self.covering {
                return self.assembled(id.to_owned(), value).map(Some);
            }
            tests = tests.get(..self.beside_keys).unwrap_or(tests);
        }
        // A way that gives the order is by paths that the document has.
        let in_order = self.asked.sort.is_empty() || !(self.sorts || lacks_one);
        let seen = self.repeats.as_mut().and_then(|repeats| repeats.is_new(id));
        if seen == Some(false) {
            return Ok(None);
        }
        let document = read_indexed(snapshot, documents, id)?;
        self.examined.documents += 1;
        if let (Some(repeats), None) = (&self.repeats, seen)
            && !repeats.is_first(index, values, &document)?
        {
            return Ok(None);
        }
        self.tested(document, in_order, tests)
    }

    /// Whether the values of a row meet the conditions that are tested on keys, if the keys alone tell it.
    fn keys_meet(&self, index: &IndexEntry, values: &[u8]) -> Option<bool> {
        if self.key_tests.is_empty() {
            return None;
        }
        let (spec, mut ends, mut scratch) = (&index.spec, Vec::new(), Vec::new());
        part_ends(spec, values, &mut ends);
        let key = |path: usize| {
            let part = self.parts.get(path).copied().flatten()?;
            let start = part.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
            let key = values.get(start..*ends.get(part)?)?;
            let ascending = spec.parts.get(part)?.direction == Direction::Forward;
            ascending.then_some(Some(key).filter(|key| part == 0 || !is_absent(key)))
        };
        for number in &self.key_tests {
            if !self.asked.meets_by_key(*number, key, spec.collation, &mut scratch)? {
                return Some(false);
            }
        }
        Some(true)
    }

    fn leaves_out(&self, id: &[u8]) -> bool {
        self.left_out.as_ref().is_some_and(|ids| id.starts_with(ids.as_bytes()))
    }

    /// Whether values meet the conditions of these numbers.
    fn meets<'v, I: Iterator<Item = &'v str>>(&self, tests: &[usize], values: impl Fn(usize) -> I) -> bool {
        let mut scratch = Vec::new();
        tests.iter().all(|number| self.asked.meets(*number, &values, &mut scratch))
    }

    /// The hit of a document that was read, if it meets the conditions of these numbers and what else is tested.
    /// `in_order`: the document is known to have the values of the order.
    fn tested(&self, document: Document<'_>, in_order: bool, tests: &[usize]) -> Result<Option<Hit>> {
        if in_order && self.wants_no_values(tests) {
            return Ok(Some(Self::whole(document)));
        }
        let own = self.asked.own_texts(&document.id, &document.rev);
        let values =
            if self.tests_selector_alone(tests) { Vec::new() } else { self.asked.values(&document.body, &own) };
        let at = |number: usize| values.get(number).map(Vec::as_slice).unwrap_or_default();
        let met = self.meets(tests, |number| at(number).iter().copied())
            && self.asked.absent.iter().all(|number| at(*number).is_empty())
            && self.asked.selector.as_ref().is_none_or(|selector| selector.selects(&document))
            && self.asked.sort.iter().all(|(number, ..)| !at(*number).is_empty());
        if !met {
            return Ok(None);
        }
        if self.want == Want::Documents && !self.sorts {
            return Ok(Some(Self::whole(document)));
        }
        let mut hit = self.assembled(document.id.to_string(), |number| at(number).first().copied())?;
        for (value, number) in hit.values.iter_mut().zip(&self.asked.select) {
            if self.asked.paths.paths().get(*number).is_some_and(Path::is_multiple) {
                *value = value.as_ref().map(|_| format!("[{}]", at(*number).join(",")));
            }
        }
        Ok(Some(hit))
    }

    /// Whether no value of a document is needed but those that the selector looks up for itself.
    fn tests_selector_alone(&self, tests: &[usize]) -> bool {
        tests.is_empty() && self.asked.absent.is_empty() && self.asked.sort.is_empty() && self.want != Want::Selected
    }

    /// Whether the way itself meets all conditions, so that the body is not parsed.
    fn wants_no_values(&self, tests: &[usize]) -> bool {
        let asked = &self.asked;
        let tested = !tests.is_empty() || !asked.absent.is_empty() || asked.selector.is_some();
        self.want == Want::Documents && !self.sorts && !tested
    }

    fn whole(document: Document<'_>) -> Hit {
        Hit::of(Named::Document(document.into_owned()))
    }

    fn assembled<'v>(&self, id: String, value: impl Fn(usize) -> Option<&'v str>) -> Result<Hit> {
        let values = match self.want {
            Want::Selected => self.asked.select.iter().map(|number| value(*number).map(str::to_owned)).collect(),
            Want::Documents | Want::Count => Vec::new(),
        };
        let mut order = Vec::new();
        if self.sorts {
            for (number, collation, direction) in &self.asked.sort {
                order_key(*collation, value(*number).unwrap_or("null"), *direction, &mut order)?;
            }
        }
        Ok(Hit { values, order, ..Hit::of(Named::Id(id)) })
    }
}
