//! Carrying out a query by the way that the planner chose: reading, testing, sorting. All reads are of one snapshot.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::engine::TreeId;
use crate::kernel::query::best::{BestWanted, Relevant};
use crate::kernel::query::hit::{Hit, Named};
use crate::kernel::query::lookup::{Lookup, read_indexed};
use crate::kernel::query::planner::{Chosen, Planner, Resume, Want};
use crate::kernel::query::row_reader::Examined;
use crate::kernel::query::sorted::{Sorted, SortedHits};
use crate::kernel::query::stream::Stream;
use crate::kernel::query::way::Way;
use crate::kernel::query::words;
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::catalogue::CollectionEntry;
use recension_values::cursor::{Cursor, Place};
use recension_values::error::{Error, Result};
use recension_values::json::{Path, quote};
use recension_values::model::Document;
use recension_values::own::Own;
use recension_values::plan::Plan;
use recension_values::query::Query;

/// The documents that a query asked for, one at a time. It ends after its first error.
pub struct Found {
    hits: Hits,
}

/// The values that a query selected of each document, one at a time. It ends after its first error.
pub struct Selected {
    hits: Hits,
    paths: Arc<[Path]>,
}

/// The values that a query selected of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// The document's id.
    pub id: String,
    /// The values at the paths, as JSON texts, in the order of the paths; `None` if the document has no value there.
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
            if let Some(value) = value
                && Own::of(path) != Some(Own::Id)
            {
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

    /// The values at the paths that a query selects ([`Query::select`]), of the documents that it asks for. If an index
    /// holds all of these values (a covering index), no document is read.
    ///
    /// # Errors
    /// As [`CollectionAt::find`].
    pub fn select(&self, query: &Query) -> Result<Selected> {
        Ok(Selected { hits: Hits::of(self, query, Want::Selected)?, paths: query.select.clone().into() })
    }

    /// Counts the documents that [`CollectionAt::find`] would answer. If an index holds all that the conditions need,
    /// no document is read.
    ///
    /// # Errors
    /// As [`CollectionAt::find`].
    pub fn count_matching(&self, query: &Query) -> Result<u64> {
        let mut unsorted = query.clone();
        if query.limit.is_none() && query.skip == 0 && query.after.is_none() {
            // The paths of the order must still have values. The order itself does not matter.
            for (path, _) in std::mem::take(&mut unsorted.sort) {
                unsorted = unsorted.matching(path, recension_values::condition::ValueRange::anything());
            }
        }
        let mut count = 0;
        for hit in Hits::of(self, &unsorted, Want::Count)? {
            hit?;
            count += 1;
        }
        Ok(count)
    }

    /// The plan of a query, with every way that was weighed. A query that selects paths is planned as by `select`, any
    /// other as by `find`.
    ///
    /// # Errors
    /// As [`CollectionAt::find`], except errors of reading.
    pub fn explain(&self, query: &Query) -> Result<Plan> {
        let want = if query.select.is_empty() { Want::Documents } else { Want::Selected };
        let indexes = self.entry.as_deref().map(|entry| entry.indexes.as_slice()).unwrap_or_default();
        let resume = resume(query)?;
        let planner = Planner::new(query, indexes, want, resume).explaining();
        Ok(planner.describe(&planner.choose(self)?))
    }
}

impl Found {
    /// The way in which the documents are found.
    pub fn plan(&self) -> Plan {
        self.hits.plan()
    }

    /// The cursor of the document that was answered last: [`Query::after`] goes on behind it. `None` if no document was
    /// answered. [`CollectionAt::page`] tells whether a next page exists.
    pub fn cursor(&self) -> Option<Cursor> {
        self.hits.cursor()
    }

    /// The relevance of the document that was answered last, if the query is by relevance ([`Query::by_relevance`]).
    /// Only numbers within one answer compare.
    pub fn relevance(&self) -> Option<f64> {
        match &self.hits.last {
            Some(Place::Sorted(key, _)) if self.hits.query.relevance => words::relevance_of_key(key),
            _ => None,
        }
    }

    /// How many keys of indexes and how many documents have been read so far.
    pub fn examined(&self) -> (u64, u64) {
        self.hits.examined()
    }

    /// The next document, seen through `see`, borrowed from the engine if that is possible. An error of `see` is
    /// answered, and the others follow.
    pub(crate) fn next_with<T>(&mut self, see: impl FnOnce(Document<'_>) -> Result<T>) -> Option<Result<T>> {
        if matches!(self.hits.source, Source::Lookup(_)) {
            return self.hits.look_up(see);
        }
        let hit = self.hits.next()?;
        let document = hit.and_then(|hit| match hit.named {
            Named::Document(document) => Ok(document),
            Named::Id(id) => self.hits.document(&id),
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

    /// As [`Found::examined`].
    pub fn examined(&self) -> (u64, u64) {
        self.hits.examined()
    }
}

impl Iterator for Selected {
    type Item = Result<Selection>;

    fn next(&mut self) -> Option<Self::Item> {
        let hit = self.hits.next()?;
        Some(hit.map(|hit| Selection { id: hit.named.into_id(), values: hit.values, paths: self.paths.clone() }))
    }
}

struct Hits {
    at: CollectionAt,
    query: Query,
    want: Want,
    chosen: Option<Chosen>,
    /// Reads that were made before the first answer.
    examined: Examined,
    source: Source,
    skip: usize,
    left: usize,
    last: Option<Place>,
}

enum Source {
    Nothing,
    Lookup(Lookup),
    Stream(Box<Stream>),
    Sorted(Box<SortedHits>),
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
    fn examined(&self) -> (u64, u64) {
        let mut all = self.examined;
        if let Source::Stream(stream) = &self.source {
            all.add(stream.examined());
        }
        (all.keys, all.documents)
    }

    fn of(at: &CollectionAt, query: &Query, want: Want) -> Result<Self> {
        let resume = resume(query)?;
        let mut hits = Hits {
            at: at.clone(),
            query: query.clone(),
            want,
            chosen: None,
            examined: Examined::default(),
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
        let planner = Planner::new(query, &entry.indexes, want, resume);
        let mut chosen = planner.choose(at)?;
        if let Some(stream) = hits.by_words(&chosen.way, &entry)? {
            hits.answer(stream, chosen)?;
            return Ok(hits);
        }
        if chosen.way.words.is_some() {
            // So many documents have the words that a scan finds them as fast.
            chosen = Chosen { way: planner.scan(), others: chosen.others };
        }
        let mut ids = None;
        if let Some(set) = &chosen.way.ids {
            ids = set.gather(at, &entry, &mut hits.examined)?;
            if ids.is_none() {
                // A scan has the order of the ids too.
                chosen = Chosen { way: planner.scan(), others: chosen.others };
            }
        }
        let mut stream = Stream::of(at, &entry, query, want, &mut chosen.way);
        if let Some(ids) = ids {
            stream = stream.by_ids(ids, query, chosen.way.direction);
        }
        hits.answer(stream, chosen)?;
        Ok(hits)
    }

    /// Answers a stream in the order that is asked for.
    fn answer(&mut self, mut stream: Stream, chosen: Chosen) -> Result<()> {
        self.source = if chosen.way.ordered {
            Source::Stream(Box::new(stream.skipping(std::mem::take(&mut self.skip))))
        } else {
            let after = match self.query.after.as_ref().map(|cursor| &cursor.place) {
                Some(Place::Sorted(key, id)) => Some((key.clone(), id.clone())),
                _ => None,
            };
            let mut sorted = Sorted::new(&self.at.snapshot, &self.query, after);
            stream.drain(|hit| sorted.push(hit))?;
            self.examined.add(stream.examined());
            Source::Sorted(Box::new(sorted.finish()?))
        };
        self.chosen = Some(chosen);
        Ok(())
    }

    /// The documents that an index of words finds; `None` if the way is not by words, or there are too many.
    fn by_words(&mut self, way: &Way, entry: &CollectionEntry) -> Result<Option<Stream>> {
        let index = way.index.and_then(|number| entry.indexes.get(number));
        let (Some(words), Some(index)) = (&way.words, index) else { return Ok(None) };
        let query = &self.query;
        // The stream reads documents by their ids, and what the index has found is not tested again.
        let rest = if words.exact { words::without_words(query) } else { None };
        let asked = rest.as_ref().unwrap_or(query);
        let best = query.relevance.then(|| {
            let all = asked.conditions.is_empty() && asked.absent.is_empty() && asked.selector.is_none();
            let after = match query.after.as_ref().map(|cursor| &cursor.place) {
                Some(Place::Sorted(key, id)) => {
                    words::relevance_of_key(key).map(|score| Relevant { id: id.clone(), score })
                }
                _ => None,
            };
            let most = query.limit.filter(|_| all).map(|limit| limit.saturating_add(query.skip));
            BestWanted { most, after, each_alone: query.each_alone }
        });
        let left_out = query.left_out.as_deref();
        let gathered = words::gather(&self.at, index, words, best, left_out, &mut self.examined)?;
        let Some(found) = gathered else { return Ok(None) };
        let mut way = Way { index: None, document_tests: (0..asked.conditions.len()).collect(), ..way.clone() };
        let stream = Stream::of(&self.at, entry, asked, self.want, &mut way);
        Ok(Some(stream.by_words(found, query, way.direction, rest.is_some())))
    }

    fn plan(&self) -> Plan {
        let indexes = self.at.entry.as_deref().map(|entry| entry.indexes.as_slice()).unwrap_or_default();
        let planner = Planner::new(&self.query, indexes, self.want, Resume::Nowhere);
        match (&self.chosen, &self.source) {
            (Some(chosen), _) => planner.describe(chosen),
            (None, Source::Lookup(lookup)) => planner.describe(&planner.choose_lookup(lookup.index)),
            (None, _) => planner.describe(&planner.scan_of_nothing()),
        }
    }

    fn cursor(&self) -> Option<Cursor> {
        let goes_on = || self.query.after.clone();
        self.place()
            .map_or_else(goes_on, |place| Some(Cursor { seq: self.at.seq(), query: self.query.fingerprint(), place }))
    }

    /// The place of the document that was answered last.
    fn place(&self) -> Option<Place> {
        match &self.source {
            Source::Lookup(lookup) => lookup.place(),
            Source::Stream(stream) => stream.place().or_else(|| self.last.clone()),
            _ => self.last.clone(),
        }
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

    /// A document that exists in the snapshot.
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
                // A look-up is read by `look_up`.
                Source::Nothing | Source::Lookup(_) => None,
                Source::Stream(stream) => stream.next_hit(),
                Source::Sorted(hits) => hits.next_hit(),
            };
            match next? {
                Ok(_) if self.skip > 0 => self.skip -= 1,
                Ok(mut hit) => {
                    self.left -= 1;
                    if self.want != Want::Count {
                        self.last = hit.place.take();
                    }
                    return Some(Ok(hit));
                }
                Err(error) => {
                    self.last = self.place();
                    self.source = Source::Nothing;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
