//! Documents out of files: JSON arrays, JSON maps, NDJSON and CSV, one at a time in bounded memory. It must never
//! return half a document, and every refusal names its line and column.

mod csv;
mod csv_types;
mod detect;
mod json;
mod scanner;
mod sniff;
mod source;
mod spool;
mod text;
mod unpack;

use std::io::{self, Read};

pub use csv::{Columns, CsvOptions, CsvRecords};
pub use csv_types::{ColumnType, Types, TypesFlag, protected, reads_as};
pub use detect::{Format, detect};
pub use json::{JsonRecords, Shape};
pub use scanner::{Fault, Scan, Scanner};
pub use sniff::line_end;
pub use source::{Position, Source};
pub use spool::Spool;
pub use unpack::unpacked;

/// Bytes at the beginning of an input that guesses see.
pub const HEAD_BYTES: usize = 64 * 1024;

/// One document of an input, as its JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Where it begins.
    pub position: Position,
    /// Its id, if the input's form has one (the key of a JSON map).
    pub id: Option<String>,
    /// A JSON object; its grammar has been checked.
    pub text: String,
}

/// The error that ends the reading of an input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The input is not what it should be.
    #[error("{position}: {what}{}", .found.as_ref().map_or_else(String::new, |found| format!(", found {found}")))]
    Malformed {
        /// The place.
        position: Position,
        /// What was expected, or what is wrong.
        what: String,
        /// What was found instead, if that helps.
        found: Option<String>,
    },
}

impl InputError {
    pub(crate) fn at(position: Position, what: impl Into<String>) -> Self {
        InputError::Malformed { position, what: what.into(), found: None }
    }

    pub(crate) fn expected(position: Position, what: &str, found: Option<char>) -> Self {
        let found = found.map_or_else(|| "the end of the input".to_owned(), describe);
        InputError::Malformed { position, what: format!("expected {what}"), found: Some(found) }
    }
}

fn describe(character: char) -> String {
    match character {
        '\n' | '\r' => "a line break".to_owned(),
        '\'' => "\"'\"".to_owned(),
        control if control.is_control() => format!("the character U+{:04X}", u32::from(control)),
        other => format!("'{other}'"),
    }
}

/// The records of an input of any format.
pub enum Records<R> {
    /// A JSON form.
    Json(JsonRecords<R>),
    /// Comma-separated values.
    Csv(CsvRecords<R>),
}

impl<R: Read> Records<R> {
    /// The next document. `None` at the end of the input.
    pub fn next_record(&mut self) -> Result<Option<Record>, InputError> {
        match self {
            Records::Json(records) => records.next_record(),
            Records::Csv(records) => records.next_record(),
        }
    }

    /// Goes to the beginning of the next record after an error. Returns false if that place cannot be known.
    pub fn skip_record(&mut self) -> Result<bool, InputError> {
        match self {
            Records::Json(records) => records.skip_record(),
            Records::Csv(records) => Ok(records.skip_record()),
        }
    }
}
