//! The reason for which a JSON patch is invalid, or could not be applied: the operation, and the place.

use std::fmt;

use super::Pointer;

/// A JSON patch that is invalid, or could not be applied. Nothing of it was applied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatchError {
    /// The operation's number, from 0; `None` if the whole patch is at fault.
    pub operation: Option<usize>,
    /// The operation's kind: `add`, `remove` and so on; empty if it is not known.
    pub op: &'static str,
    /// The place that the operation names, if it names one.
    pub place: Option<Pointer>,
    /// What is wrong.
    pub problem: PatchProblem,
}

/// What is wrong with an operation of a JSON patch.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PatchProblem {
    /// It does not have the form of a patch or of an operation.
    Malformed(&'static str),
    /// There is no value at the place.
    NothingThere,
    /// The parent of the place is no array and no object, or does not exist.
    NoContainer,
    /// The place is in an array, and none of its elements.
    NotAnElement {
        /// How many elements there are.
        elements: usize,
    },
    /// The whole text cannot be removed.
    WholeText,
    /// A value cannot be moved into itself.
    IntoItself,
    /// The value is not the one that the test names.
    TestFailed {
        /// The value that is there, shortened.
        found: String,
    },
    /// There are more operations than a patch may have.
    TooManyOperations {
        /// The bound.
        max: usize,
    },
    /// The text would nest deeper than the bound.
    TooDeep {
        /// The bound, in levels.
        max: usize,
    },
    /// The text, or what the patch copies, would be longer than the bound.
    TooLong {
        /// The bound, in bytes.
        max: usize,
    },
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation {
            None => f.write_str("the JSON patch")?,
            Some(operation) => {
                write!(f, "operation {operation}")?;
                if !self.op.is_empty() {
                    write!(f, " ({})", self.op)?;
                }
                f.write_str(" of the JSON patch")?;
            }
        }
        if let Some(place) = &self.place {
            let shown: String = place.to_string().chars().take(200).collect();
            write!(f, ", at {shown:?}")?;
        }
        f.write_str(": ")?;
        match &self.problem {
            PatchProblem::Malformed(why) => f.write_str(why),
            PatchProblem::NothingThere => f.write_str("there is no value"),
            PatchProblem::NoContainer => f.write_str("there is no array or object to put the value in; add it first"),
            PatchProblem::NotAnElement { elements } => write!(
                f,
                "the array has {elements} elements, counted from 0 without leading zeros, \
                 and - is the place behind the last one, to add at"
            ),
            PatchProblem::WholeText => f.write_str("the whole document cannot be removed; delete it"),
            PatchProblem::IntoItself => f.write_str("a value cannot be moved into itself"),
            PatchProblem::TestFailed { found } => write!(f, "the value there is {found}, and another was expected"),
            PatchProblem::TooManyOperations { max } => write!(f, "a patch has at most {max} operations"),
            PatchProblem::TooDeep { max } => write!(f, "arrays and objects would nest deeper than {max} levels"),
            PatchProblem::TooLong { max } => write!(f, "the text would be longer than {max} bytes"),
        }
    }
}

impl std::error::Error for PatchError {}
