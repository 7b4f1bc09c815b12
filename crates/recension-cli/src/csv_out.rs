//! Documents as comma-separated values (RFC 4180). An import with inferred types reads back the same document, except
//! for members that are null and numbers in unusual spellings.

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

/// The cell of a text. An empty text is quoted, to distinguish it from no text at all.
pub fn text_cell(text: &str) -> String {
    if text.is_empty() { "\"\"".to_owned() } else { quoted(text) }
}

/// The cell of a JSON value: a text without its quotes, anything else as it is written.
pub fn csv_text(json: &str) -> String {
    match json.bytes().next() {
        Some(b'"') => text_cell(&serde_json::from_str::<String>(json).unwrap_or_default()),
        _ if json == "null" => String::new(),
        _ => quoted(json),
    }
}

/// In quotes if the text needs them.
pub fn quoted(text: &str) -> String {
    let needs = |character| matches!(character, ',' | '"' | '\n' | '\r');
    // White space at the beginning or the end is quoted: some readers would trim it.
    if text.contains(needs) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
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
        ] {
            assert_eq!(text_cell(text), cell, "{text:?}");
        }
        assert_eq!(record(["a", "", "\"b,c\""]), "a,,\"b,c\"");
    }
}
