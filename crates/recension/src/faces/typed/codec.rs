//! Between values and documents: from a value to a write, and from a document to a value, which is migrated if it is of
//! an older version. Nothing here reads or writes a store.

use std::any::type_name;
use std::fmt::Display;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::DocumentType;
use super::deserialize::Body;
use super::serialize::{self, Written};
use super::with_fields::WithFields;
use recension_values::error::{Error, Result};
use recension_values::json::{Event, Parser, Path, quote, same_number};
use recension_values::model::Document;
use recension_values::rev_hash::HashableBody;
use recension_values::revid::RevId;
use recension_values::write::{Expect, Write, string_of};

type Refusal = Box<dyn std::error::Error + Send + Sync>;

/// One step: from the version named to the next one.
pub(super) type Migration = dyn Fn(u32, Value) -> std::result::Result<Value, Refusal> + Send + Sync;

/// How values of `T` become documents and come back.
pub(super) struct Codec<T> {
    migration: Option<Arc<Migration>>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Codec<T> {
    fn clone(&self) -> Self {
        Codec { migration: self.migration.clone(), of: PhantomData }
    }
}

impl<T: DocumentType> Codec<T> {
    pub(super) fn new() -> Self {
        Codec { migration: None, of: PhantomData }
    }

    pub(super) fn migrating(migration: Arc<Migration>) -> Self {
        Codec { migration: Some(migration), of: PhantomData }
    }

    /// The value of a document.
    pub(super) fn decode(&self, document: &Document<'_>) -> Result<T> {
        self.decode_body(&document.id, &document.rev, &document.body)
    }

    pub(super) fn decode_body(&self, id: &str, rev: &RevId, body: &str) -> Result<T> {
        let named = version_in::<T>(id, body)?;
        let version = named.unwrap_or(1);
        if version == T::VERSION {
            let hidden = named.map(|_| T::VERSION_FIELD);
            return read(&mut Body::of(body), id, rev, hidden);
        }
        read(self.migrate(id, body, version)?, id, rev, None)
    }

    fn migrate(&self, id: &str, body: &str, from: u32) -> Result<Value> {
        let refuse =
            |from, why| Error::Migration { collection: T::COLLECTION, id: id.to_owned(), from, to: from + 1, why };
        let migration = self.migration.as_ref().ok_or_else(|| {
            refuse(from, "this handle of the collection has no migration; give it one with with_migration".to_owned())
        })?;
        if let Some(number) = number_beyond_doubles(body)? {
            let why = format!("number {number} has more digits than a migrated value can hold");
            return Err(refuse(from, why));
        }
        let mut value = Value::deserialize(&mut Body::of(body)).map_err(|error| not_decoded::<T>(id, &error))?;
        if let Value::Object(members) = &mut value {
            members.retain(|name, _| name != T::VERSION_FIELD);
        }
        (from..T::VERSION)
            .try_fold(value, |value, from| migration(from, value).map_err(|error| refuse(from, error.to_string())))
    }
}

/// The write of a value: under its id, expecting its revision if it has one.
pub(crate) fn encode<T: DocumentType>(value: &T) -> Result<Write> {
    let refuse = |why: String| Error::Encode { collection: T::COLLECTION, type_name: type_name::<T>(), why };
    let own = [T::ID_FIELD, T::VERSION_FIELD, T::REV_FIELD.unwrap_or(T::ID_FIELD)];
    let version = (T::VERSION > 1).then_some((T::VERSION_FIELD, T::VERSION));
    let written = serialize::write(value, &own, version).map_err(|error| refuse(error.to_string()))?;
    let (mut minified, mut hashable, versioned) = match written {
        Written::Object(minified, hashable) => (minified, Ok(hashable), true),
        Written::Text(text) => {
            let (minified, hashable) = HashableBody::beside_minifying(text.as_bytes(), &own)?;
            (minified, hashable, false)
        }
    };
    if minified.kind != "an object" {
        return Err(refuse("it is not written as an object".to_owned()));
    }
    let (mut id, mut rev) = (String::new(), String::new());
    for (name, member) in std::mem::take(&mut minified.reserved) {
        if name == T::ID_FIELD {
            id = text_of(member)
                .ok_or_else(|| refuse(format!("its id, member {}, is no string and no integer", T::ID_FIELD)))?;
        } else if T::REV_FIELD == Some(&*name) {
            rev = text_of(member).ok_or_else(|| refuse("its revision is no string".to_owned()))?;
        } else if name == T::VERSION_FIELD {
            let why = "it has a member of the name that keeps the schema's version; declare another with version_field";
            return Err(refuse(why.to_owned()));
        } else {
            minified.reserved.push((name, member));
        }
    }
    if T::VERSION > 1 {
        if T::VERSION_FIELD.starts_with('_') {
            return Err(Error::ReservedField { field: T::VERSION_FIELD.to_owned() });
        }
        if !versioned {
            let comma = if minified.text.len() > 2 { "," } else { "" };
            minified.text.insert_str(1, &format!("{}:{}{comma}", quote(T::VERSION_FIELD), T::VERSION));
            hashable = HashableBody::of(&minified.text);
        }
    }
    let mut write = Write::of_minified(minified, hashable)?;
    if !id.is_empty() {
        write = write.of_document(id)?;
    }
    if !rev.is_empty() {
        write = write.expecting(Expect::Revision(rev.parse()?));
    }
    Ok(write)
}

/// The write of a value that was read under the id `id`.
pub(super) fn encode_under<T: DocumentType>(id: &str, value: &T) -> Result<Write> {
    let write = encode(value)?;
    match write.id() {
        Some(other) if other != id => {
            let why = format!("it was read under the id {id:?}, and now has {other:?}; write it with put");
            Err(Error::Encode { collection: T::COLLECTION, type_name: type_name::<T>(), why })
        }
        _ => write.with_id(id),
    }
}

fn read<'de, T, D>(body: D, id: &'de str, rev: &RevId, hidden: Option<&'static str>) -> Result<T>
where
    T: DocumentType,
    D: Deserializer<'de, Error: Display>,
{
    let rev = T::REV_FIELD.map(|field| (field, rev.to_string()));
    let fields = WithFields { body, id: (T::ID_FIELD, id), rev, hidden };
    T::deserialize(fields).map_err(|error| not_decoded::<T>(id, &error))
}

fn not_decoded<T: DocumentType>(id: &str, error: &impl Display) -> Error {
    Error::Decode { collection: T::COLLECTION, id: id.to_owned(), type_name: type_name::<T>(), why: error.to_string() }
}

/// The version that a body names, checked to be one that the type knows; `None` if it names none.
pub(super) fn version_in<T: DocumentType>(id: &str, body: &str) -> Result<Option<u32>> {
    // Most bodies do not hold the word at all, and looking for it costs less than looking for the member.
    if !body.contains(T::VERSION_FIELD) {
        return Ok(None);
    }
    let Some(found) = Path::from_segments([T::VERSION_FIELD])?.find(body) else { return Ok(None) };
    match found.parse::<u32>() {
        Ok(version) if (1..=T::VERSION).contains(&version) => Ok(Some(version)),
        Ok(version) if version > T::VERSION => Err(Error::NewerSchema {
            collection: T::COLLECTION,
            id: id.to_owned(),
            found: version,
            supported: T::VERSION,
        }),
        _ => {
            let why = format!("member {} is to be the version of its schema, a number from 1", T::VERSION_FIELD);
            Err(Error::Decode { collection: T::COLLECTION, id: id.to_owned(), type_name: type_name::<T>(), why })
        }
    }
}

/// A number in the text that a [`Value`] would not keep exactly.
fn number_beyond_doubles(body: &str) -> Result<Option<String>> {
    let mut parser = Parser::of_text(body);
    while let Some(event) = parser.next_event()? {
        if let Event::Number(number) = event {
            let kept = number.to_i64().is_some()
                || (number.integer && number.text.parse::<u64>().is_ok())
                || same_number(number.text, &format!("{:e}", number.to_f64()));
            if !kept {
                return Ok(Some(number.text.chars().take(60).collect()));
            }
        }
    }
    Ok(None)
}

/// An id or a revision in a value; empty if it has none yet, `None` if it is neither.
fn text_of(mut member: String) -> Option<String> {
    if member == "null" {
        return Some(String::new());
    }
    if member.starts_with('"') {
        if member.as_bytes().contains(&b'\\') {
            return string_of(&member);
        }
        member.pop();
        member.remove(0);
        return Some(member);
    }
    member.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()).then_some(member)
}
