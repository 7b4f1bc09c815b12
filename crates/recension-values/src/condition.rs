//! Conditions on values: ranges of them in collation order, sets of ranges, and both as ranges of encoded
//! keys. Plain values; nothing here reads a store.

mod keys;

use std::fmt;
use std::ops::Bound;

use crate::byte_reader::ByteReader;
use crate::collation::{Collation, JsonType};
use crate::error::{Error, Result};
use crate::json::{IntoPath, Kind, Path, Text, View, minify, quote};
use crate::selector::Comparison;

use keys::compare_starts;
pub use keys::{Bounds, KeySet, Span};

/// A JSON value to compare with. It is made from Rust's values, or from any JSON text with [`Literal::json`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Literal {
    text: String,
}

impl Literal {
    /// Any JSON value.
    pub fn json(text: impl AsRef<[u8]>) -> Result<Self> {
        Ok(Literal { text: minify(text.as_ref())? })
    }

    /// Its JSON text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The characters, if it is a string.
    pub fn string(&self) -> Option<String> {
        let raw = self.text.strip_prefix('"')?.strip_suffix('"')?;
        Some(Text { raw, escaped: raw.contains('\\') }.decode().into_owned())
    }

    fn key(&self, collation: Collation) -> Vec<u8> {
        let mut key = Vec::new();
        // The text was checked when it was made; an error would leave the key short, never wrong data.
        let encoded = collation.encode_value(&self.text, &mut key);
        debug_assert!(encoded.is_ok(), "{encoded:?}");
        key
    }
}

impl From<&str> for Literal {
    fn from(text: &str) -> Self {
        Literal { text: quote(text) }
    }
}

impl From<String> for Literal {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<f64> for Literal {
    /// NaN and infinities, which JSON has no number for, become null.
    fn from(number: f64) -> Self {
        Literal { text: if number.is_finite() { format!("{number:?}") } else { "null".to_owned() } }
    }
}

macro_rules! literal_of {
    ($($of:ty),*) => {$(
        impl From<$of> for Literal {
            fn from(value: $of) -> Self {
                Literal { text: value.to_string() }
            }
        }
    )*};
}

literal_of!(bool, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

/// A condition that narrows a range. The numbers are those of the stored form.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    /// 1
    AtLeast(Literal),
    /// 2
    Above(Literal),
    /// 3
    AtMost(Literal),
    /// 4
    Below(Literal),
    /// 5
    Equal(Literal),
    /// 6
    Prefix(String),
    /// 7
    OfType(JsonType),
}

/// A contiguous range of values in collation order: null, false, true, numbers, strings, arrays, objects.
///
/// A range with one end stays within the type of that end: above 20 are numbers only, not the string "30".
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ValueRange {
    /// A value must meet this, and all of `more`. Most ranges have one part, and take no memory besides.
    first: Option<Part>,
    more: Vec<Part>,
}

impl ValueRange {
    fn of(parts: impl IntoIterator<Item = Part>) -> Self {
        let mut range = ValueRange::default();
        for part in parts {
            range.push(part);
        }
        range
    }

    fn push(&mut self, part: Part) {
        match self.first {
            None => self.first = Some(part),
            Some(_) => self.more.push(part),
        }
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.first.iter().chain(&self.more)
    }

    /// Any value; the path must be there.
    pub fn anything() -> Self {
        Self::default()
    }

    /// One value. Numbers are equal as numbers: 1 and 1.0.
    pub fn equal(value: impl Into<Literal>) -> Self {
        Self::of([Part::Equal(value.into())])
    }

    /// `value` or more.
    pub fn at_least(value: impl Into<Literal>) -> Self {
        Self::one_ended(value.into(), Part::AtLeast)
    }

    /// More than `value`.
    pub fn above(value: impl Into<Literal>) -> Self {
        Self::one_ended(value.into(), Part::Above)
    }

    /// `value` or less.
    pub fn at_most(value: impl Into<Literal>) -> Self {
        Self::one_ended(value.into(), Part::AtMost)
    }

    /// Less than `value`.
    pub fn below(value: impl Into<Literal>) -> Self {
        Self::one_ended(value.into(), Part::Below)
    }

    fn one_ended(value: Literal, part: impl Fn(Literal) -> Part) -> Self {
        let of_type = Part::OfType(JsonType::of(&value.text));
        Self::of([part(value), of_type])
    }

    /// The values that compare in this way with `value` in the order of all values, whatever their types.
    pub fn compared(comparison: Comparison, value: Literal) -> Self {
        let part = match comparison {
            Comparison::Equal => Part::Equal,
            Comparison::AtLeast => Part::AtLeast,
            Comparison::AtMost => Part::AtMost,
            Comparison::Less => Part::Below,
            Comparison::Greater | Comparison::NotEqual => Part::Above,
        };
        Self::of([part(value)])
    }

    /// From `least` to `greatest`, both included; they may be of different types.
    pub fn between(least: impl Into<Literal>, greatest: impl Into<Literal>) -> Self {
        Self::of([Part::AtLeast(least.into()), Part::AtMost(greatest.into())])
    }

    /// The strings that begin with these characters, exactly.
    pub fn prefix(prefix: impl Into<String>) -> Self {
        Self::of([Part::Prefix(prefix.into()), Part::OfType(JsonType::String)])
    }

    /// The values of one type.
    pub fn of_type(of_type: JsonType) -> Self {
        Self::of([Part::OfType(of_type)])
    }

    /// The values in both ranges.
    #[must_use]
    pub fn and(mut self, other: ValueRange) -> Self {
        for part in other.first.into_iter().chain(other.more) {
            if !self.parts().any(|known| *known == part) {
                self.push(part);
            }
        }
        self
    }

    /// The values in either range.
    #[must_use]
    pub fn or(self, other: impl Into<ValueSet>) -> ValueSet {
        ValueSet::from(self).or(other)
    }

    /// Whether the order of strings decides which values are in it.
    fn orders_strings(&self) -> bool {
        self.parts().any(|part| match part {
            Part::AtLeast(value) | Part::Above(value) | Part::AtMost(value) | Part::Below(value) => {
                value.text.contains('"')
            }
            Part::Equal(_) | Part::Prefix(_) | Part::OfType(_) => false,
        })
    }

    fn span(&self, collation: Collation) -> Span {
        let mut span = Span { start: Bound::Unbounded, end: Bound::Unbounded, prefixes: Vec::new() };
        for part in self.parts() {
            let (start, end) = match part {
                Part::AtLeast(value) => (Bound::Included(value.key(collation)), Bound::Unbounded),
                Part::Above(value) => (Bound::Excluded(value.key(collation)), Bound::Unbounded),
                Part::AtMost(value) => (Bound::Unbounded, Bound::Included(value.key(collation))),
                Part::Below(value) => (Bound::Unbounded, Bound::Excluded(value.key(collation))),
                Part::Equal(value) => {
                    let key = value.key(collation);
                    (Bound::Included(key.clone()), Bound::Included(key))
                }
                Part::Prefix(prefix) => {
                    if collation.is_unicode() {
                        span.prefixes.push(prefix.clone());
                    }
                    collation.prefix_bounds(prefix)
                }
                Part::OfType(of_type) => {
                    let (first, after) = of_type.bounds();
                    (Bound::Included(vec![first]), Bound::Excluded(vec![after]))
                }
            };
            span.start = tighter(span.start, start, |a, b| a > b);
            span.end = tighter(span.end, end, |a, b| a < b);
        }
        span
    }
}

fn tighter(a: Bound<Vec<u8>>, b: Bound<Vec<u8>>, inside: impl Fn(&Vec<u8>, &Vec<u8>) -> bool) -> Bound<Vec<u8>> {
    match (&a, &b) {
        (Bound::Unbounded, _) => b,
        (_, Bound::Unbounded) => a,
        (Bound::Included(x) | Bound::Excluded(x), Bound::Included(y) | Bound::Excluded(y)) => {
            if x == y {
                if matches!(a, Bound::Excluded(_)) { a } else { b }
            } else if inside(x, y) {
                a
            } else {
                b
            }
        }
    }
}

/// Values that lie in any of some ranges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueSet {
    ranges: Vec<ValueRange>,
}

impl From<ValueRange> for ValueSet {
    fn from(range: ValueRange) -> Self {
        ValueSet { ranges: vec![range] }
    }
}

impl ValueSet {
    /// Any of these values. With no values, no document has one.
    pub fn one_of<L: Into<Literal>>(values: impl IntoIterator<Item = L>) -> Self {
        ValueSet { ranges: values.into_iter().map(ValueRange::equal).collect() }
    }

    /// The values in either.
    #[must_use]
    pub fn or(mut self, other: impl Into<ValueSet>) -> Self {
        self.ranges.extend(other.into().ranges);
        self
    }

    /// The values in both; the set has no other ranges than these.
    pub fn and(&self, other: &ValueSet) -> Self {
        let pairs = self.ranges.iter().flat_map(|a| other.ranges.iter().map(|b| a.clone().and(b.clone())));
        ValueSet { ranges: pairs.collect() }
    }

    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether it is a single range of any value.
    pub fn is_anything(&self) -> bool {
        self.ranges.iter().any(|range| range.first.is_none())
    }

    /// The value, if it is a single one.
    pub fn one_value(&self) -> Option<&Literal> {
        if self.len() == 1 { self.single_values().next()? } else { None }
    }

    /// The value of each range; `None` for one of several values.
    pub fn single_values(&self) -> impl Iterator<Item = Option<&Literal>> {
        self.ranges.iter().map(|range| match (&range.first, range.more.as_slice()) {
            (Some(Part::Equal(value)), []) => Some(value),
            _ => None,
        })
    }

    /// Whether the order of strings decides which values are in it.
    pub fn orders_strings(&self) -> bool {
        self.ranges.iter().any(ValueRange::orders_strings)
    }

    /// Its keys.
    pub fn keys(&self, collation: Collation) -> KeySet {
        let mut spans: Vec<Span> =
            self.ranges.iter().map(|range| range.span(collation)).filter(|span| !span.is_empty()).collect();
        spans.sort_by(|a, b| compare_starts(&a.start, &b.start));
        spans.dedup();
        let points = spans.iter().all(Span::is_point);
        KeySet { collation, spans, points }
    }

    /// Its keys in the collation that is cheapest to test values with.
    pub fn test(&self, collation: Collation) -> KeySet {
        self.keys(if self.orders_strings() { collation } else { Collation::Binary })
    }

    /// About how many bytes its literals take.
    pub fn size_bytes(&self) -> usize {
        let mut out = Vec::new();
        self.encode(&mut out);
        out.len()
    }

    /// Appends its stored form.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend((self.ranges.len() as u16).to_be_bytes());
        for range in &self.ranges {
            out.push(range.parts().count() as u8);
            for part in range.parts() {
                let (tag, text) = match part {
                    Part::AtLeast(value) => (1, value.text.as_str()),
                    Part::Above(value) => (2, value.text.as_str()),
                    Part::AtMost(value) => (3, value.text.as_str()),
                    Part::Below(value) => (4, value.text.as_str()),
                    Part::Equal(value) => (5, value.text.as_str()),
                    Part::Prefix(prefix) => (6, prefix.as_str()),
                    Part::OfType(of_type) => (7, type_name(*of_type)),
                };
                out.push(tag);
                out.extend((text.len() as u32).to_be_bytes());
                out.extend(text.as_bytes());
            }
        }
    }

    /// Reads a stored form.
    pub fn decode(reader: &mut ByteReader<'_>) -> Option<Self> {
        let ranges = (0..reader.u16()?).map(|_| {
            let parts = (0..reader.byte()?).map(|_| {
                let tag = reader.byte()?;
                let length = reader.u32()? as usize;
                let text = std::str::from_utf8(reader.take(length)?).ok()?;
                let literal = || Literal::json(text).ok();
                Some(match tag {
                    1 => Part::AtLeast(literal()?),
                    2 => Part::Above(literal()?),
                    3 => Part::AtMost(literal()?),
                    4 => Part::Below(literal()?),
                    5 => Part::Equal(literal()?),
                    6 => Part::Prefix(text.to_owned()),
                    7 => Part::OfType(type_named(text)?),
                    _ => return None,
                })
            });
            Some(ValueRange::of(parts.collect::<Option<Vec<_>>>()?))
        });
        Some(ValueSet { ranges: ranges.collect::<Option<_>>()? })
    }
}

const TYPES: [JsonType; 6] =
    [JsonType::Null, JsonType::Bool, JsonType::Number, JsonType::String, JsonType::Array, JsonType::Object];

fn type_named(name: &str) -> Option<JsonType> {
    TYPES.into_iter().find(|of_type| type_name(*of_type) == name)
}

fn type_name(of_type: JsonType) -> &'static str {
    match of_type {
        JsonType::Null => "null",
        JsonType::Bool => "boolean",
        JsonType::Number => "number",
        JsonType::String => "string",
        JsonType::Array => "array",
        JsonType::Object => "object",
    }
}

impl ValueSet {
    /// Its ranges as JSON: `[{"at_least":1,"below":5},{"equal":"x"}]`; `{}` is any value.
    pub fn to_json(&self) -> String {
        let part = |part: &Part| match part {
            Part::AtLeast(value) => format!("\"at_least\":{}", value.text),
            Part::Above(value) => format!("\"above\":{}", value.text),
            Part::AtMost(value) => format!("\"at_most\":{}", value.text),
            Part::Below(value) => format!("\"below\":{}", value.text),
            Part::Equal(value) => format!("\"equal\":{}", value.text),
            Part::Prefix(prefix) => format!("\"prefix\":{}", quote(prefix)),
            Part::OfType(of_type) => format!("\"type\":\"{}\"", type_name(*of_type)),
        };
        let range = |range: &ValueRange| format!("{{{}}}", range.parts().map(part).collect::<Vec<_>>().join(","));
        format!("[{}]", self.ranges.iter().map(range).collect::<Vec<_>>().join(","))
    }

    /// Reads what [`to_json`](Self::to_json) writes; `None` if it is something else.
    pub(crate) fn of_json(ranges: View<'_>) -> Option<Self> {
        let part = |member: View<'_>| {
            let literal = || Literal::json(member.text()).ok();
            let string = || (member.kind() == Kind::String).then(|| member.string().decode().into_owned());
            Some(match &*member.name().decode() {
                "at_least" => Part::AtLeast(literal()?),
                "above" => Part::Above(literal()?),
                "at_most" => Part::AtMost(literal()?),
                "below" => Part::Below(literal()?),
                "equal" => Part::Equal(literal()?),
                "prefix" => Part::Prefix(string()?),
                "type" => Part::OfType(type_named(&string()?)?),
                _ => return None,
            })
        };
        let range = |range: View<'_>| {
            let parts = (range.kind() == Kind::Object).then(|| range.children().map(part).collect::<Option<Vec<_>>>());
            Some(ValueRange::of(parts??))
        };
        if ranges.kind() != Kind::Array {
            return None;
        }
        Some(ValueSet { ranges: ranges.children().map(range).collect::<Option<_>>()? })
    }
}

impl fmt::Display for ValueRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The end of a range has a type of its own.
        let ends = self.parts().filter(|part| !matches!(part, Part::OfType(_))).count();
        let shown = self.parts().filter(|part| ends == 0 || !matches!(part, Part::OfType(_)));
        for (i, part) in shown.enumerate() {
            if i > 0 {
                f.write_str(" and ")?;
            }
            match part {
                Part::AtLeast(value) => write!(f, ">= {}", value.text)?,
                Part::Above(value) => write!(f, "> {}", value.text)?,
                Part::AtMost(value) => write!(f, "<= {}", value.text)?,
                Part::Below(value) => write!(f, "< {}", value.text)?,
                Part::Equal(value) => write!(f, "= {}", value.text)?,
                Part::Prefix(prefix) => write!(f, "starts with {}", quote(prefix))?,
                Part::OfType(of_type) => write!(f, "is of type {}", type_name(*of_type))?,
            }
        }
        if self.first.is_none() { f.write_str("is there") } else { Ok(()) }
    }
}

impl fmt::Display for ValueSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, range) in self.ranges.iter().enumerate() {
            write!(f, "{}{range}", if i > 0 { " or " } else { "" })?;
        }
        if self.ranges.is_empty() { f.write_str("is nothing") } else { Ok(()) }
    }
}

/// A condition on the values at a path: one of them is in a set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The path; one with empty brackets leads to any number of values.
    pub path: Path,
    /// The values.
    pub values: ValueSet,
}

impl Condition {
    /// The values at `path` lie in `values`.
    pub fn new(path: impl IntoPath, values: impl Into<ValueSet>) -> Self {
        Condition { path: path.into_path(), values: values.into() }
    }

    /// # Errors
    /// [`Error::BadName`] if the path is none; [`Error::BadQuery`] if there are too many ranges.
    pub fn check(&self) -> Result<()> {
        self.path.check()?;
        let bytes = self.values.ranges.iter().map(|range| range.parts().count()).max().unwrap_or(0);
        if self.values.len() > crate::limits::RANGES_MAX || bytes > usize::from(u8::MAX) {
            return Err(Error::BadQuery { why: "a condition has more than 1024 ranges; ask in parts" });
        }
        Ok(())
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path, self.values)
    }
}
