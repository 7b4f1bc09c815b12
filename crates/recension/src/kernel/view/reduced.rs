//! Reducing rows of a view, in groups, in bounded memory.

use crate::engine::Direction;
use crate::kernel::rows::view_rows::ROW;
use crate::kernel::view::ahead::{Ahead, Reduced, ReducedBlocks};
use crate::kernel::view::range::ViewRange;
use crate::kernel::view::read::{ViewAt, ViewRows};
use recension_values::error::Result;
use recension_values::json::{Event, Parser};
use recension_values::limits::{REDUCED_AT_ONCE_BYTES, REDUCED_AT_ONCE_ROWS};
use recension_values::reduce::{BuiltIn, Fold};
use recension_values::view::ViewOptions;
use std::sync::Arc;

/// A custom reduction. Its result must not depend on how rows are grouped: reduced values are reduced again.
pub trait Reducer: Send + Sync {
    /// Reduces rows: the key, the document's id and the value of each. Key and value are JSON.
    fn reduce(&self, rows: &[(String, String, String)]) -> Result<String>;
    /// Identifies it, so that its results can be remembered. `None`: they are not.
    fn signature(&self) -> Option<String> {
        None
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
    /// Rows whose keys, if they are arrays, begin with so many equal elements; other keys as they are.
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
        Ok(ViewGroups { rows, grouping, reduction: reduction.clone(), ahead: None, next: None, ended: false })
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
            groups.ahead = Some(Ahead::new(remembered.clone(), by.into(), tree, groups.rows.left()));
        }
        Ok(groups)
    }
}

/// Groups of rows of a view, reduced one after the other.
pub struct ViewGroups {
    rows: ViewRows,
    grouping: Grouping,
    reduction: Reduction,
    /// Blocks that can be taken whole.
    ahead: Option<Ahead>,
    /// The first row of the next group.
    next: Option<Taken>,
    ended: bool,
}

/// A row on its way into a group.
struct Taken {
    group: String,
    collated: Vec<u8>,
    key: String,
    id: String,
    value: String,
}

impl ViewGroups {
    /// Releases what the engine holds for it. The next group continues behind the last one.
    pub fn rest(&mut self) {
        self.rows.rest();
    }

    fn take(&mut self) -> Result<Option<Taken>> {
        if let Some(taken) = self.next.take() {
            return Ok(Some(taken));
        }
        if let Some(ahead) = &mut self.ahead
            && let Some(key) = self.rows.peek_kept()?
            && ahead.is_at(key)
        {
            // A block from which one row was taken alone is not taken whole.
            let (key, view) = (key.to_vec(), self.rows.view().clone());
            ahead.enters(&view, &key)?;
        }
        taken_of(&mut self.rows, self.grouping, matches!(self.reduction, Reduction::Own(_)))
    }

    fn group(&mut self) -> Result<Option<ReducedRow>> {
        let Some(first) = self.take()? else { return Ok(None) };
        let key = first.group.clone();
        // Keys that differ only in their texts (1 and 1.0) are one key.
        let exact = (self.grouping == Grouping::Exact).then(|| first.collated.clone());
        let mut partial = Partial::of(&self.reduction);
        partial.add(first)?;
        loop {
            while self.take_block(&key, exact.as_deref(), &mut partial)? {}
            let Some(taken) = self.take()? else { break };
            let same = match &exact {
                Some(collated) => *collated == taken.collated,
                None => key == taken.group,
            };
            if !same {
                self.next = Some(taken);
                break;
            }
            partial.add(taken)?;
        }
        Ok(Some(ReducedRow { key, value: partial.finish()? }))
    }

    /// Takes a whole block into a group, if the next row is the block's first and all of the block's rows are in the
    /// group.
    fn take_block(&mut self, group: &str, exact: Option<&[u8]>, partial: &mut Partial) -> Result<bool> {
        let Some(ahead) = &mut self.ahead else { return Ok(false) };
        let options = self.rows.options();
        let Some(key) = self.rows.peek_kept()? else { return Ok(false) };
        if !ahead.is_at(key) {
            return Ok(false);
        }
        let (key, view) = (key.to_vec(), self.rows.view().clone());
        let Some((block, next)) = ahead.enters(&view, &key)? else { return Ok(false) };
        let is_of_group = |row: &[u8]| -> bool {
            let Some((text, collated)) = key_in(row, options) else { return false };
            match (self.grouping, exact) {
                (Grouping::All, _) => true,
                (_, Some(exact)) => exact == collated,
                (grouping, None) => group_of(&text, grouping) == group,
            }
        };
        let whole = self.grouping == Grouping::All || (is_of_group(&key) && is_of_group(&next));
        if !whole {
            return Ok(false);
        }
        let reduction = &self.reduction;
        let reduced = ahead.reduced(&block, || {
            let mut own = Partial::of(reduction);
            let mut rows = view.between(&block.start, &next);
            while let Some(taken) = taken_of(&mut rows, Grouping::All, matches!(reduction, Reduction::Own(_)))? {
                own.add(taken)?;
            }
            own.reduced()
        })?;
        partial.add_reduced(reduced)?;
        self.rows.go_on_at(next);
        Ok(true)
    }
}

/// The key of a row as JSON and as it is collated, from the key of the row in its tree.
fn key_in(row: &[u8], options: ViewOptions) -> Option<(String, &[u8])> {
    let mut after = row.strip_prefix(&[ROW])?;
    if options.partitioned {
        let end = after.iter().position(|byte| *byte == 0)?;
        after = after.get(end + 1..)?;
    }
    let mut text = String::new();
    let length = options.collation.decode_value(after, &mut text)?;
    Some((text, after.get(..length)?))
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
        if self.ended {
            return None;
        }
        let group = self.group().transpose();
        self.ended = !matches!(group, Some(Ok(_)));
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

    /// Its result, for another group to take.
    fn reduced(self) -> Result<Reduced> {
        match self {
            Partial::BuiltIn(fold) => Ok(Reduced::BuiltIn(fold)),
            own @ Partial::Own { .. } => own.finish().map(Reduced::Own),
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

    fn finish(self) -> Result<String> {
        match self {
            Partial::BuiltIn(fold) => fold.finish(),
            Partial::Own { reducer, rows, mut reduced, .. } => {
                if reduced.is_empty() {
                    return reducer.reduce(&rows);
                }
                if !rows.is_empty() {
                    reduced.push(reducer.reduce(&rows)?);
                }
                reducer.rereduce(&reduced)
            }
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
