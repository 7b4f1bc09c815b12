//! JSON values as HTML: short ones in the cells of tables, whole ones as lists of their members.

use serde_json::value::RawValue;

use super::writer::Html;
use recension_wire::members::{elements, members_of};

/// The longest text of a cell; the document has it all.
const CELL_CHARS_MAX: usize = 300;
/// A text that has a scroll bar of its own where there is a stylesheet.
const LONG_BYTES_MIN: usize = 1500;
/// Levels of members that are written as lists; what is deeper is written as JSON.
const LEVELS_MAX: usize = 6;

/// A value in a cell of a table.
pub fn cell(value: &str, html: &mut Html) {
    match value.as_bytes().first() {
        Some(b'"') => {
            let text: String = serde_json::from_str(value).unwrap_or_else(|_| value.to_owned());
            match shortened(&text) {
                Some(short) => html.tag("<bdi>").text(short).tag("…</bdi>"),
                None if is_url(&text) => html.link(&text, &text),
                None => html.tag("<bdi>").text(&text).tag("</bdi>"),
            };
        }
        Some(b'{' | b'[') => {
            html.tag("<code>").text(shortened(value).unwrap_or(value));
            html.tag(if shortened(value).is_some() { "…</code>" } else { "</code>" });
        }
        Some(b'n') => {
            html.tag("<i>null</i>");
        }
        _ => {
            html.text(value);
        }
    }
}

/// Whether the value is a number: those stand to the right.
pub fn is_number(value: &str) -> bool {
    value.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

fn shortened(text: &str) -> Option<&str> {
    text.char_indices().nth(CELL_CHARS_MAX).map(|(at, _)| &text[..at])
}

fn is_url(text: &str) -> bool {
    (text.starts_with("https://") || text.starts_with("http://")) && !text.contains(char::is_whitespace)
}

/// A whole value: objects as lists of members, arrays as numbered lists.
pub fn whole(value: &str, html: &mut Html) {
    nested(value, LEVELS_MAX, html);
}

fn nested(value: &str, levels: usize, html: &mut Html) {
    let first = value.as_bytes().first();
    let raw = || serde_json::from_str::<&RawValue>(value).ok();
    match first {
        Some(b'{') if levels > 0 => match members_of(value.as_bytes()) {
            Ok(members) if members.is_empty() => {
                html.tag("<code>{}</code>");
            }
            Ok(members) => {
                html.tag("<dl>");
                for (name, value) in members {
                    html.tag("<dt><bdi>").text(name.as_bytes()).tag("</bdi></dt><dd>");
                    nested(value.get(), levels - 1, html);
                    html.tag("</dd>\n");
                }
                html.tag("</dl>");
            }
            Err(_) => code(value, html),
        },
        Some(b'[') if levels > 0 => match raw().and_then(|raw| elements(raw).ok().flatten()) {
            Some(elements) if elements.is_empty() => {
                html.tag("<code>[]</code>");
            }
            Some(elements) => {
                html.tag("<ol start=\"0\">");
                for element in elements {
                    html.tag("<li>");
                    nested(element.get(), levels - 1, html);
                    html.tag("</li>\n");
                }
                html.tag("</ol>");
            }
            None => code(value, html),
        },
        Some(b'"') => {
            let text: String = serde_json::from_str(value).unwrap_or_else(|_| value.to_owned());
            if is_url(&text) {
                html.link(&text, &text);
            } else {
                // Long ones scroll within themselves, also by keyboard.
                let long = text.len() > LONG_BYTES_MIN;
                html.tag(if long { "<bdi class=\"text long\" tabindex=\"0\">" } else { "<bdi class=\"text\">" });
                html.text(&text).tag("</bdi>");
            }
        }
        Some(b'{' | b'[') => code(value, html),
        _ => cell(value, html),
    }
}

fn code(value: &str, html: &mut Html) {
    html.tag("<code>").text(value).tag("</code>");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn written(write: impl Fn(&str, &mut Html), value: &Value) -> String {
        let mut html = Html::default();
        write(&value.to_string(), &mut html);
        String::from_utf8(html.take()).unwrap()
    }

    #[test]
    fn values_are_lists_of_their_members() {
        let value =
            json!({"a<b>": [1, null, true], "url": "https://example.org/?a&b", "empty": {}, "js": "javascript:x"});
        let html = written(whole, &value);
        for expected in [
            "<dt><bdi>a&lt;b&gt;</bdi></dt><dd><ol start=\"0\"><li>1</li>\n<li><i>null</i></li>\n<li>true</li>",
            "href=\"https://example.org/?a&amp;b\"",
            "<code>{}</code>",
            "<bdi class=\"text\">javascript:x</bdi>",
        ] {
            assert!(html.contains(expected), "{expected}: {html}");
        }
        assert!(written(cell, &json!("x".repeat(1000))).len() < 400);
        let deep = (0..100).fold(json!(1), |value, _| json!([value]));
        assert!(written(whole, &deep).contains("<code>[[["));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let text = "[<>&\"'/a-z=!\\-\\x00-\\x1f😀]{0,20}";
        let leaf = prop_oneof![text.prop_map(Value::from), any::<i64>().prop_map(Value::from), Just(Value::Null)];
        leaf.prop_recursive(8, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((text, inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Every tag of the page is one of those that this file writes, whatever the document says.
        #[test]
        fn no_document_writes_a_tag(value in any_json()) {
            for html in [written(whole, &value), written(cell, &value)] {
                for tag in html.split('<').skip(1) {
                    let name = tag.split(['>', ' ']).next().unwrap_or_default().trim_start_matches('/');
                    let known = ["dl", "dt", "dd", "ol", "li", "bdi", "code", "i"].contains(&name);
                    prop_assert!(known, "{} in {}", name, html);
                }
            }
        }
    }
}
