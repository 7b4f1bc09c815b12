//! The effect of operators on one value. Pure: values in, values out.

use super::Operator;
use super::root::Fault;
use crate::dialect::{Dialect, End, Errors};
use crate::print::json_string;
use crate::value::Value;

/// The effect on a value.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It stays, and nothing is normalised.
    Unchanged,
    /// It is replaced.
    Becomes(Value),
    /// It is removed.
    Vanishes,
    /// A part of it is printed, and removed.
    Popped { popped: Value, left: Option<Value> },
}

/// The effect of a writing operator on the value at a place; `None` is a missing value.
pub(super) fn write(
    operator: &Operator,
    old: Option<Value>,
    place: &[String],
    dialect: &Dialect,
) -> Result<Outcome, Fault> {
    // A missing value reads as the empty object, and empty values count as missing.
    let old = old.filter(|value| !matches!(value, Value::Null) && !matches!(value, Value::Object(m) if m.is_empty()));
    let key = place.last().map_or("", String::as_str);
    match operator {
        Operator::Set(text) => {
            let new = json(text.as_deref(), dialect)?;
            Ok(if old.as_ref() == Some(&new) { Outcome::Unchanged } else { Outcome::Becomes(new) })
        }
        Operator::Assign(values) if values.is_empty() => {
            Ok(if dialect.assign_nothing_deletes { Outcome::Vanishes } else { Outcome::Unchanged })
        }
        Operator::Assign(values) => {
            let new = one_or_all(strings(values));
            Ok(if old.as_ref() == Some(&new) { Outcome::Unchanged } else { Outcome::Becomes(new) })
        }
        Operator::Append(values) => append(old, values, dialect),
        Operator::Remove(values) => remove(old, values, key, dialect),
        Operator::Delete => Ok(if old.is_none() { Outcome::Unchanged } else { Outcome::Vanishes }),
        Operator::Pop => pop(old, dialect),
        Operator::Get | Operator::Keys | Operator::Edit | Operator::Search(_) | Operator::Flush => {
            Ok(Outcome::Unchanged)
        }
    }
}

fn strings(values: &[String]) -> Vec<Value> {
    values.iter().map(|value| Value::from(value.as_str())).collect()
}

/// An array, or its element if it has only one.
fn one_or_all(mut values: Vec<Value>) -> Value {
    match values.pop() {
        Some(only) if values.is_empty() => only,
        Some(last) => {
            values.push(last);
            Value::Array(values)
        }
        None => Value::Array(values),
    }
}

fn append(old: Option<Value>, values: &[String], dialect: &Dialect) -> Result<Outcome, Fault> {
    let more = strings(values);
    let mut all = match old {
        None if more.is_empty() => return Ok(Outcome::Unchanged),
        None => return Ok(Outcome::Becomes(one_or_all(more))),
        Some(Value::Object(_)) => return Fault::refused("cannot append to a dictionary"),
        Some(Value::Array(elements)) if more.is_empty() && !elements.is_empty() => return Ok(Outcome::Unchanged),
        Some(Value::Array(elements)) => elements,
        Some(text @ Value::String(_)) => vec![text],
        Some(_) if !dialect.append_to_scalars => return Fault::refused("this type does not support addition"),
        Some(scalar) => vec![scalar],
    };
    let was_empty = all.is_empty();
    all.extend(more);
    Ok(Outcome::Becomes(if was_empty { one_or_all(all) } else { Value::Array(all) }))
}

fn remove(old: Option<Value>, values: &[String], key: &str, dialect: &Dialect) -> Result<Outcome, Fault> {
    let missing = |value: &str| Fault::refused(format!("{value} not in {key}."));
    match old {
        Some(Value::Array(mut elements)) => {
            for value in values {
                let is_it = |element: &Value| element.as_str() == Some(value);
                if dialect.remove_all {
                    elements.retain(|element| !is_it(element));
                } else {
                    let Some(at) = elements.iter().position(is_it) else { return missing(value) };
                    elements.remove(at);
                }
            }
            Ok(if elements.is_empty() { Outcome::Vanishes } else { Outcome::Becomes(one_or_all(elements)) })
        }
        Some(Value::String(text)) => {
            let mut gone = false;
            for value in values {
                if *value == text && !gone {
                    gone = true;
                } else if !dialect.remove_all {
                    return missing(value);
                }
            }
            Ok(if gone { Outcome::Vanishes } else { Outcome::Unchanged })
        }
        Some(Value::Object(mut members)) if dialect.remove_members => {
            for value in values {
                if members.shift_remove(value).is_none() {
                    return missing(value);
                }
            }
            Ok(Outcome::Becomes(Value::Object(members)))
        }
        _ if dialect.remove_all => Fault::refused("this type does not support subtraction"),
        _ => values.first().map_or(Ok(Outcome::Unchanged), |value| missing(value)),
    }
}

fn pop(old: Option<Value>, dialect: &Dialect) -> Result<Outcome, Fault> {
    match old {
        None => Ok(Outcome::Unchanged),
        Some(Value::Array(elements)) if elements.is_empty() => Ok(Outcome::Unchanged),
        Some(Value::Array(mut elements)) => {
            let popped = match dialect.pop_takes {
                End::First => elements.remove(0),
                End::Last => elements.pop().unwrap_or(Value::Null),
            };
            Ok(Outcome::Popped { popped, left: Some(Value::Array(elements)) })
        }
        Some(popped @ Value::String(_)) => Ok(Outcome::Popped { popped, left: None }),
        Some(popped) if dialect.pop_takes_anything => Ok(Outcome::Popped { popped, left: None }),
        Some(_) => Fault::refused("this type does not support pop"),
    }
}

/// The value of `--set`.
pub(super) fn json(text: Option<&str>, dialect: &Dialect) -> Result<Value, Fault> {
    let why = match dialect.errors {
        Errors::Plain => "unable to parse JSON",
        Errors::Detailed => "malformed json",
    };
    let Some(text) = text else { return Fault::refused(why) };
    // The position of the error is worth a line; programs look at the beginning.
    Value::parse(text).or_else(|error| Fault::refused(format!("{why}: {error}")))
}

/// The names of an object's members, in the order of their characters.
pub(super) fn keys(value: &Value, place: &[String], dialect: &Dialect) -> Result<Vec<String>, Fault> {
    match value {
        Value::Object(members) => {
            let mut names: Vec<String> = members.keys().cloned().collect();
            names.sort_unstable();
            Ok(names)
        }
        Value::Null => Ok(Vec::new()),
        other => Fault::refused(match dialect.errors {
            Errors::Plain => "cannot retrieve keys for non-dict".to_owned(),
            Errors::Detailed => {
                let key = place.last().map_or("", String::as_str);
                format!("cannot retrieve keys non-dict. {key} :: {}", other.python_type())
            }
        }),
    }
}

/// About how many bytes a value takes as JSON.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(number) => number.text().len(),
        Value::String(text) => json_size(text),
        Value::Array(elements) => 2 + elements.iter().map(|element| 1 + size(element)).sum::<usize>(),
        Value::Object(members) => {
            2 + members.iter().map(|(name, member)| 2 + json_size(name) + size(member)).sum::<usize>()
        }
    }
}

fn json_size(text: &str) -> usize {
    if text.is_ascii() { text.len() + 2 } else { json_string(crate::dialect::Print::Python, text).len() }
}
