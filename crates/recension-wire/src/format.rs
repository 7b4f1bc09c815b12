//! The forms of a list: JSON, or if the client asks for it, a row a line (NDJSON), a table (CSV) or a page (HTML, which
//! `recension-pages/src/` makes from the JSON). CouchDB only has JSON.

use std::collections::HashSet;

use http::HeaderMap;
use http::header::ACCEPT;
use serde_json::value::RawValue;

use crate::error::{ApiError, Result};
use crate::members::{member, members_of};
use crate::query::Query;

/// A form of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Json,
    Lines,
    Csv,
    /// A page. Endpoints do not handle it.
    Html,
}

impl Format {
    /// The form that a request likes best of JSON and some others. If it names none, it gets JSON, as everywhere. The
    /// parameter `format` wins over the header: a link can have it.
    pub fn of((query, headers): (&Query, &HeaderMap), others: &[Format]) -> Self {
        let named = match query.get("format") {
            Some("json") => Some(Format::Json),
            Some("ndjson") => Some(Format::Lines),
            Some("csv") => Some(Format::Csv),
            _ => None,
        };
        match named {
            Some(format) if format == Format::Json || others.contains(&format) => format,
            _ => {
                Self::negotiated(headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default(), others)
            }
        }
    }

    /// The one that a header `Accept` likes best.
    pub fn negotiated(accept: &str, others: &[Format]) -> Self {
        let mut best = (Format::Json, 0.0);
        for part in accept.split(',') {
            let mut words = part.split(';').map(str::trim);
            let format = match words.next().unwrap_or_default().to_ascii_lowercase().as_str() {
                "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Format::Lines,
                "text/csv" => Format::Csv,
                "text/html" | "application/xhtml+xml" => Format::Html,
                "application/json" | "application/*" | "*/*" => Format::Json,
                _ => continue,
            };
            if format != Format::Json && !others.contains(&format) {
                continue;
            }
            let weight = words.find_map(|word| word.strip_prefix("q=")).map_or(1.0, |q| q.parse().unwrap_or(0.0));
            // Of equal weights, the first wins.
            if weight > best.1 {
                best = (format, weight);
            }
        }
        best.0
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Format::Json => "application/json",
            Format::Lines => "application/x-ndjson",
            Format::Csv => "text/csv; charset=utf-8",
            Format::Html => "text/html; charset=utf-8",
        }
    }

    /// The suffix that tells this form's entity tags from the other forms'.
    pub fn suffix(self) -> &'static str {
        match self {
            Format::Json => "",
            Format::Lines => "-ndjson",
            Format::Csv => "-csv",
            Format::Html => "-html",
        }
    }
}

/// A line of a table.
pub fn csv_line<'c>(cells: impl IntoIterator<Item = std::borrow::Cow<'c, str>>) -> String {
    let mut line = String::new();
    for (number, cell) in cells.into_iter().enumerate() {
        if number > 0 {
            line.push(',');
        }
        if cell.contains(['"', ',', '\r', '\n']) {
            line.push('"');
            line.push_str(&cell.replace('"', "\"\""));
            line.push('"');
        } else {
            line.push_str(&cell);
        }
    }
    line.push_str("\r\n");
    line
}

/// Columns of a table at most, as `recension import` takes them.
pub const COLUMNS_MAX: usize = 4096;

/// Refuses a table that no program reads back: columns without a name, with a zero byte in it, of one name, too many.
///
/// # Errors
/// 400, which names the column.
pub fn check_columns(columns: &[String]) -> Result<()> {
    let refused = |why: String| {
        Err(ApiError::bad_request(format!("{why}; choose other columns (fields), or ask for JSON or NDJSON")))
    };
    let mut seen = HashSet::new();
    for name in columns {
        if name.is_empty() || name.contains('\0') {
            return refused(format!("a member with the name {name:?} can be no column of a table"));
        }
        if !seen.insert(name.as_str()) {
            return refused(format!("two columns of the table would be named {name:?}"));
        }
    }
    match columns.len() {
        0..=COLUMNS_MAX => Ok(()),
        many => refused(format!("the table would have {many} columns, and {COLUMNS_MAX} are the limit")),
    }
}

/// The names of all members of some rows, in the order in which they come. It stops beyond [`COLUMNS_MAX`].
///
/// # Errors
/// Those of the rows.
pub fn columns_of<R: AsRef<str>>(rows: impl Iterator<Item = Result<R>>) -> Result<Vec<String>> {
    let (mut columns, mut seen) = (Vec::new(), HashSet::new());
    for row in rows {
        for (name, _) in members_of(row?.as_ref().as_bytes()).unwrap_or_default() {
            if !seen.contains(&name) {
                seen.insert(name.clone());
                columns.push(name);
            }
        }
        if columns.len() > COLUMNS_MAX {
            break;
        }
    }
    Ok(columns)
}

/// The values at paths of members (`address.city`), as cells: a string as it is, `null` or nothing as an empty cell,
/// anything else as JSON. The document is parsed once; a member is parsed again for each path that leads into it.
pub fn cells(document: &str, paths: &[String]) -> Vec<String> {
    let members = members_of(document.as_bytes()).unwrap_or_default();
    let mut top: Vec<(&str, &RawValue)> = members.iter().map(|(name, value)| (&**name, *value)).collect();
    // Of several members with a name the last counts. The sort is stable, so that it stays last.
    top.sort_by_key(|(name, _)| *name);
    let named = |name: &str| {
        let before = top.partition_point(|(own, _)| *own <= name);
        before.checked_sub(1).and_then(|at| top.get(at)).filter(|(own, _)| *own == name).map(|(_, value)| *value)
    };
    paths.iter().map(|path| cell(named, path)).collect()
}

fn cell<'v>(top: impl Fn(&str) -> Option<&'v RawValue>, path: &str) -> String {
    let mut names = path.split('.');
    let mut value = names.next().and_then(top);
    for name in names {
        value = value.and_then(|value| member(&members_of(value.get().as_bytes()).ok()?, name));
    }
    cell_of(value.map(RawValue::get))
}

/// A value as a cell: a string as it is, `null` or nothing as an empty cell, anything else as JSON.
pub fn cell_of(value: Option<&str>) -> String {
    match value {
        None | Some("null") => String::new(),
        Some(text) => serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_the_one_that_the_client_likes_best() {
        let both = [Format::Lines, Format::Csv];
        for (accept, others, expected) in [
            ("", &both[..], Format::Json),
            ("*/*", &both, Format::Json),
            ("text/html", &both, Format::Json),
            ("text/csv", &both, Format::Csv),
            ("text/csv", &[Format::Lines], Format::Json),
            ("application/x-ndjson, */*;q=0.1", &both, Format::Lines),
            ("application/json, text/csv", &both, Format::Json),
            ("application/json;q=0.5, text/csv;q=0.8", &both, Format::Csv),
            ("text/csv;q=0", &both, Format::Json),
            ("text/csv;q=x, application/jsonl", &both, Format::Lines),
        ] {
            assert_eq!(Format::negotiated(accept, others), expected, "{accept}");
        }
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let line = csv_line(["a", "", "b,c", "say \"x\"", "two\nlines"].map(Into::into));
        assert_eq!(line, "a,,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\"\r\n");
        let document = r#"{"b":0,"a":"é\n","b":{"c":1.0,"d":[1,2]},"n":null}"#;
        let (paths, expected): (Vec<_>, Vec<_>) =
            [("a", "é\n"), ("b.c", "1.0"), ("b.d", "[1,2]"), ("n", ""), ("b.x", ""), ("a.x", ""), ("", ""), ("z", "")]
                .map(|(path, expected)| (path.to_owned(), expected))
                .into_iter()
                .unzip();
        assert_eq!(cells(document, &paths), expected);
        assert_eq!(cells("", &paths), [""; 8]);
    }
}
