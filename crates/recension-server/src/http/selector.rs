//! Selectors, as `_changes?filter=_selector` takes them: Mango's operators on one document. Pure. What of a
//! selector an index can answer: `selector_query.rs`.

use std::cmp::Ordering;

use recension::document::Query;
use serde_json::{Map, Value};

use super::selector_query;

use crate::error::{ApiError, Result};
use crate::limits::{SELECTOR_BYTES_MAX, SELECTOR_DEPTH_MAX};

/// A selector.
#[derive(Clone, Debug)]
pub(crate) struct Selector(Test);

#[derive(Clone, Debug)]
pub(super) enum Test {
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
    /// The value at a path.
    At(Vec<String>, Box<Test>),
    Compare(Comparison, Value),
    Exists(bool),
    Type(String),
    In(Vec<Value>),
    Size(u64),
    Mod(i64, i64),
    Begins(String),
    HasAll(Vec<Value>),
    SomeElement(Box<Test>),
    EveryElement(Box<Test>),
    SomeKey(Box<Test>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Selector {
    /// Reads a selector.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if text.len() > SELECTOR_BYTES_MAX {
            return Err(ApiError::bad_request("The selector is too long."));
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(members)) => Ok(Selector(all_of(&members, 0)?)),
            Ok(_) => Err(bad("Selector must be a JSON object")),
            Err(_) => Err(ApiError::bad_json()),
        }
    }

    /// What an index can be asked for, of which it selects; `None`: nothing.
    pub(crate) fn query(&self) -> Option<Query> {
        selector_query::query_of(&self.0)
    }

    /// Whether it selects a document.
    pub(crate) fn matches(&self, id: &str, rev: &str, deleted: bool, body: &str) -> bool {
        let Ok(Value::Object(mut document)) = serde_json::from_str(body) else { return false };
        document.insert("_id".to_owned(), Value::from(id));
        document.insert("_rev".to_owned(), Value::from(rev));
        if deleted {
            document.insert("_deleted".to_owned(), Value::Bool(true));
        }
        self.0.holds(Some(&Value::Object(document)))
    }
}

fn bad(reason: impl Into<String>) -> ApiError {
    ApiError::bad_request(reason.into())
}

fn all_of(members: &Map<String, Value>, depth: usize) -> Result<Test> {
    if depth > SELECTOR_DEPTH_MAX {
        return Err(bad("The selector is nested too deeply."));
    }
    let tests = members.iter().map(|(name, value)| member(name, value, depth)).collect::<Result<Vec<_>>>()?;
    Ok(Test::All(tests))
}

fn member(name: &str, value: &Value, depth: usize) -> Result<Test> {
    if !name.starts_with('$') {
        let path = path_of(name);
        return Ok(Test::At(path, Box::new(test(value, depth + 1)?)));
    }
    let list = || value.as_array().ok_or_else(|| bad(format!("Bad argument for operator {name}: {value}")));
    let tests = || list()?.iter().map(|value| test(value, depth + 1)).collect::<Result<Vec<_>>>();
    let compare = |comparison| Ok(Test::Compare(comparison, value.clone()));
    let wrong = || bad(format!("Bad argument for operator {name}: {value}"));
    match name {
        "$and" => Ok(Test::All(tests()?)),
        "$or" => Ok(Test::Any(tests()?)),
        "$nor" => Ok(Test::Not(Box::new(Test::Any(tests()?)))),
        "$not" => Ok(Test::Not(Box::new(test(value, depth + 1)?))),
        "$eq" => compare(Comparison::Equal),
        "$ne" => compare(Comparison::NotEqual),
        "$lt" => compare(Comparison::Less),
        "$lte" => compare(Comparison::AtMost),
        "$gt" => compare(Comparison::Greater),
        "$gte" => compare(Comparison::AtLeast),
        "$in" => Ok(Test::In(list()?.clone())),
        "$nin" => Ok(Test::Not(Box::new(Test::In(list()?.clone())))),
        "$all" => Ok(Test::HasAll(list()?.clone())),
        "$exists" => value.as_bool().map(Test::Exists).ok_or_else(wrong),
        "$type" => value.as_str().map(|name| Test::Type(name.to_owned())).ok_or_else(wrong),
        "$size" => value.as_u64().map(Test::Size).ok_or_else(wrong),
        "$beginsWith" => value.as_str().map(|text| Test::Begins(text.to_owned())).ok_or_else(wrong),
        "$mod" => match list()?.as_slice() {
            [divisor, rest] => match (divisor.as_i64().filter(|divisor| *divisor != 0), rest.as_i64()) {
                (Some(divisor), Some(rest)) => Ok(Test::Mod(divisor, rest)),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        },
        "$elemMatch" => Ok(Test::SomeElement(Box::new(test(value, depth + 1)?))),
        "$allMatch" => Ok(Test::EveryElement(Box::new(test(value, depth + 1)?))),
        "$keyMapMatch" => Ok(Test::SomeKey(Box::new(test(value, depth + 1)?))),
        _ => Err(bad(format!("Invalid operator: {name}"))),
    }
}

/// What is asked of one value: an object of operators or of members below it, or a value that it equals.
fn test(value: &Value, depth: usize) -> Result<Test> {
    match value {
        Value::Object(members) if !members.is_empty() => all_of(members, depth),
        other => Ok(Test::Compare(Comparison::Equal, other.clone())),
    }
}

/// A name with dots is a path; `\.` is a dot.
fn path_of(name: &str) -> Vec<String> {
    let mut path = vec![String::new()];
    let mut characters = name.chars();
    while let Some(c) = characters.next() {
        match (c, path.last_mut()) {
            ('.', _) => path.push(String::new()),
            ('\\', Some(last)) => last.extend(characters.next()),
            (c, Some(last)) => last.push(c),
            (_, None) => {}
        }
    }
    path
}

impl Test {
    /// Whether it holds for a value, or for there being none.
    fn holds(&self, value: Option<&Value>) -> bool {
        match (self, value) {
            (Test::All(tests), _) => tests.iter().all(|test| test.holds(value)),
            (Test::Any(tests), _) => tests.iter().any(|test| test.holds(value)),
            (Test::Not(test), _) => !test.holds(value),
            (Test::At(path, test), Some(value)) => {
                let below = path.iter().try_fold(value, |value, name| match value {
                    Value::Object(members) => members.get(name),
                    Value::Array(elements) => elements.get(name.parse::<usize>().ok()?),
                    _ => None,
                });
                test.holds(below)
            }
            (Test::At(_, test), None) => test.holds(None),
            (Test::Exists(wanted), _) => value.is_some() == *wanted,
            (_, None) => false,
            (Test::Compare(comparison, other), Some(value)) => {
                let order = compare(value, other);
                match comparison {
                    Comparison::Equal => order == Ordering::Equal,
                    Comparison::NotEqual => order != Ordering::Equal,
                    Comparison::Less => order == Ordering::Less,
                    Comparison::AtMost => order != Ordering::Greater,
                    Comparison::Greater => order == Ordering::Greater,
                    Comparison::AtLeast => order != Ordering::Less,
                }
            }
            (Test::Type(name), Some(value)) => type_name(value) == name,
            (Test::In(values), Some(value)) => {
                let is_in = |value: &Value| values.iter().any(|other| compare(value, other) == Ordering::Equal);
                is_in(value) || value.as_array().is_some_and(|elements| elements.iter().any(is_in))
            }
            (Test::Size(size), Some(value)) => value.as_array().is_some_and(|elements| elements.len() as u64 == *size),
            (Test::Mod(divisor, rest), Some(value)) => {
                value.as_i64().and_then(|value| value.checked_rem(*divisor)) == Some(*rest)
            }
            (Test::Begins(text), Some(value)) => value.as_str().is_some_and(|value| value.starts_with(text.as_str())),
            (Test::HasAll(values), Some(value)) => value.as_array().is_some_and(|elements| {
                values.iter().all(|wanted| elements.iter().any(|element| compare(element, wanted) == Ordering::Equal))
            }),
            (Test::SomeElement(test), Some(value)) => {
                value.as_array().is_some_and(|elements| elements.iter().any(|element| test.holds(Some(element))))
            }
            (Test::EveryElement(test), Some(value)) => value.as_array().is_some_and(|elements| {
                !elements.is_empty() && elements.iter().all(|element| test.holds(Some(element)))
            }),
            (Test::SomeKey(test), Some(value)) => value
                .as_object()
                .is_some_and(|members| members.keys().any(|name| test.holds(Some(&Value::from(name.as_str()))))),
        }
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// CouchDB's order: null, false, true, numbers, strings, arrays, objects.
fn compare(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Null => 0,
        Value::Bool(false) => 1,
        Value::Bool(true) => 2,
        Value::Number(_) => 3,
        Value::String(_) => 4,
        Value::Array(_) => 5,
        Value::Object(_) => 6,
    };
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.as_f64().unwrap_or(0.0).total_cmp(&b.as_f64().unwrap_or(0.0)),
        },
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let differing = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
            differing.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            if a.len() == b.len()
                && a.iter().all(|(name, value)| b.get(name).is_some_and(|b| compare(value, b).is_eq()))
            {
                return Ordering::Equal;
            }
            let members = a.iter().zip(b).map(|((a, x), (b, y))| a.cmp(b).then_with(|| compare(x, y)));
            let differing = members.into_iter().find(|order| order.is_ne());
            differing.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_select_as_mangos() {
        let body = r#"{"n":5,"s":"abc","l":[1,{"x":2}],"o":{"a.b":1,"c":null},"f":1.5}"#;
        for (selector, expected) in [
            ("{}", true),
            (r#"{"n":5}"#, true),
            (r#"{"n":5.0,"s":"abd"}"#, false),
            (r#"{"n":{"$gt":4,"$lte":5}}"#, true),
            (r#"{"s":{"$gt":4}}"#, true),
            (r#"{"missing":{"$ne":1}}"#, false),
            (r#"{"missing":{"$exists":false}}"#, true),
            (r#"{"o.a\\.b":1}"#, true),
            (r#"{"o":{"c":{"$type":"null"}}}"#, true),
            (r#"{"$or":[{"n":1},{"_id":"doc"}]}"#, true),
            (r#"{"$nor":[{"n":1},{"_id":"doc"}]}"#, false),
            (r#"{"n":{"$not":{"$eq":5}}}"#, false),
            (r#"{"l":{"$size":2},"l.1.x":2}"#, true),
            (r#"{"l":{"$elemMatch":{"x":2}}}"#, true),
            (r#"{"l":{"$allMatch":{"$gt":0}}}"#, true),
            (r#"{"l":{"$all":[1,7]}}"#, false),
            (r#"{"n":{"$in":[1,5]},"f":{"$nin":[2]}}"#, true),
            (r#"{"n":{"$mod":[3,2]},"s":{"$beginsWith":"ab"}}"#, true),
            (r#"{"o":{"$keyMapMatch":{"$eq":"c"}}}"#, true),
            (r#"{"_deleted":true}"#, false),
        ] {
            let parsed = Selector::parse(selector).unwrap();
            assert_eq!(parsed.matches("doc", "1-a", false, body), expected, "{selector}");
        }
        for selector in ["[]", "{", r#"{"a":{"$foo":1}}"#, r#"{"a":{"$size":"x"}}"#, r#"{"a":{"$mod":[0,1]}}"#] {
            assert!(Selector::parse(selector).is_err(), "{selector}");
        }
        let deep = format!("{}1{}", r#"{"a":"#.repeat(100), "}".repeat(100));
        assert!(Selector::parse(&deep).is_err());
    }
}
