//! Types of CSV columns: each column has one type, so that a value is not a number in one document and text in the
//! next. Pure: cells in, types and JSON out.

use std::fmt;

use super::scanner::{Scan, Scanner};

/// A whole number with more digits is more likely an id than a quantity, and many programs would round it.
const DIGITS_MAX: usize = 15;
/// Characters of a cell that a message shows at most.
const SHOWN_MAX: usize = 40;

/// A cell as it stands in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) quoted: bool,
    /// It stands for a missing value.
    pub(super) missing: bool,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Text, as it is in the cells.
    Text,
    /// Numbers, as they are written.
    Number,
    /// true and false.
    Boolean,
    /// JSON arrays and objects.
    Json,
}

impl ColumnType {
    const NAMES: [(&str, ColumnType); 4] = [
        ("text", ColumnType::Text),
        ("number", ColumnType::Number),
        ("boolean", ColumnType::Boolean),
        ("json", ColumnType::Json),
    ];

    fn of_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, of_type)| of_type)
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, of_type)| of_type == self).map_or("text", |(name, _)| name);
        f.write_str(name)
    }
}

/// A value of `--types`, for all columns or for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypesFlag {
    /// Columns have the type that all of their cells have.
    Infer,
    /// Every cell is text.
    Text,
    /// The column of that name has this type.
    Column(String, ColumnType),
}

impl std::str::FromStr for TypesFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.rsplit_once('=')) {
            ("infer", _) => Ok(TypesFlag::Infer),
            ("text", _) => Ok(TypesFlag::Text),
            (_, Some((column, name))) if !column.is_empty() => match ColumnType::of_name(name) {
                Some(of_type) => Ok(TypesFlag::Column(column.to_owned(), of_type)),
                None => Err(format!("{name:?} is not a type: a column is text, number, boolean or json")),
            },
            _ => Err("it is infer, text, or columns with their types, such as zip=text,price=number".to_owned()),
        }
    }
}

/// The types that the user has chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Types {
    /// Columns that are not named are text. Otherwise their cells tell their type.
    pub all_text: bool,
    /// Columns by name.
    pub columns: Vec<(String, ColumnType)>,
}

impl Types {
    /// The types of the flags. A later flag wins.
    pub fn of(flags: &[TypesFlag]) -> Self {
        let mut types = Types::default();
        for flag in flags {
            match flag {
                TypesFlag::Infer => types.all_text = false,
                TypesFlag::Text => types.all_text = true,
                TypesFlag::Column(name, of_type) => types.columns.push((name.clone(), *of_type)),
            }
        }
        types
    }

    /// For each column of a header its chosen type, or `None` if its cells have to tell it.
    ///
    /// # Errors
    /// A column is chosen that is not in the header, or an id that is no text.
    pub(super) fn chosen(&self, header: &[String]) -> Result<Vec<Option<ColumnType>>, String> {
        if let Some((name, _)) = self.columns.iter().find(|(name, _)| !header.contains(name)) {
            return Err(format!("--types names the column {name:?}, and the header has no such column"));
        }
        if self.columns.iter().any(|(name, of_type)| name == "_id" && *of_type != ColumnType::Text) {
            return Err("--types: an id is text, and so is the column _id".to_owned());
        }
        let of = |name: &String| {
            let own = self.columns.iter().rev().find(|(known, _)| known == name).map(|(_, of_type)| *of_type);
            own.or_else(|| (self.all_text || name == "_id").then_some(ColumnType::Text))
        };
        Ok(header.iter().map(of).collect())
    }
}

/// What an import without types makes of a cell that is not quoted.
pub fn reads_as(cell: &str) -> ColumnType {
    match cell.bytes().next() {
        Some(b't' | b'f') if cell == "true" || cell == "false" => ColumnType::Boolean,
        Some(b'-' | b'0'..=b'9') => {
            let digits = cell.strip_prefix('-').unwrap_or(cell);
            let is_long = digits.len() > DIGITS_MAX && digits.bytes().all(|byte| byte.is_ascii_digit());
            // A hash such as 12e345678 is no number that a document could have.
            let is_number = !is_long && is_json(cell) && cell.parse::<f64>().is_ok_and(f64::is_finite);
            if is_number { ColumnType::Number } else { ColumnType::Text }
        }
        Some(b'{' | b'[') if is_json(cell) => ColumnType::Json,
        _ => ColumnType::Text,
    }
}

fn is_json(cell: &str) -> bool {
    let mut scanner = Scanner::default();
    match scanner.feed(cell.as_bytes()) {
        Scan::Done(end) => end == cell.len(),
        Scan::More => scanner.finish().is_ok(),
        Scan::Wrong(..) => false,
    }
}

/// A text as an export protects it that would read as JSON even in quotes, or that has a NUL, which is in no text file:
/// as a JSON string.
pub fn protected(text: &str) -> Option<String> {
    is_protected(text).then(|| serde_json::Value::from(text).to_string())
}

fn is_protected(text: &str) -> bool {
    text.contains('\0') || reads_as(text) == ColumnType::Json || unprotected(text).is_some()
}

/// The text that is protected so.
fn unprotected(cell: &str) -> Option<String> {
    let text: String = cell.starts_with('"').then(|| serde_json::from_str(cell).ok())??;
    is_protected(&text).then_some(text)
}

/// The type of a column so far, while its cells are looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct Inferred {
    /// If quotes say that a cell is text.
    by_quotes: Seen,
    /// If they say nothing, because all cells have them.
    regardless: Seen,
}

/// What was seen of a column's cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    of_type: Option<ColumnType>,
    /// The type that the column had, and the line and the cell that made it text.
    pub(super) broken: Option<(ColumnType, u64, String)>,
}

impl Inferred {
    /// Looks at one more cell.
    pub(super) fn see(&mut self, cell: &Cell, line: u64) {
        if cell.text.is_empty() {
            return;
        }
        let kind = reads_as(&cell.text);
        self.regardless.see(kind, cell, line);
        // An array or an object cannot be written without quotes.
        let kind = if cell.quoted && kind != ColumnType::Json { ColumnType::Text } else { kind };
        self.by_quotes.see(kind, cell, line);
    }

    /// What was seen, if quotes mean something in the input or not.
    pub(super) fn seen(self, quotes_are_text: bool) -> Seen {
        if quotes_are_text { self.by_quotes } else { self.regardless }
    }
}

impl Seen {
    fn see(&mut self, kind: ColumnType, cell: &Cell, line: u64) {
        match self.of_type {
            None => self.of_type = Some(kind),
            Some(before) if before == kind || before == ColumnType::Text => {}
            Some(before) => {
                self.broken = Some((before, line, shortened(&cell.text)));
                self.of_type = Some(ColumnType::Text);
            }
        }
    }

    /// The type of the column; text if every cell is empty.
    pub(super) fn of_type(&self) -> ColumnType {
        self.of_type.unwrap_or(ColumnType::Text)
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A column of a CSV input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) of_type: ColumnType,
    /// An empty cell is an empty text, rather than a missing member.
    pub(super) keeps_empty: bool,
    /// Quotes mean something in the input, and text may be protected by them.
    pub(super) protects: bool,
}

/// The document of a record.
///
/// # Errors
/// A cell is not of its column's type.
pub(super) fn document(columns: &[Column], cells: &[Cell]) -> Result<String, String> {
    let mut text = String::from("{");
    for (column, cell) in columns.iter().zip(cells) {
        let is_text = column.of_type == ColumnType::Text;
        let is_empty = cell.text.is_empty() && !(is_text && (cell.quoted || column.keeps_empty));
        if is_empty || cell.missing {
            continue;
        }
        let plain = if is_text && cell.quoted && column.protects { unprotected(&cell.text) } else { None };
        let cell_text = plain.as_deref().unwrap_or(&cell.text);
        if text.len() > 1 {
            text.push(',');
        }
        push_text(&mut text, &column.name);
        text.push(':');
        match value(column.of_type, cell_text) {
            Some(value) if !is_text => text.push_str(value),
            Some(value) => push_text(&mut text, value),
            None => {
                return Err(format!(
                    "the column {:?} is {}, and {:?} is none; --types {}=text takes all of its cells as text",
                    column.name,
                    described(column.of_type),
                    shortened(&cell.text),
                    column.name
                ));
            }
        }
    }
    text.push('}');
    Ok(text)
}

/// The JSON text of a cell that is not text, or the text; `None` if the cell is not of the type.
fn value(of_type: ColumnType, cell: &str) -> Option<&str> {
    match of_type {
        ColumnType::Text => Some(cell),
        ColumnType::Boolean => (reads_as(cell) == ColumnType::Boolean).then_some(cell),
        ColumnType::Json => is_json(cell).then_some(cell),
        ColumnType::Number => {
            // Leading zeros are dropped if the user says that the column holds numbers.
            let bare = cell.trim_start_matches('0');
            let kept = usize::from(!bare.starts_with(|first: char| first.is_ascii_digit()));
            let number = &cell[(cell.len() - bare.len()).saturating_sub(kept)..];
            let begins = number.starts_with(|first: char| first == '-' || first.is_ascii_digit());
            (begins && is_json(number)).then_some(number)
        }
    }
}

fn described(of_type: ColumnType) -> &'static str {
    match of_type {
        ColumnType::Text => "text",
        ColumnType::Number => "a number",
        ColumnType::Boolean => "true or false",
        ColumnType::Json => "JSON",
    }
}

fn push_text(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}
