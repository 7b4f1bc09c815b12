//! Reading the index of access: the documents that have any of some values, in the order of commits or of ids. What is
//! found is what may be meant, and is to be tested: the index knows values and no rules.

use std::cmp::Ordering;
use std::ops::Bound;

use crate::engine::{Direction, EngineError, Seq};
use crate::kernel::read::reader::{CollectionAt, OwnedRows, afresh};
use crate::kernel::rows::access_rows::{
    AccessEntry, BY_ID, BY_SEQ, EVERY, SINCE_KEY, behind_mark, by_id, is_lost, mark_of, rows_of,
};
use recension_values::access::AccessMarks;
use recension_values::error::{Error, Result};
use recension_values::json::Path;
use recension_values::limits::ACCESS_ASKED_MAX;
use recension_values::model::IndexState;
use recension_values::position::Position;

/// The index of access of a collection at a moment.
pub struct AccessAt {
    at: CollectionAt,
    entry: AccessEntry,
    since: Seq,
}

impl CollectionAt {
    /// The index of access; `None` if there is none, it is not whole yet, or it is not kept for so long ago.
    pub fn access(&self) -> Result<Option<AccessAt>> {
        let Some(access) = self.entry.as_ref().and_then(|entry| entry.access.as_ref()) else { return Ok(None) };
        if access.state != IndexState::Ready {
            return Ok(None);
        }
        match self.snapshot.get(access.tree, SINCE_KEY) {
            Ok(Some(row)) => Ok(Some(AccessAt { at: self.clone(), entry: access.clone(), since: row.seq })),
            Ok(None) | Err(EngineError::Forgotten { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl AccessAt {
    /// The commit from which on it is told which documents lost a value.
    pub fn since(&self) -> Seq {
        self.since
    }

    /// Values, as JSON texts, at paths; `None` if one of the paths is not in the index, or they are too many.
    pub fn marks<'v>(&self, values: impl IntoIterator<Item = (&'v Path, &'v str)>) -> Option<AccessMarks> {
        let mut marks = vec![EVERY.to_vec()];
        for (path, text) in values {
            let place = self.entry.paths().iter().position(|known| known == path)?;
            // What has no mark of its own is found by that of every value.
            marks.extend(mark_of(place, text));
        }
        marks.sort_unstable();
        marks.dedup();
        (marks.len() <= ACCESS_ASKED_MAX).then(|| AccessMarks { tree: self.entry.tree, marks: marks.into() })
    }

    /// Whether values are of this index, and not of one that was there before or came later.
    pub fn serves(&self, marks: &AccessMarks) -> bool {
        marks.tree == self.entry.tree
    }

    /// Whether it is on a path.
    pub fn has(&self, path: &Path) -> bool {
        self.entry.paths().contains(path)
    }

    /// The documents that have, or had, one of the values, each once, in the order of the commits that wrote them last
    /// or took the values from them.
    pub fn changes(&self, marks: &AccessMarks, after: &Position) -> Result<AccessChanges> {
        let start = match &after.within {
            Some((_, id)) => Bound::Excluded([&after.seq.0.to_be_bytes()[..], id.as_bytes()].concat()),
            None => match after.seq.0.checked_add(1) {
                Some(next) => Bound::Included(next.to_be_bytes().to_vec()),
                None => Bound::Excluded(vec![0xff; 8]),
            },
        };
        let streams = self.streams(BY_SEQ, marks, &start, &Bound::Unbounded, Direction::Forward)?;
        let (at, tree, marks) = (self.at.clone(), self.entry.clone(), marks.clone());
        Ok(AccessChanges { merged: streams, at, entry: tree, marks })
    }

    /// The ids of the documents that have one of the values, in order.
    pub fn ids(
        &self,
        marks: &AccessMarks,
        start: Bound<&str>,
        end: Bound<&str>,
        direction: Direction,
    ) -> Result<AccessIds> {
        let bytes = |bound: Bound<&str>| bound.map(|id| id.as_bytes().to_vec());
        self.streams(BY_ID, marks, &bytes(start), &bytes(end), direction).map(AccessIds)
    }

    fn streams(
        &self,
        kind: u8,
        marks: &AccessMarks,
        start: &Bound<Vec<u8>>,
        end: &Bound<Vec<u8>>,
        direction: Direction,
    ) -> Result<Merged> {
        let snapshot = afresh(&self.at.snapshot);
        let streams = marks.marks.iter().filter(|_| self.serves(marks)).map(|mark| {
            let range = rows_of(kind, mark, start.clone(), end.clone());
            let mut rows = OwnedRows::of(snapshot.clone(), self.entry.tree, &range, direction);
            Ok(Stream { head: next(&mut rows)?, rows })
        });
        Ok(Merged { streams: streams.collect::<Result<_>>()?, direction })
    }
}

/// The rows of one mark.
struct Stream {
    head: Option<Head>,
    rows: OwnedRows,
}

/// What stands behind the mark in a key, and whether the mark is lost.
type Head = (Vec<u8>, bool);

fn next(rows: &mut OwnedRows) -> Result<Option<Head>> {
    let read = |row: crate::engine::Row<'_>| {
        let behind = behind_mark(&row.key).map(<[u8]>::to_vec).ok_or_else(damaged)?;
        Ok((behind, is_lost(&row.value)))
    };
    rows.next_with(read).transpose()
}

fn damaged() -> Error {
    Error::DamagedRow { what: "a row of the index of access".to_owned(), why: "it does not read" }
}

/// Rows of several marks in one order.
struct Merged {
    streams: Vec<Stream>,
    direction: Direction,
}

impl Merged {
    /// The next place, and whether no mark has it any more.
    fn next_place(&mut self) -> Result<Option<Head>> {
        let (direction, heads) = (self.direction, self.streams.iter().filter_map(|stream| stream.head.as_ref()));
        let before = |a: &[u8], b: &[u8]| match direction {
            Direction::Forward => a.cmp(b),
            Direction::Backward => b.cmp(a),
        };
        let Some(least) = heads.map(|(place, _)| place).min_by(|a, b| before(a, b)).cloned() else { return Ok(None) };
        let mut all_lost = true;
        for stream in &mut self.streams {
            if let Some((place, lost)) = &stream.head
                && place.cmp(&least) == Ordering::Equal
            {
                all_lost &= *lost;
                stream.head = next(&mut stream.rows)?;
            }
        }
        Ok(Some((least, all_lost)))
    }
}

/// Documents of an index of access in the order of commits.
pub struct AccessChanges {
    merged: Merged,
    at: CollectionAt,
    entry: AccessEntry,
    marks: AccessMarks,
}

impl AccessChanges {
    fn step(&mut self) -> Result<Option<(String, Position)>> {
        while let Some((place, lost)) = self.merged.next_place()? {
            let (seq, id) = place.split_first_chunk().ok_or_else(damaged)?;
            let seq = Seq(u64::from_be_bytes(*seq));
            let id = std::str::from_utf8(id).map_err(|_| damaged())?.to_owned();
            if !lost || !self.comes_later(&id, seq)? {
                let position = Position { seq, within: Some((self.at.name.to_string(), id.clone())) };
                return Ok(Some((id, position)));
            }
        }
        Ok(None)
    }

    /// Whether a document that lost a mark has another one, or lost it later.
    fn comes_later(&self, id: &str, lost: Seq) -> Result<bool> {
        for mark in self.marks.marks.iter() {
            if let Some(row) = self.at.snapshot.get(self.entry.tree, &by_id(mark, id))?
                && (!is_lost(&row.bytes) || row.seq > lost)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Iterator for AccessChanges {
    /// The id, and the position of a feed that has answered it.
    type Item = Result<(String, Position)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}

/// Ids of an index of access.
pub struct AccessIds(Merged);

impl Iterator for AccessIds {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.0.next_place() {
                Ok(Some((_, true))) => {}
                Ok(Some((id, false))) => return Some(String::from_utf8(id).map_err(|_| damaged())),
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
