//! Values as bytes whose order is CouchDB's collation order: null, false, true, numbers, strings,
//! arrays, objects. Pure. The layout is in docs/documents-format.md and may not change within a version.

use super::json::{BigInteger, Event, JsonError, Number, Parser};

/// The version of this encoding that new indexes are made with: strings are ordered by their UTF-8 bytes.
pub(super) const COLLATION_BYTES: u8 = 1;

// First bytes of values. END sorts before every one of them, so that a shorter array comes first.
const END: u8 = 0x00;
const NULL: u8 = 0x10;
const FALSE: u8 = 0x20;
const TRUE: u8 = 0x28;
const NUMBER: u8 = 0x30;
const STRING: u8 = 0x40;
const ARRAY: u8 = 0x50;
const OBJECT: u8 = 0x60;

// After a zero byte in a string: its end, or a zero that is a part of it.
const STRING_ENDS: u8 = 0x01;
const STRING_GOES_ON: u8 = 0xff;

// After the nearest double: how the exact number differs from it.
const LESS: u8 = 0x7f;
const EXACT: u8 = 0x80;
const MORE: u8 = 0x81;

/// Appends the key of a JSON value. No key is the beginning of another one.
///
/// Numbers are ordered exactly: an integer of any size against doubles and other integers.
///
/// ```
/// use recension::document::encode_value;
/// # fn main() -> Result<(), recension::document::json::JsonError> {
/// let key = |text| { let mut key = Vec::new(); encode_value(text, &mut key).map(|()| key) };
/// assert!(key("9007199254740993")? > key("9007199254740992.0")?);
/// assert_eq!(key("1")?, key("1.0")?);
/// assert!(key("[1]")? > key("\"z\"")?);
/// # Ok(()) }
/// ```
pub fn encode_value(text: &str, out: &mut Vec<u8>) -> Result<(), JsonError> {
    let mut parser = Parser::of_text(text);
    while let Some(event) = parser.next_event()? {
        match event {
            Event::Null => out.push(NULL),
            Event::Bool(false) => out.push(FALSE),
            Event::Bool(true) => out.push(TRUE),
            Event::Number(number) => encode_number(number, out),
            Event::String(text) | Event::Key(text) => encode_string(&text.decode(), out),
            Event::ArrayStart => out.push(ARRAY),
            Event::ObjectStart => out.push(OBJECT),
            Event::ArrayEnd | Event::ObjectEnd => out.push(END),
        }
    }
    Ok(())
}

/// The bytes with which the keys of all values of the same type begin: the first, and the one after them.
pub(super) fn type_bounds(key: &[u8]) -> (u8, u8) {
    match key.first() {
        Some(&first) if first >= OBJECT => (OBJECT, OBJECT + 0x10),
        // false and true are of one type.
        Some(&(FALSE | TRUE)) => (FALSE, NUMBER),
        Some(&first) => (first, first + 0x10),
        None => (0, 0xff),
    }
}

/// The length of the value at the beginning of an index key; what follows it is the document's id.
pub(super) fn value_len(key: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        match *key.get(at)? {
            NULL | FALSE | TRUE => at += 1,
            NUMBER => at += 9 + residual_len(key.get(at + 9..)?)?,
            STRING => {
                at += 1;
                loop {
                    at += key.get(at..)?.iter().position(|&byte| byte == 0)? + 2;
                    if *key.get(at - 1)? == STRING_ENDS {
                        break;
                    }
                }
            }
            ARRAY | OBJECT => {
                depth += 1;
                at += 1;
                continue;
            }
            END if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            _ => return None,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

fn encode_string(text: &str, out: &mut Vec<u8>) {
    out.push(STRING);
    for (i, part) in text.as_bytes().split(|&byte| byte == 0).enumerate() {
        if i > 0 {
            out.extend([0, STRING_GOES_ON]);
        }
        out.extend(part);
    }
    out.extend([0, STRING_ENDS]);
}

fn encode_number(number: Number<'_>, out: &mut Vec<u8>) {
    // -0 equals 0.
    let double = number.to_f64() + 0.0;
    let bits = double.to_bits();
    let ordered = if double.is_sign_negative() { !bits } else { bits | 1 << 63 };
    out.push(NUMBER);
    out.extend(ordered.to_be_bytes());
    // 15 digits always fit a double exactly.
    if !number.integer || number.text.len() <= 15 {
        out.push(EXACT);
        return;
    }
    let exact = BigInteger::parse(number.text);
    let residual = if double.is_finite() {
        // Rounding keeps the sign, so that both have one.
        exact.minus_same_sign(&BigInteger::of_whole_double(double))
    } else {
        exact
    };
    if residual.is_zero() {
        out.push(EXACT);
        return;
    }
    let mut magnitude = residual.magnitude_le();
    magnitude.reverse();
    let length = (magnitude.len() as u16).to_be_bytes();
    if residual.negative {
        out.push(LESS);
        out.extend(length.iter().chain(&magnitude).map(|byte| !byte));
    } else {
        out.push(MORE);
        out.extend(length.iter().chain(&magnitude));
    }
}

fn residual_len(bytes: &[u8]) -> Option<usize> {
    let length = || Some([*bytes.get(1)?, *bytes.get(2)?]);
    match *bytes.first()? {
        EXACT => Some(1),
        LESS => Some(3 + usize::from(!u16::from_be_bytes(length()?))),
        MORE => Some(3 + usize::from(u16::from_be_bytes(length()?))),
        _ => None,
    }
}
