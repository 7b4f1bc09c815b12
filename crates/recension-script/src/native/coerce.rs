//! Conversions and comparisons of JavaScript, as the language's specification has them.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::number;
use super::program::Binary;
use super::value::{Json, Value};

/// The error of a program. The document has no rows then.
#[derive(Debug)]
pub(super) enum Failure {
    /// The function would have thrown this.
    Type(String),
    /// It emits more than a document may.
    TooMuch,
}

pub(super) type Result<T> = std::result::Result<T, Failure>;

/// The longest text that a program may concatenate, in bytes.
const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;

pub(super) fn truthy(value: &Value<'_>) -> bool {
    match value {
        Value::Undefined | Value::Null => false,
        Value::Bool(bool) => *bool,
        Value::Number(number) => *number != 0.0 && !number.is_nan(),
        Value::Text(text) => !text.is_empty(),
        Value::Part(_) | Value::Array(_) | Value::Object(_) => true,
    }
}

pub(super) fn type_of(value: &Value<'_>) -> &'static str {
    match value {
        Value::Undefined => "undefined",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::Text(_) => "string",
        Value::Null | Value::Part(_) | Value::Array(_) | Value::Object(_) => "object",
    }
}

fn is_object(value: &Value<'_>) -> bool {
    matches!(value, Value::Part(_) | Value::Array(_) | Value::Object(_))
}

/// Makes texts of objects. Other values stay as they are.
fn primitive<'v>(value: &Value<'v>) -> Result<Value<'v>> {
    if is_object(value) { text(value).map(Value::Text) } else { Ok(value.clone()) }
}

/// A value as text.
fn text<'v>(value: &Value<'v>) -> Result<Cow<'v, str>> {
    Ok(match value {
        Value::Undefined => "undefined".into(),
        Value::Null => "null".into(),
        Value::Bool(bool) => bool.to_string().into(),
        Value::Number(number) => number::print(*number).into(),
        Value::Text(text) => text.clone(),
        Value::Part(Json::Array(_)) | Value::Array(_) => {
            let mut out = String::new();
            for at in 0..value.elements().unwrap_or(0) {
                if at > 0 {
                    out.push(',');
                }
                match value.element(at) {
                    None | Some(Value::Undefined | Value::Null) => {}
                    Some(element) => out.push_str(&text(&element)?),
                }
            }
            out.into()
        }
        // A member of this name hides the function and is not one.
        _ if value.own("toString").is_some() => return Err(Failure::Type("toPrimitive".to_owned())),
        _ => "[object Object]".into(),
    })
}

pub(super) fn number_of(value: &Value<'_>) -> Result<f64> {
    Ok(match value {
        Value::Undefined => f64::NAN,
        Value::Null => 0.0,
        Value::Bool(bool) => f64::from(u8::from(*bool)),
        Value::Number(number) => *number,
        Value::Text(text) => number::of_text(text),
        _ => number::of_text(&text(value)?),
    })
}

/// `===`
#[allow(clippy::float_cmp)] // as the language compares
fn same(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Undefined, Value::Undefined) | (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Part(a), Value::Part(b)) => std::ptr::eq(*a, *b),
        (Value::Array(a), Value::Array(b)) => std::rc::Rc::ptr_eq(a, b),
        (Value::Object(a), Value::Object(b)) => std::rc::Rc::ptr_eq(a, b),
        _ => false,
    }
}

/// `==`
#[allow(clippy::float_cmp)]
fn alike(a: &Value<'_>, b: &Value<'_>) -> Result<bool> {
    use Value::{Bool, Null, Number, Text, Undefined};
    Ok(match (a, b) {
        (Undefined | Null, Undefined | Null) => true,
        (Undefined | Null, _) | (_, Undefined | Null) => false,
        (Bool(_), Bool(_)) | (Number(_), Number(_)) | (Text(_), Text(_)) => same(a, b),
        _ if is_object(a) && is_object(b) => same(a, b),
        _ if is_object(a) => alike(&primitive(a)?, b)?,
        _ if is_object(b) => alike(a, &primitive(b)?)?,
        _ => number_of(a)? == number_of(b)?,
    })
}

fn compare(a: &Value<'_>, b: &Value<'_>) -> Result<Option<Ordering>> {
    let (a, b) = (primitive(a)?, primitive(b)?);
    if let (Value::Text(a), Value::Text(b)) = (&a, &b) {
        return Ok(Some(a.encode_utf16().cmp(b.encode_utf16())));
    }
    Ok(number_of(&a)?.partial_cmp(&number_of(&b)?))
}

fn add<'v>(a: &Value<'v>, b: &Value<'v>) -> Result<Value<'v>> {
    let (a, b) = (primitive(a)?, primitive(b)?);
    if matches!(a, Value::Text(_)) || matches!(b, Value::Text(_)) {
        let (a, b) = (text(&a)?, text(&b)?);
        if a.len() + b.len() > TEXT_BYTES_MAX {
            return Err(Failure::TooMuch);
        }
        return Ok(Value::Text(Cow::Owned(a.into_owned() + &b)));
    }
    Ok(Value::Number(number_of(&a)? + number_of(&b)?))
}

pub(super) fn binary<'v>(operator: Binary, a: &Value<'v>, b: &Value<'v>) -> Result<Value<'v>> {
    let numbers = || -> Result<(f64, f64)> { Ok((number_of(a)?, number_of(b)?)) };
    Ok(match operator {
        Binary::Equal { strict, not } => Value::Bool(not != if strict { same(a, b) } else { alike(a, b)? }),
        Binary::Less { swapped, or_equal } => {
            let order = compare(a, b)?.map(|order| if swapped { order.reverse() } else { order });
            Value::Bool(order == Some(Ordering::Less) || or_equal && order == Some(Ordering::Equal))
        }
        Binary::Add => add(a, b)?,
        Binary::Subtract => numbers().map(|(a, b)| Value::Number(a - b))?,
        Binary::Multiply => numbers().map(|(a, b)| Value::Number(a * b))?,
        Binary::Divide => numbers().map(|(a, b)| Value::Number(a / b))?,
        Binary::Remainder => numbers().map(|(a, b)| Value::Number(a % b))?,
    })
}
