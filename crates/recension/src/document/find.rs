//! Carrying out a query: reading in the way that the planner chose, testing, sorting. One snapshot throughout.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::ops::Bound;
use std::sync::Arc;

use super::catalogue::{CollectionEntry, IndexEntry};
use super::cursor::{Cursor, Place};
use super::index_keys::{Damaged, IndexKeys, row_texts};
use super::index_rows::RowRead;
use super::json::quote;
use super::lookup::Lookup;
use super::planner::{Asked, Chosen, Planner, Resume, Sampler, Want};
use super::reader::{OwnedRows, document_of, id_of, read_document};
use super::sorted::{Sorted, SortedHit, order_key};
use super::stored;
use super::{CollectionAt, Document, Error, Path, Plan, Query, Result};
use crate::engine::{Direction, KeyRange, Row, Snapshot, TreeId};

/// The documents that a query asked for, one at a time. It ends after its first error.
pub struct Found {
    hits: Hits,
}

/// What a query selected of each document, one at a time. It ends after its first error.
pub struct Selected {
    hits: Hits,
    paths: Arc<[Path]>,
}

/// The values that a query selected of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// The document's id.
    pub id: String,
    /// The values at the paths, as JSON texts, in their order; `None` where there is none.
    pub values: Vec<Option<String>>,
    paths: Arc<[Path]>,
}

impl Selection {
    /// The paths that were selected.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// A JSON object: `_id`, and each value that there is, under its path as text.
    pub fn to_json(&self) -> String {
        let mut out = format!("{{\"_id\":{}", quote(&self.id));
        for (path, value) in self.paths.iter().zip(&self.values) {
            if let Some(value) = value {
                // Writing to a String cannot fail.
                let _ = write!(out, ",{}:{value}", quote(&path.to_string()));
            }
        }
        out.push('}');
        out
    }
}

impl CollectionAt {
    /// The documents that a query asks for, and the way in which they are found.
    ///
    /// # Errors
    /// [`Error::BadQuery`], [`Error::BadCursor`], [`Error::IndexNotUsable`], [`Error::SortTooLarge`].
    pub fn find(&self, query: &Query) -> Result<Found> {
        Ok(Found { hits: Hits::of(self, query, Want::Documents)? })
    }

    /// The values at the paths that a query selects ([`Query::select`]), of the documents that it asks for. Where
    /// an index has all of that, no document is read.
    ///
    /// # Errors
    /// As [`CollectionAt::find`].
    pub fn select(&self, query: &Query) -> Result<Selected> {
        Ok(Selected { hits: Hits::of(self, query, Want::Selected)?, paths: query.select.clone().into() })
    }

    /// How many documents a query asks for: what [`CollectionAt::find`] would answer, counted. Where an index has
    /// all that its conditions need, no document is read.
    ///
    /// # Errors
    /// As [`CollectionAt::find`].
    pub fn count_matching(&self, query: &Query) -> Result<u64> {
        let mut unsorted = query.clone();
        if query.limit.is_none() && query.skip == 0 && query.after.is_none() {
            // The paths must be there all the same; the order is of no account.
            for (path, _) in std::mem::take(&mut unsorted.sort) {
                unsorted = unsorted.matching(path, super::ValueRange::anything());
            }
        }
        let mut count = 0;
        for hit in Hits::of(self, &unsorted, Want::Count)? {
            hit?;
            count += 1;
        }
        Ok(count)
    }

    /// How a query would be carried out, with all that was weighed: by `select` where it selects paths, else by
    /// `find`.
    ///
    /// # Errors
    /// As [`CollectionAt::find`], but for what reading would meet.
    pub fn explain(&self, query: &Query) -> Result<Plan> {
        let want = if query.select.is_empty() { Want::Documents } else { Want::Selected };
        let indexes = self.entry.as_deref().map(|entry| entry.indexes.as_slice()).unwrap_or_default();
        let planner = Planner { query, indexes, want, resume: resume(query)?, explain: true };
        Ok(planner.describe(&planner.choose(self)?))
    }
}

impl Found {
    /// The way in which the documents are found.
    pub fn plan(&self) -> Plan {
        self.hits.plan()
    }

    /// Where this page ends so far: [`Query::after`] goes on behind the last document that was answered. `None`
    /// where there was none.
    pub fn cursor(&self) -> Option<Cursor> {
        self.hits.cursor()
    }

    /// The next document, seen through `see`, borrowed from the engine where it can be. An error of `see` is answered,
    /// and the others follow.
    pub(super) fn next_with<T>(&mut self, see: impl FnOnce(Document<'_>) -> Result<T>) -> Option<Result<T>> {
        if matches!(self.hits.source, Source::Lookup(_)) {
            return self.hits.look_up(see);
        }
        let hit = self.hits.next()?;
        let document = hit.and_then(|hit| match hit.document {
            Some(document) => Ok(document),
            None => self.hits.document(&hit.id),
        });
        Some(document.and_then(see))
    }
}

impl Iterator for Found {
    type Item = Result<Document<'static>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_with(|document| Ok(document.into_owned()))
    }
}

impl Selected {
    /// The way in which the values are found.
    pub fn plan(&self) -> Plan {
        self.hits.plan()
    }

    /// As [`Found::cursor`].
    pub fn cursor(&self) -> Option<Cursor> {
        self.hits.cursor()
    }
}

impl Iterator for Selected {
    type Item = Result<Selection>;

    fn next(&mut self) -> Option<Self::Item> {
        let hit = self.hits.next()?;
        Some(hit.map(|hit| Selection { id: hit.id, values: hit.values, paths: self.paths.clone() }))
    }
}

/// A document that was found.
pub(super) struct Hit {
    place: Place,
    pub(super) id: String,
    document: Option<Document<'static>>,
    pub(super) values: Vec<Option<String>>,
    /// The values that it is sorted by, encoded, where it has to be sorted.
    pub(super) order: Vec<u8>,
}

struct Hits {
    at: CollectionAt,
    query: Query,
    want: Want,
    chosen: Option<Chosen>,
    source: Source,
    skip: usize,
    left: usize,
    last: Option<Place>,
}

enum Source {
    Nothing,
    Lookup(Lookup),
    Stream(Box<Stream>),
    /// In their order, the first one last.
    Sorted(Vec<SortedHit>),
}

fn resume(query: &Query) -> Result<Resume> {
    query.check()?;
    let Some(cursor) = &query.after else { return Ok(Resume::Nowhere) };
    if cursor.query != query.fingerprint() {
        return Err(Error::BadCursor { why: "it is of a query with other conditions or another order" });
    }
    Ok(match &cursor.place {
        Place::Ids(_) => Resume::Ids,
        Place::Index(tree, _) => Resume::Index(*tree),
        Place::Sorted(..) => Resume::Sorted,
    })
}

impl Hits {
    fn of(at: &CollectionAt, query: &Query, want: Want) -> Result<Self> {
        let resume = resume(query)?;
        let mut hits = Hits {
            at: at.clone(),
            query: query.clone(),
            want,
            chosen: None,
            source: Source::Nothing,
            skip: query.skip,
            left: query.limit.unwrap_or(usize::MAX),
            last: None,
        };
        let Some(entry) = at.entry.clone() else { return Ok(hits) };
        if want == Want::Documents
            && let Some(lookup) = Lookup::of(&entry.indexes, query)
        {
            hits.source = Source::Lookup(lookup);
            return Ok(hits);
        }
        let planner = Planner { query, indexes: &entry.indexes, want, resume, explain: false };
        let chosen = planner.choose(at)?;
        let mut stream = Stream::of(at, &entry, query, want, &chosen);
        hits.source = if chosen.way.ordered {
            Source::Stream(Box::new(stream))
        } else {
            let after = match query.after.as_ref().map(|cursor| &cursor.place) {
                Some(Place::Sorted(key, id)) => Some((key.clone(), id.clone())),
                _ => None,
            };
            let mut sorted = Sorted::new(query, after);
            while let Some(hit) = stream.next_hit() {
                sorted.push(hit?)?;
            }
            Source::Sorted(sorted.finish())
        };
        hits.chosen = Some(chosen);
        Ok(hits)
    }

    fn plan(&self) -> Plan {
        let indexes = self.at.entry.as_deref().map(|entry| entry.indexes.as_slice()).unwrap_or_default();
        let planner = Planner { query: &self.query, indexes, want: self.want, resume: Resume::Nowhere, explain: false };
        match (&self.chosen, &self.source) {
            (Some(chosen), _) => planner.describe(chosen),
            (None, Source::Lookup(lookup)) => planner.describe(&planner.choose_lookup(lookup.index)),
            (None, _) => planner.describe(&planner.scan_of_nothing()),
        }
    }

    fn cursor(&self) -> Option<Cursor> {
        let place = match &self.source {
            Source::Lookup(lookup) => lookup.place(),
            _ => self.last.clone(),
        };
        let goes_on = || self.query.after.clone();
        place.map_or_else(goes_on, |place| Some(Cursor { seq: self.at.seq(), query: self.query.fingerprint(), place }))
    }

    /// The next document of a look-up.
    fn look_up<T>(&mut self, see: impl FnOnce(Document<'_>) -> Result<T>) -> Option<Result<T>> {
        let Source::Lookup(lookup) = &mut self.source else { return None };
        let snapshot = &*self.at.snapshot;
        let documents = self.at.entry.as_ref().map_or(TreeId(0), |entry| entry.documents);
        while self.left > 0 {
            let document = lookup.next_id(snapshot)?.and_then(|id| read_indexed(snapshot, documents, id));
            match document {
                Ok(_) if self.skip > 0 => self.skip -= 1,
                Ok(document) => {
                    self.left -= 1;
                    let seen = see(document);
                    lookup.answered = true;
                    return Some(seen);
                }
                Err(error) => {
                    self.left = 0;
                    return Some(Err(error));
                }
            }
        }
        None
    }

    /// A document that is in the snapshot.
    fn document(&self, id: &str) -> Result<Document<'static>> {
        let documents = self.at.entry.as_ref().map_or(TreeId(0), |entry| entry.documents);
        Ok(read_indexed(&*self.at.snapshot, documents, id)?.into_owned())
    }
}

impl Iterator for Hits {
    type Item = Result<Hit>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            let next = match &mut self.source {
                // Whoever asks for hits has no look-up.
                Source::Nothing | Source::Lookup(_) => None,
                Source::Stream(stream) => stream.next_hit(),
                Source::Sorted(hits) => hits.pop().map(|SortedHit { order, id, values }| {
                    let place = Place::Sorted(order, id.clone());
                    Ok(Hit { place, id, document: None, values, order: Vec::new() })
                }),
            };
            match next? {
                Ok(_) if self.skip > 0 => self.skip -= 1,
                Ok(hit) => {
                    self.left -= 1;
                    self.last = Some(hit.place.clone());
                    return Some(Ok(hit));
                }
                Err(error) => {
                    self.source = Source::Nothing;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

impl Sampler for CollectionAt {
    fn documents(&self) -> Result<Option<u64>> {
        // A transaction would come to depend on every write to the collection.
        if self.in_transaction { Ok(None) } else { Ok(Some(self.counts()?.documents)) }
    }

    fn rows(&self, tree: TreeId, ranges: &[KeyRange], max: usize) -> Result<Option<usize>> {
        if self.in_transaction {
            return Ok(None);
        }
        let mut rows = 0;
        for range in ranges {
            for row in self.snapshot.range(tree, range, Direction::Forward).take(max - rows) {
                row?;
                rows += 1;
            }
            if rows == max {
                break;
            }
        }
        Ok(Some(rows))
    }
}

/// The documents of a way, tested, in the way's order.
struct Stream {
    snapshot: Arc<dyn Snapshot>,
    documents: TreeId,
    direction: Direction,
    /// The ranges that are not begun yet, in the order in which they are read.
    ranges: VecDeque<KeyRange>,
    tree: TreeId,
    rows: Option<OwnedRows>,
    reader: Reader,
}

/// What is looked for in a row.
struct Reader {
    asked: Asked,
    /// `None`: the rows are documents.
    index: Option<IndexEntry>,
    /// For each path of the query the part of the index that has it.
    parts: Vec<Option<usize>>,
    /// To tell a document's first entry from its others.
    keys: Option<(IndexKeys, Vec<KeyRange>)>,
    direction: Direction,
    key_tests: Vec<usize>,
    document_tests: Vec<usize>,
    covering: bool,
    sorts: bool,
    collation: super::Collation,
    want: Want,
}

impl Stream {
    fn of(at: &CollectionAt, entry: &CollectionEntry, query: &Query, want: Want, chosen: &Chosen) -> Self {
        let way = &chosen.way;
        let asked = Asked::of(query);
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
        let keys =
            index.as_ref().filter(|_| way.repeats).map(|index| (IndexKeys::of([&index.spec]), way.ranges.clone()));
        let mut ranges: VecDeque<KeyRange> = way.ranges.clone().into();
        if let Some(Place::Ids(key) | Place::Index(_, key)) = query.after.as_ref().map(|cursor| &cursor.place) {
            cut(&mut ranges, key, way.direction);
        }
        Stream {
            snapshot: at.snapshot.clone(),
            documents: entry.documents,
            direction: way.direction,
            ranges,
            tree: index.as_ref().map_or(entry.documents, |index| index.tree),
            rows: None,
            reader: Reader {
                asked,
                index,
                parts,
                keys,
                direction: way.direction,
                key_tests: way.key_tests.clone(),
                document_tests: way.document_tests.clone(),
                covering: way.covering,
                sorts: !way.ordered,
                collation: query.collation,
                want,
            },
        }
    }

    fn next_hit(&mut self) -> Option<Result<Hit>> {
        loop {
            let Some(rows) = &mut self.rows else {
                let range = match self.direction {
                    Direction::Forward => self.ranges.pop_front(),
                    Direction::Backward => self.ranges.pop_back(),
                }?;
                self.rows = Some(OwnedRows::of(self.snapshot.clone(), self.tree, &range, self.direction));
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

/// What lies behind `key`, in a direction.
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
    fn hit(&mut self, snapshot: &dyn Snapshot, documents: TreeId, row: Row<'_>) -> Result<Option<Hit>> {
        let Some(index) = &self.index else {
            let head = stored::decode(&row.value, &row.key)?;
            if head.deleted {
                return Ok(None);
            }
            let place = Place::Ids(row.key.to_vec());
            let document = document_of(id_of(row.key)?, row.value)?;
            return self.tested(place, document);
        };
        let damaged = || Error::DamagedRow {
            what: format!("a row of index {}", index.spec.name),
            why: "it is not values and an id; drop the index and create it again",
        };
        let place = || Place::Index(index.tree, row.key.to_vec());
        let RowRead { values, id, texts, .. } = RowRead::of(index, &row.key, &row.value).ok_or_else(damaged)?;
        if (self.covering || !self.key_tests.is_empty())
            && let Some(texts) = row_texts(&index.spec, values, texts).map_err(|Damaged| damaged())?
        {
            let value = |number: usize| {
                let part = self.parts.get(number).copied().flatten()?;
                texts.get(part).map(String::as_str)
            };
            if !self.meets(&self.key_tests, |number| value(number).into_iter()) {
                return Ok(None);
            }
            if self.covering {
                return self.assembled(place(), id.to_owned(), None, value).map(Some);
            }
        }
        let document = read_indexed(snapshot, documents, id)?;
        if let Some((keys, ranges)) = &self.keys {
            let all = keys.rows(std::slice::from_ref(index), &document.body, id)?;
            // Ranges are of values: every row of a value lies in one, or none does.
            let own = all.iter().flatten().map(|entry| entry.key.as_slice());
            let mut within = own.filter(|values| ranges.iter().any(|range| range.contains(values)));
            let first = match self.direction {
                Direction::Forward => within.next(),
                Direction::Backward => within.next_back(),
            };
            if first != Some(values) {
                return Ok(None);
            }
        }
        self.tested(place(), document)
    }

    /// Whether values meet the conditions of these numbers.
    fn meets<'v, I: Iterator<Item = &'v str>>(&self, tests: &[usize], values: impl Fn(usize) -> I) -> bool {
        let mut scratch = Vec::new();
        tests
            .iter()
            .filter_map(|number| self.asked.tests.get(*number))
            .all(|(path, keys)| values(*path).any(|value| keys.contains_text(value, &mut scratch)))
    }

    /// The hit of a document that was read, where it meets the conditions.
    fn tested(&self, place: Place, document: Document<'_>) -> Result<Option<Hit>> {
        if self.wants_no_values() {
            return Ok(Some(Self::whole(place, document)));
        }
        let values = self.asked.paths.values(&document.body);
        let at = |number: usize| values.get(number).map(Vec::as_slice).unwrap_or_default();
        // Those that are tested on keys are too: a key may not have had the text.
        let met = self.meets(&self.document_tests, |number| at(number).iter().copied())
            && self.meets(&self.key_tests, |number| at(number).iter().copied())
            && self.asked.absent.iter().all(|number| at(*number).is_empty())
            && self.asked.sort.iter().all(|(number, _)| !at(*number).is_empty());
        if !met {
            return Ok(None);
        }
        let id = document.id.to_string();
        let hit = self.assembled(place, id, None, |number| at(number).first().copied())?;
        let document = (self.want == Want::Documents && !self.sorts).then(|| document.into_owned());
        Ok(Some(Hit { document, ..hit }))
    }

    /// Whether the way gives what is asked for, so that the body need not be looked into.
    fn wants_no_values(&self) -> bool {
        let asked = &self.asked;
        let tested = !self.document_tests.is_empty() || !self.key_tests.is_empty() || !asked.absent.is_empty();
        self.want == Want::Documents && !self.sorts && !tested && asked.sort.is_empty()
    }

    fn whole(place: Place, document: Document<'_>) -> Hit {
        let id = document.id.to_string();
        Hit { place, id, document: Some(document.into_owned()), values: Vec::new(), order: Vec::new() }
    }

    fn assembled<'v>(
        &self,
        place: Place,
        id: String,
        document: Option<Document<'static>>,
        value: impl Fn(usize) -> Option<&'v str>,
    ) -> Result<Hit> {
        let values = match self.want {
            Want::Selected => self.asked.select.iter().map(|number| value(*number).map(str::to_owned)).collect(),
            Want::Documents | Want::Count => Vec::new(),
        };
        let mut order = Vec::new();
        if self.sorts {
            for (number, direction) in &self.asked.sort {
                order_key(self.collation, value(*number).unwrap_or("null"), *direction, &mut order)?;
            }
        }
        Ok(Hit { place, id, document, values, order })
    }
}

/// A document that an index of the same snapshot names.
pub(super) fn read_indexed<'s>(snapshot: &'s dyn Snapshot, documents: TreeId, id: &'s str) -> Result<Document<'s>> {
    match read_document(snapshot, documents, Cow::Borrowed(id))? {
        Some(document) if !document.deleted => Ok(document),
        _ => Err(Error::DamagedRow {
            what: format!("an index entry of document {id:?}"),
            why: "there is no such document; drop the index and create it again",
        }),
    }
}
