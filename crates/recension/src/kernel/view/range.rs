//! Ranges of a view's rows: of keys, of ids within a key, of a partition. Pure.

use std::ops::Bound;

use crate::engine::{Direction, KeyRange, successor_of_prefix};
use crate::kernel::rows::view_rows::{ROW, partition_prefix};
use recension_values::error::Result;
use recension_values::view::ViewOptions;

/// An end of a range of a view's rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ViewEdge {
    /// The key, as JSON.
    pub key: String,
    /// Within the key, the id. `None`: all rows of the key are on one side.
    pub id: Option<String>,
    /// Whether the rows of the key, or of the id within it, are in the range.
    pub inclusive: bool,
}

impl ViewEdge {
    /// At a key, whose rows are in the range.
    pub fn at(key: impl Into<String>) -> Self {
        ViewEdge { key: key.into(), id: None, inclusive: true }
    }
}

/// Rows of a view, in the order of their keys and of ids within a key. The default is all of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ViewRange {
    /// The lower end; `None`: the first row.
    pub start: Option<ViewEdge>,
    /// The upper end; `None`: the last row.
    pub end: Option<ViewEdge>,
    /// Only the rows of a partition, if the view has partitions.
    pub partition: Option<String>,
    /// Ascending or descending.
    pub direction: Direction,
}

impl Default for ViewRange {
    fn default() -> Self {
        ViewRange { start: None, end: None, partition: None, direction: Direction::Forward }
    }
}

impl ViewRange {
    /// The rows of one key.
    pub fn key(key: impl Into<String>) -> Self {
        let edge = ViewEdge::at(key);
        ViewRange { start: Some(edge.clone()), end: Some(edge), ..Self::default() }
    }

    /// The rows that come before the first of these, in their direction.
    #[must_use]
    pub fn before(&self) -> Option<Self> {
        let turned = |edge: &ViewEdge| ViewEdge { inclusive: !edge.inclusive, ..edge.clone() };
        let all = ViewRange { partition: self.partition.clone(), ..Self::default() };
        match self.direction {
            Direction::Forward => self.start.as_ref().map(|start| ViewRange { end: Some(turned(start)), ..all }),
            Direction::Backward => self.end.as_ref().map(|end| ViewRange { start: Some(turned(end)), ..all }),
        }
    }

    /// The keys of the view's tree.
    pub(crate) fn keys(&self, options: ViewOptions) -> Result<KeyRange> {
        let prefix = match &self.partition {
            Some(partition) if options.partitioned => partition_prefix(partition),
            _ => vec![ROW],
        };
        let key = |edge: &ViewEdge| -> Result<Vec<u8>> {
            let mut key = prefix.clone();
            options.collation.encode_value(&edge.key, &mut key)?;
            if let Some(id) = &edge.id {
                key.extend(id.as_bytes());
            }
            Ok(key)
        };
        // Behind the rows of a key, or of an id within it.
        let behind = |edge: &ViewEdge| -> Result<Vec<u8>> {
            let mut key = key(edge)?;
            key.extend(edge.id.iter().map(|_| 0));
            Ok(successor_of_prefix(&key).unwrap_or(key))
        };
        let start = match &self.start {
            None => prefix.clone(),
            Some(edge) if edge.inclusive => key(edge)?,
            Some(edge) => behind(edge)?,
        };
        let end = match &self.end {
            None => successor_of_prefix(&prefix).unwrap_or_default(),
            Some(edge) if edge.inclusive => behind(edge)?,
            Some(edge) => key(edge)?,
        };
        Ok(KeyRange { start: Bound::Included(start), end: Bound::Excluded(end) })
    }
}
