//! The compiled form of a schema: what of the work needs the crate `jsonschema`. Pure.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use super::graph::{self, Cost};
use crate::error::{Error, Result};
use crate::limits::{PATTERN_PROGRAM_BYTES_MAX, SCHEMA_PATTERNS_MAX, SCHEMA_TESTS_MAX, VIOLATION_CHARS_MAX};

/// A compiled schema.
pub(super) struct Made {
    validator: Validator,
    cost: Cost,
}

impl Made {
    /// Compiles a schema, or says why it is none.
    pub(super) fn of(text: &str) -> std::result::Result<Self, String> {
        made(text)
    }

    /// Checks that the document `id` may have the body `body`.
    pub(super) fn check(&self, id: &str, body: &str) -> Result<()> {
        let Made { validator, cost } = self;
        let refused = |path: String, why: String| Error::NotOfSchema { id: id.to_owned(), path, why };
        let body: Value = serde_json::from_str(body).map_err(|error| {
            let why = format!("it cannot be tested: {error}; a schema reads at most 127 levels of nesting");
            refused(String::new(), why)
        })?;
        if validator.is_valid(&body) {
            return Ok(());
        }
        if !cost.is_small(&body) {
            let why = "it does not fit; the schema refers to itself in too many ways to find the place";
            return Err(refused(String::new(), why.to_owned()));
        }
        match validator.validate(&body) {
            Ok(()) => Ok(()),
            Err(error) => Err(refused(shortened(error.instance_path().as_str()), shortened(&error.to_string()))),
        }
    }
}

impl Cost {
    /// Whether finding the problem of a value takes little time; finding out that there is one always does.
    fn is_small(self, value: &Value) -> bool {
        let tests = (0..levels(value)).fold(1_u64, |tests, _| tests.saturating_mul(self.per_level));
        tests <= SCHEMA_TESTS_MAX
    }
}

fn levels(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(levels).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

fn made(text: &str) -> std::result::Result<Made, String> {
    let schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if patterns(&schema) > SCHEMA_PATTERNS_MAX {
        return Err(format!("it has more than {SCHEMA_PATTERNS_MAX} regular expressions"));
    }
    let cost = graph::cost(&schema)?;
    if cost.tests > SCHEMA_TESTS_MAX {
        let max = SCHEMA_TESTS_MAX;
        return Err(format!(
            "it may come to more than {max} tests of one value; let fewer definitions stand for others"
        ));
    }
    let linear =
        PatternOptions::regex().size_limit(PATTERN_PROGRAM_BYTES_MAX).dfa_size_limit(PATTERN_PROGRAM_BYTES_MAX);
    let options = jsonschema::options().offline().with_pattern_options(linear);
    let validator = options.build(&schema).map_err(|error| match error.instance_path().as_str() {
        "" => shortened(&error.to_string()),
        path => format!("at {}: {}", shortened(path), shortened(&error.to_string())),
    })?;
    Ok(Made { validator, cost })
}

/// How many regular expressions a schema has at most.
fn patterns(schema: &Value) -> usize {
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| {
                let own = match (name.as_str(), value) {
                    ("pattern", Value::String(_)) => 1,
                    ("patternProperties", Value::Object(patterns)) => patterns.len(),
                    _ => 0,
                };
                own + patterns(value)
            })
            .sum(),
        Value::Array(values) => values.iter().map(patterns).sum(),
        _ => 0,
    }
}

/// A text that quotes a document, shortened if it is long.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(VIOLATION_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
