//! The parser: JSON text in, events out, one at a time. Strict RFC 8259. UTF-8 is checked; lone surrogates and control
//! characters are refused; depth and length are bounded. It allocates nothing except one byte per level of nesting.

// A piece must be compiled into its caller, see `Parser::step`.
#![allow(clippy::inline_always)]

use super::scan::plain_len;
use super::{JsonError, JsonProblem, Number, Text};
use crate::limits::{JSON_BYTES_MAX, JSON_DEPTH_MAX};

/// A piece of a JSON text.
#[derive(Clone, Copy, Debug)]
pub enum Event<'t> {
    /// `{`
    ObjectStart,
    /// `}`
    ObjectEnd,
    /// `[`
    ArrayStart,
    /// `]`
    ArrayEnd,
    /// A member's name; its value follows.
    Key(Text<'t>),
    /// A string.
    String(Text<'t>),
    /// A number.
    Number(Number<'t>),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    CommaOrEnd,
    Nothing,
}

/// Reads a JSON text from front to back.
///
/// ```
/// use recension::json::{Event, Parser};
/// # fn main() -> Result<(), recension::json::JsonError> {
/// let mut parser = Parser::new(b"[1, 2]")?;
/// let mut numbers = 0;
/// while let Some(event) = parser.next_event()? {
///     numbers += usize::from(matches!(event, Event::Number(_)));
/// }
/// assert_eq!(numbers, 2);
/// # Ok(()) }
/// ```
pub struct Parser<'t> {
    text: &'t str,
    at: usize,
    next: Next,
    /// Whether the innermost open container is an object.
    in_object: bool,
    /// The same for the containers around it, outermost first.
    outer: Vec<bool>,
    /// Whether blanks were skipped.
    blanks: bool,
}

impl<'t> Parser<'t> {
    /// Begins to read `bytes`.
    pub fn new(bytes: &'t [u8]) -> Result<Self, JsonError> {
        let fail = |problem, at| Err(JsonError::at(problem, bytes, at));
        if bytes.len() > JSON_BYTES_MAX {
            return fail(JsonProblem::TooLong(JSON_BYTES_MAX), JSON_BYTES_MAX);
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self::of_text(text)),
            Err(error) => fail(JsonProblem::NotUtf8, error.valid_up_to()),
        }
    }

    /// Begins to read a text whose length has been checked, such as one that was stored.
    pub fn of_text(text: &'t str) -> Self {
        Parser { text, at: 0, next: Next::Value, in_object: false, outer: Vec::new(), blanks: false }
    }

    /// How many arrays and objects are open.
    pub fn depth(&self) -> usize {
        self.outer.len()
    }

    /// The whole text.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// The offset behind the last piece; behind the colon for a name.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Whether blanks were skipped since the last call.
    #[inline]
    pub(super) fn take_blanks(&mut self) -> bool {
        std::mem::take(&mut self.blanks)
    }

    /// The next piece; `None` at the proper end of the text.
    ///
    /// # Errors
    /// The problem, and its place. After an error the results of further calls mean nothing.
    pub fn next_event(&mut self) -> Result<Option<Event<'t>>, JsonError> {
        self.step()
    }

    /// The next piece, inlined into the caller: a caller that does little with a piece then never has it in memory. A
    /// write of a document from outside spends most of its time here.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> Result<Option<Event<'t>>, JsonError> {
        let Some(mut byte) = self.peek() else { return self.ended() };
        if self.next == Next::CommaOrEnd {
            let in_object = self.in_object;
            match byte {
                b',' => {
                    self.at += 1;
                    self.next = if in_object { Next::Key } else { Next::Value };
                    let Some(after) = self.peek() else { return self.ended() };
                    byte = after;
                }
                b'}' if in_object => return Ok(Some(self.close())),
                b']' if !in_object => return Ok(Some(self.close())),
                _ => return self.fail(self.comma_or_end()),
            }
        }
        match (self.next, byte) {
            (Next::ValueOrEnd, b']') | (Next::KeyOrEnd, b'}') => Ok(Some(self.close())),
            (Next::Value | Next::ValueOrEnd, _) => self.value(byte),
            (Next::Key | Next::KeyOrEnd, _) => self.key(byte),
            (Next::Nothing | Next::CommaOrEnd, _) => self.fail("the end of the text"),
        }
    }

    /// The end of the text: the proper one, or too early.
    #[cold]
    fn ended(&self) -> Result<Option<Event<'t>>, JsonError> {
        match self.next {
            Next::Nothing => Ok(None),
            Next::Value => self.fail_end("a value"),
            Next::Key => self.fail_end("a name in double quotes"),
            Next::ValueOrEnd => self.fail_end("a value or ]"),
            Next::KeyOrEnd => self.fail_end("a name in double quotes or }"),
            Next::CommaOrEnd => self.fail_end(self.comma_or_end()),
        }
    }

    /// The next byte that is not blank.
    #[inline(always)]
    fn peek(&mut self) -> Option<u8> {
        match self.bytes().get(self.at) {
            Some(b' ' | b'\n' | b'\r' | b'\t') => self.behind_blanks(),
            other => other.copied(),
        }
    }

    #[inline(never)]
    fn behind_blanks(&mut self) -> Option<u8> {
        self.blanks = true;
        let rest = self.bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
        self.bytes().get(self.at).copied()
    }

    fn comma_or_end(&self) -> &'static str {
        if self.in_object { "a comma or }" } else { "a comma or ]" }
    }

    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    #[inline(always)]
    fn key(&mut self, byte: u8) -> Result<Option<Event<'t>>, JsonError> {
        if byte != b'"' {
            return self.fail("a name in double quotes");
        }
        let key = self.string()?;
        match self.peek() {
            Some(b':') => self.at += 1,
            Some(_) => return self.fail("a colon"),
            None => return self.fail_end("a colon"),
        }
        self.next = Next::Value;
        Ok(Some(Event::Key(key)))
    }

    #[inline(always)]
    fn value(&mut self, byte: u8) -> Result<Option<Event<'t>>, JsonError> {
        let event = match byte {
            b'"' => Event::String(self.string()?),
            b'{' | b'[' => return self.open(byte == b'{'),
            b'-' | b'0'..=b'9' => Event::Number(self.number()?),
            b't' => self.word("true", Event::Bool(true))?,
            b'f' => self.word("false", Event::Bool(false))?,
            b'n' => self.word("null", Event::Null)?,
            _ => return self.fail("a value"),
        };
        self.next = self.after_value();
        Ok(Some(event))
    }

    fn after_value(&self) -> Next {
        if self.outer.is_empty() { Next::Nothing } else { Next::CommaOrEnd }
    }

    #[inline(always)]
    fn open(&mut self, object: bool) -> Result<Option<Event<'t>>, JsonError> {
        if self.outer.len() == JSON_DEPTH_MAX {
            return Err(JsonError::at(JsonProblem::TooDeep(JSON_DEPTH_MAX), self.bytes(), self.at));
        }
        self.outer.push(self.in_object);
        self.in_object = object;
        self.at += 1;
        self.next = if object { Next::KeyOrEnd } else { Next::ValueOrEnd };
        Ok(Some(if object { Event::ObjectStart } else { Event::ArrayStart }))
    }

    #[inline(always)]
    fn close(&mut self) -> Event<'t> {
        let object = self.in_object;
        self.in_object = self.outer.pop().unwrap_or(false);
        self.at += 1;
        self.next = self.after_value();
        if object { Event::ObjectEnd } else { Event::ArrayEnd }
    }

    #[inline]
    fn word(&mut self, word: &'static str, event: Event<'t>) -> Result<Event<'t>, JsonError> {
        if !self.text[self.at..].starts_with(word) {
            return self.fail("a value");
        }
        self.at += word.len();
        Ok(event)
    }

    #[inline]
    fn number(&mut self) -> Result<Number<'t>, JsonError> {
        let start = self.at;
        if self.bytes()[self.at] == b'-' {
            self.at += 1;
        }
        if self.bytes().get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        let mut integer = true;
        if self.bytes().get(self.at) == Some(&b'.') {
            integer = false;
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes().get(self.at) {
            integer = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes().get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Number { text: &self.text[start..self.at], integer })
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let digits = self.bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        match (digits, self.at == self.text.len()) {
            (0, true) => self.fail_end("a digit"),
            (0, false) => self.fail("a digit"),
            _ => Ok(()),
        }
    }

    #[inline(always)]
    fn string(&mut self) -> Result<Text<'t>, JsonError> {
        let start = self.at + 1;
        self.at = start + plain_len(self.bytes().get(start..).unwrap_or_default());
        let escaped = self.bytes().get(self.at) != Some(&b'"');
        if escaped {
            self.rest_of_string()?;
        }
        let raw = &self.text[start..self.at];
        self.at += 1;
        Ok(Text { raw, escaped })
    }

    /// Reads the rest of a string, from its first byte that is not plain to its closing quote.
    #[inline(never)]
    fn rest_of_string(&mut self) -> Result<(), JsonError> {
        loop {
            match self.bytes().get(self.at) {
                None => return self.fail_end("the closing quote of a string"),
                Some(b'"') => return Ok(()),
                Some(b'\\') => self.escape()?,
                Some(&byte) => {
                    return Err(JsonError::at(JsonProblem::ControlCharacter(byte), self.bytes(), self.at));
                }
            }
            self.at += plain_len(self.bytes().get(self.at..).unwrap_or_default());
        }
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        match self.bytes().get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                Ok(())
            }
            Some(b'u') => self.unicode_escape(),
            Some(_) => self.fail("one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"),
            None => self.fail_end("an escape"),
        }
    }

    fn unicode_escape(&mut self) -> Result<(), JsonError> {
        let lone = JsonProblem::LoneSurrogate;
        let start = self.at;
        let high = self.hex_escape()?;
        if (0xdc00..0xe000).contains(&high) {
            return Err(JsonError::at(lone, self.bytes(), start));
        }
        if (0xd800..0xdc00).contains(&high) {
            let low = if self.text[self.at..].starts_with("\\u") { self.hex_escape()? } else { 0 };
            if !(0xdc00..0xe000).contains(&low) {
                return Err(JsonError::at(lone, self.bytes(), start));
            }
        }
        Ok(())
    }

    fn hex_escape(&mut self) -> Result<u32, JsonError> {
        let mut code = 0;
        for i in 2..6 {
            let digit = self.bytes().get(self.at + i).and_then(|&byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                self.at = (self.at + i).min(self.text.len());
                return self.fail("four hexadecimal digits");
            };
            code = code << 4 | digit;
        }
        self.at += 6;
        Ok(code)
    }

    #[cold]
    fn fail<T>(&self, expected: &'static str) -> Result<T, JsonError> {
        Err(JsonError::at(JsonProblem::Expected(expected), self.bytes(), self.at))
    }

    #[cold]
    fn fail_end<T>(&self, expected: &'static str) -> Result<T, JsonError> {
        Err(JsonError::at(JsonProblem::Ends(expected), self.bytes(), self.at))
    }
}
