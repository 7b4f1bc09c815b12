//! Documents as comma-separated values (RFC 4180), for an import with inferred types to read back. Text that would read
//! as something else is in quotes; so are arrays and objects. What cannot be said in a table, `Kinds` finds.

use crate::error::{CliError, Result};
use crate::input::{ColumnType, protected, reads_as};

/// A record of cells.
pub fn record<'c>(cells: impl IntoIterator<Item = &'c str>) -> String {
    let mut line = String::new();
    for (number, cell) in cells.into_iter().enumerate() {
        if number > 0 {
            line.push(',');
        }
        line.push_str(cell);
    }
    line
}

/// Refuses a member whose name an import would not read back as that of a column.
///
/// # Errors
/// It has no name, or a zero byte in it.
pub fn check_column(id: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.contains('\0') {
        return Err(CliError::Usage(format!(
            "document {id:?} has the member {name:?}, which can be no column of a CSV file; choose columns with \
             --fields, or take JSON lines"
        )));
    }
    Ok(())
}

/// The cell of a text. An empty text is quoted, to distinguish it from no text at all, and so is one that would read as
/// something else.
fn text_cell(text: &str) -> String {
    match protected(text) {
        Some(protected) => in_quotes(&protected),
        None if text.is_empty() || reads_as(text) != ColumnType::Text => in_quotes(text),
        None => quoted(text),
    }
}

/// The cell of an id, which is text whatever it looks like.
pub fn id_cell(id: &str) -> String {
    if id.is_empty() { in_quotes(id) } else { quoted(id) }
}

fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// The cell of a JSON value: a text without its quotes, anything else as it is written.
pub fn csv_text(json: &str) -> String {
    match json.bytes().next() {
        Some(b'"') => text_cell(&serde_json::from_str::<String>(json).unwrap_or_default()),
        Some(b'{' | b'[') => in_quotes(json),
        _ if json == "null" => String::new(),
        _ => quoted(json),
    }
}

/// In quotes if the text needs them.
pub fn quoted(text: &str) -> String {
    let needs = |character| matches!(character, ',' | '"' | '\n' | '\r');
    // White space at the beginning or the end is quoted: some readers would trim it.
    if text.contains(needs) || text.trim() != text { in_quotes(text) } else { text.to_owned() }
}

/// The kinds of values that a column has.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // a set of six
pub struct Kinds {
    text: bool,
    number: bool,
    boolean: bool,
    json: bool,
    null: bool,
    /// Numbers that an import takes as text, since they look like ids.
    long: bool,
}

impl Kinds {
    /// Takes note of a value.
    pub fn see(&mut self, json: &str) {
        match json.bytes().next() {
            Some(b'"') => self.text = true,
            Some(b'{' | b'[') => self.json = true,
            Some(b't' | b'f') => self.boolean = true,
            Some(b'n') => self.null = true,
            _ => {
                self.number = true;
                self.long |= reads_as(json) == ColumnType::Text;
            }
        }
    }

    /// What an import of the table changes in the column.
    pub fn lost(self, name: &str) -> Option<String> {
        let kinds =
            [(self.text, "text"), (self.number, "numbers"), (self.boolean, "true or false"), (self.json, "JSON")];
        let kinds: Vec<&str> = kinds.iter().filter(|(there, _)| *there).map(|(_, kind)| *kind).collect();
        if kinds.len() > 1 {
            let kinds = kinds.join(" and ");
            return Some(format!("{name:?} has {kinds}: an import makes text of all, since a column has one type"));
        }
        if self.long {
            return Some(format!("{name:?} has long whole numbers: import them with --types {name}=number"));
        }
        self.null.then(|| format!("{name:?} has null, which a table cannot say: an import leaves it out"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_have_to_be() {
        for (text, cell) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"\n", "\"say \"\"x\"\"\n\""),
            ("", "\"\""),
            (" x", "\" x\""),
            ("12345", "\"12345\""),
            ("007", "007"),
            ("1234567890123456", "1234567890123456"),
            ("-1e3", "\"-1e3\""),
            ("true", "\"true\""),
            ("[1]", "\"\"\"[1]\"\"\""),
            ("[x", "[x"),
            ("a\0b", "\"\"\"a\\u0000b\"\"\""),
        ] {
            assert_eq!(text_cell(text), cell, "{text:?}");
        }
        assert_eq!(record(["a", "", "\"b,c\""]), "a,,\"b,c\"");
        assert_eq!(["1", "[1]", "null", "\"1\""].map(csv_text), ["1", "\"[1]\"", "", "\"1\""]);
    }
}
