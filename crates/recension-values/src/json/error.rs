//! The reason for which a text is not JSON, and the place.

use std::fmt;

/// The problem of a text, and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JsonError {
    /// The problem.
    pub problem: JsonProblem,
    /// The byte's offset, from 0.
    pub offset: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
}

/// The problem of a text that is not JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum JsonProblem {
    /// Something else should stand here.
    Expected(&'static str),
    /// The text ends too early.
    Ends(&'static str),
    /// The bytes are not UTF-8.
    NotUtf8,
    /// A control character in a string; it must be escaped.
    ControlCharacter(u8),
    /// Half of a surrogate pair, which is no character.
    LoneSurrogate,
    /// Arrays and objects nest deeper than the bound.
    TooDeep(usize),
    /// The text is longer than the bound.
    TooLong(usize),
}

impl JsonError {
    pub(super) fn at(problem: JsonProblem, bytes: &[u8], offset: usize) -> Self {
        let before = bytes.get(..offset).unwrap_or(bytes);
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        // Errors are rare and texts bounded: nothing faster is needed.
        #[allow(clippy::naive_bytecount)]
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        // A character is counted at its first byte; the others are 10xxxxxx.
        let column = before[line_start..].iter().filter(|&&byte| byte & 0xc0 != 0x80).count() + 1;
        JsonError { problem, offset, line, column }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not JSON: line {}, column {} (byte {}): ", self.line, self.column, self.offset)?;
        match self.problem {
            JsonProblem::Expected(what) => write!(f, "expected {what}"),
            JsonProblem::Ends(what) => write!(f, "the text ends, and {what} was expected"),
            JsonProblem::NotUtf8 => write!(f, "these bytes are not UTF-8"),
            JsonProblem::ControlCharacter(byte) => {
                write!(f, "control character {byte:#04x} in a string; write it as \\u{byte:04x}")
            }
            JsonProblem::LoneSurrogate => {
                write!(f, "half of a surrogate pair; characters beyond U+FFFF are written as two \\u escapes")
            }
            JsonProblem::TooDeep(max) => write!(f, "arrays and objects nest deeper than {max} levels"),
            JsonProblem::TooLong(max) => write!(f, "the text is longer than {max} bytes"),
        }
    }
}

impl std::error::Error for JsonError {}
