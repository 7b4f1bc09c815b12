//! Pipelines: steps that transform the documents that a query finds. Plain values; `parse` reads them in MongoDB's
//! words, `kernel::query::aggregate` runs them.

mod parse;
mod projection;

use crate::error::{Error, Result};
use crate::json::{IntoPath, Path, Step};
use crate::limits::{PIPELINE_BYTES_MAX, PIPELINE_STAGES_MAX};
use crate::selector::Selector;
use recension_engine::Direction;

/// Steps for the documents that a query finds: `Collection::aggregate`.
///
/// ```
/// use recension::{Fold, Pipeline, Query, Store};
/// # fn main() -> recension::Result<()> {
/// let sales = Store::memory()?.collection("sales")?;
/// sales.put("1", r#"{"country":"PT","total":3}"#)?;
/// sales.put("2", r#"{"country":"NO","total":5}"#)?;
/// sales.put("3", r#"{"country":"PT","total":4}"#)?;
/// let by_country = Pipeline::new().group(["country"], [("sum", Fold::sum("total")), ("count", Fold::Count)]);
/// let rows = sales.aggregate(&Query::new(), &by_country)?;
/// assert_eq!(rows[1], r#"{"country":"PT","sum":7,"count":2}"#);
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pipeline {
    pub stages: Vec<Stage>,
    pub bytes_max: usize,
}

/// A step of a pipeline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stage {
    Match(Selector),
    Unwind(Unwind),
    Group(GroupId, Vec<(String, Fold)>),
    Sort(Vec<(Path, Direction)>),
    Skip(usize),
    Limit(usize),
    Project(Projection),
    /// One row with the number of rows, under a name.
    Count(String),
    /// One row with, under each name, the rows that its stages make of all rows.
    Facet(Vec<(String, Vec<Stage>)>),
}

/// A row for each element of the array at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unwind {
    pub path: Path,
    /// Whether a row without elements stays one row.
    pub keep: bool,
    /// A member for the number of the element in its array.
    pub number: Option<String>,
}

/// What stays of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Projection {
    /// These members.
    Only(Vec<(String, Field)>),
    /// All but these.
    Without(Vec<(String, Field)>),
}

/// A member that a projection names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Field {
    Whole,
    /// Members of it, or of the objects in its array.
    Inner(Vec<(String, Field)>),
    /// The value at a path of the row.
    Value(Path),
}

impl Field {
    fn paths(fields: &[(String, Field)]) -> Vec<&Path> {
        let paths = fields.iter().flat_map(|(_, field)| match field {
            Field::Whole => Vec::new(),
            Field::Value(path) => vec![path],
            Field::Inner(fields) => Field::paths(fields),
        });
        paths.collect()
    }
}

/// The values that the rows of a group share, and their form in the row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GroupId {
    /// Under each path's text.
    Flat(Vec<Path>),
    /// `_id`, one value.
    One(Path),
    /// `_id`, an object.
    Named(Vec<(String, Path)>),
    /// `_id` is `null`: one group of all.
    Nothing,
}

impl GroupId {
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            GroupId::Flat(paths) => paths.iter().collect(),
            GroupId::One(path) => vec![path],
            GroupId::Named(named) => named.iter().map(|(_, path)| path).collect(),
            GroupId::Nothing => Vec::new(),
        }
    }
}

/// A value that is computed from the values of a group at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fold {
    /// How many rows there are.
    Count,
    /// The sum of the numbers. It is exact while they are integers, and otherwise compensated: as good as one rounding.
    Sum(Path),
    /// The mean of the numbers.
    Average(Path),
    /// The least value that is not `null`, in the order of all values.
    Min(Path),
    /// The greatest value.
    Max(Path),
    /// The value of the first row, in the order of the query; `null` if it has none.
    First(Path),
    /// That of the last row.
    Last(Path),
    /// The different values, in their order, as an array.
    Distinct(Path),
    /// All values, in the order of the query, as an array.
    Collect(Path),
}

impl Fold {
    /// [`Fold::Sum`] of a path.
    pub fn sum(path: impl IntoPath) -> Self {
        Fold::Sum(path.into_path())
    }

    /// Its path.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Fold::Count => None,
            Fold::Sum(path)
            | Fold::Average(path)
            | Fold::Min(path)
            | Fold::Max(path)
            | Fold::First(path)
            | Fold::Last(path)
            | Fold::Distinct(path)
            | Fold::Collect(path) => Some(path),
        }
    }

    fn path_mut(&mut self) -> Option<&mut Path> {
        match self {
            Fold::Count => None,
            Fold::Sum(path)
            | Fold::Average(path)
            | Fold::Min(path)
            | Fold::Max(path)
            | Fold::First(path)
            | Fold::Last(path)
            | Fold::Distinct(path)
            | Fold::Collect(path) => Some(path),
        }
    }
}

impl Default for Pipeline {
    fn default() -> Self {
        Pipeline { stages: Vec::new(), bytes_max: PIPELINE_BYTES_MAX }
    }
}

impl Pipeline {
    /// The documents as they are.
    pub fn new() -> Self {
        Self::default()
    }

    /// About how many bytes its selectors take.
    pub fn weight(&self) -> usize {
        fn of(stages: &[Stage]) -> usize {
            let one = |stage: &Stage| match stage {
                Stage::Match(selector) => selector.weight(),
                Stage::Facet(facets) => facets.iter().map(|(_, stages)| of(stages)).sum(),
                _ => 0,
            };
            stages.iter().map(one).sum()
        }
        of(&self.stages)
    }

    /// Reads a pipeline in MongoDB's words: an array of `$match` (a Mango selector), `$unwind`, `$group`, `$sort`,
    /// `$limit`, `$skip`, `$project`, `$count` and `$facet`. A word that it does not know is an error.
    ///
    /// # Errors
    /// [`Error::BadSelector`] says what is wrong.
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        parse::pipeline(text.as_ref())
    }

    /// Groups rows with equal values at `by`, and computes a value for each name. A path with empty brackets
    /// (`items[].sku`) first makes a row of each element of the array; all such paths must be of the same array.
    #[must_use]
    pub fn group<P: IntoPath, N: Into<String>>(
        mut self,
        by: impl IntoIterator<Item = P>,
        folds: impl IntoIterator<Item = (N, Fold)>,
    ) -> Self {
        let mut by: Vec<Path> = by.into_iter().map(IntoPath::into_path).collect();
        let mut folds: Vec<(String, Fold)> = folds.into_iter().map(|(name, fold)| (name.into(), fold)).collect();
        let of_folds = folds.iter().filter_map(|(_, fold)| fold.path());
        let array = by.iter().chain(of_folds).find_map(before_each);
        if let Some(array) = array {
            let inner = |path: &mut Path| {
                if before_each(path).as_ref() == Some(&array) {
                    let mut steps = path.steps().to_vec();
                    steps.remove(array.steps().len());
                    *path = Path::of_steps(steps).unwrap_or_else(|_| path.clone());
                }
            };
            by.iter_mut().for_each(inner);
            folds.iter_mut().filter_map(|(_, fold)| fold.path_mut()).for_each(inner);
            self.stages.push(Stage::Unwind(Unwind { path: array, keep: false, number: None }));
        }
        self.stages.push(Stage::Group(GroupId::Flat(by), folds));
        self
    }

    /// Only the rows that a selector selects; after groups, this is `HAVING` in SQL.
    #[must_use]
    pub fn having(mut self, selector: Selector) -> Self {
        self.stages.push(Stage::Match(selector));
        self
    }

    /// Sorted by the values at paths of the rows.
    #[must_use]
    pub fn sort<P: IntoPath>(mut self, by: impl IntoIterator<Item = (P, Direction)>) -> Self {
        self.stages.push(Stage::Sort(by.into_iter().map(|(path, way)| (path.into_path(), way)).collect()));
        self
    }

    /// Without the first rows.
    #[must_use]
    pub fn skip(mut self, rows: usize) -> Self {
        self.stages.push(Stage::Skip(rows));
        self
    }

    /// At most this many rows.
    #[must_use]
    pub fn limit(mut self, rows: usize) -> Self {
        self.stages.push(Stage::Limit(rows));
        self
    }

    /// Bytes that groups and sorts may hold in memory; 64 MiB by default.
    #[must_use]
    pub fn bytes_max(mut self, bytes: usize) -> Self {
        self.bytes_max = bytes;
        self
    }

    pub fn check(&self) -> Result<()> {
        if self.stages.iter().map(Stage::len).sum::<usize>() > PIPELINE_STAGES_MAX {
            return Err(Error::BadQuery { why: "a pipeline has 32 stages at most" });
        }
        self.stages.iter().try_for_each(Stage::check)
    }
}

impl Stage {
    /// The number of stages.
    pub fn len(&self) -> usize {
        match self {
            Stage::Facet(facets) => 1 + facets.iter().flat_map(|(_, stages)| stages).map(Stage::len).sum::<usize>(),
            _ => 1,
        }
    }

    fn check(&self) -> Result<()> {
        match self {
            Stage::Match(selector) => selector.check(),
            Stage::Unwind(unwind) => single(&unwind.path),
            Stage::Group(id, folds) => {
                let folded = folds.iter().filter_map(|(_, fold)| fold.path());
                id.paths().into_iter().chain(folded).try_for_each(single)
            }
            Stage::Sort(by) => by.iter().try_for_each(|(path, _)| single(path)),
            Stage::Project(Projection::Only(fields) | Projection::Without(fields)) => {
                Field::paths(fields).into_iter().try_for_each(single)
            }
            Stage::Skip(_) | Stage::Limit(_) | Stage::Count(_) => Ok(()),
            Stage::Facet(facets) => facets.iter().flat_map(|(_, stages)| stages).try_for_each(Stage::check),
        }
    }
}

fn single(path: &Path) -> Result<()> {
    path.check()?;
    if path.is_multiple() {
        return Err(Error::BadQuery {
            why: "all paths with empty brackets of a group are of one array, and have one pair",
        });
    }
    Ok(())
}

/// The path before its first pair of empty brackets.
fn before_each(path: &Path) -> Option<Path> {
    let at = path.steps().iter().position(|step| *step == Step::Each)?;
    Path::of_steps(path.steps().get(..at)?.to_vec()).ok()
}
