//! Documents as comma-separated values (RFC 4180). What an import with inferred types reads back is the
//! same document, but for members that are null and numbers in unusual spellings.

use serde_json::Value;

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

/// What stands in the cell of a member; nothing where the document does not have it or it is null.
pub fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) if text.is_empty() => "\"\"".to_owned(),
        Some(Value::String(text)) => quoted(text),
        Some(other) => quoted(&other.to_string()),
    }
}

/// In quotes where the text needs them.
pub fn quoted(text: &str) -> String {
    let needs = |character| matches!(character, ',' | '"' | '\n' | '\r');
    // White space at an end is quoted for readers that would trim it.
    if text.contains(needs) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_are_quoted_where_they_have_to_be() {
        for (value, text) in [
            (json!("plain"), "plain"),
            (json!("a,b"), "\"a,b\""),
            (json!("say \"x\"\n"), "\"say \"\"x\"\"\n\""),
            (json!(""), "\"\""),
            (json!(" x"), "\" x\""),
            (json!(null), ""),
            (json!(-1.5), "-1.5"),
            (json!(true), "true"),
            (json!(["a", 1]), "\"[\"\"a\"\",1]\""),
        ] {
            assert_eq!(cell(Some(&value)), text, "{value}");
        }
        assert_eq!(record(["a", "", "\"b,c\""]), "a,,\"b,c\"");
    }
}
