//! Bytes from a file or standard input, in blocks, with the line and column of the next byte. It must never hold more
//! than one block.

use std::fmt;
use std::io::{self, Read};

use crate::limits::BLOCK_BYTES;

/// A place in the input. Lines and columns count from 1. Columns count characters, as editors do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: u64,
    /// The character in the line.
    pub column: u64,
}

impl Position {
    /// The beginning of an input.
    pub const START: Position = Position { line: 1, column: 1 };

    /// The position after `bytes`, which begin here.
    #[must_use]
    pub fn after(self, bytes: &[u8]) -> Position {
        self.after_lines(bytes, b'\n')
    }

    /// The same in a text whose lines end otherwise.
    #[must_use]
    #[expect(clippy::naive_bytecount, reason = "the compiler makes vector instructions of it; a crate is not needed")]
    pub fn after_lines(self, bytes: &[u8], line_end: u8) -> Position {
        let (lines, last_line) = match bytes.iter().rposition(|&byte| byte == line_end) {
            Some(newline) => (bytes.iter().filter(|&&byte| byte == line_end).count() as u64, &bytes[newline + 1..]),
            None => (0, bytes),
        };
        // A character counts at its first byte. One that a block's end cuts in two therefore counts once.
        let characters = last_line.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u64;
        let column = if lines == 0 { self.column } else { 1 };
        Position { line: self.line + lines, column: column + characters }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A reader in blocks that knows its position.
pub struct Source<R> {
    reader: R,
    block: Vec<u8>,
    start: usize,
    end: usize,
    position: Position,
    line_end: u8,
}

impl<R: Read> Source<R> {
    /// Reads from `reader`. Skips a UTF-8 byte order mark at the beginning.
    pub fn new(reader: R) -> io::Result<Self> {
        Source::with_block(reader, BLOCK_BYTES)
    }

    /// As [`Source::new`], with another block size: tests put a block's end at every byte.
    pub fn with_block(reader: R, block_bytes: usize) -> io::Result<Self> {
        let block = vec![0; block_bytes.max(4)];
        let mut source = Source { reader, block, start: 0, end: 0, position: Position::START, line_end: b'\n' };
        while source.end < 3 {
            let read = source.read_more()?;
            if read == 0 {
                break;
            }
        }
        if source.block[..source.end].starts_with(b"\xef\xbb\xbf") {
            source.start = 3;
        }
        Ok(source)
    }

    /// The next bytes, at least one. Empty at the end of the input.
    pub fn peek(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            self.read_more()?;
        }
        Ok(&self.block[self.start..self.end])
    }

    /// The position of the next byte.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Sets the byte at which lines end; a line feed otherwise.
    pub fn set_line_end(&mut self, line_end: u8) {
        self.line_end = line_end;
    }

    /// The byte at which lines end.
    pub fn line_end(&self) -> u8 {
        self.line_end
    }

    /// Skips `count` bytes of those that [`Source::peek`] returned.
    pub fn advance(&mut self, count: usize) {
        let passed = &self.block[self.start..self.end][..count];
        self.position = self.position.after_lines(passed, self.line_end);
        self.start += count;
    }

    fn read_more(&mut self) -> io::Result<usize> {
        loop {
            match self.reader.read(&mut self.block[self.end..]) {
                Ok(read) => {
                    self.end += read;
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_count_newlines_wherever_a_block_ends() {
        let text = "São\nPaulo 東京\r\nx";
        for block in 4..20 {
            let mut source = Source::with_block(text.as_bytes(), block).unwrap();
            let mut seen = Vec::new();
            while let Some(&byte) = source.peek().unwrap().first() {
                seen.push((byte, source.position()));
                source.advance(1);
            }
            assert_eq!(seen.len(), text.len());
            let at = |needle: &str| seen[text.find(needle).unwrap()].1;
            assert_eq!(at("o\n"), Position { line: 1, column: 3 });
            assert_eq!(at("京"), Position { line: 2, column: 8 });
            assert_eq!(at("x"), Position { line: 3, column: 1 });
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_input() {
        let mut source = Source::new(&b"\xef\xbb\xbf{}"[..]).unwrap();
        assert_eq!(source.peek().unwrap(), b"{}");
        assert_eq!(source.position(), Position::START);
        assert_eq!(Source::new(&b"\xef\xbb"[..]).unwrap().peek().unwrap(), b"\xef\xbb");
    }
}
