//! Carrying out a query: choosing an index or a scan, reading, filtering, sorting. One snapshot throughout.

use std::borrow::Cow;
use std::sync::Arc;

use super::apply::id_in_key;
use super::catalogue::{CollectionEntry, IndexEntry, IndexState};
use super::collation::encode_value;
use super::json::Path;
use super::limits::SORT_BYTES_MAX;
use super::reader::{OwnedRows, document_of, id_of, read_document};
use super::stored;
use super::{CollectionAt, Document, Error, Plan, Query, Result, ValueRange};
use crate::engine::{Direction, KeyRange, Snapshot, TreeId};

/// The documents that a query asked for, one at a time. It ends after its first error.
pub struct Found {
    plan: Plan,
    skip: usize,
    left: usize,
    source: Source,
}

enum Source {
    Nothing,
    Stream(Stream),
    /// The ids of the documents in their order, least at the end.
    Sorted {
        snapshot: Arc<dyn Snapshot>,
        documents: TreeId,
        ids: Vec<String>,
    },
}

/// Documents in the order of an index or of their ids.
struct Stream {
    snapshot: Arc<dyn Snapshot>,
    documents: TreeId,
    rows: OwnedRows,
    /// The rows are those of an index.
    by_index: bool,
    /// What remains to be checked on each document.
    conditions: Vec<(Path, ValueRange)>,
    /// The path that must be there.
    present: Option<Path>,
}

pub(super) fn find(collection: &CollectionAt, query: &Query) -> Result<Found> {
    let left = query.limit.unwrap_or(usize::MAX);
    let Some(entry) = &collection.entry else {
        return Ok(Found { plan: Plan::Scan { sorts: false }, skip: 0, left, source: Source::Nothing });
    };
    let snapshot = collection.snapshot.clone();
    let index = choose(entry, query);
    let sort = query.sort.as_ref();
    let sorted_by_index = sort.is_none_or(|(path, _)| index.is_some_and(|index| index.spec.path == *path));
    let direction = sort.filter(|_| sorted_by_index).map_or(Direction::Forward, |(_, direction)| *direction);
    let stream = |rows, by_index| Stream {
        snapshot: snapshot.clone(),
        documents: entry.documents,
        rows,
        by_index,
        conditions: query
            .conditions
            .iter()
            .filter(|(path, _)| index.is_none_or(|index| index.spec.path != *path))
            .cloned()
            .collect(),
        present: sort.map(|(path, _)| path.clone()),
    };
    let (plan, mut stream) = match index {
        Some(index) => {
            let range = query.conditions.iter().find(|(path, _)| *path == index.spec.path);
            let keys = range.map_or_else(KeyRange::all, |(_, range)| range.index_keys());
            let rows = OwnedRows::of(snapshot.clone(), index.tree, &keys, direction);
            (Plan::Index { name: index.spec.name.clone(), sorts: !sorted_by_index }, stream(rows, true))
        }
        None => {
            let rows = OwnedRows::of(snapshot.clone(), entry.documents, &KeyRange::all(), direction);
            (Plan::Scan { sorts: !sorted_by_index }, stream(rows, false))
        }
    };
    let source = match sort {
        Some((path, direction)) if !sorted_by_index => {
            let ids = stream.sorted(path, *direction, query.limit.map(|limit| limit.saturating_add(query.skip)))?;
            Source::Sorted { snapshot, documents: entry.documents, ids }
        }
        _ => {
            if sorted_by_index && index.is_some() {
                stream.present = None;
            }
            Source::Stream(stream)
        }
    };
    Ok(Found { plan, skip: query.skip, left, source })
}

/// The index to go by: one that gives the order and a condition, else one for an equality, else one that
/// gives the order, else one for a range.
fn choose<'e>(entry: &'e CollectionEntry, query: &Query) -> Option<&'e IndexEntry> {
    let ready = |path: &Path| {
        let mut on_path =
            entry.indexes.iter().filter(|index| index.state == IndexState::Ready && index.spec.path == *path);
        let first = on_path.next()?;
        Some(on_path.find(|index| index.spec.unique).unwrap_or(first))
    };
    let sort = query.sort.as_ref().map(|(path, _)| path);
    let equal = query.conditions.iter().filter(|(_, range)| range.is_one_value()).find_map(|(path, _)| ready(path));
    let ranged = || query.conditions.iter().find_map(|(path, _)| ready(path));
    match sort.and_then(ready) {
        Some(index) if query.conditions.iter().any(|(path, _)| *path == index.spec.path) => Some(index),
        Some(index) => equal.or(Some(index)),
        None => equal.or_else(ranged),
    }
}

impl Found {
    /// The way in which the documents are found.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

impl Iterator for Found {
    type Item = Result<Document<'static>>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            let next = match &mut self.source {
                Source::Nothing => None,
                Source::Stream(stream) => stream.next_match(),
                Source::Sorted { snapshot, documents, ids } => {
                    ids.pop().map(|id| read_indexed(&**snapshot, *documents, &id))
                }
            };
            match next? {
                Ok(_) if self.skip > 0 => self.skip -= 1,
                Ok(document) => {
                    self.left -= 1;
                    return Some(Ok(document));
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

impl Stream {
    fn next_match(&mut self) -> Option<Result<Document<'static>>> {
        loop {
            let by_index = self.by_index;
            let (snapshot, documents) = (&self.snapshot, self.documents);
            let (conditions, present) = (&self.conditions, self.present.as_ref());
            let next = self.rows.next_with(|row| {
                if by_index {
                    let id = id_in_key(&row.key).ok_or_else(|| Error::DamagedRow {
                        what: "a key of an index".to_owned(),
                        why: "it is not a value and an id",
                    })?;
                    let document = read_indexed(&**snapshot, documents, id)?;
                    return Ok(Some(document).filter(|document| matches(conditions, present, &document.body)));
                }
                let head = stored::decode(&row.value, &row.key)?;
                let body = std::str::from_utf8(&row.value[..head.body_len]).unwrap_or_default();
                if head.deleted || !matches(conditions, present, body) {
                    return Ok(None);
                }
                Ok(Some(document_of(id_of(row.key)?, row.value)?.into_owned()))
            });
            match next? {
                Ok(None) => {}
                Ok(Some(document)) => return Some(Ok(document)),
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// The ids of the matching documents, in the order of their values at `path`, last first.
    fn sorted(&mut self, path: &Path, direction: Direction, limit: Option<usize>) -> Result<Vec<String>> {
        let mut found: Vec<(Vec<u8>, String)> = Vec::new();
        let mut held_bytes = 0;
        while let Some(document) = self.next_match() {
            let document = document?;
            let mut key = Vec::new();
            encode_value(path.find(&document.body).unwrap_or("null"), &mut key)?;
            held_bytes += key.len() + document.id.len() + size_of::<(Vec<u8>, String)>();
            found.push((key, document.id.into_owned()));
            if let Some(limit) = limit
                && found.len() >= limit.saturating_mul(2).saturating_add(1000)
            {
                order(&mut found, direction);
                found.truncate(limit);
                held_bytes = found.iter().map(|(key, id)| key.len() + id.len()).sum();
            }
            if held_bytes > SORT_BYTES_MAX {
                return Err(Error::SortTooLarge { path: path.to_string(), max: SORT_BYTES_MAX });
            }
        }
        order(&mut found, direction);
        Ok(found.into_iter().rev().map(|(_, id)| id).collect())
    }
}

fn order(found: &mut [(Vec<u8>, String)], direction: Direction) {
    match direction {
        Direction::Forward => found.sort_unstable(),
        Direction::Backward => found.sort_unstable_by(|a, b| b.cmp(a)),
    }
}

fn matches(conditions: &[(Path, ValueRange)], present: Option<&Path>, body: &str) -> bool {
    let mut key = Vec::new();
    present.is_none_or(|path| path.find(body).is_some())
        && conditions.iter().all(|(path, range)| {
            key.clear();
            path.find(body).is_some_and(|value| encode_value(value, &mut key).is_ok() && range.contains(&key))
        })
}

/// A document that an index of the same snapshot names.
fn read_indexed(snapshot: &dyn Snapshot, documents: TreeId, id: &str) -> Result<Document<'static>> {
    match read_document(snapshot, documents, Cow::Borrowed(id))? {
        Some(document) if !document.deleted => Ok(document.into_owned()),
        _ => Err(Error::DamagedRow {
            what: format!("an index entry of document {id:?}"),
            why: "there is no such document; drop the index and create it again",
        }),
    }
}
