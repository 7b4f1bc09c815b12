//! The members of a JSON object as they are written: numbers and escapes keep their spelling, because
//! what is not understood cannot be changed by mistake.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The members of an object, in their order.
#[derive(Default)]
pub struct Members<'t>(pub Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'t> Members<'t> {
    /// The members of the object that `text` is.
    pub fn of(text: &'t str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// The value of a member; of the last one, where a name comes twice.
    pub fn get(&self, name: &str) -> Option<&'t RawValue> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The object without the members that `leave_out` names.
    pub fn without(&self, leave_out: &[&str]) -> String {
        object(
            self.0
                .iter()
                .filter(|(name, _)| !leave_out.contains(&name.as_ref()))
                .map(|(name, value)| (&**name, value.get())),
        )
    }
}

/// An object of members whose values are JSON texts.
pub fn object<'m>(members: impl IntoIterator<Item = (&'m str, &'m str)>) -> String {
    let mut text = String::from("{");
    for (name, value) in members {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&Value::from(name).to_string());
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    text
}

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Name(name), value)) = map.next_entry::<Name<'de>, &'de RawValue>()? {
                    members.push((name, value));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Collect).map(Members)
    }
}

/// A name, borrowed where it has no escapes.
struct Name<'t>(Cow<'t, str>);

impl<'de: 't, 't> Deserialize<'de> for Name<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Take;
        impl<'de> Visitor<'de> for Take {
            type Value = Cow<'de, str>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(name))
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(name.to_owned()))
            }
        }
        deserializer.deserialize_str(Take).map(Name)
    }
}

/// `patch` applied to `document` by the rules of RFC 7396: null removes a member, objects are merged,
/// anything else replaces. What the patch does not name keeps its spelling.
pub fn merge(document: &str, patch: &str) -> serde_json::Result<String> {
    if !patch.trim_start().starts_with('{') {
        return Ok(patch.to_owned());
    }
    let patch = Members::of(patch)?;
    let members = if document.trim_start().starts_with('{') { Members::of(document)? } else { Members(Vec::new()) };
    let mut merged: Vec<(Cow<'_, str>, Option<Cow<'_, str>>)> =
        members.0.into_iter().map(|(name, value)| (name, Some(Cow::Borrowed(value.get())))).collect();
    for (name, value) in patch.0 {
        let place = merged.iter().position(|(old, _)| *old == name);
        let old = place.and_then(|place| merged[place].1.take()).unwrap_or(Cow::Borrowed("null"));
        let new = if value.get() == "null" { None } else { Some(Cow::Owned(merge(&old, value.get())?)) };
        match place {
            Some(place) => merged[place].1 = new,
            None => merged.push((name, new)),
        }
    }
    Ok(object(merged.iter().filter_map(|(name, value)| Some((name.as_ref(), value.as_deref()?)))))
}

/// JSON on several lines with its levels indented, for people. Only white space between values changes.
pub fn indented(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0;
    let mut in_string = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if in_string {
            out.push(character);
            match character {
                '"' => in_string = false,
                '\\' => out.extend(characters.next()),
                _ => {}
            }
            continue;
        }
        match character {
            ' ' | '\t' | '\n' | '\r' => {}
            '"' => {
                in_string = true;
                out.push('"');
            }
            '{' | '[' => {
                out.push(character);
                while characters.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(closing) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(closing);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            other => out.push(other),
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_spelling_and_their_order() {
        let text = r#"{ "b" : 1.0e+2 , "\u0061":"\u00e9\/", "_id":"x", "b":[ 1 ] }"#;
        let members = Members::of(text).unwrap();
        assert_eq!(members.without(&["_id"]), r#"{"b":1.0e+2,"a":"\u00e9\/","b":[ 1 ]}"#);
        assert_eq!(members.get("b").unwrap().get(), "[ 1 ]");
        assert!(members.get("c").is_none());
        assert!(Members::of("[1]").is_err());
    }

    #[test]
    fn a_merge_follows_rfc_7396_and_leaves_the_rest_as_it_is_spelled() {
        for (document, patch, result) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b","b":1.50}"#, r#"{"a":null}"#, r#"{"b":1.50}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":{"b":"c","n":1e0}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d","n":1e0}}"#),
            (r#"{"a":[1]}"#, r#"{"a":{"b":2}}"#, r#"{"a":{"b":2}}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
            (r#"{"n":12345678901234567890123}"#, r#"{"x":1}"#, r#"{"n":12345678901234567890123,"x":1}"#),
        ] {
            assert_eq!(merge(document, patch).unwrap(), result, "{document} with {patch}");
        }
    }

    #[test]
    fn indenting_changes_white_space_only() {
        let text = r#"{"a":[1.0e2,{"b":"x\" {,:"}],"c":{},"d":[ ]}"#;
        let shown =
            "{\n  \"a\": [\n    1.0e2,\n    {\n      \"b\": \"x\\\" {,:\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}";
        assert_eq!(indented(text), shown);
    }
}
