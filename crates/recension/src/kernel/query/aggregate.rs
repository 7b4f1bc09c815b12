//! Running a pipeline over the documents that a query finds. Rows are JSON texts. Groups and sorted rows hold bounded
//! memory, and the rest goes to the disk. A pipeline that begins with a group reads no documents if an index has the
//! values that it needs.

use std::ops::Bound;
use std::sync::Arc;

use crate::engine::{Direction, Snapshot};
use crate::kernel::query::groups::Groups;
use crate::kernel::query::sorted::order_key;
use crate::kernel::query::spill::Spill;
use crate::kernel::read::reader::{CollectionAt, ListOptions};
use crate::kernel::rows::catalogue::IndexEntry;
use recension_values::collation::Collation;
use recension_values::condition::ValueRange;
use recension_values::error::{Error, Result};
use recension_values::json::{Path, PathSet, Step, quote};
use recension_values::model::IndexState;
use recension_values::pipeline::{Fold, GroupId, Pipeline, Stage};
use recension_values::query::{Query, Through};
use recension_values::selector::SelectorTest;

pub(super) type Rows<'r> = Box<dyn Iterator<Item = Result<String>> + 'r>;

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
        let mut rows: Rows<'_> = match stages {
            [Stage::Group(id, folds), rest @ ..] if bodies_have_no(id, folds) => {
                stages = rest;
                self.grouped(query, id, folds, bytes_max)?
            }
            _ => Box::new(self.find(&query)?.map(|document| Ok(document?.to_json()))),
        };
        for stage in stages {
            rows = staged(rows, stage, collation, (&self.snapshot, bytes_max))?;
        }
        rows.try_for_each(|row| take(row?))
    }

    /// Groups of documents, by the values alone.
    fn grouped<'r>(&self, query: Query, id: &GroupId, folds: &[(String, Fold)], bytes_max: usize) -> Result<Rows<'r>> {
        let by = id.paths();
        let mut paths: Vec<Path> = by.iter().map(|path| (*path).clone()).collect();
        let numbers: Vec<Option<usize>> = folds
            .iter()
            .map(|(_, fold)| {
                let path = fold.path()?;
                paths.push(path.clone());
                Some(paths.len() - 1)
            })
            .collect();
        let collation = query.collation;
        // The groups, and how many documents are in them.
        let groups_of = |query: &Query| -> Result<(Groups<'_>, u64)> {
            let mut groups = Groups::new(id, folds, collation, (&self.snapshot, bytes_max));
            let mut documents = 0;
            for row in self.select(query)? {
                let values = row?.values;
                let at = |number: usize| values.get(number).and_then(Option::as_deref);
                let by: Vec<Option<&str>> = (0..by.len()).map(at).collect();
                let folded: Vec<Option<&str>> = numbers.iter().map(|number| number.and_then(at)).collect();
                groups.push(&by, &folded)?;
                documents += 1;
            }
            Ok((groups, documents))
        };
        let any_order =
            folds.iter().all(|(_, fold)| !matches!(fold, Fold::First(_) | Fold::Last(_) | Fold::Collect(_)));
        if any_order
            && let Some(first) = by.first()
            && let Some(index) = self.index_that_has(&query, first, &paths)
            && let Some(wanted) = self.documents_but(query.left_out.as_deref())?
        {
            // An index lacks documents without a value at its first path, which are a group too. If it has as many as
            // there are, it lacks none.
            let through = query.clone().matching((*first).clone(), ValueRange::anything()).through(index);
            let (groups, documents) = groups_of(&through.select(paths.clone()))?;
            if documents == wanted {
                return groups.finish();
            }
        }
        groups_of(&query.select(paths))?.0.finish()
    }

    /// An index on `first` that has the values at all of the paths, if the query wants all documents.
    fn index_that_has(&self, query: &Query, first: &Path, paths: &[Path]) -> Option<String> {
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
                && index.spec.multiple().is_none()
                && (index.by_first || parts.len() == 1)
                && parts.first().is_some_and(|part| part.path == *first)
                && paths.iter().all(|path| parts.iter().any(|part| part.path == *path))
        };
        let index = self.entry.as_ref().filter(|_| *query == plain)?.indexes.iter().find(fits)?;
        Some(index.spec.name.clone())
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
    let selectable = |path: &Path| !matches!(path.steps().first(), Some(Step::Name(name)) if name.starts_with('_') && name != "_id" && name != "_rev");
    paths.into_iter().all(selectable)
}

/// The snapshot whose engine gives temporary files, and the bytes that may be held in memory.
pub(super) type Room<'s> = (&'s Arc<dyn Snapshot>, usize);

fn staged<'r>(rows: Rows<'r>, stage: &Stage, collation: Collation, room: Room<'_>) -> Result<Rows<'r>> {
    Ok(match stage {
        Stage::Match(selector) => {
            let test = SelectorTest::of_texts(selector, collation);
            Box::new(rows.filter(move |row| row.as_ref().map_or(true, |text| test.selects_text(text))))
        }
        Stage::Unwind(path) => {
            let path = path.clone();
            Box::new(rows.flat_map(move |row| -> Box<dyn Iterator<Item = Result<String>>> {
                match row {
                    Ok(text) => Box::new(unwound(&text, &path).into_iter().map(Ok)),
                    Err(error) => Box::new(std::iter::once(Err(error))),
                }
            }))
        }
        Stage::Group(id, folds) => group(rows, id, folds, collation, room)?,
        Stage::Sort(by) => sort(rows, by, collation, room)?,
        Stage::Skip(number) => Box::new(rows.skip(*number)),
        Stage::Limit(number) => Box::new(rows.take(*number)),
        Stage::Project(fields) => {
            let fields = fields.clone();
            Box::new(rows.map(move |row| Ok(projected(&row?, &fields))))
        }
        Stage::Facet(facets) => faceted(rows, facets, collation, room)?,
        Stage::Count(name) => {
            let mut count: u64 = 0;
            for row in rows {
                row?;
                count += 1;
            }
            Box::new(std::iter::once(Ok(format!("{{{}:{count}}}", quote(name)))))
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
    let all: Vec<String> = rows.map(&mut held).collect::<Result<_>>()?;
    let mut members = Vec::with_capacity(facets.len());
    for (name, stages) in facets {
        let mut rows: Rows<'_> = Box::new(all.iter().cloned().map(Ok));
        for stage in stages {
            rows = staged(rows, stage, collation, room)?;
        }
        let made: Vec<String> = rows.map(&mut held).collect::<Result<_>>()?;
        members.push(format!("{}:[{}]", quote(name), made.join(",")));
    }
    Ok(Box::new(std::iter::once(Ok(format!("{{{}}}", members.join(","))))))
}

/// A row for each element of the array at a path; none if there is no array, or an empty one.
fn unwound(text: &str, path: &Path) -> Vec<String> {
    let Some(array) = path.find(text) else { return Vec::new() };
    if !array.starts_with('[') {
        // A single value counts as an array of one.
        return vec![text.to_owned()];
    }
    // The place of the array, which is a part of the text.
    let start = array.as_ptr() as usize - text.as_ptr() as usize;
    let (before, after) = (text.get(..start).unwrap_or_default(), text.get(start + array.len()..).unwrap_or_default());
    let mut each = PathSet::default();
    let Ok(elements) = Path::of_steps(vec![Step::Each]) else { return Vec::new() };
    each.add(&elements);
    each.values(array).into_iter().flatten().map(|element| format!("{before}{element}{after}")).collect()
}

fn group<'r>(
    rows: Rows<'_>,
    id: &GroupId,
    folds: &[(String, Fold)],
    collation: Collation,
    room: Room<'_>,
) -> Result<Rows<'r>> {
    let mut paths = PathSet::default();
    let by: Vec<usize> = id.paths().into_iter().map(|path| paths.add(path)).collect();
    let numbers: Vec<Option<usize>> = folds.iter().map(|(_, fold)| fold.path().map(|path| paths.add(path))).collect();
    let mut groups = Groups::new(id, folds, collation, room);
    for row in rows {
        let row = row?;
        let values = paths.values(&row);
        let at = |number: usize| values.get(number).and_then(|values| values.first().copied());
        let by: Vec<Option<&str>> = by.iter().map(|number| at(*number)).collect();
        let folded: Vec<Option<&str>> = numbers.iter().map(|number| number.and_then(at)).collect();
        groups.push(&by, &folded)?;
    }
    groups.finish()
}

fn sort<'r>(
    rows: Rows<'_>,
    by: &[(Path, Direction)],
    collation: Collation,
    (snapshot, bytes_max): Room<'_>,
) -> Result<Rows<'r>> {
    let mut sorted = Spill::new(snapshot, bytes_max, None);
    for row in rows {
        let row = row?;
        let mut key = Vec::new();
        for (path, direction) in by {
            let value = named(path, &row).unwrap_or("null");
            order_key(collation, value, *direction, &mut key)?;
        }
        sorted.push((key, row.into_bytes()), || Error::AggregateTooLarge { max: bytes_max })?;
    }
    let mut sorted = sorted.finish()?;
    let text = |row| String::from_utf8(row).map_err(|_| damaged_file());
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

fn projected(row: &str, fields: &[(String, Path)]) -> String {
    let member = |(name, path): &(String, Path)| Some(format!("{}:{}", quote(name), named(path, row)?));
    format!("{{{}}}", fields.iter().filter_map(member).collect::<Vec<_>>().join(","))
}
