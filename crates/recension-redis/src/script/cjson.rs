//! `cjson`: JSON text and values.

use std::fmt::Write as _;

use super::run::{Running, Stop};
use super::sprintf::general;
use super::value::{Table, Value, place};
use crate::limits::SCRIPT_JSON_DEPTH_MAX;

/// Length from which on an array may be too sparse.
const SPARSE_MIN: usize = 10;

impl<E> Running<'_, '_, E> {
    pub(super) fn json_function(&mut self, name: &str, arguments: &[Value]) -> Result<Value, Stop<E>> {
        let [value] = arguments else {
            return Err(self.wrong(format_args!("bad argument #1 to '{name}' (expected 1 argument)")));
        };
        if name == "encode" {
            let mut text = Vec::new();
            self.encode(value, &mut text, 0)?;
            return self.string(text);
        }
        let Some(text) = value.string() else { return Err(self.unfit_argument(arguments, 0, name, "string")) };
        self.step(1 + text.len() / 64)?;
        let mut reader = Reader { text: &text, at: 0 };
        let decoded = self.decode(&mut reader, 0)?;
        match reader.peek() {
            None => Ok(decoded),
            Some(_) => Err(self.broken("the end", &reader)),
        }
    }

    fn encode(&mut self, value: &Value, out: &mut Vec<u8>, depth: usize) -> Result<(), Stop<E>> {
        self.step(1)?;
        self.make(8)?;
        match value {
            Value::Nil | Value::Null => out.extend(b"null"),
            Value::Bool(flag) => out.extend(flag.to_string().bytes()),
            Value::Number(number) if !number.is_finite() => {
                return Err(self.wrong("Cannot serialise number: must not be NaN or Inf"));
            }
            Value::Number(number) => out.extend(general(*number, 14).bytes()),
            Value::Text(text) => {
                self.make(text.len())?;
                write_text(text, out);
            }
            Value::Table(_) if depth >= SCRIPT_JSON_DEPTH_MAX => {
                return Err(self.wrong(format_args!("Cannot serialise, excessive nesting ({})", depth + 1)));
            }
            Value::Table(at) => self.encode_table(*at, out, depth)?,
            other => {
                return Err(self.wrong(format_args!("Cannot serialise {}: type not supported", other.kind())));
            }
        }
        Ok(())
    }

    fn encode_table(&mut self, at: usize, out: &mut Vec<u8>, depth: usize) -> Result<(), Stop<E>> {
        let table = &self.tables[at];
        let mut items: Vec<Value> = table.items.clone();
        let mut others: Vec<(Value, Value)> = table.others().cloned().collect();
        self.make((items.len() + 2 * others.len()) * size_of::<Value>())?;
        // An array with gaps: they are null, if they are few.
        let longer = |len: usize, (key, _): &(Value, Value)| match key {
            Value::Number(number) => place(*number).map(|place| len.max(place + 1)),
            _ => None,
        };
        if let Some(len) = others.iter().try_fold(items.len(), longer).filter(|len| *len > items.len()) {
            if len > SPARSE_MIN && len > 2 * (items.len() + others.len()) {
                return Err(self.wrong("Cannot serialise table: excessively sparse array"));
            }
            items.resize(len, Value::Nil);
            for (key, value) in others.drain(..) {
                if let Some(item) = key.number().and_then(place).and_then(|place| items.get_mut(place)) {
                    *item = value;
                }
            }
        }
        if others.is_empty() && !items.is_empty() {
            out.push(b'[');
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                self.encode(item, out, depth + 1)?;
            }
            out.push(b']');
            return Ok(());
        }
        out.push(b'{');
        let items = items.into_iter().enumerate().map(|(number, item)| (Value::count(number + 1), item));
        for (number, (key, value)) in items.chain(others).enumerate() {
            if number > 0 {
                out.push(b',');
            }
            let Some(key) = key.string() else {
                return Err(self.wrong("Cannot serialise table: table key must be a number or string"));
            };
            write_text(&key, out);
            out.push(b':');
            self.encode(&value, out, depth + 1)?;
        }
        out.push(b'}');
        Ok(())
    }

    fn broken(&self, expected: &str, reader: &Reader<'_>) -> Stop<E> {
        let found = match reader.text.get(reader.at) {
            None => "T_END",
            Some(b'{') => "T_OBJ_BEGIN",
            Some(b'}') => "T_OBJ_END",
            Some(b'[') => "T_ARR_BEGIN",
            Some(b']') => "T_ARR_END",
            Some(b',') => "T_COMMA",
            Some(b':') => "T_COLON",
            Some(_) => "invalid token",
        };
        self.wrong(format_args!("Expected {expected} but found {found} at character {}", reader.at + 1))
    }

    fn decode(&mut self, reader: &mut Reader<'_>, depth: usize) -> Result<Value, Stop<E>> {
        self.step(1)?;
        if depth > SCRIPT_JSON_DEPTH_MAX {
            return Err(self.wrong(format_args!("Found too many nested data structures ({depth})")));
        }
        match reader.peek() {
            Some(b'{') => {
                reader.at += 1;
                let table = self.empty()?;
                let mut first = true;
                while !reader.takes(b'}') {
                    if !first && !reader.takes(b',') {
                        return Err(self.broken("comma or object end", reader));
                    }
                    first = false;
                    let key = match reader.peek() {
                        Some(b'"') => reader.string(),
                        _ => None,
                    };
                    let Some(key) = key else { return Err(self.broken("object key string", reader)) };
                    if !reader.takes(b':') {
                        return Err(self.broken("colon", reader));
                    }
                    let (key, value) = (self.string(key)?, self.decode(reader, depth + 1)?);
                    self.set_member(&table, key, value)?;
                }
                Ok(table)
            }
            Some(b'[') => {
                reader.at += 1;
                let mut items = Vec::new();
                while !reader.takes(b']') {
                    if !items.is_empty() && !reader.takes(b',') {
                        return Err(self.broken("comma or array end", reader));
                    }
                    items.push(self.decode(reader, depth + 1)?);
                }
                self.table(Table::of_items(items))
            }
            Some(b'"') => match reader.string() {
                Some(text) => self.string(text),
                None => Err(self.broken("value", reader)),
            },
            _ => reader.word().ok_or_else(|| self.broken("value", reader)),
        }
    }
}

fn write_text(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text {
        match byte {
            b'"' | b'\\' | b'/' => out.extend([b'\\', *byte]),
            8 => out.extend(b"\\b"),
            12 => out.extend(b"\\f"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            0..32 | 127 => {
                let mut escaped = String::with_capacity(6);
                // Writing to a String cannot fail.
                let _ = write!(escaped, "\\u{byte:04x}");
                out.extend(escaped.bytes());
            }
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
}

struct Reader<'r> {
    text: &'r [u8],
    at: usize,
}

impl Reader<'_> {
    /// The next byte that is no blank.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_it = self.peek() == Some(byte);
        self.at += usize::from(is_it);
        is_it
    }

    fn word(&mut self) -> Option<Value> {
        let rest = self.text.get(self.at..)?;
        let len = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
        let value = match &rest[..len] {
            b"null" => Value::Null,
            b"true" => Value::Bool(true),
            b"false" => Value::Bool(false),
            word if word.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-') => {
                Value::Number(super::value::number_of_text(word)?)
            }
            _ => return None,
        };
        self.at += len;
        Some(value)
    }

    fn string(&mut self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        self.at += 1;
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => return Some(out),
                b'\\' => {
                    let escaped = *self.text.get(self.at)?;
                    self.at += 1;
                    out.push(match escaped {
                        b'"' | b'\\' | b'/' => escaped,
                        b'b' => 8,
                        b'f' => 12,
                        b'n' => b'\n',
                        b'r' => b'\r',
                        b't' => b'\t',
                        b'u' => {
                            let c = self.unicode()?;
                            out.extend(c.encode_utf8(&mut [0; 4]).bytes());
                            continue;
                        }
                        _ => return None,
                    });
                }
                0..32 => return None,
                byte => out.push(byte),
            }
        }
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = std::str::from_utf8(self.text.get(self.at..self.at + 4)?).ok()?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    fn unicode(&mut self) -> Option<char> {
        let high = self.unit()?;
        if !(0xd800..0xdc00).contains(&high) {
            return char::from_u32(high);
        }
        self.at += 2 * usize::from(self.text.get(self.at..self.at + 2)? == b"\\u");
        let low = self.unit()?.checked_sub(0xdc00)?;
        char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)
    }
}
