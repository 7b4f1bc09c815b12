//! Groups of documents from the rows of one index, which has all of the values. Rows are lent by the engine, their
//! values stay keys, and no document is read but those whose rows do not tell a value.

use crate::engine::{Direction, KeyRange};
use crate::kernel::query::aggregate::value_at;
use crate::kernel::query::field::Field;
use crate::kernel::query::groups::Groups;
use crate::kernel::query::lookup::read_indexed;
use crate::kernel::query::planner::{Planner, Resume, Want};
use crate::kernel::query::row_reader::{Covered, damaged_row};
use crate::kernel::query::stream::Stream;
use crate::kernel::query::way::Way;
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::index_keys::{Damaged, is_absent, row_texts};
use crate::kernel::rows::index_texts::{OwnText, own_text};
use recension_values::collation::Collation;
use recension_values::error::Result;
use recension_values::index_spec::IndexSpec;
use recension_values::json::Path;
use recension_values::limits::INDEX_PARTS_MAX;
use recension_values::query::Query;

/// So many documents may be read before it counts which part of the rows they are, and the part that is worth it.
const DOCUMENTS_FREE: u64 = 1000;
const DOCUMENTS_PART: u64 = 8;

/// What is asked of each row.
#[derive(Clone, Copy)]
pub(super) struct GroupRequest<'a> {
    /// The paths of the groups, then those of the folds.
    pub(super) paths: &'a [Path],
    /// How many of them are of the groups.
    pub(super) by: usize,
    /// For each fold the number of its path.
    pub(super) folds: &'a [Option<usize>],
    pub(super) collation: Collation,
}

impl CollectionAt {
    /// The rows of the index that has all that a query asks for; `None` if the planner chooses no such index.
    pub(super) fn covered(&self, query: &Query) -> Result<Option<Stream>> {
        let Some(entry) = self.entry.clone() else { return Ok(None) };
        if query.skip > 0 || query.limit.is_some() || query.after.is_some() || entry.indexes.is_empty() {
            return Ok(None);
        }
        let mut way = Planner::new(query, &entry.indexes, Want::Selected, Resume::Nowhere).choose(self)?.way;
        let by_rows = way.index.is_some() && way.covering && way.ordered;
        Ok(by_rows.then(|| Stream::of(self, &entry, query, Want::Selected, &mut way)))
    }

    /// All rows of the index of this number.
    pub(super) fn whole_index(&self, query: &Query, number: usize) -> Option<Stream> {
        let entry = self.entry.clone()?;
        let scan = Planner::new(query, &entry.indexes, Want::Selected, Resume::Nowhere).scan();
        let ranges = vec![KeyRange::all()];
        let mut way = Way { index: Some(number), ranges, points: None, covering: true, ordered: true, ..scan };
        Some(Stream::of(self, &entry, query, Want::Selected, &mut way))
    }

    /// Adds the rows of an index to groups. Returns how many there were; `None` if reading all documents is faster,
    /// since too many rows do not tell their values. The groups are then of no use.
    pub(super) fn group_index(
        &self,
        rows: Stream,
        asked: GroupRequest<'_>,
        groups: &mut Groups<'_>,
    ) -> Result<Option<u64>> {
        let (Some(index), Some(entry)) = (rows.index().cloned(), self.entry.clone()) else { return Ok(None) };
        let spec = &index.spec;
        let part_of = |path: &Path| spec.parts.iter().position(|part| part.path == *path);
        let Some(parts) = asked.paths.iter().map(part_of).collect::<Option<Vec<usize>>>() else { return Ok(None) };
        let as_asked =
            spec.collation == asked.collation && spec.parts.iter().all(|part| part.direction == Direction::Forward);
        let (mut seen, mut read) = (0_u64, 0_u64);
        let complete = rows.each_covered(&mut |row| {
            seen += 1;
            let texts = if as_asked { None } else { texts_of(spec, row)? };
            let mut fields = [Field::Absent; INDEX_PARTS_MAX];
            let mut told = true;
            for part in &parts {
                let field = match &texts {
                    None if as_asked => field_of(spec, row, *part)?,
                    None => None,
                    Some(texts) => field_of_text(spec, texts, *part),
                };
                told &= field.is_some();
                if let (Some(at), Some(field)) = (fields.get_mut(*part), field) {
                    *at = field;
                }
            }
            if told {
                let field = |number: usize| parts.get(number).and_then(|part| fields.get(*part)).copied();
                groups.push_at(asked, |number| field(number).unwrap_or(Field::Absent))?;
                return Ok(true);
            }
            read += 1;
            if read > DOCUMENTS_FREE && read > seen / DOCUMENTS_PART {
                return Ok(false);
            }
            let id = row.id().ok_or_else(|| damaged_row(spec))?;
            let document = read_indexed(&*self.snapshot, entry.documents, id)?;
            let values: Vec<_> = asked.paths.iter().map(|path| value_at(path, &document.body)).collect();
            groups.push_at(asked, |number| Field::of(values.get(number).and_then(Option::as_deref)))?;
            Ok(true)
        })?;
        Ok(complete.then_some(seen))
    }
}

impl Groups<'_> {
    /// Adds a row; `field` gives the value at the path of a number.
    pub(super) fn push_at<'v>(
        &mut self,
        asked: GroupRequest<'_>,
        field: impl Fn(usize) -> Field<'v> + Copy,
    ) -> Result<()> {
        let folded = asked.folds.iter().map(|number| number.map_or(Field::Absent, field));
        self.push((0..asked.by).map(field), folded)
    }
}

/// A value that an index does not have may still be made of those in an array, if its path has several names.
fn absent(spec: &IndexSpec, part: usize) -> Option<Field<'static>> {
    let several = spec.parts.get(part).is_some_and(|part| part.path.steps().len() > 1);
    (!several).then_some(Field::Absent)
}

/// The value of a part; `None` if only the document tells it.
fn field_of<'r>(spec: &IndexSpec, row: &Covered<'r>, part: usize) -> Result<Option<Field<'r>>> {
    let key = row.value(part);
    if part > 0 && is_absent(key) {
        return Ok(absent(spec, part));
    }
    Ok(match own_text(row.texts, part).map_err(|Damaged| damaged_row(spec))? {
        OwnText::OfKey => Some(Field::Key(key, None)),
        OwnText::Text(text) => Some(Field::Key(key, Some(text).filter(|text| !is_plain(text)))),
        OwnText::InDocument => None,
    })
}

/// The text of a string that is written without escapes: its key decodes to it.
fn is_plain(text: &str) -> bool {
    text.starts_with('"') && !text.contains('\\')
}

fn texts_of(spec: &IndexSpec, row: &Covered<'_>) -> Result<Option<Vec<String>>> {
    row_texts(spec, row.values, row.texts).map_err(|Damaged| damaged_row(spec))
}

fn field_of_text<'t>(spec: &IndexSpec, texts: &'t [String], part: usize) -> Option<Field<'t>> {
    let text = texts.get(part).map(String::as_str).filter(|text| !text.is_empty());
    text.map(Field::Text).or_else(|| absent(spec, part))
}
