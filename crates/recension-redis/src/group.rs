//! Keys whose values are rows: lists, sets, sorted sets and hashes. The key's row says what they are and how many; each
//! element, member or field is a row of its own, so that a command costs what it touches. docs/documents-format.md has
//! the bytes. Who changes rows saves the group, so that a watcher of the key sees it.

use std::ops::Bound;

use recension::engine::Direction;
use recension::{KeyRows, KeyValue, SetOptions};

use crate::data::{Data, Refusal, refuse, wrong_type};
use crate::limits::MEMBER_BYTES_MAX;

/// The type of a key whose value is rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    List = 1,
    Set = 2,
    SortedSet = 3,
    Hash = 4,
}

impl Kind {
    pub(crate) fn of(rows: &KeyRows) -> Option<Self> {
        [Kind::List, Kind::Set, Kind::SortedSet, Kind::Hash].into_iter().find(|kind| *kind as u8 == rows.kind)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::List => "list",
            Kind::Set => "set",
            Kind::SortedSet => "zset",
            Kind::Hash => "hash",
        }
    }
}

/// All rows, or those within bounds.
pub(crate) type Bounds<'b> = (Bound<&'b [u8]>, Bound<&'b [u8]>);

pub(crate) const ALL: Bounds<'static> = (Bound::Unbounded, Bound::Unbounded);

/// A key's rows.
pub(crate) struct Group<'d> {
    data: &'d Data<'d>,
    rows: KeyRows,
    /// How many elements, members or fields there are.
    pub(crate) count: u64,
    /// Of a list: the place of its first element.
    pub(crate) first: i64,
    is_stored: bool,
}

impl<'d> Group<'d> {
    /// The rows of a key; `None` if there is no such key.
    pub(crate) fn open(data: &'d Data<'d>, key: &[u8], kind: Kind) -> Result<Option<Self>, Refusal> {
        let Some(entry) = data.keys.entry(key)? else {
            return if data.document(key)?.is_some() { Err(wrong_type()) } else { Ok(None) };
        };
        match entry.value {
            KeyValue::Rows(rows) if Kind::of(&rows) == Some(kind) => Self::read(data, rows).map(Some),
            _ => Err(wrong_type()),
        }
    }

    pub(crate) fn read(data: &'d Data<'d>, rows: KeyRows) -> Result<Self, Refusal> {
        let numbers = || {
            let (count, rest) = rows.about.split_first_chunk()?;
            let first = if rest.is_empty() { 0 } else { i64::from_be_bytes(rest.try_into().ok()?) };
            Some((u64::from_be_bytes(*count), first))
        };
        let (count, first) = numbers().ok_or_else(|| refuse("the key's row is damaged; run recension verify"))?;
        Ok(Group { data, rows, count, first, is_stored: true })
    }

    pub(crate) fn open_or_new(data: &'d Data<'d>, key: &[u8], kind: Kind) -> Result<Self, Refusal> {
        match Self::open(data, key, kind)? {
            Some(group) => Ok(group),
            None => Self::new(data, kind),
        }
    }

    /// One that replaces whatever a key holds, once it is saved.
    pub(crate) fn new(data: &'d Data<'d>, kind: Kind) -> Result<Self, Refusal> {
        let rows = KeyRows::new(kind as u8, Vec::new())?;
        Ok(Group { data, rows, count: 0, first: 0, is_stored: false })
    }

    /// Counts an item of the command's reply before it is kept.
    pub(crate) fn gather(&self, bytes: usize) -> Result<(), Refusal> {
        self.data.gather(bytes)
    }

    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.count).unwrap_or(usize::MAX)
    }

    pub(crate) fn get(&self, row: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
        Ok(self.data.keys.row(&self.rows, row)?)
    }

    pub(crate) fn put(&self, row: &[u8], value: Vec<u8>) -> Result<(), Refusal> {
        if row.len() > MEMBER_BYTES_MAX + 16 {
            return Err(refuse("a member or field is at most 8000 bytes long"));
        }
        Ok(self.data.keys.put_row(&self.rows, row, value)?)
    }

    pub(crate) fn delete(&self, row: &[u8]) {
        self.data.keys.delete_row(&self.rows, row);
    }

    /// Rows in their order, or the other way round.
    pub(crate) fn rows(
        &self,
        bounds: Bounds<'_>,
        direction: Direction,
    ) -> impl Iterator<Item = Result<(Vec<u8>, Vec<u8>), Refusal>> + use<'d> {
        self.data.keys.rows(&self.rows, bounds, direction).map(|row| row.map_err(Refusal::from))
    }

    /// Writes the key's row; one without elements is deleted. The expiry stays as it was.
    pub(crate) fn save(mut self, key: &[u8]) -> Result<(), Refusal> {
        if self.count == 0 {
            if self.is_stored {
                self.data.keys.detach(key)?;
                self.data.removed(key);
            }
            return Ok(());
        }
        self.rows.about = self.count.to_be_bytes().to_vec();
        if Kind::of(&self.rows) == Some(Kind::List) {
            self.rows.about.extend(self.first.to_be_bytes());
        }
        self.data.keys.set_with(key, KeyValue::Rows(self.rows), &SetOptions::new().keep_existing())?;
        Ok(())
    }

    /// Writes it as the new value of a key, whatever that held, without expiry; returns how many it has.
    pub(crate) fn save_as(self, key: &[u8]) -> Result<u64, Refusal> {
        let count = self.count;
        self.data.delete(key)?;
        self.save(key)?;
        Ok(count)
    }

    /// The same rows as a new group, which may be in another database.
    pub(crate) fn copied_to<'t>(&self, data: &'t Data<'t>) -> Result<Group<'t>, Refusal> {
        let rows = KeyRows::new(self.rows.kind, Vec::new())?;
        let copy = Group { data, rows, is_stored: false, count: self.count, first: self.first };
        for row in self.rows(ALL, Direction::Forward) {
            let (row, value) = row?;
            copy.put(&row, value)?;
        }
        Ok(copy)
    }
}
