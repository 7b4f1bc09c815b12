//! Reducing rows of a view, in groups, in bounded memory.

use crate::engine::Direction;
use crate::kernel::view::ahead::{Ahead, Part, Parts, Reduced, ReducedBlocks};
use crate::kernel::view::range::ViewRange;
use crate::kernel::view::read::{ViewAt, ViewRows};
use recension_values::error::Result;
use recension_values::json::{Event, Parser};
use recension_values::limits::{REDUCED_AT_ONCE_BYTES, REDUCED_AT_ONCE_ROWS};
use recension_values::reduce::{BuiltIn, Fold};
use std::collections::VecDeque;
use std::sync::Arc;

/// A custom reduction. Its result must not depend on how rows are grouped: reduced values are reduced again.
pub trait Reducer: Send + Sync {
    /// Reduces rows: the key, the document's id and the value of each. Key and value are JSON.
    fn reduce(&self, rows: &[(String, String, String)]) -> Result<String>;
    /// Identifies it, so that its results can be remembered. `None`: they are not.
    fn signature(&self) -> Option<String> {
        None
    }
    /// Reduces the rows of several groups, each for itself.
    fn reduce_groups(&self, groups: &[Vec<(String, String, String)>]) -> Result<Vec<String>> {
        groups.iter().map(|rows| self.reduce(rows)).collect()
    }
    /// Reduces reduced values.
    fn rereduce(&self, values: &[String]) -> Result<String>;
}

/// How rows are reduced.
#[derive(Clone)]
pub enum Reduction {
    /// A built-in function.
    BuiltIn(BuiltIn),
    /// A custom one.
    Own(Arc<dyn Reducer>),
}

/// How rows are grouped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grouping {
    /// All.
    All,
    /// Rows whose keys, if they are arrays, begin with this many equal elements; other keys as they are.
    Level(usize),
    /// Rows with the same key.
    Exact,
}

/// A group of rows, reduced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReducedRow {
    /// The key of the group, as JSON; `null` for all rows.
    pub key: String,
    /// The reduced value, as JSON.
    pub value: String,
}

impl ViewAt {
    /// The rows of a range, reduced in groups.
    pub fn reduced(&self, range: &ViewRange, grouping: Grouping, reduction: &Reduction) -> Result<ViewGroups> {
        let rows = self.rows(range)?;
        Ok(ViewGroups {
            rows,
            grouping,
            reduction: reduction.clone(),
            ahead: None,
            next: VecDeque::new(),
            ready: VecDeque::new(),
            at_once: 1,
            ended: false,
        })
    }

    /// The same, with a memory of reduced blocks.
    pub fn reduced_with(
        &self,
        range: &ViewRange,
        grouping: Grouping,
        reduction: &Reduction,
        remembered: &Arc<ReducedBlocks>,
    ) -> Result<ViewGroups> {
        let mut groups = self.reduced(range, grouping, reduction)?;
        let by = match reduction {
            Reduction::BuiltIn(own) => Some(format!("{own:?}")),
            Reduction::Own(reducer) => reducer.signature(),
        };
        if let (Some(by), Some(tree), Direction::Forward) = (by, self.bare_tree(), range.direction) {
            let by = format!("{by}\0{grouping:?}").into();
            groups.ahead = Some(Ahead::new(remembered.clone(), by, tree, groups.rows.left()));
        }
        Ok(groups)
    }
}

/// Groups of rows of a view, reduced in order.
pub struct ViewGroups {
    rows: ViewRows,
    grouping: Grouping,
    reduction: Reduction,
    /// Blocks that can be taken whole.
    ahead: Option<Ahead>,
    /// What comes next: the rest of a block, or what the next group begins with.
    next: VecDeque<Piece>,
    /// Groups that are reduced.
    ready: VecDeque<Result<ReducedRow>>,
    /// How many groups are reduced together: a custom reduction is told of few at first, and then of more.
    at_once: usize,
    ended: bool,
}

/// The most groups in a block whose parts are remembered.
const BLOCK_PARTS_MAX: usize = 32;

/// A row on its way into a group.
struct Taken {
    group: String,
    collated: Vec<u8>,
    key: String,
    id: String,
    value: String,
}

/// What a group is made of: a row, or all of its rows in a block.
enum Piece {
    Row(Taken),
    Part(Part),
}

impl Piece {
    /// The key of its group, and that of its first row.
    fn names(&self) -> (&str, &[u8]) {
        match self {
            Piece::Row(row) => (&row.group, &row.collated),
            Piece::Part(part) => (&part.group, &part.collated),
        }
    }
}

impl Grouping {
    /// Whether rows with these groups and keys are in one group. Keys that differ only in their texts (1 and 1.0) are
    /// one key.
    fn is_one(self, a: (&str, &[u8]), b: (&str, &[u8])) -> bool {
        if self == Grouping::Exact { a.1 == b.1 } else { a.0 == b.0 }
    }
}

impl ViewGroups {
    /// Releases what the engine holds for it. The next group continues behind the last one.
    pub fn rest(&mut self) {
        self.rows.rest();
    }

    fn piece(&mut self) -> Result<Option<Piece>> {
        let own = self.is_own();
        if self.next.is_empty()
            && let Some((parts, next)) = self.parts_ahead()?
        {
            self.rows.go_on_at(next);
            self.next.extend(parts.iter().cloned().map(Piece::Part));
        }
        match self.next.pop_front() {
            Some(piece) => Ok(Some(piece)),
            None => Ok(taken_of(&mut self.rows, self.grouping, own)?.map(Piece::Row)),
        }
    }

    fn is_own(&self) -> bool {
        matches!(self.reduction, Reduction::Own(_))
    }

    /// If the next row is the first of a block with few groups: these, and where the next block begins.
    fn parts_ahead(&mut self) -> Result<Option<(Parts, Vec<u8>)>> {
        let Some(ahead) = &mut self.ahead else { return Ok(None) };
        let Some(key) = self.rows.peek_kept()? else { return Ok(None) };
        if !ahead.is_at(key) {
            return Ok(None);
        }
        let (key, view) = (key.to_vec(), self.rows.view().clone());
        let Some((block, next)) = ahead.enters(&view, &key)? else { return Ok(None) };
        let cut = || parts_of(view.between(&block.start, &next), self.grouping, &self.reduction);
        let parts = ahead.parts(&block, cut)?;
        Ok((!parts.is_empty()).then_some((parts, next)))
    }

    fn group(&mut self) -> Result<Option<(String, Partial)>> {
        let Some(first) = self.piece()? else { return Ok(None) };
        let (key, collated) = first.names();
        let (key, collated) = (key.to_owned(), collated.to_owned());
        let mut partial = Partial::of(&self.reduction);
        partial.take(first)?;
        while let Some(piece) = self.piece()? {
            if !self.grouping.is_one((&key, &collated), piece.names()) {
                self.next.push_front(piece);
                break;
            }
            partial.take(piece)?;
        }
        Ok(Some((key, partial)))
    }

    /// Reduces the next groups.
    fn reduce_some(&mut self) {
        let (mut keys, mut partials, mut failed) = (Vec::new(), Vec::new(), None);
        let (mut rows, mut bytes) = (0, 0);
        while partials.len() < self.at_once && rows < REDUCED_AT_ONCE_ROWS && bytes < REDUCED_AT_ONCE_BYTES {
            match self.group() {
                Ok(Some((key, partial))) => {
                    let (more_rows, more_bytes) = partial.held();
                    (rows, bytes) = (rows + more_rows, bytes + more_bytes);
                    keys.push(key);
                    partials.push(partial);
                }
                end => {
                    self.ended = true;
                    failed = end.err();
                    break;
                }
            }
        }
        let values = reduced_together(partials).into_iter().map(|reduced| reduced.and_then(Reduced::finish));
        self.ready.extend(keys.into_iter().zip(values).map(|(key, value)| Ok(ReducedRow { key, value: value? })));
        self.ready.extend(failed.map(Err));
        if self.is_own() {
            self.at_once = (self.at_once * 4).min(REDUCED_AT_ONCE_ROWS);
        }
    }
}

/// The rows of a block, reduced by their groups; none, if the groups are too many to be remembered.
fn parts_of(mut rows: ViewRows, grouping: Grouping, reduction: &Reduction) -> Result<Vec<Part>> {
    let own = matches!(reduction, Reduction::Own(_));
    let mut names: Vec<(String, Vec<u8>)> = Vec::new();
    let mut partials: Vec<Partial> = Vec::new();
    while let Some(row) = taken_of(&mut rows, grouping, own)? {
        let of_last =
            names.last().is_some_and(|(group, key)| grouping.is_one((group, key), (&row.group, &row.collated)));
        if !of_last {
            if names.len() == BLOCK_PARTS_MAX {
                return Ok(Vec::new());
            }
            names.push((row.group.clone(), row.collated.clone()));
            partials.push(Partial::of(reduction));
        }
        if let Some(partial) = partials.last_mut() {
            partial.add(row)?;
        }
    }
    let parts = names.into_iter().zip(reduced_together(partials));
    parts.map(|((group, collated), reduced)| Ok(Part { group, collated, reduced: reduced? })).collect()
}

/// The results of groups. A custom reduction is told of all those that are no more than rows at once.
fn reduced_together(groups: Vec<Partial>) -> Vec<Result<Reduced>> {
    let mut together = Vec::new();
    let mut by = None;
    let mut reduced: Vec<Option<Result<Reduced>>> = Vec::with_capacity(groups.len());
    for group in groups {
        reduced.push(match group {
            Partial::Own { reducer, rows, reduced: before, .. } if before.is_empty() => {
                together.push(rows);
                by = Some(reducer);
                None
            }
            group => Some(group.reduced()),
        });
    }
    let Some(by) = by else { return reduced.into_iter().flatten().collect() };
    let mut values = match by.reduce_groups(&together) {
        Ok(values) if values.len() == together.len() => values.into_iter().map(Ok).collect::<VecDeque<_>>(),
        // One by one, so that only those fail that have to.
        _ => together.iter().map(|rows| by.reduce(rows)).collect(),
    };
    let mut value = || values.pop_front().map(|value| value.map(Reduced::Own));
    reduced.into_iter().filter_map(|known| known.or_else(&mut value)).collect()
}

fn taken_of(rows: &mut ViewRows, grouping: Grouping, own: bool) -> Result<Option<Taken>> {
    let options = rows.options();
    rows.next_parts(|row| {
        let key = if own || grouping != Grouping::All { row.key(options)?.into_owned() } else { String::new() };
        Ok(Taken {
            group: group_of(&key, grouping),
            collated: row.collated.to_vec(),
            key,
            id: if own { row.id.to_owned() } else { String::new() },
            value: row.value.to_owned(),
        })
    })
}

impl Iterator for ViewGroups {
    type Item = Result<ReducedRow>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty() && !self.ended {
            self.reduce_some();
        }
        let group = self.ready.pop_front();
        if matches!(group, Some(Err(_))) {
            self.ended = true;
            self.ready.clear();
        }
        group
    }
}

/// A group that is being reduced.
enum Partial {
    BuiltIn(Fold),
    Own { reducer: Arc<dyn Reducer>, rows: Vec<(String, String, String)>, bytes: usize, reduced: Vec<String> },
}

impl Partial {
    fn of(reduction: &Reduction) -> Self {
        match reduction {
            Reduction::BuiltIn(own) => Partial::BuiltIn(own.begin()),
            Reduction::Own(reducer) => {
                Partial::Own { reducer: reducer.clone(), rows: Vec::new(), bytes: 0, reduced: Vec::new() }
            }
        }
    }

    /// The rows that it holds, and their bytes.
    fn held(&self) -> (usize, usize) {
        match self {
            Partial::BuiltIn(_) => (0, 0),
            Partial::Own { rows, bytes, .. } => (rows.len(), *bytes),
        }
    }

    fn take(&mut self, piece: Piece) -> Result<()> {
        match piece {
            Piece::Row(row) => self.add(row),
            Piece::Part(part) => self.add_reduced(part.reduced),
        }
    }

    fn add(&mut self, row: Taken) -> Result<()> {
        match self {
            Partial::BuiltIn(fold) => fold.add(&row.collated, &row.value),
            Partial::Own { reducer, rows, bytes, reduced } => {
                *bytes += row.key.len() + row.id.len() + row.value.len();
                rows.push((row.key, row.id, row.value));
                if rows.len() >= REDUCED_AT_ONCE_ROWS || *bytes >= REDUCED_AT_ONCE_BYTES {
                    reduced.push(reducer.reduce(rows)?);
                    rows.clear();
                    *bytes = 0;
                    if reduced.len() >= REDUCED_AT_ONCE_ROWS {
                        *reduced = vec![reducer.rereduce(reduced)?];
                    }
                }
                Ok(())
            }
        }
    }

    /// Its result.
    fn reduced(self) -> Result<Reduced> {
        match self {
            Partial::BuiltIn(fold) => Ok(Reduced::BuiltIn(fold)),
            Partial::Own { reducer, rows, mut reduced, .. } => {
                if !rows.is_empty() || reduced.is_empty() {
                    reduced.push(reducer.reduce(&rows)?);
                }
                let only = if reduced.len() == 1 { reduced.pop() } else { None };
                only.map_or_else(|| reducer.rereduce(&reduced), Ok).map(Reduced::Own)
            }
        }
    }

    /// Takes rows that were reduced.
    fn add_reduced(&mut self, other: Reduced) -> Result<()> {
        match (self, other) {
            (Partial::BuiltIn(fold), Reduced::BuiltIn(other)) => fold.merge(other),
            (Partial::Own { reducer, rows, bytes, reduced }, Reduced::Own(other)) => {
                if !rows.is_empty() {
                    reduced.push(reducer.reduce(rows)?);
                    rows.clear();
                    *bytes = 0;
                }
                reduced.push(other);
                if reduced.len() >= REDUCED_AT_ONCE_ROWS {
                    *reduced = vec![reducer.rereduce(reduced)?];
                }
                Ok(())
            }
            // Remembered results are of the same reduction.
            _ => Ok(()),
        }
    }
}

impl Reduced {
    /// As JSON.
    fn finish(self) -> Result<String> {
        match self {
            Reduced::BuiltIn(fold) => fold.finish(),
            Reduced::Own(value) => Ok(value),
        }
    }
}

/// The key of the group that a key is in.
fn group_of(key: &str, grouping: Grouping) -> String {
    match grouping {
        Grouping::All | Grouping::Level(0) => "null".to_owned(),
        Grouping::Exact => key.to_owned(),
        Grouping::Level(level) => first_elements(key, level).unwrap_or_else(|| key.to_owned()),
    }
}

/// An array with the first elements of an array; `None` if it has no more, or is no array.
fn first_elements(key: &str, level: usize) -> Option<String> {
    if !key.starts_with('[') {
        return None;
    }
    let mut parser = Parser::of_text(key);
    let mut elements = 0;
    while let Ok(Some(event)) = parser.next_event() {
        let ended = match event {
            Event::ArrayStart | Event::ObjectStart | Event::Key(_) => false,
            _ => parser.depth() == 1,
        };
        if ended {
            elements += 1;
            if elements == level {
                return Some(format!("{}]", key.get(..parser.offset())?));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_grouped_by_their_first_elements() {
        let cases = [
            ("[1,2,3]", 1, "[1]"),
            ("[1,2,3]", 2, "[1,2]"),
            ("[1,2,3]", 3, "[1,2,3]"),
            ("[1,2,3]", 9, "[1,2,3]"),
            ("[[1,2],{\"a\":[3]},\"],\"]", 1, "[[1,2]]"),
            ("[[1,2],{\"a\":[3]},\"],\"]", 2, "[[1,2],{\"a\":[3]}]"),
            ("[]", 1, "[]"),
            ("\"x\"", 1, "\"x\""),
            ("[1]", 0, "null"),
        ];
        for (key, level, group) in cases {
            assert_eq!(group_of(key, Grouping::Level(level)), group, "{key} {level}");
        }
    }
}
