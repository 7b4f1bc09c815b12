//! Damaged places, as verify and salvage print them.

use recension::engine::Problem;
use serde_json::{Value, json};

use crate::output::table;

/// As a table; `None` if there are none.
pub fn tabulated(problems: &[Problem]) -> Option<String> {
    let row = |problem: &Problem| vec![json!(problem.file), json!(problem.offset), json!(problem.what)];
    let rows: Vec<Vec<Value>> = problems.iter().map(row).collect();
    (!rows.is_empty()).then(|| table(&["file", "offset", "what"], &rows))
}

/// As a JSON array.
pub fn to_json(problems: &[Problem]) -> Value {
    problems
        .iter()
        .map(|problem| json!({"file": problem.file, "offset": problem.offset, "what": problem.what}))
        .collect()
}
