//! Documents out of comma-separated values (RFC 4180): the header names the members, and each record is one flat
//! document. We have our own reader because the usual ones do not bound a record's memory (after one quote that is
//! never closed they read the whole file) and do not report in which column a fault lies.

use std::io::Read;

use super::csv_types::{Cell, Column, ColumnType, Inferred, Types, document};
use super::json::not_utf8;
use super::sniff::{likely_delimiter, line_end, named_delimiter};
use super::{InputError, Position, Record, Source};
use crate::limits::{COLUMNS_MAX, RECORD_BYTES_MAX};

/// What programs write for a missing value. One is only taken as such on request, since it may be a name.
const MISSING: [&str; 9] = ["NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "None", "-"];

/// How to read the values.
#[derive(Clone, Debug, Default)]
pub struct CsvOptions {
    /// The delimiter of cells. If it is `None`, the header tells it.
    pub delimiter: Option<u8>,
    /// The types of columns.
    pub types: Types,
    /// What stands for a missing value in cells without quotes, such as `NA`.
    pub missing: Vec<String>,
}

/// The columns of an input, with the types that all of their cells have.
#[derive(Clone, Debug)]
pub struct Columns {
    columns: Vec<Column>,
    /// Remarks about them for the user.
    pub remarks: Vec<String>,
}

/// Reads documents of a CSV input.
pub struct CsvRecords<R> {
    source: Source<R>,
    options: CsvOptions,
    delimiter: u8,
    /// Known once the header was read. A column is text if its type is neither chosen nor inferred.
    columns: Option<Vec<Column>>,
    /// The chosen type of each column.
    chosen: Vec<Option<ColumnType>>,
    /// Columns that an earlier pass has found.
    inferred: Option<Vec<Column>>,
    /// The header has a name without quotes, or a cell has none: quotes then mean that a cell is text.
    has_bare: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the beginning of a cell.
    Begin,
    Bare,
    Quoted,
    /// After a quote in a quoted cell: the end of the cell, or the first half of a doubled quote.
    Quote,
}

impl<R: Read> CsvRecords<R> {
    /// The documents of `source`.
    pub fn new(source: Source<R>, options: CsvOptions) -> Self {
        let delimiter = options.delimiter.unwrap_or(b',');
        CsvRecords { source, options, delimiter, columns: None, chosen: Vec::new(), inferred: None, has_bare: false }
    }

    /// The documents of `source`. All of its cells were looked at before.
    pub fn with_columns(source: Source<R>, options: CsvOptions, columns: Columns) -> Self {
        CsvRecords { inferred: Some(columns.columns), ..CsvRecords::new(source, options) }
    }

    /// Whether the type of every column is chosen, so that its cells need not be looked at first. Reads the header.
    pub fn types_are_chosen(&mut self) -> Result<bool, InputError> {
        self.read_header()?;
        Ok(self.chosen.iter().all(Option::is_some))
    }

    /// Looks at the cells of all records that follow. `passed` is called after each of them, with the error if the
    /// record cannot be read. An error that `passed` returns ends it.
    pub fn infer<E>(mut self, mut passed: impl FnMut(Option<InputError>) -> Result<(), E>) -> Result<Columns, E> {
        if let Err(error) = self.read_header() {
            passed(Some(error))?;
            return Ok(Columns { columns: Vec::new(), remarks: Vec::new() });
        }
        let mut inferred = vec![Inferred::default(); self.chosen.len()];
        loop {
            match self.record() {
                Ok(Some((position, cells))) => {
                    for (column, cell) in inferred.iter_mut().zip(&cells) {
                        column.see(cell, position.line);
                    }
                    self.has_bare |= cells.iter().any(|cell| !cell.quoted && !cell.text.is_empty());
                    passed(None)?;
                }
                Ok(None) => break,
                Err(error) => {
                    passed(Some(error))?;
                    if !self.skip_record() {
                        break;
                    }
                }
            }
        }
        let mut columns = self.columns.unwrap_or_default();
        let mut remarks = Vec::new();
        for ((column, chosen), inferred) in columns.iter_mut().zip(self.chosen).zip(inferred) {
            if chosen.is_some() {
                continue;
            }
            column.protects = self.has_bare;
            let seen = inferred.seen(self.has_bare);
            column.of_type = seen.of_type();
            if let Some((before, line, cell)) = seen.broken {
                let name = &column.name;
                let advice = if MISSING.contains(&cell.as_str()) {
                    format!("; --missing {cell} reads such cells as missing values")
                } else {
                    String::new()
                };
                let why = format!("line {line} has {cell:?}, and it was {before} before{advice}");
                remarks.push(format!("column {name:?} is text: {why}"));
            }
        }
        Ok(Columns { columns, remarks })
    }

    /// The next document. `None` at the end of the input.
    pub fn next_record(&mut self) -> Result<Option<Record>, InputError> {
        let Some((position, cells)) = self.record()? else { return Ok(None) };
        let text = document(self.columns.as_deref().unwrap_or_default(), &cells)
            .map_err(|what| InputError::at(position, what))?;
        Ok(Some(Record { position, id: None, text }))
    }

    /// Reads the header, unless it was read.
    fn read_header(&mut self) -> Result<(), InputError> {
        if self.columns.is_some() {
            return Ok(());
        }
        let head = self.source.peek()?;
        let (named, end) = (named_delimiter(head), line_end(head));
        self.delimiter = match (self.options.delimiter, named) {
            (Some(delimiter), _) | (None, Some((delimiter, _))) => delimiter,
            (None, None) => likely_delimiter(head),
        };
        self.source.set_line_end(end);
        if let Some((_, length)) = named {
            self.source.advance(length);
        }
        self.skip_empty_lines()?;
        let position = self.source.position();
        let Some((position, cells)) = self.cells()? else {
            return Err(InputError::expected(position, "a header that names the columns", None));
        };
        self.has_bare = cells.iter().any(|cell| !cell.quoted && !cell.text.is_empty());
        let names = names(position, cells)?;
        self.chosen = self.options.types.chosen(&names).map_err(|what| InputError::at(position, what))?;
        let keeps_empty = self.options.types.all_text;
        let named = names.into_iter().zip(&self.chosen).map(|(name, chosen)| Column {
            name,
            of_type: chosen.unwrap_or(ColumnType::Text),
            keeps_empty,
            protects: false,
        });
        let columns: Vec<Column> = named.collect();
        self.columns = Some(match self.inferred.take() {
            Some(known) if !known.iter().map(|column| &column.name).eq(columns.iter().map(|column| &column.name)) => {
                return Err(InputError::at(position, "the header has changed while the input was read; run it again"));
            }
            known => known.unwrap_or(columns),
        });
        Ok(())
    }

    /// The cells of the next record, as many as the header has.
    fn record(&mut self) -> Result<Option<(Position, Vec<Cell>)>, InputError> {
        self.read_header()?;
        let Some((position, mut cells)) = self.cells()? else { return Ok(None) };
        for cell in cells.iter_mut().filter(|cell| !cell.quoted && self.options.missing.contains(&cell.text)) {
            cell.missing = true;
            cell.text.clear();
        }
        let number = self.columns.as_deref().map_or(0, <[Column]>::len);
        if cells.len() != number {
            return Err(InputError::at(
                position,
                format!(
                    "{} cells, and the header has {number}; quote cells that contain '{}'",
                    cells.len(),
                    char::from(self.delimiter)
                ),
            ));
        }
        Ok(Some((position, cells)))
    }

    /// After an error: true if the record was read whole, so that it has been passed already. False if the error lies
    /// within it.
    pub fn skip_record(&mut self) -> bool {
        let at_end = |source: &mut Source<R>| source.peek().is_ok_and(<[u8]>::is_empty);
        self.columns.is_some() && (self.source.position().column == 1 || at_end(&mut self.source))
    }

    /// The cells of the next record and its position. Empty lines are skipped.
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
            let (delimiter, line_end) = (self.delimiter, self.source.line_end());
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
            // Either a stretch of bytes without a meaning of their own, or one byte that has one.
            let plain = match state {
                State::Quoted => block.iter().position(|&byte| byte == b'"'),
                State::Bare => block.iter().position(|&byte| byte == delimiter || byte == line_end),
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
                (_, byte) if byte == line_end => {
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
    if let Some((before, _)) = text.split_once('\0') {
        let what = "a NUL byte: this is not text, or the text is damaged; tr -d '\\000' removes such bytes";
        return Err(InputError::at(start.after(before.as_bytes()), what));
    }
    cells.push(Cell { text, quoted, missing: false });
    Ok(())
}

/// The name of a first column without one: pandas and R write the numbers or names of rows there.
const OF_ROWS: &str = "row";

fn names(position: Position, cells: Vec<Cell>) -> Result<Vec<String>, InputError> {
    let mut names: Vec<String> = Vec::with_capacity(cells.len());
    let several = cells.len() > 1;
    for (number, mut cell) in (1..).zip(cells) {
        if number == 1 && several && cell.text.is_empty() {
            OF_ROWS.clone_into(&mut cell.text);
        }
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

#[cfg(test)]
mod tests {
    use super::super::csv_types::TypesFlag;
    use super::*;

    /// Reads the documents with the types from a first pass over all cells. Returns the remarks too.
    fn look_and_read(
        text: &[u8],
        options: &CsvOptions,
        block: usize,
    ) -> (Vec<(u64, String)>, Option<String>, Vec<String>) {
        let mut seen = Vec::new();
        let source = || Source::with_block(text, block).unwrap();
        let columns = match CsvRecords::new(source(), options.clone()).infer(|error| error.map_or(Ok(()), Err)) {
            Ok(columns) => columns,
            Err(error) => return (seen, Some(error.to_string()), Vec::new()),
        };
        let remarks = columns.remarks.clone();
        let mut records = CsvRecords::with_columns(source(), options.clone(), columns);
        loop {
            match records.next_record() {
                Ok(Some(record)) => seen.push((record.position.line, record.text)),
                Ok(None) => return (seen, None, remarks),
                Err(error) => return (seen, Some(error.to_string()), remarks),
            }
        }
    }

    fn read_with(text: &[u8], options: CsvOptions) -> (Vec<(u64, String)>, Option<String>) {
        let options = CsvOptions { delimiter: options.delimiter.or(Some(b',')), ..options };
        let mut outcomes = (4..12).map(|block| look_and_read(text, &options, block));
        let first = outcomes.next().unwrap();
        outcomes.for_each(|other| assert_eq!(other, first, "another block size, another answer"));
        (first.0, first.1)
    }

    fn read(text: &[u8]) -> (Vec<(u64, String)>, Option<String>) {
        read_with(text, CsvOptions::default())
    }

    fn typed(flags: &[&str]) -> CsvOptions {
        let flags: Vec<TypesFlag> = flags.iter().map(|flag| flag.parse().unwrap()).collect();
        CsvOptions { types: Types::of(&flags), delimiter: Some(b','), ..CsvOptions::default() }
    }

    #[test]
    fn a_column_has_one_type_which_all_of_its_cells_have() {
        let text = "id,n,b,j,none,note\r\n\
                    1,-2.5e3,true,[1],,\"a \"\"b\"\",\nc\"\r\n\r\n\
                    22,0,false,\"{\"\"x\"\":1}\",,5\n\
                    ,0.12345678901234567,,,,\"\"\n";
        let (records, error) = read(text.as_bytes());
        assert_eq!(error, None);
        assert_eq!(
            records,
            [
                (2, r#"{"id":1,"n":-2.5e3,"b":true,"j":[1],"note":"a \"b\",\nc"}"#.to_owned()),
                (5, r#"{"id":22,"n":0,"b":false,"j":{"x":1},"note":"5"}"#.to_owned()),
                (6, r#"{"n":0.12345678901234567,"note":""}"#.to_owned()),
            ]
        );
    }

    #[test]
    fn one_cell_of_another_type_makes_the_column_text_and_says_where() {
        for (other, before) in [
            ("007", "number"),
            ("1.", "number"),
            ("+5", "number"),
            (" 5", "number"),
            ("1234567890123456", "number"),
            ("n/a", "number"),
            ("true", "number"),
            ("[1]", "number"),
        ] {
            let text = format!("n,m\n5,1\n{other},2\n6,3\n");
            let (records, error, remarks) = look_and_read(text.as_bytes(), &typed(&[]), 64);
            assert_eq!(error, None);
            let value = |text: &str, m: u8| format!("{{\"n\":\"{text}\",\"m\":{m}}}");
            assert_eq!(records, [(2, value("5", 1)), (3, value(other, 2)), (4, value("6", 3))]);
            let advice = if other == "n/a" { "; --missing n/a reads such cells as missing values" } else { "" };
            let why = format!("line 3 has {other:?}, and it was {before} before{advice}");
            assert_eq!(remarks, [format!("column \"n\" is text: {why}")]);
        }
    }

    #[test]
    fn types_that_are_named_are_kept_to() {
        let read = |flags: &[&str], text: &str| {
            let (records, error, _) = look_and_read(text.as_bytes(), &typed(flags), 64);
            (records.into_iter().map(|(_, text)| text).collect::<Vec<_>>(), error)
        };
        let text = "zip,n\n123,007\n,\n";
        assert_eq!(
            read(&["zip=text", "n=number"], text),
            (vec![r#"{"zip":"123","n":7}"#.to_owned(), "{}".to_owned()], None)
        );
        assert_eq!(
            read(&["text", "n=number"], text).0,
            [r#"{"zip":"123","n":7}"#.to_owned(), r#"{"zip":""}"#.to_owned()]
        );
        for (cell, number) in
            [("00", "0"), ("00.5", "0.5"), ("0", "0"), ("-1", "-1"), ("12345678901234567890", "12345678901234567890")]
        {
            let (records, error) = read(&["n=number"], &format!("n\n{cell}\n"));
            assert_eq!((records, error), (vec![format!("{{\"n\":{number}}}")], None));
        }
        for (flags, text, message) in [
            ("n=number", "n\nx\n", "line 2, column 1: the column \"n\" is a number, and \"x\" is none; --types n=text"),
            ("n=boolean", "n\n1\n", "the column \"n\" is true or false"),
            ("n=json", "n\nx\n", "the column \"n\" is JSON"),
            ("m=text", "n\nx\n", "line 1, column 1: --types names the column \"m\", and the header has no such column"),
            ("_id=number", "_id\n1\n", "an id is text"),
        ] {
            let (_, error) = read(&[flags], text);
            assert!(error.as_ref().is_some_and(|error| error.contains(message)), "{flags}: {error:?}");
        }
        assert!("n=float".parse::<TypesFlag>().unwrap_err().contains("text, number, boolean or json"));
        assert!("zip".parse::<TypesFlag>().unwrap_err().contains("zip=text,price=number"));
    }

    #[test]
    fn as_text_every_cell_is_text() {
        let (records, error) = read_with(b"a,b\n1,\n", typed(&["text"]));
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
            let (records, ..) = look_and_read(text.as_bytes(), &CsvOptions::default(), 64);
            assert_eq!(records[0].1, document);
        }
    }

    #[test]
    fn an_error_names_its_place_and_what_to_do() {
        let cases: [(&[u8], &str); 8] = [
            (b"", "line 1, column 1: expected a header that names the columns, found the end of the input"),
            (b"a,,c\n", "line 1, column 1: column 2 has no name; give it one in the header"),
            (b"a,b,a\n", "line 1, column 1: two columns are named \"a\"; give one another name"),
            (b"a,b\n1,2\n1,2,3\n", "line 3, column 1: 3 cells, and the header has 2; quote cells that contain ','"),
            (b"a,b\n1,\"2\n3,4\n", "line 2, column 3: the quote that begins here is never closed"),
            (
                b"a,b\n1,\"2\"x\n",
                "line 2, column 6: expected ',' or the end of the line after a closing quote (a quote in a cell is \
                 doubled: \"\"), found 'x'",
            ),
            (
                b"a,b\n1,x\xe9\n",
                "line 2, column 4: byte 0xe9 is not UTF-8; convert the input first, e.g. with iconv -f LATIN1 -t UTF-8",
            ),
            (
                b"a,b\n1,\"\xe9\"\n",
                "line 2, column 4: byte 0xe9 is not UTF-8; convert the input first, e.g. with iconv -f LATIN1 -t UTF-8",
            ),
        ];
        for (text, message) in cases {
            let (records, error) = read(text);
            assert_eq!((records.len(), error.as_deref()), (0, Some(message)));
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
