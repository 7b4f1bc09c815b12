//! The page of the article (2010), and a table of texts that need escaping: what they have to be, to the byte.

use std::fmt::Write as _; // to a String, which cannot fail

use crate::error::{LabError, Result};

/// Rows of the page.
pub const ROWS: usize = 1000;
/// Columns of it.
pub const COLUMNS: usize = 50;
/// Bytes of it.
pub const BYTES: usize = 550_015;

/// The page: numbers of columns.
pub fn page() -> String {
    table(|_, column, text| {
        let _ = write!(text, "{}", column + 1);
    })
}

/// The text of a cell, which needs escaping in HTML, in JSON and in CSV.
pub fn cell(row: usize, column: usize) -> String {
    format!("{row}, <b>&\"{column}\"</b>")
}

/// The page of these texts.
pub fn escaped() -> String {
    table(|row, column, text| {
        for character in cell(row, column).chars() {
            match character {
                '&' => text.push_str("&amp;"),
                '<' => text.push_str("&lt;"),
                '>' => text.push_str("&gt;"),
                '"' => text.push_str("&quot;"),
                other => text.push(other),
            }
        }
    })
}

fn table(show: impl Fn(usize, usize, &mut String)) -> String {
    let mut text = String::from("<table>");
    for row in 0..ROWS {
        text.push_str("<tr>");
        for column in 0..COLUMNS {
            text.push_str("<td>");
            show(row, column, &mut text);
            text.push_str("</td>");
        }
        text.push_str("</tr>");
    }
    text + "</table>"
}

/// The key of a row.
pub fn id(row: usize) -> String {
    format!("{row:06}")
}

/// The name of a column.
pub fn column(number: usize) -> String {
    format!("c{:02}", number + 1)
}

/// The form of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Form {
    /// The page of numbers, made for this request.
    Page,
    /// The same, asked for again: whoever keeps pages has it.
    Kept,
    /// The page of texts.
    Escaped,
    /// The rows of texts as a table of HTML with their keys, in a page of the server's own.
    Html,
    /// The rows of texts as JSON.
    Json,
    /// The same as CSV.
    Csv,
}

impl Form {
    /// Compares an answer with what it has to be. Of texts in HTML, of JSON and of CSV what they mean is compared: how
    /// a character is escaped, the order of members and what a server adds (a revision) are its own.
    pub fn check(self, body: &[u8]) -> Result<()> {
        let text = std::str::from_utf8(body).map_err(LabError::subject("an answer"))?;
        match self {
            Form::Page | Form::Kept => same_bytes(&page(), text),
            Form::Escaped if text == escaped() => Ok(()),
            Form::Escaped => same_rows(keyed(cells_of(text))),
            Form::Html => same_rows(cells_of(text).into_iter().filter_map(first_is_key).collect()),
            Form::Json => same_rows(json(text)?),
            Form::Csv => same_rows(csv(text)?),
        }
    }
}

fn wrong(what: &str, expected: impl Into<String>, found: impl Into<String>) -> LabError {
    LabError::Wrong {
        what: what.to_owned(),
        expected: expected.into(),
        found: found.into().chars().take(200).collect(),
    }
}

fn same_bytes(expected: &str, found: &str) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let at = expected.bytes().zip(found.bytes()).take_while(|(one, other)| one == other).count();
    let around = |text: &str| {
        let bytes = text.as_bytes();
        let part = bytes.get(at.saturating_sub(10)..(at + 20).min(bytes.len())).unwrap_or_default();
        format!("{} bytes, from {at} on {}", bytes.len(), String::from_utf8_lossy(part))
    };
    Err(wrong("the page", around(expected), around(found)))
}

/// A row: its key and its cells.
type Cells = (String, Vec<String>);

fn same_rows(found: Vec<Cells>) -> Result<()> {
    if found.len() != ROWS {
        return Err(wrong("the number of rows", ROWS.to_string(), found.len().to_string()));
    }
    for (row, found) in found.into_iter().enumerate() {
        let expected = (id(row), (0..COLUMNS).map(|column| cell(row, column)).collect::<Vec<_>>());
        if found != expected {
            return Err(wrong("a row", format!("{expected:?}"), format!("{found:?}")));
        }
    }
    Ok(())
}

/// Rows without keys, in the order of their keys.
fn keyed(rows: Vec<Vec<String>>) -> Vec<Cells> {
    rows.into_iter().enumerate().map(|(row, cells)| (id(row), cells)).collect()
}

/// A row with its key in the first cell.
fn first_is_key(mut cells: Vec<String>) -> Option<Cells> {
    if cells.is_empty() {
        return None;
    }
    let key = cells.remove(0);
    Some((key, cells))
}

/// The texts of the cells of a table of HTML, row by row. What is marked up within a cell is left out, so that a text
/// that was not escaped is another; rows without cells (a head) are none.
fn cells_of(text: &str) -> Vec<Vec<String>> {
    let rows = text.split("<tr").skip(1).map(|row| {
        let row = row.split_once("</tr>").map_or(row, |(row, _)| row);
        // The head of a row is a cell of it; heads of columns are none.
        let row = row.replace("<th scope=\"row\"", "<td").replace("</th>", "</td>");
        let cells = row.split("<td").skip(1).map(|cell| {
            let cell = cell.split_once("</td>").map_or(cell, |(cell, _)| cell);
            shown(cell.split_once('>').map_or("", |(_, cell)| cell))
        });
        cells.collect::<Vec<_>>()
    });
    rows.filter(|cells| !cells.is_empty()).collect()
}

/// What is shown of a piece of HTML: its text, with references as what they stand for.
fn shown(html: &str) -> String {
    let (mut text, mut rest) = (String::new(), html);
    while let Some(at) = rest.find(['<', '&']) {
        let (before, special) = rest.split_at(at);
        text.push_str(before);
        let end = if special.starts_with('<') { '>' } else { ';' };
        let Some((word, after)) = special.split_once(end) else { break };
        text.push_str(referred(word));
        rest = after;
    }
    text.push_str(rest);
    text
}

/// What a reference stands for, of those that the texts need. A tag shows nothing.
fn referred(word: &str) -> &'static str {
    match word {
        "&amp" | "&#38" | "&#x26" => "&",
        "&lt" | "&#60" | "&#x3c" => "<",
        "&gt" | "&#62" | "&#x3e" => ">",
        "&quot" | "&#34" | "&#x22" => "\"",
        _ => "",
    }
}

/// Rows of an array of objects, or of `_all_docs` with documents.
fn json(text: &str) -> Result<Vec<Cells>> {
    let told: serde_json::Value = serde_json::from_str(text).map_err(LabError::subject("reading JSON"))?;
    let rows = told.get("rows").unwrap_or(&told).as_array().map(Vec::as_slice).unwrap_or_default();
    let text =
        |value: Option<&serde_json::Value>| value.and_then(|value| value.as_str()).unwrap_or_default().to_owned();
    let read = |row: &serde_json::Value| {
        let members = row.get("doc").unwrap_or(row);
        let key = text(row.get("id"));
        (key, (0..COLUMNS).map(|number| text(members.get(column(number)))).collect())
    };
    Ok(rows.iter().map(read).collect())
}

fn csv(text: &str) -> Result<Vec<Cells>> {
    let mut lines = records(text).into_iter();
    let head = lines.next().unwrap_or_default();
    let at = |name: &str| head.iter().position(|cell| cell == name);
    let missing = || wrong("the head of the table", "id and c01 to c50", head.join(","));
    let key = at("id").ok_or_else(missing)?;
    let places = (0..COLUMNS).map(|number| at(&column(number)).ok_or_else(missing)).collect::<Result<Vec<_>>>()?;
    let cell = |line: &[String], at: usize| line.get(at).cloned().unwrap_or_default();
    Ok(lines.map(|line| (cell(&line, key), places.iter().map(|at| cell(&line, *at)).collect())).collect())
}

/// The records of a table.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut all, mut line, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => line.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                line.push(std::mem::take(&mut field));
                all.push(std::mem::take(&mut line));
            }
            other => field.push(other),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_bytes_of_the_article() {
        assert_eq!(page().len(), BYTES);
        assert!(page().starts_with("<table><tr><td>1</td><td>2</td>") && page().ends_with("<td>50</td></tr></table>"));
    }

    fn as_csv() -> String {
        let quoted =
            |row: usize| (0..COLUMNS).map(move |column| format!("\"{}\"", cell(row, column).replace('"', "\"\"")));
        let head = (0..COLUMNS).map(column).collect::<Vec<_>>().join(",");
        let lines = (0..ROWS).map(|row| format!("{},1-a,{}\r\n", id(row), quoted(row).collect::<Vec<_>>().join(",")));
        format!("id,rev,{head}\r\n{}", lines.collect::<String>())
    }

    fn as_html() -> String {
        let row = |row: usize| {
            let cells = (0..COLUMNS).map(|column| {
                let text = cell(row, column).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                format!("<td class=\"a\"><bdi>{text}</bdi></td>")
            });
            format!("<tr><td><a href=\"/x\">{}</a></td>{}</tr>\n", id(row), cells.collect::<String>())
        };
        let rows = (0..ROWS).map(row).collect::<String>();
        format!("<!DOCTYPE html><h1>rows</h1><table><thead><tr><th>id</th></tr></thead>{rows}</table>")
    }

    fn as_json() -> String {
        let rows = (0..ROWS).map(|row| {
            let cells = (0..COLUMNS).map(|number| (column(number), cell(row, number).into()));
            let members: serde_json::Map<String, serde_json::Value> = cells.collect();
            serde_json::json!({"id": id(row), "doc": members})
        });
        serde_json::json!({"rows": rows.collect::<Vec<_>>()}).to_string()
    }

    #[test]
    fn right_answers_are_right_and_a_changed_byte_is_found() {
        for (form, right, part, other) in [
            (Form::Page, page(), "<td>7</td>", "<td>8</td>"),
            (Form::Kept, page(), "<td>7</td>", "<td>8</td>"),
            (Form::Escaped, escaped(), "&lt;b&gt;", "<b>"),
            (Form::Escaped, escaped().replace("&quot;", "&#34;"), "&lt;b&gt;", "<b>"),
            (Form::Html, as_html(), "999, &lt;b&gt;", "999, <b>"),
            (Form::Json, as_json(), "999, <b>", "99, <b>"),
            (Form::Csv, as_csv(), "999, <b>", "99, <b>"),
        ] {
            form.check(right.as_bytes()).unwrap();
            let spoilt = right.replacen(part, other, 1);
            assert_ne!(spoilt, right, "{form:?}");
            assert!(matches!(form.check(spoilt.as_bytes()), Err(LabError::Wrong { .. })), "{form:?}");
            assert!(form.check(&right.as_bytes()[..right.len() / 2]).is_err(), "{form:?}");
        }
    }
}
