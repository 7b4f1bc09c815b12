//! The members of a JSON object as they are written. Numbers and escapes keep their spelling: bytes that are not
//! interpreted cannot be changed by mistake.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The members of an object, in their order.
#[derive(Default)]
pub struct Members<'t>(pub Vec<Member<'t>>);

/// A member of an object.
pub struct Member<'t> {
    /// Its name.
    pub name: Cow<'t, str>,
    /// Its name as it is written: a JSON string.
    pub written: &'t str,
    /// Its value as it is written.
    pub value: &'t str,
}

impl<'t> Members<'t> {
    /// The members of the object that `text` is.
    pub fn of(text: &'t str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// The value of a member. If a name comes twice, the last one.
    pub fn get(&self, name: &str) -> Option<&'t str> {
        self.0.iter().rev().find(|member| member.name == name).map(|member| member.value)
    }
}

/// An object of names and values. Names are plain text, values JSON.
pub fn object<'m>(members: impl IntoIterator<Item = (&'m str, &'m str)>) -> String {
    let mut text = String::from("{");
    for (name, value) in members {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(name);
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    text
}

/// Text as a JSON string.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<Member<'de>>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<&'de RawValue, &'de RawValue>()? {
                    let (written, value) = (name.get(), value.get());
                    let name = if written.contains('\\') {
                        Cow::Owned(serde_json::from_str(written).map_err(Error::custom)?)
                    } else {
                        Cow::Borrowed(written.get(1..written.len() - 1).unwrap_or_default())
                    };
                    members.push(Member { name, written, value });
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Collect).map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_spelling_and_their_order() {
        let text = r#"{ "b" : 1.0e+2 , "\u0061":"\u00e9\/", "b":[ 1 ], "":{} }"#;
        let members = Members::of(text).unwrap();
        let written: Vec<_> = members.0.iter().map(|member| (&*member.name, member.written, member.value)).collect();
        assert_eq!(
            written,
            [
                ("b", r#""b""#, "1.0e+2"),
                ("a", r#""\u0061""#, r#""\u00e9\/""#),
                ("b", r#""b""#, "[ 1 ]"),
                ("", r#""""#, "{}")
            ]
        );
        assert_eq!(members.get("b"), Some("[ 1 ]"));
        assert_eq!(members.get("c"), None);
        assert!(Members::of("[1]").is_err());
    }
}
