//! Running a pipeline over the documents that a query finds. Rows are JSON texts. Groups and sorted rows hold bounded
//! memory, and the rest goes to the disk. A pipeline that begins with a group reads no documents if an index has the
//! values that it needs.

use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;

use crate::engine::{Direction, Snapshot};
use crate::kernel::query::field::Field;
use crate::kernel::query::group_row::{GroupRow, Slot};
use crate::kernel::query::groups::Groups;
use crate::kernel::query::index_groups::GroupRequest;
use crate::kernel::query::sorted::order_key;
use crate::kernel::query::spill::Spill;
use crate::kernel::read::reader::{CollectionAt, ListOptions};
use crate::kernel::rows::catalogue::IndexEntry;
use recension_values::collation::Collation;
use recension_values::error::{Error, Result};
use recension_values::json::{Path, PathSet, Step, merge_patch, quote};
use recension_values::model::IndexState;
use recension_values::pipeline::{Fold, GroupId, Pipeline, Stage, Unwind};
use recension_values::query::{Query, Through};
use recension_values::selector::SelectorTest;

pub(super) type Rows<'r> = Box<dyn Iterator<Item = Result<Row>> + 'r>;

/// A row on its way from a stage to the next one.
pub(super) enum Row {
    /// A JSON object.
    Text(String),
    Group(GroupRow),
}

impl From<GroupRow> for Row {
    fn from(row: GroupRow) -> Self {
        Row::Group(row)
    }
}

impl Row {
    fn into_text(self) -> Result<String> {
        match self {
            Row::Text(text) => Ok(text),
            Row::Group(group) => group.into_text(),
        }
    }

    /// Where this row, and all rows that come with it, have the members at some paths; `None` if only their texts tell.
    fn slots<'p>(&self, paths: impl IntoIterator<Item = &'p Path>) -> Option<Vec<Slot>> {
        let Row::Group(group) = self else { return None };
        paths.into_iter().map(|path| group.slot(path)).collect()
    }
}

/// The same rows as JSON objects.
fn texts(rows: Rows<'_>) -> impl Iterator<Item = Result<String>> + '_ {
    rows.map(|row| row.and_then(Row::into_text))
}

impl CollectionAt {
    /// The rows that a pipeline makes of the documents that a query finds, as JSON objects. A `$match` at its beginning
    /// becomes a part of the query.
    ///
    /// # Errors
    /// [`Error::AggregateTooLarge`] if the answer, or one group, takes more memory than the pipeline allows. Also if
    /// all groups, or all sorted rows, do and the store has no disk. As [`CollectionAt::find`].
    pub fn aggregate(&self, query: &Query, pipeline: &Pipeline) -> Result<Vec<String>> {
        let mut rows = Vec::new();
        let mut bytes = 0;
        self.aggregate_with(query, pipeline, &mut |row| {
            bytes += row.len();
            if bytes > pipeline.bytes_max {
                return Err(Error::AggregateTooLarge { max: pipeline.bytes_max });
            }
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The same, but each row is handed to `take` as it comes.
    ///
    /// # Errors
    /// As [`CollectionAt::aggregate`], and those of `take`.
    pub fn aggregate_with(
        &self,
        query: &Query,
        pipeline: &Pipeline,
        take: &mut dyn FnMut(String) -> Result<()>,
    ) -> Result<()> {
        pipeline.check()?;
        let mut query = query.clone();
        let mut stages = pipeline.stages.as_slice();
        while let [Stage::Match(selector), rest @ ..] = stages {
            query = query.selecting(selector.clone());
            stages = rest;
        }
        let (collation, bytes_max) = (query.collation, pipeline.bytes_max);
        let grouped = match stages {
            [Stage::Group(id, folds), ..] if bodies_have_no(id, folds) => self.grouped(&query, id, folds, bytes_max)?,
            _ => None,
        };
        let mut rows: Rows<'_> = match grouped {
            Some(rows) => {
                stages = stages.get(1..).unwrap_or_default();
                rows
            }
            None => Box::new(self.find(&query)?.map(|document| Ok(Row::Text(document?.to_json())))),
        };
        rows = all_staged(rows, stages, collation, (&self.snapshot, bytes_max))?;
        rows.try_for_each(|row| take(row?.into_text()?))
    }

    /// Groups of documents, by the values alone; nothing if the whole documents are needed.
    fn grouped<'r>(
        &self,
        query: &Query,
        id: &GroupId,
        folds: &[(String, Fold)],
        bytes_max: usize,
    ) -> Result<Option<Rows<'r>>> {
        let mut paths: Vec<Path> = id.paths().into_iter().cloned().collect();
        let by = paths.len();
        let number = |(_, fold): &(String, Fold)| {
            paths.push(fold.path()?.clone());
            Some(paths.len() - 1)
        };
        let numbers: Vec<Option<usize>> = folds.iter().map(number).collect();
        let asked = GroupRequest { paths: &paths, by, folds: &numbers, collation: query.collation };
        let selecting = query.clone().select(paths.clone());
        let groups = || Groups::new(id, folds, query.collation, (&self.snapshot, bytes_max));
        if let Some(rows) = self.covered(&selecting)? {
            let mut groups = groups();
            if self.group_index(rows, asked, &mut groups)?.is_some() {
                return groups.finish().map(Some);
            }
        }
        let any_order =
            folds.iter().all(|(_, fold)| !matches!(fold, Fold::First(_) | Fold::Last(_) | Fold::Collect(_)));
        if any_order
            && let Some(index) = self.index_that_has(query, &paths)
            && let Some(wanted) = self.documents_but(query.left_out.as_deref())?
            && let Some(rows) = self.whole_index(&selecting, index)
        {
            // An index lacks documents without a value at its first path, which are a group too. If it has as many as
            // there are, it lacks none.
            let mut groups = groups();
            if self.group_index(rows, asked, &mut groups)? == Some(wanted) {
                return groups.finish().map(Some);
            }
        }
        // A path of several names may lead through an array, and then to an array of values, which is not selected.
        if paths.iter().any(|path| path.steps().len() > 1) {
            return Ok(None);
        }
        let mut groups = groups();
        for row in self.select(&selecting)? {
            let values = row?.values;
            groups.push_at(asked, |number| Field::of(values.get(number).and_then(Option::as_deref)))?;
        }
        groups.finish().map(Some)
    }

    /// The number of an index that has the values at all of the paths, if the query wants all documents.
    fn index_that_has(&self, query: &Query, paths: &[Path]) -> Option<usize> {
        let plain = Query { left_out: query.left_out.clone(), sort_bytes_max: query.sort_bytes_max, ..Query::new() };
        let plain = Query { collation: query.collation, through: query.through.clone(), ..plain };
        let admitted = |name: &String| match &query.through {
            Through::Cheapest => true,
            Through::Except(names) => !names.contains(name),
            Through::Index(_) | Through::NoIndex => false,
        };
        let fits = |index: &&IndexEntry| {
            let parts = &index.spec.parts;
            index.state == IndexState::Ready
                && admitted(&index.spec.name)
                && index.spec.words.is_none()
                && index.spec.filter.is_empty()
                && parts.iter().all(|part| !part.path.is_multiple())
                && (index.by_first || parts.len() == 1)
                && paths.iter().all(|path| parts.iter().any(|part| part.path == *path))
        };
        let entry = self.entry.as_ref().filter(|_| *query == plain && !paths.is_empty())?;
        // One that begins with the first path has the rows in the order of the groups; else the narrowest.
        let ordered = |index: &IndexEntry| index.spec.parts.first().map(|part| &part.path) == paths.first();
        let numbered = entry.indexes.iter().enumerate().filter(|(_, index)| fits(index));
        let best = numbered.min_by_key(|(_, index)| (!ordered(index), index.spec.parts.len()));
        best.map(|(number, _)| number)
    }

    /// How many documents there are whose ids do not begin with the prefix; `None` if that is not cheap to tell.
    fn documents_but(&self, prefix: Option<&str>) -> Result<Option<u64>> {
        let all = self.count()?;
        let Some(prefix) = prefix else { return Ok(Some(all)) };
        let start = Bound::Included(prefix.to_owned());
        let options = ListOptions { start, limit: Some(LEFT_OUT_COUNTED_MAX), ..ListOptions::default() };
        let mut left_out = 0;
        for document in self.list(&options)? {
            if !document?.id.starts_with(prefix) {
                return Ok(all.checked_sub(left_out));
            }
            left_out += 1;
        }
        Ok(all.checked_sub(left_out).filter(|_| left_out < LEFT_OUT_COUNTED_MAX as u64))
    }
}

/// How many documents that are left out of a query are counted.
const LEFT_OUT_COUNTED_MAX: usize = 1000;

/// Whether all paths lead to values that can be selected.
fn bodies_have_no(id: &GroupId, folds: &[(String, Fold)]) -> bool {
    let paths = id.paths().into_iter().chain(folds.iter().filter_map(|(_, fold)| fold.path()));
    let selectable = |path: &Path| match path.steps().first() {
        Some(Step::Name(name)) => !name.starts_with('_') || name == "_id" || name == "_rev",
        step => step.is_some(),
    };
    paths.into_iter().all(selectable)
}

/// The snapshot whose engine gives temporary files, and the bytes that may be held in memory.
pub(super) type Room<'s> = (&'s Arc<dyn Snapshot>, usize);

/// The rows that some stages make of rows.
fn all_staged<'r>(rows: Rows<'r>, stages: &[Stage], collation: Collation, room: Room<'_>) -> Result<Rows<'r>> {
    let mut rows = rows;
    for (number, stage) in stages.iter().enumerate() {
        rows = match stage {
            Stage::Sort(by) => sort(rows, by, wanted(stages.get(number + 1..).unwrap_or_default()), collation, room)?,
            _ => staged(rows, stage, collation, room)?,
        };
    }
    Ok(rows)
}

/// How many rows these stages look at, at most.
fn wanted(stages: &[Stage]) -> Option<usize> {
    match stages {
        [Stage::Limit(number), ..] => Some(*number),
        [Stage::Skip(skipped), rest @ ..] => Some(wanted(rest)?.saturating_add(*skipped)),
        _ => None,
    }
}

fn staged<'r>(rows: Rows<'r>, stage: &Stage, collation: Collation, room: Room<'_>) -> Result<Rows<'r>> {
    Ok(match stage {
        Stage::Match(selector) => {
            let test = SelectorTest::of_texts(selector, collation);
            let selects = move |row: &Result<String>| row.as_ref().map_or(true, |text| test.selects_text(text));
            Box::new(texts(rows).filter(selects).map(|row| row.map(Row::Text)))
        }
        Stage::Unwind(unwind) => {
            let unwind = unwind.clone();
            Box::new(texts(rows).flat_map(move |row| match row.and_then(|text| unwound(text, &unwind)) {
                Ok(rows) => rows.into_iter().map(|row| Ok(Row::Text(row))).collect::<Vec<_>>(),
                Err(error) => vec![Err(error)],
            }))
        }
        Stage::Group(id, folds) => group(rows, id, folds, collation, room)?,
        Stage::Sort(by) => sort(rows, by, None, collation, room)?,
        Stage::Skip(number) => Box::new(rows.skip(*number)),
        Stage::Limit(number) => Box::new(rows.take(*number)),
        Stage::Project(projection) => {
            let projection = projection.clone();
            Box::new(texts(rows).map(move |row| {
                let row = row?;
                projection.of_row(&row, &|path| value_at(path, &row).map(Cow::into_owned)).map(Row::Text)
            }))
        }
        Stage::Facet(facets) => faceted(rows, facets, collation, room)?,
        Stage::Count(name) => {
            let mut count: u64 = 0;
            for row in rows {
                row?;
                count += 1;
            }
            Box::new(std::iter::once(Ok(Row::Text(format!("{{{}:{count}}}", quote(name))))))
        }
    })
}

/// One row with a member for each list of stages: the rows that the list makes of all rows. Both the rows and the
/// results are held in memory.
fn faceted<'r>(
    rows: Rows<'_>,
    facets: &[(String, Vec<Stage>)],
    collation: Collation,
    room: Room<'_>,
) -> Result<Rows<'r>> {
    let bytes_max = room.1;
    let mut bytes = 0;
    let mut held = |row: Result<String>| {
        let row = row?;
        bytes += row.len() + size_of::<String>();
        if bytes > bytes_max { Err(Error::AggregateTooLarge { max: bytes_max }) } else { Ok(row) }
    };
    let all: Vec<String> = texts(rows).map(&mut held).collect::<Result<_>>()?;
    let mut members = Vec::with_capacity(facets.len());
    for (name, stages) in facets {
        let rows: Rows<'_> = Box::new(all.iter().map(|row| Ok(Row::Text(row.clone()))));
        let rows = all_staged(rows, stages, collation, room)?;
        let made: Vec<String> = texts(rows).map(&mut held).collect::<Result<_>>()?;
        members.push(format!("{}:[{}]", quote(name), made.join(",")));
    }
    Ok(Box::new(std::iter::once(Ok(Row::Text(format!("{{{}}}", members.join(",")))))))
}

/// A row for each element of the array at a path. A value that is no array counts as an array of one; what is not there,
/// null and an empty array have no elements.
fn unwound(text: String, unwind: &Unwind) -> Result<Vec<String>> {
    let Unwind { path, keep, number } = unwind;
    let numbered = |row: String, at: Option<usize>| match number {
        None => Ok(row),
        Some(name) => with_member(&row, name, &at.map_or("null".to_owned(), |at| at.to_string())),
    };
    let array = match path.find(&text) {
        Some(array) if array.starts_with('[') && array != "[]" => array,
        None | Some("null" | "[]") if !keep => return Ok(Vec::new()),
        Some("[]") => {
            let gone = path.steps().iter().rev().fold("null".to_owned(), |inner, step| match step {
                Step::Name(name) => format!("{{{}:{inner}}}", quote(name)),
                Step::Item(_) | Step::Each => inner,
            });
            return Ok(vec![numbered(merge_patch(&text, gone)?, None)?]);
        }
        _ => return Ok(vec![numbered(text, None)?]),
    };
    // The place of the array, which is a part of the text.
    let start = array.as_ptr() as usize - text.as_ptr() as usize;
    let (before, after) = (text.get(..start).unwrap_or_default(), text.get(start + array.len()..).unwrap_or_default());
    let rows = elements(array).into_iter().enumerate();
    rows.map(|(at, element)| numbered(format!("{before}{element}{after}"), Some(at))).collect()
}

/// An object with a member set to a value, also to null.
fn with_member(row: &str, name: &str, value: &str) -> Result<String> {
    let mut row = merge_patch(row, format!("{{{}:null}}", quote(name)))?;
    row.pop();
    let comma = if row.len() > 1 { "," } else { "" };
    Ok(format!("{row}{comma}{}:{value}}}", quote(name)))
}

fn elements(array: &str) -> Vec<&str> {
    let mut each = PathSet::default();
    let Ok(elements) = Path::of_steps(vec![Step::Each]) else { return Vec::new() };
    each.add(&elements);
    each.values(array).into_iter().flatten().collect()
}

/// What a path refers to in a row. Through an array, it is an array of what the objects in it have.
pub(super) fn value_at<'t>(path: &Path, row: &'t str) -> Option<Cow<'t, str>> {
    if let Some(value) = path.find(row) {
        return Some(Cow::Borrowed(value));
    }
    let steps = path.steps();
    let (array, rest) = (1..steps.len()).find_map(|at| {
        let (before, rest) = steps.split_at(at);
        let array = Path::of_steps(before.to_vec()).ok()?.find(row).filter(|value| value.starts_with('['))?;
        Some((array, Path::of_steps(rest.to_vec()).ok()?))
    })?;
    let objects = elements(array).into_iter().filter(|element| element.starts_with('{'));
    let values: Vec<Cow<'_, str>> = objects.filter_map(|element| value_at(&rest, element)).collect();
    Some(Cow::Owned(format!("[{}]", values.join(","))))
}

fn group<'r>(
    rows: Rows<'_>,
    id: &GroupId,
    folds: &[(String, Fold)],
    collation: Collation,
    room: Room<'_>,
) -> Result<Rows<'r>> {
    let by = id.paths();
    let folded: Vec<Option<&Path>> = folds.iter().map(|(_, fold)| fold.path()).collect();
    let mut groups = Groups::new(id, folds, collation, room);
    let mut slots = None;
    for row in rows {
        let row = row?;
        let slots = slots.get_or_insert_with(|| row.slots(by.iter().copied().chain(folded.iter().copied().flatten())));
        if let (Row::Group(row), Some(slots)) = (&row, slots) {
            let (by, folds) = slots.split_at(by.len());
            let mut folds = folds.iter();
            let mut fold =
                |path: &Option<_>| path.and_then(|_| folds.next()).map_or(Field::Absent, |at| row.field(*at));
            groups.push(by.iter().map(|slot| row.field(*slot)), folded.iter().map(&mut fold))?;
            continue;
        }
        let row = row.into_text()?;
        let at = |path: &Path| value_at(path, &row);
        let by: Vec<Option<Cow<'_, str>>> = by.iter().map(|path| at(path)).collect();
        let folded: Vec<Option<Cow<'_, str>>> = folded.iter().map(|path| path.and_then(at)).collect();
        groups.push(fields(&by), fields(&folded))?;
    }
    groups.finish()
}

fn fields<'v>(values: &'v [Option<Cow<'_, str>>]) -> impl Iterator<Item = Field<'v>> + Clone {
    values.iter().map(|value| Field::of(value.as_deref()))
}

/// `wanted`: no more rows than these are looked at.
fn sort<'r>(
    rows: Rows<'_>,
    by: &[(Path, Direction)],
    wanted: Option<usize>,
    collation: Collation,
    (snapshot, bytes_max): Room<'_>,
) -> Result<Rows<'r>> {
    let mut sorted = Spill::new(snapshot, bytes_max, wanted);
    let too_large = || Error::AggregateTooLarge { max: bytes_max };
    let mut slots = None;
    for row in rows {
        let row = row?;
        let mut key = Vec::new();
        let slots = slots.get_or_insert_with(|| row.slots(by.iter().map(|(path, _)| path)));
        let row = match (row, slots) {
            (Row::Group(row), Some(slots)) => {
                for (slot, (_, direction)) in slots.iter().zip(by) {
                    let value = row.field(*slot).text(collation)?;
                    order_key(collation, value.as_deref().unwrap_or("null"), *direction, &mut key)?;
                }
                Row::Group(row)
            }
            (row, _) => {
                let text = row.into_text()?;
                for (path, direction) in by {
                    order_key(collation, named(path, &text).unwrap_or("null"), *direction, &mut key)?;
                }
                Row::Text(text)
            }
        };
        if sorted.wants(&key) {
            sorted.push((key, row.into_text()?.into_bytes()), too_large)?;
        }
    }
    let mut sorted = sorted.finish()?;
    let text = |row| String::from_utf8(row).map(Row::Text).map_err(|_| damaged_file());
    Ok(Box::new(std::iter::from_fn(move || Some(sorted.next()?.and_then(|(_, row)| text(row))))))
}

pub(super) fn damaged_file() -> Error {
    Error::DamagedRow {
        what: "the temporary file of an aggregation".to_owned(),
        why: "it is not what was written to it; ask again",
    }
}

/// The value at a path of a row, or of the member whose name is the path's text: groups have such members.
fn named<'t>(path: &Path, row: &'t str) -> Option<&'t str> {
    path.find(row).or_else(|| Path::of_names(vec![path.to_string()]).find(row))
}
