//! The JSON Schema of a collection: read within bounds, and tested on bodies. It sees a document's own members, not
//! `_id` or `_rev`. References lead into the schema itself only, and regular expressions take linear time. Pure: text
//! in, verdicts out.

mod graph;

use std::fmt;
use std::sync::OnceLock;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use self::graph::Cost;
use crate::error::{Error, Result};
use crate::json::minify;
use crate::limits::{
    PATTERN_PROGRAM_BYTES_MAX, SCHEMA_BYTES_MAX, SCHEMA_PATTERNS_MAX, SCHEMA_TESTS_MAX, VIOLATION_CHARS_MAX,
};

/// The JSON Schema of a collection, for `Collection::set_schema`.
///
/// A schema is of draft 2020-12 unless its `$schema` names another: drafts 4, 6, 7 and 2019-09. It is tested on the
/// members of a document whose names do not begin with `_`.
///
/// ```
/// use recension::Schema;
/// # fn main() -> recension::Result<()> {
/// let schema = Schema::from_json(r#"{"required":["sku"],"properties":{"sku":{"type":"string"}}}"#)?;
/// assert!(schema.check("a", r#"{"sku":"x-1"}"#).is_ok());
/// let error = schema.check("b", r#"{"sku":5}"#).unwrap_err();
/// assert_eq!(error.to_string(), r#"document "b" does not fit the schema: at /sku: 5 is not of type "string""#);
/// # Ok(()) }
/// ```
pub struct Schema {
    text: String,
    /// The compiled schema, made when it is first needed: most readers of the catalogue never need it.
    made: OnceLock<std::result::Result<Box<Made>, String>>,
}

struct Made {
    validator: Validator,
    cost: Cost,
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// [`Error::BadSchema`] if it is none, or beyond a bound: 64 KiB, and 256 regular expressions.
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        let text = text.as_ref();
        if text.len() > SCHEMA_BYTES_MAX {
            return Err(bad("it is longer than 64 KiB"));
        }
        let text = minify(text)?;
        let schema = Schema::stored(text);
        schema.made()?;
        Ok(schema)
    }

    /// A schema that was read before.
    pub fn stored(text: String) -> Self {
        Schema { text, made: OnceLock::new() }
    }

    /// Its JSON text, minified.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Checks that the document `id` may have the body `body`.
    ///
    /// # Errors
    /// [`Error::NotOfSchema`] with the first problem; [`Error::BadSchema`] if a newer release has stored a schema that
    /// this one cannot read.
    pub fn check(&self, id: &str, body: &str) -> Result<()> {
        let Made { validator, cost } = self.made()?;
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

    fn made(&self) -> Result<&Made> {
        let made = self.made.get_or_init(|| made(&self.text).map(Box::new));
        made.as_deref().map_err(|why| bad(why.clone()))
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

/// Whether the schema of a collection applies to the document `id`: it does not to design documents.
pub fn is_of_schema(id: &str) -> bool {
    !id.starts_with("_design/")
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

fn bad(why: impl Into<String>) -> Error {
    Error::BadSchema { why: why.into() }
}

/// A text that quotes a document, shortened if it is long.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(VIOLATION_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Schema {}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.text).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_that_reach_outside_or_beyond_a_bound_are_refused() {
        let long = format!(r#"{{"title":"{}"}}"#, "x".repeat(SCHEMA_BYTES_MAX));
        let patterns: Vec<String> = (0..=SCHEMA_PATTERNS_MAX).map(|n| format!(r#""a{n}":{{"pattern":"b"}}"#)).collect();
        let patterns = format!(r#"{{"properties":{{{}}}}}"#, patterns.join(","));
        let deep = format!("{}{}", r#"{"not":"#.repeat(200), "true".to_owned() + &"}".repeat(200));
        for text in [
            r#"{"$ref":"https://example.com/a.json"}"#,
            r#"{"properties":{"a":{"$ref":"file:///etc/passwd"}}}"#,
            r##"{"$ref":"#/$defs/nowhere"}"##,
            r#"{"type":"text"}"#,
            r#"{"pattern":"(?=a)b"}"#,
            r#"{"pattern":"(a)\\1"}"#,
            r#"{"pattern":"(\\w{1000}){1000}"}"#,
            r#"{"required":"a"}"#,
            "[]",
            "5",
            "{",
            &long,
            &patterns,
            &deep,
        ] {
            let shown: String = text.chars().take(60).collect();
            let refused = Schema::from_json(text);
            assert!(matches!(refused, Err(Error::BadSchema { .. } | Error::Json(_))), "{shown}: {refused:?}");
        }
    }

    #[test]
    fn schemas_that_multiply_are_refused_and_those_that_lead_in_circles_end_soon() {
        // Each of 40 definitions refers to the next one twice: 2^40 tests.
        let definition =
            |n| format!(r##""d{n}":{{"allOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##, n + 1);
        let defs: Vec<String> = (0..40).map(definition).collect();
        let doubled = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d40":{{}}}}}}"##, defs.join(","));
        assert!(matches!(Schema::from_json(doubled), Err(Error::BadSchema { .. })));
        let tree = r##"{"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]},"n":{"type":"string"}}}"##;
        let nested = |n: usize| format!("{}{{\"n\":1}}{}", r#"{"a":"#.repeat(n), "}".repeat(n));
        let tree = Schema::from_json(tree).unwrap();
        for n in [0, 5, 60, 100, 126, 200] {
            assert!(matches!(tree.check("d", &nested(n)), Err(Error::NotOfSchema { .. })), "{n}");
        }
        let circle = Schema::from_json(r##"{"$ref":"#"}"##);
        assert!(circle.is_err() || circle.is_ok_and(|circle| circle.check("d", "{}").is_ok()));
    }
}
