//! A body in Erlang's external term format (`erl_ext_dist`), as CouchDB hashes it. A parser feeds it with events, a
//! serializer piece by piece. Pure.

use crate::error::{Error, Result};
use crate::json::{BigInteger, Event, Number};

/// The first byte of every term.
pub const VERSION: u8 = 131;
const SMALL_INTEGER: u8 = 97;
const INTEGER: u8 = 98;
const SMALL_BIG: u8 = 110;
const NEW_FLOAT: u8 = 70;
const ATOM: u8 = 100;
const SMALL_TUPLE: u8 = 104;
const NIL: u8 = 106;
const STRING: u8 = 107;
const LIST: u8 = 108;
const BINARY: u8 = 109;

/// Bytes of a list, a string or a binary before its content: tag and length.
const HEAD_BYTES: usize = 5;
/// Bytes of an integer from 0 to 255.
const SMALL_INTEGER_BYTES: usize = 2;

/// Writes one term.
pub struct Encoder {
    out: Vec<u8>,
    /// The innermost open array or object; at the beginning, one that is never written.
    inner: Open,
    /// The ones around it.
    outer: Vec<Open>,
    /// The beginning of the last string that came in pieces.
    #[cfg(feature = "typed")]
    string: usize,
}

/// An open array or object.
#[derive(Clone, Copy)]
struct Open {
    /// The beginning of its list.
    start: usize,
    object: bool,
    /// Its elements or members so far.
    count: usize,
    /// Whether all of its elements are integers from 0 to 255: Erlang takes such a list for a string.
    small: bool,
}

/// A place in the output where a member of the outermost object begins.
#[derive(Clone, Copy, Default)]
pub struct Mark {
    pub at: usize,
    count: usize,
}

impl Encoder {
    pub fn with_room_for(body_bytes: usize) -> Self {
        let inner = Open { start: 0, object: false, count: 0, small: false };
        let out = Vec::with_capacity(body_bytes * 5 / 4 + 16);
        Encoder {
            out,
            inner,
            outer: Vec::new(),
            #[cfg(feature = "typed")]
            string: 0,
        }
    }

    /// The term.
    pub fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// The next piece of a text.
    #[inline]
    pub fn event(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::Key(name) => {
                self.member();
                self.string(&name.decode());
            }
            Event::ObjectEnd | Event::ArrayEnd => self.end(),
            value => {
                if !self.inner.object {
                    self.element();
                }
                match value {
                    Event::ObjectStart => self.begin(true),
                    Event::ArrayStart => self.begin(false),
                    Event::String(text) => self.string(&text.decode()),
                    Event::Number(number) => self.number(number)?,
                    Event::Bool(true) => self.atom("true"),
                    Event::Bool(false) => self.atom("false"),
                    _ => self.atom("null"),
                }
            }
        }
        Ok(())
    }

    /// A member begins: its name, a string, and its value follow.
    #[inline]
    pub fn member(&mut self) {
        self.inner.count += 1;
        self.out.extend_from_slice(&[SMALL_TUPLE, 2]);
    }

    /// An element of an array begins: its value follows.
    #[inline]
    pub fn element(&mut self) {
        self.inner.count += 1;
    }

    #[inline]
    pub fn string(&mut self, text: &str) {
        self.inner.small = false;
        put_binary(&mut self.out, text.as_bytes());
    }

    pub fn atom(&mut self, name: &str) {
        self.inner.small = false;
        put_atom(&mut self.out, name);
    }

    #[inline]
    pub fn integer(&mut self, value: i64) {
        self.inner.small &= u8::try_from(value).is_ok();
        put_integer(&mut self.out, value);
    }

    /// Any number.
    ///
    /// # Errors
    /// [`Error::NumberOutOfRange`].
    pub fn number(&mut self, number: Number<'_>) -> Result<()> {
        match number.to_i64() {
            Some(value) => self.integer(value),
            None => {
                self.inner.small = false;
                put_large_or_fraction(&mut self.out, number)?;
            }
        }
        Ok(())
    }

    #[inline]
    pub fn begin(&mut self, object: bool) {
        self.inner.small = false;
        self.outer.push(self.inner);
        if object {
            self.out.extend_from_slice(&[SMALL_TUPLE, 1, LIST, 0, 0, 0, 0]);
        } else {
            self.out.extend_from_slice(&[LIST, 0, 0, 0, 0]);
        }
        self.inner = Open { start: self.out.len() - HEAD_BYTES, object, count: 0, small: !object };
    }

    #[inline]
    pub fn end(&mut self) {
        let Some(outer) = self.outer.pop() else { return };
        let Open { start, count, small, .. } = std::mem::replace(&mut self.inner, outer);
        if count == 0 {
            self.out.truncate(start);
        } else if let (true, Ok(length)) = (small, u16::try_from(count)) {
            return self.make_string(start, length);
        } else {
            self.put_length(start, count);
        }
        self.out.push(NIL);
    }

    /// Turns the list of small integers that begins at `start` into an Erlang string.
    fn make_string(&mut self, start: usize, length: u16) {
        let elements = self.out.split_off(start);
        let bytes = elements.get(HEAD_BYTES..).unwrap_or_default().iter().skip(1).step_by(SMALL_INTEGER_BYTES);
        self.out.push(STRING);
        self.out.extend_from_slice(&length.to_be_bytes());
        self.out.extend(bytes);
    }

    /// Writes the length into the head of a list or a binary that begins at `start`.
    #[inline]
    fn put_length(&mut self, start: usize, length: usize) {
        if let Some(place) = self.out.get_mut(start + 1..start + HEAD_BYTES) {
            place.copy_from_slice(&(length as u32).to_be_bytes());
        }
    }

    /// The place where the next member of the outermost object begins. No other container may be open.
    pub fn mark(&self) -> Mark {
        Mark { at: self.out.len(), count: self.inner.count }
    }

    /// Removes the members of the outermost object from a place on.
    pub fn rewind(&mut self, mark: Mark) {
        self.out.truncate(mark.at);
        self.inner.count = mark.count;
    }

    /// Appends a byte to an output that is of no use any more, so that the next member begins at another place.
    pub fn spoil(&mut self) {
        self.out.push(NIL);
    }
}

/// Strings that come in pieces.
#[cfg(feature = "typed")]
impl Encoder {
    #[inline]
    pub fn begin_string(&mut self) {
        self.inner.small = false;
        self.string = self.out.len();
        self.out.extend_from_slice(&[BINARY, 0, 0, 0, 0]);
    }

    #[inline]
    pub fn string_piece(&mut self, piece: &[u8]) {
        self.out.extend_from_slice(piece);
    }

    #[inline]
    pub fn end_string(&mut self) {
        self.put_length(self.string, self.out.len().saturating_sub(self.string + HEAD_BYTES));
    }
}

/// Begins the list that a revision is hashed from.
pub fn begin_revision(length: u8, room: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(room);
    out.extend([VERSION, LIST, 0, 0, 0, length]);
    out
}

/// An empty list, or the end of one.
pub fn put_nil(out: &mut Vec<u8>) {
    out.push(NIL);
}

/// The head of a list that is not empty.
pub fn put_list(out: &mut Vec<u8>, length: usize) {
    out.push(LIST);
    out.extend((length as u32).to_be_bytes());
}

/// The head of a tuple.
pub fn put_tuple(out: &mut Vec<u8>, length: u8) {
    out.extend([SMALL_TUPLE, length]);
}

#[inline]
pub fn put_binary(out: &mut Vec<u8>, bytes: &[u8]) {
    let [a, b, c, d] = (bytes.len() as u32).to_be_bytes();
    out.extend_from_slice(&[BINARY, a, b, c, d]);
    out.extend_from_slice(bytes);
}

pub fn put_atom(out: &mut Vec<u8>, name: &str) {
    out.extend([ATOM, 0, name.len() as u8]);
    out.extend(name.as_bytes());
}

#[inline]
pub fn put_integer(out: &mut Vec<u8>, value: i64) {
    match u8::try_from(value) {
        Ok(small) => out.extend_from_slice(&[SMALL_INTEGER, small]),
        Err(_) => put_larger_integer(out, value),
    }
}

fn put_larger_integer(out: &mut Vec<u8>, value: i64) {
    if let Ok(word) = i32::try_from(value) {
        out.push(INTEGER);
        out.extend(word.to_be_bytes());
    } else {
        let magnitude = value.unsigned_abs().to_le_bytes();
        let length = magnitude.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        put_big(out, value < 0, &magnitude[..length]);
    }
}

fn put_big(out: &mut Vec<u8>, negative: bool, magnitude_le: &[u8]) {
    out.extend([SMALL_BIG, magnitude_le.len() as u8, u8::from(negative)]);
    out.extend(magnitude_le);
}

/// A number that is no integer of 64 bits.
fn put_large_or_fraction(out: &mut Vec<u8>, number: Number<'_>) -> Result<()> {
    if !number.in_range() {
        return Err(Error::NumberOutOfRange { number: number.text.chars().take(80).collect() });
    }
    if number.integer {
        let value = BigInteger::parse(number.text);
        // INTEGER_DIGITS_MAX digits fit into 255 bytes, the most that this tag can have.
        put_big(out, value.negative, &value.magnitude_le());
    } else {
        out.push(NEW_FLOAT);
        out.extend(number.to_f64().to_bits().to_be_bytes());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Parser;

    fn term(text: &str) -> Vec<u8> {
        let mut encoder = Encoder::with_room_for(0);
        let mut parser = Parser::of_text(text);
        while let Some(event) = parser.next_event().unwrap() {
            encoder.event(event).unwrap();
        }
        encoder.into_bytes()
    }

    #[test]
    fn terms_are_as_the_format_says() {
        let cases: [(&str, &[u8]); 11] = [
            ("{}", &[104, 1, 106]),
            ("[]", &[106]),
            ("[1,255]", &[107, 0, 2, 1, 255]),
            ("[1,256]", &[108, 0, 0, 0, 2, 97, 1, 98, 0, 0, 1, 0, 106]),
            ("[-1]", &[108, 0, 0, 0, 1, 98, 255, 255, 255, 255, 106]),
            ("[1,\"x\"]", &[108, 0, 0, 0, 2, 97, 1, 109, 0, 0, 0, 1, b'x', 106]),
            ("[[1],2]", &[108, 0, 0, 0, 2, 107, 0, 1, 1, 97, 2, 106]),
            ("[1.0]", &[108, 0, 0, 0, 1, 70, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 106]),
            ("[true]", &[108, 0, 0, 0, 1, 100, 0, 4, b't', b'r', b'u', b'e', 106]),
            ("[4294967296]", &[108, 0, 0, 0, 1, 110, 5, 0, 0, 0, 0, 0, 1, 106]),
            (
                "{\"a\":[{}]}",
                &[104, 1, 108, 0, 0, 0, 1, 104, 2, 109, 0, 0, 0, 1, b'a', 108, 0, 0, 0, 1, 104, 1, 106, 106, 106],
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(term(text), expected, "{text}");
        }
    }

    #[test]
    fn a_list_of_small_integers_is_a_string_up_to_65535_of_them() {
        let list = |length| term(&format!("[{}]", vec!["7"; length].join(",")));
        assert_eq!(list(65_535), [&[107, 255, 255][..], &vec![7; 65_535]].concat());
        assert_eq!(list(65_536), [&[108, 0, 1, 0, 0][..], &[97, 7].repeat(65_536), &[106]].concat());
    }
}
