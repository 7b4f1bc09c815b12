//! Values, and how numbers and strings become each other. Tables and functions are places in the arena of a run.

use std::collections::HashMap;
use std::sync::Arc;

use super::library::Builtin;
use super::sprintf::general;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Nil,
    Bool(bool),
    Number(f64),
    Text(Arc<[u8]>),
    Table(usize),
    Function(usize),
    Builtin(Builtin),
    /// `cjson.null`, which is no nil: it can be a member of a table.
    Null,
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Nil, Value::Nil) | (Value::Null, Value::Null) => true,
            (Value::Bool(one), Value::Bool(other)) => one == other,
            (Value::Number(one), Value::Number(other)) => one == other,
            (Value::Text(one), Value::Text(other)) => one == other,
            (Value::Table(one), Value::Table(other)) | (Value::Function(one), Value::Function(other)) => one == other,
            (Value::Builtin(one), Value::Builtin(other)) => one == other,
            _ => false,
        }
    }
}

impl Value {
    pub(super) fn text(text: impl AsRef<[u8]>) -> Self {
        Value::Text(text.as_ref().into())
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of scripts are doubles")]
    pub(super) fn count(count: usize) -> Self {
        Value::Number(count as f64)
    }

    pub(super) fn is_true(&self) -> bool {
        !matches!(self, Value::Nil | Value::Bool(false))
    }

    /// The name of its type.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Nil => "nil",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::Text(_) => "string",
            Value::Table(_) => "table",
            Value::Function(_) | Value::Builtin(_) => "function",
            Value::Null => "userdata",
        }
    }

    /// Its number, also if it is a string of one.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(text) => number_of_text(text),
            _ => None,
        }
    }

    /// Its string, also if it is a number.
    pub(super) fn string(&self) -> Option<Arc<[u8]>> {
        match self {
            Value::Text(text) => Some(text.clone()),
            Value::Number(number) => Some(general(*number, 14).into_bytes().into()),
            _ => None,
        }
    }

    /// What `tostring` says.
    pub(super) fn shown(&self) -> Arc<[u8]> {
        let text = match self {
            Value::Nil => "nil".to_owned(),
            Value::Bool(flag) => flag.to_string(),
            Value::Table(at) => format!("table: 0x{at:08x}"),
            Value::Function(at) => format!("function: 0x{at:08x}"),
            Value::Builtin(function) => format!("function: builtin: {}", function.name()),
            Value::Null => "userdata: (nil)".to_owned(),
            Value::Number(_) | Value::Text(_) => return self.string().unwrap_or_default(),
        };
        text.into_bytes().into()
    }
}

/// The number that a text is, as C reads it: blanks around it, hexadecimal digits behind `0x`.
pub(super) fn number_of_text(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let (minus, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if let Some(hex) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        return whole(hex.as_bytes(), 16).map(|number| if minus { -number } else { number });
    }
    text.parse().ok()
}

/// The number that digits of a base are.
pub(super) fn whole(digits: &[u8], base: u32) -> Option<f64> {
    let digit = |byte: &u8| char::from(*byte).to_digit(base);
    let number = digits.iter().try_fold(0.0, |sum, byte| Some(sum * f64::from(base) + f64::from(digit(byte)?)));
    number.filter(|_| !digits.is_empty())
}

/// A table: items from 1 on, and whatever else, in the order in which it came.
#[derive(Default, Debug)]
pub(super) struct Table {
    pub(super) items: Vec<Value>,
    entries: Vec<(Value, Value)>,
    places: HashMap<Key, usize>,
    /// It can be read only: the library's tables, as in Redis.
    pub(super) fixed: bool,
}

#[derive(PartialEq, Eq, Hash, Debug)]
enum Key {
    Bool(bool),
    Number(u64),
    Text(Arc<[u8]>),
    Place(u8, usize),
}

fn key(value: &Value) -> Option<Key> {
    Some(match value {
        Value::Nil => return None,
        Value::Bool(flag) => Key::Bool(*flag),
        Value::Number(number) if number.is_nan() => return None,
        // Both zeros are one key.
        Value::Number(number) => Key::Number((number + 0.0).to_bits()),
        Value::Text(text) => Key::Text(text.clone()),
        Value::Table(at) => Key::Place(0, *at),
        Value::Function(at) => Key::Place(1, *at),
        Value::Builtin(function) => Key::Place(2, function.number()),
        Value::Null => Key::Place(3, 0),
    })
}

/// The place of an item, from 0 on. Keys of items begin with 1.
pub(super) fn place(index: f64) -> Option<usize> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was tested to fit")]
    ((1.0..1e9).contains(&index) && index.fract() == 0.0).then(|| index as usize - 1)
}

impl Table {
    pub(super) fn of_items(items: Vec<Value>) -> Self {
        Table { items, ..Table::default() }
    }

    pub(super) fn get(&self, wanted: &Value) -> Value {
        if let Value::Number(number) = wanted
            && let Some(item) = place(*number).and_then(|place| self.items.get(place))
        {
            return item.clone();
        }
        let at = key(wanted).and_then(|key| self.places.get(&key));
        at.and_then(|at| self.entries.get(*at)).map_or(Value::Nil, |(_, value)| value.clone())
    }

    pub(super) fn named(&self, name: &str) -> Value {
        self.get(&Value::text(name))
    }

    /// Sets a member; `false`: its key is nil or no number.
    pub(super) fn set(&mut self, at: Value, value: Value) -> bool {
        if let Value::Number(number) = &at
            && let Some(place) = place(*number)
        {
            if place < self.items.len() {
                self.items[place] = value;
                while self.items.last() == Some(&Value::Nil) {
                    self.items.pop();
                }
                return true;
            }
            if place == self.items.len() && value != Value::Nil {
                self.forget(&at);
                self.items.push(value);
                self.take_following();
                return true;
            }
        }
        let Some(key) = key(&at) else { return false };
        match self.places.get(&key) {
            // A member that is gone keeps its place, so that whoever goes through the table may remove members.
            Some(place) => self.entries[*place].1 = value,
            None if value == Value::Nil => {}
            None => {
                self.places.insert(key, self.entries.len());
                self.entries.push((at, value));
            }
        }
        true
    }

    fn forget(&mut self, at: &Value) {
        if let Some(place) = key(at).and_then(|key| self.places.get(&key)) {
            self.entries[*place].1 = Value::Nil;
        }
    }

    /// Members that now follow the items become items.
    fn take_following(&mut self) {
        while !self.places.is_empty() {
            let next = Value::count(self.items.len() + 1);
            let value = key(&next).and_then(|key| self.places.get(&key)).map(|place| &mut self.entries[*place].1);
            match value.map(|value| std::mem::replace(value, Value::Nil)) {
                Some(value) if value != Value::Nil => self.items.push(value),
                _ => return,
            }
        }
    }

    /// The member behind a key, in the order of the table; inside `None` at its end, outside if there is no such key.
    #[expect(clippy::option_option, reason = "no such key, the end, and a member")]
    pub(super) fn next(&self, after: &Value) -> Option<Option<(Value, Value)>> {
        let from = match after {
            Value::Nil => 0,
            Value::Number(number) if place(*number).is_some_and(|place| place < self.items.len()) => {
                place(*number)? + 1
            }
            other => self.items.len() + *self.places.get(&key(other)?)? + 1,
        };
        let of_items = self.items.iter().enumerate().skip(from).find(|(_, value)| **value != Value::Nil);
        if let Some((at, value)) = of_items {
            return Some(Some((Value::count(at + 1), value.clone())));
        }
        let entries = self.entries.iter().skip(from.saturating_sub(self.items.len()));
        Some(entries.into_iter().find(|(_, value)| *value != Value::Nil).cloned())
    }

    /// Its members that are no items.
    pub(super) fn others(&self) -> impl Iterator<Item = &(Value, Value)> {
        self.entries.iter().filter(|(_, value)| *value != Value::Nil)
    }
}
