//! Values of a running program: the document's JSON, and values that the program makes. They are read and written as
//! JavaScript does: numbers are doubles, if members have the same name the last one counts, and members with numbers
//! for names come first.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use recension::json::{Event, JsonError, Parser};

use super::number;

/// A part of the document.
#[derive(Debug)]
pub(super) enum Json<'t> {
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'t, str>),
    Array(Vec<Json<'t>>),
    Object(Vec<(Cow<'t, str>, Json<'t>)>),
}

/// A value.
#[derive(Clone)]
pub(super) enum Value<'v> {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'v, str>),
    /// An array or object of the document.
    Part(&'v Json<'v>),
    Array(Rc<Vec<Value<'v>>>),
    Object(Rc<Vec<(&'v str, Value<'v>)>>),
}

/// Reads an object, but only the wanted ones of its members.
pub(super) fn read<'t>(text: &'t str, wanted: Option<&BTreeSet<String>>) -> Result<Json<'t>, JsonError> {
    let mut parser = Parser::of_text(text);
    let mut members = Vec::new();
    parser.next_event()?;
    while let Some(Event::Key(name)) = parser.next_event()? {
        let name = name.decode();
        if wanted.is_none_or(|wanted| wanted.contains(&*name)) {
            let value = value(&mut parser)?;
            members.push((name, value));
        } else {
            skip(&mut parser)?;
        }
    }
    Ok(Json::Object(last_of_each(members)))
}

fn skip(parser: &mut Parser<'_>) -> Result<(), JsonError> {
    let depth = parser.depth();
    loop {
        parser.next_event()?;
        if parser.depth() <= depth {
            return Ok(());
        }
    }
}

fn value<'t>(parser: &mut Parser<'t>) -> Result<Json<'t>, JsonError> {
    let event = parser.next_event()?;
    of_event(parser, event)
}

fn of_event<'t>(parser: &mut Parser<'t>, event: Option<Event<'t>>) -> Result<Json<'t>, JsonError> {
    Ok(match event {
        Some(Event::String(text)) => Json::Text(text.decode()),
        Some(Event::Number(number)) => Json::Number(number.to_f64()),
        Some(Event::Bool(bool)) => Json::Bool(bool),
        Some(Event::ArrayStart) => {
            let mut elements = Vec::new();
            loop {
                match parser.next_event()? {
                    Some(Event::ArrayEnd) | None => break Json::Array(elements),
                    event => elements.push(of_event(parser, event)?),
                }
            }
        }
        Some(Event::ObjectStart) => {
            let mut members = Vec::new();
            while let Some(Event::Key(name)) = parser.next_event()? {
                members.push((name.decode(), value(parser)?));
            }
            Json::Object(last_of_each(members))
        }
        _ => Json::Null,
    })
}

/// If several members have the same name, the last value takes the place of the first.
fn last_of_each<'t>(members: Vec<(Cow<'t, str>, Json<'t>)>) -> Vec<(Cow<'t, str>, Json<'t>)> {
    let unique = if members.len() <= 16 {
        members.iter().enumerate().all(|(at, (name, _))| members.iter().take(at).all(|(other, _)| other != name))
    } else {
        members.iter().map(|(name, _)| name).collect::<std::collections::HashSet<_>>().len() == members.len()
    };
    if unique {
        return members;
    }
    let mut places: HashMap<Cow<'t, str>, usize> = HashMap::new();
    let mut kept: Vec<(Cow<'t, str>, Json<'t>)> = Vec::new();
    for (name, value) in members {
        match places.get(&name).and_then(|place| kept.get_mut(*place)) {
            Some(own) => own.1 = value,
            None => {
                places.insert(name.clone(), kept.len());
                kept.push((name, value));
            }
        }
    }
    kept
}

impl Json<'_> {
    /// An object with another object's members after its own.
    pub(super) fn with(mut self, other: Self) -> Self {
        if let (Json::Object(members), Json::Object(others)) = (&mut self, other) {
            members.extend(others);
        }
        self
    }
}

impl<'v> Value<'v> {
    /// A part of the document as a value.
    pub(super) fn of(json: &'v Json<'v>) -> Self {
        match json {
            Json::Null => Value::Null,
            Json::Bool(bool) => Value::Bool(*bool),
            Json::Number(number) => Value::Number(*number),
            Json::Text(text) => Value::Text(Cow::Borrowed(text)),
            Json::Array(_) | Json::Object(_) => Value::Part(json),
        }
    }

    /// One of its own members.
    pub(super) fn own(&self, name: &str) -> Option<Value<'v>> {
        match self {
            Value::Part(Json::Object(members)) => {
                members.iter().find(|(own, _)| own == name).map(|(_, value)| Value::of(value))
            }
            Value::Object(members) => members.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone()),
            _ => None,
        }
    }

    /// An element of an array.
    pub(super) fn element(&self, at: usize) -> Option<Value<'v>> {
        match self {
            Value::Part(Json::Array(elements)) => elements.get(at).map(Value::of),
            Value::Array(elements) => elements.get(at).cloned(),
            _ => None,
        }
    }

    /// The number of an array's elements; `None` if it is not an array.
    pub(super) fn elements(&self) -> Option<usize> {
        match self {
            Value::Part(Json::Array(elements)) => Some(elements.len()),
            Value::Array(elements) => Some(elements.len()),
            _ => None,
        }
    }

    /// Writes it as `JSON.stringify` does. Returns `false` if that writes nothing.
    pub(super) fn write(&self, out: &mut String) -> bool {
        match self {
            Value::Undefined => return false,
            Value::Null => out.push_str("null"),
            Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
            Value::Number(number) => write_number(*number, out),
            Value::Text(text) => write_text(text, out),
            Value::Part(json) => write_json(json, out),
            Value::Array(elements) => {
                out.push('[');
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    if !element.write(out) {
                        out.push_str("null");
                    }
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                let mut first = true;
                for (name, value) in in_order(members, |(name, _)| name) {
                    let before = out.len();
                    if !first {
                        out.push(',');
                    }
                    write_text(name, out);
                    out.push(':');
                    if value.write(out) {
                        first = false;
                    } else {
                        out.truncate(before);
                    }
                }
                out.push('}');
            }
        }
        true
    }
}

fn write_json(json: &Json<'_>, out: &mut String) {
    match json {
        Json::Null => out.push_str("null"),
        Json::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Json::Number(number) => write_number(*number, out),
        Json::Text(text) => write_text(text, out),
        Json::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json(element, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (at, (name, value)) in in_order(members, |(name, _)| name).into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(name, out);
                out.push(':');
                write_json(value, out);
            }
            out.push('}');
        }
    }
}

/// Members in the order in which an object lists them: first those whose names are array indexes, by number.
fn in_order<M>(members: &[M], name: impl Fn(&M) -> &str) -> Vec<&M> {
    let index = |member: &&M| {
        let name = name(member);
        let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let plain = digits && (name == "0" || !name.starts_with('0'));
        plain.then(|| name.parse::<u32>().ok().filter(|index| *index < u32::MAX)).flatten()
    };
    let mut ordered: Vec<&M> = members.iter().collect();
    if members.iter().any(|member| index(&member).is_some()) {
        ordered.sort_by_key(|member| index(member).map_or(u64::MAX, u64::from));
    }
    ordered
}

fn write_number(number: f64, out: &mut String) {
    if number.is_finite() {
        // Every engine prints whole numbers of this size alike.
        if number.fract() == 0.0 && number.abs() < 1e15 {
            out.push_str(&(number as i64).to_string());
        } else {
            out.push_str(&number::print(number));
        }
    } else {
        out.push_str("null");
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            8 => "\\b",
            9 => "\\t",
            10 => "\\n",
            12 => "\\f",
            13 => "\\r",
            0..32 => "",
            _ => continue,
        };
        out.push_str(&text[plain..at]);
        plain = at + 1;
        if escape.is_empty() {
            out.push_str("\\u00");
            out.push(char::from(b'0' + (byte >> 4)));
            out.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
        } else {
            out.push_str(escape);
        }
    }
    out.push_str(&text[plain..]);
    out.push('"');
}
