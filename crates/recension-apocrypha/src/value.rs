//! JSON values in memory. Numbers keep their text, so that they stay exact when something beside them is written.
//! Objects keep the order of their members.

use indexmap::IndexMap;
use recension::json::{Event, JsonError, Parser, quote_into};

/// The members of an object.
pub type Members = IndexMap<String, Value>;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Members),
}

/// A number's text, as JSON has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(Box<str>);

impl Number {
    /// Its text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether it has neither a fraction nor an exponent.
    pub fn is_integer(&self) -> bool {
        !self.0.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
    }

    /// Whether it is zero, in whatever form.
    pub fn is_zero(&self) -> bool {
        let digits = self.0.split(['e', 'E']).next().unwrap_or_default();
        !digits.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
    }

    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }
}

impl Value {
    /// Reads a JSON text; of several members with the same name the last counts.
    ///
    /// # Errors
    /// The problem, and its place.
    pub fn parse(text: &str) -> Result<Value, JsonError> {
        let mut parser = Parser::new(text.as_bytes())?;
        let mut open: Vec<Open> = Vec::new();
        let mut whole = Value::Null;
        while let Some(event) = parser.next_event()? {
            let value = match event {
                Event::ObjectStart => {
                    open.push(Open::Object(Members::new(), String::new()));
                    continue;
                }
                Event::ArrayStart => {
                    open.push(Open::Array(Vec::new()));
                    continue;
                }
                Event::Key(name) => {
                    if let Some(Open::Object(_, next)) = open.last_mut() {
                        *next = name.decode().into_owned();
                    }
                    continue;
                }
                Event::ObjectEnd | Event::ArrayEnd => match open.pop() {
                    Some(Open::Object(members, _)) => Value::Object(members),
                    Some(Open::Array(elements)) => Value::Array(elements),
                    None => Value::Null,
                },
                Event::String(text) => Value::String(text.decode().into_owned()),
                Event::Number(number) => Value::Number(Number(number.text.into())),
                Event::Bool(value) => Value::Bool(value),
                Event::Null => Value::Null,
            };
            match open.last_mut() {
                Some(Open::Object(members, name)) => {
                    members.insert(std::mem::take(name), value);
                }
                Some(Open::Array(elements)) => elements.push(value),
                None => whole = value,
            }
        }
        Ok(whole)
    }

    /// Minified JSON.
    pub fn write_json(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::Number(number) => out.push_str(number.text()),
            Value::String(text) => quote_into(text, out),
            Value::Array(elements) => {
                out.push('[');
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    element.write_json(out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                for (at, (name, member)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    quote_into(name, out);
                    out.push(':');
                    member.write_json(out);
                }
                out.push('}');
            }
        }
    }

    /// Minified JSON.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    /// Whether it is `null`, `""`, `[]` or `{}`.
    pub fn is_empty(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Bool(_) | Value::Number(_) => false,
            Value::String(text) => text.is_empty(),
            Value::Array(elements) => elements.is_empty(),
            Value::Object(members) => members.is_empty(),
        }
    }

    /// Whether it is false in Python.
    pub fn is_falsy(&self) -> bool {
        match self {
            Value::Bool(value) => !value,
            Value::Number(number) => number.is_zero(),
            other => other.is_empty(),
        }
    }

    /// Whether it has the same meaning: numbers may be written differently, and members may be in another order.
    pub fn means(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Number(one), Value::Number(other)) if one.is_integer() && other.is_integer() => one == other,
            (Value::Number(one), Value::Number(other)) => one.to_f64().total_cmp(&other.to_f64()).is_eq(),
            (Value::Array(some), Value::Array(others)) => {
                some.len() == others.len() && some.iter().zip(others).all(|(one, other)| one.means(other))
            }
            (Value::Object(some), Value::Object(others)) => {
                some.len() == others.len()
                    && some.iter().all(|(name, one)| others.get(name).is_some_and(|other| one.means(other)))
            }
            (one, other) => one == other,
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The name of its type in Python.
    pub fn python_type(&self) -> &'static str {
        match self {
            Value::Null => "NoneType",
            Value::Bool(_) => "bool",
            Value::Number(number) if number.is_integer() => "int",
            Value::Number(_) => "float",
            Value::String(_) => "str",
            Value::Array(_) => "list",
            Value::Object(_) => "dict",
        }
    }

    /// The value at a path of members, if it exists.
    pub fn at(&self, path: &[String]) -> Option<&Value> {
        path.iter().try_fold(self, |value, word| match value {
            Value::Object(members) => members.get(word),
            _ => None,
        })
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text)
    }
}

enum Open {
    Object(Members, String),
    Array(Vec<Value>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_back() {
        for text in ["null", "[1.50,1e400,123456789012345678901234567890]", r#"{"b":{"x":[]},"a":"\u0001é\"","":-0}"#]
        {
            let written = Value::parse(text).map(|value| value.to_json());
            assert_eq!(written.as_deref(), Ok(text));
        }
        assert_eq!(Value::parse(r#"{"a":1,"a":2}"#).map(|value| value.to_json()).as_deref(), Ok(r#"{"a":2}"#));
        assert!(Value::parse("[1,]").is_err() && Value::parse("").is_err() && Value::parse("1 2").is_err());
    }
}
