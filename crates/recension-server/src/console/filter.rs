//! Filters as people type them, and as they stand in a URL: `population > 1000000 and country = PT`, or a selector of
//! Mango. Pure.

use recension::json::quote;
use recension::{Selector, json};

use crate::error::{ApiError, Result};

const EXAMPLE: &str = "write conditions such as: population > 1000000 and country = PT (operators: = != < <= > >= ~, \
                       the last for 'contains'), or a selector such as {\"country\": \"PT\"}";

/// The operators, longest first, with Mango's words.
const OPERATORS: [(&str, &str); 7] =
    [("!=", "$ne"), ("<=", "$lte"), (">=", "$gte"), ("=", "$eq"), ("<", "$lt"), (">", "$gt"), ("~", "$regex")];

/// The selector that a text means, as JSON; `None` for an empty one.
///
/// # Errors
/// 400 that says what can be written.
pub(super) fn selector(text: &str) -> Result<Option<String>> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if text.starts_with('{') {
        let text = json::minify(text.as_bytes()).map_err(|error| bad(&error.to_string()))?;
        return Ok(Some(text));
    }
    let clauses = conjuncts(text).into_iter().map(clause).collect::<Result<Vec<_>>>()?;
    Ok(Some(match <[String; 1]>::try_from(clauses) {
        Ok([only]) => only,
        Err(clauses) => format!("{{\"$and\":[{}]}}", clauses.join(",")),
    }))
}

/// The same as the library has it.
pub(super) fn parsed(text: &str) -> Result<Option<Selector>> {
    selector(text)?.map(|text| Ok(Selector::from_json(text)?)).transpose()
}

fn bad(what: &str) -> ApiError {
    ApiError::bad_request(format!("The filter cannot be understood: {what}; {EXAMPLE}"))
}

/// The parts between the words `and`, of which those in quotes are none.
fn conjuncts(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' && quoted {
            escaped = true;
        } else if c == '"' {
            quoted = !quoted;
        } else if !quoted && at > from && text[at..].get(..5).is_some_and(|word| word.eq_ignore_ascii_case(" and ")) {
            parts.push(&text[from..at]);
            from = at + 5;
        }
    }
    parts.push(text.get(from..).unwrap_or_default());
    parts
}

fn clause(text: &str) -> Result<String> {
    let text = text.trim();
    let place = text.find(['!', '<', '>', '=', '~']).ok_or_else(|| bad(&format!("'{text}' has no operator")))?;
    let (path, rest) = text.split_at(place);
    let operator = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign));
    let (sign, word) = operator.ok_or_else(|| bad(&format!("'{text}' has no operator")))?;
    let (path, value) = (path.trim(), rest[sign.len()..].trim());
    if path.is_empty() {
        return Err(bad(&format!("'{text}' names no member")));
    }
    let bare = || quote(value.trim_matches('"'));
    let value = match *word {
        "$regex" => {
            let part: String = serde_json::from_str(value).unwrap_or_else(|_| value.to_owned());
            quote(&format!("(?i){}", literal(&part)))
        }
        // A bare word is a text.
        _ => json::minify(value.as_bytes()).unwrap_or_else(|_| bare()),
    };
    Ok(format!("{{{}:{{\"{word}\":{value}}}}}", quote(path)))
}

/// A pattern that matches a text.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_alphanumeric() && !c.is_whitespace() && c.is_ascii() {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_selectors() {
        for (text, expected) in [
            ("", None),
            ("n > 7", Some(r#"{"n":{"$gt":7}}"#)),
            ("a.b=PT", Some(r#"{"a.b":{"$eq":"PT"}}"#)),
            ("name = \"a and b\" AND x != null", Some(r#"{"$and":[{"name":{"$eq":"a and b"}},{"x":{"$ne":null}}]}"#)),
            ("name ~ a.b", Some(r#"{"name":{"$regex":"(?i)a\\.b"}}"#)),
            (r#" {"a": 1} "#, Some(r#"{"a":1}"#)),
        ] {
            assert_eq!(selector(text).unwrap().as_deref(), expected, "{text}");
            assert!(parsed(text).is_ok(), "{text}");
        }
        for text in ["name", "= 1", "{\"a\":", "{", "a ! b"] {
            assert_eq!(selector(text).unwrap_err().status, http::StatusCode::BAD_REQUEST, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_selector_or_refused(text in "[ a-z\"\\\\=<>!~{}é]{0,30}( and [a-z=\"]{0,9}){0,2}") {
            if let Ok(Some(selector)) = selector(&text) {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&selector).is_ok(), "{}", selector);
            }
        }
    }
}
