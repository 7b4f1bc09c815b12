//! The JSON Schema of a collection: read within bounds, and tested on bodies. It sees a document's own members, not
//! `_id` or `_rev`. References lead into the schema itself only, and regular expressions take linear time. Pure: text
//! in, verdicts out.

#[cfg(feature = "schema")]
mod graph;
#[cfg(feature = "schema")]
mod validator;
#[cfg(feature = "schema")]
mod words;

use std::fmt;
#[cfg(feature = "schema")]
use std::sync::OnceLock;

#[cfg(feature = "schema")]
use self::validator::Made;
use crate::error::{Error, Result};
use crate::json::minify_naming_repeats;
use crate::limits::SCHEMA_BYTES_MAX;
#[cfg(not(feature = "schema"))]
use recension_engine::EngineError;

/// The JSON Schema of a collection, for `Settings::set_schema`.
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
    #[cfg(feature = "schema")]
    made: OnceLock<std::result::Result<Box<Made>, String>>,
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
        let (text, repeated) = minify_naming_repeats(text)?;
        if let Some(name) = repeated {
            return Err(bad(format!("`{name}` is there twice")));
        }
        #[cfg(feature = "schema")]
        if let Some(why) = serde_json::from_str(&text).ok().and_then(|schema| words::misspelt(&schema)) {
            return Err(bad(why));
        }
        let schema = Schema::stored(text);
        schema.made()?;
        Ok(schema)
    }

    /// A schema that was read before.
    pub fn stored(text: String) -> Self {
        Schema {
            text,
            #[cfg(feature = "schema")]
            made: OnceLock::new(),
        }
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
        self.made()?.check(id, body)
    }

    #[cfg(feature = "schema")]
    fn made(&self) -> Result<&Made> {
        let made = self.made.get_or_init(|| Made::of(&self.text).map(Box::new));
        made.as_deref().map_err(|why| bad(why.clone()))
    }

    #[cfg(not(feature = "schema"))]
    #[allow(clippy::unused_self)] // the one above needs it
    fn made(&self) -> Result<Made> {
        Err(EngineError::not_built_in("a collection with a schema", "schema").into())
    }
}

/// No schema is compiled in a build without the feature.
#[cfg(not(feature = "schema"))]
enum Made {}

#[cfg(not(feature = "schema"))]
impl Made {
    fn check(&self, _: &str, _: &str) -> Result<()> {
        match *self {}
    }
}

/// Whether the schema of a collection applies to the document `id`: it does not to design documents.
pub fn is_of_schema(id: &str) -> bool {
    !id.starts_with("_design/")
}

fn bad(why: impl Into<String>) -> Error {
    Error::BadSchema { why: why.into() }
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

#[cfg(all(test, feature = "schema"))]
mod tests {
    use super::*;
    use crate::limits::SCHEMA_PATTERNS_MAX;

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
