//! Finds the end of a JSON value and its faults, block by block. It is a state machine of the grammar of RFC 8259. It
//! takes bytes and returns positions, and must never keep any of the bytes.

use crate::limits::DEPTH_MAX;

/// The result for a block of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// The whole block belongs to the value, and the value goes on.
    More,
    /// The value ends before this byte of the block.
    Done(usize),
    /// This byte of the block is wrong.
    Wrong(usize, Fault),
}

/// The reason why a byte is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Something else was expected.
    Expected(&'static str),
    /// Nested deeper than [`DEPTH_MAX`].
    TooDeep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Value,
    /// After `[`: a value or `]`.
    FirstElement,
    /// After `{`: a key or `}`.
    FirstKey,
    /// After a comma in an object.
    Key,
    Colon,
    /// After a member or an element.
    Next,
    Text {
        key: bool,
    },
    Escape {
        key: bool,
    },
    Hex {
        key: bool,
        left: u8,
    },
    Number(Number),
    /// The rest of `true`, `false` or `null`.
    Literal(&'static [u8]),
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    E,
    Sign,
    Exponent,
}

/// A scan of one value.
#[derive(Debug)]
pub struct Scanner {
    state: State,
    /// The open brackets: true for an object.
    open: Vec<bool>,
}

impl Default for Scanner {
    fn default() -> Self {
        Scanner { state: State::Value, open: Vec::new() }
    }
}

impl Scanner {
    /// Goes on with the next block.
    pub fn feed(&mut self, block: &[u8]) -> Scan {
        let mut at = 0;
        while at < block.len() {
            if self.state == State::Done {
                return Scan::Done(at);
            }
            if let State::Text { .. } = self.state {
                // Skips the long stretches of plain characters. Everything else goes byte by byte.
                let plain = block[at..].iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < 0x20);
                let Some(plain) = plain else { return Scan::More };
                at += plain;
            }
            match self.step(block[at]) {
                Ok(true) => at += 1,
                // The byte ended a number and belongs to the next token.
                Ok(false) => {}
                Err(fault) => return Scan::Wrong(at, fault),
            }
        }
        if self.state == State::Done { Scan::Done(at) } else { Scan::More }
    }

    /// The missing part at the end of the input, if the value is not whole.
    pub fn finish(&mut self) -> Result<(), &'static str> {
        use Number::{Exponent, Fraction, Integer, Zero};
        match self.state {
            State::Done => Ok(()),
            State::Number(Zero | Integer | Fraction | Exponent) if self.open.is_empty() => Ok(()),
            State::Text { .. } | State::Escape { .. } | State::Hex { .. } => Err("the closing '\"' of a string"),
            _ => match self.open.last() {
                Some(true) => Err("the closing '}' of an object"),
                Some(false) => Err("the closing ']' of an array"),
                None => Err("a value"),
            },
        }
    }

    /// Takes one byte. Returns false if the byte ended a number and has to be looked at again.
    fn step(&mut self, byte: u8) -> Result<bool, Fault> {
        let white = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        match self.state {
            State::Value | State::FirstElement | State::FirstKey | State::Key | State::Colon | State::Next if white => {
            }
            State::FirstElement if byte == b']' => self.close(),
            State::FirstKey if byte == b'}' => self.close(),
            State::Value | State::FirstElement => self.begin(byte)?,
            State::FirstKey | State::Key if byte == b'"' => self.state = State::Text { key: true },
            State::FirstKey => return Err(Fault::Expected("a '\"' that begins a key, or '}'")),
            State::Key => return Err(Fault::Expected("a '\"' that begins a key")),
            State::Colon if byte == b':' => self.state = State::Value,
            State::Colon => return Err(Fault::Expected("':' after a key")),
            State::Next => self.next(byte)?,
            State::Text { key } => match byte {
                b'"' if key => self.state = State::Colon,
                b'"' => self.end_value(),
                b'\\' => self.state = State::Escape { key },
                0..0x20 => {
                    return Err(Fault::Expected("the closing '\"' of a string (a line break in it is written \\n)"));
                }
                _ => {}
            },
            State::Escape { key } => match byte {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.state = State::Text { key },
                b'u' => self.state = State::Hex { key, left: 4 },
                _ => {
                    return Err(Fault::Expected(
                        "one of \" \\ / b f n r t u after a '\\' (a '\\' itself is written \\\\)",
                    ));
                }
            },
            State::Hex { key, left } => match byte {
                b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' if left == 1 => self.state = State::Text { key },
                b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' => self.state = State::Hex { key, left: left - 1 },
                _ => return Err(Fault::Expected("four hexadecimal digits after \\u")),
            },
            State::Number(number) => match next_of_number(number, byte)? {
                Some(number) => self.state = State::Number(number),
                None => {
                    self.end_value();
                    return Ok(false);
                }
            },
            State::Literal(rest) => match rest.split_first() {
                Some((&expected, rest)) if expected == byte => {
                    self.state = State::Literal(rest);
                    if rest.is_empty() {
                        self.end_value();
                    }
                }
                _ => return Err(Fault::Expected("true, false or null")),
            },
            State::Done => return Ok(false),
        }
        Ok(true)
    }

    fn begin(&mut self, byte: u8) -> Result<(), Fault> {
        self.state = match byte {
            b'{' | b'[' => {
                if self.open.len() == DEPTH_MAX {
                    return Err(Fault::TooDeep);
                }
                self.open.push(byte == b'{');
                if byte == b'{' { State::FirstKey } else { State::FirstElement }
            }
            b'"' => State::Text { key: false },
            b'-' => State::Number(Number::Minus),
            b'0' => State::Number(Number::Zero),
            b'1'..=b'9' => State::Number(Number::Integer),
            b't' => State::Literal(b"rue"),
            b'f' => State::Literal(b"alse"),
            b'n' => State::Literal(b"ull"),
            _ if self.state == State::FirstElement => return Err(Fault::Expected("a value or ']'")),
            _ => return Err(Fault::Expected("a value")),
        };
        Ok(())
    }

    fn next(&mut self, byte: u8) -> Result<(), Fault> {
        match (byte, self.open.last()) {
            (b'}', Some(true)) | (b']', Some(false)) => self.close(),
            (b',', Some(true)) => self.state = State::Key,
            (b',', _) => self.state = State::Value,
            (_, Some(true)) => return Err(Fault::Expected("',' or '}' after a member of an object")),
            _ => return Err(Fault::Expected("',' or ']' after an element of an array")),
        }
        Ok(())
    }

    fn close(&mut self) {
        self.open.pop();
        self.end_value();
    }

    fn end_value(&mut self) {
        self.state = if self.open.is_empty() { State::Done } else { State::Next };
    }
}

/// The state of a number after one more byte. `None` if the byte is not part of it.
fn next_of_number(number: Number, byte: u8) -> Result<Option<Number>, Fault> {
    use Number::{E, Exponent, Fraction, Integer, Minus, Point, Sign, Zero};
    Ok(Some(match (number, byte) {
        (Minus, b'0') => Zero,
        (Minus | Integer, b'0'..=b'9') => Integer,
        (Zero | Integer, b'.') => Point,
        (Zero | Integer | Fraction, b'e' | b'E') => E,
        (Point | Fraction, b'0'..=b'9') => Fraction,
        (E, b'+' | b'-') => Sign,
        (E | Sign | Exponent, b'0'..=b'9') => Exponent,
        (Minus | Point | E | Sign, _) => return Err(Fault::Expected("a digit")),
        (Zero, b'0'..=b'9') => return Err(Fault::Expected("no further digit after a leading 0")),
        (Zero | Integer | Fraction | Exponent, _) => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scans the text in one piece. Every way to cut the text into blocks must have the same outcome.
    fn scan(text: &str) -> Scan {
        let whole = Scanner::default().feed(text.as_bytes());
        for block in 1..text.len().min(9) {
            let mut scanner = Scanner::default();
            let mut at = 0;
            let mut outcome = Scan::More;
            for piece in text.as_bytes().chunks(block) {
                outcome = match scanner.feed(piece) {
                    Scan::More => Scan::More,
                    Scan::Done(end) => Scan::Done(at + end),
                    Scan::Wrong(place, fault) => Scan::Wrong(at + place, fault),
                };
                if outcome != Scan::More && outcome != Scan::Done(at + piece.len()) {
                    break;
                }
                at += piece.len();
            }
            assert_eq!(outcome, whole, "{text:?} in blocks of {block}");
        }
        whole
    }

    #[test]
    fn a_value_ends_where_the_grammar_says() {
        for (text, end) in [
            ("{}", 2),
            ("[] x", 2),
            (r#"{"a":[1,-2.5e+3,0,{"b":null}],"c":"\u00e9\""} {"#, 45),
            (" \n true,", 7),
            ("12,", 2),
            ("0 ", 1),
            (r#""é\n"{"#, 6),
        ] {
            assert_eq!(scan(text), Scan::Done(end), "{text}");
        }
    }

    #[test]
    fn a_fault_is_found_at_its_byte() {
        for (text, at, expected) in [
            (r#"{"a":1 "b":2}"#, 7, "',' or '}'"),
            (r#"{"a":1,}"#, 7, "a key"),
            (r#"{"a" 1}"#, 5, "':'"),
            ("{a:1}", 1, "or '}'"),
            ("[1,]", 3, "a value"),
            ("[1 2]", 3, "',' or ']'"),
            ("[1}", 2, "',' or ']'"),
            ("{\"a\":\"x\ny\"}", 7, "line break"),
            (r#"{"a":"\x"}"#, 7, "after a '\\'"),
            (r#"{"a":"\u12g4"}"#, 10, "hexadecimal"),
            ("[01]", 2, "leading 0"),
            ("[1.]", 3, "a digit"),
            ("[-]", 2, "a digit"),
            ("[1e]", 3, "a digit"),
            ("[tru]", 4, "true"),
            ("[NaN]", 1, "a value or ']'"),
            ("'a'", 0, "a value"),
        ] {
            match scan(text) {
                Scan::Wrong(place, Fault::Expected(what)) => {
                    assert_eq!(place, at, "{text}");
                    assert!(what.contains(expected), "{text}: {what}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let at_the_bound = "[".repeat(DEPTH_MAX) + &"]".repeat(DEPTH_MAX);
        assert_eq!(scan(&at_the_bound), Scan::Done(2 * DEPTH_MAX));
        assert_eq!(scan(&"[".repeat(DEPTH_MAX + 1)), Scan::Wrong(DEPTH_MAX, Fault::TooDeep));
    }

    #[test]
    fn what_is_missing_at_the_end_is_named() {
        for (text, missing) in [
            ("{\"a\":1", Some("'}'")),
            ("[1", Some("']'")),
            ("{\"a", Some("string")),
            ("", Some("a value")),
            ("-", Some("a value")),
            ("12", None),
            ("1.5", None),
        ] {
            let mut scanner = Scanner::default();
            assert_eq!(scanner.feed(text.as_bytes()), Scan::More, "{text}");
            match (scanner.finish(), missing) {
                (Ok(()), None) => {}
                (Err(what), Some(missing)) => assert!(what.contains(missing), "{text}: {what}"),
                (outcome, _) => panic!("{text}: {outcome:?}"),
            }
        }
    }
}
