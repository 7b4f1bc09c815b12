//! Documents out of JSON: an array of documents, a map from ids to documents, or one document after the other (NDJSON;
//! a document may also span lines). It must never read a document that is longer than its bound.

use std::io::Read;
use std::ops::ControlFlow;

use super::scanner::{Fault, Scan, Scanner};
use super::{InputError, Position, Record, Source};
use crate::limits::{DEPTH_MAX, RECORD_BYTES_MAX};

/// The line before the documents of a backup by couchbackup.
const COUCHBACKUP: &str = "{\"name\":\"@cloudant/couchbackup\"";

/// The arrangement of documents in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `[{...}, {...}]`
    Array,
    /// `{"id": {...}, "id": {...}}`
    Map,
    /// `{...}` after `{...}`, each usually on a line of its own.
    Lines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The opening bracket of an array or a map.
    Opening,
    /// The first record or the closing bracket; in lines, any record.
    First,
    /// A comma or the closing bracket.
    Comma,
    /// Nothing but white space.
    End,
}

/// Reads documents of a JSON input.
pub struct JsonRecords<R> {
    source: Source<R>,
    shape: Shape,
    next: Next,
    /// The members that lead to an array of documents, if it does not stand alone.
    within: Vec<String>,
    /// Whether the documents of a line are in an array.
    in_line: bool,
}

impl<R: Read> JsonRecords<R> {
    /// The documents of `source`.
    pub fn new(source: Source<R>, shape: Shape) -> Self {
        let next = if shape == Shape::Lines { Next::First } else { Next::Opening };
        JsonRecords { source, shape, next, within: Vec::new(), in_line: false }
    }

    /// The documents of an array below these members. What follows the array is not read.
    #[must_use]
    pub fn within(self, names: Vec<String>) -> Self {
        JsonRecords { shape: Shape::Array, next: Next::Opening, within: names, ..self }
    }

    /// Goes to the value below the members.
    fn descend(&mut self) -> Result<(), InputError> {
        for name in std::mem::take(&mut self.within) {
            self.expect(b'{', &format!("'{{', an object with the member {name:?}"))?;
            loop {
                let found = self.skip_white()?;
                let position = self.source.position();
                if found == Some(b'}') {
                    return Err(InputError::at(position, format!("the object has no member {name:?}")));
                }
                let own = self.key()?;
                if own == name {
                    break;
                }
                self.skip_white()?;
                self.value()?;
                if self.skip_white()? == Some(b',') {
                    self.source.advance(1);
                }
            }
        }
        Ok(())
    }

    /// The next document. `None` at the end of the input.
    pub fn next_record(&mut self) -> Result<Option<Record>, InputError> {
        if self.shape == Shape::Lines {
            return self.next_of_lines();
        }
        loop {
            if let ControlFlow::Break(outcome) = self.step()? {
                return Ok(outcome);
            }
        }
    }

    /// Goes on to the next document or to the end, which may take several steps.
    fn step(&mut self) -> Result<ControlFlow<Option<Record>>, InputError> {
        let (opening, closing, opening_text, closing_text) = match self.shape {
            Shape::Map => {
                (b'{', b'}', "'{', the beginning of a map of documents", "',' or '}' after a document of the map")
            }
            _ => {
                (b'[', b']', "'[', the beginning of an array of documents", "',' or ']' after a document of the array")
            }
        };
        if self.next == Next::Opening {
            let below = !self.within.is_empty();
            self.descend()?;
            self.expect(opening, opening_text)?;
            self.in_line = below;
            self.next = Next::First;
        }
        match (self.next, self.skip_white()?) {
            (Next::End, _) if self.in_line => return Ok(ControlFlow::Break(None)),
            (Next::End, None) => return Ok(ControlFlow::Break(None)),
            // couchbackup writes an array a line.
            (Next::End, Some(b'[')) if self.shape == Shape::Array => {
                self.next = Next::Opening;
                return Ok(ControlFlow::Continue(()));
            }
            (Next::End, found) => return Err(self.unexpected("nothing more after the last document", found)),
            (_, Some(byte)) if byte == closing => {
                self.source.advance(1);
                self.next = Next::End;
                return Ok(ControlFlow::Continue(()));
            }
            (Next::Comma, Some(b',')) => self.source.advance(1),
            (Next::Comma, found) => return Err(self.unexpected(closing_text, found)),
            _ => {}
        }
        self.next = Next::Comma;
        let id = if self.shape == Shape::Map { Some(self.key()?) } else { None };
        self.document(id).map(|record| ControlFlow::Break(Some(record)))
    }

    /// The next document of lines. A line may also be an array of documents, as couchbackup writes them.
    fn next_of_lines(&mut self) -> Result<Option<Record>, InputError> {
        loop {
            match self.skip_white()? {
                None if self.in_line => return Err(self.unexpected("']' after the documents of a line", None)),
                None => return Ok(None),
                Some(b'[') if !self.in_line => self.in_line = true,
                Some(b',') if self.in_line => {}
                Some(b']') if self.in_line => self.in_line = false,
                Some(_) => {
                    let record = self.document(None)?;
                    let is_head = record.position == Position::START && record.text.starts_with(COUCHBACKUP);
                    if is_head {
                        continue;
                    }
                    return Ok(Some(record));
                }
            }
            self.source.advance(1);
        }
    }

    /// Recovers after an error. If documents lie on lines, it goes to the next line. Otherwise it cannot know where the
    /// next document begins.
    pub fn skip_record(&mut self) -> Result<bool, InputError> {
        if self.shape != Shape::Lines {
            return Ok(false);
        }
        self.in_line = false;
        let line_end = self.source.line_end();
        loop {
            let block = self.source.peek()?;
            if block.is_empty() {
                return Ok(true);
            }
            match block.iter().position(|&byte| byte == line_end) {
                Some(newline) => {
                    self.source.advance(newline + 1);
                    return Ok(true);
                }
                None => {
                    let all = block.len();
                    self.source.advance(all);
                }
            }
        }
    }

    fn key(&mut self) -> Result<String, InputError> {
        let found = self.skip_white()?;
        if found != Some(b'"') {
            return Err(self.unexpected("a '\"' that begins the id of a document", found));
        }
        let position = self.source.position();
        let text = self.value()?;
        let key = serde_json::from_str(&text)
            .map_err(|_| InputError::at(position, "a \\u escape of the id is half a character"))?;
        self.expect(b':', "':' after the id of a document")?;
        Ok(key)
    }

    fn document(&mut self, id: Option<String>) -> Result<Record, InputError> {
        let found = self.skip_white()?;
        let position = self.source.position();
        if found != Some(b'{') {
            return Err(self.unexpected("a document: '{'", found));
        }
        let text = self.value()?;
        Ok(Record { position, id, text })
    }

    /// The value that begins at the next byte.
    fn value(&mut self) -> Result<String, InputError> {
        let start = self.source.position();
        let mut scanner = Scanner::default();
        let mut text = Vec::new();
        loop {
            let position = self.source.position();
            let block = self.source.peek()?;
            if block.is_empty() {
                return match scanner.finish() {
                    Ok(()) => into_text(text, start),
                    Err(missing) => {
                        Err(InputError::expected(position, &format!("{missing}; the document begins at {start}"), None))
                    }
                };
            }
            let (used, done) = match scanner.feed(block) {
                Scan::More => (block.len(), false),
                Scan::Done(end) => (end, true),
                Scan::Wrong(at, fault) => {
                    let (passed, rest) = block.split_at(at);
                    let position = position.after(passed);
                    return Err(match fault {
                        Fault::TooDeep => InputError::at(position, format!("nested deeper than {DEPTH_MAX} levels")),
                        Fault::Expected(what) => InputError::expected(position, what, first_character(rest)),
                    });
                }
            };
            if text.len() + used > RECORD_BYTES_MAX {
                return Err(InputError::at(
                    start,
                    format!(
                        "the document that begins here is longer than {} MiB, the limit; if the file is one \
                         object whose members are the documents, say --format map",
                        RECORD_BYTES_MAX >> 20
                    ),
                ));
            }
            text.extend_from_slice(&block[..used]);
            self.source.advance(used);
            if done {
                return into_text(text, start);
            }
        }
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<(), InputError> {
        let found = self.skip_white()?;
        if found != Some(byte) {
            return Err(self.unexpected(what, found));
        }
        self.source.advance(1);
        Ok(())
    }

    fn unexpected(&mut self, what: &str, found: Option<u8>) -> InputError {
        let position = self.source.position();
        let found = found.and_then(|_| self.source.peek().ok().and_then(first_character));
        InputError::expected(position, what, found)
    }

    /// Skips white space. Returns the byte after it without taking it.
    fn skip_white(&mut self) -> Result<Option<u8>, InputError> {
        loop {
            let block = self.source.peek()?;
            if block.is_empty() {
                return Ok(None);
            }
            match block.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
                Some(at) => {
                    let byte = block[at];
                    self.source.advance(at);
                    return Ok(Some(byte));
                }
                None => {
                    let all = block.len();
                    self.source.advance(all);
                }
            }
        }
    }
}

fn into_text(text: Vec<u8>, start: Position) -> Result<String, InputError> {
    String::from_utf8(text).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        InputError::at(start.after(valid), not_utf8(error.as_bytes()[valid.len()]))
    })
}

pub(super) fn not_utf8(byte: u8) -> String {
    format!("byte 0x{byte:02x} is not UTF-8; convert the input first, e.g. with iconv -f LATIN1 -t UTF-8")
}

/// The first character of some bytes, or as much of it as is valid.
fn first_character(bytes: &[u8]) -> Option<char> {
    let start = &bytes[..bytes.len().min(4)];
    match std::str::from_utf8(start) {
        Ok(text) => text.chars().next(),
        Err(error) => std::str::from_utf8(&start[..error.valid_up_to()])
            .ok()
            .and_then(|text| text.chars().next())
            .or(Some(char::REPLACEMENT_CHARACTER)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], shape: Shape) -> (Vec<Record>, Option<String>) {
        let mut outcomes = (4..12).map(|block| {
            let mut records = JsonRecords::new(Source::with_block(text, block).unwrap(), shape);
            let mut seen = Vec::new();
            loop {
                match records.next_record() {
                    Ok(Some(record)) => seen.push(record),
                    Ok(None) => return (seen, None),
                    Err(error) => return (seen, Some(error.to_string())),
                }
            }
        });
        let first = outcomes.next().unwrap();
        outcomes.for_each(|other| assert_eq!(other, first, "another block size, another answer"));
        first
    }

    fn texts(records: &[Record]) -> Vec<&str> {
        records.iter().map(|record| record.text.as_str()).collect()
    }

    #[test]
    fn each_shape_gives_its_documents_as_they_are_written() {
        let documents = [r#"{ "a" : [1, {"b":"}]"}] }"#, "{}", r#"{"é":"\u00e9"}"#];
        let [one, two, three] = documents;
        for (shape, text) in [
            (Shape::Array, format!(" [{one},\n{two} , {three} ]\n")),
            (Shape::Lines, format!("{one}\n\n{two}{three}")),
            (Shape::Map, format!("{{\"x\":{one}, \"\\u00e9\" : {two},\n\"\":{three}}}")),
        ] {
            let (records, error) = read(text.as_bytes(), shape);
            assert_eq!(error, None, "{shape:?}");
            assert_eq!(texts(&records), documents, "{shape:?}");
            if shape == Shape::Map {
                let ids: Vec<_> = records.iter().map(|record| record.id.as_deref()).collect();
                assert_eq!(ids, [Some("x"), Some("é"), Some("")]);
            }
        }
    }

    #[test]
    fn an_input_without_documents_is_no_error() {
        for (shape, text) in [(Shape::Array, "[]"), (Shape::Map, " { } "), (Shape::Lines, ""), (Shape::Lines, "\n \n")]
        {
            assert_eq!(read(text.as_bytes(), shape), (vec![], None), "{shape:?} {text:?}");
        }
    }

    #[test]
    fn an_error_comes_after_the_documents_before_it_and_names_its_place() {
        let cases: [(Shape, &[u8], usize, &str); 14] = [
            (Shape::Lines, b"{\"a\":1}\n{\"a\":}\n", 1, "line 2, column 6: expected a value, found '}'"),
            (
                Shape::Lines,
                "{\"é\":\"東\" 1}".as_bytes(),
                0,
                "line 1, column 10: expected ',' or '}' after a member of an object, found '1'",
            ),
            (Shape::Lines, b"{}\n[1]", 1, "line 2, column 2: expected a document: '{', found '1'"),
            (
                Shape::Lines,
                b"{\"a\":1",
                0,
                "line 1, column 7: expected the closing '}' of an object; the document begins at line 1, column 1, \
                 found the end of the input",
            ),
            (
                Shape::Lines,
                b"{\"a\":\"\xff\"}",
                0,
                "line 1, column 7: byte 0xff is not UTF-8; convert the input first, e.g. with iconv -f LATIN1 -t UTF-8",
            ),
            (Shape::Array, b"[{},]", 1, "line 1, column 5: expected a document: '{', found ']'"),
            (
                Shape::Array,
                b"[{} {}]",
                1,
                "line 1, column 5: expected ',' or ']' after a document of the array, found '{'",
            ),
            (
                Shape::Array,
                b"[{}",
                1,
                "line 1, column 4: expected ',' or ']' after a document of the array, found the end of the input",
            ),
            (Shape::Array, b"[{}] x", 1, "line 1, column 6: expected nothing more after the last document, found 'x'"),
            (
                Shape::Array,
                b"",
                0,
                "line 1, column 1: expected '[', the beginning of an array of documents, found the end of the input",
            ),
            (Shape::Map, b"{\"a\":1}", 0, "line 1, column 6: expected a document: '{', found '1'"),
            (Shape::Map, b"{\"a\" {}}", 0, "line 1, column 6: expected ':' after the id of a document, found '{'"),
            (Shape::Map, b"{a:{}}", 0, "line 1, column 2: expected a '\"' that begins the id of a document, found 'a'"),
            (Shape::Map, b"{\"\\ud800\":{}}", 0, "line 1, column 2: a \\u escape of the id is half a character"),
        ];
        for (shape, text, before, message) in cases {
            let (records, error) = read(text, shape);
            assert_eq!((records.len(), error.as_deref()), (before, Some(message)));
        }
    }

    #[test]
    fn after_an_error_lines_go_on_with_the_next_line() {
        let mut records = JsonRecords::new(Source::new(&b"{\"a\":}\n{\"b\":2}"[..]).unwrap(), Shape::Lines);
        assert!(records.next_record().is_err());
        assert!(records.skip_record().unwrap());
        assert_eq!(records.next_record().unwrap().unwrap().text, "{\"b\":2}");
        assert!(records.next_record().unwrap().is_none());
    }

    #[test]
    fn a_document_beyond_the_bound_is_refused_at_its_beginning_without_being_read_whole() {
        let endless = std::io::repeat(b'x');
        let input = std::io::Read::chain(&b"{}\n  {\"a\":\""[..], endless);
        let mut records = JsonRecords::new(Source::new(input).unwrap(), Shape::Lines);
        assert!(records.next_record().unwrap().is_some());
        let error = records.next_record().unwrap_err().to_string();
        assert!(error.starts_with("line 2, column 3: the document that begins here is longer than 63 MiB"), "{error}");
    }
}
