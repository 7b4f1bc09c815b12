//! Conditions of a partial index: those of a text that an index can keep. Pure.

use super::{Clause, ConditionError, Parser};
use crate::condition::Condition;

/// The conditions of a text, for an index of the documents that meet all of them.
///
/// # Errors
/// It is not understood; or it has what an index cannot keep: `or`, `not`, `missing`, patterns.
pub fn of_index(text: &str) -> Result<Vec<Condition>, ConditionError> {
    let mut parser = Parser::new(text);
    let clauses = parser.clauses()?;
    let whole = Parser::new(text);
    let kept = clauses.into_iter().map(|clause| match clause {
        Clause::Matches(condition) => Ok(condition),
        Clause::Missing(path) => {
            Err(whole.error(format!("an index cannot be of documents that lack a member ({path} missing)")))
        }
        Clause::Selected(_) => {
            Err(whole.error("an index is of documents that meet conditions joined by and: no or, not, !=, ~, like"))
        }
    });
    kept.collect()
}
