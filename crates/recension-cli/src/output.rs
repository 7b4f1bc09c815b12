//! The output of commands: tables for people, one JSON value on each line for programs. Results go to standard output,
//! remarks to standard error. The two must never mix.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use comfy_table::{Cell, CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, Row, Table, TableStyle};
use serde_json::Value;

use crate::limits::CELL_WIDTH_MAX;
use crate::pretty::{coloured, pretty};

/// The reader of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Tables and indented JSON.
    People,
    /// One JSON value a line.
    Programs,
}

impl Audience {
    /// People at a terminal, programs elsewhere. A flag wins if it is given.
    pub fn new(json: bool, table: bool) -> Self {
        if !json && (table || io::stdout().is_terminal()) { Audience::People } else { Audience::Programs }
    }
}

/// Standard output.
pub struct Output {
    /// The reader.
    pub audience: Audience,
    quiet: bool,
    /// JSON is in colours: people read it at a terminal, and have not asked for none (<https://no-color.org>).
    colours: bool,
    out: BufWriter<StdoutLock<'static>>,
}

impl Output {
    /// Standard output for `audience`. If `quiet` is set, it prints no remarks.
    pub fn new(audience: Audience, quiet: bool) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let colours = audience == Audience::People && !plain && io::stdout().is_terminal();
        Output { audience, quiet, colours, out: BufWriter::with_capacity(64 * 1024, io::stdout().lock()) }
    }

    /// Whether people read the output.
    pub fn for_people(&self) -> bool {
        self.audience == Audience::People
    }

    /// Prints a line of text or of JSON.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Prints bytes as they are.
    pub fn raw(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// Prints a JSON text: indented for people, unchanged for programs.
    pub fn json(&mut self, text: &str) -> io::Result<()> {
        match self.audience {
            Audience::People if self.colours => self.line(&coloured(&pretty(text))),
            Audience::People => self.line(&pretty(text)),
            Audience::Programs => self.line(text),
        }
    }

    /// Prints rows of the same names and values: a table for people, an object on each line for programs.
    pub fn rows(&mut self, names: &[&str], rows: &[Vec<Value>]) -> io::Result<()> {
        match self.audience {
            Audience::People => self.line(&table(names, rows)),
            Audience::Programs => rows.iter().try_for_each(|row| {
                let members = names.iter().zip(row).map(|(name, value)| ((*name).replace(' ', "_"), value.clone()));
                self.line(&Value::Object(members.collect()).to_string())
            }),
        }
    }

    /// Prints a remark for people, on standard error.
    pub fn remark(&mut self, text: &str) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        // Earlier output is written first, in case both go to one terminal.
        self.out.flush()?;
        // Standard error may be closed. That is no reason to stop.
        let _ = writeln!(io::stderr(), "{text}");
        Ok(())
    }

    /// Writes what is still buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none())
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .content_lines(ContentLineStyle::none());

/// A table under a header.
pub fn table(names: &[&str], rows: &[Vec<Value>]) -> String {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(Row::from(names.iter().map(|name| Cell::new(plain(name))).collect::<Vec<_>>()));
    for row in rows {
        let mut row = Row::from(row.iter().map(cell).collect::<Vec<_>>());
        row.max_height(1);
        table.add_row(row);
    }
    table.trim_fmt()
}

fn cell(value: &Value) -> Cell {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => plain(text),
        other => plain(&other.to_string()),
    };
    let cell = Cell::new(shortened(&text));
    if value.is_number() { cell.set_alignment(CellAlignment::Right) } else { cell }
}

/// A JSON text as a table shows it. A number that is too long for a double is shown as it is written.
pub fn shown(json: &str) -> Value {
    match serde_json::from_str(json) {
        Ok(Value::Number(number)) if number.to_string() != json => Value::from(json),
        Ok(value) => value,
        Err(_) => Value::from(json),
    }
}

/// Text with its control characters escaped, so that it cannot move a terminal's cursor.
pub fn plain(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '·' } else { character }).collect()
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(CELL_WIDTH_MAX) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(CELL_WIDTH_MAX - 1).collect();
            format!("{kept}…")
        }
    }
}

/// A number with separators between its thousands.
pub fn count(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

/// A number of documents, such as `3 documents`.
pub fn documents(number: u64) -> String {
    format!("{} {}", count(number), if number == 1 { "document" } else { "documents" })
}

/// A size for people.
pub fn bytes(number: u64) -> String {
    indicatif::HumanBytes(number).to_string()
}
