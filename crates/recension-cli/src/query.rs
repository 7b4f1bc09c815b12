//! The conditions of `find`: `population >= 1000000 and countrycode in [PT, ES]`. Text in, values out.
//! It must never panic on what a person types, and every refusal points at the place.

use std::fmt;

use recension::document::{Condition, JsonType, Literal, Path, Query, ValueRange, ValueSet};
use serde::de::IgnoredAny;
use serde_json::Value;

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// The values at a path lie in a set.
    Matches(Condition),
    /// There is no value at a path.
    Missing(Path),
}

/// A query that all of `clauses` must hold for.
pub fn query(clauses: Vec<Clause>) -> Query {
    clauses.into_iter().fold(Query::new(), |query, clause| match clause {
        Clause::Matches(Condition { path, values }) => query.matching(path, values),
        Clause::Missing(path) => query.without(path),
    })
}

/// Why a text is no condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    text: String,
    /// The character at which it went wrong.
    at: usize,
    what: String,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the condition cannot be understood: {}", self.what)?;
        writeln!(f, "  {}", self.text.replace(|character: char| character.is_control(), " "))?;
        write!(f, "  {:>width$}", "^", width = self.at + 1)
    }
}

impl std::error::Error for QueryError {}

/// The conditions of a text, all of which must hold. An empty text has none: every document meets it.
pub fn parse(text: &str) -> Result<Vec<Clause>, QueryError> {
    let mut parser = Parser { text, rest: text };
    let mut conditions = Vec::new();
    if parser.peek().is_none() {
        return Ok(conditions);
    }
    loop {
        let path = parser.path()?;
        conditions.push(parser.condition(path)?);
        if parser.peek().is_none() {
            return Ok(conditions);
        }
        let and = parser.rest;
        if !parser.word().eq_ignore_ascii_case("and") {
            parser.rest = and;
            return Err(parser.error("expected 'and' or the end"));
        }
    }
}

/// A path: `a.b`, `items[0].sku`, or `"a.b".c` where a name has other characters.
pub fn parse_path(text: &str) -> Result<Path, QueryError> {
    let mut parser = Parser { text, rest: text };
    let path = parser.path()?;
    match parser.peek() {
        None => Ok(path),
        Some(_) => Err(parser.error("expected the end of the path")),
    }
}

fn json(text: String) -> String {
    Value::String(text).to_string()
}

struct Parser<'t> {
    text: &'t str,
    rest: &'t str,
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || "_-$@/".contains(character)
}

impl<'t> Parser<'t> {
    fn error(&self, what: impl Into<String>) -> QueryError {
        let passed = &self.text[..self.text.len() - self.rest.len()];
        QueryError { text: self.text.to_owned(), at: passed.chars().count(), what: what.into() }
    }

    /// The next character that is no white space, which stays.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// The characters of a word, possibly none.
    fn word(&mut self) -> &'t str {
        let end = self.rest.find(|character| !is_word(character)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn path(&mut self) -> Result<Path, QueryError> {
        let start = (self.peek(), self.rest).1;
        // As the library reads it, with what was quoted escaped.
        let mut text = String::new();
        loop {
            let name = match self.peek() {
                Some(quote @ ('"' | '\'')) => self.quoted(quote)?,
                _ => self.word().to_owned(),
            };
            if name.is_empty() {
                return Err(self.error("expected the name of a member, such as population or address.city"));
            }
            for character in name.chars() {
                if ".[]\\".contains(character) {
                    text.push('\\');
                }
                text.push(character);
            }
            while self.rest.starts_with('[') {
                let end =
                    self.rest.find(']').ok_or_else(|| self.error("the bracket that begins here is never closed"))?;
                text.push_str(&self.rest[..=end]);
                self.rest = &self.rest[end + 1..];
            }
            match self.rest.strip_prefix('.') {
                Some(rest) => {
                    self.rest = rest;
                    text.push('.');
                }
                None => break,
            }
        }
        text.parse().map_err(|error: recension::document::Error| {
            self.rest = start;
            self.error(error.to_string())
        })
    }

    fn condition(&mut self, path: Path) -> Result<Clause, QueryError> {
        type RangeOf = fn(Literal) -> ValueRange;
        const SIGNS: [(&str, RangeOf); 6] = [
            ("<=", ValueRange::at_most),
            (">=", ValueRange::at_least),
            ("==", ValueRange::equal),
            ("<", ValueRange::below),
            (">", ValueRange::above),
            ("=", ValueRange::equal),
        ];
        self.peek();
        for (sign, range) in SIGNS {
            if let Some(rest) = self.rest.strip_prefix(sign) {
                self.rest = rest;
                return Ok(Clause::Matches(Condition::new(path, range(self.literal()?))));
            }
        }
        let start = self.rest;
        let values: ValueSet = match self.word() {
            "in" => ValueSet::one_of(self.list()?),
            "prefix" => match serde_json::from_str(self.literal()?.text()) {
                Ok(Value::String(prefix)) => ValueRange::prefix(prefix).into(),
                _ => return Err(self.error("a prefix is text; write it in quotes")),
            },
            "contains" => {
                let element = format!("{path}[]").parse().map_err(|error: recension::document::Error| {
                    self.rest = start;
                    self.error(error.to_string())
                })?;
                let values = ValueRange::equal(self.literal()?);
                return Ok(Clause::Matches(Condition::new(element, values)));
            }
            "exists" => ValueRange::anything().into(),
            "missing" => return Ok(Clause::Missing(path)),
            "is" => ValueRange::of_type(self.json_type()?).into(),
            _ => {
                self.rest = start;
                return Err(
                    self.error("expected one of = < <= > >= in prefix contains exists missing is after the name")
                );
            }
        };
        Ok(Clause::Matches(Condition::new(path, values)))
    }

    fn literal(&mut self) -> Result<Literal, QueryError> {
        let start = (self.peek(), self.rest).1;
        let value = self.value()?;
        Literal::json(value).map_err(|error| {
            self.rest = start;
            self.error(error.to_string())
        })
    }

    /// Values in brackets with commas between them.
    fn list(&mut self) -> Result<Vec<Literal>, QueryError> {
        if self.peek() != Some('[') {
            return Err(self.error("expected a list, such as [PT, ES]"));
        }
        self.rest = &self.rest[1..];
        let mut values = Vec::new();
        loop {
            if self.peek() == Some(']') {
                self.rest = &self.rest[1..];
                return Ok(values);
            }
            values.push(self.literal()?);
            match self.peek() {
                Some(',') => self.rest = &self.rest[1..],
                Some(']') => {}
                _ => return Err(self.error("expected a comma or the end of the list")),
            }
        }
    }

    fn json_type(&mut self) -> Result<JsonType, QueryError> {
        const TYPES: [(&str, JsonType); 6] = [
            ("null", JsonType::Null),
            ("boolean", JsonType::Bool),
            ("number", JsonType::Number),
            ("string", JsonType::String),
            ("array", JsonType::Array),
            ("object", JsonType::Object),
        ];
        let start = (self.peek(), self.rest).1;
        let word = self.word();
        TYPES.iter().find(|(name, _)| *name == word).map(|(_, of_type)| *of_type).ok_or_else(|| {
            self.rest = start;
            self.error("expected a type: null, boolean, number, string, array or object")
        })
    }

    fn value(&mut self) -> Result<String, QueryError> {
        match self.peek() {
            Some(quote @ ('"' | '\'')) => self.quoted(quote).map(json),
            Some('{' | '[') => {
                let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<IgnoredAny>();
                match values.next() {
                    Some(Ok(_)) => {
                        let (value, rest) = self.rest.split_at(values.byte_offset());
                        self.rest = rest;
                        Ok(value.trim().to_owned())
                    }
                    _ => Err(self.error("this is no whole JSON value")),
                }
            }
            _ => {
                let end = self.rest.find(|character| !is_word(character) && !".+:".contains(character));
                let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                if word.is_empty() {
                    return Err(self.error("expected a value: text in quotes, a number, true, false or null"));
                }
                // A number, true, false or null is itself; a bare word is text, to spare quotes in a shell.
                let is_json = serde_json::from_str::<IgnoredAny>(word).is_ok();
                self.rest = rest;
                Ok(if is_json { word.to_owned() } else { json(word.to_owned()) })
            }
        }
    }

    /// Text in quotes; in double quotes with JSON's escapes, in single ones as it is.
    fn quoted(&mut self, quote: char) -> Result<String, QueryError> {
        let inside = &self.rest[1..];
        let mut escaped = false;
        for (at, character) in inside.char_indices() {
            if escaped {
                escaped = false;
            } else if character == '\\' && quote == '"' {
                escaped = true;
            } else if character == quote {
                let text = if quote == '"' {
                    serde_json::from_str(&self.rest[..at + 2])
                        .map_err(|_| self.error("the text in quotes has an escape that JSON does not know"))?
                } else {
                    inside[..at].to_owned()
                };
                self.rest = &inside[at + 1..];
                return Ok(text);
            }
        }
        Err(self.error("the quote that begins here is never closed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(path: &[&str], values: impl Into<ValueSet>) -> Clause {
        Clause::Matches(Condition::new(Path::from_segments(path.iter().copied()).unwrap(), values))
    }

    fn json(text: &str) -> Literal {
        Literal::json(text).unwrap()
    }

    #[test]
    fn conditions_are_names_comparisons_and_values_joined_by_and() {
        for (text, conditions) in [
            ("", vec![]),
            (r#"name = "Porto""#, vec![matches(&["name"], ValueRange::equal("Porto"))]),
            ("name=Porto", vec![matches(&["name"], ValueRange::equal("Porto"))]),
            ("a.b>=-1.5e3", vec![matches(&["a", "b"], ValueRange::at_least(json("-1.5e3")))]),
            (r#""a.b".'c d' > null"#, vec![matches(&["a.b", "c d"], ValueRange::above(json("null")))]),
            (r#"x = "\"é\\""#, vec![matches(&["x"], ValueRange::equal("\"é\\"))]),
            ("x == [1, {\"a\": 2}] ", vec![matches(&["x"], ValueRange::equal(json("[1, {\"a\": 2}]")))]),
            (
                "10 <= 5 AND timezone < Europe/Lisbon and ok = true",
                vec![
                    matches(&["10"], ValueRange::at_most(5)),
                    matches(&["timezone"], ValueRange::below("Europe/Lisbon")),
                    matches(&["ok"], ValueRange::equal(true)),
                ],
            ),
            ("n = 12345678901234567890123", vec![matches(&["n"], ValueRange::equal(json("12345678901234567890123")))]),
            ("at > 2026-11-21T10:00:00Z", vec![matches(&["at"], ValueRange::above("2026-11-21T10:00:00Z"))]),
            ("名 = 東京", vec![matches(&["名"], ValueRange::equal("東京"))]),
            ("c in [PT, 'E S',3]", vec![matches(&["c"], ValueSet::one_of([json("\"PT\""), "E S".into(), json("3")]))]),
            ("c in []", vec![matches(&["c"], ValueSet::one_of(Vec::<Literal>::new()))]),
            (
                "name prefix Por and x exists",
                vec![matches(&["name"], ValueRange::prefix("Por")), matches(&["x"], ValueRange::anything())],
            ),
            ("note missing", vec![Clause::Missing("note".parse().unwrap())]),
            ("in is number", vec![matches(&["in"], ValueRange::of_type(JsonType::Number))]),
            (
                "tags contains red",
                vec![Clause::Matches(Condition::new("tags[]".parse().unwrap(), ValueRange::equal("red")))],
            ),
            ("tags[] >= 3", vec![Clause::Matches(Condition::new("tags[]".parse().unwrap(), ValueRange::at_least(3)))]),
        ] {
            assert_eq!(parse(text).as_ref(), Ok(&conditions), "{text}");
        }
    }

    #[test]
    fn a_refusal_points_at_the_place() {
        for (text, at, what) in [
            ("name", 4, "expected one of = < <="),
            ("name =", 6, "expected a value"),
            ("a != 3", 2, "expected one of = < <="),
            ("a like 3", 2, "expected one of = < <="),
            ("= 3", 0, "expected the name"),
            ("a. = 3", 3, "expected the name"),
            ("é = \"x", 4, "never closed"),
            ("a = 1 or b = 2", 6, "expected 'and'"),
            ("a = 1 and", 9, "expected the name"),
            ("a = [1", 4, "no whole JSON value"),
            (r#"a = "\q""#, 4, "an escape"),
            ("a = %", 4, "expected a value"),
            ("x[1 = 2", 1, "never closed"),
            ("x[y] = 2", 0, "the number of an element"),
            ("c in PT", 5, "expected a list"),
            ("c in [PT", 8, "a comma or the end"),
            ("c in [PT ES]", 9, "a comma or the end"),
            ("c in [,]", 6, "expected a value"),
            ("c prefix 3", 10, "a prefix is text"),
            ("c is blue", 5, "expected a type"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.at, at, "{text}: {error}");
            assert!(error.what.contains(what), "{text}: {error}");
        }
        assert_eq!(parse_path("items[0].sku").unwrap(), "items[0].sku".parse().unwrap());
        let shown = parse("é = \"x").unwrap_err().to_string();
        assert!(shown.ends_with("  é = \"x\n      ^"), "{shown}");
    }
}
