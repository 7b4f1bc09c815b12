//! The tests of one value that a selector is made of. Plain values.

use regex::{Regex, RegexBuilder};

use super::Node;
use super::fold::Fold;
use crate::collation::JsonType;
use crate::condition::{Literal, ValueRange, ValueSet};
use crate::error::{Error, Result};
use crate::json::{Path, quote};
use crate::limits::{PATTERN_BYTES_MAX, PATTERN_PROGRAM_BYTES, PATTERN_PROGRAM_BYTES_MAX};
use crate::text::TextQuery;

/// A test of one value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Leaf {
    /// It compares in the order of all values: the string "30" is above 20.
    Compare(Comparison, Literal),
    /// It is in a set.
    Lies(ValueSet),
    /// It is one of these; of an array, one element is.
    OneOf(Vec<Literal>),
    NoneOf(Vec<Literal>),
    Exists(bool),
    /// It is of the type with this name. If there is no such type, it is never met.
    Type(String),
    Size(u64),
    Mod(i64, i64),
    Text(TextTest, String),
    /// The same, ignoring case, or case and accents. The text is folded.
    Folded(Fold, TextTest, String),
    Matches(Pattern),
    /// The strings in the value have words.
    Words(TextQuery),
    /// The strings in the values at these paths have words, taken together. This test has no path of its own.
    WordsIn(Vec<Path>, TextQuery),
    HasAll(Vec<Literal>),
    Element(Box<Node>),
    EveryElement(Box<Node>),
    /// A member's name.
    Key(Box<Node>),
    Not(Box<Leaf>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextTest {
    Equals,
    Begins,
    Contains,
}

impl TextTest {
    pub(super) fn holds(self, text: &str, wanted: &str) -> bool {
        match self {
            TextTest::Equals => text == wanted,
            TextTest::Begins => text.starts_with(wanted),
            TextTest::Contains => text.contains(wanted),
        }
    }
}

/// A regular expression, and its text.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(super) source: String,
    pub(super) regex: Regex,
    /// What its program counts as, in bytes.
    pub(super) program: usize,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

impl Pattern {
    pub(super) fn read(source: &str) -> Result<Self> {
        let bad = |why: String| Error::BadSelector {
            error: "bad_arg",
            reason: format!("Bad argument for operator $regex: {}{why}", quote(source.get(..80).unwrap_or(source))),
        };
        if source.len() > PATTERN_BYTES_MAX {
            return Err(bad(format!(": it is longer than {PATTERN_BYTES_MAX} bytes")));
        }
        // Its automaton may grow beyond its program, since it is slow if it has to begin again and again.
        let built = |size: usize| {
            let automaton = PATTERN_PROGRAM_BYTES_MAX.min(8 * size);
            let regex = RegexBuilder::new(source).size_limit(size).dfa_size_limit(automaton).build().ok()?;
            Some(Pattern { source: source.to_owned(), regex, program: size })
        };
        let why = ": not a regular expression of RE2's syntax, or too large when compiled";
        PATTERN_PROGRAM_BYTES.into_iter().find_map(built).ok_or_else(|| bad(why.to_owned()))
    }

    /// A prefix of every string that it finds, if it is anchored.
    pub(super) fn prefix(&self) -> Option<&str> {
        let rest = self.source.strip_prefix('^')?;
        let special = |c: char| r"\.+*?()|[]{}^$".contains(c);
        let end = rest.find(special).unwrap_or(rest.len());
        // The last character may be optional, and an alternative may begin otherwise.
        let end = match rest[end..].chars().next() {
            Some('*' | '?' | '{') => rest[..end].char_indices().next_back().map_or(0, |(at, _)| at),
            _ => end,
        };
        (end > 0 && !rest.contains('|')).then_some(&rest[..end])
    }
}

impl Comparison {
    pub(super) fn set(self, value: &Literal) -> ValueSet {
        let range = |comparison| ValueRange::compared(comparison, value.clone());
        match self {
            Comparison::NotEqual => range(Comparison::Less).or(range(Comparison::Greater)),
            other => range(other).into(),
        }
    }

    fn negated(self) -> Self {
        match self {
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::Less => Comparison::AtLeast,
            Comparison::AtMost => Comparison::Greater,
            Comparison::Greater => Comparison::AtMost,
            Comparison::AtLeast => Comparison::Less,
        }
    }
}

impl Leaf {
    pub(super) fn negated(self) -> Self {
        match self {
            Leaf::Compare(comparison, value) => Leaf::Compare(comparison.negated(), value),
            Leaf::OneOf(values) => Leaf::NoneOf(values),
            Leaf::NoneOf(values) => Leaf::OneOf(values),
            Leaf::Exists(wanted) => Leaf::Exists(!wanted),
            Leaf::Not(leaf) => *leaf,
            leaf => Leaf::Not(Box::new(leaf)),
        }
    }

    /// Whether all of several values have to pass.
    pub(super) fn is_of_all(&self) -> bool {
        matches!(self, Leaf::Not(_) | Leaf::NoneOf(_) | Leaf::Compare(Comparison::NotEqual, _))
    }

    /// The paths in the test itself.
    pub(super) fn paths(&self) -> Option<&[Path]> {
        match self {
            Leaf::WordsIn(paths, _) => Some(paths),
            Leaf::Not(leaf) => leaf.paths(),
            _ => None,
        }
    }

    pub(super) fn nested(&self) -> Option<&Node> {
        match self {
            Leaf::Element(node) | Leaf::EveryElement(node) | Leaf::Key(node) => Some(node),
            Leaf::Not(leaf) => leaf.nested(),
            _ => None,
        }
    }
}

/// The type with this name in `$type`.
pub(super) fn type_of_name(name: &str) -> Option<JsonType> {
    Some(match name {
        "null" => JsonType::Null,
        "boolean" => JsonType::Bool,
        "number" => JsonType::Number,
        "string" => JsonType::String,
        "array" => JsonType::Array,
        "object" => JsonType::Object,
        _ => return None,
    })
}
