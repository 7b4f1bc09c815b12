//! Documents out of comma-separated values (RFC 4180): the header names the members, each record is one
//! flat document. Our own reader, because the usual ones neither bound a record's memory (one quote that
//! is never closed reads the whole file) nor say in which column a fault lies.

use std::io::Read;

use super::json::not_utf8;
use super::scanner::{Scan, Scanner};
use super::{InputError, Position, Record, Source};
use crate::limits::{COLUMNS_MAX, RECORD_BYTES_MAX};

/// What the text of a cell becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Types {
    /// Numbers, true and false, and JSON objects and arrays become themselves; the rest is text; an
    /// empty cell is no member at all. Numbers with leading zeros or more than 15 digits stay text.
    #[default]
    Infer,
    /// Every cell is text.
    Text,
}

/// How to read the values.
#[derive(Clone, Copy, Debug, Default)]
pub struct CsvOptions {
    /// What parts the cells of a record; found from the header where none is given.
    pub delimiter: Option<u8>,
    /// What cells become.
    pub types: Types,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell {
    text: String,
    quoted: bool,
}

/// Reads documents of a CSV input.
pub struct CsvRecords<R> {
    source: Source<R>,
    options: CsvOptions,
    delimiter: u8,
    header: Option<Vec<String>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the beginning of a cell.
    Begin,
    Bare,
    Quoted,
    /// After a quote in a quoted cell: its end, or half of a doubled quote.
    Quote,
}

impl<R: Read> CsvRecords<R> {
    /// The documents of `source`.
    pub fn new(source: Source<R>, options: CsvOptions) -> Self {
        CsvRecords { source, options, delimiter: options.delimiter.unwrap_or(b','), header: None }
    }

    /// The next document; none at the end of the input.
    pub fn next_record(&mut self) -> Result<Option<Record>, InputError> {
        if self.header.is_none() {
            if self.options.delimiter.is_none() {
                self.delimiter = likely_delimiter(self.source.peek()?);
            }
            let position = self.source.position();
            let Some((position, cells)) = self.cells()? else {
                return Err(InputError::expected(position, "a header that names the columns", None));
            };
            self.header = Some(names(position, cells)?);
        }
        let Some((position, cells)) = self.cells()? else { return Ok(None) };
        let header = self.header.as_deref().unwrap_or_default();
        if cells.len() != header.len() {
            return Err(InputError::at(
                position,
                format!(
                    "{} cells, and the header has {}; quote cells that contain '{}'",
                    cells.len(),
                    header.len(),
                    char::from(self.delimiter)
                ),
            ));
        }
        Ok(Some(Record { position, id: None, text: document(header, &cells, self.options.types) }))
    }

    /// After an error: a record that was read whole has been passed already; false within one.
    pub fn skip_record(&mut self) -> bool {
        self.header.is_some() && self.source.position().column == 1
    }

    /// The cells of the next record and where it begins; empty lines are passed over.
    fn cells(&mut self) -> Result<Option<(Position, Vec<Cell>)>, InputError> {
        self.skip_empty_lines()?;
        let start = self.source.position();
        let mut cells = Vec::new();
        let mut cell = Vec::new();
        let mut cell_start = start;
        let mut quoted = false;
        let mut state = State::Begin;
        let mut length = 0;
        loop {
            let position = self.source.position();
            let delimiter = self.delimiter;
            let block = self.source.peek()?;
            let Some(&byte) = block.first() else {
                return match state {
                    State::Quoted => Err(InputError::at(cell_start, "the quote that begins here is never closed")),
                    State::Begin if cells.is_empty() => Ok(None),
                    _ => {
                        push_cell(&mut cells, &mut cell, quoted, cell_start)?;
                        Ok(Some((start, cells)))
                    }
                };
            };
            // A stretch without anything that means something, or one byte that does.
            let plain = match state {
                State::Quoted => block.iter().position(|&byte| byte == b'"'),
                State::Bare => block.iter().position(|&byte| byte == delimiter || byte == b'\n'),
                State::Begin | State::Quote => Some(0),
            };
            let used = match plain {
                Some(0) => 1,
                Some(plain) => plain,
                None => block.len(),
            };
            length += used;
            if length > RECORD_BYTES_MAX {
                return Err(InputError::at(
                    cell_start,
                    format!(
                        "the record is longer than {} MiB, the limit; is a quote left open here?",
                        RECORD_BYTES_MAX >> 20
                    ),
                ));
            }
            if plain != Some(0) {
                cell.extend_from_slice(&block[..used]);
                self.source.advance(used);
                continue;
            }
            self.source.advance(1);
            match (state, byte) {
                (State::Begin, b'"') => {
                    quoted = true;
                    state = State::Quoted;
                }
                (State::Quoted, _) => state = State::Quote,
                (State::Quote, b'"') => {
                    cell.push(b'"');
                    state = State::Quoted;
                }
                (_, b'\n') => {
                    if !quoted && cell.last() == Some(&b'\r') {
                        cell.pop();
                    }
                    push_cell(&mut cells, &mut cell, quoted, cell_start)?;
                    return Ok(Some((start, cells)));
                }
                (_, byte) if byte == delimiter => {
                    push_cell(&mut cells, &mut cell, quoted, cell_start)?;
                    cell_start = self.source.position();
                    quoted = false;
                    state = State::Begin;
                }
                (State::Quote, b'\r') => {}
                (State::Quote, byte) => {
                    let found = byte.is_ascii().then(|| char::from(byte)).or(Some(char::REPLACEMENT_CHARACTER));
                    let what = format!(
                        "'{}' or the end of the line after a closing quote (a quote in a cell is doubled: \"\")",
                        char::from(delimiter)
                    );
                    return Err(InputError::expected(position, &what, found));
                }
                (State::Begin | State::Bare, byte) => {
                    cell.push(byte);
                    state = State::Bare;
                }
            }
        }
    }

    fn skip_empty_lines(&mut self) -> Result<(), InputError> {
        while let Some(b'\n' | b'\r') = self.source.peek()?.first() {
            self.source.advance(1);
        }
        Ok(())
    }
}

fn push_cell(cells: &mut Vec<Cell>, cell: &mut Vec<u8>, quoted: bool, start: Position) -> Result<(), InputError> {
    if cells.len() == COLUMNS_MAX {
        return Err(InputError::at(start, format!("more than {COLUMNS_MAX} columns, the limit")));
    }
    let text = String::from_utf8(std::mem::take(cell)).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let at = if quoted { start.after(b"\"").after(valid) } else { start.after(valid) };
        InputError::at(at, not_utf8(error.as_bytes()[valid.len()]))
    })?;
    cells.push(Cell { text, quoted });
    Ok(())
}

fn names(position: Position, cells: Vec<Cell>) -> Result<Vec<String>, InputError> {
    let mut names: Vec<String> = Vec::with_capacity(cells.len());
    for (number, cell) in (1..).zip(cells) {
        if cell.text.is_empty() {
            return Err(InputError::at(position, format!("column {number} has no name; give it one in the header")));
        }
        if names.contains(&cell.text) {
            let what = format!("two columns are named {:?}; give one another name", cell.text);
            return Err(InputError::at(position, what));
        }
        names.push(cell.text);
    }
    Ok(names)
}

/// Of the usual delimiters, the one that the first line has most of.
#[expect(clippy::naive_bytecount, reason = "one line of an input")]
fn likely_delimiter(start: &[u8]) -> u8 {
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |delimiter: u8| line.iter().filter(|&&byte| byte == delimiter).count();
    // max_by_key answers the last of equals: the comma.
    [b'|', b'\t', b';', b','].into_iter().max_by_key(|&delimiter| count(delimiter)).unwrap_or(b',')
}

fn document(header: &[String], cells: &[Cell], types: Types) -> String {
    let mut text = String::from("{");
    for (name, cell) in header.iter().zip(cells) {
        if types == Types::Infer && cell.text.is_empty() && !cell.quoted {
            continue;
        }
        if text.len() > 1 {
            text.push(',');
        }
        push_text(&mut text, name);
        text.push(':');
        // An id is text, also one of digits.
        if types == Types::Infer && name != "_id" && is_json(&cell.text) {
            text.push_str(&cell.text);
        } else {
            push_text(&mut text, &cell.text);
        }
    }
    text.push('}');
    text
}

fn push_text(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// Whether a cell means something else than its text, and nothing is lost by taking it so.
fn is_json(cell: &str) -> bool {
    const DIGITS_MAX: usize = 15;
    match cell.bytes().next() {
        Some(b't' | b'f') => return cell == "true" || cell == "false",
        Some(b'-' | b'0'..=b'9') if cell.bytes().filter(u8::is_ascii_digit).count() > DIGITS_MAX => return false,
        Some(b'-' | b'0'..=b'9' | b'{' | b'[') => {}
        _ => return false,
    }
    let mut scanner = Scanner::default();
    match scanner.feed(cell.as_bytes()) {
        Scan::Done(end) => end == cell.len(),
        Scan::More => scanner.finish().is_ok(),
        Scan::Wrong(..) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_with(text: &[u8], options: CsvOptions) -> (Vec<(u64, String)>, Option<String>) {
        let mut outcomes = (4..12).map(|block| {
            let options = CsvOptions { delimiter: options.delimiter.or(Some(b',')), ..options };
            let mut records = CsvRecords::new(Source::with_block(text, block).unwrap(), options);
            let mut seen = Vec::new();
            loop {
                match records.next_record() {
                    Ok(Some(record)) => seen.push((record.position.line, record.text)),
                    Ok(None) => return (seen, None),
                    Err(error) => return (seen, Some(error.to_string())),
                }
            }
        });
        let first = outcomes.next().unwrap();
        outcomes.for_each(|other| assert_eq!(other, first, "another block size, another answer"));
        first
    }

    fn read(text: &[u8]) -> (Vec<(u64, String)>, Option<String>) {
        read_with(text, CsvOptions::default())
    }

    #[test]
    fn records_become_documents_with_the_types_that_lose_nothing() {
        let text =
            "id,n,note\r\n1,-2.5e3,\"a \"\"b\"\",\nc\"\r\n\r\n007,12345678901234567,true\n,1.,[1]\n\"\",\"\",{x}";
        let (records, error) = read(text.as_bytes());
        assert_eq!(error, None);
        assert_eq!(
            records,
            [
                (2, r#"{"id":1,"n":-2.5e3,"note":"a \"b\",\nc"}"#.to_owned()),
                (5, r#"{"id":"007","n":"12345678901234567","note":true}"#.to_owned()),
                (6, r#"{"n":"1.","note":[1]}"#.to_owned()),
                (7, r#"{"id":"","n":"","note":"{x}"}"#.to_owned()),
            ]
        );
    }

    #[test]
    fn as_text_every_cell_is_text() {
        let (records, error) = read_with(b"a,b\n1,\n", CsvOptions { types: Types::Text, delimiter: None });
        assert_eq!((records, error), (vec![(2, r#"{"a":"1","b":""}"#.to_owned())], None));
    }

    #[test]
    fn the_delimiter_is_the_most_frequent_of_the_header() {
        for (text, document) in [
            ("a;b,c;d\n1;2;3\n", r#"{"a":1,"b,c":2,"d":3}"#),
            ("a\tb\n1\t2\n", r#"{"a":1,"b":2}"#),
            ("a|b\n1|2\n", r#"{"a":1,"b":2}"#),
            ("a\n1\n", r#"{"a":1}"#),
        ] {
            let mut records = CsvRecords::new(Source::new(text.as_bytes()).unwrap(), CsvOptions::default());
            assert_eq!(records.next_record().unwrap().unwrap().text, document);
        }
    }

    #[test]
    fn an_error_names_its_place_and_what_to_do() {
        let cases: [(&[u8], usize, &str); 8] = [
            (b"", 0, "line 1, column 1: expected a header that names the columns, found the end of the input"),
            (b"a,,c\n", 0, "line 1, column 1: column 2 has no name; give it one in the header"),
            (b"a,b,a\n", 0, "line 1, column 1: two columns are named \"a\"; give one another name"),
            (b"a,b\n1,2\n1,2,3\n", 1, "line 3, column 1: 3 cells, and the header has 2; quote cells that contain ','"),
            (b"a,b\n1,\"2\n3,4\n", 0, "line 2, column 3: the quote that begins here is never closed"),
            (
                b"a,b\n1,\"2\"x\n",
                0,
                "line 2, column 6: expected ',' or the end of the line after a closing quote (a quote in a cell is doubled: \"\"), found 'x'",
            ),
            (
                b"a,b\n1,x\xe9\n",
                0,
                "line 2, column 4: byte 0xe9 is not UTF-8; convert the input first, e.g. with iconv -f LATIN1 -t UTF-8",
            ),
            (
                b"a,b\n1,\"\xe9\"\n",
                0,
                "line 2, column 4: byte 0xe9 is not UTF-8; convert the input first, e.g. with iconv -f LATIN1 -t UTF-8",
            ),
        ];
        for (text, before, message) in cases {
            let (records, error) = read(text);
            assert_eq!((records.len(), error.as_deref()), (before, Some(message)));
        }
    }

    #[test]
    fn a_quote_that_is_never_closed_does_not_read_the_input_into_memory() {
        let input = Read::chain(&b"a\n\""[..], std::io::repeat(b'x'));
        let mut records = CsvRecords::new(Source::new(input).unwrap(), CsvOptions::default());
        let error = records.next_record().unwrap_err().to_string();
        assert!(error.starts_with("line 2, column 1: the record is longer than 63 MiB"), "{error}");
    }
}
