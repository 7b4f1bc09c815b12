//! Conditions as people type them, on the command line and in the console: `population >= 1000000 and countrycode in
//! [PT, ES]`. Text in, values out. It must never panic, whatever a person types, and every refusal points at its place.

mod hints;
mod of_index;

use std::fmt;

use serde_json::Value;

use crate::collation::JsonType;
use crate::condition::{Condition, Literal, ValueRange, ValueSet};
use crate::error::Error;
use crate::json::{Path, Step};
use crate::query::Query;
use crate::selector::Selector;
use crate::text::{Language, TextQuery};

use self::hints::{AskedMember, How};
pub use self::hints::{hints, hints_of_members, similar};
pub use self::of_index::of_index;

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// The values at a path lie in a set.
    Matches(Condition),
    /// There is no value at a path.
    Missing(Path),
    /// Any other condition: alternatives, negations, patterns.
    Selected(Selector),
}

impl Clause {
    fn selector(self) -> Selector {
        match self {
            Clause::Matches(Condition { path, values }) => Selector::at(path, values),
            Clause::Missing(path) => Selector::absent(path),
            Clause::Selected(selector) => selector,
        }
    }
}

/// The conjunction of `clauses`.
fn all_of(clauses: Vec<Clause>) -> Clause {
    match <[Clause; 1]>::try_from(clauses) {
        Ok([only]) => only,
        Err(clauses) => Clause::Selected(Selector::all(clauses.into_iter().map(Clause::selector))),
    }
}

/// A query that requires all of `clauses`.
pub fn query(clauses: Vec<Clause>) -> Query {
    clauses.into_iter().fold(Query::new(), |query, clause| match clause {
        Clause::Matches(Condition { path, values }) => query.matching(path, values),
        Clause::Missing(path) => query.without(path),
        Clause::Selected(selector) => query.selecting(selector),
    })
}

/// The error for a text that is not a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    text: String,
    /// The character at which the error is.
    at: usize,
    what: String,
    /// The kind of text that was expected.
    of: &'static str,
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the {} cannot be understood: {}", self.of, self.what)?;
        writeln!(f, "  {}", self.text.replace(|character: char| character.is_control(), " "))?;
        write!(f, "  {:>width$}", "^", width = self.at + 1)
    }
}

impl std::error::Error for ConditionError {}

impl ConditionError {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The character of the text at which the error is, from 0.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The same error, in a longer text that has this one at a character.
    #[must_use]
    pub fn within(self, text: &str, at: usize) -> Self {
        ConditionError { text: text.to_owned(), at: self.at + at, ..self }
    }

    /// What is wrong there.
    pub fn what(&self) -> &str {
        &self.what
    }
}

/// The conditions of a text. All of them must hold. An empty text has none, so every document meets it.
pub fn parse(text: &str) -> Result<Vec<Clause>, ConditionError> {
    let mut parser = Parser::new(text);
    parser.clauses()
}

/// The selector of a text.
pub fn selector(text: &str) -> Result<Selector, ConditionError> {
    Ok(Selector::all(parse(text)?.into_iter().map(Clause::selector)))
}

/// The selector of a condition on the rows of an aggregation. Their members have dots in their names.
pub fn of_rows(text: &str) -> Result<Selector, ConditionError> {
    let mut parser = Parser { flat: true, ..Parser::new(text) };
    Ok(Selector::all(parser.clauses()?.into_iter().map(Clause::selector)))
}

/// A path: `a.b`, `items[0].sku`, or `"a.b".c` if a name has other characters.
pub fn parse_path(text: &str) -> Result<Path, ConditionError> {
    let of_path = |error| ConditionError { of: "member", ..error };
    let mut parser = Parser::new(text);
    let path = parser.path().map_err(of_path)?;
    match parser.peek() {
        None => Ok(path),
        Some(_) => Err(of_path(parser.error("expected the end of the member's name"))),
    }
}

fn json(text: String) -> String {
    Value::String(text).to_string()
}

struct Parser<'t> {
    text: &'t str,
    rest: &'t str,
    /// Bare words are text, even those that could be numbers: an id is text.
    of_text: bool,
    /// A member's name with dots is one name, as it is in the rows of an aggregation.
    flat: bool,
    /// The last number, true, false or null.
    bare: Option<&'t str>,
    /// The members that were asked about.
    asked: Vec<AskedMember>,
}

/// Whether the values at a path are always text.
fn is_of_text(path: &Path) -> bool {
    matches!(path.steps(), [Step::Name(name)] if name == "_id" || name == "_rev")
}

/// How deep conditions nest in parentheses and negations.
const CONDITION_DEPTH_MAX: usize = 30;

/// The member of a condition, which is told from the text behind it.
fn asked(path: Path, text: &str) -> AskedMember {
    let rest = text.trim_start_matches(|sign: char| "=!<>".contains(sign));
    if rest.len() < text.len() {
        return AskedMember { path, how: How::Compares, value: rest.trim().to_owned() };
    }
    match text.strip_prefix("contains") {
        Some(value) => AskedMember { path, how: How::Contains, value: value.trim().to_owned() },
        None => AskedMember { path, how: How::Exists, value: String::new() },
    }
}

/// The regular expression of a pattern with `%` and `_`, as SQL has them.
fn of_like(wanted: &str, ignoring_case: bool) -> String {
    let mut pattern = String::from(if ignoring_case { "(?is)^" } else { "(?s)^" });
    let mut characters = wanted.chars().peekable();
    while let Some(character) = characters.next() {
        // A backslash takes the meaning from what follows.
        let escaped = characters.next_if(|next| character == '\\' && matches!(next, '%' | '_' | '\\'));
        match escaped.unwrap_or(character) {
            character if escaped.is_some() => {
                pattern.push('\\');
                pattern.push(character);
            }
            '%' => pattern.push_str(".*"),
            '_' => pattern.push('.'),
            character => {
                if character.is_ascii_punctuation() {
                    pattern.push('\\');
                }
                pattern.push(character);
            }
        }
    }
    pattern + "$"
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || "_-$@/".contains(character)
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        Parser { text, rest: text, of_text: false, flat: false, bare: None, asked: Vec::new() }
    }

    fn error(&self, what: impl Into<String>) -> ConditionError {
        let passed = &self.text[..self.text.len() - self.rest.len()];
        ConditionError { text: self.text.to_owned(), at: passed.chars().count(), what: what.into(), of: "condition" }
    }

    fn clauses(&mut self) -> Result<Vec<Clause>, ConditionError> {
        if self.peek().is_none() {
            return Ok(Vec::new());
        }
        let clauses = self.alternatives(0)?;
        let next = self.peek();
        if next == Some(',') && self.bare.is_some() && self.rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.error("expected the end of the number: numbers are written without commas, as in 1000000"));
        }
        if next.is_some() {
            return Err(self.error("expected 'and', 'or' or the end"));
        }
        Ok(clauses)
    }

    /// Parses conditions joined by `or`. If there is only one, returns its conditions, all of which must hold.
    fn alternatives(&mut self, depth: usize) -> Result<Vec<Clause>, ConditionError> {
        let first = self.conjunction(depth)?;
        if !self.takes("or") {
            return Ok(first);
        }
        let mut alternatives = vec![all_of(first).selector()];
        loop {
            alternatives.push(all_of(self.conjunction(depth)?).selector());
            if !self.takes("or") {
                return Ok(vec![Clause::Selected(Selector::any(alternatives))]);
            }
        }
    }

    /// Parses conditions joined by `and`.
    fn conjunction(&mut self, depth: usize) -> Result<Vec<Clause>, ConditionError> {
        let mut clauses = Vec::new();
        loop {
            clauses.extend(self.factor(depth)?);
            if !self.takes("and") {
                return Ok(clauses);
            }
        }
    }

    /// Parses a condition, a negation, or a condition in parentheses.
    fn factor(&mut self, depth: usize) -> Result<Vec<Clause>, ConditionError> {
        if depth > CONDITION_DEPTH_MAX {
            return Err(self.error("this nests too deeply"));
        }
        if self.peek() == Some('(') {
            let start = self.rest;
            self.rest = &self.rest[1..];
            let clauses = self.alternatives(depth + 1)?;
            if self.peek() == Some(')') {
                self.rest = &self.rest[1..];
                return Ok(clauses);
            }
            if self.rest.is_empty() {
                self.rest = start;
                return Err(self.error("the parenthesis that begins here is never closed"));
            }
            return Err(self.error("expected 'and', 'or' or a closing parenthesis"));
        }
        let start = self.rest;
        if self.takes("not") {
            let of_member = matches!(self.peek(), None | Some('=' | '!' | '<' | '>' | '~' | '.' | '['));
            if !of_member {
                let clauses = self.factor(depth + 1)?;
                return Ok(vec![Clause::Selected(Selector::not(all_of(clauses).selector()))]);
            }
            // It may be the name of a member.
            self.rest = start;
        }
        let path = self.path()?;
        if self.peek() == Some(',') {
            return Ok(vec![self.words_of_several(path)?]);
        }
        self.peek();
        let before = self.rest;
        let condition = self.condition(path.clone())?;
        let text = before.strip_suffix(self.rest).unwrap_or_default().trim();
        self.asked.push(asked(path, text));
        Ok(vec![condition])
    }

    /// `title, text words soup`
    fn words_of_several(&mut self, first: Path) -> Result<Clause, ConditionError> {
        let mut paths = vec![first];
        while self.peek() == Some(',') {
            self.rest = &self.rest[1..];
            paths.push(self.path()?);
        }
        if !self.takes("words") {
            return Err(self.error("several members can be asked for words only: expected words"));
        }
        let query = self.words()?;
        Ok(Clause::Selected(Selector::contains_text_in(paths, query)))
    }

    /// Parses the words to search for, and their language if there is one: `'hot soup' in english`.
    fn words(&mut self) -> Result<TextQuery, ConditionError> {
        let text = self.text("words are text; write them in quotes")?;
        let mut language = Language::Plain;
        if self.takes("in") {
            self.peek();
            let start = self.rest;
            let named = Language::named(self.word());
            language = named.map_err(|error| {
                self.rest = start;
                self.error(error.to_string())
            })?;
        }
        TextQuery::new(&text, language).map_err(|error| self.error(error.to_string()))
    }

    /// Takes a word if it is the next one. Returns whether it was.
    fn takes(&mut self, wanted: &str) -> bool {
        let start = (self.peek(), self.rest).1;
        let found = self.word().eq_ignore_ascii_case(wanted);
        if !found {
            self.rest = start;
        }
        found
    }

    /// The next character that is not white space, without taking it.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// The characters of a word. May be empty.
    fn word(&mut self) -> &'t str {
        let end = self.rest.find(|character| !is_word(character)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn path(&mut self) -> Result<Path, ConditionError> {
        let start = (self.peek(), self.rest).1;
        // The library parses it, with quoted names escaped.
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
        let path = if self.flat { Path::from_segments([text.replace('\\', "")]) } else { text.parse() };
        path.map_err(|error: Error| {
            self.rest = start;
            self.error(error.to_string())
        })
    }

    fn condition(&mut self, path: Path) -> Result<Clause, ConditionError> {
        type RangeOf = fn(Literal) -> ValueRange;
        const SIGNS: [(&str, RangeOf); 6] = [
            ("<=", ValueRange::at_most),
            (">=", ValueRange::at_least),
            ("==", ValueRange::equal),
            ("<", ValueRange::below),
            (">", ValueRange::above),
            ("=", ValueRange::equal),
        ];
        self.of_text = is_of_text(&path);
        self.peek();
        if let Some(rest) = self.rest.strip_prefix("!=") {
            self.rest = rest;
            return Ok(Clause::Selected(Selector::differs(path, self.literal()?)));
        }
        if let Some(rest) = self.rest.strip_prefix('~') {
            self.rest = rest;
            let pattern = self.text("a pattern is text; write it in quotes")?;
            return self.matching(path, &pattern);
        }
        for (sign, range) in SIGNS {
            if let Some(rest) = self.rest.strip_prefix(sign) {
                self.rest = rest;
                return Ok(Clause::Matches(Condition::new(path, range(self.literal()?))));
            }
        }
        let start = self.rest;
        let values: ValueSet = match self.word() {
            "in" => ValueSet::one_of(self.list()?),
            "not" if self.takes("in") => {
                let values = ValueSet::one_of(self.list()?);
                return Ok(Clause::Selected(Selector::not(Selector::at(path, values))));
            }
            word @ ("like" | "ilike") => {
                let wanted = self.text(
                    "a pattern is text, with % for any text and _ for a character (\\% and \\_ for themselves)",
                )?;
                return self.matching(path, &of_like(&wanted, word == "ilike"));
            }
            "ailike" => {
                let wanted = self.text("a pattern is text, with % for any text")?;
                return self.without_accents(path, &wanted);
            }
            "words" => {
                let query = self.words()?;
                return Ok(Clause::Selected(Selector::contains_text(path, query)));
            }
            "prefix" => ValueRange::prefix(self.text("a prefix is text; write it in quotes")?).into(),
            "contains" => {
                let element = format!("{path}[]").parse::<Path>().map_err(|error: Error| {
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
                return Err(self.error(
                    "expected one of = != < <= > >= ~ in not in like ilike ailike words prefix contains exists missing \
                        is after the name",
                ));
            }
        };
        Ok(Clause::Matches(Condition::new(path, values)))
    }

    fn matching(&self, path: Path, pattern: &str) -> Result<Clause, ConditionError> {
        Selector::matches(path, pattern).map(Clause::Selected).map_err(|error| self.error(error.to_string()))
    }

    /// `TEXT`, `TEXT%` or `%TEXT%`, without regard to case and accents.
    fn without_accents(&self, path: Path, wanted: &str) -> Result<Clause, ConditionError> {
        let begins = wanted.strip_suffix('%');
        let contains = begins.and_then(|text| text.strip_prefix('%'));
        let text = contains.or(begins).unwrap_or(wanted);
        if text.contains(['%', '_']) {
            return Err(self.error("ailike takes TEXT, TEXT% or %TEXT%"));
        }
        Ok(Clause::Selected(match (contains, begins) {
            (Some(text), _) => Selector::contains_ignoring_accents(path, text),
            (None, Some(text)) => Selector::begins_ignoring_accents(path, text),
            (None, None) => Selector::equals_ignoring_accents(path, text),
        }))
    }

    /// Parses a value that has to be text.
    fn text(&mut self, what: &str) -> Result<String, ConditionError> {
        match serde_json::from_str(self.literal()?.text()) {
            Ok(Value::String(text)) => Ok(text),
            _ => Err(self.error(what)),
        }
    }

    fn literal(&mut self) -> Result<Literal, ConditionError> {
        let start = (self.peek(), self.rest).1;
        let value = self.value()?;
        Literal::json(value).map_err(|error| {
            self.rest = start;
            self.error(error.to_string())
        })
    }

    /// Parses values in brackets with commas between them.
    fn list(&mut self) -> Result<Vec<Literal>, ConditionError> {
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

    fn json_type(&mut self) -> Result<JsonType, ConditionError> {
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

    fn value(&mut self) -> Result<String, ConditionError> {
        match self.peek() {
            Some(quote @ ('"' | '\'')) => self.quoted(quote).map(json),
            Some('{' | '[') => {
                let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<Value>();
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
                // A number, true, false or null is taken as such. Any other bare word is text, to spare quotes in a
                // shell.
                let is_json = !self.of_text && serde_json::from_str::<Value>(word).is_ok();
                if !is_json && !self.of_text && Literal::json(word).is_ok() {
                    return Err(self.error("this number is out of the range that documents have; text has quotes"));
                }
                self.rest = rest;
                if is_json {
                    self.bare = Some(word);
                }
                Ok(if is_json { word.to_owned() } else { json(word.to_owned()) })
            }
        }
    }

    /// Parses text in quotes: in double quotes with JSON's escapes and those of `like`, in single ones as it is.
    fn quoted(&mut self, quote: char) -> Result<String, ConditionError> {
        let inside = &self.rest[1..];
        let (mut escaped, mut json) = (false, String::from(quote));
        for (at, character) in inside.char_indices() {
            if escaped && matches!(character, '%' | '_') {
                json.push('\\');
            }
            json.push(character);
            if escaped {
                escaped = false;
            } else if character == '\\' && quote == '"' {
                escaped = true;
            } else if character == quote {
                let text = if quote == '"' {
                    serde_json::from_str(&json)
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
mod tests;
