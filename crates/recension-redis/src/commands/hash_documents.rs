//! Hashes that are JSON documents: fields are the members of the first level. A member that is no string is returned as
//! its JSON text. HSET writes strings; increments write numbers.

use std::fmt;

use recension::{Document, Error};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::data::{Data, Refusal, hash_name, refuse};

/// The members of a document: names, and values as JSON texts.
struct Members(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Vec<(String, String)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    members.push((name, value.get().to_owned()));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Visit).map(Members)
    }
}

/// A document as a hash.
pub(super) struct DocumentHash(Vec<(String, String)>);

impl DocumentHash {
    pub(super) fn new() -> Self {
        DocumentHash(Vec::new())
    }

    pub(super) fn read(document: &Document<'_>) -> Result<Self, Refusal> {
        let damaged = |_| Refusal::Store(Error::NotAnObject { found: "no object" });
        serde_json::from_str::<Members>(&document.body).map(|members| DocumentHash(members.0)).map_err(damaged)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, field: &[u8]) -> Option<Vec<u8>> {
        let found = self.0.iter().rev().find(|(name, _)| name.as_bytes() == field);
        found.map(|(_, value)| told(value))
    }

    /// Sets a member to a JSON text; returns whether it is new.
    fn put(&mut self, field: &[u8], value: String) -> Result<bool, Refusal> {
        let field = text(field)?;
        match self.0.iter_mut().rev().find(|(name, _)| name == field) {
            Some((_, old)) => {
                *old = value;
                Ok(false)
            }
            None => {
                self.0.push((field.to_owned(), value));
                Ok(true)
            }
        }
    }

    pub(super) fn set(&mut self, field: &[u8], value: &[u8]) -> Result<bool, Refusal> {
        self.put(field, recension::json::quote(text(value)?))
    }

    pub(super) fn set_number(&mut self, field: &[u8], number: &str) -> Result<bool, Refusal> {
        self.put(field, number.to_owned())
    }

    pub(super) fn delete(&mut self, field: &[u8]) -> bool {
        let before = self.0.len();
        self.0.retain(|(name, _)| name.as_bytes() != field);
        self.0.len() != before
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> + '_ {
        self.0.iter().map(|(name, value)| (name.clone().into_bytes(), told(value)))
    }

    /// Writes the document; one without members is deleted.
    pub(super) fn save(&self, data: &Data<'_>, key: &[u8]) -> Result<(), Refusal> {
        let Some((collection, id)) = hash_name(data.database, key) else {
            return Err(refuse("no document is named so"));
        };
        if self.0.is_empty() {
            data.delete(key)?;
        } else {
            data.tx.collection(collection)?.put(id, self.to_json())?;
        }
        Ok(())
    }

    fn to_json(&self) -> String {
        let mut text = String::from("{");
        for (name, value) in &self.0 {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&recension::json::quote(name));
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
        text
    }
}

/// A member's value as bytes: a string's own, or the JSON text.
fn told(value: &str) -> Vec<u8> {
    match serde_json::from_str::<String>(value) {
        Ok(text) => text.into_bytes(),
        Err(_) => value.as_bytes().to_vec(),
    }
}

fn text(bytes: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(bytes).map_err(|_| refuse("this hash is a JSON document: its fields and values are UTF-8"))
}
