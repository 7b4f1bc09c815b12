//! Groups of all documents from the rows of one index, which has all of the values. Rows are lent by the engine, their
//! values stay keys, and no document is read.

use crate::engine::{Direction, KeyRange};
use crate::kernel::query::field::Field;
use crate::kernel::query::groups::Groups;
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::catalogue::IndexEntry;
use crate::kernel::rows::index_keys::{Damaged, is_absent, part_ends, row_texts};
use crate::kernel::rows::index_rows::RowRead;
use recension_values::collation::Collation;
use recension_values::error::{Error, Result};
use recension_values::json::Path;

/// The values of a row, by the parts of its index.
enum Values<'r> {
    Keys {
        key: &'r [u8],
        ends: &'r [usize],
    },
    /// A value that the document does not have is empty.
    Texts(Vec<String>),
}

impl Values<'_> {
    fn field(&self, part: Option<usize>) -> Field<'_> {
        let Some(part) = part else { return Field::Absent };
        match self {
            Values::Keys { key, ends } => {
                let start = part.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
                let value = ends.get(part).and_then(|end| key.get(start..*end)).unwrap_or_default();
                if part > 0 && is_absent(value) { Field::Absent } else { Field::Key(value) }
            }
            Values::Texts(texts) => Field::of(texts.get(part).map(String::as_str).filter(|text| !text.is_empty())),
        }
    }
}

impl CollectionAt {
    /// Adds all rows of an index to groups, but those of ids that begin with `left_out`. `by` and `folded` are the
    /// paths of the groups and those of their folds, all of which are parts of the index. Returns how many rows there
    /// were; `None` if only documents have the values of some, and the groups are then of no use.
    pub(super) fn group_index(
        &self,
        index: &IndexEntry,
        (by, folded): (&[&Path], &[Option<&Path>]),
        (collation, left_out): (Collation, Option<&str>),
        groups: &mut Groups<'_>,
    ) -> Result<Option<u64>> {
        let spec = &index.spec;
        let part_of = |path: &Path| spec.parts.iter().position(|part| part.path == *path);
        let by: Vec<Option<usize>> = by.iter().map(|path| part_of(path)).collect();
        let folded: Vec<Option<usize>> = folded.iter().map(|path| path.and_then(part_of)).collect();
        let as_asked =
            spec.collation == collation && spec.parts.iter().all(|part| part.direction == Direction::Forward);
        let damaged = || Error::DamagedRow {
            what: format!("a row of index {}", spec.name),
            why: "it is not values and an id; drop the index and create it again",
        };
        let (mut ends, mut rows) = (Vec::with_capacity(spec.parts.len()), 0);
        let mut add = |key: &[u8], value: &[u8]| -> Result<bool> {
            part_ends(spec, key, &mut ends);
            let values_len = ends.get(spec.parts.len().saturating_sub(1)).copied().ok_or_else(damaged)?;
            let (values, mut id) = key.split_at_checked(values_len).ok_or_else(damaged)?;
            let mut texts = value;
            if id.is_empty() {
                let row = RowRead::at_values(values, value).filter(|_| index.by_values).ok_or_else(damaged)?;
                (id, texts) = (row.id.as_bytes(), row.texts);
            }
            if left_out.is_some_and(|prefix| id.starts_with(prefix.as_bytes())) {
                return Ok(true);
            }
            let values = if as_asked && texts.is_empty() {
                Values::Keys { key, ends: &ends }
            } else {
                match row_texts(spec, values, texts).map_err(|Damaged| damaged())? {
                    Some(texts) => Values::Texts(texts),
                    None => return Ok(false),
                }
            };
            rows += 1;
            groups.push(by.iter().map(|part| values.field(*part)), folded.iter().map(|part| values.field(*part)))?;
            Ok(true)
        };
        let mut ended = Ok(true);
        self.snapshot.each_row(index.tree, &KeyRange::all(), Direction::Forward, &mut |key, value| {
            ended = add(key, value);
            matches!(ended, Ok(true))
        })?;
        Ok(ended?.then_some(rows))
    }
}
