//! A revision in transit: its JSON text as it came, and the properties that replication needs. Numbers and the order of
//! members stay.

use std::fmt;
use std::fmt::Write as _;

use recension::json::quote;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An attachment of a revision, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Attachment {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// Its media type.
    #[serde(default)]
    pub content_type: String,
    /// The generation that it came with.
    #[serde(default)]
    pub revpos: u32,
    /// Its digest.
    #[serde(default)]
    pub digest: Option<String>,
    /// Its length in bytes.
    #[serde(default)]
    pub length: u64,
    /// Whether its bytes are not in the text.
    #[serde(default)]
    pub stub: bool,
}

/// A revision.
#[derive(Clone, Debug)]
pub struct Document {
    /// The id.
    pub id: String,
    /// The revision.
    pub rev: String,
    /// The JSON text, with `_id`, `_rev`, `_revisions`, and `_attachments`.
    pub text: String,
    /// The revision and its ancestors, newest first.
    pub path: Vec<String>,
    /// Its attachments.
    pub attachments: Vec<Attachment>,
}

#[derive(serde::Deserialize)]
struct Revisions {
    start: u32,
    ids: Vec<String>,
}

#[derive(serde::Deserialize)]
struct Head {
    #[serde(rename = "_id")]
    id: String,
    #[serde(rename = "_rev")]
    rev: String,
    #[serde(rename = "_revisions")]
    revisions: Option<Revisions>,
    #[serde(rename = "_attachments", default)]
    attachments: Option<Members>,
}

/// The members of an object in their order.
#[derive(Debug)]
pub(crate) struct Members(pub(crate) Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Every;
        impl<'de> Visitor<'de> for Every {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Members, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Every)
    }
}

impl Document {
    /// Reads a revision.
    ///
    /// # Errors
    /// The reason for which it cannot be read.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Head { id, rev, revisions, attachments } =
            serde_json::from_str(text).map_err(|error| format!("a document does not read: {error}"))?;
        let path = match revisions {
            None => vec![rev.clone()],
            Some(Revisions { start, ids }) => {
                (1..=start).rev().zip(ids).map(|(number, id)| format!("{number}-{id}")).collect()
            }
        };
        let attachments = attachments.map_or(Vec::new(), |members| members.0);
        let attachment = |(name, value): (String, Box<RawValue>)| {
            let read: Attachment = serde_json::from_str(value.get())
                .map_err(|error| format!("an attachment of the document {id:?} does not read: {error}"))?;
            Ok(Attachment { name, ..read })
        };
        let attachments = attachments.into_iter().map(attachment).collect::<Result<_, String>>()?;
        Ok(Document { id, rev, text: text.to_owned(), path, attachments })
    }

    /// Bytes of the attachments that are stubs.
    pub(crate) fn stub_bytes(&self) -> u64 {
        self.attachments.iter().filter(|own| own.stub).fold(0, |sum, own| sum.saturating_add(own.length))
    }

    /// Whether there are attachments whose bytes are not in the text.
    pub(crate) fn has_stubs(&self) -> bool {
        self.attachments.iter().any(|own| own.stub)
    }

    /// The newest generation among the revisions of the path that are in `known`; 0 if there is none.
    pub(crate) fn known(&self, known: &[String]) -> u32 {
        let generation = |rev: &String| rev.split('-').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        self.path.iter().filter(|rev| known.contains(rev)).map(generation).max().unwrap_or(0)
    }

    /// The text in which attachments up to the generation `known` are stubs and others follow.
    pub(crate) fn following(&self, known: u32) -> Result<String, String> {
        let Members(members) = serde_json::from_str(&self.text).map_err(|error| error.to_string())?;
        let mut text = String::with_capacity(self.text.len());
        for (number, (name, value)) in members.iter().enumerate() {
            text.push(if number == 0 { '{' } else { ',' });
            text.push_str(&quote(name));
            text.push(':');
            if name != "_attachments" {
                text.push_str(value.get());
                continue;
            }
            for (number, own) in self.attachments.iter().enumerate() {
                let begin = if number == 0 { '{' } else { ',' };
                let how = if own.revpos <= known { "stub" } else { "follows" };
                let digest = own.digest.as_ref().map_or(String::new(), |text| format!("\"digest\":{},", quote(text)));
                // Writing to a String cannot fail.
                let _ = write!(
                    text,
                    "{begin}{}:{{\"content_type\":{},\"revpos\":{},{digest}\"length\":{},\"{how}\":true}}",
                    quote(&own.name),
                    quote(&own.content_type),
                    own.revpos,
                    own.length
                );
            }
            text.push_str(if self.attachments.is_empty() { "{}" } else { "}" });
        }
        text.push_str(if members.is_empty() { "{}" } else { "}" });
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_keeps_its_numbers_and_its_order() {
        let text = concat!(
            r#"{"_id":"a","_rev":"3-c","_revisions":{"start":3,"ids":["c","b","a"]},"z":1.0e3,"b":2,"_att"#,
            r#"achments":{"x":{"content_type":"t","revpos":3,"digest":"md5-x","length":7,"stub":true},"w""#,
            r#":{"content_type":"t","revpos":1,"length":2,"stub":true}}}"#,
        );
        let document = Document::parse(text).unwrap();
        assert_eq!((document.stub_bytes(), document.known(&["2-b".to_owned(), "9-x".to_owned()])), (9, 2));
        let sent = document.following(2).unwrap();
        assert!(sent.contains(r#""z":1.0e3,"b":2,"_attachments":{"x":{"#), "{sent}");
        assert!(sent.contains(r#""length":7,"follows":true},"w":{"#) && sent.contains(r#""length":2,"stub":true}}}"#));
    }
}
