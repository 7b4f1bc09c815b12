//! The place of an index's rows. Most indexes have a row at values and id for each document. A unique index has a row
//! at the values alone, which names its document, so that one key finds or refuses a value. If replication brings
//! documents with equal values, the one with the least id has that row, and the others have rows at values and id
//! behind it. Layout: docs/documents-format.md, "Trees of indexes".

use std::borrow::Cow;
use std::ops::Bound;

use crate::engine::{Direction, KeyRange, Snapshot, TreeId};
use crate::kernel::rows::catalogue::IndexEntry;
use crate::kernel::rows::index_keys::{Counted, IndexRow, after_prefix, row_texts, values_of};
use crate::kernel::rows::word_rows::{COUNTERS_KEY, Tally};
use recension_values::byte_reader::ByteReader;
use recension_values::error::{Error, Result};
use recension_values::index_spec::IndexSpec;
use recension_values::model::IndexState;

/// Flag of a row at the values alone: there may be rows of other documents behind it.
const OTHERS: u8 = 1;

/// A row of an index that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowRead<'r> {
    /// The encoded values.
    pub(crate) values: &'r [u8],
    pub(crate) id: &'r str,
    /// As [`IndexRow::value`].
    pub(crate) texts: &'r [u8],
    /// Rows of other documents with these values may follow.
    pub(crate) others: bool,
    /// The document lacks one of the values.
    pub(crate) lacks_one: bool,
}

impl<'r> RowRead<'r> {
    /// Reads a row; `None` if it is damaged.
    pub(crate) fn of(index: &IndexEntry, key: &'r [u8], value: &'r [u8]) -> Option<Self> {
        let (length, lacks_one) = values_of(&index.spec, key)?;
        let (values, id) = key.split_at_checked(length)?;
        if id.is_empty() {
            return Self::at_values(values, value).filter(|_| index.by_values);
        }
        Some(RowRead { values, id: std::str::from_utf8(id).ok()?, texts: value, others: true, lacks_one })
    }

    /// Reads the row at the values alone.
    pub(crate) fn at_values(values: &'r [u8], value: &'r [u8]) -> Option<Self> {
        let mut reader = ByteReader::new(value);
        let flags = reader.byte().filter(|flags| flags & !OTHERS == 0)?;
        let length = reader.u16()?;
        let id = std::str::from_utf8(reader.take(usize::from(length))?).ok().filter(|id| !id.is_empty())?;
        let texts = value.get(1 + 2 + id.len()..)?;
        Some(RowRead { values, id, texts, others: flags & OTHERS != 0, lacks_one: false })
    }
}

/// The keys of an index whose value is `value`.
pub(crate) fn value_range(value: &[u8]) -> KeyRange {
    KeyRange { start: Bound::Included(value.to_vec()), end: after_prefix(value) }
}

pub(crate) fn not_unique(spec: &IndexSpec, row: &IndexRow, id: &str, holder: &str) -> Error {
    let texts = row_texts(spec, &row.key, &row.value).ok().flatten().unwrap_or_default();
    let value = texts.join(", ");
    let mut shown: String = value.chars().take(60).collect();
    if shown.len() < value.len() {
        shown.push('…');
    }
    Error::NotUnique { index: spec.name.clone(), value: shown, id: id.to_owned(), holder: Some(holder.to_owned()) }
}

fn damaged(index: &IndexEntry) -> Error {
    Error::DamagedRow {
        what: format!("a row of index {}", index.spec.name),
        why: "it is not values and an id; drop the index and create it again",
    }
}

/// A change of a row of an index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct IndexChange {
    pub(crate) tree: TreeId,
    pub(crate) key: Vec<u8>,
    pub(crate) to: To,
}

/// The new state of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum To {
    Value(Vec<u8>),
    Nothing,
    /// Amounts that are added to the counters.
    More(Tally),
}

/// The document that has the row at its values alone.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Holder<'h> {
    id: Cow<'h, str>,
    texts: Cow<'h, [u8]>,
    others: bool,
}

impl Holder<'_> {
    /// The value of its row at the values alone.
    fn value(&self) -> Vec<u8> {
        let mut value = Vec::with_capacity(1 + 2 + self.id.len() + self.texts.len());
        value.push(if self.others { OTHERS } else { 0 });
        value.extend((self.id.len() as u16).to_be_bytes());
        value.extend(self.id.as_bytes());
        value.extend(&*self.texts);
        value
    }
}

impl IndexEntry {
    fn holder(&self, snapshot: &dyn Snapshot, values: &[u8]) -> Result<Option<Holder<'static>>> {
        let Some(value) = snapshot.get(self.tree, values)? else { return Ok(None) };
        let RowRead { id, texts, others, .. } = RowRead::at_values(values, &value).ok_or_else(|| damaged(self))?;
        Ok(Some(Holder { id: Cow::Owned(id.to_owned()), texts: Cow::Owned(texts.to_vec()), others }))
    }

    /// The first document behind the row at the values alone.
    fn first_behind(&self, snapshot: &dyn Snapshot, values: &[u8]) -> Result<Option<Holder<'static>>> {
        let behind = KeyRange { start: Bound::Excluded(values.to_vec()), ..value_range(values) };
        let Some(row) = snapshot.range(self.tree, &behind, Direction::Forward).next().transpose()? else {
            return Ok(None);
        };
        let RowRead { id, texts, .. } = RowRead::of(self, &row.key, &row.value).ok_or_else(|| damaged(self))?;
        Ok(Some(Holder { id: Cow::Owned(id.to_owned()), texts: Cow::Owned(texts.to_vec()), others: true }))
    }

    /// Another document than `id` that has the values, if every row is at values and id.
    fn other_holder(&self, snapshot: &dyn Snapshot, values: &[u8], id: &str) -> Result<Option<String>> {
        for row in snapshot.range(self.tree, &value_range(values), Direction::Forward) {
            let row = row?;
            let other = row.key.get(values.len()..).unwrap_or_default();
            if other != id.as_bytes() {
                return Ok(Some(String::from_utf8_lossy(other).into_owned()));
            }
        }
        Ok(None)
    }

    /// Adds the changes for a document that gets a row, or another text in its row. `refusable`: it is an error if the
    /// index is unique and another document has the values.
    pub(crate) fn add(
        &self,
        snapshot: &dyn Snapshot,
        row: IndexRow,
        id: &str,
        refusable: bool,
        changes: &mut Vec<IndexChange>,
    ) -> Result<()> {
        let refusable = refusable && self.spec.unique;
        let held_by = |row: &IndexRow, holder: &str| Err(not_unique(&self.spec, row, id, holder));
        if !self.by_values {
            if refusable && let Some(holder) = self.other_holder(snapshot, &row.key, id)? {
                return held_by(&row, &holder);
            }
            changes.push(self.put_behind(&row.key, id, row.value));
            return Ok(());
        }
        let mut own = Holder { id: Cow::Borrowed(id), texts: Cow::Borrowed(&row.value), others: false };
        match self.holder(snapshot, &row.key)? {
            Some(holder) if holder.id != own.id && refusable => return held_by(&row, &holder.id),
            Some(mut holder) if holder.id != own.id => {
                let alone = !std::mem::replace(&mut holder.others, true);
                if own.id < holder.id {
                    own.others = true;
                    let behind = self.put_behind(&row.key, &holder.id, holder.texts.into_owned());
                    let value = own.value();
                    changes.extend([self.put(row.key, value), behind]);
                } else {
                    changes.push(self.put_behind(&row.key, id, row.value));
                    changes.extend(alone.then(|| self.put(row.key, holder.value())));
                }
            }
            before => {
                own.others = before.is_some_and(|own| own.others);
                if refusable
                    && own.others
                    && let Some(other) = self.first_behind(snapshot, &row.key)?
                {
                    return held_by(&row, &other.id);
                }
                let value = own.value();
                changes.push(self.put(row.key, value));
            }
        }
        Ok(())
    }

    /// Adds the changes for a document that loses a row.
    pub(crate) fn remove(
        &self,
        snapshot: &dyn Snapshot,
        values: Vec<u8>,
        id: &str,
        changes: &mut Vec<IndexChange>,
    ) -> Result<()> {
        let delete = |key: Vec<u8>| IndexChange { tree: self.tree, key, to: To::Nothing };
        let behind = |id: &str| delete([&values, id.as_bytes()].concat());
        let holder = if self.by_values { self.holder(snapshot, &values)? } else { None };
        let Some(holder) = holder.filter(|holder| holder.id == id) else {
            changes.push(behind(id));
            return Ok(());
        };
        // The next document takes its place.
        let next = if holder.others { self.first_behind(snapshot, &values)? } else { None };
        match next {
            Some(next) => {
                let behind = behind(&next.id);
                changes.extend([self.put(values, next.value()), behind]);
            }
            None => changes.push(delete(values)),
        }
        Ok(())
    }

    /// Adds the changes of the counters of an index of words.
    pub(crate) fn count(
        &self,
        snapshot: &dyn Snapshot,
        counted: Counted,
        id: &str,
        changes: &mut Vec<IndexChange>,
    ) -> Result<()> {
        let Counted { first, mut before, after } = counted;
        if self.state == IndexState::Building
            && let Some(first) = first
            && snapshot.get(self.tree, &[&first, id.as_bytes()].concat())?.is_none()
        {
            // The build has not reached the document yet.
            before = [0, 0];
        }
        let more = [after[0] - before[0], after[1] - before[1]];
        if more != [0, 0] {
            changes.push(IndexChange { tree: self.tree, key: COUNTERS_KEY.to_vec(), to: To::More(more) });
        }
        Ok(())
    }

    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> IndexChange {
        IndexChange { tree: self.tree, key, to: To::Value(value) }
    }

    /// A row at values and id.
    fn put_behind(&self, values: &[u8], id: &str, texts: Vec<u8>) -> IndexChange {
        self.put([values, id.as_bytes()].concat(), texts)
    }

    /// Whether a document has a row, with its texts.
    pub(crate) fn has(&self, snapshot: &dyn Snapshot, row: &IndexRow, id: &str) -> Result<bool> {
        if self.by_values
            && let Some(holder) = self.holder(snapshot, &row.key)?
        {
            if holder.id == id {
                return Ok(*holder.texts == row.value);
            }
            if &*holder.id > id || !holder.others {
                return Ok(false);
            }
        }
        let behind = [&row.key, id.as_bytes()].concat();
        Ok(snapshot.get(self.tree, &behind)?.as_deref() == Some(&row.value[..]))
    }
}
