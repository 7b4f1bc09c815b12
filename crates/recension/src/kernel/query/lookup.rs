//! Looking up a value in a unique index, which is the most frequent query. It makes one key, and reads one row of the
//! index and its document; no plan is weighed. Replication may bring several documents with one value, so the look-up
//! continues until no other row has it.

use std::borrow::Cow;
use std::ops::Bound;

use crate::engine::{Direction, KeyRange, Snapshot, TreeId};
use crate::kernel::read::reader::{CollectionAt, read_document};
use crate::kernel::rows::catalogue::{CollectionEntry, IndexEntry};
use crate::kernel::rows::index_keys::encode_part;
use crate::kernel::rows::index_rows::RowRead;
use recension_values::condition::Literal;
use recension_values::cursor::Place;
use recension_values::error::{Error, Result};
use recension_values::model::{Document, IndexState};
use recension_values::query::{Query, Through};

/// Bytes that usually suffice for an id and the tree's number in the engine. The key then grows without being moved.
const ID_BYTES_USUAL: usize = 44;

/// A walk over the documents that have one value, mostly one document.
pub(crate) struct Lookup {
    /// The number of the index among those of the collection.
    pub(crate) index: usize,
    tree: TreeId,
    /// A row at the values alone names the first document.
    by_values: bool,
    /// The encoded values; the id of a document that has them follows.
    values: Vec<u8>,
    /// The values, and the id of the document that was found last.
    last: Vec<u8>,
    /// A document was answered.
    pub(crate) answered: bool,
    ended: bool,
}

impl Lookup {
    /// The look-up for a query that asks for one value at each path of a unique index and for nothing else.
    pub(crate) fn of(indexes: &[IndexEntry], query: &Query) -> Option<Self> {
        if query.selector.is_some()
            || query.left_out.is_some()
            || !query.absent.is_empty()
            || !query.sort.is_empty()
            || query.after.is_some()
        {
            return None;
        }
        let mut values = Vec::new();
        let fits = |index: &IndexEntry| {
            let spec = &index.spec;
            let admitted = match &query.through {
                Through::Cheapest => true,
                Through::Except(names) => !names.contains(&spec.name),
                Through::Index(name) => *name == spec.name,
                Through::NoIndex => false,
            };
            if !admitted || !spec.unique || !spec.filter.is_empty() || index.state != IndexState::Ready {
                return false;
            }
            values.clear();
            // The paths of an index differ. If there are as many conditions, each path has one.
            spec.parts.len() == query.conditions.len()
                && spec.parts.iter().all(|part| {
                    let asked = query.conditions.iter().find(|condition| condition.path == part.path);
                    let value = asked.and_then(|condition| condition.values.one_value());
                    value.is_some_and(|value| encode_part(spec, part.direction, value.text(), &mut values).is_ok())
                })
        };
        let index = indexes.iter().position(fits)?;
        Some(Lookup::at(index, indexes.get(index)?, values))
    }

    fn at(index: usize, entry: &IndexEntry, values: Vec<u8>) -> Self {
        // The key that is looked up has the id after the values.
        let last = Vec::with_capacity(values.len() + ID_BYTES_USUAL);
        Lookup { index, tree: entry.tree, by_values: entry.by_values, values, last, answered: false, ended: false }
    }

    /// The id of the next document.
    pub(crate) fn next_id(&mut self, snapshot: &dyn Snapshot) -> Option<Result<&str>> {
        // The look-up ends unless a row is found.
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        let found = if self.last.is_empty() { self.first(snapshot) } else { self.step(snapshot) };
        match found {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return Some(Err(error)),
        }
        let id = self.last.strip_prefix(self.values.as_slice()).and_then(|id| std::str::from_utf8(id).ok());
        Some(id.ok_or_else(damaged))
    }

    /// Reads the first row. An index of an older version has all of it in the key.
    fn first(&mut self, snapshot: &dyn Snapshot) -> Result<bool> {
        if !self.by_values {
            let found = snapshot.first_key(self.tree, &self.values, &mut self.last)?;
            self.ended = !found;
            return Ok(found);
        }
        let Some(value) = snapshot.get(self.tree, &self.values)? else { return Ok(false) };
        let RowRead { id, others, .. } = RowRead::at_values(&self.values, &value).ok_or_else(damaged)?;
        self.last.extend_from_slice(&self.values);
        self.last.extend_from_slice(id.as_bytes());
        self.ended = !others;
        Ok(true)
    }

    /// Moves on to the next row.
    fn step(&mut self, snapshot: &dyn Snapshot) -> Result<bool> {
        // The row at the values alone names the document with the least id, so the other rows lie behind it.
        let behind = KeyRange { start: Bound::Excluded(self.last.clone()), ..KeyRange::prefix(self.values.as_slice()) };
        let row = snapshot.range(self.tree, &behind, Direction::Forward).next().transpose()?;
        if let Some(row) = &row {
            self.last.clear();
            self.last.extend_from_slice(&row.key);
        }
        self.ended = row.is_none();
        Ok(row.is_some())
    }

    /// The place of the document that was answered last.
    pub(crate) fn place(&self) -> Option<Place> {
        self.answered.then(|| Place::Index(self.tree, self.last.clone()))
    }
}

impl CollectionAt {
    /// The document that has these values in a unique index, one value for each path of the index. This is the fastest
    /// way to a document by a value. `None` if no document has the values. If replication has brought several documents
    /// with these values, the one with the least id is answered; [`CollectionAt::find`] answers all.
    ///
    /// # Errors
    /// [`Error::IndexNotUsable`] if there is no such index, or it is not unique, not built yet, or on another number of
    /// paths.
    pub fn get_by(&self, index: &str, values: &[Literal]) -> Result<Option<Document<'static>>> {
        match &self.entry {
            Some(entry) => entry.by_values(&*self.snapshot, index, values, |document| Ok(document.into_owned())),
            None => Ok(None),
        }
    }
}

impl CollectionEntry {
    /// The first document, in the order of ids, that has these values in a unique index, seen through `see`.
    pub(crate) fn by_values<T>(
        &self,
        snapshot: &dyn Snapshot,
        name: &str,
        values: &[Literal],
        see: impl FnOnce(Document<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let place = self.indexes.iter().position(|index| index.spec.name == name);
        let Some((place, index)) = place.and_then(|place| Some((place, self.indexes.get(place)?))) else {
            return Err(not_usable(name, "the collection has no index of that name".to_owned()));
        };
        let spec = &index.spec;
        if !spec.unique {
            return Err(not_usable(name, "it is not unique, so a value may be many documents'; use find".to_owned()));
        }
        if index.state != IndexState::Ready {
            return Err(not_usable(name, "it is still being built".to_owned()));
        }
        if spec.parts.len() != values.len() {
            let why = format!("it is on {} paths, and {} values were given", spec.parts.len(), values.len());
            return Err(not_usable(name, why));
        }
        let mut key = Vec::with_capacity(values.iter().map(|value| 3 * value.text().len() + ID_BYTES_USUAL).sum());
        for (part, value) in spec.parts.iter().zip(values) {
            encode_part(spec, part.direction, value.text(), &mut key)?;
        }
        if index.by_values {
            let Some(row) = snapshot.get(index.tree, &key)? else { return Ok(None) };
            let RowRead { id, .. } = RowRead::at_values(&key, &row).ok_or_else(damaged)?;
            return see(read_indexed(snapshot, self.documents, id)?).map(Some);
        }
        let mut lookup = Lookup::at(place, index, key);
        let Some(id) = lookup.next_id(snapshot) else { return Ok(None) };
        see(read_indexed(snapshot, self.documents, id?)?).map(Some)
    }
}

/// A document that an index of the same snapshot names.
pub(crate) fn read_indexed<'s>(snapshot: &'s dyn Snapshot, documents: TreeId, id: &'s str) -> Result<Document<'s>> {
    match read_document(snapshot, documents, Cow::Borrowed(id))? {
        Some(document) if !document.deleted => Ok(document),
        _ => Err(Error::DamagedRow {
            what: format!("an index entry of document {id:?}"),
            why: "there is no such document; drop the index and create it again",
        }),
    }
}

fn not_usable(index: &str, why: String) -> Error {
    Error::IndexNotUsable { index: index.to_owned(), why }
}

fn damaged() -> Error {
    Error::DamagedRow {
        what: "a row of a unique index".to_owned(),
        why: "it is not values and an id; drop the index and create it again",
    }
}
