//! `_sum`. Pure.

use super::number::{Amount, Value};
use crate::error::{Error, Result};

const NEEDS: &str = "The _sum function requires that map values be numbers, arrays of numbers, or objects. Objects \
                     cannot be mixed with other data structures. Objects can be arbitrarily nested, provided that the \
                     values for all fields are themselves numbers, arrays of numbers, or objects.";

/// A sum under way.
#[derive(Clone, Default)]
pub struct Sum {
    sum: Option<Value>,
    /// The last value that cannot be summed, as JSON.
    offender: Option<String>,
}

/// The two values cannot be added.
struct Misfit;

impl Sum {
    pub(super) fn add(&mut self, text: &str) -> Result<()> {
        let value = Value::parse(text).unwrap_or(Value::Other);
        if !is_summable(&value) {
            // The error is the value of the row, not an error of the request.
            self.offender = Some(text.to_owned());
            return Ok(());
        }
        self.plus(value)
    }

    fn plus(&mut self, value: Value) -> Result<()> {
        self.sum = Some(match self.sum.take() {
            None => value,
            Some(sum) => plus(sum, value)
                .map_err(|Misfit| Error::Function { error: "invalid_value".to_owned(), reason: NEEDS.to_owned() })?,
        });
        Ok(())
    }

    /// Adds another sum.
    pub(super) fn merge(&mut self, other: Sum) -> Result<()> {
        self.offender = other.offender.or(self.offender.take());
        other.sum.map_or(Ok(()), |sum| self.plus(sum))
    }

    pub(super) fn bytes(&self) -> usize {
        self.sum.as_ref().map_or(0, Value::bytes) + self.offender.as_ref().map_or(0, String::len)
    }

    #[allow(clippy::unnecessary_wraps)] // as its fellows
    pub(super) fn finish(self) -> Result<String> {
        let mut out = String::new();
        match (self.offender, self.sum) {
            (Some(offender), _) => {
                out = format!("{{\"error\":\"builtin_reduce_error\",\"reason\":\"{NEEDS}\",\"caused_by\":{offender}}}");
            }
            (None, Some(sum)) => sum.write(&mut out),
            (None, None) => out.push('0'),
        }
        Ok(out)
    }
}

fn is_summable(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Array(values) => values.iter().all(|value| matches!(value, Value::Number(_))),
        Value::Object(members) => members.iter().all(|(_, value)| is_summable(value)),
        Value::Other => false,
    }
}

fn plus(one: Value, other: Value) -> std::result::Result<Value, Misfit> {
    Ok(match (one, other) {
        (Value::Number(one), Value::Number(other)) => Value::Number(one.plus(other)),
        // A number is added to the first element.
        (Value::Array(values), number @ Value::Number(_)) | (number @ Value::Number(_), Value::Array(values)) => {
            Value::Array(elementwise(values, vec![number]))
        }
        (Value::Array(one), Value::Array(other)) => Value::Array(elementwise(one, other)),
        (Value::Object(mut one), Value::Object(other)) => {
            for (name, value) in other {
                match one.binary_search_by(|(own, _)| own.cmp(&name)) {
                    Ok(at) => {
                        let own = std::mem::replace(&mut one[at].1, Value::Other);
                        one[at].1 = plus(own, value)?;
                    }
                    Err(at) => one.insert(at, (name, value)),
                }
            }
            Value::Object(one)
        }
        _ => return Err(Misfit),
    })
}

fn elementwise(mut one: Vec<Value>, other: Vec<Value>) -> Vec<Value> {
    for (at, value) in other.into_iter().enumerate() {
        match (one.get_mut(at), value) {
            (Some(Value::Number(own)), Value::Number(value)) => *own = own.plus(value),
            (Some(own), _) => *own = Value::Number(Amount::Whole(0)),
            (None, value) => one.push(value),
        }
    }
    one
}
