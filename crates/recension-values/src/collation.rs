//! Values as bytes whose order is CouchDB's collation order: null, false, true, numbers, strings,
//! arrays, objects. Pure. The layout is in docs/documents-format.md and may not change within an encoding.

use std::ops::Bound;

use crate::json::{BigInteger, Event, JsonError, Number, Parser, Text, plain_string, quote, quote_into};
#[cfg(feature = "unicode-collation")]
use crate::unicode::{write_primaries, write_sort_key};
use recension_engine::{EngineError, successor_of_prefix};

/// How strings are ordered; null, booleans, numbers, arrays and objects are ordered alike by the first two.
///
/// ```
/// use recension::Collation;
/// # fn main() -> recension::Result<()> {
/// let key = |text| Collation::Unicode.key(text);
/// assert!(key("\"a\"")? < key("\"B\"")? && key("\"é\"")? < key("\"f\"")?);
/// assert!(Collation::Binary.key("\"a\"")? > Collation::Binary.key("\"B\"")?);
/// assert!(key("9007199254740993")? > key("9007199254740992.0")?);
/// assert_eq!(key("1")?, key("1.0")?);
/// assert!(key("[1]")? > key("\"z\"")?);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Collation {
    /// By Unicode's root collation, as CouchDB orders its views: a, A, b, é, f. Equal strings are ordered by UTF-8
    /// bytes. The default, if the feature `unicode-collation` is built in.
    #[cfg(feature = "unicode-collation")]
    #[default]
    Unicode,
    /// By UTF-8 bytes: A, a, b, f, é. Keys are shorter and faster to make. The default of a build without Unicode's.
    #[cfg_attr(not(feature = "unicode-collation"), default)]
    Binary,
    /// As Erlang orders its terms: numbers, false, null, true, objects, arrays, and strings by UTF-8 bytes. CouchDB's
    /// views with `"collation": "raw"` have it.
    Raw,
}

/// The number of the encoding in Unicode's order.
const UNICODE_ENCODING: u8 = 2;

// First bytes of values. END sorts before every one of them, so that a shorter array comes first.
const END: u8 = 0x00;
const NULL: u8 = 0x10;
const FALSE: u8 = 0x20;
const TRUE: u8 = 0x28;
const NUMBER: u8 = 0x30;
const STRING: u8 = 0x40;
const ARRAY: u8 = 0x50;
const OBJECT: u8 = 0x60;

/// The types in Erlang's order of terms.
const RAW_TAGS: [(u8, u8); 7] =
    [(NUMBER, 0x10), (FALSE, 0x20), (NULL, 0x28), (TRUE, 0x30), (OBJECT, 0x40), (ARRAY, 0x50), (STRING, 0x60)];

// After a zero byte in a string: its end, or a zero that is a part of it.
const STRING_ENDS: u8 = 0x01;
const STRING_GOES_ON: u8 = 0xff;

// After the nearest double: how the exact number differs from it.
const LESS: u8 = 0x7f;
const EXACT: u8 = 0x80;
const MORE: u8 = 0x81;
/// Digits of an integer that a double has exactly.
const PLAIN_DIGITS_MAX: usize = 15;

impl Collation {
    /// The number of the encoding, as the catalogue has it.
    pub fn encoding(self) -> u8 {
        match self {
            Collation::Binary => 1,
            #[cfg(feature = "unicode-collation")]
            Collation::Unicode => UNICODE_ENCODING,
            Collation::Raw => 3,
        }
    }

    /// The first byte of a type's keys, from that of the other collations.
    fn tag(self, tag: u8) -> u8 {
        if self == Collation::Raw {
            RAW_TAGS.iter().find(|(own, _)| *own == tag).map_or(tag, |(_, raw)| *raw)
        } else {
            tag
        }
    }

    /// The reverse of [`Collation::tag`].
    fn untag(self, tag: u8) -> u8 {
        if self == Collation::Raw {
            RAW_TAGS.iter().find(|(_, raw)| *raw == tag).map_or(tag, |(own, _)| *own)
        } else {
            tag
        }
    }

    /// The collation of an encoding; an error if this program was built without it. `None`: there is no such encoding.
    pub fn of_encoding(number: u8) -> Option<Result<Self, EngineError>> {
        match number {
            1 => Some(Ok(Collation::Binary)),
            3 => Some(Ok(Collation::Raw)),
            #[cfg(feature = "unicode-collation")]
            UNICODE_ENCODING => Some(Ok(Collation::Unicode)),
            #[cfg(not(feature = "unicode-collation"))]
            UNICODE_ENCODING => {
                Some(Err(EngineError::not_built_in("an index in Unicode's order", "unicode-collation")))
            }
            _ => None,
        }
    }

    /// Whether it is Unicode's order.
    pub fn is_unicode(self) -> bool {
        self.encoding() == UNICODE_ENCODING
    }

    /// The key of a JSON value: keys are ordered, by their bytes, as their values are. Different values have
    /// different keys, and no key is the beginning of another one.
    ///
    /// Numbers are ordered exactly: an integer of any size against doubles and other integers.
    pub fn key(self, text: &str) -> Result<Vec<u8>, crate::error::Error> {
        let mut key = Vec::with_capacity(text.len() + 16);
        self.encode_value(text, &mut key)?;
        Ok(key)
    }

    /// Appends the key of a JSON value; returns whether [`Collation::decode_value`] gives the same text again.
    pub fn encode_value(self, text: &str, out: &mut Vec<u8>) -> Result<bool, JsonError> {
        // Strings are stored twice, as their weights and as they are.
        out.reserve(text.len() * 2 + 16);
        if self.encode_plain(text, out) {
            return Ok(true);
        }
        let mut parser = Parser::of_text(text);
        let mut same = true;
        while let Some(event) = parser.next_event()? {
            match event {
                Event::Null => out.push(self.tag(NULL)),
                Event::Bool(false) => out.push(self.tag(FALSE)),
                Event::Bool(true) => out.push(self.tag(TRUE)),
                Event::Number(number) => same &= encode_number(number, self.tag(NUMBER), out),
                Event::String(text) | Event::Key(text) => same &= self.encode_text(text, out),
                Event::ArrayStart => out.push(self.tag(ARRAY)),
                Event::ObjectStart => out.push(self.tag(OBJECT)),
                Event::ArrayEnd | Event::ObjectEnd => out.push(END),
            }
        }
        Ok(same)
    }

    /// Appends the key of a string without escapes or of a short integer, as most values are; false if it is neither.
    fn encode_plain(self, text: &str, out: &mut Vec<u8>) -> bool {
        if let Some(raw) = plain_string(text) {
            return self.encode_text(Text { raw, escaped: false }, out);
        }
        let is_integer = (1..=PLAIN_DIGITS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        is_integer
            && (text.len() == 1 || !text.starts_with('0'))
            && encode_number(Number { text, integer: true }, self.tag(NUMBER), out)
    }

    fn encode_text(self, text: Text<'_>, out: &mut Vec<u8>) -> bool {
        let decoded = text.decode();
        out.push(self.tag(STRING));
        match self {
            Collation::Binary | Collation::Raw => {}
            #[cfg(feature = "unicode-collation")]
            Collation::Unicode => {
                write_sort_key(&decoded, out);
                out.push(END);
            }
        }
        encode_bytes(&decoded, out);
        out.extend([0, STRING_ENDS]);
        !text.escaped || quote(&decoded).get(1..).and_then(|text| text.strip_suffix('"')) == Some(text.raw)
    }

    /// Bounds of the keys of all strings that begin with `prefix`, and maybe of others.
    pub fn prefix_bounds(self, prefix: &str) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
        let mut start = vec![self.tag(STRING)];
        match self {
            Collation::Binary | Collation::Raw => encode_bytes(prefix, &mut start),
            #[cfg(feature = "unicode-collation")]
            Collation::Unicode => write_primaries(prefix, &mut start),
        }
        let end = successor_of_prefix(&start).map_or(Bound::Unbounded, Bound::Excluded);
        (Bound::Included(start), end)
    }

    /// Appends the JSON text of the value at the beginning of `key`, and answers the length of its key.
    ///
    /// Numbers beyond the doubles' precision come out as the nearest double.
    pub fn decode_value(self, key: &[u8], out: &mut String) -> Option<usize> {
        // For each open container: whether it is an object, and how many keys of names and values it has had.
        let mut open: Vec<(bool, usize)> = Vec::new();
        let mut at = 0;
        loop {
            let first = self.untag(*key.get(at)?);
            if first == END {
                let (object, parts) = open.pop()?;
                if object && parts % 2 == 1 {
                    return None;
                }
                out.push(if object { '}' } else { ']' });
                at += 1;
            } else {
                if let Some((object, parts)) = open.last_mut() {
                    match (*object && *parts % 2 == 1, *parts) {
                        (true, _) => out.push(':'),
                        (false, 0) => {}
                        (false, _) => out.push(','),
                    }
                    if *object && *parts % 2 == 0 && first != STRING {
                        return None;
                    }
                    *parts += 1;
                }
                if first == ARRAY || first == OBJECT {
                    out.push(if first == OBJECT { '{' } else { '[' });
                    open.push((first == OBJECT, 0));
                    at += 1;
                } else {
                    at += self.decode_scalar(key.get(at..)?, out)?;
                }
            }
            if open.is_empty() {
                return Some(at);
            }
        }
    }

    fn decode_scalar(self, key: &[u8], out: &mut String) -> Option<usize> {
        match self.untag(*key.first()?) {
            NULL => out.push_str("null"),
            FALSE => out.push_str("false"),
            TRUE => out.push_str("true"),
            NUMBER => {
                let (bits, rest) = key.get(1..)?.split_first_chunk()?;
                out.push_str(&text_of_double(double_of(*bits)));
                return Some(9 + residual_len(rest)?);
            }
            STRING => {
                let mut at = self.text_start(key)?;
                if let Some((text, end)) = whole_text(key, at) {
                    quote_into(std::str::from_utf8(text).ok()?, out);
                    return Some(end);
                }
                let mut bytes = Vec::new();
                loop {
                    let end = at + memchr::memchr(0, key.get(at..)?)?;
                    bytes.extend(key.get(at..end)?);
                    at = end + 2;
                    match *key.get(end + 1)? {
                        STRING_ENDS => break,
                        STRING_GOES_ON => bytes.push(0),
                        _ => return None,
                    }
                }
                out.push_str(&quote(std::str::from_utf8(&bytes).ok()?));
                return Some(at);
            }
            _ => return None,
        }
        Some(1)
    }

    /// Whether this is the key of `null`.
    pub fn is_null_key(key: &[u8]) -> bool {
        key == [NULL]
    }

    /// The number that the key of a number decodes to, and the same as an integer if its text is one; `None` for the
    /// key of any other value.
    pub fn number_of_key(key: &[u8]) -> Option<(f64, Option<i64>)> {
        let (bits, rest) = key.strip_prefix(&[NUMBER])?.split_first_chunk()?;
        (residual_len(rest)? == rest.len()).then(|| {
            let double = double_of(*bits);
            (double, is_short_integer(double).then_some(double as i64))
        })
    }

    /// Appends the key by bytes of the scalar value that has this key; `None` if it is no scalar.
    pub(crate) fn key_by_bytes(self, key: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let tag = self.untag(*key.first()?);
        let rest = match tag {
            STRING => key.get(self.text_start(key)?..)?,
            NULL | FALSE | TRUE | NUMBER => key.get(1..)?,
            _ => return None,
        };
        out.push(tag);
        out.extend_from_slice(rest);
        Some(())
    }

    /// Where the UTF-8 bytes of a string's key begin.
    fn text_start(self, key: &[u8]) -> Option<usize> {
        if self.is_unicode() { Some(memchr::memchr(END, key)? + 1) } else { Some(1) }
    }

    /// The length of the value at the beginning of a key.
    pub fn value_len(self, key: &[u8]) -> Option<usize> {
        let mut depth = 0_usize;
        let mut at = 0;
        loop {
            match self.untag(*key.get(at)?) {
                NULL | FALSE | TRUE => at += 1,
                NUMBER => at += 9 + residual_len(key.get(at + 9..)?)?,
                STRING => {
                    at += self.text_start(key.get(at..)?)?;
                    loop {
                        at += memchr::memchr(0, key.get(at..)?)? + 2;
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
}

/// A type of JSON values. Both collations order all values of one type before those of the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JsonType {
    /// `null`
    Null,
    /// `false` and `true`
    Bool,
    /// Numbers.
    Number,
    /// Strings.
    String,
    /// Arrays.
    Array,
    /// Objects.
    Object,
}

impl JsonType {
    /// The type of a value, by the first byte of its text.
    pub fn of(text: &str) -> Self {
        match text.as_bytes().first() {
            Some(b'n') => JsonType::Null,
            Some(b't' | b'f') => JsonType::Bool,
            Some(b'"') => JsonType::String,
            Some(b'[') => JsonType::Array,
            Some(b'{') => JsonType::Object,
            _ => JsonType::Number,
        }
    }

    /// The bytes with which the keys of its values begin: the first, and the one after them.
    pub fn bounds(self) -> (u8, u8) {
        match self {
            JsonType::Null => (NULL, FALSE),
            JsonType::Bool => (FALSE, NUMBER),
            JsonType::Number => (NUMBER, STRING),
            JsonType::String => (STRING, ARRAY),
            JsonType::Array => (ARRAY, OBJECT),
            JsonType::Object => (OBJECT, OBJECT + 0x10),
        }
    }
}

fn encode_bytes(text: &str, out: &mut Vec<u8>) {
    if !text.as_bytes().contains(&0) {
        return out.extend_from_slice(text.as_bytes());
    }
    for (i, part) in text.as_bytes().split(|&byte| byte == 0).enumerate() {
        if i > 0 {
            out.extend([0, STRING_GOES_ON]);
        }
        out.extend(part);
    }
}

/// The double of a number's key.
fn double_of(ordered: [u8; 8]) -> f64 {
    let bits = u64::from_be_bytes(ordered);
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

/// Whether a double is an integer of up to 15 digits: all of them are doubles.
fn is_short_integer(double: f64) -> bool {
    double.abs() < 1e15 && double.fract() == 0.0
}

/// The text of a decoded double.
fn text_of_double(double: f64) -> String {
    if is_short_integer(double) {
        return (double as i64).to_string();
    }
    format!("{double:?}")
}

/// Appends a number's key; returns whether its text can be decoded from the key.
fn encode_number(number: Number<'_>, tag: u8, out: &mut Vec<u8>) -> bool {
    // -0 equals 0.
    let double = number.to_f64() + 0.0;
    let bits = double.to_bits();
    let ordered = if double.is_sign_negative() { !bits } else { bits | 1 << 63 };
    out.push(tag);
    out.extend(ordered.to_be_bytes());
    // 15 digits always fit a double exactly.
    if number.integer && number.text.len() <= PLAIN_DIGITS_MAX {
        out.push(EXACT);
        return number.text != "-0";
    }
    if !number.integer {
        out.push(EXACT);
        return text_of_double(double) == number.text;
    }
    let exact = BigInteger::parse(number.text);
    let residual = if double.is_finite() {
        // Rounding keeps the sign, so both have the same.
        exact.minus_same_sign(&BigInteger::of_whole_double(double))
    } else {
        exact
    };
    if residual.is_zero() {
        out.push(EXACT);
        return text_of_double(double) == number.text;
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
    false
}

/// The bytes of a string's characters from `at` on, if none of them is zero, and the length of the key.
fn whole_text(key: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let end = at + memchr::memchr(0, key.get(at..)?)?;
    (*key.get(end + 1)? == STRING_ENDS).then_some((key.get(at..end)?, end + 2))
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
